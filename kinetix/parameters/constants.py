"""From the constants of rate laws, as the user wrote them, to parameters and the arrays that bind them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import ParameterError
from kinetix.parameters.reporting import Reporting
from kinetix.parameters.specification import Estimate, Number, TemperatureLaw
from kinetix.parameters.table import Parameter, ParameterTable, parameter
from kinetix.rates.arrhenius import Thermal, eyring_factor, log_factor
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

ZERO, ONE = -2, -1
"""Positions of the literals 0 and 1 behind the parameters."""

STANDARD_STATE = parse_unit("mol/L")
"""Of entropies of activation."""


@dataclass(frozen=True)
class BoundConstant:
    """One constant as positions in the vector of parameters; -2 and -1 are the literals 0 and 1.

    Attributes:
        name: `r1.k`, `r1.kf`, `k1`.
        reference, exponent, energy: positions of its value at the reference temperature, b and Ea.
        T_ref: K, of the power term.
        inverse_T_ref: 1/K; 0 where `reference` is the pre-exponential factor.
        unit: of the constant.
    """

    name: str
    reference: int
    exponent: int
    energy: int
    T_ref: float
    inverse_T_ref: float
    unit: Unit

    @property
    def thermal(self) -> bool:
        """Whether it depends on temperature."""
        return self.energy != ZERO or self.exponent != ZERO

    def at(self, T_ref: float) -> BoundConstant:
        """The constant with its value stated at another temperature, K."""
        return replace(self, T_ref=T_ref, inverse_T_ref=1.0 / T_ref)


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["reference", "exponent", "energy", "T_ref", "inverse_T_ref"],
    meta_fields=[],
)
@dataclass(frozen=True)
class ConstantBindings:
    """Positions of all constants of a problem, (constant,), padded."""

    reference: jax.Array | np.ndarray
    exponent: jax.Array | np.ndarray
    energy: jax.Array | np.ndarray
    T_ref: jax.Array | np.ndarray
    inverse_T_ref: jax.Array | np.ndarray

    def thermal(self, parameters: jax.Array) -> Thermal:
        """The constants of the rate laws from physical parameter values (parameter,)."""
        extended = with_literals(parameters)
        return Thermal(
            extended[self.reference],
            extended[self.exponent],
            extended[self.energy],
            jnp.asarray(self.T_ref, extended.dtype),
            jnp.asarray(self.inverse_T_ref, extended.dtype),
        )


def with_literals(parameters: jax.Array) -> jax.Array:
    """The parameters followed by the literals 0 and 1."""
    return jnp.concatenate([parameters, jnp.array([0.0, 1.0], parameters.dtype)])


def bindings(constants: Sequence[BoundConstant], size: int) -> ConstantBindings:
    """Arrays of `constants`, filled up to `size` with ones."""
    fill = size - len(constants)
    return ConstantBindings(
        reference=np.array([c.reference for c in constants] + [ONE] * fill, dtype=np.int32),
        exponent=np.array([c.exponent for c in constants] + [ZERO] * fill, dtype=np.int32),
        energy=np.array([c.energy for c in constants] + [ZERO] * fill, dtype=np.int32),
        T_ref=np.array([c.T_ref for c in constants] + [1.0] * fill),
        inverse_T_ref=np.array([c.inverse_T_ref for c in constants] + [0.0] * fill),
    )


@dataclass(frozen=True)
class DerivedFactor:
    """A pre-exponential factor that follows from the fitted pair: ln A = ln k_ref - b ln T_ref + Ea/(R T_ref).

    `reference`, `exponent`, `energy` are positions of parameters (or literals), as in `BoundConstant`.
    """

    name: str
    unit: Unit
    constant: BoundConstant

    def log_value(self, parameters: np.ndarray) -> float:
        """ln A, A in SI."""
        values = np.concatenate([parameters, [0.0, 1.0]])
        c = self.constant
        return log_factor(values[c.reference], values[c.exponent], values[c.energy], c.T_ref)

    def gradient(self, parameters: np.ndarray) -> np.ndarray:
        """d ln A / d parameters, (parameter,)."""
        c = self.constant
        out = np.zeros(len(parameters) + 2)
        out[c.reference] += 1.0 / np.concatenate([parameters, [0.0, 1.0]])[c.reference]
        out[c.exponent] -= np.log(c.T_ref)
        out[c.energy] += c.inverse_T_ref / GAS_CONSTANT
        return out[:-2]


@dataclass(frozen=True)
class DerivedEntropy:
    """The entropy of activation of Eyring's law: dS = R ln(k_ref h/(kB T_ref c0^(1 - n))) + dH/T_ref, J/mol/K.

    `standard` is c0^(1 - n) in SI, of the standard state c0 = 1 mol/L; 1 for a reaction of first order.
    """

    name: str
    unit: Unit
    constant: BoundConstant
    standard: float

    def value(self, parameters: np.ndarray) -> float:
        """dS, J/mol/K."""
        values, c = np.concatenate([parameters, [0.0, 1.0]]), self.constant
        return GAS_CONSTANT * math.log(values[c.reference] / (eyring_factor(c.T_ref) * self.standard)) + values[c.energy] / c.T_ref

    def gradient(self, parameters: np.ndarray) -> np.ndarray:
        """d dS / d parameters, (parameter,)."""
        values, c = np.concatenate([parameters, [0.0, 1.0]]), self.constant
        out = np.zeros(len(values))
        out[c.reference] += GAS_CONSTANT / values[c.reference]
        out[c.energy] += 1.0 / c.T_ref
        return out[:-2]


Derivable = DerivedFactor | DerivedEntropy
"""What follows from the parameters of one constant."""


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

    def add(self, name: str, constant: Constant, spec: TemperatureLaw) -> int:
        """Position of a new constant; `name` is its full name (`r1.k`, `r3.kf`, `k1`)."""
        if spec.eyring:
            return self._add_eyring(name, constant, spec)
        equilibrium = spec.enthalpy if constant.enthalpy is None else constant.enthalpy
        if spec.enthalpy and not equilibrium:
            raise ParameterError(f"Parameter '{name}' is a rate constant and follows Arrhenius. Write Ea in the place of dH.")
        if constant.enthalpy is not None and constant.positive and isinstance(spec.value, Quantity) and spec.value.si < 0:
            raise ParameterError(
                f"Parameter '{name}' is {spec.value}, and a constant of this rate law cannot be below zero. Correct its sign."
            )
        energy_name = "dH" if equilibrium else "Ea"
        if spec.factor and isinstance(spec.value, Estimate) and spec.value.fixed and spec.value.start is not None:
            spec = replace(spec, value=spec.value.start)
        stem = name.removesuffix(".k")
        if spec.energy is None and spec.exponent is None:
            if spec.factor:
                # an A without Ea is a constant k: Ea is 0, as written
                name = f"{stem}.A"
            position = self.add_parameter(name, spec.value, constant.dimension, constant.positive)
            return self._constant(BoundConstant(name, position, ZERO, ZERO, 1.0, 0.0, self.parameters[position].unit))
        if not constant.thermal:
            raise ParameterError(f"Parameter '{name}' cannot depend on temperature. Write it as a plain number.")
        first = len(self.parameters)
        energy = self._part(f"{stem}.{energy_name}", spec.energy, MOLAR_ENERGY)
        exponent = self._part(f"{stem}.b", spec.exponent, DIMENSIONLESS)
        parts, self.parameters = self.parameters[first:], self.parameters[:first]
        energy_free = any(not p.fixed for p in parts)
        result: Number = spec.value
        if spec.factor and isinstance(spec.value, Quantity):
            reference_name, T_ref, inverse = f"{stem}.A", 1.0, 0.0
        elif spec.factor and isinstance(spec.value, Estimate):
            T_ref = self._reference_temperature(name)
            inverse = 1.0 / T_ref
            reference_name = f"{stem}.k_ref"
            start = [p.start for p in parts]
            Ea = start[0] if spec.energy is not None else 0.0
            b = start[-1] if spec.exponent is not None else 0.0
            result = self._referenced(name, constant, spec.value, np.exp(b * np.log(T_ref) - Ea / (GAS_CONSTANT * T_ref)), energy_free)
        else:
            known = isinstance(spec.value, Quantity) or spec.value.fixed
            if spec.at is None and known:
                raise ParameterError(
                    f"Parameter '{name}' is known and depends on temperature, but at which temperature does it hold?"
                    ' Write at = "350 K" beside it.'
                )
            T_ref = spec.at if spec.at is not None else self._reference_temperature(name)
            inverse = 1.0 / T_ref
            reference_name = f"{stem}.K_ref" if equilibrium else f"{stem}.k_ref"
        reference = self.add_parameter(reference_name, result, constant.dimension, constant.positive)
        shift = len(self.parameters) - first
        self.parameters.extend(parts)
        energy = energy + shift if energy != ZERO else ZERO
        exponent = exponent + shift if exponent != ZERO else ZERO
        bound = BoundConstant(name, reference, exponent, energy, T_ref, inverse, self.parameters[reference].unit)
        if inverse and self.parameters[reference].scale == "log" and not equilibrium:
            self.derived.append(DerivedFactor(f"{stem}.A", bound.unit, bound))
        return self._constant(bound)

    def _add_eyring(self, name: str, constant: Constant, spec: TemperatureLaw) -> int:
        """Position of a rate constant after Eyring: k_ref (T/T_ref) exp(-dH/R (1/T - 1/T_ref))."""
        stem = name.removesuffix(".k")
        a = constant.dimension.amount if constant.dimension is not None else 0
        dimension = CONCENTRATION**a / TIME
        if constant.dimension != dimension:
            raise ParameterError(
                f"Parameter '{name}': Eyring's law is for k in 1/time or concentrations^(1 - n)/time, but here k is {constant.dimension}."
                " Write Ea in the place of dH (and k or A in the place of dS)."
            )
        standard = STANDARD_STATE.factor ** float(a)
        value = spec.value
        if spec.factor and isinstance(value, Estimate) and value.fixed and value.start is not None:
            value = value.start
        for quantity in (value,) if isinstance(value, Quantity) else (value.start, value.lower, value.upper):
            if spec.factor and quantity is not None:
                require(quantity, MOLAR_HEAT_CAPACITY, f"{stem}.dS")
        if spec.factor and isinstance(value, Quantity):
            factor = eyring_factor(1.0) * standard * math.exp(value.si / GAS_CONSTANT)
            self.parameters.append(
                Parameter(f"kB/h*exp(({value})/R)", si_unit(dimension), factor, -np.inf, np.inf, "linear", True, literal=True)
            )
            reference, T_ref, inverse = len(self.parameters) - 1, 1.0, 0.0
        else:
            T_ref = spec.at if spec.at is not None else self._reference_temperature(name)
            inverse = 1.0 / T_ref
            if spec.factor:
                value = self._from_entropy(name, value, spec.energy, standard, T_ref, parse_unit(example_unit(dimension)))
            elif spec.at is None and (isinstance(value, Quantity) or value.fixed):
                raise ParameterError(
                    f"Parameter '{name}' is known and depends on temperature, but at which temperature does it hold?"
                    ' Write at = "350 K" beside it.'
                )
            reference = self.add_parameter(f"{stem}.k_ref", value, constant.dimension, constant.positive)
        energy = self._part(f"{stem}.dH", spec.energy, MOLAR_ENERGY)
        bound = BoundConstant(name, reference, ONE, energy, T_ref, inverse, self.parameters[reference].unit)
        if inverse and self.parameters[reference].scale == "log":
            self.derived.append(DerivedEntropy(f"{stem}.dS", parse_unit("J/mol/K"), bound, standard))
        return self._constant(bound)

    def _from_entropy(self, name: str, entropy: Number, enthalpy: Number | None, standard: float, T_ref: float, unit: Unit) -> Estimate:
        """The estimate of an entropy of activation as one of k at the reference temperature."""
        assert isinstance(entropy, Estimate) and enthalpy is not None
        stem = name.removesuffix(".k")
        if entropy.lower is not None or entropy.upper is not None:
            raise ParameterError(
                f"Parameter '{stem}.dS': bounds on dS are not what they seem, since dS and dH move together."
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

    def _constant(self, bound: BoundConstant) -> int:
        self.constants.append(bound)
        return len(self.constants) - 1

    def _part(self, name: str, number: Number | None, dimension: Dimension) -> int:
        if number is None:
            return ZERO
        return self.add_parameter(name, number, dimension, positive=False)

    def _reference_temperature(self, name: str) -> float:
        if self.T_ref is None:
            raise ParameterError(
                f"Parameter '{name}' depends on temperature, but neither the data nor the conditions hold a temperature T."
                ' Add a column such as "T [degC]", or T = "350 K" under [conditions].'
            )
        return self.T_ref

    def _referenced(self, name: str, constant: Constant, value: Estimate, ratio: float, energy_free: bool) -> Estimate:
        """The estimate of a pre-exponential factor as one of k at the reference temperature."""
        for quantity in (value.start, value.lower, value.upper):
            if quantity is not None and constant.dimension is not None:
                require(quantity, constant.dimension, f"{name.removesuffix('.k')}.A")
        if energy_free and (value.lower is not None or value.upper is not None):
            raise ParameterError(
                f"Parameter '{name}': bounds on A with Ea free are not what they seem, since A and Ea move together."
                ' Give k at a temperature instead: k = { start = "...", at = "350 K", bounds = [...] }.'
            )

        if value.start is not None and not np.isfinite(ratio):
            raise ParameterError(
                f"Parameter '{name}': A has a start, but Ea has none, so k at a temperature is unknown. Give both, or neither."
            )

        def at_reference(quantity: Quantity | None) -> Quantity | None:
            return None if quantity is None else Quantity(quantity.value * ratio, quantity.unit)

        return Estimate(
            at_reference(value.start), at_reference(value.lower), at_reference(value.upper), value.scale, value.fixed, value.unit
        )
