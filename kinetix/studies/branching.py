"""All steady states of a problem: every experiment in turn, with the state that the feed leads to and the curves through them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr

from kinetix.errors import ConditionError, InputError, Problems, nearest
from kinetix.rates import VOLUME_BASIS
from kinetix.reactors import Reactor
from kinetix.results import BranchFacts, branches_dataset
from kinetix.simulation import ALONG, TIME_ON, Branches, ReactorModel, branches
from kinetix.status import Status
from kinetix.studies.problem import Problem
from kinetix.studies.provenance import provenance
from kinetix.studies.simulating import predicted, require_values
from kinetix.units import TEMPERATURE, Unit, parse_quantity, parse_unit, si_unit, time_unit_of

SAME = 1e-6
"""Of the size of a state: it and the one that was reached in time are one."""


def all_states_of(
    problem: Problem,
    along: str = TIME_ON,
    between: tuple[str, str] | None = None,
    on_experiment: Callable[[str], None] = lambda name: None,
) -> xr.Dataset:
    """All steady states of every experiment, and the curves through them over a condition.

    Args:
        problem: of a stirred tank, with all responses.
        along: the condition.
        between: the ends of its range, with units; may be left out for the residence time.
        on_experiment: called with the name of each experiment before it is looked at.

    Raises:
        InputError: not a tank; no such condition, or no range of it.
    """
    spoken = _tank(problem)
    require_values(problem)
    axis, loading = _axis_unit(problem, spoken, along), _loading_unit(problem, spoken)
    wanted = np.asarray(problem.lanes[ALONG[along]], dtype=float)
    ends = _ends(problem, along, between, axis, wanted)
    prediction = predicted(problem)
    species = spoken.network.species
    places = [problem.responses.index(name) for name in species]
    heated = spoken.energy is not None
    states = np.asarray(prediction.values)[:, 0]
    found: list[Branches] = []
    reached: list[np.ndarray] = []
    for i, name in enumerate(problem.campaign.experiments):
        on_experiment(name)
        lane = {key: values[i] for key, values in problem.lanes.items()}
        fed = states[i][[*places, problem.responses.index("T")] if heated else places]
        known = None
        if np.isfinite(fed).all():
            known = np.zeros(len(lane["feed"]) + heated)
            known[: len(species)], known[len(lane["feed"]) :] = fed[: len(species)], fed[len(species) :]
        found.append(branches(problem.model, problem.parameters, lane, known=known, along=along, between=ends))
        reached.append(_reached(found[-1], known))
    return branches_dataset(_facts(problem, spoken, along, axis, loading, wanted, found, reached, np.asarray(prediction.status)))


def _tank(problem: Problem) -> ReactorModel:
    """The model of a problem that has steady states to look for.

    Raises:
        InputError: it has none.
    """
    spoken = problem.spoken
    if isinstance(spoken, ReactorModel) and spoken.reactor.at_rest is not None:
        return spoken
    raise no_states_to_look_for(spoken.reactor if isinstance(spoken, ReactorModel) else None)


def no_states_to_look_for(reactor: Reactor | None) -> InputError:
    """What to say where all steady states of something else than one tank are asked for; None is an explicit model."""
    if reactor is None:
        what = "an explicit model"
    else:
        what = f"{reactor.tanks} tanks in series" if reactor.tanks > 1 else f"a {reactor.name} reactor"
    return InputError(
        f'All steady states can be looked for in one stirred tank, found {what}. Write CSTR(network), or type = "cstr" without tanks under'
        " [reactor]; or simulate without asking for all states."
    )


def _axis_unit(problem: Problem, spoken: ReactorModel, along: str) -> Unit:
    """The unit of the condition along which curves go, as it was given.

    Raises:
        ConditionError: it is no condition of this tank that can be followed.
    """
    given = problem.campaign.condition_units
    known = [TIME_ON, *(name for name in ALONG if name in given and name != TIME_ON)]
    if along not in known:
        here = f" This tank has {' and '.join(known)}."
        raise ConditionError(f"along = {along!r}: curves can go over {', '.join(ALONG)}.{here}{nearest(str(along), known)}")
    return _loading_unit(problem, spoken) if along == TIME_ON else given[along]


def _spoken_name(along: str, spoken: ReactorModel) -> str:
    """The condition by the name under which it is given: W/Q or S/Q where rates are per catalyst."""
    loading = spoken.reactor.loadings[spoken.basis.name]
    return along if along != TIME_ON or loading is None else loading.ways[0].name


def _loading_unit(problem: Problem, spoken: ReactorModel) -> Unit:
    """Of the residence time in the data's unit of time; of W/Q or S/Q as they were given, else in SI."""
    loading = spoken.reactor.loadings[spoken.basis.name]
    if spoken.basis.name == VOLUME_BASIS.name or loading is None:
        given = problem.campaign.condition_units
        times = (time_unit_of(given[name]) for name in ("tau", "1/tau", "Q") if name in given)
        return parse_unit(next((time for time in times if time is not None), problem.reporting.time))
    way = loading.ways[0].name
    return problem.campaign.condition_units.get(way, si_unit(loading.conditions[way]))


