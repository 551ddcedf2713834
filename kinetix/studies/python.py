"""The Python door: the steps of a study file as function calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from kinetix.errors import ConditionError, DataError, InputError, ParameterError, Problems
from kinetix.estimation import DEFAULT, Iteration, estimator
from kinetix.estimation.losses import Loss
from kinetix.experiments import Campaign, odd_constants, suspected, without_effect
from kinetix.network import Network
from kinetix.parameters import unit_of
from kinetix.rates import FunctionLaw
from kinetix.results import fit_tree
from kinetix.simulation import Choice, ReactorModel, all_responses, measured_responses
from kinetix.solvers import Options
from kinetix.studies.branching import all_states_of, no_states_to_look_for
from kinetix.studies.building import (
    absolute_of,
    check_solver,
    given_conditions,
    known_conditions,
    parse_times,
    response_formulas,
    unit_of_times,
)
from kinetix.studies.building import amounts as amounts_of
from kinetix.studies.chemistry import chemistry, constants_of
from kinetix.studies.direct import place_parameters, with_missing_constants
from kinetix.studies.energy import heat_of
from kinetix.studies.fitting import fit_problem
from kinetix.studies.given import Given
from kinetix.studies.losses import with_loss
from kinetix.studies.problem import Problem, assemble, temperatures_vary
from kinetix.studies.responses import check_response_names, check_time_on_stream
from kinetix.studies.schema import reaction_sections
from kinetix.studies.searching import FitLimits
from kinetix.studies.setups import ReactorSetup, kind_of
from kinetix.studies.simulating import simulate_problem
from kinetix.studies.starting import SEED, Multistart
from kinetix.studies.uncertainty import wanted_of
from kinetix.units import parse_unit


def estimate(
    start: str | None = None,
    *,
    unit: str | None = None,
    bounds: tuple[str | None, str | None] | None = None,
    scale: str | None = None,
    at: str | None = None,
    fixed: bool = False,
    prior: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A number to be estimated, as the study file writes it.

    Args:
        start: where the fit starts, with its unit; None: found from the data.
        unit: to report in, where there is no start to take it from.
        bounds: lower and upper bound; None where a side is open.
        scale: "log" or "linear"; rate constants are fitted on a log scale unless said otherwise.
        at: the temperature at which a rate constant with an activation energy holds.
        fixed: keep the start.
        prior: what was known before: `{"mean": "60 kJ/mol", "sd": "5 kJ/mol"}`, or `{"median": "0.1 1/s", "factor": 2}`; also the start
            where none is given.

    >>> import kinetix as kx
    >>> kx.estimate("0.1 1/min", bounds=("0.01 1/min", "1 1/min"))
    {'start': '0.1 1/min', 'bounds': ['0.01 1/min', '1 1/min']}
    >>> kx.estimate(unit="1/h")
    {'unit': '1/h'}
    """
    table = {
        "start": start,
        "unit": unit,
        "bounds": [side or "" for side in bounds] if bounds else None,
        "scale": scale,
        "at": at,
        "fixed": fixed or None,
        "prior": None if prior is None else dict(prior),
    }
    return {key: value for key, value in table.items() if value is not None}


