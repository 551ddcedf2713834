"""Thousands of stiff batch reactors at once, beside other solvers that solve the same lanes in the same run.

    python benchmarks/ensembles.py [--rounds 5] [--parts batch ...] [--peers PYTHON] [--quick]

Every round runs each solver once, one after the other, so that a change of the machine's load meets all of them. Printed are medians of the
rounds (with the smallest and the largest) per system: CPU time of the process, all threads together, and wall time; ratios; and the goals
beside them. Errors are told in units of the tolerance, against kinetix at 1e-12, which SciPy's Radau has to confirm first. A tool that is
not installed is said and left out. A tool that finds other states, or a derivative that differences do not confirm, ends the run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import_began = time.perf_counter()

import jax
import jax.numpy as jnp
import numpy as np
from shared.rounds import Case, Cases, Elsewhere, Peer, goal, here, relative, spread, timed
from shared.surroundings import conclude, introduce, version_of

import kinetix as kx
from kinetix.constants import GAS_CONSTANT
from kinetix.network import production, production_jacobian, stack_laws
from kinetix.rates import mass_action
from kinetix.solvers import Engine, Options, Solution, System, integrate, integrate_ensemble, native

IMPORTED = time.perf_counter() - import_began

PARTS = {
    "batch": "beside numbalsoda, diffrax and SciPy",
    "sensitivities": "derivatives of the end state, relative to the plain solve",
    "gradient": "value and gradient of a sum of squares by few and by many constants, relative to the plain solve",
    "times": "twenty output times, relative to the end only",
    "laws": "the same reactions with adsorption terms, and adiabatic, beside numbalsoda and SciPy",
    "order": "lanes in the order given, sorted, sorted by the steps of the last run",
    "first": "the first call, with an empty cache of compiled programs and with a warm one",
    "sizes": "the first call and the time of a lane for 5, 10, 20, 53 species, by each program",
}

BATCH = "A + B -> C; C -> A + B; C -> D; D + A -> E"
LN_A = np.array([18.0, 20.0, 14.0, 22.0])
EA = np.array([55e3, 80e3, 60e3, 75e3])  # J/mol
R = 8.314  # J/mol/K, as rounded in the task
END = 1000.0  # s
RTOL, ATOL = 1e-6, 1e-9
TIGHT = 1e-12
SEED = 20
OTHER = 1000.0  # tolerances: a tool whose median lane is further off solved something else
CONFIRMED = 10.0  # the same, in units of RTOL/1000: how far Radau at 1e-12 may be from kinetix at 1e-12
SLOPE = 1e-5  # largest difference between a derivative and a central difference


class Sizes(NamedTuple):
    """How many lanes each solver gets, and how long the chains are."""

    batch: int = 8192
    diffrax: int = 256
    scipy: int = 24
    radau: int = 4
    order: int = 16384
    times: int = 20
    gradient: int = 10
    chains: tuple[int, ...] = (5, 10, 20)
    large: tuple[int, int] = (53, 325)


QUICK = Sizes(batch=128, diffrax=4, scipy=2, radau=1, order=128, times=2, gradient=3, chains=(3,), large=(6, 8))


PEERS = {
    "numbalsoda LSODA, 2 threads": Peer("ensemble_numbalsoda.py", "numbalsoda", "numbalsoda", RTOL, ATOL),
    "numbalsoda LSODA, 2 threads, rtol 1e-8": Peer("ensemble_numbalsoda.py", "numbalsoda", "numbalsoda", 1e-8, 1e-11),
    "diffrax Kvaerno5, vmap": Peer("ensemble_diffrax.py", "diffrax", "diffrax", RTOL, ATOL),
    "SciPy LSODA, loop": Peer("ensemble_scipy.py", "scipy", "scipy", RTOL, ATOL),
}
RADAU = Peer("ensemble_scipy.py", "scipy", "scipy", TIGHT, TIGHT * ATOL / RTOL, ("Radau",))
CPU_GOALS = {"numbalsoda LSODA, 2 threads": 8.0, "diffrax Kvaerno5, vmap": 200.0, "SciPy LSODA, loop": 300.0}
WALL_GOALS = {"numbalsoda LSODA, 2 threads": 5.0}

PLAIN = "kinetix"
SENSITIVITIES = "kinetix, 8 sensitivities"
GIVEN, SORTED, BY_STEPS = "as given", "sorted (default)", "sorted by the steps of the last run"


# What is solved


def system_of(text: str) -> tuple[System, int, int]:
    """Mass action in a closed, isothermal vessel; args are k [reaction] and T. Also how many species and reactions there are."""
    network = kx.parse_network(text, formulas=False)
    laws = [mass_action.law(dict(reaction.reactants)) for reaction in network.reactions]
    kinetics, _ = stack_laws(laws, network.stoichiometry, network.species, lambda reaction, name: reaction)
    n = len(network.species)
    padding = np.zeros(len(kinetics.stoichiometry) - n)

    def rhs(t: Any, y: Any, args: Any) -> Any:
        return production(kinetics, args["k"], args["T"], jnp.concatenate([y, padding]))[:n]

    def jacobian(t: Any, y: Any, args: Any) -> Any:
        return production_jacobian(kinetics, args["k"], args["T"], jnp.concatenate([y, padding]))[:n, :n]

    return System(rhs, jacobian, autonomous=True), n, len(laws)


def chain(n: int) -> str:
    """n species: A0 -> A1 -> ..., every third step reversible, every fourth helped by the next species; amounts add up to a constant."""
    steps = [f"A{i} -> A{i + 1}" for i in range(n - 1)]
    back = [f"A{i + 1} -> A{i}" for i in range(0, n - 1, 3)]
    pairs = [f"A{i} + A{i + 1} -> 2 A{i + 2}" for i in range(0, n - 2, 4)]
    return "; ".join([*steps, *back, *pairs])


def random_network(n: int, reactions: int) -> str:
    """Reactions between one or two of n species and one or two others, as sparse as a combustion mechanism."""
    random = np.random.default_rng(SEED)
    lines = []
    for i in range(reactions):
        left, right = random.integers(1, 3, 2)
        taking_part = random.permutation(n)
        if i < n:  # every species is in some reaction
            taking_part = np.concatenate([[i], taking_part[taking_part != i]])
        names = [f"S{j}" for j in taking_part[: left + right]]
        lines.append(f"{' + '.join(names[:left])} -> {' + '.join(names[left:])}")
    return "; ".join(lines)


class Lanes(NamedTuple):
    """Starts, temperatures and constants of all lanes."""

    y0: np.ndarray
    T: np.ndarray
    k: np.ndarray

    @property
    def args(self) -> dict[str, np.ndarray]:
        return {"k": self.k, "T": self.T}


def arrhenius(ln_A: np.ndarray, Ea: np.ndarray, T: np.ndarray) -> np.ndarray:
    """k [lane, reaction]."""
    return np.exp(ln_A - Ea / (R * T[:, None]))


def lanes_between(lanes: int, coldest: float, hottest: float) -> Lanes:
    """Random lanes: T, and A and B between 0.5 and 2."""
    random = np.random.default_rng(SEED)
    T = random.uniform(coldest, hottest, lanes)
    y0 = np.zeros((lanes, 5))
    y0[:, :2] = random.uniform(0.5, 2.0, (lanes, 2))
    return Lanes(y0, T, arrhenius(LN_A, EA, T))


def ends(lanes: int, times: int = 1) -> np.ndarray:
    """The output times [lane, time], evenly up to END."""
    return np.tile(np.linspace(0.0, END, times + 1)[1:], (lanes, 1))


# How it is solved by kinetix

at_tolerance, tightly = Options(RTOL, ATOL, 100_000), Options(TIGHT, TIGHT * ATOL / RTOL, 100_000)


def solver_of(system: System) -> Any:
    """(y0, args, times, options, cost=None) -> Solution, compiled."""

    def solve(y0: Any, args: Any, times: Any, options: tuple[Any, Any, Any], cost: Any = None) -> Solution:
        return integrate_ensemble(system, y0, args, times, options=Options(*options), cost=cost)

    return jax.jit(solve, compiler_options=native.OPTIONS)


def numbers(options: Options) -> tuple[Any, Any, Any]:
    """The options as numbers, so that other values need no other program."""
    return options.rtol, options.atol, options.max_steps


def sensitivities_of(system: System) -> Any:
    """(y0, args, times, options) -> d end/d (ln A, Ea) [lane, species, parameter], compiled.

    ln k = ln A - Ea/(R T), so both follow from the derivative by ln k of the lane.
    """

    def solve(y0: Any, args: Any, times: Any, options: tuple[Any, Any, Any]) -> Any:
        def end(k: Any) -> Any:
            return integrate_ensemble(system, y0, args | {"k": k}, times, options=Options(*options)).y[:, -1]

        k, T = args["k"], args["T"]
        by_ln_k = jax.vmap(lambda unit: jax.jvp(end, (k,), (k * unit,))[1], out_axes=-1)(jnp.eye(k.shape[1]))
        return jnp.concatenate([by_ln_k, -by_ln_k / (R * T[:, None, None])], axis=-1)

    return jax.jit(solve, compiler_options=native.OPTIONS)


# The parts: each prepares its cases and gives what shows them

Show = Callable[[Cases], None]


@dataclass
class Bench:
    """What the parts share."""

    sizes: Sizes
    python: str
    folder: Path
    exits: ExitStack
    cases: Cases = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.system, _, _ = system_of(BATCH)
        self.solve = solver_of(self.system)
        self.lanes = lanes_between(self.sizes.batch, 320.0, 420.0)
        self.times = ends(self.sizes.batch)

    def plain(self) -> None:
        """The case that others are relative to."""
        if PLAIN not in self.cases:
            once = here(self.solve, self.lanes.y0, self.lanes.args, self.times, numbers(at_tolerance))
            self.cases[PLAIN] = Case(self.sizes.batch, once)

    def end(self, lanes: Lanes, options: Options) -> np.ndarray:
        """The states at END; a lane that did not get there ends the run."""
        solution = self.solve(lanes.y0, lanes.args, self.times, numbers(options))
        check_all_arrived(solution)
        return np.asarray(solution.y[:, -1])


def check_all_arrived(solution: Solution) -> None:
    """Ends the run where a lane failed."""
    failed = int(np.sum(np.asarray(solution.status) != kx.Status.SUCCESS))
    if failed:
        raise SystemExit(f"kinetix: {failed} of {len(solution.status)} lanes did not arrive.")


def errors(y: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Root mean square over the species of error/(ATOL + RTOL |y|), by lane; lanes that failed are infinitely wrong."""
    expected = reference[: len(y)]
    found = np.sqrt(np.mean(((y - expected) / (ATOL + RTOL * np.abs(expected))) ** 2, axis=1))
    return np.where(np.isfinite(found), found, np.inf)


