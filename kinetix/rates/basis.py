"""What a rate is per, and what it is a function of: the basis of all rate laws of a network.

| basis | rate | for |
|---|---|---|
| `volume` | mol/m^3/s | homogeneous reactions, the default |
| `catalyst_mass` | mol/kg/s | solid catalysts, by their mass |
| `catalyst_area` | mol/m^2/s | solid catalysts, by their surface |
| `turnover` | 1/s | g of product per g of catalyst, molecules per site; rates measured, not integrated |

and the amounts in a law are concentrations or, of ideal gases, partial pressures p_i = c_i R T.
Froment, Bischoff and De Wilde, Chemical Reactor Analysis and Design (3rd ed., Wiley 2011), chapters 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kinetix.constants import GAS_CONSTANT
from kinetix.rates.law import Law, RateFunction, Sides
from kinetix.units import AMOUNT, AREA, CONCENTRATION, DIMENSIONLESS, MASS, PRESSURE, RATE, TIME, Dimension

AMOUNTS = {"concentration": CONCENTRATION, "partial_pressure": PRESSURE}
"""What rate laws may be functions of, by the name used in study files."""


@dataclass(frozen=True)
class Basis:
    """The basis of the rates of a network.

    Attributes:
        name: as in a study file.
        per: what a rate is per, for people.
        rate: dimension of a rate.
        amounts: what mass action, power laws and named laws are functions of: a name in `AMOUNTS`.
    """

    name: str
    per: str
    rate: Dimension
    amounts: str = "concentration"

    @property
    def amount(self) -> Dimension:
        """Dimension of what the laws are functions of."""
        return AMOUNTS[self.amounts]

    def __str__(self) -> str:
        return f"per {self.per}, of {self.amounts.replace('_', ' ')}s"

    def dimension(self, written: Dimension) -> Dimension:
        """The dimension in this basis of a constant that is RATE^a CONCENTRATION^b per volume and in concentrations.

        >>> str(BASES["catalyst_mass"].dimension(RATE / CONCENTRATION))
        'volume/mass/time'
        >>> str(replace(BASES["catalyst_mass"], amounts="partial_pressure").dimension(DIMENSIONLESS / CONCENTRATION))
        '1/pressure'
        """
        a, b = -written.time, written.amount + written.time
        assert written == RATE**a * CONCENTRATION**b, f"{written} is no product of rates and concentrations"
        return self.rate**a * self.amount**b

    def law(self, law: Law) -> Law:
        """A law of the shelf, which is written per volume and in concentrations, in this basis."""
        constants = tuple(replace(c, dimension=None if c.dimension is None else self.dimension(c.dimension)) for c in law.constants)
        return self.amounts_of(replace(law, constants=constants))

    def amounts_of(self, law: Law) -> Law:
        """A law that is written in concentrations, with the amounts of this basis for them; its constants are those of the basis."""
        return law if self.amounts == "concentration" else of_pressures(law)


@dataclass(frozen=True)
class OfPressures:
    """A law's formula with the partial pressures c R T in the place of the concentrations c."""

    rate: RateFunction

    def __call__(self, constants: tuple[Any, ...], sides: Sides, T: Any) -> Any:
        return self.rate(constants, tuple(tuple(c * (GAS_CONSTANT * T) for c in side) for side in sides), T)


def of_pressures(law: Law) -> Law:
    """The law with partial pressures of ideal gases for its concentrations.

    >>> from kinetix.rates import mass_action
    >>> of_pressures(mass_action.law({"A": 2})).text
    'k*p[A]^2'
    """
    # a slot filled up with the number 1 would be a pressure of R T, so these laws are not filled up
    return replace(
        law,
        rate=OfPressures(law.rate),
        text=law.text.replace("[", "p["),
        meaning=law.meaning.replace("[", "p["),
        product=False,
        amounts=frozenset({"partial_pressure"}),
    )


BASES = {
    basis.name: basis
    for basis in (
        Basis("volume", "volume", RATE),
        Basis("catalyst_mass", "catalyst mass", AMOUNT / MASS / TIME),
        Basis("catalyst_area", "catalyst area", AMOUNT / AREA / TIME),
        Basis("turnover", "amount of catalyst (turnover)", DIMENSIONLESS / TIME),
    )
}
"""Bases by the name used in study files."""

VOLUME_BASIS = BASES["volume"]
