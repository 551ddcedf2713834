"""Dimensions of formulas: by hand, and against the same formula computed with pint quantities."""

import pint
import pytest

from kinetix.errors import ExpressionError
from kinetix.expression import dimension, parse
from kinetix.units import (
    AMOUNT,
    CONCENTRATION,
    DIMENSIONLESS,
    MASS,
    MOLAR_ENERGY,
    PRESSURE,
    RATE,
    TEMPERATURE,
    TIME,
    VOLUME,
    parse_unit,
)

GIVEN = {
    "k": DIMENSIONLESS / TIME,
    "k2": VOLUME / AMOUNT / TIME,
    "kw": AMOUNT / MASS / TIME / PRESSURE,
    "K": VOLUME / AMOUNT,
    "Kp": DIMENSIONLESS / PRESSURE,
    "T": TEMPERATURE,
    "T0": TEMPERATURE,
    "R": MOLAR_ENERGY / TEMPERATURE,
    "Ea": MOLAR_ENERGY,
    "n": DIMENSIONLESS,
    "x": DIMENSIONLESS,
    "tau": TIME,
    "[A]": CONCENTRATION,
    "[B]": CONCENTRATION,
    "feed[A]": CONCENTRATION,
    "initial[A]": CONCENTRATION,
    "p[A]": PRESSURE,
    "rate[r1]": RATE,
    "unknown": None,
    "mystery": None,
}


def of(text):
    return dimension(parse(text), lambda symbol: GIVEN[str(symbol)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k*[A]", RATE),
        ("k2*[A]*[B]/(1 + K*[A])^2", RATE),
        ("kw*p[A]/(1 + Kp*p[A] + sqrt(Kp*p[A]))", AMOUNT / MASS / TIME),
        ("1 - [A]/feed[A]", DIMENSIONLESS),
        ("k*exp(-Ea/R*(1/T - 1/T0))*[A]", RATE),
        ("rate[r1]*tau - initial[A]", CONCENTRATION),
        ("[A]^0.5*[B]^(1/2)", CONCENTRATION),
        ("sqrt([A]*[B])", CONCENTRATION),
        ("[A]^-1", VOLUME / AMOUNT),
        ("[A]^(-3/2)", CONCENTRATION**-1.5),
        ("k*[A]*(1/2)", RATE),
        ("([A]/feed[A])^n", DIMENSIONLESS),
        ("2^n", DIMENSIONLESS),
        ("max([A], 0)", CONCENTRATION),
        ("min([A], [B], feed[A])", CONCENTRATION),
        ("abs(-[A])", CONCENTRATION),
        ("0 + [A]", CONCENTRATION),
        ("[A] - 0", CONCENTRATION),
        ("0", DIMENSIONLESS),
        ("0 + 0", DIMENSIONLESS),
        ("pi*x + log10(T/T0)", DIMENSIONLESS),
        ("T*(1 + x)", TEMPERATURE),
        ("unknown + [A]", CONCENTRATION),
        ("[A] + unknown*k + mystery", CONCENTRATION),
        ("exp(unknown*[A])", DIMENSIONLESS),
        ("x^unknown", DIMENSIONLESS),
        ("max(unknown, T)", TEMPERATURE),
    ],
)
def test_dimensions(text, expected):
    assert of(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k*[A]/(1 + [A]*k/k)", "'1 + [A]*k/k' adds dimensionless and amount/volume; the terms of a sum need the same dimension."),
        ("[A] - p[A]", "'[A] - p[A]' adds amount/volume and pressure; the terms of a sum need the same dimension."),
        ("[A] + 1e-9", "'[A] + 1e-9' adds amount/volume and dimensionless; the terms of a sum need the same dimension."),
        ("unknown*([A] + T)", "'[A] + T' adds amount/volume and temperature; the terms of a sum need the same dimension."),
        ("max([A], 1)", "'max([A], 1)' compares amount/volume and dimensionless; the arguments of max need the same dimension."),
        (
            "exp(Ea/T)",
            "'exp(Ea/T)' takes the exp of energy/amount/temperature; exp needs a dimensionless argument: "
            "divide 'Ea/T' by a constant of the same unit.",
        ),
        (
            "log([A])",
            "'log([A])' takes the log of amount/volume; log needs a dimensionless argument: divide '[A]' by a constant of the same unit.",
        ),
        ("x^T", "'x^T' has an exponent of temperature; an exponent must be dimensionless."),
        (
            "k*[A]^n",
            "'[A]^n' raises amount/volume to 'n', so that its unit would depend on a value; "
            "write a number as the exponent, or divide '[A]' by a constant of the same unit.",
        ),
        (
            "unknown*mystery*k",
            "the dimension of 'unknown*mystery*k' is not known, because that of 'unknown', 'mystery' is not: give it a unit.",
        ),
    ],
)
def test_errors_name_the_part_and_both_dimensions(text, message):
    with pytest.raises(ExpressionError) as error:
        of(text)
    assert str(error.value) == message


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "arctan", "atan", "tanh", "sinh", "cosh", "exp", "log", "ln", "log10"])
def test_transcendental_functions_need_a_dimensionless_argument(name):
    assert of(f"{name}(x)") == DIMENSIONLESS
    with pytest.raises(ExpressionError, match=f"takes the {name} of time"):
        of(f"{name}(tau)")


def test_the_same_as_a_calculation_with_pint():
    registry = pint.UnitRegistry()
    units = {"k": "m^3/mol/s", "A": "mol/m^3", "K": "Pa^-1", "P": "Pa", "T": "K", "R": "J/mol/K"}
    formulas = ["k*A**2/(1 + K*P)**2", "A*R*T - P", "(P/(R*T))**0.5*k", "k*A*T**-1.5", "abs(A - P/(R*T))/A"]
    for text in formulas:
        theirs = eval(text, {"abs": abs}, {name: registry.Quantity(1.5, unit) for name, unit in units.items()}).dimensionality  # noqa: S307  (Python is the reference)
        ours = dimension(parse(text), lambda symbol: parse_unit(units[symbol.name]).dimension)
        named = dict(zip(("[length]", "[mass]", "[time]", "[temperature]", "[substance]"), map(float, ours.exponents), strict=False))
        assert {name: exponent for name, exponent in named.items() if exponent} == {name: float(power) for name, power in theirs.items()}, (
            text
        )
