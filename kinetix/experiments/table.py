"""Text to `Table`: cells as written, with the line each row came from.

Nothing is converted here beyond finding the columns: units, meanings and numbers are read later, so that every later message can quote
the file. Three questions stand before the table, each in a file of its own: what separates the columns (`dialect`), which line is the
header (`headers`), what a cell says (`cells`, `clock`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinetix.errors import DataError, Problems
from kinetix.experiments.cells import DECIMAL_POINT, EMPTY, Notation, is_empty, is_limit, is_mark, notation_of, without_percent
from kinetix.experiments.clock import is_clock, is_date
from kinetix.experiments.dialect import AS_IT_SHOWS, DELIMITERS, Layout, Record, Records, split_rows, split_text
from kinetix.experiments.headers import Header, Split, check_headers, parse_header, split_header

SHOWN = 5  # problems told one by one for one column; the rest are counted

_DECIMAL_HINT = " Decimal commas need semicolons or tabs between the columns."
_DATE_HEADERS = frozenset({"date", "datum", "fecha", "data"})
_CLOCK_HEADERS = frozenset({"time", "zeit", "uhrzeit", "heure", "hora", "ora"})


@dataclass(frozen=True)
class Table:
    """A table of text cells, each row with its line number in the source (the first line is line 1, whatever it holds).

    A header's `position` finds its cells in each row; a cell that the file leaves out is an empty string. `notes` says what was assumed;
    `label` is the name of an experiment that has no other; `missing` holds further cells, casefolded, that mean "not measured"; `broken`
    says which rows could not be read and are left out: no campaign is built of such a table, but all else in it is checked first;
    `warnings` says what looks like a mistake.

    >>> table = parse_table("time [s];A [mol/L]\\n# second try\\n0;1,5\\n", "run.csv")
    >>> table.rows, table.lines, table.comments, table.decimal_comma
    ((('0', '1,5'),), (3,), ('second try',), True)
    """

    source: str
    headers: tuple[Header, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    comments: tuple[str, ...] = ()
    delimiter: str = ","
    notation: Notation = DECIMAL_POINT
    byte_order_mark: bool = False
    notes: tuple[str, ...] = ()
    label: str = ""
    missing: frozenset[str] = frozenset()
    broken: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def decimal_comma(self) -> bool:
        """Whether a comma is the decimal mark."""
        return self.notation.decimal == ","

    @property
    def stem(self) -> str:
        """The label of an experiment that has no other: the sheet's name, or the source's without its ending."""
        return self.label or self.source.rpartition(".")[0] or self.source

    @property
    def dialect(self) -> str:
        """How the file is written, as words.

        >>> parse_table("a;b\\n1,5;2", "x.csv").dialect
        'columns separated by semicolons, decimal comma'
        """
        if not self.delimiter:
            words = ["cells of a workbook"]
        else:
            words = [f"columns separated by {DELIMITERS[self.delimiter]}"] if len(self.headers) > 1 else ["one column"]
        words += ["decimal comma"] * self.decimal_comma + ["byte-order mark"] * self.byte_order_mark
        return ", ".join(words)

    def cells(self, header: Header) -> tuple[str, ...]:
        """The cells of one column, top to bottom."""
        return tuple(row[header.position - 1] for row in self.rows)

    def place(self, row: int, header: Header) -> str:
        """Where a cell is, as messages say it: `run.csv, line 3, column 'A [mol/L]'`."""
        return f"{self.source}, line {self.lines[row]}, column '{header.text}'"

    def is_missing(self, cell: str) -> bool:
        """Whether a cell holds no reading: it is empty, or says so (`NaN`, `n.d.`, `*`, `---`, `#DIV/0!`, `<0.01`, ...)."""
        return is_empty(cell) or is_mark(cell, self.missing)

    def numbers(self, header: Header, problems: Problems, percent: float | None = None) -> np.ndarray:
        """One column as float64, NaN where the cell holds no reading; cells that are no finite number become problems.

        Args:
            percent: what one per cent is in the unit of the column, for cells such as `45 %`; None where they make no sense.
        """
        values = np.full(len(self.rows), np.nan)
        found: list[str] = []
        for row, cell in enumerate(self.cells(header)):
            if self.is_missing(cell):
                continue
            before = without_percent(cell)
            value = self.notation.number(before or cell)
            if before is not None and value is not None and percent is None:
                found.append(f"{self.place(row, header)}: '{cell}' is a percentage, but the column has another unit. Write [%] or [-].")
            elif value is None or not np.isfinite(value):
                found.append(f"{self.place(row, header)}: {self.notation.complaint(before or cell, self.delimiter == ',')}")
            else:
                values[row] = value if before is None or percent is None else value * percent
        report(problems, found, f"{self.source}, column '{header.text}'")
        return values

    def is_text(self, header: Header) -> bool:
        """Whether some cell of the column is neither a number nor missing."""
        cells = (without_percent(cell) or cell for cell in self.cells(header) if not self.is_missing(cell))
        return any(self.notation.number(cell) is None for cell in cells)

    def in_percent(self, header: Header) -> bool:
        """Whether every reading of the column carries a percent sign."""
        written = [cell for cell in self.cells(header) if not self.is_missing(cell)]
        return bool(written) and all(without_percent(cell) is not None for cell in written)

    def not_measured(self, headers: Iterable[Header]) -> str:
        """A sentence about the cells of these columns that say that they hold no reading, with their places; empty without any.

        >>> table = parse_table("t [s],A [mM]\\n0,1\\n5,n.d.\\n9,<0.01\\n", "run.csv")
        >>> print(table.not_measured(table.headers))
        run.csv: 2 cells count as not measured: 'n.d.' (column 'A [mM]', line 3); '<0.01' (column 'A [mM]', line 4). Limits are ...
        """
        places: dict[tuple[str, str], list[int]] = {}
        for header in headers:
            for line, cell in zip(self.lines, self.cells(header), strict=True):
                if not is_empty(cell) and self.is_missing(cell):
                    places.setdefault((cell, header.text), []).append(line)
        if not places:
            return ""
        total = sum(len(lines) for lines in places.values())
        told = "; ".join(f"'{cell}' (column '{column}', {_lines(lines)})" for (cell, column), lines in list(places.items())[:12])
        more = f"; and {len(places) - 12} kinds more" if len(places) > 12 else ""
        limits = " Limits are left out, not used as bounds: this can bias a fit." if any(is_limit(cell) for cell, _ in places) else ""
        return f"{self.source}: {total} cell{'s count' if total > 1 else ' counts'} as not measured: {told}{more}.{limits}"

    def thousands(self, headers: Iterable[Header]) -> str:
        """A sentence about cells such as `1,234` that were read with a thousands separator, with the place of one; empty without any.

        >>> table = parse_table("t [s];A [mM]\\n0;1.234,5\\n5;1.200\\n9;900,5\\n", "run.csv")
        >>> table.thousands(table.headers)
        "run.csv: points separate thousands: '1.200' (column 'A [mM]', line 3) is read as 1200."
        """
        if not self.notation.thousands:
            return ""
        found = [
            (cell, header.text, line)
            for header in headers
            for line, cell in zip(self.lines, self.cells(header), strict=True)
            if self.notation.is_lone_group(cell)
        ]
        if not found:
            return ""
        cell, column, line = found[0]
        more = f"; so are {len(found) - 1} more cells" if len(found) > 2 else "; so is 1 more cell" if len(found) == 2 else ""
        marks = "points" if self.decimal_comma else "commas"
        return (
            f"{self.source}: {marks} separate thousands: '{cell}' (column '{column}', line {line}) is read as "
            f"{self.notation.number(cell):.15g}{more}."
        )


def report(problems: Problems, found: Sequence[str], where: str, what: str = "cells", total: int | None = None) -> None:
    """Add the first few of many problems of one column, and say how many more `what` there are; `found` may hold the first of `total`."""
    for problem in found[:SHOWN]:
        problems.add(problem)
    more = (len(found) if total is None else total) - SHOWN
    if more > 0:
        problems.add(f"{where}: {more} more {what if more > 1 else what.removesuffix('s')} with the same kind of problem.")


def parse_table(text: str, source: str, layout: Layout = AS_IT_SHOWS) -> Table:
    """The table that a text holds.

    Args:
        text: the whole text, with or without a byte-order mark, any line ends.
        source: the name that messages use, for example `run.csv`.
        layout: how the text is written, where it does not show.

    Returns:
        Table: headers, rows of text cells and their line numbers. Comment lines, blank lines and lines of delimiters only are left out but
            counted; a row that is too short ends in empty cells; a line of units below the header becomes part of the headers.

    Raises:
        DataError: the text is empty, has no rows that can be read, or equal headers.

    >>> parse_table("T [K],k [1/s]\\n300,0.1\\n\\n,\\n310,0.2,7\\n", "k.csv").broken
    ("k.csv, line 5: 3 cells, but the header has 2 columns; the first without a column is '7'.",)
    """
    plain, broken = text.removeprefix("\ufeff"), Problems()
    table = _table(split_text(plain, source, layout, broken), source, layout, broken)
    return replace(table, byte_order_mark=True) if plain != text else table


def table_of_cells(rows: Iterable[Record], source: str, layout: Layout = AS_IT_SHOWS, label: str = "") -> Table:
    """The table that the rows of a sheet hold, each a line number and text cells; the rest as in `parse_table`.

    >>> table_of_cells([(2, ("T [K]", "k [1/s]")), (3, ("300", "0.1"))], "rates.xlsx", label="Sheet1").rows
    (('300', '0.1'),)
    """
    return replace(_table(split_rows(rows, layout), source, layout, Problems()), label=label)


def selected(table: Table, only: Mapping[str, object], problems: Problems) -> tuple[Table, str]:
    """The rows with one of the wanted values in some column, and a sentence about it; the table itself where it has no such column.

    Args:
        only: header or its name -> a value or several; numbers compare as numbers.
    """
    tests: list[tuple[Header, frozenset[str | float]]] = []
    for name, wanted in only.items():
        values = wanted if isinstance(wanted, Collection) and not isinstance(wanted, str) else (wanted,)
        header = header_named(table, name)
        if header is not None:
            tests.append((header, frozenset(_comparable(str(value), DECIMAL_POINT) for value in values)))
    if not tests:
        return table, ""
    kept = [
        row
        for row in range(len(table.rows))
        if all(_comparable(table.rows[row][header.position - 1], table.notation) in values for header, values in tests)
    ]
    said = " and ".join(f"{header.name} = {', '.join(_told(value) for value in sorted(values, key=str))}" for header, values in tests)
    if not kept:
        seen = list(dict.fromkeys(cell for header, _ in tests for cell in table.cells(header) if cell))
        problems.add(f"{table.source}: only: no row has {said}. The column holds {', '.join(seen[:12])}{' ...' * (len(seen) > 12)}.")
        return table, ""
    chosen = replace(table, rows=tuple(table.rows[row] for row in kept), lines=tuple(table.lines[row] for row in kept))
    return chosen, f"{table.source}: only the rows with {said}: {len(kept)} of {len(table.rows)}."


def header_named(table: Table, text: str) -> Header | None:
    """The column with this header or, where only one has it, this name."""
    whole = [header for header in table.headers if header.text == text]
    named = [header for header in table.headers if header.name == text]
    return whole[0] if whole else named[0] if len(named) == 1 else None


def _comparable(cell: str, notation: Notation) -> str | float:
    number = notation.number(cell)
    return cell if number is None else number


def _told(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.15g}"


def _lines(lines: list[int]) -> str:
    shown = ", ".join(str(line) for line in lines[:SHOWN])
    return f"line{'s' * (len(lines) > 1)} {shown}{f' and {len(lines) - SHOWN} more' if len(lines) > SHOWN else ''}"


def _table(records: Records, source: str, layout: Layout, broken: Problems) -> Table:
    """The table of records; `broken` has the rows that could not be split into cells, and receives those of another width."""
    if not records.rows:
        broken.raise_if_any(DataError)
    problems = Problems()
    split = split_header(records, source, layout, problems)
    split = _date_and_clock_joined(_rectangular(split, records.delimiter, source, broken))
    used = [not header.nameless or any(cells[header.position - 1] for _, cells in split.body) for header in split.headers]
    headers = tuple(header for header, is_used in zip(split.headers, used, strict=True) if is_used)
    check_headers(replace(split, headers=headers), source, bool(records.comments), problems)
    words = headers[0].text.split() if len(headers) == 1 else []
    if len(words) > 1 and split.body and all(len(cells[headers[0].position - 1].split()) > 1 for _, cells in split.body):
        problems.add(f"{source}, line {split.line}: no comma, semicolon or tab between the columns. Separate them by one of these.")
    if not split.body and not problems.found and not broken.found:
        problems.add(f"{source} has a header line but no data: expected rows of numbers below line {split.line}.")
    if problems.found or not split.body:
        problems.found[:0] = broken.found
    problems.raise_if_any(DataError)
    rows = tuple(cells for _, cells in split.body)
    columns = [[cells[header.position - 1] for cells in rows] for header in headers]
    return Table(
        source,
        headers,
        rows,
        tuple(line for line, _ in split.body),
        tuple(comment.text for comment in records.comments),
        records.delimiter,
        notation_of(columns, records.delimiter == ",", layout.decimal),
        notes=split.notes,
        missing=frozenset(mark.casefold() for mark in layout.missing) - EMPTY,
        broken=tuple(broken.found),
    )


def _rectangular(split: Split, delimiter: str, source: str, problems: Problems) -> Split:
    """Rows as wide as the header; left out, as a problem, is a row with text beyond it, or with gaps that blanks cannot show."""
    body, width, line = split.body, len(split.headers), split.line
    if width == 1 and body and line is not None and all(len(cells) > 1 for _, cells in body):
        problems.add(
            f"{source}, line {line} is one cell, but the lines below have more. If it is a title, begin it with '#', or say which line "
            "is the header: header = 2 under [data]."
        )
        return replace(split, body=())
    kept: list[Record] = []
    found: list[str] = []
    columns = "1 column" if width == 1 else f"{width} columns"
    for at, cells in body:
        extra = next((cell for cell in cells[width:] if cell), None)
        has = f"{source}, line {at}: {len(cells)} cell{'s' * (len(cells) != 1)}, but the header has {columns}"
        if extra is not None:
            found.append(f"{has}; the first without a column is '{extra}'.{_DECIMAL_HINT * _may_be_split_numbers(cells, delimiter)}")
        elif delimiter == " " and len(cells) < width:
            found.append(f"{has}. Where blanks separate the columns, write NaN for what was not measured.")
        else:
            kept.append((at, (cells + ("",) * width)[:width]))
    report(problems, found, source, "lines")
    return replace(split, body=tuple(kept))


def _may_be_split_numbers(cells: tuple[str, ...], delimiter: str) -> bool:
    """Whether commas that separate these cells may be decimal: `1,0,905` where two columns are."""
    return delimiter == "," and all(cell.lstrip("+-").isdigit() for cell in cells if cell)


def _date_and_clock_joined(split: Split) -> Split:
    """A column of dates and one of clock times, as loggers write them, become one column of date stamps: the clock's."""
    dates = [header for header in split.headers if header.name.casefold() in _DATE_HEADERS and _all(split, header, is_date)]
    clocks = [header for header in split.headers if header.name.casefold() in _CLOCK_HEADERS and _all(split, header, is_clock)]
    if len(dates) != 1 or len(clocks) != 1:
        return split
    date, clock = dates[0].position - 1, clocks[0].position - 1
    body = tuple(
        (
            line,
            tuple("" if place == date else f"{cells[date]} {cell}".strip() if place == clock else cell for place, cell in enumerate(cells)),
        )
        for line, cells in split.body
    )
    emptied = Header(f"column {date + 1}", f"column {date + 1}", None, date + 1, nameless=True)
    headers = tuple(emptied if header is dates[0] else header for header in split.headers)
    note = f"Columns '{dates[0].text}' and '{clocks[0].text}' are read as one, in '{clocks[0].text}'."
    return replace(split, headers=headers, body=body, notes=(*split.notes, note))


def _all(split: Split, header: Header, kind: Callable[[str], bool]) -> bool:
    cells = [cells[header.position - 1] for _, cells in split.body]
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(kind(cell) for cell in filled)


__all__ = ["Header", "Layout", "Table", "header_named", "parse_header", "parse_table", "report", "selected", "table_of_cells"]
