"""Steady states of a hundred thousand stirred tanks at once, beside other solvers that solve the same tanks in the same run.

    python benchmarks/tanks.py [--rounds 5] [--peers PYTHON] [--quick]

The reactions of ensembles.py in a tank: easy ones (320 to 420 K, residence times of 10 to 1000 s) and hard ones (300 to 600 K, 0.1 to
1e5 s). Every round runs each solver once, one after the other. Printed are medians of the rounds (with the smallest and the largest) of CPU
time per tank, ratios, how many tanks each solver found, how far its states are from those of kinetix, and the goals. kinetix also says of
each state that disturbances of it decay, which the others do not look at. Its states have to satisfy the balances, and its derivatives
central differences; otherwise the run ends.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from ensembles import BATCH, EA, LN_A, SEED, R, arrhenius, system_of
from shared.rounds import Case, Cases, Elsewhere, Peer, goal, here, spread
from shared.surroundings import conclude, introduce, version_of

import kinetix as kx
from kinetix.solvers import Engine, Steady, System, native, steady_state, steady_states

RTOL, ATOL = 1e-10, 1e-10
"""Of the others. fsolve and optimistix look at the last change, the loop of numba at the balances times tau."""
PEERS = {
    "numba, damped Newton, 2 threads": Peer("steady_numba.py", "numba", "numba", RTOL, ATOL),
    "optimistix Newton, vmap": Peer("steady_optimistix.py", "optimistix", "optimistix", 1e-8, ATOL),
    "optimistix Dogleg, vmap": Peer("steady_optimistix.py", "optimistix", "optimistix", 1e-8, ATOL, ("Dogleg",)),
    "SciPy fsolve, loop": Peer("steady_scipy.py", "scipy", "scipy", RTOL, ATOL),
}
GOALS = {"numba, damped Newton, 2 threads": 3.0, "optimistix Newton, vmap": 20.0, "SciPy fsolve, loop": 300.0}
PLAIN, DERIVATIVES = "kinetix", "kinetix, 11 derivatives"
NUMBA = next(iter(PEERS))
SLOPE = 1e-5
"""Largest difference between a derivative and a central difference."""
BALANCE = 1e-12
"""Largest residual of a state relative to the terms of its balance."""


class Sizes(NamedTuple):
    """How many tanks each solver gets."""

    tanks: int = 131_072
    optimistix: int = 4096
    scipy: int = 300


QUICK = Sizes(256, 32, 4)


class Tanks(NamedTuple):
    """Feeds of A and B, residence times, temperatures."""

    feed: np.ndarray
    tau: np.ndarray
    T: np.ndarray

    @property
    def k(self) -> np.ndarray:
        return arrhenius(LN_A, EA, self.T)


def some_tanks(count: int, hard: bool) -> Tanks:
    """Random ones, in the order of fastest rate times residence time."""
    random = np.random.default_rng(SEED)
    T = random.uniform(300, 600, count) if hard else random.uniform(320, 420, count)
    tau = 10 ** (random.uniform(-1, 5, count) if hard else random.uniform(1, 3, count))
    tanks = Tanks(random.uniform(0.1, 3, (count, 2)), tau, T)
    order = np.argsort(tanks.k.max(axis=1) * tau)
    return Tanks(*(x[order] for x in tanks))


def tank() -> tuple[System, int]:
    """The reactions in a tank; args are k, T, tau, and the feed of A and B."""
    reactions, n, _ = system_of(BATCH)

    def rhs(t: Any, c: Any, args: Any) -> Any:
        feed = jnp.concatenate([args["feed"], jnp.zeros(n - 2)])
        return (feed - c) * (1.0 / args["tau"]) + reactions.rates(t, c, args)

    def jacobian(t: Any, c: Any, args: Any) -> Any:
        return reactions.matrix(t, c, args) - jnp.eye(n) * (1.0 / args["tau"])

    return System(rhs, jacobian, autonomous=True), n


SYSTEM, SPECIES = tank()


def states(args: Any) -> Steady:
    """From the feed."""
    feed = args["feed"]
    return steady_states(SYSTEM, jnp.concatenate([feed, jnp.zeros((feed.shape[0], SPECIES - 2))], axis=1), args)


def derivatives(args: Any) -> tuple[Any, Any]:
    """The states, and d state/d(ln A, Ea, tau, feed of A and B) [lane, species, 11].

    ln k = ln A - Ea/(R T), so that the first eight follow from the derivatives by ln k.
    """

    def tank(by: Any, T: Any) -> tuple[Any, Any]:
        own = {"k": jnp.exp(by["ln k"]), "T": T, "tau": by["tau"], "feed": by["feed"]}
        c = steady_state(SYSTEM, jnp.concatenate([own["feed"], jnp.zeros(SPECIES - 2)]), own, engine=Engine(1)).y
        return c, c

    by = {"ln k": jnp.log(args["k"]), "tau": args["tau"], "feed": args["feed"]}
    slopes, c = jax.vmap(jax.jacfwd(tank, has_aux=True))(by, args["T"])
    by_Ea = -slopes["ln k"] / (R * args["T"][:, None, None])
    return c, jnp.concatenate([slopes["ln k"], by_Ea, slopes["tau"][..., None], slopes["feed"]], axis=-1)


plain = jax.jit(states, compiler_options=native.OPTIONS)
with_derivatives = jax.jit(derivatives, compiler_options=native.OPTIONS)


def arguments(tanks: Tanks) -> dict[str, np.ndarray]:
    """As `SYSTEM` takes them."""
    return {"k": tanks.k, "T": tanks.T, "tau": tanks.tau, "feed": tanks.feed}


def confirm(tanks: Tanks, steady: Steady) -> None:
    """Ends the run where a state does not satisfy its balances, or a derivative no central difference."""
    found = np.asarray(steady.status) == kx.Status.SUCCESS
    worst = np.asarray(steady.residual_norm)[found].max()
    if not worst < BALANCE:
        raise SystemExit(f"kinetix: a balance does not close, by {worst:.2g} of its terms.")
    random, h = np.random.default_rng(SEED), 1e-4
    ways = random.normal(size=2 * len(LN_A) + 3) * np.repeat([1.0, 1e3, 0.0, 1.0], [len(LN_A), len(LN_A), 1, 2])

    def moved(sign: float) -> np.ndarray:
        ln_A, Ea, feed = LN_A + sign * h * ways[:4], EA + sign * h * ways[4:8], tanks.feed + sign * h * ways[9:]
        return np.asarray(plain(arguments(tanks) | {"k": arrhenius(ln_A, Ea, tanks.T), "tau": tanks.tau * (1 + sign * h), "feed": feed}).y)

    slopes = np.asarray(with_derivatives(arguments(tanks))[1])
    slopes = np.concatenate([slopes[..., :8], slopes[..., 8:9] * tanks.tau[:, None, None], slopes[..., 9:]], axis=-1)
    along = slopes @ np.where(np.arange(11) == 8, 1.0, ways)
    apart = np.nanmax(np.abs(along - (moved(1) - moved(-1)) / (2 * h)))
    if not apart < SLOPE:
        raise SystemExit(f"Derivatives and central differences differ by {apart:.2g}.")
    print(f"kinetix: largest residual {worst:.1g} of its terms; derivatives within {apart:.1g} of central differences along a direction")


def measure(name: str, tanks: Tanks, sizes: Sizes, rounds: int, python: str, exits: ExitStack) -> None:
    """One kind of tanks."""
    print(f"\n{name}")
    steady = plain(arguments(tanks))
    confirm(tanks, steady)
    reference = np.asarray(steady.y)
    problem = Path(exits.enter_context(tempfile.TemporaryDirectory())) / "problem.npz"
    np.savez(problem, feed=np.pad(tanks.feed, ((0, 0), (0, SPECIES - 2))), tau=tanks.tau, k=tanks.k)
    cases: Cases = {
        PLAIN: Case(sizes.tanks, here(plain, arguments(tanks))),
        DERIVATIVES: Case(sizes.tanks, here(with_derivatives, arguments(tanks))),
    }
    answers = {PLAIN: reference, DERIVATIVES: reference}
    many = {"numba": sizes.tanks, "optimistix": sizes.optimistix, "scipy": sizes.scipy}
    for peer_name, peer in PEERS.items():
        if version_of(python, peer.module):
            elsewhere = exits.enter_context(Elsewhere(python, peer, problem, many[peer.module]))
            cases[peer_name] = Case(many[peer.module], elsewhere.once)
            answers[peer_name] = np.load(elsewhere.answer)
    for _ in range(rounds):
        for case in cases.values():
            case.run()
    show(cases, answers, reference)
    found = float(np.mean(np.asarray(steady.status) == kx.Status.SUCCESS))
    goal(f"kinetix, share of the tanks found, {name.split(':')[0]}", found, at_least=0.999)


def show(cases: Cases, answers: dict[str, np.ndarray], reference: np.ndarray) -> None:
    """Times, ratios, answers, goals."""
    width = max(map(len, [*cases, "CPU microseconds per tank"]))
    medians = {name: statistics.median(case.cpu) for name, case in cases.items()}
    print(f"{'CPU microseconds per tank':{width}}  median (range)             ratio   tanks   found   furthest from kinetix")
    for name, case in cases.items():
        y = answers[name]
        apart = np.nanmax(np.abs(y - reference[: len(y)]))
        found = f"{np.mean(np.isfinite(y[:, 0])):8.3%}"
        print(f"{name:{width}}  {spread(case.cpu, 2):25} {medians[name] / medians[PLAIN]:6.1f}  {case.lanes:6}  {found}   {apart:.1g}")
    for name, least in GOALS.items():
        if name in cases:
            goal(f"CPU, {name} / kinetix", medians[name] / medians[PLAIN], at_least=least)
    if NUMBA in cases:
        goal(f"CPU, {DERIVATIVES} / {NUMBA}", medians[DERIVATIVES] / medians[NUMBA], at_most=1.5)


def main() -> None:
    """Reads the options, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each solver is run (default 5)")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="interpreter with the other tools (default: this one)")
    parser.add_argument("--quick", action="store_true", help="few tanks: whether it runs, not how fast")
    wanted = parser.parse_args()
    load = introduce()
    if wanted.quick:
        print("Few tanks: this shows that everything runs, and no figure means anything.")
    for name, peer in PEERS.items():
        print(f"{name}: {version_of(wanted.peers, peer.module) or f'not installed, left out (pip install {peer.package})'}")
    sizes = QUICK if wanted.quick else Sizes()
    with kx.float64(), ExitStack() as exits:
        for name, hard in {"easy: 320 to 420 K, 10 to 1000 s": False, "hard: 300 to 600 K, 0.1 to 1e5 s": True}.items():
            measure(name, some_tanks(sizes.tanks, hard), sizes, wanted.rounds, wanted.peers, exits)
    conclude(load)


if __name__ == "__main__":
    main()
