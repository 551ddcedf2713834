"""What is said about a model is what is computed."""

import numpy as np
import pytest

from kinetix.experiments import parse_table
from kinetix.studies import build_problem, fit_problem, parse_study
from kinetix.studies.describing import describe_model

DATA = "run,t [min],T [K],A0 [mol/L],A [mol/L],B [mol/L]\n" + "".join(
    f"{run},{t},{T},{a},{a * np.exp(-k * t):.6f},{a * (1 - np.exp(-k * t)):.6f}\n"
    for run, T, a, k in (("x", 320, 1, 0.05), ("y", 340, 2, 0.2))
    for t in (0, 5, 10)
)


def problem(k: dict, **more):
    study = {
        "schema": 1,
        "reactions": {"r1": {"equation": "A -> B", **k}},
        "reactor": {"type": "batch"},
        "initial": {"B": "0 mol/L"},
        "data": {"files": ["data.csv"], "columns": {"initial.A": "A0"}},
        **more,
    }
    return build_problem(parse_study(study, "study.toml"), [parse_table(DATA, "data.csv")])


@pytest.mark.parametrize(
    ("constant", "law"),
    [
        ({"k": {"start": "0.1 1/min", "at": "330 K"}, "Ea": {"start": "60 kJ/mol"}}, "r1.k_ref*exp(-r1.Ea/R*(1/T - 1/330 K))"),
        ({"A": "1e9 1/min", "Ea": {"start": "60 kJ/mol"}}, "r1.A*exp(-r1.Ea/R*1/T)"),
        ({"k": {"start": "0.1 1/min"}}, None),
    ],
)
def test_temperature_laws_name_their_parameters(constant, law):
    rows = dict(row[:2] for row in describe_model(problem(constant)))
    assert rows.get("r1.k over T") == law


def test_reactions_balances_and_amounts():
    rows = describe_model(problem({"k": {"start": "0.1 1/min"}}, responses={"conversion": "1 - [A]/initial[A]"}))
    assert ("r1", "A -> B", "k*[A]") in rows
    named = dict(row for row in rows if len(row) == 2)
    assert named["d[A]/dt by reaction"] == "- r(r1)"
    assert named["conserved"] == "A + B"
    assert named["initial state"] == "A from the data; B 0 mol/L"
    assert named["response conversion"] == "1 - [A]/initial[A]"
    assert named["reactor"].startswith("closed reactor")


def test_a_fit_keeps_the_model_as_text():
    facts = fit_problem(problem({"k": {"start": "0.1 1/min"}}))
    assert "r1\tA -> B\tk*[A]" in facts.model
