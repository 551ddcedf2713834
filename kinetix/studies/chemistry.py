"""From the `[reactions]` of a study to a network, its rate laws, and the constants as written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from kinetix.errors import ExpressionError, InputError, ParameterError, Problems, ReactionError, UnitError, nearest
from kinetix.expression import Symbol, dimension, parse, symbols
from kinetix.network import Network, Reaction, check_balance, parse_reaction
from kinetix.parameters import TemperatureLaw, unit_of
from kinetix.rates import (
    BASES,
    BOOKS,
    ON_STREAM,
    VOLUME_BASIS,
    Basis,
    FunctionLaw,
    Law,
    deactivating,
    free,
    mass_action,
    power_law,
    reversible,
)
from kinetix.rates.book import Formula
from kinetix.studies.numbers import Reference, Written, parse_constant, parse_number
from kinetix.studies.schema import ReactionSection
from kinetix.units import (
    CONCENTRATION,
    DIMENSIONLESS,
    PRESSURE,
    RATE,
    TEMPERATURE,
    TIME,
    Dimension,
    Quantity,
    Unit,
    apart_from,
    example_unit,
    parse_unit,
    require,
)

QUANTITIES = ("k", "A", "Ea", "dH", "dS", "b", "at", "kf", "kr", "K", "kd", "dHr")
"""What a reaction may say of its constants without a formula of its own, and its enthalpy of reaction."""

_OF_K = ("k", "A", "Ea", "dH", "dS", "b", "at")

Specification = TemperatureLaw | Reference
"""What stands for one constant: its own value, or the name of a shared one."""


@dataclass(frozen=True)
class Chemistry:
    """A network with its rate laws, one per reaction, and what the user wrote for their constants.

    Attributes:
        network: species and reactions.
        laws: one per reaction.
        constants: by full name (`r1.k`); constants whose value the law fixes are not among them.
        named: constants under `[parameters]`, by name.
    """

    network: Network
    laws: tuple[Law, ...]
    constants: Mapping[str, Specification]
    named: Mapping[str, TemperatureLaw]


def chemistry(
    reactions: Mapping[str, ReactionSection],
    parameters: Mapping[str, Any],
    formulas: bool | None,
    basis: Basis = VOLUME_BASIS,
    functions: Mapping[str, FunctionLaw] | None = None,
) -> Chemistry:
    """Network, laws and constants of a study, with rates on a basis; all problems at once.

    `functions` are rate laws by reaction that are Python functions.

    Raises:
        ReactionError, ExpressionError, ParameterError, UnitError (as one `InputError`): what is wrong in which reaction.
    """
    problems = Problems()
    network = network_of(reactions)
    named = named_constants(parameters, problems)
    problems.raise_if_any(InputError)
    check_balance(network, formulas)
    laws, constants = [], {}
    for reaction, section in zip(network.reactions, reactions.values(), strict=True):
        with problems.collecting():
            function = (functions or {}).get(reaction.name)
            if function is not None:
                law, own = _function_law(reaction, section, function, network, named, basis)
            else:
                law, own = _law(reaction, section, network, named, basis)
            if section.kd is not None and f"{reaction.name}.kd" not in own:
                law, own = _deactivating(reaction, section, law, own)
            laws.append(law)
            constants.update(own)
    for name, spec in constants.items():
        if isinstance(spec, Reference) and spec.name not in named:
            problems.add(
                f"Parameter '{name}' refers to '{spec.name}', which has no value, no unit and is not estimated."
                f' Write {spec.name} = "..." under [parameters].{nearest(spec.name, named)}'
            )
    problems.raise_if_any(InputError)
    return Chemistry(network, tuple(laws), constants, named)


def network_of(reactions: Mapping[str, ReactionSection]) -> Network:
    """The network of a study's reactions, not yet balanced.

    Raises:
        ReactionError: the texts that cannot be read, all at once.
    """
    problems = Problems()
    parsed: list[Reaction] = []
    for name, section in reactions.items():
        with problems.collecting():
            parsed.append(parse_reaction(section.equation, name, balance_checked=section.balance == "on"))
    problems.raise_if_any(ReactionError)
    return Network.of(parsed)


def named_constants(parameters: Mapping[str, Any], problems: Problems) -> dict[str, TemperatureLaw]:
    """The constants under `[parameters]`."""
    named: dict[str, TemperatureLaw] = {}
    for name, value in parameters.items():
        with problems.collecting():
            spec = parse_constant(value, name, name)
            if isinstance(spec, Reference):
                raise ParameterError(
                    f"Parameter '{name}' refers to '{spec.name}'; ties between parameters are not available yet. Write its value, or use"
                    f" '{spec.name}' where '{name}' stands."
                )
            named[name] = spec
    return named


def _law(
    reaction: Reaction, section: ReactionSection, network: Network, named: Mapping[str, TemperatureLaw], basis: Basis
) -> tuple[Law, dict[str, Specification]]:
    name = reaction.name
    if section.rate is not None and section.law is not None:
        raise ParameterError(f"Reaction '{name}': both rate and law are given. Keep one.")
    if section.law is not None:
        formula = _named_formula(reaction, section.law)
        text = formula.text.replace("[", "p[") if basis.amounts == "partial_pressure" else formula.text
        expected = {key: basis.dimension(dimension) for key, dimension in formula.constants.items()}
        return _free_law(reaction, section, text, network, named, expected, formula.equilibria, basis)
    if section.rate is not None:
        return _free_law(reaction, section, section.rate, network, named, {}, None, basis)
    if section.parameters:
        names = list(section.parameters)
        raise ParameterError(
            f'Reaction \'{name}\': nothing uses {", ".join(names)}. Write rate = "..." or law = "..." with it, or remove it.'
            f"{nearest(names[0], QUANTITIES)}"
        )
    reactants, products = dict(reaction.reactants), dict(reaction.products)
    if reaction.reversible:
        law, own = _reversible_law(reaction, section, reactants, products)
        return basis.law(law), own
    for key in ("kf", "kr", "K"):
        if getattr(section, key) is not None:
            raise ParameterError(
                f"Reaction '{name}': {key} is a constant of a reversible reaction, but '{reaction.equation}' is not one. Write '<=>', or k."
            )
    main = _main_constant(section, name)
    if not section.orders:
        _check_total(name, reactants)
    if section.orders or not _small_integers(reactants):
        law, own = _power_law(reaction, section, reactants, main, network, named, basis)
        return basis.law(law), own
    return basis.law(mass_action.law(reactants)), {f"{name}.k": main}


def _deactivating(
    reaction: Reaction, section: ReactionSection, law: Law, own: dict[str, Specification]
) -> tuple[Law, dict[str, Specification]]:
    """The law times the activity of its catalyst."""
    name = f"{reaction.name}.kd"
    if law.uses_time_on_stream:
        raise ParameterError(
            f"Reaction '{reaction.name}': kd multiplies the rate by exp(-kd*{ON_STREAM}), but its formula uses {ON_STREAM} itself:"
            f" {law.text}. Keep one."
        )
    return deactivating(law), {**own, name: parse_constant(section.kd, name, "kd")}


def _main_constant(section: ReactionSection, name: str) -> Specification:
    given = {key: getattr(section, key) for key in _OF_K if getattr(section, key) is not None}
    if not given:
        raise ParameterError(f"Reaction '{name}' has no rate constant. Write k = \"0.1 1/s\", or A and Ea.")
    if set(given) == {"k"} and not isinstance(given["k"], Mapping):
        return parse_constant(given["k"], f"{name}.k")
    return parse_constant(given, f"{name}.k", eyring=True)


LARGEST_ORDER = 12
"""Of mass action, which multiplies concentrations; a formula has no such limit."""


def _small_integers(orders: Mapping[str, float]) -> bool:
    return _integers(orders) and sum(orders.values()) <= LARGEST_ORDER


def _integers(orders: Mapping[str, float]) -> bool:
    return all(order == int(order) for order in orders.values())


def _check_total(name: str, orders: Mapping[str, float]) -> None:
    """That whole orders are not too many for mass action."""
    if _integers(orders) and sum(orders.values()) > LARGEST_ORDER:
        raise ParameterError(
            f"Reaction '{name}': its total order is {sum(orders.values()):g}, and mass action goes up to {LARGEST_ORDER}."
            ' Write the rate as a formula, rate = "k*[A]^20", or other orders, orders = { A = 1 }.'
        )


def _reversible_law(
    reaction: Reaction, section: ReactionSection, reactants: dict[str, float], products: dict[str, float]
) -> tuple[Law, dict[str, Specification]]:
    name = reaction.name
    for key in _OF_K:
        if getattr(section, key) is not None:
            raise ParameterError(
                f"Reaction '{name}' is reversible ('{reaction.equation}'), so '{key}' is ambiguous. Write kf = {{ ... }} and kr = {{ ... }}"
                " (or K = { ... }), each with its own k or A, Ea and at."
            )
    if section.orders or not (_small_integers(reactants) and _small_integers(products)):
        raise ParameterError(
            f"Reaction '{name}': a reversible reaction has integer orders from its coefficients, up to {LARGEST_ORDER} on a side."
            ' Write two reactions, or rate = "...", for other orders.'
        )
    if section.kf is None:
        raise ParameterError(f"Reaction '{name}' is reversible and has no kf. Write kf = \"0.1 1/s\" (and kr, or K).")
    if (section.kr is None) == (section.K is None):
        found = "neither kr nor K" if section.kr is None else "both kr and K"
        raise ParameterError(f"Reaction '{name}' is reversible and has {found}. Give one of them.")
    second = "kr" if section.kr is not None else "K"
    law = reversible.law(reactants, products) if second == "kr" else reversible.equilibrium_law(reactants, products)
    return law, {
        f"{name}.kf": parse_constant(section.kf, f"{name}.kf", "kf", eyring=True),
        f"{name}.{second}": parse_constant(getattr(section, second), f"{name}.{second}", second, eyring=second == "kr"),
    }


def _power_law(
    reaction: Reaction,
    section: ReactionSection,
    reactants: dict[str, float],
    main: Specification,
    network: Network,
    named: Mapping[str, TemperatureLaw],
    basis: Basis,
) -> tuple[Law, dict[str, Specification]]:
    name = reaction.name
    orders: dict[str, float | None] = dict(reactants)
    fitted: dict[str, Specification] = {}
    for species, value in section.orders.items():
        if species not in network.species:
            raise ParameterError(
                f"Reaction '{name}': orders names '{species}', which is no species (known: {', '.join(network.species)})."
                f"{nearest(species, network.species)}"
            )
        number = parse_number(value, f"{name}.order.{species}", DIMENSIONLESS)
        if isinstance(number, Reference):
            fitted[f"{name}.order.{species}"] = number
            orders[species] = None
        elif isinstance(value, Mapping) and "value" not in value:
            fitted[f"{name}.order.{species}"] = TemperatureLaw(number.number)
            orders[species] = None
        else:
            orders[species] = _known_order(number, name, species)
    if all(n is not None for n in orders.values()) and _small_integers({s: n for s, n in orders.items() if n is not None and n > 0}):
        positive = {species: n for species, n in orders.items() if n}
        if all(n is not None and n > 0 for n in positive.values()):
            return mass_action.law({species: n for species, n in positive.items() if n is not None}), {f"{name}.k": main}
    if isinstance(main, TemperatureLaw) and main.eyring:
        raise ParameterError(
            f"Reaction '{name}': dH with fractional or estimated orders; Eyring's law is for whole orders. Write k and Ea."
        )
    reference = concentration_unit(main, named, name) if basis == VOLUME_BASIS else parse_unit(example_unit(basis.amount))
    return power_law.law(orders, reference), {f"{name}.k": main, **fitted}


def _known_order(number: Written, name: str, species: str) -> float:
    assert isinstance(number.number, Quantity)
    return require(number.number, DIMENSIONLESS, f"{name}.order.{species}").si


def concentration_unit(spec: Specification | None, named: Mapping[str, TemperatureLaw], reaction: str) -> Unit:
    """The concentration unit within the unit of a reaction's rate constant: mol/L in mol/L/s and mol L-1 s-1.

    Fitted and fractional orders are taken of c/c_ref with c_ref = 1 of it.

    Raises:
        ParameterError: the unit is not written as concentration/time, or the constant refers to none.
    """
    name = f"{reaction}.k"
    if isinstance(spec, Reference):
        if spec.name not in named:
            raise ParameterError(f"Parameter '{name}' refers to '{spec.name}', which is not under [parameters].{nearest(spec.name, named)}")
        name, spec = spec.name, named[spec.name]
    unit = unit_of(spec.value) if spec is not None else None
    if unit is None:
        return parse_unit("mol/L")  # the unit in which k is then reported is mol/L/s
    if unit.dimension == RATE and (concentration := apart_from(unit, TIME)).dimension == CONCENTRATION:
        return concentration
    raise ParameterError(
        f"Parameter '{name}': with fractional or fitted orders r = k ([i]/c_ref)^n, and k is a rate. Write its unit as"
        f" concentration/time, for example mol/L/s (found {unit.text}); c_ref is then 1 mol/L."
    )


def _named_formula(reaction: Reaction, written: str | Mapping[str, Any]) -> Formula:
    """The formula of a law from the shelf for one reaction."""
    options = {"type": written} if isinstance(written, str) else dict(written)
    name = options.pop("type", None)
    if not isinstance(name, str) or name not in BOOKS:
        suggestion = nearest(name, BOOKS) if isinstance(name, str) else ""
        raise ParameterError(f"Reaction '{reaction.name}': law {name!r} is unknown. Known: {', '.join(BOOKS)}.{suggestion}")
    try:
        return BOOKS[name].apply(dict(reaction.reactants), dict(reaction.products), options)
    except ParameterError as error:
        raise ParameterError(*(f"Reaction '{reaction.name}': {problem}" for problem in error.problems)) from None


def _free_law(
    reaction: Reaction,
    section: ReactionSection,
    text: str,
    network: Network,
    named: Mapping[str, TemperatureLaw],
    expected: Mapping[str, Dimension],
    equilibria: frozenset[str] | None,
    basis: Basis,
) -> tuple[Law, dict[str, Specification]]:
    """The law of a formula; `expected` and `equilibria` are of a named law's constants."""
    name = reaction.name
    what = "rate formula" if section.rate is not None else "named law"
    used = {symbol.name for symbol in _symbols(text, name) if symbol.kind == "name"}
    own = _own_constants(section, name, what, used)
    shared = {key: Reference(key) for key in named if key in used and key not in own}
    constants: dict[str, Specification] = {**own, **shared}
    if ON_STREAM in constants:
        raise ParameterError(
            f"Reaction '{name}': {ON_STREAM} is the time on stream of each row, a condition, and no constant."
            " Give the constant another name."
        )
    units = {key: _unit(spec, named, f"{name}.{key}", expected.get(key)) for key, spec in constants.items()}
    for key, needed in expected.items():
        if key in units:
            try:
                require(units[key], needed, f"{name}.{key}")
            except UnitError as error:
                said = "" if basis == VOLUME_BASIS else f", {basis}"
                raise UnitError(
                    *(f"Reaction '{name}' ({reaction.equation}) has the rate {text}{said}: {problem}" for problem in error.problems)
                ) from None
    dimensions = {key: unit.dimension for key, unit in units.items()} | ({ON_STREAM: TIME} if ON_STREAM in used else {})
    law = free.law(text, dimensions, network.species, name, equilibria)
    check_rate_dimension(text, dimensions, name, basis)
    return law, {f"{name}.{key}": spec for key, spec in constants.items()}