def prepare_batch(bench: Bench) -> Show:
    """kinetix and its peers."""
    sizes = bench.sizes
    bench.plain()
    problem = bench.folder / "problem.npz"
    np.savez(problem, y0=bench.lanes.y0, k=bench.lanes.k, tf=END, law="isothermal")
    reference = bench.end(bench.lanes, tightly)
    with Elsewhere(sys.executable, RADAU, problem, sizes.radau) as radau:
        apart = errors(np.load(radau.answer), reference).max()
    if apart > CONFIRMED / 1000:
        raise SystemExit(f"SciPy's Radau and kinetix, both at {TIGHT:g}, differ by {apart:.2g} tolerances.")
    print(f"reference: kinetix at {TIGHT:g}; SciPy's Radau on {sizes.radau} lanes differs by {apart:.1g} tolerances of {RTOL:g}")
    found = {PLAIN: errors(bench.end(bench.lanes, at_tolerance), reference)}
    many = {"numbalsoda": sizes.batch, "diffrax": sizes.diffrax, "scipy": sizes.scipy}
    for name, peer in PEERS.items():
        version = version_of(bench.python, peer.module)
        print(f"{name}: {version or f'not installed, left out (pip install {peer.package})'}")
        if version:
            elsewhere = bench.exits.enter_context(Elsewhere(bench.python, peer, problem, many[peer.module]))
            bench.cases[name] = Case(many[peer.module], elsewhere.once)
            found[name] = errors(np.load(elsewhere.answer), reference)
    for name, error in found.items():
        if np.median(error) > OTHER:
            raise SystemExit(f"{name} is {np.median(error):.2g} tolerances from kinetix in its median lane: not the same systems.")
    return partial(show_batch, found)


