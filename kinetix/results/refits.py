"""Facts of refits -> labelled groups: profile likelihood, bootstrap, influence."""

from __future__ import annotations

import numpy as np
import xarray as xr

from kinetix.results.facts import BootstrapFacts, InfluenceFacts, ProfileFacts
from kinetix.results.labels import common, dataset, factors_of, reported, texts, with_meanings
from kinetix.results.schema import unit_text


def likelihood_group(facts: ProfileFacts, objective: str) -> xr.Dataset:
    """The group /likelihood; `objective` is the unit of the objective, squared."""
    unit = common(facts.units, "unit")
    points = reported(facts.points_si, facts.units)
    own = np.arange(len(facts.units))
    lower, upper = reported(facts.interval_si.T, facts.units)
    values = {
        "parameter": texts(facts.parameter_names),
        "unit": texts([unit_text(one) for one in facts.units]),
        "other_parameter": texts(facts.parameter_names),
        "value": points[own, :, own],
        "path": points,
        "tau": facts.tau,
        "objective": facts.ssr,
        "lower95": lower,
        "upper95": upper,
        "lower_end": texts(facts.lower_end),
        "upper_end": texts(facts.upper_end),
    }
    units = {"parameter": unit, "other_parameter": unit, "objective^2": objective}
    return dataset("likelihood", values, units, {"q": facts.q})


def bootstrap_group(facts: BootstrapFacts, objective: str) -> xr.Dataset:
    """The group /bootstrap."""
    lower, upper = reported(facts.interval_si.T, facts.units)
    values = {
        "parameter": texts(facts.parameter_names),
        "unit": texts([unit_text(one) for one in facts.units]),
        "draw_value": reported(facts.draws_si, facts.units),
        "objective": facts.ssr,
        "status": np.array([int(one) for one in facts.status], dtype=np.int64),
        "mean": reported(facts.mean_si, facts.units),
        "stderr": facts.stderr_si / factors_of(facts.units),
        "lower95": lower,
        "upper95": upper,
    }
    units = {"parameter": common(facts.units, "unit"), "objective^2": objective}
    return with_meanings(dataset("bootstrap", values, units, {"kind": facts.kind}))


def influence_group(facts: InfluenceFacts) -> xr.Dataset:
    """The group /influence."""
    values = {
        "left_out": texts(facts.left_out),
        "parameter": texts(facts.parameter_names),
        "unit": texts([unit_text(one) for one in facts.units]),
        "value": reported(facts.values_si, facts.units),
        "shift": facts.shift,
        "distance": facts.distance,
        "status": np.array([int(one) for one in facts.status], dtype=np.int64),
    }
    return with_meanings(dataset("influence", values, {"parameter": common(facts.units, "unit")}))
