"""A catalyst that loses activity, as a factor of any law: values and derivatives against mpmath, and what it leaves as it was."""

import jax
import jax.numpy as jnp
import mpmath
import pytest

from kinetix.rates import deactivating, mass_action, power_law, reversible
from kinetix.rates.deactivation import ACTIVITY, CONSTANTS
from kinetix.units import TIME, parse_unit


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("kd", "t"), [(3e-6, 0.0), (3e-6, 3.6e5), (1e-3, 1e5)])
def test_values_and_derivatives_against_mpmath(kd, t):
    law = deactivating(mass_action.law({"A": 2}))

    def rate(k, c, kd, t):
        return law.rate((k, kd, t), ((c, c),), 350.0)

    def exact(k, c, kd, t):
        return k * c**2 * mpmath.exp(-kd * t)

    point = (2e-4, 300.0, kd, t)
    assert float(rate(*point)) == pytest.approx(float(exact(*map(mpmath.mpf, point))), rel=1e-13)
    found = jax.grad(rate, argnums=(0, 1, 2, 3))(*map(jnp.float64, point))
    with mpmath.workdps(40):
        for i, slope in enumerate(found):
            order = tuple(int(i == j) for j in range(4))
            assert float(slope) == pytest.approx(float(mpmath.diff(exact, point, order)), rel=1e-11)


def test_the_law_stays_what_it_was():
    """Slots, amounts and the own constants are those of the fresh law; equal laws stay equal, so that they are stacked."""
    for fresh in (mass_action.law({"A": 1}), reversible.law({"A": 1}, {"B": 1}), power_law.law({"A": 0.5}, parse_unit("mol/L"))):
        law = deactivating(fresh)
        assert (law.species, law.product, law.amounts) == (fresh.species, fresh.product, fresh.amounts)
        assert law.constants == (*fresh.constants, *CONSTANTS)
        assert law.text == f"{ACTIVITY}*({fresh.text})"
        assert (fresh.uses_time_on_stream, law.uses_time_on_stream) == (False, True)
    one, other = deactivating(mass_action.law({"A": 1})), deactivating(mass_action.law({"A": 1, "B": 1}))
    assert one.rate == other.rate and hash(one.rate) == hash(other.rate)


def test_dimensions():
    kd, stream = CONSTANTS
    assert kd.dimension == TIME**-1 and kd.thermal and kd.positive
    assert stream.dimension == TIME and stream.condition and not stream.thermal
