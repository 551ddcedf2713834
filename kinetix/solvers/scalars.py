"""Functions of small arrays read as straight-line programs of scalars.

A balance or a rate law is written once, for arrays: c [species], a stoichiometric matrix, constants [m]. Where thousands of lanes are
solved at once it pays to have no arrays but the lanes: each entry of c is a value of its own, products with the zeros of the
stoichiometry vanish, and what is computed twice is computed once. `recorded` writes such a program from Python code on `Scalar`s, and
inside it `read` takes in any JAX function of arrays by its trace, and derivatives by the trace of `jax.jvp` or `jax.jacfwd`; so no
formula is written twice.

Zeros are structural here: 0 x = 0 whatever x is.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
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


@dataclass(frozen=True)
class Layout:
    """A pytree of arrays as a flat list of entries.

    Attributes:
        tree: its structure.
        leaves: shape and type of each leaf.
    """

    tree: Any
    leaves: tuple[tuple[tuple[int, ...], np.dtype], ...]

    @classmethod
    def of_lanes(cls, tree: Any) -> Layout:
        """The layout of one lane of arrays with a leading lane axis."""
        leaves, structure = jax.tree.flatten(tree)
        return cls(structure, tuple((leaf.shape[1:], np.dtype(leaf.dtype)) for leaf in leaves))

    @classmethod
    def of(cls, tree: Any) -> Layout:
        """The layout of a pytree of `jax.ShapeDtypeStruct`."""
        leaves, structure = jax.tree.flatten(tree)
        return cls(structure, tuple((leaf.shape, np.dtype(leaf.dtype)) for leaf in leaves))

    @property
    def types(self) -> list[np.dtype]:
        """The type of each entry."""
        return [dtype for shape, dtype in self.leaves for _ in range(math.prod(shape))]

    def unpacked(self, flat: Sequence[Any]) -> Any:
        """Entries as the pytree, with object arrays; leaves of no dimension as entries."""
        leaves, start = [], 0
        for shape, _ in self.leaves:
            part = flat[start : start + math.prod(shape)]
            leaves.append(entries(part, shape) if shape else part[0])
            start += len(part)
        return jax.tree.unflatten(self.tree, leaves)

    def packed(self, tree: Any) -> list[Any]:
        """The entries of a pytree of object arrays."""
        leaves = jax.tree.leaves(tree, is_leaf=is_entry)
        return [x for leaf in leaves for x in (leaf.ravel() if isinstance(leaf, np.ndarray) else [leaf])]

    def lanes(self, tree: Any) -> list[jax.Array]:
        """The entries of arrays with a leading lane axis, as lanes."""
        return [x for leaf in jax.tree.leaves(tree) for x in jnp.moveaxis(leaf.reshape(leaf.shape[0], -1), 1, 0)]


def is_entry(x: Any) -> bool:
    """Whether x is a scalar or an array of them: a leaf of a pytree."""
    return isinstance(x, (Scalar, np.ndarray))


@dataclass(frozen=True)
class Template:
    """A pytree of entries of which some are scalars and the rest known numbers, such as the zeros of a matrix.

    Attributes:
        tree: its structure.
        leaves: the known numbers, and None for each scalar.
        shapes: of the leaves.
    """

    tree: Any
    leaves: tuple[tuple[Any, ...], ...]
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, tree: Any) -> Template:
        leaves, structure = jax.tree.flatten(tree, is_leaf=is_entry)
        known = tuple(
            tuple(None if isinstance(x, Scalar) else x for x in np.ravel(entries([x], ()) if not isinstance(x, np.ndarray) else x))
            for x in leaves
        )
        return cls(structure, known, tuple(np.shape(x) if isinstance(x, np.ndarray) else () for x in leaves))

    @property
    def size(self) -> int:
        """How many scalars it holds."""
        return sum(x is None for leaf in self.leaves for x in leaf)

    def dynamic(self, tree: Any) -> list[Scalar]:
        """The scalars of a pytree of this form."""
        leaves = jax.tree.leaves(tree, is_leaf=is_entry)
        return [x for leaf in leaves for x in (leaf.ravel() if isinstance(leaf, np.ndarray) else [leaf]) if isinstance(x, Scalar)]

    def filled(self, scalars: Sequence[Any]) -> Any:
        """The pytree with other scalars."""
        supply = iter(scalars)
        leaves = []
        for known, shape in zip(self.leaves, self.shapes, strict=True):
            part = [next(supply) if x is None else x for x in known]
            leaves.append(entries(part, shape) if shape else part[0])
        return jax.tree.unflatten(self.tree, leaves)


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


def read(function: Callable[..., Any], *arguments: Any) -> Any:
    """The results of a JAX function of arrays for arguments whose entries are scalars: its trace, written as instructions.

    Args:
        function: of pytrees of arrays.
        arguments: pytrees of object arrays of scalars and numbers; a lone scalar stands for an array of no dimension.

    Returns:
        The pytree of the function, with object arrays; results of no dimension as entries.

    Raises:
        NotScalar: the trace holds a loop, a branch, or an index that depends on the arguments.
    """
    leaves, tree = jax.tree.flatten(arguments, is_leaf=is_entry)
    leaves = [x if isinstance(x, np.ndarray) else entries([x], ()) for x in leaves]
    builder = next((x.builder for leaf in leaves if leaf.dtype == object for x in leaf.ravel() if isinstance(x, Scalar)), Builder())

    def kind(leaf: np.ndarray) -> np.dtype:
        if leaf.dtype != object:
            return leaf.dtype
        return next((x.dtype for x in leaf.ravel() if isinstance(x, Scalar)), np.dtype(float))

    shapes = [jax.ShapeDtypeStruct(leaf.shape, kind(leaf)) for leaf in leaves]
    closed, result = jax.make_jaxpr(lambda *flat: function(*jax.tree.unflatten(tree, flat)), return_shape=True)(*shapes)
    outputs = builder.run(closed.jaxpr, [np.asarray(c) for c in closed.consts], leaves)
    shaped = [entries(x) if x.ndim else x[()] for x in outputs]
    return jax.tree.unflatten(jax.tree.structure(result), shaped)


def _spread(params: dict[str, Any], x: np.ndarray) -> np.ndarray:
    shape = [1] * len(params["shape"])
    for axis, size in zip(params["broadcast_dimensions"], x.shape, strict=True):
        shape[axis] = size
    return np.broadcast_to(x.reshape(shape), params["shape"])


def _gathered(params: dict[str, Any], x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """XLA's gather, for known indices (https://openxla.org/xla/operation_semantics#gather)."""
    numbers, sizes = params["dimension_numbers"], params["slice_sizes"]
    if indices.dtype == object or numbers.operand_batching_dims:
        raise NotScalar("'gather' takes an index that depends on the arguments, or a batch")
    lead = indices.shape[:-1]
    kept = [axis for axis in range(x.ndim) if axis not in numbers.collapsed_slice_dims]
    result = np.empty((*lead, *(sizes[axis] for axis in kept)), dtype=x.dtype)
    for place in np.ndindex(*lead):
        start = [0] * x.ndim
        for axis, index in zip(numbers.start_index_map, indices[place], strict=True):
            start[axis] = min(max(int(index), 0), x.shape[axis] - sizes[axis])
        part = x[tuple(slice(s, s + size) for s, size in zip(start, sizes, strict=True))]
        result[place] = part.reshape([sizes[axis] for axis in kept])[()]
    batch = [axis for axis in range(result.ndim) if axis not in numbers.offset_dims]
    return np.moveaxis(result, range(result.ndim), [*batch, *numbers.offset_dims])


