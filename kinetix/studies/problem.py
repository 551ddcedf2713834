"""A problem: model, parameters and data put together and checked; what fits and simulations start from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import fsum

import numpy as np

from kinetix.errors import ConditionError, ExpressionError, InputError, ParameterError, Problems, nearest
from kinetix.experiments import Campaign
from kinetix.expression import Expression, Symbol, dimension, symbols
from kinetix.expression.syntax import Call
from kinetix.network import Reaction, padded, stack_laws
from kinetix.parameters import BoundConstant, ConstantBook, DerivedFactor, Estimate, Number, ParameterTable, Temperature, bindings
from kinetix.rates import Constant, Law
from kinetix.simulation import FROM_LANE, Choice, ExplicitModel, Formula, Model, ReactorModel, Spoken, measured_responses
from kinetix.solvers import Options
from kinetix.studies.chemistry import Specification, concentration_unit
from kinetix.studies.numbers import Reference
from kinetix.units import CONCENTRATION, DIMENSIONLESS, TEMPERATURE, Dimension, Quantity, Unit, example_unit, parse_unit, require

PLACEHOLDER_TEMPERATURE = 298.15
"""K; stands where nothing depends on temperature and none is given. It enters no result."""


@dataclass(frozen=True)
class Amounts:
    """Feed or initial concentrations by species: known, estimated, or from the data; `default` for the species not named."""

    given: Mapping[str, Number]
    default: Quantity | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything a fit or a simulation needs.

    Attributes:
        title: for reports.
        spoken: the model in names.
        campaign: conditions and measurements.
        table: the parameters.
        constants: the constants of the laws, in the order of the model's vector of constants.
        derived: pre-exponential factors that follow from the parameters.
        model: the model as arrays.
        lanes: the experiments as arrays.
        responses: names of the predicted responses.
        units: their units.
        observed: measured values, SI (logarithms where logarithms are compared), (lane, time, response); 0 where not measured.
        weights: 1/sigma, or 1/unit where no sigma is given, in 1/SI, (lane, time, response); 0 where not measured.
        sigma: standard deviations as given, SI, NaN where none, (lane, time, response).
        sigma_meaning: "trusted", "scaled" or "estimated".
    """

    title: str
    spoken: Spoken
    campaign: Campaign
    table: ParameterTable
    constants: tuple[BoundConstant, ...]
    derived: tuple[DerivedFactor, ...]
    model: Model
    lanes: dict[str, np.ndarray]
    responses: tuple[str, ...]
    units: tuple[Unit, ...]
    observed: np.ndarray
    weights: np.ndarray
    sigma: np.ndarray
    sigma_meaning: str

    @property
    def parameters(self) -> np.ndarray:
        """Known values and starts, SI, (parameter,)."""
        return self.table.start


@dataclass(frozen=True)
class Given:
    """What the user says of constants and amounts.

    Attributes:
        constants: of the laws, by full name (`r1.k`).
        named: constants with names of their own.
        feed, initial: amounts.
    """

    constants: Mapping[str, Specification]
    named: Mapping[str, Temperature]
    feed: Amounts
    initial: Amounts


