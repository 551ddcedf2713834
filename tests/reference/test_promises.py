"""What holds whatever the data: deletion, order and blocks change nothing, and only a new shape compiles."""

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

from kinetix.estimation.residuals import evaluate
from kinetix.precision import float64
from kinetix.studies import fit_problem
from kinetix.studies.evaluator import Evaluator, predict_free
from tests.reference.studies import fit, parameters, problem, statistic

# Readings of A -> B -> C at two temperatures, and of A -> B in a tank: numbers of the size and scatter of real ones.
RUNS = """experiment,T [K],A_initial [mol/L],time [min],A [mol/L],B [mol/L]
cold,320,1.0,0,1.01,0.02
cold,320,1.0,5,0.75,0.21
cold,320,1.0,10,0.54,0.33
cold,320,1.0,20,0.31,0.36
cold,320,1.0,40,0.08,0.27
warm,335,2.0,0,2.02,0.01
warm,335,2.0,3,1.30,0.61
warm,335,2.0,6,0.82,0.78
warm,335,2.0,12,0.36,0.71
"""
CHAIN = {
    "reactions": {
        "r1": {"equation": "A -> B", "k": {"start": "0.1 1/min"}, "Ea": {"start": "60 kJ/mol"}},
        "r2": {"equation": "B -> C", "k": {"start": "0.02 1/min"}, "Ea": "80 kJ/mol"},
    },
    "reactor": {"type": "batch"},
    "initial": {"default": "0 mol/L"},
}
TANKS = """tau [min],A_feed [mol/L],A [mol/L],B [mol/L]
1,1.0,0.84,0.17
2,1.0,0.70,0.28
4,1.0,0.57,0.44
8,1.0,0.38,0.61
4,2.0,1.09,0.87
"""
TANK = {
    "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.5 1/min"}}},
    "reactor": {"type": "cstr"},
    "conditions": {"feed": {"B": "0 mol/L"}},
}
LINE = {
    "model": {"y": "b1*(1 - exp(-b2*x))"},
    "parameters": {"b1": {"start": 2.0}, "b2": {"start": 0.5}},
    "data": {"dimensionless": True},
}
POINTS = "x,y\n0.5,0.6\n1,1.1\n2,1.55\n4,2.1\n8,2.2\n"


def without(table, *lines):
    return "".join(line + "\n" for line in table.splitlines() if line not in lines)


def numbers(result):
    """Everything that a fit reports of the parameters and of the whole, as one vector."""
    found = [result["parameters"][name].values for name in ("value", "stderr", "lower95", "upper95")]
    return np.concatenate([*found, [statistic(result, name) for name in ("ssr", "s", "dof", "n_observations", "condition_number")]])


# ---------------------------------------------------------------------------------------------------------------- deletion


@pytest.mark.parametrize(
    ("study", "emptied", "never_measured"),
    [
        pytest.param(
            {**CHAIN, "solver": {"rtol": 1e-4}},  # coarse, so that a stop of the integration would show
            RUNS.replace("20,0.31,0.36", "20,,").replace("0,2.02,0.01", "0,NaN,n/a").replace("12,0.36,0.71", "12,,"),
            without(RUNS, "cold,320,1.0,20,0.31,0.36", "warm,335,2.0,0,2.02,0.01", "warm,335,2.0,12,0.36,0.71"),
            id="whole readings of a batch",
        ),
        pytest.param(
            TANK,
            TANKS.replace("4,1.0,0.57,0.44", "4,1.0,,"),
            without(TANKS, "4,1.0,0.57,0.44"),
            id="a steady state of a tank",
        ),
        pytest.param(LINE, POINTS.replace("2,1.55", "2,"), without(POINTS, "2,1.55"), id="a point of an explicit model"),
    ],
)
def test_deleting_a_value_equals_never_having_measured_it(study, emptied, never_measured):
    assert_allclose(numbers(fit(study, emptied)), numbers(fit(study, never_measured)), rtol=1e-12)


def test_deleting_one_of_two_values_equals_a_long_table_without_it():
    """The reading of B at 20 min is emptied in the wide table, and absent from the long one."""
    rows = [line.split(",") for line in RUNS.splitlines()[1:]]
    long = ["experiment,T [K],A_initial [mol/L],time [min],species,value [mol/L]"]
    for *settings, a, b in rows:
        place = ",".join(settings)
        long += [f"{place},A,{a}", *([f"{place},B,{b}"] if place != "cold,320,1.0,20" else [])]
    wide = fit(CHAIN, RUNS.replace("20,0.31,0.36", "20,0.31,"))
    assert_allclose(numbers(wide), numbers(fit(CHAIN, "\n".join(long) + "\n")), rtol=1e-12)
    assert statistic(wide, "n_observations") == 2 * len(rows) - 1


# ------------------------------------------------------------------------------------------------------------ order, blocks


def triangle(assembled):
    """[J r] of a problem at its start as a triangle, each column in units of its length."""
    R = np.asarray(Evaluator(assembled)(assembled.table.free_start()).R)
    return R / np.linalg.norm(R, axis=0)


