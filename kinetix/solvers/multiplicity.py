"""All steady states at one condition: curves over the condition, and Newton iteration from many starts, on the host.

Each finds what the other may miss. A curve joins states that no start happens to lead to; a start finds curves that do not begin at
the origin (isolas). A state found by a start is followed both ways, which may bring further states, until nothing new comes.

Damping of the Newton iteration by the natural monotonicity test: P. Deuflhard, Newton Methods for Nonlinear Problems, Springer (2011),
section 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinetix.solvers.continuation import NOT_BELOW, SAME, Axis, Curve, Family, decay, follow
from kinetix.status import Status

ITERATIONS, LEAST_DAMPING = 120, 1e-8
CONVERGED = 1e-9
POLISHING = 8
RELATIVE, ABSOLUTE = 1e-10, 1e-13
"""Of the last correction of a state; the absolute part in the size of the state. It is still applied."""

NEAR_ORIGIN, SHORTER, FEWEST_DECADES, MOST_DECADES = 1e-2, 0.1, 3, 40
MOST_CURVES = 40


class Refined(NamedTuple):
    """A steady state, refined.

    Attributes:
        y: [n]; NaN where the status is not success.
        eigenvalues: [m], 1/s, of d rhs/dy within the space of the family, largest real part first; NaN likewise.
        residual: the largest |rhs_i| relative to the size of the terms it is made of.
        status: SUCCESS or NOT_CONVERGED.
    """

    y: np.ndarray
    eigenvalues: np.ndarray
    residual: float
    status: Status

    @property
    def stable(self) -> bool:
        """Whether small disturbances decay."""
        return self.status.ok and decay(self.eigenvalues)


@dataclass(frozen=True, eq=False)
class Multiplicity:
    """What `all_states` finds.

    Attributes:
        states: distinct ones, the nearest to the origin first, then those that could not be refined.
        curves: over the axis; each state lies on one.
        starts: from how many starts Newton iteration was tried.
        converged: from how many it came to a state.
    """

    states: tuple[Refined, ...]
    curves: tuple[Curve, ...]
    starts: int
    converged: int


def all_states(family: Family, axis: Axis, starts: np.ndarray, *, from_zero: bool = False) -> Multiplicity:
    """All steady states at the wanted value of a condition that curves and starts lead to, and the curves through them.

    Nothing can promise that there are no more: an isola is found if a start leads to it.

    Args:
        family: the equations.
        axis: the condition.
        starts: [start, n], states to begin Newton iteration at.
        from_zero: whether the origin is the only state as the condition goes to zero, as for the residence time of a tank: the curve
            from there is followed first.
    """
    curves = [_from_the_origin(family, axis)] if from_zero else []
    found, converged = newton(family, axis.wanted, family.coordinates(starts))
    states = [refined(family, axis.wanted, z) for z in _apart(found[converged])]
    states, curves = _closure(family, axis, states, curves)
    return Multiplicity(tuple(states), tuple(curves), len(starts), int(np.count_nonzero(converged)))


def curves_through(family: Family, axis: Axis, known: Multiplicity) -> Multiplicity:
    """The curves over another condition through steady states that are known at its wanted value, and the states that these lead to."""
    found, curves = _closure(family, axis, known.states, [])
    return Multiplicity(tuple(found), tuple(curves), known.starts, known.converged)


def _closure(family: Family, axis: Axis, states: Sequence[Refined], curves: Sequence[Curve]) -> tuple[list[Refined], list[Curve]]:
    """States and curves with those that they lead to."""
    curves, met = list(curves), [refined(family, axis.wanted, z) for curve in curves for z in curve.crossings]
    states = distinct(family, [*met, *states])
    while len(curves) < MOST_CURVES:
        new = next((one for one in states if one.status.ok and not _among(family, one, met)), None)
        if new is None:
            break
        both = [follow(family, axis, family.coordinates(new.y), 0.0, way) for way in (1, -1)]
        curves.append(_joined(both[:1] if both[0].closed else both))
        more = [refined(family, axis.wanted, z) for z in curves[-1].crossings]
        met += [new, *more]
        states = distinct(family, [*states, *more])
    return states, curves


def _from_the_origin(family: Family, axis: Axis) -> Curve:
    """The curve from where the origin is the only state: from so small a value that one Newton step from the origin is small."""
    z, value = np.zeros(family.dimension), axis.lowest
    for _ in range(MOST_DECADES):
        rates, jacobian, _ = family.reduced(z[None], np.array([value]))
        if np.isfinite(jacobian).all() and np.abs(_solved(jacobian, -rates)).max(initial=0.0) <= NEAR_ORIGIN:
            break
        value *= SHORTER
    wider = Axis(axis.wanted, value, axis.highest, axis.logarithmic)
    return follow(family, wider, z, wider.inner(value), 1)


def _joined(both: Sequence[Curve]) -> Curve:
    """One curve of what was followed in one direction or both."""
    if len(both) == 1:
        return both[0]
    onwards, back = both
    turned = [point._replace(tangent=-point.tangent) for point in reversed(back.points[1:])]
    status = onwards.status if onwards.status is not Status.SUCCESS else back.status
    return Curve((*turned, *onwards.points), (*back.crossings, *onwards.crossings), status)


def newton(family: Family, value: float, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Damped Newton iteration from many starts at once.

    Args:
        family: the equations.
        value: of the condition.
        z: [start, m], coordinates.

    Returns:
        Where each ended, [start, m], and whether it converged, [start].
    """
    values = np.full(len(z), value)
    rates, jacobian, _ = family.reduced(z, values)
    damping, converged = np.ones(len(z)), np.zeros(len(z), bool)
    step = _solved(jacobian, -rates)
    for _ in range(ITERATIONS):
        length = np.abs(step).max(axis=1, initial=0.0)
        is_open = ~converged & np.isfinite(length) & (damping > LEAST_DAMPING)
        if not is_open.any():
            break
        share = np.minimum(damping, _to_the_bounds(family, z, step))
        trial = np.where(is_open[:, None], z + share[:, None] * step, z)
        rates_there, jacobian_there, _ = family.reduced(trial, values)
        simplified = np.abs(_solved(jacobian, -rates_there)).max(axis=1, initial=0.0)
        with np.errstate(all="ignore"):
            good = is_open & ((simplified <= (1.0 - share / 4.0) * length) | (length <= CONVERGED))
        converged |= good & (length <= CONVERGED)
        z = np.where(good[:, None], trial, z)
        jacobian = np.where(good[:, None, None], jacobian_there, jacobian)
        rates = np.where(good[:, None], rates_there, rates)
        damping = np.where(good, np.minimum(1.0, 4.0 * damping), np.where(is_open, share / 4.0, damping))
        step = _solved(jacobian, -rates)
    return z, converged


