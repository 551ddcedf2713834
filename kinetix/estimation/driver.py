"""One fit from the host: progress, limits, and Ctrl-C that keeps the best point.

The residuals stay where the caller's compiled function computes them; only the (p + 1) x (p + 1) triangle comes back,
and the small algebra of `trust_region` runs on it in NumPy, so that a fit compiles nothing but its residuals.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np
from jax.typing import ArrayLike

from kinetix.errors import InputError
from kinetix.estimation import trust_region
from kinetix.estimation.determination import Determination, determine, null_directions
from kinetix.estimation.estimators import DEFAULT, estimator
from kinetix.estimation.search import USUAL, Ended, Estimator, Evaluate, Iteration, Options, Search, ValueAndGradient, triangle_at
from kinetix.estimation.triangles import triangle
from kinetix.estimation.trust_region import Bounds, State, Tolerances
from kinetix.status import Status

PROBES = (-30.0, -10.0, -3.0, -1.0, 1.0, 3.0, 10.0, 30.0)
"""How far along a direction without effect another place is tried, in multiples of the size of a parameter."""

BETTER = 1e-6
"""Relative decrease of the sum of squares by which another place counts as better."""

NEXT = 1e-3
"""A point is next to another where the residuals differ by less than this share of their norm, to first order."""


@dataclass(frozen=True)
class Outcome:
    """How a fit ended, and its best point. `ssr` is NaN and `R` full of NaN where no point could be evaluated."""

    theta: np.ndarray
    R: np.ndarray
    """Triangle of [J r] at `theta` [p + 1, p + 1]."""
    ssr: float
    status: Status
    message: str
    iterations: int
    evaluations: int
    history: tuple[Iteration, ...]
    at_lower: np.ndarray
    """Which parameters are exactly on their lower bound [p]; fixed ones are not."""
    at_upper: np.ndarray
    held: np.ndarray
    """Which parameters the fit did not determine [p]: fixed, or on a bound that the data push against."""
    cosine: float
    """Largest cosine between the residuals and a column of J that may move: the gradient without units."""
    rank_ratio: float
    """Smallest over largest singular value of the scaled free columns."""
    determination: Determination
    """What the residuals determine at `theta`."""
    unseen: np.ndarray
    """Which parameters have changed no residual at any accepted point [p]."""
    failed: np.ndarray | None
    """A trial next to `theta` that could not be evaluated [p]; None where the search met none."""
    seconds: float

    @property
    def null_directions(self) -> np.ndarray:
        """Changes of theta that the residuals do not see [free - rank, p], largest component 1."""
        return null_directions(self.determination, self.held)


def evaluation(residuals: Callable[[jax.Array], jax.Array]) -> Evaluate:
    """The compiled evaluation that `fit` needs, from a plain residual function, by forward derivatives.

    Args:
        residuals: pure function of JAX arrays: theta [p] -> weighted r [m].
    """

    def twice(theta: jax.Array) -> tuple[jax.Array, jax.Array]:
        r = residuals(theta)
        return r, r

    @jax.jit
    def evaluate(theta: jax.Array) -> tuple[jax.Array, int]:
        jacobian, r = jax.jacfwd(twice, has_aux=True)(theta)
        return triangle(jacobian, r), 0

    return evaluate


def fit(
    evaluate: Evaluate,
    theta0: ArrayLike,
    bounds: Bounds | None = None,
    options: Options = USUAL,
    on_iteration: Callable[[Iteration], None] | None = None,
    sizes: ArrayLike | None = None,
    method: str = DEFAULT,
    by_gradient: ValueAndGradient | None = None,
) -> Outcome:
    """Bounded least squares from one start: min |r(theta)|^2 with lower <= theta <= upper.

    Args:
        evaluate: theta [p] -> (R, number of failed parts), called in float64; a failed or non-finite trial is refused and the
            step shrinks.
        theta0: start [p], inside `bounds`.
        bounds: the box; open where absent.
        options: limits and tolerances.
        on_iteration: told of each trial.
        sizes: of the parameters [p], see `trust_region.init`.
        method: one of `estimators.ESTIMATORS`.
        by_gradient: theta [p] -> (|r|^2/2, its gradient, number of failed parts), for methods that need no more, where that is
            cheaper than the triangle.

    Returns:
        The best point and how the fit ended; `outcome.status.ok` says whether it is an answer. A KeyboardInterrupt ends the
        fit with `Status.STOPPED` and the best point so far.

    Raises:
        InputError: the start lies outside the box, shapes do not agree, or the method keeps no bounds.
        ParameterError: no method of this name.

    >>> import jax.numpy as jnp
    >>> line = evaluation(lambda theta: theta[0] + theta[1] * jnp.arange(3.0) - jnp.asarray([1.0, 3.0, 5.0]))
    >>> outcome = fit(line, [0.0, 0.0], Bounds(np.array([0.0, 0.0]), np.array([9.0, 1.5])))
    >>> outcome.theta.round(9).tolist(), outcome.status.name, outcome.at_upper.tolist()
    ([1.5, 1.5], 'ON_BOUND', [False, True])

    Source: More (1978), see `trust_region`.
    """
    begun = time.perf_counter()
    theta = np.array(theta0, dtype=np.float64)
    box = _checked(theta, bounds)
    if theta.size == 0:
        return _nothing_to_fit(evaluate, theta, begun)
    book = estimator(method)
    if not book.bounded and np.isfinite([*box.lower, *box.upper]).any():
        raise InputError(f"method = {method!r} keeps no bounds. Leave the bounds out, or take another method.")
    own = None if sizes is None else np.array(sizes, dtype=np.float64)
    search = Search(evaluate, by_gradient, box, own, options, on_iteration, begun)
    state, ended = _run(search, book, theta)
    try:
        for _ in range(theta.size):
            better = _beyond_the_flat(search, state) if ended in (Status.FLAT, Status.PLATEAU) else None
            if better is None:
                break
            again, ended = _run(search, book, better)
            state = again if again.evaluations > 0 else state
    except KeyboardInterrupt:
        ended = Status.STOPPED
    return _outcome(state, ended, search, options.tolerances, method)


def _run(search: Search, book: Estimator, theta0: np.ndarray) -> tuple[State, Status]:
    """The state at the end of a search, and how it ended; after Ctrl-C that of the best point."""
    search.trusted = search.origin = search.best = search.last = None
    ended = None
    try:
        state = book.init(search, theta0)
        while not book.done(state):
            state = book.step(search, state)
    except Ended as limit:
        ended = limit.status
    except KeyboardInterrupt:
        ended = Status.STOPPED
    if search.trusted is not None:
        over = bool(trust_region.done(search.trusted))
        return search.trusted, Status(int(search.trusted.status)) if over or ended is None else ended
    search.rest_on_bounds()
    judged = search.judged()
    if judged is None:
        return trust_region.init(theta0, search.bounds, search.sizes), ended or Status.NOT_CONVERGED
    status = Status(int(judged.status))
    return judged, status if ended is None or ended is Status.NON_FINITE or status.ok else ended


def _beyond_the_flat(search: Search, state: State) -> np.ndarray | None:
    """A better point along what the residuals do not see at `state`; None where there is none.

    A direction may have no effect anywhere, or only near the end of the search: then the end is no minimum. Tried are the
    directions without effect, and each coordinate in them by itself.
    """
    margin = BETTER + 2 * float(trust_region.noise(state.view, search.options.tolerances.precision))
    theta, best, ssr = np.asarray(state.theta), None, float(state.view.ssr) * (1 - margin)
    reach = np.where(np.isfinite(state.reach), state.reach, 1.0)
    along = null_directions(state.determination, np.asarray(state.view.held)) / reach
    along = along / np.abs(along).max(axis=1, initial=0.0, keepdims=True)
    ways = np.unique(np.concatenate([along, np.eye(theta.size)[(np.abs(along) > 1e-6).any(axis=0)]]), axis=0)
    for way in ways:
        for multiple in PROBES:
            trial = np.clip(theta + multiple * way * reach, state.bounds.lower, state.bounds.upper)
            R, n_bad = search.evaluated(trial)
            found = float(np.sum(R[:, -1] ** 2))
            if n_bad == 0 and np.isfinite(R).all() and found < ssr:
                best, ssr = trial, found
    return best


def _checked(theta: np.ndarray, bounds: Bounds | None) -> Bounds:
    p = theta.size
    if theta.ndim != 1:
        raise InputError(f"theta0 has shape {theta.shape}; a fit starts from a vector of parameters, shape (p,).")
    if bounds is None:
        return Bounds(np.full(p, -np.inf), np.full(p, np.inf))
    lower, upper = (np.array(side, dtype=np.float64) for side in bounds)
    if lower.shape != (p,) or upper.shape != (p,):
        raise InputError(f"bounds have shapes {lower.shape} and {upper.shape}; the start has {p} parameters, so both must be ({p},).")
    problems = [
        f"theta0[{i}] = {theta[i]:g} lies outside its bounds [{lower[i]:g}, {upper[i]:g}]; start inside, or widen the bounds."
        for i in range(p)
        if not lower[i] <= theta[i] <= upper[i] or not np.isfinite(theta[i])
    ]
    if problems:
        raise InputError(*problems)
    return Bounds(lower, upper)


def _nothing_to_fit(evaluate: Evaluate, theta: np.ndarray, begun: float) -> Outcome:
    R, n_bad = triangle_at(evaluate, theta)
    status = Status.SUCCESS if np.isfinite(R).all() and n_bad == 0 else Status.NON_FINITE
    none = np.zeros(0, bool)
    return Outcome(
        theta=theta,
        R=R,
        ssr=float(R[0, 0] ** 2),
        status=status,
        message=f"{status.sentence}; no parameter is free",
        iterations=0,
        evaluations=1,
        history=(),
        at_lower=none,
        at_upper=none,
        held=none,
        cosine=0.0,
        rank_ratio=1.0,
        determination=determine(np.zeros((0, 0)), none),
        unseen=none,
        failed=None,
        seconds=time.perf_counter() - begun,
    )


def _outcome(state: State, status: Status, search: Search, tolerances: Tolerances, method: str) -> Outcome:
    theta, lower, upper = np.asarray(state.theta), np.asarray(state.bounds.lower), np.asarray(state.bounds.upper)
    evaluations = search.evaluations
    started = bool(np.isfinite(state.view.ssr)) and status is not Status.NON_FINITE
    found = _determination(state, status, tolerances)
    return Outcome(
        theta=theta,
        R=np.asarray(state.R),
        ssr=float(state.view.ssr),
        status=status,
        message=_message(state, status, evaluations, method),
        iterations=max(len(search.history) - 1, 0),
        evaluations=evaluations,
        history=tuple(search.history),
        at_lower=(theta == lower) & (lower < upper),
        at_upper=(theta == upper) & (lower < upper),
        held=np.asarray(state.view.held) | (lower == upper),
        cosine=float(state.view.cosine) if started else np.nan,
        rank_ratio=float(found.ratio) if started else np.nan,
        determination=found,
        unseen=np.asarray(state.scale <= state.view.floor) & (lower < upper),
        failed=_nearby(state, search.failed),
        seconds=time.perf_counter() - search.begun,
    )


def _nearby(state: State, trial: np.ndarray | None) -> np.ndarray | None:
    """The trial, if the step to it changes the residuals by a small part of them only."""
    if trial is None or not np.isfinite(state.view.ssr):
        return None
    change = np.linalg.norm(np.asarray(state.R)[:-1, :-1] @ (trial - np.asarray(state.theta)))
    return trial if change <= NEXT * np.sqrt(float(state.view.ssr)) else None


def _message(state: State, status: Status, evaluations: int, method: str) -> str:
    by = "" if method == DEFAULT else f" by {method}"
    trials = f"{evaluations} evaluation{'' if evaluations == 1 else 's'}{by}"
    if evaluations == 0 or status is Status.NON_FINITE:
        return f"{status.sentence} ({trials})"
    if status is Status.FLAT:
        return f"{status.sentence} ({trials}, smallest over largest singular value {float(state.determination.ratio):.1e})"
    return f"{status.sentence} ({trials}, largest cosine between residuals and sensitivities {float(state.view.cosine):.1e})"


def _determination(state: State, status: Status, tolerances: Tolerances) -> Determination:
    """That of the state; where J'J is singular to rounding, with the tolerance by which that was recognised."""
    found = state.determination
    if status is not Status.FLAT or found.rank < np.count_nonzero(~state.view.held):
        return found
    return determine(np.asarray(state.R)[:-1, :-1], np.asarray(state.view.held), np.asarray(state.view.floor), tolerances.stalled_rank)
