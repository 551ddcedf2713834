"""What the user says of the constants and amounts of a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kinetix.parameters import Number, TemperatureLaw
from kinetix.studies.chemistry import Specification
from kinetix.units import Quantity


@dataclass(frozen=True)
class Amounts:
    """Feed or initial concentrations by species: known, estimated, or from the data; `default` for the species not named."""

    given: Mapping[str, Number]
    default: Quantity | None = None


@dataclass(frozen=True)
class Given:
    """Constants and amounts as written.

    Attributes:
        constants: of the laws, by full name (`r1.k`).
        named: constants with names of their own.
        feed, initial: amounts.
    """

    constants: Mapping[str, Specification]
    named: Mapping[str, TemperatureLaw]
    feed: Amounts
    initial: Amounts
