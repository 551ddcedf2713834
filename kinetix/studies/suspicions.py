"""What a fit may end with that is no error and no answer either, as sentences."""

from __future__ import annotations

import numpy as np

from kinetix.results.phrases import listing
from kinetix.simulation import ReactorModel
from kinetix.studies.problem import Problem


def only_zeros(problem: Problem) -> list[str]:
    """A sentence where a reactor's data hold nothing but zeros, to which constants above zero can only run away."""
    campaign, table = problem.campaign, problem.table
    positive = any(table.parameters[i].scale == "log" for i in table.free)
    if not positive or not isinstance(problem.spoken, ReactorModel) or campaign.values[campaign.mask].any():
        return []
    names = [column.name for i, column in enumerate(campaign.responses) if campaign.mask[..., i].any()]
    number = int(campaign.mask.sum())
    return [
        f"Nothing to fit: {'the only measured value' if number == 1 else f'all {number} measured values'} of {listing(names)}"
        f" {'is' if number == 1 else 'are'} 0, which says nothing of a rate. Look at what was recognised in the data, and use a column"
        " that changes."
    ]


def negative_constants(problem: Problem, values: np.ndarray) -> list[str]:
    """Sentences about estimated constants of rate laws that ended below zero; `values` are those of all parameters, SI."""
    if not isinstance(problem.spoken, ReactorModel):
        return []
    meant = {constant.name for law in problem.spoken.laws for constant in law.constants if constant.positive}
    sentences = []
    for constant in problem.constants:
        p = problem.table.parameters[constant.reference] if constant.reference >= 0 else None
        if p is not None and not p.fixed and values[constant.reference] < 0 and constant.name.partition(".")[2] in meant:
            sentences.append(
                f"{p.name} ended below zero ({float(p.unit.from_si(values[constant.reference])):.6g} {p.unit.text}), where a constant of a"
                ' rate law has no meaning. Remove scale = "linear", or give it a lower bound of 0.'
            )
    return sentences
