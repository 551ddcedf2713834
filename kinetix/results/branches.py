"""Facts of all steady states -> one labelled dataset in the user's units."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from kinetix.results.facts import BranchFacts
from kinetix.results.labels import common, dataset, reported, texts, time_text, with_meanings
from kinetix.results.schema import unit_text


def branches_dataset(facts: BranchFacts) -> xr.Dataset:
    """All steady states, and the curves through them, of all experiments in a row: dimensions state, species, mode, point, curve.

    Dimensions and meanings are those of `kinetix.results.schema.VARIABLES`, group states. States of one experiment stand together, the
    nearest to the feed first. The attribute `along` names the condition over which the curves go.

    Args:
        facts: what was found, SI inside.
    """
    names = texts(facts.experiments)
    per_loading = facts.loading_unit.factor
    values: dict[str, Any] = {
        "experiment": names,
        "species": texts(facts.species),
        "species_unit": texts([unit_text(unit) for unit in facts.species_units]),
        "wanted": facts.along_unit.from_si(facts.wanted_si),
        "feed_status": _codes(facts.feed_status),
        "starts": facts.starts,
        "starts_converged": facts.starts_converged,
        "state_experiment": names[facts.state_experiment],
        "concentration": reported(facts.state_c_si, facts.species_units),
        "stable": facts.state_stable,
        "reached_from_feed": facts.state_reached,
        "eigenvalue_real": facts.state_eigenvalues_si.real * per_loading,
        "eigenvalue_imag": facts.state_eigenvalues_si.imag * per_loading,
        "residual": facts.state_residual,
        "status": _codes(facts.state_status),
        "curve_experiment": names[facts.curve_experiment],
        "curve_closed": facts.curve_closed,
        "curve_status": _codes(facts.curve_status),
        "point_experiment": names[facts.point_experiment],
        "point_curve": facts.point_curve,
        "point_along": facts.along_unit.from_si(facts.point_along_si),
        "point_concentration": reported(facts.point_c_si, facts.species_units),
        "point_stable": facts.point_stable,
        "point_kind": texts(facts.point_kind),
    }
    if facts.T_unit is not None:
        values["T"], values["point_T"] = facts.T_unit.from_si(facts.state_T_si), facts.T_unit.from_si(facts.point_T_si)
    if facts.responses:
        values["response"] = texts(facts.responses)
        values["unit"] = texts([unit_text(unit) for unit in facts.response_units])
        values["predicted"] = reported(facts.state_responses_si, facts.response_units)
        values["point_predicted"] = reported(facts.point_responses_si, facts.response_units)
    units = {
        "along": time_text(facts.along_unit),
        "species": common(facts.species_units, "species_unit"),
        "response": common(facts.response_units, "unit") if facts.responses else "1",
        "temperature": "K" if facts.T_unit is None else unit_text(facts.T_unit),
        "1/loading": f"1/{_in_brackets(time_text(facts.loading_unit))}",
    }
    attributes = {"title": facts.title, "along": facts.along, **facts.provenance}
    data = dataset("states", values, units, attributes).set_coords(["state_experiment", "curve_experiment", "point_experiment"])
    return with_meanings(data, "status", "feed_status", "curve_status")


def _codes(statuses: tuple[Any, ...]) -> np.ndarray:
    return np.asarray([int(status) for status in statuses], dtype=np.int64)


def _in_brackets(unit: str) -> str:
    """A unit that can stand under a fraction line.

    >>> _in_brackets("min"), _in_brackets("kg s/m^3")
    ('min', '(kg s/m^3)')
    """
    return unit if unit.isalpha() else f"({unit})"
