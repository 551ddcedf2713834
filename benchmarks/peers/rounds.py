"""What the peers of ensembles.py and tanks.py share: how they are asked, and how they answer.

    python PEER problem.npz answer.npy LANES RTOL ATOL

problem.npz holds the arrays of the task, those of the lanes with a leading lane axis. The peer solves the first LANES of it once, which
compiles what is to be compiled, writes the states, and prints a line. Then it solves them again for every line it reads, and prints the
seconds that took.
"""

import json
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np


def asked() -> SimpleNamespace:
    """What the command line asks for: the arrays by name, rtol and atol."""
    lanes = int(sys.argv[3])
    with np.load(sys.argv[1]) as stored:
        arrays = {name: array[:lanes] if array.ndim else array.item() for name, array in stored.items()}
    return SimpleNamespace(**arrays, rtol=float(sys.argv[4]), atol=float(sys.argv[5]))


def serve(solve: Callable[[], np.ndarray]) -> None:
    """Answers until nothing more is asked."""
    np.save(sys.argv[2], solve())
    print("ready", flush=True)
    for _ in sys.stdin:
        cpu, wall = time.process_time(), time.perf_counter()
        solve()
        print(json.dumps({"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}), flush=True)
