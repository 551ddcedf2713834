"""One cell: a number, a mark that says nothing was measured, or neither; and how a whole table writes its numbers.

Decimal marks and thousands separators are judged for the whole table: one `1,5` says that commas are decimal, one `1,234.5` or `0.5` says
that points are. Where every number with a comma could be either (`1,234`), nothing is assumed. A point in a file of decimal commas
(`905.123`) separates thousands only where some cell shows that points do (`1.234,5`); what was read so is noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

EMPTY = frozenset({"", "nan", "na", "n/a", "#n/a"})
"""Cells that say nothing, and of which nothing is said."""

MARKS = frozenset(
    [
        "n.d.",
        "nd",
        "n. d.",
        "n/d",
        "n.a.",
        "n.m.",
        "n.n.",
        "n.b.",
        "k.a.",
        "not detected",
        "not determined",
        "not measured",
        "*",
        "**",
        "***",
        "-",
        "--",
        "---",
        "–",
        "—",
        ".",
        "..",
        "...",
        "?",
        "null",
        "none",
        "missing",
        "bdl",
        "b.d.l.",
        "bld",
        "lod",
        "loq",
        "<lod",
        "<loq",
        "< lod",
        "< loq",
        ">max",
        "ovr",
        "overflow",
        "over range",
        "ovrflw",
        "#div/0!",
        "#value!",
        "#ref!",
        "#name?",
        "#num!",
        "#null!",
        "#n/v",
        "#wert!",
        "#bezug!",
        "#zahl!",
        "#spill!",
        "#calc!",
        "#valeur!",
        "#nombre!",
        "#valor!",
    ]
)
"""Cells that say that nothing was measured; how many there are and where is noted."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NUMBER_WITH_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
_GROUPS = {
    mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?P<groups>(\{other}\d{{3}})+)(?P<decimals>\{mark}\d*([eE][+-]?\d+)?)?")
    for mark, other in ((".", ","), (",", "."))
}  # decimal mark -> numbers in groups of three, separated by the other mark
_SPACED = re.compile(r"[+-]?\d{1,3}(?P<mark>[' \u2019\u00a0\u202f\u2009])\d{3}((?P=mark)\d{3})*([.,]\d*([eE][+-]?\d+)?)?")
_SPACES = re.compile(r"[' \u2019\u00a0\u202f\u2009]")
_NOT_FINITE = re.compile(r"[+-]?(inf|infinity)", re.IGNORECASE)
_LIMIT = re.compile(r"([<>]=?|[≤≥])\s*(?P<number>\S.*)")
_FORTRAN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)[dD][+-]?\d+")
_NUMBER_AND_TEXT = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?(\s+[^\W\d_].*|[^\W\d_]+)")
_OVERFLOWN = re.compile(r"#{2,}")  # a spreadsheet's column that was too narrow
_PERCENT = re.compile(r"(?P<number>.*\S)\s*%", re.DOTALL)


def _with_plain_minus(cell: str) -> str:
    return cell if cell.isascii() else cell.replace("\u2212", "-").replace("\u2013", "-")


