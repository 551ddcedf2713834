"""The commands. Nothing heavy is imported before a command runs, so that help is there at once."""

from __future__ import annotations

from typing import Annotated

import typer

from kinetix.cli.arrhenius import arrhenius
from kinetix.cli.check import check
from kinetix.cli.compare import compare
from kinetix.cli.devices import devices
from kinetix.cli.fit import fit
from kinetix.cli.report import report
from kinetix.cli.simulate import simulate

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,  # plain text: help and errors can be searched, copied and piped
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (fit, compare, arrhenius, check, simulate, report, devices):
    app.command(no_args_is_help=command is not devices)(command)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"kinetix {version('kinetix-chem')}")
        raise typer.Exit


@app.callback()
def kinetix(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")] = False,
) -> None:
    """Chemical reaction kinetics: fit rate laws to data, simulate reactors.

    \b
    Begin with:
      kinetix fit study.toml
      kinetix fit data.csv --reaction "A -> B" --reactor cstr --start r1.k="0.1 1/min"

    Exit code 0: done. 1: a problem, told on stderr. 2: wrong usage.
    """
