"""L-BFGS with directions of optax, projected onto the box: for many parameters, where a gradient is cheaper than a Jacobian.

Coordinates that the gradient pushes against their bound are held, the others take the direction of `optax.scale_by_lbfgs`, with a step
along it that is clipped to the box (`line_search`). The memory is forgotten when other coordinates are held, and where the curvature
along a step is not positive.

Source: D. C. Liu and J. Nocedal, Math. Program. 45 (1989) 503.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np

from kinetix.estimation.line_search import along
from kinetix.estimation.search import Estimator, Point, Search
from kinetix.precision import float64

MEMORY = 20
"""Steps that are remembered."""


class State(NamedTuple):
    """Where the search is; `memory` is empty where the next step is along the gradient."""

    point: Point
    memory: Any
    held: np.ndarray
    finished: bool


def init(search: Search, theta0: np.ndarray) -> State:
    """The start, evaluated."""
    start = search.start(theta0)
    return State(start, None, search.held(start), search.solved(start))


def step(search: Search, state: State) -> State:
    """One direction, and the step along it."""
    point, held = state.point, search.held(state.point)
    fresh = state.memory is None or not np.array_equal(held, state.held)
    gradient = np.where(held, 0.0, search.slopes(point))
    with float64():
        first, update = _directions()
        memory = first(np.zeros_like(gradient)) if fresh else state.memory
        direction, memory = update(gradient, memory, point.theta * search.unit)
        direction = -np.asarray(direction)
    stuck = held | ((point.theta <= search.bounds.lower) & (direction < 0)) | ((point.theta >= search.bounds.upper) & (direction > 0))
    direction = np.where(stuck, 0.0, direction)
    downhill = bool(np.isfinite(direction).all()) and float(gradient @ direction) < 0
    reached = along(search, point, direction / search.unit) if downhill else None
    if reached is None:
        return State(point, None, held, fresh)
    found = reached.point
    change = (found.theta - point.theta) * (found.gradient - point.gradient)
    bent = float(change[~held].sum()) > 0
    return State(found, memory if bent else None, held, search.solved(found))


@cache
def _directions() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The first memory, and the compiled direction with the memory after it."""
    import optax

    rule = optax.scale_by_lbfgs(MEMORY)
    return rule.init, jax.jit(lambda gradient, memory, theta: rule.update(gradient, memory, theta))


def done(state: State) -> bool:
    """Whether the search is over."""
    return state.finished


BOOK = Estimator("L-BFGS of optax, projected onto the bounds: for many parameters", init, step, done, package="optax")
