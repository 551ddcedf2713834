"""Responses over time: measured points and the fitted curve; a panel per experiment, or per response where experiments are many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import xarray as xr

from kinetix.plots.against import Abscissa, varying_conditions
from kinetix.plots.sheet import LARGEST_GRID, captioned, colour, marker_size, sheet, with_unit
from kinetix.results.tree import group_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_EXPERIMENTS = 16
"""Up to here each experiment has a panel of its own."""

MOST_LETTERS = 24
"""Of all responses of a panel together that still stand beside its axis; the legend names them in any case."""

Floats = npt.NDArray[np.float64]


def profiles(tree: xr.DataTree) -> Figure | None:
    """Measured and fitted responses over time, or None where nothing depends on time.

    Up to 16 experiments get a panel each (a row of panels per unit); more of them share a panel per response, coloured by T
    or, where T does not vary, by the first condition that does.

    Args:
        tree: a result of `kinetix.results.fit_tree`.
    """
    if "t" not in group_of(tree, "predictions").data_vars:
        return None
    units = list(dict.fromkeys(str(unit) for unit in group_of(tree, "predictions")["unit"].values))
    experiments = group_of(tree, "predictions").sizes["experiment"]
    if experiments <= MOST_EXPERIMENTS and experiments * len(units) <= LARGEST_GRID:
        return _by_experiment(tree, units)
    return _by_response(tree)


def _by_experiment(tree: xr.DataTree, units: list[str]) -> Figure:
    """A panel per experiment and unit, a colour per response."""
    group = group_of(tree, "predictions")
    experiments = [str(name) for name in group["experiment"].values]
    names = [str(name) for name in group["response"].values]
    titles = _titles(tree, experiments)
    length = len(experiments)
    columns = length if len(units) > 1 else None
    width, height = (5.2, 3.2) if length == 1 else (4.2, 2.5) if length == 2 else (3.0, 2.5)
    page = sheet(length * len(units), columns=columns, width=width, height=height)
    time = with_unit("time", group["t"].attrs["units"])
    handles = {}
    for number, panel in enumerate(page.panels):
        row, experiment = divmod(number, length)
        members = [index for index, text in enumerate(group["unit"].values) if str(text) == units[row]]
        for index in members:
            handles[names[index]] = _draw(panel, tree, experiment, index, colour(index))
        if row == 0 and length > 1:
            panel.set_title(titles[experiment], fontsize=9)
        if number + page.columns >= len(page.panels):
            panel.set_xlabel(time)
        if number % page.columns == 0:
            together = ", ".join(names[index] for index in members)
            panel.set_ylabel(with_unit(together if len(together) <= MOST_LETTERS else "", units[row]))
        panel.sharey(page.panels[row * length])
    if len(names) > 1:
        page.figure.legend(
            handles.values(), handles.keys(), loc="outside upper center", ncols=min(len(names), 8), frameon=False, fontsize=9
        )
    return captioned(page.figure, "Measured values (circles) and the fitted model (lines) over time, by experiment.")


def _titles(tree: xr.DataTree, experiments: list[str]) -> list[str]:
    """The experiments with their temperatures, where those differ and the names do not say them."""
    conditions = group_of(tree, "conditions").data_vars if "conditions" in tree.children else {}
    if "T" not in conditions or np.ptp(conditions["T"].values) == 0:
        return experiments
    T = conditions["T"]
    written = [f"{value:.5g} {T.attrs['units']}" for value in T.values]
    return [name if text in name else f"{name}, T {text}" for name, text in zip(experiments, written, strict=True)]


def _by_response(tree: xr.DataTree) -> Figure:
    """A panel per response, a colour per experiment."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    group = group_of(tree, "predictions")
    order = Abscissa("experiment, in the order of the data", np.arange(1.0, group.sizes["experiment"] + 1))
    by = (*varying_conditions(tree), order)[0]
    norm = Normalize(float(np.nanmin(by.values)), float(np.nanmax(by.values)))
    shades = ListedColormap(colormaps["viridis"](np.linspace(0, 0.92, 256)))  # its yellow end is too pale for lines
    page = sheet(group.sizes["response"], width=4.6, height=3.4)
    for index, (panel, name, unit) in enumerate(zip(page.panels, group["response"].values, group["unit"].values, strict=True)):
        _draw_many(panel, tree, index, shades(norm(by.values)))
        panel.set_xlabel(with_unit("time", group["t"].attrs["units"]))
        panel.set_ylabel(with_unit(str(name), str(unit)))
    page.figure.colorbar(ScalarMappable(norm, shades), ax=list(page.panels), label=by.label, pad=0.01)
    return captioned(
        page.figure,
        f"Measured values (dots) and the fitted model (lines) over time, by response; the colour of an experiment shows {by.label}.",
    )


def _draw(panel: Axes, tree: xr.DataTree, experiment: int, response: int, shade: object) -> object:
    """Points and curve of one response of one experiment; returns what stands for them in a legend."""
    t, observed = _points(tree, experiment, response)
    (line,) = panel.plot(*_curve(tree, experiment, response), color=shade, linewidth=1.4)
    style = {"markersize": marker_size(t.size), "markerfacecolor": "none", "markeredgecolor": shade, "markeredgewidth": 1.1}
    (points,) = panel.plot(t, observed, "o", zorder=3, **style)
    return (line, points)


def _draw_many(panel: Axes, tree: xr.DataTree, response: int, shades: Floats) -> None:
    """Points and curves of one response of all experiments, one artist each: thousands of lines would take minutes."""
    from matplotlib.collections import LineCollection

    experiments = range(len(shades))
    curves = [np.stack(_curve(tree, experiment, response), axis=1) for experiment in experiments]
    panel.add_collection(LineCollection(curves, colors=shades, linewidths=0.7, alpha=0.5, zorder=2))
    t, observed = (np.concatenate(parts) for parts in zip(*(_points(tree, i, response) for i in experiments), strict=True))
    rows = np.repeat(experiments, [_points(tree, i, response)[0].size for i in experiments])
    panel.scatter(t, observed, s=9.0, c=shades[rows], edgecolors="white", linewidths=0.3, zorder=3)


def _points(tree: xr.DataTree, experiment: int, response: int) -> tuple[Floats, Floats]:
    """Times and values that were measured."""
    group = group_of(tree, "predictions")
    kept = group["measured"].values[experiment, :, response]
    return group["t"].values[experiment, kept], group["observed"].values[experiment, kept, response]


def _curve(tree: xr.DataTree, experiment: int, response: int) -> tuple[Floats, Floats]:
    """The dense curve where there is one, else the predictions at the measured times in order."""
    group = group_of(tree, "profiles") if "profiles" in tree.children else group_of(tree, "predictions")
    t, predicted = group["t"].values[experiment], group["predicted"].values[experiment, :, response]
    order = np.argsort(t, kind="stable")
    return t[order], predicted[order]
