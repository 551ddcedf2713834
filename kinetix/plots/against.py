"""What responses can be drawn against: time, or a condition that varies over the experiments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import xarray as xr

from kinetix.plots.sheet import with_unit
from kinetix.results.tree import group_of


@dataclass(frozen=True, eq=False)
class Abscissa:
    """An axis label and the values along it."""

    label: str
    values: npt.NDArray[np.float64]


def varying_conditions(tree: xr.DataTree) -> list[Abscissa]:
    """The conditions that differ between experiments, T first; values (experiment,)."""
    if "conditions" not in tree.children:
        return []
    columns = group_of(tree, "conditions").data_vars
    names = sorted((name for name in columns if _varies(columns[name].values)), key=lambda name: name != "T")
    return [Abscissa(with_unit(columns[name].attrs["long_name"], columns[name].attrs["units"]), columns[name].values) for name in names]


def over_time(tree: xr.DataTree) -> Abscissa | None:
    """Time, values (experiment, time), where there are measurements at more than one time; else None."""
    group = group_of(tree, "predictions")
    if "t" not in group.data_vars or not _varies(group["t"].values[group["measured"].values.any(axis=-1)]):
        return None
    return Abscissa(with_unit("time", group["t"].attrs["units"]), group["t"].values)


def _varies(values: npt.NDArray[np.float64]) -> bool:
    return np.unique(values[np.isfinite(values)]).size > 1
