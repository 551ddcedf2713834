"""Eley-Rideal: an adsorbed species reacts with one from the fluid.

    r = k K_A [A] [B]/(1 + K_A [A])

k (1/s) belongs to the coverage K_A [A]/(1 + K_A [A]) and [B]; K_A, called K in parameters, is a reciprocal concentration.
D. D. Eley and E. K. Rideal, Nature 146 (1940) 401; Proc. R. Soc. London A 178 (1941) 429.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinetix.errors import ParameterError
from kinetix.rates.book import Book, Formula, Orders, one_species
from kinetix.units import CONCENTRATION, DIMENSIONLESS, RATE


def write(reactants: Orders, products: Orders, options: Mapping[str, Any]) -> Formula:
    """The law for one reaction of two reactants, one of them adsorbed."""
    del products
    adsorbed = one_species(options, "adsorbed", {}, "eley_rideal")
    others = [name for name in reactants if name != adsorbed]
    if adsorbed not in reactants or len(others) != 1:
        raise ParameterError(
            "law 'eley_rideal' is for two reactants, one of them adsorbed;"
            f" found reactants {', '.join(reactants)} and adsorbed {adsorbed!r}."
        )
    return Formula(
        f"k*K*[{adsorbed}]*[{others[0]}]/(1 + K*[{adsorbed}])",
        {"k": RATE / CONCENTRATION, "K": DIMENSIONLESS / CONCENTRATION},
        frozenset({"K"}),
    )


BOOK = Book(
    "eley_rideal",
    "k K [A] [B]/(1 + K [A])",
    {"adsorbed": "the adsorbed reactant A"},
    write,
    "Eley & Rideal, Nature 146 (1940) 401",
)
