"""Weighted residuals of many experiments as one small triangle: memory is bounded by the block, whatever the number of experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp

from kinetix.estimation.losses import Loss
from kinetix.estimation.triangles import merge, triangle

Predict = Callable[[Any, jax.Array, Mapping[str, Any]], tuple[jax.Array, jax.Array, jax.Array, jax.Array]]
"""`(model, theta, lanes) -> (values, status, steps, t_reached)`; see `kinetix.simulation.predict`."""


class Spread(Protocol):
    """Standard deviations that depend on what is estimated; a pytree."""

    @property
    def estimated(self) -> Any:
        """Responses whose standard deviation does, (response,)."""

    def deviation(self, theta: jax.Array, values: jax.Array) -> Any:
        """Standard deviations of predicted values (lane, time, response)."""


ROWS_IN_BLOCK = 16_384
"""Residuals whose Jacobian is held at a time."""


class Evaluation(NamedTuple):
    """What one evaluation at free coordinates gives.

    Attributes:
        R: triangle of [J r], (free + 1, free + 1); r = (predicted - observed) weight, as the loss transforms it where there is one.
        bad: number of measured values without a finite prediction.
        values: predictions, SI, (lane, time, response).
        status, steps, t_reached: of the solves, (lane,).
    """

    R: jax.Array
    bad: jax.Array
    values: jax.Array
    status: jax.Array
    steps: jax.Array
    t_reached: jax.Array


def lanes_per_block(lanes: int, rows_per_lane: int) -> int:
    """Lanes whose residuals fill a block.

    >>> lanes_per_block(12, 60), lanes_per_block(100_000, 4)
    (12, 4096)
    """
    return max(1, min(lanes, ROWS_IN_BLOCK // max(1, rows_per_lane)))


@partial(jax.jit, static_argnames=("predict", "block"))
def evaluate(
    predict: Predict,
    model: Any,
    theta: jax.Array,
    lanes: Mapping[str, Any],
    observed: jax.Array,
    weights: jax.Array,
    block: int,
    loss: Loss | None = None,
    spread: Spread | None = None,
) -> Evaluation:
    """Residual triangle, predictions and statuses at `theta`.

    Args:
        predict: the simulation seam; static.
        model: its first argument, a pytree.
        theta: free coordinates, (free,).
        lanes: experiments with a leading lane axis.
        observed: SI, (lane, time, response).
        weights: 1/SI, 0 where nothing was measured.
        block: lanes in a block; static.
        loss: robust, or None for least squares.
        spread: standard deviations that are estimated: `weights` are then 1/sigma at a reference, and sqrt(1 + 2 ln(sigma weight)) are
            further residuals, so that the sum of squares is -2 ln L but for a constant; not finite where sigma is below 0.6 times its
            reference.
    """

    def one(part: Part) -> Evaluation:
        def residuals(theta: jax.Array) -> tuple[jax.Array, tuple[jax.Array, ...]]:
            r, bad, values, *ended = _weighted(predict, model, theta, part, loss, spread)
            return r, (r, bad, values, *ended)

        jacobian, (r, bad, values, *ended) = jax.jacfwd(residuals, has_aux=True)(theta)
        return Evaluation(triangle(jacobian, r), bad, values, *ended)

    parts = _by_blocks(one, lanes, observed, weights, block)

    def whole(array: jax.Array) -> jax.Array:
        return array.reshape(-1, *array.shape[2:])[: observed.shape[0]]

    return Evaluation(merge(parts.R), jnp.sum(parts.bad), *map(whole, parts[2:]))


@partial(jax.jit, static_argnames=("predict", "block"))
def value_and_gradient(
    predict: Predict,
    model: Any,
    theta: jax.Array,
    lanes: Mapping[str, Any],
    observed: jax.Array,
    weights: jax.Array,
    block: int,
    loss: Loss | None = None,
    spread: Spread | None = None,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """|r|^2/2, its gradient by `theta` in reverse, and the number of measured values without a finite prediction.

    Arguments as of `evaluate`. Blocks are swept back one after the other, so that memory is that of a block here too.
    """

    def one(part: Part) -> tuple[jax.Array, jax.Array, jax.Array]:
        def half(theta: jax.Array) -> tuple[jax.Array, jax.Array]:
            r, bad, *_ = _weighted(predict, model, theta, part, loss, spread)
            return 0.5 * jnp.sum(r * r), bad

        (value, bad), gradient = jax.value_and_grad(half, has_aux=True)(theta)
        return value, gradient, bad

    value, gradient, bad = _by_blocks(one, lanes, observed, weights, block)
    return jnp.sum(value), jnp.sum(gradient, axis=0), jnp.sum(bad)


Part = tuple[Mapping[str, Any], jax.Array, jax.Array, jax.Array]
"""The lanes of a block: conditions, observed, weights, and which are no padding."""

Found = TypeVar("Found")


def _weighted(
    predict: Predict, model: Any, theta: jax.Array, part: Part, loss: Loss | None, spread: Spread | None
) -> tuple[jax.Array, ...]:
    """(r, values without a finite prediction, values, status, steps, t_reached) of a block."""
    lanes, observed, weights, real = part
    used = (weights > 0) & real[:, None, None]
    values, *ended = predict(model, theta, lanes)
    rows = (jnp.where(used, values - observed, 0.0) * weights).reshape(-1)
    if spread is not None:
        rows = jnp.concatenate([*_with_spread(rows, spread, theta, jnp.where(used, values, observed), used, weights)])
    rows = rows if loss is None else jnp.asarray(loss.transformed(rows))
    return rows, jnp.sum(used & ~jnp.isfinite(values)), values, *ended


def _by_blocks(one: Callable[[Part], Found], lanes: Mapping[str, Any], observed: jax.Array, weights: jax.Array, block: int) -> Found:
    """`one` of each block, with a leading axis of blocks."""
    size = observed.shape[0]
    blocks = -(-size // block)

    def cut(array: jax.Array) -> jax.Array:
        # the last lane is repeated in the padding and weighs nothing
        filled = jnp.concatenate([array, jnp.repeat(array[-1:], blocks * block - size, axis=0)])
        return filled.reshape(blocks, block, *array.shape[1:])

    padding = (jnp.arange(blocks * block) < size).reshape(blocks, block)
    return jax.lax.map(one, (jax.tree.map(cut, lanes), cut(observed), cut(weights), padding))


def _with_spread(
    rows: jax.Array, spread: Spread, theta: jax.Array, values: jax.Array, used: jax.Array, weights: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Residuals over the estimated sigma, and the roots of its logarithms, (row,) each; 0 where sigma is known or nothing measured."""
    estimated = used & spread.estimated
    ratio = jnp.where(estimated, spread.deviation(theta, values) * weights, 1.0)
    logarithms = jnp.where(estimated, jnp.sqrt(1 + 2 * jnp.log(ratio)), 0.0)
    return rows / ratio.reshape(-1), logarithms.reshape(-1)
