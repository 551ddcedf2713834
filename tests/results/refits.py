"""Facts of refits, made up: one constant known from both sides, an activation energy with an open one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetix.results import BootstrapFacts, FitFacts, InfluenceFacts, ProfileFacts
from kinetix.status import Status
from tests.results.examples import timed_facts


def refitted_facts() -> FitFacts:
    facts = timed_facts()
    names, units, values = facts.parameter_names, facts.units, facts.values_si
    P = len(names)
    factors = np.array([0.9, 1.0, 1.2])
    points = np.broadcast_to(values, (P, 3, P)).copy()
    for i in range(P):
        points[i, :, i] *= factors
    return replace(
        facts,
        profile=ProfileFacts(
            parameter_names=names,
            units=units,
            points_si=points,
            tau=np.tile([-2.5, 0.0, 2.5], (P, 1)),
            ssr=np.tile([9.0, 3.0, 9.0], (P, 1)),
            interval_si=np.stack([0.92 * values, 1.15 * values], axis=1),
            lower_end=("crossed",) * P,
            upper_end=("crossed",) * (P - 1) + ("open",),
            q=2.0,
        ),
        bootstrap=BootstrapFacts(
            kind="residual",
            parameter_names=names,
            units=units,
            draws_si=np.array([0.9 * values, values, 1.1 * values, np.full(P, np.nan)]),
            ssr=np.array([3.0, 2.0, 3.0, np.nan]),
            status=(Status.SUCCESS, Status.SUCCESS, Status.ON_BOUND, Status.NOT_CONVERGED),
            mean_si=values,
            stderr_si=0.1 * values,
            interval_si=np.stack([0.9 * values, 1.1 * values], axis=1),
        ),
        influence=InfluenceFacts(
            parameter_names=names,
            units=units,
            left_out=("run1", "run2", "run3"),
            values_si=np.array([values, 1.2 * values, np.full(P, np.nan)]),
            shift=np.array([np.zeros(P), np.full(P, 2.0), np.full(P, np.nan)]),
            distance=np.array([0.0, 0.8, np.nan]),
            status=(Status.SUCCESS, Status.FLAT, Status.NOT_CONVERGED),
        ),
    )
