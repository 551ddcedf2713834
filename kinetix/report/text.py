"""The result as plain text, 96 columns wide: verdict first, then parameters, warnings, data, statistics, correlations, origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import xarray as xr

from kinetix.report.comparison import comparison_text
from kinetix.report.layout import WIDTH
from kinetix.report.layout import columned as _table
from kinetix.report.layout import wrapped as _wrapped
from kinetix.report.outliers import outlier_rows
from kinetix.report.refits import influence_rows, influence_sentences, interval_rows, interval_sentences
from kinetix.report.rows import Setting, correlated_pairs, parameter_rows, response_rows, settings, statistics_rows
from kinetix.report.starts import start_sentences
from kinetix.report.summary import failed_experiments, lines, provenance
from kinetix.results.comparison import is_comparison
from kinetix.results.phrases import correlation, count, listing
from kinetix.results.tree import group_of, require_fit

SHOWN_CORRELATION = 0.95
MOST_CORRELATIONS = 20


def text_report(tree: xr.DataTree) -> str:
    """A fit, or a comparison of models, as a page of plain text, for the terminal and for print.

    Values carry as many digits as their standard errors support.

    Args:
        tree: a result of `kinetix.fit` or of `kinetix.compare`.

    Returns:
        Text that ends with a newline; no line is wider than 96 columns unless a table's own entries are.

    >>> import kinetix as kx, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "tank.csv").write_text("tau [min],A [mol/L]\\n2,0.51\\n4,0.33\\n8,0.20\\n")
    >>> tank = kx.CSTR(kx.parse_network("A -> B"))
    >>> tree = kx.fit(tank, kx.read_csv(folder / "tank.csv", tank), {"r1.k": "0.1 1/min"}, known={"feed.A": "1 mol/L", "feed.B": "0 mol/L"})
    >>> print(kx.text_report(tree).splitlines()[0])
    The fit converged after ... iterations: 1 parameter from 3 observations...
    """
    if is_comparison(tree):
        return comparison_text(tree)
    require_fit(tree)
    sections = (
        _head,
        _parameters,
        _intervals,
        _warnings,
        _outliers,
        _starts,
        _influence,
        _data,
        _statistics,
        _correlations,
        _origin,
        _supplement,
    )
    written = [list(section(tree)) for section in sections]
    return "\n\n".join("\n".join(section) for section in written if section) + "\n"


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
    rows = parameter_rows(tree)
    header = ("Parameter", "value", "std error", "95 % from", "to", "unit")
    table = _table(header, [row[:-1] for row in rows], right=(1, 2, 3, 4))
    yield table[0]
    yield from _with_remarks(table[1:], [row.remark for row in rows])


def _intervals(tree: xr.DataTree) -> Iterator[str]:
    titles, rows = interval_rows(tree)
    if rows:
        yield from _table(titles, rows, right=tuple(range(1, len(titles) - 1)))
    for sentence in interval_sentences(tree):
        yield from _wrapped(sentence, rest="  ")


def _influence(tree: xr.DataTree) -> Iterator[str]:
    titles, rows = influence_rows(tree)
    for number, sentence in enumerate(influence_sentences(tree)):
        yield from _wrapped(sentence, first="Influence: " if number == 0 else "  ", rest="  ")
    if rows:
        yield from (f"  {line}" for line in _table(titles, rows, right=tuple(range(1, len(titles) - 1))))


def _warnings(tree: xr.DataTree) -> Iterator[str]:
    sentences = lines(tree.attrs, "warnings")
    if sentences:
        yield "Warnings"
    for number, sentence in enumerate(sentences, start=1):
        mark = f"  {number}. "
        yield from _wrapped(sentence, first=mark, rest=" " * len(mark))


def _outliers(tree: xr.DataTree) -> Iterator[str]:
    rows = outlier_rows(tree)
    if not rows:
        return
    yield "Values that count less than half"
    header, right = ("Experiment", "time", "response", "observed", "predicted", "unit", "weight"), (1, 3, 4, 6)
    if not any(row.time for row in rows):
        rows, header, right = [(row.experiment, *row[2:]) for row in rows], (header[0], *header[2:]), (2, 3, 5)
    table = _table(header, rows, right=right)
    yield from (f"  {line}" for line in table)


def _starts(tree: xr.DataTree) -> Iterator[str]:
    for number, sentence in enumerate(start_sentences(tree)):
        yield from _wrapped(sentence, first="Starts: " if number == 0 else "  ", rest="  ")


def _data(tree: xr.DataTree) -> Iterator[str]:
    rows = response_rows(tree)
    experiments = group_of(tree, "predictions").sizes["experiment"]
    number = int(group_of(tree, "statistics")["n_observations"])
    yield f"Data: {count(experiments, 'experiment')}, {count(number, 'observation')} of {count(len(rows), 'response')}"
    table = _table(("Response", "values", "smallest", "largest", "unit", "R2"), rows, right=(1, 2, 3, 5))
    yield from (f"  {line}" for line in table)
    shown = [_shown(setting) for setting in settings(tree)]
    if shown:
        yield from _wrapped("; ".join(shown), first="  at ", rest="     ")
    failed = failed_experiments(tree)
    if failed:
        yield from _wrapped(f"not simulated: {listing(failed)}", first="  ", rest="  ")
    for note in lines(tree.attrs, "notes"):
        yield from _wrapped(note, first="  - ", rest="    ")


def _shown(setting: Setting) -> str:
    """A setting as "T 330 to 350 K"."""
    if not setting.low:
        return f"{setting.name} unknown"
    unit = f" {setting.unit}" if setting.unit else ""
    return f"{setting.name} {setting.low}{unit}" if setting.low == setting.high else f"{setting.name} {setting.low} to {setting.high}{unit}"


def _statistics(tree: xr.DataTree) -> Iterator[str]:
    yield "Statistics"
    rows = statistics_rows(tree)
    column = max(len(label) for label, _ in rows) + 4
    for label, text in rows:
        yield from _wrapped(text, first=f"  {label:<{column - 2}}", rest=" " * column)


def _correlations(tree: xr.DataTree) -> Iterator[str]:
    pairs = correlated_pairs(tree)
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
        if name in known and not (name == "seed" and str(known[name]).startswith("none"))
    ]
    if str(known.get("seed", "")).startswith("none"):
        parts.append("no random numbers")
    if "data_hash" in known:
        parts.append(f"data {str(known['data_hash'])[:16]}")
    seconds = [
        f"{step} {known[key]:.2g} s"
        for step in ("import", "trace", "compile", "run", "refit")
        if isinstance(known.get(key := f"{step}_seconds"), float)
    ]
    if parts:
        yield from _wrapped(", ".join(parts))
    if seconds:
        yield from _wrapped(", ".join(seconds))


def _supplement(tree: xr.DataTree) -> Iterator[str]:
    yield from lines(tree.attrs, "supplement")


def _with_remarks(rows: Sequence[str], remarks: Sequence[str]) -> Iterator[str]:
    """Each remark behind its row, or under it where the line would get too wide."""
    column = max(len(row) for row in rows) + 2
    for row, remark in zip(rows, remarks, strict=True):
        if column + len(remark) <= WIDTH:
            yield f"{row:<{column}}{remark}".rstrip()
        else:
            yield row
            yield from _wrapped(remark, first="      ", rest="      ")
