"""Uncertainty of M-estimates: the covariance of a robust fit from how often and how far its residuals are cut off.

    C = K^2 [sum psi(r)^2 / (n - p)] / [mean psi'(r)]^2 (J' J)^-1,   K = 1 + (p/n) var(psi') / (mean psi')^2

J is the Jacobian of the weighted residuals as they are, without the loss. For least squares psi(r) = r, and C is the ordinary one.

Source: P. J. Huber, Robust Statistics (Wiley 1981), section 7.6, equation 6.5 (also H1 of statsmodels).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinetix.analyses.covariance import LinearCovariance, linear_covariance
from kinetix.estimation.determination import Determination, determine

NAME = "M-estimator covariance (Huber 1981, section 7.6)"


def m_estimator_covariance(
    R: ArrayLike, influence: ArrayLike, curvature: ArrayLike, *, held: ArrayLike, determination: Determination
) -> LinearCovariance:
    """Covariance of M-estimates.

    Args:
        R: triangle of the weighted [J r] at the optimum, without the loss [p + 1, p + 1].
        influence: psi(r) of the residuals [n].
        curvature: psi'(r) [n].
        held: parameters on a bound, or fixed [p].
        determination: what the search found that the residuals do not see.

    Returns:
        As `linear_covariance`; NaN where the mean of psi' is not above zero: most residuals then lie where the loss falls off, and there is
        no error to be told.

    >>> residuals = np.array([0.5, -0.5, 1.0, -1.0])  # least squares of a mean
    >>> R = [[2.0, 0.0], [0.0, np.sqrt(2.5)]]
    >>> nothing = determine(np.array([[2.0]]), np.zeros(1, bool))
    >>> found = m_estimator_covariance(R, residuals, np.ones(4), held=[False], determination=nothing)
    >>> bool(np.isclose(found.stderr[0], np.sqrt(2.5 / 3 / 4)))
    True
    """
    psi, slope = np.asarray(influence, dtype=np.float64), np.asarray(curvature, dtype=np.float64)
    triangle, fixed = np.asarray(R, dtype=np.float64), np.array(held, dtype=bool)
    lengths = np.linalg.norm(triangle[:-1, :-1], axis=0)
    own = determine(triangle[:-1, :-1], fixed, np.where(determination.silent, lengths, 0.0))
    linear = linear_covariance(triangle, n_observations=psi.size, trusted=True, held=fixed, determination=own)
    mean = float(slope.mean()) if psi.size else 0.0
    factor = np.nan
    if mean > 0 and linear.dof > 0:
        correction = 1 + linear.rank / psi.size * float(slope.var()) / mean**2
        factor = correction * np.sqrt(np.sum(psi**2) / linear.dof) / mean
    return replace(
        linear,
        covariance=linear.covariance * factor**2,
        stderr=linear.stderr * factor,
        root=linear.root * factor,
        trusted=False,
    )
