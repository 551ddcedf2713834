"""The HTML page: well formed, complete in itself, every section in its place, nothing from outside taken for markup."""

import base64
import re
from dataclasses import replace

import numpy as np
import pytest

import kinetix as kx
from kinetix.report import html_report
from kinetix.results import fit_tree
from kinetix.status import Status
from tests.report.pages import STUDY, TITLE, Element, cells, hostile_facts, pictures_of, read
from tests.results.examples import single_facts, steady_facts, timed_facts

SECTIONS = [
    "parameters",
    "warnings",
    "starts",
    "figures",
    "model",
    "data",
    "statistics",
    "correlations",
    "experiments",
    "values",
    "study",
    "origin",
    "reproduce",
]


def section(page: Element, anchor: str) -> Element:
    (found,) = (one for one in page.all("section") if any(h.attributes.get("id") == anchor for h in one.all("h2")))
    return found


@pytest.mark.parametrize(
    "facts",
    [timed_facts(), timed_facts(40), single_facts(), steady_facts(), hostile_facts()],
    ids=["timed", "forty", "single", "steady", "hostile"],
)
def test_the_page_is_well_formed_and_needs_nothing_else(facts):
    tree = fit_tree(facts)
    text = html_report(tree, pictures_of(tree))
    page = read(text)
    assert text.startswith("<!DOCTYPE html>\n")
    assert not page.all("script") and not page.all("link") and not page.all("iframe")
    every = [element for tag in set(re.findall(r"<([a-z0-9]+)", text)) for element in page.all(tag)]
    assert not any(name.startswith("on") for element in every for name in element.attributes)
    targets = [element.attributes[name] or "" for element in every for name in ("href", "src") if name in element.attributes]
    assert all(target.startswith(("#", "data:image/")) for target in targets)
    assert "url(" not in text and "@import" not in text and "http" not in re.sub(r"http-equiv", "", text)
    (policy,) = (one.attributes["content"] for one in page.all("meta") if one.attributes.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    ids = [element.attributes["id"] for element in every if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert {target[1:] for target in targets if target.startswith("#")} <= set(ids)
    for table in page.all("table"):
        assert len({sum(1 for _ in row.inside) for row in table.all("tr")}) == 1
    assert "nan" not in re.sub(r'src="[^"]*"', "", text).lower()


def test_every_section_is_there_in_order_and_the_verdict_comes_first():
    tree = fit_tree(replace(timed_facts(), model=("reactor\tclosed", "r1\tA -> B\tk*[A]", "conserved\tA + B")))
    text = html_report(tree, pictures_of(tree))
    assert [h.attributes["id"] for h in read(text).all("h2")] == SECTIONS
    marks = [tree.attrs["title"], tree.attrs["verdict"], *(f'<h2 id="{anchor}">' for anchor in SECTIONS)]
    positions = [text.index(mark) for mark in marks]
    assert positions == sorted(positions)


def test_parameters_are_those_of_the_fit_and_points_are_in_line():
    facts = timed_facts()
    page = read(html_report(fit_tree(facts)))
    (table,) = section(page, "parameters").all("table")
    rows = cells(table)
    assert [row[0] for row in rows] == ["r1.k_ref", "r1.Ea", "r1.A"]
    assert float(rows[0][1]) == pytest.approx(facts.values_si[0] * 60, abs=facts.stderr_si[0] * 60 / 10)
    assert float(rows[1][2]) == pytest.approx(facts.stderr_si[1] / 1000, rel=0.05)
    assert rows[0][5:] == ["1/min", ""] and rows[2][6] == "derived: from ln A"
    number = r'<td class="number">([^<]*)(?:<span class="pad" aria-hidden="true">(0+)</span>)?</td>'
    written = ["".join(parts) for parts in re.findall(number, html_report(fit_tree(facts)).partition("</table>")[0])]
    for column in range(4):
        plain = [text for text in written[column::4] if "e" not in text]
        assert len(plain) >= 2
        assert len({len(text.rpartition(".")[2]) for text in plain}) == 1


def test_what_the_reader_needs_to_know_is_said():
    page = read(html_report(fit_tree(steady_facts())))
    assert page.all("p")[1].text == "Converged, 1 warning"
    assert section(page, "warnings").all("li")[0].text.startswith("r1.K is at its upper bound 2.3")
    assert cells(section(page, "parameters").all("table")[0])[2][-1] == "at upper bound 2.3"
    (table,) = section(page, "values").all("table")
    heads = [head.text for head in table.all("thead")[0].all("th")]
    assert heads == ["experiment", "T [K]", "tau [s]", "observed", "σ", "predicted", "residual", "residual / σ"]
    assert len(cells(table)) == 9
    failed = read(
        html_report(fit_tree(replace(timed_facts(), status=Status.TIME_LIMIT, experiment_status=(Status.SUCCESS, Status.STEP_LIMIT))))
    )
    assert failed.all("p")[1].text == "Did not converge"
    assert section(failed, "reproduce").all("p")[-1].text.startswith("There is nothing to cite")
    assert "no answer" in section(failed, "parameters").all("p")[0].text
    assert [row[-1] for row in cells(section(failed, "experiments").all("table")[0])] == ["success", "step limit"]


def test_text_from_outside_stays_text():
    tree = fit_tree(hostile_facts())
    page = read(html_report(tree, pictures_of(tree)))
    assert page.all("title")[0].text == page.all("h1")[0].text == TITLE
    assert section(page, "study").all("pre")[0].text == STUDY.strip("\n")
    assert not [tag for tag in ("i", "u", "em") if page.all(tag)]
    assert cells(section(page, "model").all("table")[0]) == [["r|1", "A|<u> -> B", "k*[A|<u>]`"]]
    assert "a <b>warning</b> about *this*" in [item.text for item in section(page, "warnings").all("li")]
    assert section(page, "supplement").all("pre")[0].text == "ln A <i>   31"


def test_figures_are_inside_with_captions():
    tree = fit_tree(timed_facts())
    pictures = pictures_of(tree)
    page = read(html_report(tree, pictures))
    drawn = section(page, "figures").all("figure")
    assert [one.attributes["id"] for one in drawn] == ["figure-profiles", "figure-arrhenius", "figure-parity", "figure-residuals"]
    for number, (element, picture) in enumerate(zip(drawn, pictures, strict=True), start=1):
        (image,) = element.all("img")
        kind, _, data = (image.attributes["src"] or "").partition(";base64,")
        assert kind == f"data:{picture.media_type}"
        assert base64.b64decode(data) == picture.data
        assert image.attributes["alt"] == picture.caption
        assert element.all("figcaption")[0].text == f"Figure {number}. {picture.caption}"
        assert len(picture.caption.split()) > 8
    assert [picture.data for picture in pictures_of(tree)] == [picture.data for picture in pictures]


def test_a_hundred_experiments_of_four_responses_stay_small():
    facts = timed_facts(100)
    twice = {
        name: np.concatenate([getattr(facts, name)] * 2, axis=2)
        for name in ("observed_si", "predicted_si", "mask", "sigma_si", "weights_si", "weighted_residuals")
    }
    assert facts.profiles is not None
    profiles = replace(facts.profiles, predicted_si=np.concatenate([facts.profiles.predicted_si] * 2, axis=2))
    facts = replace(
        facts,
        responses=("A", "B", "C", "D"),
        response_units=facts.response_units * 2,
        r_squared=np.tile(facts.r_squared, 2),
        profiles=profiles,
        **twice,
    )
    tree = fit_tree(facts)
    text = html_report(tree, pictures_of(tree))
    assert len(text.encode()) < 2_000_000
    page = read(text)
    assert len(cells(section(page, "experiments").all("table")[0])) == 100
    tables = section(page, "values").all("table")
    assert [len(cells(table)) for table in tables] == [40] * 4
    shown = sorted(abs(float(row[-1])) for row in cells(tables[0]))
    standardised = np.sort(np.abs(facts.weighted_residuals[..., 0]).ravel() / facts.s)[-40:]
    np.testing.assert_allclose(shown, standardised, atol=0.006)


def test_a_fit_without_anything_optional():
    page = read(html_report(fit_tree(single_facts())))
    anchors = [h.attributes["id"] for h in page.all("h2")]
    assert anchors == [anchor for anchor in SECTIONS if anchor not in ("starts", "figures", "model", "study", "origin")]
    assert page.all("h1")[0].text == "Fit of A and B"


def test_many_parameters_are_listed_by_their_strongest_pairs():
    facts = timed_facts()
    P = 14
    random = np.random.default_rng(1).normal(size=(40, P))
    covariance = np.linalg.inv(random.T @ random)
    stderr = np.sqrt(np.diag(covariance))
    facts = replace(
        facts,
        parameter_names=tuple(f"k{i}" for i in range(P)),
        **{name: np.ones(P) for name in ("values_si", "start_si")},
        lower_si=np.zeros(P),
        upper_si=np.full(P, np.inf),
        units=facts.units[:1] * P,
        fixed=np.zeros(P, dtype=bool),
        scales=("log",) * P,
        at_bound=("",) * P,
        stderr_si=stderr,
        covariance_si=covariance,
        correlation=covariance / np.outer(stderr, stderr),
        interval_si=np.stack([1 - stderr, 1 + stderr], axis=1),
        derived=(),
    )
    (table,) = section(read(html_report(fit_tree(facts))), "correlations").all("table")
    rows = cells(table)
    assert table.all("caption")[0].text == "The 20 strongest of 91 pairs; parameters.csv and fit.nc hold all"
    largest = np.sort(np.abs(facts.correlation[np.triu_indices(P, 1)]))[::-1][:20]
    np.testing.assert_allclose([abs(float(row[2])) for row in rows], largest, rtol=0.01)


@pytest.mark.parametrize(
    "show", [kx.text_report, kx.figures, lambda tree: kx.write_report(tree, "unused")], ids=["text", "figures", "files"]
)
def test_only_a_fit_has_a_report(show):
    tree = kx.simulate(kx.CSTR(kx.parse_network("A -> B")), {"r1.k": "1 1/s", "feed.default": "1 mol/L"}, conditions={"tau": "1 s"})
    with pytest.raises(kx.InputError, match=r"Expected the result of a fit .* found the result of a simulation"):
        show(tree)
    with pytest.raises(kx.InputError, match=r"found a NoneType"):
        show(None)
