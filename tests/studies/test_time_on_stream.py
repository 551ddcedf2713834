"""The time on stream as a condition: what is read, said, reported and refused; formulas and Python functions that use it."""

import pytest
from numpy.testing import assert_allclose

import kinetix as kx
from kinetix.errors import InputError
from kinetix.studies.describing import describe_model
from kinetix.studies.simulating import check_problem
from tests.reference.studies import fit, parameters, problem, simulate, simulated

R1 = {"equation": "A -> B", "k": {"start": "0.1 1/min"}, "kd": {"start": "0.01 1/h"}}
TANK = {"reactor": {"type": "cstr"}, "conditions": {"feed": {"A": "1 mol/L", "B": "0 mol/L"}}}
FORMULA = "k*[A]/(1 + kd*t_on_stream)"  # of second order: a = 1/(1 + kd t)
HYPERBOLIC = "\n".join(f"{t},{tau},{1 / (1 + 0.5 * tau / (1 + 0.02 * t)):.15g}" for t in (0, 10, 30, 60) for tau in (1, 4))
HEADER = "t_on_stream [h],tau [min],A [mol/L]"


def rows(header=HEADER):
    return f"{header}\n{HYPERBOLIC}"


def refused(study, *tables):
    with pytest.raises(InputError) as error:
        problem(study, *tables)
    return str(error.value)


@pytest.mark.parametrize("header", ["t_on_stream [h]", "time on stream (h)", "TOS [h]", "T_on_stream_h", "Time on Stream / h"])
def test_headers(header):
    put = problem({**TANK, "reactions": {"r1": R1}}, rows(f"{header},tau [min],A [mol/L]"))
    assert_allclose(put.lanes["t_on_stream"][[0, -1]], [0.0, 60 * 3600.0])
    assert "is the time on stream t_on_stream" in " ".join(put.campaign.notes)


def test_a_formula_with_another_decay():
    reaction = {"equation": "A -> B", "rate": FORMULA, "parameters": {"k": {"start": "0.1 1/min"}, "kd": {"start": "0.1 1/h"}}}
    assert_allclose(parameters(fit({**TANK, "reactions": {"r1": reaction}}, rows()), "r1.k", "r1.kd"), [0.5, 0.02], rtol=1e-8)
    beside = {**reaction, "parameters": {"k": {"start": "0.1 1/min"}}, "kd": {"start": "0.1 1/h"}}
    assert_allclose(parameters(fit({**TANK, "reactions": {"r1": beside}}, rows()), "r1.k", "r1.kd"), [0.5, 0.02], rtol=1e-8)


def test_a_response_may_use_it():
    study = {**TANK, "reactions": {"r1": {**R1, "k": "0.1 1/min", "kd": "0.01 1/h"}}, "responses": {"loss": "kd1*t_on_stream"}}
    study = {**study, "parameters": {"kd1": "0.01 1/h"}}
    study["conditions"] = {**TANK["conditions"], "tau": "1 min", "t_on_stream": "50 h"}
    assert simulated(simulate(study), "loss").item() == pytest.approx(0.5, rel=1e-14)


def test_the_law_as_it_is_printed():
    put = problem({**TANK, "reactions": {"r1": {**R1, "equation": "A <=> B", "k": None, "kf": "1 1/min", "K": "2 -"}}}, rows())
    assert ("r1", "A <=> B", "exp(-kd*t_on_stream)*(kf*[A] - kf/K*[B])") in describe_model(put)
    assert put.table.names == ("r1.kf", "r1.K", "r1.kd")


def test_python_formulas_functions_and_constants_by_name(tmp_path):
    path = tmp_path / "tank.csv"
    path.write_text(rows())
    network = kx.parse_network("A -> B")
    known = {"feed.A": "1 mol/L", "feed.B": "0 mol/L"}
    formula = kx.CSTR(network, rates={"r1": FORMULA})
    tree = kx.fit(formula, kx.read_csv(path, formula), {"r1.k": "0.1 1/min", "r1.kd": "0.1 1/h"}, known=known)
    assert_allclose(parameters(tree, "r1.k", "r1.kd"), [0.5, 0.02], rtol=1e-8)
    simulated_by = []
    for rates in ({}, {"r1": kx.law(lambda c, k, T: k["k"] * c["A"], constants={"k": "1/min"}, species=["A"])}):
        tank = kx.CSTR(network, rates=rates)
        at = {"tau": "3 min", "t_on_stream": "10 h", "T": "360 K"}
        arrhenius = {"r1.kd": {"value": "0.05 1/h"}, "r1.kd.Ea": "40 kJ/mol", "r1.kd.at": "360 K"}
        tree = kx.simulate(tank, {**known, "r1.k": "0.5 1/min", **arrhenius}, conditions=at)
        simulated_by.append(tree["simulation/predicted"].sel(response="A").item())
    assert_allclose(simulated_by, 1 / (1 + 1.5 * 2.718281828459045**-0.5), rtol=1e-12)


