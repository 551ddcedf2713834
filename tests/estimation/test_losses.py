"""Robust losses against those of SciPy, and their derivatives against differences, at zero and at the knee too."""

import jax
import numpy as np
import pytest
from scipy import integrate, optimize, stats

from kinetix.estimation.losses import RHOS, Loss, robust_scale
from kinetix.precision import float64

SIZES = np.array([0.0, 1e-12, 1e-5, 0.03, 0.0999, 0.1001, 0.7, 0.999, 1.0, 1.001, 1.7, 5.0, 300.0])
RESIDUALS = np.concatenate([-SIZES[::-1], SIZES])


def student_t(dof):
    """The loss of the t distribution as SciPy takes one of its own: rho, rho', rho''."""
    return lambda z: np.array([dof * np.log1p(z / dof), 1 / (1 + z / dof), -1 / dof / (1 + z / dof) ** 2])


def of_scipy(name, dof=4.0):
    """What `least_squares` takes for `loss`."""
    return student_t(dof) if name == "student_t" else name


def test_the_shelf_has_the_losses_of_the_manual():
    assert set(RHOS) == {"huber", "soft_l1", "cauchy", "student_t"}


@pytest.mark.parametrize("constant", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("name", RHOS)
def test_squares_of_transformed_residuals_are_twice_the_cost_of_scipy(name, constant):
    """SciPy's cost is 0.5 sum C^2 rho((r/C)^2); of one residual that a model without slope leaves as it is."""
    loss = Loss(name, constant)
    for r in (0.01, 0.7, 5.0):
        found = optimize.least_squares(lambda x, r=r: r + 0 * x, [0.0], loss=of_scipy(name), f_scale=constant)
        assert loss.transformed(np.array([r]))[0] ** 2 == pytest.approx(2 * found.cost, rel=1e-13)


@pytest.mark.parametrize("name", RHOS)
def test_the_transformed_residual_is_smooth(name):
    """Value, first and second derivative against differences; sqrt(rho) alone has none at zero."""
    loss = Loss(name, 1.0)
    with float64():
        slope = np.asarray(jax.vmap(jax.grad(loss.transformed))(RESIDUALS))
        beside = np.asarray(jax.vmap(jax.grad(loss.transformed))(np.array([-1e-9, 0.0, 1e-9])))
        knee = np.asarray(jax.vmap(jax.grad(loss.transformed))(np.array([1 - 1e-9, 1 + 1e-9])))
    step = 1e-6 * np.maximum(1e-3, np.abs(RESIDUALS))
    differences = (loss.transformed(RESIDUALS + step) - loss.transformed(RESIDUALS - step)) / (2 * step)
    np.testing.assert_allclose(slope, differences, rtol=2e-6)
    np.testing.assert_allclose(beside, 1.0, rtol=1e-15)  # counts as in least squares
    np.testing.assert_allclose(knee[0], knee[1], rtol=1e-8)


@pytest.mark.parametrize("name", RHOS)
def test_weight_and_curvature_are_derivatives_of_the_loss(name):
    """psi = r weight is half the derivative of the squares, and the curvature that of psi; away from the knee of huber."""
    loss = Loss(name, 1.3, unit=0.5)
    r = RESIDUALS[np.abs(np.abs(RESIDUALS) - 0.65) > 1e-3]
    with float64():
        psi = 0.5 * np.asarray(jax.vmap(jax.grad(lambda x: loss.transformed(x) ** 2))(r))
        slope = 0.5 * np.asarray(jax.vmap(jax.grad(jax.grad(lambda x: loss.transformed(x) ** 2)))(r))
    np.testing.assert_allclose(r * loss.weights(r), psi, rtol=1e-10, atol=1e-25)
    np.testing.assert_allclose(loss.curvature(r), slope, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", RHOS)
def test_a_loss_of_infinite_scale_is_least_squares(name):
    np.testing.assert_array_equal(Loss(name, 1.0, np.inf).transformed(RESIDUALS), RESIDUALS)
    assert (Loss(name, 1.0, np.inf).weights(RESIDUALS) == 1).all()


@pytest.mark.parametrize(("name", "efficiency"), [("huber", 0.95), ("soft_l1", 0.95), ("cauchy", 0.95), ("student_t", 0.926)])
def test_default_scales_have_the_efficiency_that_is_told(name, efficiency):
    """(E psi')^2 / E psi^2 at the normal distribution (Huber 1981, section 3.2)."""
    loss = Loss(name, RHOS[name].constant)

    def mean(of):
        return sum(
            integrate.quad(lambda x: of(np.array(x)) * stats.norm.pdf(x), a, b)[0] for a, b in ((-9, -1.345), (-1.345, 1.345), (1.345, 9))
        )

    assert mean(loss.curvature) ** 2 / mean(lambda x: (x * loss.weights(x)) ** 2) == pytest.approx(efficiency, abs=5e-4)


def test_the_robust_scale_is_that_of_normal_residuals_and_hardly_sees_outliers():
    normal = stats.norm.ppf((np.arange(1001) + 0.5) / 1001) * 3.0
    assert robust_scale(normal) == pytest.approx(3.0, rel=2e-3)
    assert robust_scale(np.append(normal, [1e9] * 10)) == pytest.approx(3.0, rel=0.02)
    assert np.isnan(robust_scale(np.zeros(0)))
