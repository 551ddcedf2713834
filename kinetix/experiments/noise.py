"""How readings scatter: a standard deviation with a constant part and one relative to the value, known or estimated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetix.parameters import Estimate
from kinetix.units import Quantity


@dataclass(frozen=True)
class Noise:
    """A standard deviation with a part that is constant and a part that grows with the value y.

        sigma = sqrt(constant^2 + (relative y)^2)

    Where both parts are known, y is the measured value. Where a part is estimated, y is the predicted one, as the likelihood has it.

    Attributes:
        constant: a quantity, or a number in SI; 0 where there is none; an `Estimate` where the fit finds it.
        relative: share of the value; 0 where there is none; an `Estimate` where the fit finds it.

    >>> Noise(3.0, 0.04).at(np.array([0.0, 100.0])).tolist()
    [3.0, 5.0]

    Source: D. M. Rocke and S. Lorenzato, Technometrics 37 (1995) 176.
    """

    constant: Quantity | Estimate | float = 0.0
    relative: Estimate | float = 0.0

    @property
    def estimated(self) -> bool:
        """Whether the fit finds a part of it."""
        return isinstance(self.constant, Estimate) or isinstance(self.relative, Estimate)

    def at(self, values: np.ndarray) -> np.ndarray:
        """Standard deviations of measured values, SI.

        Raises:
            TypeError: a part is estimated.
        """
        if isinstance(self.constant, Estimate) or isinstance(self.relative, Estimate):
            raise TypeError("the standard deviation is estimated")
        constant = self.constant.si if isinstance(self.constant, Quantity) else self.constant
        return np.hypot(constant, self.relative * values)
