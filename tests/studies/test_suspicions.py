"""Names, values and settings that look right and are not are told."""

import numpy as np
import pytest

from kinetix.errors import DataError, KinetixWarning, StudyError
from kinetix.studies import check_problem, fit_problem, parse_study
from tests.reference.studies import problem
from tests.studies.test_building import TANK, TANKS, changed, sentence


def test_a_response_with_the_name_of_a_species():
    words = sentence(changed(TANK, {"responses.A": "1 - [A]/feed[A]"}), TANKS)
    assert words == (
        "Response 'A' has the name of a species, but is 1 - [A]/feed[A] (dimensionless); a column 'A' would be read as that."
        " Give it another name, for example signal_A (or conversion)."
    )


def test_a_response_with_the_name_of_a_condition():
    words = sentence(changed(TANK, {"responses.tau": "[A]"}), TANKS)
    assert words.startswith("Response 'tau' has the name of a condition (T, P, t_on_stream, tau")
    assert words.endswith("Give it another name.")


def test_a_response_that_is_more_than_its_species():
    with pytest.warns(KinetixWarning, match=r"so its column is compared with \[A\] \+ \[B\] and not with \[A\]"):
        problem(changed(TANK, {"responses.A": "[A] + [B]"}), TANKS)
    problem(changed(TANK, {"responses.A": "[A]"}), TANKS)


def test_a_response_without_a_column():
    notes = problem(changed(TANK, {"responses.X": "1 - [A]/feed[A]"}), TANKS).campaign.notes
    assert notes[-1] == "response X: no column in the data, so it takes no part in a fit"
    assert not any("no column" in note for note in problem(TANK, TANKS).campaign.notes)


@pytest.mark.parametrize("key", ["formulas", "data.dimensionless", "data.allow_negative"])
@pytest.mark.parametrize("value", ["yes", 1])
def test_only_true_and_false_are_true_and_false(key, value):
    study = changed({"schema": 1, **TANK, "data": {"files": ["a.csv"]}}, {key: value})
    with pytest.raises(StudyError) as error:
        parse_study(study, "study.toml")
    assert "expected true or false" in str(error.value) and f"found {value!r}" in str(error.value)


def test_measured_values_that_are_all_zero():
    zeros = problem(changed(TANK, {}), "A [mol/L],B [mol/L]\n,0\n,0\n")
    words = (
        "Nothing to fit: all 2 measured values of B are 0, which says nothing of a rate. Look at what was recognised in the data, and use"
    )
    with pytest.raises(DataError) as refused:
        fit_problem(zeros)
    assert str(refused.value).startswith(words)
    assert any(line.startswith(f"attention: {words}") for line in check_problem(zeros))
    some = problem(changed(TANK, {}), "A [mol/L],B [mol/L]\n0.5,0\n0.4,0\n")
    assert fit_problem(some).status.ok


def test_zeros_that_a_formula_can_meet():
    line = {"model": {"y": "a*x"}, "parameters": {"a": {"start": "1 L/mol"}}}
    assert fit_problem(problem(line, "x [mol/L],y [1]\n1,0\n2,0\n")).values_si == pytest.approx([0.0], abs=1e-12)


def test_a_rate_constant_that_ends_below_zero():
    """A grows by 0.1 mol/L/min as the only reaction would have it shrink: on a linear scale k fits below zero."""
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.01 1/min", "scale": "linear"}}},
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "default": "1 mol/L"},
    }
    times = np.array([1.0, 2.0, 4.0])
    rows = "".join(f"{t},{a:.9f}\n" for t, a in zip(times, np.exp(0.1 * times), strict=True))
    facts = fit_problem(problem(study, f"time [min],A [mol/L]\n{rows}"))
    (said,) = [warning for warning in facts.warnings if "below zero" in warning]
    assert said.startswith("r1.k ended below zero (-0.1 1/min), where a constant of a rate law has no meaning.")
