"""Estimators, a shelf: methods of least squares behind one interface (`init`, `step`, `done`; see `kinetix.estimation.search`).

Each is a file with its `BOOK`, listed here; other packages are imported where they are used.
"""

from collections.abc import Mapping

from kinetix.errors import ParameterError, nearest
from kinetix.estimation.estimators import levenberg_marquardt, scipy_least_squares
from kinetix.estimation.search import Estimator

DEFAULT = "lm"
"""What a fit uses unless it is told otherwise."""

ESTIMATORS: Mapping[str, Estimator] = {
    DEFAULT: levenberg_marquardt.BOOK,
    "scipy-least_squares": scipy_least_squares.BOOK,
}
"""Name -> method."""


def estimator(name: str) -> Estimator:
    """The method of this name.

    Raises:
        ParameterError: there is none.

    >>> estimator("lm").bounded
    True
    """
    if name not in ESTIMATORS:
        *first, last = ESTIMATORS
        raise ParameterError(f"method = {name!r}: expected {', '.join(first)} or {last}.{nearest(str(name), ESTIMATORS)}")
    return ESTIMATORS[name]
