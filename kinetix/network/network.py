"""The network: species, reactions, net stoichiometry; balance of elements and charge; conserved totals. Reaction text: see `reactions`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from kinetix.errors import Problems, ReactionError, nearest
from kinetix.network.formulas import SITE, Formula, parse_formula
from kinetix.network.reactions import Reaction, Side, check_species_name, coefficient_text, exact, parse_reactions, sum_text

_MOST_PAIRS = 20_000
_LONE_ELEMENT_ION = re.compile(r"(?P<element>[A-Z][a-z]?)(?P<digit>[1-9])(?P<sign>[+-])")


@dataclass(frozen=True, repr=False)
class Network:
    """Species and reactions: dc_i/dt = sum_j nu_ij r_j, r_j the rate of event j as written, nu_ij products minus reactants.

    `species` in the order of rows, `reactions` in the order of columns of `stoichiometry`. Hashable and comparable by value.
    Raises `ReactionError` for a repeated species or reaction name and for a reaction with a species that is not listed.

    >>> print(parse_network("A + B <=> C; slow: 2 C -> D"))
    r1:   A + B <=> C
    slow: 2 C -> D
    """

    species: tuple[str, ...]
    reactions: tuple[Reaction, ...]

    def __post_init__(self) -> None:
        problems = Problems()
        for name in self.species:
            with problems.collecting():
                check_species_name(name)
        for name in _repeated(self.species):
            problems.add(f"Species '{name}' is listed twice. List each species once.")
        for name in _repeated(reaction.name for reaction in self.reactions):
            same = [reaction.equation for reaction in self.reactions if reaction.name == name]
            problems.add(f"Reaction name '{name}' is used {len(same)} times ({'; '.join(same)}). Give each reaction a name of its own.")
        for reaction in self.reactions:
            for name in reaction.species:
                if name not in self.species:
                    known = f"known species: {', '.join(self.species)}"
                    problems.add(f"Reaction '{reaction.name}': unknown species '{name}' ({known}).{nearest(name, self.species)}")
        problems.raise_if_any(ReactionError)

    @classmethod
    def of(cls, reactions: Iterable[Reaction], species: Iterable[str] | None = None) -> Network:
        """The network of given reactions, with species in the order of `species`, else of first appearance; balance is not checked.

        >>> Network.of(parse_reactions("B -> C; A -> B")).species
        ('B', 'C', 'A')
        """
        kept = tuple(reactions)
        if species is None:
            species = dict.fromkeys(name for reaction in kept for name in reaction.species)
        elif isinstance(species, str):
            raise ReactionError(f"species = '{species}' is one text; give a list of names, for example ['A', 'B'].")
        return cls(tuple(species), kept)

    @cached_property
    def stoichiometry(self) -> np.ndarray:
        """Net coefficients nu (species, reaction), products minus reactants; read-only.

        >>> parse_network("2 A -> B").stoichiometry
        array([[-2.],
               [ 1.]])
        """
        nu = np.array([[float(value) for value in row] for row in _exact_stoichiometry(self)]).reshape(
            len(self.species), len(self.reactions)
        )
        nu.flags.writeable = False
        return nu

    def index(self, name: str) -> int:
        """The row of a species; `ReactionError` with the nearest name for an unknown one."""
        if name not in self.species:
            raise ReactionError(f"No species '{name}' in the network; it has {', '.join(self.species)}.{nearest(name, self.species)}")
        return self.species.index(name)

    def reaction_index(self, name: str) -> int:
        """The column of a reaction; `ReactionError` with the nearest name for an unknown one."""
        names = [reaction.name for reaction in self.reactions]
        if name not in names:
            raise ReactionError(f"No reaction '{name}' in the network; it has {', '.join(names)}.{nearest(name, names)}")
        return names.index(name)

    def __str__(self) -> str:
        width = max((len(reaction.name) for reaction in self.reactions), default=0) + 1
        return "\n".join(f"{reaction.name + ':':<{width}} {reaction.equation}" for reaction in self.reactions)

    def __repr__(self) -> str:
        return str(self)


def parse_network(text: str, *, formulas: bool | None = None, species: Iterable[str] | None = None) -> Network:
    """The network that reaction text spells, balanced where its names are formulas.

    A newline or `;` stands between reactions, `#` begins a comment; `kinetix.network.reactions` says all that may be written.
    r is the rate of the event as written, dc_i/dt = nu_i r: `2 A -> B` with k = 0.1 L/mol/s has d[A]/dt = -2 k [A]^2.

    Arguments: `text`; `formulas`, see `check_balance`; `species`, the species in the wanted order (a name outside it is then an error, one
    that no reaction uses is inert), by default those of the reactions in the order of first appearance.
    Returns a `Network`.
    Raises `ReactionError`, which holds every problem of the text.

    >>> parse_network("A -> B; B -> C").species
    ('A', 'B', 'C')
    >>> parse_network("CH4 + O2 -> CO2 + H2O")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    kinetix.errors.ReactionError: Reaction 'r1' is not balanced: H 4 -> 2, O 2 -> 3. Did you mean CH4 + 2 O2 -> CO2 + 2 H2O? ...
    """
    if not isinstance(text, str):
        raise ReactionError(f'parse_network takes the reactions as one text, found {text!r}. Write "A -> B; B -> C", or "\\n".join(...).')
    reactions = parse_reactions(text)
    if not reactions:
        raise ReactionError("The reaction text holds no reaction. Write for example 'A -> B; B -> C'.")
    network = Network.of(reactions, species)
    check_balance(network, formulas)
    return network


def check_balance(network: Network, formulas: bool | None = None) -> None:
    """Nothing where each reaction keeps every element and the charge; `ReactionError` naming elements and counts elsewhere.

    Reactions with an empty side (sources, sinks) and those with `balance_checked=False` take no part.

    Arguments: `formulas`
        None   check if *every* name in the reactions that take part reads as a formula and at least one of these has two atoms or more, so
               that `A -> B` and `B -> C` are labels, not boron and carbon; one label in them, and no reaction of the network is checked
        True   check; a name that is no formula is an error
        False  do not check
    Surface sites are balanced where the free site `*` is a species of the network. Coefficients are compared exactly: write 1/3, not 0.333.

    >>> check_balance(parse_network("MnO4- + 5 Fe+2 + 8 H+ -> Mn+2 + 5 Fe+3 + 4 H2O"))
    >>> check_balance(parse_network("Fe+2 -> Fe+3", formulas=False), formulas=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    kinetix.errors.ReactionError: Reaction 'r1' is not balanced: charge +2 -> +3. If its species are lumped, ...
    """
    if formulas is False:
        return
    checked = [reaction for reaction in network.reactions if reaction.balance_checked and reaction.reactants and reaction.products]
    problems = Problems()
    known: dict[str, Formula] = {}
    for name, reaction in _first_uses(checked).items():
        try:
            known[name] = parse_formula(name)
        except ReactionError as error:
            advice = 'Write balance = "off" for this reaction, or leave formulas out'
            problems.add(f"Reaction '{reaction.name}': formulas = true, but {error} {advice}.")
    if formulas is None and (problems.found or all(formula.atoms < 2 for formula in known.values())):
        return
    problems.raise_if_any(ReactionError)
    for reaction in checked:
        unbalanced = _unbalanced(reaction, known, count_sites=SITE in network.species)
        if unbalanced:
            problems.add(_balance_message(reaction, unbalanced, known))
    problems.raise_if_any(ReactionError)


def conserved_totals(network: Network) -> list[tuple[str, np.ndarray]]:
    """The sums of amounts that no reaction changes: an integer basis of w with w . nu = 0, exact, as readable as can be had.

    Sums without negative coefficients are preferred, small ones first; a difference such as `A - B` appears only where no such sum is left.
    A species that no reaction changes is a total of its own. Deterministic.

    Returns (text, w) pairs with w a float64 array (species) of integers, `[]` where nothing is conserved.

    >>> [text for text, _ in conserved_totals(parse_network("A + B <=> C; C -> D"))]
    ['A + C + D', 'B + C + D']
    >>> conserved_totals(parse_network("2 A -> B"))
    [('A + 2 B', array([1., 2.]))]

    Source: elementary non-negative invariants by Farkas' elimination (J. Colom and M. Silva, Advances in Petri Nets 1990, LNCS 483, 79),
    over the rationals; an echelon basis where those do not span or are too many.
    """
    nu = _exact_stoichiometry(network)
    columns = list(zip(*nu, strict=True))
    independent = [columns[pivot] for pivot in _echelon(nu)[1]]
    basis = _null_space(independent, len(network.species))
    candidates = sorted(_non_negative_totals(independent, len(network.species)), key=_readability) + basis
    chosen: list[list[int]] = []
    for candidate in candidates:
        if len(chosen) < len(basis) and len(_echelon([*_fractions(chosen), *_fractions([candidate])])[1]) > len(chosen):
            chosen.append(candidate)
    chosen.sort(reverse=True)
    return [(_total_text(network.species, total), np.array(total, dtype=np.float64)) for total in chosen]


def _repeated(names: Iterable[str]) -> list[str]:
    seen = list(names)
    return [name for name in dict.fromkeys(seen) if seen.count(name) > 1]


def _exact_stoichiometry(network: Network) -> list[list[Fraction]]:
    nets = [reaction.net for reaction in network.reactions]
    return [[net.get(name, Fraction(0)) for net in nets] for name in network.species]


def _first_uses(reactions: Iterable[Reaction]) -> dict[str, Reaction]:
    uses: dict[str, Reaction] = {}
    for reaction in reactions:
        for name in reaction.species:
            uses.setdefault(name, reaction)
    return uses


def _unbalanced(reaction: Reaction, known: dict[str, Formula], *, count_sites: bool) -> list[str]:
    """What differs between the sides, in words: elements in Hill order, then sites, then charge."""
    before, after = (_contents(side, known) for side in (reaction.reactants, reaction.products))
    elements = sorted((set(before) | set(after)) - {"charge"}, key=_hill_order)
    differences: list[str] = []
    for element in elements:
        left, right = before.get(element, Fraction(0)), after.get(element, Fraction(0))
        if left != right and (element != SITE or count_sites):
            label = "sites (*)" if element == SITE else element
            differences.append(f"{label} {coefficient_text(left)} -> {coefficient_text(right)}")
    if before["charge"] != after["charge"]:
        differences.append(f"charge {_charge_text(before['charge'])} -> {_charge_text(after['charge'])}")
    return differences


def _contents(side: Side, known: dict[str, Formula]) -> dict[str, Fraction]:
    contents: dict[str, Fraction] = {"charge": Fraction(0)}
    for name, coefficient in side:
        for element, count in _rows(known[name]).items():
            contents[element] = contents.get(element, Fraction(0)) + exact(coefficient) * count
    return contents


def _rows(formula: Formula) -> dict[str, Fraction]:
    return {**dict(formula.elements), "charge": Fraction(formula.charge)}


def _hill_order(element: str) -> tuple[int, str]:
    return {"C": 0, "H": 1, SITE: 3}.get(element, 2), element


def _charge_text(charge: Fraction) -> str:
    return f"+{coefficient_text(charge)}" if charge > 0 else coefficient_text(charge)


def _balance_message(reaction: Reaction, unbalanced: list[str], known: dict[str, Formula]) -> str:
    message = f"Reaction '{reaction.name}' is not balanced: {', '.join(unbalanced)}."
    balanced = _balanced_equation(reaction, known)
    if balanced:
        message += f" Did you mean {balanced}?"
    for name in reaction.species:
        ion = _LONE_ELEMENT_ION.fullmatch(name)
        if ion:
            element, digit, sign = ion.groups()
            message += (
                f" ('{name}' reads as {digit} {element} with charge {sign}1; write '{element}{sign}{digit}' for charge {sign}{digit}.)"
            )
    return message + ' If its species are lumped, write balance = "off" for this reaction, or formulas = false for the whole study.'


def _balanced_equation(reaction: Reaction, known: dict[str, Formula]) -> str:
    """The equation with the smallest integers that balance it, where unique, else an empty text; a catalyst keeps its coefficient."""
    net = reaction.net
    catalysts = {name for name, change in net.items() if change == 0}
    left = [name for name, _ in reaction.reactants if name not in catalysts]
    right = [name for name, _ in reaction.products if name not in catalysts]
    if set(left) & set(right):
        return ""
    elements = sorted({row for name in (*left, *right) for row in _rows(known[name])})
    signs = [(name, 1) for name in left] + [(name, -1) for name in right]
    null_space = _null_space(
        [[sign * _rows(known[name]).get(element, Fraction(0)) for name, sign in signs] for element in elements], len(signs)
    )
    if len(null_space) != 1 or min(null_space[0]) <= 0:
        return ""
    amounts = {name: float(amount) for (name, _), amount in zip(signs, null_space[0], strict=True)}

    def rewritten(side: Side) -> Side:
        return tuple((name, amounts.get(name, coefficient)) for name, coefficient in side)

    return Reaction(reaction.name, rewritten(reaction.reactants), rewritten(reaction.products), reaction.reversible).equation


def _fractions(rows: Iterable[Sequence[int]]) -> list[list[Fraction]]:
    return [[Fraction(value) for value in row] for row in rows]


def _echelon(rows: Iterable[Sequence[Fraction]]) -> tuple[list[list[Fraction]], list[int]]:
    """The reduced row echelon form without its zero rows, and the pivot columns."""
    left = [list(row) for row in rows]
    reduced: list[list[Fraction]] = []
    pivots: list[int] = []
    for column in range(len(left[0]) if left else 0):
        row = next((row for row in left if row[column]), None)
        if row is None:
            continue
        left.remove(row)
        pivot_row = [value / row[column] for value in row]
        left = [_eliminate(other, pivot_row, column) for other in left]
        reduced = [_eliminate(other, pivot_row, column) for other in reduced] + [pivot_row]
        pivots.append(column)
    return reduced, pivots


def _eliminate(row: list[Fraction], pivot_row: list[Fraction], column: int) -> list[Fraction]:
    factor = row[column]
    return [value - factor * pivot for value, pivot in zip(row, pivot_row, strict=True)] if factor else row


def _null_space(rows: Sequence[Sequence[Fraction]], width: int) -> list[list[int]]:
    """An integer basis of the vectors that every row maps to zero: coprime entries, the first one above zero."""
    reduced, pivots = _echelon(rows)
    basis: list[list[int]] = []
    for free in (column for column in range(width) if column not in pivots):
        vector = [Fraction(0)] * width
        vector[free] = Fraction(1)
        for row, pivot in zip(reduced, pivots, strict=True):
            vector[pivot] = -row[free]
        basis.append(_coprime(vector))
    return basis


def _coprime(vector: Sequence[Fraction]) -> list[int]:
    scale = math.lcm(*(value.denominator for value in vector))
    integers = [int(value * scale) for value in vector]
    divisor = math.gcd(*integers)
    first = next(value for value in integers if value)
    return [value // (divisor if first > 0 else -divisor) for value in integers]


def _non_negative_totals(columns: Sequence[Sequence[Fraction]], width: int) -> list[list[int]]:
    """All w >= 0 of minimal support with w . column = 0 for every column; none where there are too many on the way."""
    rays = [[int(place == row) for place in range(width)] for row in range(width)]
    waiting = [_coprime(column) for column in columns]
    while waiting:
        column = min(waiting, key=lambda candidate: _pairs(rays, candidate))
        if _pairs(rays, column) > _MOST_PAIRS:
            return []
        waiting.remove(column)
        rays = _cancel(rays, column)
    return rays


def _dot(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True) if a and b)


def _pairs(rays: list[list[int]], column: list[int]) -> int:
    changes = [_dot(ray, column) for ray in rays]
    return sum(change > 0 for change in changes) * sum(change < 0 for change in changes)


def _cancel(rays: list[list[int]], column: list[int]) -> list[list[int]]:
    """The extreme rays of the cone of `rays` within w . column = 0."""
    kept: list[list[int]] = []
    rising: list[tuple[list[int], int]] = []
    falling: list[tuple[list[int], int]] = []
    for ray in rays:
        change = _dot(ray, column)
        if change == 0:
            kept.append(ray)
        else:
            (rising if change > 0 else falling).append((ray, abs(change)))
    for up, rise in rising:
        for down, fall in falling:
            kept.append(_coprime([Fraction(fall * a + rise * b) for a, b in zip(up, down, strict=True)]))
    return _minimal_support(kept)


def _minimal_support(rays: list[list[int]]) -> list[list[int]]:
    """The rays whose support holds no other ray's support; supports are compared as bit masks."""
    by_support = {sum(1 << place for place, value in enumerate(ray) if value): ray for ray in rays}
    minimal: dict[int, list[int]] = {}
    for support in sorted(by_support, key=lambda mask: (mask.bit_count(), mask)):
        if not any(smaller & support == smaller for smaller in minimal):
            minimal[support] = by_support[support]
    return list(minimal.values())


def _readability(total: list[int]) -> tuple[int, int, list[int]]:
    return sum(total), sum(1 for value in total if value), [-value for value in total]


def _total_text(species: Sequence[str], total: Sequence[int]) -> str:
    return sum_text((name, Fraction(weight)) for name, weight in zip(species, total, strict=True) if weight)
