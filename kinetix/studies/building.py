"""From a validated study and its tables to a problem."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinetix.errors import ConditionError, ExpressionError, InputError, ParameterError, Problems, StudyError, nearest
from kinetix.experiments import LONGEST, Campaign, Noise, Table, build_campaign, odd_constants, require_possible, suspected, without_effect
from kinetix.expression import Expression, parse
from kinetix.parameters import TemperatureLaw, unit_of
from kinetix.rates import AMOUNTS, BASES, VOLUME_BASIS, Basis
from kinetix.reactors import REACTORS, Reactor
from kinetix.simulation import Choice, ExplicitModel, ReactorModel, Spoken, explicit_model, measured_responses
from kinetix.solvers import Options
from kinetix.studies.chemistry import Specification, chemistry, named_constants, network_of
from kinetix.studies.energy import heat_of
from kinetix.studies.given import Amounts, Given
from kinetix.studies.losses import parse_loss
from kinetix.studies.numbers import Reference, parse_known, parse_noise, parse_number
from kinetix.studies.problem import Problem, assemble
from kinetix.studies.responses import check_explicit, check_response_names, check_time_on_stream
from kinetix.studies.schema import Study
from kinetix.units import CONCENTRATION, RATE, TIME, Dimension, Quantity, Unit, example_unit, parse_quantity, parse_unit

_NOT_CONDITIONS = ("feed", "allow_temperature")


def build_problem(study: Study, tables: Sequence[Table], responses: Choice = measured_responses) -> Problem:
    """Everything a fit or a simulation needs, checked.

    Args:
        study: validated structure.
        tables: its data files as read; empty for a simulation at given conditions.
        responses: chooses what to predict.

    Raises:
        InputError: all problems of the study at once; of the data, where the study has none; of the two together, where neither has.
    """
    if study.model:
        return _explicit_problem(study, tables, responses)
    spoken, given, conditions = _understood(study)
    campaign = _campaign(study, spoken, tables, conditions, _dimensions(given.named))
    return assemble(
        spoken,
        campaign,
        given,
        title=study.title,
        sigma=study.fit.sigma,
        **solver_settings(study),
        **fit_settings(study),
        responses=responses,
    )


def check_study(study: Study) -> None:
    """That a study means something, as far as it can be told without its data.

    Raises:
        InputError: all problems at once.
    """
    if study.model:
        _explicit(study)
    else:
        _understood(study)


class _Understood(NamedTuple):
    """What a study says: model, constants and amounts, conditions."""

    spoken: ReactorModel
    given: Given
    conditions: dict[str, Quantity]


def _understood(study: Study) -> _Understood:
    if not study.reactions:
        raise StudyError("The study has neither [reactions] nor [model]. Write one of them.")
    if study.reactor is None:
        raise StudyError(f'The study has no reactor. Write type = "..." under [reactor], one of {", ".join(REACTORS)}.')
    problems = Problems()
    reactor = None
    basis = VOLUME_BASIS
    with problems.collecting():
        basis = basis_of(study.reactor.basis, study.reactor.amounts)
    with problems.collecting():
        reactor = reactor_of(study.reactor.type, basis, study.reactor.density, study.reactor.tanks)
        if not reactor.timed and study.simulate.times is not None:
            raise StudyError(f"[simulate] times: nothing in a {reactor.name} reactor depends on time. Remove them.")
    with problems.collecting("[simulate] "):
        simulated_times(study)  # also beside [data], which a fit reads instead: a mistake is told now
    heat = None
    if reactor is not None:
        with problems.collecting():
            heat = heat_of(study.energy, study.reactions, network_of(study.reactions).species, reactor, basis)
    what = None
    with problems.collecting():
        what = chemistry(study.reactions, study.parameters, study.formulas, basis)
    formulas = {}
    with problems.collecting():
        formulas = response_formulas(study.responses)
    feed = initial = Amounts({})
    with problems.collecting():
        feed = amounts(study.conditions.get("feed", {}), "feed")
    with problems.collecting():
        initial = amounts(study.initial, "initial")
    with problems.collecting():
        fit_settings(study)
    with problems.collecting():
        solver_settings(study)
        if reactor is not None:
            check_solver(reactor, sorted(study.solver.model_fields_set))
    conditions: dict[str, Quantity] = {}
    if reactor is not None:
        with problems.collecting():
            known = ReactorModel(network_of(study.reactions), reactor, (), {}, basis, heat and heat.balance).vocabulary({}).conditions
            written = study.conditions
            if "P" in written and reactor.ideal_gas_at == "volume":
                problems.add("[conditions] P: of a gas at constant volume the pressure is an answer, P_total; it starts with the amounts.")
                written = {name: value for name, value in written.items() if name != "P"}
            if heat is not None and "T" in written:
                fed = "".join(f" and {name}," for name in reactor.start_temperatures[1:])
                problems.add(
                    f"[conditions] T: with [energy] the temperature is an answer. Write {reactor.heated_from}, at which it starts,{fed}"
                    " or remove [energy]."
                )
                written = {name: value for name, value in written.items() if name != "T"}
            # a broken [energy] has said so; which conditions it brings is then not known
            conditions = known_conditions(written, known, f"a {reactor.name} reactor") if heat or study.energy is None else {}
    if reactor is not None and what is not None:
        model = ReactorModel(what.network, reactor, what.laws, formulas, basis, heat and heat.balance)
        with problems.collecting():
            check_response_names(model, _dimensions(what.named))
        with problems.collecting():
            check_time_on_stream(model)
    problems.raise_if_any(InputError)
    assert reactor is not None and what is not None
    spoken = ReactorModel(what.network, reactor, what.laws, formulas, basis, heat and heat.balance)
    return _Understood(spoken, Given(what.constants, what.named, feed, initial, heat), conditions)


def response_formulas(written: Mapping[str, str]) -> dict[str, Expression]:
    """Responses by name, read.

    Raises:
        ExpressionError: those that cannot be read, all at once.
    """
    problems = Problems()
    formulas = {}
    for name, text in written.items():
        with problems.collecting(f"Response '{name}': "):
            formulas[name] = parse(text)
    problems.raise_if_any(ExpressionError)
    return formulas


def basis_of(name: str, amounts: str = "concentration") -> Basis:
    """The basis of rates of this name, with laws of these amounts.

    Raises:
        StudyError: unknown.
    """
    if name not in BASES:
        raise StudyError(f'[reactor] basis = "{name}" is unknown. Known: {", ".join(BASES)}.{nearest(name, BASES)}')
    if amounts not in AMOUNTS:
        raise StudyError(f'[reactor] amounts = "{amounts}" is unknown. Known: {", ".join(AMOUNTS)}.{nearest(amounts, AMOUNTS)}')
    return replace(BASES[name], amounts=amounts)


def reactor_of(name: str, basis: Basis = VOLUME_BASIS, density: str | None = None, tanks: int | None = None) -> Reactor:
    """The reactor of this name from the shelf.

    Raises:
        StudyError: unknown, not with rates on this basis, not of this density, or not in series.
    """
    if name not in REACTORS:
        raise StudyError(f'[reactor] type = "{name}" is unknown. Known: {", ".join(REACTORS)}.{nearest(name, REACTORS)}')
    reactor = REACTORS[name]
    if basis.name not in reactor.loadings:
        raise StudyError(
            f'[reactor] basis = "{basis.name}": a {name} reactor is integrated, which needs rates in {example_unit(RATE)}'
            f"{' or per catalyst' if len(reactor.loadings) > 1 else ''}."
            f" Write one of {', '.join(reactor.loadings)}, with constants in its units."
        )
    return _in_series(_of_density(reactor, density), tanks)


def _in_series(reactor: Reactor, tanks: int | None) -> Reactor:
    """The reactor as so many equal ones in series."""
    if tanks is None:
        return reactor
    if reactor.series is None:
        known = " or ".join(f'"{name}"' for name, other in REACTORS.items() if other.series is not None)
        raise StudyError(f"[reactor] tanks: a {reactor.name} reactor is one vessel. Remove it, or write type = {known}.")
    if not (isinstance(tanks, int) and tanks >= 1):
        raise StudyError(f"[reactor] tanks = {tanks!r}: expected a whole number of at least 1.")
    return replace(reactor, solve=reactor.series(reactor.solve, tanks), tanks=tanks, at_rest=None) if tanks > 1 else reactor


def _of_density(reactor: Reactor, density: str | None) -> Reactor:
    """The reactor with the density that the user says, where there is a choice."""
    choices = reactor.densities
    ways = " or ".join(f'density = "{word}" ({fluid.advice})' for word, fluid in choices.items())
    if density is None and choices and not reactor.density:
        raise StudyError(
            f"[reactor] density: a {reactor.name} reactor needs to know how the density goes. Write {ways}; on the command line --density."
        )
    if density is not None and density not in (choices or {"constant": None}):
        written = ways or 'density = "constant"'
        raise StudyError(f'[reactor] density = "{density}": not of a {reactor.name} reactor. Write {written}.{nearest(density, choices)}')
    if not choices:
        return reactor
    fluid = choices[density or reactor.density]
    at_rest = None if fluid.ideal_gas_at else reactor.at_rest
    expands = fluid.ideal_gas_at == "pressure"
    return replace(reactor, solve=fluid.solve, fluid=fluid, density=density or reactor.density, expands=expands, at_rest=at_rest)


def amounts(section: object, stem: str) -> Amounts:
    """Feed or initial amounts by species, from a study's table."""
    where = "[conditions] feed" if stem == "feed" else "[initial]"
    if not isinstance(section, Mapping):
        raise ConditionError(f'{where}: expected a table of species, for example {{ A = "1 mol/L" }}; found {section!r}.')
    problems = Problems()
    given: dict[str, Any] = {}
    default = None
    for name, value in section.items():
        with problems.collecting():
            number = parse_number(value, f"{stem}.{name}")
            if isinstance(number, Reference):
                raise ParameterError(f"{stem}.{name}: expected a concentration, found the name '{number.name}'.")
            if name == "default":
                if not isinstance(number.number, Quantity):
                    raise ParameterError(f'{stem}.default: expected a known concentration such as "0 mol/L".')
                default = number.number
            else:
                given[name] = number.number
    problems.raise_if_any(InputError)
    return Amounts(given, default)


