"""Stiff initial value problems, many lanes at once: the Rodas5P, control and statuses of `integrate`, laid out for throughput.

Each entry of the state is a value of its own whose only axis is the lanes (`scalars`), the linear systems are eliminated entry by entry
(`factors`), and blocks of lanes run through one native function (`native`). A lane is solved as it would be alone: its neighbours
change nothing but the time it takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.custom_derivatives import SymbolicZero
from jax.typing import ArrayLike

from kinetix.solvers import native
from kinetix.solvers.control import Limits, State, at_stop, judge, plan, unfinished
from kinetix.solvers.integration import FIRST_OF_ARGS, Y0, Integration, Options, Segments, Solution, are_valid, first_state, segments_of
from kinetix.solvers.scalars import Layout, ScalarProgram, Template, entries, is_entry, read, recorded
from kinetix.solvers.rodas import step, tangent_step
from kinetix.solvers.sensitivity import differentiable, honest, no_tangent
from kinetix.solvers.system import Arguments, Structure, System, floating_type
from kinetix.status import Status

class Directions(NamedTuple):
    """The columns of a sensitivity matrix: unit vectors in the perturbed entries.

    columns : how many.
    y0 : for each entry of the state, its part [column].
    args : the same for each active entry of args.
    """

    columns: int
    y0: tuple[Array, ...]
    args: tuple[Array, ...]


class Active(NamedTuple):
    """What a solve is differentiated by: the start, and which leaves of args."""

    y0: bool = False
    args: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return self.y0 or bool(self.args)

    def directions(self, n: int, leaves: Sequence[tuple[tuple[int, ...], np.dtype]], dtype: np.dtype) -> Directions:
        """First the entries of the start, then those of the leaves."""
        first, size = n * self.y0, sum(math.prod(leaves[i][0]) for i in self.args)
        units = np.eye(first + size, dtype=dtype)
        start = units[:, :first] if self.y0 else np.zeros((size, n), dtype)
        return Directions(first + size, tuple(map(jnp.asarray, start.T)), tuple(map(jnp.asarray, units[:, first:].T)))


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
        y_new, error, _ = step(system, args, state.y, state.t, planned.taken, segment)
        return states.packed(read(judge, limits, state, planned, y_new, error, segment.stop))

    return recorded(attempt, [*states.types, *fixed.types])


class _WithTangents(NamedTuple):
    """The programs of a step with its derivatives.

    Attributes:
        step: as `_step_program`, and behind the next state what the tangents need of the stages.
        tangent: from the tangent of the state, the direction in the active entries of args, the state, the fixed values and the stages
            to the tangent of the next state.
    """

    step: ScalarProgram
    tangent: ScalarProgram


@lru_cache(maxsize=64)
def _tangent_programs(system: System, states: Layout, fixed: Layout, active: tuple[int, ...]) -> _WithTangents:
    """`active`: leaves of args with a derivative."""
    size, n = len(states.types), states.leaves[0][0][0]
    known: list[Template] = []

    def attempt(x: list[Any]) -> list[Any]:
        state: State = states.unpacked(x[:size])
        segment, limits, args = fixed.unpacked(x[size:])
        planned = read(plan, state, segment.stop, limits.max_steps)
        y_new, error, stages = step(system, args, state.y, state.t, planned.taken, segment)
        known[:] = [Template.of(stages)]
        return [*states.packed(read(judge, limits, state, planned, y_new, error, segment.stop)), *known[0].dynamic(stages)]

    first = recorded(attempt, [*states.types, *fixed.types])
    (template,) = known
    directions = sum(math.prod(fixed_args(fixed)[i][0]) for i in active)

    def tangent(x: list[Any]) -> list[Any]:
        dy, x = entries(x[:n]), x[n:]
        direction, x = iter(x[:directions]), x[directions:]
        _, _, args = fixed.unpacked(x[: len(fixed.types)])
        stages = template.filled(x[len(fixed.types) :])
        leaves, tree = jax.tree.flatten(args, is_leaf=is_entry)
        dargs = [
            entries([next(direction) if i in active else 0.0 for _ in range(np.size(leaf))], np.shape(leaf)) for i, leaf in enumerate(leaves)
        ]
        return list(tangent_step(system, args, stages, dy, jax.tree.unflatten(tree, dargs))[0])

    float_type = states.types[0]
    return _WithTangents(first, recorded(tangent, [float_type] * (n + directions) + fixed.types + [float_type] * template.size))


def fixed_args(fixed: Layout) -> tuple[tuple[tuple[int, ...], np.dtype], ...]:
    """Shapes and types of the leaves of args."""
    return fixed.leaves[len(Segments._fields) + len(Limits._fields) :]


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


_DEFAULTS = Options()


def integrate_ensemble(
    system: System,
    y0: ArrayLike,
    args: Arguments,
    times: ArrayLike,
    *,
    t0: ArrayLike = 0.0,
    breaks: ArrayLike | None = None,
    options: Options = _DEFAULTS,
    cost: ArrayLike | None = None,
    block: int = LANES_IN_BLOCK,
    marked: bool = True,
) -> Solution:
    """`integrate` for many lanes: the same solution to rounding, some hundred times faster on a CPU.

    Derivatives exist as those of `integrate`, except with respect to t0. Those of first order run through the same layout: forward tangents
    of the start and of the perturbed leaves of args, on the factors of the step. Those of higher order run through the general program.

    Args:
        system: the equations of one lane. What is the same in all lanes (the network) is part of its functions, as NumPy arrays.
        y0: [lane, n].
        args: pytree of arrays, each with a leading lane axis.
        times: [lane, m].
        t0: a number, or [lane].
        breaks: [lane, q].
        options: numbers, or arrays with a leading lane axis; `atol` may be a tuple with an entry for each component.
        cost: [lane]; lanes of similar cost are put side by side. Best the `steps` of an earlier run; if None, the fastest loss at the start.
        block: lanes that step together.
        marked: whether blocks are compiled into one native function. The digits do not depend on it.

    Returns:
        A `Solution` with a leading lane axis, in the order of the lanes given.

    Raises:
        NotScalar: the equations hold a loop, a branch or a search.
        TypeError: a derivative with respect to t0 or breaks is asked for.

    >>> from kinetix.precision import float64
    >>> decay = System(lambda t, y, k: -k * y, autonomous=True)
    >>> with float64():
    ...     solution = integrate_ensemble(decay, [[1.0]] * 3, jnp.array([0.5, 1.0, 2.0]), [[1.0]] * 3)
    >>> print([f"{value:.6f}" for value in solution.y[:, 0, 0].tolist()], solution.status.tolist())
    ['0.606531', '0.367879', '0.135335'] [0, 0, 0]
    """
    start = jnp.asarray(y0)
    dtype = floating_type(start)
    start, ends = start.astype(dtype), jnp.asarray(times, dtype)
    lanes, n = start.shape
    begin = jnp.broadcast_to(jnp.asarray(t0, dtype), (lanes,))
    leaves, tree = jax.tree.flatten(args)

    def spread(value: ArrayLike | tuple[float, ...], kind: Any) -> Array:
        if isinstance(value, tuple):
            return jnp.broadcast_to(jnp.asarray(value, kind), (lanes, n))
        return jnp.broadcast_to(jnp.asarray(value, kind), (lanes, *np.shape(value)[1:]))

    limits = Limits(spread(options.rtol, dtype), spread(options.atol, dtype), spread(options.max_steps, jnp.int32), spread(options.lowest, dtype))
    kinks = () if breaks is None else (jnp.asarray(breaks, dtype),)
    costs = () if cost is None else (jnp.asarray(cost),)
    ensemble = _Ensemble(system, tree, block, marked)
    y, _, (status, steps, rejected, t_reached) = _values(ensemble, start, ends, tuple(map(jnp.asarray, leaves)), begin, kinks, limits, costs)
    return Solution(y, status, steps, rejected, t_reached)


@dataclass(frozen=True)
class _Ensemble:
    """What `integrate_ensemble` is compiled for."""

    system: System
    args: Structure
    block: int
    marked: bool


Numbers = tuple[Array, Array, tuple[Array, ...], Array, tuple[Array, ...], Limits, tuple[Array, ...]]
"""Start, times, leaves of args, t0, breaks, limits, costs."""
Rest = tuple[Array, Array, Array, Array]
"""Status, steps, rejected steps, time reached."""


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _values(ensemble: _Ensemble, *numbers: Any) -> tuple[Array, Array, Rest]:
    """States [lane, m, n], whether they are usable [lane, m], and the rest."""
    y, _, usable, rest = _solved(ensemble, Active(), numbers)
    return y, usable, rest


def _values_rule(ensemble: _Ensemble, numbers: Any, tangents: Any) -> Any:
    def moves(tangent: Any) -> bool:
        return not isinstance(tangent, SymbolicZero)

    start, times, leaves, t0, breaks, _, _ = tangents
    if moves(t0) or any(map(moves, breaks)):
        raise TypeError("integrate_ensemble has no derivative with respect to t0 or breaks. Use integrate, or jax.lax.stop_gradient.")
    active = Active(moves(start), tuple(i for i, leaf in enumerate(leaves) if moves(leaf)))
    y, matrix, usable, rest = _with_matrix(ensemble, active, *numbers)
    parts = [tangent.reshape(tangent.shape[0], -1) for tangent in ([start] if active.y0 else []) + [leaves[i] for i in active.args]]
    change = jnp.zeros_like(y)
    if active:
        change = change + jnp.einsum("lmnp,lp->lmn", matrix, jnp.concatenate(parts, axis=1))
    if moves(times):
        args = jax.tree.unflatten(ensemble.args, numbers[2])
        rates = jax.vmap(lambda t, y, args: jax.vmap(lambda t, y: ensemble.system.rates(t, y, args))(t, y))(numbers[1], y, args)
        change = change + jnp.where(usable[..., None], rates, 0.0) * times[..., None]
    return (y, usable, rest), (honest(change, usable), no_tangent(usable), jax.tree.map(no_tangent, rest))


_values.defjvp(_values_rule, symbolic_zeros=True)


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _with_matrix(ensemble: _Ensemble, active: Active, *numbers: Any) -> tuple[Array, Array, Array, Rest]:
    """`_values` with the sensitivity matrix [lane, m, n, column]."""
    return _solved(ensemble, active, numbers)


@_with_matrix.defjvp
def _with_matrix_rule(ensemble: _Ensemble, active: Active, numbers: Any, tangents: Any) -> Any:
    def general(*numbers: Any) -> tuple[Array, Array, Array, Rest]:
        return jax.vmap(partial(_solved_alone, ensemble, active))(*numbers)

    return jax.jvp(general, numbers, tangents)


def _solved_alone(ensemble: _Ensemble, active: Active, *numbers: Any) -> tuple[Array, Array, Array, Rest]:
    """One lane by the general program."""
    start, times, leaves, t0, breaks, limits, _ = numbers
    options, structure = jax.tree.flatten(Options(*limits))
    program = Integration(ensemble.system, ensemble.args, structure, bool(breaks))
    perturbed = tuple([Y0] * active.y0 + [FIRST_OF_ARGS + i for i in active.args])
    (y, matrix), usable, rest = differentiable(program, (perturbed,), times, t0, start, *leaves, *breaks, *options)
    return y, matrix, usable, rest


@partial(jax.jit, static_argnums=(0, 1))
def _solved(ensemble: _Ensemble, active: Active, numbers: Any) -> tuple[Array, Array, Array, Rest]:
    start, times, leaves, t0, breaks, limits, costs = numbers
    lanes, n = start.shape
    args = jax.tree.unflatten(ensemble.args, leaves)
    segments = jax.vmap(segments_of)(t0, times, *breaks)
    whole = _Start(start, segments.stop[:, -1], jax.vmap(are_valid)(times, t0, start, args))
    order = jnp.argsort(costs[0] if costs else _fastest_loss(ensemble.system, whole, segments, limits, args))
    place = jnp.zeros(lanes, jnp.int32).at[order].set(jnp.arange(lanes, dtype=jnp.int32))
    blocks = -(-lanes // ensemble.block)
    filled = jnp.concatenate([order, jnp.repeat(order[-1:], blocks * ensemble.block - lanes)])

    def cut(array: Array) -> Array:
        return array[filled].reshape(blocks, ensemble.block, *array.shape[1:])

    def whole_again(array: Array) -> Array:
        """[block, ..., lane of the block] in the order of the lanes given, lane first."""
        return jnp.moveaxis(array, -1, 1).reshape(-1, *array.shape[1:-1])[place]

    run = partial(lax.map, partial(_run_block, ensemble.system, active))
    if ensemble.marked:
        run = native.one_function(run)
    y, matrix, usable, (t, *counts) = run(jax.tree.map(cut, (whole, limits, args, segments)))
    y = jnp.stack([whole_again(x) for x in y], axis=-1)
    matrix = jnp.stack([whole_again(x) for x in matrix], axis=2) if active else jnp.zeros((*y.shape, 0), y.dtype)
    usable = whole_again(usable)
    if breaks:
        at = jax.vmap(Segments.ending_at)(segments, times)
        y, matrix, usable = jax.vmap(lambda at, *arrays: [array[at] for array in arrays])(at, y, matrix, usable)
    y = jnp.where(usable[..., None], y, jnp.nan)
    matrix = jnp.where(usable[..., None, None], matrix, 0.0)
    return y, matrix, usable, (*map(whole_again, counts), whole_again(t))


def _fastest_loss(system: System, whole: _Start, segments: Segments, limits: Limits, args: Arguments) -> Array:
    fixed = _Fixed(jax.tree.map(lambda x: x[:, 0], segments), limits, args)
    starts, constants = Layout.of_lanes(whole), Layout.of_lanes(fixed)
    return _cost_program(system, starts, constants)([*starts.lanes(whole), *constants.lanes(fixed)])[0]


def _run_block(
    system: System, active: Active, part: tuple[_Start, Limits, Arguments, Segments]
) -> tuple[tuple[Array, ...], tuple[Array, ...], Array, tuple[Array, ...]]:
    """The lanes of one block, as arrays of lanes.

    Returns:
        The n entries of the state at the end of each segment, [segment, lane]; those of the sensitivity matrix, [segment, column, lane]; whether
        the end was reached, [segment, lane]; and the last t, status, accepted and rejected steps, [lane].
    """
    start, limits, args, segments = part
    fixed = _Fixed(jax.tree.map(lambda x: x[:, 0], segments), limits, args)
    starts, constants = Layout.of_lanes(start), Layout.of_lanes(fixed)
    lanes, n = start.y0.shape
    dtype, whole = start.y0.dtype, np.dtype(np.int32)
    states = Layout(jax.tree.structure(State(*range(6))), (((n,), dtype), ((), dtype), ((), dtype), ((), whole), ((), whole), ((), whole)))
    state = _first_program(system, starts, constants)([*starts.lanes(start), *constants.lanes(fixed)])
    stopped, shared = _stop_program(states), constants.lanes(fixed)[3:]
    directions = active.directions(n, fixed_args(constants), dtype)
    programs = _tangent_programs(system, states, constants, active.args) if active else None
    program = programs.step if programs else _step_program(system, states, constants)

    def run_segment(carry: Any, segment: Segments) -> Any:
        unchanging = [*segment, *shared]

        def any_open(carried: Any) -> Array:
            t, _, status, accepted, rejected = carried[0][n:]
            return jnp.any(unfinished(t, status, accepted + rejected, segment.stop, limits.max_steps))

        def advance(carried: Any) -> Any:
            state, matrix, _ = carried
            results, pinned = native.run(program, [*state, *unchanging])
            new, stages = results[: len(state)], results[len(state) :]
            if programs is None:
                return new, matrix, pinned

            def column(p: Array, so_far: Any) -> Any:
                dy = [lax.dynamic_index_in_dim(x, p, keepdims=False) for x in matrix]
                dargs = [lax.broadcast(unit[p], (lanes,)) for unit in directions.args]
                moved, inner = native.run(programs.tangent, [*dy, *dargs, *unchanging, *stages])
                return [lax.dynamic_update_index_in_dim(x, d, p, 0) for x, d in zip(so_far[0], moved, strict=True)], inner

            tangents, inner = lax.fori_loop(0, directions.columns, column, (matrix, native.blanks(programs.tangent, (lanes,))))
            accept = new[n + 3] > state[n + 3]
            kept = [jnp.where(accept, moved, before) for moved, before in zip(tangents, matrix, strict=True)]
            return new, kept, [*pinned, *stages, *inner]

        pins = native.blanks(program, (lanes,))
        if programs is not None:
            pins += [jnp.zeros(lanes, kind) for kind in program.types[len(carry[0]) :]] + native.blanks(programs.tangent, (lanes,))
        final, matrix, pins = lax.while_loop(any_open, advance, (*carry, pins))
        alive = native.kept_alive([*final, *matrix], pins)
        final, matrix = stopped([*alive[: len(final)], segment.stop]), alive[len(final) :]
        return (final, matrix), (tuple(final[:n]), tuple(matrix), final[n + 2] == Status.SUCCESS)

    matrix = [jnp.broadcast_to(part[:, None], (directions.columns, lanes)) for part in directions.y0] if active else []
    (final, _), (y, matrix, usable) = lax.scan(run_segment, (state, matrix), jax.tree.map(lambda x: x.T, segments))
    return y, matrix, usable, (final[n], *final[n + 2 :])
