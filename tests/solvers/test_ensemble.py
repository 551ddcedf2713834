"""Many lanes at once equal one lane at a time: states, statuses, steps and derivatives, whatever the company."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.solvers import Engine, NotScalar, Options, System, integrate, integrate_ensemble, native
from kinetix.status import Status
from tests.solvers.systems import BLOW_UP, DECAY, LOGISTIC, PROTHERO, ROBERTSON, ROBERTSON_K, SERIES, series_solution

pytestmark = pytest.mark.usefixtures("x64")

LANES = 150
RANDOM = np.random.default_rng(7)
K = RANDOM.uniform(0.1, 3.0, (LANES, 2))
STARTS = np.concatenate([RANDOM.uniform(0.5, 2.0, (LANES, 1)), np.zeros((LANES, 2))], axis=1)
TIMES = np.sort(RANDOM.uniform(0.0, 5.0, (LANES, 3)), axis=1)


def test_closed_form_with_own_times_in_each_lane():
    solution = integrate_ensemble(SERIES, STARTS, {"k": K}, TIMES)
    assert (solution.status == Status.SUCCESS).all()
    expected = jax.vmap(lambda t, a0, k: series_solution(t, a0, k[0], k[1]))(TIMES, STARTS[:, 0], K)
    np.testing.assert_allclose(solution.y, expected, atol=5e-9)
    np.testing.assert_array_equal(solution.t_reached, TIMES[:, -1])


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("block", [64, 7])
def test_the_general_program_takes_the_same_steps(marked, block):
    alone = jax.vmap(lambda y0, k, times: integrate(ROBERTSON, y0, k, times))
    k = ROBERTSON_K * RANDOM.uniform(0.3, 3.0, (20, 3))
    y0, times = np.tile([1.0, 0.0, 0.0], (20, 1)), np.tile([0.4, 40.0, 4e4], (20, 1))
    one, many = alone(y0, k, times), integrate_ensemble(ROBERTSON, y0, k, times, block=block, marked=marked)
    np.testing.assert_allclose(many.y, one.y, rtol=1e-10, atol=1e-16)
    np.testing.assert_array_equal(many.steps, one.steps)
    np.testing.assert_array_equal(many.rejected, one.rejected)
    np.testing.assert_allclose(many.y.sum(axis=-1), 1.0, rtol=1e-12)


def test_right_hand_sides_that_depend_on_time_and_jump():
    args = (np.array([1.0, 50.0, 1e4]), np.array([1.0, 2.0, 0.5]))
    times = np.array([[0.7, 3.0]] * 3)
    many = integrate_ensemble(PROTHERO, np.ones((3, 1)), args, times)
    np.testing.assert_allclose(many.y[..., 0], np.cos(args[1][:, None] * times), atol=1e-7)

    def pulse(t, y, args):
        return jnp.where(t < args[0], args[1], 0.0) - y

    onset, height = np.array([0.5, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    pulsed = System(pulse, autonomous=True)
    many = integrate_ensemble(pulsed, np.zeros((3, 1)), (onset, height), times, breaks=onset[:, None])
    filled = height[:, None] * (1 - np.exp(-np.minimum(times, onset[:, None])))
    np.testing.assert_allclose(many.y[..., 0], filled * np.exp(-np.maximum(times - onset[:, None], 0.0)), atol=1e-8)


def test_tolerances_by_lane_and_by_component():
    k = np.full((2, 2), 1.0) * [1.0, 0.3]
    options = Options(rtol=np.array([1e-3, 1e-9]), atol=np.array([1e-6, 1e-12]))
    solution = integrate_ensemble(SERIES, STARTS[:2], {"k": k}, np.full((2, 1), 3.0), options=options)
    assert solution.steps[0] < solution.steps[1]
    by_component = integrate_ensemble(SERIES, STARTS[:2], {"k": k}, np.full((2, 1), 3.0), options=Options(atol=(1e-12, 1e-9, 1e-9)))
    alone = integrate(SERIES, STARTS[0], {"k": k[0]}, [3.0], options=Options(atol=(1e-12, 1e-9, 1e-9)))
    assert by_component.steps[0] == alone.steps


def test_failed_lanes_have_their_own_status_and_leave_the_others_bit_for_bit_alone():
    lanes = 1000
    k = RANDOM.uniform(0.5, 2.0, (lanes, 2))
    y0 = np.tile([1.0, 0.0, 0.0], (lanes, 1))
    times = np.full((lanes, 2), [1.0, 4.0])
    options = Options(max_steps=2000)
    cost = np.arange(lanes)
    healthy = integrate_ensemble(SERIES, y0, {"k": k}, times, options=options, cost=cost)
    spoiled, starts = k.copy(), y0.copy()
    spoiled[100, 0], spoiled[300, 1], starts[500, 0] = np.nan, np.inf, np.nan
    spoiled[700] = [-300.0, 1.0]  # grows beyond any number
    spoiled[900] = [1e250, 1.0]
    mixed = integrate_ensemble(SERIES, starts, {"k": spoiled}, times, options=options, cost=cost)
    bad = np.array([100, 300, 500, 700, 900])
    good = np.setdiff1d(np.arange(lanes), bad)
    np.testing.assert_array_equal(mixed.y[good], healthy.y[good])
    np.testing.assert_array_equal(mixed.steps[good], healthy.steps[good])
    assert (mixed.status[bad[:3]] == Status.NON_FINITE).all()
    alone = jax.vmap(lambda y0, k, times: integrate(SERIES, y0, {"k": k}, times, options=options))(starts[bad], spoiled[bad], times[bad])
    np.testing.assert_array_equal(mixed.status[bad], alone.status)
    assert np.isnan(mixed.y[bad, -1][np.asarray(mixed.status[bad]) != 0]).all()


def test_step_limit_step_size_and_floor():
    limited = integrate_ensemble(
        DECAY, np.ones((3, 1)), np.ones(3), np.full((3, 2), [1.0, 30.0]), options=Options(max_steps=np.array([3, 30, 900]))
    )
    assert limited.status.tolist() == [Status.STEP_LIMIT, Status.STEP_LIMIT, Status.SUCCESS]
    assert np.isnan(limited.y[0]).all()
    assert np.isfinite(limited.y[1, 0]).all() and np.isnan(limited.y[1, 1]).all()
    assert 0 < limited.t_reached[0] < 1 < limited.t_reached[1] < 30
    exploding = integrate_ensemble(BLOW_UP, np.ones((2, 1)), np.array([1.0, 0.1]), np.full((2, 1), 2.0))
    assert exploding.status.tolist() == [Status.STEP_TOO_SMALL, Status.SUCCESS]
    np.testing.assert_allclose(exploding.t_reached[0], 1.0, rtol=1e-6)

    def empties(t, y, k):
        return -k * jnp.ones_like(y)

    dry = integrate_ensemble(
        System(empties, autonomous=True), np.ones((2, 1)), np.array([1.0, 0.1]), np.full((2, 1), 2.0), options=Options(lowest=-0.1)
    )
    assert dry.status.tolist() == [Status.BELOW_ZERO, Status.SUCCESS]


def test_the_order_of_lanes_and_their_cost_leave_no_trace():
    mixed = RANDOM.permutation(LANES)
    first = integrate_ensemble(SERIES, STARTS, {"k": K}, TIMES)
    second = integrate_ensemble(SERIES, STARTS[mixed], {"k": K[mixed]}, TIMES[mixed], cost=first.steps[mixed])
    np.testing.assert_allclose(second.y, first.y[mixed], rtol=1e-14)


def series_end(theta, y0, times):
    """Sum over lanes of the amounts, of parameters that all lanes share."""
    return integrate_ensemble(SERIES, y0, {"k": jnp.exp(theta) * K}, times).y


def test_derivatives_forward_and_reverse_against_the_closed_form():
    theta = jnp.array([0.1, -0.2])

    def exact(theta, y0, times):
        return jax.vmap(lambda t, a0, k: series_solution(t, a0, k[0], k[1]))(times, y0[:, 0], jnp.exp(theta) * K)

    for argument in (0, 2):
        ours = jax.jvp(
            lambda x, a=argument: series_end(*[x if i == a else y for i, y in enumerate((theta, STARTS, TIMES))]), *jvp_at(argument, theta)
        )
        truth = jax.jvp(
            lambda x, a=argument: exact(*[x if i == a else y for i, y in enumerate((theta, STARTS, TIMES))]), *jvp_at(argument, theta)
        )
        np.testing.assert_allclose(ours[1], truth[1], atol=3e-8)
    weights = RANDOM.uniform(size=(LANES, 3, 3))
    ours = jax.grad(lambda theta: jnp.sum(weights * series_end(theta, STARTS, TIMES)))(theta)
    truth = jax.grad(lambda theta: jnp.sum(weights * exact(theta, STARTS, TIMES)))(theta)
    np.testing.assert_allclose(ours, truth, rtol=1e-7)
    by_start = jax.jit(jax.grad(lambda y0: jnp.sum(weights * series_end(theta, y0, TIMES))))(STARTS)
    truth = jax.grad(lambda y0: jnp.sum(weights[..., :] * exact(theta, y0, TIMES)))(STARTS)
    np.testing.assert_allclose(by_start[:, 0], truth[:, 0], rtol=1e-7)


def jvp_at(argument, theta):
    primal = (theta, STARTS, TIMES)[argument]
    return (jnp.asarray(primal),), (jnp.asarray(np.random.default_rng(3).uniform(size=np.shape(primal))),)


def test_second_derivatives_run_through_the_general_program():
    few = slice(0, 4)

    def total(theta):
        return jnp.sum(integrate_ensemble(SERIES, STARTS[few], {"k": jnp.exp(theta) * K[few]}, TIMES[few]).y[..., 1] ** 2)

    def exact(theta):
        solved = jax.vmap(lambda t, a0, k: series_solution(t, a0, k[0], k[1]))(TIMES[few], STARTS[few, 0], jnp.exp(theta) * K[few])
        return jnp.sum(solved[..., 1] ** 2)

    theta = jnp.array([0.1, -0.2])
    np.testing.assert_allclose(jax.hessian(total)(theta), jax.hessian(exact)(theta), rtol=1e-6, atol=1e-8)


def test_a_masked_failure_does_not_spoil_a_gradient():
    k = jnp.array([1.0, np.nan, 2.0])

    def total(k):
        solution = integrate_ensemble(DECAY, jnp.ones((3, 1)), k, jnp.ones((3, 1)))
        return jnp.sum(jnp.where((solution.status == Status.SUCCESS)[:, None, None], solution.y, 0.0))

    np.testing.assert_allclose(jax.grad(total)(k), [-np.exp(-1.0), 0.0, -np.exp(-2.0)], atol=1e-8)


def test_derivatives_of_a_forced_system():
    """A right-hand side that depends on time: against differences of the solver itself at a tight tolerance."""
    tight = Options(rtol=1e-12, atol=1e-14)

    def end(stiffness):
        args = (stiffness, jnp.array([1.0, 2.0]))
        return integrate_ensemble(PROTHERO, jnp.full((2, 1), 1.5), args, jnp.full((2, 1), 0.4), options=tight).y

    stiffness, h = jnp.array([3.0, 20.0]), 1e-4
    ours = jax.jvp(end, (stiffness,), (jnp.ones(2),))[1]
    np.testing.assert_allclose(ours, (end(stiffness + h) - end(stiffness - h)) / (2 * h), rtol=1e-6)


def test_refusals_say_what_to_write():
    with pytest.raises(TypeError, match="no derivative with respect to breaks"):
        jax.grad(lambda b: integrate_ensemble(DECAY, jnp.ones((2, 1)), jnp.ones(2), jnp.ones((2, 1)), breaks=b * jnp.ones((2, 1))).y.sum())(
            0.5
        )
    looped = System(lambda t, y, k: jax.lax.fori_loop(0, 2, lambda i, y: k * y, y), autonomous=True)
    with pytest.raises(NotScalar, match=r"'(while|scan)' is not elementwise"):
        integrate_ensemble(looped, jnp.ones((2, 1)), jnp.ones(2), jnp.ones((2, 1)))


def test_the_start_time_has_a_derivative_through_the_general_program():
    by_t0 = jax.grad(lambda t0: integrate_ensemble(DECAY, jnp.ones((2, 1)), jnp.ones(2), jnp.full((2, 1), 2.0), t0=t0).y.sum())(0.5)
    np.testing.assert_allclose(by_t0, 2 * np.exp(-1.5), rtol=1e-7)


def test_vmap_of_integrate_chooses_by_the_number_of_lanes():
    """Equal digits by both; which one ran is seen in what is traced."""

    def solve(engine):
        return jax.vmap(lambda y0, k, times: integrate(SERIES, y0, {"k": k}, times, engine=engine))

    few, many = solve(Engine(lanes=LANES + 1)), solve(Engine(lanes=LANES))
    np.testing.assert_allclose(many(STARTS, K, TIMES).y, few(STARTS, K, TIMES).y, rtol=1e-12, atol=1e-15)
    # equations that are too large, or take too many operations, are tables: registers are known by being read at a place that is data
    large, long = solve(Engine(lanes=LANES, components=2)), solve(Engine(lanes=LANES, operations=100))
    texts = [str(jax.make_jaxpr(f)(STARTS, K, TIMES)) for f in (few, many, large, long)]
    assert ["optimization_barrier" in text for text in texts] == [False, True, True, True]
    assert ["dynamic_slice" in text for text in texts[1:]] == [False, True, True]
    # the network as data cannot be read as scalars: the general program, unless it is insisted on
    by_index = System(lambda t, y, args: -args[0] * y[args[1]], autonomous=True)
    arguments = (jnp.ones((9, 2)), (jnp.ones(9), jnp.tile(jnp.arange(2), (9, 1))), jnp.ones((9, 1)))
    solved = jax.vmap(lambda y0, args, times: integrate(by_index, y0, args, times, engine=Engine(lanes=9)))(*arguments)
    np.testing.assert_allclose(solved.y, np.exp(-1.0), rtol=1e-7)


def test_lanes_of_lanes_are_more_lanes():
    """A vmap around an ensemble: no array is larger than a block, and values and gradients are those of each alone."""
    factors = jnp.array([0.9, 1.0, 1.2, 1.3, 1.4])

    def solve(factor):
        return integrate_ensemble(SERIES, STARTS, {"k": factor * K}, TIMES).y

    both = jax.vmap(solve)(factors)
    assert f"f64[5,{Engine.block}" not in str(jax.make_jaxpr(jax.vmap(solve))(factors))
    for factor, y in zip(factors, both, strict=True):
        np.testing.assert_allclose(y, solve(factor), rtol=1e-12, atol=1e-15)
    gradients = jax.jit(jax.vmap(jax.grad(lambda factor: solve(factor)[..., 1].sum())))(factors)
    np.testing.assert_allclose(gradients[1], jax.grad(lambda factor: solve(factor)[..., 1].sum())(1.0), rtol=1e-10)


def test_growth_is_not_stepped_over():
    solution = integrate_ensemble(LOGISTIC, np.full((2, 1), 1e-6), np.ones(2), np.array([[20.0], [1000.0]]))
    np.testing.assert_allclose(solution.y[:, 0, 0], 1 / (1 + (1e6 - 1) * np.exp([-20.0, -1000.0])), rtol=1e-6)


def test_pins_leave_little_to_compute_twice():
    """What makes blocks fast, seen in what is compiled and not by the clock: without pins most operations are done several times."""

    def flops(program):
        return jax.jit(program).lower(jnp.ones((64, 3)), jnp.ones((64, 3))).compile().cost_analysis()["flops"]

    from kinetix.solvers import ensemble

    def solve(y0, k):
        return integrate_ensemble(ROBERTSON, y0, k, jnp.ones((64, 1)), marked=False).y

    with_pins = flops(solve)
    pins = native.pins
    ensemble.solve_lanes.clear_cache()
    native.pins = lambda program: []
    try:
        without = flops(lambda y0, k: solve(y0, k))
    finally:
        native.pins = pins
        ensemble.solve_lanes.clear_cache()
    assert with_pins < 0.5 * without
