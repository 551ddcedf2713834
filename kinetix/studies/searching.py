"""The search for the best parameters of a problem: from the starts that were given, or from starts found in the data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod

import numpy as np

from kinetix.errors import DataError, ParameterError, SolveError
from kinetix.estimation import (
    DEFAULT,
    ESTIMATORS,
    Bounds,
    Done,
    Iteration,
    Optima,
    Options,
    Outcome,
    Tolerances,
    alike,
    distinct_optima,
    estimator,
    fit,
    fit_all,
)
from kinetix.estimation.residuals import Evaluation
from kinetix.parameters import ParameterTable
from kinetix.results.phrases import count, how_ended, listing, plain
from kinetix.simulation import ReactorModel
from kinetix.status import Status
from kinetix.studies import starting
from kinetix.studies.diagnosing import reasons
from kinetix.studies.evaluator import Evaluator
from kinetix.studies.noise import STEM
from kinetix.studies.optima import exchangeable, relation, values_of
from kinetix.studies.problem import Problem
from kinetix.studies.starting import AS_GIVEN, Multistart

EXACT = 1e-14
"""Relative error of predictions that are not integrated."""

MOST_READINGS, MOST_EXCHANGES, EXCHANGE_ITERATIONS = 10_000, 6, 100
"""So many readings, exchanges and iterations are not too much for a look at other optima that nobody asked for."""

MOST_TOLD = 3
"""Other optima that are told one by one."""

FEW_STARTS = 10
"""Starts from which on it is doubtful that a best optimum is the best there is which only one of them reached."""


def _is_number(value: object, kinds: type | tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


@dataclass(frozen=True)
class FitLimits:
    """When to stop.

    Attributes:
        max_iterations: from each start; None for the estimator's own limit.
        max_seconds: wall time of the iterations from all starts together; None for no limit.

    Raises:
        ParameterError: a limit that is not above zero.
    """

    max_iterations: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        problems = []
        if self.max_iterations is not None and not (_is_number(self.max_iterations, int) and self.max_iterations >= 1):
            problems.append(
                f"max_iterations = {self.max_iterations!r}: expected a whole number from 1 on, or None for no limit of your own."
            )
        if self.max_seconds is not None and not (_is_number(self.max_seconds, (int, float)) and self.max_seconds >= 0):
            problems.append(f"max_seconds = {self.max_seconds!r}: expected a number from 0 on, or None for no limit.")
        if problems:
            raise ParameterError(*problems)


NO_LIMITS = FitLimits()


@dataclass(frozen=True, eq=False)
class Runs:
    """The searches from all starts.

    Attributes:
        starts: SI, (start, parameter).
        origins: where each start comes from: "given", "data" or "spread".
        outcomes: of those that were run: the first so many.
        optima: which of these ended in the same optimum.
        best: position of the one that is reported.
        seed: of the starts.
        cut_short: what ended the search before all starts were done: `STOPPED` or `TIME_LIMIT`; None where nothing did.
    """

    starts: np.ndarray
    origins: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    optima: Optima
    best: int
    seed: int
    cut_short: Status | None

    @property
    def outcome(self) -> Outcome:
        return self.outcomes[self.best]


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found.

    Attributes:
        problem: with the start from which the best point was reached.
        outcome: the best.
        searched: positions of the parameters whose starts were found from the data.
        how: how they were found, empty where none were.
        remarks: what the reader must know of the search, in sentences.
        runs: the searches from all starts.
    """

    problem: Problem
    outcome: Outcome
    searched: np.ndarray
    how: str
    remarks: tuple[str, ...]
    runs: Runs


