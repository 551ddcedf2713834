"""Many fits that begin near their ends: other data, or one coordinate held, and the optimum of the fit as the start.

Gauss-Newton steps of all refits together, in NumPy along a leading axis: from so near, two or three steps are enough, and a step of a
hundred refits costs about what one step of the trust region costs a single fit. A coordinate on its bound whose gradient points out of
the box is held. A refit that this does not bring to its end within a few steps, each of them downhill, is not judged here: it is
handed to the trust region, whose word counts.

Source: A. Bjorck, Numerical Methods for Least Squares Problems (SIAM 1996), section 9.2; the measure of the end is the relative offset
of D. M. Bates and D. G. Watts, Technometrics 23 (1981) 179.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from kinetix.errors import InputError
from kinetix.estimation.determination import RANK_TOLERANCE
from kinetix.estimation.driver import Outcome
from kinetix.estimation.trust_region import DEFAULT, Bounds, Tolerances
from kinetix.status import Status

MOST_STEPS = 10
"""Steps after which a refit is handed to the trust region."""

OFFSET = 1e-5
"""Share of |r| that another full step would remove, below which a refit is over: 1e-5 sqrt(n) standard errors from the end."""

BLOCK = 64
"""Refits that go on together: what Ctrl-C loses at most."""

Evaluations: TypeAlias = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""(numbers of refits [k], theta [k, p]) -> (R [k, p + 1, p + 1] of each, number of failed parts [k])."""

Search: TypeAlias = Callable[[int, np.ndarray, Bounds], Outcome]
"""(number of a refit, start [p], box) -> how a fit from there ended."""


@dataclass(frozen=True)
class Refits:
    """The ends of refits; NaN where a refit has no answer.

    Attributes:
        theta: [m, p].
        R: triangle of [J r] at the end, [m, p + 1, p + 1].
        ssr: sum of squares, [m].
        status: codes of `kinetix.status.Status`, [m]; STOPPED for those that were not run to the end.
    """

    theta: np.ndarray
    R: np.ndarray
    ssr: np.ndarray
    status: np.ndarray

    @property
    def ok(self) -> np.ndarray:
        """Which have an answer: an optimum, though perhaps not the only one."""
        return np.isin(self.status, (Status.SUCCESS, Status.ON_BOUND, Status.FLAT))


class _Steps(NamedTuple):
    change: np.ndarray
    """To the minimum of the linear model over the coordinates that are not held [k, p]."""
    offset: np.ndarray
    """Share of |r| that it would remove [k]."""
    determined: np.ndarray
    """Whether the residuals determine all that is not held [k]."""


def refit_all(
    evaluate: Evaluations,
    search: Search,
    starts: np.ndarray,
    bounds: Bounds,
    tolerances: Tolerances = DEFAULT,
    on_done: Callable[[int], None] | None = None,
) -> Refits:
    """Bounded least squares of many problems of one size, from starts near their ends.

    Args:
        evaluate: residual triangles of some of them.
        search: the trust region, for what needs it.
        starts: [m, p], inside the boxes.
        bounds: of each, `lower` and `upper` [m, p]; equal where a coordinate is held.
        tolerances: of the searches.
        on_done: told how many are over, after each block.

    Returns:
        All ends. A KeyboardInterrupt keeps those that are over; the others have the status STOPPED.

    Raises:
        InputError: a start lies outside its box.

    >>> lines = np.array([[1.0, 3.0, 5.0], [2.0, 2.0, 2.0]])  # two data sets for y = a + b x
    >>> J = np.stack([np.ones(3), np.arange(3.0)], axis=1)
    >>> def evaluate(which, theta):
    ...     rows = [np.column_stack([J, J @ one - lines[i]]) for i, one in zip(which, theta)]
    ...     return np.linalg.qr(np.array(rows), mode="r"), np.zeros(len(which), int)
    >>> box = Bounds(np.full((2, 2), -9.0), np.full((2, 2), 9.0))
    >>> refit_all(evaluate, lambda i, start, box: None, np.ones((2, 2)), box).theta.round(9).tolist()
    [[1.0, 2.0], [2.0, 0.0]]
    """
    m, p = starts.shape
    if np.any((starts < bounds.lower) | (starts > bounds.upper)):
        raise InputError("A refit starts outside its box: move the start inside, a held coordinate to where it is held.")
    ends = Refits(np.full((m, p), np.nan), np.full((m, p + 1, p + 1), np.nan), np.full(m, np.nan), np.full(m, int(Status.STOPPED)))
    try:
        for first in range(0, m, BLOCK):
            _block(evaluate, search, np.arange(first, min(first + BLOCK, m)), starts, bounds, tolerances, ends)
            if on_done is not None:
                on_done(min(first + BLOCK, m))
    except KeyboardInterrupt:
        pass
    return ends


