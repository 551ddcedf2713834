"""Units against pint, against the literature, and in the spellings that people use."""

import subprocess
import sys
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import UnitError
from kinetix.units import (
    AMOUNT,
    CONCENTRATION,
    CURRENT,
    DENSITY,
    DIMENSIONLESS,
    ENERGY,
    FLOW,
    LENGTH,
    LUMINOSITY,
    MASS,
    MOLAR_ENERGY,
    PRESSURE,
    RATE,
    TEMPERATURE,
    TIME,
    VOLUME,
    Dimension,
    apart_from,
    example_unit,
    parse_quantity,
    parse_unit,
    require,
    si_unit,
    symbols,
    time_unit_of,
)

# Symbols of chemists that pint 0.25 does not know, with their definitions: 1 lb = 0.45359237 kg exactly (international yard and pound
# agreement, 1959), so 1 lbmol = 453.59237 mol; "a" stands for absolute.
UNKNOWN_TO_PINT = {
    "gmol": 1.0,
    "kgmol": 1000.0,
    "lbmol": 453.59237,
    "lbm": 0.45359237,
    "Torr": 101325 / 760,
    "mTorr": 101.325 / 760,
    "psia": 6894.757293168361,
    "bara": 1e5,
    "ppb": 1e-9,
    "wt%": 0.01,
    "mol%": 0.01,
    "vol%": 0.01,
    "ccm": 1e-6,
    "ppmv": 1e-6,
    **{f"{prefix}{name}": factor for prefix, factor in (("", 1e-3), ("k", 1.0), ("m", 1e-6)) for name in ("gcat", "g_cat")},
    "Celsius": 1.0,
    "Fahrenheit": 5 / 9,
}

# BIPM SI brochure (2019), NIST SP 811 (2008) appendix B, CODATA 2018
LITERATURE = {
    "cal": 4.184,
    "kcal/mol": 4184.0,
    "lb": 0.45359237,
    "atm": 101325.0,
    "bar": 1e5,
    "torr": 101325 / 760,
    "mmHg": 133.322387415,
    "psi": 6894.757293168361,
    "in": 0.0254,
    "ft^3": 0.028316846592,
    "L": 1e-3,
    "eV": 1.602176634e-19,
    "molecule": 1 / 6.02214076e23,
    "cm^3/molecule/s": 6.02214076e17,
    "kWh": 3.6e6,
    "d": 86400.0,
    "t": 1000.0,
    "Å": 1e-10,
    "M": 1000.0,
}

SI_BASES = {
    LENGTH: "[length]",
    MASS: "[mass]",
    TIME: "[time]",
    TEMPERATURE: "[temperature]",
    AMOUNT: "[substance]",
    CURRENT: "[current]",
    LUMINOSITY: "[luminosity]",
}


@pytest.fixture(scope="module")
def registry():
    return pint.UnitRegistry()


def dimensionality(dimension):
    """A Dimension in pint's terms."""
    return {name: float(exponent) for name, exponent in zip(SI_BASES.values(), dimension.exponents, strict=True) if exponent}


def assert_same_as_pint(unit, spelled, registry):
    theirs = registry.parse_units(spelled)
    zero, one = (registry.Quantity(x, theirs).to_base_units().magnitude for x in (0.0, 1.0))
    assert unit.factor == pytest.approx(one - zero, rel=1e-12)
    assert unit.offset == pytest.approx(zero, rel=1e-12)
    assert dimensionality(unit.dimension) == {key: float(value) for key, value in theirs.dimensionality.items()}


@pytest.mark.parametrize("name", symbols.SYMBOLS)
def test_every_symbol_of_the_table_is_what_pint_says(name, registry):
    if name in UNKNOWN_TO_PINT:
        assert parse_unit(name).factor == pytest.approx(UNKNOWN_TO_PINT[name], rel=1e-15)
        assert not name.isidentifier() or name not in registry
    else:
        assert_same_as_pint(parse_unit(name), name, registry)


