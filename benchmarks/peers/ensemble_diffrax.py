"""The batch of ensembles.py by diffrax: Kvaerno5 under vmap. Usage: see rounds.py"""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from rounds import asked, serve

jax.config.update("jax_enable_x64", True)
problem = asked()


def balances(t, y, k):
    a, b, c, d, _ = y
    r1, r2, r3, r4 = k[0] * a * b, k[1] * c, k[2] * c, k[3] * d * a
    return jnp.stack([r2 - r1 - r4, r2 - r1, r1 - r2 - r3, r3 - r4, r4])


def end(y0, k):
    control = diffrax.PIDController(rtol=problem.rtol, atol=problem.atol)
    term, solver = diffrax.ODETerm(balances), diffrax.Kvaerno5()
    solution = diffrax.diffeqsolve(term, solver, 0.0, problem.tf, None, y0, k, stepsize_controller=control, max_steps=4096)
    return solution.ys[0]


ends = jax.jit(jax.vmap(end))
y0, k = jnp.asarray(problem.y0), jnp.asarray(problem.k)
serve(lambda: np.asarray(ends(y0, k)))
