"""Robust fits: the minimum of a loss with the scale of the residuals, the errors there, and what the loss says of single values."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kinetix.analyses.covariance import LinearCovariance
from kinetix.analyses.robust import NAME, m_estimator_covariance
from kinetix.errors import ParameterError
from kinetix.estimation import Done, Iteration, Outcome
from kinetix.estimation.losses import RHOS, Loss, robust_scale
from kinetix.estimation.residuals import Evaluation
from kinetix.results import RobustFacts
from kinetix.status import Status
from kinetix.studies.evaluator import Evaluator
from kinetix.studies.problem import Problem
from kinetix.studies.searching import FitLimits, Found, search, search_at, search_options
from kinetix.studies.starting import Multistart

WIDENINGS = (8.0, 3.0)
"""Multiples of the scale at which the minimum is looked for first: what is far off there is not given up yet (graduated non-convexity)."""

SETTLED = 1e-9
"""Relative change of the scale at which it is found."""

MOST_ROUNDS = 100

LEAST_SCALE = 1e-6
"""Scale, as a share of the root mean square of the values, below which it is taken no smaller: half of the values are then met exactly."""


def scale_known(problem: Problem) -> bool:
    """Whether the loss is in units of a sigma that is given and trusted."""
    return problem.sigma_meaning == "trusted"


def weighted_residuals(problem: Problem, values: np.ndarray) -> np.ndarray:
    """(observed - predicted) weight of what was measured, (observation,)."""
    used = problem.weights > 0
    return ((problem.observed - values) * problem.weights)[used]


def robust_search(
    problem: Problem,
    evaluator: Evaluator,
    limits: FitLimits,
    on_iteration: Callable[[Iteration], None] | None,
    multistart: Multistart,
    on_start: Callable[[Done], None] | None,
) -> Found:
    """The minimum of a robust loss at the scale of the residuals: 1 where sigma is trusted, else their median size there.

    First least squares, with all that a search does about starts; then the loss from there and from the start, at a scale that is wide
    first. Of the two ends the better one is kept. Where there were several starts, the loss is then minimised from all of them.

    Returns:
        What was found; its problem has the loss with the scale.

    Raises:
        ParameterError: fewer values than a scale can be found from.
    """
    count = int(np.count_nonzero(problem.weights))
    if not scale_known(problem) and count < len(problem.table.free) + 2:
        raise ParameterError(
            f"A robust loss needs the scatter of the residuals, and {count} values for {len(problem.table.free)} parameters do not show it."
            ' Give a sigma with [fit] sigma = "trusted", or remove [fit] loss.'
        )
    begun = time.perf_counter()

    def left() -> FitLimits:
        if limits.max_seconds is None:
            return limits
        return replace(limits, max_seconds=max(limits.max_seconds - (time.perf_counter() - begun), 0.0))

    found = search(problem, evaluator.with_unit(np.inf), limits, on_iteration, multistart, on_start)
    if found.outcome.status in (Status.STOPPED, Status.TIME_LIMIT, Status.NON_FINITE) or not np.isfinite(found.outcome.R).all():
        return replace(found, problem=replace(found.problem, loss=_at_scale(problem, evaluator, found.outcome.theta)))
    rounds = _Rounds(found.problem, evaluator, left, on_iteration)
    starts = [found.outcome.theta, found.problem.table.free_start()]
    best, loss = min((rounds.run(theta) for theta in starts), key=lambda end: _rank(*end, known=scale_known(problem)))
    if len(found.runs.starts) > 1 and not _cut(best):
        again = search(problem, evaluator.with_unit(float(loss.unit)), left(), on_iteration, multistart, on_start)
        rounds = replace(rounds, problem=again.problem)
        other = rounds.run(again.outcome.theta, ()) if again.outcome.status.ok else (again.outcome, loss)
        best, loss = min([(best, loss), other], key=lambda end: _rank(*end, known=scale_known(problem)))
        found = again
    return replace(found, problem=replace(found.problem, loss=loss), outcome=best)


@dataclass(frozen=True, eq=False)
class _Rounds:
    """Minimises the loss and finds its scale in turn.

    Attributes:
        problem: its table has the starts about which the limits of sense lie.
        evaluator: with any scale.
        left: gives what is left of the limits.
        on_iteration: told of each trial.
    """

    problem: Problem
    evaluator: Evaluator
    left: Callable[[], FitLimits]
    on_iteration: Callable[[Iteration], None] | None

    def run(self, theta: np.ndarray, widenings: tuple[float, ...] = WIDENINGS) -> tuple[Outcome, Loss]:
        """The end of the search from free coordinates (free,), and the loss with its scale there."""
        iterations = evaluations = 0
        loss = _at_scale(self.problem, self.evaluator, theta)
        for number in range(MOST_ROUNDS):
            unit = float(loss.unit)
            wide = widenings[number] if number < len(widenings) else 1.0
            outcome = self._minimised(unit * wide, theta)
            iterations, evaluations = iterations + outcome.iterations, evaluations + outcome.evaluations
            outcome = replace(outcome, iterations=iterations, evaluations=evaluations)
            if not np.isfinite(outcome.R).all() or _cut(outcome):
                return outcome, loss
            theta = outcome.theta
            loss = _at_scale(self.problem, self.evaluator, theta)
            if wide == 1.0 and abs(float(loss.unit) - unit) <= SETTLED * unit:
                return outcome, loss.with_unit(unit)
        status = Status.NOT_CONVERGED
        return replace(outcome, status=status, message=f"{status.sentence}; the scale of the loss has not settled"), loss.with_unit(unit)

    def _minimised(self, unit: float, theta: np.ndarray) -> Outcome:
        options = search_options(self.problem, self.left())
        return search_at(self.problem.table, self.evaluator.with_unit(unit), theta, options, self.on_iteration)


def _cut(outcome: Outcome) -> bool:
    return outcome.status in (Status.STOPPED, Status.TIME_LIMIT)


def _rank(outcome: Outcome, loss: Loss, known: bool) -> tuple[bool, float]:
    """Order of ends: answers before others, then by the loss at a known scale, else by the scale."""
    return not outcome.status.ok, float(np.nan_to_num(outcome.ssr if known else float(loss.unit), nan=np.inf))


def _at_scale(problem: Problem, evaluator: Evaluator, theta: np.ndarray) -> Loss:
    """The loss with the scale of the residuals at a point."""
    assert problem.loss is not None
    if scale_known(problem):
        return problem.loss.with_unit(1.0)
    residuals = weighted_residuals(problem, np.asarray(evaluator(theta).values))
    size = float(np.sqrt(np.mean((problem.observed * problem.weights)[problem.weights > 0] ** 2)))
    return problem.loss.with_unit(max(robust_scale(residuals), LEAST_SCALE * size))


def robust_covariance(problem: Problem, evaluator: Evaluator, final: Evaluation, outcome: Outcome) -> LinearCovariance:
    """The covariance at the end of a robust fit; `evaluator` and `final` are those there."""
    assert problem.loss is not None
    residuals = weighted_residuals(problem, np.asarray(final.values))
    R, _ = evaluator.with_unit(np.inf).triangle(outcome.theta)
    weights, curvature = problem.loss.weights(residuals), problem.loss.curvature(residuals)
    return m_estimator_covariance(R, weights * residuals, curvature, held=outcome.held, determination=outcome.determination)


def robust_facts(problem: Problem, predicted: np.ndarray) -> RobustFacts:
    """What the loss says of the values, predictions SI (lane, time, response)."""
    loss = problem.loss
    assert loss is not None
    residuals = (problem.observed - predicted) * problem.weights
    used = problem.weights > 0
    return RobustFacts(
        loss=loss.name,
        constant=float(loss.constant),
        shape=float(loss.shape) if RHOS[loss.name].shaped else np.nan,
        scale=float(loss.unit),
        scale_known=scale_known(problem),
        residual_scale=robust_scale(residuals[used]),
        weights=np.where(used, loss.weights(residuals), np.nan),
        covariance=NAME,
    )
