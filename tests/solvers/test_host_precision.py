"""Solves in float64 inside a program that is traced and lowered in JAX's default 32-bit mode."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.precision import lift
from kinetix.solvers import Options, System, integrate, integrate_ensemble, steady_state
from tests.solvers.systems import PROTHERO, SERIES

K = np.array([1.0, 0.3], np.float32)


def _series(k):
    return integrate(SERIES, jnp.array([1.0, 0.0, 0.0]), {"k": k}, jnp.array([1.0, 3.0])).y


def _forced(k):
    return integrate(PROTHERO, jnp.ones(1), (k[0], k[1]), jnp.array([1.0, 3.0]), breaks=jnp.array([2.0])).y


def _swept(k):
    options = Options(derivatives="reverse")
    return integrate(SERIES, jnp.array([1.0, 0.0, 0.0]), {"k": k}, jnp.array([1.0, 3.0]), breaks=jnp.array([2.0]), options=options).y


def _many(k):
    return integrate_ensemble(SERIES, jnp.tile(jnp.array([1.0, 0.0, 0.0]), (2, 1)), {"k": jnp.tile(k, (2, 1))}, jnp.full((2, 1), 3.0)).y


TANK = System(lambda t, c, k: jnp.stack([1.0 - c[0] - k[0] * c[0] ** 2, k[0] * c[0] ** 2 - c[1] - k[1] * c[1]]))


def _tank(k):
    return steady_state(TANK, jnp.array([1.0, 0.0]), k).y


@pytest.mark.parametrize("solve", [_series, _forced, _swept, _tank, _many])
def test_inside_the_jit_of_a_32_bit_host(solve):
    lifted = lift(solve)
    expected = lifted(K)
    assert expected.dtype == np.float64
    np.testing.assert_allclose(jax.jit(lifted)(K), expected, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.vmap(lifted))(np.stack([K, K]))[1], expected, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.jacrev(lifted))(K), jax.jacfwd(lifted)(K), rtol=1e-6, atol=1e-7)
