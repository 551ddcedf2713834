"""Absolute tolerances by species: what their scales are, and that traces are followed to the relative tolerance."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from kinetix.errors import InputError
from kinetix.network import parse_network
from kinetix.studies.tolerances import SHARE, TRACE, absolute_tolerances, scales
from tests.reference.studies import problem, simulate, simulated

NOBODY = np.zeros(4, dtype=bool)


def one(*amounts):
    return [np.array([[*amounts, *np.zeros(4 - len(amounts))]], dtype=float)]


def batch(reactions, initial, times, **more):
    return {
        "reactions": reactions,
        "reactor": {"type": "batch"},
        "initial": {**initial, "default": "0 mol/m^3"},
        "simulate": {"times": times},
        **more,
    }


def test_what_is_there_counts_with_its_amount_and_what_forms_with_a_trace_of_the_most():
    """Of 2 A -> B no more than half as much B can form."""
    assert_allclose(scales(parse_network("2 A -> B"), one(3.0, 0.0), NOBODY)[0, :2], [3.0, TRACE * 1.5])


def test_a_complex_is_bounded_by_its_enzyme():
    network = parse_network("E + S <=> ES; ES -> E + P")
    assert network.species == ("E", "S", "ES", "P")
    assert_allclose(scales(network, one(1e-6, 2.0, 0.0, 0.0), NOBODY)[0], [1e-6, 2.0, TRACE * 1e-6, TRACE * 2.0])


def test_a_placeholder_amount_is_no_scale():
    assert_allclose(scales(parse_network("A -> B"), one(1.0, 1e-30), NOBODY)[0, 1], TRACE)


def test_what_no_total_bounds_and_what_is_estimated_count_with_the_experiment():
    assert_allclose(scales(parse_network("A -> 2 A; A -> B + A"), one(2.0, 0.0), NOBODY)[0, :2], [2.0, TRACE * 2.0])
    estimated = np.array([False, True, False, False])
    assert_allclose(scales(parse_network("A -> B"), one(2.0, 0.0), estimated)[0, :2], [2.0, 2.0])


def test_each_experiment_and_feed_and_start_count():
    feed, initial = np.array([[1.0, 0, 0, 0], [0.0, 0, 0, 0]]), np.array([[0.0, 0, 0, 0], [5.0, 0, 0, 0]])
    assert_allclose(scales(parse_network("A -> B"), [feed, initial], NOBODY)[:, :2], [[1.0, TRACE], [5.0, TRACE * 5.0]])


def test_the_users_own():
    network = parse_network("A -> B")
    assert_allclose(absolute_tolerances(network, one(1.0), NOBODY, 1e-8, 1e-5), np.full((1, 4), 1e-5))
    found = absolute_tolerances(network, one(1.0), NOBODY, 1e-8, {"B": 1e-20})
    assert_allclose(found[0, :2], [SHARE * 1e-8, 1e-20])


@pytest.mark.parametrize(
    "atol, words",
    [
        ({"X": "1e-9 mol/L"}, "atol: 'X' is no species"),
        ({"B": "1e-9 1/s"}, "atol.B"),
        ({"B": "0 mol/L"}, "atol.B is 0 mol/m^3: expected a concentration above 0"),
    ],
)
def test_what_is_wrong_in_it_is_told(atol, words):
    with pytest.raises(InputError, match=re.escape(words)):
        problem(batch({"r1": {"equation": "A -> B", "k": "1 1/s"}}, {"A": "1 mol/L"}, ["1 s"], solver={"atol": atol}))


def against_radau(study, rates, y0, times):
    """Relative differences to Radau at rtol 1e-12, each species by name."""
    reference = solve_ivp(rates, (0, times[-1]), y0, method="Radau", t_eval=times, rtol=1e-12, atol=1e-30)
    assert reference.success
    found = simulate(study)
    return {
        name: simulated(found, name)[0] / values - 1
        for name, values in zip(found["simulation"]["response"].values, reference.y, strict=True)
    }


def test_the_intermediate_of_robertson_is_followed_to_the_tolerance():
    """B is at most 3.65e-5 of the total, and 1e-9 of it late; SciPy Radau at rtol 1e-12 is the reference."""
    reactions = {
        "r1": {"equation": "A -> B", "k": "0.04 1/s"},
        "r2": {"equation": "B + B -> B + C", "k": "3e7 m^3/mol/s"},
        "r3": {"equation": "B + C -> A + C", "k": "1e4 m^3/mol/s"},
    }

    def rates(t, y):
        r1, r2, r3 = 0.04 * y[0], 3e7 * y[1] ** 2, 1e4 * y[1] * y[2]
        return [r3 - r1, r1 - r2 - r3, r2]

    times = np.array([1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6])
    study = batch(reactions, {"A": "1 mol/m^3"}, [f"{t:g} s" for t in times])
    for name, errors in against_radau(study, rates, [1.0, 0.0, 0.0], times).items():
        assert np.abs(errors).max() < 1e-7, name


def test_a_radical_of_a_billionth_is_followed_to_the_tolerance():
    """I -> 2 R, R + M -> R + P, 2 R -> D: in quasi steady state R = sqrt(k I/kt) = 1e-9 of I.

    With one absolute tolerance of 1e-11 of the total, R and all that it makes were wrong by 1e-5.
    """
    reactions = {
        "i": {"equation": "I -> R + R", "k": "1e-9 1/s"},
        "p": {"equation": "R + M -> R + P", "k": "1e3 m^3/mol/s"},
        "t": {"equation": "R + R -> D", "k": "1e9 m^3/mol/s"},
    }

    def rates(t, y):
        initiator, radical, monomer = y[:3]
        i, p, t = 1e-9 * initiator, 1e3 * radical * monomer, 1e9 * radical**2
        return [-i, 2 * i - 2 * t, -p, p, t]

    times = np.array([1e-2, 1.0, 1e3, 1e5])
    study = batch(reactions, {"I": "1 mol/m^3", "M": "1 mol/m^3"}, [f"{t:g} s" for t in times])
    found = against_radau(study, rates, [1.0, 0, 1.0, 0, 0], times)
    assert simulated(simulate(study), "R")[0, 2] < 2e-9
    for name, errors in found.items():
        assert np.abs(errors).max() < 2e-8, name
