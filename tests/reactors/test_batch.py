"""Batch reactor: closed forms at constant temperature; programmed temperature against quadrature and SciPy."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from kinetix.network import parse_network, stack_laws
from kinetix.rates import mass_action
from kinetix.reactors import BATCH
from kinetix.status import Status
from tests.reactors.contents import OPTIONS, constant_at, filled, solved, thermal

pytestmark = pytest.mark.usefixtures("x64")

TIMES = np.array([0.0, 5.0, 5.0, 20.0, 100.0, 100.0])
NODES = np.array([0.0, 10.0, 25.0, 60.0, 60.0])  # the last one is padding
TEMPERATURES = np.array([330.0, 345.0, 345.0, 360.0, 360.0])


def temperature(t):
    return np.interp(t, NODES, TEMPERATURES)


def test_first_order_chain():
    """A -> B -> C: Levenspiel (1999), equations 3.47 and 3.49; repeated times give repeated states."""
    k1, k2 = constant_at(0.05, 60e3, 340.0), constant_at(0.02, 40e3, 340.0)
    states = solved(BATCH, "A -> B; B -> C", thermal((0.05, 60e3), (0.02, 40e3)), T=340.0, times=TIMES, initial=filled(1000.0, 0.0, 0.0))
    A = 1000 * np.exp(-k1 * TIMES)
    B = 1000 * k1 / (k2 - k1) * (np.exp(-k1 * TIMES) - np.exp(-k2 * TIMES))
    np.testing.assert_allclose(states.c[:, :3], np.stack([A, B, 1000 - A - B], axis=1), rtol=1e-8, atol=1e-6)
    np.testing.assert_array_equal(states.T, 340.0)
    np.testing.assert_allclose(states.constants, np.tile([k1, k2], (len(TIMES), 1)), rtol=1e-13)
    assert Status(int(states.status)) is Status.SUCCESS


def test_second_order():
    """2 A -> B: 1/A = 1/A0 + 2 k t."""
    states = solved(BATCH, "2 A -> B", thermal((1e-4, 0.0)), T=350.0, times=TIMES, initial=filled(2000.0, 0.0))
    np.testing.assert_allclose(states.c[:, 0], 1 / (1 / 2000 + 2e-4 * TIMES), rtol=1e-9)


def programmed(text, constants, *initial, nodes=NODES, temperatures=TEMPERATURES, times=TIMES):
    return solved(BATCH, text, constants, program_times=nodes, program_T=temperatures, times=times, initial=filled(*initial))


def test_first_order_in_a_measured_temperature_against_quadrature():
    """A = A0 exp(-int k(T(t)) dt), the integral by adaptive quadrature between the nodes."""
    states = programmed("A -> B", thermal((0.02, 90e3)), 1000.0, 0.0)

    def integral(t):
        return quad(lambda s: float(constant_at(0.02, 90e3, temperature(s))), 0, t, points=NODES[1:4], epsabs=0, epsrel=1e-12)[0]

    np.testing.assert_allclose(states.c[:, 0], [1000 * np.exp(-integral(t)) for t in TIMES], rtol=1e-8)
    np.testing.assert_allclose(states.T, temperature(TIMES), rtol=1e-14)
    np.testing.assert_allclose(states.constants[:, 0], constant_at(0.02, 90e3, temperature(TIMES)), rtol=1e-13)


def test_network_in_a_measured_temperature_against_scipy():
    """A + B -> C, 2 C -> D between nodes, each stretch integrated by Radau to 1e-11."""
    constants = thermal((3e-5, 90e3), (5e-5, 50e3))
    states = programmed("A + B -> C; 2 C -> D", constants, 1000.0, 700.0, 0.0, 0.0)

    def rates(t, c):
        r1 = constant_at(3e-5, 90e3, temperature(t)) * c[0] * c[1]
        r2 = constant_at(5e-5, 50e3, temperature(t)) * c[2] ** 2
        return [-r1, -r1, r1 - 2 * r2, r2]

    c, expected = np.array([1000.0, 700.0, 0.0, 0.0]), {0.0: np.array([1000.0, 700.0, 0.0, 0.0])}
    stops = np.unique([*NODES, *TIMES])
    for begin, end in pairwise(stops):
        c = solve_ivp(rates, (begin, end), c, method="Radau", rtol=1e-11, atol=1e-9).y[:, -1]
        expected[end] = c
    np.testing.assert_allclose(states.c, [expected[t] for t in TIMES], rtol=1e-7, atol=1e-5)


def test_a_jump_of_temperature_is_no_obstacle():
    """Two nodes at one time: exactly k(330 K) before and k(360 K) after it."""
    jump = {"nodes": np.array([0.0, 30.0, 30.0, 90.0]), "temperatures": np.array([330.0, 330.0, 360.0, 360.0])}
    states = programmed("A -> B", thermal((0.02, 90e3)), 1000.0, 0.0, times=np.array([0.0, 30.0, 60.0]), **jump)
    before, after = constant_at(0.02, 90e3, 330.0), constant_at(0.02, 90e3, 360.0)
    np.testing.assert_allclose(states.c[:, 0], 1000 * np.exp([0.0, -30 * before, -30 * before - 30 * after]), rtol=1e-9)


def test_a_program_of_one_temperature_equals_constant_temperature():
    constants = thermal((0.05, 60e3), (0.02, 40e3))
    flat = programmed("A -> B; B -> C", constants, 1000.0, 0.0, 0.0, temperatures=np.full(5, 340.0))
    constant = solved(BATCH, "A -> B; B -> C", constants, T=340.0, times=TIMES, initial=filled(1000.0, 0.0, 0.0))
    np.testing.assert_allclose(flat.c, constant.c, rtol=1e-9, atol=1e-9)


def test_derivatives_by_the_nodes_of_a_program():
    """d A/d T_j = -A int k Ea/(R T^2) w_j dt, w_j the hat function of node j, by quadrature."""

    def last(temperatures):
        return programmed("A -> B", thermal((0.02, 90e3)), 1000.0, 0.0, temperatures=temperatures, times=[0.0, 50.0]).c[-1, 0]

    slopes = jax.jit(jax.grad(last))(jnp.asarray(TEMPERATURES))

    def weighted(j):
        hat = np.eye(4)[j]

        def slope(t):
            T = temperature(t)
            return float(constant_at(0.02, 90e3, T)) * 90e3 / 8.31446261815324 / T**2 * np.interp(t, NODES[:4], hat)

        return quad(slope, 0, 50, points=NODES[1:3], epsabs=0, epsrel=1e-11)[0]

    A = float(last(jnp.asarray(TEMPERATURES)))
    np.testing.assert_allclose(slopes[:4], [-A * weighted(j) for j in range(4)], rtol=1e-6)


def test_a_closed_reactor_needs_no_condition():
    assert BATCH.lane_conditions({"T": np.ones(2), "P": np.ones(2)}) == {}


def test_a_rate_of_order_zero_fails_once_its_reactant_is_used_up():
    """c = c0 - k t up to t = c0/k; what comes after has no meaning, so it is no number."""
    network = parse_network("A -> B", formulas=False)
    contents = stack_laws([mass_action.law({"A": 0})], network.stoichiometry, network.species, lambda i, name: i)[0]
    times = jnp.array([0.0, 50.0, 100.0, 101.0, 150.0])

    def solve(k):
        lane = {"atol": jnp.asarray(1e-10), "T": jnp.asarray(350.0), "initial": jnp.asarray(filled(1000.0, 0.0)), "times": times}
        return BATCH.solve(contents, thermal((k, 0.0)), lane, OPTIONS)

    states = solve(10.0)
    np.testing.assert_allclose(states.c[:3, 0], [1000.0, 500.0, 0.0], atol=1e-6)
    assert np.all(np.isnan(states.c[3:]))
    assert Status(int(states.status)) is Status.BELOW_ZERO
