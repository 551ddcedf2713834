"""What every solver is given: equations dy/dt = rhs(t, y, args), of which nothing else is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike, DTypeLike

Arguments = Any
"""Any pytree of arrays and numbers. Its floating-point leaves can be differentiated."""

Structure = Any
"""The shape of a pytree (`jax.tree_util.PyTreeDef`, which type checkers do not take as a type)."""


class System(NamedTuple):
    """The equations dy/dt = rhs(t, y, args) of one lane.

    rhs : (t, y [n], args) -> [n].
    jacobian : (t, y, args) -> [n, n], d rhs_i / d y_j; found by forward mode if None.
    autonomous : True promises that d rhs/dt is zero inside every segment between breaks, and saves computing it.

    Functions are best defined once, at module level, since equal systems share one trace. `steady_state` calls them with t = 0.
    """

    rhs: Callable[[Array, Array, Arguments], Array]
    jacobian: Callable[[Array, Array, Arguments], Array] | None = None
    autonomous: bool = False

    def rates(self, t: Array, y: Array, args: Arguments) -> Array:
        """dy/dt [n], in the type of y."""
        return _shaped(self.rhs(t, y, args), y.shape, y, "rhs")

    def matrix(self, t: Array, y: Array, args: Arguments) -> Array:
        """d rhs/dy [n, n], in the type of y."""
        if self.jacobian is None:
            return jax.jacfwd(self.rates, argnums=1)(t, y, args)
        return _shaped(self.jacobian(t, y, args), y.shape * 2, y, "jacobian")


def _shaped(value: ArrayLike, shape: tuple[int, ...], y: Array, what: str) -> Array:
    result = jnp.asarray(value, y.dtype)
    if result.shape != shape:
        raise ValueError(f"{what} gives an array of shape {result.shape} for a state of shape {y.shape}: it has to give {shape}.")
    return result


def floating_type(value: Array) -> DTypeLike:
    """The type a solve of this state is done in: its own, or the default floating-point type where it holds integers."""
    return value.dtype if jnp.issubdtype(value.dtype, jnp.floating) else jnp.result_type(float)


def check_vector(what: str, value: Array) -> None:
    """Raise ValueError unless `value` is one-dimensional and not empty; lanes are added by `jax.vmap`."""
    if value.ndim != 1 or value.size == 0:
        raise ValueError(f"{what} has shape {value.shape}: write a vector of at least one entry, and use jax.vmap for several lanes.")


def all_finite(tree: Arguments) -> Array:
    """Whether every floating-point number of a pytree is finite."""
    leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.inexact)]))
