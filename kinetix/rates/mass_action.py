"""Mass action: the rate is the product of the reactant concentrations, each to the power of its coefficient.

    r = k [A]^a [B]^b ...,     a, b: coefficients on the reactant side

k is concentration^(1 - n)/time for the total order n = a + b + ..., for example 1/s, L/mol/s. There is no factor 1/n!: `2 A -> B` has
r = k [A]^2, and d[A]/dt = -2 r.

C. M. Guldberg and P. Waage, J. prakt. Chem. 19 (1879) 69; O. Levenspiel, Chemical Reaction Engineering (3rd ed., Wiley 1999), chapter 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import mul
from typing import Any

from kinetix.rates.law import Constant, Law, Sides
from kinetix.units import CONCENTRATION, RATE


def rate(constants: tuple[Any, ...], sides: Sides, T: Any) -> Any:
    """r = k [A] [B] ..., mol/m^3/s; a reactant with coefficient 2 stands twice."""
    del T
    return reduce(mul, sides[0], constants[0])


def slots(orders: Mapping[str, float]) -> tuple[str, ...]:
    """Each species as often as its (integer) order says."""
    return tuple(name for name, order in orders.items() for _ in range(int(order)))


def law(orders: Mapping[str, float]) -> Law:
    """Mass action with small integer orders: r = k prod_i [i]^n_i, k in (mol/m^3)^(1 - n)/s.

    There is no factor 1/n!: `2 A -> B` has r = k [A]^2 and d[A]/dt = -2 r.

    >>> law({"A": 2}).text
    'k*[A]^2'
    """
    order = sum(orders.values())
    text = "*".join(["k", *(f"[{name}]" + (f"^{n:g}" if n != 1 else "") for name, n in orders.items())])
    return Law(rate, (Constant("k", RATE / CONCENTRATION**order),), (slots(orders),), text, product=True)
