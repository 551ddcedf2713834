"""A rate law written by the user as a Python function, with the units of its constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import jax
import numpy as np

from kinetix.errors import ParameterError, UnitError, nearest
from kinetix.precision import float64
from kinetix.rates.law import Constant, Law, Sides
from kinetix.units import CONCENTRATION, TEMPERATURE, Dimension, Unit, example_unit, parse_unit

Function = Callable[[Mapping[str, Any], Mapping[str, Any], Any], Any]
"""`function(c, k, T) -> r`: amounts by species, constants by name, temperature; all in SI, elementwise."""

_SAMPLES = np.array([[0.7, 1.3, 1.9], [1.1, 0.6, 1.7], [1.6, 0.9, 0.8], [0.5, 1.8, 1.2]])
"""Points at which a function is tried, one of the rows for each argument in turn."""

HOT = 1e3
"""Times a sample is a temperature, K: so that exp(-5000/T) is a number that can be seen to change."""


@dataclass(frozen=True)
class FunctionRate:
    """Evaluates a Python function; equal functions of equal arguments are equal."""

    function: Function
    constants: tuple[str, ...]
    species: tuple[str, ...]

    def __call__(self, constants: tuple[Any, ...], sides: Sides, T: Any) -> Any:
        return self.function(dict(zip(self.species, sides[0], strict=True)), dict(zip(self.constants, constants, strict=True)), T)

    @property
    def uses_temperature(self) -> bool:
        """Whether the rate depends on T other than by its constants, as JAX traces it."""
        with float64():
            traced = jax.make_jaxpr(lambda c, k, T: self(k, (c,), T))(*self._arguments(1.0)).jaxpr
        T = traced.invars[-1]
        return any(T is used for equation in traced.eqns for used in equation.invars) or any(T is out for out in traced.outvars)

    def _arguments(self, value: float) -> tuple[tuple[float, ...], tuple[float, ...], float]:
        return (value,) * len(self.species), (value,) * len(self.constants), value


@dataclass(frozen=True)
class FunctionLaw:
    """A Python function as a rate law; made by `law`.

    Attributes:
        function: `function(c, k, T) -> r`.
        constants: names and units of its constants.
        species: whose amounts it uses.
    """

    function: Function
    constants: tuple[tuple[str, Unit], ...]
    species: tuple[str, ...]

    @property
    def name(self) -> str:
        """The function's own name."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def of(self, reaction: str, known: Sequence[str]) -> Law:
        """The law of one reaction, in concentrations.

        Args:
            reaction: its name, for messages.
            known: species of the network.

        Raises:
            ParameterError: a species that the network does not have.
        """
        for species in self.species:
            if species not in known:
                raise ParameterError(
                    f"Rate of '{reaction}': {self.name} uses '{species}', which is no species of the network (known: {', '.join(known)})."
                    f"{nearest(species, known)}"
                )
        names = tuple(name for name, _ in self.constants)
        arguments = ", ".join([*(f"[{species}]" for species in self.species), *names])
        constants = tuple(Constant(name, unit.dimension, enthalpy=None) for name, unit in self.constants)
        return Law(FunctionRate(self.function, names, self.species), constants, (self.species,), f"{self.name}({arguments})")

    def check(self, reaction: str, rate: Dimension, amount: Dimension = CONCENTRATION) -> None:
        """That the function is elementwise, and that its values have the dimension of a rate.

        The dimension is that of the arguments: with every unit of length, time, ... twice as large, the rate must change as one does.

        Raises:
            ParameterError: it cannot be evaluated, or is not elementwise.
            UnitError: its values scale like something else than a rate.
        """
        dimensions = [*[amount] * len(self.species), *(unit.dimension for _, unit in self.constants), TEMPERATURE]
        samples = [_SAMPLES[i % len(_SAMPLES)] for i in range(len(dimensions))]
        samples[-1] = HOT * samples[-1]
        plain = self._evaluated(reaction, samples)
        single = [self._evaluated(reaction, [sample[i : i + 1] for sample in samples])[0] for i in range(3)]
        if not np.allclose(plain, single, rtol=1e-9, equal_nan=True):
            raise ParameterError(
                f"Rate of '{reaction}': {self.name} is not elementwise: its value for one experiment depends on another."
                " Use operations that work number by number."
            )
        for base, exponent in enumerate(rate.exponents):
            factors = [2.0 ** float(dimension.exponents[base]) for dimension in dimensions]
            found = self._evaluated(reaction, [sample * factor for sample, factor in zip(samples, factors, strict=True)])
            with np.errstate(all="ignore"):
                powers = np.log2(np.abs(found / plain))
            if np.isfinite(powers).all() and not np.allclose(powers, float(exponent), atol=1e-6):
                words = list(Dimension.__dataclass_fields__)
                known = np.allclose(powers, powers[0], atol=1e-6)
                scales = f"{words[base]}^{Fraction(float(powers[0])).limit_denominator(100)}" if known else "no power"
                raise UnitError(
                    f"Rate of '{reaction}': the values of {self.name} go with {words[base]} as {scales}, but a rate in"
                    f" {example_unit(rate)} goes as {words[base]}^{exponent}. Check the units of its constants"
                    f" ({', '.join(f'{name} in {unit.text}' for name, unit in self.constants)}), and declare numbers that have a unit as"
                    " constants."
                )

    def _evaluated(self, reaction: str, values: Sequence[np.ndarray]) -> np.ndarray:
        n, m = len(self.species), len(self.constants)
        rate = FunctionRate(self.function, tuple(name for name, _ in self.constants), self.species)
        try:
            with float64():
                jax.eval_shape(lambda c, k, T: rate(k, (c,), T), tuple(values[:n]), tuple(values[n : n + m]), values[-1])
                found = np.asarray(rate(tuple(values[n : n + m]), (tuple(values[:n]),), values[-1]), dtype=float)
        except Exception as error:
            failure = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            raise ParameterError(
                f"Rate of '{reaction}': {self.name}(c, k, T) failed with {failure} Write it with arithmetic and jax.numpy, without numpy"
                f" and without `if` on values. It gets c, amounts by species ({', '.join(self.species)}), k, constants by name"
                f" ({', '.join(name for name, _ in self.constants)}), and T."
            ) from error
        if found.shape != values[-1].shape:
            raise ParameterError(
                f"Rate of '{reaction}': {self.name} gave an array of shape {found.shape} for arguments of shape {values[-1].shape};"
                " a rate law is elementwise: one number for each."
            )
        return found


