"""What the tables of a report hold, read from the DataTree and written as text; the same for terminal, HTML and Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import xarray as xr

from kinetix.report.numbers import estimate, significant
from kinetix.report.summary import note_of
from kinetix.results.phrases import count, near_one, probability
from kinetix.results.tree import group_of


class ParameterRow(NamedTuple):
    """A parameter or a derived quantity; `remark` says what is special about it."""

    name: str
    value: str
    stderr: str
    lower: str
    upper: str
    unit: str
    remark: str


class ResponseRow(NamedTuple):
    """The measured values of a response."""

    name: str
    values: str
    smallest: str
    largest: str
    unit: str
    r_squared: str


class Setting(NamedTuple):
    """The range of a condition; both ends are the same where it does not vary, and empty where it is unknown."""

    name: str
    low: str
    high: str
    unit: str


def parameter_rows(tree: xr.DataTree) -> list[ParameterRow]:
    """All parameters, then the quantities derived from them; values carry as many digits as their errors support."""
    group = group_of(tree, "parameters")
    determined = np.isfinite(np.diag(group_of(tree, "covariance")["correlation"].values))
    rows = [
        ParameterRow(
            str(name),
            *estimate(*(float(group[key].values[index]) for key in ("value", "stderr", "lower95", "upper95"))),
            _unit(group["unit"], index),
            _remark(group, index, bool(determined[index])),
        )
        for index, name in enumerate(group["parameter"].values)
    ]
    if "derived" not in group.coords:
        return rows
    keys = [f"derived_{key}" for key in ("value", "stderr", "lower95", "upper95")]
    for index, name in enumerate(group["derived"].values):
        row = estimate(*(float(group[key].values[index]) for key in keys))
        note = str(group["derived_note"].values[index])
        rows.append(ParameterRow(str(name), *row, _unit(group["derived_unit"], index), f"derived: {note}" if note else "derived"))
    return rows


def _remark(group: xr.Dataset, index: int, determined: bool) -> str:
    return "; ".join(part for part in (note_of(group, index), _state(group, index, determined)) if part)


def _state(group: xr.Dataset, index: int, determined: bool) -> str:
    side = str(group["at_bound"].values[index])
    if bool(group["fixed"].values[index]):
        return "fixed"
    if side:
        unit = _unit(group["unit"], index)
        return f"at {side} bound {significant(float(group[f'{side}_bound'].values[index]))}{'' if unit == '-' else ' ' + unit}"
    if math.isfinite(float(group["stderr"].values[index])):
        return ""
    return "no standard error" if determined else "not determined by the data"


def response_rows(tree: xr.DataTree) -> list[ResponseRow]:
    """Number and range of the measured values, and R2, by response."""
    group = group_of(tree, "predictions")
    measured = group["measured"].values
    r_squared = group_of(tree, "statistics")["r_squared"].values
    rows = []
    for index, name in enumerate(group["response"].values):
        values = group["observed"].values[..., index][measured[..., index]]
        ends = (significant(float(values.min()), 4), significant(float(values.max()), 4)) if values.size else ("-", "-")
        fraction = float(r_squared[index])
        quality = near_one(fraction) if math.isfinite(fraction) else "-"
        rows.append(ResponseRow(str(name), str(values.size), *ends, _unit(group["unit"], index), quality))
    return rows


def settings(tree: xr.DataTree) -> Iterator[Setting]:
    """Time, where values were measured over it, and every condition."""
    group = group_of(tree, "predictions")
    if "t" in group.data_vars:
        yield _range("t", group["t"].where(group["measured"].any("response")))
    if "conditions" in tree.children:
        for values in group_of(tree, "conditions").data_vars.values():
            yield _range(values.attrs["long_name"], values)


def _range(name: str, values: xr.DataArray) -> Setting:
    numbers = values.values[np.isfinite(values.values)]
    if not numbers.size:
        return Setting(name, "", "", "")
    low, high = (significant(float(end), 5) for end in (numbers.min(), numbers.max()))
    return Setting(name, low, high, "" if values.attrs["units"] == "1" else values.attrs["units"])


def sigma_sentence(tree: xr.DataTree) -> str:
    """What sigma means in this fit, and which quantile its intervals use."""
    number = int(group_of(tree, "statistics")["dof"])
    dof = f"{count(number, 'degree')} of freedom"
    s = float(group_of(tree, "statistics")["s"])
    if tree.attrs["sigma_meaning"] == "modelled":
        return f"{tree.attrs['errors']}: intervals use the normal quantile"
    if tree.attrs.get("errors"):
        return f"{tree.attrs['errors']}, t with {dof}"
    if number <= 0 and tree.attrs["sigma_meaning"] != "trusted":
        return "none: no degree of freedom is left to estimate sigma from"
    return {
        "trusted": "sigma trusted, as given: intervals use the normal quantile",
        "scaled": f"sigma scaled: only the ratios of the given sigmas count, their size is multiplied by s = {s:.3g}, t with {dof}",
        "estimated": f"no sigma given: estimated from the residuals, t with {dof}",
    }[tree.attrs["sigma_meaning"]]


def statistics_rows(tree: xr.DataTree) -> list[tuple[str, str]]:
    """What the statistics are called, and what they are; a row without a name goes on with the one above."""
    group = group_of(tree, "statistics")
    number = {str(name): float(value) for name, value in group.data_vars.items() if value.ndim == 0}
    loss = str(tree.attrs.get("loss", ""))
    rows = [("sum of the loss" if loss else "sum of squared weighted residuals", _measure(group["ssr"]))]
    if loss:
        given = (
            "given sigma" if tree.attrs["sigma_meaning"] == "trusted" else f"{_measure(group['robust_scale'])}, from the median residual"
        )
        rows += [("robust loss", f"{loss} (in units of {given})"), ("", "chi-square and its p-value do not judge a robust fit")]
    if tree.attrs["sigma_meaning"] == "modelled":
        rows.append(("log-likelihood, in the units of the data", significant(number["log_likelihood"], 8)))
        rows.append(("bias of the estimated sigmas", f"too small by about the factor {number['sigma_bias']:.3g}"))
    if tree.attrs["sigma_meaning"] == "estimated":
        rows.append((f"standard deviation of the residuals{' (median)' if loss else ''}", _measure(group["s"])))
    if math.isfinite(number["chi_square"]):
        text = f"{significant(number['chi_square'], 5)}, reduced {significant(number['reduced_chi_square'], 4)}"
        rows.append(("chi-square", text + (f", {probability(number['p_value'])}" if math.isfinite(number["p_value"]) else "")))
    if "pure_error" in group:
        number_of = f"{count(int(number['replicate_points']), 'point')} measured more than once, {number['replicate_values']:.0f} values"
        freedom = count(int(number["pure_error_dof"]), "degree")
        rows.append(("replicates (all conditions equal)", number_of))
        rows.append(("scatter between replicates", f"{_measure(group['pure_error'])}, {freedom} of freedom"))
    if math.isfinite(number.get("lack_of_fit_F", math.nan)):
        freedom = f"{number['lack_of_fit_dof']:.0f} and {number['pure_error_dof']:.0f} degrees of freedom"
        tested = f"F = {significant(number['lack_of_fit_F'], 4)} with {freedom}, {probability(number['lack_of_fit_p'])}"
        rows.append(("lack of fit", tested))
    rows.append(("degrees of freedom", f"{number['dof']:.0f}"))
    rows.append(("errors and intervals", sigma_sentence(tree)))
    parameters = group_of(tree, "parameters")
    held = int(np.count_nonzero(~parameters["fixed"].values & (parameters["at_bound"].values != "")))
    rank = f"{number['rank']:.0f} of {count(int(number['n_parameters']) - held, 'parameter')}" + (
        f" ({held} held on a bound)" if held else ""
    )
    rows.append(("rank, condition number", f"{rank}, {significant(number['condition_number'], 3)}"))
    ended = f"{count(int(number['iterations']), 'iteration')}, {count(int(number['evaluations']), 'model evaluation')}"
    rows.append(("end of the search", f"{tree.attrs['status_label']} ({ended})"))
    if tree.attrs["message"]:
        rows.append(("", tree.attrs["message"]))
    return rows


def _measure(value: xr.DataArray) -> str:
    unit = value.attrs["units"]
    number = significant(float(value))
    return number if unit == "1" else f"{number} ({unit} units)" if unit == "mixed" else f"{number} {unit}"


def correlated_pairs(tree: xr.DataTree) -> list[tuple[float, str, str]]:
    """Every pair of estimated parameters with its correlation, strongest first."""
    table = group_of(tree, "covariance")["correlation"]
    names = [str(name) for name in table["parameter"].values]
    pairs = [(float(table.values[i, j]), names[i], names[j]) for i, j in zip(*np.triu_indices(len(names), 1), strict=True)]
    return sorted((pair for pair in pairs if math.isfinite(pair[0])), key=lambda pair: -abs(pair[0]))


def _unit(units: xr.DataArray, index: int) -> str:
    text = str(units.values[index])
    return "-" if text == "1" else text
