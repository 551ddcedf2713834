"""Fits with priors: the posterior of a linear Gaussian model in closed form, logarithms by SciPy, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import kinetix as kx
from kinetix.errors import InputError
from kinetix.report import summary, text_report
from kinetix.results import fit_tree
from kinetix.studies import Wanted, fit_problem
from tests.reference.studies import parameters, problem

X = np.linspace(0.0, 3.0, 7)
Y = 1.0 + 0.5 * X + 0.1 * np.array([1.0, -0.5, 0.2, -1.3, 0.8, 0.4, -0.6])
SIGMA = 0.1
ROWS = "x,y\n" + "".join(f"{x:g},{y:.10g}\n" for x, y in zip(X, Y, strict=True))


def line(a=None, b=None, **fit):
    """y = a + b x with a prior of a, of b, or of both."""
    given = {name: {"start": "1 -", **({} if prior is None else {"prior": prior})} for name, prior in (("a", a), ("b", b))}
    meaning = {"sigma": "trusted", **fit}
    return {
        "model": {"y": "a + b*x"},
        "parameters": given,
        "noise": {"y": SIGMA},
        "data": {"dimensionless": True},
        "fit": {name: value for name, value in meaning.items() if value},
    }


def test_the_posterior_of_a_linear_model():
    """Mean (X'X/s^2 + P)^-1 (X'y/s^2 + P m) and covariance (X'X/s^2 + P)^-1 with the precisions P of the priors."""
    study = line(a={"mean": "1.3 -", "sd": "0.05 -"}, b={"mean": "0.4 -", "sd": "0.2 -"})
    tree = fit_tree(fit_problem(problem(study, ROWS), wanted=Wanted(profile=True)))
    J = np.stack([np.ones_like(X), X], axis=1)
    precision = J.T @ J / SIGMA**2 + np.diag([0.05**-2, 0.2**-2])
    covariance = np.linalg.inv(precision)
    mean = covariance @ (J.T @ Y / SIGMA**2 + np.array([1.3 / 0.05**2, 0.4 / 0.2**2]))
    np.testing.assert_allclose(parameters(tree, "a", "b"), mean, rtol=1e-9)
    np.testing.assert_allclose(tree["covariance/covariance"].values, covariance, rtol=1e-8)
    penalty = ((mean - [1.3, 0.4]) / [0.05, 0.2]) ** 2
    objective = np.sum(((Y - J @ mean) / SIGMA) ** 2) + penalty.sum()
    assert float(tree["statistics/ssr"]) == pytest.approx(objective, rel=1e-9)
    assert (int(tree["statistics/n_observations"]), int(tree["statistics/dof"])) == (7, 7)  # two priors for two parameters
    # a profile knows of the priors too: of a linear model it is the standard error
    for end, sign in (("lower95", -1), ("upper95", 1)):
        np.testing.assert_allclose(tree[f"likelihood/{end}"].values, mean + sign * 1.959964 * np.sqrt(np.diag(covariance)), rtol=1e-6)
    assert "prior 1.3 +- 0.05" in text_report(tree)
    assert summary(tree)["parameters"]["a"]["note"] == "prior 1.3 +- 0.05"


def test_an_estimate_far_from_its_prior_is_told_and_no_prior_says_nothing():
    far = kx_fit(line(a={"mean": "2 -", "sd": "0.1 -"}))
    assert "data and prior contradict each other" in far.attrs["warnings"]
    near = kx_fit(line(a={"mean": "1 -", "sd": "0.1 -"}))
    assert "contradict" not in near.attrs["warnings"]
    without = kx_fit(line())
    assert parameters(without, "a")[0] == pytest.approx(np.polynomial.polynomial.polyfit(X, Y, 1)[0], rel=1e-9)


def kx_fit(study):
    return fit_tree(fit_problem(problem(study, ROWS)))


T = np.array([1.0, 2.0, 4.0, 8.0])
A = np.exp(-0.3 * T) + 0.01 * np.array([1.0, -1.0, 0.5, 0.3])


def batch(k):
    return {
        "reactions": {"r1": {"equation": "A -> B", "k": k}},
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "default": "0 mol/L"},
        "noise": {"A": "0.05 mol/L"},
        "fit": {"sigma": "trusted"},
    }


