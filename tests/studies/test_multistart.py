"""Fits of studies from many starts: published optima from wide bounds, twins named, failed and unfinished starts, seeds."""

import logging
from pathlib import Path

import jax
import numpy as np
import pytest

import kinetix as kx
from kinetix.errors import InputError, ParameterError
from kinetix.io import read_tree
from kinetix.io.results import write_tree
from kinetix.parameters import Parameter
from kinetix.report import summary, text_report
from kinetix.results import fit_tree
from kinetix.status import Status
from kinetix.studies import FitLimits, Multistart, fit_problem, starting
from kinetix.studies.optima import relation
from kinetix.studies.searching import ParameterTable
from kinetix.units import parse_unit
from tests.reference.studies import problem

O12 = {
    "reactions": {
        f"r{i}": {"equation": equation, "k": {"start": "1 1/s", "bounds": ["1e-3 1/s", "1e3 1/s"]}}
        for i, equation in ((1, "A -> B"), (2, "B -> C"))
    },
    "reactor": {"type": "batch"},
    "initial": {"A": "1 mol/L", "default": "0 mol/L"},
    "responses": {"signal": "f*[B]"},
    "parameters": {"f": {"start": "1 L/mol", "bounds": ["1e-3 L/mol", "1e3 L/mol"]}},
    "noise": {"signal": 0.01},
    "fit": {"sigma": "trusted"},
    "data": {"columns": {"signal": "S [1]"}},
}


@pytest.fixture(scope="module")
def o12(data):
    case = data("o12-swapped-minima")
    given = problem(O12, (case.folder / "data.csv").read_text())
    return case, given, fit_tree(fit_problem(given, multistart=Multistart(16, 3)))


def test_o12_both_minima_are_found_and_the_exchange_is_named(o12):
    case, _, tree = o12
    expected = {entry["name"]: entry["value"] for entry in case.facts["expect"]}
    group = tree["starts"].to_dataset()
    assert group.sizes["start"] == 16 and group["origin"].values.tolist() == ["given"] + ["spread"] * 15
    minima = sorted(expected[f"minimum {i}: f, k1, k2"] for i in (1, 2))
    good = group["optimum_value"].values[group["optimum_as_good"].values]
    np.testing.assert_allclose(sorted(good.tolist()), minima, rtol=1e-4)
    np.testing.assert_allclose(group["optimum_objective"].values[:2], expected["chi_square of both"], rtol=1e-5)
    assert "r1.k and r2.k exchanged" in str(group["optimum_note"].values[1])
    reached = group["reached"].values
    assert reached[0] == 0 and (reached == 0).sum() + (reached == 1).sum() >= 8
    warnings = tree.attrs["warnings"]
    assert "Another set of parameters fits as well: f = " in warnings and "(r1.k and r2.k exchanged)" in warnings
    report = text_report(tree)
    assert "Starts: 16 starts (1 given and 15 spread over the ranges, seed 3):" in report and "r1.k and r2.k exchanged" in report


def test_the_result_of_a_start_is_that_of_a_fit_from_there(o12):
    """What each start gave is what it gives alone, and its numbers are in the user's units."""
    _, given, tree = o12
    group = tree["starts"].to_dataset()
    chosen = int(np.flatnonzero(group["reached"].values == 1)[0])
    start = given.table.start
    for name, value in zip(group["parameter"].values, group["start_value"].values[chosen], strict=True):
        i = given.table.names.index(str(name))
        start[i] = given.table.parameters[i].unit.to_si(value)
    alone = fit_problem(type(given)(**{**vars(given), "table": given.table.started(start)}))
    found = [
        given.table.parameters[given.table.names.index(str(name))].unit.from_si(alone.values_si[alone.parameter_names.index(str(name))])
        for name in group["parameter"].values
    ]
    np.testing.assert_allclose(found, group["end_value"].values[chosen], rtol=1e-6)
    assert alone.starts is None and "starts" not in fit_tree(alone).children


def test_the_group_goes_through_a_file_and_into_the_summary(o12, tmp_path):
    tree = o12[2]
    write_tree(tree, tmp_path / "fit.nc")
    assert read_tree(tmp_path / "fit.nc")["starts"].identical(tree["starts"])
    found = summary(tree)["starts"]
    assert found["number"] == 16
    assert sum(one["starts"] for one in found["optima"]) + found["without_answer"] == 16
    figure = kx.figures(tree, ["starts"])["starts"]
    points = sum(len(line.get_xdata()) for line in figure.axes[0].lines[1:])
    assert points == np.isfinite(tree["starts/objective"].values).sum()


