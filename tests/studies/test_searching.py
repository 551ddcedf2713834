"""What becomes of parameters that the data do not determine, of starts far off, and of searches that find nothing."""

import re

import numpy as np
import pytest

from kinetix.errors import ParameterError, SolveError
from kinetix.studies import FitLimits, check_problem
from tests.reference.studies import fit, parameters, problem, statistic

R = 8.31446261815324
TAU = np.array([2.0, 4.0, 8.0, 16.0, 32.0])
NOISE = 0.01 * np.array([0.9, -1.1, 0.3, 0.6, -0.7])
AMOUNT = {"start": "1.3 mol/L"}


def k_and_error(predicted, slope, measured, k):
    """Gauss-Newton in NumPy: the least-squares k of one-parameter data, and its standard error."""
    for _ in range(100):
        J, r = slope(k), predicted(k) - measured
        k = k - J @ r / (J @ J)
    return k, np.sqrt(np.sum((predicted(k) - measured) ** 2) / (measured.size - 1) / (J @ J))


def tank(amount=AMOUNT, k="0.05 1/min"):
    return {
        "reactions": {"r1": {"equation": "A -> B", "k": {"start": k}}},
        "reactor": {"type": "cstr"},
        "conditions": {"feed": {"A": amount, "B": "0 mol/L"}},
        "responses": {"X": "1 - [A]/feed[A]"},
    }


def batch(amount=AMOUNT, **reactions):
    return {
        "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.05 1/min"}}, **reactions},
        "reactor": {"type": "batch"},
        "initial": {"A": amount, "default": "0 mol/L"},
        "responses": {"X": "1 - [A]/initial[A]"},
    }


MODELS = {
    "tank": (tank, "feed.A", "tau", lambda k: k * TAU / (1 + k * TAU), lambda k: TAU / (1 + k * TAU) ** 2),
    "batch": (batch, "initial.A", "time", lambda k: 1 - np.exp(-k * TAU), lambda k: TAU * np.exp(-k * TAU)),
}


def rows(axis, measured, name="X [-]"):
    return f"{axis} [min],{name}\n" + "".join(f"{a:g},{x:.10g}\n" for a, x in zip(TAU, measured, strict=True))


@pytest.mark.parametrize("model", MODELS)
def test_a_parameter_that_cancels_leaves_the_others_their_answer(model):
    """Conversion of a first-order reaction does not depend on the amount: its derivative is rounding, not information."""
    study, name, axis, predicted, slope = MODELS[model]
    measured = predicted(0.1) + NOISE
    tree = fit(study(), rows(axis, measured))
    k, error = k_and_error(predicted, slope, measured, 0.1)
    assert tree.attrs["converged"] == 1 and tree.attrs["status_label"] == "flat"
    assert parameters(tree, "r1.k").item() == pytest.approx(k, rel=1e-6)
    assert parameters(tree, "r1.k", quantity="stderr").item() == pytest.approx(error, rel=1e-5)
    assert parameters(tree, name).item() == 1.3
    assert np.isnan([parameters(tree, name, quantity=q).item() for q in ("stderr", "lower95", "upper95")]).all()
    assert (statistic(tree, "rank"), statistic(tree, "dof")) == (1, 4)
    assert f"The data do NOT determine {name}." in tree.attrs["verdict"]
    assert f"{name} is not determined by these data, since no measured value changes with it: fix it" in tree.attrs["warnings"]


@pytest.mark.parametrize("model", MODELS)
def test_exact_data_and_a_parameter_that_cancels(model):
    study, name, axis, predicted, _ = MODELS[model]
    tree = fit(study(), rows(axis, predicted(0.1)))
    assert tree.attrs["converged"] == 1
    assert parameters(tree, "r1.k").item() == pytest.approx(0.1, rel=1e-8)
    assert parameters(tree, name).item() == 1.3
    assert np.isnan(parameters(tree, name, quantity="stderr").item())


def test_a_reaction_that_nothing_measures():
    measured = 1 - np.exp(-0.1 * TAU) + NOISE
    later = {"equation": "B -> C", "k": {"start": "0.05 1/min"}}
    tree = fit(batch("1 mol/L", r2=later), rows("time", measured))
    _, _, _, predicted, slope = MODELS["batch"]
    k, error = k_and_error(predicted, slope, measured, 0.1)
    assert tree.attrs["converged"] == 1
    assert parameters(tree, "r1.k").item() == pytest.approx(k, rel=1e-6)
    assert parameters(tree, "r1.k", quantity="stderr").item() == pytest.approx(error, rel=1e-5)
    assert np.isnan(parameters(tree, "r2.k", quantity="stderr").item())


