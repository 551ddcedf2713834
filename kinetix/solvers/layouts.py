"""Pytrees of arrays as flat lists of entries, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.solvers.scalars import Scalar, entries, is_entry


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
