"""The commands that documents show, run once each in this process, in a copy of the examples."""

import json
import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kinetix.cli.app import app

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Answer:
    """What a command printed, and the folder it wrote to."""

    printed: str
    folder: Path

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))

    def value(self, name: str) -> float:
        return self.summary["parameters"][name]["value"]

    def stderr(self, name: str) -> float:
        return self.summary["parameters"][name]["stderr"]


@pytest.fixture(scope="session")
def answer(tmp_path_factory) -> Callable[[str], Answer]:
    """`answer("kinetix fit examples/tank/study.toml")`; where it writes to (`--out`) makes no difference."""
    place = tmp_path_factory.mktemp("documents")
    shutil.copytree(REPOSITORY / "examples", place / "examples")
    known: dict[str, Answer] = {}

    def run(command: str) -> Answer:
        key = re.sub(r" --out \S+", "", command)
        if key not in known:
            program, name, *arguments = shlex.split(key)
            assert program == "kinetix"
            folder = place / f"answer{len(known)}"
            written = ["--out", str(folder)] if name in ("fit", "arrhenius") else []
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("KINETIX_CACHE", "off")
                patch.chdir(place)
                result = CliRunner().invoke(app, [name, *arguments, *written])
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception
            assert result.exit_code == 0, result.stderr
            known[key] = Answer(result.stdout, folder)
        return known[key]

    return run