def test_only_a_parameter_that_cancels_is_no_answer():
    study = tank()
    study["reactions"]["r1"]["k"] = "0.09 1/min"
    tree = fit(study, rows("tau", 0.1 * TAU / (1 + 0.1 * TAU)))
    assert tree.attrs["converged"] == 0
    assert "Nothing that was measured changes with feed.A" in tree.attrs["warnings"]
    assert "leave out the start" not in tree.attrs["warnings"]


def test_only_the_ratio_is_determined():
    """A <-> B so fast that only the equilibrium is seen: K = kf/kr, and neither constant."""
    reaction = {"equation": "A <=> B", "kf": {"start": "3e6 1/s"}, "kr": {"start": "1e6 1/s"}}
    study = {"reactions": {"r1": reaction}, "reactor": {"type": "batch"}, "initial": {"A": "1 mol/L", "B": "0 mol/L"}}
    measured = 2 / 3 + NOISE
    tree = fit(study, rows("time", measured, "B [mol/L]"))
    kf, kr = parameters(tree, "r1.kf", "r1.kr")
    assert tree.attrs["converged"] == 1
    assert kf / (kf + kr) == pytest.approx(measured.mean(), rel=1e-7)
    assert np.isnan(parameters(tree, "r1.kf", "r1.kr", quantity="stderr")).all()
    assert "The data do not change along +1.00 ln r1.k" in tree.attrs["warnings"]
    assert "The data do NOT determine r1.kf and r1.kr." in tree.attrs["verdict"]


def chain_rows():
    """A -> B -> C at 50 and 70 degC with scatter, in closed form."""
    text = ["run,time [min],T [degC],A [mol/L],B [mol/L]"]
    for run, T in enumerate((50.0, 70.0)):
        x = (1 / 333.15 - 1 / (T + 273.15)) / R
        k1, k2 = 0.05 * np.exp(75e3 * x), 0.02 * np.exp(55e3 * x)
        for i, t in enumerate((2.0, 5.0, 10.0, 20.0, 40.0, 80.0)):
            A, B = np.exp(-k1 * t), k1 / (k2 - k1) * (np.exp(-k1 * t) - np.exp(-k2 * t))
            text.append(f"{run},{t:g},{T:g},{A + 0.3 * NOISE[i % 5]:.9f},{B - 0.4 * NOISE[(i + 2) % 5]:.9f}")
    return "\n".join(text)


def test_two_ways_from_a_to_b_leave_the_errors_of_the_next_step():
    """Any two values of k1 + k2 at two temperatures are also those of one reaction: r3 has the errors that it has beside one."""

    def step(equation):
        return {"equation": equation, "k": {"at": "333.15 K"}, "Ea": {}}

    common = {"reactor": {"type": "batch"}, "initial": {"A": "1 mol/L", "default": "0 mol/L"}}
    single = fit({"reactions": {"r1": step("A -> B"), "r3": step("B -> C")}, **common}, chain_rows())
    double = fit({"reactions": {"r1": step("A -> B"), "r2": step("A -> B"), "r3": step("B -> C")}, **common}, chain_rows())
    names = ("r3.k_ref", "r3.Ea")
    dof = [statistic(tree, "dof") for tree in (single, double)]
    assert dof == [20, 20]
    for quantity in ("value", "stderr"):
        np.testing.assert_allclose(parameters(double, *names, quantity=quantity), parameters(single, *names, quantity=quantity), rtol=1e-4)
    errors = [
        float(tree["parameters/derived_stderr"].sel(derived="r3.A") / tree["parameters/derived_value"].sel(derived="r3.A"))
        for tree in (single, double)
    ]
    assert errors[1] == pytest.approx(errors[0], rel=1e-4)
    assert np.isnan(parameters(double, "r1.k_ref", "r1.Ea", "r2.k_ref", "r2.Ea", quantity="stderr")).all()
    assert np.isnan(double["parameters/derived_stderr"].sel(derived=["r1.A", "r2.A"])).all()

    k1, E1, k2, E2 = parameters(double, "r1.k_ref", "r1.Ea", "r2.k_ref", "r2.Ea")
    told = [line for line in double.attrs["warnings"].splitlines() if "do not change along" in line]
    assert len(told) == 2
    for line in told:
        along = {name: float(number) for number, name in re.findall(r"([+-][\d.e-]+) (?:ln )?(r\d\.\w+)", line)}
        assert set(along) == {"r1.k_ref", "r1.Ea", "r2.k_ref", "r2.Ea"}
        for T in (323.15, 343.15):
            x = (1 / 333.15 - 1 / T) / (R / 1000)
            parts = [
                k * np.exp(E * x) * part
                for r, k, E in (("r1", k1, E1), ("r2", k2, E2))
                for part in (along[f"{r}.k_ref"], along[f"{r}.Ea"] * x)
            ]
            assert abs(sum(parts)) < 0.05 * sum(map(abs, parts))  # the numbers are told with two digits


