"""Derivatives in one sweep back through stored steps: equal to forward sensitivities, to closed forms and to differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from kinetix.solvers import Kept, Options, Solution, System, integrate, integrate_ensemble
from kinetix.solvers.integration import MANY
from kinetix.solvers.reading import read
from kinetix.solvers.scalars import NotScalar, recorded
from kinetix.solvers.transposition import transposed
from tests.solvers.systems import BLOW_UP, DECAY, DRIVEN, PROTHERO, ROBERTSON, ROBERTSON_K, SERIES

pytestmark = pytest.mark.usefixtures("x64")

Solve = Callable[[Array, Options], Array]


def _robertson(x: Array, options: Options) -> Array:
    """Stiff: in ln k and the start."""
    return integrate(ROBERTSON, x[3:], jnp.exp(x[:3]), np.array([0.4, 0.4, 40.0]), options=options).y


def _driven(x: Array, options: Options) -> Array:
    """y' = k t y in y0, k, t0 and both times."""
    return integrate(DRIVEN, x[:1], x[1], x[3:], t0=x[2], options=options).y


def _broken(x: Array, options: Options) -> Array:
    """Not autonomous and stiff; with breaks, one of them an output time, an output at the start, and what moves the times."""
    return integrate(PROTHERO, x[:1], (x[1], x[2]), jnp.array([0.0, 0.7, 1.0, 2.0]) * x[3], breaks=np.array([0.7, 1.5]), options=options).y


CASES = {
    "stiff": (_robertson, np.array([*np.log(ROBERTSON_K), 1.0, 0.0, 0.0])),
    "times": (_driven, np.array([1.2, 0.7, 0.4, 1.0, 1.9])),
    "breaks": (_broken, np.array([1.0, 1e3, 2.0, 1.0])),
}
ACCURATE = Options(1e-8, 1e-12)


def _loss(solve: Solve, options: Options, x: Array) -> Array:
    y = solve(x, options)
    return jnp.sum(jnp.linspace(-1.0, 2.0, y.size).reshape(y.shape) * y**2)


def _reverse(options: Options = ACCURATE, kept: Kept = Options.kept) -> Options:
    return replace(options, derivatives="reverse", kept=kept)


@pytest.mark.parametrize("case", CASES)
def test_equal_to_forward_sensitivities(case: str):
    solve, point = CASES[case]
    x = jnp.asarray(point)
    value, gradient = jax.jit(jax.value_and_grad(partial(_loss, solve, _reverse())))(x)
    expected_value, expected = jax.jit(jax.value_and_grad(partial(_loss, solve, Options(1e-8, 1e-12, derivatives="forward"))))(x)
    assert value == pytest.approx(float(expected_value), rel=1e-13)
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
    change = jax.jit(lambda x, dx: jax.jvp(partial(_loss, solve, _reverse()), (x,), (dx,))[1])(x, jnp.ones_like(x))
    assert change == pytest.approx(float(expected.sum()), rel=1e-9)


def test_stiff_gradient_against_central_differences():
    solve, point = CASES["stiff"]
    gradient = jax.grad(partial(_loss, solve, _reverse(Options(1e-11, 1e-15))))(jnp.asarray(point))
    loss, h = jax.jit(partial(_loss, solve, Options(1e-11, 1e-15))), 1e-4
    differences = [(loss(point + h * e) - loss(point - h * e)) / (2 * h) for e in np.eye(point.size)[:3]]
    np.testing.assert_allclose(gradient[:3], differences, rtol=1e-6)


@pytest.mark.parametrize("kept", [Kept(16, 64), Kept(7, 2), Kept(1, 1)], ids=["marks for all", "too few marks", "nothing but the start"])
def test_with_little_stored_steps_are_taken_again(kept: Kept):
    """With some 60 steps, more than are stored."""
    solve, point = CASES["stiff"]
    assert integrate(ROBERTSON, point[3:], np.exp(point[:3]), np.array([0.4, 40.0]), options=ACCURATE).steps > 50
    gradient = jax.grad(partial(_loss, solve, _reverse(kept=kept)))(jnp.asarray(point))
    np.testing.assert_allclose(gradient, jax.grad(partial(_loss, solve, _reverse()))(jnp.asarray(point)), rtol=1e-10)


