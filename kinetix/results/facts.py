"""What a finished fit knows, as plain NumPy arrays and names: the one thing that `fit_tree` reads.

Three conventions hold throughout:

- A field ending in `_si` is in SI; everything else is as reported (a `Derived` or `Curve` in its own unit, weighted residuals
  as in the objective).
- NaN means "there is none": a cell not measured, a prediction not simulated, an error that does not exist. Zero is never used for that.
- The covariance is NaN in every row and column of a parameter without an ordinary error (fixed, on a bound, undetermined), so that
  `sqrt(diag(covariance)) == stderr`. Whoever propagates and means "held at its value" says so with `fillna(0)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kinetix.analyses.lack_of_fit import LackOfFit
from kinetix.status import Status
from kinetix.units import Unit

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Derived:
    """A quantity that follows from the parameters (A from k_ref and Ea), in `unit`; its interval need not be symmetric."""

    name: str
    value: float
    unit: Unit
    stderr: float
    lower: float
    upper: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class Condition:
    """One condition over the experiments: values (E,) in SI and the unit to report them in."""

    values_si: Floats
    unit: Unit


@dataclass(frozen=True, eq=False)
class Dense:
    """Predictions on a fine time grid for smooth curves: times (E, G) in s, predictions (E, G, R) in SI."""

    times_si: Floats
    predicted_si: Floats


@dataclass(frozen=True, eq=False)
class Curve:
    """A rate constant against temperature: temperatures (G,) in K; k and its 95 % band (G,) in `unit`.

    `points` (N, 2) holds measured (T in K, k in `unit`), where k was measured.
    """

    name: str
    unit: Unit
    temperatures: Floats
    k: Floats
    lower: Floats
    upper: Floats
    points: Floats | None = None


@dataclass(frozen=True, eq=False)
class StartFacts:
    """The searches from N starts for F estimated parameters, and the O distinct optima that they reached, the best first.

    `starts_si` (N, F) and `ends_si` (N, F) hold values in SI; ends, `start_ssr` and `ssr` (N,) are NaN where a search could not begin.
    `origins` are "given", "data" or "spread". `optimum` (N,) is the optimum that was reached, -1 where the search gave no answer.
    `optima_si` (O, F) and `optima_ssr` (O,) are those of the first search that reached it, `optima_notes` say how it follows from the
    best one ("r1.k and r2.k exchanged") or are empty. The first `equal` optima are as good as the best, which is one of them; `best` is
    the search whose end is the fit.
    """

    parameter_names: tuple[str, ...]
    units: tuple[Unit, ...]
    origins: tuple[str, ...]
    starts_si: Floats
    ends_si: Floats
    start_ssr: Floats
    ssr: Floats
    status: tuple[Status, ...]
    iterations: npt.NDArray[np.int64]
    optimum: npt.NDArray[np.int64]
    optima_si: Floats
    optima_ssr: Floats
    optima_notes: tuple[str, ...]
    equal: int
    best: int


@dataclass(frozen=True, eq=False)
class RobustFacts:
    """What a robust loss says of the values (E, T, R).

    `constant` is the loss's in standard deviations, `shape` the degrees of freedom of student_t (NaN of others), `scale` the standard
    deviation of weighted residuals that it was used with: 1 where sigma is known (`scale_known`), else found from the residuals.
    `residual_scale` is that of the residuals at the end in any case. `weights` are psi(r)/r: 1 where a value counts as in least squares,
    NaN where nothing was measured. `covariance` names the formula of the errors.
    """

    loss: str
    constant: float
    shape: float
    scale: float
    scale_known: bool
    residual_scale: float
    weights: Floats
    covariance: str


@dataclass(frozen=True)
class NoiseFacts:
    """What a fit says that estimates standard deviations with the parameters.

    `log_likelihood` is of all values in the units of the data, `modelled` the number of values whose sigma is estimated, `bias` about the
    factor by which such a sigma comes out too small, sqrt(1 - p/n), p the other parameters. `errors` says what the errors come from.
    """

    log_likelihood: float
    modelled: int
    bias: float
    errors: str


@dataclass(frozen=True, eq=False)
class ProfileFacts:
    """Profile likelihoods of P parameters, N points each (NaN beyond a profile's own); values in SI.

    `points_si` are the values of all P parameters along each profile, (P, N, P); `tau` and `ssr` (P, N) what they cost. `lower_end` and
    `upper_end` say how each side ended, see `kinetix.analyses.profile.End`; where that is not "crossed", `interval_si` holds the last value
    that was reached. `q` is |tau| at the ends of an interval.
    """

    parameter_names: tuple[str, ...]
    units: tuple[Unit, ...]
    points_si: Floats
    tau: Floats
    ssr: Floats
    interval_si: Floats
    lower_end: tuple[str, ...]
    upper_end: tuple[str, ...]
    q: float


@dataclass(frozen=True, eq=False)
class BootstrapFacts:
    """Estimates of B data sets that could have been measured instead, P parameters; SI, NaN where a refit had no answer."""

    kind: str
    parameter_names: tuple[str, ...]
    units: tuple[Unit, ...]
    draws_si: Floats
    ssr: Floats
    status: tuple[Status, ...]
    mean_si: Floats
    stderr_si: Floats
    interval_si: Floats


@dataclass(frozen=True, eq=False)
class InfluenceFacts:
    """Estimates without one experiment (or, of a single experiment, one time) each: L of them, P parameters; SI.

    `shift` is the change of each parameter in its standard errors, (L, P); `distance` that of all together, in units of their joint
    95 % region, (L,): 1 is its edge.
    """

    parameter_names: tuple[str, ...]
    units: tuple[Unit, ...]
    left_out: tuple[str, ...]
    values_si: Floats
    shift: Floats
    distance: Floats
    status: tuple[Status, ...]


@dataclass(frozen=True, eq=False)
class FitFacts:
    """Everything a fit found: P parameters, E experiments, T times (one for steady states), R responses.

    `mask` (E, T, R) is True where a value was measured and used. `weights_si` (E, T, R) are 1/sigma, or 1 per unit of the data column
    where no sigma is given. `weighted_residuals` (E, T, R) are (observed - predicted) times
    weight, as in the objective: dimensionless where sigma was given, in the data columns' units otherwise. `sigma_meaning` is
    "trusted", "scaled", "estimated" (from the residuals) or "modelled" (with the parameters); `s` is the factor on sigma where it is
    scaled, and the standard deviation of the residuals where it is estimated. `scales` are "log" or "linear", `at_bound` is "", "lower" or
    "upper", bounds that do not exist are infinite, `interval_si` (P, 2) holds the ends of the 95 % interval. `n_parameters` counts
    estimated parameters only.
    `time_unit` is None where nothing depends on time (then T is 1). `experiment_steps` are solver steps and `experiment_reached_si`
    the times up to which experiments were followed, 0 where nothing was integrated; `experiment_why` is empty, or says of each
    experiment why its integration failed, "" where it did not. `history` is the objective after each iteration.
    `provenance` holds, as far as known, `kinetix_version`, `study_text`, `data_hash`, `seed`, `device`, `dtype`, `jax_version`, `date`,
    and `import_`, `trace_`, `compile_`, `run_seconds`.
    `null_directions` are sentences about combinations of parameters that change nothing, `without_effect` names the parameters that
    change nothing by themselves. `model` says what was fitted, a line each, its columns separated by tabs: the name of a reaction, its
    equation and its rate as computed; or something else and what it is. `replicates` is the test of lack of fit, None where
    nothing was measured twice. `supplement` is text of a command that stands below the report.
    `parameter_notes` is empty, or says of each parameter what must be known to use it: the temperature at which it holds.
    """

    title: str
    # parameters
    parameter_names: tuple[str, ...]
    values_si: Floats
    start_si: Floats
    lower_si: Floats
    upper_si: Floats
    units: tuple[Unit, ...]
    fixed: Flags
    scales: tuple[str, ...]
    at_bound: tuple[str, ...]
    stderr_si: Floats
    covariance_si: Floats
    correlation: Floats
    interval_si: Floats
    # data and predictions
    experiments: tuple[str, ...]
    responses: tuple[str, ...]
    response_units: tuple[Unit, ...]
    times_si: Floats
    time_unit: Unit | None
    observed_si: Floats
    predicted_si: Floats
    mask: Flags
    sigma_si: Floats
    weights_si: Floats
    weighted_residuals: Floats
    experiment_status: tuple[Status, ...]
    experiment_steps: npt.NDArray[np.int64]
    experiment_reached_si: Floats
    # statistics
    sigma_meaning: str
    s: float
    ssr: float
    chi_square: float
    reduced_chi_square: float
    p_value: float
    dof: int
    n_observations: int
    n_parameters: int
    r_squared: Floats
    rank: int
    condition_number: float
    # how it ended
    status: Status
    message: str
    iterations: int
    evaluations: int
    history: Floats
    # what not every fit has
    experiment_why: tuple[str, ...] = ()
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    parameter_notes: tuple[str, ...] = ()
    derived: tuple[Derived, ...] = ()
    null_directions: tuple[str, ...] = ()
    without_effect: tuple[str, ...] = ()
    priors: tuple[str, ...] = ()
    profiles: Dense | None = None
    arrhenius: tuple[Curve, ...] = ()
    starts: StartFacts | None = None
    robust: RobustFacts | None = None
    noise: NoiseFacts | None = None
    replicates: LackOfFit | None = None
    profile: ProfileFacts | None = None
    bootstrap: BootstrapFacts | None = None
    influence: InfluenceFacts | None = None
    model: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    supplement: str = ""
    provenance: Mapping[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SimulationFacts:
    """Everything a simulation gave: E experiments, T times (one for steady states), R responses, P parameters.

    `time_unit` is None where nothing depends on time. Values in SI; NaN where a solve failed. `experiment_why` as in `FitFacts`.
    """

    title: str
    parameter_names: tuple[str, ...]
    values_si: Floats
    units: tuple[Unit, ...]
    experiments: tuple[str, ...]
    responses: tuple[str, ...]
    response_units: tuple[Unit, ...]
    times_si: Floats
    time_unit: Unit | None
    predicted_si: Floats
    experiment_status: tuple[Status, ...]
    experiment_steps: npt.NDArray[np.int64]
    experiment_reached_si: Floats
    experiment_why: tuple[str, ...] = ()
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    provenance: Mapping[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class BranchFacts:
    """All steady states of the experiments (E) that were found, and the curves through them: S states, P points, C curves.

    R responses are formulas, N species, M modes: eigenvalues of the balances at rest, without what is conserved. `experiment` arrays of
    states, points and curves are positions in `experiments`. `along` is the condition over which the curves go. Values in SI, NaN where a
    state could not be refined. `T_unit` is None where nothing depends on a temperature. `loading_unit` is that of the residence time, or of
    what stands for it where rates are per catalyst; eigenvalues are per that.
    """

    title: str
    experiments: tuple[str, ...]
    along: str
    along_unit: Unit
    loading_unit: Unit
    species: tuple[str, ...]
    species_units: tuple[Unit, ...]
    responses: tuple[str, ...]
    response_units: tuple[Unit, ...]
    T_unit: Unit | None
    wanted_si: Floats
    feed_status: tuple[Status, ...]
    starts: npt.NDArray[np.int64]
    starts_converged: npt.NDArray[np.int64]
    # states
    state_experiment: npt.NDArray[np.int64]
    state_c_si: Floats
    state_T_si: Floats
    state_responses_si: Floats
    state_eigenvalues_si: npt.NDArray[np.complex128]
    state_stable: Flags
    state_reached: Flags
    state_residual: Floats
    state_status: tuple[Status, ...]
    # curves
    curve_experiment: npt.NDArray[np.int64]
    curve_closed: Flags
    curve_status: tuple[Status, ...]
    point_experiment: npt.NDArray[np.int64]
    point_curve: npt.NDArray[np.int64]
    point_along_si: Floats
    point_c_si: Floats
    point_T_si: Floats
    point_responses_si: Floats
    point_stable: Flags
    point_kind: tuple[str, ...]
    provenance: Mapping[str, str | int | float] = field(default_factory=dict)
