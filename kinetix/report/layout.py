"""Plain text in lines of one width, and tables of it in columns."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence

WIDTH = 96


def columned(header: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]) -> list[str]:
    """Header and rows in columns two spaces apart; `right` names the right-aligned ones."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    return [
        "  ".join(
            f"{cell:>{width}}" if column in right else f"{cell:<{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (header, *rows)
    ]


def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """A paragraph as lines, the first and the rest after their own beginnings."""
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
