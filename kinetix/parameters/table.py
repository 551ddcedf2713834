"""The parameters of a problem: names, units, starts, bounds, scales; and the map from free coordinates to physical values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.errors import ParameterError
from kinetix.padding import padded
from kinetix.parameters.reporting import Reporting
from kinetix.parameters.specification import Number, Prior, unit_of
from kinetix.units import Dimension, Quantity, Unit, require


@dataclass(frozen=True)
class Parameter:
    """One number of a problem, known or estimated; `start` (NaN: to be found from the data), `lower`, `upper` in SI.

    Attributes:
        name: `r1.k_ref`, `r1.Ea`, `initial.A`, ...
        unit: the unit it is read and reported in.
        start: value, or where the fit starts.
        lower, upper: bounds, infinite where there are none.
        scale: coordinate of the fit: "log" or "linear".
        fixed: known, or kept.
        literal: a number that the rate law itself fixes (a known order, a reference concentration); not shown among the parameters.
        written: the known number from which a literal was computed, listed in its place.
        prior: what was known of it before.
    """

    name: str
    unit: Unit
    start: float
    lower: float
    upper: float
    scale: str
    fixed: bool
    literal: bool = False
    written: Parameter | None = None
    prior: Belief | None = None


@dataclass(frozen=True)
class Belief:
    """A prior as a residual: (x - center)/width, with x the value, SI, or its logarithm."""

    center: float
    width: float
    logarithm: bool

    def residual(self, value: float) -> tuple[float, float]:
        """The residual and its derivative by the value."""
        if self.logarithm:
            return float(np.log(value) - self.center) / self.width, 1 / (self.width * value)
        return (value - self.center) / self.width, 1 / self.width


def _belief(name: str, prior: Prior, dimension: Dimension | None) -> Belief:
    """A prior in SI.

    Raises:
        ParameterError, UnitError: a median that is not positive, a spread that is no spread, a wrong unit.
    """
    require(prior.center, dimension if dimension is not None else prior.center.unit.dimension, f"{name}, prior")
    if isinstance(prior.spread, Quantity):
        require(prior.spread, prior.center.unit.dimension, f"{name}, prior sd")
        sd = prior.spread.value * prior.spread.unit.factor
        if not sd > 0:
            raise ParameterError(f"Parameter '{name}': its prior has the standard deviation {_text(prior.spread)}; expected more than 0.")
        return Belief(prior.center.si, sd, False)
    if not (prior.center.si > 0 and prior.spread > 1):
        raise ParameterError(
            f"Parameter '{name}': a prior with a factor needs a median above 0 and a factor above 1, such as"
            f' {{ median = "0.1 1/s", factor = 2 }}; found {_text(prior.center)} and {prior.spread:g}.'
        )
    return Belief(float(np.log(prior.center.si)), float(np.log(prior.spread)), True)


def parameter(name: str, number: Number, dimension: Dimension | None, positive: bool, reporting: Reporting | None = None) -> Parameter:
    """A checked parameter.

    Args:
        name: its full name, for messages.
        number: what the user wrote.
        dimension: what its unit must be, or None for any.
        positive: whether it is fitted on a log scale unless the user says otherwise.
        reporting: units of numbers without a unit of their own.

    Raises:
        ParameterError, UnitError: a missing start, a wrong unit, impossible bounds.
    """
    if isinstance(number, Quantity):
        if dimension is not None:
            require(number, dimension, name)
        return Parameter(name, number.unit, number.si, -np.inf, np.inf, "linear", True)
    if number.unit is not None and dimension is not None:
        require(number.unit, dimension, name)
    belief = None if number.prior is None else _belief(name, number.prior, dimension)
    if number.start is None and number.prior is not None:
        number = replace(number, start=number.prior.center)
    written = [quantity for quantity in (number.start, number.lower, number.upper) if quantity is not None]
    for quantity in written:
        require(quantity, dimension if dimension is not None else written[0].unit.dimension, name)
    scale = number.scale or ("log" if positive else "linear")
    lower = number.lower.si if number.lower is not None else -np.inf
    upper = number.upper.si if number.upper is not None else np.inf
    if lower > upper:
        raise ParameterError(
            f"Parameter '{name}': lower bound {_text(number.lower)} is above upper bound {_text(number.upper)}. Swap them."
        )
    if lower == upper and not number.fixed:
        raise ParameterError(f"Parameter '{name}': both bounds are {_text(number.lower)}. Write it as a plain quantity, or fixed = true.")
    if scale == "log" and number.lower is not None and lower <= 0:
        raise ParameterError(
            f"Parameter '{name}' is fitted on a log scale, so its lower bound must be above 0 (got {_text(number.lower)})."
            ' Give a small positive bound, or write scale = "linear".'
        )
    if number.start is None:
        if number.fixed:
            raise ParameterError(f"Parameter '{name}' is fixed, but at what value? Write it as a plain quantity.")
        unit = number.unit or unit_of(number)
        if unit is None and dimension is None:
            raise ParameterError(f'Parameter \'{name}\' has neither start nor unit. Write start = "...", or unit = "..." alone.')
        if unit is None:
            assert dimension is not None
            unit = (reporting or Reporting()).unit(dimension)
        return Parameter(name, unit, np.nan, lower, upper, scale, False)
    start = number.start.si
    if scale == "log" and start <= 0:
        raise ParameterError(
            f"Parameter '{name}' is fitted on a log scale, so its start must be above 0 (got {_text(number.start)})."
            ' Give a positive start, or write scale = "linear".'
        )
    if not lower <= start <= upper:
        bound = f"below its lower bound {_text(number.lower)}" if start < lower else f"above its upper bound {_text(number.upper)}"
        raise ParameterError(f"Parameter '{name}': start {_text(number.start)} is {bound}. Start inside the bounds, or widen them.")
    return Parameter(name, number.start.unit, start, lower, upper, scale, number.fixed, prior=belief)


def _text(quantity: Quantity | None) -> str:
    assert quantity is not None
    return f"{quantity.value:g} {quantity.unit.text}".strip()


@partial(jax.tree_util.register_dataclass, data_fields=["base", "free", "is_log"], meta_fields=[])
@dataclass(frozen=True)
class Coordinates:
    """The map from the free coordinates of a fit to the physical values of all parameters.

    Attributes:
        base: (parameter,) starts, SI; what fixed parameters stay at. May be longer than the parameters.
        free: (free,) positions of the estimated parameters.
        is_log: (free,) whether the coordinate is the logarithm of the value.
    """

    base: jax.Array | np.ndarray
    free: jax.Array | np.ndarray
    is_log: jax.Array | np.ndarray

    def physical(self, theta: jax.Array) -> jax.Array:
        """Physical values of all parameters, SI, (parameter,), from the free coordinates (free,)."""
        safe = jnp.where(self.is_log, theta, 0.0)
        return jnp.asarray(self.base).at[self.free].set(jnp.where(self.is_log, jnp.exp(safe), theta))

    def slope(self, values: np.ndarray) -> np.ndarray:
        """d value / d coordinate of the free parameters at physical values (parameter,); shape (free,)."""
        return np.where(self.is_log, np.asarray(values)[self.free], 1.0)


@dataclass(frozen=True)
class ParameterTable:
    """All parameters of a problem in order.

    >>> from kinetix.parameters import Estimate
    >>> from kinetix.units import parse_quantity
    >>> table = ParameterTable((parameter("k", Estimate(parse_quantity("6 1/min")), None, positive=True),))
    >>> table.names, float(table.start[0])
    (('k',), 0.1)
    """

    parameters: tuple[Parameter, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters)

    @property
    def start(self) -> np.ndarray:
        """Starts in SI, (parameter,)."""
        return np.array([p.start for p in self.parameters])

    @property
    def fixed(self) -> np.ndarray:
        return np.array([p.fixed for p in self.parameters], dtype=bool)

    @property
    def shown(self) -> np.ndarray:
        """Positions of the parameters that results list, (shown,)."""
        return np.array([i for i, p in enumerate(self.parameters) if p.written is not None or not p.literal], dtype=np.int32)

    @property
    def listed(self) -> tuple[Parameter, ...]:
        """The parameters as results list them, (shown,)."""
        return tuple(self.parameters[i].written or self.parameters[i] for i in self.shown)

    def listed_values(self, values: np.ndarray) -> np.ndarray:
        """Physical values (parameter,) as results list them, (shown,)."""
        return np.array(
            [values[i] if self.parameters[i].written is None else p.start for i, p in zip(self.shown, self.listed, strict=True)]
        )

    @property
    def free(self) -> np.ndarray:
        """Positions of the estimated parameters, (free,)."""
        return np.flatnonzero(~self.fixed).astype(np.int32)

    def started(self, start: np.ndarray) -> ParameterTable:
        """The table with other starts, SI, (parameter,)."""
        return ParameterTable(tuple(replace(p, start=float(value)) for p, value in zip(self.parameters, start, strict=True)))

    def coordinates(self) -> Coordinates:
        """Map between free coordinates and physical values."""
        is_log = np.array([self.parameters[i].scale == "log" for i in self.free], dtype=bool)
        # filled up to a padded size, so that one compiled program serves problems of about the same size
        base = np.pad(self.start, (0, padded(len(self.parameters)) - len(self.parameters)))
        return Coordinates(base, self.free, is_log)

    def free_start(self) -> np.ndarray:
        """Start in free coordinates, (free,)."""
        return self._free_coordinates([p.start for p in self.parameters])

    @property
    def priors(self) -> np.ndarray:
        """Which of the estimated parameters have a prior, (free,)."""
        return np.array([self.parameters[i].prior is not None for i in self.free], dtype=bool)

    def prior_rows(self, theta: np.ndarray) -> np.ndarray:
        """Residuals of the priors behind their derivatives by the free coordinates, (prior, free + 1): rows of [J r].

        Source: the sum of squares of data and priors is minus twice the logarithm of the posterior density, but for a constant
        (Y. Bard, Nonlinear Parameter Estimation, Academic Press 1974, section 4.16).
        """
        values = self.values(theta)
        slope = self.coordinates().slope(values)
        rows = np.zeros((int(self.priors.sum()), theta.size + 1))
        for row, j in enumerate(np.flatnonzero(self.priors)):
            prior = self.parameters[self.free[j]].prior
            assert prior is not None
            rows[row, -1], derivative = prior.residual(float(values[self.free[j]]))
            rows[row, j] = derivative * slope[j]
        return rows

    def free_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds in free coordinates, (free,) each."""
        lower = self._free_coordinates([p.lower for p in self.parameters])
        return lower, self._free_coordinates([p.upper for p in self.parameters])

    def values(self, theta: np.ndarray) -> np.ndarray:
        """Physical values of all parameters, SI, (parameter,), at free coordinates (free,), on the host."""
        values = self.start
        for i, coordinate in zip(self.free, theta, strict=True):
            values[i] = np.exp(coordinate) if self.parameters[i].scale == "log" else coordinate
        return values

    def _free_coordinates(self, values: list[float]) -> np.ndarray:
        out = []
        for i in self.free:
            value = values[i]
            if self.parameters[i].scale == "log":
                out.append(np.log(value) if value > 0 else -np.inf)
            else:
                out.append(value)
        return np.array(out, dtype=float)
