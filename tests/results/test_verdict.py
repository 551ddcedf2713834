"""A sentence for each reason to doubt a fit, and none where there is no reason."""

from dataclasses import replace

import numpy as np
import pytest

from kinetix.analyses.lack_of_fit import LackOfFit
from kinetix.constants import GAS_CONSTANT
from kinetix.results import FitFacts, verdict, warn_sentences
from kinetix.status import Status
from kinetix.units import parse_unit
from tests.results.examples import correlation_of, robust_facts, steady_facts, timed_facts


def one_warning(facts: FitFacts) -> str:
    sentences = warn_sentences(facts)
    assert len(sentences) == 1, sentences
    return sentences[0]


def test_a_good_fit_has_no_warning():
    assert warn_sentences(timed_facts()) == []


@pytest.mark.parametrize("facts", [timed_facts(), replace(steady_facts(), at_bound=("", "", ""))], ids=["batch", "tank"])
@pytest.mark.parametrize(("share", "told"), [(0.9e-6, True), (1.1e-6, False)])
def test_data_that_were_computed_with_the_model(facts, share, told):
    """One criterion for every reactor: the norm of the residuals over that of the values, both over sigma or in the data's units."""
    values = (facts.observed_si * facts.weights_si)[facts.mask]
    close = replace(facts, ssr=share**2 * np.sum(values**2))
    assert any("one part in a million" in sentence for sentence in warn_sentences(close)) == told


def test_a_good_fit_is_called_so():
    text = verdict(timed_facts())
    assert text.startswith("The fit converged after 5 iterations: 2 parameters from 31 observations.")
    assert "scatter by 0.01 mol/L" in text
    assert "lowest R2 (A)" in text


@pytest.mark.parametrize("status", [status for status in Status if not status.ok])
def test_a_fit_that_did_not_converge_says_so(status):
    facts = replace(timed_facts(), status=status)
    assert "did NOT converge" in verdict(facts)
    assert status.sentence in verdict(facts)
    assert one_warning(facts).startswith(f"The fit did not converge ({status.label})")


def test_a_parameter_on_its_bound_has_no_ordinary_error():
    facts = steady_facts()
    assert one_warning(facts) == (
        "r1.K is at its upper bound 2.3: it has no ordinary standard error, and the errors of the others hold r1.K fixed."
    )
    assert verdict(facts).endswith("r1.K ended on a bound.")


def test_the_bound_is_told_in_the_unit_of_the_user():
    facts = replace(timed_facts(), at_bound=("lower", ""), lower_si=np.array([0.3 / 60, -np.inf]))
    assert "r1.k_ref is at its lower bound 0.3 1/min" in one_warning(facts)


def arrhenius_pair() -> FitFacts:
    """ln k = ln A - Ea/(R T) by linear least squares on six temperatures, ln A then turned into A."""
    temperatures = np.array([300.0, 310.0, 320.0, 330.0, 340.0, 350.0])
    noise = np.array([0.03, -0.05, 0.01, 0.04, -0.02, -0.01])
    design = np.stack([np.ones(6), -1 / (GAS_CONSTANT * temperatures)], axis=-1)
    y = design @ [25.0, 74e3] + noise
    solution, ssr, _, _ = np.linalg.lstsq(design, y)
    covariance = np.linalg.inv(design.T @ design) * ssr[0] / 4
    a = np.exp(solution[0])
    covariance = covariance * np.outer([a, 1], [a, 1])
    values = np.array([a, solution[1]])
    stderr = np.sqrt(np.diag(covariance))
    return replace(
        timed_facts(),
        parameter_names=("r1.A", "r1.Ea"),
        units=(parse_unit("1/s"), parse_unit("kJ/mol")),
        values_si=values,
        stderr_si=stderr,
        covariance_si=covariance,
        correlation=correlation_of(covariance),
        interval_si=np.stack([values - 2 * stderr, values + 2 * stderr], axis=-1),
        derived=(),
    )


def test_an_arrhenius_pair_is_told_the_reference_temperature_that_uncouples_it():
    # cov(ln k_ref, Ea) = 0 at the mean of 1/T where the weights are equal: closed form, independent of the noise.
    best = 1 / np.mean(1 / np.array([300.0, 310.0, 320.0, 330.0, 340.0, 350.0]))
    sentence = one_warning(arrhenius_pair())
    assert "r1.A and r1.Ea are almost one parameter" in sentence
    assert "correlation 0.99" in sentence
    assert f"T_ref inside the data instead of A (near {best:.0f} K)" in sentence


def correlated(names: tuple[str, str], r: float) -> FitFacts:
    facts = timed_facts()
    return replace(facts, parameter_names=names, correlation=np.array([[1.0, r], [r, 1.0]]), derived=())


