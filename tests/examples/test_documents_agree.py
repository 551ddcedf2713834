"""What README, docs and examples print is what the product prints, and their tables of keys, options and names are complete.

A `text` block after `<!-- printed by: COMMAND -->` is compared with the command's output; `...` on a line of its own stands for
lines left out. Numbers that depend on the machine (times, versions, counts of iterations, the last cosine) are not compared.
"""

import re
import tomllib
from pathlib import Path

import pytest
import typer

import kinetix
from docs.site.pages import table_of_keys
from kinetix.cli.app import app
from kinetix.errors import StudyError
from kinetix.studies.building import basis_of, build_problem, reactor_of
from kinetix.studies.schema import parse_study

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "examples/*/*.md", "benchmarks/*.md")
    for path in REPOSITORY.glob(pattern)
)
PRINTED = re.compile(r"^<!-- printed by: (?P<command>[^\n]*) -->\n+```text\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
TOML = re.compile(r"^```toml\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
CHANGING = [
    (re.compile(r"\b\d+(?= (?:iteration|model evaluation|evaluation)s?\b)"), "N"),
    (re.compile(r"(?<=sensitivities )[\d.e+-]+"), "N"),
]


def text_of(document: str) -> str:
    return (REPOSITORY / document).read_text(encoding="utf-8")


def steady(text: str) -> str:
    """Text without what changes from run to run, nor how it is wrapped."""
    for pattern, replacement in CHANGING:
        text = pattern.sub(replacement, re.sub(r"[ \n]+", " ", text))
    return text.strip()


SHOWN = [(document, match["command"], match["body"]) for document in DOCUMENTS for match in PRINTED.finditer(text_of(document))]


@pytest.mark.parametrize(("document", "command", "body"), SHOWN, ids=[f"{document}-{i}" for i, (document, *_) in enumerate(SHOWN)])
def test_what_is_shown_is_what_is_printed(answer, document, command, body):
    printed, position = steady(answer(command).printed), 0
    for part in re.split(r"^\.\.\.\n", body, flags=re.MULTILINE):
        found = printed.find(steady(part), position)
        assert found >= 0, f"{document} shows this, but `{command}` does not print it:\n{part}\nIt prints:\n{answer(command).printed}"
        position = found


def test_readme_shows_the_study_of_its_example():
    assert text_of("examples/tank/study.toml") in text_of("README.md")


@pytest.mark.parametrize("document", [document for document in DOCUMENTS if TOML.search(text_of(document))])
def test_settings_mean_something(document):
    """Every block is a part of a study: its sections and keys are known; reactions, laws and units can be used.

    In a closed reactor, or where the rates depend on the time on stream in a tank.
    """
    for match in TOML.finditer(text_of(document)):
        block = {"schema": 1, **tomllib.loads(match["body"])}
        study = parse_study(block, document)
        basis = {"basis": "volume", "amounts": "concentration"}
        if study.reactor is not None:
            basis = {"basis": study.reactor.basis, "amounts": study.reactor.amounts}
            reactor_of(study.reactor.type, basis_of(basis["basis"], basis["amounts"]), study.reactor.density)
        if study.reactions:
            loading = {"W/V": "1 g/L"} if basis["basis"] == "catalyst_mass" else {}
            closed = {"reactor": {"type": "batch", **basis}, "initial": {"default": "1 mol/L"}, "conditions": {"T": "350 K", **loading}}
            if any("kd" in reaction or "t_on_stream" in reaction.get("rate", "") for reaction in block["reactions"].values()):
                tank = {"T": "350 K", "tau": "1 min", "t_on_stream": "1 h", "feed": {"default": "1 mol/L"}}
                closed = {"reactor": {"type": "cstr", **basis}, "conditions": tank}
            if "energy" in block:
                closed["conditions"] |= {"T_initial": "300 K", "T_coolant": "290 K", "V": "1 L"}
                closed = {**closed, "energy": block["energy"]}
                del closed["conditions"]["T"]
            kept = {name: block[name] for name in ("schema", "reactions", "parameters", "formulas") if name in block}
            build_problem(parse_study(kept | closed, document), [])


# ----------------------------------------------------------------------------------------------------------- complete tables


def test_table_of_keys_is_that_of_the_schema():
    page = text_of("docs/study-file.md")
    shown = re.search(r"<!-- begin: keys -->\n(.*?)<!-- end: keys -->", page, flags=re.DOTALL)
    assert shown is not None
    assert shown[1].strip() == table_of_keys().strip(), f"docs/study-file.md: put this between the marks:\n{table_of_keys()}"


def test_a_key_that_is_not_in_the_tables_is_refused():
    with pytest.raises(StudyError, match="unknown key 'tau'"):
        parse_study({"schema": 1, "tau": "10 min"}, "study.toml")


def test_every_option_is_on_the_page_about_the_command_line():
    page = text_of("docs/command-line.md")
    group = typer.main.get_command(app)
    missing = [
        f"{name} {option}"
        for name, command in group.commands.items()  # pyright: ignore[reportAttributeAccessIssue]
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and f"`{option}`" not in page and f"`{option} " not in page
    ]
    assert missing == []
    assert [name for name in group.commands if f"\n## {name}\n" not in page] == []  # pyright: ignore[reportAttributeAccessIssue]


def test_every_public_name_is_on_the_page_about_python():
    page = text_of("docs/python.md")
    assert [name for name in kinetix.__all__ if not name.startswith("_") and f"`{name}`" not in page] == []


def test_every_page_is_in_the_index():
    index = text_of("docs/index.md")
    docs = REPOSITORY / "docs"
    pages = [path.relative_to(docs).as_posix() for path in docs.rglob("*.md") if path.name != "index.md"]
    examples = [f"../examples/{path.name}/README.md" for path in (REPOSITORY / "examples").glob("*/")]
    assert [target for target in [*pages, *examples] if f"({target})" not in index] == []
