"""Numbers that their key cannot have: layers that depend on one have no rotation, and of others it is said."""

import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.scheme import read_scheme
from pe_spectra.models.stacks import Refusal
from pe_spectra.models.stated.configuration import read_configuration
from tests.models.configurations import LLAMA, YARN, audit, change, read, refuse, scale, turn

SOUND = {"rope_type": "default", "rope_theta": 1e4}
BROKEN = {"rope_type": "linear", "rope_theta": 1e6, "factor": 0}


def find(keys, code):
    return [one for one in audit(keys).findings if one.code == code]


@pytest.mark.parametrize(
    "changes",
    [
        {"max_position_embeddings": -8},
        {"max_position_embeddings": 6.5},
        {"num_hidden_layers": 0},
        {"num_key_value_heads": -8},
    ],
)
def test_what_depends_on_no_such_number_is_read_without_it(changes):
    """transformers 5.24.0 turns by the same in all of these; each was loaded."""
    sound = {"head_dim": 128, "rope_theta": None, "rope_parameters": SOUND}
    found = find(change(**sound | changes), "unusable-value")
    assert all(one.level == "error" and "; no rotation depends on it" in one.message for one in found)
    assert [one.data["key"] for one in found] == [*changes]
    rotation, expected = (turn(change(**sound | more))["all"] for more in (changes, {}))
    assert rotation.frequencies.tolist() == expected.frequencies.tolist()


@pytest.mark.parametrize(
    ("value", "effect"), [(0, "infinite"), (False, "infinite"), (-2.0, "no real number"), (True, "1")]
)
def test_a_base_that_gives_no_ladder_says_what_it_would_give(value, effect):
    (finding,) = find(change(rope_theta=value), "refused")
    assert finding.message.endswith(f"above 0 is accepted: every frequency after the first would be {effect}")


def test_other_types_of_layers_keep_their_rotation():
    keys = {"model_type": "gemma3_text", "rope_parameters": {"sliding_attention": SOUND, "full_attention": BROKEN}}
    layers = {layer.name: layer for layer in audit(keys).layers}
    assert layers["sliding_attention"].rotation.base == 1e4
    assert layers["full_attention"].refusal.reason.startswith("config.json: rope_parameters.full_attention.factor")


def test_other_parts_keep_their_rotation():
    keys = {"model_type": "qwen2_vl", "text_config": {"rope_parameters": {**SOUND, "rope_theta": 0}}}
    layers = {layer.name: layer for layer in audit(keys).layers}
    assert isinstance(layers["all"].refusal, Refusal)
    assert layers["vision_config"].rotation.base == 1e4


def test_a_length_that_cannot_be_used_is_none():
    keys = scale(length=0, rope_type="dynamic", factor=2.0)
    assert read(keys).length is None
    assert [one.code for one in audit(keys).findings if one.level == "error"] == ["unusable-value", "key-missing"]


def test_several_are_left_out_one_after_the_other():
    keys = change(max_position_embeddings=0, num_key_value_heads=0, num_hidden_layers=-1)
    assert [one.data["key"] for one in find(keys, "unusable-value")] == [
        "max_position_embeddings", "num_key_value_heads", "num_hidden_layers",
    ]  # fmt: skip
    many = {f"type_{i}": {**SOUND, "factor": 0} for i in range(9)}
    assert "type_0.factor cannot be used (0)" in refuse(
        change(model_type="new", rope_parameters=many, layer_types=[*many])
    )


def test_a_key_that_is_left_out_is_not_said_to_be_unset():
    keys = {"model_type": "codegen", "rope_scaling": {"rope_type": "linear", "factor": 0}}
    assert "value-refused" not in [one.code for one in audit(keys).findings]


def test_a_key_of_a_part_may_stand_on_top():
    keys = {"model_type": "qwen2_vl", "rope_theta": 0}
    (finding,) = [one for one in audit(keys).findings if one.code == "refused"]
    assert "rope_theta cannot be used (0)" in finding.message


@pytest.mark.parametrize(
    "keys",
    [
        {"model_type": "bert", "max_position_embeddings": 0},
        {"model_type": "bloom", "n_head": 0},
        {"model_type": "m2m_100", "pad_token_id": -1},
        {**LLAMA, "hidden_size": 0, "head_dim": None},
        # without the width there is another that no more fits, that of the class
        {"model_type": "deepseek_ocr2", "text_config": {"hidden_size": 1000, "num_attention_heads": 12}},
        # said to be refused, which is not known of a model without layers
        {"model_type": "hunyuan_v1_dense", "num_hidden_layers": -8},
    ],
)
def test_what_is_no_rotation_is_refused_as_a_whole(keys):
    assert " cannot be used (" in refuse({key: value for key, value in keys.items() if value is not None})


def test_who_needs_one_rotation_refuses_the_file():
    with pytest.raises(FileError, match=r"c\.json: rope_theta cannot be used \(0\)"):
        read_scheme(change(rope_theta=0), "c.json")


def test_an_older_release_is_asked_the_same():
    again = read_configuration(change(rope_theta=0), "config.json").read_by("4.57.6")
    assert "rope_theta cannot be used" in again.layers[0].unusable
    assert read(scale(**{**YARN, "factor": 0})).keys["rope_scaling"]["factor"] == 0
