"""`kinetix compare`: what is printed and written, what is refused before a fit begins, and what the exit code says."""

import json
import shutil
from pathlib import Path

import pytest

from kinetix.io import read_tree
from tests.cli.places import errors, run, write_tank
from tests.conftest import REPOSITORY

ENZYME = REPOSITORY / "examples" / "enzyme"
STUDIES = ("study.toml", "same-affinity.toml")
FILES = {"comparison.nc", "summary.json", "report.html", "report.md", "criteria.png", "agreement.png", "residuals-by-model.png"}


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """One comparison, for all who only look."""
    folder = tmp_path_factory.mktemp("answered")
    shutil.copytree(ENZYME, folder / "enzyme")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KINETIX_CACHE", "off")
        patch.chdir(folder)
        return run("compare", *(f"enzyme/{name}" for name in STUDIES), "--nested", "--folds", "5", "--seed", "3"), folder


def test_the_table_and_the_verdict_are_printed(answered):
    result, _ = answered
    assert result.exit_code == 0 and result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].startswith("data.csv: 23 rows read, 23 values used")
    assert any(
        line.startswith("same-affinity and study are not distinguishable with these data (AICc differs by up to 1.3).") for line in lines
    )
    (header,) = (line for line in lines if line.startswith("model  "))
    assert " ".join(header.split()) == "model p SSR s AICc delta weight BIC predicts status"
    rows = [line.split() for line in lines if line.startswith(("same-affinity  3", "study  "))]
    assert [row[:3] for row in rows] == [["same-affinity", "3", "2240.89"], ["study", "4", "2055.05"]]  # Bates and Watts: 2240.9, 2055.1
    assert any(line.split()[:7] == ["same-affinity", "study", "F", "1,", "19", "1.718", "0.21"] for line in lines)
    assert any("23 experiments left out in 5 folds, seed 3" in line for line in lines)
    report = result.stdout[result.stdout.index("same-affinity and") : result.stdout.index("Written to")]
    assert all(len(line) <= 96 for line in report.splitlines())


def test_files_of_the_comparison_and_of_each_fit_are_written(answered):
    result, folder = answered
    assert result.stdout.splitlines()[-1].startswith("Written to comparison: ")
    written = {path.name for path in (folder / "comparison").iterdir()}
    assert written == FILES | {"predictions.png", "study", "same-affinity"}
    tree = read_tree(folder / "comparison" / "comparison.nc")
    assert set(tree.children) == {"models", "values", "nested", "cross_validation"}
    fit = read_tree(folder / "comparison" / "study" / "fit.nc")
    assert float(fit["statistics/ssr"]) == float(tree["models/ssr"].sel(model="study"))
    summary = json.loads((folder / "comparison" / "summary.json").read_text(encoding="utf-8"))
    assert summary["models"]["same-affinity"]["rank"] == 1 and summary["models"]["study"]["status"] == "success"
    assert summary["nested"][0]["p_value"] == pytest.approx(0.2056, abs=1e-4)
    assert sorted(set(summary["cross_validation"]["fold_of"].values())) == [0, 1, 2, 3, 4]
    assert summary["verdict"] == tree.attrs["verdict"]


def test_the_report_is_written_again_from_the_file_alone(answered):
    result, folder = answered
    again = run("report", folder / "comparison" / "comparison.nc", "--out", folder / "again")
    assert again.exit_code == 0
    assert again.stdout.partition("Written to")[0] in result.stdout
    for name in ("report.html", "report.md"):
        assert (folder / "again" / name).read_bytes() == (folder / "comparison" / name).read_bytes()
    page = (folder / "again" / "report.md").read_text(encoding="utf-8")
    for heading in ("## Models", "## Nested models", "## Cross-validation", "## Warnings", "## Figures"):
        assert heading in page
    assert "(criteria.png)" in page


def copies(folder: Path, **changes: str) -> list[Path]:
    """The two studies, the second with a part of its text replaced."""
    shutil.copy(ENZYME / "data.csv", folder)
    paths = [Path(shutil.copy(ENZYME / name, folder)) for name in STUDIES]
    text = paths[1].read_text(encoding="utf-8")
    for old, new in changes.items():
        text = text.replace({"files": 'files = ["data.csv"]'}.get(old, old), new)
    paths[1].write_text(text, encoding="utf-8")
    return paths


def test_json_is_all_that_stands_on_stdout(place):
    result = run("compare", *copies(place), "--json", "--out", "here")
    told = json.loads(result.stdout)
    assert result.exit_code == 0 and set(told["models"]) == {"study", "same-affinity"}
    assert told["nested"] is None and told["cross_validation"] is None
    assert (place / "here" / "comparison.nc").exists()


def test_other_data_are_refused_before_a_fit_begins(place, monkeypatch):
    paths = copies(place, files='files = ["other.csv"]')
    text = (place / "data.csv").read_text(encoding="utf-8")
    (place / "other.csv").write_text(text.replace("0.02,76,1", "0.02,77,1"), encoding="utf-8")
    monkeypatch.setattr("kinetix.studies.comparing.fit_problem", lambda *_, **__: pytest.fail("a fit began"))
    result = run("compare", *paths)
    assert result.exit_code == 1 and not (place / "comparison").exists()
    (problem,) = errors(result)
    assert problem.startswith(
        "study and same-affinity cannot be compared: 1 measured value differs, such as rate of experiment '1': 76 and 77"
    )


def test_problems_of_all_studies_are_told_at_once(place):
    shutil.copy(ENZYME / "data.csv", place)
    for name in ("a.toml", "b.toml"):
        (place / name).write_text(f'schema = 1\n[model]\nrate = "V*{name[0]}x"\n[parameters]\nV = {{}}\n[data]\nfiles = ["data.csv"]\n')
    result = run("compare", "a.toml", "b.toml")
    assert result.exit_code == 1
    assert {problem.partition(":")[0] for problem in errors(result)} == {"a.toml", "b.toml"}


def test_a_fit_that_does_not_converge_is_written_and_the_exit_code_is_1(place):
    result = run("compare", *copies(place), "--max-iterations", "1", "--quiet")
    assert result.exit_code == 1
    assert [problem.partition(":")[0] for problem in errors(result)] == ["study", "same-affinity"]
    assert read_tree(place / "comparison" / "comparison.nc")["models/rank"].values.tolist() == [0, 0]
    assert not (place / "comparison" / "criteria.png").exists()


def test_wrong_usage(place):
    study = copies(place)[0]
    for arguments, words in [
        ([study], "needs two studies or more"),
        ([study, study], "is given twice"),
        ([study, study, "--folds", "1"], "--folds"),
    ]:
        result = run("compare", *arguments)
        assert result.exit_code == 2 and words in result.stderr
    assert run("compare", study, place / "none.toml").exit_code == 1


def test_two_kinds_of_studies_do_not_fit_the_same(place):
    result = run("compare", copies(place)[0], write_tank(place))
    assert result.exit_code == 1
    assert errors(result)[0].startswith(
        "study and tank cannot be compared: they fit different responses: rate only in study, A and B only in tank"
    )
