"""The study file, version 1: its sections, keys and what they mean. Validation of structure; numbers are read in `numbers`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kinetix.errors import ParameterError, Problems, StudyError, nearest
from kinetix.estimation import DEFAULT, ESTIMATORS, estimator
from kinetix.experiments import Layout

SCHEMA_VERSION = 1


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True, protected_namespaces=())


class ReactionSection(_Section):
    """One reaction: its text and its rate law (mass action unless `rate` or `orders` says otherwise)."""

    equation: str = Field(description='reaction text, for example "A + B -> C"')
    k: Any = Field(default=None, description="rate constant: a quantity is known, a table { start, bounds, scale, fixed, at } is estimated")
    A: Any = Field(default=None, description="pre-exponential factor, with Ea")
    Ea: Any = Field(default=None, description="activation energy")
    dH: Any = Field(default=None, description="enthalpy of activation, of Eyring's law k = (kB T/h) exp(dS/R) exp(-dH/(R T)), with dS or k")
    dS: Any = Field(default=None, description="entropy of activation, of a standard state of 1 mol/L")
    b: Any = Field(default=None, description="exponent of the three-parameter law k = A (T/1 K)^b exp(-Ea/(R T))")
    at: Any = Field(default=None, description="temperature at which k holds")
    kf: Any = Field(default=None, description="forward constant of a reversible reaction, with its own A or k, Ea, at")
    kr: Any = Field(default=None, description="reverse constant of a reversible reaction")
    K: Any = Field(default=None, description="equilibrium constant in concentrations, { K, at, dH } by van 't Hoff, in place of kr")
    kd: Any = Field(
        default=None,
        description="constant of deactivation: the rate falls with the time on stream as exp(-kd t_on_stream); with its own A or k, Ea, at",
    )
    dHr: Any = Field(
        default=None, description="enthalpy of reaction of the equation as written, for [energy]; below zero where heat is released"
    )
    law: str | dict[str, Any] | None = Field(
        default=None,
        description='a named rate law, for example "michaelis_menten" or { type = "langmuir_hinshelwood", adsorbed = ["A"], sites = 2 }',
    )
    rate: str | None = Field(default=None, description='rate as a formula, for example "kf*[A]*[B]/(1 + K*[A])^2"')
    parameters: dict[str, Any] = Field(default_factory=dict, description="constants of the formula in `rate`, or of the named `law`")
    orders: dict[str, Any] = Field(default_factory=dict, description="orders by species, known or estimated; r = k prod ([i]/c_ref)^n_i")
    balance: Literal["on", "off"] = Field(default="on", description='"off" exempts this reaction from the element balance')


class ReactorSection(_Section):
    """The reactor."""

    type: str = Field(description="batch, cstr, transient_cstr, plug_flow, semibatch or differential")
    basis: str = Field(default="volume", description="what a rate is per: volume, catalyst_mass, catalyst_area or turnover")
    density: str | None = Field(
        default=None,
        description="cstr: constant (default) or ideal_gas (at constant P); plug_flow: one of these, which must be said; batch: constant"
        " (default), gas_at_constant_volume or gas_at_constant_pressure",
    )
    tanks: int | None = Field(default=None, gt=0, description="cstr: how many equal tanks in series share the residence time; default: 1")
    amounts: str = Field(
        default="concentration", description="what mass action, orders and named laws are functions of: concentration or partial_pressure"
    )


class EnergySection(_Section):
    """The energy balance from which the temperature follows; without it the temperature is given."""

    type: str = Field(description="adiabatic or jacket")
    heat_capacity: Any = Field(
        default=None,
        description="of the fluid per volume, rho cp; or a table of molar ones by species, with `solvent` per volume for the rest",
    )
    at: Any = Field(default=None, description="temperature at which the enthalpies of reaction hold, beside heat capacities by species")
    UA: Any = Field(default=None, description="heat transfer coefficient times area of a jacket, beside the volume V")
    UA_per_volume: Any = Field(default=None, alias="UA/V", description="the same per volume of the fluid")
    coolant_flow: Any = Field(
        default=None,
        description="heat capacity flow m cp of the coolant, which enters at T_coolant a well-mixed jacket, or flows along a tube; default:"
        " the jacket has T_coolant",
    )
    coolant_holdup: Any = Field(
        default=None,
        description="heat capacity of the coolant in the jacket, beside coolant_flow: its temperature T_jacket is then an answer that"
        " starts at T_jacket_initial",
    )


class DataSection(_Section):
    """The measurements."""

    files: list[str] = Field(description="CSV or other text tables, or .xlsx workbooks, relative to the study file")
    columns: dict[str, str] = Field(default_factory=dict, description='what a column is: "feed.A" = "caf [mol/m^3]"')
    ignore: list[str] = Field(default_factory=list, description="columns that are not used")
    dimensionless: bool = Field(default=False, description="explicit models: columns without a unit are pure numbers")
    sheet: str | list[str] | None = Field(
        default=None, description='sheet of the workbooks, or several, or "*" for all; default: the one that holds anything'
    )
    header: Any = Field(
        default=None,
        description="line of the header, a list of lines where it has several, or a list of headers where the files have none; "
        "default: found",
    )
    decimal: Literal[".", ","] | None = Field(
        default=None, description="decimal mark; the other mark then separates thousands; default: found, an error where it can be either"
    )
    missing: list[str] = Field(default_factory=list, description='what else means "not measured", besides n.d., --- and the like')
    only: dict[str, Any] = Field(default_factory=dict, description="rows to use, by the value or values of a column: Segment = 1")
    time_zero: str | None = Field(
        default=None,
        description='"first" row of each experiment, "as written", or a time; default: numbers as written, clock times and dates "first"',
    )
    progress: dict[str, str] = Field(
        default_factory=dict,
        description='responses that are (first - x)/(first - last) of a column in each experiment: alpha = "mass"',
    )
    encoding: str | None = Field(default=None, description="of the files, when it is not UTF-8")
    allow_negative: bool = Field(default=False, description="accept concentrations that are negative beyond 3 sigma")
    held: list[str] = Field(
        default_factory=list,
        description='["T"]: T changes in steps, each value holding until the next row that states one; default: linear',
    )

    @property
    def sheets(self) -> tuple[str, ...]:
        """The sheets of the workbooks; empty where they need no choice."""
        return (self.sheet,) if isinstance(self.sheet, str) else tuple(self.sheet or ())

    @property
    def layout(self) -> Layout:
        """How the files are written, where it does not show.

        Raises:
            StudyError: `header` is neither lines nor headers.
        """
        written = self.header if isinstance(self.header, list) else [] if self.header is None else [self.header]
        lines = [line for line in written if isinstance(line, int) and not isinstance(line, bool)]
        texts = [text for text in written if isinstance(text, str)]
        if (texts and not isinstance(self.header, list)) or len(written) not in (len(lines), len(texts)):
            raise StudyError(
                "[data] header: expected the line of the header, header = 3, its lines, header = [3, 4], or the headers of files that have "
                f'none, header = ["time [s]", "A [mol/L]"]; found {self.header!r}.'
            )
        return Layout(tuple(lines) or tuple(texts), self.decimal, tuple(self.missing))


class FitSection(_Section):
    """How to fit."""

    sigma: Literal["trusted", "scaled"] | None = Field(
        default=None, description="how given sigmas are meant: trusted as they are, or right up to a common factor that is estimated"
    )
    method: str = Field(
        default=DEFAULT,
        description="the estimator: " + ", ".join(f'"{name}"' for name in ESTIMATORS),
    )
    max_iterations: int | None = Field(default=None, gt=0, description="iteration limit of each start")
    max_seconds: float | None = Field(default=None, gt=0, description="time limit of all starts together, s; the best point so far is kept")
    loss: Any = Field(
        default=None,
        description='robust loss in place of squares, so that a gross error counts for little: "huber", "soft_l1", "cauchy" or'
        ' "student_t", or { type = "huber", scale = 1.345 } in standard deviations; default: least squares',
    )
    starts: int | None = Field(
        default=None, gt=0, description="from how many starts an optimum is looked for; the given start is the first"
    )
    seed: int | None = Field(
        default=None, ge=0, description="of starts that are spread or found in the data, and of a bootstrap; default 2026"
    )
    profile: bool = Field(default=False, description="profile likelihood of each estimated parameter")
    bootstrap: int | bool | dict[str, Any] | None = Field(
        default=None,
        description='number of refits to drawn data, true for 1000, or { number = 1000, kind = "residual" }: residual, parametric or case',
    )
    influence: bool = Field(default=False, description="refits without each experiment")


class SimulateSection(_Section):
    """Where to simulate."""

    times: list[str] | str | None = Field(default=None, description='times of a profile: "0:3600:61 s" or a list of quantities')


class SolverSection(_Section):
    """Limits and tolerances of the solvers."""

    rtol: float = Field(default=1e-8, gt=0, lt=1, description="relative tolerance")
    atol: str | dict[str, str] | None = Field(
        default=None,
        description='absolute tolerance, a concentration, of all species or of some: { B = "1e-15 mol/L" }; default: by species',
    )
    max_steps: int = Field(default=10_000, gt=0, description="step limit of one solve")
    method: str | None = Field(
        default=None,
        description='another integrator, to simulate with: "scipy-LSODA", "scipy-Radau", "scipy-BDF", "diffrax-Kvaerno5"; default: Rodas5P',
    )


class Study(_Section):
    """A study file."""

    schema_version: Literal[1] = Field(alias="schema", description="version of the grammar: 1")
    title: str = Field(default="", description="shown in reports")
    formulas: bool | None = Field(
        default=None, description="whether names are chemical formulas to be balanced; default: where all names parse as formulas"
    )
    reactions: dict[str, ReactionSection] = Field(default_factory=dict)
    reactor: ReactorSection | None = None
    energy: EnergySection | None = None
    conditions: dict[str, Any] = Field(default_factory=dict, description="what is constant over the data: T, tau, P, feed, ...")
    initial: dict[str, Any] = Field(default_factory=dict, description="initial concentrations; `default` for the species not named")
    responses: dict[str, str] = Field(default_factory=dict, description='measured quantities as formulas: conversion = "1 - [A]/feed[A]"')
    noise: dict[str, Any] = Field(
        default_factory=dict,
        description='standard deviation of each response: "0.01 mol/L", or { relative = "5 %" } of the value, or both (squares added): '
        '{ relative = "5 %", constant = "0.001 mol/L" }; {} in the place of the whole or of a part is estimated with the parameters',
    )
    data: DataSection | None = None
    model: dict[str, str] = Field(default_factory=dict, description="explicit model in place of reactions and reactor")
    parameters: dict[str, Any] = Field(default_factory=dict, description="constants with names of their own")
    fit: FitSection = Field(default_factory=FitSection)
    simulate: SimulateSection = Field(default_factory=SimulateSection)
    solver: SolverSection = Field(default_factory=SolverSection)


def parse_study(data: Mapping[str, Any], source: str) -> Study:
    """A study from the nested mapping that a TOML file holds.

    Raises:
        StudyError: unknown or missing keys and wrong types, all at once; an estimator that is not there.
    """
    if "schema" not in data:
        raise StudyError(f"{source}: no schema version. Write schema = {SCHEMA_VERSION} on the first line.")
    try:
        study = Study.model_validate(dict(data))
    except ValidationError as error:
        raise StudyError(*(_sentence(source, path, problem) for path, problem in _first_by_path(error))) from None
    try:
        estimator(study.fit.method)
    except ParameterError as error:
        raise StudyError(*(f"{source}, [fit] {problem}" for problem in error.problems)) from None
    return study


def reaction_sections(sections: Mapping[str, Mapping[str, Any]]) -> dict[str, ReactionSection]:
    """`[reactions]` that come from no file.

    Raises:
        StudyError: unknown or missing keys and wrong types, all at once.

    >>> reaction_sections({"r1": {"equation": "A -> B", "k": "0.1 1/s"}})["r1"].equation
    'A -> B'
    """
    problems = Problems()
    out = {}
    for name, section in sections.items():
        try:
            out[name] = ReactionSection.model_validate(dict(section))
        except ValidationError as error:
            for path, problem in _first_by_path(error):
                problems.add(_sentence("", ("reactions", name, *path), problem))
    problems.raise_if_any(StudyError)
    return out


def energy_section(section: Mapping[str, Any]) -> EnergySection:
    """An `[energy]` that comes from no file.

    Raises:
        StudyError: unknown or missing keys and wrong types, all at once.

    >>> energy_section({"type": "adiabatic", "heat_capacity": "4.18 MJ/m^3/K"}).type
    'adiabatic'
    """
    try:
        return EnergySection.model_validate(dict(section))
    except ValidationError as error:
        raise StudyError(*(_sentence("", ("energy", *path), problem) for path, problem in _first_by_path(error))) from None


def place(path: Iterable[str | int]) -> str:
    """`('reactions', 'r1', 'k')` as `[reactions] r1.k`."""
    parts = [str(part) for part in path]
    return f"[{parts[0]}] {'.'.join(parts[1:])}".strip() if len(parts) > 1 else parts[0]


_EXPECTED = {
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "literal_error": "{expected}",
    "greater_than": "a number above {gt:g}",
    "less_than": "a number below {lt:g}",
}
"""What was expected, by pydantic's name of the problem."""

