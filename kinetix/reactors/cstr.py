"""Continuous stirred tank at steady state, constant density, isothermal or with an energy balance.

    0 = (c_feed,i - c_i)/tau + sum_j nu_ij r_j(c, T),   tau = V/Q
    0 = C(c_feed) (T_feed - T)/tau - sum_j dH_j r_j + UA/V (T_coolant - T),   where T is a state

Equal tanks in series (`tanks` = N) are N such balances, each with tau/N and fed by the one before; tau is that of all together.

With rates per catalyst mass W or surface S the same with W/Q or S/Q for tau, from 0 = Q (c_feed,i - c_i) + W sum_j nu_ij r_j.

C is the heat capacity of the fluid per volume.

Levenspiel, Chemical Reaction Engineering (3rd ed., 1999), chapters 5, 6 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
from jax import lax

from kinetix.network import Kinetics
from kinetix.rates import ON_STREAM, Thermal, constants_at
from kinetix.reactors.balances import Balance
from kinetix.reactors.energy import energy_rule
from kinetix.reactors.feed import Through
from kinetix.reactors.loading import TANKS
from kinetix.reactors.reactor import Lane, Reactor, States
from kinetix.reactors.solving import settled
from kinetix.reactors.volume import ConstantVolume
from kinetix.solvers import Options
from kinetix.status import Status
from kinetix.units import PRESSURE, TEMPERATURE, TIME


def solve(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> States:
    """Outlet concentrations, and temperature where it is a state: the steady state that is found from the feed."""
    del options
    balance = Balance(kinetics, energy_rule(lane, thermal), ConstantVolume(), Through(lane["feed"], lane["tau"]))
    return settled(balance, lane["feed"], lane["atol"])


@dataclass(frozen=True)
class Series:
    """Equal tanks in series, solved one after the other: what leaves the last.

    Attributes:
        tanks: how many.
    """

    tanks: int

    def __call__(self, kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> States:
        T = lane["heat"].start if "heat" in lane else lane["T"]

        def tank(before: States, _: None) -> tuple[States, None]:
            here = {**lane, "feed": before.c[0], "tau": lane["tau"] / self.tanks}
            if "heat" in lane:
                here["heat"] = lane["heat"]._replace(start=before.T[0], feed=before.T[0])
            after = solve(kinetics, thermal, here, options)
            status = jnp.where(before.status == Status.SUCCESS, after.status, before.status)
            return States(after.c, after.T, after.constants, status, before.steps + after.steps, after.t_reached), None

        fine, none = jnp.asarray(int(Status.SUCCESS), jnp.int32), jnp.zeros((), jnp.int32)
        feed = States(lane["feed"][None], T[None], constants_at(thermal, T)[None], fine, none, jnp.zeros_like(T))
        return lax.scan(tank, feed, length=self.tanks)[0]


CSTR = Reactor(
    name="cstr",
    summary="continuous stirred tank at steady state, constant density, one row per steady state",
    timed=False,
    integrated=False,
    conditions={"T": TEMPERATURE, "P": PRESSURE, ON_STREAM: TIME},
    heating="0 = C(feed)*(T_feed - T)/tau",
    loadings=TANKS,
    needs_feed=True,
    needs_initial=False,
    measures_rates=False,
    loading="tau",
    solve=solve,
    series=Series,
)
