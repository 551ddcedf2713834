"""Curves of steady states over one condition, by pseudo-arclength continuation, on the host.

A curve is followed by its arc length, so it goes on where it turns back in the condition. Its steps are short enough that the tangent
turns little and the correction stays small beside the step, so that it does not change over to a neighbouring curve.

H. B. Keller, Numerical solution of bifurcation and nonlinear eigenvalue problems, in Applications of Bifurcation Theory, Academic
Press (1977), pages 359 to 384; E. L. Allgower and K. Georg, Introduction to Numerical Continuation Methods, SIAM (2003).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from kinetix.status import Status

FOLD, HOPF, BRANCH = "fold", "hopf", "branch"
"""Where a curve turns back in the condition, where an oscillation begins, and where another curve crosses it."""

FIRST_STEP, LONGEST_STEP, SHORTEST_STEP = 1e-3, 0.15, 1e-9
LONGER, SHORTER = 1.6, 0.4
TURN = math.cos(0.2)
"""The most that the tangent may turn in a step, as a cosine."""

SIDEWAYS = 0.2
"""The largest correction, in steps."""

CORRECTED, CORRECTIONS, EASY = 1e-8, 8, 3
NOT_BELOW = 1e-9
"""In the size of the state: how far below zero rounding may put a component."""

NEAR_ZERO = 1e-4
"""How near a curve is followed to where a component becomes negative."""

SPREAD = 4.0
"""Length of a linear axis in the measure of arc length, in which states are of size one."""

TO_ROUNDING = 1e-13
SAME = 1e-6
"""States that are nearer to each other are one."""

MOST_POINTS = 4000


@dataclass(frozen=True, eq=False)
class Family:
    """Equations dy/dt = rhs(y, p), whose states lie in the space that `directions` span from `origin`, and are not negative.

    Attributes:
        evaluate: (y [lane, n], p [lane]) -> rhs [lane, n], d rhs/dy [lane, n, n], d rhs/dp [lane, n].
        origin: [n], a state of that space.
        size: [n], of the components.
        directions: [n, m], orthonormal in y/size.
    """

    evaluate: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
    origin: np.ndarray
    size: np.ndarray
    directions: np.ndarray

    @property
    def dimension(self) -> int:
        return self.directions.shape[1]

    def states(self, z: np.ndarray) -> np.ndarray:
        """From coordinates [..., m] to states [..., n]."""
        return self.origin + (z @ self.directions.T) * self.size

    def coordinates(self, y: np.ndarray) -> np.ndarray:
        """From states [..., n] to coordinates [..., m]."""
        return ((y - self.origin) / self.size) @ self.directions

    def reduced(self, z: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """dz/dt [lane, m], its derivative by z [lane, m, m], and by p [lane, m]."""
        with np.errstate(all="ignore"):
            rates, jacobian, slope = self.evaluate(self.states(z), p)
            left = self.directions / self.size[:, None]
            return rates @ left, left.T @ jacobian @ (self.directions * self.size[:, None]), slope @ left

    def inside(self, z: np.ndarray) -> bool:
        """Whether no component is clearly negative."""
        return bool(np.all(self.states(z) >= -NOT_BELOW * self.size))


@dataclass(frozen=True)
class Axis:
    """The condition along which a curve is followed. Arc length measures it as s: ln(p/wanted), or linear.

    Attributes:
        wanted: its value where states are asked for; s = 0.
        lowest, highest: the ends of what is followed.
        logarithmic: whether ratios count; all values are then above zero.
    """

    wanted: float
    lowest: float
    highest: float
    logarithmic: bool = False

    @property
    def unit(self) -> float:
        return (self.highest - self.lowest) / SPREAD

    def inner(self, p: float) -> float:
        """s of p."""
        return math.log(p / self.wanted) if self.logarithmic else (p - self.wanted) / self.unit

    def outer(self, s: float) -> float:
        """p of s."""
        return self.wanted * math.exp(s) if self.logarithmic else self.wanted + self.unit * s

    def stretch(self, s: float) -> float:
        """dp/ds."""
        return self.outer(s) if self.logarithmic else self.unit


class Point(NamedTuple):
    """A point of a curve.

    Attributes:
        x: [m + 1], coordinates and s.
        tangent: [m + 1], of length one, in the direction in which the curve is followed.
        eigenvalues: [m], of d(dz/dt)/dz.
        kind: `FOLD`, `HOPF`, `BRANCH`, or "" for an ordinary one.
    """

    x: np.ndarray
    tangent: np.ndarray
    eigenvalues: np.ndarray
    kind: str = ""

    @property
    def stable(self) -> bool:
        """Whether small disturbances decay."""
        return decay(self.eigenvalues)


def decay(eigenvalues: np.ndarray) -> bool:
    """Whether disturbances of a state with these eigenvalues of its Jacobian decay."""
    return bool(np.all(np.real(eigenvalues) < 0.0))


@dataclass(frozen=True, eq=False)
class Curve:
    """Points in the order in which they were met.

    Attributes:
        points: of the curve.
        crossings: coordinates z of the states at the wanted value, as near as the curve tells.
        status: SUCCESS where it was followed to the end of the range, to where a component becomes negative, or back to its start.
        closed: whether it came back to its start.
    """

    points: tuple[Point, ...]
    crossings: tuple[np.ndarray, ...]
    status: Status
    closed: bool = False


def follow(family: Family, axis: Axis, z: np.ndarray, s: float, way: int) -> Curve:
    """The curve through a state.

    Args:
        family: the equations.
        axis: the condition.
        z: [m], a steady state there, or near one.
        s: where on the axis.
        way: 1 to begin towards larger values of the condition, -1 towards smaller ones.
    """
    along = np.append(np.zeros(family.dimension), float(way))
    first = _corrected(family, axis, np.append(z, s), along, along)
    if first is None:
        return Curve((), (), Status.NOT_CONVERGED)
    points, crossings, step = [first], [], FIRST_STEP
    bounds = axis.inner(axis.lowest), axis.inner(axis.highest)
    while len(points) < MOST_POINTS:
        here = points[-1]
        there, corrections = _step(family, axis, here, step)
        if there is None:
            step *= SHORTER
            if step < SHORTEST_STEP:
                return Curve(tuple(points), tuple(crossings), Status.STEP_TOO_SMALL)
            continue
        if not family.inside(there.x[:-1]):
            step *= SHORTER
            if step < NEAR_ZERO:
                return Curve(tuple(points), tuple(crossings), Status.SUCCESS)
            continue
        passed = [here, *_special(family, axis, here, there, step), there]
        out = next((bound for bound in bounds if (there.x[-1] - bound) * (here.x[-1] - bound) < 0), None)
        if out is not None:
            end = _located(family, axis, here, there, partial(_beyond, out))
            passed = [*(point for point in passed[:-1] if bounds[0] <= point.x[-1] <= bounds[1]), *([end] if end else [])]
        crossings += [_crossing(family, axis, a, b) for a, b in pairwise(passed) if (a.x[-1] < 0) != (b.x[-1] < 0)]
        points += passed[1:]
        if out is not None or _returned(family, axis, first, here, there, len(points)):
            return Curve(tuple(points), tuple(crossings), Status.SUCCESS, closed=out is None)
        step = min(step * LONGER, LONGEST_STEP) if corrections <= EASY else step
    return Curve(tuple(points), tuple(crossings), Status.STEP_LIMIT)


def _step(family: Family, axis: Axis, here: Point, step: float) -> tuple[Point | None, int]:
    """The next point, or None where the step was too long; and how many corrections it took."""
    guess = here.x + step * here.tangent
    count = [0]
    there = _corrected(family, axis, guess, here.tangent, here.tangent, count)
    if there is None or there.tangent @ here.tangent < TURN or np.linalg.norm(there.x - guess) > SIDEWAYS * step:
        return None, count[0]
    return there, count[0]


def _corrected(
    family: Family, axis: Axis, guess: np.ndarray, plane: np.ndarray, onwards: np.ndarray, count: list[int] | None = None
) -> Point | None:
    """The point of the curve in the plane through the guess that is normal to `plane`, by Newton iteration; None where it fails."""
    x, before = guess.copy(), math.inf
    for number in range(CORRECTIONS + 1):
        rates, bordered = _bordered(family, axis, x)
        if not (np.isfinite(bordered).all() and np.isfinite(rates).all()):
            return None
        if before <= CORRECTED:
            return _point(bordered, x, onwards)
        try:
            change = np.linalg.solve(np.vstack([bordered, plane]), np.append(-rates, plane @ (guess - x)))
        except np.linalg.LinAlgError:
            return None
        size = float(np.linalg.norm(change))
        if not size < 2.0 * before and size > CORRECTED:
            return None
        x, before = x + change, size
        if count is not None:
            count[0] = number + 1
    return None


def _bordered(family: Family, axis: Axis, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rates [m] and their derivatives by (z, s) [m, m + 1] at a point, each row by its largest entry."""
    s = float(x[-1])
    rates, jacobian, slope = family.reduced(x[None, :-1], np.array([axis.outer(s)]))
    return rates[0], np.hstack([jacobian[0], slope[0][:, None] * axis.stretch(s)])