def _iota(params: dict[str, Any]) -> np.ndarray:
    shape = [1] * len(params["shape"])
    shape[params["dimension"]] = -1
    return np.broadcast_to(np.arange(params["shape"][params["dimension"]], dtype=params["dtype"]).reshape(shape), params["shape"])


MOVES: dict[str, Callable[..., Any]] = {
    "broadcast_in_dim": _spread,
    "reshape": lambda params, x: x.reshape(params["new_sizes"]),
    "squeeze": lambda params, x: x.reshape([size for axis, size in enumerate(x.shape) if axis not in params["dimensions"]]),
    "transpose": lambda params, x: x.transpose(params["permutation"]),
    "slice": lambda params, x: x[tuple(map(slice, params["start_indices"], params["limit_indices"], params["strides"] or (1,) * x.ndim))],
    "concatenate": lambda params, *xs: np.concatenate([x if x.dtype == xs[0].dtype else entries(x) for x in xs], axis=params["dimension"]),
    "stack": lambda params, *xs: np.stack([entries(x) for x in xs], axis=params["axis"]),
    "unstack": lambda params, x: list(np.moveaxis(x, params["axis"], 0)),
    "split": lambda params, x: np.split(x, np.cumsum(params["sizes"])[:-1], axis=params["axis"]),
    "rev": lambda params, x: np.flip(x, params["dimensions"]),
    "gather": _gathered,
    "copy": lambda params, x: x,
    "copy_p": lambda params, x: x,
}
"""Primitives that only move entries."""

