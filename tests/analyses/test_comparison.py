"""Criteria and tests of models against closed forms, SciPy's distributions and printed values."""

import numpy as np
import pytest
from scipy import stats

from kinetix.analyses.comparison import akaike_weights, criteria, fold_numbers, nested_test

RNG = np.random.default_rng(11)
X = np.column_stack([np.ones(14), np.linspace(0.0, 3.0, 14), np.linspace(0.0, 3.0, 14) ** 2])
Y = 1.0 + 0.7 * X[:, 1] + RNG.normal(0.0, 0.2, 14)


def residuals(columns: int) -> np.ndarray:
    return Y - X[:, :columns] @ np.linalg.lstsq(X[:, :columns], Y)[0]


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_estimated_sigma_is_a_parameter_at_its_own_best_value(columns):
    r, n = residuals(columns), 14
    found = criteria(r @ r, n, columns, trusted=False)
    sigma = np.sqrt(r @ r / n)
    log_likelihood, k = stats.norm.logpdf(r, scale=sigma).sum(), columns + 1
    assert found.counted == k
    assert found.log_likelihood == pytest.approx(log_likelihood, rel=1e-12)
    assert found.aic == pytest.approx(2 * k - 2 * log_likelihood, rel=1e-12)
    assert found.bic == pytest.approx(k * np.log(n) - 2 * log_likelihood, rel=1e-12)


def test_trusted_sigma_is_no_parameter():
    sigma = np.linspace(0.1, 0.5, 14)
    r = residuals(2)
    found = criteria(np.sum((r / sigma) ** 2), 14, 2, trusted=True, log_weights=-np.log(sigma).sum())
    assert found.counted == 2
    assert found.log_likelihood == pytest.approx(stats.norm.logpdf(r, scale=sigma).sum(), rel=1e-12)
    assert found.aic == pytest.approx(4 - 2 * stats.norm.logpdf(r, scale=sigma).sum(), rel=1e-12)


def test_longley():
    """Residual sum of squares certified by NIST (StRD, Longley); log-likelihood, AIC and BIC as statsmodels documents its OLS fit of these
    data: -109.62, 233.2 and 238.6, where sigma is not counted."""
    found = criteria(836424.055505915, 16, 7, trusted=False)
    assert round(found.log_likelihood, 2) == -109.62
    assert round(found.aic - 2, 1) == 233.2
    assert round(found.bic - np.log(16), 1) == 238.6


@pytest.mark.parametrize("n, p", [(8, 2), (20, 5), (100, 3)])
def test_the_correction_makes_aicc_unbiased_in_linear_models(n, p):
    """Hurvich and Tsai (1989): n ln(S/n) + n (n + p)/(n - p - 2) estimates the expected discrepancy without bias."""
    ssr = 3.7
    found = criteria(ssr, n, p, trusted=False)
    assert found.aicc == pytest.approx(n * np.log(2 * np.pi * ssr / n) + n * (n + p) / (n - p - 2), rel=1e-12)


def test_there_is_no_aicc_for_as_many_parameters_as_values():
    assert np.isfinite(criteria(1.0, 6, 3, trusted=False).aicc)
    none = criteria(1.0, 5, 3, trusted=False)  # k = 4, n - k - 1 = 0
    assert np.isnan(none.aicc) and np.isfinite(none.bic)
    assert np.isfinite(criteria(1.0, 5, 3, trusted=True).aicc)
    assert np.isnan(criteria(1.0, 4, 3, trusted=True).aicc)


@pytest.mark.parametrize("ssr", [0.0, np.nan, np.inf])
def test_without_scatter_there_is_no_likelihood(ssr):
    found = criteria(ssr, 10, 2, trusted=False)
    assert np.isnan([found.log_likelihood, found.aic, found.aicc, found.bic]).all()


def test_residuals_of_zero_are_no_problem_where_sigma_is_known():
    assert criteria(0.0, 10, 2, trusted=True).log_likelihood == pytest.approx(10 * stats.norm.logpdf(0.0))


def test_weights_are_relative_likelihoods():
    delta, weight = akaike_weights([210.0, np.nan, 204.0, 206.0])
    assert delta[[0, 2, 3]].tolist() == [6.0, 0.0, 2.0]
    assert np.isnan(delta[1]) and np.isnan(weight[1])
    assert np.nansum(weight) == pytest.approx(1.0)
    assert weight[2] / weight[3] == pytest.approx(np.e)
    assert akaike_weights([1e6, 0.0])[1].tolist() == [0.0, 1.0]
    assert np.isnan(akaike_weights([np.nan, np.nan])[1]).all()


def test_f_is_the_extra_sum_of_squares():
    small, large = residuals(1), residuals(3)
    found = nested_test(small @ small, 1, large @ large, 3, 14, trusted=False)
    F = ((small @ small - large @ large) / 2) / (large @ large / 11)
    assert (found.kind, found.more, found.dof) == ("F", 2, 11)
    assert found.statistic == pytest.approx(F, rel=1e-12)
    assert found.p_value == pytest.approx(stats.f.sf(F, 2, 11), rel=1e-9)


def test_f_of_one_parameter_is_the_square_of_its_t():
    r = residuals(2)
    covariance = r @ r / 12 * np.linalg.inv(X[:, :2].T @ X[:, :2])
    t = np.linalg.lstsq(X[:, :2], Y)[0][1] / np.sqrt(covariance[1, 1])
    small = residuals(1)
    found = nested_test(small @ small, 1, r @ r, 2, 14, trusted=False)
    assert found.statistic == pytest.approx(t**2, rel=1e-10)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), 12), rel=1e-8)


def test_the_likelihood_ratio_is_a_difference_of_chi_squares():
    found = nested_test(31.2, 2, 22.4, 4, 20, trusted=True)
    assert found.kind == "likelihood ratio" and found.statistic == pytest.approx(8.8) and np.isnan(found.dof)
    assert found.p_value == pytest.approx(stats.chi2.sf(8.8, 2), rel=1e-10)


@pytest.mark.parametrize(
    "small, large, n",
    [((1.0, 3), (0.9, 3), 20), ((1.0, 2), (0.9, 3), 3), ((1.0, 2), (1.1, 3), 20), ((1.0, 2), (0.0, 3), 20), ((np.nan, 2), (1.0, 3), 20)],
    ids=["no parameter more", "no degree of freedom", "the larger fits worse", "nothing left", "no objective"],
)
def test_where_there_is_no_test(small, large, n):
    found = nested_test(*small, *large, n, trusted=False)
    assert np.isnan(found.statistic) and np.isnan(found.p_value)


def test_a_larger_model_that_fits_as_well_is_not_needed():
    for trusted in (True, False):
        assert nested_test(1.0, 2, 1.0 + 1e-12, 3, 20, trusted=trusted).p_value == 1.0


def test_folds_hold_every_member_once_and_follow_the_seed():
    folds = fold_numbers(23, 5, seed=7)
    assert sorted(np.bincount(folds).tolist()) == [4, 4, 5, 5, 5]
    assert folds.tolist() == fold_numbers(23, 5, seed=7).tolist() != fold_numbers(23, 5, seed=8).tolist()
    assert fold_numbers(3, 9).tolist() == [0, 1, 2]
