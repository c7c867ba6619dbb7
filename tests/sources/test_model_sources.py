"""The encoding that a configuration of a model asks for."""

import json

import numpy as np
import pytest

from pe_spectra.encodings.rope_scaling import scale_llama3
from pe_spectra.errors import FileError, InputError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.scheme import read_scheme
from pe_spectra.models.stacks.llama_cpp import turn_gguf_layer
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from pe_spectra.models.stated.meta_release import read_params
from tests.sources.specs import build, build_one

#: A model of hidden size 64 with 4 heads: heads of width 16.
BASE = {"hidden_size": 64, "num_attention_heads": 4}


def configure(folder, **keys):
    (folder / "c.json").write_text(json.dumps(keys), encoding="utf-8")
    return build_one("c.json")


# ----------------------------------------------------------------------------------- keys of files


def save_model(folder, config, **tensors):
    from safetensors.numpy import save_file

    (folder / "m").mkdir(exist_ok=True)
    save_file({name: np.ones((9, 4), np.float32) for name in tensors.values()}, folder / "m" / "model.safetensors")
    (folder / "m" / "config.json").write_text(json.dumps(config), encoding="utf-8")


@pytest.mark.parametrize("name", ["model.embed_tokens.weight", "ln"])
def test_a_configuration_goes_before_a_table_of_no_known_name(folder, name):
    save_model(folder, {**BASE, "rope_theta": 5e5}, only=name)
    assert (build_one("m/").name, build_one("m/").d) == ("rope", 16)
    assert build_one(f"m/::{name}").rows == 9
    save_model(folder, {**BASE, "rope_theta": 5e5}, first=name, second="wpe.weight")
    assert build_one("m/").rows == 9


def test_a_table_of_words_beside_a_configuration_that_names_nothing(folder):
    save_model(folder, {**BASE, "model_type": "gpt2"}, only="ln")
    assert build_one("m/").rows == 9
    save_model(folder, {**BASE, "model_type": "gpt2"}, only="wte.weight")
    with pytest.raises(FileError, match="names no positional encoding"):
        build("m/")
    with pytest.raises(FileError, match=r"tables of words and none of positions: wte\.weight"):
        build("m/model.safetensors")
    (folder / "m" / "x.safetensors.index.json").write_text(
        json.dumps({"weight_map": {"wte.weight": "model.safetensors"}}), encoding="utf-8"
    )
    with pytest.raises(FileError, match=r"tables of words and none of positions: wte\.weight"):
        build("m/x.safetensors.index.json")


# ----------------------------------------------------------------------------------- configurations


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LONG = {"type": "longrope", "short_factor": [1.0] * 8, "long_factor": [2.0] * 8}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({**BASE, "rope_theta": 5e5}, {"d": 16, "base": 5e5}),
        ({**BASE, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}, {"d": 16, "base": 1e6}),
        ({**BASE, "head_dim": 32, "rope_theta": 1e4}, {"d": 32, "base": 1e4}),
        ({**BASE, "rope_scaling": None, "model_type": "llama"}, {"d": 16, "base": 1e4}),
        ({**BASE, "model_type": "llama"}, {"d": 16, "base": 1e4}),
        ({"hidden_size": 64, "n_head": 4, "model_type": "falcon", "alibi": False}, {"d": 16, "base": 1e4}),
        ({**BASE, "rotary_pct": 0.25, "rotary_emb_base": 10000}, {"d": 16, "base": 1e4, "share": 0.25}),
        ({**BASE, "partial_rotary_factor": 0.5, "rope_theta": 1e4}, {"d": 16, "base": 1e4, "share": 0.5}),
        ({"n_embd": 64, "n_head": 4, "rotary_dim": 8}, {"d": 16, "base": 1e4, "share": 0.5}),
        (
            {**BASE, "rope_theta": 1e4, "rope_scaling": {"type": "linear", "factor": 8.0}},
            {"d": 16, "base": 1e4, "scaling": "linear", "factor": 8.0},
        ),
        (
            {**BASE, "rope_theta": 1e4, "max_position_embeddings": 2048,
             "rope_scaling": {"type": "dynamic", "factor": 2.0}},
            {"d": 16, "base": 1e4, "scaling": "dynamic", "factor": 2.0, "original": 2048, "served": 2048},
        ),
        (
            {**BASE, "rope_parameters": {**YARN, "rope_theta": 1e6, "truncate": False}},
            {"d": 16, "base": 1e6, "scaling": "yarn", "factor": 4.0, "original": 1024, "truncate": "no"},
        ),
        (
            {**BASE, "rope_theta": 5e5, "rope_scaling": {**LLAMA3, "original_max_position_embeddings": 8192}},
            {"d": 16, "base": 5e5, "scaling": "llama3", "factor": 8.0, "original": 8192, "low_freq_factor": 1.0,
             "high_freq_factor": 4.0},
        ),
        (
            {**BASE, "rope_theta": 1e4, "max_position_embeddings": 131072, "original_max_position_embeddings": 4096,
             "rope_scaling": LONG},
            {"d": 16, "base": 1e4, "scaling": "longrope", "original": 4096, "served": 131072, "factor": 32.0,
             "short_factor": (1.0,) * 8, "long_factor": (2.0,) * 8},
        ),
        (
            {**BASE, "rope_theta": 1e6, "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]}},
            {"d": 16, "base": 1e6},
        ),
        (
            {"model_type": "gemma3", "hidden_size": 5, "text_config": {**BASE, "head_dim": 32, "rope_theta": 1e6}},
            {"d": 32, "base": 1e6},
        ),
    ],
)  # fmt: skip
def test_rotary_configurations(folder, config, expected):
    scheme = read_scheme(config, "c.json")
    assert (scheme.name, scheme.values) == ("rope", expected)
    encoding = configure(folder, **config)
    for name, value in expected.items():
        assert encoding.parameters[name] == (list(value) if isinstance(value, tuple) else value)


