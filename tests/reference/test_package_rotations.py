"""Rotations of the catalogue against what the real packages returned."""

import dataclasses

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from tests.making import make_named
from tests.reference.frozen_packages import FREQUENCY, PYTHON, U, assert_close, cases, read

# ----------------------------------------------------------------------------------- rotary


#: Keys of transformers' rope_parameters, and ours.
SAME_KEYS = ("factor", "beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim")
SAME_KEYS += ("low_freq_factor", "high_freq_factor", "short_factor", "long_factor")


def translate(asked):
    """The parameters of our `rope` for a configuration of transformers."""
    given, kind, longest = asked["rope_parameters"], asked["rope_type"], asked["max_position_embeddings"]
    ours = {key: given[key] for key in SAME_KEYS if key in given}
    ours |= {"d": asked["head_dim"], "base": given["rope_theta"], "share": given.get("partial_rotary_factor", 1.0)}
    ours["scaling"] = "none" if kind == "default" else kind
    if "truncate" in given:
        ours["truncate"] = "yes" if given["truncate"] else "no"
    if "original_max_position_embeddings" in given:
        ours["original"] = given["original_max_position_embeddings"]
    if kind == "dynamic":  # its length of training is the longest one of the configuration
        ours |= {"original": longest, "served": asked["seq_len"] or longest}
    if kind == "longrope":
        ours["served"] = asked["seq_len"]
        ours.setdefault("factor", longest / ours["original"])  # as transformers fills it in
    return ours


@cases("frequencies", "")
def test_rotary_frequencies_and_attention_factor(case):
    theirs = np.array(case["values"], dtype=float)
    frequencies = make_named("rope", **translate(case["arguments"])).frequencies()
    assert_array_equal(frequencies.values == 0, theirs == 0)
    assert_allclose(frequencies.values, theirs, rtol=FREQUENCY, atol=0)
    assert_allclose(frequencies.amplitude, case["attention_factor"], rtol=PYTHON, atol=0)


def test_every_scaling_of_transformers_is_among_the_cases():
    kinds = {case["arguments"]["rope_type"] for case in read("frequencies")["cases"]}
    assert kinds == {"default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional"}
    assert {
        translate(case["arguments"])["truncate"]
        for case in read("frequencies")["cases"]
        if "truncate" in case["arguments"]["rope_parameters"]
    } == {"no"}


def rope_of(case):
    asked = case["arguments"]
    return make_named("rope", **translate(asked)) if "rope_type" in asked else make_named("rope", d=asked["dim"])


@cases("rotations", "LlamaRotaryEmbedding")
def test_cosines_and_sines_of_llama(case):
    # both halves of a row are the same; ours is the cosines once and then the sines once
    s, (cosine, sine) = np.array(case["positions"]), np.array(case["values"], dtype=float)
    half = cosine.shape[1] // 2
    assert_array_equal(cosine[:, half:], cosine[:, :half])
    assert_close(rope_of(case).table(s), np.concatenate([cosine[:, :half], sine[:, :half]], axis=1), 2 * s[:, None])


@cases("rotations", "(of ones)")
def test_dot_products_of_rotated_ones_are_twice_the_kernel(case):
    # a pair (1, 1) turned by two angles has the dot product 2 cos(their difference)
    s, rotated = np.array(case["positions"]), np.array(case["values"], dtype=float)
    kernel = rope_of(case).kernel(np.subtract.outer(s, s).ravel())[0].reshape(len(s), len(s))
    theirs = rotated @ rotated.T
    assert (np.abs(theirs - 2 * kernel) <= 16 * U * (2 + s[:, None] + s)).all()


@cases("rotations", "llama", "(of ones)")
def test_llama_pairs_channels_half_a_width_apart(case):
    check_pairs(case, "half")


@cases("rotations", "gptj", "(of ones)")
def test_gptj_pairs_neighbours(case):
    check_pairs(case, "interleaved")


@cases("rotations", "rotary_embedding_torch", "(of ones)")
def test_rotary_embedding_torch_pairs_neighbours(case):
    check_pairs(case, "interleaved")


