"""The command diff as people meet it: models, dumps of ports, implementations and tables against each other."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from pe_spectra.cli import run, screen
from pe_spectra.cli.diff import STACK_NAMES, complete_stacks
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stacks.conformance import Row
from pe_spectra.records.conformance import answer_conformance

MODELS = Path(__file__).parent / "models"
#: Llama-3.1-8B: base 500000, llama3 scaling by 8 from 8192, no scaling in Llama-3-8B.
THREE, THREE_ONE, GEMMA = "llama-3-8b.json", "llama-3.1-8b.json", "gemma-3-4b-it.json"
GOOD = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 500000.0}


def make_ladder(base=5e5, width=128):
    return base ** (-np.arange(0, width, 2) / width)


def scale_llama3(ladder, factor=8.0, original=8192, low=1.0, high=4.0):
    """Llama 3's scaling in plain float64, as its reference code has it."""
    found = []
    for frequency in ladder:
        wavelength = 2 * np.pi / frequency
        if wavelength < original / high:
            found.append(frequency)
        elif wavelength > original / low:
            found.append(frequency / factor)
        else:
            smooth = (original / wavelength - low) / (high - low)
            found.append((1 - smooth) * frequency / factor + smooth * frequency)
    return np.array(found)


SCALED = scale_llama3(make_ladder())


def make_cache(frequencies=SCALED, rows=1024, *, offset=0, scale=1.0, layout="half", dtype=np.float32):
    angles = np.arange(offset, offset + rows)[:, None] * frequencies
    parts = []
    for wave in (np.cos, np.sin):
        values = scale * wave(angles)
        doubled = {"half": np.tile(values, (1, 2)), "interleaved": np.repeat(values, 2, axis=1), "single": values}
        parts.append(np.ascontiguousarray(doubled[layout].astype(dtype)))
    return parts


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """A working directory with three models, as every test here runs in one."""
    for name in (THREE, THREE_ONE, GEMMA, "bert-base-uncased.json"):
        shutil.copy(MODELS / name, tmp_path / name)
    (tmp_path / "good.json").write_text(json.dumps({**GOOD, "max_position_embeddings": 8192}))
    (tmp_path / "deep.json").write_text('{"a":' * 1000)
    np.save(tmp_path / "inv.npy", SCALED)
    np.save(tmp_path / "default.npy", make_ladder(1e4).astype(np.float32))
    return tmp_path