def law(function: Function, *, constants: Mapping[str, str], species: Sequence[str]) -> FunctionLaw:
    """A Python function as a rate law, for `rates` of a reactor such as `CSTR`.

    r = function(c, k, T) in mol/m^3/s, or in the SI unit of the basis of the rates. The function is differentiated and compiled by
    JAX: it uses arithmetic and `jax.numpy`, number by number, and no `if` on values.

    Args:
        function: `function(c, k, T)`; c holds concentrations by species (mol/m^3; partial pressures in Pa where the reactor has
            `amounts="partial_pressure"`), k the constants by name (SI), T is the temperature (K).
        constants: names and units of the constants: `{"Vmax": "mol/L/s", "Km": "mol/L"}`. Values, starts and dependence on temperature
            are given like those of any other law: `"r1.Vmax"`, `"r1.Vmax.Ea"`.
        species: the species in c.

    Returns:
        `FunctionLaw`; hashable, so that the same function is compiled once. Give one function object to repeated calls.

    Raises:
        ParameterError, UnitError: no function, no species, an unknown unit. Its dimension is checked when a problem is put together.

    >>> import kinetix as kx
    >>> def saturation(c, k, T):
    ...     return k["Vmax"] * c["S"] / (k["Km"] + c["S"])
    >>> rate = kx.law(saturation, constants={"Vmax": "mol/L/s", "Km": "mol/L"}, species=["S"])
    >>> cell = kx.Differential(kx.parse_network("S -> P"), rates={"r1": rate})
    >>> tree = kx.simulate(cell, {"r1.Vmax": "2 mol/L/s", "r1.Km": "3 mol/L"}, conditions={"S": "1 mol/L"})
    >>> float(tree["simulation/predicted"].sel(response="rate[r1]").item())
    0.5
    """
    if not callable(function):
        raise ParameterError(f"law: expected a function of (c, k, T), found {function!r}.")
    if isinstance(species, str) or not all(isinstance(name, str) for name in species):
        raise ParameterError(f'law: species is a list of names, for example ["A", "B"]; found {species!r}.')
    return FunctionLaw(function, tuple((name, parse_unit(unit)) for name, unit in constants.items()), tuple(species))