def _point(bordered: np.ndarray, x: np.ndarray, onwards: np.ndarray) -> Point:
    share = np.maximum(np.abs(bordered).max(axis=1, keepdims=True), np.finfo(float).tiny)
    tangent = np.linalg.svd(bordered / share)[2][-1]
    return Point(x, tangent if tangent @ onwards >= 0 else -tangent, np.linalg.eigvals(bordered[:, :-1]))


def _special(family: Family, axis: Axis, here: Point, there: Point, step: float) -> list[Point]:
    """The special points between two neighbours, in their order."""
    tests: list[tuple[str, Callable[[Point], float]]] = []
    if here.tangent[-1] * there.tangent[-1] < 0:
        tests.append((FOLD, lambda point: float(point.tangent[-1])))
    elif real_test(here) * real_test(there) < 0:
        tests.append((BRANCH, real_test))
    if pair_test(here) * pair_test(there) < 0:
        tests.append((HOPF, pair_test))
    found = [(kind, _located(family, axis, here, there, test, singular=kind == BRANCH)) for kind, test in tests]
    kept = [point._replace(kind=kind) for kind, point in found if point is not None and (kind != HOPF or _oscillates(point))]
    return sorted(kept, key=lambda point: float(here.tangent @ (point.x - here.x)))


def real_test(point: Point) -> float:
    """Changes its sign where a real eigenvalue does."""
    values = point.eigenvalues
    smallest = np.abs(values).min(initial=np.inf)
    return float(-smallest if np.count_nonzero((np.real(values) < 0) & (np.imag(values) == 0)) % 2 else smallest)


