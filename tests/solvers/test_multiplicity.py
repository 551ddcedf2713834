"""All steady states and the curves through them, against closed forms.

The cubic autocatalator A + 2 B -> 3 B in a stirred tank, with and without the decay B -> C: P. Gray and S. K. Scott, Chemical Engineering
Science 38, 29 (1983) and 39, 1087 (1984). With k = 1 and a feed of A0 = 1 its states are roots of a cubic in A. The Brusselator:
I. Prigogine and R. Lefever, Journal of Chemical Physics 48, 1695 (1968).
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kinetix.solvers import Axis, Family, all_states, curves_through
from kinetix.solvers.multiplicity import refined
from kinetix.status import Status

SQRT = np.sqrt(0.5)


def autocatalator(B0: float, decay: float = 0.0) -> Family:
    """Over the residence time; y = (A, B)."""

    def evaluate(y, tau):
        A, B = y.T
        rates = np.stack([(1 - A) / tau - A * B**2, (B0 - B) / tau + A * B**2 - decay * B], axis=1)
        jacobian = np.stack([-1 / tau - B**2, -2 * A * B, B**2, -1 / tau + 2 * A * B - decay], axis=1).reshape(-1, 2, 2)
        return rates, jacobian, np.stack([A - 1, B - B0], axis=1) / tau[:, None] ** 2

    directions = np.eye(2) if decay else np.array([[-SQRT], [SQRT]])
    return Family(evaluate, np.array([1.0, B0]), np.ones(2), directions)


def cubic(B0: float, tau: float, decay: float = 0.0) -> np.ndarray:
    """A, the largest first: with B = (1 + B0 - A)/(1 + decay tau), tau A B^2 = 1 - A."""
    g, total = tau / (1 + decay * tau) ** 2, 1 + B0
    roots = np.roots([g, -2 * total * g, total**2 * g + 1, -1])
    return np.sort(roots[np.abs(roots.imag) < 1e-9].real)[::-1]


def over(tau: float) -> Axis:
    return Axis(tau, tau / 1e3, tau * 1e3, logarithmic=True)


def compositions(B0: float, number: int = 64) -> np.ndarray:
    shares = np.random.default_rng(0).dirichlet([1, 1, 1], number)
    return shares[:, :2] * (1 + B0)


def test_no_root_of_the_cubic_is_missed():
    draw = np.random.default_rng(7)
    several = 0
    for _ in range(40):
        tau, B0 = 10 ** draw.uniform(0, 3), 10 ** draw.uniform(-3, -0.9)
        expected = cubic(B0, tau)
        family = autocatalator(B0)
        starts = compositions(B0)
        found = all_states(family, over(tau), starts, from_zero=True)
        assert_allclose([one.y[0] for one in found.states], expected, rtol=1e-7)
        assert [one.stable for one in found.states] == [True, False, True][: len(expected)]
        assert all(one.residual < 1e-14 for one in found.states)
        several += len(expected) == 3
    assert several >= 8


def test_curves_alone_find_every_root_where_all_lie_on_one():
    found = all_states(autocatalator(0.05), over(5.0), np.empty((0, 2)), from_zero=True)
    assert_allclose([one.y[0] for one in found.states], cubic(0.05, 5.0), rtol=1e-12)
    assert (found.starts, found.converged, len(found.curves)) == (0, 0, 1)


def test_turning_points_are_those_of_the_discriminant():
    """Of tau = (1 - A)/(A (s - A)^2), whose slope is zero where 2 A^2 - 3 A + s = 0."""
    B0 = 0.05
    (curve,) = all_states(autocatalator(B0), over(5.0), np.empty((0, 2)), from_zero=True).curves
    A = np.roots([2, -3, 1 + B0])
    folds = [5.0 * np.exp(point.x[-1]) for point in curve.points if point.kind == "fold"]
    assert_allclose(np.sort(folds), np.sort((1 - A) / (A * (1 + B0 - A) ** 2)), rtol=1e-10)
    assert [point.stable for point in (curve.points[0], curve.points[-1])] == [True, True]
    assert {point.kind for point in curve.points} == {"", "fold"}


@pytest.mark.parametrize("decay", [1 / 40, 0.07])
def test_an_isola_is_found_where_there_is_one(decay):
    """Without B in the feed there are further states where (1 + decay tau)^2 <= tau/4, between its roots: if decay < 1/16."""
    family = autocatalator(0.0, decay)
    found = all_states(family, over(20.0), compositions(0.0), from_zero=True)
    rest, isolas = found.curves[0], found.curves[1:]
    assert_allclose([point.x[:-1] for point in rest.points], 0.0, atol=1e-15)
    assert not rest.closed and rest.status is Status.SUCCESS
    if decay > 1 / 16:
        assert isolas == () and len(found.states) == 1
        return
    (isola,) = isolas
    assert isola.closed and isola.status is Status.SUCCESS
    folds = [20.0 * np.exp(point.x[-1]) for point in isola.points if point.kind == "fold"]
    assert_allclose(np.sort(folds), np.sort(np.roots([decay**2, 2 * decay - 0.25, 1])), rtol=1e-9)
    assert_allclose([one.y[0] for one in found.states], cubic(0.0, 20.0, decay), rtol=1e-7)
    assert [one.stable for one in found.states][:2] == [True, False]


def test_no_state_is_missed_among_isolas_and_mushrooms():
    draw = np.random.default_rng(3)
    closed = 0
    for _ in range(25):
        decay, tau, B0 = 10 ** draw.uniform(-3, -1), 10 ** draw.uniform(0, 3), 10 ** draw.uniform(-5, -1)
        expected = cubic(B0, tau, decay)
        found = all_states(autocatalator(B0, decay), over(tau), compositions(B0), from_zero=True)
        assert_allclose(np.sort([one.y[0] for one in found.states])[::-1], expected, rtol=1e-7)
        assert all(curve.status is Status.SUCCESS for curve in found.curves)
        closed += any(curve.closed for curve in found.curves)
    assert closed >= 5


def test_curves_that_cross_at_the_edge_of_the_domain():
    """A + B -> 2 B with k = A0 = 1 and no B fed: the tank is empty of B, or A = 1/tau, from tau = 1 on."""

    def evaluate(y, tau):
        A, B = y.T
        rates = np.stack([(1 - A) / tau - A * B, A * B - B / tau], axis=1)
        jacobian = np.stack([-1 / tau - B, -A, B, A - 1 / tau], axis=1).reshape(-1, 2, 2)
        return rates, jacobian, np.stack([A - 1, B], axis=1) / tau[:, None] ** 2

    family = Family(evaluate, np.array([1.0, 0.0]), np.ones(2), np.array([[-SQRT], [SQRT]]))
    found = all_states(family, over(5.0), compositions(0.0), from_zero=True)
    assert_allclose([one.y for one in found.states], [[1, 0], [0.2, 0.8]], atol=1e-12)
    assert [one.stable for one in found.states] == [False, True]
    (crossing,) = [point for point in found.curves[0].points if point.kind]
    assert crossing.kind == "branch" and 5.0 * np.exp(crossing.x[-1]) == pytest.approx(1.0, rel=1e-9)
    ends = [5.0 * np.exp(found.curves[1].points[i].x[-1]) for i in (0, -1)]
    assert min(ends) == pytest.approx(1.0, abs=1e-3) and max(ends) == pytest.approx(5000.0, rel=1e-9)


def brusselator(y, b):
    """dx/dt = 2 - (b + 1) x + x^2 y, dy/dt = b x - x^2 y: at rest x = 2, y = b/2; it begins to oscillate at b = 1 + 2^2."""
    x, z = y.T
    rates = np.stack([2 - (b + 1) * x + x**2 * z, b * x - x**2 * z], axis=1)
    jacobian = np.stack([-(b + 1) + 2 * x * z, x**2, b - 2 * x * z, -(x**2)], axis=1).reshape(-1, 2, 2)
    return rates, jacobian, np.stack([-x, x], axis=1)


def test_where_an_oscillation_begins():
    family, axis = Family(brusselator, np.ones(2), np.ones(2), np.eye(2)), Axis(3.0, 0.5, 8.0)
    known = all_states(family, axis, np.array([[1.0, 1.0], [3.0, 0.5]]))
    assert_allclose([one.y for one in known.states], [[2.0, 1.5]], rtol=1e-12)
    (curve,) = curves_through(family, axis, known).curves
    (hopf,) = [point for point in curve.points if point.kind]
    assert hopf.kind == "hopf" and axis.outer(hopf.x[-1]) == pytest.approx(5.0, rel=1e-9)
    assert_allclose(np.sort(hopf.eigenvalues.imag), [-2, 2], rtol=1e-6)
    assert [axis.outer(point.x[-1]) for point in (curve.points[0], curve.points[-1])] == pytest.approx([0.5, 8.0], rel=1e-12)
    assert [point.stable for point in curve.points].count(True) > 5 and not curve.points[-1].stable


def test_what_cannot_be_refined_has_a_status_and_no_numbers():
    """x^2 = 0: Newton steps halve and never get to rounding in the few steps of a refinement."""

    def double(y, p):
        return y**2, 2 * y[:, :, None], np.zeros_like(y)

    family = Family(double, np.zeros(1), np.ones(1), np.eye(1))
    root = refined(family, 1.0, np.array([1e-4]))
    assert root.status is Status.NOT_CONVERGED and np.isnan(root.y).all() and np.isnan(root.eigenvalues).all()
    assert not root.stable


def test_a_curve_that_cannot_be_followed_says_so():
    """y = p up to p = 2, where the equation ceases to have a value."""

    def ends(y, p):
        inside = np.where(p < 2.0, 1.0, np.nan)[:, None]
        return (p[:, None] - y) * inside, -np.ones((len(y), 1, 1)), np.ones_like(y)

    family = Family(ends, np.zeros(1), np.ones(1), np.eye(1))
    found = all_states(family, Axis(1.0, 0.5, 4.0), np.array([[0.3]]))
    assert_allclose([one.y for one in found.states], [[1.0]])
    assert [curve.status for curve in found.curves] == [Status.STEP_TOO_SMALL]
