"""Bounded Levenberg-Marquardt in a trust region: kinetix's own, and what a fit uses unless it is told otherwise.

Source: J. J. Moré, Lecture Notes in Mathematics 630 (1978) 105; see `kinetix.estimation.trust_region`.
"""

from __future__ import annotations

import numpy as np

from kinetix.estimation import trust_region
from kinetix.estimation.search import Estimator, Search
from kinetix.estimation.trust_region import State


def init(search: Search, theta0: np.ndarray) -> State:
    """The state before the start is evaluated."""
    search.trusted = trust_region.init(theta0, search.bounds, search.sizes)
    return search.trusted


def step(search: Search, state: State) -> State:
    """One trial."""
    trial = np.array(trust_region.propose(state))
    R, n_bad = search.triangle(trial)
    with np.errstate(all="ignore"):
        after = trust_region.update(state, R, n_bad, search.options.tolerances)
    search.moved(state, after)
    return after


def done(state: State) -> bool:
    """Whether the search is over."""
    return bool(trust_region.done(state))


BOOK = Estimator("bounded Levenberg-Marquardt in a trust region, kinetix's own (Moré 1978)", init, step, done)
