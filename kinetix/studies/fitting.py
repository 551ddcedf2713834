"""Fitting a problem: compile once, search, and gather what was found."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.analyses.covariance import LinearCovariance, linear_covariance, quantile
from kinetix.errors import DataError, ParameterError, SolveError
from kinetix.estimation import DEFAULT, Done, Iteration, Outcome
from kinetix.estimation.residuals import Evaluation
from kinetix.parameters import ConstantBindings, Derivable, DerivedEntropy
from kinetix.precision import float64
from kinetix.rates import constants_at
from kinetix.results import Curve, Dense, Derived, FitFacts, StartFacts
from kinetix.status import Status
from kinetix.studies import starting
from kinetix.studies.combinations import null_sentences
from kinetix.studies.describing import describe_model
from kinetix.studies.diagnosing import reasons
from kinetix.studies.evaluator import Evaluator
from kinetix.studies.likelihood import likelihood_covariance, likelihood_search, noise_facts
from kinetix.studies.noise import notes as noise_notes
from kinetix.studies.optima import relation
from kinetix.studies.priors import check_priors, prior_remarks, prior_texts
from kinetix.studies.problem import Problem, conditions_without_effect, only_measured, temperatures
from kinetix.studies.provenance import condition_columns
from kinetix.studies.provenance import provenance as origin
from kinetix.studies.replicates import replicate_test
from kinetix.studies.robustness import robust_covariance, robust_facts, robust_search
from kinetix.studies.searching import EXACT, NO_LIMITS, FitLimits, Found, Runs, check_estimator, failing, search
from kinetix.studies.starting import AS_GIVEN, Multistart
from kinetix.studies.suspicions import negative_constants, only_zeros
from kinetix.studies.uncertainty import (
    NOTHING,
    Estimate,
    Tell,
    Wanted,
    bootstrap_facts,
    influence_facts,
    profile_facts,
    why_not,
)
from kinetix.units import Unit

CURVE_POINTS = 121
"""Points of a smooth curve in a figure."""


def fit_problem(
    problem: Problem,
    limits: FitLimits = NO_LIMITS,
    on_iteration: Callable[[Iteration], None] | None = None,
    multistart: Multistart = AS_GIVEN,
    on_start: Callable[[Done], None] | None = None,
    wanted: Wanted = NOTHING,
    on_refit: Tell | None = None,
    on_fitted: Callable[[Evaluator, np.ndarray], None] | None = None,
    method: str = DEFAULT,
    **provenance: Any,
) -> FitFacts:
    """Fit a problem.

    Args:
        problem: what to fit.
        limits: when to stop.
        on_iteration: called after each iteration; a KeyboardInterrupt keeps the best point.
        multistart: from how many starts.
        on_start: called after the search from each start.
        wanted: which analyses follow the fit.
        on_refit: told how far they are.
        on_fitted: given the compiled evaluation and the best free coordinates, for what is computed from a fit.
        method: the estimator, one of `kinetix.estimation.ESTIMATORS`.
        provenance: written into the result: study text, import seconds, ...

    Raises:
        ParameterError: nothing to estimate, nothing measured, or a method that is not there or keeps no bounds.
        DataError: nothing but zeros measured.
        SolveError: the start cannot be simulated.
    """
    if not len(problem.table.free):
        raise ParameterError('Nothing to estimate: every parameter is known. Write { start = "..." } for those that the data shall decide.')
    if not problem.weights.any():
        raise ParameterError("Nothing measured: the data hold no value of any response.")
    if problem.model.method:
        raise ParameterError(
            f'[solver] method = "{problem.model.method}" gives values without derivatives, which a fit needs. Remove it to fit; it serves'
            " kinetix simulate, and kinetix check --cross-check compares it with kinetix's own method."
        )
    check_estimator(method, problem)
    check_priors(problem)
    if zeros := only_zeros(problem):
        raise DataError(*zeros)
    problem = only_measured(problem)
    if starting.missing(problem.table).size:
        starting.can_search(problem)
    if multistart.number is not None and multistart.number > 1:
        starting.spread_starts(problem, 1)  # what it cannot do is told before anything is compiled
    evaluator = Evaluator(problem)
    began = time.perf_counter()
    if problem.noise is not None:
        found = likelihood_search(problem, evaluator, limits, on_iteration, multistart, on_start)
    elif problem.loss is not None:
        found = robust_search(problem, evaluator, limits, on_iteration, multistart, on_start)
    else:
        found = search(problem, evaluator, limits, on_iteration, multistart, on_start, method)
    evaluator = evaluator.of(found.problem)
    outcome = found.outcome
    if not np.isfinite(outcome.R).all() and outcome.status != Status.NON_FINITE:
        raise SolveError(f"The fit ended before the start was evaluated ({outcome.status.label}), so there is no result to keep.")
    final = evaluator(outcome.theta)
    if outcome.status == Status.NON_FINITE:
        raise SolveError(_failed_start(problem, final, outcome.theta))
    if on_fitted is not None:
        on_fitted(evaluator, outcome.theta)
    run_seconds = time.perf_counter() - began
    times = {"trace_seconds": evaluator.trace_seconds, "compile_seconds": evaluator.compile_seconds, "run_seconds": run_seconds}
    seed = {"seed": found.runs.seed} if {"data", "spread"} & set(found.runs.origins) or wanted.bootstrap else {}
    fitted = _fitted(found, evaluator, final)
    facts = _facts(fitted, {**seed, "estimator": method, **provenance, **times})
    return _analysed(fitted, facts, wanted, on_refit or (lambda what, done, total: None))


def _analysed(fitted: _Fitted, facts: FitFacts, wanted: Wanted, tell: Tell) -> FitFacts:
    """The facts with those of the analyses that are wanted."""
    estimate = Estimate(fitted.problem, fitted.evaluator, fitted.outcome, fitted.predicted, fitted.linear, fitted.q, fitted.found.runs.seed)
    if wanted == NOTHING:
        return facts
    if refused := why_not(estimate, wanted):
        return replace(facts, warnings=(*facts.warnings, f"No profile, influence or bootstrap: {refused}."))
    began = time.perf_counter()
    remarks: list[str] = []
    if wanted.profile:
        profile, remarks = profile_facts(estimate, tell)
        facts = replace(facts, profile=profile)
    if wanted.influence:
        facts = replace(facts, influence=influence_facts(estimate, tell))
    if wanted.bootstrap:
        bootstrap, more = bootstrap_facts(estimate, wanted, tell)
        facts, remarks = replace(facts, bootstrap=bootstrap), remarks + more
    seconds = {"refit_seconds": time.perf_counter() - began}
    return replace(facts, warnings=(*facts.warnings, *remarks), provenance={**facts.provenance, **seconds})


def _failed_start(problem: Problem, evaluation: Evaluation, theta: np.ndarray) -> str:
    cure = " Correct the starts of the parameters, or leave them out: kinetix then looks for starts in the data."
    return (
        "The start cannot be simulated, so there is nothing to fit from."
        f" {failing(problem, evaluation, theta)}{cure if starting.searchable(problem) else ' Check the starts of the parameters.'}"
    )


# ----------------------------------------------------------------------------------------------------------------- facts


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A problem with its best point and the errors there.

    Attributes:
        found: what the search found; its problem and outcome stand beside it.
        evaluator: compiled evaluation.
        final: predictions at the best point.
        values: of all parameters, SI, (parameter,).
        bounds: "lower", "upper" or "" of all parameters, (parameter,).
        slope: d value / d coordinate of the free parameters, (free,).
        linear: errors in free coordinates.
        q: half-width of an interval in standard errors.
        errors: what the errors of a likelihood come from; empty where there is none.
    """

    found: Found
    evaluator: Evaluator
    final: Evaluation
    values: np.ndarray
    bounds: np.ndarray
    slope: np.ndarray
    linear: LinearCovariance
    q: float
    errors: str

    @property
    def problem(self) -> Problem:
        return self.found.problem

    @property
    def outcome(self) -> Outcome:
        return self.found.outcome

    @property
    def observed(self) -> np.ndarray:
        return np.where(self.problem.weights > 0, self.problem.observed, np.nan)

    @property
    def predicted(self) -> np.ndarray:
        return np.asarray(self.final.values)

    def errors_of(self, gradients: np.ndarray) -> np.ndarray:
        """Standard errors of quantities from their derivatives by all parameters (quantity, parameter)."""
        covariance = self.linear.propagate(gradients[:, self.problem.table.free] * self.slope)
        return np.sqrt(np.maximum(np.diag(covariance), 0.0))

    def spread(self, of_free: np.ndarray) -> np.ndarray:
        """A matrix over the free parameters as one over all, NaN elsewhere."""
        free, P = self.problem.table.free, len(self.values)
        whole = np.full((P, P), np.nan)
        whole[np.ix_(free, free)] = of_free
        return whole


