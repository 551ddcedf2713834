"""Bounded least squares that knows only residual functions: triangles, a trust region, and the host's loop.

Many starts, too: see `multistart`; and many fits near one optimum: see `refits`. No chemistry and no names of parameters: a
problem is a function theta -> triangle of [J r].
"""

from kinetix.estimation.driver import Outcome, evaluation, fit
from kinetix.estimation.estimators import DEFAULT, ESTIMATORS, estimator
from kinetix.estimation.multistart import Done, Optima, alike, distinct_optima, fit_all, latin_hypercube
from kinetix.estimation.refits import Refits, refit_all
from kinetix.estimation.search import Estimator, Evaluate, Iteration, Options, ValueAndGradient
from kinetix.estimation.triangles import merge, triangle
from kinetix.estimation.trust_region import Bounds, State, Tolerances, done, init, propose, update

__all__ = [
    "DEFAULT",
    "ESTIMATORS",
    "Bounds",
    "Done",
    "Estimator",
    "Evaluate",
    "Iteration",
    "Optima",
    "Options",
    "Outcome",
    "Refits",
    "State",
    "Tolerances",
    "ValueAndGradient",
    "alike",
    "distinct_optima",
    "done",
    "estimator",
    "evaluation",
    "fit",
    "fit_all",
    "init",
    "latin_hypercube",
    "merge",
    "propose",
    "refit_all",
    "triangle",
    "update",
]