def test_no_effect_is_said():
    put = problem({**TANK, "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.1 1/min"}}}}, rows())
    (line,) = [line for line in check_problem(put) if line.startswith("attention")]
    assert "A time on stream is given (0 to 60 h), but no rate depends on it. Write kd = {}" in line
    assert "t_on_stream" not in put.lanes


def test_one_time_on_stream_does_not_determine_it():
    table = "\n".join([HEADER, *(f"10,{tau},{1 / (1 + 0.4 * tau)}" for tau in (1, 2, 4, 8))])
    tree = fit({**TANK, "reactions": {"r1": R1}}, table)
    assert "do NOT determine r1.k and r1.kd" in tree.attrs["verdict"]


# ------------------------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize("changed", [R1, {"equation": "A -> B", "rate": FORMULA, "parameters": {"k": "1 1/s", "kd": "1 1/h"}}])
def test_without_a_column(changed):
    said = refused({**TANK, "reactions": {"r1": changed}}, "tau [min],A [mol/L]\n1,0.5\n2,0.4")
    assert "cstr: no time on stream" in said and "Add a column 't_on_stream [h]'" in said and "[conditions]" in said


def test_in_a_batch():
    said = refused({"reactor": {"type": "batch"}, "initial": {"A": "1 mol/L", "B": "0 mol/L"}, "reactions": {"r1": R1}})
    assert "The rate of r1 depends on the time on stream (t_on_stream), which a batch does not have" in said
    assert "'S + cat -> P + cat'" in said and "[initial]" in said
    with pytest.raises(InputError, match="a batch does not have"):
        kx.simulate(kx.Batch(kx.parse_network("A -> B"), rates={"r1": FORMULA}), {"r1.k": "1 1/s", "r1.kd": "1 1/h"})


@pytest.mark.parametrize(
    ("reaction", "words"),
    [
        ({**R1, "kd": "0.1 L/mol"}, ["r1.kd", "1/time is needed"]),
        ({**R1, "kd": {"start": "-0.1 1/h"}}, ["r1.kd", "above 0"]),
        ({**R1, "kd": "-0.1 1/h"}, ["r1.kd", "below zero"]),
        ({**R1, "kd": {"kd": "0.1 1/h", "Ea": "50 kJ/mol"}}, ["r1.kd", "at which temperature"]),
        ({**R1, "kd": {"kd": "0.1 1/h", "dH": "50 kJ/mol", "at": "350 K"}}, ["r1.kd", "Write Ea in the place of dH"]),
        ({**R1, "kd": "nowhere"}, ["r1.kd", "nowhere", "[parameters]"]),
        (
            {"equation": "A -> B", "rate": "k*[A]*exp(-b1*t_on_stream)", "parameters": {"k": "1 1/s", "b1": "1 1/h"}, "kd": "1 1/h"},
            ["r1", "uses t_on_stream itself", "Keep one"],
        ),
        (
            {"equation": "A -> B", "rate": "k*[A]*t_on_stream", "parameters": {"k": "1 1/s"}},
            ["Rate of 'r1'", "has dimension", "is needed"],
        ),
        (
            {"equation": "A -> B", "rate": "k*[A]*exp(-kd*t_on_strem)", "parameters": {"k": "1 1/s", "kd": "1 1/h"}},
            ["t_on_strem", "Did you mean 't_on_stream'"],
        ),
        (
            {"equation": "A -> B", "rate": "k*[A]*t_on_stream", "parameters": {"k": "1 1/s", "t_on_stream": "2 -"}},
            ["r1", "t_on_stream is the time on stream of each row", "another name"],
        ),
    ],
)
def test_what_cannot_be(reaction, words):
    said = refused({**TANK, "reactions": {"r1": reaction}}, rows())
    for word in words:
        assert word in said, said


def test_columns_that_cannot_be():
    study = {**TANK, "reactions": {"r1": R1}}
    assert "which is negative" in refused(study, f"{HEADER}\n-1,2,0.5\n3,4,0.4")
    assert "t_on_stream" in refused(study, rows("t_on_stream [1/h],tau [min],A [mol/L]"))
    said = refused(study, rows("time [h],tau [min],A [mol/L]"))
    assert 'columns = { t_on_stream = "time [h]" }' in said
    mapped = {**study, "data": {"columns": {"t_on_stream": "time [h]"}}}
    assert "t_on_stream" in problem(mapped, rows("time [h],tau [min],A [mol/L]")).lanes
