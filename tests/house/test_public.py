"""The public names: each is documented with an example that the suite runs, and the version has one source."""

import importlib.metadata
import inspect
import tomllib
from pathlib import Path

import kinetix

REPOSITORY = Path(__file__).resolve().parents[2]


def test_every_public_name_is_documented_with_an_example():
    described = {
        name: inspect.getdoc(thing) or ""
        for name in kinetix.__all__
        if inspect.isclass(thing := getattr(kinetix, name)) or inspect.isroutine(thing) or callable(thing)
    }
    missing = [name for name, text in described.items() if not text or ">>>" not in text]
    assert missing == [], "no docstring, or no example in it"


def test_public_names_are_listed_by_dir():
    assert set(kinetix.__all__) <= set(dir(kinetix))


def test_version_has_one_source():
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        written = tomllib.load(file)["project"]["version"]
    assert kinetix.__version__ == importlib.metadata.version("kinetix-chem") == written
