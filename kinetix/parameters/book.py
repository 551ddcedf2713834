"""The constants of a problem as they are collected: what the user wrote of each becomes parameters, and where they stand."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import ParameterError
from kinetix.parameters.constants import FROM_LANE, ONE, ZERO, BoundConstant, Derivable, DerivedEntropy, DerivedFactor
from kinetix.parameters.reporting import Reporting
from kinetix.parameters.specification import Estimate, Number, TemperatureLaw
from kinetix.parameters.table import Parameter, ParameterTable, parameter
from kinetix.rates.arrhenius import eyring_factor, log_factor
from kinetix.rates.law import Constant
from kinetix.units import (
    CONCENTRATION,
    DIMENSIONLESS,
    MOLAR_ENERGY,
    MOLAR_HEAT_CAPACITY,
    TIME,
    Dimension,
    Quantity,
    Unit,
    example_unit,
    parse_unit,
    require,
    si_unit,
)

STANDARD_STATE = parse_unit("mol/L")
"""Of entropies of activation."""


class ConstantBook:
    """Collects parameters and constants while a problem is put together."""

    def __init__(self, T_ref: float | None, reporting: Reporting | None = None) -> None:
        self.T_ref = T_ref
        self.reporting = reporting or Reporting()
        self.parameters: list[Parameter] = []
        self.constants: list[BoundConstant] = []
        self.derived: list[Derivable] = []

    def table(self) -> ParameterTable:
        """All parameters in order.

        Raises:
            ParameterError: one name for two numbers, as where a constant is called like a part of another.
        """
        shown = [p.name for p in self.parameters if not p.literal] + [one.name for one in self.derived]
        twice = [name for name, count in Counter(shown).items() if count > 1]
        if twice:
            owners = ", ".join(f"'{constant.name}'" for constant in self.constants if constant.thermal)
            raise ParameterError(
                *(
                    f"Two numbers would be called '{name}': a parameter of its own, and a part of a constant that depends on temperature"
                    f" ({owners}), which has Ea, b, k_ref and A of its own. Give the parameter another name."
                    for name in twice
                )
            )
        return ParameterTable(tuple(self.parameters))

    def add_parameter(self, name: str, number: Number, dimension: Dimension | None, positive: bool) -> int:
        """Position of a new parameter."""
        self.parameters.append(parameter(name, number, dimension, positive, self.reporting))
        return len(self.parameters) - 1

    def add_literal(self, name: str, value: float, unit: Unit) -> int:
        """Position of a new constant with a known SI value; it is a parameter that nobody sees as one."""
        self.parameters.append(Parameter(name, unit, value, -np.inf, np.inf, "linear", True, literal=True))
        return self._constant(BoundConstant(name, len(self.parameters) - 1, ZERO, ZERO, 1.0, 0.0, unit))

    def add_condition(self, name: str, dimension: Dimension) -> int:
        """Position of what each experiment gives, the same for every law; no parameter."""
        there = [i for i, constant in enumerate(self.constants) if constant.reference == FROM_LANE]
        return there[0] if there else self._constant(BoundConstant(name, FROM_LANE, ZERO, ZERO, 1.0, 0.0, si_unit(dimension)))

    def add(self, name: str, constant: Constant, spec: TemperatureLaw) -> int:
        """Position of a new constant; `name` is its full name (`r1.k`, `r3.kf`, `k1`)."""
        if spec.eyring:
            return self._add_eyring(name, constant, spec)
        _check_kind(name, constant, spec)
        spec = _with_known_factor(spec)
        if spec.energy is None and spec.exponent is None:
            # an A without Ea is a constant k: Ea is 0, as written
            return self._add_plain(f"{_stem(name)}.A" if spec.factor else name, constant, spec.value)
        if not constant.thermal:
            raise ParameterError(f"Parameter '{name}' cannot depend on temperature. Write it as a plain number.")
        return self._add_thermal(name, constant, spec)

    def _add_plain(self, name: str, constant: Constant, value: Number) -> int:
        position = self.add_parameter(name, value, constant.dimension, constant.positive)
        return self._constant(BoundConstant(name, position, ZERO, ZERO, 1.0, 0.0, self.parameters[position].unit))

    def _add_thermal(self, name: str, constant: Constant, spec: TemperatureLaw) -> int:
        """Position of a constant after Arrhenius or van 't Hoff: k_ref (T/T_ref)^b exp(-Ea/R (1/T - 1/T_ref)), or with A for k_ref."""
        stem, equilibrium = _stem(name), _of_equilibrium(constant, spec)
        energy = self._part(f"{stem}.{'dH' if equilibrium else 'Ea'}", spec.energy, MOLAR_ENERGY)
        exponent = self._part(f"{stem}.b", spec.exponent, DIMENSIONLESS)
        value, T_ref, inverse = spec.value, 1.0, 0.0
        known_factor = spec.factor and isinstance(value, Quantity)
        if not known_factor:
            T_ref = self._temperature(name, spec)
            inverse = 1.0 / T_ref
        if spec.factor and isinstance(value, Estimate):
            value = _from_factor(name, constant, value, energy, exponent, T_ref)
        reference_name = "A" if known_factor else "K_ref" if equilibrium else "k_ref"
        reference = self.add_parameter(f"{stem}.{reference_name}", value, constant.dimension, constant.positive)
        unit, scale = self.parameters[reference].unit, self.parameters[reference].scale
        energy_position, exponent_position = self._placed(energy), self._placed(exponent)
        bound = BoundConstant(name, reference, exponent_position, energy_position, T_ref, inverse, unit)
        if not known_factor and scale == "log" and not equilibrium:
            self.derived.append(DerivedFactor(f"{stem}.A", unit, bound))
        return self._constant(bound)

    def _add_eyring(self, name: str, constant: Constant, spec: TemperatureLaw) -> int:
        """Position of a rate constant after Eyring: k_ref (T/T_ref) exp(-dH/R (1/T - 1/T_ref))."""
        stem, spec = _stem(name), _with_known_factor(spec)
        dimension, standard = _eyring_units(name, constant)
        value, T_ref, inverse = spec.value, 1.0, 0.0
        if spec.factor:
            _require_all(value, MOLAR_HEAT_CAPACITY, f"{stem}.dS")
        known_entropy = value if spec.factor and isinstance(value, Quantity) else None
        if known_entropy is not None:
            factor = eyring_factor(1.0) * standard * math.exp(known_entropy.si / GAS_CONSTANT)
            entropy = Parameter(f"{stem}.dS", known_entropy.unit, known_entropy.si, -np.inf, np.inf, "linear", True)
            text = f"kB/h*exp({entropy.name}/R)"
            literal = Parameter(text, si_unit(dimension), factor, -np.inf, np.inf, "linear", True, literal=True, written=entropy)
            reference = self._placed(literal)
        else:
            T_ref = self._temperature(name, spec)
            inverse = 1.0 / T_ref
            if spec.factor:
                value = _from_entropy(name, value, spec.energy, standard, T_ref, parse_unit(example_unit(dimension)))
            reference = self.add_parameter(f"{stem}.k_ref", value, constant.dimension, constant.positive)
        energy = self._placed(self._part(f"{stem}.dH", spec.energy, MOLAR_ENERGY))
        bound = BoundConstant(name, reference, ONE, energy, T_ref, inverse, self.parameters[reference].unit)
        if known_entropy is None and self.parameters[reference].scale == "log":
            self.derived.append(DerivedEntropy(f"{stem}.dS", parse_unit("J/mol/K"), bound, standard))
        return self._constant(bound)

    def _constant(self, bound: BoundConstant) -> int:
        self.constants.append(bound)
        return len(self.constants) - 1

    def _part(self, name: str, number: Number | None, dimension: Dimension) -> Parameter | None:
        """An energy or exponent, not yet among the parameters: these begin with the constant itself."""
        return None if number is None else parameter(name, number, dimension, False, self.reporting)

    def _placed(self, part: Parameter | None) -> int:
        """Position of a part, now the last parameter; of the literal 0 where there is none."""
        if part is None:
            return ZERO
        self.parameters.append(part)
        return len(self.parameters) - 1

    def _temperature(self, name: str, spec: TemperatureLaw) -> float:
        """The temperature, K, at which the value of a constant holds; that of the data for an A or dS that is estimated."""
        if spec.at is not None:
            return spec.at
        if not spec.factor and (isinstance(spec.value, Quantity) or spec.value.fixed):
            raise ParameterError(
                f"Parameter '{name}' is known and depends on temperature, but at which temperature does it hold?"
                ' Write at = "350 K" beside it.'
            )
        return self._reference_temperature(name)

    def _reference_temperature(self, name: str) -> float:
        if self.T_ref is None:
            raise ParameterError(
                f"Parameter '{name}' depends on temperature, but neither the data nor the conditions hold a temperature T."
                ' Add a column such as "T [degC]", or T = "350 K" under [conditions].'
            )
        return self.T_ref


