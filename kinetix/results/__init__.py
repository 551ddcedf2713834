"""Labelled results: one schema table of every variable, the facts of a fit, and the DataTree built from both."""

from kinetix.results.facts import Condition, Curve, Dense, Derived, FitFacts
from kinetix.results.schema import VARIABLES, Variable
from kinetix.results.tree import fit_tree
from kinetix.results.verdict import verdict, warn_sentences

__all__ = ["VARIABLES", "Condition", "Curve", "Dense", "Derived", "FitFacts", "Variable", "fit_tree", "verdict", "warn_sentences"]
