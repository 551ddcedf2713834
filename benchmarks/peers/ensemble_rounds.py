"""What the peers of ensembles.py share: how they are asked, and how they answer.

    python PEER problem.npz answer.npy LANES RTOL ATOL

problem.npz holds y0 [lane, species], k [lane, reaction] in 1/s and m^3/(mol s), and tf. The peer solves the first LANES of it once, which
compiles what is to be compiled, writes the states at tf, and prints a line. Then it solves them again for every line it reads, and prints
the seconds that took.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Problem(NamedTuple):
    """The lanes to solve, and how accurately."""

    y0: np.ndarray
    k: np.ndarray
    tf: float
    rtol: float
    atol: float


def asked() -> Problem:
    """What the command line asks for."""
    lanes = int(sys.argv[3])
    with np.load(sys.argv[1]) as stored:
        return Problem(stored["y0"][:lanes], stored["k"][:lanes], float(stored["tf"]), float(sys.argv[4]), float(sys.argv[5]))


def serve(solve: Callable[[], np.ndarray]) -> None:
    """Answers until nothing more is asked."""
    np.save(sys.argv[2], solve())
    print("ready", flush=True)
    for _ in sys.stdin:
        cpu, wall = time.process_time(), time.perf_counter()
        solve()
        print(json.dumps({"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}), flush=True)
