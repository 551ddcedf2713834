"""The text report: the verdict first, digits from the errors, every reason for doubt, nothing wider than the page."""

import re
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from kinetix.report import sigma_sentence, text_report
from kinetix.report.numbers import estimate
from kinetix.results import fit_tree
from kinetix.status import Status
from tests.results.examples import single_facts, steady_facts, timed_facts


def line_of(report: str, start: str) -> str:
    (line,) = (line for line in report.splitlines() if line.startswith(start))
    return re.sub(r" +", " ", line)


def test_the_whole_report_of_a_good_fit():
    # Estimates and errors are SciPy's (tests/results/examples.py); only their writing is checked here.
    facts = timed_facts()
    report = text_report(fit_tree(facts))
    lines = report.splitlines()
    assert lines[0] == facts.title
    assert lines[3].startswith("The fit converged after 5 iterations")
    k, error = facts.values_si[0] * 60, facts.stderr_si[0] * 60
    assert 0.001 < error < 0.01
    assert line_of(report, "r1.k_ref").startswith(f"r1.k_ref {k:.4f} {error:.4f} ")
    assert line_of(report, "r1.k_ref").endswith("1/min")
    assert line_of(report, "r1.A").endswith("1/min derived: from ln A")
    assert "Data: 2 experiments, 31 observations of 2 responses" in report
    assert "t 0 to 14 min; T 56.85 to 76.85 °C; initial.A 1 mol/L" in report
    assert "column 'T [°C]' read as T" in report
    assert "no sigma given: estimated from the residuals, t with 29" in report
    assert "Correlations: none above 0.95" in report
    assert "Warnings" not in report
    assert "kinetix 0.1.0, jax 0.10.2, on cpu, in float64, seed 0, data 9f2c1b7a55d0" in report


def test_fixed_and_bound_parameters_have_remarks_and_no_error():
    report = text_report(fit_tree(steady_facts()))
    assert line_of(report, "r1.Ea") == "r1.Ea 60 - - - kJ/mol fixed"
    assert line_of(report, "r1.K") == "r1.K 2.3 - - - - at upper bound 2.3"
    assert "1 warning below." in report
    assert "chi-square" in report


def test_a_constant_that_depends_on_temperature_says_where_it_holds():
    tree = fit_tree(replace(timed_facts(), parameter_notes=("at 340 K", "")))
    assert line_of(text_report(tree), "r1.k_ref").endswith(" at 340 K")
    held = fit_tree(replace(timed_facts(), parameter_notes=("at 340 K", ""), fixed=np.array([True, False])))
    assert line_of(text_report(held), "r1.k_ref").endswith(" at 340 K; fixed")
    tree["parameters"] = xr.DataTree(tree["parameters"].to_dataset().drop_vars("note"))  # as a file of an older version
    assert line_of(text_report(tree), "r1.k_ref").endswith("1/min")


@pytest.mark.parametrize("facts", [timed_facts(40), single_facts(), steady_facts(), replace(timed_facts(), status=Status.TIME_LIMIT)])
def test_no_line_is_wider_than_the_page_or_ends_in_space(facts):
    report = text_report(fit_tree(facts))
    assert max(map(len, report.splitlines())) <= 96
    assert not re.search(r"[ \t]$", report, re.MULTILINE)
    assert report.endswith("\n")
    assert "\n\n\n" not in report
    assert "nan" not in report.lower()


def test_a_long_remark_goes_below_its_row():
    facts = timed_facts()
    (derived,) = facts.derived
    report = text_report(fit_tree(replace(facts, derived=(replace(derived, note="from ln A and Ea with the joint covariance " * 2),))))
    assert max(map(len, report.splitlines())) <= 96
    assert "\n      derived: from ln A and Ea" in report


def test_what_sigma_means_is_said_in_words():
    facts = replace(timed_facts(), dof=7, s=1.8823)
    assert sigma_sentence(fit_tree(replace(facts, sigma_meaning="trusted"))) == "sigma trusted, as given: intervals use the normal quantile"
    assert sigma_sentence(fit_tree(facts)) == "no sigma given: estimated from the residuals, t with 7 degrees of freedom"
    scaled = sigma_sentence(fit_tree(replace(facts, sigma_meaning="scaled")))
    assert "s = 1.88" in scaled
    assert scaled.endswith("t with 7 degrees of freedom")
    assert "no degree of freedom" in sigma_sentence(fit_tree(replace(facts, dof=0)))


def test_strong_correlations_are_listed_strongest_first():
    facts = steady_facts()
    table = np.array([[1.0, 0.96, -0.999], [0.96, 1.0, 0.2], [-0.999, 0.2, 1.0]])
    report = text_report(fit_tree(replace(facts, correlation=table)))
    listed = report.partition("Correlations above 0.95 in size\n")[2].splitlines()[:2]
    assert [line.split() for line in listed] == [["r1.k_ref", "r1.K", "-0.999"], ["r1.k_ref", "r1.Ea", "0.96"]]


def test_experiments_that_failed_are_named():
    report = text_report(fit_tree(replace(timed_facts(), experiment_status=(Status.SUCCESS, Status.NON_FINITE))))
    assert "not simulated: run 2" in report


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ((0.3519770232890466, 0.010150963825077523, 0.3279738080512273, 0.37598023852686596), ("0.352", "0.010", "0.328", "0.376")),
        ((74511.95788635527, 1015.8847161621064, 71691.0, 77332.9), ("74500", "1000", "71700", "77300")),
        ((9.9996, 0.0996, 9.8, 10.2), ("10.00", "0.10", "9.80", "10.20")),
        ((0.0, 0.5, -1.0, 1.0), ("0.00", "0.50", "-1.00", "1.00")),
        ((1e-9, 1e-9, -1e-9, 3e-9), ("1.0e-09", "1.0e-09", "-1.0e-09", "3.0e-09")),
        ((0.5, 60.0, -119.0, 120.0), ("0.50", "60", "-119.00", "120.00")),
        ((1.0, 1e-15, 1.0, 1.0), ("1.00000000000", "1.0e-15", "1.00000000000", "1.00000000000")),
        ((238.94212918, np.nan, np.nan, np.nan), ("238.942", "-", "-", "-")),
        ((2.0, 0.1, 1.8, np.inf), ("2.00", "0.10", "1.80", "inf")),
    ],
)
def test_digits_come_from_the_error(given, written):
    assert tuple(estimate(*given)) == written
