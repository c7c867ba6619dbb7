"""What the classes of transformers refuse to be made of: numbers that do not fit each other."""

import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.statement import NEWEST, OLDER
from tests.models.configurations import read, turn


def list_refused(model, release=NEWEST, **keys):
    found = read_configuration({"model_type": model, **keys}, "config.json", release).findings
    return [one.message for one in found if one.code == "value-refused"]


@pytest.mark.parametrize("head", [None, 80])
def test_a_head_that_is_the_width_over_the_heads_is_taken(head):
    assert list_refused("qwen2_vl_vision", **({} if head is None else {"head_dim": head})) == []


def test_a_head_that_is_not_the_width_over_the_heads_is_refused():
    (said,) = list_refused("qwen2_vl_vision", head_dim=96)
    assert said.startswith("head_dim is 96, where the width over the heads is 80, so the class of qwen2_vl_vision")


@pytest.mark.parametrize("layers", [42, 50])
def test_as_many_layers_as_the_class_has_keys_of_are_taken(layers):
    assert list_refused("dots3_note_vision_encoder", num_hidden_layers=layers) == []


def test_fewer_layers_than_the_class_has_keys_of_are_refused():
    (said,) = list_refused("dots3_note_vision_encoder", num_hidden_layers=4)
    assert said.startswith("num_hidden_layers is 4, below the 42 of the class, which has keys of each, so the class of")


@pytest.mark.parametrize("model", ["qwen2", "qwen2_moe", "qwen3", "dots1"])
def test_a_count_of_layers_that_slide_is_a_number(model):
    (said,) = list_refused(model, max_window_layers=None)
    assert said.startswith(f"max_window_layers is null, so the class of {model}")
    assert list_refused(model, max_window_layers=4) == list_refused("llama", max_window_layers=None) == []


@pytest.mark.parametrize("model", ["mistral4", "seed_oss"])
def test_a_head_of_null_is_refused_where_the_class_is_scaled(model):
    said = "head_dim is null under the scaling of the class"
    assert said in " ".join(list_refused(model, head_dim=None))
    assert list_refused(model) == []


@pytest.mark.parametrize("model", ["qwen2", "olmo", "phi", "cohere", "granite"])
def test_a_head_of_null_is_refused_where_the_model_as_a_whole_computes_with_it(model):
    (said,) = list_refused(model, head_dim=None)
    assert said.startswith(f"head_dim is null, so the class of {model} in transformers 5 refuses the file")
    assert list_refused(model) == list_refused(model, head_dim=64) == list_refused("llama", head_dim=None) == []


@pytest.mark.parametrize(("model", "key"), [("ministral", "head_dim"), ("nemotron", "num_key_value_heads")])
def test_a_key_that_is_null_in_the_class_is_needed_where_its_model_computes_with_it(model, key):
    (said,) = list_refused(model)
    assert said.startswith(f"{key} is not set, so the class of {model}")
    assert list_refused(model, **{key: 64}) == []


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("gpt_neox", "rotary_pct"), ("stablelm", "partial_rotary_factor"), ("deepseek_v3", "qk_nope_head_dim"),
        ("apertus", "original_max_position_embeddings"), ("codegen", "n_positions"), ("cohere2_moe", "rope_parameters"),
        ("smollm3", "use_sliding_window"), ("deepseek_v4", "compress_rope_theta"),
    ],
)  # fmt: skip
def test_keys_that_are_null_are_refused_where_the_class_computes_with_them(model, key):
    (said,) = list_refused(model, **{key: None})
    assert said.startswith(f"{key} is null, so the class of {model} in transformers 5 refuses the file")
    assert list_refused(model) == list_refused("llama", **{key: None}) == []


@pytest.mark.parametrize(("model", "kind"), [("llama", "linear"), ("llama", "yarn"), ("glm", "default")])
def test_a_share_that_is_null_in_a_block_is_refused_where_it_is_computed_with(model, kind):
    block = {"rope_type": kind, "rope_theta": 1e4, "factor": 2.0, "partial_rotary_factor": None}
    (said,) = list_refused(model, rope_parameters=block)
    assert said.startswith("rope_parameters.partial_rotary_factor is null, so the class of")
    assert list_refused("llama", rope_parameters=block | {"rope_type": "default"}) == []


