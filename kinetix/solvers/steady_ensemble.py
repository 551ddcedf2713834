"""Steady states of many lanes at once: the same roots and statuses as `steady_state`, laid out for throughput.

Most lanes need only the first attempt of `steady_state`: Newton iteration from the start without a step that is too long, to a root
where disturbances decay. That runs in blocks of lanes of scalars. Lanes that need more, and only they, go through the general program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from kinetix.solvers import native
from kinetix.solvers import pseudo_transient as newton
from kinetix.solvers.ensemble import Engine, by_blocks
from kinetix.solvers.factors import coupled_parts, factorised, is_determinant_positive, smallest_pivot, structure
from kinetix.solvers.layouts import Layout
from kinetix.solvers.reading import read
from kinetix.solvers.scalars import ScalarProgram, entries, is_entry, recorded
from kinetix.solvers.sensitivity import Found
from kinetix.solvers.stability import generator, has_grown, row_sum, undecided
from kinetix.solvers.system import Arguments, System, all_finite
from kinetix.status import Status

LANES_ALONE = 8
"""Lanes that go through the general program together."""


class Programs(NamedTuple):
    """The programs of a block.

    Attributes:
        first: from start and fixed values to the first state of the iteration, and its course.
        iterate: from a state, the course and the fixed values to the next state.
        finish: from the last state and the fixed values to the residual, whether there is a root, the Cayley transforms of those parts of
            the Jacobian whose components act on each other, and their largest row sum; behind them, where something is active, whether the
            sensitivity matrix exists, and the matrix column by column.
        square: of a matrix, and the largest row sum of the square.
    """

    first: ScalarProgram
    iterate: ScalarProgram
    finish: ScalarProgram
    square: ScalarProgram


class Fixed(NamedTuple):
    """What does not change."""

    limits: newton.Limits
    args: Arguments


def layouts(n: int, dtype: np.dtype) -> tuple[Layout, Layout]:
    """Of one lane's `State` and its `Course`."""
    number, count, truth = (jax.ShapeDtypeStruct((), kind) for kind in (dtype, np.int32, np.bool_))
    vector: Any = jax.ShapeDtypeStruct((n,), dtype)
    state: Any = (vector, number, truth, truth, truth, count)
    course: Any = (number, vector)
    return Layout.of(newton.State(*state)), Layout.of(newton.Course(*course))


@lru_cache(maxsize=64)
def programs(system: System, n: int, dtype: np.dtype, fixed: Layout, active: tuple[int, ...]) -> Programs:
    """The programs for equations of n components; `active` are leaves of args with a derivative."""
    states, courses = layouts(n, dtype)
    size, both = len(states.types), len(states.types) + len(courses.types)
    numbers = [dtype] * n
    sizes: list[int] = []

    def first(x: list[Any]) -> list[Any]:
        limits, args = fixed.unpacked(x[n:])
        state, course = read(partial(newton.first_state, system), entries(x[:n]), args, limits.atol)
        return [*states.packed(state), *courses.packed(course)]

    def iterate(x: list[Any]) -> list[Any]:
        state: Any = states.unpacked(x[:size])
        course: Any = courses.unpacked(x[size:both])
        limits, args = fixed.unpacked(x[both:])
        proposal = read(partial(newton.propose, system), state, course, args)
        factors = factorised(proposal.matrix)
        change = factors.solve(proposal.rates)
        correction = factors.solve(read(partial(newton.remainder, system), state, args, proposal, change))
        positive = is_determinant_positive(factors)
        return states.packed(read(newton.judge, state, course, limits, proposal, change, correction, positive))

    def scale(y: Any, limits: Any) -> Any:
        return read(lambda y, atol: jnp.abs(y) + atol, y, limits.atol)

    def finish(x: list[Any]) -> list[Any]:
        state: Any = states.unpacked(x[:size])
        limits, args = fixed.unpacked(x[size:])
        y = state.y
        jacobian = read(lambda y, args: system.matrix(jnp.zeros((), y.dtype), y, args), y, args)
        scale = read(lambda y, atol: jnp.abs(y) + atol, y, limits.atol)
        residual = read(partial(newton.residual_of, system), y, args, limits.atol, jacobian)
        losses = read(lambda jacobian, scale: -jacobian * scale[None, :], jacobian, scale)
        factors = factorised(losses)
        smallest = smallest_pivot(losses, factors)
        parts = coupled_parts(structure(jacobian))
        sizes[:] = map(len, parts)
        transformed = _with_row_sum(_cayley(part, *read(generator, jacobian, scale)) for part in parts)
        found = [residual, read(newton.verdict, state, residual, smallest).converged, *transformed]
        if not active:
            return found
        columns = [factors.solve(slope) for slope in _slopes(system, y, args, active)]
        regular = read(partial(newton.is_regular, system), y, args, limits.rtol, limits.atol, jacobian, smallest)
        return [*found, regular, *(a * x for column in columns for a, x in zip(scale, column, strict=True))]

    def square(x: list[Any]) -> list[Any]:
        supply = iter(x)
        return _with_row_sum(read(lambda a: a @ a, entries([next(supply) for _ in range(k * k)], (k, k))) for k in sizes)

    last = recorded(finish, [*states.types, *fixed.types])
    return Programs(
        first=recorded(first, [*numbers, *fixed.types]),
        iterate=recorded(iterate, [*states.types, *courses.types, *fixed.types]),
        finish=last,
        square=recorded(square, [dtype] * sum(k * k for k in sizes)),
    )


