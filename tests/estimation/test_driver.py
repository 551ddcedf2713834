"""One fit from the host: known optima, bounds, failures that must be told as failures, limits and Ctrl-C."""

from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import least_squares, lsq_linear

from kinetix.errors import InputError
from kinetix.estimation import Bounds, Options, Tolerances, evaluation, fit
from kinetix.status import Status

X = np.linspace(0.5, 3.0, 12)


def by_numpy(residuals, jacobian):
    """An evaluation without JAX: NumPy's own QR of [J r]."""

    def evaluate(theta):
        whole = np.column_stack([jacobian(theta), residuals(theta)])
        padding = np.zeros((whole.shape[1], whole.shape[1]))
        return np.linalg.qr(np.concatenate([whole, padding]), mode="r"), 0

    return evaluate


def counted(evaluate):
    def counting(theta):
        counting.calls += 1
        return evaluate(theta)

    counting.calls = 0
    return counting


rosenbrock = evaluation(lambda x: jnp.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]]))


# NaN for theta <= 0; a full step from 50 lands there
logarithm = evaluation(lambda theta: jnp.log(theta[0]) - jnp.log(5.0) + 0.01 * jnp.cos(9 * X))


# ----------------------------------------------------------------------------------------------------------- optima


def test_rosenbrock():
    outcome = fit(rosenbrock, [-1.2, 1.0])
    assert outcome.status is Status.SUCCESS
    assert outcome.theta == pytest.approx([1.0, 1.0], abs=1e-10)
    assert not outcome.held.any()


@pytest.mark.parametrize(
    ("lower", "upper", "start", "optimum", "lower_mask", "upper_mask"),
    [
        ([-5.0, -5.0], [0.5, 5.0], [-1.2, 1.0], [0.5, 0.25], [False, False], [True, False]),
        ([-5.0, 2.0], [5.0, 5.0], [1.0, 2.5], None, [False, True], [False, False]),
        ([1.5, -5.0], [5.0, 5.0], [2.0, 2.0], [1.5, 2.25], [True, False], [False, False]),
        ([1.5, -5.0], [5.0, 2.0], [2.0, 2.0], [1.5, 2.0], [True, False], [False, True]),
    ],
)
def test_rosenbrock_in_a_box(lower, upper, start, optimum, lower_mask, upper_mask):
    outcome = fit(rosenbrock, start, Bounds(np.array(lower), np.array(upper)))
    if optimum is None:  # on x1 = 2 the stationary points solve 400 x^3 - 798 x - 2 = 0
        optimum = [np.roots([400, 0, -798, -2]).max(), 2.0]
    assert outcome.status is Status.ON_BOUND and outcome.status.ok
    assert outcome.theta == pytest.approx(optimum, rel=1e-9)
    assert outcome.at_lower.tolist() == lower_mask
    assert outcome.at_upper.tolist() == upper_mask
    on = outcome.at_lower | outcome.at_upper
    assert np.array_equal(outcome.theta[on], np.where(outcome.at_lower, lower, upper)[on])


def series(problem, logarithmic):
    """B of A -> B -> C in closed form, A0 = 1 mol/L, weighted with sigma 0.004 mol/L."""
    columns = problem.columns()
    t, B = columns["time [s]"], columns["B [mol/L]"]

    def residuals(theta):
        k1, k2 = jnp.exp(theta) if logarithmic else theta
        return (k1 / (k2 - k1) * (jnp.exp(-k1 * t) - jnp.exp(-k2 * t)) - B) / 0.004

    return evaluation(residuals)


@pytest.mark.parametrize("logarithmic", [False, True], ids=["linear", "log"])
@pytest.mark.parametrize(("kind", "k2_max", "status"), [("bounded", 2.3, Status.ON_BOUND), ("free", 10.0, Status.SUCCESS)])
def test_consecutive_reactions_with_and_without_an_active_bound(data, logarithmic, kind, k2_max, status):
    problem = data("o03-at-bound")
    expected = {item["name"]: item for item in problem.facts["expect"]}
    scale = np.log if logarithmic else np.asarray
    box = Bounds(scale(np.array([0.01, 0.01])), scale(np.array([10.0, k2_max])))
    outcome = fit(series(problem, logarithmic), scale(np.array([1.0, 2.0])), box)
    k1, k2 = np.exp(outcome.theta) if logarithmic else outcome.theta
    assert outcome.status is status
    for name, value in ((f"k1_{kind}", k1), (f"k2_{kind}", k2), (f"chi2_{kind}", outcome.ssr)):
        assert value == pytest.approx(expected[name]["value"], rel=expected[name]["rtol"])
    assert outcome.at_upper.tolist() == [False, kind == "bounded"]
    assert outcome.held.tolist() == [False, kind == "bounded"]
    assert outcome.theta[1] <= box.upper[1]


