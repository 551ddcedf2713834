"""`kinetix check` and `kinetix simulate` against closed forms."""

from itertools import pairwise

import numpy as np
import pytest

from kinetix.io import read_tree
from tests.cli.places import BATCH, TANK, R, errors, run, write_tank


def test_check_says_what_the_study_means_and_writes_nothing(place):
    result = run("check", write_tank(place))
    assert result.exit_code == 0, result.stderr
    assert all(words in result.stdout for words in ("A -> B", "k*[A]", "conserved: A + B + C", "12 rows read"))
    assert "experiments as read (12):\n  experiment  values  T [K]  tau [min]\n  1           2       330    2\n" in result.stdout
    assert "in all: " not in result.stdout
    assert "r1.k_ref = 0.1 1/min (estimated" in result.stdout
    assert "r2.Ea = 80 kJ/mol (known)" in result.stdout
    assert result.stdout.endswith("tank.toml: no problem found\n")
    assert {path.name for path in place.iterdir()} == {"tank.csv", "tank.toml"}


def test_check_of_data_files_without_a_study(place):
    (place / "runs.csv").write_text("time [min],A [mol/L],run,T [degC]\n0,1,a,50\n1,0.5,a,50\n3,0.4,b,50\n", encoding="utf-8")
    options = ("--reaction", "A -> B", "--reactor", "batch", "--initial", "A=1 mol/L", "--initial", "B=0 mol/L")
    result = run("check", "runs.csv", *options, "--column", "experiment=run", "--start", "r1.k=0.5 1/min")
    assert result.exit_code == 0, result.stderr
    assert "r1.k = 0.5 1/min (estimated, log scale)" in result.stdout
    table = "  experiment  values  t [min]\n  a           2       0 to 1\n  b           1       3\nin all: T 50 degC\n"
    assert f"experiments as read (2):\n{table}" in result.stdout
    assert result.stdout.endswith("runs.csv: no problem found\n")
    assert run("check", "runs.csv").exit_code == 2 and run("check", write_tank(place), "--reactor", "cstr").exit_code == 2


def test_a_tube_without_a_study_says_how_its_density_goes(place):
    (place / "tube.csv").write_text("tau [s],p_A_in [bar],A [mol/m^3]\n1,1,13.2\n2,1,8\n", encoding="utf-8")
    options = ("--reaction", "A -> 2 B", "--reactor", "plug_flow", "--feed", "default=0 bar", "--condition", "T=500 K")
    result = run("check", "tube.csv", *options, "--density", "ideal_gas")
    assert result.exit_code == 0, result.stderr
    assert "ideal tube (plug flow) at steady state, one row per outlet; ideal gas at constant P" in result.stdout
    assert "'p_A_in [bar]' is the partial pressure of A in the feed" in result.stdout
    assert "feed: A 24.0545 mol/m^3; B 0 mol/m^3" in result.stdout
    result = run("check", "tube.csv", *options)
    assert result.exit_code == 1 and "on the command line --density" in errors(result)[0]


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
    simulation = read_tree(place / "profiles.nc")["simulation"].to_dataset()
    np.testing.assert_allclose(simulation["predicted"].sel(response="A").values[0], [2 * np.exp(-0.01), np.nan], rtol=1e-6)
    reached = simulation["t_reached"].item()
    assert 1 <= reached < 1e6 and simulation["t_reached"].attrs["units"] == "s"
    assert f"; time reached {reached:.4g} s; the largest error is in " in problem


def test_many_responses_stand_in_several_tables(place):
    names = [f"Species{i}" for i in range(9)]
    chain = "\n".join(f'r{i} = {{ equation = "{a} -> {b}", k = "0.01 1/s" }}' for i, (a, b) in enumerate(pairwise(names)))
    study = f'schema = 1\n[reactions]\n{chain}\n[reactor]\ntype = "batch"\n[initial]\nSpecies0 = "1 mol/L"\ndefault = "0 mol/L"\n'
    (place / "chain.toml").write_text(study + '[simulate]\ntimes = ["0 s", "10 s"]\n', encoding="utf-8")
    result = run("simulate", "chain.toml")
    assert result.exit_code == 0, result.stderr
    assert max(map(len, result.stdout.splitlines())) <= 96
    headers = [line for line in result.stdout.splitlines() if line.lstrip().startswith("t [s]")]
    assert len(headers) == 2 and [word for line in headers for word in line.split() if word.startswith("Species")] == names
    last = [line.split() for line in result.stdout.splitlines() if line.split()[:1] == ["10"]]
    assert [len(row) for row in last] == [1 + line.count("Species") for line in headers]
    assert float(last[0][1]) == pytest.approx(np.exp(-0.1), rel=1e-4)


