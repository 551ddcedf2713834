"""From a study to a problem: what is wrong in which place, in full sentences, and the grammar of times."""

import copy
import warnings

import numpy as np
import pytest

from kinetix.errors import InputError, KinetixWarning, StudyError, UnitError
from kinetix.simulation import all_responses
from kinetix.studies import fit_problem, simulate_problem
from kinetix.studies.building import parse_times
from tests.reference.studies import problem

TANK = {
    "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.1 1/min"}}},
    "reactor": {"type": "cstr"},
    "conditions": {"tau": "5 min", "feed": {"A": "1 mol/L", "default": "0 mol/L"}},
}
TANKS = "A [mol/L],B [mol/L]\n0.5,0.5\n0.4,0.6\n"
HOT = {"T": "350 K", "tau": "5 min", "feed": {"A": "1 mol/L", "default": "0 mol/L"}}
LINE = {"model": {"y": "a*x + b"}, "parameters": {"a": {"start": "1 L/mol"}, "b": {"start": 1.0}}}
POINTS = "x [mol/L],y [1]\n1,2\n2,3\n"


def changed(study, change):
    """The study with `section.key` (or `section.key.key`) set, or removed where the value is None."""
    study = copy.deepcopy(study)
    for path, value in change.items():
        *sections, key = path.split(".")
        section = study
        for name in sections:
            section = section.setdefault(name, {})
        if value is None:
            del section[key]
        else:
            section[key] = copy.deepcopy(value)
    return study


def problems(study, *tables):
    with pytest.raises(InputError) as error:
        problem(study, *tables, responses=all_responses)
    return error.value.problems


def sentence(study, *tables):
    (found,) = problems(study, *tables)
    return found


def reaction(**section):
    """The tank with this reaction."""
    return {"reactions.r1": {"equation": "A -> B", **section}}