def _ends(problem: Problem, along: str, between: tuple[str, str] | None, unit: Unit, wanted: np.ndarray) -> tuple[float, float] | None:
    """The ends of the range, SI.

    Raises:
        ConditionError: unreadable, not around the values at which states are asked for, or missing where it is needed.
    """
    example = 'between=("280 K", "320 K")' if unit.dimension == TEMPERATURE else f'between=("0.01 {unit.text}", "100 {unit.text}")'
    if between is None:
        if along == TIME_ON:
            return None
        raise ConditionError(f"along = {along!r} without its range. Write {example}, around the value at which states are asked for.")
    if isinstance(between, str) or len(between) != 2:
        raise ConditionError(f"between = {between!r}: expected two quantities, for example {example}.")
    problems = Problems()
    ends: list[float] = []
    for text in between:
        with problems.collecting():
            ends.append(parse_quantity(text, unit.dimension, "between").si)
    problems.raise_if_any(ConditionError)
    low, high = ends
    outside = np.flatnonzero((wanted < low) | (wanted > high))
    if not 0.0 < low < high or outside.size:
        where = ""
        if outside.size:
            i = outside[0]
            where = (
                f", and {along} of experiment '{problem.campaign.experiments[i]}', {float(unit.from_si(wanted[i])):.6g} {unit.text}, within"
            )
        raise ConditionError(f"between = {tuple(between)!r}: expected a lower end above zero, a higher one{where}. Write {example}.")
    return low, high


def _reached(found: Branches, known: np.ndarray | None) -> np.ndarray:
    """Which of the states is the one that was reached in time from the feed, (state,)."""
    states = [one.y for one in found.found.states]
    if known is None or not states:
        return np.zeros(len(states), bool)
    species = found.states.c.shape[1]
    size = max(float(np.max(np.abs(known[:species]))), np.finfo(float).tiny)
    scale = np.where(np.arange(len(known)) < species, size, np.abs(known[-1]))
    apart = np.max(np.abs(np.array(states) - known) / scale, axis=1)  # NaN where a state could not be refined
    return (apart <= SAME) & (apart == np.min(apart[np.isfinite(apart)], initial=np.inf))


def _facts(
    problem: Problem,
    spoken: ReactorModel,
    along: str,
    axis: Unit,
    loading: Unit,
    wanted: np.ndarray,
    found: list[Branches],
    reached: list[np.ndarray],
    feed_status: np.ndarray,
) -> BranchFacts:
    species = spoken.network.species
    units = dict(zip(problem.responses, problem.units, strict=True))
    formulas = tuple(name for name in problem.responses if name not in species and name != "T")
    columns = [problem.responses.index(name) for name in formulas]
    states = [one for each in found for one in each.found.states]
    curves = [curve for each in found for curve in each.found.curves]
    points = [point for curve in curves for point in curve.points]
    by_experiment = np.arange(len(found))
    curve_experiment = np.repeat(by_experiment, [len(each.found.curves) for each in found])
    lengths = [len(curve.points) for curve in curves]
    given = problem.campaign.condition_units
    T_unit = units["T"] if "T" in units else given.get("T")
    return BranchFacts(
        title=problem.title,
        experiments=problem.campaign.experiments,
        along=_spoken_name(along, spoken),
        along_unit=axis,
        loading_unit=loading,
        species=species,
        species_units=tuple(units[name] for name in species),
        responses=formulas,
        response_units=tuple(units[name] for name in formulas),
        T_unit=T_unit,
        wanted_si=wanted,
        feed_status=tuple(Status(int(status)) for status in feed_status),
        starts=np.array([each.found.starts for each in found]),
        starts_converged=np.array([each.found.converged for each in found]),
        state_experiment=np.repeat(by_experiment, [len(each.found.states) for each in found]),
        state_c_si=np.concatenate([each.states.c[:, : len(species)] for each in found]),
        state_T_si=np.concatenate([each.states.T for each in found]),
        state_responses_si=np.concatenate([each.states.responses[:, columns] for each in found]),
        state_eigenvalues_si=np.array([one.eigenvalues for one in states]),
        state_stable=np.array([one.stable for one in states]),
        state_reached=np.concatenate(reached),
        state_residual=np.array([one.residual for one in states]),
        state_status=tuple(one.status for one in states),
        curve_experiment=curve_experiment,
        curve_closed=np.array([curve.closed for curve in curves]),
        curve_status=tuple(curve.status for curve in curves),
        point_experiment=np.repeat(curve_experiment, lengths),
        point_curve=np.repeat(np.arange(len(curves)), lengths),
        point_along_si=np.concatenate([each.values for each in found]),
        point_c_si=np.concatenate([each.points.c[:, : len(species)] for each in found]),
        point_T_si=np.concatenate([each.points.T for each in found]),
        point_responses_si=np.concatenate([each.points.responses[:, columns] for each in found]),
        point_stable=np.array([point.stable for point in points]),
        point_kind=tuple(point.kind for point in points),
        provenance=provenance(problem),
    )
