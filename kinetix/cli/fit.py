"""`kinetix fit`: a study file, or data files with reactions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kinetix.cli.direct import Options, source_for, understood
from kinetix.cli.messages import telling
from kinetix.cli.options import (
    Bootstrap,
    Columns,
    Conditions,
    Density,
    Device,
    Feed,
    Files,
    Ignore,
    Influence,
    Initial,
    Json,
    Known,
    Loss,
    MaxIterations,
    MaxSeconds,
    Method,
    Noise,
    Out,
    Profile,
    Quiet,
    Reactions,
    ReactorType,
    Seed,
    Sigma,
    StartNumber,
    Starts,
    Title,
)
from kinetix.cli.work import Source, Wishes, answer, began, conclude, fitted
from kinetix.errors import StudyError


def fit(
    context: typer.Context,
    files: Files,
    reaction: Reactions = None,
    reactor: ReactorType = None,
    density: Density = None,
    start: Starts = None,
    known: Known = None,
    initial: Initial = None,
    feed: Feed = None,
    condition: Conditions = None,
    column: Columns = None,
    ignore: Ignore = None,
    noise: Noise = None,
    sigma: Sigma = None,
    title: Title = None,
    write_study: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="Save the study that these options stand for.", show_default=False)
    ] = None,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
    max_iterations: MaxIterations = None,
    max_seconds: MaxSeconds = None,
    starts: StartNumber = None,
    seed: Seed = None,
    loss: Loss = None,
    profile: Profile = None,
    bootstrap: Bootstrap = None,
    influence: Influence = None,
    device: Device = None,
    method: Method = None,
) -> None:
    """Fit rate constants, activation energies and other parameters to data.

    \b
    Examples:
      kinetix fit study.toml
      kinetix fit study.toml --starts 100
      kinetix fit study.toml --profile --influence --bootstrap 1000
      kinetix fit run1.csv run2.csv --reaction "A -> B" --reactor batch \\
          --start r1.k="0.1 1/min" --initial A="1 mol/L" --initial B="0 mol/L" \\
          --write-study study.toml

    Prints what was recognised in the data and a report: the verdict, every parameter with its standard error and 95 %
    interval, and warnings. Then writes to the folder given by --out (default: <name>-fit in the current folder) fit.nc,
    summary.json, report.html, report.md, parameters.csv and figures as PNG, replacing those of an earlier fit.

    Exit code 0 if the fit converged; 1 if it did not (its best point is written all the same) or if the input cannot be
    used (nothing is written). Ctrl-C keeps the best point so far.
    """
    others: dict[str, object] = {"--write-study": write_study}
    said = Options(reaction, reactor, density, start, known, initial, feed, condition, column, ignore, noise, sigma, title, others)
    direct = understood(files, said)
    if write_study is not None and any(str(file) in ("-", "/dev/stdin") for file in files):
        raise typer.BadParameter("a study names its data files, and the standard input has no name.", param_hint="--write-study")
    assumed_reactions: dict[str, Any] = {}

    def read() -> Source:
        from kinetix.io import writable_file

        if write_study is not None:
            writable_file(write_study)
            if write_study.exists():
                raise StudyError(f"--write-study {write_study}: the file exists. Choose another name, or remove it.")
        source = source_for(files, direct)
        assumed_reactions.update(source.study.get("reactions", {}))
        return source

    wishes = Wishes(
        out or Path(f"{_name_of(files[0])}-fit"),
        as_json,
        quiet,
        max_iterations,
        max_seconds,
        device,
        starts,
        seed,
        profile,
        bootstrap,
        influence,
        loss,
        method,
    )
    with telling():
        facts, _ = fitted(read, wishes, began(context))
        answer(facts, wishes)
        if write_study is not None and direct is not None:
            saved = {**direct.study(write_study.parent), "reactions": assumed_reactions}
            saved = saved if loss is None else {**saved, "fit": {**saved.get("fit", {}), "loss": loss}}
            _save(saved, write_study, wishes)
        conclude(facts)


def _name_of(file: Path) -> str:
    """What results are named after: the file, or its folder where the file is just called study."""
    if str(file) == "-":
        return "stdin"
    return file.resolve().parent.name if file.stem == "study" and file.resolve().parent.name else file.stem


def _save(study: dict[str, Any], path: Path, wishes: Wishes) -> None:
    from kinetix.io import write_study

    write_study(study, path)
    if not wishes.quiet:
        typer.echo(f"Study written to {path}", err=wishes.as_json)
