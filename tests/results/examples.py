"""Fits and simulations whose every number comes from SciPy and closed forms: A -> B in a batch, and in a stirred tank."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares
from scipy.special import chdtrc, stdtrit

from kinetix.constants import GAS_CONSTANT
from kinetix.results.facts import BranchFacts, Condition, Curve, Dense, Derived, FitFacts, RobustFacts, SimulationFacts, StartFacts
from kinetix.status import Status
from kinetix.units import Unit, parse_unit

T_REF = 340.0
TRUE = np.array([0.15 / 60, 60e3])  # k_ref in 1/s, Ea in J/mol
NAMES = ("r1.k_ref", "r1.Ea")


def rate_constant(parameters: np.ndarray, temperature: np.ndarray) -> np.ndarray:
    return parameters[0] * np.exp(-parameters[1] / GAS_CONSTANT * (1 / temperature - 1 / T_REF))


def batch(parameters: np.ndarray, temperature: np.ndarray, times: np.ndarray, initial: float = 1000.0) -> np.ndarray:
    remaining = initial * np.exp(-rate_constant(parameters, temperature)[:, None] * times)
    return np.stack([remaining, initial - remaining], axis=-1)


def tank(parameters: np.ndarray, temperature: np.ndarray, residence: np.ndarray) -> np.ndarray:
    k = rate_constant(parameters, temperature) * residence
    return (k / (1 + k))[:, None, None]


def relative_jacobian(residuals, parameters: np.ndarray) -> np.ndarray:
    """Derivatives by central differences with respect to the parameters, in units of their values."""
    columns = []
    for index in range(len(parameters)):
        step = np.zeros(len(parameters))
        step[index] = 1e-6
        columns.append((residuals(parameters * (1 + step)) - residuals(parameters * (1 - step))) / 2e-6)
    return np.stack(columns, axis=-1)


def estimate(residuals, parameters: np.ndarray, variance: float | None = None) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Estimates, covariance, sum of squares, degrees of freedom; the variance of the residuals is estimated unless given."""
    scaled = least_squares(lambda scale: residuals(scale * parameters), np.ones(len(parameters)), method="lm", xtol=1e-14, ftol=1e-14)
    values = scaled.x * parameters
    jacobian = relative_jacobian(residuals, values)
    dof = jacobian.shape[0] - len(values)
    ssr = float(np.sum(residuals(values) ** 2))
    covariance = np.linalg.inv(jacobian.T @ jacobian) * np.outer(values, values) * (ssr / dof if variance is None else variance)
    return values, covariance, ssr, dof


def correlation_of(covariance: np.ndarray) -> np.ndarray:
    stderr = np.sqrt(np.diag(covariance))
    return covariance / np.outer(stderr, stderr)


def prefactor(values: np.ndarray, covariance: np.ndarray, quantile: float, unit: Unit) -> Derived:
    """A = k_ref exp(Ea / R T_ref), its interval from ln A."""
    log_a = np.log(values[0]) + values[1] / (GAS_CONSTANT * T_REF)
    slope = np.array([1 / values[0], 1 / (GAS_CONSTANT * T_REF)])
    error = float(np.sqrt(slope @ covariance @ slope))
    a = float(unit.from_si(np.exp(log_a)))
    return Derived("r1.A", a, unit, a * error, a * np.exp(-quantile * error), a * np.exp(quantile * error), "from ln A")


def three_starts(values: np.ndarray, ssr: float, units: tuple[Unit, ...]) -> StartFacts:
    """The given one and another reach the optimum, the third cannot be simulated."""
    nothing = np.full(2, np.nan)
    return StartFacts(
        parameter_names=NAMES,
        units=units,
        origins=("given", "spread", "spread"),
        starts_si=np.array([[0.1 / 60, 80e3], [0.2, 40e3], [1e9, 90e3]]),
        ends_si=np.stack([values, values, nothing]),
        start_ssr=np.array([4.1, 7.0, np.nan]),
        ssr=np.array([ssr, ssr, np.nan]),
        status=(Status.SUCCESS, Status.SUCCESS, Status.NON_FINITE),
        iterations=np.array([5, 9, 0]),
        optimum=np.array([0, 0, -1]),
        optima_si=values[None],
        optima_ssr=np.array([ssr]),
        optima_notes=("",),
        equal=1,
        best=0,
    )


def arrhenius_curve(values: np.ndarray, covariance: np.ndarray, quantile: float, unit: Unit, points: np.ndarray | None) -> Curve:
    temperatures = np.linspace(325, 355, 31)
    slope = np.stack([np.full(31, 1 / values[0]), -(1 / temperatures - 1 / T_REF) / GAS_CONSTANT], axis=-1)
    error = quantile * np.sqrt(np.einsum("ti,ij,tj->t", slope, covariance, slope))
    k = unit.from_si(rate_constant(values, temperatures))
    return Curve("r1.k", unit, temperatures, k, k * np.exp(-error), k * np.exp(error), points)


