"""The grammar of formulas: nodes, tokenizer, Pratt parser and the way back to text.

    sum      a + b - c          left to right
    product  a*b/c              left to right
    minus    -a
    power    a^b, a**b          right to left, tighter than minus: -x^2 is -(x^2), 2^-3 is 2^(-3)
    atom     1.5e-3   pi   k1   [A]   p[A]   rate[r1]   feed[A]   initial[A]   exp(a)   max(a, b)   (a)

Nothing is ever given to Python's own `eval`; what is not in this grammar is an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from kinetix.errors import ExpressionError, nearest

SymbolKind: TypeAlias = Literal["name", "concentration", "pressure", "rate", "feed", "initial"]

FUNCTIONS = ("exp", "log", "ln", "log10", "sqrt", "sin", "cos", "tan", "arctan", "atan", "tanh", "sinh", "cosh", "abs", "min", "max")
"""Functions a formula may use; log and ln are the natural logarithm; min and max take two arguments or more, the others one."""

SEVERAL_ARGUMENTS = ("min", "max")

_BRACKETED: dict[str, SymbolKind] = {"": "concentration", "p": "pressure", "rate": "rate", "feed": "feed", "initial": "initial"}
_BEFORE_BRACKET = {kind: prefix for prefix, kind in _BRACKETED.items()}

_DEEPEST = 100
"""Levels of nesting; far above any real formula, far below Python's recursion limit."""


# --------------------------------------------------------------------------------------------------------------------- nodes


@dataclass(frozen=True)
class Symbol:
    """Something a formula refers to: a name (`k1`, `T`), concentration `[A]`, partial pressure `p[A]`, `rate[r1]`, `feed[A]`, `initial[A]`.

    >>> str(Symbol("pressure", "CO2")), str(Symbol("name", "k1"))
    ('p[CO2]', 'k1')
    """

    kind: SymbolKind
    name: str

    def __str__(self) -> str:
        return self.name if self.kind == "name" else f"{_BEFORE_BRACKET[self.kind]}[{self.name}]"


@dataclass(frozen=True)
class Number:
    """A number as written, zero or positive."""

    value: float


@dataclass(frozen=True)
class Constant:
    """A number with a name; there is one: pi."""

    name: Literal["pi"]

    @property
    def value(self) -> float:
        return math.pi


@dataclass(frozen=True)
class Negative:
    """-operand"""

    operand: Node


@dataclass(frozen=True)
class Sum:
    """first, then each of `rest` (sign + or -, term) added or subtracted, left to right."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


@dataclass(frozen=True)
class Product:
    """first, then each of `rest` (sign * or /, factor) multiplied or divided, left to right."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


@dataclass(frozen=True)
class Power:
    """base^exponent"""

    base: Node
    exponent: Node


@dataclass(frozen=True)
class Call:
    """function(arguments), the function one of `FUNCTIONS`."""

    function: str
    arguments: tuple[Node, ...]


Node: TypeAlias = Symbol | Number | Constant | Negative | Sum | Product | Power | Call


@dataclass(frozen=True)
class Expression:
    """A formula that was read; equal and hashed by its meaning, not by the spelling in `text`.

    >>> parse("k1 * [A]**2") == parse("k1*[A]^2")
    True
    """

    text: str = field(compare=False)
    root: Node

    def __str__(self) -> str:
        return self.text


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below a node, left to right."""
    match node:
        case Negative(operand):
            return (operand,)
        case Sum(first, rest) | Product(first, rest):
            return (first, *(operand for _, operand in rest))
        case Power(base, exponent):
            return (base, exponent)
        case Call(_, arguments):
            return arguments
        case _:
            return ()


def leaves(node: Node) -> Iterator[Node]:
    """Symbols, numbers and constants of a formula in the order of writing."""
    below = children(node)
    if not below:
        yield node
    for child in below:
        yield from leaves(child)


def symbols(expression: Expression) -> tuple[Symbol, ...]:
    """What a formula refers to, each once, in the order of first use.

    >>> [str(symbol) for symbol in symbols(parse("k1*[A]*[B] - k2*[A]"))]
    ['k1', '[A]', '[B]', 'k2']
    """
    return tuple(dict.fromkeys(leaf for leaf in leaves(expression.root) if isinstance(leaf, Symbol)))


def names_of(expression: Expression, kind: SymbolKind) -> tuple[str, ...]:
    """The names of the symbols of one kind, in the order of first use.

    >>> names_of(parse("k1*[A]*[B] - k2*[A]"), "concentration")
    ('A', 'B')
    """
    return tuple(symbol.name for symbol in symbols(expression) if symbol.kind == kind)


def literal(node: Node) -> float | None:
    """The value of a number, of minus a number, or of a quotient of such: what an exponent may be without becoming a variable.

    >>> literal(parse("-1/2").root), literal(parse("n + 1").root)
    (-0.5, None)
    """
    match node:
        case Number(value):
            return value
        case Negative(operand):
            value = literal(operand)
            return None if value is None else -value
        case Product(first, (("/", second),)):
            above, below = literal(first), literal(second)
            return above / below if above is not None and below else None
        case _:
            return None


# -------------------------------------------------------------------------------------------------------------------- tokens


class _Token(NamedTuple):
    kind: Literal["number", "name", "bracket", "sign", "end"]
    text: str
    column: int


_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"  # letters to Python's \w
_NAME = rf"[^\W\d{_RAISED}][^\W{_RAISED}]*"
_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    rf"|(?P<bracket>(?:{_NAME})?\[[^\]]*\])"
    rf"|(?P<name>{_NAME})"
    r"|(?P<sign>\*\*|[-+*/^(),])"
)
_SIGNS = str.maketrans({"−": "-", "–": "-", "·": "*", "⋅": "*", "×": "*", "÷": "/"})
_OPERATOR_EXPECTED = "an operator (+ - * / ^) was expected"
_VALUE_EXPECTED = "a number, a name, [species], a function or '(' was expected"


def _short(text: str) -> str:
    line = text.replace("\n", " ")
    return line if len(line) <= 60 else line[:57] + "..."


def _error(text: str, column: int, reason: str) -> ExpressionError:
    return ExpressionError(f"cannot read the formula '{_short(text)}': column {column}: {reason}{'' if reason.endswith('?') else '.'}")


def _tokens(text: str) -> list[_Token]:
    plain = text.translate(_SIGNS)
    tokens: list[_Token] = []
    position = 0
    while position < len(plain):
        if plain[position].isspace():
            position += 1
            continue
        match = _TOKEN.match(plain, position)
        if match is None:
            raise _error(text, position + 1, _unreadable(plain[position]))
        # the group that matched is one of the kinds of _Token
        tokens.append(_Token(match.lastgroup, match.group(), position + 1))  # pyright: ignore[reportArgumentType]
        position = match.end()
    tokens.append(_Token("end", "", len(text.rstrip()) + 1))
    return tokens


def _unreadable(character: str) -> str:
    if character == "[":
        return "the bracket '[' is not closed by ']'"
    if character in "=<>":
        return f"'{character}' does not belong in a formula, which has one side only"
    if character in _RAISED + "⁻":
        return f"'{character}' is no operator; write a power with '^', for example x^2"
    return f"'{character}' does not belong in a formula"


# -------------------------------------------------------------------------------------------------------------------- parser


@lru_cache(maxsize=1024)
def parse(text: str) -> Expression:
    """The formula written in `text`.

    Raises `ExpressionError` with the column (from 1), what was found there and what was expected.

    >>> parse("kf*[A]*[B]/(1 + K*[A])^2").root == parse("kf * [A] * [B] / (1 + K*[A])**2").root
    True
    >>> parse("k*epx(-E/T)")
    Traceback (most recent call last):
    kinetix.errors.ExpressionError: cannot read the formula 'k*epx(-E/T)': column 3: 'epx' is no function. Did you mean 'exp'? ...
    """
    return Expression(text, _Parser(text).read())


# Binding powers, loose to tight.
_LOOSEST, _ADDITIVE, _MULTIPLICATIVE, _MINUS, _POWER = range(5)
_BINDING = {"+": _ADDITIVE, "-": _ADDITIVE, "*": _MULTIPLICATIVE, "/": _MULTIPLICATIVE, "^": _POWER, "**": _POWER}


class _Parser:
    """Top-down operator precedence (V. R. Pratt, 1973)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.next = 0
        self.depth = 0

    def error(self, token: _Token, reason: str) -> ExpressionError:
        return _error(self.text, token.column, reason)

    def peek(self) -> _Token:
        return self.tokens[self.next]

    def take(self) -> _Token:
        token = self.tokens[self.next]
        self.next += token.kind != "end"
        return token

    def read(self) -> Node:
        if self.peek().kind == "end":
            raise ExpressionError("the formula is empty; write for example 'k*[A]'.")
        root = self.operand(_LOOSEST)
        if self.peek().kind != "end":
            raise self.unexpected(self.peek())
        return root

    def operand(self, binding: int) -> Node:
        """What stands here, with every following operator that binds tighter than `binding`."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error(self.peek(), f"more than {_DEEPEST} levels of nesting; split the formula")
        left = self.prefix()
        while (bound := _BINDING.get(self.peek().text, _LOOSEST)) > binding:
            if bound == _POWER:
                self.take()
                left = Power(left, self.operand(_MINUS))  # right to left; a minus in the exponent is taken by prefix()
            elif bound == _MULTIPLICATIVE:
                first, rest = (left.first, left.rest) if isinstance(left, Product) else (left, ())
                left = Product(first, rest + tuple(self.chain("*", "/", bound)))
            else:
                first, rest = (left.first, left.rest) if isinstance(left, Sum) else (left, ())
                left = Sum(first, rest + tuple(self.chain("+", "-", bound)))
        self.depth -= 1
        return left

    def chain(self, direct: str, inverse: str, bound: int) -> Iterator[tuple[str, Node]]:
        while (sign := self.peek().text) in (direct, inverse):
            self.take()
            yield sign, self.operand(bound)

    def prefix(self) -> Node:
        token = self.take()
        if token.kind == "number":
            value = float(token.text)
            if not math.isfinite(value):
                raise self.error(token, f"{token.text} is not a finite number")
            return Number(value)
        if token.kind == "bracket":
            return self.bracketed(token)
        if token.kind == "name":
            return self.named(token)
        if token.text == "-":
            return Negative(self.operand(_MINUS))
        if token.text == "+":
            return self.operand(_MINUS)
        if token.text == "(":
            inside = self.operand(_LOOSEST)
            self.close(token)
            return inside
        found = f"'{token.text}' was found" if token.text else "the formula ends"
        raise self.error(token, f"{found} where {_VALUE_EXPECTED}")

    def bracketed(self, token: _Token) -> Symbol:
        prefix, inside = token.text[:-1].split("[", 1)
        name = inside.strip()
        if prefix not in _BRACKETED:
            hint = nearest(prefix, [known for known in _BRACKETED if len(known) > 1])
            raise self.error(
                token,
                f"'{token.text}' is none of [X], p[X], rate[X], feed[X], initial[X]"
                f"{f'.{hint}' if hint else f'; write {prefix}*[{name}] for a product'}",
            )
        if not name:
            raise self.error(token, f"a name is missing inside '{token.text}'")
        return Symbol(_BRACKETED[prefix], name)

    def named(self, token: _Token) -> Node:
        name, called = token.text, self.peek().text == "("
        if name in FUNCTIONS:
            if not called:
                raise self.error(token, f"the function {name} needs its argument in parentheses, for example {name}(x)")
            return self.call(token)
        if called:
            hint = nearest(name, FUNCTIONS)
            advice = f"{hint} Functions are {', '.join(FUNCTIONS)}" if hint else f" Write {name}*(...) for a product"
            raise self.error(token, f"'{name}' is no function.{advice}")
        return Constant("pi") if name == "pi" else Symbol("name", name)

    def call(self, token: _Token) -> Call:
        opening = self.take()
        arguments = [] if self.peek().text == ")" else [self.operand(_LOOSEST)]
        while self.peek().text == ",":
            self.take()
            arguments.append(self.operand(_LOOSEST))
        self.close(opening)
        several = token.text in SEVERAL_ARGUMENTS
        if len(arguments) < 2 if several else len(arguments) != 1:
            expected = "two arguments or more" if several else "one argument"
            raise self.error(
                token, f"{token.text} takes {expected}, but {len(arguments) or 'none'} {'was' if len(arguments) < 2 else 'were'} found"
            )
        return Call(token.text, tuple(arguments))

    def close(self, opening: _Token) -> None:
        token = self.peek()
        if token.kind == "end":
            raise self.error(opening, "the bracket '(' is not closed by ')'")
        if token.text != ")":
            raise self.unexpected(token)
        self.take()

    def unexpected(self, token: _Token) -> ExpressionError:
        """A token that cannot follow a complete value."""
        if token.text == ")":
            return self.error(token, "the bracket ')' was never opened")
        if token.text == ",":
            return self.error(token, "',' separates the arguments of min and max only; write a decimal point as '.'")
        before = self.tokens[self.next - 1].text
        joined = f", or '{before}{token.text}' without the space" if before in _BRACKETED and token.kind == "bracket" else ""
        return self.error(token, f"'{token.text}' was found where {_OPERATOR_EXPECTED}; write '*' between factors{joined}")


# --------------------------------------------------------------------------------------------------------------- to the text


def to_text(expression: Expression | Node) -> str:
    """The formula in its tidy spelling, with no more parentheses than it needs; `parse` reads it back as the same formula.

    >>> to_text(parse("((k1 * [A])*([B]))/((1+(K*[A]))**2)"))
    'k1*[A]*[B]/(1 + K*[A])^2'
    """
    return _written(expression.root if isinstance(expression, Expression) else expression, _LOOSEST)


def _written(node: Node, binding: int) -> str:
    """`node` for a place whose neighbours bind as tightly as `binding`."""
    match node:
        case Symbol():
            return str(node)
        case Number(value):
            return str(int(value)) if value.is_integer() and value < 1e15 else repr(value).replace("e-0", "e-").replace("e+", "e")
        case Constant(name):
            return name
        case Call(function, arguments):
            return f"{function}({', '.join(_written(argument, _LOOSEST) for argument in arguments)})"
        case Sum(first, rest):
            text = _written(first, _LOOSEST) + "".join(f" {sign} {_written(term, _ADDITIVE)}" for sign, term in rest)
            own = _ADDITIVE
        case Product(first, rest):
            text = _written(first, _ADDITIVE) + "".join(sign + _written(factor, _MULTIPLICATIVE) for sign, factor in rest)
            own = _MULTIPLICATIVE
        case Negative(operand):
            text, own = "-" + _written(operand, _MULTIPLICATIVE), _MINUS
        case Power(base, exponent):
            text, own = f"{_written(base, _POWER)}^{_written(exponent, _MULTIPLICATIVE)}", _POWER
    return text if own > binding else f"({text})"
