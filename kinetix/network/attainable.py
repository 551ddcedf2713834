"""Compositions that reactions can make of a feed: c = c_feed + S x with c >= 0, x any extents.

D. Glasser, D. Hildebrandt, C. Crowe, Industrial & Engineering Chemistry Research 26, 1803 (1987), call the part of this polytope that
a given kinetics reaches attainable; here it is the whole polytope, which no kinetics leaves.
"""

from __future__ import annotations

import numpy as np

LARGEST = 1e3
"""Most of a species, in sums of the feed (of 1 mol/m^3 where nothing is fed): some networks (`A -> 2 A`) make more without end."""

DIRECTIONS_BY_SPECIES, MORE_DIRECTIONS = 2, 16
CORNERS = 0.4
"""Dirichlet parameter of the mixtures: below one, edges and faces are preferred to the middle."""

PULLED = 1e-6
"""Share of the mean in what begins at a corner."""


def corners(feed: np.ndarray, stoichiometry: np.ndarray, seed: int = 0) -> np.ndarray:
    """Corners of the polytope, in the order in which they were found: the feed, then least and most of each species, then others.

    Args:
        feed: (species,) concentrations.
        stoichiometry: (species, reaction).
        seed: of the directions in which further corners are sought.

    Returns:
        (corner, species).

    >>> corners(np.array([2.0, 0.0]), np.array([[-2.0], [1.0]])).tolist()  # 2 A -> B
    [[2.0, 0.0], [0.0, 1.0]]
    """
    from scipy.optimize import linprog

    largest = LARGEST * (float(feed.sum()) or 1.0)
    further = np.random.default_rng(seed).standard_normal((MORE_DIRECTIONS, len(feed)))
    limits = np.concatenate([feed, largest - feed])
    found = [feed]
    moving = np.flatnonzero(np.abs(stoichiometry).sum(axis=1) > 0)
    for direction in (*(sign * np.eye(len(feed))[i] for i in moving for sign in (1.0, -1.0)), *further):
        objective = direction @ stoichiometry
        solved = linprog(objective, A_ub=np.concatenate([-stoichiometry, stoichiometry]), b_ub=limits, bounds=(None, None))
        if solved.status == 0:
            found.append(np.maximum(feed + stoichiometry @ solved.x, 0.0))
    scale = max(float(np.abs(found).max()), np.finfo(float).tiny)
    kept: list[np.ndarray] = []
    for one in found:
        if all(np.abs(one - other).max() > 1e-9 * scale for other in kept):
            kept.append(one)
    return np.array(kept)


def mixtures(polytope: np.ndarray, number: int, seed: int = 0) -> np.ndarray:
    """Compositions spread over a polytope, of which each corner is nearly one: (composition, species).

    >>> mixtures(np.array([[2.0, 0.0], [0.0, 1.0]]), 64).shape
    (64, 2)
    """
    pulled = polytope + PULLED * (polytope.mean(axis=0) - polytope)
    if len(pulled) >= number:
        return pulled[:number]
    shares = np.random.default_rng(seed).gamma(CORNERS, size=(number - len(pulled), len(pulled)))
    return np.concatenate([pulled, (shares / shares.sum(axis=1, keepdims=True)) @ pulled])