def _fitted(found: Found, evaluator: Evaluator, final: Evaluation) -> _Fitted:
    table, outcome = found.problem.table, found.outcome
    values = table.values(outcome.theta)
    bounds = np.full(len(values), "", dtype=object)
    bounds[table.free[outcome.at_lower]] = "lower"
    bounds[table.free[outcome.at_upper]] = "upper"
    # a value on its bound is the bound, not the exponential of its logarithm
    for i in np.flatnonzero(bounds == "lower"):
        values[i] = table.parameters[i].lower
    for i in np.flatnonzero(bounds == "upper"):
        values[i] = table.parameters[i].upper
    trusted = found.problem.sigma_meaning == "trusted"
    n_observations = int(np.count_nonzero(found.problem.weights)) + int(table.priors.sum())  # a prior is an observation of a parameter
    errors = ""
    if found.problem.noise is not None:
        linear, errors = likelihood_covariance(found.problem, evaluator, outcome)
    elif found.problem.loss is not None:
        linear = robust_covariance(found.problem, evaluator, final, outcome)
    else:
        linear = linear_covariance(
            outcome.R, n_observations=n_observations, trusted=trusted, held=outcome.held, determination=outcome.determination
        )
    q = quantile(0.95, None if linear.trusted else linear.dof)
    return _Fitted(found, evaluator, final, values, bounds, table.coordinates().slope(values), linear, q, errors)


