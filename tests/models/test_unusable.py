"""Numbers that their key cannot have: what is computed with one is given, and that it is none is an error beside it."""

import math

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.scheme import read_scheme
from pe_spectra.models.stacks import STACKS, Refusal
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.statement import OLDER
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
        {"model_type": "mistral", "sliding_window": -8},
    ],
)
def test_what_depends_on_no_such_number_is_read_without_it(changes):
    """transformers 5.24.0 turns by the same in all of these; each was loaded."""
    sound = {"head_dim": 128, "rope_theta": None, "rope_parameters": SOUND}
    found = find(change(**sound | changes), "unusable-value")
    assert all(one.level == "error" and "; no rotation depends on it" in one.message for one in found)
    assert [one.data["key"] for one in found] == [*changes][-1:]
    rotation, expected = (turn(change(**sound | more))["all"] for more in (changes, {}))
    assert rotation.frequencies.tolist() == expected.frequencies.tolist()


@pytest.mark.parametrize(("value", "effect"), [(0, "infinite"), (False, "infinite"), (-2.0, "no real number")])
def test_a_base_that_gives_no_ladder_says_what_it_would_give(value, effect):
    (finding,) = find(change(rope_theta=value), "refused")
    assert finding.message.endswith(f"above 0 is accepted: every frequency after the first would be {effect}")


@pytest.mark.parametrize("factor", [-2.0, 0.0001])
def test_of_a_factor_that_cannot_be_used_no_lengths_are_blamed(factor):
    keys = change(rope_scaling={"rope_type": "linear", "factor": factor})
    assert find(keys, "unusable-value")
    assert all(one.message.startswith("rope_scaling.factor is ") for one in find(keys, "factor-below-one"))


LISTED = {"rope_type": "longrope", "factor": 4.0, "original_max_position_embeddings": 2048}
TURNED = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
TURNED |= {"original_max_position_embeddings": 2048, "rope_theta": 5e5}


@pytest.mark.parametrize(
    ("model", "keys", "expected", "attention"),
    [
        ("olmo", {"rope_type": "linear", "rope_theta": 0.5, "factor": 4.0}, (0.25, 0.25272232, 0.494614), 1),
        ("olmo", {"rope_type": "yarn", "rope_theta": 0.5, "factor": 4.0, "mscale": 1.0}, (1, 1.010889, 1.978456), None),
        ("olmo2", {**TURNED, "original_max_position_embeddings": 1}, (0.25, 0.2036543, 6.137852e-07), 1),
        ("cwm", {**TURNED, "low_freq_factor": -2.0}, (0.25, 0.2036543, 6.137852e-07), 1),
        ("granite_swa", {**TURNED, "high_freq_factor": -2.0}, (-80.98733, -53.66778, 6.137852e-07), 1),
        ("youtu", {"rope_type": "dynamic", "rope_theta": 5e5, "factor": -2.0}, (1, 0.6636013, 3.013858e-06), 1),
        ("perception_lm", {"rope_type": "linear", "rope_theta": 5e5, "factor": True}, (1, 0.8146172, 2.4551407e-06), 1),
        ("smollm3", {**LISTED, "rope_theta": 5e5, "short_factor": [-1.0] * 64, "long_factor": [2.0] * 64},
         (-1, -0.8146172, -2.4551407e-06), 1.0871146),
        ("llava_next_video", {**LISTED, "rope_theta": 5e5, "short_factor": [2.0], "long_factor": [2.0] * 64},
         (0.5, 0.4073086, 1.2275704e-06), 1.0871146),
        ("glm4", {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 1.5},
         (1, 0.90851754, 0.00011006944), 1),
    ],
)  # fmt: skip
def test_what_is_computed_with_such_a_number_is_given(model, keys, expected, attention):
    """As the rotary modules of transformers 5.24.0 have it."""
    keys = {"rope_parameters": {"original_max_position_embeddings": 2048, **keys}, "max_position_embeddings": 2048}
    nested = model in ("perception_lm", "llava_next_video")
    found = audit({"model_type": model, **({"text_config": keys} if nested else keys)})
    rotation = found.layers[0].rotation
    np.testing.assert_allclose(rotation.frequencies[[0, 1, -1]], expected, rtol=3e-6)
    assert attention is None or rotation.attention_scaling == pytest.approx(attention, rel=3e-6)
    said = [one for one in found.findings if one.code == "unusable-value"]
    assert all(one.level == "error" and one.message.endswith("computed with it all the same") for one in said)
    assert bool(said) == (model != "llava_next_video")


