"""Headers: the name and unit in one, and which lines of a file are its header.

The header is the first line as wide as the numbers below it; narrower lines above it are titles. It may be a comment (`## t/min;A/M`), may
have a line of units below it, or a line of groups above the names. What was taken for what is noted; `Layout.header` overrules it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from kinetix.errors import DataError, Problems, UnitError
from kinetix.experiments.cells import is_empty, is_mark, is_plain_number, looks_like_number
from kinetix.experiments.clock import is_time
from kinetix.experiments.dialect import Comment, Layout, Record, Records
from kinetix.units import parse_unit

_EXAMPLE = "for example 'time [s],A [mol/L]'"
_LOOKED_AT = 200  # rows; a header stands above them
_NAMES_BY_HAND = 'header = ["time [s]", "A [mol/L]"] under [data]'


@dataclass(frozen=True)
class Header:
    """One column's header: the text as written, its name, its unit text (None where there is none) and its place (first column is 1).

    Four ways to write a unit are read, and a name may hold a slash of its own. A column without a header is called by its place,
    `column 1`; `nameless` says so.

    >>> parse_header("T [degC]"), parse_header("tau (min)").unit, parse_header("C_A / mol L-1").name, parse_header("Temp./°C").unit
    (Header(text='T [degC]', name='T', unit='degC', position=1), 'min', 'C_A', '°C')
    >>> parse_header("1/tau [1/min]").name, parse_header("[A]").name, parse_header("T").unit, parse_header("W/F").unit
    ('1/tau', '[A]', None, None)
    """

    text: str
    name: str
    unit: str | None
    position: int = 1
    nameless: bool = field(default=False, repr=False)


def parse_header(text: str, position: int = 1) -> Header:
    """Split a header into name and unit: `name [unit]`, `name (unit)`, `name / unit`, or `name/unit` where that is a unit."""
    text = " ".join(text.split())
    if not text:
        return Header(f"column {position}", f"column {position}", None, position, nameless=True)
    opening = _trailing_group(text)
    if opening > 0 and not _is_end_of_unit(text, opening):
        return Header(text, text[:opening].rstrip(" /") or text[:opening].rstrip(), text[opening + 1 : -1].strip() or None, position)
    name, slash, unit = text.partition(" / ")
    if slash and name and unit:
        return Header(text, name, unit, position)
    name, slash, unit = (part.strip() for part in text.partition("/"))
    if slash and name and not is_plain_number(name) and is_unit(unit):
        return Header(text, name, unit, position)
    return Header(text, text, None, position)


def _is_end_of_unit(text: str, opening: int) -> bool:
    """Whether the bracket that ends a header is the end of a unit behind a slash: `rate / mol/(kg s)`, `P / bar(a)`, not `x/m (s)`."""
    slash = text.find("/")
    return text[opening] == "(" and text[opening - 1] != " " and 0 < slash < opening - 1 and is_unit(text[slash + 1 :])


def is_unit(text: str) -> bool:
    """Whether a text is a unit, of which `-` is one; `1` is not, nor is `A0`, which reads as ampere to the power of nothing.

    >>> is_unit("mol/L"), is_unit("1"), is_unit("A0"), is_unit("tau")
    (True, False, False, False)
    """
    try:
        parse_unit(text)
    except UnitError:
        return False
    return text.strip() != "1" and re.search(r"[^\d.]0$", text.strip()) is None


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


@dataclass(frozen=True)
class Split:
    """A file's header, the line it stands on (None where it has none), the rows below it, and what was assumed, as sentences."""

    headers: tuple[Header, ...]
    line: int | None
    body: tuple[Record, ...]
    notes: tuple[str, ...] = ()


def split_header(records: Records, source: str, layout: Layout, problems: Problems) -> Split:
    """The header and the rows below it.

    Raises:
        DataError: there are no rows at all, or a given header line does not exist.
    """
    if layout.headers:
        return _named_by_hand(records, source, layout.headers)
    if layout.lines:
        return _at_given_lines(records, source, layout.lines)
    if not records.rows:
        raise DataError(f"{source} is empty: expected a header line with units, {_EXAMPLE}.")
    commented = _header_in_comment(records)
    if commented is not None:
        note = f"{source}: the header is the comment in line {commented.line}."
        return _below((commented.line, commented.cells), records.rows, source, [note])
    start = _first_full_row(records.rows)
    if records.delimiter == " ":
        start = _last_before_numbers(records.rows, start)
    if start and _has_gap(records.rows[start - 1][1]) and _is_groups(records.rows[start - 1][1], records.rows[start][1]):
        start -= 1
    titles, (header, *body) = records.rows[:start], records.rows[start:]
    notes = [f"{source}, line {line}: taken as a title above the header and not read: '{_shown(cells)}'." for line, cells in titles]
    if body and _looks_like_data(header[1]) and _same_kinds(header[1], body[0][1]):
        hint = " (a line that begins with '#' is a comment)" if records.comments else ""
        problems.add(
            f"{source}, line {header[0]}: expected a header line with units, {_EXAMPLE}, but found numbers{hint}. "
            f"If the file has no header, write {_NAMES_BY_HAND}."
        )
    return _below(header, body, source, notes)


