"""Fits from many starts on formulas: points, limits, and which ends are one optimum."""

import numpy as np
import pytest
from jax import numpy as jnp

from kinetix.estimation import Bounds, Done, Options, Tolerances, alike, distinct_optima, evaluation, fit, fit_all, latin_hypercube
from kinetix.status import Status

X = np.linspace(0.1, 4.0, 12)
TWINS = evaluation(
    lambda p: jnp.exp(-p[0] * X) + jnp.exp(-p[1] * X) - jnp.asarray(np.exp(-0.3 * X) + np.exp(-2.0 * X) + 0.01 * np.sin(9 * X))
)
"""Two exponentials of equal weight: (0.3, 2) and (2, 0.3) fit alike."""

SIZES = np.full(2, np.nan)


def twins(*starts):
    return [fit(TWINS, start) for start in starts]


def test_each_part_of_each_range_has_one_point():
    points = latin_hypercube(50, 3, seed=4)
    assert points.shape == (50, 3)
    np.testing.assert_array_equal(np.sort((points * 50).astype(int), axis=0), np.arange(50)[:, None].repeat(3, axis=1))
    np.testing.assert_array_equal(points, latin_hypercube(50, 3, seed=4))
    assert not np.array_equal(points, latin_hypercube(50, 3, seed=5))


def test_ends_are_gathered_by_objective_and_place():
    outcomes = twins([2.5, 0.2], [0.2, 2.5], [1.9, 0.4], [0.1, 3.0])
    optima = distinct_optima(outcomes, Tolerances(), SIZES)
    assert optima.member.tolist() == [0, 1, 0, 1]
    assert (optima.first, optima.equal) == ((0, 1), 2)
    np.testing.assert_allclose(outcomes[0].theta, outcomes[1].theta[::-1], rtol=1e-6)


def test_the_first_of_equal_optima_is_the_best_whatever_rounding_says():
    a, b = twins([2.5, 0.2], [0.2, 2.5])
    for pair in ([a, b], [b, a]):
        assert distinct_optima(pair, Tolerances(), SIZES).first == (0, 1)


def test_a_worse_optimum_stands_behind_and_what_is_no_answer_in_none():
    bounded = Bounds(np.array([-np.inf, 1.0]), np.array([np.inf, np.inf]))
    local = fit(TWINS, [0.7, 2.5], Bounds(np.array([0.5, 0.5]), np.array([np.inf, np.inf])))
    best, stopped = fit(TWINS, [0.2, 2.5], bounded), fit(TWINS, [5.0, 9.0], options=Options(max_iterations=1))
    optima = distinct_optima([local, stopped, best], Tolerances(), SIZES)
    assert local.ssr > best.ssr * 1.01 and stopped.status is Status.ITERATION_LIMIT
    assert optima.member.tolist() == [1, -1, 0] and optima.equal == 1


def test_what_is_not_determined_does_not_make_optima_distinct():
    """Only a + b is seen: any two starts end at different places of one valley."""
    valley = evaluation(lambda p: (p[0] + p[1]) * X - jnp.asarray(3.0 * X + 0.01 * np.sin(9 * X)))
    outcomes = [fit(valley, start) for start in ([1.0, 5.0], [9.0, 2.0])]
    assert abs(outcomes[0].theta[0] - outcomes[1].theta[0]) > 1
    assert distinct_optima(outcomes, Tolerances(), SIZES).member.tolist() == [0, 0]


def test_exact_data_are_alike_although_their_sums_of_squares_are_rounding():
    assert alike(1e-20, 4e-19, Tolerances(magnitude=1.0))
    assert not alike(1e-20, 1e-12, Tolerances(magnitude=1.0))


def outcome():
    return fit(TWINS, [0.2, 2.5])


def test_one_limit_for_all_and_what_is_done_is_kept():
    seconds, told = [], []

    def one(number, left):
        seconds.append(left)
        return outcome()

    outcomes, ended = fit_all(one, 3, None, told.append)
    assert len(outcomes) == 3 and ended is None
    assert seconds == [None] * 3
    assert [(done.done, done.total) for done in told] == [(1, 3), (2, 3), (3, 3)] and isinstance(told[0], Done)
    assert told[-1].ssr == pytest.approx(outcome().ssr)
    outcomes, ended = fit_all(one, 3, 0.0)
    assert len(outcomes) == 1 and ended is Status.TIME_LIMIT  # the first is always begun


def test_ctrl_c_between_two_fits_keeps_those_that_are_done():
    def one(number, left):
        if number == 2:
            raise KeyboardInterrupt
        return outcome()

    outcomes, ended = fit_all(one, 5)
    assert len(outcomes) == 2 and ended is Status.STOPPED

    def none(number, left):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_all(none, 5)
