"""Bounded nonlinear least squares: Levenberg-Marquardt with a trust region, as pure functions of small arrays.

min over theta of |r(theta)|^2 with lower <= theta <= upper. Nothing here sees residuals: each evaluation is the
(p + 1) x (p + 1) triangle of [J r] (see `triangles`), and a run is

    state = init(theta0, bounds)
    while not done(state):
        state = update(state, *evaluate(propose(state)))

where the first evaluation is that of the start. The functions follow the namespace of their arrays: with NumPy arrays
one fit runs at once, with nothing to compile; with JAX arrays the same lines can be jitted and take a leading lane axis
by vmap, and lanes that are done do not change.

Method: a step minimises the linear model inside |D s| <= radius, D the largest column norms of J so far; the
multiplier comes from the singular values of the scaled triangle. Coordinates that would leave the box go exactly to
their bound and the others are solved again. A coordinate on its bound whose gradient pushes outward is held, and
released when it points inward. A logarithm moves no further than `LONGEST` in a step, as if it had a bound there.

Sources: J. J. More, The Levenberg-Marquardt algorithm: implementation and theory, Lecture Notes in Mathematics 630
(1978) 105 (scaling, radius, gain ratio; the constants are MINPACK's); D. M. Bates and D. G. Watts, Technometrics 23
(1981) 179 (relative offset); C. H. Reinsch, Numer. Math. 16 (1971) 451 (iteration for the multiplier).
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple, TypeVar

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from kinetix.estimation.determination import (
    RANK_TOLERANCE,
    Array,
    Determination,
    column_floor,
    determine,
    namespace,
    silent_columns,
)
from kinetix.status import Status

ROUNDING = 1e-15
"""Relative error of a prediction by formula in float64."""

LONGEST = 1.5
"""Largest change in one step of a parameter that has a size of its own, in that size: a factor of 4.5 of what is fitted as a logarithm.

The linear model of a rate constant says nothing about where it is ten times as large; steps that far end on plateaus (measured:
`benchmarks/estimators.py`, docs/decisions.md).
"""

Carry = TypeVar("Carry")


class Bounds(NamedTuple):
    """A box: `lower` [p] and `upper` [p], infinite where open, equal where a coordinate is fixed."""

    lower: Array
    upper: Array


class Tolerances(NamedTuple):
    """When a fit is over. All but `magnitude` are relative, so that units and weights do not matter."""

    cosine: float = 1e-10
    """Converged: the cosine between the residuals and every free column of J is below this ..."""
    offset: float = 1e-3
    """... and so is the share of |r| that a full step of the linear model would remove (Bates and Watts) below this."""
    stalled_cosine: float = 1e-6
    """The same where the precision of the residuals allows no further progress; both yield to that precision where it is worse."""
    precision: float = ROUNDING
    """Relative error of the computed predictions: rounding for a formula, about rtol for an integrated model."""
    residual: float = 1e-8
    """Residuals this small beside the predictions count as zero once nothing improves: exact data leave no cosine."""
    rank: float = RANK_TOLERANCE
    """Flat: a singular value of the free columns, scaled to length one, is below this share of the largest (see `determine`)."""
    stalled_rank: float = 1e-7
    """The same where a fit stalls although its gradient has vanished: J'J is then singular to rounding."""
    magnitude: float = 0.0
    """Norm of the weighted data where known; otherwise the size of the predictions is judged by that of J theta."""

    @property
    def noise(self) -> float:
        """Relative error of the derivatives of the predictions: they follow the computed predictions, not the exact ones."""
        return max(self.rank, 0.1 * self.precision)


DEFAULT = Tolerances()


class View(NamedTuple):
    """What a triangle says about its point."""

    ssr: Array
    """Sum of squared residuals."""
    norms: Array
    """Column norms of J [p]."""
    held: Array
    """Coordinates that stay [p]: fixed ones, and those on a bound with the descent direction pointing out of the box."""
    floor: Array
    """Lengths up to which columns of J are rounding [p]."""
    resting: Array
    """Coordinates that take no part in steps [p]: those held, and those whose column has only been rounding while others are seen."""
    cosine: Array
    """Largest cosine between the residuals and a column of J that may move."""
    size: Array
    """Size of the predictions, to which rounding is relative."""


