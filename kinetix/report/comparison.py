"""A comparison of models for readers: a table for the terminal, the same with figures as a report, and a plain dictionary."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import xarray as xr

from kinetix.report.content import Block, Column, Items, Listing, Picture, Report, Section, Table, Text, contents
from kinetix.report.layout import columned, wrapped
from kinetix.report.numbers import alike, for_json, significant
from kinetix.report.summary import lines
from kinetix.results.comparison import is_comparison, require_comparison
from kinetix.results.phrases import count, probability
from kinetix.results.tree import group_of
from kinetix.status import Status

OWN = {"verdict", "warnings", "sigma_meaning", "n_observations"}
"""Attributes of the root that are no provenance."""

READING = (
    "p is the number of estimated parameters. AICc and BIC are -2 ln(likelihood) plus a price for each parameter{sigma}; smaller is"
    " better, and"
    " only differences count. Weights are shares of exp(-delta/2): how the evidence is divided among these models, none of which need be"
    " right."
)


def comparison_text(tree: xr.DataTree) -> str:
    """A comparison as plain text, 96 columns wide unless the table's own entries are wider.

    Args:
        tree: a result of `kinetix.results.comparison_tree`.
    """
    require_comparison(tree)
    written = [list(section(tree)) for section in (_head, _table_lines, _nested_lines, _crossed_lines, _warning_lines)]
    return "\n\n".join("\n".join(section) for section in written if section) + "\n"


def _head(tree: xr.DataTree) -> Iterator[str]:
    yield from wrapped(str(tree.attrs["verdict"]))
    number = len(lines(tree.attrs, "warnings"))
    if number:
        yield f"{count(number, 'warning')} below."


def _table_lines(tree: xr.DataTree) -> Iterator[str]:
    heads, rows = model_rows(tree)
    yield from columned(heads, rows, right=range(1, len(heads) - 1))
    yield from wrapped(_meaning(tree))


def _nested_lines(tree: xr.DataTree) -> Iterator[str]:
    if "nested" in tree.children:
        yield "Nested models, as declared"
        heads, rows = nested_rows(tree)
        yield from (f"  {line}" for line in columned(heads, rows, right=(3, 4, 5)))


def _crossed_lines(tree: xr.DataTree) -> Iterator[str]:
    if "cross_validation" in tree.children:
        yield from wrapped(crossed_sentence(tree))
        heads, rows = crossed_rows(tree)
        yield from (f"  {line}" for line in columned(heads, rows, right=range(1, len(heads))))


def _warning_lines(tree: xr.DataTree) -> Iterator[str]:
    sentences = lines(tree.attrs, "warnings")
    if sentences:
        yield "Warnings"
    for number, sentence in enumerate(sentences, start=1):
        mark = f"  {number}. "
        yield from wrapped(sentence, first=mark, rest=" " * len(mark))


# ------------------------------------------------------------------------------------------------------------------ rows


def model_order(group: xr.Dataset) -> list[int]:
    """Positions of the models, the best first, those that are left out last."""
    return sorted(range(group.sizes["model"]), key=lambda i: (int(group["rank"].values[i]) or math.inf, i))


def model_rows(tree: xr.DataTree) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Titles and rows of the table of models, the best first; those that are left out come last."""
    group = group_of(tree, "models")
    order = model_order(group)
    trusted = tree.attrs["sigma_meaning"] == "trusted"

    def column(name: str) -> list[float]:
        return [float(group[name].values[i]) for i in order]

    heads = ["model", "p", "chi-square" if trusted else "SSR"]
    cells = [[str(group["model"].values[i]) for i in order], [str(int(n)) for n in column("n_parameters")]]
    cells.append([significant(value, 6) for value in column("ssr")])
    heads.append("reduced" if trusted else "s")
    if trusted:
        n = int(tree.attrs["n_observations"])
        dof = [n - p for p in column("n_parameters")]
        cells.append([significant(ssr / free, 4) if free > 0 else "-" for ssr, free in zip(column("ssr"), dof, strict=True)])
    else:
        cells.append([significant(value, 4) for value in column("s")])
    heads += ["AICc", "delta", "weight", "BIC"]
    cells += [_two(column("aicc")), _two(column("delta")), [_weight(w) for w in column("weight")], _two(column("bic"))]
    if "prediction_error" in group:
        heads.append("predicts")
        cells.append(alike(column("prediction_error"), 4))
    heads.append("status")
    cells.append([_status(group, i) for i in order])
    return tuple(heads), [tuple(row) for row in zip(*cells, strict=True)]


def _status(group: xr.Dataset, i: int) -> str:
    status, rank, warnings = Status(int(group["status"].values[i])), int(group["rank"].values[i]), int(group["n_warnings"].values[i])
    place = "left out" if not rank else "best" if rank == 1 else f"rank {rank}"
    ended = "" if status == Status.SUCCESS else f", {status.label}"
    return place + ended + (f", {count(warnings, 'warning')}" if warnings else "")


