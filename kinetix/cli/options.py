"""Options of commands, and how `name=value` is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

Study = Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The study file.", show_default=False)]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Folder for the results, made where it does not exist.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and nothing else, to stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")]
MaxIterations = Annotated[
    int | None,
    typer.Option(
        "--max-iterations", min=1, metavar="N", help="Stop after N iterations from a start; the best point is kept.", show_default=False
    ),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(
        "--max-seconds",
        min=0.0,
        metavar="S",
        help="Stop after S seconds of iterations, from all starts; the best point is kept.",
        show_default=False,
    ),
]
StartNumber = Annotated[
    int | None,
    typer.Option(
        "--starts",
        min=1,
        metavar="N",
        help="Look for the best optimum from N starts: the given one, and others spread over the bounds or about it.",
        show_default=False,
    ),
]
Profile = Annotated[
    bool | None,
    typer.Option("--profile/--no-profile", help="Profile likelihood of each estimated parameter.", show_default=False),
]
Bootstrap = Annotated[
    int | None,
    typer.Option("--bootstrap", min=0, metavar="N", help="N refits to drawn data, such as 1000; 0 for none.", show_default=False),
]
Influence = Annotated[
    bool | None,
    typer.Option("--influence/--no-influence", help="Refits without each experiment.", show_default=False),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", min=0, metavar="N", help="Seed of starts that are spread or found, and of a bootstrap. Default: 2026.", show_default=False
    ),
]
Loss = Annotated[
    str | None,
    typer.Option(
        "--loss",
        metavar="NAME",
        help="Robust loss, so that a gross error counts for little: huber, soft_l1, cauchy or student_t. Default: least squares.",
        show_default=False,
    ),
]


def _method(text: str) -> str:
    """The name of an estimator."""
    from kinetix.errors import ParameterError
    from kinetix.estimation import estimator

    try:
        estimator(text)
    except ParameterError as error:
        raise typer.BadParameter(str(error)) from None
    return text


Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        parser=_method,
        metavar="NAME",
        help="The estimator: lm, adam, adam-then-lm, lbfgs, jaxopt-LBFGSB, jaxopt-LevenbergMarquardt or scipy-least_squares. Default: lm.",
        show_default=False,
    ),
]
Device = Annotated[
    Literal["cpu", "gpu"] | None,
    typer.Option("--device", help="Where to compute. Default: what 'kinetix devices' says.", show_default=False),
]


def _meaning(text: str) -> str:
    """`trusted` or `scaled`; a size is told where sizes are given."""
    if text in ("trusted", "scaled"):
        return text
    if not any(character.isdigit() for character in text):
        raise typer.BadParameter(f"'{text}' is not one of 'trusted', 'scaled'.")
    response, _, size = text.rpartition("=")
    size = f"relative {size.strip()}" if size.strip().endswith("%") else size.strip()
    raise typer.BadParameter(
        f"'{text}' is a size, and --sigma says how sizes are meant. Write --noise \"{response.strip() or 'A'}={size}\" --sigma trusted"
        " (or scaled)."
    )


Sigma = Annotated[
    str | None,
    typer.Option(
        "--sigma",
        parser=_meaning,
        metavar="[trusted|scaled]",
        help="How given standard deviations are meant: trusted as they are, or right up to one factor that is estimated.",
        show_default=False,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="NAME=HEADER", help='What a column is: "1/tau=sv [1/min]". Repeatable.', show_default=False),
]

Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", metavar="HEADER", help="A column that is not used. Repeatable.", show_default=False)
]
Noise = Annotated[
    list[str] | None,
    typer.Option(
        "--noise",
        metavar="RESPONSE=QUANTITY",
        help='Standard deviation of what was measured: A="0.01 mol/L", A="relative 2 %", A="relative 2 % + 0.01 mol/L"; or A=estimated,'
        ' A="relative estimated + estimated" with the parameters.',
        show_default=False,
    ),
]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Title of the report.", show_default=False)]
Files = Annotated[list[Path], typer.Argument(metavar="STUDY.toml|DATA.csv", help="A study file, or data files.", show_default=False)]
Reactions = Annotated[
    list[str] | None, typer.Option("--reaction", metavar="TEXT", help='"A -> B", "slow: 2 B <=> C". Repeatable.', show_default=False)
]
ReactorType = Annotated[
    str | None,
    typer.Option(
        "--reactor", metavar="TYPE", help="batch, cstr, transient_cstr, plug_flow, semibatch or differential.", show_default=False
    ),
]
Density = Annotated[
    str | None,
    typer.Option(
        "--density",
        metavar="KIND",
        help="cstr, plug_flow: constant or ideal_gas; batch: constant, gas_at_constant_volume or gas_at_constant_pressure.",
        show_default=False,
    ),
]
Starts = Annotated[
    list[str] | None,
    typer.Option(
        "--start",
        metavar="NAME=QUANTITY",
        help='Estimate a parameter from this start: r1.k="0.1 1/min", r1.Ea="60 kJ/mol", r1.order.A=1. Repeatable.',
        show_default=False,
    ),
]
Known = Annotated[
    list[str] | None, typer.Option("--known", metavar="NAME=QUANTITY", help="A parameter that is known. Repeatable.", show_default=False)
]
Initial = Annotated[
    list[str] | None,
    typer.Option(
        "--initial", metavar="SPECIES=QUANTITY", help='Initial concentration: A="1 mol/L", or default="0 mol/L".', show_default=False
    ),
]
Feed = Annotated[
    list[str] | None,
    typer.Option("--feed", metavar="SPECIES=QUANTITY", help='Feed concentration: A="1 mol/L", or default="0 mol/L".', show_default=False),
]
Conditions = Annotated[
    list[str] | None,
    typer.Option("--condition", metavar="NAME=QUANTITY", help='A condition that is constant over the data: T="350 K".', show_default=False),
]


def pairs(option: str, texts: Sequence[str] | None, example: str) -> dict[str, str]:
    """`["A=1 mol/L"]` as `{"A": "1 mol/L"}`.

    Raises:
        typer.BadParameter: no `=`, an empty side, or a name given twice.

    >>> pairs("--column", ["1/tau=sv [1/min]"], "tau=sv [min]")
    {'1/tau': 'sv [1/min]'}
    """
    found: dict[str, str] = {}
    for text in texts or ():
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise typer.BadParameter(
                f"'{text}' is not of the form NAME=VALUE; write for example {option} \"{example}\".", param_hint=option
            )
        if name in found:
            raise typer.BadParameter(f"'{name}' is given twice ('{found[name]}' and '{value}'). Keep one.", param_hint=option)
        found[name] = value
    return found


def deviations(texts: Sequence[str] | None, example: str) -> dict[str, Any]:
    """`--noise` as the section `[noise]` of a study says it: a quantity, or a table where a part is relative to the value.

    Raises:
        typer.BadParameter: as `pairs`, and a relative part that is none.

    >>> deviations(["A=0.01 mol/L", "B=relative 2 % + 0.01 mol/L"], "A=0.01 mol/L")
    {'A': '0.01 mol/L', 'B': {'relative': '2 %', 'constant': '0.01 mol/L'}}
    >>> deviations(["A=estimated", "B=relative estimated + 0.01 mol/L"], "A=0.01 mol/L")
    {'A': {}, 'B': {'relative': {}, 'constant': '0.01 mol/L'}}
    """
    return {name: _deviation(text) for name, text in pairs("--noise", texts, example).items()}


def _deviation(text: str) -> str | dict[str, Any]:
    word, _, parts = text.partition(" ")
    if word != "relative":
        return _part(text)
    relative, plus, constant = (part.strip() for part in parts.partition(" + "))
    if not relative or (plus and not constant):
        raise typer.BadParameter(f"'{text}' lacks a part; write for example \"A=relative 2 % + 0.01 mol/L\".", param_hint="--noise")
    return {"relative": _part(relative), **({"constant": _part(constant)} if constant else {})}


def _part(text: str) -> str | dict[str, Any]:
    """A known part, or the empty table of one that is estimated."""
    return {} if text == "estimated" else text
