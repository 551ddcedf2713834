"""Texts that nobody in good faith would write, and a watch over what the interpreter does while they are read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import strategies as st

from kinetix.expression import FUNCTIONS

FORBIDDEN = ("exec", "compile", "import", "open", "os.", "subprocess.", "socket.", "shutil.", "ctypes.", "pickle.", "webbrowser.", "code.")
"""Events of Python's audit (PEP 578) that reading a text must not cause."""

CODE = [
    "__import__('os').system('true')",
    "eval('1')",
    "exec('x = 1')",
    "open('/etc/passwd').read()",
    "().__class__.__bases__[0].__subclasses__()",
    "lambda: 0",
    "globals()['__builtins__']",
    "getattr(T, '__class__')",
    "{0.__class__}",
    "%(x)s",
    "f'{T}'",
    "`true`",
    "$(true)",
    "; import os",
    "\n\nimport os\n",
    "@eval",
    "x := 1",
    "*args",
    "...",
    "'''",
    "\\",
    "1e309",
    "0x10",
    "1_000",
    "1j",
    "\x00",
    "\ud800",
    "\u202e",
]
"""Code, formatting, shells: no formula."""

ODD = ["[c for c in ().__class__.__mro__]", "１２", "²", "K\u0301", "9" * 400, "1e-400", "nan", "inf", "None", "__name__"]
"""What may be a name or a number, however odd."""

CHEMISTRY = [
    *("A", "B", "H2O", "Na+", "SO4-2", "CO*", "(CH3)2CO", "Fe^3+", "e-", "*", "M", "2", "1/2", "0.5", "0", "-3", "1e-3", "r1:", "slow:"),
    *(
        "->",
        "<=>",
        "=>",
        "=",
        "<-",
        "-->",
        "→",
        "⇌",
        "+",
        ";",
        "\n",
        "#",
        "(",
        ")",
        "(g)",
        "[A]",
        "k",
        "K",
        "T",
        "R",
        "Ea",
        "pi",
        "feed[A]",
    ),
    *("rate[r1]", "initial[B]", "p[A]", "[", "]", ",", "**", "^", "*", "/", "-", "1/s", "mol/L", "L/mol/s", "kJ/mol", "degC", "%", "°"),
    *(f"{name}(" for name in FUNCTIONS),
]
"""What formulas, reactions and units are made of."""

pieces = st.lists(st.sampled_from([*CODE, *ODD, *CHEMISTRY, " ", ""]), max_size=9)
mixed = st.tuples(pieces, st.sampled_from(["", " "])).map(lambda pair: pair[1].join(pair[0]))
anything = st.text(max_size=30)
"""Any characters at all, lone surrogates included."""
texts = st.one_of(mixed, anything, st.sampled_from([*CODE, *ODD]))

_watching: list[list[str]] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event.startswith(FORBIDDEN):
        _watching[-1].append(f"{event}{arguments!r:.200}")


sys.addaudithook(_hook)  # stays for the life of the process; without a watch it does nothing


@contextmanager
def nothing_is_executed() -> Iterator[None]:
    """Fails where code inside compiles, executes, imports, opens a file or starts a process."""
    seen: list[str] = []
    _watching.append(seen)
    try:
        yield
    finally:
        _watching.pop()
    if seen:
        raise AssertionError("; ".join(seen))
