"""The network: order, stoichiometry, balance, conserved totals."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetix.errors import ReactionError
from kinetix.network.network import Network, check_balance, conserved_totals, parse_network
from kinetix.network.reactions import Reaction, parse_reaction, parse_reactions


def totals(text: str, **options: Any) -> list[str]:
    return [total for total, _ in conserved_totals(parse_network(text, **options))]


def test_species_in_order_of_first_appearance() -> None:
    assert parse_network("B + A -> C; D -> A").species == ("B", "A", "C", "D")


def test_species_in_given_order_with_inert_ones() -> None:
    network = parse_network("A -> B", species=["I", "B", "A"])
    assert network.species == ("I", "B", "A")
    np.testing.assert_array_equal(network.stoichiometry, [[0.0], [1.0], [-1.0]])


def test_stoichiometry_is_net_float64_and_read_only() -> None:
    nu = parse_network("2 A -> B; A + K -> 1/2 C + K; 0.1 C + 0.2 C <=> 0.3 B").stoichiometry
    assert nu.dtype == np.float64
    np.testing.assert_array_equal(nu, [[-2.0, -1.0, 0.0], [1.0, 0.0, 0.3], [0.0, 0.0, 0.0], [0.0, 0.5, -0.3]])
    with pytest.raises(ValueError, match="read-only"):
        nu[0, 0] = 1.0


def test_two_a_to_b_in_a_batch() -> None:
    """r = k [A]^2 per event, so 1/[A] = 1/[A]_0 + 2 k t: from 2 mol/L with k = 0.1 L/mol/s, 0.4 mol/L after 10 s."""
    from scipy.integrate import solve_ivp

    network = parse_network("2 A -> B")
    orders = dict(network.reactions[0].reactants)
    solution = solve_ivp(
        lambda _, c: network.stoichiometry @ [0.1 * c[network.index("A")] ** orders["A"]], (0.0, 10.0), [2.0, 0.0], rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(solution.y[:, -1], [0.4, 0.8], rtol=1e-7)


def test_network_is_a_value() -> None:
    first, second = parse_network("A -> B; B -> C"), parse_network("A -> B\nB -> C")
    assert first == second
    assert hash(first) == hash(second)
    assert first != parse_network("A -> B; B <=> C")
    assert pickle.loads(pickle.dumps(first)) == first
    with pytest.raises(AttributeError):
        setattr(first, "species", ())  # noqa: B010  (type checkers refuse what is tried here)


def test_printed_with_names_aligned() -> None:
    network = parse_network("A+B=C;slow:2C->D")
    assert str(network) == repr(network) == "r1:   A + B <=> C\nslow: 2 C -> D"
    assert parse_network(str(network)) == network


def test_index_names_the_nearest() -> None:
    network = parse_network("slow: ethanol -> ethylene + H2O", formulas=False)
    assert network.index("ethylene") == 1
    assert network.reaction_index("slow") == 0
    with pytest.raises(ReactionError, match=r"No species 'ethylen'.*Did you mean 'ethylene'"):
        network.index("ethylen")
    with pytest.raises(ReactionError, match=r"No reaction 'slo'.*Did you mean 'slow'"):
        network.reaction_index("slo")


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", {}, ["no reaction", "A -> B"]),
        ("# only a comment\n\n", {}, ["no reaction"]),
        (
            "ethanol -> ethene",
            {"species": ["ethanol", "ethane"]},
            ["'r1'", "unknown species 'ethene'", "ethanol, ethane", "Did you mean 'ethane'"],
        ),
        ("A -> B", {"species": ["A", "B", "A"]}, ["'A' is listed twice"]),
        ("A -> B", {"species": "AB"}, ["list of names"]),
        ("A -> B", {"species": ["A", "B", "2C"]}, ["'2C'"]),
        ("r1: A -> B; r1: B -> C", {}, ["'r1' is used 2 times", "A -> B; B -> C"]),
        ("r2: A -> B; B -> C", {}, ["'r2' is used 2 times"]),
    ],
)
def test_refusals(text: str, options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ReactionError) as caught:
        parse_network(text, **options)
    for word in words:
        assert word in str(caught.value)


def test_all_problems_at_once() -> None:
    with pytest.raises(ReactionError) as caught:
        parse_network("A + B\n2.5.1 A -> B\nA -> B\nA -> A")
    assert [problem[:13] for problem in caught.value.problems] == ["Reaction 'r1'", "Reaction 'r2'", "Reaction 'r4'"]


# Balance


@pytest.mark.parametrize(
    "text",
    [
        "CH4 + 2 O2 -> CO2 + 2 H2O",
        "CO + 1/2 O2 -> CO2",
        "C2H5OH <=> C2H4 + H2O; 2 C2H5OH -> (C2H5)2O + H2O",
        "MnO4- + 5 Fe+2 + 8 H+ -> Mn+2 + 5 Fe+3 + 4 H2O",
        "Ag+(aq) + Cl-(aq) <=> AgCl(s)",
        "Fe+3 + e- -> Fe+2",
        "CuSO4·5H2O(s) -> CuSO4(s) + 5 H2O(g)",
        "CO + * <=> CO*; O2 + 2 * <=> 2 O*; CO* + O* -> CO2 + 2 *",
        "NO2* -> NO2",
        "-> CH4; H2O ->",
        "A -> B; B -> C",
        "B -> C",
        "2 N -> C + O",
        "E + S <=> ES; ES -> E + P",
        "2 O + AR -> O2 + M",
    ],
)
def test_balanced_or_not_checked(text: str) -> None:
    check_balance(parse_network(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "CH4 + O2 -> CO2 + H2O",
            ["'r1' is not balanced: H 4 -> 2, O 2 -> 3.", "Did you mean CH4 + 2 O2 -> CO2 + 2 H2O?", 'balance = "off"', "formulas = false"],
        ),
        ("H2 + O2 -> H2O", ["O 2 -> 1", "2 H2 + O2 -> 2 H2O"]),
        ("KMnO4 + HCl -> KCl + MnCl2 + H2O + Cl2", ["2 KMnO4 + 16 HCl -> 2 KCl + 2 MnCl2 + 8 H2O + 5 Cl2"]),
        (
            "K4Fe(CN)6 + KMnO4 + H2SO4 -> KHSO4 + Fe2(SO4)3 + MnSO4 + HNO3 + CO2 + H2O",
            ["10 K4Fe(CN)6 + 122 KMnO4 + 299 H2SO4 -> 162 KHSO4 + 5 Fe2(SO4)3 + 122 MnSO4 + 60 HNO3 + 60 CO2 + 188 H2O"],
        ),
        ("MnO4- + Fe+2 + H+ -> Mn+2 + Fe+3 + H2O", ["charge +2 -> +5", "MnO4- + 5 Fe+2 + 8 H+ -> Mn+2 + 5 Fe+3 + 4 H2O"]),
        ("H2 + Pt + O2 <=> H2O + Pt", ["2 H2 + Pt + O2 <=> 2 H2O + Pt"]),
        ("O2 + * -> O*", ["O 2 -> 1", "O2 + 2 * -> 2 O*"]),
        ("O2 + * -> 2 O*", ["sites (*) 1 -> 2"]),
        ("2 Cl- -> Cl2", ["charge -2 -> 0"]),
        ("D2 + H2 -> 2 H2", ["H 2 -> 4, D 2 -> 0"]),
        ("CO -> 0.333 CO2 + 0.667 C", ["not balanced"]),
    ],
)
def test_unbalanced(text: str, words: list[str]) -> None:
    with pytest.raises(ReactionError) as caught:
        parse_network(text)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("text", ["CO + H2 -> CH3OH + K2O", "C2H6 -> CH4 + C2H4 + H", "O2 + H2 -> 2 O2 + H2"])
def test_no_suggestion_where_none_is_unique(text: str) -> None:
    with pytest.raises(ReactionError) as caught:
        parse_network(text)
    assert "Did you mean" not in str(caught.value)


def test_old_ion_spelling_has_a_hint() -> None:
    with pytest.raises(ReactionError, match=r"'Fe3\+' reads as 3 Fe with charge \+1; write 'Fe\+3'"):
        parse_network("Fe3+ + e- -> Fe2+")


def test_formulas_false_checks_nothing() -> None:
    parse_network("CH4 + O2 -> CO2 + H2O", formulas=False)


def test_formulas_true_checks_single_atoms_too() -> None:
    parse_network("B -> C")
    with pytest.raises(ReactionError, match="B 1 -> 0"):
        parse_network("B -> C", formulas=True)


def test_formulas_true_names_what_is_no_formula() -> None:
    with pytest.raises(ReactionError) as caught:
        parse_network("CO + AR -> CO2 + AR; CO + A -> CO2", formulas=True)
    assert [problem[:32] for problem in caught.value.problems] == ["Reaction 'r1': formulas = true, ", "Reaction 'r2': formulas = true, "]
    assert "Did you mean 'Ar'?" in str(caught.value)


def test_one_label_turns_the_check_off() -> None:
    parse_network("CH4 + O2 -> CO2 + H2O; CH4 -> coke")


def test_exempt_reactions_take_no_part() -> None:
    lumped = parse_reaction("C8H18 + tar -> coke + H2", "lump", balance_checked=False)
    good = parse_reaction("CO + 0.5 O2 -> CO2", "good")
    check_balance(Network.of([lumped, good]))
    check_balance(Network.of([lumped, good]), formulas=True)
    with pytest.raises(ReactionError, match=r"^Reaction 'bad' is not balanced"):
        check_balance(Network.of([lumped, good, parse_reaction("CO + O2 -> CO2", "bad")]))


def test_gas_mechanism_of_cantera_is_balanced() -> None:
    cantera = pytest.importorskip("cantera")
    equations = [equation.replace(" (+M)", "").replace(" + M", "") for equation in cantera.Solution("gri30.yaml").reaction_equations()]
    text = "\n".join(equations).replace("AR", "Ar").replace("CH2(S)", "CH2(s)")
    network = parse_network(text, formulas=True)
    assert len(network.reactions) == 325


# Conserved totals


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A -> B", ["A + B"]),
        ("2 A -> B", ["A + 2 B"]),
        ("A -> B; B -> C", ["A + B + C"]),
        ("A+B<=>C; C->D", ["A + C + D", "B + C + D"]),
        ("E + S <=> ES; ES -> E + P", ["E + ES", "S + ES + P"]),
        ("A + K -> B + K", ["A + B", "K"]),
        ("-> A; A ->", []),
        ("-> A + B", ["A - B"]),
        ("A + B -> C; -> A", ["B + C"]),
        ("A -> 0.5 B", ["A + 2 B"]),
        ("A -> 1/3 B + C", ["A + 3 B", "A + C"]),
        ("H2 + 1/2 O2 -> H2O", ["H2 + H2O", "2 O2 + H2O"]),
    ],
)
def test_conserved_totals(text: str, expected: list[str]) -> None:
    assert totals(text) == expected


def test_inert_species_is_a_total_of_its_own() -> None:
    assert totals("A -> B", species=["A", "B", "I"]) == ["A + B", "I"]


@pytest.mark.parametrize("mechanism", ["h2o2.yaml", "gri30.yaml"])
def test_conserved_totals_are_the_elements(mechanism: str) -> None:
    cantera = pytest.importorskip("cantera")
    gas = cantera.Solution(mechanism)
    equations = [equation.replace(" (+M)", "").replace(" + M", "") for equation in gas.reaction_equations()]
    network = parse_network("\n".join(equations), species=gas.species_names)
    elements = np.array([[gas.n_atoms(species, element) for species in gas.species_names] for element in gas.element_names], dtype=float)
    weights = np.array([weight for _, weight in conserved_totals(network)])
    assert not (weights @ network.stoichiometry).any()
    assert (weights >= 0).all()
    rank = np.linalg.matrix_rank(elements)
    assert len(weights) == rank == np.linalg.matrix_rank(np.vstack([elements, weights]))


small = st.integers(1, 3).map(float)
random_sides = st.dictionaries(st.sampled_from("ABCDEF"), small, max_size=3).map(lambda side: tuple(side.items()))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(random_sides, random_sides), min_size=1, max_size=6))
def test_conserved_totals_are_an_exact_basis(pairs) -> None:
    reactions = []
    for number, (reactants, products) in enumerate(pairs, start=1):
        try:
            reactions.append(Reaction(f"r{number}", reactants, products))
        except ReactionError:
            continue
    if not reactions:
        return
    network = Network.of(reactions)
    found = conserved_totals(network)
    assert found == [] or not (np.array([weight for _, weight in found]) @ network.stoichiometry).any()
    assert len(found) == len(network.species) - np.linalg.matrix_rank(network.stoichiometry)
    if found:
        assert np.linalg.matrix_rank(np.array([weight for _, weight in found])) == len(found)
    again = parse_network(str(network), formulas=False, species=network.species)
    assert again == network
    assert parse_reactions(str(network)) == network.reactions