def _facts(fitted: _Fitted, provenance: dict[str, Any]) -> FitFacts:
    problem, outcome, linear, values = fitted.problem, fitted.outcome, fitted.linear, fitted.values
    table, campaign, weights = problem.table, problem.campaign, problem.weights
    shown = table.shown
    listed = table.listed
    covariance = fitted.spread(linear.covariance * np.outer(fitted.slope, fitted.slope))
    stderr = np.sqrt(np.diag(covariance))
    robust = robust_facts(problem, fitted.predicted) if problem.loss is not None else None
    noise = noise_facts(problem, fitted.final, fitted.errors) if problem.noise is not None else None
    given = problem.sigma_meaning != "estimated" and robust is None and noise is None
    ssr = float(outcome.ssr)
    return FitFacts(
        title=problem.title,
        parameter_names=tuple(p.name for p in listed),
        values_si=table.listed_values(values),
        start_si=table.listed_values(table.start),
        lower_si=np.array([p.lower for p in listed]),
        upper_si=np.array([p.upper for p in listed]),
        units=tuple(p.unit for p in listed),
        fixed=table.fixed[shown],
        scales=tuple(p.scale for p in listed),
        at_bound=tuple(str(name) for name in fitted.bounds[shown]),
        stderr_si=stderr[shown],
        covariance_si=covariance[np.ix_(shown, shown)],
        correlation=fitted.spread(linear.correlation)[np.ix_(shown, shown)],
        interval_si=np.stack([values - fitted.q * stderr, values + fitted.q * stderr], axis=1)[shown],
        parameter_notes=tuple(_notes(problem)[i] for i in shown),
        derived=tuple(_derived(fitted, factor) for factor in problem.derived if _estimated(factor, table.fixed)),
        experiments=campaign.experiments,
        responses=problem.responses,
        response_units=problem.units,
        times_si=campaign.times,
        time_unit=campaign.time_unit if problem.timed else None,
        observed_si=fitted.observed,
        predicted_si=fitted.predicted,
        mask=weights > 0,
        sigma_si=problem.sigma,
        weights_si=weights,
        weighted_residuals=np.where(weights > 0, (fitted.observed - fitted.predicted) * weights, np.nan),
        experiment_status=tuple(Status(int(s)) for s in np.asarray(fitted.final.status)),
        experiment_steps=np.asarray(fitted.final.steps, dtype=np.int64),
        experiment_reached_si=np.asarray(fitted.final.t_reached),
        experiment_why=reasons(problem, values, fitted.final.status, fitted.final.t_reached),
        sigma_meaning=problem.sigma_meaning,
        s=linear.s if robust is None else robust.residual_scale,
        ssr=ssr,
        chi_square=ssr if given else np.nan,
        reduced_chi_square=ssr / linear.dof if given and linear.dof > 0 else np.nan,
        p_value=linear.p_value if given else np.nan,
        dof=linear.dof,
        n_observations=int(np.count_nonzero(weights)),
        n_parameters=len(table.free),
        r_squared=_r_squared(problem, fitted.observed, fitted.predicted),
        rank=linear.rank,
        condition_number=linear.condition_number,
        priors=tuple(f"{table.names[i]}: {text}" for i, text in prior_texts(table)),
        null_directions=tuple(null_sentences(table, outcome.theta, linear)),
        without_effect=tuple(table.names[table.free[i]] for i in np.flatnonzero(outcome.determination.silent)),
        status=outcome.status,
        message=f"{outcome.message}; {fitted.found.how}" if fitted.found.how else outcome.message,
        iterations=outcome.iterations,
        evaluations=outcome.evaluations,
        history=np.array([iteration.ssr for iteration in outcome.history]),
        conditions=condition_columns(campaign),
        profiles=_profiles(problem, fitted.evaluator, outcome.theta) if problem.timed else None,
        arrhenius=_arrhenius(fitted),
        starts=_starts(problem, fitted.found.runs),
        robust=robust,
        noise=noise,
        replicates=replicate_test(problem, ssr, linear.rank),
        model=tuple("\t".join(row) for row in describe_model(problem)),
        notes=campaign.notes,
        warnings=(
            *campaign.warnings,
            *fitted.found.remarks,
            *conditions_without_effect(problem),
            *negative_constants(problem, fitted.values),
            *prior_remarks(problem, fitted.values),
        ),
        provenance=origin(problem) | provenance,
    )


