"""What every benchmark says of its surroundings, since figures mean nothing without: date, machine, load, versions."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime

BUSY = 0.7  # load average of one minute above which the figures are for orientation only


def introduce() -> float:
    """Prints the first lines; the load of the machine."""
    load = os.getloadavg()[0]
    print(
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, load {load:.2f}"
    )
    print(f"kinetix: {version_of(sys.executable, 'kinetix')}, jax {version_of(sys.executable, 'jax')}")
    return load


def conclude(load: float) -> None:
    """Prints whether the figures count, by the load when it began."""
    if load > BUSY:
        print(f"\nThe machine was busy when this began (load {load:.2f}): for orientation only.")


def version_of(python: str, module: str) -> str | None:
    """The version of an installed package, None where it cannot be imported."""
    program = f"import {module}; print(getattr({module}, '__version__', 'version unknown'))"
    result = subprocess.run([python, "-c", program], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return result.stdout.strip() if result.returncode == 0 else None
