"""Pseudo-transient Newton iteration to a root of rhs(0, y, args), one lane.

C. T. Kelley and D. E. Keyes, Convergence analysis of pseudo-transient continuation, SIAM Journal on Numerical Analysis 35, 508 (1998).
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from kinetix.solvers.linear import gauss_jordan
from kinetix.solvers.system import Arguments, System

SLOWEST_GROWTH, FASTEST_GROWTH, BACK = 1.5, 50.0, 0.2
NEWTON_BELOW, LATER = 1e-2, 0.1
BELOW_ZERO = 1e-10
ROUNDING, SINGULAR = 64.0, 4.0
LINEAR = 0.3
UNDETERMINED = 0.1


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


class State(NamedTuple):
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


class Limits(NamedTuple):
    """rtol and atol of the last correction, and the most iterations, rejected ones included; not above zero for none."""

    rtol: Array
    atol: Array
    max_iterations: Array


class Proposal(NamedTuple):
    """The linear system of an iteration, `matrix` x = rates with change = size x, and what is known before it is solved.

    share : the inverse of the size of the terms that each rate is made of, |rate_i| + sum_j |J_ij| (|y_j| + atol).
    """

    matrix: Array
    size: Array
    share: Array
    residual: Array
    newton: Array


def first_state(system: System, y0: Array, args: Arguments) -> State:
    """The state before the first iteration: dt is the slowest loss 1/min |J_ii|."""
    dtype = y0.dtype
    t, yes = jnp.zeros((), dtype), jnp.asarray(True)
    jacobian = system.matrix(t, y0, args)
    losses = jnp.abs(jnp.stack([jacobian[i, i] for i in range(y0.size)]))
    slowest = jnp.min(jnp.where(losses > 0, losses, jnp.inf))
    infinite = jnp.asarray(jnp.inf, dtype)
    return State(
        y=y0,
        rates=system.rates(t, y0, args),
        inverse_dt=jnp.where(jnp.isfinite(slowest), slowest, 0.0),
        newton_below=jnp.asarray(NEWTON_BELOW, dtype),
        correction=infinite,
        residual=infinite,
        converged=~yes,
        simple=yes,
        direct=yes,
        iterations=jnp.zeros((), jnp.int32),
    )


def unfinished(converged: Array, iterations: Array, max_iterations: Array) -> Array:
    """Whether another iteration is needed and allowed."""
    return ~converged & (iterations < max_iterations)


def propose(system: System, state: State, args: Arguments, limits: Limits) -> Proposal:
    """(1/dt - J) diag(size), of which 1/dt is zero once the steps are Newton's."""
    jacobian = system.matrix(jnp.zeros((), state.y.dtype), state.y, args)
    size = jnp.abs(state.y) + limits.atol
    share = 1.0 / jnp.maximum(jnp.abs(jacobian) @ size + jnp.abs(state.rates), jnp.finfo(size.dtype).tiny)
    residual = jnp.max(jnp.abs(state.rates) * share)
    newton = residual <= state.newton_below
    shifted = jnp.where(newton, 0.0, state.inverse_dt) * np.eye(size.size, dtype=size.dtype) - jacobian
    return Proposal(shifted * size[None, :], size, share, residual, newton)


def judge(
    system: System, state: State, args: Arguments, limits: Limits, proposal: Proposal, change: Array, smallest: Array, sign: Array
) -> State:
    """The state after a change that was tried; where nothing is left to do it stays as it is.

    Args:
        smallest: the smallest pivot of the linear system.
        sign: of its determinant.
    """
    y, rates, inverse_dt, newton_below, previous, _, _, simple, direct, iterations = state
    _, _, share, residual, newton = proposal
    rounding, singular = ROUNDING * jnp.finfo(y.dtype).eps, SINGULAR * jnp.finfo(y.dtype).eps
    is_open = unfinished(state.converged, iterations, limits.max_iterations)
    y_new = y + change
    rates_new = system.rates(jnp.zeros((), y.dtype), y_new, args)
    residual_new = jnp.max(jnp.abs(rates_new) * share)
    positive = jnp.min(y_new - jnp.minimum(y, -(limits.atol + BELOW_ZERO * jnp.abs(y)))) >= 0.0
    # Against the rates goes a step whose dt is longer than the time in which something grows: the linear model has a pole in between.
    forward = jnp.sum((change * share) * (rates * share)) >= 0.0
    better = (residual_new <= jnp.maximum(residual, rounding)) & (smallest > singular)
    good = is_open & jnp.isfinite(jnp.sum(y_new)) & jnp.isfinite(residual_new) & positive & jnp.where(newton, better, forward)

    correction = jnp.where(newton, jnp.max(jnp.abs(change) / (limits.rtol * jnp.abs(y_new) + limits.atol)), jnp.inf)
    at_rounding = residual_new <= rounding
    converged = good & newton & ((correction <= 1.0) | (at_rounding & (correction >= 0.25 * previous)))
    growth = jnp.clip(residual / jnp.maximum(residual_new, jnp.finfo(y.dtype).tiny), SLOWEST_GROWTH, FASTEST_GROWTH)
    slower = is_open & ~good
    return State(
        y=jnp.where(good, y_new, y),
        rates=jnp.where(good, rates_new, rates),
        inverse_dt=inverse_dt * jnp.where(good, 1.0 / growth, jnp.where(slower & ~newton, 1.0 / BACK, 1.0)),
        newton_below=jnp.where(newton & slower, jnp.maximum(LATER * residual, rounding), newton_below),
        correction=jnp.where(good, correction, previous),
        residual=jnp.where(good, residual_new, state.residual),
        converged=state.converged | converged,
        simple=jnp.where(newton & good & ~at_rounding, correction <= LINEAR * previous, simple),
        # The determinant of 1/dt - J is positive while dt is below the time of the fastest growth.
        direct=direct & (~good | (sign > 0)),
        iterations=iterations + is_open.astype(jnp.int32),
    )


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
        rtol, atol, max_iterations: see `Limits`; atol is a number or [n].

    Returns:
        A `Root`.
    """
    limits = Limits(rtol, atol, max_iterations)

    def attempt(state: State) -> State:
        proposal = propose(system, state, args, limits)
        inverted, smallest, sign = gauss_jordan(proposal.matrix)
        return judge(system, state, args, limits, proposal, proposal.size * (inverted @ state.rates), smallest, sign)

    def is_open(state: State) -> Array:
        return unfinished(state.converged, state.iterations, max_iterations)

    final = lax.while_loop(is_open, attempt, first_state(system, y0, args))
    return Root(final.y, final.converged, final.simple, final.direct, final.iterations, final.residual)


def is_regular(system: System, y: Array, args: Arguments, rtol: Array, atol: Array, jacobian: Array, smallest: Array) -> Array:
    """Whether the Jacobian at a root determines its derivatives.

    Args:
        smallest: its smallest pivot, with columns scaled by |y| + atol.
    """
    nearby = system.matrix(jnp.zeros((), y.dtype), y + rtol * jnp.abs(y) + atol, args)
    variation = jnp.max(jnp.abs(nearby - jacobian), axis=1)
    determined = jnp.all(variation <= UNDETERMINED * jnp.max(jnp.abs(jacobian), axis=1))
    return determined & (smallest > ROUNDING * jnp.finfo(y.dtype).eps)