@pytest.mark.parametrize(("text", "factor"), LITERATURE.items())
def test_factors_of_the_literature(text, factor):
    assert parse_unit(text).factor == pytest.approx(factor, rel=1e-15)


PLAIN = [name for name in symbols.SYMBOLS if name.isidentifier() and name not in UNKNOWN_TO_PINT and not symbols.SYMBOLS[name].offset]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(PLAIN), st.integers(-3, 3)), min_size=2, max_size=4))
def test_compounds_are_what_pint_says(factors):
    registry = symbols._pint_registry()
    ours, theirs = " ".join(f"{name}{power}" for name, power in factors), "*".join(f"{name}**{power}" for name, power in factors)
    assert_same_as_pint(parse_unit(ours), theirs, registry)


@pytest.mark.parametrize(
    "name", ["fathom", "hectare", "centipoise", "cP", "angstroms", "kilomole", "megapascal", "ångström", "fortnight", "inHg", "mols"]
)
def test_units_outside_the_table_come_from_pint(name, registry):
    assert name not in symbols.SYMBOLS
    assert_same_as_pint(parse_unit(name), name, registry)


def test_everyday_units_do_not_import_pint():
    script = (
        "import sys; from kinetix.units import *\n"
        "for text in ('L/mol/s', 'mol L-1 s-1', 'kcal/mol', '°C', 'cm³/mol/s', '%', 'mmol/L', 'µmol/g/h', 'bar', 'kPa', 'min',\n"
        "             'lbmol/ft^3/h', 'J/mol/K', 'mol/kg/s/Pa', '-', 'm^2/s', 'W/m^2/K', 'psia', 'd-1'):\n"
        "    example_unit(parse_unit(text).dimension), si_unit(parse_unit(text).dimension)\n"
        "assert 'pint' not in sys.modules\n"
        "parse_unit('fathom')\n"
        "assert 'pint' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("canonical", "spellings"),
    [
        ("L/mol/s", ["L mol-1 s-1", "L·mol⁻¹·s⁻¹", "L mol^-1 s^-1", "L*mol**-1*s**-1", "L.mol-1.s-1", "L/(mol s)", "L/(mol*s)",
                     "L mol−1 s−1", "1/M/s", "M-1 s-1", "dm³/mol/s", "L/gmol/s", "(L/mol)/s", "m^3/kmol/s", " L / mol / s ", "L mol-1s-1"]),
        ("m^3", ["m3", "m³", "m**3", "m^(3)", "kL", "m^6/m^3"]),
        ("cm^3", ["cm3", "cm³", "㎤", "cc", "mL", "ml", "(cm)^3"]),
        ("1/min", ["min-1", "min^-1", "min⁻¹", "min**-1", "1/minute", "min^(-1)"]),
        ("1/h", ["h-1", "1/hr", "1/hour", "hours-1"]),
        ("degC", ["°C", "℃", "º C", "° C", "deg C", "degrees C", "celsius", "deg_C"]),
        ("degF", ["°F", "deg F", "℉"]),
        ("K", ["degK", "°K", "kelvin"]),
        ("L^0.5 mol^-0.5 s^-1", ["L^(1/2)/mol^(1/2)/s", "(L/mol)^0.5/s", "M^-0.5/s", "L0.5 mol-0.5 s-1"]),
        ("µm", ["um", "μm", "µm"]),
        ("µmol", ["umol", "μmol"]),
        ("mol/m^2/s", ["mol m-2 s-1", "mol/m²/s", "mol/(m^2*s)"]),
        ("%", ["percent", "mol%", "wt%"]),
        ("-", ["1", "–", "dimensionless", "mol/mol", "m/m"]),
        ("J/mol/K", ["J/mol/degC", "J/(mol °C)", "J mol-1 K-1"]),
    ],
)  # fmt: skip
def test_spellings_of_one_unit(canonical, spellings):
    expected = parse_unit(canonical)
    for spelling in spellings:
        unit = parse_unit(spelling)
        assert (unit.dimension, unit.offset) == (expected.dimension, expected.offset), spelling
        assert unit.factor == pytest.approx(expected.factor, rel=1e-15), spelling


