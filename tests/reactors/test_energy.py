"""Energy rules: constant and programmed temperature, and the constants that follow."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.rates import constants_at
from kinetix.reactors.energy import Isothermal, Programmed
from tests.reactors.contents import constant_at, thermal

pytestmark = pytest.mark.usefixtures("x64")

CONSTANTS = thermal((0.02, 50e3), (7.0, 0.0))
NOTHING = np.zeros(0)  # no temperature is a state
TIMES, NODES = np.array([0.0, 10.0, 10.0, 30.0]), np.array([320.0, 340.0, 360.0, 330.0])


def test_constant_temperature_keeps_its_constants():
    rule = Isothermal(jnp.asarray(330.0), constants_at(CONSTANTS, 330.0))
    for t in (0.0, 1e6):
        T, constants = rule.at(jnp.asarray(t), NOTHING)
        assert float(T) == 330.0
        np.testing.assert_allclose(constants, [constant_at(0.02, 50e3, 330.0), 7.0], rtol=1e-14)


@pytest.mark.parametrize(
    ("t", "T"),
    [
        (-5.0, 320.0),
        (0.0, 320.0),
        (5.0, 330.0),
        (9.999999, 339.999998),
        (10.000001, 359.9999985),
        (20.0, 345.0),
        (30.0, 330.0),
        (99.0, 330.0),
    ],
)
def test_a_program_is_linear_between_nodes_and_constant_outside(t, T):
    found, constants = Programmed(jnp.asarray(TIMES), jnp.asarray(NODES), CONSTANTS).at(jnp.asarray(t), NOTHING)
    assert float(found) == pytest.approx(T, rel=1e-12)
    np.testing.assert_allclose(constants, [constant_at(0.02, 50e3, T), 7.0], rtol=1e-10)


def test_slopes_of_a_program_by_time_and_by_its_nodes():
    def k(t, nodes):
        return Programmed(jnp.asarray(TIMES), nodes, CONSTANTS).at(t, NOTHING)[1][0]

    nodes = jnp.asarray(NODES)
    by_time, by_nodes = jax.grad(k, argnums=(0, 1))(jnp.asarray(5.0), nodes)
    slope = constant_at(0.02, 50e3, 330.0) * 50e3 / 8.31446261815324 / 330.0**2
    assert float(by_time) == pytest.approx(2.0 * slope, rel=1e-12)
    np.testing.assert_allclose(by_nodes, [slope / 2, slope / 2, 0.0, 0.0], rtol=1e-12)
