"""Predicted responses: plain ones as positions, formulas with the places of their symbols, and their units."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from kinetix.errors import ExpressionError, KinetixWarning, ParameterError, Problems
from kinetix.experiments import Campaign
from kinetix.expression import Expression, Symbol, dimension, symbols
from kinetix.expression.syntax import Call
from kinetix.parameters import ConstantBook, Reporting
from kinetix.rates import ON_STREAM
from kinetix.rates.deactivation import Deactivating
from kinetix.rates.free import FreeRate
from kinetix.rates.function import FunctionRate
from kinetix.rates.law import RateFunction
from kinetix.simulation import ExplicitModel, Formula, ReactorModel, Spoken
from kinetix.units import CONCENTRATION, DIMENSIONLESS, TEMPERATURE, Dimension, Unit


def formula_expressions(spoken: Spoken) -> list[Expression]:
    """All formulas of a model."""
    return list(spoken.responses.values()) if isinstance(spoken, ReactorModel) else [output.formula for output in spoken.outputs]


def check_response_names(spoken: ReactorModel, constants: Mapping[str, Dimension]) -> None:
    """That no response goes by a name that means something else; one that is a sum or a share of its species' concentration warns.

    Raises:
        ExpressionError: all of them at once.
    """
    problems = Problems()
    conditions = spoken.conditions
    for name, kind in spoken.answers.items():
        if name in (*spoken.network.species, *spoken.responses):
            what = "temperature, which follows from [energy]" if kind == TEMPERATURE else "pressure, which follows from the amounts"
            problems.add(f"{name} is the {what}. Give the species or response of this name another one.")
    for name, formula in spoken.responses.items():
        if name in conditions:
            problems.add(f"Response '{name}' has the name of a condition ({', '.join(conditions)}). Give it another name.")
        elif name in spoken.network.species and str(formula) != f"[{name}]":
            found = spoken.response_dimension(name, formula, constants)
            if found != CONCENTRATION or spoken.reactor.measures_rates:
                problems.add(
                    f"Response '{name}' has the name of a species, but is {formula} ({found}); a column '{name}' would be read as that."
                    f" Give it another name, for example signal_{name} (or conversion)."
                )
            else:
                warnings.warn(
                    f"Response '{name}' has the name of a species, so its column is compared with {formula} and not with [{name}].",
                    KinetixWarning,
                    stacklevel=2,
                )
    problems.raise_if_any(ExpressionError)


def without_column(spoken: Spoken, campaign: Campaign) -> list[str]:
    """Sentences about formulas that nothing in the data is compared with."""
    measured = {column.name for column in campaign.responses}
    names = spoken.responses if isinstance(spoken, ReactorModel) else [output.column for output in spoken.outputs]
    return [f"response {name}: no column in the data, so it takes no part in a fit" for name in names if name not in measured]


def meanings(spoken: Spoken) -> list[str]:
    """Sentences about constants whose units do not tell what they mean."""
    if not isinstance(spoken, ReactorModel):
        return []
    return [f"{r.name}: {law.meaning}" for r, law in zip(spoken.network.reactions, spoken.laws, strict=True) if law.meaning]


def place_responses(
    spoken: Spoken, names: tuple[str, ...], constants: Mapping[str, int], book: ConstantBook
) -> tuple[list[tuple[str, int]], np.ndarray, list[Formula], bool]:
    """Plain responses as (vector, position), the order of all, formulas, and whether rates are needed."""
    plain: list[tuple[str, int]] = []
    formulas: list[Formula] = []
    order: list[tuple[bool, int]] = []
    dimensions = {c.name: c.unit.dimension for c in book.constants}
    for name in names:
        if isinstance(spoken, ExplicitModel):
            output = next(o for o in spoken.outputs if name in (o.column, o.name))
            formulas.append(Formula(output.formula, _explicit_places(spoken, output.formula, constants)))
            order.append((True, len(formulas) - 1))
        elif name in spoken.responses:
            formula = spoken.responses[name]
            places = []
            for symbol in symbols(formula):
                if symbol.kind == "name" and symbol.name in constants:
                    places.append((symbol, ("constant", constants[symbol.name])))
                else:
                    places.append((symbol, spoken.place(symbol, name, dimensions)[0]))
            formulas.append(Formula(formula, tuple(places)))
            order.append((True, len(formulas) - 1))
        else:
            symbol = _plain_symbol(name, spoken.answers)
            plain.append(spoken.place(symbol, name, {})[0])
            order.append((False, len(plain) - 1))
    uses_rates = any(vector in ("rate", "production") for vector, _ in plain) or any(
        vector in ("rate", "production") for formula in formulas for _, (vector, _) in formula.places
    )
    return plain, np.array([i + (len(plain) if late else 0) for late, i in order], dtype=np.int32), formulas, uses_rates


def _plain_symbol(name: str, answers: Collection[str]) -> Symbol:
    """What a plain response is called in formulas."""
    if name.startswith("rate["):
        return Symbol("rate", name[5:-1])
    return Symbol("name", name) if name in answers else Symbol("concentration", name)


def _explicit_places(
    spoken: ExplicitModel, formula: Expression, constants: Mapping[str, int]
) -> tuple[tuple[Symbol, tuple[str, int]], ...]:
    places = []
    for symbol in symbols(formula):
        if symbol.name in spoken.constants:
            places.append((symbol, ("constant", constants[symbol.name])))
        elif symbol.name == "T":
            places.append((symbol, ("T", 0)))
        else:
            places.append((symbol, ("predictor", spoken.predictors.index(symbol.name))))
    return tuple(places)


def in_law_order(formula: Formula, rate_order: np.ndarray) -> Formula:
    """Rates count in the network's order in names and in stacking order in arrays."""
    places = tuple((s, (v, int(rate_order[i])) if v == "rate" else (v, i)) for s, (v, i) in formula.places)
    return Formula(formula.expression, places)


