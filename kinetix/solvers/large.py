"""One block of lanes of a large network: what `blocks` does, by tables instead of unrolled programs.

Steps, statuses and digits are those of the same programs (`tables`); only the state of the loops is laid out otherwise, as arrays
[entry, lane] of float64, in which counts and truth values are exact.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from kinetix.solvers.blocks import Active, Solved, Start, args_leaves, cost_program, first_fixed, programs, state_layout
from kinetix.solvers.control import Limits, State, at_stop, unfinished
from kinetix.solvers.layouts import Layout
from kinetix.solvers.segments import Segments
from kinetix.solvers.system import Arguments, System
from kinetix.solvers.tables import STORED, Table, rows_at, table_of, with_rows
from kinetix.status import Status

SEGMENT = len(Segments._fields)


class Tables(NamedTuple):
    """Those of `blocks.Programs`; the state at the stop is simple enough for arrays."""

    first: Table
    step: Table
    tangent: Table | None


@lru_cache(maxsize=16)
def tables(system: System, starts: Layout, fixed: Layout, active: Active) -> Tables:
    """The tables for equations, the layouts of `Start` and `Fixed`, and what is differentiated by."""
    written = programs(system, starts, fixed, active)
    return Tables(table_of(written.first), table_of(written.step), None if written.tangent is None else table_of(written.tangent))


@lru_cache(maxsize=16)
def _cost_table(system: System, starts: Layout, fixed: Layout) -> Table:
    return table_of(cost_program(system, starts, fixed))


def _laid(layout: Layout, tree: Any) -> Array:
    """Arrays with a leading lane axis as [entry, lane]."""
    return jnp.stack([x.astype(STORED) for x in layout.lanes(tree)]) if layout.types else jnp.zeros((0, 1))


def _state(rows: Array, n: int) -> State:
    """Rows [n + 5, lane] as the state that step control knows."""
    counts = [row.astype(jnp.int32) for row in rows[n + 2 :]]
    return State(rows[:n], rows[n], rows[n + 1], *counts)


def cost_of_block(system: System, part: tuple[Start, Limits, Arguments, Segments]) -> Array:
    """The cost [lane] of the lanes of a block (`blocks.cost_program`)."""
    start, fixed = part[0], first_fixed(part)
    starts, constants = Layout.of_lanes(start), Layout.of_lanes(fixed)
    table = _cost_table(system, starts, constants)
    inputs = jnp.concatenate([_laid(starts, start), _laid(constants, fixed)])
    return rows_at(table.run(with_rows(table.start(inputs.shape[1]), inputs, 0)), table.outputs)[0]


def run_block(system: System, active: Active, part: tuple[Start, Limits, Arguments, Segments]) -> Solved:
    """The lanes of one block; arrays of `part` have a leading lane axis, segments [lane, segment]. States are [segment, n, lane]."""
    start, limits, _, segments = part
    fixed = first_fixed(part)
    starts, constants = Layout.of_lanes(start), Layout.of_lanes(fixed)
    lanes, n = start.y0.shape
    table = tables(system, starts, constants, active)
    size = len(state_layout(n, start.y0.dtype).types)
    unchanging = _laid(constants, fixed)
    inputs = jnp.concatenate([_laid(starts, start), unchanging])
    first = rows_at(table.first.run(with_rows(table.first.start(lanes), inputs, 0)), table.first.outputs)
    directions = active.directions(n, args_leaves(constants), start.y0.dtype)
    units = jnp.stack(directions.args)[..., 0] if directions.args else jnp.zeros((0, directions.columns))

    def moved_columns(tangent: Table, registers: Array, matrix: Array, accept: Array) -> tuple[Array, Array]:
        """The sensitivity matrix [column, n, lane] after a step, and the registers of the tangent."""

        def column(p: Array, carried: Any) -> Any:
            registers, matrix = carried
            before = lax.dynamic_index_in_dim(matrix, p, keepdims=False)
            registers = with_rows(registers, before, 0)
            if len(units):
                along = lax.dynamic_slice_in_dim(units, p, 1, axis=1)
                registers = with_rows(registers, jnp.broadcast_to(along, (len(units), lanes)), n)
            registers = tangent.run(registers)
            after = jnp.where(accept, rows_at(registers, tangent.outputs), before)
            return registers, lax.dynamic_update_index_in_dim(matrix, after, p, 0)

        return lax.fori_loop(0, directions.columns, column, (registers, matrix))

    def run_segment(carry: tuple[Array, Array], segment: Segments) -> Any:
        rows, matrix = carry
        here = with_rows(unchanging, jnp.stack(list(segment)), 0)
        registers = with_rows(with_rows(table.step.start(lanes), rows, 0), here, size)
        of_tangent = jnp.zeros((1, lanes))
        if table.tangent is not None:
            of_tangent = with_rows(table.tangent.start(lanes), here, n + len(units))

        def any_open(carried: Any) -> Array:
            state = _state(carried[0][:size], n)
            return jnp.any(unfinished(state.t, state.status, state.accepted + state.rejected, segment.stop, limits.max_steps))

        def advance(carried: Any) -> Any:
            registers, matrix, of_tangent = carried
            accepted = registers[size - 2]
            registers = table.step.run(registers)
            following = rows_at(registers, table.step.outputs[:size])
            if table.tangent is not None:
                stages = rows_at(registers, table.step.outputs[size:])
                of_tangent = with_rows(of_tangent, stages, n + len(units) + len(here))
                of_tangent, matrix = moved_columns(table.tangent, of_tangent, matrix, following[size - 2] > accepted)
            return with_rows(registers, following, 0), matrix, of_tangent

        registers, matrix, _ = lax.while_loop(any_open, advance, (registers, matrix, of_tangent))
        rows = registers[:size]
        status = at_stop(_state(rows, n), segment.stop).status
        rows = with_rows(rows, status.astype(STORED)[None], n + 2)
        return (rows, matrix), (rows[:n], matrix, status == Status.SUCCESS)

    # directions.y0 is [n] of [column, 1]
    matrix = jnp.broadcast_to(jnp.stack(directions.y0, axis=1), (directions.columns, n, lanes)) if active else _nothing(lanes)
    (rows, _), (y, matrix, usable) = lax.scan(run_segment, (first, matrix), jax.tree.map(lambda x: x.T, segments))
    last = _state(rows, n)
    return Solved(y, matrix if active else (), usable, last.t, last.status, last.accepted, last.rejected)


def _nothing(lanes: int) -> Array:
    """In place of a sensitivity matrix: XLA aborts on an array without entries in one function."""
    return jnp.zeros((1, 1, lanes))
