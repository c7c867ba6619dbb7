"""Models of several parts: which of them are audited, by which class, and how answers name them."""

import json
import re

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import find_composite, find_known, load_table
from pe_spectra.models.stated.position_tables import find_table
from pe_spectra.models.stated.statement import NEWEST, OLDER

LLAVA = {
    "model_type": "llava",
    "text_config": {"model_type": "llama", "max_position_embeddings": 4096},
    "vision_config": {"model_type": "clip_vision_model", "image_size": 336, "patch_size": 14, "hidden_size": 1024},
}
#: Its class is not built from a configuration alone, so its default width is not known.
QFORMER = {"hidden_size": 768}


def read(config):
    return read_configuration(json.loads(json.dumps(config)), "config.json")


def list_parts(config):
    return [(one.part, one.model, one.scheme) for one in read(config).parts]


def find_layer(config, name):
    return next(layer for layer in audit_configuration(read(config)).layers if layer.name == name)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (LLAVA, [("vision_config", "clip_vision_model", "learned")]),
        ({"model_type": "t5gemma", "decoder": {}, "encoder": {}}, [("encoder", "t5_gemma_module", "rotary")]),
        (
            {"model_type": "dia", "decoder_config": {}, "encoder_config": {}},
            [("encoder_config", "dia_encoder", "rotary")],
        ),
        (
            {
                "model_type": "colpali",
                "vlm_config": {"model_type": "paligemma", "text_config": {}, "vision_config": {}},
            },
            [("vlm_config.vision_config", "siglip_vision_model", "learned")],
        ),
        # the class of the part is fixed, whatever model_type the file gives it
        (
            {"model_type": "qwen2_vl", "text_config": {}, "vision_config": {"model_type": "qwen2_vl"}},
            [("vision_config", "qwen2_vl_vision", "rotary")],
        ),
        # and here it is the one that the file gives it
        (
            {"model_type": "mistral3", "text_config": {}, "vision_config": {"model_type": "clip_vision_model"}},
            [("vision_config", "clip_vision_model", "learned")],
        ),
        ({"model_type": "llama", "head_dim": 64}, []),
    ],
)
def test_parts_beside_the_one_that_reads_text(config, expected):
    assert list_parts(config) == expected


def test_silence_means_what_the_class_has_there():
    """LLaVA 1.5 has no more in text_config than a name: 4096 channels and 32 heads, of Llama's class."""
    layer = read(LLAVA | {"text_config": {"model_type": "llama"}}).layers[0]
    assert (layer.head_dim, layer.width_key) == (128, "hidden_size / num_attention_heads")
    assert read({"model_type": "mistral3", "vision_config": {"model_type": "pixtral"}}).layers[0].default_base == 1e9


@pytest.mark.parametrize(
    ("model", "part", "values"),
    [
        # of LLaVA's class, not of CLIP's own, which has pictures of 224 pixels
        ("llava", "vision_config", {"rows": 577, "d": 1024}),
        ("paligemma", "vision_config", {"rows": 256, "d": 1152}),
    ],
)
def test_a_part_that_is_left_out_is_what_the_whole_has_there(model, part, values):
    (found,) = (one for one in read({"model_type": model}).parts if one.part == part)
    assert values.items() <= dict(found.values).items()
    assert values["rows"] != {one.part: one for one in read({"model_type": model, part: {}}).parts}[part].values["rows"]


@pytest.mark.parametrize(
    ("model", "where", "scheme", "heads"),
    [("zoedepth", "backbone_config", "window-bias", 16), ("musicgen", "text_encoder", "t5", 8)],
)
def test_a_whole_of_which_nothing_is_stated(model, where, scheme, heads):
    found = read({"model_type": model})
    (found,) = (one for one in (found, *found.parts) if one.where == where)
    assert (found.scheme, found.values["heads"]) == (scheme, heads)


def read_all(config):
    """What is read of each part, as text without the names of classes; the message where the file is refused."""
    try:
        stated = read(config)
    except FileError as error:
        return str(error)
    told = [(one.where, one.scheme, one.length, one.values, one.formula, one.layers) for one in (stated, *stated.parts)]
    return re.sub(r"the default of [\w-]+", "the default", str(told))


@pytest.mark.parametrize("release", [NEWEST, OLDER])
def test_the_part_that_reads_text_is_one_of_those_that_its_model_has(release):
    table = load_table(release)
    assert len(table["parts"]) > 30
    assert [model for model, key in table["parts"].items() if key not in table["composites"][model]] == []
    assert all(find_known(model, release).parts == (key,) for model, key in table["parts"].items())


def test_the_class_of_a_whole_names_a_part_that_is_silent():
    """In transformers a part with the model_type that its whole gives it is the part without one."""
    differing = [
        (model, key)
        for model in load_table(NEWEST)["composites"]
        for key, part in find_composite(model).items()
        if read_all({"model_type": model, key: {}}) != read_all({"model_type": model, key: {"model_type": part.model}})
    ]
    assert differing == []


@pytest.mark.parametrize(
    ("model", "text", "expected"),
    [
        ("kosmos-2", {"embed_dim": 64, "pad_token_id": 7}, {"name": "tensor2tensor", "d": 64, "offset": 8}),
        ("kosmos-2.5", {"embed_dim": 64, "pad_token_id": 7}, {"name": "tensor2tensor", "d": 64, "offset": 8}),
        ("videoprism", {"hidden_size": 48}, {"name": "sinusoidal", "d": 48, "offset": 0}),
    ],
)
def test_keys_of_a_part_that_is_silent_are_read(model, text, expected):
    found = read({"model_type": model, "text_config": text})
    assert (found.where, [one.part for one in found.parts]) == ("text_config", ["vision_config"])
    assert expected.items() <= dict(found.formula).items()


@pytest.mark.parametrize("without", [{}, {"vision_config": None}])
def test_a_part_that_the_file_leaves_out_is_built_of_defaults(without):
    """Qwen3-VL makes its vision tower whatever the file says: heads of 72 channels, of which each axis has a half."""
    config = {"model_type": "qwen3_vl", "text_config": {}}
    silent, stated = read(config | without), read(config | {"vision_config": {"hidden_size": 2304, "num_heads": 16}})
    assert [(one.part, one.layers[0].head_dim) for one in (*silent.parts, *stated.parts)] == [
        ("vision_config", 36),
        ("vision_config", 72),
    ]
    codes = [[finding.code for finding in one.parts[0].findings] for one in (silent, stated)]
    assert ["part-defaulted" in one for one in codes] == [True, False]


def test_no_part_is_audited_twice():
    for model in load_table(NEWEST)["composites"]:
        stated = read({"model_type": model})
        main = stated.where or ".".join(find_known(model).parts)
        assert main not in [one.part for one in stated.parts], model


def test_a_vision_tower_has_its_own_frequencies_and_findings():
    config = {
        "model_type": "mistral3",
        "text_config": {"model_type": "mistral", "head_dim": 128, "rope_theta": 1e6, "max_position_embeddings": 4096},
        "vision_config": {
            "model_type": "pixtral",
            "head_dim": 64,
            "rope_parameters": {"rope_theta": 1e4, "factr": 2.0},
        },
    }
    audit = audit_configuration(read(config))
    assert [layer.name for layer in audit.layers] == ["all", "vision_config"]
    ladder = 1e4 ** (-np.arange(0, 64, 2) / 64)
    np.testing.assert_allclose(find_layer(config, "vision_config").frequencies, np.r_[ladder[::2], ladder[1::2]])
    assert "unknown-key" in find_layer(config, "vision_config").grave_codes
    assert "unknown-key" not in find_layer(config, "all").grave_codes
    assert [one.part for one in audit.parts] == ["vision_config"]


def test_types_of_layers_of_a_part_are_named_with_it():
    names = [
        layer.name
        for layer in audit_configuration(read({"model_type": "t5gemma", "decoder": {}, "encoder": {}})).layers
    ]
    assert names == ["sliding_attention", "full_attention", "encoder.sliding_attention", "encoder.full_attention"]


def test_a_part_that_is_not_known_is_said_so():
    config = LLAVA | {"vision_config": {"model_type": "no-such-tower"}}
    (finding,) = [one for one in audit_configuration(read(config)).findings if one.code == "nested-config"]
    assert finding.message.endswith("; of vision_config no positional encoding is known here")


def test_answers_name_the_parts(cli, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAVA), encoding="utf-8")
    text = cli(f"audit {path}").out
    assert "; beside it vision_config." in text.splitlines()[0]
    assert "encoding: vision_config: Learned: 577 rows, 1 of which is no position, for 24 x 24 patches" in text
    (model,) = json.loads(cli(f"audit {path} --json").out)["models"]
    (part,) = model["parts"]
    assert (part["part"], part["scheme"], part["scheme_parameters"]["rows"]) == ("vision_config", "learned", 577)
    assert [layer["name"] for layer in model["layer_types"]] == ["all", "vision_config"]


@pytest.mark.parametrize(("model", "span"), [("dinov3_vit", 12.5664), ("sapiens2", 12.5664), ("qwen2_vl_vision", None)])
def test_axes_of_a_grid(model, span):
    """DINOv3: 16 frequencies for each axis, and 2 pi times coordinates from -1 to 1 whatever the picture is."""
    stated = read({"model_type": model})
    (finding,) = [one for one in stated.findings if one.code == "grid-rotation"]
    assert (finding.data["axes"], finding.data["span"]) == (2, span)
    if model == "dinov3_vit":
        layer = find_layer({"model_type": model}, "all")
        np.testing.assert_allclose(layer.frequencies, 100.0 ** -(np.arange(16) / 16), rtol=1e-12)
        assert span == pytest.approx(4 * np.pi, abs=1e-4)


