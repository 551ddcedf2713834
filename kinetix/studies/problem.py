"""A problem: model, parameters and data put together and checked; what fits and simulations start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import fsum

import numpy as np

from kinetix.errors import ConditionError, InputError, ParameterError, Problems
from kinetix.estimation.losses import Loss
from kinetix.experiments import Campaign
from kinetix.network import stack_laws
from kinetix.padding import padded
from kinetix.parameters import FROM_LANE, BoundConstant, ConstantBook, Derivable, Number, ParameterTable, Reporting, bindings, unit_of
from kinetix.rates import ON_STREAM, Law
from kinetix.simulation import Choice, Model, ReactorModel, Spoken, check_method, measured_responses
from kinetix.solvers import Options
from kinetix.studies.amounts import amounts_by_lane
from kinetix.studies.constants import law_constants, named_positions
from kinetix.studies.energy import heat_bindings, heat_positions
from kinetix.studies.given import Given
from kinetix.studies.lanes import lane_arrays
from kinetix.studies.measurements import measurements, sigma_meaning
from kinetix.studies.noise import NoiseModel, bind_noise, started
from kinetix.studies.responses import (
    as_compared,
    in_law_order,
    meanings,
    mentions_temperature,
    mentions_time_on_stream,
    place_responses,
    without_column,
)
from kinetix.units import CONCENTRATION, Unit, time_unit_of


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything a fit or a simulation needs.

    Attributes:
        title: for reports.
        spoken: the model in names.
        campaign: conditions and measurements.
        table: the parameters.
        constants: the constants of the laws, in the order of the model's vector of constants.
        derived: pre-exponential factors and entropies of activation that follow from the parameters.
        model: the model as arrays.
        lanes: the experiments as arrays.
        responses: names of the predicted responses.
        units: their units.
        observed: measured values, SI (logarithms where logarithms are compared), (lane, time, response); 0 where not measured.
        weights: 1/sigma, or 1/unit where no sigma is given, in 1/SI, (lane, time, response); 0 where not measured.
        sigma: standard deviations as given, SI, NaN where none, (lane, time, response).
        sigma_meaning: "trusted", "scaled", "estimated" or "modelled", see `measurements.sigma_meaning`.
        reporting: units of the data, for what is reported without a unit of its own.
        law_order: of each reaction, the position of its law among the stacked ones, (reaction,).
        loss: robust, or None for least squares.
        noise: standard deviations that are estimated; None where they are given or come from the residuals.
    """

    title: str
    spoken: Spoken
    campaign: Campaign
    table: ParameterTable
    constants: tuple[BoundConstant, ...]
    derived: tuple[Derivable, ...]
    model: Model
    lanes: dict[str, np.ndarray]
    responses: tuple[str, ...]
    units: tuple[Unit, ...]
    observed: np.ndarray
    weights: np.ndarray
    sigma: np.ndarray
    sigma_meaning: str
    reporting: Reporting
    law_order: np.ndarray
    loss: Loss | None = None
    noise: NoiseModel | None = None

    @property
    def timed(self) -> bool:
        """Whether anything in it depends on time."""
        return isinstance(self.spoken, ReactorModel) and self.spoken.reactor.timed

    @property
    def integrated(self) -> bool:
        """Whether its predictions come from an integration, to its tolerance."""
        return isinstance(self.spoken, ReactorModel) and self.spoken.reactor.integrated

    @property
    def parameters(self) -> np.ndarray:
        """Known values and starts, SI, (parameter,)."""
        return self.table.start


