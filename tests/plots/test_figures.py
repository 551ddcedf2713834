"""Figures: those that make sense, with the data and units of the result, without touching matplotlib's state."""

import io
import subprocess
import sys
from dataclasses import replace

import matplotlib
import numpy as np
import pytest

from kinetix.plots import FIGURES, figures
from kinetix.results import Condition, branches_dataset, fit_tree
from kinetix.units import parse_unit
from tests.results.examples import autocatalytic_tank, single_facts, steady_facts, timed_facts


def png(figure) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=50)
    return target.getvalue()


def settings() -> dict:
    """matplotlib's settings, but for the backend, which it fills in itself at the first look."""
    return {name: dict.__getitem__(matplotlib.rcParams, name) for name in matplotlib.rcParams if name != "backend"}


def along_one_condition():
    facts = steady_facts()
    return replace(facts, conditions={"S": Condition(np.linspace(1.0, 0.1, 9), parse_unit("mol/L"))})


DRAWN = [
    (timed_facts(), {"parity", "residuals", "profiles", "arrhenius"}),
    (timed_facts(100), {"parity", "residuals", "profiles", "arrhenius"}),
    (single_facts(), {"parity", "residuals", "profiles"}),
    (steady_facts(), {"parity", "residuals"}),
    (along_one_condition(), {"parity", "residuals", "responses"}),
]


@pytest.mark.parametrize(("facts", "expected"), DRAWN, ids=["timed", "hundred", "single", "steady", "line"])
def test_what_makes_sense_is_drawn_and_can_be_printed(facts, expected):
    before = settings()
    drawn = figures(fit_tree(facts))
    assert set(drawn) == expected
    for figure in drawn.values():
        assert png(figure).startswith(b"\x89PNG")
    assert settings() == before


def test_parity_shows_every_measured_value_once_with_units():
    facts = timed_facts()
    figure = FIGURES["parity"](fit_tree(facts))
    assert figure is not None
    a, b = figure.axes
    assert (a.get_xlabel(), a.get_ylabel()) == ("A observed [mol/L]", "A predicted [mol/L]")
    line, points = b.get_lines()
    np.testing.assert_array_equal(line.get_xdata(), line.get_ydata())
    assert len(points.get_xdata()) == facts.mask[..., 1].sum() == 15
    np.testing.assert_allclose(np.sort(a.get_lines()[1].get_xdata()), np.sort(facts.observed_si[..., 0].ravel() / 1000))


def test_residuals_are_standardised_and_drawn_against_time():
    facts = timed_facts()
    figure = FIGURES["residuals"](fit_tree(facts))
    assert figure is not None
    left, right = figure.axes[:2]
    assert left.get_ylabel() == "A: residual / s"
    assert right.get_xlabel() == "time [min]"
    expected = (facts.observed_si - facts.predicted_si)[..., 0].ravel() / 1000 / facts.s
    np.testing.assert_allclose(left.get_lines()[-1].get_ydata(), expected)


def test_residuals_of_steady_states_are_drawn_against_temperature():
    figure = FIGURES["residuals"](fit_tree(steady_facts()))
    assert figure is not None
    assert [panel.get_xlabel() for panel in figure.axes] == ["conversion predicted [%]", "T [K]"]
    assert figure.axes[0].get_ylabel() == "residual / σ"


def test_profiles_have_a_panel_per_experiment_then_per_response():
    few = FIGURES["profiles"](fit_tree(timed_facts(7)))
    many = FIGURES["profiles"](fit_tree(timed_facts(100)))
    assert few is not None
    assert many is not None
    temperatures = timed_facts(7).conditions["T"].values_si - 273.15
    assert [panel.get_title() for panel in few.axes] == [f"run {i}, T {T:.5g} °C" for i, T in enumerate(temperatures, start=1)]
    assert [panel.get_ylabel() for panel in many.axes] == ["A [mol/L]", "B [mol/L]", "T [°C]"]


def test_a_title_says_what_tells_experiments_apart_and_nothing_twice():
    facts = timed_facts(2)
    cold, warm = (f"{T - 273.15:.5g} °C" for T in facts.conditions["T"].values_si)
    named = FIGURES["profiles"](fit_tree(replace(facts, experiments=(cold, "warm"))))
    assert named is not None
    assert [panel.get_title() for panel in named.axes] == [cold, f"warm, T {warm}"]
    single = FIGURES["profiles"](fit_tree(single_facts()))
    assert single is not None
    assert (single.axes[0].get_title(), single.axes[0].get_ylabel()) == ("", "A, B [mol/L]")


