"""Parameters: what is refused, free coordinates, and the arrays that bind them to constants."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import InputError, ParameterError, UnitError
from kinetix.parameters import ConstantBook, Estimate, ParameterTable, TemperatureLaw, bindings, parameter
from kinetix.precision import float64
from kinetix.rates import Constant, constants_at
from kinetix.units import DIMENSIONLESS, TIME, parse_quantity, parse_unit

PER_TIME = DIMENSIONLESS / TIME
K = Constant("k", PER_TIME)


def q(text):
    return parse_quantity(text)


def refused(name, number, positive=True, dimension=PER_TIME):
    with pytest.raises(InputError) as error:
        parameter(name, number, dimension, positive)
    return str(error.value)


def test_b25_bounds_the_wrong_way_round():
    message = refused("k1", Estimate(q("2 1/s"), q("10 1/s"), q("1 1/s")))
    assert message == "Parameter 'k1': lower bound 10 1/s is above upper bound 1 1/s. Swap them."


def test_b27_lower_bound_zero_on_a_log_scale():
    message = refused("k1", Estimate(q("0.5 1/s"), q("0 1/s"), q("1 1/s")))
    assert "log scale" in message and "(got 0 1/s)" in message and 'scale = "linear"' in message


def test_lower_bound_zero_is_fine_on_a_linear_scale():
    p = parameter("k1", Estimate(q("0 1/s"), q("0 1/s"), q("60 1/min"), "linear"), PER_TIME, True)
    assert (p.start, p.lower, p.upper, p.scale) == (0.0, 0.0, 1.0, "linear")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (Estimate(q("5 1/s"), None, q("1 1/s")), "above its upper bound 1 1/s"),
        (Estimate(q("-1 1/s")), "start must be above 0"),
        (Estimate(None, fixed=True), "at what value"),
        (Estimate(q("1 1/s"), q("1 1/s"), q("1 1/s")), "both bounds"),
    ],
)
def test_refusals(number, words):
    assert words in refused("k1", number)


def test_units_are_checked_on_start_and_bounds():
    with pytest.raises(UnitError, match="k1 has unit mol/L"):
        parameter("k1", Estimate(q("1 mol/L")), PER_TIME, True)
    with pytest.raises(UnitError):
        parameter("k1", Estimate(q("1 1/s"), q("1 mol/L")), PER_TIME, True)


def test_coordinates_and_back():
    table = ParameterTable(
        (
            parameter("k", Estimate(q("2 1/s"), q("1 1/s")), PER_TIME, True),
            parameter("known", q("3 1/s"), PER_TIME, True),
            parameter("x", Estimate(q("-4 1/s")), PER_TIME, False),
        )
    )
    np.testing.assert_allclose(table.free_start(), [np.log(2), -4])
    np.testing.assert_array_equal(table.free_bounds()[0], [0.0, -np.inf])
    with float64():
        coordinates = table.coordinates()
        values = coordinates.physical(jnp.asarray(table.free_start()))
        np.testing.assert_allclose(values[:3], [2.0, 3.0, -4.0], rtol=1e-15)
        slope = np.diag(np.asarray(jax.jacfwd(coordinates.physical)(jnp.asarray(table.free_start())))[table.free])
    np.testing.assert_allclose(coordinates.slope(np.asarray(values)), slope)


def constant(spec, T_ref=350.0):
    book = ConstantBook(T_ref)
    book.add("r1.k", K, spec)
    return book


def value_at(book, T, values=None):
    with float64():
        p = jnp.asarray([p.start for p in book.parameters] if values is None else values)
        return float(constants_at(bindings(book.constants, 4).thermal(p), T)[0])


def test_estimated_factor_becomes_k_at_the_reference_temperature():
    book = constant(TemperatureLaw(Estimate(q("1e9 1/s")), factor=True, energy=Estimate(q("70 kJ/mol"))))
    assert [p.name for p in book.parameters] == ["r1.k_ref", "r1.Ea"]
    assert book.parameters[0].start == pytest.approx(1e9 * np.exp(-70e3 / GAS_CONSTANT / 350))
    assert value_at(book, 400.0) == pytest.approx(1e9 * np.exp(-70e3 / GAS_CONSTANT / 400), rel=1e-13)
    (factor,) = book.derived
    values = np.array([p.start for p in book.parameters])
    assert factor.name == "r1.A" and np.exp(factor.log_value(values)) == pytest.approx(1e9, rel=1e-12)
    step = 1e-6
    for i in range(2):
        shifted = values.copy()
        shifted[i] *= 1 + step
        difference = (factor.log_value(shifted) - factor.log_value(values)) / (values[i] * step)
        assert factor.gradient(values)[i] == pytest.approx(difference, rel=1e-4)


def test_known_factor_with_a_fitted_energy_stays_what_it_is():
    book = constant(TemperatureLaw(q("1e9 1/s"), factor=True, energy=Estimate(q("70 kJ/mol"))))
    assert [(p.name, p.fixed) for p in book.parameters] == [("r1.A", True), ("r1.Ea", False)]
    assert value_at(book, 400.0, [1e9, 75e3]) == pytest.approx(1e9 * np.exp(-75e3 / GAS_CONSTANT / 400), rel=1e-13)
    assert not book.derived


def test_value_at_a_temperature_of_the_users_choice():
    book = constant(TemperatureLaw(Estimate(q("0.1 1/s")), at=330.0, energy=q("60 kJ/mol")))
    assert value_at(book, 330.0) == pytest.approx(0.1)


def test_reference_temperature_of_the_data_is_the_default():
    book = constant(TemperatureLaw(Estimate(q("0.1 1/s")), energy=q("60 kJ/mol")), T_ref=345.0)
    assert value_at(book, 345.0) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (TemperatureLaw(q("0.1 1/s"), energy=q("60 kJ/mol")), "at which temperature"),
        (
            TemperatureLaw(Estimate(q("1e9 1/s"), q("1e8 1/s")), factor=True, energy=Estimate(q("70 kJ/mol"))),
            "Give k at a temperature",
        ),
        (TemperatureLaw(Estimate(q("0.1 1/s")), energy=q("60 kJ")), "Ea"),
    ],
)
def test_refused_constants(spec, words):
    with pytest.raises(InputError, match=words):
        constant(spec)


def test_bounds_on_the_factor_move_with_a_known_energy():
    book = constant(TemperatureLaw(Estimate(q("1e9 1/s"), q("1e8 1/s"), q("1e10 1/s")), factor=True, energy=q("70 kJ/mol")))
    p = book.parameters[0]
    assert p.lower / p.start == pytest.approx(0.1) and p.upper / p.start == pytest.approx(10)


def test_temperature_dependence_without_any_temperature():
    with pytest.raises(ParameterError, match="neither the data nor the conditions"):
        constant(TemperatureLaw(Estimate(q("0.1 1/s")), energy=q("60 kJ/mol")), T_ref=None)


def test_plain_constant_is_the_same_at_any_temperature():
    book = constant(TemperatureLaw(Estimate(q("0.1 1/s"))))
    assert [p.name for p in book.parameters] == ["r1.k"]
    assert value_at(book, 300.0) == value_at(book, 900.0) == pytest.approx(0.1, rel=1e-15)
    assert not book.constants[0].thermal and book.constants[0].unit == parse_unit("1/s")