def assemble(
    spoken: Spoken,
    campaign: Campaign,
    given: Given,
    *,
    title: str = "",
    sigma: str | None = None,
    options: Options | None = None,
    rtol: float = 1e-8,
    atol: float | None = None,
    responses: Choice = measured_responses,
) -> Problem:
    """Put a problem together.

    Args:
        spoken: the model in names.
        campaign: conditions and measurements.
        given: constants and amounts.
        title: for reports.
        sigma: how given sigmas are meant, "trusted" or "scaled"; must be None where the data have none.
        options: of the solver.
        rtol: relative tolerance of the solver.
        atol: absolute tolerance, mol/m^3; default: rtol/1000 of the largest amount of each experiment.
        responses: chooses what to predict.

    Raises:
        InputError: everything that is missing or impossible, at once.
    """
    problems = Problems()
    book = ConstantBook(reference_temperature(campaign))
    named = _named_positions(book, spoken, given, problems)
    laws: tuple[Law, ...] = spoken.laws if isinstance(spoken, ReactorModel) else ()
    position = _law_constants(book, spoken, given, named, problems) if isinstance(spoken, ReactorModel) else {}
    feed, feed_positions = _amounts(book, spoken, campaign, given.feed, "feed", problems)
    initial, initial_positions = _amounts(book, spoken, campaign, given.initial, "initial", problems)
    problems.raise_if_any(InputError)
    table = ParameterTable(tuple(book.parameters))
    names = responses(spoken, campaign)
    with problems.collecting():
        plain, order, formulas, uses_rates = _responses(spoken, names, {c.name: i for i, c in enumerate(book.constants)}, book)
    temperature_needed = any(c.thermal for c in book.constants) or _mentions_temperature(spoken, names)
    lanes: dict[str, np.ndarray] = {}
    with problems.collecting():
        lanes = _lanes(spoken, campaign, feed, initial, temperature_needed, rtol, atol)
    meaning = "estimated"
    with problems.collecting():
        meaning = _sigma_meaning(campaign, sigma)
    problems.raise_if_any(InputError)

    kinetics, rate_order = None, np.zeros(0, dtype=np.int32)
    if isinstance(spoken, ReactorModel):
        net = spoken.network
        kinetics, rate_order = stack_laws(
            laws, net.stoichiometry, net.species, lambda i, name: position[f"{net.reactions[i].name}.{name}"]
        )
    n = padded(len(spoken.network.species)) if isinstance(spoken, ReactorModel) else 0
    m = kinetics.stoichiometry.shape[1] if kinetics is not None else 0
    offsets = {"c": 0, "rate": n, "production": n + m}
    model = Model(
        kinetics=kinetics,
        constants=bindings(book.constants, padded(max(1, len(book.constants)))),
        initial=initial_positions,  # type: ignore[arg-type]
        feed=feed_positions,  # type: ignore[arg-type]
        plain=np.array([offsets[v] + (rate_order[i] if v == "rate" else i) for v, i in plain], dtype=np.int32),  # type: ignore[arg-type]
        order=order,  # type: ignore[arg-type]
        reactor=spoken.reactor if isinstance(spoken, ReactorModel) else None,
        formulas=tuple(_in_law_order(formula, rate_order) for formula in formulas),
        uses_rates=uses_rates,
        options=options or Options(),
    )
    dimensions = {c.name: c.unit.dimension for c in book.constants}
    units, observed, weights, sigmas = _measurements(spoken, campaign, names, dimensions)
    return Problem(
        title=title,
        spoken=spoken,
        campaign=campaign,
        table=table,
        constants=tuple(book.constants),
        derived=tuple(book.derived),
        model=model,
        lanes=lanes,
        responses=tuple(_as_compared(spoken, name) for name in names),
        units=units,
        observed=observed,
        weights=weights,
        sigma=sigmas,
        sigma_meaning=meaning,
    )


def _as_compared(spoken: Spoken, name: str) -> str:
    """What a response is called in results: `log(y)` where logarithms are compared."""
    return next((o.name for o in spoken.outputs if o.column == name), name) if isinstance(spoken, ExplicitModel) else name


def only_measured(problem: Problem) -> Problem:
    """The problem without the times at which nothing was measured: a deleted value leaves no trace, not even a stop of the integration.

    An experiment in which nothing was measured at all keeps its times.
    """
    campaign = problem.campaign
    kept = np.any(problem.weights > 0, axis=2)
    kept[~kept.any(axis=1)] = True
    if kept.all():
        return problem
    width = kept.sum(axis=1).max()
    rows = np.stack([np.resize(np.flatnonzero(kept[lane]), width) for lane in range(len(kept))])
    rows = np.maximum.accumulate(rows, axis=1)  # the last time repeated
    real = np.arange(width) < kept.sum(axis=1)[:, None]

    def taken(array: np.ndarray) -> np.ndarray:
        return array[np.arange(len(rows))[:, None], rows]

    times = taken(campaign.times)
    mask = taken(campaign.mask) & real[..., None]
    return replace(
        problem,
        campaign=replace(
            campaign,
            times=times,
            values=np.where(mask, taken(campaign.values), np.nan),
            mask=mask,
            sigma=np.where(mask, taken(campaign.sigma), np.nan),
            lines=np.where(real, taken(campaign.lines), 0),
        ),
        lanes={**problem.lanes, "times": times},
        observed=np.where(real[..., None], taken(problem.observed), 0.0),
        weights=np.where(real[..., None], taken(problem.weights), 0.0),
        sigma=np.where(real[..., None], taken(problem.sigma), np.nan),
    )


