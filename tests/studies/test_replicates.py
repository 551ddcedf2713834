"""Replicates in the data of a fit: found by exactly equal conditions and times, tested for lack of fit."""

import numpy as np
import pytest
from scipy import stats

from kinetix.report import summary, text_report
from kinetix.studies.replicates import points, replicate_test
from tests.reference.studies import fit, problem, statistic

MENTEN = {
    "model": {"v": "V*c/(K + c)"},
    "parameters": {"V": {"start": "205 1/min^2"}, "K": {"start": "0.08 ppm"}},
}


def test_puromycin_has_the_analysis_of_bates_and_watts(case):
    """Treated: 1195 with 10 degrees of freedom; each pair of replicates has half its squared difference (1988, section 1.3.2)."""
    columns = case("bw-puromycin").columns()
    treated = columns["treated"] == 1
    c, v = columns["concentration_ppm"][treated], columns["velocity"][treated]
    tree = fit(MENTEN, "c [ppm],v [1/min^2]\n" + "".join(f"{x},{y}\n" for x, y in zip(c, v, strict=True)))
    pairs = [v[c == x] for x in np.unique(c)]
    assert all(len(pair) == 2 for pair in pairs)
    pure = sum((a - b) ** 2 / 2 for a, b in pairs)
    ssr = statistic(tree, "ssr")
    assert ssr == pytest.approx(119.5 * 10, rel=1e-3)  # s2 of Bates and Watts
    F = (ssr - pure) / 4 / (pure / 6)
    assert statistic(tree, "pure_error") == pytest.approx(np.sqrt(pure / 6), rel=1e-12)
    assert statistic(tree, "lack_of_fit_F") == pytest.approx(F, rel=1e-9)
    assert statistic(tree, "lack_of_fit_p") == pytest.approx(stats.f.sf(F, 4, 6), rel=1e-9)
    assert (statistic(tree, "pure_error_dof"), statistic(tree, "lack_of_fit_dof")) == (6, 4)
    assert "The scatter between replicates is 11 1/min^2; lack of fit F = 1.07, p = 0.45." in tree.attrs["verdict"]
    report = text_report(tree)
    assert "6 points measured more than once, 12 values" in report
    assert summary(tree)["statistics"]["lack_of_fit_p"] == pytest.approx(stats.f.sf(F, 4, 6), rel=1e-9)


BATCH = {
    "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.3 1/min"}}},
    "reactor": {"type": "batch"},
    "initial": {"A": "1 mol/L", "B": "0 mol/L"},
}


def runs(T, times, seed=2):
    rng = np.random.default_rng(seed)
    rows = [f"{run},{temperature},{t},{np.exp(-0.4 * t) + rng.normal(0, 0.01):.5f}" for run, temperature in T.items() for t in times]
    return "run,T [degC],time [min],A [mol/L]\n" + "\n".join(rows) + "\n"


def test_runs_at_equal_conditions_are_replicates_at_equal_times():
    given = problem({**BATCH, "data": {"ignore": ["T [degC]"]}}, runs({"a": 40, "b": 40, "c": 40}, (1, 2, 5)))
    found = replicate_test(given, 0.1, 1)
    assert found is not None and (found.points, found.values, found.pure_dof) == (3, 9, 6)
    by_temperature = problem(BATCH, runs({"a": 40, "b": 40, "c": 50}, (1, 2, 5)))
    found = replicate_test(by_temperature, 0.1, 1)
    assert found is not None and (found.points, found.values) == (3, 6)
    assert len(np.unique(points(by_temperature))) == 6


def test_almost_equal_is_not_equal():
    given = problem(BATCH, runs({"a": "40", "b": "40.000001"}, (1, 2, 5)))
    assert replicate_test(given, 0.1, 1) is None


def test_units_are_converted_before_conditions_are_compared():
    celsius = "run,T [degC],time [min],A [mol/L]\na,25,1,0.7\na,25,2,0.5\n"
    kelvin = "run,T [K],time [s],A [mol/L]\nb,298.15,60,0.68\nb,298.15,120,0.46\n"
    found = replicate_test(problem(BATCH, celsius, kelvin), 0.1, 1)
    assert found is not None and (found.points, found.pure_dof) == (2, 2)


def test_a_wrong_model_shows_as_lack_of_fit():
    """Second-order data in three runs, fitted with a first-order law."""
    rng = np.random.default_rng(4)
    rows = "".join(f"{run},{t},{1 / (1 + 0.8 * t) + rng.normal(0, 0.005):.5f}\n" for run in "abc" for t in (0.5, 1, 2, 4, 8))
    data = "run,time [min],A [mol/L]\n" + rows
    wrong = fit(BATCH, data)
    assert (
        statistic(wrong, "lack_of_fit_p") < 1e-6 and "Lack of fit: the model misses the means of the replicates" in wrong.attrs["warnings"]
    )
    second = {**BATCH, "reactions": {"r1": {"equation": "2 A -> B", "k": {"start": "0.3 L/mol/min"}}}}
    right = fit(second, data)
    assert statistic(right, "lack_of_fit_p") > 0.05 and "Lack of fit" not in right.attrs["warnings"]
    sigma = fit({**BATCH, "noise": {"A": "0.005 mol/L"}, "fit": {"sigma": "trusted"}}, data)
    assert statistic(sigma, "lack_of_fit_F") == pytest.approx(statistic(wrong, "lack_of_fit_F"), rel=1e-6)
    assert "times the given sigma; lack of fit F" in sigma.attrs["verdict"]


def test_a_loss_or_estimated_noise_leaves_the_test_out():
    data = runs({"a": 40, "b": 40}, (1, 2, 5))
    study = {**BATCH, "data": {"ignore": ["T [degC]"]}}
    for change in ({"fit": {"loss": "huber"}}, {"noise": {"A": {}}}):
        assert replicate_test(problem({**study, **change}, data), 0.1, 1) is None
    assert "pure_error" not in fit({**study, "fit": {"loss": "huber"}}, data)["statistics"].to_dataset()