def _starts(problem: Problem, runs: Runs) -> StartFacts | None:
    """The searches from all starts, those that were not run among them; None where there is only one."""
    if len(runs.starts) == 1:
        return None
    table, free, missing = problem.table, problem.table.free, len(runs.starts) - len(runs.outcomes)
    ends = [table.values(outcome.theta)[free] for outcome in runs.outcomes]
    begun = [np.isfinite(outcome.ssr) for outcome in runs.outcomes]
    optima = [ends[i] for i in runs.optima.first]

    def of_all(values: list[Any], fill: Any) -> np.ndarray:
        return np.array(values + [fill] * missing)

    nothing = np.full(len(free), np.nan)
    return StartFacts(
        parameter_names=tuple(table.names[i] for i in free),
        units=tuple(table.parameters[i].unit for i in free),
        origins=runs.origins,
        starts_si=runs.starts[:, free],
        ends_si=of_all([end if began else nothing for end, began in zip(ends, begun, strict=True)], nothing),
        start_ssr=of_all([outcome.history[0].ssr if outcome.history else np.nan for outcome in runs.outcomes], np.nan),
        ssr=of_all([outcome.ssr for outcome in runs.outcomes], np.nan),
        status=tuple(outcome.status for outcome in runs.outcomes) + (runs.cut_short or Status.STOPPED,) * missing,
        iterations=of_all([outcome.iterations for outcome in runs.outcomes], 0),
        optimum=of_all(runs.optima.member.tolist(), -1),
        optima_si=np.array(optima).reshape(len(optima), len(free)),
        optima_ssr=np.array([runs.outcomes[i].ssr for i in runs.optima.first]),
        optima_notes=tuple(
            relation(table, runs.outcome.theta, runs.outcomes[i].theta) if number < runs.optima.equal else ""
            for number, i in enumerate(runs.optima.first)
        ),
        equal=runs.optima.equal,
        best=runs.best,
    )