def _to_the_bounds(family: Family, z: np.ndarray, step: np.ndarray) -> np.ndarray:
    """The share of each step [lane] that leaves 5 % of what is there of the component that would become negative first."""
    y = family.states(z) / family.size
    change = step @ family.directions.T
    with np.errstate(all="ignore"):
        shares = np.where(change < -NOT_BELOW, 0.95 * np.maximum(y, NOT_BELOW) / -change, np.inf)
    return np.minimum(1.0, shares.min(axis=1))


def _solved(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Solutions [lane, m], NaN where a matrix is singular or not finite."""
    with np.errstate(all="ignore"):
        finite = np.flatnonzero(np.isfinite(matrices).all(axis=(1, 2)) & np.isfinite(vectors).all(axis=1))
        regular = finite[np.linalg.slogdet(matrices[finite])[0] != 0.0]
        result = np.full(vectors.shape, np.nan)
        result[regular] = np.linalg.solve(matrices[regular], vectors[regular][..., None])[..., 0]
    return result


def refined(family: Family, value: float, z: np.ndarray) -> Refined:
    """The steady state near a point, to rounding: Newton iteration for the whole state, in which small components keep their digits."""
    y, values, near = family.states(z)[None], np.array([value]), family.states(z)
    correction = np.inf
    for _ in range(POLISHING):
        rates, jacobian, _ = family.evaluate(y, values)
        change = _solved(jacobian, -rates)
        if not np.isfinite(change).all():
            break
        y = y + change
        correction = np.max(np.abs(change) / (RELATIVE * np.abs(y) + ABSOLUTE * family.size))
        if correction <= 1e-3:
            break
    inside = bool(np.all(y >= -NOT_BELOW * family.size)) and bool(np.abs((y[0] - near) / family.size).max() <= 1e-3)
    rates, jacobian, _ = family.evaluate(y, values)
    sizes = np.abs(rates[0]) + np.abs(jacobian[0]) @ (np.abs(y[0]) + ABSOLUTE * family.size)
    residual = float(np.max(np.abs(rates[0]) / np.maximum(sizes, np.finfo(float).tiny)))
    if not (correction <= 1.0 and inside):
        nothing = np.full(family.dimension, np.nan, complex)
        return Refined(np.full(y.shape[1], np.nan), nothing, residual, Status.NOT_CONVERGED)
    y = np.where((y < 0) & (y >= -NOT_BELOW * family.size), 0.0, y)[0]
    left = family.directions / family.size[:, None]
    eigenvalues = np.linalg.eigvals(left.T @ jacobian[0] @ (family.directions * family.size[:, None]))
    return Refined(y, eigenvalues[np.lexsort((np.imag(eigenvalues), -np.real(eigenvalues)))], residual, Status.SUCCESS)


def distinct(family: Family, found: Sequence[Refined]) -> list[Refined]:
    """Each state once, the nearest to the origin first; what could not be refined comes last, once for each."""
    kept: list[Refined] = []
    for one in found:
        if one.status.ok and not _among(family, one, kept):
            kept.append(one)
    failed = [one for one in found if not one.status.ok]
    return [*sorted(kept, key=lambda one: float(np.linalg.norm(family.coordinates(one.y)))), *failed]


def _apart(z: np.ndarray) -> list[np.ndarray]:
    """Rows [row, m] of which none is within rounding of one before."""
    kept: list[np.ndarray] = []
    for one in z:
        if not any(np.abs(one - other).max(initial=0.0) <= SAME for other in kept):
            kept.append(one)
    return kept


def _among(family: Family, one: Refined, others: Sequence[Refined]) -> bool:
    return any(np.abs((one.y - other.y) / family.size).max() <= SAME for other in others if other.status.ok)
