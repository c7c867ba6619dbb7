"""Real positions as they are typed: times, whole ones with gaps, and encodings that have none there."""

import json

import numpy as np
import pytest

from pe_spectra.cli.positions import read_places

#: Half hours with a gap, and the same as positions in steps of 30 min.
TIMES = ["2024-03-01 00:00", "2024-03-01 00:30", "2024-03-01 01:30", "2024-03-02 00:00", "2024-03-02 00:30"]
STEPS = [0, 1, 3, 48, 49]


@pytest.fixture
def files(cli, tmp_path):
    (tmp_path / "times.csv").write_text("date,load\n" + "".join(f"{time},5\n" for time in TIMES))
    (tmp_path / "steps.csv").write_text("".join(f"{s}\n" for s in STEPS))
    (tmp_path / "odd.txt").write_text("2024-03-01 00:00\n2024-03-01 00:45\n")
    return cli


def read_json(done):
    assert done.code == 0, done.err
    return json.loads(done.out)


def drop_names(document):
    """A document without what names the positions."""
    return {key: value for key, value in document.items() if key in ("min_separation", "rank", "collisions", "metrics")}


@pytest.mark.parametrize(
    "spec", ["sinusoidal:d=8", "dft:d=64", "calendar:fields=time+weekday", "learned:init=normal,length=60"]
)
@pytest.mark.parametrize("command", ["faithfulness --no-figure -e", "compare"])
def test_times_give_the_numbers_of_their_steps(files, command, spec):
    start = " --start 2024-03-01 --step 30m" if spec.startswith("calendar") else ""
    (times,) = read_json(files(f"{command} {spec} --positions times.csv --json"))["rows"]
    (steps,) = read_json(files(f"{command} {spec} --positions steps.csv --json{start}"))["rows"]
    assert drop_names(times) == drop_names(steps)
    assert drop_names(times)


@pytest.mark.parametrize(
    ("typed", "expected", "said"),
    [
        ("", STEPS, "steps of 30min from 2024-03-01T00:00"),
        ("--step 1h", [0, 0.5, 1.5, 24, 24.5], "steps of 1h from 2024-03-01T00:00"),
        ("--start 2024-02-29", [48, 49, 51, 96, 97], "steps of 30min from 2024-02-29T00:00"),
        ("--start 2024-03-01T12:00 --step 0.5h", [-24, -23, -21, 24, 25], "steps of 30min from 2024-03-01T12:00"),
    ],
)
def test_start_and_step_say_what_is_counted(files, typed, expected, said):
    done = files(f"export sinusoidal:d=4 --output - --positions times.csv {typed}")
    assert done.code == 0, done.err
    found = [float(line.split(",")[0]) for line in done.out.splitlines()[1:]]
    assert found == expected
    assert f"--positions: times are counted in {said}" in done.err


def test_what_a_spec_says_of_the_step_is_taken(files):
    document = read_json(files("compare calendar:step=15min sinusoidal:d=4 --positions times.csv --json"))
    assert any("steps of 15min from 2024-03-01T00:00" in note for note in document["notes"])
    done = files("compare calendar:step=15min calendar:step=1h --positions times.csv")
    assert done.code == 2
    assert "--step contradicts calendar:step=1h (15min)" in done.err


def test_witnesses_are_dates_whatever_the_encoding_is(files):
    done = files("faithfulness -e dft:d=48 --positions times.csv --no-figure")
    assert "Fri 2024-03-01 00:00 = Sat 2024-03-02 00:00" in done.out
    done = files("faithfulness -e sinusoidal:d=4 --positions odd.txt --step 1h --no-figure")
    assert "Fri 2024-03-01 00:00 and Fri 2024-03-01 00:45" in done.out


def test_steps_of_parts_of_a_second_are_exact(tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"2024-03-01T00:00:00.{2 * n:04d}\n" for n in range(100)))
    found = read_places(str(tmp_path / "a.txt"))
    assert found.times.tolist() == list(range(100))
    assert (found.start, found.step) == ("2024-03-01T00:00", "200us")
    found = read_places(str(tmp_path / "a.txt"), step="33.3us")
    np.testing.assert_allclose(found.times[[0, 1, 99]], [0.0, 2000 / 333, 198000 / 333], rtol=1e-15)


def test_one_time_is_one_position(tmp_path):
    (tmp_path / "a.txt").write_text("2024-03-01 05:00")
    found = read_places(str(tmp_path / "a.txt"))
    assert (found.times.tolist(), found.start, found.step) == ([0.0], "2024-03-01T05:00", "1h")


