"""What a model knows, what a column of a table can therefore be, and both in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kinetix.units import TIME, Dimension

Role = Literal["experiment", "time", "condition", "response", "sigma", "label", "value", "remark", "ignored"]


@dataclass(frozen=True)
class Vocabulary:
    """What a model knows, and so what a table may hold.

    Attributes:
        species: the species' names; they bring the spellings `C_A`, `A_feed`, ... with them.
        responses: names that may be measured, with their dimensions (None: any).
        conditions: names that may be set, with their dimensions (None: any): `T`, `P`, `tau`, `1/tau`, `V`, `Q`, `feed.A`, `initial.A`, ...
        timed: rows are times within experiments (batch); otherwise every row is an experiment of its own.
        needs_unit: every number needs a unit; otherwise (explicit models) a column without a unit is dimensionless.
        idle: conditions that may be set and change nothing.
    """

    species: tuple[str, ...] = ()
    responses: Mapping[str, Dimension | None] = field(default_factory=dict)
    conditions: Mapping[str, Dimension | None] = field(default_factory=dict)
    timed: bool = False
    needs_unit: bool = True
    idle: tuple[str, ...] = ()


@dataclass(frozen=True)
class Meaning:
    """What a column can be: its role, and the name of the condition or response where it has one."""

    role: Role
    name: str = ""


def dimension_of(meaning: Meaning, vocabulary: Vocabulary) -> Dimension | None:
    """The dimension that a column of this meaning must have; None where any will do or it is known only later."""
    if meaning.role == "time":
        return TIME
    if meaning.role == "condition":
        return vocabulary.conditions[meaning.name]
    if meaning.role == "response" or (meaning.role == "sigma" and meaning.name):
        return vocabulary.responses[meaning.name]
    return None


_CONDITIONS = {
    "T": "the temperature T",
    "T_feed": "the temperature of the feed T_feed",
    "T_initial": "the temperature at time zero T_initial",
    "T_coolant": "the temperature of the coolant T_coolant",
    "T_jacket_initial": "the temperature of the jacket at time zero T_jacket_initial",
    "P": "the pressure P",
    "tau": "the residence time tau",
    "t_on_stream": "the time on stream t_on_stream",
    "1/tau": "the space velocity 1/tau",
    "V": "the volume V",
    "Q": "the volumetric flow Q",
    "feed_start": "the start of the feed",
    "feed_stop": "the end of the feed",
}
_FORMS = {"p": "partial pressure", "y": "mole fraction"}
_ROLES = {
    "experiment": "the experiment",
    "time": "the time",
    "label": "what was measured",
    "value": "the measured value",
    "remark": "text: kept as remark",
    "ignored": "ignored",
}


def describe(meaning: Meaning) -> str:
    """A meaning in words.

    >>> describe(Meaning("condition", "feed.A")), describe(Meaning("sigma")), describe(Meaning("condition", "x"))
    ('the feed of A', 'the sigma of every response', 'the condition x')
    """
    if meaning.role == "response":
        return f"the response {meaning.name}"
    if meaning.role == "sigma":
        return f"the sigma of {meaning.name or 'every response'}"
    if meaning.role == "condition":
        kind, _, name = meaning.name.partition(".")
        form, _, species = name.removesuffix("]").partition("[")
        if species and kind in ("feed", "initial"):
            where = "in the feed" if kind == "feed" else "at the start"
            return f"the {_FORMS.get(form, form)} of {species} {where}"
        if name and kind == "feed":
            return f"the feed of {name}"
        if name and kind == "initial":
            return f"the initial {name}"
        return _CONDITIONS.get(meaning.name, f"the condition {meaning.name}")
    return _ROLES[meaning.role]
