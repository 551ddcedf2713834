"""The dimension of a formula, from the dimensions of its symbols: the check that a rate law adds like to like."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from kinetix.errors import ExpressionError
from kinetix.expression.syntax import (
    Call,
    Constant,
    Expression,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    literal,
    symbols,
    to_text,
)
from kinetix.units import DIMENSIONLESS, Dimension

Lookup = Callable[[Symbol], Dimension | None]

_KEEP_DIMENSION = ("abs", "min", "max")


def dimension(expression: Expression, lookup: Lookup) -> Dimension:
    """The dimension of the value of a formula.

    `lookup`: the dimension of each symbol, or None where it is not known. An unknown dimension is compatible with everything; the rest
    is checked all the same. Numbers are dimensionless, except that a literal 0 may be added to anything.

    Raises `ExpressionError` that names the part of the formula and both dimensions: terms of a sum that differ; a function or an
    exponent that is not dimensionless; a variable exponent on a base that is not dimensionless; or a result that stays unknown.

    >>> from kinetix.expression import parse
    >>> from kinetix.units import CONCENTRATION, TIME
    >>> given = {"k": DIMENSIONLESS / TIME, "A": CONCENTRATION, "K": DIMENSIONLESS}
    >>> str(dimension(parse("k*[A]"), lambda symbol: given[symbol.name]))
    'amount/volume/time'
    >>> dimension(parse("k*[A]/(1 + K*[A])"), lambda symbol: given[symbol.name])
    Traceback (most recent call last):
    kinetix.errors.ExpressionError: '1 + K*[A]' adds dimensionless and amount/volume; the terms of a sum need the same dimension.
    """
    found = _dimension(expression.root, lookup)
    if found is None:
        unknown = ", ".join(f"'{symbol}'" for symbol in symbols(expression) if lookup(symbol) is None)
        raise ExpressionError(f"the dimension of '{to_text(expression)}' is not known, because that of {unknown} is not: give it a unit.")
    return found


def _dimension(node: Node, lookup: Lookup) -> Dimension | None:
    match node:
        case Symbol():
            return lookup(node)
        case Number() | Constant():
            return DIMENSIONLESS
        case Negative(operand):
            return _dimension(operand, lookup)
        case Sum(first, rest):
            return _common(node, (first, *(term for _, term in rest)), lookup, "adds", "the terms of a sum")
        case Product(first, rest):
            parts = [_dimension(first, lookup), *(_dimension(factor, lookup) for _, factor in rest)]
            return _product(parts, [sign for sign, _ in rest])
        case Power(base, exponent):
            return _power(node, base, exponent, lookup)
        case Call("sqrt", (argument,)):
            inner = _dimension(argument, lookup)
            return None if inner is None else inner ** Fraction(1, 2)
        case Call(function, arguments) if function in _KEEP_DIMENSION:
            return _common(node, arguments, lookup, "compares", f"the arguments of {function}")
        case Call(function, arguments):
            inner = _dimension(arguments[0], lookup)
            if inner is not None and not inner.dimensionless:
                raise ExpressionError(
                    f"'{to_text(node)}' takes the {function} of {inner}; {function} needs a dimensionless argument: "
                    f"divide '{to_text(arguments[0])}' by a constant of the same unit."
                )
            return DIMENSIONLESS


def _common(node: Node, parts: Iterable[Node], lookup: Lookup, verb: str, needing: str) -> Dimension | None:
    """The one dimension that all parts have, literal zeros and unknowns aside."""
    common: Dimension | None = None
    only_zeros = True
    for part in parts:
        found = _dimension(part, lookup)
        if part == Number(0.0):
            continue
        only_zeros = False
        if common is None:
            common = found
        elif found is not None and found != common:
            raise ExpressionError(f"'{to_text(node)}' {verb} {common} and {found}; {needing} need the same dimension.")
    return DIMENSIONLESS if only_zeros else common


def _product(parts: list[Dimension | None], signs: list[str]) -> Dimension | None:
    total = parts[0]
    for sign, part in zip(signs, parts[1:], strict=True):
        if total is None or part is None:
            return None
        total = total * part if sign == "*" else total / part
    return total


def _power(node: Node, base: Node, exponent: Node, lookup: Lookup) -> Dimension | None:
    inner, raised = _dimension(base, lookup), _dimension(exponent, lookup)
    if raised is not None and not raised.dimensionless:
        raise ExpressionError(f"'{to_text(node)}' has an exponent of {raised}; an exponent must be dimensionless.")
    number = literal(exponent)
    if number is not None:
        return None if inner is None else inner**number
    if inner is None or inner.dimensionless:
        return inner
    raise ExpressionError(
        f"'{to_text(node)}' raises {inner} to '{to_text(exponent)}', so that its unit would depend on a value; "
        f"write a number as the exponent, or divide '{to_text(base)}' by a constant of the same unit."
    )
