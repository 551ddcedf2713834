"""Headers to quantities: every documented spelling, the order of the passes, mapping, units, and what is refused."""

import pytest

from kinetix.errors import DataError, Problems
from kinetix.experiments import Vocabulary, build_campaign, parse_table, recognise
from kinetix.experiments.recognition import check_columns
from kinetix.experiments.vocabulary import Meaning
from kinetix.units import CONCENTRATION, DIMENSIONLESS, PRESSURE, RATE, TEMPERATURE, TIME, VOLUME

C = CONCENTRATION
TANK = Vocabulary(
    ("A", "B"),
    {"A": C, "B": C, "conversion": DIMENSIONLESS},
    {"T": TEMPERATURE, "P": PRESSURE, "tau": TIME, "1/tau": TIME**-1, "V": VOLUME, "feed.A": C, "feed.B": C},
)
BATCH = Vocabulary(("A", "B"), {"A": C, "B": C}, {"T": TEMPERATURE, "initial.A": C, "initial.B": C}, timed=True)
DIFFERENTIAL = Vocabulary(("A", "B"), {"rate[r1]": RATE, "rate[A]": RATE}, {"T": TEMPERATURE, "A": C, "B": C})
EXPLICIT = Vocabulary((), {"y": None}, {"x": None, "t": None, "time": None}, needs_unit=False)


def read(headers, vocabulary, cells=None, **options):
    problems = Problems()
    cells = cells or ["1"] * len(headers)
    table = parse_table(";".join(headers) + "\n" + ";".join(cells) + "\n", "x.csv")
    recognition = recognise(table, vocabulary, problems=problems, **options)
    check_columns(options.get("columns", {}), options.get("ignore", ()), vocabulary, [recognition], problems)
    return recognition, problems.found


def meaning(header, vocabulary, **options):
    """The meaning of one column (a time is added where the model needs one)."""
    headers = [header] + (["time [s]"] if vocabulary.timed and not header.lower().startswith(("t ", "time", "zeit")) else ["note"])
    recognition, found = read(headers, vocabulary, **options)
    found = [problem for problem in found if "'note'" not in problem]
    assert not found, found
    return recognition.columns[0].meaning


def problem(header, vocabulary, **options):
    headers = [header] + (["time [s]"] if vocabulary.timed else [])
    _, found = read(headers, vocabulary, **options)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("header", "name"),
    [(f"{word} [mol/L]", "A") for word in ("A", "[A]", "C_A", "c_A", "cA", "CA", "conc_A", "A_out", "a", "conc A", "A.out", "ca")]
    + [(f"{word} [mol/L]", "feed.A") for word in ("feed.A", "feed[A]", "A_feed", "A_in", "A in", "C_A_in", "A0", "C_A0", "cA0", "ca0")]
    + [(f"{word} [K]", "T") for word in ("T", "Temp", "temperature", "TEMPERATURE", "Temperatur", "Température")]
    + [("tau [s]", "tau"), ("Residence time [min]", "tau"), ("1/tau [1/min]", "1/tau"), ("P [bar]", "P"), ("Pressure [bar]", "P")]
    + [("X [%]", "conversion"), ("Conversion [-]", "conversion"), ("conversion / %", "conversion")],
)
def test_spellings_of_a_tank(header, name):
    assert meaning(header, TANK).name == name


@pytest.mark.parametrize("word", ["initial.A", "initial[A]", "A_initial", "A0", "C_A0"])
def test_what_is_in_the_pot_at_the_start(word):
    assert meaning(f"{word} [mol/L]", BATCH) == Meaning("condition", "initial.A")


@pytest.mark.parametrize("word", ["time [s]", "t [min]", "Time (h)", "Zeit [min]"])
def test_time(word):
    assert meaning(word, BATCH) == Meaning("time")


