"""Rotations of grids and mixed sinusoids: by hand, and against the packages that publish them."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.rope_scaling import SCALINGS, scale_llama3
from pe_spectra.encodings.rotary import Rope
from pe_spectra.encodings.rotary_variants import Fope, RopeAxial
from pe_spectra.errors import InputError
from tests.encodings.rotary_scalings import list_cases

# ----------------------------------------------------------------------------------- grids


def test_axial_by_hand():
    encoding = RopeAxial(d=8, height=3, width=4)
    theta = [1.0, 100.0**-0.5]  # 100**(-4 i/8)
    for s in range(12):
        y, x = divmod(s, 4)
        angles = [x * t for t in theta] + [y * t for t in theta]
        expected = [value for angle in angles for value in (math.cos(angle), math.sin(angle))]
        assert_allclose(encoding.table(12)[s], expected, rtol=0, atol=2e-16)
    assert (encoding.rows, encoding.shape, encoding.default_length) == (12, (3, 4), 12)
    assert encoding.describe_position(7) == "row 1, column 3"
    assert not encoding.is_random


def test_axial_of_timm():
    """timm (build_rotary_pos_embed) has x first with grid_indexing="xy", and each value twice, for both channels."""
    (case,) = [c for c in list_cases("axial.json") if c["arguments"].get("grid_indexing") == "xy"]
    table = RopeAxial(d=16, height=2, width=5, base=100).table(10)
    assert_allclose(np.repeat(table[:, 1::2], 2, axis=1), case["values"][0], rtol=0, atol=1e-6)
    assert_allclose(np.repeat(table[:, 0::2], 2, axis=1), case["values"][1], rtol=0, atol=1e-6)


def test_mixed_directions_of_timm():
    """timm's init_random_2d_freqs draws one angle for each head; with that angle ours are the same."""
    (case,) = [c for c in list_cases("axial.json") if c["arguments"].get("rotate") is True]
    for published in np.moveaxis(np.array(case["values"]), 1, 0):
        angle = math.atan2(published[1, 0], published[0, 0])
        ours = RopeAxial(d=16, mode="mixed").vectors()
        turn = angle - math.atan2(ours[1, 0], ours[0, 0])
        turned = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]] @ ours
        assert_allclose(turned, published, rtol=0, atol=1e-6)


def test_mixed_turns_by_both_coordinates():
    encoding = RopeAxial(d=8, height=3, width=4, mode="mixed", head=2, seed=5)
    assert encoding.is_random
    vectors = encoding.vectors()
    assert_allclose(np.hypot(*vectors), np.tile([1, 10**-0.5], 2))  # base 10
    x, y = 3, 2
    angles = x * vectors[0] + y * vectors[1]
    expected = np.stack([np.cos(angles), np.sin(angles)], axis=1).ravel()
    assert_allclose(encoding.table([y * 4 + x])[0], expected, atol=1e-15)
    assert_array_equal(encoding.table(12), RopeAxial(**encoding.given).table(12))
    for other in ({"head": 3}, {"seed": 6}):
        assert np.abs(RopeAxial(**{**encoding.given, **other}).table(12) - encoding.table(12)).max() > 0.01
    axial = RopeAxial(d=8, mode="axial").vectors()
    assert_allclose(axial, [[1, 0.1, 0, 0], [0, 0, 1, 0.1]])


@pytest.mark.parametrize("mode", ["axial", "mixed"])
def test_no_two_cells_are_equal(mode):
    encoding = RopeAxial(d=8, height=9, width=11, mode=mode)
    table = encoding.table(99)
    distance = np.abs(table[:, None] - table[None]).max(axis=2)
    assert_array_equal(distance < 1e-9, np.eye(99, dtype=bool))
    assert_array_equal(encoding.exact_key(np.arange(99)), np.arange(99))
    assert encoding.theorem.kind == "irrational-frequency"


def test_what_rope_axial_refuses():
    with pytest.raises(InputError, match="multiple of 4"):
        RopeAxial(d=6)
    with pytest.raises(InputError, match="a position has no row"):
        RopeAxial().table([196])
    with pytest.raises(InputError, match="goes with mode=mixed"):
        RopeAxial(head=1)