def _stem(name: str) -> str:
    """What the names of a constant's parts begin with: `r1` of `r1.k`, `r1.kf` of itself."""
    return name.removesuffix(".k")


def _of_equilibrium(constant: Constant, spec: TemperatureLaw) -> bool:
    return spec.enthalpy if constant.enthalpy is None else constant.enthalpy


def _check_kind(name: str, constant: Constant, spec: TemperatureLaw) -> None:
    """That dH is not of a rate constant, and that a known constant of a law is not below zero."""
    if spec.enthalpy and not _of_equilibrium(constant, spec):
        raise ParameterError(f"Parameter '{name}' is a rate constant and follows Arrhenius. Write Ea in the place of dH.")
    if constant.enthalpy is not None and constant.positive and isinstance(spec.value, Quantity) and spec.value.si < 0:
        raise ParameterError(f"Parameter '{name}' is {spec.value}, and a constant of this rate law cannot be below zero. Correct its sign.")


def _with_known_factor(spec: TemperatureLaw) -> TemperatureLaw:
    """The law with an A or dS that is kept at its start written as one that is known."""
    value = spec.value
    if spec.factor and isinstance(value, Estimate) and value.fixed and value.start is not None:
        return replace(spec, value=value.start)
    return spec


def _require_all(number: Number, dimension: Dimension, what: str) -> None:
    for quantity in (number,) if isinstance(number, Quantity) else (number.start, number.lower, number.upper):
        if quantity is not None:
            require(quantity, dimension, what)


