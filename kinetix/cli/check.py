"""`kinetix check`: what a study means and whether it can be used, without running anything long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kinetix.cli.compile_cache import start_compile_cache
from kinetix.cli.direct import Options, source_for, understood
from kinetix.cli.messages import telling
from kinetix.cli.options import (
    Columns,
    Conditions,
    Density,
    Device,
    Feed,
    Files,
    Ignore,
    Initial,
    Known,
    Noise,
    Reactions,
    ReactorType,
    Sigma,
    Starts,
)
from kinetix.cli.progress import progress
from kinetix.cli.work import on_device, problem_of

if TYPE_CHECKING:
    from kinetix.studies import Problem

ATTENTION = "attention: "


def check(
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
    cross_check: Annotated[
        str | None,
        typer.Option(
            "--cross-check",
            metavar="METHOD",
            help="Also integrate with scipy-LSODA, scipy-Radau, scipy-BDF or diffrax-Kvaerno5, and tell the largest difference.",
            show_default=False,
        ),
    ] = None,
    device: Device = None,
) -> None:
    """Read and validate a study and its data; show what they mean.

    \b
    Examples:
      kinetix check study.toml
      kinetix check study.toml --cross-check scipy-Radau
      kinetix check run1.csv --reaction "A -> B" --reactor batch --initial default="0 mol/L"

    Data files are described by the options that kinetix fit takes. Checks the grammar of the study, the balance of every
    reaction, all units and the data, and evaluates the model once at the start: that it can be simulated, its gradient and
    its scaling. Prints the reactor, each reaction with its rate law as computed, what is conserved, all parameters with
    starts and bounds, what was recognised in the data, and the experiments as they were read.

    With --cross-check the same equations are also integrated by another method at a hundredth of the tolerances, at the times
    of the data, and the largest difference is told in units of the tolerance.

    Writes nothing. Exit code 0 if the study can be used, 1 with one line per problem if not.
    """
    said = Options(reaction, reactor, density, start, known, initial, feed, condition, column, ignore, noise, sigma)
    direct = understood(files, said)
    with telling():
        with progress() as say:
            say("reading")
            _, problem = problem_of(source_for(files, direct))
            say("evaluating at the start")
            lines = _checked(problem, device, cross_check)
        for line in lines:
            typer.echo(line)
        attention = sum(line.startswith(ATTENTION) for line in lines)
        found = (
            "no problem found"
            if not attention
            else f"usable; {attention} line{' above needs' if attention == 1 else 's above need'} attention"
        )
        typer.echo(f"{', '.join(file.name for file in files)}: {found}")


def _checked(problem: Problem, device: str | None, method: str | None) -> list[str]:
    from kinetix import studies

    with on_device(device):
        start_compile_cache()
        return studies.check_problem(problem) + ([] if method is None else studies.cross_check(problem, method))
