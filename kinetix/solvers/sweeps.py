"""A sensitivity matrix as an operator: its product with tangents in one sweep forward, its transpose in one sweep back.

With many perturbed numbers the matrix itself (`sensitivity`) costs as many tangents as it has columns, whatever is asked of it. Here the
product is one operation of JAX that knows its transpose, so that `jax.jvp` costs one tangent and `jax.grad` one sweep back, and both modes
stay open. Derivatives of the operation are taken by the matrix. Where a matrix is asked for in as many columns or rows as it has columns
(`jax.jacfwd`, `jax.jacrev`), it is formed after all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.extend import core
from jax.interpreters import ad, batching, mlir

from kinetix.precision import float64


class Operator(Protocol):
    """The sensitivity matrix of a solve, hashable so that equal ones share one trace.

    All methods take the arguments of the solve, and what it gave: values, and which of them are usable. Rows of values that are not usable
    are zero: their tangents are zero, and cotangents there count for nothing unless they are infinite or undefined, which makes all results
    undefined.
    """

    @property
    def columns(self) -> int:
        """Of the matrix."""
        ...

    def push(self, residuals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, ...]:
        """The tangent of the values."""
        ...

    def pull(self, residuals: tuple[Array, ...], cotangents: tuple[Array, ...]) -> tuple[Array, ...]:
        """The cotangents of the perturbed arguments."""
        ...

    def many(self, transposed: bool, residuals: tuple[Array, ...], linear: tuple[Array, ...]) -> tuple[Array, ...] | None:
        """`push`, or `pull` if transposed, of all lanes at once; None: lane by lane."""
        ...

    def by_matrix(self, transposed: bool, residuals: tuple[Array, ...], linear: tuple[Array, ...]) -> tuple[Array, ...]:
        """The same by the matrix, with derivatives of any order in whatever mode."""
        ...


class Shape(NamedTuple):
    """What a sweep is applied to.

    lanes : whether all operands have a leading lane axis.
    columns : how many tangents or cotangents there are, on an axis behind that of the lanes; 0: one, without an axis.
    """

    lanes: bool = False
    columns: int = 0


def product(operator: Operator, residuals: tuple[Array, ...], tangents: tuple[Array, ...]) -> Array:
    """The matrix times the tangents of the perturbed arguments."""
    (change,) = _bind(operator, False, Shape(), residuals, tangents)
    return change


def _swept(
    operator: Operator, transposed: bool, shape: Shape, residuals: tuple[Array, ...], linear: tuple[Array, ...]
) -> tuple[Array, ...]:
    by_matrix = shape.columns >= operator.columns
    swept = operator.pull if transposed else operator.push
    one = partial(operator.by_matrix, transposed) if by_matrix else swept
    if shape.columns and (by_matrix or not shape.lanes):
        one = jax.vmap(one, (None, 0))
    if not shape.lanes:
        return one(residuals, linear)
    if by_matrix:
        return jax.vmap(one)(residuals, linear)

    def lanes(linear: tuple[Array, ...]) -> tuple[Array, ...]:
        found = operator.many(transposed, residuals, linear)
        return jax.vmap(one)(residuals, linear) if found is None else found

    if not shape.columns:
        return lanes(linear)
    swapped = lax.map(lanes, tuple(jnp.moveaxis(x, 1, 0) for x in linear))
    return tuple(jnp.moveaxis(x, 0, 1) for x in swapped)


@lru_cache(maxsize=256)
def _call(operator: Operator, transposed: bool, shape: Shape, residuals: tuple[Any, ...], linear: tuple[Any, ...]) -> core.ClosedJaxpr:
    """The trace of a sweep: one call of a finished trace, so that a 32-bit host has nothing to trace when it compiles."""
    with float64():
        return jax.make_jaxpr(jax.jit(partial(_swept, operator, transposed, shape)))(residuals, linear)


def _bind(operator: Operator, transposed: bool, shape: Shape, residuals: Sequence[Array], linear: Sequence[Array]) -> tuple[Array, ...]:
    avals = [tuple(jax.ShapeDtypeStruct(jnp.shape(x), x.dtype) for x in part) for part in (residuals, linear)]
    call = _call(operator, transposed, shape, *avals)
    return tuple(_sweep.bind(*residuals, *linear, operator=operator, transposed=transposed, shape=shape, count=len(residuals), call=call))


_sweep = core.Primitive("kinetix_sweep")
_sweep.multiple_results = True


@_sweep.def_impl
def _run(*operands: Array, call: core.ClosedJaxpr, **_: Any) -> list[Array]:
    return core.jaxpr_as_fun(call)(*operands)


@_sweep.def_abstract_eval
def _results(*_: Any, call: core.ClosedJaxpr, **__: Any) -> Any:
    return call.out_avals


mlir.register_lowering(_sweep, mlir.lower_fun(_run, multiple_results=True))


def _derivative(primals: Sequence[Array], tangents: Sequence[Any], **params: Any) -> Any:
    """Along the linear operands alone, one more sweep; else by the matrix."""
    operator, transposed, shape, count = (params[name] for name in ("operator", "transposed", "shape", "count"))
    values = _sweep.bind(*primals, **params)
    changed = [not isinstance(x, ad.Zero) for x in tangents]
    along = [ad.instantiate_zeros(x) for x in tangents]
    if not any(changed[:count]):
        return values, list(_bind(operator, transposed, shape, primals[:count], along[count:]))
    differentiated = [i for i, change in enumerate(changed) if change and jnp.issubdtype(primals[i].dtype, jnp.inexact)]

    def by_matrix(*moved: Array) -> tuple[Array, ...]:
        operands = list(primals)
        for i, x in zip(differentiated, moved, strict=True):
            operands[i] = x
        one: Callable[..., tuple[Array, ...]] = partial(operator.by_matrix, transposed)
        one = jax.vmap(one, (None, 0)) if shape.columns else one
        one = jax.vmap(one) if shape.lanes else one
        return one(tuple(operands[:count]), tuple(operands[count:]))

    changes = jax.jvp(by_matrix, [primals[i] for i in differentiated], [along[i] for i in differentiated])[1]
    return values, list(changes)


def _transpose(cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
    count = params["count"]
    given = [ad.instantiate_zeros(x) for x in cotangents]
    results = _bind(params["operator"], not params["transposed"], params["shape"], operands[:count], given)
    wanted = [ad.is_undefined_primal(x) for x in operands[count:]]
    return [None] * count + [x if is_wanted else None for x, is_wanted in zip(results, wanted, strict=True)]


def _batched(operands: Sequence[Array], dims: Sequence[Any], **params: Any) -> tuple[list[Array], list[int]]:
    """More lanes where the residuals differ, else more columns."""
    count, shape = params["count"], params["shape"]
    size = next(x.shape[dim] for x, dim in zip(operands, dims, strict=True) if dim is not None)

    def leading(x: Array, dim: Any) -> Array:
        return jnp.broadcast_to(x, (size, *jnp.shape(x))) if dim is None else jnp.moveaxis(x, dim, 0)

    def merged(x: Array, axis: int) -> Array:
        return x.reshape(*x.shape[:axis], x.shape[axis] * x.shape[axis + 1], *x.shape[axis + 2 :])

    def bound(shape: Shape, residuals: Sequence[Array], linear: Sequence[Array]) -> list[Array]:
        return list(_bind(params["operator"], params["transposed"], shape, residuals, linear))

    linear = [leading(x, dim) for x, dim in zip(operands[count:], dims[count:], strict=True)]
    if all(dim is None for dim in dims[:count]):
        axis = int(shape.lanes)
        linear = [jnp.moveaxis(x, 0, axis) for x in linear]
        linear = [merged(x, axis) for x in linear] if shape.columns else linear
        results = bound(shape._replace(columns=size * max(shape.columns, 1)), operands[:count], linear)
        results = [x.reshape(*x.shape[:axis], size, shape.columns, *x.shape[axis + 1 :]) for x in results] if shape.columns else results
        return results, [axis] * len(results)
    whole = [leading(x, dim) for x, dim in zip(operands[:count], dims[:count], strict=True)]
    if not shape.lanes:
        results = bound(shape._replace(lanes=True), whole, linear)
    else:
        lanes = whole[0].shape[1]
        results = bound(shape, [merged(x, 0) for x in whole], [merged(x, 0) for x in linear])
        results = [x.reshape(size, lanes, *x.shape[1:]) for x in results]
    return results, [0] * len(results)


ad.primitive_jvps[_sweep] = _derivative
ad.primitive_transposes[_sweep] = _transpose
batching.primitive_batchers[_sweep] = _batched