def fit(
    reactor: ReactorSetup,
    campaign: Campaign,
    start: Mapping[str, Any] | None = None,
    *,
    known: Mapping[str, Any] | None = None,
    sigma: str | None = None,
    title: str = "",
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    starts: int | None = None,
    seed: int = SEED,
    profile: bool = False,
    bootstrap: int | Mapping[str, Any] | None = None,
    influence: bool = False,
    loss: str | Mapping[str, Any] | None = None,
    method: str = DEFAULT,
    rtol: float = 1e-8,
    atol: str | Mapping[str, str] | None = None,
    on_iteration: Callable[[Iteration], None] | None = None,
) -> xr.DataTree:
    """Estimate parameters by bounded least squares.

    Minimises the sum of ((predicted - observed)/sigma)^2, or of (predicted - observed)^2 in the units of the data where no
    sigma is given.

    Args:
        reactor: from `CSTR`, `Batch`, `PlugFlow`, `Semibatch` or `Differential`.
        campaign: data, from `read_csv`.
        start: estimated parameters, name -> start: `{"r1.k": "0.1 1/min", "r1.Ea": estimate("60 kJ/mol", bounds=(...))}`.
            Rate constants that are neither here nor known are estimated too, their starts found from the data; with Ea where
            the temperature varies.
        known: known parameters, initial and feed amounts: `{"r2.k": "1 1/min", "feed.B": "0 mol/L", "initial.default": "0 mol/L"}`.
        sigma: "trusted" or "scaled" where the data carry standard deviations.
        title: for reports.
        max_iterations, max_seconds: limits, of each start and of all together; the best point so far is kept.
        starts: from how many starts an optimum is looked for: the given one, and others spread over the bounds, or without bounds over
            three decades to either side of the start (linear parameters: see the page on several optima).
        seed: of starts that are spread or found in the data, and of a bootstrap; the same seed gives the same numbers.
        profile: whether the profile likelihood of each estimated parameter is computed.
        bootstrap: number of refits to drawn data, such as 1000, or `{"number": 1000, "kind": "case"}`; kinds are residual (default),
            parametric and case (experiments are drawn).
        influence: whether the fit is repeated without each experiment.
        loss: robust, so that a gross error counts for little: "huber", "soft_l1", "cauchy" or "student_t", or
            `{"type": "huber", "scale": 1.345}` in standard deviations; default: least squares.
        method: the estimator, "lm" unless you say otherwise; the page on estimators says which there are, and when each pays.
        rtol, atol: of the integration; `atol` is a concentration, of all species or of some by name; default: by species.
        on_iteration: called after each iteration.

    Returns:
        `xarray.DataTree`: parameters, covariance, predictions, conditions, statistics, iterations and more, with units;
        of several starts the group starts says where each began and ended, and which distinct optima there are; the groups
        likelihood, bootstrap and influence hold what those options ask for;
        `tree.attrs["converged"]` and `tree.attrs["verdict"]` say how it ended.

    Raises:
        InputError: what cannot be used, all problems at once.
        SolveError: the start cannot be simulated.

    >>> import kinetix as kx, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tank.csv"
    >>> _ = path.write_text("tau [min],A [mol/L]\\n2,0.5\\n4,0.3333333333\\n8,0.2\\n")  # A = A_feed/(1 + k tau)
    >>> tank = kx.CSTR(kx.parse_network("A -> B"))
    >>> tree = kx.fit(tank, kx.read_csv(path, tank), {"r1.k": "0.1 1/min"}, known={"feed.A": "1 mol/L", "feed.B": "0 mol/L"})
    >>> bool(tree.attrs["converged"]), float(tree["parameters/value"].sel(parameter="r1.k").round(6))
    (True, 0.5)
    """
    _check_arguments("fit", reactor, campaign, start=start, known=known)
    limits, multistart, wanted = FitLimits(max_iterations, max_seconds), Multistart(starts, seed), wanted_of(profile, bootstrap, influence)
    estimator(method)
    put = candidate(reactor, campaign, start, known=known, sigma=sigma, title=title, rtol=rtol, atol=atol)
    put = with_loss(put, loss)
    return fit_tree(fit_problem(put, limits, on_iteration, multistart, wanted=wanted, method=method))


