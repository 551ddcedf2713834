"""`import kinetix` is light, starts no backend and changes nothing in its host; each room brings only what it needs."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

# Distribution by distribution: the lowest room that may load it at import; None: loaded on use only, by any room.
HEAVY = {
    "openpyxl": None,
    "pint": None,
    "matplotlib": None,
    "scipy.stats": None,
    "jaxopt": None,
    "optax": None,
    "jinja2": None,
    "pandas": "results",
    "xarray": "results",
    "pydantic": "studies",
    "typer": "cli",
    "rich": "cli",
}


def fresh(program: str, **environment: str) -> str:
    """What a new interpreter prints when it runs `program`."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def rooms_from_the_floor() -> list[str]:
    """The rooms that exist, lowest first, in the order of the import contract."""
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        layers = tomllib.load(file)["tool"]["importlinter"]["contracts"][0]["layers"]
    names = [name.strip(" ()") for layer in reversed(layers) for name in layer.split("|")]
    kinetix = REPOSITORY / "kinetix"
    return [name for name in names if (kinetix / name).is_dir() or (kinetix / f"{name}.py").is_file()]


def test_import_loads_nothing_heavy():
    program = f"import kinetix, sys; print(*[name for name in {list(HEAVY)} if name in sys.modules])"
    assert fresh(program).split() == []


def test_each_room_loads_only_what_it_needs():
    rooms = rooms_from_the_floor()
    program = f"""
import importlib, json, sys
loaded = {{}}
for room in {rooms}:
    importlib.import_module(f"kinetix.{{room}}")
    loaded[room] = [name for name in {list(HEAVY)} if name in sys.modules]
print(json.dumps(loaded))
"""
    wrong = [
        f"kinetix.{room} loads {name}"
        for room, names in json.loads(fresh(program)).items()
        for name in names
        if HEAVY[name] is None or HEAVY[name] not in rooms or rooms.index(room) < rooms.index(HEAVY[name])
    ]
    assert wrong == []


@pytest.fixture(scope="module")
def import_everything() -> str:
    """Program text: every room and every public name is imported."""
    return f"""
import importlib, kinetix
for room in {rooms_from_the_floor()}:
    importlib.import_module(f"kinetix.{{room}}")
for name in getattr(kinetix, "__all__", ()):
    getattr(kinetix, name)
"""


def test_import_starts_no_backend(import_everything):
    """With a platform that does not exist, starting a backend is an error: importing must not meet it."""
    program = f"""{import_everything}
import jax
try:
    jax.devices()
except RuntimeError:
    print("the trap is armed")
"""
    assert fresh(program, JAX_PLATFORMS="no_such_platform").strip() == "the trap is armed"


def test_import_changes_no_setting(import_everything):
    program = f"""
import os, jax, numpy as np
def settings():
    return dict(jax.config.values), dict(os.environ), np.geterr(), np.get_printoptions()
before = settings()
{import_everything}
assert settings() == before, [(old, new) for old, new in zip(before, settings()) if old != new]
"""
    fresh(program)


def test_import_changes_no_warning_filter():
    fresh("import jax, warnings; before = list(warnings.filters); import kinetix; assert warnings.filters == before")
