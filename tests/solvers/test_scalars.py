"""Functions of arrays read as programs of scalars: the same numbers, and nothing computed that is structurally zero."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.solvers.layouts import Layout, Template
from kinetix.solvers.reading import read
from kinetix.solvers.scalars import NotScalar, ScalarProgram, entries, recorded

pytestmark = pytest.mark.usefixtures("x64")

STOICHIOMETRY = np.array([[-1.0, 1.0, 0.0], [1.0, -1.0, -1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
SLOTS = np.array([0, 1, 1])


def production(c, k):
    """A <=> B -> C beside an inert: nu r."""
    return STOICHIOMETRY @ (k * c[SLOTS])


def program_of(function, *shapes) -> ScalarProgram:
    layout = Layout.of_lanes(tuple(jax.ShapeDtypeStruct((1, *shape), float) for shape in shapes))
    return recorded(lambda x: entries(np.ravel(read(function, *layout.unpacked(x)))), layout.types)


def names(program: ScalarProgram) -> list[str]:
    return [step.primitive.name for step in program.instructions]


def run(program: ScalarProgram, *arrays) -> np.ndarray:
    """For arrays with a leading lane axis, [lane, output]."""
    return np.stack(program([x for array in arrays for x in jnp.asarray(array).reshape(len(array), -1).T]), axis=1)


def test_products_with_zeros_of_the_stoichiometry_vanish():
    program = program_of(production, (4,), (3,))
    assert sorted(names(program)) == ["add", "mul", "mul", "mul", "sub", "sub"] or names(program).count("mul") == 3
    c, k = np.random.default_rng(0).uniform(0.1, 1, (5, 4)), np.random.default_rng(1).uniform(0.1, 1, (5, 3))
    np.testing.assert_allclose(run(program, c, k), jax.vmap(production)(c, k), rtol=1e-15)


def test_jacobians_come_from_the_trace_and_keep_their_zeros():
    program = program_of(jax.jacfwd(production), (4,), (3,))
    assert not program.instructions or set(names(program)) <= {"neg", "sub", "add"}  # of a linear system, only constants
    k = np.array([[2.0, 3.0, 5.0]])
    expected = [[-2, 3, 0, 0], [2, -8, 0, 0], [0, 5, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(run(program, np.ones((1, 4)), k).reshape(4, 4), expected)


def test_equal_operations_are_written_once():
    program = program_of(lambda c: jnp.stack([c[0] * c[1], c[1] * c[0] + c[0] * c[1]]), (2,))
    assert names(program) == ["mul", "add"]


def test_what_nothing_depends_on_is_not_computed():
    assert names(program_of(lambda c: (jnp.exp(c), c[:1] * c[1:])[1], (2,))) == ["mul"]


@pytest.mark.parametrize(
    "function",
    [
        lambda c: jnp.where(jnp.array([True, False, True]), c, 2 * c) - jnp.maximum(c, 0.3),
        lambda c: jnp.sum(c**2) / jnp.sqrt(jnp.mean(jnp.abs(c))) + jnp.max(c) * jnp.flip(c),
        lambda c: jnp.outer(c, c)[:, 1] @ jnp.eye(3) + jnp.concatenate([c[1:], jnp.ones(1)]),
        lambda c: jnp.clip(jnp.exp(-c) ** 1.5, 0.1, 0.9) + jnp.where(c > 0.5, c, jnp.log(c)),
        lambda c: jax.jvp(lambda c: jax.jvp(lambda c: c[0] ** 2 * jnp.exp(-c / c[1]), (c,), (jnp.ones(3),))[1], (c,), (c,))[1],
        lambda c: jnp.stack([c, c[jnp.array([2, 0, 1])]]).reshape(-1)[::2] * c.astype(jnp.float32).astype(float),
        lambda c: jnp.where(jnp.all(jnp.isfinite(c)) & (jnp.min(c) < 0.5), c.T, -c),
    ],
)
def test_any_straight_line_function_gives_its_own_numbers(function):
    c = np.random.default_rng(2).uniform(0.1, 1, (7, 3))
    np.testing.assert_allclose(run(program_of(function, (3,)), c), jax.vmap(function)(c), rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda c: jax.lax.fori_loop(0, 3, lambda i, c: c * c, c), "while|scan"),
        (lambda c: jax.lax.cond(c[0] > 0, lambda c: c, lambda c: -c, c), "cond"),
        (lambda c: c[jnp.argmax(c)][None], "argmax"),
        (lambda c: jnp.sort(c), "sort"),
    ],
)
def test_loops_branches_and_searches_are_refused_by_name(function, what):
    with pytest.raises(NotScalar, match=what):
        program_of(function, (3,))


def test_a_template_keeps_known_numbers_out_of_the_inputs():
    kept = []

    def function(x):
        matrix = entries([x[0], 0.0, 0.0, x[1]], (2, 2))
        kept.append(Template.of({"matrix": matrix, "x": x[0]}))
        return kept[0].dynamic({"matrix": matrix, "x": x[0]})

    recorded(function, [float, float])
    (template,) = kept
    assert template.size == 3
    filled = template.filled(["a", "b", "c"])
    assert filled["matrix"].tolist() == [["a", 0.0], [0.0, "b"]]
    assert filled["x"] == "c"
