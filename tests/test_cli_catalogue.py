"""The catalogue, exports, comparisons and portraits on the command line, as people meet them."""

import csv
import io
import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from safetensors.numpy import load_file, save_file

from pe_spectra.cli.options import ENCODING_NAMES
from pe_spectra.cli.program import build_command
from pe_spectra.compare import COMPARED
from pe_spectra.encodings import ENCODINGS, find_encoding
from pe_spectra.inspection import EXPLANATIONS
from tests.planted import make_grid, make_noise, make_trained, plant_cls, plant_copies, plant_padding, plant_tail

#: The metrics that a comparison shows, with a value that is known beforehand.
KNOWN = {"stable_rank": 8.0, "min_separation": math.sqrt(2), "toeplitz_share": 1.0, "translation_invariance": 1.0}


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


def read_json(done, code=0):
    assert done.code == code, done.err
    return json.loads(done.out)


@pytest.fixture
def tables(tmp_path):
    """Tables with planted truth in the working directory of `cli`."""
    table = make_trained(256, 32)
    planted = {
        "table": table,
        "cls": plant_cls(make_trained(128, 64)),
        "copies": plant_copies(table),
        "padding": plant_padding(make_trained(512, 64)),
        "tail": plant_tail(make_trained(512, 64), 400),
        "noise": make_noise(64, 32),
        "patches": plant_cls(np.concatenate([np.ones((1, 32)), make_grid(14, 14, 32)])),
        "wide": make_grid(2, 8, 16),
    }
    for name, values in planted.items():
        np.save(tmp_path / f"{name}.npy", values)
    return planted


# ----------------------------------------------------------------------------------- encodings


def test_the_catalogue_in_every_format(cli):
    rows = read_json(cli("encodings --json"))["rows"]
    names = [cls.name for cls in ENCODINGS]
    assert [row["name"] for row in rows] == names
    listed = read_csv(cli("encodings --format csv").out)
    assert [row["name"] for row in listed] == names
    lines = cli("encodings").out.splitlines()
    assert lines[0].startswith(f"{len(names)} encodings")
    table = [line.split("\t") for line in lines if "\t" in line]
    assert table[0] == list(listed[0])
    assert [cells[0] for cells in table[1:]] == names
    for row, cells in zip(listed, table[1:], strict=True):
        assert list(row.values()) == cells


def test_the_names_for_completion_are_the_catalogue():
    assert tuple(cls.name for cls in ENCODINGS) == ENCODING_NAMES


@pytest.mark.parametrize("name", ENCODING_NAMES)
def test_one_encoding(cli, name):
    cls = find_encoding(name)
    (row,) = read_json(cli(f"encodings {name} --json"))["rows"]
    assert (row["formula"], row["source"], row["pitfalls"]) == (cls.formula, cls.source, cls.pitfalls)
    assert [p["name"] for p in row["parameters"]] == [p.name for p in cls.accepts]
    text = cli(f"encodings {name}").out
    for part in (cls.summary, cls.formula, cls.source, cls.pitfalls):
        assert part in text
    listed = read_csv(cli(f"encodings {name} --format csv").out)
    assert [line["parameter"] for line in listed] == [p.name for p in cls.accepts]


def test_one_encoding_with_its_values(cli):
    (row,) = read_json(cli("encodings rope:d=64,scaling=yarn,factor=4,original=4096 --json"))["rows"]
    assert row["encoding"]["parameters"]["factor"] == 4
    assert row["spec"].startswith("rope:")
    (again,) = read_json(cli("encodings --json", row["spec"]))["rows"]
    assert again == row
    values = {line["parameter"]: line["value"] for line in read_csv(cli("encodings rope:d=64 --format csv").out)}
    assert (values["d"], values["layout"], values["factor"]) == ("64", "half", "")


def test_a_file_in_the_catalogue(cli, tables):
    (row,) = read_json(cli("encodings table.npy?rows=0:8 --json"))["rows"]
    assert row["name"] == "learned"
    assert row["encoding"]["parameters"]["last"] == 8


