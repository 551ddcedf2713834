"""What the user says of the constants and amounts of a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kinetix.parameters import Number, TemperatureLaw
from kinetix.reactors import EnergyBalance
from kinetix.studies.chemistry import Specification
from kinetix.units import Quantity


@dataclass(frozen=True)
class Amounts:
    """Feed or initial concentrations by species: known, estimated, or from the data; `default` for the species not named."""

    given: Mapping[str, Number]
    default: Quantity | None = None


@dataclass(frozen=True)
class HeatGiven:
    """An energy balance as written.

    Attributes:
        balance: how heat is exchanged.
        enthalpies: of reaction by reaction; those that follow from an equilibrium constant are not among them.
        molar: heat capacities by species; empty where `volumetric` is of the whole fluid.
        volumetric: heat capacity per volume of the rest of the fluid, or of the whole; None: nothing else is in it.
        T_ref: temperature at which the enthalpies hold, K.
        exchange: UA or UA/V; None for an adiabatic reactor.
        coolant_flow: heat capacity flow of the coolant; None: it keeps its temperature.
        coolant_holdup: heat capacity of the coolant in the jacket; None: none.
    """

    balance: EnergyBalance
    enthalpies: Mapping[str, Number]
    molar: Mapping[str, Number]
    volumetric: Number | None
    T_ref: float
    exchange: Number | None
    coolant_flow: Number | None
    coolant_holdup: Number | None = None


@dataclass(frozen=True)
class Given:
    """Constants and amounts as written.

    Attributes:
        constants: of the laws, by full name (`r1.k`).
        named: constants with names of their own.
        feed, initial: amounts.
        heat: of the energy balance, where there is one.
    """

    constants: Mapping[str, Specification]
    named: Mapping[str, TemperatureLaw]
    feed: Amounts
    initial: Amounts
    heat: HeatGiven | None = None
