"""Whether small disturbances of a steady state grow, from products of the Jacobian alone: no eigenvalues, no LAPACK."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

TERMS = 12
"""Of the exponential series, for a matrix of norm one half: the first one left out is below 1e-13."""

ROUNDING = 64.0
"""Rounding units of |J|: growth below them cannot be told from rounding."""

GONE, GROWN = 0.5, 1e3


class _Disturbance(NamedTuple):
    """exp(t J) and how often t was doubled."""

    exponential: Array
    doublings: Array


def grows(jacobian: Array, size: Array) -> Array:
    """Whether exp(t J) grows without end, so that a disturbance of the steady state with this Jacobian does.

    t starts at half of the shortest time of the system, 1/(2 |J|), and is doubled by squaring until every disturbance has
    decayed to less than one half. Slow growth, below 1e-14 of |J|, is not seen.

    Args:
        jacobian: [n, n], d rhs_i / d y_j at the steady state.
        size: [n], positive; disturbances are measured in it, so that units do not matter.

    Returns:
        A Boolean scalar; True also where the Jacobian is not finite.

    Source: C. Moler and C. Van Loan, Nineteen dubious ways to compute the exponential of a matrix, SIAM Review 45, 3 (2003),
    method 3.

    >>> from kinetix.precision import float64
    >>> with float64():
    ...     print(grows(jnp.array([[-1.0, 5.0], [0.0, -1e-9]]), jnp.ones(2)), grows(jnp.array([[0.1, -5.0], [5.0, 0.0]]), jnp.ones(2)))
    False True
    """
    scaled = jacobian * size[None, :] / size[:, None]
    norm = jnp.max(jnp.sum(jnp.abs(scaled), axis=1))
    generator = scaled * (0.5 / jnp.maximum(norm, jnp.finfo(norm.dtype).tiny))
    identity = jnp.eye(size.size, dtype=generator.dtype)
    exponential = lax.fori_loop(jnp.int32(0), jnp.int32(TERMS), lambda k, series: identity + generator @ series / (TERMS - k), identity)

    doublings = -math.log2(ROUNDING * float(jnp.finfo(norm.dtype).eps))

    def undecided(state: _Disturbance) -> Array:
        largest = _largest(state.exponential)
        return (largest > GONE) & jnp.isfinite(largest) & (state.doublings < doublings)

    def double(state: _Disturbance) -> _Disturbance:
        return _Disturbance(state.exponential @ state.exponential, state.doublings + 1)

    final = lax.while_loop(undecided, double, _Disturbance(exponential, jnp.zeros((), jnp.int32)))
    return ~(_largest(final.exponential) < GROWN)


def _largest(matrix: Array) -> Array:
    return jnp.max(jnp.sum(jnp.abs(matrix), axis=1))
