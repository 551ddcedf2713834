"""The search for the best parameters of a problem: from the starts that were given, or from starts found in the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod

import numpy as np

from kinetix.errors import DataError, ParameterError, SolveError
from kinetix.estimation import Bounds, Iteration, Options, Outcome, Tolerances, fit
from kinetix.estimation.residuals import Evaluation
from kinetix.parameters import Parameter, ParameterTable
from kinetix.results.phrases import count, how_ended, listing, plain
from kinetix.simulation import ReactorModel
from kinetix.status import Status
from kinetix.studies import starting
from kinetix.studies.diagnosing import reasons
from kinetix.studies.evaluator import Evaluator
from kinetix.studies.problem import Problem

EXACT = 1e-14
"""Relative error of predictions that are not integrated."""

ALIKE, APART = 1e-6, 1e-2
"""Two optima are equally good within the first relative difference of their sums of squares, and two within the second of a coordinate."""

MOST_READINGS, MOST_EXCHANGES, EXCHANGE_ITERATIONS = 10_000, 6, 100
"""So many readings, exchanges and iterations are not too much for a look at other optima that nobody asked for."""


def _is_number(value: object, kinds: type | tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


@dataclass(frozen=True)
class FitLimits:
    """When to stop.

    Attributes:
        max_iterations: None for the estimator's own limit.
        max_seconds: wall time of the iterations; None for no limit.

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
class Found:
    """What a search found.

    Attributes:
        problem: with the start from which the best point was reached.
        outcome: the best.
        searched: positions of the parameters whose starts were found from the data.
        how: how they were found, empty where none were.
        remarks: what the reader must know of the search, in sentences.
    """

    problem: Problem
    outcome: Outcome
    searched: np.ndarray
    how: str
    remarks: tuple[str, ...]


