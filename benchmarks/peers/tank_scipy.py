"""The tank example by scipy.optimize.least_squares, the balances solved by hand: the lower end. Usage: tank_scipy.py data.csv"""

import json
import sys
import time

began = time.perf_counter()

import numpy as np
from scipy.optimize import least_squares

imported = time.perf_counter()
sv, caf, *measured = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1).T
observed = np.stack(measured)


def residuals(ln_k: np.ndarray) -> np.ndarray:
    k1, k2, k3 = np.exp(ln_k)
    a = 2 * sv * caf / (sv + k1 + np.sqrt((sv + k1) ** 2 + 8 * k3 * sv * caf))
    b = k1 * a / (sv + k2)
    return (np.stack([a, b, k2 * b / sv, k3 * a * a / sv]) - observed).ravel()


built = time.perf_counter()
result = least_squares(residuals, np.log([0.1, 10.0, 1e-5]), x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12)
covariance = np.linalg.inv(result.jac.T @ result.jac) * 2 * result.cost / (observed.size - 3)
k = np.exp(result.x)
for name, value, relative in zip(("k1", "k2", "k3"), k, np.sqrt(np.diag(covariance)), strict=True):
    print(f"{name} {value:.9g} +- {value * relative:.2g}")
ended = time.perf_counter()
print(json.dumps({"k": k.tolist(), "split": {"import": imported - began, "build": built - imported, "run": ended - built}}))
