"""Estimators, a shelf: methods of least squares behind one interface (`init`, `step`, `done`; see `kinetix.estimation.search`).

Each is a file with its `BOOK`, listed here; other packages are imported where they are used.
"""

from collections.abc import Mapping
from importlib.util import find_spec

from kinetix.errors import ParameterError, nearest
from kinetix.estimation.estimators import adam, adam_then_lm, jaxopt_methods, lbfgs, levenberg_marquardt, scipy_least_squares
from kinetix.estimation.search import Estimator

DEFAULT = "lm"
"""What a fit uses unless it is told otherwise."""

ESTIMATORS: Mapping[str, Estimator] = {
    DEFAULT: levenberg_marquardt.BOOK,
    "adam": adam.BOOK,
    "adam-then-lm": adam_then_lm.BOOK,
    "lbfgs": lbfgs.BOOK,
    "jaxopt-LBFGSB": jaxopt_methods.LBFGSB,
    "jaxopt-LevenbergMarquardt": jaxopt_methods.LEVENBERG_MARQUARDT,
    "scipy-least_squares": scipy_least_squares.BOOK,
}
"""Name -> method."""


def estimator(name: str) -> Estimator:
    """The method of this name.

    Raises:
        ParameterError: there is none, or the package that it needs is not installed.

    >>> estimator("lm").bounded
    True
    """
    if name not in ESTIMATORS:
        *first, last = ESTIMATORS
        raise ParameterError(f"method = {name!r}: expected {', '.join(first)} or {last}.{nearest(str(name), ESTIMATORS)}")
    book = ESTIMATORS[name]
    if book.package and find_spec(book.package) is None:
        raise ParameterError(
            f"method = {name!r} needs {book.package}, which is not installed. Run: pip install {book.package}; or leave the method out."
        )
    return book
