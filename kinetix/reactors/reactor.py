"""What every book on the shelf of reactors gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from kinetix.network import Kinetics
from kinetix.rates import Thermal
from kinetix.units import Dimension


class States(NamedTuple):
    """What a reactor of one lane did.

    Attributes:
        c: concentrations, mol/m^3, (time, species).
        T: temperature, K, (time,).
        constants: of the rate laws, SI, (time, constant).
        status: `kinetix.status.Status`, int.
        steps: integration steps or iterations, int.
    """

    c: jax.Array
    T: jax.Array
    constants: jax.Array
    status: jax.Array
    steps: jax.Array


Lane = Mapping[str, Any]
"""One experiment as arrays in SI: `times` (time,), `T` or `program_times` and `program_T` (node,), `feed`, `initial` and
`concentrations` (species,), `tau`, `predictors` (predictor,), `rtol`, `atol`."""


@dataclass(frozen=True)
class Reactor:
    """A reactor type.

    Attributes:
        name: as in a study file.
        summary: one line for people.
        timed: whether its data are readings over time; otherwise each row is an experiment of its own.
        conditions: conditions that may be given by a column or a constant, and their dimensions.
        needs_feed: whether every species needs a feed concentration.
        needs_initial: whether every species needs an initial concentration.
        measures_rates: whether its responses are rates at given concentrations.
        lane_conditions: from given conditions, name -> (lane,), to the arrays that `solve` reads; raises ConditionError.
        solve: `(kinetics, thermal, lane, options) -> States`, pure, for one lane.
    """

    name: str
    summary: str
    timed: bool
    conditions: Mapping[str, Dimension]
    needs_feed: bool
    needs_initial: bool
    measures_rates: bool
    lane_conditions: Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]]
    solve: Callable[[Kinetics, Thermal, Lane, Any], States]

    def __hash__(self) -> int:
        return hash((self.name, self.solve))