@pytest.mark.parametrize(
    "config",
    [
        {**BASE, "model_type": "bert", "rope_scaling": None},
        {"n_embd": 64, "n_head": 4, "model_type": "gpt2", "rope_parameters": None},
        {**BASE, "model_type": "bert", "rope_theta": None, "rotary_dim": None, "partial_rotary_factor": None},
        {**BASE, "model_type": "bert", "relative_attention_num_buckets": None},
    ],
)
def test_a_key_that_is_null_is_not_there(config):
    with pytest.raises(FileError, match="names no positional encoding"):
        read_scheme(config, "c.json")


def test_null_beside_other_keys_is_not_set():
    keys = {"rotary_dim": None, "head_dim": None, "rope_parameters": {"rope_type": None, "rope_theta": 1e6}}
    assert read_scheme({**BASE, **keys}, "c.json").values == {"d": 16, "base": 1e6}
    t5 = {**BASE, "relative_attention_num_buckets": 16, "relative_attention_max_distance": None}
    assert read_scheme(t5, "c.json").values == {"buckets": 16, "max_distance": 128, "heads": 4}


@pytest.mark.parametrize("keys", [{"mscale_all_dim": 0.0}, {"mscale": 0, "mscale_all_dim": 1.0}])
def test_a_scale_of_yarn_that_is_zero_is_not_set(folder, keys):
    # transformers takes 0.1 ln s + 1 unless both are set and not 0
    encoding = configure(folder, **BASE, rope_theta=1e4, rope_scaling={**YARN, **keys})
    assert encoding.frequencies().amplitude == pytest.approx(0.1 * np.log(4) + 1, rel=1e-15)
    for value in (False, -1.0):
        with pytest.raises(FileError, match="mscale cannot be used"):
            configure(folder, **BASE, rope_theta=1e4, rope_scaling={**YARN, "mscale": value})


def test_the_part_that_is_turned_has_its_own_width():
    # a head of 192 channels of which 64 are turned, all of them
    keys = {"head_dim": 192, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "partial_rotary_factor": 1 / 3}
    assert read_scheme({**BASE, **keys, "rope_theta": 1e4}, "c.json").values == {"d": 64, "base": 1e4}


@pytest.mark.parametrize(
    ("kind", "keys", "layout"),
    [
        *((kind, {}, "interleaved") for kind in ("gptj", "codegen", "cohere", "cohere2", "glm", "glm4", "helium")),
        *((kind, {}, "interleaved") for kind in ("ernie4_5", "llama4_text", "deepseek_v2", "deepseek_v3")),
        *((kind, {}, "half") for kind in ("llama", "gpt_neox", "qwen2", "glm4_moe")),
        ("deepseek_v3", {"rope_interleave": False}, "half"),
        ("deepseek_v3", {"rope_interleave": None}, "interleaved"),
        ("new", {"rope_interleave": True}, "interleaved"),
    ],
)
def test_pairs_are_those_of_the_model(folder, kind, keys, layout):
    config = {**BASE, **keys, "rope_theta": 1e4, "rotary_dim": 8, "model_type": kind}
    assert configure(folder, **config).parameters["layout"] == layout


def test_pairs_of_the_part_that_has_text():
    config = {"model_type": "aya_vision", "text_config": {**BASE, "rope_theta": 1e4, "model_type": "cohere2"}}
    assert read_scheme(config, "c.json").values["layout"] == "interleaved"
    with pytest.raises(FileError, match="rope_interleave cannot be used"):
        read_scheme({**BASE, "rope_theta": 1e4, "rope_interleave": "yes"}, "c.json")


