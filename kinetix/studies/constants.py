"""The constants of rate laws and formulas as parameters, and where each stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kinetix.errors import InputError, ParameterError, Problems, nearest
from kinetix.expression import symbols
from kinetix.network import Reaction
from kinetix.parameters import ConstantBook, Estimate, Reporting, TemperatureLaw, unit_of
from kinetix.rates import VOLUME_BASIS, Basis, Constant, Law
from kinetix.rates.deactivation import KD
from kinetix.simulation import ReactorModel, Spoken
from kinetix.studies.given import Given
from kinetix.studies.numbers import Reference
from kinetix.studies.responses import formula_expressions
from kinetix.units import CONCENTRATION, DIMENSIONLESS, RATE, TIME, si_unit


def named_positions(book: ConstantBook, spoken: Spoken, given: Given, problems: Problems) -> dict[str, int]:
    """Constants with names of their own; their dimension comes from the first law that uses them."""
    wanted: dict[str, Constant] = {}
    if isinstance(spoken, ReactorModel):
        for reaction, law in zip(spoken.network.reactions, spoken.laws, strict=True):
            for constant in law.constants:
                spec = given.constants.get(f"{reaction.name}.{constant.name}")
                if isinstance(spec, Reference):
                    first = wanted.setdefault(spec.name, constant)
                    if first.dimension != constant.dimension:
                        problems.add(
                            f"Parameter '{spec.name}' is used by '{reaction.name}' as {constant.dimension},"
                            f" but elsewhere as {first.dimension}."
                            " Use two parameters."
                        )
    used_by_formulas = {s.name for formula in formula_expressions(spoken) for s in symbols(formula) if s.kind == "name"}
    positions: dict[str, int] = {}
    for name, spec in given.named.items():
        if name not in wanted and name not in used_by_formulas:
            problems.add(f"Parameter '{name}' is given but nothing uses it. Remove it, or use it.{nearest(name, wanted)}")
            continue
        with problems.collecting():
            default = Constant(name, None, positive=_positive_by_default(spec), enthalpy=None)
            constant = wanted.get(name, default)
            positions[name] = book.add(name, constant, _over_time_on_stream(spec, constant, book))
    return positions


def _positive_by_default(spec: TemperatureLaw) -> bool:
    """A constant of formulas alone may have either sign, unless it follows Arrhenius or the user bounds it above zero."""
    lower = spec.value.lower if isinstance(spec.value, Estimate) else None
    return spec.energy is not None or spec.factor or (lower is not None and lower.si > 0)


def law_constants(book: ConstantBook, spoken: ReactorModel, given: Given, named: Mapping[str, int], problems: Problems) -> dict[str, int]:
    """Positions of the constants of all rate laws, by full name; missing and unknown ones become problems."""
    positions: dict[str, int] = {}
    expected = set()
    for reaction, law in zip(spoken.network.reactions, spoken.laws, strict=True):
        for constant in law.constants:
            name = f"{reaction.name}.{constant.name}"
            if constant.condition:
                assert constant.dimension is not None
                positions[name] = book.add_condition(constant.name, constant.dimension)
                continue
            expected.add(name)
            if constant.value is not None:
                with problems.collecting():
                    positions[name] = book.add_literal(name, constant.value, si_unit(constant.dimension or DIMENSIONLESS))
                continue
            spec = given.constants.get(name)
            if spec is None:
                problems.add(
                    f"Rate of '{reaction.name}' uses '{constant.name}', which has no value, no unit and is not estimated. Give {name}."
                )
            elif isinstance(spec, Reference):
                if spec.name in named:
                    positions[name] = named[spec.name]
            else:
                with problems.collecting():
                    try:
                        positions[name] = book.add(name, constant, _reported(spec, constant, law, book))
                    except InputError as error:
                        raise ParameterError(*(_with_order(problem, reaction, law, spoken.basis) for problem in error.problems)) from None
    for name in given.constants:
        if name not in expected:
            problems.add(f"Parameter '{name}' belongs to no rate law (known: {', '.join(sorted(expected))}).{nearest(name, expected)}")
    return positions


def _reported(spec: TemperatureLaw, constant: Constant, law: Law, book: ConstantBook) -> TemperatureLaw:
    """The constant, with the unit in which it is reported where the user gave none and it is another than its dimension tells."""
    return _over_time_on_stream(_at_reference(spec, constant, law, book), constant, book)


def _over_time_on_stream(spec: TemperatureLaw, constant: Constant, book: ConstantBook) -> TemperatureLaw:
    """A constant of deactivation is reported per unit of the time on stream, not of the residence time."""
    if constant != KD or book.reporting.time_on_stream is None or not isinstance(spec.value, Estimate) or unit_of(spec.value) is not None:
        return spec
    return replace(spec, value=replace(spec.value, unit=Reporting(time=book.reporting.time_on_stream).unit(DIMENSIONLESS / TIME)))


def _at_reference(spec: TemperatureLaw, constant: Constant, law: Law, book: ConstantBook) -> TemperatureLaw:
    """A rate constant that refers to c_ref = 1 mol/L is reported in a unit that begins with it, where the user gave none."""
    refers = any(other.value is not None and other.dimension == CONCENTRATION for other in law.constants)
    if not refers or constant.dimension != RATE or not isinstance(spec.value, Estimate) or unit_of(spec.value) is not None:
        return spec
    return replace(spec, value=replace(spec.value, unit=Reporting(time=book.reporting.time).unit(RATE)))


def _with_order(problem: str, reaction: Reaction, law: Law, basis: Basis) -> str:
    """A dimension error of a rate constant also says which reaction and law it serves."""
    if "is needed" not in problem:
        return problem
    said = "" if basis == VOLUME_BASIS else f", {basis}"
    return f"Reaction '{reaction.name}' ({reaction.equation}) has the rate {law.text}{said}, which fixes the dimension: {problem}"
