"""Standard deviations that are estimated with the parameters: their names and starts, and sigma of every value from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import jax
import numpy as np

from kinetix.errors import ParameterError, Problems
from kinetix.estimation.determination import Array, namespace
from kinetix.experiments import Campaign, Noise
from kinetix.parameters import ConstantBook, Coordinates, Estimate, ParameterTable
from kinetix.simulation import ExplicitModel, Spoken
from kinetix.units import DIMENSIONLESS, Dimension, Quantity, Unit, parse_unit, si_unit

STEM = "sigma"
"""What the names of estimated standard deviations begin with."""

KNOWN = -1
"""Position of a part that is no parameter."""

SHARE = 0.1
"""Standard deviation at the start, as a share of the root mean square of the values: weights of like size for responses of any unit."""

LEAST = 1e-8
"""The same share as a lower bound where the user gives none: the likelihood of data that are met exactly grows without end."""


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["constant_at", "relative_at", "constant", "relative", "estimated"],
    meta_fields=[],
)
@dataclass(frozen=True)
class NoiseModel:
    """sigma = sqrt(constant^2 + (relative y)^2) of each response, y the predicted value.

    Attributes:
        constant_at, relative_at: positions among the parameters, `KNOWN` where a part is known, (response,).
        constant, relative: known parts, SI, (response,).
        estimated: responses of which a part is estimated, (response,).
    """

    constant_at: Array
    relative_at: Array
    constant: Array
    relative: Array
    estimated: Array

    def deviation(self, parameters: Array, values: Array) -> Array:
        """Standard deviations of predicted values, SI (..., response), with all parameters, SI (parameter,)."""
        xp = namespace(values)
        constant = xp.where(self.constant_at >= 0, parameters[self.constant_at], self.constant)
        relative = xp.where(self.relative_at >= 0, parameters[self.relative_at], self.relative)
        square = constant**2 + (relative * values) ** 2
        return xp.where(square > 0, xp.sqrt(xp.where(square > 0, square, 1.0)), 0.0)

    @property
    def given(self) -> NoiseModel:
        """The model of the same parameters of which none is looked for: sigma is then what the weights say."""
        return replace(self, estimated=np.zeros(len(np.asarray(self.estimated)), dtype=bool))

    @property
    def positions(self) -> np.ndarray:
        """Positions of its parameters, (estimated,)."""
        at = np.concatenate([np.asarray(self.constant_at), np.asarray(self.relative_at)])
        return np.sort(at[at >= 0])


@partial(jax.tree_util.register_dataclass, data_fields=["coordinates", "noise"], meta_fields=[])
@dataclass(frozen=True)
class Spread:
    """The noise model in free coordinates, as `estimation.residuals` takes it."""

    coordinates: Coordinates
    noise: NoiseModel

    @property
    def estimated(self) -> Array:
        """Responses with an estimated part, (response,)."""
        return self.noise.estimated

    def deviation(self, theta: jax.Array, values: jax.Array) -> Array:
        """Standard deviations of predicted values (lane, time, response) at free coordinates (free,)."""
        return self.noise.deviation(self.coordinates.physical(theta), values)


def bind_noise(book: ConstantBook, spoken: Spoken, campaign: Campaign, names: Sequence[str]) -> NoiseModel | None:
    """The noise model of predicted responses, its parameters at the end of the book; None where [noise] estimates nothing of them.

    Raises:
        ParameterError: relative noise of a response whose logarithms are compared, too few values for the parts.
    """
    if not any(name in campaign.noise for name in names):
        return None
    problems = Problems()
    at = np.full((2, len(names)), KNOWN, dtype=np.int32)
    known = np.zeros((2, len(names)))
    estimated = np.zeros(len(names), dtype=bool)
    for r, name in enumerate(names):
        if name not in campaign.noise:
            continue
        noise, estimated[r] = campaign.noise[name], True
        with problems.collecting():
            dimension = _dimension(spoken, campaign, name, noise)
            several = not (noise.constant == 0 or noise.relative == 0)
            for part, (word, number) in enumerate((("constant", noise.constant), ("relative", noise.relative))):
                if isinstance(number, Estimate):
                    own = f"{STEM}.{name}.{word}" if several else f"{STEM}.{name}"
                    at[part, r] = book.add_parameter(own, number, dimension if word == "constant" else DIMENSIONLESS, True)
                else:
                    known[part, r] = number.si if isinstance(number, Quantity) else number
            count, parts = int(campaign.mask[..., _column(campaign, name)].sum()), int((at[:, r] >= 0).sum())
            if count < parts + 1:
                raise ParameterError(
                    f"[noise] {name}: {count} {'value' if count == 1 else 'values'} cannot show {parts} standard"
                    f" {'deviation' if parts == 1 else 'deviations'}. Give one that is known, or measure more."
                )
    problems.raise_if_any(ParameterError)
    return NoiseModel(at[0], at[1], known[0], known[1], estimated)


def _column(campaign: Campaign, name: str) -> int:
    return next(i for i, column in enumerate(campaign.responses) if column.name == name)


def _dimension(spoken: Spoken, campaign: Campaign, name: str, noise: Noise) -> Dimension:
    """The dimension of a standard deviation: that of the response, of its logarithm where logarithms are compared."""
    if isinstance(spoken, ExplicitModel) and any(output.column == name and output.log for output in spoken.outputs):
        if noise.relative != 0:
            raise ParameterError(
                f"[noise] {name}: logarithms of {name} are compared, whose standard deviation is a relative one already. Write"
                f" {name} = {{}}, which is the standard deviation of ln {name}."
            )
        return DIMENSIONLESS
    return campaign.responses[_column(campaign, name)].unit.dimension


def started(
    table: ParameterTable, noise: NoiseModel, units: Sequence[Unit], observed: np.ndarray, weights: np.ndarray
) -> tuple[ParameterTable, np.ndarray]:
    """The table with starts and least values of the standard deviations, and the weights 1/sigma at the start (lane, time, response)."""
    parameters = list(table.parameters)
    for r in np.flatnonzero(noise.estimated).tolist():
        used = weights[..., r] > 0
        values = observed[..., r][used]
        # a temperature in degC, an absorbance about 1: what differs counts, where anything does
        size = float(np.std(values)) or float(np.sqrt(np.mean(values**2))) or units[r].factor
        for positions, typical, unit in ((noise.constant_at, size, _difference(units[r])), (noise.relative_at, 1.0, parse_unit("1"))):
            if positions[r] < 0:
                continue
            p = parameters[positions[r]]
            lower = p.lower if p.lower > 0 else min(LEAST * typical, 0.5 * p.upper)
            start = float(np.clip(SHARE * typical, lower, p.upper)) if np.isnan(p.start) else p.start
            unit = unit if np.isnan(p.start) and not np.isfinite([p.lower, p.upper]).any() else p.unit
            parameters[positions[r]] = replace(p, start=start, lower=lower, unit=unit)
    new = ParameterTable(tuple(parameters))
    sigma = noise.deviation(new.start, observed)
    return new, np.where(noise.estimated & (weights > 0), 1 / np.where(sigma > 0, sigma, 1.0), weights)


def _difference(unit: Unit) -> Unit:
    """The unit of a difference: kelvin of degrees Celsius."""
    return unit if unit.offset == 0 else si_unit(unit.dimension)


def held(table: ParameterTable, noise: NoiseModel) -> ParameterTable:
    """The table with the standard deviations kept at their starts: coordinates of the search still, but between equal bounds."""
    kept = set(noise.positions.tolist())
    return ParameterTable(tuple(replace(p, lower=p.start, upper=p.start) if i in kept else p for i, p in enumerate(table.parameters)))


def known(table: ParameterTable, noise: NoiseModel) -> ParameterTable:
    """The table with the standard deviations known: no coordinates at all."""
    kept = set(noise.positions.tolist())
    return ParameterTable(tuple(replace(p, fixed=True) if i in kept else p for i, p in enumerate(table.parameters)))


def notes(noise: NoiseModel, responses: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Of each parameter of the noise what it is."""
    for r in np.flatnonzero(noise.estimated).tolist():
        if noise.constant_at[r] >= 0:
            yield int(noise.constant_at[r]), f"standard deviation of {responses[r]}"
        if noise.relative_at[r] >= 0:
            yield int(noise.relative_at[r]), f"standard deviation over the predicted {responses[r]}"
