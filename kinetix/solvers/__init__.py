"""Solvers: stiff integration and steady states of one lane, differentiable at any order. They know only functions of (t, y, args)."""

from kinetix.solvers.integration import Options, Solution, integrate
from kinetix.solvers.steady import Steady, SteadyOptions, steady_state
from kinetix.solvers.system import Arguments, System

__all__ = ["Arguments", "Options", "Solution", "Steady", "SteadyOptions", "System", "integrate", "steady_state"]
