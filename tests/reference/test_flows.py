"""Tubes and fed vessels against published answers and closed forms, through the whole product."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import InputError
from tests.reference.studies import fit, parameters, problem, simulate, simulated, statistic

# -------------------------------------------------------------------------------------------------------------------- tubes


def benzene(case, V, **conditions):
    said = case.facts["model"]["constants"]
    return {
        "reactions": {
            "r1": {"equation": "2 B <=> D + H", "kf": said["k1"], "K": f"{said['K1']} -"},
            "r2": {"equation": "B + D <=> Tri + H", "kf": said["k2"], "K": f"{said['K2']} -"},
        },
        "reactor": {"type": "plug_flow", "density": "ideal_gas"},
        "conditions": {"V": f"{V} L", "F": "60e3 mol/h", "T": f"{said['T_K']} K", **conditions},
        "responses": {"X": "1 - expansion*[B]/feed[B]"},
    }


def benzene_feed(case):
    """mol/L, with the book's gas constant."""
    said = case.facts["model"]["constants"]
    return said["P_atm"] / (said["R_L_atm"] * said["T_K"])


def test_benzene_pyrolysis(data):
    """Rawlings & Ekerdt, chapter 4: 403.25 L for a conversion of one half."""
    case = data("rawlings-benzene-pyrolysis-pfr")
    feed, expected, tolerance = benzene_feed(case), case.facts["expected"], case.facts["tolerance"]
    given = {"feed": {"B": f"{feed} mol/L", "default": "0 mol/L"}}
    for row in zip(*case.columns("expected.csv").values(), strict=True):
        V, *flows = (float(number) for number in row)
        if V == 0:
            continue
        tree = simulate(benzene(case, V, **given))
        found = [simulated(tree, name)[0, 0] for name in ("B", "D", "H", "Tri")]
        scale = 60e3 / feed * (1000 if tree["simulation"]["unit"].sel(response="B").item() == "mol/m^3" else 1) ** -1
        assert_allclose(np.array(found) * scale, flows, rtol=tolerance["profile_rel"])

    def conversion(V):
        return simulated(simulate(benzene(case, V, **given)), "X")[0, 0]

    V = brentq(lambda V: conversion(V) - 0.5, 400, 410, xtol=1e-3)
    assert pytest.approx(expected["computed_volume"], rel=tolerance["printed_rel"]) == V


@pytest.mark.parametrize(
    "how", [{"B": "p", "default": "0 Pa"}, {"B": "100 %", "default": "0 %"}], ids=["partial pressure", "mole fraction"]
)
def test_a_feed_said_in_other_ways(data, how):
    case = data("rawlings-benzene-pyrolysis-pfr")
    feed, T = benzene_feed(case), case.facts["model"]["constants"]["T_K"]
    P = f"{feed * 1e3 * GAS_CONSTANT * T} Pa"
    plain = simulate(benzene(case, 200, feed={"B": f"{feed} mol/L", "default": "0 mol/L"}))
    other = simulate(benzene(case, 200, feed={name: P if value == "p" else value for name, value in how.items()}, P=P))
    assert_allclose(simulated(other, "X"), simulated(plain, "X"), rtol=1e-9)


SPECIES = "thermo: {model: constant-cp, T0: 298.15 K, h0: 0 J/mol, s0: 0 J/mol/K, cp0: 50 J/mol/K}"
MECHANISM = f"""
phases:
- {{name: gas, thermo: ideal-gas, elements: [N, O], species: [A, B, C], kinetics: gas, state: {{T: 500.0, P: 1 bar}}}}
species:
- {{name: A, composition: {{N: 2, O: 4}}, {SPECIES}}}
- {{name: B, composition: {{N: 1, O: 2}}, {SPECIES}}}
- {{name: C, composition: {{N: 3, O: 6}}, {SPECIES}}}
reactions:
- {{equation: A => 2 B, rate-constant: {{A: 0.3, b: 0, Ea: 0}}}}
- {{equation: A + B => C, rate-constant: {{A: 20.0, b: 0, Ea: 0}}}}
"""