def test_turned_back_is_as_quick_and_as_slow_as_turned():
    keys = {"rope_type": "linear", "rope_theta": 1e4, "factor": -1.0}
    layer, sound = (audit(change(rope_theta=None, rope_parameters=one)).layers[0] for one in (keys, SOUND))
    assert layer.frequencies.tolist() == [-one for one in sound.frequencies]
    assert [(one.wavelength, one.turns, one.state) for one in layer.pairs] == [
        (one.wavelength, one.turns, one.state) for one in sound.pairs
    ]
    assert layer.unseen == sound.unseen


@pytest.mark.parametrize(
    ("keys", "turned", "width"),
    [
        ({"model_type": "glm4", "partial_rotary_factor": 1.5}, 192, 128),
        ({"model_type": "phimoe", "head_dim": 3}, 4, 3),
        ({"model_type": "mixtral", "hidden_size": 4096, "num_attention_heads": 12, "num_key_value_heads": 4}, 342, 341),
        ({"model_type": "gpt_neox", "rope_parameters": {**SOUND, "partial_rotary_factor": 1.5}}, 144, 96),
        # a share that the class does not read leaves an odd head whole
        ({"model_type": "llama", "head_dim": 65, "partial_rotary_factor": 0.5}, 66, 65),
    ],
)
def test_attention_that_fails_with_more_channels_than_a_head_has_is_an_error(keys, turned, width):
    """Of each a model with two layers was built and run with PyTorch: sizes of tensors do not match."""
    (finding,) = find(keys, "head-width")
    assert finding.data == {"width": width, "turned": turned}
    assert finding.level == "error"
    assert audit(keys).layers[0].rotation.rotary_dim == turned


@pytest.mark.parametrize("keys", [{"model_type": "glm4", "partial_rotary_factor": 0.01}, {"model_type": "gpt_neox"}])
def test_attention_that_runs_is_none(keys):
    assert not find(keys, "head-width")


@pytest.mark.parametrize("value", ["8", [2.0], "list", {}, -2.0, True, 0])
def test_a_value_in_a_block_that_another_replaces_changes_nothing(value):
    """rope_scaling takes the place of rope_parameters in transformers 5.24.0."""
    scaling = {"rope_type": "linear", "factor": 4.0}
    block = {"rope_type": "linear", "rope_theta": 5e5, "factor": value}
    found = audit(change(rope_scaling=scaling, rope_parameters=block))
    assert found.layers[0].frequencies.tolist() == turn(change(rope_scaling=scaling))["all"].frequencies.tolist()
    (said,) = [one for one in found.findings if one.code == "unusable-value"]
    assert said.message.endswith("no rotation depends on it")


def test_a_list_for_the_scaling_of_layers_that_are_not_there_is_refused():
    block = {"sliding_attention": {**SOUND, "rope_type": [2.0]}, "full_attention": SOUND}
    keys = {"model_type": "gemma3_text", "layer_types": ["full_attention"] * 26, "rope_parameters": block}
    assert "rope_type cannot be used ([2.0])" in refuse(keys)


def test_a_share_below_0_gives_none():
    """torch.arange refuses it."""
    assert (
        "partial_rotary_factor cannot be used (-0.5)"
        in find({"model_type": "glm4", "partial_rotary_factor": -0.5}, "refused")[0].message
    )


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
        {**LLAMA, "hidden_size": "64", "head_dim": None},
        {**LLAMA, "rope_theta": math.inf},
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


def test_an_odd_head_has_no_rotation_with_another_such_value_either():
    keys = change(head_dim=63, rope_scaling={"rope_type": "linear", "factor": -2.0})
    assert not audit(keys).layers[0].frequencies.size
    assert [one.level for one in find(keys, "refused")] == ["error"]
    assert audit(change(head_dim=64, rope_scaling=keys["rope_scaling"])).layers[0].frequencies.size


@pytest.mark.parametrize("key", ["rope_theta", "head_dim", "max_position_embeddings"])
def test_an_integer_beyond_all_floats_is_an_error(key):
    (found,) = [one for one in audit(change(**{key: 10**400})).findings if one.level == "error"]
    assert f"{key} cannot be used (1000" in found.message


def test_an_older_release_is_asked_the_same():
    again = read_configuration(change(rope_theta=0), "config.json").read_by("4.57.6")
    assert "rope_theta cannot be used" in again.layers[0].unusable
    assert read(scale(**{**YARN, "factor": 0})).keys["rope_scaling"]["factor"] == 0


@pytest.mark.parametrize("share", [1e300, float(1 << 50)])
@pytest.mark.parametrize("block", [SOUND, {**LISTED, "rope_theta": 1e4, "short_factor": [1.0], "long_factor": [2.0]}])
def test_a_share_beyond_all_heads_is_an_error_and_takes_no_memory(share, block):
    found = audit({"model_type": "glm4", "rope_parameters": {**block, "partial_rotary_factor": share}})
    assert not found.layers[0].frequencies.size
    assert [one.level for one in found.findings if one.code == "refused"] == ["error"]


