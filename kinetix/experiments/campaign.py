"""Tables to a campaign: every number in SI, in padded arrays (experiment lanes x times x responses), and where it came from.

A row of a timed table is one time of one experiment; a row of any other table is an experiment of its own. All problems of all tables are
told at once.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from kinetix.errors import DataError, KinetixWarning, Problems, nearest
from kinetix.experiments.clock import past_midnight
from kinetix.experiments.recognition import (
    Column,
    Meaning,
    Recognition,
    Vocabulary,
    check_columns,
    describe,
    recognise,
    response_named,
)
from kinetix.experiments.table import SHOWN, Table, report, selected
from kinetix.units import AMOUNT, CONCENTRATION, FLOW, MASS, PRESSURE, TEMPERATURE, TIME, VOLUME, Quantity, Unit, parse_quantity, require

COLDEST, HOTTEST = 150.0, 3000.0  # K; outside, a temperature is probably in another unit than its header says
NEGATIVE_BY = 3.0  # sigmas below zero that a concentration may be read at
_NEVER_NEGATIVE = frozenset({CONCENTRATION, PRESSURE, TIME, TIME**-1, VOLUME, FLOW, AMOUNT, MASS})
_PROGRAMS = ("T",)  # conditions that may follow a program within an experiment


@dataclass(frozen=True)
class ResponseColumn:
    """A measured response and the unit of its column in the first table that has it."""

    name: str
    unit: Unit


@dataclass(frozen=True)
class Remark:
    """A cell of text, with its place."""

    source: str
    line: int
    column: str
    text: str


@dataclass(frozen=True, eq=False)
class Campaign:
    """What was set and measured, in SI, as arrays over experiment lanes.

    experiments : the lanes' labels, all different.
    responses : the measured responses, in the order in which the tables name them.
    times : (lane, time) s, non-decreasing; lanes with fewer rows repeat their last time; (lane, 1) zeros where the model has no time.
    values : (lane, time, response); NaN where nothing was measured and in padding.
    mask : (lane, time, response); where a value was measured.
    sigma : (lane, time, response); standard deviations where they were given, else NaN.
    conditions : name -> (lane,); what is constant in each experiment.
    programs : name -> (times (lane, node), values (lane, node)); what changes within some experiment, linear between nodes, in s and SI;
        lanes with fewer nodes repeat their last. A name is either here or in `conditions`.
    condition_units : name -> the unit in which the first table, or the constant, states a condition or program.
    time_unit : of the first table; None where the model has no time.
    sources : (lane,) names of the tables.
    lines : (lane, time) line numbers in the lane's table; 0 in padding. In long form the line of the first reading at that time.
    remarks : the cells of text columns.
    notes : what was recognised and assumed, as sentences.
    rows_read : data rows of all tables. values_used : measured values.
    data_hash : SHA-256 of the labels and the SI numbers; how the file is written does not count, unless a unit changes the last digit.
    """

    experiments: tuple[str, ...]
    responses: tuple[ResponseColumn, ...]
    times: np.ndarray
    values: np.ndarray
    mask: np.ndarray
    sigma: np.ndarray
    conditions: Mapping[str, np.ndarray]
    programs: Mapping[str, tuple[np.ndarray, np.ndarray]]
    condition_units: Mapping[str, Unit]
    time_unit: Unit | None
    sources: tuple[str, ...]
    lines: np.ndarray
    remarks: tuple[Remark, ...]
    notes: tuple[str, ...]
    rows_read: int
    values_used: int
    data_hash: str


def check_temperature(kelvin: float, written: str) -> str | None:
    """A sentence about a temperature that is probably in another unit than it says, or None.

    `kelvin` is the temperature in K, `written` its text with the unit.

    >>> check_temperature(25.0, "25 K")
    'T = 25 K is outside 150-3000 K. Did you mean 25 degC (298.15 K)?'
    >>> check_temperature(298.15, "25 degC") is None
    True
    """
    if COLDEST <= kelvin <= HOTTEST:
        return None
    celsius = kelvin + 273.15
    in_kelvin = written.split()[-1:] in (["K"], ["kelvin"])
    meant = f" Did you mean {kelvin:.10g} degC ({celsius:.10g} K)?" if in_kelvin and COLDEST <= celsius <= HOTTEST else ""
    return f"T = {written} is outside {COLDEST:g}-{HOTTEST:g} K.{meant}"


@dataclass(frozen=True)
class Noise:
    """A standard deviation with a part that is constant and a part that grows with the measured value y.

        sigma = sqrt(constant^2 + (relative y)^2)

    Attributes:
        constant: a quantity, or a number in SI; 0 where there is none.
        relative: share of the value; 0 where there is none.

    >>> Noise(3.0, 0.04).at(np.array([0.0, 100.0])).tolist()
    [3.0, 5.0]

    Source: D. M. Rocke and S. Lorenzato, Technometrics 37 (1995) 176.
    """

    constant: Quantity | float = 0.0
    relative: float = 0.0

    def at(self, values: np.ndarray) -> np.ndarray:
        """Standard deviations of measured values, SI."""
        constant = self.constant.si if isinstance(self.constant, Quantity) else self.constant
        return np.hypot(constant, self.relative * values)


def build_campaign(
    tables: Sequence[Table],
    vocabulary: Vocabulary,
    *,
    columns: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    conditions: Mapping[str, Quantity] | None = None,
    noise: Mapping[str, Quantity | float | Noise] | None = None,
    progress: Mapping[str, str] | None = None,
    only: Mapping[str, object] | None = None,
    time_zero: str | None = None,
    temperatures: bool = True,
    allow_negative: bool = False,
) -> Campaign:
    """The campaign that one or several tables hold.

    Parameters
    ----------
    tables : tables in the order in which their experiments shall stand. Equal labels in different tables are different experiments
        (`file:label`).
    vocabulary : what the model knows.
    columns : what a column is -> its header, where the header does not say it: `{"1/tau": "sv [1/min]", "experiment": "run"}`.
    ignore : headers of columns to pass over.
    conditions : name -> what is constant over all experiments.
    noise : response -> standard deviation for every value without one of its own: a quantity, a number in SI, or `Noise` where a part
        of it is relative to the value.
    progress : response -> the header of the column whose progress it is: (first - x)/(first - last) of each experiment, 0 to 1.
    only : header -> the value, or values, of the rows to use; other rows are as if they were not in the table.
    time_zero : where time begins: "first" is the first row of each experiment, "as written" takes times as they stand, anything else is
        a time, written as in the column or with a unit. Where None, numbers are as written and clock times and dates begin with the first.
    temperatures : warn about temperatures outside 150-3000 K.
    allow_negative : keep concentrations further below zero than three sigma.

    Returns
    -------
    Campaign : see there. A response column is not required; `values_used` is 0 without any.

    Raises
    ------
    DataError : everything that is wrong in the tables, one sentence per problem with table, line and column.

    Warns
    -----
    KinetixWarning : a temperature column outside 150-3000 K.

    >>> from kinetix.experiments.table import parse_table
    >>> vocabulary = Vocabulary(("A",), {"A": CONCENTRATION}, {"T": TEMPERATURE}, timed=True)
    >>> table = parse_table("run;time [min];T [degC];A [mol/L]\\na;0;40;1,02\\na;5;40;0,61\\nb;0;60;0,99\\n", "runs.csv")
    >>> campaign = build_campaign([table], vocabulary, noise={"A": 10.0})
    >>> campaign.experiments, campaign.times.tolist(), campaign.conditions["T"].tolist()
    (('a', 'b'), [[0.0, 300.0], [0.0, 0.0]], [313.15, 333.15])
    >>> campaign.values[..., 0].tolist(), campaign.values_used
    ([[1020.0, 610.0], [990.0, nan]], 3)
    """
    problems = Problems()
    constants, noise = {name: quantity.si for name, quantity in (conditions or {}).items()}, dict(noise or {})
    if not tables:
        raise DataError("there is no data table: give at least one file.")
    chosen = [selected(table, only or {}, problems) for table in tables]
    recognitions = [
        recognise(table, vocabulary, columns=columns, ignore=ignore, progress=progress, selecting=tuple(only or ()), problems=problems)
        for table, _ in chosen
    ]
    check_columns(columns or {}, ignore, vocabulary, recognitions, problems, progress=progress, only=tuple(only or ()))
    _check_constants(constants, vocabulary, recognitions, problems)
    sheets = [_sheet(recognition, vocabulary, time_zero, problems) for recognition in recognitions]
    for sheet, (_, choice) in zip(sheets, chosen, strict=True):
        sheet.notes[:0] = [choice] if choice else []
    responses, unit_notes = _responses(sheets, problems)
    _fill_sigma(sheets, noise, vocabulary, problems)
    for sheet in sheets:
        if not allow_negative:
            _check_negative_readings(sheet, vocabulary, problems)
        _check_conditions(sheet, vocabulary, problems)
    lanes, lane_notes = _lanes(sheets, vocabulary, problems)
    settings, setting_notes = _settings(lanes, sheets, vocabulary, problems)
    if not lanes and not problems.found:
        problems.add(f"{', '.join(table.source for table in tables)}: no row holds a number of the model.")
    problems.raise_if_any(DataError)
    if temperatures:
        for sheet in sheets:
            _warn_of_temperatures(sheet, vocabulary)
    units = {name: quantity.unit for name, quantity in (conditions or {}).items()} | _condition_units(sheets)
    return _assembled(lanes, responses, settings, constants, units, sheets, [*unit_notes, *lane_notes, *setting_notes])


# ------------------------------------------------------------------------------------------------------- numbers of one table


@dataclass(eq=False)
class _Sheet:
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
        found = [f"{self.table.place(row, column.header)}: {says(row)}" for row in rows]
        report(problems, found, f"{self.table.source}, column '{column.header.text}'")


def _sheet(recognition: Recognition, vocabulary: Vocabulary, time_zero: str | None, problems: Problems) -> _Sheet:
    table = recognition.table
    experiment, time = recognition.find("experiment"), recognition.find("time")
    sheet = _Sheet(recognition, table.cells(experiment.header) if experiment else None, None, {}, {}, {}, {}, [], [])
    if experiment and sheet.labels:
        unnamed = [row for row, label in enumerate(sheet.labels) if not label]
        sheet.report(problems, experiment, unnamed, lambda row: "the cell is empty. Write the experiment's name in every row.")
    numeric = [column for column in recognition.columns if column.unit is not None]
    as_written = {column: _numbers(sheet, column, problems) for column in numeric}
    in_si = {column: column.unit.to_si(numbers) for column, numbers in as_written.items() if column.unit is not None}
    told = table.not_measured(column.header for column in numeric)
    sheet.notes += [told] if told else []
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
    if sheet.time is not None and time:
        early = np.flatnonzero(sheet.time < 0)
        sheet.report(problems, time, early, lambda row: f"{sheet.written(row, time)} is before time zero, where an experiment starts.")
    return sheet


def _numbers(sheet: _Sheet, column: Column, problems: Problems) -> np.ndarray:
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


def _from_zero(sheet: _Sheet, column: Column, seconds: np.ndarray, time_zero: str | None, problems: Problems) -> np.ndarray:
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
        first = {label: np.nanmin(own) for label in dict.fromkeys(labels) if len(own := _stated(seconds, labels, label))}
        sheet.notes.append(
            f"{where}: time zero is the first row of {'each' if len(first) > 1 else 'the'} experiment"
            + ("." if time_zero else "; say time_zero under [data] where it is another.")
        )
        return seconds - np.array([first.get(label, 0.0) for label in labels])
    zero = _given_zero(str(time_zero), column, where, problems)
    return seconds - zero


def _stated(numbers: np.ndarray, labels: Sequence[str], label: str) -> np.ndarray:
    own = numbers[[other == label for other in labels]]
    return own[~np.isnan(own)]


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


def _progress(sheet: _Sheet, column: Column, numbers: np.ndarray, problems: Problems) -> np.ndarray:
    """(first - x)/(first - last) of the column within each experiment, in the order of time."""
    labels = sheet.labels or ("",) * len(numbers)
    values = np.full(len(numbers), np.nan)
    order = np.argsort(sheet.time, kind="stable") if sheet.time is not None else np.arange(len(numbers))
    for label in dict.fromkeys(labels):
        rows = [row for row in order.tolist() if labels[row] == label and not np.isnan(numbers[row])]
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


def _spread(sheet: _Sheet, column: Column, in_si: Mapping[Column, np.ndarray], vocabulary: Vocabulary, problems: Problems) -> None:
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


def _read_sigma(sheet: _Sheet, name: str, as_written: Mapping[Column, np.ndarray], problems: Problems) -> None:
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


# ---------------------------------------------------------------------------------------------------- responses, sigma, checks


def _responses(sheets: Iterable[_Sheet], problems: Problems) -> tuple[tuple[ResponseColumn, ...], list[str]]:
    """The responses in the order of the tables, each with its first unit; notes where another table has another unit."""
    first: dict[str, tuple[Unit, str]] = {}
    notes: list[str] = []
    for sheet in sheets:
        for name, unit in sheet.units.items():
            leading, source = first.setdefault(name, (unit, sheet.table.source))
            where = f"{sheet.table.source}: column '{sheet.reading_column(name).header.text}'"
            if unit.dimension != leading.dimension:
                with problems.collecting():
                    require(unit, leading.dimension, f"{where}, which {source} gives in {leading.text},")
            elif (unit.factor, unit.offset) != (leading.factor, leading.offset):
                notes.append(f"{where} is converted to {leading.text}, the unit of {name} in {source}.")
    return tuple(ResponseColumn(name, unit) for name, (unit, _) in first.items()), notes


def _fill_sigma(
    sheets: Sequence[_Sheet],
    noise: Mapping[str, Quantity | float | Noise],
    vocabulary: Vocabulary,
    problems: Problems,
) -> None:
    """Readings without a sigma of their own take the one of [noise]; then all readings have one, or none has."""
    given = _noise_in_si(noise, vocabulary, sheets, problems)
    for sheet in sheets:
        for name, sigma in sheet.sigma.items():
            values = sheet.values[name]
            empty = np.isnan(sigma) & ~np.isnan(values)
            sigma[empty] = given[name].at(values[empty]) if name in given else np.nan
            zero = [int(row) for row in np.flatnonzero(sigma == 0) if empty[row]]
            sheet.report(
                problems,
                sheet.reading_column(name),
                zero,
                lambda row, name=name: (
                    f"{name} is 0, and so is a sigma that is relative alone. Add a constant part to the noise of {name}."
                ),
            )
    if not any(sheet.sigma_column(name) or not np.all(np.isnan(sigma)) for sheet in sheets for name, sigma in sheet.sigma.items()):
        return
    for sheet in sheets:
        for name, sigma in sheet.sigma.items():
            without = [int(row) for row in np.flatnonzero(np.isnan(sigma) & ~np.isnan(sheet.values[name]))]
            column = sheet.sigma_column(name)
            if column is None and without:
                reading = sheet.reading_column(name)
                unit = sheet.units[name].text
                problems.add(
                    f"{sheet.table.source}: column '{reading.header.text}' has no sigma for {name}, while other readings have one. "
                    f"Add a column 'sigma_{name} [{unit}]' or give {name} under [noise]."
                )
            elif column is not None:
                empty = [row for row in without if sheet.holds_none(row, column)]
                sheet.report(
                    problems, column, empty, lambda row, name=name: f"the reading of {name} has no sigma. Write it here or under [noise]."
                )


def _noise_in_si(
    noise: Mapping[str, Quantity | float | Noise], vocabulary: Vocabulary, sheets: Iterable[_Sheet], problems: Problems
) -> dict[str, Noise]:
    """The standard deviations of [noise], their constant parts in SI."""
    units = {name: unit for sheet in sheets for name, unit in sheet.units.items()}
    given: dict[str, Noise] = {}
    for name, written in noise.items():
        if name not in vocabulary.responses:
            known = ", ".join(vocabulary.responses)
            problems.add(f"noise: '{name}' is no response of the model (known: {known}).{nearest(name, vocabulary.responses)}")
            continue
        relative = written.relative if isinstance(written, Noise) else 0.0
        quantity = value = written.constant if isinstance(written, Noise) else written
        if isinstance(quantity, Quantity):
            dimension = vocabulary.responses[name]
            if dimension is None and name in units:
                dimension = units[name].dimension
            if dimension is not None:
                with problems.collecting():
                    require(quantity, dimension, f"noise: the sigma of {name}")
            value = quantity.unit.scale_to_si(quantity.value)
        if not (isinstance(value, float | int) and 0 <= value < math.inf and 0 <= relative < math.inf and (value > 0 or relative > 0)):
            problems.add(f"noise: the sigma of {name} is {quantity}; a measurement error must be a finite number above zero.")
            continue
        given[name] = Noise(float(value), relative)
    return given


def _check_negative_readings(sheet: _Sheet, vocabulary: Vocabulary, problems: Problems) -> None:
    """A concentration further below zero than its error explains is a mistake in the table."""
    for name, values in sheet.values.items():
        if vocabulary.responses[name] != CONCENTRATION:
            continue
        sigma, unit, column = sheet.sigma[name], sheet.units[name], sheet.reading_column(name)

        def says(row: int, values: np.ndarray = values, sigma: np.ndarray = sigma, unit: Unit = unit, column: Column = column) -> str:
            return (
                f"{sheet.cell(row, column)} is negative by {-values[row] / sigma[row]:.3g} times sigma "
                f"({unit.scale_from_si(sigma[row]):.6g}); a concentration cannot be. "
                f"Values within {NEGATIVE_BY:g} sigma of zero are kept."
            )

        sheet.report(problems, column, np.flatnonzero(values < -NEGATIVE_BY * sigma), says)


def _check_conditions(sheet: _Sheet, vocabulary: Vocabulary, problems: Problems) -> None:
    """What is set cannot be negative, and a temperature is above absolute zero."""
    for column in sheet.recognition.having("condition"):
        numbers, dimension = sheet.conditions.get(column.meaning.name), vocabulary.conditions[column.meaning.name]
        if numbers is None:
            continue
        if dimension == TEMPERATURE:
            rows, wrong = np.flatnonzero(numbers <= 0), "not above absolute zero"
        elif dimension in _NEVER_NEGATIVE:
            rows, wrong = np.flatnonzero(numbers < 0), "negative"
        else:
            continue

        def says(row: int, column: Column = column, wrong: str = wrong) -> str:
            return f"{describe(column.meaning)} is {sheet.written(row, column)}, which is {wrong}."

        sheet.report(problems, column, rows, says)


def _check_constants(
    constants: Mapping[str, float], vocabulary: Vocabulary, recognitions: Iterable[Recognition], problems: Problems
) -> None:
    """A condition is known to the model, and is given once: for all experiments, or by a column."""
    recognitions = tuple(recognitions)
    for name, value in constants.items():
        if name not in vocabulary.conditions:
            known = ", ".join(vocabulary.conditions)
            problems.add(f"conditions: '{name}' is no condition of the model (known: {known}).{nearest(name, vocabulary.conditions)}")
        elif not math.isfinite(value):
            problems.add(f"conditions: {describe(Meaning('condition', name))} is {value}, which is not a finite number.")
        for recognition in recognitions:
            column = recognition.find("condition", name)
            if column:
                problems.add(
                    f"{recognition.table.source}: column '{column.header.text}' gives {describe(column.meaning)}, which the conditions "
                    "give for all experiments too. Remove one, or list the column under 'ignore'."
                )


def _warn_of_temperatures(sheet: _Sheet, vocabulary: Vocabulary) -> None:
    for column in sheet.recognition.having("condition"):
        if vocabulary.conditions[column.meaning.name] != TEMPERATURE:
            continue
        numbers = sheet.conditions[column.meaning.name]
        odd = np.flatnonzero((numbers < COLDEST) | (numbers > HOTTEST))
        if len(odd):
            others = f" So {'is 1 more row' if len(odd) == 2 else f'are {len(odd) - 1} more rows'}." if len(odd) > 1 else ""
            sentence = check_temperature(float(numbers[odd[0]]), sheet.written(odd[0], column))
            warnings.warn(f"{sheet.table.source}, line {sheet.table.lines[odd[0]]}: {sentence}{others}", KinetixWarning, stacklevel=3)


# ------------------------------------------------------------------------------------------------------------- rows to lanes


@dataclass(frozen=True, eq=False)
class _Lane:
    """One experiment: the rows of its table that belong to each of its times (several rows only in long form)."""

    label: str
    sheet: _Sheet
    slots: tuple[tuple[int, ...], ...]

    @property
    def rows(self) -> list[int]:
        return [row for slot in self.slots for row in slot]


def _lanes(sheets: Sequence[_Sheet], vocabulary: Vocabulary, problems: Problems) -> tuple[list[_Lane], list[str]]:
    """The experiments of all tables, with labels that are all different."""
    notes: list[str] = []
    stems = _distinct([sheet.table.stem for sheet in sheets], " ({})")
    per_sheet = [_lanes_of(sheet, stem, vocabulary.timed, problems, notes) for sheet, stem in zip(sheets, stems, strict=True)]
    seen = Counter(label for lanes in per_sheet for label in {lane.label for lane in lanes})
    shared = [label for label, count in seen.items() if count > 1]
    if any(sheet.labels for sheet in sheets) and shared:
        notes.append(
            f"Experiments of the same name in different tables are different experiments: {shared[0]} is "
            + " and ".join(
                f"{stem}:{shared[0]}" for stem, lanes in zip(stems, per_sheet, strict=True) if shared[0] in {x.label for x in lanes}
            )
            + (f"; so are {len(shared) - 1} more." if len(shared) > 1 else ".")
        )
    lanes = [lane for lanes in per_sheet for lane in lanes]
    labels = [
        f"{stem}:{lane.label}" if seen[lane.label] > 1 else lane.label
        for stem, lanes in zip(stems, per_sheet, strict=True)
        for lane in lanes
    ]
    return [replace(lane, label=label) for lane, label in zip(lanes, _distinct(labels, "#{}"), strict=True)], notes


def _distinct(labels: Sequence[str], form: str) -> list[str]:
    """Labels that occur more than once get a running number."""
    total, so_far = Counter(labels), Counter[str]()
    distinct: list[str] = []
    for label in labels:
        so_far[label] += 1
        distinct.append(label + form.format(so_far[label]) if total[label] > 1 else label)
    return distinct if len(set(distinct)) == len(distinct) else _distinct(distinct, form)


def _lanes_of(sheet: _Sheet, stem: str, timed: bool, problems: Problems, notes: list[str]) -> list[_Lane]:
    """The experiments of one table. Rows that hold nothing but remarks belong to none."""
    columns = [*sheet.values.values(), *sheet.conditions.values(), *([sheet.time] if sheet.time is not None else [])]
    rows = [int(row) for row in np.flatnonzero(~np.all(np.isnan(columns), axis=0))] if columns else []
    if timed:
        return _timed_lanes(sheet, rows, stem, problems) if sheet.time is not None else []
    if sheet.recognition.long:
        settings = [tuple(float(numbers[row]) for numbers in sheet.conditions.values()) for row in range(len(sheet.table.rows))]
        slots = _shared_slots(sheet, rows, lambda row: (sheet.labels[row] if sheet.labels else "", settings[row]))
    else:
        slots = tuple((row,) for row in rows)
    written = [sheet.labels[slot[0]] if sheet.labels else str(number) for number, slot in enumerate(slots, start=1)]
    labels = _distinct(written, "#{}")
    if labels != written:
        notes.append(
            f"{sheet.table.source}: rows of the same experiment are told apart by a number, as in {next(x for x in labels if '#' in x)}."
        )
    return [_Lane(label, sheet, (slot,)) for label, slot in zip(labels, slots, strict=True)]


def _shared_slots(sheet: _Sheet, rows: Iterable[int], key: Callable[[int], tuple[object, ...]]) -> tuple[tuple[int, ...], ...]:
    """Long form: rows of equal key share a slot, unless they read the same response again (a replicate)."""
    slots: dict[tuple[object, ...], list[int]] = {}
    counts = Counter[tuple[object, ...]]()
    for row in rows:
        place = key(row)
        reading = (place, sheet.read[row])
        slots.setdefault((place, counts[reading]), []).append(row)
        counts[reading] += 1
    return tuple(tuple(slot) for slot in slots.values())


def _timed_lanes(sheet: _Sheet, rows: Sequence[int], stem: str, problems: Problems) -> list[_Lane]:
    """Rows grouped by experiment and ordered by time."""
    time, column = sheet.time, sheet.recognition.having("time")[0]
    assert time is not None
    timeless = [row for row in rows if sheet.holds_none(row, column)]
    sheet.report(problems, column, timeless, lambda row: "the cell is empty, but the row has values. Write the time.")
    by_label: dict[str, list[int]] = {}
    for row in rows:
        if not np.isnan(time[row]):
            by_label.setdefault(sheet.labels[row] if sheet.labels else stem, []).append(row)
    if not sheet.labels:
        for earlier, later in pairwise(by_label.get(stem, ())):
            if time[later] < time[earlier]:
                problems.add(
                    f"{sheet.table.place(later, column.header)}: the time goes back from {sheet.written(earlier, column)} to "
                    f"{sheet.written(later, column)}. Where a table holds several experiments, add a column that names them, "
                    "for example 'experiment'."
                )
                return []
    lanes: list[_Lane] = []
    for label, members in by_label.items():
        ordered = [members[place] for place in np.argsort(time[members], kind="stable")]
        slots = _shared_slots(sheet, ordered, lambda row: (time[row],)) if sheet.recognition.long else tuple((row,) for row in ordered)
        lanes.append(_Lane(label, sheet, slots))
    return lanes


# ---------------------------------------------------------------------------------------------------------------- conditions

_Nodes = tuple[np.ndarray, np.ndarray]  # times and values of a condition in one experiment; one node where it is constant


def _settings(
    lanes: Sequence[_Lane], sheets: Sequence[_Sheet], vocabulary: Vocabulary, problems: Problems
) -> tuple[dict[str, list[_Nodes]], list[str]]:
    """What each condition column sets in each experiment."""
    notes: list[str] = []
    settings: dict[str, list[_Nodes]] = {}
    first: dict[Meaning, _Sheet] = {}
    for sheet in sheets:
        for column in sheet.recognition.having("condition"):
            first.setdefault(column.meaning, sheet)
    for meaning, giving in first.items():
        settings[meaning.name] = []
        for sheet in sheets:
            column, numbers = sheet.recognition.find("condition", meaning.name), sheet.conditions.get(meaning.name)
            own = [lane for lane in lanes if lane.sheet is sheet]
            if column is None:
                problems.add(f"{sheet.table.source} has no column for {describe(meaning)}, which {giving.table.source} gives. Add one.")
            elif numbers is not None and vocabulary.timed:
                found = [_nodes(lane, column, numbers, problems) for lane in own]
                settings[meaning.name] += [nodes for nodes in found if nodes is not None]
                notes += _setting_notes(own, column, numbers, found)
            elif numbers is not None:
                empty = [lane.slots[0][0] for lane in own if sheet.holds_none(lane.slots[0][0], column)]
                sheet.report(problems, column, empty, lambda row, meaning=meaning: f"{describe(meaning)} is missing. Every row needs it.")
                settings[meaning.name] += [(np.zeros(1), numbers[[lane.slots[0][0]]]) for lane in own]
    return settings, notes


def _nodes(lane: _Lane, column: Column, numbers: np.ndarray, problems: Problems) -> _Nodes | None:
    """A condition in one experiment: a constant stated in at least one row, or a program; None after a problem."""
    sheet, name, time = lane.sheet, column.meaning.name, lane.sheet.time
    time_column = sheet.recognition.find("time")
    assert time is not None and time_column is not None
    stated = [row for row in lane.rows if not np.isnan(numbers[row])]
    if not stated:
        if all(sheet.holds_none(row, column) for row in lane.rows):
            first = sheet.table.lines[min(lane.rows)]
            problems.add(
                f"{sheet.table.source}, line {first}, column '{column.header.text}': experiment '{lane.label}' states "
                f"{describe(column.meaning)} in none of its rows."
            )
        return None
    if np.all(numbers[stated] == numbers[stated[0]]):
        return time[stated[:1]], numbers[stated[:1]]
    changes = [(one, other) for one, other in pairwise(stated) if numbers[one] != numbers[other]]
    clashes = [(one, other) for one, other in changes if time[one] == time[other]]
    if clashes or name not in _PROGRAMS:
        one, other = (clashes or changes)[0]
        lines = sorted((sheet.table.lines[one], sheet.table.lines[other]))
        at = f" at the same time {sheet.written(one, time_column)}. Replicates must share their conditions."
        within = " in one experiment. It must be constant there: give each value an experiment name of its own."
        problems.add(
            f"{sheet.table.source}, lines {lines[0]} and {lines[1]}: experiment '{lane.label}' has {name} = {sheet.written(one, column)} "
            f"and {name} = {sheet.written(other, column)}{at if clashes else within}"
        )
        return None
    outside = [row for row in lane.rows if sheet.holds_none(row, column) and not time[stated[0]] <= time[row] <= time[stated[-1]]]
    sheet.report(
        problems, column, outside, lambda row: f"the row lies outside the rows that state the program of {name}. Write {name} here too."
    )
    nodes, first = np.unique(time[stated], return_index=True)
    return nodes, numbers[np.array(stated)[first]]


def _setting_notes(lanes: Sequence[_Lane], column: Column, numbers: np.ndarray, found: Sequence[_Nodes | None]) -> list[str]:
    """What was assumed about cells that are empty, between rows and before the first row."""
    programs = {lane.label: nodes for lane, nodes in zip(lanes, found, strict=True) if nodes is not None and len(nodes[0]) > 1}
    filled = [lane.label for lane in lanes if lane.label not in programs and np.any(np.isnan(numbers[lane.rows]))]
    late = [label for label, (times, _) in programs.items() if times[0] > 0]
    what = f"{lanes[0].sheet.table.source}: {describe(column.meaning)}" if lanes else ""
    notes: list[str] = []
    if filled:
        notes.append(f"{what} is stated in some rows of {_experiments(filled)} and holds for all of them.")
    if programs:
        notes.append(f"{what} changes within {_experiments(list(programs))}: linear between the rows that state it.")
    if late:
        notes.append(f"{what} in {_experiments(late)} is taken as constant before the first row.")
    return notes


def _experiments(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:SHOWN]) + (f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else "")
    return f"experiment{'s' if len(labels) > 1 else ''} {shown}"


# ------------------------------------------------------------------------------------------------------------ padded arrays


def _assembled(
    lanes: Sequence[_Lane],
    responses: tuple[ResponseColumn, ...],
    settings: Mapping[str, Sequence[_Nodes]],
    constants: Mapping[str, float],
    units: Mapping[str, Unit],
    sheets: Sequence[_Sheet],
    notes: Iterable[str],
) -> Campaign:
    shape = (len(lanes), max(len(lane.slots) for lane in lanes))
    times, lines = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    values, sigma = np.full((*shape, len(responses)), np.nan), np.full((*shape, len(responses)), np.nan)
    for sheet in sheets:
        placed = [
            (number, slot, row)
            for number, lane in enumerate(lanes)
            if lane.sheet is sheet
            for slot, rows in enumerate(lane.slots)
            for row in reversed(rows)  # the first row of a slot is written last and gives the line
        ]
        lane, slot, row = np.array(placed, dtype=np.int64).reshape(-1, 3).T
        lines[lane, slot] = np.array(sheet.table.lines)[row]
        if sheet.time is not None:
            times[lane, slot] = sheet.time[row]
        for position, response in enumerate(responses):
            if response.name in sheet.values:
                read = ~np.isnan(sheet.values[response.name][row])
                values[lane[read], slot[read], position] = sheet.values[response.name][row[read]]
                sigma[lane[read], slot[read], position] = sheet.sigma[response.name][row[read]]
    times = np.maximum.accumulate(times, axis=1)
    mask = ~np.isnan(values)
    conditions = {name: np.full(len(lanes), float(value)) for name, value in constants.items()}
    programs: dict[str, _Nodes] = {}
    for name, nodes in settings.items():
        if all(len(at) == 1 for at, _ in nodes):
            conditions[name] = np.concatenate([value for _, value in nodes])
        else:
            programs[name] = _padded([at for at, _ in nodes]), _padded([value for _, value in nodes])
    for array in (times, lines, values, sigma, mask, *conditions.values(), *(array for nodes in programs.values() for array in nodes)):
        array.setflags(write=False)
    experiments = tuple(lane.label for lane in lanes)
    told: list[str] = []
    for sheet in sheets:
        used = sum(int(np.count_nonzero(~np.isnan(numbers))) for numbers in sheet.values.values())
        rows = len(sheet.table.rows)
        counts = f"{rows} row{'' if rows == 1 else 's'} read, {used} value{'' if used == 1 else 's'} used"
        told += [f"{sheet.table.source}: {counts}; {sheet.table.dialect}."]
        told += [*sheet.table.notes, sheet.recognition.note, *sheet.notes]
    return Campaign(
        experiments=experiments,
        responses=responses,
        times=times,
        values=values,
        mask=mask,
        sigma=sigma,
        conditions=conditions,
        programs=programs,
        condition_units=units,
        time_unit=_time_unit(sheets),
        sources=tuple(lane.sheet.table.source for lane in lanes),
        lines=lines,
        remarks=tuple(remark for sheet in sheets for remark in _remarks(sheet)),
        notes=(*told, *notes),
        rows_read=sum(len(sheet.table.rows) for sheet in sheets),
        values_used=int(np.count_nonzero(mask)),
        data_hash=_hash(experiments, responses, times, values, sigma, conditions, programs),
    )


def _condition_units(sheets: Sequence[_Sheet]) -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for sheet in sheets:
        for column in sheet.recognition.having("condition"):
            if column.unit is not None:
                units.setdefault(column.meaning.name, column.unit)
    return units


def _time_unit(sheets: Sequence[_Sheet]) -> Unit | None:
    columns = [sheet.recognition.find("time") for sheet in sheets if sheet.time is not None]
    return next((column.unit for column in columns if column is not None), None)


def _padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of different length as one array; shorter ones repeat their last number."""
    longest = max(len(row) for row in rows)
    return np.stack([np.pad(row, (0, longest - len(row)), mode="edge") for row in rows])


