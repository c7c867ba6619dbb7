"""What the classes of transformers refuse to be made of: numbers that do not fit each other."""

import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.statement import NEWEST, OLDER
from tests.models.configurations import read


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
        ({"model_type": "gpt_oss", "hidden_size": -8}, "hidden_size"),  # the width of a head does not go by it
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
