"""`kinetix simulate`: profiles or steady states of a study at its starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from kinetix.cli.compile_cache import start_compile_cache
from kinetix.cli.messages import fail, telling
from kinetix.cli.options import Device, Quiet, Study
from kinetix.cli.progress import progress
from kinetix.cli.work import on_device, problem_of, source_of
from kinetix.status import Status

if TYPE_CHECKING:
    import xarray as xr

SHOWN_ROWS = 24
"""Rows of a printed table; a longer one shows its two ends."""

WORDS = ("experiment", "stable", "from the feed")
"""Columns of words."""

WIDTH = 96
"""Columns of text; what does not fit stands in further tables below."""


def simulate(
    study: Study,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.nc", help="Write everything to this netCDF file.", show_default=False)
    ] = None,
    values: Annotated[
        Path | None,
        typer.Option("--from", metavar="FIT.nc", help="Take the values of this fit in place of the study's.", show_default=False),
    ] = None,
    all_states: Annotated[
        bool, typer.Option("--all-states", help="Of a stirred tank: every steady state, not only the one that the feed leads to.")
    ] = False,
    quiet: Quiet = False,
    device: Device = None,
) -> None:
    """Simulate a study: profiles over time, or steady states.

    \b
    Examples:
      kinetix simulate study.toml
      kinetix simulate study.toml --out profiles.nc
      kinetix simulate study.toml --from study-fit/fit.nc
      kinetix simulate study.toml --all-states

    Every parameter has its known value or its start, or with --from its value in the result of a fit. Conditions are those
    of the data, and so are times unless the study says [simulate] times = "0:600:61 s", which then holds for every
    experiment. A study without [data] has its conditions under [conditions] and [initial].

    Prints a table, the two ends of it where it is long. With --out, writes all of it to a netCDF file with the groups
    simulation, parameters and conditions. Exit code 1 if an experiment could not be simulated; its values are then NaN.

    With --all-states the table holds every steady state of a stirred tank, whether it is stable, and which one the feed
    leads to; below it stand the residence times at which states appear or vanish. The file has the group states too.
    """
    with telling():
        with progress(wanted=not quiet) as say:
            say("reading")
            from kinetix.io import read_tree, writable_file, write_tree
            from kinetix.studies import all_states_of, at_times, simulate_problem, simulated_times, with_values_of

            if out is not None:
                writable_file(out)
            read, problem = problem_of(source_of(study), predict_all=True)
            recognised = len(problem.campaign.notes)
            if read.data is not None and read.simulate.times is not None:
                problem = at_times(problem, *simulated_times(read))
            if values is not None:
                problem = with_values_of(problem, read_tree(values), str(values))
            say("simulating")
            with on_device(device):
                start_compile_cache()
                states = all_states_of(problem, on_experiment=lambda name: say(f"experiment {name}")) if all_states else None
                tree = simulate_problem(problem)
        if states is not None:
            tree["states"] = states
        if not quiet:
            for note in problem.campaign.notes[recognised:]:
                typer.echo(fill(note, WIDTH, break_long_words=False) + "\n")
            _print_table(tree) if states is None else _print_states(tree, states)
        if out is not None:
            write_tree(tree, out)
            if not quiet:
                typer.echo(f"Written to {out}")
        failed = list(_failed(tree) if states is None else _states_failed(states))
        if failed:
            raise fail(failed)


def _failed(tree: xr.DataTree) -> Iterator[str]:
    from kinetix.results.phrases import how_ended

    data = tree["simulation"].to_dataset()
    timed = "t_reached" in data
    for i, (name, code) in enumerate(zip(data["experiment"].values, data["status"].values, strict=True)):
        if not Status(int(code)).ok:
            reached, unit = (data["t_reached"].values[i], data["t_reached"].attrs["units"]) if timed else (0.0, "")
            why = f"; {data['why'].values[i]}" if data["why"].values[i] else ""
            yield f"experiment '{name}' could not be simulated: {how_ended(Status(int(code)), reached, unit)}{why}."


def _print_table(tree: xr.DataTree) -> None:
    _print_rows(tree.attrs["title"], *_columns(tree))


def _print_rows(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], keys: int) -> None:
    """A table as wide as the page, of which the first `keys` columns say which row it is; the two ends of it where it is long."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    half = SHOWN_ROWS // 2
    kept = rows if len(rows) <= SHOWN_ROWS else [*rows[:half], ["..."] * len(header), *rows[-half:]]
    console = Console(width=WIDTH, highlight=False)
    if title:
        typer.echo(title + "\n")
    for number, columns in enumerate(_split(header, kept, keys)):
        table = Table(box=None, pad_edge=False, header_style="bold")
        for i in columns:
            table.add_column(Text(header[i]), justify="left" if header[i] in WORDS else "right", no_wrap=True)
        for row in kept:
            table.add_row(*(Text(row[i]) for i in columns))
        if number:
            typer.echo()
        console.print(table)
    if len(kept) < len(rows):
        typer.echo(f"\n{len(rows)} rows, {SHOWN_ROWS} shown; --out FILE.nc holds all.")


