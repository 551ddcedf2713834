"""The constants of rate laws on a logarithmic axis against 1000/T, with their 95 % bands and, where they were measured, the points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import xarray as xr

from kinetix.constants import ZERO_CELSIUS
from kinetix.plots.sheet import captioned, colour, sheet, with_unit
from kinetix.results.tree import group_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_NAMES = 3
"""Names that an axis has room for."""

_TICKS_IN_DECADE = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0))

Floats = npt.NDArray[np.float64]


def arrhenius(tree: xr.DataTree) -> Figure | None:
    """The Arrhenius plot of a fit, or None where it has no constant that depends on T.

    Args:
        tree: a result of `kinetix.results.fit_tree`.

    Returns:
        A figure with one panel per unit of k; the upper axis shows T, in °C where the data give it so.
    """
    if "arrhenius" not in tree.children:
        return None
    group = group_of(tree, "arrhenius")
    units = list(dict.fromkeys(str(unit) for unit in group["unit"].values))
    page = sheet(len(units), width=4.6, height=3.8)
    celsius = _in_celsius(tree)
    for panel, unit in zip(page.panels, units, strict=True):
        members = [index for index, text in enumerate(group["unit"].values) if str(text) == unit]
        for index in members:
            _draw(panel, group, index)
        panel.set_yscale("log")
        panel.locator_params(axis="x", nbins=6)
        panel.set_xlabel("1000 K / T")
        panel.set_ylabel(with_unit(_quantity([str(group["constant"].values[index]) for index in members]), unit))
        if len(members) > 1:
            panel.legend(frameon=False, fontsize=9)
        _temperature_axis(panel, celsius)
        _readable_ticks(panel)
    points = ", and the measured constants (circles)" if "point_T" in group.data_vars else ""
    return captioned(
        page.figure,
        "The constants of the rate laws on a logarithmic scale against the reciprocal temperature, over the temperatures of the data: "
        f"the fit (lines), its 95 % band from the joint covariance (shaded){points}.",
    )


def _quantity(names: Sequence[str]) -> str:
    """What a panel shows: the name of its constant; of several, what they are called in their reactions.

    >>> _quantity(["r1.K"]), _quantity(["r1.k", "r2.k"]), _quantity(["r1.kf", "r1.kr"]), _quantity(["K1", "K2", "K3", "K4"])
    ('r1.K', 'k', 'kf, kr', 'constants')
    """
    own = [name.rpartition(".")[2] for name in names] if len(names) > 1 else list(names)
    different = list(dict.fromkeys(own))
    return ", ".join(different) if len(different) <= SHOWN_NAMES else "constants"


def _draw(panel: Axes, group: xr.Dataset, index: int) -> None:
    t = group["T"].values[index]
    panel.plot(1000 / t, group["k"].values[index], color=colour(index), linewidth=1.4, label=str(group["constant"].values[index]))
    lower, upper = group["lower95"].values[index], group["upper95"].values[index]
    panel.fill_between(1000 / t, np.where(lower > 0, lower, np.nan), upper, color=colour(index), alpha=0.2, linewidth=0)
    if "point_T" in group.data_vars:
        style = {"markerfacecolor": "white", "markeredgecolor": colour(index), "markeredgewidth": 1.1}
        panel.plot(1000 / group["point_T"].values[index], group["point_k"].values[index], "o", markersize=5, **style)


def _in_celsius(tree: xr.DataTree) -> bool:
    if "conditions" not in tree.children or "T" not in group_of(tree, "conditions").data_vars:
        return False
    return group_of(tree, "conditions")["T"].attrs["units"] in ("°C", "degC", "degreeC", "celsius", "Celsius", "deg C", "℃")


def _temperature_axis(panel: Axes, celsius: bool) -> None:
    """T above the panel, at round values of T."""
    from matplotlib.ticker import FixedLocator, FormatStrFormatter, MaxNLocator, NullLocator

    zero = ZERO_CELSIUS if celsius else 0.0
    low, high = sorted(1000 / np.asarray(panel.get_xlim()) - zero)
    ticks = [tick for tick in MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high) if low <= tick <= high]
    above = panel.secondary_xaxis("top", functions=(lambda x: 1000 / _nonzero(x) - zero, lambda t: 1000 / _nonzero(np.asarray(t) + zero)))
    above.xaxis.set_major_locator(FixedLocator(ticks))
    above.xaxis.set_minor_locator(NullLocator())
    above.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    above.tick_params(labelsize=9, width=0.8, length=3)
    above.spines["top"].set_linewidth(0.8)
    above.set_xlabel("T [°C]" if celsius else "T [K]")


def _nonzero(x: npt.ArrayLike) -> Floats:
    """matplotlib also tries the axis functions at zero."""
    return np.where(np.asarray(x) == 0, np.nan, x)


def _readable_ticks(panel: Axes) -> None:
    """At least three labels on the k axis, at round numbers, also where it spans less than a decade."""
    from matplotlib.ticker import FixedLocator, FormatStrFormatter, LogLocator, MaxNLocator, NullFormatter

    low, high = panel.get_ylim()
    choices = [LogLocator(subs=subs).tick_values(low, high) for subs in _TICKS_IN_DECADE] + [MaxNLocator(6).tick_values(low, high)]
    inside = [[tick for tick in ticks if low <= tick <= high] for ticks in choices]
    panel.yaxis.set_major_locator(FixedLocator(next((ticks for ticks in inside if len(ticks) >= 3), inside[-1])))
    panel.yaxis.set_major_formatter(FormatStrFormatter("%g"))
    panel.yaxis.set_minor_formatter(NullFormatter())
    panel.set_ylim(low, high)
