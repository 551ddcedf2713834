"""Semibatch (fed-batch) reactor: a stirred vessel that a constant flow fills for some time, constant density, nothing taken out.

    dV/dt = q(t),   d(c_i V)/dt = q(t) c_feed,i + V sum_j nu_ij r_j(c, T(t)),   V(0) = V_0,   c(0) = c_0

with q = Q from `feed_start` (default: time zero) to `feed_stop` (default: to the end), and zero before and after. The volume is
known beforehand, so that concentrations alone are integrated: dc_i/dt = q/V (c_feed,i - c_i) + sum_j nu_ij r_j. Where the flow
begins and ends, a step of the integration ends. With an energy balance

    C(c) dT/dt = q/V C(c_feed) (T_feed - T) - sum_j dH_j r_j + UA/V(t) (T_coolant - T),   T(0) = T_0

where UA stays while the vessel fills.

Fogler, Elements of Chemical Reaction Engineering (4th ed., 2006), section 4.10.
"""

from __future__ import annotations

from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from kinetix.errors import ConditionError
from kinetix.network import Kinetics
from kinetix.rates import Thermal
from kinetix.reactors.balances import Balance
from kinetix.reactors.energy import energy_rule
from kinetix.reactors.feed import Filling
from kinetix.reactors.loading import FILLING
from kinetix.reactors.posed import Integrated, Posed
from kinetix.reactors.reactor import Lane, Reactor
from kinetix.reactors.solving import posed
from kinetix.reactors.volume import ConstantVolume
from kinetix.solvers import Options
from kinetix.units import PRESSURE, TEMPERATURE, TIME

START, STOP = "feed_start", "feed_stop"


def pose(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    """Concentrations at the lane's times, and how much the volume has grown, starting from `initial` at time zero."""
    dtype = lane["times"].dtype
    start, stop = jnp.asarray(lane.get(START, 0.0), dtype), jnp.asarray(lane.get(STOP, jnp.finfo(dtype).max), dtype)
    balance = Balance(kinetics, energy_rule(lane, thermal), ConstantVolume(), Filling(lane["feed"], lane["dilution"], start, stop))
    jumps = [jnp.atleast_1d(lane[name]) for name in (START, STOP) if name in lane]
    return posed(balance, lane["initial"], lane["times"], lane["atol"], options, jumps, clock=1.0)


def in_order(given: Mapping[str, np.ndarray]) -> None:
    """That the feed ends after it begins.

    Raises:
        ConditionError: it does not.
    """
    if STOP not in given:
        return
    start = given.get(START, np.zeros(1))
    wrong = np.flatnonzero(~(given[STOP] > start))
    if wrong.size:
        begins = float(np.broadcast_to(start, given[STOP].shape)[wrong[0]])
        raise ConditionError(
            f"semibatch: the feed ends at {given[STOP][wrong[0]]:g} s in experiment number {wrong[0] + 1}, and begins at {begins:g} s."
            f" {STOP} must be later than {START} (time zero where it is not given). Correct one of them; a vessel without feed is a batch."
        )


SEMIBATCH = Reactor(
    name="semibatch",
    summary="stirred vessel that a constant flow fills, constant density, readings over time",
    timed=True,
    integrated=True,
    conditions={"T": TEMPERATURE, "P": PRESSURE},
    heating="C*dT/dt = C(feed)*(T_feed - T)*Q/V",
    loadings={"volume": FILLING},
    needs_feed=True,
    needs_initial=True,
    measures_rates=False,
    loading="dilution",
    solve=Integrated(pose),
    expands=True,
    optional={START: TIME, STOP: TIME},
    check=in_order,
)
