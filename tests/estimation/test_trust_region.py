"""The pure steps: NumPy, jit and vmap agree, steps keep inside radius and box, lanes that are done rest."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.estimation import Bounds, done, init, propose, triangle, trust_region, update
from kinetix.status import Status

pytestmark = pytest.mark.usefixtures("x64")

TIMES = np.linspace(0.2, 4.0, 12)


def decay(theta, data):
    return theta[0] * jnp.exp(-theta[1] * TIMES) - data


@jax.jit
def evaluate(theta, data):
    return triangle(jax.jacfwd(decay)(theta, data), decay(theta, data))


NOISY = 2.0 * np.exp(-0.5 * TIMES) + 0.01 * np.cos(9 * TIMES)
LANES = {  # start, lower, upper, data
    "open": ([1.0, 1.0], [-np.inf, -np.inf], [np.inf, np.inf], NOISY),
    "bounded": ([1.0, 1.0], [0.0, 0.0], [1.5, 3.0], NOISY),
    "fixed": ([1.0, 0.7], [0.0, 0.7], [9.0, 0.7], NOISY),
    "far": ([30.0, 8.0], [0.0, 0.0], [np.inf, np.inf], 1.0 / (1.0 + TIMES)),
    "exact": ([1.0, 1.0], [-9.0, -9.0], [9.0, 9.0], np.exp(-0.25 * TIMES)),
    "bad start": ([1.0, 1.0], [-9.0, -9.0], [9.0, 9.0], np.full(TIMES.size, np.nan)),
}


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def run_numpy(theta, lower, upper, data, limit=100):
    state = init(np.array(theta), Bounds(np.array(lower), np.array(upper)))
    for _ in range(limit):
        if done(state):
            break
        state = update(state, np.asarray(evaluate(propose(state), data)))
    return state


@pytest.fixture(scope="module")
def vmapped():
    """All lanes advanced together until all are done, and each lane's state at every step."""

    def start(theta, lower, upper):
        return init(theta, Bounds(lower, upper))

    step = jax.jit(jax.vmap(lambda state, data: update(state, evaluate(propose(state), data))))
    with jax.enable_x64(True):
        theta, lower, upper, data = (jnp.asarray(np.stack(part)) for part in zip(*LANES.values(), strict=True))
        states = [jax.vmap(start)(theta, lower, upper)]
        while not done(states[-1]).all() and len(states) < 100:
            states.append(step(states[-1], data))
        return [jax.tree.map(np.asarray, state) for state in states]


@pytest.mark.parametrize("lane", range(len(LANES)), ids=LANES)
def test_lanes_equal_single_fits(vmapped, lane):
    single = run_numpy(*list(LANES.values())[lane])
    together = jax.tree.map(lambda leaf: leaf[lane], vmapped[-1])
    assert bool(done(single)) and bool(done(together))
    assert int(single.status) == int(together.status)
    assert together.theta == pytest.approx(single.theta, rel=1e-9, nan_ok=True)


def test_the_lanes_end_as_they_should(vmapped):
    ends = dict(zip(LANES, (Status(status) for status in vmapped[-1].status.tolist()), strict=True))
    assert ends == {
        "open": Status.SUCCESS,
        "bounded": Status.ON_BOUND,
        "fixed": Status.SUCCESS,
        "far": Status.SUCCESS,
        "exact": Status.SUCCESS,
        "bad start": Status.NON_FINITE,
    }


def test_lanes_that_are_done_rest(vmapped):
    for before, after in pairwise(vmapped):
        resting = before.finished
        for old, new in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
            np.testing.assert_array_equal(old[resting], new[resting])


def test_trials_stay_in_the_box_and_ssr_never_rises(vmapped):
    for before, after in pairwise(vmapped):
        assert np.all((after.trial >= after.bounds.lower) & (after.trial <= after.bounds.upper))
        usable = np.isfinite(before.view.ssr)
        assert np.all(after.view.ssr[usable] <= before.view.ssr[usable] * (1 + 1e-13))


@pytest.mark.parametrize("seed", range(20))
def test_the_step_is_as_long_as_the_radius(seed):
    rng = np.random.default_rng(seed)
    s = np.sort(10.0 ** rng.uniform(-9, 0, 6))[::-1]
    c = rng.normal(size=6)
    full = np.linalg.norm(c / s)
    radius = full * 10.0 ** rng.uniform(-9, -0.01)
    damping = trust_region._multiplier(s, c, radius)
    assert np.linalg.norm(s * c / (s**2 + damping)) == pytest.approx(radius, rel=1e-8)
    assert trust_region._multiplier(s, c, 1.01 * full) == 0


def test_types_do_not_change_from_step_to_step():
    theta, lower, upper, data = LANES["open"]
    state = init(np.array(theta), Bounds(np.array(lower), np.array(upper)))
    after = update(state, np.asarray(evaluate(propose(state), data)))
    assert [(np.shape(a), a.dtype) for a in jax.tree.leaves(state)] == [(np.shape(a), a.dtype) for a in jax.tree.leaves(after)]


@jax.jit
def by_logarithms(theta):
    def residuals(theta):
        return decay(jnp.exp(theta), NOISY)

    return triangle(jax.jacfwd(residuals)(theta), residuals(theta))


@pytest.mark.parametrize("start", [[0.0, -5.0], [0.0, 2.0], [-4.0, 1.5], [5.0, -3.0]])
def test_a_logarithm_goes_step_by_step_and_others_as_far_as_they_like(start):
    """From rate constants wrong by up to 150 times: no step is longer than LONGEST, and all arrive at the same optimum."""
    state = init(np.array(start), Bounds(np.full(2, -50.0), np.full(2, 50.0)), np.ones(2))
    for _ in range(60):
        before = state.theta
        trial = propose(state)
        state = update(state, np.asarray(by_logarithms(trial)))
        assert np.all(np.abs(trial - before) <= trust_region.LONGEST * (1 + 1e-12))
        if done(state):
            break
    assert Status(int(state.status)) is Status.SUCCESS
    np.testing.assert_allclose(np.exp(state.theta), run_numpy([1.0, 1.0], [0.0, 0.0], [9.0, 9.0], NOISY).theta, rtol=1e-6)


def test_the_bounds_hold_within_a_step_too():
    state = init(np.zeros(2), Bounds(np.array([-1.0, -2.0]), np.array([0.5, 2.0])), np.ones(2))
    while not done(state):
        state = update(state, np.asarray(by_logarithms(propose(state))))
        assert -1.0 <= propose(state)[0] <= 0.5
    assert (Status(int(state.status)), float(state.theta[0])) == (Status.ON_BOUND, 0.5)
