"""The catalogue against what the real packages returned, frozen in tests/reference/packages.

The packages were run once by generate.py of that folder; its files name them and their versions.
They compute in float32, whose rounding unit is u = 2**-24: a frequency goes through a power, a few
products and a ramp (a few u), and an angle p w is rounded once more, so that a sine is off by up to
about p w u however well it is evaluated. Ours are float64 and right to its last places, so the
tolerances below are those of float32 and the differences are the packages'.
"""

import dataclasses
import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings import find_encoding
from pe_spectra.errors import InputError

FOLDER = Path(__file__).parent / "reference" / "packages"
#: Rounding unit of float32.
U = 2.0**-24
#: Relative tolerance of a frequency: the frozen ones are off by at most 7 u (YaRN's ramp without truncation).
FREQUENCY = 16 * U
#: ALiBi's slopes are powers of a rounded base, up to its 32nd.
SLOPE = 64 * U
#: Every frozen case that some test compares.
COMPARED: set[int] = set()
#: Values that packages leave in Python's own floats.
PYTHON = 1e-14


@cache
def read(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def cases(name, *words, **arguments):
    """One pytest parameter for each case of a file whose function has all the words, and the arguments."""
    found = [
        case
        for case in read(name)["cases"]
        if all(word in case["function"] for word in words)
        and all(case["arguments"].get(key) == value for key, value in arguments.items())
    ]
    assert found, (name, words, arguments)
    COMPARED.update(map(id, found))
    return pytest.mark.parametrize("case", [pytest.param(case, id=label(case)) for case in found])


def label(case):
    text = json.dumps(case["arguments"])
    return re.sub(r"[^\w.=+-]+", "-", f"{case['function'].rpartition('.')[2]} {text}").strip("-")[:110]


def build(name, **parameters):
    return find_encoding(name)(**parameters)


def assert_rows(ours, case, positions):
    """Codes at the positions, of frequencies up to 1 rad."""
    assert_close(ours, np.array(case["values"], dtype=float), np.abs(positions)[:, None])


def assert_close(ours, theirs, angles):
    """Sines and cosines off by at most the rounding of their angles, which are up to `angles`, and their own."""
    assert ours.shape == theirs.shape
    excess = np.abs(ours - theirs) - U * (2 + angles)
    assert excess.max() <= 0, np.unravel_index(excess.argmax(), excess.shape)


# ----------------------------------------------------------------------------------- the files

FILES = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_is_small_and_names_its_packages(path):
    assert path.stat().st_size < 60_000
    header = read(path.stem)["header"]
    assert set(header) == {"what", "versions", "written by"}
    assert header["versions"].keys() >= {"torch", "python"}
    pinned = dict(re.findall(r"([a-z-]+)==([\d.]+)", (FOLDER / "generate.py").read_text(encoding="utf-8")))
    assert {name: version for name, version in header["versions"].items() if name != "python"}.items() <= pinned.items()
    for case in read(path.stem)["cases"]:
        assert case["function"]
        assert case["arguments"]
        assert case["values"]


def test_every_case_is_compared():
    assert len(FILES) == 12
    left_out = [label(case) for path in FILES for case in read(path.stem)["cases"] if id(case) not in COMPARED]
    assert left_out == []


# ----------------------------------------------------------------------------------- biases


@cases("alibi", "bloom")
def test_alibi_of_bloom(case):
    # slope x key; softmax does not see what all keys of a query share, so the bias is minus slope x lag
    theirs = np.array(case["values"], dtype=float)
    alibi = build("alibi", head_count=case["arguments"]["num_heads"])
    assert_allclose(alibi.bias([0, 1, 2, 3]), -theirs, rtol=SLOPE, atol=0)


@cases("alibi", "mpt")
def test_alibi_of_mpt(case):
    # minus slope x (last key - key): the bias of the last query
    theirs = np.array(case["values"], dtype=float)
    alibi = build("alibi", head_count=case["arguments"]["num_heads"])
    assert_allclose(alibi.bias([3, 2, 1, 0]), theirs, rtol=SLOPE, atol=0)


def test_both_packages_have_the_same_slopes_for_any_number_of_heads():
    found = {}
    for case in read("alibi")["cases"]:
        slopes = np.abs(np.diff(np.array(case["values"], dtype=float), axis=1)[:, -1])
        found.setdefault(case["arguments"]["num_heads"], []).append(slopes)
    assert set(found) == {1, 2, 8, 12, 40}
    for bloom, mpt in found.values():
        assert_allclose(bloom, mpt, rtol=SLOPE, atol=0)


RELATIVE = np.arange(-300, 301)


@cases("t5_buckets")
def test_t5_buckets(case):
    asked = case["arguments"]
    theirs = np.array(case["values"])
    both, count, far = asked["bidirectional"], asked["num_buckets"], asked["max_distance"]
    # the table holds its own row numbers, so the bias is the bucket; a lag is query minus key, T5's is its opposite
    numbers = np.arange(float(count))[:, None]
    t5 = build("t5", values=numbers, max_distance=far, bidirectional="yes" if both else "no")
    seen = np.less_equal(RELATIVE, 300 if both else 0)
    assert_array_equal(t5.bias(-RELATIVE[seen])[0], theirs[seen])
    keys = t5.exact_key(-RELATIVE[seen])
    assert_array_equal(keys[:, None] == keys, theirs[seen][:, None] == theirs[seen])


PLACES = np.subtract.outer(np.arange(6), np.arange(6))  # query minus key


@cases("lag_maps", "T5Attention", is_decoder=False)
def test_bias_of_t5_between_queries_and_keys(case):
    t5 = build("t5", values=np.arange(8.0)[:, None], max_distance=20)
    assert_array_equal(t5.bias(PLACES.ravel())[0].reshape(6, 6), case["values"])


@cases("lag_maps", "T5Attention", is_decoder=True)
def test_bias_of_t5_between_queries_and_earlier_keys(case):
    t5 = build("t5", values=np.arange(8.0)[:, None], max_distance=20, bidirectional="no")
    seen = PLACES >= 0
    assert_array_equal(t5.bias(PLACES[seen])[0], np.array(case["values"])[seen])


@cases("lag_maps", "relative_key")
def test_rows_of_shaw_between_queries_and_keys(case):
    shaw = build("shaw", values=np.arange(5.0)[:, None])
    assert_array_equal(shaw.lag_table(PLACES.ravel()).reshape(6, 6), case["values"])


def test_in_a_decoder_of_t5_keys_after_the_query_share_bucket_0():
    (case,) = [
        c
        for c in read("t5_buckets")["cases"]
        if c["arguments"] == {"bidirectional": False, "num_buckets": 32, "max_distance": 128}
    ]
    assert set(np.array(case["values"])[RELATIVE >= 0]) == {0}
    with pytest.raises(InputError, match="negative"):
        build("t5", bidirectional="no").bias([-1])


# ----------------------------------------------------------------------------------- sines and cosines


def compare_rows(case, name, **parameters):
    """The table of an encoding of the same width at the positions of the case."""
    s = np.array(case["positions"])
    assert_rows(build(name, d=len(case["values"][0]), **parameters).table(s), case, s)


@cases("sinusoids", "whisper")
def test_whisper(case):
    compare_rows(case, "tensor2tensor")


@cases("sinusoids", "m2m_100")
def test_fairseq_as_in_m2m_100(case):
    compare_rows(case, "tensor2tensor")


@cases("sinusoids", "marian")
def test_marian(case):
    compare_rows(case, "sinusoidal", layout="concatenated")


@cases("sinusoids", "informer")
def test_informer(case):
    compare_rows(case, "sinusoidal", layout="concatenated")


@cases("sinusoids", "xlm")
def test_xlm(case):
    compare_rows(case, "sinusoidal")


@cases("sinusoids", "gptj")
def test_sines_and_cosines_of_gptj(case):
    compare_rows(case, "sinusoidal", layout="concatenated")


@cases("sinusoids", "positional_encodings")
def test_positional_encodings_1d(case):
    # an odd width is the next even one without its last column
    s, d = np.array(case["positions"]), case["arguments"]["channels"]
    assert_rows(build("sinusoidal", d=d + d % 2).table(s)[:, :d], case, s)


def test_the_packages_disagree_about_an_odd_width():
    """Marian and XLM divide exponents by d, as the paper; positional-encodings by d + 1."""
    odd = {
        word: next(c for c in read("sinusoids")["cases"] if word in c["function"] and 5 in c["arguments"].values())
        for word in ("xlm", "positional_encodings")
    }
    xlm, other = (np.array(case["values"], dtype=float) for case in odd.values())
    assert np.abs(xlm[:, :2] - other[:, :2]).max() < 1e-3
    assert np.abs(xlm[:, 2:] - other[:, 2:]).max() > 0.1


# ----------------------------------------------------------------------------------- offsets


@cases("offsets", "m2m_100")
def test_fairseq_starts_after_the_padding_index(case):
    # and what is padding has zeros
    identifiers, padding = case["arguments"]["input_ids"], case["arguments"]["padding_idx"]
    ours = build("tensor2tensor", d=4, offset=padding + 1).table(len(identifiers))
    ours[np.equal(identifiers, padding)] = 0.0
    assert_rows(ours, case, np.arange(len(identifiers)) + padding + 1)


@cases("offsets", "Roberta")
def test_roberta_starts_after_the_padding_index(case):
    identifiers, padding = np.array(case["arguments"]["input_ids"]), case["arguments"]["padding_idx"]
    expected = np.where(identifiers == padding, padding, np.arange(len(identifiers)) + padding + 1)
    assert_array_equal(case["values"], expected)


@cases("offsets", "OPT")
def test_opt_has_two_rows_before_the_first_position(case):
    mask = np.array(case["arguments"]["attention_mask"])
    assert case["rows"] - case["arguments"]["num_embeddings"] == 2
    assert_array_equal(case["values"], np.cumsum(mask) * mask - 1 + 2)


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
    frequencies = build("rope", **translate(case["arguments"])).frequencies()
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
    return build("rope", **translate(asked)) if "rope_type" in asked else build("rope", d=asked["dim"])


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
    rope = build("rope", d=asked["dim"], base=asked.get("theta", 10000.0), **scaling)
    assert_allclose(rope.frequencies().values, theirs, rtol=FREQUENCY, atol=0)


@cases("rotary_embedding_torch", "RotaryEmbedding.scale")
def test_xpos_decays_by_its_scale_over_the_scale_base(case):
    asked, scale = case["arguments"], np.array(case["values"], dtype=float)
    lag = asked["xpos_scale_base"]
    rope = build("rope", d=asked["dim"], scaling="xpos", scale_base=lag)
    theirs = np.sum(scale * np.cos(rope.frequencies().values * lag))
    assert_allclose(rope.kernel([lag])[0, 0], theirs, rtol=0, atol=16 * U)


@cases("rotary_embedding_torch", "get_seq_pos")
def test_interpolated_positions_are_divided_frequencies(case):
    asked, t = case["arguments"], np.array(case["values"], dtype=float)
    rope = build("rope", d=asked["dim"])
    divided = dataclasses.replace(rope, scaling="linear", factor=asked["interpolate_factor"])
    assert_allclose(divided.table(len(t)), rope.table_at(t), rtol=0, atol=1e-15)


@cases("rotary_embedding_torch", "get_scale")
def test_xpos_decays_as_in_rotary_embedding_torch(case):
    # a query's scale times the inverse of a key's: zeta**(lag / scale_base); pairs of channels share it
    scale = np.array(case["values"], dtype=float)[:, ::2]
    asked, t = case["arguments"], np.arange(case["arguments"]["t"])
    rope = build("rope", d=asked["dim"], scaling="xpos", scale_base=asked["xpos_scale_base"])
    angles = np.multiply.outer(t, rope.frequencies().values)
    theirs = np.sum(np.cos(angles) * scale / scale[0], axis=1)
    assert_allclose(rope.kernel(t)[0], theirs, rtol=0, atol=64 * U)


# ----------------------------------------------------------------------------------- bands and features


@cases("features", "pixel_freq_bands")
def test_pixel_bands_of_timm(case):
    asked = case["arguments"]
    check_bands(case, asked["max_freq"], "linear" if asked["linear_bands"] else "octave")


@cases("rotary_embedding_torch", ".freqs", freqs_for="pixel")
def test_pixel_bands_of_rotary_embedding_torch(case):
    check_bands(case, float(case["arguments"]["max_freq"]), "linear")


@cases("features", "FourierEmbed")
def test_bands_of_fourier_embed_in_timm(case):
    check_bands(case, float(case["arguments"]["max_res"]), "linear")


def check_bands(case, max_freq, bands):
    # theirs are in rad per unit of a coordinate from -1 to 1
    theirs = np.array(case["values"], dtype=float)
    ours = build("pixel-bands", d=2 * len(theirs), max_freq=max_freq, bands=bands, length=33).frequencies()
    assert_allclose(ours.values * 16, theirs, rtol=FREQUENCY, atol=0)


@cases("features", "build_fourier_pos_embed")
def test_fourier_features_of_timm(case):
    sine, cosine = np.array(case["values"], dtype=float)
    asked = case["arguments"]
    bands = "linear" if asked["linear_bands"] else "octave"
    check_bands_table(np.concatenate([sine, cosine], axis=1), float(asked["max_res"]), bands)


@cases("features", "perceiver", sine_only=False)
def test_fourier_features_of_perceiver(case):
    check_bands_table(np.array(case["values"], dtype=float), float(case["arguments"]["max_resolution"][0]), "linear")


@cases("features", "perceiver", sine_only=True)
def test_sines_of_perceiver(case):
    sine = np.array(case["values"], dtype=float)
    rows = build("pixel-bands", d=2 * sine.shape[1], max_freq=10.0, length=len(sine)).table(len(sine))
    assert_close(rows[:, : sine.shape[1]], sine, 4 * np.pi * 5)


def check_bands_table(theirs, max_freq, bands):
    length, d = theirs.shape
    ours = build("pixel-bands", d=d, max_freq=max_freq, bands=bands, length=length).table(length)
    assert_close(ours, theirs, 4 * np.pi * max_freq / 2)


# ----------------------------------------------------------------------------------- grids


def compare_grid(case, height, width, **parameters):
    """The table of `sincos2d`, cell by cell; no index is above 6."""
    theirs = np.array(case["values"], dtype=float)
    ours = build("sincos2d", d=theirs.shape[1], height=height, width=width, **parameters)
    assert_close(ours.table(ours.rows), theirs, 6)


@cases("grids", "build_2d_sinusoidal_position_embedding")
def test_rows_first_as_transformers_build_them(case):
    asked = case["arguments"]
    cls = "yes" if asked["cls_token"] else "no"
    compare_grid(case, asked["height"], asked["width"], cls=cls, order="timm-interleaved")


@cases("grids", "ViTMAEEmbeddings")
def test_mae_has_columns_first(case):
    side = case["arguments"]["image_size"] // case["arguments"]["patch_size"]
    compare_grid(case, side, side, cls="yes", order="mae")


@cases("grids", "timm", reverse_coord=False)
def test_grid_of_timm(case):
    height, width = case["arguments"]["feat_shape"]
    compare_grid(case, height, width, order="timm-interleaved" if case["arguments"]["interleave_sin_cos"] else "timm")


@cases("grids", "timm", reverse_coord=True)
def test_reversed_grid_of_timm_is_that_of_the_turned_shape(case):
    # not the same cells with columns first: on 2 x 5 its third row is that of cell (1, 0) of 5 x 2
    height, width = case["arguments"]["feat_shape"]
    compare_grid(case, width, height, order="timm-interleaved" if case["arguments"]["interleave_sin_cos"] else "timm")


@cases("grids", "positional_encodings")
def test_positional_encodings_2d(case):
    # sine and cosine in turns along each axis; the widths of both are rounded up, and the last columns cut off
    asked, theirs = case["arguments"], np.array(case["values"], dtype=float)
    height, width, d = asked["x"], asked["y"], -(-asked["channels"] // 4) * 4
    ours = build("sincos2d", d=d, height=height, width=width, order="timm-interleaved").table(height * width)
    half, quarter = d // 2, d // 4
    parts = [interleave(ours[:, a : a + quarter], ours[:, a + quarter : a + half]) for a in (0, half)]
    assert_close(np.concatenate(parts, axis=1)[:, : asked["channels"]], theirs, 6)


def split_turns(ours):
    """Sines and cosines of the pairs, from a table with cosine and sine in turn."""
    return ours[:, 1::2], ours[:, ::2]


def swap_halves(columns):
    half = columns.shape[1] // 2
    return np.concatenate([columns[:, half:], columns[:, :half]], axis=1)


@cases("features", ".freq_bands")
def test_bands_of_one_axis_in_timm(case):
    asked = case["arguments"]
    ours = build("rope", d=2 * asked["num_bands"], base=asked["temperature"]).frequencies().values
    assert_allclose(ours, case["values"], rtol=FREQUENCY, atol=0)


@cases("axial", "DINOv3ViTRopePositionEmbedding.inv_freq")
def test_frequencies_of_dinov3(case):
    asked = case["arguments"]
    d = asked["hidden_size"] // asked["num_attention_heads"]
    ours = build("rope", d=d // 2, base=float(asked["rope_theta"])).frequencies().values
    assert_allclose(ours, case["values"], rtol=FREQUENCY, atol=0)


@cases("axial", "DINOv3ViTRopePositionEmbedding.forward")
def test_rotary_encoding_of_dinov3(case):
    # 2 pi times the middle of each patch, from -1 to 1 along each axis; rows first; each angle stands twice
    asked, (cosine, sine) = case["arguments"], np.array(case["values"], dtype=float)
    height, width = (pixels // asked["patch_size"] for pixels in asked["pixels"])
    y, x = np.divmod(np.arange(height * width), width)
    rope = build("rope", d=cosine.shape[1] // 2, base=float(asked["rope_theta"]))
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
    ours = build("rope-axial", d=d, height=height, width=width, base=asked["temperature"]).table(height * width)
    for columns, frozen in zip(split_turns(ours), theirs, strict=True):
        assert_array_equal(frozen[:, ::2], frozen[:, 1::2])
        ordered = columns if asked["grid_indexing"] == "xy" else swap_halves(columns)
        assert_close(ordered, frozen[:, ::2], 2 * width)


@cases("rotary_embedding_torch", "get_axial_freqs", freqs_for="lang")
def test_axial_angles_of_rotary_embedding_torch(case):
    # its `dim` is that of one axis; the first axis comes first
    (height, width), angles = case["arguments"]["dims"], np.array(case["values"], dtype=float)[:, ::2]
    d = 2 * case["arguments"]["dim"]
    ours = build("rope-axial", d=d, height=height, width=width, base=10000.0).table(height * width)
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
        bands = build("pixel-bands", d=d, max_freq=float(asked["max_freq"]), length=length)
        assert_close(bands.table(cells[:, axis]), np.concatenate([np.sin(part), np.cos(part)], axis=1), 8 * np.pi * 5)


@cases("axial", "init_random_2d_freqs")
def test_mixed_directions_of_timm(case):
    # the random angle of a head is its own; lengths and the right angle between the halves are not
    asked, theirs = case["arguments"], np.array(case["values"], dtype=float)
    for head in range(asked["num_heads"]):
        rope = build("rope-axial", d=asked["head_dim"], mode="mixed", head=head, base=asked["temperature"])
        ours = rope.vectors()[0] + 1j * rope.vectors()[1]
        frozen = theirs[0, head] + 1j * theirs[1, head]
        turned = frozen / ours
        assert_allclose(np.abs(turned), 1, rtol=FREQUENCY)
        assert_allclose(turned, turned[0], rtol=0, atol=FREQUENCY)


@cases("swin", "SwinRelativePositionBias", window_size=[3, 3])
def test_swin_reads_its_table_by_offset(case):
    rows = np.arange(25.0)[:, None]
    assert_array_equal(build("swin", values=rows).bias_map(9)[0], case["values"])


@cases("swin", "relative_position_index")
def test_offsets_of_swin_v2(case):
    side = case["arguments"]["window_size"][0]
    rows = np.arange(float((2 * side - 1) ** 2))[:, None]
    assert_array_equal(build("swin", values=rows).bias_map(side**2)[0], case["values"])


@cases("swin", "relative_coords_table")
def test_logarithmic_offsets_of_swin_v2(case):
    # ours are seen through the network that is drawn for seed 0: ReLU between two layers, 16 sigmoid after them
    asked, offsets = case["arguments"], np.array(case["values"], dtype=float)
    side, trained = asked["window_size"][0], asked["pretrained_window_size"][0] or None
    swin = build("swin", window=side, mode="cpb", head_count=2, trained=trained, seed=0)
    draw = np.random.Generator(np.random.PCG64(0))
    inner, outer = 0.02 * draw.standard_normal((512, 2)), 0.02 * draw.standard_normal((2, 512))
    logits = np.maximum(offsets @ inner.T, 0) @ outer.T
    theirs = np.moveaxis(16 / (1 + np.exp(-logits)), -1, 0)
    assert np.ptp(theirs) > 0.05
    assert_allclose(swin.offset_biases, theirs, rtol=FREQUENCY, atol=0)


@cases("swin", "of zeros")
def test_continuous_bias_of_swin_v2(case):
    # tokens of zeros leave the bias alone, so attention is its softmax; the weights are those that ours draws
    asked, theirs = case["arguments"], np.array(case["values"], dtype=float)
    side, trained = asked["window_size"], asked["pretrained_window_size"] or None
    swin = build("swin", window=side, mode="cpb", head_count=asked["num_heads"], trained=trained, seed=0)
    weights = np.exp(swin.bias_map(side**2))
    assert_allclose(weights / weights.sum(axis=2, keepdims=True), theirs, rtol=64 * U, atol=0)
