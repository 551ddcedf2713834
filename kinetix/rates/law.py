"""What every book on the shelf of rate laws gives: one elementwise formula and what it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kinetix.units import Dimension

Sides = tuple[tuple[Any, ...], ...]
"""Concentrations (mol/m^3, scalars or arrays) by slot: one tuple per side of the law (forward, reverse)."""

ON_STREAM = "t_on_stream"
"""The time on stream, s: the one condition beside T that a rate may depend on."""

RateFunction = Callable[[tuple[Any, ...], Sides, Any], Any]
"""`rate(constants, sides, T) -> r`, elementwise: it has no idea how many lanes or reactions its arguments hold."""


@dataclass(frozen=True)
class Constant:
    """One constant of a rate law.

    Attributes:
        name: local name as in `r1.<name>`: `k`, `kf`, `K`, `order.A`.
        dimension: what its unit must be; None where the user's unit decides (constants of a free expression).
        thermal: whether it may depend on temperature (by Arrhenius or van 't Hoff).
        value: a number the law itself fixes (a reference concentration, a known order), in SI; None where the user gives it.
        positive: whether only positive values make sense, so that it is fitted on a log scale unless the user says otherwise.
        enthalpy: whether it is of an equilibrium, so that it depends on temperature by dH and has no pre-exponential factor; None
            where the user decides by what he writes (constants of his own formula).
        condition: whether each experiment gives it, as a condition of this name, and not the user.
    """

    name: str
    dimension: Dimension | None
    thermal: bool = True
    value: float | None = None
    positive: bool = True
    enthalpy: bool | None = False
    condition: bool = False


@dataclass(frozen=True)
class Law:
    """A rate law as one reaction uses it.

    Attributes:
        rate: the elementwise formula (hashable; laws with the same one are stacked and computed together).
        constants: what the formula's `constants` are, in order.
        species: names of the species in the formula's slots, by side.
        text: the law as computed, for people.
        meaning: of its constants, where their units do not tell it.
        product: whether a slot may be filled up with the number 1 without changing the rate (lets laws of different
            molecularity be stacked).
        amounts: what it is a function of: "concentration", "partial_pressure", or both.
    """

    rate: RateFunction
    constants: tuple[Constant, ...]
    species: tuple[tuple[str, ...], ...]
    text: str
    product: bool = False
    amounts: frozenset[str] = frozenset({"concentration"})
    meaning: str = ""

    @property
    def uses_time_on_stream(self) -> bool:
        """Whether the rate depends on how long the catalyst has been on stream."""
        return any(constant.condition for constant in self.constants)
