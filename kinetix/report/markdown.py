"""A report as Markdown (CommonMark with tables), which reads well as plain text too."""

from __future__ import annotations

import re
from collections.abc import Sequence

import xarray as xr

from kinetix.report.comparison import report_of
from kinetix.report.content import Listing, Picture, Table
from kinetix.report.page import templates

_ANYWHERE = re.compile(r"[\\`*~$]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])|!(?=\[)|\](?=[(\[:])")
_AT_THE_BEGINNING = re.compile(r"^(?:(>|#+(?=\s|$)|[+-](?=\s|$)|[=-](?=[=\s-]*$))|(\d+)([.)])(?=\s|$))")


def markdown_report(tree: xr.DataTree, pictures: Sequence[Picture] = ()) -> str:
    """A fit or a comparison as Markdown.

    Args:
        tree: a result of `kinetix.results.fit_tree` or `comparison_tree`, fresh or read from a file.
        pictures: its figures; the text refers to NAME.png beside it.
    """
    environment = templates(autoescape=False)
    environment.filters.update(words=words, fenced=_fenced, piped=_piped)
    return environment.get_template("report.md").render(report=report_of(tree, pictures)).rstrip("\n") + "\n"


def words(text: str) -> str:
    r"""A paragraph that Markdown shows letter by letter.

    >>> print(words("r1.k_ref is 2*3 <b> & _x_"), words("1. first"), words("a[b](c) &lt;"))
    r1.k_ref is 2\*3 \<b> & \_x\_ 1\. first a[b\](c) \&lt;
    """
    return _AT_THE_BEGINNING.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}", _inline(text))


def _inline(text: str) -> str:
    return _ANYWHERE.sub(r"\\\g<0>", " ".join(text.split()))


def _cell(text: str) -> str:
    return _inline(text).replace("|", "\\|")


def _code(text: str) -> str:
    """A code span, in a cell of a table."""
    if not text:
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{' '.join(text.split())}{space}{fence}".replace("|", "\\|")


def _fenced(block: Listing) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", block.text)), default=0))
    return f"{fence}{block.language}\n{block.text}\n{fence}"


def _piped(table: Table) -> str:
    """A table whose columns are in line."""
    write = [_code if column.holds == "code" else _cell for column in table.columns]
    rows = [[_cell(column.title) for column in table.columns]]
    rows += [[to_cell(text) for to_cell, text in zip(write, row, strict=True)] for row in table.rows]
    right = [column.holds == "number" for column in table.columns]
    widths = [max(3, *(len(row[i]) for row in rows)) for i in range(len(right))]
    rule = [f"{'-' * (width - 1)}:" if aligned else "-" * width for width, aligned in zip(widths, right, strict=True)]
    lines = [[_filled(*cell) for cell in zip(row, widths, right, strict=True)] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))


def _filled(cell: str, width: int, right: bool) -> str:
    return cell.rjust(width) if right else cell.ljust(width)
