"""What kind of quantity a number is, and how a chemist says it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache


@dataclass(frozen=True)
class Dimension:
    """What kind of quantity a number is: exponents of the seven SI base quantities; `*`, `/` and `**` work as they do for units.

    `str()` gives the words a chemist uses.

    >>> str(VOLUME / AMOUNT / TIME), str(CONCENTRATION**-0.5 / TIME), str(MOLAR_ENERGY / TEMPERATURE)
    ('volume/amount/time', 'volume^0.5/amount^0.5/time', 'energy/amount/temperature')
    >>> (CONCENTRATION / CONCENTRATION).dimensionless
    True
    """

    length: Fraction = Fraction(0)
    mass: Fraction = Fraction(0)
    time: Fraction = Fraction(0)
    temperature: Fraction = Fraction(0)
    amount: Fraction = Fraction(0)
    current: Fraction = Fraction(0)
    luminosity: Fraction = Fraction(0)

    @property
    def exponents(self) -> tuple[Fraction, ...]:
        """The seven exponents in the order of the fields."""
        return (self.length, self.mass, self.time, self.temperature, self.amount, self.current, self.luminosity)

    @property
    def dimensionless(self) -> bool:
        return not any(self.exponents)

    def __mul__(self, other: Dimension) -> Dimension:
        return Dimension(*(a + b for a, b in zip(self.exponents, other.exponents, strict=True)))

    def __truediv__(self, other: Dimension) -> Dimension:
        return Dimension(*(a - b for a, b in zip(self.exponents, other.exponents, strict=True)))

    def __pow__(self, exponent: float | Fraction) -> Dimension:
        power = Fraction(exponent).limit_denominator(10_000)
        return Dimension(*(a * power for a in self.exponents))

    def __str__(self) -> str:
        return quotient(dict(words(self))) or "dimensionless"


DIMENSIONLESS = Dimension()
LENGTH = Dimension(length=Fraction(1))
MASS = Dimension(mass=Fraction(1))
TIME = Dimension(time=Fraction(1))
TEMPERATURE = Dimension(temperature=Fraction(1))
AMOUNT = Dimension(amount=Fraction(1))
CURRENT = Dimension(current=Fraction(1))
LUMINOSITY = Dimension(luminosity=Fraction(1))
AREA = LENGTH**2
VOLUME = LENGTH**3
ENERGY = MASS * AREA / TIME**2
POWER = ENERGY / TIME
PRESSURE = ENERGY / VOLUME
CONCENTRATION = AMOUNT / VOLUME
RATE = CONCENTRATION / TIME
FLOW = VOLUME / TIME
MOLAR_FLOW = AMOUNT / TIME
MOLAR_ENERGY = ENERGY / AMOUNT
MOLAR_HEAT_CAPACITY = MOLAR_ENERGY / TEMPERATURE
DENSITY = MASS / VOLUME

# The order in which words stand above and below the line: mol/kg/s, J/mol/K, L/mol/s.
_ABOVE = ("energy", "pressure", "amount", "mass", "volume", "area", "length", "temperature", "current", "luminosity", "time")
_BELOW = ("volume", "area", "length", "mass", "amount", "temperature", "current", "luminosity", "time", "pressure", "energy")


_PER_KELVIN = tuple((word, Fraction(power)) for word, power in (("energy", 1), ("volume", -1), ("temperature", -1)))
"""A volumetric heat capacity, of which nobody speaks as a pressure per temperature."""


@lru_cache(maxsize=1024)
def words(dimension: Dimension) -> tuple[tuple[str, Fraction], ...]:
    """A dimension as powers of what people speak of: the shortest product, with energy, pressure, volume and area where they fit."""
    if dimension == ENERGY / VOLUME / TEMPERATURE:
        return _PER_KELVIN
    if dimension == ENERGY / VOLUME / TEMPERATURE / TIME:
        return (*_PER_KELVIN, ("time", Fraction(-1)))
    mass = dimension.mass
    pressures = dict.fromkeys((Fraction(0), mass, mass + 1, mass - 1))
    candidates = (
        (("pressure", p), ("energy", e), *_plain_words(dimension / PRESSURE**p / ENERGY**e))
        for p in pressures
        for e in dict.fromkeys((Fraction(0), mass - p, mass - p + 1, mass - p - 1))
    )
    written = [tuple((word, exponent) for word, exponent in candidate if exponent) for candidate in candidates]
    return min(written, key=_awkwardness)


def _awkwardness(product: tuple[tuple[str, Fraction], ...]) -> float:
    """More words and higher powers are harder to read; roots of a mass or a length come from roots of a pressure."""
    roots = sum(exponent.denominator > 1 and word in ("mass", "area", "length") for word, exponent in product)
    return 2 * roots + sum(1 + abs(float(exponent)) ** 1.5 for _, exponent in product)


def _plain_words(dimension: Dimension) -> list[tuple[str, Fraction]]:
    length, amount = dimension.length, dimension.amount
    if length % Fraction(3, 2) == 0 or abs(length) == 3 * abs(amount):  # also concentration to any power
        space = ("volume", length / 3)
    elif abs(length) == 2:
        space = ("area", length / 2)
    else:
        space = ("length", length)
    return [space, *((field.name, getattr(dimension, field.name)) for field in fields(Dimension)[1:])]


def quotient(exponents: dict[str, Fraction], names: dict[str, tuple[str, int]] | None = None) -> str:
    """`a*b/c/d^2`; `names` puts a symbol and its power in the place of a word (volume: m, 3)."""

    def written(word: str) -> str:
        name, power = names[word] if names else (word, 1)
        exponent = abs(exponents[word]) * power
        return name if exponent == 1 else f"{name}^{exponent_text(exponent)}"

    above = [written(word) for word in _ABOVE if exponents.get(word, 0) > 0]
    below = [written(word) for word in _BELOW if exponents.get(word, 0) < 0]
    if not below:
        return "*".join(above)
    return "/".join(["*".join(above) or "1", *below])


def exponent_text(exponent: Fraction) -> str:
    if exponent.denominator == 1:
        return str(exponent.numerator)
    decimal = f"{float(exponent):.10g}"
    return decimal if Fraction(decimal) == exponent else f"({exponent})"


SI_NAMES: dict[str, tuple[str, int]] = {
    "energy": ("J", 1),
    "pressure": ("Pa", 1),
    "amount": ("mol", 1),
    "mass": ("kg", 1),
    "volume": ("m", 3),
    "area": ("m", 2),
    "length": ("m", 1),
    "temperature": ("K", 1),
    "current": ("A", 1),
    "luminosity": ("cd", 1),
    "time": ("s", 1),
}


def example_unit(dimension: Dimension) -> str:
    """A unit text that a chemist would write for this dimension.

    >>> [example_unit(d) for d in (VOLUME / AMOUNT / TIME, CONCENTRATION, MOLAR_ENERGY, TEMPERATURE, DENSITY, DIMENSIONLESS)]
    ['L/mol/s', 'mol/L', 'kJ/mol', 'K', 'kg/m^3', '-']
    """
    factors = dict(words(dimension))
    names = SI_NAMES | {"pressure": ("bar", 1)}
    if "mass" not in factors:
        names["volume"] = ("L", 1)
    if factors in ({"energy": 1}, {"energy": 1, "amount": -1}):
        names["energy"] = ("kJ", 1)
    if factors.get("energy") == 1 and factors.get("time") == -1:
        del factors["time"]
        names["energy"] = ("W", 1)
    return quotient(factors, names) or "-"
