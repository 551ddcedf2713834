"""Profiles against Wald intervals of linear models, values that R prints, and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq, least_squares

from kinetix.analyses.profile import End, profiles
from kinetix.estimation import Bounds, fit, refit_all

C = np.array([0.02, 0.02, 0.06, 0.06, 0.11, 0.11, 0.22, 0.22, 0.56, 0.56, 1.1, 1.1])
RATE = np.array([76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200.0])
"""Puromycin, treated cells: D. M. Bates and D. G. Watts (1988), appendix A1.3."""

BOD_T = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 7.0])
BOD = np.array([8.3, 10.3, 19.0, 16.0, 15.6, 19.8])
"""Marske (1967), in Bates and Watts (1988), appendix A1.4."""


def michaelis_menten(theta):
    V, K = theta
    return V * C / (K + C) - RATE, np.stack([C / (K + C), -V * C / (K + C) ** 2], axis=1)


def first_order(theta):
    asymptote, k = theta
    decay = np.exp(-k * BOD_T)
    return asymptote * (1 - decay) - BOD, np.stack([1 - decay, asymptote * BOD_T * decay], axis=1)


def profiled(model, start, lower=-np.inf, upper=np.inf, trusted=False, level=0.95, moved=0.0):
    """The profiles of all parameters of a model theta -> (r, J), its estimate, standard errors and quantile.

    They begin at the estimate, or so many standard errors beside it.
    """

    def triangle(theta):
        r, J = model(theta)
        return np.linalg.qr(np.column_stack([J, r]), mode="r"), 0

    p = len(start)
    box = Bounds(np.broadcast_to(lower, p).astype(float), np.broadcast_to(upper, p).astype(float))
    outcome = fit(triangle, start, box)
    n = model(outcome.theta)[0].size
    s = 1.0 if trusted else np.sqrt(outcome.ssr / (n - p))
    q = stats.norm.ppf((1 + level) / 2) if trusted else stats.t.ppf((1 + level) / 2, n - p)
    J = model(outcome.theta)[1]
    stderr = s * np.sqrt(np.diag(np.linalg.inv(J.T @ J)))

    def refit(starts, boxes):
        def evaluate(which, theta):
            return np.array([triangle(one)[0] for one in theta]), np.zeros(len(which), int)

        return refit_all(evaluate, lambda i, start, own: fit(triangle, start, own), starts, boxes)

    edges = Bounds(np.maximum(box.lower, outcome.theta - 1e4), np.minimum(box.upper, outcome.theta + 1e4))
    theta = outcome.theta + np.asarray(moved) * stderr
    return profiles(refit, theta, triangle(theta)[0], s, q, stderr, np.arange(p), box, edges), outcome, stderr, q


def intervals(found):
    return np.array([[one.lower, one.upper] for one in found])


def by_scipy(model, i, estimate, s, q, reach):
    """The ends of the profile interval, by refits and bisection of SciPy."""

    def excess(value):
        def rest(others):
            return model(np.insert(others, i, value))[0]

        others = np.delete(estimate, i)
        ssr = 2 * least_squares(rest, others, x_scale=np.abs(others), xtol=1e-15, ftol=1e-15, gtol=1e-15).cost
        return (ssr - np.sum(model(estimate)[0] ** 2)) / s**2 - q**2

    return [brentq(excess, estimate[i], estimate[i] + side * reach, xtol=1e-12 * reach) for side in (-1, 1)]


@pytest.mark.parametrize("trusted", [False, True])
def test_a_linear_model_has_the_intervals_of_its_standard_errors(trusted):
    rng = np.random.default_rng(2)
    J = np.column_stack([np.ones(12), np.linspace(0, 1, 12), rng.standard_normal(12)])
    y = J @ [1.0, 2.0, -1.0] + 0.1 * rng.standard_normal(12)
    found, outcome, stderr, q = profiled(lambda theta: (J @ theta - y, J), np.zeros(3), trusted=trusted)
    for one, low, high in zip(found, outcome.theta - q * stderr, outcome.theta + q * stderr, strict=True):
        assert (one.lower, one.upper) == pytest.approx((low, high), rel=1e-9)
        assert (one.lower_end, one.upper_end) == (End.CROSSED, End.CROSSED)
        np.testing.assert_allclose(one.tau, (one.theta[:, one.parameter] - outcome.theta[one.parameter]) / stderr[one.parameter], atol=1e-7)


def test_puromycin_as_r_prints_it():
    """confint(nls(rate ~ V*conc/(K + conc), Puromycin, subset = state == "treated")): 197.302, 229.290; 0.046925, 0.086160."""
    found, outcome, stderr, q = profiled(michaelis_menten, [200.0, 0.06])
    np.testing.assert_allclose(intervals(found), [[197.302, 229.290], [0.046925, 0.086160]], rtol=2e-4)
    s = np.sqrt(outcome.ssr / 10)
    for i, one in enumerate(found):
        expected = by_scipy(michaelis_menten, i, outcome.theta, s, q, 6 * stderr[i])
        assert [one.lower, one.upper] == pytest.approx(expected, abs=1e-3 * stderr[i])


def test_an_open_side():
    """BOD: at 98 % the rate constant has no upper limit: infinitely fast is not excluded (Bates and Watts, section 6.1)."""
    found, outcome, _, q = profiled(first_order, [20.0, 0.5], lower=[0.0, 0.0], level=0.98)
    asymptote, k = found
    s = np.sqrt(outcome.ssr / 4)
    flat = np.sum((BOD - BOD.mean()) ** 2)  # k -> infinity
    assert (flat - outcome.ssr) / s**2 < q**2  # so that no k is too large
    assert k.upper_end is End.OPEN and k.lower_end is End.CROSSED
    assert k.tau[-1] == pytest.approx(np.sqrt((flat - outcome.ssr) / s**2), rel=1e-6)
    low = brentq(lambda k: _ssr_at(k) - outcome.ssr - q**2 * s**2, 1e-3, outcome.theta[1])
    assert k.lower == pytest.approx(low, rel=1e-3)
    assert asymptote.upper - outcome.theta[0] > 2 * (outcome.theta[0] - asymptote.lower)


def _ssr_at(k):
    """The sum of squares with the best asymptote at a rate constant."""
    rise = 1 - np.exp(-k * BOD_T)
    return np.sum((BOD - rise * (rise @ BOD) / (rise @ rise)) ** 2)


def test_a_side_that_ends_on_its_bound():
    found, _, _, _ = profiled(michaelis_menten, [210.0, 0.06], lower=[205.0, 0.0], upper=[300.0, 0.07])
    V, K = found
    assert (V.lower_end, V.lower) == (End.BOUND, 205.0)
    assert (K.upper_end, K.upper) == (End.BOUND, 0.07)
    assert K.theta[:, 0].min() >= 205.0


def test_an_estimate_that_was_no_optimum_is_told():
    """From a V that is too large, with K as it was: refitting K alone already fits better."""
    found, outcome, stderr, _ = profiled(michaelis_menten, [200.0, 0.06], moved=[3.0, 0.0])
    assert [one.better for one in found] == [True, True]
    assert min(one.ssr.min() for one in found) < np.sum(michaelis_menten(outcome.theta + [3.0 * stderr[0], 0.0])[0] ** 2)
    assert not any(one.better for one in profiled(michaelis_menten, [200.0, 0.06])[0])
