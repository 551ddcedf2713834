"""The Python door: the same steps as a study file, without files where possible."""

import warnings

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


BATCH = kx.Batch(kx.parse_network("A -> B"))
KNOWN = {"r1.k": "1 1/s", "initial.A": "1 mol/L", "initial.B": "0 mol/L"}


@pytest.mark.parametrize(
    ("reactor", "known", "options", "words"),
    [
        (
            BATCH,
            {**KNOWN, "r1.Eaa": "1 kJ/mol"},
            {},
            "Reaction 'r1': nothing uses Eaa. Write rate = \"...\" or law = \"...\" with it, or remove it. Did you mean 'Ea'?",
        ),
        (
            kx.Batch(BATCH.network, rates={"r1": 3}),
            KNOWN,
            {},
            '[reactions] r1.rate: expected text, found 3. rate: rate as a formula, for example "kf*[A]*[B]/(1 + K*[A])^2".',
        ),
        (kx.Batch(BATCH.network, rates={"r2": "k*[A]"}), KNOWN, {}, "No reaction 'r2' in the network; it has r1."),
        (
            kx.Batch(BATCH.network, responses={"X": "1 - [A"}),
            KNOWN,
            {},
            "Response 'X': cannot read the formula '1 - [A': column 5: the bracket '[' is not closed by ']'.",
        ),
        (
            BATCH,
            KNOWN,
            {"times": [1, 0]},
            'Times [1, 0]: expected increasing times, none below 0, for example ["0 s", "60 s", "300 s"].',
        ),
        (
            BATCH,
            KNOWN,
            {"times": None},
            'No times to simulate. Write times = "0:60:61 min" under [simulate]; in Python times="0:60:61 min".',
        ),
        (BATCH, KNOWN, {"atol": "1e-9"}, "atol: '1e-9' has no unit: write one after the number, for example '1e-9 mol/L'."),
        (
            BATCH,
            KNOWN,
            {"conditions": {"tau": "1 min"}},
            "[conditions] tau: a batch reactor has no such condition (known: T, P).",
        ),
        (
            BATCH,
            KNOWN,
            {"conditions": {"T": 300}},
            "[conditions] T: '300' has no unit: write one after the number, for example '300 K'.",
        ),
        (
            kx.CSTR(BATCH.network),
            {"r1.k": "1 1/s", "feed.default": "1 mol/L"},
            {"conditions": {"tau": "1 min"}},
            "times: nothing in a cstr reactor depends on time. Leave them out.",
        ),
    ],
)
def test_what_cannot_be_simulated_is_told(reactor, known, options, words):
    with pytest.raises(kx.InputError) as error:
        kx.simulate(reactor, known, **{"times": [0, 1], **options})
    assert str(error.value) == words


def test_a_campaign_has_its_own_times(campaign):
    with pytest.raises(kx.InputError, match=r"^times: the campaign has its own. Leave them out.$"):
        kx.simulate(kx.Batch(CHAIN), KNOWN, conditions=campaign, times=[0, 1])


