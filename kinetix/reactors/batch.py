"""Batch reactor: closed, with constant or measured temperature, or with an energy balance.

Constant volume:

    dc_i/dt = sum_j nu_ij r_j(c, T(t)),   c(0) = c_0
    C(c) dT/dt = -sum_j dH_j r_j + UA/V (T_coolant - T),   T(0) = T_0,   where T is a state

C is the heat capacity of the contents per volume. An ideal gas at constant volume obeys the same with energies in the place of
enthalpies, C = sum c_i (cp_i - R) and dU_j = dH_j - R T sum_i nu_ij; its pressure R T sum(c) is an answer.

An ideal gas at constant pressure, whose volume V follows mole numbers and temperature:

    dN_i/dt = V sum_j nu_ij r_j(c, T),   c_i = N_i/V = N_i/sum(N) P/(R T)
    sum_i N_i cp_i dT/dt = -V sum_j dH_j r_j + UA (T_coolant - T)

solved for N/V(0). With rates per catalyst mass or surface, rates are multiplied by the loading W/V(0) or S/V(0).

Levenspiel, Chemical Reaction Engineering (3rd ed., 1999), chapter 3; H. S. Fogler, Elements of Chemical Reaction Engineering (5th
ed., 2016), chapter 13.
"""

from __future__ import annotations

import jax.numpy as jnp

from kinetix.network import Kinetics
from kinetix.rates import Thermal
from kinetix.reactors.balances import Balance
from kinetix.reactors.energy import energy_rule
from kinetix.reactors.loading import VESSELS
from kinetix.reactors.posed import Integrated, Posed
from kinetix.reactors.reactor import Fluid, Lane, Reactor
from kinetix.reactors.solving import posed
from kinetix.reactors.volume import ConstantPressure, ConstantVolume, VolumeRule
from kinetix.solvers import Options
from kinetix.units import PRESSURE, TEMPERATURE


def pose(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    """Concentrations at the lane's times, starting from `initial` at time zero."""
    return _posed(kinetics, thermal, lane, options, ConstantVolume())


def pose_gas(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    """Concentrations of an ideal gas at constant pressure, and how much its volume has grown."""
    first = lane["heat"].start if "heat" in lane else lane["program_T"][0] if "program_T" in lane else lane["T"]
    # with a catalyst the amount in which it reacts stays, however much the gas grows
    return _posed(kinetics, thermal, lane, options, ConstantPressure.of(lane["initial"], first, swells="loading" not in lane))


def pose_rigid_gas(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    """Concentrations of an ideal gas at constant volume."""
    if "heat" in lane:
        lane = {**lane, "heat": lane["heat"].at_constant_volume(jnp.asarray(kinetics.stoichiometry))}
    return pose(kinetics, thermal, lane, options)


def _posed(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options, volume: VolumeRule) -> Posed:
    # dc/dt = loading nu r is dc/ds = nu r in the time s = loading t: no other program, and none where there is no loading
    stretch = lane.get("loading", 1.0)
    balance = Balance(kinetics, energy_rule(lane, thermal, stretch), volume, None)
    return posed(balance, lane["initial"], lane["times"] * stretch, lane["atol"], options, clock=stretch)


solve, solve_gas, solve_rigid_gas = Integrated(pose), Integrated(pose_gas), Integrated(pose_rigid_gas)

BATCH = Reactor(
    name="batch",
    summary="closed reactor, readings over time",
    timed=True,
    integrated=True,
    conditions={"T": TEMPERATURE, "P": PRESSURE},
    heating="C*dT/dt =",
    loadings={"volume": None, **VESSELS},
    needs_feed=False,
    needs_initial=True,
    measures_rates=False,
    loading="loading",
    solve=solve,
    densities={
        "constant": Fluid("constant volume", solve, advice="liquids"),
        "gas_at_constant_volume": Fluid("ideal gas at constant volume", solve_rigid_gas, "volume", "a gas in a rigid vessel"),
        "gas_at_constant_pressure": Fluid("ideal gas at constant P", solve_gas, "pressure", "a gas in a vessel that gives way"),
    },
    density="constant",
)
