"""Comparisons of models: published tests, closed forms of least squares, models of different data, fits that are no answer."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import kinetix as kx
from kinetix.errors import DataError, InputError, ParameterError
from kinetix.io import read_tree
from kinetix.io.results import write_tree
from kinetix.results import comparison_tree, fit_tree
from kinetix.results.schema import VARIABLES
from kinetix.status import Status
from kinetix.studies import Candidate, FitLimits, Folds, compare_candidates, fit_candidate, fit_problem
from kinetix.studies.cross_validation import leave_out
from kinetix.studies.evaluator import Evaluator
from tests.conftest import REPOSITORY
from tests.reference.studies import problem

PUROMYCIN = (REPOSITORY / "examples" / "enzyme" / "data.csv").read_text(encoding="utf-8")
ENZYME = {
    "no effect": ("V*c/(K + c) + 0*V*treated", {"V": "160 1/min^2", "K": "0.05 ppm"}),
    "on V": ("(V + dV*treated)*c/(K + c)", {"V": "160 1/min^2", "K": "0.05 ppm", "dV": "40 1/min^2"}),
    "on V and K": (
        "(V + dV*treated)*c/(K + dK*treated + c)",
        {"V": "160 1/min^2", "K": "0.05 ppm", "dV": "40 1/min^2", "dK": "0.01 ppm"},
    ),
}


def formula(text: str, starts: dict[str, str | float], **more) -> dict:
    name = more.pop("response", "y")
    return {"model": {name: text}, "parameters": {p: {"start": s} for p, s in starts.items()}, **more}


def fitted(study: dict, text: str) -> xr.DataTree:
    return fit_tree(fit_problem(problem(study, text)))


@pytest.fixture(scope="module")
def enzyme():
    problems = {name: problem(formula(text, starts, response="rate"), PUROMYCIN) for name, (text, starts) in ENZYME.items()}
    return {name: fit_candidate(one) for name, one in problems.items()}


@pytest.fixture(scope="module")
def puromycin(enzyme) -> xr.DataTree:
    return comparison_tree(compare_candidates(enzyme, True, Folds()))


def test_puromycin_extra_sum_of_squares(puromycin):
    """Bates and Watts (1988), section 3.10: sums of squares 2055.1 and 2240.9, F = 1.7 with 1 and 19 degrees of freedom, p = 0.21."""
    nested = puromycin["nested"].to_dataset()
    assert list(zip(nested["smaller"].values, nested["larger"].values, strict=True)) == [("no effect", "on V"), ("on V", "on V and K")]
    assert nested["kind"].values.tolist() == ["F", "F"] and nested["more"].values.tolist() == [1, 1]
    assert nested["dof"].values.tolist() == [20.0, 19.0]
    assert nested["statistic"].values[1] == pytest.approx(1.7182, abs=1e-4)
    assert nested["p_value"].values[1] == pytest.approx(0.2056, abs=1e-4)
    assert nested["p_value"].values[0] < 1e-5
    verdict = puromycin.attrs["verdict"]
    assert verdict.startswith("on V and on V and K are not distinguishable with these data (AICc differs by up to 1.3).")
    assert "on V has the fewest parameters (3)." in verdict
    assert "no effect has essentially no support" in verdict
    assert "on V and K is not shown to need the parameter that it has beyond on V (F(1, 19) = 1.72, p = 0.21)." in verdict
    assert "on V needs the parameter that it has beyond no effect" in verdict
    assert puromycin.attrs["warnings"] == ""


def test_criteria_of_the_fits_are_those_of_their_residuals(enzyme, puromycin):
    models = puromycin["models"].to_dataset()
    for name, candidate in enzyme.items():
        r = candidate.tree["predictions/residual"].values.ravel()
        p = len(ENZYME[name][1])
        minus_twice = -2 * stats.norm.logpdf(r, scale=np.sqrt(r @ r / 23)).sum()
        one = models.sel(model=name)
        k = p + 1
        assert float(one["log_likelihood"]) == pytest.approx(-0.5 * minus_twice, rel=1e-12)
        assert float(one["aicc"]) == pytest.approx(minus_twice + 2 * k * 23 / (23 - k - 1), rel=1e-12)
        assert float(one["bic"]) == pytest.approx(minus_twice + k * np.log(23), rel=1e-12)
    assert models["rank"].values.tolist() == [3, 1, 2]
    assert models["weight"].values.sum() == pytest.approx(1.0)


def test_every_variable_is_in_the_schema_with_unit_and_meaning(puromycin):
    for name, node in puromycin.children.items():
        rows = {row.name: row for row in VARIABLES if row.group == name}
        for variable, values in node.to_dataset().variables.items():
            assert values.dims == rows[variable].dims
            assert values.attrs["long_name"]
            assert values.dtype.kind not in "f" or values.attrs["units"], variable


def test_a_comparison_is_the_same_from_files(puromycin, enzyme, tmp_path):
    path = write_tree(puromycin, tmp_path / "comparison.nc")
    xr.testing.assert_identical(read_tree(path), puromycin)
    saved = {name: read_tree(write_tree(one.tree, tmp_path / f"{i}.nc")) for i, (name, one) in enumerate(enzyme.items())}
    again = kx.compare(saved, nested=True)
    xr.testing.assert_identical(again["nested"].to_dataset(), puromycin["nested"].to_dataset())
    assert again["models/aicc"].values.tolist() == puromycin["models/aicc"].values.tolist()


# ------------------------------------------------------------------------------------------------------- cross-validation

LINE = "x,y\n" + "\n".join(f"{x},{y}" for x, y in [(0, 1.3), (1, 1.7), (2, 2.9), (3, 3.8), (4, 4.6), (5, 6.4)]) + "\n"
DIMENSIONLESS = {"data": {"dimensionless": True}}


def polynomial(degree: int, **more) -> dict:
    text = " + ".join(f"b{i}*x^{i}" if i else "b0" for i in range(degree + 1)) + (" + 0*x" if degree == 0 else "")
    return formula(text, {f"b{i}": 1.0 for i in range(degree + 1)}, **{**DIMENSIONLESS, **more})


@pytest.fixture(scope="module")
def lines():
    return {f"degree {d}": fit_candidate(problem(polynomial(d), LINE)) for d in (1, 2)}


def test_leaving_out_each_value_of_a_linear_model_is_press(lines):
    """Allen (1974): the residual without a value is e/(1 - h), h the diagonal of the hat matrix."""
    tree = comparison_tree(compare_candidates(lines, folds=Folds()))
    x, y = np.loadtxt(LINE.splitlines()[1:], delimiter=",").T
    for degree in (1, 2):
        A = np.vander(x, degree + 1)
        hat = A @ np.linalg.inv(A.T @ A) @ A.T
        deleted = (y - hat @ y) / (1 - np.diag(hat))
        error = tree["cross_validation/prediction_ssr"].sel(model=f"degree {degree}").values
        np.testing.assert_allclose(error, deleted**2, rtol=1e-7)
        rms = float(tree["models/prediction_error"].sel(model=f"degree {degree}"))
        assert rms == pytest.approx(np.sqrt(np.mean(deleted**2)), rel=1e-7)


def test_folds_are_the_same_for_all_models_and_follow_the_seed(lines):
    crossed = [comparison_tree(compare_candidates(lines, folds=Folds(3, seed)))["cross_validation"].to_dataset() for seed in (1, 1, 2)]
    xr.testing.assert_identical(crossed[0], crossed[1])
    assert crossed[0]["fold_of"].values.tolist() != crossed[2]["fold_of"].values.tolist()
    assert crossed[0]["fold_values"].values.tolist() == [2, 2, 2] and crossed[0].attrs["seed"] == 1
    x, y = np.loadtxt(LINE.splitlines()[1:], delimiter=",").T
    left = crossed[0]["fold_of"].values == 0
    slope = np.polyfit(x[~left], y[~left], 1)
    expected = np.sum((np.polyval(slope, x[left]) - y[left]) ** 2)
    assert float(crossed[0]["prediction_ssr"].sel(model="degree 1")[0]) == pytest.approx(expected, rel=1e-7)


RUNS = "run,time [s],T [K],A [mol/L]\n"
R = 8.31446261815324


def arrhenius_runs(temperatures: dict[str, float]) -> str:
    random = np.random.default_rng(4)
    rows = []
    for run, T in temperatures.items():
        k = 0.05 * np.exp(-60e3 / R * (1 / T - 1 / 340))
        rows += [f"{run},{t},{T},{np.exp(-k * t) + 0.005 * random.normal():.5f}" for t in (5.0, 10.0, 20.0, 40.0)]
    return RUNS + "\n".join(rows) + "\n"


def batch(**more) -> dict:
    return {
        "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.03 1/s", "at": "340 K"}, "Ea": {"start": "50 kJ/mol"}}},
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "default": "0 mol/L"},
        "noise": {"A": "0.005 mol/L"},
        "fit": {"sigma": "trusted"},
        "data": {"columns": {"experiment": "run"}},
        **more,
    }


def second_order(**more) -> dict:
    study = batch(**more)
    study["reactions"] = {
        "r1": {"equation": "2 A -> B", "k": {"start": "0.03 L/mol/s", "at": "340 K"}, "Ea": {"start": "50 kJ/mol"}},
    }
    return study


def test_leaving_out_an_experiment_equals_never_having_measured_it():
    text = arrhenius_runs({"cold": 320.0, "mild": 340.0, "hot": 360.0})
    whole = problem(batch(), text)
    evaluator = Evaluator(whole)
    theta = whole.table.free_start()
    for i, name in enumerate(whole.campaign.experiments):
        found = leave_out(evaluator, theta, np.arange(3) == i)
        without = RUNS + "\n".join(row for row in text.splitlines()[1:] if not row.startswith(name)) + "\n"
        rest = fit_problem(problem(batch(), without))
        values = dict(zip(rest.parameter_names, rest.values_si, strict=True))
        at = [float(values[p.name]) for p in whole.table.parameters]
        predicted = evaluator(whole.table.started(np.array(at)).free_start()).values[i]
        expected = np.sum(((predicted - whole.observed[i]) * whole.weights[i]) ** 2)
        assert found.status.ok and found.error == pytest.approx(float(expected), rel=1e-6)
    assert evaluator.weighing(whole.weights).compiled is evaluator.compiled
    assert evaluator.problem is whole


def test_a_fold_whose_prediction_nothing_determines_is_said_and_not_summed():
    """Without the one hot run nothing tells Ea, and the cold runs say nothing of the hot one."""
    text = arrhenius_runs({"cold": 340.0, "again": 340.0, "hot": 360.0})
    candidates = {name: fit_candidate(problem(study, text)) for name, study in (("first", batch()), ("second", second_order()))}
    tree = comparison_tree(compare_candidates(candidates, folds=Folds()))
    crossed = tree["cross_validation"].to_dataset()
    assert np.isnan(crossed["prediction_ssr"].values[:, 2]).all() and np.isfinite(crossed["prediction_ssr"].values[:, :2]).all()
    assert crossed["status"].values[0, 2] == Status.FLAT
    assert "do not determine what predicts it" in str(crossed["why"].values[0, 2]) and "r1.Ea" in str(crossed["why"].values[0, 2])
    assert np.isnan(tree["models/prediction_error"].values).all()
    assert "first: the cross-validation has no total, because it failed without experiment 'hot'" in tree.attrs["warnings"]
    assert "predicted best" not in tree.attrs["verdict"]


# ----------------------------------------------------------------------------------------------------------- which is right


def test_the_right_order_wins_and_trusted_sigma_counts_no_parameter():
    text = arrhenius_runs({"cold": 320.0, "mild": 340.0, "hot": 360.0})
    first, second = (fit_candidate(problem(study, text)) for study in (batch(), second_order()))
    tree = comparison_tree(compare_candidates({"second": second, "first": first}, folds=Folds()))
    models = tree["models"].to_dataset()
    assert models["rank"].values.tolist() == [2, 1] and models["n_counted"].values.tolist() == [2, 2]
    assert models["delta"].values[0] > 10 and models["weight"].values[1] > 0.99
    chi_square = float(first.tree["statistics/chi_square"])
    sigma = 0.005  # in the unit of the column, mol/L
    log_likelihood = -0.5 * chi_square - 12 * np.log(sigma * np.sqrt(2 * np.pi))
    assert float(models["log_likelihood"].sel(model="first")) == pytest.approx(log_likelihood, rel=1e-10)
    assert float(models["aicc"].sel(model="first")) == pytest.approx(-2 * log_likelihood + 4 + 2 * 2 * 3 / (12 - 3), rel=1e-10)
    assert "first describes these data best. second has essentially no support" in tree.attrs["verdict"]
    assert "Experiments that were left out are predicted best by first" in tree.attrs["verdict"]
    assert models["prediction_error"].values[1] < models["prediction_error"].values[0]


def test_where_no_model_agrees_with_the_data_the_best_is_not_called_right():
    text = arrhenius_runs({"cold": 320.0, "mild": 340.0, "hot": 360.0})
    half = batch(reactions={"r1": {"equation": "A -> B", "k": {"start": "0.03 1/s"}}})
    tree = kx.compare({"no Ea": fitted(half, text), "second order": fitted(second_order(), text)})
    assert "Yet no model agrees with the data within the given sigma (p below 1e-6 at best)" in tree.attrs["verdict"]


def test_trusted_sigma_is_tested_by_the_likelihood_ratio():
    text = arrhenius_runs({"cold": 320.0, "mild": 340.0, "hot": 360.0})
    fixed = batch(reactions={"r1": {"equation": "A -> B", "k": {"start": "0.03 1/s", "at": "340 K"}, "Ea": "60 kJ/mol"}})
    trees = {name: fit_tree(fit_problem(problem(study, text))) for name, study in (("Ea known", fixed), ("Ea fitted", batch()))}
    nested = kx.compare(trees, nested=[("Ea known", "Ea fitted")])["nested"].to_dataset()
    extra = float(trees["Ea known"]["statistics/chi_square"]) - float(trees["Ea fitted"]["statistics/chi_square"])
    assert nested["kind"].item() == "likelihood ratio" and extra > 0
    assert nested["statistic"].item() == pytest.approx(extra)
    assert nested["p_value"].item() == pytest.approx(stats.chi2.sf(extra, 1), rel=1e-8)


def test_ctrl_c_ends_the_cross_validation_of_all_models(lines, monkeypatch):
    done = []

    def interrupted():
        done.append(1)
        if len(done) == 2:
            monkeypatch.setattr("kinetix.studies.evaluator.Evaluator.triangle", _interrupt)

    crossed = comparison_tree(compare_candidates(lines, folds=Folds(), on_fold=interrupted))["cross_validation"].to_dataset()
    assert np.isfinite(crossed["prediction_ssr"].values[0, :2]).all() and np.isnan(crossed["prediction_ssr"].values[0, 2:]).all()
    assert (crossed["status"].values[0, 2:] == Status.STOPPED).all() and (crossed["status"].values[1] == Status.STOPPED).all()
    assert str(crossed["why"].values[1, 0]) == "it was not tried: stopped by the user"


def _interrupt(*_):
    raise KeyboardInterrupt


def test_one_sigma_for_several_responses_is_told():
    errors = ((5, 0.01), (10, -0.02), (20, 0.01), (40, 0.0))
    rows = [f"one,{t},340,{np.exp(-0.05 * t) + e:.4f},{1 - np.exp(-0.05 * t) - e:.4f}" for t, e in errors]
    text = RUNS.replace("A [mol/L]", "A [mol/L],B [mol/L]") + "\n".join(rows) + "\n"
    plain = {key: value for key, value in batch().items() if key not in ("noise", "fit")}
    orders = {"first": ("A -> B", "0.03 1/s"), "second": ("2 A -> 2 B", "0.03 L/mol/s")}
    trees = {
        name: fitted({**plain, "reactions": {"r1": {"equation": equation, "k": {"start": k}}}}, text)
        for name, (equation, k) in orders.items()
    }
    assert "the criteria take one standard deviation for A and B" in kx.compare(trees).attrs["warnings"]


# ---------------------------------------------------------------------------------------------------- what cannot be compared


def test_models_of_different_data_are_refused():
    one = fitted(polynomial(1), LINE)
    fewer, other = LINE.replace("3,3.8\n", ""), LINE.replace("3.8", "3.9")
    logs = {"model": {"log(y)": "log(b0 + b1*x)"}, "parameters": {"b0": {"start": 1.0}, "b1": {"start": 1.0}}, **DIMENSIONLESS}
    renamed = {**polynomial(1), "model": {"z": "b0 + b1*x"}}
    cases = {
        "1 measured value is only in A (y of experiment '6')": fitted(polynomial(1), fewer),
        "1 measured value differs, such as y of experiment '4': 3.8 and 3.9": fitted(polynomial(1), other),
        "log(y) only in B. A value and its logarithm are different ones": fitted(logs, LINE),
        "they fit different responses: y only in A, z only in B": fitted(renamed, LINE.replace("x,y", "x,z")),
        "sigma is estimated in A and trusted in B": fitted(polynomial(1, noise={"y": 0.1}, fit={"sigma": "trusted"}), LINE),
    }
    for words, tree in cases.items():
        with pytest.raises(DataError, match="A and B cannot be compared") as caught:
            kx.compare({"A": one, "B": tree})
        assert words in str(caught.value)


def test_different_sigmas_are_refused():
    trees = [fitted(polynomial(1, noise={"y": size}, fit={"sigma": "scaled"}), LINE) for size in (0.1, 0.2)]
    with pytest.raises(DataError, match=r"sigma differs for 6 values, such as y of experiment '1': 0\.1 and 0\.2\. Give both the same"):
        kx.compare(trees)


def test_units_of_a_response_are_the_same():
    text = "c [mol/L],y [mol/L]\n1,1.1\n2,1.9\n3,3.2\n4,3.9\n"
    other = text.replace("y [mol/L]", "y [mol/m^3]")
    trees = [fitted(formula("b*c", {"b": start}), table) for start, table in (("1 -", text), ("1 m^3/L", other))]
    with pytest.raises(DataError, match=r"y is in mol/L and in mol/m\^3\. Squares of numbers in different units"):
        kx.compare(trees)


def test_what_is_no_comparison_is_told(lines, puromycin):
    one = lines["degree 1"].tree
    for models, words in [
        ({"A": one}, "needs two models or more, found one, A"),
        ([], "needs two models or more, found none"),
        (one, "expected results of fit"),
        ("A", "expected results of fit"),
        ({"A": one, "B": 3}, "B: Expected the result of a fit"),
        ({"A": one, "B": puromycin}, "found the result of a comparison"),
    ]:
        with pytest.raises(InputError, match=words):
            kx.compare(models)


def test_what_was_declared_nested_must_be_able_to_be(lines):
    trees = {name: one.tree for name, one in lines.items()}
    with pytest.raises(ParameterError, match=r"there is no model 'degree 3' .*Did you mean 'degree"):
        kx.compare(trees, nested=[("degree 1", "degree 3")])
    with pytest.raises(
        ParameterError, match=r"degree 2 has 3 estimated parameters, degree 1 2\. A special case of another model has fewer"
    ):
        kx.compare(trees, nested=[("degree 2", "degree 1")])


def test_a_result_cannot_be_fitted_again(lines):
    with pytest.raises(InputError, match=r"degree 1 and degree 2 are results of a fit.*kinetix\.candidate"):
        kx.compare({name: one.tree for name, one in lines.items()}, cross_validate=True)


def test_errors_of_a_fit_begin_with_the_model():
    known = {**polynomial(1), "parameters": {"b0": 1.0, "b1": 1.0}}
    with pytest.raises(ParameterError, match="known: Nothing to estimate"):
        kx.compare({"line": problem(polynomial(1), LINE), "known": problem(known, LINE)})


@pytest.mark.parametrize("number", [1, 0, 2.5, True])
def test_folds_are_two_or_more(number):
    with pytest.raises(ParameterError, match="expected a whole number from 2 on"):
        Folds(number)


def test_one_experiment_cannot_be_left_out():
    text = arrhenius_runs({"only": 340.0})
    given = [
        problem({**study(), "reactions": {"r1": {"equation": e, "k": {"start": k}}}}, text)
        for study, e, k in ((batch, "A -> B", "0.03 1/s"), (batch, "2 A -> B", "0.03 L/mol/s"))
    ]
    with pytest.raises(ParameterError, match=r"leaves out whole experiments, and the data hold measured values of one only \(only\)"):
        kx.compare({"first": given[0], "second": given[1]}, cross_validate=True)


# ------------------------------------------------------------------------------------------------------ fits that are no answer


def test_a_fit_that_did_not_converge_is_left_out_and_told():
    given = problem(formula(*ENZYME["on V and K"], response="rate"), PUROMYCIN)
    stopped = fit_tree(fit_problem(given, FitLimits(max_iterations=1)))
    others = {name: fit_tree(fit_problem(problem(formula(*ENZYME[name], response="rate"), PUROMYCIN))) for name in ("on V", "no effect")}
    tree = kx.compare({"stopped": stopped, **others}, nested=True)
    models = tree["models"].to_dataset()
    assert models["rank"].values.tolist() == [0, 1, 2] and models["status"].values[0] == Status.ITERATION_LIMIT
    assert np.isnan(models["aicc"].values[0]) and np.isnan(models["weight"].values[0])
    assert models["weight"].values[1:].sum() == pytest.approx(1.0)
    assert "stopped is left out of the ranking: its fit did not converge (iteration limit)." in tree.attrs["warnings"]
    assert "there is no F test: the fit of stopped did not converge" in tree.attrs["warnings"]
    assert tree.attrs["verdict"].endswith("stopped is left out of the ranking.")


def test_too_many_parameters_for_the_data_are_refused_with_the_reason():
    few = "\n".join(LINE.splitlines()[:6]) + "\n"  # 5 values; degree 2 counts 4 parameters with sigma
    tree = kx.compare({f"degree {d}": fitted(polynomial(d), few) for d in (1, 2)})
    assert tree["models/rank"].values.tolist() == [1, 0] and np.isnan(tree["models/aicc"].values[1])
    assert "degree 2 is left out of the ranking: 3 parameters and sigma are too many for 5 measured values" in tree.attrs["warnings"]
    assert tree.attrs["verdict"].startswith("There is no ranking: only degree 1 could be used, and degree 2 is left out.")


def test_where_no_model_can_be_ranked_that_is_said():
    exact = "x,y\n0,1\n1,3\n2,5\n3,7\n4,9\n5,11\n"
    tree = comparison_tree(compare_candidates({name: Candidate(_without_scatter(fitted(polynomial(1), exact))) for name in "AB"}))
    assert tree.attrs["verdict"].startswith("No model can be ranked")
    assert "its residuals are all zero" in tree.attrs["warnings"]


def _without_scatter(tree: xr.DataTree) -> xr.DataTree:
    tree = tree.copy(deep=True)
    tree["statistics/ssr"].values[...] = 0.0
    return tree


def test_a_larger_model_that_fits_worse_has_not_found_its_optimum(lines):
    small, large = lines["degree 1"].tree, lines["degree 2"].tree.copy(deep=True)
    large["statistics/ssr"].values[...] = 2.0 * float(small["statistics/ssr"])
    tree = kx.compare({"small": small, "large": large}, nested=True)
    assert np.isnan(tree["nested/p_value"].item())
    assert "large fits worse, which the best fit of a model that holds small cannot" in tree.attrs["warnings"]


def test_parameters_on_a_bound_are_told():
    bounded = polynomial(2)
    bounded["parameters"]["b2"] = {"start": 1.0, "bounds": [0.5, 2.0]}
    tree = kx.compare({"free": fitted(polynomial(1), LINE), "bounded": fitted(bounded, LINE)})
    assert "bounded: b2 ended on a bound; criteria and tests count it as estimated." in tree.attrs["warnings"]


def test_a_sequence_takes_titles_where_they_tell_the_models_apart():
    trees = [fitted(polynomial(d, title=f"polynomial of degree {d}"), LINE) for d in (1, 2)]
    assert kx.compare(trees)["models/model"].values.tolist() == ["polynomial of degree 1", "polynomial of degree 2"]
    untitled = [fitted(polynomial(d), LINE) for d in (1, 2)]
    assert kx.compare(untitled)["models/model"].values.tolist() == ["model 1", "model 2"]
