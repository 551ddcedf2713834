"""Pages and tables of the documentation that are read from the code: study keys, rate laws, reactors, Python names, help texts."""

from __future__ import annotations

import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typer.testing import CliRunner

import kinetix
from kinetix import rates
from kinetix.cli.app import app
from kinetix.rates import BOOKS
from kinetix.reactors import REACTORS, Reactor
from kinetix.results.schema import ATTRIBUTES, VARIABLES
from kinetix.studies.schema import Study
from kinetix.units import Dimension

NO_LAW = {"basis", "book", "function", "law"}
"""Files on the shelf of rate laws that say what a law, and what a rate, is."""


# ------------------------------------------------------------------------------------------------------------ the study file


def table_of_keys() -> str:
    """One table for the top level, one for each section with keys of its own."""
    parts = ["At the top of the file:\n", *_rows(Study, outer=True)]
    for name, field in Study.model_fields.items():
        section = _section_of(field.annotation)
        if section is not None:
            each = ", each reaction" if name == "reactions" else ""
            parts += [f"\n`[{name}]`{each}:\n", *_rows(section)]
    return "\n".join(parts) + "\n"


def _section_of(annotation: object) -> type[BaseModel] | None:
    """The section behind `X`, `X | None` or `dict[str, X]`."""
    for candidate in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _rows(model: type[BaseModel], outer: bool = False) -> list[str]:
    lines = ["| key | meaning | default |", "|---|---|---|"]
    for name, field in model.model_fields.items():
        section = _section_of(field.annotation) if outer else None
        table = section is not None or getattr(field.annotation, "__origin__", None) is dict
        key = f"`[{name}]`" if outer and table else f"`{field.alias or name}`"
        meaning = re.sub(r"([*_|\\])", r"\\\1", field.description or _first_sentence(section))
        lines.append(f"| {key} | {meaning} | {_default_of(field)} |")
    return lines


def _first_sentence(section: type[BaseModel] | None) -> str:
    text = ((section.__doc__ if section is not None else None) or "").strip().rstrip(".")
    return f"{text[:1].lower()}{text[1:]}"


def _default_of(field: FieldInfo) -> str:
    if field.is_required():
        return "must be given"
    default = field.get_default(call_default_factory=True)
    if default is None or default in ("", [], {}) or isinstance(default, BaseModel):
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


# ------------------------------------------------------------------------------------------------------ rate laws and reactors


def law_pages() -> Iterator[tuple[str, str]]:
    """Name and text of the page of each rate law: what its file says, and what may be said about it in a study."""
    books = {sys.modules[book.write.__module__].__name__.rpartition(".")[2]: book for book in BOOKS.values()}
    for found in pkgutil.iter_modules(rates.__path__):
        if found.name in NO_LAW:
            continue
        text = f"# {found.name}\n\n{inspect.getdoc(import_module(f'kinetix.rates.{found.name}'))}\n"
        if found.name in books:
            name, options = books[found.name].name, books[found.name].options
            text += f'\n## In a study\n\n`law = "{name}"`, or with options `law = {{ type = "{name}", ... }}`:\n\n'
            text += "| option | meaning |\n|---|---|\n"
            text += "".join(f"| `{option}` | {_cell(meaning)} |\n" for option, meaning in options.items())
        yield found.name, f"{text}\nHow rate laws are written, with examples: [Rate laws](../rate-laws.md).\n"


def reactor_pages() -> Iterator[tuple[str, str]]:
    """Name and text of the page of each reactor: its balance, and what it needs to be told."""
    for name, reactor in REACTORS.items():
        text = f"# {name}\n\n{inspect.getdoc(import_module(f'kinetix.reactors.{name}'))}\n\n## What it takes\n\n"
        text += "| question | answer |\n|---|---|\n"
        text += "".join(f"| {what} | {_cell(said)} |\n" for what, said in _facts(reactor))
        yield name, f"{text}\n{_READING}"


_READING = """c is the concentration of a species, amount/volume; r_j the rate of reaction j, amount/(volume time); nu_ij the
coefficient of species i in it, products minus reactants. Any unit of the right kind may be written; inside, all numbers are in SI
(mol/m³, s, K).

What must be given, and how: [Reactors](../reactors.md). What the rate of a reaction means: [Reactions](../reactions.md).
"""


