"""Blocks by type of layer: which classes read them, in which key, and what they make of a type that they have not.

Each configuration was given to transformers 5.24.0, whose modules turned by this base or which refused it.
"""

import pytest

from tests.models.configurations import audit, read, turn

PLAIN = {"rope_type": "default", "rope_theta": 25000.0}
LINEAR = {"rope_type": "linear", "factor": 4.0, "rope_theta": 777.0}
BOTH = {"full_attention": PLAIN, "sliding_attention": PLAIN}


def list_refused(keys):
    return [one.message for one in read(keys).findings if one.code == "not-built"]


def tell_bases(keys):
    return {name: one.base for name, one in turn(keys).items() if one is not None}


@pytest.mark.parametrize("model", ["qwen2", "dots1", "cohere2", "gpt_oss", "gemma2", "llama4_text"])
@pytest.mark.parametrize(
    "changes",
    [
        {"rope_parameters": {"full_attention": None}},
        {"rope_parameters": {"full_attention": LINEAR}},
        {"rope_scaling": {"full_attention": LINEAR}},
        {"rope_scaling": {"full_attention": LINEAR}, "rope_theta": 5555.0},
    ],
)
def test_blocks_by_type_are_refused_by_a_class_that_tells_them_and_reads_one(model, changes):
    (said,) = list_refused({"model_type": model, **changes})
    (place,) = {*changes} - {"rope_theta"}
    assert said.startswith(
        f"{place} is nested by layer type, but the class of {model} reads it flat, so transformers 5"
    )


@pytest.mark.parametrize("block", [{**PLAIN, "full_attention": LINEAR}, {"other_attention": None}])
def test_a_block_with_a_type_of_its_own_is_read_flat(block):
    keys = {"model_type": "cohere2", "rope_parameters": block}
    assert list_refused(keys) == []
    assert tell_bases(keys)["sliding_attention"] == (25000.0 if block.keys() & {"rope_type"} else 10000.0)


def test_types_that_a_file_states_decide_in_place_of_those_of_the_class():
    keys = {"model_type": "qwen2", "num_hidden_layers": 2, "layer_types": ["sliding_attention"] * 2}
    assert list_refused({**keys, "rope_parameters": {"full_attention": LINEAR}}) == []
    assert list_refused({**keys, "rope_parameters": {"sliding_attention": LINEAR}})


@pytest.mark.parametrize("model", ["gemma4_text", "lfm3", "laguna", "dory", "mimo_v2_flash", "diffusion_gemma_text"])
def test_rope_scaling_by_type_takes_the_place_of_rope_parameters(model):
    keys = {"model_type": model, "rope_scaling": {**BOTH, "chunked_attention": LINEAR}}
    assert list_refused(keys) == []
    assert tell_bases(keys)["full_attention"] == 25000.0


@pytest.mark.parametrize(("model", "base"), [("gemma3_text", 1e6), ("olmo3", 500000.0)])
def test_rope_scaling_by_type_is_not_read_where_it_is_added_to_a_block(model, base):
    assert tell_bases({"model_type": model, "rope_scaling": BOTH})["full_attention"] == base


@pytest.mark.parametrize("model", ["gemma3_text", "gemma3n_text", "olmo3", "t5gemma2_text"])
def test_rope_scaling_beside_no_block_that_it_is_added_to_is_refused(model):
    keys = {"model_type": model, "rope_parameters": {"chunked_attention": LINEAR}}
    assert list_refused(keys) == []
    (said,) = list_refused({**keys, "rope_scaling": {"rope_type": "linear", "factor": 8.0}})
    assert said.startswith(f"rope_parameters has no block for a type of layer to which the class of {model} in")


@pytest.mark.parametrize("model", ["gemma3_text", "gemma4_text", "lfm3", "laguna", "mellum"])
@pytest.mark.parametrize("beside", [{"rope_theta": 5000.0}, {"rope_type": "default"}])
def test_keys_beside_blocks_by_type_are_not_read(model, beside):
    keys = {"model_type": model, "rope_parameters": {**BOTH, **beside}}
    assert tell_bases(keys)["full_attention"] == 25000.0
    (finding,) = [one for one in audit(keys).findings if one.code == "key-not-read"]
    (key,) = beside
    assert finding.message.startswith(f"rope_parameters.{key} stands beside blocks by layer type, and is not read by")


@pytest.mark.parametrize("model", ["modernbert", "modernbert-decoder", "neomme"])
@pytest.mark.parametrize("others", [{"linear_attention": LINEAR}, {"other_attention": None}, {"factor": 4.0}])
def test_a_class_may_take_no_other_type_of_layer(model, others):
    (said,) = list_refused({"model_type": model, "rope_parameters": {**BOTH, **others}})
    assert f"rope_parameters has {next(iter(others))}, which is no type of layer of {model}" in said
    assert list_refused({"model_type": model, "rope_parameters": BOTH}) == []