# ----------------------------------------------------------------------------------- mixed sinusoids


def test_fope_without_noise_is_rope_without_slow_pairs():
    """gain 0 leaves a matrix of ones and zeros: every step-th frequency, and ones behind."""
    encoding = Fope(d=32, base=10000, length=64, gain=0)
    kept = [1e4 ** (-2 * i / 32) for i in range(16) if 1e4 ** (-2 * i / 32) >= 2 * math.pi / 64]
    assert len(kept) == 5
    assert not encoding.is_random
    for s in range(9):
        expected = [math.cos(s * w) for w in kept] + [1] * 11 + [math.sin(s * w) for w in kept] + [1] * 11
        assert_allclose(encoding.table(9)[s], expected, rtol=0, atol=1e-15)


def test_fope_keeps_every_step_th_frequency():
    encoding = Fope(d=16, base=10, length=512, gain=0)  # 8 frequencies, 4 mixed pairs
    frequencies = [10 ** (-2 * i / 16) for i in range(0, 8, 2)]
    assert_allclose(encoding.table([3])[0, :4], np.cos(3 * np.array(frequencies)), atol=1e-15)
    assert_array_equal(encoding.mixing[0], np.eye(8)[:, ::2])


def test_fope_mixes_by_its_matrices():
    encoding = Fope(d=32, length=4096, seed=3, head=1)
    sines, cosines = encoding.mixing
    count = encoding.words().shape[1]
    assert sines.shape == cosines.shape == (count, 8)
    assert encoding.is_random
    angles = np.outer(range(20), encoding.words()[0])
    table = encoding.table(20)
    assert_allclose(table[:, :8], np.cos(angles) @ cosines, atol=1e-14)
    assert_allclose(table[:, 16:24], np.sin(angles) @ sines, atol=1e-14)
    assert_array_equal(table[:, 8:16], 1)
    assert_array_equal(table[:, 24:], 1)
    for other in ({"head": 0}, {"seed": 4}):
        assert np.abs(Fope(**{**encoding.given, **other}).mixing[0] - sines).max() > 0.01


@pytest.mark.parametrize(("gain", "heads"), [(0.3, 12), (0.6, 1)])
def test_variance_of_the_mixing(gain, heads):
    """torch's xavier_normal_ of (heads, M, m): fan in M m, fan out heads m, variance 2 gain**2 over their sum."""
    encoding = Fope(d=512, length=2**20, gain=gain, model_heads=heads)
    count, mixed = encoding.mixing[0].shape
    expected = gain * math.sqrt(2 / (count * mixed + heads * mixed))
    noise = encoding.mixing[1] - Fope(**{**encoding.given, "gain": 0.0}).mixing[1]
    assert noise.std() == pytest.approx(expected, rel=0.02)


def test_what_fope_refuses():
    with pytest.raises(InputError, match="odd"):
        Fope(d=7)
    with pytest.raises(InputError, match="length"):
        Fope(length=6)
    assert Fope(length=7).words().shape == (3, 1)


@pytest.mark.parametrize(("share", "turning"), [(0.45, 1), (0.5, 2), (0.7, 2), (0.74, 2), (0.75, 3), (1.0, 4)])
def test_proportional_turns_whole_pairs_rounded_down(share, turning):
    found = [float(theta) for theta in SCALINGS["proportional"].function(1e4, 8, share=share).frequencies]
    assert [theta > 0 for theta in found] == [True] * turning + [False] * (4 - turning)


def test_llama3_has_its_published_numbers_where_none_are_given():
    given = scale_llama3(5e5, 128, factor=8, original=8192, low_freq_factor=1, high_freq_factor=4)
    assert scale_llama3(5e5, 128) == given
    rope = Rope(base=5e5, scaling="llama3", factor=8.0, original=8192)
    assert_array_equal(rope.frequencies().values, [float(theta) for theta in given.frequencies])
