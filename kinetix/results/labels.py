"""Arrays -> variables with the dimensions, units and meanings of the schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from kinetix.results.facts import Floats
from kinetix.results.schema import unit_text, variable
from kinetix.status import Status
from kinetix.units import Unit

_TIME_TEXTS = {
    "second": "s",
    "seconds": "s",
    "minute": "min",
    "minutes": "min",
    "hour": "h",
    "hours": "h",
    "day": "d",
    "days": "d",
}  # xarray reads the long names as time stamps when it opens a file


def dataset(
    group: str, values: Mapping[str, Any], units: Mapping[str, str], attrs: Mapping[str, str | int | float] | None = None
) -> xr.Dataset:
    """Variables with the dimensions and attributes of the schema; `units` gives the text for each unit rule that is no text itself."""
    rows: dict[str, xr.Variable] = {}
    for name, value in values.items():
        row = variable(group, name)
        attributes = {"long_name": row.meaning}
        if row.unit != "label":
            attributes["units"] = units.get(row.unit, row.unit)
        rows[name] = xr.Variable(row.dims, np.asarray(value), attributes)
    dims = {dim for row in rows.values() for dim in row.dims}
    labels = dims | {name for name in rows if name == "unit" or name.endswith("_unit")}
    return xr.Dataset(rows, attrs=dict(attrs or {})).set_coords([name for name in rows if name in labels])


def common(units: Sequence[Unit], coordinate: str) -> str:
    texts = {unit_text(unit) for unit in units}
    return texts.pop() if len(texts) == 1 else f"see coordinate {coordinate}"


def texts(values: Sequence[str]) -> np.ndarray:
    return np.asarray(list(values), dtype=str)


def factors_of(units: Sequence[Unit]) -> Floats:
    return np.asarray([unit.factor for unit in units], dtype=np.float64)


def _offsets(units: Sequence[Unit]) -> Floats:
    return np.asarray([unit.offset for unit in units], dtype=np.float64)


def reported(values_si: Floats, units: Sequence[Unit]) -> Floats:
    """SI -> user's units along the last axis."""
    return (np.asarray(values_si, dtype=np.float64) - _offsets(units)) / factors_of(units)


def with_meanings(data: xr.Dataset, *names: str) -> xr.Dataset:
    """A dataset whose statuses say what their numbers mean."""
    for name in names or ("status",):
        data[name].attrs["meanings"] = "; ".join(f"{int(status)} {status.label}" for status in Status)
    return data


def time_text(unit: Unit) -> str:
    return _TIME_TEXTS.get(unit.text, unit_text(unit))
