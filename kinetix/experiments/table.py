"""Text to `Table`: cells as written, with the line each row came from.

Nothing is converted here beyond finding the columns: units, meanings and numbers are read later, so that every later message can quote
the file. Columns are separated by commas, semicolons or tabs; cells may be quoted; lines that begin with `#` are comments; the decimal
comma is understood where commas do not separate columns.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from kinetix.errors import DataError, Problems

DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas"}
MISSING = frozenset({"", "nan", "na", "n/a", "#n/a"})
SHOWN = 5  # problems told one by one for one column; the rest are counted

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NUMBER_WITH_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?P<mark>[.,' \u2019\u00a0\u202f])\d{3}((?P=mark)\d{3})*([.,]\d+)?")
_NOT_FINITE = re.compile(r"[+-]?(inf|infinity)", re.IGNORECASE)
# spreadsheets write failed cells as '#DIV/0!'; a lone '#' is a cell, as in the header '#,time [s]'
_COMMENT = re.compile(r"\s*#(?!\s*[,;\t]|N/A|DIV/0|VALUE!|REF!|NAME\?|NUM!|NULL!)")
_MINUS = str.maketrans({"\u2212": "-", "\u2013": "-"})


@dataclass(frozen=True)
class Header:
    """One column's header: the text as written, its name, its unit text (None where there is none) and its place (first column is 1).

    Three ways to write a unit are read, and a name may hold a slash of its own:

    >>> parse_header("T [degC]"), parse_header("tau (min)").unit, parse_header("C_A / mol L-1").name
    (Header(text='T [degC]', name='T', unit='degC', position=1), 'min', 'C_A')
    >>> parse_header("1/tau [1/min]").name, parse_header("[A]").name, parse_header("T").unit
    ('1/tau', '[A]', None)
    """

    text: str
    name: str
    unit: str | None
    position: int = 1


@dataclass(frozen=True)
class Table:
    """A table of text cells, each row with its line number in the source (the first line is line 1, whatever it holds).

    A header's `position` finds its cells in each row; a cell that the file leaves out is an empty string.

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
    decimal_comma: bool = False
    byte_order_mark: bool = False

    @property
    def stem(self) -> str:
        """The source's name without its ending: the label of an experiment that has no other."""
        return self.source.rpartition(".")[0] or self.source

    @property
    def dialect(self) -> str:
        """How the file is written, as words.

        >>> parse_table("a;b\\n1,5;2", "x.csv").dialect
        'columns separated by semicolons, decimal comma'
        """
        words = [f"columns separated by {DELIMITERS[self.delimiter]}"] if len(self.headers) > 1 else ["one column"]
        words += ["decimal comma"] * self.decimal_comma + ["byte-order mark"] * self.byte_order_mark
        return ", ".join(words)

    def cells(self, header: Header) -> tuple[str, ...]:
        """The cells of one column, top to bottom."""
        return tuple(row[header.position - 1] for row in self.rows)

    def place(self, row: int, header: Header) -> str:
        """Where a cell is, as messages say it: `run.csv, line 3, column 'A [mol/L]'`."""
        return f"{self.source}, line {self.lines[row]}, column '{header.text}'"

    def numbers(self, header: Header, problems: Problems) -> np.ndarray:
        """One column as float64, NaN where the cell is empty or says NaN, NA or N/A; cells that are no finite number become problems."""
        values = np.full(len(self.rows), np.nan)
        found: list[str] = []
        for row, cell in enumerate(self.cells(header)):
            if is_missing(cell):
                continue
            value = _number(cell, self.decimal_comma)
            if value is None or not np.isfinite(value):
                found.append(f"{self.place(row, header)}: {self._complaint(cell)}")
            else:
                values[row] = value
        report(problems, found, f"{self.source}, column '{header.text}'")
        return values

    def is_text(self, header: Header) -> bool:
        """Whether some cell of the column is neither empty nor a number."""
        return any(_number(cell, self.decimal_comma) is None for cell in self.cells(header) if not is_missing(cell))

    def _complaint(self, cell: str) -> str:
        plain = cell.translate(_MINUS)
        if _NOT_FINITE.fullmatch(plain) or _number(cell, self.decimal_comma) is not None:
            return f"'{cell}' is not a finite number."
        if self.decimal_comma and _NUMBER.fullmatch(plain):
            comma = cell.replace(".", ",")
            return f"'{cell}' has a decimal point, but this file writes decimal commas. Write '{comma}', or points in every number."
        if _THOUSANDS.fullmatch(plain):
            return f"'{cell}' seems to have thousands separators, which are not read. Write it without them."
        if _NUMBER_WITH_COMMA.fullmatch(plain):
            return (
                f"'{cell}' seems to have a decimal comma, which is read only where semicolons or tabs separate the columns. "
                f"Write '{cell.replace(',', '.')}'."
            )
        if plain[:1] in "<>~\u2264\u2265":
            return f"'{cell}' is a limit, not a reading, and cannot be used yet. Leave the cell empty or list the column under 'ignore'."
        return f"'{cell}' is not a number. Leave the cell empty where nothing was measured."


