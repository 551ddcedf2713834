"""Rates per catalyst and of partial pressures, against published optima and closed forms, through the whole product."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import InputError
from tests.reference.studies import fit, parameters, simulate, simulated, statistic

PENTANE = {
    "reactor": {"type": "differential", "basis": "turnover", "amounts": "partial_pressure"},
    "data": {
        "columns": {
            "p[H2]": "p_hydrogen_psia [psia]",
            "p[nC5]": "p_n_pentane_psia [psia]",
            "p[iC5]": "p_isopentane_psia [psia]",
            "rate[r1]": "rate_per_h [1/h]",
        }
    },
}
NAMES = ("r1.k", "r1.KH", "r1.KN", "r1.KI")


def hougen_watson(start, scale="log"):
    units = ("1/h", "1/psia", "1/psia", "1/psia")
    given = {
        name.removeprefix("r1."): {"start": f"{value} {unit}", "scale": scale}
        for name, value, unit in zip(NAMES, start, units, strict=True)
    }
    rate = "k*KN*(p[nC5] - p[iC5]/1.632)/(1 + KH*p[H2] + KN*p[nC5] + KI*p[iC5])"
    # hydrogen is adsorbed and does not react
    reaction = {"equation": "nC5 + H2 <=> iC5 + H2", "rate": rate, "parameters": given}
    return {**PENTANE, "reactions": {"r1": reaction}}


@pytest.mark.parametrize("start", ["a", "b"])
def test_pentane_isomerisation(case, start):
    """Carr 1960, the optimum of Bates & Watts 1988, from their start and from ones."""
    pentane = case("bw-pentane-isomerization")
    expected, tolerance = pentane.facts["expected"], pentane.facts["tolerance"]
    text = (pentane.folder / "data.csv").read_text(encoding="utf-8")
    result = fit(hougen_watson(pentane.facts["start"][start]), text)
    names = ("th1", "th2", "th3", "th4")
    for published, rtol in ((expected["parameters"], tolerance["parameters_rel"]), (expected["parameters_more_digits"], 1e-5)):
        assert_allclose(parameters(result, *NAMES), [published[name] for name in names], rtol=rtol)
    assert statistic(result, "ssr") == pytest.approx(expected["sse"], rel=tolerance["sse_rel"])
    order = {"parameter": list(NAMES), "other_parameter": list(NAMES)}
    assert_allclose(result["covariance"]["correlation"].sel(order).values, expected["correlation"], atol=tolerance["correlation_abs"])
    errors = [expected["std_errors_more_digits"][name] for name in names]
    assert_allclose(parameters(result, *NAMES, quantity="stderr"), errors, rtol=tolerance["std_errors_rel"])


def test_pentane_without_a_start(case):
    """The size of every constant follows from its unit, here of rates and partial pressures."""
    pentane = case("bw-pentane-isomerization")
    result = fit(hougen_watson_unknown(), (pentane.folder / "data.csv").read_text(encoding="utf-8"))
    assert statistic(result, "ssr") == pytest.approx(pentane.facts["expected"]["sse"], rel=pentane.facts["tolerance"]["sse_rel"])


def hougen_watson_unknown():
    study = hougen_watson((1, 1, 1, 1))
    reaction = study["reactions"]["r1"]
    units = {name: {"unit": given["start"].split()[1]} for name, given in reaction["parameters"].items()}
    return {**study, "reactions": {"r1": {**reaction, "parameters": units}}}


# ------------------------------------------------------------------------------------------------------------ tanks and vessels


def first_order(reactor, k, **more):
    return {"reactions": {"r1": {"equation": "A -> B", "k": k}}, "reactor": reactor, **more}


TANK = {"type": "cstr", "basis": "catalyst_mass"}


@pytest.mark.parametrize(
    "given",
    [
        {"W/Q": "20 kg s/m^3"},
        {"W": "10 g", "Q": "0.5 L/s"},
        {"W/F": "0.02 kg s/mol"},  # of A and inert, 1000 mol/m^3 together
        {"W": "10 g", "F": "0.5 mol/s"},
        {"WHSV": "40 1/s", "rho": "800 kg/m^3"},
    ],
    ids=" and ".join,
)
def test_tank_with_catalyst(given):
    """Q (c_feed - c) = W k c: A leaves with c_feed/(1 + k W/Q), whichever way W/Q is said."""
    feed = {"A": "600 mol/m^3", "B": "0 mol/L", "inert": "400 mol/m^3"}
    study = {
        "reactions": {"r1": {"equation": "A + inert -> B + inert", "k": "0.05 m^3/kg/s", "orders": {"inert": 0}}},
        "reactor": TANK,
        "conditions": {**given, "feed": feed},
    }
    result = simulate(study)
    assert simulated(result, "A").item() == pytest.approx(600 / (1 + 0.05 * 20), rel=1e-9)  # mol/m^3, as the feed is given


def test_tank_by_catalyst_area():
    study = first_order(
        {"type": "cstr", "basis": "catalyst_area"},
        "2 cm/s",
        conditions={"S": "2 m^2", "Q": "10 L/s", "feed": {"A": "1 mol/L", "B": "0 mol/L"}},
    )
    assert simulated(simulate(study), "A").item() == pytest.approx(1 / (1 + 0.02 * 2 / 0.01), rel=1e-9)


def test_slurry_of_two_loadings():
    """dc/dt = -(W/V) k c: twice the catalyst is twice as fast; k per catalyst mass comes out of both."""
    times = np.array([60.0, 300.0, 900.0])
    rows = [
        f"{run},{w},{t:g},{math.exp(-2e-4 * w * t):.12f}" for run, w in (("a", 5.0), ("b", 10.0)) for t in times
    ]  # g/L, s; k = 2e-4 L/g/s
    text = "\n".join(["experiment,W/V [g/L],time [s],A [mol/L]", *rows])
    study = first_order({"type": "batch", "basis": "catalyst_mass"}, {"start": "1e-3 L/g/s"}, initial={"A": "1 mol/L", "B": "0 mol/L"})
    assert parameters(fit(study, text), "r1.k") == pytest.approx(2e-4, rel=1e-7)


def test_temperature_program_with_a_loading():
    """A program of temperature runs in time, not in time times loading: k in the second half is the hot one."""
    text = "time [s],T [K],A [mol/L]\n0,300,\n100,300,0.5\n100.001,400,\n200,400,0.1"
    law = {"A": "1e3 L/g/s", "Ea": "40 kJ/mol"}
    study = {
        "reactions": {"r1": {"equation": "A -> B", **law}},
        "reactor": {"type": "batch", "basis": "catalyst_mass"},
        "conditions": {"W/V": "7 g/L"},
        "initial": {"A": "1 mol/L", "B": "0 mol/L"},
    }
    k = [7 * 1e3 * math.exp(-40e3 / (GAS_CONSTANT * T)) for T in (300.0, 400.0)]
    found = simulated(simulate(study, text), "A")[0]
    assert found[1] == pytest.approx(math.exp(-100 * k[0]), rel=1e-5)
    assert found[-1] == pytest.approx(math.exp(-100 * (k[0] + k[1])), rel=2e-4)


# ------------------------------------------------------------------------------------------------------------- partial pressures


def test_mass_action_of_partial_pressures_in_a_batch():
    """r = k p_A^2 with p = c R T: second order with the constant k (R T)^2."""
    study = {
        "reactions": {"r1": {"equation": "2 A -> B", "k": "1e-3 mol/L/s/bar^2"}},
        "reactor": {"type": "batch", "amounts": "partial_pressure"},
        "conditions": {"T": "500 K"},
        "initial": {"A": "0.1 mol/L", "B": "0 mol/L"},
        "responses": {"pressure": "p[A] + p[B]"},
        "simulate": {"times": "0:50:3 s"},
    }
    k = 1e-3 * (GAS_CONSTANT * 500 / 100) ** 2  # L/mol/s: bar L/mol is 100 J/mol
    A = 0.1 / (1 + 2 * k * 0.1 * np.array([0.0, 25.0, 50.0]))
    result = simulate(study)
    assert_allclose(simulated(result, "A")[0], A, rtol=1e-7)
    assert_allclose(simulated(result, "pressure")[0], (A + (0.1 - A) / 2) * GAS_CONSTANT * 500 / 100, rtol=1e-7)


def test_reversible_and_fractional_orders_of_partial_pressures():
    study = {
        "reactions": {
            "r1": {"equation": "A <=> B", "kf": "2 mol/kg/s/bar", "K": "4 -"},
            "r2": {"equation": "A -> C", "k": "3 mol/kg/s", "orders": {"A": 0.5}},
        },
        "reactor": {"type": "differential", "basis": "catalyst_mass", "amounts": "partial_pressure"},
        "conditions": {"p[A]": "4 bar", "p[B]": "8 bar"},
    }
    result = simulate(study)
    assert simulated(result, "rate[r1]").item() == pytest.approx(2 * (4 - 8 / 4), rel=1e-12)
    assert simulated(result, "rate[r2]").item() == pytest.approx(3 * math.sqrt(4), rel=1e-12)


def test_langmuir_hinshelwood_is_the_power_law_at_low_coverage():
    """k p_A p_B/(1 + K_A p_A + K_B p_B)^2 with K p of 1e-9; and it is not at K p of 1."""

    def rates(law):
        study = {
            "reactions": {"r1": {"equation": "A + B -> C", **law}},
            "reactor": {"type": "differential", "basis": "catalyst_mass", "amounts": "partial_pressure"},
        }
        text = "p_A [bar],p_B [bar],rate [mol/kg/s]\n0.1,1,1\n1,0.1,1\n2,3,1"
        return simulated(simulate(study, text), "rate[r1]")[:, 0]

    def surface(K):
        named = {"type": "langmuir_hinshelwood", "adsorbed": ["A", "B"], "sites": 2}
        return rates({"law": named, "parameters": {"k": "0.7 mol/kg/s/bar^2", "K_A": f"{K} 1/bar", "K_B": f"{K} 1/bar"}})

    power = rates({"k": "0.7 mol/kg/s/bar^2"})
    assert_allclose(power, [0.07, 0.07, 4.2], rtol=1e-12)
    assert_allclose(surface(1e-10), power, rtol=2e-9)
    assert_allclose(surface(1), power / np.array([2.1, 2.1, 6.0]) ** 2, rtol=1e-12)


def test_concentrations_where_rates_are_of_partial_pressures_need_the_temperature():
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": "2 mol/L/s/bar"}},
        "reactor": {"type": "differential", "amounts": "partial_pressure"},
        "conditions": {"A": "0.1 mol/L"},
    }
    with pytest.raises(InputError, match="No temperature"):
        simulate(study)
    warm = {**study, "conditions": {**study["conditions"], "T": "400 K"}}
    assert simulated(simulate(warm), "rate[r1]").item() == pytest.approx(2 * 0.1 * GAS_CONSTANT * 400 / 100, rel=1e-12)


@pytest.mark.parametrize(
    ("study", "words"),
    [
        (first_order(TANK, "0.1 1/s"), ["r1.k", "1/s", "volume/mass/time", "m^3/kg/s", "per catalyst mass"]),
        (
            first_order({"type": "differential", "basis": "catalyst_mass", "amounts": "partial_pressure"}, "0.1 1/s"),
            ["k*p[A]", "amount/mass/time/pressure", "of partial pressures"],
        ),
        (
            {
                "reactions": {"r1": {"equation": "A -> B", "rate": "k*p[A]", "parameters": {"k": "1 mol/g/h/bar"}}},
                "reactor": {"type": "differential"},
            },
            ['basis = "catalyst_mass"', "amount/mass/time"],
        ),
        (first_order(TANK, "0.1 L/g/s"), ["space time of the catalyst", "W/Q"]),
        (first_order(TANK, "0.1 L/g/s", conditions={"W": "1 g", "feed": {"A": "1 mol/L", "B": "0 mol/L"}}), ["'W'", "without 'Q'"]),
    ],
)
def test_a_unit_or_a_condition_that_does_not_fit_the_basis(study, words):
    conditions = {"feed": {"default": "0 mol/L"}} if study["reactor"]["type"] == "cstr" else {"p[A]": "1 bar"}
    with pytest.raises(InputError) as error:
        simulate({**study, "conditions": study.get("conditions", conditions)})
    for word in words:
        assert word in str(error.value)


# ------------------------------------------------------------------------------------------------------------------ deactivation


def test_first_order_deactivation_in_a_batch():
    """The activity as a species: ln(S0/S) = k (1 - exp(-kd t))/kd, kd and k by Arrhenius from two temperatures."""
    k = {340.0: 2e-3, 360.0: 6e-3}
    kd = {340.0: 5e-4, 360.0: 4e-3}
    rows = [f"{T:g},{T},{t},{math.exp(-k[T] * (1 - math.exp(-kd[T] * t)) / kd[T]):.14f}" for T in k for t in (100, 200, 400, 800, 1600)]
    study = {
        "reactions": {
            "r1": {"equation": "S + cat -> P + cat", "k": {"start": "1e-3 L/mol/s"}, "Ea": {"start": "60 kJ/mol"}, "at": "340 K"},
            "decay": {"equation": "cat -> dead", "k": {"start": "1e-3 1/s"}, "Ea": {"start": "60 kJ/mol"}, "at": "340 K"},
        },
        "reactor": {"type": "batch"},
        "initial": {"S": "1 mol/L", "cat": "1 mol/L", "default": "0 mol/L"},
    }
    result = fit(study, "\n".join(["experiment,T [K],time [s],S [mol/L]", *rows]))
    assert_allclose(parameters(result, "r1.k_ref", "decay.k_ref"), [k[340.0], kd[340.0]], rtol=1e-6)
    energies = [GAS_CONSTANT * math.log(c[360.0] / c[340.0]) / (1 / 340 - 1 / 360) / 1000 for c in (k, kd)]
    assert_allclose(parameters(result, "r1.Ea", "decay.Ea"), energies, rtol=1e-6)
