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

import jax
import jax.numpy as jnp
from jax import lax

from kinetix.network import Kinetics
from kinetix.rates import ON_STREAM, Thermal, constants_at
from kinetix.reactors.balances import (
    Contents,
    Flow,
    Heated,
    HeatedFlow,
    through_flow,
    through_flow_heated,
    through_flow_heated_jacobian,
    through_flow_jacobian,
)
from kinetix.reactors.energy import Heat, Isothermal
from kinetix.reactors.loading import TANKS
from kinetix.reactors.reactor import Lane, Reactor, Rest, States
from kinetix.solvers import Options, SteadyOptions, System, steady_state
from kinetix.status import Status
from kinetix.units import PRESSURE, TEMPERATURE, TIME

SYSTEM = System(through_flow, through_flow_jacobian, autonomous=True)
HEATED = System(through_flow_heated, through_flow_heated_jacobian, autonomous=True)


def at_rest(kinetics: Kinetics, thermal: Thermal, lane: Lane) -> Rest:
    """The balances of one tank; it starts full of feed."""
    if "heat" in lane:
        heat: Heat = lane["heat"]
        flow = HeatedFlow(Heated(kinetics, thermal, heat), lane["tau"], lane["feed"])
        start, atol = heat.first_state(lane["feed"]), heat.tolerances(lane["atol"], lane["feed"])
        return Rest(HEATED, start, flow, atol, lambda y: (y[:-1], y[-1], constants_at(thermal, y[-1])))
    constants = constants_at(thermal, lane["T"])
    flow = Flow(Contents(kinetics, Isothermal(lane["T"], constants)), lane["tau"], lane["feed"])
    return Rest(SYSTEM, lane["feed"], flow, lane["atol"], lambda c: (c, lane["T"], constants))


def solve(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> States:
    """Outlet concentrations, and temperature where it is a state: the steady state that is found from the feed."""
    del options
    rest = at_rest(kinetics, thermal, lane)
    steady = steady_state(rest.system, rest.start, rest.args, SteadyOptions(atol=rest.atol))
    c, T, constants = rest.contents(steady.y)
    return States(c[None], T[None], constants[None], steady.status, steady.iterations, jnp.zeros_like(T))


@dataclass(frozen=True)
class Series:
    """Equal tanks in series, solved one after the other: what leaves the last.

    Attributes:
        tanks: how many.
    """

    tanks: int

    def __call__(self, kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> States:
        del options
        constants = constants_at(thermal, lane["T"])
        contents, each = Contents(kinetics, Isothermal(lane["T"], constants)), SteadyOptions(atol=lane["atol"])

        def tank(before: tuple[jax.Array, jax.Array], _: None) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
            feed, status = before
            steady = steady_state(SYSTEM, feed, Flow(contents, lane["tau"] / self.tanks, feed), each)
            return (steady.y, jnp.where(status == Status.SUCCESS, steady.status, status)), steady.iterations

        fine = jnp.asarray(int(Status.SUCCESS), jnp.int32)
        (c, first_failure), iterations = lax.scan(tank, (lane["feed"], fine), length=self.tanks)
        total = jnp.sum(iterations, dtype=jnp.int32)
        return States(c[None], lane["T"][None], constants[None], first_failure, total, jnp.zeros_like(lane["T"]))


CSTR = Reactor(
    name="cstr",
    summary="continuous stirred tank at steady state, constant density, one row per steady state",
    timed=False,
    integrated=False,
    conditions={"T": TEMPERATURE, "P": PRESSURE, ON_STREAM: TIME},
    heated_from="T_feed",
    loadings=TANKS,
    needs_feed=True,
    needs_initial=False,
    measures_rates=False,
    loading="tau",
    solve=solve,
    series=Series,
    at_rest=at_rest,
)
