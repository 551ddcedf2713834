"""Networks of 40 species and more, whose steps run as tables: the states of SciPy's Radau, the digits and steps of the general program."""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetix.solvers import Engine, Options, System, integrate
from kinetix.solvers.scalars import Scalar, recorded
from kinetix.solvers.tables import table_of, with_rows
from kinetix.status import Status
from tests.solvers.systems import PROTHERO, SERIES, series_solution

pytestmark = pytest.mark.usefixtures("x64")

SPECIES, REACTIONS, LANES = 44, 110, 9
RANDOM = np.random.default_rng(3)
TABLES = Engine(lanes=1, operations=0)
TIMES = np.array([1e-3, 1.0])


@cache
def network():
    """Random mass action of one or two species to one or two; every reaction keeps the mass, and constants span ten decades."""
    random = np.random.default_rng(11)
    mass = 2.0 ** random.integers(0, 3, SPECIES)
    mass[:12] = np.repeat([1.0, 2.0, 4.0], 4)
    before, after = np.zeros((REACTIONS, SPECIES)), np.zeros((REACTIONS, SPECIES))
    done = 0
    while done < REACTIONS:
        left, right = (random.choice(SPECIES, random.integers(1, 3), replace=False) for _ in range(2))
        if mass[left].sum() == mass[right].sum() and not set(left) & set(right):
            before[done, left], after[done, right] = 1.0, 1.0
            done += 1
    return before, (after - before).T, mass, 10 ** random.uniform(-4, 6, REACTIONS)


BEFORE, NET, MASS, K = network()
SLOTS = np.array([[*np.flatnonzero(row), SPECIES][:2] for row in BEFORE])


def rates(t, y, k):
    filled = jnp.concatenate([y, jnp.ones(1, y.dtype)])[SLOTS]
    return NET @ (k * filled[:, 0] * filled[:, 1])


def jacobian(t, y, k):
    filled = jnp.concatenate([y, jnp.ones(1, y.dtype)])[SLOTS]
    unit = np.eye(SPECIES + 1, SPECIES)
    slopes = (k * filled[:, 1])[:, None] * unit[SLOTS[:, 0]] + (k * filled[:, 0])[:, None] * unit[SLOTS[:, 1]]
    return NET @ slopes


LARGE = System(rates, jacobian, autonomous=True)
STARTS = np.where(np.arange(SPECIES) < 12, RANDOM.uniform(0.1, 1.0, (LANES, SPECIES)), 0.0)
CONSTANTS = K * 10 ** RANDOM.uniform(-0.3, 0.3, (LANES, 1))
OPTIONS = Options(1e-8, 1e-12)


def solved(engine, starts=STARTS, constants=CONSTANTS, options=OPTIONS):
    return jax.jit(jax.vmap(lambda y0, k: integrate(LARGE, y0, k, TIMES, options=options, engine=engine)))(starts, constants)


@cache
def by_tables():
    return solved(Engine(large_lanes=LANES, block=4))