def test_nothing_is_compiled_for_more_starts(o12, caplog):
    """The compiler is called as often for five starts as for one."""
    given = o12[1]

    def compiled(number):
        jax.clear_caches()
        caplog.clear()
        with jax.log_compiles(), caplog.at_level(logging.WARNING):
            fit_problem(given, multistart=Multistart(number))
        return sum("Finished XLA compilation" in record.getMessage() for record in caplog.records)

    one = compiled(1)
    assert one > 0 and compiled(5) == one


def bellman(data):
    case = data("ef-bellman-no-o2")
    wide = {
        "p1": {"start": "1e-2 m^6/mol^2/min", "bounds": ["1e-9 m^6/mol^2/min", "1e-1 m^6/mol^2/min"]},
        "p2": {"start": "1e1 m^3/mol/min", "bounds": ["1e-8 m^3/mol/min", "1e2 m^3/mol/min"]},
    }
    study = {
        "formulas": False,
        "reactions": {"r1": {"equation": "A + B -> C", "rate": "p1*[A]*[B]^2 - p2*[C]^2", "parameters": wide}},
        "reactor": {"type": "batch"},
        "initial": {"A": "126.2 mol/m^3", "B": "91.9 mol/m^3", "C": "0 mol/m^3"},
        "data": {"columns": {"time": "time [min]", "C": "y [mol/m^3]"}},
    }
    return case, problem(study, (case.folder / "data.csv").read_text())


def test_bellman_from_starts_within_eight_decades(data):
    """Published optimum 22.03094 (Esposito and Floudas 2000), from bounds of eight and ten decades."""
    case, given = bellman(data)
    tree = fit_tree(fit_problem(given, multistart=Multistart(16)))
    expected, tolerance = case.facts["expected"], case.facts["tolerance"]
    assert float(tree["statistics/ssr"]) == pytest.approx(expected["objective"], rel=tolerance["objective_rel"])
    found = [float(tree["parameters/value"].sel(parameter=f"r1.{name}")) for name in expected["parameters"]]
    np.testing.assert_allclose(found, list(expected["parameters"].values()), rtol=tolerance["parameters_rel"])
    starts = tree["starts/start_value"].values
    assert np.log10(starts[1:, 0]).min() < -8 and np.log10(starts[1:, 0]).max() > -2


LINE = {
    "model": {"y": "log(b) + x*0"},
    "parameters": {"b": {"start": "2 -", "scale": "linear", "bounds": ["-3 -", "3 -"]}},
    "data": {"dimensionless": True},
}


def test_a_start_that_cannot_be_simulated_has_its_status_and_is_not_lost():
    """log b of a negative b is no number: about half of the starts fail, and the answer is the mean of y."""
    facts = fit_problem(problem(LINE, "x,y\n1,0.4\n2,0.5\n3,0.6\n"), multistart=Multistart(11))
    starts = facts.starts
    negative = starts.starts_si[:, 0] <= 0
    assert 4 <= negative.sum() <= 6
    assert all(status is Status.NON_FINITE for status, bad in zip(starts.status, negative, strict=True) if bad)
    assert np.isnan(starts.ends_si[negative]).all() and np.isnan(starts.ssr[negative]).all()
    assert (starts.optimum[negative] == -1).all() and (starts.optimum[~negative] == 0).all()
    assert facts.values_si[0] == pytest.approx(np.exp(0.5), rel=1e-8)
    assert f"{negative.sum()} ended without an answer (non finite)" in text_report(fit_tree(facts))


def test_a_better_end_than_that_of_the_given_start_is_taken_and_said():
    """y = sin(b x) with b = 1.3: from 6 the fit ends in a side valley."""
    study = {
        "model": {"y": "sin(b*x)"},
        "parameters": {"b": {"start": "6 -", "bounds": ["0.1 -", "8 -"], "scale": "linear"}},
        "data": {"dimensionless": True},
    }
    x = np.linspace(0.2, 5, 20)
    rows = "x,y\n" + "".join(f"{a:.6f},{np.sin(1.3 * a) + 0.01 * np.cos(17 * a):.6f}\n" for a in x)
    single = fit_tree(fit_problem(problem(study, rows)))
    many = fit_tree(fit_problem(problem(study, rows), multistart=Multistart(20)))
    assert abs(single["parameters/value"].item() - 1.3) > 1
    assert many["parameters/value"].item() == pytest.approx(1.3, abs=0.01)
    assert many["parameters/start"].item() != 6.0
    report = text_report(many)
    assert "The given start led to" in report and "other optima that are worse" in report
    assert not many["starts/optimum_as_good"].values[1:].any()


