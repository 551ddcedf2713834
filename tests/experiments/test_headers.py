"""Where the header of a file is, and what it says: titles, comments, units, groups, none at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetix.errors import DataError, InputError
from kinetix.experiments import Layout, Table, Vocabulary, build_campaign, parse_header, parse_table, table_of_cells
from kinetix.units import CONCENTRATION, DIMENSIONLESS, RATE, TEMPERATURE, parse_unit

BATCH = Vocabulary(("A", "B"), dict.fromkeys("AB", CONCENTRATION), {"T": TEMPERATURE}, timed=True)
ROWS = (("0", "1.5"), ("60", "0.7"))
BODY = "0;1.5\n60;0.7\n"


def read(text: str, *header: int | str, **layout) -> Table:
    return parse_table(text, "x.csv", Layout(header, **layout))


def texts(table: Table) -> list[str]:
    return [header.text for header in table.headers]


@pytest.mark.parametrize(
    "above",
    [
        "time [s];A [mol/L]",
        "time;A\n[s];[mol/L]",
        "time;A\ns;mol/L",
        "Run of Monday, reactor 3\n\ntime [s];A [mol/L]",
        '"File 3"\n"by me"\ntime;A\ns;mol/L',
        "## time [s];A [mol/L]",
        "# a remark\n#time [s];A [mol/L]",
    ],
)
def test_header_is_found(above):
    table = read(f"{above}\n{BODY}")
    assert texts(table) == ["time [s]", "A [mol/L]"]
    assert [header.unit for header in table.headers] == ["s", "mol/L"]
    assert table.rows == ROWS
    assert table.lines == (above.count("\n") + 2, above.count("\n") + 3)


def test_what_was_assumed_is_noted():
    assert "x.csv, line 1: taken as a title above the header and not read: 'Run of Monday'." in read(f"Run of Monday\ntime;A\n{BODY}").notes
    assert "x.csv: the header is the comment in line 1." in read(f"## time;A\n{BODY}").notes
    assert "x.csv, line 2: read as the units of the columns." in read(f"time;A\ns;mol/L\n{BODY}").notes
    assert read(f"time;A\n{BODY}").notes == ()


def test_a_comment_with_another_number_of_cells_is_no_header():
    with pytest.raises(DataError, match="expected a header line with units"):
        read(f"# only a remark\n{BODY}")
    assert texts(read(f"# remark;of two\ntime;A\n{BODY}")) == ["time", "A"]


def test_words_in_the_first_row_are_no_units():
    assert read("run;A\na;b\n1;2\n").rows[0] == ("a", "b")  # b is no unit
    assert read("time;A\n1;-\n2;3\n").rows[0] == ("1", "-")
    assert read("time [s];A\nh;M\n2;3\n").rows[0] == ("h", "M")


def test_groups_above_names():
    table = read("Reactor 1;;Reactor 2;\ntime [s];A [mM];time [s];A [mM]\n0;1;0;2\n")
    assert texts(table) == ["Reactor 1 time [s]", "Reactor 1 A [mM]", "Reactor 2 time [s]", "Reactor 2 A [mM]"]
    assert table.headers[3].unit == "mM"
    assert "lines 1 and 2: read as one header of groups and names" in table.notes[0]
    assert texts(read(";Reactor;\ntime;A;B\ns;mM;mM\n0;1;0\n")) == ["time [s]", "Reactor A [mM]", "Reactor B [mM]"]


def test_header_lines_are_chosen():
    text = "Operator;Smith\nMass;12\nReactor 1;\ntime;A\ns;mM\n0;1\n60;2\n"
    assert texts(read(text, 4, 5)) == ["time [s]", "A [mM]"]
    assert read(text, 4, 5).rows == (("0", "1"), ("60", "2"))
    assert texts(read(text, 3, 4, 5)) == ["Reactor 1 time [s]", "Reactor 1 A [mM]"]
    assert texts(read(f"'quoted\"\n# time;A\n{BODY}", 2)) == ["time", "A"]
    with pytest.raises(DataError, match="line 9, which shall be the header, is empty or does not exist"):
        read(text, 9)
    with pytest.raises(DataError, match="counted from 1"):
        Layout((0,))


def test_headers_for_files_without():
    table = read("0.1 A 4e-5\n0.2 B 5e-5\n", "time [min]", "species", "value [mol/L]")
    assert table.rows == (("0.1", "A", "4e-5"), ("0.2", "B", "5e-5"))
    assert table.lines == (1, 2)
    campaign = build_campaign([table], BATCH)
    assert campaign.values_used == 2
    assert read(f"zeit;konz.\n{BODY}", "time [s]", "A [mM]").rows == ROWS
    with pytest.raises(DataError, match=r"2 columns, but header under \[data\] has 3 texts"):
        read(BODY, "a", "b", "c")
    with pytest.raises(DataError, match=r"line 1: 2 cells, but the header has 1 column"):
        read(BODY, "a")


@pytest.mark.parametrize(
    "text",
    [
        "time [s]  A [mol/L]\n0   1.5\n60  0.7\n",
        "  time  A\n    0  1.5\n   60  0.7\n",
        "time[s] A[mol/L]\n0 1,5\n60 0,7\n",
        "a title\ntime A\n0 1,5\n60 0,7\n",
        '"time [s]"\t A\n0\t 1.5\n60\t0.7\n',
        "# time A\n0 1.5\n60 0.7\n",
    ],
)
def test_columns_separated_by_blanks(text):
    table = read(text)
    assert [header.name for header in table.headers] == ["time", "A"]
    assert [cell.replace(",", ".") for row in table.rows for cell in row] == ["0", "1.5", "60", "0.7"]


def test_padding_of_another_kind_is_no_delimiter():
    assert read(",A,B\n0.1,\t2,\t3\n0.2, \t3, \t4\n").rows == (("0.1", "2", "3"), ("0.2", "3", "4"))


def test_title_with_commas_above_semicolons():
    assert read(f"Run 3, 12 May, reactor A\ntime;A\n{BODY}").rows == ROWS


def test_nameless_columns():
    text = ";A [mol/L]\n0.5;1\n0.7;2\n"
    with pytest.raises(DataError, match=r"x.csv: column 1 has no header. Write one, .* columns = { time = \"column 1 \[s\]\" }"):
        build_campaign([read(text)], BATCH)
    assert build_campaign([read(text)], BATCH, columns={"time": "column 1 [s]"}).times.tolist() == [[0.5, 0.7]]
    assert build_campaign([read(";A\ns;mol/L\n0.5;1\n0.7;2\n")], BATCH, columns={"time": "column 1"}).times.tolist() == [[0.5, 0.7]]
    with pytest.raises(DataError, match="column 2 has no header"):
        build_campaign([read("a;;c\n1;2;3\n")], BATCH)


def test_row_numbers_are_passed_over():
    campaign = build_campaign([read(",time [s],A [mol/L]\n0,5,1\n1,6,2\n2,9,3\n")], BATCH)
    assert campaign.times.tolist() == [[5, 6, 9]]
    assert any("'column 1' is ignored (it counts the rows" in note for note in campaign.notes)


def test_units_at_the_end_of_names():
    campaign = build_campaign([read("time_min,T_K,A_mol_per_L\n1,300,0.5\n")], BATCH)
    assert campaign.times.tolist() == [[60]]
    assert campaign.values.tolist() == [[[500]]]
    assert any("'A_mol_per_L' is the response A, in mol/L" in note for note in campaign.notes)
    with pytest.raises(DataError, match="'A_s' is neither a response"):
        build_campaign([read("time_min,A_s\n1,0.5\n")], BATCH)


def test_rows_are_chosen():
    text = "seg;time [s];T [K];A [mol/L]\n1;0;300;1\n1;5;310;2\n2;9;305;3\n"
    campaign = build_campaign([read(text)], BATCH, only={"seg": 1})
    assert campaign.times.tolist() == [[0, 5]]
    assert "x.csv: only the rows with seg = 1: 2 of 3." in campaign.notes
    assert campaign.lines.tolist() == [[2, 3]]
    assert build_campaign([read(text)], BATCH, only={"seg": ["1", 2.0]}).values_used == 3
    assert build_campaign([read(text)], BATCH, columns={"experiment": "seg"}, only={"seg": 2}).experiments == ("2",)
    with pytest.raises(DataError, match=r"only: no row has seg = 4. The column holds 1, 2"):
        build_campaign([read(text)], BATCH, only={"seg": 4})
    with pytest.raises(DataError, match=r"only: no table has one column 'sec'.*Did you mean 'seg'"):
        build_campaign([read(text)], BATCH, only={"sec": 1}, ignore=["seg"])


def test_progress():
    vocabulary = Vocabulary(("A",), {"alpha": DIMENSIONLESS}, {"T": TEMPERATURE}, timed=True)
    text = "run;time [s];mass\na;0;10\na;9;2\na;5;4\nb;0;\nb;1;3\nb;2;1\n"
    campaign = build_campaign([read(text)], vocabulary, progress={"alpha": "mass"})
    assert campaign.values[0, :, 0].tolist() == [0, 0.75, 1]
    assert campaign.values[1, 1:, 0].tolist() == [0, 1]
    assert not campaign.mask[1, 0, 0]
    with pytest.raises(DataError, match="begins and ends with 3, so it has no progress"):
        build_campaign([read("time [s];mass\n0;3\n1;3\n")], vocabulary, progress={"alpha": "mass"})
    with pytest.raises(DataError, match="progress: 'X' is no response"):
        build_campaign([read(text)], vocabulary, progress={"X": "mass"}, ignore=["mass"])
    with pytest.raises(DataError, match="progress: no table has one column 'weight'"):
        build_campaign([read(text)], vocabulary, progress={"alpha": "weight"}, ignore=["mass"])


def test_marks_are_noted_in_the_campaign():
    campaign = build_campaign([read("time [s];A [mol/L];B [mol/L]\n0;1;n.d.\n5;<0.1;n.d.\n")], BATCH)
    assert campaign.values_used == 1
    told = next(note for note in campaign.notes if "not measured" in note)
    assert told.startswith(
        "x.csv: 3 cells count as not measured: '<0.1' (column 'A [mol/L]', line 3); 'n.d.' (column 'B [mol/L]', lines 2, 3)"
    )


def test_percent_of_a_fraction():
    vocabulary = Vocabulary((), {"X": DIMENSIONLESS}, {"T": TEMPERATURE}, timed=False)
    for header, cells, expected in [("X [%]", "45 %;45", 0.45), ("X [-]", "45 %;0.45", 0.45), ("X", "45%;45 %", 0.45)]:
        rows = "\n".join(f"300;{cell}" for cell in cells.split(";"))
        values = build_campaign([read(f"T [K];{header}\n{rows}\n")], vocabulary).values
        assert values.ravel() == pytest.approx([expected, expected], rel=1e-15)


LINE = st.text(alphabet=st.sampled_from(list("aAT []/,;\t\"'#.:0123456789eE-+°%<*n d()_")), max_size=24)
SNIPPET = st.sampled_from(
    [
        "time [s]",
        "A [mol/L]",
        "T",
        "s",
        "mol/L",
        "n.d.",
        "1,234.5",
        "1.234,5",
        "0:30",
        "2024-03-01 08:00",
        "<0.1",
        "## ",
        "[K]",
        "5 %",
        "run",
    ]
)
MIXED = st.lists(st.lists(LINE | SNIPPET, max_size=5), max_size=7)
LAYOUTS = st.builds(
    Layout,
    st.just(())
    | st.lists(st.integers(1, 4), unique=True, max_size=3).map(lambda lines: tuple(sorted(lines)))
    | st.just(("time [s]", "A [mM]")),
    st.sampled_from([None, ".", ","]),
    st.just(()) | st.just(("a",)),
)


def is_read_or_refused(read_table) -> None:
    try:
        table = read_table()
        for vocabulary in (BATCH, Vocabulary(("A",), {"A": CONCENTRATION}, {"T": TEMPERATURE})):
            build_campaign([table], vocabulary, temperatures=False)
    except InputError as error:
        assert error.problems
        assert all(isinstance(problem, str) and problem for problem in error.problems)


@given(st.text(alphabet=st.sampled_from(list("aAT []/,;\t\"'\n\r#.0123456789eE-+°\ufeff")), max_size=120), LAYOUTS)
def test_any_text_is_read_or_refused_with_sentences(text, layout):
    is_read_or_refused(lambda: parse_table(text, "x.csv", layout))


@given(st.text(max_size=80), LAYOUTS)
def test_any_characters_are_read_or_refused(text, layout):
    is_read_or_refused(lambda: parse_table(text, "x.csv", layout))


@given(MIXED, st.sampled_from([",", ";", "\t", " "]), LAYOUTS)
def test_anything_like_a_table_is_read_or_refused(lines, mark, layout):
    is_read_or_refused(lambda: parse_table("\n".join(mark.join(cells) for cells in lines), "x.csv", layout))


@given(MIXED, LAYOUTS)
def test_any_sheet_is_read_or_refused(lines, layout):
    rows = [(number, tuple(cells)) for number, cells in enumerate(lines, start=1) if cells]
    is_read_or_refused(lambda: table_of_cells(rows, "x.xlsx", layout))


@given(MIXED, st.sampled_from(["first", "as written", "0:10", "3 s", "?"]), st.sampled_from(["A", "run", "time [s]"]))
def test_any_choice_is_used_or_refused(lines, zero, column):
    text = "\n".join(";".join(cells) for cells in [["time [s]", "A [mol/L]", "run"], *lines])
    try:
        build_campaign([parse_table(text, "x.csv")], BATCH, time_zero=zero, only={column: 1}, progress={"A": column}, temperatures=False)
    except InputError as error:
        assert all(error.problems)


UNITS = ["mol/l/h", "mol L-1 h-1", "uM/s", "mol.L-1.s-1", "mmol/(L*min)", "mol/(kg s)", "mol/(kg_cat h)", "psia", "bar(a)", "1/h", "h^-1"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("form", ["rate [{}]", "rate ({})", "rate / {}", "rate/{}"])
def test_every_unit_in_every_form_of_header(unit, form):
    header = parse_header(form.format(unit))
    assert (header.name, header.unit) == ("rate", unit)


@pytest.mark.parametrize("unit", ["mol/l/h", "mol L-1 h-1", "uM/s", "mmol/L/min", "mol_per_L_per_s"])
@pytest.mark.parametrize("mark", ["_", " "])
def test_rates_whose_header_ends_in_a_unit(unit, mark):
    vocabulary = Vocabulary(("A",), {"rate[r1]": RATE}, {"A": CONCENTRATION})
    read = build_campaign([parse_table(f"A [mol/L],rate{mark}{unit}\n1,2\n", "x.csv")], vocabulary)
    assert read.values.item() == pytest.approx(2 * parse_unit(unit.replace("_per_", "/")).factor)
