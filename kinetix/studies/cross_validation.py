"""Cross-validation by experiment: fit without some experiments, predict those, and sum the squared weighted errors.

The compiled evaluation of the fit serves all of it: an experiment is left out by giving its values no weight, which is the same as never
having measured them. Each refit starts at the estimates of all data, and where that fails at the start that was given.

Source: M. Stone, Journal of the Royal Statistical Society B 36, 111 (1974); D. M. Allen, Technometrics 16, 125 (1974), PRESS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetix.analyses.comparison import fold_numbers
from kinetix.analyses.covariance import LEAK
from kinetix.errors import ParameterError
from kinetix.estimation import Outcome
from kinetix.results.phrases import listing
from kinetix.status import Status
from kinetix.studies.evaluator import Evaluator
from kinetix.studies.searching import failing, refit, sum_of_squares
from kinetix.studies.starting import SEED


@dataclass(frozen=True)
class Folds:
    """How experiments are left out.

    Attributes:
        number: of folds of about equal size that a seed draws; None to leave out one experiment at a time.
        seed: of the draw.

    Raises:
        ParameterError: fewer than two folds.
    """

    number: int | None = None
    seed: int = SEED

    def __post_init__(self) -> None:
        known = self.number is None or (isinstance(self.number, int) and not isinstance(self.number, bool) and self.number >= 2)
        if not known:
            raise ParameterError(
                f"folds = {self.number!r}: expected a whole number from 2 on, or None to leave out one experiment at a time."
            )


@dataclass(frozen=True, eq=False)
class Left:
    """What came of leaving out one fold. `error` is the sum of squared weighted prediction errors, NaN where `why` says what failed."""

    error: float
    status: Status
    why: str = ""


NOT_RUN = Left(np.nan, Status.STOPPED, "it was not tried: stopped by the user")


def folds_of(experiments: tuple[str, ...], folds: Folds) -> np.ndarray:
    """The fold of each experiment.

    Raises:
        ParameterError: there are not two experiments with measured values.
    """
    if len(experiments) < 2:
        raise ParameterError(
            "Cross-validation leaves out whole experiments, and the data hold measured values of one only"
            f" ({listing(experiments) if experiments else 'none'}). A column 'experiment' tells several in a table apart."
        )
    return fold_numbers(len(experiments), folds.number, folds.seed)


def leave_out(evaluator: Evaluator, theta: np.ndarray, left: np.ndarray) -> Left:
    """Fit without some experiments and predict them.

    Args:
        evaluator: of all data.
        theta: free coordinates of the fit of all data, where the refit starts.
        left: which experiments to leave out, (lane,).
    """
    problem = evaluator.problem
    training = evaluator.weighing(np.where(left[:, None, None], 0.0, problem.weights))
    testing = evaluator.weighing(np.where(left[:, None, None], problem.weights, 0.0))
    table = problem.table
    outcome = refit(training.problem, training, table.values(theta))
    if not outcome.status.ok and outcome.status != Status.STOPPED and np.isfinite(table.start).all():
        outcome = refit(training.problem, training, table.start)
    if not outcome.status.ok:
        return Left(np.nan, outcome.status, f"the fit without it ended badly: {outcome.status.sentence}")
    R, bad = testing.triangle(outcome.theta)
    if bad:
        return Left(np.nan, Status.NON_FINITE, f"it cannot be predicted: {failing(testing.problem, testing(outcome.theta), outcome.theta)}")
    if _undetermined(outcome, R):
        names = [table.names[i] for i in table.free[np.abs(outcome.null_directions).max(axis=0) > LEAK]]
        return Left(np.nan, Status.FLAT, f"the other experiments do not determine what predicts it ({listing(names)})")
    return Left(sum_of_squares(R), outcome.status)


def _undetermined(outcome: Outcome, R: np.ndarray) -> bool:
    """Whether predictions, whose [J r] has the triangle R, change along what the fit did not determine."""
    null = outcome.null_directions
    if not len(null):
        return False
    columns = R[:-1, :-1]
    reach = np.linalg.norm(null * np.linalg.norm(columns, axis=0), axis=1)
    return bool(np.any(np.linalg.norm(columns @ null.T, axis=0) > LEAK * reach))


def cross_validate(
    evaluator: Evaluator, theta: np.ndarray, fold_of: dict[str, int], number: int, on_fold: Callable[[], None] | None = None
) -> list[Left]:
    """Each fold left out in turn; after Ctrl-C the rest is not tried.

    Args:
        evaluator: of all data.
        theta: free coordinates of the fit of all data.
        fold_of: experiment -> fold; those without measured values are in none.
        number: of folds.
        on_fold: called after each.
    """
    member = np.array([fold_of.get(name, -1) for name in evaluator.problem.campaign.experiments])
    done: list[Left] = []
    for fold in range(number):
        stopped = bool(done) and done[-1].status == Status.STOPPED
        done.append(NOT_RUN if stopped else leave_out(evaluator, theta, member == fold))
        if on_fold is not None:
            on_fold()
    return done
