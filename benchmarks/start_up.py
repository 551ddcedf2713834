"""From the shell to the printed answer: the smallest example, beside other tools that do the same fit in the same run.

    python benchmarks/start_up.py [--rounds 5] [--peers PYTHON]

Every round starts each program once, one after the other, so that a change of the machine's load meets all of them. Printed are medians of
the rounds (with the smallest and the largest), where the time of kinetix goes, and ratios to lmfit + SciPy. A tool that is not installed is
said and left out. A tool that finds other rate constants than kinetix ends the run: it would not be the same fit.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from shared.surroundings import conclude, introduce, version_of

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "examples" / "tank"
PARTS = ("import", "trace", "compile", "run")
SAME = 1e-5  # relative difference of rate constants up to which it is the same answer

PEERS = {
    "lmfit + SciPy": ("tank_lmfit.py", "lmfit", "lmfit"),
    "SciPy, balances by hand": ("tank_scipy.py", "scipy", "scipy"),
    "COPASI (basico)": ("tank_copasi.py", "basico", "copasi-basico"),
}
"""Name -> program, the package it imports, what pip calls it."""
REFERENCE = "lmfit + SciPy"


@dataclass
class Case:
    """What a program took, round by round, in seconds."""

    printed: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    parts: list[dict[str, float]] = field(default_factory=list)
    constants: list[float] = field(default_factory=list)


def timed(command: list[str], environment: dict[str, str], mark: str | None) -> tuple[float, float, float, list[str]]:
    """Seconds until the table that begins with `mark` is printed (None: until the end), until the end, of CPU; and the lines printed."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, text=True)
        lines: list[str] = []
        printed = None
        for line in process.stdout or ():
            lines.append(line.rstrip("\n"))
            if printed is None and mark is not None and not lines[-1] and any(text.startswith(mark) for text in lines):
                printed = time.perf_counter() - began
        code = process.wait()
        ended = time.perf_counter() - began
        if code:
            errors.seek(0)
            raise SystemExit(f"{' '.join(command)} ended with {code}:\n{errors.read()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ended if printed is None else printed, ended, cpu, lines


def run_kinetix(case: Case, cache: Path) -> None:
    """One fit with the compile cache in this folder."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "kinetix", "fit", str(EXAMPLE / "study.toml"), "--out", out]
        printed, ended, cpu, _ = timed(command, os.environ | {"KINETIX_CACHE": str(cache)}, "Parameter ")
        summary = json.loads((Path(out) / "summary.json").read_text(encoding="utf-8"))
    case.printed.append(printed)
    case.ended.append(ended)
    case.cpu.append(cpu)
    case.parts.append({part: summary["provenance"][f"{part}_seconds"] for part in PARTS})
    case.constants = [summary["parameters"][f"r{i}.k"]["value"] for i in (1, 2, 3)]


def run_peer(case: Case, program: str, python: str) -> None:
    """One fit by another tool; its last line is JSON."""
    printed, ended, cpu, lines = timed([python, str(HERE / "peers" / program), str(EXAMPLE / "data.csv")], dict(os.environ), None)
    told = json.loads(lines[-1])
    case.printed.append(printed)
    case.ended.append(ended)
    case.cpu.append(cpu)
    case.parts.append(told["split"])
    case.constants = told["k"]


def measure(rounds: int, python: str) -> dict[str, Case]:
    """All cases, round by round."""
    found: dict[str, str | None] = {name: version_of(python, module) for name, (_, module, _) in PEERS.items()}
    for name, version in found.items():
        print(f"{name}: {version or f'not installed, left out (pip install {PEERS[name][2]})'}")
    cases = {"kinetix, empty cache": Case(), "kinetix, warm cache": Case()} | {name: Case() for name, version in found.items() if version}
    with tempfile.TemporaryDirectory() as warm:
        run_kinetix(Case(), Path(warm))
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as empty:
                run_kinetix(cases["kinetix, empty cache"], Path(empty))
            run_kinetix(cases["kinetix, warm cache"], Path(warm))
            for name, version in found.items():
                if version:
                    run_peer(cases[name], PEERS[name][0], python)
    return cases


def check_same_answer(cases: dict[str, Case]) -> None:
    """Ends the run where two tools did not find the same rate constants."""
    expected = cases["kinetix, warm cache"].constants
    for name, case in cases.items():
        worst = max(abs(value / true - 1) for value, true in zip(case.constants, expected, strict=True))
        if worst > SAME:
            raise SystemExit(f"{name} found {case.constants}, kinetix {expected}: not the same fit (relative difference {worst:.2g}).")


def show(cases: dict[str, Case]) -> None:
    """Tables for people."""
    reference = statistics.median(cases[REFERENCE].printed) if REFERENCE in cases else None
    width = max(len(name) for name in cases)
    print(f"\n{'seconds':{width}}  answer printed (range)  ratio to {REFERENCE}  everything written   CPU")
    for name, case in cases.items():
        printed, ended, cpu = (statistics.median(values) for values in (case.printed, case.ended, case.cpu))
        ratio = f"{printed / reference:.2f}" if reference else "-"
        spread = f"{printed:.2f} ({min(case.printed):.2f} to {max(case.printed):.2f})"
        print(f"{name:{width}}  {spread:22}  {ratio:>{9 + len(REFERENCE)}}  {ended:18.2f}  {cpu:4.2f}")
    print("\nwhere the time until the answer goes, medians")
    for name, case in cases.items():
        parts = {part: statistics.median(one[part] for one in case.parts) for part in case.parts[0]}
        parts["rest (interpreter, reading, printing)"] = statistics.median(case.printed) - sum(parts.values())
        print(f"{name:{width}}  {', '.join(f'{part} {seconds:.2f}' for part, seconds in parts.items())}")


def main() -> None:
    """Reads the options, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each program is started (default 5)")
    parser.add_argument(
        "--peers", default=sys.executable, metavar="PYTHON", help="interpreter that has the other tools (default: this one)"
    )
    wanted = parser.parse_args()
    load = introduce()
    cases = measure(wanted.rounds, wanted.peers)
    check_same_answer(cases)
    show(cases)
    conclude(load)


if __name__ == "__main__":
    main()
