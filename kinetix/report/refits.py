"""What refits tell, as rows and sentences: intervals by profile and bootstrap beside those by standard errors, and influence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from kinetix.report.numbers import alike, decimal, significant
from kinetix.results.phrases import count, listing, plain
from kinetix.results.tree import group_of
from kinetix.status import Status

DIGITS = 4

SKEW = 0.1
"""Share of the half-width of the interval by standard errors from which on it is said that a profile's end lies elsewhere."""

MOST_LEFT_OUT = 10
"""Experiments that a table of influence shows, those of the largest first."""

INFLUENTIAL = 0.5
"""Distance, in units of the joint region, from which on an experiment by itself decides more than it should."""

_OPEN = {
    "bound": "to its bound",
    "open": "none",
    "failed": "not found",
    "stopped": "not followed",
}
"""What stands for an end that a profile does not have."""


def interval_rows(tree: xr.DataTree) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Titles and rows of a table of intervals by parameter, next to each other; no rows where there is neither profile nor bootstrap."""
    columns: list[tuple[str, str, str]] = []
    if "likelihood" in tree.children:
        columns.append(("likelihood", "profile from", "to"))
    if "bootstrap" in tree.children:
        columns.append(("bootstrap", "bootstrap from", "to"))
    if not columns:
        return (), []
    parameters = group_of(tree, "parameters")
    names = [str(name) for name in group_of(tree, columns[0][0])["parameter"].values]
    rows = []
    for name in names:
        own = parameters.sel(parameter=name)
        ends = [_ends(group_of(tree, group).sel(parameter=name)) for group, _, _ in columns]
        numbers = [float(own[key]) for key in ("value", "lower95", "upper95")] + [value for pair in ends for value, _ in pair]
        words = ["", "", "", *(word for pair in ends for _, word in pair)]
        unit = str(own["unit"].values)
        shown = [word or text for word, text in zip(words, alike(numbers, DIGITS), strict=True)]
        rows.append((name, *shown, "" if unit == "1" else unit))
    heads = ("parameter", "value", "95 % from", "to", *(title for _, low, high in columns for title in (low, high)), "unit")
    return heads, rows


def _ends(own: xr.Dataset) -> list[tuple[float, str]]:
    """Both ends of an interval, each as a number or as a word in its place."""
    how = [str(own[f"{side}_end"].values) if f"{side}_end" in own else "crossed" for side in ("lower", "upper")]
    ends = zip((float(own["lower95"]), float(own["upper95"])), how, strict=True)
    return [(np.nan if end in _OPEN else value, _OPEN.get(end, "")) for value, end in ends]


def interval_sentences(tree: xr.DataTree) -> Iterator[str]:
    """What profiles and bootstrap tell beyond the numbers."""
    if "likelihood" in tree.children:
        yield from _profile_sentences(tree)
    if "bootstrap" in tree.children:
        group = group_of(tree, "bootstrap")
        lost = int(np.isnan(group["draw_value"].values).any(axis=1).sum())
        how = [str(group.attrs["kind"]), count(group.sizes["draw"], "refit")]
        how += [f"seed {tree.attrs['seed']}"] if "seed" in tree.attrs else []
        how += [f"{lost} without an answer"] if lost else []
        yield f"Bootstrap ({', '.join(how)}): the middle 95 % of the estimates of data that could have been measured instead."


def _profile_sentences(tree: xr.DataTree) -> Iterator[str]:
    group, parameters = group_of(tree, "likelihood"), group_of(tree, "parameters")
    skewed = []
    for name in (str(name) for name in group["parameter"].values):
        own, linear = group.sel(parameter=name), parameters.sel(parameter=name)
        yield from _open_sides(name, own)
        ends = {side: str(own[f"{side}_end"].values) for side in ("lower", "upper")}
        half = float(linear["upper95"] - linear["lower95"]) / 2
        shifts = [abs(float(own[f"{side}95"] - linear[f"{side}95"])) / half for side in ends if ends[side] == "crossed" and half > 0]
        if shifts and max(shifts) > SKEW:
            skewed.append(f"{name} ({plain(100 * max(shifts), 2)} %)")
    if skewed:
        yield (
            f"The profile ends elsewhere than the standard errors say for {listing(skewed)}, as a share of the half-width: use the profile."
        )
    elif all(end == "crossed" for side in ("lower_end", "upper_end") for end in group[side].values.astype(str)):
        yield f"Profiles and standard errors agree to {plain(100 * SKEW, 2)} % of the half-width: the model is close to linear there."


def _open_sides(name: str, own: xr.Dataset) -> Iterator[str]:
    unit = str(own["unit"].values)
    ends = {side: str(own[f"{side}_end"].values) for side in ("lower", "upper")}
    last = {side: f"{significant(float(own[f'{side}95']), 3)}{'' if unit == '1' else ' ' + unit}" for side in ends}
    if all(end == "open" for end in ends.values()):
        yield f"{name} is not determined: its profile is flat from {last['lower']} to {last['upper']}, the other parameters make up for it."
        return
    for side, words in (("lower", "down"), ("upper", "up")):
        if ends[side] == "open":
            yield f"{name} has no {side} limit: {words} to {last[side]} the data are fitted as well as 95 % allows."
        elif ends[side] == "failed":
            beyond = "below" if side == "lower" else "above"
            yield f"{name}: no fit was found {beyond} {last[side]}, so that the interval has no {side} end."
        elif ends[side] == "stopped":
            yield f"{name}: the profile was stopped at {last[side]}."


def influence_rows(tree: xr.DataTree) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Titles and rows: what was left out, how far the estimates then move, and each shift in standard errors; the largest first."""
    if "influence" not in tree.children:
        return (), []
    group = group_of(tree, "influence")
    names = tuple(str(name) for name in group["parameter"].values)
    order = np.argsort(-np.nan_to_num(group["distance"].values, nan=np.inf), kind="stable")[:MOST_LEFT_OUT]
    distances = alike(group["distance"].values[order], 3)
    shifts = [decimal(group["shift"].values[order, i], 2) for i in range(len(names))]
    status = [Status(int(code)) for code in group["status"].values[order]]
    rows = [
        (
            str(group["left_out"].values[index]),
            distances[row],
            *(shift[row] for shift in shifts),
            "" if status[row] in (Status.SUCCESS, Status.ON_BOUND) else status[row].label,
        )
        for row, index in enumerate(order)
    ]
    return ("without", "distance", *names, "remark"), rows


def influence_sentences(tree: xr.DataTree) -> Iterator[str]:
    """Which experiments the estimates hang on."""
    if "influence" not in tree.children:
        return
    group = group_of(tree, "influence")
    labels, distance = group["left_out"].values.astype(str), group["distance"].values
    lost = [str(label) for label, code in zip(labels, group["status"].values, strict=True) if not Status(int(code)).ok]
    flat = [str(label) for label, code in zip(labels, group["status"].values, strict=True) if Status(int(code)) is Status.FLAT]
    yield (
        "Changes of the estimates when one is left out: in standard errors, and together as a distance in units of the joint 95 % region (1"
        " is its edge)."
    )
    strong = [i for i in np.argsort(-np.nan_to_num(distance)) if distance[i] > INFLUENTIAL]
    if strong:
        yield f"The estimates hang on {listing([f'{labels[i]} ({plain(float(distance[i]), 2)})' for i in strong])}: check, or repeat."
    elif not lost and not flat:
        yield f"None moves them by more than {plain(INFLUENTIAL, 2)}."
    if flat:
        yield f"Without {listing(flat)} the data do not determine all parameters."
    if lost:
        yield f"Without {listing(lost)} the fit ends without an answer."
