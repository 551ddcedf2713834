"""One table as numbers in SI: times since the zero of each experiment, what was set, readings and their sigma."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from kinetix.errors import Problems, nearest
from kinetix.experiments.clock import past_midnight
from kinetix.experiments.recognition import Column, Recognition, response_named
from kinetix.experiments.table import SHOWN, Table, report
from kinetix.experiments.vocabulary import Vocabulary
from kinetix.units import TIME, Unit, parse_quantity, require


@dataclass(eq=False)
class Sheet:
    """One table as numbers in SI, one entry per row; NaN where the cell is empty or could not be read.

    Long form has the same shape: each row then holds a value of one response only.
    """

    recognition: Recognition
    labels: tuple[str, ...] | None
    time: np.ndarray | None
    conditions: dict[str, np.ndarray]
    values: dict[str, np.ndarray]
    sigma: dict[str, np.ndarray]
    units: dict[str, Unit]
    read: list[str | None]  # long form: the response of each row
    notes: list[str]  # what was assumed about its times and cells

    @property
    def table(self) -> Table:
        return self.recognition.table

    def reading_column(self, name: str) -> Column:
        """The column of a response: its own, or the column of values in long form."""
        return self.recognition.find("response", name) or self.recognition.having("value")[0]

    def sigma_column(self, name: str) -> Column | None:
        """The column of a response's sigma: its own before the one for every response."""
        return self.recognition.find("sigma", name) or self.recognition.find("sigma")

    def cell(self, row: int, column: Column) -> str:
        return self.table.rows[row][column.header.position - 1]

    def holds_none(self, row: int, column: Column) -> bool:
        """Whether a cell holds no reading."""
        return self.table.is_missing(self.cell(row, column))

    def written(self, row: int, column: Column) -> str:
        """A cell with its unit, as messages quote it."""
        has_unit = column.unit is not None and column.unit.text not in ("-", "1") and column.form is None
        unit = column.unit.text if has_unit and column.unit is not None else ""
        return f"{self.cell(row, column)} {unit}".strip()

    def report(self, problems: Problems, column: Column, rows: Iterable[int], says: Callable[[int], str]) -> None:
        """A problem per row of a column, the first few in full."""
        rows = list(rows)
        found = [f"{self.table.place(row, column.header)}: {says(row)}" for row in rows[:SHOWN]]
        report(problems, found, f"{self.table.source}, column '{column.header.text}'", total=len(rows))


def read_sheet(recognition: Recognition, vocabulary: Vocabulary, time_zero: str | None, problems: Problems) -> Sheet:
    table = recognition.table
    experiment, time = recognition.find("experiment"), recognition.find("time")
    sheet = Sheet(recognition, table.cells(experiment.header) if experiment else None, None, {}, {}, {}, {}, [], [])
    if experiment and sheet.labels:
        unnamed = [row for row, label in enumerate(sheet.labels) if not label]
        sheet.report(problems, experiment, unnamed, lambda row: "the cell is empty. Write the experiment's name in every row.")
    numeric = [column for column in recognition.columns if column.unit is not None]
    for column in recognition.columns:
        if column.unit is None and column.meaning.role in ("condition", "response", "sigma", "value") and not column.progress:
            table.numbers(column.header, problems, percent=1.0)  # its unit is a problem already; its cells may hold more
    as_written = {column: _numbers(sheet, column, problems) for column in numeric}
    in_si = {column: column.unit.to_si(numbers) for column, numbers in as_written.items() if column.unit is not None}
    told = [table.not_measured(column.header for column in numeric), table.thousands(column.header for column in numeric)]
    sheet.notes += [sentence for sentence in told if sentence]
    if vocabulary.timed and time and time in in_si:
        sheet.time = _from_zero(sheet, time, in_si[time], time_zero, problems)
    for column, numbers in in_si.items():
        if column.meaning.role == "condition":
            sheet.conditions[column.meaning.name] = numbers
        elif column.meaning.role == "response" and column.unit is not None:
            values = _progress(sheet, column, numbers, problems) if column.progress else numbers
            sheet.values[column.meaning.name], sheet.units[column.meaning.name] = values, column.unit
    if recognition.long:
        _spread(sheet, recognition.having("value")[0], in_si, vocabulary, problems)
    for name in sheet.values:
        _read_sigma(sheet, name, as_written, problems)
    return sheet


def _numbers(sheet: Sheet, column: Column, problems: Problems) -> np.ndarray:
    """The cells of a column as numbers in its unit."""
    table, unit = sheet.table, column.unit
    assert unit is not None
    if column.form is None:
        percent = 0.01 / unit.factor if unit.dimension.dimensionless else None
        return table.numbers(column.header, problems, percent)
    seconds = np.full(len(table.rows), np.nan)
    for row, cell in enumerate(table.cells(column.header)):
        found = None if table.is_missing(cell) else column.form.seconds(cell)
        seconds[row] = np.nan if found is None else found
    wrong = [row for row in np.flatnonzero(np.isnan(seconds)).tolist() if not sheet.holds_none(row, column)]
    kind = "date" if column.form.dates else "clock time"
    sheet.report(problems, column, wrong, lambda row: f"'{sheet.cell(row, column)}' is no {kind} as the other rows of the column have.")
    return unit.from_si(seconds)