# ----------------------------------------------------------------------------------- export


def test_export_of_every_format(cli, tmp_path):
    expected = find_encoding("sinusoidal")(d=4).table(5)
    for name in ("t.npy", "t.csv", "t.tsv", "t.safetensors"):
        done = cli(f"export sinusoidal:d=4 --length 5 --output {name}")
        assert (done.code, done.out, done.err) == (0, "", f"wrote {name} (5 x 4, table)\n")
    assert_array_equal(np.load(tmp_path / "t.npy"), expected)
    assert_array_equal(load_file(tmp_path / "t.safetensors")["table"], expected)
    for name, delimiter in (("t.csv", ","), ("t.tsv", "\t")):
        head, *lines = (tmp_path / name).read_text().splitlines()
        assert head.split(delimiter) == ["position", "c0", "c1", "c2", "c3"]
        assert_array_equal([[float(cell) for cell in line.split(delimiter)[1:]] for line in lines], expected)
    stdout = cli("export sinusoidal:d=4 --length 5 --output -")
    assert (stdout.out, stdout.err) == ((tmp_path / "t.csv").read_text(), "")


@pytest.mark.parametrize("name", ["t.npy", "t.csv", "t.tsv", "t.safetensors"])
def test_what_was_exported_is_read_again(cli, tmp_path, name):
    cli(f"export sinusoidal:d=8 --length 40 --output {name}")
    first = read_json(cli(f"inspect {name} --json --quiet"))
    second = read_json(cli("inspect sinusoidal:d=8 --length 40 --json"))
    assert first["metrics"] == second["metrics"]
    assert first["dominant_periods"] == second["dominant_periods"]


def test_export_of_each_thing(cli):
    rows = read_csv(cli("export dft:d=4 --what frequencies --output -").out)
    assert [list(map(float, row.values())) for row in rows] == [
        [0, 0, 0.5, 0],
        [1, math.pi / 2, 1, 0],
        [2, math.pi, 0.5, 0],
    ]
    rows = read_csv(cli("export dft:d=4 --what kernel --length 3 --output -").out)
    assert [row["lag"] for row in rows] == ["0", "1", "2"]
    assert_allclose([float(row["head0"]) for row in rows], [1, 0, 0], atol=1e-15)
    rows = read_csv(cli("export alibi:heads=2 --length 4 --output -").out)
    assert [list(map(float, row.values())) for row in rows] == [[s, -s / 16, -s / 256] for s in range(4)]
    rows = read_csv(cli("export alibi:heads=2,causal=no --length 2 --output -").out)
    assert [row["lag"] for row in rows] == ["-1", "0", "1"]
    first, *others = read_csv(cli("export shaw:clip=2,d=3 --length 4 --output - --quiet").out)
    assert list(first) == ["lag", "c0", "c1", "c2"]
    assert [row["lag"] for row in (first, *others)] == [str(lag) for lag in range(-3, 4)]