RATE = {"rate": "kf*[A]", "parameters": {"kf": "1 1/min"}}
ORDER = "0.1 mol/L/min"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (reaction(), "Reaction 'r1' has no rate constant. Write k = \"0.1 1/s\", or A and Ea."),
        (reaction(k="1 1/min", A="1e6 1/min", Ea="60 kJ/mol"), "r1.k: both k and A are given. Keep one."),
        (reaction(k="1 1/min", at="350 K"), "r1.k: 'at' is a temperature for a constant with Ea. Add Ea, or remove 'at'."),
        (
            reaction(k="1 1/min", Ea="60 kJ/mol"),
            "Parameter 'r1.k' is known and depends on temperature, but at which temperature does it hold? Write at = \"350 K\" beside it.",
        ),
        (
            reaction(k={"start": "1 1/min"}, Ea="60 kJ/mol"),
            "Parameter 'r1.k' depends on temperature, but neither the data nor the conditions hold a temperature T."
            ' Add a column such as "T [degC]", or T = "350 K" under [conditions].',
        ),
        (
            reaction(k="1 L/mol/min"),
            "Reaction 'r1' (A -> B) has the rate k*[A], which fixes the dimension:"
            " r1.k has unit L/mol/min (volume/amount/time), but 1/time is needed, for example 1/s.",
        ),
        (reaction(k=ORDER, orders={"a": 1.5}), "Reaction 'r1': orders names 'a', which is no species (known: A, B). Did you mean 'A'?"),
        (
            reaction(k="1 1/min", orders={"A": 1.5}),
            "Parameter 'r1.k': with fractional or fitted orders r = k ([i]/c_ref)^n, and k is a rate."
            " Write its unit as concentration/time, for example mol/L/s (found 1/min); c_ref is then 1 mol/L.",
        ),
        (
            reaction(k=ORDER, orders={"A": "1.5 mol/L"}),
            "r1.order.A has unit mol/L (amount/volume), but it must be dimensionless: write '-' or '1' as its unit.",
        ),
        (
            reaction(kf="1 1/min"),
            "Reaction 'r1': kf is a constant of a reversible reaction, but 'A -> B' is not one. Write '<=>', or k.",
        ),
        (
            reaction(equation="A <=> B", k="1 1/min"),
            "Reaction 'r1' is reversible ('A <=> B'), so 'k' is ambiguous."
            " Write kf = { ... } and kr = { ... } (or K = { ... }), each with its own k or A, Ea and at.",
        ),
        (reaction(equation="A <=> B", kf="1 1/min"), "Reaction 'r1' is reversible and has neither kr nor K. Give one of them."),
        (
            reaction(equation="A <=> B", kf="1 1/min", kr="1 1/min", K=1.0),
            "Reaction 'r1' is reversible and has both kr and K. Give one of them.",
        ),
        (
            reaction(equation="A <=> B", kr="1 1/min"),
            "Reaction 'r1' is reversible and has no kf. Write kf = \"0.1 1/s\" (and kr, or K).",
        ),
        (
            reaction(equation="1.5 A <=> B", kf="1 1/min", kr="1 1/min"),
            "Reaction 'r1': a reversible reaction has integer orders from its coefficients, up to 12 on a side."
            ' Write two reactions, or rate = "...", for other orders.',
        ),
        (
            reaction(rate="kf*[A]^2", parameters={"kf": "1 1/min"}),
            "Rate of 'r1': 'kf*[A]^2' has dimension amount^2/volume^2/time, but amount/volume/time is needed, for example mol/L/s."
            " Check the units of its constants: kf (1/time).",
        ),
        (
            reaction(rate="kf*[A] + K", parameters={"kf": "1 1/min", "K": "1 L/mol"}),
            "Rate of 'r1': 'kf*[A] + K' adds amount/volume/time and volume/amount; the terms of a sum need the same dimension.",
        ),
        (
            reaction(rate="kf*[A]*K", parameters={"kf": "1 1/min"}),
            "Rate of 'r1' uses 'K', which has no value, no unit and is not estimated."
            " Give it under parameters = { K = ... }, or write [K] if it is a concentration.",
        ),
        (
            reaction(rate="kf*[A]", parameters={"kf": "1 1/min", "K": "1 L/mol"}),
            "Rate of 'r1': the constant 'K' is given but 'kf*[A]' does not use it. Remove it, or use it.",
        ),
        (
            reaction(rate="kf*[Q]", parameters={"kf": "1 1/min"}),
            "Rate of 'r1' uses [Q], which is no species of the network (known: A, B).",
        ),
        (
            reaction(rate="kf*([A]", parameters={"kf": "1 1/min"}),
            "Rate of 'r1': cannot read the formula 'kf*([A]': column 4: the bracket '(' is not closed by ')'.",
        ),
        (
            reaction(rate="kf*p[A]", parameters={"kf": "1 1/min"}),
            "Rate of 'r1': 'kf*p[A]' has dimension pressure/time, but amount/volume/time is needed, for example mol/L/s."
            " Check the units of its constants: kf (1/time).",
        ),
        (reaction(**RATE, Ea="60 kJ/mol"), "Reaction 'r1': Ea beside a rate formula. Give its constants under parameters = { ... }."),
        (reaction(**RATE, orders={"A": 1}), "Reaction 'r1': orders beside a rate formula. Write the rate as a formula with those orders."),
        (
            reaction(rate="kf*[A]", parameters={"kf": {}}),
            'Parameter \'r1.kf\' has neither start nor unit. Write start = "...", or unit = "L/mol" alone.',
        ),
        (
            reaction(k="1 1/min", parameters={"Eaa": "1 kJ/mol"}),
            "Reaction 'r1': nothing uses Eaa. Write rate = \"...\" or law = \"...\" with it, or remove it. Did you mean 'Ea'?",
        ),
        (
            reaction(rate="k*[A]", k="1 1/min", parameters={"k": "2 1/min"}),
            "Parameter 'r1.k' is given twice: as k of r1 and as k under the parameters of r1. Keep one.",
        ),
        (reaction(**RATE, law="hill"), "Reaction 'r1': both rate and law are given. Keep one."),
        (
            reaction(law="michaelis_menton"),
            "Reaction 'r1': law 'michaelis_menton' is unknown. Known: langmuir_hinshelwood, eley_rideal, mars_van_krevelen,"
            " michaelis_menten, hill. Did you mean 'michaelis_menten'?",
        ),
        (
            reaction(law={"type": "langmuir_hinshelwood", "adsorbed": 3}),
            "Reaction 'r1': law 'langmuir_hinshelwood': adsorbed is a list of species, for example adsorbed = [\"A\", \"B\"]; found 3.",
        ),
        (
            reaction(k="k1"),
            "Parameter 'r1.k' refers to 'k1', which has no value, no unit and is not estimated. Write k1 = \"...\" under [parameters].",
        ),
        ({"parameters": {"k9": "1 1/min"}}, "Parameter 'k9' is given but nothing uses it. Remove it, or use it."),
        (
            {**reaction(k="k1"), "parameters": {"k1": "k2"}},
            "Parameter 'k1' refers to 'k2'; ties between parameters are not available yet. Write its value, or use 'k2' where 'k1' stands.",
        ),
        (
            {**reaction(k="k1"), "reactions.r2": {"equation": "2 A -> B", "k": "k1"}, "parameters": {"k1": "1 1/min"}},
            "Parameter 'k1' is used by 'r2' as volume/amount/time, but elsewhere as 1/time. Use two parameters.",
        ),
        (
            {"conditions": HOT, **reaction(A={"start": "1e9 1/min", "bounds": ["1 1/min", "1e12 1/min"]}, Ea={"start": "60 kJ/mol"})},
            "Parameter 'r1.k': bounds on A with Ea free are not what they seem, since A and Ea move together."
            ' Give k at a temperature instead: k = { start = "...", at = "350 K", bounds = [...] }.',
        ),
        (
            reaction(k={"start": "10 1/min", "bounds": ["0.01 1/min", "1 1/min"]}),
            "Parameter 'r1.k': start 10 1/min is above its upper bound 1 1/min. Start inside the bounds, or widen them.",
        ),
        (
            reaction(k={"start": "1 1/min", "bounds": ["1 1/min", "0.01 1/min"]}),
            "Parameter 'r1.k': lower bound 1 1/min is above upper bound 0.01 1/min. Swap them.",
        ),
        (
            reaction(k={"start": "1 1/min", "bounds": ["0 1/min", "5 1/min"]}),
            "Parameter 'r1.k' is fitted on a log scale, so its lower bound must be above 0 (got 0 1/min)."
            ' Give a small positive bound, or write scale = "linear".',
        ),
    ],
)
def test_reactions_and_their_constants(change, words):
    assert sentence(changed(TANK, change), TANKS) == words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"reactor.type": "plug_flow"},
            '[reactor] density: a plug_flow reactor needs to know how the density goes. Write density = "constant" (liquids, or gases whose'
            ' mole number and temperature hardly change) or density = "ideal_gas" (an ideal gas at constant P); on the command'
            " line --density.",
        ),
        (
            {"reactor.type": "plug_flow", "reactor.density": "idealgas"},
            '[reactor] density = "idealgas": not of a plug_flow reactor. Write density = "constant" (liquids, or gases whose mole number'
            " and temperature hardly change) or density = \"ideal_gas\" (an ideal gas at constant P). Did you mean 'ideal_gas'?",
        ),
        (
            {"reactor.type": "semibatch", "reactor.density": "ideal_gas", "conditions": {}},
            '[reactor] density = "ideal_gas": not of a semibatch reactor. Write density = "constant".',
        ),
        (
            {"reactor.type": "semibatch", "reactor.basis": "catalyst_mass", "conditions": {}},
            '[reactor] basis = "catalyst_mass": a semibatch reactor is integrated, which needs rates in mol/L/s.'
            " Write one of volume, with constants in its units.",
        ),
        (
            {"reactor.type": "cstrr"},
            '[reactor] type = "cstrr" is unknown. Known: batch, cstr, transient_cstr, plug_flow, semibatch, differential.'
            " Did you mean 'cstr'?",
        ),
        (
            {"reactor.basis": "catalyst"},
            '[reactor] basis = "catalyst" is unknown. Known: volume, catalyst_mass, catalyst_area, turnover.'
            " Did you mean 'catalyst_mass'?",
        ),
        (
            {"reactor.amounts": "pressure"},
            "[reactor] amounts = \"pressure\" is unknown. Known: concentration, partial_pressure. Did you mean 'partial_pressure'?",
        ),
        (
            {"reactor.basis": "turnover"},
            '[reactor] basis = "turnover": a cstr reactor is integrated, which needs rates in mol/L/s or per catalyst.'
            " Write one of volume, catalyst_mass, catalyst_area, with constants in its units.",
        ),
        (
            {"reactor": None},
            'The study has no reactor. Write type = "..." under [reactor], one of'
            " batch, cstr, transient_cstr, plug_flow, semibatch, differential.",
        ),
        ({"reactions": None}, "The study has neither [reactions] nor [model]. Write one of them."),
        (
            {"conditions.tua": "5 min"},
            "[conditions] tua: a cstr reactor has no such condition (known: T, P, t_on_stream, tau, 1/tau, V, Q, feed)."
            " Did you mean 'tau'?",
        ),
        ({"conditions.tau": "5 mol"}, "[conditions] tau has unit mol (amount), but time is needed, for example s."),
        ({"conditions.tau": "5"}, "[conditions] tau: '5' has no unit: write one after the number, for example '5 s'."),
        ({"conditions.tau": 5}, "[conditions] tau: '5' has no unit: write one after the number, for example '5 s'."),
        ({"conditions.tau": True}, '[conditions] tau: expected a quantity such as "0.1 1/min", found True.'),
        ({"conditions.allow_temperature": "yes"}, "[conditions] allow_temperature: expected true or false, found 'yes'."),
        (
            {"conditions.tau": None},
            'cstr: no residence time. Add a column such as "tau [min]", or "1/tau" (space velocity), or V and Q,'
            ' or write tau = "10 min" under [conditions].',
        ),
        (
            {"conditions.feed.default": None},
            "cstr: no feed concentration of B, neither in the data nor under [conditions] feed."
            ' Write feed = { B = "0 mol/L" } under [conditions], or default = "0 mol/L" there for all that are not named;'
            ' on the command line --feed B="0 mol/L" or --feed default="0 mol/L".',
        ),
        ({"conditions.feed.Q": "1 mol/L"}, "feed: 'Q' is no species (known: A, B)."),
        ({"conditions.feed.A": "-1 mol/L"}, "the feed of A is -1 mol/L, which is negative. Correct it."),
        ({"conditions.feed.A": "1 min"}, "feed.A has unit min (time), but amount/volume is needed, for example mol/L."),
        ({"conditions.feed.A": "cA0"}, "feed.A: expected a concentration, found the name 'cA0'."),
        (
            {"conditions.feed": "1 mol/L"},
            "[conditions] feed: expected a table of species, for example { A = \"1 mol/L\" }; found '1 mol/L'.",
        ),
        ({"conditions.feed.default": {"start": "1 mol/L"}}, 'feed.default: expected a known concentration such as "0 mol/L".'),
        ({"initial": {"A": "1 mol/L"}}, "initial: a cstr reactor has no initial amounts. Remove them."),
        (
            {"noise.A": {"relative": {}, "constant": {"start": "1 min"}}},
            "[noise] A, constant has unit min (time), but amount/volume is needed, for example mol/L.",
        ),
        ({"noise.A": "5 %"}, '[noise] A: "5 %" is relative to the value. Write { relative = "5 %" }; on the command line "relative 5 %".'),
        ({"noise.A": {"relativ": "5 %"}}, "[noise] A: unknown key 'relativ'. Known: relative, constant. Did you mean 'relative'?"),
        (
            {"noise.A": {"relative": "5 %", "constant": "1 min"}},
            "[noise] A, constant has unit min (time), but amount/volume is needed, for example mol/L.",
        ),
        (
            {"noise.A": {"relative": "-5 %"}},
            "[noise] A is {'relative': '-5 %'}; write a part above zero, for example { relative = \"5 %\" }, and none below.",
        ),
        ({"noise.AA": "1 mol/L"}, "[noise] AA: no such response (known: A, B, rate[r1], rate[A], rate[B]). Did you mean 'A'?"),
        ({"noise.A": "0 mol/L"}, "[noise] A is 0 mol/L; a measurement error must be above zero. Correct it, or remove it."),
        ({"noise.A": "1 min"}, "[noise] A has unit min (time), but amount/volume is needed, for example mol/L."),
        (
            {"noise": {"A": "0.1 mol/L", "B": "0.1 mol/L"}},
            'Sigma is given, but not how it is meant. Write sigma = "trusted" under [fit] (standard errors use it as it is)'
            ' or sigma = "scaled" (only ratios count; the size is estimated from the residuals);'
            " on the command line --sigma trusted or --sigma scaled.",
        ),
        (
            {"fit.sigma": "scaled"},
            '[fit] sigma = "scaled", but no sigma is given. Add a column such as sigma_A, or a value under [noise], or remove it'
            " (the scatter is then estimated from the residuals).",
        ),
        (
            {"responses.X": "1 - [A]/feed[A"},
            "Response 'X': cannot read the formula '1 - [A]/feed[A': column 13: the bracket '[' is not closed by ']'.",
        ),
        ({"responses.X": "1 - [Q]/feed[A]"}, "Response 'X': uses [Q], but 'Q' is no species (known: A, B)."),
        (
            {"responses.X": "1 - [A]/initial[A]"},
            "Response 'X': uses initial[A], but a cstr has no initial state. Write feed[A]?",
        ),
        (
            {"responses.X": "1 - [A]"},
            "Response 'X': '1 - [A]' adds dimensionless and amount/volume; the terms of a sum need the same dimension.",
        ),
        ({"simulate.times": "0:1:3 min"}, "[simulate] times: nothing in a cstr reactor depends on time. Remove them."),
        ({"solver.atol": "1e-9"}, "[solver] atol: '1e-9' has no unit: write one after the number, for example '1e-9 mol/L'."),
    ],
)
def test_reactor_conditions_noise_and_responses(change, words):
    assert sentence(changed(TANK, change), TANKS) == words


