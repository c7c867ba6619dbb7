"""What diff answers about dumps: units, and what a dump never says."""

import csv
import io
import json
import math

import numpy as np
import pytest

from tests.places import MODELS

LLAMA = MODELS / "llama-3-8b.json"
LADDER = 500000.0 ** -(np.arange(64) / 64)


# ----------------------------------------------------------------------------------- units and what is not said


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (180 / math.pi, "degrees"),
        (2 * math.pi, "2 pi times radians"),
        (0.5 / math.pi, "turns"),
    ],
)
def test_frequencies_in_another_unit_are_called_so(cli, tmp_path, factor, words, kind):
    np.save(tmp_path / "port.npy", (factor * LADDER).astype(kind))
    for line, letter in ((f"diff {LLAMA} port.npy", "B"), (f"diff port.npy {LLAMA}", "A")):
        document = json.loads(cli(f"{line} --json").out)
        assert document["verdict"]["text"].startswith(f"{letter} is in {words}: breaks from position ")
        assert document["causes"] == [{"code": "unit", "text": f"{letter} is in {words}", "layers": ["all"]}]


@pytest.mark.parametrize("factor", [1.0, 57.0, 6.0, 0.125])
def test_other_factors_are_no_unit(cli, tmp_path, factor):
    np.save(tmp_path / "port.npy", factor * LADDER)
    assert "unit" not in [one["code"] for one in json.loads(cli(f"diff {LLAMA} port.npy --json").out)["causes"]]


def test_what_a_dump_never_says_is_one_line_on_a_terminal(watch, cli, tmp_path):
    np.save(tmp_path / "port.npy", 10000.0 ** -(np.arange(64) / 64))
    done = watch(f"diff {LLAMA} port.npy")
    assert done.out.count("not said by port.npy: layout, attention scaling, offset, dtype") == 1
    assert "does not say" not in done.out
    assert [line.split()[0] for line in done.out.partition("effect")[2].splitlines()[1:] if line[:1].strip()] == [
        "base"
    ]
    piped = [row["what"] for row in csv.DictReader(io.StringIO(cli(f"diff {LLAMA} port.npy --format csv").out))]
    assert piped == ["base", "layout", "attention_scaling", "offset", "dtype"]


# ----------------------------------------------------------------------------------- commands


def test_a_model_that_turns_no_layer_has_nothing_to_compare(refuse, tmp_path):
    keys = {"model_type": "smollm3", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4}
    keys |= {"rope_theta": 5e6, "max_position_embeddings": 4096}
    names = {"some.json": [1, 1, 1, 0], "none.json": [0, 0, 0, 0]}
    for name, layers in names.items():
        (tmp_path / name).write_text(json.dumps({**keys, "no_rope_layers": layers}), encoding="utf-8")
    line = refuse("diff some.json none.json")
    assert line == "none.json: turns no layer (no_rope_layers); diff compares rotations"


def test_what_fails_a_check_is_said_in_one_number(cli, tmp_path):
    np.save(tmp_path / "port.npy", LADDER * np.linspace(1, 2, 64))
    done = cli(f"diff {LLAMA} port.npy --check --strict")
    assert done.code == 1
    assert "check failed: frequencies differ" in done.err.splitlines()
    assert "check failed: layout is unknown" in done.err.splitlines()


def test_layers_are_named_once(cli, tmp_path):
    keys = {"model_type": "gemma3_text", "rope_theta": 1e6, "rope_local_base_freq": 1e4}
    (tmp_path / "a.json").write_text(json.dumps(keys))
    (tmp_path / "b.json").write_text(json.dumps({**keys, "rope_local_base_freq": 1e6}))
    first = cli("diff a.json b.json --quiet").out.splitlines()[0]
    assert first.startswith("Sliding_attention layers of B have what full_attention layers of A have: breaks")


def test_a_cause_of_frequencies_that_do_not_break_is_said_first(cli, tmp_path):
    np.save(tmp_path / "port.npy", (LADDER / 64).astype(np.float16))
    keys = {"model_type": "llama", "rope_theta": 5e5, "head_dim": 128, "max_position_embeddings": 4096}
    (tmp_path / "a.json").write_text(json.dumps({**keys, "rope_scaling": {"rope_type": "linear", "factor": 64.0}}))
    first = cli("diff a.json port.npy --quiet").out.splitlines()[0]
    assert first.startswith("The frequencies of B were rounded to float16: a phase is off by ")
