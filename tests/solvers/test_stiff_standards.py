"""Standard stiff problems of kinetics by both programs: published end points, and SciPy's Radau where there is none at hand.

HIRES: E. Schäfer, J. Math. Biology 2, 41 (1975). E5: W. H. Enright, T. E. Hull and B. Lindberg, BIT 15, 10 (1975). Both with the numbers of
E. Hairer and G. Wanner, Solving Ordinary Differential Equations II, section IV.10. OREGO: R. J. Field and R. M. Noyes, J. Chem. Phys. 60,
1877 (1974).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetix.solvers import Options, System, integrate, integrate_ensemble
from kinetix.status import Status

pytestmark = pytest.mark.usefixtures("x64")


def _hires(t, y, k):
    linear = np.zeros((8, 8))
    linear[0, :3] = -1.71, 0.43, 8.32
    linear[1, :2] = 1.71, -8.75
    linear[2, 2:5] = -10.03, 0.43, 0.035
    linear[3, 1:4] = 8.32, 1.71, -1.12
    linear[4, 4:7] = -1.745, 0.43, 0.43
    linear[5, 3:7] = 0.69, 1.71, -0.43, 0.69
    linear[6, 6] = -1.81
    linear[7, 6] = 1.81
    source, exchange = np.array([0.0007, *[0.0] * 7]), np.array([0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 1.0, -1.0])
    return linear @ y + source + exchange * (k * y[5] * y[7])


def _e5(t, y, A):
    B, C, M = 1.1e7, 1.13e3, 1e6
    r1, r2, r3, r4 = A * y[0], B * y[0] * y[2], M * C * y[1] * y[2], C * y[3]
    return jnp.stack([-r1 - r2, r1 - r3, r1 - r2 - r3 + r4, r2 - r4])


def _oregonator(t, y, s):
    return jnp.stack([s * (y[1] + y[0] - y[0] * y[1] - 8.375e-6 * y[0] ** 2), (y[2] - (1 + y[0]) * y[1]) / s, 0.161 * (y[0] - y[2])])


HIRES, E5, OREGONATOR = (System(rhs, autonomous=True) for rhs in (_hires, _e5, _oregonator))


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