def test_a_feed_in_the_data_and_in_the_study():
    assert sentence(TANK, "A [mol/L],A_feed [mol/L]\n0.5,1\n0.4,1\n") == "feed.A is given both in the data and in the study. Keep one."


@pytest.mark.parametrize("unit", ["mol/L/min", "mol/l/min", "mol L-1 min-1", "mol.L-1.min-1", "mol/(L*min)", "M/min", "mol·L⁻¹·min⁻¹"])
def test_orders_take_their_reference_from_the_unit_of_k_however_it_is_written(unit):
    """k ([A]/c_ref)^1.5 with c_ref = 1 mol/L: at 4 mol/L the rate is 8 k."""
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": f"0.5 {unit}", "orders": {"A": 1.5}}},
        "reactor": {"type": "differential"},
    }
    tree = simulate_problem(problem(study, "A [mol/L],rate[r1] [mol/L/h]\n4,240\n", responses=all_responses))
    assert float(tree["simulation/predicted"].sel(response="rate[r1]").item()) == pytest.approx(8 * 0.5 * 60, rel=1e-12)


def test_residence_times_that_cannot_be():
    study = changed(TANK, {"conditions.tau": None})
    assert (
        sentence(study, "tau [min],A [mol/L]\n5,0.5\n0,0.4\n")
        == "table1.csv, line 3, column 'tau [min]': the residence time tau is 0 min, which is not above zero."
    )
    both = "tau [min],1/tau [1/min],A [mol/L]\n5,0.2,0.5\n"
    assert sentence(study, both) == "cstr: the residence time is given more than once (tau, 1/tau). Keep one."


