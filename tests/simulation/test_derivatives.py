"""Derivatives of predictions to every parameter and condition, for every law in every reactor, zero concentrations included.

References: differences of 30-digit solutions (mpmath) for tanks and rates; closed forms and extrapolated differences of
tightly integrated solutions for batches; forward against reverse mode; forward over reverse against differences of gradients.
"""

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
    "free with temperature": {"equation": "A -> C", "rate": "kf*[A]*sqrt(T/T0)", "parameters": {"kf": "0.4 1/min", "T0": "300 K"}},
}


def problem(law, reactor, rtol=1e-8):
    study = {
        "schema": 1,
        "reactions": {"r1": LAWS[law]},
        "reactor": {"type": reactor},
        "conditions": {"T": "340 K"},
        "solver": {"rtol": rtol},
    }
    study["formulas"] = False
    if reactor == "cstr":
        study["conditions"] |= {"tau": "5 min", "feed": {"A": "1.2 mol/L", "default": "0 mol/L"}}
        if "B" in LAWS[law]["equation"]:
            study["conditions"]["feed"]["B"] = "0.9 mol/L"
        return build_problem(parse_study(study, "t"), [], all_responses)
    if reactor == "batch":
        study["initial"] = {"A": "1.2 mol/L", "default": "0 mol/L"}
        if "B" in LAWS[law]["equation"]:
            study["initial"]["B"] = "0.9 mol/L"
        study["simulate"] = {"times": ["0 min", "1 min", "4 min"]}
        return build_problem(parse_study(study, "t"), [], all_responses)
    study["data"] = {"files": ["t.csv"]}
    names = ["A", "B", "C"] if "B" in LAWS[law]["equation"] else ["A", "C"]
    rows = ["1.2,0.9,0.0", "0,0,0", "0.4,0.5,0.8"] if len(names) == 3 else ["1.2,0.0", "0,0", "0.4,0.8"]
    table = parse_table("\n".join([",".join(f"{n} [mol/L]" for n in names), *rows]), "t.csv")
    return build_problem(parse_study(study, "t"), [table], all_responses)


def responses(given):
    return jax.jit(lambda p: predict(given.model, p, given.lanes).values)


def extrapolated(f, p, i, relative=1e-4):
    """Central differences, one Richardson step: error of fourth order."""

    def central(h):
        return (np.asarray(f(p.at[i].add(h))) - np.asarray(f(p.at[i].add(-h)))) / (2 * h)

    h = relative * max(abs(float(p[i])), 1e-3)
    return (4 * central(h / 2) - central(h)) / 3


@pytest.mark.parametrize("reactor", ["batch", "cstr", "differential"])
@pytest.mark.parametrize("law", LAWS)
def test_jacobian_by_differences(law, reactor):
    with float64():
        given = problem(law, reactor, rtol=1e-11)
        f, p = responses(given), jnp.asarray(given.table.start)
        forward = np.asarray(jax.jacfwd(f)(p))
        assert np.isfinite(forward).all()
        scale = np.abs(forward).max(axis=(0, 1, 2)) + 1e-300
        for i in range(len(p)):
            difference = extrapolated(f, p, i) / scale[i]
            np.testing.assert_allclose(forward[..., i] / scale[i], difference, rtol=0, atol=3e-7, err_msg=given.table.names[i])


