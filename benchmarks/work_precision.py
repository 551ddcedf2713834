"""What a digit costs: error against steps and CPU time of kinetix's Rodas5P, SciPy's Radau and SciPy's LSODA on two stiff problems.

    python benchmarks/work_precision.py [--rounds 5] [--quick] [--picture docs/images/work_precision.png]

Every solver gets the same relative tolerance, from 1e-3 to 1e-11, and a thousandth of it of each component's scale as the absolute one. The
error is the largest relative one of any component at the end. The reference is Radau at rtol 1e-12, and the program ends where kinetix at
1e-12 does not confirm it. Steps are accepted ones and do not depend on the machine; CPU time is the least of the rounds, kinetix compiled
beforehand, SciPy with the equations and its Jacobian by differences in plain Python.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp
from shared.stiff_problems import HIRES, ROBERTSON, StiffProblem
from shared.surroundings import conclude, introduce

from kinetix.precision import float64
from kinetix.solvers import Options, integrate

RTOLS = tuple(10.0**-digits for digits in range(3, 12))
SHARE = 1e-3  # absolute tolerance over rtol times the scale of a component
CONFIRMED = 1e-8  # relative difference of kinetix at 1e-12 to the reference


class Point(NamedTuple):
    """One solve: relative tolerance, largest relative error, accepted steps, CPU time in ms."""

    rtol: float
    error: float
    steps: int
    cpu: float


Solve = Callable[[float], tuple[np.ndarray, int]]
"""From rtol to the state at the end and the accepted steps."""


def kinetix_of(problem: StiffProblem) -> Solve:
    @jax.jit
    def run(y0: Any, parameter: Any, end: Any, options: Options) -> Any:
        return integrate(problem.system, y0, parameter, end, options=options)

    def solve(rtol: float) -> tuple[np.ndarray, int]:
        with float64():
            options = Options(rtol=rtol, atol=jnp.asarray(SHARE * rtol * np.array(problem.scales)), max_steps=100_000)
            found = run(jnp.asarray(problem.y0), problem.parameter, jnp.asarray([problem.end]), options)
            if int(found.status) != 0:
                raise SystemExit(f"kinetix failed on {problem.name} at rtol {rtol:g}: status {int(found.status)}")
            return np.asarray(found.y[0]), int(found.steps)

    return solve


def scipy_of(method: str, problem: StiffProblem) -> Solve:
    def solve(rtol: float) -> tuple[np.ndarray, int]:
        atol = SHARE * rtol * np.array(problem.scales)
        found = solve_ivp(problem.rates, (0.0, problem.end), problem.y0, method=method, rtol=rtol, atol=atol)
        return (found.y[:, -1], found.t.size - 1) if found.success else (np.full(len(problem.y0), np.nan), 0)

    return solve


SOLVERS = {
    "kinetix Rodas5P": kinetix_of,
    "SciPy Radau": lambda problem: scipy_of("Radau", problem),
    "SciPy LSODA": lambda problem: scipy_of("LSODA", problem),
}


def largest(y: np.ndarray, reference: np.ndarray) -> float:
    return float(np.max(np.abs(y - reference) / np.abs(reference)))


def measured(solve: Solve, rtol: float, reference: np.ndarray, rounds: int) -> Point:
    solve(rtol)  # compiles
    least = np.inf
    for _ in range(rounds):
        began = time.process_time()
        y, steps = solve(rtol)
        least = min(least, time.process_time() - began)
    return Point(rtol, largest(y, reference), steps, 1e3 * least)


def reference_of(problem: StiffProblem) -> np.ndarray:
    reference, _ = scipy_of("Radau", problem)(1e-12)
    confirmation, _ = kinetix_of(problem)(1e-12)
    away = largest(confirmation, reference)
    print(f"\n{problem.name} to t = {problem.end:g}: kinetix at rtol 1e-12 is {away:.1e} away from Radau at 1e-12")
    if not away < CONFIRMED:
        raise SystemExit(f"{problem.name}: the references differ by {away:.1e}, more than {CONFIRMED:g}")
    return reference


def table(found: dict[str, list[Point]]) -> str:
    names = list(found)
    lines = ["| rtol | " + " | ".join(f"{name}: error, steps, CPU ms" for name in names) + " |", "|---|" + "---|" * len(names)]
    for points in zip(*found.values(), strict=True):
        cells = [f"{p.error:.1e}, {p.steps}, {p.cpu:.2g}" if np.isfinite(p.error) else "failed" for p in points]
        lines.append(f"| {points[0].rtol:.0e} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(results: dict[str, dict[str, list[Point]]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(results), 2, figsize=(9.0, 3.6 * len(results)), sharey="row", squeeze=False, layout="constrained")
    for row, (name, found) in zip(axes, results.items(), strict=True):
        for axis, quantity, label in zip(row, ("steps", "cpu"), ("accepted steps", "CPU time, ms"), strict=True):
            for (solver, points), marker in zip(found.items(), "osv", strict=True):
                well = [p for p in points if np.isfinite(p.error)]
                axis.loglog([getattr(p, quantity) for p in well], [p.error for p in well], marker=marker, markersize=4, label=solver)
            axis.set_xlabel(label)
            axis.grid(alpha=0.3)
        row[0].set_ylabel(f"{name}\nlargest relative error at the end")
    axes[0, 0].legend(frameon=False)
    figure.savefig(path, dpi=110)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="solves of each kind; the least CPU time counts")
    parser.add_argument("--quick", action="store_true", help="three tolerances only: whether it runs")
    parser.add_argument("--picture", type=Path, help="where to draw error against work")
    said = parser.parse_args(words)
    load = introduce()
    rtols = RTOLS[::3] if said.quick else RTOLS
    results = {}
    for problem in (ROBERTSON, HIRES):
        reference = reference_of(problem)
        solvers = {name: of(problem) for name, of in SOLVERS.items()}
        results[problem.name] = {name: [measured(solve, rtol, reference, said.rounds) for rtol in rtols] for name, solve in solvers.items()}
        print(f"\n{table(results[problem.name])}")
    if said.picture:
        draw(results, said.picture)
        print(f"\nDrawn to {said.picture}")
    conclude(load)


if __name__ == "__main__":
    main()
