"""The study that a direct call assumes: reactions, a reactor and data files, without a study file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from kinetix.errors import ParameterError, Problems, StudyError, nearest
from kinetix.experiments import Table, recognise
from kinetix.network import Network, parse_network
from kinetix.rates import FunctionLaw
from kinetix.simulation import ReactorModel
from kinetix.studies.building import reactor_of
from kinetix.studies.chemistry import QUANTITIES
from kinetix.studies.numbers import PARTS

TITLED = 3
"""Reactions and files that a title names."""


class Placed(NamedTuple):
    """Parameters by full name, put where a study file has them."""

    reactions: dict[str, dict[str, Any]]
    initial: dict[str, Any]
    feed: dict[str, Any]
    named: dict[str, Any]


def place_parameters(
    network: Network, starts: Mapping[str, Any], known: Mapping[str, Any], own: Mapping[str, Collection[str]] | None = None
) -> Placed:
    """Sections of a study from parameters by full name.

    Args:
        network: the reactions.
        starts: `r1.k`, `r1.Ea`, `r3.kf.A`, `r1.order.A`, `initial.A`, `feed.A`, or the name of a constant of its own -> a start,
            or a table as in the study file.
        known: the same for what is known.
        own: reaction -> names of the constants of its formula or function. Among them `r1.b` is a constant called b; of any other rate
            law it is the exponent of k.

    Raises:
        ParameterError: names that belong nowhere, and numbers that are given twice, all at once.

    >>> from kinetix.network import parse_network
    >>> place_parameters(parse_network("A -> B"), {"r1.k": "0.1 1/min"}, {"r1.Ea": "60 kJ/mol"}).reactions
    {'r1': {'equation': 'A -> B', 'k': {'start': '0.1 1/min'}, 'Ea': '60 kJ/mol'}}
    """
    placed = Placed({r.name: {"equation": r.equation} for r in network.reactions}, {}, {}, {})
    problems = Problems()
    seen: dict[tuple[str, ...], str] = {}
    for values, how in ((starts, "with a start"), (known, "as known")):
        for name, text in values.items():
            value = text if values is known or isinstance(text, Mapping) else {"start": text}
            said = f"'{name}' {how} ({_shown(text)})"
            path = _path(name, own or {})
            first = seen.setdefault(path, said)
            if first != said:
                problems.add(f"A parameter is given twice: {first} and {said}. Keep one.")
                continue
            with problems.collecting():
                _place(placed, path, value, name, own or {})
    problems.raise_if_any(ParameterError)
    return placed


def _shown(value: Any) -> str:
    return str(value.get("start", "no start")) if isinstance(value, Mapping) else str(value)


def _path(name: str, own: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Where a number stands, the same for all its names: `r1.k` and `r1.k_ref`, `r1.kf` and `r1.kf.k_ref`; species may hold dots."""
    owner, *parts = name.split(".")
    if not parts:
        return (owner,)
    if owner in ("initial", "feed"):
        return owner, ".".join(parts)
    if parts[0] == "order" and len(parts) > 1:
        return owner, "order", ".".join(parts[1:])
    constants = own.get(owner, ())
    head, *rest = (part if part in constants else {"k_ref": "k", "K_ref": "K"}.get(part, part) for part in parts)
    if len(rest) == 1 and (rest[0] in ("k", "K") or (rest[0] == head and head not in PARTS)):
        return owner, head
    if head == "k" and len(rest) == 1 and rest[0] not in constants:
        return owner, rest[0]  # r1.k.Ea is r1.Ea
    return owner, head, *rest


def _place(placed: Placed, path: tuple[str, ...], value: Any, name: str, own: Mapping[str, Collection[str]]) -> None:
    owner, *rest = path
    if owner in placed.reactions and rest and all(rest):
        _into(placed.reactions[owner], rest, value, name, own.get(owner, ()))
    elif owner in ("initial", "feed") and rest:
        (placed.initial if owner == "initial" else placed.feed)[rest[0]] = value
    elif not rest:
        placed.named[owner] = value
    else:
        examples = [f"{reaction}.k" for reaction in placed.reactions] + ["initial.A", "feed.A"]
        reactions = ", ".join(placed.reactions)
        raise ParameterError(f"Parameter '{name}' belongs to no reaction (known: {reactions}).{nearest(name, examples)}")


