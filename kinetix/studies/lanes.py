"""The experiments of a campaign as the arrays that reactors read."""

from __future__ import annotations

import numpy as np

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import ConditionError, Problems, nearest
from kinetix.experiments import Campaign
from kinetix.padding import padded
from kinetix.rates import ON_STREAM
from kinetix.reactors import IDEAL_GAS, EnergyBalance
from kinetix.simulation import ExplicitModel, ReactorModel, Spoken

PLACEHOLDER_TEMPERATURE = 298.15
"""K; stands where nothing depends on temperature and none is given. It enters no result."""


AGREEMENT = 0.01
"""Share by which the pressure given and that of the feed may differ: both are rounded numbers."""


def lane_arrays(
    spoken: Spoken,
    campaign: Campaign,
    feed: np.ndarray | None,
    initial: np.ndarray | None,
    temperature_needed: bool,
    rtol: float,
    atol: float | None,
    *,
    on_stream: bool = False,
    feed_estimated: bool = False,
) -> dict[str, np.ndarray]:
    """Arrays by name with a leading lane axis, SI, as `kinetix.reactors.Lane` lists them.

    `on_stream`: whether something depends on the time on stream.
    `feed_estimated`: whether a feed concentration is a parameter, so that the sum of the feed is not known beforehand.

    Raises:
        ConditionError: a condition that the model needs is missing.
    """
    size = len(campaign.experiments)
    lanes: dict[str, np.ndarray] = {"times": np.asarray(campaign.times, dtype=float)}
    if isinstance(spoken, ReactorModel) and spoken.energy is not None:
        lanes.update(_heated(spoken, spoken.energy, campaign))
    elif "T" in campaign.programs:
        lanes["program_times"], lanes["program_T"] = campaign.programs["T"]
    elif "T" in campaign.conditions:
        lanes["T"] = np.asarray(campaign.conditions["T"], dtype=float)
    elif temperature_needed:
        raise ConditionError(
            'No temperature: a rate constant or formula depends on T. Add a column such as "T [degC]", or T = "350 K" under [conditions].'
        )
    else:
        lanes["T"] = np.full(size, PLACEHOLDER_TEMPERATURE)
    if isinstance(spoken, ExplicitModel):
        columns = [campaign.conditions[name] for name in spoken.predictors if name in campaign.conditions]
        missing = [name for name in spoken.predictors if name not in campaign.conditions]
        if missing:
            raise ConditionError(
                f"The model uses {', '.join(repr(name) for name in missing)}, which is neither a column of the data nor under [parameters]."
                f"{nearest(missing[0], [*campaign.conditions, *spoken.constants])}"
            )
        lanes["predictors"] = np.stack(columns, axis=1) if columns else np.zeros((size, 0))
        return lanes
    if on_stream:
        if ON_STREAM not in campaign.conditions:
            raise ConditionError(
                f"{spoken.reactor.name}: no time on stream, which a rate or a formula depends on. Add a column '{ON_STREAM} [h]', or write"
                f' {ON_STREAM} = "10 h" under [conditions].'
            )
        lanes[ON_STREAM] = np.asarray(campaign.conditions[ON_STREAM], dtype=float)
    if feed is not None:
        lanes["feed"] = feed
    if initial is not None:
        lanes["initial"] = initial
    if spoken.reactor.measures_rates:
        lanes["concentrations"] = _measured_concentrations(spoken, campaign, lanes["T"])
    total_feed = None if feed is None else feed.sum(axis=1) + np.where(feed_estimated, np.nan, 0.0)
    if spoken.reactor.density == IDEAL_GAS and total_feed is not None:
        _check_pressure(campaign, total_feed)
    lanes.update(spoken.reactor.lane_conditions(campaign.conditions, spoken.basis, total_feed))
    largest = max((float(np.max(a)) for a in (feed, initial) if a is not None and a.size), default=1.0)
    by_lane = np.max([a.max(axis=1) for a in (feed, initial) if a is not None] or [np.ones(size)], axis=0)
    by_lane = np.where(by_lane > 0, by_lane, largest if largest > 0 else 1.0)
    lanes["atol"] = np.full(size, atol) if atol is not None else 1e-3 * rtol * by_lane
    return lanes


