"""Stiff initial value problems, one lane: Rodas5P with error control, stopping at every output time and at every kink of the right-hand side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from kinetix.solvers import tableau
from kinetix.solvers.linear import gauss_jordan, solve
from kinetix.solvers.sensitivity import Levels, differentiable
from kinetix.status import Status

Arguments = Any
"""Any pytree of arrays; its floating-point leaves can be differentiated."""

SAFETY, SHRINK, GROW, ON_FAILURE = 0.9, 0.2, 6.0, 0.5
FIRST_ERROR = 0.01


class System(NamedTuple):
    """The equations dy/dt = rhs(t, y, args).

    rhs : (t, y [n], args) -> [n].
    jacobian : (t, y, args) -> [n, n], d rhs_i / d y_j; by forward mode if None.
    autonomous : True promises that d rhs/dt is zero inside every segment between breaks, and saves computing it.

    Functions should be defined once (module level), since equal systems share one trace. `steady_state` calls them with t = 0.
    """

    rhs: Callable[[Array, Array, Arguments], Array]
    jacobian: Callable[[Array, Array, Arguments], Array] | None = None
    autonomous: bool = False

    def rates(self, t: Array, y: Array, args: Arguments) -> Array:
        """dy/dt [n] in the type of y."""
        return jnp.asarray(self.rhs(t, y, args), y.dtype)

    def matrix(self, t: Array, y: Array, args: Arguments) -> Array:
        """d rhs/dy [n, n] in the type of y."""
        if self.jacobian is None:
            return jax.jacfwd(self.rates, argnums=1)(t, y, args)
        return jnp.asarray(self.jacobian(t, y, args), y.dtype)


@partial(jax.tree_util.register_dataclass, data_fields=["rtol", "atol", "max_steps"], meta_fields=[])
@dataclass(frozen=True)
class Options:
    """How exactly to integrate. All fields are numbers, never part of a trace: other tolerances do not recompile a function that takes Options as an argument.

    rtol : relative tolerance of a step. A step is accepted if the root mean square over components of error/(atol + rtol |y|) is at most one.
    atol : absolute tolerance, in the unit of y: one number, or one for each component (a tuple or an array).
    max_steps : the most steps, accepted and rejected together, over all output times.
    """

    rtol: ArrayLike = 1e-8
    atol: ArrayLike | tuple[float, ...] = 1e-12
    max_steps: ArrayLike = 10_000


class Solution(NamedTuple):
    """What `integrate` gives.

    y : [m, n], the state at each output time; NaN from the failed time on.
    status : int32, a `kinetix.status.Status`.
    steps, rejected : int32, accepted and rejected steps.
    t_reached : the time up to which the solution is good; finite.
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


TIMES, T0, Y0, FIRST_OF_ARGS = 0, 1, 2, 3


@dataclass(frozen=True)
class _Integration:
    """`integrate` as a program for `sensitivity.differentiable`. Arguments: times, t0, y0, leaves of args, then what is not differentiated."""

    system: System
    args: jax.tree_util.PyTreeDef
    options: jax.tree_util.PyTreeDef
    has_breaks: bool
    aligned = TIMES

    @property
    def differentiable(self) -> tuple[int, ...]:
        return tuple(range(FIRST_OF_ARGS + self.args.num_leaves))

    @property
    def refused(self) -> tuple[tuple[int, str], ...]:
        reason = (
            "integrate cannot be differentiated with respect to breaks. Where the right-hand side is continuous at a break the derivative is zero: "
            "write breaks=jax.lax.stop_gradient(breaks)."
        )
        return ((FIRST_OF_ARGS + self.args.num_leaves, reason),) if self.has_breaks else ()

    def __call__(self, levels: Levels, arguments: tuple[Array, ...]) -> tuple[Array, Array, tuple[Array, Array, Array, Array]]:
        split = FIRST_OF_ARGS + self.args.num_leaves
        times, t0, y0 = arguments[:FIRST_OF_ARGS]
        args = jax.tree.unflatten(self.args, arguments[FIRST_OF_ARGS:split])
        breaks = arguments[split] if self.has_breaks else None
        options: Options = jax.tree.unflatten(self.options, arguments[split + self.has_breaks :])
        system = self.system

        fixed_times, fixed_t0 = lax.stop_gradient((times, t0))
        stops = fixed_times if breaks is None else _merge(fixed_t0, fixed_times, lax.stop_gradient(breaks))
        starts = jnp.concatenate([fixed_t0[None], stops[:-1]])
        inset = _inset(starts, stops)

        start_moves = sum(T0 in level for level in levels)
        if start_moves:
            y0 = _move_along(system, t0 + inset[0], y0, args, fixed_t0 - t0, start_moves)
        state = _start(system, options, starts, stops, inset, y0, args, (fixed_times, fixed_t0, y0, args))
        state, (y, usable) = _segments(system, options, args, state, starts, stops, inset)
        if breaks is not None:
            place = jnp.sum(stops[None, :] < fixed_times[:, None], axis=1)
            y, usable, inset = y[place], usable[place], inset[place]
        time_moves = sum(TIMES in level for level in levels)
        if time_moves:
            move = jax.vmap(lambda t, y, shift: _move_along(system, t, y, args, shift, time_moves))
            y = move(fixed_times - inset, y, times - fixed_times)
        y = jnp.where(usable[:, None], y, jnp.nan)
        return y, usable, (state.status, state.accepted, state.rejected, state.t)