STYLES = [
    lambda a, b, c: f"{a}/{b}/{c}",
    lambda a, b, c: f"{a}/({b} {c})",
    lambda a, b, c: f"{a}/({b}*{c})",
    lambda a, b, c: f"{a} / ({b}·{c})",
    lambda a, b, c: f"{a} {b}-1 {c}-1",
    lambda a, b, c: f"{a}*{b}^-1*{c}^-1",
    lambda a, b, c: f"{a}.{b}-1.{c}-1",
    lambda a, b, c: f"{a}·{b}⁻¹·{c}⁻¹",
    lambda a, b, c: f"{a} {b}**(-1) {c}^(-1)",
]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("amount", "per", "time", "si", "dimension"),
    [
        ("mol", "L", "h", 1000 / 3600, RATE),
        ("mmol", "l", "min", 1 / 60, RATE),
        ("umol", "mL", "s", 1.0, RATE),
        ("mol", "kg", "s", 1.0, AMOUNT / MASS / TIME),
        ("mol", "kgcat", "s", 1.0, AMOUNT / MASS / TIME),
        ("mmol", "g_cat", "h", 1 / 3600, AMOUNT / MASS / TIME),
    ],
)
def test_a_rate_is_known_by_its_dimension_however_it_is_written(style, amount, per, time, si, dimension):
    unit = parse_unit(style(amount, per, time))
    assert (unit.factor, unit.dimension) == (pytest.approx(si, rel=1e-14), dimension)
    assert time_unit_of(unit) == time
    left = apart_from(unit, TIME)
    assert (left.factor, left.dimension) == (parse_unit(f"{amount}/{per}").factor, AMOUNT / parse_unit(per).dimension)


def test_concentrations_in_one_symbol():
    assert parse_unit("uM/s").factor == parse_unit("µM s-1").factor == 1e-3
    assert apart_from(parse_unit("uM/s"), TIME).text == "uM"
    assert parse_unit("/s") == parse_unit("/s") and parse_unit("/s").factor == 1
    assert [parse_unit(text).factor for text in ("mol-%", "wt %", "vol.%", "bar(a)", "psi a")] == [
        *[0.01] * 3,
        1e5,
        pytest.approx(6894.757293168361, rel=1e-15),
    ]


UNIT_PIECES = [*"molLskhingKJaPCFMN%°·⁻¹³²µ/^*().- 10_", "degC", "mol", "e5", "\u00a0", "\n"]


@given(st.lists(st.sampled_from(UNIT_PIECES), max_size=12).map("".join))
def test_any_text_is_a_unit_or_is_refused_with_a_sentence(text):
    try:
        unit = parse_unit(text)
    except UnitError as error:
        assert str(error).endswith((".", "?"))
        return
    assert unit.factor > 0 and np.isfinite(unit.factor)
    assert parse_unit(str(unit)).factor == unit.factor


@given(st.sampled_from(sorted(symbols.SYMBOLS)), st.floats(-1e6, 1e6))
def test_there_and_back(name, number):
    unit = parse_unit(name)
    assert unit.from_si(unit.to_si(number)) == pytest.approx(number, rel=1e-12, abs=1e-9 * max(1.0, abs(unit.offset)) / unit.factor)
    assert unit.scale_from_si(unit.scale_to_si(number)) == pytest.approx(number, rel=1e-15)


def test_factors_are_exact_where_decimals_are():
    exact = {"cm^3": 1e-6, "cm3/mol/s": 1e-6, "mmol/L": 1.0, "1/min": 1 / 60, "mm^3": 1e-9, "km/h": 1 / 3.6}
    assert {text: parse_unit(text).factor for text in exact} == exact


