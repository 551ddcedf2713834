"""The readings of all tables together: one unit for each response, a sigma for every reading or for none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinetix.errors import Problems, nearest
from kinetix.experiments.campaign import ResponseColumn
from kinetix.experiments.recognition import Column
from kinetix.experiments.sheet import Sheet
from kinetix.experiments.vocabulary import Vocabulary
from kinetix.units import CONCENTRATION, Quantity, Unit, require

NEGATIVE_BY = 3.0  # sigmas below zero that a concentration may be read at


@dataclass(frozen=True)
class Noise:
    """A standard deviation with a part that is constant and a part that grows with the measured value y.

        sigma = sqrt(constant^2 + (relative y)^2)

    Attributes:
        constant: a quantity, or a number in SI; 0 where there is none.
        relative: share of the value; 0 where there is none.

    >>> Noise(3.0, 0.04).at(np.array([0.0, 100.0])).tolist()
    [3.0, 5.0]

    Source: D. M. Rocke and S. Lorenzato, Technometrics 37 (1995) 176.
    """

    constant: Quantity | float = 0.0
    relative: float = 0.0

    def at(self, values: np.ndarray) -> np.ndarray:
        """Standard deviations of measured values, SI."""
        constant = self.constant.si if isinstance(self.constant, Quantity) else self.constant
        return np.hypot(constant, self.relative * values)


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
    noise: Mapping[str, Quantity | float | Noise],
    vocabulary: Vocabulary,
    problems: Problems,
) -> None:
    """Readings without a sigma of their own take the one of [noise]; then all readings have one, or none has."""
    given = _noise_in_si(noise, vocabulary, sheets, problems)
    for sheet in sheets:
        for name, sigma in sheet.sigma.items():
            values = sheet.values[name]
            empty = np.isnan(sigma) & ~np.isnan(values)
            sigma[empty] = given[name].at(values[empty]) if name in given else np.nan
            zero = [int(row) for row in np.flatnonzero(sigma == 0) if empty[row]]
            sheet.report(
                problems,
                sheet.reading_column(name),
                zero,
                lambda row, name=name: (
                    f"{name} is 0, and so is a sigma that is relative alone. Add a constant part to the noise of {name}."
                ),
            )
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
    noise: Mapping[str, Quantity | float | Noise], vocabulary: Vocabulary, sheets: Iterable[Sheet], problems: Problems
) -> dict[str, Noise]:
    """The standard deviations of [noise], their constant parts in SI."""
    units = {name: unit for sheet in sheets for name, unit in sheet.units.items()}
    given: dict[str, Noise] = {}
    for name, written in noise.items():
        if name not in vocabulary.responses:
            known = ", ".join(vocabulary.responses)
            problems.add(f"noise: '{name}' is no response of the model (known: {known}).{nearest(name, vocabulary.responses)}")
            continue
        relative = written.relative if isinstance(written, Noise) else 0.0
        quantity = value = written.constant if isinstance(written, Noise) else written
        if isinstance(quantity, Quantity):
            dimension = vocabulary.responses[name]
            if dimension is None and name in units:
                dimension = units[name].dimension
            if dimension is not None:
                with problems.collecting():
                    require(quantity, dimension, f"noise: the sigma of {name}")
            value = quantity.unit.scale_to_si(quantity.value)
        if not (isinstance(value, float | int) and 0 <= value < math.inf and 0 <= relative < math.inf and (value > 0 or relative > 0)):
            problems.add(f"noise: the sigma of {name} is {quantity}; a measurement error must be a finite number above zero.")
            continue
        given[name] = Noise(float(value), relative)
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