@pytest.mark.parametrize("reactor", ["batch", "cstr", "differential"])
@pytest.mark.parametrize("law", ["mass action", "order of a product", "free"])
def test_reverse_mode_equals_forward_mode(law, reactor):
    with float64():
        given = problem(law, reactor)
        f, p = responses(given), jnp.asarray(given.table.start)
        forward = np.asarray(jax.jacfwd(f)(p))
        scale = np.abs(forward).max(axis=(0, 1, 2)) + 1e-300
        np.testing.assert_allclose(np.asarray(jax.jacrev(f)(p)) / scale, forward / scale, rtol=1e-9, atol=1e-11)


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
        values, jacobian = np.asarray(f(p))[0, 0], np.asarray(jax.jacfwd(f)(p))[0, 0]
    k = [mpmath.mpf(8) / 10 / 60 / 1000, mpmath.mpf(3) / 10 / 60 / 1000]
    np.testing.assert_allclose(values, [float(x) for x in exact(*k)], rtol=1e-12)
    for i in range(2):
        h = k[i] * mpmath.mpf("1e-12")
        shifted = [[x + (h * sign if j == i else 0) for j, x in enumerate(k)] for sign in (1, -1)]
        difference = [float((a - b) / (2 * h)) for a, b in zip(exact(*shifted[0]), exact(*shifted[1]), strict=True)]
        np.testing.assert_allclose(jacobian[:, i], difference, rtol=1e-11)


def test_second_derivatives_forward_over_reverse():
    with float64():
        for reactor in ("batch", "cstr"):
            given = problem("mass action", reactor, rtol=1e-10)
            f, p = responses(given), jnp.asarray(given.table.start)

            def loss(scaled, f=f, p=p):
                return jnp.sum(f(p * scaled) ** 2) * 1e-6

            one = jnp.ones_like(p)
            hessian = np.asarray(jax.jacfwd(jax.jacrev(loss))(one))
            gradient = jax.jit(jax.grad(loss))
            for i in range(len(p)):
                np.testing.assert_allclose(
                    hessian[:, i], extrapolated(gradient, one, i, 1e-3), rtol=2e-5, atol=1e-6 * np.abs(hessian).max()
                )


@pytest.mark.parametrize("name", ["T", "tau", "feed"])
def test_tank_conditions(name):
    with float64():
        given = problem("mass action", "cstr")
        p = jnp.asarray(given.table.start)

        def f(x):
            return predict(given.model, p, {**given.lanes, name: x}).values

        x = jnp.asarray(given.lanes[name])
        exact = np.asarray(jax.jacfwd(f)(x))
        np.testing.assert_allclose(np.asarray(jax.jacrev(f)(x)), exact, rtol=1e-9, atol=1e-12)
        flat = x.reshape(-1)
        for i in range(2 if name == "feed" else 1):
            difference = extrapolated(lambda y: f(y.reshape(x.shape)), flat, i)
            np.testing.assert_allclose(exact.reshape(*exact.shape[:3], -1)[..., i], difference, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", ["T", "initial", "times"])
def test_batch_conditions(name):
    with float64():
        given = problem("mass action", "batch", rtol=1e-11)
        p = jnp.asarray(given.table.start)

        def f(x):
            return predict(given.model, p, {**given.lanes, name: x}).values

        x = jnp.asarray(given.lanes[name])
        exact = np.asarray(jax.jacfwd(f)(x)).reshape(1, 3, 3, -1)
        np.testing.assert_allclose(np.asarray(jax.jacrev(f)(x)).reshape(exact.shape), exact, rtol=1e-9, atol=1e-10)
        flat = x.reshape(-1)
        for i in [1, 2] if name == "times" else [0, 1] if name == "initial" else [0]:
            difference = extrapolated(lambda y: f(y.reshape(x.shape)), flat, i)
            np.testing.assert_allclose(exact[..., i], difference, rtol=1e-6, atol=1e-5 * np.abs(exact[..., i]).max())


def test_vmap_over_parameters_equals_single_calls():
    with float64():
        given = problem("reversible", "batch")
        f = responses(given)
        many = jnp.asarray(given.table.start) * jnp.linspace(0.9, 1.1, 5)[:, None]
        together = np.asarray(jax.vmap(jax.jacrev(f))(many))
        for i in range(5):
            np.testing.assert_allclose(together[i], np.asarray(jax.jacfwd(f)(many[i])), rtol=1e-8, atol=1e-8)
