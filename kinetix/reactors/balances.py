"""Material balances of constant-density reactors, term by term.

The state is the vector of concentrations, mol/m^3. A reactor is a sum of terms; each term gives its value and its
Jacobian, so that a reactor never repeats a formula.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from kinetix.network import Kinetics, production, production_jacobian


class Contents(NamedTuple):
    """What a solver carries for one lane of a reactor.

    Attributes:
        kinetics: the network.
        energy: the energy rule.
        tau: residence time, s; None for a closed reactor.
        feed: feed concentrations, mol/m^3, (species,); None for a closed reactor.
    """

    kinetics: Kinetics
    energy: Any
    tau: jax.Array | None = None
    feed: jax.Array | None = None


def closed(t: jax.Array, c: jax.Array, contents: Contents) -> jax.Array:
    """dc/dt = nu r(c, T), constant volume, nothing in or out."""
    T, constants = contents.energy.at(t)
    return production(contents.kinetics, constants, T, c)


def closed_jacobian(t: jax.Array, c: jax.Array, contents: Contents) -> jax.Array:
    T, constants = contents.energy.at(t)
    return production_jacobian(contents.kinetics, constants, T, c)


def through_flow(t: jax.Array, c: jax.Array, contents: Contents) -> jax.Array:
    """dc/dt = (c_feed - c)/tau + nu r(c, T): constant volume and density, same flow in and out."""
    return (contents.feed - c) / contents.tau + closed(t, c, contents)


def through_flow_jacobian(t: jax.Array, c: jax.Array, contents: Contents) -> jax.Array:
    return closed_jacobian(t, c, contents) - jnp.eye(c.shape[0], dtype=c.dtype) / contents.tau