@pytest.mark.parametrize("kind", ["yarn", "llama3"])
def test_a_scaling_that_looks_for_the_length_is_refused_where_class_and_file_have_none(kind):
    block = {"rope_type": kind, "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 2048}
    keys = {"model_type": "clvp_encoder", "rope_parameters": block | {"low_freq_factor": 1.0, "high_freq_factor": 4.0}}
    assert "not-built" in {one.code for one in read(keys).findings}
    assert "not-built" not in {one.code for one in read(keys | {"max_position_embeddings": 4096}).findings}


@pytest.mark.parametrize("kind", ["yarn", "llama3", "longrope"])
@pytest.mark.parametrize("model", ["wav2vec2-conformer", "clvp_encoder"])
def test_a_base_on_top_of_a_scaling_lets_a_class_look_for_its_length_too_early(model, kind):
    lists = {"short_factor": [1.0] * 16, "long_factor": [2.0] * 16}
    bands = {"factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    block = {"rope_type": kind, "original_max_position_embeddings": 2048} | bands | lists
    keys = {"model_type": model, "max_position_embeddings": 4096, "rope_scaling": block}
    assert "not-built" in {one.code for one in read(keys | {"rope_theta": 1e4}).findings}
    inside = keys | {"rope_scaling": block | {"rope_theta": 1e4}}
    assert "not-built" not in {one.code for one in read(inside).findings}


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_blocks_the_last_one_in_the_file_must_be_built(order):
    older = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}
    newer = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 8.0}
    blocks = {"rope_scaling": older, "rope_parameters": newer}
    keys = {"model_type": "wav2vec2-conformer"} | dict([*blocks.items()][::order])
    assert ("not-built" in {one.code for one in read(keys).findings}) == (order == -1)


def test_a_part_that_is_built_with_blocks_alone_is_known():
    block = {"rope_type": "default", "rope_theta": 5e4}
    (layer,) = read({"model_type": "cohere_compass_text", "rope_parameters": {"full_attention": block}}).layers
    assert (layer.name, layer.head_dim, layer.newer.base) == ("full_attention", 128, 5e4)
    assert list_refused("cohere_compass_text")[0].startswith("rope_parameters is not set, so the class of")