@pytest.fixture
def ask(cli):
    """Run diff and give its document."""

    def run(line):
        done = cli(f"diff {line} --json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    return run


def save_cache(path, name="port.safetensors", **changes):
    save_file(dict(zip(("cos_cached", "sin_cached"), make_cache(**changes), strict=True)), path / name)


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


def name_parts(document):
    return [one["what"] for one in document["differences"]]


# ----------------------------------------------------------------------------------- models


def test_a_model_with_scaling_and_one_without(ask):
    document = ask(f"{THREE} {THREE_ONE}")
    assert document["agree"] is False
    assert document["verdict"]["code"] == "breaks"
    assert document["verdict"]["text"].startswith("Different: breaks from position 442 on (pair 32 is off")
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
    assert [pair["ratio"] for pair in layer["pairs"]] == pytest.approx(SCALED / make_ladder(), rel=1e-12)
    # by hand: the largest difference of frequencies times the last position
    assert layer["max_phase_error"] == pytest.approx(131071 * np.abs(SCALED - make_ladder()).max(), rel=1e-12)
    assert (layer["name"], layer["length"], layer["first_position_off"]) == ("all", 131072, 442)
    assert document["parameters"] == {"length": 131072, "trained": None, "served": None}
    (side,) = document["b"]["layer_types"]
    assert document["b"]["name"] == THREE_ONE
    assert (side["base"], side["scaling"], side["rotary_dim"], side["layout"]) == (5e5, "llama3", 128, "half")


def test_the_type_of_weights_is_no_difference(ask, files):
    for name in ("float16", "bfloat16"):
        (files / f"{name}.json").write_text(json.dumps({**GOOD, "torch_dtype": name}))
    document = ask("float16.json bfloat16.json")
    assert (document["agree"], document["differences"], document["unknown"]) == (True, [], [])


def test_one_file_twice(ask):
    document = ask(f"{THREE_ONE} {THREE_ONE}")
    assert document["agree"] is True
    assert (
        document["verdict"]["text"] == "The same: the frequencies of all 64 pairs agree, and so does every other part."
    )
    assert document["notes"] == ["A and B are one file"]


def test_a_release_of_meta(ask, files):
    params = {"dim": 4096, "n_layers": 32, "n_heads": 32, "rope_theta": 500000.0, "use_scaled_rope": True}
    (files / "params.json").write_text(json.dumps({**params, "vocab_size": 128256, "norm_eps": 1e-5}))
    document = ask(f"{THREE_ONE} params.json")
    (found,) = document["differences"]
    assert (found["what"], found["a"], found["b"]) == ("layout", "half", "interleaved")
    assert "permute the rows of q and k" in found["effect"]
    assert document["verdict"]["text"].startswith("Same frequencies; layout differs: permute")


@pytest.mark.parametrize(("divided", "parts"), [(True, ["layout"]), (False, ["scaling", "layout"])])
def test_a_gguf_file_with_and_without_its_divisors(ask, files, divided, parts):
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(files / "model.gguf", "llama")
    writer.add_context_length(131072)
    writer.add_embedding_length(4096)
    writer.add_head_count(32)
    writer.add_rope_dimension_count(128)
    writer.add_rope_freq_base(500000.0)
    if divided:
        writer.add_tensor("rope_freqs.weight", (make_ladder() / SCALED).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    document = ask(f"{THREE_ONE} model.gguf")
    assert name_parts(document) == parts


def test_layers_of_two_types(ask):
    document = ask(f"{GEMMA} default.npy")
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


def test_a_window_of_one_side_alone_bounds_no_lag(ask):
    document = ask(f"{GEMMA} good.json")
    assert {layer["length"] for layer in document["layer_types"]} == {131072}


@pytest.mark.parametrize(
    ("base", "factor", "matched", "other"), [(1e4, 1, "sliding", "full"), (1e6, 8, "full", "sliding")]
)
def test_a_dump_of_one_type_of_layers(ask, files, base, factor, matched, other):
    np.save(files / "one.npy", make_ladder(base, 256) / factor)
    document = ask(f"{GEMMA} one.npy")
    assert document["agree"] is None
    assert [layer["name"] for layer in document["layer_types"]] == [f"{matched}_attention"]
    assert f"B has the frequencies of {matched}_attention layers" in document["notes"]
    assert {"what": f"{other}_attention layers", "a": None, "b": None}.items() <= document["unknown"][-1].items()


@pytest.mark.parametrize("line", ["- inv.npy", "inv.npy -", "- --stack llama.cpp"])
def test_standard_input(ask, files, monkeypatch, line):
    text = (files / THREE_ONE).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    piped = ask(line)
    monkeypatch.undo()
    named = json.loads(json.dumps(piped).replace("standard input", THREE_ONE))
    monkeypatch.chdir(files)
    assert named == ask(line.replace("-", THREE_ONE, 1))


# ----------------------------------------------------------------------------------- dumps of frequencies


@pytest.mark.parametrize(
    "name", ["64.npy", "32.npy", "column.npy", "list.csv", "named.npz", "any.npz", "deep.safetensors"]
)
def test_dumps_of_frequencies(ask, files, name):
    path, single = files / name, SCALED.astype(np.float32)
    if name.endswith(".npy"):
        np.save(path, {"64": SCALED, "32": single, "column": SCALED[:, None]}[name[:-4]])
    elif name.endswith(".csv"):
        path.write_text("".join(f"{value!r}\n" for value in SCALED.tolist()))
    elif name.endswith(".npz"):
        np.savez(path, **{"inv_freq" if name == "named.npz" else "x": single})
    else:
        save_file({"model.rotary_emb.inv_freq": single, "other.weight": np.ones((2, 3), np.float32)}, path)
    document = ask(f"{THREE_ONE} {name}")
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
    assert lines[0] == "Different: breaks from position 4 on (pair 6 is off by more than pi/8)."
    cells = [line.split("\t") for line in lines if "\t" in line]
    assert cells[1][:4] == ["base", "500000", "10000", "B fell back to the default; A keeps its base in rope_theta"]
    assert cells[2][:4] == ["scaling", "llama3 x8", "none", "29 pairs kept, 6 blended, 29 divided by 8 in A"]
    assert cells[4][:4] == ["attention_scaling", "1", "unknown", "a dump of inv_freq does not say"]


def test_frequencies_of_no_formula_name_the_pair(ask, files):
    values = SCALED.copy()
    values[10] *= 1.01
    np.save(files / "odd.npy", values)
    document = ask(f"{THREE_ONE} odd.npy")
    (found,) = (one for one in document["differences"] if one["what"] == "frequencies")
    assert found["a"] == {"pair": 10, "frequency": pytest.approx(SCALED[10], rel=1e-14)}
    assert found["b"] == {"pair": 10, "frequency": values[10]}
    # by hand: 0.01 w p > pi/8
    assert found["first_position"] == int(np.pi / 8 / (0.01 * SCALED[10])) + 1


def test_frequencies_in_bfloat16_break(ask, cli, files):
    save_file({"inv_freq": SCALED.astype(ml_dtypes.bfloat16)}, files / "low.safetensors")
    document = ask(f"{THREE_ONE} low.safetensors")
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
        ({"frequencies": make_ladder()}, ["scaling"], ["dtype"]),
        ({"frequencies": make_ladder(1e4), "layout": "interleaved"}, ["base", "scaling", "layout"], ["dtype"]),
    ],
)
@pytest.mark.parametrize("form", ["safetensors", "npz"])
def test_caches(ask, files, changes, parts, unknown, form):
    if form == "safetensors":
        save_cache(files, **changes)
    else:
        cosines, sines = (part.astype(np.float32) for part in make_cache(**changes))
        np.savez(files / "port.npz", cos=cosines, sin=sines)
    document = ask(f"{THREE_ONE} port.{form}")
    assert name_parts(document) == parts
    assert [one["what"] for one in document["unknown"]] == unknown
    assert document["agree"] is (False if parts else None)
    stored = "bfloat16" if "dtype" in changes else "float32"
    assert document["b"]["layer_types"][0]["dtype"] == stored
    values = {one["what"]: one["b"] for one in document["differences"]}
    assert values.get("offset", 1) == 1
    assert values.get("attention_scaling", 1.2079) == pytest.approx(1.2079, rel=1e-12)


