"""Stiff initial value problems, one lane: Rodas5P with error control, stopping at every output time and every break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from kinetix.solvers import tableau
from kinetix.solvers.linear import gauss_jordan, solve
from kinetix.solvers.sensitivity import Levels, differentiable
from kinetix.solvers.system import Arguments, Structure, System, all_finite, check_vector, floating_type
from kinetix.status import Status

SAFETY, SHRINK, GROW, ON_FAILURE = 0.9, 0.2, 6.0, 0.5
FIRST_ERROR = 0.01


@partial(jax.tree_util.register_dataclass, data_fields=["rtol", "atol", "max_steps", "lowest"], meta_fields=[])
@dataclass(frozen=True)
class Options:
    """How exactly to integrate.

    All fields are numbers and may be traced: other values do not recompile a function that takes an `Options` as an argument.

    rtol : relative tolerance. A step is accepted if the root mean square over the components of error/(atol + rtol |y|) is at most 1.
    atol : absolute tolerance, in the unit of y: one number, or one for each component (a tuple or an array).
    max_steps : the most steps, accepted and rejected together, over all output times.
    lowest : a step that leaves a component below it ends the solve with BELOW_ZERO; for concentrations a little below zero.
    """

    rtol: ArrayLike = 1e-8
    atol: ArrayLike | tuple[float, ...] = 1e-12
    max_steps: ArrayLike = 10_000
    lowest: ArrayLike = -float("inf")


class Solution(NamedTuple):
    """What `integrate` gives.

    y : [m, n], the state at each output time; NaN from the failed time on.
    status : int32, a `kinetix.status.Status`: SUCCESS, STEP_LIMIT, STEP_TOO_SMALL, BELOW_ZERO or NON_FINITE.
    steps, rejected : int32, the accepted and the rejected steps.
    t_reached : the time up to which the equations have been solved; finite.
    """

    y: Array
    status: Array
    steps: Array
    rejected: Array
    t_reached: Array


class _State(NamedTuple):
    """What one step hands to the next."""

    y: Array
    t: Array
    h: Array
    status: Array
    accepted: Array
    rejected: Array


class _Segments(NamedTuple):
    """The stretches between consecutive stops (output times and breaks); each [s], for one of them scalars."""

    start: Array
    stop: Array
    inset: Array

    def inside(self, t: Array) -> Array:
        """t kept a few rounding units away from the ends, where the right-hand side might belong to the neighbour."""
        return lax.clamp(self.start + self.inset, t, self.stop - self.inset)


TIMES, T0, Y0, FIRST_OF_ARGS = 0, 1, 2, 3


@dataclass(frozen=True)
class _Integration:
    """`integrate` as a program for `sensitivity.differentiable`. Arguments: times, t0, y0, leaves of args, [breaks,] leaves of options."""

    system: System
    args: Structure
    options: Structure
    has_breaks: bool
    aligned: ClassVar[int] = TIMES

    @property
    def differentiable(self) -> tuple[int, ...]:
        return tuple(range(FIRST_OF_ARGS + self.args.num_leaves))

    @property
    def refused(self) -> tuple[tuple[int, str], ...]:
        reason = (
            "integrate has no derivative with respect to breaks. Where the right-hand side is continuous at the breaks it is zero: "
            "write breaks=jax.lax.stop_gradient(breaks)."
        )
        return ((FIRST_OF_ARGS + self.args.num_leaves, reason),) if self.has_breaks else ()

    def __call__(self, levels: Levels, arguments: tuple[Array, ...]) -> tuple[Array, Array, tuple[Array, Array, Array, Array]]:
        split = FIRST_OF_ARGS + self.args.num_leaves
        times, t0, y0 = arguments[:FIRST_OF_ARGS]
        args = jax.tree.unflatten(self.args, arguments[FIRST_OF_ARGS:split])
        breaks = arguments[split] if self.has_breaks else None
        options: Options = lax.stop_gradient(jax.tree.unflatten(self.options, arguments[split + self.has_breaks :]))
        start_moves = sum(T0 in level for level in levels)
        stop_moves = sum(TIMES in level for level in levels)

        fixed_times, fixed_t0 = lax.stop_gradient((times, t0))
        ordered = jnp.all(fixed_times >= jnp.concatenate([fixed_t0[None], fixed_times[:-1]]))
        segments = _segments(fixed_t0, fixed_times, breaks)
        if start_moves:
            y0 = _move_along(self.system, args, t0 + segments.inset[0], y0, fixed_t0 - t0, start_moves)
        state = _first_state(self.system, options, args, y0, segments, ordered & all_finite((times, t0, y0, args)))
        state, (y, usable) = _run(self.system, options, args, state, segments)
        ends = segments.stop - segments.inset
        if breaks is not None:
            place = jnp.sum(segments.stop[None, :] < fixed_times[:, None], axis=1)
            y, usable, ends = y[place], usable[place], ends[place]
        if stop_moves:
            y = jax.vmap(lambda t, y, shift: _move_along(self.system, args, t, y, shift, stop_moves))(ends, y, times - fixed_times)
        return jnp.where(usable[:, None], y, jnp.nan), usable, (state.status, state.accepted, state.rejected, state.t)


def _segments(t0: Array, times: Array, breaks: Array | None) -> _Segments:
    """Stops in order. A break outside the range falls on its end, where it only adds a segment of length zero."""
    stop = times
    if breaks is not None:
        stop = jnp.sort(jnp.concatenate([times, jnp.clip(lax.stop_gradient(breaks), t0, times[-1])]))
    start = jnp.concatenate([t0[None], stop[:-1]])
    unit = 8 * jnp.finfo(times.dtype).eps
    inset = jnp.minimum(unit * jnp.maximum(jnp.abs(start), jnp.abs(stop)), 0.25 * jnp.abs(stop - start))
    return _Segments(start, stop, inset)


def _move_along(system: System, args: Arguments, t: Array, y: Array, shift: Array, order: int) -> Array:
    """y moved by `shift` along the solution through (t, y), as a Taylor polynomial.

    The shift is zero: what counts are its derivatives up to `order`.
    """

    def rates(t: Array, y: Array) -> Array:
        return system.rates(t, y, args)

    derivative, total, weight = rates, y, shift
    for k in range(1, order + 1):
        total = total + weight * derivative(t, y)
        weight = weight * shift / (k + 1)
        derivative = _time_derivative(derivative, rates)
    return total


def _time_derivative(quantity: Callable[[Array, Array], Array], rates: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda t, y: jax.jvp(quantity, (t, y), (jnp.ones_like(t), rates(t, y)))[1]


def _first_state(system: System, options: Options, args: Arguments, y0: Array, segments: _Segments, valid: Array) -> _State:
    """The state before the first step.

    The first h is such that the error would be a hundredth of the tolerance if y went on changing on the time scale of the
    start, |dy/dt| / |d2y/dt2|. That does not depend on the units of y and t; rejected steps correct a choice that is too large.
    """
    y, args = lax.stop_gradient((y0, args))
    t = segments.start[0] + segments.inset[0]

    def rates(t: Array, y: Array) -> Array:
        return system.rates(t, y, args)

    first = rates(t, y)
    second = _time_derivative(rates, lambda t, y: first)(t, y)
    scale = jnp.asarray(options.atol, y.dtype) + jnp.asarray(options.rtol, y.dtype) * jnp.abs(y)
    tiny = jnp.finfo(y.dtype).tiny
    speed = jnp.sqrt(jnp.mean((first / scale) ** 2))
    bend = jnp.maximum(jnp.sqrt(jnp.mean((second / scale) ** 2)), tiny)
    time = jnp.minimum(jnp.maximum(speed / bend, lax.rsqrt(bend)), segments.stop[-1] - segments.start[0])
    change = jnp.maximum(jnp.maximum(speed * time, bend * time * time), tiny)
    h = time * jnp.minimum((FIRST_ERROR / change) ** (1.0 / (tableau.ORDER + 1)), 1.0)
    status = jnp.where(valid & all_finite(first), Status.SUCCESS, Status.NON_FINITE).astype(jnp.int32)
    begin = jnp.where(jnp.isfinite(segments.start[0]), segments.start[0], 0.0)
    zero = jnp.zeros((), jnp.int32)
    return _State(y0, begin, h, status, zero, zero)


def _run(system: System, options: Options, args: Arguments, state: _State, segments: _Segments) -> tuple[_State, tuple[Array, Array]]:
    """The last state, and for each segment the state [n] at its end and whether it was reached. Step sizes carry no derivatives."""
    dtype = state.y.dtype
    rtol, atol = jnp.asarray(options.rtol, dtype), jnp.asarray(options.atol, dtype)
    max_steps, lowest = jnp.asarray(options.max_steps, jnp.int32), jnp.asarray(options.lowest, dtype)
    resolution = 4 * jnp.finfo(dtype).eps

    def run_segment(state: _State, segment: _Segments) -> tuple[_State, tuple[Array, Array]]:
        def unfinished(state: _State) -> Array:
            return (state.t < segment.stop) & (state.status == Status.SUCCESS) & (state.accepted + state.rejected < max_steps)

        def attempt(state: _State) -> _State:
            y, t, h, status, accepted, rejected = state
            left = lax.select(unfinished(state), segment.stop - t, jnp.ones_like(t))
            clipped = h >= left * (1 - 1e-9)
            taken = lax.select(clipped, left, h)
            y_new, error = step(system, args, y, t, taken, segment)

            below = jnp.any(lax.stop_gradient(y_new) < lowest)
            size, size_new, error = lax.stop_gradient((jnp.abs(y), jnp.abs(y_new), error))
            mean_square = jnp.mean((error / (atol + rtol * jnp.maximum(size, size_new))) ** 2)
            finite = jnp.isfinite(mean_square) & jnp.all(jnp.isfinite(size_new))
            accept = finite & (mean_square <= 1.0)
            factor = jnp.minimum(jnp.maximum(SAFETY * jnp.maximum(mean_square, 1e-30) ** (-0.5 / tableau.ORDER), SHRINK), GROW)
            next_h = taken * lax.select(finite, factor, jnp.full_like(factor, ON_FAILURE))
            next_h = lax.select(accept & clipped, jnp.maximum(h, next_h), next_h)
            reached = lax.select(accept, lax.select(clipped, segment.stop, t + taken), t)

            accepted, rejected = accepted + accept, rejected + ~accept
            too_small = ~accept & (next_h < jnp.maximum(resolution * jnp.abs(t), 1e-24 * left))
            status = lax.select(too_small, jnp.full_like(status, Status.STEP_TOO_SMALL), status)
            status = lax.select(accept & below, jnp.full_like(status, Status.BELOW_ZERO), status)
            return _State(lax.select(accept, y_new, y), reached, next_h, status, accepted, rejected)

        state = lax.while_loop(unfinished, attempt, state)
        short = (state.t < segment.stop) & (state.status == Status.SUCCESS)
        state = state._replace(status=lax.select(short, jnp.full_like(state.status, Status.STEP_LIMIT), state.status))
        return state, (state.y, state.status == Status.SUCCESS)

    return lax.scan(run_segment, state, segments)


def step(system: System, args: Arguments, y: Array, t: Array, h: Array, segment: _Segments) -> tuple[Array, Array]:
    """One step of Rodas5P from (t, y) to t + h: the new state and its error estimate, each [n]."""
    here = segment.inside(t)
    matrix = jnp.eye(y.size, dtype=y.dtype) / (h * tableau.GAMMA) - system.matrix(here, y, args)
    inverted = lax.stop_gradient(gauss_jordan(lax.stop_gradient(matrix))[0])
    drift = None if system.autonomous else _time_derivative(partial(system.rates, args=args), lambda t, y: jnp.zeros_like(y))(here, y)

    def stage(increments: Array, numbers: tuple[Array, Array, Array, Array]) -> tuple[Array, None]:
        index, weights, node, gamma_sum = numbers
        position, memory = weights @ increments
        right = system.rates(segment.inside(t + node * h), y + position, args) + memory / h
        if drift is not None:
            right = right + gamma_sum * h * drift
        return lax.dynamic_update_index_in_dim(increments, solve(matrix, inverted, right), index, 0), None

    increments = jnp.zeros((tableau.STAGES, y.size), y.dtype)
    weights, nodes, gamma_sums = (jnp.asarray(x, y.dtype) for x in (tableau.STAGE_WEIGHTS, tableau.NODES, tableau.GAMMA_SUMS))
    increments, _ = lax.scan(stage, increments, (jnp.arange(tableau.STAGES, dtype=jnp.int32), weights, nodes, gamma_sums))
    return y + jnp.asarray(tableau.B, y.dtype) @ increments, increments[-1]


_DEFAULTS = Options()


def integrate(
    system: System,
    y0: ArrayLike,
    args: Arguments,
    times: ArrayLike,
    *,
    t0: ArrayLike = 0.0,
    breaks: ArrayLike | None = None,
    options: Options = _DEFAULTS,
) -> Solution:
    """The solution of dy/dt = rhs(t, y, args), y(t0) = y0, at given times: one lane, of a stiff or non-stiff system.

    Every output time and every break ends a step, so nothing is interpolated. Small negative values within the tolerance are kept.

    Derivatives, forward or reverse and of any order, exist with respect to y0, every floating-point leaf of args, times and t0.
    Those of y0 and args are the exact derivatives of the computed solution with the step sizes held fixed; those of times and t0
    come from rhs itself. In a failed lane they are NaN, but a cotangent of zero stays zero, so a masked failure does not spoil
    a gradient.

    Args:
        system: the equations. During a step `rhs` and `jacobian` see times strictly between the neighbouring stops (a few
            rounding units away from them), so a right-hand side that jumps at a break is taken from the side of the step.
        y0: [n], the state at t0; its floating-point type is that of the whole solve.
        args: pytree of arrays and numbers, given to rhs.
        times: [m], not decreasing, none before t0; repeats (padding) and a first time equal to t0 are fine.
        t0: the start.
        breaks: [q], any order: times at which rhs has a kink or a jump. Those outside the range are harmless, and so are
            repeats (padding). There is no derivative with respect to breaks; asking for it is an error.
        options: tolerances and the step limit.

    Returns:
        A `Solution`. Its status is NON_FINITE, and y is NaN, if an input or the first rate is not finite or the times decrease.

    Raises:
        ValueError: y0 or times is not a vector, or rhs or jacobian gives a wrong shape.
        TypeError: a derivative with respect to breaks is asked for.

    Source: Rodas5P of G. Steinebach, BIT Numerical Mathematics 63:27 (2023); step control after E. Hairer and G. Wanner,
    Solving Ordinary Differential Equations II, section IV.8.

    >>> from kinetix.precision import float64
    >>> decay = System(lambda t, y, k: -k * y, autonomous=True)
    >>> with float64():
    ...     solution = integrate(decay, [1.0], 0.5, [0.0, 2.0])
    >>> print([f"{value:.6f}" for value in solution.y[:, 0].tolist()], int(solution.status))
    ['1.000000', '0.367879'] 0
    """
    start = jnp.asarray(y0)
    dtype = floating_type(start)
    start, ends, begin = start.astype(dtype), jnp.asarray(times, dtype), jnp.asarray(t0, dtype)
    check_vector("y0", start)
    check_vector("times", ends)
    leaves, args_tree = jax.tree.flatten(args)
    option_leaves, options_tree = jax.tree.flatten(options)
    kinks = [] if breaks is None else [jnp.asarray(breaks, dtype)]
    program = _Integration(system, args_tree, options_tree, breaks is not None)
    arguments = (ends, begin, start, *map(jnp.asarray, leaves), *kinks, *map(jnp.asarray, option_leaves))
    (y,), _, (status, steps, rejected, t_reached) = differentiable(program, (), *arguments)
    return Solution(y, status, steps, rejected, t_reached)
