"""Any text in the places of a study that hold some: read, or refused in words; nothing is executed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kinetix.errors import InputError
from kinetix.studies import build_problem, parse_study
from tests.fuzz.hostile import nothing_is_executed, texts

keys = st.sampled_from(
    ["k", "A", "Ea", "b", "at", "kf", "kr", "K", "dH", "start", "bounds", "scale", "fixed", "unit", "rate", "law", "orders", "parameters"]
)
values = st.recursive(
    st.one_of(texts, st.sampled_from(["0.1 1/s", "60 kJ/mol", "1 mol/L", "k*[A]"]), st.floats(), st.integers(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.one_of(keys, texts), inner, max_size=3)),
    max_leaves=4,
)
study = st.fixed_dictionaries(
    {
        "schema": st.just(1),
        "reactions": st.fixed_dictionaries(
            {
                "r1": st.fixed_dictionaries(
                    {"equation": st.one_of(st.just("A -> B"), texts)}, optional={"k": values, "rate": values, "x": values}
                )
            }
        ),
        "reactor": st.sampled_from([{"type": "batch"}, {"type": "cstr"}, {"type": "differential"}]),
    },
    optional={
        "conditions": st.dictionaries(st.one_of(st.sampled_from(["T", "tau", "feed", "P"]), texts), values, max_size=2),
        "initial": st.dictionaries(st.one_of(st.sampled_from(["A", "B", "default"]), texts), values, max_size=2),
        "responses": st.dictionaries(st.one_of(st.just("X"), texts), st.one_of(st.just("1 - [A]/initial[A]"), texts), max_size=2),
        "parameters": st.dictionaries(texts, values, max_size=2),
        "noise": st.dictionaries(texts, values, max_size=2),
        "simulate": st.fixed_dictionaries({"times": st.one_of(st.just("0:1:3 s"), texts)}),
        "title": texts,
    },
)


def warm_up() -> None:
    """What is imported on first use is imported before the watch begins."""
    one = {"equation": "A -> B", "k": "0.1 1/s", "Ea": "60 kJ/mol", "at": "300 K"}
    batch = {"schema": 1, "reactions": {"r1": one}, "reactor": {"type": "batch"}, "initial": {"default": "1 mol/L"}}
    build_problem(parse_study(batch | {"conditions": {"T": "300 K"}, "simulate": {"times": "0:1:3 s"}}, "study.toml"), [])


@given(study)
def test_any_study_is_built_or_refused_in_words(given_study):
    warm_up()
    try:
        with nothing_is_executed():
            build_problem(parse_study(given_study, "study.toml"), [])
    except InputError as error:
        assert all(error.problems)
