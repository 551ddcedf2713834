"""Stirred tank: closed forms, multiple reactions against roots, and the residence time from what is given."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

from kinetix.errors import ConditionError
from kinetix.reactors import CSTR
from kinetix.reactors.cstr import Series, solve
from kinetix.status import Status
from tests.reactors.contents import OPTIONS, constant_at, filled, kinetics, solved, thermal


def tank(text, constants, tau, *feed, T=350.0):
    return solved(CSTR, text, constants, T=T, tau=tau, feed=filled(*feed), times=[0.0])


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("tau", [1e-3, 1.0, 60.0, 1e6])
def test_first_order(tau):
    """A = A_feed/(1 + k tau); Levenspiel (1999), equation 5.14."""
    states = tank("A -> B", thermal((0.02, 60e3)), tau, 1000.0, 10.0, T=340.0)
    A = 1000 / (1 + constant_at(0.02, 60e3, 340.0) * tau)
    np.testing.assert_allclose(states.c[0], [A, 1010 - A, 0, 0], rtol=1e-12, atol=1e-12)
    assert Status(int(states.status)) is Status.SUCCESS


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("tau", [1e-3, 1.0, 60.0, 1e6])
def test_second_order(tau):
    """A = (sqrt(1 + 8 k tau A_feed) - 1)/(4 k tau) of 2 A -> B with dA/dt = -2 k A^2."""
    k = 5e-5
    states = tank("2 A -> B", thermal((k, 0.0)), tau, 1000.0, 0.0)
    x = 8 * k * tau * 1000
    A = x / (np.sqrt(1 + x) + 1) / (4 * k * tau)  # without cancellation at small tau
    np.testing.assert_allclose(states.c[0, :2], [A, (1000 - A) / 2], rtol=1e-11, atol=1e-11)


@pytest.mark.usefixtures("x64")
def test_parallel_reactions_against_a_root():
    """A -> B and A + B -> C: one equation in A, solved by bisection."""
    k1, k2, tau, feed = 0.01, 4e-5, 300.0, 800.0

    def B(A):
        return k1 * A * tau / (1 + k2 * A * tau)

    A = brentq(lambda a: feed - a - tau * (k1 * a + k2 * a * B(a)), 0, feed, xtol=1e-12, rtol=1e-15)
    states = tank("A -> B; A + B -> C", thermal((k1, 0.0), (k2, 0.0)), tau, feed, 0.0, 0.0)
    np.testing.assert_allclose(states.c[0, :3], [A, B(A), k2 * A * B(A) * tau], rtol=1e-11)


@pytest.mark.usefixtures("x64")
def test_derivatives_of_a_first_order_tank():
    constants, feed = thermal((0.02, 60e3)), filled(1000.0, 0.0)

    def outlet(tau, T, feed):
        return solved(CSTR, "A -> B", constants, T=T, tau=tau, feed=feed, times=[0.0]).c[0, 0]

    by_tau, by_T, by_feed = jax.grad(outlet, argnums=(0, 1, 2))(jnp.asarray(60.0), jnp.asarray(350.0), feed)
    k, A = 0.02, 1000 / 2.2
    assert float(by_tau) == pytest.approx(-k * A**2 / 1000, rel=1e-12)
    assert float(by_T) == pytest.approx(-60 * A**2 / 1000 * k * 60e3 / 8.31446261815324 / 350**2, rel=1e-12)
    np.testing.assert_allclose(by_feed, [A / 1000, 0, 0, 0], rtol=1e-12, atol=1e-15)


TWO = np.array([2.0, 4.0])


@pytest.mark.parametrize(
    ("given", "tau"),
    [
        ({"tau": TWO}, [2.0, 4.0]),
        ({"1/tau": TWO}, [0.5, 0.25]),
        ({"V": np.array([6.0, 6.0]), "Q": TWO}, [3.0, 1.5]),
        ({"tau": TWO, "V": TWO}, [2.0, 4.0]),
        ({"tau": TWO, "T": TWO, "P": TWO}, [2.0, 4.0]),
    ],
    ids=["tau", "1/tau", "V and Q", "a volume beside tau", "other conditions"],
)
def test_residence_time(given, tau):
    found = CSTR.lane_conditions(given)
    assert list(found) == ["tau"]
    np.testing.assert_allclose(found["tau"], tau)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {},
            'cstr: no residence time. Add a column such as "tau [min]", or "1/tau" (space velocity), or V and Q,'
            ' or write tau = "10 min" under [conditions].',
        ),
        ({"V": TWO}, "cstr: 'V' is given without 'Q'. Give V and Q, or tau, or 1/tau (space velocity)."),
        ({"Q": TWO}, "cstr: 'Q' is given without 'V'. Give V and Q, or tau, or 1/tau (space velocity)."),
        ({"tau": TWO, "1/tau": TWO}, "cstr: the residence time is given more than once (tau, 1/tau). Keep one."),
        ({"tau": TWO, "V": TWO, "Q": TWO}, "cstr: the residence time is given more than once (tau, V and Q). Keep one."),
        ({"tau": np.array([2.0, 0.0])}, "cstr: tau is 0 s in experiment number 2; it must be above 0. Correct it there."),
        ({"1/tau": np.array([-2.0, 1.0])}, "cstr: 1/tau is -2 1/s in experiment number 1; it must be above 0. Correct it there."),
        ({"V": TWO, "Q": np.array([1.0, 0.0])}, "cstr: Q is 0 m^3/s in experiment number 2; it must be above 0. Correct it there."),
        ({"V": TWO * np.nan, "Q": TWO}, "cstr: V is nan m^3 in experiment number 1; it must be above 0. Correct it there."),
    ],
)
def test_residence_time_that_cannot_be(given, message):
    with pytest.raises(ConditionError) as error:
        CSTR.lane_conditions(given)
    assert str(error.value) == message


# ------------------------------------------------------------------------------------------------------------ tanks in series


def series(tanks, text, constants, tau, *feed):
    lane = {"atol": 1e-10, "T": 350.0, "tau": tau, "feed": filled(*feed), "times": [0.0]}
    return Series(solve, tanks)(kinetics(text), constants, {name: jnp.asarray(value, float) for name, value in lane.items()}, OPTIONS)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("tanks", [2, 3, 20])
def test_first_order_in_tanks_in_series(tanks):
    """A = A_feed/(1 + k tau/N)^N: Levenspiel (1999), equation 6.6."""
    states = series(tanks, "A -> B", thermal((0.02, 0.0)), 90.0, 1000.0, 10.0)
    A = 1000 / (1 + 0.02 * 90 / tanks) ** tanks
    np.testing.assert_allclose(states.c[0, :2], [A, 1010 - A], rtol=1e-11)
    assert Status(int(states.status)) is Status.SUCCESS


@pytest.mark.usefixtures("x64")
def test_second_order_in_tanks_in_series_one_after_the_other():
    k, tau, tanks, A, total = 5e-5, 60.0, 4, 1000.0, 0.0
    states = series(tanks, "2 A -> B", thermal((k, 0.0)), tau, A, 0.0)
    for _ in range(tanks):
        single = tank("2 A -> B", thermal((k, 0.0)), tau / tanks, A, total)
        A, total = float(single.c[0, 0]), float(single.c[0, 1])
    np.testing.assert_allclose(states.c[0, :2], [A, total], rtol=1e-11)


@pytest.mark.usefixtures("x64")
def test_a_series_that_fails_says_how_the_first_failed():
    states = series(3, "A -> B", thermal((0.02, 0.0)), 90.0, np.nan, 10.0)
    assert Status(int(states.status)) is Status.NON_FINITE
    assert np.isnan(states.c).any()


@pytest.mark.usefixtures("x64")
def test_derivatives_of_a_series():
    """A = A_feed (1 + k tau/3)^-3, forward, reverse, and over several lanes."""

    def outlet(x):
        lane = {"atol": jnp.asarray(1e-12), "T": jnp.asarray(350.0), "tau": x[1], "feed": jnp.stack([x[2], 0 * x[2], 0 * x[2], 0 * x[2]])}
        return Series(solve, 3)(kinetics("A -> B"), thermal((1.0, 0.0))._replace(reference=x[:1]), lane, OPTIONS).c[0, 0]

    x = jnp.asarray([[0.02, 90.0, 1000.0], [0.01, 30.0, 500.0]])
    k, tau, A = np.asarray(x).T
    one = 1 + k * tau / 3
    expected = np.stack([-A * tau * one**-4, -A * k * one**-4, one**-3], axis=1)
    for gradient in (jax.jacfwd(outlet), jax.jacrev(outlet)):
        np.testing.assert_allclose(jax.vmap(gradient)(x), expected, rtol=1e-9)