def test_where_no_start_can_be_simulated_the_reason_is_told():
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": {}}},
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "B": "0 mol/L"},
    }
    with pytest.raises(SolveError, match=r"No start of r1\.k could be simulated\. Experiments that fail: .*step limit was reached"):
        fit({**study, "solver": {"max_steps": 1}}, rows("time", 0.9 + NOISE, "A [mol/L]"))


# ------------------------------------------------------------------------------------------------------- starts far off


def arrhenius_rows(order=1):
    text = ["run,time [min],T [K],A [mol/L]"]
    for i, T in enumerate((300, 320, 340)):
        k = 0.01 * np.exp(-60e3 / R * (1 / T - 1 / 320))
        text += [f"{i},{t},{T},{np.exp(-k * t) + e:.6f}" for t, e in zip((0, 10, 30, 60, 120), 0.3 * NOISE, strict=True)]
    return "\n".join(text)


def thermal(k, Ea):
    reaction = {"equation": "A -> B", "k": {"start": k}, "Ea": {"start": Ea}}
    return {"reactions": {"r1": reaction}, "reactor": {"type": "batch"}, "initial": {"A": "1 mol/L", "B": "0 mol/L"}}


@pytest.fixture(scope="module")
def near():
    return parameters(fit(thermal("0.01 1/min", "60 kJ/mol"), arrhenius_rows()), "r1.k_ref", "r1.Ea")


@pytest.mark.parametrize(
    ("k", "Ea"),
    [("1e4 1/min", "60 kJ/mol"), ("1e-12 1/min", "60 kJ/mol"), ("0.01 1/min", "900 kJ/mol"), ("1e6 1/min", "-500 kJ/mol")],
)
def test_far_starts_end_at_the_answer_or_are_no_answer(k, Ea, near):
    tree = fit(thermal(k, Ea), arrhenius_rows())
    assert tree.attrs["converged"] == 1
    np.testing.assert_allclose(parameters(tree, "r1.k_ref", "r1.Ea"), near, rtol=1e-5)


def test_a_start_that_led_nowhere_is_told():
    tree = fit(thermal("1e-9 1/min", "60 kJ/mol"), arrhenius_rows())
    assert "From the given start the search ended without an answer" in tree.attrs["warnings"]
    assert "the starts of r1.k_ref and r1.Ea come from the data" in tree.attrs["message"]
    assert tree.attrs["seed"] == 2026


def test_without_a_searched_start_no_seed_is_named():
    tree = fit(thermal("0.01 1/min", "60 kJ/mol"), arrhenius_rows())
    assert tree.attrs["seed"] == "none: no random numbers were used"


def test_data_that_no_start_can_explain_blame_no_start():
    """The amount rises although A only reacts away: the constant runs to where it does nothing."""
    tree = fit(batch("1 mol/L"), rows("time", -np.array([0.1, 0.2, 0.3, 0.4, 0.5])))
    assert tree.attrs["converged"] == 0
    assert "Starts that were found in the data led no further" in tree.attrs["warnings"]
    assert "The model describes X worse than its mean does" in tree.attrs["warnings"]


def test_the_twin_of_an_optimum_is_named_although_a_start_was_given():
    """A -> B -> C seen through C alone: k1 and k2 can be interchanged (Rawlings & Ekerdt, example A.5)."""
    C = 1 - (2 * np.exp(-0.7 * TAU / 8) - 0.7 * np.exp(-2 * TAU / 8)) / (2 - 0.7)
    study = {
        "reactions": {
            "r1": {"equation": "A -> B", "k": {"start": "0.1 1/min"}},
            "r2": {"equation": "B -> C", "k": {"start": "0.2 1/min"}},
        },
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "default": "0 mol/L"},
    }
    tree = fit(study, rows("time", C + 0.001 * NOISE, "C [mol/L]"))
    assert parameters(tree, "r1.k", "r2.k") == pytest.approx([0.7 / 8, 2 / 8], rel=1e-3)
    assert "Another set of parameters fits as well: r1.k = 0.25" in tree.attrs["warnings"]


