"""The step along a direction: shortened until the sum of squares falls enough (Armijo), lengthened while it still falls steeply.

Source: D. P. Bertsekas, SIAM J. Control Optim. 20 (1982) 221 (the rule along a path that is projected onto a box).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetix.estimation.search import Point, Search

FALL, STEEP = 1e-4, 0.9
"""Least share of the decrease that the slope promises; a slope above this share of the first asks for a longer step."""

TRIALS = 30
"""Most trials along one direction."""


class Reached(NamedTuple):
    """A better point, and how much of the way leads to it."""

    point: Point
    length: float


def along(search: Search, point: Point, way: np.ndarray) -> Reached | None:
    """A better point on the way from `point`, in units of theta [p], clipped to the box; None where there is none."""
    length, best = 1.0, None
    for _ in range(TRIALS):
        trial = search.point(point.theta + length * way)
        promised = float(point.gradient @ (trial.theta - point.theta))
        if (
            trial.usable
            and promised < 0
            and trial.value <= point.value + FALL * promised
            and (best is None or trial.value < best.point.value)
        ):
            best = Reached(trial, length)
            clipped = bool(np.any(trial.theta != point.theta + length * way))
            if clipped or float(trial.gradient @ way) * length >= STEEP * promised:
                return best
            length *= 2
        elif best is not None:
            return best
        elif promised < 0 and search.better(trial, point):
            return Reached(trial, length)
        else:
            rise = trial.value - point.value - promised
            share = -promised / (2 * rise) if trial.usable and rise > 0 else 0.25
            length *= float(np.clip(share, 0.1, 0.5))
            if length * float(np.abs(search.unit * way).max()) <= np.finfo(float).eps:
                return None
    return best
