"""The result as plain text, 96 columns wide: verdict first, then parameters, warnings, data, statistics, correlations, origin."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from kinetix.report.numbers import estimate, significant
from kinetix.report.summary import failed_experiments, lines, provenance
from kinetix.results.phrases import correlation, count, listing, near_one, probability
from kinetix.results.tree import group_of

WIDTH = 96
SHOWN_CORRELATION = 0.95
MOST_CORRELATIONS = 20


def text_report(tree: xr.DataTree) -> str:
    """A fit as a page of plain text, for the terminal and for print.

    Values carry as many digits as their standard errors support.

    Arguments:
        tree: a result of `kinetix.results.fit_tree`.

    Returns:
        Text that ends with a newline; no line is wider than 96 columns unless a table's own entries are.
    """
    sections = (_head, _parameters, _warnings, _data, _statistics, _correlations, _origin)
    written = [list(section(tree)) for section in sections]
    return "\n\n".join("\n".join(section) for section in written if section) + "\n"


def sigma_sentence(tree: xr.DataTree) -> str:
    """What sigma means in this fit, and which quantile its intervals use."""
    number = int(group_of(tree, "statistics")["dof"])
    dof = f"{count(number, 'degree')} of freedom"
    s = float(group_of(tree, "statistics")["s"])
    if number <= 0 and tree.attrs["sigma_meaning"] != "trusted":
        return "none: no degree of freedom is left to estimate sigma from"
    return {
        "trusted": "sigma trusted, as given: intervals use the normal quantile",
        "scaled": f"sigma scaled: only the ratios of the given sigmas count, their size is multiplied by s = {s:.3g}, t with {dof}",
        "estimated": f"no sigma given: estimated from the residuals, t with {dof}",
    }[tree.attrs["sigma_meaning"]]


def _head(tree: xr.DataTree) -> Iterator[str]:
    title = tree.attrs["title"]
    if title:
        yield title
        yield "=" * min(len(title), WIDTH)
        yield ""
    yield from _wrapped(tree.attrs["verdict"])
    number = len(lines(tree.attrs, "warnings"))
    if number:
        yield f"{count(number, 'warning')} below."


def _parameters(tree: xr.DataTree) -> Iterator[str]:
    group = group_of(tree, "parameters")
    rows = [
        (
            str(name),
            *estimate(*(float(group[key].values[index]) for key in ("value", "stderr", "lower95", "upper95"))),
            _unit(group["unit"], index),
        )
        for index, name in enumerate(group["parameter"].values)
    ]
    remarks = [_remark(group, index) for index in range(len(rows))]
    if "derived" in group.coords:
        keys = [f"derived_{key}" for key in ("value", "stderr", "lower95", "upper95")]
        for index, name in enumerate(group["derived"].values):
            row = estimate(*(float(group[key].values[index]) for key in keys))
            rows.append((str(name), *row, _unit(group["derived_unit"], index)))
            note = str(group["derived_note"].values[index])
            remarks.append(f"derived: {note}" if note else "derived")
    header = ("Parameter", "value", "std error", "95 % from", "to", "unit")
    table = _table(header, rows, right=(1, 2, 3, 4))
    yield table[0]
    yield from _with_remarks(table[1:], remarks)


def _remark(group: xr.Dataset, index: int) -> str:
    side = str(group["at_bound"].values[index])
    if bool(group["fixed"].values[index]):
        return "fixed"
    if side:
        unit = _unit(group["unit"], index)
        return f"at {side} bound {significant(float(group[f'{side}_bound'].values[index]))}{'' if unit == '-' else ' ' + unit}"
    return "" if math.isfinite(float(group["stderr"].values[index])) else "no standard error"


def _warnings(tree: xr.DataTree) -> Iterator[str]:
    sentences = lines(tree.attrs, "warnings")
    if sentences:
        yield "Warnings"
    for number, sentence in enumerate(sentences, start=1):
        mark = f"  {number}. "
        yield from _wrapped(sentence, first=mark, rest=" " * len(mark))


def _data(tree: xr.DataTree) -> Iterator[str]:
    group = group_of(tree, "predictions")
    measured = group["measured"].values
    r_squared = group_of(tree, "statistics")["r_squared"].values
    rows: list[tuple[str, ...]] = []
    for index, name in enumerate(group["response"].values):
        values = group["observed"].values[..., index][measured[..., index]]
        ends = (significant(float(values.min()), 4), significant(float(values.max()), 4)) if values.size else ("-", "-")
        fraction = float(r_squared[index])
        rows.append(
            (str(name), str(values.size), *ends, _unit(group["unit"], index), near_one(fraction) if math.isfinite(fraction) else "-")
        )
    number = int(group_of(tree, "statistics")["n_observations"])
    yield f"Data: {count(group.sizes['experiment'], 'experiment')}, {count(number, 'observation')} of {count(len(rows), 'response')}"
    table = _table(("Response", "values", "smallest", "largest", "unit", "R2"), rows, right=(1, 2, 3, 5))
    yield from (f"  {line}" for line in table)
    settings = list(_settings(tree))
    if settings:
        yield from _wrapped("; ".join(settings), first="  at ", rest="     ")
    failed = failed_experiments(tree)
    if failed:
        yield from _wrapped(f"not simulated: {listing(failed)}", first="  ", rest="  ")
    for note in lines(tree.attrs, "notes"):
        yield from _wrapped(note, first="  - ", rest="    ")


def _settings(tree: xr.DataTree) -> Iterator[str]:
    """Each condition as "T 330 to 350 K"."""
    if "t" in group_of(tree, "predictions").data_vars:
        times = group_of(tree, "predictions")["t"].where(group_of(tree, "predictions")["measured"].any("response"))
        yield _range("t", times)
    if "conditions" in tree.children:
        for values in group_of(tree, "conditions").data_vars.values():
            yield _range(values.attrs["long_name"], values)


def _range(name: str, values: xr.DataArray) -> str:
    numbers = values.values[np.isfinite(values.values)]
    if not numbers.size:
        return f"{name} unknown"
    low, high = (significant(float(end), 5) for end in (numbers.min(), numbers.max()))
    unit = "" if values.attrs["units"] == "1" else f" {values.attrs['units']}"
    return f"{name} {low}{unit}" if low == high else f"{name} {low} to {high}{unit}"


def _statistics(tree: xr.DataTree) -> Iterator[str]:
    group = group_of(tree, "statistics")
    number = {str(name): float(value) for name, value in group.data_vars.items() if value.ndim == 0}
    yield "Statistics"
    rows = [("sum of squared weighted residuals", _measure(group["ssr"]))]
    if tree.attrs["sigma_meaning"] == "estimated":
        rows.append(("standard deviation of the residuals", _measure(group["s"])))
    if math.isfinite(number["chi_square"]):
        text = f"{significant(number['chi_square'], 5)}, reduced {significant(number['reduced_chi_square'], 4)}"
        rows.append(("chi-square", text + (f", p = {probability(number['p_value'])}" if math.isfinite(number["p_value"]) else "")))
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
    column = max(len(label) for label, _ in rows) + 4
    for label, text in rows:
        yield from _wrapped(text, first=f"  {label:<{column - 2}}", rest=" " * column)


def _measure(value: xr.DataArray) -> str:
    unit = value.attrs["units"]
    number = significant(float(value))
    return number if unit == "1" else f"{number} ({unit} units)" if unit == "mixed" else f"{number} {unit}"


def _correlations(tree: xr.DataTree) -> Iterator[str]:
    table = group_of(tree, "covariance")["correlation"]
    names = [str(name) for name in table["parameter"].values]
    pairs = [(float(table.values[i, j]), names[i], names[j]) for i, j in zip(*np.triu_indices(len(names), 1), strict=True)]
    pairs = sorted((pair for pair in pairs if math.isfinite(pair[0])), key=lambda pair: -abs(pair[0]))
    strong = [pair for pair in pairs if abs(pair[0]) > SHOWN_CORRELATION]
    if not pairs:
        return
    if not strong:
        r, first, second = pairs[0]
        yield f"Correlations: none above {SHOWN_CORRELATION} in size; the largest is {correlation(r)}, {first} and {second}"
        return
    yield f"Correlations above {SHOWN_CORRELATION} in size"
    rows = [(first, second, correlation(r)) for r, first, second in strong[:MOST_CORRELATIONS]]
    yield from (f"  {line}" for line in _table(("", "", ""), rows, right=())[1:])
    if len(strong) > MOST_CORRELATIONS:
        yield f"  and {count(len(strong) - MOST_CORRELATIONS, 'more pair')}"


def _origin(tree: xr.DataTree) -> Iterator[str]:
    known = provenance(tree)
    parts = [
        f"{label} {known[name]}"
        for name, label in (("kinetix_version", "kinetix"), ("jax_version", "jax"), ("device", "on"), ("dtype", "in"), ("seed", "seed"))
        if name in known
    ]
    if "data_hash" in known:
        parts.append(f"data {str(known['data_hash'])[:16]}")
    seconds = [
        f"{step} {known[key]:.2g} s"
        for step in ("import", "trace", "compile", "run")
        if isinstance(known.get(key := f"{step}_seconds"), float)
    ]
    if parts:
        yield from _wrapped(", ".join(parts))
    if seconds:
        yield from _wrapped(", ".join(seconds))


def _unit(units: xr.DataArray, index: int) -> str:
    text = str(units.values[index])
    return "-" if text == "1" else text


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> list[str]:
    """Header and rows in columns two spaces apart; `right` names the right-aligned ones."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    return [
        "  ".join(
            f"{cell:>{width}}" if column in right else f"{cell:<{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (header, *rows)
    ]


def _with_remarks(rows: Sequence[str], remarks: Sequence[str]) -> Iterator[str]:
    """Each remark behind its row, or under it where the line would get too wide."""
    column = max(len(row) for row in rows) + 2
    for row, remark in zip(rows, remarks, strict=True):
        if column + len(remark) <= WIDTH:
            yield f"{row:<{column}}{remark}".rstrip()
        else:
            yield row
            yield from _wrapped(remark, first="      ", rest="      ")


def _wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
