"""Another estimator for a study: the same answer and errors, its own limits, and what is refused."""

import numpy as np
import pytest

import kinetix as kx
from kinetix.errors import ParameterError, StudyError
from kinetix.estimation import DEFAULT, ESTIMATORS
from kinetix.status import Status
from kinetix.studies import FitLimits, evaluator, fit_problem, parse_study
from kinetix.studies.evaluator import Evaluator
from kinetix.studies.searching import NO_LIMITS, check_estimator, search, search_options
from tests.reference.studies import problem

T = np.array([1.0, 2.0, 4.0, 7.0, 11.0, 16.0])
NOISE = 0.004 * np.array([0.9, -1.1, 0.3, 0.6, -0.7, 0.2])
K1, K2 = 0.3, 0.12


def batch(**section):
    """A -> B -> C in a batch reactor, integrated."""
    k1 = {"start": "0.05 1/min", **section}
    return {
        "reactions": {"r1": {"equation": "A -> B", "k": k1}, "r2": {"equation": "B -> C", "k": {"start": "0.5 1/min"}}},
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "default": "0 mol/L"},
    }


def rows():
    A, B = np.exp(-K1 * T), K1 / (K2 - K1) * (np.exp(-K1 * T) - np.exp(-K2 * T))
    return "time [min],A [mol/L],B [mol/L]\n" + "".join(
        f"{t:g},{a:.10g},{b:.10g}\n" for t, a, b in zip(T, A + NOISE, B - NOISE[::-1], strict=True)
    )


def residuals(k):
    """By hand, mol/L."""
    A, B = np.exp(-k[0] * T), k[0] / (k[1] - k[0]) * (np.exp(-k[0] * T) - np.exp(-k[1] * T))
    return np.concatenate([A - np.exp(-K1 * T) - NOISE, B - K1 / (K2 - K1) * (np.exp(-K1 * T) - np.exp(-K2 * T)) + NOISE[::-1]])


def by_gauss_newton():
    """The least-squares constants in 1/min, with differences for derivatives."""
    k = np.array([K1, K2])
    for _ in range(30):
        J = np.stack([(residuals(k + h) - residuals(k - h)) / (2 * h.sum()) for h in np.diag(1e-6 * k)], axis=1)
        k = k - np.linalg.lstsq(J, residuals(k), rcond=None)[0]
    return k, residuals(k) @ residuals(k)


@pytest.fixture(scope="module")
def compiled():
    found = problem(batch(), rows())
    return found, Evaluator(found)


@pytest.mark.parametrize("method", ESTIMATORS)
def test_every_method_finds_the_same_constants(compiled, method):
    found, evaluate = compiled
    k, ssr = by_gauss_newton()
    outcome = search(found, evaluate, NO_LIMITS, None, method=method).outcome
    assert outcome.status is Status.SUCCESS, outcome.message
    assert np.exp(outcome.theta) * 60 == pytest.approx(k, rel=1e-6)
    assert outcome.ssr == pytest.approx(ssr, rel=1e-6)
    assert outcome.determination.rank == 2


def test_a_bound_that_is_met(compiled):
    found = problem(batch(bounds=["0.01 1/min", "0.2 1/min"]), rows())
    for method in ("lbfgs", "scipy-least_squares"):
        outcome = search(found, compiled[1], NO_LIMITS, None, method=method).outcome
        assert outcome.status is Status.ON_BOUND and outcome.at_upper.tolist() == [True, False]
        assert np.exp(outcome.theta[0]) * 60 == pytest.approx(0.2, rel=1e-12)


def test_a_method_without_bounds_says_whose_bounds_it_cannot_keep():
    with pytest.raises(ParameterError, match=r'"jaxopt-LevenbergMarquardt" keeps no bounds, and r1\.k has some. Take one that does: "lm"'):
        fit_problem(problem(batch(bounds=["0.01 1/min", ""]), rows()), method="jaxopt-LevenbergMarquardt")
    check_estimator("jaxopt-LevenbergMarquardt", problem(batch(), rows()))


def test_adam_cut_short_is_no_answer_and_says_what_to_do(compiled):
    found = search(*compiled, FitLimits(max_iterations=25), None, method="adam")
    assert found.outcome.status is Status.NOT_CONVERGED and len(found.runs.starts) == 1
    assert any('The method "adam" came nearer to an optimum, but did not reach one' in remark for remark in found.remarks)
    assert found.outcome.evaluations <= 26


