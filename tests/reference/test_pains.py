"""Small inputs on which tools fail in practice (cases o01 to o17 of the pains), each with its right answer and its tolerance."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.stats import t as student

import kinetix as kx
from kinetix.constants import GAS_CONSTANT
from kinetix.errors import InputError, SolveError
from kinetix.io.tables import read_table
from kinetix.results import fit_tree
from kinetix.simulation import all_responses
from kinetix.solvers import System, integrate_ensemble
from kinetix.status import Status
from kinetix.studies import (
    all_states_of,
    arrhenius_study,
    at_times,
    build_problem,
    describe_problem,
    fit_problem,
    parse_study,
    simulate_problem,
)
from kinetix.units import parse_unit
from tests.reference.studies import fit, parameters, problem, simulate, simulated, statistic, unit

SECONDS = parse_unit("s")


def text(case, file="data.csv"):
    return (case.folder / file).read_text(encoding="utf-8")


def check(case, name, found):
    """A number against what the case expects of that name."""
    entry = next(entry for entry in case.facts["expect"] if entry["name"] == name)
    assert_allclose(found, entry["value"], rtol=entry.get("rtol", 0), atol=entry.get("atol", 0), err_msg=name)


def batch(reactions, initial, **sections):
    return {"reactions": reactions, "reactor": {"type": "batch"}, "initial": initial, **sections}


# ------------------------------------------------------------------------------------------------------ o01: out of steps


def robertson(**sections):
    reactions = {
        "r1": {"equation": "A -> B", "k": "0.04 1/s"},
        "r2": {"equation": "B + B -> B + C", "k": "3e7 L/mol/s"},
        "r3": {"equation": "B + C -> A + C", "k": "1e4 L/mol/s"},
    }
    return batch(reactions, {"A": "1 mol/L", "default": "0 mol/L"}, simulate={"times": ["1e5 s"]}, **sections)


def test_o01_out_of_steps_is_no_number(data):
    case = data("o01-step-limit")
    limited, whole = simulate(robertson(solver={"max_steps": 20})), simulate(robertson())
    statuses = [Status(int(tree["simulation"]["status"].item())) for tree in (limited, whole)]
    assert statuses[0] is Status.STEP_LIMIT
    assert re.search(
        r"the largest error is in [ABC]; the fastest reaction there is r[23] \(time scale", limited["simulation"]["why"].item()
    )
    check(case, "limited_run_status_is_success", statuses[0].ok)
    check(case, "default_run_status_is_success", statuses[1].ok)
    assert np.isnan(limited["simulation"]["predicted"].values).all()
    reached = [float(tree["simulation"]["t_reached"].item()) for tree in (limited, whole)]
    assert 0 < reached[0] < 1e5 and reached[1] == 1e5
    check(case, "C(1e5 s), default run, mol/L", simulated(whole, "C")[0, 0])


def test_o01_a_fit_says_so_too():
    study = robertson(solver={"max_steps": 20}, data={"columns": {"time": "time [s]", "C": "C [mol/L]"}})
    study["reactions"]["r1"]["k"] = {"start": "0.04 1/s"}
    del study["simulate"]
    with pytest.raises(SolveError, match=r"step limit .*; time reached \d"):
        fit(study, "time,C\n1e5,0.98\n2e5,0.99\n")


# ------------------------------------------------------------------------------------------ o02: what a given sigma means


def decay(**sections):
    initial = {"C": {"start": "1.5 mol/L"}, "P": "0 mol/L"}
    return batch({"r1": {"equation": "C -> P", "k": {"start": "0.2 1/s"}}}, initial, **sections)


@pytest.mark.parametrize("meaning", ["trusted", "scaled"])
def test_o02_sigma_trusted_or_scaled(meaning, data):
    case = data("o02-sigma-meaning")
    result = fit(decay(fit={"sigma": meaning}), text(case))
    suffix = {"trusted": "absolute", "scaled": "scaled"}[meaning]
    (C0, k), (se_C0, se_k) = parameters(result, "initial.C", "r1.k"), parameters(result, "initial.C", "r1.k", quantity="stderr")
    check(case, "C0", C0)
    check(case, "k", k)
    check(case, f"se_C0_{suffix}", se_C0)
    check(case, f"se_k_{suffix}", se_k)
    check(case, "corr", result["covariance"]["correlation"].sel(parameter="initial.C", other_parameter="r1.k").item())
    check(case, "chi_square", statistic(result, "chi_square"))
    check(case, "reduced_chi_square", statistic(result, "reduced_chi_square"))
    interval = [parameters(result, "r1.k", quantity=end).item() for end in ("lower95", "upper95")]
    check(case, {"trusted": "k_95_interval_absolute_normal", "scaled": "k_95_interval_scaled_t7"}[meaning], interval)
    assert statistic(result, "p_value") < 0.001
    assert result.attrs["sigma_meaning"] == meaning
    assert ("far above" in result.attrs["warnings"]) == (meaning == "trusted")


def test_o02_the_meaning_of_sigma_must_be_said(data):
    with pytest.raises(InputError, match='Write sigma = "trusted" under \\[fit\\]'):
        problem(decay(), text(data("o02-sigma-meaning")))


def test_o02_trusted_errors_need_a_sigma(data):
    with pytest.raises(InputError, match='sigma = "trusted", but no sigma is given'):
        problem(decay(fit={"sigma": "trusted"}, data={"ignore": ["sigma"]}), text(data("o02-sigma-meaning")))


def test_o02_without_sigma_the_scatter_is_estimated_and_not_taken_as_one(data):
    """All sigmas are equal here, so the errors are those of scaled sigma; there is no chi-square."""
    case = data("o02-sigma-meaning")
    result = fit(decay(data={"ignore": ["sigma"]}), text(case))
    check(case, "se_C0_scaled", parameters(result, "initial.C", quantity="stderr").item())
    check(case, "se_k_scaled", parameters(result, "r1.k", quantity="stderr").item())
    assert result.attrs["sigma_meaning"] == "estimated"
    assert np.isnan([statistic(result, name) for name in ("chi_square", "reduced_chi_square", "p_value")]).all()


# ---------------------------------------------------------------------------------------- o03: an estimate on its bound


def chain_seen_through_b(upper, scale):
    def constant(bound):
        return {"start": "1 1/s", "bounds": ["0.01 1/s", f"{bound} 1/s"], "scale": scale}

    reactions = {"r1": {"equation": "A -> B", "k": constant(10)}, "r2": {"equation": "B -> C", "k": constant(upper)}}
    return batch(reactions, {"A": "1 mol/L", "default": "0 mol/L"}, noise={"B": "0.004 mol/L"}, fit={"sigma": "trusted"})


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_o03_at_the_bound(scale, data):
    case = data("o03-at-bound")
    result = fit(chain_seen_through_b(2.3, scale), text(case))
    k1, k2 = parameters(result, "r1.k", "r2.k")
    check(case, "k1_bounded", k1)
    check(case, "k2_bounded", k2)
    check(case, "chi2_bounded", statistic(result, "chi_square"))
    assert result.attrs["status_label"] == "on bound"
    assert parameters(result, "r1.k", "r2.k", quantity="at_bound").tolist() == ["", "upper"]
    assert np.isnan([parameters(result, "r2.k", quantity=name).item() for name in ("stderr", "lower95", "upper95")]).all()
    covariance = result["covariance"]["covariance"].values
    assert np.isnan(covariance[1]).all() and np.isnan(covariance[:, 1]).all()

    # the error of k1 holds k2 at its bound: sigma / |dB/dk1| with B = k1/(k2 - k1) (exp(-k1 t) - exp(-k2 t))
    t = case.columns()["time [s]"]
    slope = k2 / (k2 - k1) ** 2 * (np.exp(-k1 * t) - np.exp(-k2 * t)) - k1 / (k2 - k1) * t * np.exp(-k1 * t)
    assert parameters(result, "r1.k", quantity="stderr").item() == pytest.approx(0.004 / np.linalg.norm(slope), rel=1e-5)
    assert covariance[0, 0] > 0
    assert "r2.k is at its upper bound 2.3 1/s" in result.attrs["warnings"]
    assert "the errors of the others hold r2.k fixed" in result.attrs["warnings"]


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_o03_away_from_the_bound(scale, data):
    """The errors are those of k, whatever the scale in which the fit moves."""
    case = data("o03-at-bound")
    result = fit(chain_seen_through_b(10, scale), text(case))
    for name, found in zip(("k1_free", "k2_free"), parameters(result, "r1.k", "r2.k"), strict=True):
        check(case, name, found)
    for name, found in zip(("se_k1_free", "se_k2_free"), parameters(result, "r1.k", "r2.k", quantity="stderr"), strict=True):
        check(case, name, found)
    check(case, "chi2_free", statistic(result, "chi_square"))
    assert parameters(result, "r1.k", "r2.k", quantity="at_bound").tolist() == ["", ""]
    assert (np.linalg.eigvalsh(result["covariance"]["covariance"].values) > 0).all()


# ------------------------------------------------------------------------------------ o04, o05: units and the factor of two


def old_units(factor="4.0e13 cm^3/mol/s"):
    return batch(
        {"r1": {"equation": "A + B -> P", "A": factor, "Ea": "25.0 kcal/mol"}},
        {"A": "0.5 mol/L", "B": "0.5 mol/L", "P": "0 mol/L"},
        conditions={"T": "250 degC"},
        responses={"k": "rate[r1]/([A]*[B])"},
        simulate={"times": ["0 s", "10 s"]},
    )


def test_o04_old_units(data):
    case = data("o04-old-units")
    result = simulate(old_units())
    assert (unit(result, "k"), unit(result, "A")) == ("L/mol/s", "mol/L")
    check(case, "k, L/mol/s", simulated(result, "k")[0, 0])
    check(case, "k, m^3/mol/s", simulated(result, "k")[0, 0] / 1000)
    check(case, "A(10 s), mol/L", simulated(result, "A")[0, 1])
    assert result["parameters"]["unit"].values.tolist() == ["cm^3/mol/s", "kcal/mol"]
    assert parameters(result, "r1.A", "r1.Ea").tolist() == [4.0e13, 25.0]
    assert (result["conditions"]["T"].item(), result["conditions"]["T"].attrs["units"]) == (250.0, "degC")


def test_o04_wrong_dimension_is_refused():
    with pytest.raises(InputError) as refused:
        problem(old_units("4.0e13 1/s"))
    for words in ("r1", "1/s", "1/time", "volume/amount/time"):
        assert words in str(refused.value)


def test_o04_unknown_unit_is_refused():
    with pytest.raises(InputError, match="cubits"):
        problem(old_units("4.0e13 cubits/mol/s"))


def test_o05_two_a(data):
    case = data("o05-two-a")
    study = batch({"r1": {"equation": "2 A -> B", "k": "0.1 L/mol/s"}}, {"A": "2 mol/L", "B": "0 mol/L"}, simulate={"times": "0:10:11 s"})
    result = simulate(study)
    check(case, "A(10 s), mol/L", simulated(result, "A")[0, -1])
    check(case, "B(10 s), mol/L", simulated(result, "B")[0, -1])
    printed = describe_problem(problem(study))
    assert "r1: 2 A -> B    rate k*[A]^2" in printed
    assert "d[A]/dt by reaction: - 2 r(r1)" in printed


# ----------------------------------------------------------------------------------------------- o06: the Arrhenius pair


def arrhenius_result(case):
    study = arrhenius_study("data.csv", k={"start": "0.01 1/s"}, Ea={"start": "60 kJ/mol"})
    return fit_tree(fit_problem(build_problem(parse_study(study, "arrhenius"), [read_table(case.folder / "data.csv")])))


def test_o06_arrhenius_pair(data):
    case = data("o06-arrhenius-pair")
    result = arrhenius_result(case)
    T = case.columns()["T [K]"]
    T_ref = len(T) / np.sum(1 / T)  # the harmonic mean
    check(case, "Tref with zero correlation, K", T_ref)
    (k_ref, Ea), units = parameters(result, "k.k_ref", "k.Ea"), result["parameters"]["unit"].values.tolist()
    assert units == ["1/s", "kJ/mol"]
    Ea = Ea * 1000
    check(case, "Ea, J/mol", Ea)
    check(case, "ln k(Tref)", np.log(k_ref))
    se_k, se_Ea = parameters(result, "k.k_ref", "k.Ea", quantity="stderr")
    check(case, "se_Ea", se_Ea * 1000)
    check(case, "se ln k(Tref)", se_k / k_ref)
    order = {"parameter": ["k.k_ref", "k.Ea"], "other_parameter": ["k.k_ref", "k.Ea"]}
    check(case, "corr(ln kref, Ea)", result["covariance"]["correlation"].sel(order).values[0, 1])

    # what follows from the joint covariance of (ln k_ref, Ea)
    to_log = np.diag([1 / k_ref, 1000])
    joint = to_log @ result["covariance"]["covariance"].sel(order).values @ to_log
    to_lnA = np.array([1.0, 1 / (GAS_CONSTANT * T_ref)])
    covariance = joint @ to_lnA
    se_lnA = np.sqrt(to_lnA @ covariance)
    check(case, "corr(lnA, Ea)", covariance[1] / (se_lnA * np.sqrt(joint[1, 1])))
    change = 1 / 325 - 1 / T_ref
    at_325 = np.array([1.0, -change / GAS_CONSTANT])
    check(case, "ln k(325 K)", np.log(k_ref) - Ea / GAS_CONSTANT * change)
    check(case, "sd of ln k(325 K), with covariance", np.sqrt(at_325 @ joint @ at_325))

    # A as the result gives it: its interval comes from ln A and does not cross zero
    factor = result["parameters"].to_dataset().sel(derived="k.A")
    A, se_A, lower, upper = (factor[f"derived_{name}"].item() for name in ("value", "stderr", "lower95", "upper95"))
    check(case, "lnA (k in 1/s)", np.log(A))
    check(case, "se_lnA", se_A / A)
    check(case, "se_lnA", se_lnA)
    assert_allclose(np.log([lower, upper]), np.log(A) + np.array([-1, 1]) * student.ppf(0.975, 4) * se_A / A, rtol=1e-9)
    assert lower > 0


def test_o06_the_band_of_k_uses_the_joint_covariance(data):
    case = data("o06-arrhenius-pair")
    curve = arrhenius_result(case)["arrhenius"].to_dataset().isel(constant=0)
    # ln k is a straight line in -1/T, and its error hardly changes between two nodes
    lower, k, upper = (np.interp(-1 / 325, -1 / curve["T"], np.log(curve[name])) for name in ("lower95", "k", "upper95"))
    check(case, "ln k(325 K)", k)
    expected = next(entry["value"] for entry in case.facts["expect"] if entry["name"] == "sd of ln k(325 K), with covariance")
    assert (upper - lower) / 2 / student.ppf(0.975, 4) == pytest.approx(expected, rel=1e-3)


# ------------------------------------------------------------------------------------------------ o07: ln k or k itself


@pytest.mark.parametrize(
    ("part", "side", "sections"),
    [
        ("a", "log(k)", {"data": {"ignore": ["sigma [1/s]"]}}),
        ("b", "k", {"fit": {"sigma": "trusted"}}),
        ("c", "log(k)", {"fit": {"sigma": "trusted"}}),
    ],
)
def test_o07_the_error_model_decides(part, side, sections, data):
    """(a) equal weights on ln k, (b) equal weights on k, (c) ln k weighted by k/sigma."""
    case = data("o07-log-or-direct")
    constant = {"k": {"start": "0.01 1/s"}, "Ea": {"start": "40 kJ/mol"}}
    result = fit({"model": {side: side}, "parameters": {"k": constant}, **sections}, text(case))
    (Ea,), (se_Ea,) = parameters(result, "k.Ea"), parameters(result, "k.Ea", quantity="stderr")
    check(case, f"{part}: Ea, J/mol", Ea * 1000)
    if part == "b":
        check(case, "b: se_Ea, J/mol (sigma trusted)", se_Ea * 1000)
    if part != "c":
        A = result["parameters"].to_dataset().sel(derived="k.A")["derived_value"].item()
        check(case, f"{part}: lnA", np.log(A))
    assert result.attrs["sigma_meaning"] == ("estimated" if part == "a" else "trusted")
    assert result["predictions"]["response"].values.tolist() == [side]  # the choice is written in the result


# ------------------------------------------------------------------------------------------- o09: a pulse of the temperature


def pulse(**data):
    reactions = {"r1": {"equation": "A -> P", "A": "1e5 1/s", "Ea": "60 kJ/mol"}}
    return batch(reactions, {"A": "1 mol/L", "default": "0 mol/L"}, data=data)


def test_o09_a_short_pulse_is_not_stepped_over(data):
    case = data("o09-pulse")
    put = problem(pulse(held=["T"]), text(case, "temperature.csv"), responses=all_responses)
    found = simulated(simulate_problem(at_times(put, np.array([4999.0, 1e4]), SECONDS)), "A")[0]
    check(case, "A(4999 s)", found[0])
    check(case, "A(1e4 s)", found[1])


def test_o09_the_reading_of_the_column_is_told(data):
    table = text(data("o09-pulse"), "temperature.csv")
    straight, steps = "linear between the rows that state it", "each value holds until the next row that states one"
    for study, words in ((pulse(held=["T"]), steps), (pulse(), straight)):
        assert any(note.endswith(f"changes within experiment table1: {words}.") for note in problem(study, table).campaign.notes)
    assert "T: as measured over time, each value until the next reading" in describe_problem(problem(pulse(held=["T"]), table))


def test_o09_a_profile_that_ends_too_early_is_refused(data):
    put = problem(pulse(held=["T"]), text(data("o09-pulse"), "temperature.csv"))
    with pytest.raises(InputError, match=r"T was measured up to 10000 s and is simulated up to 20000 s\. End \[simulate\] times there"):
        at_times(put, np.array([0.0, 2e4]), SECONDS)


def test_o09_only_the_temperature_can_be_held(data):
    with pytest.raises(InputError, match="'P' cannot be held: only T may change within an experiment"):
        problem(pulse(held=["P"]), text(data("o09-pulse"), "temperature.csv"))


# --------------------------------------------------------------------------------------------------- o10: double precision


def test_o10_twelve_decades_in_double(data):
    case = data("o10-double")
    before = jnp.ones(2)  # a host that computes in float32
    study = batch(
        {"r1": {"equation": "A -> P", "k": "1 1/s"}},
        {"A": "1 mol/L", "P": "0 mol/L"},
        solver={"atol": "1e-20 mol/L"},
        simulate={"times": ["27.631021115928547 s"]},
    )
    result = simulate(study)
    check(case, "A(t), mol/L", simulated(result, "A")[0, 0])
    assert str(result["simulation"]["predicted"].dtype) == result.attrs["dtype"] == "float64"
    assert result.attrs["device"] == jax.devices()[0].device_kind
    assert before.dtype == (before + 1).dtype == jnp.ones(2).dtype == jnp.float32


def test_o10_a_difference_of_nearly_equal_rate_constants(data):
    study = {"model": {"k": "k_T"}, "parameters": {"k_T": {"k": "1 1/s", "at": "300 K", "Ea": "100 kJ/mol"}}}
    result = simulate(study, "T [K]\n300\n300.00001\n")
    assert unit(result, "k") == "1/s"
    check(data("o10-double"), "ln k difference", np.diff(np.log(simulated(result, "k")[:, 0])).item())


def test_o10_a_fit_records_dtype_and_device(data):
    result = fit(decay(fit={"sigma": "scaled"}), text(data("o02-sigma-meaning")))
    assert (result.attrs["dtype"], result.attrs["device"]) == ("float64", jax.devices()[0].device_kind)
    assert {str(values.dtype) for values in result["predictions"].data_vars.values() if values.dtype.kind == "f"} == {"float64"}


# ----------------------------------------------------------------------------------- o11: fractional order from zero amount


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
def test_o11_gradients_where_a_fractional_order_starts_from_zero(mode, data):
    case = data("o11-zero-start-gradient")
    reactions = {
        "r1": {"equation": "A -> B", "rate": "k1*[A]", "parameters": {"k1": "0.1 1/s"}},
        "r2": {"equation": "A -> B", "rate": "k2*[A]*[B]^0.5", "parameters": {"k2": "0.5 L^0.5 mol^-0.5 s^-1"}},
    }
    study = batch(reactions, {"A": "1 mol/L", "B": "0 mol/L"}, simulate={"times": ["0 s", "1 s", "3 s"]})
    assembled = problem(study, responses=all_responses)
    assert assembled.table.names == ("r1.k1", "r2.k2") and assembled.responses[1] == "B"
    to_user = np.array([p.unit.factor for p in assembled.table.parameters]) / assembled.units[1].factor

    def amount_of_b(constants):
        return kx.predict(assembled.model, constants, assembled.lanes).values[0, :, 1]

    with kx.float64():
        values = np.asarray(jax.jit(amount_of_b)(assembled.table.start)) / assembled.units[1].factor
        slopes = np.asarray(jax.jit(mode(amount_of_b))(assembled.table.start)) * to_user
    assert np.isfinite(slopes).all()
    check(case, "dB/dk1, dB/dk2 at 0 s", slopes[0])
    for row, time in ((1, "1 s"), (2, "3 s")):
        check(case, f"B({time})", values[row])
        check(case, f"dB/dk1 ({time})", slopes[row, 0])
        check(case, f"dB/dk2 ({time})", slopes[row, 1])


# ------------------------------------------------------------------------------------------------- o14: a European table


@pytest.fixture(scope="module")
def european(data):
    """The fits of clean.csv and messy.csv, and their problems, both read from the file."""
    initial = {"A": {"start": "0.1 mol/L"}, "P": "0 mol/L"}
    law = {"equation": "A -> P", "k": {"start": "0.01 1/s", "at": "323.15 K"}, "Ea": {"start": "60 kJ/mol"}}
    sections = {"noise": {"A": "0.6 mmol/L"}, "fit": {"sigma": "trusted"}}
    found = {}
    for name in ("clean", "messy"):
        study = parse_study({"schema": 1, **batch({"r1": law}, initial, **sections), "data": {"files": [f"{name}.csv"]}}, "study.toml")
        assembled = build_problem(study, [read_table(data("o14-european-csv").folder / f"{name}.csv")])
        found[name] = assembled, fit_tree(fit_problem(assembled))
    return found


@pytest.mark.parametrize("file", ["clean", "messy"])
def test_o14_reading_and_fitting(file, european, data):
    case = data("o14-european-csv")
    assembled, result = european[file]
    campaign = assembled.campaign
    check(case, "rows read", campaign.rows_read)
    check(case, "values used", campaign.values_used)
    check(case, "experiments", len(campaign.experiments))
    check(case, "first time and temperature of E2, SI", [campaign.times[1, 0], campaign.conditions["T"][1]])
    k_ref, Ea, A0 = parameters(result, "r1.k_ref", "r1.Ea", "initial.A")
    check(case, "A0, mol/L", A0)
    check(case, "ln k(323.15 K), k in 1/s", np.log(k_ref))
    check(case, "Ea, J/mol", Ea * 1000)
    check(case, "se_Ea, J/mol (sigma trusted)", parameters(result, "r1.Ea", quantity="stderr").item() * 1000)
    unit = 1 if file == "messy" else 1000
    assert (np.isclose(result["predictions"]["observed"] * unit, -0.53)).sum() == 1  # less than sigma below zero: kept
    assert statistic(result, "n_observations") == 11


def test_o14_messy_equals_clean(european):
    (_, clean), (_, messy) = european["clean"], european["messy"]
    for name in ("value", "stderr", "lower95", "upper95", "derived_value", "derived_stderr"):
        assert_allclose(messy["parameters"][name], clean["parameters"][name], rtol=1e-9)
    assert_allclose(messy["covariance"]["covariance"], clean["covariance"]["covariance"], rtol=1e-9)
    assert statistic(messy, "ssr") == pytest.approx(statistic(clean, "ssr"), rel=1e-9)
    assert_allclose(messy["predictions"]["predicted"] / 1000, clean["predictions"]["predicted"], rtol=1e-9)


def test_o14_what_was_recognised_is_told(european):
    assembled, result = european["messy"]
    notes = result.attrs["notes"]
    for words in (
        "separated by semicolons",
        "decimal comma",
        "'Versuch' is the experiment",
        "'Zeit [min]' is the time",
        "'Bemerkung' is text",
    ):
        assert words in notes
    assert [remark.text for remark in assembled.campaign.remarks] == ["Probe verloren", "Probe verloren"]


# ------------------------------------------------------------------- o08, o17: the classic stiff problem, alone and in an uneven batch


def entry(case, name):
    return next(entry for entry in case.facts["expect"] if entry["name"] == name)["value"]


def test_o08_robertson_with_default_settings(data):
    case = data("o08-robertson")
    times = entry(case, "times, s")
    tree = simulate({**robertson(), "simulate": {"times": [f"{t!r} s" for t in times]}})
    found = {name: simulated(tree, name)[0] for name in "ABC"}
    for name, values in found.items():
        check(case, name, values)
        assert values.min() > -1e-12
    check(case, "A+B+C-1", sum(found.values()) - 1)

    known = {"r1.k": "0.04 1/s", "r2.k": "3e7 L/mol/s", "r3.k": "1e4 L/mol/s", "initial.A": "1 mol/L", "initial.default": "0 mol/L"}
    scheme = kx.problem(kx.Batch(kx.parse_network("A -> B; B + B -> B + C; B + C -> A + C")), known, times=["40 s"])
    gradient = jax.grad(lambda p: kx.predict(scheme.model, p, scheme.lanes).values[0, 0, scheme.responses.index("C")])(scheme.parameters)
    assert np.isfinite(gradient[:3]).all() and (np.abs(gradient[:3]) > 0).all()


@pytest.mark.usefixtures("x64")
def test_o17_an_uneven_batch_gives_the_numbers_of_each_alone(data):
    """By the engine for ensembles, whole, one by one and in chunks of five; the short chunk is padded, so nothing is compiled for it."""
    case = data("o17-uneven-batch")
    k = np.loadtxt(case.folder / "params.csv", delimiter=",", skiprows=1)
    solve = jax.jit(
        lambda k: integrate_ensemble(SCHEME, jnp.tile(jnp.array([1.0, 0.0, 0.0]), (len(k), 1)), k, jnp.full((len(k), 1), 100.0))
    )
    whole = solve(k)
    for i, name in enumerate("ABC"):
        check(case, name, whole.y[:, 0, i])
    assert (whole.status == Status.SUCCESS).all() and len(set(whole.steps.tolist())) > 6

    chunks = [solve(np.concatenate([part, np.repeat(part[-1:], 5 - len(part), axis=0)])) for part in np.split(k, [5, 10])]
    chunked = np.concatenate([chunk.y for chunk in chunks])[:12]
    single = np.concatenate([solve(row[None]).y for row in k])
    for others in (chunked, single):
        check(case, "largest relative difference batch/single/chunked", np.max(np.abs(others / whole.y - 1)))


def _scheme(t, c, k):
    r1, r2, r3 = k[0] * c[0], k[1] * c[1] ** 2, k[2] * c[1] * c[2]
    return jnp.stack([-r1 + r3, r1 - r2 - r3, r2])


SCHEME = System(_scheme, autonomous=True)


# ------------------------------------------------------------------------------------------ o15: a tank with three steady states


def test_o15_the_feed_leads_to_the_cold_branch(data):
    """Adiabatic rise 200 K. The middle state is never the answer."""
    case = data("o15-three-steady-states")
    tree = simulate(THREE_STATES)
    cold, _, _ = entry(case, "T of steady states, K")
    assert_allclose(simulated(tree, "T"), [[cold]], rtol=1e-7)
    assert_allclose(simulated(tree, "P"), [[entry(case, "conversions")[0]]], rtol=1e-6)


def test_o15_all_three_are_told_with_the_branch_from_the_feed(data):
    """Turning points: tau = X/((1 - X) k(T)) with T = 300 K + 200 K X, where its logarithm has no slope."""
    case = data("o15-three-steady-states")
    states = all_states_of(problem(THREE_STATES, responses=all_responses))
    check(case, "T of steady states, K", states["T"])
    check(case, "conversions", states["concentration"].sel(species="P"))
    assert states["stable"].values.tolist() == entry(case, "stable")
    assert states["reached_from_feed"].values.tolist() == [True, False, False]
    X = np.array([brentq(lambda X: 1 / (X * (1 - X)) - 80e3 / GAS_CONSTANT * 200 / (300 + 200 * X) ** 2, *ends) for ends in THIRDS])
    expected = X / ((1 - X) * 4.7e8 * np.exp(-80e3 / GAS_CONSTANT / (300 + 200 * X)))
    assert_allclose(np.sort(states["point_along"].values[states["point_kind"] == "fold"]), np.sort(expected), rtol=1e-9)


THIRDS = ((0.001, 0.4), (0.4, 0.99))
THREE_STATES = {
    "reactions": {"r1": {"equation": "A -> P", "A": "4.7e8 1/s", "Ea": "80 kJ/mol", "dHr": "-100 kJ/mol"}},
    "reactor": {"type": "cstr"},
    "energy": {"type": "adiabatic", "heat_capacity": "500 kJ/m^3/K"},
    "conditions": {"tau": "60 s", "T_feed": "300 K", "feed": {"A": "1 mol/L", "P": "0 mol/L"}},
}


# --------------------------------------------------------------------------------------------- o16: a gas that grows on its way


def test_o16_conversion_of_a_gas_comes_from_molar_flows(data):
    case = data("o16-gas-pfr")
    inlet = entry(case, "inlet [A], mol/m^3")
    study = {
        "reactions": {"r1": {"equation": "A -> 3 B", "k": "0.5 1/s"}, "r2": {"equation": "I -> I2", "k": "0 1/s"}},
        "reactor": {"type": "plug_flow", "density": "ideal_gas"},
        "conditions": {
            "tau": "2 s",
            "T": "500 K",
            "P": "2e5 Pa",
            "feed": {"A": f"{inlet!r} mol/m^3", "I": f"{inlet!r} mol/m^3", "default": "0 mol/L"},
        },
        "responses": {"X": "1 - expansion*[A]/feed[A]", "growth": "expansion"},
    }
    tree = simulate(study)
    check(case, "conversion", simulated(tree, "X")[0, 0])
    check(case, "outlet flow, mol/s", 2 * simulated(tree, "growth")[0, 0])  # 2 mol/s are fed
    faster = simulate({**study, "conditions": {**study["conditions"], "tau": "1 s"}})
    assert simulated(faster, "X")[0, 0] < simulated(tree, "X")[0, 0]
    with pytest.raises(InputError, match="density"):
        problem({**study, "reactor": {"type": "plug_flow"}})
