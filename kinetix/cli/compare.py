"""`kinetix compare`: several studies of the same data, fitted and ranked."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinetix.cli.compile_cache import start_compile_cache
from kinetix.cli.messages import fail, telling
from kinetix.cli.options import Device, Json, MaxIterations, MaxSeconds, Out, Quiet, StartNumber
from kinetix.cli.progress import SearchProgress, progress
from kinetix.cli.work import Wishes, began, how_to_fit, on_device, problem_of, report_files, source_of, written_to
from kinetix.errors import InputError, Problems

if TYPE_CHECKING:
    import xarray as xr

    from kinetix.studies import Candidate, Folds, Problem


def compare(
    context: typer.Context,
    studies: Annotated[list[Path], typer.Argument(metavar="A.toml B.toml ...", help="Study files of the same data.", show_default=False)],
    nested: Annotated[
        bool,
        typer.Option("--nested", help="Declare each model a special case of those with more parameters, and test whether they are needed."),
    ] = False,
    cross_validate: Annotated[bool, typer.Option("--cross-validate", help="Refit without each experiment, and predict it.")] = False,
    folds: Annotated[
        int | None,
        typer.Option("--folds", min=2, metavar="K", help="Leave out K groups of experiments instead of one at a time.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, metavar="N", help="Seed of the groups, and of starts. Default: 2026.", show_default=False),
    ] = None,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
    max_iterations: MaxIterations = None,
    max_seconds: MaxSeconds = None,
    starts: StartNumber = None,
    device: Device = None,
) -> None:
    """Compare models of the same data: which to prefer, and how clearly.

    \b
    Examples:
      kinetix compare first-order.toml second-order.toml
      kinetix compare plain.toml inhibited.toml --nested --cross-validate

    Fits each study and prints a table with the sum of squares, AICc, Akaike weight and BIC of each, and a verdict. Then writes to
    the folder given by --out (default: comparison in the current folder) comparison.nc, summary.json, report.html, report.md and
    figures as PNG, and fit.nc and summary.json of each fit in a folder of its name.

    A model is named after its file, or its folder where the file is just called study.toml and alone there. All studies must
    fit the same measured values with the same sigma. --folds implies --cross-validate.

    Exit code 0 if every fit converged; 1 if one did not (it is left out of the ranking, and all is written) or if the input
    cannot be used (nothing is written).
    """
    if len(studies) < 2:
        raise typer.BadParameter("a comparison needs two studies or more.", param_hint="A.toml B.toml ...")
    names = _names(studies)
    wishes = Wishes(out or Path("comparison"), as_json, quiet, max_iterations, max_seconds, device, starts, seed)
    with telling():
        from kinetix.studies import SEED, Folds

        left_out = Folds(folds, SEED if seed is None else seed) if cross_validate or folds is not None else None
        failed = _compare(dict(zip(names, studies, strict=True)), nested, left_out, wishes, began(context))
        if failed:
            raise fail(failed)


def _names(studies: Sequence[Path]) -> list[str]:
    """What the models are called: their files; their folders where the file is just called study and alone there; both where needed.

    >>> _names([Path("a/study.toml"), Path("b/study.toml")]), _names([Path("a/x.toml"), Path("b/x.toml")])
    (['a', 'b'], ['a-x', 'b-x'])
    >>> _names([Path("a/study.toml"), Path("a/other.toml")])
    ['study', 'other']
    """
    seen: set[Path] = set()
    for study in studies:
        if study.resolve() in seen:
            raise typer.BadParameter(f"{study} is given twice.", param_hint="A.toml B.toml ...")
        seen.add(study.resolve())
    folders = [study.resolve().parent.name for study in studies]
    alone = [bool(folder) and folders.count(folder) == 1 for folder in folders]
    names = [folders[i] if study.stem == "study" and alone[i] else study.stem for i, study in enumerate(studies)]
    if len(set(names)) < len(names):
        names = [f"{folder}-{study.stem}" for study, folder in zip(studies, folders, strict=True)]
    if len(set(names)) < len(names):
        raise typer.BadParameter("two files have the same name in folders of the same name. Rename one.", param_hint="A.toml B.toml ...")
    return names


def _compare(files: dict[str, Path], nested: bool, folds: Folds | None, wishes: Wishes, since: float) -> list[str]:
    """Reads, fits, compares, prints and writes; what to tell of fits that did not converge."""
    with progress(wanted=not wishes.quiet) as say:
        say("loading")
        from kinetix.io import writable_place
        from kinetix.results import comparison_tree
        from kinetix.studies import check_comparable, compare_candidates

        import_seconds = time.perf_counter() - since
        writable_place(wishes.out)
        say("reading")
        sources, studies, problems = {}, {}, {}
        collected = Problems()
        for name, file in files.items():
            with collected.collecting(), _told_of(file):
                sources[name] = source_of(file)
                studies[name], problems[name] = problem_of(sources[name])
        collected.raise_if_any(InputError)
        check_comparable(problems, nested, folds)
    notes = dict.fromkeys(note for problem in problems.values() for note in problem.campaign.notes)
    if not (wishes.as_json or wishes.quiet):
        typer.echo("".join(f"{note}\n" for note in notes))
    fitted: dict[str, Candidate] = {}
    with on_device(wishes.device) as device:
        start_compile_cache()
        for name in files:
            how = how_to_fit(studies[name], sources[name], wishes, device, import_seconds)
            fitted[name] = _fitted(name, problems[name], how, wishes.quiet)
        with progress(wanted=not wishes.quiet) as say:
            say("comparing")
            done = 0

            def told() -> None:
                nonlocal done
                done += 1
                say(f"cross-validation: {done} refits")

            tree = comparison_tree(compare_candidates(fitted, nested, folds, told))
    _answer(tree, fitted, wishes)
    not_ok = [(name, candidate.tree.attrs) for name, candidate in fitted.items() if not candidate.tree.attrs["converged"]]
    return [f"{name}: the fit did not converge: {attrs['message']}." for name, attrs in not_ok]


@contextmanager
def _told_of(file: Path) -> Iterator[None]:
    """Problems of a study begin with its path, as two may have the same name or the same data."""
    try:
        yield
    except InputError as error:
        raise InputError(*(f"{file}: {problem.removeprefix(f'{file.name}: ')}" for problem in error.problems)) from None


def _fitted(name: str, problem: Problem, how: dict[str, object], quiet: bool) -> Candidate:
    from kinetix.studies import fit_candidate

    with progress(wanted=not quiet) as say:
        say(f"{name}: compiling")
        shown = SearchProgress(lambda what: say(f"{name}: {what}"))
        return fit_candidate(problem, name, on_iteration=shown.iteration, on_start=shown.start, **how)


def _answer(tree: xr.DataTree, fitted: dict[str, Candidate], wishes: Wishes) -> None:
    from kinetix.io import write_comparison, write_report
    from kinetix.report import comparison_summary, text_report

    if wishes.as_json:
        typer.echo(json.dumps(comparison_summary(tree), indent=2, ensure_ascii=False, allow_nan=False))
    elif not wishes.quiet:
        typer.echo(text_report(tree))
    with progress(wanted=not wishes.quiet) as say:
        say("writing")
        paths = write_comparison(tree, {name: candidate.tree for name, candidate in fitted.items()}, wishes.out, remove=report_files())
        say("drawing")
        paths = [path for path in paths if path.parent == wishes.out] + write_report(tree, wishes.out)
    if not wishes.quiet:
        typer.echo(f"{written_to(wishes.out, paths)}; and the fits in {', '.join(f'{name}/' for name in fitted)}", err=wishes.as_json)
