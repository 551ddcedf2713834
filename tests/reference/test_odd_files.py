"""Files as instruments and people write them, read as they are with a few lines of `[data]` at most; and what is fitted to them."""

import tomllib

import numpy as np
import pytest

from kinetix.io.studies import read_tables
from kinetix.report.summary import summary
from kinetix.results import fit_tree
from kinetix.studies import Problem, build_problem, fit_problem, parse_study

PYROLYSIS = """
schema = 1
reactions = { r1 = { equation = "S -> G", k = { start = "0.006738 1/s", at = "640 K" }, Ea = { start = "180 kJ/mol" } } }
reactor = { type = "batch" }
initial = { S = "1 mol/L", default = "0 mol/L" }
responses = { alpha = "1 - [S]/initial[S]", mass = "[S]/initial[S]" }
"""


def problem(case, study: str) -> Problem:
    parsed = parse_study(tomllib.loads(study), "study.toml")
    data = parsed.data
    assert data is not None
    return build_problem(parsed, read_tables(data.files, case.folder, data.encoding, data.sheets, data.layout))


def column(problem: Problem, name: str) -> np.ndarray:
    """The values of a response in the unit of its column."""
    campaign = problem.campaign
    place, response = next((i, response) for i, response in enumerate(campaign.responses) if response.name == name)
    return response.unit.from_si(campaign.values[..., place][campaign.mask[..., place]])


def test_long_form_without_header(case):
    case = case("wild-long-format-missing")
    expected, tolerance = case.facts["expected"], case.facts["tolerance"]
    read = problem(
        case,
        """
        schema = 1
        reactions = { r1 = { equation = "A -> B", k = { start = "2 1/min" } }, r2 = { equation = "B -> C", k = { start = "0.2 1/min" } } }
        reactor = { type = "batch" }
        initial = { A = { start = "0.001 mol/L" }, default = "0 mol/L" }

        [data]
        files = ["data.txt"]
        header = ["time [min]", "species", "value [mol/L]"]
        """,
    )
    assert read.campaign.values_used == expected["readings"]
    for species in "ABC":
        assert len(column(read, species)) == expected[f"readings_{species}"]
    found = summary(fit_tree(fit_problem(read)))
    assert found["objective"] == pytest.approx(expected["fit"]["sse"], rel=tolerance["sse_rel"])
    for name, key in (("r1.k", "k1"), ("r2.k", "k2"), ("initial.A", "A0")):
        assert found["parameters"][name]["value"] == pytest.approx(expected["fit"][key], rel=tolerance["parameters_rel"])


def test_commented_header_with_units_behind_slashes(case):
    case = case("wild-tga-netzsch-semicolon")
    expected = case.facts["expected"]
    study = PYROLYSIS + '[data]\nfiles = ["data.txt"]\n'
    read = problem(case, study + "only = { Segment = 1 }\n")
    assert read.campaign.rows_read == expected["rows_in_segment_1"]
    assert read.campaign.condition_units["T"].text == "°C"
    assert read.campaign.time_unit is not None and read.campaign.time_unit.text == "min"
    assert column(read, "mass")[0] == expected["first_row"][2]
    temperatures = read.campaign.programs["T"][1] - 273.15
    assert temperatures[0, 0] == pytest.approx(expected["first_row"][0], abs=1e-9)
    whole = problem(case, study + 'ignore = ["Segment"]\n')
    assert whole.campaign.rows_read == expected["rows"]
    assert column(whole, "mass")[-1] == pytest.approx(expected["last_row"][2], abs=1e-9)
    assert whole.campaign.programs["T"][1].max() - 273.15 == pytest.approx(expected["max_temperature"], abs=1e-9)
    assert column(whole, "mass").min() == pytest.approx(expected["mass_min"], abs=1e-9)


