"""Standard deviations estimated with the parameters: closed forms, SciPy's minimum of the likelihood, and a published one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from kinetix.errors import InputError, ParameterError
from kinetix.io import read_tree, write_tree
from kinetix.precision import float64
from kinetix.report import summary, text_report
from kinetix.results import fit_tree
from kinetix.results.residuals import standardised_residuals
from kinetix.studies import FitLimits, Multistart, fit_problem, with_values_of
from tests.reference.studies import fit, parameters, problem, simulate, statistic

LINE = {
    "model": {"y": "a + b*x"},
    "parameters": {name: {"start": "1 -", "scale": "linear"} for name in "ab"},
    "data": {"dimensionless": True},
}
X = np.linspace(0, 10, 60)


def table(x, *columns, names=("y",)):
    rows = zip(x, *columns, strict=True)
    return ",".join(["x", *names]) + "\n" + "".join(",".join(repr(float(cell)) for cell in row) + "\n" for row in rows)


def noisy(constant, relative, seed=1):
    mean = 2 + 3 * X
    return mean + np.random.default_rng(seed).normal(0, 1, X.size) * np.hypot(constant, relative * mean)


def test_a_line_with_one_sigma_has_the_closed_form():
    """sigma^2 = SSR/n, its standard error sigma/sqrt(2 n), and those of the line sigma^2 (X'X)^-1 (Seber and Wild 1989, section 2.2)."""
    y = noisy(0.5, 0.0)
    tree = fit({**LINE, "noise": {"y": {}}}, table(X, y))
    A = np.stack([np.ones(X.size), X], axis=1)
    beta, ssr = np.linalg.lstsq(A, y, rcond=None)[:2]
    sigma = np.sqrt(ssr[0] / X.size)
    np.testing.assert_allclose(parameters(tree, "a", "b", "sigma.y"), [*beta, sigma], rtol=1e-9)
    errors = [*np.sqrt(np.diag(np.linalg.inv(A.T @ A))) * sigma, sigma / np.sqrt(2 * X.size)]
    np.testing.assert_allclose(parameters(tree, "a", "b", "sigma.y", quantity="stderr"), errors, rtol=1e-7)
    likelihood = -0.5 * X.size * (np.log(2 * np.pi * sigma**2) + 1)
    assert statistic(tree, "log_likelihood") == pytest.approx(likelihood, rel=1e-12)
    assert statistic(tree, "sigma_bias") == pytest.approx(np.sqrt(1 - 2 / X.size))
    interval = parameters(tree, "b", quantity="upper95") - parameters(tree, "b")
    assert interval[0] == pytest.approx(1.959964 * errors[1], rel=1e-6)  # the normal quantile
    assert np.isnan(statistic(tree, "p_value")) and statistic(tree, "ssr") == pytest.approx(X.size, rel=1e-9)


def nll(q, y, noise):
    """Negative log-likelihood; q: a, b, then ln of what is estimated."""
    mean, logs = q[0] + q[1] * X, q[2:]
    relative = jnp.exp(logs[-1]) if noise.get("relative") == {} else 0.05 if "relative" in noise else 0.0
    constant = jnp.exp(logs[0]) if noise.get("constant") == {} else 0.0
    sigma = jnp.sqrt(constant**2 + (relative * mean) ** 2)
    return 0.5 * jnp.sum(jnp.log(2 * jnp.pi * sigma**2) + ((y - mean) / sigma) ** 2)


@pytest.mark.parametrize(
    ("noise", "names"),
    [
        ({"relative": {}}, ("sigma.y",)),
        ({"relative": {}, "constant": {}}, ("sigma.y.constant", "sigma.y.relative")),
        ({"relative": "5 %", "constant": {}}, ("sigma.y.constant",)),
    ],
    ids=["relative", "both", "one known"],
)
def test_a_line_whose_scatter_grows_has_the_likelihood_of_scipy(noise, names):
    y = noisy(0.4 * ("constant" in noise), 0.08)
    tree = fit({**LINE, "noise": {"y": noise}}, table(X, y))
    with float64():
        value, gradient = jax.value_and_grad(nll), jax.grad(nll)
        start = np.array([2.0, 3.0, *np.log([0.4, 0.08])[2 - len(names) if noise.get("relative") == {} else 0 :][: len(names)]])
        best = minimize(lambda q: [np.asarray(x) for x in value(q, y, noise)], start, jac=True, method="BFGS", options={"gtol": 1e-10})
        assert np.abs(gradient(best.x, y, noise)).max() < 1e-6
        hessian = np.asarray(jax.hessian(nll)(best.x, y, noise))
    expected = np.concatenate([best.x[:2], np.exp(best.x[2:])])
    np.testing.assert_allclose(parameters(tree, "a", "b", *names), expected, rtol=1e-6)
    slope = np.concatenate([[1.0, 1.0], expected[2:]])
    errors = np.sqrt(np.diag(np.linalg.inv(hessian))) * slope
    np.testing.assert_allclose(parameters(tree, "a", "b", *names, quantity="stderr"), errors, rtol=1e-5)
    assert statistic(tree, "log_likelihood") == pytest.approx(-float(best.fun), rel=1e-10)
    assert tree.attrs["errors"] == "maximum likelihood, from the Hessian of the likelihood"
    sigma = tree["predictions"]["sigma"].values.ravel()
    constant = expected[2] if "constant" in noise else 0.0
    relative = expected[-1] if noise["relative"] == {} else 0.05
    np.testing.assert_allclose(sigma, np.hypot(constant, relative * (expected[0] + expected[1] * X)), rtol=1e-6)


TIMES = np.array([0.5, 1.0, 2.0, 3.0, 5.0, 8.0])
SERIES = {
    "reactions": {"r1": {"equation": "A -> B", "k": {"start": "1 1/min"}}, "r2": {"equation": "B -> C", "k": {"start": "0.1 1/min"}}},
    "reactor": {"type": "batch"},
    "initial": {"A": "1 mol/L", "default": "0 mol/L"},
    "responses": {"signal": "eps*[B]"},
    "parameters": {"eps": "1000 L/mol"},
}


def series(k1, k2):
    return np.exp(-k1 * TIMES), 1000 * k1 / (k2 - k1) * (np.exp(-k1 * TIMES) - np.exp(-k2 * TIMES))


@pytest.fixture(scope="module")
def two_responses():
    rng = np.random.default_rng(1)
    a, signal = (clean + rng.normal(0, size, TIMES.size) for clean, size in zip(series(0.6, 0.2), (0.01, 30.0), strict=True))
    rows = "".join(f"{t},{x!r},{y!r}\n" for t, x, y in zip(TIMES, a.tolist(), signal.tolist(), strict=True))
    return a, signal, "time [min],A [mol/L],signal [1]\n" + rows


def test_responses_in_different_units_weigh_each_other(two_responses):
    """The classical case: unweighted, the numbers of the signal would decide alone (Bard 1974, section 4-8)."""
    a, signal, data = two_responses
    tree = fit({**SERIES, "noise": {"A": {}, "signal": {"start": "5 -"}}}, data)

    def concentrated(k):
        """-2 ln L with the sigmas replaced by their estimates, sum of n ln(SSR_r)."""
        return sum(TIMES.size * np.log(np.sum((clean - y) ** 2)) for clean, y in zip(series(*k), (a, signal), strict=True))

    best = minimize(concentrated, [0.6, 0.2], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 4000})
    sizes = [np.sqrt(np.mean((clean - y) ** 2)) for clean, y in zip(series(*best.x), (a, signal), strict=True)]
    np.testing.assert_allclose(parameters(tree, "r1.k", "r2.k", "sigma.A", "sigma.signal"), [*best.x, *sizes], rtol=1e-6)
    units = dict(zip(tree["parameters"]["parameter"].values, tree["parameters"]["unit"].values, strict=True))
    assert units["sigma.A"] == "mol/L" and units["sigma.signal"] == "1"
    assert not any("unweighted" in sentence for sentence in tree.attrs["warnings"].splitlines())
    z, label = standardised_residuals(tree)
    assert label == "residual / σ" and np.sum(z**2) == pytest.approx(2 * TIMES.size)