def test_mirrored_optima_are_named():
    """b appears squared."""
    study = {"model": {"y": "b^2*x"}, "parameters": {"b": {"start": "1 -", "scale": "linear"}}, "data": {"dimensionless": True}}
    tree = fit_tree(fit_problem(problem(study, "x,y\n1,4.1\n2,7.9\n3,12.1\n"), multistart=Multistart(12)))
    assert tree["starts/optimum_note"].values.tolist() == ["", "b with the other sign"]
    assert "b with the other sign" in tree.attrs["warnings"]


def test_values_that_went_round_are_named():
    def log(name):
        return Parameter(name, parse_unit("1/s"), 1.0, -np.inf, np.inf, "log", False)

    table = ParameterTable(tuple(log(name) for name in "abcd"))
    assert relation(table, np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 3.0, 1.0, 9.0])) == "a, b and c exchanged in turn"
    assert relation(table, np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 4.0, 3.0])) == "a and b exchanged, c and d exchanged"
    assert relation(table, np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 5.0, 4.0])) == ""


def test_the_same_seed_gives_the_same_starts_within_the_bounds(o12):
    given = o12[1]
    one = starting.spread_starts(given, 40, 7)
    np.testing.assert_array_equal(one, starting.spread_starts(given, 40, 7))
    assert not np.array_equal(one, starting.spread_starts(given, 40, 8))
    for i in given.table.free:
        p = given.table.parameters[i]
        assert (one[:, i] >= p.lower).all() and (one[:, i] <= p.upper).all()
        decades = np.log10(one[:, i] / p.lower) / np.log10(p.upper / p.lower)
        np.testing.assert_array_equal(np.sort((decades * 40).astype(int)), np.arange(40))


def test_ranges_without_bounds():
    def about(unit, start, scale, lower=-np.inf, upper=np.inf, name="r1.k"):
        return starting.range_about(Parameter(name, parse_unit(unit), start, lower, upper, scale, False))

    assert np.exp(about("1/s", 0.01, "log")) == pytest.approx([1e-5, 10.0])
    assert about("J/mol", 250e3, "linear") == (20e3, 250e3)
    assert about("J/mol", -40e3, "linear", name="r1.K.dH") == (-150e3, 150e3)
    assert about("1", 2.0, "linear") == (-2.0, 6.0)
    assert about("1", 2.0, "linear", lower=0.0) == (0.0, 6.0)
    with pytest.raises(ParameterError, match="'c' starts at 0 and has not two bounds"):
        about("1", 0.0, "linear", name="c")


def test_a_limit_of_time_holds_for_all_and_those_not_run_are_listed(o12):
    facts = fit_problem(o12[1], FitLimits(max_seconds=1e-9), multistart=Multistart(5))
    assert facts.status is Status.TIME_LIMIT and len(facts.starts.status) == 5
    assert set(facts.starts.status) == {Status.TIME_LIMIT}
    assert np.isnan(facts.starts.ends_si[1:]).all() and np.isfinite(facts.starts.starts_si).all()
    assert any("ended after 1 of 5 starts" in warning for warning in facts.warnings)


def test_ctrl_c_keeps_the_starts_that_are_done(o12):
    def stop(done):
        if done.done == 3:
            raise KeyboardInterrupt

    facts = fit_problem(o12[1], multistart=Multistart(6), on_start=stop)
    assert facts.status.ok
    assert [status is Status.STOPPED for status in facts.starts.status] == [False] * 3 + [True] * 3
    assert any("ended after 3 of 6 starts (stopped)" in warning for warning in facts.warnings)


@pytest.mark.parametrize(
    ("starts", "seed", "words"), [(0, 1, "starts = 0"), (2.5, 1, "starts = 2.5"), (True, 1, "starts = True"), (3, -1, "seed = -1")]
)
def test_wrong_numbers_are_told(starts, seed, words):
    with pytest.raises(InputError, match=words):
        Multistart(starts, seed)


def test_starts_that_the_data_told_stand_in_the_same_group():
    """None given: eight are refined, and one where one is asked for."""
    folder = Path(__file__).parents[2] / "examples" / "series"
    campaign = kx.read_csv(folder / "data.csv", kx.Batch(kx.parse_network("A -> B; B -> C")))
    known = {"initial.A": "1 mol/L", "initial.default": "0 mol/L"}
    series = kx.Batch(kx.parse_network("A -> B; B -> C"))
    tree = kx.fit(series, campaign, known=known)
    assert set(tree["starts/origin"].values.tolist()) == {"data"} and tree["starts"].sizes["start"] <= starting.REFINED
    assert "starts" not in kx.fit(series, campaign, known=known, starts=1).children
