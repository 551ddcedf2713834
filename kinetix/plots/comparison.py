"""Figures of a comparison of models: criteria as bars, agreement and residuals side by side, errors of what was predicted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinetix.plots.sheet import GUIDE, captioned, colour, marker_size, sheet, with_unit
from kinetix.results.tree import group_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_MODELS = 6
"""Models that stand side by side."""

LONGEST_NAME = 28
FAR = 30.0
"""Ratio of the largest prediction error to the median from which on the axis is logarithmic."""

CONSIDERABLE, NONE = 4.0, 10.0
"""Differences of AICc at which lines are drawn."""


def criteria(tree: xr.DataTree) -> Figure | None:
    """AICc above the best, BIC above the best, and Akaike weights, a bar for each model; None where no model is ranked.

    Args:
        tree: a result of `kinetix.results.comparison_tree`.
    """
    group = group_of(tree, "models")
    order = _ranked(group)
    if not order:
        return None
    names = [_short(str(group["model"].values[i])) for i in order]
    delta, bic, weight = (group[name].values[order] for name in ("delta", "bic", "weight"))
    page = sheet(2, columns=2, width=4.2, height=1.3 + 0.42 * len(order))
    left, right = page.panels
    place = np.arange(len(order))
    left.barh(place - 0.19, delta, height=0.36, color=colour(0), label="AICc")
    left.barh(place + 0.19, bic - bic.min(), height=0.36, color=colour(1), label="BIC")
    for limit in (CONSIDERABLE, NONE):
        left.axvline(limit, color=GUIDE, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    left.set_xlim(0, 1.05 * max(float(delta.max()), float((bic - bic.min()).max()), NONE))
    left.set_xlabel("above the best")
    left.legend(frameon=False, fontsize=9)
    right.barh(place, weight, height=0.5, color=colour(0))
    for y, value in enumerate(weight):
        right.text(float(value) + 0.02, y, f"{value:.2g}", va="center", fontsize=9)
    right.set_xlim(0, 1.12)
    right.set_xlabel("Akaike weight")
    for panel in page.panels:
        panel.set_yticks(place, names if panel is left else [""] * len(order))
        panel.grid(visible=False, axis="y")
        panel.set_ylim(len(order) - 0.5, -0.5)
    out = group.sizes["model"] - len(order)
    missing = f" {out} left out of the ranking." if out else ""
    return captioned(
        page.figure,
        "AICc and BIC of each model above those of the best, and Akaike weights, the share of the evidence among these models. Support is"
        f" considerably less from the first dashed line on, and essentially none from the second.{missing}",
    )


def agreement(tree: xr.DataTree) -> Figure | None:
    """Predicted against observed values, a column for each model and a row for each response; None where nothing was predicted."""
    group = group_of(tree, "values")
    models, responses = _shown(tree), _responses(group)
    if not models:
        return None
    page = sheet(len(models) * len(responses), columns=len(models), width=2.9, height=2.9)
    for row, response in enumerate(responses):
        kept = group["value_response"].values == response
        observed, predicted = group["observed"].values[kept], group["predicted"].values[models][:, kept]
        everything = np.concatenate([observed, predicted[np.isfinite(predicted)]])
        margin = 0.05 * (np.ptp(everything) or abs(everything[0]) or 1.0)
        ends = (everything.min() - margin, everything.max() + margin)
        unit = str(group["value_unit"].values[kept][0])
        for column in range(len(models)):
            panel = page.panels[row * len(models) + column]
            panel.plot(ends, ends, color=GUIDE, linewidth=1.0, zorder=1)
            _points(panel, observed, predicted[column], row)
            panel.set(xlim=ends, ylim=ends, aspect="equal")
            panel.locator_params(nbins=5)
            panel.set_xlabel(with_unit(f"{response} observed", unit))
            _headed(panel, tree, models[column], row, column, with_unit(f"{response} predicted", unit))
    return captioned(page.figure, f"Predicted against observed values, a column for each model. On the line the two agree.{_others(tree)}")


def residuals(tree: xr.DataTree) -> Figure | None:
    """Residuals over their standard deviation against time, else against the measured value, a column for each model."""
    group = group_of(tree, "values")
    models, responses = _shown(tree), _responses(group)
    if not models:
        return None
    standardised = group["standardised"].values
    known = np.abs(standardised[models][np.isfinite(standardised[models])])
    reach = 1.1 * max(2.2, float(known.max()) if known.size else 0.0)
    page = sheet(len(models) * len(responses), columns=len(models), width=3.1, height=2.4)
    for row, response in enumerate(responses):
        kept = group["value_response"].values == response
        unit = str(group["value_unit"].values[kept][0])
        timed = "t" in group.data_vars
        x = group["t" if timed else "observed"].values[kept]
        label = with_unit("t", group["t"].attrs["units"]) if timed else with_unit(f"{response} observed", unit)
        for column, model in enumerate(models):
            panel = page.panels[row * len(models) + column]
            panel.axhline(0, color=GUIDE, linewidth=1.0, zorder=1)
            for limit in (-2, 2):
                panel.axhline(limit, color=GUIDE, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
            _points(panel, x, standardised[model][kept], row)
            panel.set_ylim(-reach, reach)
            panel.set_xlabel(label)
            _headed(panel, tree, model, row, column, f"{response}: residual / std. dev.")
    return captioned(
        page.figure,
        "Residuals (observed - predicted) over the standard deviation that each model finds or is given, a column for each model. A"
        f" pattern is what the model does not explain.{_others(tree)}",
    )


def predictions(tree: xr.DataTree) -> Figure | None:
    """Errors with which experiments that were left out are predicted, a point for each fold; None without a cross-validation."""
    if "cross_validation" not in tree.children:
        return None
    group, models = group_of(tree, "cross_validation"), group_of(tree, "models")
    rms = np.sqrt(group["prediction_ssr"].values / group["fold_values"].values)
    if not np.isfinite(rms).any():
        return None
    number = group.sizes["model"]
    order = [*_ranked(models), *(i for i in range(number) if not models["rank"].values[i])]
    page = sheet(1, width=5.6, height=1.4 + 0.45 * number)
    panel = page.panels[0]
    for y, i in enumerate(order):
        seen = np.isfinite(rms[i])
        shift = np.linspace(-0.22, 0.22, rms.shape[1])[seen] if rms.shape[1] > 1 else np.zeros(1)
        style = {"markersize": marker_size(2 * rms.shape[1]), "markerfacecolor": "none", "markeredgecolor": colour(0)}
        panel.plot(rms[i][seen], y + shift, "o", **style)
        total = float(models["prediction_error"].values[i])
        if math.isfinite(total):
            panel.plot([total, total], [y - 0.34, y + 0.34], color=colour(1), linewidth=2.4)
    known = rms[np.isfinite(rms) & (rms > 0)]
    if known.size and known.max() > FAR * np.median(known):
        panel.set_xscale("log")
    else:
        panel.set_xlim(0, 1.06 * max(float(known.max(initial=0.0)), 1e-300))
    panel.set_yticks(range(number), [_short(str(group["model"].values[i])) for i in order])
    panel.set_ylim(number - 0.5, -0.5)
    panel.set_xlabel(with_unit("rms weighted prediction error", models["prediction_error"].attrs["units"]))
    failed = int((~np.isfinite(rms)).sum())
    missing = f" {failed} that could not be predicted {'has' if failed == 1 else 'have'} no point." if failed else ""
    what = "experiment" if group.sizes["fold"] == group.sizes["experiment"] else "fold of experiments"
    return captioned(
        page.figure,
        f"Cross-validation: the error with which each {what} is predicted by a fit to the others, and as a bar that of all together (none"
        f" where a fold failed).{missing}",
    )


def _ranked(group: xr.Dataset) -> list[int]:
    """Positions of the models that are ranked, the best first."""
    rank = group["rank"].values
    return [int(i) for i in np.argsort(rank, kind="stable") if rank[i] > 0]


def _shown(tree: xr.DataTree) -> list[int]:
    """Positions of the models that are drawn side by side: the best first, then those that are left out but predict something."""
    ranked = _ranked(group_of(tree, "models"))
    seen = [bool(np.isfinite(row).any()) for row in group_of(tree, "values")["predicted"].values]
    return [i for i in (*ranked, *(i for i in range(len(seen)) if i not in ranked)) if seen[i]][:MOST_MODELS]


def _others(tree: xr.DataTree) -> str:
    hidden = group_of(tree, "models").sizes["model"] - len(_shown(tree))
    return f" {hidden} more not drawn." if hidden else ""


def _responses(group: xr.Dataset) -> Sequence[str]:
    return list(dict.fromkeys(str(name) for name in group["value_response"].values))


def _points(panel: Axes, x: np.ndarray, y: np.ndarray, response: int) -> None:
    style = {"markerfacecolor": "none", "markeredgecolor": colour(response), "markeredgewidth": 1.1}
    panel.plot(x, y, "o", markersize=marker_size(x.size), **style)


def _headed(panel: Axes, tree: xr.DataTree, model: int, row: int, column: int, label: str) -> None:
    """The model's name over the first row, the axis label at the first column."""
    if row == 0:
        panel.set_title(_short(str(group_of(tree, "models")["model"].values[model])), fontsize=10)
    if column == 0:
        panel.set_ylabel(label)


def _short(name: str) -> str:
    """A name that has room beside a bar.

    >>> _short("a name that goes on for longer than there is room for it")
    'a name that goes on for lon…'
    """
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
