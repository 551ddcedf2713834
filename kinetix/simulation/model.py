"""The one seam between models and everything that uses them: `predict(model, parameters, lanes)`."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike

from kinetix.constants import GAS_CONSTANT
from kinetix.errors import SolveError
from kinetix.network import FixedKinetics, Kinetics, rates
from kinetix.parameters import FROM_LANE, ConstantBindings, with_literals
from kinetix.precision import fresh, lift
from kinetix.rates import ON_STREAM, Thermal, constants_at
from kinetix.reactors import Lane, Reactor, States
from kinetix.simulation.formulas import Formula
from kinetix.simulation.heat import HeatBindings
from kinetix.solvers import AUTOMATIC, Options, native
from kinetix.status import Status


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["kinetics", "constants", "initial", "feed", "plain", "order", "options", "heat"],
    meta_fields=["reactor", "formulas", "uses_rates", "uses_time_on_stream", "method"],
)
@dataclass(frozen=True)
class Model:
    """A reactor or an explicit formula as a pytree of arrays.

    Attributes:
        kinetics: the network; None for an explicit model.
        constants: positions of the constants' parts in the parameters.
        initial, feed: (species,) positions in the parameters, or `FROM_LANE`.
        plain: positions of the plain responses in the vector of concentrations, of rates and productions where `uses_rates`, of
            temperatures where it has an energy balance, and of the total pressure where that is an answer.
        order: (response,) positions of the responses among the plain ones followed by the formulas.
        options: tolerances and limits of the solver.
        reactor: the book from the shelf; None for an explicit model.
        formulas: responses that are formulas.
        uses_rates: whether a response needs the rates at the states.
        uses_time_on_stream: whether a rate depends on the time on stream, which the lanes then hold.
        heat: of the energy balance; None where the temperature is given.
        method: another integrator, one of `methods.METHODS`, for values without derivatives; "": kinetix's own.
    """

    kinetics: Kinetics | None
    constants: ConstantBindings
    initial: jax.Array | np.ndarray
    feed: jax.Array | np.ndarray
    plain: jax.Array | np.ndarray
    order: jax.Array | np.ndarray
    options: Options
    reactor: Reactor | None
    formulas: tuple[Formula, ...]
    uses_rates: bool
    uses_time_on_stream: bool = False
    heat: HeatBindings | None = None
    method: str = ""


class Prediction(NamedTuple):
    """Predicted responses of lanes.

    Attributes:
        values: SI, (lane, time, response); NaN where the solve failed.
        status: `kinetix.status.Status`, (lane,), int.
        steps: integration steps or iterations, (lane,), int.
        t_reached: the time up to which each lane was followed, s, (lane,); 0 where nothing is integrated.
    """

    values: jax.Array
    status: jax.Array
    steps: jax.Array
    t_reached: jax.Array


def predict(model: Model, parameters: ArrayLike, lanes: Lane) -> Prediction:
    """Responses of all lanes, in float64 whatever the host's precision; differentiable in parameters and lanes.

    Args:
        model: reactor, network and responses.
        parameters: physical values, SI, (parameter,).
        lanes: arrays with a leading lane axis, SI: `times`, `T`, `tau`, `feed`, `initial`, ...

    Returns:
        `Prediction`: NumPy arrays; under a host's jit, vmap or grad JAX arrays, in the host's dtype.

    Raises:
        SolveError: under jit, vmap or grad with another method than kinetix's own.

    >>> import kinetix as kx
    >>> tank = kx.problem(
    ...     kx.CSTR(kx.parse_network("A -> B")),
    ...     {"r1.k": "1 1/min", "feed.A": "1 mol/L", "feed.B": "0 mol/L"},
    ...     conditions={"tau": "3 min"},
    ... )
    >>> kx.predict(tank.model, tank.parameters, tank.lanes).values.round(9).tolist()  # mol/m^3: A, B
    [[[250.0, 750.0]]]
    """
    traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((model, parameters, lanes)))
    if model.method:
        if traced:
            raise SolveError(
                f'method = "{model.method}" gives values without derivatives, outside of jit, vmap and grad only. Leave it out:'
                " kinetix's own method works in them."
            )
        from kinetix.simulation.methods import predict_by  # it builds on this file

        return predict_by(model.method, model, parameters, lanes)
    many = AUTOMATIC.wants(_lane_count(lanes), 0 if model.kinetics is None else model.kinetics.stoichiometry.shape[0])
    if many:
        model = _for_many_lanes(model)
    if traced:
        # lane by lane, so that a lane's derivatives stay its own under a 32-bit host as well
        return jax.vmap(_respond64, (None, None, 0))(model, parameters, jax.tree.map(jnp.asarray, fresh(dict(lanes))))
    if many and jax.default_backend() == "cpu":
        return _on_all_cores(model, parameters, lanes)
    return _predict64(model, parameters, lanes)


def _lane_count(lanes: Lane) -> int:
    return np.shape(jax.tree.leaves(lanes)[0])[0]


def _for_many_lanes(model: Model) -> Model:
    """The model with its network as part of the program: the engine for ensembles reads only that."""
    if model.kinetics is None or any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(model.kinetics)):
        return model
    return replace(model, kinetics=FixedKinetics.of(model.kinetics))


def _on_all_cores(model: Model, parameters: ArrayLike, lanes: Lane) -> Prediction:
    """Equal parts of the lanes, each enough for the engine for ensembles and in a thread of its own: XLA runs such a call on one core.

    The last part is filled up with its last lane, so that all parts run the same program.
    """
    count = _lane_count(lanes)
    parts = max(1, min(cores(), count // AUTOMATIC.lanes))
    size = -(-count // parts)
    places = np.minimum(np.arange(parts * size), count - 1).reshape(parts, size)
    pieces = [jax.tree.map(lambda x, at=at: np.asarray(x)[at], dict(lanes)) for at in places] if parts > 1 else [lanes]
    with ThreadPoolExecutor(parts) as threads:
        done = list(threads.map(lambda piece: _predict_many64(model, parameters, piece), pieces))
    return jax.tree.map(lambda *arrays: np.concatenate(arrays)[:count], *done)


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def respond(model: Model, parameters: jax.Array, lane: Lane) -> Prediction:
    """Responses of one lane, (time, response), in the precision in force."""
    model, thermal, lane = prepared(model, parameters, lane)
    if model.reactor is None or model.kinetics is None:
        states = _explicit(constants_at(thermal, lane["T"]), lane)
    else:
        states = model.reactor.solve(model.kinetics, thermal, lane, model.options)
    return Prediction(responses_of(model, states, lane), states.status, states.steps, states.t_reached)


def prepared(model: Model, parameters: jax.Array, lane: Lane) -> tuple[Model, Thermal, Lane]:
    """What a reactor's solve of one lane takes: the model as arrays, its constants, and the lane with its amounts and heat."""
    model, parameters, lane = jax.tree.map(jnp.asarray, (model, parameters, dict(lane)))
    thermal, lane = placed(model, parameters, lane)
    return model, thermal, lane


