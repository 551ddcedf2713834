"""`kinetix arrhenius` against SciPy's straight line of ln k over 1/T."""

import json

import numpy as np
import pytest
from scipy.stats import linregress

from tests.cli.places import R, errors, run

T = np.array([300.0, 310.0, 325.0, 340.0, 345.0])
K = 1e9 * np.exp(-60e3 / (R * T)) * np.array([1.03, 0.98, 1.01, 0.97, 1.02])


def write_table(place, T=T, k=K, header="T [K],k [1/min]", sigma=None):
    columns = [T, k * 60] if sigma is None else [T, k * 60, sigma * 60]
    rows = [header, *(",".join(f"{value:.12g}" for value in row) for row in zip(*columns, strict=True))]
    (place / "k.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def test_columns_that_are_not_used_and_a_sigma_for_all(place):
    rows = "".join(f"{t},{k * 60:.12g},x\n" for t, k in zip(T, K, strict=True))
    (place / "k.csv").write_text(f"T [K],k [1/min],area [m^2]\n{rows.replace('x', '3')}", encoding="utf-8")
    assert run("arrhenius", "k.csv").exit_code == 1
    assert run("arrhenius", "k.csv", "--ignore", "area [m^2]", "--title", "Column A", "--quiet").exit_code == 0
    weighted = run("arrhenius", "k.csv", "--ignore", "area [m^2]", "--noise", "k=0.01 1/min", "--sigma", "trusted", "--json")
    assert weighted.exit_code == 0, weighted.stderr
    assert json.loads(weighted.stdout)["sigma_meaning"] == "trusted"


def test_equal_weights_of_ln_k_are_the_straight_line(place):
    write_table(place)
    result = run("arrhenius", "k.csv", "--at", "320 K")
    assert result.exit_code == 0, result.stderr
    line = linregress(1 / T, np.log(K * 60))
    summary = json.loads((place / "k-arrhenius" / "summary.json").read_text(encoding="utf-8"))
    pair = summary["arrhenius"]
    assert pair["T_ref"] == {"value": pytest.approx(320.0), "unit": "K"}
    assert pair["ln_A"]["unit_of_A"] == "1/min"
    assert pair["ln_A"]["value"] == pytest.approx(line.intercept, rel=1e-9)
    assert pair["ln_A"]["stderr"] == pytest.approx(line.intercept_stderr, rel=1e-7)
    assert pair["Ea"]["value"] == pytest.approx(-line.slope * R, rel=1e-9)
    assert pair["Ea"]["stderr"] == pytest.approx(line.stderr * R, rel=1e-7)
    covariance = np.array(pair["covariance_of_ln_A_and_Ea"])
    assert covariance[0, 1] == pytest.approx(line.stderr**2 * R * np.mean(1 / T), rel=1e-7)  # cov(intercept, slope) = -mean(x) var(slope)
    assert pair["correlation_of_ln_A_and_Ea"] == pytest.approx(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))
    assert f"ln A          {line.intercept:.6g}, standard error {line.intercept_stderr:.2g}" in result.stdout
    assert result.stdout.index("Statistics") < result.stdout.index("T_ref         320 K") < result.stdout.index("Written to k-arrhenius")
    for name in ("report.html", "report.md"):
        assert "T_ref         320 K" in (place / "k-arrhenius" / name).read_text(encoding="utf-8")
    assert (place / "k-arrhenius" / "arrhenius.png").exists()


def test_given_sigmas_weigh_k_itself(place):
    """Weighted least squares of k by SciPy, from other starts."""
    from scipy.optimize import curve_fit

    sigma = 0.01 * K.max() * np.ones_like(K)
    write_table(place, header="T [K],k1 [1/min],sigma_k [1/min]", sigma=sigma)
    result = run("arrhenius", "k.csv", "--sigma", "trusted", "--column", "k=k1 [1/min]", "--json", "--quiet")
    assert result.exit_code == 0, result.stderr
    T_ref = 1 / np.mean(1 / T)

    def law(T, log_k, Ea):
        return np.exp(log_k - Ea * 1e3 / R * (1 / T - 1 / T_ref))

    best, covariance = curve_fit(law, T, K * 60, (0.0, 50.0), sigma * 60, absolute_sigma=True, xtol=1e-14)
    summary = json.loads(result.stdout)
    assert summary["sigma_meaning"] == "trusted"
    assert summary["arrhenius"]["Ea"]["value"] == pytest.approx(best[1] * 1e3, rel=1e-6)
    assert summary["arrhenius"]["Ea"]["stderr"] == pytest.approx(np.sqrt(covariance[1, 1]) * 1e3, rel=1e-4)


@pytest.mark.parametrize(
    ("T", "k", "header", "options", "words"),
    [
        ([300, 300], [1, 2], "T [K],k [1/s]", (), "one temperature only"),
        ([300, 310], [1, 0], "T [K],k [1/s]", (), "line 3: k is not above 0"),
        ([300, 310], [1, 2], "T [K],k", (), "has no unit"),
        ([300, 310], [1, 2], "T [s],k [1/s]", (), "temperature"),
        ([300, 310], [1, 2], "theta,k [1/s]", (), "theta"),
        ([300, 310], [1, 2], "T [K],k [1/s]", ("--at", "60 kJ/mol"), "temperature is needed"),
        ([300, 310], [1, 2], "T [K],k [1/s]", ("--sigma", "trusted"), "no sigma is given"),
    ],
)
def test_what_cannot_be_used_is_told(place, T, k, header, options, words):
    write_table(place, np.array(T, dtype=float), np.array(k, dtype=float), header)
    result = run("arrhenius", "k.csv", *options)
    assert result.exit_code == 1
    assert any(words in problem for problem in errors(result)), result.stderr
    assert [path.name for path in place.iterdir()] == ["k.csv"]
