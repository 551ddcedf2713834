"""Bounded least squares that knows only residual functions: triangles, a trust region, and the host's loop.

No chemistry and no names of parameters: a problem is a function theta -> triangle of [J r].
"""

from kinetix.estimation.driver import Evaluate, Iteration, Options, Outcome, evaluation, fit
from kinetix.estimation.triangles import merge, triangle
from kinetix.estimation.trust_region import Bounds, State, Tolerances, done, init, propose, update

__all__ = [
    "Bounds",
    "Evaluate",
    "Iteration",
    "Options",
    "Outcome",
    "State",
    "Tolerances",
    "done",
    "evaluation",
    "fit",
    "init",
    "merge",
    "propose",
    "triangle",
    "update",
]
