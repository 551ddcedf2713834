"""Clock times and date stamps: every form, what has two readings, midnight and time zero."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetix.errors import DataError
from kinetix.experiments import Campaign, Vocabulary, build_campaign, parse_table
from kinetix.experiments.clock import Form, form_of, is_clock, is_date, is_form, is_time
from kinetix.units import CONCENTRATION

BATCH = Vocabulary(("A",), {"A": CONCENTRATION}, {}, timed=True)


def campaign(text: str, **options) -> Campaign:
    return build_campaign([parse_table(text, "x.csv")], BATCH, **options)


def minutes(*cells: str, header: str = "time", **options) -> list[float]:
    rows = "\n".join(f"{cell};{1 + place}" for place, cell in enumerate(cells))
    return (campaign(f"{header};A [mol/L]\n{rows}\n", **options).times[0] / 60).tolist()


def problems(*cells: str, header: str = "time", **options) -> tuple[str, ...]:
    with pytest.raises(DataError) as caught:
        minutes(*cells, header=header, **options)
    return caught.value.problems


@pytest.mark.parametrize(
    "cells",
    [
        ["08:05:00", "08:35:00", "10:05:30"],
        ["8:05:00 AM", "8:35:00 AM", "10:05:30 AM"],
        ["11:05:00 PM", "11:35:00 pm", "1:05:30 a.m."],
        ["25:05:00", "25:35:00", "27:05:30"],
        ["2024-03-01T08:05", "2024-03-01T08:35:00", "2024-03-01T10:05:30"],
        ["2024-03-01 08:05:00Z", "2024-03-01 09:35:00+01:00", "2024-03-01 05:05:30-05:00"],
        ["2024/02/29 23:30:00", "2024/03/01 00:00:00", "2024/03/01 01:30:30"],
        ["01.03.2024 08:05", "01.03.2024 08:35", "01.03.2024 10:05:30"],
        ["1.3.24 08:05", "1.3.24 08:35", "1.3.24 10:05:30"],
        ["13/01/2024 08:05", "13/01/2024 08:35", "13/01/2024 10:05:30"],
        ["01/13/2024 08:05 AM", "01/13/2024 08:35 AM", "01/13/2024 10:05:30 AM"],
        ["1 Mar 2024 08:05", "01-Mar-2024 08:35", "March 1, 2024 10:05:30"],
    ],
)
def test_forms(cells):
    np.testing.assert_allclose(minutes(*cells), [0, 30, 120.5], atol=1e-6)


def test_days_without_clock():
    np.testing.assert_allclose(minutes("28.02.2024", "29.02.2024", "01.03.2024"), [0, 1440, 2880])


def test_two_parts_need_a_form():
    assert "'0:00' may be hours and minutes or minutes and seconds" in problems("0:00", "0:30")[0]
    assert 'columns = { time = "time [hh:mm]" }' in problems("0:00", "0:30")[0]
    assert minutes("0:00", "0:30", header="time [hh:mm]") == [0, 30]
    assert minutes("0:00", "0:30", header="time (mm:ss)") == [0, 0.5]
    assert minutes("0:00", "75:30", columns={"time": "time [mm:ss]"}) == [0, 75.5]
    assert minutes("0:00.0", "0:30.5") == pytest.approx([0, 30.5 / 60])


def test_slashes_need_a_form_where_no_day_is_beyond_twelve():
    assert "may be day, month, year or month, day, year" in problems("03/04/2024", "04/04/2024")[0]
    assert "[dd/mm/yyyy]" in problems("03/04/2024", "04/04/2024")[0]
    assert minutes("03/04/2024", "04/04/2024", header="time [dd/mm/yyyy]") == [0, 1440]
    assert minutes("03/04/2024", "04/04/2024", header="time [mm/dd/yyyy]") == [0, 1440 * 31]
    assert "may be day" in problems("13/04/2024", "04/13/2024")[0]


def test_a_cell_of_another_form_is_told():
    assert problems("08:00:00", "08:10:00", "later")[0].startswith("x.csv, line 4, column 'time': 'later' is no clock time")
    assert problems("2024-03-01", "2024-03-02", "2024-13-01")[0].startswith("x.csv, line 4, column 'time': '2024-13-01' is no date")


def test_unit_of_the_header_is_the_one_told():
    read = campaign("time [h];A [mol/L]\n08:00:00;1\n09:30:00;2\n")
    assert read.times.tolist() == [[0, 5400]]
    assert read.time_unit is not None and read.time_unit.text == "h"


def test_time_zero_is_noted_and_chosen():
    text = "run;time;A [mol/L]\na;08:00:00;1\na;08:10:00;2\nb;09:00:00;1\nb;09:05:00;2\n"
    first = campaign(text)
    assert first.times.tolist() == [[0, 600], [0, 300]]
    assert any("time zero is the first row of each experiment; say time_zero" in note for note in first.notes)
    assert campaign(text, time_zero="as written").times.tolist() == [[28800, 29400], [32400, 32700]]
    assert campaign(text, time_zero="07:50:00").times.tolist() == [[600, 1200], [4200, 4500]]
    with pytest.raises(DataError, match="'soon' is no time as"):
        campaign(text, time_zero="soon")
    with pytest.raises(DataError, match="is before time zero"):
        campaign(text, time_zero="08:05:00")


def test_time_zero_of_numbers():
    text = "time [min];A [mol/L]\n5;1\n7;2\n"
    assert campaign(text).times.tolist() == campaign(text, time_zero="as written").times.tolist() == [[300, 420]]
    assert campaign(text, time_zero="first").times.tolist() == [[0, 120]]
    assert campaign(text, time_zero="60 s").times.tolist() == [[240, 360]]
    with pytest.raises(DataError, match="time_zero"):
        campaign(text, time_zero="1 mol")


def test_dates_have_no_zero_of_their_own():
    assert "dates need a time zero" in problems("2024-03-01", "2024-03-02", time_zero="as written")[0]
    assert minutes("2024-03-01 08:00", "2024-03-01 09:00", time_zero="2024-03-01 07:00") == [60, 120]


def test_midnight():
    assert minutes("23:50:00", "00:10:00", "01:00:00") == [0, 20, 70]
    assert "the time goes back" in problems("08:00:00", "07:00:00")[0]
    text = "time;species;value [mol/L]\n23:50:00;A;1\n00:10:00;A;2\n"
    with pytest.raises(DataError, match="write the date too"):
        campaign(text)


def test_date_and_clock_in_two_columns():
    read = campaign("Date;Time;A [mol/L]\n2024-03-01;23:50;1\n2024-03-02;00:10;2\n")
    assert read.times.tolist() == [[0, 1200]]
    assert any("Columns 'Date' and 'Time' are read as one" in note for note in read.notes)


@given(st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1)), st.integers(0, 10**7))
def test_stamps_differ_by_what_passed(start, seconds):
    start = start.replace(microsecond=0)
    end = start + timedelta(seconds=seconds)
    for pattern in ("%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%d-%b-%Y %I:%M:%S %p", "%Y/%m/%dT%H:%M:%S"):
        one, other = (Form(True).seconds(stamp.strftime(pattern)) for stamp in (start, end))
        assert one is not None and other is not None
        assert other - one == seconds


@given(st.text(alphabet=st.sampled_from(list("0123456789:./- TZapmJanMy+,")), max_size=24))
def test_any_text_is_a_time_or_not(text):
    for form in (Form(True), Form(True, True), Form(False), Form(False, minutes_first=True)):
        seconds = form.seconds(text)
        assert seconds is None or np.isfinite(seconds)
    is_time(text), is_date(text), is_clock(text), is_form(text), form_of([text], text), form_of([text], None)
