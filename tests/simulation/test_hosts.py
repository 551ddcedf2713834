"""`predict` in host programs: a 32-bit host with warnings as errors, a 64-bit host, threads."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kinetix as kx

A_EA = {"r1.A": "2e6 1/min", "r1.Ea": "50 kJ/mol", "r2.k": "0.1 1/min"}


def tanks(tau):
    reactor = kx.CSTR(kx.parse_network("A -> B; B -> C"))
    given = kx.problem(reactor, {**A_EA, "feed.A": "1 mol/L", "feed.default": "0 mol/L"}, conditions={"tau": "1 min", "T": "340 K"})
    lanes = {name: np.repeat(array, len(tau), axis=0) for name, array in given.lanes.items()}
    return given, {**lanes, "tau": np.asarray(tau)}


def closed_form(k1, k2, tau):
    A = 1000 / (1 + k1 * tau)
    return A, k1 * tau * A / (1 + k2 * tau)


@pytest.fixture(scope="module")
def case():
    given, lanes = tanks([30.0, 60.0, 300.0])
    k1 = 2e6 / 60 * np.exp(-50e3 / 8.31446261815324 / 340)
    return given, lanes, k1, 0.1 / 60


def test_concrete_call(case):
    given, lanes, k1, k2 = case
    values = kx.predict(given.model, given.parameters, lanes).values
    A, B = closed_form(k1, k2, lanes["tau"])
    assert isinstance(values, np.ndarray) and values.dtype == np.float64
    np.testing.assert_allclose(values[:, 0, 0], A, rtol=1e-12)
    np.testing.assert_allclose(values[:, 0, 1], B, rtol=1e-12)


def test_float32_host(case):
    given, lanes, k1, k2 = case
    p = jnp.asarray(given.parameters, jnp.float32)

    def loss(p, tau):
        return jnp.sum(kx.predict(given.model, p, {**lanes, "tau": tau}).values[:, 0, 0])

    tau = jnp.asarray(lanes["tau"], jnp.float32)
    value, (by_p, by_tau) = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))(p, tau)
    assert value.dtype == jnp.float32 and by_tau.dtype == jnp.float32
    A, _ = closed_form(k1, k2, lanes["tau"])
    np.testing.assert_allclose(value, A.sum(), rtol=1e-6)
    np.testing.assert_allclose(by_tau, -k1 * A**2 / 1000, rtol=1e-5)
    dA_dk = -lanes["tau"] * A**2 / 1000
    np.testing.assert_allclose(by_p[0], dA_dk.sum() * k1 / given.parameters[0], rtol=1e-5)
    batch = jax.jit(jax.vmap(jax.jacrev(lambda p: kx.predict(given.model, p, lanes).values[:, 0, 0])))(jnp.stack([p, p]))
    np.testing.assert_allclose(batch[1, :, 0], dA_dk * k1 / given.parameters[0], rtol=1e-5)
    hessian = jax.jit(jax.jacfwd(jax.jacrev(loss, argnums=1), argnums=1))(p, tau)
    np.testing.assert_allclose(np.diag(hessian), 2 * k1**2 * A**3 / 1e6, rtol=1e-4)
    np.testing.assert_array_equal(hessian - np.diag(np.diag(hessian)), 0)


def test_float64_host(case):
    given, lanes, k1, k2 = case
    with kx.float64():
        gradient = jax.jit(jax.grad(lambda tau: jnp.sum(kx.predict(given.model, given.parameters, {**lanes, "tau": tau}).values[:, 0, 0])))
        slope = gradient(jnp.asarray(lanes["tau"]))
    A, _ = closed_form(k1, k2, lanes["tau"])
    assert slope.dtype == jnp.float64
    np.testing.assert_allclose(slope, -k1 * A**2 / 1000, rtol=1e-11)


def test_threads(case):
    given, lanes, k1, k2 = case
    results = {}

    def work(i):
        results[i] = kx.predict(given.model, given.parameters, lanes).values

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        np.testing.assert_allclose(results[i][:, 0, 0], closed_form(k1, k2, lanes["tau"])[0], rtol=1e-12)


@pytest.mark.parametrize(("temperature", "compiled"), [("constant", False), ("program", True)])
def test_batch_in_a_float32_host(temperature, compiled):
    reactor = kx.Batch(kx.parse_network("A -> B"))
    known = {"r1.A": "2e6 1/min", "r1.Ea": "50 kJ/mol", "initial.A": "1 mol/L", "initial.B": "0 mol/L"}
    given = kx.problem(reactor, known, conditions={"T": "340 K"}, times=[0.0, 60.0, 300.0])
    lanes = dict(given.lanes)
    if temperature == "program":
        del lanes["T"]
        lanes |= {"program_times": np.array([[0.0, 300.0]]), "program_T": np.array([[340.0, 340.0]])}
    k = 2e6 / 60 * np.exp(-50e3 / 8.31446261815324 / 340)
    t = np.array([0.0, 60.0, 300.0])

    def loss(p):
        return jnp.sum(kx.predict(given.model, p, lanes).values[0, :, 0])

    value_and_grad = jax.value_and_grad(loss)
    value, slope = (jax.jit(value_and_grad) if compiled else value_and_grad)(jnp.asarray(given.parameters, jnp.float32))
    assert value.dtype == jnp.float32
    np.testing.assert_allclose(value, 1000 * np.exp(-k * t).sum(), rtol=1e-6)
    np.testing.assert_allclose(slope[0] * given.parameters[0], (-1000 * k * t * np.exp(-k * t)).sum(), rtol=1e-5)