class State(NamedTuple):
    """Where a fit is: the best point so far, what is known of it, and the point to evaluate next."""

    theta: Array
    R: Array
    view: View
    bounds: Bounds
    scale: Array
    """D [p]: largest column norms of J so far."""
    reach: Array
    """Size of each parameter [p]."""
    grows: Array
    """Parameters whose size is the largest value they have had [p]; that of the others is given."""
    radius: Array
    trial: Array
    step_norm: Array
    """|D s| of the trial."""
    damping: Array
    """The multiplier lambda of the trial."""
    predicted: Array
    """Relative reduction of the sum of squares that the linear model promises for the trial."""
    slope: Array
    """g's / |r|^2 of the trial."""
    shortened: Array
    """Whether a bound cut the trial's step."""
    offset: Array
    """Share of |r| that a full step over the free coordinates would remove, by the linear model."""
    determination: Determination
    """What the residuals determine at `theta`."""
    evaluations: Array
    moves: Array
    accepted: Array
    finished: Array
    status: Array


class _Step(NamedTuple):
    """A step in scaled coordinates z = D s; `again` while a coordinate has just met its bound."""

    z: Array
    damping: Array
    frozen: Array
    again: Array


def init(theta0: Array, bounds: Bounds, sizes: Array | None = None) -> State:
    """The state before the start is evaluated; `theta0` [p] lies in the box, p >= 1.

    Args:
        theta0: start [p].
        bounds: the box.
        sizes: of the parameters [p], against which the rounding of their derivatives is judged: 1 for a logarithm; NaN, and by
            default, the largest value it has had, infinite (unknown) for one that starts at zero.
    """
    xp = namespace(theta0)
    p = theta0.shape[0]
    dtype = theta0.dtype
    vector = xp.zeros(p, dtype)
    zero = xp.zeros((), dtype)
    count = xp.zeros((), xp.int32)
    no = xp.zeros((), bool)
    given = xp.full(p, xp.nan, dtype) if sizes is None else xp.asarray(sizes, dtype)
    return State(
        theta=theta0,
        R=xp.full((p + 1, p + 1), xp.nan, dtype),
        view=View(
            ssr=xp.full((), xp.nan, dtype),
            norms=vector,
            held=xp.zeros(p, bool),
            floor=vector,
            resting=xp.zeros(p, bool),
            cosine=zero,
            size=zero,
        ),
        bounds=Bounds(xp.asarray(bounds.lower, dtype), xp.asarray(bounds.upper, dtype)),
        scale=vector,
        reach=xp.where(xp.isnan(given), xp.where(theta0 == 0, xp.inf, xp.abs(theta0)), given),
        grows=xp.isnan(given),
        radius=zero,
        trial=theta0,
        step_norm=zero,
        damping=zero,
        predicted=zero,
        slope=zero,
        shortened=no,
        offset=zero,
        determination=determine(xp.zeros((p, p), dtype), xp.zeros(p, bool)),
        evaluations=count,
        moves=count,
        accepted=no,
        finished=no,
        status=xp.full((), int(Status.NOT_CONVERGED), xp.int32),
    )


def propose(state: State) -> Array:
    """The point [p] to evaluate next."""
    return state.trial


def done(state: State) -> Array:
    """Whether the fit is over; `state.status` then says how."""
    return state.finished


def update(state: State, R: Array, n_bad: Array | int = 0, tolerances: Tolerances = DEFAULT) -> State:
    """The state after the evaluation at `propose(state)`: the trial taken or refused, the end recognised, the next trial.

    Args:
        state: of `init` or an earlier `update`.
        R: triangle of [J r] at the trial [p + 1, p + 1]; a trial with a number that is not finite is refused.
        n_bad: number of failed parts of the evaluation; a trial with any is refused, and the radius shrinks.
        tolerances: when the fit is over.
    """
    xp = namespace(state.theta)
    first = state.evaluations == 0
    judged = _judged(state, R, n_bad, tolerances)
    theta = xp.where(judged.accepted, state.trial, state.theta)
    R = xp.where(judged.accepted, R, state.R)
    view = View(*[xp.where(judged.accepted, new, old) for new, old in zip(judged.view, state.view, strict=True)])
    scale = xp.maximum(state.scale, xp.where(judged.accepted, view.norms, 0.0))

    divisor = xp.where(scale > 0, scale, 1.0)  # 1 for a coordinate that has never changed a residual
    length = _norm(divisor * theta)
    radius = xp.where(first, xp.where(length > 0, length, xp.sqrt(view.ssr)), judged.radius)
    box = _within_sight(theta, state)
    step = _bounded_step(R, theta, box, view, divisor, radius)
    step_norm = _norm(step.z)
    trial = _trial(theta, step, divisor, box)
    change = R[:-1, :-1] @ (step.z / divisor)
    along = R[:-1, -1] @ change

    finite = xp.where(xp.isfinite(R), R, 0.0)
    determination = determine(finite[:-1, :-1], view.held, view.floor, tolerances.rank)
    offset = _norm(xp.where(determination.determined, finite[:-1, -1] @ determination.left, 0.0)) / _root(view.ssr, xp)
    new = state._replace(
        theta=theta,
        R=R,
        view=view,
        scale=scale,
        reach=xp.where(state.grows, xp.maximum(state.reach, xp.abs(theta)), state.reach),
        radius=xp.where(first, xp.minimum(radius, step_norm), radius),
        trial=trial,
        step_norm=step_norm,
        damping=step.damping,
        predicted=-(2 * along + _square(change)) / view.ssr,
        slope=along / view.ssr,
        shortened=xp.any(step.frozen & ~view.resting),
        offset=offset,
        determination=determination,
        evaluations=state.evaluations + 1,
        moves=state.moves + (judged.accepted & ~first),
        accepted=judged.accepted,
    )
    finished, status = _end(new, judged, first, tolerances)
    new = new._replace(finished=finished, status=status, trial=xp.where(finished, theta, trial))
    return jax.tree.map(lambda old, new: xp.where(state.finished, old, new).astype(old.dtype), state, new)


