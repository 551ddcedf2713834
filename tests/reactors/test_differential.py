"""Differential reactor: rates of reactions and species at given concentrations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kinetix.reactors import DIFFERENTIAL
from kinetix.status import Status
from tests.reactors.contents import constant_at, filled, solved, thermal
from tests.reference.studies import simulate, simulated, unit


@pytest.mark.usefixtures("x64")
def test_states_are_what_was_given():
    states = solved(DIFFERENTIAL, "A -> B", thermal((0.02, 60e3)), T=340.0, concentrations=filled(300.0, 5.0))
    np.testing.assert_array_equal(states.c, [[300.0, 5.0, 0.0, 0.0]])
    assert_allclose(states.constants, [[constant_at(0.02, 60e3, 340.0)]], rtol=1e-14)
    assert Status(int(states.status)) is Status.SUCCESS and int(states.steps) == 0


def test_rates_of_reactions_and_of_species():
    """rate[r] is the rate of the event as written, rate[A] the sum over reactions of nu_A r."""
    study = {
        "reactions": {
            "r1": {"equation": "2 A -> B", "k": "0.3 L/mol/min"},
            "r2": {"equation": "A + B -> C", "A": "1e6 L/mol/min", "Ea": "45 kJ/mol"},
        },
        "reactor": {"type": "differential"},
        "responses": {"consumption": "-rate[A]", "share": "rate[r1]/(rate[r1] + rate[r2])"},
    }
    table = "T [K],A [mol/L],B [mol/L]\n330,0.5,0.2\n350,0.4,0.1\n350,0,0\n"
    result = simulate(study, table)
    T, A, B = np.array([330.0, 350.0, 350.0]), np.array([0.5, 0.4, 0.0]), np.array([0.2, 0.1, 0.0])
    r1, r2 = 0.3 / 60 * A**2, 1e6 / 60 * np.exp(-45e3 / 8.31446261815324 / T) * A * B
    assert unit(result, "rate[r1]") == "mol/L/s"
    assert_allclose(simulated(result, "rate[r1]")[:, 0], r1, rtol=1e-12)
    assert_allclose(simulated(result, "rate[r2]")[:, 0], r2, rtol=1e-12)
    assert_allclose(simulated(result, "consumption")[:, 0], 2 * r1 + r2, rtol=1e-12)
    assert_allclose(simulated(result, "share")[:2, 0], r1[:2] / (r1 + r2)[:2], rtol=1e-12)


def test_a_species_that_no_rate_needs_may_be_missing():
    study = {"reactions": {"r1": {"equation": "A -> B", "k": "0.3 1/min"}}, "reactor": {"type": "differential"}}
    assert_allclose(simulated(simulate(study, "A [mol/L]\n0.5\n"), "rate[r1]"), 0.3 / 60 * 0.5)


def test_nothing_but_concentrations_is_needed():
    assert DIFFERENTIAL.lane_conditions({"T": np.ones(2)}) == {}
