"""The energy balance of a study: what is written of it, checked, and its numbers as parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinetix.errors import InputError, ParameterError, Problems, StudyError, nearest
from kinetix.network import Network
from kinetix.parameters import ConstantBook, Number
from kinetix.parameters.constants import ONE, ZERO
from kinetix.rates import VOLUME_BASIS, Basis
from kinetix.reactors import ALONG, EXCHANGES, HOLDUP, EnergyBalance, Reactor
from kinetix.simulation import HeatBindings
from kinetix.studies.given import HeatGiven
from kinetix.studies.numbers import parse_part, parse_temperature
from kinetix.studies.schema import EnergySection, ReactionSection
from kinetix.units import ENERGY, MOLAR_ENERGY, MOLAR_HEAT_CAPACITY, POWER, TEMPERATURE, VOLUME, Dimension, Quantity

TYPES = ("adiabatic", "jacket")
SOLVENT = "solvent"
"""What stands for everything that is no species in a table of heat capacities."""

SOLVENT_CAPACITY = f"heat_capacity.{SOLVENT}"

VOLUMETRIC = ENERGY / VOLUME / TEMPERATURE
NO_HEAT = 'dHr = "-84 kJ/mol"'
ANY_TEMPERATURE = 298.15
"""K; stands where the enthalpies of reaction hold at all temperatures. It enters no result."""


def heat_of(
    section: EnergySection | None,
    reactions: Mapping[str, ReactionSection],
    species: Sequence[str],
    reactor: Reactor,
    basis: Basis = VOLUME_BASIS,
) -> HeatGiven | None:
    """The energy balance as written; None where the temperature is given.

    Raises:
        InputError: everything that is wrong or missing, at once.
    """
    if section is None:
        written = [name for name, reaction in reactions.items() if reaction.dHr is not None]
        if written:
            raise StudyError(
                f"Reaction '{written[0]}': dHr is for an energy balance, and there is none: T is given. Write [energy] with"
                ' type = "adiabatic" and heat_capacity = "4.18 MJ/m^3/K", or remove dHr.'
            )
        return None
    problems = Problems()
    molar: dict[str, Number] = {}
    volumetric, coolant = None, (None, None, None)
    balance, T_ref = EnergyBalance(), ANY_TEMPERATURE
    with problems.collecting():
        balance = balance_of(section, reactor, basis)
        coolant = _coolant(section, balance)
    with problems.collecting():
        molar, volumetric = _capacities(section.heat_capacity, species, bool(reactor.ideal_gas_at))
    with problems.collecting():
        T_ref = _reference(section, _by_species(section.heat_capacity, species))
    enthalpies: dict[str, Number] = {}
    for name, reaction in reactions.items():
        with problems.collecting():
            number = _enthalpy(name, reaction)
            if number is not None:
                enthalpies[name] = number
    problems.raise_if_any(InputError)
    return HeatGiven(balance, enthalpies, molar, volumetric, T_ref, *coolant)


def _capacities(written: object, species: Sequence[str], of_gas: bool) -> tuple[dict[str, Number], Number | None]:
    """Heat capacities by species, and per volume of the rest or of the whole."""
    where = "[energy] heat_capacity"
    if of_gas and not (_by_species(written, species) and isinstance(written, Mapping) and SOLVENT not in written):
        raise StudyError(
            f"{where}: of an ideal gas it follows from those of its species, inert ones too, at constant pressure. Write"
            f" heat_capacity = {{ {', '.join(f'{name} = ' + chr(34) + '40 J/mol/K' + chr(34) for name in species)} }}."
        )
    if written is None:
        raise StudyError(
            f'{where}: missing. Write heat_capacity = "4.18 MJ/m^3/K" (of the fluid per volume, rho cp), or a table by species,'
            ' { A = "150 J/mol/K", ..., solvent = "4 MJ/m^3/K" }.'
        )
    if not isinstance(written, Mapping) or not _by_species(written, species):
        return {}, _positive(written, "heat_capacity", VOLUMETRIC)
    problems = Problems()
    molar: dict[str, Number] = {}
    volumetric = None
    for name, value in written.items():
        with problems.collecting():
            if name in species:
                molar[name] = _positive(value, f"heat_capacity.{name}", MOLAR_HEAT_CAPACITY)
            elif name == SOLVENT:
                volumetric = _positive(value, SOLVENT_CAPACITY, VOLUMETRIC)
            else:
                known = (*species, SOLVENT)
                problems.add(f"{where}: '{name}' is neither a species nor {SOLVENT} (known: {', '.join(known)}).{nearest(name, known)}")
    missing = [name for name in species if name not in written]
    if missing:
        problems.add(f'{where}: no heat capacity of {", ".join(missing)}. Write {missing[0]} = "100 J/mol/K" in the table.')
    problems.raise_if_any(InputError)
    return molar, volumetric


def _by_species(written: object, species: Sequence[str]) -> bool:
    """Whether a heat capacity is a table by species and not a number, which may be a table as well."""
    return isinstance(written, Mapping) and any(key in written for key in (*species, SOLVENT))


def _positive(value: object, where: str, dimension: Dimension) -> Number:
    number = parse_part(value, where, dimension)
    if isinstance(number, Quantity) and not number.si > 0:
        raise ParameterError(f"Parameter '{where}' is {number}, and it is above zero. Correct it.")
    return number


def _reference(section: EnergySection, by_species: bool) -> float:
    """The temperature at which the enthalpies of reaction hold, K."""
    if by_species and section.at is None:
        raise StudyError(
            "[energy] at: missing. With heat capacities by species the enthalpies of reaction change with T: write the temperature at"
            ' which dHr holds, at = "25 degC".'
        )
    if not by_species and section.at is not None:
        raise StudyError(
            "[energy] at: with one heat capacity of the fluid the enthalpies of reaction hold at every temperature. Remove it, or write"
            " heat capacities by species."
        )
    return ANY_TEMPERATURE if section.at is None else parse_temperature(section.at, "[energy] at")


def balance_of(section: EnergySection, reactor: Reactor, basis: Basis = VOLUME_BASIS) -> EnergyBalance:
    """What an `[energy]` says beside its numbers: adiabatic, or which way of giving the exchange with a coolant.

    Raises:
        StudyError: a type that is unknown or impossible here, a way that is missing or given twice.
    """
    if not reactor.heating:
        raise StudyError(f"[energy]: a {reactor.name} reactor has no energy balance: its temperature is given. Remove [energy].")
    if section.type not in TYPES:
        raise StudyError(f'[energy] type = "{section.type}" is unknown. Known: {", ".join(TYPES)}.{nearest(section.type, TYPES)}')
    ways = _ways(section)
    if section.type == "adiabatic":
        beside = [*ways, *(name for name in ("coolant_flow", "coolant_holdup") if getattr(section, name) is not None)]
        if beside:
            raise StudyError(f'[energy] {beside[0]}: an adiabatic reactor exchanges no heat. Remove it, or write type = "jacket".')
        return EnergyBalance()
    if reactor.loading == "tau" and basis.name != VOLUME_BASIS.name:  # the balance is then per catalyst, UA/V per fluid
        raise StudyError(
            f"[energy] type: a jacket is not available yet for a {reactor.name} reactor with rates per {basis.per}."
            ' Write type = "adiabatic", or rates per volume.'
        )
    if len(ways) != 1:
        found = "both UA and UA/V are given. Keep one" if ways else "neither UA nor UA/V is given"
        raise StudyError(f'[energy]: {found}. Write UA = "50 W/K" (with the volume V), or "UA/V" = "20 kW/m^3/K".')
    if section.coolant_flow is not None and "UA" not in ways:
        raise StudyError('[energy] coolant_flow: it goes with UA. Write UA = "50 W/K" and the volume V in the place of UA/V.')
    if section.coolant_holdup is not None and section.coolant_flow is None:
        raise StudyError('[energy] coolant_holdup: it goes with coolant_flow, through which heat leaves. Write coolant_flow = "200 W/K".')
    if section.coolant_holdup is not None and not reactor.timed:
        raise StudyError(f"[energy] coolant_holdup: what a jacket holds has no effect on the steady state of a {reactor.name}. Remove it.")
    along = reactor.loading == "tau" and reactor.integrated and not reactor.timed and section.coolant_flow is not None
    return EnergyBalance(next(iter(ways)), HOLDUP if section.coolant_holdup is not None else ALONG if along else "")


def _ways(section: EnergySection) -> dict[str, object]:
    return {name: value for name, value in (("UA", section.UA), ("UA/V", section.UA_per_volume)) if value is not None}


def _coolant(section: EnergySection, balance: EnergyBalance) -> tuple[Number | None, Number | None, Number | None]:
    """UA or UA/V, the coolant's flow, and what it holds."""
    if not balance.exchange:
        return None, None, None
    flow = None if section.coolant_flow is None else _positive(section.coolant_flow, "coolant_flow", POWER / TEMPERATURE)
    holdup = None if section.coolant_holdup is None else _positive(section.coolant_holdup, "coolant_holdup", ENERGY / TEMPERATURE)
    return _positive(_ways(section)[balance.exchange], balance.exchange, EXCHANGES[balance.exchange]), flow, holdup


