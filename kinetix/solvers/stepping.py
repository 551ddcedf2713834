"""The general program: one lane of an initial value problem, step by step."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import Array, lax

from kinetix.solvers import tableau
from kinetix.solvers.control import Limits, Plan, State, at_stop, judge, plan, unfinished
from kinetix.solvers.linear import gauss_jordan, solve
from kinetix.solvers.segments import Segments, first_state, time_derivative
from kinetix.solvers.system import Arguments, System
from kinetix.status import Status


def begun(system: System, limits: Limits, args: Arguments, y0: Array, segments: Segments, valid: Array) -> State:
    """The state before the first step; `valid` says whether all inputs are finite and in order."""
    return first_state(system, limits, args, y0, jax.tree.map(lambda x: x[0], segments), segments.stop[-1], valid)


def run(system: System, limits: Limits, args: Arguments, state: State, segments: Segments) -> tuple[State, tuple[Array, Array]]:
    """The last state, and for each segment the state [n] at its end and whether it was reached. Step sizes carry no derivatives."""

    def run_segment(state: State, segment: Segments) -> tuple[State, tuple[Array, Array]]:
        def is_open(state: State) -> Array:
            return unfinished(state.t, state.status, state.accepted + state.rejected, segment.stop, limits.max_steps)

        state = lax.while_loop(is_open, lambda state: attempted(system, limits, args, state, segment)[0], state)
        state = at_stop(state, segment.stop)
        return state, (state.y, state.status == Status.SUCCESS)

    return lax.scan(run_segment, state, segments)


def attempted(system: System, limits: Limits, args: Arguments, state: State, segment: Segments) -> tuple[State, Plan]:
    """The state after a step that is tried, and what was planned."""
    planned = plan(state, segment.stop, limits.max_steps)
    y_new, error = step(system, args, state.y, state.t, planned.taken, segment)
    return judge(limits, state, planned, y_new, error, segment.stop), planned


def step(system: System, args: Arguments, y: Array, t: Array, h: Array, segment: Segments) -> tuple[Array, Array]:
    """One step of Rodas5P from (t, y) to t + h: the new state and its error estimate, each [n]."""
    here = segment.inside(t)
    matrix = jnp.eye(y.size, dtype=y.dtype) / (h * tableau.GAMMA) - system.matrix(here, y, args)
    inverted = lax.stop_gradient(gauss_jordan(lax.stop_gradient(matrix))[0])
    drift = None if system.autonomous else time_derivative(partial(system.rates, args=args), lambda t, y: jnp.zeros_like(y))(here, y)

    def stage(increments: Array, numbers: tuple[Array, Array, Array, Array]) -> tuple[Array, None]:
        index, weights, node, gamma_sum = numbers
        position, memory = weights @ increments
        right = system.rates(segment.inside(t + node * h), y + position, args) + memory / h
        if drift is not None:
            right = right + gamma_sum * h * drift
        return lax.dynamic_update_index_in_dim(increments, solve(matrix, inverted, right), index, 0), None

    increments = jnp.zeros((tableau.STAGES, y.size), y.dtype)
    weights, nodes, gamma_sums = (jnp.asarray(x, y.dtype) for x in (tableau.STAGE_WEIGHTS, tableau.NODES, tableau.GAMMA_SUMS))
    increments, _ = lax.scan(stage, increments, (jnp.arange(tableau.STAGES, dtype=jnp.int32), weights, nodes, gamma_sums))
    return y + jnp.asarray(tableau.B, y.dtype) @ increments, increments[-1]


def move_along(system: System, args: Arguments, t: Array, y: Array, shift: Array, order: int) -> Array:
    """y moved by `shift` along the solution through (t, y), as a Taylor polynomial.

    The shift is zero: what counts are its derivatives up to `order`.
    """

    def rates(t: Array, y: Array) -> Array:
        return system.rates(t, y, args)

    derivative, total, weight = rates, y, shift
    for k in range(1, order + 1):
        total = total + weight * derivative(t, y)
        weight = weight * shift / (k + 1)
        derivative = time_derivative(derivative, rates)
    return total
