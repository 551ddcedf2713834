"""What a report says, in order, as blocks of text, tables and pictures: read from the DataTree, then shown as HTML and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import xarray as xr

from kinetix.report.numbers import alike, compared
from kinetix.report.outliers import outlier_rows
from kinetix.report.refits import influence_rows, influence_sentences, interval_rows, interval_sentences
from kinetix.report.rows import correlated_pairs, parameter_rows, response_rows, settings, sigma_sentence, statistics_rows
from kinetix.report.starts import optima_rows, start_sentences
from kinetix.report.summary import failed_experiments, lines, provenance
from kinetix.results.phrases import correlation, count, listing
from kinetix.results.residuals import standardised_residuals
from kinetix.results.tree import group_of, require_fit
from kinetix.status import Status

MOST_ROWS = 200
"""Experiments, or measured values of all responses together, up to which all are shown."""

WORST_ROWS = 40
"""So many rows of a table are shown beyond: those that the model misses most."""

MOST_IN_MATRIX = 12
WIDEST_MATRIX = 90
"""Letters of all names together; beyond, the columns have numbers."""

MOST_PAIRS = 20
MOST_CONDITIONS = 6
FAR, VERY_FAR = 2.0, 3.0
"""Residuals over their standard deviation from which on they are shaded; the largest of many is one further."""

STRONG = (0.8, 0.95, 0.98)
"""Correlations from which on a cell of the matrix gets darker."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    kind: ClassVar[str] = "text"


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    items: tuple[str, ...]
    ordered: bool = False
    kind: ClassVar[str] = "items"


@dataclass(frozen=True)
class Listing:
    """Text to be shown letter by letter; `language` names what it is written in."""

    text: str
    language: str = ""
    kind: ClassVar[str] = "listing"


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, and what its cells are: `text`, `number`, or `code` (names and formulas)."""

    title: str
    holds: str = "text"


@dataclass(frozen=True)
class Table:
    """A table of text; `marks` has a number for each cell, 0 for an ordinary one; `legend` says what they mean where they are seen."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    marks: tuple[tuple[int, ...], ...] = ()
    legend: str = ""
    kind: ClassVar[str] = "table"

    @property
    def marked(self) -> bool:
        """Whether a cell stands out."""
        return any(any(row) for row in self.marks)


@dataclass(frozen=True)
class Picture:
    """A figure: the file beside the report is `name`.png; `data` is the same picture, to be embedded, `width` pixels of a page wide."""

    name: str
    caption: str
    media_type: str
    data: bytes
    width: int
    kind: ClassVar[str] = "picture"


Block = Text | Items | Listing | Table | Picture


