"""What a study says of the loss that is minimised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinetix.errors import Problems, StudyError, nearest
from kinetix.estimation.losses import RHOS, Loss
from kinetix.studies.problem import Problem

NONE = ("linear", "least_squares")
"""Names under which least squares may be written."""


def parse_loss(written: object, where: str = "[fit] loss") -> Loss | None:
    """A loss as a study writes it; None for least squares.

    Args:
        written: a name, or `{ type = "huber", scale = 1.345 }`, for student_t also with `dof`; None where nothing is written.
        where: for messages.

    Raises:
        StudyError: a name that is not known, a scale or degrees of freedom that are not above zero.

    >>> parse_loss({"type": "huber", "scale": 2.0})
    Loss(name='huber', constant=2.0, unit=1.0, shape=4.0)
    """
    table: Mapping[str, Any] = written if isinstance(written, Mapping) else {} if written is None else {"type": written}
    if written is None:
        return None
    problems = Problems()
    name = table.get("type")
    known = ", ".join(RHOS)
    example = f'{where} = "huber", or with its scale {{ type = "huber", scale = 1.345 }}'
    for key in table:
        if key not in ("type", "scale", "dof"):
            problems.add(f"{where}: unknown key '{key}'. Known: type, scale, dof.{nearest(str(key), ('type', 'scale', 'dof'))}")
    if not isinstance(name, str):
        problems.add(f"{where}: expected the name of a loss, one of {known}; found {written!r}. Write {example}.")
    elif name in NONE:
        if len(table) > 1:
            problems.add(f'{where}: "{name}" is least squares, which has neither scale nor dof. Remove them.')
    elif name not in RHOS:
        problems.add(f'{where} = "{name}" is unknown. Known: {known}, and linear for least squares.{nearest(name, RHOS)}')
    elif "dof" in table and not RHOS[name].shaped:
        problems.add(f'{where}: dof (degrees of freedom) is a number of "student_t"; a {name} loss has none. Remove it.')
    for key, of in (("scale", "standard deviations, beyond which a residual counts less"), ("dof", "degrees of freedom")):
        value = table.get(key, 1.0)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < np.inf:
            problems.add(f"{where}: {key} = {value!r}; expected a number of {of}, above 0.")
    problems.raise_if_any(StudyError)
    assert isinstance(name, str)
    if name in NONE:
        return None
    return Loss(name, float(table.get("scale", RHOS[name].constant)), 1.0, float(table.get("dof", 4.0)))


def with_loss(problem: Problem, written: object, where: str = "loss") -> Problem:
    """The problem with a loss as a study writes it.

    Raises:
        StudyError: as `parse_loss`.
    """
    loss = parse_loss(written, where)
    if loss is not None and problem.noise is not None:
        raise StudyError(beside_noise(where))
    return replace(problem, loss=loss)


def beside_noise(where: str = "[fit] loss") -> str:
    """What is wrong with a loss where a sigma is estimated."""
    return f"{where} beside an estimated sigma ([noise]): a robust loss finds the scatter by itself. Keep one of them."