def test_a_batch_has_no_feed_and_no_residence_time():
    batch = {**TANK, "reactor": {"type": "batch"}, "initial": {"A": "1 mol/L", "default": "0 mol/L"}}
    assert sentence(batch) == "[conditions] tau: a batch reactor has no such condition (known: T, P)."
    assert sentence(changed(batch, {"conditions.tau": None})) == "feed: a batch reactor has no feed amounts. Remove them."


def test_rates_need_their_concentrations():
    study = {"reactions": TANK["reactions"], "reactor": {"type": "differential"}}
    assert sentence(study, "rate[r1] [mol/L/min]\n0.1\n") == (
        'differential: no concentration of A, which the rates need. Add a column "A [mol/L]", or write A = "1 mol/L" under [conditions].'
    )
    given = problem(changed(study, {"conditions.A": "2 mol/L"}), "rate[r1] [mol/L/min]\n0.1\n")
    np.testing.assert_allclose(given.lanes["concentrations"][0, 0], 2000.0)


def test_all_problems_of_one_stage_at_once():
    change = {"reactor.type": "cstrr", "responses.X": "1 - [A", **reaction(k="1 1/min", at="350 K")}
    assert len(problems(changed(TANK, change), TANKS)) == 3
    change = {"conditions": {"tua": "5 min", "feed": {"A": "-1"}}, "initial": {"A": "1"}}
    assert len(problems(changed(TANK, change), TANKS)) == 3