def _into(section: dict[str, Any], path: list[str], value: Any, name: str, own: Collection[str]) -> None:
    """Put `r1.k`, `r1.Ea`, `r1.kf.Ea`, `r1.order.A` where the study file has them."""
    head, *part = path
    if head == "order" and part:
        section.setdefault("orders", {})[part[0]] = value
        return
    if len(part) > 1:
        raise ParameterError(f"Parameter '{name}' is not understood. Write for example r1.k, r1.Ea, r1.kf.Ea or r1.order.A.")
    if head == "k" and part:
        section[part[0]] = value
        return
    holder = _holder(section, head, own)
    before = holder.get(head)
    itself = "k" if head in PARTS else head
    if part:
        known = before if isinstance(before, dict) else {} if before is None else {itself: before}
        holder[head] = {**known, part[0]: value}
    else:
        # its parts may have come before it, or come after it
        holder[head] = {**before, itself: value} if isinstance(before, dict) else value


def _holder(section: dict[str, Any], constant: str, own: Collection[str]) -> dict[str, Any]:
    """Where a reaction says a constant: by itself, or under its parameters if its law calls it like a part of k."""
    if constant in QUANTITIES and not (constant in PARTS and constant in own):
        return section
    return section.setdefault("parameters", {})


def with_missing_constants(
    network: Network,
    sections: Mapping[str, dict[str, Any]],
    several_temperatures: bool,
    functions: Mapping[str, FunctionLaw] | None = None,
) -> None:
    """Make every constant that mass action needs and nobody gave an estimate without a start, with Ea where temperatures vary.

    Changes `sections` in place; reactions with a rate formula or a named law keep what they have. Those
    with a function (`functions`, by reaction) are given the constants that it declares, without Ea.
    """
    constant: dict[str, Any] = {"k": {}, "Ea": {}} if several_temperatures else {}
    for reaction in network.reactions:
        section = sections[reaction.name]
        if functions and reaction.name in functions:
            declared = functions[reaction.name].constants
            for name, unit in declared:
                _holder(section, name, [one for one, _ in declared]).setdefault(name, {"unit": unit.text})
            continue
        if "rate" in section or "law" in section:
            continue
        if reaction.reversible:
            section.setdefault("kf", dict(constant))
            if "kr" not in section and "K" not in section:
                section["kr"] = dict(constant)
        elif "dH" in section or "dS" in section:
            if "dS" not in section:
                section.setdefault("k", {})
        elif "k" not in section and "A" not in section:
            section.update({"k": {}, **({"Ea": section.get("Ea", {})} if several_temperatures else {})})


def complete_study(study: dict[str, Any], tables: Sequence[Table]) -> None:
    """Let every constant that a direct call does not mention be estimated; with Ea where the tables hold several temperatures.

    Changes the study in place.

    Args:
        study: from `direct_study`.
        tables: its data files as read.
    """
    sections = study["reactions"]
    network = parse_network("\n".join(f"{name}: {section['equation']}" for name, section in sections.items()), formulas=False)
    vocabulary = ReactorModel(network, reactor_of(study["reactor"]["type"], density=study["reactor"].get("density")), (), {}).vocabulary({})
    columns = study["data"].get("columns")
    seen: set[float] = set()
    for table in tables:
        column = recognise(table, vocabulary, columns=columns, problems=Problems()).find("condition", "T")
        if column is not None:
            values = table.numbers(column.header, Problems())
            seen.update(values[np.isfinite(values)].tolist())
    with_missing_constants(network, sections, len(seen) > 1)


