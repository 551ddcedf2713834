"""The tanks of tanks.py by optimistix under vmap, 4,096 at a time; a last argument names the method (Newton). Usage: see rounds.py"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import optimistix
from rounds import asked, serve

jax.config.update("jax_enable_x64", True)
problem = asked()
LANES = 4096
finder = getattr(optimistix, sys.argv[6] if len(sys.argv) > 6 else "Newton")(rtol=problem.rtol, atol=problem.atol)


def balances(c, args):
    feed, tau, k = args
    r1, r2, r3, r4 = k[0] * c[0] * c[1], k[1] * c[2], k[2] * c[2], k[3] * c[3] * c[0]
    return jnp.stack([r2 - r1 - r4, r2 - r1, r1 - r2 - r3, r3 - r4, r4]) + (feed - c) / tau


def steady(feed, tau, k):
    found = optimistix.root_find(balances, finder, feed, (feed, tau, k), max_steps=200, throw=False)
    return jnp.where(found.result == optimistix.RESULTS.successful, found.value, jnp.nan)


states = jax.jit(jax.vmap(steady))
parts = [slice(i, i + LANES) for i in range(0, len(problem.tau), LANES)]
lanes = [tuple(jnp.asarray(x[part]) for x in (problem.feed, problem.tau, problem.k)) for part in parts]
serve(lambda: np.concatenate([np.asarray(states(*some)) for some in lanes]))
