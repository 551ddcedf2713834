"""What a condition can be: a temperature above absolute zero, nothing negative that cannot be; and what it probably is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from kinetix.constants import PLAUSIBLE_TEMPERATURES
from kinetix.errors import ConditionError, Problems, nearest
from kinetix.experiments.recognition import Column, Recognition
from kinetix.experiments.sheet import Sheet
from kinetix.experiments.vocabulary import Meaning, Vocabulary, describe
from kinetix.reactors.loading import ABOVE_ZERO
from kinetix.units import AMOUNT, CONCENTRATION, FLOW, MASS, PRESSURE, TEMPERATURE, TIME, VOLUME, Dimension, Quantity

COLDEST, HOTTEST = PLAUSIBLE_TEMPERATURES
LONGEST = 1e18  # s; the universe is 4.4e17 s old, and an integrator has nothing to say about more
UNUSUAL = 10 * 365.25 * 86400.0  # s; ten years, beyond which a time is probably in another unit than it says
BELOW_ZERO = 0.25  # share of the largest reading; published data with noise reach 0.18 below zero, and a sign typed wrong more than this
_NEVER_NEGATIVE = frozenset({CONCENTRATION, PRESSURE, TIME, TIME**-1, VOLUME, FLOW, AMOUNT, MASS})


def check_temperature(kelvin: float, written: str, name: str = "T") -> str | None:
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
    return f"{name} = {written} is outside {COLDEST:g}-{HOTTEST:g} K.{meant}"


def impossible(name: str, dimension: Dimension | None, si: np.ndarray) -> tuple[np.ndarray, str]:
    """Where a condition has a value that it cannot have, and what such a value is, in words. The one rule for columns and constants.

    Args:
        name: of the condition: `T`, `tau`, `feed.A`, ...
        dimension: None where any will do; there is then no rule.
        si: values in SI; NaN passes.

    >>> impossible("T", TEMPERATURE, np.array([300.0, 0.0])), impossible("feed.A", CONCENTRATION, np.array([0.0, -1.0]))
    ((array([False,  True]), 'not above absolute zero'), (array([False,  True]), 'negative'))
    """
    if dimension == TEMPERATURE:
        return si <= 0, "not above absolute zero"
    if dimension == TIME and np.any(si > LONGEST):
        return si > LONGEST, "longer than the universe is old"
    if dimension is not None and ABOVE_ZERO.get(name) == dimension:
        return si <= 0, "not above zero"
    if dimension in _NEVER_NEGATIVE:
        return si < 0, "negative"
    return np.zeros(np.shape(si), dtype=bool), ""


def require_possible(quantity: Quantity, name: str, dimension: Dimension | None, where: str = "") -> Quantity:
    """`quantity` itself, where the condition can have it.

    Args:
        quantity: what is written.
        name: of the condition.
        dimension: of the condition; None where any will do.
        where: what stands before the sentence, for example `[conditions] T`.

    Raises:
        ConditionError: it cannot.

    >>> from kinetix.units import parse_quantity
    >>> require_possible(parse_quantity("-300 K"), "T", TEMPERATURE, "[conditions] T")
    Traceback (most recent call last):
    kinetix.errors.ConditionError: [conditions] T: the temperature T is -300 K, which is not above absolute zero. Correct it.
    """
    prefix, what = f"{where}: " if where else "", describe(Meaning("condition", name))
    if not math.isfinite(quantity.si):
        raise ConditionError(f"{prefix}{what} is {quantity}, which is not a finite number. Correct it.")
    broken, words = impossible(name, dimension, np.array(quantity.si))
    if broken:
        raise ConditionError(f"{prefix}{what} is {quantity}, which is {words}. Correct it.")
    return quantity


def check_conditions(sheet: Sheet, vocabulary: Vocabulary, problems: Problems) -> None:
    """Values of condition columns that cannot be."""
    for column in sheet.recognition.having("condition"):
        name = column.meaning.name
        if name not in sheet.conditions:
            continue
        broken, words = impossible(name, vocabulary.conditions[name], sheet.conditions[name])

        def says(row: int, column: Column = column, words: str = words) -> str:
            return f"{describe(column.meaning)} is {sheet.written(row, column)}, which is {words}."

        sheet.report(problems, column, np.flatnonzero(broken), says)


def check_times(sheet: Sheet, problems: Problems) -> None:
    """Times before the zero of their experiment, or beyond all measure."""
    column = sheet.recognition.find("time")
    if sheet.time is None or column is None:
        return
    early, late = np.flatnonzero(sheet.time < 0), np.flatnonzero(sheet.time > LONGEST)
    sheet.report(problems, column, early, lambda row: f"{sheet.written(row, column)} is before time zero, where an experiment starts.")
    sheet.report(
        problems,
        column,
        late,
        lambda row: f"{sheet.written(row, column)} is longer than the universe is old. Look at its unit.",
    )


def check_constants(
    constants: Mapping[str, Quantity], vocabulary: Vocabulary, recognitions: Iterable[Recognition], problems: Problems
) -> None:
    """A condition is known to the model, has a possible value, and is given once: for all experiments, or by a column."""
    recognitions = tuple(recognitions)
    for name, quantity in constants.items():
        if name not in vocabulary.conditions:
            known = ", ".join(vocabulary.conditions)
            problems.add(f"conditions: '{name}' is no condition of the model (known: {known}).{nearest(name, vocabulary.conditions)}")
        else:
            with problems.collecting():
                require_possible(quantity, name, vocabulary.conditions[name], "conditions")
        for recognition in recognitions:
            column = recognition.find("condition", name)
            if column:
                problems.add(
                    f"{recognition.table.source}: column '{column.header.text}' gives {describe(column.meaning)}, which the conditions "
                    "give for all experiments too. Remove one, or list the column under 'ignore'."
                )


def odd_constants(conditions: Mapping[str, Quantity]) -> Iterator[str]:
    """A temperature of all experiments that is probably in another unit than it says."""
    for name, quantity in conditions.items():
        odd = check_temperature(quantity.si, str(quantity), name) if quantity.unit.dimension == TEMPERATURE else None
        if odd is None:
            continue
        yield f"{odd} Write allow_temperature = true under [conditions] to go on without this warning."


def without_effect(constants: Iterable[str], vocabulary: Vocabulary, sheets: Iterable[Sheet] = ()) -> Iterator[str]:
    """A condition that is given, for all experiments or in a column, and changes nothing."""
    for name in vocabulary.idle:
        places = [f"[conditions] {name}"] if name in constants else []
        for sheet in sheets:
            column = sheet.recognition.find("condition", name)
            places += [f"{sheet.table.source}, column '{column.header.text}'"] if column else []
        for place in places:
            yield f"{place}: nothing in the model depends on it yet. It changes nothing."


def odd_times(sheet: Sheet) -> Iterator[str]:
    """A time of more than ten years is probably in another unit than its header says, or a date in seconds."""
    column = sheet.recognition.find("time")
    if sheet.time is None or column is None or not np.any(sheet.time > UNUSUAL):
        return
    row = int(np.flatnonzero(sheet.time > UNUSUAL)[0])
    years = sheet.time[row] / (UNUSUAL / 10)
    yield (
        f"{sheet.table.place(row, column.header)}: the time {sheet.written(row, column)} is {years:.3g} years after time zero. "
        f'Look at its unit ({column.header.text}): may it be ms, or a date in seconds? For dates in seconds say time_zero = "first".'
    )


def odd_readings(sheet: Sheet, vocabulary: Vocabulary) -> Iterator[str]:
    """Concentrations clearly below zero, where no sigma says whether they may be."""
    for name, values in sheet.values.items():
        if vocabulary.responses[name] != CONCENTRATION or not np.isfinite(values).any():
            continue
        clearly = np.flatnonzero((values < -BELOW_ZERO * np.nanmax(np.abs(values))) & np.isnan(sheet.sigma[name]))
        if len(clearly):
            column = sheet.reading_column(name)
            others = f" (and {len(clearly) - 1} more)" if len(clearly) > 1 else ""
            yield (
                f"{sheet.table.place(clearly[0], column.header)}: {sheet.written(clearly[0], column)}{others} is clearly below zero, where "
                "a concentration cannot be. Correct it, or say how far readings scatter ([noise])."
            )


def odd_temperatures(sheet: Sheet, vocabulary: Vocabulary) -> Iterator[str]:
    """Temperatures outside 150-3000 K, most often degC typed as K."""
    for column in sheet.recognition.having("condition"):
        if vocabulary.conditions[column.meaning.name] != TEMPERATURE:
            continue
        numbers = sheet.conditions[column.meaning.name]
        odd = np.flatnonzero((numbers < COLDEST) | (numbers > HOTTEST))
        if len(odd):
            others = f" So {'is 1 more row' if len(odd) == 2 else f'are {len(odd) - 1} more rows'}." if len(odd) > 1 else ""
            sentence = check_temperature(float(numbers[odd[0]]), sheet.written(odd[0], column), column.meaning.name)
            yield f"{sheet.table.source}, line {sheet.table.lines[odd[0]]}: {sentence}{others}"
