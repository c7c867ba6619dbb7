"""What a config.json states: types, spellings of both generations, parts, layer types; and every finding provoked."""

import json
import math
import random
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from pe_spectra.encodings.rope_scaling import scale_llama3
from pe_spectra.errors import FileError
from pe_spectra.files.json_file import read_json
from pe_spectra.findings import LEVELS
from pe_spectra.models.checks import EXPLANATIONS, audit_configuration
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stacks.conformance import find_length_served
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from pe_spectra.models.stated.meta_release import read_params
from pe_spectra.records.audit_verdict import PHRASES

MODELS = Path(__file__).with_name("models")
#: The shape of Llama 3 8B.
LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "max_position_embeddings": 8192,
    "rope_theta": 500000.0,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
LONGROPE = {"rope_type": "longrope", "short_factor": [1.0] * 64, "long_factor": [2.0] * 64}


def change(**changes):
    """Llama 3 with other keys; None takes a key away."""
    return {key: value for key, value in {**LLAMA, **changes}.items() if value is not None}


def scale(length=32768, **keys):
    return change(max_position_embeddings=length, rope_scaling=keys)


def read(config):
    return read_configuration(config, "config.json")


def audit(config, **lengths):
    return audit_configuration(read(config), **lengths)


def turn(config, **lengths):
    """The rotations by layer type."""
    return {layer.name: layer.rotation for layer in audit(config, **lengths).layers}


def refuse(config):
    with pytest.raises(FileError) as caught:
        read(config)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 400
    assert text.startswith("config.json: ")
    return text.removeprefix("config.json: ")


def load(name):
    return json.loads((MODELS / name).read_text(encoding="utf-8"))


# ----------------------------------------------------------------------------------- types


@pytest.mark.parametrize("key", ["hidden_size", "num_attention_heads", "max_position_embeddings", "head_dim"])
@pytest.mark.parametrize("value", [True, "64", 64.5, 0, -1, [64], {"a": 1}, 1 << 50])
def test_counts_are_integers_from_1(key, value):
    text = refuse(change(**{key: value}))
    assert text.startswith(f"{key} cannot be used (")
    most = " to 1099511627776" if value == 1 << 50 else ""
    assert text.endswith(f"an integer from 1{most} is accepted")


@pytest.mark.parametrize("value", [True, "500000", 0, -1.0, [1.0], {"a": 1}])
def test_a_base_is_a_number_above_0(value):
    text = refuse(change(rope_theta=value))
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
        ({"hidden_size": None}, "lacks a key; looked for hidden_size"),
        ({"num_attention_heads": None}, "lacks a key; looked for num_attention_heads"),
        ({"model_type": "x" * 500, "rope_theta": None}, "names no positional encoding, and model_type 'xxx"),
    ],
)
def test_refused_values(changes, words):
    assert words in refuse(change(**changes))


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
    text = refuse({"model_type": "resnet", "hidden_size": 64})
    assert "rope_theta" in text
    assert "'resnet' is not known here" in text
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
    (finding,) = read(whole).findings
    assert (finding.code, finding.level) == ("nested-config", "note")
    assert "text_config" in finding.message
    deep = {"model_type": "qwen2_5_omni", "thinker_config": {"text_config": LLAMA, "vision_config": {}}}
    assert read(deep).layers == read(LLAMA).layers


def test_errors_name_the_part():
    assert refuse({"text_config": {**LLAMA, "hidden_size": "64"}}).startswith("text_config.hidden_size cannot be used")


def test_the_type_of_the_model_may_stand_outside():
    inner = {key: value for key, value in LLAMA.items() if key != "model_type"}
    assert read({"model_type": "llava", "text_config": inner}).model == "llava"


# ----------------------------------------------------------------------------------- layer types


