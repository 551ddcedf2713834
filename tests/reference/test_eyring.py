"""Eyring's law through the whole product: by closed form, and beside SciPy's fit in dH and dS."""

import math
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import constants
from scipy.optimize import curve_fit

from kinetix.errors import InputError
from kinetix.report import text_report
from kinetix.studies import describe_problem, simulate_problem, with_values_of
from tests.reference.studies import fit, parameters, problem, simulate, simulated

T = np.array([300.0, 310.0, 320.0, 330.0, 340.0, 350.0])


def eyring(T, dH, dS):
    return constants.k * T / constants.h * np.exp(dS / constants.R - dH / (constants.R * T))


def rates(reaction, **more):
    return {"reactions": {"r1": {"equation": "A -> B", **reaction}}, "reactor": {"type": "differential"}, **more}


def test_both_known():
    given = rates({"dH": "80 kJ/mol", "dS": "-30 J/mol/K"}, conditions={"T": "320 K", "A": "2 mol/L"})
    found = simulated(simulate(given), "rate[r1]").item()
    assert found == pytest.approx(2 * eyring(320.0, 80e3, -30.0), rel=1e-12)


def test_a_known_entropy_is_listed_as_other_known_constants():
    study = rates({"dH": {"start": "70 kJ/mol"}, "dS": "-30 J/mol/K"})
    table = "T [K],A [mol/L],rate [mol/L/s]\n" + "".join(f"{a},1,{k:.9g}\n" for a, k in zip(T, eyring(T, 80e3, -30.0), strict=True))
    result = fit(study, table)
    assert parameters(result, "r1.dS", "r1.dH") == pytest.approx([-30.0, 80.0], rel=1e-6)
    assert bool(result["parameters/fixed"].sel(parameter="r1.dS")) and result["parameters/unit"].sel(parameter="r1.dS") == "J/mol/K"
    assert re.search(r"r1\.dS +-30 .*fixed", text_report(result))
    built = problem(study, table)
    assert {"r1.dS = -30 J/mol/K (known)", "r1.k over T: kB/h*exp(r1.dS/R)*(T/1 K)^1*exp(-r1.dH/R*1/T)"} <= set(describe_problem(built))
    assert simulate_problem(with_values_of(built, result, "fit.nc"))["parameters/value"].sel(parameter="r1.dS") == -30
    other = problem(rates({"dH": {"start": "70 kJ/mol"}, "dS": "-50 J/mol/K"}), table)
    with pytest.raises(InputError, match=r"was fitted with r1\.dS = -30 J/mol/K, but the study has -50 J/mol/K"):
        with_values_of(other, result, "fit.nc")


def test_second_order_has_the_standard_state_of_one_mole_per_litre():
    given = rates({"equation": "2 A -> B", "dH": "80 kJ/mol", "dS": "-30 J/mol/K"}, conditions={"T": "320 K", "A": "2 mol/L"})
    assert simulated(simulate(given), "rate[r1]").item() == pytest.approx(4 * eyring(320.0, 80e3, -30.0), rel=1e-12)


@pytest.mark.parametrize(
    "reaction",
    [
        {"dH": {"start": "70 kJ/mol"}, "dS": {"start": "-50 J/mol/K"}},
        {"dH": {"start": "70 kJ/mol"}, "k": {"start": "1 1/h"}},
        {"dH": {"start": "70 kJ/mol"}, "k": {"start": "1 1/h"}, "at": "300 K"},
    ],
    ids=["dS", "k", "k at 300 K"],
)
def test_entropy_and_its_error(reaction):
    """dS is derived from k_ref and dH with their covariance: SciPy fits dS itself."""
    scatter = np.random.default_rng(7).normal(size=len(T))
    k = 3600 * eyring(T, 84e3, -21.0) * (1 + 0.03 * scatter)
    sigma = 0.03 * k
    text = "\n".join(
        ["T [K],A [mol/L],rate [mol/L/h],sigma [mol/L/h]", *(f"{a},1,{b:.15g},{c:.15g}" for a, b, c in zip(T, k, sigma, strict=True))]
    )
    result = fit(rates(reaction, fit={"sigma": "trusted"}), text)

    def scaled(T, x, y):
        return 3600 * eyring(T, 1e3 * x, y)

    (dH, dS), covariance = curve_fit(scaled, T, k, (80.0, -20.0), sigma, absolute_sigma=True, xtol=1e-14, ftol=1e-14)
    group = result["parameters"].to_dataset()
    assert group["derived"].values.tolist() == ["r1.dS"]
    derived = [group[f"derived_{name}"].item() for name in ("value", "stderr", "lower95", "upper95")]
    assert_allclose(parameters(result, "r1.dH"), [dH], rtol=1e-6)
    error = math.sqrt(covariance[1, 1])
    assert_allclose(derived, [dS, error, dS - 1.959964 * error, dS + 1.959964 * error], rtol=2e-5)
    assert_allclose(parameters(result, "r1.dH", quantity="stderr"), [math.sqrt(covariance[0, 0])], rtol=1e-5)


@pytest.mark.parametrize(
    ("reaction", "words"),
    [
        ({"dH": "80 kJ/mol", "dS": "-30 J/mol/K", "Ea": "80 kJ/mol"}, ["'Ea'", "dH or dS", "Keep one pair"]),
        ({"dH": "80 kJ/mol", "A": "1e9 1/s"}, ["'A'", "Keep one pair"]),
        ({"dH": "80 kJ/mol", "k": "1 1/s", "dS": "1 J/mol/K", "at": "300 K"}, ["dH and dS, or dH and k"]),
        ({"dS": "1 J/mol/K"}, ["'dS'", "dH and dS"]),
        ({"dH": "80 kJ/mol", "k": "1 1/s"}, ['at = "350 K"']),
        ({"dH": "80 kJ/mol", "dS": "1 kJ/mol"}, ["r1.dS", "energy/amount/temperature"]),
        ({"dH": "80 kJ/mol", "dS": {"start": "1 J/mol/K", "bounds": ["0 J/mol/K", "2 J/mol/K"]}}, ["bounds and priors on dS", "Give k"]),
        ({"dH": "80 kJ/mol", "k": "1 mol/L/s", "at": "300 K", "orders": {"A": 0.5}}, ["whole orders"]),
        ({"dH": "80 kJ/mol", "dS": "1 J/mol/K", "rate": "k*[A]"}, ["dH beside a rate formula"]),
    ],
)
def test_what_is_refused(reaction, words):
    with pytest.raises(InputError) as error:
        simulate(rates(reaction, conditions={"T": "320 K", "A": "2 mol/L"}))
    for word in words:
        assert word in str(error.value)


def test_not_per_catalyst():
    given = rates({"dH": "80 kJ/mol", "dS": "1 J/mol/K"}, conditions={"T": "320 K", "A": "2 mol/L"})
    with pytest.raises(InputError, match="Eyring's law is for k in 1/time"):
        simulate({**given, "reactor": {"type": "differential", "basis": "catalyst_mass"}})
