"""Equations that the solver tests share. Defined once, so that tests share traces."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from kinetix.solvers import System


def _decay(t: Array, y: Array, k: Array) -> Array:
    return -k * y


def _series(t: Array, y: Array, args: dict[str, Any]) -> Array:
    r1, r2 = args["k"][0] * y[0], args["k"][1] * y[1]
    return jnp.stack([-r1, r1 - r2, r2])


def _series_jacobian(t: Array, y: Array, args: dict[str, Any]) -> Array:
    k1, k2 = args["k"][0], args["k"][1]
    zero = jnp.zeros_like(k1)
    return jnp.stack([jnp.stack([-k1, zero, zero]), jnp.stack([k1, -k2, zero]), jnp.stack([zero, k2, zero])])


def _second_order(t: Array, y: Array, k: Array) -> Array:
    return k * y[0] ** 2 * jnp.array([-2.0, 1.0], y.dtype)


def _logistic(t: Array, y: Array, k: Array) -> Array:
    return k * y * (1 - y)


def _robertson(t: Array, y: Array, k: Array) -> Array:
    r1, r2, r3 = k[0] * y[0], k[1] * y[1] ** 2, k[2] * y[1] * y[2]
    return jnp.stack([-r1 + r3, r1 - r2 - r3, r2])


def _prothero(t: Array, y: Array, args: tuple[Array, Array]) -> Array:
    stiffness, frequency = args
    return -stiffness * (y - jnp.cos(frequency * t)) - frequency * jnp.sin(frequency * t)


def _blow_up(t: Array, y: Array, k: Array) -> Array:
    return k * y**2


def _driven(t: Array, y: Array, k: Array) -> Array:
    """y' = k t y: y = y0 exp(k (t^2 - t0^2)/2)."""
    return k * t * y


DECAY = System(_decay, autonomous=True)
SERIES = System(_series, _series_jacobian, autonomous=True)
SECOND_ORDER = System(_second_order, autonomous=True)
LOGISTIC = System(_logistic, autonomous=True)
ROBERTSON = System(_robertson, autonomous=True)
PROTHERO = System(_prothero)
BLOW_UP = System(_blow_up, autonomous=True)
DRIVEN = System(_driven)

ROBERTSON_K = np.array([0.04, 3e7, 1e4])


def series_solution(t: Any, a0: Any, k1: Any, k2: Any) -> Any:
    """A -> B -> C from A = a0, in the arithmetic of its arguments (NumPy, JAX or complex numbers)."""
    exp = jnp.exp
    a = a0 * exp(-k1 * t)
    b = a0 * k1 / (k2 - k1) * (exp(-k1 * t) - exp(-k2 * t))
    return jnp.stack([a, b, a0 - a - b], -1)
