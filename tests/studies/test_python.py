"""The Python door: the same steps as a study file, without files where possible."""

import jax.numpy as jnp
import numpy as np
import pytest

import kinetix as kx

CHAIN = kx.parse_network("A -> B; B -> C")


def batch_rows(k1, k2, times):
    A = np.exp(-k1 * times)
    B = k1 / (k2 - k1) * (np.exp(-k1 * times) - np.exp(-k2 * times))
    return A, B


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    times = np.linspace(0.5, 10, 8)
    A, B = batch_rows(0.6, 0.25, times)
    path = tmp_path_factory.mktemp("data") / "runs.csv"
    path.write_text("time [s],A [mol/L],B [mol/L]\n" + "".join(f"{t},{a:.12g},{b:.12g}\n" for t, a, b in zip(times, A, B, strict=True)))
    return kx.read_csv(path, CHAIN)


@pytest.fixture(scope="module")
def fitted(campaign):
    known = {"initial.A": "1 mol/L", "initial.default": "0 mol/L"}
    return kx.fit(kx.Batch(CHAIN), campaign, {"r1.k": "1 1/s", "r2.k": kx.estimate("0.1 1/s", bounds=("0.01 1/s", "1 1/s"))}, known=known)


def test_fit_of_exact_data(fitted):
    values = fitted["parameters/value"]
    assert fitted.attrs["converged"] == 1
    assert float(values.sel(parameter="r1.k")) == pytest.approx(0.6, rel=1e-6)
    assert float(values.sel(parameter="r2.k")) == pytest.approx(0.25, rel=1e-6)
    assert fitted["predictions/predicted"].dtype == np.float64 and jnp.ones(1).dtype == jnp.float32


def test_result_knows_where_it_comes_from(fitted):
    assert fitted.attrs["kinetix_version"] == kx.__version__
    assert fitted.attrs["dtype"] == "float64" and fitted.attrs["device"]


def test_simulate_equals_the_closed_form():
    tree = kx.simulate(
        kx.Batch(CHAIN, responses={"X": "1 - [A]/initial[A]"}),
        {"r1.k": "0.6 1/s", "r2.k": "0.25 1/s", "initial.A": "1 mol/L", "initial.default": "0 mol/L"},
        times="0:10:6 s",
    )
    A, B = batch_rows(0.6, 0.25, np.linspace(0, 10, 6))
    predicted = tree["simulation/predicted"].sel(experiment="1")
    np.testing.assert_allclose(predicted.sel(response="A"), A, rtol=1e-7)
    np.testing.assert_allclose(predicted.sel(response="B"), B, rtol=0, atol=1e-8)
    np.testing.assert_allclose(predicted.sel(response="X"), 1 - A, rtol=0, atol=1e-7)


def test_o05_two_a():
    known = {"r1.k": "0.1 L/mol/s", "initial.A": "2 mol/L", "initial.B": "0 mol/L"}
    tree = kx.simulate(kx.Batch(kx.parse_network("2 A -> B")), known, times=[10.0])
    assert float(tree["simulation/predicted"].sel(response="A").item()) == pytest.approx(0.4, rel=1e-7)
    assert float(tree["simulation/predicted"].sel(response="B").item()) == pytest.approx(0.8, rel=1e-7)


def test_tank_with_a_rate_formula():
    network = kx.parse_network("A -> B")
    tree = kx.simulate(
        kx.CSTR(network, rates={"r1": "k*[A]/(1 + K*[A])"}),
        {"r1.k": "1 1/min", "r1.K": "2 L/mol", "feed.A": "1 mol/L", "feed.B": "0 mol/L"},
        conditions={"tau": "3 min"},
    )
    # (1 - a) (1 + 2 a) = 3 a
    a = (-2 + np.sqrt(4 + 8)) / 4
    assert float(tree["simulation/predicted"].sel(response="A").item()) == pytest.approx(a, rel=1e-10)


def test_measured_temperature_program_against_quadrature():
    """First order with Ea under a linear temperature ramp: ln A = -int k(T(t)) dt (Gauss-Legendre, 60 points)."""
    text = "time [s],T [K],A [mol/L]\n" + "".join(f"{t},{300 + 0.5 * t},\n" for t in (0, 40, 100)) + "100,350,0.5\n"
    import pathlib
    import tempfile

    path = pathlib.Path(tempfile.mkdtemp()) / "ramp.csv"
    path.write_text(text)
    network = kx.parse_network("A -> B")
    campaign = kx.read_csv(path, network)
    known = {"r1.A": "1e9 1/s", "r1.Ea": "75 kJ/mol", "initial.A": "1 mol/L", "initial.B": "0 mol/L"}
    tree = kx.simulate(kx.Batch(network), known, conditions=campaign)
    x, w = np.polynomial.legendre.leggauss(60)
    T = 300 + 0.5 * 50 * (x + 1)
    integral = 50 * np.sum(w * 1e9 * np.exp(-75e3 / 8.31446261815324 / T))
    last = tree["simulation/predicted"].sel(response="A").values[0, -1]
    assert last == pytest.approx(np.exp(-integral), rel=1e-7)


@pytest.mark.parametrize(
    ("start", "known", "words"),
    [
        ({}, {}, ["no initial concentration of A, B, C"]),
        ({"r1.k": "1 mol/L", "r2.k": "1 1/s"}, {"initial.default": "0 mol/L"}, ["r1.k", "mol/L", "1/time"]),
        ({"r9.k": "1 1/s"}, {}, ["r9.k", "no reaction"]),
        ({"r1.k": "1 1/s", "r2.k": "1 1/s"}, {}, ["initial", "A, B, C"]),
        ({"r1.k": "1 1/s", "r2.k": "1 1/s"}, {"initial.Q": "1 mol/L"}, ["Q", "no species"]),
    ],
)
def test_what_is_missing_is_told(campaign, start, known, words):
    with pytest.raises(kx.InputError) as error:
        kx.fit(kx.Batch(CHAIN), campaign, start, known=known)
    assert all(word in str(error.value) for word in words), str(error.value)