def mentions_temperature(spoken: Spoken, names: tuple[str, ...], campaign: Campaign) -> bool:
    """Whether a predicted formula or a rate formula uses T, or turns concentrations into partial pressures or the other way round."""
    formulas = (
        [spoken.responses[n] for n in names if n in spoken.responses] if isinstance(spoken, ReactorModel) else formula_expressions(spoken)
    )
    in_laws = isinstance(spoken, ReactorModel) and any(_uses_temperature(law.rate) for law in spoken.laws)
    in_formulas = any(s.kind == "name" and s.name == "T" for formula in formulas for s in symbols(formula))
    return in_laws or in_formulas or (isinstance(spoken, ReactorModel) and _converts(spoken, formulas, campaign))


def _uses_temperature(rate: RateFunction) -> bool:
    """Whether a rate holds T itself, beside constants that depend on it."""
    if isinstance(rate, Deactivating):
        return _uses_temperature(rate.fresh)
    if isinstance(rate, FreeRate):
        return any(symbol.name == "T" and symbol.kind == "name" for symbol in symbols(rate.expression))
    return isinstance(rate, FunctionRate) and rate.uses_temperature


def mentions_time_on_stream(spoken: Spoken, names: tuple[str, ...]) -> bool:
    """Whether a rate or a predicted formula uses the time on stream."""
    if not isinstance(spoken, ReactorModel):
        return False
    formulas = [spoken.responses[name] for name in names if name in spoken.responses]
    in_formulas = any(s.kind == "name" and s.name == ON_STREAM for formula in formulas for s in symbols(formula))
    return in_formulas or any(law.uses_time_on_stream for law in spoken.laws)


def check_time_on_stream(spoken: ReactorModel) -> None:
    """That rates depend on the time on stream only where experiments have one.

    Raises:
        ParameterError: in a reactor whose data are readings over time.
    """
    names = [r.name for r, law in zip(spoken.network.reactions, spoken.laws, strict=True) if law.uses_time_on_stream]
    if names and ON_STREAM not in spoken.conditions:
        raise ParameterError(
            f"The rate of {', '.join(names)} depends on the time on stream ({ON_STREAM}), which a {spoken.reactor.name} does not have:"
            " there the time is its own. Write the activity as a species that reacts: 'S + cat -> P + cat' in the place of 'S -> P', and"
            " 'cat -> dead' with k = kd, with cat = \"1 mol/L\" under [initial]."
        )


