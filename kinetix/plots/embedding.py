"""A figure as bytes to embed in a page: SVG where that is small, else PNG."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST_SVG = 200_000
"""Bytes; a drawing of more points is smaller, and as sharp to the eye, as a bitmap."""

PIXELS = 96
"""Pixels of a page in an inch; a bitmap has half as many more."""


def embedded(figure: Figure) -> tuple[str, bytes, int]:
    """The media type, the picture, and its width in pixels of a page; the same figure gives the same bytes.

    >>> from kinetix.plots.sheet import sheet
    >>> media_type, data, width = embedded(sheet(1).figure)
    >>> media_type, data.startswith(b"<?xml"), width
    ('image/svg+xml', True, 346)
    """
    from matplotlib import rc_context

    width = round(figure.get_figwidth() * PIXELS)
    with rc_context({"svg.hashsalt": "kinetix"}):
        drawing = _saved(figure, format="svg", metadata={"Date": None, "Creator": None})
    if len(drawing) <= LARGEST_SVG:
        return "image/svg+xml", drawing, width
    return "image/png", _saved(figure, format="png", dpi=1.5 * PIXELS), width


def _saved(figure: Figure, **options: object) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, **options)  # pyright: ignore[reportArgumentType]
    return target.getvalue()