def test_heads_of_an_odd_width_are_refused_where_the_class_computes_with_half_of_it():
    said = "hidden_size is 4128, so each of 32 heads has an odd width"
    assert said in " ".join(list_refused("llama", hidden_size=4128, num_attention_heads=32))
    assert list_refused("llama", hidden_size=4160, num_attention_heads=32) == []


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        # a head of an odd width of which each axis turns a part
        ({"model_type": "ernie4_5_vl_moe_vision", "head_dim": 81}, "head_dim"),
        ({"model_type": "gemma4_text", "rope_parameters": {"full_attention": {"rope_type": "default"}}}, "rope_theta"),
        (
            {
                "model_type": "diffusion_gemma_text",
                "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}
                | {"full_attention": 4.0},
            },
            "full_attention",
        ),
        # a block that the class does not compute with, and checks all the same
        ({"model_type": "codegen", "rope_scaling": {"rope_type": "linear"}}, "rope_scaling.factor"),
        ({"model_type": "zaya", "rope_scaling": None}, "rope_scaling"),
        ({"model_type": "laguna", "rope_scaling": {}}, "rope_scaling"),
        ({"model_type": "cohere2_moe", "rope_scaling": []}, "rope_scaling"),
        # the base on top does not reach a block without a scaling
        ({"model_type": "cohere2_moe", "rope_theta": 5e4, "rope_parameters": {"rope_type": "default"}}, "rope_theta"),
        ({"model_type": "lfm2_moe"}, "layer_types"),
        # attention is in every third or fourth layer
        ({"model_type": "olmo_hybrid", "head_dim": None}, "head_dim"),
        ({"model_type": "recurrent_gemma", "head_dim": None}, "head_dim"),
        # a scaling without the base that its check asks for, where the length is stated
        (
            {
                "model_type": "deepseek_ocr2_vision",
                "max_position_embeddings": 16384,
                "rope_scaling": {"rope_type": "llama3", "factor": 2.0, "original_max_position_embeddings": 8192}
                | {"low_freq_factor": 1.0, "high_freq_factor": 4.0},
            },
            "rope_scaling.rope_theta",
        ),
        ({"model_type": "gpt_oss", "hidden_size": -8}, "hidden_size"),  # the width of a head does not go by it
        # by a class that turns nothing without a switch, which the file has not
        ({"model_type": "esm", "num_hidden_layers": -8}, "num_hidden_layers"),
        ({"model_type": "esm", "rope_parameters": {"rope_type": "linear", "rope_theta": 1e4}}, "factor"),
        ({"model_type": "granitemoehybrid", "num_key_value_heads": "4"}, "num_key_value_heads"),
        ({"model_type": "seamless_m4t", "layer_types": ["full_attention"]}, "layer_types"),
        ({"model_type": "wav2vec2-bert", "num_hidden_layers": None}, "num_hidden_layers"),
        ({"model_type": "zamba2", "num_attention_heads": None}, "num_attention_heads"),
        ({"model_type": "llama4_vision_model", "hidden_size": None}, "hidden_size"),
        ({"model_type": "cohere_compass_text", "rope_parameters": None}, "rope_parameters"),
        ({"model_type": "longcat_flash", "qk_nope_head_dim": None}, "qk_nope_head_dim"),
        ({"model_type": "nemotron", "partial_rotary_factor": None}, "partial_rotary_factor"),
        ({"model_type": "wav2vec2-conformer", "hidden_size": 12 * 33, "num_attention_heads": 12}, "hidden_size"),
        (
            {
                "model_type": "laguna",
                "rope_parameters": {"full_attention": {"rope_type": "", "rope_theta": 1e4}, "sliding_attention": {}},
            },
            "rope_parameters.full_attention.rope_type",
        ),
    ],
)
def test_values_that_classes_refuse_one_by_one(keys, key):
    found = [one.data["key"] for one in read(keys).findings if one.code == "value-refused"]
    assert any(one.endswith(key) for one in found), found


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"num_key_value_heads": 63}, "num_key_value_heads is 63, and 48 heads are no multiple of it"),
        ({"num_attention_heads": 12}, "num_key_value_heads is 8 by default, and 12 heads are no multiple of it"),
    ],
)
def test_heads_that_heads_of_keys_do_not_divide_are_refused_where_the_class_asks(keys, told):
    assert any(one.startswith(told) for one in list_refused("beam", **keys))
    assert list_refused("beam", num_attention_heads=16, num_key_value_heads=4) == []
    assert list_refused("llama", **{"hidden_size": 1536, "num_attention_heads": 12} | keys) == []


def test_a_base_on_top_reaches_a_block_with_a_scaling():
    block = {"rope_type": "linear", "factor": 2.0}
    assert list_refused("cohere2_moe", rope_theta=5e4, rope_parameters=block) == []


def test_blocks_of_which_one_is_missing_are_not_read():
    keys = {"model_type": "deepseek_v4", "rope_parameters": {"main": {"rope_type": "default", "rope_theta": 1e6}}}
    (found,) = [one for one in read(keys).findings if one.code == "layer-type-missing"]
    assert found.data["missing"] == ["compress"]
    (found,) = [one for one in read(keys | {"rope_parameters": {"main": None}}).findings if one.level == "error"]
    assert found.data["missing"] == ["main", "compress"]


