"""What is written is run: the commands and programs in README, docs and examples work, and links lead somewhere.

In these files a ```` ```console ```` block holds commands (lines that begin with `$ `, or with `kinetix `; other lines are
output) that run in a copy of the repository's top level, in this process, which compiles less (README's first fit is a process
of its own); a ```` ```python ```` block is run, the blocks of one file one after
the other; a ```` ```toml ```` block is parsed. `<!-- not run: why -->` on the line before a block excepts it.
"""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from kinetix.cli.app import app

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPTS = sysconfig.get_path("scripts")

BLOCK = re.compile(r"(?:^<!-- (?P<remark>[^\n]*) -->\n+)?^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")
DOCUMENTS = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "benchmarks/**/*.md")
    for path in REPOSITORY.glob(pattern)
)


class Block(NamedTuple):
    line: int
    language: str
    body: str


def blocks(document: str, language: str) -> list[Block]:
    text = (REPOSITORY / document).read_text(encoding="utf-8")
    return [
        Block(text.count("\n", 0, match.start("body")) + 1, match["language"], match["body"])
        for match in BLOCK.finditer(text)
        if match["language"] == language and not (match["remark"] or "").startswith("not run:")
    ]


def commands(document: str) -> list[str]:
    lines = [line for block in blocks(document, "console") for line in block.body.replace("\\\n", " ").splitlines()]
    return [line.removeprefix("$ ") for line in lines if line.startswith(("$ ", "kinetix "))]


def first_fit() -> str:
    """The last part of README's line that sets up and fits the first example."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (body,) = (match["body"] for match in BLOCK.finditer(text) if match["remark"] == "install-and-fit")
    return body.strip().split(" && ")[-1].removeprefix(".venv/bin/")


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A copy of what documents refer to, as the current folder, so that outputs stay out of the repository."""
    for name in ("examples", "docs"):
        if (REPOSITORY / name).is_dir():
            shutil.copytree(REPOSITORY / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)


def run(command: str) -> None:
    result = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        env=os.environ | {"PATH": SCRIPTS + os.pathsep + os.environ["PATH"]},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if result.returncode:
        pytest.fail(f"$ {command}\n{result.stdout}{result.stderr}(exit code {result.returncode})", pytrace=False)


@pytest.mark.slow
def test_first_fit_of_the_readme(workplace):
    run(first_fit())


@pytest.mark.slow
@pytest.mark.parametrize("document", [document for document in DOCUMENTS if commands(document)])
def test_commands_run(document, workplace, monkeypatch):
    monkeypatch.setenv("KINETIX_CACHE", "off")  # in this process JAX's configuration stays as it is
    for command in commands(document):
        program, *arguments = shlex.split(command)
        assert program == "kinetix", f"{document}: '{command}' is no command of kinetix"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"$ {command}\n{result.output}{result.exception!r}"


@pytest.mark.parametrize("document", [document for document in DOCUMENTS if blocks(document, "python")])
def test_programs_run(document, workplace):
    names = {"__name__": "__main__"}
    for block in blocks(document, "python"):
        where = f"{document}:{block.line}"
        if ">>>" in block.body:
            example = doctest.DocTestParser().get_doctest(block.body, names, where, document, block.line)
            printed: list[str] = []
            doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(
                example, out=printed.append, clear_globs=False
            )
            assert not printed, "".join(printed)
            names |= example.globs
        else:
            exec(compile(block.body, where, "exec"), names)


@pytest.mark.parametrize("document", [document for document in DOCUMENTS if blocks(document, "toml")])
def test_settings_parse(document):
    for block in blocks(document, "toml"):
        tomllib.loads(block.body)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document):
    folder = (REPOSITORY / document).parent
    targets = [match["target"].partition("#")[0] for match in LINK.finditer((REPOSITORY / document).read_text(encoding="utf-8"))]
    assert [target for target in targets if target and "://" not in target and not (folder / target).exists()] == []


def test_every_example_says_how_it_is_run():
    run_somewhere = [first_fit(), *(command for document in DOCUMENTS for command in commands(document))]
    folders = sorted(path.name for path in (REPOSITORY / "examples").glob("*/"))
    assert [name for name in folders if not any(f"examples/{name}/" in command for command in run_somewhere)] == []