@pytest.mark.parametrize("name", ["cos_cached", "sin_cached"])
def test_one_of_cosines_and_sines_names_both(ask, files, name):
    save_cache(files)
    document = ask(f"{THREE_ONE} port.safetensors::{name}")
    assert document["differences"] == []
    assert document["b"]["layer_types"][0]["layout"] == "half"


# ----------------------------------------------------------------------------------- implementations


def test_names_for_completion_are_those_of_the_stacks():
    assert tuple(STACKS) == STACK_NAMES


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("v", ["vllm"]),
        ("vllm,", [f"vllm,{name}" for name in STACK_NAMES if name != "vllm"]),
        ("vllm,tr", ["vllm,transformers-5", "vllm,transformers-4"]),
        ("vllm,v", []),
        ("x", []),
    ],
)
def test_completion(typed, offered):
    assert complete_stacks(typed) == offered


@pytest.mark.parametrize("stack", [name for name in STACK_NAMES if name not in ("transformers-5", "yarn-paper")])
def test_one_file_in_two_implementations(ask, stack):
    one, both = ask(f"{THREE_ONE} --stack {stack}"), ask(f"{THREE_ONE} --stack transformers-5,{stack}")
    assert one == both
    assert name_parts(one) == (["layout"] if stack in ("llama.cpp", "meta") else [])
    assert (one["a"]["name"], one["b"]["name"]) == (STACKS["transformers-5"].title, STACKS[stack].title)


