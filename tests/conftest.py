"""What every test may use: float64, cases with known answers, data that the repository carries."""

from __future__ import annotations

import csv
import json
import os
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import hypothesis
import jax
import numpy as np
import pytest

from kinetix.precision import float64

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = REPOSITORY / "tests" / "data"
CASES = Path(os.environ.get("KINETIX_CASES", REPOSITORY.parent / "shared" / "cases"))

# The same examples in every run, no time limit on one (the first compiles), nothing written beside the tests.
hypothesis.settings.register_profile("house", derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile("long", max_examples=20_000, deadline=None, database=None)  # by hand: see CONTRIBUTING.md
hypothesis.settings.load_profile("house")
hypothesis.configuration.set_hypothesis_home_dir(REPOSITORY / ".pytest_cache" / "hypothesis")


@dataclass(frozen=True)
class Case:
    """A problem with a known answer: a folder with `case.toml` or `case.json`, and the files it names."""

    folder: Path

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Everything that `case.toml` (or `case.json`) says."""
        toml = self.folder / "case.toml"
        if toml.exists():
            return tomllib.loads(toml.read_text(encoding="utf-8"))
        return json.loads((self.folder / "case.json").read_text(encoding="utf-8"))

    def columns(self, file: str = "data.csv") -> dict[str, np.ndarray]:
        """The columns of a plain CSV file by header: float64 with NaN for an empty cell, or text where a cell is no number."""
        with (self.folder / file).open(encoding="utf-8", newline="") as lines:
            header, *rows = csv.reader(lines)
        return {name: _column(cells) for name, cells in zip(header, zip(*rows, strict=True), strict=True)}


def _column(cells: tuple[str, ...]) -> np.ndarray:
    try:
        return np.array([float(cell or "nan") for cell in cells])
    except ValueError:
        return np.array(cells)


@pytest.fixture(scope="module", autouse=True)
def _compiled_programs() -> Iterator[None]:
    """Programs are shared within a file; kept for the whole run they would take several GB."""
    yield
    jax.clear_caches()


@pytest.fixture
def x64() -> Iterator[None]:
    """The test runs in float64; without it, tests run as users do, with JAX's default configuration."""
    with float64():
        yield


@pytest.fixture(scope="session")
def case() -> Callable[[str], Case]:
    """`case("petab-boehm")`: a case whose data may not be copied here, because its provenance is a fetched snapshot.

    It is read from `../shared/cases` beside the repository (or from `KINETIX_CASES`), and the test is skipped where that
    folder is absent. All other data is copied into `tests/data`: the fixture `data`.
    """

    def read(name: str) -> Case:
        folder = CASES / name
        if not folder.is_dir():
            pytest.skip(f"data of {name} is a fetched snapshot and not part of the repository; set KINETIX_CASES to its folder")
        found = Case(folder)
        if "fetched snapshot" not in found.facts.get("provenance", ""):
            raise ValueError(f"{name} is not a fetched snapshot: copy it to tests/data/{name} and read it with the fixture `data`")
        return found

    return read


@pytest.fixture(scope="session")
def data() -> Callable[[str], Case]:
    """`data("nist-misra1a")`: a case that the repository carries, in `tests/data/<name>`."""

    def read(name: str) -> Case:
        folder = DATA / name
        if not folder.is_dir():
            raise FileNotFoundError(f"tests/data has no folder {name}")
        return Case(folder)

    return read
