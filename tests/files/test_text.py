"""Tables as text: what is read, noted and refused, and where the limits are."""

import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.files import arrays, csv_lines, csv_table, numpy_files
from pe_spectra.files.tables import read_array
from tests.files.forms import npy_bytes, refuse, write
from tests.pace import call_within


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("1,2\n3,4", [[1, 2], [3, 4]]),
        ("1,2\r\n3,4\r\n", [[1, 2], [3, 4]]),
        ("\ufeff1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("1,2\n3,4\n\n\n", [[1, 2], [3, 4]]),
        ("x,y\n1,2\n", [[1, 2]]),
        ('"a,b",c\n1,2\n', [[1, 2]]),
        ("# a comment of NumPy\n1,2\n", [[1, 2]]),
        ("1, 2\n +3e0 ,-.5\n", [[1, 2], [3, -0.5]]),
        ('"1","2"\n', [[1, 2]]),
        ("1\n2\n", [[1], [2]]),
        ("position\n1\n", [[1]]),
        ("position,0,1\n0,5,6\n1,7,8\n", [[5, 6], [7, 8]]),
        ("lag,head 0\n-1,5\n0,6\n", [[5], [6]]),
        ("index,frequency,mass\n0,5,6\n", [[5, 6]]),
        ("positions,a\n0,5\n", [[0, 5]]),
        ("0.1,1e-400\n", [[0.1, 0]]),
    ],
)
def test_text_that_is_read(tmp_path, text, table):
    found = read_array(write(tmp_path / "t.csv", text))
    assert_array_equal(found.values, table)
    assert read_array(write(tmp_path / "t.tsv", text.replace(",", "\t"))).dtype == "text"


def test_text_notes(tmp_path):
    path = write(tmp_path / "t.csv", "position,e0\n0,5\n")
    assert read_array(path).notes == ("column position counts the rows and was left out",)
    assert "read as numbers" in read_array(write(path, "0,1\n5,6\n")).notes[0]
    assert read_array(write(path, "5,6\n")).notes == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("\n", "is empty"),
        ("x,y\n", "no line of numbers"),
        ("1,2\n3\n", "line 2 has 1 cell where 2 are expected"),
        ("1,2\n3,4,5\n", "line 2 has 3 cells where 2"),
        ("x,y\n1,2,3\n", "line 2 has 3 cells where 2"),
        ("1,2\n\n3,4\n", "line 2 is empty"),
        ("1,2\n3,\n", "line 2 has an empty cell (2)"),
        (",1\n2,3\n", "line 1 has an empty cell (1)"),
        ('""\n1\n2\n', "line 1 has an empty cell (1)"),
        (",a\n2,3\n", "line 1 has an empty cell (1)"),
        ("a,b\nc,d\n", "line 2, cell 1 is not a number (c)"),
        ("nan,nan\n1,2\n", "line 1, cell 1 is not a number (nan)"),
        ("1,inf\n", "line 1, cell 2 is not a number (inf)"),
        ("1,2\n1,1_000\n", "cell 2 is not a number (1_000)"),
        ("1,0x10\n", "cell 2 is not a number (0x10)"),
        ("1,\u0661\n", "cell 2 is not a number"),
        ("=1+1,2\n3,4\n", "line 1, cell 1 is not a number (=1+1)"),
        ("1;2\n3;4\n", "separated by commas, not by semicolons"),
        ("1\t2\n3\t4\n", "separated by commas, not by tabs"),
        ("1 2\n3 4\n", "separated by commas, not by blanks"),
        ("1,1e400\n", "line 1: row 0, column 1 is inf"),
        ("x,y\n1,2\n1,-1e999\n", "line 3: row 1, column 1 is -inf"),
        ('1,"2\n3",4\n', "line 1 has a quote that is not closed"),
        ("1,2\n\0,4\n", "line 2 has a zero byte"),
        (b"1,2\n\xff,4\n", "not UTF-8 (line 2)"),
        (b"\xff\xfe1\0", "is UTF-16"),
        ("1," * 65536 + "1\n", "has 65537 columns; at most 65536"),
        ("1,2\n" + "1," * 200_000 + "1\n", "line 2 has 200001 cells; at most 65536"),
        ("1,2\n" + "1" * (5 << 20), "line 2 has more than 4194304 bytes"),
    ],
)
def test_text_that_is_refused_by_line(tmp_path, text, reason):
    path = write(tmp_path / "t.csv", text)
    assert reason in call_within(1, lambda: refuse(path))


def test_text_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_table, "MAX_TEXT_TABLE_BYTES", 10)
    assert "at most 10" in refuse(write(tmp_path / "t.csv", "1,2\n" * 4))
    monkeypatch.undo()
    monkeypatch.setattr(csv_lines, "MAX_TEXT_LINES", 3)
    assert "more than 3 lines" in refuse(write(tmp_path / "t.csv", "1,2\n" * 4))
    monkeypatch.undo()
    monkeypatch.setattr(csv_table, "MAX_HELD_ENTRIES", 5)
    assert "too many numbers; at most 5" in refuse(write(tmp_path / "t.csv", "1,2\n" * 4))


