"""Pure error and lack of fit against nested linear models, and the F distribution against simulation."""

import numpy as np
import pytest
from scipy import stats

from kinetix.analyses.lack_of_fit import lack_of_fit


def line(x, y, w):
    """Sum of squares of a weighted line."""
    A = np.stack([np.ones(x.size), x], axis=1)
    beta = np.linalg.lstsq(A * w[:, None], y * w, rcond=None)[0]
    return float(np.sum((w * (y - A @ beta)) ** 2))


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_comparison_with_a_mean_for_each_point(weighted):
    """A line within one free mean per point: the F test of nested linear models."""
    rng = np.random.default_rng(5)
    x = np.repeat([0.0, 1.0, 2.5, 4.0, 7.0], [1, 2, 3, 2, 4])
    w = rng.uniform(0.5, 2, x.size) if weighted else np.ones(x.size)
    y = 3 + 0.5 * x + 0.1 * x**2 + rng.normal(0, 1, x.size) / w
    means = (x[:, None] == np.unique(x)).astype(float)
    full = np.linalg.lstsq(means * w[:, None], y * w, rcond=None)[0]
    pure = np.sum((w * (y - means @ full)) ** 2)
    reduced = line(x, y, w)
    found = lack_of_fit(y, w, x, reduced, 2)
    assert (found.points, found.values, found.pure_dof, found.lack_dof) == (4, 11, 7, 3)
    assert found.pure_ssr == pytest.approx(pure, rel=1e-12)
    F = (reduced - pure) / 3 / (pure / 7)
    assert pytest.approx(F, rel=1e-10) == found.F and found.p_value == pytest.approx(stats.f.sf(F, 3, 7), rel=1e-10)


def test_the_probability_is_uniform_where_the_model_is_right():
    """500 lines, each measured three times at six points: the share of p below q is q (Kolmogorov-Smirnov)."""
    rng = np.random.default_rng(11)
    x = np.repeat(np.arange(6.0), 3)
    one = np.ones(x.size)
    p = [lack_of_fit(y, one, x, line(x, y, one), 2).p_value for y in 1 + 2 * x + rng.normal(0, 0.3, (500, x.size))]
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_large_values_with_a_small_scatter_keep_their_digits():
    found = lack_of_fit([1e8 + 1, 1e8 - 1], [1.0, 1.0], [0, 0], 2.0, 1)
    assert found.pure_ssr == 2.0
    assert lack_of_fit([0.1] * 3, np.ones(3), np.zeros(3), 0.0, 1).pure_ssr == 0.0


def test_without_degrees_of_freedom_there_is_no_F():
    saturated = lack_of_fit([1.0, 2.0, 4.0, 5.0], np.ones(4), [0, 0, 1, 1], 1.0, 2)
    assert saturated.lack_dof == 0 and np.isnan(saturated.F) and saturated.pure_error == pytest.approx(np.sqrt(0.5))
    single = lack_of_fit([1.0, 2.0], np.ones(2), [0, 1], 0.5, 1)
    assert single.points == 0 and np.isnan(single.pure_error) and np.isnan(single.p_value)
