"""Named rate laws against their published formulas, and the errors they give."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import lambertw

import kinetix as kx
from kinetix.errors import InputError
from kinetix.experiments import parse_table
from kinetix.rates import BOOKS
from kinetix.simulation import all_responses
from kinetix.studies import build_problem, parse_study


def rates(equation, law, parameters, table):
    """rate[r1] in mol/L/s at the concentrations of a table, by a differential reactor."""
    reaction = {"equation": equation, "law": law, "parameters": parameters}
    study = {
        "schema": 1,
        "formulas": False,
        "reactions": {"r1": reaction},
        "reactor": {"type": "differential"},
        "data": {"files": ["t.csv"]},
    }
    study["conditions"] = {} if "T [" in table else {"T": "350 K"}
    problem = build_problem(parse_study(study, "t"), [parse_table(table, "t.csv")], all_responses)
    return kx.predict(problem.model, problem.parameters, problem.lanes).values[:, 0, 0] / 1000, problem


TWO = "A [mol/L],B [mol/L],C [mol/L],D [mol/L]\n" + "".join(
    f"{a},{b},{c},{d}\n" for a, b, c, d in ((1, 2, 0, 0), (0.3, 0, 0.5, 0.2), (0, 0, 0, 0), (2, 0.4, 0.1, 1))
)
A, B, C, D = np.array([[1, 2, 0, 0], [0.3, 0, 0.5, 0.2], [0, 0, 0, 0], [2, 0.4, 0.1, 1]], dtype=float).T


def test_langmuir_hinshelwood_with_driving_force_and_sites():
    law = {"type": "langmuir_hinshelwood", "adsorbed": ["A", "C"], "dissociated": ["B"], "sites": 2, "equilibrium": True}
    parameters = {"k": "0.7 L/mol/s", "K": "3 -", "K_A": "2 L/mol", "K_C": "0.5 L/mol", "K_B": "1.5 L/mol"}
    found, problem = rates("A + B <=> C + D", law, parameters, TWO)
    np.testing.assert_allclose(found, 0.7 * (A * B - C * D / 3) / (1 + 2 * A + 0.5 * C + np.sqrt(1.5 * B)) ** 2, rtol=1e-12, atol=1e-15)
    assert problem.spoken.laws[0].text == "k*([A]*[B] - [C]*[D]/K)/(1 + K_A*[A] + K_C*[C] + sqrt(K_B*[B]))^2"


def test_it_reduces_to_the_power_law_at_low_coverage():
    law = {"type": "langmuir_hinshelwood", "adsorbed": ["A"], "sites": 2}
    found, _ = rates("A + B -> C + D", law, {"k": "0.7 L/mol/s", "K_A": "1e-9 L/mol"}, TWO)
    np.testing.assert_allclose(found, 0.7 * A * B, rtol=1e-8)


def test_adsorption_by_vant_hoff():
    table = "T [K],A [mol/L],B [mol/L],C [mol/L],D [mol/L]\n300,1,2,0,0\n400,1,2,0,0\n"
    parameters = {"k": {"A": "7e5 L/mol/s", "Ea": "40 kJ/mol"}, "K_A": {"K_A": "2 L/mol", "at": "350 K", "dH": "-30 kJ/mol"}}
    found, problem = rates("A + B -> C + D", {"type": "langmuir_hinshelwood", "adsorbed": ["A"]}, parameters, table)
    T = np.array([300.0, 400.0])
    k, K = 7e5 * np.exp(-40e3 / 8.31446261815324 / T), 2 * np.exp(30e3 / 8.31446261815324 * (1 / T - 1 / 350))
    np.testing.assert_allclose(found, k * 2 / (1 + K), rtol=1e-12)
    assert set(problem.table.names) == {"r1.A", "r1.Ea", "r1.K_A.K_ref", "r1.K_A.dH"}


def test_eley_rideal():
    table = "A [mol/L],B [mol/L],C [mol/L]\n1,2,0\n0.3,0.4,1\n0,1,0\n"
    found, _ = rates("A + B -> C", {"type": "eley_rideal", "adsorbed": "A"}, {"k": "0.7 1/s", "K": "2 L/mol"}, table)
    a, b = np.array([1, 0.3, 0]), np.array([2, 0.4, 1])
    np.testing.assert_allclose(found, 0.7 * 2 * a * b / (1 + 2 * a), rtol=1e-12, atol=1e-18)


def test_mars_van_krevelen_limits():
    table = "A [mol/L],O2 [mol/L],P [mol/L]\n1,1e6,0\n1e6,1,0\n0.3,0.4,0\n"
    law = {"type": "mars_van_krevelen", "oxidant": "O2"}
    found, _ = rates("A + 0.5 O2 -> P", law, {"k_red": "2 1/s", "k_ox": "3 mol^0.5 L^-0.5 s^-1"}, table)
    np.testing.assert_allclose(found[0], 2 * 1, rtol=1e-3)  # the lattice is full of oxygen: reduction decides
    np.testing.assert_allclose(found[1], 3 * 1 / 0.5, rtol=1e-3)  # the lattice is empty: oxidation decides
    np.testing.assert_allclose(found[2], 2 * 0.3 * 3 * 0.4**0.5 / (0.5 * 2 * 0.3 + 3 * 0.4**0.5), rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "parameters", "exact"),
    [
        ({}, {}, lambda S, i: 3 * S / (0.4 + S)),
        ({"inhibition": "competitive", "inhibitor": "I"}, {"Ki": "0.1 mol/L"}, lambda S, i: 3 * S / (0.4 * (1 + i / 0.1) + S)),
        ({"inhibition": "uncompetitive", "inhibitor": "I"}, {"Ki": "0.1 mol/L"}, lambda S, i: 3 * S / (0.4 + S * (1 + i / 0.1))),
        ({"inhibition": "substrate"}, {"Ki": "0.1 mol/L"}, lambda S, i: 3 * S / (0.4 + S + S**2 / 0.1)),
    ],
)
def test_michaelis_menten(options, parameters, exact):
    table = "S [mol/L],I [mol/L],P [mol/L]\n0.2,0.3,0\n1.7,0,0\n0,0.3,0\n"
    law = {"type": "michaelis_menten", "substrate": "S", **options}
    found, _ = rates("S + I -> P + I", law, {"Vmax": "3 mol/L/s", "Km": "0.4 mol/L", **parameters}, table)
    np.testing.assert_allclose(found, exact(np.array([0.2, 1.7, 0.0]), np.array([0.3, 0.0, 0.3])), rtol=1e-12, atol=1e-15)


def test_hill_at_zero_and_above():
    found, _ = rates("S -> P", "hill", {"Vmax": "3 mol/L/s", "K": "0.4 mol/L", "n": 2.5}, "S [mol/L],P [mol/L]\n0.2,0\n1.7,0\n0,0\n")
    S = np.array([0.2, 1.7, 0.0])
    np.testing.assert_allclose(found, 3 * S**2.5 / (0.4**2.5 + S**2.5), rtol=1e-12, atol=1e-15)


def test_michaelis_menten_batch_is_the_lambert_function():
    """Schnell & Mendoza, J. Theor. Biol. 187 (1997) 207: S = Km W(S0/Km exp((S0 - Vmax t)/Km))."""
    study = {
        "schema": 1,
        "reactions": {"r1": {"equation": "S -> P", "law": "michaelis_menten", "parameters": {"Vmax": "0.3 mol/L/s", "Km": "0.4 mol/L"}}},
        "reactor": {"type": "batch"},
        "initial": {"S": "1 mol/L", "P": "0 mol/L"},
        "simulate": {"times": "0:10:11 s"},
    }
    problem = build_problem(parse_study(study, "t"), [], all_responses)
    S = kx.predict(problem.model, problem.parameters, problem.lanes).values[0, :, 0] / 1000
    t = np.linspace(0, 10, 11)
    np.testing.assert_allclose(S, 0.4 * lambertw(1 / 0.4 * np.exp((1 - 0.3 * t) / 0.4)).real, rtol=1e-6, atol=1e-9)


def test_langmuir_hinshelwood_batch_by_quadrature():
    study = {
        "schema": 1,
        "reactions": {
            "r1": {
                "equation": "A -> B",
                "law": {"type": "langmuir_hinshelwood", "adsorbed": ["A"], "sites": 2},
                "parameters": {"k": "0.8 1/s", "K_A": "3 L/mol"},
            }
        },
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "B": "0 mol/L"},
        "simulate": {"times": ["5 s"]},
    }
    problem = build_problem(parse_study(study, "t"), [], all_responses)
    found = kx.predict(problem.model, problem.parameters, problem.lanes).values[0, 0, 0] / 1000
    exact = brentq(lambda a: quad(lambda c: (1 + 3 * c) ** 2 / (0.8 * c), a, 1)[0] - 5, 1e-6, 1)
    assert found == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize(
    ("law", "parameters", "words"),
    [
        ("michaelis_mentn", {}, ["r1", "michaelis_mentn", "Did you mean 'michaelis_menten'"]),
        ("michaelis_menten", {"Vmax": "1 1/s", "Km": "1 mol/L"}, ["r1.Vmax", "1/s", "amount/volume/time"]),
        ("michaelis_menten", {"Vmax": "1 mol/L/s"}, ["r1", "Km"]),
        ({"type": "michaelis_menten", "inhibitor": "B"}, {}, ["inhibitor without a kind"]),
        ({"type": "michaelis_menten", "inhibition": "competitve"}, {}, ["Did you mean 'competitive'"]),
        ({"type": "langmuir_hinshelwood"}, {}, ["adsorbed"]),
        ({"type": "langmuir_hinshelwood", "adsorbed": ["A"], "sites": 7}, {}, ["sites is 7"]),
        ({"type": "langmuir_hinshelwood", "adsorbed": "A"}, {}, ["list of species"]),
        ({"type": "hill", "subst": "A"}, {}, ["no option 'subst'"]),
        ({"type": "eley_rideal", "adsorbed": "Z"}, {}, ["two reactants"]),
    ],
)
def test_errors(law, parameters, words):
    with pytest.raises(InputError) as error:
        rates("A -> B", law, parameters, "A [mol/L],B [mol/L]\n1,0\n")
    assert all(word in str(error.value) for word in words), str(error.value)


def test_every_book_names_formula_and_source():
    for name, book in BOOKS.items():
        assert book.name == name and book.formula and book.source
