"""Lack of fit: what the model misses beside what repeated measurements scatter.

    pure error   sum over points i and repetitions j of w^2 (y_ij - mean_i)^2,   n - m degrees of freedom
    lack of fit  SSR - pure error,                                               m - p degrees of freedom
    F = (lack of fit/(m - p)) / (pure error/(n - m))

n values at m different points, p parameters. If the model is right, F follows the F distribution (exactly for a linear model).

Sources: N. R. Draper and H. Smith, Applied Regression Analysis (3rd ed., Wiley 1998), section 2.1; D. M. Bates and D. G. Watts, Nonlinear
Regression Analysis and Its Applications (Wiley 1988), section 1.3.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special


@dataclass(frozen=True)
class LackOfFit:
    """The split of a sum of squares; `F` and `p_value` are NaN where a part has no degree of freedom or replicates do not scatter."""

    points: int
    """Points that were measured more than once."""
    values: int
    """Values at these points."""
    pure_ssr: float
    pure_dof: int
    lack_ssr: float
    lack_dof: int
    F: float
    p_value: float
    """Probability of an F at least this large if the model is right."""

    @property
    def pure_error(self) -> float:
        """Standard deviation of replicates, in the units of the objective; NaN without any."""
        return float(np.sqrt(self.pure_ssr / self.pure_dof)) if self.pure_dof > 0 else np.nan


def lack_of_fit(values: ArrayLike, weights: ArrayLike, points: ArrayLike, ssr: float, rank: int) -> LackOfFit:
    """Pure error and lack of fit.

    Args:
        values: measured [n].
        weights: of the residuals, 1/sigma [n].
        points: equal numbers where values were measured at the same point [n].
        ssr: sum of squared weighted residuals of the model.
        rank: parameters that the data determine.

    >>> found = lack_of_fit([1.0, 3.0, 5.0, 5.0, 8.0], np.ones(5), [0, 0, 1, 1, 2], ssr=5.0, rank=2)
    >>> found.pure_ssr, found.pure_dof, found.lack_dof, found.F
    (2.0, 2, 1, 3.0)
    """
    y, w2 = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64) ** 2
    _, group, count = np.unique(np.asarray(points), return_inverse=True, return_counts=True)
    # from the first value of each point, so that equal values have no scatter at all
    first = np.zeros(count.size)
    first[group[::-1]] = y[::-1]
    total = np.bincount(group, w2)
    deviation = y - first[group]
    mean = np.bincount(group, w2 * deviation) / total
    pure = float(np.sum(w2 * (deviation - mean[group]) ** 2))
    pure_dof, lack_dof = y.size - count.size, count.size - rank
    lack = max(ssr - pure, 0.0)
    judged = pure_dof > 0 and lack_dof > 0 and pure > 0
    F = lack / lack_dof / (pure / pure_dof) if judged else np.nan
    p_value = float(special.fdtrc(lack_dof, pure_dof, F)) if judged else np.nan
    repeated = count > 1
    return LackOfFit(int(repeated.sum()), int(count[repeated].sum()), pure, pure_dof, lack, lack_dof, float(F), p_value)
