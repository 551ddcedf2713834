"""A number with its unit, and the check that it has the dimension that is needed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TypeVar

from kinetix.errors import UnitError
from kinetix.units.dimensions import Dimension, example_unit
from kinetix.units.text import NO_UNIT, Unit, parse_unit, short


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

    >>> from kinetix.units import AMOUNT, TIME, VOLUME
    >>> require(parse_unit("1/s"), VOLUME / AMOUNT / TIME, "r1.k")
    Traceback (most recent call last):
    kinetix.errors.UnitError: r1.k has unit 1/s (1/time), but volume/amount/time is needed, for example L/mol/s.
    """
    unit = value.unit if isinstance(value, Quantity) else value
    if unit.dimension == dimension:
        return value
    found = f"unit {unit.text} ({unit.dimension})" if unit.text not in NO_UNIT else "no unit (dimensionless)"
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
        raise UnitError(f"{prefix}cannot read '{short(written)}' as a number and a unit; write for example '{example}'.")
    number, unit_text = match["number"], match["unit"].strip()
    if not unit_text and (expect is None or not expect.dimensionless):
        example = "1/s" if expect is None else example_unit(expect)
        bare = f", or '{number} -' if it is dimensionless" if expect is None else ""
        raise UnitError(f"{prefix}'{number}' has no unit: write one after the number, for example '{number} {example}'{bare}.")
    if re.match(r",\d", unit_text):
        raise UnitError(f"{prefix}'{short(written)}' has a decimal comma; write '{number}.{unit_text[1:]}'.")
    if not math.isfinite(float(number)):
        raise UnitError(f"{prefix}{number} is not a finite number.")
    if unit_text.startswith("/"):  # "0.1/min"
        unit_text = "1" + unit_text
    try:
        quantity = Quantity(float(number), parse_unit(unit_text or "-"))
    except UnitError as error:
        raise UnitError(*(f"{prefix}{problem}" for problem in error.problems)) from None
    return quantity if expect is None else require(quantity, expect, what)
