"""The documentation builds as a site without a warning, offline: no page fetches anything when it is read."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from docs.site import pages
from kinetix.rates import BOOKS
from kinetix.reactors import REACTORS

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built site; a warning of the builder fails here, with its words."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(REPOSITORY / "docs" / "site" / "build.py"), str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if result.returncode:
        pytest.fail(f"{result.stdout}{result.stderr}", pytrace=False)
    return folder / "html"


class Fetched(HTMLParser):
    """What a browser would fetch to show a page: scripts, styles, images, frames, fonts; not links to follow."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.addresses += [given.get("src") or "", (given.get("href") or "") if tag == "link" else ""]


def test_pages_fetch_nothing_from_elsewhere(site):
    for page in sorted(site.rglob("*.html")):
        reader = Fetched()
        reader.feed(page.read_text(encoding="utf-8"))
        assert [address for address in reader.addresses if re.match(r"(\w+:)?//", address)] == [], page.name
    for style in sorted(site.rglob("*.css")):
        assert re.findall(r"(?:@import|url\()\s*[\"']?(?:\w+:)?//[^)\s]*", style.read_text(encoding="utf-8")) == [], style.name


def test_the_site_begins_at_its_top(site):
    assert "docs/index.html" in (site / "index.html").read_text(encoding="utf-8")
    assert (site / "docs" / "index.html").is_file()


def test_every_law_and_reactor_has_its_page_with_formula_and_source():
    laws, reactors = dict(pages.law_pages()), dict(pages.reactor_pages())
    for name, text in (laws | reactors).items():
        assert re.search(r"^    \S.*=", text, flags=re.MULTILINE), f"{name}: no formula in the docstring of its file"
        assert re.search(r"\b1[89]\d\d\b|\b20\d\d\b", text), f"{name}: no source in the docstring of its file"
    for book in BOOKS.values():
        assert any(f'law = "{book.name}"' in text for text in laws.values())
        for option in book.options:
            assert any(f"| `{option}` |" in text for text in laws.values())


def test_a_reactors_page_names_every_condition_it_can_need():
    for name, text in pages.reactor_pages():
        reactor = REACTORS[name]
        needed = {
            *reactor.conditions,
            *reactor.optional,
            *(one for loading in reactor.loadings.values() if loading for one in loading.conditions),
        }
        assert [one for one in needed if not re.search(rf"(?<![\w/]){re.escape(one)}(?![\w/])", text)] == [], name


def test_docstrings_of_public_names_become_entries(site):
    page = (site / "docs" / "python-reference.html").read_text(encoding="utf-8")
    assert 'id="kinetix.fit"' in page
    assert "parameters by bounded least squares" in page
