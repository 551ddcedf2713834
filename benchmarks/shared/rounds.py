"""Solvers taking turns: each round runs every one of them once, so that a change of the machine's load meets all."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

PEERS = Path(__file__).resolve().parent.parent / "peers"


class Peer(NamedTuple):
    """Another tool: its program, the package it imports, what pip calls it, its tolerances, a name of its method."""

    program: str
    module: str
    package: str
    rtol: float
    atol: float
    method: tuple[str, ...] = ()


@dataclass
class Case:
    """One solver: how it is run once, giving seconds of CPU and wall; what it took, microseconds per system."""

    lanes: int
    once: Callable[[], tuple[float, float]]
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def run(self) -> None:
        cpu, wall = self.once()
        self.cpu.append(1e6 * cpu / self.lanes)
        self.wall.append(1e6 * wall / self.lanes)


Cases = dict[str, Case]


def here(program: Any, *arguments: Any) -> Callable[[], tuple[float, float]]:
    """Runs a program of this process, arguments on the device already."""
    ready = jax.tree.map(jnp.asarray, arguments)
    return timed(lambda: jax.block_until_ready(program(*ready)))


def timed(run: Callable[[], Any]) -> Callable[[], tuple[float, float]]:
    """Seconds of CPU and wall of a call, after a first one."""

    def once() -> tuple[float, float]:
        cpu, wall = time.process_time(), time.perf_counter()
        run()
        return time.process_time() - cpu, time.perf_counter() - wall

    once()
    return once


class Elsewhere:
    """A peer in a process of its own, which waits between rounds."""

    def __init__(self, python: str, peer: Peer, problem: Path, lanes: int) -> None:
        self.answer = problem.with_name(f"{peer.program}-{peer.rtol}-{'-'.join(peer.method)}.npy")
        self.errors = self.answer.with_suffix(".txt")
        tolerances = (str(peer.rtol), str(peer.atol))
        command = [python, str(PEERS / peer.program), str(problem), str(self.answer), str(lanes), *tolerances, *peer.method]
        with self.errors.open("w") as stderr:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.line()

    def line(self) -> str:
        """The next line printed."""
        text = self.process.stdout.readline() if self.process.stdout else ""
        if not text:
            code = self.process.wait()
            raise SystemExit(f"{' '.join(map(str, self.process.args))} ended with {code}:\n{self.errors.read_text()}")
        return text

    def once(self) -> tuple[float, float]:
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        told = json.loads(self.line())
        return told["cpu"], told["wall"]

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


def spread(values: list[float], digits: int = 1) -> str:
    """Median and range."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def goal(what: str, value: float, *, at_least: float | None = None, at_most: float | None = None) -> None:
    """One line: what was measured, what was wanted."""
    met = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
    wanted = f"at least {at_least:g}" if at_least is not None else f"at most {at_most:g}"
    print(f"goal: {what}: {value:.3g}, {wanted}: {'met' if met else 'MISSED'}")


def relative(title: str, cases: Cases, name: str, reference: str, *, at_most: float) -> None:
    """One case beside the one it is relative to."""
    print(f"\n{title}\nCPU us/system: {name} {spread(cases[name].cpu)}, {reference} {spread(cases[reference].cpu)}")
    goal(f"{name} / {reference}, CPU", statistics.median(cases[name].cpu) / statistics.median(cases[reference].cpu), at_most=at_most)
