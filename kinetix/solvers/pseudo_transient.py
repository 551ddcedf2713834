"""Pseudo-transient Newton iteration to a root of rhs(0, y, args), one lane.

C. T. Kelley and D. E. Keyes, Convergence analysis of pseudo-transient continuation, SIAM Journal on Numerical Analysis 35, 508 (1998);
how long a step may be, and when the iteration has converged, from simplified Newton corrections: P. Deuflhard, Newton Methods for
Nonlinear Problems (Springer 2004), sections 2.1 and 6.4.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from kinetix.solvers.linear import gauss_jordan
from kinetix.solvers.system import Arguments, System

LONGEST_STEP = 10.0
"""Steps longer than that many of the slowest times are Newton's."""
GROWTH, SLOWEST_GROWTH, FASTEST_GROWTH, BACK = 0.5, 2.0, 1e3, 0.2
SETTLED = 0.01
ROUNDING, SINGULAR = 64.0, 4.0
SIMPLE, CONTRACTING = 0.1, 0.5
"""Newton's method contracts the correction to a simple root by more and more, to a double root to a quarter."""
UNDETERMINED = 0.1


class Root(NamedTuple):
    """What `pseudo_transient` gives.

    y : [n], the root, or where the iteration ended.
    converged : whether it is a root that the iteration came to.
    rests : whether it is a root to rounding, possibly one at which the iteration began and that it left alone, since it is not stable.
    simple : whether the last Newton steps converged as to a simple root.
    iterations : int32.
    residual : the largest |rhs_i| relative to the size of its terms.
    """

    y: Array
    converged: Array
    rests: Array
    simple: Array
    iterations: Array
    residual: Array


class State(NamedTuple):
    """What one iteration hands to the next.

    converged : the correction that is left is within the tolerance.
    stalled : it is small, but rounding lets it shrink no further.
    """

    y: Array
    inverse_dt: Array
    converged: Array
    stalled: Array
    simple: Array
    iterations: Array


class Course(NamedTuple):
    """What holds for all iterations from a start.

    newton_below : an inverse step size up to which steps are Newton's.
    lowest : [n], where no component goes below: atol and rounding below zero, or the start.
    """

    newton_below: Array
    lowest: Array


class Limits(NamedTuple):
    """rtol and atol of the last correction, and the most iterations, rejected ones included; not above zero for none."""

    rtol: Array
    atol: Array
    max_iterations: Array


class Proposal(NamedTuple):
    """The linear system of an iteration, `matrix` change = rates. `shift` is 1/dt, zero for a Newton step."""

    matrix: Array
    rates: Array
    shift: Array


def first_state(system: System, y0: Array, args: Arguments, atol: Array) -> tuple[State, Course]:
    """The state before the first iteration: dt is the slowest loss 1/min |J_ii|."""
    dtype = y0.dtype
    yes = jnp.asarray(True)
    jacobian = system.matrix(jnp.zeros((), dtype), y0, args)
    losses = jnp.abs(jnp.stack([jacobian[i, i] for i in range(y0.size)]))
    slowest = jnp.min(jnp.where(losses > 0, losses, jnp.inf))
    inverse_dt = jnp.where(jnp.isfinite(slowest), slowest, 0.0)
    lowest = jnp.minimum(y0, 0.0) - atol - ROUNDING * jnp.finfo(dtype).eps * jnp.sum(jnp.abs(y0))
    return State(y0, inverse_dt, ~yes, ~yes, yes, jnp.zeros((), jnp.int32)), Course(inverse_dt / LONGEST_STEP, lowest)


def unfinished(state: State, max_iterations: Array) -> Array:
    """Whether another iteration is needed and allowed."""
    return ~state.converged & ~state.stalled & (state.iterations < max_iterations)


def propose(system: System, state: State, course: Course, args: Arguments) -> Proposal:
    """A linearised implicit Euler step, (1/dt - J) change = rhs."""
    t = jnp.zeros((), state.y.dtype)
    shift = jnp.where(state.inverse_dt <= course.newton_below, 0.0, state.inverse_dt)
    matrix = shift * np.eye(state.y.size, dtype=state.y.dtype) - system.matrix(t, state.y, args)
    return Proposal(matrix, system.rates(t, state.y, args), shift)


def remainder(system: System, state: State, args: Arguments, proposal: Proposal, change: Array) -> Array:
    """What the linear system leaves out: right-hand side of the simplified correction, by the same matrix."""
    return system.rates(jnp.zeros((), state.y.dtype), state.y + change, args) - proposal.shift * change


