"""Values of formulas against Python's own arithmetic (same precedence), mpmath and closed-form derivatives."""

import math

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kinetix.expression import FUNCTIONS, evaluate, parse, to_text
from kinetix.precision import float64


@pytest.fixture(autouse=True)
def double():
    with float64():
        yield


def value(text, **values):
    return evaluate(parse(text), lambda symbol: values[symbol.name])


PLAIN = st.recursive(
    st.sampled_from(["2", "0.5", "1.5e1", "3", "x", "y", "z"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", " - ", "*", "/", "**"]), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-{text}"),
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=150)
@given(PLAIN)
def test_precedence_is_that_of_python(text):
    """Python's grammar has the same operators with the same precedence; its floats are the reference."""
    values = {"x": 1.25, "y": -0.75, "z": 3.0}
    try:
        expected = eval(text, {"__builtins__": {}}, values)  # noqa: S307  (Python is the reference)
    except (ZeroDivisionError, OverflowError):
        assume(False)
    assume(isinstance(expected, (int, float)) and 1e-200 < abs(expected) < 1e200)
    assert float(value(text, **values)) == pytest.approx(float(expected), rel=1e-12)
    assert float(value(to_text(parse(text)), **values)) == float(value(text, **values))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_against_mpmath(name):
    reference = {"arctan": "atan", "abs": "fabs"}.get(name, name)
    for x in (0.1, 0.7, 1.3, 4.0):
        if name in ("min", "max"):
            assert float(value(f"{name}(x, 1, 2 - x)", x=x)) == {"min": min, "max": max}[name](x, 1.0, 2.0 - x)
        else:
            assert float(value(f"{name}(x)", x=x)) == pytest.approx(float(getattr(mpmath, reference)(mpmath.mpf(x))), rel=1e-14)


def test_rate_laws_against_mpmath():
    values = {"k": 3.7e-2, "K": 12.5, "A": 0.43, "B": 1.9, "Ea": 83_000.0, "R": 8.31446261815324, "T": 412.0, "n": 1.37}
    laws = {
        "k*[A]*[B]/(1 + K*[A])^2": lambda m: m.k * m.A * m.B / (1 + m.K * m.A) ** 2,
        "k*exp(-Ea/(R*T))*[A]^n": lambda m: m.k * mpmath.exp(-m.Ea / (m.R * m.T)) * m.A**m.n,
        "k*[A]^0.5*p[B]^(-1/3) - 1e-3": lambda m: m.k * mpmath.sqrt(m.A) / mpmath.cbrt(m.B) - mpmath.mpf("1e-3"),
        "pi*sqrt([A])/log10(T) + ln(B)/-2^2": lambda m: mpmath.pi * mpmath.sqrt(m.A) / mpmath.log10(m.T) - mpmath.log(m.B) / 4,
    }
    with mpmath.workdps(40):

        class M:
            pass

        for name, number in values.items():
            setattr(M, name, mpmath.mpf(number))
        for text, law in laws.items():
            assert float(value(text, **values)) == pytest.approx(float(law(M)), rel=1e-13), text


def test_elementwise_on_arrays_that_broadcast():
    a, k = np.linspace(0.1, 2.0, 7), np.array([[1.0], [2.0]])
    np.testing.assert_allclose(value("k*[A]/(1 + [A])", k=k, A=a), k * a / (1 + a), rtol=1e-15)
    assert value("2*3").shape == ()
    assert float(value("2*3")) == 6.0
    assert value("[A]", A=a).dtype == jnp.float64


def test_a_symbol_is_looked_up_by_kind_and_name():
    numbers = {"k": 2.0, "[A]": 3.0, "p[A]": 5.0, "rate[A]": 7.0, "feed[A]": 11.0, "initial[A]": 13.0}
    product = evaluate(parse("k*[A]*p[A]*rate[A]*feed[A]*initial[A]"), lambda symbol: numbers[str(symbol)])
    assert float(product) == math.prod(numbers.values())


def test_derivatives_of_a_langmuir_hinshelwood_rate():
    def rate(k, K, c):
        return value("k*[A]/(1 + K*[A])^2", k=k, K=K, A=c)

    k, K, c = 2.0, 3.0, 0.7
    d = 1 + K * c
    expected = (c / d**2, -2 * k * c**2 / d**3, k * (1 - K * c) / d**3)
    for gradient in (jax.grad(rate, (0, 1, 2)), jax.jacfwd(rate, (0, 1, 2)), jax.jit(jax.grad(rate, (0, 1, 2)))):
        np.testing.assert_allclose(gradient(k, K, c), expected, rtol=1e-14)


@pytest.mark.parametrize("text", ["[A]^0.5", "[A]^n", "sqrt([A])", "(2*[A])^(1/2)", "p[A]^0.5", "feed[A]^0.5", "k*[A]^(n + 1)"])
def test_powers_of_concentrations_have_finite_gradients_at_zero(text):
    def rate(c, n):
        return value(text, A=c, n=n, k=2.0)

    for c in (0.0, -1e-9, 1e-13):
        assert np.isfinite(jax.grad(rate, (0, 1))(c, 0.5)).all()
        assert np.isfinite(jax.jit(jax.jacfwd(rate, (0, 1)))(c, 0.5)).all()
    assert float(rate(0.0, 0.5)) == 0.0


def test_whole_powers_are_exact_everywhere():
    assert [float(value(text, A=-3.0)) for text in ("[A]^2", "[A]^3", "[A]^1", "[A]^0", "[A]^2.0")] == [9.0, -27.0, -3.0, 1.0, 9.0]
    assert [float(value(text, x=-3.0)) for text in ("x^2", "x^-1", "x^(4/2)", "x^-(2)")] == [
        9.0,
        pytest.approx(-1 / 3),
        9.0,
        pytest.approx(1 / 9),
    ]
    assert [float(jax.grad(lambda c, text=text: value(text, A=c))(0.0)) for text in ("[A]", "[A]^1", "[A]^2", "[A]^0")] == [
        1.0,
        1.0,
        0.0,
        0.0,
    ]


def test_a_domain_error_of_a_plain_name_stays_visible():
    assert math.isnan(float(value("x^0.5", x=-1.0)))
    assert math.isnan(float(value("log(x)", x=-1.0)))
    assert math.isinf(float(value("1/0")))
