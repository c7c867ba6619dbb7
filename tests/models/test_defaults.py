"""What a configuration leaves to its class, or says in vain: lengths, bases, tables of distances, encoders."""

import json
from fractions import Fraction

import numpy as np
import pytest

from pe_spectra.answers.audits import answer_audits
from pe_spectra.errors import FileError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.position_tables import BY_TYPE, WITH_DISTANCES, find_table
from tests.places import MODELS

LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 500000.0}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA31 = {
    **LLAMA,
    "max_position_embeddings": 131072,
    "rope_scaling": {**LLAMA3, "original_max_position_embeddings": 8192},
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}
LISTS = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}
LONGROPE = {"rope_type": "longrope", "original_max_position_embeddings": 8192, **LISTS}
BERT = {"model_type": "bert", "hidden_size": 768, "num_attention_heads": 12, "max_position_embeddings": 512}


def load(name):
    return json.loads((MODELS / name).read_text(encoding="utf-8"))


def audit(config, **lengths):
    return audit_configuration(read_configuration(config, "config.json"), **lengths)


def find(config, code):
    return [one for one in audit(config).findings if one.code == code]


def scale(length, block, **others):
    return {**LLAMA, "max_position_embeddings": length, "rope_scaling": block, **others}


# ----------------------------------------------------------------------------------- tables of distances


@pytest.mark.parametrize("kind", ["relative_key", "relative_key_query"])
def test_bert_with_distances_loses_them(kind):
    found = audit({**BERT, "position_embedding_type": kind})
    (finding,) = found.findings
    assert (finding.code, finding.level) == ("key-not-read", "error")
    # one distance for each difference of two of 512 positions
    distances = len({query - key for query in range(512) for key in range(512)})
    assert finding.data["distances"] == distances
    assert f"adds its table of 512 rows; in transformers 4 each attention has a table of {distances:,} distances " in (
        finding.message
    )
    assert finding.message.startswith(f"position_embedding_type '{kind}' is not read by the class of bert")
    assert finding.message.endswith("instead of the table, which is lost: use transformers 4")
    assert answer_audits([found]).verdict.text == (
        "Learned: 512 rows for 512 positions. 1 error: a key that the model's class does not read (key-not-read)."
    )


def test_a_class_that_had_distances_beside_its_table():
    (finding,) = find({**BERT, "model_type": "bert-generation", "position_embedding_type": "relative_key"},
                      "key-not-read")  # fmt: skip
    assert finding.level == "error"
    assert "1,023 distances beside the table, which is lost" in finding.message


def test_distances_of_a_table_whose_rows_are_those_of_the_class():
    bare = {"model_type": "bert", "hidden_size": 768, "position_embedding_type": "relative_key"}
    (finding,) = find(bare, "key-not-read")
    assert finding.data["distances"] == 1023


@pytest.mark.parametrize("kind", ["none", "", "Absolute", "learned"])
def test_a_kind_that_neither_release_knows(kind):
    found = audit({**BERT, "position_embedding_type": kind})
    (finding,) = found.findings
    assert (finding.code, finding.level) == ("key-not-read", "warning")
    assert f"position_embedding_type {kind!r} is not read" in finding.message
    assert "transformers 4 adds it for absolute only, so there no table is added" in finding.message
    assert "Nothing wrong found" not in answer_audits([found]).verdict.text


@pytest.mark.parametrize(
    ("model", "kind", "level"),
    [
        ("splinter", "relative_key", "warning"),
        ("gpt_neo", "relative_key", "warning"),
        ("gpt_neo", "learned", None),
        ("gpt_neo", "absolute", None),
        ("gpt_neo", None, None),
        ("bert", "absolute", None),
        ("bert", None, None),
    ],
)
def test_only_what_says_something_else_is_found(model, kind, level):
    found = find({**BERT, "model_type": model, "position_embedding_type": kind}, "key-not-read")
    assert [one.level for one in found] == ([level] if level else [])
    if model == "gpt_neo" and level:
        said = "is not read by the class of gpt_neo, which adds its table of 512 rows all the same"
        assert said in found[0].message


def test_every_class_that_reads_the_kind_has_a_table():
    assert all(find_table(model) for model in BY_TYPE | WITH_DISTANCES)
    for model in sorted(WITH_DISTANCES):
        (finding,) = find({**BERT, "model_type": model, "position_embedding_type": "relative_key"}, "key-not-read")
        assert (finding.level, finding.data["distances"]) == ("error", 1023)