def _converts(spoken: ReactorModel, formulas: Sequence[Expression], campaign: Campaign) -> bool:
    """Whether c = p/(R T) is used: amounts are asked for as something else than they are given."""
    kinds = {"concentration": "concentration", "pressure": "partial_pressure"}
    asked = {kinds[s.kind] for formula in formulas for s in symbols(formula) if s.kind in kinds}
    asked.update(amount for law in spoken.laws for amount in law.amounts)
    if not spoken.reactor.measures_rates:
        return "partial_pressure" in asked
    given = {
        "partial_pressure" if f"p[{name}]" in campaign.conditions else "concentration"
        for name in spoken.network.species
        if name in campaign.conditions or f"p[{name}]" in campaign.conditions
    }
    return len(asked | given) > 1


def predicted_unit(spoken: Spoken, campaign: Campaign, name: str, constants: Mapping[str, Dimension], reporting: Reporting) -> Unit:
    """The unit of a response that is not measured: one of the data's, or one that a chemist would write for its dimension."""
    if isinstance(spoken, ReactorModel):
        if name in spoken.answers and spoken.answers[name] == TEMPERATURE:
            return campaign.condition_units.get(spoken.reactor.heated_from) or reporting.unit(TEMPERATURE)
        formula = spoken.responses.get(name)
        kind = spoken.plain_responses()[name] if formula is None else spoken.response_dimension(name, formula, constants)
    else:
        output = next(o for o in spoken.outputs if o.column == name)
        kind = DIMENSIONLESS if output.log else dimension(output.formula, _explicit_dimensions(constants, campaign.condition_units))
    return reporting.unit(kind)


def _explicit_dimensions(constants: Mapping[str, Dimension], units: Mapping[str, Unit]) -> Callable[[Symbol], Dimension]:
    """The dimensions of what an explicit model's formulas use: constants, T, and conditions with their units."""

    def lookup(symbol: Symbol) -> Dimension:
        if symbol.name in constants:
            return constants[symbol.name]
        if symbol.name == "T":
            return TEMPERATURE
        return units[symbol.name].dimension if symbol.name in units else DIMENSIONLESS

    return lookup


def check_explicit(spoken: ExplicitModel, campaign: Campaign, constants: Mapping[str, Dimension], units: Mapping[str, Unit]) -> None:
    """That both sides of every line of an explicit model have the same dimension.

    A logarithm on both sides may be taken of quantities with equal units.

    Raises:
        ExpressionError: they do not.
    """
    if any(name not in campaign.conditions for name in spoken.predictors):
        return  # a missing column is told when the problem is assembled
    lookup = _explicit_dimensions(constants, units)
    for output in spoken.outputs:
        column = next((c for c in campaign.responses if c.name == output.column), None)
        if column is None:
            continue
        right = output.formula.root
        formula = output.formula
        expected = column.unit.dimension
        if output.log and isinstance(right, Call) and right.function in ("log", "ln"):
            formula = Expression(output.formula.text, right.arguments[0])
        elif output.log and not expected.dimensionless:
            raise ExpressionError(
                f"Model '{output.name}': {output.column} has unit {column.unit.text}, so its logarithm needs a logarithm on the right"
                f' as well: "{output.name}" = "log(...)".'
            )
        try:
            found = dimension(formula, lookup)
        except ExpressionError as error:
            raise ExpressionError(*(f"Model '{output.name}': {problem}" for problem in error.problems)) from None
        if found != expected:
            raise ExpressionError(
                f"Model '{output.name}': the right-hand side is {found}, but {output.column} is {expected} ({column.unit.text})."
                " Check the units of the parameters and columns."
            )


def as_compared(spoken: Spoken, name: str) -> str:
    """What a response is called in results: `log(y)` where logarithms are compared."""
    return next((o.name for o in spoken.outputs if o.column == name), name) if isinstance(spoken, ExplicitModel) else name
