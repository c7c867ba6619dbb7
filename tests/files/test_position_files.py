"""Positions from files: columns of numbers, of times, and what is wrong with them."""

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.files.position_files import read_position_file

TABLE = "date,load,n\n2024-03-01 00:00,1.5,0\n2024-03-01 00:30,2,4\n2024-03-01 01:30,2.5,9\n"
MINUTE = 60 * 10**6


def write(folder, text, name="a.csv"):
    (folder / name).write_text(text)
    return folder / name


def read(path, column=None):
    return read_position_file(path, column, label="--positions")


@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_only_column_of_times_is_taken_and_any_is_by_its_name(tmp_path, name, delimiter):
    path = write(tmp_path, TABLE.replace(",", delimiter), name)
    for found in (read(path), read(path, "date")):
        assert found.numbers is None
        assert not found.zoned
        first = int(np.datetime64("2024-03-01", "us").astype(np.int64))
        assert found.moments.tolist() == [first, first + 30 * MINUTE, first + 90 * MINUTE]
    assert read(path, "load").numbers.tolist() == [1.5, 2.0, 2.5]
    assert read(path, "n").numbers.dtype == np.float64


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0\n2\n5\n", [0, 2, 5]), ("t\n0.5\n1e3\n", [0.5, 1000]), ("7", [7])],
)
def test_a_text_of_one_column_of_numbers_needs_no_name(tmp_path, text, expected):
    assert read(write(tmp_path, text, "a.txt")).numbers.tolist() == expected


def test_arrays_are_read_by_name(tmp_path):
    np.savez(tmp_path / "a.npz", s=np.array([0.0, 3.0]), t=np.array([1.0, 2.0, 4.0]))
    np.save(tmp_path / "b.npy", np.array([[1.0], [2.0]]))
    assert read(tmp_path / "a.npz", "s").numbers.tolist() == [0, 3]
    assert read(tmp_path / "b.npy").numbers.ravel().tolist() == [1, 2]


def test_times_with_zones_are_in_utc_and_parts_of_seconds_are_kept(tmp_path):
    text = "2024-03-01T00:00:00.0002+01:00\n2024-03-01T00:00:00.0004+01:00\n2024-02-29T23:00:01Z\n"
    found = read(write(tmp_path, text))
    first = int(np.datetime64("2024-02-29T23:00", "us").astype(np.int64))
    assert found.zoned
    assert found.moments.tolist() == [first + 200, first + 400, first + 10**6]


def test_a_thousand_years_of_days_are_exact(tmp_path):
    days = np.arange("1000-01-01", "2000-01-01", dtype="datetime64[D]")[::97]
    found = read(write(tmp_path, "\n".join(days.astype(str))))
    assert found.moments.tolist() == days.astype("datetime64[us]").astype(np.int64).tolist()


def test_parquet_holds_times_and_numbers(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    moments = np.array(["2024-03-01T00:00", "2024-03-01T00:30"], dtype="datetime64[us]")
    zoned = pyarrow.array(moments).cast(pyarrow.timestamp("us", tz="UTC"))
    parquet.write_table(pyarrow.table({"t": zoned, "s": [0, 5]}), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").zoned
    assert read(tmp_path / "a.parquet").moments.tolist() == moments.astype(np.int64).tolist()
    assert read(tmp_path / "a.parquet", "s").numbers.tolist() == [0, 5]


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", None, "is empty (0 bytes)"),
        (TABLE, "loud", "has no column loud of numbers or times; it has date"),
        (TABLE.replace("date", "one") + "x", None, "line 5 has 1 cell where 3 are expected"),
        ("a,b\n1,2\n", None, "has 2 columns of numbers (a and b); FILE::COLUMN names one"),
        ("a,b\nx,y\n", None, "has no column of numbers or times"),
        ("a,b\n2024-01-01,2024-01-02\n", None, "has 2 columns of times (a and b); FILE::COLUMN names one"),
        ("a\n1\nnan\n3\n", "a", "column a has no number in row 2 of those below its header"),
        ("a,b\n2024-01-01,1\n,2\n2024-01-03,3\n", None, "column a has no time in row 2 of those below its header"),
        ("a,b\n2024-01-01,1\n,2\n", None, "column a has no time in row 2 of those below its header"),
        ("2024-01-01\n2024-01-01\n", None, "column1 has again 2024-01-01 00:00 (row 2); ascending times, each once"),
        ("2024-01-02\n2024-01-01\n", None, "has 2024-01-01 00:00 after 2024-01-02 00:00 (row 2); ascending times"),
        ("2024-01-01T00:00Z\n2024-01-02\n", None, "line 2, column column1 has no zone where lines above have one"),
        ("2024-01-01\n2024-01-02T00:00+01:00\n", None, "line 2, column column1 has a zone where lines above have none"),
        ("2024-01-01\n2024-02-30\n", None, "line 2, column column1 is no date of the calendar (2024-02-30)"),
    ],
)
def test_what_cannot_be_positions_is_refused(tmp_path, text, column, words):
    path = write(tmp_path, text, "a.txt")
    with pytest.raises(FileError) as caught:
        read(path, column)
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)


def test_more_rows_than_are_accepted_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pe_spectra.files.position_files.MAX_LENGTH", 2)
    with pytest.raises(FileError, match="has 3 times; at most 2 are accepted"):
        read(write(tmp_path, TABLE))
    with pytest.raises(FileError, match="has 3 rows; at most 2 are accepted"):
        read(write(tmp_path, TABLE), "load")
