"""Robust fits against SciPy's least_squares with the same loss, against published M-estimates, and with gross errors in the data."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from kinetix.errors import InputError, ParameterError, StudyError
from kinetix.estimation.losses import RHOS
from kinetix.report import summary, text_report
from kinetix.results import fit_tree
from kinetix.studies import FitLimits, Multistart, fit_problem, with_loss
from kinetix.studies.losses import parse_loss
from tests.estimation.test_losses import of_scipy
from tests.reference.studies import fit, parameters, problem, statistic

DAYS = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 7.0])
BOD = np.array([8.3, 10.3, 19.0, 16.0, 15.6, 19.8])
"""Marske (1967), in Bates and Watts (1988), A1.4."""

OXYGEN = {
    "model": {"y": "b1*(1 - exp(-b2*t))"},
    "parameters": {"b1": {"start": "20 -"}, "b2": {"start": "0.24 -"}},
    "data": {"dimensionless": True},
}

STACK = """Air,Water,Acid,y
80,27,89,42\n80,27,88,37\n75,25,90,37\n62,24,87,28\n62,22,87,18\n62,23,87,18\n62,24,93,19\n62,24,93,20\n58,23,87,15\n58,18,80,14
58,18,89,14\n58,17,88,13\n58,18,82,11\n58,19,93,12\n50,18,89,8\n50,18,86,7\n50,19,72,8\n50,19,79,8\n50,20,80,9\n56,20,82,15\n70,20,91,15
"""
"""Oxidation of ammonia, K. A. Brownlee, Statistical Theory and Methodology (Wiley 1965), p. 454."""

STACKLOSS = {
    "model": {"y": "a + b*Air + c*Water + d*Acid"},
    "parameters": {name: {"start": "1 -", "scale": "linear"} for name in "abcd"},
    "data": {"dimensionless": True},
}


def table(y, sigma=None):
    rows = [f"{t},{value}" + ("" if sigma is None else f",{sigma}") for t, value in zip(DAYS, y, strict=True)]
    return "\n".join(["t,y" + ("" if sigma is None else ",sigma_y"), *rows]) + "\n"


def scipy_best(residuals, starts, name, scale):
    """The lowest minimum that SciPy finds from some starts."""
    options = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-14, "max_nfev": 5000}
    ends = [least_squares(residuals, start, loss=of_scipy(name), f_scale=scale, x_scale="jac", **options) for start in starts]
    return min(ends, key=lambda end: end.cost)


@pytest.mark.parametrize("spoiled", [0.0, 200.0])
@pytest.mark.parametrize("name", RHOS)
def test_oxygen_demand_has_the_minimum_of_scipy(name, spoiled):
    y = BOD + spoiled * (DAYS == 4.0)
    tree = fit({**OXYGEN, "fit": {"sigma": "trusted", "loss": {"type": name, "scale": 1.3}}}, table(y, sigma=1.5))
    best = scipy_best(lambda b: (b[0] * (1 - np.exp(-b[1] * DAYS)) - y) / 1.5, ([20, 0.24], [10, 1.0], [19, 0.5]), name, 1.3)
    assert tree.attrs["converged"]
    assert statistic(tree, "ssr") == pytest.approx(2 * best.cost, rel=1e-10)
    np.testing.assert_allclose(parameters(tree, "b1", "b2"), best.x, rtol=1e-7)
    assert statistic(tree, "robust_scale") == 1.0
    assert np.isnan(statistic(tree, "p_value")) and np.isnan(statistic(tree, "chi_square"))


@pytest.mark.parametrize("name", RHOS)
def test_puromycin_has_the_minimum_of_scipy(name, case):
    columns = case("bw-puromycin").columns()
    treated = columns["treated"] == 1
    c, v = columns["concentration_ppm"][treated], columns["velocity"][treated]
    study = {
        "model": {"v": "V*c/(K + c)"},
        "parameters": {"V": {"start": "205 -"}, "K": {"start": "0.08 -"}},
        "noise": {"v": 5.0},
        "data": {"dimensionless": True},
        "fit": {"sigma": "trusted", "loss": name},
    }
    tree = fit(study, "c,v\n" + "".join(f"{x},{y}\n" for x, y in zip(c, v, strict=True)))
    best = scipy_best(lambda p: (p[0] * c / (p[1] + c) - v) / 5, ([205, 0.08], [212, 0.06]), name, RHOS[name].constant)
    np.testing.assert_allclose(parameters(tree, "V", "K"), best.x, rtol=1e-7)


TIMES = np.array([0.5, 1.0, 2.0, 3.0, 5.0, 8.0])
SERIES = {
    "reactions": {"r1": {"equation": "A -> B", "k": {"start": "1 1/min"}}, "r2": {"equation": "B -> C", "k": {"start": "0.1 1/min"}}},
    "reactor": {"type": "batch"},
    "initial": {"A": "1 mol/L", "default": "0 mol/L"},
}


def series(k1, k2):
    a = np.exp(-k1 * TIMES)
    return np.stack([a, k1 / (k2 - k1) * (np.exp(-k1 * TIMES) - np.exp(-k2 * TIMES))], axis=1)


def series_data():
    y = series(0.6, 0.2) + np.random.default_rng(3).normal(0, 0.01, (6, 2))
    y[3, 1] += 0.5
    return y


def series_table(y):
    return "time [min],A [mol/L],B [mol/L]\n" + "".join(f"{t},{a},{b}\n" for t, (a, b) in zip(TIMES, y, strict=True))


@pytest.mark.parametrize("name", RHOS)
def test_a_batch_fit_has_the_minimum_of_scipy_and_resists_a_gross_error(name):
    y = series_data()
    study = {**SERIES, "noise": {"A": "0.01 mol/L", "B": "0.01 mol/L"}, "fit": {"sigma": "trusted", "loss": name}}
    tree = fit(study, series_table(y))
    constant = RHOS[name].constant
    best = scipy_best(lambda k: ((series(*k) - y) / 0.01).ravel(), ([0.6, 0.2], [1.0, 0.1]), name, constant)
    np.testing.assert_allclose(parameters(tree, "r1.k", "r2.k"), best.x, rtol=1e-7)
    np.testing.assert_allclose(parameters(tree, "r1.k", "r2.k"), [0.6, 0.2], rtol=0.12)
    plain = parameters(fit({**study, "fit": {"sigma": "trusted"}}, series_table(y)), "r1.k", "r2.k")
    assert np.abs(plain / [0.6, 0.2] - 1).max() > 0.25  # least squares follows it
    weights = tree["predictions"]["robust_weight"]
    assert float(weights.sel(response="B")[0, 3]) < 0.06
    assert (weights.values[0, 3, 1] == np.nanmin(weights.values)) and "B of 'table1' at t = 3 min" in tree.attrs["warnings"]


def test_stackloss_has_the_published_m_estimates():
    """Coefficients of MASS::rlm and statsmodels (documentation of RLM: -41.026498, 0.829384, 0.926066, -0.127847); H1 errors.

    The scale is 2.441 in the summary of rlm; its weights of rows 3, 4 and 21 are 0.786, 0.505 and 0.368.
    """
    tree = fit({**STACKLOSS, "fit": {"loss": "huber"}}, STACK)
    np.testing.assert_allclose(parameters(tree, *"abcd"), [-41.026498, 0.829384, 0.926066, -0.127847], rtol=4e-6)
    np.testing.assert_allclose(parameters(tree, *"abcd", quantity="stderr"), [9.791899, 0.111005, 0.302930, 0.128650], rtol=4e-6)
    assert statistic(tree, "robust_scale") == pytest.approx(2.441, abs=5e-4)
    weights = tree["predictions"]["robust_weight"].values.ravel()
    np.testing.assert_allclose(weights[[2, 3, 20]], [0.786, 0.505, 0.368], atol=5e-4)
    assert "1 value counts less than half" in tree.attrs["warnings"] and "y of '21'" in tree.attrs["warnings"]
    assert tree.attrs["errors"] == "M-estimator covariance (Huber 1981, section 7.6)" and tree.attrs["loss"] == "huber, scale 1.345"
    report = text_report(tree)
    assert "M-estimator covariance (Huber 1981, section 7.6)" in " ".join(report.split())
    assert "Values that count less than half" in report
    told = summary(tree)
    assert told["loss"] == "huber, scale 1.345" and [row["experiment"] for row in told["outliers"]] == ["21"]


@pytest.mark.parametrize("name", RHOS)
def test_the_scale_that_is_found_is_that_of_the_residuals_at_the_end(name):
    """A fixed point: SciPy at that scale has the same minimum, and the median of its residuals gives the scale again."""
    tree = fit({**OXYGEN, "fit": {"loss": name}}, table(BOD))
    scale = statistic(tree, "robust_scale")
    best = scipy_best(
        lambda b: b[0] * (1 - np.exp(-b[1] * DAYS)) - BOD, [parameters(tree, "b1", "b2") * 1.001], name, scale * RHOS[name].constant
    )
    np.testing.assert_allclose(parameters(tree, "b1", "b2"), best.x, rtol=1e-7)
    assert np.median(np.abs(best.fun)) / 0.6744897501960817 == pytest.approx(scale, rel=1e-7)


def test_without_gross_errors_a_wide_loss_is_least_squares():
    robust = fit({**OXYGEN, "fit": {"loss": {"type": "huber", "scale": 50.0}}}, table(BOD))
    plain = fit(OXYGEN, table(BOD))
    np.testing.assert_allclose(parameters(robust, "b1", "b2"), parameters(plain, "b1", "b2"), rtol=1e-8)
    np.testing.assert_allclose(
        parameters(robust, "b1", "b2", quantity="stderr"), parameters(plain, "b1", "b2", quantity="stderr"), rtol=1e-7
    )


def test_units_of_the_data_do_not_matter():
    y = series_data()
    in_moles = fit({**SERIES, "fit": {"loss": "cauchy"}}, series_table(y))
    in_millimoles = fit({**SERIES, "fit": {"loss": "cauchy"}}, series_table(1000 * y).replace("mol/L", "mmol/L"))
    for quantity in ("value", "stderr"):
        names = ("r1.k", "r2.k")
        np.testing.assert_allclose(
            parameters(in_moles, *names, quantity=quantity), parameters(in_millimoles, *names, quantity=quantity), rtol=1e-6
        )
    assert statistic(in_millimoles, "robust_scale") == pytest.approx(1000 * statistic(in_moles, "robust_scale"), rel=1e-6)


def test_many_starts_minimise_the_loss():
    given = problem({**OXYGEN, "noise": {"y": 1.5}, "fit": {"sigma": "trusted", "loss": "cauchy"}}, table(BOD))
    facts = fit_problem(given, multistart=Multistart(5, 1))
    assert facts.starts is not None and len(facts.starts.ssr) == 5
    assert np.nanmin(facts.starts.ssr) == pytest.approx(facts.ssr, rel=1e-9)


def test_limits_hold_for_a_robust_fit_too():
    given = problem({**OXYGEN, "fit": {"loss": "huber"}}, table(BOD))
    facts = fit_problem(given, FitLimits(max_seconds=0.0))
    assert not facts.status.ok and facts.robust is not None


def test_values_that_the_model_meets_exactly_leave_a_least_scale():
    """More than half of the residuals are nothing; the others do not count."""
    y = 20 * (1 - np.exp(-0.5 * DAYS)) + 5.0 * (DAYS == 3.0)
    tree = fit({**OXYGEN, "fit": {"loss": "huber"}}, table(y))
    np.testing.assert_allclose(parameters(tree, "b1", "b2"), [20, 0.5], rtol=1e-4)


def test_fewer_values_than_show_a_scatter_are_refused():
    with pytest.raises(ParameterError, match=r"3 values for 2 parameters do not show it\. Give a sigma"):
        fit({**OXYGEN, "fit": {"loss": "huber"}}, "t,y\n1,8.3\n2,10.3\n3,19.0\n")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (
            "hubre",
            '[fit] loss = "hubre" is unknown. Known: huber, soft_l1, cauchy, student_t, and linear for least squares.'
            " Did you mean 'huber'?",
        ),
        (
            {"type": "huber", "scale": 0},
            "[fit] loss: scale = 0; expected a number of standard deviations, beyond which a residual counts less, above 0.",
        ),
        (
            {"type": "huber", "scale": "2"},
            "[fit] loss: scale = '2'; expected a number of standard deviations, beyond which a residual counts less, above 0.",
        ),
        ({"type": "student_t", "dof": -1}, "[fit] loss: dof = -1; expected a number of degrees of freedom, above 0."),
        ({"type": "huber", "dof": 4}, '[fit] loss: dof (degrees of freedom) is a number of "student_t"; a huber loss has none. Remove it.'),
        ({"type": "huber", "scal": 4}, "[fit] loss: unknown key 'scal'. Known: type, scale, dof. Did you mean 'scale'?"),
        ({"type": "linear", "scale": 2}, '[fit] loss: "linear" is least squares, which has neither scale nor dof. Remove them.'),
    ],
)
def test_a_loss_that_cannot_be_is_told(written, told):
    with pytest.raises(StudyError) as error:
        parse_loss(written)
    assert error.value.problems == (told,)


def test_a_loss_that_is_no_name_is_told_with_those_there_are():
    with pytest.raises(StudyError, match=r"expected the name of a loss, one of huber, soft_l1, cauchy, student_t; found 3"):
        parse_loss(3)
    with pytest.raises(InputError, match="hubre"):
        problem({**OXYGEN, "fit": {"loss": "hubre"}}, table(BOD))


def test_least_squares_may_be_named():
    given = problem({**OXYGEN, "fit": {"loss": "linear"}}, table(BOD))
    assert given.loss is None and with_loss(given, "huber").loss is not None
    assert fit_tree(replace(fit_problem(given))).attrs["loss"] == ""
