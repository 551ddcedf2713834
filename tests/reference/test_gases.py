"""Gases whose volume, pressure and temperature follow from balances, against Cantera with the same rates and constant heat capacities."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import InputError
from tests.reference.studies import Study, fit, parameters, problem, simulate, simulated, unit

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

CP, H0 = {"A": 95.0, "B": 60.0, "C": 140.0, "I": 30.0}, {"A": 10e3, "B": -12e3, "C": -45e3, "I": 0.0}
COMPOSITION = {"A": "{N: 2, O: 4}", "B": "{N: 1, O: 2}", "C": "{N: 3, O: 6}", "I": "{Ar: 1}"}
MECHANISM = """
phases:
- {name: gas, thermo: ideal-gas, elements: [N, O, Ar], species: [A, B, C, I], kinetics: gas, state: {T: 500.0, P: 1 bar}}
species:
""" + "\n".join(
    f"- {{name: {name}, composition: {COMPOSITION[name]}, thermo: {{model: constant-cp, T0: 298.15 K, h0: {H0[name]} J/mol,"
    f" s0: 0 J/mol/K, cp0: {CP[name]} J/mol/K}}}}"
    for name in CP
)
REACTIONS = """
reactions:
- {equation: A => 2 B, rate-constant: {A: 3.0e+04 1/s, b: 0, Ea: 50 kJ/mol}}
- {equation: A + B => C, rate-constant: {A: 4.0e+05 m^3/kmol/s, b: 0, Ea: 40 kJ/mol}}
"""
P, FEED = 1.5e5, {"A": 0.7, "B": 0.0, "C": 0.0, "I": 0.3}
STUDY: Study = {
    "formulas": False,
    "reactions": {
        "r1": {"equation": "A + I -> 2 B + I", "orders": {"I": 0}, "A": "3e4 1/s", "Ea": "50 kJ/mol"},  # names the inert gas
        "r2": {"equation": "A + B -> C", "A": "400 m^3/mol/s", "Ea": "40 kJ/mol"},
    },
    "responses": {"grown": "expansion"},
    "solver": {"rtol": 1e-10},
}
ENERGY = {
    "type": "adiabatic",
    "heat_capacity": {name: f"{cp} J/mol/K" for name, cp in CP.items()},
    "at": "298.15 K",
}
DHR = {"r1": 2 * H0["B"] - H0["A"], "r2": H0["C"] - H0["A"] - H0["B"]}


def heated(study: Study, energy: Study = ENERGY) -> Study:
    reactions = {name: {**reaction, "dHr": f"{DHR[name]!r} J/mol"} for name, reaction in study["reactions"].items()}
    return {**study, "reactions": reactions, "energy": energy}


def gas(reactions: str = REACTIONS, T: float = 520.0) -> Any:
    cantera = pytest.importorskip("cantera")
    cantera.suppress_deprecation_warnings()
    gas = cantera.Solution(yaml=MECHANISM + reactions)
    gas.TPX = T, P, FEED
    return gas


def network(*reactors: Any) -> Any:
    net = pytest.importorskip("cantera").ReactorNet(list(reactors))
    net.rtol, net.atol = 1e-11, 1e-20
    return net


def concentrations(reactor: Any) -> np.ndarray:
    """mol/m^3, by kmol/m^3 of Cantera."""
    phase = getattr(reactor, "phase", None) or reactor.thermo
    return np.asarray(phase.concentrations) * 1e3


# ----------------------------------------------------------------------------------------------------------------- vessels

TIMES = [0.05, 0.2, 0.6, 1.5]


@pytest.mark.parametrize("adiabatic", [False, True], ids=["isothermal", "adiabatic"])
@pytest.mark.parametrize("at", ["pressure", "volume"])
def test_a_vessel_of_gas(at, adiabatic):
    cantera = pytest.importorskip("cantera")
    kind = cantera.IdealGasConstPressureReactor if at == "pressure" else cantera.IdealGasReactor
    reactor = kind(gas(), energy="on" if adiabatic else "off")
    start, net, expected = reactor.volume, network(reactor), []
    for t in TIMES:
        net.advance(t)
        expected.append([reactor.T, reactor.volume / start if at == "pressure" else reactor.thermo.P, *concentrations(reactor)])
    study = {
        **STUDY,
        "reactor": {"type": "batch", "density": f"gas_at_constant_{at}"},
        "conditions": {"T_initial" if adiabatic else "T": "520 K"},
        "initial": {name: f"{share * P} Pa" for name, share in FEED.items()},
        "simulate": {"times": [f"{t} s" for t in TIMES]},
    }
    study["conditions"] = {"T_initial" if adiabatic else "T": "520 K"}
    if at == "volume":
        study["responses"] = {"grown": "P_total"}
    tree = simulate(heated(study) if adiabatic else study)
    expected = np.array(expected)
    if adiabatic:
        assert np.ptp(expected[:, 0]) > 100
        assert_allclose(simulated(tree, "T")[0], expected[:, 0], rtol=2e-8)
    assert expected[-1, 1] / (1 if at == "pressure" else P) > 1.05
    to_si = 1.0 if at == "pressure" else {"Pa": 1.0, "kPa": 1e3, "bar": 1e5}[unit(tree, "grown")]
    assert_allclose(simulated(tree, "grown")[0] * to_si, expected[:, 1], rtol=2e-8)
    if at == "volume":
        assert_allclose(simulated(tree, "P_total"), simulated(tree, "grown"), rtol=1e-14)
    per = {"mol/m^3": 1.0, "mol/L": 1e3}[unit(tree, "A")]
    found = np.stack([simulated(tree, name)[0] for name in CP], axis=1) * per
    assert_allclose(found, expected[:, 2:], rtol=1e-7, atol=1e-6)


def test_a_fraction_needs_the_pressure_that_it_is_of():
    study = {
        **STUDY,
        "reactor": {"type": "batch", "density": "gas_at_constant_pressure"},
        "conditions": {"T_initial": "520 K", "P": f"{P} Pa"},
        "initial": {name: f"{share * 100} %" for name, share in FEED.items()},
        "simulate": {"times": ["0.2 s"]},
    }
    by_pressure = {**study, "initial": {name: f"{share * P} Pa" for name, share in FEED.items()}}
    assert_allclose(simulated(simulate(heated(study)), "T"), simulated(simulate(heated(by_pressure)), "T"), rtol=1e-10)
    with pytest.raises(InputError) as error:
        problem(heated({**study, "conditions": {"T_initial": "520 K"}}))
    assert any(
        text.startswith("initial.A is a mole fraction; the concentration follows with T_initial and P.") for text in error.value.problems
    )
    with pytest.raises(InputError, match=r"the initial state adds up to 1\.5 bar at 520 K, but P is 2 bar"):
        problem(heated({**by_pressure, "conditions": {"T_initial": "520 K", "P": "2 bar"}}))


def test_a_rate_constant_from_the_total_pressure():
    """A -> 2 B + C in a rigid vessel, P = P0 (3 - 2 exp(-k t)): Levenspiel (1999), chapter 3, "total pressure" method."""
    k, P0 = 4e-4, 0.4
    rows = "time [min],pressure [bar]\n" + "".join(f"{t},{P0 * (3 - 2 * math.exp(-k * 60 * t))!r}\n" for t in (0, 5, 15, 30, 60, 120))
    study: Study = {
        "formulas": False,
        "reactions": {"r1": {"equation": "A -> 2 B + C", "k": {"start": "1e-3 1/s"}}},
        "reactor": {"type": "batch", "density": "gas_at_constant_volume"},
        "conditions": {"T": "700 K"},
        "initial": {"A": f"{P0} bar", "default": "0 bar"},
    }
    assert_allclose(parameters(fit(study, rows), "r1.k"), [k], rtol=1e-8)


def test_a_gas_over_a_catalyst():
    """The catalyst stays as much as it was, however the gas grows: dN/dt = W nu r, for A -> 2 B of a pure gas in closed form.

    With n = N_A/N_A0 and V/V0 = 2 - n: dn/dt = -(W/V0) k n/(2 - n), so that 2 ln n - n = -1 - (W/V0) k t.
    """
    study: Study = {
        "reactions": {"r1": {"equation": "A -> 2 B", "k": "0.01 m^3/kg/s"}},
        "formulas": False,
        "reactor": {"type": "batch", "density": "gas_at_constant_pressure", "basis": "catalyst_mass"},
        "conditions": {"T": "500 K", "W/V": "2 kg/m^3"},
        "initial": {"A": "1 bar", "B": "0 bar"},
        "responses": {"n": "expansion*[A]/initial[A]"},
        "simulate": {"times": ["20 s", "90 s"]},
        "solver": {"rtol": 1e-10},
    }
    n = simulated(simulate(study), "n")[0]
    assert_allclose(2 * np.log(n) - n, -1 - 0.02 * np.array([20.0, 90.0]), rtol=1e-8)


# ------------------------------------------------------------------------------------------------------------------- tubes


def tube(tau: float, **more: Any) -> Study:
    return {
        **STUDY,
        "reactor": {"type": "plug_flow", "density": "ideal_gas"},
        "conditions": {
            "tau": f"{tau!r} s",
            "T_feed": "520 K",
            "feed": {name: f"{share * P} Pa" for name, share in FEED.items()},
            "P": f"{P} Pa",
        },
        **more,
    }


def test_an_adiabatic_tube_of_gas():
    """Cantera's `FlowReactor`, so wide and slow that its pressure stays: moles and temperature change together."""
    cantera = pytest.importorskip("cantera")
    flowing = gas()
    reactor = cantera.FlowReactor(flowing)
    velocity = 1e-4
    reactor.area, reactor.mass_flow_rate = 1.0, velocity * flowing.density
    net = cantera.ReactorNet([reactor])
    net.rtol, net.atol = 1e-11, 1e-20
    for tau in (0.6, 1.5):
        net.advance(tau * velocity)
        tree = simulate(heated(tube(tau)))
        per = {"mol/m^3": 1.0, "mol/L": 1e3}[unit(tree, "A")]
        assert reactor.T > 530
        assert_allclose(simulated(tree, "T"), [[reactor.T]], rtol=1e-7)
        assert_allclose(simulated(tree, "grown"), [[reactor.speed / velocity]], rtol=1e-7)
        found = np.array([simulated(tree, name)[0, 0] for name in CP]) * per
        assert_allclose(found, concentrations(reactor), rtol=1e-6, atol=1e-6)