def test_absolute_temperatures_stand_alone():
    assert parse_unit("degC").to_si(25.0) == 298.15
    assert parse_unit("degC").from_si(298.15) == 25.0
    assert parse_unit("degF").to_si(np.array([32.0, 212.0])) == pytest.approx([273.15, 373.15], rel=1e-15)
    assert parse_unit("degC").scale_to_si(2.0) == 2.0
    assert parse_unit("degF").scale_from_si(5.0) == pytest.approx(9.0, rel=1e-15)
    assert parse_unit("1/degC").offset == parse_unit("degC^2").offset == parse_unit("W/degC").offset == 0.0
    assert parse_unit("BTU/lb/degF").factor == pytest.approx(4186.8, rel=1e-4)  # the Btu of pint is that of ISO 80000-5


def test_arrays_of_numpy_and_jax():
    unit = parse_unit("mmol/L")
    np.testing.assert_array_equal(unit.to_si(np.array([1.0, 2.0])), [1.0, 2.0])
    assert float(parse_unit("kPa").to_si(jnp.array(2.0))) == 2000.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty", "'-'"]),
        ("   ", ["empty"]),
        ("C", ["coulomb", "degC"]),
        ("J/C", ["'C' in 'J/C'", "degC"]),
        ("F", ["farad", "degF"]),
        ("1/tau", ["'tau'", "'1/tau'", "1/min"]),
        ("secnd", ["'second'"]),
        ("KJ/mol", ["'kJ'"]),
        ("mol/Litre", ["'litre'"]),
        ("T", ["'T'"]),
        ("k", ["'k'"]),
        ("psig", ["gauge", "psia"]),
        ("pH", ["logarithmic"]),
        ("dBm", ["dBm"]),
        ("USD", ["USD"]),
        ("J/mol K", ["two readings", "J/(mol K)"]),
        ("L/mol*s", ["two readings"]),
        ("1000 L", ["1000", "no number but 1"]),
        ("1e-3 mol", ["1e-3"]),
        ("mol -1", ["-1"]),
        ("m^", ["exponent", "the end"]),
        ("m^x", ["exponent", "x"]),
        ("m^(1/0)", ["zero"]),
        ("m^(1", ["not closed"]),
        ("m^99", ["99"]),
        ("m/", ["at the end"]),
        ("//s", ["before '/'"]),
        ("(m", ["not closed"]),
        ("m)", ["')'"]),
        ("$", ["'$'"]),
        ("(" * 10_000, ["10000 characters"]),
        ("__import__('os')", ["does not belong"]),
    ],
)  # fmt: skip
def test_what_is_no_unit_is_refused_with_the_way_out(text, words):
    with pytest.raises(UnitError) as error:
        parse_unit(text)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("dimension", "words", "example", "si"),
    [
        (VOLUME / AMOUNT / TIME, "volume/amount/time", "L/mol/s", "m^3/mol/s"),
        (VOLUME**2 / AMOUNT**2 / TIME, "volume^2/amount^2/time", "L^2/mol^2/s", "m^6/mol^2/s"),
        (CONCENTRATION, "amount/volume", "mol/L", "mol/m^3"),
        (RATE, "amount/volume/time", "mol/L/s", "mol/m^3/s"),
        (CONCENTRATION**-0.5 / TIME, "volume^0.5/amount^0.5/time", "L^0.5/mol^0.5/s", "m^1.5/mol^0.5/s"),
        (CONCENTRATION**-0.37 / TIME, "volume^0.37/amount^0.37/time", "L^0.37/mol^0.37/s", "m^1.11/mol^0.37/s"),
        (CONCENTRATION ** (1 / 3), "amount^(1/3)/volume^(1/3)", "mol^(1/3)/L^(1/3)", "mol^(1/3)/m"),
        (DIMENSIONLESS / TIME, "1/time", "1/s", "1/s"),
        (MOLAR_ENERGY, "energy/amount", "kJ/mol", "J/mol"),
        (MOLAR_ENERGY / TEMPERATURE, "energy/amount/temperature", "J/mol/K", "J/mol/K"),
        (ENERGY, "energy", "kJ", "J"),
        (ENERGY / TIME, "energy/time", "W", "J/s"),
        (ENERGY / TIME / LENGTH**2 / TEMPERATURE, "energy/area/temperature/time", "W/m^2/K", "J/m^2/K/s"),
        (PRESSURE, "pressure", "bar", "Pa"),
        (PRESSURE * TIME, "pressure*time", "bar*s", "Pa*s"),
        (AMOUNT / MASS / TIME, "amount/mass/time", "mol/kg/s", "mol/kg/s"),
        (AMOUNT / MASS / TIME / PRESSURE, "amount/mass/time/pressure", "mol/kg/s/bar", "mol/kg/s/Pa"),
        (AMOUNT / MASS / TIME / PRESSURE**0.5, "amount/mass/time/pressure^0.5", "mol/kg/s/bar^0.5", "mol/kg/s/Pa^0.5"),
        (AMOUNT / LENGTH**2 / TIME, "amount/area/time", "mol/m^2/s", "mol/m^2/s"),
        (FLOW, "volume/time", "L/s", "m^3/s"),
        (LENGTH / TIME, "length/time", "m/s", "m/s"),
        (DENSITY, "mass/volume", "kg/m^3", "kg/m^3"),
        (ENERGY / MASS / TEMPERATURE, "energy/mass/temperature", "J/kg/K", "J/kg/K"),
        (TEMPERATURE, "temperature", "K", "K"),
        (TIME, "time", "s", "s"),
        (DIMENSIONLESS, "dimensionless", "-", "-"),
    ],
)  # fmt: skip
def test_dimensions_in_words_and_units(dimension, words, example, si):
    assert (str(dimension), example_unit(dimension), si_unit(dimension).text) == (words, example, si)