def test_times_of_the_study_come_before_those_of_its_data(place):
    (place / "runs.csv").write_text("run,time [min],A [mol/L]\na,1,1\na,2,0.5\nb,3,0.4\n", encoding="utf-8")
    study = (
        BATCH.replace('times = "0:300:61 s"', 'times = "0:4:3 h"') + '[data]\nfiles = ["runs.csv"]\n[data.columns]\nexperiment = "run"\n'
    )
    (place / "batch.toml").write_text(study.replace("0.01 1/s", "0.5 1/h"), encoding="utf-8")
    result = run("simulate", "batch.toml", "--out", "profiles.nc")
    assert result.exit_code == 0, result.stderr
    assert "simulated at the times of [simulate], in place of those of the data" in result.stdout
    simulation = read_tree(place / "profiles.nc")["simulation"].to_dataset()
    assert simulation["t"].attrs["units"] == "h"
    np.testing.assert_allclose(simulation["t"].values, [[0, 2, 4], [0, 2, 4]])
    for name in "ab":
        predicted = simulation["predicted"].sel(response="A", experiment=name)
        np.testing.assert_allclose(predicted, 2 * np.exp([0.0, -1.0, -2.0]), rtol=1e-6)


def test_a_mistake_in_simulate_is_told_beside_data_as_well(place):
    path = write_tank(place)
    path.write_text(BATCH.replace('"0:300:61 s"', '"0:300"') + '[data]\nfiles = ["tank.csv"]\n', encoding="utf-8")
    assert errors(run("check", path)) == [
        'tank.toml: [simulate] Times "0:300": expected "start:stop:points unit", for example "0:3600:61 s".'
    ]


def test_times_of_a_simulation_beside_data_are_told(place):
    (place / "batch.csv").write_text("time [s],A [mol/L]\n50,1.21\n100,0.74\n200,0.27\n", encoding="utf-8")
    path = place / "batch.toml"
    path.write_text(BATCH.replace('k = "0.01 1/s"', 'k = { start = "0.01 1/s" }') + '[data]\nfiles = ["batch.csv"]\n', encoding="utf-8")
    words = "[simulate] times: for kinetix simulate only; a fit takes the times of its data."
    assert run("check", path).stderr == f"warning: {words}\n"
    assert run("fit", path, "--quiet").stderr == f"warning: {words}\n"
    assert words in read_tree(place / "batch-fit" / "fit.nc").attrs["warnings"]
    assert run("simulate", path).stderr == ""


def test_the_values_of_a_fit_are_taken_at_their_reference_temperature(place):
    """A study at one temperature far from the data's, simulated with the constants of a fit to exact data of three temperatures."""
    fitted = run("fit", write_tank(place, scatter=0.0), "--quiet")
    assert fitted.exit_code == 0, fitted.stderr
    path = place / "hot.toml"
    hot = TANK.replace("[conditions]", '[conditions]\nT = "400 K"\ntau = "1 min"').partition("[data]")[0].replace(', at = "350 K"', "")
    path.write_text(hot.replace('B -> C", k = { start = "0.05 1/min"', 'B -> C", k = { start = "9 1/min"'), encoding="utf-8")
    result = run("simulate", path, "--from", "tank-fit/fit.nc", "--out", "hot.nc")
    assert result.exit_code == 0, result.stderr
    assert "from tank-fit/fit.nc: r1.k_ref = 0.2 1/min, r1.Ea = 70 kJ/mol" in result.stdout
    k1, k2 = (k * np.exp(-Ea / R * (1 / 400 - 1 / 350)) for k, Ea in ((0.2, 70e3), (0.07, 80e3)))
    A = 1 / (1 + k1)
    B = k1 * A / (1 + k2)
    simulated = read_tree(place / "hot.nc")["simulation/predicted"].values[0, 0]
    np.testing.assert_allclose(simulated, [A, B, 1 - A - B], rtol=2e-4)


