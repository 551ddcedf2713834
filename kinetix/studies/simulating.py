"""Simulating a problem at its start values, and saying what it means without running anything long."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from kinetix.errors import ParameterError, StudyError
from kinetix.estimation import Bounds, init, update
from kinetix.estimation.determination import null_directions
from kinetix.precision import float64
from kinetix.results import SimulationFacts, simulation_tree
from kinetix.results.phrases import listing, plain
from kinetix.simulation import Prediction, predict
from kinetix.status import Status
from kinetix.studies import starting
from kinetix.studies.describing import Row, describe_experiments, describe_model
from kinetix.studies.diagnosing import reasons
from kinetix.studies.evaluator import Evaluator
from kinetix.studies.noise import known
from kinetix.studies.problem import Problem, conditions_without_effect
from kinetix.studies.provenance import condition_columns, provenance
from kinetix.studies.searching import failures, parameter_sizes, search_options, sum_of_squares
from kinetix.studies.suspicions import only_zeros
from kinetix.units import Unit

DOUBTFUL_CONDITION = 1e6
"""Condition number from which on `check` speaks of it."""

SHARE = 0.05
"""Share of the largest component from which on a parameter is said to take part in a direction."""


def simulate_problem(problem: Problem) -> xr.DataTree:
    """Responses at the start values of the parameters, at the data's or the given conditions and times."""
    require_values(problem)
    if problem.timed and not problem.campaign.rows_read and not problem.campaign.times.any():
        raise StudyError('No times to simulate. Write times = "0:60:61 min" under [simulate]; in Python times="0:60:61 min".')
    prediction = predicted(problem)
    shown = problem.table.listed
    return simulation_tree(
        SimulationFacts(
            title=problem.title,
            parameter_names=tuple(p.name for p in shown),
            values_si=np.array([p.start for p in shown]),
            units=tuple(p.unit for p in shown),
            experiments=problem.campaign.experiments,
            responses=problem.responses,
            response_units=problem.units,
            times_si=problem.campaign.times,
            time_unit=problem.campaign.time_unit if problem.timed else None,
            predicted_si=np.asarray(prediction.values),
            experiment_status=tuple(Status(int(status)) for status in np.asarray(prediction.status)),
            experiment_steps=np.asarray(prediction.steps, dtype=np.int64),
            experiment_reached_si=np.asarray(prediction.t_reached),
            experiment_why=reasons(problem, problem.table.start, prediction.status, prediction.t_reached),
            conditions=condition_columns(problem.campaign),
            notes=problem.campaign.notes,
            provenance=provenance(problem),
        )
    )


def require_values(problem: Problem) -> None:
    """That every parameter has a value to simulate with.

    Raises:
        ParameterError: some have none.
    """
    unknown = starting.missing(problem.table)
    if unknown.size:
        names = listing([problem.table.names[i] for i in unknown])
        raise ParameterError(f"{names}: no value to simulate with. Write a quantity, or a start.")


def predicted(problem: Problem) -> Prediction:
    """All responses at the start values of the parameters."""
    with float64():
        call = predict if problem.model.method else jax.jit(predict)
        return call(problem.model, jnp.asarray(problem.table.start), problem.lanes)


def at_times(problem: Problem, times: np.ndarray, unit: Unit) -> Problem:
    """The problem with every experiment followed at these times, s, in place of those of its data; nothing is measured then.

    Raises:
        StudyError: a temperature program of the data ends before the last time.
    """
    lanes, responses = len(problem.campaign.experiments), len(problem.responses)
    shape = (lanes, len(times), responses)
    for name, (nodes, values) in problem.campaign.programs.items():
        ends = nodes[np.ptp(values, axis=1) > 0].max(axis=1).min()
        if ends < times.max():
            raise StudyError(
                f"{name} was measured up to {float(unit.from_si(ends)):.6g} {unit.text} and is simulated up to"
                f" {float(unit.from_si(times.max())):.6g} {unit.text}. End [simulate] times there, or add a row to the data that"
                f" states {name} at the last time."
            )
    tiled = np.tile(times, (lanes, 1))
    nothing = np.zeros((*shape[:2], len(problem.campaign.responses)))
    return replace(
        problem,
        campaign=replace(
            problem.campaign,
            times=tiled,
            values=np.full_like(nothing, np.nan),
            mask=nothing.astype(bool),
            sigma=np.full_like(nothing, np.nan),
            lines=np.zeros(shape[:2], dtype=int),
            time_unit=unit,
            notes=(*problem.campaign.notes, "simulated at the times of [simulate], in place of those of the data"),
        ),
        lanes={**problem.lanes, "times": tiled},
        observed=np.zeros(shape),
        weights=np.zeros(shape),
        sigma=np.full(shape, np.nan),
    )


