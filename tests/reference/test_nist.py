"""Certified nonlinear regressions (NIST Statistical Reference Datasets), from both starts, as studies with an explicit model.

Both starts of all sets reach the certified answer; a start that did not would have to end with a status that is not `ok`.
"""

import math

import numpy as np
import pytest

from tests.conftest import DATA
from tests.reference.studies import fit, parameters, statistic

SETS = sorted(folder.name for folder in DATA.glob("nist-*"))


def test_all_sets_are_here():
    assert len(SETS) == 14


@pytest.mark.parametrize("start", ["start1", "start2"])
@pytest.mark.parametrize("name", SETS)
def test_certified_digits(name, start, data):
    case = data(name)
    model, start, expected, tolerance = case.facts["model"], case.facts["start"][start], case.facts["expected"], case.facts["tolerance"]
    left, right = model["equation"].removesuffix(" + e").split(" = ")
    study = {
        "model": {left: right},
        "parameters": {parameter: {"start": value} for parameter, value in start.items()},
        "data": {"dimensionless": True},
    }
    result = fit(study, (case.folder / "data.csv").read_text())

    assert result.attrs["status_label"] == "success"
    assert (statistic(result, "n_observations"), statistic(result, "dof")) == (model["n_obs"], model["dof"])
    certified = expected["parameters"]
    np.testing.assert_allclose(parameters(result, *certified), list(certified.values()), rtol=tolerance["parameters_rel"])
    if "rss_abs" in tolerance:  # lanczos1: the residuals are rounding errors, and so are the standard errors
        assert statistic(result, "ssr") < tolerance["rss_abs"]
        return
    assert math.isclose(statistic(result, "ssr"), expected["residual_sum_of_squares"], rel_tol=tolerance["rss_rel"])
    assert math.isclose(statistic(result, "s"), expected["residual_std_dev"], rel_tol=tolerance["rss_rel"])
    errors = expected["std_errors"]
    np.testing.assert_allclose(parameters(result, *errors, quantity="stderr"), list(errors.values()), rtol=tolerance["std_error_rel"])