def show_batch(found: Mapping[str, np.ndarray], cases: Cases) -> None:
    """Times, ratios, errors, goals."""
    width = max(map(len, [*found, "wall microseconds per system"]))
    print(f"\n{'CPU microseconds per system':{width}}  median (range){'':14}ratio  lanes   error/tolerance: median, p99")
    reference = statistics.median(cases[PLAIN].cpu)
    for name, error in found.items():
        ratio = statistics.median(cases[name].cpu) / reference
        measured = f"{spread(cases[name].cpu):27} {ratio:6.1f}  {cases[name].lanes:5}"
        print(f"{name:{width}}  {measured}   {np.median(error):.2f}, {np.quantile(error, 0.99):.2f}")
    print("wall microseconds per system")
    quick = statistics.median(cases[PLAIN].wall)
    for name in found:
        print(f"{name:{width}}  {spread(cases[name].wall):27} {statistics.median(cases[name].wall) / quick:6.1f}")
    for name, least in CPU_GOALS.items():
        if name in found:
            goal(f"CPU, {name} / kinetix", statistics.median(cases[name].cpu) / reference, at_least=least)
    for name, least in WALL_GOALS.items():
        if name in found:
            goal(f"wall, {name} / kinetix", statistics.median(cases[name].wall) / quick, at_least=least)
    goal("kinetix, p99 of error/tolerance", float(np.quantile(found[PLAIN], 0.99)), at_most=1.0)


