"""What every estimator promises: the known optimum, bounds, failures told as failures, limits and Ctrl-C."""

import ast
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import least_squares

from kinetix.errors import InputError, ParameterError
from kinetix.estimation import DEFAULT, ESTIMATORS, Bounds, Options, estimator, evaluation, fit
from kinetix.precision import float64
from kinetix.status import Status
from tests.estimation.test_certified import MODELS

SOURCES = Path(__file__).resolve().parents[2] / "kinetix"
X = np.linspace(0.5, 3.0, 12)

methods = pytest.mark.parametrize("method", ESTIMATORS)
bounded = pytest.mark.parametrize("method", [name for name, book in ESTIMATORS.items() if book.bounded])
foreign = pytest.mark.parametrize("method", [name for name in ESTIMATORS if name != DEFAULT])

rosenbrock = evaluation(lambda x: jnp.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]]))

# NaN for theta <= 0; the minimum is at log theta = log 5 - 0.01 mean(cos 9 X)
logarithm = evaluation(lambda theta: jnp.log(theta[0]) - jnp.log(5.0) + 0.01 * jnp.cos(9 * X))
LOWEST = 5.0 * np.exp(-0.01 * np.cos(9 * X).mean())


def certified(data, name):
    """The evaluation of a certified problem, its residuals, its starts and what was certified."""
    problem = data(f"nist-{name}")
    columns, facts = problem.columns(), problem.facts
    x = [columns[predictor] for predictor in facts["model"]["predictors"]]

    def residuals(b):
        return MODELS[name](b, *x) - columns["y"]

    starts = [list(start.values()) for start in facts["start"].values()]
    return evaluation(residuals), residuals, starts, np.array(list(facts["expected"]["parameters"].values())), facts["expected"]


def consecutive(data):
    """B of A -> B -> C in closed form by the logarithms of both constants, and what was worked out for it."""
    problem = data("o03-at-bound")
    columns = problem.columns()
    t, B = columns["time [s]"], columns["B [mol/L]"]

    def residuals(theta):
        k1, k2 = jnp.exp(theta)
        return (k1 / (k2 - k1) * (jnp.exp(-k1 * t) - jnp.exp(-k2 * t)) - B) / 0.004

    return evaluation(residuals), {item["name"]: item["value"] for item in problem.facts["expect"]}


def triangle_of(evaluate, theta):
    with float64():
        return np.asarray(evaluate(theta)[0])


def ssr_of(evaluate, theta):
    return float(np.sum(triangle_of(evaluate, theta)[:, -1] ** 2))


# ------------------------------------------------------------------------------------------------------------- optima


@methods
@pytest.mark.parametrize("name", ["danwood", "rat42"])
def test_certified_values(data, method, name):
    evaluate, _, starts, parameters, expected = certified(data, name)
    outcome = fit(evaluate, starts[1], method=method)
    assert outcome.status is Status.SUCCESS, outcome.message
    assert outcome.theta == pytest.approx(parameters, rel=1e-7)
    assert outcome.ssr == pytest.approx(expected["residual_sum_of_squares"], rel=1e-9)
    assert outcome.cosine < 1e-7 and outcome.determination.rank == parameters.size
    np.testing.assert_allclose(outcome.R, triangle_of(evaluate, outcome.theta), rtol=1e-12, atol=1e-12 * np.abs(outcome.R).max())


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"lanczos1", "nelson"}))
def test_scipy_agrees(data, name):
    """Its end by our loop, ours, and its own on the whole residuals with a whole Jacobian."""
    evaluate, residuals, starts, _, _ = certified(data, name)
    ours, theirs = (fit(evaluate, starts[1], method=method) for method in (DEFAULT, "scipy-least_squares"))
    with float64():
        jacobian = jax.jit(jax.jacfwd(residuals))
        tight = dict.fromkeys(("xtol", "ftol", "gtol"), 1e-15)
        alone = least_squares(lambda b: np.asarray(residuals(b)), starts[1], lambda b: np.asarray(jacobian(b)), x_scale="jac", **tight)
    assert ours.status is theirs.status is Status.SUCCESS
    assert theirs.ssr == pytest.approx(ours.ssr, rel=1e-8) == pytest.approx(2 * alone.cost, rel=1e-8)
    assert theirs.theta == pytest.approx(ours.theta, rel=1e-7)  # four more digits than are certified
    assert alone.x == pytest.approx(ours.theta, rel=1e-7)


