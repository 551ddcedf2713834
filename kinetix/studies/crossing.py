"""kinetix's own integration of a problem beside another method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetix.errors import ParameterError
from kinetix.results.phrases import count, listing, plain
from kinetix.simulation import ReactorModel, compare
from kinetix.status import Status
from kinetix.studies import starting
from kinetix.studies.problem import Problem


def cross_check(problem: Problem, method: str) -> list[str]:
    """How far kinetix's own method is from another one at the starts of the parameters, over the rows of the data, as lines of text.

    The difference is told in units of the tolerance, atol + rtol |c|, at its largest over experiments, times and species. The other method
    is asked for tolerances a hundred times stricter, so the difference is the error of kinetix's own.

    Raises:
        ParameterError: an unknown method, nothing is integrated, or a parameter without a value.
        InputError: the package of the method is not installed.
    """
    spoken = problem.spoken
    if not (isinstance(spoken, ReactorModel) and problem.integrated):
        raise ParameterError("--cross-check compares integrations; this model has none. Leave it out.")
    unknown = starting.missing(problem.table)
    if unknown.size:
        names = listing([problem.table.names[i] for i in unknown])
        raise ParameterError(f"--cross-check needs a value of {names}. Write a start for each that is estimated.")
    model = replace(problem.model, method="")
    found = compare(method, model, problem.table.start, problem.lanes)
    lines = []
    for name, statuses in (("Rodas5P", found.status), (method, found.other_status)):
        failed = [i for i, status in enumerate(statuses) if not Status(int(status)).ok]
        if failed:
            labels = {Status(int(statuses[i])).label for i in failed}
            lines.append(f"cross-check: {name} failed in {count(len(failed), 'experiment')} ({', '.join(sorted(labels))})")
    species = len(spoken.network.species)
    entries = [*range(species), *([-1] if spoken.energy is not None else [])]
    difference = found.difference[..., entries]
    if np.isnan(difference).all():
        return lines
    lane, time, entry = np.unravel_index(np.nanargmax(difference), difference.shape)
    names = (*spoken.network.species, "T")
    at = ""
    if problem.timed and problem.campaign.time_unit is not None:
        unit = problem.campaign.time_unit
        at = f" at t = {plain(float(unit.from_si(problem.campaign.times[lane, time])))} {unit.text}"
    rtol = float(np.max(model.options.rtol))
    return [
        *lines,
        f"cross-check: Rodas5P at rtol {rtol:g} is at most {plain(float(difference[lane, time, entry]), 2)} tolerances away from {method}:"
        f" {names[entry]} of experiment '{problem.campaign.experiments[lane]}'{at}; {count(difference.shape[0], 'experiment')} compared",
    ]