@pytest.mark.parametrize(("study", "table"), [(CHAIN, RUNS), (TANK, TANKS), (LINE, POINTS)], ids=["batch", "tank", "explicit"])
def test_the_order_of_experiments_does_not_matter(study, table):
    header, *rows = table.splitlines()
    turned = "\n".join([header, *reversed(rows), ""])
    assert_allclose(triangle(problem(study, turned)), triangle(problem(study, table)), atol=1e-12)
    assert_allclose(numbers(fit(study, turned)), numbers(fit(study, table)), rtol=1e-9)


@pytest.mark.parametrize(("study", "table"), [(CHAIN, RUNS), (TANK, TANKS)], ids=["batch", "tank"])
def test_the_size_of_blocks_does_not_matter(study, table):
    assembled = problem(study, table)
    evaluator = Evaluator(assembled)
    theta = assembled.table.free_start()
    lanes = len(assembled.campaign.experiments)
    whole = evaluator(theta)
    length = np.linalg.norm(whole.R, axis=0)
    for block in (1, 2):  # the last block of the tank is filled up
        with float64():
            part = evaluate(predict_free, evaluator.model, theta, evaluator.lanes, *evaluator.data, block)
        assert_allclose(np.asarray(part.R) / length, np.asarray(whole.R) / length, atol=1e-10)
        values = np.asarray(part.values)[:lanes, : whole.values.shape[1]]  # experiments and times are filled up to a padded size
        assert_allclose(values, whole.values, rtol=1e-10, atol=1e-10 * np.max(whole.values))
        assert int(part.bad) == 0 and not np.asarray(part.status).any()


# ------------------------------------------------------------------------------------------------------------ compilations

_COMPILED: list[str] = []


@pytest.fixture(scope="module")
def compilations():
    """The number of programs that XLA has compiled so far, as a function."""
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **details: _COMPILED.append(event) if event == "/jax/core/compile/backend_compile_duration" else None
    )
    return lambda: len(_COMPILED)


def first_order_runs(k, scatter, species="A", readings=13):
    """Three runs of thirteen readings each: a shape of its own."""
    rng = np.random.default_rng(20)
    rows = [f"run,time [s],{species} [mol/L]"]
    for run, initial in enumerate((1.0, 1.5, 2.0)):
        for t in np.linspace(0.0, 3.0 / k, readings):
            rows.append(f"{run},{t:.6g},{initial * np.exp(-k * t) + scatter * rng.standard_normal():.6g}")
    return "\n".join(rows) + "\n"


def first_order(start, reactant="A", **constant):
    initial = {reactant: {"start": "1.2 mol/L"}, "default": "0 mol/L"}
    law = {"equation": f"{reactant} -> waste", "k": {"start": start, **constant}}
    return {"reactions": {"r1": law}, "reactor": {"type": "batch"}, "initial": initial}


OTHER_CHEMISTRY = {
    "reactions": {"r1": {"equation": "2 A -> B", "k": {"start": "0.2 L/mol/s"}}, "r2": {"equation": "B + A -> C", "k": "0.1 L/mol/s"}},
    "reactor": {"type": "batch"},
    "initial": {"A": {"start": "1.2 mol/L"}, "default": "0 mol/L"},
}


def test_a_fit_compiles_one_program_and_other_numbers_none(compilations):
    before = compilations()
    first = fit(first_order("0.2 1/s"), first_order_runs(0.3, 0.01))
    assert compilations() - before == 1
    assert first.attrs["compile_seconds"] > 0

    before = compilations()
    again = [
        fit(first_order("5 1/s"), first_order_runs(0.3, 0.01)),  # another start
        fit(
            first_order("5 1/h", bounds=["1e-3 1/h", "1e3 1/h"], scale="linear"), first_order_runs(0.02, 0.1)
        ),  # data, units, bounds, scale
        fit({**first_order("1 1/s"), "noise": {"A": "5 mmol/L"}, "fit": {"sigma": "trusted"}}, first_order_runs(0.3, 0.01)),  # weights
        fit({**first_order("1 1/s"), "solver": {"rtol": 1e-6, "max_steps": 500}}, first_order_runs(0.3, 0.01)),  # limits of the solver
        fit(first_order("1 1/s", reactant="ester"), first_order_runs(0.7, 0.01, species="ester")),  # names
        fit(first_order("1 1/s"), first_order_runs(0.3, 0.01, readings=15)),  # about as many readings
        fit(OTHER_CHEMISTRY, first_order_runs(0.3, 0.01, readings=14)),  # another network of about this size
    ]
    assert compilations() - before == 0
    assert all(result.attrs["converged"] for result in (first, *again))
    assert_allclose(parameters(again[0], "r1.k"), parameters(first, "r1.k"), rtol=1e-7)


def test_both_starts_of_an_explicit_model_share_one_program(compilations):
    points = "x,y\n" + "".join(f"{x},{2.3 * (1 - np.exp(-0.6 * x)):.4f}\n" for x in range(1, 18))
    before = compilations()
    results = [
        fit_problem(problem({**LINE, "parameters": {"b1": {"start": b1}, "b2": {"start": b2}}}, points)) for b1, b2 in ((2, 0.5), (9, 3))
    ]
    assert compilations() - before == 1
    assert [facts.status.ok for facts in results] == [True, True]
    assert_allclose(results[0].values_si, results[1].values_si, rtol=1e-8)
