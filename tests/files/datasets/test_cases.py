"""Files of the UCR and UEA archives, whole and damaged."""

import random

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.errors import PeSpectraError
from pe_spectra.files.datasets.data_forms import read_dataset
from tests.files.datasets.published import TS, change, refuse, write_known, write_lines


def test_both_parts_are_read_from_either(tmp_path):
    write_lines(tmp_path / "Small_TRAIN.ts", TS)
    write_lines(tmp_path / "Small_TEST.ts", [*TS[:12], "7,8,9:1,2,3:Running"])
    for part in ("TRAIN", "TEST"):
        found = read_dataset(f"ucr:{tmp_path}/Small_{part}.ts")
        assert found.name == "SmallSteps"
        assert found.classes == ("Standing", "Running")
        assert found.channels == ("channel 1", "channel 2")
        assert found.train.values.shape == (3, 3, 2)
        assert found.train.labels.tolist() == [0, 1, 1]
        # (case, step, channel)
        assert_array_equal(found.train.values[0], [[1, 4], [2, 5], [3, -0.6]])
        assert_array_equal(found.train.values[1], [[1.5, np.nan], [2.5, 5], [np.nan, 6]])
        assert_array_equal(found.test.values[1], [[7, 1], [8, 2], [9, 3]])
        assert found.notes == ("2 values of 30 are missing",)


def test_one_file_alone(tmp_path):
    lines = [line for line in TS if not line.startswith(("@uni", "@dim", "@equal", "@ser", "@miss", "@time"))]
    found = read_dataset(f"ucr:{write_lines(tmp_path / 'Small.ts', lines)}")
    assert found.test is None
    assert found.notes == ("2 values of 18 are missing",)
    found = read_dataset(f"ucr:{write_lines(tmp_path / 'Small_TEST.ts', [*TS, '', '# the end'])}")
    assert found.test is None
    assert found.notes[0] == "the other part of Small_TEST.ts does not lie beside it"


def test_univariate_files(tmp_path):
    lines = ["@problemName One", "@univariate TRUE", "@classLabel true 1 2 ", "@data", "1,2:1", "3,4:2"]
    assert read_dataset(f"ucr:{write_lines(tmp_path / 'One.ts', lines)}").notes == ()
    lines = change(lines, 5, "1,2", "1,?")
    found = read_dataset(f"ucr:{write_lines(tmp_path / 'One.ts', lines)}")
    assert_array_equal(found.train.values[:, :, 0], [[1, np.nan], [3, 4]])
    assert found.notes == ("1 value of 4 is missing",)


@pytest.mark.parametrize(
    ("number", "old", "new", "said"),
    [
        (3, "@problemName SmallSteps", "", "has no line @problemName before @data (line 11)"),
        (10, "@classLabel true Standing Running", "", "has no line @classLabel before @data (line 11)"),
        (10, "@classLabel true Standing Running", "@targetLabel true", "line 10: @targetLabel is of regression"),
        (10, "true Standing Running", "false", "line 10: @classlabel is not true with classes, each once (false)"),
        (10, "true Standing Running", "", "line 10: @classlabel is not true"),
        (10, "true Standing Running", "true", "line 10: @classlabel is not true"),
        (10, "Standing Running", "Running Running", "line 10: @classlabel is not true"),
        (4, "false", "true", "line 4: @timestamps true; values without times are accepted"),
        (4, "false", "no", "line 4: @timestamps is neither true nor false (no)"),
        (8, "true", "false", "line 8: @equallength false; series of one length are accepted"),
        (6, "false", "true", "line 6: @univariate true, but 2 dimensions"),
        (7, "2", "two", "line 7: @dimensions is no integer from 1 on (two)"),
        (7, "2", "0", "line 7: @dimensions is no integer from 1 on (0)"),
        (7, "2", "3", "line 12 has 2 channels where the header says 3"),
        (9, "3", "4", "line 12, channel 1 has 3 values where the header says 4"),
        (5, "@missing false", "@timeStamps false", "line 5 gives @timestamps a second time (line 4)"),
        (5, "@missing", "missing", "line 5 stands before @data and does not begin with @ or #"),
        (11, "@data", "@missing2", "line 12 stands before @data"),
        (13, "1.5", "1.5x", "line 13, channel 1, value 1 is neither a number nor ? (1.5x)"),
        (13, "2.5", "", "line 13, channel 1, value 2 is neither a number nor ? (empty)"),
        (13, "2.5", "inf", "line 13, channel 1, value 2 is neither a number nor ? (inf)"),
        (13, ",6", ",1e999", "line 13, channel 2, value 3 is no finite number"),
        (13, "Running", "Walking", "line 13: no class of @classLabel (Walking); Standing and Running are"),
        (13, ":Running", ":", "line 13: no class of @classLabel (empty)"),
        (13, "1.5,2.5,?:NaN,5,6:", "", "line 13 has no colon"),
        (13, ":NaN,5,6", "", "line 13 has 1 channel where line 12 has 2"),
        (14, "0,0,0:", "0,0:", "line 14, channel 1 has 2 values where line 12 has 3"),
        (14, "1,1,1:", "1,1,1,1:", "line 14, channel 2 has 4 values where line 12 has 3"),
        (12, "Standing", "Running", "has cases of one class only (Running)"),
    ],
)
def test_files_that_are_damaged(tmp_path, number, old, new, said):
    lines = change(TS, number, old, new)
    path = write_lines(tmp_path / "Small.ts", lines)
    assert refuse(f"ucr:{path}").startswith(f"Small.ts: {said}")