def windows(config):
    return {layer.name: (layer.turns, layer.window) for layer in read(config).layers}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gemma-3-1b-it.json", {"sliding_attention": (True, 512), "full_attention": (True, None)}),
        ("gemma-3-1b-newer-keys.json", {"sliding_attention": (True, 512), "full_attention": (True, None)}),
        ("modernbert-base.json", {"full_attention": (True, None), "sliding_attention": (True, 128)}),
        ("smollm3-3b.json", {"full_attention": (True, None), "nope": (False, None)}),
        (
            "llama-4-scout-17b-16e-instruct.json",
            {"chunked_attention": (True, 8192), "full_attention": (False, None)},
        ),
        ("c4ai-command-r7b-12-2024.json", {"sliding_attention": (True, 4096), "full_attention": (False, None)}),
        ("qwen3-next-80b-a3b-instruct.json", {"linear_attention": (False, None), "full_attention": (True, None)}),
    ],
)
def test_layer_types_of_public_models(name, expected):
    assert windows(load(name)) == expected


@pytest.mark.parametrize("size", ["1b", "4b"])
def test_both_generations_of_gemma_3_give_one_rotation(size):
    older = turn(load(f"gemma-3-{size}-it.json"))
    newer = turn(load(f"gemma-3-{size}-newer-keys.json"))
    assert set(older) == set(newer)
    for name, rotation in older.items():
        np.testing.assert_array_equal(newer[name].frequencies, rotation.frequencies)
    assert older["sliding_attention"].base == 10000
    assert older["full_attention"].base == 1e6
    assert older["sliding_attention"].scaling == "none"


def test_a_layer_type_that_is_null_is_not_turned():
    config = change(
        model_type="olmo3",
        rope_theta=None,
        layer_types=["sliding_attention", "full_attention"],
        sliding_window=128,
        rope_parameters={"sliding_attention": {"rope_type": "default", "rope_theta": 1e4}, "full_attention": None},
    )
    assert windows(config) == {"sliding_attention": (True, 128), "full_attention": (False, None)}


def test_layers_without_rotation_are_told_by_flag_or_interval():
    flags = change(model_type="smollm3", no_rope_layers=[1, 0], rope_theta=1e6)
    assert windows(flags) == {"all": (True, None), "nope": (False, None)}
    interval = change(model_type="smollm3", no_rope_layer_interval=2)
    assert windows(interval) == {"all": (True, None), "nope": (False, None)}
    assert windows(change(no_rope_layers=[1, 1])) == {"all": (True, None)}


def test_a_window_counts_only_where_it_is_switched_on():
    config = change(model_type="qwen2", sliding_window=4096, use_sliding_window=False)
    assert windows(config) == {"all": (True, None)}
    assert windows(change(model_type="mistral", sliding_window=4096)) == {"all": (True, 4096)}
    assert windows(change(model_type="mistral", sliding_window=None) | {"sliding_window": None}) == {
        "all": (True, None)
    }


def test_phases_and_turns_end_at_the_window():
    (layer,) = audit(change(model_type="mistral", sliding_window=1024), served=1 << 20).layers
    assert layer.unseen == ()
    assert layer.never_turn == np.count_nonzero(layer.frequencies * 1024 < 2 * np.pi)


@pytest.mark.parametrize("name", ["conv", "mamba", "recurrent", "linear_attention", "moe"])
def test_layers_without_attention_are_not_turned(name):
    config = change(model_type="lfm2", layer_types=[name, "full_attention"])
    assert windows(config) == {name: (False, None), "full_attention": (True, None)}
    nested = {"full_attention": {"rope_type": "default", "rope_theta": 1e6}}
    codes = {finding.code for finding in audit(change(model_type="lfm3", layer_types=[name, "full_attention"],
                                                      rope_theta=None, rope_parameters=nested)).findings}  # fmt: skip
    assert "layer-type-missing" not in codes


@pytest.mark.parametrize("nested", [False, True])
def test_compressed_layers_have_a_base_and_a_scaling_of_their_own(nested):
    yarn = {"rope_type": "yarn", "factor": 16, "original_max_position_embeddings": 65536}
    config = {
        "model_type": "deepseek_v4",
        "head_dim": 512,
        "qk_rope_head_dim": 64,
        "sliding_window": 128,
        "max_position_embeddings": 1048576,
    }
    if nested:
        main = {"rope_type": "default", "rope_theta": 10000.0}
        config["rope_parameters"] = {
            "main": main,
            "compress": {**yarn, "rope_theta": 160000.0, "attention_factor": 1.0},
        }
    else:
        config |= {"rope_theta": 10000, "compress_rope_theta": 160000, "rope_scaling": yarn}
    assert windows(config) == {"main": (True, 128), "compress": (True, None)}
    found = turn(config)
    assert {name: (one.base, one.scaling, one.rotary_dim, one.attention_scaling) for name, one in found.items()} == {
        "main": (10000, "none", 64, 1.0),
        "compress": (160000, "yarn", 64, 1.0),
    }
    if not nested:
        assert {finding.level for finding in audit(config).findings} <= {"note"}


