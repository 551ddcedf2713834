"""Headers to quantities: which column is what, in which unit.

The spellings of a header are those of `kinetix.experiments.spellings`; `columns` in the study file overrules them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kinetix.characters import look_alike
from kinetix.errors import Problems, UnitError, nearest
from kinetix.experiments.clock import Form, form_of, is_form
from kinetix.experiments.headers import Header, parse_header
from kinetix.experiments.spellings import Spellings, ending_in_unit, plain
from kinetix.experiments.table import Table, header_named
from kinetix.experiments.vocabulary import Meaning, Role, Vocabulary, describe, dimension_of
from kinetix.units import Dimension, Unit, example_unit, parse_unit, require


@dataclass(frozen=True)
class Column:
    """A column of a table with its meaning; `unit` is None for text and where the unit could not be read (told as a problem).

    Attributes:
        form: how a column of clock times or date stamps writes them; `unit` is then the one in which times are told.
        progress: whether the response is how far the column's numbers have come from their first to their last in each experiment.
    """

    header: Header
    meaning: Meaning
    unit: Unit | None = None
    form: Form | None = None
    progress: bool = False


@dataclass(frozen=True)
class Recognition:
    """The meaning of every column of one table.

    `note` says it in a sentence; `used` holds the keys of `columns` and the entries of `ignore` that this table has.
    """

    table: Table
    columns: tuple[Column, ...]
    note: str
    used: frozenset[str]

    def find(self, role: Role, name: str = "") -> Column | None:
        """The column of that meaning, if the table has it."""
        return next((column for column in self.columns if column.meaning == Meaning(role, name)), None)

    def having(self, role: Role) -> tuple[Column, ...]:
        """All columns of a role, left to right."""
        return tuple(column for column in self.columns if column.meaning.role == role)

    @property
    def long(self) -> bool:
        """Whether each row holds one reading and names what was read."""
        return bool(self.having("value"))


def recognise(
    table: Table,
    vocabulary: Vocabulary,
    *,
    columns: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    progress: Mapping[str, str] | None = None,
    selecting: Collection[str] = (),
    problems: Problems,
) -> Recognition:
    """Find the meaning and the unit of every column; what cannot be recognised becomes a problem.

    Args:
        table: the table.
        vocabulary: what the model knows.
        columns: what a column is -> its header in the file, with the unit in brackets where the header has none:
            `{"1/tau": "sv [1/min]", "experiment": "run"}`. Entries that this table does not have are left to the caller (see `used`).
        ignore: headers, or their names without the unit, of columns to pass over.
        progress: response -> the header of the column whose progress it is.
        selecting: headers, or their names, of columns that chose the rows; one without a meaning of its own is passed over.
        problems: receives one sentence per problem.

    Returns:
        Recognition: the columns left to right; unrecognised columns are left out.

    >>> from kinetix.experiments.table import parse_table
    >>> from kinetix.units import CONCENTRATION, TEMPERATURE, TIME
    >>> vocabulary = Vocabulary(("A",), {"A": CONCENTRATION}, {"T": TEMPERATURE, "tau": TIME, "feed.A": CONCENTRATION})
    >>> table = parse_table("Temp [degC];tau (min);CA0 [mol/L];c_A [mol/L];note\\n20;5;1,0;0,4;first\\n", "tank.csv")
    >>> recognition = recognise(table, vocabulary, problems=(problems := Problems()))
    >>> print(recognition.note.replace("; ", ";\\n  "))
    tank.csv: 'Temp [degC]' is the temperature T;
      'tau (min)' is the residence time tau;
      'CA0 [mol/L]' is the feed of A;
      'c_A [mol/L]' is the response A;
      'note' is text: kept as remark.
    >>> problems.found
    []
    """
    spellings = Spellings(vocabulary)
    mapped = _mapped_headers(table, columns or {}, spellings, problems) | _progressing(table, progress or {}, spellings)
    passed = {header.position: name for name in ignore for header in table.headers if name in (header.text, header.name)}
    chose = {header.position for name in selecting if (header := header_named(table, name)) is not None}
    found: list[Column] = []
    for header in table.headers:
        if header.position in mapped:
            entry = mapped[header.position]
            candidates, unit = entry.candidates, entry.unit
            if entry.progress:
                found.append(Column(header, candidates[0], parse_unit("-"), progress=True))
                continue
        elif header.position in passed:
            found.append(Column(header, Meaning("ignored")))
            continue
        else:
            candidates, unit = spellings.of_header(header)
            if not candidates:
                candidates, unit = ending_in_unit(header, spellings)
        candidates = _decided(candidates, unit, vocabulary)
        if len(candidates) > 1:
            problems.add(_ambiguous(table, header, candidates, unit, vocabulary))
        elif candidates:
            found.append(_column(table, header, candidates[0], unit, vocabulary, problems))
        elif header.position in chose:
            found.append(Column(header, Meaning("ignored")))
        else:
            found.extend(_leftover(table, header, spellings, problems))
    found = _without_lone_long_form(table, found, spellings, problems)
    _check_unique(table, found, problems)
    _check_place(table, found, vocabulary, problems)
    note = f"{table.source}: " + "; ".join(f"'{column.header.text}' is {_in_note(column, mapped)}" for column in found) + "."
    used = {entry.key for entry in mapped.values()} | set(passed.values())
    return Recognition(table, tuple(found), note, frozenset(used))


def check_columns(
    columns: Mapping[str, str],
    ignore: Collection[str],
    vocabulary: Vocabulary,
    recognitions: Iterable[Recognition],
    problems: Problems,
    *,
    progress: Mapping[str, str] | None = None,
    only: Collection[str] = (),
) -> None:
    """Problems of the entries of `columns`, `ignore`, `progress` and `only`: an unknown meaning, or a header that no table has."""
    spellings = Spellings(vocabulary)
    recognitions = tuple(recognitions)
    used = frozenset[str]().union(*(recognition.used for recognition in recognitions))
    tables = [recognition.table for recognition in recognitions]
    headers = list(dict.fromkeys(header.text for table in tables for header in table.headers))
    names = headers + [header.name for table in tables for header in table.headers]
    have = f"{tables[0].source} has {_listed(headers)}" if len(tables) == 1 else f"the columns are {_listed(headers)}"
    for key, text in columns.items():
        if not spellings.of(key):
            problems.add(
                f"columns: '{key}' is nothing that a column can be here. Known: {_listed(spellings.own())}.{nearest(key, spellings.own())}"
            )
        elif key not in used:
            problems.add(f"columns: no table has a column '{text}' for {key}; {have}.{nearest(parse_header(text).name, names)}")
    for key, text in (progress or {}).items():
        if key not in vocabulary.responses:
            known = _listed(vocabulary.responses) or "none"
            problems.add(f"progress: '{key}' is no response of the model (known: {known}).{nearest(key, vocabulary.responses)}")
        elif key not in used:
            problems.add(f"progress: no table has one column '{text}' for {key}; {have}.{nearest(text, names)}")
    for text in only:
        if not any(header_named(table, text) for table in tables):
            problems.add(f"only: no table has one column '{text}'; {have}.{nearest(text, names)}")
    for text in ignore:
        if text not in used and text not in columns.values():
            problems.add(f"ignore: no table has a column '{text}'; {have}.{nearest(text, names)}")


def response_named(text: str, vocabulary: Vocabulary) -> str | None:
    """The response that a label in long form means, by the same spellings as headers, or None."""
    names = [meaning.name for meaning in Spellings(vocabulary).of(text) if meaning.role == "response"]
    return names[0] if len(names) == 1 else None


def _ambiguous(table: Table, header: Header, candidates: tuple[Meaning, ...], unit: str | None, vocabulary: Vocabulary) -> str:
    either = " or ".join(describe(candidate) for candidate in candidates)
    text = header.text if unit is not None else f"{header.text} [{_example(dimension_of(candidates[0], vocabulary))}]"
    return (
        f"{table.source}: column '{header.text}' may be {either}. "
        f"Say which, with its unit: columns = {{ {_key(candidates[0])} = {_quoted(text)} }}."
    )


@dataclass(frozen=True)
class _Entry:
    key: str
    candidates: tuple[Meaning, ...]
    unit: str | None
    progress: bool = False


def _mapped_headers(table: Table, columns: Mapping[str, str], spellings: Spellings, problems: Problems) -> dict[int, _Entry]:
    """Position -> entry of `columns`, for the entries whose header this table has."""
    mapped: dict[int, _Entry] = {}
    for key, text in columns.items():
        candidates = spellings.of(key)
        wanted = parse_header(text)
        matches = (
            [header for header in table.headers if header.text == wanted.text]
            or [header for header in table.headers if header.text == wanted.name]
            or [header for header in table.headers if header.name == wanted.name]
        )
        if not candidates or not matches:
            continue
        if len(matches) > 1:
            problems.add(
                f"columns: {table.source} has several columns '{wanted.name}': {_listed([header.text for header in matches])}. "
                "Write the whole header."
            )
            continue
        header = matches[0]
        unit = header.unit if header.text == wanted.text or wanted.unit is None else wanted.unit
        if unit != header.unit and header.unit is not None and not _same_unit(unit, header.unit):
            problems.add(
                f"columns: {table.source} has the column '{header.text}', but columns says '{text}' for {key}. "
                "Write the unit that the numbers have, in one place."
            )
        if header.position in mapped:
            problems.add(f"columns: '{header.text}' is given both as {mapped[header.position].key} and as {key}. A column is one thing.")
        mapped[header.position] = _Entry(key, candidates, unit)
    return mapped


def _progressing(table: Table, progress: Mapping[str, str], spellings: Spellings) -> dict[int, _Entry]:
    """Position -> response, for the columns whose progress is one."""
    entries: dict[int, _Entry] = {}
    for key, text in progress.items():
        header = header_named(table, text) or header_named(table, parse_header(text).name)
        if header is not None and key in spellings.vocabulary.responses:
            entries[header.position] = _Entry(key, (Meaning("response", key),), header.unit, progress=True)
    return entries


def _same_unit(one: str | None, other: str) -> bool:
    """Whether two texts are the same unit; a text that is no unit (a remark in brackets) contradicts none."""
    try:
        first, second = parse_unit(one or ""), parse_unit(other)
    except UnitError:
        return True
    return (first.factor, first.offset, first.dimension) == (second.factor, second.offset, second.dimension)


def _decided(candidates: tuple[Meaning, ...], unit: str | None, vocabulary: Vocabulary) -> tuple[Meaning, ...]:
    """The candidates that the unit leaves open; without one, a name of experiments or of what was measured."""
    if len(candidates) < 2:
        return candidates
    if unit is None:
        return tuple(candidate for candidate in candidates if candidate.role in ("experiment", "label")) or candidates
    try:
        dimension = parse_unit(unit).dimension
    except UnitError:
        return candidates
    return tuple(candidate for candidate in candidates if dimension_of(candidate, vocabulary) == dimension) or candidates


def _column(table: Table, header: Header, meaning: Meaning, unit: str | None, vocabulary: Vocabulary, problems: Problems) -> Column:
    """A column with its unit, or the form in which it writes times."""
    if meaning.role == "time" and vocabulary.timed:
        form, two_readings = form_of([cell for cell in table.cells(header) if not table.is_missing(cell)], unit)
        if two_readings:
            example = f"{header.name} [{'dd/mm/yyyy' if form is not None and form.dates else 'hh:mm'}]"
            problems.add(f"{table.source}: column '{header.text}': {two_readings}, for example columns = {{ time = {_quoted(example)} }}.")
            return Column(header, meaning)
        if form is not None:
            told = "min" if unit is None or is_form(unit) else unit
            return Column(header, meaning, _unit(table, header, meaning, told, vocabulary, problems), form)
    return Column(header, meaning, _unit(table, header, meaning, unit, vocabulary, problems))


def _unit(table: Table, header: Header, meaning: Meaning, text: str | None, vocabulary: Vocabulary, problems: Problems) -> Unit | None:
    """The unit of a column of numbers, checked against its meaning; what is wrong becomes a problem."""
    if meaning.role in ("experiment", "label", "ignored") or (meaning.role == "time" and not vocabulary.timed):
        return None
    dimension = dimension_of(meaning, vocabulary)
    if text is None and (dimension is None or dimension.dimensionless) and table.in_percent(header):
        text = "%"
    if text is None:
        if vocabulary.needs_unit or not (dimension is None or dimension.dimensionless):
            example = f"{header.text} [{_example(dimension)}]"
            known = f" ({describe(meaning)})" if meaning.name not in ("", header.text) else ""
            problems.add(
                f"{table.source}: column '{header.text}'{known} has no unit. Write '{example}' in the header, "
                f"or columns = {{ {_key(meaning)} = {_quoted(example)} }}."
            )
            return None
        text = "1"
    try:
        unit = parse_unit(text)
    except UnitError as error:
        for problem in error.problems:
            problems.add(f"{table.source}: column '{header.text}': {problem}")
        return None
    with problems.collecting():
        return unit if dimension is None else require(unit, dimension, f"{table.source}: column '{header.text}', {describe(meaning)},")
    return None


def _example(dimension: Dimension | None) -> str:
    if dimension is None:
        return "mol/L"
    return "%" if dimension.dimensionless else example_unit(dimension)


def _leftover(table: Table, header: Header, spellings: Spellings, problems: Problems) -> Iterable[Column]:
    """A column that matches nothing: words are remarks, emptiness is passed over, numbers are a problem."""
    if header.unit is None and (all(table.is_missing(cell) for cell in table.cells(header)) or _numbers_the_rows(table, header)):
        yield Column(header, Meaning("ignored"))
    elif header.unit is None and table.is_text(header):
        yield Column(header, Meaning("remark"))
    elif header.nameless:
        problems.add(
            f"{table.source}: column {header.position} has no header. Write one, for example 'time [s]', say what it is, "
            f"columns = {{ time = \"{header.name} [s]\" }}, or list '{header.name}' under 'ignore'."
        )
    else:
        vocabulary = spellings.vocabulary
        responses, conditions = _listed(vocabulary.responses) or "none", _listed(vocabulary.conditions) or "none"
        problems.add(
            f"{table.source}: column '{header.text}' is neither a response (known: {responses}) "
            f"nor a condition (known: {conditions}) of the model. "
            "Rename it, say what it is under 'columns', or list it under 'ignore'."
            f"{look_alike(plain(header.name), spellings.aliases) or nearest(header.name, spellings.own())}{_computed(header, vocabulary)}"
        )


_COMPUTED = ("absorbance", "conversion", "fraction", "selectivity", "signal", "yield")
"""Words for what is measured and is no amount of a species."""


def _computed(header: Header, vocabulary: Vocabulary) -> str:
    """What to write where such a word stands in the header and no response has its name."""
    if not any(word in header.name.lower() for word in _COMPUTED):
        return ""
    before = "feed" if any(name.startswith("feed.") for name in vocabulary.conditions) else "initial"
    return f' If it follows from amounts of species, write how under [responses] in a study: conversion = "1 - [A]/{before}[A]".'


def _numbers_the_rows(table: Table, header: Header) -> bool:
    """Whether a column without a header counts the rows, as tables written by programs begin."""
    counts = [str(row) for row in range(len(table.rows) + 1)]
    return header.nameless and header.position == 1 and len(counts) > 2 and list(table.cells(header)) in (counts[:-1], counts[1:])


def _without_lone_long_form(table: Table, found: list[Column], spellings: Spellings, problems: Problems) -> list[Column]:
    """A label without values, or values without labels, is a column like any other."""
    roles = [column.meaning.role for column in found]
    if ("label" in roles) == ("value" in roles):
        return found
    kept: list[Column] = []
    for column in found:
        if column.meaning.role in ("label", "value"):
            kept.extend(_leftover(table, column.header, spellings, problems))
        else:
            kept.append(column)
    return kept


def _check_unique(table: Table, found: list[Column], problems: Problems) -> None:
    first: dict[Meaning, Column] = {}
    for column in found:
        if column.meaning in first and column.meaning.role not in ("remark", "ignored"):
            problems.add(
                f"{table.source}: columns '{first[column.meaning].header.text}' and '{column.header.text}' are both "
                f"{describe(column.meaning)}. List one of them under 'ignore'."
            )
        first.setdefault(column.meaning, column)


def _check_place(table: Table, found: list[Column], vocabulary: Vocabulary, problems: Problems) -> None:
    """Columns that are known but have no place in this kind of table."""
    roles = {column.meaning.role for column in found}
    measured = {column.meaning.name for column in found if column.meaning.role == "response"}
    for column in found:
        where = f"{table.source}: column '{column.header.text}'"
        if column.meaning.role == "time" and not vocabulary.timed:
            stream = f", or say that it is the time on stream, columns = {{ t_on_stream = {_quoted(column.header.text)} }}"
            problems.add(
                f"{where} is a time, but this model has none: each row is an experiment of its own. List it under 'ignore'"
                f"{stream if 't_on_stream' in vocabulary.conditions else ''}."
            )
        elif column.meaning.role == "response" and "value" in roles:
            problems.add(f"{where} is a response of its own beside a column of values. Write all readings as rows or all as columns.")
        elif column.meaning.role == "sigma" and column.meaning.name and column.meaning.name not in measured and "value" not in roles:
            problems.add(f"{where} is {describe(column.meaning)}, but the table has no column for {column.meaning.name}.")
    if vocabulary.timed and "time" not in roles:
        problems.add(f"{table.source} has no column for the time. Write its header for example as 'time [s]' or name it under 'columns'.")


def _in_note(column: Column, mapped: Mapping[int, _Entry]) -> str:
    words = describe(column.meaning)
    entry = mapped.get(column.header.position)
    if column.progress:
        return f"{words}, as progress from its first (0) to its last (1) number in each experiment"
    if column.form is not None and column.unit is not None:
        return f"{words}, as {'date stamps' if column.form.dates else 'clock times'}, in {column.unit.text}"
    if column.meaning.role == "ignored" and column.header.nameless and not entry:
        return "ignored (it counts the rows or is empty)"
    if column.unit is not None and entry is None and column.unit.text not in ("-", "1", column.header.unit):
        return f"{words}, in {column.unit.text}"
    if entry and column.unit is not None and entry.unit != column.header.unit:
        return f"{words}, {'a pure number' if column.unit.text in ('-', '1') else f'in {column.unit.text}'}"
    return words


def _listed(names: Iterable[str], most: int = 12) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _key(meaning: Meaning) -> str:
    """A meaning as a key of `columns`."""
    if meaning.role == "sigma" and meaning.name:
        return _quoted(f"sigma.{meaning.name}")
    word = meaning.name or {"label": "response"}.get(meaning.role, meaning.role)
    return word if re.fullmatch(r"[A-Za-z0-9_-]+", word) else _quoted(word)


def _quoted(text: str) -> str:
    return f'"{text}"'
