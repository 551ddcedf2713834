"""Reactors with a network in them, as a Python program writes them down: what `fit`, `simulate` and `read_csv` take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kinetix.errors import InputError
from kinetix.experiments import Vocabulary
from kinetix.network import Network
from kinetix.rates import VOLUME_BASIS, Basis, FunctionLaw
from kinetix.reactors import BATCH, DIFFERENTIAL, PLUG_FLOW, SEMIBATCH, TRANSIENT_CSTR, Reactor
from kinetix.reactors import CSTR as TANK
from kinetix.simulation import ReactorModel
from kinetix.studies.building import basis_of, reactor_of
from kinetix.studies.energy import balance_of
from kinetix.studies.schema import EnergySection, energy_section
from kinetix.units import Dimension


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


def vocabulary_of(model: Network | ReactorSetup, has_time: bool) -> Vocabulary:
    """What a data file may hold, for a reactor or for a network whose reactor is not said yet.

    Raises:
        InputError: neither.
    """
    if not isinstance(model, (Network, ReactorSetup)):
        raise InputError(f"read_csv takes the files, then a reactor or a network; found {kind_of(model)}. Write read_csv(path, reactor).")
    if isinstance(model, ReactorSetup):
        return model.vocabulary()
    book = BATCH if has_time else TANK
    vocabulary = ReactorSetup(model, book).vocabulary()
    return replace(vocabulary, conditions={**TANK.conditions_on(VOLUME_BASIS), **vocabulary.conditions}, timed=has_time)


def kind_of(value: object) -> str:
    """What came in the place of something else, for errors."""
    return f"{type(value).__name__} {value!r:.60}"
