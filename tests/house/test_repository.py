"""The files of the repository: nothing in them belongs to one machine."""

import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

MACHINE_PATH = re.compile(r"(?<![\w.~])/(work|tmp|root|farm|home/[a-z]\w*|Users/[A-Za-z]\w*)/|\b[A-Z]:\\\\?(Users|Temp)")
REGISTRY = re.compile(r"\b(pypi\.org|files\.pythonhosted|pythonhosted\.org|registry\.npmjs|deb\.debian|index-url|find-links)\b")


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Every text file that git tracks or would track, by its path."""
    listing = subprocess.run(
        ["git", "-c", f"safe.directory={REPOSITORY}", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode:
        pytest.skip("not a git checkout: there is no list of tracked files")
    found = {}
    for name in filter(None, listing.stdout.split("\0")):
        path = REPOSITORY / name
        content = path.read_bytes() if path.is_file() else b""
        if b"\0" not in content:
            found[name] = content.decode("utf-8", errors="replace")
    return found


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY], ids=["machine paths", "registry addresses"])
def test_nothing_names_a_machine(texts, pattern):
    own = Path(__file__).relative_to(REPOSITORY).as_posix()
    wrong = [
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in texts.items()
        if name != own
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]
    assert wrong == []


def test_the_top_level_is_what_was_agreed(texts):
    files = {"README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "pyproject.toml", "docs/contributing.md", "docs/decisions.md"}
    folders = {name.partition("/")[0] for name in texts if "/" in name and not name.startswith(".")}
    assert files <= set(texts)
    assert folders <= {"kinetix", "tests", "benchmarks", "examples", "docs"}