def _enthalpy(name: str, reaction: ReactionSection) -> Number | None:
    """The enthalpy of one reaction; None where it is that of its equilibrium constant."""
    of_equilibrium = isinstance(reaction.K, Mapping) and "dH" in reaction.K
    if reaction.dHr is not None and of_equilibrium:
        raise ParameterError(
            f"Reaction '{name}': its enthalpy is given twice, as dH of K (van 't Hoff) and as dHr (heat of reaction). They are the same"
            " number: remove dHr."
        )
    if reaction.dHr is None and not of_equilibrium:
        activation = " (dH is the enthalpy of activation)" if reaction.dH is not None else ""
        raise ParameterError(
            f"Reaction '{name}' has no enthalpy of reaction, which [energy] needs. Write {NO_HEAT}, per mol of '{reaction.equation}' as"
            f" written and below zero where heat is released{activation}."
        )
    return None if reaction.dHr is None else parse_part(reaction.dHr, f"{name}.dHr", MOLAR_ENERGY)


@dataclass(frozen=True)
class HeatPositions:
    """Positions of the numbers of an energy balance among the parameters."""

    enthalpies: Mapping[str, int]
    molar: Mapping[str, int]
    volumetric: int
    exchange: int
    coolant_flow: int
    coolant_holdup: int


