"""`kinetix devices`, the compile cache, and the command as users start it."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import jax
import pytest

import kinetix
from kinetix.cli.compile_cache import size_of, start_compile_cache
from tests.cli.places import BATCH, run, write_tank


@pytest.fixture
def jax_settings():
    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs", "jax_persistent_cache_min_entry_size_bytes")
    before = {name: getattr(jax.config, name) for name in names}
    yield before
    for name, value in before.items():
        jax.config.update(name, value)


def test_devices_says_what_there_is_and_what_would_be_chosen():
    result = run("devices")
    assert result.exit_code == 0, result.stderr
    for words in ("Devices\n  ", "cpu:0", "Chosen: ", "Precision: float64", "Compile cache: none: KINETIX_CACHE=off"):
        assert words in result.stdout
    assert f"kinetix {kinetix.__version__}, jax {jax.__version__}, jaxlib " in result.stdout


def test_the_cache_is_where_the_platform_keeps_caches(tmp_path, monkeypatch, jax_settings):
    monkeypatch.delenv("KINETIX_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    state = start_compile_cache()
    assert state.folder == tmp_path / "kinetix" / "jax"
    assert jax.config.jax_compilation_cache_dir == str(state.folder)
    assert jax.config.jax_persistent_cache_min_compile_time_secs == 0
    assert jax.config.jax_persistent_cache_min_entry_size_bytes == -1


def test_the_cache_can_be_elsewhere_off_or_impossible(tmp_path, monkeypatch, jax_settings):
    monkeypatch.setenv("KINETIX_CACHE", "off")
    assert start_compile_cache().folder is None
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KINETIX_CACHE", str(tmp_path / "file" / "below"))
    impossible = start_compile_cache()
    assert impossible.folder is None
    assert "file" in impossible.reason
    assert {name: getattr(jax.config, name) for name in jax_settings} == jax_settings
    assert "Compile cache: none: " in run("devices").stdout
    monkeypatch.setenv("KINETIX_CACHE", str(tmp_path / "mine"))
    assert start_compile_cache().folder == tmp_path / "mine"


def command(*arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments,
        env=os.environ | {"KINETIX_CACHE": str(cache)},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.mark.slow
def test_a_fit_from_the_shell_fills_the_cache(place, tmp_path):
    script = Path(sysconfig.get_path("scripts"), "kinetix")
    result = command(str(script), "fit", str(write_tank(place)), cache=tmp_path / "cache")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "The fit converged" in result.stdout
    assert (place / "tank-fit" / "fit.nc").exists()
    number, size = size_of(tmp_path / "cache")
    assert number > 0
    assert size > 10_000


def test_a_wrong_study_from_the_shell(place, tmp_path):
    (place / "batch.toml").write_text(BATCH.replace("1/s", "mol/s"), encoding="utf-8")
    result = command(sys.executable, "-m", "kinetix", "check", "batch.toml", cache=tmp_path / "cache")
    assert result.returncode == 1
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert "mol/s" in line
