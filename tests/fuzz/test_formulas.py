"""Any text as a formula: read into eight kinds of nodes and nothing else, or refused in words; nothing is executed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from kinetix.errors import ExpressionError, InputError
from kinetix.expression import FUNCTIONS, Call, Constant, Negative, Number, Power, Product, Sum, Symbol, dimension, parse, to_text
from kinetix.expression.syntax import children
from kinetix.units import DIMENSIONLESS
from tests.fuzz.hostile import CODE, nothing_is_executed, texts

NODES = (Call, Constant, Negative, Number, Power, Product, Sum, Symbol)


def nodes(node):
    yield node
    for child in children(node):
        yield from nodes(child)


@given(texts)
def test_any_text_is_a_formula_or_refused_in_one_line(text):
    try:
        with nothing_is_executed():
            expression = parse(text)
    except ExpressionError as error:
        assert all(problem and "\n" not in problem for problem in error.problems)
        return
    for node in nodes(expression.root):
        assert type(node) in NODES
        assert not isinstance(node, Call) or node.function in FUNCTIONS
        assert not isinstance(node, Number) or (math.isfinite(node.value) and node.value >= 0)
    assert parse(to_text(expression)) == expression


@given(texts)
def test_its_dimension_is_found_or_refused_in_words(text):
    try:
        expression = parse(text)
        with nothing_is_executed():
            dimension(expression, lambda symbol: DIMENSIONLESS)
    except InputError as error:
        assert error.problems


@pytest.mark.parametrize("text", CODE)
def test_code_is_no_formula(text):
    with pytest.raises(ExpressionError), nothing_is_executed():
        parse(text)