def test_the_unit_of_the_data_does_not_matter(two_responses):
    _, _, data = two_responses
    study = {**SERIES, "noise": {"A": {}, "signal": {}}}
    in_moles = fit(study, data)
    lines = data.splitlines()
    rows = [line.split(",") for line in lines[1:]]
    in_millimoles = fit(study, "time [min],A [mmol/L],signal [1]\n" + "".join(f"{t},{1000 * float(x)!r},{y}\n" for t, x, y in rows))
    names = ("r1.k", "r2.k", "sigma.signal")
    np.testing.assert_allclose(parameters(in_moles, *names), parameters(in_millimoles, *names), rtol=1e-7)
    assert parameters(in_millimoles, "sigma.A")[0] == pytest.approx(1000 * parameters(in_moles, "sigma.A")[0], rel=1e-7)
    # a density in mol/L is a thousand times that in mmol/L, for each of the values of A
    difference = statistic(in_moles, "log_likelihood") - statistic(in_millimoles, "log_likelihood")
    assert difference == pytest.approx(TIMES.size * np.log(1000), rel=1e-9)


def test_a_known_sigma_beside_an_estimated_one(two_responses):
    a, signal, data = two_responses
    tree = fit({**SERIES, "noise": {"A": "0.01 mol/L", "signal": {}}, "fit": {"sigma": "trusted"}}, data)

    def twice(k):
        clean = series(*k)
        return np.sum(((clean[0] - a) / 0.01) ** 2) + TIMES.size * np.log(np.sum((clean[1] - signal) ** 2))

    best = minimize(twice, [0.6, 0.2], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 4000})
    np.testing.assert_allclose(parameters(tree, "r1.k", "r2.k"), best.x, rtol=1e-6)
    np.testing.assert_allclose(tree["predictions"]["sigma"].sel(response="A").values, 0.01, rtol=1e-12)


