"""Steady states against closed forms, a textbook and time integration; their derivatives; and what a failure looks like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from scipy.integrate import solve_ivp

from kinetix.solvers import Options, SteadyOptions, System, integrate, steady_state
from kinetix.solvers.stability import grows
from kinetix.status import Status
from tests.solvers.systems import DECAY

pytestmark = pytest.mark.usefixtures("x64")


def _second_order(t: Array, c: Array, args: dict[str, Any]) -> Array:
    return (args["feed"] - c) / args["tau"] - args["k"] * c**2


SECOND_ORDER_TANK = System(_second_order, autonomous=True)


def _second_order_exactly(x: Array) -> Array:
    k, tau, feed = x
    return (jnp.sqrt(1 + 4 * k * tau * feed) - 1) / (2 * k * tau)


def _second_order_steady(x: Array) -> Array:
    return steady_state(SECOND_ORDER_TANK, x[2:], {"k": x[0], "tau": x[1], "feed": x[2], "unused": 1.0, "label": 3}).y[0]


POINT = np.array([0.7, 3.0, 2.0])


def test_second_order_tank():
    steady = steady_state(SECOND_ORDER_TANK, [2.0], {"k": 0.7, "tau": 3.0, "feed": 2.0})
    assert steady.status == Status.SUCCESS
    np.testing.assert_allclose(steady.y[0], _second_order_exactly(POINT), rtol=4e-16)
    assert steady.residual_norm < 1e-15


@pytest.mark.parametrize("position", range(3), ids=["k", "tau", "feed"])
def test_derivative_in_each_argument(position: int):
    direction = jnp.eye(3)[position]
    _, change = jax.jvp(_second_order_steady, (jnp.asarray(POINT),), (direction,))
    np.testing.assert_allclose(change, jax.jvp(_second_order_exactly, (jnp.asarray(POINT),), (direction,))[1], rtol=1e-12)


@pytest.mark.parametrize(
    "derivative",
    [
        pytest.param(jax.jacfwd, id="forward"),
        pytest.param(jax.jacrev, id="reverse"),
        pytest.param(lambda f: jax.jit(jax.grad(f)), id="jit grad"),
        pytest.param(lambda f: jax.jacfwd(jax.jacrev(f)), id="forward over reverse"),
        pytest.param(lambda f: jax.jacfwd(jax.jacfwd(f)), id="forward over forward"),
        pytest.param(lambda f: jax.jacrev(jax.jacrev(f)), id="reverse over reverse"),
        pytest.param(lambda f: jax.jacrev(jax.jacfwd(f)), id="reverse over forward"),
        pytest.param(lambda f: jax.jacfwd(jax.jacfwd(jax.jacrev(f))), id="third"),
    ],
)
def test_derivatives_of_any_order(derivative: Callable):
    x = jnp.asarray(POINT)
    np.testing.assert_allclose(derivative(_second_order_steady)(x), derivative(_second_order_exactly)(x), rtol=1e-10, atol=1e-12)


def test_the_start_has_no_derivative():
    args = {"k": 0.7, "tau": 3.0, "feed": 2.0}
    assert jax.grad(lambda start: steady_state(SECOND_ORDER_TANK, start[None], args).y[0])(jnp.array(1.0)) == 0.0


def _five_species(t: Array, c: Array, args: tuple[Array, Array, Array]) -> Array:
    """A + B <=> C -> D, D + A -> E in a tank."""
    k, feed, tau = args
    r1, r2, r3, r4 = k[0] * c[0] * c[1], k[1] * c[2], k[2] * c[2], k[3] * c[3] * c[0]
    return jnp.stack([-r1 + r2 - r4, -r1 + r2, r1 - r2 - r3, r3 - r4, r4]) + (feed - c) / tau


FIVE_SPECIES = System(_five_species, autonomous=True)


def _conditions(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    temperature = rng.uniform(300, 600, count)
    feed = np.stack([rng.uniform(0.1, 3, count), rng.uniform(0.1, 3, count), *np.zeros((3, count))], axis=1)
    tau = 10 ** rng.uniform(-1, 5, count)
    k = np.exp(np.array([18.0, 20.0, 14.0, 22.0]) - np.array([5.5e4, 8.0e4, 6e4, 7.5e4]) / 8.314462618 / temperature[:, None])
    return k, feed, tau


def test_hard_tanks_all_converge_to_what_time_integration_reaches():
    k, feed, tau = _conditions(4096)
    tanks = jax.jit(jax.vmap(lambda k, feed, tau: steady_state(FIVE_SPECIES, feed, (k, feed, tau))))(k, feed, tau)
    assert np.all(np.asarray(tanks.status) == Status.SUCCESS)
    assert np.max(tanks.residual_norm) < 1e-14
    assert np.min(tanks.y) > -1e-10
    few = slice(0, 64)
    long = jax.jit(jax.vmap(lambda k, feed, tau: integrate(FIVE_SPECIES, feed, (k, feed, tau), 40 * tau[None]).y[0]))
    np.testing.assert_allclose(tanks.y[few], long(k[few], feed[few], tau[few]), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.asarray(tanks.y) @ np.array([1.0, 0, 1, 1, 2]), feed[:, 0], rtol=1e-9)


def test_derivatives_of_hard_tanks_against_central_differences():
    k, feed, tau = (jnp.asarray(x[:16]) for x in _conditions(16))

    def of(log_k: Array, feed: Array, log_tau: Array) -> Array:
        return steady_state(FIVE_SPECIES, feed, (jnp.exp(log_k), feed, jnp.exp(log_tau))).y

    point = (jnp.log(k), feed, jnp.log(tau))
    jacobians = jax.jit(jax.vmap(jax.jacfwd(of, argnums=(0, 1, 2))))(*point)
    reverse = jax.jit(jax.vmap(jax.jacrev(of, argnums=(0, 1, 2))))(*point)
    run, h = jax.jit(jax.vmap(of)), 1e-5
    for argument, jacobian in enumerate(jacobians):
        np.testing.assert_allclose(jacobian, reverse[argument], rtol=1e-10, atol=1e-13)
        columns = jacobian.reshape(16, 5, -1)
        for column in range(columns.shape[2]):
            shift = np.zeros(columns.shape[2])
            shift[column] = h
            ends = [run(*(p + sign * shift.reshape(p.shape[1:]) if i == argument else p for i, p in enumerate(point))) for sign in (1, -1)]
            np.testing.assert_allclose(columns[:, :, column], (ends[0] - ends[1]) / (2 * h), rtol=1e-6, atol=1e-8)


def _exothermic(t: Array, y: Array, coolant: Array) -> Array:
    """Seborg, Edgar, Mellichamp, Process Dynamics and Control: nonlinear tank, per minute, mol/L and K."""
    concentration, temperature = y
    r = 7.2e10 * jnp.exp(-8750 / temperature) * concentration
    return jnp.stack([1 - concentration - r, 350 - temperature + 5e4 / 239 * r + 5e4 / (100 * 239) * (coolant - temperature)])


COLD, WARM, HOT = (
    [0.8772529460809677, 324.47544343159893],
    [0.49991828595865867, 350.00552869021254],
    [0.20876137961455526, 369.70491342256054],
)


@pytest.mark.parametrize("start", [[0.9, 320.0], [0.5, 350.0], [0.2, 370.0]], ids=["cold", "warm", "hot"])
def test_of_three_steady_states_the_one_that_is_reached_in_time(start):
    """The warm one is a saddle and the hot one an unstable focus: from near them the tank cools down."""

    def rhs(t: float, y: np.ndarray) -> list[float]:
        r = 7.2e10 * np.exp(-8750 / y[1]) * y[0]
        return [1 - y[0] - r, 350 - y[1] + 5e4 / 239 * r + 5e4 / (100 * 239) * (300 - y[1])]

    later = solve_ivp(rhs, (0, 500), start, method="Radau", rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(later.y[:, -1], COLD, rtol=1e-6)
    steady = steady_state(System(_exothermic), start, 300.0)
    assert steady.status == Status.SUCCESS
    np.testing.assert_allclose(steady.y, COLD, rtol=1e-9)


@pytest.mark.parametrize(("state", "unstable"), [(COLD, False), (WARM, True), (HOT, True)], ids=["node", "saddle", "focus"])
def test_growth_of_disturbances_against_eigenvalues(state, unstable):
    jacobian = jax.jacfwd(_exothermic, argnums=1)(0.0, jnp.array(state), jnp.asarray(300.0))
    assert (np.max(np.linalg.eigvals(np.asarray(jacobian)).real) > 0) == unstable
    assert bool(grows(jacobian, jnp.array(state))) == unstable


def test_growth_of_disturbances_of_random_matrices():
    """Rates spread over eight decades."""
    rng = np.random.default_rng(5)
    matrices = rng.normal(size=(400, 4, 4)) * 10 ** rng.uniform(-4, 4, (400, 4, 1)) - 3 * np.eye(4) * 10 ** rng.uniform(-4, 4, (400, 1, 1))
    largest = np.max(np.linalg.eigvals(matrices).real, axis=1)
    clear = np.abs(largest) > 1e-9 * np.max(np.abs(matrices), axis=(1, 2))
    found = jax.jit(jax.vmap(lambda m: grows(m, jnp.ones(4))))(matrices)
    assert 100 < np.sum(largest[clear] > 0) < 300
    np.testing.assert_array_equal(np.asarray(found)[clear], largest[clear] > 0)


def _autocatalysis(t: Array, c: Array, args: tuple[Array, Array, Array]) -> Array:
    """A + 2 B -> 3 B and B -> C in a tank."""
    k, feed, tau = args
    fast, slow = k[0] * c[0] * c[1] ** 2, k[1] * c[1]
    return jnp.stack([-fast, fast - slow, slow]) + (feed - c) / tau


AUTOCATALYSIS = System(_autocatalysis, autonomous=True)


def _in_time(k: np.ndarray, feed: np.ndarray, times: np.ndarray, tau: float) -> np.ndarray:
    """Radau of SciPy, [time, 3]."""

    def rhs(t: float, c: np.ndarray) -> list[float]:
        fast, slow = k[0] * c[0] * c[1] ** 2, k[1] * c[1]
        return [(feed[0] - c[0]) / tau - fast, (feed[1] - c[1]) / tau + fast - slow, (feed[2] - c[2]) / tau + slow]

    return solve_ivp(rhs, (0, times[-1]), feed, method="Radau", rtol=1e-9, atol=1e-12, t_eval=times).y.T


@pytest.mark.parametrize(
    ("tau", "B", "A"),
    [pytest.param(253.8, 0.00998, 0.99612, id="not the saddle at A = 0.97295"), pytest.param(1878.0, 0.009603, 0.9995, id="not A = 0.737")],
)
def test_autocatalysis_stays_extinguished_as_in_time(tau, B, A):
    k, feed = np.array([1.0, 0.01]), np.array([1.0, B, 0.0])
    steady = steady_state(AUTOCATALYSIS, feed, (k, feed, tau))
    assert steady.status == Status.SUCCESS
    np.testing.assert_allclose(steady.y, _in_time(k, feed, np.array([400 * tau]), tau)[-1], rtol=1e-6)
    np.testing.assert_allclose(steady.y[0], A, rtol=1e-4)


def test_autocatalytic_tanks_all_reach_what_time_integration_reaches():
    """Of 200 random ones some oscillate: they have no steady state in time, and say so."""
    rng = np.random.default_rng(7)
    count = 200
    k = np.stack([np.ones(count), 10 ** rng.uniform(-2.5, -1.5, count)], axis=1)
    tau = 10 ** rng.uniform(1, 4.5, count)
    feed = np.stack([0.3 + 10 ** rng.uniform(-4, 0, count), 10 ** rng.uniform(-4, 0, count), np.zeros(count)], axis=1)
    steady = jax.jit(jax.vmap(lambda k, feed, tau: steady_state(AUTOCATALYSIS, feed, (k, feed, tau))))(k, feed, tau)
    times = jnp.array([300.0, 400.0])
    tight = Options(1e-9, 1e-13, 2000)
    later = jax.jit(jax.vmap(lambda k, feed, tau: integrate(AUTOCATALYSIS, feed, (k, feed, tau), times * tau, options=tight)))(k, feed, tau)
    settled = np.isclose(later.y[:, 0], later.y[:, 1], rtol=1e-6, atol=1e-12).all(axis=1)
    np.testing.assert_array_equal(np.asarray(steady.status), np.where(settled, Status.SUCCESS, Status.UNSTEADY))
    assert 0 < np.sum(~settled) < 20
    np.testing.assert_allclose(np.asarray(steady.y)[settled], np.asarray(later.y)[settled, 1], rtol=1e-5, atol=1e-10)
    assert np.all(np.isnan(np.asarray(steady.y)[~settled]))
    oscillating = int(np.flatnonzero(~settled)[0])
    first, second = _in_time(k[oscillating], feed[oscillating], np.array([40.0, 43.0]) * tau[oscillating], tau[oscillating])
    assert np.max(np.abs(first - second)) > 1e-3


def test_very_different_rates():
    """A <=> B at 1e6 1/s and B -> C in a tank of 1e5 s: the fast pair cancels to eleven digits."""

    def rhs(t, y, args):
        fast, slow, tau = args
        net = fast * (y[0] - y[1])
        return jnp.stack([-net, net - slow * y[1], slow * y[1]]) + (jnp.array([1.0, 0.0, 0.0]) - y) / tau

    steady = steady_state(System(rhs), [1.0, 0.0, 0.0], (1e6, 1e-5, 1e5))
    total = 1 / (2 + 1.0)
    assert steady.status == Status.SUCCESS
    np.testing.assert_allclose(steady.y, [total, total, total], rtol=1e-4)


def test_complete_consumption_leaves_nothing_clearly_negative():
    def rhs(t, y, args):
        r = 1e9 * y[0]
        return jnp.stack([-r, r]) - y / 10.0

    steady = steady_state(System(rhs), [1.0, 0.0], None)
    assert steady.status == Status.SUCCESS
    np.testing.assert_allclose(steady.y, 0.0, atol=1e-10)


def test_a_closed_system_has_no_isolated_steady_state():
    def rhs(t, y, k):
        return jnp.stack([-k * y[0] + y[1], k * y[0] - y[1]])

    steady = steady_state(System(rhs), [1.0, 0.0], 1.0)
    assert steady.status == Status.NOT_CONVERGED
    assert np.all(np.isnan(steady.y))


def test_no_solution_is_not_converged():
    steady = steady_state(System(lambda t, y, args: 1.0 + y**2), [0.3], None, SteadyOptions(max_iterations=100))
    assert steady.status == Status.NOT_CONVERGED
    assert steady.iterations >= 100
    assert np.isnan(steady.y[0])
    assert np.isfinite(steady.residual_norm)


@pytest.mark.parametrize(("start", "k"), [(np.nan, 1.0), (np.inf, 1.0), (1.0, np.nan), (1.0, -np.inf), (1e200, 1e200)])
def test_bad_input_ends_at_once(start, k):
    steady = steady_state(SECOND_ORDER_TANK, [start], {"k": k, "tau": 3.0, "feed": 2.0})
    assert steady.status == Status.NON_FINITE
    assert steady.iterations == 0
    assert np.isnan(steady.y[0])


def _double_root(t: Array, y: Array, args: tuple[Array, float]) -> Array:
    a, place = args
    return a - (y - place) ** 2


@pytest.mark.parametrize(("start", "place"), [(0.0, 0.0), (0.5, 0.0), (1.0, 1.0), (1.7, 1.0), (300.0, 290.0)])
def test_a_multiple_root_has_no_derivative(start, place):
    """0 = a - (y - place)^2 at a = 0."""

    def of(a: Array) -> tuple[Array, Array]:
        steady = steady_state(System(_double_root), jnp.array([start]), (a, place))
        return steady.y[0], steady.status

    for gradient in (jax.grad(of, has_aux=True), jax.jacfwd(of, has_aux=True)):
        slope, status = gradient(jnp.array(0.0))
        assert np.isnan(slope)
        assert (status == Status.SUCCESS) == np.isfinite(of(jnp.array(0.0))[0])


def test_lanes_do_not_disturb_each_other():
    batch = jax.jit(jax.vmap(lambda start, k: steady_state(SECOND_ORDER_TANK, start[None], {"k": k, "tau": 3.0, "feed": 2.0})))
    start, k = np.array([2.0, 1.0, 0.0]), np.array([0.7, 10.0, 1e-3])
    together = batch(np.concatenate([start, [np.nan, 1.0, 1.0]]), np.concatenate([k, [1.0, np.nan, -1e3]]))
    apart = batch(np.concatenate([start, start]), np.concatenate([k, k]))
    np.testing.assert_array_equal(together.y[:3], apart.y[:3])
    np.testing.assert_array_equal(together.iterations[:3], apart.iterations[:3])
    np.testing.assert_array_equal(together.status, [0, 0, 0, Status.NON_FINITE, Status.NON_FINITE, Status.NOT_CONVERGED])


def test_a_failed_lane_has_no_derivative_and_spoils_no_other():
    k = jnp.array([0.7, jnp.nan])

    def lane(k: Array, feed: Array) -> Array:
        return steady_state(SECOND_ORDER_TANK, feed[None], {"k": k, "tau": 3.0, "feed": feed}).y[0]

    def masked(feed: Array) -> Array:
        y = jax.vmap(lane, (0, None))(k, feed)
        return jnp.sum(jnp.where(jnp.isfinite(y), y, 0.0))

    expected = jax.grad(lambda feed: _second_order_exactly(jnp.stack([0.7, 3.0, feed])))(2.0)
    for derivative in (jax.grad, jax.jacfwd, lambda f: jax.jit(jax.grad(f))):
        np.testing.assert_allclose(derivative(masked)(2.0), expected, rtol=1e-12)
    np.testing.assert_array_equal(np.isnan(jax.jacfwd(lambda feed: jax.vmap(lane, (0, None))(k, feed))(2.0)), [False, True])
    np.testing.assert_array_equal(np.isnan(jax.jacrev(lambda feed: jax.vmap(lane, (0, None))(k, feed))(2.0)), [False, True])


def test_float32_stays_float32():
    args = {"k": np.float32(0.7), "tau": np.float32(3.0), "feed": np.float32(2.0)}
    steady = steady_state(SECOND_ORDER_TANK, np.array([2.0], np.float32), args, SteadyOptions(1e-5, 1e-6))
    assert steady.y.dtype == np.float32
    np.testing.assert_allclose(steady.y[0], _second_order_exactly(POINT), rtol=1e-6)


def test_decay_to_nothing_from_zero():
    steady = steady_state(DECAY, [0.0], 1.0)
    assert steady.status == Status.SUCCESS
    assert steady.y[0] == 0.0


def test_wrong_shape_is_named():
    with pytest.raises(ValueError, match="y0 has shape"):
        steady_state(DECAY, [[1.0]], 1.0)
