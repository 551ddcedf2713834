"""Linearised uncertainty from the final triangle: covariance, what the data do not determine, quantiles, the delta method.

Near the optimum r(theta) is replaced by its tangent plane, so the estimates scatter with s^2 (J' J)^-1. What counts as singular is
decided in `kinetix.estimation.determination`. A parameter without an ordinary error (on a bound, or part of a direction that the
data do not see) has NaN, never 0 and never a negative variance.

Source: G. A. F. Seber and C. J. Wild, Nonlinear Regression (Wiley 1989), sections 2.1.2 and 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from kinetix.estimation.determination import Determination, determine, null_directions

LEAK = 1e-6
"""A direction with a larger share than this in the null space is not determined."""


@dataclass(frozen=True)
class LinearCovariance:
    """What the tangent plane says of the estimates; made by `linear_covariance`."""

    covariance: np.ndarray
    """Joint covariance [p, p]; rows and columns of NaN for parameters without an ordinary error."""
    stderr: np.ndarray
    """Standard errors [p], NaN where there is none. Those of the others hold parameters on a bound fixed."""
    correlation: np.ndarray
    """Correlation [p, p], 1 on the diagonal, NaN as in `covariance`."""
    held: np.ndarray
    """Parameters held at their value [p]."""
    undetermined: np.ndarray
    """Parameters that take part in a direction the data do not see [p]."""
    null_directions: np.ndarray
    """Changes of the parameters that leave the residuals as they are [p - held - rank, p], largest component 1."""
    scale: np.ndarray
    """Length of each column of J [p], 1 where there is nothing to see: a change of 1/scale counts as much in one parameter as another."""
    rank: int
    """Directions that the data determine, among those not held."""
    condition_number: float
    """Largest over smallest singular value of J with columns of length one; inf where singular, 1 where nothing is free."""
    ssr: float
    """Sum of squared weighted residuals."""
    dof: int
    """Degrees of freedom: observations less `rank`."""
    s: float
    """Residual standard deviation sqrt(ssr / dof) in units of sigma; NaN without degrees of freedom."""
    trusted: bool
    """Whether the covariance rests on the given sigma (else it is multiplied by s^2)."""
    root: np.ndarray
    """Square root of the covariance over the determined directions [p, rank]: covariance = root root' where it exists."""

    @property
    def p_value(self) -> float:
        """Probability of a sum of squares at least this large if model and sigma are right."""
        return chi_square_p_value(self.ssr, self.dof)

    def propagate(self, jacobian: ArrayLike) -> np.ndarray:
        """Covariance [q, q] of quantities with the derivatives `jacobian` [q, p], by the delta method.

        Held parameters are taken as known, as in the errors of the others. A quantity can be determined although the parameters in
        it are not (a ratio, where only the ratio is seen); those that are not have NaN.
        """
        G = np.where(self.held, 0.0, np.atleast_2d(np.asarray(jacobian, dtype=np.float64)))
        spread = G @ self.root
        covariance = spread @ spread.T
        reach = np.linalg.norm(G / self.scale, axis=1)[:, None] * np.linalg.norm(self.null_directions * self.scale, axis=1)
        lost = np.any(np.abs(G @ self.null_directions.T) > LEAK * reach, axis=1)
        covariance[lost, :] = np.nan
        covariance[:, lost] = np.nan
        return covariance


def shares(directions: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """How much each parameter takes part in directions [d, p], whatever its unit: components of scaled vectors of length one."""
    scaled = np.abs(directions * scale)
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)


