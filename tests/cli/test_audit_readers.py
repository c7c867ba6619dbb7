"""audit --reader: every reader's findings by its name, and the gravest of all for --fail-on."""

import json
import shutil

import pytest

from tests.documents import read_csv, read_json
from tests.models.test_parts import LLAVA
from tests.places import MODELS

BOTH = "transformers-4,transformers-5"


@pytest.fixture
def files(tmp_path):
    for name in ("broken/newer-only", "llama-3.1-8b"):
        shutil.copy(MODELS / f"{name}.json", tmp_path)


@pytest.mark.usefixtures("files")
def test_the_worst_of_several_readers_decides(cli):
    for readers, code in (("transformers-5", 0), ("transformers-4", 1), (BOTH, 1), ("transformers-5,vllm==0.19.1", 0)):
        assert cli(f"audit newer-only.json --reader {readers} --fail-on warning").code == code, readers
    done = cli(f"audit newer-only.json --reader {BOTH} --fail-on warning")
    said = "check failed: newer-only.json (transformers 4.57.6): finding of level warning: reader-differs\n"
    assert done.err.endswith(said)
    assert done.out.startswith(
        "2 readings: 1 with warnings (newer-only.json (transformers 4.57.6)), 1 without anything wrong.\n"
    )
    assert "2 readings: 0 with errors, 1 with warnings, 1 without either, 0 refused\n" in done.out


@pytest.mark.usefixtures("files")
def test_one_reader(cli):
    out = cli("audit newer-only.json --reader transformers-4").out
    assert out.startswith("Read by transformers 4.57.6. Rotary, base 10000: 14 of 64 pairs never complete")
    assert "warning: reader-differs: transformers 4.57.6: other frequencies than in the library" in out
    document = read_json(cli("audit newer-only.json --reader transformers-4 --json"))
    assert document["models"][0]["reader"] == "transformers==4.57.6"
    assert "reader" not in read_json(cli("audit newer-only.json --json"))["models"][0]


@pytest.mark.usefixtures("files")
def test_every_form_names_the_readers(cli):
    line = f"audit newer-only.json llama-3.1-8b.json --reader {BOTH}"
    models = read_json(cli(f"{line} --json"))["models"]
    names = ["transformers==4.57.6", "transformers==5.24.0"] * 2
    assert [one["reader"] for one in models] == names
    assert [row["reader"] for row in read_csv(cli(f"{line} --format csv").out)] == names
    rows = read_csv(cli(f"{line} --format csv --full").out)
    assert [row["reader"] for row in rows] == [name for name in names for _ in range(64)]
    assert list(rows[0])[:4] == ["file", "reader", "model", "layer"]
    for form in ("github", "sarif", "markdown"):
        assert "transformers 4.57.6" in cli(f"{line} --format {form}").out
    plain = cli("audit newer-only.json llama-3.1-8b.json --format csv --full").out
    assert plain.startswith("file,model,layer,")
    wide = cli(f"{line} --color always", COLUMNS="140").out
    assert "reader" in wide
    assert "reader" not in cli("audit newer-only.json llama-3.1-8b.json --color always").out


@pytest.mark.usefixtures("files")
def test_parts_that_are_left_out_are_told(cli, tmp_path):
    (tmp_path / "llava.json").write_text(json.dumps(LLAVA))
    done = cli("audit llava.json --reader vllm")
    assert "note: vision_config: not audited, for --reader reads the part for text alone\n" in done.err
    assert "not audited" not in cli("audit llama-3.1-8b.json --reader vllm").err