def test_radau_finds_the_same_states():
    many = by_tables()
    assert (many.status == Status.SUCCESS).all()
    for lane in (0, 5, 8):

        def right(t, y, k=CONSTANTS[lane]):
            return NET @ (k * np.append(y, 1.0)[SLOTS].prod(axis=1))

        def slope(t, y, k=CONSTANTS[lane]):
            c = np.append(y, 1.0)[SLOTS]
            slopes = np.zeros((REACTIONS, SPECIES + 1))
            np.add.at(slopes, (np.arange(REACTIONS)[:, None], SLOTS), k[:, None] * c[:, ::-1])
            return NET @ slopes[:, :SPECIES]

        radau = solve_ivp(right, (0.0, 1.0), STARTS[lane], "Radau", TIMES, jac=slope, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(many.y[lane], radau.y.T, rtol=2e-6, atol=1e-10)


def test_the_general_program_takes_the_same_steps():
    one, many = solved(Engine(lanes=10**9, large_lanes=10**9)), by_tables()
    np.testing.assert_allclose(many.y, one.y, rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(many.steps, one.steps)
    np.testing.assert_array_equal(many.rejected, one.rejected)
    np.testing.assert_array_equal(many.status, one.status)
    np.testing.assert_array_equal(many.t_reached, one.t_reached)


def test_mass_is_kept():
    np.testing.assert_allclose(by_tables().y @ MASS, np.broadcast_to((STARTS @ MASS)[:, None], (LANES, 2)), rtol=1e-12)


def test_a_failed_lane_leaves_its_neighbours_bit_for_bit_alone():
    spoiled = STARTS.copy()
    spoiled[3, 5] = np.nan
    mixed, healthy = solved(Engine(large_lanes=LANES, block=4), spoiled), by_tables()
    assert mixed.status[3] == Status.NON_FINITE and np.isnan(mixed.y[3]).all()
    good = np.arange(LANES) != 3
    np.testing.assert_array_equal(mixed.steps[good], healthy.steps[good])
    np.testing.assert_allclose(mixed.y[good], healthy.y[good], rtol=1e-15)


def test_size_and_lanes_choose():
    """Which program runs is seen in what is traced: blocks stand behind a barrier."""

    def traced(engine, lanes):
        def solve(y0, k):
            return jax.vmap(lambda y0, k: integrate(LARGE, y0, k, TIMES, engine=engine))(y0, k)

        return "optimization_barrier" in str(jax.make_jaxpr(solve)(np.ones((lanes, SPECIES)), np.ones((lanes, REACTIONS))))

    assert [traced(Engine(), lanes) for lanes in (63, 64)] == [False, True]
    assert not traced(Engine(largest=SPECIES - 1), 64) and not traced(Engine(large=SPECIES), 64)


# Small systems by tables, for what the large network does not show


def test_derivatives_against_the_closed_form():
    k = RANDOM.uniform(0.1, 3.0, (5, 2))
    starts = np.concatenate([RANDOM.uniform(0.5, 2.0, (5, 1)), np.zeros((5, 2))], axis=1)
    times = np.sort(RANDOM.uniform(0.1, 5.0, (5, 3)), axis=1)

    def ours(theta, scale, times):
        solve = jax.vmap(lambda y0, k, times: integrate(SERIES, y0, {"k": k}, times, engine=TABLES).y)
        return solve(scale * starts, jnp.exp(theta) * k, times)

    def exact(theta, scale, times):
        return jax.vmap(lambda t, a0, k: series_solution(t, a0, k[0], k[1]))(times, scale * starts[:, 0], jnp.exp(theta) * k)

    at = (jnp.array([0.1, -0.2]), jnp.array(1.3), jnp.asarray(times))
    along = (jnp.array([0.3, 1.0]), jnp.array(0.7), jnp.asarray(RANDOM.uniform(size=times.shape)))
    np.testing.assert_allclose(jax.jit(lambda: jax.jvp(ours, at, along)[1])(), jax.jvp(exact, at, along)[1], atol=5e-8)


def test_time_dependence_and_failures():
    args, times = (np.array([1.0, 50.0, 1e4]), np.array([1.0, 2.0, 0.5])), np.array([[0.7, 3.0]] * 3)
    most = np.array([10_000, 10_000, 3])
    forced = jax.jit(
        jax.vmap(lambda args, times, most: integrate(PROTHERO, [1.0], args, times, options=Options(max_steps=most), engine=TABLES))
    )
    solution = forced(args, times, most)
    np.testing.assert_allclose(solution.y[:2, :, 0], np.cos(args[1][:2, None] * times[:2]), atol=1e-7)
    assert solution.status.tolist() == [Status.SUCCESS, Status.SUCCESS, Status.STEP_LIMIT] and np.isnan(solution.y[2]).all()


def test_a_table_computes_what_its_program_does():
    """Sums within sums, products used twice, numbers, comparisons: against NumPy."""

    def written(x: list[Scalar]):
        a, b, c = x
        product = a * b
        total = c - a * c + product - 3.0 * b
        return [total, -(product - total / b), total + product, a, 2.5, (a + b) - (b + c), c - (a + b + c)]

    table = table_of(recorded(written, [np.float64] * 3))
    a, b, c = numbers = RANDOM.uniform(1.0, 2.0, (3, 4))
    registers = np.asarray(table.run(with_rows(table.start(4), jnp.asarray(numbers), 0)))
    total = c - a * c + a * b - 3 * b
    expected = [total, total / b - a * b, total + a * b, a, np.full(4, 2.5), (a + b) - (b + c), c - (a + b + c)]
    np.testing.assert_allclose(registers[table.outputs], expected, rtol=1e-14, atol=1e-14)