def test_the_result_in_words_and_in_the_file(two_responses, tmp_path):
    tree = fit({**SERIES, "noise": {"A": {}, "signal": {}}}, two_responses[2])
    report = " ".join(text_report(tree).split())
    assert "maximum likelihood, from the Hessian of the likelihood: intervals use the normal quantile" in report
    assert "too small by about the factor 0.913" in report and "standard deviation of signal" in report
    assert tree.attrs["sigma_meaning"] == "modelled" and summary(tree)["statistics"]["log_likelihood"] is not None
    write_tree(tree, tmp_path / "fit.nc")
    assert read_tree(tmp_path / "fit.nc").identical(tree)
    simulated = with_values_of(problem(SERIES, two_responses[2]), tree, "fit.nc")  # predictions do not change with a standard deviation
    assert simulated.parameters[simulated.table.names.index("r1.k")] == pytest.approx(parameters(tree, "r1.k")[0] / 60)


def test_many_starts_are_judged_by_the_likelihood(two_responses):
    one = fit({**SERIES, "noise": {"A": {}, "signal": {}}}, two_responses[2])
    given = problem({**SERIES, "noise": {"A": {}, "signal": {}}}, two_responses[2])
    tree = fit_tree(fit_problem(given, multistart=Multistart(4, 1)))
    assert statistic(tree, "log_likelihood") == pytest.approx(statistic(one, "log_likelihood"), rel=1e-9)
    assert tree["starts"].sizes["start"] == 4


def test_limits_hold(two_responses):
    given = problem({**SERIES, "noise": {"A": {}, "signal": {}}}, two_responses[2])
    facts = fit_problem(given, FitLimits(max_iterations=1))
    assert not facts.status.ok and facts.iterations <= 3


def test_data_that_are_met_exactly_end_on_the_least_sigma():
    tree = fit({**LINE, "noise": {"y": {}}}, table(X, 2 + 3 * X))
    np.testing.assert_allclose(parameters(tree, "a", "b"), [2, 3], rtol=1e-6)
    assert "sigma.y is at its lower bound" in tree.attrs["warnings"]


def test_few_values_for_the_parameters_are_told():
    y = np.array([1.0, 2.1, 2.9, 4.2])
    tree = fit({**LINE, "noise": {"y": {}}}, table([0, 1, 2, 3], y))
    assert "come out too small where the parameters are many: here by about the factor 0.71" in tree.attrs["warnings"]


def test_the_standard_deviation_of_a_logarithm():
    """Model and data compared as logarithms: sigma of ln y, without a unit."""
    k = np.array([1.0, 2.2, 3.9, 8.3, 15.0])
    study = {**LINE, "model": {"log(y)": "a + b*x"}, "noise": {"y": {}}}
    tree = fit(study, table(range(5), k))
    line = np.polyfit(range(5), np.log(k), 1)
    residuals = np.log(k) - np.polyval(line, range(5))
    np.testing.assert_allclose(parameters(tree, "b", "a", "sigma.y"), [*line, np.sqrt(np.mean(residuals**2))], rtol=1e-8)