def test_one_base_and_one_share_for_each_layer():
    config = {
        "model_type": "step3p5",
        "hidden_size": 4096,
        "num_attention_heads": 64,
        "sliding_window": 512,
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention"],
        "rope_theta": [5e6, 1e4, 1e4],
        "partial_rotary_factors": [0.5, 1.0, 1.0],
    }
    assert {name: (one.base, one.rotary_dim) for name, one in turn(config).items()} == {
        "full_attention": (5e6, 64),
        "sliding_attention": (1e4, 128),
    }
    assert "sliding_attention has several" in refuse({**config, "rope_theta": [5e6, 1e4, 1e6]})
    assert "rope_theta cannot be used" in refuse({**config, "layer_types": None, "sliding_window": None})


@pytest.mark.parametrize(
    ("changes", "base", "scaling", "code"),
    [
        # read flat by the class, so nothing of it is
        ({"rope_theta": None, "rope_parameters": {"full_attention": {"rope_theta": 5e5}}}, 1e4, "none", "key-not-read"),
        ({"rope_theta": 2e5, "rope_parameters": {"full_attention": {"rope_theta": 5e5}}}, 2e5, "none", "key-not-read"),
        # read by layer type
        (
            {"model_type": "olmo3", "rope_theta": None, "rope_parameters": {**YARN, "rope_theta": 2.5e5}},
            5e5,
            "none",
            "layer-type-missing",
        ),
        (
            {"model_type": "modernbert", "rope_theta": None, "rope_parameters": {"rope_theta": 2e4}},
            1.6e5,
            "none",
            "layer-type-missing",
        ),
        # type is looked for before rope_scaling is put in
        (
            {"model_type": "gemma3_text", "rope_theta": 1e6, "rope_scaling": {"type": "linear", "factor": 8.0}},
            1e6,
            "none",
            "key-not-read",
        ),
        (
            {"model_type": "gemma3_text", "rope_theta": 1e6, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
            1e6,
            "linear",
            None,
        ),
    ],
)
def test_keys_in_a_shape_that_the_class_does_not_read(changes, base, scaling, code):
    found = audit(change(**changes))
    layer = next((one for one in found.layers if one.name == "full_attention"), found.layers[0])
    assert (layer.rotation.base, layer.rotation.scaling) == (base, scaling)
    assert [finding.code for finding in found.findings if finding.level == "error"] == ([code] if code else [])


def test_shares_in_two_places():
    config = change(
        model_type="phi", partial_rotary_factor=0.5, rope_parameters={"rope_theta": 5e5, "partial_rotary_factor": 0.25}
    )
    (layer,) = audit(config).layers
    assert (layer.rotation.rotary_dim, layer.statement.share_beside) == (32, 0.5)
    (finding,) = [one for one in audit(config).findings if one.level == "error"]
    assert finding.code == "keys-contradict"
    assert "32 of 128 channels" in finding.message
    assert "64 of 128 channels" in finding.message
    assert not [one for one in audit({**config, "partial_rotary_factor": 0.25}).findings if one.level == "error"]


def test_null_is_told_from_absent():
    (layer,) = read(scale(**{**YARN, "factor": None})).layers
    assert layer.older.nulls == {"factor"}
    assert read(scale(**YARN)).layers[0].older.nulls == frozenset()


def test_the_class_of_phi3_has_an_original_length():
    lists = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}
    config = change(model_type="phi3", max_position_embeddings=16384, rope_scaling={"rope_type": "longrope", **lists})
    config["rope_scaling"]["original_max_position_embeddings"] = 8192
    (layer,) = audit(config).layers
    assert layer.original_length == 4096
    assert "by default of the class" in audit(config).findings[0].message
    (layer,) = audit({**config, "original_max_position_embeddings": 8192}).layers
    assert layer.original_length == 8192