@dataclass(frozen=True, eq=False)
class _Searcher:
    """Runs searches from starts, within what is left of the limits.

    Attributes:
        problem, evaluator: what is fitted.
        options: of one search; its limit of time is that of all.
        on_iteration, on_start: told of each trial, and of each search that is over.
        seed: of starts that are found.
        begun: when the first search began, of `time.perf_counter`.
        method: the estimator.
    """

    problem: Problem
    evaluator: Evaluator
    options: Options
    on_iteration: Callable[[Iteration], None] | None
    on_start: Callable[[Done], None] | None
    seed: int
    begun: float
    method: str

    def left(self) -> float | None:
        """Seconds left; None for no limit."""
        limit = self.options.max_seconds
        return None if limit is None else max(limit - (time.perf_counter() - self.begun), 0.0)

    def runs(self, starts: np.ndarray, origins: tuple[str, ...], before: Runs | None = None) -> Runs:
        """The searches from starts, SI (start, parameter), after those that were run before."""

        def search_from(number: int, seconds: float | None) -> Outcome:
            options = replace(self.options, max_seconds=seconds)
            return _from(self.problem, self.evaluator, starts[number], options, self.on_iteration, self.method)

        done, cut_short = fit_all(search_from, len(starts), self.left(), self.on_start)
        outcomes = tuple(done)
        if before is not None:
            starts, origins = np.vstack([before.starts, starts]), before.origins + origins
            outcomes = before.outcomes + outcomes
        optima = distinct_optima(outcomes, self.options.tolerances, parameter_sizes(self.problem.table))
        lowest = min(range(len(outcomes)), key=lambda i: np.nan_to_num(outcomes[i].ssr, nan=np.inf))
        kept = lowest if before is None else before.best  # where nothing is an answer
        return Runs(starts, origins, outcomes, optima, optima.first[0] if optima.first else kept, self.seed, cut_short)


def search(
    problem: Problem,
    evaluator: Evaluator,
    limits: FitLimits,
    on_iteration: Callable[[Iteration], None] | None,
    multistart: Multistart = AS_GIVEN,
    on_start: Callable[[Done], None] | None = None,
    method: str = DEFAULT,
) -> Found:
    """The best point, from the given starts or, where one is missing, from several; from more where they are asked for.

    Raises:
        SolveError: no start that was found can be simulated.
        ParameterError: starts cannot be spread, see `starting.spread_starts`.
    """
    table = problem.table
    searched = starting.missing(table)
    options = search_options(problem, limits)
    starts, origins = _all_starts(problem, evaluator, multistart)
    searcher = _Searcher(problem, evaluator, options, on_iteration, on_start, multistart.seed, time.perf_counter(), method)
    runs = searcher.runs(starts, origins)
    remarks: list[str] = []
    looked = bool(searched.size)
    if not looked and _worth_a_second_search(problem, runs.outcome, method) and runs.cut_short is None:
        looked = True
        kept = table.fixed | np.isin(np.arange(len(table.names)), [] if problem.noise is None else problem.noise.positions)
        unknown = replace(problem, table=table.started(np.where(kept, table.start, np.nan)))
        others = _found_starts(unknown, evaluator, multistart.seed)
        first, runs = runs, searcher.runs(np.array(others), ("data",) * len(others), runs) if others else runs
        if runs.best >= len(first.starts):
            remarks.append(
                f"From the given start the search ended without an answer ({first.outcome.status.label}); this one was reached from starts "
                "that were found in the data."
            )
            searched = table.free
    best, problem = runs.outcome, replace(problem, table=table.started(runs.starts[runs.best]))
    twins: list[Outcome] = []
    if runs.optima.equal == 1 and runs.cut_short is None and limits.max_seconds is None:
        short = replace(options, max_iterations=EXCHANGE_ITERATIONS)
        twins = [_from(problem, evaluator, start, short, None) for start in _exchanged(problem, best)]
    refined = runs.origins.count("data")
    how = f"the starts of {_named(table, searched)} come from the data: {starting.describe(refined, runs.seed)}" if searched.size else ""
    remarks += [*_of_starts(runs), *_other_optima(problem, runs, twins), *_run_away(problem, best)]
    if best.status in (Status.NOT_CONVERGED, Status.NOT_MOVED) and best.failed is not None:
        reason = f"next to where it ended not everything can be simulated. {failing(problem, evaluator(best.failed), best.failed)}"
        best = replace(best, message=f"{best.message}; {reason}".rstrip("."))
        remarks.append(f"The search could not go on: {reason}")
    else:
        remarks += _advice(problem, best, looked, method)
    return Found(problem, best, searched, how, tuple(remarks), runs)


