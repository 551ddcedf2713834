"""Fitting a problem: compile once, drive the estimator, and gather what was found."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.analyses.covariance import LinearCovariance, linear_covariance, quantile
from kinetix.errors import ParameterError, SolveError
from kinetix.estimation import Bounds, Iteration, Options, Outcome, Tolerances, fit
from kinetix.estimation.residuals import Evaluation
from kinetix.parameters import ConstantBindings, DerivedFactor
from kinetix.precision import float64
from kinetix.rates import constants_at
from kinetix.results import Curve, Dense, Derived, FitFacts
from kinetix.results.phrases import listing
from kinetix.simulation import ReactorModel
from kinetix.status import Status
from kinetix.studies import starting
from kinetix.studies.describing import describe_model
from kinetix.studies.evaluator import Evaluator
from kinetix.studies.problem import Problem, only_measured
from kinetix.studies.provenance import condition_columns
from kinetix.studies.provenance import provenance as origin
from kinetix.studies.suspicions import negative_constants
from kinetix.units import Unit

CURVE_POINTS = 121
"""Points of a smooth curve in a figure."""


@dataclass(frozen=True)
class FitLimits:
    """When to stop.

    Attributes:
        max_iterations: None for the estimator's own limit.
        max_seconds: wall time of the iterations; None for no limit.
    """

    max_iterations: int | None = None
    max_seconds: float | None = None


def fit_problem(
    problem: Problem, limits: FitLimits = FitLimits(), on_iteration: Callable[[Iteration], None] | None = None, **provenance: Any
) -> FitFacts:
    """Fit a problem.

    Args:
        problem: what to fit.
        limits: when to stop.
        on_iteration: called after each iteration; a KeyboardInterrupt keeps the best point.
        provenance: written into the result: study text, import seconds, ...

    Raises:
        ParameterError: nothing to estimate, or nothing measured.
        SolveError: the start cannot be simulated.
    """
    table = problem.table
    if not len(table.free):
        raise ParameterError('Nothing to estimate: every parameter is known. Write { start = "..." } for those that the data shall decide.')
    if not problem.weights.any():
        raise ParameterError("Nothing measured: the data hold no value of any response.")
    problem = only_measured(problem)
    searched = starting.missing(table)
    if searched.size:
        starting.can_search(problem)
    evaluator = Evaluator(problem)
    began = time.perf_counter()
    options = Options(
        limits.max_iterations or Options.max_iterations,
        limits.max_seconds,
        Tolerances(precision=_precision(problem), magnitude=float(np.linalg.norm(problem.observed * problem.weights))),
    )
    bounds = Bounds(*table.free_bounds())
    starts = _found_starts(problem, evaluator) if searched.size else [table.start]
    outcomes: list[Outcome] = []
    for start in starts:
        outcomes.append(fit(evaluator.triangle, table.started(start).free_start(), bounds, options, on_iteration))
        if outcomes[-1].status in (Status.STOPPED, Status.TIME_LIMIT):
            break
    chosen = min(range(len(outcomes)), key=lambda i: (not outcomes[i].status.ok, np.nan_to_num(outcomes[i].ssr, nan=np.inf)))
    outcome = outcomes[chosen]
    problem = replace(problem, table=table.started(starts[chosen]))
    if not np.isfinite(outcome.R).all() and outcome.status != Status.NON_FINITE:
        raise SolveError(f"The fit ended before the start was evaluated ({outcome.status.label}), so there is no result to keep.")
    final = evaluator(outcome.theta)
    if outcome.status == Status.NON_FINITE:
        raise SolveError(_failed_start(problem, final))
    run_seconds = time.perf_counter() - began
    times = {"trace_seconds": evaluator.trace_seconds, "compile_seconds": evaluator.compile_seconds, "run_seconds": run_seconds}
    facts = _facts(problem, evaluator, outcome, final, {**provenance, **times})
    if not searched.size:
        return facts
    found = f"the starts of {listing([table.names[i] for i in searched])} come from the data: {starting.describe(len(starts))}"
    return replace(facts, message=f"{facts.message}; {found}", warnings=(*facts.warnings, *_other_optima(problem, outcome, outcomes)))


def _found_starts(problem: Problem, evaluator: Evaluator) -> list[np.ndarray]:
    """The best trial starts, SI, (parameter,) each."""

    def ssr(start: np.ndarray) -> float:
        R, bad = evaluator.triangle(problem.table.started(start).free_start())
        return np.nan if bad else float(np.sum(R[:, -1] ** 2))

    found = starting.best_starts(starting.trial_starts(problem), ssr)
    if not found:
        names = listing([problem.table.names[i] for i in starting.missing(problem.table)])
        raise SolveError(f"No start of {names} could be simulated. Write a start for each.")
    return found


def _other_optima(problem: Problem, best: Outcome, outcomes: list[Outcome]) -> list[str]:
    """Sentences about optima that are as good as the best but lie elsewhere."""
    table = problem.table
    sentences = []
    for other in outcomes:
        alike = other.status.ok and best.status.ok and other.ssr <= best.ssr * (1 + 1e-6)
        if alike and np.max(np.abs(other.theta - best.theta) / np.maximum(np.abs(best.theta), 1.0)) > 1e-2:
            values = table.values(other.theta)
            free = [(table.parameters[i], values[i]) for i in table.free]
            listed = listing([f"{p.name} = {float(p.unit.from_si(value)):.6g} {p.unit.text}" for p, value in free])
            sentences.append(f"Another set of parameters fits as well: {listed}. The data alone do not tell them apart.")
    return list(dict.fromkeys(sentences))[:1]


WITHOUT_EFFECT = 1e-9
"""Change of all predictions together, relative to the data, below which a parameter is said to have no effect on them."""


def _without_effect(problem: Problem, outcome: Outcome) -> list[str]:
    """Sentences about parameters that change no measured value: their error may be small for no other reason than a perfect fit."""
    table = problem.table
    size = np.linalg.norm(problem.observed * problem.weights)
    effects = np.linalg.norm(outcome.R[:-1, :-1], axis=0)
    sentences = []
    for position, effect, value, held in zip(table.free, effects, outcome.theta, outcome.held, strict=True):
        p = table.parameters[position]
        if not held and effect * (1.0 if p.scale == "log" else abs(value)) <= WITHOUT_EFFECT * size:
            sentences.append(
                f"No measured value changes with {p.name} where the fit ended: the data do not determine it, whatever its error says."
            )
    return sentences


def _precision(problem: Problem) -> float:
    """Relative error of the computed predictions."""
    integrated = isinstance(problem.spoken, ReactorModel) and problem.spoken.reactor.timed
    return float(np.max(problem.model.options.rtol)) if integrated else 1e-14


def _failed_start(problem: Problem, evaluation: Evaluation) -> str:
    failed = [
        f"'{name}' ({Status(int(status)).sentence})"
        for name, status in zip(problem.campaign.experiments, np.asarray(evaluation.status), strict=True)
        if not Status(int(status)).ok
    ]
    listed = ", ".join(failed[:5]) + (f" and {len(failed) - 5} more" if len(failed) > 5 else "")
    where = f" Experiments that fail: {listed}." if failed else " A formula gives a value that is not finite."
    return f"The start cannot be simulated, so there is nothing to fit from.{where} Check the starts of the parameters."


# ----------------------------------------------------------------------------------------------------------------- facts


def _facts(problem: Problem, evaluator: Evaluator, outcome: Outcome, final: Evaluation, provenance: dict[str, Any]) -> FitFacts:
    table, campaign = problem.table, problem.campaign
    coordinates = table.coordinates()
    theta = outcome.theta
    values = table.values(theta)
    # a value on its bound is the bound, not the exponential of its logarithm
    for position, lower, upper in zip(table.free, outcome.at_lower, outcome.at_upper, strict=True):
        values[position] = table.parameters[position].lower if lower else table.parameters[position].upper if upper else values[position]
    n_observations = int(np.count_nonzero(problem.weights))
    trusted = problem.sigma_meaning == "trusted"
    linear = linear_covariance(outcome.R, held=outcome.held, n_observations=n_observations, trusted=trusted)
    slope = coordinates.slope(values)
    P = len(table.parameters)
    covariance = np.full((P, P), np.nan)
    covariance[np.ix_(table.free, table.free)] = linear.covariance * np.outer(slope, slope)
    correlation = np.full((P, P), np.nan)
    correlation[np.ix_(table.free, table.free)] = linear.correlation
    stderr = np.sqrt(np.diag(covariance))
    q = quantile(0.95, None if trusted else linear.dof)
    observed, predicted = np.where(problem.weights > 0, problem.observed, np.nan), np.asarray(final.values)
    given = problem.sigma_meaning != "estimated"
    ssr = float(outcome.ssr)
    bound_names = np.full(P, "", dtype=object)
    bound_names[table.free[np.asarray(outcome.at_lower)]] = "lower"
    bound_names[table.free[np.asarray(outcome.at_upper)]] = "upper"
    held = table.fixed | (bound_names != "")
    shown = table.shown
    listed = [table.parameters[i] for i in shown]
    return FitFacts(
        title=problem.title,
        parameter_names=tuple(p.name for p in listed),
        values_si=values[shown],
        start_si=table.start[shown],
        lower_si=np.array([p.lower for p in listed]),
        upper_si=np.array([p.upper for p in listed]),
        units=tuple(p.unit for p in listed),
        fixed=table.fixed[shown],
        scales=tuple(p.scale for p in listed),
        at_bound=tuple(str(name) for name in bound_names[shown]),
        stderr_si=stderr[shown],
        covariance_si=covariance[np.ix_(shown, shown)],
        correlation=correlation[np.ix_(shown, shown)],
        interval_si=np.stack([values - q * stderr, values + q * stderr], axis=1)[shown],
        derived=tuple(_derived(factor, values, covariance, held, q) for factor in problem.derived if _estimated(factor, table.fixed)),
        experiments=campaign.experiments,
        responses=problem.responses,
        response_units=problem.units,
        times_si=campaign.times,
        time_unit=campaign.time_unit if _timed(problem) else None,
        observed_si=observed,
        predicted_si=predicted,
        mask=problem.weights > 0,
        sigma_si=problem.sigma,
        weights_si=problem.weights,
        weighted_residuals=np.where(problem.weights > 0, (observed - predicted) * problem.weights, np.nan),
        experiment_status=tuple(Status(int(s)) for s in np.asarray(final.status)),
        experiment_steps=np.asarray(final.steps, dtype=np.int64),
        sigma_meaning=problem.sigma_meaning,
        s=linear.s,
        ssr=ssr,
        chi_square=ssr if given else np.nan,
        reduced_chi_square=ssr / linear.dof if given and linear.dof > 0 else np.nan,
        p_value=linear.p_value if given else np.nan,
        dof=linear.dof,
        n_observations=n_observations,
        n_parameters=len(table.free),
        r_squared=_r_squared(problem, observed, predicted),
        rank=linear.rank,
        condition_number=linear.condition_number,
        null_directions=_null_directions(
            _flat(linear, outcome), [table.names[i] for i in table.free], [table.parameters[i].scale for i in table.free]
        ),
        status=outcome.status,
        message=outcome.message,
        iterations=outcome.iterations,
        evaluations=outcome.evaluations,
        history=np.array([iteration.ssr for iteration in outcome.history]),
        conditions=condition_columns(campaign),
        profiles=_profiles(problem, evaluator, theta) if _timed(problem) else None,
        arrhenius=_arrhenius(problem, values, covariance, q),
        model=tuple("\t".join(row) for row in describe_model(problem)),
        notes=campaign.notes,
        warnings=(*_without_effect(problem, outcome), *negative_constants(problem, values)),
        provenance=origin(problem) | provenance,
    )


def _timed(problem: Problem) -> bool:
    return isinstance(problem.spoken, ReactorModel) and problem.spoken.reactor.timed


def _estimated(factor: DerivedFactor, fixed: np.ndarray) -> bool:
    """Whether a part of it was estimated; a factor of known numbers is known."""
    c = factor.constant
    return any(i >= 0 and not fixed[i] for i in (c.reference, c.exponent, c.energy))


def _derived(factor: DerivedFactor, values: np.ndarray, covariance: np.ndarray, held: np.ndarray, q: float) -> Derived:
    log_value = factor.log_value(values)
    gradient = factor.gradient(values)
    # what is held at its value contributes no error; what the data do not determine leaves the factor without one (NaN)
    involved = np.flatnonzero((gradient != 0) & ~held)
    error = float(np.sqrt(gradient[involved] @ covariance[np.ix_(involved, involved)] @ gradient[involved]))
    value = float(np.exp(log_value))
    to_unit = factor.unit.scale_from_si
    return Derived(
        name=factor.name,
        value=float(to_unit(value)),
        unit=factor.unit,
        stderr=float(to_unit(value)) * error,
        lower=float(to_unit(np.exp(log_value - q * error))),
        upper=float(to_unit(np.exp(log_value + q * error))),
        note=f"from k at {factor.constant.T_ref:.6g} K and Ea; interval from ln A (standard error {error:.2g})",
    )


def _r_squared(problem: Problem, observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    out = []
    for r in range(len(problem.responses)):
        used = problem.weights[..., r] > 0
        y, model, w = observed[..., r][used], predicted[..., r][used], problem.weights[..., r][used] ** 2
        mean = np.sum(w * y) / np.sum(w) if used.any() else np.nan
        total = np.sum(w * (y - mean) ** 2) if used.any() else 0.0
        out.append(1.0 - np.sum(w * (y - model) ** 2) / total if total > 0 else np.nan)
    return np.array(out)


def _flat(linear: LinearCovariance, outcome: Outcome) -> list[np.ndarray]:
    """Directions that the residuals do not see; on a plateau only the search has noticed one."""
    directions = list(linear.null_directions)
    return directions if directions or outcome.direction is None else [outcome.direction]


def _null_directions(directions: list[np.ndarray], names: list[str], scales: list[str]) -> tuple[str, ...]:
    sentences = []
    for direction in directions:
        parts = [i for i in np.argsort(-np.abs(direction)) if abs(direction[i]) > 0.05]
        terms = " ".join(f"{direction[i]:+.2f} {'ln ' if scales[i] == 'log' else ''}{names[i]}" for i in parts)
        sentences.append(f"the data do not change along {terms}")
    return tuple(sentences)


def _profiles(problem: Problem, evaluator: Evaluator, theta: np.ndarray) -> Dense:
    """Smooth curves over the time of each experiment."""
    grid = np.linspace(0.0, problem.campaign.times.max(axis=1), CURVE_POINTS, axis=1)
    return Dense(grid, evaluator.at_times(theta, grid))


@jax.jit
def _log_constants(bindings: ConstantBindings, parameters: jax.Array, temperatures: jax.Array) -> tuple[jax.Array, jax.Array]:
    """ln k at temperatures, (temperature, constant), and its derivatives by the parameters."""

    def log_constants(parameters: jax.Array) -> jax.Array:
        thermal = bindings.thermal(parameters)
        return jnp.log(jax.vmap(lambda T: constants_at(thermal, T))(temperatures))

    return log_constants(parameters), jax.jacfwd(log_constants)(parameters)


def _arrhenius(problem: Problem, values: np.ndarray, covariance: np.ndarray, q: float) -> tuple[Curve, ...]:
    """Each constant with a temperature dependence over the temperatures of the data, with its band from the joint covariance."""
    campaign = problem.campaign
    chosen = [i for i, constant in enumerate(problem.constants) if constant.thermal]
    T = campaign.programs["T"][1] if "T" in campaign.programs else campaign.conditions.get("T")
    if not chosen or T is None:
        return ()
    low, high = float(np.min(T)), float(np.max(T))
    if low == high:
        low, high = low - 10.0, high + 10.0
    inverse = np.linspace(1 / high, 1 / low, 61)[::-1]
    with float64():
        log_k, slope = _log_constants(problem.model.constants, values, 1 / inverse)
    held = np.nan_to_num(covariance)
    curves = []
    for i in chosen:
        constant = problem.constants[i]
        slopes = np.asarray(slope)[:, i]
        error = np.sqrt(np.maximum(np.einsum("ga,ab,gb->g", slopes, held, slopes), 0.0))
        center = np.asarray(log_k)[:, i]
        unit = constant.unit

        def in_unit(log_value: np.ndarray, unit: Unit = unit) -> np.ndarray:
            return np.asarray(unit.scale_from_si(np.exp(log_value)))

        curves.append(Curve(constant.name, unit, 1 / inverse, in_unit(center), in_unit(center - q * error), in_unit(center + q * error)))
    return tuple(curves)