KNOWN: dict[str, Callable[..., np.ndarray]] = {
    "iota": _iota,
    "eq": lambda params, a, b: np.equal(a, b),
    "lt": lambda params, a, b: np.less(a, b),
    "add": lambda params, a, b: a + b,
    "mul": lambda params, a, b: a * b,
    "select_n": lambda params, which, *cases: np.choose(np.asarray(which, dtype=np.int8), cases),
    "convert_element_type": lambda params, x: x.astype(params["new_dtype"]),
}
"""Operations on known arrays that are met often; JAX would compile a program for each."""

INLINED = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
}
"""Primitives that hold a trace of their own, and in which parameter."""

FOLDS = {
    "reduce_sum": lax.add_p,
    "reduce_prod": lax.mul_p,
    "reduce_max": lax.max_p,
    "reduce_min": lax.min_p,
    "reduce_and": lax.and_p,
    "reduce_or": lax.or_p,
}

ELEMENTWISE = frozenset(
    {
        "add",
        "add_any",
        "sub",
        "mul",
        "div",
        "neg",
        "abs",
        "max",
        "min",
        "sign",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "sqrt",
        "rsqrt",
        "cbrt",
        "pow",
        "integer_pow",
        "square",
        "tanh",
        "logistic",
        "sin",
        "cos",
        "tan",
        "erf",
        "floor",
        "ceil",
        "round",
        "is_finite",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "and",
        "or",
        "not",
        "xor",
        "select_n",
        "convert_element_type",
        "clamp",
        "stop_gradient",
        "rem",
        "nextafter",
    }
)
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


def _aval(variable: Any) -> jax.ShapeDtypeStruct:
    """Shape and type of a variable of a trace."""
    return jax.ShapeDtypeStruct(variable.aval.shape, np.dtype(variable.aval.dtype))