def test_export_of_part_of_a_file(cli, tables):
    rows = read_csv(cli("export table.npy --rows 10:13 --output -").out)
    assert_array_equal([[float(cell) for cell in row.values()][1:] for row in rows], tables["table"][10:13])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("export", "SPEC is missing"),
        ("export dft", "--output is missing; --output FILE"),
        ("export dft --output a", "--output is no name of a file for an array (a); .npy, .csv"),
        ("export dft --output ''", "--output"),
        ("export dft --output a.xlsx", "(a.xlsx)"),
        ("export dft --output no/a.npy", "no/a.npy: its folder does not exist (--output)"),
        ("export dft --output - --what kern", "--what is not known (kern); did you mean kernel? accepted: table, freq"),
        ("export dft --output - --what bias", "dft d=256 has no bias to export; it has table, frequencies, kernel"),
        ("export alibi --output - --what table", "alibi heads=8 has no table to export; it has bias, kernel"),
        ("export dft --output - --length 0", "--length is out of range (0)"),
        ("export dft --output - --positions 0:1:0.5", "real positions"),
        ("export dft --output - --positions 0:1:0", "--positions is an empty range (0:1:0)"),
        ("export dft --output - --positions 0:1:0.5 --length 3", "--length and --positions exclude each other (3)"),
        ("export dft dft --output -", "unexpected argument (dft)"),
        ("export dft --json", "no such option (--json)"),
        ("export none.npy --output -", "none.npy: no such file or folder"),
        ("encodings gauss", "NAME is not known (gauss); accepted: sinusoidal"),
        ("encodings rop", "did you mean rope?"),
        ("encodings rope alibi", "unexpected argument (alibi)"),
        ("encodings rope:e=4", "rope: key is not known (e); accepted: d, base"),
        ("encodings rope:d=x", "rope: d is not an integer (x)"),
        ("encodings --figure a.png", "no such option (--figure)"),
        ("compare", "SPEC is missing; encodings or files, or --all"),
        ("compare ''", "SPEC is not known ('')"),
        ("compare gauss", "SPEC is not known (gauss)"),
        ("compare --all dft", "--all and SPEC exclude each other (dft)"),
        ("compare --all --d 4", "--d has no meaning with --all (4)"),
        ("compare dft --sort rank", "--sort is not known (rank); accepted: stable_rank"),
        ("compare dft --require rank>=3", "--require is not known (rank>=3)"),
        ("compare dft --require stable_rank>=x", "--require stable_rank is not a number (x)"),
        ("compare --require dft", "--require is not known (dft)"),
        ("compare dft --periods day,fortnight", "--periods is no period (fortnight); minute, hour, day"),
        ("compare dft --periods ''", "--periods"),
        ("compare dft --step 5", "--step"),
        ("compare calendar --step 5", "--step is no duration (5)"),
        ("compare calendar --start tomorrow", "--start is no moment (tomorrow); an ISO date or time"),
        ("compare dft --length x", "--length is not an integer (x)"),
        ("compare dft --rows 1:2", "--rows has no meaning for dft (1:2)"),
        ("compare dft --resize 3", "no such option (--resize)"),
        ("inspect", "SPEC is missing"),
        ("inspect dft alibi", "unexpected argument (alibi)"),
        ("inspect learned", "table=FILE, or init=normal"),
        ("inspect --explain seams", "--explain is not known (seams); did you mean seam? accepted: special"),
        ("inspect dft --explain seam", "--explain takes nothing beside it (dft)"),
        ("inspect --explain seam --figure a.png", "--figure has no meaning with --explain (a.png)"),
        ("inspect dft --fail-on fatal", "--fail-on is not known (fatal); accepted: note, warning, error"),
        ("inspect dft --resize x", "--resize is no size (x); N, or HxW for a grid, is accepted"),
        ("inspect dft --resize ''", "--resize is no size ('')"),
        ("inspect dft --resize 3xa", "--resize is not an integer (a)"),
        ("inspect dft --resize 90 --align-corners --method nearest", "no meaning with this --method (nearest)"),
        ("inspect dft --resize 0", "--resize is out of range (0)"),
        ("inspect dft --resize 4x4x4", "--resize is no size (4x4x4); N, or HxW"),
        ("inspect dft --resize 4x4", "--resize does not fit the encoding (4x4)"),
        ("inspect alibi --resize 4", "no table to resize (alibi heads=8)"),
        (
            "inspect dft --resize 90 --method cubic",
            "--method is not known (cubic); did you mean bicubic? accepted: bicubic, ",
        ),
        ("inspect dft --align-corners", "--align-corners has no meaning without --resize"),
        ("inspect dft --resize", "--resize has no value"),
        ("inspect none/", "none"),
        ("inspect .", "is a folder (directory)"),
    ],
)
def test_refused_lines(refuse, line, words):
    assert words in refuse(line)


# ----------------------------------------------------------------------------------- compare


