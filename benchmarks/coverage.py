"""How often 95 % intervals hold the truth: standard errors, profiles and bootstrap on simulated data of three studies.

    python benchmarks/coverage.py [--sets 500] [--draws 400] [--picked tank batch asymptote] [--quick]

A set is what a study predicts at known constants plus normal errors of the size that it states, with a seed of its own. Each is fitted,
and counted is whether the interval of each constant holds the truth: by standard errors (t), by profile (the truth is held, the rest
refitted: inside where |tau| <= q), and by percentiles of a residual bootstrap. Of 500 sets an exact interval holds it in 93 to 97 %, 19
times out of 20.

Two studies are close to linear: a stirred tank with two Arrhenius reactions, and consecutive reactions in a batch. In the third, readings
that hardly reach the plateau of a first-order rise, the model is far from linear, and the standard errors need not be believed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from shared.surroundings import introduce

from kinetix.analyses.bootstrap import data_sets, percentiles
from kinetix.analyses.covariance import linear_covariance, quantile
from kinetix.estimation import Bounds, Refits, fit, refit_all
from kinetix.experiments import parse_table
from kinetix.studies import build_problem, parse_study
from kinetix.studies.evaluator import Data, Evaluator
from kinetix.studies.searching import parameter_sizes, search_options


@dataclass(frozen=True)
class Trial:
    """A study whose starts are the truth, the conditions of its readings as a table, and the standard deviation of an error."""

    name: str
    study: Mapping[str, Any]
    table: str
    sigma: float


def rows(header: str, *values: Any) -> str:
    return "\n".join([header, *(",".join(f"{value:g}" for value in row) for row in zip(*values, strict=True))])


def trials() -> Iterator[Trial]:
    T, tau = (grid.ravel() for grid in np.meshgrid([330.0, 345.0, 360.0], [1.0, 2.0, 4.0, 8.0]))
    tank = {
        "reactions": {
            "r1": {"equation": "A -> B", "k": {"start": "0.3 1/min", "at": "345 K"}, "Ea": {"start": "60 kJ/mol"}},
            "r2": {"equation": "2 B -> C", "k": {"start": "0.2 L/mol/min", "at": "345 K"}, "Ea": {"start": "80 kJ/mol"}},
        },
        "reactor": {"type": "cstr"},
        "conditions": {"feed": {"A": "1 mol/L", "default": "0 mol/L"}},
    }
    yield Trial("tank", tank, rows("T [K],tau [min],A [mol/L],B [mol/L]", T, tau, 0 * T, 0 * T), 0.01)
    t = np.array([0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0])
    batch = {
        "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.5 1/min"}}, "r2": {"equation": "B -> C", "k": {"start": "0.2 1/min"}}},
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "default": "0 mol/L"},
    }
    yield Trial("batch", batch, rows("time [min],A [mol/L],B [mol/L]", t, 0 * t, 0 * t), 0.02)
    x = np.linspace(0.5, 4.0, 10)
    asymptote = {
        "model": {"y": "a*(1 - exp(-b*x))"},
        "parameters": {"a": {"start": "2 -"}, "b": {"start": "0.25 -"}},
        "data": {"dimensionless": True},
    }
    yield Trial("asymptote", asymptote, rows("x,y", x, 0 * x), 0.03)


def covered(trial: Trial, sets: int, draws: int) -> Iterator[tuple[str, dict[str, float], int]]:
    """By parameter the share of sets whose interval holds the truth, by kind of interval; and how many sets had no answer."""
    parsed = parse_study({"schema": 1, **trial.study, "data": {**trial.study.get("data", {}), "files": ["table.csv"]}}, trial.name)
    problem = build_problem(parsed, [parse_table(trial.table, "table.csv")])
    problem.weights[:] = 1.0 / np.array([unit.scale_to_si(1.0) for unit in problem.units])
    evaluator = Evaluator(problem)
    truth = problem.table.free_start()
    predicted = evaluator(truth).values
    measured = problem.weights > 0
    tolerances, sizes = search_options(problem).tolerances, parameter_sizes(problem.table)
    n, p = np.count_nonzero(measured), truth.size
    q = quantile(0.95, n - p)

    def refits(starts: np.ndarray, held: int | None, data: list[Data]) -> Refits:
        lower, upper = np.full(starts.shape, -np.inf), np.full(starts.shape, np.inf)
        if held is not None:
            lower[:, held] = upper[:, held] = truth[held]
            starts = np.clip(starts, lower, upper)
        return refit_all(
            lambda which, theta: evaluator.triangles(theta, [data[i] for i in which]),
            lambda i, start, box: fit(lambda theta: evaluator.triangle(theta, data[i]), start, box, sizes=sizes),
            starts,
            Bounds(lower, upper),
            tolerances,
        )

    errors = [np.random.default_rng((1, number)).standard_normal(predicted.shape) * trial.sigma / problem.weights for number in range(sets)]
    observed = [predicted + error for error in errors]
    data = [evaluator.placed(one, problem.weights) for one in observed]
    found = refits(np.repeat(truth[None], sets, axis=0), None, data)
    good = np.flatnonzero(found.ok & np.isfinite(found.theta).all(axis=1))
    s = np.sqrt(found.ssr / (n - p))
    inside: dict[str, np.ndarray] = {}
    linear = [linear_covariance(found.R[i], n_observations=n, trusted=False) for i in good]
    inside["standard errors"] = np.array([np.abs(found.theta[i] - truth) <= q * one.stderr for i, one in zip(good, linear, strict=True)])
    tau = []
    for held in range(p):
        fixed = refits(found.theta[good], held, [data[i] for i in good])
        tau.append(np.sqrt(np.maximum(fixed.ssr - found.ssr[good], 0.0)) / s[good])
    inside["profile"] = np.transpose(tau) <= q
    if draws:
        hits = []
        for i in good:
            values = evaluator(found.theta[i]).values
            drawn = data_sets("residual", draws, int(i), observed[i], values, problem.weights, s[i], p)
            again = refits(np.repeat(found.theta[i][None], draws, axis=0), None, [evaluator.placed(*one) for one in drawn])
            low, high = percentiles(again.theta)
            hits.append((low <= truth) & (truth <= high))
        inside["bootstrap"] = np.array(hits)
    for j, name in enumerate(np.array(problem.table.names)[problem.table.free]):
        yield str(name), {kind: float(held[:, j].mean()) for kind, held in inside.items()}, sets - len(good)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=500, help="simulated data sets of each study (500)")
    parser.add_argument("--draws", type=int, default=400, help="refits of each bootstrap, 0 for none (400)")
    parser.add_argument("--picked", nargs="+", default=["tank", "batch", "asymptote"], help="which studies")
    parser.add_argument("--quick", action="store_true", help="40 sets, no bootstrap: whether it runs")
    asked = parser.parse_args()
    sets, draws = (40, 0) if asked.quick else (asked.sets, asked.draws)
    introduce()
    kinds = ["standard errors", "profile", *(["bootstrap"] if draws else [])]
    print(f"Share of {sets} simulated data sets whose 95 % interval holds the truth\n")
    print(f"| study | constant | {' | '.join(kinds)} | without an answer |")
    print(f"|---|---|{'---|' * len(kinds)}---|")
    began = time.perf_counter()
    for trial in trials():
        if trial.name in asked.picked:
            for name, share, lost in covered(trial, sets, draws):
                print(f"| {trial.name} | {name} | {' | '.join(f'{100 * share[kind]:.1f} %' for kind in kinds)} | {lost} |", flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