def _from_zero(sheet: Sheet, column: Column, seconds: np.ndarray, time_zero: str | None, problems: Problems) -> np.ndarray:
    """Times since the zero of their experiment, s."""
    labels, form = sheet.labels or ("",) * len(seconds), column.form
    where = f"{sheet.table.source}, column '{column.header.text}'"
    if form is not None and not form.dates:
        running, midnights = past_midnight(seconds.tolist(), lambda row: labels[row])
        seconds = np.array(running)
        if midnights and sheet.recognition.long:
            problems.add(f"{where}: the clock goes back by more than twelve hours. Where it passes midnight, write the date too.")
        elif midnights:
            sheet.notes.append(f"{where}: the clock passes midnight {midnights} time{'s' * (midnights > 1)}.")
    if time_zero == "as written" and form is not None and form.dates:
        problems.add(f'{where}: dates need a time zero. Write time_zero = "first", or a date, under [data].')
    if time_zero == "as written" or (time_zero is None and form is None):
        return seconds
    if time_zero in (None, "first"):
        first = {label: np.nanmin(seconds[rows]) for label, rows in _rows_by_label(labels).items() if not np.all(np.isnan(seconds[rows]))}
        sheet.notes.append(
            f"{where}: time zero is the first row of {'each' if len(first) > 1 else 'the'} experiment"
            + ("." if time_zero else "; say time_zero under [data] where it is another.")
        )
        return seconds - np.array([first.get(label, 0.0) for label in labels])
    zero = _given_zero(str(time_zero), column, where, problems)
    return seconds - zero


def _rows_by_label(labels: Iterable[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        rows.setdefault(label, []).append(row)
    return rows


def _given_zero(text: str, column: Column, where: str, problems: Problems) -> float:
    """A time zero as written, s; 0 after a problem."""
    if column.form is not None:
        found = column.form.seconds(text)
        if found is None:
            problems.add(f'time_zero = \'{text}\' is no time as {where} has them. Write one in their form, "first", or "as written".')
        return found or 0.0
    with problems.collecting():
        return parse_quantity(text, TIME, "time_zero").si
    return 0.0


def _progress(sheet: Sheet, column: Column, numbers: np.ndarray, problems: Problems) -> np.ndarray:
    """(first - x)/(first - last) of the column within each experiment, in the order of time."""
    labels = sheet.labels or ("",) * len(numbers)
    values = np.full(len(numbers), np.nan)
    order = np.argsort(sheet.time, kind="stable") if sheet.time is not None else np.arange(len(numbers))
    for label, places in _rows_by_label(labels[row] for row in order.tolist()).items():
        rows = [int(row) for row in order[places] if not np.isnan(numbers[row])]
        if not rows:
            continue
        first, last = numbers[rows[0]], numbers[rows[-1]]
        if first == last:
            problems.add(
                f"{sheet.table.source}: column '{column.header.text}' begins and ends with {sheet.cell(rows[0], column)}"
                f"{f' in experiment {label}' if label else ''}, so it has no progress."
            )
            continue
        values[rows] = (first - numbers[rows]) / (first - last)
    return values


def _spread(sheet: Sheet, column: Column, in_si: Mapping[Column, np.ndarray], vocabulary: Vocabulary, problems: Problems) -> None:
    """Long form: the values of each response, by the labels beside them."""
    label = sheet.recognition.having("label")[0]
    cells = sheet.table.cells(label.header)
    known = ", ".join(vocabulary.responses)
    names = {cell: response_named(cell, vocabulary) for cell in dict.fromkeys(cells)}
    sheet.read = [names[cell] for cell in cells]
    nameless = [row for row, cell in enumerate(cells) if not cell and not sheet.holds_none(row, column)]
    sheet.report(problems, label, nameless, lambda row: f"the cell is empty, but the row has a value. Write what was measured ({known}).")
    unknown = [row for row, cell in enumerate(cells) if cell and names[cell] is None]
    sheet.report(
        problems,
        label,
        unknown,
        lambda row: f"'{cells[row]}' is no response of the model (known: {known}).{nearest(cells[row], vocabulary.responses)}",
    )
    if column.unit is None:
        return
    for name in dict.fromkeys(name for name in names.values() if name is not None):
        dimension = vocabulary.responses[name]
        if dimension is not None:
            with problems.collecting():
                require(column.unit, dimension, f"{sheet.table.source}: column '{column.header.text}', for the response {name},")
        sheet.values[name] = np.where([read == name for read in sheet.read], in_si[column], np.nan)
        sheet.units[name] = column.unit


def _read_sigma(sheet: Sheet, name: str, as_written: Mapping[Column, np.ndarray], problems: Problems) -> None:
    """The standard deviations of a response's readings, NaN where the table gives none."""
    sheet.sigma[name] = np.full(len(sheet.table.rows), np.nan)
    column = sheet.sigma_column(name)
    if column is None or column.unit is None:
        return
    numbers = as_written[column]
    sheet.report(
        problems,
        column,
        np.flatnonzero(numbers <= 0),
        lambda row: f"sigma is {sheet.written(row, column)}; a measurement error must be above zero. Leave the cell empty to use [noise].",
    )
    with problems.collecting():
        require(column.unit, sheet.units[name].dimension, f"{sheet.table.source}: column '{column.header.text}', the sigma of {name},")
        of_reading = ~np.isnan(sheet.values[name]) & (numbers > 0)
        sheet.sigma[name][of_reading] = column.unit.scale_to_si(numbers[of_reading])
