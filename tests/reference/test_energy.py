"""Energy balances against textbooks, Cantera and SciPy, through the whole product.

Tanks: H. S. Fogler, Elements of Chemical Reaction Engineering (4th ed., 2006), examples 8-6, 8-8 and 8-9; D. E. Seborg, T. F. Edgar and
D. A. Mellichamp, Process Dynamics and Control, the nonlinear tank. The digits beyond the printed ones are by root finding.
(Cases fogler-propylene-glycol-cstr, fogler-butane-adiabatic, the stable states of seborg-cstr-multiplicity,
kipet-cstr-jacketed-nonisothermal.)
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from kinetix.constants import GAS_CONSTANT
from kinetix.studies.describing import describe_model
from tests.reference.studies import Study, fit, parameters, problem, simulate, simulated, statistic

BTU, PER_RANKINE, RANKINE = 2.326, 2.326 * 1.8, 1 / 1.8  # J/mol per Btu/lbmol; J/mol/K per Btu/lbmol/R; K per R

# ------------------------------------------------------------------------------------------------------------------- tanks


def glycol(energy: Study, **conditions: str) -> Study:
    """Propylene oxide + water -> glycol in methanol: 18.65 of water and 1.67 of methanol per oxide, 403.3 Btu/R per lbmol of it."""
    molar = {name: f"{cp * PER_RANKINE!r} J/mol/K" for name, cp in (("oxide", 35), ("water", 18), ("glycol", 46))}
    rest = (403.3 - 35 - 18 * 18.65) * PER_RANKINE
    return {
        "formulas": False,
        "reactions": {
            "r1": {
                "equation": "oxide + water -> glycol",
                "orders": {"water": 0},
                "A": "16.96e12 1/h",
                "Ea": f"{32400 / 1.987 * RANKINE * GAS_CONSTANT!r} J/mol",
                "dHr": f"{-36400 * BTU!r} J/mol",
            }
        },
        "reactor": {"type": "cstr"},
        "energy": {"heat_capacity": {**molar, "solvent": f"{rest!r} kJ/m^3/K"}, "at": f"{528 * RANKINE!r} K", **energy},
        "conditions": {
            "tau": "0.1229 h",
            "T_feed": f"{535 * RANKINE!r} K",
            "feed": {"oxide": "1 mol/L", "water": "18.65 mol/L", "glycol": "0 mol/L"},
            **conditions,
        },
    }


@pytest.mark.parametrize("way", ["adiabatic", "UA", "UA/V"])
def test_propylene_glycol(way):
    """Printed: 613 R and 0.85; with a coil at 545 R 563.7 R and 0.36."""
    UA = 92.9 * PER_RANKINE * 1000 / 0.1229  # J/m^3/h/K, from Btu/R per lbmol of oxide
    energy = {"type": "adiabatic"}, {}
    if way == "UA/V":
        energy = {"type": "jacket", "UA/V": f"{UA!r} J/m^3/K/h"}, {"T_coolant": f"{545 * RANKINE!r} K"}
    elif way == "UA":
        energy = {"type": "jacket", "UA": f"{UA * 0.3!r} J/K/h"}, {"T_coolant": f"{545 * RANKINE!r} K", "V": "300 L"}
    tree = simulate(glycol(energy[0], **energy[1]))
    T, X = (613.6580075145064, 0.8573814106426119) if way == "adiabatic" else (563.7289297784686, 0.36360866802497693)
    assert_allclose(simulated(tree, "T") / RANKINE, [[T]], rtol=1e-9)
    assert_allclose(simulated(tree, "glycol"), [[X]], rtol=1e-9)


def butane(V: float) -> Study:
    """The enthalpy of reaction is that of the equilibrium constant and is written once."""
    dH = -830.3 * GAS_CONSTANT
    return {
        "reactions": {
            "r1": {
                "equation": "n <=> i",
                "kf": {"kf": "31.1 1/h", "Ea": f"{7906 * GAS_CONSTANT!r} J/mol", "at": "360 K"},
                "K": {"K": "3.03 -", "dH": f"{dH!r} J/mol", "at": "333 K"},
            }
        },
        "reactor": {"type": "cstr"},
        "energy": {"type": "adiabatic", "heat_capacity": f"{-dH * 9300 / 43.4!r} J/m^3/K"},
        "conditions": {"V": f"{V!r} m^3", "Q": f"{146.7 / 9.3!r} m^3/h", "T_feed": "330 K", "feed": {"n": "9.3 kmol/m^3", "i": "0 mol/L"}},
    }


@pytest.mark.parametrize(("V", "X"), [(0.9944522613762531, 0.4), (3.0, None)])
def test_butane_with_the_enthalpy_of_its_equilibrium(V, X):
    """T = 330 K + 43.4 K X. Printed: 1.0 m^3."""
    study = butane(V)
    tree = simulate(study)
    found = simulated(tree, "i").item() / 9.3

    def missing(x):
        T = 330 + 43.4 * x
        K = 3.03 * np.exp(-830.3 * (T - 333) / (333 * T))
        return V * 31.1 * np.exp(7906 * (T - 360) / (360 * T)) * 9.3 * (1 - (1 + 1 / K) * x) - 146.7 * x

    assert found == pytest.approx(brentq(missing, 0.05, 0.99, xtol=1e-14), rel=1e-9)
    assert simulated(tree, "T").item() == pytest.approx(330 + 43.4 * found, rel=1e-12)
    assert X is None or found == pytest.approx(X, rel=1e-8)
    assert ("dHr(r1)", "r1.K.dH") in describe_model(problem(study))


SEBORG: Study = {
    "reactions": {"r1": {"equation": "A -> B", "A": "7.2e10 1/min", "Ea": f"{8750 * GAS_CONSTANT!r} J/mol", "dHr": "-50 kJ/mol"}},
    "reactor": {"type": "cstr"},
    "energy": {"type": "jacket", "heat_capacity": "239 J/L/K", "UA": "5e4 J/min/K"},
    "conditions": {"V": "100 L", "Q": "100 L/min", "T_feed": "350 K", "feed": {"A": "1 mol/L", "B": "0 mol/L"}},
}


def test_the_exothermic_tank_settles_where_the_feed_leads():
    """Of the three steady states at 300 K the feed leads to the stable one; at 305 K there is one, and the tank oscillates about it."""
    tree = simulate(SEBORG, "T_coolant [K]\n300\n290\n305\n")
    assert_allclose(simulated(tree, "T")[0], [324.47544343159893], rtol=1e-9)
    assert_allclose(simulated(tree, "A")[0], [0.8772529460809677], rtol=1e-9)
    A, T = simulated(tree, "A")[1].item(), simulated(tree, "T")[1].item()
    k = 7.2e10 * np.exp(-8750 / T)
    assert (1 - A - k * A, 350 - T + 5e4 / 239 * k * A + 5e4 / 239 / 100 * (290 - T)) == pytest.approx((0, 0), abs=1e-8)
    assert np.isnan(simulated(tree, "T")[2]).all()
    assert tree["simulation"]["status"].values.tolist()[:2] == [0, 0]


def test_a_coolant_that_warms_up():
    """KIPET's jacketed tank at rest: the coolant is a second balance there, 0 = m cp (T_in - T_out) + UA (T - T_out)."""
    UA, flow, C, V, tau = 1000 * 4.5 / 1000, 0.15 * 1000 * 1.2 / 3.6, 1025 * 1.55, 0.2, 0.2 / 0.1  # kW/K; W/K; kJ/m^3/K; m^3; h
    k, E, dH, cA = 2.5, 255.0, 160.0, 2500.0  # 1/h, K, kJ/mol, mol/m^3

    def rest(y):
        A, T, Tc = y
        r = k * np.exp(-E / T) * A
        return [
            (cA - A) / tau - r,
            (293.15 - T) / tau + dH / C * r - UA * 3600 / (C * V) * (T - Tc),
            flow * (283.15 - Tc) + UA * 1e3 * (T - Tc),
        ]

    y = solve_ivp(lambda t, y: rest(y), (0, 1000), [1000, 293.15, 293.15], method="Radau", rtol=1e-11, atol=1e-9).y[:, -1]
    study: Study = {
        "reactions": {"r1": {"equation": "A -> B", "A": "2.5 1/h", "Ea": f"{E * GAS_CONSTANT!r} J/mol", "dHr": "-160 kJ/mol"}},
        "reactor": {"type": "cstr"},
        "energy": {"type": "jacket", "heat_capacity": f"{C!r} kJ/m^3/K", "UA": f"{UA!r} kW/K", "coolant_flow": f"{flow!r} W/K"},
        "conditions": {
            "V": "0.2 m^3",
            "Q": "0.1 m^3/h",
            "T_feed": "293.15 K",
            "T_coolant": "283.15 K",
            "feed": {"A": "2500 mol/m^3", "B": "0 mol/L"},
        },
    }
    tree = simulate(study)
    assert_allclose([simulated(tree, "A").item(), simulated(tree, "T").item()], y[:2], rtol=1e-8)