@pytest.mark.parametrize(
    ("model", "code", "said"),
    [
        ("deepseek_v4", "key-not-read", "the class of deepseek_v4 in transformers 5 reads nothing of rope_parameters"),
        ("dots3_note_text", "not-built", "the class of dots3_note_text in transformers 5 refuses the file"),
        ("step3p5", "key-not-read", "the class of step3p5 in transformers 5 reads nothing of rope_scaling"),
    ],
)
def test_rope_scaling_beside_blocks_by_type_is_read_as_the_class_was_measured_to_read_it(model, code, said):
    older = {"model_type": model, "rope_scaling": {"rope_type": "linear", "factor": 4.0}}
    block = {"rope_type": "default", "rope_theta": 1e6}
    names = {"step3p5": ["full_attention"]}.get(model) or [layer.name for layer in read(older).layers]
    newer = {"model_type": model, "rope_parameters": dict.fromkeys(names, block)}
    found, alone = read(older | newer), read(newer if said.endswith("rope_scaling") else older)
    assert [(one.code, said in one.message) for one in found.findings if one.level == "error"] == [(code, True)]
    assert [layer.block for layer in found.layers] == [layer.block for layer in alone.layers]


@pytest.mark.parametrize("older", [{"type": "yarn", "factor": 4.0}, {"factor": 4.0}])
def test_a_scaling_without_a_rope_type_leaves_that_of_blocks_by_type(older):
    block = {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}
    blocks = dict.fromkeys(("full_attention", "sliding_attention"), block)
    keys = {"model_type": "gemma3_text", "rope_parameters": blocks}
    found = turn(keys | {"rope_scaling": older})
    assert {name: one.frequencies[0] for name, one in found.items()} == {
        "full_attention": 1 / 4,
        "sliding_attention": 1 / 8,
    }
    told = [one.message for one in read(keys | {"rope_scaling": older}).findings if one.code == "key-not-read"]
    assert all("so the rope_type of rope_parameters stays" in one for one in told)
    assert len(told) == len({"type"} & older.keys())


def test_a_block_for_a_type_that_no_layer_has_is_not_refused():
    blocks = {"full_attention": {"rope_type": "default", "rope_theta": 1e4}, "sliding_attention": {"rope_type": "su"}}
    layers = {"num_hidden_layers": 2, "layer_types": ["full_attention", "full_attention"]}
    assert list_refused("gemma3_text", rope_parameters=blocks, **layers) == []
    layers["layer_types"] = ["full_attention", "sliding_attention"]
    (said,) = list_refused("gemma3_text", rope_parameters=blocks, **layers)
    assert said.startswith("rope_parameters.sliding_attention.rope_type is 'su'")


def test_blocks_for_other_types_of_layers_are_none_where_each_type_needs_one():
    blocks = {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}}
    found = read({"model_type": "deepseek_v4", "rope_parameters": blocks})
    assert [one.data["missing"] for one in found.findings if one.level == "error"] == [["main", "compress"]]
    assert [layer.block.kind for layer in found.layers] == ["default", "default"]


@pytest.mark.parametrize("empty", [{}, [], False])
def test_an_empty_rope_scaling_leaves_rope_parameters(empty):
    block = {"rope_type": "linear", "factor": 4.0, "rope_theta": 2e4}
    found = turn({"model_type": "llama", "rope_parameters": block, "rope_scaling": empty})["all"]
    assert (found.base, found.scaling) == (2e4, "linear")


@pytest.mark.parametrize(("model", "factor"), [("evolla", 2.0), ("phimoe", 1.0)])
def test_the_long_list_serves_where_the_class_hands_the_length_on(model, factor):
    """Evolla does; its encoder of proteins, which was asked in its place, does not."""
    block = {"rope_type": "longrope", "factor": 4.0, "original_max_position_embeddings": 2048, "rope_theta": 1e4}
    lists = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64, "short_mscale": 1.0, "long_mscale": 1.0}
    found = turn({"model_type": model, "rope_parameters": block | lists}, served=8192)["all"]
    assert found.frequencies[0] == 1 / factor


def test_scalings_that_need_the_length_are_built_where_it_is_stated():
    """As measured of esmfold2, whose class has no length of its own."""
    block = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    keys = {"model_type": "esmfold2", "rope_scaling": block | {"original_max_position_embeddings": 2048}}
    assert "not-built" in {one.code for one in read(keys).findings}
    keys["max_position_embeddings"] = 8192
    assert "not-built" in {one.code for one in read(keys | {"rope_theta": 1e5}).findings}  # looked for too early
    keys["rope_scaling"] |= {"rope_theta": 1e5}
    assert not [one for one in read(keys).findings if one.level == "error"]


