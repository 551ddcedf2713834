"""Maximum likelihood: parameters and standard deviations together.

    minimise  sum of 2 ln sigma_i + (y_i - f_i)^2/sigma_i^2

As squares these are residuals (f - y)/sigma and, beside them, sqrt(1 + 2 ln(sigma/sigma_ref)), with sigma_ref that of the last round: the
sum differs by a constant. (Data2Dynamics writes sqrt(2 ln sigma + c) with one c for all: A. Raue et al., PLoS ONE 8 (2013) e74335.) At
sigma_ref the matrix J'J of a search is the Fisher information, so that a round converges like Fisher scoring, and a few rounds are enough.

The errors come from the Hessian of the negative log-likelihood at the end, by differences of its exact gradient J'r. J'J alone is the
expectation of it; with a c that is not 1 it would be wrong for the standard deviations, by a factor of 2 for large c.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kinetix.analyses.covariance import LinearCovariance, linear_covariance
from kinetix.errors import ParameterError
from kinetix.estimation import Done, Iteration, Outcome
from kinetix.estimation.residuals import Evaluation
from kinetix.results import NoiseFacts
from kinetix.status import Status
from kinetix.studies.evaluator import Evaluator
from kinetix.studies.noise import NoiseModel, held
from kinetix.studies.problem import Problem
from kinetix.studies.searching import FitLimits, Found, search, search_at, search_options
from kinetix.studies.starting import Multistart

ROUND = 5
"""Iterations of a round: far from sigma_ref the root of the logarithm bends, and steps get short."""

SETTLED = 1e-3
"""Largest change of ln sigma in a round that was the last: the end does not depend on sigma_ref, only the way does."""

MOST_OPTIMA = 8
"""Distinct optima of the first search from which the likelihood is maximised."""

STEP = 0.02
"""Step of the differences of the gradient, in standard errors of the parameter alone; their error is of fourth order in it."""

EXACT, EXPECTED = "maximum likelihood, from the Hessian of the likelihood", "maximum likelihood, from the Fisher information"


def likelihood_search(
    problem: Problem,
    evaluator: Evaluator,
    limits: FitLimits,
    on_iteration: Callable[[Iteration], None] | None,
    multistart: Multistart,
    on_start: Callable[[Done], None] | None,
) -> Found:
    """The maximum of the likelihood: first least squares with the standard deviations at their starts, then all together, in rounds.

    Returns:
        What was found; its problem has the weights 1/sigma and the sigma of the end.

    Raises:
        ParameterError: a standard deviation that is relative to a predicted zero; as many numbers as values.
    """
    noise = problem.noise
    assert noise is not None
    count, free = int(np.count_nonzero(problem.weights)), len(problem.table.free)
    if count <= free:
        raise ParameterError(
            f"{count} values cannot show {free} numbers, {len(noise.positions)} of them standard deviations: the likelihood would grow"
            " without end. Give a sigma that is known, measure more, or remove [noise]."
        )
    begun = time.perf_counter()

    def left() -> FitLimits:
        if limits.max_seconds is None:
            return limits
        return replace(limits, max_seconds=max(limits.max_seconds - (time.perf_counter() - begun), 0.0))

    given = replace(problem, table=held(problem.table, noise), noise=noise.given)
    found = search(given, evaluator.of(given), limits, on_iteration, multistart, on_start)
    starts = replace(problem, table=problem.table.started(found.problem.table.start))
    if found.outcome.status in (Status.STOPPED, Status.TIME_LIMIT, Status.NON_FINITE) or not np.isfinite(found.outcome.R).all():
        return replace(found, problem=starts)
    rounds = _Rounds(starts, noise, evaluator, left, on_iteration)
    first = [found.outcome, *(found.runs.outcomes[i] for i in found.runs.optima.first[:MOST_OPTIMA] if i != found.runs.best)]
    ends = []
    for outcome in first:
        ends.append(rounds.run(outcome.theta))
        if ends[-1].outcome.status in (Status.STOPPED, Status.TIME_LIMIT):
            break
    best = min(ends, key=lambda end: (not end.outcome.status.ok, end.twice))
    return replace(found, problem=best.problem, outcome=best.outcome)


@dataclass(frozen=True, eq=False)
class _End:
    """The end of the rounds from one start; `twice` is -2 ln L but for a constant."""

    problem: Problem
    outcome: Outcome
    twice: float


@dataclass(frozen=True, eq=False)
class _Rounds:
    """Searches with sigma_ref renewed in between.

    Attributes:
        problem, noise, evaluator: what is fitted.
        left: gives what is left of the limits.
        on_iteration: told of each trial.
    """

    problem: Problem
    noise: NoiseModel
    evaluator: Evaluator
    left: Callable[[], FitLimits]
    on_iteration: Callable[[Iteration], None] | None

    def run(self, theta: np.ndarray) -> _End:
        """The end from free coordinates (free,), with the standard deviations of the residuals there."""
        theta = self._with_residuals(theta)
        sigma = self._sigma(theta)
        iterations = evaluations = 0
        limit = search_options(self.problem, self.left()).max_iterations
        while True:
            given = self._weighted(sigma)
            options = search_options(given, self.left())
            options = replace(options, max_iterations=max(min(ROUND, limit - iterations), 1))
            outcome = search_at(given.table, self.evaluator.of(given), theta, options, self.on_iteration)
            iterations, evaluations = iterations + outcome.iterations, evaluations + outcome.evaluations
            going = outcome.status is Status.ITERATION_LIMIT and iterations < limit
            stuck = np.array_equal(theta, outcome.theta)
            theta, before, sigma = outcome.theta, sigma, self._sigma(outcome.theta)
            change = np.abs(np.log(sigma / before)[self._used]).max()
            if outcome.status in (Status.STOPPED, Status.TIME_LIMIT) or stuck or iterations >= limit or not (going or change > SETTLED):
                break
        given = self._weighted(sigma)
        evaluation = self.evaluator.of(given)(theta)
        r = ((given.observed - np.asarray(evaluation.values)) * given.weights)[given.weights > 0]
        ssr = float(r @ r)
        twice = ssr - 2 * float(np.log(given.weights[given.weights > 0]).sum())
        outcome = replace(outcome, R=np.asarray(evaluation.R), ssr=ssr, iterations=iterations, evaluations=evaluations)
        return _End(given, outcome, twice)

    @property
    def _used(self) -> np.ndarray:
        return (self.problem.weights > 0) & self.noise.estimated

    def _weighted(self, sigma: np.ndarray) -> Problem:
        used = self._used
        return replace(
            self.problem,
            weights=np.where(used, 1 / np.where(used, sigma, 1.0), self.problem.weights),
            sigma=np.where(used, sigma, self.problem.sigma),
        )

    def _sigma(self, theta: np.ndarray) -> np.ndarray:
        values = np.asarray(self.evaluator(theta).values)
        sigma = self.noise.deviation(self.problem.table.values(theta), np.where(self._used, values, 1.0))
        zero = np.argwhere(self._used & ~(sigma > 0))
        if len(zero):
            i, j, r = zero[0]
            name = self.problem.responses[r]
            raise ParameterError(
                f"The sigma of {name} is relative to the predicted value, which is 0 in experiment '{self.problem.campaign.experiments[i]}'"
                f" (line {self.problem.campaign.lines[i, j]}). Add constant = {{}} to [noise] {name}."
            )
        return np.where(self._used, sigma, 1.0)

    def _with_residuals(self, theta: np.ndarray) -> np.ndarray:
        """Coordinates with the standard deviations that the residuals show."""
        table, noise, theta = self.problem.table, self.noise, theta.copy()
        lower, upper = table.free_bounds()
        values = np.asarray(self.evaluator(theta).values)
        for r in np.flatnonzero(noise.estimated):
            used = self.problem.weights[..., r] > 0
            f, e = values[..., r][used], (self.problem.observed[..., r] - values[..., r])[used]
            size = np.sqrt(np.mean(e**2))
            alone = noise.constant_at[r] < 0 or noise.relative_at[r] < 0
            share = 1.0 if alone else np.sqrt(0.5)
            over = (
                np.sqrt(np.mean((e / f) ** 2))
                if alone and (f != 0).all()
                else size / max(float(np.sqrt(np.mean(f**2))), np.finfo(float).tiny)
            )
            for position, found in ((noise.constant_at[r], size), (noise.relative_at[r], over)):
                if position >= 0:
                    k = int(np.flatnonzero(table.free == position)[0])
                    theta[k] = np.clip(np.log(max(share * found, np.finfo(float).tiny)), lower[k], upper[k])
        return theta


def likelihood_covariance(problem: Problem, evaluator: Evaluator, outcome: Outcome) -> tuple[LinearCovariance, str]:
    """The covariance at the end, and what it comes from; `evaluator` is that of the end."""
    n = int(np.count_nonzero(problem.weights))
    p = outcome.theta.size
    determination = outcome.determination
    free = np.flatnonzero(~outcome.held)
    triangle = np.zeros((p + 1, p + 1))
    triangle[p, p] = np.sqrt(outcome.ssr)
    if determination.rank == free.size:
        root = _cholesky(hessian(evaluator, outcome.theta, np.linalg.norm(outcome.R[:-1, :-1], axis=0))[np.ix_(free, free)])
        if root is not None:
            triangle[np.ix_(np.arange(free.size), free)] = root
            return linear_covariance(triangle, n_observations=n, trusted=True, held=outcome.held), EXACT
    triangle[:p, :p] = outcome.R[:-1, :-1]
    expected = linear_covariance(triangle, n_observations=n, trusted=True, held=outcome.held, determination=determination)
    return expected, EXPECTED


def hessian(evaluator: Evaluator, theta: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Hessian of half the sum of squares [p, p], from differences of its gradient J'r; `norms` are lengths of the columns of J [p]."""

    def gradient(at: np.ndarray) -> np.ndarray:
        R, bad = evaluator.triangle(at)
        return R[:-1, :-1].T @ R[:-1, -1] if bad == 0 else np.full(theta.size, np.nan)

    columns = []
    for step in np.diag(STEP / np.where(norms > 0, norms, 1.0)):
        near = gradient(theta + step) - gradient(theta - step)
        far = gradient(theta + 2 * step) - gradient(theta - 2 * step)
        columns.append((8 * near - far) / (12 * step.sum()))
    found = np.stack(columns, axis=1) if columns else np.zeros((0, 0))
    return (found + found.T) / 2