# ----------------------------------------------------------------------------------------------------------------- vessels

GAS = """
phases:
- {name: gas, thermo: ideal-gas, kinetics: gas, elements: [H], species: [A, B], state: {T: 600 K, P: 1 bar}}
species:
- {name: A, composition: {H: 2}, thermo: {model: constant-cp, T0: 298.15 K, h0: 0 J/mol, s0: 100 J/mol/K, cp0: 100 J/mol/K}}
- {name: B, composition: {H: 2}, thermo: {model: constant-cp, T0: 298.15 K, h0: -50 kJ/mol, s0: 100 J/mol/K, cp0: 120 J/mol/K}}
reactions:
- {equation: A => B, rate-constant: {A: 1.0e+07 1/s, b: 0, Ea: 100 kJ/mol}}
"""


@pytest.mark.filterwarnings("ignore:.*clone:DeprecationWarning")
def test_an_adiabatic_vessel_against_cantera():
    """A gas at constant volume keeps its energy: heat capacities at constant volume, cp - R, and a reaction without change of moles."""
    ct = pytest.importorskip("cantera")
    gas = ct.Solution(yaml=GAS)
    gas.TPX = 600.0, 2e5, "A:1"
    start = float(gas.concentrations[0]) * 1e3
    reactor = ct.IdealGasReactor(gas)
    network = ct.ReactorNet([reactor])
    network.rtol, network.atol = 1e-11, 1e-18
    times, expected = [0.5, 1.0, 2.0, 3.0, 3.5, 4.0], []
    for t in times:
        network.advance(t)
        expected.append([reactor.T, start * reactor.Y[0]])
    tree = simulate(
        {
            "formulas": False,
            "reactions": {"r1": {"equation": "A -> B", "A": "1e7 1/s", "Ea": "100 kJ/mol", "dHr": "-50 kJ/mol"}},
            "reactor": {"type": "batch"},
            "energy": {
                "type": "adiabatic",
                "heat_capacity": {"A": f"{100 - GAS_CONSTANT!r} J/mol/K", "B": f"{120 - GAS_CONSTANT!r} J/mol/K"},
                "at": "298.15 K",
            },
            "conditions": {"T_initial": "600 K"},
            "initial": {"A": f"{start!r} mol/m^3", "B": "0 mol/m^3"},
            "simulate": {"times": [f"{t} s" for t in times]},
            "solver": {"rtol": 1e-10},
        }
    )
    found = np.stack([simulated(tree, "T")[0], simulated(tree, "A")[0]], axis=1)
    assert np.ptp(found[:, 0]) > 20
    assert_allclose(found, expected, rtol=1e-7)


