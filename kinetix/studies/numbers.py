"""Numbers as a study writes them: a plain quantity is known, a table is estimated, a name refers to `[parameters]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kinetix.errors import ParameterError, nearest
from kinetix.experiments import Noise, require_possible
from kinetix.parameters import Estimate, Number, Prior, TemperatureLaw
from kinetix.units import DIMENSIONLESS, MOLAR_ENERGY, TEMPERATURE, Dimension, Quantity, parse_quantity, parse_unit

_NAME = re.compile(r"[A-Za-z_]\w*")
_ESTIMATE_KEYS = ("start", "bounds", "scale", "fixed", "unit", "prior", "per", "at", "value")
_OWN = ("value", "start", "bounds", "scale", "fixed", "unit", "prior")
"""What a constant's table may say of its value without a key for it."""
_BESIDE = ("Ea", "dH", "b")
_LATER = {"per": "per-experiment parameters"}


@dataclass(frozen=True)
class Reference:
    """A constant of this name stands under `[parameters]`."""

    name: str


@dataclass(frozen=True)
class Written:
    """A number as written, with the temperature it holds at (K) where one was given."""

    number: Number
    at: float | None = None


def parse_known(value: object, where: str, expect: Dimension | None = None) -> Quantity:
    """A known quantity: text with a unit, or a plain number (dimensionless). `expect`: its dimension, where that is known.

    >>> parse_known("2 L/mol", "r1.K").si
    0.002
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ParameterError(f'{where}: expected a quantity such as "0.1 1/min", found {value!r}.')
    if isinstance(value, str) or expect is not None:
        return parse_quantity(value, expect, what=where)
    return Quantity(float(value), parse_unit("1"))


def parse_number(value: object, where: str, expect: Dimension | None = None) -> Written | Reference:
    """A known quantity, an estimate, or the name of a parameter.

    >>> parse_number({"start": "0.1 1/min", "bounds": ["0.01 1/min", "1 1/min"]}, "r1.k").number.upper.value
    1.0
    >>> parse_number("k1", "r1.k")
    Reference(name='k1')
    """
    if isinstance(value, str) and _NAME.fullmatch(value.strip()):
        return Reference(value.strip())
    if not isinstance(value, Mapping):
        return Written(parse_known(value, where, expect))
    table: Mapping[str, Any] = value
    for key in table:
        if key in _BESIDE:
            own = where.split(".")[-1]
            raise ParameterError(
                f"{where}: '{key}' stands beside {own}, not inside it. Write {own} = {{ ... }} and {key} = ... side by side."
            )
        if key not in _ESTIMATE_KEYS:
            known = [name for name in _ESTIMATE_KEYS if name not in _LATER]
            raise ParameterError(f"{where}: unknown key '{key}'. Known: {', '.join(known)}.{nearest(key, known)}")
        if key in _LATER:
            raise ParameterError(f"{where}: {_LATER[key]} ('{key}') are not available yet. Remove '{key}'.")
    at = parse_temperature(table["at"], f"{where}.at") if "at" in table else None
    if "value" in table:
        if "start" in table or "bounds" in table:
            raise ParameterError(f"{where}: 'value' is a known number and 'start' an estimate. Keep one.")
        return Written(parse_known(table["value"], where, expect), at)
    lower, upper = _bounds(table["bounds"], where, expect) if "bounds" in table else (None, None)
    scale = table.get("scale")
    if scale not in (None, "log", "linear"):
        raise ParameterError(f'{where}: scale is {scale!r}; expected "log" or "linear".')
    fixed = table.get("fixed", False)
    if not isinstance(fixed, bool):
        raise ParameterError(f"{where}: fixed is {fixed!r}; expected true or false.")
    start = parse_known(table["start"], where, expect) if "start" in table else None
    unit = None
    if "unit" in table:
        if not isinstance(table["unit"], str):
            raise ParameterError(f'{where}: unit is {table["unit"]!r}; expected text such as "1/min".')
        unit = parse_unit(table["unit"])
    prior = _prior(table["prior"], where, expect) if "prior" in table else None
    if prior is not None and fixed:
        raise ParameterError(f"{where}: a prior and fixed = true. A fixed number is known: remove one of them.")
    return Written(Estimate(start, lower, upper, scale, fixed, unit, prior), at)


def parse_temperature(value: object, where: str) -> float:
    """A temperature in K, above absolute zero."""
    return require_possible(parse_known(value, where, TEMPERATURE), "T", TEMPERATURE, where).si


def _bounds(value: object, where: str, expect: Dimension | None) -> tuple[Quantity | None, Quantity | None]:
    """Lower and upper bound; an empty text leaves a side open."""
    if not isinstance(value, (list, tuple)) or len(value) != 2 or all(_open(side) for side in value):
        raise ParameterError(
            f'{where}: bounds are two quantities, for example ["0.01 1/min", "10 1/min"], or ["0.01 1/min", ""] where one side is open;'
            f" found {value!r}."
        )
    lower, upper = (
        None if _open(side) else parse_known(side, f"{where}, {name} bound", expect)
        for side, name in zip(value, ("lower", "upper"), strict=True)
    )
    return lower, upper


def _prior(value: object, where: str, expect: Dimension | None) -> Prior:
    """What was known before: `{ mean = "60 kJ/mol", sd = "5 kJ/mol" }`, or `{ median = "0.1 1/s", factor = 2 }`.

    >>> _prior({"median": "0.1 1/s", "factor": 2}, "r1.k", None).spread
    2.0
    """
    table: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    if set(table) == {"mean", "sd"}:
        return Prior(parse_known(table["mean"], f"{where}, prior mean", expect), parse_known(table["sd"], f"{where}, prior sd"))
    factor = table.get("factor")
    if set(table) == {"median", "factor"} and isinstance(factor, (int, float)) and not isinstance(factor, bool):
        return Prior(parse_known(table["median"], f"{where}, prior median", expect), float(factor))
    raise ParameterError(
        f'{where}: prior is {value!r}; expected {{ mean = "60 kJ/mol", sd = "5 kJ/mol" }} (normal), or {{ median = "0.1 1/s", factor = 2 }}'
        " (log-normal: 68 % lie within this factor of the median). A uniform prior is written as bounds."
    )


def _open(side: object) -> bool:
    return side is None or (isinstance(side, str) and not side.strip())


def parse_noise(value: object, where: str, expect: Dimension | None = None) -> Quantity | Noise:
    """The standard deviation of a response: a quantity, or a table with a relative and a constant part, known or estimated.

    Args:
        value: text with a unit, a number, or `{ relative = "5 %", constant = "0.01 mol/L" }` with one of them or both; `{}` or
            `{ start = "..." }` in the place of a part, or of the whole, is estimated.
        where: for messages.
        expect: dimension of the response, where it is known.

    >>> parse_noise({"relative": "5 %"}, "[noise] A").relative
    0.05
    >>> parse_noise({}, "[noise] A").estimated, parse_noise({"relative": {}, "constant": {}}, "[noise] A").estimated
    (True, True)
    """
    if not isinstance(value, Mapping):
        text = str(value).strip()
        if text.endswith("%") and expect is not None and not expect.dimensionless:
            raise ParameterError(
                f'{where}: "{text}" is relative to the value. Write {{ relative = "{text}" }}; on the command line "relative {text}".'
            )
        quantity = parse_known(value, where, expect)
        if not quantity.value > 0:
            raise ParameterError(f"{where} is {quantity}; a measurement error must be above zero. Correct it, or remove it.")
        return quantity
    table: Mapping[str, Any] = value
    if not table or all(key in _ESTIMATE_KEYS for key in table):
        return Noise(_estimated_noise(table, where, expect))
    for key in table:
        if key not in ("relative", "constant"):
            raise ParameterError(f"{where}: unknown key '{key}'. Known: relative, constant.{nearest(str(key), ('relative', 'constant'))}")
    constant = _noise_part(table.get("constant", 0.0), f"{where}, constant", expect)
    relative = _noise_part(table.get("relative", 0.0), f"{where}, relative", DIMENSIONLESS)
    relative = relative.si if isinstance(relative, Quantity) else relative
    parts = [part.value if isinstance(part, Quantity) else part for part in (relative, constant) if not isinstance(part, Estimate)]
    if any(part < 0 for part in parts) or (len(parts) == 2 and not max(parts) > 0):
        raise ParameterError(f'{where} is {value!r}; write a part above zero, for example {{ relative = "5 %" }}, and none below.')
    return Noise(constant, relative)


def _noise_part(value: object, where: str, expect: Dimension | None) -> Quantity | Estimate | float:
    """A part of a standard deviation; 0 where it is not written."""
    if isinstance(value, Mapping):
        return _estimated_noise(value, where, expect)
    return 0.0 if value == 0.0 and isinstance(value, float) else parse_known(value, where, expect)


def _estimated_noise(value: Mapping[str, Any], where: str, expect: Dimension | None) -> Estimate:
    """A standard deviation that is estimated, on a log scale."""
    number = parse_part(value, where, expect)
    if not isinstance(number, Estimate) or number.fixed:
        raise ParameterError(
            f'{where}: {dict(value)!r} is known. Write it as a plain quantity, or {{}} or {{ start = "..." }} to estimate it.'
        )
    if number.scale == "linear":
        raise ParameterError(f"{where}: a standard deviation is above zero, and fitted on a log scale. Remove scale.")
    return number


PARTS = ("A", "Ea", "dH", "dS", "b", "at")
"""What a table of a constant says beside its value; a constant that is called like one of them is written as `k` there."""


def parse_constant(value: object, where: str, symbol: str = "k", *, eyring: bool = False) -> TemperatureLaw | Reference:
    """A constant with or without a temperature dependence.

    Args:
        value: text, number, an estimate, or a table with `k` (or `A`, or the constant's own name), `Ea` (or `dH`), `b`, `at`.
        where: its full name, for messages.
        symbol: the constant's own name, accepted in place of `k` unless it is one of `PARTS`.
        eyring: whether it is a rate constant of mass action, so that `dH`, with `dS` or `k`, means Eyring's law.

    >>> parse_constant({"A": "1e9 1/s", "Ea": "70 kJ/mol"}, "r1").factor
    True
    """
    if eyring and isinstance(value, Mapping) and ("dH" in value or "dS" in value):
        return _eyring(value, where, symbol)
    symbol = "k" if symbol in PARTS else symbol
    if not isinstance(value, Mapping) or not any(key in value for key in ("k", "A", symbol, "Ea", "dH", "b")):
        return _plain_constant(value, where)
    _check_keys(value, where, symbol)
    key = _value_key(value, where, symbol)
    written = value[key] if key is not None else {own: value[own] for own in _OWN if own in value}
    number = parse_number(written, where if key in (None, where.split(".")[-1]) else f"{where}.{key}")
    if isinstance(number, Reference):
        if any(part in value for part in ("Ea", "dH", "b", "at")):
            raise ParameterError(f"{where}: '{number.name}' is a parameter; write Ea and b beside it under [parameters].")
        return number
    stem = where.removesuffix(".k")
    at = _reference(value, key or symbol, number, stem)
    energy = _energy_key(value, where)
    if at is not None and key == "A":
        raise ParameterError(f"{where}: A holds at no temperature; 'at' goes with k. Write k = ..., or remove 'at'.")
    if at is not None and energy is None and "b" not in value:
        raise ParameterError(_AT_WITHOUT_ENERGY.format(where))
    return TemperatureLaw(
        number.number,
        key == "A",
        at,
        parse_part(value[energy], f"{stem}.{energy}", MOLAR_ENERGY) if energy is not None else None,
        parse_part(value["b"], f"{stem}.b", DIMENSIONLESS) if "b" in value else None,
        enthalpy=energy == "dH",
    )


_AT_WITHOUT_ENERGY = "{}: 'at' is a temperature for a constant with Ea. Add Ea, or remove 'at'."


def _plain_constant(value: object, where: str) -> TemperatureLaw | Reference:
    """A constant without a temperature dependence."""
    number = parse_number(value, where)
    if isinstance(number, Reference):
        return number
    if number.at is not None:
        raise ParameterError(_AT_WITHOUT_ENERGY.format(where))
    return TemperatureLaw(number.number)


def _check_keys(value: Mapping[str, Any], where: str, symbol: str) -> None:
    known = tuple(dict.fromkeys(("k", "A", symbol, "Ea", "dH", "b", "at", *_OWN)))
    for key in value:
        if key not in known:
            raise ParameterError(f"{where}: unknown key '{key}'. Known: {', '.join(known)}.{nearest(key, known)}")


def _value_key(value: Mapping[str, Any], where: str, symbol: str) -> str | None:
    """Which of `k`, `A` and the constant's own name holds its value; None where the table itself does, by `start` and the like."""
    keys = [key for key in dict.fromkeys(("k", "A", symbol)) if key in value]
    own = [key for key in _OWN if key in value]
    if own and keys:
        raise ParameterError(f"{where}: '{own[0]}' beside '{keys[0]}'. Write them inside {keys[0]} = {{ ... }}.")
    if len(keys) > 1:
        raise ParameterError(f"{where}: both {keys[0]} and {keys[1]} are given. Keep one.")
    if not keys and not own:
        raise ParameterError(f'{where}: Ea without a constant. Add A = "1e9 1/s", or k = "0.1 1/s" with at = "350 K".')
    return keys[0] if keys else None


def _energy_key(value: Mapping[str, Any], where: str) -> str | None:
    keys = [key for key in ("Ea", "dH") if key in value]
    if len(keys) > 1:
        raise ParameterError(f"{where}: both Ea and dH are given. Keep one.")
    return keys[0] if keys else None


def _eyring(value: Mapping[str, Any], where: str, symbol: str) -> TemperatureLaw:
    """A rate constant by dH and dS, or by dH and k at a temperature."""
    known = tuple(dict.fromkeys(("dH", "dS", "k", symbol, "at")))
    for key in value:
        if key in ("A", "Ea", "b"):
            raise ParameterError(f"{where}: '{key}' beside dH or dS, which are Eyring's in the place of A, Ea and b. Keep one pair.")
        if key not in known:
            raise ParameterError(f"{where}: unknown key '{key}'. Known: {', '.join(known)}.{nearest(key, known)}")
    values = [key for key in dict.fromkeys(("dS", "k", symbol)) if key in value]
    if "dH" not in value or len(values) != 1:
        found = " and ".join(f"'{key}'" for key in value)
        raise ParameterError(
            f'{where}: Eyring\'s law takes dH and dS, or dH and k (with at = "350 K" where k is known); found {found}.'
            ' Write for example dH = "80 kJ/mol", dS = "-20 J/mol/K".'
        )
    entropic = values == ["dS"]
    stem = where.removesuffix(".k")
    number = parse_number(value[values[0]], f"{stem}.dS" if entropic else where)
    if isinstance(number, Reference):
        raise ParameterError(f"{where}: expected a quantity or a table with start, found the name '{number.name}'.")
    at = parse_temperature(value["at"], f"{stem}.at") if "at" in value else number.at
    if entropic and at is not None:
        raise ParameterError(f"{where}: dS holds at no temperature; 'at' goes with k. Write k = ..., or remove 'at'.")
    return TemperatureLaw(number.number, entropic, at, parse_part(value["dH"], f"{stem}.dH", MOLAR_ENERGY), None, eyring=True)


def _reference(value: Mapping[str, Any], symbol: str, number: Written, stem: str) -> float | None:
    """The temperature at which a constant holds, K, written beside it or inside it."""
    if "at" not in value:
        return number.at
    if number.at is not None:
        inner = value[symbol]["at"]
        raise ParameterError(
            f"{stem}: two temperatures are given, at = {value['at']} beside {symbol} and at = {inner} inside {symbol} = {{ ... }}."
            " Keep one."
        )
    return parse_temperature(value["at"], f"{stem}.at")


def parse_part(value: object, where: str, expect: Dimension | None) -> Number:
    """A number that is known or estimated, and no name of another."""
    number = parse_number(value, where, expect)
    if isinstance(number, Reference):
        raise ParameterError(f"{where}: expected a quantity or a table with start, found the name '{number.name}'.")
    return number.number