def _two(values: Sequence[float]) -> list[str]:
    return [f"{value:.2f}" if math.isfinite(value) else "-" for value in values]


def _weight(weight: float) -> str:
    """An Akaike weight.

    >>> _weight(0.73106), _weight(0.00021), _weight(math.nan)
    ('0.731', '0.0002', '-')
    """
    return "-" if math.isnan(weight) else f"{weight:.3f}" if weight >= 0.0005 else significant(weight, 1)


def nested_rows(tree: xr.DataTree) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Titles and rows of the table of nested models."""
    group = group_of(tree, "nested")
    rows = []
    for i in range(group.sizes["pair"]):
        kind, dof = str(group["kind"].values[i]), float(group["dof"].values[i])
        more = int(group["more"].values[i])
        freedom = str(more) if math.isnan(dof) else f"{more}, {dof:.0f}"
        p_value = float(group["p_value"].values[i])
        rows.append(
            (
                str(group["smaller"].values[i]),
                str(group["larger"].values[i]),
                kind,
                freedom,
                significant(float(group["statistic"].values[i]), 4),
                "-" if math.isnan(p_value) else probability(p_value).removeprefix("p = ").removeprefix("p "),
                str(group["why"].values[i]),
            )
        )
    return ("special case", "of", "test", "dof", "statistic", "p", ""), rows


def crossed_sentence(tree: xr.DataTree) -> str:
    """How the cross-validation was made."""
    group = group_of(tree, "cross_validation")
    unit = group["prediction_ssr"].attrs["units"]
    folds, experiments = group.sizes["fold"], group.sizes["experiment"]
    how = (
        f"each of {experiments} experiments left out in turn"
        if folds == experiments
        else f"{experiments} experiments left out in {folds} folds, seed {group.attrs['seed']}"
    )
    squares = "" if unit == "1" else f", {unit}"
    return f"Cross-validation: {how}, and predicted by a fit to the others. Sum of squared weighted prediction errors{squares}:"


def crossed_rows(tree: xr.DataTree) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Titles and rows of the table of prediction errors: the total, the root of its mean, the total of the fit itself, failed folds."""
    group, models = group_of(tree, "cross_validation"), group_of(tree, "models")
    rows = []
    for i in model_order(models):
        error = group["prediction_ssr"].values[i]
        failed = int((group["why"].values[i] != "").sum())
        rows.append(
            (
                str(group["model"].values[i]),
                significant(float(error.sum()), 5),
                significant(float(models["prediction_error"].values[i]), 4),
                significant(float(models["ssr"].values[i]), 5),
                str(failed) if failed else "none",
            )
        )
    return ("model", "left out", "rms", "fitted", "failed"), rows


def _meaning(tree: xr.DataTree) -> str:
    extra = "" if tree.attrs["sigma_meaning"] == "trusted" else ", the unknown size of sigma counting as one"
    group = group_of(tree, "models")
    squares, unit = (group[name].attrs["units"] for name in ("ssr", "s"))
    units = "" if unit == "1" else f"; SSR in {squares}, s in {unit}"
    told = " Warnings of a fit stand in its own report." if group["n_warnings"].values.any() else ""
    return f"{count(int(tree.attrs['n_observations']), 'measured value')}{units}. {READING.format(sigma=extra)}{told}"


# ---------------------------------------------------------------------------------------------------------------- report


def report_of(tree: xr.DataTree, pictures: Sequence[Picture] = ()) -> Report:
    """A result as a report, of a comparison or of a fit."""
    return (comparison_contents if is_comparison(tree) else contents)(tree, pictures)


def comparison_contents(tree: xr.DataTree, pictures: Sequence[Picture] = ()) -> Report:
    """A comparison as a report: the verdict first, then the models, tests, warnings and figures.

    Args:
        tree: a result of `kinetix.results.comparison_tree`, fresh or read from a file.
        pictures: the figures, in order.
    """
    require_comparison(tree)
    warnings = len(lines(tree.attrs, "warnings"))
    group = group_of(tree, "models")
    ranked = int((group["rank"].values > 0).sum())
    state = "failed" if ranked < 2 else "doubtful" if warnings else "good"
    noun = count(ranked, "model")
    label = f"{noun} compared" if not warnings else f"{noun} compared, {count(warnings, 'warning')}"
    described = [
        ("models", "Models", _models),
        ("nested", "Nested models", _nested),
        ("cross-validation", "Cross-validation", _crossed),
        ("warnings", "Warnings", _warnings),
        ("figures", "Figures", lambda _: iter(pictures)),
        ("origin", "Origin", _origin),
    ]
    sections = [Section(anchor, title, tuple(blocks(tree))) for anchor, title, blocks in described]
    names = [str(name) for name in group["model"].values]
    known = tree.attrs
    made = [f"kinetix {known['kinetix_version']}"] if "kinetix_version" in known else []
    return Report(
        title=f"Comparison of {', '.join(names[:-1])} and {names[-1]}",
        kind=", ".join(["Comparison of models", *made, *([str(known["date"])] if "date" in known else [])]),
        state=state,
        label="Nothing to compare" if ranked < 2 else label,
        verdict=str(tree.attrs["verdict"]),
        counts=(("models", str(len(names))), ("measured values", str(int(tree.attrs["n_observations"])))),
        sections=tuple(section for section in sections if section.blocks),
    )


