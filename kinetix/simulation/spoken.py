"""Models as users name them: a reactor with its network and responses, or explicit formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kinetix.errors import ExpressionError, nearest
from kinetix.experiments import Campaign, Vocabulary
from kinetix.expression import Expression, Symbol, dimension, parse, symbols
from kinetix.network import Network
from kinetix.rates import ON_STREAM, VOLUME_BASIS, Basis, Law
from kinetix.reactors import EnergyBalance, Reactor
from kinetix.simulation.formulas import Place
from kinetix.units import CONCENTRATION, DIMENSIONLESS, PRESSURE, TEMPERATURE, TIME, Dimension


@dataclass(frozen=True)
class ReactorModel:
    """A reactor, the network in it, and responses written as formulas.

    Attributes:
        network: species and reactions.
        reactor: the book from the shelf.
        laws: rate law of each reaction.
        responses: formulas by name, for example `conversion = 1 - [A]/feed[A]`.
        basis: what the rates are per, and of which amounts.
        energy: the energy balance from which the temperature follows; None where the temperature is given.
    """

    network: Network
    reactor: Reactor
    laws: tuple[Law, ...]
    responses: Mapping[str, Expression] = field(default_factory=dict)
    basis: Basis = VOLUME_BASIS
    energy: EnergyBalance | None = None

    @property
    def conditions(self) -> dict[str, Dimension]:
        """Conditions that may be given, amounts apart, and their dimensions."""
        return self.reactor.conditions_on(self.basis, self.energy)

    def rate_responses(self) -> dict[str, Dimension]:
        """`rate[r1]` of every reaction and `rate[A]` of every species."""
        names = [r.name for r in self.network.reactions] + list(self.network.species)
        return {f"rate[{name}]": self.basis.rate for name in names}

    def plain_responses(self) -> dict[str, Dimension]:
        """Responses that need no formula, and their dimensions."""
        species = {} if self.reactor.measures_rates else dict.fromkeys(self.network.species, CONCENTRATION)
        return {**species, **self.answers, **self.rate_responses()}

    @property
    def answers(self) -> dict[str, Dimension]:
        """Temperatures and pressure, where they follow from balances, and their dimensions."""
        temperature = {} if self.energy is None else {"T": TEMPERATURE}
        jacket = {} if self.energy is None or not self.energy.jacket else {"T_jacket": TEMPERATURE}
        return {**temperature, **jacket, **({"P_total": PRESSURE} if self.reactor.ideal_gas_at == "volume" else {})}

    def temperature_of(self, stem: str) -> str:
        """The condition that says how warm the feed is, or what is there at the start (`stem`: feed or initial)."""
        return "T" if self.energy is None else f"T_{stem}"

    def vocabulary(self, constants: Mapping[str, Dimension]) -> Vocabulary:
        """What a data file for this model may hold.

        Args:
            constants: constants under `[parameters]` that response formulas may use.
        """
        responses: dict[str, Dimension | None] = dict(self.plain_responses())
        for name, formula in self.responses.items():
            responses[name] = self.response_dimension(name, formula, constants)
        conditions: dict[str, Dimension | None] = dict(self.conditions)
        for needed, stem in ((self.reactor.needs_feed, "feed"), (self.reactor.needs_initial, "initial")):
            if needed:
                for name in self.network.species:
                    conditions.update(amount_conditions(self.reactor, stem, name))
        if self.reactor.measures_rates:
            conditions.update(dict.fromkeys(self.network.species, CONCENTRATION))
            conditions.update({f"p[{name}]": PRESSURE for name in self.network.species})
        # amounts are concentrations or partial pressures; only of a gas that flows freely the pressure says something
        idle = () if "P" in self.network.species or self.reactor.ideal_gas_at else ("P",)
        return Vocabulary(self.network.species, responses, conditions, self.reactor.timed, idle=idle)

    def response_dimension(self, name: str, formula: Expression, constants: Mapping[str, Dimension]) -> Dimension:
        """Dimension of a response formula.

        Raises:
            ExpressionError: unknown symbols, or a formula that adds apples and pears.
        """

        def lookup(symbol: Symbol) -> Dimension:
            if symbol.kind == "name" and symbol.name in constants:
                return constants[symbol.name]
            return self.place(symbol, name, constants)[1]

        try:
            return dimension(formula, lookup)
        except ExpressionError as error:
            raise ExpressionError(*(f"Response '{name}': {problem}" for problem in error.problems)) from None

    def place(self, symbol: Symbol, response: str, constants: Mapping[str, Dimension]) -> tuple[Place, Dimension]:
        """Where a symbol of a response formula takes its value from, and its dimension. Rates count in the network's order."""
        species, reactions = self.network.species, tuple(r.name for r in self.network.reactions)
        if symbol.kind in ("concentration", "pressure", "feed", "initial"):
            if symbol.kind == "feed" and not self.reactor.needs_feed:
                raise ExpressionError(f"uses {symbol}, but a {self.reactor.name} has no feed. Write initial[{symbol.name}]?")
            if symbol.kind == "initial" and not self.reactor.needs_initial:
                raise ExpressionError(f"uses {symbol}, but a {self.reactor.name} has no initial state. Write feed[{symbol.name}]?")
            if symbol.name not in species:
                raise ExpressionError(
                    f"uses {symbol}, but '{symbol.name}' is no species (known: {', '.join(species)}).{nearest(symbol.name, species)}"
                )
            kind = PRESSURE if symbol.kind == "pressure" else CONCENTRATION
            return ({"concentration": "c"}.get(symbol.kind, symbol.kind), species.index(symbol.name)), kind
        if symbol.kind == "rate":
            if symbol.name in reactions:
                return ("rate", reactions.index(symbol.name)), self.basis.rate
            if symbol.name in species:
                return ("production", species.index(symbol.name)), self.basis.rate
            raise ExpressionError(
                f"uses {symbol}, but '{symbol.name}' is no reaction and no species.{nearest(symbol.name, (*reactions, *species))}"
            )
        for name, kind in (("T", TEMPERATURE), ("time", TIME), ("tau", TIME), (ON_STREAM, TIME)):
            if symbol.name == name and not (name in ("tau", ON_STREAM) and name not in self.conditions):
                return (name, 0), kind
        if symbol.name == "expansion" and self.reactor.expands:
            return ("expansion", 0), DIMENSIONLESS
        if symbol.name in self.answers:
            return (symbol.name, 0), self.answers[symbol.name]
        known = ("T", *self.answers, "time", "tau", ON_STREAM, *(("expansion",) if self.reactor.expands else ()), *constants)
        raise ExpressionError(
            f"uses '{symbol.name}', which is neither a condition nor a parameter. Write [{symbol.name}] for a concentration, or add it"
            f" under [parameters].{nearest(symbol.name, known)}"
        )