@dataclass(frozen=True)
class Section:
    """A heading with an anchor, and what stands below it."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """A whole report.

    Attributes:
        title: of the study.
        kind: what it reports, by what and when.
        state: `good`, `doubtful` (there are warnings) or `failed`.
        label: the state in two words.
        verdict: in sentences.
        counts: what stands beside the verdict: label and value.
        sections: the rest, in order.
    """

    title: str
    kind: str
    state: str
    label: str
    verdict: str
    counts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]


def contents(tree: xr.DataTree, pictures: Sequence[Picture] = ()) -> Report:
    """A fit as a report: the verdict first, then parameters, warnings, figures, and what they rest on.

    Args:
        tree: a result of `kinetix.results.fit_tree`, fresh or read from a file.
        pictures: the figures, in order.
    """
    require_fit(tree)
    warnings = len(lines(tree.attrs, "warnings"))
    converged = bool(tree.attrs["converged"])
    state = "failed" if not converged else "doubtful" if warnings else "good"
    label = {"failed": "Did not converge", "doubtful": f"Converged, {count(warnings, 'warning')}", "good": "Converged, no warnings"}[state]
    described: list[tuple[str, str, Callable[[xr.DataTree], Iterator[Block]]]] = [
        ("parameters", "Parameters", _parameters),
        ("supplement", "In addition", _supplement),
        ("warnings", "Warnings", _warnings),
        ("outliers", "Outliers", _outliers),
        ("intervals", "Intervals by refits", _intervals),
        ("influence", "Influence", _influence),
        ("starts", "Starts", _starts),
        ("figures", "Figures", lambda _: iter(pictures)),
        ("model", "Model", _model),
        ("data", "Data", _data),
        ("statistics", "Statistics", _statistics),
        ("correlations", "Correlations", _correlations),
        ("experiments", "Experiments", _experiments),
        ("values", "Measured and predicted values", _values),
        ("study", "Study", _study),
        ("origin", "Origin", _origin),
        ("reproduce", "How to reproduce and cite", _reproduce),
    ]
    sections = [Section(anchor, title, tuple(blocks(tree))) for anchor, title, blocks in described]
    return Report(
        title=tree.attrs["title"] or f"Fit of {listing([str(name) for name in group_of(tree, 'predictions')['response'].values])}",
        kind=", ".join(_kind(tree)),
        state=state,
        label=label,
        verdict=tree.attrs["verdict"],
        counts=tuple(_counts(tree)),
        sections=tuple(section for section in sections if section.blocks),
    )


def _kind(tree: xr.DataTree) -> Iterator[str]:
    known = provenance(tree)
    yield "Result of a fit"
    if "kinetix_version" in known:
        yield f"kinetix {known['kinetix_version']}"
    if "date" in known:
        yield str(known["date"])


def _counts(tree: xr.DataTree) -> Iterator[tuple[str, str]]:
    statistics = group_of(tree, "statistics")
    numbers = {
        "estimated parameter": int(statistics["n_parameters"]),
        "observation": int(statistics["n_observations"]),
        "experiment": group_of(tree, "predictions").sizes["experiment"],
    }
    for noun, number in numbers.items():
        yield count(number, noun).partition(" ")[2], str(number)
    dof = int(statistics["dof"])
    yield ("degree" if dof == 1 else "degrees") + " of freedom", str(dof)


def _table(columns: str, rows: Sequence[Sequence[str]], caption: str = "", marks: Sequence[Sequence[int]] = ()) -> Table:
    """A table; `columns` is "Name:code, value:number, remark", a column without anything to say is left out."""
    heads = [Column(title, holds or "text") for title, _, holds in (column.strip().partition(":") for column in columns.split(","))]
    return _without_empty(Table(tuple(heads), tuple(map(tuple, rows)), caption, tuple(map(tuple, marks))))


def _without_empty(table: Table) -> Table:
    kept = [i for i in range(len(table.columns)) if not table.rows or any(row[i] for row in table.rows)]

    def those(cells: Sequence) -> tuple:
        return tuple(cells[i] for i in kept)

    return Table(those(table.columns), tuple(map(those, table.rows)), table.caption, tuple(map(those, table.marks)), table.legend)


def _parameters(tree: xr.DataTree) -> Iterator[Block]:
    yield _table("parameter:code, value:number, std error:number, 95 % from:number, to:number, unit, remark", parameter_rows(tree))
    if not tree.attrs["converged"]:
        yield Text("The fit did not converge: these are the best values found, no answer; errors and intervals mean nothing.")
        return
    meaning = sigma_sentence(tree)
    yield Text(f"{meaning[:1].upper()}{meaning[1:]}. Each interval is for one parameter at a time.")


def _intervals(tree: xr.DataTree) -> Iterator[Block]:
    titles, rows = interval_rows(tree)
    if rows:
        yield _without_empty(Table(_heads(titles), tuple(rows)))
    sentences = tuple(interval_sentences(tree))
    if sentences:
        yield Items(sentences)


def _influence(tree: xr.DataTree) -> Iterator[Block]:
    titles, rows = influence_rows(tree)
    if not rows:
        return
    yield Text(" ".join(influence_sentences(tree)))
    yield _without_empty(Table(_heads(titles), tuple(rows)))


def _heads(titles: Sequence[str]) -> tuple[Column, ...]:
    words = ("unit", "remark", "without")
    return tuple(Column(title, "code" if title == "parameter" else "text" if title in words else "number") for title in titles)


def _starts(tree: xr.DataTree) -> Iterator[Block]:
    sentences = tuple(start_sentences(tree))
    if not sentences:
        return
    yield Text(" ".join(sentences))
    titles, rows = optima_rows(tree)
    if len(rows) > 1:
        heads = tuple(Column(title, "text" if title == "remark" else "number") for title in titles)
        yield _without_empty(
            Table(heads, tuple(rows), "The distinct optima, the best first; values are those of the first start that reached each.")
        )


def _outliers(tree: xr.DataTree) -> Iterator[Block]:
    rows = outlier_rows(tree)
    if rows:
        yield Text(
            f"Values that count less than half in the robust loss ({tree.attrs['loss']}); a weight of 1 is that of least squares."
            " Each deserves a look: a slip, or a place where the model is wrong."
        )
        yield _table("experiment, time:number, response:code, observed:number, predicted:number, unit, weight:number", rows)


def _supplement(tree: xr.DataTree) -> Iterator[Block]:
    text = str(tree.attrs.get("supplement", ""))
    if text:
        yield Listing(text)


def _warnings(tree: xr.DataTree) -> Iterator[Block]:
    sentences = lines(tree.attrs, "warnings")
    yield Items(tuple(sentences), ordered=True) if sentences else Text("None.")


def _model(tree: xr.DataTree) -> Iterator[Block]:
    rows = [line.split("\t") for line in lines(tree.attrs, "model")]
    for label, text in (row for row in rows if row[0] == "reactor"):
        yield Text(f"{label.capitalize()}: {text}.")
    reactions = [row for row in rows if len(row) == 3]
    others = [row for row in rows if len(row) == 2 and row[0] != "reactor"]
    if reactions:
        yield _table("reaction:code, equation:code, rate r as computed:code", reactions)
    if others:
        yield _table(", :code", others)
    constant = [setting for setting in settings(tree) if setting.low and setting.low == setting.high]
    if constant:
        yield Text(f"The same in all data: {'; '.join(f'{one.name} = {one.low} {one.unit}'.strip() for one in constant)}.")


def _data(tree: xr.DataTree) -> Iterator[Block]:
    rows = response_rows(tree)
    yield _table("response:code, values:number, smallest:number, largest:number, unit, R²:number", rows)
    varying = [setting for setting in settings(tree) if setting.low != setting.high]
    if varying:
        yield _table("condition:code, from:number, to:number, unit", varying)
    failed = failed_experiments(tree)
    if failed:
        yield Text(f"Not simulated: {listing(failed)}.")
    notes = lines(tree.attrs, "notes")
    if notes:
        yield Text("What was recognised in the files:")
        yield Items(tuple(notes))


def _statistics(tree: xr.DataTree) -> Iterator[Block]:
    yield _table(",", statistics_rows(tree))


def _correlations(tree: xr.DataTree) -> Iterator[Block]:
    pairs = correlated_pairs(tree)
    if not pairs:
        return
    table = group_of(tree, "covariance")["correlation"]
    known = np.flatnonzero(np.isfinite(np.diag(table.values)))
    if len(known) <= MOST_IN_MATRIX:
        yield _matrix([str(table["parameter"].values[i]) for i in known], table.values[np.ix_(known, known)])
        return
    shown = pairs[:MOST_PAIRS]
    rows = [(first, second, correlation(r)) for r, first, second in shown]
    note = f"The {len(shown)} strongest of {len(pairs)} pairs; parameters.csv and fit.nc hold all"
    yield _table("parameter:code, parameter:code, correlation:number", rows, note, [(0, 0, _strength(r)) for r, _, _ in shown])


def _matrix(names: Sequence[str], values: Floats) -> Table:
    """The lower triangle; long names stand once, and a number for them above the columns."""
    short = sum(map(len, names)) <= WIDEST_MATRIX
    heads = names if short else [str(i + 1) for i in range(len(names))]
    rows, marks = [], []
    for i, name in enumerate(names):
        below = len(names) - i - 1
        rows.append((name if short else f"{i + 1} {name}", *(f"{values[i, j]:.3f}" for j in range(i)), "1", *("" for _ in range(below))))
        marks.append((0, *(_strength(values[i, j]) for j in range(i)), 0, *(0 for _ in range(below))))
    legend = f"Shaded from {STRONG[0]} in size on, darker from {STRONG[1]} and {STRONG[2]}."
    return Table((Column("", "code"), *(Column(head, "number") for head in heads)), tuple(rows), "", tuple(marks), legend)


def _strength(r: float) -> int:
    return sum(abs(r) >= limit for limit in STRONG)


def _experiments(tree: xr.DataTree) -> Iterator[Block]:
    """A row per experiment, where an experiment is more than one row of data."""
    group = group_of(tree, "predictions")
    if group.sizes["time"] == 1 and not failed_experiments(tree):
        return
    standardised, label = standardised_residuals(tree)
    size = np.where(group["measured"].values, np.abs(standardised), np.nan).reshape(group.sizes["experiment"], -1)
    seen = np.isfinite(size).any(axis=1)
    largest, rms = np.full(len(size), np.nan), np.full(len(size), np.nan)
    largest[seen] = np.nanmax(size[seen], axis=1)
    rms[seen] = np.sqrt(np.nanmean(size[seen] ** 2, axis=1))
    status = [Status(int(code)) for code in group["status"].values]
    kept, note = _worst(np.where([one.ok for one in status], largest, np.inf), "experiments", every=len(size) <= MOST_ROWS)
    titles, cells = _condition_cells(tree)
    columns = (
        Column("experiment"),
        *(Column(title, "number") for title in titles),
        Column("values", "number"),
        Column(f"rms {label}", "number"),
        Column(f"largest {label}", "number"),
        Column("simulation"),
    )
    used = group["measured"].values.reshape(len(size), -1).sum(axis=1)
    rows, marks = [], []
    for i in kept:
        farthest = float(largest[i])
        places = (column[i] for column in cells)
        fit = (str(used[i]), _two_decimals(float(rms[i])), _two_decimals(farthest), status[i].label)
        rows.append((str(group["experiment"].values[i]), *places, *fit))
        marks.append((*(0 for _ in columns[2:]), _distance(farthest, beyond=1.0), 0 if status[i].ok else 2))
    legend = f"Shaded where the largest is beyond {FAR + 1:g}, darker beyond {VERY_FAR + 1:g}, standard deviations."
    yield Table(columns, tuple(rows), note, tuple(marks), legend)


def _values(tree: xr.DataTree) -> Iterator[Block]:
    """A table per response: where it was measured, what was measured, what the model says."""
    group = group_of(tree, "predictions")
    standardised, label = standardised_residuals(tree)
    timed = "t" in group.data_vars
    titles, cells = ([], []) if timed else _condition_cells(tree)
    if timed:
        titles = [_titled("t", group["t"].attrs["units"])]
    every = bool(group["measured"].values.sum() <= MOST_ROWS)
    for r, name in enumerate(group["response"].values):
        where = np.argwhere(group["measured"].values[..., r])
        if not len(where):
            continue
        i, j = where.T
        distance = np.abs(standardised[i, j, r])
        kept, note = _worst(np.where(np.isfinite(distance), distance, np.inf), f"values of {name}", every=every)
        i, j = i[kept], j[kept]
        places = [alike(group["t"].values[i, j])] if timed else [[column[k] for k in i] for column in cells]
        observed, predicted = group["observed"].values[i, j, r], group["predicted"].values[i, j, r]
        z = standardised[i, j, r]
        unit = str(group["unit"].values[r])
        sigma = alike(group["sigma"].values[i, j, r], 3) if tree.attrs["sigma_meaning"] != "estimated" else [""] * len(i)
        names = [str(group["experiment"].values[k]) for k in i]
        columns = (
            Column("experiment"),
            *(Column(title, "number") for title in titles),
            Column("observed", "number"),
            Column("σ", "number"),
            Column("predicted", "number"),
            Column("residual", "number"),
            Column(label, "number"),
            Column("weight", "number"),
        )
        weight = group["robust_weight"].values[i, j, r] if "robust_weight" in group else np.full(len(i), np.nan)
        counted = [f"{one:.2f}" if np.isfinite(one) else "" for one in weight]
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.abs((observed - predicted) / z)
        measured, computed, residual = compared(observed, predicted, deviation)
        texts = (names, *places, measured, sigma, computed, residual, [_two_decimals(one) for one in z], counted)
        marks = tuple((*(0 for _ in columns[2:]), _distance(one), 0) for one in z)
        caption = f"{_titled(str(name), unit)}: {note}" if note else _titled(str(name), unit)
        legend = f"Shaded beyond {FAR:g}, darker beyond {VERY_FAR:g}, standard deviations; one value in 22 is beyond {FAR:g} by chance."
        yield _without_empty(Table(columns, tuple(zip(*texts, strict=True)), caption, marks, legend))


def _worst(size: Floats, noun: str, *, every: bool) -> tuple[npt.NDArray[np.intp], str]:
    """Positions of the rows to show, in the order of the data, and what is said where they are not all."""
    if every or len(size) <= WORST_ROWS:
        return np.arange(len(size)), ""
    kept = np.sort(np.argsort(-np.nan_to_num(size, nan=-1.0), kind="stable")[:WORST_ROWS])
    return kept, f"the {WORST_ROWS} of {len(size)} {noun} that the model misses most; fit.nc holds all"


def _condition_cells(tree: xr.DataTree) -> tuple[list[str], list[list[str]]]:
    """Titles and cells of the conditions that vary, a column each; the first few where they are many."""
    if "conditions" not in tree.children:
        return [], []
    columns = [values for values in group_of(tree, "conditions").data_vars.values() if len(np.unique(values.values)) > 1][:MOST_CONDITIONS]
    return [_titled(values.attrs["long_name"], values.attrs["units"]) for values in columns], [alike(values.values) for values in columns]


def _titled(name: str, unit: str) -> str:
    return name if unit == "1" else f"{name} [{unit}]"


def _two_decimals(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "-"


def _distance(z: float, beyond: float = 0.0) -> int:
    return int(abs(z) > FAR + beyond) + int(abs(z) > VERY_FAR + beyond)


def _study(tree: xr.DataTree) -> Iterator[Block]:
    text = str(provenance(tree).get("study_text", "")).strip("\n")
    if text:
        yield Listing(text, "toml")


_ORIGINS = {
    "kinetix_version": "kinetix",
    "jax_version": "JAX",
    "date": "fitted on",
    "device": "device",
    "dtype": "numbers",
    "seed": "seed",
    "data_hash": "SHA-256 of the data, as numbers",
    "reference_temperatures": "reference temperatures, all digits",
}


def _origin(tree: xr.DataTree) -> Iterator[Block]:
    known = {name: value for name, value in provenance(tree).items() if value is not None and name != "study_text"}
    steps = [(step, known.pop(f"{step}_seconds", None)) for step in ("import", "trace", "compile", "run")]
    seconds = ", ".join(f"{step} {value:.2g} s" for step, value in steps if isinstance(value, float))
    rows = [(_ORIGINS.get(name, name), str(known[name])) for name in sorted(known, key=lambda name: [*_ORIGINS, name].index(name))]
    rows += [("times", seconds)] if seconds else []
    if rows:
        yield _table(",", rows)


def _reproduce(tree: xr.DataTree) -> Iterator[Block]:
    known = provenance(tree)
    version = f" {known['kinetix_version']}" if "kinetix_version" in known else ""
    if known.get("study_text"):
        yield Text(f"Save the study above as study.toml where its data files are, and run, with kinetix{version}:")
        yield Listing("kinetix fit study.toml", "sh")
    yield Text("This report was written from the result file alone. To write it again:")
    yield Listing("kinetix report fit.nc", "sh")
    if not tree.attrs["converged"]:
        yield Text("There is nothing to cite: the fit did not converge.")
        return
    loss = str(tree.attrs.get("loss", ""))
    weights = (
        f"nonlinear M-estimation with the robust loss {loss}"
        if loss
        else "nonlinear least squares"
        if tree.attrs["sigma_meaning"] == "estimated"
        else "nonlinear least squares weighted by 1/σ²"
    )
    jax = f" (JAX {known['jax_version']})" if "jax_version" in known else ""
    yield Text(
        f"To cite: parameters were estimated with kinetix{version}{jax} by bounded {weights} (trust-region Levenberg-Marquardt, exact "
        f"derivatives). Standard errors and 95 % intervals are those of the linearised model at the estimates; {sigma_sentence(tree)}."
    )
