"""Rows to experiments: which rows of a table belong together, in which order, under which label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from kinetix.errors import Problems
from kinetix.experiments.sheet import Sheet
from kinetix.experiments.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Lane:
    """One experiment: the rows of its table that belong to each of its times (several rows only in long form)."""

    label: str
    sheet: Sheet
    slots: tuple[tuple[int, ...], ...]

    @property
    def rows(self) -> list[int]:
        return [row for slot in self.slots for row in slot]


def lanes_of(sheets: Sequence[Sheet], vocabulary: Vocabulary, problems: Problems) -> tuple[list[Lane], list[str]]:
    """The experiments of all tables, with labels that are all different."""
    notes: list[str] = []
    stems = _distinct([sheet.table.stem for sheet in sheets], " ({})")
    per_sheet = [_of_sheet(sheet, stem, vocabulary.timed, problems, notes) for sheet, stem in zip(sheets, stems, strict=True)]
    seen = Counter(label for lanes in per_sheet for label in {lane.label for lane in lanes})
    shared = [label for label, count in seen.items() if count > 1]
    if any(sheet.labels for sheet in sheets) and shared:
        notes.append(
            f"Experiments of the same name in different tables are different experiments: {shared[0]} is "
            + " and ".join(
                f"{stem}:{shared[0]}" for stem, lanes in zip(stems, per_sheet, strict=True) if shared[0] in {x.label for x in lanes}
            )
            + (f"; so are {len(shared) - 1} more." if len(shared) > 1 else ".")
        )
    lanes = [lane for lanes in per_sheet for lane in lanes]
    labels = [
        f"{stem}:{lane.label}" if seen[lane.label] > 1 else lane.label
        for stem, lanes in zip(stems, per_sheet, strict=True)
        for lane in lanes
    ]
    return [replace(lane, label=label) for lane, label in zip(lanes, _distinct(labels, "#{}"), strict=True)], notes


def _distinct(labels: Sequence[str], form: str) -> list[str]:
    """Labels that occur more than once get a running number."""
    total, so_far = Counter(labels), Counter[str]()
    distinct: list[str] = []
    for label in labels:
        so_far[label] += 1
        distinct.append(label + form.format(so_far[label]) if total[label] > 1 else label)
    return distinct if len(set(distinct)) == len(distinct) else _distinct(distinct, form)


def _of_sheet(sheet: Sheet, stem: str, timed: bool, problems: Problems, notes: list[str]) -> list[Lane]:
    """The experiments of one table. Rows that hold nothing but remarks belong to none."""
    columns = [*sheet.values.values(), *sheet.conditions.values(), *([sheet.time] if sheet.time is not None else [])]
    rows = [int(row) for row in np.flatnonzero(~np.all(np.isnan(columns), axis=0))] if columns else []
    if timed:
        return _timed_lanes(sheet, rows, stem, problems) if sheet.time is not None else []
    if sheet.recognition.long:
        settings = [tuple(float(numbers[row]) for numbers in sheet.conditions.values()) for row in range(len(sheet.table.rows))]
        slots = _shared_slots(sheet, rows, lambda row: (sheet.labels[row] if sheet.labels else "", settings[row]))
    else:
        slots = tuple((row,) for row in rows)
    written = [sheet.labels[slot[0]] if sheet.labels else str(number) for number, slot in enumerate(slots, start=1)]
    labels = _distinct(written, "#{}")
    if labels != written:
        notes.append(
            f"{sheet.table.source}: rows of the same experiment are told apart by a number, as in {next(x for x in labels if '#' in x)}."
        )
    return [Lane(label, sheet, (slot,)) for label, slot in zip(labels, slots, strict=True)]


def _shared_slots(sheet: Sheet, rows: Iterable[int], key: Callable[[int], tuple[object, ...]]) -> tuple[tuple[int, ...], ...]:
    """Long form: rows of equal key share a slot, unless they read the same response again (a replicate)."""
    slots: dict[tuple[object, ...], list[int]] = {}
    counts = Counter[tuple[object, ...]]()
    for row in rows:
        place = key(row)
        reading = (place, sheet.read[row])
        slots.setdefault((place, counts[reading]), []).append(row)
        counts[reading] += 1
    return tuple(tuple(slot) for slot in slots.values())


def _timed_lanes(sheet: Sheet, rows: Sequence[int], stem: str, problems: Problems) -> list[Lane]:
    """Rows grouped by experiment and ordered by time."""
    time, column = sheet.time, sheet.recognition.having("time")[0]
    assert time is not None
    timeless = [row for row in rows if sheet.holds_none(row, column)]
    sheet.report(problems, column, timeless, lambda row: "the cell is empty, but the row has values. Write the time.")
    by_label: dict[str, list[int]] = {}
    for row in rows:
        if not np.isnan(time[row]):
            by_label.setdefault(sheet.labels[row] if sheet.labels else stem, []).append(row)
    if not sheet.labels:
        for earlier, later in pairwise(by_label.get(stem, ())):
            if time[later] < time[earlier]:
                problems.add(
                    f"{sheet.table.place(later, column.header)}: the time goes back from {sheet.written(earlier, column)} to "
                    f"{sheet.written(later, column)}. Where a table holds several experiments, add a column that names them, "
                    "for example 'experiment'."
                )
                return []
    lanes: list[Lane] = []
    for label, members in by_label.items():
        ordered = [members[place] for place in np.argsort(time[members], kind="stable")]
        slots = _shared_slots(sheet, ordered, lambda row: (time[row],)) if sheet.recognition.long else tuple((row,) for row in ordered)
        lanes.append(Lane(label, sheet, slots))
    return lanes
