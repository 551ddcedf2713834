"""Continuous stirred tank at steady state, isothermal or with an energy balance.

    0 = (c_feed,i - c_i)/tau + sum_j nu_ij r_j(c, T),   tau = V/Q
    0 = C(c_feed) (T_feed - T)/tau - sum_j dH_j r_j + UA/V (T_coolant - T),   where T is a state

An ideal gas at constant pressure leaves with another volume flow than that of the feed:

    0 = Q_feed c_feed,i - F_i + V sum_j nu_ij r_j(c, T),   c_i = F_i/sum(F) P/(R T)
    0 = sum_i Q_feed c_feed,i cp_i (T_feed - T) - V sum_j dH_j r_j + UA (T_coolant - T)

solved for f = F/Q_feed with tau = V/Q_feed; in which order such a state is reached, and whether it stays, is judged by the flows.

Equal tanks in series (`tanks` = N) are N such balances, each with tau/N and fed by the one before, as warm as that is; tau is that of
all together, and so are V and UA.

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
from kinetix.reactors.reactor import Fluid, Lane, Reactor, Rest, Solve, States
from kinetix.reactors.solving import resting, settled
from kinetix.reactors.volume import ConstantPressure, ConstantVolume, VolumeRule
from kinetix.solvers import Options
from kinetix.status import Status
from kinetix.units import PRESSURE, TEMPERATURE, TIME


def solve(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> States:
    """Outlet concentrations, and temperature where it is a state: the steady state that is found from the feed."""
    del options
    return _settled(kinetics, thermal, lane, ConstantVolume())


def solve_gas(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> States:
    """The same of an ideal gas at constant pressure, and how much more of it flows out than in, by volume."""
    del options
    T_feed = lane["heat"].start if "heat" in lane else lane["T"]
    return _settled(kinetics, thermal, lane, ConstantPressure.of(lane["feed"], T_feed))


def _settled(kinetics: Kinetics, thermal: Thermal, lane: Lane, volume: VolumeRule) -> States:
    return settled(_balance(kinetics, thermal, lane, volume), lane["feed"], lane["atol"])


def _balance(kinetics: Kinetics, thermal: Thermal, lane: Lane, volume: VolumeRule) -> Balance:
    return Balance(kinetics, energy_rule(lane, thermal), volume, Through(lane["feed"], lane["tau"]))


def at_rest(kinetics: Kinetics, thermal: Thermal, lane: Lane) -> Rest:
    """The balances of one tank of constant density; it starts full of feed."""
    return resting(_balance(kinetics, thermal, lane, ConstantVolume()), lane["feed"], lane["atol"])


@dataclass(frozen=True)
class Series:
    """Equal tanks in series, solved one after the other: what leaves the last.

    Attributes:
        one: solves a tank.
        tanks: how many.
    """

    one: Solve
    tanks: int

    def __call__(self, kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> States:
        T = lane["heat"].start if "heat" in lane else lane["T"]

        def tank(before: States, _: None) -> tuple[States, None]:
            here = {**lane, "feed": before.c[0], "tau": lane["tau"] / self.tanks / jnp.asarray(before.expansion)[0]}
            if "heat" in lane:
                here["heat"] = lane["heat"]._replace(start=before.T[0], feed=before.T[0])
            after = self.one(kinetics, thermal, here, options)
            return after._replace(
                status=jnp.where(before.status == Status.SUCCESS, after.status, before.status),
                steps=before.steps + after.steps,
                expansion=before.expansion * after.expansion,
            ), None

        fine, none, one = jnp.asarray(int(Status.SUCCESS), jnp.int32), jnp.zeros((), jnp.int32), jnp.ones_like(T)[None]
        feed = States(lane["feed"][None], T[None], constants_at(thermal, T)[None], fine, none, jnp.zeros_like(T), one)
        return lax.scan(tank, feed, length=self.tanks)[0]


CSTR = Reactor(
    name="cstr",
    summary="continuous stirred tank at steady state, one row per steady state",
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
    at_rest=at_rest,
    densities={
        "constant": Fluid("constant density", solve, advice="liquids, or gases whose mole number and temperature hardly change"),
        "ideal_gas": Fluid("ideal gas at constant P", solve_gas, "pressure", "an ideal gas at constant P"),
    },
    density="constant",
)
