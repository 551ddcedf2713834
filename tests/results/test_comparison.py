"""Comparisons as labelled data, and what their sentences say."""

import math

import numpy as np
import pytest
import xarray as xr

from kinetix.errors import InputError
from kinetix.io import read_tree
from kinetix.io.results import write_tree
from kinetix.results import comparison_tree, require_comparison
from kinetix.results.ranking import Judged, Ranked, ranking_verdict, ranking_warnings
from tests.results.comparisons import comparison_facts


def model(name: str, delta: float, **more) -> Ranked:
    weight = math.exp(-delta / 2)
    known = {"n_parameters": 2, "bic": delta, "p_value": math.nan, "prediction_error": math.nan, "crossed": False, "why": ""}
    return Ranked(name=name, delta=delta, weight=weight, **{**known, **more})


def test_a_comparison_is_written_and_read_without_loss(tmp_path):
    tree = comparison_tree(comparison_facts())
    xr.testing.assert_identical(read_tree(write_tree(tree, tmp_path / "comparison.nc")), tree)
    assert tree["models/status"].attrs["meanings"].startswith("0 success; 1 on bound")
    assert tree["values/predicted"].dims == ("model", "reading") and tree["values/t"].attrs["units"] == "min"
    assert tree["models/prediction_error"].values[0] == pytest.approx(np.sqrt(3.6 / 24))
    assert np.isnan(tree["models/prediction_error"].values[1])


def test_a_failed_fold_is_told_and_takes_the_total_away():
    tree = comparison_tree(comparison_facts())
    assert (
        "inhibited: the cross-validation has no total, because it failed without experiment 'run 2': the fit without it ended badly"
        in (tree.attrs["warnings"])
    )


@pytest.mark.parametrize(
    "delta, words",
    [(2.0, "not distinguishable"), (2.1, "less support"), (4.0, "considerably less support"), (10.0, "essentially no support")],
)
def test_words_follow_burnham_and_anderson(delta, words):
    verdict = ranking_verdict([model("A", 0.0), model("B", delta)], [], "estimated")
    assert words in verdict
    assert ("A describes these data best." in verdict) == (delta > 2)


def test_bic_may_disagree():
    verdict = ranking_verdict([model("A", 0.0, bic=105.0), model("B", 1.0, bic=101.5)], [], "estimated")
    assert "By BIC it is B that comes first, 3.5 lower than A." in verdict


def test_prediction_may_disagree_and_close_errors_are_alike():
    verdict = ranking_verdict([model("A", 0.0, prediction_error=1.3), model("B", 5.0, prediction_error=1.2)], [], "trusted")
    assert "Experiments that were left out are predicted best by B (rms error 1.2, A 1.3)." in verdict
    verdict = ranking_verdict([model("A", 0.0, prediction_error=1.25), model("B", 5.0, prediction_error=1.2)], [], "trusted")
    assert "B and A predict experiments that were left out alike (rms error 1.2 to 1.25)." in verdict


def test_a_test_without_an_answer_is_a_warning():
    test = Judged("A", "B", "F", math.nan, 1, 10.0, math.nan, "no residual is left to compare with")
    assert "B needs" not in ranking_verdict([model("A", 0.0), model("B", 5.0)], [test], "estimated")
    assert ranking_warnings([], [test]) == ["A in B: there is no F test: no residual is left to compare with."]


def test_something_else_is_no_comparison():
    with pytest.raises(InputError, match="Expected the result of a comparison"):
        require_comparison(xr.DataTree())
