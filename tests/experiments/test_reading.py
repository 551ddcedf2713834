"""Any text is a table or is refused with sentences, and a table is read back from every way to write it."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetix.errors import DataError, Problems
from kinetix.experiments import Layout, Vocabulary, build_campaign, parse_table
from kinetix.io.tables import read_table
from kinetix.units import CONCENTRATION, TEMPERATURE

BATCH = Vocabulary(("A", "B"), dict.fromkeys("AB", CONCENTRATION), {"T": TEMPERATURE, "initial.A": CONCENTRATION}, timed=True)
PIECES = ["time [s]", "A [mol/L]", "T [degC]", "run", "1", "0,5", "0.5", "1.234,5", "1,234", "-3", "1e5", "NaN", "n.d.", "<0.1", "45 %"]
PIECES += [
    "08:05",
    "2024-03-01",
    "03/04/2024",
    "note",
    "#",
    "# c",
    '"',
    '"a;b"',
    ";",
    ",",
    "\t",
    " ",
    "\n",
    "\r\n",
    "\n\n",
    "\ufeff",
    "°",
    "∞",
]


def assert_sentences(error: DataError) -> None:
    assert error.problems
    assert all(problem.endswith((".", "?")) for problem in error.problems), error.problems


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join), st.sampled_from([None, ".", ","]))
def test_any_text_is_a_campaign_or_is_refused_with_sentences(text, decimal):
    try:
        table = parse_table(text, "x.csv", Layout(decimal=decimal))
        assert all(len(row) == len(table.rows[0]) for row in table.rows)
        assert list(table.lines) == sorted(set(table.lines))
        build_campaign([table], BATCH, temperatures=False)
    except DataError as error:
        assert_sentences(error)


@given(content=st.binary(max_size=60) | st.text(max_size=30).map(lambda text: f"time [s],A [mol/L]\n0,1\n{text}".encode()))
def test_any_bytes_are_a_table_or_are_refused_with_sentences(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "x.csv"
    path.write_bytes(content)
    try:
        read_table(path)
    except DataError as error:
        assert_sentences(error)


NUMBERS = st.none() | st.floats(-1e9, 1e9) | st.integers(-(10**6), 10**6)


@given(
    rows=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=2, max_size=6).filter(
        lambda rows: all(any(x is not None for x in row) for row in rows)
    ),
    delimiter=st.sampled_from([",", ";", "\t"]),
    decimal=st.sampled_from([".", ","]),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    mark=st.sampled_from(["", "\ufeff"]),
    missing=st.sampled_from(["", "NaN", "n.d.", "---"]),
    above=st.sampled_from(["", "# a comment, with; marks\n", "\n\n"]),
)
def test_a_table_is_read_back_from_every_dialect(rows, delimiter, decimal, ends, quoting, mark, missing, above):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator="\n")
    writer.writerow(["time [s]", "A [mol/L]", "B [mol/L]"])
    writer.writerows([[missing if number is None else repr(number).replace(".", decimal) for number in row] for row in rows])
    text = mark + (above + stream.getvalue()).replace("\n", ends)
    table, problems = parse_table(text, "x.csv", Layout(decimal=decimal)), Problems()
    read = np.stack([table.numbers(header, problems) for header in table.headers], axis=1)
    assert not problems.found
    assert not table.broken
    np.testing.assert_array_equal(read, np.array(rows, dtype=float))
    first = above.count("\n") + 2
    assert table.lines == tuple(range(first, first + len(rows)))


@pytest.mark.parametrize("text", ["__import__('os').system('touch owned')", "=cmd|' /C calc'!A0", "${HOME}", "{0.__class__}", "%s%n"])
def test_what_looks_like_a_program_is_text(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quoted = '"' + text.replace('"', '""') + '"'
    read = build_campaign([parse_table(f"time [s],A [mol/L],note\n0,1,{quoted}\n5,2,x\n", "x.csv")], BATCH)
    assert read.remarks[0].text == text
    with pytest.raises(DataError):
        build_campaign([parse_table(f"time [s],A [mol/L]\n0,{quoted}\n5,2\n", "x.csv")], BATCH)
    assert not list(tmp_path.iterdir())