def test_dynamic_is_not_what_it_is_elsewhere(ask, files):
    scaling = {"rope_type": "dynamic", "factor": 4.0}
    (files / "dynamic.json").write_text(json.dumps({**GOOD, "max_position_embeddings": 8192, "rope_scaling": scaling}))
    # transformers: base (s l/L0 - s + 1)^(D/(D-2)) with l served; vLLM: that with l = s L0, at every length
    document = ask("dynamic.json --stack vllm --served 16384")
    assert document["agree"] is False
    assert document["parameters"] == {"length": 16384, "trained": None, "served": 16384}
    ratios = [pair["ratio"] for pair in document["layer_types"][0]["pairs"]]
    assert ratios[-1] == pytest.approx((4 * 2 - 3) / (4 * 4 - 3), rel=1e-9)
    assert ask("dynamic.json --stack vllm --served 32768")["agree"] is True


def test_every_implementation(cli, ask):
    done = cli(f"diff --all-stacks {THREE_ONE}")
    counts = f"{len(STACKS) - 1} of {len(STACKS)}"
    verdict = f"{counts} implementations give this file the same frequencies; yarn-paper refuses it."
    assert done.out.splitlines()[0] == verdict
    rows = {row["stack"]: row for row in read_csv(cli(f"diff --all-stacks {THREE_ONE} --format csv").out)}
    assert tuple(rows) == STACK_NAMES
    assert list(rows["vllm"]) == ["stack", "file", "default", "linear", "dynamic", "yarn", "llama3", "longrope"]
    assert [rows[name]["file"] for name in STACK_NAMES] == ["same"] * (len(STACKS) - 1) + ["no"]
    assert rows["vllm"]["dynamic"].isdigit()
    document = ask(f"--all-stacks {THREE_ONE}")
    assert document["kind"] == "conformance"
    assert {row["stack"] for row in document["rows"]} == set(STACK_NAMES)
    long = read_csv(cli(f"diff --all-stacks {THREE_ONE} --full --format csv").out)
    assert len(long) == len(document["rows"]) == 7 * len(STACKS)
    # what is said of the examples stands beside their numbers
    assert "example of" not in done.err
    assert "note: example of dynamic: llama.cpp: " in cli(f"diff --all-stacks {THREE_ONE} --full").err


def test_a_file_that_the_reference_refuses_is_compared_with_nothing(cli, files):
    scaling = {"rope_type": "magic", "factor": 4.0}
    (files / "odd.json").write_text(json.dumps({**GOOD, "max_position_embeddings": 8192, "rope_scaling": scaling}))
    document = json.loads(cli("diff --all-stacks odd.json --json").out)
    assert document["verdict"]["code"] == "reference-refuses"
    assert "magic" in document["verdict"]["text"]
    assert "odd.json: " not in document["verdict"]["text"]
    cells = {row["stack"]: row["file"] for row in read_csv(cli("diff --all-stacks odd.json --format csv").out)}
    assert {name for name, cell in cells.items() if cell == "yes"} == {"llama.cpp"}
    assert set(cells.values()) == {"yes", "no"}


def test_every_implementation_of_layers_of_two_types(cli):
    done = cli(f"diff --all-stacks {GEMMA} --format csv")
    (first, *_) = read_csv(done.out)
    assert list(first)[:4] == ["stack", "file_sliding_attention", "file_full_attention", "default"]
    # all of them say it of one type of layers; of the other all that take it
    notes = done.err.splitlines()
    assert sum("the file gives it no base, so 10000 is" in note for note in notes) == 1
    assert "note: sliding_attention: the file gives it no base" in done.err
    assert "note: full_attention: transformers-5, transformers-4, vllm" in done.err


