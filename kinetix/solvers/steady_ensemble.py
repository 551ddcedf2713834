"""Steady states of many lanes at once: the same roots and statuses as `steady_state`, laid out for throughput.

Most lanes need only the first attempt of `steady_state`: Newton iteration from the start without a step that is too long, to a root
where disturbances decay. That runs in blocks of lanes of scalars. Lanes that need more, and only they, go through the general program.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from kinetix.solvers import native
from kinetix.solvers import pseudo_transient as newton
from kinetix.solvers.ensemble import Engine, by_blocks
from kinetix.solvers.factors import determinant_sign, factorised, smallest_pivot
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
        first: from start and fixed values to the first state of the iteration.
        iterate: from a state and the fixed values to the next.
        transform: from the root and the fixed values to the Cayley transform of the Jacobian, and its largest row sum.
        square: of a matrix, and the largest row sum of the square.
        derivative: from the root and the fixed values to the sensitivity matrix, column by column, and whether it exists; None where
            nothing is active.
    """

    first: ScalarProgram
    iterate: ScalarProgram
    transform: ScalarProgram
    square: ScalarProgram
    derivative: ScalarProgram | None


class Fixed(NamedTuple):
    """What does not change."""

    limits: newton.Limits
    args: Arguments


def state_layout(n: int, dtype: np.dtype) -> Layout:
    """Of one lane's `State`."""
    number, count, truth = (jax.ShapeDtypeStruct((), kind) for kind in (dtype, np.int32, np.bool_))
    vector = jax.ShapeDtypeStruct((n,), dtype)
    shapes: Any = (vector, vector, number, number, number, number, truth, truth, truth, count)
    return Layout.of(newton.State(*shapes))


