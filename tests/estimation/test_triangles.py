"""The triangle of [J r] against its definition R' R = [J r]' [J r] and against NumPy's QR."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.estimation import merge
from kinetix.estimation import triangle as plain_triangle

triangle = jax.jit(plain_triangle, static_argnames="rows")

pytestmark = pytest.mark.usefixtures("x64")


def problem(m, p, seed=0):
    rng = np.random.default_rng(seed)
    jacobian = rng.normal(size=(m, p)) * 10.0 ** rng.uniform(-6, 6, size=p)
    return jacobian, rng.normal(size=m)


def close(actual, expected, tolerance):
    """Column by column, since the columns of a Jacobian have units of their own."""
    scale = np.linalg.norm(np.asarray(expected), axis=0)
    return np.all(np.abs(np.asarray(actual) - np.asarray(expected)) <= tolerance * scale)


@pytest.mark.parametrize(("m", "p"), [(1, 1), (5, 3), (2, 6), (64, 4), (65, 4), (1000, 8), (5000, 1), (200, 50)])
def test_is_the_triangle_of_its_rows(m, p):
    jacobian, residuals = problem(m, p)
    R = np.asarray(triangle(jacobian, residuals))
    whole = np.column_stack([jacobian, residuals])
    lengths = np.linalg.norm(whole, axis=0)
    assert R.shape == (p + 1, p + 1)
    assert np.array_equal(R, np.triu(R))
    assert np.all(np.diagonal(R) >= 0)
    assert np.max(np.abs(R.T @ R - whole.T @ whole) / np.outer(lengths, lengths)) < 1e-13


def test_equals_numpy_up_to_signs():
    jacobian, residuals = problem(300, 5)
    expected = np.linalg.qr(np.column_stack([jacobian, residuals]), mode="r")
    expected *= np.where(np.diagonal(expected) < 0, -1.0, 1.0)[:, None]
    assert close(triangle(jacobian, residuals), expected, 1e-13)


def test_no_rows_give_zeros():
    assert np.array_equal(triangle(jnp.zeros((0, 2)), jnp.zeros(0)), np.zeros((3, 3)))


@pytest.mark.parametrize("rows", [1, 100, 256, 4096])
def test_block_size_does_not_matter(rows):
    jacobian, residuals = problem(3000, 7)
    assert close(triangle(jacobian, residuals, rows=rows), triangle(jacobian, residuals), 1e-12)


def test_padding_with_zero_rows_changes_nothing():
    jacobian, residuals = problem(100, 4)
    padded = np.concatenate([jacobian, np.zeros((28, 4))]), np.concatenate([residuals, np.zeros(28)])
    assert np.array_equal(triangle(*padded), triangle(jacobian, residuals))


@pytest.mark.parametrize("row", [0, 37, 199])
def test_deleting_a_row_equals_zeroing_it(row):
    jacobian, residuals = problem(200, 4)
    zeroed = jacobian.copy(), residuals.copy()
    zeroed[0][row], zeroed[1][row] = 0.0, 0.0
    deleted = np.delete(jacobian, row, axis=0), np.delete(residuals, row)
    assert close(triangle(*zeroed), triangle(*deleted), 1e-13)


def test_merge_of_parts_is_the_whole():
    jacobian, residuals = problem(7 * 90, 5)
    parts = jnp.stack([triangle(jacobian[i::7], residuals[i::7]) for i in range(7)])
    assert close(merge(parts), triangle(jacobian, residuals), 1e-13)


def test_a_value_that_is_not_finite_stays_visible():
    jacobian, residuals = problem(200, 3)
    residuals[150] = np.nan
    assert not np.isfinite(triangle(jacobian, residuals)).all()


def test_lanes_equal_single_calls():
    stacked = [np.stack(arrays) for arrays in zip(*(problem(150, 3, seed) for seed in range(4)), strict=True)]
    lanes = jax.jit(jax.vmap(triangle))(*stacked)
    for lane, jacobian, residuals in zip(lanes, *stacked, strict=True):
        assert close(lane, triangle(jacobian, residuals), 1e-14)
