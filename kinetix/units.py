"""Unit text <-> SI factor and dimension, in the dialect of chemists.

The everyday units are in a small table here, checked against pint symbol by symbol in the tests; any other unit name is looked up in
pint, which is imported only then (it costs 0.3 to 0.5 s). The grammar of compounds is kinetix's own in both cases:

    L/mol/s    mol L-1 s-1    cm^3/mol/s    m³·h⁻¹    L^0.5 mol^-0.5 s^-1    J/(mol K)    1/min    °C    %    -

What can be read in two ways is refused: `J/mol K` (is K below the line?), `C` (coulomb or Celsius?), a number other than 1 in a unit.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from kinetix.errors import UnitError, nearest

if TYPE_CHECKING:
    import jax
    import numpy as np
    import pint

    Numeric = TypeVar("Numeric", float, np.ndarray, jax.Array)


# ---------------------------------------------------------------------------------------------------------------- dimensions


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
        return _quotient(dict(_words(self))) or "dimensionless"


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


@lru_cache(maxsize=1024)
def _words(dimension: Dimension) -> tuple[tuple[str, Fraction], ...]:
    """A dimension as powers of what people speak of: the shortest product, with energy, pressure, volume and area where they fit."""
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


def _quotient(exponents: dict[str, Fraction], names: dict[str, tuple[str, int]] | None = None) -> str:
    """`a*b/c/d^2`; `names` puts a symbol and its power in the place of a word (volume: m, 3)."""

    def written(word: str) -> str:
        name, power = names[word] if names else (word, 1)
        exponent = abs(exponents[word]) * power
        return name if exponent == 1 else f"{name}^{_exponent_text(exponent)}"

    above = [written(word) for word in _ABOVE if exponents.get(word, 0) > 0]
    below = [written(word) for word in _BELOW if exponents.get(word, 0) < 0]
    if not below:
        return "*".join(above)
    return "/".join(["*".join(above) or "1", *below])


def _exponent_text(exponent: Fraction) -> str:
    if exponent.denominator == 1:
        return str(exponent.numerator)
    decimal = f"{float(exponent):.10g}"
    return decimal if Fraction(decimal) == exponent else f"({exponent})"


_SI_NAMES: dict[str, tuple[str, int]] = {
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
    factors = dict(_words(dimension))
    names = _SI_NAMES | {"pressure": ("bar", 1)}
    if "mass" not in factors:
        names["volume"] = ("L", 1)
    if factors in ({"energy": 1}, {"energy": 1, "amount": -1}):
        names["energy"] = ("kJ", 1)
    if factors.get("energy") == 1 and factors.get("time") == -1:
        del factors["time"]
        names["energy"] = ("W", 1)
    return _quotient(factors, names) or "-"


@lru_cache(maxsize=1024)
def si_unit(dimension: Dimension) -> Unit:
    """The coherent SI unit of a dimension; its factor is exactly 1.

    >>> [si_unit(d).text for d in (RATE, VOLUME / AMOUNT / TIME, MOLAR_ENERGY, PRESSURE, TEMPERATURE, DIMENSIONLESS)]
    ['mol/m^3/s', 'm^3/mol/s', 'J/mol', 'Pa', 'K', '-']
    """
    return Unit(_quotient(dict(_words(dimension)), _SI_NAMES) or "-", 1.0, 0.0, dimension)


# --------------------------------------------------------------------------------------------------------- units, quantities


@dataclass(frozen=True)
class Unit:
    """A unit: its text as written, and x [SI] = factor * x + offset (an offset only for degC and degF standing alone).

    >>> unit = parse_unit("degC")
    >>> unit.to_si(250.0), unit.scale_to_si(2.0), str(unit.dimension)
    (523.15, 2.0, 'temperature')
    """

    text: str
    factor: float
    offset: float
    dimension: Dimension

    def to_si(self, x: Numeric) -> Numeric:
        """A value in this unit, in SI."""
        return x * self.factor + self.offset

    def from_si(self, x: Numeric) -> Numeric:
        """An SI value, in this unit."""
        return (x - self.offset) / self.factor

    def scale_to_si(self, x: Numeric) -> Numeric:
        """A difference or a standard deviation in this unit, in SI: the offset does not count."""
        return x * self.factor

    def scale_from_si(self, x: Numeric) -> Numeric:
        """An SI difference or standard deviation, in this unit."""
        return x / self.factor

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Quantity:
    """A number with its unit, both as written; `si` is the value in SI.

    >>> quantity = parse_quantity("25.0 kcal/mol")
    >>> quantity.value, quantity.unit.text, quantity.si
    (25.0, 'kcal/mol', 104600.0)
    """

    value: float
    unit: Unit

    @property
    def si(self) -> float:
        return self.unit.to_si(self.value)

    def __str__(self) -> str:
        return f"{self.value:.15g} {self.unit.text}"


Spoken = TypeVar("Spoken", Unit, Quantity)


def require(value: Spoken, dimension: Dimension, what: str) -> Spoken:
    """`value` itself where it has the dimension; else a `UnitError` that names `what`, both dimensions and a unit that would do.

    >>> require(parse_unit("1/s"), VOLUME / AMOUNT / TIME, "r1.k")
    Traceback (most recent call last):
    kinetix.errors.UnitError: r1.k has unit 1/s (1/time), but volume/amount/time is needed, for example L/mol/s.
    """
    unit = value.unit if isinstance(value, Quantity) else value
    if unit.dimension == dimension:
        return value
    found = f"unit {unit.text} ({unit.dimension})" if unit.text not in _NO_UNIT else "no unit (dimensionless)"
    needed = f"{dimension} is needed, for example {example_unit(dimension)}"
    if dimension.dimensionless:
        needed = "it must be dimensionless: write '-' or '1' as its unit"
    raise UnitError(f"{what} has {found}, but {needed}.")


_QUANTITY = re.compile(r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?P<unit>.*)", re.DOTALL)


def parse_quantity(text: str | float, expect: Dimension | None = None, what: str = "the quantity") -> Quantity:
    """The quantity written as a number and a unit: `"0.1 1/min"`, `"250 degC"`, `"1e-3 m^3/s"`, `"20 %"`, `"5 -"`.

    `expect`: the dimension it must have, where that is known; a number without a unit is then read if it is dimensionless.
    `what` names the quantity in errors.

    Raises `UnitError` where the number or the unit cannot be read, the unit is missing, or the dimension is not the expected one.

    >>> parse_quantity("60 kJ/mol").si
    60000.0
    >>> parse_quantity("0.1")
    Traceback (most recent call last):
    kinetix.errors.UnitError: '0.1' has no unit: write one after the number, for example '0.1 1/s', or '0.1 -' if it is dimensionless.
    """
    written = str(text).strip()
    prefix = "" if what == "the quantity" else f"{what}: "
    match = _QUANTITY.fullmatch(written.replace("−", "-"))
    if match is None:
        example = f"0.1 {example_unit(expect)}" if expect is not None else "0.1 1/min"
        raise UnitError(f"{prefix}cannot read '{_short(written)}' as a number and a unit; write for example '{example}'.")
    number, unit_text = match["number"], match["unit"].strip()
    if not unit_text and (expect is None or not expect.dimensionless):
        example = "1/s" if expect is None else example_unit(expect)
        bare = f", or '{number} -' if it is dimensionless" if expect is None else ""
        raise UnitError(f"{prefix}'{number}' has no unit: write one after the number, for example '{number} {example}'{bare}.")
    if re.match(r",\d", unit_text):
        raise UnitError(f"{prefix}'{_short(written)}' has a decimal comma; write '{number}.{unit_text[1:]}'.")
    if not math.isfinite(float(number)):
        raise UnitError(f"{prefix}{number} is not a finite number.")
    if unit_text.startswith("/"):  # "0.1/min"
        unit_text = "1" + unit_text
    try:
        quantity = Quantity(float(number), parse_unit(unit_text or "-"))
    except UnitError as error:
        raise UnitError(*(f"{prefix}{problem}" for problem in error.problems)) from None
    return quantity if expect is None else require(quantity, expect, what)


# --------------------------------------------------------------------------------------------------------- the text of a unit


_NO_UNIT = ("-", "–", "—", "1", "dimensionless")
_LONGEST_TEXT = 120
_LARGEST_EXPONENT = 12
_ADVICE = "Units are written like 'L/mol/s', 'kJ/mol', '1/min' or 'degC'."

_DEGREES = re.compile(r"(?:°|\bdeg(?:rees?)?)[ ._]?([CFKR])\b")
_PERCENT = re.compile(r"\b(mol|wt|vol)[ .-]*%")
_PRESSURE_KIND = re.compile(r"\b(bar|psi)(?: ?\(| )([ag])\b\)?")
_TOKEN = re.compile(r"(?P<symbol>(?:[^\W\d]|[%‰])+)|(?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<sign>\*\*|[*^/·⋅.()])")


def _plain(text: str) -> str:
    """One spelling of the many: ³ is 3, ⁻ and − are -, µ (micro) is μ (mu), ℃ and º C and deg C are degC, mol-% is mol%, bar(a) is bara.

    NFKC does most of it, but would make the letter o of the ordinal sign that many type for a degree.
    """
    plain = unicodedata.normalize("NFKC", text.replace("º", "°").replace("˚", "°")).replace("−", "-")
    return _PRESSURE_KIND.sub(r"\1\2", _PERCENT.sub(r"\1%", _DEGREES.sub(r"deg\1", plain)))


@lru_cache(maxsize=4096)
def parse_unit(text: str) -> Unit:
    """The unit written in `text`.

    Powers may follow directly or after `^`; `*`, `·`, `.` and a space multiply; `/s` is `1/s`; `-`, `1` and `dimensionless` mean no unit.
    degC and degF are absolute temperatures where they stand alone and differences in a compound (J/mol/degC). A calorie is 4.184 J.

    Raises `UnitError` for a text that is no unit or has two readings, with the nearest unit.

    >>> [parse_unit(text).factor for text in ("L/mol/s", "mol L-1", "1/min", "kcal/mol", "cm³", "%", "lbmol")]
    [0.001, 1000.0, 0.016666666666666666, 4184.0, 1e-06, 0.01, 453.59237]
    >>> parse_unit("1/tau")
    Traceback (most recent call last):
    kinetix.errors.UnitError: unknown unit 'tau' in '1/tau'. Units are written like 'L/mol/s', 'kJ/mol', '1/min' or 'degC'.
    """
    tidy = " ".join(text.split())
    if tidy in _NO_UNIT:
        return Unit("-" if tidy != "1" else "1", 1.0, 0.0, DIMENSIONLESS)
    if not tidy:
        raise UnitError("the unit is empty: write '-' or '1' if the number is dimensionless, else a unit such as 'mol/L'.")
    if len(tidy) > _LONGEST_TEXT:
        raise UnitError(f"'{_short(tidy)}' is no unit: it is {len(tidy)} characters long. {_ADVICE}")
    factors = _factors(tidy)
    if len(factors) == 1 and factors[0][1] == 1:
        symbol = _symbol(factors[0][0], tidy)
        return Unit(tidy, float(symbol.factor), symbol.offset, symbol.dimension)
    factor, dimension = Fraction(1), DIMENSIONLESS
    for name, exponent in factors:
        symbol = _symbol(name, tidy)
        factor *= _raised(symbol.factor, exponent)
        dimension *= symbol.dimension**exponent
    return Unit(tidy, float(factor), 0.0, dimension)


@lru_cache(maxsize=4096)
def _factors(text: str) -> tuple[tuple[str, Fraction], ...]:
    """A unit text as symbols with exponents."""
    return tuple(_UnitParser(f"1{text}" if text.startswith("/") else text).read())


def apart_from(unit: Unit, dimension: Dimension) -> Unit:
    """What is left of a unit without its symbols of one dimension, however it is written.

    >>> [apart_from(parse_unit(text), TIME).text for text in ("mol/L/h", "mol L-1 h-1", "mmol/(L*min)", "µM/s", "1/s")]
    ['mol/L', 'mol/L', 'mmol/L', 'μM', '1']
    """
    tidy = " ".join(unit.text.split())
    if tidy in _NO_UNIT:
        return unit
    kept: dict[str, Fraction] = {}
    for name, exponent in _factors(tidy):
        if _symbol(name, tidy).dimension != dimension:
            kept[name] = kept.get(name, Fraction(0)) + exponent
    powers = {name: name if abs(exponent) == 1 else f"{name}^{_exponent_text(abs(exponent))}" for name, exponent in kept.items()}
    above = "*".join(powers[name] for name, exponent in kept.items() if exponent > 0)
    return parse_unit("/".join([above or "1", *(powers[name] for name, exponent in kept.items() if exponent < 0)]))


_TIMES: dict[Fraction | float, str] = {1: "s", 60: "min", 3600: "h", 86400: "d"}


def time_unit_of(unit: Unit) -> str | None:
    """The unit of time (s, min, h or d) in a unit, however it is written; None where it has none or another.

    >>> [time_unit_of(parse_unit(text)) for text in ("min", "1/h", "h^-1", "mol L-1 hr-1", "mol/L", "ms")]
    ['min', 'h', 'h', 'h', None, None]
    """
    tidy = " ".join(unit.text.split())
    symbols = [_symbol(name, tidy) for name, _ in _factors(tidy)] if tidy not in _NO_UNIT else []
    found = {_TIMES.get(symbol.factor) for symbol in symbols if symbol.dimension == TIME}
    return found.pop() if len(found) == 1 else None


def _raised(factor: Fraction | float, exponent: Fraction) -> Fraction | float:
    """Exact for whole exponents of exact factors, so that cm^3 is 1e-6 to the last digit."""
    return factor**exponent.numerator if exponent.denominator == 1 else float(factor) ** float(exponent)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


class _UnitParser:
    """Recursive descent over one unit text; `read` gives (symbol, exponent) pairs."""

    def __init__(self, text: str) -> None:
        self.text = text
        plain = _plain(text)
        self.tokens: list[re.Match[str]] = []
        position = 0
        while position < len(plain):
            if plain[position] == " ":
                position += 1
                continue
            token = _TOKEN.match(plain, position)
            if token is None:
                raise self.error(f"'{plain[position]}' does not belong in a unit.")
            self.tokens.append(token)
            position = token.end()
        self.next = 0

    def error(self, reason: str) -> UnitError:
        return UnitError(f"cannot read the unit '{self.text}': {reason} {_ADVICE}")

    def peek(self) -> str:
        return self.tokens[self.next].group() if self.next < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.next += 1
        return token

    def kind(self) -> str | None:
        return self.tokens[self.next].lastgroup if self.next < len(self.tokens) else None

    def read(self) -> list[tuple[str, Fraction]]:
        factors = self.product()
        if self.peek():
            raise self.error(f"'{self.peek()}' was not expected.")
        return factors

    def product(self) -> list[tuple[str, Fraction]]:
        factors = self.power()
        divided = False
        while self.peek() and self.peek() != ")":
            if self.peek() == "/":
                self.take()
                factors += [(name, -exponent) for name, exponent in self.power()]
                divided = True
                continue
            if divided:
                raise self.error("a product after '/' has two readings; write J/mol/K or J/(mol K), not J/mol K or J/mol*K.")
            if self.peek() in ("*", "·", "⋅", "."):
                self.take()
            factors += self.power()
        return factors

    def power(self) -> list[tuple[str, Fraction]]:
        kind, token = self.kind(), self.take()
        if kind == "symbol":
            factors = [(token, Fraction(1))]
        elif token == "1":
            return []
        elif token == "(":
            factors = self.product()
            if self.take() != ")":
                raise self.error("a bracket is not closed.")
        elif kind == "number":
            raise self.error(f"the number {token} stands where a unit was expected; a unit holds no number but 1 and exponents.")
        else:
            raise self.error(f"a unit was expected before '{token}'." if token else "a unit was expected at the end.")
        exponent = self.exponent()
        return [(name, inner * exponent) for name, inner in factors]

    def exponent(self) -> Fraction:
        if self.peek() in ("^", "**"):
            self.take()
            bracket = self.peek() == "("
            if bracket:
                self.take()
            exponent = self.number()
            if bracket:
                if self.peek() == "/":
                    self.take()
                    divisor = self.number()
                    if not divisor:
                        raise self.error("an exponent divides by zero.")
                    exponent /= divisor
                if self.take() != ")":
                    raise self.error("the bracket of an exponent is not closed.")
        elif self.kind() == "number" and self.tokens[self.next].start() == self.tokens[self.next - 1].end():
            exponent = self.number()
        else:
            return Fraction(1)
        if abs(exponent) > _LARGEST_EXPONENT:
            raise self.error(f"the exponent {exponent} is too large for a unit.")
        return exponent

    def number(self) -> Fraction:
        if self.kind() != "number":
            raise self.error(f"a number was expected as an exponent, not {self.peek() or 'the end'}.")
        return Fraction(self.take())


# ------------------------------------------------------------------------------------------------------------------- symbols


@dataclass(frozen=True)
class _Symbol:
    factor: Fraction | float
    dimension: Dimension
    offset: float = 0.0


_PREFIXES = {"f": -15, "p": -12, "n": -9, "μ": -6, "u": -6, "m": -3, "c": -2, "d": -1, "h": 2, "k": 3, "M": 6, "G": 9}

# names; factor to SI; dimension; prefixes that the first name takes
_TABLE: tuple[tuple[str, str, Dimension, str], ...] = (
    ("m", "1", LENGTH, "pnμumcdk"),
    ("Å angstrom", "1e-10", LENGTH, ""),
    ("in inch", "0.0254", LENGTH, ""),
    ("ft foot feet", "0.3048", LENGTH, ""),
    ("L liter litre liters litres", "1e-3", VOLUME, "nμumcdh"),
    ("l", "1e-3", VOLUME, "nμumcdh"),
    ("cc ccm", "1e-6", VOLUME, ""),
    ("g gram grams", "1e-3", MASS, "pnμumk"),
    ("gcat", "1e-3", MASS, "mk"),  # of catalyst: mol/(kgcat s)
    ("g_cat", "1e-3", MASS, "mk"),
    ("t tonne", "1000", MASS, ""),
    ("lb lbm pound", "0.45359237", MASS, ""),
    ("s sec second seconds", "1", TIME, "fpnμum"),
    ("min minute minutes", "60", TIME, ""),
    ("h hr hrs hour hours", "3600", TIME, ""),
    ("d day days", "86400", TIME, ""),
    ("week weeks", "604800", TIME, ""),
    ("K kelvin degK", "1", TEMPERATURE, "m"),
    ("degR", "5/9", TEMPERATURE, ""),
    ("mol mole moles", "1", AMOUNT, "fpnμumkM"),
    ("gmol", "1", AMOUNT, ""),
    ("kgmol", "1000", AMOUNT, ""),
    ("lbmol", "453.59237", AMOUNT, ""),
    ("molecule molecules", "1/602214076000000000000000", AMOUNT, ""),
    ("M", "1000", CONCENTRATION, "pnμum"),
    ("J joule joules", "1", ENERGY, "mkMG"),
    ("cal", "4.184", ENERGY, "k"),
    ("BTU Btu", "1055.056", ENERGY, ""),
    ("eV", "1.602176634e-19", ENERGY, "mkM"),
    ("W watt watts", "1", POWER, "mkMG"),
    ("Wh", "3600", ENERGY, "k"),
    ("N", "1", ENERGY / LENGTH, "mk"),
    ("Pa", "1", PRESSURE, "mhkMG"),
    ("bar bara", "1e5", PRESSURE, "m"),
    ("atm", "101325", PRESSURE, ""),
    ("torr", "101325/760", PRESSURE, "m"),
    ("Torr", "101325/760", PRESSURE, "m"),
    ("mmHg", "133.322387415", PRESSURE, ""),
    ("psi psia", "44482216152605/6451600000", PRESSURE, ""),
    ("Hz", "1", DIMENSIONLESS / TIME, "kMG"),
    ("A", "1", CURRENT, "mμu"),
    ("V", "1", POWER / CURRENT, "mk"),
    ("% percent wt% mol% vol%", "0.01", DIMENSIONLESS, ""),
    ("‰", "1e-3", DIMENSIONLESS, ""),
    ("ppm ppmv", "1e-6", DIMENSIONLESS, ""),
    ("ppb", "1e-9", DIMENSIONLESS, ""),
)

_CELSIUS = _Symbol(Fraction(1), TEMPERATURE, 273.15)
_FAHRENHEIT = _Symbol(Fraction(5, 9), TEMPERATURE, 45967 / 180)

_GAUGE = "a gauge pressure needs the local atmospheric pressure: give the absolute pressure in psia, bar or Pa"
_STANDARD = (
    "a flow or volume at standard conditions, and there are several (0 or 20 degC, 1 atm or 1 bar): write mL/min at the conditions of the "
    "reactor, or mmol/min"
)
_REFUSED = {
    "C": "it may be coulomb or degrees Celsius: write degC (or 'coulomb')",
    "F": "it may be farad or degrees Fahrenheit: write degF (or 'farad')",
    "R": "it is no unit: write degR for degrees Rankine",
    "au": "it may be an absorbance or arbitrary unit or a distance: write '-' for an absorbance or arbitrary unit",
    "pH": "a logarithmic scale has no factor to SI: write '-' and use the number as it is",
    "psig": _GAUGE,
    "barg": _GAUGE,
    **dict.fromkeys(("sccm", "SCCM", "slm", "SLM", "slpm", "SLPM", "sccs", "scfh", "NmL", "Nml", "NL", "Nl", "Nm", "mln", "ln"), _STANDARD),
}


def _table() -> dict[str, _Symbol]:
    symbols = {"degC": _CELSIUS, "celsius": _CELSIUS, "Celsius": _CELSIUS, "degF": _FAHRENHEIT, "Fahrenheit": _FAHRENHEIT}
    for names, factor, dimension, prefixes in _TABLE:
        first, *others = names.split()
        base = Fraction(factor)
        for name in (first, *others):
            symbols[name] = _Symbol(base, dimension)
        for prefix in prefixes:
            symbols[prefix + first] = _Symbol(base * Fraction(10) ** _PREFIXES[prefix], dimension)
    return symbols


_SYMBOLS = _table()


def _symbol(name: str, text: str) -> _Symbol:
    where = f"'{name}'" if name == text else f"'{name}' in '{text}'"
    if name in _REFUSED:
        raise UnitError(f"the unit {where} is refused: {_REFUSED[name]}.")
    found = _SYMBOLS.get(name) or _symbol_of_pint(name)
    if found is None:
        alike = [known for known in _SYMBOLS if known[0].casefold() == name[0].casefold()]
        raise UnitError(f"unknown unit {where}.{nearest(name, alike)} {_ADVICE}")
    return found


@lru_cache(maxsize=1024)
def _symbol_of_pint(name: str) -> _Symbol | None:
    """One unit name as pint knows it, or None: unknown, logarithmic, of a dimension outside SI, or a single letter outside the table
    (pint's c, e, k, R, S, T, ... are far more often a variable typed as a unit)."""
    if not name.isidentifier() or (len(name) == 1 and name.isascii()):
        return None
    import pint

    registry = _pint_registry()
    try:
        unit = registry.parse_units(name)
        zero, one = (float(registry.Quantity(x, unit).to_base_units().magnitude) for x in (0.0, 1.0))
    except (pint.PintError, AttributeError, ValueError, ZeroDivisionError):
        return None
    bases = {str(base).strip("[]").replace("substance", "amount"): float(str(power)) for base, power in unit.dimensionality.items()}
    if not bases.keys() <= {field.name for field in fields(Dimension)}:
        return None
    dimension = Dimension(**{base: Fraction(power).limit_denominator(1000) for base, power in bases.items()})
    if zero and dimension != TEMPERATURE:
        return None
    return _Symbol(one - zero, dimension, zero)


@lru_cache(maxsize=1)
def _pint_registry() -> pint.UnitRegistry:
    import pint

    return pint.UnitRegistry()
