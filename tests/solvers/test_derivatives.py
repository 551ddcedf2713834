"""Derivatives of `integrate`: every argument by itself and all together, in every mode, against closed forms and differences."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from kinetix.solvers import Options, System, integrate
from kinetix.status import Status
from tests.solvers.systems import BLOW_UP, DECAY, DRIVEN, ROBERTSON, ROBERTSON_K, SERIES, series_solution

pytestmark = pytest.mark.usefixtures("x64")

TIMES = np.array([0.5, 1.0, 4.0])
TIGHT = Options(rtol=1e-11, atol=1e-13)


def _series_of(a0: Array, k: Array, times: Array, label: int = 7, unused: float = 3.0) -> Array:
    args = {"k": k, "label": label, "unused": unused, "index": np.array([1, 2])}
    return integrate(SERIES, jnp.stack([a0, 0.0 * a0, 0.0 * a0]), args, times, options=TIGHT).y


def _series_exactly(a0: Array, k: Array, times: Array) -> Array:
    return series_solution(times, a0, k[0], k[1])


@pytest.mark.parametrize("argument", [0, 1, 2], ids=["y0", "args", "times"])
@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
def test_each_argument_by_itself(argument: int, mode: Callable):
    point = (jnp.array(1.5), jnp.array([1.0, 0.3]), jnp.asarray(TIMES))
    expected = jax.jacfwd(_series_exactly, argnums=argument)(*point)
    np.testing.assert_allclose(mode(_series_of, argnums=argument)(*point), expected, rtol=1e-8, atol=1e-9)


def _driven(x: Array) -> Array:
    """y(t1), y(t2) of y' = k t y with y(t0) = y0 for x = (y0, k, t0, t1, t2)."""
    return integrate(DRIVEN, x[:1], x[1], x[3:], t0=x[2], options=TIGHT).y[:, 0]


def _driven_exactly(x: Array) -> Array:
    return x[0] * jnp.exp(x[1] * (x[3:] ** 2 - x[2] ** 2) / 2)


POINT = np.array([1.2, 0.7, 0.4, 1.0, 1.9])


@pytest.mark.parametrize("position", range(5), ids=["y0", "k", "t0", "first time", "last time"])
def test_each_argument_of_a_non_autonomous_system(position: int):
    direction = jnp.eye(5)[position]
    value, change = jax.jvp(_driven, (jnp.asarray(POINT),), (direction,))
    np.testing.assert_allclose(value, _driven_exactly(POINT), rtol=1e-9)
    np.testing.assert_allclose(change, jax.jvp(_driven_exactly, (jnp.asarray(POINT),), (direction,))[1], rtol=1e-8)


@pytest.mark.parametrize(
    "twice",
    [
        pytest.param(lambda f: jax.jacfwd(jax.jacrev(f)), id="forward over reverse"),
        pytest.param(lambda f: jax.jacfwd(jax.jacfwd(f)), id="forward over forward"),
        pytest.param(lambda f: jax.jacrev(jax.jacrev(f)), id="reverse over reverse"),
        pytest.param(lambda f: jax.jacrev(jax.jacfwd(f)), id="reverse over forward"),
    ],
)
def test_all_second_derivatives_together(twice: Callable):
    """The Hessian in y0, k, t0 and both times, mixed terms included."""
    np.testing.assert_allclose(twice(_driven)(jnp.asarray(POINT)), jax.hessian(_driven_exactly)(jnp.asarray(POINT)), rtol=1e-7, atol=1e-8)


def test_third_derivatives():
    def third(f: Callable) -> Array:
        return jax.jacfwd(jax.jacfwd(jax.jacrev(f)))(jnp.asarray(POINT))

    np.testing.assert_allclose(third(lambda x: _driven(x)[1]), third(lambda x: _driven_exactly(x)[1]), rtol=1e-6, atol=1e-6)


def test_all_modes_agree_and_batches_equal_lanes():
    def lane(k: Array, a0: Array) -> Array:
        return integrate(SERIES, jnp.stack([a0, 0.0 * a0, 0.0 * a0]), {"k": k}, TIMES).y

    def loss(k: Array, a0: Array) -> Array:
        return jnp.sum(jax.vmap(lane, (None, 0))(k, a0) ** 2)

    k, a0 = jnp.array([1.0, 0.3]), jnp.array([1.0, 2.0, 0.5])
    forward = jax.jit(jax.vmap(jax.jacfwd(lane), (None, 0)))(k, a0)
    reverse = jax.jit(jax.vmap(jax.jacrev(lane), (None, 0)))(k, a0)
    np.testing.assert_allclose(forward, reverse, rtol=1e-13)
    np.testing.assert_allclose(forward[1], jax.jacfwd(lane)(k, a0[1]), rtol=1e-12, atol=1e-14)
    value, gradient = jax.jit(jax.value_and_grad(loss))(k, a0)
    values = jax.vmap(lane, (None, 0))(k, a0)
    np.testing.assert_allclose(value, np.sum(values**2), rtol=1e-13)
    np.testing.assert_allclose(gradient, 2 * np.einsum("lmn,lmnp->p", values, forward), rtol=1e-12)
    hessian = jax.jit(jax.hessian(loss))(k, a0)
    np.testing.assert_allclose(
        hessian, jax.hessian(lambda k: jnp.sum(jax.vmap(lambda a: _series_exactly(a, k, TIMES))(a0) ** 2))(k), rtol=1e-6
    )


