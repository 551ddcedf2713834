"""Derivatives of predictions to every parameter and condition, for every law in every reactor, zero concentrations included.

References: differences of 30-digit solutions (mpmath) for tanks and rates; closed forms and extrapolated differences of
tightly integrated solutions for batches; forward against reverse mode; forward over reverse against differences of gradients.
"""

import re

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from kinetix.experiments import parse_table
from kinetix.precision import float64
from kinetix.simulation import all_responses, predict
from kinetix.studies import build_problem, parse_study

LAWS = {
    "mass action": {"equation": "A + B -> C", "A": "2e6 L/mol/min", "Ea": "50 kJ/mol"},
    "second order": {"equation": "2 A -> C", "k": "0.3 L/mol/min"},
    "three parameters": {"equation": "A -> C", "A": "3e4 1/min", "b": 0.7, "Ea": "45 kJ/mol"},
    "fractional order": {"equation": "A -> C", "k": "0.2 mol/L/min", "orders": {"A": {"start": 1.45}}},
    "order of a product": {"equation": "A -> C", "k": "0.5 mol/L/min", "orders": {"A": 1, "C": {"start": 0.5}}},
    "reversible": {"equation": "A + B <=> C", "kf": {"k": "0.8 L/mol/min", "at": "350 K", "Ea": "60 kJ/mol"}, "kr": "0.3 1/min"},
    "equilibrium": {"equation": "A + B <=> C", "kf": "0.8 L/mol/min", "K": {"K": "2 L/mol", "at": "350 K", "dH": "-40 kJ/mol"}},
    "free": {"equation": "A + B -> C", "rate": "kf*[A]*[B]/(1 + K*[A])^2", "parameters": {"kf": "0.8 L/mol/min", "K": "0.5 L/mol"}},
    "michaelis menten": {"equation": "A -> C", "law": "michaelis_menten", "parameters": {"Vmax": "0.3 mol/L/min", "Km": "0.6 mol/L"}},
    "hill": {"equation": "A -> C", "law": "hill", "parameters": {"Vmax": "0.3 mol/L/min", "K": "0.6 mol/L", "n": {"start": 2.4}}},
    "free with temperature": {"equation": "A -> C", "rate": "kf*[A]*sqrt(T/T0)", "parameters": {"kf": "0.4 1/min", "T0": "300 K"}},
}


def named(section, i):
    """The reaction with species of its own: A3, B3 and C3 for the third law."""
    own = {"equation": re.sub(r"\b([ABC])\b", rf"\g<1>{i}", section["equation"])}
    if "rate" in section:
        own["rate"] = re.sub(r"\[([ABC])\]", rf"[\g<1>{i}]", section["rate"])
    if "orders" in section:
        own["orders"] = {f"{species}{i}": order for species, order in section["orders"].items()}
    return {**section, **own}


def problem(laws, reactor, rtol=1e-8):
    """One network of several laws, each with species of its own; products, and in one row everything, begin at zero.

    A tank that makes C by a half order in C rests without any C where a trace would grow, so there the feed holds some.
    """
    amounts = {f"{species}{i}": f"{amount} mol/L" for i in range(len(laws)) for species, amount in (("A", 1.2), ("B", 0.9))}
    sections = [named(LAWS[law], i) for i, law in enumerate(laws)]
    species = [f"{name}{i}" for i, section in enumerate(sections) for name in "ABC" if f"{name}{i}" in section["equation"]]
    given = {**{name: amount for name, amount in amounts.items() if name in species}, "default": "0 mol/L"}
    study = {
        "schema": 1,
        "formulas": False,
        "reactions": {f"r{i}": section for i, section in enumerate(sections)},
        "reactor": {"type": reactor},
        "conditions": {"T": "340 K"},
    }
    tables = []
    if reactor == "cstr":
        trace = {name: "0.05 mol/L" for name in species if name[0] == "C"}
        study["conditions"] |= {"tau": "5 min", "feed": {**given, **trace}}
    elif reactor == "batch":
        study |= {"solver": {"rtol": rtol}, "initial": given, "simulate": {"times": ["0 min", "1 min", "4 min"]}}
    else:
        rows = [{"A": 1.2, "B": 0.9, "C": 0.0}, {"A": 0.0, "B": 0.0, "C": 0.0}, {"A": 0.4, "B": 0.5, "C": 0.8}]
        lines = [",".join(f"{name} [mol/L]" for name in species), *(",".join(str(row[name[0]]) for name in species) for row in rows)]
        study["data"] = {"files": ["t.csv"]}
        tables = [parse_table("\n".join(lines), "t.csv")]
    return build_problem(parse_study(study, "t"), tables, all_responses)


def responses(given):
    return jax.jit(lambda p: predict(given.model, p, given.lanes).values)


def both_ways(f):
    """The Jacobian in forward and in reverse mode, by one compilation."""
    return jax.jit(lambda x: (jax.jacfwd(f)(x), jax.jacrev(f)(x)))


def extrapolated(f, p, i, relative=1e-4):
    """Central differences, one Richardson step: error of fourth order."""

    def central(h):
        return (np.asarray(f(p.at[i].add(h))) - np.asarray(f(p.at[i].add(-h)))) / (2 * h)

    h = relative * max(abs(float(p[i])), 1e-3)
    return (4 * central(h / 2) - central(h)) / 3


