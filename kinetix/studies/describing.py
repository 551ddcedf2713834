"""What a model is, in words: for `kinetix check`, and for the report of a fit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetix.network import conserved_totals
from kinetix.parameters import BoundConstant
from kinetix.parameters.constants import FROM_LANE, ONE, ZERO
from kinetix.rates import VOLUME_BASIS
from kinetix.reactors import HOLDUP, Reactor
from kinetix.simulation import ReactorModel
from kinetix.studies.energy import SOLVENT_CAPACITY
from kinetix.studies.problem import Problem
from kinetix.units import CONCENTRATION, Unit, example_unit

Row = tuple[str, ...]
"""A reaction's name, its equation and its rate as computed; or something else and what it is."""


def describe_model(problem: Problem) -> list[Row]:
    """The model of a problem, a row each: reactor, reactions with their rates as computed, balances, constants over T, responses."""
    spoken = problem.spoken
    if not isinstance(spoken, ReactorModel):
        return [*((f"model {output.name}", str(output.formula)) for output in spoken.outputs), *_temperature_laws(problem)]
    totals = conserved_totals(spoken.network)
    return [
        ("reactor", _reactor(spoken.reactor)),
        *([("rates", f"{example_unit(spoken.basis.rate)}, {spoken.basis}")] if spoken.basis != VOLUME_BASIS else []),
        *((r.name, r.equation, law.text) for r, law in zip(spoken.network.reactions, spoken.laws, strict=True)),
        *((f"d[{name}]/dt by reaction", _net(spoken, name)) for name in spoken.network.species),
        ("conserved", "; ".join(text for text, _ in totals) if totals else "nothing"),
        *_temperature_laws(problem),
        *_energy(problem, spoken),
        *_amounts(problem, spoken),
        *((f"response {name}", str(formula)) for name, formula in spoken.responses.items()),
    ]


def _reactor(reactor: Reactor) -> str:
    density = "" if reactor.fluid is None else f"; {reactor.fluid.summary}"
    series = f"; {reactor.tanks} equal ones in series, the residence time that of all" if reactor.tanks > 1 else ""
    return f"{reactor.summary}{density}{series}"


SHOWN_EXPERIMENTS = 10
"""Rows of the table of experiments; more show the first and the last."""


def describe_experiments(problem: Problem) -> list[str]:
    """The experiments as they were read: how much was measured at which times and conditions; what is the same in all, once."""
    campaign = problem.campaign
    if not campaign.rows_read:
        return []
    columns = {"experiment": list(campaign.experiments), "values": [str(int(mask.sum())) for mask in campaign.mask]}
    if campaign.time_unit is not None and campaign.times.any():
        columns[f"t [{campaign.time_unit.text}]"] = _spans(campaign.times, campaign.time_unit)
    same = []
    for name, values in campaign.conditions.items():
        unit = campaign.condition_units[name]
        if np.ptp(values) > 0:
            columns[_titled(name, unit)] = _spans(values[:, None], unit)
        else:
            same.append(f"{name} {float(unit.from_si(values[0])):.6g} {'' if unit.text in ('1', '-') else unit.text}".rstrip())
    for name, (_, values) in campaign.programs.items():
        columns[_titled(name, campaign.condition_units[name])] = _spans(values, campaign.condition_units[name])
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    half = SHOWN_EXPERIMENTS // 2
    kept = rows if len(rows) <= SHOWN_EXPERIMENTS else [*rows[:half], ["..."] * len(columns), *rows[-half:]]
    widths = [max(map(len, (name, *(row[i] for row in kept)))) for i, name in enumerate(columns)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in ([*columns], *kept)]
    return [f"experiments as read ({len(rows)}):", *(f"  {line}" for line in lines), *([f"in all: {'; '.join(same)}"] if same else [])]


def _titled(name: str, unit: Unit) -> str:
    return name if unit.text in ("1", "-") else f"{name} [{unit.text}]"


def _spans(values: np.ndarray, unit: Unit) -> list[str]:
    """`300 to 350` of each row, or one number."""
    low, high = unit.from_si(values.min(axis=1)), unit.from_si(values.max(axis=1))
    return [f"{a:.5g}" if a == b else f"{a:.5g} to {b:.5g}" for a, b in zip(low, high, strict=True)]


def _net(spoken: ReactorModel, species: str) -> str:
    row = spoken.network.stoichiometry[spoken.network.index(species)]
    terms = [
        f"{'+' if nu > 0 else '-'} {'' if abs(nu) == 1 else f'{abs(nu):g} '}r({r.name})"
        for nu, r in zip(row, spoken.network.reactions, strict=True)
        if nu
    ]
    return " ".join(terms).removeprefix("+ ") or "0"


