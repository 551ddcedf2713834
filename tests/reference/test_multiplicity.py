"""All steady states of stirred tanks, through the whole product, against published values, root finding in one variable, and SciPy.

The cooled tank: D. E. Seborg, T. F. Edgar, D. A. Mellichamp, Process Dynamics and Control, nonlinear tank (case
seborg-cstr-multiplicity). Substrate inhibition: its states are roots of a cubic. Consecutive exothermic reactions may have five
states: V. Hlavacek, M. Kubicek, K. Visnak, Chemical Engineering Science 27, 719 (1972); at a given T their concentrations are explicit.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import kinetix as kx
from kinetix.constants import GAS_CONSTANT
from kinetix.errors import InputError
from kinetix.simulation import all_responses
from kinetix.status import Status
from kinetix.studies import all_states_of
from tests.reference.studies import Study, problem
from tests.reference.test_energy import SEBORG


def all_states(study: Study, *tables: str, **options):
    return all_states_of(problem(study, *tables, responses=all_responses), **options)


def of(states, experiment: str):
    return states.isel(state=states["state_experiment"].values == experiment)


# ------------------------------------------------------------------------------------------------------------ a cooled tank

COOLANTS = (290.0, 295.0, 300.0, 304.0, 306.0, 310.0)


@pytest.fixture(scope="module")
def cooled():
    return all_states(SEBORG, "T_coolant [K]\n" + "".join(f"{T}\n" for T in COOLANTS))


def test_the_cooled_tank_has_its_three_states(cooled, data):
    case = data("seborg-cstr-multiplicity").facts
    expected = case["expected"]["steady_states"]
    states = of(cooled, "3")
    rtol = case["tolerance"]["computed_rel"]
    assert_allclose(states["T"], [one["T_K"] for one in expected], rtol=rtol)
    assert_allclose(states["concentration"].sel(species="A"), [one["CA"] for one in expected], rtol=rtol)
    assert states["stable"].values.tolist() == [one["stable"] for one in expected]
    assert states["reached_from_feed"].values.tolist() == [True, False, False]
    for i, one in enumerate(expected):
        order = np.lexsort((one["eigenvalues_imag"], -np.array(one["eigenvalues_real"])))
        assert_allclose(states["eigenvalue_real"][i], np.array(one["eigenvalues_real"])[order], rtol=rtol)
        assert_allclose(states["eigenvalue_imag"][i], np.array(one["eigenvalues_imag"])[order], rtol=rtol)
    assert states["eigenvalue_real"].attrs["units"] == "1/min" and states["T"].attrs["units"] == "K"
    printed, tolerance = case["expected"]["printed"], case["tolerance"]
    assert float(states["T"][1]) == pytest.approx(printed["T_K"], abs=tolerance["printed_T_abs"])
    assert float(states["concentration"][1, 0]) == pytest.approx(printed["CA"], abs=tolerance["printed_CA_abs"])


def test_how_many_states_there_are_at_each_coolant(cooled, data):
    expected = data("seborg-cstr-multiplicity").facts["expected"]["number_of_steady_states"]
    found = {f"{T:.0f}": of(cooled, str(i + 1)).sizes["state"] for i, T in enumerate(COOLANTS)}
    assert found == expected
    assert (cooled["status"] == Status.SUCCESS).all() and (cooled["curve_status"] == Status.SUCCESS).all()


def test_an_unstable_only_state_is_told_and_not_reached(cooled):
    """At 304 and 306 K the one state is unstable: the tank oscillates about it."""
    for experiment in ("4", "5"):
        states = of(cooled, experiment)
        assert not states["stable"].any() and not states["reached_from_feed"].any() and float(states["eigenvalue_imag"][0, 0]) != 0
        assert states["feed_status"].sel(experiment=experiment) == Status.UNSTEADY


def test_turning_points_over_the_coolant(data):
    case = data("seborg-cstr-multiplicity").facts
    study = {**SEBORG, "conditions": {**SEBORG["conditions"], "T_coolant": "26.85 degC"}}
    states = all_states(study, along="T_coolant", between=("280 K", "320 K"))
    fold = states["point_kind"].values == "fold"
    assert states.attrs["along"] == "T_coolant" and states["point_along"].attrs["units"] == "degC"
    found = sorted(zip(states["point_along"].values[fold] + 273.15, states["point_T"].values[fold], strict=True))
    expected = sorted((one["Tc_K"], one["T_K"]) for one in case["expected"]["turning_points"])
    assert_allclose(found, expected, atol=case["tolerance"]["turning_point_Tc_abs"])
    assert_allclose([float(states["point_along"].min()), float(states["point_along"].max())], [280 - 273.15, 320 - 273.15], rtol=1e-12)


def test_the_branch_from_the_feed_is_that_of_scipy(cooled):
    for i, coolant in enumerate(COOLANTS):

        def rhs(t, y, coolant=coolant):
            r = 7.2e10 * np.exp(-8750 / y[1]) * y[0]
            return [1 - y[0] - r, 350 - y[1] + 5e4 / 239 * r + 5e4 / 239 / 100 * (coolant - y[1])]

        y = solve_ivp(rhs, (0, 60), [1.0, 350.0], method="LSODA", rtol=1e-10, atol=1e-10).y
        settled = np.ptp(y[1, -20:]) < 1e-3
        states = of(cooled, str(i + 1))
        assert bool(states["reached_from_feed"].any()) == settled
        if settled:
            (T,) = states["T"].values[states["reached_from_feed"].values]
            assert pytest.approx(y[1, -1], rel=1e-6) == T


# --------------------------------------------------------------------------------------------------- other laws and networks


def test_substrate_inhibition_against_the_roots_of_its_cubic():
    """(1 - A)/tau = k A/(1 + K A)^2 with k = 1 1/s and K = 50 L/mol."""
    draw = np.random.default_rng(5)
    taus = 10 ** draw.uniform(2.0, 3.1, 12)
    study: Study = {
        "reactions": {"r1": {"equation": "A -> B", "rate": "k*[A]/(1 + K*[A])^2", "parameters": {"k": "1 1/s", "K": "50 L/mol"}}},
        "reactor": {"type": "cstr"},
        "conditions": {"feed": {"A": "1 mol/L", "B": "0 mol/L"}},
    }
    states = all_states(study, "tau [s]\n" + "".join(f"{tau!r}\n" for tau in taus.tolist()))
    several = 0
    for i, tau in enumerate(taus):
        roots = np.roots([2500, 100 - 2500, 1 - 100 + tau, -1])
        expected = np.sort(roots[np.abs(roots.imag) < 1e-9].real)[::-1]
        one = of(states, str(i + 1))
        assert_allclose(one["concentration"].sel(species="A"), expected, rtol=1e-8)
        assert one["stable"].values.tolist() == [True, False, True][: len(expected)]
        assert one["reached_from_feed"].values.tolist() == [True, False, False][: len(expected)]
        several += len(expected) == 3
    assert several >= 3


A1, E1, A2, E2, RISES = 1.46e10, 77560.0, 7.3e13, 136800.0, (112.4, 143.0)


def consecutive(T, tau):
    """Feed temperature that a tank at T needs, less 300 K; and the conversion of A and the yield of C."""
    k1, k2 = A1 * np.exp(-E1 / GAS_CONSTANT / T), A2 * np.exp(-E2 / GAS_CONSTANT / T)
    first = k1 * tau / (1 + k1 * tau)
    second = first * k2 * tau / (1 + k2 * tau)
    return T - 300 - RISES[0] * first - RISES[1] * second, first, second


@pytest.mark.parametrize(("tau", "number"), [(1.0, 1), (4.0, 3), (20.0, 5), (80.0, 3)])
def test_consecutive_reactions_have_up_to_five_states(tau, number):
    grid = np.linspace(299, 560, 20001)
    miss = consecutive(grid, tau)[0]
    at = np.flatnonzero(miss[:-1] * miss[1:] < 0)
    expected = [brentq(lambda T: consecutive(T, tau)[0], grid[i], grid[i + 1], xtol=1e-12) for i in at]
    tank = kx.CSTR(kx.parse_network("A -> B; B -> C"), energy={"type": "adiabatic", "heat_capacity": "1 MJ/m^3/K"})
    known = {
        "r1.A": f"{A1!r} 1/s",
        "r1.Ea": f"{E1!r} J/mol",
        "r1.dHr": f"{-RISES[0]!r} kJ/mol",
        "r2.A": f"{A2!r} 1/s",
        "r2.Ea": f"{E2!r} J/mol",
        "r2.dHr": f"{-RISES[1]!r} kJ/mol",
        "feed.A": "1 mol/L",
        "feed.default": "0 mol/L",
    }
    states = kx.steady_branches(tank, known, conditions={"tau": f"{tau!r} s", "T_feed": "300 K"})
    assert_allclose(states["T"], expected, rtol=1e-9)
    assert_allclose(states["concentration"].sel(species="C"), [consecutive(T, tau)[2] for T in expected], rtol=1e-7)
    assert states["stable"].values.tolist() == [True, False, True, False, True][: len(expected)]
    assert len(expected) == number


def test_a_feed_that_is_a_state_itself_leads_nowhere():
    """A + B -> 2 B without B in the feed: nothing happens for ever, though any trace of B grows."""
    known = {"r1.k": "1 L/mol/s", "feed.A": "1 mol/L", "feed.B": "0 mol/L"}
    states = kx.steady_branches(kx.CSTR(kx.parse_network("A + B -> 2 B")), known, conditions={"tau": "5 s"})
    assert_allclose(states["concentration"], [[1, 0], [0.2, 0.8]], atol=1e-12)
    assert states["stable"].values.tolist() == [False, True]
    assert not states["reached_from_feed"].any() and states["feed_status"].item() == Status.UNSTEADY


def test_rates_per_catalyst_are_followed_over_the_loading():
    """The tank of the docstring, with W/Q in the place of tau."""
    known = {"r1.k": "1 L^3/mol^2/kg/s", "feed.A": "1 mol/L", "feed.B": "0.05 mol/L"}
    tank = kx.CSTR(kx.parse_network("A + 2 B -> 3 B"), basis="catalyst_mass")
    states = kx.steady_branches(tank, known, conditions={"W": "5 kg", "Q": "1 L/s"})
    roots = np.roots([5, -10.5, 5 * 1.05**2 + 1, -1])
    assert_allclose(states["concentration"].sel(species="A"), np.sort(roots.real)[::-1], rtol=1e-9)
    assert states.attrs["along"] == "W/Q"
    assert states["point_along"].attrs["units"] == states["eigenvalue_real"].attrs["units"].removeprefix("1/(").removesuffix(")")


# ---------------------------------------------------------------------------------------------------------------- refusals

DECAY = kx.parse_network("A -> B")
FED = {"r1.k": "1 1/s", "feed.A": "1 mol/L", "feed.B": "0 mol/L"}


@pytest.mark.parametrize(
    ("reactor", "what"),
    [
        (kx.Batch(DECAY), "a batch reactor"),
        (kx.PlugFlow(DECAY, density="constant"), "a plug_flow reactor"),
        (kx.CSTR(DECAY, tanks=3), "3 tanks in series"),
    ],
)
def test_only_one_tank_has_states_to_look_for(reactor, what):
    with pytest.raises(InputError, match=rf"one stirred tank, found {what}\. Write CSTR\(network\)"):
        kx.steady_branches(reactor, FED, conditions={"tau": "1 s"})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"along": "T"}, r"along = 'T': curves can go over tau, T, T_feed, T_coolant\. This tank has tau\."),
        ({"along": "taau"}, r"Did you mean 'tau'\?"),
        ({"between": ("2 s", "5 s")}, r"tau of experiment '1', 1 s, within"),
        ({"between": ("5 s", "0.5 s")}, r"expected a lower end above zero, a higher one"),
        ({"between": ("0.5 K", "5 s")}, "K"),
        ({"between": "0.5 s"}, r"expected two quantities, for example between=\(\"0\.01 s\", \"100 s\"\)"),
    ],
)
def test_what_cannot_be_followed_is_told(options, words):
    with pytest.raises(InputError, match=words):
        kx.steady_branches(kx.CSTR(DECAY), FED, conditions={"tau": "1 s"}, **options)


def test_a_range_is_asked_for_where_none_can_be_guessed():
    with pytest.raises(InputError, match=r"along = 'T' without its range\. Write between=\(\"280 K\", \"320 K\"\)"):
        kx.steady_branches(kx.CSTR(DECAY), FED, conditions={"tau": "1 s", "T": "350 K"}, along="T")
