"""Mars-van Krevelen: a reactant is oxidised by the lattice, which the oxidant refills.

    r = k_red [A] k_ox [O]^n/(k_red [A] s + k_ox [O]^n)

k_red is first order, k_ox has the unit that makes k_ox [O]^n a rate; n (order of the oxidant, often 1/2) and s (oxidant
consumed per reactant) are known numbers. P. Mars and D. W. van Krevelen, Chem. Eng. Sci. 3 (1954, special supplement) 41.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinetix.errors import ParameterError
from kinetix.rates.book import Book, Formula, Orders, one_species
from kinetix.units import CONCENTRATION, RATE


def write(reactants: Orders, products: Orders, options: Mapping[str, Any]) -> Formula:
    """The law for one reaction of a reactant and an oxidant."""
    del products
    name = "mars_van_krevelen"
    oxidant = one_species(options, "oxidant", {}, name)
    reactant = one_species(options, "reactant", {s: n for s, n in reactants.items() if s != oxidant}, name)
    order, share = options.get("order", 0.5), options.get("share", reactants.get(oxidant, 1.0))
    for what, number in (("order", order), ("share", share)):
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not number > 0:
            raise ParameterError(f"law '{name}': {what} is {number!r}; expected a number above 0.")
    power = f"[{oxidant}]" if order == 1 else f"[{oxidant}]^{order:g}"
    text = f"k_red*[{reactant}]*k_ox*{power}/({share:g}*k_red*[{reactant}] + k_ox*{power})"
    return Formula(text, {"k_red": RATE / CONCENTRATION, "k_ox": RATE / CONCENTRATION**order})


BOOK = Book(
    "mars_van_krevelen",
    "k_red [A] k_ox [O]^n/(s k_red [A] + k_ox [O]^n)",
    {
        "oxidant": "the species O",
        "reactant": "the species A; default: the other reactant",
        "order": "n, of the oxidant; default 0.5",
        "share": "s, oxidant consumed per reactant; default: the oxidant's coefficient",
    },
    write,
    "Mars & van Krevelen, Chem. Eng. Sci. 3 (1954) 41",
)
