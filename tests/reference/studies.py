"""From a study as a mapping and its tables as text to the result, through the whole product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from kinetix.experiments import parse_table
from kinetix.results import fit_tree
from kinetix.simulation import Choice, all_responses, measured_responses
from kinetix.studies import Problem, build_problem, fit_problem, parse_study, simulate_problem

Study = Mapping[str, Any]


def problem(study: Study, *tables: str, responses: Choice = measured_responses) -> Problem:
    """The problem of a study; the text of its tables stands in for its files."""
    files = [f"table{number}.csv" for number in range(1, len(tables) + 1)]
    data = {"data": {**study.get("data", {}), "files": files}} if tables else {}
    parsed = parse_study({"schema": 1, **study, **data}, "study.toml")
    return build_problem(parsed, [parse_table(text, name) for text, name in zip(tables, files, strict=True)], responses)


def fit(study: Study, *tables: str) -> xr.DataTree:
    """The result of a fit, in the units of the study."""
    return fit_tree(fit_problem(problem(study, *tables)))


def simulate(study: Study, *tables: str) -> xr.DataTree:
    """The result of a simulation: all concentrations and formulas."""
    return simulate_problem(problem(study, *tables, responses=all_responses))


def parameters(tree: xr.DataTree, *names: str, quantity: str = "value") -> np.ndarray:
    """A quantity (`value`, `stderr`, `lower95`, ...) of parameters, in their units."""
    return tree["parameters"][quantity].sel(parameter=list(names)).values


def statistic(tree: xr.DataTree, name: str) -> float:
    """A number of the whole fit (`ssr`, `s`, `chi_square`, ...)."""
    return tree["statistics"][name].item()


def simulated(tree: xr.DataTree, response: str) -> np.ndarray:
    """A simulated response (experiment, time), in its unit."""
    return tree["simulation"]["predicted"].sel(response=response).values


def unit(tree: xr.DataTree, response: str) -> str:
    """The unit of a simulated response."""
    return tree["simulation"]["unit"].sel(response=response).item()
