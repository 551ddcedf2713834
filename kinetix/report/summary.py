"""The result as a plain dictionary for `summary.json`: what a script needs, without xarray."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from kinetix.report.numbers import for_json as _plain
from kinetix.report.outliers import outlier_rows
from kinetix.results.schema import ATTRIBUTES
from kinetix.results.tree import group_of
from kinetix.status import Status


def summary(tree: xr.DataTree) -> dict[str, Any]:
    """A fit as text, numbers, lists and dictionaries, ready for JSON: NaN and infinity become None.

    Args:
        tree: a result of `kinetix.results.fit_tree`.

    Returns:
        A dictionary with `converged`, `status`, `objective`, `n_observations`, `n_parameters`, `parameters` (name -> value, unit,
        stderr, lower95, upper95, fixed, at_bound, note), `derived`, `correlation` (estimated parameters only), `sigma_meaning`,
        `loss` (None for least squares), `outliers` (values that count less than half in a robust loss), `statistics`,
        `failed_experiments`, `starts` (None where there was one; else number, those that reached the best optimum, and the distinct
        optima), `profile` and `bootstrap` (None where not asked for; else the interval of each estimated parameter), `influence`
        (distance by what was left out), `verdict`, `warnings`, `notes`, `provenance` and `version`. Values are in the user's
        units; `at_bound` is "lower", "upper" or None.
    """
    root = tree.attrs
    statistics = group_of(tree, "statistics")
    return {
        "title": root["title"],
        "converged": bool(root["converged"]),
        "status": root["status_label"],
        "message": root["message"],
        "verdict": root["verdict"],
        "objective": _plain(statistics["ssr"].item()),
        "n_observations": int(statistics["n_observations"]),
        "n_parameters": int(statistics["n_parameters"]),
        "parameters": _parameters(tree),
        "derived": _derived(tree),
        "correlation": _correlation(tree),
        "sigma_meaning": root["sigma_meaning"],
        "loss": str(root.get("loss", "")) or None,
        "outliers": [row._asdict() for row in outlier_rows(tree)],
        "statistics": _statistics(tree),
        "failed_experiments": failed_experiments(tree),
        "starts": _starts(tree),
        "profile": _intervals(tree, "likelihood", ("lower95", "upper95", "lower_end", "upper_end")),
        "bootstrap": _intervals(tree, "bootstrap", ("mean", "stderr", "lower95", "upper95")),
        "influence": _influence(tree),
        "warnings": lines(root, "warnings"),
        "notes": lines(root, "notes"),
        "provenance": provenance(tree),
        "version": str(root.get("kinetix_version", "")),
    }


def provenance(tree: xr.DataTree) -> dict[str, str | int | float | None]:
    """Where the numbers come from: version, study text, data hash, device, times."""
    return {str(name): _plain(value) for name, value in tree.attrs.items() if name not in ATTRIBUTES}


def note_of(parameters: xr.Dataset, index: int) -> str:
    """What must be known to use a parameter: the temperature at which it holds; nothing in the file of an older version."""
    return str(parameters["note"].values[index]) if "note" in parameters else ""


def lines(attributes: Mapping[Any, Any], name: str) -> list[str]:
    """The lines of a text attribute; none if it is empty or, in the file of an older version, absent."""
    return str(attributes.get(name, "")).splitlines()


def failed_experiments(tree: xr.DataTree) -> list[str]:
    """Names of the experiments whose simulation did not end well."""
    status = group_of(tree, "predictions")["status"]
    return [str(name) for name, code in zip(status["experiment"].values, status.values, strict=True) if not Status(int(code)).ok]


def _parameters(tree: xr.DataTree) -> dict[str, dict[str, Any]]:
    group = group_of(tree, "parameters")
    numbers = {name: group[name].values for name in ("value", "stderr", "lower95", "upper95")}
    return {
        str(name): {
            **{key: _plain(column[index]) for key, column in numbers.items()},
            "unit": str(group["unit"].values[index]),
            "fixed": bool(group["fixed"].values[index]),
            "at_bound": str(group["at_bound"].values[index]) or None,
            "note": note_of(group, index),
        }
        for index, name in enumerate(group["parameter"].values)
    }


def _derived(tree: xr.DataTree) -> dict[str, dict[str, Any]]:
    group = group_of(tree, "parameters")
    if "derived" not in group.coords:
        return {}
    return {
        str(name): {
            **{key: _plain(group[f"derived_{key}"].values[index]) for key in ("value", "stderr", "lower95", "upper95")},
            "unit": str(group["derived_unit"].values[index]),
            "note": str(group["derived_note"].values[index]),
        }
        for index, name in enumerate(group["derived"].values)
    }


def _correlation(tree: xr.DataTree) -> dict[str, dict[str, str | int | float | None]]:
    table = group_of(tree, "covariance")["correlation"]
    known = [index for index in range(table.shape[0]) if math.isfinite(float(table[index, index]))]
    names = [str(name) for name in table["parameter"].values]
    return {names[i]: {names[j]: _plain(table.values[i, j]) for j in known} for i in known}


def _starts(tree: xr.DataTree) -> dict[str, Any] | None:
    if "starts" not in tree.children:
        return None
    group = group_of(tree, "starts")
    names = [str(name) for name in group["parameter"].values]
    return {
        "number": group.sizes["start"],
        "reached_best": int((group["reached"].values == 0).sum()),
        "without_answer": int((group["reached"].values < 0).sum()),
        "optima": [
            {
                "objective": _plain(group["optimum_objective"].values[i]),
                "starts": int(group["optimum_starts"].values[i]),
                "as_good": bool(group["optimum_as_good"].values[i]),
                "note": str(group["optimum_note"].values[i]),
                "parameters": dict(zip(names, map(_plain, group["optimum_value"].values[i]), strict=True)),
            }
            for i in range(group.sizes["optimum"])
        ],
    }


def _intervals(tree: xr.DataTree, name: str, keys: Sequence[str]) -> dict[str, dict[str, Any]] | None:
    """What a group says of each parameter; None where there is no such group."""
    if name not in tree.children:
        return None
    group = group_of(tree, name)
    return {
        str(parameter): {key: _plain(group[key].values[i].item()) for key in keys} for i, parameter in enumerate(group["parameter"].values)
    }


def _influence(tree: xr.DataTree) -> dict[str, Any] | None:
    if "influence" not in tree.children:
        return None
    group = group_of(tree, "influence")
    return {str(label): _plain(distance) for label, distance in zip(group["left_out"].values, group["distance"].values, strict=True)}


def _statistics(tree: xr.DataTree) -> dict[str, Any]:
    group = group_of(tree, "statistics")
    scalars = {str(name): _plain(variable.item()) for name, variable in group.data_vars.items() if variable.ndim == 0}
    r_squared = {str(name): _plain(value) for name, value in zip(group["response"].values, group["r_squared"].values, strict=True)}
    return {**scalars, "r_squared": r_squared}
