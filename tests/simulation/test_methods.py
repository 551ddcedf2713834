"""Other integrators under the same equations: they agree with kinetix's own, tell how they ended, and refuse what they cannot do."""

import importlib.util
from pathlib import Path

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

from kinetix.cli.work import problem_of, source_of
from kinetix.errors import InputError, ParameterError, SolveError
from kinetix.simulation import METHODS, all_responses, compare, predict
from kinetix.status import Status
from kinetix.studies import check_problem, cross_check
from tests.reference.studies import fit, problem, simulate, simulated

EXAMPLES = Path(__file__).parents[2] / "examples"
SCIPY = [name for name in METHODS if name.startswith("scipy")]
DIFFRAX = pytest.param(
    "diffrax-Kvaerno5",
    marks=pytest.mark.skipif(importlib.util.find_spec("diffrax") is None, reason="diffrax is not installed"),
)
TIMES = {"times": ["0 s", "1 s", "3 s"]}
HALF_ORDER = {
    "r1": {"equation": "A -> B", "k": "0.1 1/s"},
    "r2": {"equation": "A -> B", "rate": "k*[A]*[B]^0.5", "parameters": {"k": "0.5 L^0.5/mol^0.5/s"}},
}


def batch(reactions, **more):
    return {
        "reactions": reactions,
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "default": "0 mol/L"},
        "simulate": TIMES,
        **more,
    }


@pytest.mark.parametrize("name", ["decomposition", "series"])
@pytest.mark.parametrize("method", ["scipy-LSODA", "scipy-Radau", DIFFRAX])
def test_on_the_examples_with_time_series_they_agree_within_ten_tolerances(name, method):
    _, put = problem_of(source_of(EXAMPLES / name / "study.toml"))
    start = np.where(np.isnan(put.table.start), 1.0, put.table.start)
    found = compare(method, put.model, start, put.lanes)
    assert set(found.status.tolist()) == set(found.other_status.tolist()) == {int(Status.SUCCESS)}
    assert np.max(found.difference) < 10


@pytest.mark.parametrize("method", [*SCIPY, DIFFRAX])
def test_a_simulation_by_another_method(method):
    """B(1 s), B(3 s) of pain o11, by quadrature."""
    found = simulate(batch(HALF_ORDER, solver={"method": method, "rtol": 1e-9}))
    assert_allclose(simulated(found, "B")[0], [0.0, 0.21729516961019593, 0.6728361382343987], rtol=1e-6)
    assert found["simulation"]["status"].values.tolist() == [0] and found["simulation"]["t_reached"].values.tolist() == [3.0]


@pytest.mark.parametrize("method", ["scipy-LSODA", DIFFRAX])
def test_jumps_of_the_temperature_are_not_stepped_over(method, data):
    case = data("o09-pulse")
    study = batch({"r1": {"equation": "A -> P", "A": "1e5 1/s", "Ea": "60 kJ/mol"}}, solver={"method": method}, data={"held": ["T"]})
    del study["simulate"]
    put = problem(study, (case.folder / "temperature.csv").read_text(), responses=all_responses)
    expected = next(entry for entry in case.facts["expect"] if entry["name"] == "A(1e4 s)")
    assert_allclose(predict(put.model, put.parameters, put.lanes).values[0, -1, 0], 1000 * expected["value"], rtol=1e-6)


def test_of_a_gas_and_with_an_energy_balance_the_responses_follow():
    gas = {
        "reactions": {"r1": {"equation": "A -> 2 B", "k": "0.5 1/s"}},
        "reactor": {"type": "plug_flow", "density": "ideal_gas"},
        "conditions": {"feed": {"A": "10 mol/m^3", "B": "0 mol/L"}, "tau": "2 s", "T": "400 K"},
        "responses": {"grown": "expansion"},
    }
    hot = batch(
        {"r1": {"equation": "A -> B", "k": {"start": "1e-1 1/s", "at": "300 K"}, "Ea": "50 kJ/mol", "dHr": "-40 kJ/mol"}},
        energy={"type": "adiabatic", "heat_capacity": "4 MJ/m^3/K"},
        conditions={"T_initial": "300 K"},
    )
    for study in (gas, hot):
        one, other = (simulate({**study, "solver": solver})["simulation"]["predicted"].values for solver in ({}, {"method": "scipy-Radau"}))
        assert_allclose(one, other, rtol=2e-6)