def prepare_sensitivities(bench: Bench) -> Show:
    """The derivatives by the eight Arrhenius parameters, checked by central differences along a random direction."""
    bench.plain()
    lanes, solve = bench.lanes, sensitivities_of(bench.system)
    arguments = (lanes.y0, lanes.args, bench.times, numbers(at_tolerance))
    direction = np.random.default_rng(SEED).normal(size=(2, len(LN_A))) * np.array([[1.0], [1e3]])
    h = 1e-4
    moved = [lanes._replace(k=arrhenius(LN_A + s * h * direction[0], EA + s * h * direction[1], lanes.T)) for s in (1, -1)]
    forth, back = (bench.end(one, tightly) for one in moved)
    slope = np.asarray(solve(*arguments)) @ direction.ravel()
    apart = np.abs(slope - (forth - back) / (2 * h)).max()
    if not apart < SLOPE:
        raise SystemExit(f"Sensitivities and central differences at {TIGHT:g} differ by {apart:.2g}.")
    bench.cases[SENSITIVITIES] = Case(bench.sizes.batch, here(solve, *arguments))

    def show(cases: Cases) -> None:
        relative("sensitivities of the end state to 8 Arrhenius parameters", cases, SENSITIVITIES, PLAIN, at_most=8.0)
        print(f"largest difference from central differences along a random direction: {apart:.1g}, slopes up to {np.abs(slope).max():.2g}")

    return show


def squares_of(system: System) -> Any:
    """(k, y0, T, times, options) -> the sum of squares of all end states."""

    def squares(k: Any, y0: Any, T: Any, times: Any, options: tuple[Any, Any, Any], derivatives: Any = "auto") -> Any:
        solution = integrate_ensemble(system, y0, {"k": k, "T": T}, times, options=Options(*options, derivatives=derivatives))
        return jnp.sum(solution.y**2)

    return squares