def assemble(
    spoken: Spoken,
    campaign: Campaign,
    given: Given,
    *,
    title: str = "",
    sigma: str | None = None,
    options: Options | None = None,
    rtol: float = 1e-8,
    atol: float | Mapping[str, float] | None = None,
    responses: Choice = measured_responses,
    method: str | None = None,
    loss: Loss | None = None,
) -> Problem:
    """Put a problem together.

    Args:
        spoken: the model in names.
        campaign: conditions and measurements.
        given: constants and amounts.
        title: for reports.
        sigma: how given sigmas are meant, "trusted" or "scaled"; must be None where the data have none.
        options: of the solver.
        rtol: relative tolerance of the solver.
        atol: absolute tolerance, mol/m^3, of all species or of some by name; default: see `tolerances.scales`.
        responses: chooses what to predict.
        method: another integrator, for values without derivatives.
        loss: robust, or None for least squares.

    Raises:
        InputError: everything that is missing or impossible, at once.
    """
    problems = Problems()
    with problems.collecting():
        check_tolerances(rtol, atol)
    if method is not None:
        with problems.collecting():
            check_method(method)
    if campaign.mask.any():
        campaign = replace(campaign, notes=(*campaign.notes, *without_column(spoken, campaign), *meanings(spoken)))
    book = ConstantBook(reference_temperature(spoken, campaign), reporting_of(campaign, given))
    named = named_positions(book, spoken, given, problems)
    laws: tuple[Law, ...] = spoken.laws if isinstance(spoken, ReactorModel) else ()
    position = law_constants(book, spoken, given, named, problems) if isinstance(spoken, ReactorModel) else {}
    feed, feed_positions = amounts_by_lane(book, spoken, campaign, given.feed, "feed", problems)
    initial, initial_positions = amounts_by_lane(book, spoken, campaign, given.initial, "initial", problems)
    heat_places = None
    if isinstance(spoken, ReactorModel) and given.heat is not None:
        heat_places = heat_positions(book, given.heat, spoken.network, position, problems)
    problems.raise_if_any(InputError)
    names = responses(spoken, campaign)
    noise = None
    if responses is measured_responses:  # where everything is predicted, nothing is compared
        with problems.collecting():
            noise = bind_noise(book, spoken, campaign, names)
    if loss is not None and noise is not None:
        problems.add(
            f"[fit] loss beside an estimated sigma ([noise] {', '.join(campaign.noise)}): a robust loss finds the scatter by itself."
            " Keep one of them."
        )
    problems.raise_if_any(InputError)
    table = book.table()
    with problems.collecting():
        plain, order, formulas, uses_rates = place_responses(spoken, names, {c.name: i for i, c in enumerate(book.constants)}, book)
    temperature_needed = any(c.thermal for c in book.constants) or mentions_temperature(spoken, names, campaign)
    lanes: dict[str, np.ndarray] = {}
    with problems.collecting():
        lanes = lane_arrays(
            spoken,
            campaign,
            feed,
            initial,
            temperature_needed,
            rtol,
            atol,
            on_stream=mentions_time_on_stream(spoken, names),
            feed_estimated=bool((feed_positions != FROM_LANE).any()),
            initial_estimated=bool((initial_positions != FROM_LANE).any()),
            estimated=(feed_positions != FROM_LANE) | (initial_positions != FROM_LANE),
        )
    meaning = "estimated"
    with problems.collecting():
        meaning = sigma_meaning(campaign, sigma)
    problems.raise_if_any(InputError)

    kinetics, rate_order = None, np.zeros(0, dtype=np.int32)
    if isinstance(spoken, ReactorModel):
        net = spoken.network
        kinetics, rate_order = stack_laws(laws, net.stoichiometry, net.species, lambda i, name: position[f"{net.reactions[i].name}.{name}"])
    n = padded(len(spoken.network.species)) if isinstance(spoken, ReactorModel) else 0
    m = kinetics.stoichiometry.shape[1] if kinetics is not None else 0
    heat = None
    if isinstance(spoken, ReactorModel) and given.heat is not None and heat_places is not None:
        heat = heat_bindings(heat_places, given.heat, spoken.network, rate_order, m, n)
    behind = n + (m + n if uses_rates else 0)
    answers = {name: behind + i for i, name in enumerate(spoken.answers)} if isinstance(spoken, ReactorModel) else {}
    offsets = {"c": 0, "rate": n, "production": n + m, **answers}
    model = Model(
        kinetics=kinetics,
        constants=bindings(book.constants, padded(max(1, len(book.constants)))),
        initial=initial_positions,
        feed=feed_positions,
        plain=np.array([offsets[v] + (rate_order[i] if v == "rate" else i) for v, i in plain], dtype=np.int32),
        order=order,
        reactor=spoken.reactor if isinstance(spoken, ReactorModel) else None,
        formulas=tuple(in_law_order(formula, rate_order) for formula in formulas),
        uses_rates=uses_rates,
        uses_time_on_stream=any(law.uses_time_on_stream for law in laws),
        options=options or Options(),
        heat=heat,
        method=method or "",
    )
    dimensions = {c.name: c.unit.dimension for c in book.constants}
    units, observed, weights, sigmas = measurements(spoken, campaign, names, dimensions, book.reporting)
    if noise is not None:
        table, weights = started(table, noise, units, observed, weights)
    return Problem(
        title=title,
        spoken=spoken,
        campaign=campaign,
        table=table,
        constants=tuple(book.constants),
        derived=tuple(book.derived),
        model=model,
        lanes=lanes,
        responses=tuple(as_compared(spoken, name) for name in names),
        units=units,
        observed=observed,
        weights=weights,
        sigma=sigmas,
        sigma_meaning=meaning,
        reporting=book.reporting,
        law_order=rate_order,
        loss=loss,
        noise=noise,
    )


