"""The experiments of a campaign as the arrays that reactors read."""

from __future__ import annotations

import numpy as np

from kinetix.errors import ConditionError, nearest
from kinetix.experiments import Campaign
from kinetix.network import padded
from kinetix.simulation import ExplicitModel, ReactorModel, Spoken

PLACEHOLDER_TEMPERATURE = 298.15
"""K; stands where nothing depends on temperature and none is given. It enters no result."""


def lane_arrays(
    spoken: Spoken,
    campaign: Campaign,
    feed: np.ndarray | None,
    initial: np.ndarray | None,
    temperature_needed: bool,
    rtol: float,
    atol: float | None,
) -> dict[str, np.ndarray]:
    """Arrays by name with a leading lane axis, SI, as `kinetix.reactors.Lane` lists them.

    Raises:
        ConditionError: a condition that the model needs is missing.
    """
    size = len(campaign.experiments)
    lanes: dict[str, np.ndarray] = {"times": np.asarray(campaign.times, dtype=float)}
    if "T" in campaign.programs:
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
    if feed is not None:
        lanes["feed"] = feed
    if initial is not None:
        lanes["initial"] = initial
    if spoken.reactor.measures_rates:
        lanes["concentrations"] = _measured_concentrations(spoken, campaign)
    lanes.update(spoken.reactor.lane_conditions(campaign.conditions))
    largest = max((float(np.max(a)) for a in (feed, initial) if a is not None and a.size), default=1.0)
    by_lane = np.max([a.max(axis=1) for a in (feed, initial) if a is not None] or [np.ones(size)], axis=0)
    by_lane = np.where(by_lane > 0, by_lane, largest if largest > 0 else 1.0)
    lanes["atol"] = np.full(size, atol) if atol is not None else 1e-3 * rtol * by_lane
    return lanes


def _measured_concentrations(spoken: ReactorModel, campaign: Campaign) -> np.ndarray:
    species = spoken.network.species
    used = {name for law in spoken.laws for side in law.species for name in side}
    out = np.zeros((len(campaign.experiments), padded(len(species))))
    for i, name in enumerate(species):
        if name in campaign.conditions:
            out[:, i] = campaign.conditions[name]
        elif name in used:
            raise ConditionError(
                f"differential: no concentration of {name}, which the rates need."
                f' Add a column "{name} [mol/L]", or write {name} = "1 mol/L" under [conditions].'
            )
    return out
