"""The compiled evaluation: predictions at other times are the same by either program."""

import numpy as np

from kinetix.studies import evaluator
from kinetix.studies.evaluator import Evaluator
from tests.reference.studies import problem

BATCH = {
    "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.1 1/min"}}},
    "reactor": {"type": "batch"},
    "initial": {"A": "1 mol/L", "default": "0 mol/L"},
}
RUNS = "run,time [min],A [mol/L]\na,1,0.9\na,5,0.6\nb,2,0.8\nb,9,0.4\n"


def test_many_experiments_are_drawn_by_a_program_of_their_own(monkeypatch):
    """A = exp(-k t), k = 0.1/60 1/s."""
    found = problem(BATCH, RUNS)
    times = np.linspace(0.0, np.array([300.0, 540.0]), 7, axis=1)
    theta = found.table.free_start()
    evaluate = Evaluator(found)
    pieces = evaluate.at_times(theta, times)
    monkeypatch.setattr(evaluator, "OFTEN", 0)
    at_once = evaluate.at_times(theta, times)
    assert pieces.shape == at_once.shape == (2, 7, 1)
    np.testing.assert_allclose(at_once, pieces, rtol=1e-7)
    np.testing.assert_allclose(at_once[..., 0], 1000 * np.exp(-0.1 / 60 * times), rtol=1e-6)
