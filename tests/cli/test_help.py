"""Help, version and wrong usage: quick, with an example each, and exit code 2 with nothing done."""

import subprocess
import sys

import pytest

import kinetix
from tests.cli.places import run, write_tank

COMMANDS = ["fit", "arrhenius", "check", "simulate", "report", "devices"]


def test_top_help_names_every_command_and_the_exit_codes():
    result = run("--help")
    assert result.exit_code == 0
    assert all(f"\n  {name}" in result.stdout for name in COMMANDS)
    assert "kinetix fit study.toml" in result.stdout
    assert "Exit code 0" in result.stdout
    assert run("-h").stdout == result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example_and_says_what_is_written(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"\n    kinetix {command}" in result.stdout or f" kinetix {command}\n" in result.stdout
    assert "write" in result.stdout.lower()
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert not set("╭│─") & set(result.stdout)


def test_help_is_there_without_jax():
    program = """
import sys
from kinetix.cli import main
sys.argv = ["kinetix", "--help"]
try:
    main()
finally:
    print("jax" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("False\n")


def test_version():
    assert run("--version").stdout == f"kinetix {kinetix.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Usage"),
        (("fit",), "Usage"),
        (("fits", "a"), "No such command"),
        (("fit", "tank.toml", "tank.csv"), "one study file, or data files"),
        (("fit", "tank.toml", "--reaction", "A -> B"), "--reaction: this is said in the study file"),
        (("fit", "tank.csv"), "need a reaction"),
        (("fit", "tank.csv", "--reaction", "A -> B"), "need a reactor"),
        (("fit", "tank.csv", "--reaction", "A -> B", "--reactor", "cstr", "--start", "r1.k"), "NAME=VALUE"),
        (("fit", "tank.csv", "--reaction", "A -> B", "--reactor", "cstr", "--start", "r1.k=1 1/s", "--start", "r1.k=2 1/s"), "given twice"),
        (("fit", "tank.toml", "--sigma", "guessed"), "guessed"),
        (("fit", "tank.csv", "--sigma", "A=2 %"), 'Write --noise "A=relative 2 %" --sigma trusted'),
        (("arrhenius", "k.csv", "--sigma", "0.01 1/s"), 'Write --noise "A=0.01 1/s" --sigma trusted'),
        (("arrhenius", "k.csv", "--noise", "k=relative"), "lacks a part"),
        (("fit", "tank.toml", "--max-iterations", 0), "max-iterations"),
        (("fit", "tank.toml", "--device", "abacus"), "abacus"),
        (("simulate",), "Usage"),
        (("report",), "Usage"),
        (("arrhenius", "k.csv", "--column", "=k"), "NAME=VALUE"),
    ],
    ids=str,
)
def test_wrong_usage_ends_with_2_and_does_nothing(place, arguments, words):
    write_tank(place)
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.output
    assert not set("╭│─") & set(result.output)
    assert {path.name for path in place.iterdir()} == {"tank.csv", "tank.toml"}
