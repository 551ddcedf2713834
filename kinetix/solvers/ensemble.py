"""Stiff initial value problems, many lanes at once: the Rodas5P, control and statuses of `integrate`, laid out for throughput.

Each entry of the state is a value of its own whose only axis is the lanes (`scalars`), the linear systems are eliminated entry by entry
(`factors`), and blocks of lanes run through one native function (`native`). A lane is solved as it would be alone: its neighbours
change nothing but the time it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.custom_derivatives import SymbolicZero
from jax.typing import ArrayLike

from kinetix.solvers import native
from kinetix.solvers.blocks import Active, Fixed, Start, cost_program, run_block
from kinetix.solvers.control import Limits
from kinetix.solvers.integration import FIRST_OF_ARGS, Y0, Integration, Options, Segments, Solution, are_valid, segments_of
from kinetix.solvers.scalars import Layout
from kinetix.solvers.sensitivity import differentiable, honest, no_tangent
from kinetix.solvers.system import Arguments, Structure, System, floating_type

LANES_IN_BLOCK = 64
"""Lanes that step together: few enough for the caches, enough for vectors."""

_DEFAULTS = Options()


def integrate_ensemble(
    system: System,
    y0: ArrayLike,
    args: Arguments,
    times: ArrayLike,
    *,
    t0: ArrayLike = 0.0,
    breaks: ArrayLike | None = None,
    options: Options = _DEFAULTS,
    cost: ArrayLike | None = None,
    block: int = LANES_IN_BLOCK,
    marked: bool = True,
) -> Solution:
    """`integrate` for many lanes: the same solution to rounding, some hundred times faster on a CPU.

    Derivatives exist as those of `integrate`, except with respect to t0. Those of first order run through the same layout: forward
    tangents of the start and of the perturbed leaves of args, on the factors of the step. Those of higher order run through the
    general program.

    Args:
        system: the equations of one lane. What is the same in all lanes (the network) is part of its functions, as NumPy arrays.
        y0: [lane, n].
        args: pytree of arrays, each with a leading lane axis.
        times: [lane, m].
        t0: a number, or [lane].
        breaks: [lane, q].
        options: numbers, or arrays with a leading lane axis; `atol` may be a tuple with an entry for each component.
        cost: [lane]; lanes of similar cost are put side by side. Best the `steps` of an earlier run; None: the fastest loss at the start.
        block: lanes that step together.
        marked: whether blocks are compiled into one native function. The digits do not depend on it.

    Returns:
        A `Solution` with a leading lane axis, in the order of the lanes given.

    Raises:
        NotScalar: the equations hold a loop, a branch or a search.
        TypeError: a derivative with respect to t0 or breaks is asked for.

    >>> from kinetix.precision import float64
    >>> decay = System(lambda t, y, k: -k * y, autonomous=True)
    >>> with float64():
    ...     solution = integrate_ensemble(decay, [[1.0]] * 3, jnp.array([0.5, 1.0, 2.0]), [[1.0]] * 3)
    >>> print([f"{value:.6f}" for value in solution.y[:, 0, 0].tolist()], solution.status.tolist())
    ['0.606531', '0.367879', '0.135335'] [0, 0, 0]
    """
    start = jnp.asarray(y0)
    dtype = floating_type(start)
    start, ends = start.astype(dtype), jnp.asarray(times, dtype)
    lanes, n = start.shape
    begin = jnp.broadcast_to(jnp.asarray(t0, dtype), (lanes,))
    leaves, tree = jax.tree.flatten(args)

    def spread(value: ArrayLike | tuple[float, ...], kind: Any) -> Array:
        if isinstance(value, tuple):
            return jnp.broadcast_to(jnp.asarray(value, kind), (lanes, n))
        return jnp.broadcast_to(jnp.asarray(value, kind), (lanes, *jnp.shape(value)[1:]))

    limits = Limits(
        spread(options.rtol, dtype), spread(options.atol, dtype), spread(options.max_steps, jnp.int32), spread(options.lowest, dtype)
    )
    kinks = () if breaks is None else (jnp.asarray(breaks, dtype),)
    costs = () if cost is None else (jnp.asarray(cost),)
    ensemble = _Ensemble(system, tree, block, marked)
    y, _, (status, steps, rejected, t_reached) = _values(
        ensemble, start, ends, tuple(map(jnp.asarray, leaves)), begin, kinks, limits, costs
    )
    return Solution(y, status, steps, rejected, t_reached)


@dataclass(frozen=True)
class _Ensemble:
    """What `integrate_ensemble` is compiled for."""

    system: System
    args: Structure
    block: int
    marked: bool


Numbers = tuple[Array, Array, tuple[Array, ...], Array, tuple[Array, ...], Limits, tuple[Array, ...]]
"""Start, times, leaves of args, t0, breaks, limits, costs."""
Rest = tuple[Array, Array, Array, Array]
"""Status, steps, rejected steps, time reached."""


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _values(ensemble: _Ensemble, *numbers: Any) -> tuple[Array, Array, Rest]:
    """States [lane, m, n], whether they are usable [lane, m], and the rest."""
    y, _, usable, rest = _solved(ensemble, Active(), numbers)
    return y, usable, rest


def _values_rule(ensemble: _Ensemble, numbers: Any, tangents: Any) -> Any:
    def moves(tangent: Any) -> bool:
        return not isinstance(tangent, SymbolicZero)

    start, times, leaves, t0, breaks, _, _ = tangents
    if moves(t0) or any(map(moves, breaks)):
        raise TypeError("integrate_ensemble has no derivative with respect to t0 or breaks. Use integrate, or jax.lax.stop_gradient.")
    active = Active(moves(start), tuple(i for i, leaf in enumerate(leaves) if moves(leaf)))
    y, matrix, usable, rest = _with_matrix(ensemble, active, *numbers)
    parts = [tangent.reshape(tangent.shape[0], -1) for tangent in ([start] if active.y0 else []) + [leaves[i] for i in active.args]]
    change = jnp.zeros_like(y)
    if active:
        change = change + jnp.einsum("lmnp,lp->lmn", matrix, jnp.concatenate(parts, axis=1))
    if moves(times):
        args = jax.tree.unflatten(ensemble.args, numbers[2])
        rates = jax.vmap(lambda t, y, args: jax.vmap(lambda t, y: ensemble.system.rates(t, y, args))(t, y))(numbers[1], y, args)
        change = change + jnp.where(usable[..., None], rates, 0.0) * times[..., None]
    return (y, usable, rest), (honest(change, usable), no_tangent(usable), jax.tree.map(no_tangent, rest))


_values.defjvp(_values_rule, symbolic_zeros=True)


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _with_matrix(ensemble: _Ensemble, active: Active, *numbers: Any) -> tuple[Array, Array, Array, Rest]:
    """`_values` with the sensitivity matrix [lane, m, n, column]."""
    return _solved(ensemble, active, numbers)


@_with_matrix.defjvp
def _with_matrix_rule(ensemble: _Ensemble, active: Active, numbers: Any, tangents: Any) -> Any:
    def general(*numbers: Any) -> tuple[Array, Array, Array, Rest]:
        return jax.vmap(partial(_solved_alone, ensemble, active))(*numbers)

    return jax.jvp(general, numbers, tangents)


def _solved_alone(ensemble: _Ensemble, active: Active, *numbers: Any) -> tuple[Array, Array, Array, Rest]:
    """One lane by the general program."""
    start, times, leaves, t0, breaks, limits, _ = numbers
    options, structure = jax.tree.flatten(Options(*limits))
    program = Integration(ensemble.system, ensemble.args, structure, bool(breaks))
    perturbed = tuple([Y0] * active.y0 + [FIRST_OF_ARGS + i for i in active.args])
    (y, matrix), usable, rest = differentiable(program, (perturbed,), times, t0, start, *leaves, *breaks, *options)
    return y, matrix, usable, rest


@partial(jax.jit, static_argnums=(0, 1))
def _solved(ensemble: _Ensemble, active: Active, numbers: Any) -> tuple[Array, Array, Array, Rest]:
    start, times, leaves, t0, breaks, limits, costs = numbers
    lanes = start.shape[0]
    args = jax.tree.unflatten(ensemble.args, leaves)
    segments = jax.vmap(segments_of)(t0, times, *breaks)
    whole = Start(start, segments.stop[:, -1], jax.vmap(are_valid)(times, t0, start, args))
    order = jnp.argsort(costs[0] if costs else _fastest_loss(ensemble.system, whole, segments, limits, args))
    place = jnp.zeros(lanes, jnp.int32).at[order].set(jnp.arange(lanes, dtype=jnp.int32))
    blocks = -(-lanes // ensemble.block)
    filled = jnp.concatenate([order, jnp.repeat(order[-1:], blocks * ensemble.block - lanes)])

    def cut(array: Array) -> Array:
        return array[filled].reshape(blocks, ensemble.block, *array.shape[1:])

    def whole_again(array: Array) -> Array:
        """[block, ..., lane of the block] in the order of the lanes given, lane first."""
        return jnp.moveaxis(array, -1, 1).reshape(-1, *array.shape[1:-1])[place]

    run = partial(lax.map, partial(run_block, ensemble.system, active))
    if ensemble.marked:
        run = native.one_function(run)
    solved = jax.tree.map(whole_again, run(jax.tree.map(cut, (whole, limits, args, segments))))
    y, usable = jnp.stack(solved.y, axis=-1), solved.usable
    matrix = jnp.stack(solved.matrix, axis=2) if active else jnp.zeros((*y.shape, 0), y.dtype)
    if breaks:
        at = jax.vmap(Segments.ending_at)(segments, times)
        y, matrix, usable = jax.vmap(lambda at, *arrays: [array[at] for array in arrays])(at, y, matrix, usable)
    y = jnp.where(usable[..., None], y, jnp.nan)
    matrix = jnp.where(usable[..., None, None], matrix, 0.0)
    return y, matrix, usable, (solved.status, solved.accepted, solved.rejected, solved.t)


def _fastest_loss(system: System, whole: Start, segments: Segments, limits: Limits, args: Arguments) -> Array:
    fixed = Fixed(jax.tree.map(lambda x: x[:, 0], segments), limits, args)
    starts, constants = Layout.of_lanes(whole), Layout.of_lanes(fixed)
    return cost_program(system, starts, constants)([*starts.lanes(whole), *constants.lanes(fixed)])[0]