def reference_temperature(campaign: Campaign) -> float | None:
    """Harmonic mean of the temperatures of all measured values, K; of all experiments where nothing is measured. None without T.

    At it the estimates of ln k and Ea of equally weighted ln k are uncorrelated (Schwaab & Pinto 2007).
    """
    if "T" in campaign.programs:
        times, temperatures = campaign.programs["T"]
        T = np.stack([np.interp(t, x, y) for t, x, y in zip(campaign.times, times, temperatures, strict=True)])
    elif "T" in campaign.conditions:
        T = np.broadcast_to(np.asarray(campaign.conditions["T"])[:, None], campaign.times.shape)
    else:
        return None
    counts = campaign.mask.sum(axis=2) if campaign.mask.any() else np.ones(campaign.times.shape)
    # exactly rounded sums: the order of the experiments and empty rows leave no trace in the last digit
    return fsum(counts.ravel()) / fsum((counts / T).ravel())


# ------------------------------------------------------------------------------------------------------------- constants


def _named_positions(book: ConstantBook, spoken: Spoken, given: Given, problems: Problems) -> dict[str, int]:
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
                            f"Parameter '{spec.name}' is used by '{reaction.name}' as {constant.dimension}, but elsewhere as {first.dimension}."
                            " Use two parameters."
                        )
    used_by_formulas = {s.name for formula in _formula_expressions(spoken) for s in symbols(formula) if s.kind == "name"}
    positions: dict[str, int] = {}
    for name, spec in given.named.items():
        if name not in wanted and name not in used_by_formulas:
            problems.add(f"Parameter '{name}' is given but nothing uses it. Remove it, or use it.{nearest(name, wanted)}")
            continue
        with problems.collecting():
            default = Constant(name, None, positive=_positive_by_default(spec))
            positions[name] = book.add(name, wanted.get(name, default), spec)
    return positions


def _positive_by_default(spec: Temperature) -> bool:
    return spec.energy is not None or spec.factor


def _formula_expressions(spoken: Spoken) -> list[Expression]:
    return list(spoken.responses.values()) if isinstance(spoken, ReactorModel) else [output.formula for output in spoken.outputs]


def _law_constants(book: ConstantBook, spoken: ReactorModel, given: Given, named: Mapping[str, int], problems: Problems) -> dict[str, int]:
    positions: dict[str, int] = {}
    expected = set()
    for reaction, law in zip(spoken.network.reactions, spoken.laws, strict=True):
        for constant in law.constants:
            name = f"{reaction.name}.{constant.name}"
            expected.add(name)
            if constant.value is not None:
                with problems.collecting():
                    main = given.constants.get(f"{reaction.name}.k")
                    unit = concentration_unit(main, given.named, reaction.name) if constant.dimension == CONCENTRATION else parse_unit("1")
                    positions[name] = book.add_literal(name, constant.value, unit)
                continue
            spec = given.constants.get(name)
            if spec is None:
                problems.add(f"Rate of '{reaction.name}' uses '{constant.name}', which has no value, no unit and is not estimated. Give {name}.")
            elif isinstance(spec, Reference):
                if spec.name in named:
                    positions[name] = named[spec.name]
            else:
                with problems.collecting():
                    try:
                        positions[name] = book.add(name, constant, spec)
                    except InputError as error:
                        raise ParameterError(*(_with_order(problem, reaction, law) for problem in error.problems)) from None
    for name in given.constants:
        if name not in expected:
            problems.add(f"Parameter '{name}' belongs to no rate law (known: {', '.join(sorted(expected))}).{nearest(name, expected)}")
    return positions


