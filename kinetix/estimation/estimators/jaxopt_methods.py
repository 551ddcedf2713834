"""Methods of jaxopt: L-BFGS-B, and Levenberg-Marquardt without bounds. The only file that imports jaxopt.

jaxopt is no longer maintained; its import says so in a warning, which is silenced here. It wants a function that it can trace, and would
compile the model once more for each place where it evaluates. Instead it is given values: its `update` is called once to see where it
goes, the point is evaluated as by all other estimators, and then called again with what was found there. So it compiles nothing but its
own algebra, once for a number of parameters, and limits, history and Ctrl-C are those of every search.

L-BFGS-B takes the step length that `line_search` finds along jaxopt's direction. Levenberg-Marquardt sees the triangle R of [J r] in the
place of J and r: what it computes of them does not change when both are multiplied by an orthogonal matrix.

Sources: R. H. Byrd, P. Lu, J. Nocedal and C. Zhu, SIAM J. Sci. Comput. 16 (1995) 1190; K. Madsen, H. B. Nielsen and O. Tingleff,
Methods for Non-Linear Least Squares Problems (DTU 2004); M. Blondel et al., arXiv:2105.15183 (2021).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.errors import InputError
from kinetix.estimation.line_search import along
from kinetix.estimation.search import Estimator, Point, Search
from kinetix.precision import float64

MEMORY = 10
"""Steps that L-BFGS-B remembers."""

PATIENCE = 20
"""Trials of Levenberg-Marquardt without a better point that end the search."""

FAR = 1e100
"""Stands for the residuals of a point that cannot be evaluated: jaxopt multiplies what it refuses by zero, so it must be finite."""


class State(NamedTuple):
    """Where the search is: in jaxopt's words, in coordinates z = unit theta."""

    point: Point
    z: Any
    inner: Any
    fresh: bool
    """Whether nothing is remembered yet."""
    idle: int
    """Trials since the last better point."""
    finished: bool


def done(state: State) -> bool:
    """Whether the search is over."""
    return state.finished


@cache
def _jaxopt() -> Any:
    """The package, without its warning.

    Raises:
        InputError: it cannot be imported, as may come with a new version of jax.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import jaxopt
        except (ImportError, AttributeError) as error:
            raise InputError(
                f"jaxopt cannot be imported beside jax {jax.__version__} ({error}); it is no longer maintained. Take another method."
            ) from None
    return jaxopt


def _plain(inner: Any) -> Any:
    """A state of arrays whose types are settled, so that one program serves all steps."""
    return jax.tree.map(lambda leaf: jnp.asarray(np.array(leaf)), inner)


# ----------------------------------------------------------------------------------------------------------- L-BFGS-B


@cache
def _lbfgsb() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`init_state` and `update`, compiled: of z, (state,) box, value and gradient; the number of a step is its length."""
    solver = _jaxopt().LBFGSB(
        lambda z, value, gradient: (value, gradient),
        value_and_grad=True,
        stepsize=lambda number: number,
        history_size=MEMORY,
        implicit_diff=False,
    )
    return jax.jit(solver.init_state), jax.jit(solver.update)


def init_lbfgsb(search: Search, theta0: np.ndarray) -> State:
    """The start, evaluated."""
    start = search.start(theta0)
    return _forgetful(search, start)


def _forgetful(search: Search, point: Point) -> State:
    if search.solved(point):
        return State(point, None, None, True, 0, True)
    with float64():
        z = jnp.asarray(point.theta * search.unit)
        return State(point, z, _plain(_lbfgsb()[0](z, _box(search), *_seen(search, point))), True, 0, False)


def step_lbfgsb(search: Search, state: State) -> State:
    """One direction, and the step along it."""
    point, box, update = state.point, _box(search), _lbfgsb()[1]
    with float64():
        there = np.asarray(update(state.z, _of_length(state.inner, 1.0), box, *_seen(search, point)).params) / search.unit
    way = there - point.theta
    downhill = bool(np.isfinite(way).all()) and float(point.gradient @ way) < 0
    reached = along(search, point, way) if downhill else None
    if reached is None:
        return state._replace(finished=True) if state.fresh else _forgetful(search, point)
    found = reached.point
    with float64():
        z, inner = update(state.z, _of_length(state.inner, reached.length), box, *_seen(search, found))
        return State(found, z, _plain(inner), False, 0, search.solved(found))


def _of_length(inner: Any, length: float) -> Any:
    return inner._replace(iter_num=jnp.asarray(length))


def _seen(search: Search, point: Point) -> tuple[jax.Array, jax.Array]:
    return jnp.asarray(point.value / search.size**2), jnp.asarray(search.slopes(point))


def _box(search: Search) -> tuple[jax.Array, jax.Array]:
    with float64():
        return jnp.asarray(search.bounds.lower * search.unit), jnp.asarray(search.bounds.upper * search.unit)


LBFGSB = Estimator("L-BFGS-B of jaxopt", init_lbfgsb, step_lbfgsb, done, package="jaxopt")


# ------------------------------------------------------------------------------------------------- Levenberg-Marquardt


@cache
def _levenberg_marquardt() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`init_state` and `update`, compiled: of z, (state,) and residuals that are linear about a point; both ask at one point only."""
    solver = _jaxopt().LevenbergMarquardt(
        lambda z, about, r, J: r + J @ (z - about), materialize_jac=True, solver="qr", implicit_diff=False
    )
    return jax.jit(solver.init_state), jax.jit(solver.update)


def init_lm(search: Search, theta0: np.ndarray) -> State:
    """The start, evaluated."""
    start = search.start(theta0)
    if search.solved(start):
        return State(start, None, None, True, 0, True)
    with float64():
        z = jnp.asarray(theta0 * search.unit)
        inner = _levenberg_marquardt()[0](z, z, *_triangle(search, start))
        return State(start, z, _plain(inner._replace(increase_factor=2.0)), True, 0, False)


def step_lm(search: Search, state: State) -> State:
    """One trial."""
    p, update = state.point.theta.size, _levenberg_marquardt()[1]
    with float64():
        # without residuals any step is taken, and shows where it leads
        there = update(state.z, state.inner, state.z, jnp.zeros(p + 1), jnp.zeros((p + 1, p))).params
        found = search.point(np.asarray(there) / search.unit, need_triangle=True)
        z, inner = update(state.z, state.inner, there, *_triangle(search, found))
        inner = _plain(inner)
    assert search.best is not None
    better = search.best is not state.point
    idle = 0 if better else state.idle + 1
    lost = not np.isfinite(np.asarray(there)).all() or bool(np.array_equal(there, state.z))
    return State(search.best, z, inner, False, idle, search.solved(search.best) or idle >= PATIENCE or lost)


def _triangle(search: Search, point: Point) -> tuple[jax.Array, jax.Array]:
    """Residuals and Jacobian by z, over |r| of the start, as the triangle has them."""
    p = point.theta.size
    if point.R is None:
        return jnp.full(p + 1, FAR), jnp.zeros((p + 1, p))
    return jnp.asarray(point.R[:, -1] / search.size), jnp.asarray(point.R[:, :-1] / (search.unit * search.size))


LEVENBERG_MARQUARDT = Estimator("Levenberg-Marquardt of jaxopt, without bounds", init_lm, step_lm, done, bounded=False, package="jaxopt")