def _eyring_units(name: str, constant: Constant) -> tuple[Dimension, float]:
    """The dimension of a rate constant of mass action, and c0^(1 - n) in SI, of its standard state."""
    a = constant.dimension.amount if constant.dimension is not None else 0
    dimension = CONCENTRATION**a / TIME
    if constant.dimension != dimension:
        raise ParameterError(
            f"Parameter '{name}': Eyring's law is for k in 1/time or concentrations^(1 - n)/time, but here k is {constant.dimension}."
            " Write Ea in the place of dH (and k or A in the place of dS)."
        )
    return dimension, STANDARD_STATE.factor ** float(a)


def _from_factor(
    name: str, constant: Constant, value: Estimate, energy: Parameter | None, exponent: Parameter | None, T_ref: float
) -> Estimate:
    """The estimate of a pre-exponential factor as one of k at the reference temperature."""
    if constant.dimension is not None:
        _require_all(value, constant.dimension, f"{_stem(name)}.A")
    if value.prior is not None:
        raise ParameterError(
            f"Parameter '{name}': a prior on A is not what it seems, since A and Ea move together."
            ' Give k at a temperature instead: k = { start = "...", at = "350 K", prior = { median = "...", factor = 2 } }.'
        )
    energy_free = any(part is not None and not part.fixed for part in (energy, exponent))
    if energy_free and (value.lower is not None or value.upper is not None):
        raise ParameterError(
            f"Parameter '{name}': bounds on A with Ea free are not what they seem, since A and Ea move together."
            ' Give k at a temperature instead: k = { start = "...", at = "350 K", bounds = [...] }.'
        )

    Ea, b = (part.start if part is not None else 0.0 for part in (energy, exponent))
    ratio = np.exp(-log_factor(1.0, b, Ea, T_ref))
    if value.start is not None and not np.isfinite(ratio):
        raise ParameterError(
            f"Parameter '{name}': A has a start, but Ea has none, so k at a temperature is unknown. Give both, or neither."
        )

    def at_reference(quantity: Quantity | None) -> Quantity | None:
        return None if quantity is None else Quantity(quantity.value * ratio, quantity.unit)

    return Estimate(at_reference(value.start), at_reference(value.lower), at_reference(value.upper), value.scale, value.fixed, value.unit)


def _from_entropy(name: str, entropy: Number, enthalpy: Number | None, standard: float, T_ref: float, unit: Unit) -> Estimate:
    """The estimate of an entropy of activation as one of k at the reference temperature."""
    assert isinstance(entropy, Estimate) and enthalpy is not None
    stem = _stem(name)
    if entropy.lower is not None or entropy.upper is not None or entropy.prior is not None:
        raise ParameterError(
            f"Parameter '{stem}.dS': bounds and priors on dS are not what they seem, since dS and dH move together."
            ' Give k at a temperature instead: k = { start = "...", bounds = [...] }, at = "350 K", dH = { ... }.'
        )
    if entropy.start is None:
        return Estimate(None)
    dH = enthalpy if isinstance(enthalpy, Quantity) else enthalpy.start
    if dH is None:
        raise ParameterError(
            f"Parameter '{stem}.dS' has a start, but dH has none, so k at a temperature is unknown. Give both, or neither."
        )
    k = eyring_factor(T_ref) * standard * math.exp((entropy.start.si - dH.si / T_ref) / GAS_CONSTANT)
    return Estimate(Quantity(k / unit.factor, unit))
