"""Studies without a study file: parameters by full name find their place, in any order, and what is missing is estimated."""

import itertools

import pytest

from kinetix.errors import ParameterError, StudyError
from kinetix.experiments import parse_table
from kinetix.network import parse_network
from kinetix.parameters import Estimate
from kinetix.studies import arrhenius_study, build_problem, complete_study, direct_study, parse_study
from kinetix.studies.direct import place_parameters, with_missing_constants
from kinetix.studies.numbers import parse_constant

NETWORK = parse_network("A -> B; B <=> C", formulas=False)


def section(starts=None, known=None, reaction="r1"):
    placed = place_parameters(NETWORK, starts or {}, known or {}).reactions[reaction]
    return {key: value for key, value in placed.items() if key != "equation"}


@pytest.mark.parametrize(
    ("starts", "known", "placed"),
    [
        ({"r1.k": "1 1/s"}, {}, {"k": {"start": "1 1/s"}}),
        ({}, {"r1.k": "1 1/s"}, {"k": "1 1/s"}),
        ({"r1.k_ref": "1 1/s"}, {"r1.Ea": "60 kJ/mol"}, {"k": {"start": "1 1/s"}, "Ea": "60 kJ/mol"}),
        ({"r1.k": {"start": "1 1/s", "at": "350 K"}}, {}, {"k": {"start": "1 1/s", "at": "350 K"}}),
        ({"r1.A": "1e9 1/s", "r1.Ea": "60 kJ/mol"}, {}, {"A": {"start": "1e9 1/s"}, "Ea": {"start": "60 kJ/mol"}}),
        ({"r1.order.A": 1.5}, {}, {"orders": {"A": {"start": 1.5}}}),
        ({}, {"r1.order.A": 1.5}, {"orders": {"A": 1.5}}),
        ({"r1.Vmax": "1 mol/L/s"}, {"r1.Km": "2 mol/L"}, {"parameters": {"Vmax": {"start": "1 mol/L/s"}, "Km": "2 mol/L"}}),
        (
            {"r1.Vmax.A": "1 mol/L/s", "r1.Vmax.Ea": "60 kJ/mol"},
            {},
            {"parameters": {"Vmax": {"A": {"start": "1 mol/L/s"}, "Ea": {"start": "60 kJ/mol"}}}},
        ),
    ],
)
def test_names_find_their_place(starts, known, placed):
    assert section(starts, known) == placed


@pytest.mark.parametrize(
    ("name", "other"),
    [("r2.kf", "r2.kf.k_ref"), ("r2.K", "r2.K_ref"), ("r1.Ea", "r1.k.Ea"), ("r1.b", "r1.k.b"), ("r1.Vmax", "r1.Vmax.Vmax")],
)
def test_two_names_of_one_number_have_one_place(name, other):
    reaction = name.split(".")[0]
    assert section({}, {name: 1.0}, reaction) == section({}, {other: 1.0}, reaction)
    with pytest.raises(ParameterError, match="given twice"):
        place_parameters(NETWORK, {name: 1.0}, {other: 1.0})


def test_a_constant_of_a_formula_is_no_part_of_k():
    own = {"r1": ("k", "b")}
    placed = place_parameters(NETWORK, {}, {"r1.k": 1.0, "r1.b": 2.0, "r1.k.b": 3.0, "r1.b.Ea": 4.0}, own).reactions["r1"]
    assert placed == {"equation": "A -> B", "k": 1.0, "b": 3.0, "parameters": {"b": {"k": 2.0, "Ea": 4.0}}}


def test_orders_of_species_that_are_called_like_constants():
    network = parse_network("k + K -> B", formulas=False)
    placed = place_parameters(network, {}, {"r1.order.k": 1.5, "r1.order.K": 0.5}).reactions["r1"]
    assert placed["orders"] == {"k": 1.5, "K": 0.5}


def test_amounts_and_constants_with_names_of_their_own():
    placed = place_parameters(NETWORK, {"initial.A": "1 mol/L", "k1": "2 1/s"}, {"feed.A": "3 mol/L", "initial.default": "0 mol/L"})
    assert placed.initial == {"A": {"start": "1 mol/L"}, "default": "0 mol/L"}
    assert placed.feed == {"A": "3 mol/L"} and placed.named == {"k1": {"start": "2 1/s"}}