def read_older(config):
    """The rotation of the first layers as transformers 4.57.6 has it, and the errors."""
    found = audit_configuration(read_configuration(config, "config.json", OLDER), reader=STACKS["transformers-4"])
    return found.layers[0].rotation, [one for one in found.findings if one.level == "error"]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"rope_theta": 0.5}, (1, 1.0108893, 1.978456)),
        ({"partial_rotary_factor": 1.5}, (1, 0.90851754, 0.00011006944)),
        ({"rope_scaling": {"rope_type": "linear", "factor": -2.0}}, (-0.5, -0.43298218, -5.7739097e-05)),
        ({"rope_scaling": {"rope_type": "dynamic", "factor": True}}, (1, 0.86596435, 0.00011547819)),
        ({"rope_scaling": {**TURNED, "high_freq_factor": -2.0}}, None),
        ({"rope_scaling": {**TURNED, "low_freq_factor": -2.0}}, (0.25, 0.21649109, 2.8869548e-05)),
        ({"rope_scaling": {**YARN, "original_max_position_embeddings": 4096.5}}, (1, 0.86596435, 2.8869548e-05)),
        ({"head_dim": 65}, (1, 0.75322217, 0.000115222814)),
        ({"model_type": "gptj", "rotary_dim": None}, (1, 0.9955128, 0.000100450736)),
    ],
)
def test_the_older_release_computes_with_such_a_number_too(keys, expected):
    """As the rotary modules of transformers 4.57.6 have it."""
    rotation, said = read_older({"model_type": "llama", **keys})
    assert {one.code for one in said} & {"unusable-value", "head-width"}
    if expected is not None:
        np.testing.assert_allclose(rotation.frequencies[[0, 1, -1]], expected, rtol=3e-6)


def test_a_width_that_is_null_is_that_of_all_heads_in_the_older_release():
    """GPT-J of transformers 4.57.6 turns 2,048 pairs then; 5.24.0 refuses it."""
    keys = {"model_type": "gptj", "rotary_dim": None}
    rotation, _ = read_older(keys)
    assert len(rotation.frequencies) == 2048
    assert "value-refused" in [one.code for one in audit(keys).findings]


def test_a_share_that_a_class_of_the_older_release_does_not_read_changes_nothing():
    rotation, said = read_older({"model_type": "chameleon", "partial_rotary_factor": 7})
    assert (len(rotation.frequencies), said) == (64, [])


@pytest.mark.parametrize("reader", ["transformers-5", "transformers-4"])
@pytest.mark.parametrize(
    ("keys", "expected"),
    [({"beta_fast": 0}, 0.0063513005), ({"beta_slow": 0}, 0.0063513005), ({"truncate": None}, 0.006199334)],
)
def test_ends_of_a_ramp_that_are_0_are_not_set_and_truncate_that_is_null_is_no(keys, expected, reader):
    """As the rotary modules of both releases of transformers have pair 32 of 64."""
    block = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048, **keys}
    stated = read({"model_type": "llama", "rope_scaling": block})
    rotation = STACKS[reader].read(stated, stated.layers[0], None)
    assert rotation.frequencies[31] == pytest.approx(expected, rel=3e-6)


@pytest.mark.parametrize(
    ("model", "keys"),
    [
        ("llama", {"layer_types": 7}),
        ("llama", {"layer_types": [None]}),
        ("phi", {"layer_types": "full_attention"}),
        ("vaultgemma", {"rope_scaling": 4.0}),
        ("vaultgemma", {"rope_scaling": [{"rope_type": "linear", "factor": 2.0}]}),
        ("gptj", {"rope_scaling": "yarn"}),
    ],
)
def test_what_a_class_passes_over_is_none_of_its_keys(model, keys):
    rotation, said = read_older({"model_type": model, **keys})
    assert rotation.frequencies.tolist() == read_older({"model_type": model})[0].frequencies.tolist()
    (only,) = said
    assert (only.code, only.data["key"]) == ("unusable-value", next(iter(keys)))
    assert only.message.endswith("no rotation depends on it, and the file is read without it")


@pytest.mark.parametrize(
    ("model", "keys"),
    [
        ("llama", {"rope_scaling": "yarn"}),
        ("gemma3_text", {"layer_types": 7}),
        ("gemma3_text", {"layer_types": [None]}),
        ("llama", {"rope_scaling": {"rope_type": 3}}),
    ],
)
def test_what_a_class_of_the_older_release_refuses_is_not_passed_over(model, keys):
    with pytest.raises(FileError, match="cannot be used"):
        read_configuration({"model_type": model, **keys}, "config.json", OLDER)
