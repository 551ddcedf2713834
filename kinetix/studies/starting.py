"""Starts of parameters: for those without one found from the data, and more of them where an optimum is looked for from many.

The unit of a constant fixes its size: with a typical concentration c, partial pressure p and rate r of the data, a constant of
dimension r^a c^b p^d is of the order of r^a c^b p^d; one of deactivation is of the order of one over a typical time on stream. Trial
points are spread over three decades about that size, activation energies over 20 to 200 kJ/mol, orders over 0 to 3, by a seeded Latin
hypercube (McKay, Beckman and Conover, Technometrics 21 (1979) 239). The best few are refined by the estimator, and the best of those is
the answer.

Further starts, where they are asked for, are spread by the same hypercube over the bounds of each parameter, or without bounds over
`range_about`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import ParameterError, Problems
from kinetix.estimation import Bounds, latin_hypercube
from kinetix.parameters import Parameter, ParameterTable
from kinetix.rates import ON_STREAM
from kinetix.rates.deactivation import CONSTANTS, KD, Deactivating
from kinetix.simulation import ReactorModel
from kinetix.studies.problem import Problem
from kinetix.units import CONCENTRATION, MOLAR_ENERGY, PRESSURE, Dimension, example_unit

SEED = 20_26
TRIALS, TRIALS_PER_PARAMETER, REFINED = 32, 16, 8
APART = 0.15
"""Share of a range by which refined starts differ at least, so that they do not all lead into one valley."""
DECADES = 3.0
ENERGIES = (20e3, 200e3)
ENTHALPIES = (-150e3, 150e3)
ORDERS = (0.0, 3.0)
ABOUT = 2.0
"""Times its size by which a linear parameter without bounds is changed to either side of its start."""

FARTHEST_DECADES = 40.0
FARTHEST_ENERGY = 2e6
"""Where a search stops that no bound stops: so many decades from the start of what is fitted as a logarithm, so many J/mol."""


@dataclass(frozen=True)
class Multistart:
    """From how many starts an optimum is looked for.

    Attributes:
        number: of starts; None for one where the starts are given, and for some that are found in the data where they are not.
        seed: of the starts that are found or spread.

    Raises:
        ParameterError: a number below 1, a seed below 0.
    """

    number: int | None = None
    seed: int = SEED

    def __post_init__(self) -> None:
        problems = Problems()
        if self.number is not None and not (isinstance(self.number, int) and not isinstance(self.number, bool) and self.number >= 1):
            problems.add(f"starts = {self.number!r}: expected a whole number from 1 on, such as 100.")
        if not (isinstance(self.seed, int) and not isinstance(self.seed, bool) and self.seed >= 0):
            problems.add(f"seed = {self.seed!r}: expected a whole number from 0 on, such as {SEED}.")
        problems.raise_if_any(ParameterError)


AS_GIVEN = Multistart()


class Range(NamedTuple):
    """Where the starts of one parameter are looked for, in its fit coordinate (ln where the scale is log)."""

    lower: float
    upper: float


def missing(table: ParameterTable) -> np.ndarray:
    """Positions of the parameters without a start, (missing,)."""
    return np.flatnonzero(np.isnan(table.start))


class Trials(NamedTuple):
    """Trial starts of all parameters, SI, (trial, parameter), and of the searched ones as shares of their ranges."""

    starts: np.ndarray
    shares: np.ndarray


def trial_starts(problem: Problem, seed: int = SEED) -> Trials:
    """Trial starts; the first is the middle of all ranges.

    Raises:
        ParameterError: a parameter whose size the data do not tell.
    """
    table = problem.table
    wanted = missing(table)
    scales = characteristic_scales(problem)
    ranges = [start_range(table.parameters[i], scales) for i in wanted]
    count = TRIALS + TRIALS_PER_PARAMETER * len(wanted)
    shares = np.vstack([np.full(len(wanted), 0.5), latin_hypercube(count - 1, len(wanted), seed)])
    return Trials(_within(table, wanted, ranges, shares), shares)


def spread_starts(problem: Problem, count: int, seed: int = SEED) -> np.ndarray:
    """Starts of all parameters, SI, (count, parameter), spread over the ranges of those that are estimated.

    The range of a parameter without a start is the one in which its start is looked for, that of the others `range_about`.

    Raises:
        ParameterError: parameters whose ranges nothing tells.
    """
    table = problem.table
    unknown = set(missing(table).tolist())
    scales = characteristic_scales(problem) if unknown else None
    ranges, problems = [], Problems()
    for i in table.free:
        with problems.collecting():
            p = table.parameters[i]
            ranges.append(range_about(p) if scales is None or i not in unknown else start_range(p, scales))
    problems.raise_if_any(ParameterError)
    return _within(table, table.free, ranges, latin_hypercube(count, len(ranges), seed))


def range_about(p: Parameter) -> Range:
    """Where starts of a parameter are spread that has a start, in its fit coordinate: its bounds where both are given.

    Without bounds three decades to either side of the start where the scale is log; 20 to 200 kJ/mol (enthalpies -150 to 150), made wider
    to hold the start; else twice the size of the start to either side. One bound ends that.

    Raises:
        ParameterError: it starts at zero, which has no size.

    >>> from kinetix.units import parse_unit
    >>> low, high = range_about(Parameter("r1.k", parse_unit("1/s"), 0.01, -np.inf, 1.0, "log", False))
    >>> f"{np.exp(low):.3g} to {np.exp(high):.3g} 1/s"
    '1e-05 to 1 1/s'
    """
    low, high = p.lower, p.upper
    if p.scale == "log":
        middle = float(np.log(p.start))
        low, high = (np.log(low) if low > 0 else -np.inf), np.log(high)
        spread = DECADES * np.log(10.0)
        own = (middle - spread, middle + spread)
    elif p.unit.dimension == MOLAR_ENERGY:
        usual = ENTHALPIES if p.name.endswith((".dH", ".dHr")) else ENERGIES
        own = (min(usual[0], p.start), max(usual[1], p.start))
    else:
        own = (p.start - ABOUT * abs(p.start), p.start + ABOUT * abs(p.start))
    if np.isfinite([low, high]).all():
        return Range(float(low), float(high))
    if own[0] == own[1]:
        raise ParameterError(
            f"Parameter '{p.name}' starts at 0 and has not two bounds, so how far shall starts be spread?"
            f' Write bounds = ["...", "..."] in {p.unit.text or "its unit"}, or one start.'
        )
    return Range(float(max(own[0], low)), float(min(own[1], high)))


def _within(table: ParameterTable, positions: np.ndarray, ranges: list[Range], shares: np.ndarray) -> np.ndarray:
    """The starts of a table with some at shares of their ranges, SI, (row, parameter); none leaves its bounds by rounding."""
    starts = np.tile(table.start, (len(shares), 1))
    for column, (i, (lower, upper)) in enumerate(zip(positions, ranges, strict=True)):
        p = table.parameters[i]
        coordinate = lower + shares[:, column] * (upper - lower)
        starts[:, i] = np.clip(np.exp(coordinate) if p.scale == "log" else coordinate, p.lower, p.upper)
    return starts


def search_limits(table: ParameterTable) -> Bounds:
    """Where a search stops although the user set no bound, in free coordinates: beyond, nothing is a rate constant or an energy.

    They are so wide that no answer lies near them, and keep a search that runs away from ending in numbers without sense.
    """
    limits = [_farthest(table.parameters[i]) for i in table.free]
    return Bounds(np.array([low for low, _ in limits]), np.array([high for _, high in limits]))


def _farthest(p: Parameter) -> Range:
    if p.scale == "log":
        reach = FARTHEST_DECADES * np.log(10.0)
        return Range(float(np.log(p.start) - reach), float(np.log(p.start) + reach))
    if p.unit.dimension == MOLAR_ENERGY:
        reach = max(FARTHEST_ENERGY, 2.0 * abs(p.start))
        return Range(-reach, reach)
    return Range(-np.inf, np.inf)


class Scales(NamedTuple):
    """Typical amounts and rates of the data, SI, the dimension of a rate, and sizes of constants of deactivation by name."""

    concentration: float
    pressure: float
    rate: float
    rate_dimension: Dimension
    deactivation: Mapping[str, float]


def characteristic_scales(problem: Problem) -> Scales:
    """A typical concentration (mol/m^3), partial pressure (Pa) and rate (on the basis of the model) of the data."""
    lanes = problem.lanes
    amounts = [np.asarray(lanes[name]).max() for name in ("feed", "initial", "concentrations") if name in lanes]
    measured = np.abs(problem.observed[problem.weights > 0])
    concentrations = [c.unit.dimension == CONCENTRATION for c in problem.campaign.responses]
    if any(concentrations) and measured.size:
        amounts.append(np.abs(problem.observed[..., concentrations]).max())
    concentration = max([float(a) for a in amounts if a > 0], default=1000.0)
    T = np.median(next(lanes[name] for name in ("T", "program_T", "T_start") if name in lanes))
    assert isinstance(problem.spoken, ReactorModel)
    return Scales(
        concentration,
        concentration * GAS_CONSTANT * float(T),
        concentration / _characteristic_time(problem, concentration, measured),
        problem.spoken.basis.rate,
        _deactivation(problem),
    )


def _deactivation(problem: Problem) -> dict[str, float]:
    """The size of each constant of deactivation, 1/s, by the name of its parameter: one over a typical time on stream."""
    times = problem.lanes.get(ON_STREAM, np.zeros(0))
    kinetics = problem.model.kinetics
    if not (times > 0).any() or kinetics is None:
        return {}
    column = CONSTANTS.index(KD) - len(CONSTANTS)
    found = [
        i for stack in kinetics.stacks if isinstance(stack.rate, Deactivating) for i in np.asarray(stack.constants)[:, column] if i >= 0
    ]
    return {problem.table.names[problem.constants[i].reference]: 1.0 / float(np.median(times[times > 0])) for i in found}


def _characteristic_time(problem: Problem, concentration: float, measured: np.ndarray) -> float:
    """A typical time, s; with rates per catalyst a typical space time, W/Q."""
    lanes = problem.lanes
    if "tau" in lanes:
        return float(np.median(lanes["tau"]))
    times = problem.campaign.times[problem.campaign.times > 0]
    if times.size:
        return float(np.median(times)) * float(np.median(lanes.get("loading", 1.0)))
    rates = measured[measured > 0]
    return concentration / float(np.median(rates)) if rates.size else 1.0


def start_range(parameter: Parameter, scales: Scales) -> Range:
    """Where to look for the start of one parameter, within its bounds.

    Raises:
        ParameterError: its dimension is not made of rates, concentrations and partial pressures.
    """
    dimension, name = parameter.unit.dimension, parameter.name
    if dimension == MOLAR_ENERGY:
        lower, upper = ENTHALPIES if name.endswith((".dH", ".dHr")) else ENERGIES
    elif parameter.scale == "linear" and dimension.dimensionless:
        lower, upper = ORDERS
    else:
        size = scales.deactivation[name] if name in scales.deactivation else _size(parameter, scales)
        if parameter.scale == "linear":
            lower, upper = 0.0, 2.0 * size
        else:
            spread = DECADES * np.log(10.0)
            lower, upper = np.log(size) - spread, np.log(size) + spread
    low, high = parameter.lower, parameter.upper
    if parameter.scale == "log":
        low, high = (np.log(low) if low > 0 else -np.inf), np.log(high)
    if np.isfinite([low, high]).all():
        return Range(float(low), float(high))
    lower, upper = max(lower, low), min(upper, high)
    if lower >= upper:
        # the bound lies outside what was expected: look on its inner side
        width = DECADES * np.log(10.0) if parameter.scale == "log" else max(abs(low if np.isfinite(low) else high), 1.0)
        lower, upper = (low, low + width) if np.isfinite(low) else (high - width, high)
    return Range(float(lower), float(upper))


def _size(parameter: Parameter, scales: Scales) -> float:
    """r^a c^b p^d for a constant of dimension rate^a concentration^b pressure^d."""
    powers = _powers(parameter, scales.rate_dimension)
    if powers is None:
        raise ParameterError(
            f"Parameter '{parameter.name}' has no start, and its unit {parameter.unit.text} does not tell its size."
            f' Write start = "<number> {example_unit(parameter.unit.dimension)}".'
        )
    return float(np.exp(powers @ np.log([scales.rate, scales.concentration, scales.pressure])))


def _powers(parameter: Parameter, rate: Dimension) -> np.ndarray | None:
    """a, b, d of dimension rate^a concentration^b pressure^d; None where it is not of that kind."""
    wanted = np.array(parameter.unit.dimension.exponents, dtype=float)
    parts = np.array([d.exponents for d in (rate, CONCENTRATION, PRESSURE)], dtype=float).T
    powers = np.linalg.lstsq(parts, wanted)[0]
    return powers if np.allclose(parts @ powers, wanted, atol=1e-9) else None


def searchable(problem: Problem) -> bool:
    """Whether starts of all free parameters could be found from the data."""
    if not isinstance(problem.spoken, ReactorModel):
        return False
    rate = problem.spoken.basis.rate
    deactivation = _deactivation(problem)
    free = (problem.table.parameters[i] for i in problem.table.free)
    return all(p.name in deactivation or p.unit.dimension == MOLAR_ENERGY or _powers(p, rate) is not None for p in free)


def best_starts(trials: Trials, ssr: Callable[[np.ndarray], float]) -> list[np.ndarray]:
    """The trial starts with the smallest sums of squares that lie apart, best first.

    Args:
        trials: from `trial_starts`.
        ssr: sum of squares at a start; NaN where it cannot be simulated.
    """
    values = np.array([ssr(start) for start in trials.starts])
    chosen: list[int] = []
    for i in np.argsort(values, kind="stable"):
        apart = all(np.max(np.abs(trials.shares[i] - trials.shares[j])) > APART for j in chosen)
        if np.isfinite(values[i]) and apart and len(chosen) < REFINED:
            chosen.append(int(i))
    return [trials.starts[i] for i in chosen]


def can_search(problem: Problem) -> None:
    """That missing starts can be found at all.

    Raises:
        ParameterError: an explicit model, whose formulas tell no sizes.
    """
    if not isinstance(problem.spoken, ReactorModel):
        name = problem.table.names[missing(problem.table)[0]]
        raise ParameterError(
            f"Parameter '{name}' has no start, and the formulas of an explicit model do not tell its size. Write start = \"...\"."
        )


def describe(refined: int, seed: int) -> str:
    """How the starts were found, for the report."""
    return f"the best {refined} of seeded trial points (seed {seed}) were refined"