@bounded
@pytest.mark.parametrize(
    ("lower", "upper", "start", "optimum"),
    [
        ([-5.0, -5.0], [0.5, 5.0], [-1.2, 1.0], [0.5, 0.25]),
        ([1.5, -5.0], [5.0, 2.0], [2.0, 1.0], [1.5, 2.0]),
        ([-5.0, 2.0], [5.0, 5.0], [1.0, 2.5], [np.roots([400, 0, -798, -2]).max(), 2.0]),  # of 400 x^3 - 798 x - 2 = 0
    ],
)
def test_rosenbrock_in_a_box(method, lower, upper, start, optimum):
    outcome = fit(rosenbrock, start, Bounds(np.array(lower), np.array(upper)), method=method)
    assert outcome.status is Status.ON_BOUND, outcome.message
    assert outcome.theta == pytest.approx(optimum, rel=1e-7)
    on = (np.array(optimum) == lower) | (np.array(optimum) == upper)
    assert (outcome.at_lower | outcome.at_upper).tolist() == on.tolist() and np.array_equal(outcome.theta[on], np.array(optimum)[on])
    assert np.array_equal(outcome.held, on)


@bounded
@pytest.mark.parametrize(("kind", "k2_max", "status"), [("bounded", 2.3, Status.ON_BOUND), ("free", 10.0, Status.SUCCESS)])
def test_consecutive_reactions_with_and_without_an_active_bound(data, method, kind, k2_max, status):
    evaluate, expected = consecutive(data)
    outcome = fit(evaluate, np.log([1.0, 2.0]), Bounds(np.log([0.01, 0.01]), np.log([10.0, k2_max])), sizes=[1.0, 1.0], method=method)
    k1, k2 = np.exp(outcome.theta)
    assert outcome.status is status, outcome.message
    for name, value in ((f"k1_{kind}", k1), (f"k2_{kind}", k2), (f"chi2_{kind}", outcome.ssr)):
        assert value == pytest.approx(expected[name], rel=1e-6)
    assert outcome.at_upper.tolist() == [False, kind == "bounded"]


@bounded
def test_a_coordinate_whose_bounds_meet_stays(method):
    outcome = fit(rosenbrock, [-1.2, 1.44], Bounds(np.array([-5.0, 1.44]), np.array([5.0, 1.44])), method=method)
    # r'r over x by itself: 400 x^3 - (400 1.44 - 2) x - 2 = 0 has minima on both sides
    optima = np.roots([400, 0, -(400 * 1.44 - 2), -2]).real
    assert outcome.status is Status.SUCCESS, outcome.message
    assert np.abs(outcome.theta[0] / optima - 1).min() < 1e-7 and outcome.theta[1] == 1.44
    assert outcome.held.tolist() == [False, True]


@methods
def test_a_start_at_the_optimum_is_the_answer(method):
    outcome = fit(rosenbrock, [1.0, 1.0], method=method)
    assert (outcome.status, outcome.ssr, outcome.evaluations) == (Status.SUCCESS, 0.0, 1)


@pytest.mark.parametrize("method", ["adam", "lbfgs"])
def test_units_of_parameters_and_residuals_change_nothing(method):
    unit = np.array([2.0**40, 2.0**-50])
    other = evaluation(lambda x: 2.0**10 * jnp.stack([10 * (x[1] / unit[1] - (x[0] / unit[0]) ** 2), 1 - x[0] / unit[0]]))
    start, options = np.array([-1.2, 1.0]), Options(max_iterations=60)
    plain, scaled = fit(rosenbrock, start, options=options, method=method), fit(other, start * unit, options=options, method=method)
    assert scaled.theta / unit == pytest.approx(plain.theta, rel=1e-8)


# -------------------------------------------------------------------------------------------------------- hard starts


def test_adam_first_finds_the_optimum_where_levenberg_marquardt_by_itself_does_not(data):
    """Constants a thousand times too large: all has happened before the first reading, and hardly anything changes with them."""
    evaluate, expected = consecutive(data)
    start = np.log([1e3, 1.1e3])
    alone, after = (fit(evaluate, start, sizes=[1.0, 1.0], method=method) for method in (DEFAULT, "adam-then-lm"))
    assert not alone.status.ok and alone.ssr > 100 * expected["chi2_free"]
    assert after.status is Status.SUCCESS
    assert np.exp(after.theta) == pytest.approx([expected["k1_free"], expected["k2_free"]], rel=1e-6)