def _cayley(part: list[int], jacobian: np.ndarray, time: Any) -> np.ndarray:
    """The Cayley transform of the part of a matrix of scalars."""
    n = len(part)
    factors = factorised(read(lambda a, time: np.eye(n) - (0.5 * time) * a, jacobian[np.ix_(part, part)], time))
    return 2.0 * np.stack([factors.solve(unit) for unit in np.eye(n)], axis=1) - np.eye(n)


def _with_row_sum(parts: Iterable[np.ndarray]) -> list[Any]:
    """The entries of all parts of a matrix, and the largest row sum."""
    matrices = list(parts)
    sums = entries([read(row_sum, matrix) for matrix in matrices])
    return [*(x for matrix in matrices for x in matrix.ravel()), read(jnp.max, sums)]


def _slopes(system: System, y: np.ndarray, args: Any, active: tuple[int, ...]) -> list[np.ndarray]:
    """The derivatives of the rates by each entry of the active leaves of args, [n] each."""
    leaves, tree = jax.tree.flatten(args, is_leaf=is_entry)

    def rates(y: Any, perturbed: Any, others: Any) -> Any:
        supply = iter(perturbed), iter(others)
        filled = [next(supply[0]) if i in active else next(supply[1]) for i in range(len(leaves))]
        return system.rates(jnp.zeros((), y.dtype), y, jax.tree.unflatten(tree, filled))

    split = [leaves[i] for i in active], [leaf for i, leaf in enumerate(leaves) if i not in active]
    return [column for slope in read(jax.jacfwd(rates, argnums=1), y, *split) for column in entries(slope).reshape(len(y), -1).T]


class Solved(NamedTuple):
    """What a block gives, as arrays of lanes.

    Attributes:
        y: the n entries of the root.
        reached: whether it is the answer.
        simple: whether it is a simple root.
        iterations, residual: as in `Steady`.
        matrix: n entries for each column of the sensitivity matrix; none where nothing is active.
        regular: whether the Jacobian determines it.
    """

    y: list[Array]
    reached: Array
    simple: Array
    iterations: Array
    residual: Array
    matrix: list[Array]
    regular: Array


def run_block(
    system: System, active: tuple[int, ...], check: Callable[[ScalarProgram], None], part: tuple[Array, newton.Limits, Arguments]
) -> Solved:
    """The lanes of one block; arrays have a leading lane axis. `check` may refuse the iteration."""
    start, limits, args = part
    fixed = Fixed(limits, args)
    layout = Layout.of_lanes(fixed)
    lanes, n = start.shape
    program = programs(system, n, start.dtype, layout, active)
    check(program.iterate)
    constants = layout.lanes(fixed)

    states, _ = layouts(n, start.dtype)
    size = len(states.types)

    def iterating(carried: Any) -> Array:
        return jnp.any(newton.unfinished(states.unpacked(carried[0]), limits.max_iterations))

    def iterate(carried: Any) -> Any:
        return native.run(program.iterate, [*carried[0], *first[size:], *constants])

    first = program.first([*start.T, *constants])
    state, pins = lax.while_loop(iterating, iterate, (first[:size], native.blanks(program.iterate, (lanes,))))
    state = native.kept_alive(state, pins)
    final: newton.State = states.unpacked(state)

    found = native.run_once(program.finish, [*state, *constants], final.iterations[0])
    residual, root, entries_of_power = found[0], found[1], len(program.square.inputs)
    *power, largest = found[2 : 3 + entries_of_power]
    derived = found[3 + entries_of_power :]

    def open_(largest: Array, squarings: Array) -> Array:
        return jnp.any(root & undecided(largest, squarings))

    def squared(carried: Any) -> Any:
        power, _, squarings, _ = carried
        (*power, largest), pins = native.run(program.square, power)
        return power, largest, squarings + 1, pins

    once = (power, largest, jnp.zeros((), jnp.int32), native.blanks(program.square, (lanes,)))
    power, largest, _, pins = lax.while_loop(lambda carried: open_(*carried[1:3]), squared, once)
    (largest,) = native.kept_alive([largest], pins)
    reached = root & ~has_grown(largest)
    regular, matrix = (derived[0], derived[1:]) if derived else (final.simple, [])
    return Solved(list(final.y), reached, final.simple, final.iterations, residual, matrix, regular)


