"""`kinetix check` and `kinetix simulate` against closed forms."""

from itertools import pairwise

import numpy as np

from kinetix.io import read_tree
from tests.cli.places import BATCH, errors, run, write_tank


def test_check_says_what_the_study_means_and_writes_nothing(place):
    result = run("check", write_tank(place))
    assert result.exit_code == 0, result.stderr
    assert all(words in result.stdout for words in ("A -> B", "k*[A]", "conserved: A + B + C", "12 rows read"))
    assert "r1.k_ref = 0.1 1/min (estimated" in result.stdout
    assert "r2.Ea = 80 kJ/mol (known)" in result.stdout
    assert result.stdout.endswith("tank.toml: no problem found\n")
    assert {path.name for path in place.iterdir()} == {"tank.csv", "tank.toml"}


def test_profile_of_a_first_order_reaction(place):
    (place / "batch.toml").write_text(BATCH, encoding="utf-8")
    result = run("simulate", "batch.toml", "--out", "profiles.nc")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["t", "[s]", "A", "[mol/L]", "B", "[mol/L]"]
    assert "61 rows, 24 shown; --out FILE.nc holds all." in lines
    assert lines[-1] == "Written to profiles.nc"
    simulation = read_tree(place / "profiles.nc")["simulation"].to_dataset()
    t = simulation["t"].values[0] * {"s": 1, "min": 60}[simulation["t"].attrs["units"]]
    np.testing.assert_allclose(t, np.linspace(0, 300, 61))
    np.testing.assert_allclose(simulation["predicted"].sel(response="A").values[0], 2 * np.exp(-0.01 * t), rtol=1e-6)
    shown = [float(text) for text in lines[2].split()]
    np.testing.assert_allclose(shown, [5.0, 2 * np.exp(-0.05), 2 - 2 * np.exp(-0.05)], rtol=1e-4)
    assert {path.name for path in place.iterdir()} == {"batch.toml", "profiles.nc"}


def test_steady_states_at_the_conditions_of_the_data(place):
    result = run("simulate", write_tank(place))
    assert result.exit_code == 0, result.stderr
    header = next(line for line in result.stdout.splitlines() if line.startswith("experiment"))
    assert header.split() == ["experiment", "T", "[K]", "tau", "[min]", "A", "[mol/L]", "B", "[mol/L]", "C", "[mol/L]"]
    row = next(line.split() for line in result.stdout.splitlines() if line.split()[1:3] == ["350", "10"])
    np.testing.assert_allclose([float(text) for text in row[3:]], [0.5, 1 / 3, 1 / 6], rtol=1e-4)  # k1 = 0.1, k2 = 0.05 1/min
    assert {path.name for path in place.iterdir()} == {"tank.csv", "tank.toml"}


def test_an_experiment_that_cannot_be_simulated_is_told_with_1(place):
    study = BATCH.replace('"0:300:61 s"', '["1 s", "1e6 s"]') + "\n[solver]\nmax_steps = 5\n"
    (place / "batch.toml").write_text(study, encoding="utf-8")
    result = run("simulate", "batch.toml", "--out", "profiles.nc")
    assert result.exit_code == 1
    (problem,) = errors(result)
    assert problem.startswith("experiment '1' could not be simulated: the step limit was reached")
    predicted = read_tree(place / "profiles.nc")["simulation"]["predicted"].sel(response="A").values[0]
    np.testing.assert_allclose(predicted, [2 * np.exp(-0.01), np.nan], rtol=1e-6)


def test_many_responses_are_left_to_the_file(place):
    names = [f"Species{i}" for i in range(9)]
    chain = "\n".join(f'r{i} = {{ equation = "{a} -> {b}", k = "0.01 1/s" }}' for i, (a, b) in enumerate(pairwise(names)))
    study = f'schema = 1\n[reactions]\n{chain}\n[reactor]\ntype = "batch"\n[initial]\nSpecies0 = "1 mol/L"\ndefault = "0 mol/L"\n'
    (place / "chain.toml").write_text(study + '[simulate]\ntimes = ["0 s", "10 s"]\n', encoding="utf-8")
    result = run("simulate", "chain.toml")
    assert result.exit_code == 0, result.stderr
    assert max(map(len, result.stdout.splitlines())) <= 96
    assert "Not shown for want of room: " in result.stdout
    assert "Species8 [mol/L]; --out FILE.nc holds all." in " ".join(result.stdout.split())
