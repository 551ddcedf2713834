"""Simulations against closed forms: what is not measured still comes in its own unit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.reference.studies import simulate, simulated, unit


def test_conversion_in_a_tank_is_a_pure_number():
    """X = k tau/(1 + k tau)."""
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": "0.5 1/min"}},
        "reactor": {"type": "cstr"},
        "conditions": {"tau": "4 min", "feed": {"A": "2 mol/L", "B": "0 mol/L"}},
        "responses": {"conversion": "1 - [A]/feed[A]", "rate": "rate[r1]"},
    }
    result = simulate(study)
    assert (unit(result, "conversion"), unit(result, "rate")) == ("1", "mol/L/s")
    assert_allclose(simulated(result, "conversion"), 2 / 3, rtol=1e-12)
    assert_allclose(simulated(result, "rate"), 0.5 / 60 * 2 / 3, rtol=1e-12)


@pytest.mark.parametrize("named", [False, True], ids=["own constant", "named constant"])
def test_a_fractional_order_in_a_batch(named):
    """dc/dt = -k c^1.5 with c in mol/L: 1/sqrt(c) = 1/sqrt(c0) + k t/2."""
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": "k1" if named else "0.1 mol/L/s", "orders": {"A": 1.5}}},
        **({"parameters": {"k1": "0.1 mol/L/s"}} if named else {}),
        "reactor": {"type": "batch"},
        "initial": {"A": "4 mol/L", "B": "0 mol/L"},
        "simulate": {"times": "0:30:7 s"},
    }
    result = simulate(study)
    t = result["simulation"]["t"].values
    assert_allclose(simulated(result, "A"), (0.5 + 0.05 * t) ** -2.0, rtol=1e-7)
    assert result["parameters"]["parameter"].values.tolist() == ["k1" if named else "r1.k"]  # neither c_ref nor the known order


def test_an_explicit_model_in_units():
    result = simulate({"model": {"y": "a*x"}, "parameters": {"a": "3 L/mol/s"}, "data": {"columns": {"x": "c [mmol/L]"}}}, "c\n1\n2\n")
    assert unit(result, "y") == "1/s"
    assert_allclose(simulated(result, "y")[:, 0], np.array([3e-3, 6e-3]), rtol=1e-12)
