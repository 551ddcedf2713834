"""Problems that come from outside, and what stderr then says: one plain line each, exit code 1, nothing written."""

import errno
import io
import os
import warnings

import pytest
import typer

from kinetix.cli import Listened
from kinetix.cli.messages import telling
from kinetix.errors import KinetixWarning, SolveError, UnitError
from tests.cli.places import errors, run, write_tank


@pytest.mark.parametrize(
    ("raised", "lines"),
    [
        (UnitError("first", "second"), ["error: first", "error: second"]),
        (SolveError("step limit"), ["error: step limit"]),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out/fit.nc"), ["error: out/fit.nc: No space left on device."]),
        (KeyboardInterrupt(), ["error: stopped before there was anything to keep; nothing was written."]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_foreseen_problems_are_lines_and_exit_code_1(capsys, raised, lines):
    with pytest.raises(typer.Exit) as end, telling():
        raise raised
    assert end.value.exit_code == 1
    assert capsys.readouterr().err.splitlines() == lines


def test_what_nobody_foresaw_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError), telling():
        raise ZeroDivisionError


def test_a_warning_is_told_once_and_work_goes_on(capsys):
    before = warnings.showwarning
    with telling():
        for _ in range(3):
            warnings.warn("T = 25 K is cold", KinetixWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: T = 25 K is cold\n"
    assert warnings.showwarning is before


def test_problems_of_every_section_and_of_the_files_at_once(place):
    study = write_tank(place)
    text = study.read_text(encoding="utf-8").replace('"80 kJ/mol"', '"80"')
    text = text.replace("[conditions]", '[conditions]\nP = "2 K"').replace('"tank.csv"', '"tnak.csv"') + '\n[solver]\natol = "1 s"\n'
    study.write_text(text, encoding="utf-8")
    found = errors(run("check", study))
    assert "tnak.csv: there is no such file" in found[0]
    said = [problem.partition(" has")[0].partition(": '")[0] for problem in found[1:]]
    assert said == ["tank.toml: r2.Ea", "tank.toml: [solver] atol", "tank.toml: [conditions] P"]


def test_every_problem_of_a_study_at_once(place):
    study = write_tank(place)
    text = study.read_text(encoding="utf-8")
    study.write_text(text.replace('"0.1 1/min"', '"0.1 1/mins/"').replace('"80 kJ/mol"', '"80"'), encoding="utf-8")
    result = run("fit", study)
    assert result.exit_code == 1
    first, second = errors(result)
    assert "r1.k" in first
    assert second == "tank.toml: r2.Ea: '80' has no unit: write one after the number, for example '80 kJ/mol'."


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        (("[data]", "[dat]"), (), "unknown key 'dat'"),
        (("schema = 1", "schema = one"), (), "tank.toml, line 1, column 10: invalid value (found 'schema = one')"),
        (("tank.csv", "tanks.csv"), (), "tanks.csv: there is no such file in"),
        (("", ""), ("--device", "gpu"), "--device gpu: there is no such device; JAX sees cpu."),
        (("", ""), ("--out", "tank.csv"), "tank.csv: is a file, and a folder is needed there."),
        (("", ""), ("--out", "tank.csv/deeper"), "tank.csv: is a file, and a folder is needed there."),
    ],
)
def test_nothing_is_written_where_something_is_wrong(place, change, options, words):
    if "gpu" in options:
        _skip_where_there_is_a_gpu()
    study = write_tank(place)
    study.write_text(study.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    result = run("fit", study, *options)
    assert result.exit_code == 1
    (problem,) = errors(result)
    assert words in problem
    assert result.stdout == ""
    assert {path.name for path in place.iterdir()} == {"tank.csv", "tank.toml"}


def test_without_a_study_file_advice_is_in_options(place):
    write_tank(place)
    result = run("fit", "tank.csv", "--reaction", "A -> B", "--reaction", "B <=> C", "--reactor", "cstr")
    assert result.exit_code == 1
    (message,) = errors(result)
    assert "no feed concentration of A, B, C" in message and '--feed A="0 mol/L"' in message


def test_no_such_study_names_its_neighbour(place):
    write_tank(place)
    result = run("check", "tnk.toml")
    assert result.exit_code == 1
    assert "there is no such file" in errors(result)[0]
    assert "Did you mean 'tank.toml'?" in errors(result)[0]


def _skip_where_there_is_a_gpu():
    import jax

    if any(device.platform == "gpu" for device in jax.devices()):
        pytest.skip("JAX sees a GPU here")


def test_output_that_nobody_reads_any_more_is_dropped():
    reader, writer = os.pipe()
    os.close(reader)
    stream = io.TextIOWrapper(io.BufferedWriter(Listened(writer, "wb")), "utf-8", line_buffering=True)
    for _ in range(3):
        print("a line", file=stream)
    stream.close()
