"""Reports of comparisons: text, page, Markdown and summary show one content; nothing from outside is taken for markup."""

import json
from dataclasses import replace

import pytest

import kinetix as kx
from kinetix.report import comparison_summary, html_report, markdown_report, text_report
from kinetix.results import comparison_tree
from tests.report.pages import cells, pictures_of, read
from tests.results.comparisons import comparison_facts

HOSTILE = ("<b>plain</b>", "in|hib`ited", "*lost* & found")


@pytest.fixture(scope="module")
def tree():
    return comparison_tree(comparison_facts())


def test_text_has_the_verdict_first_and_then_all_tables(tree):
    lines = text_report(tree).splitlines()
    assert lines[0].startswith("plain and inhibited are not distinguishable with these data")
    for mark in ("model ", "Nested models, as declared", "Cross-validation: each of 3 experiments left out in turn", "Warnings"):
        assert any(line.startswith(mark) for line in lines), mark
    assert all(len(line) <= 96 for line in lines)
    (lost,) = (line for line in lines if line.startswith("lost ") and "left out" in line)
    assert lost.split()[1:4] == ["2", "5.5", "0.5"] and lost.endswith("left out, iteration limit")


def test_trusted_sigma_shows_chi_square():
    text = text_report(comparison_tree(comparison_facts(trusted=True)))
    assert "chi-square  reduced" in text and "likelihood ratio" in text


def test_the_page_is_well_formed_and_holds_what_the_text_does(tree):
    page = read(html_report(tree, pictures_of(tree)))
    heads = [h.attributes.get("id") for h in page.all("h2")]
    assert heads == ["models", "nested", "cross-validation", "warnings", "figures", "origin"]
    assert len(page.all("img")) == 4


def test_without_tests_and_folds_their_sections_are_absent():
    tree = comparison_tree(replace(comparison_facts(), nested=(), cross_validation=None))
    heads = [h.attributes.get("id") for h in read(html_report(tree)).all("h2")]
    assert heads == ["models", "warnings", "origin"]
    assert comparison_summary(tree)["nested"] is None and comparison_summary(tree)["cross_validation"] is None


def test_names_from_outside_are_text(tree):
    tree = comparison_tree(comparison_facts(HOSTILE))
    page = read(html_report(tree))
    assert HOSTILE[0] in {cell for row in cells(page.all("table")[0]) for cell in row}
    assert not page.all("b")
    assert "in\\|hib\\`ited" in markdown_report(tree)


def test_the_summary_is_json(tree):
    told = json.loads(json.dumps(comparison_summary(tree), allow_nan=False))
    assert told["models"]["lost"]["aicc"] is None and told["models"]["lost"]["status"] == "iteration limit"
    assert told["models"]["plain"]["rank"] == 1
    assert told["cross_validation"]["prediction_ssr"]["inhibited"] == [1.2, None, 1.4]
    assert told["cross_validation"]["fold_of"] == {"run 1": 0, "run 2": 1, "run 3": 2}
    assert told["nested"][0]["smaller"] == "plain"


def test_the_report_is_written_without_a_table_of_parameters(tree, tmp_path):
    written = [path.name for path in kx.write_report(tree, tmp_path)]
    assert written == ["report.html", "report.md", "criteria.png", "agreement.png", "residuals-by-model.png", "predictions.png"]