def test_a_suspicious_temperature_warns_unless_allowed():
    study = changed(TANK, {"conditions.T": "25 K"})
    with pytest.warns(KinetixWarning, match=r"^T = 25 K is outside 150-3000 K. Did you mean 25 degC .* Write allow_temperature = true"):
        problem(study, TANKS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem(changed(study, {"conditions.allow_temperature": True}), TANKS)


def test_nothing_to_estimate_and_nothing_measured():
    with pytest.raises(InputError, match=r"Nothing to estimate: every parameter is known. Write \{ start = \"...\" \} for those"):
        fit_problem(problem(changed(TANK, {"reactions.r1.k": "0.1 1/min"}), TANKS))
    with pytest.raises(InputError, match="Nothing measured: the data hold no value of any response"):
        fit_problem(problem(TANK, responses=all_responses))


# --------------------------------------------------------------------------------------------------------------- explicit models


@pytest.mark.parametrize(
    ("change", "table", "words"),
    [
        (
            {"reactions": TANK["reactions"], "conditions.feed": {"A": "1 mol/L"}},
            POINTS,
            "[model] replaces reactions and reactor, so [reactions], [conditions] feed cannot stand beside it. Remove one or the other.",
        ),
        (
            {},
            "x [min],y [1]\n1,2\n",
            "Model 'y': 'a*x + b' adds volume*time/amount and dimensionless; the terms of a sum need the same dimension.",
        ),
        (
            {},
            "x [mol/L],y [mol/L]\n1,2\n",
            "Model 'y': the right-hand side is dimensionless, but y is amount/volume (mol/L)."
            " Check the units of the parameters and columns.",
        ),
        (
            {"model": {"log(y)": "a*x + b"}},
            "x [mol/L],y [mol/L]\n1,2\n",
            'Model \'log(y)\': y has unit mol/L, so its logarithm needs a logarithm on the right as well: "log(y)" = "log(...)".',
        ),
        (
            {"model": {"log(y)": "a*x + b"}},
            "x [mol/L],y [%]\n1,2\n2,-20\n",
            "table1.csv, line 3: y is -20; model 'log(y)' compares logarithms, and only values above 0 have one. Leave the cell empty.",
        ),
        (
            {"model": {"y + 1": "a*x + b"}},
            POINTS,
            "Model 'y + 1': the left-hand side is a column name or log(name), for example y or log(y).",
        ),
        ({"model": {"y": "a*[x] + b"}}, POINTS, "Model 'y' uses [x]; an explicit model uses columns and parameters by plain names."),
        (
            {"model": {"y": "a*x +"}},
            POINTS,
            "Model 'y': cannot read the formula 'a*x +': column 6: the formula ends where a number, a name, [species], a function or '('"
            " was expected.",
        ),
        ({}, "y [1]\n2\n", "The model uses 'x', which is neither a column of the data nor under [parameters]."),
        ({"parameters.c": 1.0}, POINTS, "Parameter 'c' is given but nothing uses it. Remove it, or use it."),
        ({"conditions.z": "2 mol/L"}, POINTS, "[conditions] z: an explicit model has no such condition (known: x, T)."),
        (
            {"model": {"y": "a*x*T"}, "parameters": {"a": {"start": "1 L/mol/K"}}},
            POINTS,
            'No temperature: a rate constant or formula depends on T. Add a column such as "T [degC]", or T = "350 K" under [conditions].',
        ),
    ],
)
def test_explicit_models(change, table, words):
    assert sentence(changed(LINE, change), table) == words


def test_a_condition_may_stand_for_a_column():
    given = problem(changed(LINE, {"conditions.x": "2 mol/L"}), "y [1]\n2\n3\n")
    np.testing.assert_allclose(given.lanes["predictors"], 2000.0)


# ------------------------------------------------------------------------------------------------------------------------ times


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("0:10:3 s", [0, 5, 10]),
        ("0.5 : 1 : 2 min", [30, 60]),
        ("1e1:2e1:3 h", [36e3, 54e3, 72e3]),
        ("5 min", [300]),
        (["0 s", "5 min", "5 min", "0.1 h"], [0, 300, 300, 360]),
        ([0, 1.5], [0, 1.5]),
        (np.array([0.0, 2.0]), [0, 2]),
    ],
)
def test_times(written, seconds):
    np.testing.assert_allclose(parse_times(written), seconds, rtol=1e-14)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("0:10", 'Times "0:10": expected "start:stop:points unit", for example "0:3600:61 s".'),
        ("0:10:5", 'Times "0:10:5": expected "start:stop:points unit", for example "0:3600:61 s".'),
        ("0:10:x s", 'Times "0:10:x s": expected "start:stop:points unit", for example "0:3600:61 s".'),
        ("0:10:2.5 s", 'Times "0:10:2.5 s": expected "start:stop:points unit", for example "0:3600:61 s".'),
        ("0:1:2:3 s", 'Times "0:1:2:3 s": expected "start:stop:points unit", for example "0:3600:61 s".'),
        ("10:0:5 s", 'Times "10:0:5 s": expected 0 <= start < stop and at least 2 points.'),
        ("-1:10:5 s", 'Times "-1:10:5 s": expected 0 <= start < stop and at least 2 points.'),
        ("0:10:1 s", 'Times "0:10:1 s": expected 0 <= start < stop and at least 2 points.'),
        ("0:10:5 mol", "times has unit mol (amount), but time is needed, for example s."),
        ("10", "times: '10' has no unit: write one after the number, for example '10 s'."),
        ("abc", "times: cannot read 'abc' as a number and a unit; write for example '0.1 s'."),
        (["5 s", "1 s"], 'Times [5 s, 1 s]: expected increasing times, none below 0, for example ["0 s", "60 s", "300 s"].'),
        (["-1 s"], 'Times [-1 s]: expected increasing times, none below 0, for example ["0 s", "60 s", "300 s"].'),
        ([], 'Times []: expected increasing times, none below 0, for example ["0 s", "60 s", "300 s"].'),
        ([0.0, np.nan], 'Times [0.0, nan]: expected increasing times, none below 0, for example ["0 s", "60 s", "300 s"].'),
        ("0:1e300:5 s", "Times: 1e+300 s is longer than the universe is old. Look at the number and its unit."),
        (["1e300 min"], "Times: 6e+301 s is longer than the universe is old. Look at the number and its unit."),
        ([[0.0, 1.0]], "Times: expected one row of times, found an array of shape (1, 2)."),
    ],
)
def test_times_that_cannot_be(written, words):
    with pytest.raises((StudyError, UnitError)) as error:
        parse_times(written)
    assert str(error.value) == words


