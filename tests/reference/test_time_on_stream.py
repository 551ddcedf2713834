"""Deactivation over the time on stream against closed forms and SciPy, through the whole product.

Differential: r = k exp(-kd t) c. Tank of first order: c = c0/(1 + k exp(-kd t) tau). Levenspiel (1999), chapter 21.
"""

import tomllib

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq, least_squares

import kinetix as kx
from kinetix.constants import GAS_CONSTANT
from tests.conftest import DATA
from tests.reference.studies import Study, fit, parameters, problem, simulate, simulated, statistic

HOUR = 3600.0


def arrhenius(k, Ea, T, T_ref):
    return k * np.exp(-Ea / GAS_CONSTANT * (1 / T - 1 / T_ref))


# ------------------------------------------------------------------------------------------------------------- differential

HOT: Study = {
    "reactions": {
        "r1": {
            "equation": "A -> B",
            "k": "2e-3 mol/kg/s/bar",
            "Ea": "70 kJ/mol",
            "at": "650 K",
            "kd": {"kd": "0.02 1/h", "Ea": "90 kJ/mol", "at": "650 K"},
        }
    },
    "reactor": {"type": "differential", "basis": "catalyst_mass", "amounts": "partial_pressure"},
}
POINTS = [(T, t, p) for T in (620.0, 650.0, 680.0) for t in (0.0, 2.0, 10.0, 40.0) for p in (0.2, 0.7)]


def rates():
    T, t, p = np.array(POINTS).T
    return arrhenius(2e-3, 70e3, T, 650.0) * np.exp(-arrhenius(0.02, 90e3, T, 650.0) * t) * p


def hot_rows(values):
    rows = [f"{T},{t},{p},{r:.15g}" for (T, t, p), r in zip(POINTS, values, strict=True)]
    return "\n".join(["T [K],t_on_stream [h],p[A] [bar],rate[r1] [mol/kg/s]", *rows])


def test_differential_by_partial_pressures_over_temperature():
    result = simulate(HOT, hot_rows(np.zeros(len(POINTS))))
    assert_allclose(simulated(result, "rate[r1]")[:, 0], rates(), rtol=1e-12)


def test_differential_fit_recovers_both_arrhenius_pairs():
    """Rates in partial pressures per catalyst mass: kd stays 1/time."""
    reaction = {
        "equation": "A -> B",
        "k": {"start": "1e-3 mol/kg/s/bar"},
        "Ea": {"start": "50 kJ/mol"},
        "at": "650 K",
        "kd": {"kd": {"start": "0.1 1/h"}, "Ea": {"start": "50 kJ/mol"}, "at": "650 K"},
    }
    result = fit({**HOT, "reactions": {"r1": reaction}}, hot_rows(rates()))
    assert_allclose(parameters(result, "r1.k_ref", "r1.Ea", "r1.kd.k_ref", "r1.kd.Ea"), [2e-3, 70, 0.02, 90], rtol=1e-7)
    assert result["parameters"]["derived"].values.tolist() == ["r1.A", "r1.kd.A"]


def test_derivatives_of_the_rate_against_mpmath():
    """By k, Ea, kd, Ea of kd, and the time on stream."""
    put = problem(HOT, hot_rows(rates()))
    row = POINTS.index((680.0, 10.0, 0.7))
    names = ("r1.k_ref", "r1.Ea", "r1.kd.k_ref", "r1.kd.Ea")
    columns = [put.table.names.index(name) for name in names]
    lanes = {name: array[row : row + 1] for name, array in put.lanes.items()}

    def rate(values, t):
        parameters = jnp.asarray(put.parameters).at[np.array(columns)].set(values)
        return kx.predict(put.model, parameters, {**lanes, "t_on_stream": t}).values[0, 0, 0]

    def exact(k, Ea, kd, Ed, t):
        x = (mpmath.mpf(1) / 680 - mpmath.mpf(1) / 650) / mpmath.mpf(GAS_CONSTANT)
        return k * mpmath.exp(-Ea * x) * mpmath.exp(-kd * mpmath.exp(-Ed * x) * t) * 0.7e5

    point = (*put.parameters[columns], lanes["t_on_stream"][0])
    with jax.enable_x64(True):
        by_parameter, by_time = jax.jacfwd(rate, argnums=(0, 1))(jnp.asarray(point[:4]), jnp.asarray(point[4:]))
    with mpmath.workdps(40):
        expected = [float(mpmath.diff(exact, point, tuple(int(i == j) for j in range(5)))) for i in range(5)]
    assert_allclose([*np.asarray(by_parameter), *np.asarray(by_time)], expected, rtol=1e-9)


