"""NIST's certified nonlinear regressions from both starts: parameters, standard errors and sums of squares."""

import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.analyses.covariance import linear_covariance
from kinetix.estimation import Options, evaluation, fit
from kinetix.status import Status

MODELS = {
    "chwirut2": lambda b, x: jnp.exp(-b[0] * x) / (b[1] + b[2] * x),
    "danwood": lambda b, x: b[0] * x ** b[1],
    "eckerle4": lambda b, x: b[0] / b[1] * jnp.exp(-0.5 * ((x - b[2]) / b[1]) ** 2),
    "gauss1": lambda b, x: (
        b[0] * jnp.exp(-b[1] * x) + b[2] * jnp.exp(-(((x - b[3]) / b[4]) ** 2)) + b[5] * jnp.exp(-(((x - b[6]) / b[7]) ** 2))
    ),
    "kirby2": lambda b, x: (b[0] + b[1] * x + b[2] * x**2) / (1 + b[3] * x + b[4] * x**2),
    "lanczos1": lambda b, x: b[0] * jnp.exp(-b[1] * x) + b[2] * jnp.exp(-b[3] * x) + b[4] * jnp.exp(-b[5] * x),
    "mgh10": lambda b, x: b[0] * jnp.exp(b[1] / (x + b[2])),
    "mgh17": lambda b, x: b[0] + b[1] * jnp.exp(-x * b[3]) + b[2] * jnp.exp(-x * b[4]),
    "misra1a": lambda b, x: b[0] * (1 - jnp.exp(-b[1] * x)),
    "misra1c": lambda b, x: b[0] * (1 - (1 + 2 * b[1] * x) ** -0.5),
    "nelson": lambda b, x1, x2: b[0] - b[1] * x1 * jnp.exp(-b[2] * x2),
    "rat42": lambda b, x: b[0] / (1 + jnp.exp(b[1] - b[2] * x)),
    "roszman1": lambda b, x: b[0] - b[1] * x - jnp.arctan(b[2] / (x - b[3])) / jnp.pi,
    "thurber": lambda b, x: (b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3) / (1 + b[4] * x + b[5] * x**2 + b[6] * x**3),
}
RESPONSES = {"log(y)": np.log, "y": np.asarray}


@pytest.fixture(scope="module", params=MODELS)
def certified(request, data):
    """A certified problem and its compiled evaluation, shared by both starts."""
    problem = data(f"nist-{request.param}")
    columns = problem.columns()
    y = RESPONSES[problem.facts["model"]["response"]](columns["y"])
    x = [columns[name] for name in problem.facts["model"]["predictors"]]
    return problem.facts, evaluation(lambda b: MODELS[request.param](b, *x) - y)


@pytest.mark.parametrize("start", ["start1", "start2"])
def test_certified_values(certified, start):
    facts, evaluate = certified
    expected, tolerance = facts["expected"], facts["tolerance"]
    outcome = fit(evaluate, list(facts["start"][start].values()))
    covariance = linear_covariance(outcome.R, n_observations=facts["model"]["n_obs"], trusted=False)

    assert outcome.status is Status.SUCCESS, outcome.message
    assert outcome.theta == pytest.approx(list(expected["parameters"].values()), rel=tolerance["parameters_rel"])
    assert covariance.dof == facts["model"]["dof"]
    if "rss_abs" in tolerance:  # lanczos1: the residuals are rounding
        assert outcome.ssr < tolerance["rss_abs"]
    else:
        assert outcome.ssr == pytest.approx(expected["residual_sum_of_squares"], rel=tolerance["rss_rel"])
        assert covariance.s == pytest.approx(expected["residual_std_dev"], rel=tolerance["rss_rel"])
        assert covariance.stderr == pytest.approx(list(expected["std_errors"].values()), rel=tolerance["std_error_rel"])


def test_far_starts_never_give_a_wrong_success(certified):
    """From starts anywhere within a factor of 10, a success has no removable gradient and a determined Jacobian."""
    facts, evaluate = certified
    best = np.array(list(facts["expected"]["parameters"].values()))
    rng = np.random.default_rng(1)
    for _ in range(4):
        outcome = fit(evaluate, best * 10.0 ** rng.uniform(-1, 1, best.size), options=Options(max_iterations=150))
        if outcome.status not in (Status.SUCCESS, Status.ON_BOUND) or outcome.ssr < 1e-18:
            continue
        R = outcome.R[:-1, :-1] / np.linalg.norm(outcome.R[:-1, :-1], axis=0)
        projected = np.linalg.lstsq(R, outcome.R[:-1, -1], rcond=1e-13)[0]
        assert np.linalg.norm(R @ projected) < 1e-3 * np.sqrt(outcome.ssr)
        assert np.linalg.cond(R) < 1e10