class Builder:
    """Writes instructions; equal ones are written once."""

    def __init__(self) -> None:
        self.count = 0
        self.instructions: list[Instruction] = []
        self.known: dict[Any, Scalar] = {}
        self.negated: dict[int, Any] = {}

    def run(self, jaxpr: core.Jaxpr, constants: Sequence[np.ndarray], arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results of a trace, as arrays of entries."""
        values: dict[Any, np.ndarray] = {}

        def found(variable: Any) -> np.ndarray:
            return np.asarray(variable.val) if isinstance(variable, core.Literal) else values[variable]

        values.update(zip(jaxpr.constvars, constants, strict=True))
        values.update(zip(jaxpr.invars, arguments, strict=True))
        for equation in jaxpr.eqns:
            results = self.equation(equation, [found(variable) for variable in equation.invars])
            values.update(zip(equation.outvars, results, strict=True))
        return [found(variable) for variable in jaxpr.outvars]

    def equation(self, equation: core.JaxprEqn, operands: list[np.ndarray]) -> list[np.ndarray]:
        name, params = equation.primitive.name, equation.params
        if name in MOVES:
            moved = MOVES[name](params, *operands)
            return [x if isinstance(x, np.ndarray) else entries([x], ()) for x in (moved if isinstance(moved, list) else [moved])]
        if name in INLINED:
            inner = params[INLINED[name]]
            inner = inner if isinstance(inner, core.ClosedJaxpr) else core.ClosedJaxpr(inner, ())
            return self.run(inner.jaxpr, [np.asarray(c) for c in inner.consts], operands)
        if all(operand.dtype != object for operand in operands):
            return self.evaluated(equation, operands)
        dtype = _aval(equation.outvars[0]).dtype
        if name in FOLDS:
            return [self.folded(FOLDS[name], operands[0], params["axes"], dtype)]
        if name == "dot_general":
            return [self.contracted(entries(operands[0]), entries(operands[1]), params["dimension_numbers"])]
        if name not in ELEMENTWISE:
            raise NotScalar(f"'{name}' is not elementwise")
        return [self.elementwise(equation, operands)]

    def evaluated(self, equation: core.JaxprEqn, operands: list[np.ndarray]) -> list[np.ndarray]:
        """An operation on known numbers."""
        if equation.primitive.name in KNOWN:
            return [np.asarray(KNOWN[equation.primitive.name](equation.params, *operands))]
        with jax.ensure_compile_time_eval():
            results = equation.primitive.bind(*map(jnp.asarray, operands), **equation.params)
        return [np.asarray(x) for x in (results if equation.primitive.multiple_results else [results])]

    def folded(self, primitive: core.Primitive, operand: np.ndarray, axes: Sequence[int], dtype: np.dtype) -> np.ndarray:
        kept = [axis for axis in range(operand.ndim) if axis not in axes]
        rows = operand.transpose(*kept, *axes).reshape(*(operand.shape[axis] for axis in kept), -1)
        result = np.empty(rows.shape[:-1], dtype=object)
        for place in np.ndindex(*result.shape):
            result[place] = reduce(lambda a, b: self.apply(primitive, (a, b), dtype=dtype), rows[place])
        return result

    def contracted(self, left: np.ndarray, right: np.ndarray, numbers: Any) -> np.ndarray:
        (left_axes, right_axes), (left_batch, right_batch) = numbers
        left_free = [i for i in range(left.ndim) if i not in (*left_axes, *left_batch)]
        right_free = [i for i in range(right.ndim) if i not in (*right_axes, *right_batch)]
        batch = [left.shape[i] for i in left_batch]
        rows, columns = [left.shape[i] for i in left_free], [right.shape[i] for i in right_free]
        inner = int(np.prod([left.shape[i] for i in left_axes], dtype=int))
        a = left.transpose(*left_batch, *left_free, *left_axes).reshape(*batch, -1, inner)
        b = right.transpose(*right_batch, *right_free, *right_axes).reshape(*batch, -1, inner)
        result = np.empty((*batch, a.shape[-2], b.shape[-2]), dtype=object)
        for place in np.ndindex(*result.shape):
            *lead, i, j = place
            terms = [self.apply(lax.mul_p, pair) for pair in zip(a[(*lead, i)], b[(*lead, j)], strict=True)]
            result[place] = reduce(lambda x, y: self.apply(lax.add_p, (x, y)), terms, 0.0)
        return result.reshape(*batch, *rows, *columns)

    def elementwise(self, equation: core.JaxprEqn, operands: list[np.ndarray]) -> np.ndarray:
        aval = _aval(equation.outvars[0])
        types = tuple(_aval(variable).dtype for variable in equation.invars)
        spread = [np.broadcast_to(operand, aval.shape) for operand in operands]
        result = np.empty(aval.shape, dtype=object)
        for place in np.ndindex(*aval.shape):
            result[place] = self.apply(equation.primitive, tuple(x[place] for x in spread), equation.params, types, aval.dtype)
        return result

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
