"""Refits near an optimum against separate searches and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from kinetix.errors import InputError
from kinetix.estimation import Bounds, fit, refit_all
from kinetix.status import Status

X = np.linspace(0.1, 4.0, 15)


def residuals(theta, y):
    return theta[0] * np.exp(-theta[1] * X) - y


def triangle(theta, y):
    decay = np.exp(-theta[1] * X)
    J = np.stack([decay, -theta[0] * X * decay], axis=1)
    return np.linalg.qr(np.column_stack([J, residuals(theta, y)]), mode="r"), 0


@pytest.fixture(scope="module")
def data_sets():
    rng = np.random.default_rng(4)
    return 2.0 * np.exp(-0.7 * X) + 0.05 * rng.standard_normal((200, X.size))


def refitted(data, lower, upper, starts, searched=None, told=None):
    def evaluate(which, theta):
        found = [triangle(one, data[i])[0] for i, one in zip(which, theta, strict=True)]
        return np.array(found), np.zeros(len(found), int)

    def search(i, start, box):
        if searched is not None:
            searched.append(i)
        return fit(lambda theta: triangle(theta, data[i]), start, box)

    m = len(data)
    return refit_all(evaluate, search, starts, Bounds(np.tile(lower, (m, 1)), np.tile(upper, (m, 1))), on_done=told)


def test_each_ends_where_its_own_search_ends(data_sets):
    searched, told = [], []
    found = refitted(data_sets, [0.0, 0.0], [9.0, 9.0], np.tile([2.0, 0.7], (200, 1)), searched, told.append)
    alone = [fit(lambda theta, y=y: triangle(theta, y), [2.0, 0.7], Bounds(np.zeros(2), np.full(2, 9.0))) for y in data_sets]
    np.testing.assert_allclose(found.ssr, [one.ssr for one in alone], rtol=1e-9)
    # 1e-5 of |r| is 4e-5 standard errors
    np.testing.assert_allclose(found.theta, [one.theta for one in alone], atol=1e-5)
    assert (found.status == Status.SUCCESS).all() and len(searched) < 10
    assert told == [64, 128, 192, 200]


def test_a_bound_is_kept_and_named(data_sets):
    found = refitted(data_sets, [0.0, 0.7], [9.0, 9.0], np.tile([2.0, 0.7], (200, 1)))
    alone = [fit(lambda theta, y=y: triangle(theta, y), [2.0, 0.7], Bounds(np.array([0.0, 0.7]), np.full(2, 9.0))) for y in data_sets]
    assert 20 < np.count_nonzero(found.status == Status.ON_BOUND) < 180
    assert found.status.tolist() == [int(one.status) for one in alone]
    np.testing.assert_allclose(found.theta, [one.theta for one in alone], atol=1e-5)


def test_a_start_far_off_is_handed_to_the_trust_region(data_sets):
    searched = []
    found = refitted(data_sets[:20], [0.0, 0.0], [99.0, 99.0], np.tile([30.0, 20.0], (20, 1)), searched)
    near = refitted(data_sets[:20], [0.0, 0.0], [99.0, 99.0], np.tile([2.0, 0.7], (20, 1)))
    assert searched
    ends = found.ok & (found.ssr < 2 * near.ssr)
    np.testing.assert_allclose(found.ssr[ends], near.ssr[ends], rtol=1e-8)
    assert np.isnan(found.theta[~found.ok]).all()


def test_a_held_coordinate_stays(data_sets):
    found = refitted(data_sets[:5], [0.0, 0.5], [9.0, 0.5], np.tile([2.0, 0.5], (5, 1)))
    decay = np.exp(-0.5 * X)
    np.testing.assert_allclose(found.theta, np.stack([data_sets[:5] @ decay / (decay @ decay), np.full(5, 0.5)], axis=1), rtol=1e-9)
    assert (found.status == Status.SUCCESS).all()


def test_a_start_outside_its_box_is_refused(data_sets):
    with pytest.raises(InputError, match="outside its box"):
        refitted(data_sets[:1], [0.0, 1.0], [9.0, 1.0], np.array([[2.0, 0.7]]))


def test_an_interrupt_keeps_what_is_done(data_sets):
    def stop(done):
        if done == 128:
            raise KeyboardInterrupt

    found = refitted(data_sets, [0.0, 0.0], [9.0, 9.0], np.tile([2.0, 0.7], (200, 1)), told=stop)
    assert found.ok[:128].all() and (found.status[128:] == Status.STOPPED).all()
    assert np.isnan(found.theta[128:]).all()


def test_a_failed_evaluation_leaves_its_neighbours_alone(data_sets):
    data = data_sets[:6].copy()
    data[2] = np.nan
    found = refitted(data, [0.0, 0.0], [9.0, 9.0], np.tile([2.0, 0.7], (6, 1)))
    assert found.status[2] == Status.NON_FINITE and np.isnan(found.theta[2]).all()
    assert found.ok[[0, 1, 3, 4, 5]].all()