@pytest.mark.parametrize(("model", "name"), [("lfm3", "chunked_attention"), ("dots3_note_text", "full_attention")])
def test_a_null_block_of_a_type_that_a_class_lacks_is_passed_over(model, name):
    own = {"dots3_note_text": {"sliding_attention": PLAIN, "indexed_attention": PLAIN}}.get(model, BOTH)
    found = audit({"model_type": model, "rope_parameters": {**own, name: None}}).findings
    assert [one.message for one in found if one.level == "error"] == []


def test_sections_that_a_class_needs_are_looked_for_beside_types_that_it_does_not_tell():
    """Its layers have no types, so such a block is a flat one."""
    for block in ({**PLAIN, "full_attention": LINEAR}, {"full_attention": None}):
        assert "lacks mrope_section" in list_refused({"model_type": "cosmos3_edge_text", "rope_parameters": block})[0]


@pytest.mark.parametrize("model", ["muse_spark_vision", "lfm3_vl_vision"])
def test_a_default_type_among_blocks_by_type_is_not_made_axial(model):
    assert list_refused({"model_type": model, "rope_parameters": {**PLAIN, "full_attention": LINEAR}})


BASED = {"rope_type": "default", "rope_theta": 777.0}
FOURTH = {"rope_type": "linear", "factor": 4.0}
TYPES = ("full_attention", "sliding_attention")


def list_bases(keys):
    return {layer.name: (layer.base, layer.rotary_dim) for layer in audit(keys).layers}


def list_errors(keys):
    return [(one.code, one.data.get("key")) for one in audit(keys).findings if one.level == "error"]


@pytest.mark.parametrize("model", ["neomme", "gemma3_text", "modernbert"])
def test_an_empty_block_is_none(model):
    for more in ({}, {"rope_theta": 5e5}, {"global_rope_theta": 5e5}):
        keys = {"model_type": model, **more}
        assert list_bases({**keys, "rope_parameters": {}}) == list_bases(keys)
        assert list_errors({**keys, "rope_parameters": {}}) == list_errors(keys)


@pytest.mark.parametrize("keys", [{"rope_parameters": {}}, {"rope_parameters": {}, "rope_theta": 5e5}])
def test_an_empty_block_is_refused_by_a_class_that_needs_it(keys):
    assert "layer-type-missing" in [code for code, _ in list_errors({"model_type": "gemma4_text", **keys})]


def test_an_empty_block_beside_an_older_one_is_none_by_type():
    keys = {"model_type": "gemma3_text", "rope_parameters": {}, "rope_scaling": {**FOURTH, "rope_theta": 777.0}}
    assert list_errors(keys)


def test_a_base_on_top_is_that_of_blocks_that_take_the_place_of_others():
    for model in ("beam", "gemma4_text", "lfm3", "zaya"):
        names = ("hybrid",) if model == "zaya" else TYPES
        keys = {"model_type": model, "rope_scaling": dict.fromkeys(names, FOURTH)}
        found = list_bases({**keys, "rope_theta": 4321.0})
        assert {base for name, (base, _) in found.items() if name in names} == {4321.0}
        assert not list_errors({**keys, "rope_theta": 4321.0})
    assert [code for code, _ in list_errors({"model_type": "beam", "rope_scaling": dict.fromkeys(TYPES, FOURTH)})] == [
        "not-built", "not-built",
    ]  # fmt: skip


def test_such_blocks_lack_what_the_class_has_by_default():
    blocks = {name: {**FOURTH, "rope_theta": 777.0} for name in TYPES}
    assert list_bases({"model_type": "neomme", "rope_scaling": blocks}) == dict.fromkeys(
        ["sliding_attention", "full_attention"], (777.0, 64)
    )
    del blocks["sliding_attention"]
    assert list_errors({"model_type": "neomme", "rope_scaling": blocks}) == [
        ("not-built", "rope_scaling.sliding_attention")
    ]
    assert list_bases({"model_type": "neomme", "rope_parameters": blocks})["full_attention"] == (777.0, 16)


def test_a_class_without_a_default_takes_blocks_from_either_key():
    keys = {"model_type": "cohere_compass_text"}
    for name in ("rope_scaling", "rope_parameters"):
        found = {**keys, name: {"full_attention": BASED}}
        assert list_bases(found)["full_attention"] == (777.0, 128)
        assert not list_errors(found)


@pytest.mark.parametrize("name", ["conv", "linear_attention", "hybrid"])
def test_blocks_of_types_that_a_class_does_not_tell_are_not_read(name):
    keys = {"model_type": "step3p5", "rope_parameters": {name: BASED}}
    assert list_bases(keys) == {"all": (1e4, 128)}
    assert list_errors(keys) == [("layer-type-missing", None)]
    assert list_bases({**keys, "rope_theta": 888.0})["full_attention"] == (888.0, 128)
