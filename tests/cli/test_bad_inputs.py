"""Inputs that must be refused: one clear line each with the words of expected.json, exit code 1, no traceback, no file."""

import json
import re
import shutil
from pathlib import Path

import pytest

from kinetix.io import write_study
from tests.cli.places import errors, run

FOLDER = Path(__file__).parent.parent / "data" / "bad_inputs"
EXPECTED = {entry["id"]: entry for entry in json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))}
IN_SCOPE = [name for name, entry in EXPECTED.items() if (FOLDER / entry["file"]).exists() and entry["severity"] == "error"]
DIRECT = ("--reaction", "A -> B", "--reactor", "batch", "--start", "r1.k=0.01 1/s", "--initial", "A=1 mol/L", "--initial", "B=0 mol/L")

MORE = {"b13": ("--noise", "B=0.01 mol/L")}
"""What else the data of a case need, so that only its own problem is left."""


PLACE = {"PFR": "[conditions] V"}
"""Words of the cases' notation for which a message names the place in the study."""


def study_of(neutral: dict) -> dict:
    """A study from the neutral notation of the cases; where it names no reactor, a closed one at given times."""
    if neutral.get("reactor", {}).get("type") == "PFR":
        return tube_of(neutral)
    reactor = neutral.get("reactor", {"type": "batch", "T": "350 K", "initial": {neutral["species"][0]: "1 mol/L"}, "t_end": "600 s"})
    study = {
        "schema": 1,
        "reactions": {reaction["id"]: {key: value for key, value in reaction.items() if key != "id"} for reaction in neutral["reactions"]},
        "reactor": {"type": reactor["type"]},
        "conditions": {"T": reactor["T"]},
        "initial": {**reactor["initial"], "default": "0 mol/L"},
        "simulate": {"times": ["0 s", reactor["t_end"]]},
    }
    if "formulas" in neutral:
        study["formulas"] = neutral["formulas"]
    if "estimate" in neutral:
        study["parameters"] = {name: _estimate(value) for name, value in neutral["estimate"].items()}
    return study


def tube_of(neutral: dict) -> dict:
    reactor = neutral["reactor"]
    return {
        "schema": 1,
        "reactions": {reaction["id"]: {key: value for key, value in reaction.items() if key != "id"} for reaction in neutral["reactions"]},
        "reactor": {"type": "plug_flow", "density": "constant"},
        "conditions": {"T": reactor["T"], "V": reactor["volume"], "Q": reactor["flow"], "feed": {**reactor["inlet"], "default": "0 mol/L"}},
    }


def _estimate(value: dict) -> dict:
    table = {key: value[key] for key in ("start", "scale") if key in value}
    return {**table, "bounds": [value["lower"], value["upper"]]}


def holds(message: str, must_mention: list[str]) -> bool:
    """Every entry stands in the message, at the beginning of a word; 'x|y' means either, case does not count."""
    return all(
        any(re.search(rf"(?<![\w.]){re.escape(choice.strip())}", message, re.IGNORECASE) for choice in entry.split("|"))
        for entry in must_mention
    )


def test_all_cases_that_belong_here_are_here():
    assert set(IN_SCOPE) >= {f"b{number:02d}" for number in range(1, 30, 2)}


@pytest.mark.parametrize("name", IN_SCOPE)
def test_refused_in_words(place, name):
    entry = EXPECTED[name]
    if entry["file"].endswith(".csv"):
        shutil.copy(FOLDER / entry["file"], place)
        commands = [("fit", entry["file"], *DIRECT, *MORE.get(name, ()))]
    else:
        write_study(study_of(json.loads((FOLDER / entry["file"]).read_text(encoding="utf-8"))), "study.toml")
        commands = [("check", "study.toml"), ("simulate", "study.toml", "--out", "out.nc"), ("fit", "study.toml")]
    before = {path.name for path in place.iterdir()}
    for command in commands:
        result = run(*command)
        assert result.exit_code == 1
        assert result.stdout == ""
        (problem,) = errors(result)
        assert all(PLACE[word] in problem if word in PLACE else holds(problem, [word]) for word in entry["must_mention"]), problem
        assert {path.name for path in place.iterdir()} == before


def test_a_suspicious_temperature_warns_and_goes_on(place):
    entry = EXPECTED["b33"]
    write_study(study_of(json.loads((FOLDER / entry["file"]).read_text(encoding="utf-8"))), "study.toml")
    result = run("simulate", "study.toml", "--out", "out.nc")
    assert result.exit_code == 0
    (warning,) = result.stderr.splitlines()
    assert warning.startswith("warning: ")
    assert holds(warning, entry["must_mention"])
    assert (place / "out.nc").exists()
