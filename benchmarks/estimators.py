"""Which estimator reaches the optimum from where, and what it costs: all of them from the same starts, with one compiled evaluation.

    python benchmarks/estimators.py [--starts 30] [--rounds 5] [--quick]

Fits are those of examples/tank, series and decomposition, from starts spread over three decades to either side of the given one
(energies over 20 to 200 kJ/mol), within the limits of sense that every fit has, and without the second search that a fit makes where a
start led nowhere. An optimum is the best that any method found from any start, to one part in a million of the sum of squares; one that
is claimed (a status that says so) and is not the best is counted by itself. Evaluations are of those that reached it. CPU time is that
of all starts, so that what is compiled on the way counts once.

Then the price of one gradient: chains of first-order reactions in a batch reactor with more and more constants, by a triangle (forward,
which all methods of least squares need) and by a value and gradient (in reverse from 32 constants on).
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from shared.surroundings import conclude, introduce

from kinetix.estimation import ESTIMATORS, Bounds, Options, Outcome, alike, estimator, fit
from kinetix.experiments import parse_table
from kinetix.io import read_study, read_tables
from kinetix.simulation import measured_responses
from kinetix.studies import Problem, build_problem, parse_study, to_be_fitted
from kinetix.studies.evaluator import Evaluator
from kinetix.studies.searching import parameter_sizes, search_options
from kinetix.studies.starting import search_limits, spread_starts

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
FITS = ("tank", "series", "decomposition")
CHAINS = (5, 10, 20, 40)


class Row(NamedTuple):
    """What a method did from all starts."""

    outcomes: list[Outcome]
    seconds: float


def problem_of(name: str) -> Problem:
    """The problem of an example."""
    _, raw = read_study(EXAMPLES / name / "study.toml")
    study = parse_study(raw, "study.toml")
    assert study.data is not None
    tables = read_tables(study.data.files, EXAMPLES / name, study.data.encoding, study.data.sheets, study.data.layout)
    return to_be_fitted(study, build_problem(study, tables, measured_responses))


def from_all(problem: Problem, evaluate: Evaluator, starts: np.ndarray, method: str) -> Row:
    """The fits by a method."""
    began = time.process_time()
    outcomes = []
    for start in starts:
        table = problem.table.started(start)
        (lower, upper), edges = table.free_bounds(), search_limits(table)
        box = Bounds(np.maximum(lower, edges.lower), np.minimum(upper, edges.upper)) if estimator(method).bounded else None
        options = Options(tolerances=search_options(problem).tolerances)
        outcomes.append(fit(evaluate.triangle, table.free_start(), box, options, sizes=parameter_sizes(table), method=method))
    return Row(outcomes, time.process_time() - began)


def compare(name: str, count: int) -> None:
    """Prints what all methods did with one example."""
    problem = problem_of(name)
    evaluate = Evaluator(problem)
    starts = np.vstack([problem.table.start, spread_starts(problem, count - 1)])
    rows = {method: from_all(problem, evaluate, starts, method) for method in ESTIMATORS}
    tolerances = search_options(problem).tolerances
    best = min(outcome.ssr for row in rows.values() for outcome in row.outcomes if outcome.status.ok)
    print(f"\n{name}: {len(problem.table.free)} parameters, {int(np.count_nonzero(problem.weights))} values, {count} starts\n")
    print(
        "| method | reached the best optimum | claimed another | said that it failed | evaluations, median (most) | CPU s of all starts |"
    )
    print("|---|---|---|---|---|---|")
    for method, (outcomes, seconds) in rows.items():
        ended = [outcome for outcome in outcomes if outcome.status.ok]
        reached = [outcome.evaluations for outcome in ended if alike(best, outcome.ssr, tolerances)]
        cost = f"{statistics.median(reached):.0f} ({max(reached)})" if reached else ""
        print(f"| {method} | {len(reached)} | {len(ended) - len(reached)} | {count - len(ended)} | {cost} | {seconds:.1f} |")


def chain(reactions: int) -> Problem:
    """A batch reactor with so many first-order reactions in a row, at three temperatures; every constant and energy is estimated."""
    names = [f"A{i}" for i in range(reactions + 1)]
    sections = {
        f"r{i}": {
            "equation": f"{names[i]} -> {names[i + 1]}",
            "k": {"start": f"{0.5 + 0.1 * (i % 5):g} 1/min", "at": "330 K"},
            "Ea": {"start": "60 kJ/mol"},
        }
        for i in range(reactions)
    }
    study = {
        "schema": 1,
        "formulas": False,
        "reactions": sections,
        "reactor": {"type": "batch"},
        "initial": {"A0": "1 mol/L", "default": "0 mol/L"},
        "data": {"files": ["chain.csv"]},
    }
    rows = "".join(f"{run},{T},{t},{np.exp(-0.1 * t):.6g}\n" for run, T in enumerate((320, 330, 340)) for t in (1, 2, 5, 10, 20))
    table = parse_table(f"run,T [K],time [min],{names[-1]} [mol/L]\n{rows}", "chain.csv")
    return build_problem(parse_study(study, "chain"), [table], measured_responses)


def price(reactions: int, rounds: int) -> None:
    """Prints CPU time of a triangle and of a gradient, after a first call."""
    problem = chain(reactions)
    evaluate, theta = Evaluator(problem), problem.table.free_start()
    R, _ = evaluate.triangle(theta)
    began = time.process_time()
    _, gradient, _ = evaluate.by_gradient(theta)
    compiling = time.process_time() - began
    expected = R[:-1, -1] @ R[:-1, :-1]
    if not np.allclose(gradient, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max()):
        raise SystemExit(f"gradients of {reactions} reactions differ: {np.asarray(gradient)} and {expected}")
    seconds: dict[str, list[float]] = {"triangle": [], "gradient": []}
    for _ in range(rounds):
        for name, call in (("triangle", evaluate.triangle), ("gradient", lambda theta: np.asarray(evaluate.by_gradient(theta)[1]))):
            began = time.process_time()
            call(theta)
            seconds[name].append(time.process_time() - began)
    forward, reverse = (1e3 * statistics.median(found) for found in seconds.values())
    chosen = "reverse" if evaluate.reverse_pays else "forward"
    print(
        f"| {len(problem.table.free)} | {forward:.1f} | {reverse:.1f} | {forward / reverse:.2f} | {evaluate.compile_seconds:.0f} |"
        f" {compiling:.0f} | {chosen} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="of the price of a gradient")
    parser.add_argument("--starts", type=int, default=30)
    parser.add_argument("--parts", nargs="+", choices=("starts", "gradient"), default=("starts", "gradient"))
    parser.add_argument("--quick", action="store_true", help="only whether it runs")
    wishes = parser.parse_args()
    load = introduce()
    if "starts" in wishes.parts:
        for name in FITS[:1] if wishes.quick else FITS:
            compare(name, 2 if wishes.quick else wishes.starts)
    if "gradient" in wishes.parts:
        print("\n| constants | triangle, ms CPU | value and gradient, ms CPU | ratio | compiling, s | compiling, s CPU | chosen |")
        print("|---|---|---|---|---|---|---|")
        for reactions in CHAINS[:1] if wishes.quick else CHAINS:
            price(reactions, 1 if wishes.quick else wishes.rounds)
    conclude(load)


if __name__ == "__main__":
    main()
