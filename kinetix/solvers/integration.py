"""Stiff initial value problems: Rodas5P with error control, stopping at every output time and every break."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike, DTypeLike

from kinetix.solvers.control import Limits
from kinetix.solvers.ensemble import AUTOMATIC, Active, Along, Engine, own_axis, solve_lanes, sweep_lanes
from kinetix.solvers.lane_sweeps import sweep_lane
from kinetix.solvers.replay import KEPT, Kept
from kinetix.solvers.segments import are_valid, segments_of
from kinetix.solvers.sensitivity import Found, Levels, contract, differentiable
from kinetix.solvers.stepping import begun, move_along, run
from kinetix.solvers.system import Arguments, Structure, System, check_vector, floating_type


@partial(jax.tree_util.register_dataclass, data_fields=["rtol", "atol", "max_steps", "lowest"], meta_fields=["derivatives", "kept"])
@dataclass(frozen=True)
class Options:
    """How exactly to integrate.

    The first four are numbers and may be traced: other values do not recompile a function that takes an `Options` as an argument.

    rtol : relative tolerance. A step is accepted if the root mean square over the components of error/(atol + rtol |y|) is at most 1.
    atol : absolute tolerance, in the unit of y: one number, or one for each component (a tuple or an array).
    max_steps : the most steps, accepted and rejected together, over all output times.
    lowest : a step that leaves a component below it ends the solve with BELOW_ZERO; for concentrations a little below zero.
    derivatives : "forward" forms the whole sensitivity matrix, one tangent for each perturbed number of a lane. "reverse" does not:
        `jax.grad` costs one sweep back through stored steps, whatever the number of parameters, and `jax.jvp` one tangent. "auto" is
        "reverse" from `MANY` perturbed numbers on. Digits agree to rounding, and every mode and order of differentiation works with each.
    kept : how many steps a sweep back stores at a time. A lane of n components takes about 8 (steps (n + 3) + marks (n + 5)) bytes in it,
        of an ensemble only those of one block at a time. More steps than are stored are taken twice, with the same digits.
    """

    rtol: ArrayLike = 1e-8
    atol: ArrayLike | tuple[float, ...] = 1e-12
    max_steps: ArrayLike = 10_000
    lowest: ArrayLike = -float("inf")
    derivatives: Literal["auto", "forward", "reverse"] = "auto"
    kept: Kept = KEPT

    def __post_init__(self) -> None:
        if self.derivatives not in ("auto", "forward", "reverse"):
            raise ValueError(f'derivatives is {self.derivatives!r}: write "auto", "forward" or "reverse".')
        if min(self.kept) < 1:
            raise ValueError(f"kept is {self.kept}: a sweep back has to store at least one step and one mark.")

    def limits(self, dtype: DTypeLike) -> Limits:
        """The numbers in the types of a solve."""
        return Limits(
            jnp.asarray(self.rtol, dtype),
            jnp.asarray(self.atol, dtype),
            jnp.asarray(self.max_steps, jnp.int32),
            jnp.asarray(self.lowest, dtype),
        )


class Solution(NamedTuple):
    """What `integrate` gives.

    y : [m, n], the state at each output time; NaN from the failed time on.
    status : int32, a `kinetix.status.Status`: SUCCESS, STEP_LIMIT, STEP_TOO_SMALL, BELOW_ZERO or NON_FINITE.
    steps, rejected : int32, the accepted and the rejected steps.
    t_reached : the time up to which the equations have been solved; finite.
    """

    y: Array
    status: Array
    steps: Array
    rejected: Array
    t_reached: Array


NUMBERS = ("rtol", "atol", "max_steps", "lowest")
"""The fields of `Options` that are numbers."""

MANY = 32
"""From how many perturbed numbers of a lane on derivatives are "reverse" unless `Options` say otherwise."""

TIMES, T0, Y0, FIRST_OF_ARGS = 0, 1, 2, 3


@dataclass(frozen=True)
class Integration:
    """`integrate` as a program for `sensitivity.differentiable`.

    Arguments: times, t0, y0, leaves of args, [breaks,] leaves of options[, cost].
    """

    system: System
    args: Structure
    options: Structure
    has_breaks: bool
    has_cost: bool
    engine: Engine
    aligned: ClassVar[int] = TIMES

    @property
    def fewest(self) -> int:
        return self.engine.fewest

    @property
    def differentiable(self) -> tuple[int, ...]:
        return tuple(range(FIRST_OF_ARGS + self.args.num_leaves))

    @property
    def refused(self) -> tuple[tuple[int, str], ...]:
        reason = (
            "integrate has no derivative with respect to breaks. Where the right-hand side is continuous at the breaks it is zero: "
            "write breaks=jax.lax.stop_gradient(breaks)."
        )
        return ((FIRST_OF_ARGS + self.args.num_leaves, reason),) if self.has_breaks else ()

    def _parts(self, arguments: tuple[Array, ...]) -> _Parts:
        split = FIRST_OF_ARGS + self.args.num_leaves
        args = jax.tree.unflatten(self.args, arguments[FIRST_OF_ARGS:split])
        breaks = arguments[split] if self.has_breaks else None
        cost = arguments[-1] if self.has_cost else None
        options = arguments[split + self.has_breaks : len(arguments) - self.has_cost]
        times, t0, y0 = arguments[:FIRST_OF_ARGS]
        return _Parts(times, t0, y0, args, breaks, lax.stop_gradient(jax.tree.unflatten(self.options, options)), cost)

    def __call__(self, levels: Levels, arguments: tuple[Array, ...]) -> tuple[Array, Array, tuple[Array, Array, Array, Array]]:
        times, t0, y0, args, breaks, options, _ = self._parts(arguments)
        start_moves = sum(T0 in level for level in levels)
        stop_moves = sum(TIMES in level for level in levels)

        fixed_times, fixed_t0 = lax.stop_gradient((times, t0))
        segments = segments_of(fixed_t0, fixed_times, breaks)
        if start_moves:
            y0 = move_along(self.system, args, t0 + segments.inset[0], y0, fixed_t0 - t0, start_moves)
        limits = options.limits(y0.dtype)
        state = begun(self.system, limits, args, y0, segments, are_valid(times, t0, y0, args))
        state, (y, usable) = run(self.system, limits, args, state, segments)
        ends = segments.stop - segments.inset
        if breaks is not None:
            place = segments.ending_at(fixed_times)
            y, usable, ends = y[place], usable[place], ends[place]
        if stop_moves:
            y = jax.vmap(lambda t, y, shift: move_along(self.system, args, t, y, shift, stop_moves))(ends, y, times - fixed_times)
        return jnp.where(usable[:, None], y, jnp.nan), usable, (state.status, state.accepted, state.rejected, state.t)

    def operator(self, active: tuple[int, ...], columns: int) -> Sensitivities | None:
        """The matrix as an operator, where there are many columns or the options ask for it."""
        options: Options = jax.tree.unflatten(self.options, [0] * self.options.num_leaves)
        wanted = columns >= MANY if options.derivatives == "auto" else options.derivatives == "reverse"
        return Sensitivities(self, active, columns) if wanted else None

    def many(self, levels: Levels, arguments: tuple[Array, ...]) -> Found | None:
        """By the engine for ensembles, where there are lanes enough and derivatives are of first order and not with respect to t0."""
        times, t0, y0, args, breaks, options, cost = self._parts(arguments)
        active = levels[0] if levels else ()
        if len(levels) > 1 or T0 in active or not self.engine.integrates(y0, args):
            return None
        limits = jax.vmap(lambda options: options.limits(y0.dtype))(options)
        by = Active(Y0 in active, tuple(i - FIRST_OF_ARGS for i in active if i >= FIRST_OF_ARGS))
        solved = self.engine.tried(lambda: solve_lanes(self.system, self.engine, by, (y0, times, args, t0, breaks, limits, cost)))
        if solved is None:
            return None
        y, matrix, usable, rest = solved
        if TIMES in active:
            rates = _rates_at_ends(self.system, times, y, args)
            matrix = jnp.concatenate([jnp.where(usable[..., None], rates, 0.0)[..., None], matrix], axis=-1)
        return ((y, matrix) if levels else (y,)), usable, rest


class _Parts(NamedTuple):
    """The arguments of `Integration` by name."""

    times: Array
    t0: Array
    y0: Array
    args: Arguments
    breaks: Array | None
    options: Options
    cost: Array | None


@dataclass(frozen=True)
class Sensitivities:
    """The sensitivity matrix of an integration in its active arguments, as a `sweeps.Operator`."""

    program: Integration
    active: tuple[int, ...]
    columns: int

    def push(self, residuals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, ...]:
        """One tangent along the solution."""
        arguments = residuals[:-2]

        def values(*moved: Array) -> Array:
            return self.program((self.active,), self._replaced(arguments, moved))[0]

        return (jax.jvp(values, [arguments[i] for i in self.active], list(tangents))[1],)

    def pull(self, residuals: tuple[Array, ...], cotangents: tuple[Array, ...]) -> tuple[Array, ...]:
        """One sweep back."""
        *arguments, y, usable = residuals
        system, (times, t0, y0, args, breaks, options, _) = self.program.system, self.program._parts(tuple(arguments))
        given, spoiled = _usable_part(cotangents[0], usable[:, None])
        leaves = tuple(i - FIRST_OF_ARGS for i in self.active if i >= FIRST_OF_ARGS)
        segments, limits = segments_of(t0, times, breaks), options.limits(y0.dtype)
        first = begun(system, limits, args, y0, segments, are_valid(times, t0, y0, args))
        place = slice(None) if breaks is None else segments.ending_at(times)
        by_segment = jnp.zeros((segments.stop.size, y0.size), y0.dtype).at[place].add(given)
        start, by_leaf = sweep_lane(system, limits, args, first, segments, by_segment, leaves, options.kept)
        found = dict(zip((i + FIRST_OF_ARGS for i in leaves), by_leaf, strict=True))
        found[Y0] = start
        if T0 in self.active:
            rates = system.rates(t0 + segments.inset[0], y0, args)
            found[T0] = -jnp.sum(jnp.where(start == 0.0, 0.0, start * rates))
        if TIMES in self.active:
            rates = jax.vmap(lambda t, y: system.rates(t, y, args))((segments.stop - segments.inset)[place], y)
            found[TIMES] = jnp.sum(jnp.where(usable[:, None], given * rates, 0.0), axis=1)
        return tuple((found[i] + spoiled).astype(arguments[i].dtype) for i in self.active)

    def many(self, transposed: bool, residuals: tuple[Array, ...], linear: tuple[Array, ...]) -> tuple[Array, ...] | None:
        """By the engine for ensembles, where it serves the lanes and t0 is not perturbed."""
        engine = self.program.engine
        *arguments, y, usable = residuals
        times, t0, y0, args, breaks, options, cost = self.program._parts(tuple(arguments))
        if T0 in self.active or not engine.serves(y0, args):
            return None
        system, lanes = self.program.system, y0.shape[0]
        limits = jax.vmap(lambda options: options.limits(y0.dtype))(options)
        leaves = [i for i in self.active if i >= FIRST_OF_ARGS]
        by = Active(Y0 in self.active, tuple(i - FIRST_OF_ARGS for i in leaves))
        if not by:
            return None
        numbers = (y0, times, args, t0, breaks, limits, cost)
        reached = usable[..., None]
        rates: Any = 0.0
        if TIMES in self.active:
            rates = jnp.where(reached, _rates_at_ends(system, times, y, args), 0.0)
        if not transposed:
            tangents = dict(zip(self.active, linear, strict=True))
            by_args = [tangents[i].reshape(lanes, -1).astype(y0.dtype) for i in leaves]
            along = Along(tangents.get(Y0, jnp.zeros_like(y0)), jnp.concatenate(by_args, axis=1) if leaves else None)
            solved = engine.tried(lambda: solve_lanes(system, engine, by, numbers, along))
            if solved is None:
                return None
            change = solved[1][..., 0]
            return (change + tangents[TIMES][..., None] * rates if TIMES in self.active else change,)
        given, spoiled = _usable_part(linear[0], reached)
        swept = engine.tried(lambda: sweep_lanes(system, engine, by, options.kept, numbers, given))
        if swept is None:
            return None
        parts = jnp.split(swept[1], np.cumsum([arguments[i][0].size for i in leaves])[:-1], axis=1) if leaves else []
        found = {i: part.reshape(arguments[i].shape) for i, part in zip(leaves, parts, strict=True)}
        found |= {Y0: swept[0], TIMES: jnp.sum(given * rates, axis=2)}
        return tuple((found[i] + spoiled.reshape(-1, *[1] * (found[i].ndim - 1))).astype(arguments[i].dtype) for i in self.active)

    def by_matrix(self, transposed: bool, residuals: tuple[Array, ...], linear: tuple[Array, ...]) -> tuple[Array, ...]:
        arguments = residuals[:-2]
        (_, matrix), _, _ = differentiable(self.program, (self.active,), *arguments)

        def change(*tangents: Array) -> tuple[Array]:
            return (contract(self.program.aligned, self.active, matrix, self._replaced(arguments, tangents)),)

        if not transposed:
            return change(*linear)
        return jax.vjp(change, *(jnp.zeros_like(arguments[i]) for i in self.active))[1](linear)

    def _replaced(self, arguments: tuple[Array, ...], active: tuple[Array, ...]) -> tuple[Array, ...]:
        replaced = dict(zip(self.active, active, strict=True))
        return tuple(replaced.get(i, x) for i, x in enumerate(arguments))


def _usable_part(cotangent: Array, usable: Array) -> tuple[Array, Array]:
    """Of a cotangent [..., m, n], the part in rows that are usable; and zero, or undefined where it meets a failed row."""
    return jnp.where(usable, cotangent, 0.0), jnp.sum(jnp.where(usable, 0.0, cotangent) * 0.0, axis=(-2, -1))


def _rates_at_ends(system: System, times: Array, y: Array, args: Arguments) -> Array:
    """The rates [lane, m, n] of all lanes."""
    return jax.vmap(lambda t, y, args: jax.vmap(lambda t, y: system.rates(t, y, args))(t, y))(times, y, args)


_DEFAULTS = Options()


def integrate(
    system: System,
    y0: ArrayLike,
    args: Arguments,
    times: ArrayLike,
    *,
    t0: ArrayLike = 0.0,
    breaks: ArrayLike | None = None,
    options: Options = _DEFAULTS,
    engine: Engine = AUTOMATIC,
) -> Solution:
    """The solution of dy/dt = rhs(t, y, args), y(t0) = y0, at given times: one lane, of a stiff or non-stiff system.

    Every output time and every break ends a step, so nothing is interpolated. Small negative values within the tolerance are kept.

    Derivatives, forward or reverse and of any order, exist with respect to y0, every floating-point leaf of args, times and t0.
    Those of y0 and args are the exact derivatives of the computed solution with the step sizes held fixed; those of times and t0
    come from rhs itself. By many numbers they are found in one sweep back through stored steps, or along one tangent, without the
    whole matrix (`Options.derivatives`). In a failed lane they are NaN, but a cotangent of zero stays zero, so a masked failure does
    not spoil a gradient.

    Args:
        system: the equations. During a step `rhs` and `jacobian` see times strictly between the neighbouring stops (a few
            rounding units away from them), so a right-hand side that jumps at a break is taken from the side of the step.
        y0: [n], the state at t0; its floating-point type is that of the whole solve.
        args: pytree of arrays and numbers, given to rhs.
        times: [m], not decreasing, none before t0; repeats (padding) and a first time equal to t0 are fine.
        t0: the start.
        breaks: [q], any order: times at which rhs has a kink or a jump. Those outside the range are harmless, and so are
            repeats (padding). There is no derivative with respect to breaks; asking for it is an error.
        options: tolerances and the step limit.
        engine: from how many lanes of `jax.vmap` on they are solved together as lanes of scalars (see `Engine`).

    Returns:
        A `Solution`. Its status is NON_FINITE, and y is NaN, if an input or the first rate is not finite or the times decrease.

    Raises:
        ValueError: y0 or times is not a vector, or rhs or jacobian gives a wrong shape.
        TypeError: a derivative with respect to breaks is asked for.

    Source: Rodas5P of G. Steinebach, BIT Numerical Mathematics 63:27 (2023); step control after E. Hairer and G. Wanner,
    Solving Ordinary Differential Equations II, section IV.8.

    >>> from kinetix.precision import float64
    >>> decay = System(lambda t, y, k: -k * y, autonomous=True)
    >>> with float64():
    ...     solution = integrate(decay, [1.0], 0.5, [0.0, 2.0])
    >>> print([f"{value:.6f}" for value in solution.y[:, 0].tolist()], int(solution.status))
    ['1.000000', '0.367879'] 0
    """
    return _solution(system, y0, args, times, t0, breaks, options, None, engine)


def as_arrays(y0: ArrayLike, times: ArrayLike, t0: ArrayLike, breaks: ArrayLike | None) -> tuple[Array, Array, Array, Array | None]:
    """The start, the times, t0 and the breaks of a lane, in the floating-point type of the start.

    Raises:
        ValueError: y0 or times is not a vector.
    """
    start = jnp.asarray(y0)
    dtype = floating_type(start)
    start, ends, begin = start.astype(dtype), jnp.asarray(times, dtype), jnp.asarray(t0, dtype)
    check_vector("y0", start)
    check_vector("times", ends)
    return start, ends, begin, None if breaks is None else jnp.asarray(breaks, dtype)


def _solution(
    system: System,
    y0: ArrayLike,
    args: Arguments,
    times: ArrayLike,
    t0: ArrayLike,
    breaks: ArrayLike | None,
    options: Options,
    cost: ArrayLike | None,
    engine: Engine,
) -> Solution:
    start, ends, begin, kinks = as_arrays(y0, times, t0, breaks)
    leaves, args_tree = jax.tree.flatten(args)
    option_leaves, options_tree = jax.tree.flatten(options)
    costs = [] if cost is None else [jnp.asarray(cost)]
    program = Integration(system, args_tree, options_tree, breaks is not None, cost is not None, engine)
    optional = [] if kinks is None else [kinks]
    arguments = (ends, begin, start, *map(jnp.asarray, leaves), *optional, *map(jnp.asarray, option_leaves), *costs)
    (y,), _, (status, steps, rejected, t_reached) = differentiable(program, (), *arguments)
    return Solution(y, status, steps, rejected, t_reached)


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
    block: int = Engine.block,
    marked: bool = True,
) -> Solution:
    """`integrate` for many lanes: the same solution to rounding, in a small part of the time on a CPU.

    That is `jax.vmap` of `integrate` with the engine asked for. Derivatives are those of `integrate`; of first order they run through the
    same layout, as forward tangents on the factors of the step, of higher order and with respect to t0 through the general program.

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

    >>> from kinetix.precision import float64
    >>> decay = System(lambda t, y, k: -k * y, autonomous=True)
    >>> with float64():
    ...     solution = integrate_ensemble(decay, [[1.0]] * 3, jnp.array([0.5, 1.0, 2.0]), [[1.0]] * 3)
    >>> print([f"{value:.6f}" for value in solution.y[:, 0, 0].tolist()], solution.status.tolist())
    ['0.606531', '0.367879', '0.135335'] [0, 0, 0]
    """
    start, args, ends = jnp.asarray(y0), jax.tree.map(jnp.asarray, args), jnp.asarray(times)
    begin = jnp.broadcast_to(jnp.asarray(t0), start.shape[:1])
    # a tuple, or a number, is the same for all lanes
    axes: Any = replace(options, **{name: own_axis(getattr(options, name)) for name in NUMBERS})
    engine = Engine(1, block, marked)

    def one(y0: Array, args: Arguments, times: Array, t0: Array, breaks: Any, options: Options, cost: Any) -> Solution:
        return _solution(system, y0, args, times, t0, breaks, options, cost, engine)

    kinks, costs = (None if x is None else jnp.asarray(x) for x in (breaks, cost))
    return jax.vmap(one, (0, 0, 0, 0, 0, axes, 0))(start, args, ends, begin, kinks, options, costs)