def search(problem: Problem, evaluator: Evaluator, limits: FitLimits, on_iteration: Callable[[Iteration], None] | None) -> Found:
    """The best point, from the given starts or, where one is missing, from several.

    Raises:
        SolveError: no start that was found can be simulated.
    """
    table = problem.table
    searched = starting.missing(table)
    options = search_options(problem, limits)

    def tried(starts: list[np.ndarray]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for start in starts:
            outcomes.append(_from(problem, evaluator, start, options, on_iteration))
            if outcomes[-1].status in (Status.STOPPED, Status.TIME_LIMIT):
                break
        return outcomes

    remarks: list[str] = []
    starts = _found_starts(problem, evaluator) if searched.size else [table.start]
    if not starts:
        middle = problem.table.started(starting.trial_starts(problem).starts[0]).free_start()
        raise SolveError(
            f"No start of {_named(table, searched)} could be simulated. {failing(problem, evaluator(middle), middle)}"
            " Look at what is known and at [solver], or write a start for each."
        )
    outcomes = tried(starts)
    chosen = _best(outcomes)
    looked = bool(searched.size)
    if not looked and _worth_a_second_search(problem, outcomes[0]):
        looked = True
        unknown = replace(problem, table=table.started(np.where(table.fixed, table.start, np.nan)))
        others = _found_starts(unknown, evaluator)
        again = tried(others)
        if again and _better(problem, again[_best(again)], outcomes[0]):
            remarks.append(
                f"From the given start the search ended without an answer ({outcomes[0].status.label}); this one was reached from starts "
                "that were found in the data."
            )
            starts, outcomes, chosen, searched = others, again, _best(again), table.free
    best, problem = outcomes[chosen], replace(problem, table=table.started(starts[chosen]))
    if not searched.size and limits.max_seconds is None:
        short = replace(options, max_iterations=EXCHANGE_ITERATIONS)
        outcomes += [_from(problem, evaluator, start, short, None) for start in _exchanged(problem, best)]
    how = f"the starts of {_named(table, searched)} come from the data: {starting.describe(len(starts))}" if searched.size else ""
    remarks += [*_other_optima(problem, best, outcomes), *_run_away(problem, best)]
    if best.status in (Status.NOT_CONVERGED, Status.NOT_MOVED) and best.failed is not None:
        reason = f"next to where it ended not everything can be simulated. {failing(problem, evaluator(best.failed), best.failed)}"
        best = replace(best, message=f"{best.message}; {reason}".rstrip("."))
        remarks.append(f"The search could not go on: {reason}")
    else:
        remarks += _advice(problem, best, looked)
    return Found(problem, best, searched, how, tuple(remarks))


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


def _best(outcomes: list[Outcome]) -> int:
    """Position of the best: an answer before all others, then the smallest sum of squares."""
    return min(range(len(outcomes)), key=lambda i: (not outcomes[i].status.ok, np.nan_to_num(outcomes[i].ssr, nan=np.inf)))


def _worth_a_second_search(problem: Problem, outcome: Outcome) -> bool:
    """Whether an end may be the fault of the start, and starts can be found."""
    lost = outcome.status in (Status.PLATEAU, Status.FLAT, Status.NOT_MOVED, Status.NOT_CONVERGED)
    return lost and starting.searchable(problem) and prod(problem.observed.shape) <= MOST_READINGS


def _better(problem: Problem, one: Outcome, other: Outcome) -> bool:
    """Whether an outcome is an answer, and lies lower than the other by more than the precision of the predictions."""
    tolerances = search_options(problem).tolerances
    unsure = 2 * tolerances.precision * tolerances.magnitude / np.sqrt(other.ssr) if other.ssr > 0 else np.inf
    return one.status.ok and (not other.status.ok or one.ssr < other.ssr * (1 - ALIKE - unsure))


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


def _from(
    problem: Problem, evaluator: Evaluator, start: np.ndarray, options: Options, on_iteration: Callable[[Iteration], None] | None
) -> Outcome:
    """The outcome of one search. What ends where only the limits of sense stop it is no answer."""
    table = problem.table.started(start)
    bounds, edges = Bounds(*table.free_bounds()), starting.search_limits(table)
    within = Bounds(np.maximum(bounds.lower, edges.lower), np.minimum(bounds.upper, edges.upper))
    outcome = fit(evaluator.triangle, table.free_start(), within, options, on_iteration, parameter_sizes(table))
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


def _found_starts(problem: Problem, evaluator: Evaluator) -> list[np.ndarray]:
    """The best trial starts, SI, (parameter,) each."""

    def ssr(start: np.ndarray) -> float:
        R, bad = evaluator.triangle(problem.table.started(start).free_start())
        return np.nan if bad else sum_of_squares(R)

    return starting.best_starts(starting.trial_starts(problem), ssr)


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
        if isinstance(problem.spoken, ReactorModel) and owner not in ("initial", "feed") and quantity:
            owners.setdefault(owner, {})[quantity] = int(i)
    values, starts = table.values(best.theta), []
    for one, other in combinations(owners.values(), 2):
        if one.keys() == other.keys() and all(_exchangeable(table.parameters[one[q]], table.parameters[other[q]]) for q in one):
            start = values.copy()
            start[list(one.values())], start[[other[q] for q in one]] = values[[other[q] for q in one]], values[list(one.values())]
            bounds = [(p.lower <= value <= p.upper) for p, value in zip(table.parameters, start, strict=True)]
            starts += [start] if all(bounds) else []
    return starts if len(starts) <= MOST_EXCHANGES else []


def _exchangeable(one: Parameter, other: Parameter) -> bool:
    return one.scale == other.scale and one.unit.dimension == other.unit.dimension


def _other_optima(problem: Problem, best: Outcome, outcomes: list[Outcome]) -> Iterator[str]:
    """A sentence about an optimum that is as good as the best but lies elsewhere."""
    table = problem.table
    for other in outcomes:
        determined = {best.status, other.status} <= {Status.SUCCESS, Status.ON_BOUND}
        alike = determined and other.ssr <= best.ssr * (1 + ALIKE)
        if alike and np.max(np.abs(other.theta - best.theta) / np.maximum(np.abs(best.theta), 1.0)) > APART:
            better = other.ssr < best.ssr * (1 - ALIKE)
            values = table.values(other.theta)
            free = [(table.parameters[i], values[i]) for i in table.free]
            listed = listing([f"{p.name} = {plain(float(p.unit.from_si(value)))} {p.unit.text}".rstrip() for p, value in free])
            yield (
                f"Another set of parameters fits better: {listed}. Start there."
                if better
                else f"Another set of parameters fits as well: {listed}. The data alone do not tell them apart."
            )
            return


def _run_away(problem: Problem, best: Outcome) -> Iterator[str]:
    """Sentences about parameters that only the limits of sense have stopped."""
    table = problem.table
    for i in np.flatnonzero(_away(table, best)):
        p = table.parameters[table.free[i]]
        value = float(p.unit.from_si(np.exp(best.theta[i]) if p.scale == "log" else best.theta[i]))
        yield (
            f"{p.name} ran away to {plain(value, 3)} {p.unit.text}".rstrip() + ", where the search stops: nothing held it back on the way."
        )


def _advice(problem: Problem, best: Outcome, looked: bool) -> Iterator[str]:
    """What to try where the search failed."""
    if best.status not in (Status.PLATEAU, Status.NOT_MOVED, Status.NOT_CONVERGED):
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
