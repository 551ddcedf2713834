"""The tank example in lmfit: the balances solved by scipy.optimize.fsolve at every state. Usage: tank_lmfit.py data.csv"""

import json
import sys
import time

began = time.perf_counter()

import lmfit
import numpy as np
from scipy.optimize import fsolve

imported = time.perf_counter()
data = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1)


def steady_state(sv: float, caf: float, k1: float, k2: float, k3: float) -> np.ndarray:
    def balances(c: np.ndarray) -> list[float]:
        a, b, _, _ = c
        r1, r2, r3 = k1 * a, k2 * b, k3 * a * a
        return [sv * (caf - a) - r1 - 2 * r3, -sv * b + r1 - r2, -sv * c[2] + r2, -sv * c[3] + r3]

    return fsolve(balances, [caf / 2, caf / 10, caf / 5, caf / 5], xtol=1e-12)


def residuals(parameters: lmfit.Parameters) -> np.ndarray:
    k = [parameters[name].value for name in ("k1", "k2", "k3")]
    return np.concatenate([steady_state(sv, caf, *k) - row for (sv, caf), row in zip(data[:, :2], data[:, 2:], strict=True)])


parameters = lmfit.Parameters()
for name, start in {"k1": 0.1, "k2": 10.0, "k3": 1e-5}.items():
    parameters.add(name, value=start, min=0)
built = time.perf_counter()
result = lmfit.minimize(residuals, parameters)
print(lmfit.fit_report(result))
ended = time.perf_counter()
k = [result.params[name].value for name in ("k1", "k2", "k3")]
print(json.dumps({"k": k, "split": {"import": imported - began, "build": built - imported, "run": ended - built}}))
