"""The params.json of Meta's releases."""

import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.stated.meta_release import read_params

pytestmark = pytest.mark.usefixtures("no_cache")
PARAMS = {"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "rope_theta": 500000.0, "use_scaled_rope": True}


# ----------------------------------------------------------------------------------- params.json


def test_llama_3_1():
    found = read_params(PARAMS, "params.json")
    assert (found.format, found.model, found.scheme, found.length, found.findings) == (
        *("params.json", "llama", "rotary", None),
        (),
    )
    (layer,) = found.layers
    assert (layer.name, layer.head_dim, layer.layout, layer.older.kind) == ("all", 128, "interleaved", "llama3")
    assert dict(layer.older.values) == {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192.0,
    }
    assert (layer.older.base, layer.older.base_key) == (500000.0, "rope_theta")


def test_llama_2_states_no_base():
    params = {"dim": 4096, "multiple_of": 256, "n_heads": 32, "n_layers": 32, "norm_eps": 1e-05, "vocab_size": -1}
    (layer,) = read_params(params, "params.json").layers
    assert (layer.older.base, layer.default_base, layer.older.kind) == (None, 10000.0, "default")


def test_llama_3_2_scales_by_32():
    """Its file does not say so, and Meta's code has 8; the configuration of transformers says 32."""
    params = {**PARAMS, "dim": 2048, "n_layers": 16, "ffn_dim_multiplier": 1.5}
    found = read_params(params, "params.json")
    assert found.layers[0].older.values["factor"] == 32
    assert [(one.level, one.code) for one in found.findings] == [("note", "factor-by-width")]
    found = read_params({**params, "rope_scaling_factor": 8}, "params.json")
    assert (found.layers[0].older.values["factor"], found.findings) == (8.0, ())


def test_llama_4():
    params = {
        "dim": 5120, "n_layers": 48, "n_heads": 40, "n_kv_heads": 8, "rope_theta": 500000.0, "use_scaled_rope": True,
        "use_qk_norm": True, "nope_layer_interval": 4, "attention_chunk_size": 8192, "moe_args": {"num_experts": 16},
    }  # fmt: skip
    found = read_params(params, "params.json")
    chunked, still = found.layers
    assert (found.model, chunked.name, chunked.window, chunked.turns) == ("llama4", "chunked_attention", 8192, True)
    assert (chunked.older.values["factor"], chunked.older.values["high_freq_factor"]) == (16.0, 1.0)
    assert (still.name, still.turns, still.window) == ("nope", False, None)
    found = read_params({**params, "use_scaled_rope": False}, "params.json")
    assert found.layers[0].older.kind == "default"


def test_a_factor_without_the_key_that_uses_it():
    params = {**PARAMS, "use_scaled_rope": None, "rope_scaling_factor": 8}
    found = read_params(params, "params.json")
    assert found.layers[0].older.kind == "default"
    assert [(one.level, one.code) for one in found.findings] == [("warning", "scaling-not-used")]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dim": "4096"}, "params.json: dim cannot be used ('4096'); an integer from 1"),
        ({"dim": True}, "dim cannot be used (True)"),
        ({"dim": 4096.0}, "dim cannot be used (4096.0)"),
        ({"dim": 4097}, "dim cannot be used (4097); a multiple of the 32 heads"),
        ({"dim": None}, "lacks a key; looked for dim"),
        ({"n_heads": 0}, "n_heads cannot be used (0)"),
        ({"rope_theta": "5e5"}, "rope_theta cannot be used ('5e5')"),
        ({"rope_theta": -1}, "rope_theta cannot be used (-1)"),
        ({"use_scaled_rope": 1}, "use_scaled_rope cannot be used (1); true or false"),
        ({"rope_scaling_factor": [8]}, "rope_scaling_factor cannot be used ([8])"),
        ({"yarn": {"factor": 4}}, "yarn cannot be used ({'factor': 4}); no release of Meta's has it"),
    ],
)
def test_refuses_keys_in_one_line(changes, words):
    with pytest.raises(FileError) as caught:
        read_params({**PARAMS, **changes}, "params.json")
    assert words in str(caught.value)


# ----------------------------------------------------------------------------------- what the files of models state


def test_meta_may_state_the_width_of_a_head():
    params = {"dim": 4096, "n_heads": 32}
    assert [read_params({**params, **more}, "params.json").layers[0].head_dim for more in ({}, {"head_dim": 96})] == [
        128,
        96,
    ]
