"""`kinetix fit --method`: another estimator by option or study file, told in the answer; wrong names with those there are."""

import json

from kinetix.estimation import ESTIMATORS
from tests.cli.places import errors, run, write_tank


def summary(place):
    return json.loads((place / "out" / "summary.json").read_text(encoding="utf-8"))


def test_the_option_counts_more_than_the_study_file(place):
    study = write_tank(place)
    usual = run("fit", study.name, "--out", "out")
    expected = summary(place)
    with study.open("a", encoding="utf-8") as file:
        file.write('\n[fit]\nmethod = "adam"\n')
    result = run("fit", study.name, "--method", "scipy-least_squares", "--out", "out")
    found = summary(place)
    assert usual.exit_code == result.exit_code == 0, result.stderr
    assert (expected["provenance"]["estimator"], found["provenance"]["estimator"]) == ("lm", "scipy-least_squares")
    assert "by scipy-least_squares" in found["message"]
    for name, entry in expected["parameters"].items():
        assert abs(found["parameters"][name]["value"] / entry["value"] - 1) < 1e-6
    assert "scipy-least_squares" in (place / "out" / "report.md").read_text(encoding="utf-8")


def test_the_study_file_names_it_and_an_end_without_an_optimum_exits_with_1(place):
    study = write_tank(place)
    with study.open("a", encoding="utf-8") as file:
        file.write('\n[fit]\nmethod = "adam"\nmax_iterations = 10\n')
    result = run("fit", study.name, "--out", "out")
    assert result.exit_code == 1
    found = summary(place)
    assert (found["converged"], found["status"], found["provenance"]["estimator"]) == (False, "not converged", "adam")
    assert 'The method "adam" came nearer to an optimum, but did not reach one' in result.stdout.replace("\n", " ")


def test_wrong_names(place):
    study = write_tank(place)
    result = run("fit", study.name, "--method", "lbfsg")
    said = " ".join(result.stderr.replace("│", " ").split())
    assert result.exit_code == 2 and "expected lm, adam" in said and "Did you mean 'lbfgs'?" in said
    with study.open("a", encoding="utf-8") as file:
        file.write('\n[fit]\nmethod = "lbfsg"\n')
    result = run("fit", study.name)
    assert result.exit_code == 1
    assert errors(result)[0].startswith("tank.toml, [fit] method = 'lbfsg': expected lm, ")


def test_the_help_names_all():
    text = " ".join(run("fit", "--help").stdout.replace("│", " ").split())
    assert [name for name in ESTIMATORS if name not in text.replace("- ", "-")] == []
