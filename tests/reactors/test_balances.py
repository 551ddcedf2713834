"""Balances from their parts: values by hand, Jacobians by differentiation, and all of them read as programs of scalars."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.network import FixedKinetics
from kinetix.rates import constants_at
from kinetix.reactors.balances import Balance, change, change_jacobian
from kinetix.reactors.energy import Heat, Heated, Isothermal, Jacket, Programmed
from kinetix.reactors.feed import Filling, Through
from kinetix.reactors.volume import ConstantPressure, ConstantVolume
from kinetix.solvers import Options, System, integrate, integrate_ensemble
from kinetix.solvers.ensemble import NEVER
from kinetix.solvers.layouts import Layout
from kinetix.solvers.reading import read
from kinetix.solvers.scalars import entries, recorded
from kinetix.status import Status
from tests.reactors.contents import constant_at, filled, kinetics, thermal

pytestmark = pytest.mark.usefixtures("x64")

CONSTANTS = thermal((0.02, 50e3), (3e-5, 80e3))
TEXT = "A -> B; 2 B -> C"
NETWORK = kinetics(TEXT)
NUMBERS = {"T": 340.0, "per": 2e5, "tau": 50.0, "feed": 1000.0, "dilution": 0.02, "start": 1.0, "stop": 9.0}
NUMBERS |= {"volumetric": 2e6, "T_ref": 298.15, "exchange": 700.0, "coolant": 290.0, "T_feed": 330.0, "flow": 400.0, "holdup": 3e5}


def parts(energy, volume, feed, numbers, reference=CONSTANTS.reference):
    """The balance of one combination, from numbers."""
    constants, numbers = CONSTANTS._replace(reference=reference), {name: jnp.asarray(number) for name, number in numbers.items()}
    heat = Heat(
        numbers["T"], 1e5 * jnp.array([-0.8, 0.3, 0.0, 0.0]), filled(150.0, 100.0, 250.0), *(numbers[n] for n in ("volumetric", "T_ref"))
        , *(numbers[n] for n in ("exchange", "coolant", "T_feed"))
    )  # fmt: skip
    rules = {
        "isothermal": lambda: Isothermal(numbers["T"], constants_at(constants, numbers["T"])),
        "programmed": lambda: Programmed(jnp.array([0.0, 10.0]), jnp.array([330.0, 350.0]), constants),
        "heated": lambda: Heated(constants, heat),
        "jacket": lambda: Heated(constants, heat._replace(jacket=Jacket(numbers["coolant"], numbers["flow"], numbers["holdup"]))),
    }
    spaces = {
        "liquid": lambda: ConstantVolume(),
        "tube of gas": lambda: ConstantPressure(numbers["per"], swells=False),
        "vessel of gas": lambda: ConstantPressure(numbers["per"], swells=True),
    }
    inlet = filled(1.0, 0.0, 1e-3) * numbers["feed"]
    feeds = {
        "closed": lambda: None,
        "through": lambda: Through(inlet, numbers["tau"]),
        "filling": lambda: Filling(inlet, numbers["dilution"], numbers["start"], numbers["stop"]),
    }
    return Balance(NETWORK, rules[energy](), spaces[volume](), feeds[feed]())


TEMPERATURES = {"isothermal": (), "programmed": (), "heated": (345.0,), "jacket": (345.0, 301.0)}
ALL = list(product(TEMPERATURES, ("liquid", "tube of gas", "vessel of gas"), ("closed", "through", "filling")))
READ = [combination for combination in ALL if combination[0] != "programmed"]  # a program of temperature is a search


def test_a_closed_reactor_by_hand():
    k1, k2 = constant_at(0.02, 50e3, 340.0), constant_at(3e-5, 80e3, 340.0)
    A, B = 300.0, 200.0
    found = change(jnp.asarray(0.0), filled(A, B, 5.0), parts("isothermal", "liquid", "closed", NUMBERS))
    np.testing.assert_allclose(found, [-k1 * A, k1 * A - 2 * k2 * B**2, k2 * B**2, 0.0], rtol=1e-13)


def test_a_flow_adds_what_comes_in_and_goes_out():
    c, feed = filled(300.0, 200.0, 5.0), filled(1000.0, 0.0, 1.0)
    with_flow, without = (change(jnp.asarray(0.0), c, parts("isothermal", "liquid", what, NUMBERS)) for what in ("through", "closed"))
    np.testing.assert_allclose(with_flow - without, (feed - c) / 50, rtol=1e-12)


def test_a_gas_in_a_vessel_by_hand():
    """Amounts per volume of the start, A -> B; 2 B -> C: V/V0 = sum(n) R T/P."""
    n, v = np.array([300.0, 200.0, 5.0]), 505.0 * 340.0 / 2e5
    r1, r2 = constant_at(0.02, 50e3, 340.0) * n[0] / v, constant_at(3e-5, 80e3, 340.0) * (n[1] / v) ** 2
    found = change(jnp.asarray(0.0), filled(*n), parts("isothermal", "vessel of gas", "closed", NUMBERS))
    np.testing.assert_allclose(found[:3], v * np.array([-r1, r1 - 2 * r2, r2]), rtol=1e-12)


def test_a_coolant_with_a_holdup_by_hand():
    y = jnp.asarray([*filled(300.0, 200.0, 5.0), 345.0, 301.0])
    found = change(jnp.asarray(0.0), y, parts("jacket", "liquid", "closed", NUMBERS))
    assert float(found[-1]) == pytest.approx((700 * (345 - 301) + 400 * (290 - 301)) / 3e5, rel=1e-13)
    as_cold = change(jnp.asarray(0.0), y[:-1], parts("heated", "liquid", "closed", {**NUMBERS, "coolant": 301.0}))
    np.testing.assert_allclose(found[:-1], as_cold, rtol=1e-14)


@pytest.mark.parametrize("combination", ALL, ids=", ".join)
def test_jacobians(combination):
    balance = parts(*combination, NUMBERS)
    t, y = jnp.asarray(4.0), jnp.asarray([*filled(300.0, 200.0, 5.0), *TEMPERATURES[combination[0]]])
    exact = jax.jacfwd(change, argnums=1)(t, y, balance)
    scale = 1e-13 * np.abs(exact).max(axis=1, keepdims=True)
    assert (np.abs(change_jacobian(t, y, balance) - exact) <= 1e-12 * np.abs(exact) + scale).all()


@pytest.mark.parametrize("combination", READ, ids=", ".join)
def test_balances_can_be_read_as_scalars(combination):
    """The engine for ensembles reads a balance and its Jacobian by their traces: no loop, branch or search stands in them."""

    def both(t, y, constants, numbers):
        balance = parts(*combination, dict(zip(NUMBERS, numbers, strict=True)), constants)
        return jnp.concatenate([change(t, y, balance), jnp.ravel(change_jacobian(t, y, balance))])

    rng, own = np.random.default_rng(1), TEMPERATURES[combination[0]]
    lanes = (
        np.array([0.5, 4.0, 9.5]),
        np.concatenate([rng.uniform(1, 9, (3, 4)), np.broadcast_to(np.array(own), (3, len(own)))], axis=1),
        rng.uniform(0.1, 1, (3, 2)),
        np.array(list(NUMBERS.values())) * rng.uniform(0.9, 1.1, (3, 1)),
    )
    layout = Layout.of_lanes(tuple(jax.ShapeDtypeStruct((1, *part.shape[1:]), float) for part in lanes))
    program = recorded(lambda x: entries(np.ravel(read(both, *layout.unpacked(x)))), layout.types)
    found = np.stack(program([x for part in lanes for x in jnp.asarray(part).reshape(3, -1).T]), axis=1)
    np.testing.assert_allclose(found, jax.vmap(both)(*lanes), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("combination", [("jacket", "liquid", "filling"), ("heated", "vessel of gas", "closed")], ids=", ".join)
def test_ensembles_of_balances(combination):
    """The engine insisted upon: a balance that it could not read would be an error."""
    with_feed, own = combination[2] == "filling", TEMPERATURES[combination[0]]
    lanes, rng = 5, np.random.default_rng(2)
    numbers = {name: number * rng.uniform(0.98, 1.02, lanes) for name, number in NUMBERS.items()}
    parted = jax.vmap(lambda numbers: parts(*combination, numbers)._replace(kinetics=None))(numbers)
    fixed = FixedKinetics.of(NETWORK)

    def whole(balance):
        return balance._replace(kinetics=fixed)

    system = System(
        lambda t, y, balance: change(t, y, whole(balance)),
        lambda t, y, balance: change_jacobian(t, y, whole(balance)),
        autonomous=not with_feed,
    )
    y0 = np.concatenate([rng.uniform(100, 300, (lanes, 3)), np.zeros((lanes, 1)), np.tile(own, (lanes, 1))], axis=1)
    breaks = np.stack([numbers["start"], numbers["stop"]], axis=1) if with_feed else None
    times, options = np.tile([5.0, 60.0], (lanes, 1)), Options(rtol=1e-9, atol=1e-8)
    many = integrate_ensemble(system, y0, parted, times, breaks=breaks, options=options)
    one = jax.vmap(lambda y, args, t, b: integrate(system, y, args, t, breaks=b, options=options, engine=NEVER))(y0, parted, times, breaks)
    assert (many.status == Status.SUCCESS).all()
    np.testing.assert_array_equal(many.steps, one.steps)
    np.testing.assert_allclose(many.y, one.y, rtol=1e-10, atol=1e-8)
