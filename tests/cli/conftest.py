"""Commands in this process leave JAX's configuration alone, and run in an empty folder."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_compile_cache(monkeypatch):
    monkeypatch.setenv("KINETIX_CACHE", "off")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch) -> Path:
    """An empty folder, the current one."""
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder
