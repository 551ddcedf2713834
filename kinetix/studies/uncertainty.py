"""What refits say of an estimate: profiles, bootstrap, and the influence of each experiment. All reuse the compiled evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy import special

from kinetix.analyses.bootstrap import KINDS, data_sets, percentiles
from kinetix.analyses.covariance import LinearCovariance
from kinetix.analyses.profile import Profile, profiles
from kinetix.errors import ParameterError, Problems
from kinetix.estimation import Bounds, Outcome, Refits, fit, refit_all
from kinetix.parameters import Parameter
from kinetix.results import BootstrapFacts, InfluenceFacts, ProfileFacts
from kinetix.results.phrases import count, listing, plain
from kinetix.status import Status
from kinetix.studies import starting
from kinetix.studies.evaluator import Data, Evaluator
from kinetix.studies.problem import Problem
from kinetix.studies.searching import parameter_sizes, search_options

DRAWS = 1000
"""Of a bootstrap, where no number is given: percentiles of 95 % then have a standard error of about a tenth of a standard error."""

FEWEST_DRAWS = 100

FEW_EXPERIMENTS = 8
"""Experiments below which drawing among them gives too few different data sets."""

FAR_DECADES = 12.0
"""A profile of a logarithm is followed so many decades to either side ..."""

FAR = 1e4
"""... and another so many times the size of the parameter, where no bound is nearer."""

SKEW = 0.1
"""Share of a standard interval's half-width by which a profile's may differ before it is said."""

Tell: TypeAlias = Callable[[str, int, int], None]
"""(what is being done, how many are done, of how many)."""


@dataclass(frozen=True)
class Wanted:
    """Which analyses follow a fit.

    Attributes:
        profile: the profile likelihood of each estimated parameter.
        bootstrap: so many refits to drawn data; 0 for none.
        kind: of the bootstrap, "residual", "parametric" or "case".
        influence: a refit without each experiment.

    Raises:
        ParameterError: a number or kind that makes no sense.
    """

    profile: bool = False
    bootstrap: int = 0
    kind: str = "residual"
    influence: bool = False

    def __post_init__(self) -> None:
        problems = Problems()
        number = self.bootstrap
        if isinstance(number, bool) or not isinstance(number, int) or (number and number < FEWEST_DRAWS):
            problems.add(
                f"bootstrap = {number!r}: expected the number of refits, {FEWEST_DRAWS} or more: percentiles of fewer say little."
                f" {DRAWS} is a good number."
            )
        if self.kind not in KINDS:
            problems.add(f"bootstrap kind = {self.kind!r}: expected one of {', '.join(KINDS)}.")
        problems.raise_if_any(ParameterError)


NOTHING = Wanted()


def wanted_of(profile: bool | None, bootstrap: int | Mapping[str, Any] | bool | None, influence: bool | None) -> Wanted:
    """Analyses as they are asked for: a bootstrap by its number, true for the usual one, or a table of `number` and `kind`.

    Raises:
        ParameterError: what cannot be.

    >>> wanted_of(True, {"number": 500, "kind": "case"}, None)
    Wanted(profile=True, bootstrap=500, kind='case', influence=False)
    """
    table: Mapping[str, Any] = bootstrap if isinstance(bootstrap, Mapping) else {"number": bootstrap}
    unknown = [key for key in table if key not in ("number", "kind")]
    if unknown:
        raise ParameterError(
            f"bootstrap: unknown key '{unknown[0]}'. Known: number, kind. Example: {{ number = {DRAWS}, kind = \"case\" }}."
        )
    number = table.get("number", True)
    number = 0 if number is None or number is False else DRAWS if number is True else number
    return Wanted(bool(profile), number, table.get("kind", KINDS[0]), bool(influence))


@dataclass(frozen=True, eq=False)
class Estimate:
    """A fit that refits start from.

    Attributes:
        problem, evaluator: what was fitted.
        outcome: its end.
        predicted: by it, SI, (lane, time, response).
        linear: errors in free coordinates.
        q: half-width of an interval in standard errors.
        seed: of random draws.
    """

    problem: Problem
    evaluator: Evaluator
    outcome: Outcome
    predicted: np.ndarray
    linear: LinearCovariance
    q: float
    seed: int

    @property
    def box(self) -> Bounds:
        """What the user allows, within the limits of sense."""
        return _within(Bounds(*self.problem.table.free_bounds()), starting.search_limits(self.problem.table))

    @property
    def s(self) -> float:
        """Standard deviation of a weighted residual."""
        return 1.0 if self.linear.trusted else self.linear.s

    @property
    def free(self) -> list[Parameter]:
        return [self.problem.table.parameters[i] for i in self.problem.table.free]

    def values(self, theta: np.ndarray) -> np.ndarray:
        """Free parameters, SI, (..., free), at free coordinates of the same shape."""
        logarithms = np.array([p.scale == "log" for p in self.free])
        return np.where(logarithms, np.exp(np.where(logarithms, theta, 0.0)), theta)

    def refits(self, starts: np.ndarray, box: Bounds, data: list[Data | None], on_done: Callable[[int], None] | None = None) -> Refits:
        """Fits from starts (refit, free), each in its box and to its data."""
        options = search_options(self.problem)
        sizes = parameter_sizes(self.problem.table)

        def evaluate(which: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return self.evaluator.triangles(theta, [data[i] for i in which])

        def search(number: int, start: np.ndarray, box: Bounds) -> Outcome:
            def triangle(theta: np.ndarray) -> tuple[np.ndarray, int]:
                return self.evaluator.triangle(theta, data[number])

            return fit(triangle, start, box, options, None, sizes)

        return refit_all(evaluate, search, starts, box, options.tolerances, on_done)


def why_not(estimate: Estimate, wanted: Wanted) -> str:
    """Why refits say nothing of an estimate; "" where they do."""
    status = estimate.outcome.status
    if not (
        status.ok or (status is Status.PLATEAU and wanted == Wanted(profile=True))
    ):  # on a plateau one side is open, the other may not be
        return f"they start from an optimum, and the fit ended with {status.label}"
    if estimate.problem.loss is not None:
        return f"refits know least squares, and a {estimate.problem.loss.name} loss was minimised"
    if estimate.problem.noise is not None:
        return "refits know a sigma, and here it is estimated with the parameters"
    if estimate.problem.table.priors.any() and wanted.bootstrap:
        return "a bootstrap draws data, and here priors take part; a profile knows of both"
    if not estimate.s > 0:
        return "the residuals leave no scatter to measure by (no degrees of freedom, or an exact fit)"
    return ""


# --------------------------------------------------------------------------------------------------------------- profiles


def profile_facts(estimate: Estimate, tell: Tell) -> tuple[ProfileFacts, list[str]]:
    """The profiles of all estimated parameters, and what they tell that the standard errors do not."""
    bounds = Bounds(*estimate.problem.table.free_bounds())
    edges = _within(estimate.box, _far(estimate))

    def refit(starts: np.ndarray, box: Bounds) -> Refits:
        return estimate.refits(starts, box, [None] * len(starts))

    found = profiles(
        refit,
        estimate.outcome.theta,
        estimate.outcome.R,
        estimate.s,
        estimate.q,
        np.where(estimate.linear.stderr > 0, estimate.linear.stderr, np.nan),
        np.arange(len(estimate.free)),
        bounds,
        edges,
        lambda done, total: tell("sides of profiles", done, total),
    )
    width = max(len(one.tau) for one in found)
    P = len(estimate.free)
    points, tau, ssr = np.full((P, width, P), np.nan), np.full((P, width), np.nan), np.full((P, width), np.nan)
    for i, one in enumerate(found):
        n = len(one.tau)
        points[i, :n], tau[i, :n], ssr[i, :n] = estimate.values(one.theta), one.tau, one.ssr
    facts = ProfileFacts(
        parameter_names=tuple(p.name for p in estimate.free),
        units=tuple(p.unit for p in estimate.free),
        points_si=points,
        tau=tau,
        ssr=ssr,
        interval_si=np.array([_interval(estimate, i, one) for i, one in enumerate(found)]),
        lower_end=tuple(one.lower_end.value for one in found),
        upper_end=tuple(one.upper_end.value for one in found),
        q=estimate.q,
    )
    return facts, list(_better_points(estimate, found))


def _interval(estimate: Estimate, i: int, profile: Profile) -> list[float]:
    ends = []
    for end in (profile.lower, profile.upper):
        theta = estimate.outcome.theta.copy()
        theta[i] = end
        ends.append(float(estimate.values(theta)[i]))
    return ends


def _better_points(estimate: Estimate, found: list[Profile]) -> list[str]:
    better = [one for one in found if one.better]
    if not better:
        return []
    best = min(better, key=lambda one: float(one.ssr.min()))
    values = estimate.values(best.theta[int(np.argmin(best.ssr))])
    told = listing(
        [f"{p.name} = {plain(float(p.unit.from_si(v)))} {p.unit.text}".rstrip() for p, v in zip(estimate.free, values, strict=True)]
    )
    return [
        f"A profile met a better fit than the one it started from (objective {plain(float(best.ssr.min()))}, at {told}): start there,"
        " or look from several starts."
    ]


# -------------------------------------------------------------------------------------------------------------- bootstrap


def bootstrap_facts(estimate: Estimate, wanted: Wanted, tell: Tell) -> tuple[BootstrapFacts, list[str]]:
    """Refits to drawn data, and what to know of them.

    Raises:
        ParameterError: experiments cannot be drawn.
    """
    problem = estimate.problem
    experiments = int(np.count_nonzero((problem.weights > 0).any(axis=(1, 2))))
    if wanted.kind == "case" and experiments < 2:
        raise ParameterError('bootstrap kind = "case" draws among experiments, and there is only one. Write kind = "residual".')
    drawn = data_sets(
        wanted.kind,
        wanted.bootstrap,
        estimate.seed,
        problem.observed,
        estimate.predicted,
        problem.weights,
        estimate.s,
        estimate.linear.rank,
    )
    data: list[Data | None] = [estimate.evaluator.placed(observed, weights) for observed, weights in drawn]
    found = _refits_to(estimate, data, lambda done: tell("bootstrap refits", done, wanted.bootstrap))
    values = np.where(found.ok[:, None], estimate.values(np.where(found.ok[:, None], found.theta, 0.0)), np.nan)
    kept = values[found.ok]
    few = len(kept) < 2
    facts = BootstrapFacts(
        kind=wanted.kind,
        parameter_names=tuple(p.name for p in estimate.free),
        units=tuple(p.unit for p in estimate.free),
        draws_si=values,
        ssr=found.ssr,
        status=tuple(Status(int(code)) for code in found.status),
        mean_si=np.full(values.shape[1], np.nan) if few else kept.mean(axis=0),
        stderr_si=np.full(values.shape[1], np.nan) if few else kept.std(axis=0, ddof=1),
        interval_si=percentiles(values).T,
    )
    remarks = []
    if wanted.kind == "case" and experiments < FEW_EXPERIMENTS:
        remarks.append(
            f"The bootstrap drew among {count(experiments, 'experiment')} only: so few give few different data sets, and intervals that are"
            ' too narrow. kind = "residual" or "parametric" draws errors instead.'
        )
    lost = len(values) - len(kept)
    if lost:
        remarks.append(
            f"{count(lost, 'bootstrap refit')} of {len(values)} ended without an answer and {'is' if lost == 1 else 'are'} left out."
        )
    return facts, remarks


def _refits_to(estimate: Estimate, data: list[Data | None], on_done: Callable[[int], None] | None = None) -> Refits:
    """Fits to other data from the estimate; what ends where only the limits of sense stop it is no answer."""
    box, bounds = estimate.box, Bounds(*estimate.problem.table.free_bounds())
    number = len(data)
    boxes = Bounds(*(np.repeat(edge[None], number, axis=0) for edge in box))
    found = estimate.refits(np.repeat(estimate.outcome.theta[None], number, axis=0), boxes, data, on_done)
    away = ((found.theta <= box.lower) & (bounds.lower < box.lower)) | ((found.theta >= box.upper) & (bounds.upper > box.upper))
    return replace(found, status=np.where(away.any(axis=1) & found.ok, int(Status.PLATEAU), found.status))


# -------------------------------------------------------------------------------------------------------------- influence


def influence_facts(estimate: Estimate, tell: Tell) -> InfluenceFacts:
    """Refits without one experiment each, of a single experiment without one time each."""
    problem = estimate.problem
    measured = problem.weights > 0
    experiments = np.flatnonzero(measured.any(axis=(1, 2)))
    left_out: list[str] = []
    weights: list[np.ndarray] = []
    if len(experiments) > 1:
        for lane in experiments:
            own = problem.weights.copy()
            own[lane] = 0.0
            weights.append(own)
            left_out.append(problem.campaign.experiments[lane])
    else:
        unit = problem.campaign.time_unit
        for lane in experiments:
            for row in np.flatnonzero(measured[lane].any(axis=1)):
                own = problem.weights.copy()
                own[lane, row] = 0.0
                weights.append(own)
                left_out.append(
                    f"t = {plain(float(unit.from_si(problem.campaign.times[lane, row])))} {unit.text}" if unit else str(row + 1)
                )
    data: list[Data | None] = [estimate.evaluator.placed(problem.observed, own) for own in weights]
    found = _refits_to(estimate, data, lambda done: tell("refits without an experiment", done, len(data)))
    change = np.where(found.ok[:, None], found.theta, np.nan) - estimate.outcome.theta
    return InfluenceFacts(
        parameter_names=tuple(p.name for p in estimate.free),
        units=tuple(p.unit for p in estimate.free),
        left_out=tuple(left_out),
        values_si=np.where(found.ok[:, None], estimate.values(np.where(found.ok[:, None], found.theta, 0.0)), np.nan),
        shift=change / np.where(estimate.linear.stderr > 0, estimate.linear.stderr, np.nan),
        distance=_distances(estimate, change),
        status=tuple(Status(int(code)) for code in found.status),
    )


def _distances(estimate: Estimate, change: np.ndarray) -> np.ndarray:
    """Cook's distances over the quantile at the edge of the joint region: d' J'J d / (p s^2 F(0.95; p, dof)), with the exact changes."""
    linear = estimate.linear
    moved = change @ estimate.outcome.R[:-1, :-1].T
    p = linear.rank
    edge = special.chdtri(p, 0.05) if linear.trusted else p * special.fdtri(p, linear.dof, 0.95)
    return np.sum(moved**2, axis=1) / (estimate.s**2 * edge)


def _within(box: Bounds, other: Bounds) -> Bounds:
    return Bounds(np.maximum(box.lower, other.lower), np.minimum(box.upper, other.upper))


def _far(estimate: Estimate) -> Bounds:
    """How far profiles are followed where nothing else ends them, in free coordinates: from the estimate, and from the start.

    An estimate that ran to where it has no effect is no measure of where it may have one.
    """
    theta, start = estimate.outcome.theta, estimate.problem.table.free_start()
    logarithms = np.array([p.scale == "log" for p in estimate.free])
    size = np.fmax(np.abs(theta), np.where(estimate.linear.stderr > 0, estimate.linear.stderr, 0.0))
    reach = np.where(logarithms, FAR_DECADES * np.log(10.0), FAR * np.where(size > 0, size, 1.0))
    return Bounds(np.minimum(theta, start) - reach, np.maximum(theta, start) + reach)