def judge(state: State, course: Course, limits: Limits, proposal: Proposal, change: Array, correction: Array, positive: Array) -> State:
    """The state after a change and its correction that were tried; where nothing is left to do it stays as it is.

    Args:
        positive: whether the determinant of the linear system is. That of 1/dt - J is while dt is below the time of the fastest growth;
            beyond it the step would jump over what is reached in time.
    """
    y, inverse_dt, _, _, simple, iterations = state
    eps, newton = jnp.finfo(y.dtype).eps, proposal.shift == 0
    is_open = unfinished(state, limits.max_iterations)
    new = y + change + correction
    amount = jnp.abs(y)
    inverse = 1.0 / (amount + limits.atol)
    length, left = jnp.sum((change * inverse) ** 2), jnp.sum((correction * inverse) ** 2)
    contraction = jnp.sqrt(left / jnp.maximum(length, limits.rtol**2))

    inside = jnp.all(new >= course.lowest)
    good = is_open & positive & inside & jnp.isfinite(jnp.sum(new)) & (contraction <= 1.0)
    settled = jnp.all(jnp.abs(correction) <= (SETTLED * limits.rtol) * amount + SETTLED * limits.atol)
    converged = good & newton & settled & (contraction <= CONTRACTING)
    stalled = is_open & newton & ~converged & (length <= eps ** (2 / 3)) & (contraction > CONTRACTING)
    shows = good & newton & ~stalled & (length > eps)
    shorter = jnp.clip((1 / GROWTH) * contraction, 1 / FASTEST_GROWTH, 1 / SLOWEST_GROWTH)
    return State(
        y=jnp.where(good, new, y),
        inverse_dt=inverse_dt * jnp.where(good, shorter, jnp.where(is_open, 1.0 / BACK, 1.0)),
        converged=state.converged | converged,
        stalled=state.stalled | stalled,
        simple=jnp.where(shows, contraction <= SIMPLE, simple),
        iterations=iterations + is_open.astype(jnp.int32),
    )


def residual_of(system: System, y: Array, args: Arguments, atol: Array, jacobian: Array) -> Array:
    """The largest |rhs_i| relative to the size of the terms it is made of, |rhs_i| + sum_j |J_ij| (|y_j| + atol)."""
    rates = jnp.abs(system.rates(jnp.zeros((), y.dtype), y, args))
    terms = jnp.abs(jacobian) @ (jnp.abs(y) + atol) + rates
    return jnp.max(rates / jnp.maximum(terms, jnp.finfo(y.dtype).tiny))


class Verdict(NamedTuple):
    """`converged` and `rests` of a `Root`."""

    converged: Array
    rests: Array


def verdict(state: State, residual: Array, smallest: Array) -> Verdict:
    """Whether the iteration has found a root: to the tolerance, or stalled at one to rounding.

    Args:
        residual: see `residual_of`.
        smallest: pivot of the Jacobian there, with columns scaled by |y| + atol: a singular one says nothing about where the root is.
    """
    eps = jnp.finfo(residual.dtype).eps
    regular, rests = smallest > SINGULAR * eps, residual <= ROUNDING * eps
    return Verdict((state.converged | (state.stalled & rests)) & regular, rests & regular)


def pseudo_transient(system: System, y0: Array, args: Arguments, rtol: Array, atol: Array, max_iterations: Array) -> Root:
    """The root that the iteration reaches from y0.

    Each iteration is a linearised implicit Euler step, (1/dt - J) change = rhs, and a correction by what that leaves out,
    (1/dt - J) correction = rhs(y + change) - change/dt. dt starts at the slowest loss 1/min |J_ii| and grows by 1/2 |change|/|correction|.
    It shrinks if a value is not finite, a component would become clearly negative, the correction is larger than the change, or the step
    is longer than the time in which something grows. Steps longer than ten of the slowest times are full Newton steps, and the last
    correction of them, which is still applied, is at most a hundredth of rtol |y| + atol, or is nothing but rounding.

    Args:
        system: the equations, called with t = 0.
        y0: [n], where to start.
        args: pytree of arrays and numbers, given to rhs.
        rtol, atol, max_iterations: see `Limits`; atol is a number or [n].

    Returns:
        A `Root`.
    """
    limits = Limits(rtol, atol, max_iterations)
    first, course = first_state(system, y0, args, atol)

    def attempt(state: State) -> State:
        proposal = propose(system, state, course, args)
        inverted, _, sign = gauss_jordan(proposal.matrix)
        change = inverted @ proposal.rates
        correction = inverted @ remainder(system, state, args, proposal, change)
        return judge(state, course, limits, proposal, change, correction, sign > 0)

    final = lax.while_loop(lambda state: unfinished(state, max_iterations), attempt, first)
    jacobian = system.matrix(jnp.zeros((), y0.dtype), final.y, args)
    residual = residual_of(system, final.y, args, atol, jacobian)
    _, smallest, _ = gauss_jordan(jacobian * (jnp.abs(final.y) + atol)[None, :])
    return Root(final.y, *verdict(final, residual, smallest), final.simple, final.iterations, residual)


def is_regular(system: System, y: Array, args: Arguments, rtol: Array, atol: Array, jacobian: Array, smallest: Array) -> Array:
    """Whether the Jacobian at a root determines its derivatives.

    Args:
        smallest: its smallest pivot, with columns scaled by |y| + atol.
    """
    nearby = system.matrix(jnp.zeros((), y.dtype), y + rtol * jnp.abs(y) + atol, args)
    variation = jnp.max(jnp.abs(nearby - jacobian), axis=1)
    determined = jnp.all(variation <= UNDETERMINED * jnp.max(jnp.abs(jacobian), axis=1))
    return determined & (smallest > ROUNDING * jnp.finfo(y.dtype).eps)
