"""Profile likelihood: how well the data can be fitted with one parameter held at other values, all others refitted.

With S the sum of squares, S(theta_i) its minimum over the other parameters, and s the standard deviation of a weighted residual

    tau(theta_i) = sign(theta_i - estimate) sqrt((S(theta_i) - S_min)) / s

is Student's t (normal where sigma is trusted) for a model that is linear in its parameters, and nearly so where it is not: the 95 %
interval holds the values with |tau| <= q. For a linear model tau is a straight line and the interval is estimate +- q standard errors.

All parameters are followed at once, each to both sides, from value to value, each refit starting where the linear model of the last one
says. The slope of tau is known exactly at each point (dS/dtheta_i is the gradient there, the others being at their optimum), so that
few points and a cubic through values and slopes give the ends of the interval.

Sources: D. M. Bates and D. G. Watts, Nonlinear Regression Analysis and Its Applications (Wiley 1988), section 6.1 (tau, and its use);
A. Raue et al., Bioinformatics 25 (2009) 1923 (open sides as a test of identifiability).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

import numpy as np

from kinetix.estimation.refits import Refits
from kinetix.estimation.trust_region import Bounds
from kinetix.status import Status

STEP = 0.5
"""Distance of two points in tau that is aimed at, in shares of the quantile."""

BEYOND = 1.25
"""A side is followed to this multiple of the quantile, so that a picture shows where it goes."""

GROWTH = 3.0
"""Largest factor between one step and the next."""

MOST_POINTS = 40
"""Of a side. Steps that grow threefold have gone 3^40 first steps by then."""

WIDEST = 1.0
"""Distance of two points in tau, in shares of the quantile, beyond which a nearer one is put between."""

HALVINGS = 6
"""Of a step that went too far or to where no fit was found, before the side is given up."""

BETTER = 1e-6
"""Relative decrease of the sum of squares below the fit's that is more than rounding."""

Refit: TypeAlias = Callable[[np.ndarray, Bounds], Refits]
"""(starts [k, p], boxes [k, p]) -> where they end."""


class End(Enum):
    """How a side of a profile ended."""

    CROSSED = "crossed"
    """The data exclude what lies beyond."""
    BOUND = "bound"
    """They do not before the parameter's bound."""
    OPEN = "open"
    """They do not at any value that makes sense."""
    FAILED = "failed"
    """No fit was found any further."""
    STOPPED = "stopped"
    """The user or a limit ended it."""


@dataclass(frozen=True)
class Profile:
    """The profile of one parameter, in its free coordinate.

    Attributes:
        parameter: its position.
        theta: all parameters at the points, in order of the profiled one, the estimate among them, [points, p].
        tau: signed root of the excess of the sum of squares, [points].
        ssr: sum of squares at the points, [points].
        lower, upper: where the interval ends; the last value that was reached where a side is not `CROSSED`.
        lower_end, upper_end: how each side ended.
        better: whether a point fits better than the estimate: that was not the optimum.
    """

    parameter: int
    theta: np.ndarray
    tau: np.ndarray
    ssr: np.ndarray
    lower: float
    upper: float
    lower_end: End
    upper_end: End
    better: bool


class _Point(NamedTuple):
    theta: np.ndarray
    R: np.ndarray
    ssr: float
    tau: float
    slope: float
    """d tau / d theta_i; NaN where it is not known."""


class _Scale(NamedTuple):
    """What tau is measured by."""

    ssr: float
    s: float
    q: float


@dataclass
class _Side:
    """One side of one profile while it is followed."""

    i: int
    sign: int
    points: list[_Point]
    change: float
    limit: float
    at_limit: End
    halvings: int = 0
    end: End | None = None

    def start(self, box: Bounds) -> np.ndarray:
        """Where the next refit starts: the parameter a step further, the others where the linear model has their minimum."""
        i, last = self.i, self.points[-1]
        target = last.theta[i] + self.change
        if (target - self.limit) * self.sign >= 0:
            target = self.limit
        others = np.arange(last.theta.size) != i
        columns, residual = last.R[:-1, :-1], last.R[:-1, -1]
        moved = last.theta.copy()
        moved[others] -= np.linalg.lstsq(columns[:, others], residual + columns[:, i] * (target - last.theta[i]), rcond=1e-10)[0]
        moved[i] = target
        return np.clip(moved, np.where(others, box.lower, target), np.where(others, box.upper, target))

    def take(self, found: Refits, k: int, target: float, scale: _Scale) -> None:
        """Makes the k-th refit the next point, or comes back to it with half the step."""
        last = self.points[-1]
        step = target - last.theta[self.i]
        if found.status[k] == Status.STOPPED:
            self.end = End.STOPPED
            return
        point = _point(found.theta[k], found.R[k], float(found.ssr[k]), self.i, self.sign, scale) if found.ok[k] else None
        if point is None or abs(point.tau - last.tau) > WIDEST * scale.q:
            self.halvings += 1
            self.change = step / 2
            if self.halvings <= HALVINGS:
                return
            if point is None:
                self.end = End.FAILED
                return
        assert point is not None
        self.points.append(point)
        self.halvings = 0
        crossed = abs(point.tau) >= scale.q
        if abs(point.tau) >= BEYOND * scale.q:
            self.end = End.CROSSED
        elif target == self.limit:
            self.end = End.CROSSED if crossed else self.at_limit
        elif len(self.points) > MOST_POINTS:
            self.end = End.CROSSED if crossed else End.OPEN
        wanted = STEP * scale.q / point.slope if point.slope > 0 else np.inf
        self.change = self.sign * min(max(wanted, abs(step) / GROWTH), abs(step) * GROWTH)


