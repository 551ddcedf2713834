"""What kinetix raises on purpose: one base, one class per kind of input, all problems of an input at once.

Every message says what was found, what was expected, where, and what to write instead.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from kinetix.characters import look_alike


class KinetixError(Exception):
    """Base of every error that kinetix raises on purpose.

    >>> issubclass(InputError, KinetixError), issubclass(SolveError, KinetixError)
    (True, True)
    """


class InputError(KinetixError, ValueError):
    """Something the user wrote cannot be used.

    `problems` holds one complete sentence per problem; `str(error)` joins them by newlines.

    >>> try:
    ...     raise InputError("tau: no unit.", "T: no unit.")
    ... except InputError as error:
    ...     print(error.problems)
    ('tau: no unit.', 'T: no unit.')
    """

    def __init__(self, *problems: str):
        super().__init__("\n".join(problems))
        self.problems = problems


class UnitError(InputError):
    """A unit or quantity text cannot be read, or has the wrong dimension."""


class ExpressionError(InputError):
    """A formula cannot be read or evaluated."""


class ReactionError(InputError):
    """A reaction text cannot be read, or is not balanced."""


class ParameterError(InputError):
    """A parameter's start, bounds, scale, unit or name is wrong."""


class ConditionError(InputError):
    """A condition of a reactor (temperature, residence time, feed, ...) is missing or impossible."""


class DataError(InputError):
    """A data file or table cannot be used."""


class StudyError(InputError):
    """A study file cannot be used."""


class SolveError(KinetixError, RuntimeError):
    """A solve that must succeed did not; the message names the status and what to try.

    >>> from kinetix.status import Status
    >>> raise SolveError(f"Experiment 'run 3': {Status.STEP_LIMIT.sentence}.")
    Traceback (most recent call last):
    ...
    kinetix.errors.SolveError: Experiment 'run 3': the step limit was reached before the end: raise max_steps or loosen the tolerances.
    """


class KinetixWarning(UserWarning):
    """Suspicious but usable input; work goes on.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", KinetixWarning)
    ...     warnings.warn("T = 25 K is outside 150-3000 K.", KinetixWarning, stacklevel=1)
    >>> caught[0].category.__name__
    'KinetixWarning'
    """


def nearest(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'X'?` for the known name most like `name`, or an empty string.

    Case counts: K and k are different things in chemistry. A name in another case is suggested where little else differs. Where a
    known name looks the same, the sentence says which character is another one.

    >>> nearest("taau", ["tau", "T", "P"]), nearest("kk", ["K", "k"]), nearest("KJ", ["K", "kJ"]), nearest("U", ["us"])
    (" Did you mean 'tau'?", " Did you mean 'k'?", " Did you mean 'kJ'?", '')
    """

    def likeness(candidate: str) -> float:
        exact = difflib.SequenceMatcher(None, name, candidate).ratio()
        return max(exact, 0.75 * difflib.SequenceMatcher(None, name.casefold(), candidate.casefold()).ratio())

    known = list(known)
    alike = look_alike(name, known)
    if alike:
        return alike
    best = max(known, key=likeness, default="")
    return f" Did you mean '{best}'?" if likeness(best) >= 0.6 else ""


class Problems:
    """Collects the problems of one input, so that the user sees all of them at once.

    >>> problems = Problems()
    >>> with problems.collecting():
    ...     raise UnitError("first")
    >>> problems.add("second")
    >>> problems.found
    ['first', 'second']
    """

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, problem: str) -> None:
        self.found.append(problem)

    @contextmanager
    def collecting(self, prefix: str = "") -> Iterator[None]:
        """Keep the problems of an `InputError` raised inside and go on."""
        try:
            yield
        except InputError as error:
            self.found.extend(prefix + problem for problem in error.problems)

    def raise_if_any(self, kind: type[InputError]) -> None:
        if self.found:
            raise kind(*dict.fromkeys(self.found))
