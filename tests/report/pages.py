"""What the tests of the pages share: fits with names and texts that want to be more than text, and pages read as elements."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

from kinetix.plots import caption_of, embedded, figures
from kinetix.report import Picture
from kinetix.results import FitFacts
from kinetix.status import Status
from tests.results.examples import timed_facts

TITLE = "π ≤ </title><script>alert(1)</script> & *bold* | `tick` _x_ [a](b)"
STUDY = 'title = "</pre><img src=x onerror=alert(2)>"   # ``` and | here\nnote = "µ & ü"\n'


def hostile_facts() -> FitFacts:
    """Text from outside in every place that takes some."""
    facts = timed_facts()
    return replace(
        facts,
        title=TITLE,
        parameter_names=("r1|<b>.k_ref", "r1`*.Ea"),
        experiments=("<i>one</i>", "two|three"),
        responses=("A|<u>", "B&amp;"),
        model=("reactor\tclosed <em>", "r|1\tA|<u> -> B\tk*[A|<u>]`", "conserved\tA|<u> + B"),
        notes=("file<1>.csv: | read",),
        warnings=("a <b>warning</b> about *this*",),
        supplement="ln A <i>   31",
        experiment_status=(Status.SUCCESS, Status.STEP_LIMIT),
        provenance={**facts.provenance, "study_text": STUDY, "device": "<gpu>"},
    )


def pictures_of(tree) -> list[Picture]:
    return [Picture(name, caption_of(figure), *embedded(figure)) for name, figure in figures(tree).items()]


VOID = {"meta", "img", "br", "hr", "link", "input"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    text: str = ""
    inside: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        return [found for one in self.inside for found in ([one] if one.tag == tag else []) + one.all(tag)]


class Reader(HTMLParser):
    """Elements as a tree; an end tag that fits nothing, or a start tag left open, fails."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("root", {})
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, dict(attrs))
        assert len(element.attributes) == len(attrs), f"an attribute twice in <{tag}>"
        self.open[-1].inside.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        assert tag in VOID

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        if "pad" not in (self.open[-1].attributes.get("class") or ""):
            for element in self.open:
                element.text += data


def read(page: str) -> Element:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == [reader.root]
    return reader.root


def cells(table: Element) -> list[list[str]]:
    return [[cell.text for cell in row.inside] for body in table.all("tbody") for row in body.all("tr")]
