"""Keys on top of a model of several parts: read where its class passes them on, else reported and not read."""

import pytest

from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.keys import KEY_NOT_READ
from pe_spectra.models.stated.loading import VALUE_REFUSED

THETA = {"rope_theta": 5e5}
LINEAR = {"rope_scaling": {"type": "linear", "factor": 2.0}}
MROPE = {"rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}}
#: A part whose layers slide where two keys say so together, and these.
QWEN2 = {"text_config": {"model_type": "qwen2", "num_hidden_layers": 8}}
SWITCHED = {"use_sliding_window": True, "max_window_layers": 4}


def read(model, **keys):
    """What is read of a file, and which keys are reported as not read, with the level of each."""
    found = read_configuration({"model_type": model} | keys, "config.json")
    unread = {one.data["key"]: one.level for one in found.findings if one.code == KEY_NOT_READ.code}
    return found, unread


@pytest.mark.parametrize(
    ("model", "keys", "unread"),
    [
        ("llava", THETA, {"rope_theta": "error"}),
        ("llava", LINEAR, {"rope_scaling": "error"}),
        ("llava", {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}, {"rope_parameters": "error"}),
        ("llava", {"head_dim": 64}, {"head_dim": "error"}),
        ("glm4v", {"partial_rotary_factor": 0.25}, {"partial_rotary_factor": "error"}),
        ("llava", {"rope_thetha": 5e5}, {"rope_thetha": "warning"}),
        ("llava", {"hidden_size": 8192, "num_attention_heads": 32}, {"hidden_size": "error"}),
        ("gemma3", {"sliding_window": 512}, {"sliding_window": "error"}),
        ("gemma3", {"rope_theta": 1e4}, {"rope_theta": "error"}),
        (
            "qwen3_vl",
            {"rope_scaling": {"rope_type": "default", "mrope_section": [20, 22, 22]}},
            {"rope_scaling": "error"},
        ),
        ("llava", {"rope_theta": "x"}, {"rope_theta": "warning"}),
        ("llava", {"rope_theta": {"a": 1}}, {"rope_theta": "warning"}),
        ("llava", {"max_position_embeddings": 4096}, {"max_position_embeddings": "warning"}),
        ("qwen2_vl", THETA | {"head_dim": 64}, {"head_dim": "error"}),
        ("clip", THETA | {"max_position_embeddings": 512}, {"max_position_embeddings": "warning"}),
        ("qwen2_5_omni", {"thinker_config": THETA}, {"thinker_config.rope_theta": "error"}),
        ("llava", QWEN2 | THETA | SWITCHED, {"rope_theta": "error", "use_sliding_window": "error"}),
        ("llava", QWEN2 | {"max_window_layers": 4}, {}),
    ],
)
def test_what_is_not_passed_on_is_reported(model, keys, unread):
    found, said = read(model, **keys)
    assert said == unread
    assert all(layer.block.base != 5e5 for layer in found.layers) or model == "qwen2_vl"


@pytest.mark.parametrize(
    ("model", "keys"),
    [
        ("llava", {"rope_theta": 10000.0, "max_position_embeddings": 2048, "head_dim": 128}),
        ("llava", {"rope_scaling": {"rope_type": "default"}, "rope_parameters": {}, "hidden_size": 4096}),
        ("llava", {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}),
        ("llava", {"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}}),
        ("llava", THETA | {"text_config": THETA}),
        ("qwen2_vl", THETA),
        ("qwen2_vl", MROPE | {"text_config": {"rope_scaling": MROPE["rope_scaling"] | {"type": "default"}}}),
        ("clip", {"max_position_embeddings": 77}),
        ("gemma3", {"rope_local_base_freq": 1e4}),
        ("blip-2", {"position_embedding_type": "absolute"}),
        ("llava", {"rotary_dim": 128, "alibi": False, "partial_rotary_factor": 0.5}),
        ("musicflamingo", {"rope_parameters": {"rope_type": "default", "rope_theta": 1200.0}}),
    ],
)
def test_nothing_is_said_where_the_part_has_the_same_or_the_key_is_the_wholes(model, keys):
    assert read(model, **keys)[1] == {}


def test_a_key_that_the_part_states_otherwise_is_a_warning():
    found, said = read("llava", **LINEAR, text_config={"rope_scaling": {"type": "linear", "factor": 4.0}})
    assert (said, found.layers[0].block.find("factor")) == ({"rope_scaling": "warning"}, 4.0)


def test_the_message_names_the_place_where_the_key_belongs():
    found, _ = read("qwen3_omni_moe", thinker_config=THETA)
    (message,) = (one.message for one in found.findings if one.code == KEY_NOT_READ.code)
    assert message == (
        "thinker_config.rope_theta is not passed on to thinker_config.text_config by the class of "
        "qwen3_omni_moe_thinker in transformers 5, and changes nothing there; move it into thinker_config.text_config"
    )


def test_keys_that_count_only_together_are_reported_together():
    found, _ = read("llava", **QWEN2, **SWITCHED)
    (message,) = [one.message for one in found.findings if one.code == KEY_NOT_READ.code]
    assert message.startswith("use_sliding_window and max_window_layers are not passed on to text_config by")
    assert message.endswith(", and change nothing there; move them into text_config")


@pytest.mark.parametrize("kind", ["yarn", "llama3", "longrope", "linear"])
@pytest.mark.parametrize("text", [{}, {"text_config": {"rope_theta": 1e6}}])
def test_a_scaling_that_a_class_refuses_on_top_is_an_error(kind, text):
    """Most classes look for a length beside a block of yarn, llama3 or longrope, and have none."""
    block = {"rope_type": kind, "factor": 4.0, "original_max_position_embeddings": 2048}
    found, said = read("llava", rope_scaling=block, **text)
    refused = [one.data["key"] for one in found.findings if one.code == VALUE_REFUSED.code]
    assert (refused, said) == (([], {"rope_scaling": "error"}) if kind == "linear" else (["rope_scaling"], {}))


def test_a_window_that_counts_beside_its_switch_is_passed_on():
    keys = {"sliding_window": 512, "use_sliding_window": True, "max_window_layers": 0}
    found, said = read("qwen2_vl", **keys)
    assert (found.layers[0].window, said) == (512, {})


def test_a_width_on_top_that_is_not_passed_on_leaves_out_no_part():
    found, _ = read("llava", hidden_size=1024)
    assert [one.part for one in found.parts] == ["vision_config"]


def test_an_older_release_passes_on_more():
    keys = {"model_type": "glm4v"} | THETA
    newest, older = (read_configuration(keys, "config.json", release) for release in ("5.24.0", "4.57.6"))
    assert [found.layers[0].block.base for found in (newest, older)] == [None, 5e5]
