"""A network's rate laws as arrays, so that one compiled program serves every network of its padded size.

Laws with the same formula are stacked: their constants and species become index arrays, and the formula, which is
elementwise, is evaluated once for all of them. Stoichiometry and indices are data, never code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.padding import padded
from kinetix.rates.law import Law, RateFunction

ZERO, ONE = -2, -1
"""Positions of the literals 0 and 1 at the end of every vector of constants."""


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["constants", "species"],
    meta_fields=["rate"],
)
@dataclass(frozen=True)
class Stack:
    """Laws of one formula, stacked.

    Attributes:
        rate: the elementwise formula.
        constants: (law, constant) positions in the vector of constants.
        species: by side, (law, slot) positions in the vector of concentrations; its last entry is the number 1.
    """

    rate: RateFunction
    constants: jax.Array | np.ndarray
    species: tuple[jax.Array | np.ndarray, ...]


@partial(jax.tree_util.register_dataclass, data_fields=["stacks", "stoichiometry"], meta_fields=[])
@dataclass(frozen=True)
class Kinetics:
    """Rate laws and stoichiometry of a network as a pytree of arrays.

    Attributes:
        stacks: the laws, grouped by formula.
        stoichiometry: (species, law) net coefficients, columns in the order of the stacks.
    """

    stacks: tuple[Stack, ...]
    stoichiometry: jax.Array | np.ndarray = field(repr=False)


@jax.tree_util.register_static
@dataclass(frozen=True, eq=False)
class FixedKinetics(Kinetics):
    """Kinetics as part of a program instead of its data: a pytree without leaves, equal by value.

    A program is compiled for this network alone, and may leave out what is zero in it.
    """

    @classmethod
    def of(cls, kinetics: Kinetics) -> FixedKinetics:
        """From arrays that are known."""
        stacks, stoichiometry = jax.tree.map(np.asarray, (kinetics.stacks, kinetics.stoichiometry))
        return cls(stacks, stoichiometry)

    @cached_property
    def _value(self) -> tuple[Any, ...]:
        def content(array: Any) -> tuple[Any, ...]:
            return array.shape, array.dtype.str, array.tobytes()

        stacks = tuple((stack.rate, content(stack.constants), *map(content, stack.species)) for stack in self.stacks)
        return stacks, content(self.stoichiometry)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FixedKinetics) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)


def stack_laws(
    laws: Sequence[Law], stoichiometry: np.ndarray, species: Sequence[str], position: Callable[[int, str], int]
) -> tuple[Kinetics, np.ndarray]:
    """Arrays of a network.

    Args:
        laws: one per reaction.
        stoichiometry: (species, reaction).
        species: names, in the order of the rows.
        position: where the constant `name` of reaction `i` stands in the vector of constants.

    Returns:
        The kinetics, species padded, and for each reaction its position among the stacked rates.
    """
    n = padded(len(species))
    index = {name: i for i, name in enumerate(species)}
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, law in enumerate(laws):
        slots = len(law.species) if law.product else tuple(len(side) for side in law.species)
        groups.setdefault((law.rate, len(law.constants), slots), []).append(i)
    stacks, columns, order = [], [], np.zeros(len(laws), dtype=np.int32)
    for members in groups.values():
        first = laws[members[0]]
        rows = padded(len(members)) if first.product else len(members)
        constants = np.full((rows, len(first.constants)), ONE, dtype=np.int32)
        constants[:, :1] = ZERO
        # two slots serve most laws; a fixed size keeps the compiled program the same
        widths = [
            max(2, *(len(laws[i].species[side]) for i in members)) if first.product else len(first.species[side])
            for side in range(len(first.species))
        ]
        slots_of = [np.full((rows, width), n, dtype=np.int32) for width in widths]
        net = np.zeros((n, rows))
        for row, i in enumerate(members):
            order[i] = sum(c.shape[1] for c in columns) + row
            constants[row] = [position(i, constant.name) for constant in laws[i].constants]
            for side, names in enumerate(laws[i].species):
                slots_of[side][row, : len(names)] = [index[name] for name in names]
            net[: len(species), row] = stoichiometry[:, i]
        stacks.append(Stack(first.rate, constants, tuple(slots_of)))
        columns.append(net)
    return Kinetics(tuple(stacks), np.concatenate(columns, axis=1)), order


def _inputs(stack: Stack, constants: jax.Array, c: jax.Array) -> tuple[tuple[jax.Array, ...], tuple[tuple[jax.Array, ...], ...]]:
    values = jnp.concatenate([constants, jnp.array([0.0, 1.0], constants.dtype)])[stack.constants]
    filled = jnp.concatenate([c, jnp.ones(1, c.dtype)])
    sides = tuple(tuple(filled[side[:, slot]] for slot in range(side.shape[1])) for side in stack.species)
    return tuple(values[:, i] for i in range(values.shape[1])), sides


def rates(kinetics: Kinetics, constants: jax.Array, T: jax.Array, c: jax.Array) -> jax.Array:
    """Rates of all laws, mol/m^3/s, shape (law,).

    Args:
        kinetics: the network.
        constants: values at T, SI, (constant,).
        T: temperature, K.
        c: concentrations, mol/m^3, (species,), padded.
    """
    return jnp.concatenate([stack.rate(*_inputs(stack, constants, c), T) for stack in kinetics.stacks])


def production(kinetics: Kinetics, constants: jax.Array, T: jax.Array, c: jax.Array) -> jax.Array:
    """Net production of each species, sum_j nu_ij r_j, mol/m^3/s, shape (species,)."""
    return jnp.matmul(kinetics.stoichiometry, rates(kinetics, constants, T, c))


def production_jacobian(kinetics: Kinetics, constants: jax.Array, T: jax.Array, c: jax.Array) -> jax.Array:
    """d production / d c, 1/s, shape (species, species)."""
    return jnp.matmul(kinetics.stoichiometry, rates_jacobian(kinetics, constants, T, c))


def rates_jacobian(kinetics: Kinetics, constants: jax.Array, T: jax.Array, c: jax.Array) -> jax.Array:
    """d rates / d c, 1/s, shape (law, species): one elementwise jvp of each law per slot, scattered."""
    blocks = []
    unit = jnp.eye(c.shape[0] + 1, c.shape[0], dtype=c.dtype)
    for stack in kinetics.stacks:
        values, sides = _inputs(stack, constants, c)
        flat = [(s, i) for s, side in enumerate(sides) for i in range(len(side))]

        def rate_of(
            *slots: jax.Array, stack: Stack = stack, values: tuple[jax.Array, ...] = values, shape: list[tuple[int, int]] = flat
        ) -> jax.Array:
            by_side: list[list[jax.Array]] = [[] for _ in stack.species]
            for (s, _), slot in zip(shape, slots, strict=True):
                by_side[s].append(slot)
            return stack.rate(values, tuple(tuple(side) for side in by_side), T)

        slots = [sides[s][i] for s, i in flat]
        total = jnp.zeros((stack.constants.shape[0], c.shape[0]), c.dtype)
        for k, (s, i) in enumerate(flat):
            tangents = [jnp.ones_like(slot) if j == k else jnp.zeros_like(slot) for j, slot in enumerate(slots)]
            slope = jax.jvp(rate_of, tuple(slots), tuple(tangents))[1]
            total = total + slope[:, None] * unit[stack.species[s][:, i]]
        blocks.append(total)
    return jnp.concatenate(blocks)
