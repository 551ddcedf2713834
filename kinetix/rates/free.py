"""A rate law written by the user as an expression.

    r = f([A], [B], ..., T, constants),     for example kf*[A]*[B]/(1 + K*[A])^2

The result is a concentration/time. Constants have the units that the study gives them; the formula as a whole is checked: terms that are
added need the same dimension, arguments of exp and log none. It is read into a tree of operations, never executed as Python, and
differentiated exactly (forward mode: R. E. Wengert, Commun. ACM 7 (1964) 463).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import ExpressionError, nearest
from kinetix.expression import Expression, Symbol, evaluate, parse, symbols, to_text
from kinetix.rates.law import ON_STREAM, Constant, Law, Sides
from kinetix.units import Dimension


@dataclass(frozen=True)
class FreeRate:
    """Evaluates an expression elementwise; equal expressions are equal functions."""

    expression: Expression
    constants: tuple[str, ...]
    species: tuple[str, ...]

    def __call__(self, constants: tuple[Any, ...], sides: Sides, T: Any) -> Any:
        concentrations = dict(zip(self.species, sides[0], strict=True))
        values = dict(zip(self.constants, constants, strict=True))

        def lookup(symbol: Symbol) -> Any:
            if symbol.kind == "concentration":
                return concentrations[symbol.name]
            if symbol.kind == "pressure":
                return concentrations[symbol.name] * (GAS_CONSTANT * T)
            return T if symbol.name == "T" else values[symbol.name]

        return evaluate(self.expression, lookup)


def law(
    text: str, constants: Mapping[str, Dimension], known: tuple[str, ...], reaction: str, equilibria: frozenset[str] | None = None
) -> Law:
    """The rate r = `text` in concentrations [X], partial pressures p[X] = [X] R T, temperature T and constants by name.

    Args:
        text: for example `kf*[A]*[B]/(1 + K*[A])^2`.
        constants: the constants it may use and the dimensions of their units; `t_on_stream` is the condition of that name.
        known: species of the network.
        reaction: its name, for messages.
        equilibria: which constants are of equilibria; None where the formula does not tell.

    Raises:
        ExpressionError: an unreadable formula, an unknown species or constant.
    """
    expression = parse(text)
    species: list[str] = []
    used: list[str] = []
    amounts: set[str] = set()
    for symbol in symbols(expression):
        if symbol.kind in ("concentration", "pressure"):
            if symbol.name not in known:
                raise ExpressionError(
                    f"Rate of '{reaction}' uses {symbol}, which is no species of the network"
                    f" (known: {', '.join(known)}).{nearest(symbol.name, known)}"
                )
            species.append(symbol.name)
            amounts.add("concentration" if symbol.kind == "concentration" else "partial_pressure")
        elif symbol.kind == "name":
            if symbol.name in constants:
                used.append(symbol.name)
            elif symbol.name != "T":
                raise ExpressionError(
                    f"Rate of '{reaction}' uses '{symbol.name}', which has no value, no unit and is not estimated."
                    f" Give it under parameters = {{ {symbol.name} = ... }}, or write [{symbol.name}] if it is a concentration."
                    f"{nearest(symbol.name, (*constants, ON_STREAM))}"
                )
        else:
            raise ExpressionError(
                f"Rate of '{reaction}' uses {symbol}; a rate may use concentrations [X], partial pressures p[X], T, {ON_STREAM} and"
                " constants."
            )
    for name in constants:
        if name not in used:
            raise ExpressionError(
                f"Rate of '{reaction}': the constant '{name}' is given but '{text}' does not use it. Remove it, or use it."
            )
    slots = tuple(dict.fromkeys(species))
    return Law(
        FreeRate(expression, tuple(used), slots),
        tuple(
            Constant(name, constants[name], enthalpy=None if equilibria is None else name in equilibria, condition=name == ON_STREAM)
            for name in used
        ),
        (slots,),
        to_text(expression),
        amounts=frozenset(amounts),
    )
