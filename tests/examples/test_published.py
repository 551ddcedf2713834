"""Each example against the values that its README cites."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.stats import linregress

from kinetix.constants import GAS_CONSTANT

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def columns(file: str) -> dict[str, np.ndarray]:
    with (EXAMPLES / file).open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(line for line in lines if not line.startswith("#"))
    return {name: np.array(cells) for name, cells in zip(header, zip(*rows, strict=True), strict=True)}


def numbers(file: str, *names: str) -> list[np.ndarray]:
    table = columns(file)
    return [table[name].astype(float) for name in names]


def test_tank(answer):
    """Pyomo 6.10.1, test_parmest.py, TestReactorDesign.test_theta_est: 4, 4 and 7 decimal places."""
    found = answer("kinetix fit examples/tank/study.toml")
    assert found.summary["converged"] is True
    assert found.value("r1.k") == pytest.approx(5 / 6, abs=0.5e-4)
    assert found.value("r2.k") == pytest.approx(5 / 3, abs=0.5e-4)
    assert found.value("r3.k") == pytest.approx(1 / 6000, abs=0.5e-7)
    assert found.summary["objective"] < 76 * 0.05**2  # readings are rounded to 0.1


def test_series(answer):
    """Esposito and Floudas (2000), problem 1: k = (5.0035, 1.0000), objective 1.18584e-6, to the printed digits."""
    found = answer("kinetix fit examples/series/study.toml")
    assert found.value("r1.k") == pytest.approx(5.0035, abs=0.5e-4)
    assert found.value("r2.k") == pytest.approx(1.0, abs=0.5e-4)
    assert found.summary["objective"] == pytest.approx(1.18584e-6, abs=0.5e-11)


def test_decomposition(answer):
    """Bard (1974), section 5-21, whose estimate lies 0.05 % from the minimum; and the explicit formula minimised by SciPy."""
    found = answer("kinetix fit examples/decomposition/study.toml")
    assert found.value("r1.Ea") * 1e3 / GAS_CONSTANT == pytest.approx(960.9063, rel=1e-3)
    derived = found.summary["derived"]["r1.A"]
    assert derived["value"] == pytest.approx(813.4583, rel=1e-3)
    t, T, y = numbers("decomposition/data.csv", "time [h]", "T [K]", "fraction_left [-]")
    best = least_squares(
        lambda p: np.exp(-p[0] * t * np.exp(-p[1] / T)) - y, [750, 1200], x_scale=[100, 100], xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    assert derived["value"] == pytest.approx(best.x[0], rel=1e-5)
    assert found.value("r1.Ea") * 1e3 / GAS_CONSTANT == pytest.approx(best.x[1], rel=1e-6)
    assert found.summary["objective"] == pytest.approx(2 * best.cost, rel=1e-8)
    assert found.summary["objective"] == pytest.approx(0.03980599, rel=1e-5)
    error = np.sqrt(np.linalg.inv(best.jac.T @ best.jac).diagonal() * 2 * best.cost / 13)
    assert derived["stderr"] == pytest.approx(error[0], rel=1e-3)
    assert found.stderr("r1.Ea") * 1e3 / GAS_CONSTANT == pytest.approx(error[1], rel=1e-3)


def test_nitric_oxide_file_is_the_published_table():
    """c = p/(R T), and the rate is the fall of total pressure over R T, since four molecules become three; 1 mmHg = 101325/760 Pa."""
    names = ("p_NO [mmHg]", "p_H2 [mmHg]", "fall of pressure [mmHg/s]", "NO [mol/m^3]", "H2 [mol/m^3]", "rate [mol/m^3/s]")
    table = numbers("nitric-oxide/data.csv", *names)
    for pressure, concentration in zip(table[:3], table[3:], strict=True):
        np.testing.assert_allclose(concentration, pressure * 101325 / 760 / (GAS_CONSTANT * 1099.15), rtol=3e-5)


def test_nitric_oxide(answer):
    """Orders 2 and 1 (Hinshelwood and Green 1926) within their intervals; estimates and errors as by SciPy."""
    found = answer("kinetix fit examples/nitric-oxide/study.toml")
    for name, order in (("r1.order.NO", 2), ("r1.order.H2", 1)):
        entry = found.summary["parameters"][name]
        assert entry["lower95"] < order < entry["upper95"]
    NO, H2, rate = numbers("nitric-oxide/data.csv", "NO [mol/m^3]", "H2 [mol/m^3]", "rate [mol/m^3/s]")
    tight = {"x_scale": "jac", "xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
    best = least_squares(lambda p: (np.exp(p[0]) * NO ** p[1] * H2 ** p[2] - rate) * 1e3, [np.log(1e-4), 2, 1], **tight)
    assert found.value("r1.k") == pytest.approx(np.exp(best.x[0]), rel=1e-5)
    assert found.value("r1.order.NO") == pytest.approx(best.x[1], rel=1e-5)
    assert found.value("r1.order.H2") == pytest.approx(best.x[2], rel=1e-5)
    error = np.sqrt(np.linalg.inv(best.jac.T @ best.jac).diagonal() * 2 * best.cost / 3)
    assert found.stderr("r1.order.NO") == pytest.approx(error[1], rel=1e-3)
    assert found.stderr("r1.order.H2") == pytest.approx(error[2], rel=1e-3)


def test_nitric_oxide_with_whole_orders(answer):
    """A straight line through the origin has a closed form: k = sum(x r)/sum(x^2), x = [NO]^2 [H2]."""
    found = answer("kinetix fit examples/nitric-oxide/whole-orders.toml")
    NO, H2, rate = numbers("nitric-oxide/data.csv", "NO [mol/m^3]", "H2 [mol/m^3]", "rate [mol/m^3/s]")
    x = NO**2 * H2
    k = (x @ rate) / (x @ x)
    assert found.value("r1.k") == pytest.approx(k, rel=1e-8)
    assert found.stderr("r1.k") == pytest.approx(np.sqrt(np.sum((rate - k * x) ** 2) / 5 / (x @ x)), rel=1e-6)


def test_enzyme(answer):
    """Bates and Watts (1988), section 3.10, to the printed digits."""
    found = answer("kinetix fit examples/enzyme/study.toml")
    published = {"V": (160.3, 6.90), "K": (0.0477, 0.00828), "dV": (52.4, 9.55), "dK": (0.0164, 0.0114)}
    for name, (value, error) in published.items():
        assert found.value(name) == pytest.approx(value, rel=2e-3)
        assert found.stderr(name) == pytest.approx(error, rel=5e-3)
    assert found.summary["n_observations"] == 23


def test_arrhenius(answer):
    """24.7 kcal/mol (Daniels and Johnston 1921); and the straight line of ln k over 1/T by SciPy."""
    found = answer("kinetix arrhenius examples/arrhenius/n2o5.csv")
    assert found.value("k.Ea") / 4.184 == pytest.approx(24.7, abs=0.1)
    T, k = numbers("arrhenius/n2o5.csv", "T [K]", "k [1/s]")
    line = linregress(1 / T, np.log(k))
    pair = found.summary["arrhenius"]
    assert pair["Ea"]["value"] == pytest.approx(-line.slope * GAS_CONSTANT, rel=1e-6)
    assert pair["Ea"]["stderr"] == pytest.approx(line.stderr * GAS_CONSTANT, rel=1e-5)
    assert pair["ln_A"]["value"] == pytest.approx(line.intercept, rel=1e-6)
    assert pair["ln_A"]["stderr"] == pytest.approx(line.intercept_stderr, rel=1e-5)
