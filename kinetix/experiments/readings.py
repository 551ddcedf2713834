"""The readings of all tables together: one unit for each response, a sigma for every reading or for none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinetix.errors import Problems, nearest
from kinetix.experiments.campaign import ResponseColumn
from kinetix.experiments.noise import Noise
from kinetix.experiments.recognition import Column
from kinetix.experiments.sheet import Sheet
from kinetix.experiments.vocabulary import Vocabulary
from kinetix.parameters import Estimate
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
    noise: Mapping[str, Quantity | float | Noise],
    vocabulary: Vocabulary,
    problems: Problems,
) -> dict[str, Noise]:
    """Readings without a sigma of their own take the one of [noise]; then all readings have one, or none has.

    Returns:
        Noise that the fit estimates, constant parts that are known in SI.
    """
    parts = _noise_in_si(noise, vocabulary, sheets, problems)
    given = {name: part for name, part in parts.items() if not part.estimated}
    open_ = {name: part for name, part in parts.items() if part.estimated and any(name in sheet.sigma for sheet in sheets)}
    for name, part in open_.items():
        _check_estimated(name, part, sheets, problems)
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
    known = [(sheet, name, sigma) for sheet in sheets for name, sigma in sheet.sigma.items() if name not in open_]
    if not open_ and not any(sheet.sigma_column(name) or not np.all(np.isnan(sigma)) for sheet, name, sigma in known):
        return {}
    for sheet, name, sigma in known:
        without = [int(row) for row in np.flatnonzero(np.isnan(sigma) & ~np.isnan(sheet.values[name]))]
        column = sheet.sigma_column(name)
        if column is None and without:
            reading, unit = sheet.reading_column(name), sheet.units[name].text
            cure = (
                f"Add {name} = {{}} there, or a known one"
                if open_
                else f"Add a column 'sigma_{name} [{unit}]' or give {name} under [noise]"
            )
            others = "those of others are estimated by [noise]" if open_ else "other readings have one"
            problems.add(f"{sheet.table.source}: column '{reading.header.text}' has no sigma for {name}, while {others}. {cure}.")
        elif column is not None:
            empty = [row for row in without if sheet.holds_none(row, column)]
            sheet.report(
                problems, column, empty, lambda row, name=name: f"the reading of {name} has no sigma. Write it here or under [noise]."
            )
    return open_


def _check_estimated(name: str, noise: Noise, sheets: Sequence[Sheet], problems: Problems) -> None:
    """That nothing else gives the sigma of a response, and that no reading has none by a relative part alone."""
    for sheet in sheets:
        if name not in sheet.sigma:
            continue
        column = sheet.sigma_column(name)
        if column is not None and not np.all(np.isnan(sheet.sigma[name])):
            problems.add(
                f"{sheet.table.source}: column '{column.header.text}' gives the sigma of {name}, which [noise] estimates. Keep one: remove"
                f" {name} from [noise], or list the column under ignore."
            )
        zero = [int(row) for row in np.flatnonzero(sheet.values[name] == 0)] if noise.constant == 0 else []
        sheet.report(
            problems,
            sheet.reading_column(name),
            zero,
            lambda row: f"{name} is 0, and so would be a sigma that is relative alone. Add constant = {{}} to the noise of {name}.",
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
        if isinstance(written, Noise) and written.estimated:
            constant = written.constant
            if isinstance(constant, Quantity):
                constant = constant.unit.scale_to_si(constant.value)
            given[name] = replace(written, constant=constant)
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
        if isinstance(value, Estimate) or isinstance(relative, Estimate):
            continue  # an estimated part makes the whole one that is estimated
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