def arrived(begun: State, theta: Array, R: Array, n_bad: Array | int = 0, tolerances: Tolerances = DEFAULT) -> State:
    """The state of a search that another method led to `theta`, where it ended: judged as one that makes no more progress there.

    Args:
        begun: the state after the evaluation of the start, which tells what had been seen.
        theta: where the search ended [p], in the box.
        R: triangle of [J r] there [p + 1, p + 1].
        n_bad: number of failed parts of that evaluation.
        tolerances: when a point is an optimum.
    """
    xp = namespace(theta)
    nothing = xp.zeros_like(begun.evaluations)
    fresh = begun._replace(theta=theta, trial=theta, evaluations=nothing, finished=xp.zeros_like(begun.finished))
    here = update(fresh, R, n_bad, tolerances)
    here = here._replace(moves=begun.moves + xp.any(theta != begun.theta))
    yes = xp.ones_like(here.finished)
    failed = here.finished & (here.status == int(Status.NON_FINITE))
    return here._replace(finished=yes, status=_verdict(here, yes, failed, _solved(here, yes, tolerances), tolerances))


def _within_sight(theta: Array, state: State) -> Bounds:
    """The box of the next step: the bounds, and for what has a size of its own no more than `LONGEST` of it."""
    xp = namespace(theta)
    reach = xp.where(state.grows, xp.inf, LONGEST * state.reach)
    return Bounds(xp.maximum(state.bounds.lower, theta - reach), xp.minimum(state.bounds.upper, theta + reach))


class _Judged(NamedTuple):
    """What the evaluation of a trial means."""

    view: View
    """Of the trial."""
    usable: Array
    """Whether everything is a number."""
    accepted: Array
    unresolved: Array
    """Whether the step promised less than the noise of the sum of squares."""
    promised: Array
    """Relative change of the sum of squares that it promised."""
    radius: Array
    """For the next step."""


def _judged(state: State, R: Array, n_bad: Array | int, tolerances: Tolerances) -> _Judged:
    """Whether the trial is taken, and how far the linear model is trusted next (More 1978, section 4)."""
    xp = namespace(state.theta)
    reach = xp.where(state.grows, xp.maximum(state.reach, xp.abs(state.trial)), state.reach)
    view = _view(R, state.trial, state.bounds, reach, state.scale, tolerances)
    usable = xp.all(xp.isfinite(R)) & xp.isfinite(view.ssr) & (n_bad == 0)
    actual = 1 - view.ssr / state.view.ssr
    gain = actual / state.predicted
    unsure = noise(state.view, tolerances.precision)
    promised = xp.maximum(xp.abs(state.predicted), xp.abs(state.slope))
    unresolved = promised <= xp.minimum(unsure, 1e-4)
    better = (state.predicted > 0) & (gain >= 1e-4)
    # where differences of the sum of squares are rounding, the gradient, which is not, decides
    straighter = unresolved & (xp.abs(actual) <= unsure) & (view.cosine <= state.view.cosine / 2)
    accepted = usable & ((state.evaluations == 0) | better | straighter)
    return _Judged(view, usable, accepted, unresolved, promised, _next_radius(state, accepted, usable, actual, gain))