def _own_constants(section: ReactionSection, name: str, what: str, used: Collection[str]) -> dict[str, Specification]:
    """The constants of a law that is no mass action, as the reaction gives them; `used` are the names in its formula."""
    if section.orders:
        raise ParameterError(f"Reaction '{name}': orders beside a {what}. Write the rate as a formula with those orders.")
    own: dict[str, Specification] = {}
    for key in ("dH", "dS"):
        if getattr(section, key) is not None:
            raise ParameterError(f"Reaction '{name}': {key} beside a {what}; Eyring's law is for mass action. Write k and Ea.")
    if section.k is not None or section.A is not None:
        own["k"] = _main_constant(section, name)
    else:
        for key in ("Ea", "b", "at"):
            if getattr(section, key) is not None:
                raise ParameterError(f"Reaction '{name}': {key} beside a {what}. Give its constants under parameters = {{ ... }}.")
    # beside a formula without it, kd is of the catalyst's activity
    for key in ("kf", "kr", "K", *({"kd"} & set(used))):
        if getattr(section, key) is not None:
            own[key] = parse_constant(getattr(section, key), f"{name}.{key}", key)
    for key, value in section.parameters.items():
        if key in own:
            raise ParameterError(
                f"Parameter '{name}.{key}' is given twice: as {key} of {name} and as {key} under the parameters of {name}. Keep one."
            )
        own[key] = parse_constant(value, f"{name}.{key}", key)
    return own


