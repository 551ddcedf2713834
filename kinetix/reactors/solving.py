"""What every reactor does with its balance: follow it, or find where it settles, and tell the states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp

from kinetix.reactors.balances import STEADY, TIMED, Balance
from kinetix.reactors.energy import Heated, Programmed
from kinetix.reactors.feed import Filling
from kinetix.reactors.reactor import States
from kinetix.solvers import Options, SteadyOptions, integrate, steady_state

NEGLIGIBLE = 1e-12
"""Of a temperature, as an absolute tolerance: the relative tolerance decides."""

MANY, CLEARLY = 1e3, 1e-6
"""A concentration is clearly below zero beyond this many absolute tolerances plus this part of the largest start or feed."""


def followed(
    balance: Balance, start: jax.Array, times: jax.Array, atol: jax.Array, options: Options, breaks: Sequence[jax.Array] = ()
) -> States:
    """The states at the times.

    Args:
        balance: what is followed.
        start: concentrations, or what stands for them, mol/m^3, (species,).
        times: s, (time,).
        atol: absolute tolerance of concentrations, mol/m^3.
        options: of the integration; the tolerances and limits that depend on the lane are set here.
        breaks: times at which the feed jumps, s, (break,) each.
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
    solution = integrate(system, y0, balance, times, breaks=jnp.concatenate(kinks) if kinks else None, options=options)
    return _told(balance, times, solution.y, solution.status, solution.steps, solution.t_reached)


def settled(balance: Balance, start: jax.Array, atol: jax.Array) -> States:
    """The steady state that is reached from concentrations, (species,), as one state; arguments as of `followed`."""
    steady = steady_state(STEADY, _with_temperatures(balance, start), balance, SteadyOptions(atol=_tolerances(balance, atol, start)))
    at = jnp.zeros_like(steady.y[:1])
    return _told(balance, at, steady.y[None], steady.status, steady.iterations, at[0])


def _with_temperatures(balance: Balance, x: jax.Array) -> jax.Array:
    return jnp.concatenate([x, balance.energy.heat.first()]) if isinstance(balance.energy, Heated) else x


def _tolerances(balance: Balance, atol: jax.Array, x: jax.Array) -> jax.Array:
    if not isinstance(balance.energy, Heated):
        return atol
    return jnp.concatenate([jnp.broadcast_to(atol, x.shape), NEGLIGIBLE * balance.energy.heat.first()])


def _told(balance: Balance, times: jax.Array, y: jax.Array, status: jax.Array, steps: jax.Array, reached: jax.Array) -> States:
    species = balance.kinetics.stoichiometry.shape[0]
    x, own = y[:, :species], y[:, species:]
    T, constants = jax.vmap(balance.energy.at)(times, own)
    expansion = balance.volume.expansion(x, T)
    if balance.feed is not None:
        expansion = expansion * balance.feed.expansion(times)
    jacket = own[:, 1] if isinstance(balance.energy, Heated) and balance.energy.heat.jacket is not None else None
    return States(balance.volume.concentrations(x, T), T, constants, status, steps, reached, expansion, jacket)
