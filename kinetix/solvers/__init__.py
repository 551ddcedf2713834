"""Solvers: stiff integration and steady states, differentiable at any order. They know only functions of (t, y, args).

`integrate` and `steady_state` are general programs of one lane, quick to compile. `integrate_ensemble` and `steady_states` are the
engine for many lanes:

| file | job |
|---|---|
| `tableau`, `control` | the method and its step sizes, one for both |
| `stepping`, `integration` | the general program of one lane; what users call |
| `pseudo_transient`, `stability`, `steady` | the same for steady states |
| `diagnosis` | why one lane of `integration` failed |
| `scalars`, `layouts` | programs of scalars; pytrees as lists of them |
| `reading` | reads a JAX function of small arrays into such a program |
| `factors`, `rodas` | elimination, a step and its derivative, on scalars |
| `native` | the compiler tricks, all of them |
| `blocks`, `ensemble` | what runs in a block of lanes; their order, the rule of derivatives |
| `large`, `tables` | the same for large networks, whose programs run as tables |
| `steady_ensemble` | the same for steady states |
| `sensitivity`, `sweeps` | the rule of derivatives: by the matrix, or by its products where it has many columns |
| `replay`, `lane_sweeps`, `block_sweeps`, `transposition` | sweeps back through stored steps, of a lane and of a block |

`all_states` finds every steady state of a family of equations, and follows curves of them over a condition, on the host (`multiplicity`,
`continuation`).
"""

from kinetix.solvers.continuation import Axis, Curve, Family, Point
from kinetix.solvers.diagnosis import Attempt, last_attempt
from kinetix.solvers.ensemble import AUTOMATIC, Engine
from kinetix.solvers.integration import Options, Solution, integrate, integrate_ensemble
from kinetix.solvers.multiplicity import Multiplicity, Refined, all_states, curves_through
from kinetix.solvers.replay import Kept
from kinetix.solvers.scalars import NotScalar
from kinetix.solvers.steady import Steady, SteadyOptions, steady_state, steady_states
from kinetix.solvers.system import Arguments, System

__all__ = [
    "AUTOMATIC",
    "Arguments",
    "Attempt",
    "Axis",
    "Curve",
    "Engine",
    "Family",
    "Kept",
    "Multiplicity",
    "NotScalar",
    "Options",
    "Point",
    "Refined",
    "Solution",
    "Steady",
    "SteadyOptions",
    "System",
    "all_states",
    "curves_through",
    "integrate",
    "integrate_ensemble",
    "last_attempt",
    "steady_state",
    "steady_states",
]
