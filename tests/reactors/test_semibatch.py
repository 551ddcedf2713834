"""Semibatch: closed forms, a feed that begins and ends against SciPy, and what conditions must be."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetix.errors import ConditionError
from kinetix.reactors import BATCH, SEMIBATCH
from kinetix.status import Status
from tests.reactors.contents import OPTIONS, constant_at, filled, kinetics, solved, thermal

pytestmark = pytest.mark.usefixtures("x64")

TIMES = np.array([0.0, 5.0, 10.0, 12.0, 30.0, 55.0, 80.0])
START, STOP = 10.0, 55.0
NODES, TEMPERATURES = np.array([0.0, 20.0, 60.0]), np.array([330.0, 350.0, 345.0])


def vessel(text, constants, *, initial, feed, **more):
    lane = {"T": 350.0, "times": TIMES, "dilution": 0.02, **more}
    return solved(SEMIBATCH, text, constants, initial=filled(*initial), feed=filled(*feed), **lane)


def test_first_order_decay_of_what_is_fed(data):
    """dn/dt = q c_feed - k n."""
    form = data("semibatch-first-order-closed-form")
    (k, q, feed, V, A, B), expected = form.facts["model"]["constants"].values(), form.columns("expected.csv")
    states = vessel("A -> B", thermal((k, 0.0)), initial=(A, B), feed=(feed, 0.0), times=expected["t"], dilution=q / V)
    np.testing.assert_allclose(states.c[:, :2], np.stack([expected["cA"], expected["cB"]], axis=1), rtol=form.facts["tolerance"]["rel"])
    np.testing.assert_allclose(states.expansion * V, expected["V"], rtol=1e-14)
    moles = (states.c[:, 0] + states.c[:, 1]) * states.expansion * V
    np.testing.assert_allclose(moles, A * V + q * feed * expected["t"], rtol=1e-9)
    assert Status(int(states.status)) is Status.SUCCESS


def test_without_reaction_amounts_are_what_was_there_and_what_came():
    states = vessel("A -> B", thermal((0.0, 0.0)), initial=(1000.0, 0.0), feed=(0.0, 400.0), feed_start=START, feed_stop=STOP)
    fed = 0.02 * np.clip(TIMES - START, 0, STOP - START)
    np.testing.assert_allclose(states.expansion, 1 + fed, rtol=1e-14)
    np.testing.assert_allclose(states.c[:, :2] * (1 + fed)[:, None], np.stack([0 * fed + 1000, 400 * fed], axis=1), rtol=1e-8, atol=1e-8)


def test_a_feed_that_comes_after_the_last_time_is_a_batch():
    constants = thermal((0.05, 60e3), (0.02, 40e3))
    states = vessel("A -> B; B -> C", constants, initial=(1000.0, 0.0, 0.0), feed=(500.0, 0.0, 0.0), feed_start=1e4)
    batch = solved(BATCH, "A -> B; B -> C", constants, T=350.0, times=TIMES, initial=filled(1000.0, 0.0, 0.0))
    np.testing.assert_allclose(states.c, batch.c, rtol=1e-8, atol=1e-6)
    np.testing.assert_array_equal(states.expansion, 1.0)


@pytest.mark.parametrize("programmed", [False, True], ids=["isothermal", "programmed"])
def test_a_feed_that_begins_and_ends_against_scipy(programmed):
    """A + B -> C, 2 B -> D with B fed for a while: amounts and volume, each stretch by Radau to 1e-11."""
    constants = thermal((3e-5, 90e3), (5e-6, 50e3))
    heat = {"program_times": NODES, "program_T": TEMPERATURES} if programmed else {}
    initial, feed = np.array([1000.0, 0.0, 0.0, 0.0]), np.array([0.0, 2000.0, 0.0, 0.0])
    states = vessel("A + B -> C; 2 B -> D", constants, initial=initial, feed=feed, feed_start=START, feed_stop=STOP, **heat)

    def slopes(t, y, q):
        T = np.interp(t, NODES, TEMPERATURES) if programmed else 350.0
        c = y[:4] / y[4]
        r1, r2 = constant_at(3e-5, 90e3, T) * c[0] * c[1], constant_at(5e-6, 50e3, T) * c[1] ** 2
        return [*(q * feed + y[4] * np.array([-r1, -r1 - 2 * r2, r1, r2])), q]

    y, expected = np.array([*initial, 1.0]), {0.0: initial}
    for begin, end in pairwise(np.unique([*TIMES, START, STOP, *NODES])):
        q = 0.02 if START <= begin < STOP else 0.0
        y = solve_ivp(slopes, (begin, end), y, method="Radau", rtol=1e-11, atol=1e-10, args=(q,)).y[:, -1]
        expected[end] = y[:4] / y[4]
    np.testing.assert_allclose(states.c[:, :4], [expected[t] for t in TIMES], rtol=1e-7, atol=1e-5)


def test_derivatives_against_differences():
    inside = kinetics("A + B -> C")

    def last(x):
        k, dilution, A, fed, t = x
        zero = 0 * A
        lane = {
            "atol": jnp.asarray(1e-10),
            "T": jnp.asarray(350.0),
            "times": jnp.stack([0 * t, t]),
            "dilution": dilution,
            "feed_stop": jnp.asarray(20.0),
            "initial": jnp.stack([A, zero, zero, zero]),
            "feed": jnp.stack([zero, fed, zero, zero]),
        }
        states = SEMIBATCH.solve(inside, thermal((1.0, 0.0))._replace(reference=k[None]), lane, OPTIONS)
        return jnp.append(states.c[-1, :3], states.expansion[-1])

    for t in (15.0, 45.0):
        x = jnp.asarray([3e-5, 0.02, 1000.0, 2000.0, t])
        forward = jax.jacfwd(last)(x)
        np.testing.assert_allclose(forward, jax.jacrev(last)(x), rtol=1e-9, atol=1e-12)
        for i in range(5):
            h = jnp.zeros(5).at[i].set(1e-4 * x[i])
            np.testing.assert_allclose(forward[:, i], (last(x + h) - last(x - h)) / (2 * h[i]), rtol=1e-5, atol=1e-6)


def test_no_derivative_by_the_end_of_the_feed():
    """The right-hand side jumps there: a number that leaves the jump out would be wrong, so none is given."""

    def last(stop):
        return vessel("A -> B", thermal((0.01, 0.0)), initial=(1000.0, 0.0), feed=(0.0, 5.0), feed_stop=stop).c[-1, 0]

    with pytest.raises(TypeError, match="breaks"):
        jax.grad(last)(30.0)


GIVEN = {"Q": np.array([2e-6, 4e-6]), "V": np.array([1e-3, 1e-3])}


def test_what_solve_reads_from_conditions():
    arrays = SEMIBATCH.lane_conditions({**GIVEN, "T": np.ones(2), "feed_stop": np.array([60.0, 90.0])})
    assert {name: array.tolist() for name, array in arrays.items()} == {"dilution": [0.002, 0.004], "feed_stop": [60.0, 90.0]}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"V": GIVEN["V"]}, "semibatch: 'V' is given without 'Q'. Give Q (volume flow of the feed) and V (volume at time zero)."),
        (
            {**GIVEN, "feed_start": np.array([0.0, 30.0]), "feed_stop": np.array([60.0, 30.0])},
            "semibatch: the feed ends at 30 s in experiment number 2, and begins at 30 s. feed_stop must be later than feed_start (time"
            " zero where it is not given). Correct one of them; a vessel without feed is a batch.",
        ),
    ],
)
def test_what_conditions_must_be(given, sentence):
    with pytest.raises(ConditionError) as error:
        SEMIBATCH.lane_conditions(given)
    assert error.value.problems == (sentence,)
