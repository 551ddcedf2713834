"""What each experiment was set to: a condition that holds for all of its rows, or a program between them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np

from kinetix.errors import Problems
from kinetix.experiments.lanes import Lane
from kinetix.experiments.recognition import Column
from kinetix.experiments.sheet import Sheet
from kinetix.experiments.table import SHOWN, report
from kinetix.experiments.vocabulary import Meaning, Vocabulary, describe

_PROGRAMS = ("T",)  # conditions that may follow a program within an experiment
Nodes = tuple[np.ndarray, np.ndarray]  # times and values of a condition in one experiment; one node where it is constant


def settings_of(
    lanes: Sequence[Lane], sheets: Sequence[Sheet], vocabulary: Vocabulary, problems: Problems, held: Collection[str] = ()
) -> tuple[dict[str, list[Nodes]], list[str]]:
    """What each condition column sets in each experiment; those that are held keep their value until the next row that states one."""
    notes: list[str] = []
    for name in held:
        if name not in _PROGRAMS:
            problems.add(f"'{name}' cannot be held: only {', '.join(_PROGRAMS)} may change within an experiment. Remove it.")
    settings: dict[str, list[Nodes]] = {}
    first: dict[Meaning, Sheet] = {}
    for sheet in sheets:
        for column in sheet.recognition.having("condition"):
            first.setdefault(column.meaning, sheet)
    for meaning, giving in first.items():
        settings[meaning.name] = []
        for sheet in sheets:
            column, numbers = sheet.recognition.find("condition", meaning.name), sheet.conditions.get(meaning.name)
            own = [lane for lane in lanes if lane.sheet is sheet]
            if column is None:
                problems.add(f"{sheet.table.source} has no column for {describe(meaning)}, which {giving.table.source} gives. Add one.")
            elif numbers is not None and vocabulary.timed:
                wrong = Problems()
                found = [_nodes(lane, column, numbers, wrong, meaning.name in held) for lane in own]
                report(problems, wrong.found, f"{sheet.table.source}, column '{column.header.text}'", "experiments")
                settings[meaning.name] += [nodes for nodes in found if nodes is not None]
                notes += _setting_notes(own, column, numbers, found, meaning.name in held)
            elif numbers is not None:
                empty = [lane.slots[0][0] for lane in own if sheet.holds_none(lane.slots[0][0], column)]
                sheet.report(problems, column, empty, lambda row, meaning=meaning: f"{describe(meaning)} is missing. Every row needs it.")
                settings[meaning.name] += [(np.zeros(1), numbers[[lane.slots[0][0]]]) for lane in own]
    return settings, notes


def _nodes(lane: Lane, column: Column, numbers: np.ndarray, problems: Problems, held: bool) -> Nodes | None:
    """A condition in one experiment: a constant stated in at least one row, or a program; None after a problem."""
    sheet, name, time = lane.sheet, column.meaning.name, lane.sheet.time
    time_column = sheet.recognition.find("time")
    assert time is not None and time_column is not None
    stated = [row for row in lane.rows if not np.isnan(numbers[row])]
    if not stated:
        if all(sheet.holds_none(row, column) for row in lane.rows):
            first = sheet.table.lines[min(lane.rows)]
            problems.add(
                f"{sheet.table.source}, line {first}, column '{column.header.text}': experiment '{lane.label}' states "
                f"{describe(column.meaning)} in none of its rows."
            )
        return None
    if np.all(numbers[stated] == numbers[stated[0]]):
        return time[stated[:1]], numbers[stated[:1]]
    changes = [(one, other) for one, other in pairwise(stated) if numbers[one] != numbers[other]]
    clashes = [(one, other) for one, other in changes if time[one] == time[other]]
    if clashes or name not in _PROGRAMS:
        one, other = (clashes or changes)[0]
        lines = sorted((sheet.table.lines[one], sheet.table.lines[other]))
        at = f" at the same time {sheet.written(one, time_column)}. Replicates must share their conditions."
        within = " in one experiment. It must be constant there: give each value an experiment name of its own."
        problems.add(
            f"{sheet.table.source}, lines {lines[0]} and {lines[1]}: experiment '{lane.label}' has {name} = {sheet.written(one, column)} "
            f"and {name} = {sheet.written(other, column)}{at if clashes else within}"
        )
        return None
    outside = [row for row in lane.rows if sheet.holds_none(row, column) and not time[stated[0]] <= time[row] <= time[stated[-1]]]
    sheet.report(
        problems, column, outside, lambda row: f"the row lies outside the rows that state the program of {name}. Write {name} here too."
    )
    nodes, first = np.unique(time[stated], return_index=True)
    values = numbers[np.array(stated)[first]]
    return _steps(nodes, values) if held else (nodes, values)


def _steps(times: np.ndarray, values: np.ndarray) -> Nodes:
    """Nodes between which the straight line is a staircase: at each time the value before it, then its own."""
    return np.repeat(times, 2)[1:], np.repeat(values, 2)[:-1]


def _setting_notes(lanes: Sequence[Lane], column: Column, numbers: np.ndarray, found: Sequence[Nodes | None], held: bool) -> list[str]:
    """What was assumed about cells that are empty, between rows and before the first row."""
    programs = {lane.label: nodes for lane, nodes in zip(lanes, found, strict=True) if nodes is not None and len(nodes[0]) > 1}
    filled = [lane.label for lane in lanes if lane.label not in programs and np.any(np.isnan(numbers[lane.rows]))]
    late = [label for label, (times, _) in programs.items() if times[0] > 0]
    what = f"{lanes[0].sheet.table.source}: {describe(column.meaning)}" if lanes else ""
    notes: list[str] = []
    if filled:
        notes.append(f"{what} is stated in some rows of {_experiments(filled)} and holds for all of them.")
    if programs:
        between = "each value holds until the next row that states one" if held else "linear between the rows that state it"
        notes.append(f"{what} changes within {_experiments(list(programs))}: {between}.")
    if late:
        notes.append(f"{what} in {_experiments(late)} is taken as constant before the first row.")
    return notes


def _experiments(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:SHOWN]) + (f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else "")
    return f"experiment{'s' if len(labels) > 1 else ''} {shown}"