def check_solver(reactor: Reactor, given: Collection[str], section: str = "[solver] ") -> None:
    """That settings of the integration are given only where something is integrated.

    Raises:
        StudyError: they would have no effect.
    """
    idle = [name for name in given if not reactor.integrated and name in ("rtol", "max_steps", "method")]
    if idle:
        raise StudyError(
            f"{section}{' and '.join(idle)}: for reactors that are integrated; a {reactor.name} reactor is not"
            f"{'' if reactor.measures_rates else ' (a steady state is found to 1e-10)'}. Remove {'it' if len(idle) == 1 else 'them'}."
        )


def solver_settings(study: Study) -> dict[str, Any]:
    """Keyword arguments of `assemble` from `[solver]`."""
    atol = absolute_of(study.solver.atol, "[solver] atol")
    options = Options(rtol=study.solver.rtol, max_steps=study.solver.max_steps)
    return {"options": options, "rtol": study.solver.rtol, "atol": atol, "method": study.solver.method}


def fit_settings(study: Study) -> dict[str, Any]:
    """Keyword arguments of `assemble` from `[fit]`: what is minimised."""
    return {"loss": parse_loss(study.fit.loss)}


def absolute_of(written: str | Mapping[str, str] | None, what: str) -> float | dict[str, float] | None:
    """An absolute tolerance, mol/m^3, of all species or of some by name."""
    if isinstance(written, Mapping):
        return {name: parse_quantity(text, CONCENTRATION, f"{what}.{name}").si for name, text in written.items()}
    return None if written is None else parse_quantity(written, CONCENTRATION, what).si


