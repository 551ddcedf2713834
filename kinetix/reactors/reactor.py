"""What every book on the shelf of reactors gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import numpy as np

from kinetix.network import Kinetics
from kinetix.rates import VOLUME_BASIS, Basis, Thermal
from kinetix.reactors.energy import EnergyBalance
from kinetix.reactors.loading import Loading
from kinetix.solvers import System
from kinetix.units import TEMPERATURE, Dimension


class States(NamedTuple):
    """What a reactor of one lane did.

    Attributes:
        c: concentrations, mol/m^3, (time, species).
        T: temperature, K, (time,).
        constants: of the rate laws, SI, (time, constant).
        status: `kinetix.status.Status`, int.
        steps: integration steps or iterations, int.
        t_reached: the time up to which the lane was followed, s; 0 where nothing is integrated.
        expansion: volume, or volume flow, relative to that of the start or the feed, (time,); 1 where it is constant.
        jacket: temperature of a coolant with a balance of its own, K, (time,); None where there is none.
    """

    c: jax.Array
    T: jax.Array
    constants: jax.Array
    status: jax.Array
    steps: jax.Array
    t_reached: jax.Array
    expansion: jax.Array | float = 1.0
    jacket: jax.Array | None = None


class Rest(NamedTuple):
    """Equations of which every root is a steady state of one lane.

    Attributes:
        system: with the state as its unknown: concentrations, mol/m^3, then the temperature, K, where that is a state.
        start: the state at time zero.
        args: of the system.
        atol: absolute tolerance of the state.
        contents: from a state to concentrations, temperature and constants of the rate laws.
    """

    system: System
    start: jax.Array
    args: Any
    atol: jax.Array
    contents: Callable[[jax.Array], tuple[jax.Array, jax.Array, jax.Array]]


Lane = Mapping[str, Any]
"""One experiment as arrays in SI: `times` (time,), `T` or `program_times` and `program_T` (node,), `feed`, `initial` and
`concentrations` (species,), `tau` (s; with rates per catalyst W/Q or S/Q), `loading` (W/V or S/V; absent: 1), `t_on_stream`
(s; where something depends on it), `predictors` (predictor,), `atol` (species,), or one number at a steady state; with an energy
balance `heat` (`kinetix.reactors.energy.Heat`) in the place of temperatures."""


Solve = Callable[[Kinetics, Thermal, Lane, Any], States]
"""`(kinetics, thermal, lane, options) -> States`, pure, for one lane."""


@dataclass(frozen=True)
class Fluid:
    """What flows or stands in a reactor.

    Attributes:
        summary: in words.
        solve: of a reactor that holds it.
        ideal_gas_at: what of an ideal gas is constant, "pressure" or "volume"; "": it is no gas, or one whose density hardly changes.
        advice: when to write it.
    """

    summary: str
    solve: Solve
    ideal_gas_at: str = ""
    advice: str = ""


@dataclass(frozen=True)
class Reactor:
    """A reactor type.

    Attributes:
        name: as in a study file.
        summary: one line for people.
        timed: whether its data are readings over time; otherwise each row is an experiment of its own.
        integrated: whether `solve` integrates, and so takes tolerances.
        conditions: conditions that may be given by a column or a constant whatever the basis of the rates, and their dimensions.
        loadings: by basis, what must be given of residence time or catalyst; None: nothing. Other bases are not possible.
        needs_feed: whether every species needs a feed concentration.
        needs_initial: whether every species needs an initial concentration.
        measures_rates: whether its responses are rates at given concentrations.
        loading: name of the array in which `solve` reads what `loadings` give.
        solve: of one lane.
        heating: its energy balance up to what all have in common, in words, "C*dT/dt ="; "": it has none.
        fluid: what is in it; None: of constant density, or not said yet.
        densities: by word of the user, what may be in it; empty: there is no choice.
        density: the word where the user says none; "": it must be said.
        expands: whether its volume, or volume flow, changes, so that `States.expansion` tells something.
        series: from the solve of one vessel and how many equal ones are in series to their solve; None where there is none.
        tanks: how many vessels are in series.
        optional: conditions that `solve` reads under their own names, where they are given, and their dimensions.
        at_rest: the equations of its steady states, where they can all be asked for; None where not.
        check: raises ConditionError where given conditions, SI, (lane,), do not go together.
    """

    name: str
    summary: str
    timed: bool
    integrated: bool
    conditions: Mapping[str, Dimension]
    loadings: Mapping[str, Loading | None]
    needs_feed: bool
    needs_initial: bool
    measures_rates: bool
    loading: str
    solve: Solve
    heating: str = ""
    fluid: Fluid | None = None
    densities: Mapping[str, Fluid] = field(default_factory=dict)
    density: str = ""
    expands: bool = False
    series: Callable[[Solve, int], Solve] | None = None
    tanks: int = 1
    optional: Mapping[str, Dimension] = field(default_factory=dict)
    at_rest: Callable[[Kinetics, Thermal, Lane], Rest] | None = None
    check: Callable[[Mapping[str, np.ndarray]], None] | None = None

    @property
    def start_temperatures(self) -> tuple[str, ...]:
        """With an energy balance, the conditions that say how warm is what is there at time zero, and what is fed; the first of them
        is where the temperature starts."""
        return (*(("T_initial",) if self.needs_initial else ()), *(("T_feed",) if self.needs_feed else ()))

    @property
    def heated_from(self) -> str:
        """With an energy balance, the condition that says where the temperature starts."""
        return self.start_temperatures[0]

    @property
    def ideal_gas_at(self) -> str:
        """What of an ideal gas in it is constant, "pressure" or "volume"; "": there is none."""
        return "" if self.fluid is None else self.fluid.ideal_gas_at

    def conditions_on(self, basis: Basis, energy: EnergyBalance | None = None) -> dict[str, Dimension]:
        """Conditions that may be given by a column or a constant where rates have this basis, and their dimensions."""
        loading = self.loadings.get(basis.name)
        own = {**self.conditions, **self.optional, **(loading.conditions if loading is not None else {})}
        if self.ideal_gas_at == "volume":
            own = {name: one for name, one in own.items() if name != "P"}  # the pressure is an answer
        if energy is None:
            return own
        own = {name: one for name, one in own.items() if name != "T"}
        return {**own, **dict.fromkeys(self.start_temperatures, TEMPERATURE), **energy.conditions}

    def lane_conditions(
        self, given: Mapping[str, np.ndarray], basis: Basis = VOLUME_BASIS, total_feed: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """From given conditions, name -> (lane,), to the arrays that `solve` reads.

        Args:
            given: conditions, SI.
            basis: of the rates.
            total_feed: sum of the feed concentrations, mol/m^3, (lane,); NaN where one is estimated.

        Raises:
            ConditionError: the residence time or the catalyst is not given, given twice, or not above zero.
        """
        loading = self.loadings.get(basis.name)
        arrays = {} if loading is None else {self.loading: loading.value(self.name, given, total_feed)}
        if self.check is not None:
            self.check(given)
        return {**arrays, **{name: np.asarray(given[name], dtype=float) for name in self.optional if name in given}}

    def __hash__(self) -> int:
        return hash((self.name, self.solve))
