"""Stirred tank over time: closed forms, its end against the steady tank, a program of temperature against SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetix.reactors import CSTR, TRANSIENT_CSTR
from kinetix.status import Status
from tests.reactors.contents import OPTIONS, constant_at, filled, kinetics, solved, thermal

pytestmark = pytest.mark.usefixtures("x64")

TIMES = np.array([0.0, 5.0, 20.0, 60.0, 200.0])


def test_first_order_from_any_start():
    """A = A_s + (A_0 - A_s) exp(-(1/tau + k) t), A_s = A_feed/(1 + k tau)."""
    k, tau = 0.02, 40.0
    states = solved(
        TRANSIENT_CSTR, "A -> B", thermal((k, 0.0)), T=350.0, tau=tau, times=TIMES, feed=filled(1000.0, 0.0), initial=filled(100.0, 30.0)
    )
    steady, total = 1000 / (1 + k * tau), 1000 + (130 - 1000) * np.exp(-TIMES / tau)
    A = steady + (100 - steady) * np.exp(-(1 / tau + k) * TIMES)
    np.testing.assert_allclose(states.c[:, :2], np.stack([A, total - A], axis=1), rtol=1e-8)
    assert Status(int(states.status)) is Status.SUCCESS


def test_in_the_end_it_is_the_steady_tank():
    constants, text, feed = thermal((0.05, 60e3), (3e-5, 40e3)), "A -> B; 2 B -> C", filled(1000.0, 0.0, 0.0)
    states = solved(TRANSIENT_CSTR, text, constants, T=345.0, tau=30.0, times=[0.0, 3e3], feed=feed, initial=filled(0.0, 500.0, 0.0))
    steady = solved(CSTR, text, constants, T=345.0, tau=30.0, times=[0.0], feed=feed)
    np.testing.assert_allclose(states.c[-1], steady.c[0], rtol=1e-8, atol=1e-8)


def test_a_program_of_temperature_against_scipy():
    nodes, temperatures = np.array([0.0, 20.0, 60.0]), np.array([330.0, 360.0, 345.0])
    initial, feed = np.array([100.0, 50.0]), np.array([1000.0, 0.0])
    program = {"program_times": nodes, "program_T": temperatures}
    states = solved(
        TRANSIENT_CSTR, "2 A -> B", thermal((3e-5, 80e3)), tau=25.0, times=TIMES, feed=filled(*feed), initial=filled(*initial), **program
    )

    def slopes(t, c):
        r = constant_at(3e-5, 80e3, np.interp(t, nodes, temperatures)) * c[0] ** 2
        return (feed - c) / 25 + np.array([-2 * r, r])

    followed = solve_ivp(slopes, (0, TIMES[-1]), initial, method="Radau", rtol=1e-11, atol=1e-9, t_eval=TIMES, max_step=1.0).y.T
    np.testing.assert_allclose(states.c[:, :2], followed, rtol=1e-7)


def test_derivatives_against_differences():
    inside = kinetics("2 A -> B")

    def last(x):
        k, tau, A, fed, t = x
        zero = 0 * A
        lane = {
            "atol": jnp.asarray(1e-10),
            "T": jnp.asarray(350.0),
            "times": jnp.stack([zero, t]),
            "tau": tau,
            "initial": jnp.stack([A, zero, zero, zero]),
            "feed": jnp.stack([fed, zero, zero, zero]),
        }
        return TRANSIENT_CSTR.solve(inside, thermal((1.0, 0.0))._replace(reference=k[None]), lane, OPTIONS).c[-1, :2]

    x = jnp.asarray([3e-5, 40.0, 100.0, 1000.0, 30.0])
    forward = jax.jacfwd(last)(x)
    np.testing.assert_allclose(forward, jax.jacrev(last)(x), rtol=1e-9)
    for i in range(5):
        h = jnp.zeros(5).at[i].set(1e-4 * x[i])
        np.testing.assert_allclose(forward[:, i], (last(x + h) - last(x - h)) / (2 * h[i]), rtol=1e-5)
