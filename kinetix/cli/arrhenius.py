"""`kinetix arrhenius`: ln A and Ea from a table of rate constants."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kinetix.cli.messages import telling
from kinetix.cli.options import Columns, Device, Ignore, Json, Noise, Out, Quiet, Sigma, Title, deviations, pairs
from kinetix.cli.work import Source, Wishes, answer, began, conclude, fitted


def arrhenius(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="K.csv", help="A table with T, k and possibly sigma_k.", show_default=False)],
    column: Columns = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TEMPERATURE", help="Reference temperature. Default: the harmonic mean of the table's temperatures.", show_default=False
        ),
    ] = None,
    ignore: Ignore = None,
    noise: Noise = None,
    sigma: Sigma = None,
    title: Title = None,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
    device: Device = None,
) -> None:
    """ln A, Ea and their joint covariance from a table of temperatures and rate constants.

    \b
    Examples:
      kinetix arrhenius k.csv
      kinetix arrhenius k.csv --at "350 K" --sigma trusted --column "k=k1 [1/s]"

    The table has a column of temperatures (T [K] or T [degC]) and one of constants with their unit (k [1/s]). Without a
    column sigma_k (or --noise k="0.01 1/s") every ln k counts the same, which means equal relative errors; with it, and
    --sigma, k itself is fitted.
    The search starts from the straight line of ln k over 1/T.

    Prints the report of the fit, then ln A and Ea with covariance and correlation. Then writes to the folder given by --out
    (default: <name>-arrhenius in the current folder) fit.nc, summary.json, report.html, report.md, parameters.csv and
    figures as PNG.
    """
    columns = pairs("--column", column, "k=k1 [1/s]")
    noises = deviations(noise, "k=0.01 1/s")

    def read() -> Source:
        from kinetix.io import read_table, study_text
        from kinetix.studies import arrhenius_study
        from kinetix.studies.arrhenius import arrhenius_starts

        table = read_table(file)
        starts = arrhenius_starts(table, columns, at=at, ignore=ignore or ())
        study = arrhenius_study(str(file), columns, sigma=sigma, ignore=ignore or (), noise=noises, title=title or "", **starts)
        return Source("command line", study_text(study), study, Path(), [table])

    wishes = Wishes(out or Path(f"{'stdin' if str(file) == '-' else file.stem}-arrhenius"), as_json, quiet, device=device)
    with telling():
        facts, problem = fitted(read, wishes, began(context))
        from kinetix.studies.arrhenius import arrhenius_pair, with_measured_constants

        pair = arrhenius_pair(facts, problem.constants[0].T_ref)
        facts = replace(with_measured_constants(facts, problem.campaign), supplement=str(pair))
        answer(facts, wishes, {"arrhenius": pair.as_dict()})
        conclude(facts)
