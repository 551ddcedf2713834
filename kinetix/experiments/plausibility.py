"""What a condition can be: a temperature above absolute zero, nothing negative that cannot be; and what it probably is."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping

import numpy as np

from kinetix.errors import KinetixWarning, Problems, nearest
from kinetix.experiments.recognition import Column, Meaning, Recognition, Vocabulary, describe
from kinetix.experiments.sheet import Sheet
from kinetix.units import AMOUNT, CONCENTRATION, FLOW, MASS, PRESSURE, TEMPERATURE, TIME, VOLUME

COLDEST, HOTTEST = 150.0, 3000.0  # K; outside, a temperature is probably in another unit than its header says
_NEVER_NEGATIVE = frozenset({CONCENTRATION, PRESSURE, TIME, TIME**-1, VOLUME, FLOW, AMOUNT, MASS})


def check_temperature(kelvin: float, written: str) -> str | None:
    """A sentence about a temperature that is probably in another unit than it says, or None.

    `kelvin` is the temperature in K, `written` its text with the unit.

    >>> check_temperature(25.0, "25 K")
    'T = 25 K is outside 150-3000 K. Did you mean 25 degC (298.15 K)?'
    >>> check_temperature(298.15, "25 degC") is None
    True
    """
    if COLDEST <= kelvin <= HOTTEST:
        return None
    celsius = kelvin + 273.15
    in_kelvin = written.split()[-1:] in (["K"], ["kelvin"])
    meant = f" Did you mean {kelvin:.10g} degC ({celsius:.10g} K)?" if in_kelvin and COLDEST <= celsius <= HOTTEST else ""
    return f"T = {written} is outside {COLDEST:g}-{HOTTEST:g} K.{meant}"


def check_conditions(sheet: Sheet, vocabulary: Vocabulary, problems: Problems) -> None:
    """What is set cannot be negative, and a temperature is above absolute zero."""
    for column in sheet.recognition.having("condition"):
        numbers, dimension = sheet.conditions.get(column.meaning.name), vocabulary.conditions[column.meaning.name]
        if numbers is None:
            continue
        if dimension == TEMPERATURE:
            rows, wrong = np.flatnonzero(numbers <= 0), "not above absolute zero"
        elif dimension in _NEVER_NEGATIVE:
            rows, wrong = np.flatnonzero(numbers < 0), "negative"
        else:
            continue

        def says(row: int, column: Column = column, wrong: str = wrong) -> str:
            return f"{describe(column.meaning)} is {sheet.written(row, column)}, which is {wrong}."

        sheet.report(problems, column, rows, says)


def check_constants(
    constants: Mapping[str, float], vocabulary: Vocabulary, recognitions: Iterable[Recognition], problems: Problems
) -> None:
    """A condition is known to the model, and is given once: for all experiments, or by a column."""
    recognitions = tuple(recognitions)
    for name, value in constants.items():
        if name not in vocabulary.conditions:
            known = ", ".join(vocabulary.conditions)
            problems.add(f"conditions: '{name}' is no condition of the model (known: {known}).{nearest(name, vocabulary.conditions)}")
        elif not math.isfinite(value):
            problems.add(f"conditions: {describe(Meaning('condition', name))} is {value}, which is not a finite number.")
        for recognition in recognitions:
            column = recognition.find("condition", name)
            if column:
                problems.add(
                    f"{recognition.table.source}: column '{column.header.text}' gives {describe(column.meaning)}, which the conditions "
                    "give for all experiments too. Remove one, or list the column under 'ignore'."
                )


def warn_of_temperatures(sheet: Sheet, vocabulary: Vocabulary) -> None:
    for column in sheet.recognition.having("condition"):
        if vocabulary.conditions[column.meaning.name] != TEMPERATURE:
            continue
        numbers = sheet.conditions[column.meaning.name]
        odd = np.flatnonzero((numbers < COLDEST) | (numbers > HOTTEST))
        if len(odd):
            others = f" So {'is 1 more row' if len(odd) == 2 else f'are {len(odd) - 1} more rows'}." if len(odd) > 1 else ""
            sentence = check_temperature(float(numbers[odd[0]]), sheet.written(odd[0], column))
            warnings.warn(f"{sheet.table.source}, line {sheet.table.lines[odd[0]]}: {sentence}{others}", KinetixWarning, stacklevel=3)
