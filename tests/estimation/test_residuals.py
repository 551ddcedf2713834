"""Residuals in blocks: the triangle against that of all rows at once, and what is masked, padded or failed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.estimation.residuals import ROWS_IN_BLOCK, evaluate, lanes_per_block, value_and_gradient
from kinetix.status import Status

pytestmark = pytest.mark.usefixtures("x64")

LANES, TIMES, RESPONSES = 7, 3, 2
THETA = np.array([0.7, 0.2])


def predict(model, theta, lanes):
    """a exp(-b t) and its complement, per lane; a lane whose `fails` is set has no numbers."""
    remaining = theta[0] * jnp.exp(-theta[1] * lanes["times"]) * model
    values = jnp.stack([remaining, 1 - remaining], axis=-1)
    failed = lanes["fails"] > 0
    status = jnp.where(failed, int(Status.STEP_LIMIT), int(Status.SUCCESS))
    reached = jnp.where(failed, 0.0, jnp.max(lanes["times"], axis=1))
    return jnp.where(failed[:, None, None], jnp.nan, values), status, jnp.arange(lanes["fails"].shape[0]), reached


def case(fails=(), seed=0):
    rng = np.random.default_rng(seed)
    lanes = {"times": rng.uniform(0, 5, (LANES, TIMES)), "fails": np.isin(np.arange(LANES), fails).astype(float)}
    observed = rng.uniform(0, 1, (LANES, TIMES, RESPONSES))
    weights = rng.uniform(0.5, 2, (LANES, TIMES, RESPONSES))
    weights[2, 1] = 0.0
    weights[5, :, 1] = 0.0
    return lanes, observed, weights


def evaluated(lanes, observed, weights, block=LANES):
    return jax.tree.map(np.asarray, evaluate(predict, 1.0, jnp.asarray(THETA), lanes, observed, weights, block))


def by_hand(lanes, observed, weights):
    """[J r] row by row, only where something was measured."""
    a, b = THETA
    decay = np.exp(-b * lanes["times"])
    by_a = np.stack([decay, -decay], axis=-1)
    by_b = np.stack([-a * lanes["times"] * decay, a * lanes["times"] * decay], axis=-1)
    values = np.stack([a * decay, 1 - a * decay], axis=-1)
    used = weights > 0
    columns = [by_a * weights, by_b * weights, np.where(used, values - observed, 0) * weights]
    return np.stack([column[used] for column in columns], axis=1), values


@pytest.mark.parametrize("block", [1, 2, 3, 7, 16])
def test_blocks_of_any_size_give_the_triangle_of_all_rows(block):
    given = case()
    found = evaluated(*given, block=block)
    rows, values = by_hand(*given)
    np.testing.assert_allclose(found.R.T @ found.R, rows.T @ rows, rtol=1e-12)
    np.testing.assert_allclose(found.values, values, rtol=1e-14)
    assert found.bad == 0
    assert found.status.shape == (LANES,) and (found.status == Status.SUCCESS).all()


@pytest.mark.parametrize("nothing", [np.nan, np.inf, -1e300])
def test_what_was_not_measured_may_hold_anything(nothing):
    lanes, observed, weights = case()
    spoiled = np.where(weights > 0, observed, nothing)
    np.testing.assert_array_equal(evaluated(lanes, spoiled, weights).R, evaluated(lanes, observed, weights).R)


@pytest.mark.parametrize("block", [2, LANES])
def test_every_measured_value_of_a_failed_lane_counts_as_bad(block):
    lanes, observed, weights = case(fails=(2, 6))  # the last lane is the one that fills up the last block
    found = evaluated(lanes, observed, weights, block=block)
    assert found.bad == np.count_nonzero(weights[2]) + np.count_nonzero(weights[6])
    assert found.status.tolist() == [Status.STEP_LIMIT if i in (2, 6) else Status.SUCCESS for i in range(LANES)]
    assert np.isnan(found.values[[2, 6]]).all() and np.isfinite(np.delete(found.values, [2, 6], axis=0)).all()
    assert not np.isfinite(found.R).all()


def test_a_failed_lane_without_a_measured_value_spoils_nothing():
    lanes, observed, weights = case(fails=(2,))
    weights[2] = 0.0
    found = evaluated(lanes, observed, weights, block=2)
    keep = np.delete(np.arange(LANES), 2)
    rows, _ = by_hand({name: array[keep] for name, array in lanes.items()}, observed[keep], weights[keep])
    assert found.bad == 0 and found.status[2] == Status.STEP_LIMIT
    np.testing.assert_allclose(found.R.T @ found.R, rows.T @ rows, rtol=1e-12)


def test_steps_come_back_in_the_order_of_the_lanes():
    assert evaluated(*case(), block=3).steps.tolist() == [0, 1, 2, 0, 1, 2, 0]  # numbered within blocks by this `predict`


def test_the_times_reached_come_back_by_lane():
    lanes, observed, weights = case(fails=(2, 6))
    reached = np.where(lanes["fails"] > 0, 0.0, lanes["times"].max(axis=1))
    np.testing.assert_allclose(evaluated(lanes, observed, weights, block=3).t_reached, reached)


def test_lanes_fill_a_block_of_rows():
    assert lanes_per_block(10**6, 10) * 10 <= ROWS_IN_BLOCK < (lanes_per_block(10**6, 10) + 1) * 10
    assert lanes_per_block(5, 10**9) == 1
    assert lanes_per_block(3, 0) == 3


@pytest.mark.parametrize("block", [1, 3, LANES])
def test_value_and_gradient_in_reverse_are_those_of_the_rows(block):
    given = case()
    value, gradient, bad = value_and_gradient(predict, 1.0, jnp.asarray(THETA), *given, block)
    rows, _ = by_hand(*given)
    assert float(value) == pytest.approx(0.5 * rows[:, -1] @ rows[:, -1], rel=1e-12)
    np.testing.assert_allclose(gradient, rows[:, :-1].T @ rows[:, -1], rtol=1e-11)
    assert bad == 0


def test_what_was_not_measured_leaves_no_trace_in_the_gradient():
    lanes, observed, weights = case()
    spoiled = np.where(weights > 0, observed, np.nan)
    plain, other = (value_and_gradient(predict, 1.0, jnp.asarray(THETA), lanes, values, weights, 2) for values in (observed, spoiled))
    np.testing.assert_array_equal(other[1], plain[1])


def test_a_gradient_counts_what_could_not_be_predicted():
    lanes, observed, weights = case(fails=(2, 6))
    assert value_and_gradient(predict, 1.0, jnp.asarray(THETA), lanes, observed, weights, 2)[2] == np.count_nonzero(weights[[2, 6]])
