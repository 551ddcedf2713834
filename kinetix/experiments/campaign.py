"""The campaign: what was set and measured, in SI, as padded arrays over experiment lanes, and where every number came from."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kinetix.errors import KinetixWarning
from kinetix.experiments.noise import Noise
from kinetix.units import Unit


@dataclass(frozen=True)
class ResponseColumn:
    """A measured response and the unit of its column in the first table that has it."""

    name: str
    unit: Unit


@dataclass(frozen=True)
class Remark:
    """A cell of text, with its place."""

    source: str
    line: int
    column: str
    text: str


@dataclass(frozen=True, eq=False)
class Campaign:
    """What was set and measured, in SI, as arrays over experiment lanes.

    Attributes:
        experiments: the lanes' labels, all different.
        responses: the measured responses, in the order in which the tables name them.
        times: (lane, time) s, non-decreasing; lanes with fewer rows repeat their last time; (lane, 1) zeros where the model has no time.
        values: (lane, time, response); NaN where nothing was measured and in padding.
        mask: (lane, time, response); where a value was measured.
        sigma: (lane, time, response); standard deviations where they were given, else NaN.
        conditions: name -> (lane,); what is constant in each experiment.
        programs: name -> (times (lane, node), values (lane, node)); what changes within some experiment, linear between nodes, in s and SI;
            lanes with fewer nodes repeat their last. A name is either here or in `conditions`.
        condition_units: name -> the unit in which the first table, or the constant, states a condition or program.
        time_unit: of the first table; None where the model has no time.
        sources: (lane,) names of the tables.
        lines: (lane, time) line numbers in the lane's table; 0 in padding. In long form the line of the first reading at that time.
        remarks: the cells of text columns.
        notes: what was recognised and assumed, as sentences.
        warnings: what looks like a mistake in the data, as sentences.
        rows_read: data rows of all tables.
        values_used: measured values.
        noise: response -> standard deviation that the fit estimates, constant parts that are known in SI.
        data_hash: SHA-256 of the labels and the SI numbers; how the file is written does not count, unless a unit changes the last digit.
    """

    experiments: tuple[str, ...]
    responses: tuple[ResponseColumn, ...]
    times: np.ndarray
    values: np.ndarray
    mask: np.ndarray
    sigma: np.ndarray
    conditions: Mapping[str, np.ndarray]
    programs: Mapping[str, tuple[np.ndarray, np.ndarray]]
    condition_units: Mapping[str, Unit]
    time_unit: Unit | None
    sources: tuple[str, ...]
    lines: np.ndarray
    remarks: tuple[Remark, ...]
    notes: tuple[str, ...]
    rows_read: int
    values_used: int
    data_hash: str
    warnings: tuple[str, ...] = ()
    noise: Mapping[str, Noise] = field(default_factory=dict)


def suspected(campaign: Campaign, suspicions: Iterable[str]) -> Campaign:
    """The campaign with what looks like a mistake in it.

    Warns:
        KinetixWarning: each of them.
    """
    found = tuple(suspicions)
    for sentence in found:
        warnings.warn(sentence, KinetixWarning, stacklevel=3)
    return replace(campaign, warnings=(*campaign.warnings, *found))
