"""All steady states of one lane of a model, and the curves that they lie on over one of its conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.network import corners, mixtures
from kinetix.precision import float64
from kinetix.reactors import Rest, States
from kinetix.simulation.model import Model, placed, responses_of
from kinetix.solvers import Axis, Family, Multiplicity, all_states, curves_through
from kinetix.status import Status

TIME_ON = "tau"
"""The condition that is zero where the feed is the only state."""

ALONG = {TIME_ON: "tau", "T": "T", "T_feed": "T_start", "T_coolant": "T_coolant"}
"""Conditions along which steady states can be followed, and the arrays of a lane that hold them."""

STARTS = 192
BATCH = 256
"""Points that are evaluated together, once they are known."""

SPAN = 1e3
"""How far the residence time is followed to either side, as a factor."""

RANK = 1e-10
"""Of a direction in which reactions change the composition, relative to the largest."""

LEAST_RISE = 10.0
"""K; the size of temperature where reactions hardly change it."""


class Shown(NamedTuple):
    """States in SI.

    Attributes:
        c: concentrations, mol/m^3, (state, species), padded.
        T: temperature, K, (state,).
        responses: of the model, (state, response).
    """

    c: jax.Array | np.ndarray
    T: jax.Array | np.ndarray
    responses: jax.Array | np.ndarray


class Branches(NamedTuple):
    """All steady states of a lane that were found, and the curves through them.

    Attributes:
        found: states and curves, as the solver gives them.
        states: what the states are like; NaN where they could not be refined.
        points: what the points of all curves are like, one curve after the other.
        values: of the condition at the points, SI, (point,).
    """

    found: Multiplicity
    states: Shown
    points: Shown
    values: np.ndarray


def branches(
    model: Model,
    parameters: np.ndarray,
    lane: Mapping[str, Any],
    *,
    known: np.ndarray | None = None,
    along: str = TIME_ON,
    between: tuple[float, float] | None = None,
) -> Branches:
    """All steady states of one lane, and the curves through them.

    Args:
        model: a tank at steady state (`Reactor.at_rest`).
        parameters: physical values, SI, (parameter,).
        lane: one lane, without a lane axis.
        known: a state that is known to be one: concentrations and, where that is a state, temperature.
        along: one of `ALONG`.
        between: the ends of the range of that condition, SI, around its value in the lane; of the residence time may be left out: a factor
            of 1,000 to either side.
    """
    with float64():
        inputs: Inputs = jax.tree.map(jnp.asarray, (model, np.asarray(parameters, float), dict(lane)))
    tau = float(lane[TIME_ON])
    axis = Axis(tau, tau / SPAN, tau * SPAN, logarithmic=True)
    if along == TIME_ON and between is not None:
        axis = Axis(tau, *between, logarithmic=True)
    family, starts = _family(inputs)
    starts = np.concatenate([starts, family.origin[None] if known is None else known[None]])
    found = all_states(family, axis, starts, from_zero=True)
    if along != TIME_ON and between is not None:
        axis = Axis(float(lane[ALONG[along]]), *between)
        family = replace(family, evaluate=partial(_on_the_host, ALONG[along], inputs))
        found = curves_through(family, axis, found)
    if model.heat is not None:  # by temperature; what could not be refined stays last
        found = replace(found, states=tuple(sorted(found.states, key=lambda one: (not one.status.ok, one.y[-1]))))
    points = np.array([point.x for curve in found.curves for point in curve.points]).reshape(-1, family.dimension + 1)
    values = np.array([axis.outer(float(s)) for s in points[:, -1]])
    states = np.array([one.y for one in found.states]).reshape(-1, len(family.origin))
    show = partial(_show, ALONG[along], inputs)
    return Branches(found, show(states, np.full(len(states), axis.wanted)), show(family.states(points[:, :-1]), values), values)


Inputs = tuple[Model, Any, dict[str, Any]]
"""Model, parameters and lane as float64 arrays."""


def _family(inputs: Inputs) -> tuple[Family, np.ndarray]:
    """The family over the residence time, and states to begin Newton iteration at, (start, entry)."""
    model, _, _ = inputs
    assert model.kinetics is not None
    S = np.asarray(model.kinetics.stoichiometry)
    with float64():
        origin = np.asarray(_origin(inputs))
    feed, heated = origin[: len(S)], len(origin) > len(S)
    polytope = corners(feed, S)
    starts = mixtures(polytope, STARTS)
    left, singular, _ = np.linalg.svd(S)
    rank = int(np.count_nonzero(singular > RANK * singular.max(initial=0.0)))
    directions = np.zeros((len(origin), rank + heated))
    directions[: len(S), :rank] = left[:, :rank]
    size = np.full(len(origin), max(float(polytope.max()), np.finfo(float).tiny))
    if heated:
        directions[-1, -1] = 1.0
        extents = (starts - feed) @ np.linalg.pinv(S).T
        with float64():
            T = np.asarray(_temperatures(inputs, jnp.asarray(extents)))
        size[-1] = max(float(np.ptp(T)), LEAST_RISE)
        starts = np.column_stack([starts, T])
    return Family(partial(_on_the_host, ALONG[TIME_ON], inputs), origin, size, directions), starts


def _on_the_host(name: str, inputs: Inputs, y: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with float64():
        rates, jacobian, slope = _evaluate(name, inputs, y, p)
    return np.asarray(rates), np.asarray(jacobian), np.asarray(slope)


def _at_rest(inputs: Inputs) -> Rest:
    model, parameters, lane = inputs
    assert model.reactor is not None and model.reactor.at_rest is not None and model.kinetics is not None
    return model.reactor.at_rest(model.kinetics, *placed(model, parameters, lane))


def _with(inputs: Inputs, name: str, value: Any) -> Inputs:
    model, parameters, lane = inputs
    return model, parameters, {**lane, name: value}


@jax.jit
def _origin(inputs: Inputs) -> jax.Array:
    return _at_rest(inputs).start


@jax.jit
def _temperatures(inputs: Inputs, extents: jax.Array) -> jax.Array:
    """Of a tank at rest with such extents of the reactions, (start,)."""
    model, parameters, lane = inputs
    assert model.kinetics is not None
    _, lane = placed(model, parameters, lane)
    stoichiometry = jnp.asarray(model.kinetics.stoichiometry)
    return jax.vmap(lambda x: lane["heat"].temperature(lane["feed"], stoichiometry, x, lane["tau"]))(extents)


@partial(jax.jit, static_argnums=0)
def _evaluate(name: str, inputs: Inputs, y: Any, p: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
    def one(y: jax.Array, p: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        def rates(p: jax.Array) -> jax.Array:
            rest = _at_rest(_with(inputs, name, p))
            return rest.system.rates(jnp.zeros_like(p), y, rest.args)

        rest = _at_rest(_with(inputs, name, p))
        found, slope = jax.jvp(rates, (p,), (jnp.ones_like(p),))
        return found, rest.system.matrix(jnp.zeros_like(p), y, rest.args), slope

    return jax.vmap(one)(y, p)


def _show(name: str, inputs: Inputs, y: np.ndarray, p: np.ndarray) -> Shown:
    """What states are like at values of the condition."""
    number = -(-max(len(y), 1) // BATCH) * BATCH
    filled = np.resize(y, (number, y.shape[1])), np.resize(p, number)
    with float64():
        shown = jax.tree.map(np.asarray, [_shown(name, inputs, *(x[i : i + BATCH] for x in filled)) for i in range(0, number, BATCH)])
    return Shown(*(np.concatenate(parts)[: len(y)] for parts in zip(*shown, strict=True)))


@partial(jax.jit, static_argnums=0)
def _shown(name: str, inputs: Inputs, y: Any, p: Any) -> Shown:
    def one(y: jax.Array, p: jax.Array) -> Shown:
        model, parameters, lane = _with(inputs, name, p)
        c, T, constants = _at_rest((model, parameters, lane)).contents(y)
        zero = jnp.zeros((), jnp.int32)
        states = States(c[None], T[None], constants[None], zero + int(Status.SUCCESS), zero, jnp.zeros_like(T))
        return Shown(c, T, responses_of(model, states, placed(model, parameters, lane)[1])[0])

    return jax.vmap(one)(y, p)