def _merge(t0: Array, times: Array, breaks: Array) -> Array:
    """Output times and breaks in order; breaks outside the range fall on its ends, where they only add segments of length zero."""
    return jnp.sort(jnp.concatenate([times, jnp.clip(breaks, t0, times[-1])]))


def _inset(starts: Array, stops: Array) -> Array:
    """How far inside a segment the right-hand side is evaluated at the nearest: a few rounding units, so that it takes the side of the segment."""
    unit = 8 * jnp.finfo(starts.dtype).eps
    return jnp.minimum(unit * jnp.maximum(jnp.abs(starts), jnp.abs(stops)), 0.25 * jnp.abs(stops - starts))


def _move_along(system: System, t: Array, y: Array, args: Arguments, shift: Array, order: int) -> Array:
    """y moved along the solution through (t, y) by `shift`, by its Taylor polynomial. `shift` is zero; what counts are the derivatives up to `order`."""

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


def _start(
    system: System, options: Options, starts: Array, stops: Array, inset: Array, y0: Array, args: Arguments, inputs: Arguments
) -> _State:
    """The state before the first step. The first step h is such that its error would be a hundredth of the tolerance if the solution went on changing
    on the time scale |dy/dt|/|d2y/dt2| of the start; scale-free in y and t.
    """
    y, args = lax.stop_gradient((y0, args))
    t = starts[0] + inset[0]

    def rates(t: Array, y: Array) -> Array:
        return system.rates(t, y, args)

    first = rates(t, y)
    _, second = jax.jvp(rates, (t, y), (jnp.ones_like(t), first))
    scale = jnp.asarray(options.atol, y.dtype) + jnp.asarray(options.rtol, y.dtype) * jnp.abs(y)
    tiny = jnp.finfo(y.dtype).tiny
    d1 = jnp.maximum(_rms(first / scale), tiny)
    d2 = jnp.maximum(_rms(second / scale), tiny)
    span = stops[-1] - starts[0]
    time = jnp.minimum(jnp.maximum(d1 / d2, lax.rsqrt(d2)), span)
    change = jnp.maximum(jnp.maximum(d1 * time, d2 * time * time), tiny)
    h = time * jnp.minimum(1.0, (FIRST_ERROR / change) ** (1.0 / (tableau.ORDER + 1)))

    finite = [jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves((inputs, first)) if jnp.issubdtype(jnp.result_type(x), jnp.inexact)]
    healthy = jnp.all(jnp.stack(finite)) & jnp.all(stops >= starts)
    status = jnp.where(healthy, Status.SUCCESS, Status.NON_FINITE).astype(jnp.int32)
    zero = jnp.zeros((), jnp.int32)
    return _State(y0, jnp.nan_to_num(starts[0]), h, status, zero, zero)


def _rms(x: Array) -> Array:
    return jnp.sqrt(jnp.mean(x * x))


def _segments(
    system: System, options: Options, args: Arguments, state: _State, starts: Array, stops: Array, inset: Array
) -> tuple[_State, tuple[Array, Array]]:
    dtype = state.y.dtype
    rtol, atol = jnp.asarray(options.rtol, dtype), jnp.asarray(options.atol, dtype)
    max_steps = jnp.asarray(options.max_steps, jnp.int32)
    smallest = 4 * jnp.finfo(dtype).eps
    rtol, atol = lax.stop_gradient((rtol, atol))

    def segment(state: _State, limits: tuple[Array, Array, Array]) -> tuple[_State, tuple[Array, Array]]:
        begin, end, inset = limits

        def unfinished(state: _State) -> Array:
            return (state.t < end) & (state.status == Status.SUCCESS)

        def attempt(state: _State) -> _State:
            y, t, h, status, accepted, rejected = state
            left = end - t
            clipped = h >= left * (1 - 1e-9)
            h_used = jnp.where(clipped, left, h)
            y_new, error = step(system, args, y, t, h_used, (begin + inset, end - inset))
            size, size_new, estimate = lax.stop_gradient((jnp.abs(y), jnp.abs(y_new), error))
            mean_square = jnp.mean((estimate / (atol + rtol * jnp.maximum(size, size_new))) ** 2)
            finite = jnp.all(jnp.isfinite(size_new)) & jnp.isfinite(mean_square)
            accept = finite & (mean_square <= 1.0)
            factor = jnp.clip(SAFETY * jnp.maximum(mean_square, 1e-30) ** (-0.5 / tableau.ORDER), SHRINK, GROW)
            h_new = h_used * jnp.where(finite, factor, ON_FAILURE)
            h_new = jnp.where(accept & clipped, jnp.maximum(h, h_new), h_new)
            t_new = jnp.where(accept, jnp.where(clipped, end, t + h_used), t)
            accepted, rejected = accepted + accept, rejected + ~accept
            floor = jnp.maximum(smallest * jnp.abs(t), 1e-24 * left)
            status = jnp.where(~accept & (h_new < floor), Status.STEP_TOO_SMALL, status)
            status = jnp.where((t_new < end) & (accepted + rejected >= max_steps), Status.STEP_LIMIT, status).astype(jnp.int32)
            return _State(jnp.where(accept, y_new, y), t_new, h_new, status, accepted, rejected)

        state = lax.while_loop(unfinished, attempt, state)
        return state, (state.y, state.status == Status.SUCCESS)

    return lax.scan(segment, state, (starts, stops, inset))


def step(system: System, args: Arguments, y: Array, t: Array, h: Array, inside: tuple[Array, Array]) -> tuple[Array, Array]:
    """One step of Rodas5P from (t, y) to t + h: the new state and its error estimate, each [n].

    The right-hand side sees times within `inside` only.
    """
    dtype = y.dtype
    rows = tuple(jnp.asarray(x, dtype) for x in (tableau.A, tableau.C, tableau.NODES, tableau.GAMMA_SUMS))
    at_t = jnp.clip(t, *inside)
    matrix = jnp.eye(y.size, dtype=dtype) / (h * tableau.GAMMA) - system.matrix(at_t, y, args)
    inverted = lax.stop_gradient(gauss_jordan(lax.stop_gradient(matrix))[0])
    drift = None
    if not system.autonomous:
        _, drift = jax.jvp(lambda t: system.rates(t, y, args), (at_t,), (jnp.ones_like(at_t),))

    def stage(i: Array, increments: Array) -> Array:
        a, c, node, gamma_sum = (x[i] for x in rows)
        right = system.rates(jnp.clip(t + node * h, *inside), y + a @ increments, args) + (c @ increments) / h
        if drift is not None:
            right = right + gamma_sum * h * drift
        return increments.at[i].set(solve(matrix, inverted, right))

    increments = lax.fori_loop(0, tableau.STAGES, stage, jnp.zeros((tableau.STAGES, y.size), dtype))
    return y + jnp.asarray(tableau.B, dtype) @ increments, increments[-1]


def integrate(
    system: System,
    y0: ArrayLike,
    args: Arguments,
    times: ArrayLike,
    *,
    t0: ArrayLike = 0.0,
    breaks: ArrayLike | None = None,
    options: Options = Options(),
) -> Solution:
    """doc"""
    y0 = jnp.asarray(y0)
    dtype = jnp.result_type(y0, jnp.float32) if jnp.issubdtype(y0.dtype, jnp.inexact) else jnp.result_type(float)
    y0, times, t0 = (jnp.asarray(x, dtype) for x in (y0, times, t0))
    leaves, args_tree = jax.tree.flatten(args)
    option_leaves, options_tree = jax.tree.flatten(options)
    rest = [jnp.asarray(breaks, dtype)] if breaks is not None else []
    program = _Integration(system, args_tree, options_tree, breaks is not None)
    arguments = [times, t0, y0, *(jnp.asarray(x) for x in leaves), *rest, *(jnp.asarray(x) for x in option_leaves)]
    (y,), _, (status, steps, rejected, t_reached) = differentiable(program, (), *arguments)
    return Solution(y, status, steps, rejected, t_reached)
