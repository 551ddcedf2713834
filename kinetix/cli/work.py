"""The way from a study to a printed and written answer, shared by the commands."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kinetix.cli.compile_cache import start_compile_cache
from kinetix.cli.messages import fail
from kinetix.cli.progress import SearchProgress, progress
from kinetix.errors import InputError, Problems

if TYPE_CHECKING:
    import xarray as xr

    from kinetix.experiments import Table
    from kinetix.results import FitFacts
    from kinetix.studies import Multistart, Problem, Study, Wanted


@dataclass(frozen=True)
class Source:
    """A study before it is validated.

    Attributes:
        name: of the study file, or what stands for it in messages.
        text: as a study file holds it.
        study: the nested mapping.
        folder: where its data files are sought.
        tables: its data files, where they are read already.
    """

    name: str
    text: str
    study: Mapping[str, Any]
    folder: Path
    tables: Sequence[Table] = ()

    @property
    def place(self) -> str:
        """What a problem of the study begins with: its file, where it is one."""
        return f"{self.name}: " if self.name.endswith(".toml") else ""


@dataclass(frozen=True)
class Wishes:
    """How a fit shall run, and how and where its answer is told."""

    out: Path
    as_json: bool = False
    quiet: bool = False
    max_iterations: int | None = None
    max_seconds: float | None = None
    device: str | None = None
    starts: int | None = None
    seed: int | None = None
    profile: bool | None = None
    bootstrap: int | None = None
    influence: bool | None = None
    loss: str | None = None
    method: str | None = None


def began(context: typer.Context) -> float:
    """When the command began, of `time.perf_counter`."""
    return context.obj if isinstance(context.obj, float) else time.perf_counter()


def source_of(path: Path) -> Source:
    """A study file, read."""
    from kinetix.io import is_standard_input, read_study

    text, study = read_study(path)
    return Source("standard input" if is_standard_input(path) else path.name, text, study, path.parent)


def problem_of(source: Source, *, predict_all: bool = False) -> tuple[Study, Problem]:
    """A study, validated and put together with its data: for a fit, or to predict everything."""
    from kinetix.io import read_tables
    from kinetix.simulation import all_responses, measured_responses
    from kinetix.studies import build_problem, check_study, parse_study, to_be_fitted

    study = parse_study(source.study, source.name)
    data, tables = study.data, []
    problems = Problems()
    if data is not None:
        with problems.collecting():
            tables = source.tables or read_tables(data.files, source.folder, data.encoding, data.sheets, data.layout)
    if problems.found:
        with problems.collecting(source.place):
            check_study(study)
    problems.raise_if_any(InputError)
    try:
        if predict_all:
            return study, build_problem(study, tables, all_responses)
        return study, to_be_fitted(study, build_problem(study, tables, measured_responses))
    except InputError as error:
        names = tuple(table.source for table in tables)  # a problem of the data begins with its file
        raise InputError(*(said if said.startswith(names) else f"{source.place}{said}" for said in error.problems)) from None


@contextmanager
def on_device(kind: str | None) -> Iterator[Any]:
    """Computations inside run on the first device of this kind, a `jax.Device`; on JAX's own choice where None.

    Raises:
        InputError: there is no such device.
    """
    import jax

    if kind is None:
        yield jax.devices()[0]
        return
    try:
        device = jax.devices(kind)[0]
    except RuntimeError:
        seen = ", ".join(sorted({device.platform for device in jax.devices()}))
        advice = " A GPU needs JAX's package for it: pip install 'kinetix-chem[cuda12]'." if kind == "gpu" else ""
        raise InputError(f"--device {kind}: there is no such device; JAX sees {seen}.{advice}") from None
    with jax.default_device(device):
        yield device


def fitted(read: Callable[[], Source], wishes: Wishes, since: float) -> tuple[FitFacts, Problem]:
    """A study, read and fitted; what was recognised is printed as soon as it is known.

    Args:
        read: gives the study.
        wishes: how to fit.
        since: when the command began; the time to load the code is reported as `import_seconds`.
    """
    with progress(wanted=not wishes.quiet) as say:
        say("loading")
        from kinetix.io import writable_place
        from kinetix.studies import fit_problem, with_loss

        import_seconds = time.perf_counter() - since
        writable_place(wishes.out)
        say("reading")
        source = read()
        study, problem = problem_of(source)
        problem = problem if wishes.loss is None else with_loss(problem, wishes.loss, "--loss")
    with on_device(wishes.device) as device:
        if problem.campaign.notes and not (wishes.as_json or wishes.quiet):
            typer.echo("".join(f"{note}\n" for note in problem.campaign.notes))
        with progress(wanted=not wishes.quiet) as say:
            say("compiling")
            start_compile_cache()
            shown = SearchProgress(say)
            how = how_to_fit(study, source, wishes, device, import_seconds)
            calls = {"on_iteration": shown.iteration, "on_start": shown.start, "on_refit": shown.refit}
            facts = fit_problem(problem, wanted=_wanted(study, wishes), **calls, **how)
    return facts, problem


def how_to_fit(study: Study, source: Source, wishes: Wishes, device: Any, import_seconds: float) -> dict[str, Any]:
    """Limits, starts, estimator and provenance of a fit: what the study says, unless a wish says otherwise."""
    from kinetix.studies import FitLimits

    return {
        "limits": FitLimits(
            study.fit.max_iterations if wishes.max_iterations is None else wishes.max_iterations,
            study.fit.max_seconds if wishes.max_seconds is None else wishes.max_seconds,
        ),
        "multistart": _multistart(study, wishes),
        "method": wishes.method or study.fit.method,
        "study_text": source.text,
        "import_seconds": import_seconds,
        "device": device.device_kind,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _multistart(study: Study, wishes: Wishes) -> Multistart:
    """The starts of a study, unless a wish says otherwise."""
    from kinetix.studies import Multistart

    number = study.fit.starts if wishes.starts is None else wishes.starts
    seed = study.fit.seed if wishes.seed is None else wishes.seed
    return Multistart(number) if seed is None else Multistart(number, seed)


def _wanted(study: Study, wishes: Wishes) -> Wanted:
    """The analyses of a study, unless a wish says otherwise."""
    from kinetix.studies import wanted_of

    def chosen(said: Any, written: Any) -> Any:
        return written if said is None else said

    asked = study.fit
    bootstrap = asked.bootstrap
    if wishes.bootstrap is not None:
        bootstrap = {**(bootstrap if isinstance(bootstrap, dict) else {}), "number": wishes.bootstrap}
    return wanted_of(chosen(wishes.profile, asked.profile), bootstrap, chosen(wishes.influence, asked.influence))


def answer(facts: FitFacts, wishes: Wishes, entries: Mapping[str, object] | None = None) -> None:
    """The answer on stdout, then in files, for readers last; `entries` are further ones of the summary."""
    from kinetix.results import fit_tree

    tree = fit_tree(facts)
    _print_answer(tree, wishes, entries or {})
    _write_answer(tree, wishes, entries or {})


def conclude(facts: FitFacts) -> None:
    """Exit code 1 with the reason where the fit did not converge."""
    if not facts.status.ok:
        raise fail([f"the fit did not converge: {facts.message or facts.status.sentence}."])


def report_files() -> list[str]:
    """The names that files of a report may have or had."""
    from kinetix.plots import COMPARISON_FIGURES, FIGURES

    return ["report.html", "report.md", "parameters.csv", "report.txt", *(f"{name}.png" for name in (*FIGURES, *COMPARISON_FIGURES))]


def written_to(folder: Path, paths: Sequence[Path]) -> str:
    """What was written where, as a line."""
    return f"Written to {folder}: {', '.join(path.name for path in paths)}"


def _print_answer(tree: xr.DataTree, wishes: Wishes, entries: Mapping[str, object]) -> None:
    from kinetix.report import summary, text_report

    if wishes.as_json:
        typer.echo(json.dumps({**summary(tree), **entries}, indent=2, ensure_ascii=False, allow_nan=False))
    elif not wishes.quiet:
        printed = tree.copy()
        printed.attrs["notes"] = ""  # they were printed before
        typer.echo(text_report(printed))


def _write_answer(tree: xr.DataTree, wishes: Wishes, entries: Mapping[str, object]) -> None:
    from kinetix.io import write_fit, write_report

    with progress(wanted=not wishes.quiet) as say:
        say("writing")
        paths = write_fit(tree, wishes.out, entries=entries, remove=report_files())
        say("drawing")
        paths += write_report(tree, wishes.out)
    if not wishes.quiet:
        typer.echo(written_to(wishes.out, paths), err=wishes.as_json)
