"""Feed rules: what comes into a reactor, g(s) (feed - x), and with it the heat g(s) C(feed) (T_feed - T). A closed vessel has none."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Through(NamedTuple):
    """A steady flow through the reactor, g = 1/tau.

    Attributes:
        concentrations: of the feed, mol/m^3, (species,).
        tau: residence time, s.
    """

    concentrations: jax.Array
    tau: jax.Array

    def exchange(self, t: jax.Array) -> jax.Array:
        """g, 1/s."""
        del t
        return 1.0 / self.tau

    def expansion(self, t: jax.Array) -> float:
        """V(t)/V(0)."""
        del t
        return 1.0


class Filling(NamedTuple):
    """A constant flow q fills a vessel for some time, constant density: g = q/V(t), dV/dt = q.

    It comes from d(c V)/dt = q c_feed + V nu r.

    Attributes:
        concentrations: of the feed, mol/m^3, (species,).
        dilution: volume flow over the volume at time zero, 1/s.
        start: when the flow begins, s.
        stop: when it ends, s, finite.
    """

    concentrations: jax.Array
    dilution: jax.Array
    start: jax.Array
    stop: jax.Array

    def exchange(self, t: jax.Array) -> jax.Array:
        """g = q(t)/V(t), 1/s."""
        return jnp.where((t >= self.start) & (t < self.stop), self.dilution / self.expansion(t), 0.0)

    def expansion(self, t: jax.Array) -> jax.Array:
        """V(t)/V(0)."""
        return 1.0 + self.dilution * (jnp.minimum(jnp.maximum(t, self.start), self.stop) - self.start)


FeedRule = Through | Filling | None
