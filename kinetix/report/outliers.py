"""The values that count less than half in a robust fit, as rows of a table."""

from __future__ import annotations

from typing import NamedTuple

import xarray as xr

from kinetix.report.numbers import significant
from kinetix.results.robust import outlying
from kinetix.results.tree import group_of

MOST_OUTLIERS = 40
"""Rows of the table; the file holds all."""


class OutlierRow(NamedTuple):
    """A value that counts less than half; `time` is empty where nothing depends on it."""

    experiment: str
    time: str
    response: str
    observed: str
    predicted: str
    unit: str
    weight: str


def outlier_rows(tree: xr.DataTree) -> list[OutlierRow]:
    """The values with a weight below one half, the least first; none where the loss is that of least squares."""
    group = group_of(tree, "predictions")
    if "robust_weight" not in group:
        return []
    weights = group["robust_weight"].values
    time = f" {group['t'].attrs['units']}" if "t" in group else ""
    return [
        OutlierRow(
            str(group["experiment"].values[i]),
            f"{significant(float(group['t'].values[i, j]), 5)}{time}" if time else "",
            str(group["response"].values[r]),
            significant(float(group["observed"].values[i, j, r]), 5),
            significant(float(group["predicted"].values[i, j, r]), 5),
            "-" if str(group["unit"].values[r]) == "1" else str(group["unit"].values[r]),
            f"{weights[i, j, r]:.2g}",
        )
        for i, j, r in outlying(weights)[:MOST_OUTLIERS]
    ]
