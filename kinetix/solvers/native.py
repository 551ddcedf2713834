"""Compiler tricks for XLA on CPU, all of them, in one place. Without them the same code gives the same numbers, ten times slower.

1. *Pins* (`run`, `blanks`, `kept_alive`): XLA fuses elementwise operations by recomputing what a fused value needs, so that in a long
   straight-line body most operations are done several times. A value that is also an output is computed once. So every value of the
   body of a loop that is used more than once, and costs more than storing it, is carried by the loop as a variable that nobody reads.
2. `one_function`: XLA runs a body of some hundred fused operations as as many kernels, with a dispatch each. A call marked as a "small
   call" is compiled into one native function instead, as XLA itself does for tiny loops. The mark is undocumented.
3. `OPTIONS`: vectors of 512 bits where the machine has them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.experimental.xla_metadata import set_xla_metadata
from jax.extend import core

from kinetix.solvers.scalars import Known, ScalarProgram

OPTIONS = {"xla_cpu_prefer_vector_width": 512, "xla_backend_optimization_level": 1}
"""`compiler_options` of the outermost `jax.jit`. The lower level of optimisation compiles in half the time and runs as fast."""

FREE = frozenset({"convert_element_type", "neg", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "select_n", "is_finite"})
"""Operations that cost less than storing their result."""
SLOW = frozenset({"div", "exp", "log", "pow", "sqrt", "integer_pow"})
"""Operations that take as long as some twenty others."""
STORED = 5
"""How many operations may be done again rather than a value be stored."""


def pins(program: ScalarProgram) -> list[int]:
    """The values worth storing: those used more than once for which more than `STORED` operations would be done again."""
    uses = Counter(x for step in program.instructions for x in set(step.operands) if not isinstance(x, Known))
    results = set(program.outputs)
    first = len(program.inputs)
    again = [0] * first  # operations that a use of the value repeats, as far back as what is stored
    stored = []
    for number, step in enumerate(program.instructions, first):
        name = step.primitive.name
        operations = (20 if name in SLOW else 1) + sum(again[x] for x in set(step.operands) if not isinstance(x, Known))
        worth = name not in FREE and operations * (uses[number] - 1) > STORED
        if worth and number not in results:
            stored.append(number)
        again.append(0 if worth or number in results else operations)
    return stored


def run(program: ScalarProgram, inputs: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """The results of a program, and the values to carry."""
    values = program.values(inputs)
    return program.results(values), [values[number] for number in pins(program)]


def blanks(program: ScalarProgram, lanes: tuple[int, ...]) -> list[Array]:
    """What a loop carries before `run` has been called for the first time."""
    return [jnp.zeros(lanes, program.instructions[number - len(program.inputs)].dtype) for number in pins(program)]


def kept_alive(results: Sequence[Array], carried: Sequence[Array]) -> list[Array]:
    """The results of a loop, made to depend on what it carried: the compiler removes what nothing depends on.

    The sum is never the number it is compared with, since each of its terms is 0 or 1.
    """
    if not carried:
        return list(results)
    odd = [lax.convert_element_type(jnp.ravel(pin)[0] == jnp.asarray(12345.678).astype(pin.dtype), jnp.int32) for pin in carried]
    never = reduce(lax.add, odd) == jnp.int32(-1)
    return [lax.select(jnp.broadcast_to(never, x.shape), jnp.zeros_like(x), x) for x in results]


def run_once(program: ScalarProgram, inputs: Sequence[Array], count: Array) -> list[Array]:
    """The results of a program outside a loop: run in a loop of one turn, so that pins hold.

    Args:
        count: int32, not negative; what the compiler cannot know, so that it keeps the loop.
    """
    results = [jnp.zeros(inputs[0].shape, dtype) for dtype in program.types]
    first = (jnp.minimum(count, 0), results, blanks(program, inputs[0].shape))
    _, results, pinned = lax.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, *run(program, inputs)), first)
    return kept_alive(results, pinned)


def one_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled into one native function on CPU: no dispatch between its operations.

    It may hold no matrix product, sort, scatter, or call of a library, no array large enough to be shared between threads, and none without
    entries (on which XLA aborts the process).
    """

    def marked(*arguments: Any) -> Any:
        flat, tree = jax.tree.flatten(arguments)
        closed, shape = jax.make_jaxpr(lambda *leaves: function(*jax.tree.unflatten(tree, leaves)), return_shape=True)(*flat)
        assert all(math.prod(x.shape) for x in (*closed.in_avals, *closed.out_avals))
        # by way of a finished trace, so that the operations inside do not carry the mark themselves; constants as arguments, and behind
        # a barrier, since XLA aborts the process where it moves a constant into such a call
        call = jax.jit(lambda *x: core.jaxpr_as_fun(core.ClosedJaxpr(closed.jaxpr, x[: len(closed.consts)]))(*x[len(closed.consts) :]))
        operands = lax.optimization_barrier((*map(jnp.asarray, closed.consts), *flat))
        with set_xla_metadata(xla_cpu_small_call="true", inlineable="false"):
            results = call(*operands)
        return jax.tree.unflatten(jax.tree.structure(shape), results)

    return marked
