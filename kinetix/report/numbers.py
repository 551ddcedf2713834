"""Numbers as a careful person writes them: as many digits as the standard error supports."""

from __future__ import annotations

import math
from typing import NamedTuple

ERROR_DIGITS = 2
MOST_DIGITS = 12
WITHOUT_ERROR = 6
FIXED_POINT = range(-4, 7)
"""Decimal exponents that are written without a power of ten."""


class Row(NamedTuple):
    """An estimate, its standard error and the ends of its interval as text."""

    value: str
    stderr: str
    lower: str
    upper: str


def significant(value: float, digits: int = WITHOUT_ERROR) -> str:
    """`value` with so many significant digits; `-` where there is none.

    >>> significant(0.000123456789), significant(1.5e10, 3), significant(float("nan"))
    ('0.000123457', '1.5e+10', '-')
    """
    return "-" if math.isnan(value) else f"{value:.{digits}g}"


def estimate(value: float, stderr: float, lower: float, upper: float) -> Row:
    """Two digits of the error and the value to the same decimal place; six digits where there is no error.

    The ends of a symmetric interval follow the error too, those of another each its own distance from the value.

    >>> estimate(0.3519770, 0.01015096, 0.3279738, 0.3759802)
    Row(value='0.352', stderr='0.010', lower='0.328', upper='0.376')
    >>> estimate(74511.958, 1015.88, 71691.4, 77332.5)
    Row(value='74500', stderr='1000', lower='71700', upper='77300')
    >>> estimate(8.28e10, 3.13e10, 2.90e10, 2.36e11)
    Row(value='8.3e+10', stderr='3.1e+10', lower='2.9e+10', upper='2.36e+11')
    >>> estimate(2.3, math.nan, math.nan, math.nan)
    Row(value='2.3', stderr='-', lower='-', upper='-')
    """
    if not (math.isfinite(value) and math.isfinite(stderr) and stderr > 0):
        return Row(*(significant(number) for number in (value, stderr, lower, upper)))
    fixed = value == 0 or _exponent(value, WITHOUT_ERROR) in FIXED_POINT
    place = _last_place(stderr)
    if value != 0:
        place = min(max(place, _exponent(value, MOST_DIGITS) - MOST_DIGITS + 1), _exponent(value, ERROR_DIGITS) - ERROR_DIGITS + 1)
    symmetric = abs((upper - value) - (value - lower)) <= 0.01 * (upper - lower)
    ends = [_to_place(end, place if symmetric else _last_place(abs(end - value) / 2), fixed) for end in (lower, upper)]
    return Row(_to_place(value, place, fixed), _error(stderr, fixed), *ends)


def _exponent(value: float, digits: int) -> int:
    """The decimal exponent of `value` rounded to so many digits."""
    return int(f"{value:.{digits - 1}e}".partition("e")[2])


def _last_place(stderr: float) -> int:
    return _exponent(stderr, ERROR_DIGITS) - ERROR_DIGITS + 1 if 0 < stderr < math.inf else 0


def _to_place(value: float, place: int, fixed: bool) -> str:
    """`value` to the decimal place 10**place."""
    if not math.isfinite(value):
        return significant(value)
    if fixed:
        return f"{round(value, -place):.{max(0, -place)}f}"
    return "0" if value == 0 else f"{value:.{max(0, _exponent(value, ERROR_DIGITS) - place)}e}"


def _error(stderr: float, fixed: bool) -> str:
    if fixed and _exponent(stderr, ERROR_DIGITS) in FIXED_POINT:
        return _to_place(stderr, _last_place(stderr), fixed)
    return f"{stderr:.{ERROR_DIGITS - 1}e}"