def test_a_batch_without_times_is_not_simulated():
    batch = {"reactions": {"r1": {"equation": "A -> B", "k": "0.1 1/min"}}, "reactor": {"type": "batch"}, "initial": {"default": "1 mol/L"}}
    with pytest.raises(StudyError, match=r'^No times to simulate. Write times = "0:60:61 min" under \[simulate\]'):
        simulate_problem(problem(batch, responses=all_responses))


@pytest.mark.parametrize(
    ("section", "names"),
    [
        ({"rate": "kf*[A]", "parameters": {"kf": {"kf": {"start": "1 1/min"}, "Ea": {"start": "60 kJ/mol"}}}}, ("r1.kf.k_ref", "r1.kf.Ea")),
        ({"rate": "Kf*[A]", "parameters": {"Kf": {"Kf": {"start": "1 1/min"}, "Ea": {"start": "60 kJ/mol"}}}}, ("r1.Kf.k_ref", "r1.Kf.Ea")),
        (
            {"rate": "k*q*[A]", "k": "1 1/min", "parameters": {"q": {"q": {"start": "1 -"}, "dH": {"start": "-9 kJ/mol"}}}},
            ("r1.k", "r1.q.K_ref", "r1.q.dH"),
        ),
        (
            {
                "law": "michaelis_menten",
                "parameters": {"Vmax": "1 mol/L/s", "Km": {"Km": {"start": "1 mol/L"}, "dH": {"start": "9 kJ/mol"}}},
            },
            ("r1.Vmax", "r1.Km.K_ref", "r1.Km.dH"),
        ),
    ],
)
def test_a_law_or_the_user_says_what_follows_vant_hoff(section, names):
    given = problem(changed(TANK, {"conditions": HOT, **reaction(**section)}), TANKS)
    assert given.table.names == names
    assert [factor.name for factor in given.derived] == [f"{name.removesuffix('.k_ref')}.A" for name in names if name.endswith(".k_ref")]


