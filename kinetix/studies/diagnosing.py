"""Sentences that say why experiments could not be simulated: where in the data, which species, which reaction."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import numpy.typing as npt

from kinetix.results.phrases import plain
from kinetix.simulation import Diagnosis, ReactorModel, diagnose
from kinetix.status import Status
from kinetix.studies.problem import Problem
from kinetix.units import CONCENTRATION, TEMPERATURE

MOST = 5
"""Failed experiments that are looked at: each is followed once more, and the first few say what the others would."""


def reasons(problem: Problem, parameters: np.ndarray, status: npt.ArrayLike, t_reached: npt.ArrayLike) -> tuple[str, ...]:
    """Of each experiment why its integration failed; "" where it did not, where another method integrates, and beyond the first few.

    Args:
        problem: of which experiments failed.
        parameters: physical values, SI, (parameter,).
        status, t_reached: as predicted, (experiment,).
    """
    said = [""] * len(problem.campaign.experiments)
    if not problem.integrated or problem.model.method or not np.isfinite(parameters).all():
        return tuple(said)
    ended, reached = np.asarray(status), np.asarray(t_reached)
    for lane in islice((i for i, code in enumerate(ended) if not Status(int(code)).ok), MOST):
        found = diagnose(problem.model, parameters, {name: array[lane] for name, array in problem.lanes.items()})
        if found is not None:
            said[lane] = "; ".join(_parts(problem, lane, Status(int(ended[lane])), float(reached[lane]), found))
    return tuple(said)


def _parts(problem: Problem, lane: int, status: Status, reached: float, found: Diagnosis) -> Iterator[str]:
    yield from _place(problem, lane, reached, found)
    yield from _culprit(problem, status, found)
    yield from _fastest(problem, found)


def _place(problem: Problem, lane: int, reached: float, found: Diagnosis) -> Iterator[str]:
    """The row of the data that was not reached, and how far from it the integration stopped."""
    campaign = problem.campaign
    if not problem.timed:
        if campaign.lines[lane, 0]:
            yield f"line {campaign.lines[lane, 0]} of {campaign.sources[lane]}"
        yield f"stopped after {plain(100 * found.part, 3)} % of the way to the outlet"
        return
    ahead = int(np.argmax(campaign.times[lane] > reached))
    if campaign.lines[lane, ahead]:
        yield f"stopped before line {campaign.lines[lane, ahead]} of {campaign.sources[lane]}"


def _culprit(problem: Problem, status: Status, found: Diagnosis) -> Iterator[str]:
    """The entry of the state that has the largest error, is not finite, or is below zero."""
    spoken, attempt = problem.spoken, found.attempt
    assert isinstance(spoken, ReactorModel)
    names = spoken.network.species if spoken.energy is None else (*spoken.network.species, "T")
    # behind the species stands padding, and behind that the temperature
    entries = [*range(len(spoken.network.species)), -1][: len(names)]
    y, errors = attempt.y[entries], attempt.error[entries]
    if status is Status.BELOW_ZERO:
        i = int(np.argmin(y - found.lowest[entries]))
        unit = problem.reporting.unit(TEMPERATURE if names[i] == "T" else CONCENTRATION)
        yield f"{names[i]} is {plain(float(unit.from_si(y[i])), 3)} {unit.text}"
        return
    if not np.isfinite(y).all():
        yield f"the start of {names[int(np.argmin(np.isfinite(y)))]} is not finite"
        return
    for reaction, law in zip(spoken.network.reactions, problem.law_order, strict=True):
        if not np.isfinite(found.rates[law]):
            yield f"the rate of {reaction.name} is not finite there"
            return
    if status is Status.NON_FINITE:
        return
    if np.isnan(errors).any():
        yield f"the error of {names[int(np.argmax(np.isnan(errors)))]} is not finite in the next step"
    else:
        yield f"the largest error is in {names[int(np.argmax(errors))]}"


def _fastest(problem: Problem, found: Diagnosis) -> Iterator[str]:
    """The reaction with the shortest time scale, where rates are finite and one has any."""
    spoken = problem.spoken
    assert isinstance(spoken, ReactorModel)
    speeds = found.speeds[problem.law_order]
    if not np.isfinite(speeds).all() or not speeds.size or speeds.max() <= 0:
        return
    fastest = int(np.argmax(speeds))
    in_seconds = problem.timed or spoken.basis.name == "volume"
    scale = f" (time scale {plain(1 / speeds[fastest], 2)} s)" if in_seconds else ""
    yield f"the fastest reaction there is {spoken.network.reactions[fastest].name}{scale}"