def test_the_original_length_of_llama3_is_not_the_longest():
    # transformers 5 takes the longest where none is given, and says so only in a log
    config = {**BASE, "rope_theta": 5e5, "max_position_embeddings": 131072, "rope_scaling": LLAMA3}
    scheme = read_scheme(config, "c.json")
    assert scheme.values["original"] == 131072
    assert "original_max_position_embeddings is not set" in scheme.notes[0]
    assert read_scheme({**config, "original_max_position_embeddings": 4096}, "c.json").values["original"] == 4096


def test_a_missing_factor_of_yarn_is_a_ratio_of_lengths():
    yarn = {"rope_type": "yarn", "factor": None, "original_max_position_embeddings": 1024}
    config = {**BASE, "rope_theta": 1e4, "rope_scaling": yarn}
    scheme = read_scheme({**config, "max_position_embeddings": 4096}, "c.json")
    assert (scheme.values["factor"], scheme.values["original"]) == (4.0, 1024)
    ratio = "max_position_embeddings / original_max_position_embeddings"
    assert scheme.notes[0].startswith(f"factor is null, so {ratio} = 4 is taken")
    del yarn["factor"]
    with pytest.raises(FileError, match="factor is not set"):
        read_scheme({**config, "max_position_embeddings": 4096}, "c.json")


def test_both_generations_of_keys_are_one(folder):
    old = configure(folder, **BASE, rope_theta=1e6, rope_scaling=YARN)
    assert configure(folder, **BASE, rope_parameters={**YARN, "rope_theta": 1e6}) == old


