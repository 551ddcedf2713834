"""Surface reactions after Langmuir, Hinshelwood, Hougen and Watson: kinetic factor, driving force, adsorption term.

    r = k prod [reactants] / (1 + sum_i K_i [i] + sum_j sqrt(K_j [j]))^sites
    r = k (prod [reactants] - prod [products]/K) / (...)^sites

k has the unit of mass action; the second form, with an equilibrium constant K, is that of `equilibrium = true`. K_i (of the adsorbed
species i, and j of those that dissociate on adsorption) are reciprocal concentrations, with a temperature dependence by van 't Hoff
where the study says so.

O. A. Hougen and K. M. Watson, Chemical Process Principles, part 3 (Wiley 1947); G. F. Froment, K. B. Bischoff and J. De Wilde,
Chemical Reactor Analysis and Design (3rd ed., Wiley 2011), chapter 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinetix.errors import ParameterError
from kinetix.rates.book import Book, Formula, Orders, product, several_species
from kinetix.units import CONCENTRATION, DIMENSIONLESS, RATE, Dimension

_NAME = "langmuir_hinshelwood"


def write(reactants: Orders, products: Orders, options: Mapping[str, Any]) -> Formula:
    """The law for one reaction."""
    adsorbed, dissociated = several_species(options, "adsorbed", _NAME), several_species(options, "dissociated", _NAME)
    if not adsorbed and not dissociated:
        raise ParameterError(f"law '{_NAME}' needs the species that cover the surface. Write adsorbed = [\"A\", ...].")
    sites = options.get("sites", 1)
    if isinstance(sites, bool) or not isinstance(sites, int) or not 1 <= sites <= 4:
        raise ParameterError(
            f"law '{_NAME}': sites is {sites!r}; expected a whole number from 1 to 4, the exponent of the adsorption term."
        )
    equilibrium = options.get("equilibrium", False)
    if not isinstance(equilibrium, bool):
        raise ParameterError(f"law '{_NAME}': equilibrium is {equilibrium!r}; expected true or false.")
    order = sum(reactants.values())
    constants: dict[str, Dimension] = {"k": RATE / CONCENTRATION**order}
    force = product(reactants)
    if equilibrium:
        constants["K"] = CONCENTRATION ** (sum(products.values()) - order)
        force = f"({force} - {product(products)}/K)"
    terms = ["1"]
    for name in adsorbed:
        constants[f"K_{_symbol(name)}"] = DIMENSIONLESS / CONCENTRATION
        terms.append(f"K_{_symbol(name)}*[{name}]")
    for name in dissociated:
        constants[f"K_{_symbol(name)}"] = DIMENSIONLESS / CONCENTRATION
        terms.append(f"sqrt(K_{_symbol(name)}*[{name}])")
    exponent = f"^{sites}" if sites != 1 else ""
    return Formula(f"k*{force}/({' + '.join(terms)}){exponent}", constants, frozenset(constants) - {"k"})


def _symbol(species: str) -> str:
    """A species' name as part of a constant's name."""
    return "".join(c if c.isalnum() or c == "_" else "_" for c in species)


BOOK = Book(
    _NAME,
    "k (prod [reactants] - prod [products]/K)/(1 + sum K_i [i])^sites",
    {
        "adsorbed": "species that cover sites, each with a constant K_<species>",
        "dissociated": "species that dissociate on adsorption: sqrt(K [i])",
        "sites": "exponent of the adsorption term; default 1",
        "equilibrium": "true: driving force with an equilibrium constant K; default false",
    },
    write,
    "Hougen & Watson, Chemical Process Principles 3 (1947)",
)
