"""A study from options in the place of a study file: `kinetix fit DATA.csv --reaction ...`, `kinetix check DATA.csv ...`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from kinetix.cli.options import deviations, pairs
from kinetix.cli.work import Source, source_of


@dataclass(frozen=True)
class Options:
    """Options as they were given, which a study file would say instead.

    `others` are options that make no sense beside a study file either, by name.
    """

    reaction: Sequence[str] | None = None
    reactor: str | None = None
    density: str | None = None
    start: Sequence[str] | None = None
    known: Sequence[str] | None = None
    initial: Sequence[str] | None = None
    feed: Sequence[str] | None = None
    condition: Sequence[str] | None = None
    column: Sequence[str] | None = None
    ignore: Sequence[str] | None = None
    noise: Sequence[str] | None = None
    sigma: str | None = None
    title: str | None = None
    others: dict[str, object] = field(default_factory=dict)

    def given(self) -> list[str]:
        """The options that were given."""
        own = {f"--{name}": value for name, value in vars(self).items() if name != "others"}
        return [option for option, value in (own | self.others).items() if value]


@dataclass(frozen=True)
class Direct:
    """Data files with the study that options stand for."""

    files: Sequence[Path]
    options: Options
    quantities: dict[str, dict[str, Any]]

    def study(self, folder: Path) -> dict[str, Any]:
        """The study as a file in `folder` would say it."""
        from kinetix.studies import direct_study

        said = self.options
        places = [str(file) if folder == Path() else os.path.relpath(file, folder) for file in self.files]
        return direct_study(
            places,
            said.reaction or (),
            said.reactor or "",
            density=said.density,
            **self.quantities,
            ignore=said.ignore or (),
            sigma=said.sigma,
            title=said.title or "",
        )

    def source(self) -> Source:
        """The study, with the constants that nobody mentions to be estimated."""
        from kinetix.io import read_tables, study_text
        from kinetix.studies import complete_study

        study = self.study(Path())
        tables = read_tables(study["data"]["files"], Path(), None)
        complete_study(study, tables)
        return Source("command line", study_text(study), study, Path(), tables)


def understood(files: Sequence[Path], said: Options) -> Direct | None:
    """Data files with options, or None for a study file.

    Raises:
        typer.BadParameter: options that do not go together.
    """
    studies = [file for file in files if file.suffix.lower() == ".toml"]
    if studies and len(files) > 1:
        raise typer.BadParameter("give one study file, or data files; not both.", param_hint="STUDY.toml|DATA.csv")
    if studies and said.given():
        raise typer.BadParameter(
            "this is said in the study file; the option is for data files without one.", param_hint=", ".join(said.given())
        )
    if studies:
        return None
    if not said.reaction:
        raise typer.BadParameter('data files need a reaction; write for example --reaction "A -> B".', param_hint="--reaction")
    if not said.reactor:
        raise typer.BadParameter(
            "data files need a reactor; write --reactor batch, cstr, transient_cstr, plug_flow, semibatch or differential.",
            param_hint="--reactor",
        )
    quantities: dict[str, dict[str, Any]] = {
        "starts": pairs("--start", said.start, "r1.k=0.1 1/min"),
        "known": pairs("--known", said.known, "r1.Ea=60 kJ/mol"),
        "initial": pairs("--initial", said.initial, "A=1 mol/L"),
        "feed": pairs("--feed", said.feed, "A=1 mol/L"),
        "conditions": pairs("--condition", said.condition, "T=350 K"),
        "columns": pairs("--column", said.column, "tau=residence time [min]"),
        "noise": deviations(said.noise, "A=0.01 mol/L"),
    }
    return Direct(files, said, quantities)


def source_for(files: Sequence[Path], direct: Direct | None) -> Source:
    """The study file, or the study that stands for one."""
    return source_of(files[0]) if direct is None else direct.source()