def test_a_rate_constant_has_no_dH():
    parameters = {"Vmax": {"Vmax": {"start": "1 mol/L/s"}, "dH": {"start": "9 kJ/mol"}}, "Km": "1 mol/L"}
    words = sentence(changed(TANK, {"conditions": HOT, **reaction(law="michaelis_menten", parameters=parameters)}), TANKS)
    assert words == "Parameter 'r1.Vmax' is a rate constant and follows Arrhenius. Write Ea in the place of dH."


def test_settings_of_the_integration_beside_a_tank():
    words = sentence(changed(TANK, {"solver": {"rtol": 1e-4, "max_steps": 10, "atol": "1e-9 mol/L"}}), TANKS)
    assert words == (
        "[solver] max_steps and rtol: for reactors that are integrated; a cstr reactor is not"
        " (a steady state is found to 1e-10). Remove them."
    )


@pytest.mark.parametrize(
    ("change", "tables", "place"),
    [
        ({"conditions.P": "2 bar"}, (TANKS,), r"\[conditions\] P"),
        ({"conditions.P": "2 bar", "reactions.r1.k": "0.1 1/min"}, (), r"\[conditions\] P"),
        ({}, ("P [bar],A [mol/L]\n1,0.5\n2,0.4\n",), r"table1.csv, column 'P \[bar\]'"),
    ],
)
def test_a_pressure_that_nothing_depends_on(change, tables, place):
    with pytest.warns(KinetixWarning, match=place + ": nothing in the model depends on it yet. It changes nothing."):
        built = problem(changed(TANK, change), *tables)
    assert len(built.campaign.warnings) == 1


