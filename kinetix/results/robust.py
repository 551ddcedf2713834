"""What a robust loss says of single values, in words: which count less than half, and the loss itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetix.results.facts import FitFacts, RobustFacts
from kinetix.results.phrases import count, listing, plain

OUTLIER_WEIGHT = 0.5
"""A value with a smaller weight psi(r)/r counts less than half of what it would in least squares, and is told."""

MOST_TOLD = 6
"""Outliers that a sentence names, the farthest first."""


def loss_text(robust: RobustFacts) -> str:
    """A loss with its numbers: `huber, scale 1.345`."""
    dof = "" if np.isnan(robust.shape) else f"{plain(robust.shape, 4)} degrees of freedom, "
    return f"{robust.loss}, {dof}scale {plain(robust.constant, 5)}"


def outlying(weights: np.ndarray) -> np.ndarray:
    """Positions (outlier, 3) of the values that count less than half, the least first; weights (E, T, R)."""
    places = np.argwhere(np.where(np.isnan(weights), 1.0, weights) < OUTLIER_WEIGHT)
    return places[np.argsort(weights[tuple(places.T)], kind="stable")]


def outlier_sentences(facts: FitFacts) -> Iterator[str]:
    """A sentence that names the outliers of a robust fit; none without."""
    robust = facts.robust
    if robust is None:
        return
    places = outlying(robust.weights)
    if not len(places):
        return
    named = [f"{where(facts, i, j, r)} (weight {robust.weights[i, j, r]:.2g})" for i, j, r in places[:MOST_TOLD]]
    more = f" and {len(places) - MOST_TOLD} more" if len(places) > MOST_TOLD else ""
    verb, them = ("counts", "it") if len(places) == 1 else ("count", "them")
    yield (
        f"{count(len(places), 'value')} {verb} less than half, because the model misses {them} by far: {listing(named, MOST_TOLD)}{more}."
        f" Look at {them}: a slip is to be corrected or left out, but where nothing is wrong with the reading, the model is."
    )


def where(facts: FitFacts, i: int, j: int, r: int) -> str:
    """A value by its place: `A of 'run3' at t = 5 min`."""
    time = f" at t = {plain(float(facts.time_unit.from_si(facts.times_si[i, j])), 6)} {facts.time_unit.text}" if facts.time_unit else ""
    return f"{facts.responses[r]} of '{facts.experiments[i]}'{time}"
