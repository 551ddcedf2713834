"""Energy balances of tanks and closed vessels: textbook answers, SciPy, energy that is kept, derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetix.constants import GAS_CONSTANT
from kinetix.reactors import BATCH, CSTR
from kinetix.reactors.batch import solve_rigid_gas
from kinetix.reactors.energy import Heat, Jacket
from kinetix.reactors.plug_flow import solve_gas
from kinetix.status import Status
from tests.reactors.contents import OPTIONS, constant_at, filled, kinetics, solved, thermal

pytestmark = pytest.mark.usefixtures("x64")

BTU_PER_LBMOL = 2.326  # J/mol
RANKINE = 1 / 1.8  # K


def heat(start, *enthalpies, molar=(0.0,), volumetric=0.0, T_ref=298.15, exchange=0.0, coolant=300.0):
    given = Heat(start, jnp.zeros(4), filled(*molar), volumetric, T_ref, exchange, coolant, start)
    enthalpies = given.enthalpies.at[: len(enthalpies)].set(jnp.stack([jnp.asarray(value) for value in enthalpies]))
    return jax.tree.map(jnp.asarray, given._replace(enthalpies=enthalpies))


def tank(text, constants, given, tau, *feed):
    states = solved(CSTR, text, constants, tau=tau, feed=filled(*feed), times=[0.0], heat=given)
    return states, Status(int(states.status))


@pytest.mark.parametrize(
    ("exchange", "T", "X"),
    [(0.0, 613.6580075145064, 0.8573814106426119), (92.9, 563.7289297784686, 0.36360866802497693)],
    ids=["adiabatic", "cooled"],
)
def test_propylene_glycol(exchange, T, X):
    """Fogler (4th ed., 2006), examples 8-8 and 8-9: printed 613 R and 0.85, 563.7 R and 0.36; the digits are by root finding."""
    k = 16.96e12 / 3600 * np.exp(-32400 / (1.987 * 630))
    constants = thermal((k, 32400 / 1.987 * RANKINE * GAS_CONSTANT), T_ref=630 * RANKINE)
    tau, cA, per = 0.1229 * 3600, 2000.0, BTU_PER_LBMOL / RANKINE
    given = heat(
        535 * RANKINE,
        -36400 * BTU_PER_LBMOL,
        molar=(35 * per, 28 * per),  # with the water that reacts, so that the change is -7
        volumetric=(403.3 - 35) * per * cA,
        T_ref=528 * RANKINE,
        exchange=exchange * per * cA / tau,
        coolant=545 * RANKINE,
    )
    states, status = tank("A -> C", constants, given, tau, cA, 0.0)
    assert status is Status.SUCCESS
    np.testing.assert_allclose(states.T[0] / RANKINE, T, rtol=1e-9)
    np.testing.assert_allclose(states.c[0, 1] / cA, X, rtol=1e-9)


@pytest.mark.parametrize(("V", "X"), [(0.9944522613762531, 0.4), (1.0, None), (3.0, None)])
def test_adiabatic_isomerization_of_butane(V, X):
    """Fogler (4th ed., 2006), example 8-6: T = 330 K + 43.4 K X, and 1.0 m^3 for X = 0.4."""
    kf, K = 31.1 / 3600, 3.03 * np.exp(-830.3 * (360 - 333) / (333 * 360))
    Ea, dH, cA = 7906 * GAS_CONSTANT, -830.3 * GAS_CONSTANT, 9300.0
    given = heat(330.0, dH, -dH, volumetric=-dH * cA / 43.4)
    constants = thermal((kf, Ea), (kf / K, Ea - dH), T_ref=360.0)
    states, status = tank("A -> B; B -> A", constants, given, V * cA / (146.7e3 / 3600), cA, 0.0)
    assert status is Status.SUCCESS
    found = float(states.c[0, 1]) / cA
    T = 330 + 43.4 * found
    assert float(states.T[0]) == pytest.approx(T, rel=1e-12)
    rate = 31.1 * np.exp(7906 * (T - 360) / (360 * T)) * (1 - (1 + 1 / (3.03 * np.exp(-830.3 * (T - 333) / (333 * T)))) * found)
    np.testing.assert_allclose(146.7 * found / (9.3 * rate), V, rtol=1e-9)
    if X is not None:
        assert found == pytest.approx(X, rel=1e-8)


@pytest.mark.parametrize(
    ("coolant", "T", "A"),
    [(300.0, 324.47544343159893, 877.2529460809677), (290.0, None, None), (310.0, None, None)],
)
def test_an_exothermic_tank_from_the_feed(coolant, T, A):
    """Seborg, Edgar and Mellichamp: of the three steady states at a coolant of 300 K the feed leads to the stable one."""
    states, status = tank("A -> B", SEBORG, seborg(coolant=coolant), 60.0, 1000.0, 0.0)
    assert status is Status.SUCCESS
    c, found = states.c[0], float(states.T[0])
    k = 7.2e10 * np.exp(-8750 / found)
    assert float(c[0]) == pytest.approx(1000 / (1 + k), rel=1e-9)
    assert 350 - found + 5e4 / 239e3 * k * float(c[0]) + 5e4 / 239 / 100 * (coolant - found) == pytest.approx(0, abs=1e-8)
    if T is not None:
        assert (found, float(c[0])) == pytest.approx((T, A), rel=1e-9)


SEBORG = thermal((7.2e10 / 60 * np.exp(-8750 / 350), 8750 * GAS_CONSTANT))


def seborg(dH=-5e4, UA=5e4, coolant=300.0):
    return heat(350.0, dH, volumetric=239e3, exchange=UA / 60 / 0.1, coolant=coolant)


def test_derivatives_of_a_tank():
    """By the enthalpy, UA, k and the feed's temperature, against differences of solves."""

    def found(values):
        dH, UA, k, start = values
        given = seborg(dH, UA)._replace(start=start, feed=start)
        constants = SEBORG._replace(reference=SEBORG.reference * k)
        states = solved(CSTR, "A -> B", constants, tau=60.0, feed=filled(1000.0, 0.0), times=[0.0], heat=given)
        return jnp.stack([states.T[0], states.c[0, 0]])

    at, solve = jnp.array([-5e4, 5e4, 1.0, 350.0]), jax.jit(found)
    exact = jax.jacfwd(found)(at)
    np.testing.assert_allclose(jax.jacrev(found)(at), exact, rtol=1e-10)
    for i in range(4):
        h = 1e-5 * at[i] * np.eye(4)[i]
        np.testing.assert_allclose(exact[:, i], (solve(at + h) - solve(at - h)) / (2 * h[i]), rtol=1e-6)


