"""Responses against the one condition that varies: the picture of an explicit model, or of steady states along one setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinetix.plots.against import over_time, varying_conditions
from kinetix.plots.sheet import captioned, colour, marker_size, sheet, with_unit
from kinetix.results.tree import group_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def responses(tree: xr.DataTree) -> Figure | None:
    """Measured values and the fitted line against the one condition that varies; None where time or several conditions do.

    The line joins the predictions at the measured conditions.

    Args:
        tree: a result of `kinetix.results.fit_tree`.
    """
    varying = varying_conditions(tree)
    if len(varying) != 1 or over_time(tree) is not None:
        return None
    (axis,) = varying
    group = group_of(tree, "predictions")
    order = np.argsort(axis.values, kind="stable")
    page = sheet(group.sizes["response"], width=4.6, height=3.4)
    for index, (panel, name, unit) in enumerate(zip(page.panels, group["response"].values, group["unit"].values, strict=True)):
        kept = group["measured"].values[:, :, index]
        x = np.broadcast_to(axis.values[:, None], kept.shape)[kept]
        panel.plot(axis.values[order], group["predicted"].values[order, 0, index], color=colour(index), linewidth=1.4)
        style = {"markerfacecolor": "none", "markeredgecolor": colour(index), "markeredgewidth": 1.1}
        panel.plot(x, group["observed"].values[:, :, index][kept], "o", markersize=marker_size(x.size), **style)
        panel.set_xlabel(axis.label)
        panel.set_ylabel(with_unit(str(name), str(unit)))
    return captioned(page.figure, f"Measured values (circles) and predictions, joined by lines, against {axis.label}.")
