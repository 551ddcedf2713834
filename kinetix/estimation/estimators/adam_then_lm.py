"""Adam first, Levenberg-Marquardt then: for a start that is far off.

Adam goes on at one learning rate for as long as it makes good progress; Levenberg-Marquardt goes on from the best point that it met.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetix.estimation import trust_region
from kinetix.estimation.estimators import adam, levenberg_marquardt
from kinetix.estimation.search import Estimator, Search

STEPS = 300
"""Most steps of Adam; at 0.1 they cross thirty units of a logarithm."""

SLOW, PATIENCE = 0.01, 30
"""Adam ends where so many steps lowered the sum of squares by less than this share."""


class State(NamedTuple):
    """Where the search is: with Adam, or from then on with the trust region."""

    first: adam.State
    marks: tuple[float, ...]
    """Half the smallest sums of squares so far, after each step of Adam."""
    then: trust_region.State | None


def init(search: Search, theta0: np.ndarray) -> State:
    """The start, evaluated."""
    first = adam.init(search, theta0)
    return State(first, (first.point.value,), None)


def step(search: Search, state: State) -> State:
    """One step of Adam, or of the trust region."""
    if state.then is not None:
        return state._replace(then=levenberg_marquardt.step(search, state.then))
    assert search.best is not None
    marks = state.marks
    if state.first.finished or len(marks) > STEPS or (len(marks) > PATIENCE and marks[-1] > (1 - SLOW) * marks[-1 - PATIENCE]):
        return state._replace(then=levenberg_marquardt.init(search, search.best.theta))
    first = adam.stepped(search, state.first, adam.RATE)
    return State(first, (*marks, search.best.value), None)


def done(state: State) -> bool:
    """Whether the search is over, or was before it began."""
    if state.then is None:
        return state.first.finished and state.first.number == 0
    return levenberg_marquardt.done(state.then)


BOOK = Estimator("Adam, then Levenberg-Marquardt from where it came to: for starts that are far off", init, step, done, package="optax")