def candidate(
    reactor: ReactorSetup,
    campaign: Campaign,
    start: Mapping[str, Any] | None = None,
    *,
    known: Mapping[str, Any] | None = None,
    sigma: str | None = None,
    title: str = "",
    rtol: float = 1e-8,
    atol: str | Mapping[str, str] | None = None,
) -> Problem:
    """A model and its data put together, to be fitted by what is given several: `compare`.

    Args:
        reactor, campaign, start, known, sigma, title, rtol, atol: as for `fit`.

    Raises:
        InputError: what cannot be used, all problems at once.

    >>> import kinetix as kx, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tank.csv"
    >>> _ = path.write_text("tau [min],A [mol/L]\\n2,0.51\\n4,0.33\\n8,0.20\\n")
    >>> tank = kx.CSTR(kx.parse_network("A -> B"))
    >>> put = kx.candidate(tank, kx.read_csv(path, tank), {"r1.k": "0.1 1/min"}, known={"feed.A": "1 mol/L", "feed.B": "0 mol/L"})
    >>> put.table.names, put.responses
    (('r1.k',), ('A',))
    """
    _check_arguments("candidate", reactor, campaign, start=start, known=known)
    return put_together(
        reactor,
        campaign,
        start or {},
        known or {},
        sigma=sigma,
        title=title,
        rtol=rtol,
        atol=absolute_of(atol, "atol"),
        estimate_missing=True,
    )


def simulate(
    reactor: ReactorSetup,
    known: Mapping[str, Any],
    *,
    conditions: Mapping[str, str] | Campaign | None = None,
    times: str | Sequence[str | float] | np.ndarray | None = None,
    rtol: float = 1e-8,
    atol: str | Mapping[str, str] | None = None,
    max_steps: int = 10_000,
    method: str | None = None,
) -> xr.DataTree:
    """Profiles of a batch reactor or steady states of a tank.

    Args:
        reactor: from `CSTR`, `Batch`, `PlugFlow`, `Semibatch` or `Differential`.
        known: parameters, initial and feed amounts: `{"r1.k": "0.1 1/min", "initial.A": "1 mol/L", "initial.default": "0 mol/L"}`.
        conditions: name -> quantity, or a campaign whose conditions and times are used.
        times: s, or text such as "0:60:61 min".
        rtol, atol, max_steps: of the integration; `atol` is a concentration, of all species or of some by name.
        method: another integrator, for values without derivatives: "scipy-LSODA", "scipy-Radau", "scipy-BDF", or with the package
            diffrax "diffrax-Kvaerno5". Default: kinetix's own Rodas5P.

    Returns:
        `xarray.DataTree` with the groups simulation, parameters and conditions; statuses by experiment.

    Raises:
        InputError: what cannot be used, all problems at once.

    >>> import kinetix as kx
    >>> tree = kx.simulate(
    ...     kx.Batch(kx.parse_network("2 A -> B")),
    ...     {"r1.k": "0.1 L/mol/s", "initial.A": "2 mol/L", "initial.B": "0 mol/L"},
    ...     times=[0.0, 10.0],
    ... )
    >>> float(tree["simulation/predicted"].sel(response="A")[0, 1].round(6))
    0.4
    """
    put = problem(reactor, known, conditions=conditions, times=times, rtol=rtol, atol=atol, max_steps=max_steps, method=method)
    return simulate_problem(put)


