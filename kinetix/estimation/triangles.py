"""Tall-skinny QR: the upper triangle of [J r], in blocks of rows and then in blocks of triangles.

The triangle holds all that a Gauss-Newton step, a gradient, a covariance and a sum of squares need, because
[J r]' [J r] = R' R. It is small whatever the number of rows, so the Jacobian is never stored whole, and what
devices exchange is p + 1 numbers squared.

Source: Demmel, Grigori, Hoemmen and Langou, Communication-optimal parallel and sequential QR and LU
factorizations, SIAM J. Sci. Comput. 34 (2012) A206.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

ROWS = 64
"""Rows of a block: small enough for the first cache, large enough to be worth a call (measured)."""


def triangle(jacobian: jax.Array, residuals: jax.Array, *, rows: int = ROWS) -> jax.Array:
    """Upper triangle R of [J r] with R' R = [J r]' [J r] and no negative diagonal element.

    Args:
        jacobian: J [m, p].
        residuals: r [m]; a row of zeros changes nothing.
        rows: of a block; a wide Jacobian takes more.

    Returns:
        R [p + 1, p + 1]: R[:p, :p] is the triangle of J, R[:p, p] the projected residuals, and the norm of the last column is
        the norm of the residuals.

    >>> from kinetix.precision import float64
    >>> with float64():
    ...     R = triangle(jnp.asarray([[3.0], [4.0]]), jnp.asarray([5.0, 0.0]))
    ...     print(R.round(12).tolist())
    [[5.0, 3.0], [0.0, 4.0]]
    """
    return _reduce(jnp.concatenate([jacobian, residuals[:, None]], axis=1), rows)


def merge(triangles: jax.Array, *, rows: int = ROWS) -> jax.Array:
    """One triangle from a stack of triangles [n, p + 1, p + 1], as if their rows had been one Jacobian.

    >>> from kinetix.precision import float64
    >>> with float64():
    ...     print(merge(jnp.asarray([[[3.0, 0.0], [0.0, 0.0]], [[4.0, 5.0], [0.0, 0.0]]])).round(12).tolist())
    [[5.0, 4.0], [0.0, 3.0]]
    """
    return _reduce(triangles.reshape(-1, triangles.shape[-1]), rows)


def _reduce(matrix: jax.Array, rows: int) -> jax.Array:
    columns = matrix.shape[1]
    rows = max(rows, 2 * columns)  # a block of fewer than two triangles would not shrink
    while True:
        blocks = max(1, -(-matrix.shape[0] // rows))
        size = rows if blocks > 1 else max(matrix.shape[0], columns)
        padded = jnp.pad(matrix, ((0, blocks * size - matrix.shape[0]), (0, 0)))
        triangles = jnp.linalg.qr(padded.reshape(blocks, size, columns), mode="r")
        if blocks == 1:
            return _positive(triangles[0])
        matrix = triangles.reshape(blocks * columns, columns)


def _positive(triangle: jax.Array) -> jax.Array:
    """QR leaves the signs of rows open; a diagonal without negative elements closes the choice."""
    return triangle * jnp.where(jnp.diagonal(triangle) < 0, -1.0, 1.0)[:, None]