_CHOICES = ("str", "list[str]", "dict[str,any]", "dict[str,str]")


def _first_by_path(error: ValidationError) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Problems by place; of those of a choice of types, the first."""
    found = {_path(problem["loc"]): problem for problem in reversed(error.errors())}
    return reversed(found.items())


def _path(location: tuple[str | int, ...]) -> tuple[str, ...]:
    """Where a problem is, by keys: without positions in lists and without pydantic's names of the types to choose from."""
    return tuple(part for i, part in enumerate(location) if isinstance(part, str) and not (i >= 2 and part in _CHOICES))


def _sentence(source: str, path: tuple[str, ...], problem: Any) -> str:
    where = f"{source}, {place(path)}" if source else place(path)
    if problem["type"] == "extra_forbidden":
        known = _known_keys(path[:-1])
        return f"{where}: unknown key '{path[-1]}'. Known: {', '.join(known)}.{nearest(str(path[-1]), known)}"
    if problem["type"] == "missing":
        section = _section(path[:-1])
        meaning = section.model_fields[path[-1]].description if section else None
        return f"{where}: missing. Write {path[-1]} = ...{f' ({meaning})' if meaning else ''}."
    if path == ("schema",):
        return f"{where}: version {problem['input']!r} is not known to this kinetix; expected {SCHEMA_VERSION}."
    expected = _EXPECTED.get(problem["type"])
    said = f"expected {expected.format_map(problem.get('ctx', {}))}" if expected else problem["msg"][0].lower() + problem["msg"][1:]
    return f"{where}: {said}, found {problem['input']!r}.{_meaning(path)}"


def _meaning(path: tuple[str, ...]) -> str:
    """What a key means, with an example where there is one."""
    if len(path) == 2 and path[0] == "reactions":
        return ' A reaction is written as { equation = "A -> B", k = "0.1 1/s" }.'
    section = _section(path[:-1])
    description = section.model_fields[path[-1]].description if section and path[-1] in section.model_fields else None
    return f" {path[-1]}: {description}." if description else ""


def _known_keys(path: tuple[str, ...]) -> list[str]:
    section = _section(path) or Study
    return [field.alias or name for name, field in section.model_fields.items()]


def _section(path: tuple[str, ...]) -> type[BaseModel] | None:
    """The section that holds the keys under a path; None where the user chooses the keys."""
    sections: dict[str, type[BaseModel]] = {
        "reactions": ReactionSection,
        "reactor": ReactorSection,
        "energy": EnergySection,
        "data": DataSection,
        "fit": FitSection,
        "simulate": SimulateSection,
        "solver": SolverSection,
    }
    return sections.get(path[0]) if path else Study
