"""What refits tell, in words and rows."""

import numpy as np

from kinetix.report import html_report, markdown_report, parameters_csv, summary, text_report
from kinetix.report.refits import influence_rows, influence_sentences, interval_rows, interval_sentences
from kinetix.results import fit_tree
from tests.results.examples import timed_facts
from tests.results.refits import refitted_facts

TREE = fit_tree(refitted_facts())


def test_intervals_stand_beside_each_other_and_an_open_end_has_a_word():
    titles, rows = interval_rows(TREE)
    assert titles == ("parameter", "value", "95 % from", "to", "profile from", "to", "bootstrap from", "to", "unit")
    assert rows[-1][5] == "none" and all(row[4] != "none" for row in rows)
    first = [float(cell) for cell in rows[0][1:-1]]
    np.testing.assert_allclose(np.array(first[3:]) / first[0], [0.92, 1.15, 0.9, 1.1], rtol=2e-3)
    assert len({cell[::-1].find(".") for cell in rows[0][1:-1]}) == 1  # the same decimals along a row


def test_what_is_open_and_what_was_lost_is_said():
    sentences = " ".join(interval_sentences(TREE))
    assert "has no upper limit: up to" in sentences
    assert "Bootstrap (residual, 4 refits, seed 0, 1 without an answer)" in sentences
    assert "Profiles and standard errors agree" not in sentences


def test_the_largest_influence_stands_first_and_what_decides_alone_is_named():
    titles, rows = influence_rows(TREE)
    assert [row[0] for row in rows] == ["run3", "run2", "run1"]
    assert (titles[0], rows[0][-1], rows[1][-1]) == ("without", "not converged", "flat")
    sentences = " ".join(influence_sentences(TREE))
    assert "The estimates hang on run2 (0.8): check, or repeat." in sentences
    assert "Without run2 the data do not determine all parameters." in sentences
    assert "Without run3 the fit ends without an answer." in sentences


def test_every_report_has_them_and_one_without_refits_has_not():
    for report in (text_report, markdown_report, html_report):
        assert "profile from" in report(TREE) and "run2 (0.8)" in report(TREE)
        assert "profile from" not in report(fit_tree(timed_facts()))
    told = summary(TREE)
    assert set(told["influence"]) == {"run1", "run2", "run3"} and told["influence"]["run3"] is None
    assert summary(fit_tree(timed_facts()))["profile"] is None
    assert parameters_csv(TREE) == parameters_csv(fit_tree(timed_facts()))
