"""Labelled results: one schema table of every variable, the facts of a fit, and the DataTree built from both."""

from kinetix.results.branches import branches_dataset
from kinetix.results.comparison import (
    ComparisonFacts,
    CrossValidationFacts,
    ModelFacts,
    NestedFacts,
    ReadingFacts,
    comparison_tree,
    is_comparison,
    require_comparison,
)
from kinetix.results.facts import (
    BootstrapFacts,
    BranchFacts,
    Condition,
    Curve,
    Dense,
    Derived,
    FitFacts,
    InfluenceFacts,
    NoiseFacts,
    ProfileFacts,
    RobustFacts,
    SimulationFacts,
    StartFacts,
)
from kinetix.results.residuals import standardised_residuals
from kinetix.results.schema import VARIABLES, Variable
from kinetix.results.tree import fit_tree, group_of, simulation_tree
from kinetix.results.verdict import verdict, warn_sentences

__all__ = [
    "VARIABLES",
    "BootstrapFacts",
    "BranchFacts",
    "ComparisonFacts",
    "Condition",
    "CrossValidationFacts",
    "Curve",
    "Dense",
    "Derived",
    "FitFacts",
    "InfluenceFacts",
    "ModelFacts",
    "NestedFacts",
    "NoiseFacts",
    "ProfileFacts",
    "ReadingFacts",
    "RobustFacts",
    "SimulationFacts",
    "StartFacts",
    "Variable",
    "branches_dataset",
    "comparison_tree",
    "fit_tree",
    "group_of",
    "is_comparison",
    "require_comparison",
    "simulation_tree",
    "standardised_residuals",
    "verdict",
    "warn_sentences",
]
