"""Linear systems of scalars: LU without pivoting. Structural zeros cost nothing, since scalars leave them out.

For I/(h gamma) - J, of which the diagonal leads at any step that is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.sparse.csgraph import connected_components

from kinetix.solvers.reading import read
from kinetix.solvers.scalars import entries, is_zero


@partial(jax.tree_util.register_dataclass, data_fields=["rows"], meta_fields=["order"])
@dataclass(frozen=True)
class Factors:
    """L and U in one matrix [n, n], inverses of the pivots on its diagonal, with rows and columns in `order`."""

    rows: np.ndarray
    order: tuple[int, ...]

    def solve(self, right: Sequence[Any] | np.ndarray) -> np.ndarray:
        """x [n] with `matrix` x = `right`."""
        n, rows = len(right), self.rows
        x = [right[i] for i in self.order]
        for i in range(n):
            for j in range(i):
                x[i] = x[i] - rows[i, j] * x[j]
        for i in reversed(range(n)):
            for j in range(i + 1, n):
                x[i] = x[i] - rows[i, j] * x[j]
            x[i] = x[i] * rows[i, i]
        places = {place: i for i, place in enumerate(self.order)}
        return entries([x[places[i]] for i in range(n)])


def factorised(matrix: np.ndarray) -> Factors:
    """The factors of a matrix [n, n] of scalars."""
    order = elimination_order(structure(matrix))
    rows = matrix[np.ix_(order, order)].copy()
    n = len(order)
    for k in range(n):
        rows[k, k] = 1.0 / rows[k, k]
        for i in range(k + 1, n):
            rows[i, k] = rows[i, k] * rows[k, k]
            for j in range(k + 1, n):
                rows[i, j] = rows[i, j] - rows[i, k] * rows[k, j]
    return Factors(rows, order)


def structure(matrix: np.ndarray) -> np.ndarray:
    """Where a matrix of scalars is not structurally zero."""
    return np.array([[not is_zero(entry) for entry in row] for row in matrix])


def smallest_pivot(matrix: np.ndarray, factors: Factors) -> Any:
    """The smallest magnitude of a pivot, relative to the largest entry of its row: a measure of how singular the matrix is."""
    inverses = entries([factors.rows[i, i] for i in range(len(factors.order))])
    largest = entries([read(lambda row: jnp.max(jnp.abs(row)), entries([x for x in matrix[i] if not is_zero(x)])) for i in factors.order])
    return read(lambda inverses, largest: 1.0 / jnp.max(jnp.abs(inverses) * largest), inverses, largest)


def is_determinant_positive(factors: Factors) -> Any:
    """Whether an even number of pivots is negative."""
    pivots = entries([factors.rows[i, i] for i in range(len(factors.order))])
    return read(lambda pivots: ~reduce(jnp.logical_xor, [pivots[i] < 0 for i in range(len(factors.order))]), pivots)


def elimination_order(filled: np.ndarray) -> tuple[int, ...]:
    """The order of elimination that fills few zeros: the next unknown is the one with the fewest products.

    Args:
        filled: [n, n], where the matrix is not zero.

    Source: H. M. Markowitz, Management Science 3, 255 (1957), on the diagonal.
    """
    filled = filled | np.eye(len(filled), dtype=bool)
    left, order = list(range(len(filled))), []
    while left:
        part = filled[np.ix_(left, left)]
        products = (part.sum(axis=0) - 1) * (part.sum(axis=1) - 1)
        best = left.pop(int(np.argmin(products)))
        order.append(best)
        filled |= np.outer(filled[:, best], filled[best])
    return tuple(order)


def coupled_parts(filled: np.ndarray) -> list[list[int]]:
    """The unknowns that act on each other, by way of others or not: the eigenvalues of a matrix are those of its diagonal blocks for them.

    Args:
        filled: [n, n], where the matrix is not zero.
    """
    count, part = connected_components(filled, directed=True, connection="strong")
    return [np.flatnonzero(part == i).tolist() for i in range(count)]