@pytest.mark.parametrize("seed", range(40))
def test_linear_problems_in_a_box_reach_the_global_optimum(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 8))
    A = rng.normal(size=(20, p))
    if seed % 2:
        A[:, 1:] = A[:, :1] + 0.05 * A[:, 1:]
    A = A * 10.0 ** rng.uniform(-4, 4, size=p)
    b = rng.normal(size=20)
    size = 1 / np.linalg.norm(A, axis=0)
    lower, upper = -size * rng.uniform(0, 2, p), size * rng.uniform(0, 2, p)
    lower[rng.random(p) < 0.2] = -np.inf
    start = np.clip(size * rng.normal(size=p), lower, upper)
    outcome = fit(by_numpy(lambda theta: A @ theta - b, lambda theta: A), start, Bounds(lower, upper))
    assert outcome.status.ok
    assert outcome.ssr <= 2 * lsq_linear(A, b, (lower, upper), method="bvls", tol=1e-14).cost * (1 + 1e-10)
    # the problem is convex: a feasible point is the optimum if no coordinate's gradient points into the box
    gradient = size * (A.T @ (A @ outcome.theta - b)) / np.sqrt(outcome.ssr)
    assert np.all((outcome.theta >= lower) & (outcome.theta <= upper))
    assert np.all((np.abs(gradient) < 1e-6) | (outcome.at_lower & (gradient > 0)) | (outcome.at_upper & (gradient < 0)))
    assert np.array_equal(outcome.held, (outcome.at_lower & (gradient > 0)) | (outcome.at_upper & (gradient < 0)))


