"""Pseudo-transient Newton iteration to a root of rhs(0, y, args), one lane.

C. T. Kelley and D. E. Keyes, Convergence analysis of pseudo-transient continuation, SIAM Journal on Numerical Analysis 35, 508 (1998).
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from kinetix.solvers.linear import gauss_jordan
from kinetix.solvers.system import Arguments, System

SLOWEST_GROWTH, FASTEST_GROWTH, BACK = 1.5, 50.0, 0.2
NEWTON_BELOW, LATER = 1e-2, 0.1
BELOW_ZERO = 1e-10
ROUNDING, SINGULAR = 64.0, 4.0
LINEAR = 0.3


class Root(NamedTuple):
    """What `pseudo_transient` gives.

    y : [n], the root, or where the iteration ended.
    converged : whether it is a root.
    simple : whether the last Newton steps converged as to a simple root.
    direct : whether no step was longer than the time in which something grows: then nothing was jumped over.
    iterations : int32.
    residual : the largest |rhs_i| relative to the size of its terms.
    """

    y: Array
    converged: Array
    simple: Array
    direct: Array
    iterations: Array
    residual: Array


class _State(NamedTuple):
    """What one iteration hands to the next."""

    y: Array
    rates: Array
    inverse_dt: Array
    newton_below: Array
    correction: Array
    residual: Array
    converged: Array
    simple: Array
    direct: Array
    iterations: Array


def pseudo_transient(system: System, y0: Array, args: Arguments, rtol: Array, atol: Array, max_iterations: Array) -> Root:
    """A root that the iteration reaches from y0.

    Each iteration is a linearised implicit Euler step, (1/dt - J) change = rhs, whose dt starts at the slowest loss 1/min |J_ii|, grows
    with the ratio of the residuals, and shrinks if a value is not finite, a component would become clearly negative, or the step goes
    against the rates. Once the residual is a hundredth of its terms the steps are full Newton steps, and the last of them is at most
    rtol |y| + atol, or is nothing but rounding.

    Args:
        system: the equations, called with t = 0.
        y0: [n], where to start.
        args: pytree of arrays and numbers, given to rhs.
        rtol, atol: for the last correction; atol is a number or [n].
        max_iterations: int32, the most iterations, rejected ones included; not above zero for none.

    Returns:
        A `Root`.
    """
    dtype = y0.dtype
    t = jnp.zeros((), dtype)
    rounding, singular = ROUNDING * jnp.finfo(dtype).eps, SINGULAR * jnp.finfo(dtype).eps
    tiny = jnp.finfo(dtype).tiny
    identity = jnp.eye(y0.size, dtype=dtype)

    def attempt(state: _State) -> _State:
        y, rates, inverse_dt, newton_below, previous, _, _, simple, direct, iterations = state
        jacobian = system.matrix(t, y, args)
        size = jnp.abs(y) + atol
        terms = jnp.maximum(jnp.abs(jacobian) @ size + jnp.abs(rates), tiny)
        residual = jnp.max(jnp.abs(rates) / terms)
        newton = residual <= newton_below
        inverted, smallest, sign = gauss_jordan((jnp.where(newton, 0.0, inverse_dt) * identity - jacobian) * size[None, :])
        change = size * (inverted @ rates)
        y_new = y + change
        rates_new = system.rates(t, y_new, args)
        residual_new = jnp.max(jnp.abs(rates_new) / terms)
        negative = jnp.any((y_new < y) & (y_new < -(atol + BELOW_ZERO * jnp.abs(y))))
        # Against the rates goes a step whose dt is longer than the time in which something grows: the linear model has a pole in between.
        forward = jnp.sum(change * rates / terms**2) >= 0.0
        better = (residual_new <= jnp.maximum(residual, rounding)) & (smallest > singular)
        good = jnp.all(jnp.isfinite(y_new)) & jnp.isfinite(residual_new) & ~negative & jnp.where(newton, better, forward)

        correction = jnp.where(newton, jnp.max(jnp.abs(change) / (rtol * jnp.abs(y_new) + atol)), jnp.inf)
        at_rounding = residual_new <= rounding
        converged = good & newton & ((correction <= 1.0) | (at_rounding & (correction >= 0.25 * previous)))
        simple = jnp.where(newton & good & ~at_rounding, correction <= LINEAR * previous, simple)
        growth = jnp.clip(residual / jnp.maximum(residual_new, tiny), SLOWEST_GROWTH, FASTEST_GROWTH)
        return _State(
            y=jnp.where(good, y_new, y),
            rates=jnp.where(good, rates_new, rates),
            inverse_dt=jnp.where(good, inverse_dt / growth, jnp.where(newton, inverse_dt, inverse_dt / BACK)),
            newton_below=jnp.where(newton & ~good, jnp.maximum(LATER * residual, rounding), newton_below),
            correction=jnp.where(good, correction, previous),
            residual=jnp.where(good, residual_new, residual),
            converged=converged,
            simple=simple,
            # The determinant of 1/dt - J is positive while dt is below the time of the fastest growth.
            direct=direct & (forward | newton) & (sign > 0),
            iterations=iterations + 1,
        )

    rates = system.rates(t, y0, args)
    losses = jnp.abs(jnp.diagonal(system.matrix(t, y0, args)))
    slowest = jnp.min(jnp.where(losses > 0, losses, jnp.inf))
    start = _State(
        y=y0,
        rates=rates,
        inverse_dt=jnp.where(jnp.isfinite(slowest), slowest, 0.0),
        newton_below=jnp.asarray(NEWTON_BELOW, dtype),
        correction=jnp.asarray(jnp.inf, dtype),
        residual=jnp.asarray(jnp.inf, dtype),
        converged=jnp.asarray(False),
        simple=jnp.asarray(True),
        direct=jnp.asarray(True),
        iterations=jnp.zeros((), jnp.int32),
    )
    final = lax.while_loop(lambda s: ~s.converged & (s.iterations < max_iterations), attempt, start)
    return Root(final.y, final.converged, final.simple, final.direct, final.iterations, final.residual)
