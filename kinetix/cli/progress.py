"""What the command is doing, on one line of the terminal that goes away again; nothing where stderr is no terminal."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinetix.estimation import Done, Iteration


@contextmanager
def progress(wanted: bool = True) -> Iterator[Callable[[str], None]]:
    """A function that shows what is being done until the block ends."""
    if not wanted or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield status.update


@dataclass
class SearchProgress:
    """Tells how far a search is: the iterations of one start, or the starts that are done and how many are done in a second.

    Attributes:
        say: shows a line.
        before: what stands before the iterations.
    """

    say: Callable[[str], None]
    before: str = ""

    def iteration(self, iteration: Iteration) -> None:
        self.say(f"{self.before}iteration {iteration.number}, sum of squares {iteration.ssr:.6g}")

    def refit(self, what: str, done: int, total: int) -> None:
        self.say(f"{what}: {done} of {total}")

    def start(self, done: Done) -> None:
        if done.total == 1:
            return
        rate = done.done / done.seconds if done.seconds > 0 else 0.0
        best = "" if math.isnan(done.ssr) else f", best sum of squares {done.ssr:.6g}"
        self.before = f"{done.done} of {done.total} starts, {rate:.3g} per second{best}; start {done.done + 1}: "
        self.say(self.before.partition(";")[0])
