"""One block of lanes that step together: the programs of a step, a segment, a solve, with or without derivatives.

Everything is a list of lanes here: the state of a lane is n + 5 of them (y, t, h, status, accepted, rejected), the values that do not
change in a segment are some more (`Layout` says which is what).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from kinetix.solvers import native
from kinetix.solvers.control import Limits, State, at_stop, judge, plan, unfinished
from kinetix.solvers.layouts import Layout, Template
from kinetix.solvers.reading import read
from kinetix.solvers.rodas import step, tangent_step
from kinetix.solvers.scalars import ScalarProgram, entries, is_entry, recorded
from kinetix.solvers.segments import Segments, first_state
from kinetix.solvers.system import Arguments, System
from kinetix.status import Status


class Directions(NamedTuple):
    """Directions along which a solve is differentiated, for a sensitivity matrix the unit vectors in the perturbed entries.

    columns : how many.
    y0 : for each entry of the state, its part [column, lane], or [column, 1] where it is that of all lanes.
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
        return Directions(first + size, tuple(map(jnp.asarray, start.T[..., None])), tuple(map(jnp.asarray, units[:, first:].T[..., None])))


class Start(NamedTuple):
    """What a solve starts from: the state, the last of all times, whether all inputs are in order."""

    y0: Any
    end: Any
    valid: Any


class Fixed(NamedTuple):
    """What does not change while a segment is run."""

    segment: Segments
    limits: Limits
    args: Arguments


def first_fixed(part: tuple[Start, Limits, Arguments, Segments]) -> Fixed:
    """Of the first segment of all lanes; arrays have a leading lane axis."""
    _, limits, args, segments = part
    return Fixed(jax.tree.map(lambda x: x[:, 0], segments), limits, args)


class Programs(NamedTuple):
    """The programs of a block.

    Attributes:
        first: from start and fixed values to the first state.
        step: from state and fixed values to the next state; behind it, where there are tangents, what they need of the stages.
        tangent: from the tangent of the state, the direction in the active entries of args, fixed values and stages to the tangent of
            the next state; None where nothing is active.
        stages: which of the stages are scalars.
        stop: from the state and the stop to the state when no step is left.
    """

    first: ScalarProgram
    step: ScalarProgram
    tangent: ScalarProgram | None
    stages: Template
    stop: ScalarProgram


def state_layout(n: int, dtype: np.dtype) -> Layout:
    """Of one lane's `State`."""
    number, count = jax.ShapeDtypeStruct((), dtype), jax.ShapeDtypeStruct((), np.int32)
    shapes: Any = (jax.ShapeDtypeStruct((n,), dtype), number, number, count, count, count)
    return Layout.of(State(*shapes))


@lru_cache(maxsize=64)
def programs(system: System, starts: Layout, fixed: Layout, active: Active) -> Programs:
    """The programs for equations, the layouts of `Start` and `Fixed`, and what is differentiated by."""
    (n,), dtype = starts.leaves[0]
    states = state_layout(n, dtype)
    size = len(states.types)
    stages_of: list[Template] = []

    def first(x: list[Any]) -> list[Any]:
        y0, end, valid = starts.unpacked(x[: len(starts.types)])
        segment, limits, args = fixed.unpacked(x[len(starts.types) :])
        return starts.packed(read(partial(first_state, system), limits, args, y0, segment, end, valid))

    def attempt(x: list[Any]) -> list[Any]:
        state: Any = states.unpacked(x[:size])
        segment, limits, args = fixed.unpacked(x[size:])
        planned = read(plan, state, segment.stop, limits.max_steps)
        y_new, error, stages = step(system, args, state.y, state.t, planned.taken, segment)
        stages_of[:] = [Template.of(stages)]
        following = states.packed(read(judge, limits, state, planned, y_new, error, segment.stop))
        return [*following, *stages_of[0].dynamic(stages)] if active else following

    def tangent(x: list[Any]) -> list[Any]:
        dy, x = entries(x[:n]), x[n:]
        direction, x = iter(x[:directions]), x[directions:]
        _, _, args = fixed.unpacked(x[: len(fixed.types)])
        stages = stages_of[0].filled(x[len(fixed.types) :])
        leaves, tree = jax.tree.flatten(args, is_leaf=is_entry)
        dargs = [
            entries([next(direction) if i in active.args else 0.0 for _ in range(np.size(leaf))], np.shape(leaf))
            for i, leaf in enumerate(leaves)
        ]
        return list(tangent_step(system, args, stages, dy, jax.tree.unflatten(tree, dargs))[0])

    def stop(x: list[Any]) -> list[Any]:
        return states.packed(read(at_stop, states.unpacked(x[:-1]), x[-1]))

    value = recorded(attempt, [*states.types, *fixed.types])
    directions = sum(math.prod(args_leaves(fixed)[i][0]) for i in active.args)
    inputs = [dtype] * (n + directions) + fixed.types + [dtype] * stages_of[0].size
    return Programs(
        first=recorded(first, [*starts.types, *fixed.types]),
        step=value,
        tangent=recorded(tangent, inputs) if active else None,
        stages=stages_of[0],
        stop=recorded(stop, [*states.types, dtype]),
    )


