"""The command compare as people meet it, and encodings of time on the command line."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import compare_encodings, read_encoding
from pe_spectra.cli.options import ENCODING_NAMES
from pe_spectra.encodings import ENCODINGS
from pe_spectra.errors import InputError
from pe_spectra.metrics import METRICS
from pe_spectra.metrics.compare import find_better, list_columns, list_numbers, sort_comparisons
from tests.documents import read_csv, read_json

#: The metrics that a comparison shows, with a value that is known beforehand.
KNOWN = {"stable_rank": 8.0, "min_separation": math.sqrt(2), "toeplitz_share": 1.0, "translation_invariance": 1.0}


# ----------------------------------------------------------------------------------- compare


def test_compare_in_every_format(cli):
    line = "compare dft:d=8 sinusoidal:d=8 alibi --length 8"
    document = read_json(cli(f"{line} --json"))
    first, second, third = document["rows"]
    assert [row["encoding"]["name"] for row in document["rows"]] == ["dft", "sinusoidal", "alibi"]
    assert document["parameters"] == {"length": 8, "grid": 8, "bandwidth": 4}
    assert document["sorted_by"] == "relative_separation"
    for name, value in KNOWN.items():
        assert_allclose(first["metrics"][name], value, rtol=1e-12)
    assert first["injective"] is second["injective"] is True
    assert third["metrics"]["stable_rank"] is None
    assert "no table" in third["undefined"]["stable_rank"]
    rows = read_csv(cli(f"{line} --format csv").out)
    for row, member in zip(rows, document["rows"], strict=True):
        for name in METRICS:
            value = member["metrics"][name]
            assert row[name] == ("" if value is None else repr(value))
    text = cli(line).out
    assert text.splitlines()[0] == document["verdict"]["text"]
    table = [cells.split("\t") for cells in text.splitlines() if "\t" in cells]
    assert table[0] == list(rows[0])
    assert METRICS["relative_separation"].text in text


def test_a_file_keeps_its_name_in_the_verdict(cli, tables):
    assert cli("compare table.npy noise.npy --quiet").out.startswith(
        "noise.npy 64 x 32 is the best by relative_separation"
    )


def test_files_of_one_name_are_told_apart_by_their_folders(cli, tmp_path):
    folders = [tmp_path / "checkpoints-of-one-experiment-with-a-long-name" / run / "weights" for run in ("a", "b")]
    for seed, folder in enumerate(folders):
        folder.mkdir(parents=True)
        np.save(folder / "position_embeddings.npy", np.random.default_rng(seed).normal(size=(32, 4)))
    paths = [str(folder / "position_embeddings.npy") for folder in folders]
    rows = read_csv(cli("compare --format csv", *paths).out)
    assert sorted(row["encoding"] for row in rows) == [
        f".../{run}/weights/position_embeddings.npy 32 x 4" for run in ("a", "b")
    ]


@pytest.mark.parametrize(
    "metric", ["stable_rank", "min_separation", "sidelobe_ratio", "probe_rmse", "kernel_half_width"]
)
def test_sort(cli, metric):
    line = f"compare sinusoidal:d=8 fire:heads=1 dft:d=8 learned:init=normal,d=8 --length 12 --sort {metric} --json"
    document = read_json(cli(line))
    assert document["sorted_by"] == metric
    fixed = [row["metrics"][metric] for row in document["rows"] if not row["random"]]
    known = [value for value in fixed if value is not None]
    assert fixed == known + [None] * (len(fixed) - len(known))
    assert known == sorted(known, reverse=METRICS[metric].better == "higher")
    # what is drawn at random stands behind all others
    assert [row["random"] for row in document["rows"]] == sorted(row["random"] for row in document["rows"])


@pytest.mark.parametrize("column", ["ratio", "maximum", "nearest"])
def test_a_column_of_one_period_is_sorted_by_its_bare_name(cli, column):
    line = "compare sinusoidal:d=8 dft:d=8 calendar rope:d=8 --length 40 --periods day --json --sort"
    bare, full = read_json(cli(f"{line} {column}")), read_json(cli(f"{line} {column}_day"))
    assert bare["sorted_by"] == f"{column}_day"
    assert bare == full


def test_sort_takes_every_column_of_csv(cli):
    line = (
        "compare calendar:fields=hour sinusoidal:d=8 sincos2d:d=8,height=3,width=4 ramp:length=30 tape:d=8 --length 12"
    )
    line += " --step 1h --periods day,6h"
    columns = list_columns(["day", "6h"])
    table = read_csv(cli(f"{line} --format csv").out)
    assert tuple(table[0]) == columns
    compared = compare_encodings(
        [read_encoding(spec) for spec in line.split()[1:6]],
        length=12,
        step_seconds=3600,
        periods=[("day", 86400), ("6h", 21600)],
    )
    for column in columns:
        values = [one.to_columns()[column][0] for one in sort_comparisons(compared, column)]
        known = [value for value in values if value is not None]
        assert values == known + [None] * (len(values) - len(known))
        assert known == sorted(known, reverse=find_better(column) == "higher")
    for column in ("encoding", "length", "nearest_day", "maximum_6h"):
        document = read_json(cli(f"{line} --sort {column} --json"))
        assert document["sorted_by"] == column
        ordered = sort_comparisons(compared, column)
        assert [row["encoding"]["name"] for row in document["rows"]] == [one.encoding.name for one in ordered]
    with pytest.raises(InputError, match="no such column"):
        sort_comparisons(compared, "ratio_week")


def test_all(cli):
    document = read_json(cli("compare --all --length 8 --json"))
    assert {row["encoding"]["name"] for row in document["rows"]} == set(ENCODING_NAMES)
    assert document["sorted_by"] == "relative_separation"
    drawn = [row["random"] for row in document["rows"]]
    assert drawn == sorted(drawn)
    assert any(drawn)


@pytest.mark.slow
def test_what_cannot_be_had_at_the_length_is_left_out(cli):
    document = read_json(cli("compare --all --length 257 --json"))
    absent = {cls.name for cls in ENCODINGS} - {row["encoding"]["name"] for row in document["rows"]}
    assert absent == {"ramp", "one-hot", "pixel-bands", "rnn", "sincos2d", "detr-sine", "rope-axial", "erpe", "swin"}
    left = [note for note in document["notes"] if "left out" in note]
    assert "ramp d=1 and rnn d=64: left out: 80 positions, not 257" in left
    assert sum(note.partition(": left")[0].count(name) for name in absent for note in left) == len(absent)
    assert {row["length"] for row in document["rows"]} == {257}


def test_what_is_left_out_is_not_what_is_required(cli, refuse):
    done = cli("compare ramp sinusoidal:d=8 --length 81 --require injective")
    assert done.code == 1
    assert "required: injective; found: not decided (ramp d=1, left out)" in done.err
    refused = "--length is beyond the rows of an encoding (81); ramp d=1 has 80 positions"
    assert refuse("compare ramp --length 81") == refuse("compare ramp one-hot:d=8 --length 81") == refused


@pytest.mark.parametrize(
    ("demands", "code"),
    [
        ("injective", 0),
        ("separation>=1.4", 0),
        ("separation>=1.5", 1),
        ("stable_rank>=7.9", 0),
        ("stable_rank>8.1", 1),
        ("sidelobe_ratio<=1", 1),
        ("injective separation>2", 1),
    ],
)
def test_require(cli, demands, code):
    """Each demand has its own --require: what follows a value may be a SPEC."""
    words = [word for demand in demands.split() for word in ("--require", demand)]
    done = cli("compare --length 8", *words, "dft:d=8", "--json")
    document = read_json(done, code)
    assert [row["encoding"]["name"] for row in document["rows"]] == ["dft"]
    assert any(note.startswith("required: ") for note in document["notes"]) == bool(code)
    assert cli("compare dft:d=8 --length 8 --json", *words) == done
    told = cli("compare dft:d=8 --length 8", *words).err
    assert ("check failed: required: " in told) == bool(code)


@pytest.mark.slow
def test_sort_and_require_take_their_columns_from_one_list(cli, refuse):
    """Every column that holds numbers may be demanded, what words it holds not; `separation` is one for both."""
    periods = ["day", "6h"]
    numbers, words = list_numbers(periods), {"encoding", "random", "injective", "maximum_day", "maximum_6h"}
    assert {*numbers} == {*list_columns(periods), "separation"} - words
    line = "compare sinusoidal:d=8 dft:d=8 --length 24 --step 1h --periods day,6h --json"
    rows = read_csv(cli(line.replace("--json", "--format csv")).out)
    for name in numbers:
        values = [row[{"separation": "min_separation"}.get(name, name)] for row in rows]
        holds = all(value not in ("", "True") and float(value) >= 0.5 for value in values)
        assert cli(f"{line} --require '{name}>=0.5'").code == (0 if holds else 1), name
    for name in words:
        assert f"--require is not known ({name}>=1)" in refuse(f"{line} --require '{name}>=1'")
    assert "--require is not known (ratio_week>=1)" in refuse(f"{line} --require 'ratio_week>=1'")
    by_name, by_synonym = (read_json(cli(f"{line} --sort {name}")) for name in ("min_separation", "separation"))
    assert by_name == by_synonym
    assert by_name["sorted_by"] == "min_separation"


@pytest.mark.parametrize(
    "line",
    [
        "compare dft:d=8 sinusoidal:d=8 --length 9 --sort flatness --json",
        "compare --length 9 --sort flatness --json dft:d=8 sinusoidal:d=8",
        "compare --length 9 dft:d=8 --sort flatness sinusoidal:d=8 --json",
        "compare --length 9 --sort flatness --json -- dft:d=8 sinusoidal:d=8",
        "compare dft:d=8 --json --length=9 -- sinusoidal:d=8 --sort=flatness",
    ],
)
def test_arguments_stand_anywhere(cli, refuse, line):
    if line.endswith("--sort=flatness"):
        assert "SPEC is not known (--sort=flatness)" in refuse(line)  # behind -- nothing is an option
        return
    assert cli(line).out == cli("compare dft:d=8 sinusoidal:d=8 --length 9 --sort flatness --json").out


def test_options_fill_what_specs_leave_open(cli):
    rows = read_json(cli("compare sinusoidal dft --d 8 --length 8 --json"))["rows"]
    assert [row["encoding"]["parameters"]["d"] for row in rows] == [8, 8]


def test_periods(cli):
    line = "compare calendar:fields=hour+weekday --step 1h --periods day,week,36h --length 200 --json"
    (row,) = read_json(cli(line))["rows"]
    day, week, odd = row["periods"]
    assert (day["lag"], week["lag"], odd["lag"]) == (24, 168, 36)
    assert (day["seconds"], week["seconds"]) == (86400, 604800)
    assert_allclose(week["ratio"], 1, rtol=1e-12)
    assert day["is_local_maximum"] is week["is_local_maximum"] is True
    assert odd["is_local_maximum"] is False
    assert_allclose([day["nearest_ratio"], week["nearest_ratio"]], 1, rtol=0.02)
    (listed,) = read_csv(cli(line.replace("--json", "--format csv")).out)
    assert listed["ratio_week"] == repr(week["ratio"])
    assert listed["maximum_36h"] == "False"
    assert "ratio_week: k(lag 168)/k(0), the lag of 7 d\n" in cli(line.removesuffix(" --json")).out


def test_what_cannot_be_measured_at_a_period_is_noted(cli):
    line = "compare ramp:length=100 sincos2d:d=8,height=6,width=8 --step 1h --periods day,week"
    notes = read_json(cli(f"{line} --json"))["notes"]
    assert "ramp d=1 length=100: week: k(lag 168) not measurable: the table has 100 rows" in notes
    grid = "sincos2d d=8 height=6 width=8 rho=10000"
    assert f"{grid}: nothing at --periods: its positions fill a grid, so no lag is a time" in notes


def test_periods_are_columns_also_of_a_grid_which_has_none():
    encodings = [read_encoding("sincos2d:d=8,height=6,width=8"), read_encoding("calendar:fields=hour")]
    grid, line = compare_encodings(encodings, length=48, step_seconds=3600.0, periods=[("day", 86400.0)])
    assert list(grid.at_periods) == list(line.at_periods) == ["ratio_day", "maximum_day", "nearest_day"]
    assert set(grid.at_periods.values()) == {None}
    assert line.at_periods["ratio_day"] == pytest.approx(1)
    assert line.at_periods["maximum_day"] is True


def test_minute_slots_coarser_than_the_step_are_a_finding(cli):
    line = "compare calendar:fields=minute+hour,minute_slot={} --step 5min --length 48 --json"
    (row,) = read_json(cli(line.format(15)))["rows"]
    assert row["injective"] is False
    assert "coarser than the step of 5 min, so 3 positions" in row["findings"][0]
    (row,) = read_json(cli(line.format(5)))["rows"]
    assert "findings" not in row


# ----------------------------------------------------------------------------------- time


def test_an_encoding_that_cannot_be_measured_is_left_out_with_a_note(cli):
    line = "compare calendar:step=200week sinusoidal:d=8 {} --length 3000 --json"
    document = read_json(cli(line.format("dft:d=8")))
    assert {row["encoding"]["name"] for row in document["rows"]} == {"dft", "sinusoidal"}
    (note,) = [note for note in document["notes"] if "left out" in note]
    assert note.startswith("calendar step=200week: left out: a position is beyond year 9999 (2999 steps of 200week")
    far = "compare calendar:step=200week calendar:step=300week --length 3000 --json"
    done = cli(far)
    assert (done.code, done.out) == (2, "")
    lines = done.err.splitlines()
    assert [line.partition(";")[0] for line in lines] == [
        f"error: a position is beyond year 9999 (2999 steps of {step} from 2016-07-01T00:00)"
        for step in ("200week", "300week")
    ]
    demanded = cli(line.format("--require injective").replace(" --json", ""))
    assert demanded.code == 1
    assert "calendar step=200week, left out" in demanded.err


def test_a_calendar_names_moments(cli):
    done = cli("faithfulness -e calendar:fields=hour+weekday --length 192 --no-figure")
    assert done.out.startswith("Not injective: positions 0 and 168 (Fri 2016-07-01 00:00 = Fri 2016-07-08 00:00)")
    line = "faithfulness -e calendar:fields=hour+weekday --length 192 --json --no-figure"
    (row,) = read_json(cli(line))["rows"]
    assert row["closest_pair"] == [0, 168]
    assert row["collisions"]["count"] == 24
    assert read_json(cli(line.replace("weekday", "weekday,timestamp=yes")))["rows"][0]["injective"] is True


def test_start_and_step(cli):
    line = "faithfulness -e calendar:fields=minute+hour --length 300 --no-figure"
    out = cli(f"{line} --start 2020-02-29T12:00 --step 5min").out
    assert "Sat 2020-02-29 12:00 = Sat 2020-02-29 12:05" in out
    (encoding,) = [read_json(cli(f"{line} --step 30min --json"))["rows"][0]["encoding"]]
    assert (encoding["parameters"]["step"], encoding["parameters"]["start"]) == ("30min", "2016-07-01T00:00")


@pytest.mark.parametrize("command", ["spectrum", "reconstruct --s 3", "faithfulness"])
def test_start_and_step_fill_what_a_calendar_leaves_open(cli, refuse, command):
    line = f"{command} -e calendar:fields=hour {{}} --json --no-figure"
    typed = cli(line.format("--start 2020-02-29T12:00 --step 5min"))
    given = cli(line.format("").replace("hour", "hour,start=2020-02-29T12:00,step=5min"))
    assert read_json(typed) == read_json(given)
    if command == "spectrum":  # whose frequencies it puts in cycles per day
        return
    assert "--step has no meaning for sinusoidal (5min)" in refuse(f"{command} -e sinusoidal --step 5min")


@pytest.mark.few(3)
@pytest.mark.parametrize("command", ["spectrum -e", "faithfulness -e", "compare", "inspect", "export --output -"])
def test_real_positions(cli, refuse, tmp_path, command):
    (tmp_path / "times.csv").write_text("0\n0.5\n1\n1.5\n")
    np.save(tmp_path / "times.npy", np.arange(0, 2, 0.5))
    lines = [f"{command} sinusoidal:d=8 --positions {place}" for place in ("0:2:0.5", "times.csv", "times.npy")]
    first, *others = [cli(line) for line in lines]
    assert first.code == 0, first.err
    assert [done.out for done in others] == [first.out] * 2
    if command.startswith("export"):
        rows = [list(map(float, row.values())) for row in read_csv(first.out)]
        assert_allclose([row[:2] for row in rows], [[t, math.sin(t)] for t in (0, 0.5, 1, 1.5)], atol=1e-15)
    for place, words in (
        ("0:1:0", "--positions is an empty range (0:1:0)"),
        ("0:1:x", "--positions is not a number (x)"),
        ("5", "--positions is no range (5)"),
        ("none.csv", "none.csv: no such file or folder (--positions)"),
        ("0:1:1e-9", "--positions lists too many positions"),
    ):
        assert words in refuse(f"{command} sinusoidal:d=8 --positions {place}")
    assert "--length and --positions exclude each other" in refuse(f"{command} dft --positions 0:1:0.5 --length 3")
    assert "takes no real positions" in refuse(f"{command} dft:d=4 --positions 0:1:0.5") or command.startswith("export")


def test_real_positions_go_beyond_pi(cli):
    document = read_json(cli("spectrum -e sinusoidal:d=8 --positions 0:10:0.25 --json --no-figure"))
    assert document["parameters"]["estimator"] == "nudft"
    assert_allclose(document["omega"][-1], 4 * math.pi, rtol=1e-12)
    assert document["reference"] is None
    rows = read_csv(cli("spectrum -e sinusoidal:d=8 --positions 0:10:0.25 --format csv --no-figure").out)
    assert {row["reference"] for row in rows} == {""}
