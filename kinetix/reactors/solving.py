"""What every reactor does with its balance: follow it, or find where it settles, and tell the states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp

from kinetix.reactors.balances import STEADY, TIMED, Balance
from kinetix.reactors.energy import Heated, Programmed
from kinetix.reactors.feed import Filling
from kinetix.reactors.posed import Inside, Posed
from kinetix.reactors.reactor import Rest, States
from kinetix.solvers import Options, SteadyOptions, steady_state

NEGLIGIBLE = 1e-12
"""Of a temperature, as an absolute tolerance: the relative tolerance decides."""

_NOW = 0.0  # nothing at rest depends on time

MANY, CLEARLY = 1e3, 1e-6
"""A concentration is clearly below zero beyond this many absolute tolerances plus this part of the largest start or feed."""


def posed(
    balance: Balance,
    start: jax.Array,
    times: jax.Array,
    atol: jax.Array,
    options: Options,
    breaks: Sequence[jax.Array] = (),
    clock: jax.Array | float | None = None,
) -> Posed:
    """The initial value problem of a balance.

    Args:
        balance: what is followed.
        start: concentrations, or what stands for them, mol/m^3, (species,).
        times: s, (time,).
        atol: absolute tolerance of concentrations, mol/m^3, one or (species,).
        options: of the integration; the tolerances and limits that depend on the lane are set here.
        breaks: times at which the feed jumps, s, (break,) each.
        clock: as of `Posed`.
    """
    energy = balance.energy
    kinks = [*breaks, *([energy.times] if isinstance(energy, Programmed) else [])]
    largest = jnp.max(jnp.abs(start))
    if balance.feed is not None:
        largest = jnp.maximum(largest, jnp.max(jnp.abs(balance.feed.concentrations)))
    lowest, y0 = -(MANY * atol + CLEARLY * largest), _with_temperatures(balance, start)
    if isinstance(energy, Heated):
        lowest = jnp.concatenate([jnp.broadcast_to(lowest, start.shape), jnp.zeros_like(energy.heat.first())])
    options = replace(options, atol=_tolerances(balance, atol, start), lowest=lowest)
    system = TIMED if kinks or isinstance(balance.feed, Filling) else STEADY
    inside = partial(_inside, balance)
    return Posed(system, y0, balance, times, inside, options, jnp.concatenate(kinks) if kinks else None, clock)


def resting(balance: Balance, start: jax.Array, atol: jax.Array) -> Rest:
    """The equations of the steady states of a balance; arguments as of `posed`."""
    y0, tolerances = _with_temperatures(balance, start), _tolerances(balance, atol, start)
    return Rest(STEADY, y0, balance, tolerances, lambda y: _inside(balance, _NOW, y)[:3])


def settled(balance: Balance, start: jax.Array, atol: jax.Array) -> States:
    """The steady state that is reached from concentrations, (species,), as one state; arguments as of `posed`."""
    rest = resting(balance, start, atol)
    steady = steady_state(rest.system, rest.start, rest.args, SteadyOptions(atol=rest.atol))
    c, T, constants, expansion, _ = _inside(balance, _NOW, steady.y)
    zero = jnp.zeros_like(T)
    return States(c[None], T[None], constants[None], steady.status, steady.iterations, zero, jnp.asarray(expansion + zero)[None])


def _with_temperatures(balance: Balance, x: jax.Array) -> jax.Array:
    return jnp.concatenate([x, balance.energy.heat.first()]) if isinstance(balance.energy, Heated) else x


def _tolerances(balance: Balance, atol: jax.Array, x: jax.Array) -> jax.Array:
    if not isinstance(balance.energy, Heated):
        return atol
    return jnp.concatenate([jnp.broadcast_to(atol, x.shape), NEGLIGIBLE * balance.energy.heat.first()])


def _inside(balance: Balance, t: jax.Array | float, y: jax.Array) -> Inside:
    """What a state of a balance means."""
    species = balance.kinetics.stoichiometry.shape[0]
    x, own = y[:species], y[species:]
    T, constants = balance.energy.at(jnp.asarray(t), own)
    expansion = balance.volume.expansion(x, T)
    if balance.feed is not None:
        expansion = expansion * balance.feed.expansion(jnp.asarray(t))
    jacket = own[1] if isinstance(balance.energy, Heated) and balance.energy.heat.jacket is not None else None
    return Inside(balance.volume.concentrations(x, T), T, constants, expansion, jacket)
