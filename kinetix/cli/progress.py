"""What the command is doing, on one line of the terminal that goes away again; nothing where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(wanted: bool = True) -> Iterator[Callable[[str], None]]:
    """A function that shows what is being done until the block ends."""
    if not wanted or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield status.update
