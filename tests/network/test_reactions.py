"""Reaction text: what it reads as, and what it is refused for."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetix.errors import ReactionError
from kinetix.network.network import parse_network
from kinetix.network.reactions import Reaction, coefficient_text, exact, parse_reaction, parse_reactions, split_reactions

# Texts of the bad inputs b17, b19, b21 and b23, and the words that their messages must hold ("x|y": either).
BAD_INPUTS = [
    ("A + B", None, ["r1", "A + B", "arrow|->"]),
    ("2.5.1 A -> B", None, ["r1", "2.5.1"]),
    ("CH4 + O2 -> CO2 + H2O", True, ["r1", "balance", "H", "O"]),
    ("A -> B;", None, ["r1", ";"]),
]


@pytest.mark.parametrize(("text", "formulas", "words"), BAD_INPUTS)
def test_bad_inputs(text: str, formulas: bool | None, words: list[str]) -> None:
    with pytest.raises(ReactionError) as caught:
        parse_network(text, formulas=formulas)
    message = str(caught.value).casefold()
    for word in words:
        assert any(choice.casefold() in message for choice in word.split("|")), word


@pytest.mark.parametrize("case", ["b17", "b19", "b21", "b23"])
def test_bad_input_texts_are_those_of_the_cases(case: str) -> None:
    path = Path(__file__).parents[3] / "shared" / "cases" / "pains" / "bad-inputs" / f"{case}.json"
    if not path.exists():
        pytest.skip("the cases folder is absent")
    given_input = json.loads(path.read_text())
    assert given_input["reactions"][0]["equation"] in [text for text, _, _ in BAD_INPUTS]


def sides(text: str) -> tuple[dict[str, float], dict[str, float]]:
    reaction = parse_reaction(text)
    return dict(reaction.reactants), dict(reaction.products)


@pytest.mark.parametrize(
    ("arrow", "reversible"),
    [("->", False), ("=>", False), ("→", False), ("-->", False), ("<->", True), ("<=>", True), ("=", True), ("⇌", True), ("<-->", True)],
)
def test_arrows(arrow: str, reversible: bool) -> None:
    assert parse_reaction(f"A {arrow} B") == Reaction("r1", (("A", 1.0),), (("B", 1.0),), reversible)


@pytest.mark.parametrize("text", ["A->B", "A=>B", "A→B", "  A  ->  B  ", "A -> B # comment", "# before\n\nA -> B\n", "r1: A -> B"])
def test_spaces_and_comments_do_not_matter(text: str) -> None:
    assert parse_reaction(text) == parse_reaction("A -> B")


@pytest.mark.parametrize(
    ("term", "coefficient"),
    [
        ("2 A", 2.0),
        ("2*A", 2.0),
        ("2 * A", 2.0),
        ("2A", 2.0),
        ("0.5 A", 0.5),
        (".5 A", 0.5),
        ("2. A", 2.0),
        ("1/2 A", 0.5),
        ("1/3 A", 1 / 3),
        ("1e-3 A", 1e-3),
        ("1.5A", 1.5),
    ],
)
def test_coefficients(term: str, coefficient: float) -> None:
    assert sides(f"{term} -> B") == ({"A": coefficient}, {"B": 1.0})


def test_repeated_species_add_up_exactly() -> None:
    assert sides("0.1 A + B + 0.2 A -> C") == ({"A": 0.3, "B": 1.0}, {"C": 1.0})


def test_catalyst_stays_on_both_sides() -> None:
    reaction = parse_reaction("A + K -> B + K")
    assert dict(reaction.reactants) == {"A": 1.0, "K": 1.0}
    assert reaction.net == {"A": -1, "K": 0, "B": 1}
    assert reaction.species == ("A", "K", "B")


def test_autocatalysis() -> None:
    assert parse_reaction("B + B -> B + C").net == {"B": -1, "C": 1}


@pytest.mark.parametrize("text", ["-> A", "0 -> A", "∅ -> A"])
def test_source(text: str) -> None:
    assert sides(text) == ({}, {"A": 1.0})


@pytest.mark.parametrize("text", ["A ->", "A -> 0", "A -> ∅"])
def test_sink(text: str) -> None:
    assert sides(text) == ({"A": 1.0}, {})


@pytest.mark.parametrize(
    ("side", "names"),
    [
        ("Na+ + Cl-", ["Na+", "Cl-"]),
        ("Na+(aq) + OH-(aq)", ["Na+(aq)", "OH-(aq)"]),
        ("Fe+3 + SO4-2", ["Fe+3", "SO4-2"]),
        ("Fe^3+ + SO4--", ["Fe^3+", "SO4--"]),
        ("A+B", ["A", "B"]),
        ("A +B", ["A", "B"]),
        ("A+2B", ["A", "B"]),
        ("Ca++ + e-", ["Ca++", "e-"]),
        ("Ca+++Cl-", ["Ca++", "Cl-"]),
        ("(CH3)2CO+H2", ["(CH3)2CO", "H2"]),
        ("A+(CH3)2CO", ["A", "(CH3)2CO"]),
        ("CO + *", ["CO", "*"]),
        ("CO+*", ["CO", "*"]),
        ("CO* + O*", ["CO*", "O*"]),
        ("2 * + O2", ["*", "O2"]),
        ("CuSO4·5H2O + NH3.HCl", ["CuSO4·5H2O", "NH3.HCl"]),
        ("A' + B_2", ["A'", "B_2"]),
        ("n-C4H10 + trans-2-butene", ["n-C4H10", "trans-2-butene"]),
        ("CO₂ + α", ["CO2", "α"]),
        ("H2O(g) + NaCl(s)", ["H2O(g)", "NaCl(s)"]),
    ],
)
def test_names(side: str, names: list[str]) -> None:
    assert [species for species, _ in parse_reaction(f"{side} -> P").reactants] == names


def test_sites_take_coefficients() -> None:
    assert sides("2 * + O2 -> 2 O*") == ({"*": 2.0, "O2": 1.0}, {"O*": 2.0})


def test_arrow_beside_a_charge() -> None:
    assert sides("SO4-2->X") == ({"SO4-2": 1.0}, {"X": 1.0})
    assert sides("OH- --> X") == ({"OH-": 1.0}, {"X": 1.0})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty", "A -> B"]),
        ("A -> B -> C", ["2 arrows", "A -> B; B -> C"]),
        ("A <=> B -> C", ["A <=> B; B -> C"]),
        ("A ->-> B", ["2 arrows", "Keep one"]),
        ("A <- B", ["right to left", "Turn it around"]),
        ("A == B", ["cannot read the arrow '=='"]),
        ("OH-->X", ["cannot read the arrow '-->'", "spaces around it"]),
        ("0 A -> B", ["coefficient of 'A'", "above zero", "got 0"]),
        ("A -> -2 B", ["coefficient of 'B'", "above zero", "got -2"]),
        ("1/0 A -> B", ["'1/0'", "1/2 O2"]),
        ("0,5 A -> B", ["'0,5'", "decimal point"]),
        ("1e999 A -> B", ["'1e999'", "range"]),
        ("1e-999 A -> B", ["'1e-999'", "range"]),
        ("1e9999 A -> B", ["'1e9999'", "range", "'2 A'"]),
        ("1e-999999999999 A -> B", ["'1e-999999999999'", "range"]),
        ("1e308 A + 1e308 A -> B", ["coefficients of 'A'", "add up"]),
        ("A² -> B", ["'A²'", "SUPERSCRIPT TWO (U+00B2)", "H2O"]),
        ("2² A -> B", ["SUPERSCRIPT TWO (U+00B2)", "'2 A'"]),
        ("Fe³⁺ -> B", ["SUPERSCRIPT THREE (U+00B3)", "'Fe+3'"]),
        ("Na⁺ -> B", ["SUPERSCRIPT PLUS SIGN (U+207A)", "'SO4-2'"]),
        ("A -> ２ B", ["FULLWIDTH DIGIT TWO (U+FF12)", "digits 0 to 9"]),
        ("A２ -> B", ["FULLWIDTH DIGIT TWO (U+FF12)"]),
        ("½ O2 -> O", ["VULGAR FRACTION ONE HALF (U+00BD)"]),
        ("A + -> B", ["'A +'", "no species beside it"]),
        ("+ A -> B", ["'+ A'", "no species beside it"]),
        ("A + 2 -> B", ["'2' has no species"]),
        ("->", ["no species on either side", "-> A"]),
        ("0 -> 0", ["no species on either side"]),
        ("A -> A", ["changes nothing"]),
        ("A + K -> K + A", ["changes nothing"]),
        ("0.1 A + 0.2 A <=> 0.3 A", ["changes nothing"]),
        ("A B -> C", ["expected '+' between 'A' and 'B'", "A + B"]),
        ("Na+ Cl- -> NaCl", ["'Na + Cl-'", "'Na+ + Cl-'", "ion"]),
        ("2 3 A -> B", ["'3 A'"]),
        ("[A] -> B", ["square brackets", "concentration"]),
        ("A(s -> B", ["parentheses"]),
        ("A)( -> B", ["parentheses"]),
        ("*CO -> A", ["'CO*'"]),
        ("2 *CO -> A", ["two things", "'2 CO*'"]),
        ("A*B -> C", ["'A*B'"]),
        ("2 OH (+M) -> H2O2 (+M)", ["(+", "no falloff notation"]),
        ("A -> B; B -> C", ["2 reactions"]),
        ("A -> B\nB -> C", ["2 reactions"]),
        ("; A -> B", ["unexpected ';' at the start"]),
        ("first step: A -> B", ["'first step'", "cannot name a reaction"]),
        (": A -> B", ["cannot name a reaction"]),
    ],
)
def test_refusals(text: str, words: list[str]) -> None:
    with pytest.raises(ReactionError) as caught:
        parse_reaction(text)
    for word in words:
        assert word in str(caught.value)


def test_both_sides_are_reported_at_once() -> None:
    with pytest.raises(ReactionError) as caught:
        parse_reaction("2.5.1 A + [B] -> 0 C", "slow")
    assert len(caught.value.problems) == 3
    assert all(problem.startswith("Reaction 'slow': ") for problem in caught.value.problems)


def test_a_coefficient_of_a_thousand_digits_is_told_in_one_line() -> None:
    with pytest.raises(ReactionError, match="range of numbers") as caught:
        parse_reaction(f"1{'0' * 1000} A -> B")
    assert len(str(caught.value)) < 400


def test_trailing_semicolon_exact_message() -> None:
    for parse in (lambda: parse_reaction("A -> B;", "r1"), lambda: parse_network("A -> B;")):
        with pytest.raises(ReactionError, match=r"^Reaction 'r1': unexpected ';' at the end of 'A -> B;'"):
            parse()


@pytest.mark.parametrize(
    ("text", "where"), [("A -> B; B -> C;", "'r2'"), ("A -> B;\nB -> C", "'r1'"), ("A -> B;; B -> C", "'r1'"), ("A -> B; # last", "'r1'")]
)
def test_semicolons_stand_between_reactions(text: str, where: str) -> None:
    with pytest.raises(ReactionError, match=rf"Reaction {where}: unexpected ';'"):
        parse_reactions(text)


def test_names_of_reactions() -> None:
    reactions = parse_reactions("A -> B\n\nslow: B -> C; C -> D  # fast; not a reaction\n")
    assert [(reaction.name, reaction.equation) for reaction in reactions] == [("r1", "A -> B"), ("slow", "B -> C"), ("r3", "C -> D")]


def test_given_name_and_name_in_text_must_agree() -> None:
    assert parse_reaction("slow: A -> B").name == "slow"
    assert parse_reaction("slow: A -> B", "slow").name == "slow"
    with pytest.raises(ReactionError, match="names it 'slow'"):
        parse_reaction("slow: A -> B", "r1")


def test_reaction_checks_what_it_is_given() -> None:
    with pytest.raises(ReactionError, match="above zero"):
        Reaction("r1", (("A", 0.0),), (("B", 1.0),))
    with pytest.raises(ReactionError, match="stands twice"):
        Reaction("r1", (("A", 1.0), ("A", 1.0)), (("B", 1.0),))
    with pytest.raises(ReactionError, match="cannot read the species name"):
        Reaction("r1", (("2A", 1.0),), (("B", 1.0),))


coefficients = st.one_of(
    st.integers(1, 20).map(float),
    st.floats(1e-9, 1e9),
    st.tuples(st.integers(1, 50), st.integers(1, 50)).map(lambda pair: pair[0] / pair[1]),
)
species_names = st.from_regex(
    r"\A[A-Za-zα-ω][A-Za-z0-9_'.·]{0,4}(\([A-Z]\))?(-[a-z0-9]+)?(\+{1,3}|-{1,3}|[+-][1-9]|\^[1-9][+-]|\*)?(\((aq|g|s|l)\))?\Z"
)
some_sides = st.dictionaries(st.one_of(species_names, st.just("*")), coefficients, max_size=4).map(lambda side: tuple(side.items()))


@settings(deadline=None)
@given(reactants=some_sides, products=some_sides, reversible=st.booleans(), name=st.from_regex(r"\A[a-z][A-Za-z0-9_-]{0,6}\Z"))
def test_printed_reaction_reads_back_equal(reactants, products, reversible, name) -> None:
    try:
        reaction = Reaction(name, reactants, products, reversible)
    except ReactionError as error:
        assert "on either side" in str(error) or "changes nothing" in str(error)
        return
    assert parse_reaction(str(reaction)) == reaction
    assert parse_reactions(str(reaction)) == (reaction,)


@settings(deadline=None)
@given(coefficients)
def test_coefficient_text_reads_back(coefficient: float) -> None:
    assert float(Fraction(coefficient_text(coefficient))) == coefficient
    assert float(exact(coefficient)) == coefficient


@settings(deadline=None)
@given(st.text(alphabet="AB2.5/*+-<>=;:#()[]^' \n→0∅", max_size=14))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        reactions = parse_reactions(text)
    except ReactionError as error:
        assert error.problems
    else:
        assert len(reactions) == len(split_reactions(text))
        assert parse_reactions("\n".join(map(str, reactions))) == reactions