def prepare_gradient(bench: Bench) -> Show:
    """Value and gradient in reverse, for the batch by ln A and Ea of all lanes together, and for a chain by the constants of each lane."""
    n = bench.sizes.gradient
    chained, species, reactions = system_of(chain(n))
    random = np.random.default_rng(SEED)
    batch, system = bench.lanes, bench.system
    start = np.zeros((bench.sizes.batch, species))
    start[:, 0] = 1.0
    constants = 10 ** random.uniform(-4.0, 0.0, (bench.sizes.batch, reactions))
    options = numbers(at_tolerance)

    def of_arrhenius(parameters: Any, y0: Any, T: Any, times: Any, options: Any) -> Any:
        k = jnp.exp(parameters[0] - parameters[1] / (R * T[:, None]))
        return squares_of(system)(k, y0, T, times, options, "reverse")

    def of_constants(ln_k: Any, y0: Any, T: Any, times: Any, options: Any) -> Any:
        return squares_of(chained)(jnp.exp(ln_k), y0, T, times, options, "reverse")

    cases = {
        f"8 Arrhenius parameters, {len(LN_A)} constants": (of_arrhenius, np.array([LN_A, EA]), batch.y0),
        f"chain of {species}, {reactions} constants": (of_constants, np.log(constants), start),
    }
    for name, (squares, point, y0) in cases.items():
        arguments = (point, y0, batch.T, bench.times, options)
        plain, both = (jax.jit(f, compiler_options=native.OPTIONS) for f in (squares, jax.value_and_grad(squares)))
        scale = np.abs(point) * 1e-4
        forth, back = (plain(point + s * scale, y0, batch.T, bench.times, numbers(tightly)) for s in (1, -1))
        slope, difference = float(np.sum(np.asarray(both(*arguments)[1]) * scale)), float(forth - back) / 2
        if not abs(slope - difference) < 1e-3 * abs(difference):
            raise SystemExit(f"{name}: the slope is {slope:g}, central differences say {difference:g}.")
        bench.cases[f"{name}: value"] = Case(bench.sizes.batch, here(plain, *arguments))
        bench.cases[f"{name}: value and gradient"] = Case(bench.sizes.batch, here(both, *arguments))

    def show(measured: Cases) -> None:
        for name in cases:
            title = f"value and gradient in reverse, {name}"
            relative(title, measured, f"{name}: value and gradient", f"{name}: value", at_most=10.0)

    return show


def prepare_times(bench: Bench) -> Show:
    """Outputs on the way; the last is the end."""
    bench.plain()
    name = f"kinetix, {bench.sizes.times} times"
    arguments = (bench.lanes.y0, bench.lanes.args, ends(bench.sizes.batch, bench.sizes.times), numbers(at_tolerance))
    solution = bench.solve(*arguments)
    check_all_arrived(solution)
    end = bench.end(bench.lanes, at_tolerance)
    apart = errors(np.asarray(solution.y[:, -1]), end).max()
    if apart > OTHER:
        raise SystemExit(f"The end states with and without outputs on the way differ by {apart:.2g} tolerances.")
    bench.cases[name] = Case(bench.sizes.batch, here(bench.solve, *arguments))
    return lambda cases: relative(f"{bench.sizes.times} output times beside the end only", cases, name, PLAIN, at_most=1.6)


class Law(NamedTuple):
    """The same reactions with other equations: a problem as a user writes it, the array of its lanes that varies, and how peers see it.

    constants : of the peers, from the temperature T [lane] at the start.
    states : how many states the peers have.
    """

    problem: kx.Problem
    temperature: str
    constants: Callable[[np.ndarray], np.ndarray]
    states: int


KA, KC = 0.5, 1.0  # m^3/mol
CAPACITY = 2500.0  # J/m^3/K
ENTHALPIES = np.array([-50e3, 50e3, -30e3, -60e3])  # J/mol


def laws() -> dict[str, Law]:
    """With all rates divided by (1 + KA [A] + KC [C])^2, and adiabatic."""
    network = kx.parse_network(BATCH, formulas=False)
    known = {"initial.A": "1 mol/m^3", "initial.B": "1 mol/m^3", "initial.default": "0 mol/m^3"}
    for j, unit in enumerate(("m^3/mol/s", "1/s", "1/s", "m^3/mol/s")):
        known |= {f"r{j + 1}.A": f"{float(np.exp(LN_A[j]))!r} {unit}", f"r{j + 1}.Ea": f"{float(EA[j])!r} J/mol"}
    site = "(1 + KA*[A] + KC*[C])^2"
    rates = {"r1": f"k*[A]*[B]/{site}", "r2": f"k*[C]/{site}", "r3": f"k*[C]/{site}", "r4": f"k*[D]*[A]/{site}"}
    how: Any = {"times": [0.0, END], "rtol": RTOL, "atol": f"{ATOL!r} mol/m^3"}
    covered = kx.problem(
        kx.Batch(network, rates=rates), {**known, "KA": f"{KA!r} m^3/mol", "KC": f"{KC!r} m^3/mol"}, conditions={"T": "350 K"}, **how
    )
    heats = {f"r{j + 1}.dHr": f"{float(heat)!r} J/mol" for j, heat in enumerate(ENTHALPIES)}
    vessel = kx.Batch(network, energy={"type": "adiabatic", "heat_capacity": f"{CAPACITY!r} J/m^3/K"})
    warm = kx.problem(vessel, known | heats, conditions={"T_initial": "350 K"}, **how)

    def surface(T: np.ndarray) -> np.ndarray:
        k = np.exp(LN_A - EA / (GAS_CONSTANT * T[:, None]))
        return np.concatenate([k, np.full((len(T), 2), [KA, KC])], axis=1)

    def heat(T: np.ndarray) -> np.ndarray:
        return np.tile(np.concatenate([LN_A, EA / GAS_CONSTANT, -ENTHALPIES / CAPACITY]), (len(T), 1))

    return {"inhibited": Law(covered, "T", surface, 5), "adiabatic": Law(warm, "T_start", heat, 6)}