def check_pairs(case, layout):
    # (1, 1) turned by an angle is (cos - sin, sin + cos)
    s, rotated = np.array(case["positions"]), np.array(case["values"], dtype=float)
    rope = dataclasses.replace(rope_of(case), layout=layout)
    rows, half = rope.table(s), rope.d // 2
    cosine, sine = (rows[:, :half], rows[:, half:]) if layout == "half" else (rows[:, ::2], rows[:, 1::2])
    first, second = cosine - sine, sine + cosine
    expected = np.concatenate([first, second], axis=1) if layout == "half" else interleave(first, second)
    assert_close(expected, rotated, 4 * s[:, None])


def interleave(first, second):
    return np.stack([first, second], axis=2).reshape(len(first), -1)


@cases("rotary_embedding_torch", "RotaryEmbedding.freqs", freqs_for="lang")
def test_frequencies_of_rotary_embedding_torch(case):
    asked, theirs = case["arguments"], np.array(case["values"], dtype=float)
    factor = asked.get("theta_rescale_factor")
    scaling = {} if factor is None else {"scaling": "ntk", "factor": factor}
    rope = make_named("rope", d=asked["dim"], base=asked.get("theta", 10000.0), **scaling)
    assert_allclose(rope.frequencies().values, theirs, rtol=FREQUENCY, atol=0)


@cases("rotary_embedding_torch", "RotaryEmbedding.scale")
def test_xpos_decays_by_its_scale_over_the_scale_base(case):
    asked, scale = case["arguments"], np.array(case["values"], dtype=float)
    lag = asked["xpos_scale_base"]
    rope = make_named("rope", d=asked["dim"], scaling="xpos", scale_base=lag)
    theirs = np.sum(scale * np.cos(rope.frequencies().values * lag))
    assert_allclose(rope.kernel([lag])[0, 0], theirs, rtol=0, atol=16 * U)


@cases("rotary_embedding_torch", "get_seq_pos")
def test_interpolated_positions_are_divided_frequencies(case):
    asked, t = case["arguments"], np.array(case["values"], dtype=float)
    rope = make_named("rope", d=asked["dim"])
    divided = dataclasses.replace(rope, scaling="linear", factor=asked["interpolate_factor"])
    assert_allclose(divided.table(len(t)), rope.table_at(t), rtol=0, atol=1e-15)


@cases("rotary_embedding_torch", "get_scale")
def test_xpos_decays_as_in_rotary_embedding_torch(case):
    # a query's scale times the inverse of a key's: zeta**(lag / scale_base); pairs of channels share it
    scale = np.array(case["values"], dtype=float)[:, ::2]
    asked, t = case["arguments"], np.arange(case["arguments"]["t"])
    rope = make_named("rope", d=asked["dim"], scaling="xpos", scale_base=asked["xpos_scale_base"])
    angles = np.multiply.outer(t, rope.frequencies().values)
    theirs = np.sum(np.cos(angles) * scale / scale[0], axis=1)
    assert_allclose(rope.kernel(t)[0], theirs, rtol=0, atol=64 * U)


# ----------------------------------------------------------------------------------- grids


def split_turns(ours):
    """Sines and cosines of the pairs, from a table with cosine and sine in turn."""
    return ours[:, 1::2], ours[:, ::2]


def swap_halves(columns):
    half = columns.shape[1] // 2
    return np.concatenate([columns[:, half:], columns[:, :half]], axis=1)


@cases("features", ".freq_bands")
def test_bands_of_one_axis_in_timm(case):
    asked = case["arguments"]
    ours = make_named("rope", d=2 * asked["num_bands"], base=asked["temperature"]).frequencies().values
    assert_allclose(ours, case["values"], rtol=FREQUENCY, atol=0)