def amount_conditions(reactor: Reactor, stem: str, species: str) -> dict[str, Dimension]:
    """Conditions by which the amount of a species in the feed or at the start can be said, and their dimensions.

    >>> from kinetix.reactors import CSTR
    >>> list(amount_conditions(CSTR, "feed", "A"))
    ['feed.A', 'feed.p[A]']
    """
    plain = {f"{stem}.{species}": CONCENTRATION}
    pressure = {f"{stem}.p[{species}]": PRESSURE} if reactor.densities else {}  # of these some or all are gases
    fraction = {f"{stem}.y[{species}]": DIMENSIONLESS} if reactor.ideal_gas_at == "pressure" else {}
    return {**plain, **pressure, **fraction}


@dataclass(frozen=True)
class Output:
    """One line of an explicit model: `y = ...` or `log(y) = ...`.

    Attributes:
        name: as written on the left: `y`, `log(y)`.
        column: the measured quantity, `y`.
        log: whether logarithms are compared.
        formula: the right-hand side.
    """

    name: str
    column: str
    log: bool
    formula: Expression


@dataclass(frozen=True)
class ExplicitModel:
    """Explicit formulas: rate equations, regression sets.

    Attributes:
        outputs: one per line.
        constants: names on the right that are parameters; all others are columns of the data.
        dimensionless: whether columns without a unit are pure numbers.
    """

    outputs: tuple[Output, ...]
    constants: tuple[str, ...]
    dimensionless: bool = False

    @property
    def predictors(self) -> tuple[str, ...]:
        """Names on the right-hand sides that the data must hold, in order of first use, T apart."""
        found: dict[str, None] = {}
        for output in self.outputs:
            for symbol in symbols(output.formula):
                if symbol.kind != "name":
                    raise ExpressionError(
                        f"Model '{output.name}' uses {symbol}; an explicit model uses columns and parameters by plain names."
                    )
                if symbol.name not in self.constants and symbol.name != "T":
                    found[symbol.name] = None
        return tuple(found)

    def vocabulary(self) -> Vocabulary:
        """What a data file for this model may hold: any unit, which the formulas then check."""
        conditions: dict[str, Dimension | None] = dict.fromkeys(self.predictors)
        conditions["T"] = TEMPERATURE
        responses: dict[str, Dimension | None] = {output.column: None for output in self.outputs}
        return Vocabulary((), responses, conditions, False, not self.dimensionless)


def explicit_model(lines: Mapping[str, str], constants: tuple[str, ...], dimensionless: bool = False) -> ExplicitModel:
    """An explicit model from its lines.

    Args:
        lines: left-hand side -> right-hand side.
        constants: names under `[parameters]`.
        dimensionless: columns without a unit are pure numbers.

    Raises:
        ExpressionError: an unreadable formula, a left-hand side that is neither a name nor log(name).

    >>> explicit_model({"log(y)": "b1 - b2*x"}, ("b1", "b2")).predictors
    ('x',)
    """
    outputs = []
    for left, right in lines.items():
        stripped = left.strip()
        log = stripped.startswith(("log(", "ln(")) and stripped.endswith(")")
        column = stripped[stripped.index("(") + 1 : -1].strip() if log else stripped
        if not column.isidentifier():
            raise ExpressionError(f"Model '{left}': the left-hand side is a column name or log(name), for example y or log(y).")
        try:
            formula = parse(right)
        except ExpressionError as error:
            raise ExpressionError(*(f"Model '{left}': {problem}" for problem in error.problems)) from None
        outputs.append(Output(stripped, column, log, formula))
    return ExplicitModel(tuple(outputs), constants, dimensionless)


Spoken = ReactorModel | ExplicitModel

Choice = Callable[[Spoken, Campaign], tuple[str, ...]]
"""Chooses the responses to predict."""


def measured_responses(spoken: Spoken, campaign: Campaign) -> tuple[str, ...]:
    """The responses that the data hold, in the order of the data."""
    del spoken
    return tuple(response.name for response in campaign.responses)


def all_responses(spoken: Spoken, campaign: Campaign) -> tuple[str, ...]:
    """All concentrations (or all rates, where rates are measured), what else follows from balances, and all formulas."""
    del campaign
    if isinstance(spoken, ExplicitModel):
        return tuple(output.column for output in spoken.outputs)
    if spoken.reactor.measures_rates:
        return (*(f"rate[{reaction.name}]" for reaction in spoken.network.reactions), *spoken.responses)
    return (*spoken.network.species, *spoken.answers, *spoken.responses)
