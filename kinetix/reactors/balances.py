"""Balances of reactors, term by term.

The state is the vector of concentrations, mol/m^3; where the density changes, molar flows per volume flow of the feed, in the
same unit; where an energy balance makes the temperature a state, it is the last entry, K. A reactor is a sum of terms; each term
gives its value and its Jacobian, so that a reactor never repeats a formula.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from kinetix.network import Kinetics, production, production_jacobian, rates, rates_jacobian
from kinetix.rates import Thermal, constants_at
from kinetix.reactors.energy import EnergyRule, Heat, Isothermal


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


class Heated(NamedTuple):
    """Contents whose temperature follows from an energy balance.

    Attributes:
        kinetics: the network.
        thermal: constants as functions of temperature.
        heat: of reaction, capacities, and exchange.
    """

    kinetics: Kinetics
    thermal: Thermal
    heat: Heat

    def at(self, T: jax.Array) -> Contents:
        """What reacts at the temperature T."""
        return Contents(self.kinetics, Isothermal(T, constants_at(self.thermal, T)))


class HeatedFlow(NamedTuple):
    """Heated contents with a flow through them; attributes as in `Flow`. The feed has the temperature `heat.start`."""

    contents: Heated
    tau: jax.Array
    feed: jax.Array


def power(t: jax.Array, c: jax.Array, contents: Contents, heat: Heat) -> jax.Array:
    """What reactions release and the coolant brings, -sum_j dH_j(T) r_j + UA/V (T_coolant - T), W/m^3."""
    T, constants = contents.energy.at(t)
    enthalpies = heat.at(jnp.asarray(contents.kinetics.stoichiometry), T)
    return heat.exchange * (heat.coolant - T) - jnp.sum(enthalpies * rates(contents.kinetics, constants, T, c))


def closed_heated(t: jax.Array, y: jax.Array, heated: Heated) -> jax.Array:
    """dc/dt = nu r and C(c) dT/dt = power, with the heat capacity C of the contents."""
    c, T = y[:-1], y[-1]
    contents, heat = heated.at(T), heated.heat
    return jnp.append(closed(t, c, contents), power(t, c, contents, heat) / heat.capacity(c))


def closed_heated_jacobian(t: jax.Array, y: jax.Array, heated: Heated) -> jax.Array:
    return _heated_jacobian(y, heated, closed_heated(t, y, heated)[-1], jnp.zeros_like(y[-1]), jnp.zeros_like(y[-1]))


def through_flow_heated(t: jax.Array, y: jax.Array, flow: HeatedFlow) -> jax.Array:
    """dc/dt = (c_feed - c)/tau + nu r and C(c) dT/dt = C(c_feed) (T_feed - T)/tau + power."""
    c, T = y[:-1], y[-1]
    contents, heat = flow.contents.at(T), flow.contents.heat
    warming = heat.capacity(flow.feed) * (heat.start - T) / flow.tau + power(t, c, contents, heat)
    return jnp.append(through_flow(t, c, Flow(contents, flow.tau, flow.feed)), warming / heat.capacity(c))


def through_flow_heated_jacobian(t: jax.Array, y: jax.Array, flow: HeatedFlow) -> jax.Array:
    carried = flow.contents.heat.capacity(flow.feed) / flow.tau
    return _heated_jacobian(y, flow.contents, through_flow_heated(t, y, flow)[-1], 1.0 / flow.tau, carried)


def _heated_jacobian(y: jax.Array, heated: Heated, warming: jax.Array, washed: jax.Array, carried: jax.Array) -> jax.Array:
    """Of balances with the reactions of `heated`: d(dc/dt, dT/dt)/d(c, T).

    From C(c) dT/dt = power + carried (T_in - T) follows C d(dT/dt) = d power - carried dT - (dT/dt) dC.

    Args:
        y: the state.
        heated: what reacts.
        warming: dT/dt.
        washed: what the flow takes away of each concentration, 1/s.
        carried: what it takes away of the heat, W/m^3/K.
    """
    c, T, (kinetics, thermal, heat) = y[:-1], y[-1], heated
    stoichiometry = jnp.asarray(kinetics.stoichiometry)
    found, by_T = jax.jvp(lambda T: rates(kinetics, constants_at(thermal, T), T, c), (T,), (jnp.ones_like(T),))
    slopes = jnp.concatenate([rates_jacobian(kinetics, constants_at(thermal, T), T, c), by_T[:, None]], axis=1)
    material = jnp.matmul(stoichiometry, slopes) - washed * jnp.eye(c.shape[0], y.shape[0], dtype=y.dtype)
    power_slopes = -jnp.matmul(heat.at(stoichiometry, T), slopes)
    own = jnp.sum(heat.changes(stoichiometry) * found) + heat.exchange + carried
    energy = (power_slopes - jnp.append(warming * heat.molar, own)) / heat.capacity(c)
    return jnp.concatenate([material, energy[None]])