RUNS = ((300.0, 2000.0, 300.0), (310.0, 2000.0, 300.0), (320.0, 1500.0, 290.0))
TIMES = np.linspace(0, 5400, 13)


def cooled(T0, A0, coolant):
    def rhs(t, y):
        r = 1e-3 * np.exp(-70e3 / GAS_CONSTANT * (1 / y[1] - 1 / 330)) * y[0]
        return [-r, (100e3 * r + 600 * (coolant - y[1])) / 3.2e6]

    return solve_ivp(rhs, (0, 5400), [A0, T0], method="Radau", rtol=1e-11, atol=1e-9, t_eval=TIMES).y


def test_heat_and_exchange_are_fitted_with_the_rate_constant():
    """k, Ea, dHr and UA/V from concentrations and temperatures in degC, of data without noise; the start of dHr is found."""
    rows = ["experiment,time [min],T0 [degC],T_jacket [degC],A0 [mol/L],A [mol/L],T [degC]"]
    for run, (T0, A0, coolant) in enumerate(RUNS):
        for t, A, T in zip(TIMES, *cooled(T0, A0, coolant), strict=True):
            cells = (t / 60, T0 - 273.15, coolant - 273.15, A0 / 1000, A / 1000, T - 273.15)
            rows.append(",".join([str(run), *(f"{cell:.17g}" for cell in cells)]))
    study: Study = {
        "reactions": {"r1": {"equation": "A -> B", "k": {"unit": "1/s", "at": "330 K"}, "Ea": {}, "dHr": {}}},
        "reactor": {"type": "batch"},
        "energy": {"type": "jacket", "heat_capacity": "3.2 MJ/m^3/K", "UA/V": {"start": "1 kW/m^3/K"}},
        "initial": {"B": "0 mol/L"},
        "noise": {"A": "5 mmol/L", "T": "0.2 K"},
        "fit": {"sigma": "trusted"},
    }
    tree = fit(study, "\n".join(rows))
    found = parameters(tree, "r1.k_ref", "r1.Ea", "r1.dHr", "UA/V")
    assert_allclose(found, [1e-3, 70, -100, 0.6], rtol=1e-6)
    assert statistic(tree, "chi_square") < 1e-6


