"""`[data]` of a study: how files are written, in the words of the schema."""

import pytest

from kinetix.errors import StudyError
from kinetix.experiments import Layout
from kinetix.studies.schema import DataSection, parse_study


def section(**keys) -> DataSection:
    data = parse_study({"schema": 1, "data": {"files": ["a.csv"], **keys}}, "study.toml").data
    assert data is not None
    return data


@pytest.mark.parametrize(
    ("keys", "layout"),
    [
        ({}, Layout()),
        ({"header": 3}, Layout((3,))),
        ({"header": [3, 4]}, Layout((3, 4))),
        ({"header": ["time [s]", "A [mM]"]}, Layout(("time [s]", "A [mM]"))),
        ({"decimal": ",", "missing": ["lost"]}, Layout((), ",", ("lost",))),
    ],
)
def test_layout(keys, layout):
    assert section(**keys).layout == layout


@pytest.mark.parametrize("header", ["time", True, 1.5, ["a", 1], [[1]], {"a": 1}])
def test_header_is_lines_or_headers(header):
    with pytest.raises(StudyError, match=r"\[data\] header: expected the line of the header, header = 3"):
        _ = section(header=header).layout


def test_sheets():
    assert (section().sheets, section(sheet="S").sheets, section(sheet=["S", "T"]).sheets) == ((), ("S",), ("S", "T"))


@pytest.mark.parametrize("keys", [{"decimal": ";"}, {"missing": "n.d."}, {"progress": ["a"]}, {"only": "a"}, {"units_row": 2}])
def test_what_is_refused(keys):
    with pytest.raises(StudyError, match=next(iter(keys))):
        section(**keys)