def r_squared(observed: np.ndarray, predicted: np.ndarray, mask: np.ndarray) -> np.ndarray:
    seen = np.where(mask, observed, np.nan)
    axes = tuple(range(observed.ndim - 1))
    total = np.nansum((seen - np.nanmean(seen, axis=axes)) ** 2, axis=axes)
    return 1 - np.nansum((seen - predicted) ** 2, axis=axes) / total


def timed_facts(experiments: int = 2) -> FitFacts:
    """Batch runs, 8 times, A and B in mol/L, one value of B missing, no sigma."""
    concentration, minute, celsius = parse_unit("mol/L"), parse_unit("min"), parse_unit("°C")
    temperature = np.linspace(330.0, 350.0, experiments)
    times = np.tile(np.linspace(0.0, 14.0, 8) * 60, (experiments, 1))
    noise = np.random.default_rng(20240517).normal(scale=12.0, size=(experiments, 8, 2))
    observed = batch(TRUE, temperature, times) + noise
    mask = np.ones_like(observed, dtype=bool)
    mask[-1, 4, 1] = False
    observed[~mask] = np.nan

    def residuals(parameters: np.ndarray) -> np.ndarray:
        return ((observed - batch(parameters, temperature, times)) / concentration.factor)[mask]

    values, covariance, ssr, dof = estimate(residuals, TRUE)
    stderr = np.sqrt(np.diag(covariance))
    quantile = float(stdtrit(dof, 0.975))
    predicted = batch(values, temperature, times)
    dense = np.tile(np.linspace(0.0, 14.0, 71) * 60, (experiments, 1))
    per_minute = parse_unit("1/min")
    return FitFacts(
        title="A → B in a stirred batch",
        parameter_names=NAMES,
        values_si=values,
        start_si=np.array([0.1 / 60, 80e3]),
        lower_si=np.array([1e-6, -np.inf]),
        upper_si=np.array([1.0, np.inf]),
        units=(per_minute, parse_unit("kJ/mol")),
        fixed=np.array([False, False]),
        scales=("log", "linear"),
        at_bound=("", ""),
        stderr_si=stderr,
        covariance_si=covariance,
        correlation=correlation_of(covariance),
        interval_si=np.stack([values - quantile * stderr, values + quantile * stderr], axis=-1),
        derived=(prefactor(values, covariance, quantile, per_minute),),
        experiments=tuple(f"run {index + 1}" for index in range(experiments)),
        responses=("A", "B"),
        response_units=(concentration, concentration),
        times_si=times,
        time_unit=minute,
        observed_si=observed,
        predicted_si=predicted,
        mask=mask,
        sigma_si=np.full_like(observed, np.nan),
        weights_si=np.full_like(observed, 1 / concentration.factor),
        weighted_residuals=(observed - predicted) / concentration.factor,
        conditions={"T": Condition(temperature, celsius), "initial.A": Condition(np.full(experiments, 1000.0), concentration)},
        experiment_status=(Status.SUCCESS,) * experiments,
        experiment_steps=np.full(experiments, 41),
        experiment_reached_si=times[:, -1],
        sigma_meaning="estimated",
        s=float(np.sqrt(ssr / dof)),
        ssr=ssr,
        chi_square=np.nan,
        reduced_chi_square=np.nan,
        p_value=np.nan,
        dof=dof,
        n_observations=int(mask.sum()),
        n_parameters=2,
        r_squared=r_squared(observed, predicted, mask),
        rank=2,
        condition_number=3.4,
        status=Status.SUCCESS,
        message="the relative change of the sum of squares fell below 1e-10",
        iterations=5,
        evaluations=6,
        history=np.array([4.1, 0.31, 0.012, 0.0051, ssr, ssr]),
        profiles=Dense(dense, batch(values, temperature, dense)),
        arrhenius=(arrhenius_curve(values, covariance, quantile, per_minute, None),),
        starts=three_starts(values, ssr, (per_minute, parse_unit("kJ/mol"))),
        notes=("column 'T [°C]' read as T", "column 't [min]' read as time"),
        provenance={
            "kinetix_version": "0.1.0",
            "jax_version": "0.10.2",
            "study_text": 'schema = 1\ntitle = "A → B"\n',
            "data_hash": "9f2c1b7a55d0",
            "device": "cpu",
            "dtype": "float64",
            "seed": 0,
            "import_seconds": 0.61,
            "compile_seconds": 1.2,
            "run_seconds": 0.034,
        },
    )


