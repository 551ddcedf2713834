"""Material balances of reactors, term by term.

The state is the vector of concentrations, mol/m^3; where the density changes, molar flows per volume flow of the feed, in the
same unit. A reactor is a sum of terms; each term gives its value and its
Jacobian, so that a reactor never repeats a formula.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from kinetix.network import Kinetics, production, production_jacobian
from kinetix.reactors.energy import EnergyRule


class Contents(NamedTuple):
    """What reacts in one lane, and at which temperature.

    Attributes:
        kinetics: the network.
        energy: the energy rule.
    """

    kinetics: Kinetics
    energy: EnergyRule


class Flow(NamedTuple):
    """Contents with a flow through them.

    Attributes:
        contents: what reacts.
        tau: residence time, s.
        feed: feed concentrations, mol/m^3, (species,).
    """

    contents: Contents
    tau: jax.Array
    feed: jax.Array


class Gas(NamedTuple):
    """An ideal gas on its way, at constant temperature and pressure.

    Attributes:
        contents: what reacts.
        total: sum of all concentrations, P/(R T), mol/m^3.
    """

    contents: Contents
    total: jax.Array


class Filling(NamedTuple):
    """A closed vessel into which a constant flow runs for some time.

    Attributes:
        contents: what reacts.
        feed: feed concentrations, mol/m^3, (species,).
        dilution: volume flow over the volume at time zero, 1/s.
        start: when the flow begins, s.
        stop: when it ends, s, finite.
    """

    contents: Contents
    feed: jax.Array
    dilution: jax.Array
    start: jax.Array
    stop: jax.Array

    def expansion(self, t: jax.Array) -> jax.Array:
        """V(t)/V(0)."""
        return 1.0 + self.dilution * (jnp.minimum(jnp.maximum(t, self.start), self.stop) - self.start)

    def exchange(self, t: jax.Array) -> jax.Array:
        """q(t)/V(t), 1/s."""
        return jnp.where((t >= self.start) & (t < self.stop), self.dilution / self.expansion(t), 0.0)


def closed(t: jax.Array, c: jax.Array, contents: Contents) -> jax.Array:
    """dc/dt = nu r(c, T), constant volume, nothing in or out."""
    T, constants = contents.energy.at(t)
    return production(contents.kinetics, constants, T, c)


def closed_jacobian(t: jax.Array, c: jax.Array, contents: Contents) -> jax.Array:
    T, constants = contents.energy.at(t)
    return production_jacobian(contents.kinetics, constants, T, c)


def through_flow(t: jax.Array, c: jax.Array, flow: Flow) -> jax.Array:
    """dc/dt = (c_feed - c)/tau + nu r(c, T): constant volume and density, same flow in and out."""
    return (flow.feed - c) / flow.tau + closed(t, c, flow.contents)


def through_flow_jacobian(t: jax.Array, c: jax.Array, flow: Flow) -> jax.Array:
    return closed_jacobian(t, c, flow.contents) - jnp.eye(c.shape[0], dtype=c.dtype) / flow.tau


def gas_concentrations(flows: jax.Array, total: jax.Array) -> jax.Array:
    """c_i = F_i/sum(F) P/(R T), mol/m^3, from flows in any common unit, (..., species)."""
    return flows * (total / jnp.sum(flows, axis=-1, keepdims=True))


def along_gas(t: jax.Array, flows: jax.Array, gas: Gas) -> jax.Array:
    """df/dtau = nu r(c, T) with f = F/Q_feed and tau = V/Q_feed: mole numbers and with them the volume flow may change."""
    return closed(t, gas_concentrations(flows, gas.total), gas.contents)


def along_gas_jacobian(t: jax.Array, flows: jax.Array, gas: Gas) -> jax.Array:
    # dc_i/df_j = (total/sum f) (delta_ij - f_i/sum f)
    slopes = closed_jacobian(t, gas_concentrations(flows, gas.total), gas.contents)
    sum_of_flows = jnp.sum(flows)
    return (gas.total / sum_of_flows) * (slopes - jnp.matmul(slopes, flows / sum_of_flows)[:, None])


def fed(t: jax.Array, c: jax.Array, filling: Filling) -> jax.Array:
    """dc/dt = q/V (c_feed - c) + nu r(c, T), which is d(c V)/dt = q c_feed + V nu r with dV/dt = q."""
    return filling.exchange(t) * (filling.feed - c) + closed(t, c, filling.contents)


def fed_jacobian(t: jax.Array, c: jax.Array, filling: Filling) -> jax.Array:
    return closed_jacobian(t, c, filling.contents) - filling.exchange(t) * jnp.eye(c.shape[0], dtype=c.dtype)
