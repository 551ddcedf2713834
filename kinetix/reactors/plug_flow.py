"""Ideal tube at steady state, isothermal and isobaric: no mixing along the flow, none but perfect mixing across it.

Constant density, tau = V/Q:

    dc_i/dtau = sum_j nu_ij r_j(c, T),   c(0) = c_feed

Ideal gas at constant T and P, whose volume flow follows the mole numbers:

    dF_i/dV = sum_j nu_ij r_j(c, T),   c_i = F_i/sum(F) P/(R T),   F(0) = Q_feed c_feed

solved for f = F/Q_feed over tau = V/Q_feed; P/(R T) is the sum of the feed concentrations. With rates per catalyst mass W or
surface S the same with W/Q or S/Q for tau.

Levenspiel, Chemical Reaction Engineering (3rd ed., 1999), chapter 5; Fogler, Elements of Chemical Reaction Engineering
(4th ed., 2006), chapters 3 and 4.
"""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp

from kinetix.network import Kinetics
from kinetix.rates import ON_STREAM, Thermal, constants_at
from kinetix.reactors.balances import Contents, Gas, along_gas, along_gas_jacobian, closed, closed_jacobian, gas_concentrations
from kinetix.reactors.batch import lowest
from kinetix.reactors.energy import Isothermal
from kinetix.reactors.loading import TUBES
from kinetix.reactors.posed import Inside, Integrated, Posed
from kinetix.reactors.reactor import CONSTANT_DENSITY, IDEAL_GAS, Lane, Reactor
from kinetix.solvers import Options, System
from kinetix.units import PRESSURE, TEMPERATURE, TIME

LIQUID = System(closed, closed_jacobian, autonomous=True)
GAS = System(along_gas, along_gas_jacobian, autonomous=True)


def pose(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    """Outlet concentrations at constant density: those of a batch of feed after the residence time."""
    constants = constants_at(thermal, lane["T"])
    return Posed(
        LIQUID,
        lane["feed"],
        Contents(kinetics, Isothermal(lane["T"], constants)),
        lane["tau"][None],
        lambda t, c: Inside(c, lane["T"], constants),
        _of_lane(options, lane),
    )


def pose_gas(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    """Outlet concentrations of an ideal gas at constant T and P, and how much its volume flow has grown."""
    constants = constants_at(thermal, lane["T"])
    gas = Gas(Contents(kinetics, Isothermal(lane["T"], constants)), jnp.sum(lane["feed"]))
    return Posed(
        GAS,
        lane["feed"],
        gas,
        lane["tau"][None],
        lambda t, flows: Inside(gas_concentrations(flows, gas.total), lane["T"], constants, jnp.sum(flows) / gas.total),
        _of_lane(options, lane),
    )


def _of_lane(options: Options, lane: Lane) -> Options:
    return replace(options, atol=lane["atol"], lowest=lowest(lane["atol"], lane["feed"]))


PLUG_FLOW = Reactor(
    name="plug_flow",
    summary="ideal tube (plug flow) at steady state, one row per outlet",
    timed=False,
    integrated=True,
    conditions={"T": TEMPERATURE, "P": PRESSURE, ON_STREAM: TIME},
    loadings=TUBES,
    needs_feed=True,
    needs_initial=False,
    measures_rates=False,
    loading="tau",
    solve=Integrated(pose),
    densities={CONSTANT_DENSITY: Integrated(pose), IDEAL_GAS: Integrated(pose_gas)},
)
