"""The one status enum: how a solve, a fit, a start, a batch member or a sweep point ended."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """How something ended. Integers are stable: they are written to files.

    >>> Status.STEP_LIMIT.ok, Status(0).ok
    (False, True)
    >>> Status.STEP_LIMIT.sentence
    'the step limit was reached before the end: raise max_steps or loosen the tolerances'
    """

    SUCCESS = 0
    ON_BOUND = 1
    STEP_LIMIT = 2
    STEP_TOO_SMALL = 3
    NON_FINITE = 4
    NOT_CONVERGED = 5
    ITERATION_LIMIT = 6
    TIME_LIMIT = 7
    STOPPED = 8
    NOT_MOVED = 9
    FLAT = 10
    PLATEAU = 11
    UNSTEADY = 12
    BELOW_ZERO = 13

    @property
    def ok(self) -> bool:
        """Whether the numbers that come with this status may be used as an answer."""
        return self in (Status.SUCCESS, Status.ON_BOUND, Status.FLAT)

    @property
    def label(self) -> str:
        """`'step limit'` for `Status.STEP_LIMIT`."""
        return self.name.lower().replace("_", " ")

    @property
    def sentence(self) -> str:
        """What happened and what to try."""
        return _SENTENCES[self]


_SENTENCES = {
    Status.SUCCESS: "finished",
    Status.ON_BOUND: "finished with at least one parameter on its bound",
    Status.STEP_LIMIT: "the step limit was reached before the end: raise max_steps or loosen the tolerances",
    Status.STEP_TOO_SMALL: "the step size fell below what float64 resolves: check the rate constants for absurd values",
    Status.NON_FINITE: "a value is NaN or infinite: check the inputs and rate constants",
    Status.NOT_CONVERGED: "the iteration stalled away from a solution",
    Status.ITERATION_LIMIT: "the iteration limit was reached: raise max_iterations or start closer",
    Status.TIME_LIMIT: "the time limit was reached; the best point so far is kept",
    Status.STOPPED: "stopped by the user; the best point so far is kept",
    Status.NOT_MOVED: "the first step already failed, so the start was never left: check the start and the data",
    Status.FLAT: "finished, but the data do not determine all parameters: fix some, or measure where they matter",
    Status.PLATEAU: "the search ended where the measured values no longer change with some parameters",
    Status.BELOW_ZERO: "a concentration fell below zero: a rate of order zero goes on when A is used up; take a law that saturates",
    Status.UNSTEADY: "no stable steady state is reached in time from the start: the state oscillates, or rests where any disturbance grows",
}
