"""The guarded power against mpmath: exact where it must be, smooth where it is continued, never NaN."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from kinetix.expression.powers import SMALLEST, power
from kinetix.precision import float64

ORDERS = [0.3, 0.5, 1.0, 1.37, 2.0, 2.6, -0.5, -1.0, -2.3, 0.0]
# regular, just above the threshold, inside the quadratic, zero, below zero
BASES = [37.0, 1.0, 1e-6, 1.5e-12, 0.8e-12, 0.1e-12, 0.0, -0.4e-12, -3e-10, -1e-3]


@pytest.fixture(autouse=True)
def double():
    with float64():
        yield


def documented(c, n):
    """The formula of the module's docstring in mpmath."""
    c, n, e = mpmath.mpf(c), mpmath.mpf(n), mpmath.mpf(SMALLEST)
    if c >= e:
        return c**n
    if n <= 0:
        return e**n + n * e ** (n - 1) * (c - e)
    a, b = (2 - n) * e ** (n - 1), (n - 1) * e ** (n - 2)
    return a * c + b * c**2 if c >= 0 else a * c


def slopes(c, n):
    """Derivatives of `documented` in c and n, by differences at 60 digits."""
    with mpmath.workdps(60):
        side = 1 if c == 0 else 0  # C1 at 0: the one-sided derivative is the derivative
        in_c = mpmath.diff(lambda x: documented(x, n), c, h=mpmath.mpf("1e-30"), direction=side)
        in_n = mpmath.diff(lambda x: documented(c, x), n, h=mpmath.mpf("1e-30"), direction=-1 if n == 0 else 0)
        return float(in_c), float(in_n)


def traced(c, n):
    return power(jnp.asarray(c), jnp.asarray(n))


GRADIENTS = {
    "reverse": jax.jit(jax.vmap(jax.grad(traced, (0, 1)))),
    "forward": jax.jit(jax.vmap(jax.jacfwd(traced, (0, 1)))),
    "lanes": jax.jit(jax.grad(lambda c, n: jnp.sum(power(c, n)), (0, 1))),
}


@pytest.mark.parametrize("n", ORDERS)
def test_values_in_every_branch(n):
    with mpmath.workdps(40):
        expected = [float(documented(c, n)) for c in BASES]
    np.testing.assert_allclose(traced(np.array(BASES), n), expected, rtol=1e-13)
    np.testing.assert_allclose(jax.jit(traced)(np.array(BASES), n), expected, rtol=1e-13)


@pytest.mark.parametrize("mode", GRADIENTS)
@pytest.mark.parametrize("n", ORDERS)
def test_slopes_in_every_branch(n, mode):
    gradient = np.transpose(GRADIENTS[mode](np.array(BASES), np.full(len(BASES), n)))
    np.testing.assert_allclose(gradient, [slopes(c, n) for c in BASES], rtol=1e-10, atol=1e-28)


def test_slopes_without_jit():
    np.testing.assert_allclose(jax.grad(traced, (0, 1))(0.1e-12, 0.5), slopes(0.1e-12, 0.5), rtol=1e-10)
    np.testing.assert_allclose(jax.jacfwd(traced, (0, 1))(-1e-3, 1.37), slopes(-1e-3, 1.37), rtol=1e-10)


@pytest.mark.parametrize("n", [0.5, 2.6, -1.0, -2.3])
def test_a_number_as_exponent_gives_the_same(n):
    c = np.array(BASES)
    np.testing.assert_allclose(power(c, n), traced(c, n), rtol=1e-14)
    slope = jax.jit(jax.grad(lambda x: jnp.sum(power(x, n))))(c)
    np.testing.assert_allclose(slope, [slopes(x, n)[0] for x in BASES], rtol=1e-10)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 2.0])
def test_whole_numbers_are_repeated_multiplication(n):
    c = np.array([-3.0, -1e-13, 0.0, 1e-13, 2.5])
    np.testing.assert_array_equal(power(c, n), c**n)
    np.testing.assert_allclose(jax.vmap(jax.grad(lambda x: power(x, n)))(c), n * c ** max(n - 1, 0), rtol=1e-15)


@pytest.mark.parametrize("n", [0.5, 1.5, -1.0])
def test_value_and_slope_do_not_jump_at_the_joints(n):
    def ends(joint):
        return [np.nextafter(joint, -1.0), np.nextafter(joint, 1.0)]

    for joint in (SMALLEST, 0.0):
        left, right = ends(joint)
        assert float(traced(left, n)) == pytest.approx(float(traced(right, n)), rel=1e-12, abs=1e-300)
        assert float(jax.grad(traced)(left, n)) == pytest.approx(float(jax.grad(traced)(right, n)), rel=1e-12)


def test_no_nan_in_any_mix_of_modes_lanes_and_orders():
    c, n = (grid.ravel() for grid in np.meshgrid(BASES, [*ORDERS, -30.0, 30.0]))
    for derivative in (
        jax.grad(traced, (0, 1)),
        jax.jacfwd(jax.grad(traced, (0, 1)), (0, 1)),
        jax.jacrev(jax.jacfwd(traced, (0, 1)), (0, 1)),
    ):
        leaves = jax.tree.leaves(jax.jit(jax.vmap(derivative))(c, n))
        representable = (n > -30.0) | (c > 1e-6)  # (1e-12)^-30 is beyond float64, and must not reach the lanes that do not need it
        for leaf in leaves:
            assert np.isfinite(np.asarray(leaf)[representable]).all()

    def total(order):
        return jnp.sum(power(c, order))  # one lane at zero must not spoil the sum

    assert np.isfinite(jax.grad(total)(0.5))
    assert np.isfinite(jax.jvp(total, (0.5,), (1.0,))[1])


def test_a_missing_base_stays_missing():
    assert np.isnan(power(np.nan, 0.5))
    assert np.isnan(power(np.nan, 2))


def test_single_precision_has_finite_slopes_too():
    with jax.enable_x64(False):
        c, n = (grid.ravel().astype(np.float32) for grid in np.meshgrid([0.0, -1e-6, 1e-13, 2.0], [0.5, 1.7, -1.0, -5.0]))
        slope_c, slope_n = jax.jit(jax.vmap(jax.grad(traced, (0, 1))))(c, n)
        representable = (n > -5.0) | (c > 1.0)
        assert np.isfinite(slope_c[representable]).all()
        assert np.isfinite(slope_n[representable]).all()
        assert slope_c.dtype == jnp.float32
