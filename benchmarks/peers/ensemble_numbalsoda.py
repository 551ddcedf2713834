"""The batch of ensembles.py by numbalsoda's LSODA, compiled by numba, lanes shared by two threads. Usage: see rounds.py"""

import numba
import numpy as np
from numbalsoda import lsoda, lsoda_sig
from rounds import asked, serve

THREADS = 2


@numba.cfunc(lsoda_sig)
def balances(t, y_pointer, dy_pointer, k_pointer):
    y, dy, k = numba.carray(y_pointer, (5,)), numba.carray(dy_pointer, (5,)), numba.carray(k_pointer, (4,))
    a, b, c, d = y[0], y[1], y[2], y[3]
    r1, r2, r3, r4 = k[0] * a * b, k[1] * c, k[2] * c, k[3] * d * a
    dy[0], dy[1], dy[2], dy[3], dy[4] = r2 - r1 - r4, r2 - r1, r1 - r2 - r3, r3 - r4, r4


ADDRESS = balances.address


@numba.njit(parallel=True)
def ends(y0, k, times, rtol, atol):
    result = np.empty_like(y0)
    for lane in numba.prange(y0.shape[0]):
        states, succeeded = lsoda(ADDRESS, y0[lane], times, k[lane], rtol, atol)
        result[lane] = states[-1]
        if not succeeded:
            result[lane] = np.nan
    return result


problem = asked()
numba.set_num_threads(min(THREADS, numba.config.NUMBA_NUM_THREADS))
serve(lambda: ends(problem.y0, problem.k, np.array([0.0, problem.tf]), problem.rtol, problem.atol))
