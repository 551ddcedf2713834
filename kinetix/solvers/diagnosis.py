"""Why an integration ended before its end: the last attempt of one lane, looked at component by component."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from kinetix.solvers.control import State, plan
from kinetix.solvers.integration import Options, as_arrays
from kinetix.solvers.segments import Segments, are_valid, segments_of
from kinetix.solvers.stepping import begun, run, step
from kinetix.solvers.system import Arguments, System


class Attempt(NamedTuple):
    """The step that a lane did not take.

    y : [n], the state where it stopped.
    t : the time there.
    h : the size of the step.
    y_new : [n], the state that the step led to.
    error : [n], its estimated errors in units of the tolerance, atol + rtol |y|; NaN where not finite.
    rates : [n], dy/dt where it stopped.
    """

    y: Array
    t: Array
    h: Array
    y_new: Array
    error: Array
    rates: Array


def last_attempt(
    system: System,
    y0: ArrayLike,
    args: Arguments,
    times: ArrayLike,
    *,
    t0: ArrayLike = 0.0,
    breaks: ArrayLike | None = None,
    options: Options,
) -> Attempt:
    """What a lane that failed tried last; arguments as of `integrate`.

    The general program follows the lane again to the state where it stopped, and takes the step from there that was not accepted or that
    the step limit forbade. That costs as much as the lane did, and nothing in the lanes that are well.

    >>> from kinetix.precision import float64
    >>> decay = System(lambda t, y, k: -k * y, autonomous=True)
    >>> with float64():
    ...     attempt = last_attempt(decay, [1.0, 0.0], jnp.array([9.0, 1.0]), [5.0], options=Options(max_steps=3))
    >>> decaying, absent = attempt.error.tolist()
    >>> 0 < float(attempt.t) < 5, decaying > absent
    (True, True)
    """
    start, ends, begin, kinks = as_arrays(y0, times, t0, breaks)
    return _last_attempt(system, start, args, ends, begin, kinks, options)


def _attempt(system: System, y0: Array, args: Arguments, times: Array, t0: Array, breaks: Array | None, options: Options) -> Attempt:
    limits, segments = options.limits(y0.dtype), segments_of(t0, times, breaks)
    state, _ = run(system, limits, args, begun(system, limits, args, y0, segments, are_valid(times, t0, y0, args)), segments)
    place = jnp.minimum(jnp.sum(segments.stop <= state.t), segments.stop.size - 1)
    here: Segments = jax.tree.map(lambda x: x[place], segments)
    # the plan of a lane that may go on
    going = State(state.y, state.t, state.h, jnp.zeros_like(state.status), jnp.zeros_like(state.accepted), jnp.zeros_like(state.rejected))
    h = plan(going, here.stop, jnp.ones_like(limits.max_steps)).taken
    y_new, error = step(system, args, state.y, state.t, h, here)
    size = jnp.maximum(jnp.abs(state.y), jnp.abs(y_new))
    scaled = jnp.abs(error) / (limits.atol + limits.rtol * size)
    rates = system.rates(here.inside(state.t), state.y, args)
    return Attempt(state.y, state.t, h, y_new, jnp.where(jnp.isfinite(scaled), scaled, jnp.nan), rates)


_last_attempt = jax.jit(_attempt, static_argnums=0)
