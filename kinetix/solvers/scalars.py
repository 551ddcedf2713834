"""Functions of small arrays read as straight-line programs of scalars.

A balance or a rate law is written once, for arrays: c [species], a stoichiometric matrix, constants [m]. Where thousands of lanes are
solved at once it pays to have no arrays but the lanes: each entry of c is a value of its own, products with the zeros of the
stoichiometry vanish, and what is computed twice is computed once. `recorded` writes such a program from Python code on `Scalar`s, and
inside it `reading.read` takes in any JAX function of arrays by its trace, and derivatives by the trace of `jax.jvp` or `jax.jacfwd`; so
no formula is written twice.

Zeros are structural here: 0 x = 0 whatever x is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core


class NotScalar(Exception):
    """A function holds something that is no straight line of elementwise operations: a loop, a branch, a search."""


@dataclass(frozen=True)
class Instruction:
    """One elementwise operation: the primitive with its parameters, its operands (numbers of values, or `Known`), the types of these and of
    the result."""

    primitive: core.Primitive
    params: tuple[tuple[str, Any], ...]
    operands: tuple[Any, ...]
    types: tuple[np.dtype, ...]
    dtype: np.dtype


class Scalar:
    """A value of a program that is being written; arithmetic with it writes instructions."""

    __slots__ = ("builder", "dtype", "number")
    __array_ufunc__ = None

    def __init__(self, builder: Builder, number: int, dtype: np.dtype) -> None:
        self.builder, self.number, self.dtype = builder, number, dtype

    def __add__(self, other: Any) -> Any:
        return self.builder.apply(lax.add_p, (self, other))

    def __radd__(self, other: Any) -> Any:
        return self.builder.apply(lax.add_p, (other, self))

    def __sub__(self, other: Any) -> Any:
        return self.builder.apply(lax.sub_p, (self, other))

    def __rsub__(self, other: Any) -> Any:
        return self.builder.apply(lax.sub_p, (other, self))

    def __mul__(self, other: Any) -> Any:
        return self.builder.apply(lax.mul_p, (self, other))

    def __rmul__(self, other: Any) -> Any:
        return self.builder.apply(lax.mul_p, (other, self))

    def __truediv__(self, other: Any) -> Any:
        return self.builder.apply(lax.div_p, (self, other))

    def __rtruediv__(self, other: Any) -> Any:
        return self.builder.apply(lax.div_p, (other, self))

    def __neg__(self) -> Any:
        return self.builder.apply(lax.neg_p, (self,))


def is_zero(entry: Any) -> bool:
    """Whether an entry is structurally zero."""
    return not isinstance(entry, Scalar) and entry == 0


@dataclass(frozen=True)
class ScalarProgram:
    """What `recorded` gives: elementwise operations, each on values before it.

    Attributes:
        inputs: types of the input values.
        instructions: the values after the inputs.
        outputs: numbers of values, or known numbers (as `Known`).
        types: of the outputs.
    """

    inputs: tuple[np.dtype, ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[Any, ...]
    types: tuple[np.dtype, ...]

    def values(self, inputs: Sequence[jax.Array]) -> list[jax.Array]:
        """All values for lanes of one shape: the inputs, then one for each instruction."""
        lanes = inputs[0].shape
        numbers: dict[Any, jax.Array] = {}

        def operand(entry: Any, dtype: np.dtype) -> jax.Array:
            if isinstance(entry, Known):
                key = (entry.number, dtype)
                if key not in numbers:
                    numbers[key] = lax.broadcast(np.asarray(entry.number, dtype), lanes)
                return numbers[key]
            return values[entry]

        values = list(inputs)
        for step in self.instructions:
            operands = [operand(x, dtype) for x, dtype in zip(step.operands, step.types, strict=True)]
            values.append(step.primitive.bind(*operands, **dict(step.params)))
        return values

    def results(self, values: Sequence[jax.Array]) -> list[jax.Array]:
        """The outputs among all values."""
        lanes = values[0].shape
        return [
            lax.broadcast(np.asarray(x.number, dtype), lanes) if isinstance(x, Known) else values[x]
            for x, dtype in zip(self.outputs, self.types, strict=True)
        ]

    def __call__(self, inputs: Sequence[jax.Array]) -> list[jax.Array]:
        return self.results(self.values(inputs))


@dataclass(frozen=True)
class Known:
    """A known number as an operand."""

    number: Any


def is_entry(x: Any) -> bool:
    """Whether x is a scalar or an array of them: a leaf of a pytree."""
    return isinstance(x, (Scalar, np.ndarray))


def recorded(function: Callable[[list[Scalar]], Sequence[Any]], inputs: Sequence[Any]) -> ScalarProgram:
    """The program of a Python function on scalars.

    Args:
        function: takes a list of scalars, gives a flat list of scalars and known numbers.
        inputs: the types of the scalars.

    Raises:
        NotScalar: the function reads a trace that is no straight line.
    """
    builder = Builder()
    types = tuple(map(np.dtype, inputs))
    scalars = [Scalar(builder, i, dtype) for i, dtype in enumerate(types)]
    builder.count = len(scalars)
    results = list(function(scalars))
    outputs = tuple(x.number if isinstance(x, Scalar) else Known(x) for x in results)
    kinds = tuple(x.dtype if isinstance(x, Scalar) else np.asarray(x).dtype for x in results)
    return _without_dead(ScalarProgram(types, tuple(builder.instructions), outputs, kinds))


def _without_dead(program: ScalarProgram) -> ScalarProgram:
    first = len(program.inputs)
    used = {x for x in program.outputs if not isinstance(x, Known)}
    for number in reversed(range(first, first + len(program.instructions))):
        if number in used:
            used |= {x for x in program.instructions[number - first].operands if not isinstance(x, Known)}
    places = {number: number for number in range(first)}
    kept = []
    for number, step in enumerate(program.instructions, first):
        if number in used:
            places[number] = first + len(kept)
            operands = tuple(x if isinstance(x, Known) else places[x] for x in step.operands)
            kept.append(replace(step, operands=operands))
    outputs = tuple(x if isinstance(x, Known) else places[x] for x in program.outputs)
    return ScalarProgram(program.inputs, tuple(kept), outputs, program.types)


def entries(values: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """An object array of scalars and numbers, which never looks inside them."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        flat, shape = list(values.ravel()), values.shape
    elif isinstance(values, np.ndarray):
        return values if shape is None else values.reshape(shape)
    else:
        flat = list(values)
    result = np.empty(len(flat), dtype=object)
    for i, value in enumerate(flat):
        result[i] = value
    return result if shape is None else result.reshape(shape)


COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "is_finite"})


PLAIN = {
    lax.add_p: lax.add,
    lax.sub_p: lax.sub,
    lax.mul_p: lax.mul,
    lax.div_p: lax.div,
    lax.neg_p: lax.neg,
    lax.max_p: lax.max,
    lax.min_p: lax.min,
    lax.and_p: lax.bitwise_and,
    lax.or_p: lax.bitwise_or,
}


@cache
def _params(primitive: core.Primitive) -> dict[str, Any]:
    """What JAX itself hands to a primitive of plain arithmetic, which differs between its versions."""
    kind = np.bool_ if primitive in (lax.and_p, lax.or_p) else np.float32
    operands = [np.zeros((), kind)] * (1 if primitive is lax.neg_p else 2)
    return jax.make_jaxpr(PLAIN[primitive])(*operands).eqns[0].params


class Builder:
    """Writes instructions; equal ones are written once."""

    def __init__(self) -> None:
        self.count = 0
        self.instructions: list[Instruction] = []
        self.known: dict[Any, Scalar] = {}
        self.negated: dict[int, Any] = {}

    def apply(
        self,
        primitive: core.Primitive,
        operands: tuple[Any, ...],
        params: dict[str, Any] | None = None,
        types: tuple[np.dtype, ...] | None = None,
        dtype: np.dtype | None = None,
    ) -> Any:
        """One entry of a result, by an identity where there is one. Types are needed where the operands differ in type."""
        name, params = primitive.name, _params(primitive) if params is None else params
        plain = self.identity(name, params, operands)
        if plain is not None:
            return plain
        if types is None:
            kind = next((x.dtype for x in operands if isinstance(x, Scalar)), np.dtype(float))
            types = (kind,) * len(operands)
        if dtype is None:
            dtype = np.dtype(bool) if name in COMPARISONS else types[-1]
        if not any(isinstance(x, Scalar) for x in operands):
            with jax.ensure_compile_time_eval():
                return np.asarray(primitive.bind(*(jnp.asarray(x, t) for x, t in zip(operands, types, strict=True)), **params))[()]
        places = tuple(x.number if isinstance(x, Scalar) else Known(x) for x in operands)
        key = (name, places, types, *(map(str, params.values())))
        mirrored = (name, places[::-1], *key[2:])
        if key not in self.known:
            self.known[key] = self.written(
                Instruction(primitive, tuple(sorted(params.items(), key=operator.itemgetter(0))), places, types, dtype)
            )
            if name == "neg":
                self.negated[self.known[key].number] = operands[0]
            if name in ("add", "mul"):
                self.known[mirrored] = self.known[key]
        return self.known[key]

    def written(self, step: Instruction) -> Scalar:
        self.instructions.append(step)
        self.count += 1
        return Scalar(self, self.count - 1, step.dtype)

    def identity(self, name: str, params: dict[str, Any], operands: tuple[Any, ...]) -> Any | None:
        """What an operation gives without computing: x + 0, 1 x, 0 x, x + (-y), a choice that is known."""

        def is_(entry: Any, number: float) -> bool:
            return not isinstance(entry, Scalar) and entry == number

        def opposite(entry: Any) -> Any | None:
            return self.negated.get(entry.number) if isinstance(entry, Scalar) else None

        first, second = operands[0], operands[-1]
        match name:
            case "mul":
                if is_(first, 0) or is_(second, 0):
                    return 0.0
                if is_(first, -1) or is_(second, -1):
                    return -(second if is_(first, -1) else first)
                return second if is_(first, 1) else first if is_(second, 1) else None
            case "add" | "add_any":
                if is_(first, 0) or is_(second, 0):
                    return second if is_(first, 0) else first
                if (other := opposite(second)) is not None:
                    return first - other
                return second - other if (other := opposite(first)) is not None else None
            case "sub":
                if is_(second, 0):
                    return first
                if is_(first, 0):
                    return -second
                return first + other if (other := opposite(second)) is not None else None
            case "div":
                return 0.0 if is_(first, 0) else first if is_(second, 1) else None
            case "neg":
                return 0.0 if is_(first, 0) else opposite(first)
            case "integer_pow":
                return first if params["y"] == 1 else None
            case "select_n":
                if not isinstance(first, Scalar):
                    return operands[1 + int(first)]
                return second if operands[1] is second else None
            case "stop_gradient":
                return first
            case "convert_element_type":
                return first if isinstance(first, Scalar) and first.dtype == params["new_dtype"] else None
            case _:
                return None
