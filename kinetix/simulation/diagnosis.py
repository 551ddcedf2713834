"""Why the integration of one lane failed, in terms of species and reactions."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from kinetix.network import Kinetics, rates, rates_jacobian
from kinetix.precision import float64
from kinetix.reactors import Inside, Integrated, Lane
from kinetix.simulation.model import Model, prepared
from kinetix.solvers import Attempt, last_attempt


class Diagnosis(NamedTuple):
    """What a lane was at where its integration stopped; NumPy arrays, SI.

    Attributes:
        attempt: the step that it did not take. Its entries are concentrations (molar flows per feed flow in a gas), then the temperature
            where it is a state.
        lowest: below what an entry ends the integration, (n,).
        part: which part of the way was done, 0 to 1.
        rates: of the laws, in the order of the network's stacks, mol/m^3/s, (law,).
        speeds: of the laws, 1/s; in a tube per residence time, (law,).
    """

    attempt: Attempt
    lowest: np.ndarray
    part: float
    rates: np.ndarray
    speeds: np.ndarray


@jax.jit
def _speeds(kinetics: Kinetics, inside: Inside) -> tuple[jax.Array, jax.Array]:
    """Rates, and how fast each reaction alone would relax: of dc/dt = nu_j r_j the one eigenvalue that is not zero, nu_j . dr_j/dc.

    Not the largest rate, since a fast rate alone forces no small step: what does is the time in which the rate itself changes.
    """
    c, T, constants, *_ = inside
    slopes = rates_jacobian(kinetics, constants, T, c)
    return rates(kinetics, constants, T, c), jnp.abs(jnp.sum(jnp.asarray(kinetics.stoichiometry).T * slopes, axis=1))


def diagnose(model: Model, parameters: ArrayLike, lane: Lane) -> Diagnosis | None:
    """Follows a lane that failed again, by the general program, and looks at its last attempt; None where nothing is integrated.

    Args:
        model: as given to `predict`.
        parameters: physical values, SI, (parameter,).
        lane: arrays of one lane, SI.
    """
    if model.reactor is None or model.kinetics is None or not isinstance(model.reactor.solve, Integrated):
        return None
    with float64():
        model, thermal, lane = prepared(model, jnp.asarray(parameters), lane)
        assert model.reactor is not None and model.kinetics is not None and isinstance(model.reactor.solve, Integrated)
        posed = model.reactor.solve.pose(model.kinetics, thermal, lane, model.options)
        attempt = last_attempt(posed.system, posed.y0, posed.args, posed.times, breaks=posed.breaks, options=posed.options)
        found, speeds = _speeds(model.kinetics, posed.inside(attempt.t, attempt.y))
        clock = 1.0 if posed.clock is None else posed.clock
        numbers = (attempt, posed.options.lowest, posed.times[-1], found, speeds * clock)
    attempt, lowest, end, found, speeds = jax.tree.map(np.asarray, numbers)
    return Diagnosis(attempt, np.broadcast_to(lowest, attempt.y.shape), float(attempt.t / end) if end > 0 else 0.0, found, speeds)