def _notes(problem: Problem) -> list[str]:
    """Of each parameter: the temperature at which a constant that depends on it is stated."""
    notes = [""] * len(problem.table.names)
    for constant in problem.constants:
        if constant.reference >= 0 and constant.inverse_T_ref:
            notes[constant.reference] = f"at {constant.T_ref:.6g} K"
    for i, note in noise_notes(problem.noise, problem.responses) if problem.noise is not None else ():
        notes[i] = note
    for i, text in prior_texts(problem.table):
        notes[i] = f"{notes[i]}, {text}" if notes[i] else text
    return notes


def _estimated(factor: Derivable, fixed: np.ndarray) -> bool:
    """Whether a part of it was estimated; a factor of known numbers is known."""
    c = factor.constant
    return any(i >= 0 and not fixed[i] for i in (c.reference, c.exponent, c.energy))


def _derived(fitted: _Fitted, quantity: Derivable) -> Derived:
    error = float(fitted.errors_of(quantity.gradient(fitted.values)[None])[0])
    undetermined = "; not determined by the data" if np.isnan(error) else ""
    error = error if error > 0 else np.nan  # all its parts are held
    to_unit = quantity.unit.scale_from_si
    T_ref = f"{quantity.constant.T_ref:.6g} K"
    if isinstance(quantity, DerivedEntropy):
        entropy = quantity.value(fitted.values)
        note = f"from k at {T_ref} and dH{'' if quantity.standard == 1 else '; standard state 1 mol/L'}{undetermined}"
        lower, upper = (float(to_unit(entropy + sign * fitted.q * error)) for sign in (-1.0, 1.0))
        return Derived(quantity.name, float(to_unit(entropy)), quantity.unit, float(to_unit(error)), lower, upper, note)
    log_value = quantity.log_value(fitted.values)
    with np.errstate(over="ignore"):
        value, lower, upper = (to_unit(np.exp(log)) for log in (log_value, log_value - fitted.q * error, log_value + fitted.q * error))
    value = float(value) if np.isfinite(value) else np.nan  # a search that ran away leaves no such number
    return Derived(
        name=quantity.name,
        value=value,
        unit=quantity.unit,
        stderr=value * error,
        lower=float(lower),
        upper=float(upper),
        note=f"from k at {T_ref} and Ea{undetermined}"
        + (f"; interval from ln A (standard error {error:.2g})" if np.isfinite(error) else ""),
    )


def _r_squared(problem: Problem, observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """By response; NaN where fewer than two values, or equal ones, leave nothing to explain."""
    out = []
    for r in range(len(problem.responses)):
        used = problem.weights[..., r] > 0
        y, model, w = observed[..., r][used], predicted[..., r][used], problem.weights[..., r][used] ** 2
        if used.sum() < 2 or np.ptp(y) <= EXACT * np.abs(y).max():
            out.append(np.nan)
            continue
        mean = np.sum(w * y) / np.sum(w)
        out.append(1.0 - np.sum(w * (y - model) ** 2) / np.sum(w * (y - mean) ** 2))
    return np.array(out)


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


def _arrhenius(fitted: _Fitted) -> tuple[Curve, ...]:
    """Each constant with a temperature dependence over the temperatures of the data, with its band from the joint covariance."""
    problem = fitted.problem
    chosen = [i for i, constant in enumerate(problem.constants) if constant.thermal]
    T = temperatures(problem.spoken, problem.campaign)
    if not chosen or T is None:
        return ()
    low, high = float(np.min(T)), float(np.max(T))
    if low == high:
        low, high = low - 10.0, high + 10.0
    inverse = np.linspace(1 / high, 1 / low, 61)[::-1]
    with float64():
        log_k, gradients = _log_constants(problem.model.constants, fitted.values, 1 / inverse)
    curves = []
    for i in chosen:
        constant, center = problem.constants[i], np.asarray(log_k)[:, i]
        margin = fitted.q * fitted.errors_of(np.asarray(gradients)[:, i])

        def in_unit(log_value: np.ndarray, unit: Unit = constant.unit) -> np.ndarray:
            with np.errstate(over="ignore"):  # the band of what is hardly known is infinitely wide
                return np.asarray(unit.scale_from_si(np.exp(log_value)))

        curves.append(Curve(constant.name, constant.unit, 1 / inverse, in_unit(center), in_unit(center - margin), in_unit(center + margin)))
    return tuple(curves)