def placed(model: Model, parameters: jax.Array, lane: Lane) -> tuple[Thermal, Lane]:
    """The constants of the laws, and the lane with its amounts and its heat: what a reactor reads."""
    amounts = {name: _amounts(getattr(model, name), parameters, lane[name]) for name in ("initial", "feed") if name in lane}
    lane = {**lane, **amounts}
    thermal = model.constants.thermal(parameters, lane[ON_STREAM] if model.uses_time_on_stream else None)
    return thermal, lane if model.heat is None else {**lane, "heat": model.heat.of(parameters, lane)}


def _predict_all(model: Model, parameters: jax.Array, lanes: Lane) -> Prediction:
    return jax.vmap(respond, (None, None, 0))(model, parameters, lanes)


_respond64 = lift(respond)
_predict64 = lift(_predict_all)
_predict_many64 = lift(_predict_all, native.OPTIONS)


def _amounts(positions: jax.Array, parameters: jax.Array, given: jax.Array) -> jax.Array:
    return jnp.where(positions == FROM_LANE, given, with_literals(parameters)[positions])


def _explicit(constants: jax.Array, lane: Lane) -> States:
    zero = jnp.zeros((), jnp.int32)
    nothing = jnp.zeros((1, 0), constants.dtype)
    return States(nothing, lane["T"][None], constants[None], zero + int(Status.SUCCESS), zero, jnp.zeros_like(lane["T"]))


def responses_of(model: Model, states: States, lane: Lane) -> jax.Array:
    """The responses of what a reactor did, (time, response), SI."""
    vectors = {"c": states.c, "T": states.T[:, None], "constant": states.constants, "time": lane["times"][:, None]}
    vectors["expansion"] = jnp.broadcast_to(states.expansion, states.T.shape)[:, None]
    if any(vector == "pressure" for formula in model.formulas for _, (vector, _) in formula.places):
        vectors["pressure"] = states.c * (GAS_CONSTANT * states.T[:, None])
    parts = [states.c]
    if model.uses_rates and model.kinetics is not None:
        kinetics = model.kinetics
        vectors["rate"] = jax.vmap(lambda k, T, c: rates(kinetics, k, T, c))(states.constants, states.T, states.c)
        vectors["production"] = vectors["rate"] @ kinetics.stoichiometry.T
        parts += [vectors["rate"], vectors["production"]]
    if model.heat is not None:
        parts.append(vectors["T"])
    if states.jacket is not None:
        vectors["T_jacket"] = states.jacket[:, None]
        parts.append(vectors["T_jacket"])
    if model.reactor is not None and model.reactor.ideal_gas_at == "volume":
        vectors["P_total"] = GAS_CONSTANT * states.T[:, None] * jnp.sum(states.c, axis=1, keepdims=True)
        parts.append(vectors["P_total"])
    for name in ("feed", "initial", "predictors"):
        if name in lane:
            vectors[name.removesuffix("s")] = lane[name][None]
    vectors.update({name: lane[name][None, None] for name in ("tau", ON_STREAM) if name in lane})
    plain = jnp.concatenate(parts, axis=1)[:, model.plain]
    size = states.T.shape
    written = [jnp.broadcast_to(formula.value(vectors), size)[:, None] for formula in model.formulas]
    return jnp.concatenate([plain, *written], axis=1)[:, model.order]