def test_layers_of_several_types_are_named():
    kinds = {"full_attention": {"rope_type": "default", "rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}
    scheme = read_scheme({**BASE, "rope_parameters": kinds}, "c.json")
    assert scheme.values["base"] == 1e6
    assert scheme.notes == ("the parameters of full_attention layers are used; others: sliding_attention",)


@pytest.mark.parametrize(
    ("config", "name", "expected"),
    [
        ({"hidden_size": 64, "n_head": 4, "model_type": "bloom"}, "alibi", {"heads": 4}),
        ({"d_model": 64, "n_heads": 4, "attn_config": {"alibi": True}}, "alibi", {"heads": 4}),
        ({"d_model": 64, "n_heads": 4, "model_type": "mpt"}, "alibi", {"heads": 4}),
        ({"hidden_size": 64, "n_head": 4, "model_type": "falcon", "alibi": True}, "alibi", {"heads": 4}),
        ({**BASE, "position_embedding_type": "alibi"}, "alibi", {"heads": 4}),
        (
            {"d_model": 64, "num_heads": 4, "relative_attention_num_buckets": 16}, "t5",
            {"buckets": 16, "max_distance": 128, "heads": 4},
        ),
        (
            {"d_model": 64, "num_heads": 4, "relative_attention_num_buckets": 32,
             "relative_attention_max_distance": 256},
            "t5",
            {"buckets": 32, "max_distance": 256, "heads": 4},
        ),
    ],
)  # fmt: skip
def test_biases_of_configurations(folder, config, name, expected):
    scheme = read_scheme(config, "c.json")
    assert (scheme.name, scheme.values) == (name, expected)
    assert configure(folder, **config).name == name


@pytest.mark.parametrize(
    ("config", "match"),
    [
        ({**BASE}, "names no positional encoding"),
        ({}, "names no positional encoding"),
        ({"d_model": 64, "n_heads": 4, "model_type": "mpt", "attn_config": {"alibi": False}}, "names no positional"),
        ({**BASE, "rope_theta": True}, "rope_theta cannot be used"),
        ({**BASE, "rope_theta": 0}, "rope_theta cannot be used"),
        ({**BASE, "rope_theta": "1e4"}, "rope_theta cannot be used"),
        ({**BASE, "hidden_size": 65, "rope_theta": 1e4}, "multiple of the 4 heads"),
        ({**BASE, "hidden_size": 60, "rope_theta": 1e4}, "num_attention_heads is odd"),
        ({**BASE, "hidden_size": -64, "rope_theta": 1e4}, "hidden_size cannot be used"),
        ({"rope_theta": 1e4}, "lacks a key"),
        ({"hidden_size": 64, "rope_theta": 1e4}, "lacks a key"),
        ({**BASE, "rope_theta": 1e4, "rope_scaling": "yarn"}, "rope_scaling cannot be used"),
        ({**BASE, "rope_theta": 1e4, "rope_scaling": {"rope_type": "x"}}, "rope_type is not known"),
        ({**BASE, "rope_theta": 1e4, "rope_scaling": {"rope_type": "linear"}}, "factor is not set"),
        ({**BASE, "rope_theta": 1e4, "rope_scaling": {"type": "linear", "factor": -1}}, "factor cannot be used"),
        ({**BASE, "rope_theta": 1e4, "partial_rotary_factor": 3.0}, "partial_rotary_factor is out of range"),
        (
            {**BASE, "rope_theta": 1e4, "rope_scaling": {**LLAMA3, "original_max_position_embeddings": 8192.5}},
            "original_max_position_embeddings cannot be used",
        ),
        ({**BASE, "rope_theta": 1e4, "rope_scaling": {**LONG, "short_factor": "x"}}, "short_factor cannot be used"),
        ({**BASE, "rope_theta": 1e4, "rope_scaling": {**LONG, "short_factor": [True]}}, "short_factor cannot be used"),
    ],
)
def test_configurations_that_cannot_be_used(folder, config, match):
    with pytest.raises(FileError, match=match) as caught:
        configure(folder, **config)
    assert str(caught.value).startswith("c.json: ")


def test_options_beside_a_configuration(folder):
    configure(folder, **BASE, rope_theta=5e5)
    assert build_one("c.json", d="16").parameters["base"] == 5e5
    with pytest.raises(InputError, match=r"--d contradicts c\.json") as caught:
        build("c.json", d="32")
    assert "32" in str(caught.value)
    with pytest.raises(InputError, match="--rho has no meaning for rope"):
        build("c.json", rho="5")
    assert len(build("c.json", "sinusoidal", rho="5", d="16")) == 2
    for spec, given in (("c.json?prefix=1", {}), ("c.json", {"rows": "0:3"})):
        with pytest.raises(InputError, match="has no rows"):
            build(spec, **given)
    configure(folder, hidden_size=64, n_head=4, model_type="bloom")
    with pytest.raises(InputError, match="--d has no meaning for alibi"):
        build("c.json", d="5")


def test_the_command_line_names_the_option_and_its_value(folder, refuse):
    (folder / "good.json").write_text(json.dumps({**BASE, "rope_theta": 5e5}), encoding="utf-8")
    line = refuse("spectrum -e good.json --d 32 --no-figure")
    assert "--d" in line
    assert "32" in line


# ----------------------------------------------------------------------------------- files of other makers


def make_gguf(**changes):
    keys = {
        "general.architecture": "llama",
        "llama.context_length": 131072,
        "llama.embedding_length": 4096,
        "llama.attention.head_count": 32,
        "llama.rope.freq_base": 500000.0,
        **changes,
    }
    plain = 500000.0 ** (-np.arange(64) / 64)
    scaled = [float(theta) for theta in scale_llama3(500000.0, 128).frequencies]
    return keys, {"rope_freqs.weight": tuple((plain / scaled).astype(np.float32).astype(float).tolist())}


def test_a_scaling_that_is_recognised_in_a_tensor_has_a_spectrum():
    keys, tensors = make_gguf()
    configuration = read_gguf_configuration(keys, tensors, "m.gguf")
    (layer,) = audit_configuration(configuration).layers
    assert layer.rotation.scaling == "llama3"
    assert layer.spectrum is not None
    assert layer.low_bin.inside == layer.never_turn == 25
    exact = layer.encoding.frequencies().values
    assert not np.array_equal(layer.frequencies, exact)  # the answer is what the file's numbers give
    np.testing.assert_allclose(layer.frequencies, exact, rtol=2e-6)


def test_divisors_that_are_no_scaling_have_a_spectrum_too():
    keys, _ = make_gguf()
    configuration = read_gguf_configuration(keys, {"rope_freqs.weight": tuple(1 + i / 8 for i in range(64))}, "m.gguf")
    (layer,) = audit_configuration(configuration).layers
    assert layer.encoding is not None
    np.testing.assert_allclose(layer.encoding.frequencies().values, layer.frequencies, rtol=1e-12)


def test_a_part_of_a_head_in_a_gguf_file_is_an_encoding():
    keys = {"general.architecture": "phi2", "phi2.context_length": 2048, "phi2.embedding_length": 2560}
    keys |= {"phi2.attention.head_count": 32, "phi2.rope.dimension_count": 32}
    configuration = read_gguf_configuration(keys, {}, "m.gguf")
    rope = turn_gguf_layer(configuration, configuration.layers[0]).rope
    assert (rope.d, rope.rotary_width) == (80, 32)


def test_no_sentence_speaks_of_a_factor_that_the_file_does_not_state():
    params = {"dim": 2048, "n_heads": 32, "rope_theta": 5e5, "use_scaled_rope": True}
    found = audit_configuration(read_params(params, "params.json"), trained=131072)
    (layer,) = found.layers
    assert layer.rotation.options["factor"] == 8
    assert layer.rotation.notes == ("the factor is 8 in the code, whatever the width of the model",)
