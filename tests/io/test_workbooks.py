"""Workbooks: every kind of cell, sheets and their choice, and what cannot be read."""

import datetime

import openpyxl
import pytest

from kinetix.errors import DataError
from kinetix.experiments import Layout, Vocabulary, build_campaign
from kinetix.io.campaigns import read_csv
from kinetix.io.studies import read_tables
from kinetix.io.tables import read_sheets, read_table
from kinetix.network import parse_network
from kinetix.units import CONCENTRATION, DIMENSIONLESS, TEMPERATURE

BATCH = Vocabulary(("A",), {"A": CONCENTRATION, "X": DIMENSIONLESS}, {"T": TEMPERATURE}, timed=True)


@pytest.fixture
def workbook(tmp_path):
    """Saves sheets (name -> rows of values or (value, number format)) as a workbook."""

    def save(sheets, name="run.xlsx"):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for number, row in enumerate(rows, start=1):
                for place, value in enumerate(row, start=1):
                    cell = sheet.cell(number, place)
                    cell.value, form = value if isinstance(value, tuple) else (value, None)
                    if form:
                        cell.number_format = form
        book.save(tmp_path / name)
        return tmp_path / name

    return save


def test_cells_as_a_person_sees_them(workbook):
    path = workbook(
        {
            "S": [
                ["a", None, "b"],
                [1, None, 0.1],
                [2.0, None, 1e-30],
                [(0.45, "0.0%"), None, (0.07, "0%")],
                [True, None, " text "],
                [datetime.datetime(2024, 3, 1, 8, 5), None, datetime.date(2024, 3, 1)],
                [datetime.time(8, 5, 30), None, (datetime.timedelta(hours=30, minutes=5), "[h]:mm:ss")],
                ["#DIV/0!", None, "n.d."],
            ]
        }
    )
    table = read_table(path)
    assert [(row[0], row[2]) for row in table.rows] == [
        ("1", "0.1"),
        ("2", "1e-30"),
        ("45 %", "7 %"),
        ("TRUE", "text"),
        ("2024-03-01 08:05:00", "2024-03-01 00:00:00"),
        ("08:05:30", "30:05:00"),
        ("#DIV/0!", "n.d."),
    ]
    assert [header.text for header in table.headers] == ["a", "b"]
    assert (table.source, table.dialect, table.stem) == ("run.xlsx", "cells of a workbook", "run")


def test_rows_are_counted_as_in_the_sheet(workbook):
    path = workbook({"S": [["Title"], [], ["time", "A"], ["min", "mol/L"], ["# remark"], [0, 1.5], [], [5, 0.7]]})
    table = read_table(path)
    assert [header.text for header in table.headers] == ["time [min]", "A [mol/L]"]
    assert table.lines == (6, 8)
    assert table.comments == ("remark",)
    assert read_table(path, layout=Layout((3, 4))).headers == table.headers


def test_times_percent_and_marks_in_a_campaign(workbook):
    start = datetime.datetime(2024, 3, 1, 23, 50)
    rows = [[start + datetime.timedelta(minutes=10 * row), (0.2 * row, "0.0%"), "n.d." if row == 1 else 1.5] for row in range(3)]
    campaign = build_campaign([read_table(workbook({"S": [["time", "X [%]", "A [mol/L]"], *rows]}))], BATCH)
    assert campaign.times.tolist() == [[0, 600, 1200]]
    assert campaign.values[0, :, 0].tolist() == pytest.approx([0, 0.2, 0.4])
    assert campaign.mask[0, :, 1].tolist() == [True, False, True]


def test_several_sheets(workbook):
    head = ["time [min]", "A [mol/L]"]
    path = workbook({"Run 1": [head, [0, 1]], "Notes": [], "Run 2": [head, [0, 2], [5, 1]]})
    with pytest.raises(DataError, match=r"run.xlsx has several sheets: 'Run 1', 'Run 2'. Say which: sheet = \"Run 1\""):
        read_table(path)
    with pytest.raises(DataError, match=r"no sheet 'Run 3' \(it has 'Run 1', 'Notes', 'Run 2'\)"):
        read_sheets(path, sheets=["Run 3"])
    assert read_sheets(path, sheets=["Run 2"])[0].rows == (("0", "2"), ("5", "1"))
    campaign = build_campaign(read_tables([path.name], path.parent, sheets=["*"]), BATCH)
    assert campaign.experiments == ("Run 1", "Run 2")
    assert campaign.sources == ("run.xlsx, sheet 'Run 1'", "run.xlsx, sheet 'Run 2'")


def test_hidden_sheets_are_passed_over(workbook):
    path = workbook({"S": [["a [s]"], [1]], "H": [["x"], [1]]})
    book = openpyxl.load_workbook(path)
    book["H"].sheet_state = "hidden"
    book.save(path)
    assert read_table(path).rows == (("1",),)


def test_formula_without_a_stored_value(workbook):
    with pytest.raises(DataError, match=r"run.xlsx, sheet 'S', cell B2: a formula without a stored value \(so are 1 more\)"):
        read_table(workbook({"S": [["a [s]", "b [s]"], [1, "=A2*2"], [1, "=A3*2"]]}))


def test_one_door_for_all_files(workbook):
    path = workbook({"one": [["time [min]", "A [mol/L]"], [0, 1.5], [5, 0.7]], "other": [["x"]]})
    campaign = read_csv(path, parse_network("A -> B"), sheet="one")
    assert campaign.times.tolist() == [[0, 300]]
    assert campaign.values[0, :, 0].tolist() == [1500, 700]


def test_what_is_no_workbook(tmp_path, workbook):
    for content, words in [
        (b"PK\x03\x04" + bytes(range(256)), "cannot be read as .xlsx"),
        (b"\xd0\xcf\x11\xe0" + bytes(99), "old .xls form"),
    ]:
        path = tmp_path / "bad.xlsx"
        path.write_bytes(content)
        with pytest.raises(DataError, match=rf"bad.xlsx is a spreadsheet workbook.*{words}.*CSV"):
            read_table(path)
    with pytest.raises(DataError, match="is empty: no sheet holds anything"):
        read_table(workbook({"S": []}))
    (tmp_path / "a.csv").write_text("time [s],A [mol/L]\n0,1\n")
    with pytest.raises(DataError, match=r"sheet: a.csv is text without sheets"):
        read_tables(["a.csv"], tmp_path, sheets=["S"])
