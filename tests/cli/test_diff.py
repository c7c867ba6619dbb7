"""The command diff as people meet it: models, dumps of ports and caches against each other."""

import io
import json

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.cli.ports import ROWS, SCALED, make_cache, name_parts, save_cache
from tests.documents import read_csv
from tests.making import make_ladder

#: Llama-3.1-8B: base 500000, llama3 scaling by 8 from 8192, no scaling in Llama-3-8B.
pytestmark = pytest.mark.usefixtures("diff_files")
THREE, THREE_ONE, GEMMA = "llama-3-8b.json", "llama-3.1-8b.json", "gemma-3-4b-it.json"
GOOD = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 500000.0}


# ----------------------------------------------------------------------------------- models


def test_a_model_with_scaling_and_one_without(ask_diff):
    document = ask_diff(f"{THREE} {THREE_ONE}")
    assert document["agree"] is False
    assert document["verdict"]["code"] == "breaks"
    assert document["verdict"]["text"].startswith(
        "Scaling dropped in A (llama3 x8 in B): breaks from position 442 on (pair 32 is off"
    )
    (found,) = document["differences"]
    assert found == {
        "what": "scaling",
        "a": "none",
        "b": "llama3 x8",
        "effect": "29 pairs kept, 6 blended, 29 divided by 8 in B",
        "first_position": 442,
        "layers": ["all"],
    }
    (layer,) = document["layer_types"]
    assert [pair["ratio"] for pair in layer["pairs"]] == pytest.approx(SCALED / make_ladder(5e5), rel=1e-12)
    # by hand: the largest difference of frequencies times the last position
    assert layer["max_phase_error"] == pytest.approx(131071 * np.abs(SCALED - make_ladder(5e5)).max(), rel=1e-12)
    assert (layer["name"], layer["length"], layer["first_position_off"]) == ("all", 131072, 442)
    assert document["parameters"] == {"length": 131072, "trained": None, "served": None, "allocated": None}
    (side,) = document["b"]["layer_types"]
    assert document["b"]["name"] == THREE_ONE
    assert (side["base"], side["scaling"], side["rotary_dim"], side["layout"]) == (5e5, "llama3", 128, "half")


def test_the_type_of_weights_is_no_difference(ask_diff, diff_files):
    for name in ("float16", "bfloat16"):
        (diff_files / f"{name}.json").write_text(json.dumps({**GOOD, "torch_dtype": name}))
    document = ask_diff("float16.json bfloat16.json")
    assert (document["agree"], document["differences"], document["unknown"]) == (True, [], [])


def test_one_file_twice(ask_diff):
    document = ask_diff(f"{THREE_ONE} {THREE_ONE}")
    assert document["agree"] is True
    assert (
        document["verdict"]["text"] == "The same: the frequencies of all 64 pairs agree, and so does every other part."
    )
    assert document["notes"] == ["A and B are one file"]


def test_a_release_of_meta(ask_diff, diff_files):
    params = {"dim": 4096, "n_layers": 32, "n_heads": 32, "rope_theta": 500000.0, "use_scaled_rope": True}
    (diff_files / "params.json").write_text(json.dumps({**params, "vocab_size": 128256, "norm_eps": 1e-5}))
    document = ask_diff(f"{THREE_ONE} params.json")
    (found,) = document["differences"]
    assert (found["what"], found["a"], found["b"]) == ("layout", "half", "interleaved")
    assert "permute the rows of q and k" in found["effect"]
    assert document["verdict"]["text"].startswith("Same frequencies; layout differs: permute")


