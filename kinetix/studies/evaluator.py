"""The compiled evaluation of a problem: data on the device once, one program for all data sets of a padded size."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.estimation.losses import Loss
from kinetix.estimation.residuals import Evaluation, evaluate, lanes_per_block, value_and_gradient
from kinetix.padding import padded
from kinetix.parameters import Coordinates
from kinetix.precision import float64
from kinetix.simulation import Model, Prediction, cores, predict
from kinetix.solvers.integration import MANY
from kinetix.studies.noise import Spread
from kinetix.studies.problem import Problem


def predict_free(model: tuple[Model, Coordinates], theta: jax.Array, lanes: Mapping[str, Any]) -> Prediction:
    """The simulation seam in free coordinates."""
    return predict(model[0], model[1].physical(theta), lanes)


_predicted = jax.jit(predict_free)
OFTEN = 10_000
"""Experiments times runs of the compiled evaluation, some 0.2 ms each, that take as long as compiling another program."""


class Data(NamedTuple):
    """Measured values and weights on the device, with the padding."""

    observed: jax.Array
    weights: jax.Array


@dataclass(eq=False)
class Evaluator:
    """Residual triangle and predictions of a problem at free coordinates.

    Experiments and times are filled up to a padded size by repeating the last one with no weight, so that the next data set
    of about the same size runs the same program. Only p-by-p triangles come back while a fit runs.

    Attributes:
        problem: what is evaluated.
        trace_seconds, compile_seconds: what the program cost.
    """

    problem: Problem

    def __post_init__(self) -> None:
        problem = self.problem
        self.size = problem.observed.shape[:2]
        lanes, times = _padded(self.size[0]), _padded(self.size[1])
        with float64():
            self.model = jax.device_put((problem.model, problem.table.coordinates()))
            self.lanes = jax.device_put({name: _filled(_timed(name, array, times), lanes, 0) for name, array in problem.lanes.items()})
            self.shape = lanes, times
            self.data = self.placed(problem.observed, problem.weights)
            self.loss = _numbers(problem.loss)
            self.spread = None if problem.noise is None else jax.device_put(Spread(problem.table.coordinates(), problem.noise))
            self.block = block = lanes_per_block(lanes, times * problem.observed.shape[2] * (1 if self.spread is None else 2))
            theta = _theta(problem.table.free_start())
            began = time.perf_counter()
            lowered = evaluate.lower(predict_free, self.model, theta, self.lanes, *self.data, block, self.loss, self.spread)
            self.trace_seconds = time.perf_counter() - began
            began = time.perf_counter()
            self.compiled = lowered.compile()
            self.compile_seconds = time.perf_counter() - began

    def weighing(self, weights: np.ndarray) -> Evaluator:
        """The same compiled program and data with other weights (lane, time, response), 0 where a value shall not count."""
        other = copy.copy(self)
        other.problem = replace(self.problem, weights=weights)
        other.data = self.placed(self.problem.observed, weights)
        return other

    def placed(self, observed: np.ndarray, weights: np.ndarray) -> Data:
        """Other measured values and weights of the same experiments, (lane, time, response), on the device."""
        lanes, times = self.shape
        with float64():
            return Data(*jax.device_put((_filled(_filled(observed, times, 1), lanes, 0), _zeros(weights, lanes, times))))

    def _run(self, theta: np.ndarray, lanes: Mapping[str, Any], data: Data | None = None) -> Evaluation:
        with float64():
            return self.compiled(self.model, _theta(theta), lanes, *(data or self.data), self.loss, self.spread)

    def of(self, problem: Problem) -> Evaluator:
        """The same program with the loss, the weights and the noise of a problem that differs in nothing else."""
        other = copy.copy(self)
        with float64():
            other.loss = _numbers(problem.loss)
            if problem.noise is not None:
                other.data = self.placed(problem.observed, problem.weights)
                other.spread = jax.device_put(Spread(problem.table.coordinates(), problem.noise))
        return other

    def with_unit(self, unit: float) -> Evaluator:
        """The same program with the loss for residuals of this standard deviation: least squares where it is infinite."""
        loss = self.problem.loss
        return self if loss is None else self.of(replace(self.problem, loss=loss.with_unit(unit)))

    def __call__(self, theta: np.ndarray) -> Evaluation:
        """Evaluation at free coordinates (free,), as NumPy arrays without the padding."""
        found = jax.tree.map(np.asarray, self._run(theta, self.lanes))
        lanes, times = self.size
        return Evaluation(
            self._with_priors(found.R, theta), found.bad, found.values[:lanes, :times], *(ended[:lanes] for ended in found[3:])
        )

    def triangle(self, theta: np.ndarray, data: Data | None = None) -> tuple[np.ndarray, int]:
        """R and the number of values without a prediction, on the host; all else stays on the device.

        Args:
            theta: free coordinates (free,).
            data: other data of the same experiments, see `placed`.
        """
        found = self._run(theta, self.lanes, data)
        return self._with_priors(np.asarray(found.R), theta), int(found.bad)

    def _with_priors(self, R: Any, theta: np.ndarray) -> Any:
        """The triangle of data and priors together: p + 1 rows more are nothing to a program, so they are added here."""
        if not self.problem.table.priors.any() or not np.isfinite(R).all():
            return R
        return np.linalg.qr(np.vstack([R, self.problem.table.prior_rows(theta)]), mode="r")

    def triangles(self, theta: np.ndarray, data: Sequence[Data | None]) -> tuple[np.ndarray, np.ndarray]:
        """`triangle` at several points (point, free), each with data of its own, shared between the cores."""
        with ThreadPoolExecutor(max(1, min(cores(), len(theta)))) as threads:
            found = list(threads.map(self.triangle, theta, data))
        return np.array([R for R, _ in found]), np.array([bad for _, bad in found])

    def by_gradient(self, theta: np.ndarray) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Half the sum of squares, its gradient, and the number of values without a prediction: a program of its own."""
        with float64():
            value, gradient, bad = value_and_gradient(
                predict_free, self.model, _theta(theta), self.lanes, *self.data, self.block, self.loss, self.spread
            )
            rows = self.problem.table.prior_rows(theta)
            return value + 0.5 * np.sum(rows[:, -1] ** 2), gradient + rows[:, -1] @ rows[:, :-1], bad

    @property
    def reverse_pays(self) -> bool:
        """Whether a gradient costs less than a triangle: many parameters of something that is integrated."""
        return self.problem.integrated and len(self.problem.table.free) >= MANY

    def at_times(self, theta: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Predictions at other times (lane, any), SI, (lane, any, response).

        By the same program as often as needed; where that is often, a program without derivatives is sooner compiled and run.
        """
        width = self.shape[1]
        if self.size[0] * times.shape[1] > width * OFTEN:
            with float64():
                filled = {**self.lanes, "times": _filled(times, self.shape[0], 0)}
                return np.asarray(_predicted(self.model, _theta(theta), filled)[0])[: self.size[0]]
        pieces = []
        for first in range(0, times.shape[1], width):
            part = times[:, first : first + width]
            filled = _filled(_filled(part, width, 1), self.shape[0], 0)
            pieces.append(np.asarray(self._run(theta, {**self.lanes, "times": filled}).values)[: self.size[0], : part.shape[1]])
        return np.concatenate(pieces, axis=1)


def _numbers(loss: Loss | None) -> Loss | None:
    return jax.tree.map(lambda number: jnp.asarray(number, jnp.float64), loss)


def _padded(size: int) -> int:
    return padded(size) if size > 1 else size  # a steady state has one time, and a single experiment is common


def _theta(theta: np.ndarray) -> jax.Array:
    return jnp.asarray(np.array(theta), jnp.float64)


def _timed(name: str, array: np.ndarray, times: int) -> np.ndarray:
    """Times and the nodes of programs are padded along their own axis as well."""
    if name == "times":
        return _filled(array, times, 1)
    return _filled(array, _padded(array.shape[1]), 1) if name.startswith("program_") else array


def _filled(array: np.ndarray, size: int, axis: int) -> np.ndarray:
    """The array with its last entry along the axis repeated up to `size`."""
    widths = [(0, size - array.shape[axis]) if i == axis else (0, 0) for i in range(array.ndim)]
    return np.pad(array, widths, mode="edge")


def _zeros(weights: np.ndarray, lanes: int, times: int) -> np.ndarray:
    return np.pad(weights, [(0, lanes - weights.shape[0]), (0, times - weights.shape[1]), (0, 0)])