def prepare_laws(bench: Bench) -> Show:
    """By `predict`, as a user would, on all cores."""
    kinds, found = laws(), dict[str, tuple[str, float]]()
    many = bench.sizes.batch
    ours = lanes_between(many, 320.0, 420.0)
    for law_name, law in kinds.items():
        lanes = {name: np.repeat(array, many, axis=0) for name, array in law.problem.lanes.items()}
        lanes["initial"] = np.pad(ours.y0, ((0, 0), (0, lanes["initial"].shape[1] - 5)))
        lanes[law.temperature] = ours.T
        predicted = partial(kx.predict, law.problem.model, law.problem.parameters, lanes)
        y0 = ours.y0 if law.states == 5 else np.concatenate([ours.y0, ours.T[:, None]], axis=1)
        problem = bench.folder / f"{law_name}.npz"
        np.savez(problem, y0=y0, k=law.constants(ours.T), tf=END, law=law_name)
        reference = predicted().values[:, -1]
        bench.cases[f"kinetix, {law_name}"] = Case(many, timed(predicted))
        for peer_name, peer in PEERS.items():
            if peer.module in ("numbalsoda", "scipy") and peer.rtol == RTOL and version_of(bench.python, peer.module):
                some = many if peer.module == "numbalsoda" else bench.sizes.scipy
                elsewhere = bench.exits.enter_context(Elsewhere(bench.python, peer, problem, some))
                bench.cases[f"{peer_name}, {law_name}"] = Case(some, elsewhere.once)
                apart = errors(np.load(elsewhere.answer), reference)
                if np.median(apart) > OTHER:
                    raise SystemExit(f"{peer_name}, {law_name}: {np.median(apart):.2g} tolerances from kinetix in its median lane.")
                found[f"{peer_name}, {law_name}"] = (f"kinetix, {law_name}", float(np.median(apart)))

    def show(cases: Cases) -> None:
        width = max(map(len, [*cases, "CPU microseconds per system"]))
        print(f"\n{'CPU microseconds per system':{width}}  median (range)              ratio  apart from kinetix, tolerances: median")
        for law_name in kinds:
            print(f"{f'kinetix, {law_name}':{width}}  {spread(cases[f'kinetix, {law_name}'].cpu)}")
        for name, (reference, apart) in found.items():
            ratio = statistics.median(cases[name].cpu) / statistics.median(cases[reference].cpu)
            print(f"{name:{width}}  {spread(cases[name].cpu):27} {ratio:6.1f}  {apart:.2g}")

    return show


def prepare_order(bench: Bench) -> Show:
    """One ensemble of very different lanes, in three orders."""
    many = bench.sizes.order
    lanes, times = lanes_between(many, 300.0, 600.0), ends(many)
    arguments = (lanes.y0, lanes.args, times, numbers(at_tolerance))
    first = bench.solve(*arguments)
    check_all_arrived(first)
    orders = {GIVEN: np.arange(many), SORTED: fastest_loss(bench.system, lanes), BY_STEPS: np.asarray(first.steps)}
    lost = {name: lost_steps(np.asarray(first.steps + first.rejected), order) for name, order in orders.items()}
    for name, order in orders.items():
        cost = () if name == SORTED else (order,)
        bench.cases[name] = Case(many, here(bench.solve, *arguments, *cost))

    def show(cases: Cases) -> None:
        width = max(map(len, orders))
        print(f"\n{f'{many} lanes of 300 to 600 K':{width}}  CPU us/system (range)       ratio  lane-steps lost")
        for name in orders:
            ratio = statistics.median(cases[name].cpu) / statistics.median(cases[GIVEN].cpu)
            print(f"{name:{width}}  {spread(cases[name].cpu):27} {ratio:5.2f}  {lost[name]:.1%}")
        goal("sorted / as given, CPU", statistics.median(cases[SORTED].cpu) / statistics.median(cases[GIVEN].cpu), at_most=1.0)
        goal("sorted, lane-steps lost", lost[SORTED], at_most=0.3)

    return show


