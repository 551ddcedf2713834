"""The readings of all tables together: one unit for each response, a sigma for every reading or for none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kinetix.errors import Problems, nearest
from kinetix.experiments.campaign import ResponseColumn
from kinetix.experiments.recognition import Column, Vocabulary
from kinetix.experiments.sheet import Sheet
from kinetix.units import CONCENTRATION, Quantity, Unit, require

NEGATIVE_BY = 3.0  # sigmas below zero that a concentration may be read at


def responses_of(sheets: Iterable[Sheet], problems: Problems) -> tuple[tuple[ResponseColumn, ...], list[str]]:
    """The responses in the order of the tables, each with its first unit; notes where another table has another unit."""
    first: dict[str, tuple[Unit, str]] = {}
    notes: list[str] = []
    for sheet in sheets:
        for name, unit in sheet.units.items():
            leading, source = first.setdefault(name, (unit, sheet.table.source))
            where = f"{sheet.table.source}: column '{sheet.reading_column(name).header.text}'"
            if unit.dimension != leading.dimension:
                with problems.collecting():
                    require(unit, leading.dimension, f"{where}, which {source} gives in {leading.text},")
            elif (unit.factor, unit.offset) != (leading.factor, leading.offset):
                notes.append(f"{where} is converted to {leading.text}, the unit of {name} in {source}.")
    return tuple(ResponseColumn(name, unit) for name, (unit, _) in first.items()), notes


def fill_sigma(
    sheets: Sequence[Sheet],
    noise: Mapping[str, Quantity | float],
    vocabulary: Vocabulary,
    problems: Problems,
) -> None:
    """Readings without a sigma of their own take the one of [noise]; then all readings have one, or none has."""
    given = _noise_in_si(noise, vocabulary, sheets, problems)
    for sheet in sheets:
        for name, sigma in sheet.sigma.items():
            sigma[np.isnan(sigma) & ~np.isnan(sheet.values[name])] = given.get(name, np.nan)
    if not any(sheet.sigma_column(name) or not np.all(np.isnan(sigma)) for sheet in sheets for name, sigma in sheet.sigma.items()):
        return
    for sheet in sheets:
        for name, sigma in sheet.sigma.items():
            without = [int(row) for row in np.flatnonzero(np.isnan(sigma) & ~np.isnan(sheet.values[name]))]
            column = sheet.sigma_column(name)
            if column is None and without:
                reading = sheet.reading_column(name)
                unit = sheet.units[name].text
                problems.add(
                    f"{sheet.table.source}: column '{reading.header.text}' has no sigma for {name}, while other readings have one. "
                    f"Add a column 'sigma_{name} [{unit}]' or give {name} under [noise]."
                )
            elif column is not None:
                empty = [row for row in without if sheet.holds_none(row, column)]
                sheet.report(
                    problems, column, empty, lambda row, name=name: f"the reading of {name} has no sigma. Write it here or under [noise]."
                )


def _noise_in_si(
    noise: Mapping[str, Quantity | float], vocabulary: Vocabulary, sheets: Iterable[Sheet], problems: Problems
) -> dict[str, float]:
    """The standard deviations of [noise] in SI."""
    units = {name: unit for sheet in sheets for name, unit in sheet.units.items()}
    given: dict[str, float] = {}
    for name, quantity in noise.items():
        if name not in vocabulary.responses:
            known = ", ".join(vocabulary.responses)
            problems.add(f"noise: '{name}' is no response of the model (known: {known}).{nearest(name, vocabulary.responses)}")
            continue
        value = quantity
        if isinstance(quantity, Quantity):
            dimension = vocabulary.responses[name]
            if dimension is None and name in units:
                dimension = units[name].dimension
            if dimension is not None:
                with problems.collecting():
                    require(quantity, dimension, f"noise: the sigma of {name}")
            value = quantity.unit.scale_to_si(quantity.value)
        if not (isinstance(value, float | int) and 0 < value < math.inf):
            problems.add(f"noise: the sigma of {name} is {quantity}; a measurement error must be a finite number above zero.")
            continue
        given[name] = float(value)
    return given


def check_negative_readings(sheet: Sheet, vocabulary: Vocabulary, problems: Problems) -> None:
    """A concentration further below zero than its error explains is a mistake in the table."""
    for name, values in sheet.values.items():
        if vocabulary.responses[name] != CONCENTRATION:
            continue
        sigma, unit, column = sheet.sigma[name], sheet.units[name], sheet.reading_column(name)

        def says(row: int, values: np.ndarray = values, sigma: np.ndarray = sigma, unit: Unit = unit, column: Column = column) -> str:
            return (
                f"{sheet.cell(row, column)} is negative by {-values[row] / sigma[row]:.3g} times sigma "
                f"({unit.scale_from_si(sigma[row]):.6g}); a concentration cannot be. "
                f"Values within {NEGATIVE_BY:g} sigma of zero are kept."
            )

        sheet.report(problems, column, np.flatnonzero(values < -NEGATIVE_BY * sigma), says)