def test_esm_has_a_table_or_a_rotation_or_is_refused():
    esm = {**BERT, "model_type": "esm"}
    assert read_configuration({**esm, "position_embedding_type": "rotary"}, "c.json").scheme == "rotary"
    assert read_configuration({**esm, "position_embedding_type": "absolute"}, "c.json").scheme == "learned"
    with pytest.raises(FileError, match=r"position_embedding_type cannot be used \('relative_key'\); absolute and "):
        read_configuration({**esm, "position_embedding_type": "relative_key"}, "c.json")


def test_bert_is_turned_only_by_code_that_has_a_base():
    asked = {**BERT, "position_embedding_type": "rotary"}
    assert read_configuration({**asked, "rope_theta": 1e4}, "c.json").scheme == "rotary"
    assert read_configuration(asked, "c.json").scheme == "learned"
    (finding,) = find(asked, "key-not-read")
    assert "position_embedding_type 'rotary' is not read by the class of bert in transformers 5" in finding.message


def test_the_check_fails_on_it(cli, tmp_path):
    (tmp_path / "c.json").write_text(json.dumps({**BERT, "position_embedding_type": "relative_key"}))
    assert cli("audit c.json --fail-on error").code == 1


# ----------------------------------------------------------------------------------- lengths


def test_a_length_is_taken_by_default_in_words():
    config = {key: value for key, value in LLAMA31.items() if key != "max_position_embeddings"}
    found = audit(config)
    (finding,) = [one for one in found.findings if one.code == "length-defaulted"]
    assert finding.level == "warning"
    assert finding.message == (
        "no key gives the length, so 2,048 positions are silently assumed, the default of llama; "
        "original_max_position_embeddings is 8,192; state max_position_embeddings"
    )
    assert finding.data == {"length": 2048, "original": 8192}
    assert not [one for one in found.findings if one.code == "factor-mismatch"]
    assert answer_audits([found]).verdict.text.endswith("1 warning: no key gives the length (length-defaulted).")


@pytest.mark.parametrize(
    ("block", "why"),
    [
        (None, None),
        ({"rope_type": "linear", "factor": 4.0}, None),
        ({**YARN, "original_max_position_embeddings": 2048}, None),
        ({**YARN, "original_max_position_embeddings": 1024}, None),
        ({**LLAMA3, "original_max_position_embeddings": 1024}, None),
        ({**LONGROPE, "factor": 2.0, "original_max_position_embeddings": 2048}, None),
        ({"rope_type": "dynamic", "factor": 4.0}, "dynamic scaling is computed from it"),
        ({"rope_type": "yarn", "factor": 4.0}, "yarn scaling is computed from it"),
        (LLAMA3, "llama3 scaling is computed from it"),
        ({**LONGROPE, "original_max_position_embeddings": 1024}, "longrope scaling is computed from it"),
        (LONGROPE, "longrope scaling is computed from it; original_max_position_embeddings is 8,192"),
        (YARN, "original_max_position_embeddings is 8,192"),
        ({**LLAMA3, "original_max_position_embeddings": 2048}, "original_max_position_embeddings is 2,048"),
    ],
)
def test_a_defaulted_length_is_a_warning_where_the_scaling_needs_another(block, why):
    (finding,) = find(scale(None, block), "length-defaulted")
    assert finding.level == ("note" if why is None else "warning")
    said = "" if why is None else f"; {why}"
    assert finding.message.endswith(f"the default of llama{said}; state max_position_embeddings")


def test_a_length_that_is_null_is_refused():
    (finding,) = find({**LLAMA31, "max_position_embeddings": None}, "value-refused")
    assert (
        finding.message == "max_position_embeddings is null, so the class of llama in transformers 5 refuses the file"
    )


def test_a_length_that_is_stated_or_unknown_is_no_default():
    assert not find(LLAMA31, "length-defaulted")
    assert not find({**LLAMA, "model_type": "nobody-knows"}, "length-defaulted")


def test_a_defaulted_length_is_said_once_for_all_layers():
    assert [layer.scheme for layer in audit(load("gemma-3-4b-it.json")).layers] == ["rotary", "rotary", "learned"]
    finding, _ = find(load("gemma-3-4b-it.json"), "length-defaulted")
    assert (finding.level, finding.data["length"]) == ("note", 131072)