Numbers = tuple[Array, Arguments, newton.Limits, Array | None]
"""Start [lane, n], args, limits and cost [lane]; all with a leading lane axis."""


def solve_tanks(
    system: System,
    engine: Engine,
    active: tuple[int, ...],
    numbers: Numbers,
    arguments: tuple[Array, ...],
    alone: Callable[[tuple[Array, ...]], Found],
    with_matrix: bool,
) -> Found:
    """All lanes: first in blocks, then those that are still open by `alone`, a few at a time.

    Args:
        system: the equations.
        engine: how blocks are made.
        active: leaves of args with a derivative.
        numbers: what blocks need.
        arguments: what `alone` needs, each with a leading lane axis.
        alone: some lanes by the general program.
        with_matrix: whether there is a sensitivity matrix, possibly without columns.
    """
    found, reached = _in_blocks(system, engine, active, numbers)
    y, matrix, usable, rest = found
    start: Found = ((y, matrix) if with_matrix else (y,)), usable, rest
    return _the_others(arguments, alone, ~reached, start)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _in_blocks(
    system: System, engine: Engine, active: tuple[int, ...], numbers: Numbers
) -> tuple[tuple[Array, Array, Array, tuple[Array, Array, Array]], Array]:
    """States, matrix, whether they are usable, status, iterations and residual; and which lanes have their answer."""
    start, args, limits, cost = numbers
    lanes, n = start.shape
    solved = by_blocks(engine, partial(run_block, system, active, engine.check), cost, (start, limits, args))
    healthy = jax.vmap(lambda y0, args: all_finite((y0, args)))(start, args)
    reached = solved.reached & healthy
    y = jnp.where(reached[:, None], jnp.stack(solved.y, axis=-1), jnp.nan)
    columns = len(solved.matrix) // n
    matrix = jnp.stack(solved.matrix, axis=-1).reshape(lanes, columns, n).swapaxes(1, 2) if columns else jnp.zeros((lanes, n, 0), y.dtype)
    usable = reached & (solved.simple & solved.regular & jnp.all(jnp.isfinite(matrix), axis=(1, 2)) if columns else reached)
    status = jnp.where(reached, int(Status.SUCCESS), int(Status.NOT_CONVERGED)).astype(jnp.int32)
    return (y, jnp.where(usable[:, None, None], matrix, 0.0), usable, (status, solved.iterations, solved.residual)), reached


def _the_others(arguments: tuple[Array, ...], alone: Callable[[tuple[Array, ...]], Found], open_: Array, found: Found) -> Found:
    """`found` with the open lanes solved by `alone`."""
    some = min(LANES_ALONE, open_.shape[0])
    count = jnp.sum(open_.astype(jnp.int32))

    def more(carried: Any) -> Array:
        return carried[0] < count

    def solve(carried: Any) -> Any:
        done, first, found = carried
        # the last few may reach back to lanes that have been solved: they are solved again
        at = lax.dynamic_slice_in_dim(first, jnp.minimum(done, jnp.maximum(count - some, 0)), some)
        solved = alone(tuple(x[at] for x in arguments))
        chosen = open_[at]

        def put(whole: Array, new: Array) -> Array:
            return whole.at[at].set(jnp.where(chosen.reshape(-1, *[1] * (new.ndim - 1)), new, whole[at]))

        return done + some, first, jax.tree.map(put, found, solved)

    def solve_all(found: Found) -> Found:
        first = jnp.argsort(~open_)  # stable: the open lanes, in order
        return lax.while_loop(more, solve, (jnp.zeros((), count.dtype), first, found))[-1]

    return lax.cond(count > 0, solve_all, lambda found: found, found)