def _with_order(problem: str, reaction: Reaction, law: Law) -> str:
    """A dimension error of a rate constant also says which reaction and law it serves."""
    if "is needed" not in problem:
        return problem
    return f"Reaction '{reaction.name}' ({reaction.equation}) has the rate {law.text}, which fixes the dimension: {problem}"


# --------------------------------------------------------------------------------------------------------------- amounts


def _amounts(
    book: ConstantBook, spoken: Spoken, campaign: Campaign, amounts: Amounts, stem: str, problems: Problems
) -> tuple[np.ndarray | None, np.ndarray]:
    """Amounts by lane and species, mol/m^3, and positions of those that are parameters."""
    if not isinstance(spoken, ReactorModel):
        return None, np.zeros(0, dtype=np.int32)
    species = spoken.network.species
    positions = np.full(padded(len(species)), FROM_LANE, dtype=np.int32)
    needed = spoken.reactor.needs_feed if stem == "feed" else spoken.reactor.needs_initial
    for name in amounts.given:
        if name not in species:
            problems.add(f"{stem}: '{name}' is no species (known: {', '.join(species)}).{nearest(name, species)}")
    if not needed:
        if amounts.given:
            problems.add(f"{stem}: a {spoken.reactor.name} reactor has no {stem} amounts. Remove them.")
        return None, positions
    values = np.zeros((len(campaign.experiments), len(positions)))
    missing = []
    for i, name in enumerate(species):
        column = campaign.conditions.get(f"{stem}.{name}")
        written = amounts.given.get(name)
        if column is not None and written is not None:
            problems.add(f"{stem}.{name} is given both in the data and in the study. Keep one.")
        elif column is not None:
            values[:, i] = column
        elif isinstance(written, Quantity):
            with problems.collecting():
                values[:, i] = _concentration(written, f"{stem}.{name}")
        elif written is not None:
            with problems.collecting():
                positions[i] = book.add_parameter(f"{stem}.{name}", _not_negative(written), CONCENTRATION, positive=False)
        elif amounts.default is not None:
            with problems.collecting():
                values[:, i] = _concentration(amounts.default, f"{stem}.default")
        else:
            missing.append(name)
    if missing:
        where = "[conditions] feed" if stem == "feed" else "[initial]"
        example = f'feed = {{ {missing[0]} = "0 mol/L" }} under [conditions]' if stem == "feed" else f'{missing[0]} = "0 mol/L" under [initial]'
        problems.add(
            f"{spoken.reactor.name}: no {stem} concentration of {', '.join(missing)}, neither in the data nor under {where}."
            f' Write {example}, or default = "0 mol/L" there for all that are not named.'
        )
    return values, positions


def _concentration(quantity: Quantity, name: str) -> float:
    value = require(quantity, CONCENTRATION, name).si
    if value < 0:
        raise ConditionError(f"{name} must not be negative (got {quantity}).")
    return value


def _not_negative(number: Number) -> Number:
    """Amounts are fitted on a linear scale, not below zero."""
    if isinstance(number, Estimate) and number.lower is None and number.scale != "log" and number.start is not None:
        return replace(number, lower=Quantity(0.0, number.start.unit))
    return number


# ------------------------------------------------------------------------------------------------------------- responses