def test_a_campaign_with_sigma_is_simulated_as_it_is(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("time [s],A [mol/L],sigma_A [mol/L]\n1,0.4,0.01\n2,0.1,0.01\n")
    tree = kx.simulate(BATCH, KNOWN, conditions=kx.read_csv(path, BATCH))
    np.testing.assert_allclose(tree["simulation/predicted"].sel(response="A")[0], np.exp([-1, -2]), rtol=1e-7)


def test_a_reactor_takes_a_network():
    with pytest.raises(kx.InputError, match=r"^A reactor takes a network, found 'A -> B'. Write parse_network\(\"A -> B\"\).$"):
        kx.Batch("A -> B")


def test_constants_of_a_rate_formula_have_names_of_their_own():
    """r = Vmax A/(Km + A) in a tank: a quadratic in A."""
    reactor = kx.CSTR(BATCH.network, rates={"r1": "Vmax*[A]/(Km + [A])"})
    known = {"r1.Vmax": "0.2 mol/L/min", "r1.Km": "0.5 mol/L", "feed.A": "1 mol/L", "feed.B": "0 mol/L"}
    tree = kx.simulate(reactor, known, conditions={"tau": "3 min"})
    half = (1 - 0.5 - 0.2 * 3) / 2
    assert float(tree["simulation/predicted"].sel(response="A").item()) == pytest.approx(half + np.sqrt(half**2 + 0.5), rel=1e-10)


# ---------------------------------------------------------------------------------------------------- options of a fit


def straight(tmp_path, **options):
    """A tank seen through the rate [A]/tau = k [A] of four readings: k by weighted means in closed form."""
    path = tmp_path / "rates.csv"
    path.write_text("A [mol/L],rate[r1] [mol/L/min]\n1,0.11\n2,0.19\n4,0.42\n8,0.78\n")
    reactor = kx.Differential(kx.parse_network("A -> B"))
    return reactor, kx.read_csv(path, reactor, **options)


def test_a_relative_sigma_weighs_by_the_value(tmp_path):
    reactor, campaign = straight(tmp_path, noise={"rate[r1]": {"relative": "5 %"}})
    tree = kx.fit(reactor, campaign, {"r1.k": "1 1/min"}, sigma="trusted")
    c, r = np.array([1.0, 2.0, 4.0, 8.0]), np.array([0.11, 0.19, 0.42, 0.78])
    w = (1 / (0.05 * r)) ** 2
    k = np.sum(w * c * r) / np.sum(w * c**2)
    assert float(tree["parameters/value"][0]) == pytest.approx(k, rel=1e-9)
    assert float(tree["parameters/stderr"][0]) == pytest.approx(1 / np.sqrt(np.sum(w * c**2)), rel=1e-7)
    assert float(tree["statistics/chi_square"]) == pytest.approx(np.sum(w * (k * c - r) ** 2), rel=1e-9)


def test_a_relative_and_a_constant_sigma_are_added_in_squares(tmp_path):
    _, campaign = straight(tmp_path, noise={"rate[r1]": {"relative": "5 %", "constant": "0.01 mol/L/min"}})
    expected = np.hypot(0.01, 0.05 * np.array([0.11, 0.19, 0.42, 0.78])) * 1000 / 60
    np.testing.assert_allclose(campaign.sigma[campaign.mask], expected)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sigma": "trustd"}, 'sigma = \'trustd\': expected "trusted" (given standard deviations as they are) or "scaled"'),
        ({"sigma": "trustd"}, "Did you mean 'trusted'?"),
        ({"rtol": 2.0}, "rtol = 2.0: expected a number above 0 and below 1"),
        ({"rtol": -1.0}, "rtol = -1.0: expected a number above 0 and below 1"),
        ({"atol": "0 mol/L"}, 'atol is 0 mol/m^3: expected a concentration above 0, for example "1e-9 mol/L"'),
        ({"atol": "1 s"}, "atol has unit s (time)"),
        ({"max_iterations": 0}, "max_iterations = 0: expected a whole number from 1 on"),
        ({"max_seconds": -1}, "max_seconds = -1: expected a number from 0 on"),
    ],
)
def test_options_that_mean_nothing_are_refused(tmp_path, options, words):
    reactor, campaign = straight(tmp_path)
    with pytest.raises(kx.InputError) as refused:
        kx.fit(reactor, campaign, {"r1.k": "1 1/min"}, **options)
    assert words in str(refused.value)


def test_the_absolute_tolerance_of_a_fit(campaign):
    known = {"initial.A": "1 mol/L", "initial.default": "0 mol/L"}
    tree = kx.fit(kx.Batch(CHAIN), campaign, {"r1.k": "1 1/s", "r2.k": "0.1 1/s"}, known=known, atol="1e-10 mol/L")
    np.testing.assert_allclose(tree["parameters/value"].values, [0.6, 0.25], rtol=1e-6)


def test_what_looks_wrong_in_the_data_stands_in_the_report(tmp_path):
    (tmp_path / "celsius.csv").write_text("tau [min],T [K],A [mol/L]\n2,25,0.51\n4,35,0.33\n8,45,0.20\n", encoding="utf-8")
    tank = kx.CSTR(kx.parse_network("A -> B"))
    with pytest.warns(kx.KinetixWarning, match="Did you mean 25 degC"):
        campaign = kx.read_csv(tmp_path / "celsius.csv", tank)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kx.KinetixWarning)
        tree = kx.fit(tank, campaign, {"r1.k": "0.3 1/min"}, known={"feed.A": "1 mol/L", "feed.B": "0 mol/L"})
    assert "Did you mean 25 degC" in tree.attrs["warnings"]
    assert "Did you mean 25 degC" in kx.text_report(tree)