@dataclass(frozen=True)
class Notation:
    """How a table writes numbers: its decimal mark, whether the other mark separates thousands, and whether the user said the mark."""

    decimal: str = "."
    thousands: bool = False
    said: bool = field(default=False, repr=False)

    def number(self, cell: str) -> float | None:
        """The number that a cell holds (infinite where it overflows), or None.

        >>> Notation().number("1.5"), Notation(",").number("1,5"), Notation().number("12'437.5"), Notation().number("1,234,567")
        (1.5, 1.5, 12437.5, 1234567.0)
        >>> Notation().number("1,234"), Notation(thousands=True).number("1,234"), Notation().number("1.234,5")
        (None, 1234.0, None)
        """
        if self.decimal == "." and _NUMBER.fullmatch(cell):  # most cells
            return float(cell)
        plain = _with_plain_minus(cell)
        other = "," if self.decimal == "." else "."
        grouped = _GROUPS[self.decimal].fullmatch(plain)
        if grouped and (self.thousands or grouped["decimals"] or len(grouped["groups"]) > 4):
            plain = plain.replace(other, "")
        elif _SPACED.fullmatch(plain):
            plain = _SPACES.sub("", plain)
        if self.decimal == ",":
            if "." in plain:
                return None
            plain = plain.replace(",", ".")
        return float(plain) if _NUMBER.fullmatch(plain) else None

    def complaint(self, cell: str, commas_separate: bool) -> str:
        """Why a cell is no number, and what to write."""
        plain = _with_plain_minus(cell)
        if _NOT_FINITE.fullmatch(plain) or self.number(cell) is not None:
            return f"'{cell}' is not a finite number."
        if self.decimal == "," and (_NUMBER.fullmatch(plain) or _GROUPS["."].fullmatch(plain)):
            comma = cell.replace(",", "").replace(".", ",")
            mark = 'decimal = "," under [data] says that commas are decimal' if self.said else "this file writes decimal commas"
            if _GROUPS[","].fullmatch(plain):
                return f"'{cell}' may be {cell.replace('.', '')} (thousands separator) or {comma} (decimal point), and {mark}. Write which."
            differ = " Where files differ, leave decimal out: each shows its own." if self.said else ""
            return f"'{cell}' has a decimal point, but {mark}. Write '{comma}', or points in every number.{differ}"
        if _GROUPS["."].fullmatch(plain) and plain.count(",") == 1:
            plainly = cell.replace(",", "")
            return (
                f"'{cell}' may be {plainly} (thousands separator) or {cell.replace(',', '.')} (decimal comma). "
                'Say decimal = "." or decimal = "," under [data], or write it without the comma.'
            )
        if _GROUPS[","].fullmatch(plain):
            mark = 'decimal = "." under [data] says that points are decimal' if self.said else "this file writes decimal points"
            return f"'{cell}' has decimal comma and thousands separators, but {mark}. Write one or the other."
        if _NUMBER_WITH_COMMA.fullmatch(plain):
            if self.said:
                return (
                    f"'{cell}' has a decimal comma, but decimal = \".\" under [data] says that points are decimal. "
                    f"Write '{cell.replace(',', '.')}'. Where files differ, leave decimal out: each shows its own."
                )
            where = " where semicolons, tabs or blanks separate the columns" if commas_separate else " in a file without decimal points"
            return (
                f"'{cell}' seems to have a decimal comma, which is read only{where}. "
                f"Write '{cell.replace(',', '.')}', or say decimal = \",\" under [data]."
            )
        if plain[:1] in "<>~\u2264\u2265":
            return f"'{cell}' is a limit, not a reading, and cannot be used yet. Leave the cell empty or list the column under 'ignore'."
        if _FORTRAN.fullmatch(plain):
            return f"'{cell}' is not a number. Write its exponent with E: '{re.sub('[dD]', 'E', cell)}'."
        if _NUMBER_AND_TEXT.fullmatch(plain):
            return f"'{cell}' is a number with text behind it. Write the number alone, a unit in the header, a remark in another column."
        return f"'{cell}' is not a number. Leave the cell empty where nothing was measured, or name the mark: missing = [\"{cell}\"]."

    def is_lone_group(self, cell: str) -> bool:
        """Whether a cell is read with a thousands separator that only other cells, or the user, explain: `1,234`.

        >>> Notation(thousands=True).is_lone_group("1,234"), Notation(thousands=True).is_lone_group("1,234.5")
        (True, False)
        """
        found = _GROUPS[self.decimal].fullmatch(_with_plain_minus(cell)) if self.thousands else None
        return found is not None and found["decimals"] is None and len(found["groups"]) == 4


DECIMAL_POINT = Notation()


def without_percent(cell: str) -> str | None:
    """What stands before a percent sign, or None where there is none."""
    found = _PERCENT.fullmatch(cell) if "%" in cell else None
    return found["number"] if found else None


def is_limit(cell: str) -> bool:
    """Whether a cell holds a limit rather than a reading: `<0.01`, `> 5`, `≤ 3 %`."""
    found = _LIMIT.fullmatch(cell)
    return found is not None and looks_like_number(found["number"])


def is_empty(cell: str) -> bool:
    """Whether a cell holds nothing: empty, `NaN`, `NA` or `N/A` in any case."""
    return cell.casefold() in EMPTY


def is_mark(cell: str, more: frozenset[str] = frozenset()) -> bool:
    """Whether a cell says that nothing was measured: a mark such as `n.d.`, `*`, `---`, a spreadsheet's error, or a limit.

    Args:
        more: further marks, casefolded.
    """
    if cell[:1].isdigit() and not more:
        return False
    folded = cell.casefold()
    if folded in more:
        return True
    return not cell[:1].isdigit() and (folded in MARKS or _OVERFLOWN.fullmatch(cell) is not None or is_limit(cell))


def looks_like_number(cell: str) -> bool:
    """Whether a cell is a number in some notation, with or without a percent sign."""
    if _NUMBER.fullmatch(cell):
        return True
    plain = _with_plain_minus(without_percent(cell) or cell)
    patterns = (_NUMBER, _NUMBER_WITH_COMMA, *_GROUPS.values(), _SPACED)
    return any(pattern.fullmatch(plain) for pattern in patterns)


def is_plain_number(cell: str) -> bool:
    """Whether a cell is a number with decimal point, as no header is."""
    return _NUMBER.fullmatch(_with_plain_minus(cell)) is not None


def notation_of(columns: Iterable[Iterable[str]], commas_separate: bool, decimal: str | None = None) -> Notation:
    """How the columns of a table write numbers. Columns that hold mostly words say nothing.

    Args:
        columns: the cells of each column.
        commas_separate: whether commas separate the columns; a quoted `1,5` is then no evidence.
        decimal: the decimal mark, where it is known.

    >>> notation_of([["1,5", "2"], ["1.234,5", ""]], False), notation_of([["1,234", "0.5"]], True), notation_of([["1,234"]], False)
    (Notation(decimal=',', thousands=True), Notation(decimal='.', thousands=True), Notation(decimal='.', thousands=False))
    """
    cells = [cell for column in columns for cell in _numbers_of(column)]
    grouped = {mark: any(_certainly_grouped(cell, mark) for cell in cells) for mark in _GROUPS}
    if decimal:  # a lone comma that is not decimal can only be a separator; a lone point is more often a decimal point by mistake
        return Notation(decimal, decimal == "." or grouped[","], said=True)
    comma = grouped[","] or (not commas_separate and any(_certain(cell, ",") for cell in cells))
    point = grouped["."] or any(_certain(cell, ".") for cell in cells)
    if comma and not (commas_separate and point):
        return Notation(",", grouped[","])
    return Notation(".", point)


def _numbers_of(column: Iterable[str]) -> list[str]:
    cells = [cell for cell in column if not is_empty(cell) and not is_mark(cell)]
    numbers = [_with_plain_minus(without_percent(cell) or cell) for cell in cells if looks_like_number(cell)]
    return numbers if 2 * len(numbers) > len(cells) else []


def _certain(cell: str, mark: str) -> bool:
    """Whether a cell can be read with this decimal mark only."""
    pattern, other = (_NUMBER, ",") if mark == "." else (_NUMBER_WITH_COMMA, ".")
    return mark in cell and pattern.fullmatch(cell) is not None and _GROUPS[other].fullmatch(cell) is None


def _certainly_grouped(cell: str, mark: str) -> bool:
    found = _GROUPS[mark].fullmatch(cell)
    return found is not None and (found["decimals"] is not None or len(found["groups"]) > 4)