def pair_test(point: Point) -> float:
    """Changes its sign where the sum of two eigenvalues does: at a Hopf point, and where two real ones are opposite."""
    sums = _sums_of_two(point.eigenvalues)
    real = np.real(sums)[np.imag(sums) == 0.0]
    smallest = np.abs(real).min(initial=np.inf)
    return float(-smallest if np.count_nonzero(real < 0) % 2 else smallest)


def _oscillates(point: Point) -> bool:
    """Whether the two eigenvalues of smallest sum are a complex pair, not two real ones."""
    values = point.eigenvalues
    i, _ = _pairs(len(values))
    return bool(np.imag(values[i])[np.argmin(np.abs(_sums_of_two(values)))] != 0.0)


def _sums_of_two(values: np.ndarray) -> np.ndarray:
    i, j = _pairs(len(values))
    return values[i] + values[j]


@lru_cache(maxsize=32)
def _pairs(number: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(number, 1)


def _located(
    family: Family, axis: Axis, here: Point, there: Point, test: Callable[[Point], float], *, singular: bool = False
) -> Point | None:
    """The point between two neighbours where the test is zero; None where it cannot be followed there.

    `singular`: where curves cross there is no Newton iteration, but the chord is as good: a point that cannot be corrected stays as it is.
    """
    length = float(here.tangent @ (there.x - here.x))

    def at(distance: float) -> Point | None:
        guess = here.x + distance / length * (there.x - here.x)
        guess = guess + (distance - here.tangent @ (guess - here.x)) * here.tangent
        point = _corrected(family, axis, guess, here.tangent, here.tangent)
        return _point(_bordered(family, axis, guess)[1], guess, here.tangent) if point is None and singular else point

    def value(distance: float) -> float:
        point = at(distance)
        return math.nan if point is None else test(point)

    try:
        found: Any = brentq(value, 0.0, length, xtol=TO_ROUNDING)
    except (ValueError, RuntimeError):
        return None
    return at(float(found))


def _crossing(family: Family, axis: Axis, a: Point, b: Point) -> np.ndarray:
    """Where the curve crosses the wanted value between two points: the foot for a refinement."""
    found = _located(family, axis, a, b, partial(_beyond, 0.0))
    if found is not None:
        return found.x[:-1]
    share = a.x[-1] / (a.x[-1] - b.x[-1])
    return (a.x + share * (b.x - a.x))[:-1]


def _beyond(s: float, point: Point) -> float:
    return float(point.x[-1]) - s


def _returned(family: Family, axis: Axis, first: Point, here: Point, there: Point, number: int) -> bool:
    """Whether the curve passes its start between two points, in the direction in which it left."""
    chord = there.x - here.x
    share = float((first.x - here.x) @ chord / (chord @ chord))
    if number < 8 or not 0.0 <= share <= 1.0 or first.tangent @ here.tangent < TURN:
        return False
    if np.linalg.norm(here.x + share * chord - first.x) > SIDEWAYS * np.linalg.norm(chord):
        return False
    foot = here.x + share * chord - first.x
    again = _corrected(family, axis, first.x + foot - (foot @ first.tangent) * first.tangent, first.tangent, first.tangent)
    return again is not None and bool(np.linalg.norm(again.x - first.x) <= SAME)