def test_every_mode_and_order():
    """Of y = y0 exp(k (t^2 - t0^2)/2), in all arguments together."""

    def exactly(x: Array) -> Array:
        return x[0] * jnp.exp(x[1] * (x[3:] ** 2 - x[2] ** 2) / 2)

    def of(x: Array) -> Array:
        return _driven(x, _reverse(Options(1e-11, 1e-13)))[:, 0]

    x = jnp.asarray(CASES["times"][1])
    for mode in (jax.jacfwd, jax.jacrev):
        np.testing.assert_allclose(mode(of)(x), jax.jacfwd(exactly)(x), rtol=1e-8)
    for twice in (
        lambda f: jax.jacfwd(jax.grad(f)),
        lambda f: jax.jacrev(jax.grad(f)),
        lambda f: jax.grad(lambda x: jax.jvp(f, (x,), (x,))[1]),
    ):
        np.testing.assert_allclose(twice(lambda x: jnp.sum(of(x)))(x), twice(lambda x: jnp.sum(exactly(x)))(x), rtol=1e-7, atol=1e-8)


def test_lanes_and_a_shared_parameter():
    """Lanes of `vmap` with a constant in common, in and around the gradient."""
    starts = jnp.array([1.0, 2.0, 0.5])

    def lane(a: Array, k: Array) -> Array:
        return jnp.sum(integrate(SERIES, jnp.stack([a, 0.0 * a, 0.0 * a]), {"k": k}, np.array([0.5, 4.0]), options=_reverse()).y ** 2)

    k = jnp.array([1.0, 0.3])
    each = jax.jit(jax.vmap(jax.grad(lane, argnums=1), (0, None)))(starts, k)
    together = jax.jit(jax.grad(lambda k: jnp.sum(jax.vmap(lane, (0, None))(starts, k))))(k)
    np.testing.assert_allclose(together, each.sum(axis=0), rtol=1e-11)
    np.testing.assert_allclose(each[1], jax.grad(lane, argnums=1)(starts[1], k), rtol=1e-11)


def test_a_failed_lane_has_no_gradient_and_spoils_no_other():
    times, y0 = np.array([0.5, 2.0]), jnp.array([0.1, 1.0, jnp.nan])

    def lane(k: Array, y0: Array) -> Array:
        return integrate(BLOW_UP, y0[None], k, times, options=_reverse()).y[:, 0]

    reverse = jax.jit(jax.vmap(jax.jacrev(lane), (None, 0)))(1.0, y0)
    np.testing.assert_array_equal(np.isnan(reverse), [[False, False], [False, True], [True, True]])

    def masked(k: Array) -> Array:
        y = jax.vmap(lane, (None, 0))(k, y0)
        return jnp.sum(jnp.where(jnp.isfinite(y), y, 0.0))

    good = (y0[0] ** 2 * times / (1 - y0[0] * times) ** 2).sum() + 0.5 / 0.5**2
    np.testing.assert_allclose(jax.grad(masked)(1.0), good, rtol=1e-6)
    assert np.isnan(jax.grad(lambda k: jnp.sum(jax.vmap(lane, (None, 0))(k, y0)))(1.0))


@pytest.mark.parametrize(("count", "is_swept"), [(MANY - 1, False), (MANY, True)])
def test_the_choice_is_by_the_number_of_columns(count: int, is_swept: bool):
    """Decays with a constant each: d exp(-k t)/dk = -t exp(-k t)."""

    def of(k: Array) -> Array:
        return jnp.sum(integrate(DECAY, jnp.ones(count), k, np.array([2.0])).y)

    k = jnp.linspace(0.1, 2.0, count)
    assert ("kinetix_sweep" in str(jax.make_jaxpr(jax.grad(of))(k))) is is_swept
    np.testing.assert_allclose(jax.grad(of)(k), -2 * np.exp(-2 * k), rtol=1e-6)


