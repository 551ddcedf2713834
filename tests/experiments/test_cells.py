"""Cells: numbers in every notation, and marks that say that nothing was measured."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetix.errors import Problems
from kinetix.experiments import Layout, parse_table
from kinetix.experiments.cells import DECIMAL_POINT, Notation, is_mark

POINT, COMMA = Notation(thousands=True), Notation(",", thousands=True)


def column(*cells: str, delimiter: str = ";", layout: Layout = Layout()) -> tuple[np.ndarray, list[str]]:  # noqa: B008  (frozen)
    """The numbers of a column of these cells, and the problems."""
    text = "\n".join(["a [s]" + delimiter + "b [s]", *(f'"{cell}"{delimiter}1' for cell in cells)])
    table, problems = parse_table(text, "x.csv", layout), Problems()
    return table.numbers(table.headers[0], problems), problems.found


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,234.5", "2"], [1234.5, 2]),
        (["1,234.5", "2,500"], [1234.5, 2500]),
        (["1.234,5", "2.500", "0,5"], [1234.5, 2500, 0.5]),
        (["1.234.567", "3"], [1234567, 3]),
        (["1,234,567", "3.5"], [1234567, 3.5]),
        (["0.5", "1,234"], [0.5, 1234]),
        (["0,123", "1,234"], [0.123, 1.234]),
        (["12 345", "12 345.5"], [12345, 12345.5]),
        (["12'345.25", "1"], [12345.25, 1]),
        (["12\u00a0345,25", "1,5"], [12345.25, 1.5]),
        (["-1.234,5e3", "1"], [-1234500, 1]),
    ],
)
def test_thousands_where_there_is_one_reading(cells, values):
    numbers, found = column(*cells)
    assert not found
    np.testing.assert_array_equal(numbers, values)


def test_thousands_in_a_file_of_commas_are_quoted():
    numbers, found = column("1,234.5", "1,000", delimiter=",")
    assert not found
    assert numbers.tolist() == [1234.5, 1000]
    assert column("1.234,5", "1.000", delimiter=",")[0].tolist() == [1234.5, 1000]


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
def test_one_comma_before_three_digits_has_two_readings(delimiter):
    numbers, found = column("1,234", "2,500", delimiter=delimiter)
    assert np.isnan(numbers).all()
    assert found[0].startswith(
        "x.csv, line 2, column 'a [s]': '1,234' may be 1234 (thousands separator) or 1.234 (decimal comma). Say decimal"
    )
    assert column("1,234", delimiter=delimiter, layout=Layout(decimal="."))[0].tolist() == [1234]
    assert column("1,234", delimiter=delimiter, layout=Layout(decimal=","))[0].tolist() == [1.234]


def test_a_declared_decimal_mark_refuses_the_other():
    numbers, found = column("1,5", layout=Layout(decimal="."))
    assert np.isnan(numbers).all()
    assert "'1,5' has a decimal comma, but decimal = \".\" under [data] says that points are decimal. Write '1.5'" in found[0]
    assert column("1.5", layout=Layout(decimal=","))[1] == [
        "x.csv, line 2, column 'a [s]': '1.5' has a decimal point, but decimal = \",\" under [data] says that commas are decimal. "
        "Write '1,5', or points in every number. Where files differ, leave decimal out: each shows its own."
    ]


@pytest.mark.parametrize("layout", [Layout(), Layout(decimal=",")])
def test_a_lone_point_in_a_file_of_decimal_commas_has_two_readings(layout):
    numbers, found = column("905.123", "12,5", "870,25", layout=layout)
    assert np.isnan(numbers[0])
    assert found[0].startswith(
        "x.csv, line 2, column 'a [s]': '905.123' may be 905123 (thousands separator) or 905,123 (decimal point), and"
    )


@pytest.mark.parametrize(
    ("text", "layout", "note"),
    [
        ("a [s];b [s]\n1.234,5;905.123\n0,5;1\n", Layout(), "x.csv: points separate thousands: '905.123' (column 'b [s]', line 2) is"),
        ("a [s];b [s]\n1.234,5;905.123\n0,5;1\n", Layout(decimal=","), "x.csv: points separate thousands: '905.123' (column 'b [s]', line"),
        (
            "a [s];b [s]\n1,234;2,500\n1;1\n",
            Layout(decimal="."),
            "x.csv: commas separate thousands: '1,234' (column 'a [s]', line 2) is read",
        ),
        ("a [s];b [s]\n1,234.5;1,234,567\n1;1\n", Layout(), ""),
    ],
)
def test_what_is_read_with_a_thousands_separator_is_told(text, layout, note):
    table = parse_table(text, "x.csv", layout)
    assert table.thousands(table.headers).startswith(note)
    assert bool(table.thousands(table.headers)) == bool(note)


@given(st.integers(-(10**12), 10**12), st.integers(0, 999))
def test_grouped_numbers_are_read_back(whole, thousandths):
    written = f"{whole:,}.{thousandths:03d}"
    assert POINT.number(written) == float(f"{whole}.{thousandths:03d}")
    assert COMMA.number(written.translate(str.maketrans(",.", ".,"))) == float(f"{whole}.{thousandths:03d}")
    assert POINT.number(written.replace(",", "'")) == POINT.number(written)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_is_read(number):
    assert DECIMAL_POINT.number(repr(number)) == number
    assert Notation(",").number(repr(number).replace(".", ",")) == number


@given(st.text(alphabet=st.sampled_from(list("0123456789.,' eE+-%<>#\u00a0")), max_size=12))
def test_a_cell_is_a_finite_number_missing_or_a_complaint(cell):
    for notation in (DECIMAL_POINT, POINT, COMMA):
        number = notation.number(cell)
        assert number is None or isinstance(number, float)
        assert notation.complaint(cell, True)
    is_mark(cell)


@pytest.mark.parametrize(
    "cell", ["n.d.", "N.D.", "*", "-", "---", "–", "#DIV/0!", "#VALUE!", "####", "<0.01", "> 5", "≤ 3 %", "<LOD", "bdl"]
)
def test_marks_are_missing_and_told_with_place(cell):
    numbers, found = column("1", cell, "2")
    np.testing.assert_array_equal(numbers, [1, np.nan, 2])
    assert not found
    table = parse_table(f"a [s];b [s]\n1;1\n{cell};2\n{cell};3\n", "x.csv")
    assert table.not_measured(table.headers).startswith(f"x.csv: 2 cells count as not measured: '{cell}' (column 'a [s]', lines 3, 4).")
    assert ("Limits are left out" in table.not_measured(table.headers)) == (cell[0] in "<>≤" and cell != "<LOD")


def test_empty_cells_are_not_told():
    table = parse_table("a [s];b [s]\n1;1\n;NaN\n", "x.csv")
    assert table.not_measured(table.headers) == ""


def test_further_marks_are_declared():
    assert 'missing = ["lost"]' in column("1", "lost")[1][0]
    numbers, found = column("1", "LOST", layout=Layout(missing=("lost",)))
    np.testing.assert_array_equal(numbers, [1, np.nan])
    assert not found


def test_percent_signs():
    table = parse_table("X [%];b\n45 %;50%\n20;40%\n", "x.csv")
    values = table.numbers(table.headers[0], problems := Problems(), percent=1.0)
    assert values.tolist() == [45, 20]
    assert not problems.found
    assert table.in_percent(table.headers[1])
    assert not table.in_percent(table.headers[0])


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (".9 mol/L", "'.9 mol/L' is a number with text behind it. Write the number alone, a unit in the header"),
        ("12mL", "'12mL' is a number with text behind it."),
        ("9.0D-1", "'9.0D-1' is not a number. Write its exponent with E: '9.0E-1'."),
        ("lost", "'lost' is not a number. Leave the cell empty where nothing was measured, or name the mark"),
    ],
)
def test_complaints_say_what_to_write(cell, words):
    assert column("1", cell)[1][0].startswith(f"x.csv, line 3, column 'a [s]': {words}")
