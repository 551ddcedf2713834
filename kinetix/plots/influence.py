"""How far the estimates move without each experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinetix.plots.sheet import GUIDE, captioned, colour, sheet
from kinetix.results.tree import group_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAMED = 40
"""Bars that are named; of more only those of the largest are shown."""


def influence(tree: xr.DataTree) -> Figure | None:
    """Bars of the distance by what was left out, in the order of the data; None where nothing was left out.

    Args:
        tree: a result of `kinetix.results.fit_tree`.
    """
    if "influence" not in tree.children:
        return None
    group = group_of(tree, "influence")
    distance = group["distance"].values
    shown = np.flatnonzero(np.isfinite(distance))
    if not shown.size:
        return None
    shown = np.sort(shown[np.argsort(-distance[shown], kind="stable")[:MOST_NAMED]])
    labels = [str(group["left_out"].values[i]) for i in shown]
    page = sheet(1, width=5.6, height=0.9 + 0.2 * len(shown))
    panel = page.panels[0]
    rows = np.arange(len(shown))[::-1]
    panel.barh(rows, distance[shown], height=0.7, color=colour(0))
    panel.axvline(1.0, color=GUIDE, linewidth=1.0)
    panel.set_xlim(0, max(1.1, 1.05 * float(distance[shown].max())))
    panel.set_yticks(rows, labels)
    panel.set_ylim(-0.6, len(shown) - 0.4)
    panel.grid(visible=False, axis="y")
    panel.set_xlabel("change of the estimates when left out, in units of the joint 95 % region")
    left = distance.size - len(shown)
    return captioned(
        page.figure,
        "Influence: how far all estimates together move when one experiment, or one time of a single one, is left out. At 1 they reach the"
        " edge of the joint 95 % region." + (f" The {len(shown)} largest of {distance.size} are shown." if left else ""),
    )
