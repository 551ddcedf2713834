"""The text of a unit <-> its factor to SI and its dimension: a grammar of symbols, powers, products and quotients."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from kinetix.errors import UnitError
from kinetix.units.dimensions import (
    DIMENSIONLESS,
    SI_NAMES,
    TIME,
    Dimension,
    exponent_text,
    quotient,
    words,
)
from kinetix.units.symbols import ADVICE, symbol

if TYPE_CHECKING:
    import jax
    import numpy as np

    Numeric = TypeVar("Numeric", float, np.ndarray, jax.Array)


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


@lru_cache(maxsize=1024)
def si_unit(dimension: Dimension) -> Unit:
    """The coherent SI unit of a dimension; its factor is exactly 1.

    >>> from kinetix.units import AMOUNT, MOLAR_ENERGY, PRESSURE, RATE, TEMPERATURE, VOLUME
    >>> [si_unit(d).text for d in (RATE, VOLUME / AMOUNT / TIME, MOLAR_ENERGY, PRESSURE, TEMPERATURE, DIMENSIONLESS)]
    ['mol/m^3/s', 'm^3/mol/s', 'J/mol', 'Pa', 'K', '-']
    """
    return Unit(quotient(dict(words(dimension)), SI_NAMES) or "-", 1.0, 0.0, dimension)


NO_UNIT = ("-", "–", "—", "1", "dimensionless")
_LONGEST_TEXT = 120
_LARGEST_EXPONENT = 12

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
    if tidy in NO_UNIT:
        return Unit("-" if tidy != "1" else "1", 1.0, 0.0, DIMENSIONLESS)
    if not tidy:
        raise UnitError("the unit is empty: write '-' or '1' if the number is dimensionless, else a unit such as 'mol/L'.")
    if len(tidy) > _LONGEST_TEXT:
        raise UnitError(f"'{short(tidy)}' is no unit: it is {len(tidy)} characters long. {ADVICE}")
    factors = _factors(tidy)
    if len(factors) == 1 and factors[0][1] == 1:
        only = symbol(factors[0][0], tidy)
        return Unit(tidy, float(only.factor), only.offset, only.dimension)
    factor, dimension = Fraction(1), DIMENSIONLESS
    for name, exponent in factors:
        known = symbol(name, tidy)
        factor *= _raised(known.factor, exponent)
        dimension *= known.dimension**exponent
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
    if tidy in NO_UNIT:
        return unit
    kept: dict[str, Fraction] = {}
    for name, exponent in _factors(tidy):
        if symbol(name, tidy).dimension != dimension:
            kept[name] = kept.get(name, Fraction(0)) + exponent
    powers = {name: name if abs(exponent) == 1 else f"{name}^{exponent_text(abs(exponent))}" for name, exponent in kept.items()}
    above = "*".join(powers[name] for name, exponent in kept.items() if exponent > 0)
    return parse_unit("/".join([above or "1", *(powers[name] for name, exponent in kept.items() if exponent < 0)]))


_TIMES: dict[Fraction | float, str] = {1: "s", 60: "min", 3600: "h", 86400: "d"}


def time_unit_of(unit: Unit) -> str | None:
    """The unit of time (s, min, h or d) in a unit, however it is written; None where it has none or another.

    >>> [time_unit_of(parse_unit(text)) for text in ("min", "1/h", "h^-1", "mol L-1 hr-1", "mol/L", "ms")]
    ['min', 'h', 'h', 'h', None, None]
    """
    tidy = " ".join(unit.text.split())
    symbols = [symbol(name, tidy) for name, _ in _factors(tidy)] if tidy not in NO_UNIT else []
    found = {_TIMES.get(one.factor) for one in symbols if one.dimension == TIME}
    return found.pop() if len(found) == 1 else None


def _raised(factor: Fraction | float, exponent: Fraction) -> Fraction | float:
    """Exact for whole exponents of exact factors, so that cm^3 is 1e-6 to the last digit."""
    return factor**exponent.numerator if exponent.denominator == 1 else float(factor) ** float(exponent)


def short(text: str) -> str:
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
        return UnitError(f"cannot read the unit '{self.text}': {reason} {ADVICE}")

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
