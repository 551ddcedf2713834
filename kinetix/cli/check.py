"""`kinetix check`: what a study means and whether it can be used, without running anything long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from kinetix.cli.compile_cache import start_compile_cache
from kinetix.cli.messages import telling
from kinetix.cli.options import Device, Study
from kinetix.cli.progress import progress
from kinetix.cli.work import on_device, problem_of, source_of

if TYPE_CHECKING:
    from kinetix.studies import Problem

ATTENTION = "attention: "


def check(study: Study, device: Device = None) -> None:
    """Read and validate a study and its data; show what they mean.

    \b
    Example:
      kinetix check study.toml

    Checks the grammar of the file, the balance of every reaction, all units and the data, and evaluates the model once at
    the start: that it can be simulated, its gradient and its scaling. Prints the reactor, each reaction with its rate law
    as computed, what is conserved, all parameters with starts and bounds, and what was recognised in the data.

    Writes nothing. Exit code 0 if the study can be used, 1 with one line per problem if not.
    """
    with telling():
        with progress() as say:
            say("reading")
            _, problem = problem_of(source_of(study))
            say("evaluating at the start")
            lines = _checked(problem, device)
        for line in lines:
            typer.echo(line)
        attention = sum(line.startswith(ATTENTION) for line in lines)
        found = (
            "no problem found"
            if not attention
            else f"usable; {attention} line{' above needs' if attention == 1 else 's above need'} attention"
        )
        typer.echo(f"{study.name}: {found}")


def _checked(problem: Problem, device: str | None) -> list[str]:
    from kinetix.studies import check_problem

    with on_device(device):
        start_compile_cache()
        return check_problem(problem)
