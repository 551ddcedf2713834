"""Differential reactor: rates measured at known concentrations or partial pressures, per volume or per catalyst.

    responses: rate[r1] = r_1(c, T),   rate[A] = sum_j nu_Aj r_j(c, T)

Levenspiel, Chemical Reaction Engineering (3rd ed., 1999), chapter 18.
"""

from __future__ import annotations

import jax.numpy as jnp

from kinetix.network import Kinetics
from kinetix.rates import BASES, ON_STREAM, Thermal, constants_at
from kinetix.reactors.reactor import Lane, Reactor, States
from kinetix.solvers import Options
from kinetix.status import Status
from kinetix.units import PRESSURE, TEMPERATURE, TIME


def solve(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> States:
    """The given concentrations; there is nothing to solve."""
    del kinetics, options
    zero = jnp.zeros((), jnp.int32)
    finite = jnp.all(jnp.isfinite(lane["concentrations"]))
    status = jnp.where(finite, zero + int(Status.SUCCESS), zero + int(Status.NON_FINITE))
    return States(
        lane["concentrations"][None], lane["T"][None], constants_at(thermal, lane["T"])[None], status, zero, jnp.zeros_like(lane["T"])
    )


DIFFERENTIAL = Reactor(
    name="differential",
    summary="rates measured at known concentrations, one row per measurement",
    timed=False,
    integrated=False,
    conditions={"T": TEMPERATURE, "P": PRESSURE, ON_STREAM: TIME},
    loadings=dict.fromkeys(BASES),
    needs_feed=False,
    needs_initial=False,
    measures_rates=True,
    loading="",
    solve=solve,
)
