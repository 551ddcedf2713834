"""The constants of rate laws as positions in the vector of parameters, as arrays, and what follows from their parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.constants import GAS_CONSTANT
from kinetix.rates.arrhenius import Thermal, eyring_factor, log_factor
from kinetix.units import (
    Unit,
)

FROM_LANE, ZERO, ONE = -3, -2, -1
"""Positions behind the parameters: of what the experiment gives, and of the literals 0 and 1."""


@dataclass(frozen=True)
class BoundConstant:
    """One constant as positions in the vector of parameters; those below zero are `FROM_LANE`, `ZERO` and `ONE`.

    Attributes:
        name: `r1.k`, `r1.kf`, `k1`.
        reference, exponent, energy: positions of its value at the reference temperature, b and Ea.
        T_ref: K, of the power term.
        inverse_T_ref: 1/K; 0 where `reference` is the pre-exponential factor.
        unit: of the constant.
    """

    name: str
    reference: int
    exponent: int
    energy: int
    T_ref: float
    inverse_T_ref: float
    unit: Unit

    @property
    def thermal(self) -> bool:
        """Whether it depends on temperature."""
        return self.energy != ZERO or self.exponent != ZERO

    def at(self, T_ref: float) -> BoundConstant:
        """The constant with its value stated at another temperature, K."""
        return replace(self, T_ref=T_ref, inverse_T_ref=1.0 / T_ref)


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["reference", "exponent", "energy", "T_ref", "inverse_T_ref"],
    meta_fields=[],
)
@dataclass(frozen=True)
class ConstantBindings:
    """Positions of all constants of a problem, (constant,), padded."""

    reference: jax.Array | np.ndarray
    exponent: jax.Array | np.ndarray
    energy: jax.Array | np.ndarray
    T_ref: jax.Array | np.ndarray
    inverse_T_ref: jax.Array | np.ndarray

    def thermal(self, parameters: jax.Array, given: jax.Array | None = None) -> Thermal:
        """The constants of the rate laws from physical parameter values (parameter,).

        `given`: what the experiment gives in the place of a constant, a scalar; without it a constant at `FROM_LANE` has no meaning.
        """
        extended = with_literals(parameters if given is None else jnp.append(parameters, given))
        return Thermal(
            extended[self.reference],
            extended[self.exponent],
            extended[self.energy],
            jnp.asarray(self.T_ref, extended.dtype),
            jnp.asarray(self.inverse_T_ref, extended.dtype),
        )


def with_literals(parameters: jax.Array) -> jax.Array:
    """The parameters followed by the literals 0 and 1."""
    return jnp.concatenate([parameters, jnp.array([0.0, 1.0], parameters.dtype)])


def bindings(constants: Sequence[BoundConstant], size: int) -> ConstantBindings:
    """Arrays of `constants`, filled up to `size` with ones."""
    fill = size - len(constants)
    return ConstantBindings(
        reference=np.array([c.reference for c in constants] + [ONE] * fill, dtype=np.int32),
        exponent=np.array([c.exponent for c in constants] + [ZERO] * fill, dtype=np.int32),
        energy=np.array([c.energy for c in constants] + [ZERO] * fill, dtype=np.int32),
        T_ref=np.array([c.T_ref for c in constants] + [1.0] * fill),
        inverse_T_ref=np.array([c.inverse_T_ref for c in constants] + [0.0] * fill),
    )


@dataclass(frozen=True)
class DerivedFactor:
    """A pre-exponential factor that follows from the fitted pair: ln A = ln k_ref - b ln T_ref + Ea/(R T_ref).

    `reference`, `exponent`, `energy` are positions of parameters (or literals), as in `BoundConstant`.
    """

    name: str
    unit: Unit
    constant: BoundConstant

    def log_value(self, parameters: np.ndarray) -> float:
        """ln A, A in SI."""
        values = np.concatenate([parameters, [0.0, 1.0]])
        c = self.constant
        return log_factor(values[c.reference], values[c.exponent], values[c.energy], c.T_ref)

    def gradient(self, parameters: np.ndarray) -> np.ndarray:
        """d ln A / d parameters, (parameter,)."""
        c = self.constant
        out = np.zeros(len(parameters) + 2)
        out[c.reference] += 1.0 / np.concatenate([parameters, [0.0, 1.0]])[c.reference]
        out[c.exponent] -= np.log(c.T_ref)
        out[c.energy] += c.inverse_T_ref / GAS_CONSTANT
        return out[:-2]


@dataclass(frozen=True)
class DerivedEntropy:
    """The entropy of activation of Eyring's law: dS = R ln(k_ref h/(kB T_ref c0^(1 - n))) + dH/T_ref, J/mol/K.

    `standard` is c0^(1 - n) in SI, of the standard state c0 = 1 mol/L; 1 for a reaction of first order.
    """

    name: str
    unit: Unit
    constant: BoundConstant
    standard: float

    def value(self, parameters: np.ndarray) -> float:
        """dS, J/mol/K."""
        values, c = np.concatenate([parameters, [0.0, 1.0]]), self.constant
        return GAS_CONSTANT * math.log(values[c.reference] / (eyring_factor(c.T_ref) * self.standard)) + values[c.energy] / c.T_ref

    def gradient(self, parameters: np.ndarray) -> np.ndarray:
        """d dS / d parameters, (parameter,)."""
        values, c = np.concatenate([parameters, [0.0, 1.0]]), self.constant
        out = np.zeros(len(values))
        out[c.reference] += GAS_CONSTANT / values[c.reference]
        out[c.energy] += 1.0 / c.T_ref
        return out[:-2]


Derivable = DerivedFactor | DerivedEntropy
"""What follows from the parameters of one constant."""
