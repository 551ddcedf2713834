"""The Python door: the steps of a study file as function calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr

from kinetix.errors import ConditionError, DataError, InputError, ParameterError, Problems
from kinetix.estimation import Iteration
from kinetix.experiments import Campaign, Vocabulary, odd_constants, suspected, without_effect
from kinetix.network import Network
from kinetix.parameters import unit_of
from kinetix.rates import VOLUME_BASIS, Basis, FunctionLaw
from kinetix.reactors import BATCH, DIFFERENTIAL, PLUG_FLOW, SEMIBATCH, TRANSIENT_CSTR, Reactor
from kinetix.reactors import CSTR as TANK
from kinetix.results import fit_tree
from kinetix.simulation import Choice, ReactorModel, all_responses, measured_responses
from kinetix.solvers import Options
from kinetix.studies.branching import all_states_of, no_states_to_look_for
from kinetix.studies.building import (
    absolute_of,
    basis_of,
    check_solver,
    given_conditions,
    known_conditions,
    parse_times,
    reactor_of,
    response_formulas,
    unit_of_times,
)
from kinetix.studies.building import amounts as amounts_of
from kinetix.studies.chemistry import chemistry, constants_of
from kinetix.studies.direct import place_parameters, with_missing_constants
from kinetix.studies.energy import balance_of, heat_of
from kinetix.studies.fitting import fit_problem
from kinetix.studies.given import Given
from kinetix.studies.problem import Problem, assemble, temperatures_vary
from kinetix.studies.responses import check_response_names, check_time_on_stream
from kinetix.studies.schema import EnergySection, energy_section, reaction_sections
from kinetix.studies.searching import FitLimits
from kinetix.studies.simulating import simulate_problem
from kinetix.studies.starting import SEED, Multistart
from kinetix.units import Dimension, parse_unit


@dataclass(frozen=True)
class ReactorSetup:
    """A reactor with a network in it, before its constants are known; made by `CSTR`, `Batch`, `PlugFlow`, `Semibatch` or `Differential`.

    Attributes:
        network: the reactions.
        reactor: the book from the shelf.
        rates: rate formulas or functions by reaction, in place of mass action.
        orders: orders by reaction and species.
        responses: measured quantities as formulas.
        basis: what the rates are per, and of which amounts.
        energy: the energy balance from which the temperature follows; None where the temperature is given.
    """

    network: Network
    reactor: Reactor
    rates: Mapping[str, str | FunctionLaw] = field(default_factory=dict)
    orders: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    responses: Mapping[str, str] = field(default_factory=dict)
    basis: Basis = VOLUME_BASIS
    energy: EnergySection | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.network, Network):
            raise InputError(f'A reactor takes a network, found {self.network!r}. Write parse_network("A -> B").')

    def vocabulary(self) -> Vocabulary:
        """What a data file for this reactor may hold; formulas are checked when a problem is put together."""
        responses: dict[str, Dimension | None] = dict.fromkeys(self.responses)
        balance = None if self.energy is None else balance_of(self.energy, self.reactor, self.basis)
        plain = ReactorModel(self.network, self.reactor, (), {}, self.basis, balance).vocabulary({})
        return replace(plain, responses={**plain.responses, **responses})


def CSTR(
    network: Network,
    *,
    rates: Mapping[str, str | FunctionLaw] | None = None,
    orders: Mapping[str, Mapping[str, Any]] | None = None,
    responses: Mapping[str, str] | None = None,
    basis: str = "volume",
    amounts: str = "concentration",
    tanks: int = 1,
    density: str = "constant",
    energy: Mapping[str, Any] | None = None,
) -> ReactorSetup:
    """A stirred tank at steady state: 0 = (c_feed - c)/tau + nu r, isothermal or with an energy balance.

    Args:
        network: reactions, from `parse_network`.
        rates: rate formulas by reaction in place of mass action: `{"r1": "kf*[A]/(1 + K*[A])"}`; or functions, from `law`.
        orders: orders by reaction and species: `{"r1": {"A": 1.5}}`.
        responses: measured quantities as formulas: `{"X": "1 - [A]/feed[A]"}`.
        basis: what rates are per: "volume", "catalyst_mass" or "catalyst_area"; "turnover" where rates are measured.
        amounts: what rate laws without a formula are functions of: "concentration" or "partial_pressure".
        tanks: how many equal tanks in series share the residence time.
        density: "constant", or "ideal_gas" at constant P, whose volume flow follows mole numbers and temperature; formulas then call
            what flows out, by volume of the feed, `expansion`.
        energy: the energy balance as under `[energy]` of a study: `{"type": "adiabatic", "heat_capacity": "4.18 MJ/m^3/K"}`. The
            temperature is then an answer, `T_feed` a condition, and every reaction has its `r1.dHr`.

    >>> import kinetix as kx
    >>> kx.CSTR(kx.parse_network("A -> B")).reactor.name
    'cstr'
    """
    return _setup(network, TANK, rates, orders, responses, basis_of(basis, amounts), density, tanks, energy)


def Batch(
    network: Network,
    *,
    rates: Mapping[str, str | FunctionLaw] | None = None,
    orders: Mapping[str, Mapping[str, Any]] | None = None,
    responses: Mapping[str, str] | None = None,
    basis: str = "volume",
    amounts: str = "concentration",
    density: str = "constant",
    energy: Mapping[str, Any] | None = None,
) -> ReactorSetup:
    """A closed reactor, with constant or measured temperature or with an energy balance: dc/dt = nu r, or for a gas dn/dt = V nu r.

    Args:
        network: reactions, from `parse_network`.
        rates, orders, responses, basis, amounts, energy: as for `CSTR`; formulas may use initial[A], and the temperature starts at
            `T_initial`.
        density: "constant"; "gas_at_constant_volume", whose pressure `P_total` is an answer; or "gas_at_constant_pressure", whose
            volume relative to that at time zero formulas call `expansion`.

    >>> import kinetix as kx
    >>> vessel = kx.Batch(kx.parse_network("A -> 2 B"), density="gas_at_constant_volume")
    >>> tree = kx.simulate(
    ...     vessel, {"r1.k": "1 1/s", "initial.A": "1 bar", "initial.B": "0 bar"}, conditions={"T": "500 K"}, times=["1 h"]
    ... )
    >>> float(tree["simulation/predicted"].sel(response="P_total")[0, 0].round(9))
    2.0
    """
    return _setup(network, BATCH, rates, orders, responses, basis_of(basis, amounts), density, energy=energy)


def Differential(
    network: Network,
    *,
    rates: Mapping[str, str | FunctionLaw] | None = None,
    orders: Mapping[str, Mapping[str, Any]] | None = None,
    responses: Mapping[str, str] | None = None,
    basis: str = "volume",
    amounts: str = "concentration",
) -> ReactorSetup:
    """Rates measured at known concentrations: rate[r1], rate[A].

    Args:
        network: reactions, from `parse_network`.
        rates, orders, responses, basis, amounts: as for `CSTR`.

    >>> import kinetix as kx
    >>> kx.Differential(kx.parse_network("A -> B")).reactor.measures_rates
    True
    """
    return _setup(network, DIFFERENTIAL, rates, orders, responses, basis_of(basis, amounts))


def TransientCSTR(
    network: Network,
    *,
    rates: Mapping[str, str | FunctionLaw] | None = None,
    orders: Mapping[str, Mapping[str, Any]] | None = None,
    responses: Mapping[str, str] | None = None,
    amounts: str = "concentration",
    energy: Mapping[str, Any] | None = None,
) -> ReactorSetup:
    """A stirred tank over time, from an initial state: dc/dt = (c_feed - c)/tau + nu r.

    Args:
        network: reactions, from `parse_network`.
        rates, orders, responses, amounts, energy: as for `CSTR`; formulas may use feed[A] and initial[A]. With an energy balance
            `T_feed` and `T_initial` are conditions.

    >>> import kinetix as kx
    >>> tank = kx.TransientCSTR(kx.parse_network("A -> B"))
    >>> known = {"r1.k": "0 1/s", "feed.A": "1 mol/L", "feed.B": "0 mol/L", "initial.default": "0 mol/L"}
    >>> tree = kx.simulate(tank, known, conditions={"tau": "10 s"}, times=["10 s"])  # a step of a tracer: 1 - exp(-t/tau)
    >>> float(tree["simulation/predicted"].sel(response="A")[0, 0].round(6))
    0.632121
    """
    return _setup(network, TRANSIENT_CSTR, rates, orders, responses, basis_of("volume", amounts), energy=energy)


def PlugFlow(
    network: Network,
    *,
    density: str,
    rates: Mapping[str, str | FunctionLaw] | None = None,
    orders: Mapping[str, Mapping[str, Any]] | None = None,
    responses: Mapping[str, str] | None = None,
    basis: str = "volume",
    amounts: str = "concentration",
    energy: Mapping[str, Any] | None = None,
) -> ReactorSetup:
    """An ideal tube at steady state: dc/dtau = nu r, or for a gas dF/dV = nu r with c = F/sum(F) P/(R T).

    Args:
        network: reactions, from `parse_network`.
        density: "constant", or "ideal_gas" at constant P, whose volume flow follows mole numbers and temperature.
        rates, orders, responses, basis, amounts, energy: as for `CSTR`; formulas for a gas may use `expansion`, the volume flow
            relative to that of the feed: `{"X": "1 - expansion*[A]/feed[A]"}`.

    >>> import kinetix as kx
    >>> tube = kx.PlugFlow(kx.parse_network("A -> 2 B"), density="ideal_gas", responses={"X": "1 - expansion*[A]/feed[A]"})
    >>> tree = kx.simulate(tube, {"r1.k": "1 1/s", "feed.A": "40 mol/m^3", "feed.B": "0 mol/L"}, conditions={"tau": "1 s"})
    >>> float(tree["simulation/predicted"].sel(response="X")[0, 0].round(4))
    0.5361
    """
    return _setup(network, PLUG_FLOW, rates, orders, responses, basis_of(basis, amounts), density, energy=energy)


def Semibatch(
    network: Network,
    *,
    rates: Mapping[str, str | FunctionLaw] | None = None,
    orders: Mapping[str, Mapping[str, Any]] | None = None,
    responses: Mapping[str, str] | None = None,
    amounts: str = "concentration",
    energy: Mapping[str, Any] | None = None,
) -> ReactorSetup:
    """A stirred vessel that a constant flow fills: dV/dt = q, d(c V)/dt = q c_feed + V nu r.

    Conditions: `V` (volume at time zero), `Q` (volume flow of the feed) and, where the feed does not run all the time,
    `feed_start` and `feed_stop`.

    Args:
        network: reactions, from `parse_network`.
        rates, orders, responses, amounts, energy: as for `CSTR`; formulas may use feed[A], initial[A] and `expansion`, the volume
            relative to that at time zero: `{"X": "1 - expansion*[A]/initial[A]"}`. With an energy balance `T_feed` and `T_initial` are
            conditions.

    >>> import kinetix as kx
    >>> vessel = kx.Semibatch(kx.parse_network("A + B -> C"))
    >>> known = {"r1.k": "0 L/mol/s", "initial.A": "1 mol/L", "feed.B": "2 mol/L", "initial.default": "0 mol/L", "feed.default": "0 mol/L"}
    >>> at = {"V": "1 L", "Q": "0.1 L/min", "feed_stop": "10 min"}
    >>> tree = kx.simulate(vessel, known, conditions=at, times=["5 min", "10 min", "20 min"])
    >>> tree["simulation/predicted"].sel(response="A")[0].values.round(6).tolist()
    [0.666667, 0.5, 0.5]
    """
    return _setup(network, SEMIBATCH, rates, orders, responses, basis_of("volume", amounts), energy=energy)


def _setup(
    network: Network,
    reactor: Reactor,
    rates: Mapping[str, str | FunctionLaw] | None,
    orders: Mapping[str, Mapping[str, Any]] | None,
    responses: Mapping[str, str] | None,
    basis: Basis,
    density: str | None = None,
    tanks: int | None = None,
    energy: Mapping[str, Any] | None = None,
) -> ReactorSetup:
    section = None if energy is None else energy_section(energy)
    book = reactor_of(reactor.name, basis, density, tanks)
    return ReactorSetup(network, book, rates or {}, orders or {}, responses or {}, basis, section)


def estimate(
    start: str | None = None,
    *,
    unit: str | None = None,
    bounds: tuple[str | None, str | None] | None = None,
    scale: str | None = None,
    at: str | None = None,
    fixed: bool = False,
) -> dict[str, Any]:
    """A number to be estimated, as the study file writes it.

    Args:
        start: where the fit starts, with its unit; None: found from the data.
        unit: to report in, where there is no start to take it from.
        bounds: lower and upper bound; None where a side is open.
        scale: "log" or "linear"; rate constants are fitted on a log scale unless said otherwise.
        at: the temperature at which a rate constant with an activation energy holds.
        fixed: keep the start.

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
        seed: of starts that are spread or found in the data; the same seed gives the same starts.
        rtol, atol: of the integration; `atol` is a concentration, of all species or of some by name; default: by species.
        on_iteration: called after each iteration.

    Returns:
        `xarray.DataTree`: parameters, covariance, predictions, conditions, statistics, iterations and more, with units;
        of several starts the group starts says where each began and ended, and which distinct optima there are;
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
    limits, multistart = FitLimits(max_iterations, max_seconds), Multistart(starts, seed)
    problem = put_together(
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
    return fit_tree(fit_problem(problem, limits, on_iteration, multistart))


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
        problems.add(f"{what}: expected a reactor first, found {_kind(reactor)}. Write {what}(Batch(parse_network(...)), ...).")
    elif what == "fit" and not isinstance(campaign, Campaign):
        problems.add(f"{what}: expected data second, found {_kind(campaign)}. Write {what}(reactor, read_csv(path, reactor), ...).")
    for name, value in named.items():
        if value is not None and not isinstance(value, Mapping):
            problems.add(f'{what}: {name} is a mapping such as {{"r1.k": "0.1 1/min"}}, found {_kind(value)}.')
    problems.raise_if_any(InputError)


def _kind(value: object) -> str:
    return f"{type(value).__name__} {value!r:.60}"


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
    how = {"options": options, "rtol": rtol, "atol": atol, "method": method}
    put = assemble(spoken, campaign, given, title=title, sigma=sigma, responses=responses, **how)
    changed = {"rtol": rtol != 1e-8, "max_steps": max_steps != 10_000, "method": method is not None}
    check_solver(reactor.reactor, [name for name, is_changed in changed.items() if is_changed], "")
    return put


def vocabulary_of(model: Network | ReactorSetup, has_time: bool) -> Vocabulary:
    """What a data file may hold, for a reactor or for a network whose reactor is not said yet.

    Raises:
        InputError: neither.
    """
    if not isinstance(model, (Network, ReactorSetup)):
        raise InputError(f"read_csv takes the files, then a reactor or a network; found {_kind(model)}. Write read_csv(path, reactor).")
    if isinstance(model, ReactorSetup):
        return model.vocabulary()
    book = BATCH if has_time else TANK
    vocabulary = ReactorSetup(model, book).vocabulary()
    return replace(vocabulary, conditions={**TANK.conditions_on(VOLUME_BASIS), **vocabulary.conditions}, timed=has_time)
