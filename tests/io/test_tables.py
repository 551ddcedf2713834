"""Files to tables: encodings, marks, and what cannot be read."""

import pytest

from kinetix.errors import DataError
from kinetix.io.tables import read_table

TEXT = "T [°C];A [mmol/L]\n20;1,5\n30;0,7\n"


@pytest.mark.parametrize("encoding", [None, "utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
def test_same_table_in_every_encoding(tmp_path, encoding):
    path = tmp_path / "run.csv"
    path.write_bytes(TEXT.encode(encoding or "utf-8"))
    table = read_table(path, encoding)
    assert table.source == "run.csv"
    assert [header.text for header in table.headers] == ["T [°C]", "A [mmol/L]"]
    assert table.rows == (("20", "1,5"), ("30", "0,7"))
    assert table.decimal_comma


def test_byte_order_mark_is_noted_and_no_part_of_the_first_header(tmp_path):
    path = tmp_path / "run.csv"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    table = read_table(str(path))
    assert table.byte_order_mark
    assert table.headers[0].name == "T"


def test_not_utf8_names_byte_position_line_and_remedy(tmp_path):
    path = tmp_path / "run.csv"
    path.write_bytes("time [s],A [mol/L]\n0,1\n1,2 °\n".encode("latin-1"))
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert str(caught.value) == "run.csv is not UTF-8 (byte 0xB0 at position 5, line 3). Save it as UTF-8 or say encoding = 'latin-1'."


def test_utf16_is_named_by_its_mark(tmp_path):
    path = tmp_path / "run.csv"
    path.write_bytes(TEXT.encode("utf-16"))
    with pytest.raises(DataError, match=r"run.csv is not UTF-8.*'utf-16'"):
        read_table(path)


@pytest.mark.parametrize(("encoding", "words"), [("ascii", "cannot be decoded as ascii"), ("utf-88", "no encoding 'utf-88'")])
def test_wrong_encoding(tmp_path, encoding, words):
    path = tmp_path / "run.csv"
    path.write_bytes(TEXT.encode())
    with pytest.raises(DataError, match=words):
        read_table(path, encoding)


def test_missing_file_names_its_neighbour(tmp_path):
    (tmp_path / "experiments.csv").write_text(TEXT, encoding="utf-8")
    with pytest.raises(DataError, match=r"no such file.*Did you mean 'experiments.csv'\?"):
        read_table(tmp_path / "experiment.csv")
    with pytest.raises(DataError, match="no such file"):
        read_table(tmp_path / "nowhere" / "experiment.csv")


def test_folder(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_table(tmp_path)


def test_what_is_no_text_is_told(tmp_path):
    path = tmp_path / "picture.csv"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    with pytest.raises(DataError, match=r"picture\.csv is no text: line 3 holds a zero byte\. Give a text with columns"):
        read_table(path)
