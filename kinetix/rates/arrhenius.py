"""Temperature dependence of rate and equilibrium constants, around a reference temperature.

    k(T) = k_ref (T/T_ref)^b exp(-Ea/R (1/T - 1/T_ref)) = A (T/1 K)^b exp(-Ea/(R T))
    K(T) = K_ref exp(-dH/R (1/T - 1/T_ref))

k has the unit of its rate law, Ea and the enthalpy dH are energies per amount, b is a number (0 unless given), R = 8.314462618 J/mol/K.

Fitted are ln k_ref and Ea, never A: A is k at infinite temperature, far outside any data, and nearly a function of Ea. At a reference
temperature inside the data the two are nearly independent. A follows from them, with an interval from ln A.

S. Arrhenius, Z. Phys. Chem. 4 (1889) 226; J. H. van 't Hoff, Etudes de dynamique chimique (Muller 1884); reference temperature:
M. Schwaab and J. C. Pinto, Chem. Eng. Sci. 62 (2007) 2750.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from kinetix.constants import BOLTZMANN_CONSTANT, GAS_CONSTANT, PLANCK_CONSTANT


class Thermal(NamedTuple):
    """Constants that depend on temperature, as arrays over the constants.

    Attributes:
        reference: value at the reference temperature, SI.
        exponent: b of the three-parameter law, 1.
        energy: activation energy (or enthalpy of reaction of an equilibrium constant), J/mol.
        T_ref: temperature of the power term, K.
        inverse_T_ref: reciprocal of the reference temperature of the exponential, 1/K; 0 makes `reference` the
            pre-exponential factor itself.
    """

    reference: jax.Array
    exponent: jax.Array
    energy: jax.Array
    T_ref: jax.Array
    inverse_T_ref: jax.Array


def constants_at(thermal: Thermal, T: jax.Array | float) -> jax.Array:
    """Values of the constants at the temperature T (K).

        k(T) = k_ref (T / T_ref)^b exp(-Ea/R (1/T - 1/T_ref))

    With b = 0 it is the law of Arrhenius (1889), with an enthalpy for Ea that of van 't Hoff (1884). The reference
    temperature takes the near-perfect correlation out of the pair (A, Ea): Schwaab & Pinto, Chem. Eng. Sci. 62 (2007) 2750.

    >>> import numpy as np
    >>> one = np.ones(1)
    >>> law = Thermal(reference=0.1 * one, exponent=0 * one, energy=60e3 * one, T_ref=350 * one, inverse_T_ref=one / 350)
    >>> float(constants_at(law, 350.0)[0].round(6))
    0.1
    """
    powered = thermal.reference * jnp.exp(thermal.exponent * jnp.log(T / thermal.T_ref))
    return powered * jnp.exp(-thermal.energy / GAS_CONSTANT * (1.0 / T - thermal.inverse_T_ref))


def log_factor(k_ref: float, exponent: float, energy: float, T_ref: float) -> float:
    """ln A of k = A (T/1 K)^b exp(-Ea/(R T)), from k at the reference temperature.

        ln A = ln k_ref - b ln T_ref + Ea/(R T_ref)

    >>> round(log_factor(0.1, 0.0, 60e3, 350.0), 4)
    18.3155
    """
    return math.log(k_ref) - exponent * math.log(T_ref) + energy / (GAS_CONSTANT * T_ref)


def eyring_factor(T: float) -> float:
    """kB T/h, 1/s: the frequency factor of k = (kB T/h) c0^(1 - n) exp(dS/R) exp(-dH/(R T)), H. Eyring, J. Chem. Phys. 3 (1935) 107.

    Of the constants of a reaction `Thermal` holds it with b = 1: k = k_ref (T/T_ref) exp(-dH/R (1/T - 1/T_ref)).

    >>> f"{eyring_factor(298.15):.4g}"
    '6.212e+12'
    """
    return BOLTZMANN_CONSTANT * T / PLANCK_CONSTANT
