"""Benchmarks start, and the fits that they compare with are the same fits."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BENCHMARKS = REPOSITORY / "benchmarks"


def output(*command: str) -> str:
    result = subprocess.run([sys.executable, *command], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("program", [path.name for path in BENCHMARKS.glob("*.py")])
def test_a_benchmark_explains_itself(program):
    assert "--rounds" in output(str(BENCHMARKS / program), "--help")
    assert f"`{program}`" in (BENCHMARKS / "README.md").read_text(encoding="utf-8")


def test_the_peer_without_a_package_of_its_own_finds_the_published_constants():
    """5/6, 5/3 and 1/6000, rounded readings: as tests/examples/test_published.py for kinetix."""
    told = json.loads(output(str(BENCHMARKS / "peers" / "tank_scipy.py"), str(REPOSITORY / "examples/tank/data.csv")).splitlines()[-1])
    assert told["k"] == pytest.approx([5 / 6, 5 / 3, 1 / 6000], rel=1e-4)
    assert set(told["split"]) == {"import", "build", "run"}
