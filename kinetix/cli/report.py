"""`kinetix report`: the report of a saved fit, written again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinetix.cli.messages import telling
from kinetix.cli.options import Quiet
from kinetix.cli.progress import progress
from kinetix.cli.work import report_files, written_to
from kinetix.errors import DataError


def report(
    file: Annotated[Path, typer.Argument(metavar="FIT.nc", help="A result file of fit, arrhenius or compare.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the report. Default: that of the file.", show_default=False)
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Print and write the report of a saved fit or comparison, without data or study.

    \b
    Examples:
      kinetix report study-fit/fit.nc
      kinetix report fit.nc --out for-the-board

    Prints the report, then writes report.html, report.md, parameters.csv and figures as PNG, the same that the fit wrote.
    report.html is one page with everything inside; it needs no network.
    """
    with telling():
        with progress(wanted=not quiet) as say:
            say("reading")
            from kinetix.io import read_tree, write_report
            from kinetix.report import text_report
            from kinetix.results import is_comparison

            tree = read_tree(file)
            if not is_comparison(tree) and not {"parameters", "covariance", "predictions", "statistics"} <= set(tree.children):
                groups = ", ".join(tree.children) or "none"
                raise DataError(f"{file}: expected a fit, found a file with the groups {groups}. Give the fit.nc of kinetix fit.")
        if not quiet:
            typer.echo(text_report(tree))
        with progress(wanted=not quiet) as say:
            say("drawing")
            folder = file.parent if out is None else out
            paths = write_report(tree, folder, remove=report_files())
        if not quiet:
            typer.echo(written_to(folder, paths))