def test_profiles_of_unlike_units_do_not_share_a_panel():
    facts = timed_facts()
    figure = FIGURES["profiles"](fit_tree(replace(facts, response_units=(facts.response_units[0], parse_unit("mol/m^3")))))
    assert figure is not None
    assert [panel.get_ylabel() for panel in figure.axes] == ["A [mol/L]", "", "B [mol/m³]", ""]


def test_the_arrhenius_plot_is_a_straight_line_with_its_points():
    facts = timed_facts()
    (curve,) = facts.arrhenius
    points = np.array([[330.0, 0.08], [350.0, 0.25]])
    figure = FIGURES["arrhenius"](fit_tree(replace(facts, arrhenius=(replace(curve, points=points),))))
    assert figure is not None
    (panel,) = figure.axes
    line, measured = panel.get_lines()
    x, y = line.get_xdata(), np.log(line.get_ydata())
    np.testing.assert_allclose(np.diff(y) / np.diff(x), -facts.values_si[1] / 8.31446261815324 / 1000, rtol=1e-9)
    np.testing.assert_allclose(measured.get_xdata(), 1000 / points[:, 0])
    assert panel.get_yscale() == "log"
    assert panel.get_ylabel() == "r1.k [1/min]"
    png(figure)
    (above,) = panel.child_axes
    assert above.get_xlabel() == "T [°C]"
    low, high = sorted(above.get_xlim())
    np.testing.assert_allclose([high, low], 1000 / np.array(panel.get_xlim()) - 273.15)


def test_the_arrhenius_plot_names_what_it_shows():
    """Adsorption constants of one unit have a panel of their own, which does not call them k."""
    facts = timed_facts()
    (curve,) = facts.arrhenius
    adsorption = replace(curve, name="r1.KA", unit=parse_unit("L/mol"))
    shown = (curve, replace(curve, name="r2.k"), adsorption, replace(adsorption, name="r1.KB"))
    figure = FIGURES["arrhenius"](fit_tree(replace(facts, arrhenius=shown)))
    assert figure is not None
    assert [panel.get_ylabel() for panel in figure.axes] == ["k [1/min]", "KA, KB [L/mol]"]
    assert [text.get_text() for text in figure.axes[1].get_legend().get_texts()] == ["r1.KA", "r1.KB"]


def test_an_experiment_without_a_prediction_leaves_the_others_drawn():
    facts = timed_facts()
    predicted = facts.predicted_si.copy()
    predicted[0] = np.nan
    residuals = np.where(np.isnan(predicted), np.nan, facts.weighted_residuals)
    broken = replace(facts, predicted_si=predicted, weighted_residuals=residuals, profiles=None)
    for figure in figures(fit_tree(broken)).values():
        png(figure)
    nothing = replace(broken, predicted_si=np.full_like(predicted, np.nan), weighted_residuals=np.full_like(predicted, np.nan))
    assert set(figures(fit_tree(nothing))) == {"profiles", "arrhenius"}


def test_steady_states_are_solid_where_stable_and_dashed_between_their_turning_points():
    facts = autocatalytic_tank()
    data = branches_dataset(facts)
    drawn = figures(data)
    assert list(drawn) == ["branches"]
    (panel,) = drawn["branches"].axes  # the temperature is the same all along; X is drawn, not A and B
    assert (panel.get_xlabel(), panel.get_ylabel(), panel.get_xscale()) == ("tau [min]", "X [%]", "log")
    lines = [line for line in panel.get_lines() if line.get_marker() == "None"]
    assert [line.get_linestyle() for line in lines] == ["-", "--", "-"] * 2
    turns = [line.get_xdata() for line in panel.get_lines() if line.get_marker() == "^"]
    fold = data["point_kind"].values[data["point_curve"] == 0] == "fold"
    np.testing.assert_allclose(turns[0], data["point_along"].values[data["point_curve"] == 0][fold])
    filled = [line for line in panel.get_lines() if line.get_marker() == "o" and line.get_markersize() == 6]
    shown = [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in filled]
    wanted, X = data["wanted"].values, data["predicted"].values[:, 0]
    expected = []
    for i, name in enumerate(data["experiment"].values):
        for kind in (data["stable"].values, ~data["stable"].values):
            here = (data["state_experiment"].values == name) & kind
            expected.append(([wanted[i]] * here.sum(), X[here].tolist()))
    assert shown == expected
    assert png(drawn["branches"]).startswith(b"\x89PNG") and "Colours: short, long." in drawn["branches"].get_label()


def test_importing_the_room_imports_no_matplotlib_and_drawing_no_pyplot():
    code = (
        "import sys, kinetix.plots; assert 'matplotlib' not in sys.modules\n"
        "from kinetix.plots.sheet import sheet; sheet(2)\n"
        "assert 'matplotlib.figure' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
