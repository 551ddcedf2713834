"""The experiments of a campaign as the arrays that reactors read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import ConditionError, Problems, nearest
from kinetix.experiments import Campaign
from kinetix.padding import padded
from kinetix.rates import ON_STREAM
from kinetix.reactors import HOLDUP, EnergyBalance
from kinetix.simulation import ExplicitModel, ReactorModel, Spoken
from kinetix.studies.tolerances import absolute_tolerances

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
    atol: float | Mapping[str, float] | None,
    *,
    on_stream: bool = False,
    feed_estimated: bool = False,
    initial_estimated: bool = False,
    estimated: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Arrays by name with a leading lane axis, SI, as `kinetix.reactors.Lane` lists them.

    `on_stream`: whether something depends on the time on stream.
    `atol`: as the user wants it, mol/m^3, see `tolerances`.
    `estimated`: whether the amount of a species is a parameter, (species,).
    `feed_estimated`, `initial_estimated`: whether such a concentration is a parameter, so that their sum is not known beforehand.

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
    if spoken.reactor.ideal_gas_at == "pressure":
        stem, there, unknown = ("feed", feed, feed_estimated) if feed is not None else ("initial", initial, initial_estimated)
        if there is not None and not unknown:
            _check_pressure(campaign, there.sum(axis=1), stem, spoken.temperature_of(stem))
    lanes.update(spoken.reactor.lane_conditions(campaign.conditions, spoken.basis, total_feed))
    amounts = [amount for amount in (feed, initial) if amount is not None]
    if amounts:
        unknown = np.zeros(amounts[0].shape[1], dtype=bool) if estimated is None else estimated
        lanes["atol"] = absolute_tolerances(spoken.network, amounts, unknown, rtol, atol)
        if not spoken.reactor.integrated:  # a steady state is found to a relative correction; one number says what is nothing
            lanes["atol"] = lanes["atol"].max(axis=1)
    return lanes


def _check_pressure(campaign: Campaign, total: np.ndarray, stem: str, temperature: str) -> None:
    """That the concentrations of a gas fed or there at the start, mol/m^3, (lane,), add up to P/(R T), where P is given.

    Raises:
        ConditionError: they do not, or T is not given.
    """
    if "P" not in campaign.conditions:
        return
    T = campaign.programs["T"][1][:, 0] if temperature in campaign.programs else campaign.conditions.get(temperature)
    if T is None:
        raise ConditionError(
            f'P without {temperature} says nothing of a gas. Add a column such as "{temperature} [degC]", or {temperature} = "350 K" under'
            " [conditions]."
        )
    P = campaign.conditions["P"]
    found = total * GAS_CONSTANT * T
    wrong = np.flatnonzero(np.abs(found - P) > AGREEMENT * P)
    if wrong.size:
        i = wrong[0]
        raise ConditionError(
            f"Experiment '{campaign.experiments[i]}': the {'feed' if stem == 'feed' else 'initial state'} adds up to"
            f" {found[i] / 1e5:.5g} bar at {T[i]:.6g} K, but P is {P[i] / 1e5:.5g} bar. Give every species of the"
            f" {'feed' if stem == 'feed' else 'start'}, inert ones too, or correct P."
        )


def _heated(spoken: ReactorModel, energy: EnergyBalance, campaign: Campaign) -> dict[str, np.ndarray]:
    """What an energy balance takes from each experiment: where temperatures start, the coolant, and what UA is per."""
    given, whats = campaign.conditions, {"T_coolant": "temperature of the coolant", "T_jacket_initial": "initial temperature of the jacket"}
    problems = Problems()
    for needed in (*spoken.reactor.start_temperatures, *energy.conditions):
        if needed not in given and needed != "V":
            what = whats.get(needed, f"{needed.removeprefix('T_')} temperature")
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
    start = given[spoken.reactor.heated_from]
    lanes = {
        "T_start": start,
        **({"T_feed": given["T_feed"]} if "T_feed" in spoken.reactor.start_temperatures[1:] else {}),
        "T_coolant": given.get("T_coolant", start),
        "exchange_per": 1.0 / given["V"] if energy.exchange == "UA" else np.ones(len(start)),
        **({"T_jacket_initial": given["T_jacket_initial"]} if energy.jacket == HOLDUP else {}),
    }
    return {name: np.asarray(values, dtype=float) for name, values in lanes.items()}


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
