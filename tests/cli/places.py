"""What the tests of the command line share: how a command is run in this process, and studies with closed-form answers."""

from pathlib import Path

import numpy as np
from typer.testing import CliRunner, Result

from kinetix.cli.app import app

R = 8.31446261815324
TANK = """\
schema = 1
title = "Consecutive reactions in a tank"

[reactions]
r1 = { equation = "A -> B", k = { start = "0.1 1/min", at = "350 K" }, Ea = { start = "60 kJ/mol" } }
r2 = { equation = "B -> C", k = { start = "0.05 1/min", at = "350 K" }, Ea = "80 kJ/mol" }

[reactor]
type = "cstr"

[conditions]
feed = { A = "1 mol/L", default = "0 mol/L" }

[data]
files = ["tank.csv"]
"""
BATCH = """\
schema = 1

[reactions]
r1 = { equation = "A -> B", k = "0.01 1/s" }

[reactor]
type = "batch"

[initial]
A = "2 mol/L"
B = "0 mol/L"

[simulate]
times = "0:300:61 s"
"""


def run(*arguments: object) -> Result:
    """`kinetix ARGUMENTS` in this process; an exception that the command lets out fails the test."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def errors(result: Result) -> list[str]:
    """The problems told on stderr; nothing else may stand there."""
    lines = result.stderr.splitlines()
    assert all(line.startswith(("error: ", "warning: ")) for line in lines), result.stderr
    return [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]


def write_tank(folder: Path, scatter: float = 0.002) -> Path:
    """A study with data of the tank: A = 1/(1 + k1 tau), B = k1 tau A/(1 + k2 tau); k1 = 0.2 and k2 = 0.07 1/min at 350 K, 70 and
    80 kJ/mol."""
    random = np.random.default_rng(20)
    rows = ["T [K],tau [min],A [mol/L],B [mol/L]"]
    for T in (330.0, 350.0, 370.0):
        k1, k2 = (k * np.exp(-Ea / R * (1 / T - 1 / 350)) for k, Ea in ((0.2, 70e3), (0.07, 80e3)))
        for tau in (2.0, 5.0, 10.0, 20.0):
            A = 1 / (1 + k1 * tau)
            B = k1 * tau * A / (1 + k2 * tau)
            rows.append(f"{T:g},{tau:g},{A + scatter * random.normal():.6f},{B + scatter * random.normal():.6f}")
    (folder / "tank.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    path = folder / "tank.toml"
    path.write_text(TANK, encoding="utf-8")
    return path