def _trial(theta: Array, step: _Step, divisor: Array, bounds: Bounds) -> Array:
    """The point at the end of a step: frozen coordinates exactly on their bound, resting ones exactly where they are."""
    xp = namespace(theta)
    at_bound = xp.where(step.z > 0, bounds.upper, bounds.lower)
    moved = xp.where(step.frozen, at_bound, xp.clip(theta + step.z / divisor, bounds.lower, bounds.upper))
    return xp.where(step.z == 0, theta, moved)


def _end(state: State, judged: _Judged, first: Array, tolerances: Tolerances) -> tuple[Array, Array]:
    """Whether the search is over at `state`, and how it then ended."""
    xp = namespace(state.theta)
    refused = ~first & ~judged.accepted
    stalled = (refused & (judged.promised <= xp.minimum(noise(state.view, ROUNDING), 1e-4))) | xp.all(state.trial == state.theta)
    solved = _solved(state, stalled | (refused & judged.unresolved), tolerances)
    failed_start = first & ~judged.usable
    finished = failed_start | solved | stalled
    return finished, _verdict(state, finished, failed_start, solved, tolerances)


def _solved(state: State, halted: Array, tolerances: Tolerances) -> Array:
    """Whether the gradient has vanished at `state`; where the search has `halted`, as far as the precision of the residuals tells."""
    view = state.view
    straight = (view.cosine < tolerances.cosine) & (state.offset < tolerances.offset)
    blur = noise(view, tolerances.precision)
    settled = (view.cosine < _larger(tolerances.stalled_cosine, blur)) & (state.offset < _larger(tolerances.offset, blur))
    return straight | (view.ssr == 0) | (halted & (settled | _vanished(view, tolerances)))


def _vanished(view: View, tolerances: Tolerances) -> Array:
    """Whether the residuals are nothing beside the predictions."""
    return view.ssr**0.5 <= tolerances.residual * view.size


def _larger(one: Array | float, other: Array) -> Array:
    return namespace(other).maximum(one, other)


def _verdict(state: State, finished: Array, failed_start: Array, solved: Array, tolerances: Tolerances) -> Array:
    """The status of a search that is at `state`."""
    xp = namespace(state.theta)
    view, found = state.view, state.determination
    estimated = state.bounds.lower < state.bounds.upper
    on_bound = xp.any(((state.theta == state.bounds.lower) | (state.theta == state.bounds.upper)) & estimated)
    flat = found.rank < (~view.held).sum()
    # the same where a fit stalls although its gradient has vanished: J'J is then singular to rounding
    vanishing = ~solved & (view.cosine < tolerances.stalled_cosine) & (found.ratio < tolerances.stalled_rank)
    # what was seen and is seen no more, or nothing seen at all, is no minimum but a place without a slope
    gone = xp.any(found.silent & (state.scale > view.floor)) | (found.rank == 0)
    plateau = flat & gone & ~_vanished(view, tolerances)
    verdicts = [
        (~finished, Status.NOT_CONVERGED),
        (failed_start, Status.NON_FINITE),
        (solved & plateau, Status.PLATEAU),
        (solved & flat, Status.FLAT),
        (solved & on_bound, Status.ON_BOUND),
        (solved, Status.SUCCESS),
        (plateau, Status.PLATEAU),
        (state.moves == 0, Status.NOT_MOVED),
        (vanishing, Status.FLAT),
    ]
    return xp.select([case for case, _ in verdicts], [int(status) for _, status in verdicts], int(Status.NOT_CONVERGED))


def _nonzero(s: Array) -> Array:
    """Which of the descending singular values `s` are more than rounding."""
    return s > s.shape[0] * np.finfo(s.dtype).eps * s[0]


def _while(going: Callable[[Carry], Array], body: Callable[[Carry], Carry], carry: Carry, xp: ModuleType) -> Carry:
    if xp is jnp:
        return lax.while_loop(going, body, carry)
    while going(carry):
        carry = body(carry)
    return carry


def _square(vector: Array) -> Array:
    return (vector * vector).sum()


def _norm(vector: Array) -> Array:
    return _square(vector) ** 0.5


def _root(ssr: Array, xp: ModuleType) -> Array:
    """|r|, or 1 where it is 0: a divisor."""
    return xp.where(ssr > 0, ssr, 1.0) ** 0.5