def test_compare_in_every_format(cli):
    line = "compare dft:d=8 sinusoidal:d=8 alibi --length 8"
    document = read_json(cli(f"{line} --json"))
    first, second, third = document["rows"]
    assert [row["encoding"]["name"] for row in document["rows"]] == ["dft", "sinusoidal", "alibi"]
    assert document["parameters"] == {"length": 8}
    assert document["sorted_by"] is None
    for name, value in KNOWN.items():
        assert_allclose(first["metrics"][name], value, rtol=1e-12)
    assert first["injective"] is second["injective"] is True
    assert third["metrics"]["stable_rank"] is None
    assert "no table" in third["undefined"]["stable_rank"]
    rows = read_csv(cli(f"{line} --format csv").out)
    for row, member in zip(rows, document["rows"], strict=True):
        for name in COMPARED:
            value = member["metrics"][name]
            assert row[name] == ("" if value is None else repr(value))
    text = cli(line).out
    assert text.splitlines()[0] == document["verdict"]["text"]
    table = [cells.split("\t") for cells in text.splitlines() if "\t" in cells]
    assert table[0] == list(rows[0])
    assert "smallest distance of two codes" in text


def test_a_file_keeps_its_name_in_the_verdict(cli, tables):
    assert cli("compare table.npy noise.npy --quiet").out.startswith("noise.npy 64 x 32 has the largest")


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
    assert known == sorted(known, reverse=COMPARED[metric].better == "higher")
    # what is drawn at random stands behind all others
    assert [row["random"] for row in document["rows"]] == sorted(row["random"] for row in document["rows"])


def test_all(cli):
    document = read_json(cli("compare --all --length 8 --json"))
    assert {row["encoding"]["name"] for row in document["rows"]} == set(ENCODING_NAMES)
    assert document["sorted_by"] == "min_separation"
    drawn = [row["random"] for row in document["rows"]]
    assert drawn == sorted(drawn)
    assert any(drawn)


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
    assert any(note.startswith("required but not so: ") for note in document["notes"]) == bool(code)
    assert cli("compare dft:d=8 --length 8 --json", *words) == done
    told = cli("compare dft:d=8 --length 8", *words).err
    assert ("check failed: required but not so: " in told) == bool(code)


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
    assert "k(lag 168)" in cli(line.removesuffix(" --json")).out


def test_minute_slots_coarser_than_the_step_are_a_finding(cli):
    line = "compare calendar:fields=minute+hour,minute_slot={} --step 5min --length 48 --json"
    (row,) = read_json(cli(line.format(15)))["rows"]
    assert row["injective"] is False
    assert "coarser than the step of 5 min, so 3 positions" in row["findings"][0]
    (row,) = read_json(cli(line.format(5)))["rows"]
    assert "findings" not in row


# ----------------------------------------------------------------------------------- time


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
    assert "--step has no meaning for sinusoidal (5min)" in refuse(f"{command} -e sinusoidal --step 5min")


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


# ----------------------------------------------------------------------------------- inspect


def test_inspect_in_every_format(cli, tables):
    document = read_json(cli("inspect cls.npy --json"))
    codes = [finding["code"] for finding in document["findings"]]
    assert codes == ["special-first-row"]
    assert document["findings"][0]["rows"] == [0]
    assert document["rows_used"] == [1, 128]
    assert document["verdict"]["level"] == "warning"
    (row,) = read_csv(cli("inspect cls.npy --format csv").out)
    assert (row["level"], row["code"], row["rows"]) == ("warning", "special-first-row", "0")
    assert row["message"] == document["findings"][0]["message"]
    text = cli("inspect cls.npy").out
    assert text.splitlines()[0] == document["verdict"]["text"]
    assert "rows used: 1 to 127" in text


