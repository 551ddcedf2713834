"""`predict` with so many lanes that the engine for ensembles solves them: the values of a few lanes at a time, and closed forms."""

import jax
import numpy as np
import pytest

import kinetix as kx
from kinetix.network import FixedKinetics
from kinetix.simulation import model, predict
from kinetix.solvers import AUTOMATIC
from kinetix.status import Status

RANDOM = np.random.default_rng(4)
LANES = AUTOMATIC.lanes
CONSTANTS = {"r1.A": "2e6 1/min", "r1.Ea": "50 kJ/mol", "r2.kf": "0.3 1/min", "r2.kr": "0.1 1/min", "r3.k": "0.2 L/mol/min"}
NETWORK = "A -> B; B <=> C; A + C -> D"


def many(reactor, amount, **options):
    given = kx.problem(
        reactor(kx.parse_network(NETWORK)), {**CONSTANTS, f"{amount}.A": "1 mol/L", f"{amount}.default": "0 mol/L"}, **options
    )
    lanes = {name: np.repeat(array, LANES, axis=0) for name, array in given.lanes.items()}
    return given, {**lanes, "T": RANDOM.uniform(300.0, 400.0, LANES)}


@pytest.mark.parametrize(
    ("reactor", "amount", "options"),
    [
        (kx.CSTR, "feed", {"conditions": {"T": "340 K", "tau": "3 min"}}),
        (kx.Batch, "initial", {"conditions": {"T": "340 K"}, "times": "0:10:3 min"}),
    ],
)
def test_many_lanes_equal_few(reactor, amount, options):
    given, lanes = many(reactor, amount, **options)
    all_lanes = predict(given.model, given.parameters, lanes)
    assert (all_lanes.status == Status.SUCCESS).all()
    some = slice(0, 40)
    few = predict(given.model, given.parameters, {name: array[some] for name, array in lanes.items()})
    np.testing.assert_allclose(all_lanes.values[some], few.values, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(all_lanes.steps[some], few.steps)


@pytest.mark.parametrize("cores", [2, 3])
def test_lanes_shared_by_cores_keep_their_digits_and_places(cores, monkeypatch):
    """Three times the lanes that one part needs and one more: parts of unequal use, filled up."""
    given, lanes = many(kx.Batch, "initial", conditions={"T": "340 K"}, times="0:10:3 min")
    lanes = {name: np.concatenate([array] * 3 + [array[:1]]) for name, array in lanes.items()}
    lanes["T"] = RANDOM.uniform(300.0, 400.0, 3 * LANES + 1)
    monkeypatch.setattr(model, "cores", lambda: 1)
    alone = predict(given.model, given.parameters, lanes)
    monkeypatch.setattr(model, "cores", lambda: cores)
    shared = predict(given.model, given.parameters, lanes)
    for one, other in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(one, other)


HEAT = {"r1.dHr": "-60 kJ/mol", "r2.dHr": "-20 kJ/mol", "r3.dHr": "-80 kJ/mol"}
JACKET = {"type": "jacket", "heat_capacity": "3.8 MJ/m^3/K", "UA": "300 W/K", "coolant_flow": "400 W/K"}
OF_GAS = {
    "type": "jacket",
    "at": "25 degC",
    "heat_capacity": {"A": "90 J/mol/K", "B": "100 J/mol/K", "C": "70 J/mol/K", "D": "180 J/mol/K"},
    "UA/V": "20 W/m^3/K",
}
AMOUNTS = {"feed.A": "1 mol/L", "feed.default": "0 mol/L", "initial.A": "1 mol/L", "initial.default": "0 mol/L"}
HOT = {"T_initial": "330 K", "T_coolant": "300 K"}


@pytest.mark.parametrize(
    ("reactor", "conditions"),
    [
        (
            lambda net: kx.TransientCSTR(net, energy={**JACKET, "coolant_holdup": "30 kJ/K"}),
            {"tau": "5 min", "T_feed": "320 K", "V": "50 L", "T_jacket_initial": "310 K", **HOT},
        ),
        (lambda net: kx.Batch(net, density="gas_at_constant_pressure", energy=OF_GAS), HOT),
    ],
    ids=["tank with a jacket", "gas that expands"],
)
def test_many_lanes_with_energy_balances_equal_few(reactor, conditions):
    setup = reactor(kx.parse_network(NETWORK))
    stems = [stem for stem, needed in (("feed", setup.reactor.needs_feed), ("initial", setup.reactor.needs_initial)) if needed]
    amounts = {name: amount for name, amount in AMOUNTS.items() if name.split(".")[0] in stems}
    if setup.reactor.ideal_gas_at:
        amounts = {name: amount.replace("mol/L", "bar") for name, amount in amounts.items()}
    given = kx.problem(setup, {**CONSTANTS, **HEAT, **amounts}, conditions=conditions, times="0:10:3 min")
    lanes = {name: np.repeat(array, LANES, axis=0) for name, array in given.lanes.items()}
    lanes["T_start"] = RANDOM.uniform(310.0, 350.0, LANES)
    all_lanes = predict(given.model, given.parameters, lanes)
    assert (all_lanes.status == Status.SUCCESS).all()
    some = slice(0, 40)
    few = predict(given.model, given.parameters, {name: array[some] for name, array in lanes.items()})
    np.testing.assert_array_equal(all_lanes.steps[some], few.steps)
    np.testing.assert_allclose(all_lanes.values[some], few.values, rtol=1e-10, atol=1e-10 * np.nanmax(np.abs(few.values)))


def test_the_derivatives_of_many_lanes():
    given, lanes = many(kx.CSTR, "feed", conditions={"T": "340 K", "tau": "3 min"})
    weights = RANDOM.uniform(size=LANES)

    def mean(parameters):
        return (weights * predict(given.model, parameters, lanes).values[:, 0, 1]).mean()

    gradient = jax.grad(mean)(given.parameters)
    for i, step in enumerate(1e-5 * np.abs(given.parameters)):
        if step > 0 and i < 2:
            shift = np.zeros_like(given.parameters)
            shift[i] = step
            difference = (mean(given.parameters + shift) - mean(given.parameters - shift)) / (2 * step)
            np.testing.assert_allclose(gradient[i], difference, rtol=2e-3)


def test_fixed_kinetics_are_equal_by_value():
    first, second = (FixedKinetics.of(many(kx.CSTR, "feed", conditions={"T": "340 K", "tau": "3 min"})[0].model.kinetics) for _ in range(2))
    assert first == second and hash(first) == hash(second) and jax.tree.leaves(first) == []
    other = kx.problem(
        kx.CSTR(kx.parse_network("A -> B")), {"r1.k": "1 1/s", "feed.A": "1 mol/L", "feed.B": "0 mol/L"}, conditions={"tau": "1 s"}
    )
    assert first != FixedKinetics.of(other.model.kinetics)