#: What the tower of Llama 4 computes, measured: the channels of an axis, their base, and whether a key is not read.
LLAMA_4 = [
    ({}, 24, 1e4, False),
    ({"rope_theta": 500.0}, 24, 500.0, False),
    ({"rope_parameters": {"rope_type": "axial", "rope_theta": 100.0}}, 24, 100.0, False),
    ({"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, 24, 1e4, True),
    ({"hidden_size": 1408}, 44, 1e4, False),
    ({"hidden_size": 1400}, 42, 1e4, False),
    ({"head_dim": 64, "partial_rotary_factor": 0.5}, 24, 1e4, False),
]


@pytest.mark.parametrize(("keys", "width", "base", "unread"), LLAMA_4)
def test_the_tower_of_llama_4_turns_both_axes(keys, width, base, unread):
    audit = audit_configuration(read({"model_type": "llama4", "text_config": {}, "vision_config": keys}))
    (layer,) = (one for one in audit.layers if one.configuration.part)
    assert (layer.name, layer.scheme, layer.layout) == ("vision_config", "rotary", "interleaved")
    assert (layer.rotary_dim, layer.base, layer.scaling) == (width, base, "none")
    np.testing.assert_allclose(layer.frequencies, base ** (-np.arange(0, width, 2) / width), rtol=1e-6)
    assert ("key-not-read" in layer.grave_codes) == unread


@pytest.mark.parametrize("kind", ["yarn", "llama3", "longrope"])
def test_the_tower_of_llama_4_refuses_scalings_that_need_a_length(kind):
    block = {"rope_type": kind, "factor": 4.0, "rope_theta": 1e4}
    audit = audit_configuration(read({"model_type": "llama4_vision_model", "rope_parameters": block}))
    assert "unknown-scaling" in [one.code for one in audit.findings if one.level == "error"]


@pytest.mark.parametrize(("model", "pairs"), [("minimax_m3_vl_vision", 10), ("glm4v_vision", 16)])
def test_a_channel_of_an_axis_that_is_left_over_rests(model, pairs):
    """Three axes have 21 of 64 channels each, of which MiniMax M3 VL turns 20."""
    layer = find_layer({"model_type": model, "hidden_size": 512, "num_attention_heads": 8}, "all")
    assert len(layer.frequencies) == pairs


def test_a_rotation_with_one_axis_says_nothing_of_a_grid():
    assert [one.code for one in read({"model_type": "clvp_encoder"}).findings].count("grid-rotation") == 0


@pytest.mark.parametrize("is_stated", [True, False])
def test_every_part_with_positions_that_a_class_has_is_audited(is_stated):
    """By the table: of each class whose parts have positions, bare parts, or all left out, are in the answer."""
    lacking = []
    for model in load_table(NEWEST)["composites"]:
        listed = {key: part.model for key, part in find_composite(model).items()}
        turned = {key for key, name in listed.items() if find_known(name).is_known or find_table(name)}
        turned -= set() if is_stated else {key for key in turned if "qformer" in listed[key]}
        try:
            parts = {
                key: {"model_type": listed[key], **(QFORMER if "qformer" in listed[key] else {})} for key in turned
            }
            stated = read({"model_type": model} | (parts if is_stated else {}))
        except FileError:
            lacking += [(model, key) for key in turned]
            continue
        main = stated.where or ".".join(find_known(model).parts)
        found = {main.partition(".")[0], *(one.part.partition(".")[0] for one in stated.parts)}
        lacking += [(model, key) for key in turned - found]
    assert lacking == []


@pytest.mark.parametrize("value", [[1], "x", 3, True])
@pytest.mark.parametrize("key", ["text_config", "vision_config"])
def test_a_part_that_is_no_object_is_refused(key, value):
    found = [
        one for one in audit_configuration(read({"model_type": "llava", key: value})).findings if one.level == "error"
    ]
    assert [(one.code, one.data["key"]) for one in found] == [("value-refused", key)]
    assert f"{key} is {value!r}, no object, so the class of llava" in found[0].message


@pytest.mark.parametrize("value", [None, {}])
def test_a_part_that_is_null_or_empty_is_the_default_one(value):
    found = audit_configuration(read({"model_type": "llava", "text_config": value}))
    assert not [one for one in found.findings if one.level == "error"]


@pytest.mark.parametrize("inner", [{}, {"model_type": "llama"}])
@pytest.mark.parametrize("release", [NEWEST, OLDER])
def test_a_width_of_heads_that_is_null_is_not_what_the_model_gives_its_part(release, inner):
    """Voxtral gives its part heads of 128; null leaves that to the class of the part, the width over the heads."""
    found = read_configuration({"model_type": "voxtral", "text_config": {"head_dim": None, **inner}}, "c.json", release)
    assert found.layers[0].head_dim == 96
    assert read_configuration({"model_type": "voxtral", "text_config": inner}, "c.json").layers[0].head_dim == 128
