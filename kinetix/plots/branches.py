"""Steady states over a condition: the S-curves of ignition and extinction, isolas, and where the states asked for lie on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import xarray as xr

from kinetix.plots.sheet import captioned, colour, sheet, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARGIN = 10.0
"""How far a logarithmic axis goes beyond what happens on it, as a factor."""

WIDE = 30.0
"""Ratio of the ends of a range from which on it is drawn logarithmically."""


class Quantity(NamedTuple):
    """What is drawn upwards.

    Attributes:
        label: of the axis.
        points: along the curves, (point,).
        states: at the states, (state,).
    """

    label: str
    points: np.ndarray
    states: np.ndarray


def branches(states: xr.Dataset) -> Figure:
    """Steady states over the condition along which curves go: stable ones solid, unstable ones dashed, the states asked for as circles.

    A panel for the temperature and for each response that is a formula; for each species where there are neither. A colour for each
    experiment.

    Args:
        states: a result of `kinetix.steady_branches`.
    """
    quantities = list(_quantities(states))
    page = sheet(len(quantities), width=4.8, height=3.6)
    x = states["point_along"].values
    low, high = _window(states)
    label = with_unit(str(states.attrs["along"]), states["point_along"].attrs["units"])
    for panel, quantity in zip(page.panels, quantities, strict=True):
        if high / low > WIDE:
            panel.set_xscale("log")
        for i, name in enumerate(states["experiment"].values):
            for curve in np.unique(states["point_curve"].values[states["point_experiment"].values == name]):
                _draw_curve(panel, states, quantity.points, int(curve), colour(i))
            _draw_states(panel, states, quantity.states, str(name), colour(i))
        inside = (x >= low) & (x <= high)
        panel.set_xlim(low, high)
        if inside.any():
            bottom, top = np.min(quantity.points[inside]), np.max(quantity.points[inside])
            panel.set_ylim(bottom - 0.05 * (top - bottom or 1.0), top + 0.05 * (top - bottom or 1.0))
        panel.set_xlabel(label)
        panel.set_ylabel(quantity.label)
    several = f" Colours: {', '.join(map(str, states['experiment'].values))}." if states.sizes["experiment"] > 1 else ""
    return captioned(
        page.figure,
        f"Steady states over {label}: stable solid, unstable dashed. Circles are the states asked for, filled where stable, ringed where"
        " the feed leads to; triangles turning points, squares where an oscillation begins or ends, crosses where curves"
        f" cross.{several}",
    )


def _quantities(states: xr.Dataset) -> Iterator[Quantity]:
    """The temperature where it differs, and formulas; else concentrations."""
    found = 0
    if "T" in states and np.ptp(states["point_T"].values) > 0:
        yield Quantity(with_unit("T", states["T"].attrs["units"]), states["point_T"].values, states["T"].values)
        found += 1
    if "response" in states.dims:
        for i, (name, unit) in enumerate(zip(states["response"].values, states["unit"].values, strict=True)):
            yield Quantity(with_unit(str(name), str(unit)), states["point_predicted"].values[:, i], states["predicted"].values[:, i])
            found += 1
    if not found:
        for i, (name, unit) in enumerate(zip(states["species"].values, states["species_unit"].values, strict=True)):
            points, at_rest = states["point_concentration"].values[:, i], states["concentration"].values[:, i]
            yield Quantity(with_unit(str(name), str(unit)), points, at_rest)


def _window(states: xr.Dataset) -> tuple[float, float]:
    """The part of the axis that is drawn: all of a narrow one, else around what happens."""
    x = states["point_along"].values
    if not x.size:
        return 0.5 * float(states["wanted"].min()), 2.0 * float(states["wanted"].max())
    ends = float(x.min()), float(x.max())
    if ends[0] <= 0.0 or ends[1] / ends[0] <= WIDE:
        return ends
    shown = np.concatenate([x[states["point_kind"].values != ""], states["wanted"].values])
    return max(ends[0], float(shown.min()) / MARGIN), min(ends[1], float(shown.max()) * MARGIN)


def _draw_curve(panel: Axes, states: xr.Dataset, y: np.ndarray, curve: int, shade: str) -> None:
    here = np.flatnonzero(states["point_curve"].values == curve)
    x, stable, kind = (states[name].values for name in ("point_along", "point_stable", "point_kind"))
    # a special point belongs to both of its sides
    breaks = [k for k in range(1, len(here) - 1) if kind[here[k]] != "" and stable[here[k - 1]] != stable[here[k + 1]]]
    for start, stop in zip([0, *breaks], [*breaks, len(here) - 1], strict=True):
        part = here[start : stop + 1]
        middle = part[len(part) // 2]
        panel.plot(x[part], y[part], color=shade, linewidth=1.6, linestyle="-" if stable[middle] else (0, (4, 2)))
    for name, marker in (("fold", "^"), ("hopf", "s"), ("branch", "x")):
        special = here[kind[here] == name]
        panel.plot(x[special], y[special], marker, color=shade, markersize=4.5, markerfacecolor="white", zorder=3)


def _draw_states(panel: Axes, states: xr.Dataset, y: np.ndarray, experiment: str, shade: str) -> None:
    here = states["state_experiment"].values == experiment
    at = float(states["wanted"].values[states["experiment"].values == experiment][0])
    stable, reached = states["stable"].values, states["reached_from_feed"].values
    for chosen, face in ((here & stable, shade), (here & ~stable, "white")):
        panel.plot(np.full(chosen.sum(), at), y[chosen], "o", color=shade, markerfacecolor=face, markersize=6, zorder=4)
    ringed = here & reached
    panel.plot(np.full(ringed.sum(), at), y[ringed], "o", color=shade, markerfacecolor="none", markersize=11, zorder=4)
