"""Files to tables: the bytes are opened and decoded here, and read as tables in `kinetix.experiments`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from kinetix.errors import DataError, InputError, nearest
from kinetix.experiments import Layout, Table, parse_table
from kinetix.io.workbooks import XLS_MARK, XLSX_MARK, workbook_tables

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_AS_IT_SHOWS = Layout()


def read_table(path: str | os.PathLike[str], encoding: str | None = None, layout: Layout = _AS_IT_SHOWS) -> Table:
    r"""The table in a text file whose columns are separated by commas, semicolons, tabs or blanks, or in a workbook of one sheet (.xlsx).

    Args:
        path: the file, `-` for the standard input; its name (without folders) is what messages and labels use.
        encoding: how the text is encoded; UTF-8 with or without a byte-order mark where None.
        layout: where the header is and how numbers are written, where it does not show.

    Returns:
        Table: headers, rows of text cells and line numbers, see `kinetix.experiments.parse_table`.

    Raises:
        DataError: the file is not there, cannot be decoded, has several sheets, or holds no table.

    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "rates.csv")
    >>> _ = path.write_text("T [degC];k [1/s]\n20;0,11\n40;0,52\n", encoding="utf-8")
    >>> table = read_table(path)
    >>> table.source, table.dialect, table.rows
    ('rates.csv', 'columns separated by semicolons, decimal comma', (('20', '0,11'), ('40', '0,52')))
    >>> folder.cleanup()
    """
    return read_sheets(path, encoding, layout=layout)[0]


def read_sheets(
    path: str | os.PathLike[str], encoding: str | None = None, sheets: Sequence[str] = (), layout: Layout = _AS_IT_SHOWS
) -> list[Table]:
    """The tables in a file: one in a text, one per wanted sheet in a workbook.

    Args:
        path, encoding, layout: as for `read_table`.
        sheets: names of a workbook's sheets, `("*",)` for all; empty where the workbook has one. A text has none.

    Raises:
        DataError: as for `read_table`, or a sheet that is not there.
    """
    content, name = content_of(path, DataError)
    if content.startswith((XLSX_MARK, XLS_MARK)):
        return workbook_tables(content, name, sheets, layout)
    return [parse_table(_decoded(content, name, encoding), name, layout)]


def content_of(path: str | os.PathLike[str], kind: type[InputError]) -> tuple[bytes, str]:
    """The bytes of a file, or of the standard input where the path is `-`; and its name, without folders, for messages and labels.

    Raises:
        InputError: of this kind; the file is not there or cannot be read.
    """
    path = Path(path)
    try:
        if is_standard_input(path):
            return sys.stdin.buffer.read(), "standard input"
        return path.read_bytes(), path.name
    except FileNotFoundError:
        raise kind(f"{path}: there is no such file in {path.absolute().parent}.{neighbour(path)}") from None
    except OSError as error:
        raise kind(f"{path} cannot be read: {error.strerror}.") from None


def is_standard_input(path: str | os.PathLike[str]) -> bool:
    """Whether a path means what is piped into the program."""
    return os.fspath(path) in ("-", "/dev/stdin")


def _decoded(content: bytes, name: str, encoding: str | None) -> str:
    if encoding is None and not content.startswith(_UTF16_MARKS) and b"\0" in content:
        line = content.count(b"\n", 0, content.index(0)) + 1
        raise DataError(
            f"{name} is no text: line {line} holds a zero byte. Give a text with columns (CSV) or a workbook (.xlsx); "
            "if it is text in UTF-16, say encoding = 'utf-16'."
        )
    try:
        return content.decode(encoding or "utf-8")
    except LookupError:
        raise DataError(f"{name}: there is no encoding '{encoding}'. Usual ones are 'utf-8', 'latin-1', 'cp1252' and 'utf-16'.") from None
    except UnicodeError as error:
        advice = "'utf-16'" if content.startswith(_UTF16_MARKS) else "'latin-1'"
        where = ""
        if isinstance(error, UnicodeDecodeError):
            line = content.count(b"\n", 0, error.start) + 1
            position = error.start - content.rfind(b"\n", 0, error.start)
            where = f" (byte 0x{content[error.start]:02X} at position {position}, line {line})"
        if encoding is None:
            raise DataError(f"{name} is not UTF-8{where}. Save it as UTF-8 or say encoding = {advice}.") from None
        raise DataError(f"{name} cannot be decoded as {encoding}{where}. Save it as UTF-8 or say another encoding.") from None


def neighbour(path: Path) -> str:
    """` Did you mean 'data.csv'?` for the file most like `path` in its folder, or an empty string."""
    try:
        return nearest(path.name, sorted(entry.name for entry in path.absolute().parent.iterdir()))
    except OSError:
        return ""