def heat_positions(
    book: ConstantBook, heat: HeatGiven, network: Network, constants: Mapping[str, int], problems: Problems
) -> HeatPositions:
    """The numbers of an energy balance become parameters.

    Args:
        book: collects them.
        heat: as written.
        network: the reactions.
        constants: positions of the constants of the laws by full name, for enthalpies that are those of an equilibrium constant.
        problems: what is wrong.
    """

    def place(name: str, number: Number | None, dimension: Dimension, positive: bool, absent: int) -> int:
        with problems.collecting():
            return absent if number is None else book.add_parameter(name, number, dimension, positive)
        return absent

    enthalpies: dict[str, int] = {}
    for reaction in network.reactions:
        name = reaction.name
        if name in heat.enthalpies:
            enthalpies[name] = place(f"{name}.dHr", heat.enthalpies[name], MOLAR_ENERGY, False, ZERO)
        elif f"{name}.K" in constants:
            enthalpies[name] = book.constants[constants[f"{name}.K"]].energy
    molar = {name: place(f"heat_capacity.{name}", number, MOLAR_HEAT_CAPACITY, True, ZERO) for name, number in heat.molar.items()}
    whole = SOLVENT_CAPACITY if heat.molar else "heat_capacity"
    return HeatPositions(
        enthalpies,
        molar,
        place(whole, heat.volumetric, VOLUMETRIC, True, ZERO),
        place(heat.balance.exchange, heat.exchange, EXCHANGES.get(heat.balance.exchange, VOLUMETRIC), True, ZERO),
        place("coolant_flow", heat.coolant_flow, POWER / TEMPERATURE, True, ONE),
        place("coolant_holdup", heat.coolant_holdup, ENERGY / TEMPERATURE, True, ONE),
    )


def heat_bindings(positions: HeatPositions, heat: HeatGiven, network: Network, order: np.ndarray, laws: int, species: int) -> HeatBindings:
    """The positions as arrays.

    Args:
        positions: by name.
        heat: as written.
        network: the reactions.
        order: of each reaction, its position among the stacked laws.
        laws, species: how many there are with those that fill up.
    """
    enthalpies, molar = np.full(laws, ZERO, dtype=np.int32), np.full(species, ZERO, dtype=np.int32)
    for i, reaction in enumerate(network.reactions):
        enthalpies[order[i]] = positions.enthalpies[reaction.name]
    for i, name in enumerate(network.species):
        molar[i] = positions.molar.get(name, ZERO)
    volumetric, exchange, flow, holdup = np.array(
        [positions.volumetric, positions.exchange, positions.coolant_flow, positions.coolant_holdup], dtype=np.int32
    )
    warms = np.array(float(flow != ONE))
    return HeatBindings(enthalpies, molar, volumetric, exchange, flow, holdup, np.array(heat.T_ref), warms, heat.balance.jacket)