# ------------------------------------------------------------------------------------------------------------------- tubes


@pytest.mark.parametrize("quantity", ["pfr_volume_X04", "pfr_volume_X07", "X_at_1m3", "X_at_2m3", "X_at_3m3"])
def test_butane_in_a_tube(data, quantity):
    """Fogler, example 8-6: adiabatic, limited by its equilibrium; printed 1.15 m^3 for X = 0.4."""
    case = data("fogler-butane-adiabatic")
    computed, tolerance = case.facts["expected"]["computed"], case.facts["tolerance"]["computed_rel"]
    value = computed[quantity]
    V, X = (value, float(f"0.{quantity[-1]}")) if quantity.startswith("pfr") else (float(quantity[5]), value)
    tree = simulate({**butane(V), "reactor": {"type": "plug_flow", "density": "constant"}})
    X_found = simulated(tree, "i").item() / 9.3
    assert_allclose(X_found, X, rtol=tolerance)
    assert_allclose(simulated(tree, "T").item(), 330 + 43.4 * X_found, rtol=1e-9)


def cooled_tube(coolant_flow=None):
    """A -> B, 2 B -> C over the volume, with a coolant that keeps its temperature or flows beside the tube; by Radau."""
    V, Q, UA, C, cp = 0.02, 1e-4, 900.0, 1.9e6, np.array([120.0, 80.0, 250.0])

    def slopes(v, y):
        c, T, coolant = y[:3], y[3], y[4]
        k1, k2 = (k * np.exp(-E / GAS_CONSTANT * (1 / T - 1 / 340)) for k, E in ((8e-3, 60e3), (2e-6, 75e3)))
        r = np.array([k1 * c[0], k2 * c[1] ** 2])
        nu = np.array([[-1, 1, 0], [0, -2, 1]])
        dH = np.array([-70e3, -40e3]) + nu @ cp * (T - 298.15)
        heat = UA / V * (coolant - T)
        return [*(nu.T @ r / Q), (heat - dH @ r) / (Q * (C + cp @ c)), 0.0 if coolant_flow is None else -heat / coolant_flow]

    return solve_ivp(slopes, (0, V), [2500.0, 0.0, 0.0, 330.0, 305.0], method="Radau", rtol=1e-11, atol=1e-9).y[:, -1]


TUBE: Study = {
    "reactions": {
        "r1": {"equation": "A -> B", "k": "8e-3 1/s", "Ea": "60 kJ/mol", "at": "340 K", "dHr": "-70 kJ/mol"},
        "r2": {"equation": "2 B -> C", "k": "2e-6 m^3/mol/s", "Ea": "75 kJ/mol", "at": "340 K", "dHr": "-40 kJ/mol"},
    },
    "formulas": False,
    "reactor": {"type": "plug_flow", "density": "constant"},
    "energy": {
        "type": "jacket",
        "at": "298.15 K",
        "heat_capacity": {"A": "120 J/mol/K", "B": "80 J/mol/K", "C": "250 J/mol/K", "solvent": "1.9 MJ/m^3/K"},
        "UA": "900 W/K",
    },
    "conditions": {
        "V": "20 L",
        "Q": "0.1 L/s",
        "T_feed": "330 K",
        "T_coolant": "305 K",
        "feed": {"A": "2.5 mol/L", "default": "0 mol/L"},
    },
    "solver": {"rtol": 1e-10},
}


