"""The batch of ensembles.py by SciPy, lane after lane; a last argument names the method (LSODA). Usage: see rounds.py"""

import sys

import numpy as np
from rounds import asked, serve
from scipy.integrate import solve_ivp

problem = asked()
method = sys.argv[6] if len(sys.argv) > 6 else "LSODA"


def balances(t, y, k):
    a, b, c, d, _ = y
    r1, r2, r3, r4 = k[0] * a * b, k[1] * c, k[2] * c, k[3] * d * a
    return np.array([r2 - r1 - r4, r2 - r1, r1 - r2 - r3, r3 - r4, r4])


def end(y0, k):
    solution = solve_ivp(balances, (0.0, problem.tf), y0, method=method, args=(k,), rtol=problem.rtol, atol=problem.atol)
    return solution.y[:, -1] if solution.success else np.full_like(y0, np.nan)


serve(lambda: np.stack([end(y0, k) for y0, k in zip(problem.y0, problem.k, strict=True)]))
