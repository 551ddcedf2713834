"""Files that must be refused with a sentence that holds certain words: cases b01 to b15, read against species A and B in time."""

import json
import re
from pathlib import Path

import pytest

from kinetix.errors import DataError
from kinetix.experiments import Vocabulary, build_campaign
from kinetix.experiments.plausibility import check_temperature
from kinetix.io.tables import read_table
from kinetix.units import CONCENTRATION, TEMPERATURE

FOLDER = Path(__file__).parent.parent / "data" / "bad_inputs"
EXPECTED = {entry["id"]: entry for entry in json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))}
BATCH = Vocabulary(("A", "B"), dict.fromkeys("AB", CONCENTRATION), {"T": TEMPERATURE, "initial.A": CONCENTRATION}, timed=True)


def holds(message: str, must_mention: list[str]) -> bool:
    """Every entry stands in the message as a word of its own; 'x|y' means either, case does not count."""
    return all(
        any(re.search(rf"(?<![\w.]){re.escape(choice.strip())}", message, re.IGNORECASE) for choice in entry.split("|"))
        for entry in must_mention
    )


@pytest.mark.parametrize("name", [name for name, entry in EXPECTED.items() if entry["area"] == "csv"])
def test_message(name):
    entry = EXPECTED[name]
    with pytest.raises(DataError) as caught:
        build_campaign([read_table(FOLDER / entry["file"])], BATCH)
    assert any(holds(problem, entry["must_mention"]) for problem in caught.value.problems), caught.value.problems


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "b03",
            "b03.csv, line 5, column 'A [mol/L]': -0.35 is negative by 35 times sigma (0.01); a concentration cannot be. Values within 3",
        ),
        ("b05", "b05.csv, lines 4 and 6: experiment 'e1' has T = 330 K and T = 350 K at the same time 120 s. Replicates must share their"),
        ("b11", "b11.csv, line 3, column 'A [mol/L]': '1e999' is not a finite number."),
        ("b15", "b15.csv is not UTF-8 (byte 0xB0 at position 13, line 1). Save it as UTF-8"),
    ],
)
def test_message_as_planned(name, message):
    with pytest.raises(DataError) as caught:
        build_campaign([read_table(FOLDER / f"{name}.csv")], BATCH)
    assert str(caught.value).startswith(message)
    assert len(caught.value.problems) == 1


def test_temperature_in_a_wrong_unit_is_told():
    sentence = check_temperature(25.0, "25 K")
    assert sentence is not None
    assert holds(sentence, EXPECTED["b33"]["must_mention"])