CP, DH, K, EA = np.array([120.0, 80.0, 250.0]), -90e3, 2e-9, 70e3
INITIAL, TIMES, NU = (2000.0, 1500.0, 0.0), np.array([0.0, 60.0, 600.0, 3600.0, 7200.0]), np.array([-2.0, -1.0, 1.0])


def vessel(dH=DH, exchange=0.0, k=K):
    given = heat(310.0, dH, molar=CP, volumetric=1.2e6, exchange=exchange, coolant=295.0)
    constants = thermal((K, EA))
    constants = constants._replace(reference=constants.reference * k / K)
    return solved(BATCH, "2 A + B -> C", constants, times=TIMES, initial=filled(*INITIAL), heat=given)


@pytest.mark.parametrize("exchange", [0.0, 500.0], ids=["adiabatic", "cooled"])
def test_a_vessel_against_scipy(exchange):
    def rhs(t, y):
        c, T = y[:3], y[3]
        r = constant_at(K, EA, T) * c[0] ** 2 * c[1]
        return [*(NU * r), (-(DH + NU @ CP * (T - 298.15)) * r + exchange * (295 - T)) / (1.2e6 + CP @ c)]

    reference = solve_ivp(rhs, (0, 7200), [*INITIAL, 310.0], method="Radau", t_eval=TIMES, rtol=1e-10, atol=1e-8)
    states = vessel(exchange=exchange)
    assert Status(int(states.status)) is Status.SUCCESS
    np.testing.assert_allclose(states.T, reference.y[3], rtol=1e-8)
    np.testing.assert_allclose(states.c[:, :3], reference.y[:3].T, rtol=1e-7, atol=1e-5)
    np.testing.assert_allclose(states.constants[:, 0], constant_at(K, EA, states.T), rtol=1e-12)


