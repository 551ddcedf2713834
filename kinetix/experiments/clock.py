"""Times written as clock times or date stamps.

`hh:mm:ss`, `[h]:mm:ss` beyond a day, `8:05 PM`, and dates with or without a clock time: `2024-03-01T08:05`, `2024/03/01 08:05:30`,
`01.03.2024 08:05`, `1 Mar 2024`, and `03/01/2024` where the column shows whether the day or the month comes first. `0:30` and
`03/04/2024` can be read in two ways: the column's unit must then say the form, `[hh:mm]`, `[mm:ss]`, `[dd/mm/yyyy]` or `[mm/dd/yyyy]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

DAY = 86400.0

_CLOCK = re.compile(
    r"(?P<first>\d{1,4}):(?P<second>\d{2})(:(?P<third>\d{2}))?([.,](?P<fraction>\d{1,9}))?\s*(?P<half>[ap]\.?m\.?)?", re.IGNORECASE
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = "|".join(_MONTHS)
_DATES = (
    re.compile(r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"),
    re.compile(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4}|\d{2})"),
    re.compile(rf"(?P<day>\d{{1,2}})[- ](?P<name>{_NAMED})[a-z]*\.?[- ,]+(?P<year>\d{{4}})", re.IGNORECASE),
    re.compile(rf"(?P<name>{_NAMED})[a-z]*\.?[- ](?P<day>\d{{1,2}})[- ,]+(?P<year>\d{{4}})", re.IGNORECASE),
)
_SLASHED = re.compile(r"(?P<one>\d{1,2})(?P<mark>[-/])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})")
_BETWEEN = re.compile(r"\s*,?\s+|\s*T\s*(?=\d)|$")
_OFFSET = re.compile(r"\s*(Z|UTC|(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2}))$")
_WRITTEN_FORM = re.compile(r"[dmyhs]+([:/.\- T]+[dmyhsin]+)*", re.IGNORECASE)


@dataclass(frozen=True)
class Form:
    """How a column writes times.

    Attributes:
        dates: whether it writes dates (else clock times).
        day_first: of `03/04/2024`, None where it does not occur.
        minutes_first: whether `0:30` is minutes and seconds (else hours and minutes); None where it does not occur.
    """

    dates: bool
    day_first: bool | None = None
    minutes_first: bool | None = None

    def seconds(self, cell: str) -> float | None:
        """Seconds of a clock time since midnight or zero, of a date since 2000; None for a cell of another form.

        >>> Form(False).seconds("1:02:03"), Form(False, minutes_first=True).seconds("2:30"), Form(False).seconds("abc")
        (3723.0, 150.0, None)
        >>> Form(True).seconds("2024-03-01 08:05") - Form(True).seconds("29.02.2024")
        115500.0
        """
        return _stamp(cell, self.day_first) if self.dates else _clock(cell, self.minutes_first)


def is_form(unit: str | None) -> bool:
    """Whether the unit text of a column is a form of writing times: `hh:mm`, `mm:ss`, `dd/mm/yyyy hh:mm`."""
    return unit is not None and _WRITTEN_FORM.fullmatch(unit) is not None and (":" in unit or "yy" in unit.casefold())


def is_time(cell: str) -> bool:
    """Whether a cell is a clock time or a date in some form."""
    return bool(_CLOCK.fullmatch(cell)) or _date(cell, True) is not None or _date(cell, False) is not None


def is_clock(cell: str) -> bool:
    """Whether a cell is a clock time without a date."""
    return _CLOCK.fullmatch(cell) is not None


def is_date(cell: str) -> bool:
    """Whether a cell is a date without a clock time."""
    return ":" not in cell and is_time(cell)


def form_of(cells: Iterable[str], unit: str | None) -> tuple[Form | None, str]:
    """The form in which most cells of a column write times, or None; and what is wrong with it, as words, where it has two readings.

    Args:
        cells: those that hold something.
        unit: the column's unit text, which may say the form.

    >>> form_of(["13/01/2024", "14/01/2024"], None), form_of(["0:30", "1:00"], "mm:ss"), form_of(["1", "2"], "s")
    ((Form(dates=True, day_first=True, minutes_first=None), ''), (Form(dates=False, day_first=None, minutes_first=True), ''), (None, ''))
    """
    cells = list(cells)
    times = [cell for cell in cells if is_time(cell)]
    if not times or 2 * len(times) <= len(cells):
        return None, ""
    said = (unit or "").casefold() if is_form(unit) else ""
    dates = [cell for cell in times if not _CLOCK.fullmatch(cell)]
    if 2 * len(dates) > len(times):
        return _date_form(dates, said)
    short = [found for cell in times if (found := _CLOCK.fullmatch(cell)) and _is_short(found)]
    if not short:
        return Form(False), ""
    if said:
        return Form(False, minutes_first=said.lstrip().startswith("m")), ""
    return Form(False), (
        f"'{short[0].group()}' may be hours and minutes or minutes and seconds. Say which as the unit of the column: [hh:mm] or [mm:ss]"
    )


def _date_form(dates: Sequence[str], said: str) -> tuple[Form, str]:
    slashed = [found for cell in dates if (found := _SLASHED.match(cell))]
    if not slashed:
        return Form(True), ""
    if said:
        return Form(True, day_first=said.lstrip().startswith("d")), ""
    day_first, month_first = any(int(found["one"]) > 12 for found in slashed), any(int(found["two"]) > 12 for found in slashed)
    if day_first != month_first:
        return Form(True, day_first=day_first), ""
    return Form(True), (
        f"'{slashed[0].group()}' may be day, month, year or month, day, year. "
        "Say which as the unit of the column: [dd/mm/yyyy] or [mm/dd/yyyy]"
    )


def _is_short(found: re.Match[str]) -> bool:
    return found["third"] is None and found["fraction"] is None and found["half"] is None


def _clock(cell: str, minutes_first: bool | None) -> float | None:
    found = _CLOCK.fullmatch(cell)
    if found is None:
        return None
    first, second, third = int(found["first"]), int(found["second"]), int(found["third"] or 0)
    if second > 59 or third > 59:
        return None
    fraction = float(f"0.{found['fraction']}") if found["fraction"] else 0.0
    if found["half"]:
        if not 1 <= first <= 12:
            return None
        first = first % 12 + 12 * (found["half"][0] in "pP")
    elif found["third"] is None and (found["fraction"] or minutes_first):
        return 60.0 * first + second + fraction
    elif found["third"] is None and minutes_first is None:
        return None
    return 3600.0 * first + 60.0 * second + third + fraction


def _date(cell: str, day_first: bool | None) -> tuple[datetime, str] | None:
    """The day that a cell begins with, and the rest of the cell."""
    for pattern in (*_DATES, _SLASHED):
        found = pattern.match(cell)
        if found is None:
            continue
        if pattern is _SLASHED:
            if day_first is None:
                return None
            day, month = (found["one"], found["two"]) if day_first else (found["two"], found["one"])
        else:
            parts = found.groupdict()
            day, name = parts["day"], parts.get("name")
            month = parts["month"] if name is None else str(_MONTHS.index(name.casefold()) + 1)
        year = int(found["year"]) + (2000 if len(found["year"]) == 2 else 0)
        try:
            return datetime(year, int(month), int(day), tzinfo=UTC), cell[found.end() :]
        except ValueError:
            return None
    return None


def _stamp(cell: str, day_first: bool | None) -> float | None:
    found = _date(cell, day_first)
    if found is None:
        return None
    day, rest = found
    between = _BETWEEN.match(rest)
    if between is None:
        return None
    rest, behind_utc = rest[between.end() :], 0.0
    offset = _OFFSET.search(rest)
    if rest and offset:
        rest = rest[: offset.start()]
        if offset["sign"]:
            behind_utc = (3600.0 * int(offset["hours"]) + 60.0 * int(offset["minutes"])) * (-1 if offset["sign"] == "+" else 1)
    clock = _clock(rest, False) if rest else 0.0
    if clock is None or clock > DAY:
        return None
    return (day - datetime(2000, 1, 1, tzinfo=UTC)) / timedelta(seconds=1) + clock + behind_utc


def past_midnight(seconds: Sequence[float], sequence: Callable[[int], object]) -> tuple[list[float], int]:
    """Clock times in the order of the rows, a day later after each step back of more than twelve hours; and how many such steps there are.

    Args:
        sequence: row -> the rows that follow each other in time, for example its experiment.

    >>> past_midnight([86000.0, 400.0], lambda row: "run")
    ([86000.0, 86800.0], 1)
    """
    last: dict[object, tuple[float, float]] = {}
    running: list[float] = []
    steps = 0
    for row, time in enumerate(seconds):
        before, days = last.get(sequence(row), (time, 0.0))
        if before - time > DAY / 2:
            days, steps = days + DAY, steps + 1
        if time == time:
            last[sequence(row)] = time, days
        running.append(time + days)
    return running, steps