def profiles(
    refit: Refit,
    theta: np.ndarray,
    R: np.ndarray,
    s: float,
    q: float,
    stderr: np.ndarray,
    which: np.ndarray,
    bounds: Bounds,
    edges: Bounds,
    on_done: Callable[[int, int], None] | None = None,
) -> list[Profile]:
    """The profiles of some parameters.

    Args:
        refit: the fit from many starts at once, see `kinetix.estimation.refits`.
        theta: the estimate [p].
        R: triangle of [J r] there [p + 1, p + 1].
        s: standard deviation of a weighted residual; 1 where sigma is trusted.
        q: |tau| at the ends of the interval.
        stderr: standard errors [p]; NaN where there is none: the first step is then a tenth of the parameter, or of its logarithm.
        which: the parameters to profile, positions.
        bounds: the user's box [p].
        edges: the box beyond which no value makes sense [p]; inside `bounds`.
        on_done: told how many of how many sides are over.

    Returns:
        One for each of `which`.

    >>> x, y = np.arange(4.0), np.array([1.1, 2.9, 5.2, 6.8])  # y = a + b x
    >>> J = np.stack([np.ones(4), x], axis=1)
    >>> estimate = np.linalg.lstsq(J, y, rcond=None)[0]
    >>> R = np.linalg.qr(np.column_stack([J, J @ estimate - y]), mode="r")
    >>> def refit(starts, box):  # b is the mean slope left over by a, and the other way round
    ...     ends = starts.copy()
    ...     for end, low, high in zip(ends, box.lower, box.upper):
    ...         o = int(low[0] == high[0])
    ...         end[o] = J[:, o] @ (y - J[:, 1 - o] * end[1 - o]) / (J[:, o] @ J[:, o])
    ...     R = np.array([np.linalg.qr(np.column_stack([J, J @ end - y]), mode="r") for end in ends])
    ...     return Refits(ends, R, (R[:, :, -1] ** 2).sum(axis=1), np.zeros(len(ends), int))
    >>> open_box = Bounds(np.full(2, -np.inf), np.full(2, np.inf))
    >>> stderr = np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
    >>> found = profiles(refit, estimate, R, 1.0, 1.96, stderr, np.arange(2), open_box, open_box)
    >>> bool(np.allclose([one.upper for one in found], estimate + 1.96 * stderr, rtol=1e-12))
    True
    """
    scale = _Scale(float(np.sum(R[:, -1] ** 2)), s, q)
    sides = [
        _side(int(i), sign, _Point(theta, R, scale.ssr, 0.0, float(1 / stderr[i])), scale, bounds, edges) for i in which for sign in (-1, 1)
    ]
    while going := [side for side in sides if side.end is None]:
        starts = np.array([side.start(edges) for side in going])
        lower, upper = (np.repeat(edge[None], len(going), axis=0) for edge in edges)
        for k, side in enumerate(going):
            lower[k, side.i] = upper[k, side.i] = starts[k, side.i]
        found = refit(starts, Bounds(lower, upper))
        for k, side in enumerate(going):
            side.take(found, k, starts[k, side.i], scale)
        if on_done is not None:
            on_done(sum(side.end is not None for side in sides), len(sides))
    return [_joined(low, high, scale) for low, high in zip(sides[::2], sides[1::2], strict=True)]


def _side(i: int, sign: int, estimate: _Point, scale: _Scale, bounds: Bounds, edges: Bounds) -> _Side:
    at = estimate.theta[i]
    first = STEP * scale.q / estimate.slope if estimate.slope > 0 else 0.1 * max(abs(at), 1.0)
    limit, own = (edges.lower[i], bounds.lower[i]) if sign < 0 else (edges.upper[i], bounds.upper[i])
    at_limit = End.BOUND if own == limit else End.OPEN
    return _Side(i, sign, [estimate], sign * first, float(limit), at_limit, end=at_limit if at == limit else None)


def _point(theta: np.ndarray, R: np.ndarray, ssr: float, i: int, sign: int, scale: _Scale) -> _Point:
    tau = sign * float(np.sqrt(max(ssr - scale.ssr, 0.0))) / scale.s + 0.0
    gradient = float(R[:-1, i] @ R[:-1, -1])
    return _Point(theta, R, ssr, tau, gradient / (scale.s**2 * tau) if tau else np.nan)


def _joined(low: _Side, high: _Side, scale: _Scale) -> Profile:
    points = [*reversed(low.points[1:]), *high.points]
    return Profile(
        parameter=low.i,
        theta=np.array([point.theta for point in points]),
        tau=np.array([point.tau for point in points]),
        ssr=np.array([point.ssr for point in points]),
        lower=_interval_end(low, scale),
        upper=_interval_end(high, scale),
        lower_end=low.end or End.STOPPED,
        upper_end=high.end or End.STOPPED,
        better=any(point.ssr < scale.ssr * (1 - BETTER) for point in points),
    )


def _interval_end(side: _Side, scale: _Scale) -> float:
    """Where |tau| = q, by the cubic through values and slopes of the two points about it; else the last point."""
    i, level = side.i, side.sign * scale.q
    for before, after in zip(side.points, side.points[1:], strict=False):
        if abs(before.tau) < scale.q <= abs(after.tau):
            width, rise = after.theta[i] - before.theta[i], after.tau - before.tau
            slopes = [width * point.slope if np.isfinite(point.slope) else rise for point in (before, after)]
            cubic = [slopes[0] + slopes[1] - 2 * rise, 3 * rise - 2 * slopes[0] - slopes[1], slopes[0], before.tau - level]
            roots = np.roots(cubic)
            inside = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real >= 0) & (roots.real <= 1 + 1e-12)]
            share = inside.min() if inside.size else (level - before.tau) / rise
            return float(before.theta[i] + share * width)
    return float(side.points[-1].theta[i])
