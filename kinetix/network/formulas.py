"""Element formulas and charges read from species names: `H2O`, `SO4-2`, `Ca(OH)2(s)`, `CuSO4·5H2O`, `CO*`, `e-`.

elements      symbols of the 118 elements, and D for deuterium, counted apart from H
groups        Ca(OH)2, Fe4(Fe(CN)6)3
counts        integers or decimals: CH1.8O0.5N0.2
adducts       CuSO4·5H2O; an ASCII dot is an adduct before water at the end (CuSO4.5H2O) or where it is no decimal point (NH3.HCl)
charges       at the end: Na+  SO4--  SO4-2  Fe+3  Fe^3+    (Fe3+ is three iron atoms with one charge)
electron      e-
phases        a last group in small letters is no part of the formula: (aq) (g) (s) (l)
radicals      a last dot is no part of the formula: CH3.  CH3·
sites         * alone is a free surface site, CO* is CO on one site
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from kinetix.errors import ReactionError

SITE = "*"

_TABLE = """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr
    Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu
    Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr
    Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og
"""
ELEMENTS = frozenset(_TABLE.split())
_SYMBOLS = ELEMENTS | {"D"}

_PHASE = re.compile(r"\([a-z]+\)$")
_CHARGE = re.compile(r"(?:\^(?P<before>[0-9]*)(?P<caret>[+-])|(?P<sign>[+-])(?P<after>[0-9]+)|(?P<run>\++|-+))$")
_SITES = re.compile(r"\*+$")
_COUNT = r"[0-9]+(?:\.[0-9]+)?"
_HYDRATE = re.compile(rf"(?P<salt>.+?)\.(?P<water>(?:{_COUNT})?H2O)")
_ADDUCT = re.compile(r"·|(?<![0-9])\.|\.(?![0-9])")
_MULTIPLE = re.compile(rf"(?P<count>{_COUNT})?(?P<formula>.*)", re.DOTALL)
_TOKEN = re.compile(rf"(?P<symbol>[A-Z][a-z]?)(?P<atoms>{_COUNT})?|(?P<open>\()|(?P<close>\))(?P<groups>{_COUNT})?")


@dataclass(frozen=True)
class Formula:
    """What a formula holds: atoms of each element (and sites, `*`) in alphabetical order, and the charge in elementary charges."""

    elements: tuple[tuple[str, Fraction], ...]
    charge: int = 0

    @property
    def atoms(self) -> Fraction:
        """The number of atoms; sites and electrons are none."""
        return sum((count for symbol, count in self.elements if symbol != SITE), Fraction(0))


def parse_formula(name: str) -> Formula:
    """The elements and the charge that a species name spells.

    Arguments: `name`, a species name as in reaction text (the module says what a formula may hold).
    Returns a `Formula`.
    Raises `ReactionError` where the name is no formula: a label such as `A`, `solvent` or `AR`.

    >>> parse_formula("Ca(OH)2(s)")
    Formula(elements=(('Ca', Fraction(1, 1)), ('H', Fraction(2, 1)), ('O', Fraction(2, 1))), charge=0)
    >>> parse_formula("SO4-2").charge, parse_formula("Fe+3").charge, parse_formula("e-").charge
    (-2, 3, -1)
    >>> parse_formula("AR")
    Traceback (most recent call last):
    ...
    kinetix.errors.ReactionError: 'AR' is no formula: no element symbol at 'AR'. Did you mean 'Ar'?
    """
    body = _PHASE.sub("", name)
    body, charge = _split_charge(body)
    if body == "e" and charge == -1:
        return Formula((), -1)
    counts: dict[str, Fraction] = {}
    sites = _SITES.search(body)
    if sites:
        counts[SITE] = Fraction(len(sites.group()))
        body = body[: sites.start()]
    body = body.rstrip(".·")
    if not body and not sites:
        raise ReactionError(f"{name!r} is no formula: it names no element.")
    for part in _adducts(body):
        for symbol, count in _atoms(part, name):
            counts[symbol] = counts.get(symbol, Fraction(0)) + count
    return Formula(tuple(sorted(counts.items())), charge)


def _split_charge(body: str) -> tuple[str, int]:
    match = _CHARGE.search(body)
    if not match:
        return body, 0
    if match["run"]:
        size, sign = len(match["run"]), match["run"][0]
    elif match["caret"]:
        size, sign = int(match["before"] or 1), match["caret"]
    else:
        size, sign = int(match["after"]), match["sign"]
    return body[: match.start()], size if sign == "+" else -size


def _adducts(body: str) -> list[str]:
    if not body:
        return []
    hydrate = _HYDRATE.fullmatch(body)
    if hydrate:
        return [*_ADDUCT.split(hydrate["salt"]), hydrate["water"]]
    return _ADDUCT.split(body)


def _atoms(part: str, name: str) -> Iterator[tuple[str, Fraction]]:
    """The atoms of one adduct part such as `5H2O`, element by element."""
    multiple = _MULTIPLE.fullmatch(part)
    assert multiple is not None
    formula = multiple["formula"]
    open_groups: list[dict[str, Fraction]] = [{}]
    position = 0
    while position < len(formula):
        token = _TOKEN.match(formula, position)
        if token is None or (token["symbol"] and token["symbol"] not in _SYMBOLS):
            raise ReactionError(_no_symbol(name, formula[position:]))
        if token["open"]:
            open_groups.append({})
        elif token["close"]:
            if len(open_groups) == 1 or not open_groups[-1]:
                raise ReactionError(f"{name!r} is no formula: its parentheses do not pair or are empty.")
            group = open_groups.pop()
            for symbol, count in group.items():
                _add(open_groups[-1], symbol, count * _count(token["groups"], name))
        else:
            _add(open_groups[-1], token["symbol"], _count(token["atoms"], name))
        position = token.end()
    if len(open_groups) > 1 or not open_groups[0]:
        raise ReactionError(f"{name!r} is no formula: its parentheses do not pair, or a part of it is empty.")
    for symbol, count in open_groups[0].items():
        yield symbol, count * _count(multiple["count"], name)


def _add(counts: dict[str, Fraction], symbol: str, count: Fraction) -> None:
    counts[symbol] = counts.get(symbol, Fraction(0)) + count


def _count(text: str | None, name: str) -> Fraction:
    count = Fraction(text or 1)
    if count == 0:
        raise ReactionError(f"{name!r} is no formula: it counts an atom or group 0 times.")
    return count


def _no_symbol(name: str, rest: str) -> str:
    message = f"{name!r} is no formula: no element symbol at {rest!r}."
    return message + (f" Did you mean '{name.capitalize()}'?" if name.capitalize() in ELEMENTS and name != name.capitalize() else "")
