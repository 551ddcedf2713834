"""The units of the data, for numbers that the user gave no unit of his own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kinetix.units import CONCENTRATION, TIME, Dimension, Unit, example_unit, parse_unit

_RATIO = re.compile(r"(?P<amount>[^\W\d]+)/(?P<volume>[^\W\d]+)\^?(?P<power>[1-9]?)")
_USUAL = ("mol/L", "mol/m^3", "mmol/L", "umol/L", "mol/mL")


@dataclass(frozen=True)
class Reporting:
    """Units in which found and predicted numbers are reported.

    Attributes:
        concentration: of the data.
        time: of the data: s, min, h or d.
        time_on_stream: likewise; None where the data have none.
    """

    concentration: str = "mol/L"
    time: str = "s"
    time_on_stream: str | None = None

    def unit(self, dimension: Dimension) -> Unit:
        """The unit of a dimension, made of the data's units of concentration and time where that is possible.

        >>> from kinetix.units import RATE, VOLUME, AMOUNT
        >>> hourly = Reporting("mol/m^3", "h")
        >>> [hourly.unit(d).text for d in (CONCENTRATION, RATE, VOLUME / AMOUNT / TIME, CONCENTRATION**-2 / TIME, TIME)]
        ['mol/m^3', 'mol/m^3/h', 'm^3/mol/h', 'm^6/mol^2/h', 'h']
        """
        a, b = dimension.amount, dimension.time
        if dimension == CONCENTRATION:
            return parse_unit(self.concentration)
        if a.denominator == b.denominator == 1 and dimension == CONCENTRATION**a * TIME**b and (a or b):
            amount, volume, power = self._ratio()
            above = [_power(amount, int(a))] if a > 0 else [_power(volume, -int(a) * power)] if a < 0 else []
            below = [_power(volume, int(a) * power)] if a > 0 else [_power(amount, -int(a))] if a < 0 else []
            (above if b > 0 else below).extend([_power(self.time, abs(int(b)))] if b else [])
            return parse_unit("/".join(["*".join(above) or "1", *below]))
        example = example_unit(dimension)
        return parse_unit(f"{example[:-2]}/{self.time}" if example.endswith("/s") else example)

    def _ratio(self) -> tuple[str, str, int]:
        """mol/m^3 as mol, m and 3; another spelling by the usual unit of the same size."""
        factor = parse_unit(self.concentration).factor
        usual = next((text for text in _USUAL if abs(parse_unit(text).factor / factor - 1) < 1e-12), _USUAL[0])
        match = _RATIO.fullmatch(self.concentration) or _RATIO.fullmatch(usual)
        assert match is not None
        return match["amount"], match["volume"], int(match["power"] or 1)


def _power(symbol: str, exponent: int) -> str:
    return symbol if exponent == 1 else f"{symbol}^{exponent}"