def _temperature_laws(problem: Problem) -> Iterator[Row]:
    """`r1.k over T`: `r1.k_ref*exp(-r1.Ea/R*(1/T - 1/350 K))`."""
    for constant in problem.constants:
        if constant.thermal:
            yield f"{constant.name} over T", _temperature_law(problem, constant)
    if "T" in problem.campaign.programs:
        times = problem.campaign.programs["T"][0]
        in_steps = bool(np.any((np.diff(times, axis=1) == 0) & (times[:, 1:] < times[:, -1:])))
        yield "T", f"as measured over time, {'each value until the next reading' if in_steps else 'straight between readings'}"


def _temperature_law(problem: Problem, constant: BoundConstant) -> str:
    def name(position: int) -> str:
        return {ZERO: "0", ONE: "1"}.get(position) or problem.table.names[position]

    text = name(constant.reference)
    if constant.exponent != ZERO:
        text += f"*(T/{constant.T_ref:.6g} K)^{name(constant.exponent)}"
    if constant.energy != ZERO:
        inverse = f"(1/T - 1/{1 / constant.inverse_T_ref:.6g} K)" if constant.inverse_T_ref else "1/T"
        text += f"*exp(-{name(constant.energy)}/R*{inverse})"
    return text


def _energy(problem: Problem, spoken: ReactorModel) -> Iterator[Row]:
    """`energy balance`: `C*dT/dt = -dHr(r1)*r(r1) + UA/V*(T_coolant - T)`, and what stands in it."""
    names, heat = problem.table.names, problem.model.heat
    if spoken.energy is None or heat is None:
        return
    capacities = [f"{name}*[{name.split('.', 1)[1]}]" for name in names if name.startswith("heat_capacity.") and name != SOLVENT_CAPACITY]
    rest = [name for name in names if name in ("heat_capacity", SOLVENT_CAPACITY)]
    enthalpies = {r.name: f"{r.name}.dHr" if f"{r.name}.dHr" in names else f"{r.name}.K.dH" for r in spoken.network.reactions}
    released = " ".join(f"- dHr({name})*r({name})" for name in enthalpies)
    jacket = spoken.energy.jacket
    warms = "/(1 + UA/coolant_flow)" if "coolant_flow" in names and not jacket else ""
    around = "T_jacket" if jacket else "T_coolant"
    exchange = f"UA/V{warms}*({around} - T)" if spoken.energy.exchange else ""
    yield "energy balance", f"{spoken.reactor.heating} {released}{' + ' if exchange else ''}{exchange}"
    if jacket == HOLDUP:
        yield "coolant", "coolant_holdup*dT_jacket/dt = UA*(T - T_jacket) + coolant_flow*(T_coolant - T_jacket)"
    elif jacket:
        yield (
            "coolant",
            f"coolant_flow*dT_jacket/dV = {spoken.energy.exchange}{'/V' if spoken.energy.exchange == 'UA' else ''}*(T - T_jacket)",
        )
    rigid = spoken.reactor.ideal_gas_at == "volume"
    yield "heat capacity C", " + ".join([*rest, *capacities]) + (" - R*(sum of concentrations)" if rigid else "")
    change = f" + (change of C)*(T - {float(np.asarray(heat.T_ref)):.6g} K)" if capacities else ""
    change += " - R*T*(change of moles)" if rigid else ""
    for name, enthalpy in enthalpies.items():
        yield f"dHr({name})", f"{enthalpy}{change}"


def _amounts(problem: Problem, spoken: ReactorModel) -> Iterator[Row]:
    """`feed`: `A from the data; B, C 0 mol/L`."""
    for stem, label, positions in (("feed", "feed", problem.model.feed), ("initial", "initial state", problem.model.initial)):
        if stem not in problem.lanes:
            continue
        unit = _unit_of_amounts(problem, stem)
        groups: dict[str, list[str]] = {}
        for i, name in enumerate(spoken.network.species):
            if np.asarray(positions)[i] != FROM_LANE:
                source = "estimated" if not problem.table.parameters[int(np.asarray(positions)[i])].fixed else "known"
            elif np.ptp(problem.lanes[stem][:, i]) > 0:
                source = "from the data"
            else:
                source = f"{float(unit.from_si(problem.lanes[stem][0, i])):.6g} {unit.text}"
            groups.setdefault(source, []).append(name)
        yield label, "; ".join(f"{', '.join(names)} {source}" for source, names in groups.items())


def _unit_of_amounts(problem: Problem, stem: str) -> Unit:
    """The unit in which the data state such amounts, or else concentrations."""
    stated = [
        unit for name, unit in problem.campaign.condition_units.items() if name.startswith(f"{stem}.") and unit.dimension == CONCENTRATION
    ]
    measured = [unit for unit in problem.units if unit.dimension == CONCENTRATION]
    return (*stated, *measured, problem.reporting.unit(CONCENTRATION))[0]