def test_a_cooled_tube_of_gas_with_its_coolant_beside_it():
    """Molar flows, temperature and coolant over the volume by Radau."""
    from scipy.integrate import solve_ivp

    tau, Q, V, UA, flow = 0.5, 2e-3, 1e-3, 1.5, 0.8
    c0 = P / (GAS_CONSTANT * 520)
    cp = np.array(list(CP.values()))

    def slopes(v, y):
        F, T, coolant = y[:4], y[4], y[5]
        c = F / F.sum() * P / (GAS_CONSTANT * T)
        r1, r2 = 3e4 * np.exp(-50e3 / GAS_CONSTANT / T) * c[0], 400 * np.exp(-40e3 / GAS_CONSTANT / T) * c[0] * c[1]
        nu = np.array([[-1, 2, 0, 0], [-1, -1, 1, 0]])
        dH = np.array([DHR["r1"], DHR["r2"]]) + nu @ cp * (T - 298.15)
        heat = UA / V * (coolant - T)
        return [*(nu.T @ [r1, r2]), (heat - dH @ [r1, r2]) / (F @ cp), -heat / flow]

    F0 = Q * c0 * np.array(list(FEED.values()))
    y = solve_ivp(slopes, (0, V), [*F0, 520.0, 400.0], method="Radau", rtol=1e-11, atol=1e-13).y[:, -1]
    energy = {**ENERGY, "type": "jacket", "UA": f"{UA} W/K", "coolant_flow": f"{flow} W/K"}
    study = tube(tau)
    conditions = {**{n: v for n, v in study["conditions"].items() if n != "tau"}, "V": f"{V} m^3", "Q": f"{Q} m^3/s", "T_coolant": "400 K"}
    tree = simulate(heated({**study, "conditions": conditions}, energy))
    assert_allclose([simulated(tree, "T").item(), simulated(tree, "T_jacket").item()], y[4:], rtol=1e-8)
    assert_allclose(simulated(tree, "grown").item(), y[:4].sum() * y[4] / (F0.sum() * 520), rtol=1e-8)