@cases("axial", "DINOv3ViTRopePositionEmbedding.inv_freq")
def test_frequencies_of_dinov3(case):
    asked = case["arguments"]
    d = asked["hidden_size"] // asked["num_attention_heads"]
    ours = make_named("rope", d=d // 2, base=float(asked["rope_theta"])).frequencies().values
    assert_allclose(ours, case["values"], rtol=FREQUENCY, atol=0)


@cases("axial", "DINOv3ViTRopePositionEmbedding.forward")
def test_rotary_encoding_of_dinov3(case):
    # 2 pi times the middle of each patch, from -1 to 1 along each axis; rows first; each angle stands twice
    asked, (cosine, sine) = case["arguments"], np.array(case["values"], dtype=float)
    height, width = (pixels // asked["patch_size"] for pixels in asked["pixels"])
    y, x = np.divmod(np.arange(height * width), width)
    rope = make_named("rope", d=cosine.shape[1] // 2, base=float(asked["rope_theta"]))
    along = [rope.table_at(2 * np.pi * ((2 * n + 1) / count - 1)) for n, count in ((y, height), (x, width))]
    half = rope.d // 2
    for frozen, part in ((cosine, slice(0, half)), (sine, slice(half, None))):
        ours = np.concatenate([rows[:, part] for rows in along], axis=1)
        assert_close(np.concatenate([ours, ours], axis=1), frozen, 4 * 2 * np.pi)


@cases("axial", "build_rotary_pos_embed")
def test_axial_rotary_encoding_of_timm(case):
    # each angle stands twice, for both channels of its pair; xy: x first, as ours; ij: y first
    asked, theirs = case["arguments"], np.array(case["values"], dtype=float)
    (height, width), d = asked["feat_shape"], asked["dim"]
    ours = make_named("rope-axial", d=d, height=height, width=width, base=asked["temperature"]).table(height * width)
    for columns, frozen in zip(split_turns(ours), theirs, strict=True):
        assert_array_equal(frozen[:, ::2], frozen[:, 1::2])
        ordered = columns if asked["grid_indexing"] == "xy" else swap_halves(columns)
        assert_close(ordered, frozen[:, ::2], 2 * width)


@cases("rotary_embedding_torch", "get_axial_freqs", freqs_for="lang")
def test_axial_angles_of_rotary_embedding_torch(case):
    # its `dim` is that of one axis; the first axis comes first
    (height, width), angles = case["arguments"]["dims"], np.array(case["values"], dtype=float)[:, ::2]
    d = 2 * case["arguments"]["dim"]
    ours = make_named("rope-axial", d=d, height=height, width=width, base=10000.0).table(height * width)
    for columns, frozen in zip(split_turns(ours), (np.sin(angles), np.cos(angles)), strict=True):
        assert_close(swap_halves(columns), frozen, 2 * width)


@cases("rotary_embedding_torch", "get_axial_freqs", freqs_for="pixel")
def test_axial_bands_of_rotary_embedding_torch(case):
    # along each axis the angles of the bands, from -1 to 1 whatever its length
    asked, angles = case["arguments"], np.array(case["values"], dtype=float)[:, ::2]
    (height, width), d = asked["dims"], asked["dim"]
    cells = np.stack(np.divmod(np.arange(height * width), width), axis=1)
    for axis, length in enumerate((height, width)):
        part = angles[:, axis * d // 2 : (axis + 1) * d // 2]
        bands = make_named("pixel-bands", d=d, max_freq=float(asked["max_freq"]), length=length)
        assert_close(bands.table(cells[:, axis]), np.concatenate([np.sin(part), np.cos(part)], axis=1), 8 * np.pi * 5)


@cases("axial", "init_random_2d_freqs")
def test_mixed_directions_of_timm(case):
    # the random angle of a head is its own; lengths and the right angle between the halves are not
    asked, theirs = case["arguments"], np.array(case["values"], dtype=float)
    for head in range(asked["num_heads"]):
        rope = make_named("rope-axial", d=asked["head_dim"], mode="mixed", head=head, base=asked["temperature"])
        ours = rope.vectors()[0] + 1j * rope.vectors()[1]
        frozen = theirs[0, head] + 1j * theirs[1, head]
        turned = frozen / ours
        assert_allclose(np.abs(turned), 1, rtol=FREQUENCY)
        assert_allclose(turned, turned[0], rtol=0, atol=FREQUENCY)