def _dimensions(named: Mapping[str, Specification]) -> dict[str, Dimension]:
    out = {}
    for name, spec in named.items():
        if isinstance(spec, TemperatureLaw):
            unit = unit_of(spec.value)
            if unit is not None:
                out[name] = unit.dimension
    return out


def known_conditions(section: Mapping[str, Any], known: Mapping[str, Dimension | None], model: str) -> dict[str, Quantity]:
    """What is constant over all experiments.

    Args:
        section: `[conditions]` as written.
        known: conditions of the model and their dimensions.
        model: what it is, for messages: "a batch reactor".

    Raises:
        ConditionError: unknown names, unreadable quantities, wrong units, impossible values.
    """
    problems = Problems()
    out: dict[str, Quantity] = {}
    allowed = section.get("allow_temperature", False)
    if not isinstance(allowed, bool):
        problems.add(f"[conditions] allow_temperature: expected true or false, found {allowed!r}.")
    for name, value in section.items():
        if name in _NOT_CONDITIONS:
            continue
        if name not in known:
            names = list(dict.fromkeys("feed" if n.startswith("feed.") else n for n in known if not n.startswith("initial.")))
            problems.add(f"[conditions] {name}: {model} has no such condition (known: {', '.join(names)}).{nearest(name, names)}")
            continue
        with problems.collecting():
            where = f"[conditions] {name}"
            out[name] = require_possible(parse_known(value, where, known[name]), name, known[name], where)
    problems.raise_if_any(ConditionError)
    return out