def test_values_that_do_not_belong_to_the_study(place):
    assert run("fit", write_tank(place), "--quiet").exit_code == 0
    (place / "batch.toml").write_text(BATCH, encoding="utf-8")
    found = errors(run("simulate", "batch.toml", "--from", "tank-fit/fit.nc"))
    assert found[0].startswith("tank-fit/fit.nc estimates r1.k_ref, which the study does not have (it has r1.k). Did you mean 'r1.k'?")
    assert run("simulate", "batch.toml", "--out", "profiles.nc", "--quiet").exit_code == 0
    (problem,) = errors(run("simulate", "batch.toml", "--from", "profiles.nc"))
    assert problem.endswith(
        "profiles.nc: expected the result of a fit (of kinetix.fit, or read_tree of a fit.nc), found the result of a simulation."
    )


AUTOCATALYSIS = """\
schema = 1
title = "Autocatalysis"

[reactions]
r1 = { equation = "A + 2 B -> 3 B", k = "1 L^2/mol^2/s" }

[reactor]
type = "cstr"

[conditions]
feed = { A = "1 mol/L", B = "0.05 mol/L" }
tau = "5 s"
"""


def test_all_states_of_a_tank(place):
    """Roots of tau A (1.05 - A)^2 = 1 - A; turning points where 2 A^2 - 3 A + 1.05 = 0."""
    (place / "tank.toml").write_text(AUTOCATALYSIS, encoding="utf-8")
    result = run("simulate", "tank.toml", "--all-states", "--out", "states.nc")
    assert result.exit_code == 0, result.stderr
    title, _, header, *rows = result.stdout.splitlines()
    assert title == "Autocatalysis"
    assert header.split() == ["A", "[mol/L]", "B", "[mol/L]", "stable", "eigenvalue", "[1/s]", "from", "the", "feed"]
    A = np.sort(np.roots([5, -10.5, 5 * 1.05**2 + 1, -1]).real)[::-1]
    assert [row.split()[:3] for row in rows[:3]] == [
        [f"{a:.5g}", f"{1.05 - a:.5g}", word] for a, word in zip(A, ("yes", "no", "yes"), strict=True)
    ]
    assert [row.split()[4:] for row in rows[:3]] == [["reached"], [], []]
    turn = np.roots([2, -3, 1.05])
    taus = sorted((1 - turn) / (turn * (1.05 - turn) ** 2))
    assert f"states appear or vanish at tau = {taus[0]:.5g} and {taus[1]:.5g} s" in result.stdout
    tree = read_tree(place / "states.nc")
    np.testing.assert_allclose(tree["states/concentration"].sel(species="A"), A, rtol=1e-10)
    np.testing.assert_allclose(tree["simulation/predicted"].sel(response="A").values, [[A[0]]], rtol=1e-10)


def test_all_states_of_rows_name_the_experiment(place):
    text = AUTOCATALYSIS.replace('tau = "5 s"\n', '\n[data]\nfiles = ["taus.csv"]\n')
    (place / "tank.toml").write_text(text, encoding="utf-8")
    (place / "taus.csv").write_text("tau [s]\n1\n5\n", encoding="utf-8")
    result = run("simulate", "tank.toml", "--all-states")
    assert result.exit_code == 0, result.stderr
    assert [row.split()[0] for row in result.stdout.splitlines()[3:7]] == ["1", "2", "2", "2"]
    assert "experiment '2': states appear or vanish at tau = " in result.stdout


def test_all_states_of_a_batch_are_refused(place):
    (place / "batch.toml").write_text(BATCH, encoding="utf-8")
    result = run("simulate", "batch.toml", "--all-states")
    assert result.exit_code == 1 and "one stirred tank, found a batch reactor" in errors(result)[0]
