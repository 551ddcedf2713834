"""One search from the host: what an estimator asks of the residuals, with the limits, the history and the best point so far.

Every estimator is three functions, and a run is

    state = estimator.init(search, theta0)
    while not estimator.done(state):
        state = estimator.step(search, state)

where `search` evaluates. It counts, tells each trial, keeps the best point and ends the run by raising `Ended` where a limit is reached, so
that limits, progress and Ctrl-C also hold for methods of other packages, which call back from within.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import jax
import numpy as np
from jax.typing import ArrayLike

from kinetix.errors import InputError
from kinetix.estimation import trust_region
from kinetix.estimation.trust_region import Bounds, State, Tolerances
from kinetix.precision import float64
from kinetix.status import Status

Evaluate: TypeAlias = Callable[[np.ndarray], tuple[ArrayLike, jax.Array | int]]
"""theta [p] -> (R [p + 1, p + 1] triangle of [J r], number of failed parts)."""

ValueAndGradient: TypeAlias = Callable[[np.ndarray], tuple[ArrayLike, ArrayLike, jax.Array | int]]
"""theta [p] -> (|r|^2/2, its gradient [p], number of failed parts)."""

UNFELT = 1e-3
"""Coordinates count with at least this share of the largest effect: what is hardly felt at the start may be felt later."""

ROUNDING = 4 * np.finfo(np.float64).eps
"""A coordinate is on a bound that it differs from by no more than this share."""

TOUCHING = 1e-6
"""A coordinate all but touches a bound where the way to it changes the residuals by less than this share of their norm."""


@dataclass(frozen=True)
class Options:
    """Limits and tolerances of one fit; an iteration is one trial point, taken or refused."""

    max_iterations: int = 1000
    max_seconds: float | None = None
    tolerances: Tolerances = field(default_factory=Tolerances)


USUAL = Options()
"""Of a fit that is told nothing else."""


class Iteration(NamedTuple):
    """What `on_iteration` is told after each trial (number 0 is the start), and a row of the history."""

    number: int
    ssr: float
    """Smallest sum of squares so far."""
    step: float
    """|D s| of the trial, in units of the residuals."""
    damping: float
    """The multiplier lambda of the trial; NaN of a method that has none."""
    accepted: bool
    seconds: float
    """Since the beginning of the fit."""


@dataclass(frozen=True)
class Estimator:
    """A method of least squares; see the top of this file for how its functions are called.

    Attributes:
        what: the method and its source in a few words.
        init: (search, theta0) -> the state before the first step.
        step: (search, state) -> the state after one more.
        done: whether a state is the last.
        bounded: whether it keeps bounds.
        finishes: whether it goes on as far as the precision of the residuals allows, so that an end without an optimum is the fault of the
            start, the data or the model.
        package: another package that it needs.
    """

    what: str
    init: Callable[[Search, np.ndarray], Any]
    step: Callable[[Search, Any], Any]
    done: Callable[[Any], bool]
    bounded: bool = True
    finishes: bool = True
    package: str = ""


class Ended(Exception):
    """A limit was reached."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.sentence)
        self.status = status


class Point(NamedTuple):
    """What an evaluation says; the value of a failed one is infinite, and its gradient zero."""

    theta: np.ndarray
    value: float
    """Half the sum of squares."""
    gradient: np.ndarray
    """By theta [p]."""
    usable: bool
    R: np.ndarray | None
    """The triangle, where that is what was evaluated."""