EXPONENTS = st.sampled_from([Fraction(0), *(Fraction(n, d) for n in (-2, -1, 1, 2, 3) for d in (1, 2, 3))])


@settings(deadline=None, max_examples=150)
@given(st.builds(Dimension, *[EXPONENTS] * 7))
def test_texts_of_any_dimension_read_back(dimension):
    assert parse_unit(example_unit(dimension)).dimension == dimension
    si = si_unit(dimension)
    read = parse_unit(si.text)
    assert (read.dimension, read.factor, si.dimension, si.factor) == (dimension, 1.0, dimension, 1.0)


@settings(deadline=None, max_examples=50)
@given(st.builds(Dimension, *[EXPONENTS] * 7), st.builds(Dimension, *[EXPONENTS] * 7))
def test_algebra_of_dimensions(a, b):
    assert a * b / b == a
    assert (a * b) ** 2 == a * a * b * b
    assert (a**0.5) ** 2 == a
    assert (a / a).dimensionless
    assert a**0 == DIMENSIONLESS
    assert hash(a * b) == hash(b * a)


def test_require_names_the_quantity_both_dimensions_and_an_example():
    assert require(parse_unit("L/mol/s"), VOLUME / AMOUNT / TIME, "r1.k").text == "L/mol/s"
    with pytest.raises(UnitError) as error:
        require(parse_quantity("1e7 1/s"), VOLUME / AMOUNT / TIME, "r1.k")
    assert str(error.value) == "r1.k has unit 1/s (1/time), but volume/amount/time is needed, for example L/mol/s."
    with pytest.raises(UnitError, match=r"^tau has no unit \(dimensionless\), but time is needed, for example s\.$"):
        require(parse_unit("1"), TIME, "tau")
    with pytest.raises(UnitError, match=r"^r1\.order\.A has unit s \(time\), but it must be dimensionless"):
        require(parse_unit("s"), DIMENSIONLESS, "r1.order.A")


