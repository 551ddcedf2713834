"""Tables to a campaign: the order of the steps, each in a file of its own.

`recognition` says what a column is, `sheet` reads its numbers, `readings` settles sigma, `plausibility` refuses what cannot be, `lanes`
makes experiments of rows, `settings` finds what each experiment was set to, and `assembly` fills the arrays. All problems of all tables
are told at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kinetix.errors import DataError, Problems
from kinetix.experiments.assembly import assembled, condition_units
from kinetix.experiments.campaign import Campaign, suspected
from kinetix.experiments.lanes import lanes_of
from kinetix.experiments.noise import Noise
from kinetix.experiments.plausibility import (
    check_conditions,
    check_constants,
    check_times,
    odd_constants,
    odd_readings,
    odd_temperatures,
    odd_times,
    without_effect,
)
from kinetix.experiments.readings import check_negative_readings, fill_sigma, responses_of
from kinetix.experiments.recognition import check_columns, recognise
from kinetix.experiments.settings import settings_of
from kinetix.experiments.sheet import read_sheet
from kinetix.experiments.table import Table, selected
from kinetix.experiments.vocabulary import Vocabulary
from kinetix.units import Quantity


def build_campaign(
    tables: Sequence[Table],
    vocabulary: Vocabulary,
    *,
    columns: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    conditions: Mapping[str, Quantity] | None = None,
    noise: Mapping[str, Quantity | float | Noise] | None = None,
    progress: Mapping[str, str] | None = None,
    only: Mapping[str, object] | None = None,
    time_zero: str | None = None,
    temperatures: bool = True,
    allow_negative: bool = False,
    held: Collection[str] = (),
) -> Campaign:
    """The campaign that one or several tables hold.

    Args:
        tables: tables in the order in which their experiments shall stand. Equal labels in different tables are different experiments
            (`file:label`).
        vocabulary: what the model knows.
        columns: what a column is -> its header, where the header does not say it: `{"1/tau": "sv [1/min]", "experiment": "run"}`.
        ignore: headers of columns to pass over.
        conditions: name -> what is constant over all experiments.
        noise: response -> standard deviation for every value without one of its own: a quantity, a number in SI, or `Noise` where a part
            of it is relative to the value, known or estimated.
        progress: response -> the header of the column whose progress it is: (first - x)/(first - last) of each experiment, 0 to 1.
        only: header -> the value, or values, of the rows to use; other rows are as if they were not in the table.
        time_zero: where time begins: "first" is the first row of each experiment, "as written" takes times as they stand, anything else
            is a time, written as in the column or with a unit. Where None, numbers are as written and clock times and dates begin with the
            first.
        temperatures: warn about temperatures outside 150-3000 K.
        allow_negative: keep concentrations further below zero than three sigma.
        held: conditions that change in steps: each value holds until the next row that states one, in place of straight lines between.

    Returns:
        Campaign: see there. A response column is not required; `values_used` is 0 without any.

    Raises:
        DataError: everything that is wrong in the tables, one sentence per problem with table, line and column.

    Warns:
        KinetixWarning: each of the campaign's warnings: a temperature column outside 150-3000 K, a time beyond ten years, a
            concentration clearly below zero, a condition that changes nothing, two equal tables.

    >>> from kinetix.experiments.table import parse_table
    >>> from kinetix.units import CONCENTRATION, TEMPERATURE
    >>> vocabulary = Vocabulary(("A",), {"A": CONCENTRATION}, {"T": TEMPERATURE}, timed=True)
    >>> table = parse_table("run;time [min];T [degC];A [mol/L]\\na;0;40;1,02\\na;5;40;0,61\\nb;0;60;0,99\\n", "runs.csv")
    >>> campaign = build_campaign([table], vocabulary, noise={"A": 10.0})
    >>> campaign.experiments, campaign.times.tolist(), campaign.conditions["T"].tolist()
    (('a', 'b'), [[0.0, 300.0], [0.0, 0.0]], [313.15, 333.15])
    >>> campaign.values[..., 0].tolist(), campaign.values_used
    ([[1020.0, 610.0], [990.0, nan]], 3)
    """
    problems = Problems()
    conditions, noise = dict(conditions or {}), dict(noise or {})
    if not tables:
        raise DataError("there is no data table: give at least one file.")
    for table in tables:
        problems.found.extend(table.broken)
    chosen = [selected(table, only or {}, problems) for table in tables]
    recognitions = [
        recognise(table, vocabulary, columns=columns, ignore=ignore, progress=progress, selecting=tuple(only or ()), problems=problems)
        for table, _ in chosen
    ]
    check_columns(columns or {}, ignore, vocabulary, recognitions, problems, progress=progress, only=tuple(only or ()))
    check_constants(conditions, vocabulary, recognitions, problems)
    sheets = [read_sheet(recognition, vocabulary, time_zero, problems) for recognition in recognitions]
    for sheet, (_, choice) in zip(sheets, chosen, strict=True):
        sheet.notes[:0] = [choice] if choice else []
    responses, unit_notes = responses_of(sheets, problems)
    estimated = fill_sigma(sheets, noise, vocabulary, problems)
    for sheet in sheets:
        if not allow_negative:
            check_negative_readings(sheet, vocabulary, problems)
        check_conditions(sheet, vocabulary, problems)
        check_times(sheet, problems)
    lanes, lane_notes = lanes_of(sheets, vocabulary, problems)
    settings, setting_notes = settings_of(lanes, sheets, vocabulary, problems, held)
    if not lanes and not problems.found:
        problems.add(f"{', '.join(table.source for table in tables)}: no row holds a number of the model.")
    problems.raise_if_any(DataError)
    suspicions = [*odd_constants(conditions)] if temperatures else []
    suspicions += without_effect(conditions, vocabulary, sheets)
    suspicions += [sentence for table in tables for sentence in table.warnings]
    for sheet in sheets:
        suspicions += odd_times(sheet)
        suspicions += odd_temperatures(sheet, vocabulary) if temperatures else ()
        suspicions += () if allow_negative else odd_readings(sheet, vocabulary)
    constants = {name: quantity.si for name, quantity in conditions.items()}
    units = {name: quantity.unit for name, quantity in conditions.items()} | condition_units(sheets)
    campaign = assembled(lanes, responses, settings, constants, units, sheets, [*unit_notes, *lane_notes, *setting_notes])
    return suspected(replace(campaign, noise=estimated), suspicions)
