"""The folder of a result: whole or absent, older results replaced, what is not ours left alone."""

import errno
import json
import os

import pytest

from kinetix.io import folders
from kinetix.io.folders import whole_folder, writable_file, writable_place, write_fit, write_report
from kinetix.io.results import read_tree
from kinetix.report import summary
from kinetix.results import fit_tree
from tests.results.examples import timed_facts


def test_the_numbers_of_a_fit_are_two_files(tmp_path):
    tree = fit_tree(timed_facts())
    paths = write_fit(tree, tmp_path / "new" / "er", entries={"more": 1})
    assert [path.name for path in paths] == ["fit.nc", "summary.json"]
    assert {path.name for path in (tmp_path / "new" / "er").iterdir()} == {"fit.nc", "summary.json"}
    assert read_tree(paths[0]).identical(tree)
    assert json.loads(paths[1].read_text(encoding="utf-8")) == {**summary(tree), "more": 1}


def test_a_report_is_the_same_from_the_tree_and_from_its_file(tmp_path):
    tree = fit_tree(timed_facts())
    (numbers, _) = write_fit(tree, tmp_path / "fit")
    first, second = write_report(tree, tmp_path / "one"), write_report(read_tree(numbers), tmp_path / "two")
    names = ["report.html", "report.md", "parameters.csv", "profiles.png", "arrhenius.png", "parity.png", "residuals.png"]
    assert [path.name for path in first] == names
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert {path.name for path in (tmp_path / "one").iterdir()} == set(names)


def test_a_report_is_whole_or_not_at_all(tmp_path, monkeypatch):
    (tmp_path / "report.md").write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(folders, "write_figures", full)  # after both pages
    with pytest.raises(OSError, match="No space"):
        write_report(fit_tree(timed_facts()), tmp_path, remove=["report.md"])
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]
    assert (tmp_path / "report.md").read_text() == "old"


def test_an_older_result_is_replaced_and_other_files_stay(tmp_path):
    for name in ("fit.nc", "old.png", "notes.md"):
        (tmp_path / name).write_text("old")
    write_fit(fit_tree(timed_facts()), tmp_path, remove=["old.png", "never.png"])
    assert {path.name for path in tmp_path.iterdir()} == {"fit.nc", "summary.json", "notes.md"}
    assert (tmp_path / "notes.md").read_text() == "old"
    assert (tmp_path / "fit.nc").read_bytes() != b"old"


@pytest.mark.parametrize("exists", [True, False])
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, exists):
    out = tmp_path / "deep" / "out"
    if exists:
        out.mkdir(parents=True)
        (out / "fit.nc").write_text("old")
        (out / "old.png").write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(folders, "write_summary", full)  # after fit.nc
    with pytest.raises(OSError, match="No space"):
        write_fit(fit_tree(timed_facts()), out, remove=["old.png"])
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert left == (["deep/out/fit.nc", "deep/out/old.png"] if exists else [])
    assert out.exists() == exists
    assert (tmp_path / "deep").exists() == exists


def test_an_interrupt_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path / "out") as stage:
        (stage / "a.txt").write_text("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(NotADirectoryError, match="is a file, and a folder is needed there"):
            writable_place(path)
        with pytest.raises(NotADirectoryError), whole_folder(path):
            pass
    assert writable_place(tmp_path) == tmp_path
    assert writable_place(tmp_path / "a" / "b") == tmp_path


@pytest.mark.parametrize("written", ["out", "a/b", "."])
def test_a_place_that_cannot_be_written_to_is_named_as_written(tmp_path, monkeypatch, written):
    def refused(*_, dir, **__):  # root may write anywhere
        raise PermissionError(errno.EACCES, "Permission denied", f"{dir}/.kinetix.x1y2z3")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folders.tempfile, "mkdtemp", refused)
    with pytest.raises(PermissionError) as caught:
        writable_place(written)
    assert caught.value.filename == written
    assert "cannot be written to (Permission denied)" in caught.value.strerror
    assert ".kinetix" not in str(caught.value)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no such place on this system")
def test_a_place_where_nobody_may_write():
    for place in ("/proc/out", "/proc/self/out"):
        with pytest.raises(OSError, match="cannot be written to") as caught:
            writable_place(place)
        assert caught.value.filename == place


def test_a_disk_that_fails_later_names_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(OSError, match="No space") as caught, whole_folder(tmp_path / "out") as stage:
        raise OSError(errno.ENOSPC, "No space left on device", str(stage / "fit.nc"))
    assert caught.value.filename == str(tmp_path / "out" / "fit.nc")


def test_a_folder_in_the_place_of_a_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder, and a file is needed there"):
        writable_file(tmp_path)
    assert writable_file(tmp_path / "new" / "a.nc") == tmp_path / "new" / "a.nc"
    assert list(tmp_path.iterdir()) == []
