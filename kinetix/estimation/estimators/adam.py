"""Adam, of optax, with a learning rate that falls to nothing: robust far from the answer, slow near it.

Each step moves every coordinate by about the learning rate times its size, whatever the length of the gradient: 0.1 is a tenth of a
logarithm. So it walks off plateaus on which a gradient is tiny but has a sign, and it takes no notice of badly scaled residuals. Steps
are projected onto the box; a step to where nothing can be evaluated is refused and the next ones are shorter.

Source: D. P. Kingma and J. Ba, arXiv:1412.6980 (2014); `optax.scale_by_adam`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np

from kinetix.estimation.search import Estimator, Point, Search
from kinetix.precision import float64

RATE = 0.1
"""Learning rate of the first steps, in sizes of the parameters."""

LEAST = 1e-6
"""Learning rate at the end over that at the beginning."""

MEMORY = (0.9, 0.99)
"""Decay of the means of gradients and of their squares: gradients of a fit have no noise, and fall by decades."""

WORSE = 2.0
"""A step to a sum of squares this many times the smallest so far is refused."""

SHORTER, LONGER = 0.25, 1.2
"""Factors of the length of steps after one that was refused, and after one that was not."""

SHORTEST = 1e-9
"""Steps this much shorter than the schedule says end the search: next to the point nothing can be evaluated."""

ENOUGH = 0.1
"""The search ends where the gradient is this much smaller than what is taken for an optimum."""


class State(NamedTuple):
    """Where the search is; `length` is that of its steps relative to the schedule."""

    point: Point
    moments: Any
    number: int
    length: float
    finished: bool


def init(search: Search, theta0: np.ndarray) -> State:
    """The start, evaluated."""
    start = search.start(theta0)
    with float64():
        moments = _moments()[0](np.zeros_like(theta0))
    return State(start, moments, 0, 1.0, search.solved(start))


def step(search: Search, state: State) -> State:
    """One step with the rate that a search of `max_iterations` steps has here."""
    steps = max(search.options.max_iterations - 1, 1)
    after = stepped(search, state, RATE * LEAST ** (state.number / steps))
    return after._replace(finished=after.finished or after.number >= steps)


def stepped(search: Search, state: State, rate: float) -> State:
    """One step with a given rate."""
    point = state.point
    with float64():
        gradient = np.where(search.held(point), 0.0, point.gradient * search.reach / max(2 * point.value, np.finfo(float).tiny))
        direction, moments = jax.tree.map(np.asarray, _moments()[1](gradient, state.moments))
    found = search.point(point.theta - state.length * rate * search.reach * direction)
    assert search.best is not None
    if not found.usable or found.value > WORSE * search.best.value:
        length = state.length * SHORTER
        return state._replace(number=state.number + 1, length=length, finished=length < SHORTEST)
    best = found is search.best
    finished = best and (search.solved(found) or search.cosine(found) < ENOUGH * search.options.tolerances.stalled_cosine)
    return State(found, moments, state.number + 1, min(state.length * LONGER, 1.0), finished)


@cache
def _moments() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Adam's first state, and its update, compiled."""
    import optax

    adam = optax.scale_by_adam(*MEMORY, eps=1e-200)
    return adam.init, jax.jit(lambda gradient, moments: adam.update(gradient, moments))


def done(state: State) -> bool:
    """Whether the search is over."""
    return state.finished


BOOK = Estimator("Adam of optax with a falling learning rate: far from the answer", init, step, done, finishes=False, package="optax")