def _view(R: Array, theta: Array, bounds: Bounds, reach: Array, scale: Array, tolerances: Tolerances) -> View:
    xp = namespace(theta)
    ssr = _square(R[:, -1])
    norms = xp.sqrt((R[:-1, :-1] ** 2).sum(axis=0))
    gradient = R[:-1, -1] @ R[:-1, :-1]
    outward = ((theta <= bounds.lower) & (gradient > 0)) | ((theta >= bounds.upper) & (gradient < 0))
    held = outward | (bounds.lower == bounds.upper)
    size = xp.maximum(_norm(norms * theta), tolerances.magnitude)
    floor = column_floor(tolerances.noise, xp.maximum(size, xp.sqrt(ssr)), reach)
    unseen = silent_columns(xp.maximum(norms, scale), floor) & ~held
    # where nothing is seen, what there is must do: the start may lie far out
    resting = held | (unseen & xp.any(~unseen & ~held))
    product = norms * xp.sqrt(ssr)
    cosine = xp.abs(gradient) / xp.where(product > 0, product, 1.0)
    return View(
        ssr=ssr,
        norms=norms,
        held=held,
        floor=floor,
        resting=resting,
        cosine=xp.where(resting, 0.0, cosine).max(),
        size=size,
    )


def noise(view: View, precision: Array | float) -> Array:
    """Error of the residuals relative to their norm, when predictions have the relative error `precision`."""
    xp = namespace(view.norms)
    return precision * xp.maximum(view.size / _root(view.ssr, xp), 1.0)


def _next_radius(state: State, accepted: Array, usable: Array, actual: Array, gain: Array) -> Array:
    xp = namespace(state.theta)
    # minimum of the parabola through both sums of squares and the slope at the old point, kept within [0.1, 0.5]
    interpolated = xp.clip(0.5 * state.slope / (state.slope + 0.5 * actual), 0.1, 0.5)
    shrink = xp.where(usable, xp.where(actual >= 0, 0.5, interpolated), 0.25)
    smaller = shrink * xp.minimum(state.radius, xp.where(accepted, 10.0, 1.0) * state.step_norm)
    double = 2 * state.step_norm
    larger = xp.where(state.shortened, xp.maximum(state.radius, double), double)
    trusted = usable & (state.predicted > 0) & (gain > 0.25)
    grow = (gain >= 0.75) | (state.damping == 0)
    return xp.where(trusted, xp.where(grow, larger, state.radius), smaller)


def _bounded_step(R: Array, theta: Array, bounds: Bounds, view: View, divisor: Array, radius: Array) -> _Step:
    xp = namespace(theta)
    finite = xp.where(xp.isfinite(R), R, 0.0)  # a failed start has nothing to decompose
    scaled = finite[:-1, :-1] / divisor
    residual = finite[:-1, -1]
    to_lower = (bounds.lower - theta) * divisor
    to_upper = (bounds.upper - theta) * divisor

    def solve(step: _Step) -> _Step:
        fixed = xp.where(step.frozen, step.z, 0.0)
        u, s, vt = xp.linalg.svd(xp.where(step.frozen, 0.0, scaled))
        kept = _nonzero(s)
        s = xp.where(kept, s, 0.0)
        c = xp.where(kept, (residual + scaled @ fixed) @ u, 0.0)
        rest = xp.sqrt(xp.maximum(radius**2 - _square(fixed), (0.1 * radius) ** 2))
        damping = _multiplier(s, c, rest)
        z = fixed - (s * c / xp.where(kept, s * s + damping, 1.0)) @ vt
        z = xp.where(step.frozen, fixed, z)
        leaving = ~step.frozen & ((z < to_lower) | (z > to_upper))
        return _Step(
            z=xp.clip(z, to_lower, to_upper),
            damping=damping,
            frozen=step.frozen | leaving,
            again=leaving.any(),
        )

    start = _Step(xp.zeros_like(theta), xp.zeros((), theta.dtype), view.resting, xp.ones((), bool))
    return _while(lambda step: step.again, solve, start, xp)


def _multiplier(s: Array, c: Array, radius: Array) -> Array:
    """lambda >= 0 with |z(lambda)| = radius for z = s c / (s^2 + lambda), or 0 where the full step is inside.

    Newton on 1 / |z|, which is concave and increasing: from the left it never overshoots.
    """
    xp = namespace(s)

    def length(damping: Array) -> tuple[Array, Array]:
        shifted = xp.where(s > 0, s * s + damping, 1.0)
        z = s * c / shifted
        return _norm(z), (z * z / shifted).sum()

    def too_long(carry: tuple[Array, Array]) -> Array:
        return (length(carry[0])[0] > radius * (1 + 1e-9)) & (carry[1] < 60)

    def newton(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        damping, count = carry
        norm, curvature = length(damping)
        return damping + norm**2 * (norm / radius - 1) / curvature, count + 1

    return _while(too_long, newton, (xp.zeros((), s.dtype), xp.zeros((), xp.int32)), xp)[0]