def test_a_correlated_pair_is_told_its_cure():
    assert "move the reference temperature" in one_warning(correlated(("r1.k_ref", "r1.Ea"), -0.995))
    sentence = one_warning(correlated(("r1.k", "r2.k"), -0.995))
    assert "correlation -0.995" in sentence
    assert "fix one of them" in sentence
    assert warn_sentences(correlated(("r1.k", "r2.k"), 0.97)) == []


def test_many_correlated_pairs_do_not_drown_the_rest():
    number = 6
    facts = timed_facts()
    wide = replace(
        facts,
        parameter_names=tuple(f"r{index}.k" for index in range(number)),
        values_si=np.ones(number),
        stderr_si=np.full(number, 0.1),
        lower_si=np.zeros(number),
        upper_si=np.full(number, np.inf),
        units=(parse_unit("1/s"),) * number,
        fixed=np.zeros(number, bool),
        scales=("log",) * number,
        at_bound=("",) * number,
        correlation=np.where(np.eye(number) == 1, 1.0, 0.99),
        interval_si=np.tile([0.8, 1.2], (number, 1)),
    )
    sentences = warn_sentences(wide)
    assert len(sentences) == 6
    assert sentences[-1].startswith("10 more pairs of parameters")


def test_flat_directions_are_passed_on():
    told = ("the data do not change along +0.71 ln r1.kf +0.71 ln r1.kr",)
    facts = replace(timed_facts(), null_directions=told, stderr_si=np.full(2, np.nan), correlation=np.full((2, 2), np.nan))
    assert one_warning(facts).startswith("The data do not change along +0.71 ln r1.kf +0.71 ln r1.kr: fix one of these parameters")


def test_an_undetermined_parameter_is_named():
    unknown = np.array([[np.nan, np.nan], [np.nan, 1.0]])
    facts = replace(timed_facts(), stderr_si=np.array([np.nan, 1.0]), correlation=unknown)
    assert one_warning(facts).startswith("r1.k_ref has no standard error, because the data do not determine it")
    assert "The data do NOT determine r1.k_ref." in verdict(facts)
    silent = replace(facts, without_effect=("r1.k_ref",))
    assert one_warning(silent).startswith("r1.k_ref is not determined by these data, since no measured value changes with it: fix it")


def test_a_response_that_its_mean_describes_better():
    facts = replace(timed_facts(), r_squared=np.array([0.99, -0.31]))
    assert one_warning(facts).startswith("The model describes B worse than its mean does (R2 = -0.31)")
    assert warn_sentences(replace(facts, r_squared=np.array([0.99, np.nan]))) == []


@pytest.mark.parametrize(
    ("p", "words", "warned"),
    [
        (0.0009, "Model and data do not agree within the given sigma", "far above what the given sigma explains"),
        (
            0.0086,
            "It is doubtful that model and data agree within the given sigma",
            "above what the given sigma would give in 19 of 20 fits",
        ),
        (0.051, "Model and data agree within the given sigma", None),
        (0.998, "Model and data agree within the given sigma", None),
        (0.9995, "The model follows the data more closely than the given sigma allows", "sigma is probably too large"),
    ],
)
def test_the_words_follow_the_probability(p, words, warned):
    facts = trusted(19.0, p)
    assert words in verdict(facts)
    assert ([] if warned is None else [warned]) == [warned for sentence in warn_sentences(facts) if warned in sentence]
    assert bool(warn_sentences(facts)) == (warned is not None)


def test_few_degrees_of_freedom():
    facts = replace(timed_facts(), dof=2, n_observations=4)
    assert one_warning(facts).startswith("Only 2 degrees of freedom (4 observations, 2 parameters)")
    assert "degrees of freedom" in one_warning(replace(timed_facts(), dof=4, n_parameters=5))
    none = replace(timed_facts(), dof=0, n_observations=2)
    assert "leave no degree of freedom" in one_warning(none)
    assert "cannot speak against the model" in verdict(none)


def trusted(chi_square: float, p_value: float) -> FitFacts:
    # o02-sigma-meaning: chi-square 24.801751 for 7 degrees of freedom, 3.543107 each
    return replace(
        timed_facts(),
        sigma_meaning="trusted",
        chi_square=chi_square,
        reduced_chi_square=chi_square / 7,
        p_value=p_value,
        dof=7,
    )


def test_a_chi_square_far_above_one_doubts_model_and_sigma():
    facts = trusted(24.801751, 0.000817)
    sentence = one_warning(facts)
    assert sentence.startswith("Chi-square is 24.8 for 7 degrees of freedom (reduced 3.54, p = 0.00082)")
    assert 'sigma = "scaled"' in sentence
    assert "Model and data do not agree within the given sigma" in verdict(facts)


