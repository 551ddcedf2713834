"""Facts of comparisons that tests of results, figures and reports share: three models, two responses over time, one model left out."""

from __future__ import annotations

import numpy as np

from kinetix.analyses.comparison import akaike_weights, criteria, nested_test
from kinetix.results import ComparisonFacts, CrossValidationFacts, ModelFacts, NestedFacts, ReadingFacts
from kinetix.status import Status

READINGS = 24
SSR = (3.1, 2.9, 5.5)
PARAMETERS = (2, 3, 2)


def comparison_facts(names: tuple[str, str, str] = ("plain", "inhibited", "lost"), trusted: bool = False) -> ComparisonFacts:
    """The third model did not converge."""
    random = np.random.default_rng(5)
    observed = random.uniform(0.1, 1.0, READINGS)
    models = []
    for i, name in enumerate(names):
        ok = i < 2
        models.append(
            ModelFacts(
                name=name,
                title=f"study of {name}",
                status=Status.SUCCESS if ok else Status.ITERATION_LIMIT,
                n_parameters=PARAMETERS[i],
                ssr=SSR[i],
                s=float(np.sqrt(SSR[i] / (READINGS - PARAMETERS[i]))),
                p_value=0.4 if trusted else np.nan,
                criteria=criteria(SSR[i] if ok else np.nan, READINGS, PARAMETERS[i], trusted=trusted),
                why="" if ok else "its fit did not converge (iteration limit)",
                predicted=observed + 0.1 * (i + 1) * random.normal(size=READINGS),
                standardised=random.normal(size=READINGS),
            )
        )
    delta, weight = akaike_weights([model.criteria.aicc for model in models])
    rank = np.array([1, 2, 0]) if delta[0] == 0 else np.array([2, 1, 0])
    error = np.array([[0.9, 1.1, 1.6], [1.2, np.nan, 1.4], [2.0, 2.0, 2.0]])
    return ComparisonFacts(
        models=tuple(models),
        readings=ReadingFacts(
            experiment=tuple(f"run {1 + i // 8}" for i in range(READINGS)),
            response=("A", "B") * (READINGS // 2),
            unit=("mol/L",) * READINGS,
            observed=observed,
            t=np.repeat(np.arange(READINGS // 2, dtype=float), 2),
            time_unit="min",
        ),
        sigma_meaning="trusted" if trusted else "estimated",
        ssr_unit="1" if trusted else "(mol/L)^2",
        s_unit="1" if trusted else "mol/L",
        delta=delta,
        weight=weight,
        rank=rank,
        nested=(NestedFacts(names[0], names[1], nested_test(SSR[0], 2, SSR[1], 3, READINGS, trusted=trusted)),),
        cross_validation=CrossValidationFacts(
            experiments=("run 1", "run 2", "run 3"),
            fold=np.arange(3),
            values=np.array([8, 8, 8]),
            error=error,
            status=np.array([[0, 0, 0], [0, 5, 0], [0, 0, 0]]),
            why=(("", "", ""), ("", "the fit without it ended badly: the iteration stalled away from a solution", ""), ("", "", "")),
            seed=None,
        ),
        provenance={"kinetix_version": "0.1.0", "date": "2026-12-01 12:00 UTC"},
    )