def test_a_factor_of_the_file_stands_on_cosines_of_phimoe():
    lists = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}
    block = {"type": "longrope", **lists, "short_mscale": 1.25, "long_mscale": 1.25}
    found = audit(change(model_type="phimoe", max_position_embeddings=131072, original_max_position_embeddings=4096,
                         rope_scaling={**block, "original_max_position_embeddings": 4096}))  # fmt: skip
    assert found.layers[0].rotation.attention_scaling == 1.25
    assert "attention-factor" not in {finding.code for finding in found.findings}


# ----------------------------------------------------------------------------------- schemes


@pytest.mark.parametrize(
    ("config", "scheme"),
    [
        ({"model_type": "bloom", "n_head": 8, "hidden_size": 64}, "alibi"),
        ({"model_type": "falcon", "alibi": True, "num_attention_heads": 8, "hidden_size": 64}, "alibi"),
        ({"model_type": "falcon", "alibi": False, "num_attention_heads": 8, "hidden_size": 64}, "rotary"),
        ({"model_type": "mpt", "n_heads": 8, "d_model": 64, "attn_config": {"alibi": True}}, "alibi"),
        ({"model_type": "t5", "num_heads": 8, "d_model": 64}, "t5"),
        ({"model_type": "gpt2", "n_positions": 128, "n_embd": 64}, "learned"),
        ({"model_type": "marian", "d_model": 64}, "sinusoidal"),
        ({"model_type": "mamba", "hidden_size": 64}, "none"),
        (change(model_type="granitemoehybrid", position_embedding_type="nope"), "none"),
        (change(model_type="granitemoehybrid"), "none"),
        (change(model_type="granitemoehybrid", position_embedding_type="rope"), "rotary"),
        (change(model_type="zamba2", attention_head_dim=160, use_mem_rope=False), "none"),
        (change(model_type="zamba2", attention_head_dim=160, use_mem_rope=True), "rotary"),
        ({"hidden_size": 64, "num_attention_heads": 4, "rope_theta": 1e4}, "rotary"),
    ],
)
def test_schemes(config, scheme):
    assert read(config).scheme == scheme
    (layer,) = audit(config).layers
    assert layer.scheme == scheme


def test_tables_count_the_rows_that_are_no_positions():
    roberta = read({"model_type": "roberta", "max_position_embeddings": 514, "hidden_size": 64})
    assert (roberta.values["rows"], roberta.values["unused"], roberta.length) == (514, 2, 512)
    opt = read({"model_type": "opt", "max_position_embeddings": 2048, "hidden_size": 64})
    assert (opt.values["rows"], opt.length) == (2050, 2048)


# ----------------------------------------------------------------------------------- findings


def provoke_config(**changes):
    return lambda: audit(change(**changes))


def provoke_params(**params):
    return lambda: audit_configuration(read_params({"dim": 4096, "n_heads": 32, **params}, "params.json"))


def provoke_gguf(architecture, factors=None):
    keys = {
        "general.architecture": architecture,
        f"{architecture}.context_length": 131072,
        f"{architecture}.embedding_length": 4096,
        f"{architecture}.attention.head_count": 32,
        f"{architecture}.rope.freq_base": 500000.0,
    }
    return lambda: audit_configuration(read_gguf_configuration(keys, factors or {}, "model.gguf", {}))


