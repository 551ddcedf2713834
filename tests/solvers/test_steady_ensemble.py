"""Many steady states at once equal one at a time: roots, statuses and derivatives, also where Newton's method alone is not enough."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.solvers import Options, SteadyOptions, System, integrate, steady_state, steady_states
from kinetix.status import Status

pytestmark = pytest.mark.usefixtures("x64")

RANDOM = np.random.default_rng(11)


def _second_order(t, c, args):
    """A -> B with r = k A^2 in a stirred tank."""
    r = args["k"] * c[0] ** 2
    return (args["feed"] - c) * (1.0 / args["tau"]) + jnp.stack([-r, r])


def _autocatalysis(t, c, args):
    """A + 2 B -> 3 B, B -> C in a stirred tank: one steady state or three."""
    made, lost = args["k"][0] * c[0] * c[1] ** 2, args["k"][1] * c[1]
    return (args["feed"] - c) * (1.0 / args["tau"]) + jnp.stack([-made, made - lost, lost])


SECOND_ORDER = System(_second_order, autonomous=True)
AUTOCATALYSIS = System(_autocatalysis, autonomous=True)


def tanks(lanes):
    feed = np.stack([RANDOM.uniform(0.5, 3.0, lanes), np.zeros(lanes)], axis=1)
    return {"k": 10.0 ** RANDOM.uniform(-4, 6, lanes), "tau": 10.0 ** RANDOM.uniform(-2, 4, lanes), "feed": feed}


def exact(args):
    """k tau A^2 + A = A_feed, in the form without cancellation."""
    a = 2 * args["feed"][:, 0] / (1 + jnp.sqrt(1 + 4 * args["k"] * args["tau"] * args["feed"][:, 0]))
    return jnp.stack([a, args["feed"].sum(axis=1) - a], axis=1)


def multiple(lanes):
    feed = np.stack([RANDOM.uniform(0.5, 2.0, lanes), 10.0 ** RANDOM.uniform(-3, -0.5, lanes), np.zeros(lanes)], axis=1)
    k = np.stack([10.0 ** RANDOM.uniform(-1, 1, lanes), 10.0 ** RANDOM.uniform(-3, -1, lanes)], axis=1)
    return {"k": k, "tau": 10.0 ** RANDOM.uniform(0, 3, lanes), "feed": feed}


@pytest.mark.parametrize("marked", [True, False])
def test_second_order_over_ten_decades(marked):
    args = tanks(500)
    steady = steady_states(SECOND_ORDER, args["feed"], args, marked=marked)
    assert (steady.status == Status.SUCCESS).all()
    np.testing.assert_allclose(steady.y, exact(args), rtol=1e-9, atol=1e-12)


def test_the_state_that_time_leads_to_where_there_are_several():
    args = multiple(200)
    many = steady_states(AUTOCATALYSIS, args["feed"], args)
    one = jax.vmap(lambda args: steady_state(AUTOCATALYSIS, args["feed"], args))(args)
    np.testing.assert_array_equal(many.status, one.status)
    np.testing.assert_allclose(many.y, one.y, rtol=1e-9, atol=1e-12)
    ok = np.asarray(many.status) == Status.SUCCESS
    assert ok.mean() > 0.97
    followed = jax.vmap(lambda args: integrate(AUTOCATALYSIS, args["feed"], args, [1e4 * args["tau"]], options=Options(rtol=1e-9)).y[0])(
        args
    )
    np.testing.assert_allclose(many.y[ok], followed[ok], atol=1e-6)


def test_a_lane_that_fails_is_nan_and_leaves_the_others_bit_for_bit_alone():
    args = tanks(1000)
    healthy = steady_states(SECOND_ORDER, args["feed"], args)
    spoiled = {name: value.copy() for name, value in args.items()}
    spoiled["k"][100], spoiled["tau"][300], spoiled["feed"][500, 0] = np.nan, 0.0, np.inf
    mixed = steady_states(SECOND_ORDER, spoiled["feed"], spoiled)
    bad = np.array([100, 300, 500])
    good = np.setdiff1d(np.arange(1000), bad)
    np.testing.assert_array_equal(mixed.y[good], healthy.y[good])
    np.testing.assert_array_equal(mixed.iterations[good], healthy.iterations[good])
    assert np.isnan(mixed.y[bad]).all()
    assert (mixed.status[bad] == Status.NON_FINITE).all()


def test_cost_block_and_order_leave_no_trace():
    args = tanks(130)
    first = steady_states(SECOND_ORDER, args["feed"], args)
    again = steady_states(SECOND_ORDER, args["feed"], args, cost=first.iterations, block=17)
    np.testing.assert_allclose(again.y, first.y, rtol=1e-14)
    np.testing.assert_array_equal(again.iterations, first.iterations)


def test_limits_by_lane():
    args = tanks(4)
    steady = steady_states(SECOND_ORDER, args["feed"], args, SteadyOptions(max_iterations=np.array([0, 500, 500, 500])))
    assert steady.status[0] == Status.NOT_CONVERGED and (steady.status[1:] == Status.SUCCESS).all()


def test_derivatives_forward_reverse_and_second():
    args = jax.tree.map(jnp.asarray, tanks(70))
    tangents = jax.tree.map(lambda x: x * jnp.asarray(RANDOM.uniform(0.5, 1.5, x.shape)), args)

    def solved(args):
        return steady_states(SECOND_ORDER, args["feed"], args).y

    ours, truth = (jax.jvp(f, (args,), (tangents,))[1] for f in (solved, exact))
    np.testing.assert_allclose(ours, truth, rtol=1e-8, atol=1e-10)
    weights = jnp.asarray(RANDOM.uniform(size=(70, 2)))
    ours, truth = (jax.jit(jax.grad(lambda args, f=f: jnp.sum(weights * f(args))))(args) for f in (solved, exact))
    for name in args:
        np.testing.assert_allclose(ours[name], truth[name], rtol=1e-7, atol=1e-12)

    few = jax.tree.map(lambda x: x[:3], args)

    def total(f, k):
        return jnp.sum(f({**few, "k": k}) ** 2)

    ours, truth = (jax.hessian(lambda k, f=f: total(f, k * few["k"]))(jnp.ones(3)) for f in (solved, exact))
    np.testing.assert_allclose(ours, truth, rtol=1e-6, atol=1e-9)


def test_derivatives_where_several_states_are_near():
    """Lanes that went through the general program have their derivatives too, and those that failed have none."""
    args = jax.tree.map(jnp.asarray, multiple(40))
    many, one = (
        jax.jvp(f, (args,), (args,))[1]
        for f in (
            lambda args: steady_states(AUTOCATALYSIS, args["feed"], args).y,
            jax.vmap(lambda args: steady_state(AUTOCATALYSIS, args["feed"], args).y),
        )
    )
    np.testing.assert_allclose(many, one, rtol=1e-6, atol=1e-9)