def _campaign(
    study: Study, spoken: Spoken, tables: Sequence[Table], conditions: Mapping[str, Quantity], constants: Mapping[str, Dimension]
) -> Campaign:
    vocabulary = spoken.vocabulary(constants) if isinstance(spoken, ReactorModel) else spoken.vocabulary()
    noise = _noise(study, vocabulary.responses)
    temperatures = not study.conditions.get("allow_temperature", False)
    if study.data is None:
        given = given_conditions(conditions, *simulated_times(study))
        return suspected(given, [*(odd_constants(conditions) if temperatures else ()), *without_effect(conditions, vocabulary)])
    return build_campaign(
        tables,
        vocabulary,
        columns=study.data.columns,
        ignore=study.data.ignore,
        conditions=conditions,
        noise=noise,
        temperatures=temperatures,
        progress=study.data.progress,
        only=study.data.only,
        time_zero=study.data.time_zero,
        allow_negative=study.data.allow_negative,
        held=study.data.held,
    )


def _noise(study: Study, responses: Mapping[str, Dimension | None]) -> dict[str, Quantity | Noise]:
    problems = Problems()
    out = {}
    for name, value in study.noise.items():
        where = f"[noise] {name}"
        if name not in responses:
            problems.add(f"{where}: no such response (known: {', '.join(responses)}).{nearest(name, responses)}")
        else:
            with problems.collecting():
                out[name] = parse_noise(value, where, responses[name])
    problems.raise_if_any(InputError)
    return out


def to_be_fitted(study: Study, problem: Problem) -> Problem:
    """The problem of a study for a fit.

    Warns:
        KinetixWarning: the study has times of a simulation, which the fit of its data does not look at.
    """
    idle = study.data is not None and study.simulate.times is not None
    told = ["[simulate] times: for kinetix simulate only; a fit takes the times of its data."] if idle else []
    return replace(problem, campaign=suspected(problem.campaign, told))


def simulated_times(study: Study) -> tuple[np.ndarray, Unit]:
    """Times of `[simulate]`, s, and the unit they are written in; one zero where none are written."""
    written = study.simulate.times
    return (np.zeros(1), parse_unit("s")) if written is None else (parse_times(written), unit_of_times(written))


