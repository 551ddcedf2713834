"""The measured values of a fit in a form that two models of the same data share, and the errors for models of different data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import xarray as xr

from kinetix.errors import DataError, Problems
from kinetix.results import group_of, standardised_residuals
from kinetix.results.phrases import count, listing, plain
from kinetix.results.schema import unit_text
from kinetix.studies.problem import Problem
from kinetix.units import Unit, parse_unit

SAME = 1e-9
"""Relative difference of two values that are the same but for the last digits of a conversion."""

MOST_TOLD = 3


class Place(NamedTuple):
    """Where a value was measured: experiment, response, time in s to twelve digits; `again` counts values of the same place."""

    experiment: str
    response: str
    t: float
    again: int


class Reading(NamedTuple):
    """A measured value and its weight in the objective, in the response's unit; what one model makes of it, NaN before a fit."""

    observed: float
    weight: float
    predicted: float
    standardised: float


@dataclass(frozen=True, eq=False)
class Readings:
    """The measured values of one model.

    Attributes:
        at: place -> value.
        units: response -> text of its unit.
        sigma_meaning: "trusted", "scaled" or "estimated".
        time_unit: None where nothing depends on time.
    """

    at: Mapping[Place, Reading]
    units: Mapping[str, str]
    sigma_meaning: str
    time_unit: Unit | None


def readings_of_fit(tree: xr.DataTree) -> Readings:
    """Those of the result of a fit."""
    group = group_of(tree, "predictions")
    time_unit = parse_unit(group["t"].attrs["units"]) if "t" in group.data_vars else None
    shape = group["measured"].shape[:2]
    return Readings(
        at=_placed(
            [str(name) for name in group["experiment"].values],
            [str(name) for name in group["response"].values],
            np.zeros(shape) if time_unit is None else group["t"].values * time_unit.factor,
            group["measured"].values,
            (group["observed"].values, group["weight"].values, group["predicted"].values, standardised_residuals(tree)[0]),
        ),
        units={str(name): str(unit) for name, unit in zip(group["response"].values, group["unit"].values, strict=True)},
        sigma_meaning=str(tree.attrs["sigma_meaning"]),
        time_unit=time_unit,
    )


def readings_of_problem(problem: Problem) -> Readings:
    """Those of a problem that is not fitted yet."""
    factor = np.array([unit.factor for unit in problem.units])
    offset = np.array([unit.offset for unit in problem.units])
    nothing = np.full(problem.observed.shape, np.nan)
    return Readings(
        at=_placed(
            problem.campaign.experiments,
            problem.responses,
            problem.campaign.times if problem.timed else np.zeros(problem.observed.shape[:2]),
            problem.weights > 0,
            ((problem.observed - offset) / factor, problem.weights * factor, nothing, nothing),
        ),
        units={name: unit_text(unit) for name, unit in zip(problem.responses, problem.units, strict=True)},
        sigma_meaning=problem.sigma_meaning,
        time_unit=problem.campaign.time_unit if problem.timed else None,
    )


def _placed(
    experiments: Sequence[str], responses: Sequence[str], t: np.ndarray, measured: np.ndarray, columns: tuple[np.ndarray, ...]
) -> dict[Place, Reading]:
    seen: Counter[tuple[str, str, float]] = Counter()
    at = {}
    for i, j, r in np.argwhere(measured).tolist():
        key = (experiments[i], responses[r], float(f"{t[i, j]:.12g}"))
        at[Place(*key, seen[key])] = Reading(*(float(column[i, j, r]) for column in columns))
        seen[key] += 1
    return at


def measured_experiments(readings: Readings) -> tuple[str, ...]:
    """The experiments with a measured value."""
    return tuple(dict.fromkeys(place.experiment for place in readings.at))


def check_same_data(readings: Mapping[str, Readings]) -> None:
    """That all models fit the same measured values, with the same weights, meant in the same way: else their likelihoods are not
    comparable.

    Args:
        readings: model -> its measured values.

    Raises:
        DataError: everything in which one of them differs from the first.
    """
    problems = Problems()
    (first, reference), *others = readings.items()
    for name, own in others:
        for problem in _differences(first, reference, name, own):
            problems.add(f"{first} and {name} cannot be compared: {problem}")
    problems.raise_if_any(DataError)


def _differences(first: str, reference: Readings, name: str, own: Readings) -> Iterator[str]:
    if reference.sigma_meaning != own.sigma_meaning:
        yield (
            f"sigma is {reference.sigma_meaning} in {first} and {own.sigma_meaning} in {name}, so that their likelihoods are different"
            f" ones."
            " Give both the same [noise] and [fit] sigma."
        )
    fewer, more = set(reference.units) - set(own.units), set(own.units) - set(reference.units)
    if fewer or more:
        told = [f"{listing(sorted(names))} only in {where}" for names, where in ((fewer, first), (more, name)) if names]
        yield (
            f"they fit different responses: {', '.join(told)}. A value and its logarithm are different ones too. Fit the same responses in"
            " both; name columns that neither shall use under [data] ignore."
        )
        return
    units = [f"{r} is in {reference.units[r]} and in {unit}" for r, unit in own.units.items() if not _same_unit(reference.units[r], unit)]
    if units:
        yield f"{listing(units)}. Squares of numbers in different units are not comparable: read both from the same columns."
        return
    for places, where in (([p for p in reference.at if p not in own.at], first), ([p for p in own.at if p not in reference.at], name)):
        if places:
            told = listing([_place(place, reference) for place in places], MOST_TOLD)
            verb = "is" if len(places) == 1 else "are"
            yield f"{count(len(places), 'measured value')} {verb} only in {where} ({told}). Give both the same files and the same rows."
    shared = [place for place in reference.at if place in own.at]
    different = [p for p in shared if not np.isclose(reference.at[p].observed, own.at[p].observed, rtol=SAME, atol=0.0)]
    if different:
        p = different[0]
        yield (
            f"{count(len(different), 'measured value')} {'differs' if len(different) == 1 else 'differ'}, such as {_place(p, reference)}:"
            f" {plain(reference.at[p].observed, 9)} and {plain(own.at[p].observed, 9)}. Give both the same data."
        )
    if reference.sigma_meaning != "estimated" and own.sigma_meaning != "estimated":
        unlike = [p for p in shared if not np.isclose(reference.at[p].weight, own.at[p].weight, rtol=SAME, atol=0.0)]
        if unlike:
            p = unlike[0]
            yield (
                f"sigma differs for {count(len(unlike), 'value')}, such as {_place(p, reference)}: {plain(1 / reference.at[p].weight)} and"
                f" {plain(1 / own.at[p].weight)}. Give both the same [noise]."
            )


def _same_unit(one: str, other: str) -> bool:
    if one == other:
        return True
    a, b = parse_unit(one), parse_unit(other)
    return a.dimension == b.dimension and bool(np.isclose(a.factor, b.factor, rtol=SAME)) and a.offset == b.offset


def _place(place: Place, readings: Readings) -> str:
    at = "" if readings.time_unit is None else f" at t = {plain(float(readings.time_unit.from_si(place.t)))} {readings.time_unit.text}"
    return f"{place.response} of experiment '{place.experiment}'{at}"
