"""Optima of a problem in words: what is exchanged or mirrored between two that fit equally well."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetix.parameters import Parameter, ParameterTable
from kinetix.results.phrases import listing, plain

SAME = 1e-2
"""Two values are the same within this share, or within this difference of their logarithms."""


def relation(table: ParameterTable, theta: np.ndarray, other: np.ndarray) -> str:
    """How another optimum follows from the first: "r1.k and r2.k exchanged", "b with the other sign"; "" where neither.

    Args:
        table: of the problem.
        theta: free coordinates of the first optimum, (free,).
        other: of the other.
    """
    parameters = [table.parameters[i] for i in table.free]
    changed = [i for i in range(len(parameters)) if not _same(parameters[i], theta[i], other[i])]
    parts = [
        f"{listing([parameters[i].name for i in cycle])} exchanged{'' if len(cycle) == 2 else ' in turn'}"
        for cycle in _cycles(parameters, theta, other, changed)
    ]
    for i in changed:
        if parameters[i].scale == "linear" and theta[i] * other[i] < 0 and _same(parameters[i], theta[i], -other[i]):
            parts.append(f"{parameters[i].name} with the other sign")
    return ", ".join(parts)


def values_of(table: ParameterTable, theta: np.ndarray) -> str:
    """The estimated parameters at free coordinates, as in a sentence."""
    values = table.values(theta)
    free = [(table.parameters[i], values[i]) for i in table.free]
    return listing([f"{p.name} = {plain(float(p.unit.from_si(value)))} {p.unit.text}".rstrip() for p, value in free])


def exchangeable(one: Parameter, other: Parameter) -> bool:
    """Whether a value of one can be one of the other."""
    return one.scale == other.scale and one.unit.dimension == other.unit.dimension


def _cycles(parameters: list[Parameter], theta: np.ndarray, other: np.ndarray, changed: list[int]) -> Iterator[list[int]]:
    """Parameters whose values went round among them, two or more at a time."""
    giver: dict[int, int] = {}  # whose value each has taken
    for i in changed:
        givers = [j for j in changed if exchangeable(parameters[i], parameters[j]) and _same(parameters[i], other[i], theta[j])]
        if len(givers) == 1:
            giver[i] = givers[0]
    told: set[int] = set()
    for i in giver:
        cycle, at = [i], giver[i]
        while at in giver and at not in cycle:
            cycle.append(at)
            at = giver[at]
        if at == i and len(cycle) > 1 and told.isdisjoint(cycle):
            told.update(cycle)
            yield sorted(cycle)


def _same(p: Parameter, one: float, other: float) -> bool:
    return abs(one - other) <= SAME * (1.0 if p.scale == "log" else max(abs(one), abs(other)))
