"""The derivative rule of a solve: form the whole sensitivity matrix by forward mode, then contract it with the tangents.

A rule that pushes tangents through a `while_loop` cannot be transposed, so reverse mode fails. Here the tangent is the product of
a matrix, which depends on the primal values alone, with the incoming tangents: linear, and so it transposes. The matrix carries the same
rule, so second derivatives (forward over reverse, reverse over reverse, and so on) follow. Only the arguments that are really
perturbed get columns, and one solve gives values and matrix. Where there are many of them, a program may offer the first matrix as an
operator instead (`sweeps`), which is never formed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial, reduce
from typing import Any, Protocol

import jax
import jax.custom_batching
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.custom_derivatives import SymbolicZero

from kinetix.solvers.sweeps import Operator, product

Levels = tuple[tuple[int, ...], ...]
"""Which arguments are perturbed, once for each order of differentiation that has been taken."""


Found = tuple[tuple[Array, ...], Array, Any]
"""Values and their matrices, whether they are usable, and the rest; see `differentiable`."""


class Program(Protocol):
    """A solve of flat arguments, hashable so that equal programs share one trace.

    It is differentiated by forward mode through whatever loops it holds.
    """

    @property
    def differentiable(self) -> tuple[int, ...]:
        """The arguments that may be perturbed; the derivative with respect to any other is zero."""
        ...

    @property
    def aligned(self) -> int | None:
        """The argument, if any, of which entry i changes `y[i]` only: it costs one column instead of its length."""
        ...

    @property
    def refused(self) -> tuple[tuple[int, str], ...]:
        """Arguments of which a zero derivative would be wrong, with what to say."""
        ...

    def __call__(self, levels: Levels, arguments: tuple[Array, ...]) -> tuple[Array, Array, Any]:
        """`(y, usable, rest)`: values, a mask over their leading axes, and a pytree of what is never differentiated.

        Values that are not usable must have zero tangents; the rule makes them NaN.
        """
        ...

    @property
    def fewest(self) -> int:
        """From how many lanes of a `jax.vmap` on `many` is asked."""
        ...

    def many(self, levels: Levels, arguments: tuple[Array, ...]) -> Found | None:
        """What `differentiable` gives for all lanes of a `jax.vmap` at once: arguments and results have a leading lane axis.

        None: lane by lane.
        """
        ...

    def operator(self, active: tuple[int, ...], columns: int) -> Operator | None:
        """The matrix in the active arguments as an operator, where that is better than forming it for so many columns; None: form it.

        Its residuals are the arguments, the values, and which of them are usable.
        """
        ...


SMALL = 16


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def differentiable(program: Program, levels: Levels, *arguments: Array) -> tuple[tuple[Array, ...], Array, Any]:
    """`((y, ...), usable, rest)` of a program with the derivative rule; `levels` is `()` for the caller, and the rule fills it.

    With n levels the first entry holds 2^n arrays: y, its sensitivity matrix in the last axis, the matrices of both, and so on.
    """
    return _by_lane(program, levels)(*arguments)


@lru_cache(maxsize=256)
def _by_lane(program: Program, levels: Levels) -> Callable[..., Found]:
    """`_evaluate` with a batching rule that offers all lanes to the program. It is never differentiated itself: the rule below is."""

    @jax.custom_batching.custom_vmap
    def one(*arguments: Array) -> Found:
        return _evaluate(program, levels, arguments)

    @one.def_vmap
    def all_lanes(lanes: int, batched: Sequence[bool], *arguments: Array) -> tuple[Found, Any]:
        found = None
        if lanes >= program.fewest:
            spread = zip(arguments, batched, strict=True)
            found = _together(program, levels)(
                *(jnp.asarray(x) if own else jnp.broadcast_to(x, (lanes, *jnp.shape(x))) for x, own in spread)
            )
        if found is None:
            axes = tuple(0 if own else None for own in batched)
            found = jax.vmap(lambda *lane: _evaluate(program, levels, lane), axes, axis_size=lanes)(*arguments)
        return found, jax.tree.map(lambda _: True, found)

    return one


@lru_cache(maxsize=256)
def _together(program: Program, levels: Levels) -> Callable[..., Found | None]:
    """`program.many`, for which the lanes of a `jax.vmap` around it are more lanes."""

    @jax.custom_batching.custom_vmap
    def lanes(*arguments: Array) -> Found | None:
        return program.many(levels, arguments)

    @lanes.def_vmap
    def more_lanes(outer: int, batched: Sequence[bool], *arguments: Array) -> tuple[Found | None, Any]:
        whole = [x if own else jnp.broadcast_to(x, (outer, *x.shape)) for x, own in zip(arguments, batched, strict=True)]
        size = whole[0].shape[1]
        found = lanes(*(x.reshape(outer * size, *x.shape[2:]) for x in whole))
        found = jax.tree.map(lambda x: x.reshape(outer, size, *x.shape[1:]), found)
        return found, jax.tree.map(lambda _: True, found)

    return lanes


@partial(jax.jit, static_argnums=(0, 1))
def _evaluate(program: Program, levels: Levels, arguments: tuple[Array, ...]) -> tuple[tuple[Array, ...], Array, Any]:
    return _nested(program, levels, levels, arguments)


def _nested(program: Program, levels: Levels, remaining: Levels, arguments: tuple[Array, ...]) -> tuple[tuple[Array, ...], Array, Any]:
    if not remaining:
        y, usable, rest = program(levels, arguments)
        return (y,), usable, rest
    *lower, active = remaining

    def shifted(shift: Array) -> tuple[tuple[Array, ...], tuple[tuple[Array, ...], Array, Any]]:
        moved = _move(program, active, arguments, shift)
        values, usable, rest = _nested(program, levels, tuple(lower), moved)
        return values, (values, usable, rest)

    columns = columns_of(program, active, arguments)
    dtype = jnp.result_type(*(arguments[i] for i in active))
    matrices, (values, usable, rest) = jax.jacfwd(shifted, has_aux=True)(jnp.zeros(columns, dtype))
    return values + matrices, usable, rest


def columns_of(program: Program, active: tuple[int, ...], arguments: tuple[Array, ...]) -> int:
    """How many columns the matrix has in these arguments."""
    return sum(1 if i == program.aligned else jnp.size(arguments[i]) for i in active)


def _move(program: Program, active: tuple[int, ...], arguments: tuple[Array, ...], shift: Array) -> tuple[Array, ...]:
    moved = list(arguments)
    start = 0
    for i in active:
        argument = arguments[i]
        if i == program.aligned:
            step, start = shift[start], start + 1
        else:
            step, start = shift[start : start + argument.size].reshape(argument.shape), start + argument.size
        moved[i] = argument + step.astype(argument.dtype)
    return tuple(moved)


def contract(aligned: int | None, active: tuple[int, ...], matrix: Array, tangents: tuple[Array, ...]) -> Array:
    """The matrix in the active arguments times the tangents of all arguments."""
    total = jnp.zeros(matrix.shape[:-1], matrix.dtype)
    start = 0
    for i in active:
        tangent = tangents[i].astype(matrix.dtype)
        if i == aligned:
            total = total + matrix[..., start] * tangent.reshape(tangent.shape + (1,) * (total.ndim - tangent.ndim))
            start += 1
        else:
            total = total + _product(matrix[..., start : start + tangent.size], tangent.ravel())
            start += tangent.size
    return total


def _product(matrix: Array, vector: Array) -> Array:
    """Their product. XLA runs many small products of matrices slower than the sums of which they consist."""
    if vector.size > SMALL:
        return matrix @ vector
    return reduce(jnp.add, [matrix[..., j] * vector[j] for j in range(vector.size)], jnp.zeros(matrix.shape[:-1], matrix.dtype))


def _honest(tangent: Array, usable: Array) -> Array:
    """NaN tangents where the values are not usable; in reverse mode zero cotangents there stay zero, and any other becomes NaN.

    So a masked failure does not spoil the gradient of its neighbours, and one that is not masked shows. The NaN of forward mode
    is added, of which the transpose knows nothing; that of reverse mode comes from two factors that let everything but zero
    overflow before it meets the zero rows of the matrix.
    """
    usable = usable.reshape(usable.shape + (1,) * (tangent.ndim - usable.ndim))
    factor = jnp.where(usable, 1.0, jnp.finfo(tangent.dtype).max).astype(tangent.dtype)
    return tangent * factor * factor + jnp.where(usable, 0.0, jnp.nan).astype(tangent.dtype)


def _no_tangent(value: Array) -> Array | np.ndarray:
    if jnp.issubdtype(value.dtype, jnp.inexact):
        return jnp.zeros_like(value)
    return np.zeros(value.shape, jax.dtypes.float0)


def _rule(program: Program, levels: Levels, arguments: tuple[Array, ...], tangents: tuple[Any, ...]) -> Any:
    perturbed = [i for i, tangent in enumerate(tangents) if not isinstance(tangent, SymbolicZero)]
    for i, reason in program.refused:
        if i in perturbed:
            raise TypeError(reason)
    active = tuple(i for i in perturbed if i in program.differentiable)
    if not active:
        values, usable, rest = differentiable(program, levels, *arguments)
        changes = tuple(jnp.zeros_like(value) for value in values)
    elif not levels and (operator := program.operator(active, columns_of(program, active, arguments))) is not None:
        values, usable, rest = differentiable(program, levels, *arguments)
        change = product(operator, (*arguments, *values, usable), tuple(tangents[i] for i in active))
        changes = (_honest(change, usable),)
    else:
        both, usable, rest = differentiable(program, (*levels, active), *arguments)
        half = len(both) // 2
        values = both[:half]
        changes = tuple(contract(program.aligned, active, matrix, tangents) for matrix in both[half:])
        changes = (_honest(changes[0], usable), *changes[1:])
    return (values, usable, rest), (changes, _no_tangent(usable), jax.tree.map(_no_tangent, rest))


differentiable.defjvp(_rule, symbolic_zeros=True)