@pytest.mark.parametrize("word", ["experiment", "Experiment", "exp", "run", "Run", "Versuch", "experiment_id"])
def test_experiment(word):
    assert meaning(word, BATCH) == Meaning("experiment")


@pytest.mark.parametrize("word", ["sigma_A", "A_sigma", "sigma.A", "sd_A", "std_A", "A_sd", "A_std", "Sigma_A", "sigma A", "sigma_C_A"])
def test_sigma_of_a_response(word):
    recognition, found = read(["A [mol/L]", f"{word} [mol/L]"], TANK)
    assert not found
    assert recognition.columns[1].meaning == Meaning("sigma", "A")


@pytest.mark.parametrize("word", ["rate[A]", "rate_A", "r_A"])
def test_rates_and_concentrations_of_a_differential_reactor(word):
    assert meaning(f"{word} [mol/L/s]", DIFFERENTIAL) == Meaning("response", "rate[A]")
    assert meaning("C_A [mol/L]", DIFFERENTIAL) == Meaning("condition", "A")
    assert meaning("rate [mol/L/s]", DIFFERENTIAL) == Meaning("response", "rate[r1]")


def test_names_as_written_come_before_spellings_and_case():
    vocabulary = Vocabulary(("A", "C_A", "A0", "a"), dict.fromkeys(("A", "C_A", "A0", "a"), C), {"feed.A": C})
    for name in ("A", "C_A", "A0", "a"):
        assert meaning(f"{name} [mol/L]", vocabulary) == Meaning("response", name)
    assert "nor a condition" in problem("conc_x [mol/L]", vocabulary)


def test_case_is_disregarded_only_where_one_thing_can_be_meant():
    vocabulary = Vocabulary(("CO", "Co"), {"CO": C, "Co": C}, {})
    assert "may be the response CO or the response Co. Say which" in problem("co [mol/L]", vocabulary)
    assert meaning("CO [mol/L]", vocabulary).name == "CO"


def test_capital_t_is_never_the_time():
    vocabulary = Vocabulary(("A",), {"A": C}, {}, timed=True)
    assert "column 'T [K]' is neither a response (known: A) nor a condition (known: none) of the model" in problem("T [K]", vocabulary)


def test_unit_decides_between_a_species_and_a_condition_of_one_name():
    vocabulary = Vocabulary(("P",), {"P": C}, {"P": PRESSURE})
    assert meaning("P [mol/L]", vocabulary) == Meaning("response", "P")
    assert meaning("P [bar]", vocabulary) == Meaning("condition", "P")
    assert meaning("p_out", vocabulary, columns={"P": "p_out [bar]"}) == Meaning("condition", "P")
    text = problem("P", vocabulary)
    assert 'may be the response P or the pressure P. Say which, with its unit: columns = { P = "P [mol/L]" }' in text


def test_predictors_of_explicit_models_may_be_called_time():
    recognition, found = read(["y", "time", "t"], EXPLICIT)
    assert not found
    assert [column.meaning for column in recognition.columns] == [
        Meaning("response", "y"),
        Meaning("condition", "time"),
        Meaning("condition", "t"),
    ]
    assert all(column.unit.dimension.dimensionless for column in recognition.columns)


# ------------------------------------------------------------------------------------------------------------------ mapping


@pytest.mark.parametrize(
    ("header", "entry"),
    [
        ("sv [1/min]", "sv [1/min]"),
        ("sv", "sv [1/min]"),
        ("sv [1/min]", "sv"),
        ("sv (min-1)", "sv [1/min]"),
        ("space velocity (corrected)", "space velocity (corrected) [1/min]"),
    ],
)
def test_mapping_with_the_unit_in_the_header_or_in_the_entry(header, entry):
    recognition, found = read([header, "note"], TANK, ["1", "a"], columns={"1/tau": entry})
    assert not found
    assert recognition.columns[0].meaning == Meaning("condition", "1/tau")
    assert recognition.columns[0].unit.to_si(60.0) == pytest.approx(1.0)


