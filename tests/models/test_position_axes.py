"""Which axis of a position turns each pair: the orders of the classes, what files state, and what diff says of both."""

import json

import numpy as np
import pytest

from pe_spectra.models.stacks import turn_layer
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import load_table
from pe_spectra.models.stated.position_axes import AXIS_ORDERS, list_axes
from pe_spectra.models.stated.statement import NEWEST
from tests.models.configurations import audit

VISION = {"head_dim": 128, "hidden_size": 2048, "num_attention_heads": 16, "rope_theta": 1e6}
GLM = {"model_type": "glm_moe_dsa", "hidden_size": 2048, "num_attention_heads": 16, "rope_theta": 1e6}


def turn(config):
    stated = read_configuration(dict(config), "config.json")
    return turn_layer(stated, stated.layers[0])


def choose(sections, order):
    """As the modules put pairs together: from one list of pairs for each axis."""
    pairs = sum(sections)
    time, height, width = (np.full(pairs, axis) for axis in range(3))
    if order == "blocks":
        parts = np.split(np.arange(pairs), np.cumsum(sections)[:-1])
        return np.concatenate([[axis] * len(part) for axis, part in enumerate(parts)])
    if order == "turns":  # apply_interleaved_mrope of Qwen3-VL
        for axis, values in ((1, height), (2, width)):
            time[axis : 3 * sections[axis] : 3] = values[axis : 3 * sections[axis] : 3]
        return time
    both = np.stack([height[: sections[0]], width[: sections[1]]], axis=-1).reshape(-1)
    return np.concatenate([both, time[: sections[2]]])


@pytest.mark.parametrize("order", AXIS_ORDERS)
@pytest.mark.parametrize("sections", [(24, 20, 20), (11, 11, 10), (16, 24, 24), (22, 22, 20)])
def test_the_axes_are_those_of_the_modules(sections, order):
    if order == "height-width" and sections[0] != sections[1]:
        return  # Ernie stacks both
    assert list_axes(sections, order, sum(sections)) == tuple(choose(sections, order))


def test_every_order_that_was_measured_has_a_name():
    classes = load_table(NEWEST)["classes"].values()
    assert {one["axis_order"] for one in classes if "axis_order" in one} == {*AXIS_ORDERS} - {"blocks"}


@pytest.mark.parametrize(
    ("model", "stated", "sections", "order"),
    [
        ("qwen3_vl_text", {}, (24, 20, 20), "turns"),
        ("qwen3_vl_text", {"mrope_section": [20, 22, 22]}, (20, 22, 22), "turns"),
        ("qwen3_vl_text", {"mrope_section": [24, 20, 20], "mrope_interleaved": False}, (24, 20, 20), "blocks"),
        ("qwen2_vl_text", {"mrope_section": [16, 24, 24]}, (16, 24, 24), "blocks"),
        ("qwen2_vl_text", {"mrope_section": [16, 24, 24], "mrope_interleaved": True}, (16, 24, 24), "turns"),
        ("ernie4_5_vl_moe_text", {}, (22, 22, 20), "height-width"),
    ],
)
def test_files_state_sections_and_classes_have_orders(model, stated, sections, order):
    config = {"model_type": model, **VISION, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6, **stated}}
    assert turn(config).axes == tuple(choose(sections, order))


def test_models_of_text_have_one_axis():
    assert turn({"model_type": "llama", "head_dim": 64}).axes is None


@pytest.mark.parametrize("sections", [[1e300, 1, 1], [1, 1, 1e9], [64]])
def test_odd_sections_are_a_finding_and_no_fault(sections):
    config = {"model_type": "qwen2_vl_text", **VISION, "rope_scaling": {"type": "mrope", "mrope_section": sections}}
    assert len(turn(config).axes) == 64


def test_null_is_no_section():
    block = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": None}
    assert turn({"model_type": "llama", "head_dim": 64, "rope_parameters": block}).axes is None


def test_sections_that_cover_one_pair_more_are_a_difference(cli, tmp_path):
    """[24, 20, 24] against [24, 20, 20]: of 64 pairs in turns, the last alone."""
    for name, sections in (("a", [24, 20, 24]), ("b", [24, 20, 20])):
        block = {"rope_type": "default", "mrope_section": sections, "mrope_interleaved": True}
        (tmp_path / f"{name}.json").write_text(
            json.dumps({"model_type": "qwen3_vl_text", **VISION, "rope_scaling": block})
        )
    document = json.loads(cli("diff a.json b.json --json").out)
    found, errors = document["differences"]
    assert (errors["what"], errors["a"], errors["b"]) == ("errors", "head-width", None)
    assert (found["what"], found["a"][:8], found["b"][:8]) == ("axes", "23+20+21", "24+20+20")
    assert found["effect"].startswith("1 pair of 64, the first is 62, turn by another axis")
    sides = [document[side]["layer_types"][0]["axes"] for side in "ab"]
    assert [pair for pair in range(64) if sides[0][pair] != sides[1][pair]] == [62]


def test_the_layout_of_an_indexer_is_a_difference(cli, tmp_path):
    for name, value in (("a", True), ("b", False)):
        (tmp_path / f"{name}.json").write_text(json.dumps({**GLM, "indexer_rope_interleave": value}))
    (tmp_path / "silent.json").write_text(json.dumps(GLM))
    document = json.loads(cli("diff a.json b.json --json").out)
    (found,) = document["differences"]
    assert (found["what"], found["a"], found["b"]) == ("indexer_layout", "interleaved", "half")
    assert document["a"]["layer_types"][0]["indexer_layout"] == "interleaved"
    assert json.loads(cli("diff a.json silent.json --json").out)["differences"] == []


@pytest.mark.parametrize("model", ["gemma4_vision", "muse_spark_vision", "step3p5_vision"])
@pytest.mark.parametrize("stated", [{}, {"max_position_embeddings": 131072}])
def test_a_number_of_patches_is_no_length_of_an_axis(model, stated):
    """Each axis of a grid is far shorter, and no key says how far its coordinates go."""
    found = audit({"model_type": model} | stated)
    assert {(layer.trained_length, layer.served_length) for layer in found.layers} == {(None, None)}
    assert {one.code for one in found.findings} <= {"grid-rotation", "base-defaulted"}
    asked = audit({"model_type": model} | stated, served=64)
    assert {layer.served_length for layer in asked.layers} == {64}