# ------------------------------------------------------------------------------------------------------------------- tanks


@pytest.mark.parametrize("adiabatic", [False, True], ids=["isothermal", "adiabatic"])
def test_a_tank_of_gas(adiabatic):
    """A reservoir, a flow controller, an `IdealGasReactor` and a valve so wide that its pressure is that outside."""
    cantera = pytest.importorskip("cantera")
    inlet, outlet = cantera.Reservoir(gas()), cantera.Reservoir(gas())
    reactor = cantera.IdealGasReactor(gas(), energy="on" if adiabatic else "off", volume=1.0)
    tau = 0.4
    mass_flow = cantera.MassFlowController(inlet, reactor, mdot=gas().density / tau)
    cantera.PressureController(reactor, outlet, primary=mass_flow, K=1e-2)
    net = network(reactor)
    net.advance(200.0)
    reached = reactor.thermo.P
    assert reached == pytest.approx(P, rel=1e-3)
    study = {**tube(tau), "reactor": {"type": "cstr", "density": "ideal_gas"}}
    study.pop("solver")
    study["conditions"] = {n: v for n, v in study["conditions"].items() if n != "T_feed"} | {"T_feed" if adiabatic else "T": "520 K"}
    # the controller keeps the pressure to 1e-6, and concentrations go with it
    tree = simulate(heated(study) if adiabatic else study)
    if adiabatic:
        assert reactor.T > 600
        assert_allclose(simulated(tree, "T"), [[reactor.T]], rtol=1e-5)
    per = {"mol/m^3": 1.0, "mol/L": 1e3}[unit(tree, "A")]
    found = np.array([simulated(tree, name)[0, 0] for name in CP]) * per
    assert_allclose(found, concentrations(reactor) * P / reached, rtol=1e-5, atol=1e-6)