@pytest.mark.parametrize(
    ("length", "block", "order"),
    [
        (4096, {**LLAMA3, "original_max_position_embeddings": 8192}, "above"),
        (131072, {**LLAMA3, "original_max_position_embeddings": 131072}, "not below"),
        (8191, LONGROPE, "above"),
        (8192, LONGROPE, None),
        (4096, YARN, "above"),
        (8192, YARN, None),
        (8193, {**LLAMA3, "original_max_position_embeddings": 8192}, None),
        (4096, {**YARN, "factor": None}, None),
        (131072, {**LLAMA3, "original_max_position_embeddings": 8192}, None),
    ],
)
def test_a_length_before_scaling_that_is_the_longer_one(length, block, order):
    config = scale(length, block)
    found = [one for one in find(config, "factor-mismatch") if one.level == "warning"]
    if order is None:
        assert not found
        return
    (finding,) = found
    original = block["original_max_position_embeddings"]
    assert finding.message == (
        f"original_max_position_embeddings is {original:,}, {order} max_position_embeddings, {length:,}, while a "
        "scaling lengthens a context: check the two lengths"
    )
    assert finding.data["ratio"] == Fraction(length, original)
    said = "factor and the lengths of the scaling contradict each other"
    assert said in answer_audits([audit(config)]).verdict.text


def test_a_factor_that_does_not_reach_the_default_length_says_so():
    qwen = {"model_type": "qwen2", "head_dim": 128, "num_attention_heads": 32, "hidden_size": 4096, "rope_theta": 1e6}
    block = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 4096}
    (finding,) = find({**qwen, "rope_scaling": block}, "factor-mismatch")
    assert finding.level == "warning"
    assert "but max_position_embeddings is 32,768 by default, 8 times as many" in finding.message
    (finding,) = find({**qwen, "rope_scaling": block, "max_position_embeddings": 32768}, "factor-mismatch")
    assert "but max_position_embeddings is 32,768, 8 times as many" in finding.message


# ----------------------------------------------------------------------------------- bases


def test_a_lost_base_of_llama_3_is_a_warning(cli, tmp_path):
    config = {key: value for key, value in LLAMA31.items() if key != "rope_theta"}
    (finding,) = find(config, "base-defaulted")
    assert finding.level == "warning"
    assert finding.message == (
        "no key gives the base, so 10000 is silently assumed, the default, for a context of 8,192 before llama3 "
        "scaling; state rope_theta"
    )
    expected = [10000.0 ** (-i / 64) for i in range(4)]  # of the fast pairs, which llama3 keeps
    np.testing.assert_allclose(audit(config).layers[0].frequencies[:4], expected, rtol=1e-12)
    (tmp_path / "c.json").write_text(json.dumps(config))
    assert cli("audit c.json --fail-on warning").code == 1


@pytest.mark.parametrize(
    ("config", "level"),
    [
        (scale(4096, None), "note"),
        (scale(8192, None), "note"),
        (scale(8193, None), "warning"),
        (scale(16384, {"rope_type": "linear", "factor": 4.0}), "note"),
        (scale(16388, {"rope_type": "linear", "factor": 4.0}), "warning"),
        (scale(16384, {**YARN, "original_max_position_embeddings": 4096}), "note"),
        (scale(32768, YARN), "warning"),
        (scale(4096, {"rope_type": "dynamic", "factor": 2.0}), "note"),
        (scale(8192, {"rope_type": "dynamic", "factor": 2.0}), "warning"),
        (scale(16384, {**LLAMA3, "original_max_position_embeddings": 2048}), "warning"),
        (scale(131072, None, model_type="smollm3"), "note"),
    ],
)
def test_a_defaulted_base_is_a_warning_beyond_what_was_trained_with_it(config, level):
    (finding,) = find({**config, "rope_theta": None}, "base-defaulted")
    assert finding.level == level


# ----------------------------------------------------------------------------------- encoders


def test_the_encoder_of_whisper_is_named():
    found = audit(load("whisper-tiny.json"))
    (finding,) = found.findings
    assert (finding.code, finding.level) == ("nested-config", "note")
    assert finding.message == (
        "the model has several parts; the decoder is what is audited, and the encoder has fixed sinusoids of its own "
        "for 1,500 positions (max_source_positions, tensor2tensor of width 384)"
    )
    assert finding.data == {"part": "decoder", "encoder_positions": 1500}
    assert found.configuration.values["rows"] == 448


@pytest.mark.parametrize(("stated", "positions"), [({}, 16384), ({"max_encoder_position_embeddings": 4096}, 4096)])
def test_the_encoder_of_led_is_named(stated, positions):
    led = {"model_type": "led", "d_model": 768, "max_decoder_position_embeddings": 1024, **stated}
    (finding,) = audit(led).findings
    assert finding.data["encoder_positions"] == positions
    assert f"a learned table of its own for {positions:,} positions (max_encoder_position_embeddings)" in (
        finding.message
    )


def test_models_of_one_part_have_no_such_note():
    assert audit(load("bart-base.json")).findings == ()
