"""Stiff initial value problems, many lanes at once: the Rodas5P, control and statuses of `integrate`, laid out for throughput.

Each entry of the state is a value of its own whose only axis is the lanes (`scalars`), the linear systems are eliminated entry by entry
(`factors`), and blocks of lanes run through one native function (`native`). Steps of small networks are written out (`blocks`), those of
large ones run as tables (`large`). A lane is solved as it would be alone: its neighbours change nothing but the time it takes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from kinetix.solvers import large, native
from kinetix.solvers.block_sweeps import sweep_block
from kinetix.solvers.blocks import Active, Along, Fixed, Start, cost_program, first_fixed, programs, run_block
from kinetix.solvers.control import Limits
from kinetix.solvers.layouts import Layout
from kinetix.solvers.replay import Kept
from kinetix.solvers.scalars import NotScalar, ScalarProgram
from kinetix.solvers.segments import Segments, are_valid, segments_of
from kinetix.solvers.system import Arguments, System

Result = TypeVar("Result")


@dataclass(frozen=True)
class Engine:
    """When and how many lanes are solved together as lanes of scalars.

    That needs equations without loops, branches and searches (`NotScalar` otherwise), in which everything that is the same in all lanes,
    such as the network, is a NumPy array within the functions: arguments of a lane are floating-point numbers.

    A step is *written out*, operation by operation, or runs as a *table*, whose compiling takes some seconds whatever the size, while each
    operation takes several times as long. Both give the digits of the general program, and its numbers of steps.

    lanes : from how many lanes of one `jax.vmap` on. Compiling takes some seconds longer than the general program, which is worth it
        for many lanes. With more than 1, equations that cannot be read so, and devices other than CPUs, get the general program; 1 insists.
    components, operations : up to how many components of the state, and operations in a step, it is written out, since compiling takes
        longer and longer: a chain of 20 species has 3,800 and takes 17 s. Beyond, and below `lanes`, it is a table. Steady states are
        only written out.
    large, large_lanes : states of more than `large` components are tables from `large_lanes` lanes on: the general program is slow there.
    largest : up to how many components, since reading takes longer and longer: it is seconds for 53 species and 325 reactions, and minutes
        beyond this. No limit where there is 1 lane.
    block : lanes that step together: few enough for the caches, enough for vectors.
    marked : whether blocks are compiled into one native function. The digits do not depend on it.
    """

    lanes: int = 8192
    block: int = 64
    marked: bool = True
    components: int = 32
    operations: int = 5000
    large: int = 20
    large_lanes: int = 64
    largest: int = 100

    @property
    def fewest(self) -> int:
        """The fewest lanes for which it is worth asking."""
        return min(self.lanes, self.large_lanes)

    def wants(self, lanes: int, n: int) -> bool:
        """Whether so many lanes, of so many components, are integrated together."""
        return n <= self.largest and (lanes >= self.lanes or (n > self.large and lanes >= self.large_lanes))

    def integrates(self, y0: Array, args: Arguments) -> bool:
        """Whether integrations of so many lanes [lane, n] with such arguments are done together."""
        lanes, n = y0.shape
        return self.lanes == 1 or (self.wants(lanes, n) and _may_be_read(args))

    def writes_out(self, lanes: int, n: int, program: ScalarProgram) -> bool:
        """Whether a step of an integration is written out; else it is a table."""
        return lanes >= self.lanes and n <= self.components and len(program.instructions) <= self.operations

    def serves(self, y0: Array, args: Arguments) -> bool:
        """Whether so many lanes [lane, n] with such arguments are solved together by programs that are written out."""
        lanes, n = y0.shape
        return self.lanes == 1 or (lanes >= self.lanes and n <= self.components and _may_be_read(args))

    def check(self, program: ScalarProgram) -> None:
        """Raise NotScalar where a step has too many operations."""
        if self.lanes > 1 and len(program.instructions) > self.operations:
            raise NotScalar(f"a step has {len(program.instructions)} operations, more than {self.operations}")

    def tried(self, solve: Callable[[], Result]) -> Result | None:
        """What `solve` gives; None where equations cannot be read as scalars and nobody insisted."""
        try:
            return solve()
        except NotScalar:
            if self.lanes == 1:
                raise
            return None


def _may_be_read(args: Arguments) -> bool:
    return all(jnp.issubdtype(leaf.dtype, jnp.inexact) for leaf in jax.tree.leaves(args)) and jax.default_backend() == "cpu"


def own_axis(value: ArrayLike | tuple[float, ...]) -> Any:
    """The lane axis of an option: the first of an array; none of a number or a tuple, which are the same for all lanes."""
    return None if isinstance(value, tuple) or not jnp.ndim(value) else 0


AUTOMATIC, NEVER = Engine(), Engine(lanes=sys.maxsize, large_lanes=sys.maxsize)

Numbers = tuple[Array, Array, Arguments, Array, Array | None, Limits, Array | None]
"""Start [lane, n], times [lane, m], args, t0 [lane], breaks [lane, q], limits and cost [lane]; all with a leading lane axis."""
Rest = tuple[Array, Array, Array, Array]
"""Status, steps, rejected steps, time reached."""


@partial(jax.jit, static_argnums=(0, 1, 2))
def solve_lanes(
    system: System, engine: Engine, active: Active, numbers: Numbers, along: Along | None = None
) -> tuple[Array, Array, Array, Rest]:
    """States [lane, m, n], sensitivity matrix [lane, m, n, column], whether they are usable [lane, m], and the rest.

    With a direction, the product of the matrix with it is the only column.

    Lanes of similar cost are put side by side: by `cost`, or the fastest loss at the start.
    """
    start, times, _, _, breaks, _, cost = numbers
    part = whole, _, _, segments = _parts(numbers)
    fixed = first_fixed(part)
    step = programs(system, Layout.of_lanes(whole), Layout.of_lanes(fixed), active).step
    if along is not None:  # tables know no directions
        engine.check(step)
    if along is not None or engine.writes_out(start.shape[0], start.shape[1], step):
        cost = _fastest_loss(system, whole, fixed) if cost is None else cost
        solved = by_blocks(engine, partial(run_block, system, active), cost, (*part, along))
        y = jnp.stack(solved.y, axis=-1)
        matrix = jnp.stack(solved.matrix, axis=2) if active else None
    else:
        cost = by_blocks(engine, partial(large.cost_of_block, system), None, part) if cost is None else cost
        solved = by_blocks(engine, partial(large.run_block, system, active), cost, part)
        y = solved.y
        matrix = jnp.moveaxis(solved.matrix, 2, 3) if active else None
    usable = solved.usable
    matrix = jnp.zeros((*y.shape, 0), y.dtype) if matrix is None else matrix
    if breaks is not None:
        at = jax.vmap(Segments.ending_at)(segments, times)
        y, matrix, usable = jax.vmap(lambda at, *arrays: [array[at] for array in arrays])(at, y, matrix, usable)
    y = jnp.where(usable[..., None], y, jnp.nan)
    matrix = jnp.where(usable[..., None, None], matrix, 0.0)
    return y, matrix, usable, (solved.status, solved.accepted, solved.rejected, solved.t)


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def sweep_lanes(system: System, engine: Engine, active: Active, kept: Kept, numbers: Numbers, given: Array) -> tuple[Array, Array]:
    """The cotangents of the starts [lane, n], and of the active entries of args [lane, entry], from those of the states [lane, m, n]."""
    start, times, _, _, breaks, _, cost = numbers
    part = whole, _, _, segments = _parts(numbers)
    cost = _fastest_loss(system, whole, first_fixed(part)) if cost is None else cost
    if breaks is not None:
        at = jax.vmap(Segments.ending_at)(segments, times)
        places = jnp.zeros((*segments.stop.shape, start.shape[1]), start.dtype)
        given = jax.vmap(lambda places, at, given: places.at[at].add(given))(places, at, given)
    found = by_blocks(engine, partial(sweep_block, system, active, engine.check, kept), cost, (*part, given))
    by_args = jnp.stack(found.args, axis=-1) if found.args else jnp.zeros((start.shape[0], 0), start.dtype)
    return jnp.stack(found.start, axis=-1), by_args


def _parts(numbers: Numbers) -> tuple[Start, Limits, Arguments, Segments]:
    """What blocks are cut from."""
    start, times, args, t0, breaks, limits, _ = numbers
    segments = jax.vmap(segments_of)(t0, times, *(() if breaks is None else (breaks,)))
    return Start(start, segments.stop[:, -1], jax.vmap(are_valid)(times, t0, start, args)), limits, args, segments


def by_blocks(engine: Engine, run: Callable[[Any], Any], cost: Array | None, lanes: Any) -> Any:
    """What `run` gives for blocks of lanes, in the order of the lanes given.

    Args:
        engine: how blocks are made. The last is filled up with its last lane.
        run: from arrays with a leading lane axis, of one block, to arrays whose last axis is the lanes.
        cost: [lane], by which lanes are put side by side; None: as given.
        lanes: pytree of arrays with a leading lane axis; so is the result.
    """
    count = jax.tree.leaves(lanes)[0].shape[0]
    blocks = -(-count // engine.block)
    missing = blocks * engine.block - count
    order = None if cost is None else jnp.argsort(cost)
    place = None if order is None else jnp.zeros(count, jnp.int32).at[order].set(jnp.arange(count, dtype=jnp.int32))

    def cut(array: Array) -> Array:
        array = array if order is None else array[order]
        filled = jnp.concatenate([array, jnp.repeat(array[-1:], missing, axis=0)]) if missing else array
        return filled.reshape(blocks, engine.block, *array.shape[1:])

    def whole_again(array: Array) -> Array:
        """From [block, ..., lane of the block]."""
        array = jnp.moveaxis(array, -1, 1).reshape(-1, *array.shape[1:-1])
        return array[:count] if place is None else array[place]

    mapped = partial(lax.map, run)
    mapped = native.one_function(mapped) if engine.marked else mapped
    return jax.tree.map(whole_again, mapped(jax.tree.map(cut, lanes)))


def _fastest_loss(system: System, whole: Start, fixed: Fixed) -> Array:
    starts, constants = Layout.of_lanes(whole), Layout.of_lanes(fixed)
    return cost_program(system, starts, constants)([*starts.lanes(whole), *constants.lanes(fixed)])[0]
