"""The parameters with their joint covariance as one table for spreadsheets and scripts."""

from __future__ import annotations

import csv
import io
import math

import xarray as xr

from kinetix.report.summary import note_of
from kinetix.results.tree import group_of

FIELDS = ("value", "stderr", "lower95", "upper95")


def parameters_csv(tree: xr.DataTree) -> str:
    """The parameters of a fit as CSV text, a row each.

    The columns are name, value, unit, stderr, lower95, upper95, fixed (`true` or `false`), at_bound (`lower`, `upper` or empty),
    derived (`true` or `false`), note (the temperature at which it holds, or how it was derived), and one `cov NAME` for each parameter:
    the covariance with it, in the product of the two units. A cell is empty where there is no number: errors of parameters that are
    fixed, on a bound or not determined; covariances of derived quantities, which follow from those of the parameters. Numbers have
    all their digits.

    Args:
        tree: a result of `kinetix.results.fit_tree`, fresh or read from a file.
    """
    group, covariance = group_of(tree, "parameters"), group_of(tree, "covariance")["covariance"]
    names = [str(name) for name in covariance["parameter"].values]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["name", "value", "unit", *FIELDS[1:], "fixed", "at_bound", "derived", "note", *(f"cov {name}" for name in names)])
    for index, name in enumerate(names):
        value, *errors = (_number(group[field].values[index]) for field in FIELDS)
        kept = "true" if group["fixed"].values[index] else "false"
        row = [
            name,
            value,
            str(group["unit"].values[index]),
            *errors,
            kept,
            str(group["at_bound"].values[index]),
            "false",
            note_of(group, index),
        ]
        writer.writerow([*row, *(_number(one) for one in covariance.values[index])])
    if "derived" in group.coords:
        for index, name in enumerate(group["derived"].values):
            value, *errors = (_number(group[f"derived_{field}"].values[index]) for field in FIELDS)
            row = [
                str(name),
                value,
                str(group["derived_unit"].values[index]),
                *errors,
                "false",
                "",
                "true",
                str(group["derived_note"].values[index]),
            ]
            writer.writerow([*row, *("" for _ in names)])
    return text.getvalue()


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else ""
