"""Standard stiff problems of kinetics, each written once: for kinetix as a `System`, for others as a function of numbers.

Robertson: H. H. Robertson, in Numerical Analysis: An Introduction (J. Walsh, ed., 1966), 178. HIRES: E. Schäfer, J. Math. Biology 2, 41
(1975). E5: W. H. Enright, T. E. Hull and B. Lindberg, BIT 15, 10 (1975). The last two with the numbers of E. Hairer and G. Wanner,
Solving Ordinary Differential Equations II, section IV.10. Oregonator: R. J. Field and R. M. Noyes, J. Chem. Phys. 60, 1877 (1974).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np

from kinetix.solvers import System

Terms = Callable[[Any, Any, Any], Sequence[Any]]
"""`(t, y, parameter) -> dy/dt`, component by component."""


@dataclass(frozen=True)
class StiffProblem:
    """An initial value problem with one parameter.

    Attributes:
        name: for people.
        terms: the equations.
        y0: the state at time zero.
        parameter: its usual value.
        end: the usual end.
        scales: of the components at the end, for absolute tolerances.
    """

    name: str
    terms: Terms
    y0: tuple[float, ...]
    parameter: float
    end: float
    scales: tuple[float, ...]

    @cached_property
    def system(self) -> System:
        """The equations for kinetix."""
        return System(lambda t, y, parameter: jnp.stack(self.terms(t, y, parameter)), autonomous=True)

    def rates(self, t: float, y: np.ndarray) -> list[float]:
        """The equations for other solvers."""
        return list(self.terms(t, y.tolist(), self.parameter))


def _robertson(t: Any, y: Any, k: Any) -> Sequence[Any]:
    r1, r2, r3 = k * y[0], 3e7 * y[1] * y[1], 1e4 * y[1] * y[2]
    return r3 - r1, r1 - r2 - r3, r2


def _hires(t: Any, y: Any, k: Any) -> Sequence[Any]:
    exchange = k * y[5] * y[7]
    return (
        -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007,
        1.71 * y[0] - 8.75 * y[1],
        -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4],
        8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
        -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6],
        0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6] - exchange,
        -1.81 * y[6] + exchange,
        1.81 * y[6] - exchange,
    )


def _e5(t: Any, y: Any, A: Any) -> Sequence[Any]:
    B, C, M = 1.1e7, 1.13e3, 1e6
    r1, r2, r3, r4 = A * y[0], B * y[0] * y[2], M * C * y[1] * y[2], C * y[3]
    return -r1 - r2, r1 - r3, r1 - r2 - r3 + r4, r2 - r4


def _oregonator(t: Any, y: Any, s: Any) -> Sequence[Any]:
    return s * (y[1] + y[0] - y[0] * y[1] - 8.375e-6 * y[0] * y[0]), (y[2] - (1 + y[0]) * y[1]) / s, 0.161 * (y[0] - y[2])


ROBERTSON = StiffProblem("Robertson", _robertson, (1.0, 0.0, 0.0), 0.04, 1e5, (1e-2, 1e-7, 1.0))
HIRES = StiffProblem("HIRES", _hires, (1.0, 0, 0, 0, 0, 0, 0, 0.0057), 280.0, 321.8122, (1e-3,) * 8)
E5 = StiffProblem("E5", _e5, (1.76e-3, 0.0, 0.0, 0.0), 7.89e-10, 1e9, (1.76e-3, 1e-9, 1e-9, 1e-9))
OREGONATOR = StiffProblem("Oregonator", _oregonator, (1.0, 2.0, 3.0), 77.27, 360.0, (1.0, 1.0, 1.0))
