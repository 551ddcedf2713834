"""Networks as arrays: rates, production and Jacobian against formulas by hand and against differentiation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.network import parse_network, production, production_jacobian, rates, stack_laws
from kinetix.padding import padded
from kinetix.precision import float64
from kinetix.rates import free, mass_action, power_law, reversible
from kinetix.units import parse_unit


@pytest.fixture(autouse=True)
def _x64():
    with float64():
        yield


NETWORK = parse_network("A + B -> C; C <=> A + B; 2 A -> D; C -> D; A + E -> B + E")
LAWS = (
    mass_action.law({"A": 1, "B": 1}),
    reversible.law({"C": 1}, {"A": 1, "B": 1}),
    power_law.law({"A": 1.5}, parse_unit("mol/L")),
    free.law("kf*[C]/(1 + K*[A])", {"kf": parse_unit("1/s").dimension, "K": parse_unit("m^3/mol").dimension}, NETWORK.species, "r4"),
    mass_action.law({"A": 1, "E": 1}),
)
CONSTANTS = np.array([2.0, 3.0, 0.5, 7.0, 1000.0, 1.5, 4.0, 0.2, 0.3])
NAMES = ["r1.k", "r2.kf", "r2.kr", "r3.k", "r3.c_ref", "r3.order.A", "r4.kf", "r4.K", "r5.k"]


def build():
    return stack_laws(LAWS, NETWORK.stoichiometry, NETWORK.species, lambda i, name: NAMES.index(f"{NETWORK.reactions[i].name}.{name}"))


def by_hand(c):
    A, B, C, _, E = c
    return np.array([2 * A * B, 3 * C - 0.5 * A * B, 7 * (A / 1000) ** 1.5, 4 * C / (1 + 0.2 * A), 0.3 * A * E])


def test_rates_and_production():
    kinetics, order = build()
    c = np.array([3.0, 2.0, 1.5, 0.1, 0.7])
    filled = np.concatenate([c, np.zeros(padded(5) - 5)])
    r = np.asarray(rates(kinetics, jnp.asarray(CONSTANTS), jnp.float64(300.0), jnp.asarray(filled)))
    np.testing.assert_allclose(r[order], by_hand(c), rtol=1e-14)
    unused = np.setdiff1d(np.arange(len(r)), order)
    assert (kinetics.stoichiometry[:, unused] == 0).all()
    net = np.asarray(production(kinetics, jnp.asarray(CONSTANTS), jnp.float64(300.0), jnp.asarray(filled)))
    np.testing.assert_allclose(net[:5], NETWORK.stoichiometry @ by_hand(c), rtol=1e-13)
    assert (net[5:] == 0).all()


@pytest.mark.parametrize("c", [[3.0, 2.0, 1.5, 0.1, 0.7], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, -1e-9, 0.0, 2.0]])
def test_jacobian_is_that_of_production(c):
    kinetics, _ = build()
    filled = jnp.concatenate([jnp.asarray(c), jnp.zeros(padded(5) - 5)])
    k = jnp.asarray(CONSTANTS)
    exact = jax.jacfwd(lambda x: production(kinetics, k, jnp.float64(300.0), x))(filled)
    own = production_jacobian(kinetics, k, jnp.float64(300.0), filled)
    assert np.isfinite(own).all()
    np.testing.assert_allclose(own, exact, rtol=1e-13, atol=1e-13)


def test_equal_shapes_share_one_program():
    """Stoichiometry, indices and constants are data: another network of the same padded size does not compile again."""
    traced = []

    @jax.jit
    def net(kinetics, k, c):
        traced.append(1)
        return production(kinetics, k, jnp.float64(300.0), c)

    for text in ("A -> B; B -> C", "A + B -> C", "X + Y -> 2 Z; Z -> W"):
        network = parse_network(text)
        laws = [mass_action.law(dict(r.reactants)) for r in network.reactions]
        kinetics, _ = stack_laws(laws, network.stoichiometry, network.species, lambda i, name: i)
        net(kinetics, jnp.ones(4), jnp.ones(4))
    assert len(traced) == 1


def test_source_and_sink():
    network = parse_network("-> A; A ->")
    laws = [mass_action.law(dict(r.reactants)) for r in network.reactions]
    kinetics, _ = stack_laws(laws, network.stoichiometry, network.species, lambda i, name: i)
    out = production(kinetics, jnp.array([2.0, 0.5]), jnp.float64(300.0), jnp.array([3.0, 0, 0, 0]))
    assert float(out[0]) == pytest.approx(2.0 - 1.5)
