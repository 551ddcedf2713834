"""Energy rules: what the temperature of a reactor is, and with it the constants of its rate laws.

An energy rule is a pytree with `at(t) -> (T, constants)`. A rule that makes the temperature a state will add its own
balance beside the material balances.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

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


class Given(NamedTuple):
    """The temperature of a lane that is not computed: constant, or a program.

    Attributes:
        rule: the energy rule.
        nodes: times at which the temperature has a kink, s, (node,); empty where it is constant.
        T: at the lane's times, K, (time,).
        constants: of the rate laws then, SI, (time, constant).
    """

    rule: EnergyRule
    nodes: jax.Array
    T: jax.Array
    constants: jax.Array


def given_temperature(lane: Mapping[str, Any], thermal: Thermal) -> Given:
    """From `T`, or from `program_times` and `program_T`, of a lane."""
    times = lane["times"]
    if "program_T" in lane:
        rule = Programmed(lane["program_times"], lane["program_T"], thermal)
        T = jnp.interp(times, rule.times, rule.temperatures)
        return Given(rule, rule.times, T, constants_at(thermal, T[:, None]))
    constants = constants_at(thermal, lane["T"])
    shown = jnp.broadcast_to(constants, (*times.shape, constants.shape[0]))
    return Given(Isothermal(lane["T"], constants), jnp.zeros(0, times.dtype), jnp.broadcast_to(lane["T"], times.shape), shown)
