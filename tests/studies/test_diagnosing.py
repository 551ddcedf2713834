"""Why an experiment could not be simulated: the species and the reaction that closed forms name."""

import re

import pytest

from kinetix.errors import SolveError
from kinetix.studies import check_problem
from tests.reference.studies import fit, problem, simulate

SOLVER = {"max_steps": 6}


def batch(reactions, initial, **more):
    return {"reactions": reactions, "reactor": {"type": "batch"}, "initial": {**initial, "default": "0 mol/L"}, **more}


def why(study, *tables):
    return simulate(study, *tables)["simulation"]["why"].values.tolist()


TIMES = {"times": ["0 s", "10 s"]}
FAST_AND_SLOW = {"fast": {"equation": "B -> D", "k": "1e6 1/s"}, "slow": {"equation": "A -> C", "k": "0.1 1/s"}}


def test_the_step_limit_names_the_fast_species_and_its_time_scale():
    (said,) = why(batch(FAST_AND_SLOW, {"A": "1 mol/L", "B": "1 mol/L"}, simulate=TIMES, solver=SOLVER))
    assert re.fullmatch(r"the largest error is in [BD]; the fastest reaction there is fast \(time scale 1e-06 s\)", said)


def test_an_experiment_that_is_well_has_nothing_to_say():
    assert why(batch(FAST_AND_SLOW, {"A": "1 mol/L", "B": "1 mol/L"}, simulate=TIMES)) == [""]


def test_the_time_scale_of_a_second_order_reaction():
    """r = k c^2 of 2 A -> B alone relaxes with |nu dr/dc| = 4 k c; at 1e-3 of its own time c is still c0."""
    reactions = {"r1": {"equation": "2 A -> B", "k": "50 L/mol/s"}, "r2": {"equation": "B -> C", "k": "1e-3 1/s"}}
    (said,) = why(batch(reactions, {"A": "2 mol/L"}, simulate={"times": ["0 s", "10 s"]}, solver={"max_steps": 1}))
    assert float(re.search(r"fastest reaction there is r1 \(time scale (\S+) s\)", said)[1]) == pytest.approx(1 / (4 * 50 * 2), rel=0.05)


def test_a_rate_that_is_not_finite_is_named():
    reactions = {
        "r1": {"equation": "A -> B", "k": "1 1/s"},
        "r2": {"equation": "A -> C", "rate": "k*[A]/[B]", "parameters": {"k": "1 mol/L/s"}},
    }
    (said,) = why(batch(reactions, {"A": "1 mol/L"}, simulate=TIMES))
    assert said == "the rate of r2 is not finite there"


def test_what_fell_below_zero_is_named_with_its_amount():
    reactions = {"r1": {"equation": "A -> B", "rate": "k", "parameters": {"k": "0.3 mol/L/s"}}, "r2": {"equation": "C -> D", "k": "1 1/s"}}
    (said,) = why(batch(reactions, {"A": "1 mol/L", "C": "1 mol/L"}, simulate=TIMES))
    assert re.match(r"A is -\S+ mol/L; the fastest reaction there is r2 \(time scale 1 s\)", said)


def test_a_row_of_the_data_is_named():
    table = "time [s],A [mol/L],B [mol/L]\n0,1,1\n1e-9,1,1\n10,0.4,0\n"
    (said,) = why(batch(FAST_AND_SLOW, {"A": "1 mol/L", "B": "1 mol/L"}, solver=SOLVER), table)
    assert said.startswith("stopped before line 4 of table1.csv; the largest error is in ")


def test_of_a_tube_the_row_and_the_part_of_the_way():
    study = {
        "reactions": FAST_AND_SLOW,
        "reactor": {"type": "plug_flow", "density": "constant"},
        "conditions": {"feed": {"A": "1 mol/L", "B": "1 mol/L", "default": "0 mol/L"}},
        "solver": {"max_steps": 12},
    }
    first, second = why(study, "tau [s],A [mol/L]\n1e-9,1\n10,0.4\n")
    assert first == ""
    assert re.match(r"line 3 of table1.csv; stopped after \S+ % of the way to the outlet; the largest error is in ", second)
    assert 0 < float(re.search(r"after (\S+) %", second)[1]) < 100


def test_only_the_first_few_are_looked_at():
    study = {
        "reactions": FAST_AND_SLOW,
        "reactor": {"type": "plug_flow", "density": "constant"},
        "conditions": {"feed": {"A": "1 mol/L", "B": "1 mol/L", "default": "0 mol/L"}},
        "solver": {"max_steps": 4},
    }
    said = why(study, "tau [s],A [mol/L]\n" + "10,0.4\n" * 7)
    assert [bool(one) for one in said] == [True] * 5 + [False] * 2


def test_with_an_energy_balance_the_temperature_is_an_entry_too():
    reactions = {"r1": {"equation": "A -> B", "k": {"start": "1e-3 1/s", "at": "300 K"}, "Ea": "90 kJ/mol", "dHr": "-300 kJ/mol"}}
    study = batch(
        reactions,
        {"A": "5 mol/L"},
        energy={"type": "adiabatic", "heat_capacity": "2 MJ/m^3/K"},
        conditions={"T_initial": "300 K"},
        simulate={"times": ["0 s", "1000 s"]},
        solver={"max_steps": 5},
    )
    (said,) = why(study)
    assert re.search(r"the largest error is in [ABT]; the fastest reaction there is r1 \(time scale \S+ s\)", said)


def test_fits_and_checks_say_it_too():
    study = batch(
        FAST_AND_SLOW | {"slow": {"equation": "A -> C", "k": {"start": "0.1 1/s"}}}, {"A": "1 mol/L", "B": "1 mol/L"}, solver=SOLVER
    )
    table = "time [s],A [mol/L]\n0,1\n10,0.4\n20,0.2\n"
    with pytest.raises(SolveError, match=r"line 3 of table1.csv; the largest error is in [BD]; the fastest reaction there is fast"):
        fit(study, table)
    assert any("the fastest reaction there is fast" in line for line in check_problem(problem(study, table)))
