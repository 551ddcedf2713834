"""Feed and initial amounts by experiment and species: known, estimated, or from the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetix.errors import Problems, nearest
from kinetix.experiments import Campaign, require_possible
from kinetix.padding import padded
from kinetix.parameters import FROM_LANE, ConstantBook, Estimate, Number, Reporting, unit_of
from kinetix.simulation import ReactorModel, Spoken
from kinetix.studies.given import Amounts
from kinetix.units import CONCENTRATION, Quantity, require


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
        column = campaign.conditions.get(f"{stem}.{name}")
        written = amounts.given.get(name)
        if column is not None and written is not None:
            problems.add(f"{stem}.{name} is given both in the data and in the study. Keep one.")
        elif column is not None:
            values[:, i] = column
        elif isinstance(written, Quantity):
            with problems.collecting():
                values[:, i] = _concentration(written, f"{stem}.{name}")
        elif written is not None:
            with problems.collecting():
                positions[i] = book.add_parameter(f"{stem}.{name}", _not_negative(written, book.reporting), CONCENTRATION, positive=False)
        elif amounts.default is not None:
            with problems.collecting():
                values[:, i] = _concentration(amounts.default, f"{stem}.default")
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


def _concentration(quantity: Quantity, name: str) -> float:
    return require_possible(require(quantity, CONCENTRATION, name), name, CONCENTRATION).si


def _not_negative(number: Number, reporting: Reporting) -> Number:
    """Amounts are fitted on a linear scale, not below zero unless a lower bound says so."""
    if isinstance(number, Estimate) and number.lower is None and number.scale != "log":
        return replace(number, lower=Quantity(0.0, unit_of(number) or reporting.unit(CONCENTRATION)))
    return number
