"""Fits from many starts: points spread over a box, one limit for all fits together, and which ends are the same optimum.

The points are a Latin hypercube: each coordinate has one point in each of `count` equal parts of its range, in random order.

Source: M. D. McKay, R. J. Beckman and W. J. Conover, Technometrics 21 (1979) 239.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from kinetix.estimation.driver import Outcome
from kinetix.estimation.trust_region import Tolerances
from kinetix.status import Status

ALIKE = 1e-6
"""Two optima are equally good within this relative difference of their sums of squares, beyond what rounding and integration make of it."""

CLOSE = 1e-3
"""The same for two ends at one place: one search stopped a little earlier than the other."""

APART = 1e-2
"""Two ends are at one place where no coordinate differs by more than this (of a logarithm, or relative), or where the linear model says
that the residuals differ by less than this share of their norm."""

UNDETERMINED = 1e-6
"""Share in a direction without effect from which on a coordinate has no place."""

Fit: TypeAlias = Callable[[int, float | None], Outcome]
"""(number of the start, seconds left or None) -> how the fit from there ended."""


class Done(NamedTuple):
    """What `on_start` is told after each fit."""

    done: int
    """Fits that are over."""
    total: int
    ssr: float
    """Smallest sum of squares of those that are answers; NaN where none is."""
    seconds: float
    """Since the first began."""


def latin_hypercube(count: int, dimensions: int, seed: int) -> np.ndarray:
    """Points in the unit cube, (count, dimensions); the same for the same seed.

    >>> sorted((latin_hypercube(4, 2, seed=1)[:, 0] * 4).astype(int).tolist())
    [0, 1, 2, 3]
    """
    rng = np.random.default_rng(seed)
    cells = np.array([rng.permutation(count) for _ in range(dimensions)], dtype=np.float64).reshape(dimensions, count).T
    return (cells + rng.random(cells.shape)) / max(count, 1)


def fit_all(
    fit: Fit, count: int, max_seconds: float | None = None, on_start: Callable[[Done], None] | None = None
) -> tuple[list[Outcome], Status | None]:
    """The fits from starts 0 to count - 1, one after the other; fewer where a limit or the user ended them.

    Args:
        fit: from one start. One that ends with `STOPPED` or `TIME_LIMIT` is the last.
        count: number of starts.
        max_seconds: for all together; the first is always begun.
        on_start: told after each.

    Returns:
        The outcomes, and what ended them early: `STOPPED`, `TIME_LIMIT` or None. A KeyboardInterrupt between two fits ends them too;
        before the first is over it is raised.
    """
    begun = time.perf_counter()
    outcomes: list[Outcome] = []
    try:
        for number in range(count):
            spent = time.perf_counter() - begun
            if outcomes and max_seconds is not None and spent >= max_seconds:
                return outcomes, Status.TIME_LIMIT
            outcomes.append(fit(number, None if max_seconds is None else max(max_seconds - spent, 0.0)))
            if on_start is not None:
                answers = [outcome.ssr for outcome in outcomes if outcome.status.ok]
                on_start(Done(len(outcomes), count, min(answers, default=np.nan), time.perf_counter() - begun))
            if outcomes[-1].status in (Status.STOPPED, Status.TIME_LIMIT):
                return outcomes, outcomes[-1].status
    except KeyboardInterrupt:
        if not outcomes:
            raise
        return outcomes, Status.STOPPED
    return outcomes, None


@dataclass(frozen=True)
class Optima:
    """The distinct optima of some fits, the best first.

    Attributes:
        member: the optimum that each fit reached, -1 where it ended without an answer, (fit,).
        first: of each optimum the first fit that reached it, (optimum,).
        equal: optima as good as the best, among them the best itself: the first so many.
    """

    member: np.ndarray
    first: tuple[int, ...]
    equal: int


def distinct_optima(outcomes: Sequence[Outcome], tolerances: Tolerances, sizes: np.ndarray) -> Optima:
    """Which fits reached the same optimum: alike in their sum of squares and at one place.

    Optima are in order of their sums of squares; those as good as the best are in order of the fits that reached them first, so
    that rounding does not choose between twins.

    Args:
        outcomes: of fits of one problem.
        tolerances: of these fits.
        sizes: of the coordinates [p], as for `trust_region.init`: 1 for a logarithm, NaN for the value itself.
    """
    answers = [i for i, outcome in enumerate(outcomes) if outcome.status.ok]
    groups: list[list[int]] = []
    for i in sorted(answers, key=lambda i: outcomes[i].ssr):
        group = next((g for g in groups if _same(outcomes[g[0]], outcomes[i], tolerances, sizes)), None)
        if group is None:
            groups.append([i])
        else:
            group.append(i)
    best = outcomes[groups[0][0]].ssr if groups else np.nan
    level = [alike(best, min(outcomes[i].ssr for i in group), tolerances) for group in groups]
    equal = sum(level)
    order = sorted((g for g, is_equal in zip(groups, level, strict=True) if is_equal), key=min)
    order += [g for g, is_equal in zip(groups, level, strict=True) if not is_equal]
    member = np.full(len(outcomes), -1, dtype=np.int64)
    for number, group in enumerate(order):
        member[group] = number
    return Optima(member, tuple(min(group) for group in order), equal)


def alike(ssr: float, other: float, tolerances: Tolerances, relative: float = ALIKE) -> bool:
    """Whether two sums of squares differ by no more than a relative difference and the error of the predictions.

    >>> alike(2.0, 2.000001, Tolerances()), alike(2.0, 2.1, Tolerances())
    (True, False)
    """
    error = max(tolerances.precision, tolerances.residual) * tolerances.magnitude
    largest = max(ssr, other)
    return bool(abs(ssr - other) <= relative * largest + 2 * error * np.sqrt(largest) + error**2)


def at_one_place(one: Outcome, other: Outcome, sizes: np.ndarray) -> bool:
    """Whether two ends are one: see `APART`; coordinates that either does not determine play no part."""
    change = other.theta - one.theta
    free = np.concatenate([one.null_directions, other.null_directions])
    placed = ~(np.abs(free) > UNDETERMINED).any(axis=0)
    scale = np.where(np.isnan(sizes), np.maximum(np.abs(one.theta), np.abs(other.theta)), sizes)
    if np.all(np.abs(change) <= APART * scale, where=placed):
        return True
    return all(np.linalg.norm(end.R[:-1, :-1] @ change) <= APART * np.sqrt(end.ssr) for end in (one, other))


def _same(one: Outcome, other: Outcome, tolerances: Tolerances, sizes: np.ndarray) -> bool:
    return alike(one.ssr, other.ssr, tolerances, CLOSE) and at_one_place(one, other, sizes)
