"""`kinetix fit`: a study file, or data files with reactions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from kinetix.cli.messages import telling
from kinetix.cli.options import Columns, Device, Json, MaxIterations, MaxSeconds, Out, Quiet, Sigma, pairs
from kinetix.cli.work import Source, Wishes, answer, began, conclude, fitted, source_of
from kinetix.errors import StudyError


def fit(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="STUDY.toml|DATA.csv", help="A study file, or data files.", show_default=False)],
    reaction: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help='Reaction: "A -> B", "slow: 2 B <=> C". Repeatable.', show_default=False)
    ] = None,
    reactor: Annotated[str | None, typer.Option(metavar="TYPE", help="Reactor: batch, cstr or differential.", show_default=False)] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=QUANTITY",
            help='Estimate a parameter from this start: r1.k="0.1 1/min", r1.Ea="60 kJ/mol". Repeatable.',
            show_default=False,
        ),
    ] = None,
    known: Annotated[
        list[str] | None, typer.Option(metavar="NAME=QUANTITY", help="A parameter that is known. Repeatable.", show_default=False)
    ] = None,
    initial: Annotated[
        list[str] | None,
        typer.Option(metavar="SPECIES=QUANTITY", help='Initial concentration: A="1 mol/L", or default="0 mol/L".', show_default=False),
    ] = None,
    feed: Annotated[
        list[str] | None,
        typer.Option(metavar="SPECIES=QUANTITY", help='Feed concentration: A="1 mol/L", or default="0 mol/L".', show_default=False),
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=QUANTITY", help='A condition that is constant over the data: T="350 K".', show_default=False),
    ] = None,
    column: Columns = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="HEADER", help="A column that is not used. Repeatable.", show_default=False)
    ] = None,
    noise: Annotated[
        list[str] | None,
        typer.Option(metavar="RESPONSE=QUANTITY", help='Standard deviation of a response: A="0.01 mol/L".', show_default=False),
    ] = None,
    sigma: Sigma = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the report.", show_default=False)] = None,
    write_study: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="Save the study that these options stand for.", show_default=False)
    ] = None,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
    max_iterations: MaxIterations = None,
    max_seconds: MaxSeconds = None,
    device: Device = None,
) -> None:
    """Fit rate constants, activation energies and other parameters to data.

    \b
    Examples:
      kinetix fit study.toml
      kinetix fit run1.csv run2.csv --reaction "A -> B" --reactor batch \\
          --start r1.k="0.1 1/min" --initial A="1 mol/L" --initial B="0 mol/L" \\
          --write-study study.toml

    Prints what was recognised in the data and a report: the verdict, every parameter with its standard error and 95 %
    interval, and warnings. Then writes to the folder given by --out (default: <name>-fit in the current folder) fit.nc,
    summary.json, report.html, report.md, parameters.csv and figures as PNG, replacing those of an earlier fit.

    Exit code 0 if the fit converged; 1 if it did not (its best point is written all the same) or if the input cannot be
    used (nothing is written). Ctrl-C keeps the best point so far.
    """
    direct = {
        "--reaction": reaction,
        "--reactor": reactor,
        "--start": start,
        "--known": known,
        "--initial": initial,
        "--feed": feed,
        "--condition": condition,
        "--column": column,
        "--ignore": ignore,
        "--noise": noise,
        "--sigma": sigma,
        "--title": title,
        "--write-study": write_study,
    }
    studies = [file for file in files if file.suffix.lower() == ".toml"]
    if studies and len(files) > 1:
        raise typer.BadParameter("give one study file, or data files; not both.", param_hint="STUDY.toml|DATA.csv")
    given = [option for option, value in direct.items() if value]
    if studies and given:
        raise typer.BadParameter("this is said in the study file; the option is for fits without one.", param_hint=", ".join(given))
    if not studies and not reaction:
        raise typer.BadParameter('data files need a reaction; write for example --reaction "A -> B".', param_hint="--reaction")
    if write_study is not None and any(str(file) in ("-", "/dev/stdin") for file in files):
        raise typer.BadParameter("a study names its data files, and the standard input has no name.", param_hint="--write-study")
    if not studies and not reactor:
        raise typer.BadParameter("data files need a reactor; write --reactor batch, cstr or differential.", param_hint="--reactor")
    quantities = {
        "starts": pairs("--start", start, "r1.k=0.1 1/min"),
        "known": pairs("--known", known, "r1.Ea=60 kJ/mol"),
        "initial": pairs("--initial", initial, "A=1 mol/L"),
        "feed": pairs("--feed", feed, "A=1 mol/L"),
        "conditions": pairs("--condition", condition, "T=350 K"),
        "columns": pairs("--column", column, "tau=residence time [min]"),
        "noise": pairs("--noise", noise, "A=0.01 mol/L"),
    }

    def study_in(folder: Path) -> dict[str, Any]:
        """The study that the options stand for, as a file in `folder`."""
        from kinetix.studies import direct_study

        places = [str(file) if folder == Path() else os.path.relpath(file, folder) for file in files]
        return direct_study(places, reaction or (), reactor or "", **quantities, ignore=ignore or (), sigma=sigma, title=title or "")

    assumed_reactions: dict[str, Any] = {}

    def assumed() -> Source:
        from kinetix.io import read_tables, study_text, writable_file
        from kinetix.studies import complete_study

        if write_study is not None:
            writable_file(write_study)
            if write_study.exists():
                raise StudyError(f"--write-study {write_study}: the file exists. Choose another name, or remove it.")
        study = study_in(Path())
        tables = read_tables(study["data"]["files"], Path(), None)
        complete_study(study, tables)
        assumed_reactions.update(study["reactions"])
        return Source("command line", study_text(study), study, Path(), tables)

    wishes = Wishes(out or Path(f"{_name_of(files[0])}-fit"), as_json, quiet, max_iterations, max_seconds, device)
    with telling():
        facts, _ = fitted((lambda: source_of(files[0])) if studies else assumed, wishes, began(context))
        answer(facts, wishes)
        if write_study is not None:
            saved = {**study_in(write_study.parent), "reactions": assumed_reactions}
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