def _check_pressure(campaign: Campaign, total_feed: np.ndarray) -> None:
    """That the concentrations of a gas fed, mol/m^3, (lane,), add up to P/(R T), where P is given.

    Raises:
        ConditionError: they do not, or T is not given.
    """
    if "P" not in campaign.conditions:
        return
    if "T" not in campaign.conditions:
        raise ConditionError('P without T says nothing of a gas. Add a column such as "T [degC]", or T = "350 K" under [conditions].')
    P, T = campaign.conditions["P"], campaign.conditions["T"]
    found = total_feed * GAS_CONSTANT * T
    wrong = np.flatnonzero(np.abs(found - P) > AGREEMENT * P)
    if wrong.size:
        i = wrong[0]
        raise ConditionError(
            f"Experiment '{campaign.experiments[i]}': the feed adds up to {found[i] / 1e5:.5g} bar at {T[i]:.6g} K, but P is"
            f" {P[i] / 1e5:.5g} bar. Give every species of the feed, inert ones too, or correct P."
        )


def _heated(spoken: ReactorModel, energy: EnergyBalance, campaign: Campaign) -> dict[str, np.ndarray]:
    """What an energy balance takes from each experiment: where the temperature starts, the coolant, and what UA is per."""
    name, given = spoken.reactor.heated_from, campaign.conditions
    problems = Problems()
    for needed, what in ((name, f"{name.removeprefix('T_')} temperature"), ("T_coolant", "temperature of the coolant")):
        if needed not in given and (needed == name or energy.exchange):
            problems.add(
                f'{spoken.reactor.name}: no {what}, which [energy] needs. Add a column such as "{needed} [degC]", or write'
                f' {needed} = "25 degC" under [conditions].'
            )
    if energy.exchange == "UA" and "V" not in given:
        problems.add(
            f'{spoken.reactor.name}: UA without the volume V of the fluid. Add a column such as "V [L]", or write V = "10 L" under'
            ' [conditions], or "UA/V" in the place of UA under [energy].'
        )
    problems.raise_if_any(ConditionError)
    start = np.asarray(given[name], dtype=float)
    return {
        "T_start": start,
        "T_feed": np.asarray(given.get("T_feed", start), dtype=float),
        "T_coolant": np.asarray(given["T_coolant"], dtype=float) if energy.exchange else start,
        "exchange_per": 1.0 / np.asarray(given["V"], dtype=float) if energy.exchange == "UA" else np.ones(len(start)),
    }


def _measured_concentrations(spoken: ReactorModel, campaign: Campaign, T: np.ndarray) -> np.ndarray:
    """Concentrations at which rates were measured, mol/m^3, (lane, species); p/(R T) where the data hold partial pressures."""
    species = spoken.network.species
    used = {name for law in spoken.laws for side in law.species for name in side}
    pressures = any("partial_pressure" in law.amounts for law in spoken.laws)
    out = np.zeros((len(campaign.experiments), padded(len(species))))
    problems = Problems()
    for i, name in enumerate(species):
        pressure = campaign.conditions.get(f"p[{name}]")
        if name in campaign.conditions and pressure is not None:
            problems.add(f"differential: both the concentration and the partial pressure of {name} are given. Keep one.")
        elif name in campaign.conditions:
            out[:, i] = campaign.conditions[name]
        elif pressure is not None:
            out[:, i] = pressure / (GAS_CONSTANT * T)
        elif name in used:
            what, column, value = (
                ("partial pressure", f"p[{name}] [bar]", f'"p[{name}]" = "1 bar"')
                if pressures
                else ("concentration", f"{name} [mol/L]", f'{name} = "1 mol/L"')
            )
            problems.add(
                f'differential: no {what} of {name}, which the rates need. Add a column "{column}", or write {value} under [conditions].'
            )
    problems.raise_if_any(ConditionError)
    return out