def _columns(tree: xr.DataTree) -> tuple[list[str], list[list[str]], int]:
    """Header and rows as text: experiment where there are several, time or conditions, then the responses; and how many columns of
    the first say which row it is."""
    data = tree["simulation"].to_dataset()
    experiments = [str(name) for name in data["experiment"].values]
    timed = "t" in data.coords or "t" in data.data_vars
    conditions = {} if timed or "conditions" not in tree.children else dict(tree["conditions"].to_dataset().data_vars)
    header = ["experiment"] if len(experiments) > 1 else []
    header += [_titled("t", data["t"].attrs["units"])] if timed else []
    header += [_titled(values.attrs["long_name"], values.attrs["units"]) for values in conditions.values()]
    header += [_titled(str(name), str(unit)) for name, unit in zip(data["response"].values, data["unit"].values, strict=True)]
    rows = []
    predicted = data["predicted"].transpose("experiment", "time", "response").values
    for i, name in enumerate(experiments):
        for j in range(predicted.shape[1]):
            if timed and j and data["t"].values[i, j] == data["t"].values[i, j - 1] and (predicted[i, j] == predicted[i, j - 1]).all():
                continue  # padding and replicates
            numbers = [data["t"].values[i, j]] if timed else [values.values[i] for values in conditions.values()]
            rows.append([name][: len(experiments) > 1] + [f"{number:.5g}" for number in (*numbers, *predicted[i, j])])
    return header, rows, (len(experiments) > 1) + timed


def _print_states(tree: xr.DataTree, states: xr.Dataset) -> None:
    """Every state with what it is like, how the slowest or growing disturbance goes, and which one the feed leads to."""
    several = states.sizes["experiment"] > 1
    header, rows = ["experiment"] if several else [], [[str(name)] for name in states["state_experiment"].values] if several else []
    rows = rows or [[] for _ in range(states.sizes["state"])]
    columns = [(str(name), unit, states["concentration"].values[:, i]) for i, (name, unit) in enumerate(_named(states, "species"))]
    columns += [("T", states["T"].attrs["units"], states["T"].values)] if "T" in states else []
    if "response" in states.dims:
        columns += [(str(name), unit, states["predicted"].values[:, i]) for i, (name, unit) in enumerate(_named(states, "response"))]
    header += [_titled(name, unit) for name, unit, _ in columns]
    header += ["stable", _titled("eigenvalue", states["eigenvalue_real"].attrs["units"]), "from the feed"]
    for i, row in enumerate(rows):
        row += [f"{values[i]:.5g}" for _, _, values in columns]
        real, imaginary = (float(states[f"eigenvalue_{part}"].values[i, 0]) for part in ("real", "imag"))
        row += ["yes" if states["stable"].values[i] else "no", f"{real:.4g}" + (f" ± {abs(imaginary):.4g} i" if imaginary else "")]
        row += ["reached" if states["reached_from_feed"].values[i] else ""]
    _print_rows(tree.attrs["title"], header, rows, int(several))
    for number, line in enumerate(_about_curves(states, several)):
        typer.echo(f"\n{line}" if number == 0 else line)


def _named(states: xr.Dataset, dim: str) -> list[tuple[str, str]]:
    units = states["species_unit" if dim == "species" else "unit"]
    return [(str(name), str(unit)) for name, unit in zip(states[dim].values, units.values, strict=True)]


def _about_curves(states: xr.Dataset, several: bool) -> Iterator[str]:
    """Where states appear, vanish or begin to oscillate over the residence time, and where the feed leads nowhere."""
    from kinetix.results.phrases import listing

    along, unit = states.attrs["along"], states["point_along"].attrs["units"]
    for i, name in enumerate(states["experiment"].values):
        where = f"experiment '{name}': " if several else ""
        for kind, said in (("fold", "states appear or vanish"), ("hopf", "an oscillation begins or ends"), ("branch", "curves cross")):
            here = (states["point_experiment"].values == name) & (states["point_kind"].values == kind)
            values = sorted(states["point_along"].values[here])
            if values:
                yield f"{where}{said} at {along} = {listing([f'{value:.5g}' for value in values])} {unit}"
        if not Status(int(states["feed_status"].values[i])).ok:
            yield f"{where}from the feed: {Status(int(states['feed_status'].values[i])).sentence}"


def _states_failed(states: xr.Dataset) -> Iterator[str]:
    for what, labels in (("a steady state", "state"), ("a curve of steady states", "curve")):
        codes = states["status" if labels == "state" else "curve_status"].values
        for name, code in zip(states[f"{labels}_experiment"].values, codes, strict=True):
            if not Status(int(code)).ok:
                yield f"experiment '{name}': {what} could not be followed to its end: {Status(int(code)).sentence}."


def _titled(name: str, unit: str) -> str:
    return name if unit == "1" else f"{name} [{unit}]"


def _split(header: Sequence[str], rows: Sequence[Sequence[str]], keys: int) -> list[list[int]]:
    """The columns of each of the tables below one another that show all; the first `keys` columns stand in every one.

    >>> _split(["t [s]", *"ABC"], [["1", "2" * 60, "3" * 60, "4"]], 1)
    [[0, 1], [0, 2, 3]]
    """
    widths = [max(len(name), *(len(row[position]) for row in rows)) + 1 for position, name in enumerate(header)]
    tables: list[list[int]] = []
    for position in range(keys, len(header)):
        if not tables or sum(widths[i] for i in (*tables[-1], position)) > WIDTH + 1:
            tables.append(list(range(keys)))
        tables[-1].append(position)
    return tables