def check_tolerances(rtol: float, atol: float | Mapping[str, float] | None) -> None:
    """That tolerances of the integration can be met.

    Raises:
        ParameterError: a relative one outside (0, 1), an absolute one that is not above zero.
    """
    problems = []
    if not (isinstance(rtol, (int, float)) and 0 < rtol < 1):
        problems.append(f"rtol = {rtol!r}: expected a number above 0 and below 1, for example 1e-8.")
    for name, value in (atol if isinstance(atol, Mapping) else {} if atol is None else {"": atol}).items():
        if not value > 0:
            what = f"atol{name and '.'}{name}"
            problems.append(f'{what} is {value:g} mol/m^3: expected a concentration above 0, for example "1e-9 mol/L".')
    if problems:
        raise ParameterError(*problems)


def only_measured(problem: Problem) -> Problem:
    """The problem without the times at which nothing was measured: a deleted value leaves no trace, not even a stop of the integration.

    An experiment in which nothing was measured at all keeps its times.
    """
    campaign = problem.campaign
    kept = np.any(problem.weights > 0, axis=2)
    kept[~kept.any(axis=1)] = True
    if kept.all():
        return problem
    width = kept.sum(axis=1).max()
    rows = np.stack([np.resize(np.flatnonzero(kept[lane]), width) for lane in range(len(kept))])
    rows = np.maximum.accumulate(rows, axis=1)  # the last time repeated
    real = np.arange(width) < kept.sum(axis=1)[:, None]

    def taken(array: np.ndarray) -> np.ndarray:
        return array[np.arange(len(rows))[:, None], rows]

    times = taken(campaign.times)
    mask = taken(campaign.mask) & real[..., None]
    return replace(
        problem,
        campaign=replace(
            campaign,
            times=times,
            values=np.where(mask, taken(campaign.values), np.nan),
            mask=mask,
            sigma=np.where(mask, taken(campaign.sigma), np.nan),
            lines=np.where(real, taken(campaign.lines), 0),
        ),
        lanes={**problem.lanes, "times": times},
        observed=np.where(real[..., None], taken(problem.observed), 0.0),
        weights=np.where(real[..., None], taken(problem.weights), 0.0),
        sigma=np.where(real[..., None], taken(problem.sigma), np.nan),
    )


def temperatures_vary(campaign: Campaign) -> bool:
    """Whether the data hold more than one temperature."""
    T = campaign.programs["T"][1] if "T" in campaign.programs else campaign.conditions.get("T")
    return T is not None and bool(np.ptp(T) > 0)


def temperatures(spoken: Spoken, campaign: Campaign) -> np.ndarray | None:
    """All temperatures of the data, K, in any order; None where they hold none.

    With an energy balance those that were measured, or else those at which it starts.
    """
    if isinstance(spoken, ReactorModel) and spoken.energy is not None:
        measured = _measured_temperatures(campaign)
        return campaign.conditions.get(spoken.reactor.heated_from) if measured is None else measured
    return campaign.programs["T"][1] if "T" in campaign.programs else campaign.conditions.get("T")


def _measured_temperatures(campaign: Campaign) -> np.ndarray | None:
    """Temperatures that are responses, K; None where none was measured."""
    column = next((i for i, response in enumerate(campaign.responses) if response.name == "T"), None)
    if column is None or not campaign.mask[..., column].any():
        return None
    return campaign.values[..., column][campaign.mask[..., column]]


def conditions_without_effect(problem: Problem) -> list[str]:
    """Sentences about conditions that differ over the data while nothing in the model asks for them."""
    return [*_temperature_without_effect(problem), *_time_on_stream_without_effect(problem)]