def test_a_pressure_that_a_formula_uses():
    study = {"model": {"y": "a*P"}, "parameters": {"a": {"start": "1 1/bar"}}}
    assert not problem(study, "P [bar],y [1]\n1,2\n2,4\n").campaign.warnings


def test_mass_action_up_to_its_largest_order():
    """c A -> B with r = k [A]^n in a batch: [A]^(1 - n) = [A]0^(1 - n) + (n - 1) n k t."""
    n = 6
    study = {
        "reactions": {"r1": {"equation": f"{n} A -> B", "k": "0.3 L^5/mol^5/s"}},
        "reactor": {"type": "batch"},
        "initial": {"A": "1 mol/L", "default": "0 mol/L"},
        "simulate": {"times": ["0 s", "2 s"]},
    }
    simulated = simulate_problem(problem(study, responses=all_responses))["simulation/predicted"].sel(response="A").values[0]
    np.testing.assert_allclose(simulated, [1.0, (1 + (n - 1) * n * 0.3 * 2) ** (1 / (1 - n))], rtol=1e-7)
    words = sentence(changed(TANK, reaction(equation="13 A -> B", k="1 1/s")), TANKS)
    assert words.startswith("Reaction 'r1': its total order is 13, and mass action goes up to 12. Write the rate as a formula")


@pytest.mark.parametrize(
    ("section", "name"),
    [
        ({"k": "-0.5 1/h"}, "r1.k"),
        ({"k": "-0.5 1/h", "at": "350 K", "Ea": "60 kJ/mol"}, "r1.k"),
        ({"law": "michaelis_menten", "parameters": {"Vmax": "1 mol/L/h", "Km": "-0.5 mol/L"}}, "r1.Km"),
    ],
)
def test_a_known_constant_of_a_law_is_not_below_zero(section, name):
    conditions = {"conditions.T": "350 K"} if "Ea" in str(section) else {}
    words = sentence(changed(TANK, reaction(**section) | conditions), TANKS)
    assert f"Parameter '{name}' is -0.5" in words and "cannot be below zero" in words
    problem(changed(TANK, reaction(rate="kf*[A] + a*[A]", parameters={"kf": "1 1/min", "a": "-0.1 1/min"})), TANKS)
