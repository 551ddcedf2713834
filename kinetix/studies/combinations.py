"""Combinations of parameters in words: those that the data do not see, and those that are all they see."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetix.analyses.covariance import LinearCovariance, shares
from kinetix.parameters import Parameter, ParameterTable
from kinetix.results.phrases import plain

PART = 0.01
"""Share of a direction from which on a parameter is named in it."""

WHOLE = 1e-3
"""Nearness to a whole number, or to the inverse of one, that makes an exponent that number."""


def null_sentences(table: ParameterTable, theta: np.ndarray, linear: LinearCovariance) -> Iterator[str]:
    """Sentences about combinations of parameters that leave all predictions as they are, to first order; linear ones in their units.

    Where two logarithms make up for each other, the ratio, product or other power law that the data do determine is told with its value.

    Args:
        table: of the problem.
        theta: the estimate, free coordinates (free,).
        linear: its errors.
    """
    parameters = [table.parameters[i] for i in table.free]
    units = np.array([1.0 if p.scale == "log" else p.unit.scale_to_si(1.0) for p in parameters])
    for direction, share in zip(linear.null_directions / units, shares(linear.null_directions, linear.scale), strict=True):
        parts = [int(i) for i in np.argsort(-share, kind="stable") if share[i] > PART]
        if len(parts) > 1:
            largest = direction[max(parts, key=lambda i: abs(direction[i]))]
            terms = " ".join(_term(direction[i] / largest, parameters[i]) for i in parts)
            yield f"the data do not change along {terms}{_determined(parameters, theta, linear, direction, sorted(parts))}"


def _term(coefficient: float, parameter: Parameter) -> str:
    """`-0.019 ln r1.k_ref`, `+1.00 r1.Ea [kJ/mol]`."""
    number = f"{coefficient:+.2f}" if abs(coefficient) >= 0.1 else f"{coefficient:+.2g}"
    if parameter.scale == "log":
        return f"{number} ln {parameter.name}"
    return f"{number} {parameter.name}" + ("" if parameter.unit.dimension.dimensionless else f" [{parameter.unit.text}]")


def _determined(parameters: list[Parameter], theta: np.ndarray, linear: LinearCovariance, direction: np.ndarray, parts: list[int]) -> str:
    """`; only the ratio kf/kr is determined: 1.996 +- 0.037`, where two logarithms make up for each other."""
    if len(parts) != 2 or any(parameters[i].scale != "log" for i in parts):
        return ""
    first, second = parts
    power = -direction[first] / direction[second]  # first times second^power stays as it is
    if abs(power) < 1 - WHOLE:
        first, second, power = second, first, 1 / power
    if abs(power - round(power)) > WHOLE * abs(power):
        return ""
    exponent = round(power)
    gradient = np.zeros(theta.size)
    gradient[first], gradient[second] = 1.0, exponent
    error = float(np.sqrt(linear.propagate(gradient[None])[0, 0]))
    one, other = parameters[first], parameters[second]
    value = float(one.unit.from_si(np.exp(theta[first])) * other.unit.from_si(np.exp(theta[second])) ** exponent)
    sign, word = ("*", "product") if exponent > 0 else ("/", "ratio")
    raised = f"^{abs(exponent)}" if abs(exponent) > 1 else ""
    alike = one.unit.text == other.unit.text and exponent == -1
    unit = "" if alike else f" {one.unit.text or 1} {sign} ({other.unit.text or 1}){raised}"
    told = f"{plain(value, 5)} +- {plain(value * error, 2)}{unit}" if np.isfinite(error) else f"{plain(value, 5)}{unit}"
    return f"; only the {word} {one.name}{sign}{other.name}{raised} is determined, {told}"