@pytest.mark.parametrize("command", ["compare", "faithfulness --no-figure -e", "spectrum --no-figure -e"])
def test_encodings_without_the_positions_are_left_out_with_a_note(files, command):
    line = f"{command} sinusoidal:d=8 dft:d=8 one-hot:d=8 alibi --positions"
    document = read_json(files(f"{line} steps.csv --json"))
    assert [note for note in document["notes"] if "left out" in note] == [
        "one-hot d=8: left out: this encoding has no such position (one-hot d=8 at 48)",
        "alibi heads=8: left out: this encoding takes no real positions (alibi heads=8)",
    ]
    names = [row["encoding"]["parameters"]["encoding"] for row in document.get("rows", document.get("spectra"))]
    assert sorted(names) == ["dft", "sinusoidal"]
    done = files(f"{line} 0:2:0.5")
    assert done.code == 0
    assert "dft d=8: left out: this encoding takes no real positions (dft d=8 at 0.5)" in done.err


def test_where_no_encoding_has_the_positions_each_has_a_line(files):
    done = files("compare dft:d=8 one-hot:d=8 alibi --positions 0:2:0.5")
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == [
        f"error: --positions: this encoding takes no real positions ({end}"
        for end in (
            "dft d=8 at 0.5); whole positions from 0 on are accepted",
            "one-hot d=8 at 0.5); whole positions from 0 to 7 are accepted",
            "alibi heads=8); --length gives it integers",
        )
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--positions times.csv::loud", "times.csv: has no column loud of numbers or times; it has date"),
        ("--positions times.csv --step 30x", "--step is no duration (30x); a number of ns, us, ms, s, min"),
        ("--positions times.csv --step 0s", "--step is out of range (0s)"),
        (
            "--positions times.csv --step 1month",
            "--positions has times that are no whole steps of 1month (times.csv); from 2",
        ),
        ("--positions times.csv --step nan", "--step is no duration (nan)"),
        ("--positions times.csv --step=-1h", "--step is no duration (-1h)"),
        ("--positions times.csv --start soon", "--start is not a date or time (soon)"),
        ("--positions times.csv --length 3", "--length and --positions exclude each other (3)"),
        ("--positions times.csv --step 1ns --start 0001-01-01", "--positions is out of range (6.3"),
        ("--positions 0:4:1 --step 1h", "--step has no meaning for sinusoidal (1h)"),
    ],
)
@pytest.mark.parametrize("command", ["faithfulness -e", "export --output -"])
def test_positions_that_are_refused(files, refuse, command, line, words):
    assert words in refuse(f"{command} sinusoidal:d=8 {line}")


@pytest.mark.parametrize("spec", ["dft:d=16", "calendar:fields=hour+weekday", "learned:init=normal,length=40"])
@pytest.mark.parametrize("command", ["inspect", "precision", "spectrum --no-figure -e", "export --output -"])
def test_every_command_takes_whole_positions_with_gaps(cli, command, spec):
    done = cli(f"{command} {spec} --positions 0:40:3")
    assert done.code == 0, done.err


def test_whole_positions_are_decided_as_the_encoding_decides_them(cli):
    line = "faithfulness -e {} --positions {} --json --no-figure"
    (row,) = read_json(cli(line.format("calendar:fields=hour", "0:100:24")))["rows"]
    assert (row["injective"], row["certificate"]["kind"], row["collisions"]["count"]) == (False, "fields", 10)
    (row,) = read_json(cli(line.format("dft:d=8", "0:100:9")))["rows"]
    assert (row["injective"], row["certificate"]["kind"]) == (False, "period")
    assert row["collisions"]["examples"][0] == [0, 8]


def test_periods_are_lags_of_the_encoding_whatever_the_positions_are(files):
    line = "compare calendar:fields=time sinusoidal:d=8 {} --periods day,90min --json"
    at_times = read_json(files(line.format("--positions times.csv")))["rows"]
    plain = read_json(files(line.format("--step 30min --length 5")))["rows"]
    by_name = {row["encoding"]["name"]: row["periods"] for row in plain}
    assert {row["encoding"]["parameters"]["encoding"]: row["periods"] for row in at_times} == by_name
    assert [period["lag"] for period in by_name["calendar"]] == [48, 3]


def test_positions_before_the_first_are_refused_where_there_are_none(files, refuse):
    assert "dft d=8 at -2); whole positions from 0 on" in refuse("faithfulness -e dft:d=8 --positions=-2:2:1")


@pytest.mark.parametrize(
    ("dates", "more", "step", "times"),
    [
        (["2015-01", "2015-02", "2015-04"], (), "1month", [0, 1, 3]),
        (["2015-01-31", "2015-02-28", "2015-03-31"], (), "1month", [0, 1, 2]),
        (["2015-01-01", "2016-01-01", "2018-01-01"], (), "1year", [0, 1, 3]),
        (["2015-01", "2015-02", "2015-04"], ("2014-12-01", "1month"), "1month", [1, 2, 4]),
        (["2015-01-01", "2015-02-01", "2015-03-02"], (), "29d", None),
    ],
)
def test_times_at_one_place_of_their_months_are_counted_in_months(tmp_path, dates, more, step, times):
    path = tmp_path / "months.csv"
    path.write_text("date\n" + "\n".join(dates) + "\n")
    found = read_places(str(path), *more)
    assert found.step == step
    if times is not None:
        assert found.times.tolist() == times