def test_value_and_gradient_agree_with_the_triangle_and_with_differences(compiled):
    found, evaluate = compiled
    theta = found.table.free_start() + 0.3
    value, gradient, bad = evaluate.by_gradient(theta)
    R, _ = evaluate.triangle(theta)
    assert int(bad) == 0 and float(value) == pytest.approx(0.5 * np.sum(R[:, -1] ** 2), rel=1e-12)
    np.testing.assert_allclose(gradient, R[:-1, -1] @ R[:-1, :-1], rtol=1e-9)
    for i, h in enumerate(1e-5 * np.eye(2)):
        difference = (float(evaluate.by_gradient(theta + h)[0]) - float(evaluate.by_gradient(theta - h)[0])) / 2e-5
        assert float(gradient[i]) == pytest.approx(difference, rel=1e-5)


@pytest.mark.parametrize("method", ["lbfgs", "adam"])
def test_many_parameters_are_fitted_by_gradients(compiled, monkeypatch, method):
    found, evaluate = compiled
    assert not evaluate.reverse_pays
    monkeypatch.setattr(evaluator, "MANY", 2)
    assert evaluate.reverse_pays
    outcome = search(found, evaluate, NO_LIMITS, None, method=method).outcome
    assert outcome.status is Status.SUCCESS, outcome.message
    assert np.exp(outcome.theta) * 60 == pytest.approx(by_gauss_newton()[0], rel=1e-6)


def test_limits_hold_for_every_method(compiled):
    for method in ESTIMATORS:
        outcome = search(*compiled, FitLimits(max_iterations=4), None, method=method).outcome
        assert outcome.evaluations <= 6, method
        assert np.isfinite(outcome.theta).all() and not outcome.status.ok
    assert search_options(compiled[0], FitLimits(max_iterations=4)).max_iterations == 4


# ------------------------------------------------------------------------------------------------------------- names


def test_the_study_file_names_a_method():
    study = parse_study({"schema": 1, "fit": {"method": "lbfgs"}}, "study.toml")
    assert study.fit.method == "lbfgs"
    assert parse_study({"schema": 1}, "study.toml").fit.method == DEFAULT


def test_a_wrong_name_in_the_study_file_is_told_with_those_there_are():
    with pytest.raises(StudyError) as refused:
        parse_study({"schema": 1, "fit": {"method": "adams"}}, "study.toml")
    (said,) = refused.value.problems
    assert said.startswith("study.toml, [fit] method = 'adams': expected lm, ") and said.endswith("Did you mean 'adam'?")
    assert all(name in said for name in ESTIMATORS)


def test_python_names_a_method_and_the_result_remembers_it(tmp_path):
    path = tmp_path / "tank.csv"
    path.write_text("tau [min],A [mol/L]\n2,0.51\n4,0.33\n8,0.2\n", encoding="utf-8")
    tank = kx.CSTR(kx.parse_network("A -> B"))
    known = {"feed.A": "1 mol/L", "feed.B": "0 mol/L"}
    data, start = kx.read_csv(path, tank), {"r1.k": "0.1 1/min"}
    with pytest.raises(ParameterError, match="method = 'newton': expected lm, "):
        kx.fit(tank, data, start, known=known, method="newton")
    usual, other = (kx.fit(tank, data, start, known=known, **said) for said in ({}, {"method": "lbfgs"}))
    assert (usual.attrs["estimator"], other.attrs["estimator"]) == ("lm", "lbfgs")
    assert "by lbfgs" in other.attrs["message"] and " by " not in usual.attrs["message"]
    for name in ("value", "stderr"):
        np.testing.assert_allclose(other[f"parameters/{name}"].values, usual[f"parameters/{name}"].values, rtol=1e-6)


def test_rounds_of_a_loss_or_of_noise_take_the_usual_method():
    robust = {**batch(), "fit": {"loss": "huber"}}
    with pytest.raises(ParameterError, match=r'method = "lbfgs" does not serve a robust loss'):
        fit_problem(problem(robust, rows()), method="lbfgs")
