"""Reaction text and what it becomes.

    2 A + B -> C              one way; also `=>`, `→`, and `-->` between spaces
    A + B <=> C               reversible; also `<->`, `⇌` and `=` (as in Cantera)
    slow: A -> B              a name before a colon; without one: r1, r2, ...
    0.5 O2, 1/2 O2, 2 A, 2*A, 2A    coefficients; a species written twice on a side adds up
    A + K -> B + K            a catalyst stays on both sides: K counts in the rate, its net coefficient is 0
    -> A    A ->              a source, a sink; the empty side may be written 0 or ∅
    Na+ + Cl- -> NaCl(s)      a `+` with spaces around it separates; a `+` or `-` at the end of a name is a charge
    CO + * -> CO*             `*` is a free site, a `*` at the end of a name says that the species sits on one
    # ...                     a comment to the end of the line

A name begins with a letter (or a parenthesis) and holds letters, digits, `_`, `.`, `·`, `'`, `(`, `)`, and `-` before a letter or
digit. A charge (`Na+`, `SO4--`, `SO4-2`, `Fe+3`, `Fe^3+`), or `*`, and then a phase (`(aq)`, `(g)`, `(s)`, `(l)`) may end it.
Subscripts (`CO₂`) read as digits; superscripts (`Fe³⁺`) and digits of other shapes (`２`, `½`) are refused.
A newline or `;` stands *between* reactions; `;` after the last one is an error.

**Convention.** r is the rate of the event as written: dc_i/dt = nu_i r, with nu_i the net coefficient (products minus reactants). Orders
come from the reactant side, and no 1/n! is applied. So `2 A -> B` with k = 0.1 L/mol/s has r = k [A]^2, d[A]/dt = -2 k [A]^2 and
d[B]/dt = k [A]^2: from [A] = 2 mol/L, [A] is 0.4 mol/L after 10 s.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from kinetix.characters import called
from kinetix.errors import Problems, ReactionError

Side = tuple[tuple[str, float], ...]

_ARROWS = {"->": False, "=>": False, "-->": False, "→": False, "<->": True, "<=>": True, "<-->": True, "=": True, "⇌": True}
_ARROW = re.compile(r"<[-=]*>|<[-=]+|[-=]*>|=+|[→⇌←]")
_BACKWARD = {"<-", "<=", "<--", "←"}
_NOTHING = {"", "0", "∅"}

_LETTER = r"[^\W\d_]"
_PHASE = r"\([a-z]+\)"
_NAME = re.compile(rf"\*|(?:{_LETTER}|\()(?:[\w.·'′()]|-(?=\w))*(?:\^[0-9]*[+-]|[+-][0-9]+|\++|-+|\*+)?(?:{_PHASE})?")
_REACTION_NAME = re.compile(r"[^\W\d][\w-]*")
_SEPARATOR = re.compile(rf"(?:(?<=\s)|^)\+|\+(?=\*|(?:[0-9][0-9./]*\*?)?(?:{_LETTER}|\((?![a-z]+\))))")
_COEFFICIENT = re.compile(r"(?P<number>[+-]?\.?[0-9][0-9.,/]*(?:[eE][+-]?[0-9]+(?=\s|\*))?)(?P<rest>.*)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+/[0-9]*[1-9][0-9]*|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?(?P<exponent>[0-9]+))?)")
_TIDY = str.maketrans("₀₁₂₃₄₅₆₇₈₉⋅•", "0123456789··")

_LARGEST_DENOMINATOR = 10**6
_MOST_DIGITS_OF_EXPONENT = 3


@dataclass(frozen=True)
class Reaction:
    """One reaction: what an event takes and gives.

    r is the rate of the event as written, dc_i/dt = nu_i r with nu_i products minus reactants; orders come from `reactants`.

    `reactants` and `products` are (species, coefficient) pairs: coefficients above zero, a species once per side, a catalyst on both.
    `balance_checked` is False for a reaction exempt from the balance of elements and charge (`balance = "off"` in a study).
    Raises `ReactionError` for a reaction that is empty or changes nothing.

    >>> reaction = Reaction("r1", reactants=(("A", 2.0),), products=(("B", 1.0),))
    >>> print(reaction)
    r1: 2 A -> B
    """

    name: str
    reactants: Side
    products: Side
    reversible: bool = False
    balance_checked: bool = True

    def __post_init__(self) -> None:
        problems = Problems()
        if not _REACTION_NAME.fullmatch(self.name):
            problems.add(
                f"{self.name!r} cannot name a reaction: expected a letter, then letters, digits, '_' or '-', for example 'r1: A -> B'."
            )
        for side in (self.reactants, self.products):
            names = [species for species, _ in side]
            for species, coefficient in side:
                with problems.collecting(f"Reaction '{self.name}': "):
                    check_species_name(species)
                if not 0 < coefficient < float("inf"):
                    problems.add(
                        f"Reaction '{self.name}': the coefficient of '{species}' must be above zero and finite (got {coefficient:g})."
                    )
            for species in dict.fromkeys(names):
                if names.count(species) > 1:
                    problems.add(f"Reaction '{self.name}': '{species}' stands twice on one side. Give the sum of its coefficients.")
        problems.raise_if_any(ReactionError)
        if not self.reactants and not self.products:
            raise ReactionError(
                f"Reaction '{self.name}' has no species on either side. Write for example 'A -> B', '-> A' (a source) or 'A ->' (a sink)."
            )
        if not any(self.net.values()):
            raise ReactionError(
                f"Reaction '{self.name}' changes nothing: '{self.equation}' has the same species and coefficients on both sides. "
                "Leave it out, or write what it gives."
            )

    @property
    def equation(self) -> str:
        """The tidy text, without the name: `2 A -> B`."""
        arrow = "<=>" if self.reversible else "->"
        return f"{sum_text(self.reactants)} {arrow} {sum_text(self.products)}".strip()

    @property
    def species(self) -> tuple[str, ...]:
        """The distinct species, reactants first, as written."""
        return tuple(dict.fromkeys(species for species, _ in (*self.reactants, *self.products)))

    @property
    def net(self) -> dict[str, Fraction]:
        """nu_i, products minus reactants, exact, for every species of the reaction (0 for a catalyst)."""
        net = {species: Fraction(0) for species in self.species}
        for species, coefficient in self.products:
            net[species] += exact(coefficient)
        for species, coefficient in self.reactants:
            net[species] -= exact(coefficient)
        return net

    def __str__(self) -> str:
        return f"{self.name}: {self.equation}"


def parse_reaction(text: str, name: str | None = None, *, balance_checked: bool = True) -> Reaction:
    """The reaction that one reaction text spells; the module says how to write it.

    r is the rate of the event as written: `2 A -> B` with k = 0.1 L/mol/s has d[A]/dt = -2 k [A]^2.

    Arguments: `text`, for example `"A + 0.5 O2 <=> B"` or `"slow: A -> B"`; `name`, used where the text gives none (default `r1`;
    where both are given they must agree); `balance_checked`, False to exempt the reaction from `check_balance`.
    Returns a `Reaction`.
    Raises `ReactionError`, which holds every problem of the text.

    >>> parse_reaction("CO + 1/2 O2 => CO2").reactants
    (('CO', 1.0), ('O2', 0.5))
    >>> print(parse_reaction("K+A = B + K"))
    r1: K + A <=> B + K
    >>> parse_reaction("A + B")
    Traceback (most recent call last):
    ...
    kinetix.errors.ReactionError: Reaction 'r1': 'A + B' has no arrow; use '->', '=>' or '<=>', for example 'A + B -> P'.
    """
    pieces = split_reactions(text)
    fallback = name if name is not None else "r1"
    if not pieces:
        raise ReactionError(f"Reaction '{fallback}': the text is empty. Write for example 'A -> B'.")
    if len(pieces) > 1:
        raise ReactionError(f"Reaction '{fallback}': '{'; '.join(pieces)}' holds {len(pieces)} reactions; give each its own text and name.")
    label, body = _split_label(pieces[0])
    if name is not None and label is not None and label != name:
        raise ReactionError(f"Reaction '{name}': its text '{pieces[0]}' names it '{label}'. Leave '{label}:' out, or use one name.")
    return _parse_body(body, fallback if label is None else label, balance_checked)


def parse_reactions(text: str) -> tuple[Reaction, ...]:
    """The reactions of a text, with a newline or `;` between them; those without a name are called r1, r2, ... by their place.

    Raises `ReactionError`, which holds the problems of all reactions.

    >>> [reaction.name for reaction in parse_reactions("A -> B; slow: B -> C; C -> D")]
    ['r1', 'slow', 'r3']
    """
    problems = Problems()
    reactions: list[Reaction] = []
    for place, piece in enumerate(split_reactions(text), start=1):
        label, body = _split_label(piece)
        with problems.collecting():
            reactions.append(_parse_body(body, f"r{place}" if label is None else label, balance_checked=True))
    problems.raise_if_any(ReactionError)
    return tuple(reactions)


def split_reactions(text: str) -> list[str]:
    """The texts of the single reactions, without comments; a `;` that stands between no two of them stays on one, to be refused there.

    >>> split_reactions("A -> B; B -> C  # fast\\n\\nC -> D;")
    ['A -> B', 'B -> C', 'C -> D;']
    """
    pieces: list[str] = []
    for line in text.translate(_TIDY).splitlines():
        content = line.split("#", 1)[0].strip()
        if not content:
            continue
        first, *others = (piece.strip() for piece in content.split(";"))
        in_line = [first]
        for piece in others:
            if piece and in_line[-1]:
                in_line.append(piece)
            else:
                in_line[-1] += f";{piece}"
        pieces.extend(in_line)
    return pieces


def check_species_name(name: str) -> None:
    """Nothing for a usable species name; `ReactionError` (what was found, what to write) for another.

    >>> check_species_name("SO4-2(aq)")
    >>> check_species_name("*CO")
    Traceback (most recent call last):
    ...
    kinetix.errors.ReactionError: cannot read the species name '*CO': a site stands at the end. Write 'CO*'.
    """
    _check_digits(name)
    if _NAME.fullmatch(name) and _parentheses_pair(name):
        return
    found = f"cannot read the species name '{name}'"
    if not name:
        raise ReactionError("a species name is empty.")
    if "[" in name or "]" in name:
        raise ReactionError(f"{found}: in rate formulas square brackets mean a concentration. Use parentheses, or leave them out.")
    words = name.split()
    if len(words) > 1 and all(_NAME.fullmatch(word) for word in words):
        first, second = words[:2]
        either = f", or '{first} + {second}' where '{first}' is an ion" if first.endswith("+") else ""
        raise ReactionError(f"expected '+' between '{first}' and '{second}'. Write '{first.removesuffix('+')} + {second}'{either}.")
    if not _parentheses_pair(name):
        raise ReactionError(f"{found}: its parentheses do not pair.")
    if name.startswith("*"):
        raise ReactionError(f"{found}: a site stands at the end. Write '{name.strip('*')}*'.")
    raise ReactionError(
        f"{found}: expected a letter, then letters, digits or _ . ' ( ) -, with a charge (Na+, SO4-2) or a site (CO*) only at the end. "
        "Put spaces around a '+' between species."
    )


def _check_digits(name: str) -> None:
    """Superscripts, fractions and digits of other shapes would pass for letters of a name; subscripts are read as digits before."""
    for character in name:
        raised = unicodedata.decomposition(character).startswith("<super>")
        if not raised and (character.isascii() or unicodedata.category(character) not in ("Nd", "No")):
            continue
        advice = "Write a charge as in 'Fe+3' or 'SO4-2', and a number with the digits 0 to 9, as in '2 A' or 'H2O'."
        raise ReactionError(f"cannot read '{_short(name)}': its '{character}' is {called(character)}. {advice}")


def exact(coefficient: float) -> Fraction:
    """The rational number that a coefficient stands for: a fraction with a denominator up to 10^6 that rounds to it, else its digits.

    >>> exact(1 / 3), exact(0.1)
    (Fraction(1, 3), Fraction(1, 10))
    """
    simple = Fraction(coefficient).limit_denominator(_LARGEST_DENOMINATOR)
    return simple if float(simple) == coefficient else Fraction(repr(float(coefficient)))


def coefficient_text(coefficient: float | Fraction) -> str:
    """The shortest text that reads back as the same number: `2`, `0.5`, `1/3`.

    >>> [coefficient_text(value) for value in (2.0, 0.5, 1 / 3, 1e-7)]
    ['2', '0.5', '1/3', '0.0000001']
    """
    value = coefficient if isinstance(coefficient, Fraction) else exact(coefficient)
    if value.denominator == 1:
        return str(value.numerator)
    odd = value.denominator
    for prime in (2, 5):
        while odd % prime == 0:
            odd //= prime
    return f"{Decimal(repr(float(value))):f}" if odd == 1 else str(value)


def sum_text(terms: Iterable[tuple[str, float | Fraction]]) -> str:
    """A sum of species as read and printed: `A + 2 B - C`.

    >>> sum_text([("A", 1.0), ("B", 2.0), ("C", -1.0)])
    'A + 2 B - C'
    """
    text = ""
    for species, coefficient in terms:
        size = abs(coefficient)
        sign = ("- " if coefficient < 0 else "+ ") if text else ("-" if coefficient < 0 else "")
        text += f"{' ' if text else ''}{sign}{'' if size == 1 else coefficient_text(size) + ' '}{species}"
    return text


def _split_label(piece: str) -> tuple[str | None, str]:
    arrow = _ARROW.search(piece)
    label, colon, body = piece.partition(":")
    if not colon or (arrow and arrow.start() < len(label)):
        return None, piece
    return label.strip(), body.strip()


def _parse_body(body: str, name: str, balance_checked: bool) -> Reaction:
    where = f"Reaction '{name}': "
    if body.startswith(";"):
        raise ReactionError(f"{where}unexpected ';' at the start of '{body}'. ';' stands between two reactions; leave it out.")
    if ";" in body:
        stray = body[: body.index(";") + 1]
        raise ReactionError(f"{where}unexpected ';' at the end of '{stray}'. ';' stands between two reactions; leave it out.")
    left, right, reversible = _split_arrow(body, where)
    problems = Problems()
    reactants = _parse_side(left, where, problems)
    products = _parse_side(right, where, problems)
    problems.raise_if_any(ReactionError)
    return Reaction(name, reactants, products, reversible, balance_checked)


def _split_arrow(body: str, where: str) -> tuple[str, str, bool]:
    arrows = list(_ARROW.finditer(body))
    if not arrows:
        example = f", for example '{body} -> P'" if body else ""
        raise ReactionError(f"{where}'{body}' has no arrow; use '->', '=>' or '<=>'{example}.")
    for arrow in arrows:
        touches_name = arrow.start() > 0 and not body[arrow.start() - 1].isspace()
        if arrow.group() in _BACKWARD:
            raise ReactionError(
                f"{where}'{body}' runs from right to left ('{arrow.group()}'). Turn it around and use '->', or '<=>' for both ways."
            )
        if arrow.group() not in _ARROWS or (arrow.group() == "-->" and touches_name):
            raise ReactionError(
                f"{where}cannot read the arrow '{arrow.group()}' in '{body}'. Use '->', '=>' or '<=>', with spaces around it ('Cl- -> P')."
            )
    if len(arrows) > 1:
        ends = [0, *(arrow.end() for arrow in arrows)]
        starts = [*(arrow.start() for arrow in arrows), len(body)]
        sides = [body[end:start].strip() for end, start in zip(ends, starts, strict=True)]
        steps = "; ".join(f"{sides[i]} {arrow.group()} {sides[i + 1]}" for i, arrow in enumerate(arrows))
        advice = f"Write '{steps}'" if all(sides) else "Keep one of them"
        raise ReactionError(f"{where}'{body}' has {len(arrows)} arrows; a reaction has one. {advice}.")
    arrow = arrows[0]
    return body[: arrow.start()].strip(), body[arrow.end() :].strip(), _ARROWS[arrow.group()]


def _parse_side(side: str, where: str, problems: Problems) -> Side:
    if side in _NOTHING:
        return ()
    if "(+" in side:
        problems.add(
            f"{where}cannot read '(+...)' in '{side}': reaction text has no falloff notation. Leave it out and name the species only."
        )
        return ()
    amounts: dict[str, Fraction] = {}
    for term in (part.strip() for part in _SEPARATOR.split(side)):
        with problems.collecting(where):
            if not term:
                raise ReactionError(
                    f"a '+' in '{side}' has no species beside it. Write 'A + B', and an ion without a space before its sign ('Na+')."
                )
            species, coefficient = _parse_term(term)
            amounts[species] = amounts.get(species, Fraction(0)) + coefficient
    for species, amount in amounts.items():
        if not _in_range(amount):
            problems.add(f"{where}the coefficients of '{species}' in '{_short(side)}' add up to more than a number can be (1e308).")
    return tuple((species, float(amount)) for species, amount in amounts.items() if _in_range(amount))


def _parse_term(term: str) -> tuple[str, Fraction]:
    match = _COEFFICIENT.fullmatch(term)
    if not match:
        check_species_name(term)
        return term, Fraction(1)
    number, rest = match["number"], match["rest"]
    coefficient = _parse_coefficient(number, term)
    species = rest.strip()
    if species != "*" and species.startswith("*"):
        if rest[0].isspace() and not species[1].isspace():
            raise ReactionError(
                f"'{term}' may mean two things. Write '{number} {species[1:]}', or '{number} {species[1:]}*' for a species on a site."
            )
        species = species[1:].strip()
    if not species:
        raise ReactionError(
            f"the coefficient '{number}' has no species. Write for example '{number} A'; an empty side is written '0' or left blank."
        )
    if coefficient <= 0:
        raise ReactionError(
            f"the coefficient of '{species}' in '{term}' must be above zero (got {number}). Leave it out, or write it on the other side."
        )
    check_species_name(species)
    return species, coefficient


def _parse_coefficient(number: str, term: str) -> Fraction:
    match = _NUMBER.fullmatch(number)
    if not match:
        hint = " with a decimal point" if "," in number else ""
        raise ReactionError(
            f"cannot read the coefficient '{_short(number)}' in '{_short(term)}'."
            f" Write a number{hint}, a space and a name: '2 A', '0.5 O2', '1/2 O2'."
        )
    # an exponent of many digits would be minutes of exact arithmetic
    coefficient = None if len(match["exponent"] or "") > _MOST_DIGITS_OF_EXPONENT else Fraction(number)
    if coefficient is None or not _in_range(coefficient):
        raise ReactionError(
            f"the coefficient '{_short(number)}' in '{_short(term)}' is outside the range of numbers (1e-308 to 1e308)."
            " Write how many take part in one event, for example '2 A' or '0.5 O2'."
        )
    return coefficient


def _in_range(amount: Fraction) -> bool:
    """Whether a floating-point number can hold it: no overflow, and zero only for zero."""
    try:
        return amount == 0 or float(amount) != 0
    except OverflowError:
        return False


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _parentheses_pair(name: str) -> bool:
    depth = 0
    for character in name:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0
