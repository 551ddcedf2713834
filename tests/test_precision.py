"""float64 without the user doing anything: threads, nested jit, grad, vmap, and a float32 host with warnings as errors."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetix.precision import float64, lift


def decay(c0, k, times):
    """c0 exp(-k t), with an integer beside it as solves have."""
    return {"c": c0 * jnp.exp(-k * times), "status": jnp.int32(0)}


predict = lift(decay)
TIMES = np.array([0.0, 1.0, 3.0])


def scalar(c0, k):
    return jnp.sum(predict(c0, k, TIMES)["c"] ** 2)


def exact(c0, k):
    return np.sum((c0 * np.exp(-k * TIMES)) ** 2)


def test_suite_runs_in_32_bit_mode():
    assert jnp.ones(1).dtype == jnp.float32


def test_concrete_call_gives_numpy_float64():
    out = predict(2.0, 0.5, TIMES)
    assert isinstance(out["c"], np.ndarray) and out["c"].dtype == np.float64
    np.testing.assert_allclose(out["c"], 2 * np.exp(-0.5 * TIMES), rtol=1e-15)
    assert predict(np.float32(2), np.float32(0.5), TIMES.astype(np.float32))["c"].dtype == np.float64


def test_after_float32_arrays_were_built():
    built = jnp.ones(3)
    out = predict(built[0], 0.1, TIMES)
    np.testing.assert_allclose(out["c"], np.exp(-0.1 * TIMES), rtol=1e-15)
    assert built.dtype == jnp.float32


def test_nothing_global_changes():
    before = jax.config.values.copy()
    predict(1.0, 1.0, TIMES)
    assert jax.config.values == before and jnp.ones(1).dtype == jnp.float32


def test_threads_are_float64_too():
    results = {}

    def work(i):
        results[i] = predict(1.0, 1e-9 * (i + 1), TIMES)["c"]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    for i in range(4):
        np.testing.assert_allclose(results[i], np.exp(-1e-9 * (i + 1) * TIMES), rtol=1e-15)


def test_float32_host_transforms():
    c0, k = jnp.float32(2.0), jnp.float32(0.5)
    value, grad = jax.jit(jax.value_and_grad(scalar, argnums=(0, 1)))(c0, k)
    assert value.dtype == jnp.float32 and grad[1].dtype == jnp.float32
    np.testing.assert_allclose(value, exact(2.0, 0.5), rtol=1e-6)
    np.testing.assert_allclose(grad[0], 2 * exact(2.0, 0.5) / 2.0, rtol=1e-6)
    dk = np.sum(2 * (2 * np.exp(-0.5 * TIMES)) ** 2 * -TIMES)
    np.testing.assert_allclose(grad[1], dk, rtol=1e-6)
    np.testing.assert_allclose(jax.jacfwd(scalar, argnums=1)(c0, k), dk, rtol=1e-6)
    ks = jnp.linspace(0.1, 1.0, 4)
    batch = jax.vmap(jax.grad(scalar, argnums=1), (None, 0))(c0, ks)
    np.testing.assert_allclose(batch, [np.sum(-2 * TIMES * 4 * np.exp(-2 * x * TIMES)) for x in np.asarray(ks)], rtol=1e-5)


@pytest.mark.parametrize("mode", ["forward over reverse", "reverse over reverse", "forward over forward"])
def test_second_derivatives(mode):
    outer, inner = {
        "forward over reverse": (jax.jacfwd, jax.jacrev),
        "reverse over reverse": (jax.jacrev, jax.jacrev),
        "forward over forward": (jax.jacfwd, jax.jacfwd),
    }[mode]
    second = outer(inner(scalar, argnums=1), argnums=1)(jnp.float32(2.0), jnp.float32(0.5))
    np.testing.assert_allclose(second, np.sum(4 * TIMES**2 * 4 * np.exp(-TIMES)), rtol=1e-5)


def test_64_bit_host_is_passed_through():
    with float64():
        grad = jax.jit(jax.grad(scalar, argnums=1))(jnp.float64(2.0), jnp.float64(0.5))
        assert grad.dtype == jnp.float64
        np.testing.assert_allclose(grad, np.sum(-2 * TIMES * 4 * np.exp(-TIMES)), rtol=1e-14)


def test_every_argument_has_its_gradient():
    grads = jax.grad(lambda c0, k, t: jnp.sum(predict(c0, k, t)["c"]), argnums=(0, 1, 2))(
        jnp.float32(2.0), jnp.float32(0.5), jnp.asarray(TIMES, jnp.float32)
    )
    decayed = np.exp(-0.5 * TIMES)
    np.testing.assert_allclose(grads[0], decayed.sum(), rtol=1e-6)
    np.testing.assert_allclose(grads[1], (-2 * TIMES * decayed).sum(), rtol=1e-6)
    np.testing.assert_allclose(grads[2], -decayed, rtol=1e-6)


def test_an_array_that_was_a_32_bit_constant_stays_double():
    """JAX 0.10 remembers a NumPy constant's float32 form; kinetix must not see it."""
    T = np.array([340.123456789])

    def scaled(x, T):
        return predict(x, 0.0, T - T + 1.0)["c"] * 0.0 + lift(lambda x, T: x * T)(x, T)

    jax.jit(lambda x: jnp.sum(T * x))(jnp.float32(1.0))
    jax.jit(lambda x: jnp.sum(jnp.asarray(T) * x))(jnp.float32(1.0))
    with float64():
        assert float(jax.jit(lambda x: jnp.sum(scaled(x, T)))(jnp.float64(1.0))) == pytest.approx(340.123456789, rel=1e-15)