def args_leaves(fixed: Layout) -> tuple[tuple[tuple[int, ...], np.dtype], ...]:
    """Shapes and types of the leaves of args."""
    return fixed.leaves[len(Segments._fields) + len(Limits._fields) :]


@lru_cache(maxsize=64)
def cost_program(system: System, starts: Layout, fixed: Layout) -> ScalarProgram:
    """How many of its fastest times a lane has to go, as far as its start shows it: max |J_ii| times the first segment."""

    def cost(x: list[Any]) -> list[Any]:
        y0, _, _ = starts.unpacked(x[: len(starts.types)])
        segment, _, args = fixed.unpacked(x[len(starts.types) :])
        jacobian = read(system.matrix, segment.start, y0, args)
        fastest = read(lambda losses: jnp.max(jnp.abs(losses)), entries([jacobian[i, i] for i in range(len(y0))]))
        return [fastest * (segment.stop - segment.start)]

    return recorded(cost, [*starts.types, *fixed.types])


class Solved(NamedTuple):
    """What a block gives, as arrays of lanes.

    Attributes:
        y: the n entries of the state at the end of each segment, [segment, lane]; of `large`, one array [segment, n, lane].
        matrix: the n entries of the sensitivity matrix, [segment, column, lane]; of `large`, one array [segment, column, n, lane]; none
            where nothing is active.
        usable: whether the end was reached, [segment, lane].
        t, status, accepted, rejected: at the end, [lane].
    """

    y: Any
    matrix: Any
    usable: Array
    t: Array
    status: Array
    accepted: Array
    rejected: Array


class Along(NamedTuple):
    """One direction for each lane: of the start [lane, n], and of the active entries of args [lane, entry], if any."""

    y0: Array
    args: Array | None


def run_block(system: System, active: Active, part: tuple[Start, Limits, Arguments, Segments, Along | None]) -> Solved:
    """The lanes of one block; arrays of `part` have a leading lane axis, segments [lane, segment].

    The sensitivity matrix is that in the active entries, or its product with a direction, as its only column.
    """
    start, limits, _, segments, along = part
    fixed = first_fixed(part[:4])
    starts, constants = Layout.of_lanes(start), Layout.of_lanes(fixed)
    lanes, n = start.y0.shape
    program = programs(system, starts, constants, active)
    first = program.first([*starts.lanes(start), *constants.lanes(fixed)])
    shared = constants.lanes(fixed)[len(Segments._fields) :]
    if along is None:
        directions = active.directions(n, args_leaves(constants), start.y0.dtype)
    else:
        directions = Directions(1, tuple(along.y0.T[:, None]), () if along.args is None else tuple(along.args.T[:, None]))
    states, size = state_layout(n, start.y0.dtype), len(first)
    stages = [jnp.zeros(lanes, dtype) for dtype in program.step.types[size:]]
    pins = [*native.blanks(program.step, (lanes,)), *stages]
    if program.tangent is not None:
        pins += native.blanks(program.tangent, (lanes,))

    def run_segment(carry: Any, segment: Segments) -> Any:
        unchanging = [*segment, *shared]

        def any_open(carried: Any) -> Array:
            state: State = states.unpacked(carried[0])
            return jnp.any(unfinished(state.t, state.status, state.accepted + state.rejected, segment.stop, limits.max_steps))

        def advance(carried: Any) -> Any:
            state, matrix, _ = carried
            results, pinned = native.run(program.step, [*state, *unchanging])
            following, stages = results[:size], results[size:]
            if program.tangent is None:
                return following, matrix, pinned
            moved, inner = columns(program.tangent, matrix, [*unchanging, *stages])
            accept = states.unpacked(following).accepted > states.unpacked(state).accepted
            kept = [jnp.where(accept, new, old) for new, old in zip(moved, matrix, strict=True)]
            return following, kept, [*pinned, *stages, *inner]

        state, matrix, carried = lax.while_loop(any_open, advance, (*carry, pins))
        alive = native.kept_alive([*state, *matrix], carried)
        state, matrix = program.stop([*alive[:size], segment.stop]), alive[size:]
        ended: State = states.unpacked(state)
        return (state, matrix), (tuple(ended.y), tuple(matrix), ended.status == Status.SUCCESS)

    def columns(tangent: ScalarProgram, matrix: list[Array], inputs: list[Array]) -> tuple[list[Array], list[Array]]:
        def column(p: Array, so_far: Any) -> Any:
            dy = [lax.dynamic_index_in_dim(x, p, keepdims=False) for x in matrix]
            direction = [jnp.broadcast_to(unit[p], (lanes,)) for unit in directions.args]
            moved, inner = native.run(tangent, [*dy, *direction, *inputs])
            return [lax.dynamic_update_index_in_dim(x, d, p, 0) for x, d in zip(so_far[0], moved, strict=True)], inner

        return lax.fori_loop(0, directions.columns, column, (matrix, native.blanks(tangent, (lanes,))))

    matrix = [jnp.broadcast_to(unit, (directions.columns, lanes)) for unit in directions.y0] if active else []
    (final, _), (y, matrix, usable) = lax.scan(run_segment, (first, matrix), jax.tree.map(lambda x: x.T, segments))
    last: State = states.unpacked(final)
    return Solved(y, matrix, usable, last.t, last.status, last.accepted, last.rejected)
