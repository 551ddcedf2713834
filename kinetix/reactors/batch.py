"""Batch reactor: closed, constant volume, with constant or measured temperature.

    dc_i/dt = sum_j nu_ij r_j(c, T(t)),   c(0) = c_0

Levenspiel, Chemical Reaction Engineering (3rd ed., 1999), chapter 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from kinetix.network import Kinetics
from kinetix.rates import Thermal, constants_at
from kinetix.reactors.balances import Contents, closed, closed_jacobian
from kinetix.reactors.energy import Isothermal, Programmed
from kinetix.reactors.reactor import Lane, Reactor, States
from kinetix.solvers import Options, System, integrate
from kinetix.units import PRESSURE, TEMPERATURE

ISOTHERMAL = System(closed, closed_jacobian, autonomous=True)
PROGRAMMED = System(closed, closed_jacobian, autonomous=False)
MANY, CLEARLY = 1e3, 1e-6
"""A concentration is clearly below zero beyond this many absolute tolerances plus this part of the largest start."""


def solve(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> States:
    """Concentrations at the lane's times, starting from `initial` at time zero."""
    times = lane["times"]
    lowest = -(MANY * lane["atol"] + CLEARLY * jnp.max(jnp.abs(lane["initial"])))
    options = replace(options, atol=lane["atol"], lowest=lowest)
    if "program_T" in lane:
        energy = Programmed(lane["program_times"], lane["program_T"], thermal)
        solution = integrate(PROGRAMMED, lane["initial"], Contents(kinetics, energy), times, breaks=lane["program_times"], options=options)
        T = jnp.interp(times, energy.times, energy.temperatures)
        constants = constants_at(thermal, T[:, None])
    else:
        energy = Isothermal(lane["T"], constants_at(thermal, lane["T"]))
        solution = integrate(ISOTHERMAL, lane["initial"], Contents(kinetics, energy), times, options=options)
        T = jnp.broadcast_to(lane["T"], times.shape)
        constants = jnp.broadcast_to(energy.constants, (*times.shape, energy.constants.shape[0]))
    return States(solution.y, T, constants, solution.status, solution.steps)


def lane_conditions(given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A closed reactor needs nothing but its temperature and its initial state."""
    del given
    return {}


BATCH = Reactor(
    name="batch",
    summary="closed reactor at constant volume, readings over time",
    timed=True,
    conditions={"T": TEMPERATURE, "P": PRESSURE},
    needs_feed=False,
    needs_initial=True,
    measures_rates=False,
    lane_conditions=lane_conditions,
    solve=solve,
)
