"""Which of several models of the same data to prefer: information criteria, tests of nested models, folds of a cross-validation.

The likelihood is that of independent normal errors. With trusted sigma -2 ln L = chi-square + n ln 2 pi - 2 sum ln w; where sigma is
scaled or estimated, at its own best value sigma^2 = S/n, -2 ln L = n (ln(2 pi S/n) + 1) - 2 sum ln w, and that sigma is one parameter more:
k = p + 1. S is the sum of squared weighted residuals, w the weights (1/sigma, or 1).

Sources: C. M. Hurvich, C.-L. Tsai, Biometrika 76, 297 (1989), AICc; K. P. Burnham, D. R. Anderson, Model Selection and Multimodel Inference
(2nd ed., Springer 2002), sections 2.2, 2.4, 2.6, 2.9; G. Schwarz, Annals of Statistics 6, 461 (1978), BIC; D. M. Bates, D. G. Watts,
Nonlinear Regression Analysis and Its Applications (Wiley 1988), section 3.10, extra sum of squares; M. Stone, Journal of the Royal
Statistical Society B 36, 111 (1974), cross-validation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

ROUNDING = 1e-6
"""Share of the sum of squares by which a larger nested model may fit worse before its search is to blame."""


@dataclass(frozen=True)
class Criteria:
    """What `criteria` gives; NaN where a criterion does not exist."""

    log_likelihood: float
    """ln L at the estimates; a density per unit of the data columns."""
    counted: int
    """Parameters that the likelihood was made largest over: k = p where sigma is trusted, p + 1 where not."""
    aic: float
    aicc: float
    """NaN unless n > k + 1."""
    bic: float


def criteria(ssr: float, n_observations: int, n_parameters: int, *, trusted: bool, log_weights: float = 0.0) -> Criteria:
    """AIC = 2 k - 2 ln L; AICc = AIC + 2 k (k + 1)/(n - k - 1); BIC = k ln n - 2 ln L.

    Args:
        ssr: sum of squared weighted residuals, S (chi-square where sigma is trusted).
        n_observations: measured values, n.
        n_parameters: estimated parameters, p.
        trusted: sigma is known absolutely; else it is scaled, or estimated from the residuals.
        log_weights: sum ln w of the weights.

    Residuals that are all zero have no likelihood where sigma is estimated: everything is NaN then.

    >>> line = criteria(0.46, 12, 2, trusted=False)
    >>> line.counted, round(line.aicc, 4), round(line.bic, 4)
    (3, 3.9173, 2.372)
    >>> criteria(0.46, 4, 2, trusted=False).aicc
    nan
    """
    k = n_parameters + (not trusted)
    n = n_observations
    if not math.isfinite(ssr) or n < 1 or (not trusted and ssr <= 0):
        return Criteria(math.nan, k, math.nan, math.nan, math.nan)
    scatter = ssr + n * math.log(2 * math.pi) if trusted else n * (math.log(2 * math.pi * ssr / n) + 1)
    minus_twice = scatter - 2 * log_weights
    aic = minus_twice + 2 * k
    aicc = aic + 2 * k * (k + 1) / (n - k - 1) if n > k + 1 else math.nan
    return Criteria(-0.5 * minus_twice, k, aic, aicc, minus_twice + k * math.log(n))


def akaike_weights(aicc: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Differences to the smallest, and weights exp(-delta/2) over their sum; NaN where there is no criterion.

    >>> delta, weight = akaike_weights([102.0, 100.0, float("nan")])
    >>> delta.tolist(), weight.round(4).tolist()
    ([2.0, 0.0, nan], [0.2689, 0.7311, nan])
    """
    values = np.asarray(aicc, dtype=np.float64)
    if not np.isfinite(values).any():
        return np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    delta = values - np.nanmin(values)
    relative = np.exp(-0.5 * delta)
    return delta, relative / np.nansum(relative)


@dataclass(frozen=True)
class NestedTest:
    """What `nested_test` gives."""

    kind: str
    """"F", or "likelihood ratio"."""
    statistic: float
    more: int
    """Parameters that the larger model has more: degrees of freedom of the statistic."""
    dof: float
    """Degrees of freedom of the larger model, below the fraction line of F; NaN of a likelihood ratio."""
    p_value: float
    """Probability of a statistic at least this large if the smaller model is right."""


def nested_test(
    ssr_small: float, parameters_small: int, ssr_large: float, parameters_large: int, n_observations: int, *, trusted: bool
) -> NestedTest:
    """Whether the additional parameters of a larger model are needed, the smaller one being a special case of it.

    Where sigma is trusted, the likelihood ratio: S1 - S2 is chi-square with q = p2 - p1 degrees of freedom. Where it is scaled or
    estimated, the extra sum of squares: F = ((S1 - S2)/q)/(S2/(n - p2)) with q and n - p2. Exact for linear models, else to first order.

    Statistic and probability are NaN where there is no test: no parameter more, no degree of freedom, no residual left, or a larger model
    that fits worse, which its optimum cannot.

    >>> test = nested_test(2240.8914, 3, 2055.0531, 4, 23, trusted=False)  # Bates and Watts, section 3.10
    >>> test.kind, round(test.statistic, 3), round(test.p_value, 4)
    ('F', 1.718, 0.2056)
    """
    q, dof = parameters_large - parameters_small, n_observations - parameters_large
    worse = ssr_large > ssr_small * (1 + ROUNDING)
    extra = max(ssr_small - ssr_large, 0.0)
    if trusted:
        usable = q > 0 and not worse and math.isfinite(extra)
        p_value = float(special.chdtrc(q, extra)) if usable else math.nan
        return NestedTest("likelihood ratio", extra if usable else math.nan, q, math.nan, p_value)
    if q <= 0 or dof <= 0 or worse or not (ssr_large > 0 and math.isfinite(extra)):
        return NestedTest("F", math.nan, q, float(dof), math.nan)
    F = (extra / q) / (ssr_large / dof)
    return NestedTest("F", F, q, float(dof), float(special.fdtrc(q, dof, F)))


def fold_numbers(members: int, folds: int | None = None, seed: int = 0) -> np.ndarray:
    """To which fold each member belongs, counted from 0: one each, or so many of equal size that a seed draws.

    >>> fold_numbers(4).tolist(), np.bincount(fold_numbers(7, 3, seed=1)).tolist()
    ([0, 1, 2, 3], [3, 2, 2])
    """
    if folds is None or folds >= members:
        return np.arange(members)
    drawn = np.random.default_rng(seed).permutation(members)
    numbers = np.empty(members, dtype=np.int64)
    numbers[drawn] = np.arange(members) % folds
    return numbers
