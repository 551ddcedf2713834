"""Enzyme kinetics after Michaelis and Menten, with inhibition.

    plain           r = Vmax [S]/(Km + [S])
    competitive     r = Vmax [S]/(Km (1 + [I]/Ki) + [S])
    uncompetitive   r = Vmax [S]/(Km + [S] (1 + [I]/Ki))
    substrate       r = Vmax [S]/(Km + [S] + [S]^2/Ki)

Vmax is a rate, Km and Ki are concentrations. L. Michaelis and M. L. Menten, Biochem. Z. 49 (1913) 333; A. Cornish-Bowden,
Fundamentals of Enzyme Kinetics (4th ed., Wiley-Blackwell 2012), chapters 2 and 6; substrate inhibition: J. B. S. Haldane,
Enzymes (Longmans 1930).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinetix.errors import ParameterError, nearest
from kinetix.rates.book import Book, Formula, Orders, one_species
from kinetix.units import CONCENTRATION, RATE

_INHIBITIONS = {
    "competitive": "Vmax*[{S}]/(Km*(1 + [{I}]/Ki) + [{S}])",
    "uncompetitive": "Vmax*[{S}]/(Km + [{S}]*(1 + [{I}]/Ki))",
    "substrate": "Vmax*[{S}]/(Km + [{S}] + [{S}]^2/Ki)",
}


def write(reactants: Orders, products: Orders, options: Mapping[str, Any]) -> Formula:
    """The law for one reaction; the substrate is its reactant unless said otherwise."""
    del products
    name = "michaelis_menten"
    others = {species: n for species, n in reactants.items() if species != options.get("inhibitor")}
    substrate = one_species(options, "substrate", others, name)
    kind = options.get("inhibition")
    constants = {"Vmax": RATE, "Km": CONCENTRATION}
    if kind is None:
        if "inhibitor" in options:
            raise ParameterError(f'law \'{name}\': an inhibitor without a kind. Write inhibition = "competitive" or "uncompetitive".')
        return Formula(f"Vmax*[{substrate}]/(Km + [{substrate}])", constants, frozenset({"Km"}))
    if kind not in _INHIBITIONS:
        raise ParameterError(f"law '{name}': inhibition is {kind!r}; known: {', '.join(_INHIBITIONS)}.{nearest(str(kind), _INHIBITIONS)}")
    inhibitor = substrate if kind == "substrate" else one_species(options, "inhibitor", {}, name)
    return Formula(_INHIBITIONS[kind].format(S=substrate, I=inhibitor), {**constants, "Ki": CONCENTRATION}, frozenset({"Km", "Ki"}))


BOOK = Book(
    "michaelis_menten",
    "Vmax [S]/(Km + [S])",
    {
        "substrate": "the species S; default: the only reactant that is no inhibitor",
        "inhibition": "competitive, uncompetitive or substrate",
        "inhibitor": "the species I of competitive and uncompetitive inhibition",
    },
    write,
    "Michaelis & Menten, Biochem. Z. 49 (1913) 333",
)