def test_mapping_overrules_the_header():
    recognition, found = read(["A [mol/L]", "A_corr [mol/L]"], TANK, columns={"B": "A [mol/L]", "A": "A_corr"})
    assert not found
    assert [column.meaning.name for column in recognition.columns] == ["B", "A"]


def test_mapping_to_words_and_spellings():
    recognition, found = read(
        ["no", "when [min]", "fA [mol/L]"], BATCH, columns={"experiment": "no", "time": "when [min]", "C_A": "fA [mol/L]"}
    )
    assert not found
    assert [column.meaning for column in recognition.columns] == [Meaning("experiment"), Meaning("time"), Meaning("response", "A")]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"1/tau": "svv [1/min]"}, "columns: no table has a column 'svv [1/min]' for 1/tau; x.csv has sv, A [mol/L]. Did you mean 'sv'?"),
        ({"1/taau": "sv [1/min]"}, "columns: '1/taau' is nothing that a column can be here."),
        ({"A": "A [mmol/L]", "1/tau": "sv [1/s]"}, "has the column 'A [mol/L]', but columns says 'A [mmol/L]' for A"),
        ({"1/tau": "sv [1/s]", "tau": "sv [s]"}, "'sv' is given both as 1/tau and as tau"),
        ({"1/tau": "sv"}, "column 'sv' (the space velocity 1/tau) has no unit. Write 'sv [1/s]'"),
    ],
)
def test_wrong_mapping(columns, words):
    _, found = read(["sv", "A [mol/L]"], TANK, columns=columns)
    assert any(words in text for text in found), found


def test_mapping_by_a_name_that_two_headers_share():
    _, found = read(["T [K]", "T [degC]"], TANK, columns={"T": "T"})
    assert "several columns 'T': T [K], T [degC]. Write the whole header." in found[0]


def test_ignore():
    recognition, found = read(["T [K]", "Q2 [mol/L]", "Q3 [bar]"], TANK, ignore=["Q2", "Q3 [bar]"])
    assert not found
    assert recognition.note == "x.csv: 'T [K]' is the temperature T; 'Q2 [mol/L]' is ignored; 'Q3 [bar]' is ignored."
    _, found = read(["T [K]", "Q2 [mol/L]"], TANK, ignore=["Q2", "TT"])
    assert found == ["ignore: no table has a column 'TT'; x.csv has T [K], Q2 [mol/L]. Did you mean 'T'?"]


# ------------------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("Yield [%]", 'under [responses] in a study: conversion = "1 - [A]/feed[A]"'),
        ("C_Q [mol/L]", "'C_Q [mol/L]' is neither a response (known: A, B, conversion) nor a condition (known: T, P, tau"),
        ("number", "list it under 'ignore'"),
        ("taau [min]", "Did you mean 'tau'?"),
        ("A", "column 'A' has no unit. Write 'A [mol/L]' in the header, or columns = { A = \"A [mol/L]\" }."),
        ("ca", "column 'ca' (the response A) has no unit. Write 'ca [mol/L]' in the header, or columns = { A = \"ca [mol/L]\" }."),
        ("feed.A", 'columns = { "feed.A" = "feed.A [mol/L]" }'),
        ("conversion", "Write 'conversion [%]'"),
        ("T [mol/L]", "column 'T [mol/L]', the temperature T, has unit mol/L (amount/volume), but temperature is needed"),
        ("A [K]", "the response A, has unit K (temperature), but amount/volume is needed"),
        ("A [mool/L]", "column 'A [mool/L]': unknown unit 'mool'"),
        ("time [s]", "is a time, but this model has none"),
        ("sigma_A [mol/L]", "is the sigma of A, but the table has no column for A"),
    ],
)
def test_refused_in_a_tank(header, words):
    assert words in problem(header, TANK)


