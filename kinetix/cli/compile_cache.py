"""JAX's compiled programs kept between runs of the command line. The library leaves the host's configuration alone."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "KINETIX_CACHE"


@dataclass(frozen=True)
class CacheState:
    """Where compiled programs are kept; `reason` says why they are not, where they are not."""

    folder: Path | None
    reason: str = ""


def start_compile_cache() -> CacheState:
    """Let this process keep and reuse compiled programs.

    The folder is `KINETIX_CACHE` (`off` keeps nothing), or else the one that JAX was told of, or else `kinetix/jax` in the
    user's cache folder. A folder that cannot be written to is left alone: everything works without it.
    """
    import jax

    if os.environ.get(VARIABLE, "").strip().lower() == "off":
        return CacheState(None, f"{VARIABLE}=off")
    told = jax.config.values["jax_compilation_cache_dir"]
    try:
        folder = Path(told) if told and VARIABLE not in os.environ else _folder()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        return CacheState(None, str(error))
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    return CacheState(folder)


def _folder() -> Path:
    chosen = os.environ.get(VARIABLE)
    return Path(chosen).expanduser() if chosen else _user_cache() / "kinetix" / "jax"


def _user_cache() -> Path:
    """The user's cache folder, by the custom of the platform."""
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"])
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"])
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path.home() / ".cache"


def size_of(folder: Path) -> tuple[int, int]:
    """Number and bytes of the programs kept in a folder."""
    sizes = [path.stat().st_size for path in folder.rglob("*-cache") if path.is_file()]
    return len(sizes), sum(sizes)
