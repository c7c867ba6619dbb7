"""What a config.json states: types, spellings of both generations, and parts."""

import json
import math

import numpy as np
import pytest

from pe_spectra.encodings.rope_scaling import scale_llama3
from pe_spectra.errors import FileError
from pe_spectra.files.json_toml import read_json
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.meta_release import read_params
from pe_spectra.models.stated.statement import NO_BLOCK
from tests.models.configurations import (
    LLAMA,
    LLAMA3,
    LONGROPE,
    YARN,
    audit,
    change,
    find_message,
    read,
    refuse,
    scale,
    turn,
)

# ----------------------------------------------------------------------------------- types


@pytest.mark.parametrize(
    ("config", "is_unknown"),
    [
        ({"model_type": "no-such-model", "rope_theta": 1e4, "head_dim": 64}, True),
        ({"model_type": "no-such-model", "alibi": True, "n_head": 8}, True),
        ({"model_type": "no-such-model", "text_config": {"rope_theta": 1e4, "head_dim": 64}}, True),
        ({"model_type": "llava", "text_config": {"model_type": "no-such-model", "rope_theta": 1, "head_dim": 8}}, True),
        ({"rope_theta": 1e4, "head_dim": 64}, False),  # no type is stated
        ({"model_type": "chatglm", "head_dim": 128}, False),  # read
        ({"model_type": "lfm2-vl", "text_config": {}}, False),  # of the older release alone
        *(({"model_type": name}, False) for name in ("llama", "qwen2_vl", "t5", "bloom", "mamba", "informer", "bert")),
    ],
)
def test_a_type_that_is_not_known_is_said(config, is_unknown):
    found = [one for one in read(config).findings if one.code == "unknown-type"]
    assert [one.data["model"] for one in found] == ["no-such-model"] * is_unknown


def tell(config):
    """Why a file is refused, or why it has no rotation, or what of it is left out."""
    try:
        (finding,) = (one for one in audit(config).findings if one.code in ("refused", "unusable-value"))
    except FileError as error:
        return str(error).removeprefix("config.json: ")
    return finding.message.removeprefix("no rotation is computed here: ").split(": every ")[0].split("; no rot")[0]


@pytest.mark.parametrize("key", ["hidden_size", "num_attention_heads", "max_position_embeddings", "head_dim"])
@pytest.mark.parametrize("value", [True, "64", 64.5, 0, -1, [64], {"a": 1}, 1 << 50])
def test_counts_are_integers_from_1(key, value):
    text = tell(change(**{key: value}))
    assert text.startswith(f"{key} cannot be used (")
    most = " to 1099511627776" if value == 1 << 50 else ""
    assert text.endswith(f"an integer from 1{most} is accepted")


@pytest.mark.parametrize("value", [True, "500000", 0, -1.0, [1.0], {"a": 1}])
def test_a_base_is_a_number_above_0(value):
    text = tell(change(rope_theta=value))
    assert text.startswith("rope_theta cannot be used (")
    assert text.endswith("a number above 0 is accepted")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model_type": 5}, "model_type cannot be used (5); a text is accepted"),
        ({"rope_scaling": "yarn"}, "rope_scaling cannot be used ('yarn'); an object is accepted"),
        ({"rope_parameters": [1]}, "rope_parameters cannot be used ([1]); an object is accepted"),
        ({"rope_scaling": {"rope_type": 1}}, "rope_scaling.rope_type cannot be used (1); a text is accepted"),
        ({"rope_scaling": {**YARN, "factor": "4"}}, "rope_scaling.factor cannot be used ('4'); a number above 0"),
        ({"rope_scaling": {**YARN, "factor": True}}, "rope_scaling.factor cannot be used (True)"),
        ({"rope_scaling": {**YARN, "truncate": 1}}, "rope_scaling.truncate cannot be used (1); true or false"),
        ({"rope_scaling": {**LONGROPE, "short_factor": 1.0}}, "rope_scaling.short_factor cannot be used (1.0); a list"),
        ({"rope_scaling": {**LONGROPE, "long_factor": [1.0, "2"]}}, "a list of numbers above 0 is accepted, not '2'"),
        ({"rope_scaling": {**LONGROPE, "long_factor": [1.0, True]}}, "not True"),
        (
            {"rope_scaling": {**YARN, "original_max_position_embeddings": 8192.5}},
            "rope_scaling.original_max_position_embeddings cannot be used (8192.5)",
        ),
        ({"rope_parameters": {"rope_type": "default", "rope_theta": "1e4"}}, "rope_parameters.rope_theta cannot be"),
        ({"layer_types": "full_attention"}, "layer_types cannot be used ('full_attention'); a list of texts"),
        ({"layer_types": [1]}, "layer_types cannot be used ([1])"),
        ({"no_rope_layers": [1, 2]}, "no_rope_layers cannot be used ([1, 2]); a list of 0 (not turned) and 1"),
        ({"partial_rotary_factor": "half"}, "partial_rotary_factor cannot be used ('half')"),
        ({"hidden_size": 100, "num_attention_heads": 3}, "hidden_size cannot be used (100); a multiple of the 3 heads"),
        ({"model_type": "nobody-knows", "hidden_size": None}, "lacks a key; looked for hidden_size"),
        ({"model_type": "nobody-knows", "num_attention_heads": None}, "lacks a key; looked for num_attention_heads"),
        ({"model_type": "x" * 500, "rope_theta": None}, "names no positional encoding, and model_type 'xxx"),
    ],
)
def test_refused_values(changes, words):
    assert words in tell(change(**changes))