# -------------------------------------------------------------------------------------------------------------------- tank


def test_tank_of_first_order_and_derivatives_by_complex_step():
    """c = c0/(1 + k exp(-kd t) tau), the derivative from the implicit function against a complex step of the closed form."""
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": "0.4 1/min", "kd": "0.03 1/h"}},
        "reactor": {"type": "cstr"},
        "conditions": {"feed": {"A": "2 mol/L", "B": "0 mol/L"}},
    }
    t, tau = np.array([0.0, 5.0, 25.0, 100.0]), np.array([2.0, 3.0, 10.0, 4.0])
    table = "\n".join(["TOS [h],tau [min],A [mol/L]", *(f"{a},{b},1" for a, b in zip(t, tau, strict=True))])

    def closed(k, kd):
        return 2000.0 / (1 + k * np.exp(-kd * t * HOUR) * tau * 60.0)

    put = problem(study, table)
    k, kd = put.parameters
    assert put.table.names == ("r1.k", "r1.kd")
    assert_allclose(kx.predict(put.model, put.parameters, put.lanes).values[:, 0, 0], closed(k, kd), rtol=1e-12)
    with jax.enable_x64(True):
        found = jax.jacfwd(lambda p: kx.predict(put.model, p, put.lanes).values[:, 0, 0])(jnp.asarray(put.parameters))
    step = 1e-30
    expected = np.stack([closed(k + 1j * step, kd).imag, closed(k, kd + 1j * step).imag], axis=1) / step
    assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_every_law_falls_by_the_same_factor():
    """Mass action, reversible, orders, a named law and a formula, with and without the catalyst's 20 h on stream."""
    laws = {
        "mass action": {"equation": "A + B -> C", "k": "2 L/mol/s"},
        "reversible": {"equation": "A + B <=> C", "kf": "2 L/mol/s", "K": "5 L/mol"},
        "orders": {"equation": "A + B -> C", "k": "2 mol/L/s", "orders": {"A": 0.5}},
        "named": {
            "equation": "A + B -> C",
            "law": {"type": "langmuir_hinshelwood", "adsorbed": ["A"], "sites": 2},
            "parameters": {"k": "2 L/mol/s", "K_A": "3 L/mol"},
        },
        "formula": {
            "equation": "A + B -> C",
            "rate": "k*[A]*[B]/(1 + [A]/c0)*T/T0",
            "parameters": {"k": "2 L/mol/s", "c0": "1 mol/L", "T0": "300 K"},
        },
    }
    conditions = {"T": "350 K", "A": "0.3 mol/L", "B": "0.2 mol/L", "C": "0.01 mol/L", "t_on_stream": "20 h"}
    for name, law in laws.items():
        study = {"reactor": {"type": "differential"}, "conditions": conditions, "reactions": {"r1": {**law, "kd": "0.05 1/h"}}}
        fresh = {**study, "reactions": {"r1": law}}
        found, was = (simulated(simulate(s), "rate[r1]").item() for s in (study, fresh))
        assert found == pytest.approx(was * np.exp(-1.0), rel=1e-12), name


