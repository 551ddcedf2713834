"""Replicates: values of one response that were measured at exactly the same conditions, and at the same time."""

from __future__ import annotations

import numpy as np

from kinetix.analyses.lack_of_fit import LackOfFit, lack_of_fit
from kinetix.studies.problem import Problem


def points(problem: Problem) -> np.ndarray:
    """A number for each value (lane, time, response), equal where response, time and all conditions are, in SI to the last bit."""
    campaign = problem.campaign
    columns = [campaign.conditions[name][:, None] for name in sorted(campaign.conditions)]
    columns += [part for name in sorted(campaign.programs) for part in campaign.programs[name]]
    lanes = len(campaign.experiments)
    settings = np.concatenate(columns, axis=1) if columns else np.zeros((lanes, 0))
    lane = np.unique(settings + 0.0, axis=0, return_inverse=True)[1].reshape(lanes)
    times = campaign.times
    key = np.stack([np.broadcast_to(lane[:, None], times.shape), times + 0.0], axis=-1).reshape(-1, 2)
    place = np.unique(key, axis=0, return_inverse=True)[1].reshape(times.shape)
    responses = problem.observed.shape[2]
    return place[:, :, None] * responses + np.arange(responses)


def comparable(problem: Problem) -> bool:
    """Whether squares of residuals may be added: they are over a sigma, or in one unit; no loss or noise model fits them."""
    one_unit = len({unit.text for unit in problem.units}) == 1
    return problem.loss is None and problem.noise is None and (problem.sigma_meaning != "estimated" or one_unit)


def replicate_test(problem: Problem, ssr: float, rank: int) -> LackOfFit | None:
    """The lack-of-fit test of a fit; None where nothing was measured twice, or residuals cannot be added."""
    used = problem.weights > 0
    if not comparable(problem):
        return None
    found = lack_of_fit(problem.observed[used], problem.weights[used], points(problem)[used], ssr, rank)
    return found if found.points else None
