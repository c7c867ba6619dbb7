"""context with a configuration: what it says, what it writes, and what it refuses."""

import io
import json

import pytest

from tests.documents import find_fault, read_json

SMALL = {"model_type": "llama", "head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 64, "vocab_size": 9}
#: Unlike what is written: unusual spacing, a limit that JSON has no number for, letters beyond ASCII, a large number.
TEXT = (
    '{"model_type":"llama", "head_dim":8,\n"rope_theta":1e4,"max_position_embeddings":64,"eps":1e-06,'
    '"time_step_limit":[0.0,Infinity],"name":"r\\u00e9sum\\u00e9 \\ud800","big":12345678901234567890}'
)


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A working directory with a small model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    return tmp_path


def test_the_answer_recommends_says_what_it_needs_and_audits(cli, small):
    done = cli("context config.json --target 128")
    assert done.code == 0
    first, *rest = done.out.splitlines()
    assert first.startswith(
        "For 128 positions take yarn with factor 2: it leaves none of 4 pairs with out-of-range phases"
    )
    said = dict(line.split(": ", 1) for line in rest if ": " in line)
    assert said["model"] == "llama: 8 channels turned, base 10000"
    assert said["as it is"] == "no scaling; it reaches 64 positions, the target is 2 x that"
    assert said["training"].startswith("fine-tuning, as published")
    assert said["without training"].startswith("ntk (")
    assert said["block"].startswith('rope_parameters: {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 2.0')
    assert said["configuration"].startswith("max_position_embeddings: 128, read by transformers 5")
    assert said["new audit"].startswith("0 errors")
    rows = [line.split("\t")[0] for line in done.out.splitlines() if "\t" in line][1:]
    assert rows[:3] == ["none", "linear", "ntk"]
    assert {path.name for path in small.iterdir()} == {"config.json"}


def test_json_is_valid_and_has_the_plan(cli, small):
    found = read_json(cli("context config.json --target 128 --json"))
    assert find_fault(found) is None
    assert found["parameters"] == {"d": 8, "base": 1e4, "trained": 64, "target": 128}
    plan = found["plan"]
    assert (plan["file"], plan["method"], plan["outcome"], plan["written"]) == (
        "config.json",
        "yarn",
        "lengthened",
        None,
    )
    assert plan["configuration"]["block"]["factor"] == 2.0
    assert all(row["training"] for row in found["rows"])
    nothing = read_json(cli("context config.json --target 64 --json"))
    assert find_fault(nothing) is None
    assert (nothing["rows"], nothing["plan"]["outcome"]) == ([], "nothing-needed")
    assert nothing["verdict"]["level"] == "ok"
    assert "plan" not in read_json(cli("context --d 8 --base 10000 --trained 64 --target 128 --json"))


def test_rows_are_those_of_the_same_numbers_without_a_file(cli, small):
    rows = cli("context config.json --target 128 --format csv").out
    assert rows == cli("context --d 8 --base 10000 --trained 64 --target 128 --format csv").out
    every = cli("context config.json --target 128 --format csv --full").out
    assert every.splitlines()[0] == "method,pair,frequency,wavelength,turns,unseen"


def test_a_configuration_is_written_with_all_other_keys_in_their_order(cli, small):
    (small / "config.json").write_text(TEXT)
    done = cli("context config.json --target 128 --write new.json")
    assert done.code == 0
    assert done.err.splitlines()[0] == "wrote new.json"
    text = (small / "new.json").read_text()
    old, new = json.loads(TEXT), json.loads(text)
    assert [key for key in new if key != "rope_parameters"] == list(old)
    assert {**old, "max_position_embeddings": 128, "rope_parameters": new["rope_parameters"]} == new
    assert "[\n    0.0,\n    Infinity\n  ]" in text
    assert text.endswith("}\n")
    audited = read_json(cli("audit new.json --served 128 --json"))["models"][0]
    assert not [one for one in audited["findings"] if one["level"] == "error"]
    assert audited["layer_types"][0]["unseen_pairs"] == []
    assert read_json(cli("context new.json --target 128 --json"))["plan"]["outcome"] == "nothing-needed"
    assert read_json(cli("context config.json --target 128 --write b.json --json"))["plan"]["written"] == "b.json"
    assert cli("context config.json --target 128 --write c.json --quiet").err == ""


def test_a_file_that_is_there_is_replaced_but_never_the_input(cli, small, refuse):
    (small / "old.json").write_text("old")
    assert cli("context config.json --target 128 --write old.json").code == 0
    assert json.loads((small / "old.json").read_text())["max_position_embeddings"] == 128
    (small / "link.json").symlink_to("config.json")
    before = (small / "config.json").read_text()
    for source, place in (
        ("config.json", "config.json"),
        ("config.json", "./config.json"),
        ("config.json", "link.json"),
        (".", "config.json"),
    ):
        assert "is read by this command (--write)" in refuse(f"context {source} --target 128 --write {place}")
    assert (small / "config.json").read_text() == before


def test_standard_input_and_a_folder(cli, small, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SMALL).encode())))
    assert cli("context - --target 128 --write new.json").code == 0
    assert json.loads((small / "new.json").read_text())["rope_parameters"]["factor"] == 2.0
    (small / "model").mkdir()
    (small / "config.json").rename(small / "model" / "config.json")
    assert cli("context model --target 128 --stack vllm").out.count("rope_scaling: {") == 1


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("context config.json", ("--target is missing",)),
        ("context '' --target 128", ("no file is named",)),
        ("context none.json --target 128", ("none.json", "no such file or folder")),
        ("context config.json more.json --target 128", ("unexpected argument", "more.json")),
        ("context config.json --target 7", ("--target", "7")),
        ("context config.json --target 128 --d 8", ("--d has no meaning beside CONFIG", "8", "--trained is")),
        ("context config.json --target 128 --d 7", ("--d is odd",)),
        ("context config.json --target 128 --base 100", ("--base has no meaning beside CONFIG", "100")),
        ("context config.json --target 128 --trained 7", ("--trained", "7")),
        ("context config.json --target 128 --stack torch", ("--stack is not known", "torch", "transformers-5")),
        ("context config.json --target 128 --write -", ("--write", "-", "ending in .json")),
        ("context config.json --target 128 --write new.txt", ("--write", "new.txt", ".json")),
        ("context config.json --target 128 --write .json", ("--write", ".json")),
        (
            "context config.json --target 128 --write no/new.json",
            ("no/new.json", "its folder does not exist (--write)"),
        ),
        ("context config.json --target 128 --write a.json --output a.json", ("two outputs are one file", "a.json")),
        ("context config.json --target 64 --write new.json", ("--write has nothing to write", "reaches 64 positions")),
        ("context config.json --target 64 --figure a.png", ("--figure has nothing to draw", "reaches 64 positions")),
        ("context --target 128 --write new.json", ("--write has no meaning without CONFIG", "new.json")),
        ("context --target 128 --stack vllm", ("--stack has no meaning without CONFIG", "vllm")),
        ("context alibi.json --target 128", ("alibi.json", "has no rotation to lengthen", "ALiBi")),
        ("context w.npy --target 128", ("w.npy", "a file of arrays, no configuration")),
        ("context damaged.json --target 128", ("damaged.json", "is not JSON")),
    ],
)
def test_errors(small, refuse, line, parts):
    (small / "alibi.json").write_text('{"model_type": "bloom", "n_head": 8}')
    (small / "w.npy").write_bytes(b"")
    (small / "damaged.json").write_text("{")
    before = {path.name: path.read_bytes() for path in small.iterdir()}
    message = refuse(line)
    for part in parts:
        assert part in message
    assert {path.name: path.read_bytes() for path in small.iterdir()} == before


def test_nothing_is_written_where_the_answer_cannot_be(small, refuse):
    (small / "out").mkdir()
    assert "out" in refuse("context config.json --target 128 --write new.json --output out --format json")
    assert not (small / "new.json").exists()


@pytest.mark.slow
def test_a_figure_is_drawn_of_a_file(cli, small):
    done = cli("context config.json --target 128 --figure a.svg --write new.json")
    assert done.code == 0
    assert (small / "a.svg").read_bytes().startswith(b"<?xml")
    assert sorted(line for line in done.err.splitlines() if line.startswith("wrote")) == [
        "wrote a.svg",
        "wrote new.json",
    ]


def test_what_the_file_asks_for_in_vain_is_said_and_nothing_is_written(cli, empty_folder):
    config = {"model_type": "llava", "rope_theta": 5e5, "text_config": {"model_type": "llama"}}
    (empty_folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    said = (
        "rope_theta is not passed on to text_config by the class of llava in transformers 5, and changes nothing there"
    )
    done = cli("context config.json --target 32768")
    assert done.code == 0
    assert done.err.startswith(f"note: {said}")
    done = cli("context config.json --target 32768 --write new.json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: config.json: {said}")
    assert not (empty_folder / "new.json").exists()