@pytest.mark.parametrize(
    ("name", "code", "rows"),
    [
        ("copies", "duplicate-rows", [17, 40]),
        ("padding", "padding-offset", [0, 1]),
        ("tail", "untrained-tail", [[400, 511]]),
        ("noise", "no-structure", [[0, 63]]),
    ],
)
def test_findings_name_their_rows(cli, tables, name, code, rows):
    found = read_json(cli(f"inspect {name}.npy --json"))["findings"]
    assert [(finding["code"], finding["rows"]) for finding in found] == [(code, rows)]
    # rows are those of the file, also where only a part is used
    if name == "copies":
        found = read_json(cli(f"inspect {name}.npy --rows 10:200 --json"))["findings"]
        assert [(finding["code"], finding["rows"]) for finding in found] == [(code, rows)]


def test_nothing_is_found_where_nothing_is_planted(cli, tables):
    document = read_json(cli("inspect table.npy --json"))
    assert (document["findings"], document["verdict"]["code"]) == ([], "clean")


@pytest.mark.parametrize(
    ("level", "name", "code"),
    [("note", "table", 0), ("warning", "cls", 1), ("note", "cls", 1), ("error", "cls", 0)],
)
def test_fail_on(cli, tables, level, name, code):
    done = cli(f"inspect {name}.npy --fail-on {level}")
    assert done.code == code
    assert done.out == cli(f"inspect {name}.npy").out
    assert ("check failed: finding of level warning: special-first-row" in done.err) == bool(code)


@pytest.mark.parametrize("code", EXPLANATIONS)
def test_explain(cli, code):
    done = cli(f"inspect --explain {code}")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == EXPLANATIONS[code].reasoning
    assert EXPLANATIONS[code].formula in done.out
    rows = read_csv(cli(f"inspect --explain {code} --format csv").out)
    assert [row["text"] for row in rows] == [EXPLANATIONS[code].formula, *EXPLANATIONS[code].references]
    assert [row["part"] for row in rows] == ["formula"] + ["reference"] * (len(rows) - 1)


def test_a_grid_is_found_said_or_named(cli, tables):
    done = cli("inspect patches.npy --json")
    assert read_json(done)["grid"] == [14, 14]
    assert any("grid=14x14" in note for note in read_json(done)["notes"])
    named = read_json(cli("inspect patches.npy?grid=14x14,prefix=1 --json"))
    assert named["findings"] == read_json(done)["findings"]
    assert "seam" not in {finding["code"] for finding in named["findings"]}
    assert read_json(cli("inspect wide.npy?grid=2x8 --json"))["grid"] == [2, 8]
    assert read_json(cli("inspect wide.npy --json"))["grid"] is None
    spectra = read_json(cli("spectrum -e patches.npy --json --no-figure"))
    assert [member["axis"] for member in spectra["spectra"]] == ["vertical", "horizontal"]
    (plane,) = spectra["planes"]
    assert_allclose(np.sum(plane["weights"]), 1, rtol=1e-12)


@pytest.mark.parametrize("method", ["bicubic", "bilinear", "nearest", "bicubic-antialias", "bilinear-antialias"])
def test_resize(cli, method):
    line = f"inspect sinusoidal:d=16 --length 64 --resize 128 --method {method} --json"
    found = read_json(cli(line))["resized"]
    assert (found["method"], found["align_corners"], found["old"], found["new"]) == (method, False, [64], [128])
    (axis,) = found["axes"]
    assert axis["scale"] == 0.5
    assert axis["centroid_after"] < axis["centroid_before"]
    aligned = cli(f"{line} --align-corners")
    if method not in ("bicubic", "bilinear"):
        assert aligned.code == 2
        return
    assert read_json(aligned)["resized"]["align_corners"] is True
    assert read_json(aligned)["resized"]["axes"] != found["axes"]


def test_resize_of_a_grid(cli, tables):
    found = read_json(cli("inspect patches.npy --resize 24x7 --json"))["resized"]
    assert (found["old"], found["new"]) == ([14, 14], [24, 7])
    assert [axis["axis"] for axis in found["axes"]] == ["vertical", "horizontal"]
    assert found["axes"][1]["beyond"] is None
    assert "resized: 14x14 to 24x7, bicubic" in cli("inspect patches.npy --resize 24x7").out


# ----------------------------------------------------------------------------------- files