@pytest.mark.parametrize("flow", [None, 600.0], ids=["coolant keeps its temperature", "coolant flows beside"])
def test_a_cooled_tube(flow):
    y = cooled_tube(flow)
    study = TUBE if flow is None else {**TUBE, "energy": {**TUBE["energy"], "coolant_flow": f"{flow} W/K"}}
    tree = simulate(study)
    assert_allclose([simulated(tree, name).item() * 1e3 for name in "ABC"], y[:3], rtol=1e-8)
    assert_allclose(simulated(tree, "T").item(), y[3], rtol=1e-9)
    if flow is not None:
        assert_allclose(simulated(tree, "T_jacket").item(), y[4], rtol=1e-9)
    else:
        per_volume = {**study["energy"], "UA/V": "45 kW/m^3/K"}
        del per_volume["UA"]
        assert_allclose(simulated(simulate({**study, "energy": per_volume}), "T"), simulated(tree, "T"), rtol=1e-12)


def test_tanks_in_series_are_tanks_one_after_the_other():
    series = simulate({**SEBORG, "reactor": {"type": "cstr", "tanks": 2}}, "T_coolant [K]\n310\n")
    half = {**SEBORG, "energy": {**SEBORG["energy"], "UA": "2.5e4 J/min/K"}}
    first = simulate({**half, "conditions": {**SEBORG["conditions"], "V": "50 L", "T_coolant": "310 K"}})
    A, B, T = (simulated(first, name).item() for name in ("A", "B", "T"))
    between = {"V": "50 L", "T_coolant": "310 K", "T_feed": f"{T!r} K", "feed": {"A": f"{A!r} mol/L", "B": f"{B!r} mol/L"}}
    second = simulate({**half, "conditions": {**SEBORG["conditions"], **between}})
    for name in ("A", "T"):
        assert_allclose(simulated(series, name), simulated(second, name), rtol=1e-9)


# --------------------------------------------------------------------------------------------------- fed vessels, start-up


def test_a_fed_vessel_with_a_jacket():
    """A + B -> C, B fed cold from 200 s to 1400 s: amounts, volume and enthalpy by Radau from switch to switch."""
    V0, q, UA, C = 1e-3, 5e-7, 3.0, 3.6e6

    def slopes(on):
        def rhs(t, y):
            n, V, T = y[:3], y[3], y[4]
            c = n / V
            r = 2e-6 * np.exp(-50e3 / GAS_CONSTANT * (1 / T - 1 / 320)) * c[0] * c[1]
            fed = q * on
            heat = 120e3 * r * V + UA * (300 - T) + fed * C * (285 - T)
            return [-r * V, fed * 4000 - r * V, r * V, fed, heat / (C * V)]

        return rhs

    y, t0, times, found = np.array([2.0, 0.0, 0.0, V0, 315.0]), 0.0, [100.0, 600.0, 1400.0, 3000.0], []
    for end, on in ((200.0, 0), (1400.0, 1), (3000.0, 0)):
        asked = [t for t in times if t0 < t <= end]
        part = solve_ivp(slopes(on), (t0, end), y, method="Radau", rtol=1e-11, atol=1e-13, t_eval=sorted({*asked, end}))
        found += [part.y[:, list(part.t).index(t)] for t in asked]
        y, t0 = part.y[:, -1], end
    study: Study = {
        "formulas": False,
        "reactions": {"r1": {"equation": "A + B -> C", "k": "2e-6 m^3/mol/s", "Ea": "50 kJ/mol", "at": "320 K", "dHr": "-120 kJ/mol"}},
        "reactor": {"type": "semibatch"},
        "energy": {"type": "jacket", "heat_capacity": "3.6 MJ/m^3/K", "UA": "3 W/K"},
        "conditions": {
            "V": "1 L",
            "Q": "0.5 mL/s",
            "feed_start": "200 s",
            "feed_stop": "1400 s",
            "feed": {"B": "4 mol/L", "default": "0 mol/L"},
            "T_initial": "315 K",
            "T_feed": "285 K",
            "T_coolant": "300 K",
        },
        "initial": {"A": "2 mol/L", "default": "0 mol/L"},
        "simulate": {"times": [f"{t} s" for t in times]},
        "solver": {"rtol": 1e-10},
    }
    tree, expected = simulate(study), np.array(found)
    assert np.ptp(expected[:, 4]) > 5
    assert_allclose(simulated(tree, "T")[0], expected[:, 4], rtol=1e-8)
    assert_allclose(simulated(tree, "A")[0] * 1e3, expected[:, 0] / expected[:, 3], rtol=1e-7)