def steady_branches(
    reactor: ReactorSetup,
    known: Mapping[str, Any],
    *,
    conditions: Mapping[str, str] | Campaign,
    along: str = "tau",
    between: tuple[str, str] | None = None,
) -> xr.Dataset:
    """All steady states of a stirred tank, whether they are stable, which one the feed leads to, and the curves that they lie on.

    Every root of 0 = (c_feed - c)/tau + nu r(c, T), with the energy balance where there is one, that is found by following the steady state
    of the feed from tau -> 0 over the residence time through its turning points, and by Newton iteration from 192 compositions spread over
    what the reactions can make of the feed; the curves through what the latter find (isolas) are followed too. A state is stable
    where all eigenvalues of the balances have a negative real part.

    Args:
        reactor: from `CSTR`, one tank.
        known: parameters and feed amounts, as for `simulate`.
        conditions: name -> quantity, or a campaign: all states of every row.
        along: the condition over which curves of steady states go: "tau" (also where V and Q, or W/Q are given), "T", "T_feed" or
            "T_coolant".
        between: the ends of its range: `("280 K", "320 K")`. May be left out for tau: a factor of 1,000 to either side.

    Returns:
        `xarray.Dataset` with the dimensions state, species, mode (eigenvalues, the largest real part first), and for the curves point and
        curve. Turning points (`fold`), beginnings of oscillation (`hopf`) and crossings of curves (`branch`) stand in `point_kind`. A
        state or curve that could not be followed has its status, and NaN.

    Raises:
        InputError: not one tank at steady state; what cannot be used, all problems at once.

    Source: H. B. Keller, in Applications of Bifurcation Theory (1977), 359; A. Uppal, W. H. Ray, A. B. Poore, Chemical Engineering Science
    29, 967 (1974), for tanks.

    >>> import kinetix as kx
    >>> tank = kx.CSTR(kx.parse_network("A + 2 B -> 3 B"))
    >>> known = {"r1.k": "1 L^2/mol^2/s", "feed.A": "1 mol/L", "feed.B": "0.05 mol/L"}
    >>> states = kx.steady_branches(tank, known, conditions={"tau": "5 s"})
    >>> states["concentration"].sel(species="A").values.round(4).tolist(), states["stable"].values.tolist()
    ([0.9656, 0.9057, 0.2287], [True, False, True])
    >>> states["reached_from_feed"].values.tolist()
    [True, False, False]
    """
    if isinstance(reactor, ReactorSetup) and reactor.reactor.at_rest is None:
        raise no_states_to_look_for(reactor.reactor)
    return all_states_of(problem(reactor, known, conditions=conditions), along, between)


def problem(
    reactor: ReactorSetup,
    known: Mapping[str, Any],
    *,
    conditions: Mapping[str, str] | Campaign | None = None,
    times: str | Sequence[str | float] | np.ndarray | None = None,
    rtol: float = 1e-8,
    atol: str | Mapping[str, str] | None = None,
    max_steps: int = 10_000,
    method: str | None = None,
) -> Problem:
    """A reactor at given conditions as arrays: `predict(problem.model, problem.parameters, problem.lanes)` is a pure function of them.

    Arguments as for `simulate`. The responses are all concentrations (all rates of a differential reactor) and all formulas.

    Returns:
        `Problem`: `model`, `parameters` (SI, in the order of `table.names`), `lanes` (arrays with a leading lane axis), `responses`,
        `units`.

    Raises:
        InputError: what cannot be used, all problems at once.

    >>> import kinetix as kx
    >>> batch = kx.Batch(kx.parse_network("A -> B"))
    >>> decay = kx.problem(batch, {"r1.k": "0.5 1/s", "initial.A": "1 mol/L", "initial.B": "0 mol/L"}, times=[0.0, 2.0])
    >>> decay.responses, decay.table.names
    (('A', 'B'), ('r1.k',))
    """
    _check_arguments("simulate", reactor, known=known, conditions=None if isinstance(conditions, Campaign) else conditions)
    timed = reactor.reactor.timed
    if times is not None and (isinstance(conditions, Campaign) or not timed):
        why = "the campaign has its own" if timed else f"nothing in a {reactor.reactor.name} reactor depends on time"
        raise ConditionError(f"times: {why}. Leave them out.")
    if isinstance(conditions, Campaign):
        campaign = conditions
    else:
        vocabulary = reactor.vocabulary()
        quantities = known_conditions(conditions or {}, vocabulary.conditions, f"a {reactor.reactor.name} reactor")
        at = (np.zeros(1), parse_unit("s")) if times is None else (parse_times(times), unit_of_times(times))
        campaign = suspected(given_conditions(quantities, *at), [*odd_constants(quantities), *without_effect(quantities, vocabulary)])
    sigma = "trusted" if np.isfinite(campaign.sigma).any() else None  # it plays no part here
    return put_together(
        reactor,
        campaign,
        {},
        known,
        sigma=sigma,
        rtol=rtol,
        atol=absolute_of(atol, "atol"),
        max_steps=max_steps,
        responses=all_responses,
        method=method,
    )


