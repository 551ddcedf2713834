"""One fit from the host: progress, limits, and Ctrl-C that keeps the best point.

The residuals stay where the caller's compiled function computes them; only the (p + 1) x (p + 1) triangle comes back,
and the small algebra of `trust_region` runs on it in NumPy, so that a fit compiles nothing but its residuals.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import jax
import numpy as np
from jax.typing import ArrayLike

from kinetix.errors import InputError
from kinetix.estimation import trust_region
from kinetix.estimation.triangles import triangle
from kinetix.estimation.trust_region import Bounds, State, Tolerances
from kinetix.precision import float64
from kinetix.status import Status

Evaluate: TypeAlias = Callable[[np.ndarray], tuple[ArrayLike, jax.Array | int]]
"""theta [p] -> (R [p + 1, p + 1] triangle of [J r], number of failed parts)."""


@dataclass(frozen=True)
class Options:
    """Limits and tolerances of one fit; an iteration is one trial point, taken or refused."""

    max_iterations: int = 1000
    max_seconds: float | None = None
    tolerances: Tolerances = field(default_factory=Tolerances)


class Iteration(NamedTuple):
    """What `on_iteration` is told after each trial (number 0 is the start), and a row of the history."""

    number: int
    ssr: float
    """Smallest sum of squares so far."""
    step: float
    """|D s| of the trial, in units of the residuals."""
    damping: float
    """The multiplier lambda of the trial."""
    accepted: bool
    seconds: float
    """Since the beginning of the fit."""


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
    direction: np.ndarray | None
    """With `Status.FLAT`: the change of theta that the residuals do not see [p], largest component 1."""
    seconds: float


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
    options: Options = Options(),
    on_iteration: Callable[[Iteration], None] | None = None,
) -> Outcome:
    """Bounded least squares from one start: min |r(theta)|^2 with lower <= theta <= upper.

    Args:
        evaluate: theta [p] -> (R, number of failed parts), called in float64; a failed or non-finite trial is refused and the
            step shrinks.
        theta0: start [p], inside `bounds`.
        bounds: the box; open where absent.
        options: limits and tolerances.
        on_iteration: told of each trial.

    Returns:
        The best point and how the fit ended; `outcome.status.ok` says whether it is an answer. A KeyboardInterrupt ends the
        fit with `Status.STOPPED` and the best point so far.

    Raises:
        InputError: the start lies outside the box, or shapes do not agree.

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
    state = trust_region.init(theta, box)
    history: list[Iteration] = []
    ended = None
    try:
        while not trust_region.done(state):
            ended = _limit(state, options, begun)
            if ended is not None:
                break
            R, n_bad = _evaluated(evaluate, trust_region.propose(state))
            row = state
            with np.errstate(all="ignore"):
                state = trust_region.update(state, R, n_bad, options.tolerances)
            number = int(row.evaluations)
            history.append(
                Iteration(
                    number=number,
                    ssr=float(state.view.ssr),
                    step=float(row.step_norm),
                    damping=float(row.damping),
                    accepted=bool(state.accepted),
                    seconds=time.perf_counter() - begun,
                )
            )
            if on_iteration is not None:
                on_iteration(history[-1])
    except KeyboardInterrupt:
        ended = Status.STOPPED
    status = Status(int(state.status)) if ended is None or trust_region.done(state) else ended
    return _outcome(state, status, tuple(history), options.tolerances, begun)


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


def _evaluated(evaluate: Evaluate, theta: np.ndarray | jax.Array) -> tuple[np.ndarray, int]:
    with float64():
        R, n_bad = evaluate(np.array(theta))
        R = np.array(R, dtype=np.float64)
        bad = int(n_bad)
    p = theta.shape[0]
    if R.shape != (p + 1, p + 1):
        raise InputError(f"evaluate returned R of shape {R.shape}; for {p} parameters it must be the triangle of [J r], {(p + 1, p + 1)}.")
    return R, bad


def _limit(state: State, options: Options, begun: float) -> Status | None:
    if state.evaluations > options.max_iterations:
        return Status.ITERATION_LIMIT
    if options.max_seconds is not None and time.perf_counter() - begun >= options.max_seconds and state.evaluations > 0:
        return Status.TIME_LIMIT
    return None


def _nothing_to_fit(evaluate: Evaluate, theta: np.ndarray, begun: float) -> Outcome:
    R, n_bad = _evaluated(evaluate, theta)
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
        direction=None,
        seconds=time.perf_counter() - begun,
    )


def _outcome(state: State, status: Status, history: tuple[Iteration, ...], tolerances: Tolerances, begun: float) -> Outcome:
    theta, lower, upper = np.asarray(state.theta), np.asarray(state.bounds.lower), np.asarray(state.bounds.upper)
    evaluations = int(state.evaluations)
    started = bool(np.isfinite(state.view.ssr)) and status is not Status.NON_FINITE
    return Outcome(
        theta=theta,
        R=np.asarray(state.R),
        ssr=float(state.view.ssr),
        status=status,
        message=_message(state, status, evaluations),
        iterations=max(evaluations - 1, 0),
        evaluations=evaluations,
        history=history,
        at_lower=(theta == lower) & (lower < upper),
        at_upper=(theta == upper) & (lower < upper),
        held=np.asarray(state.view.held) | (lower == upper),
        cosine=float(state.view.cosine) if started else np.nan,
        rank_ratio=float(state.rank_ratio) if started else np.nan,
        direction=_flat_direction(state, tolerances) if status is Status.FLAT else None,
        seconds=time.perf_counter() - begun,
    )


def _message(state: State, status: Status, evaluations: int) -> str:
    trials = f"{evaluations} evaluation{'' if evaluations == 1 else 's'}"
    if evaluations == 0 or status is Status.NON_FINITE:
        return f"{status.sentence} ({trials})"
    if status is Status.FLAT:
        return f"{status.sentence} ({trials}, smallest over largest singular value {float(state.rank_ratio):.1e})"
    return f"{status.sentence} ({trials}, largest cosine between residuals and sensitivities {float(state.view.cosine):.1e})"


def _flat_direction(state: State, tolerances: Tolerances) -> np.ndarray:
    scale = np.asarray(trust_region.column_scale(state.theta, state.view, state.scale, tolerances))
    free = np.flatnonzero(~np.asarray(state.view.held))
    columns = np.asarray(state.R)[:-1, free] / scale[free]
    direction = np.zeros(scale.size)
    direction[free] = np.linalg.svd(columns)[2][-1] / scale[free]
    return direction / direction[np.abs(direction).argmax()]