def _function_law(
    reaction: Reaction,
    section: ReactionSection,
    function: FunctionLaw,
    network: Network,
    named: Mapping[str, TemperatureLaw],
    basis: Basis,
) -> tuple[Law, dict[str, Specification]]:
    name = reaction.name
    if section.law is not None or section.rate is not None:
        raise ParameterError(f"Reaction '{name}': both a function and a formula are given for its rate. Keep one.")
    own = _own_constants(section, name, "function", [key for key, _ in function.constants])
    law = function.of(name, network.species)
    function.check(name, basis.rate, basis.amount)
    shared = {key: Reference(key) for key, _ in function.constants if key in named and key not in own}
    return basis.amounts_of(law), {f"{name}.{key}": spec for key, spec in {**own, **shared}.items()}


def constants_of(rate: object) -> tuple[str, ...]:
    """The constants of a rate formula or function, by name; none of what is neither or cannot be read, which is told elsewhere."""
    if isinstance(rate, FunctionLaw):
        return tuple(name for name, _ in rate.constants)
    if not isinstance(rate, str):
        return ()
    try:
        return tuple(symbol.name for symbol in symbols(parse(rate)) if symbol.kind == "name" and symbol.name not in ("T", ON_STREAM))
    except ExpressionError:
        return ()


def _symbols(text: str, reaction: str) -> tuple[Symbol, ...]:
    try:
        return symbols(parse(text))
    except ExpressionError as error:
        raise ExpressionError(*(f"Rate of '{reaction}': {problem}" for problem in error.problems)) from None


