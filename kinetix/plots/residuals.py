"""Standardised residuals against the prediction and against time or a condition: a pattern in them is what the model does not explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinetix.plots.against import Abscissa, over_time, varying_conditions
from kinetix.plots.sheet import GUIDE, captioned, colour, marker_size, sheet, with_unit
from kinetix.results.residuals import standardised_residuals
from kinetix.results.tree import group_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def residuals(tree: xr.DataTree) -> Figure | None:
    """The residual plot of a fit, or None where there is no residual.

    Residuals are observed - predicted over their standard deviation: sigma where it is trusted, s times sigma where it is
    scaled, s where it is estimated. Dashed lines at -2 and 2 hold about 95 % of them if the model is right.

    Args:
        tree: a result of `kinetix.results.fit_tree`.

    Returns:
        A figure with a row of panels per response: against the prediction, and against time, T, or the first condition that varies.
    """
    group = group_of(tree, "predictions")
    standardised, label = standardised_residuals(tree)
    seen = group["measured"].values & np.isfinite(standardised)
    shown = [index for index in range(group.sizes["response"]) if seen[..., index].any()]
    if not shown:
        return None
    other = _second_axis(tree)
    columns = 1 if other is None else 2
    page = sheet(len(shown) * columns, columns=columns, width=3.8, height=2.5)
    reach = 1.1 * max(2.2, float(np.abs(standardised[seen]).max()))
    for row, index in enumerate(shown):
        name, unit = str(group["response"].values[index]), str(group["unit"].values[index])
        kept = seen[..., index]
        values = standardised[..., index][kept]
        against = [(with_unit(f"{name} predicted", unit), group["predicted"].values[..., index][kept])]
        if other is not None:
            against.append((other.label, other.values[kept]))
        for column, (axis, x) in enumerate(against):
            panel = page.panels[row * columns + column]
            panel.axhline(0, color=GUIDE, linewidth=1.0, zorder=1)
            for limit in (-2, 2):
                panel.axhline(limit, color=GUIDE, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
            style = {"markerfacecolor": "none", "markeredgecolor": colour(index), "markeredgewidth": 1.1}
            panel.plot(x, values, "o", markersize=marker_size(values.size), **style)
            panel.set_ylim(-reach, reach)
            panel.set_xlabel(axis)
            if column == 0:
                panel.set_ylabel(f"{name}: {label}" if len(shown) > 1 else label)
    return captioned(
        page.figure,
        f"Residuals (observed - predicted) over their standard deviation ({label}). About 95 % of them lie between the dashed lines if the "
        "model is right; a pattern or a trend is what the model does not explain.",
    )


def _second_axis(tree: xr.DataTree) -> Abscissa | None:
    """Time, else T, else another condition that varies; values (experiment, time)."""
    time = over_time(tree)
    varying = varying_conditions(tree)
    if time is not None or not varying:
        return time
    return Abscissa(varying[0].label, np.broadcast_to(varying[0].values[:, None], group_of(tree, "predictions")["measured"].shape[:2]))
