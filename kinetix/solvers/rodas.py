"""Rodas5P on scalars: a step, and the step of its derivatives along one direction.

The tangent of a step is the exact derivative of the computed step with its size held fixed. With W = I/(h gamma) - J it is, stage by stage,

    W dK_i = df(y_i) + (dJ) K_i + sum_j C_ij dK_j / h,

so it needs no factors of its own. df and (dJ) K are read from the trace of `jax.jvp` of the rates and of its `jax.jvp`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.solvers import tableau
from kinetix.solvers.factors import Factors, factorised
from kinetix.solvers.reading import read
from kinetix.solvers.scalars import entries
from kinetix.solvers.segments import Segments, time_derivative
from kinetix.solvers.system import Arguments, System


class Stages(NamedTuple):
    """What a step computed on its way.

    here : the time at its start; times : of its stages.
    per_h : 1/h.
    factors : of W.
    positions, increments : y_i and K_i of each stage, [n] each.
    """

    here: Any
    times: tuple[Any, ...]
    h: Any
    per_h: Any
    factors: Factors
    positions: tuple[np.ndarray, ...]
    increments: tuple[np.ndarray, ...]


def _drift(system: System, t: Any, y: Any, args: Arguments) -> Any:
    return time_derivative(partial(system.rates, args=args), lambda t, y: jnp.zeros_like(y))(t, y)


def _scaled(factor: Any, vector: np.ndarray) -> np.ndarray:
    return entries([factor * x for x in vector])


def _combined(weights: np.ndarray, vectors: list[np.ndarray], n: int) -> np.ndarray:
    total = entries([0.0] * n)
    for weight, vector in zip(weights, vectors, strict=False):
        total = total + _scaled(float(weight), vector)
    return total


def _position(s: int, y: np.ndarray, before: np.ndarray, increments: list[np.ndarray]) -> np.ndarray:
    """y + sum_j A_sj K_j; where the row only adds the last increment to the row before it, that is what is computed."""
    if s > 1 and tableau.A[s, s - 1] == 1.0 and np.array_equal(tableau.A[s, : s - 1], tableau.A[s - 1, : s - 1]):
        return before + increments[-1]
    return y + _combined(tableau.A[s], increments, len(y))


def step(system: System, args: Arguments, y: np.ndarray, t: Any, h: Any, segment: Segments) -> tuple[np.ndarray, np.ndarray, Stages]:
    """One step from (t, y) to t + h: the new state, its error estimate, each [n], and the stages."""

    here, per_h = read(Segments.inside, segment, t), 1.0 / h
    matrix = -read(system.matrix, here, y, args)
    for i in range(len(y)):
        matrix[i, i] = per_h * (1.0 / tableau.GAMMA) + matrix[i, i]
    factors = factorised(matrix)
    drift = None if system.autonomous else read(partial(_drift, system), here, y, args)

    increments: list[np.ndarray] = []
    positions, times = [], []
    position = y
    for s in range(tableau.STAGES):
        position = _position(s, y, position, increments)
        time = here if system.autonomous else read(Segments.inside, segment, t + float(tableau.NODES[s]) * h)
        right = read(system.rates, time, position, args) + _scaled(per_h, _combined(tableau.C[s], increments, len(y)))
        if drift is not None:
            right = right + _scaled(float(tableau.GAMMA_SUMS[s]) * h, drift)
        increments.append(factors.solve(right))
        positions.append(position)
        times.append(time)
    stages = Stages(here, tuple(times), h, per_h, factors, tuple(positions), tuple(increments))
    return position + increments[-1], increments[-1], stages


def tangent_step(system: System, args: Arguments, stages: Stages, dy: np.ndarray, dargs: Arguments) -> tuple[np.ndarray, np.ndarray]:
    """The derivative of a step along (dy, dargs): that of the new state and of the error estimate, each [n]."""
    y, n = stages.positions[0], len(dy)

    def slope(t: Any, y: Any, args: Any, dy: Any, dargs: Any) -> Any:
        return jax.jvp(partial(system.rates, t), (y, args), (dy, dargs))[1]

    def curvature(t: Any, y: Any, args: Any, dy: Any, dargs: Any, increment: Any) -> Any:
        def along(y: Any, args: Any) -> Any:
            return jax.jvp(lambda y: system.rates(t, y, args), (y,), (increment,))[1]

        return jax.jvp(along, (y, args), (dy, dargs))[1]

    def drift(t: Any, y: Any, args: Any, dy: Any, dargs: Any) -> Any:
        return jax.jvp(partial(_drift, system, t), (y, args), (dy, dargs))[1]

    changing = None if system.autonomous else read(drift, stages.here, y, args, dy, dargs)
    tangents: list[np.ndarray] = []
    moved = dy
    for s in range(tableau.STAGES):
        moved = _position(s, dy, moved, tangents)
        right = read(slope, stages.times[s], stages.positions[s], args, moved, dargs)
        right = right + read(curvature, stages.here, y, args, dy, dargs, stages.increments[s])
        right = right + _scaled(stages.per_h, _combined(tableau.C[s], tangents, n))
        if changing is not None:
            right = right + _scaled(float(tableau.GAMMA_SUMS[s]) * stages.h, changing)
        tangents.append(stages.factors.solve(right))
    return moved + tangents[-1], tangents[-1]