def test_the_same_table_from_every_form(cli, tmp_path):
    table = make_trained(64, 8).astype(np.float32)
    np.save(tmp_path / "t.npy", table)
    np.save(tmp_path / "one.npy", table[None])
    np.savez(tmp_path / "t.npz", pos_embed=table, other=np.ones((3, 3)))
    save_file({"h.wpe.weight": table, "wte.weight": np.ones((9, 8), np.float32)}, tmp_path / "t.safetensors")
    (tmp_path / "model").mkdir()
    save_file({"wpe.weight": table}, tmp_path / "model" / "model.safetensors")
    (tmp_path / "model" / "config.json").write_text('{"model_type": "gpt2"}')
    np.savetxt(tmp_path / "t.csv", table.astype(float), delimiter=",")
    forms = ["t.npy", "one.npy", "./t.npy", "t.npz", "t.npz::pos_embed", "t.safetensors", "t.safetensors::h.wpe.weight"]
    answers = [read_json(cli(f"inspect {form} --json")) for form in [*forms, "model/", "model/::wpe.weight", "t.csv"]]
    for answer in answers[1:]:
        for key in ("metrics", "dominant_periods", "findings", "rows_used"):
            assert answer[key] == answers[0][key]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("inspect two.npz", "two.npz: holds several tables, none of a known name: a (4 x 2), b (3 x 2); name one as"),
        ("inspect two.npz::c", "two.npz: has no tensor c; it has a (4 x 2), b (3 x 2)"),
        ("inspect old.pt", "old.pt: is a pickle, which can run code"),
        ("inspect table.npy?foo=1", "key is not known (foo); accepted: rows, prefix, grid"),
        ("inspect table.npy?grid=9x9", "grid does not fit the rows (9x9)"),
        ("inspect table.npy?grid=9", "grid is no size of a grid (9); HxW"),
        ("inspect table.npy --rows 5", "--rows is no range of rows (5)"),
        ("inspect table.npy --rows a:b", "--rows is not an integer (a)"),
        ("inspect table.npy?rows=1:9 --rows 2:9", "--rows contradicts table.npy?rows=1:9 (2:9)"),
        ("inspect table.npy --length 257", "--length is beyond the rows of an encoding (257)"),
        ("spectrum -e table.npy --d 4", "--d"),
        ("spectrum -e table.npy --rho 4", "--rho has no meaning for learned (4)"),
        ("reconstruct -e table.npy --s 256", "--s is out of range (256); an integer from 0 to 255"),
        ("inspect config.json --rows 1:2", "config.json: a configuration has no rows (--rows)"),
        ("inspect config.json?rows=1:2", "config.json: a configuration has no rows (rows)"),
    ],
)
def test_refused_files(refuse, tables, tmp_path, line, words):
    np.savez(tmp_path / "two.npz", a=np.ones((4, 2)), b=np.ones((3, 2)))
    (tmp_path / "old.pt").write_bytes(b"\x80\x02}q\x00.")
    (tmp_path / "config.json").write_text('{"model_type": "llama", "head_dim": 64}')
    assert words in refuse(line)


def test_a_configuration_is_the_encoding_that_it_asks_for(cli, tmp_path):
    model = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 500000.0}
    (tmp_path / "config.json").write_text(json.dumps(model))
    encoding = read_json(cli("spectrum -e config.json --json --no-figure"))["encoding"]
    assert (encoding["name"], encoding["parameters"]["d"], encoding["parameters"]["base"]) == ("rope", 128, 500000.0)


@pytest.mark.parametrize("command", ["spectrum", "reconstruct", "faithfulness"])
def test_the_commands_of_the_paper_take_files_and_biases(cli, tables, command):
    line = f"{command} -e table.npy alibi:heads=2 sinusoidal:d=256 --json --no-figure"
    document = read_json(cli(line))
    members = document.get("spectra") or document.get("panels") or document["rows"]
    assert [member["encoding"]["name"] for member in members] == ["learned", "alibi", "sinusoidal"]
    rows = read_json(cli(f"{command} -e table.npy --rows 0:100 --json --no-figure"))
    (member,) = rows.get("panels") or rows.get("rows") or [rows]
    assert member["encoding"]["parameters"]["last"] == 100
    assert member.get("grid", rows["parameters"].get("grid", 100)) == 100


