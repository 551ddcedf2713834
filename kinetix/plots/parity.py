"""Predicted against observed, one panel per response, with the line on which they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinetix.plots.sheet import GUIDE, captioned, colour, marker_size, sheet, with_unit
from kinetix.results.phrases import near_one
from kinetix.results.tree import group_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def parity(tree: xr.DataTree) -> Figure | None:
    """The parity plot of a fit, or None where nothing was both measured and predicted.

    Args:
        tree: a result of `kinetix.results.fit_tree`.

    Returns:
        A figure with one square panel per response; R2 stands in each panel.
    """
    group = group_of(tree, "predictions")
    seen = group["measured"].values & np.isfinite(group["predicted"].values)
    shown = [index for index in range(group.sizes["response"]) if seen[..., index].any()]
    if not shown:
        return None
    page = sheet(len(shown), width=3.4, height=3.4)
    for panel, index in zip(page.panels, shown, strict=True):
        name, unit = str(group["response"].values[index]), str(group["unit"].values[index])
        kept = seen[..., index]
        observed, predicted = group["observed"].values[..., index][kept], group["predicted"].values[..., index][kept]
        low, high = min(observed.min(), predicted.min()), max(observed.max(), predicted.max())
        margin = 0.05 * (high - low or abs(high) or 1.0)
        ends = (low - margin, high + margin)
        panel.plot(ends, ends, color=GUIDE, linewidth=1.0, zorder=1)
        size = marker_size(observed.size)
        panel.plot(observed, predicted, "o", markersize=size, markerfacecolor="none", markeredgecolor=colour(index), markeredgewidth=1.1)
        panel.set(xlim=ends, ylim=ends, aspect="equal")
        panel.locator_params(nbins=5)
        panel.set_xlabel(with_unit(f"{name} observed", unit))
        panel.set_ylabel(with_unit(f"{name} predicted", unit))
        r_squared = float(group_of(tree, "statistics")["r_squared"].values[index])
        if np.isfinite(r_squared):
            panel.text(0.04, 0.96, f"$R^2$ = {near_one(r_squared)}", transform=panel.transAxes, va="top", fontsize=9)
    return captioned(
        page.figure,
        "Predicted against observed values, by response. On the line the two agree; R² is the coefficient of determination.",
    )
