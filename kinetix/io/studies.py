"""Study files and the data files they name: opened here, validated in `kinetix.studies`."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomli_w

from kinetix.errors import DataError, Problems, StudyError
from kinetix.experiments import Layout, Table
from kinetix.io.results import whole_file
from kinetix.io.tables import content_of, is_standard_input, read_sheets

_PART = re.compile(r"'([^']*)'")
_KEY = re.compile(r"\((?:'[^']*',? ?)+\)")  # ('reactions', 'r1'), as tomllib writes [reactions.r1]
_PLACE = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")


def read_study(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    r"""The text of a study file and the nested mapping that it holds; `kinetix.studies.parse_study` validates it.

    Args:
        path: a TOML file in UTF-8 (`-` for the standard input), with or without a byte-order mark.

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
    content, name = content_of(path, StudyError)
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise StudyError(f"{name} is not UTF-8 (byte 0x{content[error.start]:02X}, line {line}). Save it as UTF-8.") from None
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(_not_toml(name, text, str(error))) from None


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
    """The tables of data files, in order. Two that hold the same cells are warned of.

    Args:
        files: their names; those that are not absolute are sought in `folder`.
        folder: the study file's folder.
        encoding: of all of them, UTF-8 where None.
        sheets: of those that are workbooks; `("*",)` for all; empty where each has one.
        layout: of all of them, where it does not show.

    Raises:
        DataError: the problems of all files at once; a file that is named twice.
    """
    files, problems = list(files), Problems()
    _check_named_once(files, folder, problems)
    tables: list[Table] = []
    written: list[str] = []  # the file of each table, as the user wrote it
    for file in dict.fromkeys(files):
        with problems.collecting():
            found = read_sheets(file if is_standard_input(file) else Path(folder, file), encoding, sheets, layout or Layout())
            tables += found
            written += [file] * len(found)
    if sheets and tables and not problems.found and all(table.delimiter for table in tables):
        problems.add(f"sheet: {', '.join(table.source for table in tables)} {'is' if len(tables) == 1 else 'are'} text without sheets.")
    problems.raise_if_any(DataError)
    return _copies_told(tables, written)


def _check_named_once(files: Sequence[str], folder: str | os.PathLike[str], problems: Problems) -> None:
    """A file counts once, however its path is written."""
    first: dict[object, str] = {}
    for file in files:
        try:
            found = os.stat(Path(folder, file))
            key: object = found.st_dev, found.st_ino
        except OSError:  # told where it is read
            key = file
        if key in first:
            other = "" if first[key] == file else f", as '{first[key]}' and as '{file}'"
            problems.add(f"The file '{file}' is named twice{other}; its data would count twice. Name it once.")
        first.setdefault(key, file)


def _copies_told(tables: Sequence[Table], files: Sequence[str]) -> list[Table]:
    """The tables; one that holds the same as an earlier one carries a warning."""
    first: dict[object, tuple[Table, str]] = {}
    told = []
    for table, file in zip(tables, files, strict=True):
        other, other_file = first.setdefault((table.headers, table.rows), (table, file))
        names = f"'{other_file}' and '{file}'" if other_file != file else f"{other.source} and {table.source}"
        count = f"{names} hold the same numbers, {len(table.rows)} rows each, and count as separate measurements."
        sentence = f"{count} If one is a copy, leave it out."
        told.append(table if other is table else replace(table, warnings=(*table.warnings, sentence)))
    return told


def _not_toml(name: str, text: str, message: str) -> str:
    place = _PLACE.search(message)
    what = message[: place.start()] if place else message
    what = _KEY.sub(lambda key: f"[{'.'.join(re.findall(_PART, key[0]))}]", f"{what[:1].lower()}{what[1:]}")
    advice = ' Text and quantities stand in quotes, for example k = "0.1 1/min".' if "value" in what else ""
    if place is None or place["line"] is None:
        return f"{name}, end of the file: {what}.{advice}"
    line = text.split("\n")[int(place["line"]) - 1].strip()
    return f"{name}, line {place['line']}, column {place['column']}: {what} (found '{line}').{advice}"
