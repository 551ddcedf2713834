"""The batches of ensembles.py by numbalsoda's LSODA, compiled by numba, lanes shared by two threads. Usage: see rounds.py"""

import numba
import numpy as np
from numbalsoda import lsoda, lsoda_sig
from rounds import asked, serve

THREADS = 2


@numba.njit
def put(dy, r1, r2, r3, r4):
    dy[0], dy[1], dy[2], dy[3], dy[4] = r2 - r1 - r4, r2 - r1, r1 - r2 - r3, r3 - r4, r4


@numba.cfunc(lsoda_sig)
def isothermal(t, y_pointer, dy_pointer, k_pointer):
    y, dy, k = numba.carray(y_pointer, (5,)), numba.carray(dy_pointer, (5,)), numba.carray(k_pointer, (4,))
    put(dy, k[0] * y[0] * y[1], k[1] * y[2], k[2] * y[2], k[3] * y[3] * y[0])


@numba.cfunc(lsoda_sig)
def inhibited(t, y_pointer, dy_pointer, k_pointer):
    """All rates divided by (1 + K_A A + K_C C)^2."""
    y, dy, k = numba.carray(y_pointer, (5,)), numba.carray(dy_pointer, (5,)), numba.carray(k_pointer, (6,))
    free = 1.0 / (1.0 + k[4] * y[0] + k[5] * y[2]) ** 2
    put(dy, free * k[0] * y[0] * y[1], free * k[1] * y[2], free * k[2] * y[2], free * k[3] * y[3] * y[0])


@numba.cfunc(lsoda_sig)
def adiabatic(t, y_pointer, dy_pointer, p_pointer):
    """k from ln A and Ea/R; the last of y is T, that of p the warming by each reaction."""
    y, dy, p = numba.carray(y_pointer, (6,)), numba.carray(dy_pointer, (6,)), numba.carray(p_pointer, (12,))
    r1 = np.exp(p[0] - p[4] / y[5]) * y[0] * y[1]
    r2, r3 = np.exp(p[1] - p[5] / y[5]) * y[2], np.exp(p[2] - p[6] / y[5]) * y[2]
    r4 = np.exp(p[3] - p[7] / y[5]) * y[3] * y[0]
    put(dy, r1, r2, r3, r4)
    dy[5] = p[8] * r1 + p[9] * r2 + p[10] * r3 + p[11] * r4


problem = asked()
ADDRESS = {"isothermal": isothermal, "inhibited": inhibited, "adiabatic": adiabatic}[problem.law].address


@numba.njit(parallel=True)
def ends(y0, k, times, rtol, atol):
    result = np.empty_like(y0)
    for lane in numba.prange(y0.shape[0]):
        states, succeeded = lsoda(ADDRESS, y0[lane], times, k[lane], rtol, atol)
        result[lane] = states[-1]
        if not succeeded:
            result[lane] = np.nan
    return result


numba.set_num_threads(min(THREADS, numba.config.NUMBA_NUM_THREADS))
serve(lambda: ends(problem.y0, problem.k, np.array([0.0, problem.tf]), problem.rtol, problem.atol))