def direct_study(
    files: Sequence[str],
    reactions: Sequence[str],
    reactor: str,
    *,
    density: str | None = None,
    starts: Mapping[str, Any] | None = None,
    known: Mapping[str, Any] | None = None,
    initial: Mapping[str, Any] | None = None,
    feed: Mapping[str, Any] | None = None,
    conditions: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    noise: Mapping[str, Any] | None = None,
    sigma: str | None = None,
    title: str = "",
) -> dict[str, Any]:
    """A study as the nested mapping of a study file.

    Args:
        files: data files.
        reactions: reaction texts, named r1, r2, ... unless they carry names (`slow: A -> B`).
        reactor: its type.
        density: how its density goes, where there is a choice.
        starts, known: parameters by full name, see `place_parameters`.
        initial, feed, conditions, columns, ignore, noise, sigma: as in the study file.
        title: for reports; default: the reactions, the reactor and the files.

    Raises:
        ParameterError: a parameter name that belongs to no reaction.
        StudyError: no reaction.

    >>> direct_study(["a.csv"], ["A -> B"], "cstr", starts={"r1.k": "0.1 1/min"})["reactions"]["r1"]["k"]
    {'start': '0.1 1/min'}
    """
    if not reactions:
        raise StudyError('No reaction. Write --reaction "A -> B".')
    placed = place_parameters(parse_network("\n".join(reactions), formulas=False), starts or {}, known or {})
    problems = Problems()
    initials = _merged(placed.initial, initial or {}, "initial", problems)
    feeds = _merged(placed.feed, feed or {}, "feed", problems)
    problems.raise_if_any(ParameterError)
    study: dict[str, Any] = {
        "schema": 1,
        "title": title or _title(reactions, reactor, files),
        "reactions": placed.reactions,
        "reactor": {"type": reactor, **({"density": density} if density else {})},
        "conditions": {**(conditions or {}), **({"feed": feeds} if feeds else {})},
        "initial": initials,
        "parameters": placed.named,
        "noise": dict(noise or {}),
        "data": {"files": list(files), **({"columns": dict(columns)} if columns else {}), **({"ignore": list(ignore)} if ignore else {})},
        "fit": {"sigma": sigma} if sigma else {},
    }
    return {key: value for key, value in study.items() if value not in ({}, "")}


def _title(reactions: Sequence[str], reactor: str, files: Sequence[str]) -> str:
    """What reports are headed with where nobody gave a title.

    >>> _title(["A -> B", "B -> C"], "batch", ["old/a.csv", "b.csv"])
    'A -> B; B -> C in a batch reactor: a.csv, b.csv'
    >>> _title([f"A -> P{i}" for i in range(5)], "cstr", ["a.csv"])
    'A -> P0; A -> P1; A -> P2 and 2 more in a cstr reactor: a.csv'
    """
    names = ["stdin" if file == "-" else PurePath(file).name for file in files]
    said = [
        mark.join(texts[:TITLED]) + (f" and {len(texts) - TITLED} more" if len(texts) > TITLED else "")
        for mark, texts in (("; ", [reaction.strip() for reaction in reactions]), (", ", names))
    ]
    return f"{said[0]} in a {reactor} reactor: {said[1]}"


def _merged(by_name: Mapping[str, Any], by_species: Mapping[str, Any], stem: str, problems: Problems) -> dict[str, Any]:
    """Amounts given as parameters (`initial.A`) and by species (`A`), each of them once."""
    for species in by_species:
        if species in by_name:
            written = by_name[species]
            option = "--start" if isinstance(written, Mapping) else "--known"
            problems.add(
                f"{stem}.{species} is given twice: {option} {stem}.{species} ({_shown(written)}) and --{stem} {species}"
                f" ({by_species[species]}). Keep one: a start is estimated, the other is known."
            )
    return {**by_name, **by_species}


def arrhenius_study(
    file: str,
    columns: Mapping[str, str] | None = None,
    *,
    constant: str = "k",
    sigma: str | None = None,
    ignore: Sequence[str] = (),
    noise: Mapping[str, Any] | None = None,
    title: str = "",
    **starts: Any,
) -> dict[str, Any]:
    """The study of a table of rate constants over temperature.

    Without sigma ln k is fitted with equal weights (a constant relative error); with sigma, k itself.

    Args:
        file: the table.
        columns: as in the study file.
        constant: name of the constant's column.
        sigma: how a sigma column or `noise` is meant; None where there is none.
        ignore, noise: as in the study file.
        title: for reports.
        starts: `k` and `Ea` as in the study file, and `at`.
    """
    side = constant if sigma else f"log({constant})"
    return {
        "schema": 1,
        "title": title or f"Arrhenius parameters of {constant}",
        "model": {side: side},  # the column on the left, the constant of the same name on the right
        "parameters": {constant: starts},
        "data": {"files": [file], "columns": dict(columns or {}), **({"ignore": list(ignore)} if ignore else {})},
        **({"noise": dict(noise)} if noise else {}),
        **({"fit": {"sigma": sigma}} if sigma else {}),
    }
