"""How much of what makes the reaction there is per flow, or per volume: residence times, space velocities, catalyst loadings.

A tank with rates per catalyst mass is 0 = Q (c_feed - c) + W nu r, which divided by W is the balance of the tank with the
space time W/Q in the place of tau. A closed vessel is dc/dt = (W/V) nu r, which is the batch reactor in the time t W/V.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinetix.errors import ConditionError
from kinetix.units import AREA, DENSITY, DIMENSIONLESS, FLOW, MASS, MOLAR_FLOW, TIME, VOLUME, Dimension, si_unit

Given = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Way:
    """One way to say it.

    Attributes:
        conditions: names and dimensions of what is given; all of them.
        value: from the given conditions and the sum of the feed concentrations (mol/m^3), (lane,).
    """

    conditions: Mapping[str, Dimension]
    value: Callable[[Given, np.ndarray], np.ndarray]

    @property
    def name(self) -> str:
        return " and ".join(self.conditions)


@dataclass(frozen=True)
class Loading:
    """What is needed, and the ways to say it.

    Attributes:
        what: for people: "residence time".
        advice: what to write where there is none.
        choices: the ways, in words.
        ways: of which exactly one must be given.
    """

    what: str
    advice: str
    choices: str
    ways: Sequence[Way]

    @property
    def conditions(self) -> dict[str, Dimension]:
        """Conditions of all ways, by name."""
        return {name: dimension for way in self.ways for name, dimension in way.conditions.items()}

    def value(self, reactor: str, given: Given, total_feed: np.ndarray | None = None) -> np.ndarray:
        """The one value per experiment, SI, (lane,).

        Args:
            reactor: its name, for messages.
            given: conditions by name, SI, (lane,).
            total_feed: sum of the feed concentrations, mol/m^3, (lane,); NaN where one is estimated.

        Raises:
            ConditionError: given in no way or in several, or not above zero.
        """
        present = [way for way in self.ways if all(name in given for name in way.conditions)]
        if not present:
            for way in self.ways:
                there = [name for name in way.conditions if name in given]
                if there:
                    missing = next(name for name in way.conditions if name not in given)
                    raise ConditionError(f"{reactor}: '{there[0]}' is given without '{missing}'. Give {self.choices}.")
            raise ConditionError(f"{reactor}: no {self.what}. {self.advice}")
        if len(present) > 1:
            names = ", ".join(way.name for way in present)
            raise ConditionError(f"{reactor}: the {self.what} is given more than once ({names}). Keep one.")
        for name, dimension in present[0].conditions.items():
            bad = np.flatnonzero(~(given[name] > 0))
            if bad.size:
                written = f"{given[name][bad[0]]:g} {si_unit(dimension).text}"
                raise ConditionError(
                    f"{reactor}: {name} is {written} in experiment number {bad[0] + 1}; it must be above 0. Correct it there."
                )
        value = present[0].value(given, np.ones(1) if total_feed is None else total_feed)
        if not (np.isfinite(value) & (value > 0)).all():
            raise ConditionError(
                f"{reactor}: {present[0].name} with molar flows needs the feed concentrations of all species, known and not all zero"
                f" (the flow is F over their sum). Give them, or write {self.choices.split(',')[0]}."
            )
        return value


def _way(name: str, dimension: Dimension) -> Way:
    return Way({name: dimension}, lambda given, total: given[name])


def _inverse(name: str, dimension: Dimension) -> Way:
    return Way({name: dimension}, lambda given, total: 1.0 / given[name])


def _ratio(above: str, below: str, dimensions: tuple[Dimension, Dimension]) -> Way:
    return Way({above: dimensions[0], below: dimensions[1]}, lambda given, total: given[above] / given[below])


TANKS = {
    "volume": Loading(
        "residence time",
        'Add a column such as "tau [min]", or "1/tau" (space velocity), or V and Q, or write tau = "10 min" under [conditions].',
        "V and Q, or tau, or 1/tau (space velocity)",
        (_way("tau", TIME), _inverse("1/tau", DIMENSIONLESS / TIME), _ratio("V", "Q", (VOLUME, FLOW))),
    ),
    "catalyst_mass": Loading(
        "space time of the catalyst",
        'Add a column such as "W/Q [kg h/m^3]", or "W/F [kg h/mol]" (F: molar flow of the whole feed), or W and Q, or W and F,'
        ' or WHSV and rho (density of the feed), or write W = "10 g" and Q = "1 L/h" under [conditions].',
        "W/Q, or W and Q, or W/F, or W and F, or WHSV and rho",
        (
            _way("W/Q", MASS / FLOW),
            _ratio("W", "Q", (MASS, FLOW)),
            Way({"W/F": MASS / MOLAR_FLOW}, lambda given, total: given["W/F"] * total),
            Way({"W": MASS, "F": MOLAR_FLOW}, lambda given, total: given["W"] / given["F"] * total),
            _ratio("rho", "WHSV", (DENSITY, DIMENSIONLESS / TIME)),
        ),
    ),
    "catalyst_area": Loading(
        "space time of the catalyst's surface",
        'Add a column such as "S/Q [m^2 s/m^3]", or S and Q, or write S = "2 m^2" and Q = "1 L/h" under [conditions].',
        "S/Q, or S and Q",
        (_way("S/Q", AREA / FLOW), _ratio("S", "Q", (AREA, FLOW))),
    ),
}
"""Of tanks, by basis: what stands for tau."""

TUBES = {
    **TANKS,
    "volume": Loading(
        "residence time",
        TANKS["volume"].advice.replace("V and Q,", "V and Q, or V and F (F: molar flow of the whole feed),"),
        "V and Q, or V and F, or tau, or 1/tau (space velocity)",
        (
            *TANKS["volume"].ways,
            Way({"V": VOLUME, "F": MOLAR_FLOW}, lambda given, total: given["V"] / given["F"] * total),
        ),
    ),
}
"""Of tubes, by basis: what stands for tau, always with the volume flow of the feed."""

FILLING = Loading(
    "feed flow and volume",
    'Add columns "Q [L/h]" (volume flow of the feed) and "V [L]" (volume at time zero), or write Q = "1 L/h"'
    ' and V = "1 L" under [conditions].',
    "Q (volume flow of the feed) and V (volume at time zero)",
    (_ratio("Q", "V", (FLOW, VOLUME)),),
)
"""Of vessels that are filled: flow over the volume at time zero, 1/s."""

VESSELS = {
    "catalyst_mass": Loading(
        "catalyst loading",
        'Add a column such as "W/V [g/L]" (catalyst per fluid), or W and V, or write W = "10 g" and V = "1 L" under [conditions].',
        "W/V, or W and V",
        (_way("W/V", MASS / VOLUME), _ratio("W", "V", (MASS, VOLUME))),
    ),
    "catalyst_area": Loading(
        "catalyst surface per volume",
        'Add a column such as "S/V [m^2/m^3]", or S and V, or write S = "2 m^2" and V = "1 L" under [conditions].',
        "S/V, or S and V",
        (_way("S/V", AREA / VOLUME), _ratio("S", "V", (AREA, VOLUME))),
    ),
}
"""Of closed vessels, by basis."""

_ALL = (*TANKS.values(), *TUBES.values(), *VESSELS.values(), FILLING)

ABOVE_ZERO = {name: dimension for loading in _ALL for name, dimension in loading.conditions.items()}
"""Conditions that must be above zero, and their dimensions (a species may have the same name)."""