def fastest_loss(system: System, lanes: Lanes) -> np.ndarray:
    """What the ensemble sorts by: the largest diagonal entry of the Jacobian at the start."""
    jacobians = jax.vmap(partial(system.matrix, 0.0))(lanes.y0, lanes.args)
    return np.asarray(jnp.abs(jnp.diagonal(jacobians, axis1=1, axis2=2)).max(axis=1))


def lost_steps(own: np.ndarray, cost: np.ndarray) -> float:
    """Steps that lanes wait for others of their block, relative to the steps they need."""
    sorted_steps = own[np.argsort(cost, stable=True)]
    filled = np.pad(sorted_steps, (0, -len(own) % Engine.block), mode="edge").reshape(-1, Engine.block)
    return float(Engine.block * filled.max(axis=1).sum() / own.sum()) - 1


FIRST_CALL = ("import", "trace", "compile", "run")


ENGINES = {
    "engine": Engine(lanes=1),
    "table": Engine(lanes=1, operations=0),
    "general program": Engine(lanes=sys.maxsize, large_lanes=sys.maxsize),
}
"""What may solve the lanes: what the engine takes if insisted on; a table in any case; neither."""


def first_call(text: str, lanes: int, cache: Path | None, by: str = "engine", decades: int = 0) -> dict[str, float]:
    """What a fresh process spends until its first ensemble is solved, in seconds, with the cache of compiled programs in this folder; and
    CPU time and steps of a lane."""
    environment = dict(os.environ) | {"JAX_ENABLE_COMPILATION_CACHE": "true" if cache else "false"}
    if cache:
        environment |= {"JAX_COMPILATION_CACHE_DIR": str(cache), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
        environment |= {"JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
    command = [sys.executable, __file__, "--first-call", text, str(lanes), by, str(decades)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if result.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {result.returncode}:\n{result.stderr}")
    return json.loads(result.stdout.splitlines()[-1])


def answer_first_call(text: str, lanes: int, by: str, decades: int) -> None:
    """The other end of `first_call`: the numbers, as JSON; amounts of 1, constants over so many decades around 1, and 5 % by lane."""
    system, n, reactions = system_of(text)

    def solve(y0: Any, args: Any, times: Any, options: tuple[Any, Any, Any]) -> Solution:
        def one(y0: Any, args: Any, times: Any) -> Solution:
            return integrate(system, y0, args, times, options=Options(*options), engine=ENGINES[by])

        return jax.vmap(one)(y0, args, times)

    program = jax.jit(solve, compiler_options=native.OPTIONS)
    random = np.random.default_rng(SEED)
    k = 10.0 ** random.uniform(-decades / 2, decades / 2, reactions) * random.uniform(0.95, 1.05, (lanes, 1))
    args = {"k": k, "T": np.full(lanes, 350.0)}
    arguments = (np.ones((lanes, n)), args, np.ones((lanes, 1)), numbers(at_tolerance))
    marks, cpu = [time.perf_counter()], time.process_time()
    traced = program.trace(*arguments).lower()
    marks.append(time.perf_counter())
    compiled = traced.compile()
    marks.append(time.perf_counter())
    solution = jax.block_until_ready(compiled(*arguments))
    check_all_arrived(solution)
    marks.append(time.perf_counter())
    seconds = dict(zip(FIRST_CALL, [IMPORTED, *np.diff(marks)], strict=True)) | {"cpu": time.process_time() - cpu}
    cpu = time.process_time()
    jax.block_until_ready(compiled(*arguments))
    print(json.dumps(seconds | {"lane": (time.process_time() - cpu) / lanes, "steps": float(np.mean(solution.steps + solution.rejected))}))


def show_first(bench: Bench, rounds: int) -> None:
    """First calls in fresh processes, round by round."""
    told: dict[str, list[dict[str, float]]] = {"empty cache": [], "warm cache": []}
    with tempfile.TemporaryDirectory() as warm:
        first_call(BATCH, bench.sizes.batch, Path(warm))
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as empty:
                told["empty cache"].append(first_call(BATCH, bench.sizes.batch, Path(empty)))
            told["warm cache"].append(first_call(BATCH, bench.sizes.batch, Path(warm)))
    print(f"\nfirst call of the batch in a fresh process, seconds, medians of {rounds}")
    for name, values in told.items():
        print(f"{name:12} {waiting(values)}")
    for name, most in {"empty cache": 6.0, "warm cache": 1.0}.items():
        goal(f"trace and compile, {name}, s", statistics.median(one["trace"] + one["compile"] for one in told[name]), at_most=most)


def show_sizes(bench: Bench, rounds: int) -> None:
    """First calls and lanes of larger networks."""
    print(f"\n{Engine.block} lanes, constants over ten decades, fresh processes without a cache; seconds, medians of {rounds}")
    networks: dict[str, tuple[str, tuple[str, ...]]] = {
        f"{n:2} species in a chain": (chain(n), ("engine", "table", "general program")) for n in bench.sizes.chains
    }
    n, reactions = bench.sizes.large
    networks[f"{n:2} species, {reactions} reactions"] = (random_network(n, reactions), ("table", "general program"))
    for name, (text, programs) in networks.items():
        for by in programs:
            values = [first_call(text, Engine.block, None, by, 10) for _ in range(rounds)]
            lane, steps = (statistics.median(one[what] for one in values) for what in ("lane", "steps"))
            print(f"{name}, {by:15}   {waiting(values)}")
            print(f"{'':8}a lane: {1e3 * lane:.3f} ms of CPU, {steps:.0f} steps, {1e6 * lane / steps:.2f} us each")


def waiting(values: list[dict[str, float]]) -> str:
    """Where the time goes."""
    sums = [sum(one[part] for part in FIRST_CALL[1:]) for one in values]
    parts = {part: statistics.median(one[part] for one in values) for part in (*FIRST_CALL[1:], "cpu", "import")}
    split = ", ".join(f"{part} {parts[part]:.2f}" for part in FIRST_CALL[1:])
    return f"{spread(sums, 2)}: {split}; CPU {parts['cpu']:.2f}; before that, import {parts['import']:.2f}"


PREPARED: dict[str, Callable[[Bench], Show]] = {
    "batch": prepare_batch,
    "sensitivities": prepare_sensitivities,
    "gradient": prepare_gradient,
    "times": prepare_times,
    "laws": prepare_laws,
    "order": prepare_order,
}
"""Parts whose cases take turns."""
STARTED: dict[str, Callable[[Bench, int], None]] = {"first": show_first, "sizes": show_sizes}
"""Parts that start processes of their own."""


def measure(parts: list[str], rounds: int, sizes: Sizes, python: str) -> None:
    """All parts: those that take turns together, then the others."""
    with kx.float64(), ExitStack() as exits:
        bench = Bench(sizes, python, Path(exits.enter_context(tempfile.TemporaryDirectory())), exits)
        shown = [PREPARED[part](bench) for part in parts if part in PREPARED]
        for _ in range(rounds):
            for case in bench.cases.values():
                case.run()
        for show in shown:
            show(bench.cases)
        for part in parts:
            if part in STARTED:
                STARTED[part](bench, rounds)


def main() -> None:
    """Reads the options, measures, prints."""
    told = "\n".join(f"  {name:14}{text}" for name, text in PARTS.items())
    parser = argparse.ArgumentParser(description=f"{__doc__}\nparts:\n{told}", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each solver is run (default 5)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help="which parts (default: all)")
    parser.add_argument(
        "--peers", default=sys.executable, metavar="PYTHON", help="interpreter that has the other tools (default: this one)"
    )
    parser.add_argument("--quick", action="store_true", help="few lanes and short chains: whether it runs, not how fast")
    parser.add_argument("--first-call", nargs=4, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.first_call:
        with kx.float64():
            text, lanes, by, decades = wanted.first_call
            answer_first_call(text, int(lanes), by, int(decades))
        return
    load = introduce()
    if wanted.quick:
        print("Few lanes and short chains: this shows that everything runs, and no figure means anything.")
    measure(wanted.parts, wanted.rounds, QUICK if wanted.quick else Sizes(), wanted.peers)
    conclude(load)


if __name__ == "__main__":
    main()
