"""The waterfall of a fit from many starts: the objectives that they reached, in order. A level is an optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinetix.plots.sheet import GUIDE, captioned, colour, marker_size, sheet, with_unit
from kinetix.results.phrases import count
from kinetix.results.tree import group_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEWEST = 10
"""Starts from which on an order of them shows something."""

LEVEL = 1e-6
"""Objectives that differ by less lie on one level."""

MOST_OPTIMA = 5
"""Optima with a colour of their own."""


def starts(tree: xr.DataTree) -> Figure | None:
    """The waterfall plot, or None where there were fewer than ten starts or none could be simulated.

    Against the rank of each start stands how far its objective is above the best, relative to the best where that is not zero, on a
    scale that is linear up to 1e-6 and logarithmic beyond, so that equal optima lie on one level whatever rounding makes of them.

    Args:
        tree: a result of `kinetix.results.fit_tree`.
    """
    if "starts" not in tree.children:
        return None
    group = group_of(tree, "starts")
    seen = np.flatnonzero(np.isfinite(group["objective"].values))
    if group.sizes["start"] < FEWEST or not seen.size:
        return None
    objective, reached = group["objective"].values, group["reached"].values
    best = float(objective[group.attrs["best"]])
    relative = best > 0
    above = np.maximum(objective[seen] - best, 0.0) / (best if relative else 1.0)
    sorted_ = np.lexsort((reached[seen], np.maximum(above, LEVEL)))  # on one level rounding has no say in the order
    order, height = seen[sorted_], above[sorted_]
    page = sheet(1, width=5.6, height=3.4)
    panel = page.panels[0]
    rank = np.arange(1, order.size + 1)
    style = {"markersize": marker_size(order.size), "linestyle": "none"}
    panel.plot(rank, height, color="#D0D0D0", linewidth=1.0, zorder=1)
    shown = min(group.sizes["optimum"], MOST_OPTIMA)
    for optimum in range(shown):
        own = reached[order] == optimum
        label = f"optimum {optimum}: {count(int(own.sum()), 'start')}"
        panel.plot(rank[own], height[own], "o", color=colour(optimum), label=label, **style)
    rest = reached[order] >= shown
    if rest.any():
        panel.plot(rank[rest], height[rest], "o", color=GUIDE, label=f"other optima: {count(int(rest.sum()), 'start')}", **style)
    lost = reached[order] < 0
    if lost.any():
        panel.plot(rank[lost], height[lost], "x", color=GUIDE, label=f"no answer: {count(int(lost.sum()), 'start')}", **style)
    panel.set_yscale("symlog", linthresh=LEVEL)
    panel.set_ylim(-0.3 * LEVEL, max(1.0, 5.0 * float(height.max())))
    panel.set_xlabel("starts, in order of the objective they reached")
    unit = "1" if relative else group["objective"].attrs["units"]
    panel.set_ylabel(with_unit("objective above the best" + (", relative to it" if relative else ""), unit))
    panel.legend(frameon=False, fontsize=9)
    missing = group.sizes["start"] - seen.size
    return captioned(
        page.figure,
        "Waterfall: how far the search from each start ended above the best objective. A level is an optimum; crosses ended without an"
        " answer." + (f" {count(missing, 'start')} could not be simulated." if missing else ""),
    )