@pytest.mark.parametrize(
    ("text", "value", "unit", "si"),
    [
        ("0.1 1/min", 0.1, "1/min", 0.1 / 60),
        ("0.1/min", 0.1, "1/min", 0.1 / 60),
        ("0.1 min-1", 0.1, "min-1", 0.1 / 60),
        ("250 degC", 250.0, "degC", 523.15),
        ("−5 °C", -5.0, "°C", 268.15),
        ("60 kJ/mol", 60.0, "kJ/mol", 60_000.0),
        ("1e-3 m^3/s", 1e-3, "m^3/s", 1e-3),
        ("1mol/L", 1.0, "mol/L", 1000.0),
        ("4.0e13 cm^3/mol/s", 4e13, "cm^3/mol/s", 4e7),
        ("25.0 kcal/mol", 25.0, "kcal/mol", 104_600.0),
        (".5 %", 0.5, "%", 0.005),
        ("20%", 20.0, "%", 0.2),
        ("5 -", 5.0, "-", 5.0),
        ("5 1", 5.0, "1", 5.0),
        ("3 d", 3.0, "d", 259_200.0),
    ],
)  # fmt: skip
def test_quantities(text, value, unit, si):
    quantity = parse_quantity(text)
    assert (quantity.value, quantity.unit.text) == (value, unit)
    assert quantity.si == pytest.approx(si, rel=1e-15)
    assert parse_quantity(str(quantity)) == quantity


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0.1", ["'0.1' has no unit", "'0.1 1/s'", "'0.1 -'"]),
        ("", ["cannot read ''", "0.1 1/min"]),
        ("fast", ["cannot read 'fast'"]),
        ("nan s", ["cannot read"]),
        ("1e999 s", ["1e999", "finite"]),
        ("0,5 mol/L", ["decimal comma", "'0.5 mol/L'"]),
        ("5 secnd", ["'second'"]),
        ("5 1/mn", ["'min'"]),
        ("10 sccm", ["sccm", "standard conditions", "mL/min"]),
        ("1 000 L", ["000"]),
    ],
)  # fmt: skip
def test_what_is_no_quantity_is_refused(text, words):
    with pytest.raises(UnitError) as error:
        parse_quantity(text)
    for word in words:
        assert word in str(error.value)


def test_an_expected_dimension():
    assert parse_quantity("0.3", expect=DIMENSIONLESS).si == 0.3
    assert parse_quantity(0.3, expect=DIMENSIONLESS).si == 0.3
    with pytest.raises(UnitError, match=r"^feed\.A: '0\.3' has no unit: write one after the number, for example '0\.3 mol/L'\.$"):
        parse_quantity(0.3, expect=CONCENTRATION, what="feed.A")
    with pytest.raises(UnitError, match=r"^feed\.A has unit s"):
        parse_quantity("1 s", expect=CONCENTRATION, what="feed.A")
    with pytest.raises(UnitError, match=r"^feed\.A: unknown unit 'mlo'"):
        parse_quantity("1 mlo/L", expect=CONCENTRATION, what="feed.A")


def test_old_units_of_a_bimolecular_rate_constant():
    """A = 4.0e13 cm^3/mol/s, Ea = 25.0 kcal/mol at 250 degC; the value is the closed form (pain case o04)."""
    a, ea, t = (parse_quantity(text).si for text in ("4.0e13 cm^3/mol/s", "25.0 kcal/mol", "250 degC"))
    k = a * np.exp(-ea / (GAS_CONSTANT * t))
    assert k == pytest.approx(0.0014398965810106601, rel=1e-12)
    assert parse_unit("L/mol/s").from_si(k) == pytest.approx(1.43989658101066, rel=1e-12)