@pytest.mark.usefixtures("files")
def test_what_cannot_be_read_so(cli, refuse, tmp_path):
    assert refuse("audit newer-only.json --reader foo").startswith(
        "--reader is not known (foo); accepted: transformers-5"
    )
    said = refuse("audit newer-only.json --reader vllm==9")
    assert said == "--reader is not known (vllm==9); vllm==0.33.0, vllm==0.19.1 are accepted"
    assert refuse("audit newer-only.json --reader vllm,vllm") == (
        "--reader names one implementation twice (vllm,vllm); each is named once"
    )
    said = "newer-only.json: timm 1.0.31 reads no file with the keys of config.json; those of timm are accepted"
    assert refuse("audit newer-only.json --reader timm") == said
    assert refuse(f"audit newer-only.json --reader {BOTH} --figure a.png") == (
        "--figure draws one reading (2 are named); one name for --reader is accepted"
    )
    (tmp_path / "bad.json").write_text("{")
    done = cli(f"audit bad.json newer-only.json --reader {BOTH} --json")
    assert (done.code, done.err.count("\n")) == (2, 1)
    models = json.loads(done.out)["models"]
    assert [(one["file"], one["error"] is None) for one in models] == [
        ("bad.json", False),
        ("newer-only.json", True),
        ("newer-only.json", True),
    ]


@pytest.mark.usefixtures("files")
def test_of_several_files_each_reader_that_can_reads_it(cli):
    done = cli("audit newer-only.json llama-3.1-8b.json --reader timm,vllm --json")
    assert done.code == 2
    said = "timm 1.0.31 reads no file with the keys of config.json; those of timm are accepted\n"
    assert done.err == f"error: newer-only.json: {said}error: llama-3.1-8b.json: {said}"
    models = json.loads(done.out)["models"]
    assert [one["reader"] for one in models] == ["timm==1.0.31", "vllm==0.33.0"] * 2
    assert [one["error"] is None for one in models] == [False, True] * 2


def test_completion_of_the_last_name():
    from pe_spectra.cli.options import OPTIONS

    assert OPTIONS["reader"]._complete("vllm,transformers-") == ["vllm,transformers-5", "vllm,transformers-4"]


def test_a_window_is_that_of_the_reader(cli):
    """llama.cpp sees all where its architecture has no window; where it was not measured nothing is claimed."""
    model = f"audit {MODELS / 'mistral-7b-v0.1.json'} --json --reader"
    unknown = f"audit {MODELS / 'starcoder2-3b.json'} --json --reader"
    (own, other, kept, open_) = (
        read_json(cli(line))["models"][0]["layer_types"][0]
        for line in (f"{model} transformers-5", f"{model} llama.cpp", f"{model} vllm", f"{unknown} vllm")
    )
    assert [one["window"] for one in (own, other, kept, open_)] == [4096, None, 4096, None]
    assert own["never_turn"] > other["never_turn"] > 0
    assert "these layers see all positions: their window of 4,096 is not kept to" in other["notes"]
    assert (open_["never_turn"], open_["unseen_pairs"], open_["low_bin"]) == (None, [], None)
    assert {pair["state"] for pair in open_["frequencies"]} == {None}
    assert "whether these layers see 4,096 positions at once, as in transformers, was not measured" in open_["notes"]
    assert "is not known, since its window was not measured" in cli(f"{unknown.replace(' --json', '')} vllm").out
    kept = read_json(cli(f"audit {MODELS / 'gemma-2-9b.json'} --json --reader llama.cpp"))["models"][0]["layer_types"]
    assert {layer["name"]: layer["window"] for layer in kept} == {"sliding_attention": 4096, "full_attention": None}


def test_a_file_that_the_newest_classes_cannot_read_is_read_by_those_of_the_reader(cli, tmp_path):
    """transformers 4.57.6 knows no rope_parameters."""
    path = tmp_path / "config.json"
    path.write_text('{"model_type": "llama", "rope_parameters": true}', encoding="utf-8")
    (layer,) = read_json(cli(f"audit {path} --json --reader transformers-4"))["models"][0]["layer_types"]
    assert (layer["base"], layer["rotary_dim"]) == (10000, 128)
    for readers in ("", "--reader transformers-5", "--reader transformers-4,vllm"):
        done = cli(f"audit {path} {readers}")
        assert (done.code, done.out) == (2, "")
        assert "rope_parameters cannot be used (True); an object is accepted" in done.err
