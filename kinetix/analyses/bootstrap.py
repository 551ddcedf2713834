"""Bootstrap: the estimates of many data sets that could have been measured instead, each drawn from the fit and the data.

Three ways to draw a data set, with weights w = 1/sigma, n values and a rank of r:

    residual     y* = predicted + e*/w     e* drawn with replacement from the weighted residuals of the same response,
                                           less their mean, times sqrt(n / (n - r))
    parametric   y* = predicted + s z/w    z standard normal; s = 1 where sigma is trusted
    case         y* = y                    experiments drawn with replacement: one drawn m times weighs sqrt(m) times as much

The estimates scatter about the fit as the fit scatters about the truth. `residual` needs the right model and errors of one size,
`parametric` normal errors too, and `case` neither, but experiments that are interchangeable and many. Intervals are percentiles.

Sources: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (Chapman & Hall 1993), chapters 9 and 13; A. C. Davison and
D. V. Hinkley, Bootstrap Methods and their Application (Cambridge 1997), section 6.2 (residuals made to have the right variance).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

KINDS = ("residual", "parametric", "case")


def data_sets(
    kind: str, number: int, seed: int, observed: np.ndarray, predicted: np.ndarray, weights: np.ndarray, s: float, rank: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Data sets that could have been measured, as (observed, weights); the same for the same seed, whatever the number.

    Args:
        kind: one of `KINDS`.
        number: of data sets.
        seed: of the draws.
        observed: measured values (experiment, time, response).
        predicted: by the fit, of the same shape.
        weights: 1/sigma, 0 where nothing was measured.
        s: standard deviation of a weighted residual; 1 where sigma is trusted.
        rank: directions that the data determine.

    >>> y, w = np.array([[[1.0]], [[2.0]], [[4.0]]]), np.ones((3, 1, 1))
    >>> drawn = [weights.ravel() ** 2 for _, weights in data_sets("case", 2, 7, y, y, w, 1.0, 1)]
    >>> [round(float(one.sum()), 9) for one in drawn]
    [3.0, 3.0]
    """
    used = weights > 0
    scale = np.where(used, weights, 1.0)
    residuals = np.where(used, (observed - predicted) * weights, 0.0)
    n = np.count_nonzero(used)
    for draw in range(number):
        rng = np.random.default_rng((seed, draw))
        if kind == "case":
            chosen = np.bincount(rng.integers(len(observed), size=len(observed)), minlength=len(observed))
            yield observed, weights * np.sqrt(chosen)[:, None, None]
            continue
        errors = np.zeros_like(residuals)
        for response in range(residuals.shape[2]):
            measured = used[..., response]
            size = np.count_nonzero(measured)
            if kind == "parametric":
                errors[..., response][measured] = s * rng.standard_normal(size)
            elif size:
                pool = residuals[..., response][measured]
                errors[..., response][measured] = rng.choice((pool - pool.mean()) * np.sqrt(n / (n - rank)), size=size)
        yield np.where(used, predicted + errors / scale, observed), weights


def percentiles(draws: np.ndarray, level: float = 0.95) -> np.ndarray:
    """Ends of the percentile interval of each column of draws, (2, column); NaN rows are left out.

    >>> percentiles(np.arange(1.0, 40.0)[:, None]).ravel().tolist()
    [1.95, 38.05]
    """
    kept = draws[np.isfinite(draws).all(axis=1)]
    tails = [(1 - level) / 2, (1 + level) / 2]
    return np.quantile(kept, tails, axis=0) if len(kept) else np.full((2, draws.shape[1]), np.nan)