@pytest.mark.parametrize("method", ["scipy-LSODA", "scipy-Radau"])
def test_failures_have_their_status(method):
    fast = {"r1": {"equation": "A -> B", "k": "1e3 1/s"}}
    emptied = {"r1": {"equation": "A -> B", "rate": "k", "parameters": {"k": "1 mol/L/s"}}}
    undefined = {"r1": {"equation": "A -> B", "rate": "k*[A]/[B]", "parameters": {"k": "1 mol/L/s"}}}
    for reactions, more, expected in (
        (fast, {"max_steps": 3}, Status.STEP_LIMIT),
        (emptied, {}, Status.BELOW_ZERO),
        (undefined, {}, Status.NON_FINITE),
    ):
        found = simulate(batch(reactions, solver={"method": method, **more}))["simulation"]
        assert found["status"].values.tolist() == [int(expected)]
        assert np.isnan(found["predicted"].values[0, -1]).all()


def test_derivatives_are_refused():
    study = batch({"r1": {"equation": "A -> B", "k": {"start": "0.1 1/s"}}}, solver={"method": "scipy-LSODA"})
    table = "time [s],A [mol/L]\n1,0.9\n2,0.8\n"
    with pytest.raises(ParameterError, match=r'method = "scipy-LSODA" gives values without derivatives, which a fit needs. Remove it'):
        fit({key: value for key, value in study.items() if key != "simulate"}, table)
    put = problem(study, table)
    with pytest.raises(SolveError, match="outside of jit, vmap and grad only"):
        jax.jit(predict)(put.model, put.parameters, put.lanes)
    assert any(line.startswith("scipy-LSODA integrates for kinetix simulate") for line in check_problem(put))


def test_what_cannot_be_is_told():
    with pytest.raises(InputError, match=r"expected scipy-LSODA, scipy-Radau, scipy-BDF or diffrax-Kvaerno5.*Did you mean"):
        problem(batch(HALF_ORDER, solver={"method": "scipy-Radua"}))
    tank = {
        "reactions": {"r1": {"equation": "A -> B", "k": "1 1/s"}},
        "reactor": {"type": "cstr"},
        "conditions": {"feed": {"A": "1 mol/L", "B": "0 mol/L"}, "tau": "1 s"},
    }
    with pytest.raises(InputError, match="method: for reactors that are integrated; a cstr reactor is not"):
        problem({**tank, "solver": {"method": "scipy-LSODA"}})
    with pytest.raises(InputError, match="this model has none"):
        cross_check(problem(tank), "scipy-LSODA")


@pytest.mark.skipif(importlib.util.find_spec("diffrax") is not None, reason="diffrax is installed")
def test_a_missing_package_is_named_with_its_command():
    with pytest.raises(InputError, match=r"needs diffrax, which is not installed. Run: pip install diffrax"):
        simulate(batch(HALF_ORDER, solver={"method": "diffrax-Kvaerno5"}))


def test_the_largest_difference_is_told_with_its_place():
    (line,) = cross_check(problem(batch(HALF_ORDER), responses=all_responses), "scipy-Radau")
    assert line.startswith("cross-check: Rodas5P at rtol 1e-08 is at most ")
    assert " tolerances away from scipy-Radau: " in line and line.endswith(" s; 1 experiment compared")
    loose, strict = (
        float(cross_check(problem(batch(HALF_ORDER, solver={"rtol": rtol}), responses=all_responses), "scipy-Radau")[0].split()[8])
        for rtol in (1e-3, 1e-8)
    )
    assert 0 < loose < 10 and 0 < strict < 10


def test_a_method_that_fails_is_told():
    lines = cross_check(problem(batch(HALF_ORDER, solver={"max_steps": 12}), responses=all_responses), "scipy-BDF")
    assert any(line.startswith("cross-check: Rodas5P failed in 1 experiment (step limit)") for line in lines)
