"""What the user gave no unit of his own is told in the units of his data, and amounts are not found below zero."""

import numpy as np
import pytest

from kinetix.parameters import Reporting
from kinetix.simulation import all_responses
from kinetix.studies import fit_problem, simulate_problem
from kinetix.units import AMOUNT, CONCENTRATION, DIMENSIONLESS, MOLAR_ENERGY, RATE, TEMPERATURE, TIME, VOLUME, parse_quantity
from tests.reference.studies import problem

SECOND_ORDER = VOLUME / AMOUNT / TIME


@pytest.mark.parametrize(
    ("concentration", "time", "dimension", "unit"),
    [
        ("mol/L", "h", SECOND_ORDER, "L/mol/h"),
        ("mol/m^3", "min", SECOND_ORDER, "m^3/mol/min"),
        ("mol/m3", "min", SECOND_ORDER, "m^3/mol/min"),
        ("mmol/L", "s", SECOND_ORDER, "L/mmol/s"),
        ("M", "s", SECOND_ORDER, "L/mol/s"),
        ("mM", "min", RATE, "mol/m^3/min"),
        ("mol/m^3", "h", CONCENTRATION**-2 / TIME, "m^6/mol^2/h"),
        ("mmol/L", "h", CONCENTRATION, "mmol/L"),
        ("mmol/L", "h", TIME, "h"),
        ("mmol/L", "h", DIMENSIONLESS / TIME, "1/h"),
        ("mmol/L", "h", MOLAR_ENERGY, "kJ/mol"),
        ("mmol/L", "h", TEMPERATURE, "K"),
        ("mmol/L", "h", DIMENSIONLESS, "-"),
        ("mol/L", "h", CONCENTRATION**-0.5 / TIME, "L^0.5/mol^0.5/h"),
    ],
)
def test_units_are_made_of_those_of_the_data(concentration, time, dimension, unit):
    found = Reporting(concentration, time).unit(dimension)
    assert (found.text, found.dimension) == (unit, dimension)


def units(given):
    return {p.name: p.unit.text for p in given.table.parameters}


def batch(**change):
    study = {
        "reactions": {"r1": {"equation": "2 A -> B", "k": {}}, "r2": {"equation": "B -> C", "k": {}}},
        "reactor": {"type": "batch"},
        "initial": {"A": {}, "default": "0 mol/L"},
    }
    return {**study, **change}


def test_found_constants_of_a_batch():
    given = problem(batch(), "time [h],A [mol/m^3]\n0,1000\n1,700\n2,500\n", responses=all_responses)
    assert units(given) == {"r1.k": "m^3/mol/h", "r2.k": "1/h", "initial.A": "mol/m^3"}
    assert [unit.text for unit in given.units] == ["mol/m^3"] * 3


def test_found_constants_of_a_tank_with_volume_and_flow():
    study = {
        "reactions": {"r1": {"equation": "2 A -> B", "k": {}}},
        "reactor": {"type": "cstr"},
        "conditions": {"V": "2 m^3", "feed": {"A": "1 kmol/m^3", "default": "0 mol/L"}},
    }
    assert units(problem(study, "Q [m^3/min],A [kmol/m^3]\n1,0.5\n2,0.7\n")) == {"r1.k": "m^3/kmol/min"}


def test_amounts_say_the_unit_where_the_data_do_not():
    study = batch(initial={"A": "2 mmol/L", "default": "0 mol/L"}, responses={"X": "1 - [A]/initial[A]"})
    assert units(problem(study, "time [min],X [%]\n1,20\n2,30\n")) == {"r1.k": "L/mmol/min", "r2.k": "1/min"}


def test_a_unit_of_the_users_own_is_kept():
    study = batch(initial={"A": {"unit": "mol/L"}, "default": "0 mol/L"})
    study["reactions"]["r1"]["k"] = {"bounds": ["1e-9 L/mol/s", "1 L/mol/s"]}
    found = units(problem(study, "time [h],A [mol/m^3]\n0,1000\n1,700\n2,500\n"))
    assert found == {"r1.k": "L/mol/s", "r2.k": "1/h", "initial.A": "mol/L"}


