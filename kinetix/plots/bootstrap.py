"""Histograms of bootstrap estimates, with the estimate and both intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinetix.plots.sheet import GUIDE, LARGEST_GRID, captioned, colour, sheet, with_unit
from kinetix.results.tree import group_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TAILS = (0.2, 99.8)
"""Percentiles between which a histogram is drawn: a few refits that ran away would squeeze the rest."""


def bootstrap(tree: xr.DataTree) -> Figure | None:
    """One panel per parameter, or None where there was no bootstrap, or none of it had an answer.

    Args:
        tree: a result of `kinetix.results.fit_tree`.
    """
    if "bootstrap" not in tree.children:
        return None
    group, parameters = group_of(tree, "bootstrap"), group_of(tree, "parameters")
    draws = group["draw_value"].values
    draws = draws[np.isfinite(draws).all(axis=1)]
    if not len(draws):
        return None
    names = [str(name) for name in group["parameter"].values][:LARGEST_GRID]
    page = sheet(len(names), width=3.2, height=2.6)
    for panel, i, name in zip(page.panels, range(len(names)), names, strict=True):
        low, high = np.percentile(draws[:, i], TAILS)
        positive = low > 0 and high > 100 * low
        edges = np.geomspace(low, high, 41) if positive else np.linspace(low, high, 41) if high > low else 10
        panel.hist(draws[:, i], bins=edges, color=colour(0), alpha=0.35)
        if positive:
            panel.set_xscale("log")
        linear = parameters.sel(parameter=name)
        panel.axvline(float(linear["value"]), color=GUIDE, linewidth=1.0)
        for ends, style, number in ((group.sel(parameter=name), "-", 0), (linear, "--", 1)):
            for end in ("lower95", "upper95"):
                panel.axvline(float(ends[end]), color=colour(number), linewidth=1.2, linestyle=style)
        panel.set_yticks([])
        panel.set_xlabel(with_unit(name, str(group["unit"].values[i])))
        if not positive:
            panel.locator_params(axis="x", nbins=5)
    return captioned(
        page.figure,
        f"Estimates of {len(draws)} data sets that could have been measured instead ({group.attrs['kind']} bootstrap). Lines: the estimate"
        " (grey), the 95 % percentile interval (solid) and the interval by standard errors (dashed).",
    )
