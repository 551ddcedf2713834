"""Numbers as a careful person writes them: as many digits as the standard error supports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinetix.results.phrases import LARGE, plain

ERROR_DIGITS = 2
MOST_DIGITS = 12
WITHOUT_ERROR = 6
FIXED_POINT = range(-4, 7)
"""Decimal exponents that are written without a power of ten."""

MOST_ZEROS = 3
"""So many zeros stand for digits that are not known; a number with more of them is written with a power of ten."""


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
    return "-" if math.isnan(value) else plain(value, digits)


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
    >>> estimate(3.9e6, 1.2e6, 1.8e6, 8.4e6)
    Row(value='3.9e+06', stderr='1.2e+06', lower='1.8e+06', upper='8.4e+06')
    >>> estimate(0.05, 1e300, -1e300, 1e300)
    Row(value='0.050', stderr='1.0e+300', lower='-1e+300', upper='1e+300')
    """
    if not (math.isfinite(value) and math.isfinite(stderr) and stderr > 0):
        return Row(*(significant(number) for number in (value, stderr, lower, upper)))
    place = _last_place(stderr)
    if value != 0:
        place = min(max(place, _exponent(value, MOST_DIGITS) - MOST_DIGITS + 1), _exponent(value, ERROR_DIGITS) - ERROR_DIGITS + 1)
    fixed = value == 0 or (_exponent(value, WITHOUT_ERROR) in FIXED_POINT and place <= MOST_ZEROS)
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
    if not abs(value) < LARGE:
        return significant(value)
    if fixed:
        return f"{round(value, -place):.{max(0, -place)}f}"
    return "0" if value == 0 else f"{value:.{max(0, _exponent(value, ERROR_DIGITS) - place)}e}"


def _error(stderr: float, fixed: bool) -> str:
    if fixed and _exponent(stderr, ERROR_DIGITS) in FIXED_POINT:
        return _to_place(stderr, _last_place(stderr), fixed)
    return f"{stderr:.{ERROR_DIGITS - 1}e}"


def alike(values: Sequence[float] | npt.NDArray[np.float64], digits: int = 5, spread: float = 1e3) -> list[str]:
    """The numbers of a column with the same number of decimals, so many digits for the largest; `-` where there is none.

    Numbers whose sizes differ by more than the factor `spread` keep digits of their own, with a power of ten where they are very
    large or small.

    >>> alike([0.5, 12.25, 100.0]), alike([1.0, 1e-5, math.nan]), alike([2.5e-7, 1e-7], 3)
    (['0.50', '12.25', '100.00'], ['1', '1e-05', '-'], ['2.5e-07', '1e-07'])
    >>> alike([330.0, 350.0]), alike([0.0, 0.0]), alike([]), alike([-1e-5, 0.123], 3, math.inf)
    (['330', '350'], ['0', '0'], [], ['0.000', '0.123'])
    """
    numbers = np.asarray(values, dtype=np.float64)
    sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    if sizes.size and (sizes.max() > spread * sizes.min() or not 1e-4 <= sizes.max() < 10.0**digits):
        return [significant(float(value), digits) for value in numbers]
    return decimal(numbers, max(0, digits - 1 - _exponent(float(sizes.max()), digits)) if sizes.size else 0)


def decimal(values: Sequence[float] | npt.NDArray[np.float64], places: int) -> list[str]:
    """Numbers with so many decimals, without those that are zero in all of them; `-` where there is none.

    >>> decimal([0.5, 12.25, math.nan], 3), decimal([-0.0001, 3.0], 2)
    (['0.50', '12.25', '-'], ['0', '3'])
    """
    texts = [f"{round(float(value), places) + 0.0:.{places}f}" if math.isfinite(value) else significant(float(value)) for value in values]
    spare = min((len(text) - len(text.rstrip("0")) for text in texts if "." in text), default=0)
    return [text[: len(text) - spare].rstrip(".") if "." in text else text for text in texts]


def compared(
    observed: npt.NDArray[np.float64], predicted: npt.NDArray[np.float64], deviation: npt.NDArray[np.float64]
) -> tuple[list[str], list[str], list[str]]:
    """Observed, predicted and residual values as three columns, to the place that the standard deviation of a value supports.

    Where values that are not zero lie more than three decades below the largest, all keep digits of their own.

    >>> compared(np.array([0.98, 0.031]), np.array([0.9766, 3e-7]), np.array([0.02, 0.02]))
    (['0.980', '0.031'], ['0.977', '0.000'], ['0.003', '0.031'])
    >>> compared(np.array([1.0, 1e-5]), np.array([1.1, 1.1e-5]), np.array([0.1, 1e-6]))
    (['1', '1e-05'], ['1.1', '1.1e-05'], ['-0.1', '-1e-06'])
    """
    residual = observed - predicted
    size = np.abs(observed)
    largest = max(float(np.max(size, initial=0.0)), float(np.nanmax(np.abs(predicted), initial=0.0)))
    known = deviation[np.isfinite(deviation) & (deviation > 0)]
    small = (size < 1e-3 * largest) & (size > 3 * np.nan_to_num(deviation))
    if not known.size or not 1e-4 <= largest < 1e6 or small.any():
        return alike(observed), alike(predicted), alike(residual, 3)
    places = min(max(0, -_last_place(float(known.min()))), MOST_DIGITS - 3 - _exponent(largest, ERROR_DIGITS))
    return decimal(observed, places), decimal(predicted, places), decimal(residual, places)


def for_json(value: Any) -> str | int | float | None:
    """A NumPy scalar as Python's own; None where JSON has no number."""
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain
