"""Other integrators under the same equations, by name: for values without derivatives, and to check kinetix's own method.

Each stops where kinetix's own does, at every output time and every break, so that nothing is interpolated and nothing stepped over.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.errors import InputError, ParameterError, nearest
from kinetix.precision import float64
from kinetix.reactors import Integrated, Lane, Posed
from kinetix.simulation.model import Model, Prediction, prepared, responses_of
from kinetix.solvers import Solution, System, integrate
from kinetix.status import Status

METHODS = ("scipy-LSODA", "scipy-Radau", "scipy-BDF", "diffrax-Kvaerno5")
"""Names of other methods."""

STRICTER, STRICTEST = 1e-2, 1e-12
"""Tolerances of the other method over those that are checked, and the least relative one that it is asked for."""


class _Stretch(NamedTuple):
    """What a method has to cross: from y at `start` to `stop`, with `args`, `rtol`, `atol` and at most so many steps."""

    y: np.ndarray
    start: float
    stop: float
    args: Any
    rtol: float
    atol: np.ndarray
    most: int


class _Crossed(NamedTuple):
    """The state at the end, or where it stopped; the time there; the steps; how it ended."""

    y: np.ndarray
    t: float
    steps: int
    status: Status


_Advance = Callable[[_Stretch], _Crossed]


def check_method(method: str) -> None:
    """That there is a method of this name.

    Raises:
        ParameterError: there is none.
    """
    if method not in METHODS:
        raise ParameterError(
            f"method = {method!r}: expected {', '.join(METHODS[:-1])} or {METHODS[-1]}; without it kinetix's own Rodas5P integrates."
            f"{nearest(method, METHODS)}"
        )


def predict_by(method: str, model: Model, parameters: Any, lanes: Lane) -> Prediction:
    """As `predict`, integrated by another method, lane after lane, without derivatives; NumPy arrays.

    Args:
        method: one of `METHODS`.
        model, parameters, lanes: as of `predict`, concrete.

    Raises:
        ParameterError: an unknown method.
        InputError: its package is not installed.
    """
    check_method(method)
    found: list[Any] = []
    for lane in _each(lanes):
        with float64():
            posed = _posed(model, parameters, lane)
            solution = solve_by(method, posed, *_tolerances(posed))
            found.append(jax.tree.map(np.asarray, _finished(model, jnp.asarray(parameters), lane, solution)))
    return jax.tree.map(lambda *parts: np.stack(parts), *found)


class Comparison(NamedTuple):
    """Two methods side by side.

    Attributes:
        difference: |y - y_other| / (atol + rtol |y_other|), (lane, time, entry); entries are species, then the temperature where it is
            a state. NaN where one of them failed.
        status, other_status: how each ended, (lane,).
    """

    difference: np.ndarray
    status: np.ndarray
    other_status: np.ndarray


def compare(method: str, model: Model, parameters: Any, lanes: Lane) -> Comparison:
    """kinetix's own method and another one, which is given tolerances a hundred times stricter, at the times of the lanes.

    Raises:
        ParameterError: an unknown method.
        InputError: its package is not installed.
    """
    check_method(method)
    found = []
    for lane in _each(lanes):
        with float64():
            posed = _posed(model, parameters, lane)
            rtol, atol = _tolerances(posed)
            own = _own(posed.system, posed.y0, posed.args, posed.times, posed.breaks, posed.options)
            other = solve_by(method, posed, max(STRICTER * rtol, STRICTEST), STRICTER * atol)
            y, y_other, status, other_status = (np.asarray(x) for x in (own.y, other.y, own.status, other.status))
        found.append((np.abs(y - y_other) / (atol + rtol * np.abs(y_other)), status, other_status))
    return Comparison(*(np.stack(parts) for parts in zip(*found, strict=True)))


def _each(lanes: Lane) -> Iterator[dict[str, np.ndarray]]:
    for number in range(len(next(iter(lanes.values())))):
        yield {name: np.asarray(array)[number] for name, array in lanes.items()}


def _tolerances(posed: Posed) -> tuple[float, np.ndarray]:
    return np.asarray(posed.options.rtol).item(), np.asarray(posed.options.atol)


@partial(jax.jit, static_argnums=0)
def _own(system: System, y0: Any, args: Any, times: Any, breaks: Any, options: Any) -> Solution:
    return integrate(system, y0, args, times, breaks=breaks, options=options)


def _posed(model: Model, parameters: Any, lane: Lane) -> Posed:
    model, thermal, lane = prepared(model, jnp.asarray(parameters), lane)
    if model.reactor is None or model.kinetics is None or not isinstance(model.reactor.solve, Integrated):
        raise ParameterError("another method: for reactors that are integrated; this model is not.")
    return model.reactor.solve.pose(model.kinetics, thermal, lane, model.options)


@jax.jit
def _finished(model: Model, parameters: jax.Array, lane: Lane, solution: Solution) -> Prediction:
    """What `respond` makes of the solution of its equations."""
    states = _posed(model, parameters, lane).states(solution)
    model, _, lane = prepared(model, parameters, lane)
    return Prediction(responses_of(model, states, lane), states.status, states.steps, states.t_reached)


def solve_by(method: str, posed: Posed, rtol: float, atol: np.ndarray) -> Solution:
    """The solution of one lane's equations by another method; NumPy arrays, failures as of `integrate`."""
    advance = _kvaerno(posed.system) if method == "diffrax-Kvaerno5" else _scipy(method.removeprefix("scipy-"), posed.system)
    times, lowest, most = np.asarray(posed.times), np.asarray(posed.options.lowest), np.asarray(posed.options.max_steps).item()
    kinks = np.zeros(0) if posed.breaks is None else np.asarray(posed.breaks)
    stops = np.unique([*times, *kinks[(kinks > 0) & (kinks < times[-1])]])
    y, t, steps, status = np.asarray(posed.y0), 0.0, 0, Status.SUCCESS
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves((posed.y0, posed.args, times)) if np.issubdtype(leaf.dtype, np.inexact)):
        status = Status.NON_FINITE
    states = {0.0: y}
    for stop in stops[stops > 0]:
        if status is not Status.SUCCESS:
            break
        # each stretch has the whole limit, which is part of a program, and the sum is looked at afterwards
        crossed = advance(_Stretch(y, t, float(stop), posed.args, rtol, atol, most))
        y, t, steps, status = crossed.y, crossed.t, steps + crossed.steps, crossed.status
        if status is Status.SUCCESS and steps > most:
            status = Status.STEP_LIMIT
        if status is Status.SUCCESS and np.any(y < lowest):
            status = Status.BELOW_ZERO
        if status is Status.SUCCESS:
            states[float(stop)] = y
    nothing = np.full_like(y, np.nan)
    whole = np.stack([states.get(float(time), nothing) for time in times])
    return Solution(*map(jnp.asarray, (whole, np.int32(status), np.int32(steps), np.int32(0), np.float64(t))))