def is_missing(cell: str) -> bool:
    """Whether a cell holds nothing: empty, `NaN`, `NA` or `N/A` in any case."""
    return cell.casefold() in MISSING


def report(problems: Problems, found: list[str], where: str) -> None:
    """Add the first few of many problems of one column, and say how many more there are."""
    for problem in found[:SHOWN]:
        problems.add(problem)
    if len(found) > SHOWN:
        problems.add(f"{where}: {len(found) - SHOWN} more cells with the same kind of problem.")


def parse_header(text: str, position: int = 1) -> Header:
    """Split a header into name and unit: `name [unit]`, `name (unit)` or `name / unit` (with spaces around the slash)."""
    text = " ".join(text.split())
    opening = _trailing_group(text)
    if opening > 0:
        return Header(text, text[:opening].rstrip(), text[opening + 1 : -1].strip() or None, position)
    name, slash, unit = text.partition(" / ")
    if slash and name and unit:
        return Header(text, name, unit, position)
    return Header(text, text, None, position)


def _trailing_group(text: str) -> int:
    """Where the bracket that ends the text opens, or 0."""
    pairs = {"]": "[", ")": "("}
    if not text or text[-1] not in pairs:
        return 0
    closing, opening, depth = text[-1], pairs[text[-1]], 0
    for place in range(len(text) - 1, -1, -1):
        depth += (text[place] == closing) - (text[place] == opening)
        if depth == 0:
            return place
    return 0


