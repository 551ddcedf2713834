"""Stirred tank over time, from an initial state: start-up, a step of the feed, a tracer. Constant volume and density.

    dc_i/dt = (c_feed,i - c_i)/tau + sum_j nu_ij r_j(c, T(t)),   c(0) = c_0,   tau = V/Q
    C(c) dT/dt = C(c_feed) (T_feed - T)/tau - sum_j dH_j r_j + UA/V (T_coolant - T),   T(0) = T_0,   where T is a state

Feed and residence time are constant from time zero on.

Fogler, Elements of Chemical Reaction Engineering (4th ed., 2006), section 4.10; Levenspiel, Chemical Reaction Engineering (3rd ed.,
1999), chapter 11.
"""

from __future__ import annotations

from kinetix.network import Kinetics
from kinetix.rates import Thermal
from kinetix.reactors.balances import Balance
from kinetix.reactors.energy import energy_rule
from kinetix.reactors.feed import Through
from kinetix.reactors.loading import TANKS
from kinetix.reactors.posed import Integrated, Posed
from kinetix.reactors.reactor import Lane, Reactor
from kinetix.reactors.solving import posed
from kinetix.reactors.volume import ConstantVolume
from kinetix.solvers import Options
from kinetix.units import PRESSURE, TEMPERATURE


def pose(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    """Concentrations in the tank at the lane's times, starting from `initial` at time zero."""
    balance = Balance(kinetics, energy_rule(lane, thermal), ConstantVolume(), Through(lane["feed"], lane["tau"]))
    return posed(balance, lane["initial"], lane["times"], lane["atol"], options, clock=1.0)


TRANSIENT_CSTR = Reactor(
    name="transient_cstr",
    summary="continuous stirred tank over time from an initial state, constant density, readings over time",
    timed=True,
    integrated=True,
    conditions={"T": TEMPERATURE, "P": PRESSURE},
    heating="C*dT/dt = C(feed)*(T_feed - T)/tau",
    loadings={"volume": TANKS["volume"]},
    needs_feed=True,
    needs_initial=True,
    measures_rates=False,
    loading="tau",
    solve=Integrated(pose),
)
