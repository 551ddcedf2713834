"""float64 for every kinetix number, without changing the host program.

JAX computes in float32 unless told otherwise. kinetix enters JAX's 64-bit mode around its own work, per call and per
thread, and leaves the process's configuration alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.custom_derivatives import SymbolicZero


def float64() -> AbstractContextManager[Any]:
    """A context in which JAX computes in float64, in this thread only.

    >>> with float64():
    ...     print(jnp.ones(1).dtype)
    float64
    """
    return jax.enable_x64(True)


def lift(function: Callable[..., Any], compiler_options: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """`function` computed in float64, whoever calls it.

    - With concrete arguments: computed under `jit` in float64; results are NumPy arrays.
    - Inside a host's own jit, vmap, grad, ... in 64-bit mode: passed through as it is.
    - Inside those of a 32-bit host: computed in float64, results cast to the host's dtype. Derivatives are taken in float64
      as whole Jacobian matrices and contracted in the host's dtype, since a transposed float64 operation would otherwise
      run outside the 64-bit context.

    Args:
        function: pure function of pytrees of arrays, returning a pytree of arrays.
        compiler_options: of XLA, for calls with concrete arguments.

    >>> square = lift(lambda x: x * x)
    >>> square(3.0).dtype
    dtype('float64')
    >>> jax.grad(lambda x: square(x))(jnp.float32(3.0)).dtype
    dtype('float32')
    """
    compiled = jax.jit(function, compiler_options=None if compiler_options is None else dict(compiler_options))

    @wraps(function)
    def lifted(*args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        traced = any(isinstance(leaf, Tracer) for leaf in leaves)
        if traced and jnp.result_type(float) == jnp.float64:
            return function(*fresh(args))
        if not traced:
            with float64():
                result = compiled(*jax.tree.unflatten(tree, [_concrete64(leaf) for leaf in leaves]))
            return jax.tree.map(np.asarray, result)
        given = [isinstance(leaf, Tracer) for leaf in leaves]
        known = [None if is_traced else _concrete64(leaf) for leaf, is_traced in zip(leaves, given, strict=True)]
        out_tree = None

        def flat(*traced_leaves: Any) -> tuple[Any, ...]:
            nonlocal out_tree
            rest = iter(traced_leaves)
            full = [next(rest) if is_traced else jnp.asarray(leaf) for leaf, is_traced in zip(known, given, strict=True)]
            out, out_tree = jax.tree.flatten(function(*jax.tree.unflatten(tree, full)))
            return tuple(out)

        out = _bridge(flat)(*[leaf for leaf, is_traced in zip(leaves, given, strict=True) if is_traced])
        return jax.tree.unflatten(out_tree, out)

    return lifted


def fresh(tree: Any) -> Any:
    """`tree` with its concrete arrays copied.

    JAX (seen in 0.10.2) remembers the conversion of a NumPy constant by the array's identity: an array that was once a constant
    of 32-bit code enters 64-bit code rounded to float32. A copy has no past.
    """
    return jax.tree.map(lambda leaf: leaf if isinstance(leaf, Tracer) else np.array(leaf), tree)


def _concrete64(leaf: Any) -> np.ndarray:
    array = np.array(leaf)
    return array.astype(np.float64) if np.issubdtype(array.dtype, np.floating) else array


def _traced64(leaf: jax.Array) -> jax.Array:
    return leaf.astype(jnp.float64) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf


def _bridge(flat: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[jax.Array, ...]]:
    """`flat` in float64 for a 32-bit host's tracers, with a derivative rule whose transpose stays in the host's dtype."""

    @jax.custom_jvp
    def run(*leaves: jax.Array) -> tuple[jax.Array, ...]:
        host = jnp.result_type(*[leaf for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.floating)], jnp.float16)
        with float64():
            out = jax.jit(flat)(*[_traced64(leaf) for leaf in leaves])
            return tuple(leaf.astype(host) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf.astype(jnp.int32) for leaf in out)

    def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        out = run(*primals)
        active = tuple(i for i, tangent in enumerate(tangents) if not isinstance(tangent, SymbolicZero))
        rows = _bridge(lambda *leaves: tuple(jax.tree.leaves(_jacobian(flat, active)(*leaves))))(*primals)
        changes: list[Any] = []
        kept = iter(range(len(rows)))
        for leaf in out:
            if not jnp.issubdtype(leaf.dtype, jnp.floating):
                changes.append(np.zeros(leaf.shape, jax.dtypes.float0))
                continue
            change = jnp.zeros_like(leaf)
            for i in active:
                change = change + jnp.tensordot(rows[next(kept)], tangents[i].astype(leaf.dtype), axes=jnp.ndim(primals[i]))
            changes.append(change)
        return out, tuple(changes)

    run.defjvp(rule, symbolic_zeros=True)
    return run


def _jacobian(flat: Callable[..., tuple[Any, ...]], active: tuple[int, ...]) -> Callable[..., Any]:
    """Forward-mode Jacobians of the float outputs of `flat`: output-major, then active input."""

    def floats(*leaves: jax.Array) -> tuple[jax.Array, ...]:
        return tuple(leaf for leaf in flat(*leaves) if jnp.issubdtype(leaf.dtype, jnp.floating))

    return jax.jacfwd(floats, argnums=active)
