"""Integration against closed forms, published values and SciPy, and what a failed lane looks like."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetix.solvers import Options, System, integrate, stepping, tableau
from kinetix.solvers.segments import Segments
from kinetix.status import Status
from tests.solvers.systems import BLOW_UP, DECAY, DRIVEN, LOGISTIC, PROTHERO, ROBERTSON, ROBERTSON_K, SECOND_ORDER, SERIES, series_solution

pytestmark = pytest.mark.usefixtures("x64")


def test_first_order_decay_within_tolerance():
    times = np.linspace(0.0, 10.0, 11)
    solution = integrate(DECAY, [2.0], 0.7, times)
    assert solution.status == Status.SUCCESS
    np.testing.assert_allclose(solution.y[:, 0], 2 * np.exp(-0.7 * times), rtol=1e-7)
    assert solution.y.dtype == np.float64
    assert solution.t_reached == 10.0


def test_consecutive_reactions():
    times = np.array([0.1, 1.0, 3.0, 20.0])
    solution = integrate(SERIES, [1.5, 0.0, 0.0], {"k": np.array([1.0, 0.3])}, times)
    np.testing.assert_allclose(solution.y, series_solution(times, 1.5, 1.0, 0.3), atol=2e-9)


def test_second_order_reaction():
    """2 A -> B with r = k A^2: A(10 s) = 0.4 mol/L from 2 mol/L, k = 0.1 L/mol/s, in SI units."""
    solution = integrate(SECOND_ORDER, [2000.0, 0.0], 1e-4, [10.0])
    np.testing.assert_allclose(solution.y[0], [400.0, 800.0], rtol=1e-7)


def test_growth_from_a_tiny_start_is_not_stepped_over():
    """A first step that is too large would stay at the unstable state 0."""
    times = np.array([20.0, 1000.0])
    solution = integrate(LOGISTIC, [1e-6], 1.0, times)
    np.testing.assert_allclose(solution.y[:, 0], 1 / (1 + (1e6 - 1) * np.exp(-times)), rtol=1e-6)


def test_trace_amounts_are_resolved_when_asked_for():
    solution = integrate(DECAY, [1.0], 1.0, [27.631021115928547], options=Options(atol=1e-20))
    np.testing.assert_allclose(solution.y[0, 0], 1.000000000000001e-12, rtol=1e-4)


def test_robertson_end_point_and_conserved_total():
    times = np.array([0.4, 4.0, 4e2, 1e5])
    solution = integrate(ROBERTSON, [1.0, 0.0, 0.0], ROBERTSON_K, times)
    assert solution.status == Status.SUCCESS
    np.testing.assert_allclose(solution.y[-1, 2], 0.982134006110357, rtol=1e-5)
    np.testing.assert_allclose(solution.y.sum(axis=1), 1.0, rtol=1e-12)


def test_robertson_over_eleven_decades(case):
    facts = case("ivp-rober").facts
    solution = integrate(ROBERTSON, [1.0, 0.0, 0.0], ROBERTSON_K, [1e11], options=Options(atol=1e-20))
    np.testing.assert_allclose(solution.y[0], facts["expected"]["reference_at_1e11"], rtol=1e-6)


def test_step_limit_is_a_status_and_the_numbers_are_withheld():
    solution = integrate(ROBERTSON, [1.0, 0.0, 0.0], ROBERTSON_K, [0.0, 1e-3, 1e5], options=Options(max_steps=20))
    assert solution.status == Status.STEP_LIMIT
    assert solution.steps + solution.rejected == 20
    np.testing.assert_array_equal(solution.y[0], [1.0, 0.0, 0.0])
    assert np.all(np.isfinite(solution.y[1]))
    assert np.all(np.isnan(solution.y[2]))
    assert 1e-3 <= solution.t_reached < 1e5


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_agrees_with_radau(rtol):
    """Oregonator over one relaxation cycle: errors stay near the tolerance."""

    def rhs(t, y, s):
        return jnp.stack([s * (y[1] + y[0] - y[0] * y[1] - 8.375e-6 * y[0] ** 2), (y[2] - (1 + y[0]) * y[1]) / s, 0.161 * (y[0] - y[2])])

    times = np.array([1.0, 5.0, 20.0, 100.0])
    reference = solve_ivp(
        lambda t, y: np.array(
            [77.27 * (y[1] + y[0] - y[0] * y[1] - 8.375e-6 * y[0] ** 2), (y[2] - (1 + y[0]) * y[1]) / 77.27, 0.161 * (y[0] - y[2])]
        ),
        (0, 100),
        [1.0, 2.0, 3.0],
        method="Radau",
        t_eval=times,
        rtol=1e-12,
        atol=1e-13,
    ).y.T
    solution = integrate(System(rhs, autonomous=True), [1.0, 2.0, 3.0], 77.27, times, options=Options(rtol=rtol, atol=rtol))
    assert solution.status == Status.SUCCESS
    assert np.max(np.abs(solution.y - reference) / np.abs(reference)) < 10 * rtol


def test_pollution_chemistry_of_twenty_species(case):
    facts = case("ivp-pollu")
    table = facts.columns("reactions.csv")
    species = list(facts.facts["model"]["initial"])
    matrix, orders, k = _mass_action(table, species)

    def rhs(t, y, args):
        k, orders, matrix = args
        return matrix @ (k * jnp.prod(jnp.where(orders > 0, y[None, :] ** orders, 1.0), axis=1))

    y0 = np.array(list(facts.facts["model"]["initial"].values()))
    solution = integrate(System(rhs, autonomous=True), y0, (k, orders, matrix), [60.0], options=Options(atol=1e-18))
    assert solution.status == Status.SUCCESS
    expected = [facts.facts["expected"]["reference_at_60"][name] for name in species]
    np.testing.assert_allclose(solution.y[0], expected, rtol=1e-6)


def _mass_action(table, species):
    """Stoichiometry [species, reactions], orders [reactions, species] and rate constants of a table of reactions."""
    count = np.zeros((2, len(table["k"]), len(species)), int)
    for side, column in enumerate(("reactants", "products")):
        for row, text in enumerate(table[column]):
            for name in text.split(" + "):
                if name in species:
                    count[side, row, species.index(name)] += 1
    return (count[1] - count[0]).T.astype(float), count[0], table["k"]


def test_order_five_on_a_non_autonomous_problem():
    """Fixed steps on y' = k t y and on the forced equation y' = cos t - y: halving h divides the error by 2^5."""

    def error(steps, system, args, y0, exact):
        h = 2.0 / steps
        everything = Segments(jnp.array(0.0), jnp.array(2.0), jnp.array(0.0))

        def advance(i, y):
            return stepping.step(system, args, y, i * h, jnp.asarray(h), everything)[0]

        return abs(float(jax.lax.fori_loop(0, steps, advance, jnp.array([y0]))[0]) - exact)

    forced = System(lambda t, y, args: jnp.cos(t) - y)
    exact = (np.cos(2.0) + np.sin(2.0)) / 2 - np.exp(-2.0) / 2
    for problem in ((DRIVEN, jnp.array(1.0), 1.0, np.exp(2.0)), (forced, 0.0, 0.0, exact)):
        coarse, fine = error(16, *problem), error(32, *problem)
        assert np.log2(coarse / fine) == pytest.approx(5.0, abs=0.35)


def test_coefficients_are_consistent():
    """Nodes and sums of gamma follow from A and C (Hairer and Wanner, IV.7): Gamma = (I/gamma - C)^-1, alpha = A Gamma.

    The weights fulfil the conditions of order one and two.
    """
    gamma = np.linalg.inv(np.eye(8) / tableau.GAMMA - tableau.C)
    np.testing.assert_allclose(gamma.sum(axis=1), tableau.GAMMA_SUMS, atol=1e-13)
    np.testing.assert_allclose((tableau.A @ gamma).sum(axis=1), tableau.NODES, atol=1e-13)
    weights = tableau.B @ gamma
    assert weights.sum() == pytest.approx(1.0, abs=1e-13)
    assert weights @ (tableau.A @ gamma + gamma).sum(axis=1) == pytest.approx(0.5, abs=1e-13)


def test_stiff_forced_equation_follows_the_forcing():
    times = np.linspace(0.0, 10.0, 6)
    solution = integrate(PROTHERO, [1.0], (1e6, 1.0), times)
    np.testing.assert_allclose(solution.y[:, 0], np.cos(times), atol=1e-8)
    assert solution.steps < 500


def test_repeated_times_and_a_first_time_at_the_start():
    solution = integrate(DECAY, [2.0], 0.7, [1.0, 1.0, 2.0, 2.0, 2.0], t0=1.0)
    assert solution.status == Status.SUCCESS
    np.testing.assert_array_equal(solution.y[0], [2.0])
    np.testing.assert_array_equal(solution.y[0], solution.y[1])
    np.testing.assert_array_equal(solution.y[2], solution.y[4])
    only_start = integrate(DECAY, [2.0], 0.7, [1.0, 1.0, 1.0, 1.0, 1.0], t0=1.0)
    assert only_start.steps == 0
    np.testing.assert_array_equal(only_start.y, np.full((5, 1), 2.0))


def test_output_times_cost_few_steps():
    """A step that was clipped to hit an output time does not shrink the next one."""
    once = integrate(ROBERTSON, [1.0, 0.0, 0.0], ROBERTSON_K, [1e5])
    often = integrate(ROBERTSON, [1.0, 0.0, 0.0], ROBERTSON_K, np.geomspace(1e-3, 1e5, 20))
    assert often.steps + often.rejected <= once.steps + once.rejected + 25


def test_scale_of_time_and_amount_does_not_matter():
    """The same problem in other units takes the same steps."""
    seconds = integrate(SERIES, [1.0, 0.0, 0.0], {"k": np.array([1.0, 0.3])}, [5.0])
    years = integrate(SERIES, [1e6, 0.0, 0.0], {"k": np.array([2.0**30, 0.3 * 2**30])}, [5.0 / 2**30], options=Options(atol=1e-6))
    assert (seconds.steps, seconds.rejected) == (years.steps, years.rejected)
    np.testing.assert_allclose(years.y, 1e6 * seconds.y, rtol=1e-10)


def _ramp(t, y, args):
    """dy/dt is a jump at 1 and a kink at 2."""
    return jnp.where(t < 1.0, 0.0, jnp.where(t < 2.0, 5.0, 5.0 + 10 * (t - 2.0)))[None] - 0 * y


RAMP = System(_ramp)


def test_breaks_are_hit_exactly_and_seen_from_the_right_side():
    times = np.array([0.5, 1.0, 1.5, 2.0, 3.0])
    exact = np.array([0.0, 0.0, 2.5, 5.0, 15.0])
    solution = integrate(RAMP, [0.0], None, times, breaks=[2.0, 1.0])
    np.testing.assert_allclose(solution.y[:, 0], exact, rtol=1e-13, atol=1e-13)
    assert solution.rejected == 0
    padded = integrate(RAMP, [0.0], None, times[2:], breaks=[-7.0, 1.0, 2.0, 2.0, 1e9])
    np.testing.assert_allclose(padded.y[:, 0], exact[2:], rtol=1e-13)


def test_blow_up_ends_with_a_status_and_an_honest_time():
    solution = integrate(BLOW_UP, [1.0], 1.0, [0.5, 2.0])
    assert solution.status == Status.STEP_TOO_SMALL
    np.testing.assert_allclose(solution.y[0, 0], 2.0, rtol=1e-7)
    assert np.isnan(solution.y[1, 0])
    np.testing.assert_allclose(solution.t_reached, 1.0, rtol=1e-6)


@pytest.mark.parametrize(
    ("y0", "k", "times", "t0"),
    [
        (np.nan, 1.0, [1.0, 2.0], 0.0),
        (np.inf, 1.0, [1.0, 2.0], 0.0),
        (1.0, np.nan, [1.0, 2.0], 0.0),
        (1.0, np.inf, [1.0, 2.0], 0.0),
        (1.0, 1.0, [1.0, np.nan], 0.0),
        (1.0, 1.0, [1.0, np.inf], 0.0),
        (1.0, 1.0, [1.0, 2.0], np.nan),
        (1.0, 1.0, [1.0, 2.0], -np.inf),
        (1e300, 1e300, [1.0, 2.0], 0.0),
        (1.0, 1.0, [2.0, 1.0], 0.0),
        (1.0, 1.0, [1.0, 2.0], 1.5),
    ],
)
def test_bad_input_ends_at_once(y0, k, times, t0):
    solution = integrate(DECAY, [y0], k, times, t0=t0)
    assert solution.status == Status.NON_FINITE
    assert np.all(np.isnan(solution.y))
    assert np.isfinite(solution.t_reached)
    assert solution.steps == 0


def test_rates_that_become_nan_end_the_lane():
    system = System(lambda t, y, args: -jnp.sqrt(y) - 0.1, autonomous=True)
    solution = integrate(system, [1.0], None, [0.1, 100.0])
    assert solution.status == Status.STEP_TOO_SMALL
    assert np.isfinite(solution.y[0, 0])
    assert np.isnan(solution.y[1, 0])


def test_lanes_do_not_disturb_each_other():
    """Bit for bit the same whatever the neighbours do, and equal to the lane alone."""
    times = np.array([0.5, 2.0])
    batch = jax.jit(jax.vmap(lambda y0, k: integrate(BLOW_UP, y0, k, times)))
    healthy = np.array([[0.1], [0.2], [0.3]])
    ill = np.array([[np.nan], [1.0], [np.inf]])
    k = np.ones(6)
    together = batch(np.concatenate([healthy, ill]), k)
    apart = batch(np.concatenate([healthy, healthy]), k)
    np.testing.assert_array_equal(together.y[:3], apart.y[:3])
    np.testing.assert_array_equal(together.status, [0, 0, 0, Status.NON_FINITE, Status.STEP_TOO_SMALL, Status.NON_FINITE])
    np.testing.assert_array_equal(together.steps[:3], apart.steps[:3])
    for lane in range(3):
        alone = integrate(BLOW_UP, healthy[lane], 1.0, times)
        np.testing.assert_allclose(together.y[lane], alone.y, rtol=1e-14)
        assert together.steps[lane] == alone.steps


def test_float32_stays_float32():
    solution = integrate(
        SERIES, np.array([1.0, 0, 0], np.float32), {"k": np.array([1.0, 0.3], np.float32)}, [1.0, 2.0], options=Options(1e-4, 1e-6)
    )
    assert solution.y.dtype == np.float32
    np.testing.assert_allclose(solution.y, series_solution(np.array([1.0, 2.0]), 1.0, 1.0, 0.3), atol=1e-3)


def test_integers_are_taken_as_float64():
    assert integrate(DECAY, np.array([2]), 1, [1]).y.dtype == np.float64


def test_tolerances_per_component_and_as_traced_numbers():
    options = Options(rtol=1e-10, atol=(1e-3, 1e-12, 1e-12))
    solve = jax.jit(lambda options: integrate(SERIES, [1.0, 0.0, 0.0], {"k": np.array([1.0, 0.3])}, [1.0], options=options))
    loose, tight = solve(options), solve(Options(rtol=1e-10, atol=(1e-12, 1e-12, 1e-12)))
    assert loose.steps <= tight.steps
    np.testing.assert_allclose(tight.y[0], series_solution(1.0, 1.0, 1.0, 0.3), atol=1e-10)
    assert solve._cache_size() == 1


@pytest.mark.parametrize(
    ("y0", "times", "words"), [(1.0, [1.0], "y0 has shape ()"), ([1.0], 1.0, "times has shape ()"), ([1.0], [], "times has shape")]
)
def test_wrong_shapes_are_named(y0, times, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(").replace(")", r"\)")):
        integrate(DECAY, y0, 1.0, times)


def test_wrong_rhs_shape_is_named():
    with pytest.raises(ValueError, match="rhs gives an array of shape"):
        integrate(System(lambda t, y, args: y[:1]), [1.0, 2.0], None, [1.0])


def test_step_limit_counts_over_all_output_times():
    """Output times that need one step each use up the limit as well."""
    decay = System(lambda t, y, k: -k * y, autonomous=True)
    solution = integrate(decay, [1.0], 1e-6, jnp.arange(1.0, 11.0), options=Options(max_steps=4))
    assert int(solution.status) == Status.STEP_LIMIT and int(solution.steps + solution.rejected) == 4
    assert float(solution.t_reached) < 10.0 and np.isnan(solution.y[-1]).all()