@pytest.mark.parametrize(
    ("prior", "penalty"),
    [
        ({"median": "0.2 1/min", "factor": 1.1}, lambda k: np.log(k / 0.2) / np.log(1.1)),
        ({"mean": "12 1/h", "sd": "1.2 1/h"}, lambda k: (k - 0.2) / 0.02),
    ],
)
def test_priors_of_a_rate_constant_by_scipy(prior, penalty):
    rows = "time [min],A [mol/L]\n" + "".join(f"{t:g},{a:.10g}\n" for t, a in zip(T, A, strict=True))
    found = problem(batch({"prior": prior}), rows)
    assert found.table.free_start()[0] == pytest.approx(np.log(0.2 / 60))  # where no start is given, the prior is one
    tree = fit_tree(fit_problem(found))
    best = minimize(lambda x: np.sum(((np.exp(-x[0] * T) - A) / 0.05) ** 2) + penalty(x[0]) ** 2, [0.25], method="Nelder-Mead", tol=1e-12)
    unit = 60.0 if "mean" in prior else 1.0  # reported in the unit of the prior
    assert parameters(tree, "r1.k")[0] / unit == pytest.approx(best.x[0], rel=1e-5)
    assert float(tree["statistics/ssr"]) == pytest.approx(best.fun, rel=1e-8)


def test_python_says_it_too():
    assert kx.estimate(prior={"median": "0.1 1/s", "factor": 2}) == {"prior": {"median": "0.1 1/s", "factor": 2}}


@pytest.mark.parametrize(
    ("study", "words"),
    [
        (line(a={"mean": "1 -", "sd": "0.1 -"}, sigma="scaled"), "standard deviations must be known"),
        (line(a={"mean": "1 -", "sd": "0 -"}), "standard deviation 0"),
        (line(a={"median": "-1 -", "factor": 2}), "a median above 0 and a factor above 1"),
        (line(a={"median": "1 -", "factor": 0.5}), "a median above 0 and a factor above 1"),
        (line(a={"mean": "1 -", "sd": "0.1 -"}, loss="huber"), "beside a robust loss"),
    ],
)
def test_what_makes_no_sense_is_told(study, words):
    with pytest.raises(InputError, match=words):
        fit_problem(problem(study, ROWS))


def test_a_prior_of_a_factor_is_refused():
    study = {
        "reactions": {
            "r1": {
                "equation": "A -> B",
                "A": {"start": "1e6 1/s", "prior": {"median": "1e6 1/s", "factor": 3}},
                "Ea": {"start": "60 kJ/mol"},
            }
        },
        "reactor": {"type": "cstr"},
        "conditions": {"feed": {"A": "1 mol/L", "default": "0 mol/L"}},
    }
    with pytest.raises(InputError, match="a prior on A is not what it seems"):
        problem(study, "T [K],tau [s],A [mol/L]\n330,1,0.5\n350,1,0.3\n")


def test_a_bootstrap_beside_priors_is_refused():
    tree = fit_tree(fit_problem(problem(line(a={"mean": "1 -", "sd": "0.1 -"}), ROWS), wanted=Wanted(bootstrap=100)))
    assert "bootstrap" not in tree.children and "here priors take part" in tree.attrs["warnings"]


def test_a_comparison_with_priors_is_refused():
    tree = kx_fit(line(a={"mean": "1 -", "sd": "0.1 -"}))
    with pytest.raises(InputError, match="priors took part"):
        kx.compare({"one": tree, "two": kx_fit(line())})
