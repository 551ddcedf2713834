"""parameters.csv, read back by the csv module: every digit, the whole covariance, nothing where there is nothing."""

import csv
import io
from dataclasses import replace

import numpy as np

from kinetix.report import parameters_csv
from kinetix.results import fit_tree
from tests.results.examples import steady_facts, timed_facts

COLUMNS = ["name", "value", "unit", "stderr", "lower95", "upper95", "fixed", "at_bound", "derived", "note"]


def rows_of(tree) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(parameters_csv(tree), newline="")))


def test_everything_comes_back_to_the_last_digit():
    tree = fit_tree(timed_facts())
    rows = rows_of(tree)
    assert list(rows[0]) == [*COLUMNS, "cov r1.k_ref", "cov r1.Ea"]
    group = tree["parameters"].to_dataset()
    for index, row in enumerate(rows[:2]):
        for name in ("value", "stderr", "lower95", "upper95"):
            assert float(row[name]) == group[name].values[index]
        assert (row["unit"], row["fixed"], row["at_bound"], row["derived"]) == (str(group["unit"].values[index]), "false", "", "false")
    found = [[float(row[f"cov {name}"]) for name in ("r1.k_ref", "r1.Ea")] for row in rows[:2]]
    np.testing.assert_array_equal(found, tree["covariance/covariance"].values)
    assert (rows[2]["name"], rows[2]["derived"], rows[2]["cov r1.Ea"]) == ("r1.A", "true", "")
    noted = rows_of(fit_tree(replace(timed_facts(), parameter_notes=("at 340 K", ""))))
    assert [row["note"] for row in noted] == ["at 340 K", "", "from ln A"]
    assert float(rows[2]["upper95"]) == group["derived_upper95"].values[0]


def test_a_cell_is_empty_where_there_is_no_number():
    _, fixed, held = rows_of(fit_tree(steady_facts()))
    assert (fixed["fixed"], fixed["stderr"], fixed["cov r1.k_ref"], fixed["cov r1.Ea"]) == ("true", "", "", "")
    assert (held["at_bound"], held["value"], held["lower95"]) == ("upper", "2.3", "")


def test_names_with_commas_and_quotes():
    facts = replace(timed_facts(), parameter_names=('k,"1"', "µ\nx"))
    assert [row["name"] for row in rows_of(fit_tree(facts))][:2] == ['k,"1"', "µ\nx"]
