"""A catalyst that loses activity over its time on stream: separable, of first order.

    r = a r(fresh),   da/dt = -kd a,   a = exp(-kd t_on_stream)

The fresh rate is any law of the shelf or of the user. kd is 1/time, with a temperature dependence of its own; the temperature is taken to
have been the row's own since the catalyst was fresh. Other decays, a = 1/(1 + kd t) for example, are formulas that use `t_on_stream`.

O. Levenspiel, Chemical Reaction Engineering (3rd ed., Wiley 1999), chapter 21; H. S. Fogler, Elements of Chemical Reaction Engineering
(5th ed., Prentice Hall 2016), chapter 10.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kinetix.expression import Symbol, evaluate, parse, to_text
from kinetix.rates.law import ON_STREAM, Constant, Law, RateFunction, Sides
from kinetix.units import DIMENSIONLESS, TIME

ACTIVITY = parse(f"exp(-kd*{ON_STREAM})")
KD = Constant("kd", DIMENSIONLESS / TIME)
CONSTANTS = (KD, Constant(ON_STREAM, TIME, thermal=False, condition=True))


@dataclass(frozen=True)
class Deactivating:
    """A law's formula times the activity; its constants are those of the law, then `CONSTANTS`."""

    fresh: RateFunction

    def __call__(self, constants: tuple[Any, ...], sides: Sides, T: Any) -> Any:
        own = dict(zip((constant.name for constant in CONSTANTS), constants[-len(CONSTANTS) :], strict=True))

        def lookup(symbol: Symbol) -> Any:
            return own[symbol.name]

        return evaluate(ACTIVITY, lookup) * self.fresh(constants[: -len(CONSTANTS)], sides, T)


def deactivating(law: Law) -> Law:
    """The law with a catalyst that loses activity.

    >>> from kinetix.rates import mass_action
    >>> deactivating(mass_action.law({"A": 2})).text
    'exp(-kd*t_on_stream)*(k*[A]^2)'
    """
    return replace(
        law,
        rate=Deactivating(law.rate),
        constants=(*law.constants, *CONSTANTS),
        text=f"{to_text(ACTIVITY)}*({law.text})",
        meaning=f"{law.meaning}, of the fresh catalyst" if law.meaning else "",
    )
