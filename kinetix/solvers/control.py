"""Steps of an integration: how long the next one is, and whether it counts.

Written for one lane; the general program runs it as it stands, the engine for ensembles reads it as scalars of lanes.

The factor of the step size is that of integral control, 0.9 (1/error)^(1/5) within [0.2, 6]. Proportional-integral control
(K. Gustafsson, ACM Trans. Math. Softw. 17, 533 (1991)) was measured as well, with five pairs of exponents on 1,024 batches of five
species: it takes 8 to 45 % more steps, since steps grow nearly all the time, and the error is the same.

E. Hairer and G. Wanner, Solving Ordinary Differential Equations II (2nd ed., Springer 1996), section IV.8.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from kinetix.solvers import tableau
from kinetix.status import Status

SAFETY, SHRINK, GROW, ON_FAILURE = 0.9, 0.2, 6.0, 0.5


class State(NamedTuple):
    """What one step hands to the next: the state [n] at time t, the next step size, the status, the steps so far."""

    y: Array
    t: Array
    h: Array
    status: Array
    accepted: Array
    rejected: Array


class Limits(NamedTuple):
    """The numbers of `Options`, in the type of y."""

    rtol: Array
    atol: Array
    max_steps: Array
    lowest: Array


class Plan(NamedTuple):
    """What the next step is.

    open : whether there is one.
    clipped : whether it ends at the stop.
    left : time to the stop.
    taken : its size.
    """

    open: Array
    clipped: Array
    left: Array
    taken: Array


def unfinished(t: Array, status: Array, steps: Array, stop: Array, max_steps: Array) -> Array:
    """Whether the stop is still ahead and may be reached."""
    return (t < stop) & (status == Status.SUCCESS) & (steps < max_steps)


def plan(state: State, stop: Array, max_steps: Array) -> Plan:
    """The next step. In a finished lane its size is a harmless number."""
    is_open = unfinished(state.t, state.status, state.accepted + state.rejected, stop, max_steps)
    left = lax.select(is_open, stop - state.t, jnp.ones_like(state.t))
    clipped = state.h >= left * (1 - 1e-9)
    return Plan(is_open, clipped, left, lax.select(clipped, left, state.h))


def judge(limits: Limits, state: State, planned: Plan, y_new: Array, error: Array, stop: Array) -> State:
    """The state after a step that was tried; a finished lane stays as it is. Step sizes and decisions carry no derivatives."""
    y, t, h, status, accepted, rejected = state
    is_open, clipped, left, taken = planned
    new = lax.stop_gradient(y_new)
    size = jnp.maximum(jnp.abs(lax.stop_gradient(y)), jnp.abs(new))
    mean_square = jnp.mean((lax.stop_gradient(error) / (limits.atol + limits.rtol * size)) ** 2)
    # a sum with an infinite or undefined term is so itself: one test instead of one per component
    finite = jnp.isfinite(mean_square) & jnp.isfinite(jnp.sum(new))
    accept = is_open & finite & (mean_square <= 1.0)
    next_h = taken * lax.select(finite, factor(mean_square), jnp.full_like(mean_square, ON_FAILURE))
    next_h = lax.select(accept & clipped, jnp.maximum(h, next_h), next_h)
    too_small = is_open & ~accept & (next_h < jnp.maximum(4 * jnp.finfo(t.dtype).eps * jnp.abs(t), 1e-24 * left))
    below = accept & (jnp.min(new - limits.lowest) < 0)
    status = lax.select(too_small, jnp.full_like(status, Status.STEP_TOO_SMALL), status)
    return State(
        y=jnp.where(accept, y_new, y),
        t=lax.select(accept, lax.select(clipped, stop, t + taken), t),
        h=lax.select(is_open, next_h, h),
        status=lax.select(below, jnp.full_like(status, Status.BELOW_ZERO), status),
        accepted=accepted + accept.astype(jnp.int32),
        rejected=rejected + (is_open & ~accept).astype(jnp.int32),
    )


def at_stop(state: State, stop: Array) -> State:
    """The state when no step is left: short of the stop without a failure, the step limit was met."""
    short = (state.t < stop) & (state.status == Status.SUCCESS)
    return state._replace(status=lax.select(short, jnp.full_like(state.status, Status.STEP_LIMIT), state.status))


def factor(mean_square: Array) -> Array:
    """By how much the step size changes. In single precision, whose powers are vectorised."""
    error = lax.clamp(jnp.float32(1e-20), mean_square.astype(jnp.float32), jnp.float32(1e20))
    change = jnp.float32(SAFETY) * jnp.exp(jnp.float32(-0.5 / tableau.ORDER) * jnp.log(error))
    return lax.clamp(jnp.float32(SHRINK), change, jnp.float32(GROW)).astype(mean_square.dtype)
