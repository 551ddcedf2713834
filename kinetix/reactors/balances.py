"""The balance of every reactor that is integrated or settles, as a sum of four parts: what reacts, energy, volume, feed.

    dx_i/ds = sum_j nu_ij e_j(x, T) + g(s) (feed_i - x_i)
    C(x) dT/ds = -sum_j dH_j(T) e_j(x, T) + C(feed) g(s) (T_feed - T) + UA/V (T_coolant - T),   where T is a state

x are concentrations, mol/m^3; where the volume changes with what is in it, amounts or flows per volume of the start or of the feed,
in the same unit. s is the time, or the residence time along a tube. The parts say the rest:

- the energy rule (`kinetix.reactors.energy`): what T is, and the constants of the rate laws at it. Where T is a state, it stands behind
  the concentrations, K, and behind it the temperature of a coolant that has a balance of its own;
- the volume rule (`kinetix.reactors.volume`): the concentrations c that belong to x and T, and how much reacts, e_j from r_j(c, T);
- the feed rule (`kinetix.reactors.feed`): what comes in, g(s).

The Jacobian is put together from the same parts, so that no reactor repeats a formula.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from kinetix.network import Kinetics, rates, rates_jacobian
from kinetix.reactors.energy import EnergyRule, Heat, Heated
from kinetix.reactors.feed import FeedRule
from kinetix.reactors.volume import VolumeRule
from kinetix.solvers import System


class Balance(NamedTuple):
    """The parts of the balance of one lane.

    Attributes:
        kinetics: what reacts.
        energy: the energy rule.
        volume: the volume rule.
        feed: the feed rule.
    """

    kinetics: Kinetics
    energy: EnergyRule
    volume: VolumeRule
    feed: FeedRule


def change(t: jax.Array, y: jax.Array, balance: Balance) -> jax.Array:
    """dy/ds of the state y = [x, T, T_jacket], as far as these are states."""
    kinetics, energy, volume, feed = balance
    x, own = _split(y, kinetics)
    T, constants = energy.at(t, own)
    events = volume.events(rates(kinetics, constants, T, volume.concentrations(x, T)), x, T)
    material = jnp.matmul(kinetics.stoichiometry, events)
    if feed is not None:
        material = feed.exchange(t) * (feed.concentrations - x) + material
    if not isinstance(energy, Heated):
        return material
    warming = _power(t, own, events, balance) / energy.heat.capacity(x)
    return jnp.concatenate([material, warming[None], *_jacket(energy.heat, own)])


def _power(t: jax.Array, own: jax.Array, events: jax.Array, balance: Balance) -> jax.Array:
    """What reactions release, and what the coolant and the feed bring, W/m^3."""
    assert isinstance(balance.energy, Heated)
    heat, feed, T = balance.energy.heat, balance.feed, own[0]
    released = -jnp.sum(heat.at(jnp.asarray(balance.kinetics.stoichiometry), T) * events)
    power = _exchange(t, balance) * (heat.around(own) - T) + released
    return power if feed is None else feed.exchange(t) * heat.capacity(feed.concentrations) * (heat.feed - T) + power


def _exchange(t: jax.Array, balance: Balance) -> jax.Array:
    """UA/V, W/m^3/K: UA stays, V may grow."""
    assert isinstance(balance.energy, Heated)
    exchange = balance.energy.heat.exchange
    return exchange if balance.feed is None else exchange / balance.feed.expansion(t)


def change_jacobian(t: jax.Array, y: jax.Array, balance: Balance) -> jax.Array:
    """d(dy/ds)/dy."""
    kinetics, energy, volume, feed = balance
    x, own = _split(y, kinetics)
    T, constants = energy.at(t, own)
    c = volume.concentrations(x, T)
    by_c = rates_jacobian(kinetics, constants, T, c)
    washed = None if feed is None else feed.exchange(t) * jnp.eye(x.shape[0], y.shape[0], dtype=y.dtype)
    if not isinstance(energy, Heated):
        material = jnp.matmul(kinetics.stoichiometry, volume.slopes(rates(kinetics, constants, T, c), by_c, x, T))
        return material if washed is None else material - washed
    found, by_T = jax.jvp(lambda T: rates(kinetics, energy.constants(T), T, c), (T,), (jnp.ones_like(T),))
    events = volume.events(found, x, T)
    by_x, by_T = volume.slopes(found, by_c, x, T), volume.slopes_by_temperature(found, by_c, by_T, x, T)
    by_jacket = [] if energy.heat.jacket is None else [jnp.zeros((found.shape[0], 1), y.dtype)]
    slopes = jnp.concatenate([by_x, by_T[:, None], *by_jacket], axis=1)
    material = jnp.matmul(kinetics.stoichiometry, slopes)
    material = material if washed is None else material - washed
    rows = [_warming_slopes(t, x, own, events, slopes, balance), *_jacket_slopes(energy.heat, x)]
    return jnp.concatenate([material, jnp.stack(rows)])


def _warming_slopes(t: jax.Array, x: jax.Array, own: jax.Array, events: jax.Array, slopes: jax.Array, balance: Balance) -> jax.Array:
    """d(dT/ds)/dy: from C(x) dT/ds = power follows C d(dT/ds) = d power - (dT/ds) dC; `slopes` are those of the events."""
    assert isinstance(balance.energy, Heated)
    heat, feed, T = balance.energy.heat, balance.feed, own[0]
    stoichiometry, exchange = jnp.asarray(balance.kinetics.stoichiometry), _exchange(t, balance)
    by_T = jnp.sum(heat.changes(stoichiometry) * events) + exchange
    by_T = by_T if feed is None else by_T + feed.exchange(t) * heat.capacity(feed.concentrations)
    warming = _power(t, own, events, balance) / heat.capacity(x)
    held = jnp.concatenate([warming * heat.molar, by_T[None], *([-exchange[None]] if heat.jacket is not None else [])])
    return -(jnp.matmul(heat.at(stoichiometry, T), slopes) + held) / heat.capacity(x)


def _jacket(heat: Heat, own: jax.Array) -> list[jax.Array]:
    """dT_jacket/ds where it is a state, (1,): in the volume at time zero, so that a vessel that fills makes no difference."""
    if heat.jacket is None:
        return []
    T, T_jacket = own[0], own[1]
    return [((heat.exchange * (T - T_jacket) + heat.jacket.flow * (heat.coolant - T_jacket)) / heat.jacket.holdup)[None]]


def _jacket_slopes(heat: Heat, x: jax.Array) -> list[jax.Array]:
    if heat.jacket is None:
        return []
    by_own = jnp.stack([heat.exchange, -heat.exchange - heat.jacket.flow]) / heat.jacket.holdup
    return [jnp.concatenate([jnp.zeros_like(x), by_own])]


def _split(y: jax.Array, kinetics: Kinetics) -> tuple[jax.Array, jax.Array]:
    """Concentrations (or what stands for them) and temperatures of a state."""
    species = kinetics.stoichiometry.shape[0]
    return y[:species], y[species:]


STEADY = System(change, change_jacobian, autonomous=True)
"""Where nothing in the parts depends on time."""

TIMED = System(change, change_jacobian, autonomous=False)
"""Where something does."""
