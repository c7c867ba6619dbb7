"""Models whose files state the axes that turn parts of a head: what is read, refused and compared."""

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.comparison.rotations import compare_rotations
from pe_spectra.models.stacks import turn_layer
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import load_table
from pe_spectra.models.stated.statement import NEWEST
from tests.in_one import in_one

HUNYUAN = {"_class_name": "HunyuanVideoTransformer3DModel"}


def read(config):
    return read_configuration(config, "config.json")


def audit(config):
    return audit_configuration(read(config))


def turn(config):
    stated = read(config)
    return [turn_layer(stated, layer) for layer in stated.layers]


def compare(a, b):
    return compare_rotations(turn(a), turn(b), length=256)


def ladder(base, width):
    return base ** (-np.arange(0, width, 2) / width)


def test_each_axis_turns_its_part_by_a_ladder_of_its_own():
    found = audit({**HUNYUAN, "rope_axes_dim": [16, 48, 64], "rope_theta": 300})
    assert [layer.name for layer in found.layers] == ["time", "height", "width"]
    for layer, width in zip(found.layers, (16, 48, 64), strict=True):
        assert (layer.head_dim, layer.rotary_dim, layer.base) == (128, width, 300)
        np.testing.assert_allclose(layer.frequencies, ladder(300.0, width), rtol=1e-12)
    (note,) = found.findings
    assert note.data["map"] == [0] * 8 + [1] * 24 + [2] * 32
    assert note.message == "of the pairs of a head time turns 0 to 7, height turns 8 to 31 and width turns 32 to 63"
    assert (found.format, found.model) == ("diffusers", HUNYUAN["_class_name"])


def test_a_factor_of_an_axis_enlarges_its_base():
    """As Cosmos does: base times s**(D/(D - 2)) for each axis."""
    found = audit({"_class_name": "CosmosTransformer3DModel", "rope_scale": [1.0, 3.0, 1.0]})
    assert [layer.scaling for layer in found.layers] == ["none", "ntk", "none"]
    np.testing.assert_allclose(found.layers[1].frequencies, ladder(1e4 * 3 ** (42 / 40), 42), rtol=1e-12)


