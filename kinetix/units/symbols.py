"""The symbols of units, each with its factor to SI, dimension and prefixes; what this table does not have is looked up in pint."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from kinetix.errors import UnitError, nearest
from kinetix.units.dimensions import (
    AMOUNT,
    CONCENTRATION,
    CURRENT,
    DIMENSIONLESS,
    ENERGY,
    LENGTH,
    MASS,
    POWER,
    PRESSURE,
    TEMPERATURE,
    TIME,
    VOLUME,
    Dimension,
)

if TYPE_CHECKING:
    import pint

ADVICE = "Units are written like 'L/mol/s', 'kJ/mol', '1/min' or 'degC'."


@dataclass(frozen=True)
class Symbol:
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

_CELSIUS = Symbol(Fraction(1), TEMPERATURE, 273.15)
_FAHRENHEIT = Symbol(Fraction(5, 9), TEMPERATURE, 45967 / 180)

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


def _table() -> dict[str, Symbol]:
    symbols = {"degC": _CELSIUS, "celsius": _CELSIUS, "Celsius": _CELSIUS, "degF": _FAHRENHEIT, "Fahrenheit": _FAHRENHEIT}
    for names, factor, dimension, prefixes in _TABLE:
        first, *others = names.split()
        base = Fraction(factor)
        for name in (first, *others):
            symbols[name] = Symbol(base, dimension)
        for prefix in prefixes:
            symbols[prefix + first] = Symbol(base * Fraction(10) ** _PREFIXES[prefix], dimension)
    return symbols


SYMBOLS = _table()


def symbol(name: str, text: str) -> Symbol:
    where = f"'{name}'" if name == text else f"'{name}' in '{text}'"
    if name in _REFUSED:
        raise UnitError(f"the unit {where} is refused: {_REFUSED[name]}.")
    found = SYMBOLS.get(name) or _symbol_of_pint(name)
    if found is None:
        alike = [known for known in SYMBOLS if known[0].casefold() == name[0].casefold()]
        raise UnitError(f"unknown unit {where}.{nearest(name, alike)} {ADVICE}")
    return found


@lru_cache(maxsize=1024)
def _symbol_of_pint(name: str) -> Symbol | None:
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
    return Symbol(one - zero, dimension, zero)


@lru_cache(maxsize=1)
def _pint_registry() -> pint.UnitRegistry:
    import pint

    return pint.UnitRegistry()