@pytest.mark.parametrize(("divided", "parts"), [(True, ["layout"]), (False, ["scaling", "layout"])])
def test_a_gguf_file_with_and_without_its_divisors(ask_diff, diff_files, divided, parts):
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(diff_files / "model.gguf", "llama")
    writer.add_context_length(131072)
    writer.add_embedding_length(4096)
    writer.add_head_count(32)
    writer.add_rope_dimension_count(128)
    writer.add_rope_freq_base(500000.0)
    if divided:
        writer.add_tensor("rope_freqs.weight", (make_ladder(5e5) / SCALED).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    document = ask_diff(f"{THREE_ONE} model.gguf")
    assert name_parts(document) == parts


def test_layers_of_two_types(ask_diff):
    document = ask_diff(f"{GEMMA} default.npy")
    lengths = {layer["name"]: layer["length"] for layer in document["layer_types"]}
    # a sliding window of 1024: a query sees itself and 1023 before it
    assert lengths == {"sliding_attention": 1024, "full_attention": 131072}
    bases = [one for one in document["differences"] if one["what"] == "base"]
    assert [(one["a"], one["b"], one["layers"]) for one in bases] == [(1e6, 1e4, ["full_attention"])]
    widths = [one["layers"] for one in document["differences"] if one["what"] == "rotary_dim"]
    assert widths == [["sliding_attention"], ["full_attention"]]


def test_rows_name_the_layers_that_differ(cli):
    rows = read_csv(cli(f"diff {GEMMA} default.npy --format csv").out)
    found = [(row["what"], row["layers"]) for row in rows]
    assert found[:2] == [("base", "full_attention"), ("scaling", "full_attention")]
    assert set(found[2:4]) == {("rotary_dim", "sliding_attention"), ("rotary_dim", "full_attention")}
    assert {layers for _, layers in found[4:]} == {"all"}


def test_a_window_of_one_side_alone_bounds_no_lag(ask_diff):
    document = ask_diff(f"{GEMMA} good.json")
    assert {layer["length"] for layer in document["layer_types"]} == {131072}


@pytest.mark.parametrize(
    ("base", "factor", "matched", "other"), [(1e4, 1, "sliding", "full"), (1e6, 8, "full", "sliding")]
)
def test_a_dump_of_one_type_of_layers(ask_diff, diff_files, base, factor, matched, other):
    np.save(diff_files / "one.npy", make_ladder(base, 256) / factor)
    document = ask_diff(f"{GEMMA} one.npy")
    assert document["agree"] is None
    assert [layer["name"] for layer in document["layer_types"]] == [f"{matched}_attention"]
    assert f"B has the frequencies of {matched}_attention layers" in document["notes"]
    assert {"what": f"{other}_attention layers", "a": None, "b": None}.items() <= document["unknown"][-1].items()


@pytest.mark.parametrize("line", ["- inv.npy", "inv.npy -", "- --stack llama.cpp"])
def test_standard_input(ask_diff, diff_files, monkeypatch, line):
    text = (diff_files / THREE_ONE).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    piped = ask_diff(line)
    monkeypatch.undo()
    named = json.loads(json.dumps(piped).replace("standard input", THREE_ONE))
    monkeypatch.chdir(diff_files)
    assert named == ask_diff(line.replace("-", THREE_ONE, 1))


# ----------------------------------------------------------------------------------- dumps of frequencies


@pytest.mark.parametrize(
    "name", ["64.npy", "32.npy", "column.npy", "list.csv", "named.npz", "any.npz", "deep.safetensors"]
)
def test_dumps_of_frequencies(ask_diff, diff_files, name):
    path, single = diff_files / name, SCALED.astype(np.float32)
    if name.endswith(".npy"):
        np.save(path, {"64": SCALED, "32": single, "column": SCALED[:, None]}[name[:-4]])
    elif name.endswith(".csv"):
        path.write_text("".join(f"{value!r}\n" for value in SCALED.tolist()))
    elif name.endswith(".npz"):
        np.savez(path, **{"inv_freq" if name == "named.npz" else "x": single})
    else:
        save_file({"model.rotary_emb.inv_freq": single, "other.weight": np.ones((2, 3), np.float32)}, path)
    document = ask_diff(f"{THREE_ONE} {name}")
    assert document["agree"] is None
    assert document["differences"] == []
    assert [one["what"] for one in document["unknown"]] == ["layout", "attention_scaling", "offset", "dtype"]
    assert document["unknown"][0] == {
        "what": "layout",
        "a": "half",
        "b": None,
        "why": "a dump of inv_freq does not say",
    }


def test_the_sketch_of_the_default_base(cli):
    done = cli(f"diff {THREE_ONE} default.npy")
    lines = done.out.splitlines()
    assert lines[0] == (
        "B has the default base 10000 and no scaling (base 500000, llama3 x8 in A): breaks from position 4 on "
        "(pair 6 is off by more than pi/8)."
    )
    cells = [line.split("\t") for line in lines if "\t" in line]
    assert cells[1][:4] == ["base", "500000", "10000", "B has the default base; A keeps its base in rope_theta"]
    assert cells[2][:4] == ["scaling", "llama3 x8", "none", "29 pairs kept, 6 blended, 29 divided by 8 in A"]
    assert cells[4][:4] == ["attention_scaling", "1", "unknown", "a dump of inv_freq does not say"]


@pytest.mark.parametrize(
    ("stated", "effect", "unread"),
    [
        ({"model_type": "llama"}, "B fell back to the default; A keeps its base in rope_theta", False),
        (
            {"model_type": "gpt_neox", "rotary_emb_base": 10000, "rotary_pct": 1.0},
            (
                "read from rope_theta in A and rotary_emb_base in B: the slowest pair takes 2,559,196 positions for a "
                "period in A and 54,410 in B"
            ),
            False,
        ),
        (
            {"model_type": "llama", "rotary_emb_base": 70000},
            "B fell back to the default; A keeps its base in rope_theta",
            True,
        ),
    ],
)
def test_what_the_file_says_of_a_base_of_10000(ask_diff, diff_files, stated, effect, unread):
    (diff_files / "a.json").write_text(json.dumps({"model_type": "llama", "head_dim": 128, "rope_theta": 5e5}))
    (diff_files / "b.json").write_text(
        json.dumps({"hidden_size": 512, "num_attention_heads": 4, "head_dim": 128, **stated})
    )
    document = ask_diff("a.json b.json")
    assert document["differences"][0]["effect"] == effect
    said = "B: rotary_emb_base is not read by the class of llama, which takes base 10000; it reads rope_theta"
    assert (said in document["notes"]) is unread


def test_frequencies_of_no_formula_name_the_pair(ask_diff, diff_files):
    values = SCALED.copy()
    values[10] *= 1.01
    np.save(diff_files / "odd.npy", values)
    document = ask_diff(f"{THREE_ONE} odd.npy")
    (found,) = (one for one in document["differences"] if one["what"] == "frequencies")
    assert found["a"] == {"pair": 10, "frequency": pytest.approx(SCALED[10], rel=1e-14)}
    assert found["b"] == {"pair": 10, "frequency": values[10]}
    # by hand: 0.01 w p > pi/8
    assert found["first_position"] == int(np.pi / 8 / (0.01 * SCALED[10])) + 1


def test_frequencies_in_bfloat16_break(ask_diff, cli, diff_files):
    save_file({"inv_freq": SCALED.astype(ml_dtypes.bfloat16)}, diff_files / "low.safetensors")
    document = ask_diff(f"{THREE_ONE} low.safetensors")
    (found,) = document["differences"]
    rounded = SCALED.astype(ml_dtypes.bfloat16).astype(float)
    first = int(np.pi / 8 / np.abs(rounded - SCALED).max()) + 1
    assert (found["what"], found["b"], found["first_position"]) == ("dtype", "bfloat16", first)
    # what neither side says of cosines and sines has no row of the same name
    rows = read_csv(cli(f"diff {THREE_ONE} low.safetensors --format csv").out)
    assert [row["what"] for row in rows] == ["dtype", "layout", "attention_scaling", "offset"]


# ----------------------------------------------------------------------------------- caches


@pytest.mark.parametrize(
    ("changes", "parts", "unknown"),
    [
        ({}, [], ["dtype"]),
        ({"dtype": ml_dtypes.bfloat16}, [], ["dtype"]),
        ({"layout": "interleaved"}, ["layout"], ["dtype"]),
        ({"layout": "single"}, [], ["layout", "dtype"]),
        ({"offset": 1}, ["offset"], ["dtype"]),
        ({"scale": 1.2079}, ["attention_scaling"], ["dtype"]),
        ({"frequencies": make_ladder(5e5)}, ["scaling"], ["dtype"]),
        ({"frequencies": make_ladder(1e4), "layout": "interleaved"}, ["base", "scaling", "layout"], ["dtype"]),
    ],
)
@pytest.mark.parametrize("form", ["safetensors", "npz"])
def test_caches(ask_diff, diff_files, changes, parts, unknown, form):
    if form == "safetensors":
        save_cache(diff_files, **changes)
    else:
        cosines, sines = (part.astype(np.float32) for part in make_cache(**changes))
        np.savez(diff_files / "port.npz", cos=cosines, sin=sines)
    document = ask_diff(f"{THREE_ONE} port.{form} --served {ROWS}")
    assert name_parts(document) == parts
    assert [one["what"] for one in document["unknown"]] == unknown
    assert document["agree"] is (False if parts else None)
    stored = "bfloat16" if "dtype" in changes else "float32"
    assert document["b"]["layer_types"][0]["dtype"] == stored
    values = {one["what"]: one["b"] for one in document["differences"]}
    assert values.get("offset", 1) == 1
    assert values.get("attention_scaling", 1.2079) == pytest.approx(1.2079, rel=1e-12)


@pytest.mark.parametrize("name", ["cos_cached", "sin_cached"])
def test_one_of_cosines_and_sines_names_both(ask_diff, diff_files, name):
    save_cache(diff_files)
    document = ask_diff(f"{THREE_ONE} port.safetensors::{name} --served {ROWS}")
    assert document["differences"] == []
    assert document["b"]["layer_types"][0]["layout"] == "half"


def test_of_two_caches_in_one_array_the_length_chooses(ask_diff, diff_files):
    long = make_ladder(1e4) / np.linspace(1, 30, 64)
    angles = [np.arange(rows)[:, None] * ladder for rows, ladder in ((256, make_ladder(1e4)), (1024, long))]
    np.save(diff_files / "both.npy", np.vstack([np.hstack([np.cos(one), np.sin(one)]) for one in angles]))
    np.save(diff_files / "short.npy", make_ladder(1e4))
    np.save(diff_files / "long.npy", long)
    for served, same in ((256, "short"), (257, "long"), (1024, "long")):
        for name in ("short", "long"):
            document = ask_diff(f"{name}.npy both.npy --served {served}")
            assert (document["differences"] == []) == (name == same)


# ----------------------------------------------------------------------------------- checks


def test_a_strict_check_fails_where_a_part_is_unknown(cli, refuse, diff_files):
    np.save(diff_files / "same.npy", SCALED)
    assert cli(f"diff {THREE_ONE} same.npy --check").code == 0
    done = cli(f"diff {THREE_ONE} same.npy --check --strict")
    assert done.code == 1
    assert "layout is unknown" in done.err
    assert cli(f"diff {THREE_ONE} {THREE_ONE} --check --strict").code == 0
    assert "--strict has no meaning without --check" in refuse(f"diff {THREE_ONE} same.npy --strict")


def test_a_cache_that_ends_before_the_served_length_fails_a_check(cli, ask_diff, diff_files):
    save_cache(diff_files)
    document = ask_diff(f"{THREE_ONE} port.safetensors")
    line = f"diff {THREE_ONE} port.safetensors"
    (found,) = document["differences"]
    assert (found["what"], found["a"], found["b"]) == ("rows", None, ROWS)
    assert found["effect"].startswith("B ends after 1,024 rows, and 131,072 positions are served")
    assert cli(f"{line} --check").code == 1
    assert cli(f"{line} --check --served {ROWS}").code == 0