def _cholesky(matrix: np.ndarray) -> np.ndarray | None:
    """Upper triangle U with U'U the matrix; None where it is not positive definite."""
    if not np.isfinite(matrix).all() or not (np.diag(matrix) > 0).all():
        return None
    scale = np.sqrt(np.diag(matrix))
    try:
        return np.linalg.cholesky(matrix / np.outer(scale, scale)).T * scale
    except np.linalg.LinAlgError:
        return None


def noise_facts(problem: Problem, final: Evaluation, errors: str) -> NoiseFacts:
    """What the likelihood says, in the units of the data; `final` is the evaluation at the end."""
    noise = problem.noise
    assert noise is not None
    used = problem.weights > 0
    factors = np.array([unit.factor for unit in problem.units])
    r = np.where(used, (problem.observed - np.asarray(final.values)) * problem.weights, 0.0)
    in_units = np.log(2 * np.pi) - 2 * np.log(np.where(used, problem.weights * factors, 1.0)) + r**2
    modelled = int(np.count_nonzero(used & noise.estimated))
    others = len(problem.table.free) - len(noise.positions)
    return NoiseFacts(
        log_likelihood=-0.5 * float(in_units[used].sum()),
        modelled=modelled,
        bias=float(np.sqrt(max(1 - others / int(np.count_nonzero(used)), 0.0))),
        errors=errors,
    )