def parse_table(text: str, source: str) -> Table:
    """The table that a text holds.

    Parameters
    ----------
    text : the whole text, with or without a byte-order mark, any line ends.
    source : the name that messages use, for example `run.csv`.

    Returns
    -------
    Table : headers, rows of text cells and their line numbers. Comment lines, blank lines and lines of delimiters only are left out but
        counted; a row that is too short ends in empty cells; a second line of bracketed units (`[s],[K]`) becomes part of the headers.

    Raises
    ------
    DataError : the text is empty, has no rows, has nameless or equal headers, a row with too many cells or broken quotes. All at once.

    >>> parse_table("T [K],k [1/s]\\n300,0.1\\n\\n,\\n310,0.2,7\\n", "k.csv")
    Traceback (most recent call last):
    ...
    kinetix.errors.DataError: k.csv, line 5: 3 cells, but the header has 2 columns; the first without a column is '7'.
    """
    byte_order_mark = text.startswith("\ufeff")
    lines = _Lines(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    delimiter = _delimiter(text.removeprefix("\ufeff"))
    problems = Problems()
    records = list(_records(lines, delimiter, source, problems))
    if not records:
        problems.raise_if_any(DataError)
        raise DataError(f"{source} is empty: expected a header line with units, for example 'time [s],A [mol/L]'.")
    (header_line, names), *body = records
    body = _rectangular(body, len(names), delimiter, f"{source}, line {header_line}", source, problems)
    used = [name or any(cells[position] for _, cells in body) for position, name in enumerate(names)]
    headers = tuple(parse_header(name, place) for place, name in enumerate(names, start=1) if used[place - 1])
    if body and _is_units_row(body[0][1], headers):
        units = body.pop(0)[1]
        headers = tuple(parse_header(f"{header.text} {units[header.position - 1]}", header.position) for header in headers)
    _check_headers(headers, f"{source}, line {header_line}", body, bool(lines.comments), problems)
    if not body and not problems.found:
        problems.add(f"{source} has a header line but no data: expected rows of numbers below line {header_line}.")
    problems.raise_if_any(DataError)
    rows = tuple(cells for _, cells in body)
    decimal_comma = delimiter != "," and _writes_decimal_commas(rows, headers)
    return Table(source, headers, rows, tuple(line for line, _ in body), tuple(lines.comments), delimiter, decimal_comma, byte_order_mark)


class _Lines:
    """Feeds lines to the csv reader, sets comments aside and knows on which line a record began."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = enumerate(lines, start=1)
        self.comments: list[str] = []
        self.number = 0
        self.began = 0

    def begin(self) -> None:
        self.began = 0

    def __iter__(self) -> Iterator[str]:
        for number, line in self.lines:
            self.number = number
            if not self.began:
                if _COMMENT.match(line):
                    self.comments.append(line.strip().lstrip("#").strip())
                    continue
                self.began = number
            yield line


def _records(lines: _Lines, delimiter: str, source: str, problems: Problems) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Records with the line they begin on, cells stripped; records without any text are passed over."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    while True:
        lines.begin()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.add(f"{source}, line {lines.began or lines.number}: the quotes cannot be read ({error}). Close each quoted cell.")
            continue
        stripped = tuple(cell.strip() for cell in cells)
        if any(stripped):
            yield lines.began, stripped


def _delimiter(text: str) -> str:
    """The delimiter that stands most often in the header line outside quotes and brackets; tabs before semicolons before commas."""
    header = next((line for line in io.StringIO(text) if line.strip(" \t;,\r\n") and not _COMMENT.match(line)), "")
    bare = re.sub(r'"[^"]*"|\[[^\]]*\]|\([^)]*\)', "", header)
    return max(DELIMITERS, key=bare.count) if any(mark in bare for mark in DELIMITERS) else ","


def _rectangular(
    body: list[tuple[int, tuple[str, ...]]], width: int, delimiter: str, header_place: str, source: str, problems: Problems
) -> list[tuple[int, tuple[str, ...]]]:
    """Rows as wide as the header; a row with text beyond it is a problem."""
    if width == 1 and body and all(len(cells) > 1 for _, cells in body):
        problems.add(f"{header_place} is one cell, but the lines below have more. If it is a title, begin it with '#'.")
        return []
    found: list[str] = []
    for line, cells in body:
        extra = next((cell for cell in cells[width:] if cell), None)
        if extra is not None:
            hint = " Decimal commas need semicolons or tabs between the columns." if delimiter == "," and len(cells) == 2 * width else ""
            columns = "1 column" if width == 1 else f"{width} columns"
            found.append(
                f"{source}, line {line}: {len(cells)} cells, but the header has {columns}; the first without a column is '{extra}'.{hint}"
            )
    report(problems, found, source)
    return [(line, (cells + ("",) * width)[:width]) for line, cells in body]


def _is_units_row(cells: tuple[str, ...], headers: tuple[Header, ...]) -> bool:
    bracketed = [re.fullmatch(r"\[[^\[\]]*\]|\([^()]*\)", cell) is not None for cell in cells if cell]
    return bool(bracketed) and all(bracketed) and all(header.unit is None for header in headers)


def _check_headers(
    headers: tuple[Header, ...], place: str, body: list[tuple[int, tuple[str, ...]]], comments: bool, problems: Problems
) -> None:
    first: dict[str, Header] = {}
    for header in headers:
        if not header.text:
            problems.add(f"{place}: column {header.position} has no header. Write one, for example 'time [s]'.")
        elif header.text in first:
            problems.add(
                f"{place}: columns {first[header.text].position} and {header.position} are both called '{header.text}'. "
                "Give each column its own name."
            )
        first.setdefault(header.text, header)
    if headers and all(_NUMBER.fullmatch(header.text.translate(_MINUS)) for header in headers):
        hint = " (a line that begins with '#' is a comment)" if comments else ""
        problems.add(f"{place}: expected a header line with units, for example 'time [s],A [mol/L]', but found numbers only{hint}.")
    words = headers[0].text.split() if len(headers) == 1 else []
    if len(words) > 1 and body and all(len(cells[0].split()) > 1 for _, cells in body):
        problems.add(f"{place}: no comma, semicolon or tab between the columns. Separate them by one of these.")


def _writes_decimal_commas(rows: tuple[tuple[str, ...], ...], headers: tuple[Header, ...]) -> bool:
    """Whether a column of numbers holds one with a decimal comma. Columns that hold mostly words say nothing."""
    for header in headers:
        written = (row[header.position - 1] for row in rows)
        cells = [cell.translate(_MINUS) for cell in written if not is_missing(cell)]
        commas = [_NUMBER_WITH_COMMA.fullmatch(cell) is not None for cell in cells]
        numbers = [comma or _NUMBER.fullmatch(cell) is not None for comma, cell in zip(commas, cells, strict=True)]
        if any(commas) and 2 * sum(numbers) > len(cells):
            return True
    return False


def _number(cell: str, decimal_comma: bool) -> float | None:
    """The number that a cell holds (infinite where it overflows), or None."""
    plain = cell.translate(_MINUS)
    if decimal_comma:
        if "." in plain:
            return None
        plain = plain.replace(",", ".")
    return float(plain) if _NUMBER.fullmatch(plain) else None
