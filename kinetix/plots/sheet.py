"""The sheet that every figure is drawn on: panels in a grid, quiet axes, one palette. No pyplot, so nothing global changes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C564B", "#4D4D4D")
"""Distinct to colour-blind readers (Okabe and Ito 2008), without the yellow that vanishes on paper."""

GUIDE = "#8A8A8A"
LARGEST_GRID = 48
"""Panels beyond this would be too small to read."""


@dataclass(frozen=True)
class Sheet:
    """A figure with its panels in reading order."""

    figure: Figure
    panels: tuple[Axes, ...]
    columns: int


def sheet(number: int, *, columns: int | None = None, width: float = 3.4, height: float = 3.0) -> Sheet:
    """A figure with so many panels, each about `width` x `height` inches."""
    from matplotlib.figure import Figure

    columns = columns or _columns(number)
    rows = -(-number // columns)
    figure = Figure(figsize=(max(width * columns, 3.6), height * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    panels = tuple(grid.flat)
    for panel in panels[number:]:
        panel.remove()
    for panel in panels[:number]:
        quiet(panel)
    return Sheet(figure, panels[:number], columns)


def _columns(number: int) -> int:
    """A little wider than high, with few places left empty."""
    wide = max(1, round(math.sqrt(1.4 * number)))
    return min(
        (columns for columns in (wide + 1, wide, wide - 1) if 0 < columns <= number), key=lambda columns: -number % columns, default=1
    )


def quiet(panel: Axes) -> None:
    """Frame at the left and below only, small ticks, a pale grid behind the data."""
    panel.spines[["top", "right"]].set_visible(False)
    for spine in panel.spines.values():
        spine.set_linewidth(0.8)
    panel.tick_params(labelsize=9, width=0.8, length=3)
    panel.grid(visible=True, linewidth=0.5, color="#E6E6E6")
    panel.set_axisbelow(True)


def captioned(figure: Figure, caption: str) -> Figure:
    """The figure with its caption, for those who embed it; it is not drawn."""
    figure.set_label(caption)
    return figure


def caption_of(figure: Figure) -> str:
    """What the figure shows, in words."""
    return str(figure.get_label())


def colour(index: int) -> str:
    """The palette's colour for the `index`-th member of a group."""
    return PALETTE[index % len(PALETTE)]


def with_unit(name: str, unit: str) -> str:
    """An axis label, with whole powers raised as in print.

    >>> with_unit("k", "m^3/mol/s"), with_unit("k", "L^0.5 mol^-0.5 s^-1"), with_unit("yield", "1")
    ('k [m³/mol/s]', 'k [L^0.5 mol^-0.5 s⁻¹]', 'yield')
    """
    raised = re.sub(r"\^(-?\d+)(?![\d.])", lambda power: power[1].translate(_RAISED), unit)
    return name if unit == "1" else f"{name} [{raised}]".strip()


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def marker_size(points: int) -> float:
    """A marker diameter in points that keeps so many markers apart.

    >>> marker_size(20), marker_size(5000)
    (5.0, 2.0)
    """
    return float(min(5.0, max(2.0, 5.0 * (60 / max(points, 1)) ** 0.25)))
