"""What a fit's numbers mean, in sentences: the verdict, and a warning with its cure for every reason to doubt them.

Thresholds are module constants. They are conventions of the craft: each only decides which words are used, and whether a sentence is
worth the reader's time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetix.analyses.lack_of_fit import LackOfFit
from kinetix.constants import GAS_CONSTANT
from kinetix.results.facts import FitFacts, RobustFacts
from kinetix.results.phrases import correlation, count, how_ended, listing, near_one, plain, probability
from kinetix.results.robust import loss_text, outlier_sentences, outlying
from kinetix.results.schema import unit_text
from kinetix.status import Status
from kinetix.units import Unit

STRONG_CORRELATION = 0.98
MOST_PAIRS = 5
FEW_DEGREES_OF_FREEDOM = 3
DOUBTFUL_P, REFUTED_P = 0.05, 0.001
"""Probabilities of a chi-square at least this large below which agreement is doubtful, and below which there is none. Twenty honest
fits hold one doubtful by chance, a thousand hold one without agreement."""

TOO_GOOD_P = 0.999
"""Probability above which the residuals are smaller than the given sigma can explain."""

COMPUTED = 1e-6
"""Share of the measured values (in the norm of the objective) below which residuals are no scatter: nothing is measured as closely, and
tables of computed values have about six digits."""

SMALL_SIGMA = 0.9
"""Factor of the bias of an estimated sigma below which it is told."""

RANGE_RATIO = 10.0
LARGE_RELATIVE_ERROR = 0.5
MANY_TIMES = 10.0
"""A ratio from which on it is told as a multiple, no longer in percent."""


def verdict(facts: FitFacts) -> str:
    """A few sentences: whether the fit ended well, how well it describes the data, what stands in the way of believing it."""
    counts = f"{count(facts.n_parameters, 'parameter')} from {count(facts.n_observations, 'observation')}"
    if not facts.status.ok:
        return (
            f"The fit did NOT converge after {count(facts.iterations, 'iteration')} ({counts}): {facts.status.sentence}. "
            "The numbers are the best point found, not an answer."
        )
    sentences = [f"The fit converged after {count(facts.iterations, 'iteration')}: {counts}."]
    unknown = _undetermined(facts)
    if unknown:
        sentences.append(f"The data do NOT determine {listing(unknown)}.")
    quality = _quality(facts)
    if quality:
        sentences.append(quality)
    if facts.replicates is not None:
        sentences.append(_between_replicates(facts, facts.replicates))
    held = [name for name, side in zip(facts.parameter_names, facts.at_bound, strict=True) if side]
    if held:
        sentences.append(f"{listing(held)} ended on a bound.")
    return " ".join(sentences)


def warn_sentences(facts: FitFacts) -> list[str]:
    """Every reason to doubt the fit as a sentence that says what to do; empty if there is none."""
    return [
        *_not_converged(facts),
        *_failed_experiments(facts),
        *_without_effect(facts),
        *_flat(facts),
        *_on_bound(facts),
        *_correlated(facts),
        *_poorly_known(facts),
        *_few_degrees_of_freedom(facts),
        *_surprising_chi_square(facts),
        *outlier_sentences(facts),
        *_robust_without_errors(facts),
        *_biased_sigma(facts),
        *_lack_of_fit(facts),
        *_computed(facts),
        *_worse_than_the_mean(facts),
        *_unweighted_ranges(facts),
    ]


def _quality(facts: FitFacts) -> str:
    if facts.dof <= 0:
        return "There are as many parameters as observations, so the data cannot speak against the model."
    if facts.robust is not None:
        return _robust_quality(facts, facts.robust)
    if facts.sigma_meaning == "trusted":
        if not np.isfinite(facts.p_value):
            return ""
        figures = f"(reduced chi-square {facts.reduced_chi_square:.3g}, {probability(facts.p_value)})"
        if facts.p_value < REFUTED_P:
            return f"Model and data do not agree within the given sigma {figures}."
        if facts.p_value < DOUBTFUL_P:
            return f"It is doubtful that model and data agree within the given sigma {figures}."
        if facts.p_value > TOO_GOOD_P:
            return f"The model follows the data more closely than the given sigma allows {figures}."
        return f"Model and data agree within the given sigma {figures}."
    if facts.sigma_meaning == "scaled":
        return f"The residuals are {facts.s:.3g} times the given sigma, and the errors are scaled by that."
    parts = []
    if facts.noise is not None:
        parts.append(f"The scatter was estimated with the parameters (log-likelihood {facts.noise.log_likelihood:.6g})")
    units = {unit_text(unit) for unit in facts.response_units}
    if facts.noise is None and len(units) == 1 and np.isfinite(facts.s):
        parts.append(f"the residuals scatter by {_amount_reported(facts.s, facts.response_units[0], 2)}")
    if np.isfinite(facts.r_squared).any():
        lowest = int(np.nanargmin(facts.r_squared))
        which = "R2 is" if len(facts.responses) == 1 else f"the lowest R2 ({facts.responses[lowest]}) is"
        parts.append(f"{which} {near_one(facts.r_squared[lowest])}")
    sentence = ", ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def _between_replicates(facts: FitFacts, found: LackOfFit) -> str:
    scatter = f"The scatter between replicates is {_scatter(facts, found.pure_error)}"
    return f"{scatter}; lack of fit F = {plain(found.F, 3)}, {probability(found.p_value)}." if np.isfinite(found.F) else f"{scatter}."


def _scatter(facts: FitFacts, size: float) -> str:
    """A standard deviation in the units of the objective."""
    if facts.sigma_meaning == "estimated":
        return _amount_reported(size, facts.response_units[0], 2)
    return f"{plain(size, 2)} times the given sigma"


def _lack_of_fit(facts: FitFacts) -> Iterator[str]:
    found = facts.replicates
    if found is None or list(_computed(facts)):
        return
    if found.p_value < DOUBTFUL_P:
        doubt = "is wrong somewhere" if found.p_value < REFUTED_P else "may be wrong somewhere"
        yield (
            f"Lack of fit: the model misses the means of the replicates by more than these scatter (F = {plain(found.F, 3)} with "
            f"{found.lack_dof} and {found.pure_dof} degrees of freedom, {probability(found.p_value)}). It {doubt}: look at the residuals "
            "for a pattern."
        )
    if found.pure_ssr == 0:
        yield (
            f"The replicates ({found.values} values) are exactly equal. Copies of one reading are no repetitions, yet count as such: leave "
            "them out."
        )


def _robust_quality(facts: FitFacts, robust: RobustFacts) -> str:
    outliers = len(outlying(robust.weights))
    counted = f"{count(outliers, 'value')} of {facts.n_observations} {'counts' if outliers == 1 else 'count'} less than half"
    size = f"{plain(robust.residual_scale, 2)} times the given sigma"
    if facts.sigma_meaning == "estimated":
        units = {unit_text(unit) for unit in facts.response_units}
        size = _amount_reported(robust.residual_scale, facts.response_units[0], 2) if len(units) == 1 else plain(robust.residual_scale, 2)
    return f"With the robust loss ({loss_text(robust)}) {counted}; the residuals scatter by {size} (median)."


def _not_converged(facts: FitFacts) -> Iterator[str]:
    if not facts.status.ok:
        yield f"The fit did not converge ({facts.status.label}): its values are no answer, and its errors and intervals mean nothing."


def _failed_experiments(facts: FitFacts) -> Iterator[str]:
    failed: dict[Status, list[int]] = {}
    for i, status in enumerate(facts.experiment_status):
        if not status.ok:
            failed.setdefault(status, []).append(i)
    unit = facts.time_unit
    for status, members in failed.items():
        noun = "Experiment" if len(members) == 1 else "Experiments"
        reached = 0.0 if unit is None else unit.from_si(facts.experiment_reached_si[members])
        ended = how_ended(status, reached, "" if unit is None else unit.text)
        told = [i for i in members if facts.experiment_why and facts.experiment_why[i]]
        why = f". {facts.experiments[told[0]]}: {facts.experiment_why[told[0]]}" if told else ""
        yield f"{noun} {listing([facts.experiments[i] for i in members])} could not be simulated: {ended}{why}."


def _undetermined(facts: FitFacts) -> list[str]:
    """Estimated parameters that the data do not determine, where there are enough data to say so."""
    return [
        name
        for name, fixed, side, variance in zip(facts.parameter_names, facts.fixed, facts.at_bound, np.diag(facts.correlation), strict=True)
        if not fixed and not side and not np.isfinite(variance)
    ]


def _without_effect(facts: FitFacts) -> Iterator[str]:
    for name in facts.without_effect:
        if facts.status.ok:
            yield (
                f"{name} is not determined by these data, since no measured value changes with it: fix it, or measure something that does."
            )
        else:
            yield f"No measured value changes with {name} where the search ended."


def _flat(facts: FitFacts) -> Iterator[str]:
    for direction in facts.null_directions:
        sentence = direction.rstrip(".")
        yield f"{sentence[:1].upper()}{sentence[1:]}: fix one of these parameters, or measure where they act differently."
    unknown = _undetermined(facts)
    if unknown and not facts.null_directions and not facts.without_effect:
        verb = "has" if len(unknown) == 1 else "have"
        yield (
            f"{listing(unknown)} {verb} no standard error, because the data do not determine "
            f"{'it' if len(unknown) == 1 else 'them'}: fix one parameter, or measure where it matters."
        )


def _on_bound(facts: FitFacts) -> Iterator[str]:
    others = sum(1 for fixed, side in zip(facts.fixed, facts.at_bound, strict=True) if not fixed and not side)
    for index, (name, side) in enumerate(zip(facts.parameter_names, facts.at_bound, strict=True)):
        if side:
            bound = facts.lower_si[index] if side == "lower" else facts.upper_si[index]
            consequence = f", and the errors of the others hold {name} fixed" if others else ""
            yield f"{name} is at its {side} bound {_amount(bound, facts.units[index])}: it has no ordinary standard error{consequence}."


def _correlated(facts: FitFacts) -> Iterator[str]:
    rows, columns = np.triu_indices(len(facts.parameter_names), 1)
    strong = [(float(facts.correlation[i, j]), int(i), int(j)) for i, j in zip(rows, columns, strict=True)]
    strong = sorted((pair for pair in strong if abs(pair[0]) > STRONG_CORRELATION), key=lambda pair: -abs(pair[0]))
    for r, first, second in strong[:MOST_PAIRS]:
        names = (facts.parameter_names[first], facts.parameter_names[second])
        yield (
            f"{names[0]} and {names[1]} are almost one parameter to these data (correlation {correlation(r)}): "
            f"{_cure(facts, first, second)}."
        )
    if len(strong) > MOST_PAIRS:
        yield f"{count(len(strong) - MOST_PAIRS, 'more pair')} of parameters correlate by more than {STRONG_CORRELATION}: see /covariance."


def _cure(facts: FitFacts, first: int, second: int) -> str:
    pair = {facts.parameter_names[index].rpartition(".")[2]: index for index in (first, second)}
    prefixes = {facts.parameter_names[index].rpartition(".")[0] for index in (first, second)}
    if len(prefixes) == 1 and "Ea" in pair:
        if "A" in pair:
            return (
                f"give k at a reference temperature T_ref inside the data instead of A{_best_reference(facts, pair['A'], pair['Ea'])}; "
                "A is then derived with its own interval"
            )
        return "move the reference temperature into the middle of the measured temperatures, or measure over a wider range of T"
    return "fix one of them, or measure where they act differently; their single errors mean little without the covariance"


def _best_reference(facts: FitFacts, prefactor: int, energy: int) -> str:
    """Where ln k and Ea are uncorrelated: 1/T_ref = R cov(ln A, Ea) / var(Ea) (Schwaab and Pinto 2007, Chem. Eng. Sci. 62, 2750)."""
    slope = GAS_CONSTANT * facts.covariance_si[prefactor, energy] / facts.values_si[prefactor]
    temperature = facts.covariance_si[energy, energy] / slope if slope > 0 else np.nan
    return f" (near {temperature:.0f} K)" if 100 < temperature < 5000 else ""


def _poorly_known(facts: FitFacts) -> Iterator[str]:
    for index, (name, scale) in enumerate(zip(facts.parameter_names, facts.scales, strict=True)):
        value, stderr = facts.values_si[index], facts.stderr_si[index]
        if scale == "log" and np.isfinite(stderr) and stderr > LARGE_RELATIVE_ERROR * abs(value):
            unit = facts.units[index]
            lower, upper = (unit.from_si(end) for end in facts.interval_si[index])
            zero = ", which holds zero although the constant is positive" if lower <= 0 else ""
            yield (
                f"{name} is poorly known: its standard error is {_share(stderr / abs(value))} its value and its 95 % interval "
                f"runs from {plain(lower, 3)} to {_amount_reported(upper, unit, 3)}{zero}. Measure where it matters, or fix it."
            )


def _few_degrees_of_freedom(facts: FitFacts) -> Iterator[str]:
    if facts.dof <= 0:
        yield (
            f"{count(facts.n_observations, 'observation')} for {count(facts.n_parameters, 'parameter')} leave no degree of freedom: "
            "the fit cannot be judged. Measure more, or fix parameters."
        )
    elif facts.dof < max(FEW_DEGREES_OF_FREEDOM, facts.n_parameters):
        yield (
            f"Only {count(facts.dof, 'degree')} of freedom ({count(facts.n_observations, 'observation')}, "
            f"{count(facts.n_parameters, 'parameter')}): errors and intervals rest on few data."
        )


def _surprising_chi_square(facts: FitFacts) -> Iterator[str]:
    if facts.sigma_meaning != "trusted" or not np.isfinite(facts.p_value):
        return
    figures = (
        f"Chi-square is {facts.chi_square:.4g} for {count(facts.dof, 'degree')} of freedom "
        f"(reduced {facts.reduced_chi_square:.3g}, {probability(facts.p_value)})"
    )
    cure = 'If only the size of sigma is in doubt, write sigma = "scaled".'
    if facts.p_value < REFUTED_P:
        yield (
            f"{figures}, far above what the given sigma explains: the model is wrong somewhere (look at the residuals) or sigma is "
            f"too small. {cure}"
        )
    elif facts.p_value < DOUBTFUL_P:
        yield (
            f"{figures}, above what the given sigma would give in 19 of 20 fits: look at the residuals for a pattern, and whether sigma is "
            f"too small. {cure}"
        )
    elif facts.p_value > TOO_GOOD_P:
        yield f'{figures}, far below what the given sigma explains: sigma is probably too large. Correct it, or write sigma = "scaled".'


def _robust_without_errors(facts: FitFacts) -> Iterator[str]:
    free = ~facts.fixed & (np.array(facts.at_bound) == "") & np.isfinite(np.diag(facts.correlation))
    if facts.robust is not None and facts.dof > 0 and free.any() and not np.isfinite(facts.stderr_si[free]).any():
        yield (
            f"The {facts.robust.loss} loss leaves no standard errors: most residuals lie where it falls off (or none is left). "
            "Take a larger scale of the loss, or look at sigma and the model."
        )


def _biased_sigma(facts: FitFacts) -> Iterator[str]:
    if facts.noise is not None and facts.noise.bias < SMALL_SIGMA:
        yield (
            f"Standard deviations of maximum likelihood come out too small where the parameters are many: here by about the factor "
            f"{facts.noise.bias:.2g}, and errors and intervals with them. Measure more, or give a sigma that is known."
        )


def _computed(facts: FitFacts) -> Iterator[str]:
    size = float(np.linalg.norm((facts.observed_si * facts.weights_si)[facts.mask]))
    if facts.status.ok and facts.dof > 0 and size > 0 and np.sqrt(facts.ssr) <= COMPUTED * size:
        yield (
            "The model meets the values to better than one part in a million, as it does where the data were computed with it: the scatter "
            "of the residuals, and the errors that rest on it, say nothing about a measurement."
        )


def _worse_than_the_mean(facts: FitFacts) -> Iterator[str]:
    for name, fraction in zip(facts.responses, facts.r_squared, strict=True):
        if fraction < 0:
            yield (
                f"The model describes {name} worse than its mean does (R2 = {plain(float(fraction), 3)}): look at the units, at what was "
                "recognised in the data, and at the rate law."
            )


def _unweighted_ranges(facts: FitFacts) -> Iterator[str]:
    if facts.sigma_meaning != "estimated":
        return
    spans: list[tuple[float, int]] = []
    for index, unit in enumerate(facts.response_units):
        values = facts.observed_si[..., index][facts.mask[..., index]] / unit.factor
        if values.size > 1 and np.ptp(values) > 0:
            spans.append((float(np.ptp(values)), index))
    if len(spans) < 2:
        return
    small, large = min(spans), max(spans)
    if large[0] > RANGE_RATIO * small[0]:
        names = [
            f"{facts.responses[index]} (range {_amount_reported(span, facts.response_units[index], 3)})" for span, index in (large, small)
        ]
        yield (
            f"The responses are unweighted although their sizes differ: {names[0]} decides the fit and {names[1]} hardly counts. "
            "Give a sigma for each response in [noise]."
        )


def _amount(value_si: float, unit: Unit) -> str:
    return _amount_reported(float(unit.from_si(value_si)), unit, 6)


def _amount_reported(value: float, unit: Unit, digits: int) -> str:
    text = unit_text(unit)
    return plain(value, digits) if text == "1" else f"{plain(value, digits)} {text}"


def _share(ratio: float) -> str:
    """A standard error over its value, before "its value"."""
    return f"{100 * ratio:.0f} % of" if ratio < MANY_TIMES else f"{plain(ratio, 2)} times"