@pytest.mark.parametrize(
    ("changes", "cell"),
    [
        ({"differing": 0, "attention_scaling": 1.0}, "same"),
        ({"differing": 0, "attention_scaling": 1.5}, "scores"),
        ({"differing": 3, "attention_scaling": 1.0}, "close"),
        ({"differing": 3, "attention_scaling": 1.0, "first_position_off": 17}, "17"),
        ({"differing": None, "attention_scaling": 1.0, "first_position_off": 17}, "pairs"),
        ({"refusal": "no formula"}, "no"),
    ],
)
def test_cells(changes, cell):
    row = Row(scaling="yarn", stack="transformers-5", layer="all", differing=0, attention_scaling=1.0)
    other = row._replace(stack="vllm", **changes)
    answer = answer_conformance("config.json", [row, other], [], length=8)
    assert answer.columns["file"] == ["same", cell]
    words = dict(answer.facts)["cells"]
    assert ("a number:" if cell == "17" else f"{cell}: ") in words


def test_a_file_that_nothing_takes(refuse, files):
    (files / "odd.json").write_text(json.dumps({**GOOD, "head_dim": 127}))
    assert refuse("diff --all-stacks odd.json").startswith(
        "odd.json: no implementation takes it: head_dim is odd (127)"
    )


# ----------------------------------------------------------------------------------- tables


@pytest.fixture
def table(files):
    values = np.random.Generator(np.random.PCG64(3)).normal(size=(40, 6)).astype(np.float32)
    np.save(files / "table.npy", values)
    return values


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda t: t, "same", "all 40 rows are equal"),
        (lambda t: 2 * t, "explained", "times 2"),
        (lambda t: t[2:], "explained", "row i of B is row i + 2 of A"),
        (lambda t: t[:, [0, 2, 4, 1, 3, 5]], "explained", "columns"),
        (lambda t: t[None], "same", "all 40 rows are equal"),
        (lambda t: t[:, :4], "differs", "A has 6 columns and B has 4"),
        (lambda t: -(t[::-1] ** 3), "differs", "no row equals the one at its index"),
    ],
    ids=["equal", "scaled", "shifted", "permuted", "batch", "narrow", "other"],
)
def test_tables(cli, ask, files, table, change, code, words):
    np.save(files / "other.npy", change(table))
    document = ask("table.npy other.npy")
    assert document["kind"] == "diff"
    assert document["verdict"]["code"] == code
    assert words in document["verdict"]["text"]
    assert document["agree"] is (code == "same")
    assert name_parts(document) == ([] if code == "same" else ["table"])
    assert (document["a"]["rows"], document["a"]["columns"], document["layer_types"]) == (40, 6, [])
    done = cli("diff table.npy other.npy --check")
    assert done.code == (0 if code == "same" else 1)
    assert ("check failed: table differs" in done.err) == (code != "same")
    assert done.out.splitlines()[0] == document["verdict"]["text"]


def test_sines_and_what_training_made_of_them_are_tables(ask, files):
    ladder = make_ladder(1e4, 32) * np.linspace(1, 0.5, 16)
    sines = np.hstack(make_cache(ladder, 40, layout="single"))
    trained = sines + np.random.default_rng(0).normal(size=sines.shape).astype(np.float32) * 1e-2
    for name, values in (("sines", sines), ("trained", trained)):
        np.save(files / f"{name}.npy", values)
    for line in ("sines.npy trained.npy", "trained.npy sines.npy"):
        document = ask(line)
        assert "no row equals the one at its index" in document["verdict"]["text"]
        assert not any("scaling" in note for note in document["notes"])
    # two caches are rotations
    assert ask("sines.npy sines.npy")["layer_types"]


