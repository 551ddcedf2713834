"""The DataTrees of fits and simulations: every variable as the schema says, in the user's units, with attributes that netCDF takes."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from kinetix.analyses.lack_of_fit import LackOfFit
from kinetix.io import read_tree, write_tree
from kinetix.results import VARIABLES, Condition, FitFacts, NoiseFacts, branches_dataset, comparison_tree, fit_tree, simulation_tree
from kinetix.results.schema import ATTRIBUTES
from kinetix.status import Status
from kinetix.units import parse_unit
from tests.results.comparisons import comparison_facts
from tests.results.examples import (
    TRUE,
    autocatalytic_tank,
    batch,
    robust_facts,
    simulated_batch,
    simulated_tank,
    single_facts,
    steady_facts,
    timed_facts,
)
from tests.results.refits import refitted_facts

LISTED = {(row.group, row.name): row for row in VARIABLES}


def with_points(facts: FitFacts) -> FitFacts:
    (curve,) = facts.arrhenius
    return replace(facts, arrhenius=(replace(curve, points=np.array([[330.0, 0.08], [350.0, 0.25]])), replace(curve, name="r2.k")))


EVERY = {
    "timed": timed_facts(),
    "single": single_facts(),
    "steady": steady_facts(),
    "points": with_points(timed_facts()),
    "refitted": refitted_facts(),
    "robust": robust_facts(timed_facts()),
    "replicates": replace(timed_facts(), replicates=LackOfFit(3, 7, 0.01, 4, 0.02, 25, 1.2, 0.4)),
    "likelihood": replace(timed_facts(), sigma_meaning="modelled", noise=NoiseFacts(81.2, 31, 0.97, "maximum likelihood")),
}
TREES = {name: fit_tree(facts) for name, facts in EVERY.items()} | {
    "simulated batch": simulation_tree(simulated_batch()),
    "simulated tank": simulation_tree(simulated_tank()),
    "all states": xr.DataTree.from_dict({"states": branches_dataset(autocatalytic_tank())}),
    "comparison": comparison_tree(comparison_facts()),
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_every_variable_is_as_the_schema_says(tree):
    for group in tree.children.values():
        for name, found in group.to_dataset().variables.items():
            row = LISTED.get((group.name, name)) or LISTED[group.name, "*"]
            assert found.dims == row.dims
            assert ("units" in found.attrs) == (row.unit != "label")
            assert row.name == "*" or found.attrs["long_name"] == row.meaning


def test_every_row_of_the_schema_occurs():
    groups = [group for tree in TREES.values() for group in tree.children.values()]
    occurring = {(group.name, name) for group in groups for name in group.to_dataset().variables}
    assert {row for row in LISTED if row[1] != "*"} <= occurring
    assert len(LISTED) == len(VARIABLES)


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_attributes_are_text_or_numbers(tree):
    values = list(tree.attrs.values())
    values += [value for group in tree.children.values() for found in group.variables.values() for value in found.attrs.values()]
    assert {type(value) for value in values} <= {str, int, float}
    assert {"simulation", "states", "models"} & set(tree.children) or set(ATTRIBUTES) <= set(tree.attrs)


def test_values_are_in_the_units_of_the_user():
    facts = timed_facts()
    tree = fit_tree(facts)
    parameters = tree["parameters"].to_dataset()
    np.testing.assert_allclose(parameters["value"], facts.values_si * [60, 1e-3], rtol=1e-14)
    np.testing.assert_allclose(parameters["stderr"], facts.stderr_si * [60, 1e-3], rtol=1e-14)
    np.testing.assert_allclose(parameters["lower95"], facts.interval_si[:, 0] * [60, 1e-3], rtol=1e-14)
    assert parameters["unit"].values.tolist() == ["1/min", "kJ/mol"]
    assert parameters["value"].attrs["units"] == "see coordinate unit"
    np.testing.assert_allclose(np.sqrt(np.diag(tree["covariance"]["covariance"])), parameters["stderr"], rtol=1e-12)
    np.testing.assert_allclose(tree["conditions"]["T"], [56.85, 76.85], rtol=1e-13)
    np.testing.assert_allclose(tree["predictions"]["t"][0], np.linspace(0, 14, 8))
    np.testing.assert_allclose(tree["predictions"]["predicted"][0, 0], [1.0, 0.0], atol=1e-15)
    assert tree["predictions"]["predicted"].attrs["units"] == "mol/L"
    assert tree["statistics"]["ssr"].attrs["units"] == "(mol/L)^2"


def test_an_absolute_temperature_is_no_difference_of_temperatures():
    celsius = parse_unit("°C")
    facts = replace(
        steady_facts(),
        units=(celsius, *steady_facts().units[1:]),
        values_si=np.array([350.0, 6e4, 2.3]),
        stderr_si=np.array([1.5, np.nan, np.nan]),
        interval_si=np.array([[347.0, 353.0], [np.nan, np.nan], [np.nan, np.nan]]),
        response_units=(celsius,),
        observed_si=np.full((9, 1, 1), 300.0),
        predicted_si=np.full((9, 1, 1), 299.0),
        sigma_si=np.full((9, 1, 1), 0.5),
    )
    tree = fit_tree(facts)
    first = tree["parameters"].to_dataset().isel(parameter=0)
    np.testing.assert_allclose([first["value"], first["stderr"], first["lower95"], first["upper95"]], [76.85, 1.5, 73.85, 79.85])
    cell = tree["predictions"].to_dataset().isel(experiment=0, time=0, response=0)
    np.testing.assert_allclose([cell["observed"], cell["residual"], cell["sigma"]], [26.85, 1.0, 0.5])


def test_a_value_that_was_not_measured_is_nan_everywhere():
    facts = timed_facts()
    filled = np.where(facts.mask, facts.observed_si, 123.0)
    cell = fit_tree(replace(facts, observed_si=filled))["predictions"].to_dataset().isel(experiment=1, time=4, response=1)
    assert not cell["measured"]
    assert np.isnan([cell["observed"], cell["residual"], cell["weighted_residual"]]).all()
    assert np.isfinite(cell["predicted"])


def test_members_with_unlike_units_point_to_the_coordinate():
    facts = replace(timed_facts(), response_units=(parse_unit("mol/L"), parse_unit("mol/m^3")))
    tree = fit_tree(facts)
    assert tree["predictions"]["observed"].attrs["units"] == "see coordinate unit"
    assert tree["predictions"]["unit"].values.tolist() == ["mol/L", "mol/m^3"]
    assert tree["statistics"]["ssr"].attrs["units"] == "mixed"
    assert fit_tree(replace(facts, sigma_meaning="trusted"))["statistics"]["ssr"].attrs["units"] == "1"


def test_groups_that_do_not_apply_are_absent():
    tree = fit_tree(single_facts())
    assert set(tree.children) == {"parameters", "covariance", "predictions", "statistics"}
    assert "t" not in fit_tree(steady_facts())["predictions"].data_vars


def test_a_condition_may_have_any_name():
    facts = replace(
        single_facts(), conditions={name: Condition(np.array([1.0]), parse_unit("1")) for name in ("W/F", "1/tau", "experiment")}
    )
    data = fit_tree(facts)["conditions"].to_dataset()
    assert {str(name): values.attrs["long_name"] for name, values in data.data_vars.items()} == {
        "W_per_F": "W/F",
        "1_per_tau": "1/tau",
        "experiment_": "experiment",
    }


def test_time_units_do_not_turn_into_time_stamps_in_other_hands():
    facts = replace(timed_facts(), time_unit=parse_unit("minutes"))
    assert fit_tree(facts)["predictions"]["t"].attrs["units"] == "min"


def test_status_and_warnings_stand_in_the_root():
    facts = replace(timed_facts(), status=Status.ITERATION_LIMIT, warnings=("T = 25 K is outside 150-3000 K.",))
    attributes = fit_tree(facts).attrs
    assert attributes["converged"] == 0
    assert attributes["status_label"] == "iteration limit"
    first, *others = attributes["warnings"].splitlines()
    assert first.startswith("The fit did not converge") and "T = 25 K is outside 150-3000 K." in others
    assert "NOT converge" in attributes["verdict"]


def test_a_simulation_in_the_units_of_the_user():
    facts = simulated_batch()
    tree = simulation_tree(facts)
    simulation = tree["simulation"].to_dataset()
    A, B = np.moveaxis(batch(TRUE, np.array([330.0, 350.0]), facts.times_si), -1, 0)
    np.testing.assert_allclose(simulation["predicted"].sel(response="A", experiment="cold"), A[0] / 1000, rtol=1e-14)
    np.testing.assert_allclose(simulation["predicted"].sel(response="B", experiment="cold"), B[0], rtol=1e-14)
    assert simulation["predicted"].attrs["units"] == "see coordinate unit"
    np.testing.assert_allclose(simulation["t"], np.tile([0, 5, 10, 15, 20], (2, 1)))
    assert simulation["t"].attrs["units"] == "min"
    np.testing.assert_allclose(tree["parameters"]["value"], [0.15, 60.0])
    np.testing.assert_allclose(tree["conditions"]["T"], [56.85, 76.85])
    assert tree.attrs == {
        "title": "A → B",
        "notes": "column 'T [°C]' read as T",
        "kinetix_version": "0.1.0",
        "device": "cpu",
    }


def test_a_solve_that_failed_is_nan_with_its_status():
    simulation = simulation_tree(simulated_batch())["simulation"].to_dataset()
    assert simulation["status"].values.tolist() == [Status.SUCCESS, Status.STEP_LIMIT]
    assert np.isnan(simulation["predicted"].sel(experiment="hot")[3:]).all()
    assert np.isfinite(simulation["predicted"].sel(experiment="hot")[:3]).all()
    assert "2 step limit" in simulation["status"].attrs["meanings"]
    assert simulation["steps"].values.tolist() == [37, 10_000]


def test_a_steady_state_has_no_time_and_no_group_that_does_not_apply():
    tree = simulation_tree(simulated_tank())
    assert set(tree.children) == {"parameters", "simulation"}
    assert "t" not in tree["simulation"].to_dataset().variables
    np.testing.assert_allclose(tree["simulation"]["predicted"], [[[50.0]]])
    assert tree["simulation"]["predicted"].attrs["units"] == "%"


def test_all_states_are_told_in_the_units_of_the_user():
    facts = autocatalytic_tank()
    data = branches_dataset(facts)
    assert data.attrs["along"] == "tau" and data["state_experiment"].values.tolist() == ["short"] * 3 + ["long"] * (data.sizes["state"] - 3)
    np.testing.assert_allclose(data["concentration"], facts.state_c_si / 1000)
    np.testing.assert_allclose(data["predicted"], 100 * facts.state_responses_si)
    np.testing.assert_allclose(data["T"], 76.85)
    np.testing.assert_allclose(data["wanted"], [5 / 60, 20 / 60])
    np.testing.assert_allclose(data["eigenvalue_real"], 60 * facts.state_eigenvalues_si.real)
    units = [data[name].attrs["units"] for name in ("concentration", "predicted", "T", "point_along", "eigenvalue_imag")]
    assert units == ["mol/L", "%", "degC", "min", "1/min"]
    assert "5 not converged" in data["status"].attrs["meanings"]


def test_all_states_come_back_from_a_file(tmp_path):
    tree = xr.DataTree.from_dict({"states": branches_dataset(autocatalytic_tank())})
    assert read_tree(write_tree(tree, tmp_path / "states.nc")).identical(tree)
