"""Standard stiff problems of kinetics by both programs: published end points, and SciPy's Radau where there is none at hand.

The problems and their sources stand in `benchmarks/shared/stiff_problems.py`, beside the benchmark that uses them as well.
"""

from __future__ import annotations

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmarks.shared import stiff_problems
from kinetix.solvers import Options, integrate, integrate_ensemble
from kinetix.status import Status

pytestmark = pytest.mark.usefixtures("x64")


HIRES, E5, OREGONATOR = (problem.system for problem in (stiff_problems.HIRES, stiff_problems.E5, stiff_problems.OREGONATOR))


def both(system, y0, parameter, times, options):
    """By the general program, and in an ensemble beside a lane with another parameter."""
    times = np.asarray(times)
    one = integrate(system, y0, parameter, times, options=options)
    many = integrate_ensemble(system, np.tile(y0, (2, 1)), np.array([parameter, 1.1 * parameter]), np.tile(times, (2, 1)), options=options)
    assert one.status == Status.SUCCESS and (many.status == Status.SUCCESS).all()
    return one.y, many.y[0]


def radau(system, y0, parameter, times, atol):
    rhs, jacobian = jax.jit(system.rhs), jax.jit(jax.jacfwd(system.rhs, argnums=1))
    solved = solve_ivp(
        lambda t, y: np.asarray(rhs(t, y, parameter)),
        (0.0, times[-1]),
        y0,
        method="Radau",
        t_eval=times,
        rtol=1e-11,
        atol=atol,
        jac=lambda t, y: np.asarray(jacobian(t, y, parameter)),
    )
    assert solved.success
    return solved.y.T


def test_hires():
    y0, times = np.array([1.0, 0, 0, 0, 0, 0, 0, 0.0057]), [5.0, 321.8122]
    reference = radau(HIRES, y0, 280.0, times, 1e-16)
    for y in both(HIRES, y0, 280.0, times, Options(rtol=1e-9, atol=1e-13)):
        np.testing.assert_allclose(y, reference, rtol=1e-6)


def test_e5_over_nine_decades():
    y0, times = np.array([1.76e-3, 0.0, 0.0, 0.0]), [10.0, 1e5, 1e9]
    reference = radau(E5, y0, 7.89e-10, times, 1e-28)
    for y in both(E5, y0, 7.89e-10, times, Options(rtol=1e-9, atol=1e-26)):
        np.testing.assert_allclose(y, reference, rtol=1e-5, atol=1e-17)
        np.testing.assert_allclose(y @ np.array([0.0, 1.0, -1.0, -1.0]), 0.0, atol=1e-19)  # y2 = y3 + y4


def test_oregonator(case):
    facts = case("ivp-orego").facts
    for y in both(OREGONATOR, np.array([1.0, 2.0, 3.0]), 77.27, [360.0], Options(rtol=1e-10, atol=1e-10, max_steps=50_000)):
        np.testing.assert_allclose(y[0], facts["expected"]["reference_at_360"], rtol=facts["tolerance"]["end_rel"])
