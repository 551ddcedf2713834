"""Solvers: stiff integration and steady states, differentiable at any order. They know only functions of (t, y, args).

`integrate` and `steady_state` are general programs of one lane, quick to compile. `integrate_ensemble` and `steady_states` are the
engine for many lanes:

| file | job |
|---|---|
| `tableau`, `control` | the method and its step sizes, one for both |
| `integration`, `steady` | the general programs |
| `diagnosis` | why one lane of `integration` failed |
| `scalars`, `layouts` | programs of scalars; pytrees as lists of them |
| `reading` | reads a JAX function of small arrays into such a program |
| `factors`, `rodas` | elimination, a step and its derivative, on scalars |
| `native` | the compiler tricks, all of them |
| `blocks`, `ensemble` | what runs in a block of lanes; their order, the rule of derivatives |
| `steady_ensemble` | the same for steady states |
"""

from kinetix.solvers.diagnosis import Attempt, last_attempt
from kinetix.solvers.ensemble import AUTOMATIC, Engine
from kinetix.solvers.integration import Options, Solution, integrate, integrate_ensemble
from kinetix.solvers.scalars import NotScalar
from kinetix.solvers.steady import Steady, SteadyOptions, steady_state, steady_states
from kinetix.solvers.system import Arguments, System

__all__ = [
    "AUTOMATIC",
    "Arguments",
    "Attempt",
    "Engine",
    "NotScalar",
    "Options",
    "Solution",
    "Steady",
    "SteadyOptions",
    "System",
    "integrate",
    "integrate_ensemble",
    "last_attempt",
    "steady_state",
    "steady_states",
]
