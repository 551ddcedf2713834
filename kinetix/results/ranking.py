"""What a comparison of models means, in sentences: which to prefer and how clearly, what the tests say, what stands in the way.

The words for differences of AICc follow Burnham and Anderson (2002), section 2.6: up to 2 substantial support, 4 to 7 considerably less,
from 10 on essentially none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kinetix.results.phrases import listing, plain, probability
from kinetix.results.verdict import REFUTED_P

ALIKE, LESS, NONE = 2.0, 4.0, 10.0
"""Differences of AICc up to which models are not told apart, from which on support is considerably less, from which on there is none."""

NEEDED_P = 0.05
"""Probability of a nested test below which additional parameters count as needed."""

CLOSE = 0.05
"""Share by which prediction errors may differ that are called alike."""

MOST_FAILURES = 3
"""Folds of a model that are told one by one."""


@dataclass(frozen=True)
class Ranked:
    """A model as the sentences need it. `why` is empty, or says why it is left out; numbers are NaN where there is none."""

    name: str
    n_parameters: int
    delta: float
    weight: float
    bic: float
    p_value: float
    prediction_error: float
    crossed: bool
    why: str
    remarks: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judged:
    """A test of nested models, as the sentences need it."""

    smaller: str
    larger: str
    kind: str
    statistic: float
    more: int
    dof: float
    p_value: float
    why: str


def ranking_verdict(models: Sequence[Ranked], tests: Sequence[Judged], sigma_meaning: str) -> str:
    """Some sentences: which model to prefer, by how much, and what else says so or does not.

    >>> A, B = (Ranked(name, p, delta, w, bic, math.nan, math.nan, False, "") for name, p, delta, w, bic in
    ...     [("A", 2, 0.0, 0.993, 10.0), ("B", 3, 10.0, 0.007, 21.0)])
    >>> print(ranking_verdict([A, B], [], "estimated"))
    A describes these data best. B has essentially no support (AICc 10 higher, weight 0.0070).
    """
    ranked = sorted((model for model in models if math.isfinite(model.delta)), key=lambda model: model.delta)
    if not ranked:
        return "No model can be ranked: each of them is left out for the reason that is told."
    if len(ranked) == 1:
        others = [model.name for model in models if model is not ranked[0]]
        sentence = f"There is no ranking: only {ranked[0].name} could be used, and {listing(others)} {_is(others)} left out."
        return " ".join([sentence, *_tests(tests), *_quality(ranked, sigma_meaning)])
    sentences = [*_preferred(ranked), *_by_bic(ranked), *_tests(tests), *_predicting(ranked), *_quality(ranked, sigma_meaning)]
    out = [model.name for model in models if not math.isfinite(model.delta)]
    if out:
        sentences.append(f"{listing(out)} {_is(out)} left out of the ranking.")
    return " ".join(sentences)


def ranking_warnings(models: Sequence[Ranked], tests: Sequence[Judged]) -> list[str]:
    """Every reason to doubt the comparison, as a sentence."""
    return [sentence for model in models for sentence in _of_model(model)] + [
        f"{test.smaller} in {test.larger}: there is no {test.kind} test: {test.why}." for test in tests if test.why
    ]


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _preferred(ranked: Sequence[Ranked]) -> Iterator[str]:
    alike = [model for model in ranked if model.delta <= ALIKE]
    rest = ranked[len(alike) :]
    if len(alike) == 1:
        yield f"{alike[0].name} describes these data best."
    else:
        fewest = min(model.n_parameters for model in alike)
        simplest = [model.name for model in alike if model.n_parameters == fewest]
        far = plain(max(model.delta for model in alike), 2)
        yield f"{listing([model.name for model in alike])} are not distinguishable with these data (AICc differs by up to {far})."
        yield f"{listing(simplest)} {'has' if len(simplest) == 1 else 'have'} the fewest parameters ({fewest})."
    for words in dict.fromkeys(_support(model.delta) for model in rest):
        here = [model for model in rest if _support(model.delta) == words]
        figures = f"AICc {_span([plain(model.delta, 3) for model in here])} higher, weight{'' if len(here) == 1 else 's'}"
        names = listing([model.name for model in here])
        yield f"{names} {'has' if len(here) == 1 else 'have'} {words} ({figures} {_span([_weight(model.weight) for model in here])})."


def _support(delta: float) -> str:
    return "essentially no support" if delta >= NONE else "considerably less support" if delta >= LESS else "less support"


def _span(numbers: Sequence[str]) -> str:
    return numbers[0] if len(set(numbers)) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _weight(weight: float) -> str:
    """An Akaike weight.

    >>> _weight(0.7311), _weight(0.0213), _weight(3e-7)
    ('0.73', '0.021', 'below 1e-6')
    """
    return "below 1e-6" if weight < 1e-6 else f"{weight:#.2g}"


def _by_bic(ranked: Sequence[Ranked]) -> Iterator[str]:
    best = min(ranked, key=lambda model: model.bic)
    if best is not ranked[0] and ranked[0].bic - best.bic > 0:
        ahead = plain(ranked[0].bic - best.bic, 2)
        yield f"By BIC it is {best.name} that comes first, {ahead} lower than {ranked[0].name}."


def _tests(tests: Sequence[Judged]) -> Iterator[str]:
    for test in tests:
        if test.why:
            continue
        number = plain(test.statistic, 3)
        figures = f"F({test.more}, {test.dof:.0f}) = {number}" if test.kind == "F" else f"chi-square({test.more}) = {number}"
        noun = "parameter" if test.more == 1 else f"{test.more} parameters"
        need = f"needs the {noun} that it has beyond" if test.p_value < NEEDED_P else f"is not shown to need the {noun} that it has beyond"
        yield f"{test.larger} {need} {test.smaller} ({figures}, {probability(test.p_value)})."


def _predicting(ranked: Sequence[Ranked]) -> Iterator[str]:
    known = sorted((model for model in ranked if math.isfinite(model.prediction_error)), key=lambda model: model.prediction_error)
    if len(known) < 2:
        return
    best, second = known[:2]
    if second.prediction_error <= (1 + CLOSE) * best.prediction_error:
        close = [model for model in known if model.prediction_error <= (1 + CLOSE) * best.prediction_error]
        errors = _span([plain(model.prediction_error, 3) for model in close])
        yield f"{listing([model.name for model in close])} predict experiments that were left out alike (rms error {errors})."
        return
    figures = f"rms error {plain(best.prediction_error, 3)}, {second.name} {plain(second.prediction_error, 3)}"
    yield f"Experiments that were left out are predicted best by {best.name} ({figures})."


def _quality(ranked: Sequence[Ranked], sigma_meaning: str) -> Iterator[str]:
    if sigma_meaning == "trusted" and all(model.p_value < REFUTED_P for model in ranked):
        best = max(model.p_value for model in ranked)
        yield (
            f"Yet no model agrees with the data within the given sigma ({probability(best)} at best): being the best of them does not make"
            " it right."
        )


def _of_model(model: Ranked) -> Iterator[str]:
    if model.why:
        yield f"{model.name} is left out of the ranking: {model.why}."
    for remark in model.remarks:
        yield f"{model.name}: {remark}"
    if model.failures:
        listed = "; ".join(model.failures[:MOST_FAILURES])
        more = f"; and {len(model.failures) - MOST_FAILURES} more" if len(model.failures) > MOST_FAILURES else ""
        yield f"{model.name}: the cross-validation has no total, because it failed {listed}{more}."
