"""Audits as an implementation that is named reads a file."""

import json

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks import ANSWERING, STACKS, find_stack, list_releases
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from pe_spectra.models.stated.meta_release import read_params
from tests.models.configurations import LLAMA, LONGROPE, YARN, audit, change, load, read, scale
from tests.models.test_parts import LLAVA
from tests.places import MODELS
from tests.refusing import catch

FOUR, VLLM = STACKS["transformers-4"], STACKS["vllm"]
NEWER_ONLY = change(rope_theta=None, rope_parameters={"rope_type": "default", "rope_theta": 5e5})


def list_codes(found):
    return {one.code for one in found.findings}


@pytest.mark.few(20)
@pytest.mark.parametrize("name", sorted(path.name for path in MODELS.glob("*.json") if path.name != "EXPECTED.json"))
@pytest.mark.parametrize(
    "reader", [one for one in list_releases() if "config.json" in one.formats], ids=lambda one: one.release_name
)
def test_frequencies_are_those_that_the_reader_turns_by(name, reader):
    """And each finding is one of the kinds, names the reader, and can be told in JSON."""
    stated = read(load(name))
    found = audit_configuration(stated, reader=reader)
    assert found.reader is reader
    for layer, one in zip(found.layers, stated.layers, strict=False):
        turned = reader.read(stated, one, layer.served_length) if one.turns else None
        if isinstance(turned, Rotation):
            np.testing.assert_array_equal(layer.frequencies, turned.frequencies)
        else:
            assert layer.rotation is None
    for finding in found.findings:
        assert finding.message.startswith(f"{reader.title}: ")
        assert finding.data["reader"] == reader.release_name
    json.dumps(found.to_dict())
    assert found.to_dict()["reader"] == reader.release_name
    assert find_stack(reader.release_name, "--reader") in (reader, STACKS[reader.name])


@pytest.mark.parametrize(
    "name", ["llama-3.1-8b.json", "gemma-3-1b-it.json", "qwen2.5-7b-instruct-yarn.json", "bloom-560m.json"]
)
def test_the_answering_reader_finds_what_is_found_without_a_name(name):
    """But for what compares it with other readers."""
    plain = audit(load(name))
    found = audit(load(name), reader=ANSWERING["config.json"]())
    others = {"newer-keys-only", "releases-differ", "keys-contradict"}
    assert [one.message for one in plain.findings if one.code not in others] == [
        one.message.partition(": ")[2] for one in found.findings
    ]
    assert [layer.to_dict() for layer in found.layers] == [layer.to_dict() for layer in plain.layers]
    assert "reader" not in plain.to_dict()


def test_a_key_that_the_reader_does_not_know_is_none():
    """transformers 4 takes 10000 for the base of a file in the newer keys alone."""
    found = audit(NEWER_ONLY, reader=FOUR)
    assert found.layers[0].base == 10000
    assert list_codes(found) >= {"reader-differs", "base-defaulted"}
    (differs,) = [one for one in found.findings if one.code == "reader-differs"]
    assert (differs.data["base"], differs.data["base_expected"]) == (10000, 500000)
    assert "base 10000, not 500000" in differs.message
    assert not {"reader-differs", "base-defaulted"} & list_codes(audit(NEWER_ONLY, reader=VLLM))


def test_a_scaling_that_the_reader_does_not_know_is_an_error():
    found = audit(scale(32768, **YARN), reader=STACKS["torchtune"])
    assert found.layers[0].rotation is None
    assert "unknown-scaling" in list_codes(found)
    assert found.findings[0].level == "error"
    lengths = {"original_max_position_embeddings": 4096, "max_position_embeddings": 131072}
    phi = change(model_type="phi3", rope_scaling={**LONGROPE, "rope_type": "su"}, **lengths)
    assert audit(phi).layers[0].rotation is not None
    older = audit(phi, reader=STACKS["transformers-5"])
    assert older.layers[0].rotation is None


def test_a_class_that_an_older_release_does_not_have_is_refused():
    (finding, *_) = audit(
        {"model_type": "glm_moe_dsa", **{k: v for k, v in LLAMA.items() if k != "model_type"}}, reader=FOUR
    ).findings
    assert (finding.level, finding.code) == ("error", "refused")
    assert "transformers 4.57.6 has no class of glm_moe_dsa" in finding.message


