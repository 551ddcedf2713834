"""Reactors that integrate: each poses an initial value problem, which one place solves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from kinetix.network import Kinetics
from kinetix.rates import Thermal
from kinetix.reactors.reactor import Lane, States
from kinetix.solvers import Options, Solution, System, integrate


class Inside(NamedTuple):
    """What a reactor holds at one moment, or at one place.

    Attributes:
        c: concentrations, mol/m^3, (species,).
        T: temperature, K.
        constants: of the rate laws, SI, (constant,).
        expansion, jacket: as in `States`.
    """

    c: jax.Array
    T: jax.Array
    constants: jax.Array
    expansion: jax.Array | float = 1.0
    jacket: jax.Array | None = None


@dataclass(frozen=True)
class Posed:
    """The initial value problem of one lane.

    Attributes:
        system: the equations.
        y0: the state at the start.
        args: of the equations.
        times: where the state is asked for: times, or the residence time at an outlet.
        inside: `(t, y) -> Inside`, what a state means.
        options: tolerances and limits.
        breaks: where the equations have a kink or a jump; None: nowhere.
        clock: by how much `times` are larger than times in s; None where they are no times.
    """

    system: System
    y0: jax.Array
    args: Any
    times: jax.Array
    inside: Callable[[jax.Array, jax.Array], Inside]
    options: Options
    breaks: jax.Array | None = None
    clock: jax.Array | float | None = None

    def states(self, solution: Solution) -> States:
        """What the reactor did, from the solution at `times`."""
        c, T, constants, expansion, jacket = jax.vmap(self.inside)(self.times, solution.y)
        reached = jnp.zeros_like(solution.t_reached) if self.clock is None else solution.t_reached / self.clock
        return States(c, T, constants, solution.status, solution.steps, reached, expansion, jacket)


Pose = Callable[[Kinetics, Thermal, Lane, Options], Posed]


@dataclass(frozen=True)
class Integrated:
    """A `Solve` by integration.

    Attributes:
        pose: what is integrated.
    """

    pose: Pose

    def __call__(self, kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> States:
        posed = self.pose(kinetics, thermal, lane, options)
        return posed.states(integrate(posed.system, posed.y0, posed.args, posed.times, breaks=posed.breaks, options=posed.options))
