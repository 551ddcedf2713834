"""Semibatch (fed-batch) reactor: a stirred vessel that a constant flow fills for some time, constant density, nothing taken out.

    dV/dt = q(t),   d(c_i V)/dt = q(t) c_feed,i + V sum_j nu_ij r_j(c, T(t)),   V(0) = V_0,   c(0) = c_0

with q = Q from `feed_start` (default: time zero) to `feed_stop` (default: to the end), and zero before and after. The volume is
known beforehand, so that concentrations alone are integrated: dc_i/dt = q/V (c_feed,i - c_i) + sum_j nu_ij r_j. Where the flow
begins and ends, a step of the integration ends.

Fogler, Elements of Chemical Reaction Engineering (4th ed., 2006), section 4.10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from kinetix.errors import ConditionError
from kinetix.network import Kinetics
from kinetix.rates import Thermal
from kinetix.reactors.balances import Contents, Filling, fed, fed_jacobian
from kinetix.reactors.batch import lowest
from kinetix.reactors.energy import given_temperature
from kinetix.reactors.loading import FILLING
from kinetix.reactors.posed import Inside, Integrated, Posed
from kinetix.reactors.reactor import Lane, Reactor
from kinetix.solvers import Options, System
from kinetix.units import PRESSURE, TEMPERATURE, TIME

SYSTEM = System(fed, fed_jacobian, autonomous=False)
START, STOP = "feed_start", "feed_stop"


def pose(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> Posed:
    """Concentrations at the lane's times, and how much the volume has grown, starting from `initial` at time zero."""
    times, temperature = lane["times"], given_temperature(lane, thermal)
    breaks = [] if temperature.nodes is None else [temperature.nodes]
    breaks += [jnp.atleast_1d(lane[name]) for name in (START, STOP) if name in lane]
    filling = Filling(
        Contents(kinetics, temperature.rule),
        lane["feed"],
        lane["dilution"],
        jnp.asarray(lane.get(START, 0.0), times.dtype),
        jnp.asarray(lane.get(STOP, jnp.finfo(times.dtype).max), times.dtype),
    )
    largest = jnp.maximum(jnp.max(jnp.abs(lane["initial"])), jnp.max(jnp.abs(lane["feed"])))
    return Posed(
        SYSTEM,
        lane["initial"],
        filling,
        times,
        lambda t, c: Inside(c, *temperature.rule.at(t), filling.expansion(t)),
        replace(options, atol=lane["atol"], lowest=lowest(lane["atol"], largest)),
        jnp.concatenate(breaks) if breaks else None,
        clock=1.0,
    )


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