NESTED = {"sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}
TWO_TYPES = ["sliding_attention", "full_attention"]
#: For each code: what provokes it, at which level.
PROVOKED = [
    ("nested-config", "note", lambda: audit({"text_config": LLAMA})),
    ("unknown-key", "warning", provoke_config(rope_thetha=1e6)),
    (
        "unknown-key",
        "warning",
        provoke_config(rope_scaling={**LLAMA3, "high_freq": 4.0}, max_position_embeddings=65536),
    ),
    ("unknown-key", "note", provoke_config(rope_is_great=1)),
    ("key-not-read", "warning", provoke_config(rotary_emb_base=1e6)),
    ("key-not-read", "error", provoke_config(rope_theta=None, rope_parameters={"full_attention": {"rope_theta": 5e5}})),
    ("scaling-in-code", "note", provoke_config(model_type="qwen", use_dynamic_ntk=True, seq_length=8192)),
    ("scaling-not-used", "warning", provoke_config(rope_scaling={"factor": 8.0})),
    ("older-name", "note", provoke_config(rope_scaling={**LONGROPE, "rope_type": "su"})),
    (
        "original-length-twice",
        "warning",
        provoke_config(rope_scaling=YARN, original_max_position_embeddings=4096, max_position_embeddings=32768),
    ),
    ("scaling-in-tensor", "note", provoke_gguf("llama", {"rope_freqs.weight": (1.0,) * 32 + (3.0,) * 32})),
    ("unknown-architecture", "warning", provoke_gguf("nobody-knows")),
    ("factor-by-width", "note", provoke_params(dim=2048, rope_theta=5e5, use_scaled_rope=True)),
    ("scaling-not-used", "warning", provoke_params(rope_theta=5e5, rope_scaling_factor=8.0)),
    (
        "rope-type-twice",
        "warning",
        provoke_config(rope_scaling={"type": "linear", "rope_type": "dynamic", "factor": 2.0}),
    ),
    ("base-defaulted", "warning", provoke_config(rope_theta=None, max_position_embeddings=131072)),
    ("base-defaulted", "note", provoke_config(rope_theta=None, max_position_embeddings=2048)),
    ("length-defaulted", "note", provoke_config(max_position_embeddings=None)),
    ("length-defaulted", "warning", provoke_config(max_position_embeddings=None, rope_scaling=LLAMA3)),
    ("keys-contradict", "error", provoke_config(rope_parameters={"rope_type": "default", "rope_theta": 1e4})),
    (
        "newer-keys-only",
        "note",
        provoke_config(rope_theta=None, rope_parameters={"rope_type": "default", "rope_theta": 5e5}),
    ),
    (
        "releases-differ",
        "note",
        provoke_config(rope_scaling=YARN, original_max_position_embeddings=4096, max_position_embeddings=32768),
    ),
    ("unknown-scaling", "error", provoke_config(rope_scaling={"rope_type": "magic", "factor": 2.0})),
    ("list-length", "error", lambda: audit(scale(**{**LONGROPE, "short_factor": [1.0] * 10}))),
    ("key-missing", "error", provoke_config(rope_scaling={"rope_type": "linear"})),
    ("refused", "error", provoke_config(head_dim=127)),
    ("scaling-order", "error", lambda: audit(scale(32768, **YARN, beta_fast=1, beta_slow=32))),
    (
        "scaling-order",
        "error",
        lambda: audit(scale(32768, **{**LLAMA3, "low_freq_factor": 4.0, "high_freq_factor": 1.0})),
    ),
    ("factor-below-one", "warning", provoke_config(rope_scaling={"rope_type": "linear", "factor": 0.5})),
    ("head-width", "error", provoke_config(num_key_value_heads=5)),
    ("head-width", "error", provoke_config(rope_scaling={"rope_type": "default", "mrope_section": [1, 2, 3]})),
    (
        "layer-type-missing",
        "warning",
        provoke_config(
            model_type="olmo3", rope_theta=None, layer_types=TWO_TYPES, sliding_window=128, rope_parameters=NESTED
        ),
    ),
    ("layer-type-missing", "error", provoke_config(model_type="olmo3", rope_parameters={"rope_type": "default"})),
    (
        "original-length-missing",
        "warning",
        provoke_config(rope_scaling={"rope_type": "yarn", "factor": 4.0}, max_position_embeddings=32768),
    ),
    ("factor-mismatch", "warning", lambda: audit(scale(65536, **YARN))),
    ("factor-mismatch", "note", lambda: audit(scale(16384, **YARN))),
    ("unseen-phases", "warning", lambda: audit(LLAMA, served=65536)),
    ("base-below-bound", "note", provoke_config(rope_theta=1e4)),
    ("base-too-small", "warning", provoke_config(rope_theta=1e4, max_position_embeddings=131072)),
    ("aliasing", "warning", provoke_config(rope_scaling={**LONGROPE, "short_factor": [0.1] * 64})),
    ("aliasing", "note", provoke_config(rope_theta=100.0)),
    ("attention-factor", "warning", lambda: audit(scale(32768, **YARN, attention_factor=2.0))),
    ("precision", "note", provoke_config(torch_dtype="bfloat16")),
    ("precision", "note", provoke_config(dtype="float16")),
    (
        "position-table-short",
        "error",
        lambda: audit({"model_type": "gpt2", "n_positions": 128, "n_embd": 64}, served=256),
    ),
]


@pytest.mark.parametrize(
    ("code", "level", "look"), PROVOKED, ids=[f"{code}-{level}-{i}" for i, (code, level, _) in enumerate(PROVOKED)]
)
def test_provoked(code, level, look):
    found = [finding for finding in look().findings if finding.code == code]
    assert [finding.level for finding in found[:1]] == [level]
    finding = found[0]
    assert "\n" not in finding.message
    assert 20 < len(finding.message) < 400
    assert finding.level in LEVELS
    json.dumps(dict(finding.data), default=list)


@pytest.mark.parametrize(
    ("config", "length"),
    [
        (LLAMA, 8192),
        (scale(32768, **YARN), 32768),
        (scale(65536, **YARN), 65536),
        # without an original length the factor stretches what the file states
        (scale(8192, rope_type="yarn", factor=2.5), 20480),
        (scale(8192, rope_type="linear", factor=4.0), 8192),
    ],
)
def test_audit_and_diff_serve_one_length(config, length):
    assert audit(config).layers[0].served_length == length
    assert find_length_served(read(config)) == length


@pytest.mark.parametrize(("dtype", "kind"), [("bfloat16", ml_dtypes.bfloat16), ("float16", np.float16)])
@pytest.mark.parametrize("length", [3000, 4000, 4098, 50000])
def test_precision_is_that_of_the_type(dtype, kind, length):
    (found,) = [
        one for one in audit({**LLAMA, "torch_dtype": dtype}, served=length).findings if one.code == "precision"
    ]
    below = np.arange(2.0**12).astype(kind).astype(float)
    assert found.data["merged_above"] == np.flatnonzero(np.diff(below) == 0)[0]
    # the fastest pair turns 1 rad: half the distance of the numbers around the last position
    assert found.data["phase_error"] == float(np.spacing(kind(length - 1))) / 2
    assert found.data["phase_error_float32"] == np.spacing(np.float32(length - 1)) / 2


def test_every_finding_is_provoked_and_explained():
    assert {code for code, _, _ in PROVOKED} == set(EXPLANATIONS)
    for explanation in EXPLANATIONS.values():
        assert explanation.reasoning.endswith(".")
        assert len(explanation.formula) > 10
        assert explanation.references


@pytest.mark.parametrize(("code", "level", "look"), PROVOKED, ids=[f"{i}" for i in range(len(PROVOKED))])
def test_every_code_that_is_made_is_explained(code, level, look):
    assert {finding.code for finding in look().findings} <= set(EXPLANATIONS), (code, level)


def test_every_grave_finding_has_a_phrase_for_the_first_line():
    assert {code for code, level, _ in PROVOKED if level != "note"} <= set(PHRASES) <= set(EXPLANATIONS)


def test_healthy_shapes_have_notes_at_most():
    for config in (LLAMA, scale(131072, **LLAMA3), scale(32768, **YARN)):
        assert {finding.level for finding in audit(config).findings} <= {"note"}, config


def test_a_finding_about_one_of_several_layer_types_names_it():
    found = audit({**load("gemma-3-1b-it.json"), "torch_dtype": "bfloat16"}).findings
    named = [finding for finding in found if "layer_type" in finding.data]
    assert named
    assert all(finding.message.startswith(f"{finding.data['layer_type']}: ") for finding in named)


def test_training_with_the_scaling_is_seen_where_the_caller_says_so():
    """A file of YaRN does not tell whether the model was trained at the longer context."""
    config = scale(65536, **YARN)
    assert audit(config).layers[0].unseen
    assert audit(config, trained=65536).layers[0].unseen == ()


def find_finding(config, code):
    return next((finding for finding in audit(config).findings if finding.code == code), None)


def test_a_key_of_another_class_that_changes_nothing_is_no_warning():
    nomic = {"model_type": "nomic_bert", "n_embd": 768, "n_head": 12, "n_positions": 2048}
    assert find_finding({**nomic, "rotary_emb_base": 1000}, "key-not-read") is None
    assert find_finding({**nomic, "rotary_emb_base": 10000}, "key-not-read").level == "warning"


def test_a_base_that_is_not_read_is_said_once():
    config = {"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "max_seq_len": 32768}
    found = find_finding({**config, "attn_config": {"rope_theta": 500000}}, "key-not-read")
    assert "attn_config.rope_theta 500000 is not read" in found.message
    assert find_finding({**config, "attn_config": {"rope_theta": 500000}}, "base-defaulted") is None
    assert find_finding(config, "base-defaulted").level == "warning"


@pytest.mark.parametrize(
    ("block", "level"),
    [({"rope_type": "linear", "factor": 8.0}, "note"), ({"rope_type": "dynamic", "factor": 8.0}, "warning")],
)
def test_a_base_is_defaulted_for_the_length_before_scaling(block, level):
    config = change(rope_theta=None, max_position_embeddings=32768, rope_scaling=block)
    assert find_finding(config, "base-defaulted").level == level


def test_a_base_that_was_trained_with_and_left_out_is_a_note():
    config = {"model_type": "minicpm3", "hidden_size": 2560, "num_attention_heads": 40, "qk_rope_head_dim": 32}
    assert find_finding({**config, "max_position_embeddings": 32768}, "base-defaulted").level == "note"


def test_a_missing_base_is_named_as_the_format_has_it():
    (found,) = [one for one in provoke_bare_gguf().findings if one.code == "base-defaulted"]
    assert found.message.endswith("state llama.rope.freq_base")
    neox = {"model_type": "gpt_neox", "hidden_size": 64, "num_attention_heads": 1}
    assert find_finding(neox, "base-defaulted").message.endswith("state rotary_emb_base")


def provoke_bare_gguf():
    keys = {"general.architecture": "llama", "llama.embedding_length": 64, "llama.attention.head_count": 1}
    return audit_configuration(read_gguf_configuration(keys, {}, "model.gguf", {}))


def test_a_contradiction_names_what_is_used_and_what_is_stale():
    config = change(rope_theta=1e4, rope_parameters={"rope_type": "default", "rope_theta": 5e5})
    found = find_finding(config, "keys-contradict")
    assert "transformers 5 takes base 500000 with no scaling, transformers 4 takes base 10000" in found.message
    assert found.message.endswith("delete the stale rope_theta outside of rope_parameters")
    config = scale(**YARN) | {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}
    found = find_finding(config, "keys-contradict")
    assert "transformers 5 and 4 take base 500000 with yarn scaling of factor 4" in found.message
    assert found.message.endswith("delete the stale rope_parameters")


def test_releases_are_told_apart_by_what_they_read():
    config = change(rope_scaling=YARN, original_max_position_embeddings=4096, max_position_embeddings=32768)
    assert "original length 8192, not 4096" in find_finding(config, "releases-differ").message
    config = scale(**YARN, rope_theta=1e4)
    assert "base 500000, not 10000" in find_finding(config, "releases-differ").message


def test_values_that_give_no_rotation_are_named_as_the_file_has_them():
    assert "head_dim is odd (127)" in find_finding(change(head_dim=127), "refused").message
    config = change(model_type="phi", partial_rotary_factor=2.0)
    assert "partial_rotary_factor is out of range (2.0)" in find_finding(config, "refused").message
    config = {"model_type": "gpt_neox", "hidden_size": 64, "num_attention_heads": 1, "rotary_pct": 2.0}
    assert "rotary_pct is out of range (2.0)" in find_finding(config, "refused").message


def test_keys_that_transformers_saves_are_known():
    block = {**YARN, "rope_theta": 5e5, "max_position_embeddings": 32768}
    assert (
        find_finding(change(rope_theta=None, max_position_embeddings=32768, rope_parameters=block), "unknown-key")
        is None
    )


# ----------------------------------------------------------------------------------- damage

#: Values that a damaged or misunderstood file may have in any place.
STRANGE = (
    0,
    1,
    2,
    7,
    -1,
    1e300,
    1e-300,
    0.5,
    True,
    None,
    "",
    "yarn",
    "longrope",
    [],
    [1.0] * 64,
    {},
    {"a": 1},
    1 << 50,
)


def list_places(value):
    """Every place in an object that holds something: its container and its key."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, member in members for place in ((value, key), *list_places(member))]


@pytest.mark.slow
def test_changed_files_are_answered_or_refused_in_one_line():
    choose = random.Random(20_090)
    configs = [
        path.read_text(encoding="utf-8") for path in sorted(MODELS.rglob("*.json")) if "EXPECTED" not in path.name
    ]
    keys = sorted({key for text in configs for _, key in list_places(json.loads(text)) if isinstance(key, str)})
    answered, refused = 0, []
    for _ in range(1500):
        config = json.loads(choose.choice(configs))
        container, key = choose.choice(list_places(config))
        if isinstance(container, dict) and choose.random() < 0.4:
            key = choose.choice(keys)
        container[key] = json.loads(json.dumps(choose.choice(STRANGE)))
        try:
            found = audit(config, served=choose.choice([None, 1, 4096, 1 << 30]))
        except FileError as error:
            refused.append(str(error))
            continue
        answered += 1
        for layer in found.layers:
            assert np.all(np.isfinite(layer.frequencies))
            assert np.all(layer.frequencies >= 0)
        assert {finding.code for finding in found.findings} <= set(EXPLANATIONS)
    assert answered > 500
    assert not any("\n" in text for text in refused)


def test_the_list_of_phimoe_does_not_change_with_the_length():
    # its class in transformers 5 does not hand the length on; that of 4 does, and so does Phi-3's in both
    shape = {"max_position_embeddings": 131072, "original_max_position_embeddings": 4096, "rope_scaling": LONGROPE}
    for model, five in (("phimoe", 1.0), ("phi3", 0.5)):
        stated = read_configuration(change(model_type=model, **shape), "config.json")
        for stack, first in (("transformers-5", five), ("transformers-4", 0.5)):
            found = STACKS[stack].read(stated, stated.layers[0], 131072)
            assert found.frequencies[0] == first, (model, stack)


@pytest.mark.parametrize(("lags", "code"), [(64, "base-below-bound"), (65, "base-too-small")])
def test_a_base_is_too_small_beyond_64_times_the_first_negative_lag(lags, code):
    length = 1707 * lags  # base 10000 with 64 pairs: Men et al.'s bound, computed exactly
    found = audit(change(rope_theta=10000.0, max_position_embeddings=length))
    assert [one.code for one in found.findings if one.code.startswith("base-")] == [code]


def test_a_width_that_the_heads_do_not_divide_is_refused():
    config = change(hidden_size=100, num_attention_heads=3, num_key_value_heads=None, head_dim=None)
    with pytest.raises(FileError, match="a multiple of the 3 heads, or head_dim, is accepted"):
        read(config)


def test_a_model_of_alibi_that_says_no_is_asked_for_its_rotation():
    assert read(change(model_type="mpt")).scheme == "alibi"
    assert read(change(model_type="mpt", attn_config={"alibi": False})).scheme == "rotary"
    assert read(change(model_type="mpt", alibi=False)).scheme == "rotary"


@pytest.mark.parametrize("rope", [True, False])
def test_a_switch_within_attn_config_asks_for_rotation(rope):
    config = {"d_model": 64, "n_heads": 4, "attn_config": {"rope": rope, "rope_theta": 5e5, "alibi": False}}
    if rope:
        statement = read(config)
        assert (statement.scheme, statement.layers[0].block.base) == ("rotary", 5e5)
    else:
        with pytest.raises(FileError, match="names no positional encoding"):
            read(config)


def test_absolute_positions_of_an_unknown_model_are_learned():
    config = {"hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 128}
    assert read({**config, "position_embedding_type": "absolute"}).scheme == "learned"
