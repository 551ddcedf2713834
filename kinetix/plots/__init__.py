"""Figures of results: one file per figure, one line per figure in `FIGURES`; a DataTree in, a matplotlib Figure out, nothing written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import xarray as xr

from kinetix.plots import comparison
from kinetix.plots.arrhenius import arrhenius
from kinetix.plots.bootstrap import bootstrap
from kinetix.plots.branches import branches
from kinetix.plots.embedding import embedded
from kinetix.plots.influence import influence
from kinetix.plots.likelihood import likelihood
from kinetix.plots.parity import parity
from kinetix.plots.profiles import profiles
from kinetix.plots.residuals import residuals
from kinetix.plots.responses import responses
from kinetix.plots.sheet import caption_of
from kinetix.plots.starts import starts
from kinetix.results.comparison import is_comparison, require_comparison
from kinetix.results.tree import require_fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES: dict[str, Callable[[xr.DataTree], Figure | None]] = {
    "profiles": profiles,
    "responses": responses,
    "arrhenius": arrhenius,
    "parity": parity,
    "residuals": residuals,
    "starts": starts,
    "likelihood": likelihood,
    "bootstrap": bootstrap,
    "influence": influence,
}
"""Name -> function that draws it, or gives None where it makes no sense for the result; in the order of a report."""


COMPARISON_FIGURES: dict[str, Callable[[xr.DataTree], Figure | None]] = {
    "criteria": comparison.criteria,
    "agreement": comparison.agreement,
    "residuals-by-model": comparison.residuals,
    "predictions": comparison.predictions,
}
"""The same for the result of a comparison."""


def figures(tree: xr.DataTree | xr.Dataset, names: Sequence[str] | None = None) -> dict[str, Figure]:
    """Every figure that makes sense for a result, by name.

    Args:
        tree: a result of `kinetix.fit` or `kinetix.compare`, fresh or read from a file; or of `kinetix.steady_branches`, of which the
            figure is "branches".
        names: which figures of a fit or a comparison, from `FIGURES` or `COMPARISON_FIGURES`; None for all.

    Returns:
        Name -> `matplotlib.figure.Figure`, made without pyplot: nothing stays open, and no setting of matplotlib changes.

    >>> import kinetix as kx, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "tank.csv").write_text("tau [min],A [mol/L]\\n2,0.51\\n4,0.33\\n8,0.20\\n")
    >>> tank = kx.CSTR(kx.parse_network("A -> B"))
    >>> tree = kx.fit(tank, kx.read_csv(folder / "tank.csv", tank), {"r1.k": "0.1 1/min"}, known={"feed.A": "1 mol/L", "feed.B": "0 mol/L"})
    >>> list(kx.figures(tree, ["parity"]))
    ['parity']
    """
    if isinstance(tree, xr.Dataset) and "point_along" in tree:
        return {"branches": branches(tree)}
    if is_comparison(tree):
        known, tree = COMPARISON_FIGURES, require_comparison(tree)
    else:
        known, tree = FIGURES, require_fit(tree)
    drawn = {name: known[name](tree) for name in (known if names is None else names)}
    return {name: figure for name, figure in drawn.items() if figure is not None}


__all__ = [
    "COMPARISON_FIGURES",
    "FIGURES",
    "arrhenius",
    "bootstrap",
    "branches",
    "caption_of",
    "embedded",
    "figures",
    "influence",
    "likelihood",
    "parity",
    "profiles",
    "residuals",
    "responses",
    "starts",
]
