"""The command line, thin: files through `io`, the work in `studies`, the answer printed and written."""

from __future__ import annotations

import io
import sys
import time
from typing import Any


class Listened(io.FileIO):
    """Output that somebody may stop reading (`| head`): what follows is dropped, and work goes on."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(memoryview(data))


def main() -> None:
    """The command `kinetix`: reads `sys.argv`, ends the process with 0, 1 (a problem, told in words) or 2 (wrong usage)."""
    began = time.perf_counter()
    from kinetix.cli.app import app

    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            raw = io.BufferedWriter(Listened(stream.fileno(), "wb", closefd=False))
            # errors: a console without ° or σ shows a question mark instead of failing
            setattr(sys, name, io.TextIOWrapper(raw, stream.encoding, errors="replace", line_buffering=True))
    app(prog_name="kinetix", obj=began)
