"""Workbooks (.xlsx) to rows of text cells: what a person sees in them, as far as that is a value."""

from __future__ import annotations

import datetime
import io
import warnings
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kinetix.errors import DataError, nearest
from kinetix.experiments import Layout, Table, table_of_cells

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell

XLSX_MARK, XLS_MARK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # a zip archive; a compound document

Row = tuple[int, tuple[str, ...]]


def workbook_tables(content: bytes, name: str, sheets: Sequence[str], layout: Layout) -> list[Table]:
    """The tables of the wanted sheets of a workbook.

    Args:
        content: the file's bytes.
        name: the file's name, for messages.
        sheets: names of sheets; `("*",)` for every sheet that holds anything; the only such sheet where empty.
        layout: how the sheets are laid out, where it does not show.

    Raises:
        DataError: not a workbook, no such sheet, several sheets to choose from, formulas without stored values, or no table.
    """
    rows_of = _rows_by_sheet(content, name)
    filled = [sheet for sheet, rows in rows_of.items() if rows]
    if not filled:
        raise DataError(f"{name} is empty: no sheet holds anything. Expected a header row with units and rows of numbers.")
    for sheet in sheets:
        if sheet != "*" and sheet not in rows_of:
            raise DataError(f"{name} has no sheet '{sheet}' (it has {_listed(list(rows_of))}).{nearest(sheet, rows_of)}")
    if not sheets and len(filled) > 1:
        raise DataError(
            f'{name} has several sheets: {_listed(filled)}. Say which: sheet = "{filled[0]}" under [data], '
            f'several as a list, or sheet = "*" for all.'
        )
    chosen = filled if "*" in sheets or not sheets else list(sheets)
    if len(chosen) == 1:
        return [table_of_cells(rows_of[chosen[0]], name, layout)]
    return [table_of_cells(rows_of[sheet], f"{name}, sheet '{sheet}'", layout, label=sheet) for sheet in chosen]


def _rows_by_sheet(content: bytes, name: str) -> dict[str, list[Row]]:
    """Sheet -> its rows that hold anything, with their numbers. Hidden sheets are left out, charts too."""
    if content.startswith(XLS_MARK):
        raise DataError(
            f"{name} is a spreadsheet workbook in the old .xls form (or encrypted). Save it as .xlsx, or the sheet as CSV (UTF-8)."
        )
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles, validation rules and other parts that hold no values
        try:
            shown = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
            formulas = openpyxl.load_workbook(io.BytesIO(content), data_only=False)
        except (InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError, SyntaxError):
            raise DataError(
                f"{name} is a spreadsheet workbook that cannot be read as .xlsx. Save it as .xlsx, or the sheet as CSV (UTF-8)."
            ) from None
    found: dict[str, list[Row]] = {}
    for sheet in shown.worksheets:
        if sheet.sheet_state != "visible":
            continue
        uncalculated = [
            cell.coordinate
            for row in formulas[sheet.title].iter_rows()
            for cell in row
            if cell.data_type == "f" and sheet[cell.coordinate].value is None
        ]
        if uncalculated:
            raise DataError(
                f"{name}, sheet '{sheet.title}', cell {uncalculated[0]}: a formula without a stored value"
                f"{f' (so are {len(uncalculated) - 1} more)' if len(uncalculated) > 1 else ''}. "
                "Open the workbook in a spreadsheet program and save it there, or save the values."
            )
        rows = [(number, tuple(_text(cell) for cell in row)) for number, row in enumerate(sheet.iter_rows(), start=1)]
        found[sheet.title] = [(number, cells) for number, cells in rows if any(cells)]
    return found


def _text(cell: Cell | Any) -> str:
    """A cell as text: numbers to the last digit, percentages with their sign, times as ISO stamps or h:mm:ss."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        if "%" in (cell.number_format or ""):
            return f"{_number(round(value * 100, 12))} %"
        return _number(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ") if value.microsecond else f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time):
        return value.isoformat() if value.microsecond else f"{value:%H:%M:%S}"
    if isinstance(value, datetime.timedelta):
        return _duration(value)
    return str(value).strip()


def _number(value: float) -> str:
    """The shortest text that gives the number back; whole numbers without a point."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _duration(value: datetime.timedelta) -> str:
    seconds, microseconds = divmod(round(value / datetime.timedelta(microseconds=1)), 1_000_000)
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" + (f".{microseconds:06d}" if microseconds else "")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