def test_a_lag_window_has_as_many_lattice_points_as_positions(cli, tables):
    document = read_json(cli("spectrum -e table.npy --length 50 --json --no-figure"))
    assert (document["parameters"]["grid"], document["length"]) == (50, 50)
    assert document["parameters"]["estimator"] == "lag-window"
    assert document["kernel_source"] == "gram-diagonals"
    document = read_json(cli("spectrum -e alibi:heads=3 --json --no-figure"))
    assert (document["kernel_source"], len(document["head_weights"])) == ("exp-bias", 3)


# ----------------------------------------------------------------------------------- places, settings, variables


def test_output(cli, tmp_path):
    for line in ("encodings", "compare dft:d=8 --length 8", "inspect dft:d=8 --length 8"):
        for name, form in (("a.json", "json"), ("a.csv", "csv"), ("a.txt", "table")):
            done = cli(f"{line} --output {name}")
            assert (done.code, done.out) == (0, ""), done.err
            assert done.err.splitlines()[-1] == f"wrote {name}"
            assert (tmp_path / name).read_text() == cli(f"{line} --format {form}").out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("compare dft:d=8 alibi sinusoidal:d=8 --length 16", "pe_spectra.plots.comparison"),
        ("inspect sinusoidal:d=8 --length 32", "pe_spectra.plots.inspection"),
        ("inspect alibi:heads=2 --length 16", "pe_spectra.plots.inspection"),
        ("inspect sincos2d:d=8,height=4,width=4", "pe_spectra.plots.inspection"),
    ],
)
def test_figures_are_drawn_when_asked_for(cli, tmp_path, line, module):
    pytest.importorskip(module)
    assert cli(line).code == 0
    assert list(tmp_path.iterdir()) == []
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml")):
        done = cli(f"{line} --figure {name} --quiet --json")
        assert read_json(done)["figure"] == name
        assert (tmp_path / name).read_bytes().startswith(start)


def test_variables(cli, refuse):
    document = read_json(
        cli("compare dft:d=8 sinusoidal:d=8 --json", PE_SPECTRA_COMPARE_SORT="flatness", PE_SPECTRA_COMPARE_LENGTH="9")
    )
    assert (document["sorted_by"], document["parameters"]["length"]) == ("flatness", 9)
    found = read_json(
        cli("inspect dft:d=8 --json", PE_SPECTRA_INSPECT_RESIZE="90", PE_SPECTRA_INSPECT_ALIGN_CORNERS="yes")
    )
    assert found["resized"]["align_corners"] is True
    assert cli("export dft:d=8", PE_SPECTRA_EXPORT_OUTPUT="-", PE_SPECTRA_EXPORT_WHAT="kernel").out.startswith("lag,")
    for name, value, line in (
        ("COMPARE_SORT", "x", "compare dft"),
        ("COMPARE_PERIODS", "x", "compare dft"),
        ("COMPARE_ROWS", "3", "compare dft"),
        ("COMPARE_REQUIRE", "x", "compare dft"),
        ("INSPECT_METHOD", "x", "inspect dft"),
        ("INSPECT_RESIZE", "x", "inspect dft"),
        ("INSPECT_FAIL_ON", "x", "inspect dft"),
        ("INSPECT_EXPLAIN", "x", "inspect"),
        ("EXPORT_WHAT", "x", "export dft --output -"),
        ("FAITHFULNESS_STEP", "x", "faithfulness -e calendar"),
        ("FAITHFULNESS_START", "x", "faithfulness -e calendar"),
    ):
        message = refuse(line, **{f"PE_SPECTRA_{name}": value})
        assert f"PE_SPECTRA_{name} " in message
        assert f"({value})" in message