def test_a_simulation_has_no_standard_deviation(two_responses):
    tree = simulate({**SERIES, "noise": {"A": {}, "signal": {}}}, two_responses[2])
    assert not any(str(name).startswith("sigma") for name in tree["parameters"]["parameter"].values)


@pytest.mark.parametrize(
    ("noise", "change", "data", "told"),
    [
        (
            {"y": {"relative": {}}},
            {},
            "x,y\n0,0\n1,1\n2,2.1\n3,3\n",
            "y is 0, and so would be a sigma that is relative alone. Add constant = {}",
        ),
        (
            {"y": {}},
            {},
            "x,y,sigma_y\n0,0,1\n1,1,1\n2,2.1,1\n3,3,1\n",
            "column 'sigma_y' gives the sigma of y, which [noise] estimates. Keep one",
        ),
        ({"y": {}}, {}, "x,y\n0,0\n1,1\n2,2\n", "3 values cannot show 3 numbers, 1 of them standard deviations"),
        (
            {"y": {"constant": {}, "relative": {}}},
            {},
            "x,y\n0,1\n1,2\n",
            "[noise] y: 2 values cannot show 2 standard deviations. Give one that",
        ),
        (
            {"y": {}},
            {"fit": {"sigma": "trusted"}},
            "x,y\n0,0\n1,1\n2,2.1\n3,3\n",
            'sigma = "trusted", but the sigma of y is estimated, and no other is',
        ),
        ({"y": {}}, {"fit": {"loss": "huber"}}, "x,y\n0,0\n1,1\n2,2.1\n3,3\n", "[fit] loss beside an estimated sigma ([noise] y)"),
        ({"y": {"start": "1 -", "fixed": True}}, {}, "x,y\n0,0\n1,1\n2,2.1\n", "is known. Write it as a plain quantity, or {} or { start"),
        (
            {"y": {"scale": "linear"}},
            {},
            "x,y\n0,0\n1,1\n2,2.1\n",
            "[noise] y: a standard deviation is above zero, and fitted on a log scale. Remove scale.",
        ),
        (
            {"y": {"relative": {}}},
            {"model": {"log(y)": "a + b*x"}},
            "x,y\n0,1\n1,1\n2,2.1\n",
            "[noise] y: logarithms of y are compared, whose standard",
        ),
        (
            {"y": {"relatve": {}}},
            {},
            "x,y\n0,1\n1,1\n2,2.1\n",
            "[noise] y: unknown key 'relatve'. Known: relative, constant. Did you mean 'relative'?",
        ),
    ],
)
def test_what_cannot_be_is_told(noise, change, data, told):
    with pytest.raises(InputError) as error:
        fit({**LINE, "noise": noise, **change}, data)
    assert told in str(error.value)


@pytest.mark.parametrize(("sigma", "found"), [(None, "nothing is said of it"), ("scaled", 'but [fit] sigma = "scaled"')])
def test_a_known_sigma_beside_an_estimated_one_must_be_trusted(two_responses, sigma, found):
    with pytest.raises(InputError) as error:
        fit({**SERIES, "noise": {"A": "0.01 mol/L", "signal": {}}, "fit": {"sigma": sigma}}, two_responses[2])
    assert found in str(error.value) and 'write sigma = "trusted" under [fit]' in str(error.value)


def test_every_response_needs_a_sigma_beside_estimated_ones(two_responses):
    with pytest.raises(InputError, match=r"has no sigma for A, while those of others are estimated by \[noise\]\. Add A = \{\} there"):
        fit({**SERIES, "noise": {"signal": {}}}, two_responses[2])


def test_a_relative_sigma_of_a_predicted_zero_is_told():
    data = "time [min],B [mol/L]\n0,0.001\n1,0.4\n2,0.6\n5,0.55\n"
    study = {key: value for key, value in SERIES.items() if key not in ("responses", "parameters")}
    with pytest.raises(
        ParameterError, match=r"The sigma of B is relative to the predicted value, which is 0 in experiment 'table1' \(line 2\)"
    ):
        fit({**study, "noise": {"B": {"relative": {}}}}, data)


