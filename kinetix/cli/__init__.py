"""The command line, thin: files through `io`, the work in `studies`, the answer printed and written."""

from __future__ import annotations

import io
import sys
import time


def main() -> None:
    """The command `kinetix`: reads `sys.argv`, ends the process with 0, 1 (a problem, told in words) or 2 (wrong usage)."""
    began = time.perf_counter()
    from kinetix.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console without ° or σ shows a question mark instead of failing
    app(prog_name="kinetix", obj=began)
