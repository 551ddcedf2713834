"""Energy rules: what the temperature of a reactor is, and with it the constants of its rate laws.

An energy rule is a pytree with `at(t) -> (T, constants)`. A rule that makes the temperature a state will add its own
balance beside the material balances.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp

from kinetix.rates import Thermal, constants_at


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
