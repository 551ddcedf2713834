"""The Markdown report, read by an independent parser: the same sections, tables that are tables, text that stays text."""

import re

import pytest
from markdown_it import MarkdownIt

from kinetix.report import markdown_report
from kinetix.report.markdown import words
from kinetix.results import fit_tree
from tests.report.pages import STUDY, TITLE, cells, hostile_facts, pictures_of, read
from tests.results.examples import single_facts, steady_facts, timed_facts

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


@pytest.mark.parametrize("facts", [timed_facts(), timed_facts(40), single_facts(), steady_facts(), hostile_facts()])
def test_every_pipe_belongs_to_a_table(facts):
    tree = fit_tree(facts)
    text = markdown_report(tree, pictures_of(tree))
    page = read(MARKDOWN.render(text))
    assert not re.search(r"[ \t]$", text, re.MULTILINE)
    assert "\n\n\n" not in text
    rows = sum(line.startswith("|") for line in text.splitlines())
    assert rows == sum(len(table.all("tr")) + 1 for table in page.all("table"))  # a rule each
    for table in page.all("table"):
        assert len({len(row.inside) for row in table.all("tr")}) == 1
    assert all(
        len(line) == len(after)
        for line, after in zip(text.splitlines(), text.splitlines()[1:], strict=False)
        if line[:1] == after[:1] == "|"
    )
    assert "nan" not in text.lower()


def test_the_same_report_as_the_page():
    tree = fit_tree(timed_facts())
    page = read(MARKDOWN.render(markdown_report(tree, pictures_of(tree))))
    assert page.all("h1")[0].text == tree.attrs["title"]
    titles = [h.text for h in page.all("h2")]
    assert titles[:4] == ["Parameters", "Warnings", "Starts", "Figures"]
    assert titles[-1] == "How to reproduce and cite"
    assert cells(page.all("table")[0])[0][0] == "r1.k_ref"
    assert [image.attributes["src"] for image in page.all("img")] == ["profiles.png", "arrhenius.png", "parity.png", "residuals.png"]


def test_text_from_outside_stays_text():
    page = read(MARKDOWN.render(markdown_report(fit_tree(hostile_facts()))))
    assert page.all("h1")[0].text == TITLE
    assert not [tag for tag in ("script", "b", "i", "u", "a") if page.all(tag)]
    assert cells(page.all("table")[0])[0][0] == "r1|<b>.k_ref"
    assert cells(page.all("table")[0])[1][0] == "r1`*.Ea"
    assert ["r|1", "A|<u> -> B", "k*[A|<u>]`"] in [row for table in page.all("table") for row in cells(table)]
    assert STUDY in [block.text for block in page.all("pre")]
    assert "a <b>warning</b> about *this*" in [item.text for item in page.all("li")]


@pytest.mark.parametrize(
    "text",
    [
        "1. one",
        "12) x",
        "# no",
        "- no",
        "+ no",
        "> no",
        "---",
        "===",
        "a_b_c _d_",
        "2*3*4",
        "~~x~~",
        "$a$ <b> <!-- -->",
        "&lt; &#60; & x",
        "\\*",
        "![a](b)",
        "[a]: b",
        "`x`",
        "-0.5",
    ],
)
def test_a_paragraph_is_shown_letter_by_letter(text):
    page = read(MARKDOWN.render(words(text)))
    assert [(one.tag, one.text.strip(), one.inside) for one in page.inside if one.tag != "root"] == [("p", text, [])]