def _as_table(heads: Sequence[str], rows: Sequence[Sequence[str]], text: Sequence[int]) -> Table:
    kept = [i for i in range(len(heads)) if heads[i] or any(row[i] for row in rows)]
    columns = tuple(Column(heads[i], "text" if i in text else "number") for i in kept)
    return Table(columns, tuple(tuple(row[i] for i in kept) for row in rows))


def _models(tree: xr.DataTree) -> Iterator[Block]:
    heads, rows = model_rows(tree)
    yield _as_table(heads, rows, (0, len(heads) - 1))
    group = group_of(tree, "models")
    titled = [(str(n), str(t)) for n, t in zip(group["model"].values, group["title"].values, strict=True) if str(t) and str(t) != str(n)]
    if titled:
        yield Items(tuple(f"{name}: {title}" for name, title in titled))
    yield Text(_meaning(tree))


def _nested(tree: xr.DataTree) -> Iterator[Block]:
    if "nested" in tree.children:
        heads, rows = nested_rows(tree)
        yield _as_table(heads, rows, (0, 1, 2, 6))
        yield Text(
            "That one model is a special case of the other was declared, not checked. p is the probability of a statistic at least this"
            " large if"
            " the smaller model is right; the tests are exact for linear models, else to first order."
        )


def _crossed(tree: xr.DataTree) -> Iterator[Block]:
    if "cross_validation" in tree.children:
        yield Text(crossed_sentence(tree))
        heads, rows = crossed_rows(tree)
        yield _as_table(heads, rows, (0,))


def _warnings(tree: xr.DataTree) -> Iterator[Block]:
    sentences = lines(tree.attrs, "warnings")
    yield Items(tuple(sentences), ordered=True) if sentences else Text("None.")


def _origin(tree: xr.DataTree) -> Iterator[Block]:
    rows = [(str(name), str(value)) for name, value in tree.attrs.items() if name not in OWN]
    if rows:
        yield _as_table(("", ""), rows, (0, 1))
    yield Text("This report was written from the result file alone. To write it again:")
    yield Listing("kinetix report comparison.nc", "sh")


# --------------------------------------------------------------------------------------------------------------- summary


def comparison_summary(tree: xr.DataTree) -> dict[str, Any]:
    """A comparison as text, numbers, lists and dictionaries, ready for JSON: NaN becomes None.

    Returns:
        `verdict`, `warnings`, `sigma_meaning`, `n_observations`, `models` (name -> status, n_parameters, ssr, s, aicc, delta, weight, bic,
        rank, why, ...), `nested`, `cross_validation` (None where they were not asked for) and `provenance`.
    """
    group = group_of(require_comparison(tree), "models")
    names = [str(name) for name in group["model"].values]
    return {
        "verdict": tree.attrs["verdict"],
        "warnings": lines(tree.attrs, "warnings"),
        "sigma_meaning": tree.attrs["sigma_meaning"],
        "n_observations": int(tree.attrs["n_observations"]),
        "models": {name: _entries(group, "model", i) for i, name in enumerate(names)},
        "nested": _pairs(tree),
        "cross_validation": _folds(tree, names),
        "provenance": {str(name): for_json(value) for name, value in tree.attrs.items() if name not in OWN},
    }


def _entries(group: xr.Dataset, dim: str, i: int) -> dict[str, Any]:
    found = {str(name): for_json(values.values[i]) for name, values in group.data_vars.items() if values.dims == (dim,)}
    if "status" in found:
        found["status"] = Status(int(group["status"].values[i])).label
    return found


def _pairs(tree: xr.DataTree) -> list[dict[str, Any]] | None:
    if "nested" not in tree.children:
        return None
    group = group_of(tree, "nested")
    return [_entries(group, "pair", i) for i in range(group.sizes["pair"])]


def _folds(tree: xr.DataTree, names: Sequence[str]) -> dict[str, Any] | None:
    if "cross_validation" not in tree.children:
        return None
    group = group_of(tree, "cross_validation")
    of_experiment = zip(group["experiment"].values, group["fold_of"].values, strict=True)
    return {
        "seed": for_json(group.attrs.get("seed")),
        "fold_of": {str(name): int(fold) for name, fold in of_experiment},
        "prediction_ssr": {name: [for_json(value) for value in group["prediction_ssr"].values[i]] for i, name in enumerate(names)},
        "why": {name: [str(value) for value in group["why"].values[i]] for i, name in enumerate(names)},
    }
