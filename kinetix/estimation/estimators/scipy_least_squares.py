"""SciPy's trust region reflective method, as a cross-check: another search by other hands on the same residuals.

It sees the triangle R of [J r] in the place of J and r: |r| is the length of the last column, and what the method computes of J and r
does not change when both are multiplied by an orthogonal matrix. One step is the whole search.

Source: M. A. Branch, T. F. Coleman and Y. Li, SIAM J. Sci. Comput. 21 (1999) 1; `scipy.optimize.least_squares`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinetix.estimation.search import Estimator, Point, Search

TIGHT = 4 * np.finfo(np.float64).eps
"""Tolerances that let the search go on as far as it can."""


class State(NamedTuple):
    """Where the search is."""

    theta: np.ndarray
    finished: bool


def init(search: Search, theta0: np.ndarray) -> State:
    """The start, evaluated."""
    start = search.start(theta0)
    return State(start.theta, search.solved(start) or bool(np.all(search.bounds.lower == search.bounds.upper)))


def step(search: Search, state: State) -> State:
    """The whole search."""
    from scipy.optimize import least_squares

    lower, upper = (np.asarray(side) for side in search.bounds)
    free = lower < upper

    def at(part: np.ndarray) -> Point:
        theta = state.theta.copy()
        theta[free] = part
        return search.point(theta, need_triangle=True)

    def residuals(part: np.ndarray) -> np.ndarray:
        found = at(part)
        return np.full(part.size + 1, np.inf) if found.R is None else _reduced(found.R, free)[:, -1]

    def jacobian(part: np.ndarray) -> np.ndarray:
        found = at(part)
        assert found.R is not None  # SciPy asks only where residuals are finite
        return _reduced(found.R, free)[:, :-1]

    limits: Any = {"xtol": TIGHT, "ftol": TIGHT, "gtol": TIGHT, "max_nfev": 10**9}
    by: Any = jacobian  # SciPy's declaration has texts only
    found = least_squares(residuals, state.theta[free], by, (lower[free], upper[free]), x_scale="jac", **limits)
    return State(at(found.x).theta, True)


def _reduced(R: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Of all columns those that are free, and the residuals."""
    return R if free.all() else np.asarray(np.linalg.qr(R[:, np.append(free, True)], mode="r"))


def done(state: State) -> bool:
    """Whether the search is over."""
    return state.finished


BOOK = Estimator("trust region reflective least squares of SciPy, as a cross-check", init, step, done)
