"""What a user says of a number: known, or to be estimated; and of a constant that depends on temperature."""

from __future__ import annotations

from dataclasses import dataclass

from kinetix.units import Quantity, Unit


@dataclass(frozen=True)
class Prior:
    """What was known of a number before: normal with a mean and a standard deviation, or log-normal with a median and a factor.

    Attributes:
        center: mean, or median.
        spread: standard deviation, in any unit of the same dimension; or the factor within which 68 % lie to either side of the median.
    """

    center: Quantity
    spread: Quantity | float


@dataclass(frozen=True)
class Estimate:
    """A number that the fit finds.

    Attributes:
        start: where the fit starts; None: to be found from the data.
        lower: lower bound, or None.
        upper: upper bound, or None.
        scale: "log" or "linear"; None lets the kind of constant decide (positive constants: log).
        fixed: keep the start as it is.
        unit: to report in, where there is neither start nor bound to take it from.
        prior: what was known of it before; also its start where none is given.
    """

    start: Quantity | None
    lower: Quantity | None = None
    upper: Quantity | None = None
    scale: str | None = None
    fixed: bool = False
    unit: Unit | None = None
    prior: Prior | None = None


Number = Quantity | Estimate
"""A plain quantity is known; an `Estimate` is fitted."""


def unit_of(number: Number) -> Unit | None:
    """The unit in which a number is written: of the quantity, the start, a bound, or as said; None where nothing says it."""
    if isinstance(number, Quantity):
        return number.unit
    center = None if number.prior is None else number.prior.center
    quantities = (number.start, number.lower, number.upper, center)
    return next((quantity.unit for quantity in quantities if quantity is not None), number.unit)


@dataclass(frozen=True)
class TemperatureLaw:
    """How one constant depends on temperature, as the user wrote it.

    Attributes:
        value: the constant itself: at the temperature `at`, or the pre-exponential factor.
        factor: whether `value` is the pre-exponential factor A (k = A (T/1 K)^b exp(-Ea/(R T))).
        at: temperature of `value` in K; None: the reference temperature of the data.
        energy: activation energy or enthalpy; None: the constant does not depend on temperature.
        exponent: b of the three-parameter law; None: 0.
        eyring: whether the law is Eyring's: `energy` is then the enthalpy of activation and `value`, where `factor` is true, the
            entropy of activation.
        enthalpy: whether `energy` was written as dH, of an equilibrium by van 't Hoff, and not as Ea.
    """

    value: Number
    factor: bool = False
    at: float | None = None
    energy: Number | None = None
    exponent: Number | None = None
    eyring: bool = False
    enthalpy: bool = False