def test_no_block_at_all_is_refused_where_the_class_needs_one_by_type():
    (found,) = [one for one in read({"model_type": "mellum", "rope_parameters": {}}).findings if one.level == "error"]
    assert found.code == "layer-type-missing"


def test_an_unknown_class_with_buckets_has_those_of_t5():
    keys = {"model_type": "of-nobody", "relative_attention_num_buckets": 64, "num_heads": 4}
    assert (read(keys).scheme, read(keys).values["buckets"]) == ("t5", 64)


def test_an_unknown_class_with_heads_of_an_odd_width_is_refused():
    with pytest.raises(FileError, match=r"hidden_size / num_attention_heads is odd \(5\)"):
        read({"model_type": "of-nobody", "rope_theta": 1e4, "hidden_size": 20, "num_attention_heads": 4})


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"rope_scaling": {"factor": 2.0}}, "rope_scaling.rope_type names no scaling"),
        ({"rope_scaling": {"type": None}}, "rope_scaling.type names no scaling"),
        ({"num_hidden_layers": None}, "num_hidden_layers is null"),
        ({"rope_theta": None}, "rope_theta is null"),
        ({"rope_scaling": {"rope_type": "linear", "factor": None}}, "rope_scaling.factor is null"),
        ({"rope_scaling": {}}, "rope_scaling is {}"),
    ],
)
def test_an_older_release_refuses_by_what_was_measured_of_it(keys, told):
    (said,) = list_refused("llama", OLDER, **keys)
    assert said == f"{told}, so the class of llama in transformers 4 refuses the file"


@pytest.mark.parametrize(
    ("model", "keys", "told"),
    [
        ("deepseek_v3", {"rope_scaling": {"rope_type": "default"}}, "rope_scaling.factor is not set"),
        ("lfm2", {"layer_types": ["full_attention"]}, "layer_types has 1 type for 32 layers"),
        ("glm4", {"partial_rotary_factor": None}, "partial_rotary_factor is null"),
        ("moonshine", {"partial_rotary_factor": None}, "partial_rotary_factor is null"),
    ],
)
def test_an_older_release_refuses_what_its_code_computes_with(model, keys, told):
    (said,) = list_refused(model, OLDER, **keys)
    assert said == f"{told}, so the class of {model} in transformers 4 refuses the file"
    assert list_refused(model, OLDER) == []


def test_more_types_of_layers_than_layers_are_taken_where_the_class_does_not_count_them():
    assert list_refused("lfm2", OLDER, layer_types=["full_attention"] * 40) == []
    assert list_refused("lfm2", layer_types=["full_attention"] * 40) != []


def test_a_plain_block_with_a_factor_is_taken_where_the_class_looks_for_one():
    assert list_refused("deepseek_v3", OLDER, rope_scaling={"rope_type": "default", "factor": 1.0}) == []


@pytest.mark.parametrize(
    "keys",
    [
        {"max_position_embeddings": None},
        {"sliding_window": "64"},
        {"rope_theta": 10000},
        {"rope_scaling": {"rope_type": "linear", "factor": 2.0, "rope_theta": None}},  # which is no base there
        {"rope_parameters": {"rope_type": "su", "rope_theta": None}},  # which it does not know
    ],
)
def test_an_older_release_takes_what_the_newest_checks(keys):
    assert list_refused("llama", OLDER, **keys) == []


def test_types_of_layers_are_compared_where_a_class_counts_layers():
    keys = {"layer_types": ["full_attention", "other_attention"]}
    assert list_refused("edgetam_video", **keys) == []
    assert list_refused("edgetam_video", **keys, num_hidden_layers=2)


LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {"original_max_position_embeddings": 2048}
STRETCHED = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}


