"""Benchmarks start, and the fits that they compare with are the same fits."""

import json
import re
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
    assert f"benchmarks/{program}" in output(str(BENCHMARKS / program), "--help")
    assert f"`{program}`" in (BENCHMARKS / "README.md").read_text(encoding="utf-8")


def test_the_peer_without_a_package_of_its_own_finds_the_published_constants():
    """5/6, 5/3 and 1/6000, rounded readings: as tests/examples/test_published.py for kinetix."""
    told = json.loads(output(str(BENCHMARKS / "peers" / "tank_scipy.py"), str(REPOSITORY / "examples/tank/data.csv")).splitlines()[-1])
    assert told["k"] == pytest.approx([5 / 6, 5 / 3, 1 / 6000], rel=1e-4)
    assert set(told["split"]) == {"import", "build", "run"}


def quick(*parts: str) -> str:
    return output(str(BENCHMARKS / "ensembles.py"), "--quick", "--rounds", "1", "--parts", *parts)


@pytest.mark.slow
def test_ensembles_find_the_same_states_and_slopes():
    """The program itself ends where Radau, a peer or a central difference disagrees; here what it says is read, without the clock."""
    told = quick("batch", "sensitivities", "times", "order", "laws")
    assert float(re.search(r"Radau on 1 lanes differs by (\S+) tolerances", told)[1]) < 1e-2
    assert re.search(r"^numbalsoda LSODA, 2 threads: (not installed, left out \(pip install numbalsoda\)|\S+)", told, re.MULTILINE)
    rows = re.findall(r"^(kinetix|SciPy LSODA, loop) .* (128|2)   (\S+), (\S+)$", told, re.MULTILINE)
    (_, _, median, p99), (_, _, loop_median, _) = rows
    assert float(median) < float(p99) < 1
    assert float(loop_median) < 100
    lost = [float(share) for share in re.findall(r"(\S+)%$", told, re.MULTILINE)]
    assert len(lost) == 3
    assert lost[0] > lost[2] >= 0
    for law in ("inhibited", "adiabatic"):
        assert re.search(rf"^kinetix, {law} ", told, re.MULTILINE)
        assert float(re.search(rf"^SciPy LSODA, loop, {law} .* (\S+)$", told, re.MULTILINE)[1]) < 100
    for goal in ("p99 of error/tolerance", "8 sensitivities / kinetix", "2 times / kinetix", "sorted / as given", "lane-steps lost"):
        assert re.search(rf"^goal: .*{goal}.*: (met|MISSED)$", told, re.MULTILINE), goal


@pytest.mark.slow
def test_first_calls_of_ensembles_are_taken_apart():
    told = quick("first", "sizes")
    for row in ("empty cache", "warm cache", " 3 species"):
        assert re.search(rf"^{row} .*: trace \S+, compile \S+, run \S+; CPU \S+; before that, import \S+$", told, re.MULTILINE), row
    assert len(re.findall(r"^goal: trace and compile", told, re.MULTILINE)) == 2


@pytest.mark.slow
def test_each_digit_costs_more_steps_and_all_solvers_find_the_same_states():
    """Steps and errors, which do not depend on the clock: the error follows the tolerance, Radau and LSODA end where kinetix does."""
    told = output(str(BENCHMARKS / "work_precision.py"), "--quick", "--rounds", "1")
    rows = re.findall(r"^\| (1e-\d\d) \| (.*) \|$", told, re.MULTILINE)
    assert [rtol for rtol, _ in rows] == ["1e-03", "1e-06", "1e-09"] * 2
    for first in (0, 3):
        solves = [[cell.split(", ") for cell in cells.split(" | ")] for _, cells in rows[first : first + 3]]
        for solver in range(3):
            errors, steps = ([float(row[solver][i]) for row in solves] for i in (0, 1))
            assert errors[0] > errors[1] > errors[2] and steps[0] < steps[1] < steps[2]
            assert errors[2] < 1e-5


@pytest.mark.slow
def test_tanks_are_found_by_all_that_are_there():
    """The program itself ends where a balance or a central difference disagrees."""
    told = output(str(BENCHMARKS / "tanks.py"), "--quick", "--rounds", "1")
    assert len(re.findall(r"derivatives within \S+ of central differences", told)) == 2
    rows = re.findall(r"^(kinetix|SciPy fsolve, loop)  .* (100\.000|\d+\.\d+)%   (\S+)$", told, re.MULTILINE)
    assert [name for name, _, _ in rows] == ["kinetix", "SciPy fsolve, loop"] * 2
    assert all(float(apart) < 1e-8 for _, _, apart in rows)
    assert len(re.findall(r"^goal: kinetix, share of the tanks found, .*: met$", told, re.MULTILINE)) == 2
