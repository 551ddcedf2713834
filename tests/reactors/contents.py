"""Networks with known constants for the tests of reactors, in SI and without parameters, data or units."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from kinetix.constants import GAS_CONSTANT
from kinetix.network import Kinetics, parse_network, stack_laws
from kinetix.padding import padded
from kinetix.rates import Thermal, mass_action
from kinetix.reactors import Lane, Reactor, States
from kinetix.reactors.energy import Heat
from kinetix.solvers import Options

OPTIONS = Options(rtol=1e-10)


def kinetics(text: str) -> Kinetics:
    """A network with mass action; constants count in the order of the reactions."""
    network = parse_network(text, formulas=False)
    laws = [mass_action.law(dict(reaction.reactants)) for reaction in network.reactions]
    return stack_laws(laws, network.stoichiometry, network.species, lambda i, name: i)[0]


def thermal(*constants: tuple[float, float], T_ref: float = 350.0) -> Thermal:
    """Constants as (k at T_ref, Ea) pairs."""
    k, Ea = (np.array(values) for values in zip(*constants, strict=True))
    one = np.ones_like(k)
    return Thermal(k, 0 * one, Ea, T_ref * one, one / T_ref)


def constant_at(k: float, Ea: float, T: np.ndarray | float, T_ref: float = 350.0) -> np.ndarray:
    """Arrhenius around T_ref, by hand."""
    return np.asarray(k * np.exp(-Ea / GAS_CONSTANT * (1 / np.asarray(T) - 1 / T_ref)))


def filled(*c: float) -> np.ndarray:
    """Concentrations of the species in order, with zeros up to the padded size."""
    return np.array([*c, *[0.0] * (padded(len(c)) - len(c))])


def solved(reactor: Reactor, text: str, constants: Thermal, **lane: object) -> States:
    """What a reactor of one lane does."""
    given = {name: value if isinstance(value, Heat) else jnp.asarray(value, float) for name, value in lane.items()}
    arrays: Lane = {"atol": jnp.asarray(1e-10), **given}
    return reactor.solve(kinetics(text), constants, arrays, OPTIONS)