@pytest.mark.parametrize("estimated", [("kf", "Ea"), ("kf",), ("Ea",), ()])
@pytest.mark.parametrize("order", list(itertools.permutations(["r2.kf", "r2.kf.Ea", "r2.kf.at"])))
def test_the_order_of_the_parts_does_not_matter(order, estimated):
    values = {"r2.kf": "1 1/s", "r2.kf.Ea": "60 kJ/mol", "r2.kf.at": "350 K"}
    starts = {name: values[name] for name in order if name.split(".")[-1] in estimated}
    known = {name: values[name] for name in order if name not in starts}
    constant = parse_constant(section(starts, known, "r2")["kf"], "r2.kf", "kf")
    assert isinstance(constant.value, Estimate) == ("kf" in estimated)
    assert isinstance(constant.energy, Estimate) == ("Ea" in estimated)
    assert constant.at == 350.0


@pytest.mark.parametrize(
    ("starts", "known", "words"),
    [
        ({"rr1.k": "1 1/s"}, {}, "Parameter 'rr1.k' belongs to no reaction (known: r1, r2). Did you mean 'r1.k'?"),
        ({}, {"inital.A": "1 mol/L"}, "Parameter 'inital.A' belongs to no reaction (known: r1, r2). Did you mean 'initial.A'?"),
        (
            {"r2.kf.Ea.x": "1 1/s"},
            {},
            "Parameter 'r2.kf.Ea.x' is not understood. Write for example r1.k, r1.Ea, r1.kf.Ea or r1.order.A.",
        ),
        (
            {"r1.k": "1 1/s"},
            {"r1.k": "2 1/s"},
            "A parameter is given twice: 'r1.k' with a start (1 1/s) and 'r1.k' as known (2 1/s). Keep one.",
        ),
        (
            {"r1.k": "1 1/s", "r1.k_ref": {"bounds": ["1 1/s", "2 1/s"]}},
            {},
            "A parameter is given twice: 'r1.k' with a start (1 1/s) and 'r1.k_ref' with a start (no start). Keep one.",
        ),
        (
            {},
            {"r2.kf.k_ref": "1 1/s", "r2.kf": "2 1/s"},
            "A parameter is given twice: 'r2.kf.k_ref' as known (1 1/s) and 'r2.kf' as known (2 1/s). Keep one.",
        ),
    ],
)
def test_names_that_belong_nowhere(starts, known, words):
    with pytest.raises(ParameterError) as error:
        place_parameters(NETWORK, starts, known)
    assert str(error.value) == words


def test_all_problems_of_the_names_are_told_at_once():
    with pytest.raises(ParameterError) as error:
        place_parameters(NETWORK, {"rr1.k": "1 1/s", "r1.k": "1 1/s"}, {"r1.k": "2 1/s"})
    assert len(error.value.problems) == 2


def test_an_amount_is_given_once():
    for starts, known, option in (({"initial.A": "1 mol/L"}, {}, "--start"), ({}, {"initial.A": "1 mol/L"}, "--known")):
        with pytest.raises(ParameterError) as error:
            direct_study(["a.csv"], ["A -> B"], "batch", starts=starts, known=known, initial={"A": "2 mol/L", "B": "0 mol/L"})
        assert str(error.value).startswith(f"initial.A is given twice: {option} initial.A (1 mol/L) and --initial A (2 mol/L). Keep one")
    study = direct_study(["a.csv"], ["A -> B"], "batch", starts={"initial.A": "1 mol/L"}, initial={"B": "0 mol/L"})
    assert study["initial"] == {"A": {"start": "1 mol/L"}, "B": "0 mol/L"}


@pytest.mark.parametrize("order", ["1", "1 -", 1])
def test_an_order_starts_from_a_number_without_a_unit(order):
    study = direct_study(
        ["a.csv"], ["A -> B"], "batch", starts={"r1.k": "0.1 mol/L/s", "r1.order.A": order}, initial={"default": "1 mol/L"}
    )
    table = parse_table("t [s],A [mol/L]\n0,1\n1,0.9\n", "a.csv")
    parameters = build_problem(parse_study(study, "direct"), [table]).table
    assert parameters.start[parameters.names.index("r1.order.A")] == 1.0


