"""A study file to a problem that can be fitted, for Python."""

from __future__ import annotations

import os
from pathlib import Path

from kinetix.io.studies import read_study, read_tables
from kinetix.simulation import measured_responses
from kinetix.studies import Problem, build_problem, parse_study, to_be_fitted


def read_candidate(path: str | os.PathLike[str]) -> Problem:
    """The model and the data of a study file, to be fitted by what is given several: `compare`.

    Args:
        path: a study file; its data files are sought in its folder.

    Raises:
        InputError: what cannot be used in the study or its data, all problems at once.

    >>> import kinetix as kx, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "data.csv").write_text("x [s],y [m]\\n1,2.1\\n2,3.9\\n3,6.2\\n")
    >>> _ = (folder / "line.toml").write_text('''
    ... schema = 1
    ... model = { y = "v*x" }
    ... parameters = { v = { start = "1 m/s" } }
    ... data = { files = ["data.csv"] }
    ... ''')
    >>> kx.read_candidate(folder / "line.toml").table.names
    ('v',)
    """
    place = Path(path)
    _, mapping = read_study(place)
    study = parse_study(mapping, place.name)
    data = study.data
    tables = [] if data is None else read_tables(data.files, place.parent, data.encoding, data.sheets, data.layout)
    return to_be_fitted(study, build_problem(study, tables, measured_responses))
