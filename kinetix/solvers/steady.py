"""The steady state that is reached in time, one lane: Newton iteration, time integration where that is not enough, and derivatives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from kinetix.solvers.ensemble import AUTOMATIC, NEVER, Engine, own_axis
from kinetix.solvers.integration import Options, integrate
from kinetix.solvers.linear import gauss_jordan
from kinetix.solvers.pseudo_transient import Limits, Root, is_regular, pseudo_transient
from kinetix.solvers.sensitivity import Found, Levels, differentiable
from kinetix.solvers.stability import grows
from kinetix.solvers.steady_ensemble import solve_tanks
from kinetix.solvers.system import Arguments, Structure, System, all_finite, check_vector, floating_type
from kinetix.status import Status

ATTEMPTS = 12
"""From the start itself, then from the state after ten times the slowest time, a hundred times, and so on."""

LONGER = 10.0
SETTLING_RTOL, SETTLING_STEPS = 1e-5, 3000
ITERATIONS_NEARBY = 50
NEAR, NEAR_ATOL = 0.05, 1e3
"""A root is where the state in time goes if it is that near."""


@partial(jax.tree_util.register_dataclass, data_fields=["rtol", "atol", "max_iterations"], meta_fields=[])
@dataclass(frozen=True)
class SteadyOptions:
    """When a steady state is found.

    All fields are numbers and may be traced: other values do not recompile a function that takes a `SteadyOptions` as an argument.

    rtol, atol : the last Newton correction of each component, which is still applied, is at most a hundredth of rtol |y| + atol. `atol`
        is in the unit of y: one number, or one for each component. It is also how far below zero a component may go.
    max_iterations : the most Newton iterations of an attempt, rejected ones included.
    """

    rtol: ArrayLike = 1e-10
    atol: ArrayLike | tuple[float, ...] = 1e-12
    max_iterations: ArrayLike = 500


class Steady(NamedTuple):
    """What `steady_state` gives.

    y : [n]; NaN unless the status is success.
    status : int32, a `kinetix.status.Status`: SUCCESS, UNSTEADY, NOT_CONVERGED or NON_FINITE.
    iterations : int32, of all attempts.
    residual_norm : the largest |rhs_i| relative to the size of the terms it is made of, |rhs_i| + sum_j |J_ij| (|y_j| + atol).
    """

    y: Array
    status: Array
    iterations: Array
    residual_norm: Array


Y0, FIRST_OF_ARGS = 0, 1


@dataclass(frozen=True)
class SteadyProgram:
    """`steady_state` as a program for `sensitivity.differentiable`. Arguments: y0, leaves of args, leaves of options[, cost]."""

    system: System
    args: Structure
    options: Structure
    has_cost: bool
    engine: Engine
    aligned: ClassVar[None] = None
    refused: ClassVar[tuple[()]] = ()

    @property
    def fewest(self) -> int:
        return self.engine.lanes

    @property
    def differentiable(self) -> tuple[int, ...]:
        return tuple(range(FIRST_OF_ARGS, FIRST_OF_ARGS + self.args.num_leaves))

    def _parts(self, arguments: tuple[Array, ...]) -> tuple[Array, Arguments, SteadyOptions, Array | None]:
        split = FIRST_OF_ARGS + self.args.num_leaves
        options = jax.tree.unflatten(self.options, arguments[split : len(arguments) - self.has_cost])
        return (
            arguments[Y0],
            jax.tree.unflatten(self.args, arguments[FIRST_OF_ARGS:split]),
            options,
            arguments[-1] if self.has_cost else None,
        )

    def __call__(self, levels: Levels, arguments: tuple[Array, ...]) -> tuple[Array, Array, tuple[Array, Array, Array]]:
        y0, args, options, _ = self._parts(arguments)
        fixed_y0, fixed_args, options = lax.stop_gradient((y0, args, options))
        y, status, root, iterations = reach(self.system, fixed_y0, fixed_args, options)
        usable = status == Status.SUCCESS
        if levels:
            usable, with_derivatives = _implicit(self.system, y, fixed_args, args, options, usable & root.simple, len(levels))
            y = jnp.where(usable, with_derivatives, y)
        return y, usable, (status, iterations, root.residual)

    def operator(self, active: tuple[int, ...], columns: int) -> None:
        """None: all columns share one elimination, so that forming the matrix costs little."""

    def many(self, levels: Levels, arguments: tuple[Array, ...]) -> Found | None:
        """By the engine for ensembles, where there are lanes enough and derivatives are of first order; open lanes lane by lane."""
        y0, args, options, cost = self._parts(arguments)
        if len(levels) > 1 or not self.engine.serves(y0, args):
            return None

        def limits_of(options: SteadyOptions) -> Limits:
            rtol, atol = jnp.asarray(options.rtol, y0.dtype), jnp.asarray(options.atol, y0.dtype)
            return Limits(rtol, atol, jnp.asarray(options.max_iterations, jnp.int32))

        def alone(arguments: tuple[Array, ...]) -> Found:
            return jax.vmap(lambda *lane: differentiable(replace(self, engine=NEVER), levels, *lane))(*arguments)

        active = tuple(i - FIRST_OF_ARGS for i in levels[0]) if levels else ()
        numbers = (y0, args, jax.vmap(limits_of)(options), cost)
        return self.engine.tried(lambda: solve_tanks(self.system, self.engine, active, numbers, arguments, alone, bool(levels)))


def _implicit(
    system: System, y: Array, fixed_args: Arguments, args: Arguments, options: SteadyOptions, usable: Array, order: int
) -> tuple[Array, Array]:
    """y(args) with exact derivatives up to `order`, and whether they exist.

    With J0 the Jacobian at the solution, held fixed, each pass y <- y - J0^-1 rhs(y, args) is right to one order more in a change of args
    (the error after a pass is (1 - J0^-1 J) times the one before, and the first factor is of first order). The value stays as it was.
    They do not exist where J0 is singular to rounding, or would be another matrix elsewhere within the tolerance (a multiple root).
    """
    t = jnp.zeros((), y.dtype)
    rtol, atol = jnp.asarray(options.rtol, y.dtype), jnp.asarray(options.atol, y.dtype)
    size = jnp.abs(y) + atol
    jacobian = system.matrix(t, y, fixed_args)
    inverted, smallest, _ = gauss_jordan(jacobian * size[None, :])
    inverted = size[:, None] * inverted
    regular = is_regular(system, y, fixed_args, rtol, atol, jacobian, smallest) & jnp.all(jnp.isfinite(inverted))
    usable = usable & regular
    for _ in range(order):
        change = -inverted @ system.rates(t, y, args)
        y = y + (change - lax.stop_gradient(change))
    return usable, y


class _Search(NamedTuple):
    """What one attempt hands to the next.

    y : [n], the state reached in time.
    root : the latest.
    reached : whether the latest root is the answer.
    roots : whether any attempt found a root, or rested at one that is not stable.
    moving : status of the latest integration.
    """

    y: Array
    root: Root
    reached: Array
    roots: Array
    moving: Array
    attempts: Array
    iterations: Array


def reach(system: System, y0: Array, args: Arguments, options: SteadyOptions) -> tuple[Array, Array, Root, Array]:
    """State, status, the root as found, and all iterations."""
    dtype = y0.dtype
    t = jnp.zeros((), dtype)
    rtol, atol = jnp.asarray(options.rtol, dtype), jnp.asarray(options.atol, dtype)
    max_iterations = jnp.asarray(options.max_iterations, jnp.int32)
    still = system._replace(autonomous=True)
    roughly = Options(rtol=jnp.asarray(SETTLING_RTOL, dtype), atol=atol, max_steps=SETTLING_STEPS)
    losses = jnp.abs(jnp.diagonal(system.matrix(t, y0, args)))
    slowest = jnp.min(jnp.where(losses > 0, losses, jnp.inf))
    time = jnp.where(jnp.isfinite(slowest), 1.0 / slowest, 1.0)
    healthy = all_finite((y0, args, system.rates(t, y0, args)))
    no, zero = jnp.asarray(False), jnp.zeros((), jnp.int32)

    def attempt(state: _Search) -> _Search:
        first = state.attempts == 0
        duration = jnp.where(first, 0.0, time * jnp.asarray(LONGER, dtype) ** state.attempts)
        moved = integrate(still, state.y, args, duration[None], options=roughly, engine=NEVER)
        running = moved.status == Status.SUCCESS
        y = jnp.where(running, moved.y[0], state.y)
        most = jnp.where(first, max_iterations, jnp.minimum(max_iterations, ITERATIONS_NEARBY))
        latest = pseudo_transient(system, y, args, rtol, atol, jnp.where(running, most, 0))
        root = jax.tree.map(partial(jnp.where, running), latest, state.root._replace(converged=no, rests=no))
        near = jnp.all(jnp.abs(root.y - y) <= NEAR * jnp.abs(root.y) + NEAR_ATOL * atol)
        stable = ~grows(system.matrix(t, root.y, args), jnp.abs(root.y) + atol)
        return _Search(
            y=y,
            root=root,
            reached=root.converged & stable & (first | near),
            roots=state.roots | root.converged | (root.rests & ~stable),
            moving=moved.status,
            attempts=state.attempts + 1,
            iterations=state.iterations + latest.iterations,
        )

    def open_(state: _Search) -> Array:
        return healthy & ~state.reached & (state.attempts < ATTEMPTS) & (state.moving == Status.SUCCESS)

    nothing = Root(y0, no, no, no, zero, jnp.asarray(jnp.inf, dtype))
    final = lax.while_loop(open_, attempt, _Search(y0, nothing, no, no, zero + int(Status.SUCCESS), zero, zero))
    restless = final.roots | (final.moving == Status.STEP_LIMIT)
    failed = jnp.where(restless, Status.UNSTEADY, Status.NOT_CONVERGED)
    status = jnp.where(healthy, jnp.where(final.reached, Status.SUCCESS, failed), Status.NON_FINITE).astype(jnp.int32)
    return jnp.where(final.reached, final.root.y, jnp.nan), status, final.root, final.iterations


_DEFAULTS = SteadyOptions()


def steady_state(
    system: System, y0: ArrayLike, args: Arguments, options: SteadyOptions = _DEFAULTS, *, engine: Engine = AUTOMATIC
) -> Steady:
    """The stable root of rhs(y, args) = 0 that dy/dt = rhs comes to from y0: one lane. There may be others.

    The root that `pseudo_transient` finds from y0, by steps shorter than the time in which something grows, is the answer if small
    disturbances of it decay (`stability.grows`). Otherwise Rodas5P follows the state over ten times the slowest time 1/min |J_ii|,
    a hundred times, and so on; the answer is then the first stable root within 5 % of where that leads.

    Derivatives, forward or reverse and of any order, with respect to every floating-point leaf of args are those of the implicit
    function, dy = -J^-1 d rhs; with respect to the start they are zero. Where J is singular at the solution, or the solve failed,
    they are NaN (a cotangent of zero stays zero, so a masked failure does not spoil a gradient).

    Args:
        system: the equations, which do not depend on t.
        y0: [n], where to start, for a tank usually the feed; its floating-point type is that of the whole solve.
        args: pytree of arrays and numbers, given to rhs.
        options: tolerances and the iteration limit.
        engine: from how many lanes of `jax.vmap` on they are solved together as lanes of scalars (see `Engine`).

    Returns:
        A `Steady`. y is NaN unless the status is SUCCESS. UNSTEADY means that the state goes on changing (it oscillates), or rests
        where any disturbance grows; NOT_CONVERGED that no root was found; NON_FINITE that y0, args or rhs(0, y0, args) is not finite.

    Raises:
        ValueError: y0 is not a vector, or rhs or jacobian gives a wrong shape.

    >>> from kinetix.precision import float64
    >>> tank = System(lambda t, c, args: args["feed"] - c - args["k"] * c**2)
    >>> with float64():
    ...     steady = steady_state(tank, [2.0], {"feed": 2.0, "k": 1.0})
    >>> print(round(float(steady.y[0]), 12), int(steady.status))
    1.0 0
    """
    return _steady(system, y0, args, options, None, engine)


def _steady(system: System, y0: ArrayLike, args: Arguments, options: SteadyOptions, cost: ArrayLike | None, engine: Engine) -> Steady:
    start = jnp.asarray(y0)
    start = start.astype(floating_type(start))
    check_vector("y0", start)
    leaves, args_tree = jax.tree.flatten(args)
    option_leaves, options_tree = jax.tree.flatten(options)
    costs = [] if cost is None else [cost]
    program = SteadyProgram(system, args_tree, options_tree, cost is not None, engine)
    arguments = (start, *(jnp.asarray(leaf) for leaf in (*leaves, *option_leaves, *costs)))
    (y,), _, (status, iterations, residual) = differentiable(program, (), *arguments)
    return Steady(y, status, iterations, residual)


def steady_states(
    system: System,
    y0: ArrayLike,
    args: Arguments,
    options: SteadyOptions = _DEFAULTS,
    *,
    cost: ArrayLike | None = None,
    block: int = Engine.block,
    marked: bool = True,
) -> Steady:
    """`steady_state` for many lanes: the same answer, in a small part of the time on a CPU.

    That is `jax.vmap` of `steady_state` with the engine asked for. Derivatives are those of `steady_state`; of first order they come from
    the same layout, for each perturbed entry of args a column -J^-1 d rhs, of higher order from the general program.

    Args:
        system: the equations of one lane. What is the same in all lanes (the network) is part of its functions, as NumPy arrays.
        y0: [lane, n].
        args: pytree of arrays, each with a leading lane axis.
        options: numbers, or arrays with a leading lane axis; `atol` may be a tuple with an entry for each component.
        cost: [lane]; lanes of similar cost are put side by side. Best the `iterations` of an earlier run; None: as given.
        block: lanes that iterate together.
        marked: whether blocks are compiled into one native function. The digits do not depend on it.

    Returns:
        A `Steady` with a leading lane axis, in the order of the lanes given.

    Raises:
        NotScalar: the equations hold a loop, a branch or a search.

    >>> from kinetix.precision import float64
    >>> tank = System(lambda t, c, args: args["feed"] - c - args["k"] * c**2)
    >>> with float64():
    ...     steady = steady_states(tank, [[2.0], [6.0]], {"feed": jnp.array([[2.0], [6.0]]), "k": jnp.ones(2)})
    >>> print(steady.y[:, 0].round(12).tolist(), steady.status.tolist())
    [1.0, 2.0] [0, 0]
    """
    # a tuple, or a number, is the same for all lanes
    axes: Any = SteadyOptions(*(own_axis(value) for value in vars(options).values()))
    engine = Engine(1, block, marked)

    def one(y0: Array, args: Arguments, options: SteadyOptions, cost: Any) -> Steady:
        return _steady(system, y0, args, options, cost, engine)

    start, args = jnp.asarray(y0), jax.tree.map(jnp.asarray, args)
    return jax.vmap(one, (0, 0, axes, 0))(start, args, options, None if cost is None else jnp.asarray(cost))