def _facts(reactor: Reactor) -> Iterator[tuple[str, str]]:
    yield "a row of data", "one time of one experiment" if reactor.timed else "an experiment of its own"
    for basis, loading in reactor.loadings.items():
        if loading is not None:
            yield f'{loading.what}, with `basis = "{basis}"`', f"needed: {loading.choices}"
    yield "other conditions, and the kind of their units", _listed(reactor.conditions)
    if reactor.optional:
        yield "conditions that may be left out", _listed(reactor.optional)
    if reactor.densities:
        yield "how the density goes, which must be said", " or ".join(f'`density = "{density}"`' for density in reactor.densities)
    if reactor.series is not None:
        yield "equal ones in series", "`tanks`"
    if reactor.start_temperatures:
        yield "with `[energy]`", f"`{reactor.heated_from}` in the place of `T`, which is then an answer; with a jacket `T_coolant`"
    yield "feed of every species", "needed" if reactor.needs_feed else "none"
    yield "initial amount of every species", "needed" if reactor.needs_initial else "none"
    yield "what is measured", "rates" if reactor.measures_rates else "concentrations, rates, formulas of them"


def _listed(conditions: Mapping[str, Dimension]) -> str:
    return ", ".join(f"`{name}` ({kind})" for name, kind in conditions.items())


def _cell(text: str) -> str:
    """Text for a cell of a table: what would be markup is escaped, but for code, which shows as it is written."""
    parts = text.split("`")
    return "`".join(re.sub(r"(\|)" if i % 2 else r"([*_|\\<])", r"\\\1", part) for i, part in enumerate(parts))


# ------------------------------------------------------------------------------------------------ results, Python, command line


def results_page() -> str:
    """Every variable of a result, group by group, and the attributes that describe a fit."""
    parts = [
        "# Variables of a result",
        "What `fit.nc` and the DataTree of `kx.fit` and `kx.simulate` hold. How to use them: [Python](python.md#the-result).",
    ]
    for group in dict.fromkeys(variable.group for variable in VARIABLES):
        rows = [
            f"| {_named(v.name)} | {', '.join(v.dims)} | {_cell(_UNITS.get(v.unit, v.unit))} | {_cell(v.meaning)} |"
            for v in VARIABLES
            if v.group == group
        ]
        parts += [f"## {group}", "\n".join(["| name | dimensions | unit | meaning |", "|---|---|---|---|", *rows])]
    rows = [f"| `{name}` | {_cell(meaning)} |" for name, meaning in ATTRIBUTES.items()]
    parts += ["## Attributes of the root", "\n".join(["| name | meaning |", "|---|---|", *rows]), "All others are provenance."]
    return "\n\n".join(parts) + "\n"


def _named(name: str) -> str:
    return "each condition" if name == "*" else f"`{name}`"


_UNITS = {
    "label": "",
    "1": "1",
    "parameter": "of the parameter",
    "derived": "of the quantity",
    "product": "product of the two",
    "response": "of the response",
    "1/response": "1 over that of the response, or 1",
    "time": "of the data",
    "condition": "of the condition",
    "constant": "of the constant",
    "objective": "1, or that of the responses",
    "objective^2": "1, or that of the responses, squared",
}
"""The rules of `kinetix.results.schema` in words."""


def python_page() -> str:
    """Every public name with its docstring, by the room it lives in."""
    homes: dict[str, list[str]] = {}
    for name in sorted(name for name in kinetix.__all__ if not name.startswith("_")):
        homes.setdefault(getattr(kinetix, name).__module__.split(".")[1], []).append(name)
    parts = ["# Python reference", "Every public name of `import kinetix as kx`. How they work together: [Python](python.md)."]
    for room in sorted(homes, key=_floor):
        summary = (inspect.getdoc(import_module(f"kinetix.{room}")) or "").splitlines()[0]
        parts += [f"## {room}", summary]
        for name in homes[room]:
            thing = getattr(kinetix, name)
            kind = "autofunction" if inspect.isroutine(thing) else "autoclass" if not _is_error(thing) else "autoexception"
            parts.append(f"```{{eval-rst}}\n.. {kind}:: kinetix.{name}\n```")
    return "\n\n".join(parts) + "\n"


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, BaseException)


def _floor(room: str) -> int:
    """What people use comes first: the house from the top."""
    order = ("studies", "network", "io", "report", "plots", "simulation", "units", "status", "errors", "precision")
    return order.index(room) if room in order else len(order)


def help_page() -> str:
    """The help text of each command."""
    group = typer.main.get_command(app)
    parts = ["# Help texts", "What `--help` prints. In longer words: [Command line](command-line.md)."]
    for command in ("", *group.commands):  # pyright: ignore[reportAttributeAccessIssue]
        arguments = [*command.split(), "--help"]
        printed = CliRunner().invoke(app, arguments, prog_name="kinetix", env={"COLUMNS": "100"}, catch_exceptions=False).stdout
        parts += [f"## kinetix {command}".rstrip(), f"```text\n{printed.strip()}\n```"]
    return "\n\n".join(parts) + "\n"