def _all_starts(problem: Problem, evaluator: Evaluator, multistart: Multistart) -> tuple[np.ndarray, tuple[str, ...]]:
    """Starts, SI (start, parameter), and where they come from: first the given one or those that the data tell, then those that are spread.

    Raises:
        SolveError: a start is missing, and none that was found can be simulated.
    """
    table, seed = problem.table, multistart.seed
    searched = starting.missing(table)
    first, origin = [table.start], "given"
    if searched.size:
        first, origin = _found_starts(problem, evaluator, seed), "data"
    if not first:
        middle = table.started(starting.trial_starts(problem, seed).starts[0]).free_start()
        raise SolveError(
            f"No start of {_named(table, searched)} could be simulated. {failing(problem, evaluator(middle), middle)}"
            " Look at what is known and at [solver], or write a start for each."
        )
    number = multistart.number or len(first)
    first = first[:number]
    spread = number - len(first)
    starts = np.array(first)
    if spread:
        starts = np.vstack([starts, starting.spread_starts(problem, spread, seed)])
    return starts, (origin,) * len(first) + ("spread",) * spread


def refit(problem: Problem, evaluator: Evaluator, start: np.ndarray) -> Outcome:
    """The outcome of one search from a start, SI (parameter,), without a look for starts or other optima."""
    return _from(problem, evaluator, start, search_options(problem), None)


def failures(problem: Problem, evaluation: Evaluation, theta: np.ndarray) -> Iterator[tuple[str, str]]:
    """The experiments that could not be simulated at free coordinates, how they ended, and of the first few why."""
    unit = problem.campaign.time_unit if problem.timed else None
    why = reasons(problem, problem.table.values(theta), evaluation.status, evaluation.t_reached)
    ended = zip(problem.campaign.experiments, np.asarray(evaluation.status), np.asarray(evaluation.t_reached), why, strict=True)
    for name, status, reached, reason in ended:
        if not Status(int(status)).ok:
            said = how_ended(Status(int(status)), 0.0 if unit is None else unit.from_si(reached), "" if unit is None else unit.text)
            yield name, f"{said}; {reason}" if reason else said


def failing(problem: Problem, evaluation: Evaluation, theta: np.ndarray) -> str:
    """A sentence about the experiments that could not be simulated, and why."""
    failed = [f"'{name}' ({ended})" for name, ended in failures(problem, evaluation, theta)]
    listed = ", ".join(failed[:5]) + (f" and {len(failed) - 5} more" if len(failed) > 5 else "")
    return f"Experiments that fail: {listed}." if failed else "A formula gives a value that is not finite."


def _named(table: ParameterTable, positions: np.ndarray) -> str:
    return listing([table.names[i] for i in positions])


def _worth_a_second_search(problem: Problem, outcome: Outcome, method: str) -> bool:
    """Whether an end may be the fault of the start, and starts can be found."""
    if outcome.status is Status.NOT_CONVERGED and not estimator(method).finishes:
        return False
    lost = outcome.status in (Status.PLATEAU, Status.FLAT, Status.NOT_MOVED, Status.NOT_CONVERGED)
    return lost and starting.searchable(problem) and prod(problem.observed.shape) <= MOST_READINGS


def search_options(problem: Problem, limits: FitLimits = NO_LIMITS) -> Options:
    """Limits and tolerances for the estimator."""
    precision = float(np.max(problem.model.options.rtol)) if problem.integrated else EXACT
    tolerances = Tolerances(precision=precision, magnitude=data_size(problem))
    return Options(limits.max_iterations or Options.max_iterations, limits.max_seconds, tolerances)


def data_size(problem: Problem) -> float:
    """Norm of the measured values over their sigma (or in their units).

    Raises:
        DataError: it is beyond what can be squared.
    """
    with np.errstate(over="ignore"):
        size = float(np.linalg.norm(problem.observed * problem.weights))
    if np.isfinite(size):
        return size
    raise DataError("The measured values, over their sigma where it is given, are so large that their squares overflow. Check the units.")


def sum_of_squares(R: np.ndarray) -> float:
    """|r|^2 from a triangle of [J r]; infinite where it overflows."""
    with np.errstate(over="ignore"):
        return float(np.sum(R[:, -1] ** 2))


def parameter_sizes(table: ParameterTable) -> np.ndarray:
    """Sizes of the free parameters in their coordinates, see `kinetix.estimation.init`: 1 for logarithms, else by their values (NaN)."""
    return np.array([1.0 if table.parameters[i].scale == "log" else np.nan for i in table.free])