def _unit(spec: Specification, named: Mapping[str, TemperatureLaw], where: str, expected: Dimension | None) -> Unit:
    if isinstance(spec, Reference):
        if spec.name not in named:
            raise ParameterError(
                f"Parameter '{where}' refers to '{spec.name}', which is not under [parameters].{nearest(spec.name, named)}"
            )
        return _unit(named[spec.name], named, spec.name, expected)
    unit = unit_of(spec.value) or (parse_unit(example_unit(expected)) if expected is not None else None)
    if unit is None:
        raise ParameterError(f'Parameter \'{where}\' has neither start nor unit. Write start = "...", or unit = "L/mol" alone.')
    return unit


def check_rate_dimension(text: str, dimensions: Mapping[str, Dimension], reaction: str, basis: Basis = VOLUME_BASIS) -> None:
    """That a rate formula is an amount per time and volume, or per time and what else the basis says.

    Raises:
        ExpressionError: with the dimension found.
    """

    def lookup(symbol: Symbol) -> Dimension:
        if symbol.kind == "concentration":
            return CONCENTRATION
        if symbol.kind == "pressure":
            return PRESSURE
        return dimensions.get(symbol.name, TEMPERATURE)

    try:
        found = dimension(parse(text), lookup)
    except ExpressionError as error:
        raise ExpressionError(*(f"Rate of '{reaction}': {problem}" for problem in error.problems)) from None
    if found != basis.rate:
        said = "" if basis == VOLUME_BASIS else f" (rates per {basis.per})"
        units = ", ".join(f"{name} ({found_dimension})" for name, found_dimension in dimensions.items())
        raise ExpressionError(
            f"Rate of '{reaction}': '{text}' has dimension {found}, but {basis.rate} is needed{said},"
            f" for example {example_unit(basis.rate)}. Check the units of its constants: {units}.{_other_basis(found)}"
        )


def _other_basis(found: Dimension) -> str:
    """The basis that a rate of this dimension has, as advice."""
    fitting = next((basis for basis in BASES.values() if basis.rate == found), None)
    return f' If rates are per {fitting.per}, write basis = "{fitting.name}" under [reactor].' if fitting is not None else ""
