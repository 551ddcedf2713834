"""`kinetix devices`: what JAX sees, and what kinetix would use."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any

import typer

from kinetix.cli.compile_cache import VARIABLE, size_of, start_compile_cache
from kinetix.cli.messages import telling

GIBIBYTE = 2**30
Device = Any
"""`jax.Device`, which is no type to a type checker."""


def devices() -> None:
    """Show the devices that JAX sees, the precision, what would be chosen and why, and the compile cache.

    \b
    Examples:
      kinetix devices
      KINETIX_CACHE=off kinetix devices

    Compiled programs are kept between runs, in the folder that is shown; the environment variable KINETIX_CACHE names
    another folder, or is "off". Writes nothing else.
    """
    with telling():
        import jax

        chosen = jax.devices()[0]
        typer.echo("Devices")
        for device in _seen():
            typer.echo(f"  {device.platform}:{device.id}  {device.device_kind}{_memory(device)}")
        typer.echo(f"Chosen: {chosen.platform}:{chosen.id}. {_reason(chosen, len(jax.devices()))}")
        typer.echo("Precision: float64 for every number, on every device; other programs' JAX settings are not touched.")
        typer.echo(f"Compile cache: {_cache()}")
        packages = (("kinetix", "kinetix-chem"), ("jax", "jax"), ("jaxlib", "jaxlib"))
        typer.echo("Versions: " + ", ".join(f"{name} {version(package)}" for name, package in packages))


def _seen() -> list[Device]:
    """The devices of JAX's own choice, and the CPU."""
    import jax

    try:
        return list(dict.fromkeys([*jax.devices(), *jax.devices("cpu")]))
    except RuntimeError:  # JAX_PLATFORMS leaves the CPU out
        return jax.devices()


def _memory(device: Device) -> str:
    statistics = device.memory_stats() or {}
    limit = statistics.get("bytes_limit")
    if limit:
        return f", {limit / GIBIBYTE:.1f} GiB for JAX, {statistics.get('bytes_in_use', 0) / GIBIBYTE:.1f} GiB in use"
    if device.platform == "cpu" and hasattr(os, "sysconf"):
        return f", {os.cpu_count()} cores, {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / GIBIBYTE:.1f} GiB in the machine"
    return ""


def _reason(chosen: Device, count: int) -> str:
    if chosen.platform == "cpu":
        return "JAX sees no GPU. If there is one, it needs JAX's package for it: pip install 'kinetix-chem[cuda12]'."
    others = f" (the first of {count})" if count > 1 else ""
    return (
        f"A GPU is there{others}, and kinetix takes it. From which size of problem on it is faster than the CPU has not been measured"
        " yet; --device cpu takes the CPU."
    )


def _cache() -> str:
    cache = start_compile_cache()
    if cache.folder is None:
        return f"none: {cache.reason}. Every run compiles its programs again. {VARIABLE} names a folder."
    number, size = size_of(cache.folder)
    return f"{cache.folder}, {number} program{'' if number == 1 else 's'}, {size / 2**20:.1f} MiB. Removing the folder is safe."
