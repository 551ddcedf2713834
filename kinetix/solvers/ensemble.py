"""Stiff initial value problems, many lanes at once: the Rodas5P, control and statuses of `integrate`, laid out for throughput.

Each entry of the state is a value of its own whose only axis is the lanes (`scalars`), the linear systems are eliminated entry by entry
(`factors`), and blocks of lanes run through one native function (`native`). A lane is solved as it would be alone: its neighbours
change nothing but the time it takes.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from kinetix.solvers import native, tableau
from kinetix.solvers.control import Limits, State, at_stop, judge, plan, unfinished
from kinetix.solvers.factors import factorised
from kinetix.solvers.integration import Options, Segments, Solution, are_valid, first_state, segments_of, time_derivative
from kinetix.solvers.scalars import Layout, ScalarProgram, entries, read, recorded
from kinetix.solvers.system import Arguments, System, floating_type

LANES_IN_BLOCK = 64
"""Lanes that step together: few enough for the caches, enough for vectors."""


class _Fixed(NamedTuple):
    """What does not change while a segment is run."""

    segment: Segments
    limits: Limits
    args: Arguments


class _Start(NamedTuple):
    """What a solve starts from."""

    y0: Any
    end: Any
    valid: Any


@lru_cache(maxsize=64)
def _step_program(system: System, states: Layout, fixed: Layout) -> ScalarProgram:
    """One attempt of a step: from state and fixed values to the next state."""

    def attempt(x: list[Any]) -> list[Any]:
        state: State = states.unpacked(x[: len(states.types)])
        segment, limits, args = fixed.unpacked(x[len(states.types) :])
        planned = read(plan, state, segment.stop, limits.max_steps)
        y_new, error = step(system, args, state.y, state.t, planned.taken, segment)
        return states.packed(read(judge, limits, state, planned, y_new, error, segment.stop))

    return recorded(attempt, [*states.types, *fixed.types])


@lru_cache(maxsize=64)
def _first_program(system: System, starts: Layout, fixed: Layout) -> ScalarProgram:
    """From what a solve starts from to the first state."""

    def first(x: list[Any]) -> list[Any]:
        y0, end, valid = starts.unpacked(x[: len(starts.types)])
        segment, limits, args = fixed.unpacked(x[len(starts.types) :])
        state = read(partial(first_state, system), limits, args, y0, segment, end, valid)
        return starts.packed(state)

    return recorded(first, [*starts.types, *fixed.types])


@lru_cache(maxsize=64)
def _stop_program(states: Layout) -> ScalarProgram:
    def stop(x: list[Any]) -> list[Any]:
        return states.packed(read(at_stop, states.unpacked(x[:-1]), x[-1]))

    return recorded(stop, [*states.types, states.leaves[1][1]])


@lru_cache(maxsize=64)
def _cost_program(system: System, starts: Layout, fixed: Layout) -> ScalarProgram:
    """The fastest loss, max |J_ii|, at the start."""

    def cost(x: list[Any]) -> list[Any]:
        y0, _, _ = starts.unpacked(x[: len(starts.types)])
        segment, _, args = fixed.unpacked(x[len(starts.types) :])
        jacobian = read(system.matrix, segment.start, y0, args)
        fastest = read(lambda losses: jnp.max(jnp.abs(losses)), entries([jacobian[i, i] for i in range(len(y0))]))
        return [fastest * (segment.stop - segment.start)]

    return recorded(cost, [*starts.types, *fixed.types])


def step(system: System, args: Any, y: np.ndarray, t: Any, h: Any, segment: Segments) -> tuple[np.ndarray, np.ndarray]:
    """One step of Rodas5P on scalars, from (t, y) to t + h: the new state and its error estimate, each [n]. See `tableau`."""

    def combined(weights: np.ndarray, increments: list[np.ndarray]) -> np.ndarray:
        total = entries([0.0] * len(y))
        for weight, increment in zip(weights, increments, strict=False):
            total = total + entries([float(weight) * x for x in increment])
        return total

    def inside(t: Any) -> Any:
        return t if system.autonomous else read(Segments.inside, segment, t)

    here, per_h = inside(t), 1.0 / h
    matrix = -read(system.matrix, here, y, args)
    for i in range(len(y)):
        matrix[i, i] = per_h * (1.0 / tableau.GAMMA) + matrix[i, i]
    factors = factorised(matrix)
    drift = None
    if not system.autonomous:
        drift = read(lambda t, y, args: time_derivative(partial(system.rates, args=args), lambda t, y: jnp.zeros_like(y))(t, y), here, y, args)

    increments: list[np.ndarray] = []
    position = y
    for s in range(tableau.STAGES):
        if s > 1 and tableau.A[s, s - 1] == 1.0 and np.array_equal(tableau.A[s, : s - 1], tableau.A[s - 1, : s - 1]):
            position = position + increments[-1]
        else:
            position = y + combined(tableau.A[s], increments)
        time = inside(t if tableau.NODES[s] == 0.0 else t + float(tableau.NODES[s]) * h)
        right = read(system.rates, time, position, args) + entries([per_h * x for x in combined(tableau.C[s], increments)])
        if drift is not None and tableau.GAMMA_SUMS[s]:
            right = right + entries([(float(tableau.GAMMA_SUMS[s]) * h) * x for x in drift])
        increments.append(factors.solve(right))
    return position + increments[-1], increments[-1]


def integrate_ensemble(
    system: System,
    y0: ArrayLike,
    args: Arguments,
    times: ArrayLike,
    *,
    t0: ArrayLike = 0.0,
    breaks: ArrayLike | None = None,
    options: Options = Options(),
    cost: ArrayLike | None = None,
    block: int = LANES_IN_BLOCK,
    marked: bool = True,
) -> Solution:
    """`integrate` for many lanes: the same solution to rounding, several hundred times faster than one by one.

    Args:
        system: the equations of one lane. Everything that is the same in all lanes (the network) is part of its functions, as NumPy arrays.
        y0: [lane, n].
        args: pytree of arrays, each with a leading lane axis.
        times: [lane, m].
        t0: a number, or [lane].
        breaks: [lane, q].
        options: numbers, or arrays with a leading lane axis; `atol` may be a tuple with an entry for each component.
        cost: [lane]; lanes of similar cost are put side by side. Best the `steps` of an earlier run; the fastest loss at the start if None.
        block: lanes that step together.
        marked: whether blocks are compiled into one native function.

    Returns:
        A `Solution` with a leading lane axis, in the order of the lanes given.

    Raises:
        NotScalar: the equations hold a loop, a branch or a search.
    """
    start = jnp.asarray(y0)
    dtype = floating_type(start)
    start, ends = start.astype(dtype), jnp.asarray(times, dtype)
    lanes, n = start.shape
    begin = jnp.broadcast_to(jnp.asarray(t0, dtype), (lanes,))
    args = jax.tree.map(jnp.asarray, args)

    def spread(value: ArrayLike | tuple[float, ...], kind: Any) -> Array:
        if isinstance(value, tuple):
            return jnp.broadcast_to(jnp.asarray(value, kind), (lanes, n))
        return jnp.broadcast_to(jnp.asarray(value, kind), (lanes, *np.shape(value)[1:]))

    limits = Limits(spread(options.rtol, dtype), spread(options.atol, dtype), spread(options.max_steps, jnp.int32), spread(options.lowest, dtype))
    kinks = None if breaks is None else jnp.asarray(breaks, dtype)
    segments = jax.vmap(segments_of, (0, 0, None if kinks is None else 0))(begin, ends, kinks)
    whole = _Start(start, segments.stop[:, -1], jax.vmap(are_valid)(ends, begin, start, args))
    fixed = _Fixed(jax.tree.map(lambda x: x[:, 0], segments), limits, args)
    if cost is None:
        programs = Layout.of_lanes(whole), Layout.of_lanes(fixed)
        (cost,) = _cost_program(system, *programs)([*programs[0].lanes(whole), *programs[1].lanes(fixed)])
    order = jnp.argsort(jnp.asarray(cost))
    place = jnp.zeros(lanes, jnp.int32).at[order].set(jnp.arange(lanes, dtype=jnp.int32))

    blocks = -(-lanes // block)
    filled = jnp.concatenate([order, jnp.repeat(order[-1:], blocks * block - lanes)])

    def cut(array: Array) -> Array:
        return array[filled].reshape(blocks, block, *array.shape[1:])

    run = partial(_run_block, system)
    run = native.one_function(partial(lax.map, run)) if marked else partial(lax.map, run)
    y, usable, state = run(jax.tree.map(cut, (whole, limits, args, segments)))
    # [block, segment, n entries of lanes] -> [lane, segment, n]
    y = jnp.moveaxis(jnp.stack(y, axis=-1), 1, 2).reshape(blocks * block, -1, n)[place]
    usable = jnp.moveaxis(usable, 1, 2).reshape(blocks * block, -1)[place]
    t, status, accepted, rejected = (x.reshape(-1)[place] for x in state)
    if kinks is not None:
        at = jax.vmap(Segments.ending_at)(segments, ends)
        y, usable = jnp.take_along_axis(y, at[..., None], axis=1), jnp.take_along_axis(usable, at, axis=1)
    return Solution(jnp.where(usable[..., None], y, jnp.nan), status, accepted, rejected, t)


def _run_block(system: System, part: tuple[_Start, Limits, Arguments, Segments]) -> tuple[tuple[Array, ...], Array, tuple[Array, ...]]:
    """The lanes of one block: states at the end of each segment, as n arrays [segment, lane], whether they were reached, and the last t, status and steps."""
    start, limits, args, segments = part
    fixed = _Fixed(jax.tree.map(lambda x: x[:, 0], segments), limits, args)
    starts, constants = Layout.of_lanes(start), Layout.of_lanes(fixed)
    n = start.y0.shape[1]
    states = Layout(
        jax.tree.structure(State(*range(6))),
        (((n,), start.y0.dtype), *[((), start.y0.dtype)] * 2, *[((), np.dtype(np.int32))] * 3),
    )
    state = _first_program(system, starts, constants)([*starts.lanes(start), *constants.lanes(fixed)])
    program, stopped = _step_program(system, states, constants), _stop_program(states)
    shared = constants.lanes(fixed)[3:]
    limit = limits.max_steps

    def run_segment(state: tuple[Array, ...], segment: Segments) -> tuple[tuple[Array, ...], tuple[tuple[Array, ...], Array]]:
        def any_open(state: Any) -> Array:
            t, _, status, accepted, rejected = state[n:]
            return jnp.any(unfinished(t, status, accepted + rejected, segment.stop, limit))

        final = stopped([*native.while_loop(any_open, program, state, [*segment, *shared]), segment.stop])
        return tuple(final), (tuple(final[:n]), final[n + 2] == 0)

    final, (y, usable) = lax.scan(run_segment, tuple(state), jax.tree.map(lambda x: x.T, segments))
    return y, usable, (final[n], *final[n + 2 :])
