"""Fits from several starts in words: how many reached the best optimum, and which other optima there are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from kinetix.report.numbers import significant
from kinetix.results.phrases import count, listing, plain
from kinetix.results.tree import group_of
from kinetix.status import Status

ORIGINS = {"given": "given", "data": "found in the data", "spread": "spread over the ranges"}
MOST_OPTIMA = 20
"""Optima that a table shows."""


def start_sentences(tree: xr.DataTree) -> Iterator[str]:
    """What became of several starts; nothing where there was only one."""
    if "starts" not in tree.children:
        return
    group = group_of(tree, "starts")
    number, reached = group.sizes["start"], group["reached"].values
    origins = group["origin"].values.tolist()
    listed = listing([f"{origins.count(origin)} {words}" for origin, words in ORIGINS.items() if origin in origins])
    seed = f", seed {tree.attrs['seed']}" if "seed" in tree.attrs else ""
    best = int(np.count_nonzero(reached == 0))
    yield f"{count(number, 'start')} ({listed}{seed}): {best} reached the best optimum{_share(best, number)}."
    others = _others(group)
    if others:
        yield " ".join(others)
    given = int(reached[0])
    ssr = [significant(float(value)) for value in (group["objective"].values[group.attrs["best"]], group["objective"].values[0])]
    if origins[0] == "given" and given != 0 and best:
        ended = "ended without an answer" if given < 0 else f"led to {ssr[1]} only"
        yield f"The given start {ended}; start {group.attrs['best']} led to the objective {ssr[0]}, which is reported."


def optima_rows(tree: xr.DataTree) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Titles and rows of a table of the distinct optima, the best first."""
    group = group_of(tree, "starts")
    names = [
        f"{name} [{unit}]" if unit != "1" else str(name) for name, unit in zip(group["parameter"].values, group["unit"].values, strict=True)
    ]
    rows = [
        (
            str(index),
            str(int(group["optimum_starts"].values[index])),
            significant(float(group["optimum_objective"].values[index])),
            *(significant(float(value), 5) for value in group["optimum_value"].values[index]),
            str(group["optimum_note"].values[index]) or ("as good" if index and group["optimum_as_good"].values[index] else ""),
        )
        for index in range(min(group.sizes["optimum"], MOST_OPTIMA))
    ]
    return ("optimum", "starts", "objective", *names, "remark"), rows


def _share(part: int, whole: int) -> str:
    return f" ({plain(100 * part / whole, 2)} %)"


def _others(group: xr.Dataset) -> list[str]:
    """Clauses about the starts that did not reach the best optimum."""
    starts, as_good, notes = (group[f"optimum_{name}"].values for name in ("starts", "as_good", "note"))
    sentences = []
    equal = [i for i in range(1, len(starts)) if as_good[i]]
    worse = [i for i in range(1, len(starts)) if not as_good[i]]
    if equal:
        how = [str(notes[i]) for i in equal if notes[i]]
        told = f" ({'; '.join(how[:3])}{'; ...' if len(how) > 3 else ''})" if how else ""
        sentences.append(
            f"{int(starts[equal].sum())} reached {_optima(len(equal))} that {'is' if len(equal) == 1 else 'are'} as good{told}."
        )
    if worse:
        lowest = significant(float(group["optimum_objective"].values[worse].min()), 5)
        at = f"objective {lowest}" if len(worse) == 1 else f"objectives from {lowest} on"
        sentences.append(
            f"{int(starts[worse].sum())} reached {_optima(len(worse))} that {'is' if len(worse) == 1 else 'are'} worse ({at})."
        )
    lost = [Status(int(code)) for code in group["status"].values[group["reached"].values < 0]]
    if lost:
        kinds = sorted(set(lost), key=lambda kind: (-lost.count(kind), kind))
        told = listing([kind.label if len(kinds) == 1 else f"{lost.count(kind)} {kind.label}" for kind in kinds])
        sentences.append(f"{len(lost)} ended without an answer ({told}).")
    return sentences


def _optima(number: int) -> str:
    return "another optimum" if number == 1 else f"{number} other optima"
