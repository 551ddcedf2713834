"""Priors of a study: where they make sense, in words, and where the data disagree with them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetix.errors import ParameterError
from kinetix.parameters import Belief, Parameter, ParameterTable
from kinetix.results.phrases import plain
from kinetix.results.schema import unit_text
from kinetix.studies.problem import Problem

FAR = 2.0
"""Standard deviations of a prior from its center beyond which an estimate contradicts it."""


def check_priors(problem: Problem) -> None:
    """That priors can be weighed against the data.

    Raises:
        ParameterError: the size of the errors of the data is not known, or what is minimised is no sum of squares.
    """
    if not problem.table.priors.any():
        return
    names = [problem.table.names[i] for i in problem.table.free[problem.table.priors]]
    if problem.loss is not None or problem.noise is not None:
        raise ParameterError(
            f"A prior ({names[0]}) beside a robust loss or noise that is estimated is not available yet. Remove one of the two."
        )
    if problem.sigma_meaning != "trusted":
        raise ParameterError(
            f"A prior ({names[0]}) is weighed against the data, so that their standard deviations must be known. Write them in [noise] or a"
            ' column, and [fit] sigma = "trusted".'
        )


def prior_texts(table: ParameterTable) -> Iterator[tuple[int, str]]:
    """Position and prior of each parameter that has one: `prior 60 +- 5 kJ/mol`, `prior 0.1 1/s, factor 2`."""
    for i, parameter in enumerate(table.parameters):
        if parameter.prior is not None and not parameter.fixed:
            yield i, f"prior {_text(parameter, parameter.prior)}"


def _text(parameter: Parameter, prior: Belief) -> str:
    unit = "" if unit_text(parameter.unit) == "1" else parameter.unit.text
    if prior.logarithm:
        return (
            f"{plain(float(parameter.unit.from_si(np.exp(prior.center))), 4)} {unit}".rstrip()
            + f", factor {plain(float(np.exp(prior.width)), 3)}"
        )
    center, width = float(parameter.unit.from_si(prior.center)), prior.width / parameter.unit.factor
    return f"{plain(center, 4)} +- {plain(width, 3)} {unit}".rstrip()


def prior_remarks(problem: Problem, values: np.ndarray) -> Iterator[str]:
    """Sentences about estimates that lie far from what was known before, and where the data said nothing new."""
    table = problem.table
    for i in table.free[table.priors]:
        parameter = table.parameters[i]
        assert parameter.prior is not None
        away, told = parameter.prior.residual(float(values[i]))[0], _text(parameter, parameter.prior)
        if abs(away) > FAR:
            yield (
                f"{parameter.name} ends {plain(abs(away), 2)} standard deviations away from its prior ({told}):"
                " data and prior contradict each other, and the estimate is a compromise of the two. Look at both."
            )
