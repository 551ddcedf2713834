"""c^n for quantities that are physically not below zero, but may be at zero, or a little below it inside a solver.

For a fractional n the plain power has no value below zero and no finite derivative at zero (in c for n < 1, in n always as log c), and one
such lane makes the whole gradient NaN. Here c^n is exact from `SMALLEST` upwards and goes on below it with finite value and derivatives:

    n > 0    0 <= c < e    e^n ((2 - n) u + (n - 1) u^2),  u = c/e     value and slope of c^n at e, and 0 at 0
             c < 0         e^n (2 - n) u                               the tangent at 0
    n <= 0   c < e         e^n (1 + n (u - 1))                         the tangent of c^n at e

The argument of each branch is guarded, not its result, so that no derivative of an untaken branch is infinite.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

SMALLEST = 1e-12
"""Below this (mol/m^3 or Pa: nothing that can be measured) the power is continued."""

_LARGEST_REPEATED = 64


def power(base: ArrayLike, exponent: ArrayLike) -> jax.Array:
    """`base ** exponent` with finite value and derivatives (in both) for every finite base, elementwise.

    Exact for base >= 1e-12. A Python number without a fraction, 0 or above, is repeated multiplication: exact at zero and below it.
    Works under jit, vmap, jvp, vjp and their combinations.

    >>> import jax
    >>> [float(x) for x in (power(4.0, 0.5), power(0.0, 0.5), power(-3.0, 2))]
    [2.0, 0.0, 9.0]
    >>> bool(jax.numpy.isfinite(jax.grad(power)(0.0, 0.5)))
    True
    """
    whole = whole_number(exponent)
    if whole is not None and whole >= 0:
        return whole_power(base, whole)
    c = jnp.asarray(base)
    regular = c >= SMALLEST
    above = jnp.where(regular, c, 1.0)
    u = jnp.where(regular, 0.0, c) / SMALLEST
    if isinstance(exponent, (int, float)):
        below = jnp.power(SMALLEST, exponent) * (_rising(u, exponent) if exponent > 0 else _falling(u, exponent))
    else:
        n = jnp.where(regular, 1.0, exponent)
        below = jnp.power(SMALLEST, n) * jnp.where(n > 0, _rising(u, n), _falling(u, n))
    return jnp.where(regular, jnp.power(above, exponent) if whole is None else whole_power(above, whole), below)


def _rising(u: jax.Array, n: jax.Array | float) -> jax.Array:
    return u * ((2.0 - n) + (n - 1.0) * jnp.maximum(u, 0.0))


def _falling(u: jax.Array, n: jax.Array | float) -> jax.Array:
    return (u - 1.0) * n + 1.0


def whole_number(exponent: object) -> int | None:
    """The exponent as an int where it is a Python number without a fraction, and not too large to multiply out."""
    if isinstance(exponent, (int, float)) and float(exponent).is_integer() and abs(exponent) <= _LARGEST_REPEATED:
        return int(exponent)
    return None


def whole_power(base: ArrayLike, exponent: int) -> jax.Array:
    """`base` multiplied with itself; one over it for a negative exponent."""
    return jax.lax.integer_pow(jnp.asarray(base, dtype=jnp.result_type(base, float)), exponent)