@pytest.mark.parametrize(
    ("keys", "said"),
    [({}, ["layer_types is"]), ({"num_hidden_layers": None}, ["layer_types is", "num_hidden_layers is"])],
)
def test_what_a_class_refuses_is_said_where_it_turns_nothing(keys, said):
    """A finding is about the file, not about the layers that are turned."""
    found = audit({"model_type": "granitemoehybrid", **keys}, reader=FOUR)
    assert found.scheme == "none"
    assert [one.code for one in found.findings] == ["value-refused"] * len(said)
    for one, start in zip(found.findings, said, strict=True):
        assert one.message.startswith(f"transformers 4.57.6: {start}")
    assert audit({"model_type": "granitemoehybrid", "layer_types": ["attention"] * 32}, reader=FOUR).findings == ()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"model_type": "qwen3_omni_moe_talker_code_predictor", "sliding_window": 64}, "max_window_layers is not set"),
        ({"model_type": "ministral", "head_dim": 128, "num_hidden_layers": 4, "layer_types": ["full_attention"]},
         "layer_types has 1 type for 4 layers"),
        ({"model_type": "qwen3_next", "head_dim": None}, "head_dim is null"),
        ({"model_type": "esm", "num_hidden_layers": -8}, "num_hidden_layers is -8"),
    ],
)  # fmt: skip
def test_what_classes_of_an_older_release_refuse(keys, said):
    """As measured in transformers 4.57.6 by tests/reference/transformers/fields.py."""
    told = [one.message for one in audit(keys, reader=FOUR).findings if one.code == "value-refused"]
    assert [one.startswith(f"{FOUR.title}: {said}") for one in told] == [True]


def test_a_class_without_a_number_of_layers_that_slide_needs_none_where_types_of_layers_are_stated():
    keys = {"model_type": "qwen3_omni_moe_talker_code_predictor", "sliding_window": 64}
    for more in ({"layer_types": ["full_attention"] * 5}, {"max_window_layers": 2}, {"sliding_window": None}):
        assert not [one for one in audit(keys | more, reader=FOUR).findings if one.level == "error"]


def test_what_a_class_refuses_is_said_of_the_release_that_is_asked_for():
    stated = read({"model_type": "gpt_oss", "head_dim": None})
    told = [one.message for one in audit_configuration(stated, reader=FOUR).findings if one.code == "value-refused"]
    said = "head_dim is null under the scaling of the class, so the class of gpt_oss in transformers 4 refuses the file"
    assert told == [f"{FOUR.title}: {said}"]


def test_an_allocated_length_counts_for_readers_that_go_by_it():
    config = {**scale(131072, **LONGROPE), "original_max_position_embeddings": 4096}
    lists = {
        name: audit(config, served=4000, allocated=131072, reader=STACKS[name]).layers[0].rotation.options["served"]
        for name in ("transformers-5", "vllm")
    }
    assert lists == {"transformers-5": 4000, "vllm": 131072}


def test_dynamic_is_searched_as_the_reader_reads_it():
    """The longest length without unseen phases is that of the reader's own frequencies."""
    for reader in (FOUR, VLLM):
        found = audit(change(rope_scaling={"rope_type": "dynamic", "factor": 2.0}), served=65536, reader=reader)
        assert found.layers[0].turn(65536).frequencies is not None
        assert "unseen-phases" in list_codes(found)


def test_a_reader_of_other_formats_is_an_error():
    said = catch(audit, LLAMA, reader=STACKS["timm"], kind=FileError)
    assert said == "config.json: timm 1.0.31 reads no file with the keys of config.json; those of timm are accepted"
    params = read_params({"dim": 4096, "n_heads": 32}, "params.json")
    assert audit_configuration(params, reader=STACKS["meta"]).layers[0].rotation is not None


def test_a_gguf_file_is_read_by_llama_cpp_alone():
    keys = {
        "general.architecture": "llama",
        "llama.context_length": 8192,
        "llama.embedding_length": 4096,
        "llama.attention.head_count": 32,
        "llama.rope.freq_base": 500000.0,
    }
    stated = read_gguf_configuration(keys, {}, "model.gguf", {})
    plain, found = (audit_configuration(stated, reader=reader) for reader in (None, STACKS["llama.cpp"]))
    assert [layer.to_dict() for layer in found.layers] == [layer.to_dict() for layer in plain.layers]
    said = catch(audit_configuration, stated, reader=VLLM, kind=FileError)
    accepted = "those of config.json and params.json are accepted"
    assert said == f"model.gguf: vLLM 0.33.0 reads no file with the keys of gguf; {accepted}"


def test_parts_beside_the_one_for_text_are_left_out():
    found = audit(LLAVA, reader=VLLM)
    assert found.left_out == ("vision_config",)
    assert (found.parts, [layer.name for layer in found.layers]) == ((), ["all"])
    assert len(audit(LLAVA).layers) > 1
