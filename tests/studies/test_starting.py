"""Starts found from the data: sizes from units, seeded trials, published answers without a start, other optima named."""

import numpy as np
import pytest

from kinetix.errors import InputError
from kinetix.experiments import parse_table
from kinetix.parameters import Parameter
from kinetix.report import text_report
from kinetix.results import fit_tree
from kinetix.studies import build_problem, fit_problem, parse_study, starting
from kinetix.units import RATE, parse_unit


def problem(study, text):
    return build_problem(
        parse_study({"schema": 1, **study, "data": {"files": ["d.csv"], **study.get("data", {})}}, "s"), [parse_table(text, "d.csv")]
    )


def values(tree):
    return {
        str(name): float(value) for name, value in zip(tree["parameters/parameter"].values, tree["parameters/value"].values, strict=True)
    }


SCALES = starting.Scales(500.0, 1.5e6, 500.0 / 60.0, RATE, {})


@pytest.mark.parametrize(
    ("unit", "size"),
    [
        ("1/Pa", 1 / 1.5e6),
        ("mol/m^3/s/Pa", 500 / 60 / 1.5e6),
        ("1/s", 1 / 60),
        ("L/mol/s", 1 / 60 / 500 * 1000),
        ("mol/L/s", 500 / 60 / 1000),
        ("L/mol", 1000 / 500),
        ("mol/L", 500 / 1000),
    ],
)
def test_the_unit_of_a_constant_fixes_its_size(unit, size):
    p = Parameter("r1.k", parse_unit(unit), np.nan, -np.inf, np.inf, "log", False)
    lower, upper = starting.start_range(p, SCALES)
    assert np.exp((lower + upper) / 2) == pytest.approx(parse_unit(unit).factor * size, rel=1e-12)
    assert np.exp(upper - lower) == pytest.approx(1e6)


def test_bounds_are_respected():
    p = Parameter("r1.k", parse_unit("1/s"), np.nan, 1e-9, 1e-8, "log", False)
    assert starting.start_range(p, SCALES) == pytest.approx((np.log(1e-9), np.log(1e-8)))
    one_sided = Parameter("r1.k", parse_unit("1/s"), np.nan, 1e6, np.inf, "log", False)
    lower, upper = starting.start_range(one_sided, SCALES)
    assert lower == pytest.approx(np.log(1e6)) and upper > lower


TANK = {
    "reactions": {"r1": {"equation": "A -> B", "k": {}}, "r2": {"equation": "B -> C", "k": {}}, "r3": {"equation": "2 A -> D", "k": {}}},
    "reactor": {"type": "cstr"},
    "conditions": {"feed": {"default": "0 mol/m^3"}},
}


def test_tank_without_any_start(data):
    """The published values of parmest-cstr-clean, from nothing but reactions and data."""
    case = data("parmest-cstr-clean")
    columns = {"1/tau": "sv [1/min]", "feed.A": "caf [mol/m^3]"} | {s.upper(): f"c{s} [mol/m^3]" for s in "abcd"}
    given = problem({**TANK, "data": {"columns": columns}}, (case.folder / "data.csv").read_text())
    tree = fit_tree(fit_problem(given))
    expected = case.facts["expected"]["parameters"]
    found = values(tree)
    assert tree.attrs["converged"] == 1
    assert found["r1.k"] == pytest.approx(expected["k1"], abs=5e-5) and found["r2.k"] == pytest.approx(expected["k2"], abs=5e-5)
    assert found["r3.k"] == pytest.approx(expected["k3"], abs=5e-8)  # m^3/mol/min, as the data
    assert tree["parameters/unit"].values.tolist() == ["1/min", "1/min", "m^3/mol/min"]
    assert "r1.k, r2.k and r3.k come from the data" in tree.attrs["message"]


def arrhenius_rows(rng):
    rows = ["run,time [min],T [degC],A [mol/L]"]
    for run, T in (("a", 40), ("b", 55), ("c", 70)):
        k = 0.03 * np.exp(-85e3 / 8.31446261815324 * (1 / (T + 273.15) - 1 / 330))
        rows += [f"{run},{t},{T},{2 * np.exp(-k * t) + 0.01 * rng.standard_normal():.5f}" for t in (0, 10, 20, 40, 80)]
    return "\n".join(rows)


def test_rate_constant_energy_and_amount_together():
    study = {
        "reactions": {"r1": {"equation": "A -> B", "A": {}, "Ea": {}}},
        "reactor": {"type": "batch"},
        "initial": {"A": {}, "B": "0 mol/L"},
    }
    text = arrhenius_rows(np.random.default_rng(3))
    facts = fit_problem(problem(study, text))
    names = dict(zip(facts.parameter_names, zip(facts.values_si, facts.stderr_si, strict=True), strict=True))
    assert facts.status.ok
    for name, truth in (("r1.Ea", 85e3), ("initial.A", 2000.0)):
        value, error = names[name]
        assert abs(value - truth) < 4 * error
    again = fit_problem(problem(study, text))
    np.testing.assert_array_equal(again.values_si, facts.values_si)


