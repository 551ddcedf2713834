"""Feed and initial amounts by experiment and species: known, estimated, or from the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import ConditionError, Problems, nearest
from kinetix.experiments import Campaign, require_possible
from kinetix.padding import padded
from kinetix.parameters import FROM_LANE, ConstantBook, Estimate, Number, Reporting, unit_of
from kinetix.simulation import ReactorModel, Spoken, amount_conditions
from kinetix.studies.given import Amounts
from kinetix.units import CONCENTRATION, PRESSURE, Dimension, Quantity, require


def amounts_by_lane(
    book: ConstantBook, spoken: Spoken, campaign: Campaign, amounts: Amounts, stem: str, problems: Problems
) -> tuple[np.ndarray | None, np.ndarray]:
    """Amounts by lane and species, mol/m^3, and positions of those that are parameters."""
    if not isinstance(spoken, ReactorModel):
        return None, np.zeros(0, dtype=np.int32)
    species = spoken.network.species
    positions = np.full(padded(len(species)), FROM_LANE, dtype=np.int32)
    needed = spoken.reactor.needs_feed if stem == "feed" else spoken.reactor.needs_initial
    for name in amounts.given:
        if name not in species:
            problems.add(f"{stem}: '{name}' is no species (known: {', '.join(species)}).{nearest(name, species)}")
    if not needed:
        if amounts.given:
            problems.add(f"{stem}: a {spoken.reactor.name} reactor has no {stem} amounts. Remove them.")
        return None, positions
    values = np.zeros((len(campaign.experiments), len(positions)))
    missing = []
    for i, name in enumerate(species):
        column = None
        with problems.collecting():
            column = _column(spoken, campaign, stem, name)
        written = amounts.given.get(name)
        if column is not None and written is not None:
            problems.add(f"{stem}.{name} is given both in the data and in the study. Keep one.")
        elif column is not None:
            values[:, i] = column
        elif isinstance(written, Quantity):
            with problems.collecting():
                values[:, i] = _concentration(written, f"{stem}.{name}", spoken, campaign)
        elif written is not None:
            with problems.collecting():
                positions[i] = book.add_parameter(f"{stem}.{name}", _not_negative(written, book.reporting), CONCENTRATION, positive=False)
        elif amounts.default is not None:
            with problems.collecting():
                values[:, i] = _concentration(amounts.default, f"{stem}.default", spoken, campaign)
        else:
            missing.append(name)
    if missing:
        where = "[conditions] feed" if stem == "feed" else "[initial]"
        example = (
            f'feed = {{ {missing[0]} = "0 mol/L" }} under [conditions]' if stem == "feed" else f'{missing[0]} = "0 mol/L" under [initial]'
        )
        problems.add(
            f"{spoken.reactor.name}: no {stem} concentration of {', '.join(missing)}, neither in the data nor under {where}."
            f' Write {example}, or default = "0 mol/L" there for all that are not named;'
            f' on the command line --{stem} {missing[0]}="0 mol/L" or --{stem} default="0 mol/L".'
        )
    return values, positions


def _column(spoken: ReactorModel, campaign: Campaign, stem: str, species: str) -> np.ndarray | None:
    """Amounts that the data hold, as concentrations, mol/m^3, (lane,); None where they hold none."""
    names = [name for name in amount_conditions(spoken.reactor, stem, species) if name in campaign.conditions]
    if not names:
        return None
    if len(names) > 1:
        raise ConditionError(f"{stem}.{species} is given more than once in the data ({', '.join(names)}). Keep one.")
    dimension = amount_conditions(spoken.reactor, stem, species)[names[0]]
    return as_concentration(campaign.conditions[names[0]], dimension, names[0], campaign, spoken.temperature_of(stem))


def _concentration(quantity: Quantity, name: str, spoken: ReactorModel, campaign: Campaign) -> np.ndarray | float:
    """What is written as a concentration, a partial pressure, or for an ideal gas a mole fraction, mol/m^3."""
    dimension = quantity.unit.dimension
    if dimension == PRESSURE or (dimension.dimensionless and spoken.reactor.ideal_gas_at == "pressure"):
        temperature = spoken.temperature_of(name.partition(".")[0])
        return as_concentration(require_possible(quantity, name, dimension).si, dimension, name, campaign, temperature)
    return require_possible(require(quantity, CONCENTRATION, name), name, CONCENTRATION).si


def as_concentration(value: np.ndarray | float, dimension: Dimension, name: str, campaign: Campaign, temperature: str = "T") -> np.ndarray:
    """A concentration, or p/(R T) of a partial pressure, or y P/(R T) of a mole fraction; SI. `temperature`: the condition that is T.

    Raises:
        ConditionError: T or P is not given, or T is not constant.
    """
    if dimension == CONCENTRATION:
        return np.asarray(value)
    needed = (temperature,) if dimension == PRESSURE else (temperature, "P")
    what = "a partial pressure" if dimension == PRESSURE else "a mole fraction"
    for condition, example in ((temperature, "350 K"), ("P", "1 bar")):
        if condition in needed and condition in campaign.programs:
            raise ConditionError(f"{name} is {what}, but {condition} changes within an experiment. Write a concentration.")
        if condition in needed and condition not in campaign.conditions:
            raise ConditionError(
                f"{name} is {what}; the concentration follows with {' and '.join(needed)}. Add a column {condition}, or write"
                f' {condition} = "{example}" under [conditions].'
            )
    if np.any(np.asarray(value) < 0):
        raise ConditionError(f"{name} is negative ({np.min(value):g} in SI). Correct it.")
    pressure = value if dimension == PRESSURE else value * campaign.conditions["P"]
    return pressure / (GAS_CONSTANT * campaign.conditions[temperature])


def _not_negative(number: Number, reporting: Reporting) -> Number:
    """Amounts are fitted on a linear scale, not below zero unless a lower bound says so."""
    if isinstance(number, Estimate) and number.lower is None and number.scale != "log":
        return replace(number, lower=Quantity(0.0, unit_of(number) or reporting.unit(CONCENTRATION)))
    return number
