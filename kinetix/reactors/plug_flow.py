"""Ideal tube at steady state: no mixing along the flow, perfect mixing across it; isothermal or with an energy balance.

Constant density, tau = V/Q:

    dc_i/dtau = sum_j nu_ij r_j(c, T),   c(0) = c_feed
    C(c) dT/dtau = -sum_j dH_j r_j + UA/V (T_coolant - T),   T(0) = T_feed,   where T is a state

Ideal gas at constant pressure, whose volume flow follows mole numbers and temperature:

    dF_i/dV = sum_j nu_ij r_j(c, T),   c_i = F_i/sum(F) P/(R T),   F(0) = Q_feed c_feed
    sum_i F_i cp_i dT/dV = -sum_j dH_j r_j + UA/V (T_coolant - T)

solved for f = F/Q_feed over tau = V/Q_feed; P/(R T_feed) is the sum of the feed concentrations. A coolant of heat capacity flow m cp
beside the tube, in the same direction, has m cp dT_jacket/dV = UA/V (T - T_jacket), T_jacket(0) = T_coolant. With rates per catalyst
mass W or surface S the same with W/Q or S/Q for tau, adiabatic.

Levenspiel, Chemical Reaction Engineering (3rd ed., 1999), chapters 5 and 9; H. S. Fogler, Elements of Chemical Reaction Engineering
(5th ed., 2016), chapters 11 and 12.
"""

from __future__ import annotations

from kinetix.network import Kinetics
from kinetix.rates import ON_STREAM, Thermal
from kinetix.reactors.balances import Balance
from kinetix.reactors.energy import energy_rule
from kinetix.reactors.loading import TUBES
from kinetix.reactors.posed import Integrated, Posed
from kinetix.reactors.reactor import Fluid, Lane, Reactor
from kinetix.reactors.solving import posed
from kinetix.reactors.volume import ConstantPressure, ConstantVolume, VolumeRule
from kinetix.solvers import Options
from kinetix.units import PRESSURE, TEMPERATURE, TIME


def pose(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    """Outlet concentrations at constant density: those of a batch of feed after the residence time."""
    return _along(kinetics, thermal, lane, options, ConstantVolume())


def pose_gas(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    """Outlet concentrations of an ideal gas at constant pressure, and how much its volume flow has grown."""
    T_feed = lane["heat"].start if "heat" in lane else lane["T"]
    return _along(kinetics, thermal, lane, options, ConstantPressure.of(lane["feed"], T_feed))


def _along(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options, volume: VolumeRule) -> Posed:
    balance = Balance(kinetics, energy_rule(lane, thermal), volume, None)
    return posed(balance, lane["feed"], lane["tau"][None], lane["atol"], options)


solve, solve_gas = Integrated(pose), Integrated(pose_gas)

PLUG_FLOW = Reactor(
    name="plug_flow",
    summary="ideal tube (plug flow) at steady state, one row per outlet",
    timed=False,
    integrated=True,
    conditions={"T": TEMPERATURE, "P": PRESSURE, ON_STREAM: TIME},
    heating="C*dT/dtau =",
    loadings=TUBES,
    needs_feed=True,
    needs_initial=False,
    measures_rates=False,
    loading="tau",
    solve=solve,
    densities={
        "constant": Fluid("constant density", solve, advice="liquids, or gases whose mole number and temperature hardly change"),
        "ideal_gas": Fluid("ideal gas at constant P", solve_gas, "pressure", "an ideal gas at constant P"),
    },
)