@pytest.mark.parametrize(
    ("model", "keys", "refused"),
    [
        ("codegen", {"rope_parameters": LLAMA3, "rope_theta": 1e4}, "rope_parameters.rope_theta"),
        ("codegen", {"rope_scaling": LLAMA3, "rope_theta": 1e4}, None),  # where the base on top goes
        ("codegen", {"rope_scaling": LLAMA3}, "rope_scaling.rope_theta"),
        ("esm", {"rope_scaling": LLAMA3, "rope_theta": 1e4}, "rope_scaling.rope_theta"),
        ("sapiens2", {"rope_scaling": {"rope_type": "proportional"}, "rope_theta": 1e4}, "rope_scaling.rope_theta"),
        # of both blocks rope_parameters alone is looked at, also where it is null
        ("seamless_m4t", {"rope_scaling": {"rope_type": "linear"}, "rope_parameters": None}, None),
        (
            "seamless_m4t",
            {"rope_scaling": {"rope_type": "default"}, "rope_parameters": {"rope_type": "linear"}},
            "rope_parameters.factor",
        ),
        ("blt", {"rope_scaling": {"rope_type": "linear"}, "rope_parameters": None}, "rope_scaling.factor"),
        # a scaling that is not computed is checked all the same
        ("llama4_vision_model", {"rope_scaling": {"rope_type": "linear"}}, "rope_scaling.factor"),
        ("wav2vec2-bert", {"rope_parameters": STRETCHED}, "rope_parameters"),
        ("wav2vec2-bert", {"rope_parameters": STRETCHED, "max_position_embeddings": 4096}, None),
        (
            "wav2vec2-bert",
            {"rope_scaling": STRETCHED, "max_position_embeddings": 4096, "rope_theta": 1e4},
            "rope_scaling",
        ),
        ("esmfold2", {"rope_parameters": STRETCHED, "max_position_embeddings": 4096, "rope_theta": 1e4}, None),
        ("sam3_video", {"rope_parameters": {**STRETCHED, "rope_theta": 1e4}, "max_position_embeddings": 4096}, None),
    ],
)
def test_blocks_that_a_class_does_not_compute_with_are_checked_as_it_checks_them(model, keys, refused):
    """Each was loaded, or refused, by transformers 5.24.0."""
    found = read_configuration({"model_type": model, **keys}, "config.json").findings
    said = [one.data["key"] for one in found if one.code in ("value-refused", "not-built")]
    assert said == ([] if refused is None else [refused])


@pytest.mark.parametrize(
    ("keys", "key", "told"),
    [
        ({"layer_types": ["full_attention"], "num_hidden_layers": 1}, "layer_types", "no type of layer"),
        ({"layer_types": ["mamba", "attention"], "num_hidden_layers": 4}, "layer_types", "has 2 types for 4 layers"),
        ({"layer_types": ["mamba", "attention"], "num_hidden_layers": 1}, "", ""),
        ({"num_hidden_layers": -8}, "", ""),
        ({}, "layer_types", "is not set"),
    ],
)
def test_types_of_layers_of_a_class_that_takes_no_others(keys, key, told):
    """As transformers 4.57.6 builds GraniteMoeHybrid, or does not."""
    stated = read_configuration({"model_type": "granitemoehybrid", **keys}, "config.json", OLDER)
    said = [one for one in stated.findings if one.code == "value-refused"]
    assert [one.data["key"] for one in said] == ([key] if key else [])
    assert all(told in one.message for one in said)


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"model_type": "esm", "num_attention_heads": 0}, "num_attention_heads"),
        ({"model_type": "esm", "hidden_size": 1000, "num_attention_heads": 12}, "hidden_size"),
        ({"model_type": "qwen3_vl_moe_text", "rope_scaling": {"factor": 2.0}}, "rope_scaling.rope_type"),
        ({"model_type": "llama", "hidden_size": -8, "head_dim": 128}, "hidden_size"),
    ],
)
def test_what_the_older_release_was_seen_to_refuse(keys, key):
    stated = read_configuration(keys, "config.json", OLDER)
    assert [one.data["key"] for one in stated.findings if one.code == "value-refused"] == [key]


def test_a_width_below_0_is_refused_where_the_class_was_seen_to():
    """CLVP's encoder of transformers 4.57.6 is built with it."""
    keys = {"model_type": "clvp_encoder", "hidden_size": -8, "head_dim": 64}
    stated = read_configuration(keys, "config.json", OLDER)
    assert "value-refused" not in [one.code for one in stated.findings]
