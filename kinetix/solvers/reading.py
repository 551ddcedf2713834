"""JAX functions of arrays read into programs of scalars, by their traces: no formula is written twice.

A primitive moves entries, folds them, contracts two arrays, holds a trace of its own, or works entry by entry. Any other is refused by
name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core

from kinetix.solvers.scalars import Builder, NotScalar, Scalar, entries, is_entry, is_zero


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
    outputs = _Reader(builder).run(closed.jaxpr, [np.asarray(c) for c in closed.consts], leaves)
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


def _aval(variable: Any) -> jax.ShapeDtypeStruct:
    """Shape and type of a variable of a trace."""
    return jax.ShapeDtypeStruct(variable.aval.shape, np.dtype(variable.aval.dtype))


class _Reader:
    """Writes what a trace does."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

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
            result[place] = reduce(lambda a, b: self.builder.apply(primitive, (a, b), dtype=dtype), rows[place])
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
        # most entries of a stoichiometry are zero: they are looked at once, not once for each product
        not_zero = [np.array([not is_zero(x) for x in side.ravel()], bool).reshape(side.shape) for side in (a, b)]
        for place in np.ndindex(*result.shape):
            *lead, i, j = place
            both = not_zero[0][(*lead, i)] & not_zero[1][(*lead, j)]
            pairs = zip(a[(*lead, i)][both], b[(*lead, j)][both], strict=True)
            terms = [self.builder.apply(lax.mul_p, pair) for pair in pairs]
            result[place] = reduce(lambda x, y: self.builder.apply(lax.add_p, (x, y)), terms, 0.0)
        return result.reshape(*batch, *rows, *columns)

    def elementwise(self, equation: core.JaxprEqn, operands: list[np.ndarray]) -> np.ndarray:
        aval = _aval(equation.outvars[0])
        types = tuple(_aval(variable).dtype for variable in equation.invars)
        spread = [np.broadcast_to(operand, aval.shape) for operand in operands]
        result = np.empty(aval.shape, dtype=object)
        for place in np.ndindex(*aval.shape):
            result[place] = self.builder.apply(equation.primitive, tuple(x[place] for x in spread), equation.params, types, aval.dtype)
        return result