def check_estimator(method: str, problem: Problem) -> None:
    """That there is a method of this name, that it keeps the bounds that there are, and serves what is minimised.

    Raises:
        ParameterError: there is none, a package is missing, it keeps no bounds, or a loss or noise needs the usual one.
    """
    if method != DEFAULT and (problem.loss is not None or problem.noise is not None):
        what = "a robust loss" if problem.loss is not None else "noise that is estimated"
        raise ParameterError(f'method = "{method}" does not serve {what}, which "{DEFAULT}" minimises in rounds. Remove one of the two.')
    table = problem.table
    lower, upper = table.free_bounds()
    bounded = [table.names[i] for i, low, high in zip(table.free, lower, upper, strict=True) if np.isfinite([low, high]).any()]
    if not estimator(method).bounded and bounded:
        keeps = listing([f'"{name}"' for name, book in ESTIMATORS.items() if book.bounded])
        raise ParameterError(f'method = "{method}" keeps no bounds, and {listing(bounded)} has some. Take one that does: {keeps}.')


def _from(
    problem: Problem,
    evaluator: Evaluator,
    start: np.ndarray,
    options: Options,
    on_iteration: Callable[[Iteration], None] | None,
    method: str = DEFAULT,
) -> Outcome:
    """The outcome of one search. What ends where only the limits of sense stop it is no answer."""
    table = problem.table.started(start)
    return search_at(table, evaluator, table.free_start(), options, on_iteration, method)


def search_at(
    table: ParameterTable,
    evaluator: Evaluator,
    theta: np.ndarray,
    options: Options,
    on_iteration: Callable[[Iteration], None] | None = None,
    method: str = DEFAULT,
) -> Outcome:
    """The outcome of one search from free coordinates (free,), within the limits of sense about the starts of the table."""
    bounds, edges = Bounds(*table.free_bounds()), starting.search_limits(table)
    within = Bounds(np.maximum(bounds.lower, edges.lower), np.minimum(bounds.upper, edges.upper))
    within = within if estimator(method).bounded else None
    by_gradient = evaluator.by_gradient if evaluator.reverse_pays else None
    outcome = fit(evaluator.triangle, theta, within, options, on_iteration, parameter_sizes(table), method, by_gradient)
    away = _away(table, outcome)
    if not away.any():
        return outcome
    status = Status.PLATEAU if outcome.status.ok else outcome.status
    message = outcome.message if status is outcome.status else f"{status.sentence} ({count(outcome.evaluations, 'evaluation')})"
    return replace(outcome, status=status, message=message, at_lower=outcome.at_lower & ~away, at_upper=outcome.at_upper & ~away)


def _away(table: ParameterTable, outcome: Outcome) -> np.ndarray:
    """Which free parameters are where the search ends although the user set no bound there, (free,)."""
    bounds, edges = Bounds(*table.free_bounds()), starting.search_limits(table)
    low = (outcome.theta <= edges.lower) & (bounds.lower < edges.lower)
    return low | ((outcome.theta >= edges.upper) & (bounds.upper > edges.upper))


def _found_starts(problem: Problem, evaluator: Evaluator, seed: int) -> list[np.ndarray]:
    """The best trial starts, SI, (parameter,) each."""

    def ssr(start: np.ndarray) -> float:
        R, bad = evaluator.triangle(problem.table.started(start).free_start())
        return np.nan if bad else sum_of_squares(R)

    return starting.best_starts(starting.trial_starts(problem, seed), ssr)


def _exchanged(problem: Problem, best: Outcome) -> list[np.ndarray]:
    """Starts with the constants of two reactions exchanged, SI: where another optimum lies if there is a twin.

    Rate constants that are seen through one product only can often be interchanged (Rawlings and Ekerdt, example A.5).
    """
    table = problem.table
    if best.status not in (Status.SUCCESS, Status.ON_BOUND) or prod(problem.observed.shape) > MOST_READINGS:
        return []
    owners: dict[str, dict[str, int]] = {}
    for i in table.free:
        owner, _, quantity = table.names[i].partition(".")
        if isinstance(problem.spoken, ReactorModel) and owner not in ("initial", "feed", STEM) and quantity:
            owners.setdefault(owner, {})[quantity] = int(i)
    values, starts = table.values(best.theta), []
    for one, other in combinations(owners.values(), 2):
        if one.keys() == other.keys() and all(exchangeable(table.parameters[one[q]], table.parameters[other[q]]) for q in one):
            start = values.copy()
            start[list(one.values())], start[[other[q] for q in one]] = values[[other[q] for q in one]], values[list(one.values())]
            bounds = [(p.lower <= value <= p.upper) for p, value in zip(table.parameters, start, strict=True)]
            starts += [start] if all(bounds) else []
    return starts if len(starts) <= MOST_EXCHANGES else []


