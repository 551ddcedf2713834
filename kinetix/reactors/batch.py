"""Batch reactor: closed, constant volume, with constant or measured temperature.

    dc_i/dt = sum_j nu_ij r_j(c, T(t)),   c(0) = c_0

With rates per catalyst mass or surface the right-hand side is multiplied by the loading W/V or S/V.

Levenspiel, Chemical Reaction Engineering (3rd ed., 1999), chapter 3.
"""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp

from kinetix.network import Kinetics
from kinetix.rates import Thermal, constants_at
from kinetix.reactors.balances import Contents, closed, closed_jacobian
from kinetix.reactors.energy import Isothermal, Programmed
from kinetix.reactors.loading import VESSELS
from kinetix.reactors.reactor import Lane, Reactor, States
from kinetix.solvers import Options, System, integrate
from kinetix.units import PRESSURE, TEMPERATURE

ISOTHERMAL = System(closed, closed_jacobian, autonomous=True)
PROGRAMMED = System(closed, closed_jacobian, autonomous=False)
MANY, CLEARLY = 1e3, 1e-6
"""A concentration is clearly below zero beyond this many absolute tolerances plus this part of the largest start."""


def lowest(atol: jax.Array, start: jax.Array) -> jax.Array:
    """Below what a concentration is clearly below zero."""
    return -(MANY * atol + CLEARLY * jnp.max(jnp.abs(start)))


def solve(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> States:
    """Concentrations at the lane's times, starting from `initial` at time zero."""
    # dc/dt = loading nu r is dc/ds = nu r in the time s = loading t: no other program, and none where there is no loading
    stretch = lane.get("loading", 1.0)
    times = lane["times"] * stretch
    options = replace(options, atol=lane["atol"], lowest=lowest(lane["atol"], lane["initial"]))
    if "program_T" in lane:
        energy = Programmed(lane["program_times"] * stretch, lane["program_T"], thermal)
        solution = integrate(PROGRAMMED, lane["initial"], Contents(kinetics, energy), times, breaks=energy.times, options=options)
        T = jnp.interp(times, energy.times, energy.temperatures)
        constants = constants_at(thermal, T[:, None])
    else:
        energy = Isothermal(lane["T"], constants_at(thermal, lane["T"]))
        solution = integrate(ISOTHERMAL, lane["initial"], Contents(kinetics, energy), times, options=options)
        T = jnp.broadcast_to(lane["T"], times.shape)
        constants = jnp.broadcast_to(energy.constants, (*times.shape, energy.constants.shape[0]))
    return States(solution.y, T, constants, solution.status, solution.steps, solution.t_reached / stretch)


BATCH = Reactor(
    name="batch",
    summary="closed reactor at constant volume, readings over time",
    timed=True,
    integrated=True,
    conditions={"T": TEMPERATURE, "P": PRESSURE},
    loadings={"volume": None, **VESSELS},
    needs_feed=False,
    needs_initial=True,
    measures_rates=False,
    loading="loading",
    solve=solve,
)