def _inside(t: Any, start: float, stop: float) -> Any:
    """The time kept a few rounding units away from the ends, as kinetix's own method does."""
    inset = min(8 * np.finfo(float).eps * max(abs(start), abs(stop)), 0.25 * (stop - start))
    return np.clip(t, start + inset, stop - inset)


@cache
def _compiled(system: System) -> tuple[Callable[..., Any], Callable[..., Any]]:
    return jax.jit(system.rates), jax.jit(system.matrix)


def _scipy(name: str, system: System) -> _Advance:
    import scipy.integrate

    solver, (rates, matrix) = getattr(scipy.integrate, name), _compiled(system)

    def advance(over: _Stretch) -> _Crossed:
        def rhs(t: float, y: np.ndarray) -> np.ndarray:
            return np.asarray(rates(_inside(t, over.start, over.stop), y, over.args))

        def jacobian(t: float, y: np.ndarray) -> np.ndarray:
            return np.asarray(matrix(_inside(t, over.start, over.stop), y, over.args))

        if not np.isfinite(rhs(over.start, over.y)).all():
            return _Crossed(over.y, over.start, 0, Status.NON_FINITE)
        running, steps = solver(rhs, over.start, over.y, over.stop, rtol=over.rtol, atol=over.atol, jac=jacobian), 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # LSODA tells of its failures; the status does
            while running.status == "running" and steps < over.most:
                try:
                    running.step()
                except ValueError:  # its linear algebra refuses what is not finite
                    return _Crossed(running.y, float(running.t), steps, Status.NON_FINITE)
                steps += 1
        ended = {"finished": Status.SUCCESS, "failed": Status.STEP_TOO_SMALL, "running": Status.STEP_LIMIT}[running.status]
        return _Crossed(running.y, float(running.t), steps, ended)

    return advance


@cache
def _kvaerno(system: System) -> _Advance:
    try:
        import diffrax  # pyright: ignore[reportMissingImports]  # an optional package
    except ImportError:
        raise InputError(
            'method = "diffrax-Kvaerno5" needs diffrax, which is not installed. Run: pip install diffrax; or choose one of scipy.'
        ) from None

    def rhs(t: Any, y: Any, given: Any) -> Any:
        args, low, high = given
        return system.rates(jnp.clip(t, low, high), y, args)

    @partial(jax.jit, static_argnums=7)
    def cross(y: Any, start: Any, stop: Any, low: Any, high: Any, args: Any, tolerances: Any, most: int) -> Any:
        rtol, atol = tolerances
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(rhs),
            diffrax.Kvaerno5(),
            start,
            stop,
            None,
            y,
            (args, low, high),
            stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
            saveat=diffrax.SaveAt(t1=True),
            max_steps=most,
            throw=False,
        )
        return found.ys[-1], found.stats["num_steps"], found.result == diffrax.RESULTS.successful

    def advance(over: _Stretch) -> _Crossed:
        low, high = _inside(over.start, over.start, over.stop), _inside(over.stop, over.start, over.stop)
        ends = (jnp.asarray(over.start), jnp.asarray(over.stop), jnp.asarray(low), jnp.asarray(high))
        y, steps, well = cross(jnp.asarray(over.y), *ends, over.args, (over.rtol, jnp.asarray(over.atol)), over.most)
        y, steps = np.asarray(y), int(steps)
        if bool(well) and np.isfinite(y).all():
            return _Crossed(y, over.stop, steps, Status.SUCCESS)
        return _Crossed(over.y, over.start, steps, Status.STEP_LIMIT if steps >= over.most else Status.STEP_TOO_SMALL)

    return advance