@dataclass
class Search:
    """See the top of this file.

    Attributes:
        evaluate: the triangle at a point.
        by_gradient: value and gradient at a point, where that is cheaper; None: from the triangle.
        bounds: the box.
        sizes: of the parameters, see `trust_region.init`.
        options, on_iteration: as of `fit`.
        begun: when the fit began, of `time.perf_counter`.
        history, evaluations: so far.
        failed: the last trial that could not be evaluated.
        trusted: the state of the trust region, where that is what searches.
        origin: the trust region's view of the start, where something else searches.
        best, last: the best and the last point of such a search.
    """

    evaluate: Evaluate
    by_gradient: ValueAndGradient | None
    bounds: Bounds
    sizes: np.ndarray | None
    options: Options
    on_iteration: Callable[[Iteration], None] | None
    begun: float
    history: list[Iteration] = field(default_factory=list)
    evaluations: int = 0
    failed: np.ndarray | None = None
    trusted: State | None = None
    origin: State | None = None
    best: Point | None = None
    last: Point | None = None

    # ------------------------------------------------------------------------------------------------- for the trust region

    def triangle(self, theta: np.ndarray) -> tuple[np.ndarray, int]:
        """R at a trial, and the number of failed parts.

        Raises:
            Ended: a limit was reached before.
        """
        self._check_limits()
        R, n_bad = self.evaluated(theta)
        self.failed = theta if n_bad else self.failed
        return R, n_bad

    def moved(self, before: State, after: State) -> None:
        """Keep the state of the trust region after a trial, and tell of it."""
        self.trusted = after
        self._tell(float(after.view.ssr), float(before.step_norm), float(before.damping), bool(after.accepted))

    # ------------------------------------------------------------------------------------------------------ for all others

    def start(self, theta: np.ndarray) -> Point:
        """The evaluation of a start; it also fixes `scale`, for which the triangle is needed.

        Raises:
            Ended: a limit was reached before, or the start cannot be evaluated.
        """
        R, n_bad = self.triangle(theta)
        with np.errstate(all="ignore"):
            self.origin = trust_region.update(trust_region.init(theta, self.bounds, self.sizes), R, n_bad, self.options.tolerances)
        self.best = _point(theta, R, n_bad)
        self._tell(2 * self.best.value if self.best.usable else np.nan, 0.0, np.nan, self.best.usable)
        if not self.best.usable:
            raise Ended(Status.NON_FINITE)
        return self.best

    def point(self, theta: np.ndarray, need_triangle: bool = False) -> Point:
        """The evaluation of a trial after the start; the same again costs nothing.

        Args:
            theta: it is clipped to the box [p]; one with a coordinate that is not a number is a failure.
            need_triangle: whether the gradient alone will not do.

        Raises:
            Ended: a limit was reached before.
        """
        assert self.best is not None and self.origin is not None
        theta = self._in_the_box(theta)
        for known in (self.best, self.last):
            if known is not None and np.array_equal(theta, known.theta) and not (need_triangle and known.usable and known.R is None):
                return known
        if not np.isfinite(theta).all():
            return _failure(theta)
        self._check_limits()
        if self.by_gradient is None or need_triangle:
            R, n_bad = self.evaluated(theta)
            found = _point(theta, R, n_bad)
        else:
            found = self._with_gradient(self.by_gradient, theta)
        self.failed = self.failed if found.usable else theta
        step = float(np.linalg.norm(self.scale * (theta - self.best.theta)))
        better = self.better(found, self.best)
        self.best, self.last = found if better else self.best, found
        self._tell(2 * self.best.value, step, np.nan, better)
        return found

    @property
    def scale(self) -> np.ndarray:
        """Lengths of the columns of J at the start [p], so that a unit of z = scale theta changes the residuals by about one; positive."""
        assert self.origin is not None
        norms = np.asarray(self.origin.view.norms)
        ssr = float(self.origin.view.ssr)
        guess = np.where(norms > 0, np.sqrt(ssr) / np.where(norms > 0, norms, 1.0), 1.0)
        reach = np.where(np.isfinite(self.origin.reach), self.origin.reach, guess)
        effect = norms * reach
        return np.maximum(effect, UNFELT * effect.max()) / reach if effect.max() > 0 else 1 / reach

    @property
    def size(self) -> float:
        """Norm of the residuals at the start; 1 where it is 0."""
        assert self.origin is not None
        return float(np.sqrt(self.origin.view.ssr)) or 1.0

    @property
    def unit(self) -> np.ndarray:
        """`scale`/`size`: a unit of z = unit theta changes the residuals by about as much as they are."""
        return self.scale / self.size

    def slopes(self, point: Point) -> np.ndarray:
        """The gradient of |r|^2/2, over |r|^2 of the start, by z = unit theta [p]: at the start the cosines of the columns."""
        return point.gradient / (self.unit * self.size**2)

    @property
    def reach(self) -> np.ndarray:
        """Size of each parameter [p], finite: 1 for a logarithm, else its own at the start, or for a start of zero what the data say."""
        assert self.origin is not None
        return np.where(np.isfinite(self.origin.reach), self.origin.reach, np.sqrt(float(self.origin.view.ssr)) / self.scale)

    def held(self, point: Point) -> np.ndarray:
        """Coordinates that stay [p]: fixed ones, and those on a bound that the gradient pushes against."""
        lower, upper = self.bounds
        outward = ((point.theta <= lower) & (point.gradient > 0)) | ((point.theta >= upper) & (point.gradient < 0))
        return outward | (lower == upper)

    def cosine(self, point: Point) -> float:
        """Largest cosine between residuals and columns of J that may move, with the columns of the start where those here are unknown."""
        norms = self.scale if point.R is None else np.sqrt((point.R[:-1, :-1] ** 2).sum(axis=0))
        product = norms * np.sqrt(2 * point.value)
        return float(np.where(self.held(point), 0.0, np.abs(point.gradient) / np.where(product > 0, product, 1.0)).max())

    def solved(self, point: Point) -> bool:
        """Whether the gradient has vanished by the tolerances of the trust region, as far as is known of it."""
        if not point.usable or (point.value > 0 and self.cosine(point) >= self.options.tolerances.cosine):
            return False
        return point.value == 0 or point.R is None or bool(self._view(point, point.R).offset < self.options.tolerances.offset)

    def better(self, found: Point, than: Point) -> bool:
        """Whether a point is lower; where differences of the sum of squares are rounding, whether its gradient is half as large."""
        if not found.usable or found.value < than.value:
            return found.usable
        assert self.origin is not None
        unsure = float(trust_region.noise(self.origin.view, self.options.tolerances.precision))
        return found.value - than.value <= min(unsure, 1e-4) * than.value and self.cosine(found) <= self.cosine(than) / 2

    def rest_on_bounds(self) -> None:
        """Put the best point exactly on the bounds that it is pushed against and all but touches."""
        if self.best is None or not self.best.usable:
            return
        theta, gradient = self.best.theta, self.best.gradient
        bound = np.where(gradient > 0, self.bounds.lower, self.bounds.upper)
        near = self.scale * np.abs(theta - bound) <= TOUCHING * np.sqrt(2 * self.best.value)
        moved = np.where(near & (gradient != 0), bound, theta)
        if np.array_equal(moved, theta):
            return
        found = _point(moved, *self.evaluated(moved))
        if found.value <= self.best.value * (1 + TOUCHING):
            self.best = found

    def judged(self) -> State | None:
        """The trust region's view of the best point; None before the start was evaluated."""
        if self.origin is None or self.best is None:
            return None
        R, n_bad = (self.best.R, 0) if self.best.R is not None else self.evaluated(self.best.theta)
        return self._view(self.best, R, n_bad)

    # ------------------------------------------------------------------------------------------------------------- inside

    def _view(self, point: Point, R: np.ndarray, n_bad: int = 0) -> State:
        assert self.origin is not None
        with np.errstate(all="ignore"):
            return trust_region.arrived(self.origin, point.theta, R, n_bad, self.options.tolerances)

    def evaluated(self, theta: np.ndarray) -> tuple[np.ndarray, int]:
        """R and the number of failed parts, whatever the limits."""
        R, n_bad = triangle_at(self.evaluate, theta)
        self.evaluations += 1
        return R, n_bad

    def _in_the_box(self, theta: np.ndarray) -> np.ndarray:
        """Clipped, and exactly on a bound where only rounding keeps it off."""
        lower, upper = (np.asarray(side) for side in self.bounds)
        theta = np.clip(theta, lower, upper)
        for bound in (lower, upper):
            theta = np.where(np.isfinite(bound) & (np.abs(theta - bound) <= ROUNDING * np.abs(bound)), bound, theta)
        return theta

    def _with_gradient(self, by_gradient: ValueAndGradient, theta: np.ndarray) -> Point:
        with float64():
            value, gradient, n_bad = by_gradient(np.array(theta))
            found = float(np.asarray(value)), np.array(gradient, dtype=np.float64)
            usable = int(n_bad) == 0 and np.isfinite(found[0]) and bool(np.isfinite(found[1]).all())
        self.evaluations += 1
        return Point(theta, found[0], found[1], True, None) if usable else _failure(theta)

    def _check_limits(self) -> None:
        if self.evaluations > self.options.max_iterations:
            raise Ended(Status.ITERATION_LIMIT)
        seconds = self.options.max_seconds
        if seconds is not None and time.perf_counter() - self.begun >= seconds and self.evaluations > 0:
            raise Ended(Status.TIME_LIMIT)

    def _tell(self, ssr: float, step: float, damping: float, accepted: bool) -> None:
        self.history.append(Iteration(len(self.history), ssr, step, damping, accepted, time.perf_counter() - self.begun))
        if self.on_iteration is not None:
            self.on_iteration(self.history[-1])


def _point(theta: np.ndarray, R: np.ndarray, n_bad: int) -> Point:
    with np.errstate(all="ignore"):
        value, gradient = 0.5 * float(np.sum(R[:, -1] ** 2)), R[:-1, -1] @ R[:-1, :-1]
    usable = n_bad == 0 and np.isfinite(R).all() and np.isfinite(value) and np.isfinite(gradient).all()
    return Point(theta, value, gradient, True, R) if usable else _failure(theta)


def _failure(theta: np.ndarray) -> Point:
    return Point(theta, np.inf, np.zeros_like(theta), False, None)


def triangle_at(evaluate: Evaluate, theta: np.ndarray) -> tuple[np.ndarray, int]:
    """What `evaluate` returns, in float64.

    Raises:
        InputError: its shape is wrong.
    """
    with float64():
        R, n_bad = evaluate(np.array(theta))
        R = np.array(R, dtype=np.float64)
        bad = int(n_bad)
    p = theta.shape[0]
    if R.shape != (p + 1, p + 1):
        raise InputError(f"evaluate returned R of shape {R.shape}; for {p} parameters it must be the triangle of [J r], {(p + 1, p + 1)}.")
    return R, bad
