"""`kinetix fit`: what is printed and in which order, what is written and when, and what the exit code says."""

import json
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kinetix.cli import work
from kinetix.io import read_tree
from kinetix.report import text_report
from tests.cli.places import TANK, errors, run, write_tank

ANSWER = {
    "fit.nc",
    "summary.json",
    "report.html",
    "report.md",
    "parameters.csv",
    "arrhenius.png",
    "parity.png",
    "residuals.png",
}
KEYS = {"converged", "status", "objective", "n_observations", "n_parameters", "parameters"}
PARAMETER_KEYS = {"value", "unit", "stderr", "lower95", "upper95", "fixed", "at_bound", "note"}


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """One fit of the tank, for all who only look."""
    folder = tmp_path_factory.mktemp("answered")
    study = write_tank(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KINETIX_CACHE", "off")
        patch.chdir(folder)
        return run("fit", study.name), folder


def test_recognition_first_then_the_report_then_where_it_was_written(answered):
    result, _ = answered
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    marks = ["tank.csv: 12 rows read, 24 values used", "The fit converged", "r1.k_ref", "Statistics", " s, compile ", "Written to tank-fit"]
    positions = [result.stdout.index(mark) for mark in marks]
    assert positions == sorted(positions)
    assert result.stdout.count("12 rows read") == 1


def test_estimates_are_those_behind_the_data(answered):
    _, folder = answered
    summary = json.loads((folder / "tank-fit" / "summary.json").read_text(encoding="utf-8"))
    assert summary.keys() >= KEYS
    assert summary["converged"] is True
    assert (summary["n_observations"], summary["n_parameters"]) == (24, 3)
    found = summary["parameters"]
    assert all(entry.keys() >= PARAMETER_KEYS for entry in found.values())
    for name, truth in {"r1.k_ref": 0.2, "r1.Ea": 70.0, "r2.k_ref": 0.07}.items():
        assert abs(found[name]["value"] - truth) < 3 * found[name]["stderr"] < 0.1 * truth
    assert found["r2.Ea"]["fixed"] is True


def test_all_of_the_answer_is_in_the_folder(answered):
    result, folder = answered
    files = {path.name for path in (folder / "tank-fit").iterdir()}
    assert files == ANSWER
    assert set(result.stdout.splitlines()[-1].partition(": ")[2].split(", ")) == ANSWER
    assert {path.name for path in folder.iterdir()} == {"tank.toml", "tank.csv", "tank-fit"}
    tree = read_tree(folder / "tank-fit" / "fit.nc")
    assert result.stdout.partition("\n\n")[2].startswith(text_report(tree)[:60])
    assert "12 rows read" in text_report(tree)
    assert tree.attrs["study_text"] == TANK
    assert all(tree.attrs[f"{step}_seconds"] > 0 for step in ("import", "trace", "compile", "run"))
    assert (folder / "tank-fit" / "parity.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_study_file_and_again_with_the_one_it_saves(place):
    write_tank(place)
    (place / "tank.csv").rename(place / "runs.csv")
    (place / "new").mkdir()
    options = ["--reaction", "A -> B", "--reaction", "slow: B -> C", "--reactor", "cstr"]
    options += ["--feed", "A=1 mol/L", "--feed", "default=0 mol/L", "--noise", "A=0.002 mol/L", "--noise", "B=relative 1 % + 0.001 mol/L"]
    options += ["--start", "r1.k=0.1 1/min", "--start", "r1.Ea=60 kJ/mol", "--start", "slow.k=0.05 1/min", "--known", "slow.Ea=80 kJ/mol"]
    first = run("fit", "runs.csv", *options, "--sigma", "trusted", "--json", "--write-study", "new/study.toml")
    assert first.exit_code == 0, first.stderr
    summary = json.loads(first.stdout)
    assert summary["sigma_meaning"] == "trusted"
    assert first.stderr.splitlines() == [
        "Written to runs-fit: fit.nc, summary.json, report.html, report.md, parameters.csv, arrhenius.png, parity.png, residuals.png",
        "Study written to new/study.toml",
    ]
    assert json.loads((place / "runs-fit" / "summary.json").read_text(encoding="utf-8"))["parameters"] == summary["parameters"]
    saved = tomllib.loads((place / "new" / "study.toml").read_text(encoding="utf-8"))
    assert saved["data"]["files"] == ["../runs.csv"]
    assert saved["noise"] == {"A": "0.002 mol/L", "B": {"relative": "1 %", "constant": "0.001 mol/L"}}
    second = run("fit", "new/study.toml", "--json", "--out", "again")
    assert json.loads(second.stdout)["parameters"] == summary["parameters"]

    refused = run("fit", "runs.csv", *options, "--write-study", "new/study.toml", "--out", "third")
    assert refused.exit_code == 1
    assert errors(refused) == ["--write-study new/study.toml: the file exists. Choose another name, or remove it."]
    assert not (place / "third").exists()


def test_a_fit_that_does_not_converge_is_written_and_ends_with_1(place):
    result = run("fit", write_tank(place), "--max-iterations", 1, "--quiet", "--out", "deep/er")
    assert result.exit_code == 1
    assert result.stdout == ""
    (problem,) = errors(result)
    assert problem.startswith("the fit did not converge: the iteration limit was reached")
    summary = json.loads((place / "deep" / "er" / "summary.json").read_text(encoding="utf-8"))
    assert (summary["converged"], summary["status"]) == (False, "iteration limit")
    assert {path.name for path in (place / "deep" / "er").iterdir()} == ANSWER


CANCELS = """schema = 1
[reactions]
r1 = { equation = "A -> B", k = { start = "0.05 1/min" } }
[reactor]
type = "cstr"
[conditions]
feed = { A = { start = "1.3 mol/L" }, default = "0 mol/L" }
[responses]
X = "1 - [A]/feed[A]"
[data]
files = ["x.csv"]
"""


def test_a_parameter_that_is_not_determined_is_told_and_ends_with_0(place):
    (place / "study.toml").write_text(CANCELS, encoding="utf-8")
    # X = k tau/(1 + k tau), k = 0.1 1/min
    (place / "x.csv").write_text("tau [min],X [-]\n5,0.3334\n10,0.4999\n30,0.7501\n90,0.8999\n", encoding="utf-8")
    result = run("fit", "study.toml", "--out", "fit")
    assert result.exit_code == 0, result.stderr
    assert "The data do NOT determine feed.A." in " ".join(result.stdout.split())
    summary = json.loads((place / "fit" / "summary.json").read_text(encoding="utf-8"))
    assert (summary["converged"], summary["status"]) == (True, "flat")
    assert summary["parameters"]["r1.k"]["value"] == pytest.approx(0.1, rel=2e-3)
    assert summary["parameters"]["r1.k"]["stderr"] < 1e-4
    assert summary["parameters"]["feed.A"] == pytest.approx(
        {"value": 1.3, "unit": "mol/L", "stderr": None, "lower95": None, "upper95": None, "fixed": False, "at_bound": None, "note": ""}
    )
    checked = run("check", "study.toml")
    assert checked.exit_code == 0
    assert "attention: no measured value changes with feed.A at the start" in checked.stdout
    assert checked.stdout.endswith("study.toml: usable; 1 line above needs attention\n")


def test_an_interrupt_keeps_the_best_point(place, monkeypatch):
    def press(text: str) -> None:
        if text.startswith("iteration 2"):
            raise KeyboardInterrupt

    @contextmanager
    def progress(wanted: bool = True) -> Iterator[Callable[[str], None]]:
        yield press

    monkeypatch.setattr(work, "progress", progress)
    result = run("fit", write_tank(place))
    assert result.exit_code == 1
    assert [problem.partition(" (")[0] for problem in errors(result)] == [
        "the fit did not converge: stopped by the user; the best point so far is kept"
    ]
    summary = json.loads((place / "tank-fit" / "summary.json").read_text(encoding="utf-8"))
    assert summary["status"] == "stopped"
    assert summary["parameters"]["r1.k_ref"]["value"] != 0.1