def parse_times(written: str | Sequence[str | float] | np.ndarray) -> np.ndarray:
    """Times in s from `"start:stop:points unit"`, one quantity, or several; numbers are s.

    Raises:
        StudyError, UnitError: unreadable, not increasing, or negative.

    >>> parse_times("0:1:3 min").tolist()
    [0.0, 30.0, 60.0]
    """
    if isinstance(written, str) and ":" in written:
        parts = written.split(":")
        number, _, unit = parts[-1].strip().partition(" ")
        if len(parts) != 3 or not number.isdigit() or not unit:
            raise StudyError(f'Times "{written}": expected "start:stop:points unit", for example "0:3600:61 s".')
        start, stop = (parse_quantity(f"{part.strip()} {unit}", TIME, "times").si for part in parts[:2])
        if int(number) < 2 or not 0 <= start < stop:
            raise StudyError(f'Times "{written}": expected 0 <= start < stop and at least 2 points.')
        return _measurable(np.linspace(start, stop, int(number)))
    if np.ndim(written) > 1:
        raise StudyError(f"Times: expected one row of times, found an array of shape {np.shape(written)}.")
    several = [written] if isinstance(written, str) else list(written)
    times = np.array([parse_quantity(time, TIME, "times").si if isinstance(time, str) else float(time) for time in several])
    if not times.size or not (np.diff(times) >= 0).all() or not (times >= 0).all():
        found = ", ".join(str(time) for time in several)
        raise StudyError(f'Times [{found}]: expected increasing times, none below 0, for example ["0 s", "60 s", "300 s"].')
    return _measurable(times)


def _measurable(times: np.ndarray) -> np.ndarray:
    if not times[-1] <= LONGEST:
        raise StudyError(f"Times: {times[-1]:g} s is longer than the universe is old. Look at the number and its unit.")
    return times


def unit_of_times(written: str | Sequence[str | float] | np.ndarray) -> Unit:
    """The unit that times are written in; s for numbers.

    >>> unit_of_times("0:1:3 min").text, unit_of_times(["1 h", "120 min"]).text, unit_of_times([0.0, 1.0]).text
    ('min', 'h', 's')
    """
    first = written if isinstance(written, str) else next(iter(written))
    if not isinstance(first, str):
        return parse_unit("s")
    return parse_quantity(first.rpartition(":")[2], TIME, "times").unit  # of "0:1:3 min" what follows the last colon


def given_conditions(conditions: Mapping[str, Quantity], times: np.ndarray, time_unit: Unit) -> Campaign:
    """A campaign of one experiment at given conditions, with nothing measured; its times, s, are reported in `time_unit`."""
    nothing = np.zeros((1, len(times), 0))
    return Campaign(
        experiments=("1",),
        responses=(),
        times=times[None],
        values=nothing,
        mask=nothing.astype(bool),
        sigma=nothing,
        conditions={name: np.array([quantity.si]) for name, quantity in conditions.items()},
        programs={},
        condition_units={name: quantity.unit for name, quantity in conditions.items()},
        time_unit=time_unit,
        sources=("conditions",),
        lines=np.zeros((1, len(times)), dtype=int),
        remarks=(),
        notes=(),
        rows_read=0,
        values_used=0,
        data_hash="",
    )


def _explicit(study: Study) -> tuple[ExplicitModel, dict[str, TemperatureLaw], dict[str, Quantity]]:
    """Model, constants and conditions of a study with explicit formulas."""
    beside = [f"[{name}]" for name in ("reactions", "reactor", "energy", "initial", "responses") if getattr(study, name)]
    if study.conditions.get("feed"):
        beside.append("[conditions] feed")
    if beside:
        raise StudyError(f"[model] replaces reactions and reactor, so {', '.join(beside)} cannot stand beside it. Remove one or the other.")
    dimensionless = study.data is not None and study.data.dimensionless
    problems = Problems()
    named = named_constants(study.parameters, problems)
    spoken = None
    with problems.collecting():
        spoken = explicit_model(study.model, tuple(study.parameters), dimensionless)
        conditions = known_conditions(study.conditions, spoken.vocabulary().conditions, "an explicit model")
    with problems.collecting():
        solver_settings(study)
    with problems.collecting():
        fit_settings(study)
    problems.raise_if_any(InputError)
    assert spoken is not None
    return spoken, named, conditions


def _explicit_problem(study: Study, tables: Sequence[Table], responses: Choice) -> Problem:
    spoken, named, conditions = _explicit(study)
    campaign = _campaign(study, spoken, tables, conditions, {})
    check_explicit(spoken, campaign, _dimensions(named), campaign.condition_units)
    return assemble(
        spoken,
        campaign,
        Given({}, named, Amounts({}), Amounts({})),
        title=study.title,
        sigma=study.fit.sigma,
        **solver_settings(study),
        **fit_settings(study),
        responses=responses,
    )
