"""Numbers as a study writes them: known, estimated, referred to, with a temperature; and sentences where they cannot be."""

import pytest

from kinetix.errors import InputError, ParameterError
from kinetix.parameters import Estimate
from kinetix.studies.numbers import Reference, Written, parse_constant, parse_known, parse_number, parse_temperature
from kinetix.units import TIME, Quantity, parse_quantity

BOUNDS = 'r1.k: bounds are two quantities, for example ["0.01 1/min", "10 1/min"], or ["0.01 1/min", ""] where one side is open'


def sentence(function, *arguments):
    with pytest.raises(InputError) as error:
        function(*arguments)
    (problem,) = error.value.problems
    return problem


def test_known_numbers():
    assert parse_number("0.1 1/min", "r1.k") == Written(parse_quantity("0.1 1/min"))
    assert parse_number(1.5, "r1.order.A").number.si == 1.5
    assert parse_number({"value": "2 1/s"}, "r1.k").number == parse_quantity("2 1/s")
    assert parse_number(" k1 ", "r1.k") == Reference("k1")
    assert parse_temperature("77 degC", "at") == pytest.approx(350.15)

    assert (
        sentence(parse_temperature, "-300 degC", "at")
        == "at: the temperature T is -300 degC, which is not above absolute zero. Correct it."
    )


def test_an_estimate_in_full():
    table = {"start": "1 1/s", "bounds": ["0.1 1/s", "60 1/min"], "scale": "linear", "fixed": False, "at": "350 K", "unit": "1/min"}
    written = parse_number(table, "r1.k")
    assert isinstance(written.number, Estimate) and written.at == 350.0
    assert (written.number.start.si, written.number.lower.si, written.number.upper.si) == (1.0, 0.1, 1.0)
    assert (written.number.scale, written.number.fixed, written.number.unit.text) == ("linear", False, "1/min")


@pytest.mark.parametrize(
    ("bounds", "lower", "upper"), [(["0.1 1/s", ""], 0.1, None), (["", "60 1/min"], None, 1.0), ((None, "1 1/s"), None, 1.0)]
)
def test_a_bound_on_one_side(bounds, lower, upper):
    number = parse_number({"start": "0.5 1/s", "bounds": bounds}, "r1.k").number
    assert tuple(None if bound is None else bound.si for bound in (number.lower, number.upper)) == (lower, upper)


def test_nothing_but_to_be_estimated():
    assert parse_number({}, "r1.k") == Written(Estimate(None))
    assert parse_number({"unit": "L/mol"}, "r1.K").number.unit.text == "L/mol"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, 'r1.k: expected a quantity such as "0.1 1/min", found True.'),
        (None, 'r1.k: expected a quantity such as "0.1 1/min", found None.'),
        (["1 1/s"], "r1.k: expected a quantity such as \"0.1 1/min\", found ['1 1/s']."),
        ("0.1", "r1.k: '0.1' has no unit: write one after the number, for example '0.1 1/s', or '0.1 -' if it is dimensionless."),
        (
            {"strat": "1 1/s"},
            "r1.k: unknown key 'strat'. Known: start, bounds, scale, fixed, unit, prior, at, value. Did you mean 'start'?",
        ),
        ({"start": "1 1/s", "prior": {}}, "r1.k: prior is {}; expected"),
        ({"start": "1 1/s", "prior": {"mean": "1 1/s", "factor": 2}}, "r1.k: prior is {'mean': '1 1/s', 'factor': 2}; expected"),
        ({"start": "1 1/s", "fixed": True, "prior": {"median": "1 1/s", "factor": 2}}, "r1.k: a prior and fixed = true."),
        ({"start": "1 1/s", "per": "experiment"}, "r1.k: per-experiment parameters ('per') are not available yet. Remove 'per'."),
        ({"start": "1 1/s", "value": "1 1/s"}, "r1.k: 'value' is a known number and 'start' an estimate. Keep one."),
        ({"bounds": "1 1/s"}, f"{BOUNDS}; found '1 1/s'."),
        ({"bounds": ["1 1/s"]}, f"{BOUNDS}; found ['1 1/s']."),
        ({"bounds": ["", " "]}, f"{BOUNDS}; found ['', ' ']."),
        (
            {"bounds": ["1", "2 1/s"]},
            "r1.k, lower bound: '1' has no unit: write one after the number, for example '1 1/s', or '1 -'",
        ),
        ({"start": "1 1/s", "scale": "ln"}, 'r1.k: scale is \'ln\'; expected "log" or "linear".'),
        ({"start": "1 1/s", "fixed": "yes"}, "r1.k: fixed is 'yes'; expected true or false."),
        ({"unit": 3}, 'r1.k: unit is 3; expected text such as "1/min".'),
        ({"start": "1 1/s", "Ea": "60 kJ/mol"}, "r1.k: 'Ea' stands beside k, not inside it. Write k = { ... } and Ea = ... side by side."),
    ],
)
def test_numbers_that_cannot_be(value, words):
    assert sentence(parse_number, value, "r1.k").startswith(words)


