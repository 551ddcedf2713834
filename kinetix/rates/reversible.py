"""Reversible mass action: with its own reverse constant, or with an equilibrium constant.

    r = kf prod [reactants] - kr prod [products]
    r = kf (prod [reactants] - prod [products]/K)

kf and kr have the units of mass action, each with a temperature dependence of its own. K is the equilibrium constant in concentrations,
concentration^(products - reactants), with the enthalpy of reaction by van 't Hoff. At equilibrium, r = 0, K = kf/kr.

O. Levenspiel, Chemical Reaction Engineering (3rd ed., Wiley 1999), chapters 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinetix.rates import mass_action
from kinetix.rates.law import Constant, Law, Sides
from kinetix.units import CONCENTRATION, RATE


def rate(constants: tuple[Any, ...], sides: Sides, T: Any) -> Any:
    """r = kf prod [reactants] - kr prod [products], mol/m^3/s."""
    kf, kr = constants
    forward, reverse = sides
    return mass_action.rate((kf,), (forward,), T) - mass_action.rate((kr,), (reverse,), T)


def rate_from_equilibrium(constants: tuple[Any, ...], sides: Sides, T: Any) -> Any:
    """r = kf (prod [reactants] - prod [products] / K), mol/m^3/s."""
    kf, K = constants
    return rate((kf, kf / K), sides, T)


def law(forward: Mapping[str, float], reverse: Mapping[str, float]) -> Law:
    """r = kf prod [reactants] - kr prod [products], each constant with a temperature dependence of its own.

    >>> law({"A": 1}, {"B": 2}).text
    'kf*[A] - kr*[B]^2'
    """
    return _law(rate, Constant("kr", RATE / CONCENTRATION ** sum(reverse.values())), forward, reverse, "{forward} - {reverse}")


def equilibrium_law(forward: Mapping[str, float], reverse: Mapping[str, float]) -> Law:
    """r = kf (prod [reactants] - prod [products] / K), K by van 't Hoff in concentrations: (mol/m^3)^(products - reactants).

    >>> equilibrium_law({"A": 1}, {"B": 2}).text
    'kf*[A] - kf/K*[B]^2'
    """
    difference = sum(reverse.values()) - sum(forward.values())
    return _law(rate_from_equilibrium, Constant("K", CONCENTRATION**difference, enthalpy=True), forward, reverse, "{forward} - {reverse}")


def _law(function: Any, second: Constant, forward: Mapping[str, float], reverse: Mapping[str, float], text: str) -> Law:
    first = Constant("kf", RATE / CONCENTRATION ** sum(forward.values()))
    reverse_constant = "kr" if second.name == "kr" else "kf/K"
    return Law(
        function,
        (first, second),
        (mass_action.slots(forward), mass_action.slots(reverse)),
        text.format(
            forward=mass_action.law(forward).text.replace("k", "kf", 1),
            reverse=mass_action.law(reverse).text.replace("k", reverse_constant, 1),
        ),
        product=True,
    )
