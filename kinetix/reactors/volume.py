"""Volume rules: which concentrations c belong to a state x and a temperature, and how much reacts, e_j from the rates r_j(c, T).

A volume rule is a pytree. Each function gives a value; `slopes` and `slopes_by_temperature` give its derivative from those of the rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp


class VolumeRule(Protocol):
    """What a balance asks of a volume rule."""

    def concentrations(self, x: jax.Array, T: jax.Array) -> jax.Array:
        """c, mol/m^3, (..., species), of states at temperatures (...)."""
        ...

    def expansion(self, x: jax.Array, T: jax.Array) -> jax.Array | float:
        """The volume, or volume flow, relative to that of the start or the feed, (...)."""
        ...

    def events(self, rates: jax.Array, x: jax.Array, T: jax.Array) -> jax.Array:
        """How often each reaction happens, per what x counts per, mol/m^3/s, (law,)."""
        ...

    def slopes(self, rates: jax.Array, by_c: jax.Array, x: jax.Array, T: jax.Array) -> jax.Array:
        """d events / d x, (law, species), from the rates and their slopes by c."""
        ...

    def slopes_by_temperature(self, rates: jax.Array, by_c: jax.Array, by_T: jax.Array, x: jax.Array, T: jax.Array) -> jax.Array:
        """d events / d T, (law,), from the rates and their slopes by c and by T."""
        ...


class ConstantVolume(NamedTuple):
    """Constant volume, or volume flow: the state is the concentrations, and e = r."""

    def concentrations(self, x: jax.Array, T: jax.Array) -> jax.Array:
        del T
        return x

    def expansion(self, x: jax.Array, T: jax.Array) -> float:
        del x, T
        return 1.0

    def events(self, rates: jax.Array, x: jax.Array, T: jax.Array) -> jax.Array:
        del x, T
        return rates

    def slopes(self, rates: jax.Array, by_c: jax.Array, x: jax.Array, T: jax.Array) -> jax.Array:
        del rates, x, T
        return by_c

    def slopes_by_temperature(self, rates: jax.Array, by_c: jax.Array, by_T: jax.Array, x: jax.Array, T: jax.Array) -> jax.Array:
        del rates, by_c, x, T
        return by_T


@partial(jax.tree_util.register_dataclass, data_fields=["per"], meta_fields=["swells"])
@dataclass(frozen=True)
class ConstantPressure:
    """An ideal gas at constant pressure, whose volume, or volume flow, is v = sum(x) T R/P times that of the start or the feed.

        c = x/v = x/sum(x) P/(R T);   e = r, or e = v r where the space in which it reacts is that of the gas itself

    From these dv/dx_j = v/sum(x), dv/dT = v/T, dc_i/dx_j = (delta_ij - c_i R T/P)/v and dc_i/dT = -c_i/T.

    Attributes:
        per: P/R, mol K/m^3.
        swells: whether the space in which it reacts grows with the gas (a vessel that gives way), or is there already (a tube, a bed).
    """

    per: jax.Array
    swells: bool = False

    @classmethod
    def of(cls, amounts: jax.Array, T: jax.Array, swells: bool = False) -> ConstantPressure:
        """From the concentrations of a gas, mol/m^3, at its temperature."""
        return cls(jnp.sum(amounts) * T, swells)

    def expansion(self, x: jax.Array, T: jax.Array) -> jax.Array:
        return jnp.sum(x, axis=-1) * (T / self.per)

    def concentrations(self, x: jax.Array, T: jax.Array) -> jax.Array:
        return x / self.expansion(x, T)[..., None]

    def events(self, rates: jax.Array, x: jax.Array, T: jax.Array) -> jax.Array:
        return rates * self.expansion(x, T) if self.swells else rates

    def slopes(self, rates: jax.Array, by_c: jax.Array, x: jax.Array, T: jax.Array) -> jax.Array:
        share, v = T / self.per, self.expansion(x, T)
        inner = by_c - share * jnp.matmul(by_c, x / v)[:, None]
        return inner + share * rates[:, None] if self.swells else inner / v

    def slopes_by_temperature(self, rates: jax.Array, by_c: jax.Array, by_T: jax.Array, x: jax.Array, T: jax.Array) -> jax.Array:
        v = self.expansion(x, T)
        inner = by_T - jnp.matmul(by_c, x / (v * T))
        return v * (inner + rates / T) if self.swells else inner
