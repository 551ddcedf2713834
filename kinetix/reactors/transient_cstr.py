"""Stirred tank over time, from an initial state: start-up, a step of the feed, a tracer. Constant volume and density.

    dc_i/dt = (c_feed,i - c_i)/tau + sum_j nu_ij r_j(c, T(t)),   c(0) = c_0,   tau = V/Q

Feed and residence time are constant from time zero on.

Fogler, Elements of Chemical Reaction Engineering (4th ed., 2006), section 4.10; Levenspiel, Chemical Reaction Engineering (3rd ed.,
1999), chapter 11.
"""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp

from kinetix.network import Kinetics
from kinetix.rates import Thermal
from kinetix.reactors.balances import Contents, Flow, through_flow, through_flow_jacobian
from kinetix.reactors.batch import lowest
from kinetix.reactors.energy import given_temperature
from kinetix.reactors.loading import TANKS
from kinetix.reactors.posed import Inside, Integrated, Posed
from kinetix.reactors.reactor import Lane, Reactor
from kinetix.solvers import Options, System
from kinetix.units import PRESSURE, TEMPERATURE

ISOTHERMAL = System(through_flow, through_flow_jacobian, autonomous=True)
PROGRAMMED = System(through_flow, through_flow_jacobian, autonomous=False)


def pose(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    """Concentrations in the tank at the lane's times, starting from `initial` at time zero."""
    temperature = given_temperature(lane, thermal)
    largest = jnp.maximum(jnp.max(jnp.abs(lane["initial"])), jnp.max(jnp.abs(lane["feed"])))
    return Posed(
        ISOTHERMAL if temperature.nodes is None else PROGRAMMED,
        lane["initial"],
        Flow(Contents(kinetics, temperature.rule), lane["tau"], lane["feed"]),
        lane["times"],
        lambda t, c: Inside(c, *temperature.rule.at(t)),
        replace(options, atol=lane["atol"], lowest=lowest(lane["atol"], largest)),
        temperature.nodes,
        clock=1.0,
    )


TRANSIENT_CSTR = Reactor(
    name="transient_cstr",
    summary="continuous stirred tank over time from an initial state, constant density, readings over time",
    timed=True,
    integrated=True,
    conditions={"T": TEMPERATURE, "P": PRESSURE},
    loadings={"volume": TANKS["volume"]},
    needs_feed=True,
    needs_initial=True,
    measures_rates=False,
    loading="tau",
    solve=Integrated(pose),
)
