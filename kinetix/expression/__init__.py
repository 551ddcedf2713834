"""One safe grammar for rate laws, responses, ties, column formulas and explicit models: its text, values and dimensions."""

from kinetix.expression.dimensions import dimension
from kinetix.expression.evaluation import evaluate
from kinetix.expression.powers import power
from kinetix.expression.syntax import (
    FUNCTIONS,
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
    SymbolKind,
    names_of,
    parse,
    symbols,
    to_text,
)

__all__ = [
    "FUNCTIONS",
    "Call",
    "Constant",
    "Expression",
    "Negative",
    "Node",
    "Number",
    "Power",
    "Product",
    "Sum",
    "Symbol",
    "SymbolKind",
    "dimension",
    "evaluate",
    "names_of",
    "parse",
    "power",
    "symbols",
    "to_text",
]
