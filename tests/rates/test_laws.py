"""Rate laws against formulas written out by hand, mpmath derivatives, and the units their constants must have."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import ExpressionError
from kinetix.precision import float64
from kinetix.rates import Thermal, constants_at, free, mass_action, power_law, reversible
from kinetix.rates.arrhenius import log_factor
from kinetix.units import example_unit, parse_quantity, parse_unit


@pytest.fixture(autouse=True)
def _x64():
    with float64():
        yield


def test_mass_action_has_no_factorial():
    law = mass_action.law({"A": 2})
    assert law.species == (("A", "A"),)
    assert float(law.rate((0.1,), ((2.0, 2.0),), 300.0)) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("orders", "unit"),
    [({"A": 1}, "1/s"), ({"A": 2}, "L/mol/s"), ({"A": 1, "B": 1}, "L/mol/s"), ({"A": 2, "B": 1}, "L^2/mol^2/s"), ({}, "mol/L/s")],
)
def test_unit_of_k_follows_from_the_orders(orders, unit):
    assert mass_action.law(orders).constants[0].dimension == parse_unit(unit).dimension


def test_example_unit_of_second_order():
    assert example_unit(mass_action.law({"A": 2}).constants[0].dimension) == "L/mol/s"


@pytest.mark.parametrize("c", [0.0, 1e-13, 1e-3, 1.7])
@pytest.mark.parametrize("n", [0.5, 1.45, 2.0])
def test_power_law_and_its_derivatives(c, n):
    law = power_law.law({"A": None}, parse_unit("mol/L"))

    def rate(c, n):
        return law.rate((3.0, 1000.0, n), ((c * 1000.0,),), 300.0)

    value, (dc, dn) = jax.value_and_grad(rate, argnums=(0, 1))(jnp.float64(c), jnp.float64(n))
    assert np.isfinite([value, dc, dn]).all()
    if c >= 1e-3:
        assert float(value) == pytest.approx(float(3 * mpmath.mpf(c) ** n), rel=1e-14)
        assert float(dc) == pytest.approx(float(3 * n * mpmath.mpf(c) ** (n - 1)), rel=1e-14)
        assert float(dn) == pytest.approx(float(3 * mpmath.mpf(c) ** n * mpmath.log(c)), rel=1e-13)
    if c == 0.0:
        assert float(value) == 0.0 and float(dn) == 0.0


def test_slightly_negative_concentration_pulls_back():
    law = power_law.law({"A": 0.5}, parse_unit("mol/L"))
    assert float(law.rate((1.0, 1000.0, 0.5), ((-1e-8,),), 300.0)) < 0


def test_reversible_with_either_constant():
    own = reversible.law({"A": 1, "B": 1}, {"C": 2})
    eq = reversible.equilibrium_law({"A": 1, "B": 1}, {"C": 2})
    sides = ((2.0, 3.0), (0.5, 0.5))
    assert float(own.rate((4.0, 8.0), sides, 300.0)) == pytest.approx(4 * 6 - 8 * 0.25)
    assert float(eq.rate((4.0, 0.5), sides, 300.0)) == pytest.approx(4 * (6 - 0.25 / 0.5))
    assert own.text == "kf*[A]*[B] - kr*[C]^2" and eq.text == "kf*[A]*[B] - kf/K*[C]^2"
    assert eq.constants[1].dimension.dimensionless


def test_free_rate_equals_its_formula_and_compares_equal():
    dims = {"kf": parse_unit("L/mol/s").dimension, "K": parse_unit("L/mol").dimension}
    law = free.law("kf*[A]*[B]/(1 + K*[A])^2", dims, ("A", "B"), "r1")
    again = free.law("kf*[A]*[B]/(1 + K*[A])**2", dims, ("A", "B"), "r1")
    assert law.rate == again.rate and hash(law.rate) == hash(again.rate)
    assert float(law.rate((2.0, 0.1), ((3.0, 4.0),), 300.0)) == pytest.approx(2 * 12 / 1.3**2, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "words"),
    [("k9*[A]", ["r1", "k9"]), ("kf*[a]", ["r1", "[a]", "A"]), ("kf*p[D]", ["p[D]", "A"]), ("kf*feed[A]", ["feed[A]"])],
)
def test_free_rate_errors(text, words):
    with pytest.raises(ExpressionError) as error:
        free.law(text, {"kf": parse_unit("1/s").dimension}, ("A", "B"), "r1")
    assert all(word in str(error.value) for word in words)


def test_arrhenius_of_old_units():
    """o04: 4.0e13 cm^3/mol/s, 25 kcal/mol, 250 degC -> 1.43989658101066 L/mol/s."""
    A, Ea, T = (parse_quantity(text).si for text in ("4.0e13 cm^3/mol/s", "25.0 kcal/mol", "250 degC"))
    thermal = Thermal(*(jnp.array([x]) for x in (A, 0.0, Ea, 1.0, 0.0)))
    k = float(constants_at(thermal, T)[0])
    assert k == pytest.approx(0.0014398965810106601, rel=1e-9)
    assert parse_unit("L/mol/s").from_si(k) == pytest.approx(1.43989658101066, rel=1e-9)


def test_arrhenius_is_double_precision():
    """o10 (b): ln k(300.00001 K) - ln k(300 K) for 100 kJ/mol."""
    thermal = Thermal(*(jnp.array([x]) for x in (1e10, 0.0, 1e5, 1.0, 0.0)))
    difference = float(jnp.log(constants_at(thermal, 300.00001))[0] - jnp.log(constants_at(thermal, 300.0))[0])
    assert difference == pytest.approx(1.3363594545661563e-06, rel=1e-4)


def test_three_parameter_law_both_ways():
    A, b, Ea, T_ref = 2e5, 1.5, 5e4, 350.0
    at_one = Thermal(*(jnp.array([x]) for x in (A, b, Ea, 1.0, 0.0)))
    k_ref = A * T_ref**b * np.exp(-Ea / GAS_CONSTANT / T_ref)
    referenced = Thermal(*(jnp.array([x]) for x in (k_ref, b, Ea, T_ref, 1 / T_ref)))
    np.testing.assert_allclose(constants_at(at_one, 410.0), constants_at(referenced, 410.0), rtol=1e-13)
    assert np.exp(log_factor(k_ref, b, Ea, T_ref)) == pytest.approx(A, rel=1e-12)
