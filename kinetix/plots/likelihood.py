"""Profile likelihoods: what it costs to hold a parameter elsewhere, against the parabola of its standard error, with the 95 % threshold."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinetix.plots.sheet import GUIDE, LARGEST_GRID, captioned, colour, sheet, with_unit
from kinetix.results.tree import group_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOP = 2.0
"""Height of a panel in multiples of the threshold."""


def likelihood(tree: xr.DataTree) -> Figure | None:
    """One panel per profiled parameter, or None where nothing was profiled.

    Shown is (S - S_min)/s^2 with all other parameters refitted; dots are the refits. The interval is where the curve lies below the
    horizontal line; dashed is what the standard error says, a parabola in the value.

    Args:
        tree: a result of `kinetix.results.fit_tree`.
    """
    if "likelihood" not in tree.children:
        return None
    group, parameters = group_of(tree, "likelihood"), group_of(tree, "parameters")
    names = [str(name) for name in group["parameter"].values][:LARGEST_GRID]
    threshold = float(group.attrs["q"]) ** 2
    page = sheet(len(names), width=3.2, height=2.6)
    for panel, name in zip(page.panels, names, strict=True):
        _draw(panel, name, group.sel(parameter=name), parameters.sel(parameter=name), threshold)
    return captioned(
        page.figure,
        "Profile likelihoods: (S - S_min)/s² with one parameter held and all others refitted. Below the grey line lies the 95 % interval"
        " (shaded); dashed is the parabola of the standard error.",
    )


def _draw(panel: Axes, name: str, own: xr.Dataset, linear: xr.Dataset, threshold: float) -> None:
    value, cost = own["value"].values, own["tau"].values ** 2
    seen = np.isfinite(value)
    value, cost = value[seen], cost[seen]
    low, high = float(own["lower95"]), float(own["upper95"])
    panel.axvspan(low, high, color=colour(0), alpha=0.10, linewidth=0)
    panel.axhline(threshold, color=GUIDE, linewidth=1.0)
    shown = cost <= 1.5 * TOP * threshold
    if value.size and value.min() > 0 and value.max() > 100 * value.min():
        panel.set_xscale("log")
    dense = _smooth(value, own["tau"].values[seen])
    panel.plot(*dense, color=colour(0), linewidth=1.5)
    panel.plot(value[shown], cost[shown], "o", markersize=3.5, color=colour(0))
    stderr, estimate = float(linear["stderr"]), float(linear["value"])
    left, right = panel.get_xlim()
    if stderr > 0:
        x = np.linspace(left, right, 200)
        panel.plot(x, ((x - estimate) / stderr) ** 2, color=colour(1), linewidth=1.2, linestyle="--")
        panel.set_xlim(left, right)
    panel.set_ylim(0, TOP * threshold)
    panel.locator_params(axis="y", nbins=5)
    if panel.get_xscale() == "linear":
        panel.locator_params(axis="x", nbins=5)
    panel.set_xlabel(with_unit(name, str(own["unit"].values)))
    panel.set_ylabel("(S - S_min)/s²")


def _smooth(value: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """tau^2 between the points, by a monotone cubic through tau."""
    from scipy.interpolate import PchipInterpolator

    if value.size < 3 or not (np.diff(value) > 0).all():
        return value, tau**2
    dense = np.concatenate([np.linspace(a, b, 20) for a, b in pairwise(value)])
    return dense, PchipInterpolator(value, tau)(dense) ** 2