def test_refused_elsewhere():
    assert "no column for the time" in read(["A [mol/L]", "T [K]"], BATCH)[1][0]
    assert "columns 'T [K]' and 'Temp [degC]' are both the temperature T" in read(["T [K]", "Temp [degC]"], TANK)[1][0]
    vocabulary = Vocabulary((), {"y": None}, {"T": TEMPERATURE}, needs_unit=False)
    assert "column 'T' has no unit. Write 'T [K]'" in problem("T", vocabulary)


def test_all_problems_at_once():
    _, found = read(["A", "T [mol/L]", "Q [bar]", "time [s]"], TANK)
    assert len(found) == 4


def test_words_and_emptiness_are_no_problem():
    recognition, found = read(["T [K]", "Bemerkung", "blank"], TANK, ["300", "neu; gut".replace(";", ","), ""])
    assert not found
    assert recognition.note == "x.csv: 'T [K]' is the temperature T; 'Bemerkung' is text: kept as remark; 'blank' is ignored."


def test_long_form_needs_both_label_and_value():
    recognition, found = read(["T [K]", "species", "value [mol/L]"], TANK, ["300", "A", "1"])
    assert not found
    assert recognition.long
    recognition, found = read(["T [K]", "species", "A [mol/L]"], TANK, ["300", "A", "1"])
    assert not found
    assert [column.meaning.role for column in recognition.columns] == ["condition", "remark", "response"]
    _, found = read(["T [K]", "value [mol/L]"], TANK)
    assert "column 'value [mol/L]' is neither" in found[0]
    _, found = read(["species", "value [mol/L]", "B [mol/L]"], TANK, ["A", "1", "1"])
    assert "Write all readings as rows or all as columns" in found[0]


@pytest.mark.parametrize("species", ["time", "T", "P", "t", "experiment", "value", "sigma"])
def test_a_species_called_like_a_column_is_told_by_its_unit(species):
    vocabulary = Vocabulary((species,), {species: CONCENTRATION}, {"T": TEMPERATURE, "P": PRESSURE}, timed=True)
    table = parse_table(f"experiment,time [min],T [K],P [bar],{species} [mol/L]\na,0,300,1,0.5\na,5,300,1,0.4\n", "x.csv")
    read = build_campaign([table], vocabulary)
    assert read.experiments == ("a",)
    assert read.times.tolist() == [[0, 300]]
    assert read.values.ravel().tolist() == [500, 400]
    assert (read.conditions["T"].item(), read.conditions["P"].item()) == (300, 1e5)


def test_a_species_called_time_with_clock_times_beside_it():
    vocabulary = Vocabulary(("time",), {"time": CONCENTRATION}, {}, timed=True)
    table = parse_table("time,time [mol/L]\n08:00:00,0.5\n08:05:00,0.4\n", "x.csv")
    with pytest.raises(DataError, match=r"column 'time' may be the response time or the time\. Say which, with its unit"):
        build_campaign([table], vocabulary)


@pytest.mark.parametrize(
    ("header", "twin", "character"),
    [
        ("А [mol/L]", "A", "CYRILLIC CAPITAL LETTER A (U+0410)"),
        ("c_Α [mol/L]", "c_A", "GREEK CAPITAL LETTER ALPHA (U+0391)"),
        ("Т [K]", "T", "CYRILLIC CAPITAL LETTER TE (U+0422)"),
        ("C_A₀ [mol/L]", "C_A0", "SUBSCRIPT ZERO (U+2080)"),
    ],
)
def test_a_header_that_only_looks_like_a_known_one_says_which_letter_is_another(header, twin, character):
    found = problem(header, TANK)
    assert f"only looks like '{twin}'" in found
    assert character in found


def test_the_other_letter_may_stand_in_the_reactions():
    model = Vocabulary(("А",), {"А": C}, {"T": TEMPERATURE})
    assert "not CYRILLIC CAPITAL LETTER A (U+0410)" in problem("A [mol/L]", model)