@pytest.mark.parametrize("seed", range(10))
def test_exponentials_in_a_box_as_scipy(seed):
    rng = np.random.default_rng(seed)
    truth = rng.uniform([1.0, 0.3], [2.0, 3.0])
    y = truth[0] * np.exp(-truth[1] * X) + 0.02 * rng.normal(size=X.size)
    lower = truth * rng.uniform(0.3, 1.05, 2)
    upper = lower + truth * rng.uniform(0.1, 2.0, 2)
    start = lower + (upper - lower) * rng.uniform(0.1, 0.9, 2)

    def residuals(theta):
        return theta[0] * np.exp(-theta[1] * X) - y

    def jacobian(theta):
        return np.column_stack([np.exp(-theta[1] * X), -X * theta[0] * np.exp(-theta[1] * X)])

    outcome = fit(by_numpy(residuals, jacobian), start, Bounds(lower, upper))
    expected = least_squares(residuals, start, jacobian, (lower, upper), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert outcome.status.ok
    assert outcome.ssr == pytest.approx(2 * expected.cost, rel=1e-9)


def test_units_of_parameters_and_residuals_change_nothing():
    y = np.array([2.1, 1.4, 1.1, 0.8, 0.5, 0.45, 0.3, 0.2, 0.2, 0.1, 0.1, 0.05])
    start, unit = np.array([1.0, 2.0]), np.array([2.0**40, 2.0**-50])

    def decay(theta, factor):
        return factor * (theta[0] * jnp.exp(-theta[1] * X) - y)

    plain = fit(evaluation(lambda theta: decay(theta, 1.0)), start)
    scaled = fit(evaluation(lambda theta: decay(theta / unit, 2.0**30)), start * unit)
    assert plain.status is scaled.status is Status.SUCCESS
    assert plain.evaluations == scaled.evaluations
    assert scaled.theta / unit == pytest.approx(plain.theta, rel=1e-12)


# ------------------------------------------------------------------------------------------------- starts and sizes


@pytest.mark.parametrize(("target", "status"), [(2.0, Status.SUCCESS), (-2.0, Status.ON_BOUND)])
def test_a_start_on_a_bound_is_released_or_held(target, status):
    evaluate = evaluation(lambda theta: jnp.stack([theta[0] - target, theta[1] - 1.0, theta[0] + theta[1] - target - 1.3]))
    outcome = fit(evaluate, [0.0, 5.0], Bounds(np.zeros(2), np.full(2, 9.0)))
    A, b = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([target, 1.0, target + 1.3])
    expected = lsq_linear(A, b, (np.zeros(2), np.full(2, 9.0)))
    assert outcome.status is status
    assert outcome.theta == pytest.approx(expected.x, abs=1e-9)
    assert bool(outcome.theta[0] == 0.0) is (status is Status.ON_BOUND)


def test_a_start_in_a_corner_that_is_the_optimum():
    outcome = fit(evaluation(lambda theta: theta + 1.0), [0.0, 0.0], Bounds(np.zeros(2), np.ones(2)))
    assert outcome.status is Status.ON_BOUND
    assert outcome.evaluations == 1
    assert outcome.held.all()


def test_all_parameters_start_at_zero():
    y = 3.0 - 2.0 * X + 0.1 * np.sin(5 * X)
    outcome = fit(evaluation(lambda theta: theta[0] + theta[1] * X - y), [0.0, 0.0])
    assert outcome.status is Status.SUCCESS
    assert outcome.theta == pytest.approx(np.polyfit(X, y, 1)[::-1], rel=1e-10)


def test_one_parameter():
    y = np.exp(-0.7 * X) + 0.01 * np.sin(7 * X)
    outcome = fit(evaluation(lambda theta: jnp.exp(-theta[0] * X) - y), [3.0])
    expected = least_squares(lambda theta: np.exp(-theta[0] * X) - y, [3.0], xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert outcome.status is Status.SUCCESS
    assert outcome.theta == pytest.approx(expected.x, rel=1e-6)
    assert outcome.ssr <= 2 * expected.cost * (1 + 1e-12)


def test_no_parameter():
    outcome = fit(lambda theta: (np.array([[3.0]]), 0), np.zeros(0))
    assert (outcome.status, outcome.ssr, outcome.evaluations) == (Status.SUCCESS, 9.0, 1)
    assert outcome.theta.shape == outcome.held.shape == (0,)


def test_fixed_coordinates_stay_and_are_not_on_a_bound():
    outcome = fit(rosenbrock, [0.7, 3.0], Bounds(np.array([0.7, -9.0]), np.array([0.7, 9.0])))
    assert outcome.status is Status.SUCCESS
    assert outcome.theta == pytest.approx([0.7, 0.49], rel=1e-12)
    assert outcome.held.tolist() == [True, False]
    assert not (outcome.at_lower | outcome.at_upper).any()


def test_residuals_that_are_zero_at_the_start():
    outcome = fit(evaluation(lambda theta: theta - jnp.array([1.0, 2.0])), [1.0, 2.0])
    assert (outcome.status, outcome.ssr, outcome.evaluations) == (Status.SUCCESS, 0.0, 1)


def test_data_without_noise_end_as_success():
    y = 0.3 + 1.7 * np.exp(-1.3 * X)
    outcome = fit(evaluation(lambda theta: theta[0] + theta[1] * jnp.exp(-theta[2] * X) - y), [1.0, 1.0, 1.0])
    assert outcome.status is Status.SUCCESS, outcome.message
    assert outcome.theta == pytest.approx([0.3, 1.7, 1.3], rel=1e-10)


def test_an_evaluation_with_noise_of_its_own():
    """As an integrator's tolerance makes it: the residuals jump by 1e-8 of the predictions, whatever the step."""
    y = 2.0 * np.exp(-0.5 * X) + 0.01 * np.sin(11 * X)

    def residuals(theta):
        exact = theta[0] * np.exp(-theta[1] * X)
        return exact * (1 + 1e-8 * np.sin(1e9 * (theta[0] + theta[1]) * X)) - y

    def jacobian(theta):
        return np.column_stack([np.exp(-theta[1] * X), -X * theta[0] * np.exp(-theta[1] * X)])

    exact = fit(evaluation(lambda theta: theta[0] * jnp.exp(-theta[1] * X) - y), [1.0, 1.0])
    blurred = fit(by_numpy(residuals, jacobian), [1.0, 1.0], options=Options(tolerances=Tolerances(precision=1e-8)))
    assert blurred.status is Status.SUCCESS, blurred.message
    assert blurred.theta == pytest.approx(exact.theta, rel=1e-6)
    assert blurred.evaluations < exact.evaluations + 10


# ---------------------------------------------------------------------------------------------------- honest failures


def test_a_product_is_flat_along_its_valley():
    y = 6.0 * X + 0.1 * np.sin(5 * X)
    outcome = fit(evaluation(lambda theta: theta[0] * theta[1] * X - y), [1.0, 1.0])
    assert outcome.status is Status.FLAT
    assert outcome.rank_ratio < 1e-10
    a, b = outcome.theta
    assert a * b == pytest.approx(np.sum(X * y) / np.sum(X**2), rel=1e-8)
    (direction,) = outcome.null_directions
    assert direction[0] / direction[1] == pytest.approx(-a / b, rel=1e-6)
    assert np.max(np.abs(direction)) == 1.0


def test_the_flat_direction_leaves_other_parameters_out():
    y = 1.0 + 2.0 * X
    outcome = fit(evaluation(lambda theta: theta[0] + theta[1] + theta[2] * X - y + 0.1 * jnp.sin(5 * X)), [0.0, 0.5, 0.0])
    assert outcome.status is Status.FLAT
    (direction,) = outcome.null_directions
    assert np.abs(direction) == pytest.approx([1.0, 1.0, 0.0], abs=1e-8)
    assert direction[0] * direction[1] < 0


def test_a_parameter_without_effect_is_flat():
    outcome = fit(evaluation(lambda theta: theta[0] * X - 2.0 * X + 0.1 * jnp.cos(9 * X) + 0.0 * theta[1]), [1.0, 1.0])
    assert outcome.status is Status.FLAT
    assert outcome.null_directions.tolist() == [[0.0, 1.0]]
    assert outcome.theta[1] == 1.0


def test_rounding_is_no_effect():
    """Conversion of a first-order tank: feed cancels in 1 - [A]/feed, and its derivative is nothing but rounding."""
    tau = np.array([2.0, 4.0, 8.0, 16.0, 32.0])
    measured = 0.1 * tau / (1 + 0.1 * tau)

    def residuals(theta):
        feed, k = theta[1], jnp.exp(theta[0])
        return 1 - feed / (1 + k * tau) / feed - measured

    for noise in (0.0, 0.01 * np.cos(9 * tau)):
        outcome = fit(evaluation(lambda theta, noise=noise: residuals(theta) - noise), [np.log(0.05), 1300.0], sizes=[1.0, np.nan])
        alone = fit(evaluation(lambda theta, noise=noise: residuals(jnp.append(theta, 1.0)) - noise), [np.log(0.05)])
        assert outcome.status is Status.FLAT and outcome.status.ok
        assert outcome.theta == pytest.approx([alone.theta[0], 1300.0], rel=1e-9)
        assert outcome.null_directions.tolist() == [[0.0, 1.0]]


def test_a_start_on_a_plateau_is_left():
    """exp(-300 x) of an amplitude that is seen elsewhere: the rate has no effect at its start, and other rates are better."""
    y = np.concatenate([2.0 * np.exp(-0.7 * X), [2.0]])

    def residuals(theta):
        return jnp.append(theta[0] * jnp.exp(-jnp.exp(theta[1]) * X), theta[0]) - y

    outcome = fit(evaluation(residuals), [1.0, np.log(300.0)], sizes=[1.0, 1.0])
    assert outcome.status is Status.SUCCESS
    assert outcome.theta == pytest.approx([2.0, np.log(0.7)], rel=1e-8)


def test_a_start_at_zero_is_seen():
    """The best intercept of exact data is zero to rounding; its column is not."""
    outcome = fit(evaluation(lambda theta: theta[0] + theta[1] * X - 2.0 * X), [0.0, 1.0])
    assert outcome.status is Status.SUCCESS
    assert outcome.determination.rank == 2


@pytest.mark.parametrize("start", [[0.4, 0.7, 0.6, 2.0], [1.0, 3.0, 0.2, 0.1], [0.9, 1.2, 0.1, 0.8]])
def test_two_rate_constants_that_became_one_are_flat(start):
    """Two positive exponentials for data that are flatter than one at first: the best rates are equal, where J loses rank."""
    t = np.linspace(0.1, 4.0, 25)
    y = (1.0 + 0.5 * t) * np.exp(-1.2 * t)
    box = Bounds(np.array([0.1, 0.01, 0.1, 0.01]), np.array([5.0, 9.0, 5.0, 9.0]))
    outcome = fit(evaluation(lambda b: b[0] * jnp.exp(-b[1] * t) + b[2] * jnp.exp(-b[3] * t) - y), start, box)
    assert outcome.status is Status.FLAT, outcome.message
    assert outcome.theta[1] == pytest.approx(outcome.theta[3], rel=1e-3)


def test_fewer_residuals_than_parameters_is_flat():
    outcome = fit(evaluation(lambda theta: jnp.array([theta.sum() - 1.0])), [0.0, 0.0, 0.0])
    assert outcome.status is Status.FLAT
    assert outcome.ssr == pytest.approx(0.0, abs=1e-20)


def test_a_plateau_is_not_an_optimum():
    """exp(-300 x) has no gradient left: MINPACK calls this converged."""
    y = np.exp(-0.7 * X)
    outcome = fit(evaluation(lambda theta: theta[0] * jnp.exp(-theta[1] * X) - y), [1.0, 300.0])
    assert not outcome.status.ok


def test_a_start_that_cannot_be_evaluated():
    outcome = fit(logarithm, [-1.0])
    assert outcome.status is Status.NON_FINITE
    assert (outcome.theta.tolist(), outcome.evaluations, outcome.iterations) == ([-1.0], 1, 0)
    assert np.isnan(outcome.cosine)
    assert "NaN" in outcome.message


def test_a_start_with_failed_parts():
    outcome = fit(lambda theta: (np.eye(2), 1), [1.0])
    assert outcome.status is Status.NON_FINITE


def test_trials_that_are_nan_are_refused_and_the_fit_goes_on():
    outcome = fit(logarithm, [50.0])
    assert outcome.status is Status.SUCCESS
    assert outcome.theta[0] == pytest.approx(5.0 * np.exp(-0.01 * np.cos(9 * X).mean()), rel=1e-10)
    assert not all(row.accepted for row in outcome.history)


def test_trials_with_failed_parts_are_refused_and_the_fit_goes_on():
    full = by_numpy(lambda theta: (theta - 3.0) ** 2 + 0.1 * np.sin(X), lambda theta: np.full((X.size, 1), 2.0) * (theta - 3.0))
    outcome = fit(lambda theta: (full(theta)[0], int(theta[0] > 10.0)), [9.0])
    assert outcome.theta[0] < 10.0
    assert outcome.ssr < full(np.array([9.0]))[0][0, 1] ** 2


def test_a_failed_trial_next_to_the_end_is_kept():
    line = by_numpy(lambda theta: (theta - 3.0) * X, lambda theta: X[:, None])
    beyond = fit(lambda theta: (line(theta)[0], int(theta[0] < 5.0)), [9.0])
    assert not beyond.status.ok and 4.99 < beyond.failed[0] < 5.0 <= beyond.theta[0]
    assert fit(lambda theta: (line(theta)[0], int(theta[0] < 2.0)), [9.0]).failed is None


def test_a_fit_that_never_leaves_its_start_is_no_success():
    evaluate = by_numpy(lambda theta: theta * X - 3.0 * X + (np.nan if theta[0] != 1.0 else 0.0), lambda theta: X[:, None])
    outcome = fit(evaluate, [1.0])
    assert outcome.status is Status.NOT_MOVED and not outcome.status.ok
    assert outcome.theta.tolist() == [1.0]
    assert outcome.evaluations < 40


def test_a_kink_is_not_converged():
    outcome = fit(by_numpy(lambda theta: np.abs(theta - 0.3) + X, lambda theta: np.full((X.size, 1), np.sign(theta - 0.3))), [1.0])
    assert outcome.status is Status.NOT_CONVERGED and not outcome.status.ok
    assert outcome.theta[0] == pytest.approx(0.3, abs=1e-6)


# --------------------------------------------------------------------------------------------------- limits and Ctrl-C


@pytest.mark.parametrize("calls", [1, 2, 6])
def test_ctrl_c_keeps_the_best_point(calls):
    best = []

    def evaluate(theta):
        if len(best) == calls - 1:
            raise KeyboardInterrupt
        R, bad = rosenbrock(theta)
        best.append((float(np.sum(np.asarray(R)[:, -1] ** 2)), theta.tolist()))
        return R, bad

    outcome = fit(evaluate, [-1.2, 1.0])
    assert outcome.status is Status.STOPPED and not outcome.status.ok
    assert outcome.evaluations == calls - 1
    if best:
        assert (outcome.ssr, outcome.theta.tolist()) == (pytest.approx(min(best)[0], rel=1e-12), min(best)[1])
    else:
        assert outcome.theta.tolist() == [-1.2, 1.0] and np.isnan(outcome.ssr)


def test_ctrl_c_while_progress_is_shown():
    def show(row):
        if row.number == 3:
            raise KeyboardInterrupt

    outcome = fit(rosenbrock, [-1.2, 1.0], on_iteration=show)
    assert (outcome.status, outcome.evaluations) == (Status.STOPPED, 4)


def test_iteration_limit():
    evaluate = counted(rosenbrock)
    outcome = fit(evaluate, [-1.2, 1.0], options=Options(max_iterations=3))
    assert outcome.status is Status.ITERATION_LIMIT
    assert (outcome.iterations, outcome.evaluations, evaluate.calls) == (3, 4, 4)
    assert outcome.ssr < 24.2


def test_time_limit_keeps_what_was_reached():
    outcome = fit(rosenbrock, [-1.2, 1.0], options=Options(max_seconds=0.0))
    assert outcome.status is Status.TIME_LIMIT
    assert (outcome.evaluations, outcome.ssr) == (1, pytest.approx(24.2))


def test_progress_and_history_tell_the_same():
    told = []
    outcome = fit(rosenbrock, [-1.2, 1.0], on_iteration=told.append)
    assert tuple(told) == outcome.history
    assert [row.number for row in told] == list(range(outcome.evaluations))
    assert outcome.iterations == outcome.evaluations - 1
    assert told[0].ssr == pytest.approx(24.2) and told[0].step == 0.0
    assert all(later.ssr <= earlier.ssr for earlier, later in pairwise(told))
    assert told[-1].ssr == outcome.ssr


def test_a_fit_compiles_its_residuals_once():
    evaluate = evaluation(lambda theta: theta[0] * jnp.exp(-theta[1] * X) - 1.0 / X)
    first, second = fit(evaluate, [1.0, 1.0]), fit(evaluate, [2.0, 0.1])
    assert first.theta == pytest.approx(second.theta, rel=1e-8)
    assert evaluate._cache_size() == 1


# ------------------------------------------------------------------------------------------------------- wrong calls


@pytest.mark.parametrize(
    ("theta0", "lower", "upper", "words"),
    [
        ([2.0, 0.5, 7.0], [0.0, 1.0, 0.0], [9.0, 2.0, 6.0], [r"theta0\[1\] = 0.5", r"theta0\[2\] = 7"]),
        ([np.nan], [-1.0], [1.0], [r"theta0\[0\] = nan"]),
        ([1.0, 2.0], [0.0], [9.0], ["2 parameters"]),
        ([[1.0]], [0.0], [9.0], ["vector"]),
    ],
)
def test_wrong_starts_are_told_at_once(theta0, lower, upper, words):
    with pytest.raises(InputError) as caught:
        fit(rosenbrock, theta0, Bounds(np.array(lower), np.array(upper)))
    for word in words:
        caught.match(word)


def test_an_evaluation_of_the_wrong_size_is_told():
    with pytest.raises(InputError, match=r"\(3, 3\)"):
        fit(lambda theta: (np.eye(2), 0), [1.0, 2.0])
