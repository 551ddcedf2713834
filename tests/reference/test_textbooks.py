"""Published estimation problems: textbooks, parmest, Esposito & Floudas. Values and tolerances are those of the cases.

Where a case names no unit, mol/L and s stand in for it.
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import f as fisher

from kinetix.constants import GAS_CONSTANT
from tests.reference.studies import fit, parameters, statistic


def text(case):
    return (case.folder / "data.csv").read_text(encoding="utf-8")


def joint_box(case_errors, n_observations):
    """Half-widths of the box around the joint 95 % region, from standard errors (Rawlings & Ekerdt, appendix A)."""
    p = len(case_errors)
    return case_errors * math.sqrt(p * fisher.ppf(0.95, p, n_observations - p))


# --------------------------------------------------------------------------------------------------------- explicit models


def puromycin(rate, **starts):
    return {
        "model": {"velocity": rate},
        "parameters": {name: {"start": start} for name, start in starts.items()},
        "data": {"dimensionless": True, "columns": {"c": "concentration_ppm"}},
    }


def test_puromycin_treated(case):
    puro = case("bw-puromycin")
    expected, tolerance = puro.facts["expected"]["treated"], puro.facts["tolerance"]
    header, *rows = text(puro).split()
    treated = "\n".join([header, *(row for row in rows if row.endswith(",1"))])
    study = puromycin("th1*c/(th2 + c)", th1=205, th2=0.08)
    result = fit({**study, "data": {**study["data"], "ignore": ["treated"]}}, treated)
    assert_allclose(parameters(result, "th1", "th2"), [expected["th1"], expected["th2"]], rtol=tolerance["parameters_rel"])
    assert_allclose(parameters(result, "th1", "th2", quantity="stderr"), expected["std_errors"], rtol=tolerance["std_errors_rel"])
    assert statistic(result, "dof") == expected["dof"]
    assert statistic(result, "s") ** 2 == pytest.approx(expected["s2"], rel=tolerance["std_errors_rel"])
    lower, upper = (parameters(result, "th2", quantity=end) for end in ("lower95", "upper95"))
    assert (upper - lower) / 2 == pytest.approx(expected["marginal_95_th2_halfwidth"], rel=tolerance["std_errors_rel"])


def test_puromycin_with_a_factor_and_the_nested_model(case):
    puro = case("bw-puromycin")
    expected, tolerance = puro.facts["expected"], puro.facts["tolerance"]
    combined = fit(puromycin("(th1 + phi1*treated)*c/(th2 + phi2*treated + c)", th1=160, th2=0.05, phi1=40, phi2=0.01), text(puro))
    reduced = fit(puromycin("(th1 + phi1*treated)*c/(th2 + c)", th1=160, th2=0.05, phi1=40), text(puro))
    for result, names, answer in (
        (combined, ("th1", "th2", "phi1", "phi2"), expected["combined"]),
        (reduced, ("th1", "th2", "phi1"), expected["reduced"]),
    ):
        assert_allclose(parameters(result, *names), [answer[name] for name in names], rtol=tolerance["parameters_rel"])
        assert_allclose(parameters(result, *names, quantity="stderr"), answer["std_errors"], rtol=tolerance["std_errors_rel"])
        assert statistic(result, "ssr") == pytest.approx(answer["sse"], rel=tolerance["F_rel"])
    extra = expected["extra_sum_of_squares"]
    assert [statistic(reduced, "dof") - statistic(combined, "dof"), statistic(combined, "dof")] == extra["df"]
    ratio = (statistic(reduced, "ssr") - statistic(combined, "ssr")) / statistic(combined, "s") ** 2
    assert ratio == pytest.approx(extra["F"], rel=tolerance["F_rel"])


@pytest.mark.parametrize("start", ["pyomo", "bates_watts"])
def test_bod(start, data):
    bod = data("bod-rooney-biegler")
    expected, tolerance = bod.facts["expected"], bod.facts["tolerance"]
    th1, th2 = bod.facts["start"][start]
    study = {
        "model": {"BOD": "th1*(1 - exp(-th2*t))"},
        "parameters": {"th1": {"start": f"{th1} mg/L"}, "th2": {"start": f"{th2} 1/d"}},
        "data": {"columns": {"t": "time_days [d]", "BOD": "BOD_mg_per_L [mg/L]"}},
    }
    result = fit(study, text(bod))
    for published in (expected["parameters"], expected["computed"]):
        assert_allclose(parameters(result, "th1", "th2"), [published["th1"], published["th2"]], rtol=tolerance["parameters_rel"])
    errors = [expected["std_errors"]["th1"], expected["std_errors"]["th2"]]
    assert_allclose(parameters(result, "th1", "th2", quantity="stderr"), errors, rtol=tolerance["std_errors_rel"])
    order = {"parameter": ["th1", "th2"], "other_parameter": ["th1", "th2"]}
    covariance, correlation = (result["covariance"][name].sel(order).values for name in ("covariance", "correlation"))
    assert_allclose(covariance, expected["covariance"], rtol=tolerance["covariance_rel"])
    assert_allclose(covariance, expected["computed"]["covariance"], rtol=tolerance["covariance_rel"])
    assert correlation[0, 1] == pytest.approx(expected["correlation"], abs=0.005)  # two digits are printed
    assert (statistic(result, "dof"), round(statistic(result, "s") ** 2, 3)) == (expected["dof"], expected["s2"])
    limit = statistic(result, "ssr") * (1 + 2 / 4 * fisher.ppf(0.95, 2, 4))
    assert limit == pytest.approx(expected["joint_95_region_sse_limit"], rel=tolerance["region_sse_limit_rel"])


def bard_expected(bard, th1, th2, errors, ssr):
    expected, tolerance = bard.facts["expected"], bard.facts["tolerance"]
    precise, published, linear = (expected[name] for name in ("parameters_precise", "parameters_published", "std_errors_linear"))
    assert_allclose([th1, th2], [precise["th1"], precise["th2"]], rtol=tolerance["precise_parameters_rel"])
    assert_allclose([th1, th2], [published["th1"], published["th2"]], rtol=tolerance["published_parameters_rel"])
    assert_allclose([ssr, ssr], [expected["objective_precise"], expected["objective_published"]], rtol=tolerance["objective_rel"])
    assert_allclose(errors, [linear["th1"], linear["th2"]], rtol=1e-5)  # printed in full; no tolerance is given


def test_bard_as_a_formula(data):
    bard = data("bard-arrhenius-first-order")
    study = {
        "model": {"y": "exp(-th1*x1*exp(-th2/x2))"},
        "parameters": {"th1": {"start": 750}, "th2": {"start": 1200}},
        "data": {"dimensionless": True, "columns": {"x1": "time", "x2": "temperature", "y": "fraction_left"}},
    }
    result = fit(study, text(bard))
    bard_expected(bard, *parameters(result, "th1", "th2"), parameters(result, "th1", "th2", quantity="stderr"), statistic(result, "ssr"))


def test_bard_as_a_batch_reactor(data):
    """The same table as readings of a batch; A follows from k at the reference temperature, and th2 is Ea/R."""
    bard = data("bard-arrhenius-first-order")
    study = {
        "reactions": {"r1": {"equation": "A -> B", "A": {"start": "750 1/h"}, "Ea": {"start": f"{1200 * GAS_CONSTANT} J/mol"}}},
        "reactor": {"type": "batch"},
        "conditions": {"allow_temperature": True},  # 100 K
        "initial": {"A": "1 mol/L", "B": "0 mol/L"},
        "responses": {"left": "[A]/initial[A]"},
        "data": {"columns": {"time": "time [h]", "T": "temperature [K]", "left": "fraction_left [-]"}},
    }
    result = fit(study, text(bard))
    factor = result["parameters"].to_dataset().sel(derived="r1.A")
    (Ea,), (error,) = parameters(result, "r1.Ea"), parameters(result, "r1.Ea", quantity="stderr")
    th1, th2 = factor["derived_value"].item(), Ea / GAS_CONSTANT
    bard_expected(bard, th1, th2, [factor["derived_stderr"].item(), error / GAS_CONSTANT], statistic(result, "ssr"))
    temperatures = np.repeat([100.0, 200.0, 300.0], 5)
    assert f"{len(temperatures) / np.sum(1 / temperatures):.6g} K" in factor["derived_note"].item()


# ------------------------------------------------------------------------------------------------------------------- batch


def series(k1, k2, **options):
    """A -> B -> C in a batch from 1 mol/L of A."""
    return {
        "reactions": {
            "r1": {"equation": "A -> B", "k": {"start": f"{k1} 1/s", **options}},
            "r2": {"equation": "B -> C", "k": {"start": f"{k2} 1/s", **options}},
        },
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "default": "0 mol/L"},
    }


@pytest.mark.parametrize("measured", ["all_species", "B_only", "C_only"])
def test_rawlings_series(measured, case):
    abc = case("rawlings-abc-series")
    expected, tolerance, start = abc.facts["expected"][measured], abc.facts["tolerance"], abc.facts["start"]["book"]
    used = {"all_species": "ABC", "B_only": "B", "C_only": "C"}[measured]
    columns = {"time": "time [s]", **{species: f"c{species} [mol/L]" for species in used}}
    data = {"columns": columns, "ignore": [f"c{species}" for species in "ABC" if species not in used]}
    bounds = ["1e-4 1/s", "10 1/s"]
    result = fit({**series(start["k1"], start["k2"], bounds=bounds), "data": data}, text(abc))
    answer = np.array([expected["k1"], expected["k2"]])
    assert_allclose(parameters(result, "r1.k", "r2.k"), answer, rtol=tolerance["parameters_rel"])
    assert statistic(result, "ssr") == pytest.approx(expected["sse"], rel=tolerance["sse_rel"])
    errors = parameters(result, "r1.k", "r2.k", quantity="stderr")
    assert_allclose(errors, expected["std_errors"], rtol=tolerance["intervals_rel"])
    box = joint_box(errors, statistic(result, "n_observations"))
    assert_allclose(box, expected["bounding_box_95_halfwidth"], rtol=tolerance["intervals_rel"])

    # interchanged starts: only with C alone are the constants interchangeable, and then both answers are equally good
    other = fit({**series(start["k2"], start["k1"], bounds=bounds), "data": data}, text(abc))
    swapped = answer[::-1] if measured == "C_only" else answer
    assert_allclose(parameters(other, "r1.k", "r2.k"), swapped, rtol=tolerance["parameters_rel"])
    assert statistic(other, "ssr") == pytest.approx(expected["sse"], rel=tolerance["sse_rel"])


def test_rawlings_order_rate_constant_and_initial_amount(case):
    nth = case("rawlings-nth-order-batch")
    expected, tolerance, start = nth.facts["expected"], nth.facts["tolerance"], nth.facts["start"]["book"]
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": {"start": f"{start['k']} mol/L/s"}, "orders": {"A": {"start": start["n"]}}}},
        "reactor": {"type": "batch"},
        "initial": {"A": {"start": f"{start['c0']} mol/L"}, "B": "0 mol/L"},
        "data": {"columns": {"time": "time [s]", "A": "c [mol/L]"}},
    }
    result = fit(study, text(nth))
    names = ("r1.order.A", "r1.k", "initial.A")
    assert_allclose(parameters(result, *names), list(expected["parameters"].values()), rtol=tolerance["parameters_rel"])
    assert statistic(result, "ssr") == pytest.approx(expected["sse"], rel=tolerance["sse_rel"])
    errors = parameters(result, *names, quantity="stderr")
    assert_allclose(errors, list(expected["std_errors"].values()), rtol=tolerance["intervals_rel"])
    box = joint_box(errors, statistic(result, "n_observations"))
    assert_allclose(box, expected["bounding_box_95_halfwidth"], rtol=tolerance["intervals_rel"])


@pytest.mark.parametrize("scale", ["log", "linear"])
@pytest.mark.parametrize("start", ["a", "b", "c"])
def test_esposito_floudas_chain(start, scale, data):
    """Start b lies in the basin where the constants are interchanged for B; with A measured too, all starts find the one optimum."""
    chain = data("ef-first-order-chain")
    expected, tolerance = chain.facts["expected"], chain.facts["tolerance"]
    lowest = "0 1/s" if scale == "linear" else "1e-6 1/s"
    study = series(*chain.facts["start"][start], bounds=[lowest, "10 1/s"], scale=scale)
    result = fit({**study, "data": {"columns": {"time": "time [s]", "A": "A [mol/L]", "B": "B [mol/L]"}}}, text(chain))
    assert result.attrs["status_label"] == "success"
    digits, errors = (list(expected[name].values()) for name in ("parameters_more_digits", "std_errors_linear"))
    assert_allclose(parameters(result, "r1.k", "r2.k"), digits, rtol=tolerance["parameters_rel"])
    assert_allclose(parameters(result, "r1.k", "r2.k"), list(expected["parameters"].values()), rtol=tolerance["parameters_rel"])
    assert_allclose(parameters(result, "r1.k", "r2.k", quantity="stderr"), errors, rtol=tolerance["objective_rel"])
    assert statistic(result, "ssr") == pytest.approx(expected["objective"], rel=tolerance["objective_rel"])


# ------------------------------------------------------------------------------------------------------------ stirred tank


@pytest.mark.parametrize("start", ["pyomo", "far"])
def test_parmest_stirred_tank(start, data):
    tank = data("parmest-cstr-clean")
    expected, tolerance, (k1, k2, k3) = tank.facts["expected"], tank.facts["tolerance"], tank.facts["start"][start].values()
    study = {
        "reactions": {
            "r1": {"equation": "A -> B", "k": {"start": f"{k1} 1/min"}},
            "r2": {"equation": "B -> C", "k": {"start": f"{k2} 1/min"}},
            "r3": {"equation": "2 A -> D", "k": {"start": f"{k3} m^3/gmol/min"}},
        },
        "reactor": {"type": "cstr"},
        "conditions": {"feed": {"default": "0 gmol/m^3"}},
        "data": {
            "columns": {
                "1/tau": "sv [1/min]",
                "feed.A": "caf [gmol/m^3]",
                **{species: f"c{species.lower()} [gmol/m^3]" for species in "ABCD"},
            }
        },
    }
    result = fit(study, text(tank))
    assert result.attrs["status_label"] == "success"
    for name, answer in expected["parameters"].items():
        (found,) = parameters(result, f"r{name[1:]}.k")
        assert found == pytest.approx(answer, abs=tolerance[f"{name}_abs"])
    last = result["predictions"]["predicted"].sel(response="C").values[-1, 0]
    assert last == pytest.approx(expected["predicted_cc_row_19"], abs=tolerance["predicted_cc_abs"])


def test_a_ratio_as_response(case):
    """y = B/(B + C) is 0/0 in the model where the batch starts; that reading is left out, and negative ones of A, as in the example."""
    kipet = case("kipet-ratio-observable")
    expected, tolerance = kipet.facts["expected"], kipet.facts["tolerance"]
    columns = kipet.columns()
    rows = [f"{t},{A if A >= 0 else ''},{y if t > 0 else ''}" for t, A, y in zip(columns["time"], columns["A"], columns["y"], strict=True)]
    study = {
        **series(2.0, 0.2),
        "responses": {"y": "[B]/([B] + [C])"},
        "data": {"columns": {"time": "time [s]", "A": "A [mol/L]", "y": "y [-]"}},
    }
    result = fit(study, "\n".join(["time,A,y", *rows]))
    assert_allclose(parameters(result, "r1.k", "r2.k"), list(expected["parameters"].values()), rtol=tolerance["parameters_rel"])
    errors = list(expected["std_errors_linear"].values())
    assert_allclose(parameters(result, "r1.k", "r2.k", quantity="stderr"), errors, rtol=1e-4)  # printed in full; no tolerance is given
    assert statistic(result, "ssr") == pytest.approx(expected["objective"], rel=tolerance["objective_rel"])
    assert statistic(result, "dof") == expected["n_residuals"] - 2