def test_a_chi_square_far_below_one_doubts_sigma():
    facts = trusted(0.2, 0.99998)
    assert "sigma is probably too large" in one_warning(facts)
    assert "more closely than the given sigma allows" in verdict(facts)


def test_a_chi_square_near_one_is_good_news():
    facts = trusted(7.2, 0.41)
    assert warn_sentences(facts) == []
    assert "agree within the given sigma (reduced chi-square 1.03, p = 0.41)" in verdict(facts)


def test_scaled_sigma_is_not_judged_by_chi_square():
    facts = replace(trusted(24.8, 0.0008), sigma_meaning="scaled", s=1.882)
    assert warn_sentences(facts) == []
    assert "1.88 times the given sigma" in verdict(facts)


def test_unweighted_responses_of_unlike_size():
    facts = timed_facts()
    uneven = replace(facts, observed_si=facts.observed_si * [1.0, 1e-3])
    spans = [np.ptp(uneven.observed_si[..., index][facts.mask[..., index]]) / 1000 for index in (0, 1)]
    sentence = one_warning(uneven)
    assert f"A (range {spans[0]:.3g} mol/L) decides the fit and B (range {spans[1]:.3g} mol/L) hardly counts" in sentence
    assert warn_sentences(replace(uneven, sigma_meaning="scaled")) == []
    # the objective is in the units of the data, where both are now about 1
    assert warn_sentences(replace(uneven, response_units=(parse_unit("mol/L"), parse_unit("mmol/L")))) == []


def test_a_positive_constant_with_an_error_of_its_own_size():
    facts = timed_facts()
    k = facts.values_si[0]
    vague = replace(facts, stderr_si=np.array([0.6 * k, 700.0]), interval_si=np.array([[-0.2 * k, 2.2 * k], [58e3, 61e3]]))
    sentence = one_warning(vague)
    assert sentence.startswith("r1.k_ref is poorly known: its standard error is 60 % of its value")
    assert "holds zero although the constant is positive" in sentence
    assert "-0.0303 to 0.334 1/min" in sentence
    assert warn_sentences(replace(vague, scales=("linear", "linear"))) == []
    lost = replace(vague, stderr_si=np.array([840 * k, 700.0]))
    assert "its standard error is 840 times its value" in one_warning(lost)


def test_failed_experiments_are_named_together():
    facts = replace(timed_facts(3), experiment_status=(Status.STEP_LIMIT, Status.SUCCESS, Status.STEP_LIMIT))
    reached = replace(facts, experiment_reached_si=np.array([30.0, 840.0, 200.0]))
    assert one_warning(reached).startswith("Experiments run 1 and run 3 could not be simulated: the step limit was reached")
    assert one_warning(reached).endswith("; times reached 0.5 to 3.333 min.")
    tank = replace(steady_facts(), at_bound=("", "", ""), experiment_status=(Status.STEP_LIMIT,) * len(steady_facts().experiments))
    assert "reached 0" not in " ".join(warn_sentences(tank))


def test_outliers_of_a_robust_loss_are_named_with_their_place():
    facts = robust_facts(timed_facts())
    i, j, r = np.argwhere(facts.mask)[2]
    place = f"{facts.responses[r]} of '{facts.experiments[i]}' at t = {facts.times_si[i, j] / 60:g} min"
    assert one_warning(facts).startswith(f"1 value counts less than half, because the model misses it by far: {place} (weight 0.1).")
    assert "With the robust loss (student_t, 4 degrees of freedom, scale 1) 1 value of 31 counts less than half" in verdict(facts)


def test_a_robust_loss_that_leaves_no_errors_says_so():
    facts = robust_facts(timed_facts())
    facts = replace(facts, robust=replace(facts.robust, weights=np.ones(facts.mask.shape)), stderr_si=np.full(2, np.nan))
    assert one_warning(facts).startswith("The student_t loss leaves no standard errors")


@pytest.mark.parametrize(
    ("p", "told"),
    [
        (0.4, ""),
        (0.02, "0.02). It may be wrong somewhere: look at the residuals"),
        (1e-5, "1e-05). It is wrong somewhere: look at the residuals"),
    ],
)
def test_lack_of_fit_is_told_by_its_probability(p, told):
    facts = replace(timed_facts(), replicates=LackOfFit(3, 7, 1e-4, 4, 0.02, 25, 3.2, p))
    assert "The scatter between replicates is 0.005 mol/L; lack of fit F = 3.2, p = " in verdict(facts)
    assert (told in one_warning(facts)) if told else warn_sentences(facts) == []


def test_copies_are_no_replicates():
    facts = replace(timed_facts(), replicates=LackOfFit(3, 6, 0.0, 3, 0.02, 25, np.nan, np.nan))
    assert one_warning(facts).startswith("The replicates (6 values) are exactly equal.")
    assert "The scatter between replicates is 0 mol/L." in verdict(facts)
