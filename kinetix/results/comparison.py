"""Facts of a comparison of models -> labelled xarray data, ready for netCDF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import xarray as xr

from kinetix.analyses.comparison import Criteria, NestedTest
from kinetix.errors import InputError
from kinetix.results.facts import Floats
from kinetix.results.phrases import listing
from kinetix.results.ranking import Judged, Ranked, ranking_verdict, ranking_warnings
from kinetix.results.tree import dataset, texts, with_meanings
from kinetix.status import Status


@dataclass(frozen=True, eq=False)
class ModelFacts:
    """One of the models, as fitted.

    `ssr_unit` is "1" where sigma was given. `criteria` are NaN where the model is left out of the ranking; `why` then says why. `predicted`
    and `standardised` (value,) are in the order of the readings: predictions in the responses' units, residuals over their standard
    deviation.
    """

    name: str
    title: str
    status: Status
    n_parameters: int
    ssr: float
    s: float
    p_value: float
    criteria: Criteria
    why: str
    predicted: Floats
    standardised: Floats
    n_warnings: int = 0
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ReadingFacts:
    """The measured values that all models were fitted to (value,). `t` is None where nothing depends on time."""

    experiment: tuple[str, ...]
    response: tuple[str, ...]
    unit: tuple[str, ...]
    observed: Floats
    t: Floats | None
    time_unit: str


@dataclass(frozen=True, eq=False)
class NestedFacts:
    """A test of a model that is a special case of a larger one; `why` says why there is none."""

    smaller: str
    larger: str
    test: NestedTest
    why: str = ""


@dataclass(frozen=True, eq=False)
class CrossValidationFacts:
    """Refits without each of F folds of experiments, and the sum of squared weighted errors with which each of M models predicts the fold.

    `error` (M, F) is NaN where the refit or the prediction failed; `status` (M, F) says how the refit ended and `why` (M, F) what failed,
    "" where nothing did. `fold` gives the fold of each of `experiments`; `values` (F,) counts measured values. `seed` is None where a"
    " fold is an
    experiment.
    """

    experiments: tuple[str, ...]
    fold: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64]
    error: Floats
    status: npt.NDArray[np.int64]
    why: tuple[tuple[str, ...], ...]
    seed: int | None


@dataclass(frozen=True, eq=False)
class ComparisonFacts:
    """Everything that a comparison found.

    `delta`, `weight` (model,) are differences of AICc to the smallest and Akaike weights; `rank` counts from 1, 0 where a model is left
    out. `ssr_unit` and `s_unit` are texts.
    """

    models: tuple[ModelFacts, ...]
    readings: ReadingFacts
    sigma_meaning: str
    ssr_unit: str
    s_unit: str
    delta: Floats
    weight: Floats
    rank: npt.NDArray[np.int64]
    nested: tuple[NestedFacts, ...] = ()
    cross_validation: CrossValidationFacts | None = None
    provenance: Mapping[str, str | int | float] = field(default_factory=dict)


def comparison_tree(facts: ComparisonFacts) -> xr.DataTree:
    """A comparison as labelled data in groups: /models, /values and, where they were asked for, /nested and /cross_validation.

    Dimensions and meanings are those of `kinetix.results.schema.VARIABLES`. The root's attributes hold the verdict, warnings (one per
    line), how sigma is meant and provenance.

    Args:
        facts: what the comparison found.
    """
    ranked = [_ranked(facts, i) for i in range(len(facts.models))]
    tested = [
        Judged(one.smaller, one.larger, one.test.kind, one.test.statistic, one.test.more, one.test.dof, one.test.p_value, one.why)
        for one in facts.nested
    ]
    root = {
        "verdict": ranking_verdict(ranked, tested, facts.sigma_meaning),
        "warnings": "\n".join(dict.fromkeys([*ranking_warnings(ranked, tested), *_one_sigma(facts)])),
        "sigma_meaning": facts.sigma_meaning,
        "n_observations": len(facts.readings.observed),
        **facts.provenance,
    }
    groups = {"/": xr.Dataset(attrs=root), "/models": _models(facts, ranked), "/values": _values(facts)}
    if facts.nested:
        groups["/nested"] = _nested(facts)
    if facts.cross_validation is not None:
        groups["/cross_validation"] = _cross_validation(facts, facts.cross_validation)
    return xr.DataTree.from_dict(groups)


def is_comparison(tree: object) -> bool:
    """Whether a result is that of a comparison.

    >>> is_comparison(xr.DataTree.from_dict({"statistics": xr.Dataset()}))
    False
    """
    return isinstance(tree, xr.DataTree) and "models" in tree.children


def require_comparison(tree: object) -> xr.DataTree:
    """The tree, if it is the result of a comparison.

    Raises:
        InputError: it is not.
    """
    if not (isinstance(tree, xr.DataTree) and is_comparison(tree)):
        raise InputError("Expected the result of a comparison (of kinetix.compare, or read_tree of a comparison.nc).")
    return tree


def _one_sigma(facts: ComparisonFacts) -> list[str]:
    """A sentence where one standard deviation stands for responses that nobody said are alike."""
    responses = list(dict.fromkeys(facts.readings.response))
    if facts.sigma_meaning != "estimated" or len(responses) < 2:
        return []
    return [
        f"No sigma is given, so that the criteria take one standard deviation for {listing(responses)}, in the units of their columns. If"
        " these differ, give one for each in [noise]: it may change the ranking."
    ]


def _ranked(facts: ComparisonFacts, i: int) -> Ranked:
    model, crossed = facts.models[i], facts.cross_validation
    failures = () if crossed is None else tuple(f"without {_fold(crossed, f)}: {why}" for f, why in enumerate(crossed.why[i]) if why)
    return Ranked(
        name=model.name,
        n_parameters=model.n_parameters,
        delta=float(facts.delta[i]),
        weight=float(facts.weight[i]),
        bic=model.criteria.bic,
        p_value=model.p_value,
        prediction_error=float("nan") if crossed is None else rms_of(crossed)[i],
        crossed=crossed is not None,
        why=model.why,
        remarks=model.remarks,
        failures=failures,
    )


def _fold(crossed: CrossValidationFacts, fold: int) -> str:
    names = [name for name, own in zip(crossed.experiments, crossed.fold, strict=True) if own == fold]
    return f"experiment '{names[0]}'" if len(names) == 1 else f"fold {fold} ({len(names)} experiments)"


def rms_of(crossed: CrossValidationFacts) -> list[float]:
    """Root of the mean squared weighted prediction error of each model; NaN where a fold failed."""
    return [float(np.sqrt(row.sum() / crossed.values.sum())) for row in crossed.error]


def _units(facts: ComparisonFacts) -> dict[str, str]:
    return {"objective^2": facts.ssr_unit, "objective": facts.s_unit}


def _models(facts: ComparisonFacts, ranked: list[Ranked]) -> xr.Dataset:
    models = facts.models
    values = {
        "model": texts([model.name for model in models]),
        "title": texts([model.title for model in models]),
        "status": np.asarray([int(model.status) for model in models], dtype=np.int64),
        "n_parameters": np.asarray([model.n_parameters for model in models], dtype=np.int64),
        "n_counted": np.asarray([model.criteria.counted for model in models], dtype=np.int64),
        "ssr": [model.ssr for model in models],
        "s": [model.s for model in models],
        "p_value": [model.p_value for model in models],
        "log_likelihood": [model.criteria.log_likelihood for model in models],
        "aic": [model.criteria.aic for model in models],
        "aicc": [model.criteria.aicc for model in models],
        "delta": facts.delta,
        "weight": facts.weight,
        "bic": [model.criteria.bic for model in models],
        "rank": facts.rank,
        "n_warnings": np.asarray([model.n_warnings for model in models], dtype=np.int64),
        "why": texts([model.why for model in models]),
    }
    if facts.cross_validation is not None:
        values["prediction_error"] = [one.prediction_error for one in ranked]
    return with_meanings(dataset("models", values, _units(facts)))


def _values(facts: ComparisonFacts) -> xr.Dataset:
    readings = facts.readings
    values = {
        "model": texts([model.name for model in facts.models]),
        "value_experiment": texts(readings.experiment),
        "value_response": texts(readings.response),
        "value_unit": texts(readings.unit),
        "observed": readings.observed,
        "predicted": np.stack([model.predicted for model in facts.models]),
        "standardised": np.stack([model.standardised for model in facts.models]),
    }
    units = {"response": readings.unit[0] if len(set(readings.unit)) == 1 else "see coordinate value_unit"}
    if readings.t is not None:
        values["t"] = readings.t
        units["time"] = readings.time_unit
    return dataset("values", values, units).set_coords(["value_experiment", "value_response", "value_unit"])


def _nested(facts: ComparisonFacts) -> xr.Dataset:
    nested = facts.nested
    values = {
        "smaller": texts([one.smaller for one in nested]),
        "larger": texts([one.larger for one in nested]),
        "kind": texts([one.test.kind for one in nested]),
        "statistic": [one.test.statistic for one in nested],
        "more": np.asarray([one.test.more for one in nested], dtype=np.int64),
        "dof": [one.test.dof for one in nested],
        "p_value": [one.test.p_value for one in nested],
        "why": texts([one.why for one in nested]),
    }
    return dataset("nested", values, {})


def _cross_validation(facts: ComparisonFacts, crossed: CrossValidationFacts) -> xr.Dataset:
    values = {
        "model": texts([model.name for model in facts.models]),
        "experiment": texts(crossed.experiments),
        "fold_of": crossed.fold,
        "fold_values": crossed.values,
        "prediction_ssr": crossed.error,
        "status": crossed.status,
        "why": np.array([list(row) for row in crossed.why], dtype=str).reshape(crossed.error.shape),
    }
    seed = {} if crossed.seed is None else {"seed": crossed.seed}
    return with_meanings(dataset("cross_validation", values, _units(facts), seed))
