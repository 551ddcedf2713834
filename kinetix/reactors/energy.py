"""Energy rules: what the temperature of a reactor is, and with it the constants of its rate laws.

An energy rule is a pytree with `at(t) -> (T, constants)`. Where the temperature is a state, `Heat` holds what its balance needs, and
the rule at one moment is `Isothermal` at the temperature of the state.

H. S. Fogler, Elements of Chemical Reaction Engineering (5th ed., 2016), chapters 11 to 13.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from kinetix.rates import Thermal, constants_at
from kinetix.units import POWER, TEMPERATURE, VOLUME, Dimension

NEGLIGIBLE = 1e-12
"""Of a temperature, as an absolute tolerance: the relative tolerance decides."""


class EnergyRule(Protocol):
    """What a balance asks of an energy rule."""

    def at(self, t: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Temperature (K) and constants (SI, (constant,)) at the time t (s)."""
        ...


class Isothermal(NamedTuple):
    """Constant temperature: the constants are evaluated once, outside the solve.

    Attributes:
        T: temperature, K.
        constants: values at T, SI, (constant,).
    """

    T: jax.Array
    constants: jax.Array

    def at(self, t: jax.Array) -> tuple[jax.Array, jax.Array]:
        del t
        return self.T, self.constants


class Programmed(NamedTuple):
    """Measured or prescribed temperature, linear between its nodes and constant outside them.

    Attributes:
        times: s, (node,), not decreasing.
        temperatures: K, (node,).
        thermal: constants as functions of temperature.
    """

    times: jax.Array
    temperatures: jax.Array
    thermal: Thermal

    def at(self, t: jax.Array) -> tuple[jax.Array, jax.Array]:
        T = jnp.interp(t, self.times, self.temperatures)
        return T, constants_at(self.thermal, T)


class Given(NamedTuple):
    """The temperature of a lane that is not computed: constant, or a program.

    Attributes:
        rule: the energy rule.
        nodes: times at which the temperature has a kink, s, (node,); None where it is constant.
    """

    rule: EnergyRule
    nodes: jax.Array | None


def given_temperature(lane: Mapping[str, Any], thermal: Thermal, stretch: jax.Array | float = 1.0) -> Given:
    """From `T`, or from `program_times` and `program_T`, of a lane; at times that are `stretch` times as long."""
    if "program_T" in lane:
        rule = Programmed(lane["program_times"] * stretch, lane["program_T"], thermal)
        return Given(rule, rule.times)
    return Given(Isothermal(lane["T"], constants_at(thermal, lane["T"])), None)


@dataclass(frozen=True)
class EnergyBalance:
    """That the temperature follows from an energy balance, and how heat is exchanged.

    Attributes:
        exchange: how the exchange with a coolant is given: "UA", which needs the volume V, or "UA/V"; "" for an adiabatic reactor.
    """

    exchange: str = ""

    @property
    def conditions(self) -> Mapping[str, Dimension]:
        """Conditions that it brings, whatever the reactor, and their dimensions."""
        coolant = {"T_coolant": TEMPERATURE} if self.exchange else {}
        return {**coolant, **({"V": VOLUME} if self.exchange == "UA" else {})}


EXCHANGES = {"UA": POWER / TEMPERATURE, "UA/V": POWER / TEMPERATURE / VOLUME}
"""Ways to give the exchange with a coolant, and their dimensions."""


class Heat(NamedTuple):
    """What the energy balance of a liquid of constant density needs beside the material balances; the temperature is then a state.

    The enthalpies of the species are h_i(T) = h_i(T_ref) + cp_i (T - T_ref), so that those of the reactions are
    dH_j(T) = dH_j(T_ref) + (sum_i nu_ij cp_i) (T - T_ref).

    Attributes:
        start: temperature of the feed (tanks) or at time zero (closed vessels), K.
        enthalpies: of the reactions at T_ref, J per mol of r_j, negative where heat is released, (law,).
        molar: heat capacities cp of the species, J/mol/K, (species,); 0 where `volumetric` holds them.
        volumetric: heat capacity of all else in the fluid, or of the whole fluid, J/m^3/K.
        T_ref: temperature at which the enthalpies hold, K.
        exchange: UA/V to a coolant, W/m^3/K; 0: adiabatic.
        coolant: its temperature, K.
    """

    start: jax.Array
    enthalpies: jax.Array
    molar: jax.Array
    volumetric: jax.Array
    T_ref: jax.Array
    exchange: jax.Array
    coolant: jax.Array

    def capacity(self, c: jax.Array) -> jax.Array:
        """Heat capacity of a fluid of these concentrations, J/m^3/K."""
        return self.volumetric + jnp.sum(self.molar * c)

    def first_state(self, c: jax.Array) -> jax.Array:
        """The state of a fluid of these concentrations as it comes: [c, T]."""
        return jnp.concatenate([c, self.start[None]])

    def tolerances(self, atol: jax.Array, c: jax.Array) -> jax.Array:
        """Absolute tolerances of the state [c, T]."""
        return jnp.concatenate([jnp.broadcast_to(atol, c.shape), NEGLIGIBLE * self.start[None]])

    def temperature(self, feed: jax.Array, stoichiometry: jax.Array, extents: jax.Array, tau: jax.Array) -> jax.Array:
        """T of a tank at rest, K, in which the reactions have these extents r_j tau, mol/m^3, (law,).

        The balance 0 = C(c_feed) (T_feed - T)/tau - sum_j dH_j(T) r_j + UA/V (T_coolant - T) is linear in it.
        """
        flow, changes = self.capacity(feed), self.changes(stoichiometry)
        gained = flow * self.start + tau * self.exchange * self.coolant - jnp.sum((self.enthalpies - changes * self.T_ref) * extents)
        return gained / (flow + tau * self.exchange + jnp.sum(changes * extents))

    def changes(self, stoichiometry: jax.Array) -> jax.Array:
        """d dH_j / dT, sum_i nu_ij cp_i, J/mol/K, (law,)."""
        return jnp.matmul(self.molar, stoichiometry)

    def at(self, stoichiometry: jax.Array, T: jax.Array) -> jax.Array:
        """Enthalpies of reaction dH_j(T), J/mol, (law,)."""
        return self.enthalpies + self.changes(stoichiometry) * (T - self.T_ref)
