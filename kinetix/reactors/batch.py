"""Batch reactor: closed, constant volume, with constant or measured temperature, or with an energy balance.

    dc_i/dt = sum_j nu_ij r_j(c, T(t)),   c(0) = c_0
    C(c) dT/dt = -sum_j dH_j r_j + UA/V (T_coolant - T),   T(0) = T_0,   where T is a state

C is the heat capacity of the contents per volume. With rates per catalyst mass or surface, rates are multiplied by the loading
W/V or S/V.

Levenspiel, Chemical Reaction Engineering (3rd ed., 1999), chapter 3.
"""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp

from kinetix.network import Kinetics
from kinetix.rates import Thermal, constants_at
from kinetix.reactors.balances import Contents, Heated, closed, closed_heated, closed_heated_jacobian, closed_jacobian
from kinetix.reactors.energy import Heat, given_temperature
from kinetix.reactors.loading import VESSELS
from kinetix.reactors.posed import Inside, Integrated, Posed
from kinetix.reactors.reactor import Lane, Reactor
from kinetix.solvers import Options, System
from kinetix.units import PRESSURE, TEMPERATURE

ISOTHERMAL = System(closed, closed_jacobian, autonomous=True)
HEATED = System(closed_heated, closed_heated_jacobian, autonomous=True)
PROGRAMMED = System(closed, closed_jacobian, autonomous=False)
MANY, CLEARLY = 1e3, 1e-6
"""A concentration is clearly below zero beyond this many absolute tolerances plus this part of the largest start."""


def lowest(atol: jax.Array, start: jax.Array) -> jax.Array:
    """Below what a concentration is clearly below zero."""
    return -(MANY * atol + CLEARLY * jnp.max(jnp.abs(start)))


def pose(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    """Concentrations at the lane's times, starting from `initial` at time zero."""
    # dc/dt = loading nu r is dc/ds = nu r in the time s = loading t: no other program, and none where there is no loading
    stretch = lane.get("loading", 1.0)
    times = lane["times"] * stretch
    options = replace(options, lowest=lowest(lane["atol"], lane["initial"]))
    if "heat" in lane:
        return _heated(kinetics, thermal, lane, options)
    temperature = given_temperature(lane, thermal, stretch)
    return Posed(
        ISOTHERMAL if temperature.nodes is None else PROGRAMMED,
        lane["initial"],
        Contents(kinetics, temperature.rule),
        times,
        lambda t, c: Inside(c, *temperature.rule.at(t)),
        replace(options, atol=lane["atol"]),
        temperature.nodes,
        stretch,
    )


def _heated(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    stretch = lane.get("loading", 1.0)
    heat: Heat = lane["heat"]
    heat = heat._replace(exchange=heat.exchange / stretch)  # the one term that the loading does not multiply
    initial = lane["initial"]
    options = replace(
        options,
        atol=heat.tolerances(lane["atol"], initial),
        lowest=jnp.append(jnp.broadcast_to(jnp.asarray(options.lowest), initial.shape), 0.0),
    )
    return Posed(
        HEATED,
        heat.first_state(initial),
        Heated(kinetics, thermal, heat),
        lane["times"] * stretch,
        lambda t, y: Inside(y[:-1], y[-1], constants_at(thermal, y[-1])),
        options,
        clock=stretch,
    )


BATCH = Reactor(
    name="batch",
    summary="closed reactor at constant volume, readings over time",
    timed=True,
    integrated=True,
    conditions={"T": TEMPERATURE, "P": PRESSURE},
    heated_from="T_initial",
    loadings={"volume": None, **VESSELS},
    needs_feed=False,
    needs_initial=True,
    measures_rates=False,
    loading="loading",
    solve=Integrated(pose),
)
