"""Text to records: what separates the columns, which lines are comments, and on which line each record begins."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kinetix.errors import DataError, Problems

DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas", " ": "blanks"}

# spreadsheets write failed cells as '#DIV/0!'; a lone '#' is a cell, as in the header '#,time [s]'; a run of '#' may be a cell too
_COMMENT = re.compile(r"\s*#(?!\s*[,;\t]|#*\s*[,;\t]|N/A|N/V|DIV/0|VALUE!|REF!|NAME\?|NUM!|NULL!|WERT!|BEZUG!|ZAHL!|SPILL!|CALC!)")
_QUOTED = re.compile(r'"[^"]*"')
_BRACKETED = re.compile(r"\[[^\]]*\]|\([^)]*\)")
_PADDING = re.compile(r"([,;])[ \t]+")
_WORD = re.compile(r'"(?P<quoted>[^"]*)"|\S+')
_UNIT_WORD = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
_COMMA_NUMBERS = re.compile(r"[+-]?\d+(,\d+)?(\s+[+-]?\d+(,\d+)?)+")

Record = tuple[int, tuple[str, ...]]  # the line it begins on, and its cells


@dataclass(frozen=True)
class Layout:
    """How a file is written, where it does not show by itself.

    Attributes:
        header: the line of the header (several where it has several lines), or the headers themselves where the file has none; where empty,
            it is sought.
        decimal: the decimal mark; the other mark then separates thousands.
        missing: cells that mean "not measured", besides the usual ones.

    Raises:
        DataError: a header line below 1, or header texts that are all empty.
    """

    header: tuple[int | str, ...] = ()
    decimal: Literal[".", ","] | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.lines and (min(self.lines) < 1 or list(self.lines) != sorted(set(self.lines))):
            raise DataError(f"header = {list(self.header)}: lines are counted from 1, top to bottom.")
        if self.header and not self.lines and not any(self.header):
            raise DataError("header: all texts are empty.")

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of the header, where they are given."""
        return tuple(line for line in self.header if isinstance(line, int))

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers themselves, where they are given."""
        return tuple(text for text in self.header if isinstance(text, str))


AS_IT_SHOWS = Layout()


@dataclass(frozen=True)
class Comment:
    """A line that begins with `#`: its text, and the cells it would have as a row."""

    line: int
    text: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Records:
    """The rows of a file or sheet that hold anything, its comments, and how it separates columns (empty for a sheet of a workbook)."""

    rows: tuple[Record, ...]
    comments: tuple[Comment, ...] = ()
    delimiter: str = ""


def split_text(text: str, source: str, layout: Layout, problems: Problems) -> Records:
    """The records of a text; quotes that cannot be read become problems.

    Lines of delimiters only and blank lines are left out but counted. Lines above a header whose line is given are left out.
    """
    first = min(layout.lines, default=1)
    numbered = [(number, line) for number, line in enumerate(io.StringIO(text, newline=""), start=1) if number >= first]
    plain = [(number, re.sub(r"^(\s*)#+", r"\1", line) if number in layout.lines else line) for number, line in numbered]
    delimiter = _delimiter([line for number, line in plain if number in layout.lines or not is_comment(line)])
    lines = _Lines(plain, layout.lines)
    rows = tuple(_blank_separated(lines) if delimiter == " " else _separated(lines, delimiter, source, problems))
    comments = tuple(Comment(number, text, _one_record(text, delimiter)) for number, text in lines.comments)
    return Records(rows if delimiter != " " else _with_units_joined(rows), comments, delimiter)


def split_rows(rows: Iterable[Record], layout: Layout) -> Records:
    """The records of a sheet's rows of text cells, by the same rules."""
    first = min(layout.lines, default=1)
    kept: list[Record] = []
    comments: list[Comment] = []
    for line, cells in rows:
        stripped = tuple(cell.strip() for cell in cells)
        leading = next((cell for cell in stripped if cell), "")
        if line < first or not leading:
            continue
        if line in layout.lines or not is_comment(leading) or not leading.strip("#"):
            kept.append((line, (stripped[0].lstrip("#").strip(), *stripped[1:]) if line in layout.lines else stripped))
        else:
            text = " ".join(cell for cell in stripped if cell).lstrip("#").strip()
            comments.append(Comment(line, text, (stripped[0].lstrip("#").strip(), *stripped[1:])))
    return Records(tuple(kept), tuple(comments))


