"""Material balances term by term: values by hand, Jacobians by differentiation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.rates import Thermal, constants_at
from kinetix.reactors.balances import (
    Contents,
    Filling,
    Flow,
    Gas,
    Heated,
    HeatedFlow,
    along_gas,
    along_gas_jacobian,
    closed,
    closed_heated,
    closed_heated_jacobian,
    closed_jacobian,
    fed,
    fed_jacobian,
    through_flow,
    through_flow_heated,
    through_flow_heated_jacobian,
    through_flow_jacobian,
)
from kinetix.reactors.energy import Heat, Isothermal, Programmed
from kinetix.solvers.layouts import Layout
from kinetix.solvers.reading import read
from kinetix.solvers.scalars import entries, recorded
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
    filling = Filling(inside, flow.feed, jnp.asarray(0.02), jnp.asarray(1.0), jnp.asarray(9.0))
    for balance, jacobian, args in (
        (closed, closed_jacobian, inside),
        (through_flow, through_flow_jacobian, flow),
        (fed, fed_jacobian, filling),
        (along_gas, along_gas_jacobian, Gas(inside, jnp.asarray(40.0))),
    ):
        exact = jax.jacfwd(balance, argnums=1)(t, c, args)
        np.testing.assert_allclose(jacobian(t, c, args), exact, rtol=1e-13, atol=1e-15)


NUMBERS = {
    "fed": (
        fed,
        fed_jacobian,
        lambda inside, x: Filling(inside, x[0] * jnp.arange(4.0), x[1], x[2], x[3]),
        [100.0, 0.02, 1.0, 9.0],
    ),
    "along_gas": (along_gas, along_gas_jacobian, lambda inside, x: Gas(inside, x[0]), [40.0]),
    "through_flow": (through_flow, through_flow_jacobian, lambda inside, x: Flow(inside, x[0], x[1] * jnp.arange(4.0)), [50.0, 100.0]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_balances_can_be_read_as_scalars(name):
    """The engine for ensembles reads a balance and its Jacobian by their traces: no loop, branch or search stands in them."""
    balance, jacobian, args, numbers = NUMBERS[name]
    network = kinetics(TEXT)

    def both(t, c, k, x):
        inside = args(Contents(network, Isothermal(340.0, k)), x)
        return jnp.concatenate([balance(t, c, inside), jnp.ravel(jacobian(t, c, inside))])

    rng = np.random.default_rng(1)
    lanes = (
        np.array([0.5, 4.0, 9.5]),
        rng.uniform(1, 9, (3, 4)),
        rng.uniform(0.1, 1, (3, 2)),
        np.array(numbers) * rng.uniform(0.9, 1.1, (3, 1)),
    )
    layout = Layout.of_lanes(tuple(jax.ShapeDtypeStruct((1, *part.shape[1:]), float) for part in lanes))
    program = recorded(lambda x: entries(np.ravel(read(both, *layout.unpacked(x)))), layout.types)
    found = np.stack(program([x for part in lanes for x in jnp.asarray(part).reshape(3, -1).T]), axis=1)
    np.testing.assert_allclose(found, jax.vmap(both)(*lanes), rtol=1e-12, atol=1e-14)


def test_jacobians_of_energy_balances():
    t, y = jnp.asarray(0.0), jnp.asarray([*filled(300.0, 200.0, 5.0), 345.0])
    numbers = (330.0, np.array([-80e3, 30e3, 0.0, 0.0]), filled(150.0, 100.0, 250.0), 2e6, 298.15, 700.0, 290.0)
    heated = Heated(kinetics(TEXT), CONSTANTS, Heat(*map(jnp.asarray, numbers)))
    flow = HeatedFlow(heated, jnp.asarray(50.0), filled(1000.0, 0.0, 1.0))
    for balance, jacobian, args in (
        (closed_heated, closed_heated_jacobian, heated),
        (through_flow_heated, through_flow_heated_jacobian, flow),
    ):
        exact = jax.jacfwd(balance, argnums=1)(t, y, args)
        np.testing.assert_allclose(jacobian(t, y, args), exact, rtol=1e-13, atol=1e-17)


@pytest.mark.parametrize(
    ("balance", "jacobian", "flows"),
    [(closed_heated, closed_heated_jacobian, False), (through_flow_heated, through_flow_heated_jacobian, True)],
    ids=["closed", "through flow"],
)
def test_energy_balances_as_scalars(balance, jacobian, flows):
    """The engine for ensembles reads them: no loop, no branch, no search in them."""
    network = kinetics(TEXT)

    def both(y, constants, numbers):
        thermal = Thermal(constants, CONSTANTS.exponent, CONSTANTS.energy, CONSTANTS.T_ref, CONSTANTS.inverse_T_ref)
        start, volumetric, T_ref, exchange, coolant, tau = numbers
        enthalpies = 1e5 * constants[0] * jnp.array([-1.0, 0.5, 0.0, 0.0])
        heat = Heat(start, enthalpies, filled(150.0, 90.0, 250.0), volumetric, T_ref, exchange, coolant)
        args = Heated(network, thermal, heat)
        args = HeatedFlow(args, tau, filled(1000.0, 0.0, 1.0)) if flows else args
        return jnp.concatenate([balance(0.0, y, args)[None], jacobian(0.0, y, args)])

    rng = np.random.default_rng(4)
    lanes = (
        rng.uniform(1, 9, (3, 5)) + np.array([0, 0, 0, 0, 340.0]),
        rng.uniform(0.1, 1, (3, 2)),
        np.array([330.0, 2e6, 298.15, 700.0, 290.0, 50.0]) * rng.uniform(0.9, 1.1, (3, 1)),
    )
    layout = Layout.of_lanes(tuple(jax.ShapeDtypeStruct((1, *part.shape[1:]), float) for part in lanes))
    program = recorded(lambda x: entries(np.ravel(read(both, *layout.unpacked(x)))), layout.types)
    found = np.stack(program([x for part in lanes for x in jnp.asarray(part).reshape(3, -1).T]), axis=1)
    np.testing.assert_allclose(found, jax.vmap(both)(*lanes).reshape(3, -1), rtol=1e-12, atol=1e-14)