def test_another_optimum_is_named():
    """A -> B -> C seen through C alone: k1 and k2 can be interchanged (Rawlings & Ekerdt, example A.5)."""
    t = np.linspace(0.2, 6, 15)
    C = 1 - (2 * np.exp(-0.7 * t) - 0.7 * np.exp(-2 * t)) / (2 - 0.7)
    rows = "time [s],C [mol/L]\n" + "".join(f"{a},{b:.4f}\n" for a, b in zip(t, C, strict=True))
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": {}}, "r2": {"equation": "B -> C", "k": {}}},
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "default": "0 mol/L"},
    }
    tree = fit_tree(fit_problem(problem(study, rows)))
    found = sorted(values(tree).values())
    np.testing.assert_allclose(found, [0.7, 2.0], rtol=2e-3)
    assert "Another set of parameters fits as well: r1.k" in tree.attrs["warnings"]


@pytest.mark.parametrize(
    ("study", "words"),
    [
        (
            {"model": {"y": "a*x"}, "parameters": {"a": {"unit": "1"}}, "data": {"dimensionless": True}},
            ["'a' has no start", "explicit model"],
        ),
        ({"model": {"y": "a*x"}, "parameters": {"a": {}}, "data": {"dimensionless": True}}, ["'a' has neither start nor unit"]),
    ],
)
def test_where_no_start_can_be_found(study, words):
    with pytest.raises(InputError) as error:
        fit_problem(problem(study, "x,y\n1,2\n2,4\n3,6\n"))
    assert all(word in str(error.value) for word in words), str(error.value)


def test_o12_both_minima_are_named(data):
    """A -> B -> C seen through B with an unknown response factor: two equal minima, from no start at all."""
    case = data("o12-swapped-minima")
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": {}}, "r2": {"equation": "B -> C", "k": {}}},
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "default": "0 mol/L"},
        "responses": {"signal": "f*[B]"},
        "parameters": {"f": {"bounds": ["1e-3 L/mol", "1e3 L/mol"]}},
        "noise": {"signal": 0.01},
        "fit": {"sigma": "trusted"},
        "data": {"columns": {"signal": "S [1]"}},
    }
    tree = fit_tree(fit_problem(problem(study, (case.folder / "data.csv").read_text())))
    expected = {entry["name"]: entry["value"] for entry in case.facts["expect"]}
    minima = [expected["minimum 1: f, k1, k2"], expected["minimum 2: f, k1, k2"]]
    found = list(values(tree).values())
    nearest = min(minima, key=lambda m: abs(m[0] - found[0]))
    np.testing.assert_allclose(found, nearest, rtol=1e-4)
    assert float(tree["statistics/chi_square"]) == pytest.approx(expected["chi_square of both"], rel=1e-5)
    (other,) = [m for m in minima if m is not nearest]
    assert all(f"{value:.4g}"[:5] in tree.attrs["warnings"] for value in other), tree.attrs["warnings"]


def test_bellman_without_a_start(data):
    """2 NO + O2: published optimum p1 = 4.5704e-6, p2 = 2.7845e-4, objective 22.03094 (Esposito & Floudas 2000)."""
    case = data("ef-bellman-no-o2")
    parameters = {"p1": {"unit": "m^6/mol^2/min"}, "p2": {"unit": "m^3/mol/min"}}
    study = {
        "formulas": False,
        "reactions": {"r1": {"equation": "A + B -> C", "rate": "p1*[A]*[B]^2 - p2*[C]^2", "parameters": parameters}},
        "reactor": {"type": "batch"},
        "initial": {"A": "126.2 mol/m^3", "B": "91.9 mol/m^3", "C": "0 mol/m^3"},
        "data": {"columns": {"time": "time [min]", "C": "y [mol/m^3]"}},
    }
    tree = fit_tree(fit_problem(problem(study, (case.folder / "data.csv").read_text())))
    expected, tolerance = case.facts["expected"], case.facts["tolerance"]
    np.testing.assert_allclose(list(values(tree).values()), list(expected["parameters"].values()), rtol=tolerance["parameters_rel"])
    assert float(tree["statistics/ssr"]) == pytest.approx(expected["objective"], rel=tolerance["objective_rel"])
    errors = list(expected["std_errors_linear"].values())
    np.testing.assert_allclose(tree["parameters/stderr"].values, errors, rtol=tolerance["std_errors_rel"])


def test_a_parameter_without_effect_is_told():
    """Nothing reacts in these data: any k small enough fits them exactly."""
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": {}}},
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "B": "0 mol/L"},
    }
    tree = fit_tree(fit_problem(problem(study, "time [s],A [mol/L]\n0,1\n10,1\n20,1\n")))
    assert tree.attrs["converged"] == 1
    assert "r1.k is not determined by these data, since no measured value changes with it" in tree.attrs["warnings"]
    assert np.isnan([float(tree["parameters"][name][0]) for name in ("stderr", "lower95", "upper95")]).all()
    assert "not determined by the data" in text_report(tree)