TEXT, NPY = b"1,2\n3,4", npy_bytes(np.ones((3, 2)))


def make_npz():
    stream = io.BytesIO()
    np.savez(stream, a=np.eye(2), b=np.eye(3))
    return stream.getvalue()


#: A file, the module and the name of a limit that it just meets, that limit, and what is said of a smaller one.
AT_LIMITS = [
    ("a.csv", TEXT, csv_table, "MAX_TEXT_TABLE_BYTES", 7, "has 7 bytes; a text of at most 6"),
    ("a.csv", TEXT, csv_lines, "MAX_TEXT_LINES", 2, "has more than 1 lines"),
    ("a.csv", TEXT + b"\n", csv_lines, "MAX_TEXT_LINES", 2, "has more than 1 lines"),
    ("a.csv", TEXT, csv_lines, "MAX_LINE_BYTES", 3, "line 2 has more than 2 bytes"),
    ("a.csv", TEXT, csv_table, "MAX_HELD_ENTRIES", 4, "has too many numbers; at most 3"),
    ("a.csv", TEXT, csv_lines, "MAX_COLUMNS", 1, "line 1 has 2 cells; at most 0"),
    ("a.npy", NPY, arrays, "MAX_HELD_ENTRIES", 6, "has too many numbers (shape 3 x 2); at most 5"),
    ("a.npy", NPY, arrays, "MAX_COLUMNS", 2, "has 2 columns; at most 1"),
    ("a.npy", NPY, arrays, "MAX_AXES", 2, "has 2 axes; at most 1"),
    ("a.npy", NPY, numpy_files, "MAX_NPY_HEADER", int.from_bytes(NPY[8:10], "little"), "has a header of"),
    ("a.npz", make_npz(), numpy_files, "MAX_MEMBERS", 2, "has too many members (2); at most 1"),
    (
        "a.npz",
        make_npz(),
        numpy_files,
        "_MAX_DIRECTORY",
        int.from_bytes(make_npz()[-10:-6], "little"),
        "has a directory of",
    ),
    ("a.npz", make_npz(), numpy_files, "MAX_INFLATION", 1, "would grow from"),
    ("a.npz", make_npz(), numpy_files, "FREE_INFLATION_BYTES", 128 + 128 + 32 + 72, "would grow from"),
]


@pytest.mark.parametrize(("name", "data", "module", "limit", "most", "reason"), AT_LIMITS)
def test_what_just_meets_a_limit_is_read(tmp_path, monkeypatch, name, data, module, limit, most, reason):
    path = write(tmp_path / name, data)
    if "INFLATION" in limit:  # both must be passed
        monkeypatch.setattr(numpy_files, "FREE_INFLATION_BYTES", 0)
        monkeypatch.setattr(numpy_files, "MAX_INFLATION", 0)
    monkeypatch.setattr(module, limit, most)
    tensor = "a" if name == "a.npz" else None
    assert read_array(path, tensor=tensor).values.size >= 4
    monkeypatch.setattr(module, limit, most - 1)
    assert reason in refuse(path, tensor)


def test_text_that_grows_while_it_is_read_is_bounded(tmp_path, monkeypatch):
    path = write(tmp_path / "t.csv", "1,2\n" * 4)
    monkeypatch.setattr(csv_lines, "MAX_TEXT_TABLE_BYTES", 16)
    read_array(path)
    whole = csv_lines.split_lines

    def grow(file, delimiter):
        write(path, "1,2\n" * 5)
        return whole(file, delimiter)

    monkeypatch.setattr(csv_table, "split_lines", grow)
    assert "grew beyond 16 bytes" in refuse(path)


def test_text_in_chunks_is_the_text_whole(tmp_path, monkeypatch):
    table = np.random.default_rng(1).standard_normal((50, 7))
    path = write(tmp_path / "t.csv", "".join(",".join(map(repr, row)) + "\r\n" for row in table.tolist()))
    for chunk in (1, 7, 64, 1 << 20):
        monkeypatch.setattr(csv_lines, "_CHUNK", chunk)
        assert_array_equal(read_array(path).values, table)


def test_text_as_a_list(tmp_path):
    assert_array_equal(read_array(write(tmp_path / "t.csv", "1\n2\n"), axes=(1,)).values, [1, 2])
    assert_array_equal(read_array(write(tmp_path / "t.csv", "1,2\n"), axes=(1,)).values, [1, 2])
    assert "2 axes" in refuse(write(tmp_path / "t.csv", "1,2\n3,4\n"), axes=(1,))
