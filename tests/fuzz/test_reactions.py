"""Any text as reactions: read, and read back the same from what is printed, or refused in words; nothing is executed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kinetix.errors import InputError, ReactionError
from kinetix.network import parse_network
from kinetix.network.reactions import check_species_name, parse_reactions
from tests.fuzz.hostile import nothing_is_executed, texts

sides = st.lists(st.tuples(st.sampled_from(["", "2 ", "1/2 ", "0.5", "3*", "0 "]), texts), max_size=3).map(
    lambda terms: " + ".join(coefficient + name for coefficient, name in terms)
)
reactions = st.tuples(sides, st.sampled_from(["->", "<=>", "=", " -> ", " => "]), sides).map("".join)


@given(st.one_of(texts, reactions))
def test_any_text_is_reactions_or_refused_in_words(text):
    try:
        with nothing_is_executed():
            found = parse_reactions(text)
    except ReactionError as error:
        assert all(error.problems)
        return
    for reaction in found:
        for species in reaction.species:
            check_species_name(species)
        assert any(reaction.net.values())
    assert parse_reactions("\n".join(map(str, found))) == found


@given(st.one_of(texts, reactions), st.sampled_from([None, True, False]))
def test_any_text_is_a_network_or_refused_in_words(text, formulas):
    try:
        with nothing_is_executed():
            network = parse_network(text, formulas=formulas)
    except InputError as error:
        assert all(error.problems)
    else:
        assert parse_network(str(network), formulas=False).reactions == network.reactions
