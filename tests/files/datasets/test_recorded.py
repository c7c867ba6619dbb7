"""Series in time, read from the forms in which they are published, whole and damaged."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.errors import InputError
from pe_spectra.files.datasets import server_machines, telemetry
from pe_spectra.files.datasets.data_forms import DATA_FORMS, read_dataset
from tests.files.datasets.published import (
    COLUMNS,
    ETT,
    ROWS,
    TELEMETRY,
    change,
    draw,
    dump,
    refuse,
    write_known,
    write_lines,
    write_smd,
    write_telemetry,
)
from tests.refusing import catch

# ----------------------------------------------------------------------------------- by name


def test_every_form_is_read_by_its_name_and_alike_each_time(tmp_path):
    known = write_known(tmp_path)
    assert {text.partition(":")[0] for text in known} == {*DATA_FORMS}
    for text, column in known.items():
        found = read_dataset(text, column=column)
        assert f"{found.form}:{found.origin}" == text
        assert dump(found) == dump(read_dataset(text, column=column))


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("", None, "--data is not known (''); smd:FOLDER, msl:FOLDER"),
        ("smd", None, "--data is not known (smd); smd:FOLDER"),
        ("smd:", None, "--data is not known (smd:); smd:FOLDER"),
        ("SMD:x", None, "--data is not known (SMD:x)"),
        ("table:a.csv", None, "--label is missing; the name of the column of labels of --data table:a.csv is accepted"),
        ("smd:x", "b", "--label is given (b); it is accepted with --data table:FILE.csv"),
    ],
)
def test_names_that_are_refused(text, column, said):
    assert catch(read_dataset, text, column=column, kind=InputError).startswith(said)


def test_results_are_frozen(tmp_path):
    for text, column in write_known(tmp_path).items():
        found = read_dataset(text, column=column)
        parts = [found.train] if hasattr(found, "train") else found.recordings
        for one in parts:
            assert one.values.dtype == np.float64
            assert not one.values.flags.writeable
            assert one.labels is None or (one.labels.dtype == np.int64 and not one.labels.flags.writeable)
            with pytest.raises(AttributeError):
                one.values = np.zeros(1)


# ----------------------------------------------------------------------------------- SMD


def test_smd_is_read(tmp_path):
    found = read_dataset(f"smd:{write_smd(tmp_path)}")
    names = [(one.name, one.part) for one in found.recordings]
    # machine-1-10 is the tenth, not the one behind machine-1-1
    assert names == [(f"machine-1-{n}", part) for n in (1, 2, 10) for part in ("train", "test")]
    assert found.channels == ("column 1", "column 2", "column 3")
    assert found.classes == ("normal", "anomalous")
    seeds = {"machine-1-1": 0, "machine-1-2": 2, "machine-1-10": 4}
    for one in found.recordings:
        assert_array_equal(one.values, draw(seeds[one.name] + (one.part == "test")))
        if one.part == "train":
            assert one.labels is None
        else:
            first = seeds[one.name] // 2
            assert_array_equal(np.flatnonzero(one.labels), np.arange(first + 1, 6))
    assert found.notes == ("the part train has no labels: its publishers hold it to be mostly normal",)


def test_smd_is_found_below_the_folder_and_labels_may_be_floats(tmp_path):
    write_smd(tmp_path / "ServerMachineDataset")
    one = tmp_path / "ServerMachineDataset" / "test_label" / "machine-1-1.txt"
    one.write_text("\r\n".join(["0.0"] * 11 + ["1.0"]), encoding="utf-8")
    found = read_dataset(f"smd:{tmp_path}")
    assert found.recordings[1].labels.tolist() == [0] * 11 + [1]


def test_smd_of_one_class_is_refused_and_a_machine_of_one_is_noted(tmp_path):
    write_smd(tmp_path, machines=("machine-1-1", "machine-1-2"))
    labels = tmp_path / "test_label"
    write_lines(labels / "machine-1-2.txt", ["0"] * ROWS)
    assert "every row of machine-1-2 is normal" in read_dataset(f"smd:{tmp_path}").notes
    write_lines(labels / "machine-1-1.txt", ["0"] * ROWS)
    assert refuse(f"smd:{tmp_path}").endswith("has no row that is anomalous in its part test; both classes are needed")
    for name in ("machine-1-1", "machine-1-2"):
        write_lines(labels / f"{name}.txt", ["1"] * ROWS)
    assert "has no row that is normal" in refuse(f"smd:{tmp_path}")


def _drop_label(folder):
    (folder / "test_label" / "machine-1-2.txt").unlink()


def _drop_folder(folder):
    for path in (folder / "test_label").iterdir():
        path.unlink()
    (folder / "test_label").rmdir()


def _drop_all(folder):
    for path in folder.rglob("*.txt"):
        path.unlink()


def _write(name, *lines):
    return lambda folder: write_lines(folder / name, lines)


ROW = ",".join(["0.5"] * COLUMNS)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_drop_label, "machine-1-2.txt: no such file or folder"),
        (_drop_folder, "test_label: no such file or folder"),
        (_drop_all, "smd: has no machine-*.txt in its folders train, test and test_label"),
        (_write("train/machine-9-1.txt", ROW), "machine-9-1.txt: no such file or folder"),
        (_write("test_label/machine-1-1.txt", "0", "1"), "machine-1-1.txt: has 2 lines where {}/test/machine-1-1.txt"),
        (_write("test_label/machine-1-1.txt", "0", "2"), "machine-1-1.txt: line 2 is neither 0 nor 1 (2)"),
        (_write("test_label/machine-1-1.txt", "0", "", "1"), "machine-1-1.txt: line 2 is neither 0 nor 1 (empty)"),
        (_write("test_label/machine-1-1.txt", "0", "1,0"), "machine-1-1.txt: line 2 is neither 0 nor 1 (1,0)"),
        (_write("test/machine-1-1.txt", ROW, "1,x,2"), "machine-1-1.txt: line 2, cell 2 is not a number (x)"),
        (_write("test/machine-1-1.txt", ROW, "1,nan,2"), "machine-1-1.txt: line 2, cell 2 is not a number (nan)"),
        (_write("test/machine-1-1.txt", ROW, "1,1e999,2"), "machine-1-1.txt: line 2: row 1, column 1 is inf"),
        (_write("test/machine-1-1.txt", ROW, "1,2"), "machine-1-1.txt: line 2 has 2 cells where 3 are expected"),
        (_write("test/machine-1-2.txt", "1,2"), "machine-1-2.txt: has 2 columns where {}/train/machine-1-1.txt has 3"),
        (_write("train/machine-1-10.txt", "1"), "machine-1-10.txt: has 1 column where {}/train/machine-1-1.txt has 3"),
        (_write("train/machine-1-2.txt"), "machine-1-2.txt: is empty"),
    ],
)
def test_smd_that_is_damaged(tmp_path, damage, said):
    damage(write_smd(tmp_path / "smd"))
    assert refuse(f"smd:{tmp_path / 'smd'}").startswith(said.format(tmp_path / "smd"))


def test_sets_that_are_too_large_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(server_machines, "MAX_HELD_ENTRIES", 2 * ROWS * COLUMNS)
    monkeypatch.setattr(telemetry, "MAX_HELD_ENTRIES", 2 * ROWS * 55)
    read_dataset(f"smd:{write_smd(tmp_path / 'one', machines=('machine-1-1',))}")
    assert "at most 72 are accepted" in refuse(f"smd:{write_smd(tmp_path / 'three')}")
    write_telemetry(tmp_path / "craft")
    read_dataset(f"msl:{tmp_path / 'craft'}")
    assert "at most 1320 are accepted" in refuse(f"smap:{tmp_path / 'craft'}")


# ----------------------------------------------------------------------------------- SMAP and MSL


@pytest.mark.parametrize("place", ["data", ".", "data/data"])
def test_smap_is_read(tmp_path, place):
    found = read_dataset(f"smap:{write_telemetry(tmp_path, place=place)}")
    assert [one.name for one in found.recordings] == ["P-1", "P-1", "P-2", "P-2", "E-1", "E-1"]
    marked = {one.name: np.flatnonzero(one.labels).tolist() for one in found.recordings if one.part == "test"}
    # both ends of a sequence belong to it; of the two lines of P-2 either is enough
    assert marked == {"P-1": [1, 2, 8, 9], "P-2": [3, 4, 5, 6], "E-1": [10, 11]}
    assert all(one.labels is None for one in found.recordings if one.part == "train")
    assert_array_equal(found.recordings[3].values, draw(3, columns=25))
    assert found.channels == ("telemetry", *(f"command {n}" for n in range(1, 25)))
    expected = "channel P-2 stands in lines 3 and 5 of labeled_anomalies.csv: their anomalies were put together"
    assert found.notes[0] == expected


def test_msl_is_the_other_spacecraft(tmp_path):
    found = read_dataset(f"msl:{write_telemetry(tmp_path)}")
    assert [(one.name, one.values.shape) for one in found.recordings] == [("M-1", (ROWS, 55))] * 2
    assert len(found.notes) == 1


def test_a_channel_without_anomalies_is_normal_throughout(tmp_path):
    lines = change(TELEMETRY, 4, '"[[10, 11]]",[point]', "[],[]")
    found = read_dataset(f"smap:{write_telemetry(tmp_path, lines=[*lines, ''])}")
    assert found.recordings[5].labels.tolist() == [0] * ROWS
    assert "every row of E-1 is normal" in found.notes
    lines = change(TELEMETRY, 6, '"[[0, 0]]",[point]', "[],[]")
    write_lines(tmp_path / "labeled_anomalies.csv", lines)
    assert "has no row that is anomalous" in refuse(f"msl:{tmp_path}")


@pytest.mark.parametrize(
    ("number", "old", "new", "said"),
    [
        (1, "chan_id", "channel", "line 1: column chan_id is missing; chan_id, spacecraft, anomaly_sequences, class"),
        (1, "class", "chan_id", "line 1: column chan_id is given twice"),
        (2, "P-1,", "", "line 2 has 4 cells where 5 are expected"),
        (2, "P-1", "../P-1", "line 2, column chan_id is no name (../P-1)"),
        (2, "P-1", "", "line 2, column chan_id is no name (empty)"),
        (2, "SMAP", "Smap", "line 2, column spacecraft is neither SMAP nor MSL (Smap)"),
        (2, "[1, 2]", "[1, x]", "line 2, column anomaly_sequences is not readable ([[8, 9], [1, x]])"),
        (2, "[1, 2]", "[2, 1]", "line 2, column anomaly_sequences: no such rows ([2, 1] of rows 0 .. 11)"),
        (2, "[1, 2]", "[1, 12]", "line 2, column anomaly_sequences: no such rows ([1, 12] of rows 0 .. 11)"),
        (2, "[[8, 9], [1, 2]]", "", "line 2, column anomaly_sequences is not readable (empty)"),
        (
            2,
            "[contextual, contextual]",
            "[point]",
            "line 2, column class names 1 anomaly where anomaly_sequences has 2",
        ),
        (4, ",12", ",12.0", "line 4, column num_values is no number of rows (12.0)"),
        (4, ",12", ",0", "line 4, column num_values is no number of rows (0)"),
        (4, ",12", ",", "line 4, column num_values is no number of rows (empty)"),
        (5, ",12", ",13", "line 5, column num_values is 13 where line 3 says 12 of the same channel (P-2)"),
        (2, '"[[8, 9], [1, 2]]"', '"[[8, 9], [1, 2]]', "line 2 has a quote that is not closed"),
    ],
)
def test_tables_of_anomalies_that_are_damaged(tmp_path, number, old, new, said):
    write_telemetry(tmp_path, lines=change(TELEMETRY, number, old, new))
    assert refuse(f"smap:{tmp_path}").startswith(f"labeled_anomalies.csv: {said}")


def test_arrays_that_do_not_fit_their_table(tmp_path):
    write_telemetry(tmp_path)
    path = tmp_path / "data" / "test" / "P-2.npy"
    np.save(path, draw(0, rows=11, columns=25))
    expected = "P-2.npy: has 11 rows where labeled_anomalies.csv says 12 (line 3, num_values)"
    assert refuse(f"smap:{tmp_path}") == expected
    np.save(path, draw(0, columns=24))
    assert refuse(f"smap:{tmp_path}") == f"P-2.npy: has 24 columns where {tmp_path}/data/train/P-1.npy has 25"
    np.save(path, np.full((ROWS, 25), np.nan))
    assert refuse(f"smap:{tmp_path}").startswith("P-2.npy: row 0, column 0 is nan")
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert refuse(f"smap:{tmp_path}").startswith("P-2.npy: holds Python objects")
    path.unlink()
    assert refuse(f"smap:{tmp_path}") == "P-2.npy: no such file or folder"
    (tmp_path / "labeled_anomalies.csv").unlink()
    assert refuse(f"smap:{tmp_path}") == "labeled_anomalies.csv: no such file or folder"


def test_a_table_without_the_spacecraft(tmp_path):
    write_telemetry(tmp_path, lines=TELEMETRY[:-1])
    assert refuse(f"msl:{tmp_path}") == "labeled_anomalies.csv: has no line of MSL"
    write_telemetry(tmp_path, lines=[])
    assert refuse(f"msl:{tmp_path}").startswith("labeled_anomalies.csv: line 1: column chan_id is missing")


# ----------------------------------------------------------------------------------- ETT and tables


def test_ett_is_read(tmp_path):
    found = read_dataset(f"ett:{write_lines(tmp_path / 'ETTh1.csv', ETT)}")
    (one,) = found.recordings
    expected = [[float(cell) for cell in line.split(",")[1:]] for line in ETT[1:]]
    assert_array_equal(one.values, expected)
    assert (one.name, one.part, one.labels) == ("ETTh1", "whole", None)
    assert found.channels == ("HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT")
    assert (found.forecast, found.classes) == ("OT", ("not rising", "rising"))
    assert found.notes == ("left out of the channels: column date",)


def test_uneven_steps_are_noted(tmp_path):
    lines = change(ETT, 4, "02:00:00", "03:30:00")
    found = read_dataset(f"ett:{write_lines(tmp_path / 'ETTh1.csv', lines)}")
    assert found.notes[0] == "steps of time are not even (1 h to 2.5 h); rows are taken as evenly spaced"


@pytest.mark.parametrize(
    ("number", "old", "new", "said"),
    [
        (1, "OT", "Oil", "line 1 has the columns date,HUFL,HULL,MUFL,MULL,LUFL,LULL,Oil; date,HUFL"),
        (1, "HULL", "HUFL", "line 1 has two columns with one name (HUFL)"),
        (2, "2016-07-01 00", "2016-07-32 00", "line 2, column date is no time (2016-07-32 00:00:00)"),
        (2, "2016-07-01 00:00:00", "", "line 2, column date is no time (empty)"),
        (2, "2016-07-01 00:00:00", "20160701", "line 2, column date is no time (20160701)"),
        (3, "2016-07-01 01", "2016-07-01 00", "line 3, column date is not later than the line before"),
        (3, "01:00:00,", "01:00:00+00:00,", "line 3, column date is not later than the line before"),
        (3, "5.692999839782715", "", "line 3, column HUFL is no finite number (empty)"),
        (3, "27.78700065612793", "nan", "line 3, column OT is no finite number (nan)"),
        (3, "27.78700065612793", "1e400", "line 3, column OT is no finite number (1e400)"),
        (4, ",27.78700065612793", "", "line 4 has 7 cells where 8 are expected"),
    ],
)
def test_ett_that_is_damaged(tmp_path, number, old, new, said):
    path = write_lines(tmp_path / "ETTh1.csv", change(ETT, number, old, new))
    assert refuse(f"ett:{path}").startswith(f"ETTh1.csv: {said}")


def test_tables_are_read_with_their_labels(tmp_path):
    lines = ["time,a,b,state,c", "2020-01-01,1,2,10,3", "2020-01-02,4,5,9,6", '2020-01-03,"7",8, 10 ,9']
    found = read_dataset(f"table:{write_lines(tmp_path / 't.csv', lines)}", column="state")
    (one,) = found.recordings
    assert_array_equal(one.values, [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    assert found.channels == ("a", "b", "c")
    # in the order of numbers, not of words
    assert found.classes == ("9", "10")
    assert one.labels.tolist() == [1, 0, 1]
    assert found.notes == ("left out of the channels: column time and column state",)


def test_a_class_that_is_looked_for_is_told_from_all_others(tmp_path):
    path = write_lines(tmp_path / "t.csv", ["a,state,k=v", "1,bad,0", "2,ok,1", "3,off,1", "4,bad,0"])
    found = read_dataset(f"table:{path}", column="state=bad")
    assert (found.classes, found.recordings[0].labels.tolist()) == (("not bad", "bad"), [1, 0, 0, 1])
    assert found.channels == ("a", "k=v")
    assert refuse(f"table:{path}", column="state=odd") == "t.csv: column state has no label odd; it has bad, off and ok"
    # a column may have the sign in its name
    text = write_lines(tmp_path / "u.csv", ["a,k=v", "1,0", "2,1"])
    assert read_dataset(f"table:{text}", column="k=v").classes == ("0", "1")
    assert read_dataset(f"table:{text}", column="k=v=0").classes == ("not 0", "0")


@pytest.mark.parametrize("first", [0, 1])
def test_a_column_without_a_name_that_counts_is_left_out(tmp_path, first):
    lines = [",a,y", f"{first},0.5,u", f"{first + 1},0.25,v"]
    found = read_dataset(f"table:{write_lines(tmp_path / 't.csv', lines)}", column="y")
    assert found.channels == ("a",)
    assert found.notes == ("left out of the channels: the counter and column y",)


LABELLED = ["a,b,y", "1,2,u", "3,4,v"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "is empty, or its first line is"),
        (["a,b,c", "1,2,3"], "line 1 has no column y; it has a, b and c"),
        (["a,a,y"], "line 1 has two columns with one name (a)"),
        (["a,,y"], "line 1 has an empty cell (2)"),
        (["1,2,y"], "line 1, cell 1 is a number (1); names of columns are expected"),
        (["y", "u", "v"], "line 1 has no column beside column y"),
        (["t,y", "2020-01-01,u"], "line 1 has no column beside column t and column y"),
        (["a,b,y"], "is empty: no line below its header"),
        ([*LABELLED, "", "5,6,u"], "line 4 is empty"),
        ([*LABELLED, "5,6,"], "line 4, column y has no label"),
        ([*LABELLED, "5,?,u"], "line 4, column b is no finite number (?)"),
        ([*LABELLED, "5,u"], "line 4 has 2 cells where 3 are expected"),
        (["a,b,y", "1,2,u", "3,4,u"], "column y has one class only (u)"),
        (["a,y", "1,1", "3,1.0", "2,0"], "column y spells one number in two ways (0, 1 and 1.0)"),
        (["a,y", *(f"1,{n}" for n in range(65))], "column y has 65 different labels; at most 64 are accepted"),
        ([",a,y", "0,1,u", "7,1,v"], "line 3, column 1 has no name and does not count the rows (7)"),
    ],
)
def test_tables_that_are_refused(tmp_path, lines, said):
    path = write_lines(tmp_path / "t.csv", lines)
    assert refuse(f"table:{path}", column="y").startswith(f"t.csv: {said}")


def test_a_table_that_is_too_large(tmp_path, monkeypatch):
    path = write_lines(tmp_path / "t.csv", LABELLED)
    monkeypatch.setattr("pe_spectra.files.datasets.dated_columns.MAX_HELD_ENTRIES", 4)
    read_dataset(f"table:{path}", column="y")
    write_lines(path, [*LABELLED, "5,6,u"])
    assert "at most 4 are accepted" in refuse(f"table:{path}", column="y")
    write_lines(path, [*LABELLED, ""])
    read_dataset(f"table:{path}", column="y")
