"""Comparisons of models of published data against the printed tests, and against SciPy on closed forms."""

import numpy as np
import pytest
from scipy import optimize, stats

import kinetix as kx
from tests.reference.studies import fit


def test_puromycin(case):
    """Bates and Watts (1988), section 3.10: whether the treatment changes the half-velocity concentration."""
    puromycin = case("bw-puromycin")
    text = (puromycin.folder / "data.csv").read_text(encoding="utf-8")
    models = {
        "combined": "(th1 + phi1*treated)*concentration_ppm/(th2 + phi2*treated + concentration_ppm)",
        "reduced": "(th1 + phi1*treated)*concentration_ppm/(th2 + concentration_ppm)",
    }
    starts = dict(zip(("th1", "th2", "phi1", "phi2"), puromycin.facts["start"]["combined"], strict=True))
    fits = {
        name: fit(
            {
                "model": {"velocity": formula},
                "parameters": {p: {"start": float(s)} for p, s in starts.items() if p in formula},
                "data": {"dimensionless": True},
            },
            text,
        )
        for name, formula in models.items()
    }
    tree, expected = kx.compare(fits, nested=True), puromycin.facts["expected"]
    for name in models:
        assert float(tree["models/ssr"].sel(model=name)) == pytest.approx(expected[name]["sse"], rel=1e-8)
    nested, test = tree["nested"].to_dataset(), expected["extra_sum_of_squares"]
    assert [nested["more"].item(), nested["dof"].item()] == test["df"]
    assert nested["statistic"].item() == pytest.approx(test["F"], rel=puromycin.facts["tolerance"]["F_rel"])
    assert nested["p_value"].item() == pytest.approx(test["p_value"], rel=1e-4)


def test_order_of_a_batch_reaction(case):
    """Rawlings and Ekerdt, exercise 9.3: the data were made with order 1.45; orders 1 and 2 are special cases of the fitted one."""
    rawlings = case("rawlings-nth-order-batch")
    t, c = rawlings.columns().values()
    closed = {
        "first": lambda p: p[1] * np.exp(-p[0] * t),
        "second": lambda p: p[1] / (1 + p[0] * p[1] * t),
    }
    ssr = {name: optimize.least_squares(lambda p, f=f: f(p) - c, [0.05, 0.8], xtol=1e-14).fun for name, f in closed.items()}
    ssr = {name: float(r @ r) for name, r in ssr.items()} | {"nth": rawlings.facts["expected"]["sse"]}
    orders = {
        "first": {"k": {"start": "0.05 1/min"}},
        "second": {"orders": {"A": 2}, "k": {"start": "0.05 L/mol/min"}},
        "nth": {"orders": {"A": {"start": 1.5}}, "k": {"start": "0.05 mol/L/min"}},
    }
    text = "t [min],A [mol/L]\n" + "".join(f"{a:.17g},{b:.17g}\n" for a, b in zip(t, c, strict=True))
    fits = {
        name: fit(
            {
                "reactions": {"r1": {"equation": "A -> B", **order}},
                "reactor": {"type": "batch"},
                "initial": {"A": {"start": "0.8 mol/L"}, "default": "0 mol/L"},
                "data": {"columns": {"time": "t [min]"}},
            },
            text,
        )
        for name, order in orders.items()
    }
    tree = kx.compare(fits, nested=[("first", "nth"), ("second", "nth")])
    n = len(t)
    models = tree["models"].to_dataset()
    for name, p in (("first", 2), ("second", 2), ("nth", 3)):
        assert float(models["ssr"].sel(model=name)) == pytest.approx(ssr[name], rel=2e-5)
        k = p + 1
        aicc = n * np.log(2 * np.pi * ssr[name] / n) + n + 2 * k + 2 * k * (k + 1) / (n - k - 1)
        assert float(models["aicc"].sel(model=name)) == pytest.approx(aicc, abs=1e-3)
    for i, name in enumerate(("first", "second")):
        F = (ssr[name] - ssr["nth"]) / (ssr["nth"] / (n - 3))
        assert tree["nested/statistic"].values[i] == pytest.approx(F, rel=1e-3)
        assert tree["nested/p_value"].values[i] == pytest.approx(stats.f.sf(F, 1, n - 3), rel=0.05)
    assert tree.attrs["verdict"].startswith("nth describes these data best.")