def _time_on_stream_without_effect(problem: Problem) -> list[str]:
    found = problem.campaign.conditions.get(ON_STREAM)
    if found is None or ON_STREAM in problem.lanes or not isinstance(problem.spoken, ReactorModel):
        return []
    unit = problem.campaign.condition_units[ON_STREAM]
    span = dict.fromkeys(f"{float(unit.from_si(value)):.6g}" for value in (found.min(), found.max()))
    return [
        f"A time on stream is given ({' to '.join(span)} {unit.text}), but no rate depends on it. Write kd = {{}} beside the"
        " constant of each reaction whose catalyst loses activity."
    ]


def _temperature_without_effect(problem: Problem) -> list[str]:
    """A sentence where the temperatures of the data differ and nothing in the model asks for them."""
    asked = any(c.thermal for c in problem.constants) or mentions_temperature(problem.spoken, problem.responses, problem.campaign)
    if asked or not isinstance(problem.spoken, ReactorModel) or not temperatures_vary(problem.campaign):
        return []
    T = temperatures(problem.spoken, problem.campaign)
    assert T is not None
    own = [c for c in problem.constants if c.reference != FROM_LANE]
    names = [c.name for c in own if not problem.table.fixed[c.reference]] or [c.name for c in own]
    taken = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} taken as" if len(names) <= 3 else "the rate constants are taken as"
    return [
        f"The temperature varies from {T.min():.6g} to {T.max():.6g} K, but {taken} independent of it. Write Ea = {{}} (to estimate it)"
        " or a known Ea beside each constant that depends on T."
    ]


def time_of(campaign: Campaign) -> str:
    """The unit of time of the data: of the times, the residence time, the space velocity, the flow, the rates; s where there is none."""
    written = [campaign.time_unit, *(campaign.condition_units.get(name) for name in ("tau", "1/tau", "Q"))]
    written += [response.unit for response in campaign.responses]
    return next((time for unit in written if unit is not None and (time := time_unit_of(unit)) is not None), "s")


def reporting_of(campaign: Campaign, given: Given) -> Reporting:
    """The units of concentration and time of the data; where they show none, those of the amounts that the user gave."""
    stated: list[Number] = [*given.feed.given.values(), *given.initial.given.values()]
    stated += [default for default in (given.feed.default, given.initial.default) if default is not None]
    units = [response.unit for response in campaign.responses] + list(campaign.condition_units.values())
    units += [unit for unit in map(unit_of, stated) if unit is not None]
    concentration = next((unit.text for unit in units if unit.dimension == CONCENTRATION), Reporting.concentration)
    stream = campaign.condition_units.get(ON_STREAM)
    return Reporting(concentration, time_of(campaign), time_unit_of(stream) if stream is not None else None)


def reference_temperature(spoken: Spoken, campaign: Campaign) -> float | None:
    """Harmonic mean of the temperatures of all measured values, K; of all experiments where nothing is measured. None without T.

    With an energy balance it is that of the measured temperatures, or else of those at which it starts.

    At it the estimates of ln k and Ea of equally weighted ln k are uncorrelated (Schwaab & Pinto 2007).

    Raises:
        ConditionError: a temperature that is not above 0 K.
    """
    if isinstance(spoken, ReactorModel) and spoken.energy is not None:
        found = temperatures(spoken, campaign)
        if found is not None and np.all(found > 0):
            return len(found) / fsum(1.0 / found)
        return None
    if "T" in campaign.programs:
        times, nodes = campaign.programs["T"]
        T = np.stack([np.interp(t, x, y) for t, x, y in zip(campaign.times, times, nodes, strict=True)])
    elif "T" in campaign.conditions:
        T = np.broadcast_to(np.asarray(campaign.conditions["T"])[:, None], campaign.times.shape)
    else:
        return None
    if not np.all(T > 0):
        lane = int(np.argmin(T.min(axis=1)))
        raise ConditionError(
            f"Experiment '{campaign.experiments[lane]}': T is {T.min():g} K, and temperatures are above 0 K. Look at its unit (K or degC)."
        )
    counts = campaign.mask.sum(axis=2) if campaign.mask.any() else np.ones(campaign.times.shape)
    # exactly rounded sums: the order of the experiments and empty rows leave no trace in the last digit
    return fsum(counts.ravel()) / fsum((counts / T).ravel())
