"""The commands encodings and export as people meet them."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from safetensors import safe_open
from safetensors.numpy import load_file

from pe_spectra.cli.options import ENCODING_NAMES
from pe_spectra.encodings import ENCODINGS, find_encoding
from pe_spectra.inspection.resize import resize_table
from pe_spectra.vocabulary import CORNER_METHODS, RESIZE_METHODS
from tests import planted
from tests.documents import read_csv, read_json

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


@pytest.mark.few(2)
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


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("method", "corners", "name"),
    [
        ("bicubic", False, "resized.npy"),
        ("bicubic", True, "resized.csv"),
        ("bilinear", False, "resized.tsv"),
        ("bilinear", True, "resized.safetensors"),
        *((method, False, "resized.npy") for method in RESIZE_METHODS if method not in CORNER_METHODS),
    ],
)
def test_a_table_that_was_resized_is_recognised_with_its_convention(cli, tmp_path, method, corners, name):
    np.save(tmp_path / "t.npy", planted.make_noise(64, 48))
    line = f"--resize 128 --method {method}" + (" --align-corners" if corners else "")
    assert cli(f"export t.npy {line} --output {name}").code == 0
    found = read_json(cli(f"inspect {name} --json"))["findings"]
    (message,) = [one["message"] for one in found if one["code"] == "interpolated"]
    assert message.startswith("Interpolated from 64 to 128 ")
    method = method.replace("bilinear-antialias", "bilinear")  # it blurs only where a table shrinks
    assert (f"{method}, align_corners={corners}" if method in CORNER_METHODS else method) in message


def test_special_rows_of_a_grid_are_kept_and_the_others_resized(cli, tmp_path):
    table = planted.make_noise(66, 8)
    table[:2] *= 9
    np.save(tmp_path / "vit.npy", table)
    done = cli("export 'vit.npy?prefix=2,grid=8x8' --resize 12x10 --method bilinear --output new.npy")
    assert "note: vit.npy 64 x 8 grid 8x8: resized from 8x8 to 12x10, bilinear, align_corners=False; 2 rows" in done.err
    assert done.err.endswith("wrote new.npy (122 x 8, table)\n")
    found = np.load(tmp_path / "new.npy")
    assert_array_equal(found[:2], table[:2])
    assert_array_equal(found[2:], resize_table(table[2:], (12, 10), method="bilinear", grid=(8, 8)))
    square = cli("export 'vit.npy?prefix=2,grid=8x8' --resize 12 --output - --quiet")
    assert (len(read_csv(square.out)), square.err) == (146, "")


def test_what_was_resized_and_how_stands_in_the_file(cli, tmp_path):
    cli("export sinusoidal:d=8 --length 16 --resize 24 --align-corners --output t.safetensors")
    with safe_open(tmp_path / "t.safetensors", "numpy") as file:
        assert file.metadata()["resized"] == "16 to 24, bicubic, align_corners=True"
    cli("export sinusoidal:d=8 --length 16 --output t.safetensors")
    with safe_open(tmp_path / "t.safetensors", "numpy") as file:
        assert "resized" not in file.metadata()


def test_export_of_part_of_a_file(cli, tables):
    rows = read_csv(cli("export table.npy --rows 10:13 --output -").out)
    assert_array_equal([[float(cell) for cell in row.values()][1:] for row in rows], tables["table"][10:13])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("export", "SPEC is missing"),
        ("export dft", "--output is missing; --output FILE"),
        (
            "export sincos2d:height=2,width=2 --length 3 --resize 3 --output -",
            "--length has no meaning with --resize of a grid (3); leave it out",
        ),
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
        ("export dft --output - --resize 4x4", "--resize does not fit the encoding (4x4); N for a line"),
        ("export alibi --output - --resize 4", "no table to resize (alibi heads=8)"),
        ("export dft --output - --resize 4 --what kernel", "--resize has no meaning with --what kernel (4)"),
        ("export sinusoidal --output - --resize 4 --positions 0:2:1", "--resize has no meaning with --positions (4)"),
        ("export dft --output - --resize 4y", "--resize is not an integer (4y)"),
        ("export dft --output - --align-corners", "--align-corners has no meaning without --resize"),
        (
            "export dft --output - --resize 90 --align-corners --method nearest",
            "no meaning with this --method (nearest)",
        ),
        ("export dft --output a.csv --resize 1048576", "--resize and the width as text together ask for too much"),
        ("export dft --output a.npy --resize 1048576", "--resize asks for too much (1048576 x 256 columns)"),
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
        ("compare calendar --start tomorrow", "--start is not a date or time (tomorrow); an ISO date or time"),
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


def test_answers_say_which_positions_were_averaged(cli):
    """Nothing else says how many of the moments of a calendar went into its kernel."""
    over = "positions 0 .. 191 (192 positions)"
    done = cli("spectrum -e calendar --grid 336 --no-figure")
    assert f"over {over}" in done.err
    assert f"averaged over: {over}" in done.out
    document = read_json(cli("spectrum -e calendar --grid 336 --no-figure --json"))
    assert any(note.endswith(f"over {over}") for note in document["notes"])
    assert (
        "a mean over positions 0 .. 335 (336 positions)"
        in cli("reconstruct -e calendar --grid 336 --window-free --no-figure").err
    )
    assert f"a mean over {over}" in cli("export calendar --what kernel --output -").err
    assert "a mean over" not in cli("export sinusoidal:d=8 --what kernel --output -").err
    assert (
        "calendar: kernel and spectrum are means over positions 0 .. 99 (100 positions)"
        in cli("compare calendar sinusoidal --length 100").err
    )
    assert (
        "calendar: kernel and spectrum, but for the values at --periods, are means over "
        in cli("compare calendar --periods week").err
    )
