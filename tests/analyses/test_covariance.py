"""Linearised uncertainty against closed forms, published values and SciPy."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from kinetix.analyses.covariance import chi_square_p_value, linear_covariance, propagate, quantile
from kinetix.estimation import Bounds, evaluation, fit
from kinetix.estimation.determination import column_floor, determine


def triangle_of(jacobian, residuals):
    whole = np.column_stack([jacobian, residuals])
    return np.linalg.qr(np.concatenate([whole, np.zeros((whole.shape[1], whole.shape[1]))]), mode="r")


@pytest.fixture
def regression():
    rng = np.random.default_rng(3)
    J = rng.normal(size=(30, 4)) * np.array([1.0, 1e6, 1e-7, 10.0])
    return J, rng.normal(size=30)


def test_scaled_sigma_is_the_textbook_formula(regression):
    J, r = regression
    found = linear_covariance(triangle_of(J, r), n_observations=30, trusted=False)
    expected = r @ r / 26 * np.linalg.inv(J.T @ J)
    assert found.covariance == pytest.approx(expected, rel=1e-9)
    assert found.stderr == pytest.approx(np.sqrt(np.diagonal(expected)), rel=1e-10)
    assert found.correlation == pytest.approx(expected / np.outer(found.stderr, found.stderr), abs=1e-10)
    assert np.all(np.diagonal(found.correlation) == 1.0)
    assert (found.rank, found.dof) == (4, 26)
    assert found.s == pytest.approx(np.sqrt(r @ r / 26), rel=1e-12)
    lengths = np.linalg.norm(J, axis=0)
    assert found.condition_number == pytest.approx(np.linalg.cond(J / lengths), rel=1e-9)


def test_trusted_sigma_leaves_the_residuals_out(regression):
    J, r = regression
    one = linear_covariance(triangle_of(J, r), n_observations=30, trusted=True)
    ten = linear_covariance(triangle_of(J, 10 * r), n_observations=30, trusted=True)
    assert one.covariance == pytest.approx(np.linalg.inv(J.T @ J), rel=1e-9)
    assert ten.covariance == pytest.approx(one.covariance, rel=1e-9)
    assert ten.s == pytest.approx(10 * one.s, rel=1e-12)


def test_absolute_and_relative_sigma(data):
    problem = data("o02-sigma-meaning")
    expected = {item["name"]: (item["value"], item["rtol"]) for item in problem.facts["expect"]}
    t, C, sigma = problem.columns().values()
    outcome = fit(evaluation(lambda theta: (theta[0] * jnp.exp(-theta[1] * t) - C) / sigma), [1.0, 1.0])
    absolute = linear_covariance(outcome.R, n_observations=t.size, trusted=True)
    scaled = linear_covariance(outcome.R, n_observations=t.size, trusted=False)
    k = outcome.theta[1]
    found = {
        "C0": outcome.theta[0],
        "k": k,
        "chi_square": absolute.ssr,
        "reduced_chi_square": absolute.s**2,
        "se_C0_absolute": absolute.stderr[0],
        "se_k_absolute": absolute.stderr[1],
        "se_C0_scaled": scaled.stderr[0],
        "se_k_scaled": scaled.stderr[1],
        "corr": scaled.correlation[0, 1],
        "k_95_interval_scaled_t7": [k + side * quantile(0.95, scaled.dof) * scaled.stderr[1] for side in (-1, 1)],
        "k_95_interval_absolute_normal": [k + side * quantile(0.95) * absolute.stderr[1] for side in (-1, 1)],
    }
    for name, value in found.items():
        assert value == pytest.approx(expected[name][0], rel=expected[name][1]), name
    assert absolute.p_value < expected["chi_square_p_value_below"][0]


def test_a_parameter_on_its_bound_has_no_error_and_is_held_for_the_others(data):
    problem = data("o03-at-bound")
    t, B = problem.columns().values()

    def residuals(k):
        return (k[0] / (k[1] - k[0]) * (jnp.exp(-k[0] * t) - jnp.exp(-k[1] * t)) - B) / 0.004

    outcome = fit(evaluation(residuals), [1.0, 2.0], Bounds(np.full(2, 0.01), np.array([10.0, 2.3])))
    both = linear_covariance(outcome.R, n_observations=t.size, trusted=True, held=outcome.held)
    alone = linear_covariance(outcome.R[np.ix_([0, 2], [0, 2])], n_observations=t.size, trusted=True)
    assert np.isnan(both.stderr[1]) and np.isnan(both.covariance[1]).all() and np.isnan(both.correlation[:, 1]).all()
    assert both.stderr[0] == pytest.approx(alone.stderr[0], rel=1e-12)
    assert (both.rank, both.dof) == (1, t.size - 1)
    assert both.held.tolist() == [False, True] and not both.undetermined.any()

    free = fit(evaluation(residuals), [1.0, 2.0], Bounds(np.full(2, 0.01), np.full(2, 10.0)))
    expected = {item["name"]: (item["value"], item["rtol"]) for item in problem.facts["expect"]}
    errors = linear_covariance(free.R, n_observations=t.size, trusted=True, held=free.held).stderr
    for name, error in zip(("se_k1_free", "se_k2_free"), errors, strict=True):
        assert error == pytest.approx(expected[name][0], rel=expected[name][1])


def test_only_the_ratio_is_determined(data):
    """A <-> B seen at equilibrium: kf and kr have no error, K = kf/kr has."""
    problem = data("o13-flat-profile")
    expected = {item["name"]: (item["value"], item["rtol"]) for item in problem.facts["expect"] if "rtol" in item}
    t, B = problem.columns().values()

    def residuals(logs):
        kf, kr = jnp.exp(logs)
        return (kf / (kf + kr) * (1 - jnp.exp(-(kf + kr) * t)) - B) / 0.01

    outcome = fit(evaluation(residuals), np.log([3e4, 1e4]), Bounds(np.log([1e-2, 1e-2]), np.log([1e6, 1e6])))
    found = linear_covariance(outcome.R, n_observations=t.size, trusted=True, held=outcome.held)
    assert (found.rank, found.dof) == (1, t.size - 1)
    assert found.undetermined.tolist() == [True, True]
    assert np.isnan(found.stderr).all() and np.isnan(found.covariance).all()
    assert found.null_directions == pytest.approx(np.array([[1.0, 1.0]]), abs=1e-8)
    assert found.condition_number > 1e10
    kf, kr = np.exp(outcome.theta)
    log_ratio = found.propagate([1.0, -1.0])
    assert kf / kr == pytest.approx(expected["K"][0], rel=expected["K"][1])
    assert np.sqrt(log_ratio[0, 0]) * kf / kr == pytest.approx(expected["se_K (sigma trusted)"][0], rel=0.02)
    assert np.isnan(found.propagate([1.0, 0.0])).all()


def test_a_null_direction_leaves_the_other_parameters_their_errors(regression):
    J, r = regression
    merged = np.column_stack([J[:, 0], 2.0 * J[:, 0], J[:, 1], J[:, 3]])
    found = linear_covariance(triangle_of(merged, r), n_observations=30, trusted=True)
    reduced = linear_covariance(triangle_of(J[:, [0, 1, 3]], r), n_observations=30, trusted=True)
    assert found.undetermined.tolist() == [True, True, False, False]
    assert found.null_directions == pytest.approx(np.array([[1.0, -0.5, 0.0, 0.0]]), abs=1e-9)
    assert found.covariance[2:, 2:] == pytest.approx(reduced.covariance[1:, 1:], rel=1e-9)
    assert found.propagate([1.0, 2.0, 0.0, 0.0])[0, 0] == pytest.approx(reduced.covariance[0, 0], rel=1e-9)
    assert np.isnan(found.stderr[:2]).all()


def test_a_parameter_without_effect_is_named():
    J = np.column_stack([np.ones(5), np.zeros(5)])
    found = linear_covariance(triangle_of(J, np.arange(5.0)), n_observations=5, trusted=True)
    assert found.null_directions.tolist() == [[0.0, 1.0]]
    assert found.stderr[0] == pytest.approx(1 / np.sqrt(5))
    assert found.condition_number == np.inf


@pytest.mark.parametrize("seed", range(20))
def test_no_variance_is_ever_negative(seed):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(12, 5)) * 10.0 ** rng.uniform(-8, 8, 5)
    J[:, 4] = J[:, 0] + 10.0 ** rng.uniform(-14, -6) * J[:, 4]
    found = linear_covariance(triangle_of(J, rng.normal(size=12)), n_observations=12, trusted=True, held=rng.random(5) < 0.3)
    diagonal = np.diagonal(found.covariance)
    assert np.all((diagonal > 0) | np.isnan(diagonal))
    assert np.array_equal(found.stderr, np.sqrt(diagonal), equal_nan=True) or found.stderr == pytest.approx(np.sqrt(diagonal), nan_ok=True)
    assert np.all((np.abs(found.correlation) <= 1) | np.isnan(found.correlation))


def test_as_many_parameters_as_observations():
    found = linear_covariance(triangle_of(np.eye(2), np.zeros(2)), n_observations=2, trusted=False)
    assert (found.dof, np.isnan(found.s), np.isnan(found.p_value)) == (0, True, True)
    assert np.isnan(found.stderr).all()
    assert found.correlation.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_nothing_free_and_nothing_known():
    everything_held = linear_covariance(np.eye(3), n_observations=5, trusted=True, held=[True, True])
    assert (everything_held.rank, everything_held.dof, everything_held.condition_number) == (0, 5, 1.0)
    assert np.isnan(everything_held.stderr).all()
    no_parameter = linear_covariance([[2.0]], n_observations=4, trusted=False)
    assert (no_parameter.covariance.shape, no_parameter.s) == ((0, 0), 1.0)
    never_evaluated = linear_covariance(np.full((3, 3), np.nan), n_observations=5, trusted=True)
    assert np.isnan(never_evaluated.stderr).all() and never_evaluated.rank == 0


def test_the_delta_method(regression):
    J, r = regression
    found = linear_covariance(triangle_of(J, r), n_observations=30, trusted=False)
    G = np.array([[1.0, 2e6, 0.0, 1.0], [0.0, 0.0, 3e-7, -1.0]])
    expected = G @ found.covariance @ G.T
    assert propagate(G, found.covariance) == pytest.approx(expected, rel=1e-12)
    assert found.propagate(G) == pytest.approx(expected, rel=1e-9)


def test_the_delta_method_with_a_held_parameter(regression):
    J, r = regression
    found = linear_covariance(triangle_of(J, r), n_observations=30, trusted=True, held=[False, False, False, True])
    G = np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]])
    apart = propagate(G, found.covariance)
    assert apart[0, 0] == pytest.approx(found.covariance[0, 0], rel=1e-9)
    assert np.isnan(apart[1]).all() and np.isnan(apart[0, 1])
    # the tangent plane knows that the parameter is held: it adds nothing
    assert found.propagate(G) == pytest.approx(np.full((2, 2), found.covariance[0, 0]), rel=1e-9)


def test_a_column_of_rounding_is_no_information(regression):
    """What the search calls rounding has no error, and the others have the errors they have without it."""
    J, r = regression
    noisy = J.copy()
    noisy[:, 1] = 1e-16 * np.random.default_rng(5).normal(size=30)
    R = triangle_of(noisy, r)
    held = np.zeros(4, bool)
    floor = column_floor(1e-10, 10.0, np.array([1.0, 3.0, 1e7, 1.0]))
    found = linear_covariance(R, n_observations=30, trusted=True, determination=determine(R[:-1, :-1], held, floor))
    without = linear_covariance(triangle_of(J[:, [0, 2, 3]], r), n_observations=30, trusted=True)
    assert found.undetermined.tolist() == [False, True, False, False]
    assert found.null_directions.tolist() == [[0.0, 1.0, 0.0, 0.0]]
    assert (found.rank, found.dof, found.condition_number) == (3, 27, np.inf)
    seen = np.ix_([0, 2, 3], [0, 2, 3])
    assert found.covariance[seen] == pytest.approx(without.covariance, rel=1e-9)
    assert np.isnan(found.stderr[1])


def test_a_sum_and_a_parameter_without_effect_are_told_apart(regression):
    J, r = regression
    merged = np.column_stack([J[:, 0], 2.0 * J[:, 0], J[:, 3], 1e-17 * J[:, 0]])
    R = triangle_of(merged, r)
    found = linear_covariance(
        R, n_observations=30, trusted=True, determination=determine(R[:-1, :-1], np.zeros(4, bool), np.full(4, 1e-12))
    )
    assert found.null_directions == pytest.approx(np.array([[1.0, -0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]), abs=1e-9)
    assert found.undetermined.tolist() == [True, True, False, True]
    assert found.stderr[2] == pytest.approx(1 / np.sqrt(J[:, 3] @ J[:, 3] - (J[:, 0] @ J[:, 3]) ** 2 / (J[:, 0] @ J[:, 0])), rel=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("dof", [None, 1, 7, 200])
def test_quantiles_as_scipy(level, dof):
    distribution = stats.norm if dof is None else stats.t(dof)
    assert quantile(level, dof) == pytest.approx(distribution.ppf((1 + level) / 2), rel=1e-12)


@pytest.mark.parametrize("dof", [1, 7, 200])
def test_p_values_as_scipy(dof):
    for chi_square in (0.0, 0.5 * dof, dof, 3.0 * dof):
        assert chi_square_p_value(chi_square, dof) == pytest.approx(stats.chi2(dof).sf(chi_square), rel=1e-12)


def test_without_degrees_of_freedom_there_is_no_quantile():
    assert np.isnan(quantile(0.95, 0))
    assert np.isnan(chi_square_p_value(1.0, 0))