def _of_starts(runs: Runs) -> Iterator[str]:
    """Sentences about what several starts leave in doubt."""
    answers = int(np.count_nonzero(runs.optima.member >= 0))
    if len(runs.starts) > 1 and runs.cut_short is not None:
        yield (
            f"The search ended after {len(runs.outcomes)} of {len(runs.starts)} starts ({runs.cut_short.label}): the others might have led"
            " to another optimum."
        )
    reached = int(np.count_nonzero(runs.optima.member == 0))
    if runs.optima.equal == 1 and reached == 1 and answers >= FEW_STARTS:
        yield (
            f"Only 1 of {len(runs.outcomes)} starts reached the best optimum, so that a better one may have been missed: take more"
            " starts, or narrow the bounds."
        )


def _other_optima(problem: Problem, runs: Runs, twins: list[Outcome]) -> Iterator[str]:
    """Sentences about optima that are as good as the best but lie elsewhere."""
    table, best = problem.table, runs.outcome
    tolerances = search_options(problem).tolerances
    ends = [*runs.outcomes, *twins]
    optima = distinct_optima(ends, tolerances, parameter_sizes(table))
    told = 0
    for number, first in enumerate(optima.first):
        other = ends[first]
        level = alike(best.ssr, other.ssr, tolerances)
        determined = {best.status, other.status} <= {Status.SUCCESS, Status.ON_BOUND}
        if number == optima.member[runs.best] or not determined or not (level or other.ssr < best.ssr):
            continue
        told += 1
        if told > MOST_TOLD:
            continue
        how = relation(table, best.theta, other.theta)
        listed = values_of(table, other.theta) + (f" ({how})" if how else "")
        yield (
            f"Another set of parameters fits as well: {listed}. The data alone do not tell them apart."
            if level
            else f"Another set of parameters fits better: {listed}. Start there."
        )
    if told > MOST_TOLD:
        yield f"{count(told - MOST_TOLD, 'more set')} of parameters fit as well; all stand in the group starts of the result."


def _run_away(problem: Problem, best: Outcome) -> Iterator[str]:
    """Sentences about parameters that only the limits of sense have stopped."""
    table = problem.table
    for i in np.flatnonzero(_away(table, best)):
        p = table.parameters[table.free[i]]
        value = float(p.unit.from_si(np.exp(best.theta[i]) if p.scale == "log" else best.theta[i]))
        yield (
            f"{p.name} ran away to {plain(value, 3)} {p.unit.text}".rstrip() + ", where the search stops: nothing held it back on the way."
        )


def _advice(problem: Problem, best: Outcome, looked: bool, method: str) -> Iterator[str]:
    """What to try where the search failed."""
    if best.status not in (Status.PLATEAU, Status.NOT_MOVED, Status.NOT_CONVERGED):
        return
    if best.status is Status.NOT_CONVERGED and not estimator(method).finishes:
        yield (
            f'The method "{method}" came nearer to an optimum, but did not reach one, so that errors and intervals do not hold there. Write'
            ' method = "adam-then-lm", or leave the method out.'
        )
        return
    table = problem.table
    if best.unseen.all():
        yield (
            f"Nothing that was measured changes with {listing([table.names[i] for i in table.free])}, here or at values far from here: "
            "look at the amounts in the feed or at time zero, at the formulas of the responses, and at what was recognised in the data."
        )
        return
    if looked:
        yield (
            "Starts that were found in the data led no further, so that the reason is probably not a start: look at the data (units, "
            "columns, what was recognised) and at the rate laws."
        )
        return
    if not isinstance(problem.spoken, ReactorModel):
        yield "If the data and the formula are right, start nearer to the answer: plot the formula at the start over the data."
        return
    yield (
        f"If the data are right, the start may be too far off: leave out the start of {listing([table.names[i] for i in table.free])}, and "
        "kinetix looks for one in the data; or give a nearer one."
    )
