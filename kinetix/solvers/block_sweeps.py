"""Reverse mode of one block of lanes that step together: `replay` with the programs of scalars of `blocks`.

The adjoint of a step is the transpose of its tangent, on the factors of the step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from kinetix.solvers import native
from kinetix.solvers.blocks import Active, Start, args_leaves, first_fixed, programs, state_layout
from kinetix.solvers.control import Limits, State, plan, unfinished
from kinetix.solvers.layouts import Layout
from kinetix.solvers.replay import Kept, Taken, read_at, swept_back
from kinetix.solvers.rodas import step
from kinetix.solvers.scalars import ScalarProgram, entries, recorded
from kinetix.solvers.segments import Segments
from kinetix.solvers.system import Arguments, System
from kinetix.solvers.transposition import transposed


class Adjoints(NamedTuple):
    """The programs of a step that is visited again.

    stages : from y, t, h and fixed values to what the step computed on its way.
    adjoint : from the cotangent of its result, fixed values and stages to the cotangents of y and of the active entries of args.
    """

    stages: ScalarProgram
    adjoint: ScalarProgram


@lru_cache(maxsize=64)
def adjoints(system: System, starts: Layout, fixed: Layout, active: Active) -> Adjoints:
    """The programs for equations, the layouts of `Start` and `Fixed`, and what is differentiated by."""
    (n,), dtype = starts.leaves[0]
    forward = programs(system, starts, fixed, active)
    assert forward.tangent is not None

    def again(x: list[Any]) -> list[Any]:
        segment, _, args = fixed.unpacked(x[n + 2 :])
        stages = step(system, args, entries(x[:n]), x[n], x[n + 1], segment)[2]
        return forward.stages.dynamic(stages)

    moving = n + sum(math.prod(args_leaves(fixed)[i][0]) for i in active.args)
    return Adjoints(recorded(again, [dtype] * (n + 2) + fixed.types), transposed(forward.tangent, moving))


class Cotangents(NamedTuple):
    """Of the entries of the start, and of the active entries of args; each [lane]."""

    start: tuple[Array, ...]
    args: tuple[Array, ...]


def sweep_block(
    system: System,
    active: Active,
    check: Callable[[ScalarProgram], None],
    kept: Kept,
    part: tuple[Start, Limits, Arguments, Segments, Array],
) -> Cotangents:
    """The lanes of one block; arrays of `part` have a leading lane axis, segments [lane, segment], cotangents [lane, segment, n]."""
    start, limits, _, segments, cotangents = part
    fixed = first_fixed(part[:4])
    starts, constants = Layout.of_lanes(start), Layout.of_lanes(fixed)
    lanes, n = start.y0.shape
    program, reverse = programs(system, starts, constants, Active()), adjoints(system, starts, constants, active)
    check(program.step)
    first = program.first([*starts.lanes(start), *constants.lanes(fixed)])
    shared = constants.lanes(fixed)[len(Segments._fields) :]
    states = state_layout(n, start.y0.dtype)
    by_segment = jax.tree.map(lambda x: x.T, segments)
    given = list(jnp.moveaxis(cotangents, (2, 0), (0, 2)))

    def attempt(state: list[Array], place: Array) -> tuple[list[Array], Taken, Array, list[Array]]:
        segment: Segments = read_at(by_segment, place)
        following, pinned = native.run(program.step, [*state, *segment, *shared])
        before: State = states.unpacked(state)
        after: State = states.unpacked(following)
        taken = plan(before, segment.stop, limits.max_steps).taken
        h = jnp.where(after.accepted > before.accepted, taken, 0.0)
        is_open = unfinished(after.t, after.status, after.accepted + after.rejected, segment.stop, limits.max_steps)
        return following, Taken(list(before.y), before.t, h), ~jnp.any(is_open), pinned

    def back(taken: Taken, place: Array, closes: Array, gathered: list[Array]) -> tuple[list[Array], list[Array]]:
        at_end = read_at(given, place)
        cotangent = [x + jnp.where(closes, y, 0.0) for x, y in zip(gathered[:n], at_end, strict=True)]
        accepted = taken.h > 0
        h = jnp.where(accepted, taken.h, 1.0)
        unchanging = [*read_at(by_segment, place), *shared]
        stages, outer = native.run(reverse.stages, [*taken.y, taken.t, h, *unchanging])
        found, inner = native.run(reverse.adjoint, [*cotangent, *unchanging, *stages])
        before = [jnp.where(accepted, new, old) for new, old in zip(found[:n], cotangent, strict=True)]
        totals = [total + jnp.where(accepted, x, 0.0) for total, x in zip(gathered[n:], found[n:], strict=True)]
        return [*before, *totals], [*outer, *stages, *inner]

    shape = (lanes,)
    inner = [*native.blanks(reverse.stages, shape), *(jnp.zeros(shape, dtype) for dtype in reverse.stages.types)]
    pins = native.blanks(program.step, shape), [*inner, *native.blanks(reverse.adjoint, shape)]
    nothing = [jnp.zeros(shape, dtype) for dtype in reverse.adjoint.types]
    gathered, pins = swept_back(attempt, back, first, nothing, segments.stop.shape[1], pins, kept)
    gathered = native.kept_alive(gathered, [*pins[0], *pins[1]])
    return Cotangents(tuple(gathered[:n]), tuple(gathered[n:]))
