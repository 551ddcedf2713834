"""Rate laws with names, written once in the expression grammar: what each book of formulas gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kinetix.errors import ParameterError, nearest
from kinetix.units import Dimension

Orders = Mapping[str, float]
"""Species -> coefficient."""


class Formula(NamedTuple):
    """A rate as text, the constants in it with the dimensions of their units, and which of them are of equilibria (dH, not Ea)."""

    text: str
    constants: dict[str, Dimension]
    equilibria: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Book:
    """A named rate law.

    Attributes:
        name: as in `law = "..."` of a study.
        formula: for people, in general symbols.
        options: what may be said beside the name, and what it means.
        write: `(reactants, products, options) -> Formula` for one reaction; raises ParameterError.
        source: where the law comes from.
    """

    name: str
    formula: str
    options: Mapping[str, str]
    write: Callable[[Orders, Orders, Mapping[str, Any]], Formula]
    source: str

    def apply(self, reactants: Orders, products: Orders, options: Mapping[str, Any]) -> Formula:
        """The law for one reaction.

        Raises:
            ParameterError: an option the law does not know, or one it cannot use.
        """
        for name in options:
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise ParameterError(f"law '{self.name}' has no option '{name}' (known: {known}).{nearest(name, self.options)}")
        return self.write(reactants, products, options)


def one_species(options: Mapping[str, Any], role: str, default: Orders, law: str) -> str:
    """The species in a role: as said, or the only one there is.

    Raises:
        ParameterError: not said, and not the only one.
    """
    given = options.get(role)
    if given is None and len(default) == 1:
        return next(iter(default))
    if not isinstance(given, str):
        raise ParameterError(
            f'law \'{law}\' needs its {role}. Write law = {{ type = "{law}", {role} = "..." }} (species: {", ".join(default)}).'
        )
    return given


def several_species(options: Mapping[str, Any], role: str, law: str) -> Sequence[str]:
    """The species in a role that may be empty.

    Raises:
        ParameterError: not a list of names.
    """
    given = options.get(role, ())
    if not isinstance(given, (list, tuple)) or not all(isinstance(name, str) for name in given):
        raise ParameterError(f'law \'{law}\': {role} is a list of species, for example {role} = ["A", "B"]; found {given!r}.')
    return tuple(given)


def product(orders: Orders) -> str:
    """`[A]^2*[B]`; 1 for nothing.

    >>> product({"A": 2, "B": 1})
    '[A]^2*[B]'
    """
    return "*".join(f"[{name}]" if order == 1 else f"[{name}]^{order:g}" for name, order in orders.items()) or "1"
