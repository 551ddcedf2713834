"""A plain Python function as a rate law: beside the same named law, through simulation, fit and derivatives; what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import kinetix as kx
from kinetix.errors import ParameterError
from kinetix.studies.describing import describe_model

NETWORK = kx.parse_network("S -> P")
UNITS = {"Vmax": "mol/L/s", "Km": "mol/L"}
AMOUNTS = {"initial.S": "1 mol/L", "initial.P": "0 mol/L"}
KNOWN = {"r1.Vmax": "2e-3 mol/L/s", "r1.Km": "0.3 mol/L"}


def saturation(c, k, T):
    return k["Vmax"] * c["S"] / (k["Km"] + c["S"])


LAW = kx.law(saturation, constants=UNITS, species=["S"])
FORMULA = "Vmax*[S]/(Km + [S])"


def batch(rate):
    return kx.Batch(NETWORK, rates={"r1": rate})


def test_it_is_the_formula():
    trees = [kx.simulate(batch(rate), {**KNOWN, **AMOUNTS}, times="0:1000:6 s") for rate in (LAW, FORMULA)]
    assert_allclose(*(tree["simulation/predicted"].values for tree in trees), rtol=1e-12)


def test_fit_with_and_without_a_start(tmp_path):
    tree = kx.simulate(batch(FORMULA), {**KNOWN, **AMOUNTS}, times="100:1000:10 s")
    S = tree["simulation/predicted"].sel(response="S").values[0]
    path = tmp_path / "batch.csv"
    path.write_text("time [s],S [mol/L]\n" + "\n".join(f"{t},{s:.15g}" for t, s in zip(np.linspace(100, 1000, 10), S, strict=True)))
    campaign = kx.read_csv(path, batch(LAW))
    for start in ({"r1.Vmax": "1e-3 mol/L/s", "r1.Km": "1 mol/L"}, {}):
        result = kx.fit(batch(LAW), campaign, start, known=AMOUNTS)
        assert_allclose(result["parameters/value"].sel(parameter=["r1.Vmax", "r1.Km"]), [2e-3, 0.3], rtol=1e-5)
    assert "saturation([S], Vmax, Km)" in str(result.attrs)


def test_derivatives_and_text():
    tank = kx.CSTR(NETWORK, rates={"r1": LAW})
    problem = kx.problem(tank, {**KNOWN, "feed.S": "1 mol/L", "feed.P": "0 mol/L"}, conditions={"tau": "200 s"})
    assert ("r1", "S -> P", "saturation([S], Vmax, Km)") in describe_model(problem)
    slope = jax.jacfwd(lambda p: kx.predict(problem.model, p, problem.lanes).values)(problem.parameters)[0, 0, 0]
    Vmax, Km = problem.parameters
    c = kx.predict(problem.model, problem.parameters, problem.lanes).values[0, 0, 0]
    # 0 = (1000 - c)/tau - Vmax c/(Km + c), differentiated implicitly
    by_c = -1 / 200 - Vmax * Km / (Km + c) ** 2
    assert_allclose(slope, [c / (Km + c) / by_c, -Vmax * c / (Km + c) ** 2 / by_c], rtol=1e-5)


def test_temperature_and_pressure():
    def arrhenius(c, k, T):
        return k["k0"] * jnp.exp(-k["theta"] / T) * c["S"]

    law = kx.law(arrhenius, constants={"k0": "mol/kg/s/bar", "theta": "K"}, species=["S"])
    cell = kx.Differential(NETWORK, rates={"r1": law}, basis="catalyst_mass", amounts="partial_pressure")
    known = {"r1.k0": "3 mol/kg/s/bar", "r1.theta": "800 K"}
    tree = kx.simulate(cell, known, conditions={"p[S]": "2 bar", "T": "400 K"})
    assert tree["simulation/predicted"].item() == pytest.approx(6 * np.exp(-2.0), rel=1e-12)


def test_the_same_function_is_the_same_law():
    assert kx.law(saturation, constants=UNITS, species=["S"]) == LAW
    assert hash(LAW) == hash(kx.law(saturation, constants=UNITS, species=["S"]))


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (lambda: kx.law(saturation, constants={**UNITS, "Vmax": "mol/L"}, species=["S"]), ["r1", "saturation", "time^0", "time^-1"]),
        (lambda: kx.law(saturation, constants={**UNITS, "Km": "1/s"}, species=["S"]), ["saturation", "no power"]),
        (lambda: kx.law(saturation, constants=UNITS, species=["Q"]), ["'Q'", "no species", "S, P"]),
        (lambda: kx.law(saturation, constants=UNITS, species="S"), ["list of names"]),
        (lambda: kx.law(saturation, constants={"Vmax": "mol/L/s"}, species=["S"]), ["KeyError", "'Km'", "(Vmax)"]),
        (lambda: kx.law(lambda c, k, T: jnp.sum(c["S"]), constants={}, species=["S"]), ["shape ()", "elementwise"]),
        (lambda: kx.law(lambda c, k, T: k["k"] * c["S"].cumsum(), constants={"k": "1/s"}, species=["S"]), ["not elementwise"]),
        (lambda: kx.law("k*[A]", constants={}, species=["S"]), ["expected a function"]),
    ],
)
def test_what_is_refused(law, words):
    with pytest.raises(kx.InputError) as error:
        kx.simulate(batch(law()), {**KNOWN, **AMOUNTS}, times="0:10:2 s")
    for word in words:
        assert word in str(error.value)


def test_a_constant_in_the_wrong_unit_or_without_a_value():
    with pytest.raises(kx.InputError, match=r"r1\.Km"):
        kx.simulate(batch(LAW), {"r1.Vmax": "1 mol/L/s", **AMOUNTS}, times="0:10:2 s")
    with pytest.raises(kx.InputError, match=r"r1\.Km.*1/s"):
        kx.simulate(batch(LAW), {**KNOWN, "r1.Km": "1 1/s", **AMOUNTS}, times="0:10:2 s")


def test_a_function_of_temperature_needs_one():
    def arrhenius(c, k, T):
        return k["V"] * jnp.exp(-k["T0"] / T) * c["A"]

    rate = kx.law(arrhenius, constants={"V": "1/s", "T0": "K"}, species=["A"])
    batch = kx.Batch(kx.parse_network("A -> B"), rates={"r1": rate})
    known = {"r1.V": "1e5 1/s", "r1.T0": "6000 K", "initial.A": "1 mol/L", "initial.B": "0 mol/L"}
    with pytest.raises(kx.InputError, match=r"No temperature"):
        kx.simulate(batch, known, times=[0.0, 1.0])
    tree = kx.simulate(batch, known, conditions={"T": "350 K"}, times=[0.0, 1.0])
    A = float(tree["simulation/predicted"].sel(response="A")[0, 1])
    assert pytest.approx(np.exp(-1e5 * np.exp(-6000 / 350)), rel=1e-7) == A


def test_a_function_that_jax_cannot_trace_is_told():
    def saturating(c, k, T):
        return k["V"] * np.tanh(c["A"] / k["Km"])

    rate = kx.law(saturating, constants={"V": "mol/L/s", "Km": "mol/L"}, species=["A"])
    batch = kx.Batch(kx.parse_network("A -> B"), rates={"r1": rate})
    with pytest.raises(kx.InputError, match=r"Write it with arithmetic and jax\.numpy"):
        kx.simulate(batch, {"r1.V": "1 mol/L/s", "r1.Km": "1 mol/L", "initial.A": "1 mol/L", "initial.B": "0 mol/L"}, times=[0.0, 1.0])


def test_a_number_with_a_hidden_unit_of_temperature():
    rate = kx.law(lambda c, k, T: k["V"] * jnp.exp(-5000.0 / T) * c["A"], constants={"V": "1/s"}, species=["A"])
    batch = kx.Batch(kx.parse_network("A -> B"), rates={"r1": rate})
    with pytest.raises(kx.InputError, match=r"go with temperature as .* declare numbers that have a unit"):
        kx.simulate(batch, {"r1.V": "1 1/s", "initial.A": "1 mol/L", "initial.B": "0 mol/L"}, conditions={"T": "350 K"}, times=[0.0, 1.0])


@pytest.mark.parametrize("name", ["A", "Ea", "dH", "dS", "b", "at", "k_ref", "K_ref"])
def test_a_constant_may_be_called_like_a_part_of_k(name):
    rate = kx.law(lambda c, k, T: k[name] * c["A"], constants={name: "1/s"}, species=["A"])
    for law in (rate, f"{name}*[A]"):
        cell = kx.Differential(kx.parse_network("A -> B"), rates={"r1": law})
        tree = kx.simulate(cell, {f"r1.{name}": "2 1/s"}, conditions={"A": "3 mol/L"})
        assert tree["simulation/predicted"].item() == pytest.approx(6.0)


def test_a_constant_called_b_may_depend_on_temperature_and_stand_beside_k():
    cell = kx.Differential(kx.parse_network("A -> B"), rates={"r1": "k*b*[A]"})
    known = {"r1.k": "2 1/s", "r1.b.k": "3 -", "r1.b.b": "1", "r1.b.at": "300 K"}
    conditions = {"A": "1 mol/L", "T": "600 K"}
    tree = kx.simulate(cell, known, conditions=conditions)
    assert tree["simulation/predicted"].item() == pytest.approx(12.0)
    same = kx.simulate(cell, {**known, "r1.k.Ea": "0 J/mol", "r1.k.at": "300 K"}, conditions=conditions)
    assert same["simulation/predicted"].item() == pytest.approx(12.0)


def test_a_name_of_two_numbers_is_refused():
    cell = kx.Differential(kx.parse_network("A -> B"), rates={"r1": "k*b*[A]"})
    known = {"r1.k": "2 1/s", "r1.k.b": "1", "r1.k.at": "300 K", "r1.b": "3 -"}
    with pytest.raises(ParameterError, match=r"Two numbers would be called 'r1\.b'.*Give the parameter another name"):
        kx.simulate(cell, known, conditions={"A": "1 mol/L", "T": "600 K"})