def test_a_gas_against_cantera():
    """`FlowReactor` of Cantera at constant temperature, so wide and slow that its pressure stays; m^3/kmol/s there."""
    cantera = pytest.importorskip("cantera")
    cantera.suppress_deprecation_warnings()
    gas = cantera.Solution(yaml=MECHANISM)
    gas.TPX = 500, 1e5, "A:1"
    tube = cantera.FlowReactor(gas)
    tube.energy_enabled, tube.area, tube.mass_flow_rate = False, 1e-4, 1e-5 * gas.density
    net = cantera.ReactorNet([tube])
    net.rtol, net.atol = 1e-10, 1e-18
    net.advance(0.3)
    study = {
        "reactions": {"r1": {"equation": "A -> 2 B", "k": "0.3 1/s"}, "r2": {"equation": "A + B -> C", "k": "0.02 m^3/mol/s"}},
        "reactor": {"type": "plug_flow", "density": "ideal_gas"},
        "conditions": {"T": "500 K", "P": "1 bar", "V": "3e-5 m^3", "Q": "1e-5 m^3/s", "feed": {"A": "1 bar", "default": "0 bar"}},
    }
    tree = simulate(study)
    found = np.array([simulated(tree, name)[0, 0] for name in "ABC"])
    assert_allclose(found / found.sum(), gas.X, rtol=2e-6)


EXPANDING = {
    "reactions": {"r1": {"equation": "A -> 3 B", "k": {"start": "1 1/s"}}},
    "reactor": {"type": "plug_flow", "density": "ideal_gas"},
    "conditions": {"T": "600 K"},
    "responses": {"X": "1 - expansion*[A]/feed[A]"},
}


def expanding(columns, feed):
    """Conversions by k tau = (1 + eps) ln(1/(1 - X)) - eps X, eps = 2 y_A, k = 0.3 1/s (Levenspiel 1999, equation 5.21)."""
    rows = [columns]
    for tau, y in product((0.5, 1.0, 3.0, 8.0), (0.25, 1.0)):
        eps = 2 * y
        X = brentq(lambda X, tau=tau, eps=eps: -(1 + eps) * math.log(1 - X) - eps * X - 0.3 * tau, 0, 1 - 1e-12, xtol=1e-15)
        rows.append(f"{tau},{feed(y)},{X:.15g}")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize(
    ("header", "feed"),
    [
        ("tau [s],p_A_in [bar],p_inert_in [bar],X [-]", lambda y: f"{2 * y},{2 - 2 * y}"),
        ("tau [s],y_A_feed [%],y_inert_feed [%],X [-]", lambda y: f"{100 * y},{100 - 100 * y}"),
    ],
    ids=["partial pressures", "mole fractions"],
)
def test_fit_of_an_expanding_gas(header, feed):
    study = {
        **EXPANDING,
        "reactions": {"r1": {"equation": "A + inert -> 3 B + inert", "k": {}, "orders": {"inert": 0}}},
        "conditions": {"T": "600 K", "P": "2 bar", "feed": {"default": "0 bar"}},
    }
    study["reactions"]["r1"]["k"] = {"start": "1 1/s"}
    result = fit(study, expanding(header, feed))
    assert_allclose(parameters(result, "r1.k"), [0.3], rtol=1e-7)
    assert result.attrs["status_label"] == "success"


def test_fit_of_a_catalyst_bed_of_constant_density():
    """X = 1 - exp(-k W/Q), W and Q as columns; without a start."""
    rows = "W [g],Q [L/min],A [mol/L]\n" + "".join(
        f"{W},{Q},{0.4 * math.exp(-2.5 * W / 1000 / Q)!r}\n" for W, Q in product((50, 200), (0.1, 0.4))
    )
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": {"unit": "L/kg/min"}}},
        "reactor": {"type": "plug_flow", "density": "constant", "basis": "catalyst_mass"},
        "conditions": {"feed": {"A": "0.4 mol/L", "default": "0 mol/L"}},
    }
    assert_allclose(parameters(fit(study, rows), "r1.k"), [2.5], rtol=1e-6)


def of_gas(**conditions):
    return {**EXPANDING, "reactions": {"r1": {"equation": "A -> 3 B", "k": "1 1/s"}}, "conditions": {"tau": "1 s", **conditions}}


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        (
            {"T": "600 K", "P": "2 bar", "feed": {"A": "0.5 bar", "default": "0 bar"}},
            "Experiment '1': the feed adds up to 0.5 bar at 600 K, but P is 2 bar. Give every species of the feed, inert ones too, or"
            " correct P.",
        ),
        (
            {"feed": {"A": "0.5 bar", "B": "0 mol/L"}},
            "feed.A is a partial pressure; the concentration follows with T. Add a column T, or write T = \"350 K\" under [conditions].",
        ),
        (
            {"T": "600 K", "feed": {"A": "50 %", "B": "0 mol/L"}},
            "feed.A is a mole fraction; the concentration follows with T and P. Add a column P, or write P = \"1 bar\" under [conditions].",
        ),
        (
            {"P": "2 bar", "feed": {"A": "40 mol/m^3", "B": "0 mol/L"}},
            'P without T says nothing of a gas. Add a column such as "T [degC]", or T = "350 K" under [conditions].',
        ),
        (
            {"1/tau": "1 1/s", "feed": {"A": "40 mol/m^3", "B": "0 mol/L"}},
            "plug_flow: the residence time is given more than once (tau, 1/tau). Keep one.",
        ),
    ],
)  # fmt: skip
def test_what_a_gas_must_be_given(conditions, sentence):
    with pytest.raises(InputError) as error:
        problem(of_gas(**conditions))
    assert sentence in error.value.problems


def test_expansion_is_of_gases():
    study = {**of_gas(feed={"A": "1 mol/L", "B": "0 mol/L"}), "reactor": {"type": "plug_flow", "density": "constant"}}
    with pytest.raises(InputError, match="uses 'expansion', which is neither a condition nor a parameter"):
        problem(study)


# ----------------------------------------------------------------------------------------------------------- fed vessels


def test_fed_batch_in_mixed_units(case):
    """KIPET, example 20; the feed ends at 15 min. All 42 readings with equal weights, negative ones too."""
    fed = case("kipet-fed-batch-units")
    expected, tolerance = fed.facts["expected"], fed.facts["tolerance"]
    text = "t" + (fed.folder / "data.csv").read_text(encoding="utf-8").replace("\t", "").replace(" ", "")
    study = {
        "reactions": {"r1": {"equation": "A + B -> C", "k": {"start": "0.05 ft^3/mol/min"}}},
        "reactor": {"type": "semibatch"},
        "conditions": {"V": "0.264172 gal", "Q": "6 L/h", "feed_stop": "15 min", "feed": {"B": "2 mol/L", "default": "0 mol/L"}},
        "initial": {"A": "2 mol/L", "default": "0 mol/L"},
        "data": {"columns": {"time": "t [min]", **{name: f"{name} [mol/L]" for name in "ABC"}}, "allow_negative": True},
    }
    result = fit(study, text)
    assert_allclose(parameters(result, "r1.k"), [expected["k1_ft3_per_mol_min"]], rtol=tolerance["k1_rel"])
    per_litre = parameters(result, "r1.k", quantity="stderr") * 28.316846592
    assert_allclose(per_litre, [expected["std_error_L_per_mol_min"]], rtol=tolerance["k1_rel"])
    assert statistic(result, "ssr") == pytest.approx(expected["objective"], rel=tolerance["objective_rel"])


def test_amounts_of_a_fed_vessel():
    """A response of amounts: with a fast reaction B fed to A is used up as it comes, so A falls by what was fed."""
    study = {
        "reactions": {"r1": {"equation": "A + B -> C", "k": "1e4 L/mol/s"}},
        "reactor": {"type": "semibatch"},
        "conditions": {"V": "2 L", "Q": "0.1 L/min", "feed": {"B": "1 mol/L", "default": "0 mol/L"}},
        "initial": {"A": "1 mol/L", "default": "0 mol/L"},
        "responses": {"X": "1 - expansion*[A]/initial[A]"},
        "simulate": {"times": "0:15:4 min"},
    }
    assert_allclose(simulated(simulate(study), "X")[0], np.array([0, 5, 10, 15]) * 0.1 / 2, atol=2e-4)


# --------------------------------------------------------------------------------------------------------- tanks in series


def test_fit_of_tanks_in_series():
    rows = "tau [min],A [mol/L]\n" + "".join(f"{tau},{2 / (1 + 0.3 * tau / 4) ** 4!r}\n" for tau in (1, 3, 8))
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": {"start": "1 1/min"}}},
        "reactor": {"type": "cstr", "tanks": 4},
        "conditions": {"feed": {"A": "2 mol/L", "default": "0 mol/L"}},
    }
    assert_allclose(parameters(fit(study, rows), "r1.k"), [0.3], rtol=1e-8)
    with pytest.raises(InputError) as error:
        problem({**study, "reactor": {"type": "plug_flow", "density": "constant", "tanks": 4}}, rows)
    assert error.value.problems == ('[reactor] tanks: a plug_flow reactor is one vessel. Remove it, or write type = "cstr".',)


def test_a_step_of_a_tracer():
    """1 - exp(-t/tau) of a stirred tank in which nothing reacts, and a fit finds nothing reacting."""
    rows = "time [s],A [mol/L]\n" + "".join(f"{t},{1 - math.exp(-t / 40)!r}\n" for t in (10, 30, 60, 100))
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": {"start": "1e-3 1/s", "scale": "linear"}}},
        "reactor": {"type": "transient_cstr"},
        "conditions": {"V": "2 L", "Q": "3 L/min", "feed": {"A": "1 mol/L", "default": "0 mol/L"}},
        "initial": {"default": "0 mol/L"},
    }
    assert_allclose(parameters(fit(study, rows), "r1.k"), [0.0], atol=1e-9)