def test_stat5_has_the_published_likelihood(case):
    """Boehm et al. (2014): two compartments by their ratio of volumes, the decaying hormone as a species, three estimated sigmas."""
    boehm = case("petab-boehm")
    columns, facts = boehm.columns("measurements.csv"), boehm.facts
    nominal = dict(zip(*(boehm.columns("parameters.csv")[name] for name in ("parameter", "nominal")), strict=True))
    cyt, nuc = facts["model"]["compartment_volumes"]["cyt"], facts["model"]["compartment_volumes"]["nuc"]
    into, out = repr(cyt / nuc), repr(nuc / cyt)

    def constant(name, unit="1/min"):
        return {"start": f"{float(nominal[name])!r} {unit}", "bounds": [f"1e-5 {unit}", f"1e5 {unit}"]}

    def formed(equation, product):
        return {"equation": equation, "rate": f"k_phos*[Epo]*{product}"}

    observables = {
        name: "".join(f"[{word}]" if word in facts["model"]["species"] else word for word in _words(text))
        for name, text in facts["model"]["observables"].items()
    }
    study = {
        "formulas": False,
        "reactions": {
            "epo": {"equation": "Epo -> Gone", "k": constant("Epo_degradation_BaF3")},
            "v1": formed("2 STAT5A -> pApA", "[STAT5A]^2"),
            "v2": formed("STAT5A + STAT5B -> pApB", "[STAT5A]*[STAT5B]"),
            "v3": formed("2 STAT5B -> pBpB", "[STAT5B]^2"),
            "v4": {"equation": f"pApA -> {into} nucpApA", "k": "k_imp_homo"},
            "v5": {"equation": f"pApB -> {into} nucpApB", "k": "k_imp_hetero"},
            "v6": {"equation": f"pBpB -> {into} nucpBpB", "k": "k_imp_homo"},
            "v7": {"equation": f"nucpApA -> {2 * nuc / cyt!r} STAT5A", "k": "k_exp_homo"},
            "v8": {"equation": f"nucpApB -> {out} STAT5A + {out} STAT5B", "k": "k_exp_hetero"},
            "v9": {"equation": f"nucpBpB -> {2 * nuc / cyt!r} STAT5B", "k": "k_exp_homo"},
        },
        "reactor": {"type": "batch"},
        "initial": {
            "STAT5A": f"{207.6 * 0.693!r} mol/m^3",
            "STAT5B": f"{207.6 * (1 - 0.693)!r} mol/m^3",
            "Epo": "1.25e-7 mol/m^3",
            "default": "0 mol/m^3",
        },
        "parameters": {
            "k_phos": constant("k_phos", "m^6/mol^2/min"),
            **{name: constant(name) for name in ("k_imp_homo", "k_imp_hetero", "k_exp_homo", "k_exp_hetero")},
            "specC17": "0.107 -",
        },
        "responses": observables,
        "noise": {name: {} for name in observables},
    }
    names = list(observables)
    times = np.unique(columns["time"])
    values = {(str(o), t): v for o, t, v in zip(columns["observable"], columns["time"], columns["value"], strict=True)}
    rows = "".join(f"{t}," + ",".join(repr(float(values[name, t])) for name in names) + "\n" for t in times)
    tree = fit(study, "time [min]," + ",".join(f"{name} [1]" for name in names) + "\n" + rows)
    expected, tolerance = facts["expected"], facts["tolerance"]
    assert statistic(tree, "n_observations") == expected["n_measurements"]
    assert int(statistic(tree, "n_parameters")) == expected["n_estimated"]
    nllh = -statistic(tree, "log_likelihood")
    assert nllh <= expected["nllh_at_nominal"] + tolerance["fit_nllh_abs"]
    assert nllh == pytest.approx(expected["nllh_at_nominal"], abs=tolerance["fit_nllh_abs"])  # the best that is known
    sigmas = parameters(tree, *(f"sigma.{name}" for name in names))
    np.testing.assert_allclose(sigmas, [nominal[f"sd_{name}"] for name in names], rtol=0.01)


def _words(text):
    """Names, and what stands between them."""
    import re

    return re.findall(r"[A-Za-z_]\w*|[^A-Za-z_]+", text)
