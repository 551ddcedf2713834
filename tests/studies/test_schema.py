"""The structure of a study file: unknown, missing and ill-typed keys, and what is not available yet, in full sentences."""

import pytest

from kinetix.errors import StudyError
from kinetix.studies import parse_study
from kinetix.studies.schema import place, reaction_sections

BASE = {"schema": 1, "reactions": {"r1": {"equation": "A -> B", "k": "0.1 1/min"}}, "reactor": {"type": "cstr"}}


def problems(**change):
    with pytest.raises(StudyError) as error:
        parse_study({**BASE, **change}, "study.toml")
    return error.value.problems


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"reacter": {"type": "cstr"}},
            "study.toml, reacter: unknown key 'reacter'. Known: schema, title, formulas, reactions, reactor, energy, conditions, initial,"
            " responses, noise, data, model, parameters, fit, simulate, solver. Did you mean 'reactor'?",
        ),
        (
            {"reactions": {"r1": {"equation": "A -> B", "order": {"A": 1}}}},
            "study.toml, [reactions] r1.order: unknown key 'order'. Known: equation, k, A, Ea, dH, dS, b, at, kf, kr, K, kd, dHr, law,"
            " rate, parameters,"
            " orders, balance. Did you mean 'orders'?",
        ),
        (
            {"reactor": {"type": "cstr", "tau": "5 min"}},
            "study.toml, [reactor] tau: unknown key 'tau'. Known: type, basis, density, tanks, amounts.",
        ),
        (
            {"reactor": {}},
            "study.toml, [reactor] type: missing. Write type = ... (batch, cstr, transient_cstr, plug_flow, semibatch or differential).",
        ),
        (
            {"reactions": {"r1": {"k": "1 1/s"}}},
            'study.toml, [reactions] r1.equation: missing. Write equation = ... (reaction text, for example "A + B -> C").',
        ),
        (
            {"reactions": {"r1": "A -> B"}},
            "study.toml, [reactions] r1: expected a table, found 'A -> B'."
            ' A reaction is written as { equation = "A -> B", k = "0.1 1/s" }.',
        ),
        (
            {"reactions": {"r1": {"equation": 3}}},
            'study.toml, [reactions] r1.equation: expected text, found 3. equation: reaction text, for example "A + B -> C".',
        ),
        (
            {"fit": {"sigma": "true"}},
            "study.toml, [fit] sigma: expected 'trusted' or 'scaled', found 'true'. sigma: how given sigmas are meant: trusted as they are,"
            " or right up to a common factor that is estimated.",
        ),
        (
            {"fit": {"max_iterations": "ten"}},
            "study.toml, [fit] max_iterations: expected a whole number, found 'ten'. max_iterations: iteration limit of each start.",
        ),
        ({"solver": {"rtol": 2.0}}, "study.toml, [solver] rtol: expected a number below 1, found 2.0. rtol: relative tolerance."),
        (
            {"solver": {"max_steps": 0}},
            "study.toml, [solver] max_steps: expected a number above 0, found 0. max_steps: step limit of one solve.",
        ),
        (
            {"simulate": {"times": [1, 2]}},
            'study.toml, [simulate] times: expected text, found 1. times: times of a profile: "0:3600:61 s" or a list of quantities.',
        ),
        ({"schema": 2}, "study.toml, schema: version 2 is not known to this kinetix; expected 1."),
        (
            {"fit": {"starts": 0}},
            "study.toml, [fit] starts: expected a number above 0, found 0. starts: from how many starts an optimum is looked for; the given"
            " start is the first.",
        ),
    ],
)
def test_one_problem_is_one_sentence(change, sentence):
    assert problems(**change) == (sentence,)


def test_a_study_without_a_schema():
    with pytest.raises(StudyError, match=r"^study.toml: no schema version. Write schema = 1 on the first line.$"):
        parse_study({"reactor": {"type": "cstr"}}, "study.toml")


def test_all_problems_at_once():
    assert len(problems(data={"collumns": {}}, fit={"sigmas": "trusted"}, reactor={})) == 4  # files and type are missing, too


def test_a_law_may_be_a_name_or_a_table():
    for law in ("hill", {"type": "hill", "substrate": "A"}):
        assert parse_study({**BASE, "reactions": {"r1": {"equation": "A -> B", "law": law}}}, "t").reactions["r1"].law == law
    (problem,) = problems(reactions={"r1": {"equation": "A -> B", "law": 3}})
    assert problem.startswith("study.toml, [reactions] r1.law: expected text, found 3. law: a named rate law")


def test_reactions_that_come_from_no_file():
    with pytest.raises(StudyError) as error:
        reaction_sections({"r1": {"equation": "A -> B", "Eaa": "1 kJ/mol"}, "r2": {}})
    first, second = error.value.problems
    assert first.startswith("[reactions] r1.Eaa: unknown key 'Eaa'.") and first.endswith("Did you mean 'Ea'?")
    assert second.startswith("[reactions] r2.equation: missing.")


def test_places():
    assert place(("reactions", "r1", "k")) == "[reactions] r1.k"
    assert place(("schema",)) == "schema"
