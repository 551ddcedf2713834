"""The energy balance as it is written: what is read, said and refused; temperature as a response and as a condition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kinetix as kx
from kinetix.errors import InputError, KinetixWarning
from kinetix.studies.describing import describe_model
from tests.reference.studies import fit, parameters, problem, simulate, simulated, unit

R1 = {"equation": "A -> B", "k": "0.1 1/min", "Ea": "60 kJ/mol", "at": "330 K", "dHr": "-80 kJ/mol"}
JACKET = {"type": "jacket", "heat_capacity": "3.5 MJ/m^3/K", "UA": "50 W/K"}
TANK = {
    "reactions": {"r1": R1},
    "reactor": {"type": "cstr"},
    "energy": {"type": "adiabatic", "heat_capacity": "3.5 MJ/m^3/K"},
    "conditions": {"tau": "10 min", "T_feed": "320 K", "feed": {"A": "1 mol/L", "B": "0 mol/L"}},
}
BATCH = {
    "reactions": {"r1": R1},
    "reactor": {"type": "batch"},
    "energy": {"type": "adiabatic", "heat_capacity": "3.5 MJ/m^3/K"},
    "conditions": {"T_initial": "320 K"},
    "initial": {"A": "1 mol/L", "B": "0 mol/L"},
}


def changed(study, **sections):
    """The study with other entries in its sections; None removes one."""
    out = dict(study)
    for name, entries in sections.items():
        merged = {**out.get(name, {}), **entries}
        out[name] = {key: value for key, value in merged.items() if value is not None}
    return out


def refused(study, *tables):
    with pytest.raises(InputError) as error:
        problem(study, *tables)
    return error.value.problems


@pytest.mark.parametrize(
    ("sections", "sentence"),
    [
        ({"energy": {"type": "adiabat"}}, "[energy] type = \"adiabat\" is unknown. Known: adiabatic, jacket. Did you mean 'adiabatic'?"),
        ({"energy": {"UA": "1 W/K"}}, '[energy] UA: an adiabatic reactor exchanges no heat. Remove it, or write type = "jacket".'),
        (
            {"energy": {"heat_capacity": None}},
            '[energy] heat_capacity: missing. Write heat_capacity = "4.18 MJ/m^3/K" (of the fluid per volume, rho cp), or a table by'
            ' species, { A = "150 J/mol/K", ..., solvent = "4 MJ/m^3/K" }.',
        ),
        (
            {"energy": {"heat_capacity": "4.18 J/g/K"}},
            "heat_capacity has unit J/g/K (energy/mass/temperature), but energy/volume/temperature is needed, for example J/L/K.",
        ),
        ({"energy": {"heat_capacity": "-4 J/L/K"}}, "Parameter 'heat_capacity' is -4 J/L/K, and it is above zero. Correct it."),
        (
            {"energy": {"heat_capacity": {"A": "100 J/mol/K"}, "at": "25 degC"}},
            '[energy] heat_capacity: no heat capacity of B. Write B = "100 J/mol/K" in the table.',
        ),
        (
            {"energy": {"heat_capacity": {"A": "100 J/mol/K", "B": "100 J/mol/K"}}},
            "[energy] at: missing. With heat capacities by species the enthalpies of reaction change with T: write the temperature at which"
            ' dHr holds, at = "25 degC".',
        ),
        (
            {"energy": {"at": "25 degC"}},
            "[energy] at: with one heat capacity of the fluid the enthalpies of reaction hold at every temperature. Remove it, or write"
            " heat capacities by species.",
        ),
        (
            {"energy": {"type": "jacket"}},
            '[energy]: neither UA nor UA/V is given. Write UA = "50 W/K" (with the volume V), or "UA/V" = "20 kW/m^3/K".',
        ),
        (
            {"energy": {"type": "jacket", "UA": "1 W/K", "UA/V": "1 W/L/K"}},
            '[energy]: both UA and UA/V are given. Keep one. Write UA = "50 W/K" (with the volume V), or "UA/V" = "20 kW/m^3/K".',
        ),
        (
            {"energy": {"type": "jacket", "UA/V": "1 W/L/K", "coolant_flow": "2 W/K"}},
            '[energy] coolant_flow: it goes with UA. Write UA = "50 W/K" and the volume V in the place of UA/V.',
        ),
        (
            {"reactions": {"r1": {**R1, "dHr": None}}},
            "Reaction 'r1' has no enthalpy of reaction, which [energy] needs. Write dHr = \"-84 kJ/mol\", per mol of 'A -> B' as written"
            " and below zero where heat is released.",
        ),
        (
            {"reactions": {"r1": {"equation": "A -> B", "k": "0.1 1/min", "at": "330 K", "dH": "60 kJ/mol"}}},
            "Reaction 'r1' has no enthalpy of reaction, which [energy] needs. Write dHr = \"-84 kJ/mol\", per mol of 'A -> B' as written"
            " and below zero where heat is released (dH is the enthalpy of activation).",
        ),
        (
            {"reactions": {"r1": {"equation": "A <=> B", "kf": "1 1/s", "K": {"K": "2 -", "dH": "1 J/mol"}, "dHr": "1 J/mol"}}},
            "Reaction 'r1': its enthalpy is given twice, as dH of K (van 't Hoff) and as dHr (heat of reaction). They are the same number:"
            " remove dHr.",
        ),
        (
            {"conditions": {"T": "350 K"}},
            "[conditions] T: with [energy] the temperature is an answer. Write T_feed, at which it starts, or remove [energy].",
        ),
        (
            {"conditions": {"T_feed": None}},
            'cstr: no feed temperature, which [energy] needs. Add a column such as "T_feed [degC]", or write T_feed = "25 degC" under'
            " [conditions].",
        ),
        (
            {"responses": {"T": "2*T"}},
            "T is the temperature, which follows from [energy]. Give the species or response of this name another one.",
        ),
        (
            {"energy": {"T_feed": "300 K"}},
            "study.toml, [energy] T_feed: unknown key 'T_feed'. Known: type, heat_capacity, at, UA, UA/V, coolant_flow, coolant_holdup.",
        ),
    ],
)
def test_one_problem_is_one_sentence(sections, sentence):
    assert refused(changed(TANK, **sections)) == (sentence,)


def test_what_a_jacket_needs_is_told_at_once():
    assert refused({**TANK, "energy": JACKET}) == (
        'cstr: no temperature of the coolant, which [energy] needs. Add a column such as "T_coolant [degC]", or write T_coolant = "25 degC"'
        " under [conditions].",
        'cstr: UA without the volume V of the fluid. Add a column such as "V [L]", or write V = "10 L" under [conditions], or "UA/V" in the'
        " place of UA under [energy].",
    )


def test_where_there_is_no_energy_balance():
    (without,) = refused({**{key: value for key, value in TANK.items() if key != "energy"}, "conditions": {"tau": "1 min", "T": "300 K"}})[
        :1
    ]
    assert without.startswith("Reaction 'r1': dHr is for an energy balance, and there is none: T is given. Write [energy] with")
    measured = {"reactions": {"r1": R1}, "reactor": {"type": "differential"}, "energy": TANK["energy"]}
    assert "[energy]: a differential reactor has no energy balance: its temperature is given. Remove [energy]." in refused(measured)
    catalyst = changed({**TANK, "energy": {**JACKET}}, reactor={"basis": "catalyst_mass"})
    assert any("a jacket is not available yet for a cstr reactor with rates per catalyst mass" in problem for problem in refused(catalyst))


def test_what_a_coolant_with_a_holdup_needs():
    alone = changed({**BATCH, "energy": {**JACKET, "coolant_holdup": "5 kJ/K"}})
    assert refused(alone) == (
        '[energy] coolant_holdup: it goes with coolant_flow, through which heat leaves. Write coolant_flow = "200 W/K".',
    )
    at_rest = {**TANK, "energy": {**JACKET, "coolant_flow": "200 W/K", "coolant_holdup": "5 kJ/K"}}
    assert refused(at_rest) == ("[energy] coolant_holdup: what a jacket holds has no effect on the steady state of a cstr. Remove it.",)
    adiabatic = changed(BATCH, energy={"coolant_holdup": "5 kJ/K"})
    assert refused(adiabatic) == ('[energy] coolant_holdup: an adiabatic reactor exchanges no heat. Remove it, or write type = "jacket".',)
    without = {**BATCH, "energy": at_rest["energy"], "conditions": {"T_initial": "320 K", "V": "1 L", "T_coolant": "300 K"}}
    assert refused(without) == (
        'batch: no initial temperature of the jacket, which [energy] needs. Add a column such as "T_jacket_initial [degC]", or write'
        ' T_jacket_initial = "25 degC" under [conditions].',
    )
    rows = describe_model(problem(changed(without, conditions={"T_jacket_initial": "310 K"})))
    assert ("energy balance", "C*dT/dt = - dHr(r1)*r(r1) + UA/V*(T_jacket - T)") in rows
    assert ("coolant", "coolant_holdup*dT_jacket/dt = UA*(T - T_jacket) + coolant_flow*(T_coolant - T_jacket)") in rows


def test_what_is_fed_and_what_is_there_have_their_temperatures():
    conditions = {"T": "300 K", "V": "1 L", "Q": "1 L/h", "feed": {"A": "0 mol/L", "B": "1 mol/L"}}
    study = {**BATCH, "reactor": {"type": "semibatch"}, "conditions": conditions}
    assert refused(study) == (
        "[conditions] T: with [energy] the temperature is an answer. Write T_initial, at which it starts, and T_feed, or remove [energy].",
    )
    assert refused({**study, "conditions": {name: value for name, value in conditions.items() if name != "T"}}) == (
        'semibatch: no initial temperature, which [energy] needs. Add a column such as "T_initial [degC]", or write T_initial = "25 degC"'
        " under [conditions].",
        'semibatch: no feed temperature, which [energy] needs. Add a column such as "T_feed [degC]", or write T_feed = "25 degC" under'
        " [conditions].",
    )


def test_a_pressure_that_is_an_answer_has_no_other_meaning():
    study = {
        "reactions": {"r1": {"equation": "A -> B", "k": "1 1/s"}},
        "initial": {"A": "1 bar", "B": "0 bar"},
        "conditions": {"T": "300 K"},
    }
    rigid = {**study, "reactor": {"type": "batch", "density": "gas_at_constant_volume"}}
    assert refused({**rigid, "responses": {"P_total": "2*p[A]"}}) == (
        "P_total is the pressure, which follows from the amounts. Give the species or response of this name another one.",
    )
    assert refused({**rigid, "conditions": {"T": "300 K", "P": "1 bar"}}) == (
        "[conditions] P: of a gas at constant volume the pressure is an answer, P_total; it starts with the amounts.",
    )


def test_an_adiabatic_tank_with_a_catalyst():
    """W/Q in the place of tau: the temperature still rises by -dHr/(rho cp) per mol/m^3 that reacts."""
    study = changed(TANK, reactor={"basis": "catalyst_mass"}, conditions={"tau": None, "W/Q": "3 kg h/m^3"})
    tree = simulate({**study, "reactions": {"r1": {**R1, "k": "1 m^3/kg/h"}}})
    assert simulated(tree, "T").item() == pytest.approx(320 + 80e3 / 3.5e6 * 1000 * simulated(tree, "B").item(), rel=1e-10)


def test_temperature_is_a_response():
    tree = simulate(BATCH | {"simulate": {"times": "0:60:4 min"}})
    assert list(tree["simulation"]["response"].values) == ["A", "B", "T"] and unit(tree, "T") == "K"
    assert_allclose(simulated(tree, "T"), 320 + 80e3 / 3.5e6 * 1000 * (1 - simulated(tree, "A")), rtol=1e-8)
    fahrenheit = {**BATCH, "conditions": {"T_initial": "100 degF"}, "simulate": {"times": "0:60:4 min"}}
    assert unit(simulate(fahrenheit), "T") == "degF" and simulated(simulate(fahrenheit), "T")[0, 0] == pytest.approx(100.0)
    formulas = {"responses": {"rise": "T - 320", "p": "p[A]"}}
    with pytest.raises(InputError):  # a temperature less a number
        simulate(BATCH | {**formulas, "simulate": {"times": "0:60:4 min"}})
    tree = simulate(BATCH | {"responses": {"p": "p[A]", "r": "rate[r1]"}, "simulate": {"times": "0:60:4 min"}})
    assert_allclose(simulated(tree, "p"), simulated(tree, "A") * 1e3 * 8.31446261815324 * simulated(tree, "T") / 1e5, rtol=1e-12)
    k = 0.1 * np.exp(-60e3 / 8.31446261815324 * (1 / simulated(tree, "T") - 1 / 330))
    assert_allclose(simulated(tree, "r"), k * simulated(tree, "A"), rtol=1e-10)


def test_a_column_t_is_measured():
    put = problem(BATCH | {"conditions": {}}, "time [min],T0 [degC],T [degC]\n0,40,40.1\n10,40,45\n")
    assert put.responses == ("T",) and put.units[0].text == "degC"
    assert_allclose(put.lanes["T_start"], [313.15])
    assert "'T [degC]' is the response T" in " ".join(put.campaign.notes)
    (k,) = put.constants
    assert put.table.names[:4] == ("r1.k_ref", "r1.Ea", "r1.dHr", "heat_capacity") and k.T_ref == 330.0


def test_the_reference_temperature_is_that_of_what_was_measured():
    study = BATCH | {"conditions": {}, "reactions": {"r1": {**R1, "k": {"start": "0.1 1/min"}, "at": None}}}
    study["reactions"]["r1"].pop("at")
    (k,) = problem(study, "time [min],T0 [K],T [K]\n0,310,\n10,310,320\n20,310,340\n").constants
    assert k.T_ref == pytest.approx(2 / (1 / 320 + 1 / 340), rel=1e-14)
    (k,) = problem(study, "experiment,time [min],T0 [K],A [M]\na,0,310,1\nb,0,330,1\n").constants
    assert k.T_ref == pytest.approx(2 / (1 / 310 + 1 / 330), rel=1e-14)


def test_the_balance_as_it_is_printed():
    rows = describe_model(problem({**TANK, "energy": JACKET, "conditions": {**TANK["conditions"], "T_coolant": "300 K", "V": "1 L"}}))
    assert ("energy balance", "0 = C(feed)*(T_feed - T)/tau - dHr(r1)*r(r1) + UA/V*(T_coolant - T)") in rows
    assert ("heat capacity C", "heat_capacity") in rows and ("dHr(r1)", "r1.dHr") in rows
    table = {"heat_capacity": {"A": "100 J/mol/K", "B": "80 J/mol/K", "solvent": "3 MJ/m^3/K"}, "at": "25 degC"}
    rows = describe_model(problem(changed(BATCH, energy=table)))
    assert ("energy balance", "C*dT/dt = - dHr(r1)*r(r1)") in rows
    assert ("heat capacity C", "heat_capacity.solvent + heat_capacity.A*[A] + heat_capacity.B*[B]") in rows
    assert ("dHr(r1)", "r1.dHr + (change of C)*(T - 298.15 K)") in rows


def test_an_odd_temperature_of_the_feed_is_told():
    with pytest.warns(KinetixWarning, match=r"T_feed = 25 K is outside 150-3000 K. Did you mean 25 degC"):
        problem(changed(TANK, conditions={"T_feed": "25 K"}))


def test_what_only_a_ratio_determines_is_named():
    """From temperatures alone of an adiabatic vessel dHr and the heat capacity cannot both be told."""
    energy = {"type": "adiabatic", "heat_capacity": {"start": "3 MJ/m^3/K"}}
    study = BATCH | {"energy": energy, "reactions": {"r1": {**R1, "dHr": {"start": "-70 kJ/mol"}}}}
    T = simulated(simulate(BATCH | {"simulate": {"times": "0:40:5 min"}}), "T")[0]
    tree = fit(study, "time [min],T [K]\n" + "\n".join(f"{t},{value:.12g}" for t, value in zip((0, 10, 20, 30, 40), T, strict=True)))
    assert not np.isfinite(parameters(tree, "r1.dHr", "heat_capacity", quantity="stderr")).any()
    dHr, C = parameters(tree, "r1.dHr", "heat_capacity")
    assert dHr / C == pytest.approx(-80 / 3.5, rel=1e-6)


def test_from_python(tmp_path):
    tank = kx.CSTR(kx.parse_network("A -> B"), energy={"type": "jacket", "heat_capacity": "239 J/L/K", "UA": kx.estimate("4e4 J/min/K")})
    path = tmp_path / "tank.csv"
    constants = {"r1.A": "7.2e10 1/min", "r1.Ea": "72.75 kJ/mol", "r1.dHr": "-50 kJ/mol", "feed.A": "1 mol/L", "feed.B": "0 mol/L"}
    known = kx.CSTR(tank.network, energy={"type": "jacket", "heat_capacity": "239 J/L/K", "UA": "5e4 J/min/K"})
    rows = ["V [L],Q [L/min],T_feed [K],T_coolant [K],T [K]"]
    for coolant in (290, 295, 299):
        conditions = {"V": "100 L", "Q": "100 L/min", "T_feed": "350 K", "T_coolant": f"{coolant} K"}
        T = kx.simulate(known, constants, conditions=conditions)["simulation/predicted"].sel(response="T").item()
        rows.append(f"100,100,350,{coolant},{T!r}")
    path.write_text("\n".join(rows))
    tree = kx.fit(tank, kx.read_csv(path, tank), {}, known=constants)
    assert_allclose(parameters(tree, "UA"), [5e4], rtol=1e-6)
    with pytest.raises(InputError, match=r"\[energy\] kind: unknown key 'kind'"):
        kx.Batch(tank.network, energy={"type": "adiabatic", "kind": "x"})