def test_what_the_header_does_not_say_the_first_case_does(tmp_path):
    lines = [line for line in TS if not line.startswith(("@dim", "@ser"))]
    path = write_lines(tmp_path / "Small.ts", change(lines, 10, "4,5,-6e-1", "4,5"))
    assert refuse(f"ucr:{path}") == "Small.ts: line 10, channel 2 has 2 values where channel 1 has 3"
    write_lines(path, change(lines, 11, ":NaN,5,6", ""))
    assert refuse(f"ucr:{path}") == "Small.ts: line 11 has 1 channel where line 10 has 2"


def test_files_that_end_early(tmp_path):
    path = write_lines(tmp_path / "Small.ts", TS[:10])
    assert refuse(f"ucr:{path}") == "Small.ts: has no line @data"
    write_lines(path, TS[:11])
    assert refuse(f"ucr:{path}") == "Small.ts: has no case behind @data"


def test_parts_that_do_not_fit_each_other(tmp_path):
    train = write_lines(tmp_path / "Small_TRAIN.ts", TS)
    test = tmp_path / "Small_TEST.ts"
    write_lines(test, change(TS, 10, "Standing Running", "Running Standing"))
    said = refuse(f"ucr:{train}")
    assert said.startswith("Small_TEST.ts: has the classes Running and Standing where")
    shorter = [line.replace("@seriesLength 3", "@seriesLength 1") for line in TS[:11]]
    write_lines(test, [*shorter, "1:4:Standing", "1:4:Running"])
    assert refuse(f"ucr:{train}") == f"Small_TEST.ts: has 1 step and 2 channels where {train} has 3 and 2"


def test_a_file_that_is_too_large(tmp_path, monkeypatch):
    path = write_lines(tmp_path / "Small.ts", TS)
    monkeypatch.setattr("pe_spectra.files.datasets.ts_file.MAX_HELD_ENTRIES", 18)
    read_dataset(f"ucr:{path}")
    monkeypatch.setattr("pe_spectra.files.datasets.ts_file.MAX_HELD_ENTRIES", 17)
    assert "at most 17 are accepted" in refuse(f"ucr:{path}")


# ----------------------------------------------------------------------------------- damage at random


def read_or_refuse(text, column):
    """Give what our error says; nothing where there is none."""
    try:
        read_dataset(text, column=column)
    except PeSpectraError as error:
        return str(error)
    return ""


def test_damage_at_random_gives_a_set_or_one_line(tmp_path):
    known = write_known(tmp_path)
    generator = random.Random(14)
    outcomes = {True: 0, False: 0}
    for path in sorted(path for path in tmp_path.rglob("*.*") if path.suffix in (".txt", ".csv", ".ts")):
        original = path.read_bytes()
        for _ in range(25):
            data = bytearray(original)
            for _ in range(generator.randint(1, 3)):
                place = generator.randrange(len(data))
                data[place : place + generator.randint(0, 2)] = generator.choice(
                    [b"", b",", b"\n", b"x", b"9", b"-", b":", b'"', b"?", b"\xff", b"\0", b"[", b"@"]
                )
            path.write_bytes(bytes(data))
            for text in [one for one in known if str(path).startswith(one.partition(":")[2])]:
                said = read_or_refuse(text, known[text])
                assert "\n" not in said, text
                assert len(said) < 2200, text
                outcomes[said == ""] += 1
        path.write_bytes(original)
    # what only ever refuses, or never does, tests nothing
    assert min(outcomes.values()) > 50, outcomes