@pytest.mark.slow
@pytest.mark.parametrize("reactor", ["batch", "cstr", "differential"])
def test_jacobian_of_every_law_by_differences_and_by_reverse_mode(reactor):
    with float64():
        given = problem(list(LAWS), reactor, rtol=1e-11)
        f, p = responses(given), jnp.asarray(given.table.start)
        forward, backward = (np.asarray(jacobian) for jacobian in both_ways(f)(p))
        assert np.isfinite(forward).all()
        scale = np.abs(forward).max(axis=(0, 1, 2)) + 1e-300
        np.testing.assert_allclose(backward / scale, forward / scale, rtol=1e-9, atol=1e-11)
        for i in range(len(p)):
            np.testing.assert_allclose(
                forward[..., i] / scale[i], extrapolated(f, p, i) / scale[i], rtol=0, atol=3e-7, err_msg=given.table.names[i]
            )


def test_tank_against_thirty_digits():
    """A + B -> C with 2 A -> D in a tank: values and derivatives of the 30-digit solution."""
    study = {
        "schema": 1,
        "reactions": {"r1": {"equation": "A + B -> C", "k": "0.8 L/mol/min"}, "r2": {"equation": "2 A -> D", "k": "0.3 L/mol/min"}},
        "reactor": {"type": "cstr"},
        "conditions": {"tau": "5 min", "feed": {"A": "1.2 mol/L", "B": "0.9 mol/L", "default": "0 mol/L"}},
    }
    given = build_problem(parse_study(study, "t"), [], all_responses)
    mpmath.mp.dps = 40

    def exact(k1, k2):
        k1, k2, tau = k1 * 60 * 1000, k2 * 60 * 1000, mpmath.mpf(5)
        A, B = mpmath.findroot(
            lambda a, b: [mpmath.mpf("1.2") - a - tau * (k1 * a * b + 2 * k2 * a * a), mpmath.mpf("0.9") - b - tau * k1 * a * b], (0.3, 0.3)
        )
        return [1000 * x for x in (A, B, tau * k1 * A * B, tau * k2 * A * A)]

    with float64():
        f, p = responses(given), jnp.asarray(given.table.start)
        values, jacobian = np.asarray(f(p))[0, 0], np.asarray(jax.jit(jax.jacfwd(f))(p))[0, 0]
    k = [mpmath.mpf(8) / 10 / 60 / 1000, mpmath.mpf(3) / 10 / 60 / 1000]
    np.testing.assert_allclose(values, [float(x) for x in exact(*k)], rtol=1e-12)
    for i in range(2):
        h = k[i] * mpmath.mpf("1e-12")
        shifted = [[x + (h * sign if j == i else 0) for j, x in enumerate(k)] for sign in (1, -1)]
        difference = [float((a - b) / (2 * h)) for a, b in zip(exact(*shifted[0]), exact(*shifted[1]), strict=True)]
        np.testing.assert_allclose(jacobian[:, i], difference, rtol=1e-11)


@pytest.mark.parametrize("reactor", ["batch", "cstr"])
def test_second_derivatives_forward_over_reverse(reactor):
    with float64():
        given = problem(["mass action"], reactor, rtol=1e-10)
        f, p = responses(given), jnp.asarray(given.table.start)

        def loss(scaled):
            return jnp.sum(f(p * scaled) ** 2) * 1e-6

        one = jnp.ones_like(p)
        hessian = np.asarray(jax.jit(jax.jacfwd(jax.jacrev(loss)))(one))
        gradient = jax.jit(jax.grad(loss))
        for i in range(len(p)):
            np.testing.assert_allclose(hessian[:, i], extrapolated(gradient, one, i, 1e-3), rtol=2e-5, atol=1e-6 * np.abs(hessian).max())


def by_conditions(reactor, names, rtol):
    """A prediction as a function of some arrays of its lanes, those arrays, and its Jacobians both ways."""
    given = problem(["mass action"], reactor, rtol=rtol)
    p = jnp.asarray(given.table.start)
    f = jax.jit(lambda x: predict(given.model, p, {**given.lanes, **x}).values)
    x = {name: jnp.asarray(given.lanes[name]) for name in names}
    return f, x, both_ways(f)(x)


def by_element(f, x, name, i):
    """Differences by the element i of one array of the lanes."""
    array = x[name]
    return extrapolated(lambda flat: f({**x, name: flat.reshape(array.shape)}), array.reshape(-1), i)


def test_tank_conditions():
    with float64():
        f, x, (forward, backward) = by_conditions("cstr", ["T", "tau", "feed"], 1e-8)
        for name in x:
            np.testing.assert_allclose(backward[name], forward[name], rtol=1e-9, atol=1e-12)
            exact = np.asarray(forward[name]).reshape(*forward[name].shape[:3], -1)
            for i in range(2 if name == "feed" else 1):
                np.testing.assert_allclose(exact[..., i], by_element(f, x, name, i), rtol=1e-8, atol=1e-9, err_msg=name)


def test_batch_conditions():
    with float64():
        f, x, (forward, backward) = by_conditions("batch", ["T", "initial", "times"], 1e-11)
        for name, elements in (("T", [0]), ("initial", [0, 1]), ("times", [1, 2])):
            exact = np.asarray(forward[name]).reshape(1, 3, 3, -1)
            np.testing.assert_allclose(np.asarray(backward[name]).reshape(exact.shape), exact, rtol=1e-9, atol=1e-10)
            for i in elements:
                difference = by_element(f, x, name, i)
                np.testing.assert_allclose(exact[..., i], difference, rtol=1e-6, atol=1e-5 * np.abs(exact[..., i]).max(), err_msg=name)


def test_vmap_over_parameters_equals_single_calls():
    with float64():
        given = problem(["reversible"], "batch")
        f = responses(given)
        many = jnp.asarray(given.table.start) * jnp.linspace(0.9, 1.1, 5)[:, None]
        together = np.asarray(jax.jit(jax.vmap(jax.jacrev(f)))(many))
        single = jax.jit(jax.jacfwd(f))
        for i in range(5):
            np.testing.assert_allclose(together[i], np.asarray(single(many[i])), rtol=1e-8, atol=1e-8)