@in_one("head", range(24, 400, 2))
def test_the_share_of_an_axis_is_its_width_again(head):
    """A width over a head, times the head, may be just below the width."""
    layers = audit({"_class_name": "WanTransformer3DModel", "attention_head_dim": head}).layers
    assert [layer.rotary_dim for layer in layers] == [head - 4 * (head // 6), *[2 * (head // 6)] * 2]


def test_pairs_that_take_axes_in_turns():
    found = audit({"_class_name": "LuminaNextDiT2DModel"})
    assert found.layers[0].rotation.axes == (0, 1) * 18
    assert found.findings[0].message == "axes take the pairs of a head in turns: height 18 and width 18 of 36"


def test_sections_share_one_ladder():
    found = audit({"_class_name": "Ideogram4Transformer2DModel", "mrope_section": [100, 14, 14]})
    (layer,) = found.layers
    assert (layer.name, layer.rotary_dim) == ("all", 256)
    assert layer.rotation.axes[:5] == (0, 1, 2, 0, 1)
    assert [layer.rotation.axes.count(axis) for axis in range(3)] == [100, 14, 14]


def test_other_widths_of_axes_are_not_the_same():
    report = compare({**HUNYUAN, "rope_axes_dim": [16, 56, 56]}, {**HUNYUAN, "rope_axes_dim": [16, 48, 64]})
    found = {(one.what, *one.layers): (one.a, one.b) for one in report.differences}
    assert found["rotary_dim", "height"] == (56, 48)
    assert found["rotary_dim", "width"] == (56, 64)
    (axes,) = (one for one in report.differences if one.what == "axes")
    assert axes.effect == "4 pairs of 64, the first is 32, turn by another axis of the position"
    assert {one.what for one in report.differences} == {"rotary_dim", "axes"}


def test_another_base_of_all_axes():
    report = compare(HUNYUAN, {**HUNYUAN, "rope_theta": 10000.0})
    assert {one.what for one in report.differences} == {"base"}
    assert [one.code for one in report.causes] == ["default-base"]


def test_widths_that_do_not_fill_a_head_are_an_error():
    found = audit({"_class_name": "FluxTransformer2DModel", "axes_dims_rope": [16, 56, 54]})
    assert found.findings[0].code == "head-width"
    assert "axes_dims_rope adds up to 126 channels, but a head has 128" in found.findings[0].message


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"_class_name": "Nope"}, "Nope is no class of diffusers 0.42.1 whose rotation was measured"),
        ({"_class_name": "SD3Transformer2DModel"}, "makes no rotary module in diffusers 0.42.1"),
        ({"architecture": "resnet50"}, "resnet50 is no architecture of timm 1.0.31 whose rotation was measured"),
        ({"architecture": "vit_base_patch16_rope_mixed_224"}, "turns by learned frequencies of both axes"),
        ({**HUNYUAN, "rope_axes_dim": [16, 56]}, "a list of 3 numbers, one for each axis, is accepted"),
        ({**HUNYUAN, "rope_axes_dim": [16.5, 56, 56]}, "even widths from 2 to 16384 are accepted for axes, not 16.5"),
        ({**HUNYUAN, "rope_axes_dim": [15, 57, 56]}, "even widths"),
        ({**HUNYUAN, "attention_head_dim": 10**9}, "even widths"),
        ({**HUNYUAN, "rope_theta": "high"}, "rope_theta cannot be used ('high')"),
        ({"_class_name": "Ideogram4Transformer2DModel", "attention_head_dim": 131}, "even widths"),
        ({"_class_name": "LuminaNextDiT2DModel", "hidden_size": 8}, "a number from that of the heads, 32, is accepted"),
    ],
)
def test_what_is_refused(config, said):
    with pytest.raises(FileError) as caught:
        read(config)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_type_goes_before_the_name_of_a_class():
    widths = {"hidden_size": 4096, "num_attention_heads": 32}
    assert read({"model_type": "llama", "_class_name": "FluxTransformer2DModel", **widths}).format == "config.json"
    assert read({"_class_name": 3, "rope_theta": 1e4, **widths}).format == "config.json"


@pytest.mark.parametrize(
    ("a", "b", "shown"),
    [
        (
            {"_class_name": "CogView4Transformer2DModel"},
            {"_class_name": "GlmImageTransformer2DModel"},
            ("span 256 x 256", "counted"),
        ),
        ({"_class_name": "GlmImageTransformer2DModel"}, {"_class_name": "GlmImageTransformer2DModel"}, None),
    ],
)
def test_coordinates_are_compared(a, b, shown):
    """The same ladders and the same pairs, but places of patches that are counted in one and scaled in the other."""
    found = [(one.a, one.b) for one in compare(a, b).differences if one.what == "coordinates"]
    assert found == ([] if shown is None else [shown])


AXIAL = sorted(name for name, found in load_table(NEWEST)["classes"].items() if found.get("takes_axial"))


@pytest.mark.parametrize("model", AXIAL)
def test_the_rope_type_axial_is_the_default_one_of_each_axis(model):
    """As transformers 5.24.0 writes the files of these classes."""
    found, plain = (
        audit({"model_type": model, "rope_parameters": {"rope_type": kind, "rope_theta": 333.0}})
        for kind in ("axial", "default")
    )
    assert "unknown-scaling" not in {one.code for one in found.findings}
    for one, other in zip(found.layers, plain.layers, strict=True):
        assert np.array_equal(one.frequencies, other.frequencies)


@pytest.mark.parametrize("model", ["llama", "no_class_that_is_known"])
def test_a_class_of_text_refuses_the_rope_type_axial(model):
    block = {"rope_type": "axial", "rope_theta": 1e4}
    found = audit({"model_type": model, "head_dim": 64, "max_position_embeddings": 64, "rope_parameters": block})
    (error,) = (one for one in found.findings if one.level == "error")
    assert (error.code, "one of other classes in transformers" in error.message) == ("unknown-scaling", True)
    assert "(axial)" in error.message
