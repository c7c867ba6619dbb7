"""What the classes of transformers refuse to be made of: numbers that do not fit each other."""

import pytest

from pe_spectra.models.stated.configuration import read_configuration


def list_refused(model, **keys):
    found = read_configuration({"model_type": model, **keys}, "config.json").findings
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


@pytest.mark.parametrize("model", ["mistral4", "seed_oss"])
def test_a_head_of_null_is_refused_where_the_class_is_scaled(model):
    said = "head_dim is null under the scaling of the class"
    assert said in " ".join(list_refused(model, head_dim=None))
    assert list_refused(model) == []


def test_heads_of_an_odd_width_are_refused_where_the_class_computes_with_half_of_it():
    said = "hidden_size is 4128, so each of 32 heads has an odd width"
    assert said in " ".join(list_refused("llama", hidden_size=4128, num_attention_heads=32))
    assert list_refused("llama", hidden_size=4160, num_attention_heads=32) == []
