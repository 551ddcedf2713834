"""`kinetix report`: from the file alone, the same files that the fit wrote."""

import shutil

import pytest

from kinetix.io import read_tree
from kinetix.report import text_report
from tests.cli.places import BATCH, errors, run, write_tank
from tests.cli.test_fit import ANSWER

NUMBERS = {"fit.nc", "summary.json"}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """One fit of the tank, its study and data gone."""
    folder = tmp_path_factory.mktemp("fitted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KINETIX_CACHE", "off")
        patch.chdir(folder)
        assert run("fit", write_tank(folder), "--quiet").exit_code == 0
    for name in ("tank.csv", "tank.toml"):
        (folder / name).unlink()
    return folder / "tank-fit"


def test_the_files_are_those_of_the_fit(place, fitted):
    result = run("report", fitted / "fit.nc", "--out", "again")
    assert result.exit_code == 0, result.stderr
    assert {path.name for path in (place / "again").iterdir()} == ANSWER - NUMBERS
    for path in (place / "again").iterdir():
        assert path.read_bytes() == (fitted / path.name).read_bytes(), path.name
    report = text_report(read_tree(fitted / "fit.nc"))
    assert result.stdout.startswith(report)
    assert result.stdout.removeprefix(report).strip().startswith("Written to again: report.html, report.md, parameters.csv, ")


def test_beside_the_file_older_reports_go_and_other_files_stay(place, fitted):
    shutil.copytree(fitted, place / "copy")
    for name in ("report.txt", "profiles.png", "notes.txt"):
        (place / "copy" / name).write_text("old")
    assert run("report", "copy/fit.nc", "--quiet").stdout == ""
    assert {path.name for path in (place / "copy").iterdir()} == {*ANSWER, "notes.txt"}
    assert (place / "copy" / "report.html").read_bytes() == (fitted / "report.html").read_bytes()


def test_the_page_echoes_model_data_and_study(fitted):
    page = (fitted / "report.html").read_text(encoding="utf-8")
    for words in (
        "continuous stirred tank",
        "k*[A]",
        "r1.k_ref*exp(-r1.Ea/R*(1/T - 1/350 K))",
        "12 rows read",
        "schema = 1",
        "kinetix fit study.toml",
    ):
        assert words in page


def test_what_is_no_fit_is_told(place):
    (place / "batch.toml").write_text(BATCH, encoding="utf-8")
    run("simulate", "batch.toml", "--out", "profiles.nc", "--quiet")
    (place / "text.nc").write_text("no netCDF")
    for name, words in (("profiles.nc", "expected a fit"), ("text.nc", "no netCDF-4 file"), ("none.nc", "does not exist")):
        result = run("report", name)
        assert result.exit_code == 1
        assert words in errors(result)[0]
    assert {path.name for path in place.iterdir()} == {"batch.toml", "profiles.nc", "text.nc"}
