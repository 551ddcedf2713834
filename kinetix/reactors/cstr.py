"""Continuous stirred tank at steady state, isothermal, constant density.

    0 = (c_feed,i - c_i)/tau + sum_j nu_ij r_j(c, T),   tau = V/Q

Levenspiel, Chemical Reaction Engineering (3rd ed., 1999), chapter 5.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetix.errors import ConditionError
from kinetix.network import Kinetics
from kinetix.rates import Thermal, constants_at
from kinetix.reactors.balances import Contents, Flow, through_flow, through_flow_jacobian
from kinetix.reactors.energy import Isothermal
from kinetix.reactors.reactor import Lane, Reactor, States
from kinetix.solvers import Options, SteadyOptions, System, steady_state
from kinetix.units import DIMENSIONLESS, FLOW, PRESSURE, TEMPERATURE, TIME, VOLUME, si_unit

SYSTEM = System(through_flow, through_flow_jacobian, autonomous=True)


def solve(kinetics: Kinetics, thermal: Thermal, lane: Lane, options: Options) -> States:
    """Outlet concentrations: the steady state that is found from the feed composition."""
    del options
    constants = constants_at(thermal, lane["T"])
    flow = Flow(Contents(kinetics, Isothermal(lane["T"], constants)), lane["tau"], lane["feed"])
    steady = steady_state(SYSTEM, lane["feed"], flow, SteadyOptions(atol=lane["atol"]))
    return States(steady.y[None], lane["T"][None], constants[None], steady.status, steady.iterations)


def lane_conditions(given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The residence time tau from tau, from 1/tau, or from V and Q.

    Raises:
        ConditionError: none of them, several of them, or values that are not above zero.
    """
    ways = {
        "tau": lambda: given["tau"],
        "1/tau": lambda: 1.0 / given["1/tau"],
        "V and Q": lambda: given["V"] / given["Q"],
    }
    present = [name for name in ("tau", "1/tau") if name in given]
    if "V" in given or "Q" in given:
        missing = [name for name in ("V", "Q") if name not in given]
        if missing and not present:
            other = "V" if "Q" in missing else "Q"
            raise ConditionError(f"cstr: '{other}' is given without '{missing[0]}'. Give V and Q, or tau, or 1/tau (space velocity).")
        if not missing:
            present.append("V and Q")
    if not present:
        raise ConditionError(
            'cstr: no residence time. Add a column such as "tau [min]", or "1/tau" (space velocity), or V and Q,'
            ' or write tau = "10 min" under [conditions].'
        )
    if len(present) > 1:
        raise ConditionError(f"cstr: the residence time is given more than once ({', '.join(present)}). Keep one.")
    for name in {"V and Q": ("V", "Q")}.get(present[0], (present[0],)):
        bad = np.flatnonzero(~(given[name] > 0))
        if bad.size:
            written = f"{given[name][bad[0]]:g} {si_unit(CSTR.conditions[name]).text}"
            raise ConditionError(f"cstr: {name} is {written} in experiment number {bad[0] + 1}; it must be above 0. Correct it there.")
    return {"tau": ways[present[0]]()}


CSTR = Reactor(
    name="cstr",
    summary="continuous stirred tank at steady state, constant density, one row per steady state",
    timed=False,
    conditions={"T": TEMPERATURE, "P": PRESSURE, "tau": TIME, "1/tau": DIMENSIONLESS / TIME, "V": VOLUME, "Q": FLOW},
    needs_feed=True,
    needs_initial=False,
    measures_rates=False,
    lane_conditions=lane_conditions,
    solve=solve,
)