def test_another_word_for_the_choice_is_refused():
    with pytest.raises(ValueError, match='"auto", "forward" or "reverse"'):
        Options(derivatives="backward")  # type: ignore[arg-type]  (what a type checker would refuse is tried here)
    with pytest.raises(ValueError, match="at least one step"):
        Options(kept=Kept(0, 1))


def _mixed(t: Array, y: Array, args: dict[str, Array]) -> Array:
    """Not autonomous, with every kind of dependence on args."""
    k = args["k"]
    r1, r2 = k[0] * y[0] * y[1] / (1 + args["K"] * y[1]), k[1] * jnp.exp(-t) * y[2]
    return jnp.stack([r2 - r1, r2 - r1, r1 - r2])


MIXED = System(_mixed)


@pytest.mark.parametrize("engine", ["ensemble", "lane by lane"])
def test_ensembles(engine: str):
    """Blocks of lanes against forward sensitivities of the general program: several times, breaks, a failed lane, all arguments."""
    lanes, random = 6, np.random.default_rng(3)
    point = {
        "y0": jnp.asarray(random.uniform(0.5, 1.5, (lanes, 3))),
        "k": jnp.asarray(10 ** random.uniform(-1, 3, (lanes, 2))),
        "K": jnp.asarray(random.uniform(0.1, 2.0, lanes)),
        "times": jnp.tile(jnp.array([0.0, 0.5, 0.5, 3.0]), (lanes, 1)),
    }
    point["y0"] = point["y0"].at[2].set(jnp.nan)
    breaks = jnp.full((lanes, 1), 1.0)

    def loss(solve: Callable, options: Options, x: dict[str, Array]) -> Array:
        y = solve(x["y0"], {"k": x["k"], "K": x["K"]}, x["times"], options).y
        return jnp.sum(jnp.where(jnp.isfinite(y), y, 0.0) ** 2 * jnp.arange(1.0, 4.0))

    def blocks(y0: Array, args: dict[str, Array], times: Array, options: Options) -> Solution:
        return integrate_ensemble(MIXED, y0, args, times, breaks=breaks, options=options, block=4)

    def alone(y0: Array, args: dict[str, Array], times: Array, options: Options) -> Solution:
        return jax.vmap(lambda y0, args, times, breaks: integrate(MIXED, y0, args, times, breaks=breaks, options=options))(
            y0, args, times, breaks
        )

    found = jax.jit(jax.grad(partial(loss, blocks if engine == "ensemble" else alone, _reverse(kept=Kept(20, 8)))))(point)
    expected = jax.jit(jax.grad(partial(loss, alone, ACCURATE)))(point)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-10, err_msg=name)
    if engine == "ensemble":
        along = jax.tree.map(lambda x: jnp.where(jnp.isfinite(x), 1.0, 0.0), point)
        change = jax.jit(lambda x: jax.jvp(partial(loss, blocks, _reverse()), (x,), (along,))[1])(point)
        assert change == pytest.approx(float(sum(jnp.sum(expected[name] * along[name]) for name in expected)), rel=1e-9)


def test_the_transpose_of_a_program():
    """Of (a x + b y / c, -x, y where a > 0 else 0): the transposed matrix."""

    def formulas(x: Array, y: Array, a: Array, b: Array, c: Array) -> Array:
        return jnp.stack([a * x + b * y / c, -x, jnp.where(a > 0, y, 0.0)])

    def function(v: list) -> list:
        return list(read(formulas, *v))

    program = transposed(recorded(function, [float] * 5), 2)
    inputs = [jnp.array([value]) for value in (1.0, 10.0, 100.0, 2.0, 3.0, 4.0)]
    np.testing.assert_allclose(np.ravel(program(inputs)), [2.0 - 10.0, 0.75 + 100.0])


def test_only_linear_programs_have_a_transpose():
    with pytest.raises(NotScalar, match="mul"):
        transposed(recorded(lambda v: [v[0] * v[1]], [float] * 2), 2)
