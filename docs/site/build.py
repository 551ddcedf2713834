"""Builds the documentation: `python docs/site/build.py [FOLDER]`, by default into build/docs; a warning is an error.

The Markdown pages are taken as they are, from a copy in FOLDER/source; to them come pages that are read from the code
(`pages.py`). What stands where in the navigation is said by the links in docs/index.md, section by section.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from docs.site import pages  # noqa: E402  (the repository is put on the path first)

COPIED = ("*.md", "LICENSE", "docs/**/*.md", "docs/images/*", "examples/**/*", "benchmarks/**/*")
LINK = re.compile(r"\[(?P<text>[^]]+)\]\((?P<target>[^)#:]+\.md)\)")
AFTER = "Chemistry and numbers"
"""The section of the index after which the pages that are read from the code stand in the navigation."""
START = '<!doctype html><meta charset="utf-8"><title>kinetix</title><meta http-equiv="refresh" content="0; url=docs/index.html">\n'


def write_source(source: Path) -> None:
    """All that Sphinx reads, in a new folder."""
    shutil.rmtree(source, ignore_errors=True)
    for path in (path for pattern in COPIED for path in REPOSITORY.glob(pattern) if path.is_file()):
        copy = source / path.relative_to(REPOSITORY)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    laws, reactors = dict(pages.law_pages()), dict(pages.reactor_pages())
    made = {f"theory/{name}.md": text for name, text in (laws | reactors).items()}
    made |= {"python-reference.md": pages.python_page(), "results.md": pages.results_page(), "help-texts.md": pages.help_page()}
    for name, text in made.items():
        page = source / "docs" / name
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, encoding="utf-8")
    index = source / "docs" / "index.md"
    groups = {
        "Reference": {"Python reference": "python-reference.md", "Variables of a result": "results.md", "Help texts": "help-texts.md"},
        "Theory: rate laws": {name: f"theory/{name}.md" for name in laws},
        "Theory: reactors": {name: f"theory/{name}.md" for name in reactors},
    }
    index.write_text(with_navigation(index.read_text(encoding="utf-8"), groups), encoding="utf-8")


def with_navigation(index: str, groups: dict[str, dict[str, str]]) -> str:
    """The index with a hidden table of contents for each of its sections, and for `groups` (caption -> title -> file) of other pages."""
    _, *sections = re.split(r"^## ", index, flags=re.MULTILINE)
    linked = {section.partition("\n")[0]: {match["text"]: match["target"] for match in LINK.finditer(section)} for section in sections}
    captions = list(linked)
    place = captions.index(AFTER) + 1
    for caption in [*captions[:place], *groups, *captions[place:]]:
        entries = (linked | groups)[caption]
        index += "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", ""])
        index += "".join(f"\n{title} <{target}>" for title, target in entries.items()) + "\n```\n"
    return index


def build(folder: Path) -> int:
    """Exit code of Sphinx."""
    write_source(folder / "source")
    options = ["-W", "--keep-going", "--quiet", "-c", str(Path(__file__).parent), "-d", str(folder / "trees")]
    command = [sys.executable, "-m", "sphinx", *options, str(folder / "source"), str(folder / "html")]
    result = subprocess.run(command, cwd=REPOSITORY, check=False)
    if result.returncode == 0:
        (folder / "html" / "index.html").write_text(START, encoding="utf-8")
        print(folder / "html" / "index.html")
    return result.returncode


if __name__ == "__main__":
    sys.exit(build(Path(*sys.argv[1:] or [REPOSITORY / "build" / "docs"]).resolve()))