@lru_cache(maxsize=64)
def programs(system: System, n: int, dtype: np.dtype, fixed: Layout, active: tuple[int, ...]) -> Programs:
    """The programs for equations of n components; `active` are leaves of args with a derivative."""
    states = state_layout(n, dtype)
    size = len(states.types)
    numbers = [dtype] * n

    def first(x: list[Any]) -> list[Any]:
        _, args = fixed.unpacked(x[n:])
        return states.packed(read(partial(newton.first_state, system), entries(x[:n]), args))

    def iterate(x: list[Any]) -> list[Any]:
        state: Any = states.unpacked(x[:size])
        limits, args = fixed.unpacked(x[size:])
        proposal = read(partial(newton.propose, system), state, args, limits)
        factors = factorised(proposal.matrix)
        solved = factors.solve(state.rates)
        change = entries([a * b for a, b in zip(proposal.size, solved, strict=True)])
        pivots = smallest_pivot(proposal.matrix, factors), determinant_sign(factors)
        return states.packed(read(partial(newton.judge, system), state, args, limits, proposal, change, *pivots))

    def scale(y: Any, limits: Any) -> Any:
        return read(lambda y, atol: jnp.abs(y) + atol, y, limits.atol)

    def transform(x: list[Any]) -> list[Any]:
        y = entries(x[:n])
        limits, args = fixed.unpacked(x[n:])
        jacobian = read(lambda y, args: system.matrix(jnp.zeros((), y.dtype), y, args), y, args)
        scaled, time = read(generator, jacobian, scale(y, limits))
        factors = factorised(read(lambda scaled, time: np.eye(n) - (0.5 * time) * scaled, scaled, time))
        columns = [factors.solve(unit) for unit in np.eye(n)]
        matrix = [[2.0 * columns[j][i] - (1.0 if i == j else 0.0) for j in range(n)] for i in range(n)]
        return [*(x for row in matrix for x in row), read(row_sum, entries([x for row in matrix for x in row], (n, n)))]

    def square(x: list[Any]) -> list[Any]:
        matrix = entries(x, (n, n))
        squared = read(lambda a: a @ a, matrix)
        return [*squared.ravel(), read(row_sum, squared)]

    def derivative(x: list[Any]) -> list[Any]:
        y = entries(x[:n])
        limits, args = fixed.unpacked(x[n:])
        leaves, tree = jax.tree.flatten(args, is_leaf=is_entry)

        def rates(y: Any, perturbed: Any, others: Any) -> Any:
            supply = iter(perturbed), iter(others)
            filled = [next(supply[0]) if i in active else next(supply[1]) for i in range(len(leaves))]
            return system.rates(jnp.zeros((), y.dtype), y, jax.tree.unflatten(tree, filled))

        split = [leaves[i] for i in active], [leaf for i, leaf in enumerate(leaves) if i not in active]
        jacobian = read(lambda y, args: system.matrix(jnp.zeros((), y.dtype), y, args), y, args)
        slopes = read(jax.jacfwd(rates, argnums=1), y, *split)
        size = scale(y, limits)
        scaled = read(lambda jacobian, size: -jacobian * size[None, :], jacobian, size)
        factors = factorised(scaled)
        columns = [factors.solve(column) for slope in slopes for column in entries(slope).reshape(n, -1).T]
        regular = read(partial(newton.is_regular, system), y, args, limits.rtol, limits.atol, jacobian, smallest_pivot(scaled, factors))
        return [*(a * x for column in columns for a, x in zip(size, column, strict=True)), regular]

    return Programs(
        first=recorded(first, [*numbers, *fixed.types]),
        iterate=recorded(iterate, [*states.types, *fixed.types]),
        transform=recorded(transform, [*numbers, *fixed.types]),
        square=recorded(square, [dtype] * n**2),
        derivative=recorded(derivative, [*numbers, *fixed.types]) if active else None,
    )


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

    states = state_layout(n, start.dtype)

    def iterating(carried: Any) -> Array:
        state: newton.State = states.unpacked(carried[0])
        return jnp.any(newton.unfinished(state.converged, state.iterations, limits.max_iterations))

    def iterate(carried: Any) -> Any:
        return native.run(program.iterate, [*carried[0], *constants])

    first = program.first([*start.T, *constants])
    state, pins = lax.while_loop(iterating, iterate, (first, native.blanks(program.iterate, (lanes,))))
    final: newton.State = states.unpacked(native.kept_alive(state, pins))
    y, tried = list(final.y), final.converged & final.direct

    *power, largest = program.transform([*y, *constants])
    squarings = jnp.zeros(lanes, jnp.int32)

    def squared(carried: Any) -> Any:
        power, largest, squarings, _ = carried
        open_ = undecided(largest, squarings) & tried
        (*following, row), pins = native.run(program.square, power)
        kept = [jnp.where(open_, new, old) for new, old in zip([*following, row], [*power, largest], strict=True)]
        return kept[:-1], kept[-1], squarings + open_, pins

    start_of = (power, largest, squarings, native.blanks(program.square, (lanes,)))
    power, largest, _, pins = lax.while_loop(lambda c: jnp.any(undecided(c[1], c[2]) & tried), squared, start_of)
    (largest,) = native.kept_alive([largest], pins)
    reached = tried & ~has_grown(largest)

    matrix, regular = [], final.simple
    if program.derivative is not None:
        *matrix, regular = program.derivative([*y, *constants])
    return Solved(y, reached, final.simple, final.iterations, final.residual, matrix, regular)


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
    order = jnp.arange(lanes, dtype=jnp.int32) if cost is None else jnp.argsort(cost)
    solved = by_blocks(engine, partial(run_block, system, active, engine.check), order, (start, limits, args))
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
    lanes = open_.shape[0]
    first = jnp.argsort(~open_)  # stable: the open lanes, in order
    some = min(LANES_ALONE, lanes)
    count = jnp.sum(open_.astype(jnp.int32))

    def more(carried: Any) -> Array:
        return carried[0] < count

    def solve(carried: Any) -> Any:
        done, found = carried
        # the last few may reach back to lanes that have been solved: they are solved again
        at = lax.dynamic_slice_in_dim(first, jnp.minimum(done, jnp.maximum(count - some, 0)), some)
        solved = alone(tuple(x[at] for x in arguments))
        chosen = open_[at]

        def put(whole: Array, new: Array) -> Array:
            return whole.at[at].set(jnp.where(chosen.reshape(-1, *[1] * (new.ndim - 1)), new, whole[at]))

        return done + some, jax.tree.map(put, found, solved)

    return lax.while_loop(more, solve, (jnp.zeros((), count.dtype), found))[1]