def _responses(
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
            symbol = Symbol("rate", name[5:-1]) if name.startswith("rate[") else Symbol("concentration", name)
            plain.append(spoken.place(symbol, name, {})[0])
            order.append((False, len(plain) - 1))
    uses_rates = any(vector in ("rate", "production") for vector, _ in plain) or any(
        vector in ("rate", "production") for formula in formulas for _, (vector, _) in formula.places
    )
    return plain, np.array([i + (len(plain) if late else 0) for late, i in order], dtype=np.int32), formulas, uses_rates


def _explicit_places(spoken: ExplicitModel, formula: Expression, constants: Mapping[str, int]) -> tuple[tuple[Symbol, tuple[str, int]], ...]:
    places = []
    for symbol in symbols(formula):
        if symbol.name in spoken.constants:
            places.append((symbol, ("constant", constants[symbol.name])))
        elif symbol.name == "T":
            places.append((symbol, ("T", 0)))
        else:
            places.append((symbol, ("predictor", spoken.predictors.index(symbol.name))))
    return tuple(places)


def _in_law_order(formula: Formula, rate_order: np.ndarray) -> Formula:
    """Rates count in the network's order in names and in stacking order in arrays."""
    places = tuple((s, (v, int(rate_order[i])) if v == "rate" else (v, i)) for s, (v, i) in formula.places)
    return Formula(formula.expression, places)


def _mentions_temperature(spoken: Spoken, names: tuple[str, ...]) -> bool:
    formulas = [spoken.responses[n] for n in names if n in spoken.responses] if isinstance(spoken, ReactorModel) else _formula_expressions(spoken)
    in_laws = isinstance(spoken, ReactorModel) and any(
        symbol.name == "T" and symbol.kind == "name"
        for law in spoken.laws
        if hasattr(law.rate, "expression")
        for symbol in symbols(law.rate.expression)  # type: ignore[attr-defined]
    )
    return in_laws or any(s.kind == "name" and s.name == "T" for formula in formulas for s in symbols(formula))


# ----------------------------------------------------------------------------------------------------------------- lanes


def _lanes(
    spoken: Spoken,
    campaign: Campaign,
    feed: np.ndarray | None,
    initial: np.ndarray | None,
    temperature_needed: bool,
    rtol: float,
    atol: float | None,
) -> dict[str, np.ndarray]:
    size = len(campaign.experiments)
    lanes: dict[str, np.ndarray] = {"times": np.asarray(campaign.times, dtype=float)}
    if "T" in campaign.programs:
        lanes["program_times"], lanes["program_T"] = campaign.programs["T"]
    elif "T" in campaign.conditions:
        lanes["T"] = np.asarray(campaign.conditions["T"], dtype=float)
    elif temperature_needed:
        raise ConditionError(
            'No temperature: a rate constant or formula depends on T. Add a column such as "T [degC]", or T = "350 K" under [conditions].'
        )
    else:
        lanes["T"] = np.full(size, PLACEHOLDER_TEMPERATURE)
    if isinstance(spoken, ExplicitModel):
        columns = [campaign.conditions[name] for name in spoken.predictors if name in campaign.conditions]
        missing = [name for name in spoken.predictors if name not in campaign.conditions]
        if missing:
            raise ConditionError(
                f"The model uses {', '.join(repr(name) for name in missing)}, which is neither a column of the data nor under [parameters]."
                f"{nearest(missing[0], [*campaign.conditions, *spoken.constants])}"
            )
        lanes["predictors"] = np.stack(columns, axis=1) if columns else np.zeros((size, 0))
        return lanes
    if feed is not None:
        lanes["feed"] = feed
    if initial is not None:
        lanes["initial"] = initial
    if spoken.reactor.measures_rates:
        lanes["concentrations"] = _measured_concentrations(spoken, campaign)
    lanes.update(spoken.reactor.lane_conditions(campaign.conditions))
    largest = max((float(np.max(a)) for a in (feed, initial) if a is not None and a.size), default=1.0)
    by_lane = np.max([a.max(axis=1) for a in (feed, initial) if a is not None] or [np.ones(size)], axis=0)
    by_lane = np.where(by_lane > 0, by_lane, largest if largest > 0 else 1.0)
    lanes["atol"] = np.full(size, atol) if atol is not None else 1e-3 * rtol * by_lane
    return lanes


def _measured_concentrations(spoken: ReactorModel, campaign: Campaign) -> np.ndarray:
    species = spoken.network.species
    used = {name for law in spoken.laws for side in law.species for name in side}
    out = np.zeros((len(campaign.experiments), padded(len(species))))
    for i, name in enumerate(species):
        if name in campaign.conditions:
            out[:, i] = campaign.conditions[name]
        elif name in used:
            raise ConditionError(f'differential: no concentration of {name}, which the rates need. Add a column "{name} [mol/L]".')
    return out


# ---------------------------------------------------------------------------------------------------------- measurements


def _sigma_meaning(campaign: Campaign, sigma: str | None) -> str:
    given = np.isfinite(campaign.sigma) & campaign.mask
    if not given.any():
        if sigma is not None:
            raise ParameterError(
                f"[fit] sigma = \"{sigma}\", but no sigma is given. Add a column such as sigma_A, or a value under [noise], or remove it"
                " (the scatter is then estimated from the residuals)."
            )
        return "estimated"
    if sigma is None:
        raise ParameterError(
            'Sigma is given, but not how it is meant. Write sigma = "trusted" under [fit] (standard errors use it as it is)'
            ' or sigma = "scaled" (only ratios count; the size is estimated from the residuals); on the command line --sigma trusted or'
            " --sigma scaled."
        )
    if not given[campaign.mask].all():
        i, j, k = np.argwhere(campaign.mask & ~given)[0]
        name = campaign.responses[k].name
        raise ParameterError(
            f"Sigma is given for some values but not for {name} of experiment '{campaign.experiments[i]}' (line {campaign.lines[i, j]})."
            f' Add {name} = "..." under [noise].'
        )
    return sigma


def _measurements(
    spoken: Spoken, campaign: Campaign, names: tuple[str, ...], constants: Mapping[str, Dimension]
) -> tuple[tuple[Unit, ...], np.ndarray, np.ndarray, np.ndarray]:
    lanes, times = campaign.times.shape
    shape = (lanes, times, len(names))
    observed, weights, sigma = np.zeros(shape), np.zeros(shape), np.full(shape, np.nan)
    columns = {column.name: i for i, column in enumerate(campaign.responses)}
    units = []
    for r, name in enumerate(names):
        output = next((o for o in spoken.outputs if o.column == name), None) if isinstance(spoken, ExplicitModel) else None
        if name not in columns:
            units.append(_predicted_unit(spoken, campaign, name, constants))
            continue
        i = columns[name]
        mask, unit = campaign.mask[..., i], campaign.responses[i].unit
        values = np.where(mask, campaign.values[..., i], 1.0)
        given = campaign.sigma[..., i]
        scale = np.where(np.isfinite(given), given, unit.factor)
        if output is not None and output.log:
            bad = np.argwhere(mask & ~(values > 0))
            if bad.size:
                raise ConditionError(f"Model '{output.name}': {name} is not above 0 in line {campaign.lines[tuple(bad[0])]}; it has no logarithm.")
            given = given / values
            scale = np.where(np.isfinite(given), given, 1.0)
            values, unit = np.log(values), parse_unit("1")
        units.append(unit)
        observed[..., r] = np.where(mask, values, 0.0)
        weights[..., r] = np.where(mask, 1.0 / scale, 0.0)
        sigma[..., r] = np.where(mask, given, np.nan)
    return tuple(units), observed, weights, sigma


def _predicted_unit(spoken: Spoken, campaign: Campaign, name: str, constants: Mapping[str, Dimension]) -> Unit:
    """The unit of a response that is not measured: one that a chemist would write for its dimension."""
    if isinstance(spoken, ReactorModel):
        formula = spoken.responses.get(name)
        kind = spoken.plain_responses()[name] if formula is None else spoken.response_dimension(name, formula, constants)
    else:
        output = next(o for o in spoken.outputs if o.column == name)
        kind = DIMENSIONLESS if output.log else dimension(output.formula, _explicit_dimensions(constants, campaign.condition_units))
    return parse_unit(example_unit(kind))


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
                f"Model '{output.name}': {output.column} has unit {column.unit.text}, so its logarithm needs a logarithm on the right as well:"
                f' "{output.name}" = "log(...)".'
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

