"""What goes to stderr: problems and warnings as plain lines, one each, and the exit code that follows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

import typer

from kinetix.errors import InputError, KinetixError, KinetixWarning


def tell(kind: str, text: str) -> None:
    """`error: text` on stderr."""
    typer.echo(f"{kind}: {text}", err=True)


def fail(problems: Iterable[str]) -> typer.Exit:
    """Each problem on a line of its own; the exception to raise."""
    for problem in problems:
        tell("error", problem)
    return typer.Exit(1)


@contextmanager
def telling() -> Iterator[None]:
    """Errors that kinetix and the system raise on purpose end the command with exit code 1; warnings are told and work goes on.

    An exception that nobody foresaw keeps its traceback.
    """
    former = warnings.showwarning
    told: set[str] = set()

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, file: TextIO | None = None, line: str | None = None
    ) -> None:
        if not issubclass(category, KinetixWarning):
            former(message, category, filename, lineno, file, line)
        elif str(message) not in told:
            told.add(str(message))
            tell("warning", str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", KinetixWarning)
        warnings.showwarning = show
        try:
            yield
        except InputError as error:
            raise fail(error.problems) from None
        except KinetixError as error:
            raise fail([str(error)]) from None
        except BrokenPipeError:  # whoever read the output is gone
            raise
        except OSError as error:
            place = "" if error.filename is None else f"{error.filename}: "
            raise fail([f"{place}{error.strerror or error}."]) from None
        except KeyboardInterrupt:
            raise fail(["stopped before there was anything to keep; nothing was written."]) from None
        finally:
            warnings.showwarning = former
