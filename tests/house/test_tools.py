"""Lint, format, import contract and types: the tools run as a developer runs them, and a failure shows what they say."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
LINT_IMPORTS = str(Path(sysconfig.get_path("scripts")) / "lint-imports")

TOOLS = {
    "ruff check": [sys.executable, "-m", "ruff", "check", "--no-cache", "."],
    "ruff format": [sys.executable, "-m", "ruff", "format", "--no-cache", "--diff", "."],
    "import contract": [LINT_IMPORTS, "--no-cache", "--no-logo"],
    "types": [sys.executable, "-m", "pyright", "--pythonpath", sys.executable],
}


@pytest.mark.parametrize("tool", TOOLS)
def test_tool_is_content(tool):
    result = subprocess.run(TOOLS[tool], cwd=REPOSITORY, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if result.returncode:
        pytest.fail(f"{tool}:\n{result.stdout}{result.stderr}", pytrace=False)