def _remarks(sheet: _Sheet) -> Iterator[Remark]:
    for column in sheet.recognition.having("remark"):
        for row, line in enumerate(sheet.table.lines):
            if not sheet.holds_none(row, column):
                yield Remark(sheet.table.source, line, column.header.text, sheet.cell(row, column))


def _hash(
    experiments: Sequence[str],
    responses: Sequence[ResponseColumn],
    times: np.ndarray,
    values: np.ndarray,
    sigma: np.ndarray,
    conditions: Mapping[str, np.ndarray],
    programs: Mapping[str, _Nodes],
) -> str:
    """SHA-256 over labels and numbers in a fixed order, with lengths before each part."""
    digest = hashlib.sha256()
    parts: list[tuple[str, np.ndarray]] = [("times", times)]
    parts += [(f"value {response.name}", values[..., place]) for place, response in enumerate(responses)]
    parts += [(f"sigma {response.name}", sigma[..., place]) for place, response in enumerate(responses)]
    parts += [(f"condition {name}", conditions[name]) for name in sorted(conditions)]
    parts += [(f"program {name} {part}", array) for name in sorted(programs) for part, array in enumerate(programs[name])]
    for label in experiments:
        digest.update(f"{len(label)} {label}\n".encode())
    for name, array in parts:
        digest.update(f"{name} {array.shape}\n".encode())
        digest.update(np.where(np.isnan(array), np.nan, array + 0.0).astype("<f8").tobytes())
    return digest.hexdigest()