def test_adam_that_reached_no_optimum_does_not_claim_one(data):
    evaluate, _, starts, parameters, _ = certified(data, "misra1a")
    outcome = fit(evaluate, starts[0], method="adam")
    assert np.abs(outcome.theta / parameters - 1).max() > 1e-3
    assert outcome.status is Status.NOT_CONVERGED and not outcome.status.ok
    assert "by adam" in outcome.message
    assert outcome.ssr == pytest.approx(ssr_of(evaluate, outcome.theta), rel=1e-12)


# ----------------------------------------------------------------------------------------------------------- failures


@methods
def test_trials_that_are_not_numbers_are_refused(method):
    outcome = fit(logarithm, [50.0], method=method)  # a full step from there is below zero
    assert outcome.status is Status.SUCCESS, outcome.message
    assert outcome.theta == pytest.approx([LOWEST], rel=1e-7)


@methods
def test_trials_with_failed_parts_are_refused(method):
    def evaluate(theta):
        R, _ = logarithm(jnp.abs(theta))
        return R, 3 if float(theta[0]) < 4.0 else 0

    outcome = fit(evaluate, [50.0], method=method)
    assert outcome.status is Status.SUCCESS, outcome.message
    assert outcome.theta == pytest.approx([LOWEST], rel=1e-7)


@methods
def test_an_optimum_beyond_what_can_be_evaluated_is_no_success(method):
    outcome = fit(evaluation(lambda x: jnp.stack([jnp.where(x[0] < 0.5, x[0] - 1.0, jnp.nan), 0.1 * x[0] + 1.0])), [0.1], method=method)
    assert not outcome.status.ok
    assert np.isfinite(outcome.theta).all() and 0.1 <= outcome.theta[0] < 0.5
    assert np.isfinite(outcome.R).all() and outcome.ssr <= 0.9**2 + 1.01**2


@methods
def test_a_start_that_cannot_be_evaluated(method):
    outcome = fit(logarithm, [-1.0], method=method)
    assert outcome.status is Status.NON_FINITE
    assert outcome.theta.tolist() == [-1.0] and np.isnan(outcome.ssr)


# -------------------------------------------------------------------------------------------- limits, progress, Ctrl-C


@methods
def test_iteration_limit(method):
    outcome = fit(rosenbrock, [-1.2, 1.0], options=Options(max_iterations=5), method=method)
    assert not outcome.status.ok and outcome.status in (Status.ITERATION_LIMIT, Status.NOT_CONVERGED)
    assert outcome.evaluations <= 6
    assert outcome.ssr <= 24.2 * (1 + 1e-12)
    assert outcome.ssr == pytest.approx(ssr_of(rosenbrock, outcome.theta), rel=1e-12)


@methods
def test_time_limit_keeps_the_start(method):
    outcome = fit(rosenbrock, [-1.2, 1.0], options=Options(max_seconds=0.0), method=method)
    assert outcome.status is Status.TIME_LIMIT
    assert (outcome.evaluations, outcome.theta.tolist(), outcome.ssr) == (1, [-1.2, 1.0], pytest.approx(24.2))


@methods
def test_progress_and_history_tell_the_same(method):
    told = []
    outcome = fit(rosenbrock, [-1.2, 1.0], options=Options(max_iterations=40), on_iteration=told.append, method=method)
    assert tuple(told) == outcome.history and len(told) > 5
    assert [row.number for row in told] == list(range(len(told)))
    assert told[0].ssr == pytest.approx(24.2) and told[0].step == 0.0
    assert all(later.ssr <= earlier.ssr for earlier, later in pairwise(told))
    assert told[-1].ssr == pytest.approx(outcome.ssr, rel=1e-12)
    assert len(told) <= outcome.evaluations <= len(told) + 1


