"""Equations of one's own through the solvers and the estimator: two mixed zones with recirculation (Rawlings & Ekerdt, 8.11 and 9.6)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from kinetix.analyses.covariance import linear_covariance
from kinetix.estimation import evaluation, fit
from kinetix.solvers import Options, System, integrate, steady_state
from kinetix.status import Status

pytestmark = pytest.mark.usefixtures("x64")


def _zones(constants):
    """d/dt of what is in both zones: feeds alpha to the first and 1 to the second, rho back, and rates of reaction [zone, species]."""
    alpha, volumes = constants["alpha"], jnp.array([[constants["tau1"]], [constants["tau2"]]])

    def rhs(t, y, args):
        rho, fed = args["rho"], args["fed"]
        first, second = c = y.reshape(2, -1)
        onward, back = (alpha + rho) * first, rho * second
        moved = jnp.stack([alpha * fed[0] - onward + back, fed[1] + onward - back - (1 + alpha) * second])
        return (moved / volumes + args["reaction"](c)).ravel()

    return rhs


def test_recirculation_from_a_tracer_step_and_the_conversion_it_gives(case):
    zones = case("rawlings-rtd-two-tanks")
    constants, expected, tolerance = zones.facts["model"]["constants"], zones.facts["expected"], zones.facts["tolerance"]
    data, rhs = zones.columns(), _zones(constants)

    def system(reaction):
        return System(lambda t, y, args: rhs(t, y, {**args, "reaction": reaction}), autonomous=True)

    tracer = system(jnp.zeros_like)

    def residuals(theta):
        args = {"rho": theta[0], "fed": jnp.array([[constants["cf"]], [0.0]])}
        solution = integrate(tracer, jnp.zeros(2), args, data["time"], options=Options(1e-10, 1e-12))
        return solution.y[:, 1] - data["c2"]

    outcome = fit(evaluation(residuals), [zones.facts["start"]["rho"]])
    assert outcome.status is Status.SUCCESS
    assert outcome.theta[0] == pytest.approx(expected["rho"], rel=tolerance["rho_rel"])
    errors = linear_covariance(outcome.R, n_observations=len(data["c2"]), trusted=False)
    assert errors.stderr[0] == pytest.approx(expected["std_error"], rel=tolerance["rho_rel"])
    assert outcome.ssr == pytest.approx(expected["sse"], rel=tolerance["rho_rel"])

    def second_order(c):
        """A + B -> C with r1 = [A][B], A -> D with r2 = 2 [A]^2."""
        a, b = c[:, 0], c[:, 1]
        return jnp.stack([-a * b - 2 * a**2, -a * b], axis=1)

    fed = jnp.array([[1.0, 0.0], [0.0, 1.0]])
    steady = steady_state(system(second_order), jnp.array([1.0, 0.0, 0.0, 1.0]), {"rho": jnp.asarray(outcome.theta[0]), "fed": fed})
    assert steady.status == Status.SUCCESS
    want = expected["steady_state"]
    assert_allclose(steady.y, [want[name] for name in ("cA1", "cB1", "cA2", "cB2")], rtol=tolerance["steady_state_rel"])
    alpha, (_, _, a2, b2) = constants["alpha"], np.asarray(steady.y)
    assert (alpha - (1 + alpha) * a2) / alpha == pytest.approx(expected["conversion"], rel=tolerance["steady_state_rel"])
    found = (1 - (1 + alpha) * b2) / (alpha - (1 + alpha) * a2)
    assert found == pytest.approx(expected["yield_"], rel=tolerance["steady_state_rel"])


def test_a_packed_bed_with_pressure_drop(data):
    """dX/dW and dy/dW with y = P/P0, against the closed form (no change of moles) and a table; beyond y = 0 there is no state."""
    bed = data("pbr-pressure-drop")
    k, alpha = bed.facts["model"]["constants"]["k_over_v0"], bed.facts["model"]["constants"]["alpha"]
    system = System(
        lambda W, y, eps: jnp.stack([k * (1 - y[0]) / (1 + eps * y[0]) * y[1], -alpha / (2 * y[1]) * (1 + eps * y[0])]), autonomous=True
    )
    table = bed.columns("expected.csv")
    tight = Options(1e-11, 1e-13, lowest=0.0)
    for eps, name in ((0.0, "eps0"), (-0.15, "eps_m015")):
        solution = integrate(system, jnp.array([0.0, 1.0]), jnp.asarray(eps), table["W_kg"], options=tight)
        assert solution.status == Status.SUCCESS
        assert_allclose(solution.y[:, 0], table[f"X_{name}"], rtol=bed.facts["tolerance"]["rel"])
        assert_allclose(solution.y[:, 1], table[f"P_ratio_{name}"], rtol=bed.facts["tolerance"]["rel"])
    end = bed.facts["expected"]["W_at_which_pressure_is_zero_eps0"]
    beyond = jax.jit(lambda: integrate(system, jnp.array([0.0, 1.0]), jnp.asarray(0.0), jnp.array([end + 1.0]), options=tight))()
    assert beyond.status != Status.SUCCESS
    assert np.isnan(beyond.y).all()
    assert beyond.t_reached == pytest.approx(end, rel=1e-3)