def _block(
    evaluate: Evaluations, search: Search, which: np.ndarray, starts: np.ndarray, bounds: Bounds, tolerances: Tolerances, ends: Refits
) -> None:
    """Runs some of the refits to their ends and writes these."""
    theta, going = starts[which].copy(), np.arange(len(which))
    lower, upper = np.asarray(bounds.lower)[which], np.asarray(bounds.upper)[which]
    R, bad = evaluate(which, theta)
    R, usable = np.array(R), _usable(R, bad)
    over = np.zeros(len(which), bool)
    going = going[usable]
    for _ in range(MOST_STEPS if going.size else 0):
        steps = _steps(R[going], theta[going], lower[going], upper[going])
        blur = tolerances.precision * np.maximum(tolerances.magnitude / np.maximum(_norms(R[going]), np.finfo(float).tiny), 1.0)
        arrived = steps.determined & (steps.offset <= np.maximum(OFFSET, blur))
        over[going[arrived]] = True
        onward = steps.determined & ~arrived
        going, change = going[onward], steps.change[onward]
        if not going.size:
            break
        trial = np.clip(theta[going] + change, lower[going], upper[going])
        new, bad = evaluate(which[going], trial)
        downhill = _usable(new, bad) & (_norms(new) < _norms(R[going]))
        going = going[downhill]
        if not going.size:
            break
        theta[going], R[going] = trial[downhill], np.asarray(new)[downhill]
    estimated = lower < upper
    on_bound = np.any(((theta == lower) | (theta == upper)) & estimated, axis=1)
    for i, number in enumerate(which):
        if over[i]:
            end, status = (theta[i], R[i]), Status.ON_BOUND if on_bound[i] else Status.SUCCESS
        else:
            found = search(int(number), starts[number], Bounds(lower[i], upper[i]))
            end, status = (found.theta, found.R), found.status
            if status is Status.STOPPED:
                raise KeyboardInterrupt
        ends.theta[number], ends.R[number] = end
        ends.ssr[number], ends.status[number] = np.sum(end[1][:, -1] ** 2), int(status)
    ends.theta[which[~ends.ok[which]]] = np.nan


def _steps(R: np.ndarray, theta: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> _Steps:
    columns, residual = R[:, :-1, :-1], R[:, :-1, -1]
    gradient = np.einsum("kij,ki->kj", columns, residual)
    held = (lower == upper) | ((theta <= lower) & (gradient > 0)) | ((theta >= upper) & (gradient < 0))
    lengths = np.sqrt(np.sum(columns**2, axis=1))
    scale = np.where(held | (lengths == 0), 1.0, lengths)
    left, values, right = np.linalg.svd(np.where(held[:, None, :], 0.0, columns / scale[:, None, :]), full_matrices=False)
    kept = values > RANK_TOLERANCE * values[:, :1]
    along = np.where(kept, np.einsum("kij,ki->kj", left, residual), 0.0)
    z = np.einsum("kij,ki->kj", right, along / np.where(kept, values, 1.0))
    norms = _norms(R)
    offset = np.linalg.norm(along, axis=1) / np.where(norms > 0, norms, 1.0)
    return _Steps(np.where(held, 0.0, -z / scale), offset, kept.sum(axis=1) == (~held).sum(axis=1))


def _norms(R: np.ndarray) -> np.ndarray:
    """|r| of each."""
    return np.linalg.norm(R[:, :, -1], axis=1)


def _usable(R: np.ndarray, bad: np.ndarray) -> np.ndarray:
    return np.isfinite(R).all(axis=(1, 2)) & (np.asarray(bad) == 0)