def test_stiff_sensitivities_against_central_differences():
    """Robertson: d y(40)/d ln k against differences of the same solver at rtol 1e-11."""

    def of(log_k: Array) -> Array:
        return integrate(ROBERTSON, [1.0, 0.0, 0.0], jnp.exp(log_k), [40.0], options=Options(1e-11, 1e-15)).y[0]

    x, h = jnp.log(ROBERTSON_K), 1e-4
    run = jax.jit(of)
    differences = np.stack([(run(x + h * e) - run(x - h * e)) / (2 * h) for e in np.eye(3)], -1)
    np.testing.assert_allclose(jax.jacfwd(of)(x), differences, rtol=1e-5, atol=1e-12)


def test_derivatives_are_those_of_the_computed_solution():
    """At loose tolerance they still conserve what rhs conserves, and are as good as the solution."""
    jacobian = jax.jacfwd(lambda k: integrate(SERIES, [1.0, 0.0, 0.0], {"k": k}, TIMES, options=Options(1e-4, 1e-6)).y)(
        jnp.array([1.0, 0.3])
    )
    np.testing.assert_allclose(jacobian.sum(axis=1), 0.0, atol=1e-14)
    np.testing.assert_allclose(jacobian, jax.jacfwd(lambda k: _series_exactly(jnp.array(1.0), k, TIMES))(jnp.array([1.0, 0.3])), atol=1e-3)


def test_other_outputs_have_no_derivative():
    change = jax.jvp(lambda k: integrate(DECAY, [1.0], k, [1.0]), (jnp.array(1.0),), (jnp.array(1.0),))[1]
    assert change.status.dtype == jax.dtypes.float0
    assert change.steps.dtype == jax.dtypes.float0
    assert change.t_reached == 0.0


def test_tolerances_have_no_derivative():
    assert jax.grad(lambda rtol: integrate(DECAY, [1.0], 1.0, [1.0], options=Options(rtol=rtol)).y[0, 0])(1e-6) == 0.0


def test_kinks_that_move_with_a_parameter():
    """y' = max(t - b, 0): y(2) = (2 - b)^2/2, so dy/db = -(2 - b)."""
    system = System(lambda t, y, b: jnp.maximum(t - b, 0.0)[None] + 0 * y)

    def of(b: Array) -> Array:
        return integrate(system, [0.0], b, [2.0], breaks=jax.lax.stop_gradient(b)[None]).y[0, 0]

    value, slope = jax.value_and_grad(of)(jnp.array(0.5))
    np.testing.assert_allclose([value, slope], [1.5**2 / 2, -1.5], rtol=1e-12)


def test_a_derivative_in_breaks_is_refused():
    with pytest.raises(TypeError, match="stop_gradient"):
        jax.grad(lambda b: integrate(DECAY, [1.0], 1.0, [2.0], breaks=b[None]).y[0, 0])(jnp.array(0.5))


def test_derivative_in_a_time_at_a_jump_is_that_from_the_left():
    system = System(lambda t, y, args: jnp.where(t < 1.0, 2.0, 5.0)[None] + 0 * y)
    slope = jax.jacfwd(lambda t: integrate(system, [0.0], None, t, breaks=[1.0]).y[:, 0])(jnp.array([1.0, 1.5]))
    np.testing.assert_allclose(slope, [[2.0, 0.0], [0.0, 5.0]], atol=1e-13)


def test_a_failed_lane_has_no_derivative_and_spoils_no_other():
    times = np.array([0.5, 2.0])

    def lane(k: Array, y0: Array) -> Array:
        return integrate(BLOW_UP, y0[None], k, times).y[:, 0]

    y0 = jnp.array([0.1, 1.0, jnp.nan])
    forward = jax.vmap(jax.jacfwd(lane), (None, 0))(1.0, y0)
    reverse = jax.vmap(jax.jacrev(lane), (None, 0))(1.0, y0)
    expected = [[False, False], [False, True], [True, True]]
    np.testing.assert_array_equal(np.isnan(forward), expected)
    np.testing.assert_array_equal(np.isnan(reverse), expected)

    def masked(k: Array) -> Array:
        y = jax.vmap(lane, (None, 0))(k, y0)
        return jnp.sum(jnp.where(jnp.isfinite(y), y, 0.0))

    good = (y0[0] ** 2 * times / (1 - y0[0] * times) ** 2).sum() + 0.5 / 0.5**2
    np.testing.assert_allclose(jax.grad(masked)(1.0), good, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.grad(masked))(1.0), good, rtol=1e-6)
    assert np.isfinite(jax.grad(jax.grad(masked))(1.0))
    assert np.isnan(jax.grad(lambda k: jnp.sum(jax.vmap(lane, (None, 0))(k, y0)))(1.0))


def test_float32_derivatives():
    k = jnp.array([1.0, 0.3], jnp.float32)

    def of(k: Array) -> Array:
        return integrate(SERIES, jnp.array([1.0, 0, 0], jnp.float32), {"k": k}, TIMES.astype(np.float32), options=Options(1e-5, 1e-6)).y

    jacobian = jax.jacrev(of)(k)
    assert jacobian.dtype == jnp.float32
    np.testing.assert_allclose(jacobian, jax.jacfwd(lambda k: _series_exactly(jnp.array(1.0), k, TIMES))(k), atol=1e-3)


def test_status_comes_with_the_derivatives():
    def of(k: Array) -> tuple[Array, Array]:
        solution = integrate(DECAY, [1.0], k, [1.0])
        return solution.y[0, 0], solution.status

    (_, status), slope = jax.value_and_grad(of, has_aux=True)(1.0)
    assert status == Status.SUCCESS
    np.testing.assert_allclose(slope, -np.exp(-1.0), rtol=1e-7)
