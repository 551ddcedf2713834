"""Facts of a fit -> labelled xarray data in the user's units, ready for netCDF (attributes are text and numbers only)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from kinetix.errors import InputError
from kinetix.results.facts import Condition, Curve, Dense, FitFacts, Floats, SimulationFacts, StartFacts
from kinetix.results.labels import common, dataset, factors_of, reported, texts, time_text, with_meanings
from kinetix.results.refits import bootstrap_group, influence_group, likelihood_group
from kinetix.results.robust import loss_text
from kinetix.results.schema import unit_text, variable
from kinetix.results.verdict import verdict, warn_sentences


def fit_tree(facts: FitFacts) -> xr.DataTree:
    """The result of a fit as labelled data in groups.

    The groups are /parameters, /covariance, /predictions, /statistics and, where they apply, /conditions, /iterations,
    /starts (of more than one), /likelihood, /bootstrap, /influence, /profiles, /arrhenius.

    Values are in the user's units (attribute `units`), every variable has a `long_name`; dimensions and meanings are those of
    `kinetix.results.schema.VARIABLES`. The root's attributes hold title, status, verdict, warnings (one per line) and provenance.

    Args:
        facts: what the fit found, SI inside.

    Returns:
        `xarray.DataTree`; `kinetix.io.results.write_tree` puts it into a netCDF file and `read_tree` gives an identical one back.
    """
    groups: dict[str, xr.Dataset] = {
        "/": xr.Dataset(attrs=_root_attributes(facts)),
        "/parameters": _parameters(facts),
        "/covariance": _covariance(facts),
        "/predictions": _predictions(facts),
        "/statistics": _statistics(facts),
    }
    if facts.conditions:
        groups["/conditions"] = _conditions(facts.experiments, facts.conditions)
    if facts.history.size:
        objective = {"objective^2": _objective_unit(facts, squared=True)}
        groups["/iterations"] = dataset("iterations", {"ssr": facts.history}, objective)
    if facts.starts is not None:
        groups["/starts"] = _starts(facts, facts.starts)
    if facts.profile is not None:
        groups["/likelihood"] = likelihood_group(facts.profile, _objective_unit(facts, squared=True))
    if facts.bootstrap is not None:
        groups["/bootstrap"] = bootstrap_group(facts.bootstrap, _objective_unit(facts, squared=True))
    if facts.influence is not None:
        groups["/influence"] = influence_group(facts.influence)
    if facts.profiles is not None:
        groups["/profiles"] = _profiles(facts, facts.profiles)
    if facts.arrhenius:
        groups["/arrhenius"] = _arrhenius(facts.arrhenius)
    return xr.DataTree.from_dict(groups)


def simulation_tree(facts: SimulationFacts) -> xr.DataTree:
    """The result of a simulation as a DataTree with the groups parameters, simulation and conditions, in the user's units.

    Args:
        facts: what the simulation gave, SI inside.
    """
    values: dict[str, Any] = {
        "experiment": texts(facts.experiments),
        "response": texts(facts.responses),
        "unit": texts([unit_text(unit) for unit in facts.response_units]),
        "predicted": reported(facts.predicted_si, facts.response_units),
    }
    units = {"response": common(facts.response_units, "unit")}
    if facts.time_unit is not None:
        values["t"] = facts.time_unit.from_si(facts.times_si)
        values["t_reached"] = facts.time_unit.from_si(facts.experiment_reached_si)
        units["time"] = time_text(facts.time_unit)
    simulation = dataset("simulation", values | _ended(facts), units)
    parameters = {
        "parameter": texts(facts.parameter_names),
        "unit": texts([unit_text(unit) for unit in facts.units]),
        "value": reported(facts.values_si, facts.units),
    }
    groups: dict[str, xr.Dataset] = {
        "/": xr.Dataset(attrs={"title": facts.title, "notes": "\n".join(facts.notes), **facts.provenance}),
        "/parameters": dataset("parameters", parameters, {"parameter": common(facts.units, "unit")}),
        "/simulation": with_meanings(simulation),
    }
    if facts.conditions:
        groups["/conditions"] = _conditions(facts.experiments, facts.conditions)
    return xr.DataTree.from_dict(groups)


def _ended(facts: FitFacts | SimulationFacts) -> dict[str, np.ndarray]:
    return {
        "status": np.asarray([int(one) for one in facts.experiment_status], dtype=np.int64),
        "steps": np.asarray(facts.experiment_steps, dtype=np.int64),
        "why": texts(facts.experiment_why or [""] * len(facts.experiments)),
    }


def require_fit(tree: object, source: str = "") -> xr.DataTree:
    """The tree, if it is the result of a fit; `source` is the file that it comes from.

    Raises:
        InputError: what it is instead.

    >>> require_fit(xr.DataTree.from_dict({"simulation": xr.Dataset()}))
    Traceback (most recent call last):
    kinetix.errors.InputError: Expected the result of a fit (of kinetix.fit, or read_tree of a fit.nc), found the result of a simulation.
    """
    kinds = {"simulation": "the result of a simulation", "models": "the result of a comparison"}
    groups = tree.children if isinstance(tree, xr.DataTree) else {}
    found = next((kinds[name] for name in kinds if name in groups), f"a {type(tree).__name__}")
    if not isinstance(tree, xr.DataTree) or "statistics" not in tree.children:
        head = f"{source}: expected" if source else "Expected"
        raise InputError(f"{head} the result of a fit (of kinetix.fit, or read_tree of a fit.nc), found {found}.")
    return tree


def group_of(tree: xr.DataTree, name: str) -> xr.Dataset:
    """The variables of one group of a result."""
    return tree.children[name].to_dataset()


def _objective_unit(facts: FitFacts, *, squared: bool = False) -> str:
    if facts.sigma_meaning != "estimated":
        return "1"
    texts = {unit_text(unit) for unit in facts.response_units}
    if len(texts) > 1:
        return "mixed"
    text = texts.pop()
    return f"({text})^2" if squared and text != "1" else text


def _root_attributes(facts: FitFacts) -> dict[str, str | int | float]:
    return {
        "title": facts.title,
        "converged": int(facts.status.ok),
        "status": int(facts.status),
        "status_label": facts.status.label,
        "message": facts.message,
        "verdict": verdict(facts),
        "sigma_meaning": facts.sigma_meaning,
        "loss": "" if facts.robust is None else loss_text(facts.robust),
        "errors": _errors(facts),
        "warnings": "\n".join(dict.fromkeys((*warn_sentences(facts), *facts.warnings))),
        "null_directions": "\n".join(facts.null_directions),
        "priors": "\n".join(facts.priors),
        "notes": "\n".join(facts.notes),
        "model": "\n".join(facts.model),
        "supplement": facts.supplement,
        **facts.provenance,
    }


def _errors(facts: FitFacts) -> str:
    if facts.noise is not None:
        return facts.noise.errors
    return "" if facts.robust is None else facts.robust.covariance


def _parameters(facts: FitFacts) -> xr.Dataset:
    factors = factors_of(facts.units)
    lower, upper = reported(facts.interval_si.T, facts.units)
    values: dict[str, Any] = {
        "parameter": texts(facts.parameter_names),
        "unit": texts([unit_text(unit) for unit in facts.units]),
        "value": reported(facts.values_si, facts.units),
        "stderr": facts.stderr_si / factors,
        "lower95": lower,
        "upper95": upper,
        "start": reported(facts.start_si, facts.units),
        "lower_bound": reported(facts.lower_si, facts.units),
        "upper_bound": reported(facts.upper_si, facts.units),
        "fixed": np.asarray(facts.fixed, dtype=bool),
        "at_bound": texts(facts.at_bound),
        "scale": texts(facts.scales),
        "note": texts(facts.parameter_notes or [""] * len(facts.parameter_names)),
    }
    units = {"parameter": common(facts.units, "unit")}
    if facts.derived:
        values |= {
            "derived": texts([one.name for one in facts.derived]),
            "derived_unit": texts([unit_text(one.unit) for one in facts.derived]),
            "derived_value": [one.value for one in facts.derived],
            "derived_stderr": [one.stderr for one in facts.derived],
            "derived_lower95": [one.lower for one in facts.derived],
            "derived_upper95": [one.upper for one in facts.derived],
            "derived_note": texts([one.note for one in facts.derived]),
        }
        units["derived"] = common([one.unit for one in facts.derived], "derived_unit")
    return dataset("parameters", values, units)


def _covariance(facts: FitFacts) -> xr.Dataset:
    factors = factors_of(facts.units)
    values = {
        "parameter": texts(facts.parameter_names),
        "other_parameter": texts(facts.parameter_names),
        "covariance": facts.covariance_si / np.outer(factors, factors),
        "correlation": facts.correlation,
    }
    return dataset("covariance", values, {"product": "products of the parameters' units"})


def _predictions(facts: FitFacts) -> xr.Dataset:
    factors = factors_of(facts.response_units)
    values: dict[str, Any] = {
        "experiment": texts(facts.experiments),
        "response": texts(facts.responses),
        "unit": texts([unit_text(unit) for unit in facts.response_units]),
        "observed": reported(np.where(facts.mask, facts.observed_si, np.nan), facts.response_units),
        "predicted": reported(facts.predicted_si, facts.response_units),
        "sigma": facts.sigma_si / factors,
        "weight": np.where(facts.mask, facts.weights_si, np.nan) * factors,
        "residual": np.where(facts.mask, facts.observed_si - facts.predicted_si, np.nan) / factors,
        "weighted_residual": np.where(facts.mask, facts.weighted_residuals, np.nan),
        "measured": np.asarray(facts.mask, dtype=bool),
        **_ended(facts),
    }
    units = {"response": common(facts.response_units, "unit"), "objective": _objective_unit(facts)}
    units["1/response"] = "1 per unit of the response"
    if facts.robust is not None:
        values["robust_weight"] = facts.robust.weights
    if facts.time_unit is not None:
        values["t"] = facts.time_unit.from_si(facts.times_si)
        values["t_reached"] = facts.time_unit.from_si(facts.experiment_reached_si)
        units["time"] = time_text(facts.time_unit)
    return with_meanings(dataset("predictions", values, units))


def _conditions(experiments: Sequence[str], conditions: Mapping[str, Condition]) -> xr.Dataset:
    label = variable("conditions", "experiment")
    row = variable("conditions", "*")
    data = xr.Dataset(coords={"experiment": (label.dims, texts(experiments), {"long_name": label.meaning})})
    for name, condition in conditions.items():
        attributes = {"long_name": name, "units": time_text(condition.unit)}
        data[_file_name(name)] = (row.dims, np.asarray(condition.unit.from_si(condition.values_si), dtype=np.float64), attributes)
    return data


def _file_name(condition: str) -> str:
    """A name that netCDF takes (no slash) and that hides no coordinate: "W/F" -> "W_per_F"."""
    name = condition.replace("/", "_per_")
    return f"{name}_" if name == "experiment" else name


def _statistics(facts: FitFacts) -> xr.Dataset:
    values = {
        "response": texts(facts.responses),
        "ssr": float(facts.ssr),
        "s": float(facts.s),
        "chi_square": float(facts.chi_square),
        "reduced_chi_square": float(facts.reduced_chi_square),
        "p_value": float(facts.p_value),
        "dof": int(facts.dof),
        "n_observations": int(facts.n_observations),
        "n_parameters": int(facts.n_parameters),
        "r_squared": facts.r_squared,
        "rank": int(facts.rank),
        "condition_number": float(facts.condition_number),
        "iterations": int(facts.iterations),
        "evaluations": int(facts.evaluations),
    }
    if facts.robust is not None:
        values["robust_scale"] = float(facts.robust.scale)
    if facts.replicates is not None:
        found = facts.replicates
        values |= {
            "replicate_points": found.points,
            "replicate_values": found.values,
            "pure_error": found.pure_error,
            "pure_error_dof": found.pure_dof,
            "lack_of_fit_dof": found.lack_dof,
            "lack_of_fit_F": found.F,
            "lack_of_fit_p": found.p_value,
        }
    if facts.noise is not None:
        values |= {"log_likelihood": float(facts.noise.log_likelihood), "sigma_bias": float(facts.noise.bias)}
    return dataset("statistics", values, {"objective": _objective_unit(facts), "objective^2": _objective_unit(facts, squared=True)})


def _starts(facts: FitFacts, starts: StartFacts) -> xr.Dataset:
    optima = np.arange(len(starts.optima_ssr))
    values = {
        "start": np.arange(len(starts.origins)),
        "parameter": texts(starts.parameter_names),
        "unit": texts([unit_text(unit) for unit in starts.units]),
        "origin": texts(starts.origins),
        "start_value": reported(starts.starts_si, starts.units),
        "end_value": reported(starts.ends_si, starts.units),
        "start_objective": starts.start_ssr,
        "objective": starts.ssr,
        "status": np.asarray([int(one) for one in starts.status], dtype=np.int64),
        "iterations": np.asarray(starts.iterations, dtype=np.int64),
        "reached": np.asarray(starts.optimum, dtype=np.int64),
        "optimum": optima,
        "optimum_value": reported(starts.optima_si, starts.units),
        "optimum_objective": starts.optima_ssr,
        "optimum_starts": np.array([np.count_nonzero(starts.optimum == one) for one in optima], dtype=np.int64),
        "optimum_as_good": optima < starts.equal,
        "optimum_note": texts(starts.optima_notes),
    }
    units = {"parameter": common(starts.units, "unit"), "objective^2": _objective_unit(facts, squared=True)}
    return with_meanings(dataset("starts", values, units, {"best": starts.best}))


def _profiles(facts: FitFacts, dense: Dense) -> xr.Dataset:
    if facts.time_unit is None:
        raise ValueError("dense profiles came with time_unit None: curves over time need the unit of time")
    values = {
        "experiment": texts(facts.experiments),
        "response": texts(facts.responses),
        "unit": texts([unit_text(unit) for unit in facts.response_units]),
        "t": facts.time_unit.from_si(dense.times_si),
        "predicted": reported(dense.predicted_si, facts.response_units),
    }
    return dataset("profiles", values, {"time": time_text(facts.time_unit), "response": common(facts.response_units, "unit")})


def _arrhenius(curves: Sequence[Curve]) -> xr.Dataset:
    values: dict[str, Any] = {
        "constant": texts([curve.name for curve in curves]),
        "unit": texts([unit_text(curve.unit) for curve in curves]),
        "T": _padded([curve.temperatures for curve in curves]),
        "k": _padded([curve.k for curve in curves]),
        "lower95": _padded([curve.lower for curve in curves]),
        "upper95": _padded([curve.upper for curve in curves]),
    }
    points = [np.empty((0, 2)) if curve.points is None else curve.points for curve in curves]
    if any(len(one) for one in points):
        values["point_T"] = _padded([one[:, 0] for one in points])
        values["point_k"] = _padded([one[:, 1] for one in points])
    return dataset("arrhenius", values, {"constant": common([curve.unit for curve in curves], "unit")})


def _padded(rows: Sequence[Floats]) -> Floats:
    """Rows of different length as one table, filled with NaN."""
    table = np.full((len(rows), max(len(row) for row in rows)), np.nan)
    for index, row in enumerate(rows):
        table[index, : len(row)] = row
    return table
