"""A report as one HTML page that needs nothing else: no script, no network, figures inside."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import xarray as xr

from kinetix.report.comparison import report_of
from kinetix.report.content import Picture, Table

if TYPE_CHECKING:
    from jinja2 import Environment

SHORT = 24
"""Letters of text that stay on one line in a table."""


class Part(NamedTuple):
    """A cell: its text, digits that keep the decimal points of a column below each other, and its style."""

    text: str
    pad: str
    style: str


def html_report(tree: xr.DataTree, pictures: Sequence[Picture] = ()) -> str:
    """A fit or a comparison as an HTML page.

    Args:
        tree: a result of `kinetix.results.fit_tree` or `comparison_tree`, fresh or read from a file.
        pictures: its figures.

    Returns:
        HTML text, complete in itself.
    """
    environment = templates(autoescape=True)
    environment.filters["padded"] = _padded
    environment.filters["base64"] = lambda data: base64.b64encode(data).decode("ascii")
    return environment.get_template("report.html").render(report=report_of(tree, pictures))


def templates(*, autoescape: bool) -> Environment:
    """The templates of this room."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("kinetix.report", "templates")
    return Environment(loader=loader, autoescape=autoescape, undefined=StrictUndefined, keep_trailing_newline=True)


def _padded(table: Table) -> list[list[Part]]:
    """The rows of a table, cells with what their look depends on."""
    longest = [max((_decimals(row[i]) for row in table.rows), default=0) for i in range(len(table.columns))]
    rows = []
    for r, row in enumerate(table.rows):
        parts = []
        for i, (column, text) in enumerate(zip(table.columns, row, strict=True)):
            style = "number" if column.holds == "number" else "short" if len(text) <= SHORT else "text"
            mark = table.marks[r][i] if table.marks else 0
            pad = _pad(longest[i] - _decimals(text)) if column.holds == "number" and _plain(text) else ""
            parts.append(Part(text, pad, f"{style} mark{mark}" if mark else style))
        rows.append(parts)
    return rows


def _plain(text: str) -> bool:
    """Whether it is a number without a power of ten."""
    return text.lstrip("-").replace(".", "", 1).isdigit()


def _decimals(text: str) -> int:
    """Letters from the decimal point on."""
    return len(text) - text.index(".") if _plain(text) and "." in text else 0


def _pad(missing: int) -> str:
    return "" if missing <= 0 else "0" * missing
