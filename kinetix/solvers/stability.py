"""Whether small disturbances of a steady state grow, from products of matrices alone: no eigenvalues, no LAPACK."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from kinetix.solvers.linear import gauss_jordan

ROUNDING = 64.0
"""Rounding units of |J|: growth below them cannot be told from rounding."""

GONE, GROWN = 0.99, 1e3


class Disturbance(NamedTuple):
    """A power of the Cayley transform, and how often it was squared."""

    power: Array
    squarings: Array


class Generator(NamedTuple):
    """J in the units of the state, and the time in which it is looked at: between its fastest and its slowest."""

    jacobian: Array
    time: Array


def generator(jacobian: Array, size: Array) -> Generator:
    """The time is 2/sqrt(|J| min |J_ii|)."""
    scaled = jacobian * size[None, :] * (1.0 / size)[:, None]
    fastest = jnp.max(jnp.sum(jnp.abs(scaled), axis=1))
    losses = jnp.abs(jnp.stack([scaled[i, i] for i in range(size.size)]))
    slowest = jnp.min(jnp.where(losses > 0, losses, fastest))
    return Generator(scaled, 2.0 * lax.rsqrt(jnp.maximum(fastest, jnp.finfo(size.dtype).tiny) * jnp.maximum(slowest, 1e-8 * fastest)))


def undecided(largest: Array, squarings: Array) -> Array:
    """Whether a power whose largest row sum this is says nothing yet. Squaring further does not change what it says."""
    most = -math.log2(ROUNDING * float(jnp.finfo(largest.dtype).eps))
    return (largest > GONE) & jnp.isfinite(largest) & (squarings < most)


def has_grown(largest: Array) -> Array:
    """What the last power says; True also where it is not finite."""
    return ~(largest < GROWN)


def row_sum(matrix: Array) -> Array:
    """The largest sum of magnitudes in a row."""
    return jnp.max(jnp.sum(jnp.abs(matrix), axis=1))


def grows(jacobian: Array, size: Array) -> Array:
    """Whether exp(t J) grows without end, so that a disturbance of the steady state with this Jacobian does.

    The Cayley transform C = (I - h J/2)^-1 (I + h J/2) = 2 (I - h J/2)^-1 - I has eigenvalues of magnitude below one exactly where those
    of J have a negative real part, whatever h. It is squared until no row sum of magnitudes reaches one: then every disturbance decays.
    Slow growth, below 1e-14 of |J|, is not seen.

    Args:
        jacobian: [n, n], d rhs_i / d y_j at the steady state.
        size: [n], positive; disturbances are measured in it, so that units do not matter.

    Returns:
        A Boolean scalar; True also where the Jacobian is not finite.

    >>> from kinetix.precision import float64
    >>> with float64():
    ...     print(grows(jnp.array([[-1.0, 5.0], [0.0, -1e-9]]), jnp.ones(2)), grows(jnp.array([[0.1, -5.0], [5.0, 0.0]]), jnp.ones(2)))
    False True
    """
    scaled, time = generator(jacobian, size)
    identity = jnp.eye(size.size, dtype=size.dtype)
    transform = 2.0 * gauss_jordan(identity - (0.5 * time) * scaled).inverse - identity

    def is_open(state: Disturbance) -> Array:
        return undecided(row_sum(state.power), state.squarings)

    def square(state: Disturbance) -> Disturbance:
        return Disturbance(state.power @ state.power, state.squarings + 1)

    final = lax.while_loop(is_open, square, Disturbance(transform, jnp.zeros((), jnp.int32)))
    return has_grown(row_sum(final.power))