@pytest.mark.parametrize("factor", [0.9, 0.99, 0.999, 1.001, 1.01])
@pytest.mark.parametrize("pair", [5, 24, 40, 62])
def test_one_pair_that_was_changed(ask, files, pair, factor):
    values = make_ladder()
    values[pair] *= factor
    np.save(files / "port.npy", values)
    document = ask(f"{THREE} port.npy")
    off = np.abs(np.arange(8192) * (values - make_ladder())[pair]) > np.pi / 8
    first = int(np.argmax(off)) if off.any() else None
    assert name_parts(document) == ["frequencies"]
    assert document["differences"][0]["first_position"] == first
    assert document["b"]["layer_types"][0]["base"] == 5e5
    assert document["b"]["layer_types"][0]["scaling"] is None


def test_slow_pairs_that_were_divided(ask, files):
    values = make_ladder(1e4)
    values[40:] /= 4
    np.save(files / "port.npy", values)
    document = ask(f"{THREE} port.npy")
    assert document["b"]["layer_types"][0]["base"] == 1e4
    assert name_parts(document)[0] == "base"


# ----------------------------------------------------------------------------------- checks, formats, lengths


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        (f"{THREE} {THREE_ONE}", 1, "check failed: scaling differs"),
        (f"{THREE} good.json", 0, ""),
        (f"{THREE_ONE} inv.npy", 0, "unknown: layout, attention_scaling, offset, dtype"),
        (f"{THREE_ONE} default.npy", 1, "check failed: base differs\ncheck failed: scaling differs"),
        (f"{THREE} --stack vllm", 0, ""),
        (f"{THREE} --stack meta", 1, "check failed: layout differs"),
    ],
)
def test_check(cli, line, code, words):
    done = cli(f"diff {line} --check")
    assert done.code == code
    assert words in done.err
    assert ("check" in done.err) == bool(words)
    document = json.loads(cli(f"diff {line} --check --json").out)
    assert document["agree"] is {0: None if words else True, 1: False}[code]
    assert cli(f"diff {line}").code == 0


def test_formats_have_the_same_rows(cli):
    for more in ("", " --full"):
        rows = list(csv.reader(io.StringIO(cli(f"diff {THREE} inv.npy{more} --format csv").out)))
        cells = [line.split("\t") for line in cli(f"diff {THREE} inv.npy{more}").out.splitlines() if "\t" in line]
        assert [[cell or "-" for cell in row] for row in rows] == cells
        assert len(rows) == 1 + (64 if more else 5)
    assert cli(f"diff {THREE} inv.npy --json") == cli(f"diff {THREE} inv.npy --json --full")


@pytest.mark.parametrize(
    ("line", "length"),
    [
        (f"{THREE} {THREE_ONE}", 131072),
        (f"{THREE} {THREE_ONE} --served 1000", 1000),
        ("inv.npy default.npy", 32768),
        ("inv.npy default.npy --trained 500", 500),
        ("inv.npy port.safetensors", 1024),
        ("good.json port.safetensors", 8192),
    ],
)
def test_lengths(ask, files, line, length):
    save_cache(files)
    document = ask(line)
    assert document["parameters"]["length"] == length
    assert [layer["length"] for layer in document["layer_types"]] == [length]
    assert any("no side states a length" in note for note in document["notes"]) == (length == 32768)


@pytest.mark.parametrize(("trained", "words"), [(8192, "within the 8,192"), (400, "beyond the 400")])
def test_a_break_within_or_beyond_what_was_trained(cli, trained, words):
    assert f"{words} that were trained" in cli(f"diff {THREE} {THREE_ONE} --trained {trained}").out


