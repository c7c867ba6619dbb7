"""The command diff about implementations, tables, checks and lengths."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.answers.agreements import answer_conformance
from pe_spectra.cli.options import _complete_stacks
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stacks.conformance import ConformanceRow
from pe_spectra.vocabulary import STACKS as STACK_NAMES
from tests.cli.ports import SCALED, make_cache, name_parts, save_cache
from tests.documents import read_csv
from tests.making import make_ladder
from tests.models.stack_configurations import NAMES
from tests.places import MODELS

#: Llama-3.1-8B: base 500000, llama3 scaling by 8 from 8192, no scaling in Llama-3-8B.
pytestmark = pytest.mark.usefixtures("diff_files")
THREE, THREE_ONE, GEMMA = "llama-3-8b.json", "llama-3.1-8b.json", "gemma-3-4b-it.json"
GOOD = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 500000.0}


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
        ("x", ["x-transformers"]),
        ("z", []),
    ],
)
def test_completion(typed, offered):
    assert _complete_stacks(typed) == offered


#: Which of them have no argument for the scaling of Llama 3.
UNABLE = ("x-transformers", "rotary-embedding-torch", "yarn-paper")


@pytest.mark.parametrize("stack", [name for name in NAMES if name not in ("transformers-5", *UNABLE)])
def test_one_file_in_two_implementations(ask_diff, stack):
    one, both = ask_diff(f"{THREE_ONE} --stack {stack}"), ask_diff(f"{THREE_ONE} --stack transformers-5,{stack}")
    assert one == both
    assert name_parts(one) == (["layout"] if stack in ("llama.cpp", "meta", "torchtune") else [])
    assert (one["a"]["name"], one["b"]["name"]) == (STACKS["transformers-5"].title, STACKS[stack].title)


def test_dynamic_is_not_what_it_is_elsewhere(ask_diff, diff_files):
    scaling = {"rope_type": "dynamic", "factor": 4.0}
    (diff_files / "dynamic.json").write_text(
        json.dumps({**GOOD, "max_position_embeddings": 8192, "rope_scaling": scaling})
    )
    # transformers: base (s l/L0 - s + 1)^(D/(D-2)) with l served; vLLM 0.19: that with l = s L0, at every length
    document = ask_diff("dynamic.json --stack vllm==0.19.1 --served 16384")
    assert document["agree"] is False
    assert document["parameters"] == {"length": 16384, "trained": None, "served": 16384, "allocated": None}
    ratios = [pair["ratio"] for pair in document["layer_types"][0]["pairs"]]
    assert ratios[-1] == pytest.approx((4 * 2 - 3) / (4 * 4 - 3), rel=1e-9)
    assert ask_diff("dynamic.json --stack vllm==0.19.1 --served 32768")["agree"] is True
    # vLLM 0.33: nothing
    document = ask_diff("dynamic.json --stack vllm --served 16384")
    assert document["b"]["name"] == "vLLM 0.33.0"
    assert document["causes"][0]["code"] == "scaling-dropped"


LONG = "phi-3.5-mini-instruct.json"


def test_longrope_by_what_is_allocated(ask_diff, refuse):
    """Of 131,072 positions 3,900 are served: the prompt has the short list, the allocation the long one."""
    served = ask_diff(f"{LONG} --stack vllm --served 3900")
    assert served["agree"] is True
    allocated = ask_diff(f"{LONG} --stack vllm --served 3900 --allocated 131072")
    assert allocated["parameters"] == {"length": 3900, "trained": None, "served": 3900, "allocated": 131072}
    config = json.loads((MODELS / LONG).read_text())
    width, rope = config["hidden_size"] // config["num_attention_heads"], config["rope_scaling"]
    ladder = config["rope_theta"] ** -(np.arange(0, width, 2) / width)
    short, long = (ladder / np.array(rope[key]) for key in ("short_factor", "long_factor"))
    pairs = allocated["layer_types"][0]["pairs"]
    assert_allclose([pair["frequency_a"] for pair in pairs], short, rtol=1e-12)
    assert_allclose([pair["frequency_b"] for pair in pairs], long, rtol=1e-12)
    # by hand: the first position where one phase is off by more than pi/8
    first = next(p for p in range(100) if (np.abs(p * (short - long)) > np.pi / 8).any())
    assert allocated["differences"][0]["first_position"] == first == 3
    assert allocated["causes"][0]["code"] == "other-list"
    assert "chosen by the 131,072 positions that are allocated: vLLM 0.33.0" in allocated["notes"]
    assert ask_diff(f"{LONG} --stack vllm,llama.cpp --served 3900 --allocated 131072")["agree"] is True
    assert ask_diff(f"{LONG} --stack transformers-4,keras-hub --served 3900 --allocated 131072")["agree"] is True
    for line in (f"{LONG} --stack vllm --served 3900", f"--all-stacks {LONG} --served 3900"):
        assert refuse(f"diff {line} --allocated 1024") == (
            "--allocated is below what is served (1024 and 3900); 3900 or more is accepted"
        )
    assert "--served 1024 or less goes with it" in refuse(f"diff {LONG} --stack vllm --allocated 1024")


def test_every_implementation_by_what_is_allocated(cli):
    line = f"diff --all-stacks {LONG} --served 3900 --allocated 131072 --format csv"
    rows = {row["stack"]: row["file"] for row in read_csv(cli(line).out)}
    assert {name for name, cell in rows.items() if cell == "3"} == {"vllm", "llama.cpp"}


@pytest.mark.parametrize("line", [f"{THREE_ONE} --stack vllm", f"{LONG} {LONG}", f"{THREE} default.npy"])
def test_where_nothing_goes_by_what_is_allocated(ask_diff, line):
    plain, asked = ask_diff(f"{line} --served 2048"), ask_diff(f"{line} --served 2048 --allocated 1000000")
    assert plain["differences"] == asked["differences"]
    said = [note for note in asked["notes"] if note not in plain["notes"]]
    (note,) = said
    assert note.startswith(
        "--allocated changes nothing here: no side chooses by it, as longrope's list is chosen in vllm,"
    )


def test_stacks_have_versions(ask_diff, refuse):
    for text, name in (
        ("transformers==4.57.6", "transformers 4.57.6"),
        ("vllm>=0.19", "vLLM 0.33.0"),
        ("vllm>=0.30", "vLLM 0.33.0"),
        ("vllm>=0.33.0", "vLLM 0.33.0"),
        ("vllm@0.19.1", "vLLM 0.19.1"),
        ("keras-hub>=0.31", "keras-hub 0.32.0, its rotary layers"),
        ("llama.cpp@0c1e57098", "llama.cpp b11312 (0c1e57098) with its converter, as in llama-cpp-python 0.3.36"),
        ("llama.cpp@0c1e570", "llama.cpp b11312 (0c1e57098) with its converter, as in llama-cpp-python 0.3.36"),
        *(
            (f"llama.cpp{sign}", "llama.cpp b11312 (0c1e57098) with its converter, as in llama-cpp-python 0.3.36")
            for sign in ("@b11312", "==b11312", ">=b8000")
        ),
        ("llama-cpp-python>=0.3", "llama.cpp b11312 (0c1e57098) with its converter, as in llama-cpp-python 0.3.36"),
    ):
        assert ask_diff(f"{THREE_ONE} --stack '{text}'")["b"]["name"] == name
    both = ask_diff(f"{THREE_ONE} --stack 'transformers>=5,transformers==4.57.6'")
    assert (both["a"]["name"], both["b"]["name"]) == ("transformers 5.24.0", "transformers 4.57.6")
    assert ask_diff(f"{THREE_ONE} --stack 'transformers>=4.57,vllm'")["a"]["name"] == "transformers 5.24.0"
    assert ask_diff(f"{THREE_ONE} --stack 'vllm==0.19.1,vllm'")["agree"] is True


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("vllm==0.2", "--stack is not known (vllm==0.2); vllm==0.33.0, vllm==0.19.1 are accepted"),
        ("vllm>=0.34", "--stack is not known (vllm>=0.34); vllm==0.33.0, vllm==0.19.1 are accepted"),
        (
            "transformers>=9",
            "--stack is not known (transformers>=9); transformers==5.24.0, transformers==4.57.6 are accepted",
        ),
        ("torchtune==9", "--stack is not known (torchtune==9); torchtune==0.6.1 is accepted"),
        (
            "llama.cpp@0c1e58",
            "--stack is not known (llama.cpp@0c1e58); llama-cpp-python==0.3.36 (build b11312) is accepted",
        ),
        (
            "llama.cpp@0c1e",
            "--stack is not known (llama.cpp@0c1e); llama-cpp-python==0.3.36 (build b11312) is accepted",
        ),
        (
            "llama.cpp@b1234",
            "--stack is not known (llama.cpp@b1234); llama-cpp-python==0.3.36 (build b11312) is accepted",
        ),
        (
            "llama.cpp>=b11313",
            "--stack is not known (llama.cpp>=b11313); llama-cpp-python==0.3.36 (build b11312) is accepted",
        ),
        *(
            (text, f"--stack is not known ({text}); llama-cpp-python==0.3.36 (build b11312) is accepted")
            for text in ("llama.cpp>=x",)
        ),
        ("vllm@b11312", "--stack is not known (vllm@b11312); vllm==0.33.0, vllm==0.19.1 are accepted"),
    ],
)
def test_a_version_that_is_not_known(refuse, text, said):
    assert refuse(f"diff {THREE_ONE} --stack '{text}'") == said
    assert "is not known" in refuse(f"diff {THREE_ONE} --stack other==1")


def test_every_implementation(cli, ask_diff):
    done = cli(f"diff --all-stacks {THREE_ONE}")
    counts = f"{len(NAMES) - len(UNABLE)} of {len(NAMES)}"
    verdict = f"{counts} implementations give this file the same frequencies; {', '.join(UNABLE)} refuse it."
    assert done.out.splitlines()[0] == verdict
    rows = {row["stack"]: row for row in read_csv(cli(f"diff --all-stacks {THREE_ONE} --format csv").out)}
    assert tuple(rows) == NAMES
    assert list(rows["vllm"]) == ["stack", "file", "default", "linear", "dynamic", "yarn", "llama3", "longrope"]
    assert [rows[name]["file"] for name in NAMES] == ["no" if name in UNABLE else "same" for name in NAMES]
    assert rows["vllm"]["dynamic"].isdigit()
    document = ask_diff(f"--all-stacks {THREE_ONE}")
    assert document["kind"] == "conformance"
    assert {row["stack"] for row in document["rows"]} == set(NAMES)
    long = read_csv(cli(f"diff --all-stacks {THREE_ONE} --full --format csv").out)
    assert len(long) == len(document["rows"]) == 7 * len(NAMES)
    # what is said of the examples stands beside their numbers
    assert "example of" not in done.err
    assert "note: example of dynamic: llama.cpp: " in cli(f"diff --all-stacks {THREE_ONE} --full").err


def test_a_file_of_axes_is_read_by_its_own_implementation(cli, diff_files, refuse):
    (diff_files / "wan.json").write_text(json.dumps({"_class_name": "WanTransformer3DModel"}))
    rows = read_csv(cli("diff --all-stacks wan.json --format csv").out)
    assert {row["stack"] for row in rows if row["file_time"] == "yes"} == {"diffusers"}
    assert "transformers 5.24.0 reads no file with the keys of diffusers" in refuse("diff wan.json --stack vllm")


def test_a_file_that_the_reference_refuses_is_compared_with_nothing(cli, diff_files):
    scaling = {"rope_type": "magic", "factor": 4.0}
    (diff_files / "odd.json").write_text(json.dumps({**GOOD, "max_position_embeddings": 8192, "rope_scaling": scaling}))
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
    assert "note: sliding_attention: transformers-5, transformers-4, vllm" in done.err
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
    row = ConformanceRow(scaling="yarn", stack="transformers-5", layer="all", differing=0, attention_scaling=1.0)
    other = replace(row, stack="vllm", **changes)
    answer = answer_conformance("config.json", [row, other], [], length=8)
    assert answer.columns["file"] == ["same", cell]
    words = dict(answer.facts)["cells"]
    assert ("a number:" if cell == "17" else f"{cell}: ") in words


def test_a_file_that_nothing_takes(refuse, diff_files):
    (diff_files / "odd.json").write_text(json.dumps({**GOOD, "rope_theta": 0}))
    assert refuse("diff --all-stacks odd.json").startswith(
        "odd.json: no implementation takes it: rope_theta cannot be used (0)"
    )


# ----------------------------------------------------------------------------------- tables


@pytest.fixture
def table(diff_files):
    values = np.random.Generator(np.random.PCG64(3)).normal(size=(40, 6)).astype(np.float32)
    np.save(diff_files / "table.npy", values)
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
def test_tables(cli, ask_diff, diff_files, table, change, code, words):
    np.save(diff_files / "other.npy", change(table))
    document = ask_diff("table.npy other.npy")
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


def test_sines_and_what_training_made_of_them_are_tables(ask_diff, diff_files):
    ladder = make_ladder(1e4, 32) * np.linspace(1, 0.5, 16)
    sines = np.hstack(make_cache(ladder, 40, layout="single"))
    trained = sines + np.random.default_rng(0).normal(size=sines.shape).astype(np.float32) * 1e-2
    for name, values in (("sines", sines), ("trained", trained)):
        np.save(diff_files / f"{name}.npy", values)
    for line in ("sines.npy trained.npy", "trained.npy sines.npy"):
        document = ask_diff(line)
        assert "no row equals the one at its index" in document["verdict"]["text"]
        assert not any("scaling" in note for note in document["notes"])
    # two caches are rotations
    assert ask_diff("sines.npy sines.npy")["layer_types"]


@pytest.mark.parametrize("factor", [0.9, 0.99, 0.999, 1.001, 1.01])
@pytest.mark.parametrize("pair", [5, 24, 40, 62])
def test_one_pair_that_was_changed(ask_diff, diff_files, pair, factor):
    values = make_ladder(5e5)
    values[pair] *= factor
    np.save(diff_files / "port.npy", values)
    document = ask_diff(f"{THREE} port.npy")
    off = np.abs(np.arange(8192) * (values - make_ladder(5e5))[pair]) > np.pi / 8
    first = int(np.argmax(off)) if off.any() else None
    assert name_parts(document) == ["frequencies"]
    assert document["differences"][0]["first_position"] == first
    assert document["b"]["layer_types"][0]["base"] == 5e5
    assert document["b"]["layer_types"][0]["scaling"] is None


def test_slow_pairs_that_were_divided(ask_diff, diff_files):
    values = make_ladder(1e4)
    values[40:] /= 4
    np.save(diff_files / "port.npy", values)
    document = ask_diff(f"{THREE} port.npy")
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
def test_lengths(ask_diff, diff_files, line, length):
    save_cache(diff_files)
    document = ask_diff(line)
    assert document["parameters"]["length"] == length
    assert [layer["length"] for layer in document["layer_types"]] == [length]
    assert any("no side states a length" in note for note in document["notes"]) == (length == 32768)


@pytest.mark.parametrize(("trained", "words"), [(8192, "within"), (400, "beyond")])
def test_a_break_within_or_beyond_what_was_trained(cli, trained, words):
    done = cli(f"diff {THREE} {THREE_ONE} --trained {trained}")
    assert f"{words} the training context length, {trained:,}" in done.out


@pytest.mark.parametrize("columns", ["80", "100"])
def test_a_terminal_of_usual_width_has_a_table_and_a_next_command(cli, monkeypatch, columns):
    monkeypatch.setattr("pe_spectra.cli.terminal.is_terminal", lambda _: True)
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
def test_refusals(refuse, diff_files, line, words):
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
        np.save(diff_files / f"{name}.npy", values)
    message = refuse(f"diff {line}")
    for word in words:
        assert word in message


def test_one_pair_is_enough_for_an_answer(ask_diff, diff_files):
    np.save(diff_files / "one.npy", np.array([1.0]))
    assert name_parts(ask_diff("good.json one.npy")) == ["rotary_dim"]


def test_windows_are_those_of_each_stack(ask_diff):
    """A window that one of two keeps to is a difference; where that was not measured it is unknown."""
    model = MODELS / "mistral-7b-v0.1.json"
    found = ask_diff(f"{model} --stack llama.cpp")
    (window,) = (one for one in found["differences"] if one["what"] == "window")
    assert (window["a"], window["b"]) == (4096, None)
    assert found["parameters"]["length"] == 32768
    assert ask_diff(f"{model} --stack vllm")["unknown"] == []
    found = ask_diff(f"{MODELS / 'starcoder2-3b.json'} --stack vllm")
    assert (found["agree"], [one["what"] for one in found["unknown"]]) == (None, ["window"])
    assert ask_diff(f"{model} --stack transformers-4")["unknown"] == []
    assert "window" not in str(ask_diff(f"{model} --stack keras-hub,vllm")["unknown"])