# -------------------------------------------------------------------------------------------------- doubts and the check


def test_temperatures_that_nothing_uses_are_told():
    study = thermal("0.01 1/min", "60 kJ/mol")
    del study["reactions"]["r1"]["Ea"]
    tree = fit(study, arrhenius_rows())
    sentence = "The temperature varies from 300 to 340 K, but r1.k is taken as independent of it."
    assert sentence in tree.attrs["warnings"]
    assert any(sentence in line and line.startswith("attention: ") for line in check_problem(problem(study, arrhenius_rows())))
    assert sentence not in fit(thermal("0.01 1/min", "60 kJ/mol"), arrhenius_rows()).attrs["warnings"]


@pytest.mark.parametrize("text", ["time [min],A [mol/L]\n10,0.5\n", "time [min],A [mol/L]\n5,0.5\n10,0.5\n20,0.5\n"])
def test_nothing_to_explain_has_no_r_squared(text):
    study = batch("1 mol/L")
    del study["responses"]
    assert np.isnan(fit(study, text)["statistics/r_squared"].item())


def test_check_names_what_a_fit_would_not_determine():
    lines = check_problem(problem(tank(), rows("tau", 0.5 + NOISE)))
    assert "attention: no measured value changes with feed.A at the start" in lines
    assert not any("condition number" in line for line in lines)


def test_check_names_what_is_only_determined_together():
    reaction = {"equation": "A -> B", "rate": "a*b*[A]", "parameters": {"a": {"start": "2 1/min"}, "b": {"start": 0.03}}}
    study = batch("1 mol/L") | {"reactions": {"r1": reaction}}
    (line,) = [line for line in check_problem(problem(study, rows("time", 0.5 + NOISE))) if line.startswith("attention")]
    assert "only together at the start" in line and "r1.a" in line and "r1.b" in line


def test_check_finds_nothing_where_all_is_well():
    lines = check_problem(problem(thermal("0.02 1/min", "50 kJ/mol"), arrhenius_rows()))
    assert not any(line.startswith("attention") for line in lines)
    assert "condition number" in lines[-1]


@pytest.mark.parametrize("times", ["0:10 min", ["5 min", "1 min"]])
def test_simulated_times_are_read_beside_data(times):
    with pytest.raises(ValueError, match="simulate"):
        problem({**batch("1 mol/L"), "simulate": {"times": times}}, rows("time", 0.5 + NOISE))


def test_limits_below_one_are_refused():
    with pytest.raises(ParameterError) as refused:
        FitLimits(max_iterations=0, max_seconds=-1.0)
    assert [problem.partition(":")[0] for problem in refused.value.problems] == ["max_iterations = 0", "max_seconds = -1.0"]


@pytest.mark.parametrize("T", ["0 K", "-300 degC"])
def test_a_temperature_below_nothing_is_refused(T):
    study = {**thermal("0.01 1/min", "60 kJ/mol"), "conditions": {"T": T, "allow_temperature": True}}
    with pytest.raises(ValueError, match="which is not above absolute zero"):
        problem(study, rows("time", 0.5 + NOISE, "A [mol/L]"))
    with pytest.raises(ValueError, match=r"at: the temperature T is .*not above absolute zero"):
        study["reactions"]["r1"] = {"equation": "A -> B", "k": {"start": "0.01 1/min", "at": T}, "Ea": {"start": "60 kJ/mol"}}
        problem(study, arrhenius_rows())


@pytest.mark.parametrize("start", [{"start": "0.01 mol/L/min"}, {}])
def test_a_search_stopped_by_a_concentration_below_zero_says_so(start):
    """A falls by 0.1 mol/L/min until it is used up, then stays at zero: order zero cannot follow."""
    study = batch("1 mol/L", r1={"equation": "A -> B", "k": start, "orders": {"A": 0}})
    tree = fit(study, "time [min],A [mol/L]\n2,0.8\n5,0.5\n8,0.2\n12,0\n15,0\n")
    assert tree.attrs["converged"] == 0
    for told in (tree.attrs["warnings"], tree.attrs["message"]):
        assert "Experiments that fail: 'table1' (a concentration fell below zero: a rate of order zero goes on" in told
    assert "led no further" not in tree.attrs["warnings"]
