"""Several models of the same data: fitted, ranked by information criteria, tested where one is declared a special case of another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import xarray as xr

from kinetix.analyses.comparison import ROUNDING, Criteria, akaike_weights, criteria, nested_test
from kinetix.errors import InputError, ParameterError, Problems, SolveError, nearest
from kinetix.results import (
    ComparisonFacts,
    CrossValidationFacts,
    ModelFacts,
    NestedFacts,
    ReadingFacts,
    comparison_tree,
    fit_tree,
    group_of,
)
from kinetix.results.phrases import count, listing
from kinetix.results.tree import require_fit, time_text
from kinetix.status import Status
from kinetix.studies.cross_validation import NOT_RUN, Folds, Left, cross_validate, folds_of
from kinetix.studies.evaluator import Evaluator
from kinetix.studies.fitting import fit_problem
from kinetix.studies.problem import Problem
from kinetix.studies.readings import Readings, check_same_data, measured_experiments, readings_of_fit, readings_of_problem
from kinetix.studies.starting import SEED

Nested = bool | Sequence[tuple[str, str]]
"""Whether all models are special cases of one another, in the order of their numbers of parameters; or pairs (smaller, larger)."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A fitted model.

    Attributes:
        tree: the result of its fit.
        evaluator: the compiled evaluation of its data, and `theta`, the free coordinates of the fit: what a refit needs. None where only
            the result is at hand.
    """

    tree: xr.DataTree
    evaluator: Evaluator | None = None
    theta: np.ndarray | None = None


def fit_candidate(problem: Problem, name: str = "", **how: Any) -> Candidate:
    """A problem, fitted, with what a refit needs.

    Args:
        problem: what to fit.
        name: with which its errors begin.
        how: further arguments of `fit_problem`.
    """
    kept: list[tuple[Evaluator, np.ndarray]] = []
    begin = f"{name}: " if name else ""
    try:
        facts = fit_problem(problem, on_fitted=lambda evaluator, theta: kept.append((evaluator, theta)), **how)
    except InputError as error:
        raise type(error)(*(f"{begin}{problem}" for problem in error.problems)) from None
    except SolveError as error:
        raise SolveError(f"{begin}{error}") from None
    return Candidate(fit_tree(facts), *kept[0])


def check_comparable(problems: Mapping[str, Problem], nested: Nested = False, folds: Folds | None = None) -> None:
    """That models which are not fitted yet can be compared: what is wrong is told before a fit begins.

    Raises:
        InputError: as `compare_candidates`.
    """
    _check_number(problems)
    _check_least_squares(
        {
            name: (problem.loss is not None, problem.noise is not None, bool(problem.table.priors.any()))
            for name, problem in problems.items()
        }
    )
    readings = {name: readings_of_problem(problem) for name, problem in problems.items()}
    check_same_data(readings)
    _pairs({name: len(problem.table.free) for name, problem in problems.items()}, nested)
    if folds is not None:
        folds_of(measured_experiments(next(iter(readings.values()))), folds)


def _check_number(models: Mapping[str, object]) -> None:
    if len(models) < 2:
        found = f"one, {next(iter(models))}" if models else "none"
        raise InputError(f"A comparison needs two models or more, found {found}.")


def _check_least_squares(models: Mapping[str, tuple[bool, bool, bool]]) -> None:
    """That criteria, which are those of least squares, mean something: no robust loss, no estimated sigma, no priors."""
    refused = [name for name, others in models.items() if any(others)]
    if refused:
        raise InputError(
            f"{listing(refused)}: a comparison knows least squares only, and here a robust loss was minimised, a sigma estimated with the"
            " parameters, or priors took part. Remove [fit] loss and priors, and give the same known sigma to all models, or none."
        )


def compare(
    models: Mapping[str, xr.DataTree | Problem] | Sequence[xr.DataTree | Problem],
    *,
    nested: Nested = False,
    cross_validate: bool = False,
    folds: int | None = None,
    seed: int = SEED,
) -> xr.DataTree:
    """Rank models that were fitted to the same data, and say how clearly one is to be preferred.

    AICc = 2 k - 2 ln L + 2 k (k + 1)/(n - k - 1) and BIC = k ln n - 2 ln L of normal errors, with n measured values and k estimated
    parameters, one more where sigma is not trusted; Akaike weights exp(-delta/2) over their sum. Nested models are tested by the extra sum
    of squares (F), or by the likelihood ratio (chi-square) where sigma is trusted.

    Args:
        models: name -> result of `fit` (or of `read_tree`), or a problem of `candidate` or `read_candidate`, which is then fitted. A
            sequence takes the titles of the fits as names.
        nested: True where each model is a special case of those with more parameters; or the pairs (smaller, larger) of which that is true.
            It is taken as declared.
        cross_validate: refit without each experiment and predict it; needs problems, as a result cannot be fitted again.
        folds: so many groups of experiments, drawn by `seed`, are left out instead of one experiment at a time; implies cross_validate.

    Returns:
        `xarray.DataTree` with the groups models, values, and where asked for nested and cross_validation; `tree.attrs["verdict"]` says
        which model to prefer, `tree.attrs["warnings"]` what stands in the way.

    Raises:
        InputError: models of different data, names that are not known; all problems at once.
        SolveError: a start cannot be simulated.

    Source: K. P. Burnham, D. R. Anderson, Model Selection and Multimodel Inference (2nd ed., 2002); see the page on comparing models.

    >>> import kinetix as kx, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "batch.csv"
    >>> _ = path.write_text("time [min],A [mol/L]\\n1,0.660\\n2,0.505\\n4,0.331\\n8,0.202\\n16,0.109\\n32,0.060\\n")  # 1/(1 + t/2), rounded
    >>> fits = {}
    >>> for order in (1, 2):
    ...     batch = kx.Batch(kx.parse_network("A -> B"), orders={"r1": {"A": order}})
    ...     data, known = kx.read_csv(path, batch), {"initial.A": "1 mol/L", "initial.B": "0 mol/L"}
    ...     fits[f"order {order}"] = kx.fit(batch, data, known=known)
    >>> comparison = kx.compare(fits)
    >>> comparison["models/rank"].values.tolist(), comparison.attrs["verdict"].partition(".")[0]
    ([2, 1], 'order 2 describes these data best')
    """
    named = _named(models)
    _check_number(named)
    problems = {name: model for name, model in named.items() if isinstance(model, Problem)}
    left_out = Folds(folds, seed) if cross_validate or folds is not None else None
    if len(problems) == len(named):
        check_comparable(problems, nested, left_out)
    elif left_out is not None:
        _check_refits(named)
    candidates = {name: fit_candidate(model, name) if isinstance(model, Problem) else Candidate(model) for name, model in named.items()}
    return comparison_tree(compare_candidates(candidates, nested, left_out))


def _named(models: object) -> dict[str, xr.DataTree | Problem]:
    """Models by name, each a result of a fit or a problem.

    Raises:
        InputError: what came instead.
    """
    if isinstance(models, Mapping) and not isinstance(models, xr.DataTree):
        named = {str(name): model for name, model in models.items()}
    elif isinstance(models, Sequence) and not isinstance(models, str):
        titles = [str(m.attrs.get("title", "") if isinstance(m, xr.DataTree) else getattr(m, "title", "")) for m in models]
        distinct = all(titles) and len(set(titles)) == len(titles)
        named = dict(zip(titles if distinct else [f"model {i + 1}" for i in range(len(titles))], models, strict=True))
    else:
        raise InputError(
            f'compare: expected results of fit, as {{"first order": fit1, ...}} or [fit1, fit2], found a {type(models).__name__}.'
        )
    problems = Problems()
    for name, model in named.items():
        if not isinstance(model, Problem):
            with problems.collecting(f"{name}: "):
                require_fit(model)
    problems.raise_if_any(InputError)
    return named


def compare_candidates(
    candidates: Mapping[str, Candidate], nested: Nested = False, folds: Folds | None = None, on_fold: Callable[[], None] | None = None
) -> ComparisonFacts:
    """The comparison of fitted models.

    Args:
        candidates: name -> fitted model.
        nested: see `compare`.
        folds: of the cross-validation; None for none.
        on_fold: called after each fold of each model.

    Raises:
        InputError: they do not fit the same data; what was declared nested is not; a refit is not possible.
    """
    _check_number(candidates)
    attributes = {name: candidate.tree.attrs for name, candidate in candidates.items()}
    _check_least_squares(
        {name: (bool(a.get("loss")), a["sigma_meaning"] == "modelled", bool(a.get("priors"))) for name, a in attributes.items()}
    )
    readings = {name: readings_of_fit(candidate.tree) for name, candidate in candidates.items()}
    check_same_data(readings)
    parameters = {name: int(group_of(candidate.tree, "statistics")["n_parameters"]) for name, candidate in candidates.items()}
    pairs = _pairs(parameters, nested)
    if folds is not None:
        _check_refits({name: candidate.tree if candidate.evaluator is None else None for name, candidate in candidates.items()})
    first = next(iter(readings.values()))
    models = tuple(_model(name, candidate.tree, readings[name], first) for name, candidate in candidates.items())
    usable = np.array([not model.why for model in models])
    delta, weight = akaike_weights(np.where(usable, [model.criteria.aicc for model in models], np.nan))
    rank = np.zeros(len(models), dtype=np.int64)
    order = [i for i in np.argsort(delta, kind="stable") if usable[i]]
    rank[order] = np.arange(1, len(order) + 1)
    statistics = group_of(next(iter(candidates.values())).tree, "statistics")
    by_name = {model.name: model for model in models}
    return ComparisonFacts(
        models=models,
        readings=_reading_facts(first),
        sigma_meaning=first.sigma_meaning,
        ssr_unit=str(statistics["ssr"].attrs["units"]),
        s_unit=str(statistics["s"].attrs["units"]),
        delta=delta,
        weight=weight,
        rank=rank,
        nested=tuple(_nested(by_name[small], by_name[large], len(first.at), first.sigma_meaning) for small, large in pairs),
        cross_validation=None if folds is None else _crossed(candidates, first, folds, on_fold),
        provenance={
            name: value
            for name, value in next(iter(candidates.values())).tree.attrs.items()
            if name in ("kinetix_version", "jax_version", "dtype", "data_hash", "date")
        },
    )


def _pairs(parameters: Mapping[str, int], nested: Nested) -> list[tuple[str, str]]:
    """Pairs (smaller, larger) of models as declared.

    Raises:
        ParameterError: a name that is not known; models of which neither has more parameters.
    """
    if nested is False:
        return []
    if nested is True:
        pairs = list(pairwise(sorted(parameters, key=lambda name: parameters[name])))
    else:
        pairs = [(str(small), str(large)) for small, large in nested]
    problems = Problems()
    for name in dict.fromkeys(name for pair in pairs for name in pair):
        if name not in parameters:
            problems.add(f"nested: there is no model '{name}' (known: {', '.join(parameters)}).{nearest(name, parameters)}")
    problems.raise_if_any(ParameterError)
    for small, large in pairs:
        if parameters[small] >= parameters[large]:
            number = f"{count(parameters[small], 'estimated parameter')}, {large} {parameters[large]}"
            problems.add(
                f"nested: {small} has {number}. A special case of another model has fewer, the others being fixed in it; declare only"
                f" such pairs."
            )
    problems.raise_if_any(ParameterError)
    return pairs


def _check_refits(models: Mapping[str, object]) -> None:
    missing = [name for name, model in models.items() if isinstance(model, xr.DataTree)]
    if missing:
        raise InputError(
            f"cross_validate: {listing(missing)} {'is the result' if len(missing) == 1 else 'are results'} of a fit, which cannot be"
            f" fitted again."
            " Give problems instead: kinetix.candidate(reactor, campaign, start, ...), with the arguments of kinetix.fit, or"
            " kinetix.read_candidate(STUDY)."
        )


def _model(name: str, tree: xr.DataTree, own: Readings, first: Readings) -> ModelFacts:
    statistics = group_of(tree, "statistics")
    number = {key: float(statistics[key]) for key in ("ssr", "s", "p_value")}
    status, p, n = Status(int(tree.attrs["status"])), int(statistics["n_parameters"]), int(statistics["n_observations"])
    trusted = own.sigma_meaning == "trusted"
    # the numbers of a model without an answer are no criteria
    log_weights = float(np.sum(np.log([reading.weight for reading in own.at.values()])))
    found = criteria(number["ssr"] if status.ok else np.nan, n, p, trusted=trusted, log_weights=log_weights)
    return ModelFacts(
        name=name,
        title=str(tree.attrs["title"]),
        status=status,
        n_parameters=p,
        ssr=number["ssr"],
        s=number["s"],
        p_value=number["p_value"],
        criteria=found,
        why=_left_out(status, number["ssr"], n, p, found),
        predicted=np.array([own.at[place].predicted for place in first.at]),
        standardised=np.array([own.at[place].standardised for place in first.at]),
        n_warnings=len(str(tree.attrs["warnings"]).splitlines()),
        remarks=tuple(_remarks(tree, status)),
    )


def _left_out(status: Status, ssr: float, n: int, p: int, found: Criteria) -> str:
    if not status.ok:
        return f"its fit did not converge ({status.label})"
    if not np.isfinite(found.bic):
        return (
            "its residuals are all zero, so that no scatter can be estimated from them; give a sigma" if ssr == 0 else "it has no objective"
        )
    if not np.isfinite(found.aicc):
        sigma = "" if found.counted == p else " and sigma"
        return f"{count(p, 'parameter')}{sigma} are too many for {count(n, 'measured value')}: AICc needs at least {found.counted + 2}"
    return ""


def _remarks(tree: xr.DataTree, status: Status) -> list[str]:
    parameters = group_of(tree, "parameters")
    bounds = [str(name) for name, side in zip(parameters["parameter"].values, parameters["at_bound"].values, strict=True) if side]
    found = []
    if status == Status.FLAT:
        found.append("the data do not determine all of its parameters; criteria and tests count them all the same, which is against it.")
    if bounds:
        found.append(f"{listing(bounds)} ended on a bound; criteria and tests count {'it' if len(bounds) == 1 else 'them'} as estimated.")
    return found


def _nested(small: ModelFacts, large: ModelFacts, n: int, sigma_meaning: str) -> NestedFacts:
    usable = small.status.ok and large.status.ok
    ssr = [model.ssr if usable else np.nan for model in (small, large)]
    test = nested_test(ssr[0], small.n_parameters, ssr[1], large.n_parameters, n, trusted=sigma_meaning == "trusted")
    why = ""
    if not usable:
        why = f"the fit of {listing([model.name for model in (small, large) if not model.status.ok])} did not converge"
    elif large.ssr > small.ssr * (1 + ROUNDING):
        why = (
            f"{large.name} fits worse, which the best fit of a model that holds {small.name} cannot: it is another optimum (try"
            f" --starts), or"
            " they are not nested"
        )
    elif not np.isfinite(test.p_value):
        why = "no degree of freedom is left" if test.dof <= 0 else "no residual is left to compare with"
    return NestedFacts(small.name, large.name, test, why)


def _reading_facts(first: Readings) -> ReadingFacts:
    unit = first.time_unit
    return ReadingFacts(
        experiment=tuple(place.experiment for place in first.at),
        response=tuple(place.response for place in first.at),
        unit=tuple(first.units[place.response] for place in first.at),
        observed=np.array([reading.observed for reading in first.at.values()]),
        t=None if unit is None else np.array([float(unit.from_si(place.t)) for place in first.at]),
        time_unit="" if unit is None else time_text(unit),
    )


def _crossed(
    candidates: Mapping[str, Candidate], first: Readings, folds: Folds, on_fold: Callable[[], None] | None
) -> CrossValidationFacts:
    experiments = measured_experiments(first)
    fold = folds_of(experiments, folds)
    number = int(fold.max()) + 1
    fold_of = {name: int(own) for name, own in zip(experiments, fold, strict=True)}
    values = np.bincount([fold_of[place.experiment] for place in first.at], minlength=number)
    left: list[list[Left]] = []
    for candidate in candidates.values():
        assert candidate.evaluator is not None and candidate.theta is not None
        stopped = bool(left) and left[-1][-1].status == Status.STOPPED
        left.append([NOT_RUN] * number if stopped else cross_validate(candidate.evaluator, candidate.theta, fold_of, number, on_fold))
    return CrossValidationFacts(
        experiments=experiments,
        fold=fold,
        values=values,
        error=np.array([[one.error for one in row] for row in left]),
        status=np.array([[int(one.status) for one in row] for row in left], dtype=np.int64),
        why=tuple(tuple(one.why for one in row) for row in left),
        seed=None if number == len(experiments) else folds.seed,
    )