def test_units_at_the_end_of_names_and_progress_of_a_mass(case):
    case = case("wild-tga-pmma-four-rates")
    expected, tolerance = case.facts["expected"]["first_order"], case.facts["tolerance"]
    read = problem(
        case,
        PYROLYSIS
        + """
        [data]
        files = ["data.csv"]
        columns = { experiment = "heating_rate_K_per_min" }
        progress = { alpha = "mass_mg" }
        time_zero = "first"
        """,
    )
    assert read.campaign.experiments == ("3", "10", "20", "30")
    found = summary(fit_tree(fit_problem(read)))
    assert found["n_observations"] == expected["n_rows"]
    assert found["objective"] == pytest.approx(expected["sse"], rel=tolerance["sse_rel"])
    k, barrier = found["parameters"]["r1.k_ref"], found["parameters"]["r1.Ea"]
    assert np.log(k["value"]) == pytest.approx(expected["ln_k640_per_s"], rel=tolerance["parameters_rel"])
    assert barrier["value"] == pytest.approx(expected["E_kJ_per_mol"], rel=tolerance["parameters_rel"])
    assert barrier["stderr"] == pytest.approx(expected["std_errors"][1], rel=tolerance["parameters_rel"])


def test_row_of_units_and_an_empty_column(case):
    case = case("wild-tga-units-row")
    expected = case.facts["expected"]
    read = problem(
        case,
        """
        schema = 1
        reactions = { r1 = { equation = "S -> G", k = { start = "0.001 1/s" } } }
        reactor = { type = "batch" }
        initial = { S = "1 mol/L", default = "0 mol/L" }
        responses = { Mass = "m*[S]/initial[S]" }
        parameters = { m = "4.9 mg" }

        [data]
        files = ["data.csv"]
        """,
    )
    campaign, mass = read.campaign, column(read, "Mass")
    assert campaign.rows_read == expected["rows"]
    assert [campaign.time_unit, campaign.responses[0].unit] != [None, None]
    assert campaign.responses[0].unit.text == expected["units"][2]
    assert mass.sum() == pytest.approx(expected["sum_mass"], rel=1e-9)
    for row, key in ((0, "first_row"), (-1, "last_row")):
        there = [campaign.times[0, row], campaign.programs["T"][1][0, row], mass[row]]
        assert there == pytest.approx(expected[key], rel=1e-9)


def test_title_above_the_header(case):
    case = case("wild-uvvis-two-headers")
    expected = case.facts["expected"]
    read = problem(
        case,
        """
        schema = 1
        model = { absorbance = "a*exp(-wavelength/w)" }
        parameters = { a = { start = "1 -" }, w = { start = "100 nm" } }

        [data]
        files = ["data.txt"]
        columns = { wavelength = "Wavelength nm. [nm]", absorbance = "Abs. [-]" }
        """,
    )
    wavelength, absorbance = read.campaign.conditions["wavelength"] * 1e9, column(read, "absorbance")
    assert len(absorbance) == expected["rows"]
    assert absorbance.sum() == pytest.approx(expected["sum_absorbance"], abs=1e-9)
    for row, key in ((0, "first_row"), (-1, "last_row")):
        assert [wavelength[row], absorbance[row]] == pytest.approx(expected[key], abs=1e-9)
    assert any("line 1: taken as a title" in note for note in read.campaign.notes)


def test_nameless_time_column(case):
    read = problem(
        case("kipet-fed-batch-units"),
        """
        schema = 1
        reactions = { r1 = { equation = "A + B -> C", k = { start = "0.05 L/mol/min" } } }
        reactor = { type = "batch" }
        initial = { A = "2 mol/L", default = "0 mol/L" }

        [data]
        files = ["data.csv"]
        columns = { time = "column 1 [min]", A = "A [mol/L]", B = "B [mol/L]", C = "C [mol/L]" }
        """,
    )
    assert read.campaign.values_used == 42
    assert column(read, "A")[-1] == pytest.approx(-0.368227, abs=1e-12)
    assert read.campaign.times[0, -1] == pytest.approx(57.814175 * 60, rel=1e-12)


def test_columns_without_units(case):
    species = "ABCDEFGH"
    read = problem(
        case("kipet-eight-species-unidentifiable"),
        f"""
        schema = 1
        reactions = {{ r1 = {{ equation = "A + B + C + D + E + F + G -> H", rate = "k*[A]" }} }}
        parameters = {{ k = {{ start = "0.1 1/h" }} }}
        reactor = {{ type = "batch" }}
        initial = {{ default = "1 mol/L" }}

        [data]
        files = ["data.csv"]
        columns = {{ time = "time [h]", {", ".join(f'{name} = "{name} [mol/L]"' for name in species)} }}
        """,
    )
    assert read.campaign.values.shape == (1, 151, 8)
    assert column(read, "H")[-1] == pytest.approx(0.210378, abs=1e-12)
