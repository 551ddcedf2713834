"""Programs of scalars run as tables: what to compute is data, so that compiling takes as long for a hundred thousand operations as for ten.

A program of a large network unrolled (`native.run`) takes minutes to compile. Here its values stand in *registers*, rows of one array
[register, lane], and a few small loops walk over lists of what to read and where to write:

* *sums*: s_1 a_1 b_1 + s_2 a_2 b_2 + ..., signs s and registers a, b. Products, sums and differences are all of this form, and most of a
  step is: an entry of L or U, of the solution of a triangular system, the production of a species. They are added up in the order in which
  the program does, so the digits are those of the program.
* one loop for each other operation that the program holds (a quotient, a comparison, an exponential ...).

These loops take turns; a *turn* runs each over its part of the list, and a value is computed in the first turn in which all that it needs
is there. A register is used again when its value is not needed any more, which keeps a block of lanes in the cache.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from kinetix.solvers.scalars import Instruction, Known, NotScalar, ScalarProgram

STORED = np.dtype(np.float64)
"""The type of registers: it holds counts and truth values as well, exactly."""
SUMS = frozenset({"add", "add_any", "sub", "mul", "neg"})


class Term(NamedTuple):
    """sign * left * right, of which the operands are numbers of values, or `Known`."""

    sign: float
    left: Any
    right: Any


class Kind(NamedTuple):
    """An operation that is no sum: the primitive, what it is told, its types."""

    primitive: Any
    params: tuple[tuple[str, Any], ...]
    types: tuple[np.dtype, ...]
    dtype: np.dtype


@dataclass(frozen=True, eq=False)
class Table:
    """A program as lists of registers.

    Attributes:
        inputs: how many; they are the first registers and are never written.
        registers: how many.
        constants: known numbers, in the registers after the inputs.
        outputs: the register of each output.
        sums: by sum, (where to write, where its terms end).
        terms: by term, the registers of its factors; signs: its sign.
        sums_end: by turn, where its sums end.
        others: by kind, its operations (register to write, registers to read); and by turn, where they end.
    """

    inputs: int
    registers: int
    constants: np.ndarray
    outputs: np.ndarray
    sums: np.ndarray
    terms: np.ndarray
    signs: np.ndarray
    sums_end: np.ndarray
    others: tuple[tuple[Kind, np.ndarray, np.ndarray], ...]

    def start(self, lanes: int) -> Array:
        """Registers [register, lane] before the inputs are written."""
        constants = jnp.broadcast_to(jnp.asarray(self.constants)[:, None], (len(self.constants), lanes))
        rest = self.registers - self.inputs - len(self.constants)
        return jnp.concatenate([jnp.zeros((self.inputs, lanes)), constants, jnp.zeros((rest, lanes))])

    def run(self, registers: Array) -> Array:
        """The registers after the program has run on the inputs in the first of them."""
        sums, terms, signs = (jnp.asarray(x) for x in (self.sums, self.terms, self.signs))
        ends = jnp.asarray(self.sums_end)
        others = [(kind, jnp.asarray(rows), jnp.asarray(until)) for kind, rows, until in self.others]
        lanes = registers.shape[1]

        def turn(number: Array, carried: Any) -> Any:
            def add_up(item: Array, state: Any) -> Any:
                registers, begin = state
                end = _entry(sums, item, 1)

                def add(i: Array, total: Array) -> Array:
                    product = _row(registers, _entry(terms, i, 0)) * _row(registers, _entry(terms, i, 1))
                    return total + _entry(signs, i) * product

                total = lax.fori_loop(begin, end, add, jnp.full((1, lanes), -0.0))
                return _written(registers, total, _entry(sums, item, 0)), end

            registers, done, term, *begins = carried
            end = _entry(ends, number)
            registers, term = lax.fori_loop(done, end, add_up, (registers, term))
            reached = []
            for (kind, rows, until), begin in zip(others, begins, strict=True):
                stop = _entry(until, number)

                def operate(item: Array, registers: Array, kind: Kind = kind, rows: Array = rows) -> Array:
                    read = [_row(registers, _entry(rows, item, 1 + i)).astype(dtype) for i, dtype in enumerate(kind.types)]
                    return _written(registers, kind.primitive.bind(*read, **dict(kind.params)).astype(STORED), _entry(rows, item, 0))

                registers = lax.fori_loop(begin, stop, operate, registers)
                reached.append(stop)
            return (registers, end, term, *reached)

        zero = jnp.zeros((), jnp.uint32)
        return lax.fori_loop(zero, _unknown(len(self.sums_end)), turn, (registers, zero, zero, *[zero for _ in others]))[0]


def _unknown(count: int) -> Array:
    """A number of turns as data: XLA unrolls loops of which it knows that they are short, and compiles for minutes."""
    return jnp.asarray(np.array([count], np.uint32))[0]


def _entry(table: Array, *place: Any) -> Array:
    # unsigned indices: JAX does not look whether they count from the end
    where = [jnp.asarray(x, jnp.uint32) for x in place]
    return lax.dynamic_slice(table, where, (1,) * len(where)).reshape(())


def _row(registers: Array, number: Array) -> Array:
    return lax.dynamic_slice(registers, (number, jnp.zeros((), number.dtype)), (1, registers.shape[1]))


def _written(registers: Array, row: Array, number: Array) -> Array:
    return lax.dynamic_update_slice(registers, row, (number, jnp.zeros((), number.dtype)))


def rows_at(registers: Array, numbers: np.ndarray) -> Array:
    """Some registers, as [number, lane]; by a loop, since one native function holds no gather."""
    places = jnp.asarray(numbers)

    def copied(i: Array, rows: Array) -> Array:
        return _written(rows, _row(registers, _entry(places, i)), i)

    blank = jnp.zeros((len(numbers), registers.shape[1]), registers.dtype)
    return lax.fori_loop(jnp.uint32(0), _unknown(len(numbers)), copied, blank)


def with_rows(registers: Array, rows: Array, first: int) -> Array:
    """The registers with some next to each other written."""
    return lax.dynamic_update_slice_in_dim(registers, rows, first, axis=0)


def table_of(program: ScalarProgram) -> Table:
    """The table of a program.

    Raises:
        NotScalar: the state is in another type than float64, the type of registers.
    """
    if program.inputs[0] != STORED:
        raise NotScalar(f"a state of type {program.inputs[0]} in registers of type {STORED}")
    first = len(program.inputs)
    summed = _sums(program)
    kinds: dict[Any, int] = {}
    place = [(0, 0)] * first  # turn, and kind in the turn; 0 are the sums
    work: list[tuple[tuple[int, int], int, list[Any]]] = []
    for number, step in enumerate(program.instructions, first):
        if number in summed:
            kind, reads = 0, [x for term in summed[number] for x in term[1:]]
        elif step.primitive.name in SUMS and step.dtype == STORED:  # part of a longer sum
            place.append((-1, -1))
            continue
        else:
            key = (step.primitive, tuple((name, str(value)) for name, value in step.params), step.types, step.dtype)
            kind, reads = kinds.setdefault(key, len(kinds) + 1), list(step.operands)
        after = max((place[x] for x in reads if not isinstance(x, Known)), default=(0, 0))
        place.append((after[0] + (after[1] > kind), kind))
        work.append((place[-1], number, reads))
    work.sort(key=lambda one: one[:2])
    return _allocated(program, summed, work, len(kinds))


def _sums(program: ScalarProgram) -> dict[int, list[Term]]:
    """The terms of each sum that is stored: one that is used once, where another begins, or is only a product in it, is part of that."""
    first = len(program.inputs)
    uses = Counter(x for step in program.instructions for x in step.operands if not isinstance(x, Known))
    uses.update(x for x in program.outputs if not isinstance(x, Known))
    found: dict[int, list[Term]] = {}
    one = Known(1.0)

    def begun(x: Any) -> list[Term]:
        """What a sum begins with."""
        return found.pop(x) if not isinstance(x, Known) and x in found and uses[x] == 1 else [Term(1.0, x, one)]

    def added(sign: float, x: Any) -> list[Term]:
        """What is added to a sum."""
        if not isinstance(x, Known) and x in found and uses[x] == 1 and len(found[x]) == 1:
            (term,) = found.pop(x)
            return [term._replace(sign=sign * term.sign)]
        return [Term(sign, x, one)]

    def is_long(x: Any) -> bool:
        return not isinstance(x, Known) and x in found and uses[x] == 1 and len(found[x]) > 1

    for number, step in enumerate(program.instructions, first):
        if step.primitive.name not in SUMS or step.dtype != STORED:
            continue
        match step.primitive.name, step.operands:
            case "mul", (a, b):
                found[number] = [Term(1.0, a, b)]
            case "neg", (a,):
                found[number] = added(-1.0, a)
            case "sub", (a, b):
                found[number] = [*begun(a), *added(-1.0, b)]
            case _, (a, b):
                a, b = (b, a) if is_long(b) and not is_long(a) else (a, b)
                found[number] = [*begun(a), *added(1.0, b)]
    return found


def _allocated(program: ScalarProgram, summed: dict[int, list[Term]], work: Sequence[Any], kinds: int) -> Table:
    first = len(program.inputs)
    known: dict[float, int] = {}

    def constant(x: Known) -> int:
        return known.setdefault(float(x.number), first + len(known))

    for _, _, reads in work:
        for x in reads:
            if isinstance(x, Known):
                constant(x)
    for x in program.outputs:
        if isinstance(x, Known):
            constant(x)
    last: dict[int, int] = {}
    for when, (_, _, reads) in enumerate(work):
        last.update((x, when) for x in reads if not isinstance(x, Known))
    kept = {x for x in program.outputs if not isinstance(x, Known)} | set(range(first))
    where: dict[int, int] = {i: i for i in range(first)}
    free: list[int] = []
    size = first + len(known)

    def register(x: Any) -> int:
        return constant(x) if isinstance(x, Known) else where[x]

    turns = work[-1][0][0] + 1 if work else 1
    sums: list[tuple[int, int]] = []
    terms: list[tuple[int, int]] = []
    signs: list[float] = []
    rows: list[list[list[int]]] = [[] for _ in range(kinds)]
    ends = np.zeros((kinds + 1, turns), np.uint32)
    example: list[Instruction | None] = [None] * kinds
    for when, ((turn, kind), number, reads) in enumerate(work):
        read = [register(x) for x in reads]
        # read before it is written, so the result may stand where an operand stood
        for x in {x for x in reads if not isinstance(x, Known)}:
            if last[x] == when and x not in kept:
                heapq.heappush(free, where[x])
        if free:
            target = heapq.heappop(free)
        else:
            target, size = size, size + 1
        where[number] = target
        if kind == 0:
            terms += zip(read[::2], read[1::2], strict=True)
            signs += [term.sign for term in summed[number]]
            sums.append((target, len(terms)))
        else:
            example[kind - 1] = program.instructions[number - first]
            rows[kind - 1].append([target, *read])
        ends[kind, turn] = len(sums) if kind == 0 else len(rows[kind - 1])
    ends = np.maximum.accumulate(ends, axis=1)
    others = []
    for i, step in enumerate(example):
        assert step is not None
        others.append((Kind(step.primitive, step.params, step.types, step.dtype), np.array(rows[i], np.uint32), ends[i + 1]))
    return Table(
        inputs=first,
        registers=size,
        constants=np.array(list(known), STORED),
        outputs=np.array([register(x) for x in program.outputs], np.uint32),
        sums=np.array(sums, np.uint32).reshape(-1, 2),
        terms=np.array(terms, np.uint32).reshape(-1, 2),
        signs=np.array(signs, STORED),
        sums_end=ends[0],
        others=tuple(others),
    )