def test_tanks_of_gas_in_series_are_tanks_one_after_the_other():
    study = {**tube(0.4), "reactor": {"type": "cstr", "density": "ideal_gas", "tanks": 2}}
    study.pop("solver")
    both = simulate(heated(study))
    first = simulate(
        heated({**study, "reactor": {"type": "cstr", "density": "ideal_gas"}, "conditions": {**study["conditions"], "tau": "0.2 s"}})
    )
    between = {name: f"{simulated(first, name).item()!r} {unit(first, name)}" for name in CP}
    conditions = {
        **study["conditions"],
        "tau": f"{0.2 / simulated(first, 'grown').item()!r} s",
        "T_feed": f"{simulated(first, 'T').item()!r} K",
        "feed": between,
    }
    second = simulate(heated({**study, "reactor": {"type": "cstr", "density": "ideal_gas"}, "conditions": conditions}))
    for name in (*CP, "T"):
        assert_allclose(simulated(both, name), simulated(second, name), rtol=1e-9, atol=1e-12)
    assert_allclose(simulated(both, "grown"), simulated(first, "grown") * simulated(second, "grown"), rtol=1e-9)


# ------------------------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize(
    ("reactor", "energy", "sentence"),
    [
        (
            {"type": "batch", "density": "ideal_gas"},
            None,
            '[reactor] density = "ideal_gas": not of a batch reactor. Write density = "constant" (liquids) or density ='
            ' "gas_at_constant_volume" (a gas in a rigid vessel) or density = "gas_at_constant_pressure" (a gas in a vessel that gives'
            " way).",
        ),
        (
            {"type": "plug_flow", "density": "ideal_gas"},
            {"type": "adiabatic", "heat_capacity": "40 J/L/K"},
            "[energy] heat_capacity: of an ideal gas it follows from those of its species, inert ones too, at constant pressure. Write"
            ' heat_capacity = { A = "40 J/mol/K", I = "40 J/mol/K", B = "40 J/mol/K", C = "40 J/mol/K" }.',
        ),
    ],
)
def test_what_is_refused(reactor, energy, sentence):
    with pytest.raises(InputError) as error:
        problem({**STUDY, "reactor": reactor} if energy is None else heated({**STUDY, "reactor": reactor}, energy))
    assert any(text.startswith(sentence) for text in error.value.problems), error.value.problems
