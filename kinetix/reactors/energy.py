"""Energy rules: what the temperature of a reactor is, and with it the constants of its rate laws.

An energy rule is a pytree with `at(t, own) -> (T, constants)`, where `own` are the temperatures that are states. `Heat` holds what their
balances need.

H. S. Fogler, Elements of Chemical Reaction Engineering (5th ed., 2016), chapters 11 to 13.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from kinetix.constants import GAS_CONSTANT
from kinetix.rates import Thermal, constants_at
from kinetix.units import POWER, TEMPERATURE, VOLUME, Dimension


class EnergyRule(Protocol):
    """What a balance asks of an energy rule."""

    def at(self, t: jax.Array, own: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Temperature (K) and constants (SI, (constant,)) at the time t (s), from the temperatures that are states, (0, 1 or 2,)."""
        ...


class Isothermal(NamedTuple):
    """Constant temperature: the constants are evaluated once, outside the solve.

    Attributes:
        T: temperature, K.
        constants: values at T, SI, (constant,).
    """

    T: jax.Array
    constants: jax.Array

    def at(self, t: jax.Array, own: jax.Array) -> tuple[jax.Array, jax.Array]:
        del t, own
        return self.T, self.constants


class Programmed(NamedTuple):
    """Measured or prescribed temperature, linear between its nodes and constant outside them.

    Attributes:
        times: s, (node,), not decreasing; the temperature has kinks there.
        temperatures: K, (node,).
        thermal: constants as functions of temperature.
    """

    times: jax.Array
    temperatures: jax.Array
    thermal: Thermal

    def at(self, t: jax.Array, own: jax.Array) -> tuple[jax.Array, jax.Array]:
        del own
        T = jnp.interp(t, self.times, self.temperatures)
        return T, constants_at(self.thermal, T)


class Heated(NamedTuple):
    """A temperature that follows from an energy balance, as a state.

    Attributes:
        thermal: constants as functions of temperature.
        heat: of reaction, capacities, and exchange.
    """

    thermal: Thermal
    heat: Heat

    def at(self, t: jax.Array, own: jax.Array) -> tuple[jax.Array, jax.Array]:
        del t
        return own[0], self.constants(own[0])

    def constants(self, T: jax.Array) -> jax.Array:
        """At the temperature T."""
        return constants_at(self.thermal, T)


def energy_rule(lane: Mapping[str, Any], thermal: Thermal, stretch: jax.Array | float = 1.0) -> EnergyRule:
    """From `heat`, from `program_times` and `program_T`, or from `T` of a lane; in times that are `stretch` times as long."""
    if "heat" in lane:
        return Heated(thermal, lane["heat"].stretched(stretch))
    if "program_T" in lane:
        return Programmed(lane["program_times"] * stretch, lane["program_T"], thermal)
    return Isothermal(lane["T"], constants_at(thermal, lane["T"]))


HOLDUP, ALONG = "holdup", "along"


@dataclass(frozen=True)
class EnergyBalance:
    """That the temperature follows from an energy balance, and how heat is exchanged.

    Attributes:
        exchange: how the exchange with a coolant is given: "UA", which needs the volume V, or "UA/V"; "" for an adiabatic reactor.
        jacket: whether the temperature of the coolant is an answer as well, `T_jacket`: `HOLDUP`, because what is in the jacket holds
            heat, or `ALONG`, because it flows beside a tube; "": it is not.
    """

    exchange: str = ""
    jacket: str = ""

    @property
    def conditions(self) -> Mapping[str, Dimension]:
        """Conditions that it brings, whatever the reactor, and their dimensions."""
        coolant = {"T_coolant": TEMPERATURE} if self.exchange else {}
        start = {"T_jacket_initial": TEMPERATURE} if self.jacket == HOLDUP else {}
        return {**coolant, **({"V": VOLUME} if self.exchange == "UA" else {}), **start}


EXCHANGES = {"UA": POWER / TEMPERATURE, "UA/V": POWER / TEMPERATURE / VOLUME}
"""Ways to give the exchange with a coolant, and their dimensions."""


class Jacket(NamedTuple):
    """A coolant with a balance of its own, holdup dT_jacket/dt = UA/V (T - T_jacket) + flow (T_coolant - T_jacket), well mixed.

    Attributes:
        start: temperature at time zero, K.
        flow: heat capacity flow of the coolant per volume of the reactor, W/m^3/K.
        holdup: heat capacity of what is in the jacket, per volume of the reactor, J/m^3/K.
    """

    start: jax.Array
    flow: jax.Array
    holdup: jax.Array


class Heat(NamedTuple):
    """What an energy balance needs beside the material balances; the temperature is then a state.

    The enthalpies of the species are h_i(T) = h_i(T_ref) + cp_i (T - T_ref), so that those of the reactions are
    dH_j(T) = dH_j(T_ref) + (sum_i nu_ij cp_i) (T - T_ref).

    Attributes:
        start: temperature at which the reactor starts: of the feed (steady tanks, tubes) or at time zero, K.
        enthalpies: of the reactions at T_ref, J per mol of r_j, negative where heat is released, (law,).
        molar: heat capacities cp of the species, J/mol/K, (species,); 0 where `volumetric` holds them.
        volumetric: heat capacity of all else in the fluid, or of the whole fluid, J/m^3/K.
        T_ref: temperature at which the enthalpies hold, K.
        exchange: UA/V to a coolant, of the volume at time zero, W/m^3/K; 0: adiabatic.
        coolant: its temperature, K; where it has a balance of its own, as it comes.
        feed: temperature of the feed, K; of no meaning where nothing comes in.
        jacket: the balance of the coolant; None where its temperature is `coolant`.
    """

    start: jax.Array
    enthalpies: jax.Array
    molar: jax.Array
    volumetric: jax.Array
    T_ref: jax.Array
    exchange: jax.Array
    coolant: jax.Array
    feed: jax.Array
    jacket: Jacket | None = None

    def capacity(self, c: jax.Array) -> jax.Array:
        """Heat capacity of a fluid of these concentrations, J/m^3/K."""
        return self.volumetric + jnp.sum(self.molar * c)

    def first(self) -> jax.Array:
        """The temperatures that are states, as they start, (1 or 2,)."""
        return jnp.stack([self.start, *([] if self.jacket is None else [self.jacket.start])])

    def around(self, own: jax.Array) -> jax.Array:
        """What the reactor exchanges heat with, K, from the temperatures that are states."""
        return self.coolant if self.jacket is None else own[1]

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

    def stretched(self, stretch: jax.Array | float) -> Heat:
        """The same in a time that is `stretch` times as long and in which rates are as many times smaller."""
        jacket = None if self.jacket is None else self.jacket._replace(flow=self.jacket.flow / stretch)
        return self._replace(exchange=self.exchange / stretch, jacket=jacket)

    def at_constant_volume(self, stoichiometry: jax.Array) -> Heat:
        """Energies in the place of enthalpies, of ideal gases: cv_i = cp_i - R, dU_j = dH_j - R T sum_i nu_ij."""
        grown = jnp.sum(stoichiometry, axis=0)
        return self._replace(molar=self.molar - GAS_CONSTANT, enthalpies=self.enthalpies - GAS_CONSTANT * self.T_ref * grown)
