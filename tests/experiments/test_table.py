"""Text to cells: dialects, line numbers, numbers, and every way a table is refused."""

import numpy as np
import pytest

from kinetix.errors import DataError, Problems
from kinetix.experiments import parse_header, parse_table

ROWS = (("0", "1.5"), ("60", "0.7"))


def problems_of(text: str) -> tuple[str, ...]:
    with pytest.raises(DataError) as caught:
        parse_table(text, "x.csv")
    return caught.value.problems


def numbers(text: str, position: int = 1) -> tuple[np.ndarray, list[str]]:
    table, problems = parse_table(text, "x.csv"), Problems()
    return table.numbers(table.headers[position - 1], problems), problems.found


@pytest.mark.parametrize(
    ("text", "name", "unit"),
    [
        ("T [degC]", "T", "degC"),
        ("T[degC]", "T", "degC"),
        ("tau (min)", "tau", "min"),
        ("C_A / mol L-1", "C_A", "mol L-1"),
        ("X [%]", "X", "%"),
        ("k (1/s)", "k", "1/s"),
        ("A_feed [mol/L]", "A_feed", "mol/L"),
        ("1/tau [1/min]", "1/tau", "1/min"),
        ("1/tau", "1/tau", None),
        ("[A]", "[A]", None),
        ("[A] [mol/L]", "[A]", "mol/L"),
        ("r (mol/(L s))", "r", "mol/(L s)"),
        ("rate[r1] [mol/L/s]", "rate[r1]", "mol/L/s"),
        ("A  conc.\u00a0[mol/L]", "A conc.", "mol/L"),
        ("A []", "A", None),
        ("Temp./°C", "Temp.", "°C"),
        ("Mass/%", "Mass", "%"),
        ("r/(mol/(L s))", "r", "mol/(L s)"),
        ("W/F", "W/F", None),
        ("A/A0", "A/A0", None),
        ("remark", "remark", None),
    ],
)
def test_headers(text, name, unit):
    header = parse_header(text)
    assert (header.name, header.unit) == (name, unit)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_delimiters_and_line_ends(mark, end):
    text = end.join(mark.join(row) for row in (("time [s]", "A [mol/L]"), *ROWS))
    table = parse_table(text, "x.csv")
    assert table.delimiter == mark
    assert table.rows == ROWS
    assert table.lines == (2, 3)
    assert not table.decimal_comma


def test_lines_count_comments_blank_rows_and_rows_of_delimiters():
    text = "# title\n\ntime [s],A [mol/L]\n0,1.5\n\n,,\n# don't,\"stop\n  # indented\n60,0.7\n,\n"
    table = parse_table(text, "x.csv")
    assert table.rows == ROWS
    assert table.lines == (4, 9)
    assert table.comments == ("title", "don't,\"stop", "indented")


def test_a_lone_hash_and_a_failed_cell_are_no_comments():
    table = parse_table("#,a [s]\n1,2\n#DIV/0!,3\n#N/A,4\n# 5,6\n", "x.csv")
    assert [header.text for header in table.headers] == ["#", "a [s]"]
    assert table.rows == (("1", "2"), ("#DIV/0!", "3"), ("#N/A", "4"))


def test_quoted_cells_may_hold_delimiters_quotes_and_line_ends():
    text = '"time [s]","A, total [mol/L]",note\n0,"1.5","first\n# no comment, ""here"""\n60,0.7,\n'
    table = parse_table(text, "x.csv")
    assert table.headers[1].name == "A, total"
    assert table.rows[0][2] == 'first\n# no comment, "here"'
    assert table.lines == (2, 4)


def test_delimiter_is_not_taken_from_brackets_or_quotes():
    table = parse_table('A [mol,L];"b,c,d"\n1,5;2\n', "x.csv")
    assert table.delimiter == ";"
    assert table.rows == (("1,5", "2"),)


def test_short_rows_end_in_empty_cells_and_empty_columns_vanish():
    table = parse_table("Time [s],,A [mol/L],\n1\n2,,3,\n", "x.csv")
    assert [header.text for header in table.headers] == ["Time [s]", "A [mol/L]"]
    assert table.cells(table.headers[1]) == ("", "3")


def test_row_of_units_below_the_header():
    table = parse_table("Time,Temperature,note,\n[s],[K],,\n1,300,x,\n", "x.csv")
    assert [header.unit for header in table.headers] == ["s", "K", None]
    assert table.lines == (3,)


def test_decimal_comma_is_seen_in_columns_of_numbers_only():
    assert parse_table("a;b;note\n1;2,5;x\n1;;y\n", "x.csv").decimal_comma
    assert not parse_table("a;b;note\n1;2.5;1,5\n1;3.5;x\n2;3;y\n", "x.csv").decimal_comma
    assert not parse_table('a,b\n1,"2,5"\n', "x.csv").decimal_comma


