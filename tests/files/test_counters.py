"""Columns that count the rows of a table in a text file."""

import pytest
from numpy.testing import assert_array_equal

from pe_spectra.cli.positions import read_places
from pe_spectra.errors import FileError
from pe_spectra.files.tables import read_array
from tests.files.forms import write

LEFT_OUT, READ = "counts the rows and was left out", "counts the rows, but is read as one of the table"


# ----------------------------------------------------------------------------------- counters


@pytest.mark.parametrize("name", ["pos", "idx", "row", "id", "POS", " Id ", ""])
@pytest.mark.parametrize("start", [0, 1, 7, -2])
def test_a_column_that_counts_the_rows_is_left_out(tmp_path, name, start):
    rows = "".join(f"{start + n},{n * n},{n % 2}\n" for n in range(4))
    found = read_array(write(tmp_path / "t.csv", f"{name},a,b\n{rows}"))
    assert_array_equal(found.values, [[n * n, n % 2] for n in range(4)])
    assert found.values.flags.c_contiguous
    assert not found.values.flags.writeable
    assert len(found.notes) == 1
    assert found.notes[0].endswith(LEFT_OUT)


def test_what_pandas_and_r_write_is_read(tmp_path):
    pandas = read_array(write(tmp_path / "pandas.csv", ",0,1\n0,5,6\n1,7,8\n"))
    assert_array_equal(pandas.values, [[5, 6], [7, 8]])
    assert pandas.notes == (f"column 1 {LEFT_OUT}",)
    r = read_array(write(tmp_path / "r.tsv", '""\t"V1"\n"1"\t5\n"2"\t7\n'))
    assert_array_equal(r.values, [[5], [7]])
    assert_array_equal(read_array(write(tmp_path / "one.csv", ",a\n0,5\n")).values, [[5]])


@pytest.mark.parametrize("column", [(0, 2, 3), (0.5, 1.5, 2.5), (2, 1, 0), (3, 3, 3)])
def test_a_column_that_does_not_count_is_part_of_the_table(tmp_path, column):
    rows = "".join(f"{cell},9\n" for cell in column)
    found = read_array(write(tmp_path / "t.csv", f"pos,a\n{rows}"))
    assert_array_equal(found.values, [[cell, 9] for cell in column])
    assert found.notes == ()
    with pytest.raises(FileError, match=r"line 1 has an empty cell \(1\); over a column that counts the rows"):
        read_array(write(tmp_path / "t.csv", f",a\n{rows}"))


@pytest.mark.parametrize("text", [",\n1,2\n", ",a,\n0,1,2\n"])
def test_other_empty_cells_of_a_first_line_are_refused(tmp_path, text):
    with pytest.raises(FileError, match="line 1 has an empty cell"):
        read_array(write(tmp_path / "t.csv", text))


def test_one_row_does_not_count_from_seven(tmp_path):
    assert_array_equal(read_array(write(tmp_path / "t.csv", "id,a\n7,5\n")).values, [[7, 5]])


@pytest.mark.parametrize(("header", "named"), [("t,a\n", "t"), ("timestamp,a\n", "timestamp"), ("", "1")])
def test_a_counter_under_another_name_is_read_and_noted(tmp_path, header, named):
    found = read_array(write(tmp_path / "t.csv", f"{header}3,8\n4,9\n5,6\n"))
    assert_array_equal(found.values, [[3, 8], [4, 9], [5, 6]])
    assert found.notes == (f"column {named} {READ}; the name position leaves it out",)
    assert read_array(write(tmp_path / "t.csv", f"{header}3,8\n4,9\n")).notes == ()


def test_a_first_line_of_numbers_is_noted_beside_a_counter(tmp_path):
    notes = read_array(write(tmp_path / "t.csv", "0,1\n1,8\n2,9\n")).notes
    assert [READ in note for note in notes] == [True, False]
    assert "read as numbers" in notes[1]


@pytest.mark.parametrize("name", ["position", "pos", "t", "id"])
def test_a_column_alone_is_the_table(tmp_path, name):
    found = read_array(write(tmp_path / "t.csv", f"{name}\n0\n1\n2\n"))
    assert_array_equal(found.values, [[0], [1], [2]])
    assert found.notes == ()
    assert_array_equal(read_places(str(tmp_path / "t.csv")).times, [0, 1, 2])
