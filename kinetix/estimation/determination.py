"""What the residuals determine: the one decision on rank that the search, the covariance and the check of a study share.

Columns of J are divided by their lengths, so that units play no part, and singular values are counted. Two things are not
information and are left out of the count: a column that is no longer than the rounding of the arithmetic that made it (scaled to
length one it would look like any other), and a singular value below what such rounding makes of an exact zero.

Sources: A. van der Sluis, Numer. Math. 14 (1969) 14 (column scaling); G. W. Stewart, SIAM J. Sci. Stat. Comput. 5 (1984) 403 (rank
from the known size of the errors of the columns).
"""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple, TypeAlias

import jax
import numpy as np
from jax import numpy as jnp

Array: TypeAlias = np.ndarray | jax.Array

RANK_TOLERANCE = 1e-10
"""A scaled singular value below this share of the largest counts as zero."""


class Determination(NamedTuple):
    """What `determine` found. Coordinates that are held take no part."""

    silent: Array
    """Coordinates whose column is rounding or zero [p]: nothing measured changes with them."""
    scale: Array
    """What each column was divided by: its length, 1 where there is nothing to see [p]."""
    left: Array
    """Left singular vectors as columns [rows, p]."""
    values: Array
    """Singular values of the scaled columns [p], descending, zero for what is silent or held."""
    right: Array
    """Right singular vectors as rows [p, p]."""
    determined: Array
    """Which singular values are information [p]: the first `rank`."""
    rank: Array
    """Directions that the residuals determine."""
    ratio: Array
    """Smallest over largest singular value of the coordinates that are not held; 1 where all are held."""


def determine(columns: Array, held: Array, floor: Array | float = 0.0, tolerance: float = RANK_TOLERANCE) -> Determination:
    """The rank of a Jacobian, or of its triangle.

    Args:
        columns: J, or the triangle of it [rows, p], rows >= p; finite.
        held: coordinates that take no part [p].
        floor: error of the length of each column [p], see `column_floor`; 0 where nothing is known of it.
        tolerance: a singular value below this share of the largest is zero.

    >>> found = determine(np.array([[1.0, 2.0, 1e-17], [1.0, 2.0, 3e-17], [0.0, 0.0, 2e-17]]), np.zeros(3, bool), np.full(3, 1e-14))
    >>> int(found.rank), found.silent.tolist()
    (1, [False, False, True])
    """
    xp = namespace(columns)
    lengths = xp.sqrt((columns**2).sum(axis=0))
    silent = silent_columns(lengths, floor) & ~held
    out = silent | held
    scale = xp.where(out, 1.0, lengths)
    left, values, right = xp.linalg.svd(xp.where(out, 0.0, columns / scale), full_matrices=False)
    error = xp.sqrt((xp.where(out, 0.0, right * (floor / scale)) ** 2).sum(axis=1))
    # what is held or silent has exact zeros, whose vectors are theirs alone
    determined = values > xp.maximum(tolerance * values[:1], error)
    free = (~held).sum()
    largest = values[:1].sum()
    lowest = xp.where((xp.arange(values.shape[0]) == free - 1) & ~xp.any(silent), values, 0.0).sum()
    ratio = xp.where(free > 0, lowest / xp.where(largest > 0, largest, 1.0), 1.0)
    return Determination(silent, scale, left, values, right, determined, determined.sum(), ratio)


def null_directions(found: Determination, held: np.ndarray) -> np.ndarray:
    """Changes of the parameters that leave the residuals as they are, largest component 1, [p - held - rank, p].

    A silent coordinate is a direction of its own; the others come from the columns that are seen.
    """
    p = held.size
    alone = np.eye(p)[found.silent]
    seen = np.flatnonzero(~(held | found.silent))
    columns = (found.left * found.values) @ found.right
    vectors = np.linalg.svd(columns[:, seen])[2][int(found.rank) :]
    together = np.zeros((len(vectors), p))
    together[:, seen] = vectors / found.scale[seen]
    sizes = np.take_along_axis(together, np.abs(together).argmax(axis=1)[:, None], axis=1) if len(vectors) else np.ones((0, 1))
    return np.concatenate([together / sizes, alone])


def silent_columns(lengths: Array, floor: Array | float) -> Array:
    """Which columns are zero or rounding, from their lengths [p]."""
    return lengths <= floor


def column_floor(noise: float, size: Array | float, reach: Array) -> Array:
    """Length up to which a column is rounding [p].

    A derivative by a parameter of size `reach` is a difference of terms of about `size`/`reach`, each with the relative error
    `noise`.

    Args:
        noise: relative error of the derivatives of the predictions.
        size: norm of the weighted predictions.
        reach: size of each parameter [p]; 1 where its logarithm is fitted, infinite where it may as well be zero.
    """
    return noise * size / reach


def namespace(array: Array) -> ModuleType:
    """NumPy for NumPy's arrays, JAX for all others."""
    return np if isinstance(array, np.ndarray) else jnp
