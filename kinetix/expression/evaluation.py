"""The value of a formula: elementwise JAX arithmetic on whatever its symbols stand for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from kinetix.expression.powers import power, whole_number, whole_power
from kinetix.expression.syntax import Call, Constant, Expression, Negative, Node, Number, Power, Product, Sum, Symbol, leaves, literal

_FUNCTIONS: Mapping[str, Callable[..., jax.Array]] = {
    "exp": jnp.exp,
    "log": jnp.log,
    "ln": jnp.log,
    "log10": jnp.log10,
    "sqrt": jnp.sqrt,
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tan": jnp.tan,
    "arctan": jnp.arctan,
    "atan": jnp.arctan,
    "tanh": jnp.tanh,
    "sinh": jnp.sinh,
    "cosh": jnp.cosh,
    "abs": jnp.abs,
    "min": lambda *arguments: functools.reduce(jnp.minimum, arguments),
    "max": lambda *arguments: functools.reduce(jnp.maximum, arguments),
}


_AMOUNTS = ("concentration", "pressure", "feed", "initial")


def evaluate(expression: Expression, lookup: Callable[[Symbol], ArrayLike]) -> jax.Array:
    """The value of a formula, differentiable with respect to everything `lookup` gives.

    `lookup`: the value of each symbol, scalars or arrays that broadcast; the formula is applied elementwise.
    Powers and square roots of what contains a concentration (also of a feed or an initial state) or a partial pressure are the guarded
    `powers.power`, with finite derivatives at zero; others are the plain power, NaN for a negative base with a fractional exponent.

    >>> from kinetix.expression import parse
    >>> values = {"k": 2.0, "A": 3.0}
    >>> float(evaluate(parse("k*[A]^2/(1 + [A])"), lambda symbol: values[symbol.name]))
    4.5
    """
    return jnp.asarray(_value(expression.root, lookup))


def _value(node: Node, lookup: Callable[[Symbol], ArrayLike]) -> ArrayLike:
    match node:
        case Symbol():
            return jnp.asarray(lookup(node))
        case Number() | Constant():
            return node.value
        case Negative(operand):
            return jnp.negative(_value(operand, lookup))
        case Sum(first, rest):
            total = _value(first, lookup)
            for sign, term in rest:
                total = (jnp.add if sign == "+" else jnp.subtract)(total, _value(term, lookup))
            return total
        case Product(first, rest):
            total = _value(first, lookup)
            for sign, factor in rest:
                total = (jnp.multiply if sign == "*" else jnp.divide)(total, _value(factor, lookup))
            return total
        case Power(base, exponent):
            number = literal(exponent)
            return _power(base, _value(exponent, lookup) if number is None else number, lookup)
        case Call("sqrt", (argument,)) if _is_amount(argument):
            return power(_value(argument, lookup), 0.5)
        case Call(function, arguments):
            return _FUNCTIONS[function](*(_value(argument, lookup) for argument in arguments))


def _power(base: Node, exponent: ArrayLike, lookup: Callable[[Symbol], ArrayLike]) -> jax.Array:
    value = _value(base, lookup)
    if _is_amount(base):
        return power(value, exponent)
    whole = whole_number(exponent)
    return jnp.power(value, exponent) if whole is None else whole_power(value, whole)


def _is_amount(node: Node) -> bool:
    """Whether a power of this needs the guard: it holds a concentration or partial pressure, which may be zero or just below."""
    return any(isinstance(leaf, Symbol) and leaf.kind in _AMOUNTS for leaf in leaves(node))
