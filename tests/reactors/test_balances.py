"""Material balances term by term: values by hand, Jacobians by differentiation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.rates import constants_at
from kinetix.reactors.balances import Contents, Flow, closed, closed_jacobian, through_flow, through_flow_jacobian
from kinetix.reactors.energy import Isothermal, Programmed
from tests.reactors.contents import constant_at, filled, kinetics, thermal

pytestmark = pytest.mark.usefixtures("x64")

CONSTANTS = thermal((0.02, 50e3), (3e-5, 80e3))
TEXT = "A -> B; 2 B -> C"


def contents(energy):
    return Contents(kinetics(TEXT), energy)


def isothermal(T=340.0):
    T = jnp.asarray(T)
    return Isothermal(T, constants_at(CONSTANTS, T))


def test_a_closed_reactor_by_hand():
    k1, k2 = constant_at(0.02, 50e3, 340.0), constant_at(3e-5, 80e3, 340.0)
    A, B = 300.0, 200.0
    change = closed(jnp.asarray(0.0), filled(A, B, 5.0), contents(isothermal()))
    np.testing.assert_allclose(change, [-k1 * A, k1 * A - 2 * k2 * B**2, k2 * B**2, 0.0], rtol=1e-13)


def test_a_flow_adds_what_comes_in_and_goes_out():
    c, feed = filled(300.0, 200.0, 5.0), filled(1000.0, 0.0, 1.0)
    inside = contents(isothermal())
    change = through_flow(jnp.asarray(0.0), c, Flow(inside, jnp.asarray(50.0), feed))
    np.testing.assert_allclose(change - closed(jnp.asarray(0.0), c, inside), (feed - c) / 50, rtol=1e-12)


@pytest.mark.parametrize(
    "energy",
    [isothermal, lambda: Programmed(jnp.asarray([0.0, 10.0]), jnp.asarray([330.0, 350.0]), CONSTANTS)],
    ids=["isothermal", "programmed"],
)
def test_jacobians(energy):
    t, c, inside = jnp.asarray(4.0), filled(300.0, 200.0, 5.0), contents(energy())
    flow = Flow(inside, jnp.asarray(50.0), filled(1000.0, 0.0, 1.0))
    for balance, jacobian, args in ((closed, closed_jacobian, inside), (through_flow, through_flow_jacobian, flow)):
        exact = jax.jacfwd(balance, argnums=1)(t, c, args)
        np.testing.assert_allclose(jacobian(t, c, args), exact, rtol=1e-13, atol=1e-15)