def test_an_adiabatic_vessel_keeps_its_enthalpy():
    """Heat capacities change with the composition: what is kept is sum c_i h_i(T) and not a temperature by hand."""
    states = vessel()
    above = np.asarray(states.T)[:, None] - 298.15
    enthalpy = 1.2e6 * above[:, 0] + np.sum(states.c[:, :3] * (DH * np.array([0.0, 0.0, 1.0]) + CP * above), axis=1)
    assert np.ptp(enthalpy) / np.abs(DH * states.c[-1, 2]) < 1e-9


def test_derivatives_of_a_vessel():
    def found(values):
        return vessel(*values).T[-2]

    at, solve = jnp.array([DH, 500.0, K]), jax.jit(found)
    exact = jax.jacfwd(found)(at)
    for i in range(3):
        h = 1e-4 * at[i] * np.eye(3)[i]
        np.testing.assert_allclose(exact[i], (solve(at + h) - solve(at - h)) / (2 * h[i]), rtol=1e-5)


def test_a_catalyst_loading_leaves_the_exchange_as_it_is():
    """With rates per catalyst the loading multiplies rates and heats of reaction, not UA/V."""
    given = heat(310.0, -90e3, volumetric=2e6, exchange=500.0, coolant=295.0)
    lane = {"times": TIMES, "initial": filled(1000.0, 0.0), "heat": given}
    one = solved(BATCH, "A -> B", thermal((0.004, EA)), **lane)
    other = solved(BATCH, "A -> B", thermal((0.001, EA)), loading=4.0, **lane)
    np.testing.assert_allclose(other.T, one.T, rtol=1e-9)
    np.testing.assert_allclose(other.c, one.c, rtol=1e-7, atol=1e-6)


def along(values):
    """T at the outlet of a cooled tube of gas that expands, with its coolant beside it."""
    dH, exchange, k, start = values
    given = heat(start, dH, molar=(80.0, 60.0), exchange=exchange, coolant=480.0)
    given = given._replace(jacket=Jacket(given.coolant, jnp.zeros(()), jnp.asarray(900.0)))
    constants = thermal((0.2, 60e3), T_ref=520.0)
    lane = {"tau": jnp.asarray(4.0), "feed": filled(30.0, 0.0), "heat": given, "atol": jnp.asarray(1e-9)}
    states = solve_gas(kinetics("A -> 2 B"), constants._replace(reference=constants.reference * k), lane, OPTIONS)
    return jnp.stack([states.T[0], states.jacket[0], states.expansion[0], states.c[0, 0]])


def rigid(values):
    """T and a concentration in a rigid vessel of gas."""
    dH, exchange, k, start = values
    constants = thermal((0.2, 60e3), T_ref=520.0)
    given = heat(start, dH, molar=(80.0, 60.0), exchange=exchange, coolant=480.0)
    lane = {"times": jnp.asarray([2.0, 6.0]), "initial": filled(30.0, 0.0), "heat": given, "atol": jnp.asarray(1e-9)}
    states = solve_rigid_gas(kinetics("A -> 2 B"), constants._replace(reference=constants.reference * k), lane, OPTIONS)
    return jnp.concatenate([states.T, states.c[:, 0]])


@pytest.mark.parametrize("found", [along, rigid])
def test_derivatives_of_gases(found):
    """By the enthalpy, the exchange, k and where the temperature starts, against differences of solves."""
    at, solve = jnp.array([-20e3, 200.0, 1.0, 520.0]), jax.jit(found)
    exact = jax.jacfwd(found)(at)
    for i in range(4):
        h = 1e-4 * at[i] * np.eye(4)[i]
        np.testing.assert_allclose(exact[:, i], (solve(at + h) - solve(at - h)) / (2 * h[i]), rtol=1e-5, atol=1e-9)
