"""docs/contributing.md names rooms, files and tables: they are those that exist."""

import importlib
import re
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "contributing.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ")]
NAMED_IN = re.compile(r"`(\w+)` in `((?:kinetix|tests)/[\w/]+\.py)`")
PATHS = re.compile(r"`((?:kinetix|tests|docs|examples|benchmarks)/[^`]*)`")


def rooms() -> list[str]:
    """All rooms of the import contract, lowest first, whether they exist or not."""
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        layers = tomllib.load(file)["tool"]["importlinter"]["contracts"][0]["layers"]
    return [name.strip(" ()") for layer in reversed(layers) for name in layer.split("|")]


def exists(room: str) -> bool:
    return (REPOSITORY / "kinetix" / room).is_dir() or (REPOSITORY / "kinetix" / f"{room}.py").is_file()


def test_the_list_of_rooms_is_that_of_the_contract():
    (listed,) = re.findall(r"^`characters`.*?(?=\n\n)", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"`(\w+)`", listed) == [room for room in rooms() if exists(room)]


def test_rooms_that_do_not_exist_are_said_to_be_kept_for_later():
    (planned,) = re.findall(r"^Places are kept.*$", PAGE, flags=re.MULTILINE)
    assert set(re.findall(r"`(\w+)` \(", planned)) == {room for room in rooms() if not exists(room)}


@pytest.mark.parametrize("row", ROWS, ids=[row[2:40] for row in ROWS])
def test_what_a_row_names_is_there(row):
    for name, path in NAMED_IN.findall(row):
        if path.startswith("kinetix/"):
            module = importlib.import_module(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
            assert hasattr(module, name), f"{path} has no {name}"
        else:
            assert re.search(rf"^{name} = ", (REPOSITORY / path).read_text(encoding="utf-8"), flags=re.MULTILINE), f"{path} has no {name}"
    for path in PATHS.findall(row):
        place = path.partition("<")[0]
        assert (REPOSITORY / place).exists(), f"there is no {place}"