def test_an_order_is_given_once():
    batch = kx.Batch(kx.parse_network("A -> B"), orders={"r1": {"A": 1.5}})
    with pytest.raises(kx.InputError, match=r"r1.order.A is given twice: in the orders of the reactor and as a parameter"):
        kx.simulate(batch, {"r1.k": "1 mol/L/s", "r1.order.A": 2.0, "initial.default": "1 mol/L"}, times=[0.0, 1.0])


def test_an_estimate_may_have_no_start():
    assert kx.estimate() == {} and kx.estimate(unit="1/h", bounds=("0.1 1/h", "9 1/h")) == {"bounds": ["0.1 1/h", "9 1/h"], "unit": "1/h"}


SETUP = kx.Batch(CHAIN)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda data: kx.parse_network(["A -> B"]),
            "parse_network takes the reactions as one text, found ['A -> B']. Write \"A -> B; B -> C\"",
        ),
        (lambda data: kx.fit(data, SETUP), "fit: the reactor comes first, then the data. Write fit(reactor, campaign, ...)."),
        (lambda data: kx.fit(data, CHAIN), "fit: the reactor comes first, then the data."),
        (lambda data: kx.fit(CHAIN, data), "fit: expected a reactor first, found a network. Write fit(Batch(network), ...)"),
        (
            lambda data: kx.fit("batch", data),
            "fit: expected a reactor first, found str 'batch'. Write fit(Batch(parse_network(...)), ...).",
        ),
        (
            lambda data: kx.fit(SETUP, "runs.csv"),
            "fit: expected data second, found str 'runs.csv'. Write fit(reactor, read_csv(path, reactor)",
        ),
        (lambda data: kx.fit(SETUP, data, "r1.k"), 'fit: start is a mapping such as {"r1.k": "0.1 1/min"}, found str \'r1.k\'.'),
        (lambda data: kx.fit(SETUP, data, max_iterations="5"), "max_iterations = '5': expected a whole number from 1 on"),
        (lambda data: kx.fit(SETUP, data, max_iterations=True), "max_iterations = True: expected a whole number from 1 on"),
        (lambda data: kx.fit(SETUP, data, max_seconds=-1), "max_seconds = -1: expected a number from 0 on"),
        (lambda data: kx.simulate(CHAIN, {}), "simulate: expected a reactor first, found a network."),
        (lambda data: kx.simulate(SETUP, {}, conditions="T = 3"), "simulate: conditions is a mapping such as"),
        (lambda data: kx.read_csv(data, "batch"), "read_csv takes the files, then a reactor or a network; found str 'batch'."),
        (
            lambda data: kx.simulate(
                kx.CSTR(CHAIN),
                {"r1.k": "1 1/s", "r2.k": "1 1/s", "feed.default": "1 mol/L"},
                conditions={"tau": "1 s"},
                rtol=1e-4,
            ),
            "rtol: for reactors that are integrated",
        ),
    ],
)
def test_arguments_of_the_wrong_kind(call, words, campaign, tmp_path):
    (tmp_path / "a.csv").write_text("time [s],A [mol/L]\n0,1\n")
    with pytest.raises(kx.InputError) as error:
        call(tmp_path / "a.csv" if "read_csv" in words else campaign)
    assert str(error.value).startswith(words)


def test_a_suspicious_temperature_warns_in_every_door(tmp_path):
    (tmp_path / "a.csv").write_text("tau [min],A [mol/L]\n2,0.5\n", encoding="utf-8")
    tank = kx.CSTR(kx.parse_network("A -> B"))
    with pytest.warns(kx.KinetixWarning, match=r"Did you mean 25 degC"):
        read = kx.read_csv(tmp_path / "a.csv", tank, conditions={"T": "25 K"})
    assert len(read.warnings) == 1
    with pytest.warns(kx.KinetixWarning, match=r"Did you mean 25 degC"):
        kx.simulate(tank, {"r1.k": "1 1/s", "feed.default": "1 mol/L"}, conditions={"T": "25 K", "tau": "1 s"})