START_UP: Study = {
    "reactions": {
        "r1": {"equation": "A -> B", "A": {"start": "3 1/h"}, "Ea": f"{255 * GAS_CONSTANT!r} J/mol", "dHr": {"start": "-192 kJ/mol"}}
    },
    "reactor": {"type": "transient_cstr"},
    "energy": {
        "type": "jacket",
        "heat_capacity": f"{1025 * 1.55!r} kJ/m^3/K",
        "UA": {"start": f"{1200 * 4.5} W/K"},
        "coolant_flow": f"{0.15 * 1000 * 1.2!r} kJ/h/K",
        "coolant_holdup": f"{0.055 * 1000 * 1.2!r} kJ/K",
    },
    "conditions": {
        "V": "0.2 m^3",
        "Q": "0.1 m^3/h",
        "feed": {"A": "2500 mol/m^3", "B": "0 mol/m^3"},
        "T_feed": "293.15 K",
        "T_coolant": "283.15 K",
        "T_initial": "293.15 K",
        "T_jacket_initial": "293.15 K",
    },
    "initial": {"A": "1000 mol/m^3", "B": "0 mol/m^3"},
    "noise": {"A": "0.5 mol/m^3", "T": "0.25 K", "T_jacket": "0.25 K"},
    "fit": {"sigma": "scaled"},
}


@pytest.mark.parametrize("number", ["three", "four"])
def test_start_up_of_a_jacketed_tank(case, number):
    """KIPET, example 16: k, the heat of reaction, UA and, of four, E/R, from A, T and the coolant's temperature over time."""
    jacketed = case("kipet-cstr-jacketed-nonisothermal")
    expected, tolerance = jacketed.facts["expected"], jacketed.facts["tolerance"]
    text = (jacketed.folder / "data.csv").read_text(encoding="utf-8")
    text = text.replace("time_h,A_mol_per_m3,T_K,Tc_K", "time [h],A [mol/m^3],T [K],T_jacket [K]")
    of_r1 = START_UP["reactions"]["r1"]
    Ea = of_r1["Ea"] if number == "three" else {"start": of_r1["Ea"]}
    tree = fit({**START_UP, "reactions": {"r1": {**of_r1, "Ea": Ea}}}, text)
    values, errors = expected[f"{number}_parameters"], expected[f"{number}_std_errors"]
    per_kelvin = {"J/mol": 1, "kJ/mol": 1e-3}[tree["parameters"]["unit"].sel(parameter="r1.Ea").item()] * GAS_CONSTANT
    pairs = [("delH_kJ_per_mol", "r1.dHr", -1.0), ("h_W_per_m2_K", "UA", 4.5)]
    pairs += [("ER_K", "r1.Ea", per_kelvin)] if number == "four" else []
    for name, ours, factor in pairs:
        assert_allclose(parameters(tree, ours), [values[name] * factor], rtol=tolerance["parameters_rel"])
        assert_allclose(parameters(tree, ours, quantity="stderr"), [errors[name] * abs(factor)], rtol=tolerance["std_errors_rel"])
    A = tree["parameters"].sel(derived="r1.A")
    assert A["derived_value"].item() == pytest.approx(values["k_per_h"], rel=tolerance["parameters_rel"])
    assert A["derived_stderr"].item() == pytest.approx(errors["k_per_h"], rel=tolerance["std_errors_rel"])
    objective = expected["objective" if number == "three" else "four_objective"]
    assert statistic(tree, "chi_square") == pytest.approx(objective, rel=tolerance["objective_rel"])
    if number == "four":  # of ln k = ln A and E, from k at the reference temperature and E
        names = ["r1.k_ref", "r1.Ea"]
        C = tree["covariance"]["covariance"].sel(parameter=names, other_parameter=names).values
        T_ref = float(tree["parameters"]["note"].sel(parameter="r1.k_ref").item().split()[1])
        slopes = np.array([[1 / parameters(tree, "r1.k_ref").item(), 1 / (per_kelvin * T_ref)], [0, 1]])
        C = slopes @ C @ slopes.T
        assert C[0, 1] / np.sqrt(C[0, 0] * C[1, 1]) == pytest.approx(expected["correlation_k_ER"], abs=1e-4)
