"""Small dense linear systems by Gauss-Jordan loops.

No LAPACK: batches of any size neither stall nor wait for each other's threads.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax


class Elimination(NamedTuple):
    """What `gauss_jordan` finds of a matrix [n, n].

    inverse : [n, n].
    smallest : the smallest pivot, as a measure of how singular the matrix is.
    sign : of the determinant, 1 or -1; 0 where it is zero.
    """

    inverse: Array
    smallest: Array
    sign: Array


def gauss_jordan(matrix: Array) -> Elimination:
    """The inverse, the smallest pivot, and the sign of the determinant.

    Rows are scaled to a largest entry of one, and each pivot is the largest entry of its column among the rows not used yet.
    A smallest pivot of the order of the rounding unit means that the matrix is singular to working precision; an exactly
    singular one gives entries that are not finite.

    Args:
        matrix: [n, n].

    Source: G. H. Golub and C. F. Van Loan, Matrix Computations, section 3.4.

    >>> inverse, smallest, sign = gauss_jordan(jnp.array([[0.0, 2.0], [4.0, 0.0]]))
    >>> print(inverse.tolist(), float(smallest), float(sign))
    [[0.0, 0.25], [0.5, 0.0]] 1.0 -1.0
    """
    n = matrix.shape[0]
    rows = lax.iota(jnp.int32, n)
    scale = 1.0 / jnp.max(jnp.abs(matrix), axis=1, keepdims=True)
    tableau = jnp.concatenate([matrix * scale, scale * jnp.eye(n, dtype=matrix.dtype)], axis=1)

    def eliminate(column: Array, state: Elimination) -> Elimination:
        tableau, smallest, sign = state
        entries = lax.dynamic_index_in_dim(tableau, column, 1, keepdims=False)
        size = jnp.where(rows < column, -1.0, jnp.abs(entries))
        # not argmax: JAX lowers it in the host's precision, which fails under a 32-bit host's jit
        best = jnp.minimum(jnp.min(jnp.where(size == jnp.max(size), rows, n)), n - 1)
        displaced = lax.dynamic_index_in_dim(tableau, column, 0, keepdims=False)
        pivot = tableau[best] / entries[best]
        swapped = jnp.where((rows == best)[:, None], displaced, tableau)
        factors = jnp.where(rows == best, entries[column], entries)
        tableau = jnp.where((rows == column)[:, None], pivot, swapped - factors[:, None] * pivot)
        swap = jnp.where(best == column, jnp.sign(entries[best]), -jnp.sign(entries[best]))
        return Elimination(tableau, jnp.minimum(smallest, jnp.max(size)), sign * swap)

    start = Elimination(tableau, jnp.asarray(jnp.inf, matrix.dtype), jnp.ones((), matrix.dtype))
    tableau, smallest, sign = lax.fori_loop(jnp.int32(0), jnp.int32(n), eliminate, start)
    return Elimination(tableau[:, n:], smallest, sign)


@jax.custom_jvp
def solve(matrix: Array, inverted: Array, right: Array) -> Array:
    """The solution x of `matrix` x = `right` by the given inverse, which itself carries no derivatives.

    dx = inverse (d right - d matrix x), at every order, so that one elimination serves all right-hand sides and all tangents.
    For forward mode only.
    """
    return inverted @ right


@solve.defjvp
def _solve_rule(primals: tuple[Array, Array, Array], tangents: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    matrix, inverted, right = primals
    x = solve(matrix, inverted, right)
    return x, solve(matrix, inverted, tangents[2] - tangents[0] @ x)