def is_comment(line: str) -> bool:
    """Whether a line is a comment: it begins with `#`, and not with a spreadsheet's error or a lone `#` as a cell."""
    return _COMMENT.match(line) is not None


class _Lines:
    """Feeds lines to the csv reader, sets comments aside and knows on which line a record began."""

    def __init__(self, lines: Iterable[tuple[int, str]], no_comments: Sequence[int]) -> None:
        self.lines = iter(lines)
        self.no_comments = no_comments
        self.comments: list[tuple[int, str]] = []
        self.number = 0
        self.began = 0

    def begin(self) -> None:
        self.began = 0

    def __iter__(self) -> Iterator[str]:
        for number, line in self.lines:
            self.number = number
            if not self.began:
                if number not in self.no_comments and is_comment(line):
                    self.comments.append((number, line.strip().lstrip("#").strip()))
                    continue
                self.began = number
            yield line


def _separated(lines: _Lines, delimiter: str, source: str, problems: Problems) -> Iterator[Record]:
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


def _blank_separated(lines: _Lines) -> Iterator[Record]:
    stream = iter(lines)
    while True:
        lines.begin()
        line = next(stream, None)
        if line is None:
            return
        cells = _words(line)
        if cells:
            yield lines.began, cells


def _words(line: str) -> tuple[str, ...]:
    return tuple(word["quoted"].strip() if word["quoted"] is not None else word.group() for word in _WORD.finditer(line))


def _with_units_joined(rows: tuple[Record, ...]) -> tuple[Record, ...]:
    """Rows above the numbers that write units behind blanks, `time [s]  A [mol/L]`, with the units joined to their names.

    Only rows that have more words than the other rows have cells, and as many as those once the units are joined.
    """
    if len(rows) < 2:
        return rows
    width = Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    joined: list[Record] = []
    for line, cells in rows:
        together: list[str] = []
        for cell in cells:
            if together and _UNIT_WORD.fullmatch(cell) and not together[-1].endswith(("]", ")")):
                together[-1] += f" {cell}"
            else:
                together.append(cell)
        joined.append((line, tuple(together) if len(cells) != width == len(together) else cells))
    return tuple(joined)


def _one_record(text: str, delimiter: str) -> tuple[str, ...]:
    """The cells that the text of a comment would have."""
    if delimiter == " ":
        return _words(text)
    try:
        return tuple(cell.strip() for cell in next(csv.reader([text], delimiter=delimiter, skipinitialspace=True, strict=True), []))
    except csv.Error:
        return (text,)


def _delimiter(lines: Sequence[str]) -> str:
    """The mark that stands in the most lines, outside quotes and brackets; tabs before semicolons before commas, and blanks where the
    numbers of most lines are separated by nothing else."""
    bare = [_PADDING.sub(r"\1", _BRACKETED.sub("", _QUOTED.sub("", line.strip("\r\n")))) for line in lines if line.strip(" \t;,\r\n")]
    if not bare:
        return ","
    standing = {mark: sum(mark in line for line in bare) for mark in ("\t", ";", ",")}
    best = max(standing, key=lambda mark: standing[mark])
    if not standing["\t"] and not standing[";"] and _is_in_blanks_with_decimal_commas(bare):
        return " "
    several = sum(len(line.split()) > 1 for line in bare)
    if 2 * standing[best] < len(bare) < 2 * several and _is_number_in(bare):
        return " "
    return best if standing[best] else ","


def _is_in_blanks_with_decimal_commas(lines: Sequence[str]) -> bool:
    """Whether half of the lines or more are numbers with blanks between them, and the others have no comma."""
    others = [line for line in lines if not _COMMA_NUMBERS.fullmatch(line.strip())]
    return 2 * len(others) <= len(lines) and not any("," in line for line in others)


def _is_number_in(lines: Sequence[str]) -> bool:
    """Whether most lines of several words hold a number."""
    several = [line.split() for line in lines if len(line.split()) > 1]
    return 2 * sum(any(re.fullmatch(r"[+-]?[\d.,]+([eE][+-]?\d+)?", word) for word in words) for words in several) >= len(several)
