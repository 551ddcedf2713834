"""The batches of ensembles.py by SciPy, lane after lane; a last argument names the method (LSODA). Usage: see rounds.py"""

import sys

import numpy as np
from rounds import asked, serve
from scipy.integrate import solve_ivp

problem = asked()
method = sys.argv[6] if len(sys.argv) > 6 else "LSODA"


def rates(y, k):
    return k[0] * y[0] * y[1], k[1] * y[2], k[2] * y[2], k[3] * y[3] * y[0]


def changes(r1, r2, r3, r4):
    return [r2 - r1 - r4, r2 - r1, r1 - r2 - r3, r3 - r4, r4]


def isothermal(t, y, k):
    return np.array(changes(*rates(y, k)))


def inhibited(t, y, k):
    """All rates divided by (1 + K_A A + K_C C)^2."""
    return np.array(changes(*rates(y, k))) / (1.0 + k[4] * y[0] + k[5] * y[2]) ** 2


def adiabatic(t, y, p):
    """k from ln A and Ea/R; the last of y is T, that of p the warming by each reaction."""
    found = rates(y, np.exp(p[:4] - p[4:8] / y[5]))
    return np.array([*changes(*found), p[8:] @ found])


balances = {"isothermal": isothermal, "inhibited": inhibited, "adiabatic": adiabatic}[problem.law]


def end(y0, k):
    solution = solve_ivp(balances, (0.0, problem.tf), y0, method=method, args=(k,), rtol=problem.rtol, atol=problem.atol)
    return solution.y[:, -1] if solution.success else np.full_like(y0, np.nan)


serve(lambda: np.stack([end(y0, k) for y0, k in zip(problem.y0, problem.k, strict=True)]))
