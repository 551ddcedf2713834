"""The tanks of tanks.py by a damped Newton loop compiled by numba, lanes shared by two threads. Usage: see rounds.py

A step is cut where a concentration would become negative. A tank is solved where every balance times tau is below atol.
"""

import numba
import numpy as np
from rounds import asked, serve

THREADS = 2
MOST = 200


@numba.njit
def solve_tank(feed, per_time, k, c, matrix, change):
    for _ in range(MOST):
        r1, r2, r3, r4 = k[0] * c[0] * c[1], k[1] * c[2], k[2] * c[2], k[3] * c[3] * c[0]
        change[0], change[1], change[2], change[3], change[4] = r2 - r1 - r4, r2 - r1, r1 - r2 - r3, r3 - r4, r4
        largest = 0.0
        for i in range(5):
            change[i] += per_time * (feed[i] - c[i])
            largest = max(largest, abs(change[i]) / per_time)
        if largest < atol:
            return True
        a, b, d, e = k[0] * c[1], k[0] * c[0], k[3] * c[3], k[3] * c[0]
        matrix[:, :] = 0.0
        matrix[0, 0], matrix[0, 1], matrix[0, 2], matrix[0, 3] = a + d, b, -k[1], e
        matrix[1, 0], matrix[1, 1], matrix[1, 2] = a, b, -k[1]
        matrix[2, 0], matrix[2, 1], matrix[2, 2] = -a, -b, k[1] + k[2]
        matrix[3, 0], matrix[3, 2], matrix[3, 3] = d, -k[2], e
        matrix[4, 0], matrix[4, 3] = -d, -e
        for i in range(5):
            matrix[i, i] += per_time
        for pivot in range(5):
            for i in range(pivot + 1, 5):
                factor = matrix[i, pivot] / matrix[pivot, pivot]
                for j in range(pivot + 1, 5):
                    matrix[i, j] -= factor * matrix[pivot, j]
                change[i] -= factor * change[pivot]
        for i in range(4, -1, -1):
            for j in range(i + 1, 5):
                change[i] -= matrix[i, j] * change[j]
            change[i] /= matrix[i, i]
        share = 1.0
        for i in range(5):
            if change[i] < 0.0 < c[i] and c[i] + share * change[i] < 0.0:
                share = 0.99 * c[i] / -change[i]
        for i in range(5):
            c[i] = max(c[i] + share * change[i], 0.0)
    return False


@numba.njit(parallel=True)
def solve_all(feed, per_time, k):
    result = feed.copy()
    for lane in numba.prange(feed.shape[0]):
        if not solve_tank(feed[lane], per_time[lane], k[lane], result[lane], np.empty((5, 5)), np.empty(5)):
            result[lane] = np.nan
    return result


problem = asked()
atol = problem.atol
per_time = 1.0 / problem.tau
numba.set_num_threads(min(THREADS, numba.config.NUMBA_NUM_THREADS))
serve(lambda: solve_all(problem.feed, per_time, problem.k))
