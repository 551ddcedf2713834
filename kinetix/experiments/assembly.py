"""Experiments to padded arrays (lanes x times x responses), with the lines they came from and a hash of all numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from kinetix.experiments.campaign import Campaign, Remark, ResponseColumn
from kinetix.experiments.lanes import Lane
from kinetix.experiments.settings import Nodes
from kinetix.experiments.sheet import Sheet
from kinetix.units import Unit


def assembled(
    lanes: Sequence[Lane],
    responses: tuple[ResponseColumn, ...],
    settings: Mapping[str, Sequence[Nodes]],
    constants: Mapping[str, float],
    units: Mapping[str, Unit],
    sheets: Sequence[Sheet],
    notes: Iterable[str],
) -> Campaign:
    shape = (len(lanes), max(len(lane.slots) for lane in lanes))
    times, lines = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    values, sigma = np.full((*shape, len(responses)), np.nan), np.full((*shape, len(responses)), np.nan)
    for sheet in sheets:
        placed = [
            (number, slot, row)
            for number, lane in enumerate(lanes)
            if lane.sheet is sheet
            for slot, rows in enumerate(lane.slots)
            for row in reversed(rows)  # the first row of a slot is written last and gives the line
        ]
        lane, slot, row = np.array(placed, dtype=np.int64).reshape(-1, 3).T
        lines[lane, slot] = np.array(sheet.table.lines)[row]
        if sheet.time is not None:
            times[lane, slot] = sheet.time[row]
        for position, response in enumerate(responses):
            if response.name in sheet.values:
                read = ~np.isnan(sheet.values[response.name][row])
                values[lane[read], slot[read], position] = sheet.values[response.name][row[read]]
                sigma[lane[read], slot[read], position] = sheet.sigma[response.name][row[read]]
    times = np.maximum.accumulate(times, axis=1)
    mask = ~np.isnan(values)
    conditions = {name: np.full(len(lanes), float(value)) for name, value in constants.items()}
    programs: dict[str, Nodes] = {}
    for name, nodes in settings.items():
        if all(len(at) == 1 for at, _ in nodes):
            conditions[name] = np.concatenate([value for _, value in nodes])
        else:
            programs[name] = _padded([at for at, _ in nodes]), _padded([value for _, value in nodes])
    for array in (times, lines, values, sigma, mask, *conditions.values(), *(array for nodes in programs.values() for array in nodes)):
        array.setflags(write=False)
    experiments = tuple(lane.label for lane in lanes)
    told: list[str] = []
    for sheet in sheets:
        used = sum(int(np.count_nonzero(~np.isnan(numbers))) for numbers in sheet.values.values())
        rows = len(sheet.table.rows)
        counts = f"{rows} row{'s' * (rows != 1)} read, {used} value{'s' * (used != 1)} used"
        told += [f"{sheet.table.source}: {counts}; {sheet.table.dialect}."]
        told += [*sheet.table.notes, sheet.recognition.note, *sheet.notes]
    return Campaign(
        experiments=experiments,
        responses=responses,
        times=times,
        values=values,
        mask=mask,
        sigma=sigma,
        conditions=conditions,
        programs=programs,
        condition_units=units,
        time_unit=_time_unit(sheets),
        sources=tuple(lane.sheet.table.source for lane in lanes),
        lines=lines,
        remarks=tuple(remark for sheet in sheets for remark in _remarks(sheet)),
        notes=(*told, *notes),
        rows_read=sum(len(sheet.table.rows) for sheet in sheets),
        values_used=int(np.count_nonzero(mask)),
        data_hash=_hash(experiments, responses, times, values, sigma, conditions, programs),
    )


def condition_units(sheets: Sequence[Sheet]) -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for sheet in sheets:
        for column in sheet.recognition.having("condition"):
            if column.unit is not None:
                units.setdefault(column.meaning.name, column.unit)
    return units


def _time_unit(sheets: Sequence[Sheet]) -> Unit | None:
    columns = [sheet.recognition.find("time") for sheet in sheets if sheet.time is not None]
    return next((column.unit for column in columns if column is not None), None)


def _padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of different length as one array; shorter ones repeat their last number."""
    longest = max(len(row) for row in rows)
    return np.stack([np.pad(row, (0, longest - len(row)), mode="edge") for row in rows])


def _remarks(sheet: Sheet) -> Iterator[Remark]:
    for column in sheet.recognition.having("remark"):
        for row, line in enumerate(sheet.table.lines):
            if not sheet.holds_none(row, column):
                yield Remark(sheet.table.source, line, column.header.text, sheet.cell(row, column))


def _hash(
    experiments: Sequence[str],
    responses: Sequence[ResponseColumn],
    times: np.ndarray,
    values: np.ndarray,
    sigma: np.ndarray,
    conditions: Mapping[str, np.ndarray],
    programs: Mapping[str, Nodes],
) -> str:
    """SHA-256 over labels and numbers in a fixed order, with lengths before each part."""
    digest = hashlib.sha256()
    parts: list[tuple[str, np.ndarray]] = [("times", times)]
    parts += [(f"value {response.name}", values[..., place]) for place, response in enumerate(responses)]
    parts += [(f"sigma {response.name}", sigma[..., place]) for place, response in enumerate(responses)]
    parts += [(f"condition {name}", conditions[name]) for name in sorted(conditions)]
    parts += [(f"program {name} {part}", array) for name in sorted(programs) for part, array in enumerate(programs[name])]
    for label in experiments:
        digest.update(f"{len(label)} {label}\n".encode())
    for name, array in parts:
        digest.update(f"{name} {array.shape}\n".encode())
        digest.update(np.where(np.isnan(array), np.nan, array + 0.0).astype("<f8").tobytes())
    return digest.hexdigest()