def linear_covariance(
    R: ArrayLike, *, n_observations: int, trusted: bool, held: ArrayLike | None = None, determination: Determination | None = None
) -> LinearCovariance:
    """Covariance C = f (J' J)^-1 of least-squares estimates; f = 1 where sigma is trusted, s^2 = ssr / dof where not.

    Args:
        R: triangle of the weighted [J r] at the optimum [p + 1, p + 1].
        n_observations: values that were used; zero rows do not count.
        trusted: sigma is known absolutely; else it is scaled, or estimated from the residuals.
        held: parameters on a bound, or fixed, which the others' errors take as known [p].
        determination: what the residuals determine, where the search has decided it; default: by the triangle alone.

    >>> fit = linear_covariance([[2.0, 0.0, 0.1], [0.0, 4.0, 0.0], [0.0, 0.0, 3.0]], n_observations=11, trusted=False)
    >>> fit.stderr.round(4).tolist(), fit.dof, round(fit.s, 4)
    ([0.5003, 0.2501], 9, 1.0006)
    """
    triangle = np.asarray(R, dtype=np.float64)
    p = triangle.shape[0] - 1
    fixed = np.zeros(p, bool) if held is None else np.array(held, dtype=bool)
    # a Jacobian that could not be computed determines nothing
    columns = triangle[:-1, :-1] if np.isfinite(triangle).all() else np.zeros((p, p))
    found = determine(columns, fixed) if determination is None else determination
    rank = int(found.rank)
    null = null_directions(found, fixed)
    undetermined = np.any(shares(null, np.asarray(found.scale)) > LEAK, axis=0)

    with np.errstate(over="ignore"):
        ssr = float(np.sum(triangle[:, -1] ** 2))
    dof = n_observations - rank
    s = float(np.sqrt(ssr / dof)) if dof > 0 else float("nan")
    root = np.asarray(found.right[:rank].T / found.values[:rank] / found.scale[:, None])  # of J'J, over what is determined
    unit = np.where(fixed | undetermined, np.nan, root @ root.T)
    unit[fixed | undetermined, :] = np.nan
    spread = np.sqrt(np.diagonal(unit))
    correlation = np.clip(unit / np.outer(spread, spread), -1.0, 1.0)
    np.fill_diagonal(correlation, np.where(np.isnan(spread), np.nan, 1.0))
    factor = 1.0 if trusted else s if s > 0 else np.nan  # where not a residual is left, nothing tells the scatter
    free = p - int(np.count_nonzero(fixed))
    return LinearCovariance(
        covariance=unit * factor**2,
        stderr=spread * factor,
        correlation=correlation,
        held=fixed,
        undetermined=undetermined,
        null_directions=null,
        scale=np.asarray(found.scale),
        rank=rank,
        condition_number=1.0 if free == 0 else 1 / float(found.ratio) if found.ratio > 0 else float("inf"),
        ssr=ssr,
        dof=dof,
        s=s,
        trusted=trusted,
        root=root * factor,
    )


def quantile(level: float = 0.95, dof: int | None = None) -> float:
    """Half-width in standard errors of a two-sided interval that covers with probability `level`.

    Normal where `dof` is None (sigma trusted), Student's t with `dof` degrees of freedom where sigma was scaled or
    estimated; NaN without degrees of freedom.

    >>> round(quantile(0.95), 4), round(quantile(0.95, 7), 4)
    (1.96, 2.3646)
    """
    upper = 0.5 * (1.0 + level)
    if dof is None:
        return float(special.ndtri(upper))
    return float(special.stdtrit(dof, upper)) if dof > 0 else float("nan")


def chi_square_p_value(chi_square: float, dof: int) -> float:
    """Probability that a chi-square variable with `dof` degrees of freedom exceeds `chi_square`; NaN without any.

    >>> round(chi_square_p_value(24.801751, 7), 6)
    0.000823
    """
    return float(special.chdtrc(dof, chi_square)) if dof > 0 else float("nan")


def propagate(jacobian: ArrayLike, covariance: ArrayLike) -> np.ndarray:
    """Covariance G C G' [q, q] of quantities with derivatives `jacobian` G [q, p], by the delta method.

    A parameter without an ordinary error (NaN in C [p, p]) spoils only the quantities that change with it.

    >>> propagate([[1.0, 0.0], [1.0, 1.0]], [[0.04, float("nan")], [float("nan"), float("nan")]]).tolist()
    [[0.04, nan], [nan, nan]]
    """
    G = np.atleast_2d(np.asarray(jacobian, dtype=np.float64))
    C = np.asarray(covariance, dtype=np.float64)
    unknown = np.isnan(np.diagonal(C))
    known = ~unknown
    result = G[:, known] @ C[np.ix_(known, known)] @ G[:, known].T
    lost = np.any(G[:, unknown] != 0, axis=1)
    result[lost, :] = np.nan
    result[:, lost] = np.nan
    return result
