"""Study files and the data files they name: opened here, validated in `kinetix.studies`."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from kinetix.errors import DataError, Problems, StudyError
from kinetix.experiments import Layout, Table
from kinetix.io.results import whole_file
from kinetix.io.tables import neighbour, read_sheets

_PART = re.compile(r"'([^']*)'")
_KEY = re.compile(r"\((?:'[^']*',? ?)+\)")  # ('reactions', 'r1'), as tomllib writes [reactions.r1]
_PLACE = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")


def read_study(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    r"""The text of a study file and the nested mapping that it holds; `kinetix.studies.parse_study` validates it.

    Args:
        path: a TOML file in UTF-8, with or without a byte-order mark.

    Returns:
        (text, mapping).

    Raises:
        StudyError: the file is not there, is not UTF-8, or is not TOML, with line and column.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "study.toml")
    >>> _ = path.write_text('schema = 1\ntitle = Tank\n', encoding="utf-8")
    >>> read_study(path)
    Traceback (most recent call last):
    kinetix.errors.StudyError: study.toml, line 2, column 9: invalid value (found 'title = Tank'). Text and quantities stand in quotes, ...
    >>> folder.cleanup()
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise StudyError(f"{path}: there is no such file in {path.absolute().parent}.{neighbour(path)}") from None
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}.") from None
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise StudyError(f"{path.name} is not UTF-8 (byte 0x{content[error.start]:02X}, line {line}). Save it as UTF-8.") from None
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(_not_toml(path.name, text, str(error))) from None


def study_text(study: Mapping[str, Any]) -> str:
    """A study as the text of a study file.

    >>> print(study_text({"schema": 1, "reactor": {"type": "cstr"}}), end="")
    schema = 1
    <BLANKLINE>
    [reactor]
    type = "cstr"
    """
    return tomli_w.dumps(study)


def write_study(study: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write a study file; `read_study` gives the mapping back.

    Raises:
        OSError: the place cannot be written to.
    """
    with whole_file(path) as partial:
        partial.write_text(study_text(study), encoding="utf-8")
    return Path(path)


def read_tables(
    files: Iterable[str],
    folder: str | os.PathLike[str] = ".",
    encoding: str | None = None,
    sheets: Sequence[str] = (),
    layout: Layout | None = None,
) -> list[Table]:
    """The tables of data files, in order.

    Args:
        files: their names; those that are not absolute are sought in `folder`.
        folder: the study file's folder.
        encoding: of all of them, UTF-8 where None.
        sheets: of those that are workbooks; `("*",)` for all; empty where each has one.
        layout: of all of them, where it does not show.

    Raises:
        DataError: the problems of all files at once.
    """
    problems = Problems()
    tables: list[Table] = []
    for file in files:
        with problems.collecting():
            tables.extend(read_sheets(Path(folder, file), encoding, sheets, layout or Layout()))
    if sheets and tables and not problems.found and all(table.delimiter for table in tables):
        problems.add(f"sheet: {', '.join(table.source for table in tables)} {'is' if len(tables) == 1 else 'are'} text without sheets.")
    problems.raise_if_any(DataError)
    return tables


def _not_toml(name: str, text: str, message: str) -> str:
    place = _PLACE.search(message)
    what = message[: place.start()] if place else message
    what = _KEY.sub(lambda key: f"[{'.'.join(re.findall(_PART, key[0]))}]", f"{what[:1].lower()}{what[1:]}")
    advice = ' Text and quantities stand in quotes, for example k = "0.1 1/min".' if "value" in what else ""
    if place is None or place["line"] is None:
        return f"{name}, end of the file: {what}.{advice}"
    line = text.split("\n")[int(place["line"]) - 1].strip()
    return f"{name}, line {place['line']}, column {place['column']}: {what} (found '{line}').{advice}"
