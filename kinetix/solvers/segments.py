"""The stretches of an integration between its stops, and the state before its first step."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from kinetix.solvers import tableau
from kinetix.solvers.control import Limits, State
from kinetix.solvers.system import Arguments, System, all_finite
from kinetix.status import Status

FIRST_ERROR = 0.01


class Segments(NamedTuple):
    """The stretches between consecutive stops (output times and breaks); each [s], for one of them scalars."""

    start: Array
    stop: Array
    inset: Array

    def inside(self, t: Array) -> Array:
        """t kept a few rounding units away from the ends, where the right-hand side might belong to the neighbour."""
        return lax.clamp(self.start + self.inset, t, self.stop - self.inset)

    def ending_at(self, times: Array) -> Array:
        """The segments [m] that end at the given times."""
        return jnp.sum(self.stop[None, :] < times[:, None], axis=1)


def are_valid(times: Array, t0: Array, y0: Array, args: Arguments) -> Array:
    """Whether all inputs are finite and the times in order."""
    times, t0 = lax.stop_gradient((times, t0))
    return jnp.all(times >= jnp.concatenate([t0[None], times[:-1]])) & all_finite((times, t0, y0, args))


def segments_of(t0: Array, times: Array, breaks: Array | None = None) -> Segments:
    """Stops in order. A break outside the range falls on its end, where it only adds a segment of length zero."""
    stop = times
    if breaks is not None:
        stop = jnp.sort(jnp.concatenate([times, jnp.clip(lax.stop_gradient(breaks), t0, times[-1])]))
    start = jnp.concatenate([t0[None], stop[:-1]])
    unit = 8 * jnp.finfo(times.dtype).eps
    inset = jnp.minimum(unit * jnp.maximum(jnp.abs(start), jnp.abs(stop)), 0.25 * jnp.abs(stop - start))
    return Segments(start, stop, inset)


def time_derivative(quantity: Callable[[Array, Array], Array], rates: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda t, y: jax.jvp(quantity, (t, y), (jnp.ones_like(t), rates(t, y)))[1]


def first_state(system: System, limits: Limits, args: Arguments, y0: Array, segment: Segments, end: Array, valid: Array) -> State:
    """The state before the first step.

    The first h is such that the error would be a hundredth of the tolerance if y went on changing on the time scale of the
    start, |dy/dt| / |d2y/dt2|. That does not depend on the units of y and t; rejected steps correct a choice that is too large.

    Args:
        segment: the first.
        end: of the last.
        valid: whether all inputs are finite and in order.
    """
    y, args = lax.stop_gradient((y0, args))
    t = segment.start + segment.inset

    def rates(t: Array, y: Array) -> Array:
        return system.rates(t, y, args)

    first = rates(t, y)
    second = time_derivative(rates, lambda t, y: first)(t, y)
    scale = limits.atol + limits.rtol * jnp.abs(y)
    tiny = jnp.finfo(y.dtype).tiny
    speed = jnp.sqrt(jnp.mean((first / scale) ** 2))
    bend = jnp.maximum(jnp.sqrt(jnp.mean((second / scale) ** 2)), tiny)
    time = jnp.minimum(jnp.maximum(speed / bend, lax.rsqrt(bend)), end - segment.start)
    change = jnp.maximum(jnp.maximum(speed * time, bend * time * time), tiny)
    h = time * jnp.minimum((FIRST_ERROR / change) ** (1.0 / (tableau.ORDER + 1)), 1.0)
    status = jnp.where(valid & all_finite(first), Status.SUCCESS, Status.NON_FINITE).astype(jnp.int32)
    begin = jnp.where(jnp.isfinite(segment.start), segment.start, 0.0)
    zero = jnp.zeros((), jnp.int32)
    return State(y0, begin, h, status, zero, zero)
