"""Residuals over their standard deviation, as figures and tables show them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import xarray as xr

from kinetix.results.tree import group_of

_LABELS = {"trusted": "residual / σ", "scaled": "residual / (s σ)", "estimated": "residual / s", "modelled": "residual / σ"}


def standardised_residuals(tree: xr.DataTree) -> tuple[npt.NDArray[np.float64], str]:
    """Residuals (observed - predicted) over their standard deviation, and what they are then called.

    The standard deviation is sigma where it is trusted or estimated with the parameters, s times sigma where it is scaled, s where it is
    estimated from the residuals.

    Args:
        tree: a result of `fit_tree`.

    Returns:
        Values (experiment, time, response), NaN where nothing was measured; a label.
    """
    meaning = tree.attrs["sigma_meaning"]
    weighted = group_of(tree, "predictions")["weighted_residual"].values
    s = float(group_of(tree, "statistics")["s"])
    if meaning in ("trusted", "modelled"):
        return weighted, _LABELS[meaning]
    return (weighted / s, _LABELS[meaning]) if np.isfinite(s) and s > 0 else (weighted, "weighted residual")