@pytest.mark.parametrize("cell", ["", "NaN", "nan", "NA", "N/A", "n/a", "#N/A", "  "])
def test_missing_cells(cell):
    values, found = numbers(f"a [s],b\n1,\n{cell},2\n")
    np.testing.assert_array_equal(values, [1.0, np.nan])
    assert not found


@pytest.mark.parametrize(
    ("cell", "value"),
    [("1", 1.0), ("-2.5", -2.5), ("+.5", 0.5), ("1.", 1.0), ("1e-3", 1e-3), ("4.91E+00", 4.91), ("\u22120.5", -0.5), (" 7 ", 7.0)],
)
def test_numbers(cell, value):
    values, found = numbers(f"a [s],b\n{cell},1\n")
    assert values[0] == value
    assert not found


@pytest.mark.parametrize(("cell", "value"), [("124,37", 124.37), ("-0,53", -0.53), ("1,5e-3", 1.5e-3), ("40", 40.0), (",5", 0.5)])
def test_numbers_with_decimal_comma(cell, value):
    values, found = numbers(f"a [s];b\n{cell};0,1\n")
    assert values[0] == value
    assert not found


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("1e999", "'1e999' is not a finite number"),
        ("inf", "'inf' is not a finite number"),
        ("-Infinity", "not a finite number"),
        ("abc", "'abc' is not a number"),
        ("1_000", "'1_000' is not a number"),
        ("0x10", "not a number"),
        ("12.5.1", "not a number"),
        ("12 43.5", "not a number"),
        ('"1,2345"', "decimal comma"),
        ('"1,5"', "decimal comma"),
        ('"12,437"', "may be 12437 (thousands separator) or 12.437 (decimal comma). Say decimal"),
        ("~5", "is a limit"),
        ("45 %", "is a percentage, but the column has another unit"),
    ],
)
def test_what_is_no_number_is_told_with_place(cell, words):
    values, found = numbers(f"a [s],b\n1,2\n{cell},2\n")
    assert np.isnan(values[1])
    assert found[0].startswith("x.csv, line 3, column 'a [s]': ")
    assert words in found[0]


def test_point_in_a_file_of_decimal_commas_is_refused():
    values, found = numbers("a [s];b\n1,5;2\n1.234;3\n")
    assert "'1.234' may be 1234 (thousands separator) or 1,234 (decimal point), and this file writes decimal commas" in found[0]
    assert np.isnan(values[1])


def test_many_bad_cells_of_a_column_are_counted():
    _, found = numbers("a [s],b\n" + "x,1\n" * 40)
    assert len(found) == 6
    assert found[-1] == "x.csv, column 'a [s]': 35 more cells with the same kind of problem."


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", ",,\n", "\ufeff"])
def test_empty(text):
    assert problems_of(text)[0].startswith("x.csv is empty: expected a header line with units")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time [s],A [mol/L]\n", "header line but no data"),
        ("a,b\n1,5,2,5\n", "Decimal commas need semicolons or tabs"),
        ("a,b,a\n1,2,3\n", "line 1: columns 1 and 3 are both called 'a'"),
        ("# c\n1,2\n3,4\n", "line 2: expected a header line with units"),
        ('a,b\n1,"2\n', "line 2: the quotes cannot be read"),
        ('a,b\n1,"2"x\n', "line 2: the quotes cannot be read"),
        ("time  A\nx  y\nz  w\n", "no comma, semicolon or tab"),
        ("Run\n0,1\n0,2\n", "line 1 is one cell, but the lines below have more"),
        ("0.1 A 3\n0.2 B 4\n", "expected a header line with units, for example"),
    ],
)
def test_refused(text, words):
    assert any(words in problem for problem in problems_of(text)), problems_of(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n1,2,3\n", "x.csv, line 3: 3 cells, but the header has 2 columns; the first without a column is '3'."),
        (
            "a,b\n1,2\n1,0,5\n",
            "x.csv, line 3: 3 cells, but the header has 2 columns; the first without a column is '5'. Decimal commas need",
        ),
        ("time A\n0 1\n1\n2 3\n", "x.csv, line 3: 1 cell, but the header has 2 columns. Where blanks separate the columns, write NaN"),
        ('a,b\n1,2\n1,"2"x\n', "x.csv, line 3: the quotes cannot be read"),
    ],
)
def test_rows_that_cannot_be_read_are_left_out_and_told_with_all_else(text, words):
    table = parse_table(text, "x.csv")
    assert table.broken[0].startswith(words)
    assert 3 not in table.lines


def test_all_problems_of_a_table_at_once():
    assert len(problems_of('a,a,b\n1,2,3\n1,2,3,4\n1,"2\n')) == 3


def test_dialect_in_words():
    assert parse_table("\ufeffa\tb\n1,5\t2\n", "x.csv").dialect == "columns separated by tabs, decimal comma, byte-order mark"
    assert parse_table("a\n1\n", "x.csv").dialect == "one column"