@methods
@pytest.mark.parametrize("calls", [1, 2, 6])
def test_ctrl_c_keeps_the_best_point(method, calls):
    met = []

    def evaluate(theta):
        if len(met) == calls - 1:
            met.append(None)
            raise KeyboardInterrupt
        R, n_bad = rosenbrock(theta)
        met.append((float(np.sum(np.asarray(R)[:, -1] ** 2)), theta.tolist()))
        return R, n_bad

    outcome = fit(evaluate, [-1.2, 1.0], method=method)
    assert outcome.status is Status.STOPPED and not outcome.status.ok
    before = [point for point in met[: calls - 1] if point is not None]
    if before:
        assert (outcome.ssr, outcome.theta.tolist()) == (pytest.approx(min(before)[0], rel=1e-12), min(before)[1])
    else:
        assert outcome.theta.tolist() == [-1.2, 1.0] and np.isnan(outcome.ssr)


@methods
def test_ctrl_c_while_progress_is_shown(method):
    def show(row):
        if row.number == 3:
            raise KeyboardInterrupt

    outcome = fit(rosenbrock, [-1.2, 1.0], on_iteration=show, method=method)
    assert outcome.status is Status.STOPPED
    assert np.isfinite(outcome.R).all() and outcome.ssr <= 24.2 * (1 + 1e-12)


# ------------------------------------------------------------------------------------------------- value and gradient


@pytest.mark.parametrize("method", ["adam", "lbfgs", "jaxopt-LBFGSB"])
def test_a_gradient_does_where_no_more_is_needed(data, method):
    """The triangle is then evaluated at the start, for scales, and at the end, for the errors."""
    evaluate, residuals, starts, parameters, _ = certified(data, "danwood")
    both = jax.jit(jax.value_and_grad(lambda b: 0.5 * jnp.sum(residuals(b) ** 2)))
    triangles = []

    def counted(theta):
        triangles.append(theta)
        return evaluate(theta)

    outcome = fit(counted, starts[1], method=method, by_gradient=lambda theta: (*both(theta), 0))
    assert outcome.status is Status.SUCCESS, outcome.message
    assert outcome.theta == pytest.approx(parameters, rel=1e-6)
    assert len(triangles) == 2 < outcome.evaluations


@pytest.mark.parametrize("method", ["adam", "lbfgs", "jaxopt-LBFGSB"])
def test_a_gradient_of_a_failed_evaluation_is_not_used(method):
    both = jax.jit(jax.value_and_grad(lambda x: 0.5 * jnp.sum((jnp.log(x[0]) - jnp.log(5.0) + 0.01 * jnp.cos(9 * X)) ** 2)))
    outcome = fit(logarithm, [50.0], method=method, by_gradient=lambda theta: (*both(theta), 0))
    assert outcome.status is Status.SUCCESS, outcome.message
    assert outcome.theta == pytest.approx([LOWEST], rel=1e-7)


# ---------------------------------------------------------------------------------------------------------- the shelf


def test_a_name_that_is_none():
    with pytest.raises(ParameterError, match=r"'lbfsg': expected lm, adam, .* or scipy-least_squares. Did you mean 'lbfgs'"):
        fit(rosenbrock, [0.0, 0.0], method="lbfsg")


@pytest.mark.parametrize(("method", "package"), [("adam", "optax"), ("lbfgs", "optax"), ("jaxopt-LBFGSB", "jaxopt")])
def test_a_package_that_is_missing(monkeypatch, method, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ParameterError, match=f"needs {package}, which is not installed. Run: pip install {package}"):
        estimator(method)
    assert fit(rosenbrock, [-1.2, 1.0]).status is Status.SUCCESS


def test_bounds_are_refused_by_a_method_that_keeps_none():
    with pytest.raises(InputError, match="keeps no bounds"):
        fit(rosenbrock, [0.0, 0.0], Bounds(np.array([-1.0, -np.inf]), np.full(2, np.inf)), method="jaxopt-LevenbergMarquardt")


def test_other_packages_are_imported_on_use():
    look = "import sys, kinetix.estimation; print([name for name in ('optax', 'jaxopt', 'scipy.optimize') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_one_file_imports_jaxopt():
    def imports(path):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        return any(isinstance(n, ast.Import) and n.names[0].name.split(".")[0] == "jaxopt" for n in nodes)

    assert [path.name for path in SOURCES.rglob("*.py") if imports(path)] == ["jaxopt_methods.py"]


@methods
def test_every_book_says_what_it_is(method):
    assert len(estimator(method).what) > 10