def describe_problem(problem: Problem) -> list[str]:
    """What a problem means, as lines of text: reactions and laws as computed, conserved totals, parameters, data."""
    lines = [_line(row) for row in describe_model(problem)]
    for p in problem.table.listed:
        value = "?" if np.isnan(p.start) else f"{float(p.unit.from_si(p.start)):.6g}"
        number = f"{p.name} = {value} {p.unit.text}"
        bounds = (
            f", bounds {float(p.unit.from_si(p.lower)):.6g} to {float(p.unit.from_si(p.upper)):.6g}"
            if np.isfinite([p.lower, p.upper]).any()
            else ""
        )
        lines.append(f"{number} (known)" if p.fixed else f"{number} (estimated, {p.scale} scale{bounds})")
    return [*lines, *problem.campaign.notes, *describe_experiments(problem)]


def _line(row: Row) -> str:
    label, text, *rate = row
    if rate:
        return f"{label}: {text}    rate {rate[0]}"
    return f"{label} = {text}" if label.startswith(("model ", "response ")) else f"{label}: {text}"


def check_problem(problem: Problem) -> list[str]:
    """`describe_problem`, and what one evaluation at the start shows: that it can be simulated, its gradient and its scaling.

    Returns:
        Lines of text; lines that need attention begin with "attention: ".
    """
    lines = describe_problem(problem)
    if not problem.weights.any():
        return [*lines, "nothing measured: this study can be simulated, not fitted"]
    if not len(problem.table.free):
        return [*lines, "nothing to estimate: every parameter is known"]
    lines += [f"attention: {sentence}" for sentence in (*conditions_without_effect(problem), *only_zeros(problem))]
    unknown = starting.missing(problem.table)
    if unknown.size:
        return [*lines, f"to be found from the data: starts of {listing([problem.table.names[i] for i in unknown])}"]
    if problem.noise is not None:
        estimated = listing([problem.table.names[i] for i in problem.noise.positions])
        lines.append(f"estimated with the parameters, by maximum likelihood: {estimated}")
        problem = replace(problem, table=known(problem.table, problem.noise), noise=None)
    if problem.model.method:
        lines.append(f"{problem.model.method} integrates for kinetix simulate; a fit needs derivatives, which it does not give")
        problem = replace(problem, model=replace(problem.model, method=""))
    start = problem.table.free_start()
    evaluation = Evaluator(problem)(start)
    R = np.asarray(evaluation.R)
    for name, ended in failures(problem, evaluation, start):
        lines.append(f"attention: experiment '{name}' cannot be simulated at the start: {ended}")
    if not np.isfinite(R).all():
        return [*lines, "attention: the gradient at the start is not finite"]
    lines.append(f"sum of squared weighted residuals at the start: {plain(sum_of_squares(R))}")
    return [*lines, *_determined(problem, R)]


def _determined(problem: Problem, R: np.ndarray) -> list[str]:
    """What the triangle at the start says of each parameter, by the same decision as at the end of a fit."""
    table = problem.table
    names = [table.names[i] for i in table.free]
    nowhere = np.full(len(names), np.inf)
    with np.errstate(all="ignore"):
        start = init(table.free_start(), Bounds(-nowhere, nowhere), parameter_sizes(table))
        found = update(start, R, 0, search_options(problem).tolerances).determination
    lines = [f"attention: no measured value changes with {names[i]} at the start" for i in np.flatnonzero(found.silent)]
    lines += [
        f"attention: the data determine {listing(_taking_part(direction * found.scale, names))} only together at the start"
        for direction in null_directions(found, np.zeros(len(names), bool))
        if np.count_nonzero(direction) > 1
    ]
    if lines:
        return lines
    condition = 1 / float(found.ratio)
    text = f"condition number of the scaled Jacobian at the start {plain(condition, 3)}"
    if condition > DOUBTFUL_CONDITION:
        weakest = listing(_taking_part(np.asarray(found.right)[-1], names))
        return [f"attention: {weakest} are almost one parameter to these data at the start; {text}"]
    return [f"gradient finite; {text}"]


def _taking_part(direction: np.ndarray, names: list[str]) -> list[str]:
    """The parameters with a share in a direction of the scaled parameters, the largest first."""
    largest = np.abs(direction).max()
    return [names[i] for i in np.argsort(-np.abs(direction)) if abs(direction[i]) > SHARE * largest]
