"""Figures of comparisons: every model and value in its place, what is left out said."""

import numpy as np
import pytest

from kinetix.plots import COMPARISON_FIGURES, caption_of, figures
from kinetix.results import comparison_tree
from tests.plots.test_figures import png, settings
from tests.results.comparisons import comparison_facts


@pytest.fixture(scope="module")
def tree():
    return comparison_tree(comparison_facts())


def test_all_are_drawn_and_can_be_printed(tree):
    before = settings()
    drawn = figures(tree)
    assert list(drawn) == list(COMPARISON_FIGURES)
    assert all(png(figure).startswith(b"\x89PNG") for figure in drawn.values())
    assert settings() == before
    assert list(figures(tree, ["criteria"])) == ["criteria"]


def test_bars_are_differences_and_weights_best_first(tree):
    figure = figures(tree)["criteria"]
    left, right = figure.axes
    models = tree["models"].to_dataset()
    order = np.argsort(models["rank"].values[:2])
    assert [tick.get_text() for tick in left.get_yticklabels()] == models["model"].values[order].tolist()
    np.testing.assert_allclose([bar.get_width() for bar in left.containers[0]], models["delta"].values[order])
    np.testing.assert_allclose([bar.get_width() for bar in right.containers[0]], models["weight"].values[order])
    assert "1 left out of the ranking" in caption_of(figure)


def test_models_stand_side_by_side(tree):
    figure = figures(tree)["agreement"]
    assert len(figure.axes) == 6  # three models, two responses
    values = tree["values"].to_dataset()
    best = str(tree["models/model"].values[int(np.argmin(np.where(tree["models/rank"].values > 0, tree["models/rank"].values, 9)))])
    assert figure.axes[0].get_title() == best
    kept = values["value_response"].values == "A"
    points = figure.axes[0].get_lines()[-1]
    np.testing.assert_allclose(points.get_xdata(), values["observed"].values[kept])
    np.testing.assert_allclose(points.get_ydata(), values["predicted"].sel(model=best).values[kept])
    limits = {panel.get_ylim() for panel in figures(tree)["residuals-by-model"].axes}
    assert len(limits) == 1


def test_predictions_that_failed_have_no_point_and_no_bar(tree):
    figure = figures(tree)["predictions"]
    (panel,) = figure.axes
    points = [line for line in panel.get_lines() if line.get_marker() == "o"]
    assert sorted(len(line.get_xdata()) for line in points) == [2, 3, 3]
    assert len(panel.get_lines()) - len(points) == 2
    assert "1 that could not be predicted has no point" in caption_of(figure)


def test_without_a_cross_validation_there_is_no_such_figure():
    assert "predictions" not in figures(comparison_tree(comparison_facts_without()))


def comparison_facts_without():
    from dataclasses import replace

    return replace(comparison_facts(), cross_validation=None, nested=())