def robust_facts(facts: FitFacts) -> FitFacts:
    """The same fit with a robust loss, one of whose values is an outlier."""
    weights = np.where(facts.mask, 0.9, np.nan)
    weights[tuple(np.argwhere(facts.mask)[2])] = 0.1
    robust = RobustFacts("student_t", 1.0, 4.0, 0.011, False, 0.011, weights, "M-estimator covariance (Huber 1981, section 7.6)")
    return replace(facts, robust=robust, p_value=np.nan, chi_square=np.nan, reduced_chi_square=np.nan)


def single_facts() -> FitFacts:
    """`timed_facts` as if only its first run had been made and nothing optional been asked for."""
    facts = timed_facts()
    first = slice(0, 1)
    return replace(
        facts,
        title="",
        experiments=facts.experiments[:1],
        **{
            name: getattr(facts, name)[first]
            for name in ("times_si", "observed_si", "predicted_si", "mask", "sigma_si", "weights_si", "weighted_residuals")
        },
        experiment_status=facts.experiment_status[:1],
        experiment_steps=facts.experiment_steps[:1],
        experiment_reached_si=facts.experiment_reached_si[:1],
        conditions={},
        derived=(),
        profiles=None,
        arrhenius=(),
        starts=None,
        notes=(),
        provenance={},
        history=np.array([]),
    )


