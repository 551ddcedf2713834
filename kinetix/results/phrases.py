"""Counts, lists and numbers as they stand in a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kinetix.status import Status

SMALL, LARGE = 1e-15, 1e15
"""Beyond these sizes a number is written with three digits."""

WRITTEN_OUT = 1e7
"""Numbers below are written without a power of ten."""


_ON_THE_WAY = (Status.STEP_LIMIT, Status.STEP_TOO_SMALL, Status.BELOW_ZERO)


def how_ended(status: Status, t_reached: npt.ArrayLike, unit: str) -> str:
    """How simulations ended that ended alike, and the times that those reached which stopped on the way.

    Args:
        status: how they ended.
        t_reached: in `unit`.
        unit: of time; "" where nothing depends on it.

    >>> how_ended(Status.STEP_LIMIT, [3.25, 7.0], "min")
    'the step limit was reached before the end: raise max_steps or loosen the tolerances; times reached 3.25 to 7 min'
    """
    if status not in _ON_THE_WAY or not unit:
        return status.sentence
    low, high = (plain(float(end), 4) for end in (np.min(t_reached), np.max(t_reached)))
    return f"{status.sentence}; {f'time reached {low}' if low == high else f'times reached {low} to {high}'} {unit}"


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "parameter"), count(4, "parameter")
    ('1 parameter', '4 parameters')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listing(names: Sequence[str], longest: int = 8) -> str:
    """Names joined as in a sentence; beyond `longest` only their number.

    >>> listing(["k1", "k2", "k3"]), listing(["k1", "k2", "k3"], longest=2)
    ('k1, k2 and k3', 'k1, k2 and 1 more')
    """
    if len(names) > longest:
        return f"{', '.join(names[:longest])} and {len(names) - longest} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def plain(value: float, digits: int = 6) -> str:
    """A number with so many significant digits; three where it is so large or small that more would only be noise.

    A power of ten stands only where the number has more than seven digits before its point, or four zeros behind it.

    >>> plain(0.000123456789), plain(8.123456789e35), plain(-3.14159e-21), plain(0.0)
    ('0.000123457', '8.12e+35', '-3.14e-21', '0')
    >>> plain(-5234.5, 3), plain(1083.2, 3), plain(12345678.0, 3)
    ('-5230', '1080', '1.23e+07')
    """
    sensible = value == 0 or SMALL <= abs(value) < LARGE
    text = f"{value:.{digits if sensible else min(digits, 3)}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(float(text)) < WRITTEN_OUT else text


def near_one(value: float) -> str:
    """Three digits, or as many as tell the value from one.

    >>> near_one(0.871234), near_one(0.9986137), near_one(0.99999957), near_one(1.0)
    ('0.871', '0.9986', '0.99999957', '1')
    """
    short = 1 - value
    if not 0 < short < 0.01:
        return plain(value, 3)
    return f"{value:.{min(12, 1 - math.floor(math.log10(short)))}f}".rstrip("0").rstrip(".")


def correlation(r: float) -> str:
    """A correlation coefficient.

    >>> correlation(-0.9986), correlation(0.5)
    ('-0.9986', '0.5')
    """
    return f"{'-' if r < 0 else ''}{near_one(abs(r))}"


def probability(p: float) -> str:
    """A probability with its name.

    >>> probability(0.41234), probability(3e-9), probability(0.99998)
    ('p = 0.41', 'p below 1e-6', 'p = 0.99998')
    """
    if p < 1e-6:
        return "p below 1e-6"
    return f"p = {near_one(p)}" if p > 0.99 else f"p = {p:.2g}"