def test_a_network_in_which_some_reactions_lose_activity():
    """A -> B decays and B -> C does not, stacked apart; a shared constant decays two together."""
    study = {
        "reactions": {
            "r1": {"equation": "A -> B", "k": "0.4 1/min", "kd": "coke"},
            "r2": {"equation": "B -> C", "k": "0.1 1/min"},
            "r3": {"equation": "2 A -> D", "k": "0.2 L/mol/min", "kd": "coke"},
        },
        "parameters": {"coke": "0.04 1/h"},
        "reactor": {"type": "cstr"},
        "conditions": {"feed": {"A": "1 mol/L", "default": "0 mol/L"}, "tau": "5 min", "t_on_stream": "30 h"},
    }
    a = np.exp(-1.2)
    A = brentq(lambda c: (1 - c) / 5 - a * 0.4 * c - 2 * a * 0.2 * c**2, 0.0, 1.0, xtol=1e-14)
    B = a * 0.4 * A / (1 / 5 + 0.1)
    result = simulate(study)
    found = [simulated(result, name).item() for name in "ABCD"]
    assert_allclose(found, [A, B, 0.1 * B * 5, a * 0.2 * A**2 * 5], rtol=1e-10)


# ----------------------------------------------------------------------------------------------------------- a study, SciPy


def test_a_study_with_scatter_against_scipy():
    """tests/data/time-on-stream: two reactions per catalyst mass, three temperatures; the optimum and its errors by SciPy."""
    folder = DATA / "time-on-stream"
    study = tomllib.loads((folder / "study.toml").read_text(encoding="utf-8"))
    text = (folder / "data.csv").read_text(encoding="utf-8")
    celsius, hours, space, A, B = np.array([line.split(",") for line in text.split("\n")[1:-1]], dtype=float).T
    T = celsius + 273.15

    def residuals(theta):
        k, Ea, kd, Ed, loss = np.exp(theta[0]), theta[1] * 1e3, np.exp(theta[2]), theta[3] * 1e3, np.exp(theta[4])
        crack = arrhenius(k, Ea, T, 650.0) * np.exp(-arrhenius(kd, Ed, T, 650.0) * hours)
        predicted = 0.05 / (1 + crack * space)
        return np.concatenate([predicted - A, crack * space * predicted / (1 + arrhenius(loss, 60e3, T, 650.0) * space) - B])

    best = least_squares(residuals, [np.log(1.0), 80, np.log(0.1), 50, np.log(0.1)], method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15)
    ssr = 2 * best.cost
    errors = np.sqrt(np.diag(np.linalg.inv(best.jac.T @ best.jac)) * ssr / (len(best.fun) - 5))
    values = best.x.copy()
    values[[0, 2, 4]] = np.exp(values[[0, 2, 4]])
    errors[[0, 2, 4]] *= values[[0, 2, 4]]
    names = ("crack.k_ref", "crack.Ea", "crack.kd.k_ref", "crack.kd.Ea", "loss.k_ref")
    for given in (study, without_starts(study)):
        result = fit(given, text)
        assert result.attrs["converged"]
        assert statistic(result, "ssr") == pytest.approx(ssr, rel=1e-9)
        units = dict(zip(result["parameters"].parameter.values, result["parameters"].unit.values, strict=True))
        assert units["crack.kd.k_ref"] == "1/h"
        per = {"L/kg/s": 1.0, "m^3/kg/s": 1e-3}
        scale = [per.get(units[name], 1.0) for name in names]
        assert_allclose(parameters(result, *names), values * scale, rtol=1e-5)
        assert_allclose(parameters(result, *names, quantity="stderr"), errors * scale, rtol=1e-4)


def without_starts(study: Study) -> Study:
    crack, loss = study["reactions"]["crack"], study["reactions"]["loss"]
    unknown = {"at": "650 K", "Ea": {}}
    return {
        **study,
        "reactions": {"crack": {**crack, **unknown, "k": {}, "kd": {**unknown, "kd": {}}}, "loss": {**loss, "k": {}}},
    }