def _named_by_hand(records: Records, source: str, names: tuple[str, ...]) -> Split:
    """A file without header: its rows begin where its numbers begin."""
    start = next((place for place, (_, cells) in enumerate(records.rows) if _looks_like_data(cells)), 0)
    notes = [f"{source}, line {line}: above the numbers and not read: '{_shown(cells)}'." for line, cells in records.rows[:start]]
    body = records.rows[start:]
    if not body:
        raise DataError(f"{source} is empty: expected rows of numbers.")
    width = max(_width(cells) for _, cells in body)
    if width < len(names):
        raise DataError(f"{source} has {width} column{'s' * (width > 1)}, but header under [data] has {len(names)} texts.")
    return Split(tuple(parse_header(name, place) for place, name in enumerate(names, start=1)), None, body, tuple(notes))


def _at_given_lines(records: Records, source: str, lines: tuple[int, ...]) -> Split:
    by_line = dict(records.rows)
    for line in lines:
        if line not in by_line:
            raise DataError(f"{source}: line {line}, which shall be the header, is empty or does not exist.")
    body = tuple((line, cells) for line, cells in records.rows if line > lines[-1])
    width = max(len(by_line[line]) for line in lines)
    stacked = [by_line[line] + ("",) * (width - len(by_line[line])) for line in lines]
    units = stacked.pop() if len(stacked) > 1 and _is_units_row(stacked[-1], ()) else ()
    return Split(_headers(_joined(stacked), units), lines[0], body)


def _below(header: Record, rows: Sequence[Record], source: str, notes: list[str]) -> Split:
    """The header with the line of units, or of names under groups, that may stand below it."""
    line, names = header
    body = list(rows)
    headers = _headers(names, ())
    if len(body) > 1 and _is_groups(names, body[0][1]) and _looks_like_data(next((c for _, c in body[1:] if not _is_units_row(c, ())), ())):
        second, cells = body.pop(0)
        width = max(len(names), len(cells))
        names = _joined([names + ("",) * (width - len(names)), cells + ("",) * (width - len(cells))])
        headers = _headers(names, ())
        notes.append(f"{source}, lines {line} and {second}: read as one header of groups and names, for example '{headers[-1].text}'.")
    if body and _is_units_row(body[0][1], headers) and (_is_bracketed(body[0][1]) or (len(body) > 1 and _looks_like_data(body[1][1]))):
        second, units = body.pop(0)
        headers = _headers(names, units)
        notes.append(f"{source}, line {second}: read as the units of the columns.")
    return Split(headers, line, tuple(body), tuple(notes))


def _headers(names: Sequence[str], units: Sequence[str]) -> tuple[Header, ...]:
    headers = []
    for place, name in enumerate(names, start=1):
        unit = _without_brackets(units[place - 1]) if place <= len(units) else ""
        plain = parse_header(name, place)
        text = f"{plain.text} [{unit}]"
        headers.append(parse_header(text, place) if unit and plain.unit is None else plain)
        if unit and plain.nameless:
            headers[-1] = Header(text, plain.name, unit, place, nameless=True)
    return tuple(headers)


