"""The elimination against LAPACK, and what it says of singular matrices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.solvers.linear import gauss_jordan, solve

pytestmark = pytest.mark.usefixtures("x64")


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_inverse_of_random_matrices(n):
    matrices = np.random.default_rng(n).normal(size=(64, n, n))
    inverses, smallest, _ = jax.vmap(gauss_jordan)(matrices)
    np.testing.assert_allclose(inverses @ matrices, np.broadcast_to(np.eye(n), (64, n, n)), atol=1e-9)
    assert np.min(smallest) > 1e-6


def test_rows_and_columns_of_very_different_size():
    rng = np.random.default_rng(0)
    scales = 10.0 ** rng.uniform(-12, 12, (2, 6))
    matrix = rng.normal(size=(6, 6)) * scales[0][:, None]
    inverse, *_ = gauss_jordan(jnp.asarray(matrix))
    np.testing.assert_allclose(inverse @ matrix, np.eye(6), atol=1e-12)


def test_a_zero_on_the_diagonal_needs_a_pivot():
    matrix = jnp.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    np.testing.assert_allclose(gauss_jordan(matrix)[0], np.linalg.inv(matrix), atol=1e-15)


def test_singular_matrices_are_recognised():
    exactly = jnp.array([[1.0, 2.0], [0.5, 1.0]])
    assert not np.all(np.isfinite(gauss_jordan(exactly)[0]))
    assert gauss_jordan(exactly)[1] == 0.0
    rng = np.random.default_rng(0)
    nearly = rng.normal(size=(5, 4)) @ rng.normal(size=(4, 5))
    assert gauss_jordan(jnp.asarray(nearly))[1] < 1e-14
    assert not np.all(np.isfinite(gauss_jordan(jnp.zeros((2, 2)))[0]))
    assert not np.all(np.isfinite(gauss_jordan(jnp.array([[1.0, jnp.nan], [0.0, 1.0]]))[0]))


def test_derivatives_of_the_solution():
    """First and second, although the inverse that is passed in carries none."""
    rng = np.random.default_rng(0)
    matrix, slope, right = rng.normal(size=(4, 4)), rng.normal(size=(4, 4)), rng.normal(size=4)

    def by_loop(s):
        w = matrix + jnp.sin(s) * slope
        return solve(w, jax.lax.stop_gradient(gauss_jordan(w)[0]), right * jnp.exp(s))

    def by_lapack(s):
        return jnp.linalg.solve(matrix + jnp.sin(s) * slope, right * jnp.exp(s))

    for order in (jax.jacfwd, lambda f: jax.jacfwd(jax.jacfwd(f)), lambda f: jax.jacfwd(jax.jacfwd(jax.jacfwd(f)))):
        np.testing.assert_allclose(jax.jit(order(by_loop))(0.3), jax.jit(order(by_lapack))(0.3), rtol=1e-9)