def _check_arguments(what: str, reactor: object, campaign: object = None, **named: object) -> None:
    """That arguments are what their places ask for.

    Raises:
        InputError: what came, what was expected, what to write.
    """
    problems = Problems()
    if isinstance(reactor, Campaign) or isinstance(campaign, ReactorSetup):
        problems.add(f"{what}: the reactor comes first, then the data. Write {what}(reactor, campaign, ...).")
    elif isinstance(reactor, Network):
        problems.add(f"{what}: expected a reactor first, found a network. Write {what}(Batch(network), ...), or another reactor.")
    elif not isinstance(reactor, ReactorSetup):
        problems.add(f"{what}: expected a reactor first, found {kind_of(reactor)}. Write {what}(Batch(parse_network(...)), ...).")
    elif what in ("fit", "candidate") and not isinstance(campaign, Campaign):
        problems.add(f"{what}: expected data second, found {kind_of(campaign)}. Write {what}(reactor, read_csv(path, reactor), ...).")
    for name, value in named.items():
        if value is not None and not isinstance(value, Mapping):
            problems.add(f'{what}: {name} is a mapping such as {{"r1.k": "0.1 1/min"}}, found {kind_of(value)}.')
    problems.raise_if_any(InputError)


def put_together(
    reactor: ReactorSetup,
    campaign: Campaign,
    start: Mapping[str, Any],
    known: Mapping[str, Any],
    *,
    sigma: str | None = None,
    title: str = "",
    rtol: float = 1e-8,
    atol: float | Mapping[str, float] | None = None,
    max_steps: int = 10_000,
    responses: Choice = measured_responses,
    estimate_missing: bool = False,
    loss: Loss | None = None,
    method: str | None = None,
) -> Problem:
    """The problem that `fit` and `simulate` work on."""
    placed = place_parameters(reactor.network, start, known, {name: constants_of(rate) for name, rate in reactor.rates.items()})
    functions: dict[str, FunctionLaw] = {}
    for what, by_reaction in (("rate", reactor.rates), ("orders", reactor.orders)):
        for name, value in by_reaction.items():
            reactor.network.reaction_index(name)
            section = placed.reactions[name]
            if isinstance(value, FunctionLaw):
                functions[name] = value
                continue
            twice = [f"{name}.order.{species}" for species in value if species in section.get(what, {})] if what == "orders" else []
            if twice:
                raise ParameterError(f"{twice[0]} is given twice: in the orders of the reactor and as a parameter. Keep one.")
            section[what] = {**value, **section.get(what, {})} if isinstance(value, Mapping) else value
    if estimate_missing:
        with_missing_constants(reactor.network, placed.reactions, temperatures_vary(campaign), functions)
    sections = reaction_sections({name: {**section, "balance": "off"} for name, section in placed.reactions.items()})
    chemical = chemistry(sections, placed.named, formulas=False, basis=reactor.basis, functions=functions)
    heat = heat_of(reactor.energy, sections, chemical.network.species, reactor.reactor, reactor.basis)
    formulas = response_formulas(reactor.responses)
    spoken = ReactorModel(chemical.network, reactor.reactor, chemical.laws, formulas, reactor.basis, heat and heat.balance)
    if reactor.reactor.measures_rates and any(column.name in reactor.network.species for column in campaign.responses):
        raise DataError(
            "The data were read for another reactor: here concentrations are conditions. Read them with read_csv(path, reactor)."
        )
    check_time_on_stream(spoken)
    check_response_names(spoken, {name: unit.dimension for name, spec in chemical.named.items() if (unit := unit_of(spec.value))})
    feed, initial = amounts_of(placed.feed, "feed"), amounts_of(placed.initial, "initial")
    given = Given(chemical.constants, chemical.named, feed, initial, heat)
    options = Options(rtol=rtol, max_steps=max_steps)
    how = {"options": options, "rtol": rtol, "atol": atol, "method": method, "loss": loss}
    put = assemble(spoken, campaign, given, title=title, sigma=sigma, responses=responses, **how)
    changed = {"rtol": rtol != 1e-8, "max_steps": max_steps != 10_000, "method": method is not None}
    check_solver(reactor.reactor, [name for name, is_changed in changed.items() if is_changed], "")
    return put
