"""Power law with any orders: fractional, negative, of species that do not react, fitted.

    r = k ([A]/c_ref)^a ([B]/c_ref)^b ...,     c_ref = 1 in the concentration unit that k's unit begins with

k is the rate where every concentration is c_ref, concentration/time, whatever the orders are, so that its unit does not depend on a
parameter. With whole, known orders the law is that of mass action, k in the unit of its order. Near zero a power with a fractional
exponent is continued smoothly to 0, so that rate and derivatives stay finite.

O. Levenspiel, Chemical Reaction Engineering (3rd ed., Wiley 1999), chapters 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinetix.expression import power
from kinetix.rates.law import Constant, Law, Sides
from kinetix.units import CONCENTRATION, DIMENSIONLESS, RATE, Unit


def rate(constants: tuple[Any, ...], sides: Sides, T: Any) -> Any:
    """r = k prod_i (c_i / c_ref)^n_i, mol/m^3/s; finite, with finite derivatives, at zero and small negative c."""
    del T
    k, c_ref, *orders = constants
    for concentration, order in zip(sides[0], orders, strict=True):
        k = k * power(concentration / c_ref, order)
    return k


def law(orders: Mapping[str, float | None], reference: Unit) -> Law:
    """r = k prod_i (c_i / c_ref)^n_i with c_ref = 1 in the concentration unit `reference`, so that k is a rate at c_ref.

    k then has the unit of a rate whatever the orders are, and keeps it while an order is fitted.

    Args:
        orders: by species; None for an order that is a parameter (`r1.order.A`).
        reference: concentration unit, for example mol/L.

    >>> from kinetix.units import parse_unit
    >>> law({"A": 1.5, "B": None}, parse_unit("mol/L")).text
    'k*([A]/c_ref)^1.5*([B]/c_ref)^order.B, c_ref = 1 mol/L'
    """
    factors = [f"([{name}]/c_ref)^{'order.' + name if n is None else format(n, 'g')}" for name, n in orders.items()]
    return Law(
        rate,
        (
            Constant("k", RATE),
            Constant("c_ref", CONCENTRATION, thermal=False, value=reference.factor),
            *(Constant(f"order.{name}", DIMENSIONLESS, thermal=False, value=n, positive=False) for name, n in orders.items()),
        ),
        (tuple(orders),),
        "*".join(["k", *factors]) + f", c_ref = 1 {reference.text}",
        meaning=f"k is the rate where {' = '.join(f'[{name}]' for name in orders)} = 1 {reference.text} (c_ref)",
    )
