"""Tables to arrays: the same data written in many ways is one campaign, and what contradicts itself is refused with lines."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetix.errors import DataError, KinetixWarning
from kinetix.experiments import Campaign, Noise, Vocabulary, build_campaign, parse_table
from kinetix.experiments.plausibility import check_temperature
from kinetix.io.tables import read_table
from kinetix.units import (
    CONCENTRATION,
    DIMENSIONLESS,
    FLOW,
    PRESSURE,
    RATE,
    TEMPERATURE,
    TIME,
    VOLUME,
    Quantity,
    parse_quantity,
    parse_unit,
)

C = CONCENTRATION
BATCH = Vocabulary(("A", "B"), {"A": C, "B": C}, {"T": TEMPERATURE, "P": PRESSURE, "initial.A": C}, timed=True)
TANK = Vocabulary(
    ("A", "B"),
    {"A": C, "B": C, "conversion": DIMENSIONLESS},
    {"T": TEMPERATURE, "tau": TIME, "1/tau": TIME**-1, "V": VOLUME, "Q": FLOW, "feed.A": C},
)
DIFFERENTIAL = Vocabulary(("A", "B"), {"rate[r1]": RATE, "rate[A]": RATE}, {"T": TEMPERATURE, "A": C, "B": C})
EXPLICIT = Vocabulary((), {"y": None}, {"x": None}, needs_unit=False)


def campaign(text, vocabulary=BATCH, source="x.csv", **options) -> Campaign:
    return build_campaign([parse_table(text, source)], vocabulary, **options)


def problems(text, vocabulary=BATCH, **options) -> tuple[str, ...]:
    texts = [text] if isinstance(text, str) else text
    with pytest.raises(DataError) as caught:
        build_campaign([parse_table(text, f"{name}.csv") for text, name in zip(texts, "xyz", strict=False)], vocabulary, **options)
    return caught.value.problems


def problem(text, vocabulary=BATCH, **options) -> str:
    (found,) = problems(text, vocabulary, **options)
    return found


def assert_same(one: Campaign, other: Campaign, rtol: float = 1e-12) -> None:
    """Everything that a fit sees is the same."""
    assert one.experiments == other.experiments
    assert [response.name for response in one.responses] == [response.name for response in other.responses]
    assert one.values_used == other.values_used
    np.testing.assert_array_equal(one.mask, other.mask)
    for first, second in ((one.times, other.times), (one.values, other.values), (one.sigma, other.sigma)):
        np.testing.assert_allclose(first, second, rtol=rtol, atol=0)
    assert one.conditions.keys() == other.conditions.keys()
    assert one.programs.keys() == other.programs.keys()
    for name in one.conditions:
        np.testing.assert_allclose(one.conditions[name], other.conditions[name], rtol=rtol, atol=0)
    for name in one.programs:
        for first, second in zip(one.programs[name], other.programs[name], strict=True):
            np.testing.assert_allclose(first, second, rtol=rtol, atol=0)


# -------------------------------------------------------------------------------------------- the same data, written otherwise


def test_european_file_equals_its_clean_twin(data):
    folder = data("o14-european-csv").folder
    messy, clean = (build_campaign([read_table(folder / name)], BATCH) for name in ("messy.csv", "clean.csv"))
    assert_same(messy, clean)
    for read in (messy, clean):
        assert (read.rows_read, read.values_used, read.experiments) == (13, 11, ("E1", "E2"))
        assert (read.times[1, 0], read.conditions["T"][1]) == (0.0, 333.15)
        np.testing.assert_allclose(read.values[1, 5, 0], -0.53, rtol=1e-12)  # mol/m^3: less than sigma below zero, kept
        assert not read.mask[0, 3, 0]
        assert not read.mask[1, 3, 0]
    assert messy.responses[0].unit.text == "mmol/L"
    assert [(remark.line, remark.column, remark.text) for remark in messy.remarks] == [
        (5, "Bemerkung", "Probe verloren"),
        (11, "Bemerkung", "Probe verloren"),
    ]
    assert messy.notes == (
        "messy.csv: 13 rows read, 11 values used; columns separated by semicolons, decimal comma, byte-order mark.",
        "messy.csv: 'Versuch' is the experiment; 'Zeit [min]' is the time; 'T [°C]' is the temperature T; 'A [mmol/L]' is the response A; "
        "'Bemerkung' is text: kept as remark.",
    )


PLAIN = """experiment,time [s],T [K],A [mol/L],B [mol/L]
e1,0,330,1.5,0
e1,60,330,1.25,0.25
e2,0,350,1.5,
e2,30,350,,0.5
e2,60,350,0.5,1
"""


def as_tabs(text):
    return text.replace(",", "\t")


def as_semicolons_with_commas(text):
    return text.replace(",", ";").replace(".", ",")


@pytest.mark.parametrize(
    "rewrite",
    [
        as_tabs,
        as_semicolons_with_commas,
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: '"' + text.strip().replace(",", '","').replace("\n", '"\n"') + '"\n',
        lambda text: "# of Monday\n" + text.replace("e2,0", "\n# second\n,,,,\ne2,0") + ",,,,\n\n",
        lambda text: text.replace("time [s]", "t / s").replace("A [mol/L]", "C_A (mol L-1)"),
        lambda text: text.replace("1.5,\n", "1.5,NaN\n").replace(",,", ",N/A,"),
        lambda text: text.replace(",", " , "),
        lambda text: text.replace("experiment,time [s],T [K],A [mol/L],B [mol/L]", "experiment,time,T,A,B\n,[s],[K],[mol/L],[mol/L]"),
    ],
)
def test_dialects(rewrite):
    assert_same(campaign(rewrite(PLAIN)), campaign(PLAIN), rtol=0)
    assert campaign(rewrite(PLAIN)).data_hash == campaign(PLAIN).data_hash


def test_arrays_of_the_plain_table():
    read = campaign(PLAIN)
    nan = np.nan
    np.testing.assert_array_equal(read.times, [[0, 60, 60], [0, 30, 60]])
    np.testing.assert_array_equal(read.values, [[[1500, 0], [1250, 250], [nan, nan]], [[1500, nan], [nan, 500], [500, 1000]]])
    np.testing.assert_array_equal(read.mask, ~np.isnan(read.values))
    np.testing.assert_array_equal(read.lines, [[2, 3, 0], [4, 5, 6]])
    np.testing.assert_array_equal(read.conditions["T"], [330, 350])
    assert np.all(np.isnan(read.sigma))
    assert read.sources == ("x.csv", "x.csv")
    assert (read.rows_read, read.values_used) == (5, 8)
    with pytest.raises(ValueError, match="read-only"):
        read.values[0, 0, 0] = 1.0


def test_units():
    text = "time [min],T [degC],P [bar],A [mmol/L]\n1,25,2,40\n"
    read = campaign(text)
    np.testing.assert_allclose(read.times, [[60.0]], rtol=1e-15)
    np.testing.assert_allclose(read.conditions["T"], [298.15], rtol=1e-15)
    np.testing.assert_allclose(read.conditions["P"], [2e5], rtol=1e-15)
    np.testing.assert_allclose(read.values, [[[40.0]]], rtol=1e-15)
    percent = campaign("tau [h],X [%]\n1,35\n", TANK)
    np.testing.assert_allclose(percent.values, [[[0.35]]], rtol=1e-15)
    np.testing.assert_allclose(percent.conditions["tau"], [3600.0], rtol=1e-15)


def test_order_of_rows_and_columns_does_not_matter():
    lines = PLAIN.splitlines()
    shuffled = campaign("\n".join([lines[0], lines[2], lines[5], lines[1], lines[4], lines[3]]))
    assert_same(shuffled, campaign(PLAIN), rtol=0)
    np.testing.assert_array_equal(shuffled.lines, [[4, 2, 0], [6, 5, 3]])
    turned = "\n".join(",".join(reversed(line.split(","))) for line in lines)
    assert campaign(turned).values[..., ::-1].tobytes() == campaign(PLAIN).values.tobytes()


def as_long(text):
    """The plain table with one row per reading."""
    rows = text.splitlines()[1:]
    yield "experiment,time [s],T [K],species,value [mol/L]"
    for row in rows:
        experiment, time, temperature, a, b = row.split(",")
        yield f"{experiment},{time},{temperature},A,{a}"
        yield f"{experiment},{time},{temperature},C_B,{b}"


@pytest.mark.parametrize("keep_empty", [True, False])
def test_long_form_equals_wide_form(keep_empty):
    lines = [line for line in as_long(PLAIN) if keep_empty or not line.endswith(",")]
    assert_same(campaign("\n".join(lines)), campaign(PLAIN), rtol=0)
    by_species = [lines[0], *sorted(lines[1:], key=lambda line: line.split(",")[3])]
    assert_same(campaign("\n".join(by_species)), campaign(PLAIN), rtol=0)


def test_long_form_of_steady_states():
    wide = campaign("tau [s],A [mol/L],B [mol/L]\n10,1,2\n20,3,\n10,1.1,2.1\n", TANK)
    long = campaign(
        "tau [s],component,value [mol/L]\n10,A,1\n20,A,3\n10,A,1.1\n10,B,2\n10,B,2.1\n",
        TANK,
    )
    assert_same(long, wide, rtol=0)


def test_long_form_with_sigma_and_replicates():
    long = campaign("time [s],species,value [mol/L],sigma [mol/L]\n0,A,1,0.1\n0,B,2,0.2\n0,A,3,0.3\n5,B,4,0.4\n")
    np.testing.assert_array_equal(long.times, [[0, 0, 5]])
    np.testing.assert_array_equal(long.values[0], [[1000, 2000], [3000, np.nan], [np.nan, 4000]])
    np.testing.assert_allclose(long.sigma[0], [[100, 200], [300, np.nan], [np.nan, 400]])


def test_long_form_problems():
    found = problems("time [s],species,value [mol/L]\n0,A,1\n0,,2\n1,aa,2\n2,Q,3\n3,B,x\n")
    assert len(found) == 4
    assert "line 3, column 'species': the cell is empty, but the row has a value" in "\n".join(found)
    assert "line 5, column 'species': 'Q' is no response of the model (known: A, B)" in "\n".join(found)
    assert "line 6, column 'value [mol/L]': 'x' is not a number" in "\n".join(found)
    assert "column 'value' has no unit. Write 'value [mol/L]'" in problem("time [s],species,value\n0,A,1\n")
    assert "for the response A, has unit K" in problem("time [s],species,value [K]\n0,A,1\n")


# ------------------------------------------------------------------------------------------------------- experiments and files


def test_every_row_of_a_tank_is_an_experiment():
    read = campaign("T [degC],1/tau [1/min],A_feed [mol/L],A [mol/L],B [mol/L]\n50,6,1,0.5,\n60,12,1,0.4,0.6\n", TANK)
    assert read.experiments == ("1", "2")
    assert read.times.tolist() == [[0.0], [0.0]]
    np.testing.assert_allclose(read.conditions["1/tau"], [0.1, 0.2])
    np.testing.assert_allclose(read.conditions["feed.A"], [1000, 1000])
    np.testing.assert_array_equal(read.lines, [[2], [3]])
    assert read.values_used == 3


def test_labels_of_steady_states_are_kept_and_told_apart():
    read = campaign("run,tau [s],A [mol/L]\na,1,1\nb,1,2\na,2,3\n", TANK)
    assert read.experiments == ("a#1", "b", "a#2")
    assert any("told apart by a number, as in a#1" in note for note in read.notes)
    assert campaign("run,tau [s],A [mol/L]\na,1,1\na#1,1,2\na,2,3\n", TANK).experiments == ("a#1#1", "a#1#2", "a#2")


def test_rates_measured_at_concentrations():
    read = campaign("C_A [mol/L],T [K],rate [mol/L/min]\n1,300,6\n2,300,12\n", DIFFERENTIAL)
    assert read.responses[0].name == "rate[r1]"
    np.testing.assert_allclose(read.values.ravel(), [100.0, 200.0])
    np.testing.assert_allclose(read.conditions["A"], [1000.0, 2000.0])


def test_explicit_model_needs_no_units():
    read = campaign("y,x\n10.07,77.6\n14.73,114.9\n", EXPLICIT)
    np.testing.assert_array_equal(read.values.ravel(), [10.07, 14.73])
    np.testing.assert_array_equal(read.conditions["x"], [77.6, 114.9])
    read = campaign("x [degC],y [kJ/mol]\n25,2\n", EXPLICIT)
    np.testing.assert_array_equal(read.values.ravel(), [2000.0])
    np.testing.assert_array_equal(read.conditions["x"], [298.15])


def test_mapping():
    read = campaign("sv,caf,ca,cb\n1.05,10000,3458.4,1060.8\n", TANK, columns={
        "1/tau": "sv [1/min]", "feed.A": "caf [mol/m^3]", "A": "ca [mol/m^3]", "B": "cb [mol/m^3]",
    })  # fmt: skip
    np.testing.assert_allclose(read.conditions["1/tau"], [1.05 / 60])
    np.testing.assert_allclose(read.values.ravel(), [3458.4, 1060.8])
    assert "'sv' is the space velocity 1/tau, in 1/min; 'caf' is the feed of A, in mol/m^3" in read.notes[1]


def test_one_experiment_without_label_has_the_name_of_its_file():
    assert campaign("time [s],A [mol/L]\n0,1\n5,0.5\n", source="run 7.csv").experiments == ("run 7",)


def test_time_that_goes_back_needs_a_label():
    text = "time [s],T [K],A [mol/L]\n0,300,1\n60,300,0.5\n0,320,1\n60,320,0.2\n"
    assert problem(text) == (
        "x.csv, line 4, column 'time [s]': the time goes back from 60 s to 0 s. Where a table holds several experiments, "
        "add a column that names them, for example 'experiment'."
    )


def test_replicates_are_repeated_times():
    read = campaign("run,time [s],T [K],A [mol/L]\ne,0,300,1\ne,5,300,0.6\ne,0,300,1.1\ne,5,300,0.5\n")
    np.testing.assert_array_equal(read.times, [[0, 0, 5, 5]])
    np.testing.assert_array_equal(read.values.ravel(), [1000, 1100, 600, 500])
    np.testing.assert_array_equal(read.lines, [[2, 4, 3, 5]])
    assert not read.programs


def test_several_files():
    first = parse_table("run,time [s],T [K],A [mol/L]\na,0,300,1\nb,0,300,2\n", "one.csv")
    second = parse_table("run;time [min];T [degC];B [mol/L];A [mmol/L]\na;1;26,85;5;6\nc;0;26,85;;7\n", "two.csv")
    read = build_campaign([first, second], BATCH)
    assert read.experiments == ("one:a", "b", "two:a", "c")
    assert [(response.name, response.unit.text) for response in read.responses] == [("A", "mol/L"), ("B", "mol/L")]
    assert read.sources == ("one.csv", "one.csv", "two.csv", "two.csv")
    np.testing.assert_array_equal(read.values[:, 0, 0], [1000, 2000, 6, 7])
    np.testing.assert_allclose(read.conditions["T"], 300.0)
    assert "two.csv: column 'A [mmol/L]' is converted to mol/L, the unit of A in one.csv." in read.notes
    assert any("a is one:a and two:a" in note for note in read.notes)
    assert (read.rows_read, read.values_used) == (4, 5)


def test_several_files_without_labels():
    text = "time [s],A [mol/L]\n0,1\n"
    tables = [parse_table(text, name) for name in ("one.csv", "two.csv", "one.csv")]
    assert build_campaign(tables, BATCH).experiments == ("one (1)", "two", "one (2)")
    tank = [parse_table("tau [s],A [mol/L]\n1,1\n2,1\n", name) for name in ("one.csv", "two.csv")]
    assert build_campaign(tank, TANK).experiments == ("one:1", "one:2", "two:1", "two:2")


def test_several_files_that_do_not_fit_together():
    texts = ["time [s],T [K],A [mol/L]\n0,300,1\n", "time [s],A [mol/L]\n0,1\n"]
    assert problem(texts) == "y.csv has no column for the temperature T, which x.csv gives. Add one."
    assert "which x.csv gives in mol/L" in problem(["x,y [mol/L]\n1,1\n", "x,y [K]\n1,1\n"], EXPLICIT)


def test_mapping_and_ignore_need_a_header_in_one_of_the_files():
    texts = ["time [s],ca,Q\n0,1,1\n", "time [s],A [mol/L]\n0,1\n"]
    tables = [parse_table(text, name) for text, name in zip(texts, ("x.csv", "y.csv"), strict=True)]
    assert build_campaign(tables, BATCH, columns={"A": "ca [mol/L]"}, ignore=["Q"]).values_used == 2
    text = problem(texts, columns={"A": "ca [mol/L]", "B": "cx"}, ignore=["Q"])
    assert text == "columns: no table has a column 'cx' for B; the columns are time [s], ca, Q, A [mol/L]."


# ------------------------------------------------------------------------------------------------------------------ conditions


def test_constants_fill_every_lane():
    read = campaign("run,time [s],A [mol/L]\na,0,1\nb,0,1\n", conditions={"T": parse_quantity("350 K")})
    np.testing.assert_array_equal(read.conditions["T"], [350, 350])
    text = problem("run,time [s],T [degC],A [mol/L]\na,0,50,1\n", conditions={"T": parse_quantity("350 K")})
    assert "column 'T [degC]' gives the temperature T, which the conditions give for all experiments too" in text
    assert "'TT' is no condition of the model (known: T, P, initial.A). Did you mean 'T'?" in problem(
        PLAIN, conditions={"TT": parse_quantity("1 K")}
    )
    assert "not a finite number" in problem(PLAIN, conditions={"P": Quantity(np.nan, parse_unit("Pa"))})


def test_a_condition_may_stand_in_one_row_of_its_experiment():
    text = "run,time [s],A0 [mol/L],A [mol/L]\na,0,2,1\na,5,,0.5\nb,0,3,1\nb,9,3,0.4\n"
    read = campaign(text)
    np.testing.assert_array_equal(read.conditions["initial.A"], [2000, 3000])
    assert "x.csv: the initial A is stated in some rows of experiment a and holds for all of them." in read.notes
    assert "line 4, column 'A0 [mol/L]': experiment 'b' states the initial A in none of its rows" in problem(text.replace(",3,", ",,"))


def test_a_condition_of_a_steady_state_stands_in_every_row():
    text = "tau [s],T [K],A [mol/L]\n1,300,1\n2,,1\n,310,1\n"
    assert problems(text, TANK) == (
        "x.csv, line 4, column 'tau [s]': the residence time tau is missing. Every row needs it.",
        "x.csv, line 3, column 'T [K]': the temperature T is missing. Every row needs it.",
    )


def test_other_conditions_are_constant_within_an_experiment():
    text = "run,time [s],P [bar],A [mol/L]\na,0,1,1\na,5,2,1\na,9,3,1\n"
    assert problem(text) == (
        "x.csv, lines 2 and 3: experiment 'a' has P = 1 bar and P = 2 bar in one experiment. It must be constant there: "
        "give each value an experiment name of its own."
    )


def test_temperature_program():
    text = "run,time [min],T [degC],A [mol/L]\na,0,20,1\na,10,40,\na,20,,0.5\na,30,60,0.4\nb,5,50,1\nb,6,,1\n"
    read = campaign(text)
    assert "T" not in read.conditions
    times, values = read.programs["T"]
    np.testing.assert_allclose(times, [[0, 600, 1800], [300, 300, 300]])
    np.testing.assert_allclose(values, [[293.15, 313.15, 333.15], [323.15, 323.15, 323.15]])
    np.testing.assert_allclose(read.times, [[0, 600, 1200, 1800], [300, 360, 360, 360]])
    assert read.values_used == 5
    assert "x.csv: the temperature T changes within experiment a: linear between the rows that state it." in read.notes


def test_temperature_program_that_begins_late_is_told_and_one_that_ends_early_is_refused():
    read = campaign("time [s],T [K],A [mol/L]\n10,300,1\n20,310,1\n")
    assert "x.csv: the temperature T in experiment x is taken as constant before the first row." in read.notes
    text = "time [s],T [K],A [mol/L]\n0,,1\n10,300,1\n20,310,1\n30,,1\n"
    found = problems(text)
    assert found[0].startswith("x.csv, line 2, column 'T [K]': the row lies outside the rows that state the program of T.")
    assert found[1].startswith("x.csv, line 5, ")


def test_temperatures_that_contradict_each_other_at_one_time():
    text = "time [s],T [K],A [mol/L]\n0,300,1\n10,310,1\n10,311,1\n20,320,1\n"
    assert "x.csv, lines 3 and 4: experiment 'x' has T = 310 K and T = 311 K at the same time 10 s. Replicates" in problem(text)
    assert not campaign(text.replace("311", "310")).conditions


def test_impossible_conditions_and_times():
    assert "the temperature T is -280 degC, which is not above absolute zero" in problem("time [s],T [degC],A [mol/L]\n0,-280,1\n")
    assert "line 2, column 'tau [s]': the residence time tau is -1 s, which is not above zero" in problem("tau [s],A [mol/L]\n-1,1\n", TANK)
    assert "-5 s is before time zero" in problem("time [s],A [mol/L]\n-5,1\n")
    assert "line 3, column 'time [s]': the cell is empty, but the row has values" in problem("time [s],A [mol/L]\n0,1\n,2\n")
    assert "line 3, column 'run': the cell is empty" in problem("run,time [s],A [mol/L]\na,0,1\n,1,2\n")


@pytest.mark.parametrize(
    ("name", "unit", "number"),
    [("T", "K", "-300"), ("T", "degC", "-300"), ("T", "K", "0"), ("P", "bar", "-1"), ("tau", "min", "0"), ("tau", "min", "-1")]
    + [("1/tau", "1/min", "0"), ("V", "L", "0"), ("Q", "L/h", "-2"), ("feed.A", "mol/L", "-0.1")],
)
def test_a_constant_and_a_column_are_checked_alike(name, unit, number):
    vocabulary = Vocabulary(("A",), {"A": C}, {**TANK.conditions, "P": PRESSURE})
    column = problem(f"{name} [{unit}],A [mol/L]\n{number},1\n", vocabulary)
    constant = problem("A [mol/L]\n1\n", vocabulary, conditions={name: parse_quantity(f"{number} {unit}")})
    sentence = column.partition(": ")[2]
    assert sentence.startswith("the ")
    assert constant == f"conditions: {sentence} Correct it."


def test_times_beyond_all_measure():
    assert problem("time [s],A [mol/L]\n0,1\n1e300,2\n") == (
        "x.csv, line 3, column 'time [s]': 1e300 s is longer than the universe is old. Look at its unit."
    )
    assert "the residence time tau is 1e300 s, which is longer than the universe is old." in problem("tau [s],A [mol/L]\n1e300,1\n", TANK)
    text = "time [s],A [mol/L]\n1700000000000,1\n1700000060000,2\n"  # a date, in ms
    with pytest.warns(KinetixWarning, match=r"line 2, column 'time \[s\]': the time 1700000000000 s is 5\.39e\+04 years after time zero"):
        campaign(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert campaign(text.replace("[s]", "[ms]"), time_zero="first").times.tolist() == [[0, 60]]


def test_zero_feed_and_zero_pressure_can_be():
    vocabulary = Vocabulary(("A",), {"A": C}, {**TANK.conditions, "P": PRESSURE})
    read = campaign("P [bar],feed.A [mol/L],A [mol/L]\n0,0,1\n", vocabulary)
    assert (read.conditions["P"].item(), read.conditions["feed.A"].item()) == (0.0, 0.0)


def test_rows_with_nothing_but_a_remark_belong_to_no_experiment():
    read = campaign("time [s],A [mol/L],note\n0,1,\n,,pump failed\n5,0.5,\n")
    np.testing.assert_array_equal(read.times, [[0, 5]])
    assert read.remarks[0].text == "pump failed"
    assert "no row holds a number of the model" in problem("tau [s],A [mol/L],note\n,,nothing\n", TANK)


def test_odd_temperatures_warn_and_go_on():
    text = "time [s],T [K],A [mol/L]\n0,25,1\n5,25,1\n"
    with pytest.warns(
        KinetixWarning, match=r"x.csv, line 2: T = 25 K is outside 150-3000 K. Did you mean 25 degC \(298.15 K\)\? So is 1 more row"
    ):
        read = campaign(text)
    assert read.conditions["T"] == [25.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert campaign(text, temperatures=False).conditions["T"] == [25.0]


def test_check_temperature():
    assert check_temperature(150.0, "150 K") is None
    assert check_temperature(3000.0, "3000 K") is None
    assert check_temperature(73.15, "-200 degC") == "T = -200 degC is outside 150-3000 K."
    assert check_temperature(4000.0, "4000 K") == "T = 4000 K is outside 150-3000 K."


# ----------------------------------------------------------------------------------------------------------- readings and sigma


def test_sigma_columns_and_noise():
    text = "time [s],A [mol/L],sigma_A [mmol/L],B [mol/L]\n0,1,20,0\n1,0.5,,0.1\n2,,,0.2\n"
    read = campaign(text, noise={"A": parse_quantity("0.01 mol/L"), "B": 5.0})
    np.testing.assert_allclose(read.sigma[0], [[20, 5], [10, 5], [np.nan, 5]])
    read = campaign("time [s],A [mol/L],B [mol/L],sigma [mol/L],sd_B [mol/L]\n0,1,2,0.1,0.2\n")
    np.testing.assert_allclose(read.sigma[0], [[100, 200]])


def test_a_sigma_relative_to_the_value():
    text = "time [s],A [mol/L]\n0,1\n1,0.5\n2,\n"
    read = campaign(text, noise={"A": Noise(relative=0.04)})
    np.testing.assert_allclose(read.sigma[0, :2, 0], [40, 20])
    read = campaign(text, noise={"A": Noise(parse_quantity("0.03 mol/L"), 0.04)})
    np.testing.assert_allclose(read.sigma[0, :2, 0], [50, np.hypot(30, 20)])
    assert problem("time [s],A [mol/L]\n0,1\n1,0\n", noise={"A": Noise(relative=0.04)}) == (
        "x.csv, line 3, column 'A [mol/L]': A is 0, and so is a sigma that is relative alone. Add a constant part to the noise of A."
    )


def test_sigma_is_a_difference():
    vocabulary = Vocabulary((), {"T": TEMPERATURE}, {"x": None})
    read = campaign("x [s],T [degC],sigma_T [degC]\n0,25,2\n", vocabulary, temperatures=False)
    assert (read.values.item(), read.sigma.item()) == (298.15, 2.0)
    read = campaign("x [s],T [degC]\n0,25\n", vocabulary, noise={"T": parse_quantity("2 degC")})
    assert read.sigma.item() == 2.0


def test_every_reading_has_a_sigma_or_none_has():
    text = "time [s],A [mol/L],sigma_A [mol/L],B [mol/L]\n0,1,0.1,0\n1,0.5,,0.1\n"
    assert problems(text) == (
        "x.csv, line 3, column 'sigma_A [mol/L]': the reading of A has no sigma. Write it here or under [noise].",
        "x.csv: column 'B [mol/L]' has no sigma for B, while other readings have one. "
        "Add a column 'sigma_B [mol/L]' or give B under [noise].",
    )
    assert "has no sigma for B" in problem("time [s],A [mol/L],B [mol/L]\n0,1,0\n", noise={"A": 1.0})
    assert np.isnan(campaign("time [s],B [mol/L]\n0,1\n", noise={"A": 1.0}).sigma.item())
    assert "y.csv: column 'A [mol/L]' has no sigma for A" in problem(
        ["time [s],A [mol/L],sd [mol/L]\n0,1,1\n", "time [s],A [mol/L]\n0,1\n"]
    )


@pytest.mark.parametrize("cell", ["0", "-0.1"])
def test_sigma_is_above_zero(cell):
    text = problem(f"time [s],A [mol/L],sigma_A [mol/L]\n0,1,0.1\n1,1,{cell}\n")
    assert text.startswith(f"x.csv, line 3, column 'sigma_A [mol/L]': sigma is {cell} mol/L; a measurement error must be above zero.")


def test_sigma_has_the_dimension_of_its_response():
    assert "the sigma of A, has unit % (dimensionless)" in problem("time [s],A [mol/L],sigma_A [%]\n0,1,2\n")
    assert "the sigma of y, has no unit (dimensionless)" in problem("x,y [mol/L],sigma\n0,1,2\n", EXPLICIT)
    assert "noise: the sigma of A has unit s (time)" in problem("time [s],A [mol/L]\n0,1\n", noise={"A": parse_quantity("1 s")})


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        ({"AA": 1.0}, "noise: 'AA' is no response of the model (known: A, B). Did you mean 'A'?"),
        ({"A": 0.0}, "noise: the sigma of A is 0.0; a measurement error must be a finite number above zero"),
        ({"A": parse_quantity("-1 mol/L")}, "noise: the sigma of A is -1 mol/L;"),
        ({"A": np.inf}, "noise: the sigma of A is inf;"),
    ],
)
def test_wrong_noise(noise, words):
    assert words in problem("time [s],A [mol/L]\n0,1\n", noise=noise)


def test_negative_readings():
    text = "time [s],A [mol/L],sigma_A [mol/L]\n0,-0.029,0.01\n1,-0.031,0.01\n"
    assert problem(text) == (
        "x.csv, line 3, column 'A [mol/L]': -0.031 is negative by 3.1 times sigma (0.01); a concentration cannot be. "
        "Values within 3 sigma of zero are kept."
    )
    assert campaign(text, allow_negative=True).values_used == 2
    with pytest.warns(KinetixWarning, match=r"-5 mol/L is clearly below zero"):  # kept: without a sigma nobody can say
        assert campaign("time [s],A [mol/L]\n0,-5\n").values.item() == -5000
    assert campaign("tau [s],X [%],sigma [%]\n1,-50,1\n", TANK).values.item() == -0.5
    assert "line 2" in problem("time [s],A [mol/L]\n0,-1\n", noise={"A": 1.0})


def test_all_problems_of_all_tables_at_once():
    found = problems(
        [
            "experiment,time [s],T [K],A [mol/L],sigma_A [mol/L]\ne1,0,330,1,0.1\ne1,60,330,-9,0.1\ne1,60,350,abc,0\n",
            "experiment,time [s],T [mol/L],A,Q [K]\ne1,0,330,1,1\n",
        ]
    )
    assert sum(text.startswith("x.csv") for text in found) == 4
    assert sum(text.startswith("y.csv") for text in found) == 3


def test_every_kind_of_problem_of_one_file_is_told_in_one_go():
    text = (
        "run,time [min],T [degC],P [bar],A,B [mol/L],sigma_B [mol/L]\n"
        "a,0,40,1,1.0,0.0,0.1\n"
        "a,x,40,1,0.9,0.1,0.1\n"  # no time
        "a,2,-300,1,0.8,0.2,0.1\n"  # no temperature
        "a,3,40,-2,abc,0.3,0.1\n"  # no pressure, and a cell of a column without a unit
        "a,4,40,1,0.6,0.4,0\n"  # no sigma
        "a,5,40,1,0.5,-0.5,0.1\n"  # no concentration
        "a,6,40,1,0.5,0.5,0.1,7\n"  # too many cells
    )
    found = "\n".join(problems(text))
    for words in [
        "x.csv, line 8: 8 cells, but the header has 7 columns; the first without a column is '7'.",
        "x.csv: column 'A' has no unit. Write 'A [mol/L]' in the header",
        "x.csv, line 3, column 'time [min]': 'x' is not a number.",
        "x.csv, line 4, column 'T [degC]': the temperature T is -300 degC, which is not above absolute zero.",
        "x.csv, line 5, column 'P [bar]': the pressure P is -2 bar, which is negative.",
        "x.csv, line 5, column 'A': 'abc' is not a number.",
        "x.csv, line 6, column 'sigma_B [mol/L]': sigma is 0 mol/L;",
        "x.csv, line 7, column 'B [mol/L]': -0.5 is negative by 5 times sigma (0.1);",
    ]:
        assert words in found


def test_many_problems_of_one_kind_are_counted():
    rows = [f"e{number},{time},{300 + time},1" for number in range(9) for time in (0, 1)]
    text = "run,time [s],P [Pa],A [mol/L]\n" + "\n".join(rows) + "\n"
    found = problems(text)
    assert len(found) == 6
    assert found[0].startswith("x.csv, lines 2 and 3: experiment 'e0' has P = 300 Pa and P = 301 Pa in one experiment.")
    assert found[5] == "x.csv, column 'P [Pa]': 4 more experiments with the same kind of problem."
    broken = problems("time [s],A [mol/L]\n0,1\n" + "1,2,3\n" * 6)
    assert broken[5] == "x.csv: 1 more line with the same kind of problem."


CELLS = ["", "0", "1", "-1", "1.5", "1,5", "300", "x", "1e999", "A", "B", "e1"]
HEADERS = ["experiment", "time [s]", "T [K]", "T [degC]", "T", "A [mol/L]", "A [K]", "A", "C_B [mol/L]", "sigma [mol/L]", "sigma_A [%]"]
HEADERS += ["species", "value [mol/L]", "value", "note", "tau [s]", "x", "y", "P [bar]", "P"]


@given(
    st.lists(st.sampled_from(HEADERS), min_size=1, max_size=6, unique=True).flatmap(
        lambda headers: st.tuples(
            st.just(headers),
            st.lists(st.lists(st.sampled_from(CELLS), min_size=len(headers), max_size=len(headers)), min_size=1, max_size=5),
        )
    ),
    st.sampled_from([BATCH, TANK, EXPLICIT]),
)
def test_any_table_is_a_consistent_campaign_or_is_refused_with_sentences(written, vocabulary):
    text = "\n".join(";".join(row) for row in (written[0], *written[1]))
    try:
        read = campaign(text, vocabulary, temperatures=False, noise={"A": 1.0} if "A" in vocabulary.responses else None)
    except DataError as error:
        assert all(problem.endswith((".", "?")) for problem in error.problems)
        return
    assert len(set(read.experiments)) == len(read.experiments) == len(read.sources) == len(read.times)
    assert read.values.shape == read.mask.shape == read.sigma.shape == (*read.times.shape, len(read.responses))
    assert np.all(np.isfinite(read.values) == read.mask)
    assert np.all(read.sigma[~np.isnan(read.sigma)] > 0)
    assert np.all(np.diff(read.times, axis=1) >= 0)
    assert all(np.all(np.isfinite(values)) for values in read.conditions.values())


def test_no_table_and_no_response():
    with pytest.raises(DataError, match="no data table"):
        build_campaign([], BATCH)
    read = campaign("time [s],T [K]\n0,300\n5,300\n")
    assert (read.values.shape, read.values_used) == ((1, 2, 0), 0)


# ------------------------------------------------------------------------------------------------------- deletion is absence


def long_form(readings):
    return "run,time [s],T [K],species,value [mol/L]\n" + "".join(
        f"{run},{time},330,{species},{value!r}\n" for run, time, species, value in readings
    )


READINGS = [
    (run, time, species, round(0.1 + 0.01 * number, 3))
    for number, (run, time, species) in enumerate(itertools.product("ab", (0, 10, 20), "AB"))
]


@given(st.sets(st.integers(0, len(READINGS) - 1), max_size=len(READINGS) - 1))
def test_a_deleted_value_was_never_measured(deleted):
    """A blank cell and a row left out leave the same readings at the same times of the same experiments."""
    kept = [reading for number, reading in enumerate(READINGS) if number not in deleted]
    blank = [(*reading[:3], None) if number in deleted else reading for number, reading in enumerate(READINGS)]

    def readings(read: Campaign) -> set[tuple[object, ...]]:
        return {
            (read.experiments[lane], read.times[lane, time], read.responses[response].name, read.values[lane, time, response])
            for lane, time, response in zip(*np.nonzero(read.mask), strict=True)
        }

    absent, blanked = campaign(long_form(kept)), campaign(long_form(blank).replace("None", ""))
    assert readings(absent) == readings(blanked)
    assert absent.values_used == blanked.values_used == len(kept)


def test_a_blank_cell_leaves_every_other_number():
    full = campaign(PLAIN.replace("e2,30,350,,", "e2,30,350,1,"))
    gap = campaign(PLAIN)
    seen = gap.mask
    np.testing.assert_array_equal(full.values[seen], gap.values[seen])
    assert full.mask.sum() == seen.sum() + 1


def test_hash_sees_every_number_and_label():
    changes = [("e2", "e3"), ("0.25", "0.26"), ("330", "331"), (",30,", ",31,"), ("0.25", "")]
    hashes = {campaign(PLAIN.replace(*change)).data_hash for change in changes} | {campaign(PLAIN).data_hash}
    assert len(hashes) == len(changes) + 1
    assert campaign(PLAIN, noise={"A": 1.0, "B": 1.0}).data_hash not in hashes
    assert campaign(PLAIN, conditions={"P": parse_quantity("1e5 Pa")}).data_hash not in hashes


def test_readings_clearly_below_zero_warn():
    """Without a sigma nothing says whether -0.7 is noise; -0.01 beside 1 may be."""
    text = "time [s],A [mol/L]\n0,1\n1,-0.7\n2,-0.01\n"
    with pytest.warns(KinetixWarning, match=r"x\.csv, line 3, column 'A \[mol/L\]': -0\.7 mol/L is clearly below zero") as caught:
        read = campaign(text)
    assert len(caught) == len(read.warnings) == 1 and read.values_used == 3
    assert campaign(text, allow_negative=True).warnings == ()
    assert campaign(text, noise={"A": 500.0}).warnings == ()
