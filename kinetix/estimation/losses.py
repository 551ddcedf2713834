"""Robust losses: sums of rho((r/C)^2) in place of sums of squares, so that a gross error counts for little.

    minimise  sum C^2 rho((r/C)^2),   rho(z) = z + O(z^2)

With the residual r -> r sqrt(rho(z)/z) (which is sign(r) C sqrt(rho(z)), without its root at zero) the sum is one of squares again, so that
a search on triangles of [J r] serves unchanged. A residual well below C counts as in least squares; beyond, its influence on the estimates,
psi(r) = r rho'(z), stays bounded (huber, soft_l1) or falls again (cauchy, student_t).

| name | rho(z) | C of 95 % efficiency |
|---|---|---|
| huber | z up to 1, then 2 sqrt(z) - 1 | 1.345 |
| soft_l1 | 2 (sqrt(1 + z) - 1) | 1.2871 |
| cauchy | ln(1 + z) | 2.3849 |
| student_t | n ln(1 + z/n), that of the t distribution with n degrees of freedom and scale C | C = 1, n = 4: 92.6 % |

The names and rho are those of `scipy.optimize.least_squares`, which reports half the sum; C is its `f_scale`.

Sources: P. J. Huber, Robust Statistics (Wiley 1981), chapter 7; K. L. Lange, R. J. A. Little and J. M. G. Taylor, J. Am. Stat. Assoc. 84
(1989) 881 (the t distribution, four degrees of freedom). The constants solve (E psi')^2 / E psi^2 = 0.95 for normal residuals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import numpy as np

from kinetix.estimation.determination import Array, namespace

SERIES = 1e-2
"""Below, ln(1 + u)/u is a series: its closed form loses digits, and its derivative more."""

NORMAL_MEDIAN = 0.6744897501960817
"""Median of |x| of a standard normal x."""


class Rho(NamedTuple):
    """A loss as functions of z = (r/C)^2 and its shape: rho(z)/z, rho'(z), and d(r rho')/dr = rho' + 2 z rho''."""

    ratio: Callable[[Array, Array | float], Array]
    weight: Callable[[Array, Array | float], Array]
    curvature: Callable[[Array, Array | float], Array]
    constant: float
    """C where none is said, in units of the standard deviation."""
    shaped: bool = False
    """Whether it has degrees of freedom."""


def _root(z: Array) -> Array:
    """sqrt(z) where z > 1, else 1: a root that is never taken at zero."""
    xp = namespace(z)
    return xp.sqrt(xp.where(z > 1, z, 1.0))


def _log_ratio(u: Array) -> Array:
    """ln(1 + u)/u."""
    xp = namespace(u)
    small = u < SERIES
    v, w = xp.where(small, u, 0.0), xp.where(small, 1.0, u)
    series = xp.zeros_like(u)
    for k in range(9, 0, -1):
        series = 1.0 / k - v * series
    return xp.where(small, series, xp.log1p(w) / w)


RHOS: dict[str, Rho] = {
    "huber": Rho(
        ratio=lambda z, n: namespace(z).where(z > 1, (2 * _root(z) - 1) / _root(z) ** 2, 1.0),
        weight=lambda z, n: 1 / _root(z),
        curvature=lambda z, n: namespace(z).where(z > 1, 0.0, 1.0),
        constant=1.345,
    ),
    "soft_l1": Rho(
        ratio=lambda z, n: 2 / (1 + namespace(z).sqrt(1 + z)),
        weight=lambda z, n: (1 + z) ** -0.5,
        curvature=lambda z, n: (1 + z) ** -1.5,
        constant=1.2871,
    ),
    "cauchy": Rho(
        ratio=lambda z, n: _log_ratio(z),
        weight=lambda z, n: 1 / (1 + z),
        curvature=lambda z, n: (1 - z) / (1 + z) ** 2,
        constant=2.3849,
    ),
    "student_t": Rho(
        ratio=lambda z, n: _log_ratio(z / n),
        weight=lambda z, n: 1 / (1 + z / n),
        curvature=lambda z, n: (1 - z / n) / (1 + z / n) ** 2,
        constant=1.0,
        shaped=True,
    ),
}
"""The losses by name; least squares is none of them."""


@partial(jax.tree_util.register_dataclass, data_fields=["constant", "unit", "shape"], meta_fields=["name"])
@dataclass(frozen=True)
class Loss:
    """A loss with its scale C = constant times unit.

    Attributes:
        name: in `RHOS`.
        constant: C in standard deviations.
        unit: the standard deviation of weighted residuals: 1 where sigma is given, else found (`robust_scale`).
        shape: degrees of freedom of `student_t`; of no meaning for the others.

    >>> loss = Loss("huber", 2.0)
    >>> loss.transformed(np.array([1.0, -2.0, 10.0])).round(6).tolist()
    [1.0, -2.0, 6.0]
    >>> loss.weights(np.array([1.0, -2.0, 10.0])).tolist()
    [1.0, 1.0, 0.2]
    """

    name: str
    constant: jax.Array | float
    unit: jax.Array | float = 1.0
    shape: jax.Array | float = 4.0

    def _z(self, r: Array) -> Array:
        return (r / (self.constant * self.unit)) ** 2

    def transformed(self, r: Array) -> Array:
        """Residuals whose squares are C^2 rho((r/C)^2)."""
        return r * namespace(r).sqrt(RHOS[self.name].ratio(self._z(r), self.shape))

    def weights(self, r: Array) -> Array:
        """psi(r)/r = rho'(z), from 1 at r = 0 downwards: how much a value counts beside one in least squares."""
        return RHOS[self.name].weight(self._z(r), self.shape)

    def curvature(self, r: Array) -> Array:
        """psi'(r)."""
        return RHOS[self.name].curvature(self._z(r), self.shape)

    def with_unit(self, unit: float) -> Loss:
        """The loss for residuals of this standard deviation; least squares where it is infinite."""
        return replace(self, unit=unit)


def robust_scale(residuals: np.ndarray) -> float:
    """Standard deviation of normal residuals from their median size, median |r| / 0.6745; NaN where there is none.

    Huber (1981), section 7.7, with the centre at zero: a fit has taken it away.

    >>> round(robust_scale(np.array([0.1, -0.2, 0.3, -0.4, 1000.0])), 4)
    0.4448
    """
    return float(np.median(np.abs(residuals)) / NORMAL_MEDIAN) if residuals.size else np.nan
