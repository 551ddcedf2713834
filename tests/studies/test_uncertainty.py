"""Profiles, bootstrap and influence of whole studies: against SciPy, brute force, linear theory, and how they are told."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq, least_squares

from kinetix.errors import ParameterError, StudyError
from kinetix.io import read_tree
from kinetix.io.results import write_tree
from kinetix.plots import figures
from kinetix.report import summary, text_report
from kinetix.results import fit_tree
from kinetix.status import Status
from kinetix.studies import Wanted, fit_problem, parse_study, wanted_of
from tests.reference.studies import problem

C = np.array([0.02, 0.02, 0.06, 0.06, 0.11, 0.11, 0.22, 0.22, 0.56, 0.56, 1.1, 1.1])
RATE = np.array([76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200.0])
"""Puromycin, treated cells: D. M. Bates and D. G. Watts (1988), appendix A1.3."""

ENZYME = {
    "model": {"rate": "V*c/(K + c)"},
    "parameters": {"V": {"start": "200 -"}, "K": {"start": "0.06 -"}},
    "data": {"dimensionless": True},
}

O13 = {
    "reactions": {
        "r1": {"equation": "A <-> B", **{k: {"start": "1e3 1/s", "bounds": ["1e-2 1/s", "1e6 1/s"]} for k in ("kf", "kr")}},
    },
    "reactor": {"type": "batch"},
    "initial": {"A": "1 mol/L", "B": "0 mol/L"},
    "noise": {"B": "0.01 mol/L"},
    "fit": {"sigma": "trusted"},
}

RUNS = {
    "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.1 1/min"}}},
    "reactor": {"type": "batch"},
    "initial": {"default": "0 mol/L"},
    "data": {"columns": {"experiment": "run"}},
}


def table(header, *columns):
    rows = zip(*columns, strict=True)
    return "\n".join([header, *(",".join(str(value) for value in row) for row in rows)]) + "\n"


@pytest.fixture(scope="module")
def enzyme():
    given = problem(ENZYME, table("c,rate", C, RATE))
    return given, fit_tree(fit_problem(given, wanted=Wanted(profile=True, bootstrap=2000, influence=True)))


def fitted(rows):
    """V and K by SciPy."""
    found = least_squares(lambda th: th[0] * C[rows] / (th[1] + C[rows]) - RATE[rows], [200.0, 0.06], x_scale=[200, 0.06], xtol=1e-15)
    return found.x


# ---------------------------------------------------------------------------------------------------------------- profile


def test_the_profile_of_puromycin_is_that_of_r(enzyme):
    """confint(nls(rate ~ V*conc/(K + conc), Puromycin, subset = state == "treated")): 197.302, 229.290; 0.046925, 0.086160."""
    group = enzyme[1]["likelihood"].to_dataset()
    found = np.array([group["lower95"], group["upper95"]]).T
    np.testing.assert_allclose(found, [[197.302, 229.290], [0.046925, 0.086160]], rtol=2e-4)
    assert set(group["lower_end"].values) | set(group["upper_end"].values) == {"crossed"}
    V = group.sel(parameter="V")
    inside = np.isfinite(V["value"].values)
    others = V["path"].values[inside]
    np.testing.assert_array_equal(others[:, 0], V["value"].values[inside])
    ssr = [np.sum((v * C / (k + C) - RATE) ** 2) for v, k in others]
    np.testing.assert_allclose(V["objective"].values[inside], ssr, rtol=1e-9)


def test_o13_both_constants_are_one_sided_and_their_ratio_is_named(data):
    case = data("o13-flat-profile")
    expected = {entry["name"]: (entry["value"], entry.get("rtol")) for entry in case.facts["expect"]}
    tree = fit_tree(fit_problem(problem(O13, (case.folder / "data.csv").read_text()), wanted=Wanted(profile=True)))
    kf = tree["likelihood"].to_dataset().sel(parameter="r1.kf")
    low, rtol = expected["profile lower end of kf, 1/s"]
    assert float(kf["lower95"]) == pytest.approx(low, rel=rtol)
    assert (str(kf["lower_end"].values), str(kf["upper_end"].values)) == ("crossed", "bound")
    assert float(kf["upper95"]) == pytest.approx(1e6)
    assert np.isnan(tree["parameters/stderr"].values).all()
    K, error = expected["K"][0], expected["se_K (sigma trusted)"][0]
    assert f"only the ratio r1.kf/r1.kr is determined, {K:.4f} +- {error:.3f}" in tree.attrs["warnings"]
    report = text_report(tree)
    assert "to its bound" in report and "119.4" in report


REVERSIBLE = {
    "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.1 1/min"}}, "r2": {"equation": "B -> A", "k": {"start": "1e-3 1/min"}}},
    "reactor": {"type": "batch"},
    "initial": {"A": "1 mol/L", "default": "0 mol/L"},
}


def ssr_at(reverse, t, A):
    """The sum of squares with the best forward constant, by the closed form of A <-> B."""

    def residuals(logarithm):
        total = np.exp(logarithm[0]) + reverse
        return reverse / total + (1 - reverse / total) * np.exp(-total * t) - A

    return 2 * least_squares(residuals, [np.log(0.1)], xtol=1e-15).cost


@pytest.mark.parametrize(("scatter", "ended"), [([-0.01, 0.0, 0.0, 0.01], "success"), ([0.01, -0.01, 0.005, -0.005], "plateau")])
def test_a_side_without_a_limit_is_told(scatter, ended):
    """A reverse reaction that may or may not be there, best at none at all in the second: the data only say how fast it is at most."""
    t = np.array([1.0, 2.0, 4.0, 8.0])
    A = np.round(np.exp(-0.1 * t) + scatter, 4)
    tree = fit_tree(fit_problem(problem(REVERSIBLE, table("time [min],A [mol/L]", t, A)), wanted=Wanted(profile=True)))
    assert tree.attrs["status_label"] == ended
    reverse = tree["likelihood"].to_dataset().sel(parameter="r2.k")
    assert (str(reverse["lower_end"].values), str(reverse["upper_end"].values)) == ("open", "crossed")
    assert "r2.k has no lower limit" in text_report(tree)
    best = min(ssr_at(k, t, A) for k in np.linspace(0, 0.2, 401))
    dof = int(tree["statistics/dof"])
    threshold = best * (1 + stats.t.ppf(0.975, dof) ** 2 / dof)
    assert float(reverse["upper95"]) == pytest.approx(brentq(lambda k: ssr_at(k, t, A) - threshold, 0.02, 3.0), rel=2e-3)


# -------------------------------------------------------------------------------------------------------------- influence


def test_influence_is_that_of_refits_without_each(enzyme):
    _, tree = enzyme
    group = tree["influence"].to_dataset()
    whole = np.arange(12)
    expected = np.array([fitted(np.delete(whole, i)) for i in whole])
    np.testing.assert_allclose(group["value"].values, expected, rtol=1e-4)
    best, stderr = fitted(whole), tree["parameters/stderr"].values
    np.testing.assert_allclose(group["shift"].values, (expected - best) / stderr, atol=1e-3)
    # Cook's distance with the exact changes, over F(0.95; 2, 10) = 4.1028
    J = np.stack([C / (best[1] + C), -best[0] * C / (best[1] + C) ** 2], axis=1)
    s2 = np.sum((best[0] * C / (best[1] + C) - RATE) ** 2) / 10
    cook = np.sum(((expected - best) @ J.T) ** 2, axis=1) / (2 * s2)
    np.testing.assert_allclose(group["distance"].values, cook / 4.102821, rtol=2e-3)
    text = text_report(tree)
    assert "Influence:" in text and "without" in text


def test_of_one_experiment_the_times_are_left_out():
    t = np.array([1.0, 2.0, 4.0, 8.0])
    rows = table("time [min],A [mol/L]", t, np.round(np.exp(-0.1 * t) + [0.01, -0.01, 0.005, -0.005], 4))
    study = {**RUNS, "initial": {"A": "1 mol/L", "default": "0 mol/L"}, "data": {}}
    tree = fit_tree(fit_problem(problem(study, rows), wanted=Wanted(influence=True)))
    assert tree["influence/left_out"].values.tolist() == ["t = 1 min", "t = 2 min", "t = 4 min", "t = 8 min"]


def test_what_is_decided_by_one_experiment_alone_is_told():
    """Two temperatures, one experiment at the second: without it no Ea."""
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.1 1/min"}, "Ea": {"start": "50 kJ/mol"}}},
        "reactor": {"type": "cstr"},
        "conditions": {"feed": {"A": "1 mol/L", "default": "0 mol/L"}},
    }
    rows = table("T [K],tau [min],A [mol/L]", [350, 350, 350, 370], [2, 4, 8, 4], [0.84, 0.71, 0.56, 0.49])
    tree = fit_tree(fit_problem(problem(study, rows), wanted=Wanted(influence=True)))
    group = tree["influence"].to_dataset()
    assert group["status"].values[3] == Status.FLAT and (group["status"].values[:3] == Status.SUCCESS).all()
    assert "Without 4 the data do not determine all parameters." in text_report(tree)


# -------------------------------------------------------------------------------------------------------------- bootstrap


def test_the_bootstrap_scatters_as_theory_says(enzyme):
    """Nearly linear: standard deviations of the draws agree with the standard errors; 2,000 draws tell them to 1.6 %."""
    _, tree = enzyme
    group = tree["bootstrap"].to_dataset()
    assert group["draw_value"].shape == (2000, 2) and np.isfinite(group["draw_value"].values).all()
    np.testing.assert_allclose(group["stderr"].values, tree["parameters/stderr"].values, rtol=0.08)
    draws = group["draw_value"].values
    np.testing.assert_allclose([group["lower95"], group["upper95"]], np.quantile(draws, [0.025, 0.975], axis=0), rtol=1e-12)
    correlation = np.corrcoef(draws.T)[0, 1]
    assert correlation == pytest.approx(float(tree["covariance/correlation"].sel(parameter="V", other_parameter="K")), abs=0.04)


def test_each_draw_is_the_fit_to_its_data(enzyme):
    """The first draws by hand: predicted plus residuals drawn with the seed of the draw."""
    _, tree = enzyme
    best = fitted(np.arange(12))
    predicted = best[0] * C / (best[1] + C)
    pool = RATE - predicted
    pool = (pool - pool.mean()) * np.sqrt(12 / 10)
    for draw in range(5):
        y = predicted + np.random.default_rng((2026, draw)).choice(pool, size=12)
        expected = least_squares(lambda th, y=y: th[0] * C / (th[1] + C) - y, best, x_scale=best, xtol=1e-15).x
        np.testing.assert_allclose(tree["bootstrap/draw_value"].values[draw], expected, rtol=1e-4)


def test_the_same_seed_gives_the_same_draws_however_many(enzyme):
    given, tree = enzyme
    fewer = fit_tree(fit_problem(given, wanted=Wanted(bootstrap=100)))
    np.testing.assert_array_equal(fewer["bootstrap/draw_value"].values, tree["bootstrap/draw_value"].values[:100])


@pytest.mark.parametrize("kind", ["parametric", "case"])
def test_other_ways_to_draw(enzyme, kind):
    given, tree = enzyme
    drawn = fit_tree(fit_problem(given, wanted=Wanted(bootstrap=500, kind=kind)))
    ratio = drawn["bootstrap/stderr"].values / tree["parameters/stderr"].values
    assert ((ratio > 0.7) & (ratio < 1.4)).all()
    assert drawn["bootstrap"].attrs["kind"] == kind


def test_few_experiments_are_a_reason_to_doubt_and_one_an_error():
    t = np.tile([1.0, 3.0, 6.0], 2)
    A = np.exp(-0.1 * t) + np.array([0.01, -0.02, 0.01, -0.01, 0.02, 0.0])
    study = {**RUNS, "initial": {"A": "1 mol/L", "default": "0 mol/L"}}
    two = problem(study, table("run,time [min],A [mol/L]", [1, 1, 1, 2, 2, 2], t, np.round(A, 4)))
    tree = fit_tree(fit_problem(two, wanted=Wanted(bootstrap=100, kind="case")))
    assert "drew among 2 experiments only" in tree.attrs["warnings"]
    one = problem({**study, "data": {}}, table("time [min],A [mol/L]", t[:3], np.round(A[:3], 4)))
    with pytest.raises(ParameterError, match="there is only one"):
        fit_problem(one, wanted=Wanted(bootstrap=100, kind="case"))


# ---------------------------------------------------------------------------------------------------------- what is said


def test_results_survive_a_file_and_stand_in_summary_and_pictures(enzyme, tmp_path):
    _, tree = enzyme
    write_tree(tree, tmp_path / "fit.nc")
    again = read_tree(tmp_path / "fit.nc")
    for name in ("likelihood", "bootstrap", "influence"):
        assert again[name].to_dataset().identical(tree[name].to_dataset())
    told = summary(tree)
    assert told["profile"]["V"]["upper95"] == pytest.approx(229.29, rel=1e-4) and told["profile"]["V"]["upper_end"] == "crossed"
    assert set(told["bootstrap"]["K"]) == {"mean", "stderr", "lower95", "upper95"}
    assert list(told["influence"])[:2] == ["1", "2"]
    assert {"likelihood", "bootstrap", "influence"} <= set(figures(tree))
    text = text_report(tree)
    assert "profile from" in text and "bootstrap from" in text and "seed 2026" in text


def test_without_a_scatter_there_is_nothing_to_say():
    exact = problem(ENZYME, table("c,rate", [0.1, 0.5], [100.0, 180.0]))
    tree = fit_tree(fit_problem(exact, wanted=Wanted(profile=True)))
    assert "likelihood" not in tree.children
    assert "No profile, influence or bootstrap: the residuals leave no scatter" in tree.attrs["warnings"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (5, "expected the number of refits, 100 or more"),
        ({"number": 500, "kind": "wild"}, "expected one of residual, parametric, case"),
        ({"draws": 500}, "unknown key 'draws'"),
        ("many", "expected the number of refits"),
    ],
)
def test_what_cannot_be_drawn_is_told(asked, words):
    with pytest.raises(ParameterError, match=words):
        wanted_of(False, asked, False)


def test_a_study_says_so():
    fit = {"profile": True, "bootstrap": {"number": 400, "kind": "case"}, "influence": True}
    study = parse_study({"schema": 1, "fit": fit}, "study.toml")
    assert wanted_of(study.fit.profile, study.fit.bootstrap, study.fit.influence) == Wanted(True, 400, "case", True)
    assert wanted_of(None, True, None).bootstrap == 1000
    with pytest.raises(StudyError, match="profile"):
        parse_study({"schema": 1, "fit": {"profile": "yes please"}}, "study.toml")