@pytest.mark.parametrize("several", [False, True])
def test_constants_that_nobody_gave_are_estimated(several):
    constant = {"k": {}, "Ea": {}} if several else {}
    placed = place_parameters(NETWORK, {}, {})
    with_missing_constants(NETWORK, placed.reactions, several)
    assert placed.reactions["r1"] == {"equation": "A -> B", "k": {}, **({"Ea": {}} if several else {})}
    assert placed.reactions["r2"] == {"equation": "B <=> C", "kf": constant, "kr": constant}


def test_what_somebody_gave_stays():
    placed = place_parameters(NETWORK, {"r1.A": "1e9 1/s"}, {"r2.K": 2.0})
    with_missing_constants(NETWORK, placed.reactions, several_temperatures=True)
    assert placed.reactions["r1"] == {"equation": "A -> B", "A": {"start": "1e9 1/s"}}
    assert placed.reactions["r2"] == {"equation": "B <=> C", "K": 2.0, "kf": {"k": {}, "Ea": {}}}
    formula = {"r1": {"equation": "A -> B", "rate": "k*[A]"}, "r2": {"equation": "B <=> C", "law": "hill"}}
    with_missing_constants(NETWORK, formula, several_temperatures=False)
    assert formula == {"r1": {"equation": "A -> B", "rate": "k*[A]"}, "r2": {"equation": "B <=> C", "law": "hill"}}


def test_a_direct_study_is_a_study():
    study = direct_study(
        ["runs.csv"],
        ["A -> B", "slow: 2 B -> C"],
        "cstr",
        starts={"r1.k": "0.1 1/min", "slow.k": "0.1 L/mol/min"},
        feed={"A": "1 mol/L", "default": "0 mol/L"},
        conditions={"tau": "5 min"},
        columns={"A": "ca [mol/L]"},
        ignore=["remark"],
        noise={"A": "0.01 mol/L"},
        sigma="trusted",
        title="Two reactions",
    )
    parsed = parse_study(study, "direct")
    assert list(parsed.reactions) == ["r1", "slow"] and parsed.title == "Two reactions" and parsed.fit.sigma == "trusted"
    problem = build_problem(parsed, [parse_table("ca [mol/L],remark\n0.5,x\n0.4,y\n", "runs.csv")])
    assert problem.table.names == ("r1.k", "slow.k") and problem.sigma_meaning == "trusted"


@pytest.mark.parametrize(("temperatures", "names"), [((340, 340), ("r1.k",)), ((340, 350), ("r1.k_ref", "r1.Ea"))])
def test_an_energy_is_estimated_where_the_temperature_varies(temperatures, names):
    study = direct_study(["runs.csv"], ["A -> B"], "cstr", feed={"default": "1 mol/L"}, conditions={"tau": "5 min"})
    tables = [parse_table("T [K],A [mol/L]\n" + "".join(f"{T},0.5\n" for T in temperatures), "runs.csv")]
    complete_study(study, tables)
    assert build_problem(parse_study(study, "direct"), tables).table.names == names


def test_a_direct_study_without_a_title_is_called_after_what_it_is():
    assert direct_study(["data/runs.csv"], ["A -> B"], "cstr")["title"] == "A -> B in a cstr reactor: runs.csv"
    assert direct_study(["-"], ["A -> B"], "cstr")["title"] == "A -> B in a cstr reactor: stdin"


def test_a_direct_study_needs_a_reaction():
    with pytest.raises(StudyError, match=r'^No reaction. Write --reaction "A -> B".$'):
        direct_study(["runs.csv"], [], "cstr")


def test_the_study_of_a_table_of_rate_constants():
    plain = arrhenius_study("k.csv", k={"start": "1 1/s"}, Ea={"start": "60 kJ/mol"})
    assert plain["model"] == {"log(k)": "log(k)"} and "fit" not in plain
    weighted = arrhenius_study("k.csv", {"k": "rate [1/s]"}, sigma="scaled", k={"start": "1 1/s"}, Ea={"start": "60 kJ/mol"})
    assert weighted["model"] == {"k": "k"} and weighted["fit"] == {"sigma": "scaled"}
    table = parse_table("T [K],k [1/s]\n300,1\n350,2\n", "k.csv")
    assert build_problem(parse_study(plain, "direct"), [table]).table.names == ("k.k_ref", "k.Ea")