def test_a_number_without_a_unit_where_the_unit_is_known():
    assert sentence(parse_known, 5, "tau", TIME) == "tau: '5' has no unit: write one after the number, for example '5 s'."
    assert sentence(parse_temperature, 350, "r1.at") == "r1.at: '350' has no unit: write one after the number, for example '350 K'."
    assert sentence(parse_temperature, "350 s", "r1.at") == "r1.at has unit s (time), but temperature is needed, for example K."
    assert isinstance(parse_known("5 min", "tau", TIME), Quantity)


def test_constants_that_depend_on_temperature():
    full = parse_constant({"A": "1e9 1/s", "Ea": "70 kJ/mol", "b": 0.5}, "r1.k")
    assert full.factor and full.energy.si == 70e3 and full.exponent.si == 0.5 and full.at is None
    inside = parse_constant({"k": {"start": "1 1/s", "at": "350 K"}, "Ea": {}}, "r1.k")
    beside = parse_constant({"k": {"start": "1 1/s"}, "at": "350 K", "Ea": {}}, "r1.k")
    assert inside == beside and inside.at == 350.0 and inside.energy == Estimate(None)
    own = parse_constant({"K": "2 L/mol", "dH": "-40 kJ/mol", "at": "300 K"}, "r1.K", "K")
    assert own.energy.si == -40e3 and own.at == 300.0 and own.enthalpy and not inside.enthalpy
    flat = parse_constant({"start": "1 1/s", "Ea": {}, "at": "350 K"}, "k1", "k1")
    assert flat.value == Estimate(parse_quantity("1 1/s"))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"k": "1 1/s", "A": "1e9 1/s", "Ea": "70 kJ/mol"}, "r1.k: both k and A are given. Keep one."),
        ({"k": "1 1/s", "at": "350 K"}, "r1.k: 'at' is a temperature for a constant with Ea. Add Ea, or remove 'at'."),
        ({"start": "1 1/s", "at": "350 K"}, "r1.k: 'at' is a temperature for a constant with Ea. Add Ea, or remove 'at'."),
        (
            {"A": "1e9 1/s", "Ea": "70 kJ/mol", "at": "350 K"},
            "r1.k: A holds at no temperature; 'at' goes with k. Write k = ..., or remove 'at'.",
        ),
        (
            {"k": {"start": "1 1/s", "at": "300 K"}, "Ea": {}, "at": "350 K"},
            "r1: two temperatures are given, at = 350 K beside k and at = 300 K inside k = { ... }. Keep one.",
        ),
        ({"Ea": "70 kJ/mol"}, 'r1.k: Ea without a constant. Add A = "1e9 1/s", or k = "0.1 1/s" with at = "350 K".'),
        ({"k": "1 1/s", "Ea": "70 kJ/mol", "dH": "1 kJ/mol"}, "r1.k: both Ea and dH are given. Keep one."),
        ({"k": "1 1/s", "Ea": "70 1/s"}, "r1.Ea has unit 1/s (1/time), but energy/amount is needed, for example kJ/mol."),
        ({"k": "1 1/s", "Ea": "70"}, "r1.Ea: '70' has no unit: write one after the number, for example '70 kJ/mol'."),
        ({"k": "1 1/s", "Ea": "E1"}, "r1.Ea: expected a quantity or a table with start, found the name 'E1'."),
        ({"k": "1 1/s", "Ea": "70 kJ/mol", "at": 350}, "r1.at: '350' has no unit: write one after the number, for example '350 K'."),
        ({"k": "1 1/s", "start": "1 1/s", "Ea": {}}, "r1.k: 'start' beside 'k'. Write them inside k = { ... }."),
        ({"k": "k1", "Ea": "70 kJ/mol"}, "r1.k: 'k1' is a parameter; write Ea and b beside it under [parameters]."),
        (
            {"k": "1 1/s", "Eaa": "70 kJ/mol"},
            "r1.k: unknown key 'Eaa'. Known: k, A, Ea, dH, b, at, value, start, bounds, scale, fixed, unit, prior. Did you mean 'Ea'?",
        ),
    ],
)
def test_constants_that_cannot_be(value, words):
    assert sentence(parse_constant, value, "r1.k") == words


@pytest.mark.parametrize("name", ["b", "Ea", "at"])
def test_a_constant_called_like_a_part_is_written_as_k_in_its_table(name):
    law = parse_constant({"k": "2 L/mol", "b": "0.5 -", "Ea": "5 kJ/mol", "at": "300 K"}, f"r1.{name}", name)
    assert str(law.value) == "2 L/mol" and str(law.exponent) == "0.5 -" and str(law.energy) == "5 kJ/mol"
    with pytest.raises(ParameterError, match="Ea without a constant"):
        parse_constant({"b": "0.5 -", "Ea": "5 kJ/mol"}, "r1.b", "b")
