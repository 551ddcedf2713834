"""Hill's law of cooperative binding.

    r = Vmax [S]^n/(K^n + [S]^n)

Vmax is a rate, K the concentration at half of it, n has no dimension and may be estimated. A. V. Hill, J. Physiol. 40 (1910) iv.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinetix.rates.book import Book, Formula, Orders, one_species
from kinetix.units import CONCENTRATION, DIMENSIONLESS, RATE


def write(reactants: Orders, products: Orders, options: Mapping[str, Any]) -> Formula:
    """The law for one reaction; the substrate is its reactant unless said otherwise."""
    del products
    substrate = one_species(options, "substrate", reactants, "hill")
    # of the ratio [S]/K, so that no unit has a fitted power
    return Formula(
        f"Vmax*([{substrate}]/K)^n/(1 + ([{substrate}]/K)^n)", {"Vmax": RATE, "K": CONCENTRATION, "n": DIMENSIONLESS}, frozenset({"K"})
    )


BOOK = Book(
    "hill",
    "Vmax [S]^n/(K^n + [S]^n)",
    {"substrate": "the species S; default: the only reactant"},
    write,
    "Hill, J. Physiol. 40 (1910) iv",
)
