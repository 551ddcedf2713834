"""Reverse mode of an integration: its steps are stored as they are taken, then visited from the last to the first.

How much is stored does not depend on the number of steps: the last `KEPT.steps` of them, and the state at every `KEPT.steps`-th as a mark.
Earlier steps are taken again from their marks, `KEPT.steps` at a time, so that each step is taken at most twice; beyond
`KEPT.steps * KEPT.marks` steps there are no more marks, and more of them are taken again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

Tree = Any
"""A pytree of arrays."""


class Kept(NamedTuple):
    """How many steps, accepted or not, and how many marks are stored at a time."""

    steps: int = 256
    marks: int = 64


KEPT = Kept()


class Taken(NamedTuple):
    """What is stored of a step that was tried.

    y, t : before it.
    h : its size; 0 where it was not accepted.
    """

    y: Tree
    t: Array
    h: Array


def read_at(tree: Tree, place: Array) -> Tree:
    """Entry `place` of the leading axis of each array."""
    return jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, place, keepdims=False), tree)


def _written(tree: Tree, entry: Tree, place: Array) -> Tree:
    return jax.tree.map(lambda x, value: lax.dynamic_update_index_in_dim(x, value, place, 0), tree, entry)


def _room(entry: Tree, size: int) -> Tree:
    return jax.tree.map(lambda x: jnp.zeros((size, *jnp.shape(x)), jnp.result_type(x)), entry)


def swept_back(
    attempt: Callable[[Tree, Array], tuple[Tree, Tree, Array, Tree]],
    back: Callable[[Tree, Array, Array, Tree], tuple[Tree, Tree]],
    state: Tree,
    gathered: Tree,
    segments: int,
    pins: tuple[Tree, Tree],
    kept: Kept,
) -> tuple[Tree, tuple[Tree, Tree]]:
    """What `back` has gathered when all steps have been visited, from the last to the first, and what the loops carried besides.

    Args:
        attempt: from a state and the number of its segment to the next state, what is to be stored of the step, whether it was the last in
            its segment, and values that the loop carries (`native`).
        back: from what was stored, the number of the segment, whether it was the last there, and what has been gathered, to what is
            gathered then, and values that the loop carries.
        state: the first.
        gathered: at the end of all steps.
        segments: how many there are; each ends with a step.
        pins: what the two loops carry at first.
        kept: how much is stored.
    """
    one, zero = jnp.int32(1), jnp.int32(0)
    size, most = jnp.int32(kept.steps), jnp.int32(kept.marks)
    stored = jax.eval_shape(lambda: attempt(state, zero)[1])
    ring = _room((stored, zero, zero == 0), kept.steps)
    marks = _written(_room((state, zero), kept.marks + 1), (state, zero), zero)

    def forward(state: Tree, segment: Array, count: Array, end: Array, ring: Tree, marks: Tree, pinned: Tree) -> tuple[Any, ...]:
        def is_open(carry: tuple[Any, ...]) -> Array:
            _, segment, count, *_ = carry
            return (segment < segments) & (count < end)

        def advance(carry: tuple[Any, ...]) -> tuple[Any, ...]:
            state, segment, count, ring, marks, _ = carry
            state, stored, closes, pinned = attempt(state, segment)
            ring = _written(ring, (stored, segment, closes), lax.rem(count, size))
            count, segment = count + one, segment + closes.astype(jnp.int32)
            # the mark above is written over until it is the right one; where there is none left, one that nobody reads
            place = lax.min(lax.div(count + size - one, size), most)
            return state, segment, count, ring, _written(marks, (state, segment), place), pinned

        _, _, count, ring, marks, pinned = lax.while_loop(is_open, advance, (state, segment, count, ring, marks, pinned))
        return count, ring, marks, pinned

    def visited(ring: Tree, first: Array, last: Array, gathered: Tree, pinned: Tree) -> tuple[Tree, Tree]:
        def visit(carry: tuple[Any, ...]) -> tuple[Any, ...]:
            count, gathered, _ = carry
            stored, segment, closes = read_at(ring, lax.rem(count, size))
            gathered, pinned = back(stored, segment, closes, gathered)
            return count - one, gathered, pinned

        _, gathered, pinned = lax.while_loop(lambda carry: carry[0] >= first, visit, (last, gathered, pinned))
        return gathered, pinned

    def stretch(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        end, mark, ring, marks, gathered, (forth, inner) = carry
        state, segment = read_at(marks, mark)
        count, ring, marks, forth = forward(state, segment, mark * size, end, ring, marks, forth)
        first = lax.div(count - one, size) * size
        gathered, inner = visited(ring, first, count - one, gathered, inner)
        mark = lax.max(lax.min(lax.div(first, size) - one, most - one), zero)
        return first, mark, ring, marks, gathered, (forth, inner)

    start = (jnp.int32(jnp.iinfo(jnp.int32).max), zero, ring, marks, gathered, pins)
    *_, gathered, pins = lax.while_loop(lambda carry: carry[0] > 0, stretch, start)
    return gathered, pins
