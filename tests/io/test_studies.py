"""Study files: read with place and advice, written so that they read back; data files found beside them."""

import io
import os

import pytest

from kinetix.errors import DataError, KinetixWarning, StudyError
from kinetix.experiments import Vocabulary, build_campaign
from kinetix.io.studies import read_study, read_tables, study_text, write_study
from kinetix.units import CONCENTRATION, TEMPERATURE

STUDY = {
    "schema": 1,
    "title": "Größe in °C",
    "reactions": {"r1": {"equation": "A -> B", "k": {"start": "0.1 1/min", "bounds": ["0.01 1/min", "1 1/min"]}, "Ea": "60 kJ/mol"}},
    "reactor": {"type": "cstr"},
    "data": {"files": ["a.csv", "b.csv"], "columns": {"1/tau": "sv [1/min]"}, "ignore": []},
}


def test_what_is_written_reads_back(tmp_path):
    path = write_study(STUDY, tmp_path / "new" / "study.toml")
    text, study = read_study(path)
    assert study == STUDY
    assert text == study_text(STUDY) == path.read_text(encoding="utf-8")
    assert [file.name for file in path.parent.iterdir()] == ["study.toml"]


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfschema = 1\n", b"schema = 1\r\n", b"schema = 1\n"])
def test_marks_and_line_ends_of_other_systems(tmp_path, content):
    (tmp_path / "study.toml").write_bytes(content)
    assert read_study(tmp_path / "study.toml") == ("schema = 1\n", {"schema": 1})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "schema = 1\nk = 0.1 1/min\n",
            "study.toml, line 2, column 9: expected newline or end of document after a statement (found 'k = 0.1 1/min').",
        ),
        ("k = 1/min\n", "study.toml, line 1, column 6: expected newline or end of document after a statement (found 'k = 1/min')."),
        (
            "title = Tank\n",
            "study.toml, line 1, column 9: invalid value (found 'title = Tank')."
            ' Text and quantities stand in quotes, for example k = "0.1 1/min".',
        ),
        ("[a.b]\n[a.b]\n", "study.toml, line 2, column 5: cannot declare [a.b] twice (found '[a.b]')."),
        ("a = [1, 2", "study.toml, end of the file: unclosed array."),
    ],
)
def test_syntax_errors_have_file_line_and_column(tmp_path, text, message):
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        read_study(tmp_path / "study.toml")
    assert str(caught.value) == message


def test_what_is_no_study_file(tmp_path):
    (tmp_path / "latin.toml").write_bytes('schema = 1\ntitle = "Größe"\n'.encode("latin-1"))
    with pytest.raises(StudyError, match=r"latin\.toml is not UTF-8 \(byte 0xF6, line 2\)\. Save it as UTF-8\."):
        read_study(tmp_path / "latin.toml")
    with pytest.raises(StudyError, match=r"latn\.toml: there is no such file in .* Did you mean 'latin\.toml'\?"):
        read_study(tmp_path / "latn.toml")
    with pytest.raises(StudyError, match="cannot be read"):
        read_study(tmp_path)


def test_tables_are_sought_beside_the_study_and_their_problems_told_at_once(tmp_path):
    (tmp_path / "a.csv").write_text("T [K],A [mol/L]\n300,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("T [K],A [mol/L]\n310,2\n", encoding="utf-8")
    tables = read_tables(["a.csv", os.fspath(tmp_path / "b.csv")], tmp_path)
    assert [table.source for table in tables] == ["a.csv", "b.csv"]
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_tables(["empty.csv", "a.csv", "none.csv"], tmp_path)
    assert len(caught.value.problems) == 2
    assert "empty.csv" in caught.value.problems[0]
    assert "no such file" in caught.value.problems[1]


ROWS = "T [K],A [mol/L]\n300,1\n310,2\n"


@pytest.mark.parametrize("again", ["a.csv", "./a.csv", "below/../a.csv", "link.csv"])
def test_a_file_named_twice_is_refused(tmp_path, again):
    (tmp_path / "below").mkdir()
    (tmp_path / "a.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    with pytest.raises(DataError) as caught:
        read_tables(["a.csv", again], tmp_path)
    other = "" if again == "a.csv" else f", as 'a.csv' and as '{again}'"
    assert str(caught.value) == f"The file '{again}' is named twice{other}; its data would count twice. Name it once."


@pytest.mark.parametrize("rewrite", [str, lambda text: "# a copy\n" + text.replace(",", ";").replace("\n", "\r\n")])
def test_files_with_the_same_numbers_are_told(tmp_path, rewrite):
    (tmp_path / "a.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "copy of a.csv").write_text(rewrite(ROWS), encoding="utf-8")
    tables = read_tables(["a.csv", "copy of a.csv"], tmp_path)
    assert len(tables) == 2
    vocabulary = Vocabulary(("A",), {"A": CONCENTRATION}, {"T": TEMPERATURE}, timed=False)
    with pytest.warns(KinetixWarning, match=r"'a.csv' and 'copy of a.csv' hold the same numbers, 2 rows each, and count as separate"):
        campaign = build_campaign(tables, vocabulary)
    assert len(campaign.warnings) == 1


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ROWS.encode())))
    (table,) = read_tables(["-"], "elsewhere")
    assert (table.source, len(table.rows)) == ("standard input", 2)
    with pytest.raises(DataError, match="standard input is empty"):  # it was read
        read_tables(["-"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"schema = 1\n")))
    assert read_study("-")[1] == {"schema": 1}
