"""What was measured, as observed values and weights, and how its sigma is meant."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetix.errors import DataError, ParameterError, nearest
from kinetix.experiments import Campaign
from kinetix.parameters import Reporting
from kinetix.simulation import ExplicitModel, Spoken
from kinetix.studies.responses import predicted_unit
from kinetix.units import Dimension, Unit, parse_unit

MEANINGS = ("trusted", "scaled")
"""How given standard deviations may be meant."""


def sigma_meaning(campaign: Campaign, sigma: str | None) -> str:
    """How sigmas are meant: given "trusted" or "scaled", "estimated" where none are given, "modelled" where [noise] estimates some.

    Raises:
        ParameterError: given without a meaning, a meaning without sigma or one that is not known, or sigma for some
            values only.
    """
    if sigma not in (None, *MEANINGS):
        raise ParameterError(
            f'sigma = {sigma!r}: expected "trusted" (given standard deviations as they are) or "scaled" (right up to a common factor), or'
            f" nothing where none are given.{nearest(str(sigma), MEANINGS)}"
        )
    given = np.isfinite(campaign.sigma) & campaign.mask
    if campaign.noise:
        return _modelled(campaign, sigma, given)
    if not given.any():
        if sigma is not None:
            raise ParameterError(
                f'[fit] sigma = "{sigma}", but no sigma is given. Add a column such as sigma_A, or a value under [noise], or remove it'
                " (the scatter is then estimated from the residuals)."
            )
        return "estimated"
    if sigma is None:
        raise ParameterError(
            'Sigma is given, but not how it is meant. Write sigma = "trusted" under [fit] (standard errors use it as it is)'
            ' or sigma = "scaled" (only ratios count; the size is estimated from the residuals); on the command line --sigma trusted or'
            " --sigma scaled."
        )
    if not given[campaign.mask].all():
        i, j, k = np.argwhere(campaign.mask & ~given)[0]
        name = campaign.responses[k].name
        raise ParameterError(
            f"Sigma is given for some values but not for {name} of experiment '{campaign.experiments[i]}' (line {campaign.lines[i, j]})."
            f' Add {name} = "..." under [noise].'
        )
    return sigma


def _modelled(campaign: Campaign, sigma: str | None, given: np.ndarray) -> str:
    """The meaning where [noise] estimates the sigma of some responses: known ones beside them must be trusted."""
    names = ", ".join(campaign.noise)
    if not given.any() and sigma is not None:
        raise ParameterError(f'[fit] sigma = "{sigma}", but the sigma of {names} is estimated, and no other is given. Remove it.')
    if given.any() and sigma != "trusted":
        others = ", ".join(column.name for i, column in enumerate(campaign.responses) if given[..., i].any())
        found = f'[fit] sigma = "{sigma}"' if sigma else "nothing is said of it"
        raise ParameterError(
            f"The sigma of {names} is estimated and that of {others} is given, but {found}. Beside estimated ones a given sigma can only be"
            ' meant as it is: write sigma = "trusted" under [fit], or estimate it too.'
        )
    return "modelled"


def measurements(
    spoken: Spoken, campaign: Campaign, names: tuple[str, ...], constants: Mapping[str, Dimension], reporting: Reporting
) -> tuple[tuple[Unit, ...], np.ndarray, np.ndarray, np.ndarray]:
    """Units of the responses; observed values, weights and sigma, SI, (lane, time, response); see `Problem`."""
    lanes, times = campaign.times.shape
    shape = (lanes, times, len(names))
    observed, weights, sigma = np.zeros(shape), np.zeros(shape), np.full(shape, np.nan)
    columns = {column.name: i for i, column in enumerate(campaign.responses)}
    units = []
    for r, name in enumerate(names):
        output = next((o for o in spoken.outputs if o.column == name), None) if isinstance(spoken, ExplicitModel) else None
        if name not in columns:
            units.append(predicted_unit(spoken, campaign, name, constants, reporting))
            continue
        i = columns[name]
        mask, unit = campaign.mask[..., i], campaign.responses[i].unit
        values = np.where(mask, campaign.values[..., i], 1.0)
        given = campaign.sigma[..., i]
        scale = np.where(np.isfinite(given), given, unit.factor)
        if output is not None and output.log:
            bad = np.argwhere(mask & ~(values > 0))
            if bad.size:
                lane, time = bad[0]
                raise DataError(
                    f"{campaign.sources[lane]}, line {campaign.lines[lane, time]}: {name} is {unit.from_si(values[lane, time]):g};"
                    f" model '{output.name}' compares logarithms, and only values above 0 have one. Leave the cell empty."
                )
            given = given / values
            scale = np.where(np.isfinite(given), given, 1.0)
            values, unit = np.log(values), parse_unit("1")
        units.append(unit)
        observed[..., r] = np.where(mask, values, 0.0)
        weights[..., r] = np.where(mask, 1.0 / scale, 0.0)
        sigma[..., r] = np.where(mask, given, np.nan)
    return tuple(units), observed, weights, sigma