def test_no_variable_is_an_argument(cli, refuse):
    for name in ("SPECS", "SPEC", "NAME"):
        assert "SPEC is missing" in refuse("compare", **{f"PE_SPECTRA_COMPARE_{name}": "dft"})
        assert cli("encodings --json", **{f"PE_SPECTRA_ENCODINGS_{name}": "dft"}).out == cli("encodings --json").out


def settle(tmp_path, text):
    (tmp_path / "s.toml").write_text(text)
    return "--settings s.toml"


def test_settings(cli, tmp_path):
    file = settle(tmp_path, "length = 9\n[compare]\nsort = 'flatness'\njson = true\n[inspect]\nresize = 24\n")
    document = read_json(cli(f"compare dft:d=8 sinusoidal:d=8 {file}"))
    assert (document["sorted_by"], document["parameters"]["length"]) == ("flatness", 9)
    assert read_json(cli(f"inspect dft:d=8 {file} --json"))["resized"]["new"] == [24]
    file = settle(tmp_path, "[compare]\nall = true\nlength = 4\nformat = 'csv'\n")
    assert len(read_csv(cli(f"compare {file}").out)) == len(ENCODINGS)
    file = settle(tmp_path, "step = '30min'\nstart = 2020-02-29T12:00:00\nlength = 50\n")
    out = cli(f"faithfulness -e calendar:fields=hour --no-figure {file}").out
    assert "Sat 2020-02-29 12:00 = Sat 2020-02-29 12:30" in out
    file = settle(tmp_path, "require = ['injective', 'separation>=1']\n")
    assert cli(f"compare dft:d=8 --length 8 {file}").code == 0
    assert cli(f"compare dft:d=8 --length 9 {file}").code == 1


@pytest.mark.parametrize(
    ("line", "text", "words"),
    [
        ("compare dft", "sort = 'x'", "s.toml: sort is not known (x)"),
        ("compare dft", "periods = 'x'", "s.toml: periods is no period (x)"),
        ("compare dft", "all = 3", "s.toml: key all has the wrong type ('3'); true or false is accepted"),
        (
            "compare dft",
            "sort = 12:30:00",
            "s.toml: key sort has the wrong type (datetime.time(12, 30)); a text, a num",
        ),
        ("compare dft", "specs = ['dft']", "s.toml: key specs is not known"),
        ("compare dft", "[compare]\nresize = 3", "s.toml: key compare.resize is not known"),
        ("inspect dft", "resize = 0", "s.toml: resize is out of range (0)"),
        ("inspect dft", "fail-on = 'x'", "s.toml: fail-on is not known (x)"),
        ("inspect dft", "align-corners = true", "s.toml: align-corners has no meaning without --resize"),
        ("inspect", "explain = 'x'", "s.toml: explain is not known (x)"),
        ("export dft", "output = 'a.xlsx'", "s.toml: output is no name of a file for an array (a.xlsx)"),
    ],
)
def test_refused_settings(cli, tmp_path, line, text, words):
    done = cli(f"{line} {settle(tmp_path, text)}")
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_a_terminal_is_told_what_to_try_next(cli, monkeypatch, tables):
    from pe_spectra.cli import run, screen

    for module in (run, screen):
        monkeypatch.setattr(module, "is_terminal", lambda _: True)
    for line in ("encodings", "encodings rope", "compare dft:d=8 --length 8", "inspect dft:d=8", "inspect cls.npy"):
        done = cli(f"{line} --color never")
        assert done.code == 0
        last = done.err.splitlines()[-1]
        assert last.startswith("next: pe-spectra ")
        assert cli(last.removeprefix("next: pe-spectra ")).code == 0
        assert max(map(len, done.out.splitlines())) <= 110


def test_every_new_option_is_in_the_help(cli):
    for name in ("encodings", "export", "compare", "inspect"):
        text = cli(f"{name} --help").out
        for parameter in build_command().commands[name].params:
            if parameter.param_type_name == "option":
                assert max(parameter.opts, key=len) in text
            else:
                assert "SPEC" in text
