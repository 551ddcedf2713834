"""What the rooms of the house promise one another, read from the source."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
KINETIX = REPOSITORY / "kinetix"

NAMES_THAT_SAY_NOTHING = {"util", "utils", "helper", "helpers", "misc", "common", "manager", "managers"}

# A door is a distribution that only these files or rooms import, also inside functions.
DOORS = {
    "pint": {"units"},
    "typer": {"cli"},
    "matplotlib": {"plots"},
    "pydantic": {"studies"},
    "jaxopt": {"estimation"},
    "optax": {"estimation"},
    "h5netcdf": {"io"},
    "h5py": {"io"},
    "jinja2": {"report"},
}

OPENS_FILES = {"io", "cli"}
FILE_FUNCTIONS = {"open", "os.open", "io.open", "np.load", "np.save", "np.savez", "np.loadtxt", "np.savetxt", "np.genfromtxt"}
FILE_METHODS = {
    "open",
    "read_text",
    "read_bytes",
    "write_text",
    "write_bytes",
    "mkdir",
    "unlink",
    "to_netcdf",
    "to_zarr",
    "open_dataset",
    "open_datatree",
    "load_dataset",
}


def sources() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(KINETIX.rglob("*.py")):
        yield path.relative_to(KINETIX), ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and top-level name of everything that a file imports, also inside functions, but not for the type checker only."""
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module.partition(".")[0]


def opens_a_file(call: ast.Call) -> bool:
    text = ast.unparse(call.func)
    return text in FILE_FUNCTIONS or (isinstance(call.func, ast.Attribute) and call.func.attr in FILE_METHODS)


def test_every_dependency_has_its_door():
    wrong = [
        f"kinetix/{path}:{line} imports {name}, which enters through {', '.join(sorted(DOORS[name]))}"
        for path, tree in sources()
        for line, name in imported(tree)
        if name in DOORS and path.parts[0] not in DOORS[name]
    ]
    assert wrong == []


def test_only_io_and_the_command_line_open_files():
    wrong = [
        f"kinetix/{path}:{node.lineno} {ast.unparse(node.func)}"
        for path, tree in sources()
        if path.parts[0] not in OPENS_FILES
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and opens_a_file(node)
    ]
    assert wrong == []


def test_names_say_what_is_inside():
    paths = [
        path.relative_to(REPOSITORY) for top in ("kinetix", "tests", "benchmarks", "examples") for path in (REPOSITORY / top).rglob("*")
    ]
    assert [str(path) for path in paths if NAMES_THAT_SAY_NOTHING & {part.removesuffix(".py") for part in path.parts}] == []


def test_every_file_says_what_it_is_for():
    assert [f"kinetix/{path}" for path, tree in sources() if not ast.get_docstring(tree)] == []


def test_every_room_with_code_has_tests():
    rooms = {path.parent.name for path in KINETIX.glob("*/*.py") if path.name != "__init__.py"}
    assert sorted(room for room in rooms if not list((REPOSITORY / "tests" / room).glob("test_*.py"))) == []


def test_no_statement_hides_from_the_checkers_without_a_reason():
    """`# noqa` and `# type: ignore` name the rule they silence."""
    bare = re.compile(r"#\s*(noqa(?!:\s*[A-Z]+\d)|type:\s*ignore(?!\[)|pyright:\s*ignore(?!\[))")
    wrong = [
        f"kinetix/{path.relative_to(KINETIX)}:{number}"
        for path in sorted(KINETIX.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if bare.search(line)
    ]
    assert wrong == []


@pytest.mark.parametrize("extra", ["cuda12", "cuda13", "tpu", "posterior", "simulators", "scale", "docs", "test"])
def test_promised_extras_exist(extra):
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        assert extra in tomllib.load(file)["project"]["optional-dependencies"]


def test_no_dependency_is_capped_from_above():
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    everything = project["dependencies"] + [entry for extra in project["optional-dependencies"].values() for entry in extra]
    assert [entry for entry in everything if re.search(r"<|==|~=|!=", entry)] == []