def _joined(rows: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Lines of groups and, last, of names as one: a group holds until the next one begins."""
    columns: list[list[str]] = [[] for _ in rows[0]]
    for row in rows[:-1]:
        group = ""
        for place, cell in enumerate(row):
            group = cell or group
            if group:
                columns[place].append(group)
    for place, cell in enumerate(rows[-1]):
        if cell:
            columns[place].append(cell)
    return tuple(" ".join(dict.fromkeys(parts)) for parts in columns)


# ------------------------------------------------------------------------------------------------------------- kinds of lines


def _first_full_row(rows: Sequence[Record]) -> int:
    """The place of the first row that is as wide as most rows of numbers and no such row itself; 0 where there is none."""
    rows = rows[:_LOOKED_AT]
    widths = Counter(_width(cells) for _, cells in rows if _looks_like_data(cells))
    if not widths:
        widths = Counter([max(_width(cells) for _, cells in rows)])
    most = max(widths.values())
    width = max(width for width, count in widths.items() if count == most)
    if _width(rows[0][1]) >= width:
        return 0
    for place, (_, cells) in enumerate(rows):
        if _looks_like_data(cells) and _width(cells) >= width:
            return 0
        if _width(cells) >= width:
            return place
    return 0


def _last_before_numbers(rows: Sequence[Record], start: int) -> int:
    """Where blanks separate the columns, a title may have as many words as there are columns: the last line above the numbers counts."""
    numbers = next((place for place, (_, cells) in enumerate(rows) if _looks_like_data(cells)), 0)
    place = numbers - 1
    while place > start and (_is_units_row(rows[place][1], ()) or _width(rows[place][1]) != _width(rows[numbers][1])):
        place -= 1
    return max(place, start)


def _header_in_comment(records: Records) -> Comment | None:
    """The last comment above the first row, where the file has no other header and it has a text for each column."""
    if not records.rows:
        return None
    (line, first), *rest = records.rows
    above = [comment for comment in records.comments if comment.line < line]
    if not above or not _looks_like_data(first) or (rest and not _same_kinds(first, rest[0][1])):
        return None
    cells = above[-1].cells
    if len(cells) != _width(first) or not all(cells) or _looks_like_data(cells):
        return None
    return above[-1]


def _looks_like_data(cells: tuple[str, ...]) -> bool:
    """Whether at least half of the cells that hold something are numbers or times, and there is one."""
    filled = [cell for cell in cells if not is_empty(cell)]
    kinds = [_is_numeric(cell) for cell in filled]
    return any(kinds) and 2 * sum(kind is not False for kind in kinds) >= len(filled)


def _same_kinds(cells: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether numbers stand where numbers stand, and words where words stand."""
    pairs = [(_is_numeric(one), _is_numeric(other)) for one, other in zip(cells, others, strict=False)]
    return all(one == other for one, other in pairs if one is not None and other is not None)


def _is_numeric(cell: str) -> bool | None:
    """Whether a cell is a number or a time; None where it says nothing."""
    return None if is_empty(cell) or is_mark(cell) else looks_like_number(cell) or is_time(cell)


def _is_units_row(cells: tuple[str, ...], headers: Sequence[Header]) -> bool:
    """Whether the cells that hold something are units, below headers that have none."""
    units = [cell for cell in cells if cell]
    if not units or any(header.unit is not None for header in headers):
        return False
    if _is_bracketed(cells):
        return True
    plain = [_without_brackets(unit) for unit in units]
    if any(unit != "1" and looks_like_number(unit) for unit in plain):
        return False
    return all(unit in ("1", "") or is_unit(unit) for unit in plain) and any(unit not in ("1", "-", "") for unit in plain)


def _is_bracketed(cells: tuple[str, ...]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(re.fullmatch(r"\[[^\[\]]*\]|\([^()]*\)", cell) is not None for cell in filled)


def _is_groups(names: tuple[str, ...], below: tuple[str, ...]) -> bool:
    """Whether a line of names below makes the header above it a line of groups: it has gaps or repetitions, and names fill them."""
    groups = [cell for cell in names if cell]
    words = [cell for cell in below if cell]
    if not groups or len(words) <= len(set(groups)) or (len(set(groups)) == len(names)):
        return False
    if any(looks_like_number(cell) or is_empty(cell) or is_mark(cell) or is_time(cell) for cell in words):
        return False
    width = max(len(names), len(below))
    joined = _joined([names + ("",) * (width - len(names)), below + ("",) * (width - len(below))])
    return len({text for text in joined if text}) == sum(1 for text in joined if text) and not _is_units_row(below, ())


def _has_gap(cells: tuple[str, ...]) -> bool:
    """Whether an empty cell stands before the last that holds something, as in groups and not in a title or `name;value`."""
    return not all(cells[: _width(cells)])


def _without_brackets(unit: str) -> str:
    return unit[1:-1].strip() if _is_bracketed((unit,)) else unit


def _width(cells: tuple[str, ...]) -> int:
    """The number of cells up to the last that holds something."""
    return next((place for place in range(len(cells), 0, -1) if cells[place - 1]), 0)


def _shown(cells: tuple[str, ...]) -> str:
    text = " ".join(cell for cell in cells if cell)
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_headers(split: Split, source: str, commented: bool, problems: Problems) -> None:
    """Equal headers, and headers that are numbers, are problems."""
    place = f"{source}, line {split.line}" if split.line is not None else f"{source}: header under [data]"
    first: dict[str, Header] = {}
    for header in split.headers:
        if header.text in first:
            problems.add(
                f"{place}: columns {first[header.text].position} and {header.position} are both called '{header.text}'. "
                "Give each column its own name."
            )
        first.setdefault(header.text, header)
    named = [header for header in split.headers if not header.nameless]
    if named and all(is_plain_number(header.text) for header in named) and not any("expected a header" in text for text in problems.found):
        hint = " (a line that begins with '#' is a comment)" if commented else ""
        problems.add(
            f"{place}: expected a header line with units, {_EXAMPLE}, but found numbers only{hint}. "
            f"If the file has no header, write {_NAMES_BY_HAND}."
        )