def test_a_fitted_order_refers_to_the_unit_of_its_rate_constant():
    study = batch(initial={"A": "1 mol/L", "default": "0 mol/L"})
    study["reactions"]["r1"]["orders"] = {"A": {"start": 1.5}}
    assert units(problem(study, "time [h],A [mol/m^3]\n0,1000\n1,700\n2,500\n"))["r1.k"] == "mol/L/h"  # c_ref = 1 mol/L


@pytest.mark.parametrize(
    ("reactor", "unit", "header", "words"),
    [
        ({"basis": "catalyst_mass", "amounts": "partial_pressure"}, "mol/kg/s", "p_A [bar]", "p[A] = 1 bar"),
        ({"basis": "catalyst_mass"}, "mol/kg/s", "A [mol/L]", "[A] = 1 mol/L"),
        ({}, "mmol/L/s", "A [mmol/L]", "[A] = 1 mmol/L"),
    ],
)
def test_a_rate_constant_of_fitted_orders_says_where_it_is_the_rate(reactor, unit, header, words):
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": {"start": f"0.1 {unit}"}, "orders": {"A": {"start": 1}}}},
        "reactor": {"type": "differential", **reactor},
        "conditions": {"T": "500 K"},
    }
    table = f"{header},rate [{unit}]\n" + "".join(f"{a},{0.15 * a**0.7:.9g}\n" for a in (0.5, 1, 2, 4))
    built = problem(study, table)
    assert f"r1: k is the rate where {words} (c_ref)" in built.campaign.notes
    assert fit_problem(built).values_si[0] == pytest.approx(parse_quantity(f"0.15 {unit}").si, rel=1e-6)
    del study["reactions"]["r1"]["orders"]
    study["reactions"]["r1"]["k"] = {}
    assert not any("c_ref" in note for note in problem(study, table).campaign.notes)


def test_a_simulation_speaks_the_units_it_was_asked_in():
    study = batch(initial={"A": "2 mol/m^3", "default": "0 mol/m^3"}, simulate={"times": "0:2:3 h"})
    study["reactions"] = {"r1": {"equation": "A -> B", "k": "0.5 1/h"}}
    simulated = simulate_problem(problem(study, responses=all_responses))["simulation"].to_dataset()
    assert simulated["t"].attrs["units"] == "h" and set(simulated["unit"].values) == {"mol/m^3"}
    np.testing.assert_allclose(simulated["t"].values[0], [0, 1, 2])
    np.testing.assert_allclose(simulated["predicted"].sel(response="A").values[0], 2 * np.exp([0, -0.5, -1]), rtol=1e-7)


@pytest.mark.parametrize("number", [{}, {"start": "1 mol/L"}, {"unit": "mmol/L"}])
@pytest.mark.parametrize("stem", ["initial", "feed"])
def test_amounts_are_not_found_below_zero(stem, number):
    study = batch(initial={"A": number, "default": "0 mol/L"})
    table = "time [h],A [mol/L]\n0,1\n1,0.7\n"
    if stem == "feed":
        study = batch(initial={}, conditions={"feed": {"A": number, "default": "0 mol/L"}}, reactor={"type": "cstr"})
        table = "tau [h],A [mol/L]\n1,1\n2,0.7\n"
    (amount,) = [p for p in problem(study, table).table.parameters if p.name == f"{stem}.A"]
    assert amount.lower == 0.0 and amount.scale == "linear"


def test_a_lower_bound_of_the_users_own_stays():
    study = batch(initial={"A": {"bounds": ["0.1 mol/L", "2 mol/L"]}, "default": "0 mol/L"})
    (amount,) = [p for p in problem(study, "time [h],A [mol/L]\n0,1\n1,0.7\n").table.parameters if p.name == "initial.A"]
    assert (amount.lower, amount.upper) == (100.0, 2000.0)
