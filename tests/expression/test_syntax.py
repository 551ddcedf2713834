"""The grammar of formulas: what is read, how it is written back, and what an error says."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetix.errors import ExpressionError
from kinetix.expression import FUNCTIONS, Expression, Symbol, names_of, parse, symbols, to_text
from kinetix.expression.syntax import SEVERAL_ARGUMENTS, literal

ATOMS = ["2", "0.5", "1e-3", "3e+20", "pi", "k1", "T", "_x", "τ", "[A]", "p[CO2]", "rate[r1]", "feed[A]", "initial[A]", "[CO2(ads) -*]"]


def _compound(inner):
    binary = st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "^"]), inner).map(lambda parts: f"({parts[0]}){parts[1]}({parts[2]})")
    calls = st.tuples(st.sampled_from([name for name in FUNCTIONS if name not in SEVERAL_ARGUMENTS]), inner).map(
        lambda p: f"{p[0]}({p[1]})"
    )
    several = st.tuples(st.sampled_from(SEVERAL_ARGUMENTS), st.lists(inner, min_size=2, max_size=3)).map(
        lambda p: f"{p[0]}({','.join(p[1])})"
    )
    return st.one_of(binary, inner.map(lambda text: f"-({text})"), calls, several)


FORMULAS = st.recursive(st.sampled_from(ATOMS), _compound, max_leaves=12)


@settings(deadline=None, max_examples=300)
@given(FORMULAS)
def test_text_and_back_is_the_same_formula(text):
    expression = parse(text)
    tidy = to_text(expression)
    assert parse(tidy) == expression
    assert hash(parse(tidy)) == hash(expression)
    assert to_text(parse(tidy)) == tidy
    assert tidy.count("(") <= text.count("(")


@pytest.mark.parametrize(
    ("text", "tidy"),
    [
        ("kf*[A]*[B]/(1+K*[A])^2", "kf*[A]*[B]/(1 + K*[A])^2"),
        ("((a)*(b))*c", "a*b*c"),
        ("a*(b*c)", "a*(b*c)"),
        ("(a+b)+c", "a + b + c"),
        ("a-(b+c)", "a - (b + c)"),
        ("a-(b*c)", "a - b*c"),
        ("a/(b/c)", "a/(b/c)"),
        ("(-x)**2", "(-x)^2"),
        ("-(x**2)", "-x^2"),
        ("-(a*b)", "-(a*b)"),
        ("(-a)*b", "-a*b"),
        ("2^(3^x)", "2^3^x"),
        ("(2^3)^x", "(2^3)^x"),
        ("x^(-1)", "x^-1"),
        ("x^(a*b)", "x^(a*b)"),
        ("+a", "a"),
        ("a*(-b)", "a*-b"),
        ("exp( -Ea/(R*T) )", "exp(-Ea/(R*T))"),
        ("max( a,0 , b)", "max(a, 0, b)"),
        ("a − b·c × d", "a - b*c*d"),
        ("[ A ]", "[A]"),
        ("0.001", "0.001"),
        ("1e-3", "0.001"),
        ("2.0", "2"),
        ("1E22", "1e22"),
        ("0.000000001", "1e-9"),
        ("a\n + b", "a + b"),
    ],
)
def test_tidy_text(text, tidy):
    assert to_text(parse(text)) == tidy


def test_an_expression_is_its_meaning():
    assert parse("k1 * [A]**2") == parse("k1*[A]^2")
    assert len({parse("a + b"), parse("a+b"), parse("(a)+(b)")}) == 1
    assert parse("a + b") != parse("b + a")
    assert str(parse("a+b")) == "a+b"
    assert isinstance(parse("a"), Expression)


def test_symbols_in_the_order_of_first_use():
    expression = parse("k2*p[B]*[A] - k1*[A]^n*rate[r1]/feed[A] + initial[A]*k2 + pi*exp(T)")
    assert symbols(expression) == (
        Symbol("name", "k2"),
        Symbol("pressure", "B"),
        Symbol("concentration", "A"),
        Symbol("name", "k1"),
        Symbol("name", "n"),
        Symbol("rate", "r1"),
        Symbol("feed", "A"),
        Symbol("initial", "A"),
        Symbol("name", "T"),
    )
    assert " ".join(map(str, symbols(expression))) == "k2 p[B] [A] k1 n rate[r1] feed[A] initial[A] T"
    assert names_of(expression, "name") == ("k2", "k1", "n", "T")
    assert names_of(expression, "pressure") == ("B",)


def test_species_names_hold_anything_but_the_closing_bracket():
    assert names_of(parse("[CO2(ads) + *#1]*[n-C4=]"), "concentration") == ("CO2(ads) + *#1", "n-C4=")


@pytest.mark.parametrize(
    ("text", "value"),
    [("2", 2.0), ("-1", -1.0), ("1/2", 0.5), ("-(1/2)", -0.5), ("-1/2", -0.5), ("n", None), ("1/0", None), ("1 + 1", None)],
)
def test_literals(text, value):
    assert literal(parse(text).root) == value


ERRORS = {
    "": ["empty"],
    "  ": ["empty"],
    "2 [A]": ["column 3", "'[A]'", "write '*'"],
    "2x": ["column 2", "write '*'"],
    "[A][B]": ["column 4", "'[B]'", "write '*'"],
    "(a)(b)": ["column 4", "'('", "write '*'"],
    "k1[A]": ["column 1", "'k1[A]'", "k1*[A]"],
    "p [A]": ["column 3", "'p[A]' without the space"],
    "feeds[A]": ["'feeds[A]'", "Did you mean 'feed'?"],
    "lgo(x)": ["column 1", "'lgo'", "Did you mean 'log'?"],
    "1 + epx(x)": ["column 5", "Did you mean 'exp'?"],
    "k1(1 + x)": ["'k1'", "k1*(...)"],
    "exp": ["exp", "parentheses"],
    "exp()": ["exp", "one argument", "none"],
    "exp(a, b)": ["exp", "one argument", "2"],
    "max(a)": ["max", "two arguments", "1"],
    "(a + b": ["column 1", "not closed"],
    "2*(a + (b)": ["column 3", "not closed"],
    "exp(a": ["column 4", "not closed"],
    "a + b)": ["column 6", "never opened"],
    "[A": ["column 1", "not closed"],
    "[]": ["column 1", "name is missing"],
    "a +": ["column 4", "formula ends"],
    "* a": ["column 1", "'*'"],
    "a * / b": ["column 5", "'/'"],
    "()": ["column 2", "')'"],
    "1,5": ["column 2", "decimal point"],
    "(a, b)": ["column 3", "min and max"],
    "1.2.3": ["column 4", "'.3'"],
    "1e999": ["column 1", "finite"],
    "y = 2*x": ["column 3", "'='", "one side"],
    "a < b": ["column 3", "'<'"],
    "x²": ["column 2", "x^2"],
    "x.real": ["column 2", "'.'"],
    "'abc'": ["column 1"],
    '__import__("os").system("true")': ["column 12"],
    "(x).__class__": ["column 4"],
    "lambda x: x": ["column 9", "':'"],
    "a if b else c": ["column 3", "'if'"],
    "a; b": ["column 2", "';'"],
    "a # b": ["column 3", "'#'"],
    "\x00": ["column 1"],
}


@pytest.mark.parametrize(("text", "words"), ERRORS.items())
def test_errors_say_where_and_what_to_write(text, words):
    with pytest.raises(ExpressionError) as error:
        parse(text)
    for word in words:
        assert word in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["(" * 10_000, "(" * 10_000 + "a" + ")" * 10_000, "-" * 10_000 + "a", "2^" * 10_000 + "2", "exp(" * 10_000]
)
def test_deep_nesting_is_an_error_not_a_crash(text):
    with pytest.raises(ExpressionError, match="levels of nesting") as error:
        parse(text)
    assert len(str(error.value)) < 200


def test_deepest_allowed_and_longest_formulas_stay_far_from_the_recursion_limit():
    deep = parse("(1 + " * 45 + "a" + ")" * 45)
    long = parse(" + ".join(f"k{i}*[S{i}]" for i in range(3000)))
    limit = sys.getrecursionlimit()
    frame, used = sys._getframe(), 0
    while frame is not None:
        frame, used = frame.f_back, used + 1
    sys.setrecursionlimit(used + 400)
    try:
        for expression in (deep, long):
            assert parse(to_text(expression)) == expression
            assert hash(expression) == hash(parse(to_text(expression)))
        assert len(symbols(long)) == 6000
        parse.cache_clear()
        parse(deep.text)
    finally:
        sys.setrecursionlimit(limit)
