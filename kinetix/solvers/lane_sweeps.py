"""Reverse mode of one lane: `replay` with the steps of the general program.

The adjoint of a step is the transpose of its derivative.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from kinetix.solvers.control import Limits, State, unfinished
from kinetix.solvers.replay import Kept, Taken, read_at, swept_back
from kinetix.solvers.segments import Segments
from kinetix.solvers.stepping import attempted, step
from kinetix.solvers.system import Arguments, System


def sweep_lane(
    system: System, limits: Limits, args: Arguments, first: State, segments: Segments, given: Array, active: tuple[int, ...], kept: Kept
) -> tuple[Array, list[Array]]:
    """The cotangents of the start and of the active leaves of args, from those of the states at the ends of the segments [segment, n]."""
    leaves, tree = jax.tree.flatten(args)

    def attempt(state: State, place: Array) -> tuple[State, Taken, Array, tuple[()]]:
        segment = read_at(segments, place)
        following, planned = attempted(system, limits, args, state, segment)
        h = jnp.where(following.accepted > state.accepted, planned.taken, 0.0)
        closes = ~unfinished(following.t, following.status, following.accepted + following.rejected, segment.stop, limits.max_steps)
        return following, Taken(state.y, state.t, h), closes, ()

    def back(taken: Taken, place: Array, closes: Array, gathered: tuple[Array, list[Array]]) -> tuple[Any, tuple[()]]:
        cotangent, so_far = gathered
        cotangent = cotangent + jnp.where(closes, read_at(given, place), 0.0)
        accepted = taken.h > 0
        h = jnp.where(accepted, taken.h, 1.0)

        def new_state(y: Array, *moved: Array) -> Array:
            replaced = dict(zip(active, moved, strict=True))
            args = jax.tree.unflatten(tree, [replaced.get(i, leaf) for i, leaf in enumerate(leaves)])
            return step(system, args, y, taken.t, h, read_at(segments, place))[0]

        before, *changes = jax.vjp(new_state, taken.y, *(leaves[i] for i in active))[1](cotangent)
        so_far = [total + jnp.where(accepted, change, 0.0) for total, change in zip(so_far, changes, strict=True)]
        return (jnp.where(accepted, before, cotangent), so_far), ()

    nothing = (jnp.zeros_like(first.y), [jnp.zeros_like(leaves[i]) for i in active])
    (start, by_leaf), _ = swept_back(attempt, back, first, nothing, segments.stop.size, ((), ()), kept)
    return start, by_leaf
