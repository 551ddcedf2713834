"""Results in files: an identical tree comes back, a file is whole or absent, JSON is strict."""

import json
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from kinetix.errors import DataError
from kinetix.io.results import read_tree, whole_file, write_figures, write_summary, write_tree
from kinetix.plots import figures
from kinetix.report import summary, text_report
from kinetix.results import fit_tree, simulation_tree
from kinetix.units import parse_unit
from tests.results.examples import simulated_batch, simulated_tank, single_facts, steady_facts, timed_facts

EVERY = {
    "timed": timed_facts(),
    "single": single_facts(),
    "steady": steady_facts(),
    "long provenance": replace(timed_facts(), provenance={"study_text": "# ü °C\n" * 40_000, "seed": 7, "run_seconds": 0.25}),
    "nothing predicted": replace(timed_facts(), predicted_si=np.full((2, 8, 2), np.nan)),
    "minutes": replace(timed_facts(), time_unit=parse_unit("minutes")),
}


@pytest.mark.parametrize("facts", EVERY.values(), ids=EVERY)
def test_the_round_trip_is_identical(tmp_path, facts):
    tree = fit_tree(facts)
    path = write_tree(tree, tmp_path / "new" / "fit.nc")
    back = read_tree(path)
    assert back.identical(tree)
    assert tree.identical(fit_tree(facts)), "writing changed the tree"
    for group in tree.children.values():
        for name, values in group.variables.items():
            found = back[group.path].variables[name]
            assert found.dtype.kind == values.dtype.kind
            assert found.attrs == values.attrs
            np.testing.assert_array_equal(found.values, values.values)
    assert [file.name for file in path.parent.iterdir()] == ["fit.nc"]


@pytest.mark.parametrize("facts", [simulated_batch(), simulated_tank()], ids=["batch", "tank"])
def test_the_round_trip_of_a_simulation_is_identical(tmp_path, facts):
    tree = simulation_tree(facts)
    back = read_tree(write_tree(tree, tmp_path / "simulation.nc"))
    assert back.identical(tree)
    assert back["simulation"]["status"].dtype == np.int64
    assert back["simulation"].to_dataset().attrs == tree["simulation"].to_dataset().attrs


def test_report_summary_and_figures_come_from_the_file_alone(tmp_path):
    tree = fit_tree(timed_facts())
    back = read_tree(write_tree(tree, tmp_path / "fit.nc"))
    assert text_report(back) == text_report(tree)
    assert summary(back) == summary(tree)
    json.dumps(summary(back), allow_nan=False)
    assert set(figures(back)) == set(figures(tree))


def test_plain_xarray_opens_the_file_without_turning_times_into_stamps(tmp_path):
    path = write_tree(fit_tree(EVERY["minutes"]), tmp_path / "fit.nc")
    with xr.open_datatree(path, engine="h5netcdf") as tree:
        assert tree["predictions"]["t"].dtype == np.float64


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "fit.nc"
    write_tree(fit_tree(timed_facts()), path)
    before = path.read_bytes()
    broken = fit_tree(timed_facts())
    broken.attrs["refused"] = {"netCDF": "takes no dictionary"}
    with pytest.raises((TypeError, ValueError)):
        write_tree(broken, path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["fit.nc"]


def test_an_interrupted_write_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "a.txt") as partial:
        partial.write_text("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_summary_is_strict_json_in_plain_text(tmp_path):
    path = write_summary(summary(fit_tree(steady_facts())), tmp_path / "summary.json")
    text = path.read_text(encoding="utf-8")
    assert "NaN" not in text
    assert json.loads(text)["parameters"]["r1.K"]["at_bound"] == "upper"
    path = write_summary(summary(fit_tree(timed_facts())), path)
    assert "A → B" in path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="JSON"):
        write_summary({"value": float("nan")}, tmp_path / "other.json")
    assert not (tmp_path / "other.json").exists()


def test_figures_become_files(tmp_path):
    drawn = figures(fit_tree(timed_facts()), ["parity", "arrhenius"])
    paths = write_figures(drawn, tmp_path / "figures", dpi=50)
    assert [path.name for path in paths] == ["parity.png", "arrhenius.png"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    (vector,) = write_figures({"parity": drawn["parity"]}, tmp_path, suffix="pdf")
    assert vector.read_bytes().startswith(b"%PDF")


def test_what_is_no_result_is_refused_in_words(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.nc does not exist: expected a result file"):
        read_tree(tmp_path / "nowhere.nc")
    (tmp_path / "text.nc").write_text("not netCDF")
    with pytest.raises(DataError, match=r"text\.nc is no netCDF-4 file"):
        read_tree(tmp_path / "text.nc")
