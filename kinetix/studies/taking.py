"""The values of an earlier fit, put into a problem that is to be simulated."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import xarray as xr

from kinetix.errors import DataError, KinetixWarning, Problems, nearest
from kinetix.parameters import BoundConstant, bindings
from kinetix.results.phrases import listing
from kinetix.results.tree import group_of, require_fit
from kinetix.studies.noise import STEM
from kinetix.studies.problem import Problem
from kinetix.studies.provenance import REFERENCE_TEMPERATURES, read_reference_temperatures
from kinetix.units import Unit, parse_unit


class _Fitted(NamedTuple):
    value: float
    unit: Unit
    estimated: bool


def with_values_of(problem: Problem, tree: xr.DataTree, source: str) -> Problem:
    """The problem at the values of a fit in place of its own values and starts.

    A constant that the fit states at a reference temperature is taken with that temperature.

    Args:
        problem: what is to be simulated.
        tree: the result of a fit, for example of `kinetix.io.read_tree`.
        source: its name, for messages.

    Raises:
        InputError: no fit; names or units that are not those of the problem; a parameter that has no value in either.
    """
    fitted = _values(tree, source)
    table, problems = problem.table, Problems()
    names = [table.names[i] for i in table.shown if table.parameters[i].written is None]
    for p in (p.written for p in table.parameters if p.written is not None):
        if p.name in fitted and not np.isclose(fitted[p.name].unit.to_si(fitted[p.name].value), p.start, rtol=1e-9, atol=0.0):
            problems.add(
                f"{source} was fitted with {p.name} = {fitted[p.name].value:.6g} {fitted[p.name].unit.text}, but the study has"
                f" {float(p.unit.from_si(p.start)):.6g} {p.unit.text}. Write the same."
            )
    for name, (_, unit, estimated) in fitted.items():
        if name not in names:
            if estimated and not name.startswith(f"{STEM}."):  # no prediction changes with a standard deviation
                problems.add(f"{source} estimates {name}, which the study does not have (it has {', '.join(names)}).{nearest(name, names)}")
        elif unit.dimension != table.parameters[table.names.index(name)].unit.dimension:
            own = table.parameters[table.names.index(name)].unit
            problems.add(f"{source}: {name} is in {unit.text}, but the study needs {own.dimension}, for example {own.text}.")
    unknown = [name for name in names if name not in fitted and not table.parameters[table.names.index(name)].fixed]
    for name in unknown:
        if np.isnan(table.parameters[table.names.index(name)].start):
            problems.add(f"{source} holds no value of {name}, and the study gives none (the file holds {', '.join(fitted)}).")
    constants = tuple(_at_fitted_temperature(constant, problem, tree, fitted, source, problems) for constant in problem.constants)
    problems.raise_if_any(DataError)
    _warn(tree, source, [name for name in unknown if name not in fitted])
    start = table.start
    taken = [name for name in names if name in fitted]
    for name in taken:
        start[table.names.index(name)] = fitted[name].unit.to_si(fitted[name].value)
    said = ", ".join(f"{name} = {fitted[name].value:.6g} {fitted[name].unit.text}" for name in taken)
    size = len(np.asarray(problem.model.constants.reference))
    return replace(
        problem,
        table=table.started(start),
        constants=constants,
        model=replace(problem.model, constants=bindings(constants, size)),
        campaign=replace(problem.campaign, notes=(*problem.campaign.notes, f"from {source}: {said}")),
    )


def _values(tree: xr.DataTree, source: str) -> dict[str, _Fitted]:
    require_fit(tree, source)
    group = group_of(tree, "parameters")
    return {
        str(name): _Fitted(float(value), parse_unit(str(unit)), not fixed)
        for name, value, unit, fixed in zip(
            group["parameter"].values, group["value"].values, group["unit"].values, group["fixed"].values, strict=True
        )
    }


def _at_fitted_temperature(
    constant: BoundConstant, problem: Problem, tree: xr.DataTree, fitted: dict[str, _Fitted], source: str, problems: Problems
) -> BoundConstant:
    """The constant at the reference temperature at which the fit states it."""
    if constant.reference < 0 or not constant.inverse_T_ref or problem.table.names[constant.reference] not in fitted:
        return constant
    temperatures = read_reference_temperatures(str(tree.attrs.get(REFERENCE_TEMPERATURES, "")))
    if constant.name not in temperatures:
        problems.add(
            f"{source} does not say at which temperature {problem.table.names[constant.reference]} holds; it comes from an older kinetix,"
            " or the constant did not depend on temperature there. Fit again."
        )
        return constant
    return constant.at(temperatures[constant.name])


def _warn(tree: xr.DataTree, source: str, kept: list[str]) -> None:
    if not tree.attrs.get("converged", 1):
        warnings.warn(f"{source}: the fit did not converge ({tree.attrs['status_label']}).", KinetixWarning, stacklevel=3)
    if kept:
        verb = "keeps its start" if len(kept) == 1 else "keep their starts"
        warnings.warn(f"{source} holds no value of {listing(kept)}, which {verb}.", KinetixWarning, stacklevel=3)
