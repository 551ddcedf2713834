"""The study that a direct call assumes: reactions, a reactor and data files, without a study file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinetix.errors import ParameterError, StudyError, nearest
from kinetix.network import parse_network

_THERMAL = ("k", "A", "kf", "kr", "K")


def direct_study(
    files: Sequence[str],
    reactions: Sequence[str],
    reactor: str,
    *,
    starts: Mapping[str, str] | None = None,
    known: Mapping[str, str] | None = None,
    initial: Mapping[str, str] | None = None,
    feed: Mapping[str, str] | None = None,
    conditions: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    noise: Mapping[str, str] | None = None,
    sigma: str | None = None,
    title: str = "",
) -> dict[str, Any]:
    """A study as the nested mapping of a study file.

    Args:
        files: data files.
        reactions: reaction texts, named r1, r2, ... unless they carry names (`slow: A -> B`).
        reactor: its type.
        starts: parameter name -> start, for example `r1.k` -> `0.1 1/min`; with `r1.Ea` the constant depends on temperature.
        known: the same for parameters that are known.
        initial, feed, conditions, columns, ignore, noise, sigma: as in the study file.
        title: for reports.

    Raises:
        ParameterError: a parameter name that belongs to no reaction.
        StudyError: no reaction.

    >>> direct_study(["a.csv"], ["A -> B"], "cstr", starts={"r1.k": "0.1 1/min"})["reactions"]["r1"]["k"]
    {'start': '0.1 1/min'}
    """
    if not reactions:
        raise StudyError('No reaction. Write --reaction "A -> B".')
    network = parse_network("\n".join(reactions), formulas=False)
    sections: dict[str, dict[str, Any]] = {r.name: {"equation": r.equation} for r in network.reactions}
    top: dict[str, Any] = {"initial": dict(initial or {}), "feed": dict(feed or {})}
    for values, wrap in ((starts or {}, True), (known or {}, False)):
        for name, text in values.items():
            owner, _, rest = name.partition(".")
            value: Any = {"start": text} if wrap else text
            if owner in top and rest:
                top[owner][rest] = value
            elif owner in sections and rest:
                _place(sections[owner], rest.split("."), value, name)
            else:
                examples = [f"{reaction}.k" for reaction in sections] + ["initial.A", "feed.A"]
                raise ParameterError(f"Parameter '{name}' belongs to no reaction (known: {', '.join(sections)}).{nearest(name, examples)}")
    study: dict[str, Any] = {"schema": 1, "title": title, "reactions": sections, "reactor": {"type": reactor}}
    study["conditions"] = {**(conditions or {}), **({"feed": top["feed"]} if top["feed"] else {})}
    study["initial"] = top["initial"]
    study["noise"] = dict(noise or {})
    study["data"] = {"files": list(files), "columns": dict(columns or {}), "ignore": list(ignore)}
    study["fit"] = {"sigma": sigma} if sigma else {}
    return {key: value for key, value in study.items() if value not in ({}, "")}


def _place(section: dict[str, Any], path: list[str], value: Any, name: str) -> None:
    """Put `r1.k`, `r1.Ea`, `r1.kf.Ea`, `r1.order.A` where the study file has them; `k_ref` is k with a temperature dependence."""
    head = "k" if path[0] == "k_ref" else path[0]
    if head == "order" and len(path) > 1:
        section.setdefault("orders", {})[".".join(path[1:])] = value
    elif len(path) == 1:
        section[head] = value
    elif head in _THERMAL and len(path) == 2:
        inner = section.setdefault(head, {})
        part = {"k_ref": "k", "K_ref": head}.get(path[1], path[1])
        inner[part] = value
    else:
        raise ParameterError(f"Parameter '{name}' is not understood. Write for example r1.k, r1.Ea, r1.kf.Ea or r1.order.A.")


def arrhenius_study(file: str, columns: Mapping[str, str] | None = None, *, constant: str = "k", sigma: str | None = None, **starts: Any) -> dict[str, Any]:
    """The study of a table of rate constants over temperature.

    Without sigma ln k is fitted with equal weights (a constant relative error); with sigma, k itself.

    Args:
        file: the table.
        columns: as in the study file.
        constant: name of the constant's column.
        sigma: how a sigma column is meant; None where there is none.
        starts: `k` and `Ea` as quantities, and `at`.
    """
    left, right = (constant, "k_T") if sigma else (f"log({constant})", "log(k_T)")
    return {
        "schema": 1,
        "title": f"Arrhenius parameters of {constant}",
        "model": {left: right},
        "parameters": {"k_T": starts},
        "data": {"files": [file], "columns": dict(columns or {})},
        **({"fit": {"sigma": sigma}} if sigma else {}),
    }
