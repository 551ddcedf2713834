"""Material balances of constant-density reactors, term by term.

The state is the vector of concentrations, mol/m^3. A reactor is a sum of terms; each term gives its value and its
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
