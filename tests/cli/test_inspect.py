"""The command inspect as people meet it: formats, findings, grids, resizing, files."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from safetensors.numpy import save_file

from pe_spectra.inspection import KINDS
from tests.documents import read_csv, read_json
from tests.planted import make_trained

# ----------------------------------------------------------------------------------- inspect


@pytest.mark.slow
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


@pytest.mark.few(1)
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


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("level", "name", "code"),
    [("note", "table", 0), ("warning", "cls", 1), ("note", "cls", 1), ("error", "cls", 0)],
)
def test_fail_on(cli, tables, level, name, code):
    done = cli(f"inspect {name}.npy --fail-on {level}")
    assert done.code == code
    assert done.out == cli(f"inspect {name}.npy").out
    assert ("check failed: finding of level warning: special-first-row" in done.err) == bool(code)


@pytest.mark.parametrize("code", KINDS)
def test_explain(cli, code):
    done = cli(f"inspect --explain {code}")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == KINDS[code].reasoning
    assert KINDS[code].formula in done.out
    rows = read_csv(cli(f"inspect --explain {code} --format csv").out)
    assert [row["text"] for row in rows] == [KINDS[code].formula, *KINDS[code].references]
    assert [row["part"] for row in rows] == ["formula"] + ["reference"] * (len(rows) - 1)


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [slice(None, None, 3), pytest.param(slice(None), marks=pytest.mark.slow)], ids=str)
def test_the_same_table_from_every_form(cli, tmp_path, chosen):
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
    forms += ["model/", "model/::wpe.weight", "t.csv"]
    answers = [read_json(cli(f"inspect {form} --json")) for form in forms[chosen]]
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


@pytest.mark.few(1)
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
