"""Ideal tube: closed forms at constant density and of expanding gases, and a network against SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from kinetix.reactors import BATCH, PLUG_FLOW
from kinetix.reactors.plug_flow import solve_gas
from kinetix.status import Status
from tests.reactors.contents import OPTIONS, filled, kinetics, solved, thermal

pytestmark = pytest.mark.usefixtures("x64")


def liquid(text, constants, tau, *feed):
    return solved(PLUG_FLOW, text, constants, T=350.0, tau=tau, feed=filled(*feed), times=[0.0])


def gas(text, constants, tau, *feed):
    lane = {"atol": 1e-10, "T": 350.0, "tau": tau, "feed": filled(*feed), "times": [0.0]}
    return solve_gas(kinetics(text), constants, {name: jnp.asarray(value, float) for name, value in lane.items()}, OPTIONS)


@pytest.mark.parametrize("tau", [1e-3, 1.0, 60.0, 1e4])
def test_first_order_at_constant_density(tau):
    """c = c_feed exp(-k tau): Levenspiel (1999), equation 5.21."""
    states = liquid("A -> B", thermal((0.01, 0.0)), tau, 1000.0, 10.0)
    np.testing.assert_allclose(states.c[0, :2], [1000 * np.exp(-0.01 * tau), 1010 - 1000 * np.exp(-0.01 * tau)], rtol=1e-8, atol=1e-6)
    assert Status(int(states.status)) is Status.SUCCESS


def test_second_order_at_constant_density():
    """1/c = 1/c_feed + k tau, and 2 k tau for 2 A -> B, whose rate is that of the event."""
    np.testing.assert_allclose(liquid("2 A -> B", thermal((1e-4, 0.0)), 30.0, 2000.0, 0.0).c[0, 0], 1 / (1 / 2000 + 2e-4 * 30), rtol=1e-9)


def test_a_tube_of_constant_density_is_a_batch_of_feed():
    constants = thermal((0.05, 60e3), (3e-5, 40e3))
    batch = solved(BATCH, "A -> B; 2 B -> C", constants, T=350.0, times=[45.0], initial=filled(1000.0, 20.0, 0.0))
    np.testing.assert_allclose(liquid("A -> B; 2 B -> C", constants, 45.0, 1000.0, 20.0, 0.0).c, batch.c, rtol=1e-12)


@pytest.mark.parametrize(("text", "products", "inert"), [("A -> B", 1, 0), ("A -> 2 B", 2, 0), ("A -> 3 B", 3, 0), ("A -> 2 B", 2, 60)])
def test_first_order_of_a_gas_whose_moles_change(text, products, inert):
    """k tau = (1 + eps) ln(1/(1 - X)) - eps X with eps = y_A (products - 1): Levenspiel (1999), equation 5.21."""
    k, tau, A = 0.02, 60.0, 40.0
    text = f"{text}; inert -> other" if inert else text
    constants = thermal((k, 0.0), (1e-14, 0.0)) if inert else thermal((k, 0.0))
    states = gas(text, constants, tau, A, 0.0, *([inert, 0.0] if inert else []))
    eps = (products - 1) * A / (A + inert)
    X = brentq(lambda X: (1 + eps) * np.log(1 / (1 - X)) - eps * X - k * tau, 0, 1 - 1e-12, xtol=1e-15)
    np.testing.assert_allclose(states.expansion[0], 1 + eps * X, rtol=1e-9)
    np.testing.assert_allclose(states.c[0, 0], A * (1 - X) / (1 + eps * X), rtol=1e-8)
    np.testing.assert_allclose(states.c[0].sum(), A + inert, rtol=1e-14)  # P/(R T) stays
    assert Status(int(states.status)) is Status.SUCCESS


def test_second_order_of_a_gas_whose_moles_change():
    """k c_feed tau = 2 eps (1 + eps) ln(1 - X) + eps^2 X + (1 + eps)^2 X/(1 - X): Levenspiel (1999), equation 5.23."""
    k, tau, A, eps = 2e-4, 100.0, 40.0, -0.5  # 2 A -> B; the rate of A is 2 k c^2
    states = gas("2 A -> B", thermal((k, 0.0)), tau, A, 0.0)

    def short(X):
        return 2 * eps * (1 + eps) * np.log(1 - X) + eps**2 * X + (1 + eps) ** 2 * X / (1 - X) - 2 * k * A * tau

    X = brentq(short, 0, 1 - 1e-12, xtol=1e-15)
    np.testing.assert_allclose(states.expansion[0], 1 + eps * X, rtol=1e-9)
    np.testing.assert_allclose(1 - states.expansion[0] * states.c[0, 0] / A, X, rtol=1e-8)


def test_a_network_of_a_gas_against_scipy():
    """A -> 2 B, A + B -> C over the volume, molar flows by Radau to 1e-11."""
    k1, k2, total, Q, V = 0.05, 1e-3, 70.0, 3e-4, 0.02
    feed = np.array([40.0, 0.0, 0.0, 30.0])
    states = gas("A -> 2 B; A + B -> C; D -> E", thermal((k1, 0.0), (k2, 0.0), (1e-14, 0.0)), V / Q, *feed, 0.0)

    def slopes(V, F):
        c = F / F.sum() * total
        r1, r2 = k1 * c[0], k2 * c[0] * c[1]
        return [-r1 - r2, 2 * r1 - r2, r2, 0.0]

    F = solve_ivp(slopes, (0, V), Q * feed, method="Radau", rtol=1e-11, atol=1e-16).y[:, -1]
    np.testing.assert_allclose(states.c[0, :4], F / F.sum() * total, rtol=1e-8)
    np.testing.assert_allclose(states.expansion[0], F.sum() / Q / total, rtol=1e-8)


@pytest.mark.parametrize("solve", [PLUG_FLOW.solve, solve_gas], ids=["constant", "ideal_gas"])
def test_derivatives_against_differences(solve):
    def outlet(x):
        k1, k2, tau, A = x
        lane = {"atol": jnp.asarray(1e-12), "T": jnp.asarray(350.0), "tau": tau, "feed": jnp.stack([A, 0 * A + 5.0, 0 * A, 0 * A])}
        states = solve(
            kinetics("A -> 2 B; 2 B -> C"), thermal((1.0, 0.0), (1.0, 0.0))._replace(reference=jnp.stack([k1, k2])), lane, OPTIONS
        )
        return jnp.concatenate([states.c[0, :3], jnp.broadcast_to(states.expansion, (1,))])

    x = jnp.asarray([0.02, 1e-3, 40.0, 30.0])
    forward, reverse = jax.jacfwd(outlet)(x), jax.jacrev(outlet)(x)
    np.testing.assert_allclose(forward, reverse, rtol=1e-10, atol=1e-12)
    for i in range(4):
        h = jnp.zeros(4).at[i].set(1e-4 * x[i])
        np.testing.assert_allclose(forward[:, i], (outlet(x + h) - outlet(x - h)) / (2 * h[i]), rtol=1e-6, atol=1e-7)
