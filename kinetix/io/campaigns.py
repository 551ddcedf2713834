"""Data files to a campaign, for Python."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from kinetix.errors import Problems
from kinetix.experiments import Campaign, Layout, Table, Vocabulary, build_campaign, recognise
from kinetix.io.studies import read_tables
from kinetix.network import Network
from kinetix.studies.numbers import parse_noise
from kinetix.studies.setups import ReactorSetup, vocabulary_of
from kinetix.units import parse_quantity


def read_csv(
    files: str | Path | Sequence[str | Path],
    model: Network | ReactorSetup,
    *,
    columns: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    conditions: Mapping[str, str] | None = None,
    noise: Mapping[str, str | Mapping[str, Any]] | None = None,
    sheet: str | Sequence[str] = (),
    header: int | Sequence[int] | Sequence[str] = (),
    decimal: Literal[".", ","] | None = None,
    missing: Sequence[str] = (),
    only: Mapping[str, object] | None = None,
    time_zero: str | None = None,
    progress: Mapping[str, str] | None = None,
    encoding: str | None = None,
    allow_negative: bool = False,
    held: Collection[str] = (),
) -> Campaign:
    """Measurements and conditions from one or several text tables (CSV and its kin) or workbooks (.xlsx), in SI, as padded arrays.

    Headers carry units: `T [degC]`, `tau [min]`, `A [mol/L]`, `sigma_A [mol/L]`. Decimal commas, semicolons, tabs, blanks, byte-order
    marks, titles, rows of units and gaps are understood; `campaign.notes` says what was recognised.

    Args:
        files: path, or several.
        model: a reactor; or a network, whose files then hold readings over time (batch) or one steady state a row (tank).
        columns: what a column is -> its header: `{"1/tau": "sv [1/min]", "experiment": "run"}`.
        ignore: headers of columns to pass over.
        conditions: name -> quantity that is constant over all experiments.
        noise: response -> standard deviation for values without one of their own: `"0.01 mol/L"`, or `{"relative": "5 %"}` of the value,
            or both, `{"relative": "5 %", "constant": "0.001 mol/L"}` (squares added); `{}` in the place of the whole or of a part is
            estimated with the parameters.
        sheet: of the workbooks, or several, or "*" for all; needed where a workbook has several.
        header: line of the header, its lines where it has several, or the headers themselves where the files have none.
        decimal: decimal mark, where the files do not show it; the other mark then separates thousands.
        missing: what else means "not measured", besides `n.d.`, `*`, `---` and the like.
        only: the rows to use: `{"Segment": 1}`.
        time_zero: "first" (row of each experiment), "as written", or a time. Clock times and dates begin with the first.
        progress: response -> header of the column of which it is (first - x)/(first - last) in each experiment.
        encoding: of the files, when it is not UTF-8.
        allow_negative: keep concentrations further below zero than three sigma.
        held: conditions that change in steps, `["T"]`: each value holds until the next row that states one, in place of straight lines.

    Returns:
        `kinetix.experiments.Campaign`: experiments, times, values, mask, sigma, conditions, notes.

    Raises:
        DataError: everything that is wrong in the files, with file, line and column.

    >>> import kinetix as kx, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.csv"
    >>> _ = path.write_text("time [min],A [mol/L]\\n0,1.00\\n5,0.61\\n")
    >>> kx.read_csv(path, kx.parse_network("A -> B")).times.tolist()
    [[0.0, 300.0]]
    """
    paths = [files] if isinstance(files, (str, Path)) else list(files)
    layout = Layout((header,) if isinstance(header, int) else tuple(header), decimal, tuple(missing))
    tables = read_tables([str(path) for path in paths], ".", encoding, (sheet,) if isinstance(sheet, str) else tuple(sheet), layout)
    vocabulary = _vocabulary(tables, model, columns)
    known = vocabulary.responses
    return build_campaign(
        tables,
        vocabulary,
        columns=columns,
        ignore=ignore,
        conditions={name: parse_quantity(text, what=name) for name, text in (conditions or {}).items()},
        noise={name: parse_noise(value, f"noise of {name}", known.get(name)) for name, value in (noise or {}).items()},
        progress=progress,
        only=only,
        time_zero=time_zero,
        allow_negative=allow_negative,
        held=held,
    )


def _vocabulary(tables: Sequence[Table], model: Network | ReactorSetup, columns: Mapping[str, str] | None) -> Vocabulary:
    timed = vocabulary_of(model, has_time=True)
    has_time = any(recognise(table, timed, columns=columns, problems=Problems()).find("time") for table in tables)
    return vocabulary_of(model, has_time)