@pytest.mark.parametrize("columns", ["80", "100"])
def test_a_terminal_of_usual_width_has_a_table_and_a_next_command(cli, monkeypatch, columns):
    for module in (run, screen):
        monkeypatch.setattr(module, "is_terminal", lambda _: True)
    done = cli(f"diff {THREE_ONE} default.npy --color never", COLUMNS=columns)
    assert max(map(len, done.out.splitlines())) <= int(columns)
    assert re.search(r"^what +a +b +effect", done.out, re.MULTILINE)
    assert "…" not in done.out
    assert done.err.splitlines()[-1] == f"next: pe-spectra diff {THREE_ONE} default.npy --full"
    whole = cli(f"diff {THREE_ONE} default.npy --full --color never", COLUMNS=columns)
    assert len([line for line in whole.out.splitlines() if line.startswith("all ")]) == 64
    matrix = cli(f"diff --all-stacks {THREE_ONE} --color never", COLUMNS=columns).out
    assert re.search(r"^stack +file +default", matrix, re.MULTILINE)
    assert max(map(len, matrix.splitlines())) <= int(columns)


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("good.json --stack nonsense", ["--stack", "nonsense", "vllm"]),
        ("good.json --stack vllm,", ["--stack", "''"]),
        ("good.json --stack transformers-5", ["--stack", "transformers-5"]),
        ("good.json --stack vllm,vllm", ["--stack", "vllm,vllm"]),
        ("good.json --stack vllm,meta,llama.cpp", ["--stack", "vllm,meta,llama.cpp"]),
        (f"{THREE_ONE} --stack yarn-paper", [THREE_ONE, "yarn-paper", "llama3"]),
        ("good.json deep.json", ["deep.json", "(B)"]),
        ("deep.json good.json", ["deep.json", "(A)"]),
        ("good.json none.json", ["none.json", "no such file"]),
        ("none.npy good.json", ["none.npy", "no such file"]),
        ("good.json", ["A and B", "good.json"]),
        ("", ["A and B", "none"]),
        ("good.json good.json good.json", ["A and B", "good.json good.json good.json"]),
        ("good.json good.json --stack vllm", ["one model", "--stack"]),
        ("good.json --stack vllm --all-stacks", ["--stack", "--all-stacks"]),
        ("good.json --all-stacks --check", ["--check", "--all-stacks"]),
        ("good.json --all-stacks --trained 4", ["--trained", "4"]),
        ("good.json inv.npy --served 0", ["--served", "0"]),
        ("good.json inv.npy --trained x", ["--trained", "x"]),
        ("- -", ["standard input is read once", "- -"]),
        ("inv.npy --stack vllm", ["inv.npy", "array"]),
        ("inv.npy --all-stacks", ["inv.npy", "array"]),
        ("bert-base-uncased.json good.json", ["bert-base-uncased.json", "learned"]),
        ("good.json bert-base-uncased.json", ["bert-base-uncased.json", "learned"]),
        ("table.npy good.json", ["table.npy", "one circle"]),
        ("good.json integers.npy", ["integers.npy", "do not fall"]),
        ("good.json random.npy", ["random.npy", "cannot be used (-"]),
        ("good.json nan.npy", ["nan.npy", "entry 3", "nan"]),
        ("good.json zeros.npy", ["zeros.npy", "0"]),
        ("good.json cube.npy", ["cube.npy", "(3, 4, 5)"]),
        ("good.json empty.npy", ["empty.npy", "empty"]),
        ("good.json scalar.npy", ["scalar.npy"]),
    ],
)
def test_refusals(refuse, files, line, words):
    rng = np.random.Generator(np.random.PCG64(1))
    broken = SCALED.copy()
    broken[3] = np.nan
    arrays = {
        "table": rng.normal(size=(9, 4)),
        "integers": np.arange(64),
        "random": -rng.random(64),
        "nan": broken,
        "zeros": np.zeros(64),
        "cube": rng.normal(size=(3, 4, 5)),
        "empty": np.zeros(0),
        "scalar": np.float32(3),
    }
    for name, values in arrays.items():
        np.save(files / f"{name}.npy", values)
    message = refuse(f"diff {line}")
    for word in words:
        assert word in message


def test_one_pair_is_enough_for_an_answer(ask, files):
    np.save(files / "one.npy", np.array([1.0]))
    assert name_parts(ask("good.json one.npy")) == ["rotary_dim"]