def steady_facts(experiments: int = 9) -> FitFacts:
    """Stirred-tank conversions in percent at several T and tau, sigma trusted; Ea fixed, one more parameter on its bound."""
    percent, second = parse_unit("%"), parse_unit("s")
    temperature = np.tile(np.linspace(330.0, 350.0, 3), -(-experiments // 3))[:experiments]
    residence = np.repeat(np.array([2.0, 5.0, 10.0]) * 60, -(-experiments // 3))[:experiments]
    sigma = 0.01
    observed = tank(TRUE, temperature, residence) + np.random.default_rng(7).normal(scale=sigma, size=(experiments, 1, 1))

    def residuals(parameters: np.ndarray) -> np.ndarray:
        return ((observed - tank(np.array([parameters[0], TRUE[1]]), temperature, residence)) / sigma).ravel()

    values, covariance, ssr, dof = estimate(residuals, TRUE[:1], variance=1.0)
    stderr = float(np.sqrt(covariance[0, 0]))
    values = np.array([values[0], TRUE[1], 2.3])
    predicted = tank(values, temperature, residence)
    unknown = np.full((3, 3), np.nan)
    table, correlation = unknown.copy(), unknown.copy()
    table[0, 0], correlation[0, 0] = covariance[0, 0], 1.0
    none = np.full(3, np.nan)
    return FitFacts(
        title="Conversion in a stirred tank",
        parameter_names=(*NAMES, "r1.K"),
        values_si=values,
        start_si=np.array([0.1 / 60, TRUE[1], 1.0]),
        lower_si=np.array([1e-6, -np.inf, 0.01]),
        upper_si=np.array([1.0, np.inf, 2.3]),
        units=(parse_unit("1/s"), parse_unit("kJ/mol"), parse_unit("1")),
        fixed=np.array([False, True, False]),
        scales=("log", "linear", "log"),
        at_bound=("", "", "upper"),
        stderr_si=np.where(np.arange(3) == 0, stderr, none),
        covariance_si=table,
        correlation=correlation,
        interval_si=np.array([[values[0] - 1.959964 * stderr, values[0] + 1.959964 * stderr], [np.nan, np.nan], [np.nan, np.nan]]),
        experiments=tuple(f"e{index + 1}" for index in range(experiments)),
        responses=("conversion",),
        response_units=(percent,),
        times_si=np.full((experiments, 1), np.nan),
        time_unit=None,
        observed_si=observed,
        predicted_si=predicted,
        mask=np.ones_like(observed, dtype=bool),
        sigma_si=np.full_like(observed, sigma),
        weights_si=np.full_like(observed, 1 / sigma),
        weighted_residuals=(observed - predicted) / sigma,
        conditions={"T": Condition(temperature, parse_unit("K")), "tau": Condition(residence, second)},
        experiment_status=(Status.SUCCESS,) * experiments,
        experiment_steps=np.zeros(experiments, dtype=np.int64),
        experiment_reached_si=np.zeros(experiments),
        sigma_meaning="trusted",
        s=float(np.sqrt(ssr / dof)),
        ssr=ssr,
        chi_square=ssr,
        reduced_chi_square=ssr / dof,
        p_value=float(chdtrc(dof, ssr)),
        dof=dof,
        n_observations=experiments,
        n_parameters=2,
        r_squared=r_squared(observed, predicted, np.ones_like(observed, dtype=bool)),
        rank=1,
        condition_number=np.inf,
        status=Status.ON_BOUND,
        message="",
        iterations=4,
        evaluations=5,
        history=np.array([]),
    )


def simulated_batch() -> SimulationFacts:
    """Two batches over 5 times, A in mol/L and B in mol/m^3; the second solve failed after its third time."""
    temperature, times = np.array([330.0, 350.0]), np.tile(np.linspace(0.0, 20.0, 5) * 60, (2, 1))
    predicted = batch(TRUE, temperature, times)
    predicted[1, 3:] = np.nan
    return SimulationFacts(
        title="A → B",
        parameter_names=NAMES,
        values_si=TRUE,
        units=(parse_unit("1/min"), parse_unit("kJ/mol")),
        experiments=("cold", "hot"),
        responses=("A", "B"),
        response_units=(parse_unit("mol/L"), parse_unit("mol/m^3")),
        times_si=times,
        time_unit=parse_unit("min"),
        predicted_si=predicted,
        experiment_status=(Status.SUCCESS, Status.STEP_LIMIT),
        experiment_steps=np.array([37, 10_000]),
        experiment_reached_si=times[:, [-1, 2]].diagonal(),
        conditions={"T": Condition(temperature, parse_unit("°C"))},
        notes=("column 'T [°C]' read as T",),
        provenance={"kinetix_version": "0.1.0", "device": "cpu"},
    )


def simulated_tank() -> SimulationFacts:
    """One steady state, its conversion in percent, nothing optional."""
    return SimulationFacts(
        title="",
        parameter_names=NAMES[:1],
        values_si=TRUE[:1],
        units=(parse_unit("1/s"),),
        experiments=("1",),
        responses=("conversion",),
        response_units=(parse_unit("%"),),
        times_si=np.zeros((1, 1)),
        time_unit=None,
        predicted_si=tank(TRUE, np.array([T_REF]), np.array([400.0])),
        experiment_status=(Status.SUCCESS,),
        experiment_steps=np.array([4]),
        experiment_reached_si=np.zeros(1),
    )


def autocatalytic_tank() -> BranchFacts:
    """A + 2 B -> 3 B with k = 1 L^2/mol^2/s in two tanks of tau = 5 s and 20 s; the feed is 1 mol/L of A and 0.05 mol/L of B.

    With s = 1.05 mol/L the states are roots of tau A (s - A)^2 = 1 - A, and disturbances grow by -1/tau - (s - A)^2 + 2 A (s - A).
    """
    total, species = 1.05, (parse_unit("mol/L"), parse_unit("mol/L"))
    taus = np.array([5.0, 20.0])
    roots = [np.roots([tau, -2 * total * tau, total**2 * tau + 1, -1]) for tau in taus]
    A = np.concatenate([np.sort(one[np.abs(one.imag) < 1e-9].real)[::-1] for one in roots])
    owner = np.repeat([0, 1], [int(np.count_nonzero(np.abs(one.imag) < 1e-9)) for one in roots])

    def growth(A: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return -1 / tau - (total - A) ** 2 + 2 * A * (total - A)

    along = np.linspace(0.999, 0.01, 400)
    tau_along = (1 - along) / (along * (total - along) ** 2)
    stable_along = growth(along, tau_along) < 0
    turns = np.flatnonzero(stable_along[1:] != stable_along[:-1])
    kinds = ["fold" if i in turns else "" for i in range(along.size)]
    states = growth(A, taus[owner])
    fine = Status.SUCCESS
    return BranchFacts(
        title="Autocatalysis",
        experiments=("short", "long"),
        along="tau",
        along_unit=parse_unit("min"),
        loading_unit=parse_unit("min"),
        species=("A", "B"),
        species_units=species,
        responses=("X",),
        response_units=(parse_unit("%"),),
        T_unit=parse_unit("degC"),
        wanted_si=taus,
        feed_status=(fine, fine),
        starts=np.array([193, 193]),
        starts_converged=np.array([190, 193]),
        state_experiment=owner,
        state_c_si=1000 * np.stack([A, total - A], axis=1),
        state_T_si=np.full(A.size, 350.0),
        state_responses_si=(1 - A)[:, None],
        state_eigenvalues_si=states[:, None].astype(complex),
        state_stable=states < 0,
        state_reached=np.array([i == list(owner).index(experiment) for i, experiment in enumerate(owner)]),
        state_residual=np.zeros(A.size),
        state_status=(fine,) * A.size,
        curve_experiment=np.array([0, 1]),
        curve_closed=np.array([False, False]),
        curve_status=(fine, fine),
        point_experiment=np.repeat([0, 1], along.size),
        point_curve=np.repeat([0, 1], along.size),
        point_along_si=np.tile(tau_along, 2),
        point_c_si=1000 * np.tile(np.stack([along, total - along], axis=1), (2, 1)),
        point_T_si=np.full(2 * along.size, 350.0),
        point_responses_si=np.tile((1 - along)[:, None], (2, 1)),
        point_stable=np.tile(stable_along, 2),
        point_kind=tuple(kinds) * 2,
    )