def test_infinity_counts_only_where_it_is_read(tmp_path):
    """Python writes it for time_step_limit of Mamba models, which is no key about positions."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**LLAMA, "time_step_limit": [0.0, math.inf]}), encoding="utf-8")
    assert read_configuration(read_json(path), "config.json") == read(LLAMA)
    for changes in ({"rope_theta": math.inf}, {"rope_scaling": {**YARN, "factor": math.inf}}, {"head_dim": math.inf}):
        path.write_text(json.dumps({**LLAMA, **changes}), encoding="utf-8")
        assert "cannot be used (Infinity)" in refuse(read_json(path))
    for word in ("NaN", "-Infinity", "1e999"):
        path.write_text(f'{{"time_step_limit": {word}}}', encoding="utf-8")
        with pytest.raises(FileError, match=word):
            read_json(path)


def test_null_is_not_set():
    nothing = {"head_dim": None, "rope_scaling": None, "rope_parameters": None, "sliding_window": None}
    assert read({**LLAMA, **nothing}).layers == read(LLAMA).layers


def test_a_file_without_an_encoding_says_what_was_looked_for():
    text = refuse({"model_type": "someone-elses", "hidden_size": 64})
    assert "rope_theta" in text
    assert "'someone-elses' is not known here" in text
    assert "hidden_size" in refuse({})


# ----------------------------------------------------------------------------------- spellings


@pytest.mark.parametrize("key", ["rope_theta", "rotary_emb_base", "rope_base", "rotary_base", "global_rope_theta"])
def test_spellings_of_the_base_in_models_that_are_not_known(key):
    config = change(**{"model_type": "someone-elses", "rope_theta": None, key: 123456.0})
    assert turn(config)["all"].base == 123456.0


def test_the_base_of_classes_with_a_key_of_their_own():
    neox = {"model_type": "gpt_neox", "hidden_size": 64, "num_attention_heads": 1, "rotary_emb_base": 25000}
    assert turn(neox)["all"].base == 25000
    chatglm = {"model_type": "chatglm", "hidden_size": 64, "num_attention_heads": 1, "rope_ratio": 50}
    assert turn(chatglm)["all"].base == 500000


def test_a_key_that_the_class_does_not_read_changes_nothing():
    found = audit(change(rope_theta=None, rotary_emb_base=500000.0))
    assert found.layers[0].rotation.base == 10000
    assert "key-not-read" in {finding.code for finding in found.findings}


@pytest.mark.parametrize(
    ("changes", "width", "turned"),
    [
        ({"hidden_size": 64, "num_attention_heads": 4}, 16, 16),
        ({"hidden_size": 64, "num_attention_heads": 4, "head_dim": 48}, 48, 48),
        ({"model_type": "phi", "partial_rotary_factor": 0.25}, 128, 32),
        ({"model_type": "stablelm", "partial_rotary_factor": None}, 128, 32),
        ({"model_type": "gpt_neox", "rotary_pct": 0.5}, 128, 64),
        ({"model_type": "gptj", "rotary_dim": 32}, 128, 32),
        ({"model_type": "minimax_m2", "head_dim": 128, "rotary_dim": 64}, 128, 64),
        ({"model_type": "deepseek_v3", "qk_rope_head_dim": 64, "qk_nope_head_dim": 128}, 64, 64),
        ({"model_type": "jetmoe", "hidden_size": 2048, "kv_channels": 128}, 128, 128),
        ({"model_type": "jetmoe", "hidden_size": 2048}, 128, 128),
        ({"model_type": "qwen", "kv_channels": 64, "rotary_pct": 0.5}, 64, 32),
        # never narrower than 32 channels
        ({"model_type": "clvp_encoder", "projection_dim": 384, "num_attention_heads": 16}, 32, 32),
        ({"model_type": "clvp_encoder", "projection_dim": 768, "num_attention_heads": 8}, 48, 48),
        # a key of minimax_m2 that this class has and does not read
        ({"model_type": "minimax_m3_vl_text", "head_dim": 128, "rotary_dim": 64}, 128, 128),
    ],
)
def test_widths(changes, width, turned):
    rotation = turn(change(**changes))["all"]
    assert (rotation.head_dim, rotation.rotary_dim) == (width, turned)
    assert rotation.frequencies.shape == (turned // 2,)


def test_widths_by_layer_type():
    found = turn(change(model_type="embedding_gemma2_text", rope_theta=None, head_dim=256))
    assert {name: one.rotary_dim for name, one in found.items()} == {"sliding_attention": 256, "full_attention": 512}


@pytest.mark.parametrize(
    ("changes", "layout"),
    [
        ({}, "half"),
        ({"model_type": "gptj", "rotary_dim": 64}, "interleaved"),
        ({"model_type": "cohere"}, "interleaved"),
        # by a method of its attention
        ({"model_type": "roformer"}, "interleaved"),
        ({"model_type": "deepseek_v3", "qk_rope_head_dim": 64, "rope_interleave": False}, "half"),
        ({"model_type": "deepseek_v3", "qk_rope_head_dim": 64}, "interleaved"),
    ],
)
def test_layouts(changes, layout):
    assert turn(change(**changes))["all"].layout == layout


@pytest.mark.parametrize("key", ["max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx"])
def test_spellings_of_the_length(key):
    config = change(**{"max_position_embeddings": None, key: 4096})
    assert read(config).length == 4096


SCALINGS = {
    "default": {"rope_type": "default"},
    "linear": {"rope_type": "linear", "factor": 2.0},
    "dynamic": {"rope_type": "dynamic", "factor": 2.0},
    "yarn": YARN,
    "yarn with mscale": {**YARN, "mscale": 1.0, "mscale_all_dim": 0.5, "beta_fast": 16, "beta_slow": 2},
    "llama3": LLAMA3,
    "longrope": {**LONGROPE, "original_max_position_embeddings": 8192},
}


@pytest.mark.parametrize("name", SCALINGS)
def test_both_generations_give_one_rotation(name):
    block = SCALINGS[name]
    length = 65536 if name != "default" else 8192
    older = turn(scale(length, **block))["all"]
    newer = turn(
        change(rope_theta=None, max_position_embeddings=length, rope_parameters={**block, "rope_theta": 500000.0})
    )["all"]
    np.testing.assert_array_equal(newer.frequencies, older.frequencies)
    assert (newer.base, newer.scaling, newer.attention_scaling) == (older.base, older.scaling, older.attention_scaling)
    spelled = {("type" if key == "rope_type" else key): value for key, value in block.items()}
    np.testing.assert_array_equal(turn(scale(length, **spelled))["all"].frequencies, older.frequencies)


def test_llama3_is_the_published_formula():
    rotation = turn(scale(131072, **LLAMA3))["all"]
    expected = scale_llama3(500000.0, 128, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original=8192)
    np.testing.assert_array_equal(rotation.frequencies, [float(theta) for theta in expected.frequencies])


# ----------------------------------------------------------------------------------- parts


def test_the_part_that_reads_text_is_read():
    whole = {"model_type": "llava", "hidden_size": 7, "text_config": LLAMA}
    assert read(whole).layers == read(LLAMA).layers
    finding, unread = read(whole).findings
    assert (unread.code, unread.level, unread.data["key"]) == ("key-not-read", "warning", "hidden_size")
    assert (finding.code, finding.level) == ("nested-config", "note")
    assert "text_config" in finding.message
    deep = {"model_type": "qwen2_5_omni", "thinker_config": {"text_config": LLAMA, "vision_config": {}}}
    assert read(deep).layers == read(LLAMA).layers


def test_errors_name_the_part():
    assert refuse({"text_config": {**LLAMA, "hidden_size": "64"}}).startswith("text_config.hidden_size cannot be used")


def test_the_type_of_the_model_may_stand_outside():
    inner = {key: value for key, value in LLAMA.items() if key != "model_type"}
    assert read({"model_type": "llava", "text_config": inner}).model == "llava"


# ----------------------------------------------------------------------------------- what the files of models state


def test_a_base_within_attn_config_counts_where_it_asks_for_rotation():
    keys = {"d_model": 64, "n_heads": 4, "position_embedding_type": "rope"}
    found = read_configuration({**keys, "attn_config": {"rope": True, "rope_theta": 5e5}}, "config.json")
    block = found.layers[0].block
    assert (block.base, block.base_key) == (5e5, "attn_config.rope_theta")
    found = read_configuration({**keys, "attn_config": {"rope": False, "rope_theta": 5e5}}, "config.json")
    assert found.layers[0].block == NO_BLOCK


@pytest.mark.parametrize(
    ("model", "asked", "layout"),
    [("llama", True, "half"), ("llama", False, None), ("cohere", False, "interleaved")],
)
def test_a_layout_that_the_class_does_not_obey_is_warned_of(model, asked, layout):
    keys = {"model_type": model, "hidden_size": 64, "num_attention_heads": 4, "rope_interleave": asked}
    found = {one.code: one for one in read_configuration(keys, "config.json").findings}
    said = found["key-not-read"].message if "key-not-read" in found else None
    text = f"rope_interleave is not read by the class of {model}; its layout is {layout}"
    assert said == (text if layout is not None else None)


# ----------------------------------------------------------------------------------- audits


def test_the_base_of_params_json_is_named_rope_theta():
    configuration = read_params({"dim": 4096, "n_heads": 32, "max_seq_len": 8192}, "params.json")
    message = find_message(configuration, "base-defaulted", trained=131072)
    assert "10000 is silently assumed" in message
    assert message.endswith("state rope_theta")
