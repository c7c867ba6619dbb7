"""Encodings side by side, and what resizing does: the numbers behind `compare` and `inspect --resize`."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import Dft, InputError, Learned, Sinusoidal, compare_encodings, read_encoding
from pe_spectra.compare import COMPARED, choose_length, sort_comparisons
from pe_spectra.encodings import ENCODINGS
from pe_spectra.faithfulness.separation import find_sidelobe
from pe_spectra.portrait import draw_portrait, resize_encoding


def compare(spec, **options):
    return compare_encodings([read_encoding(spec)], **options)[0]


@pytest.mark.parametrize("d", [64, 7, 2])
def test_the_information_of_the_dft_encoding_is_that_of_its_frequencies(d):
    """A sine and cosine of frequency w and amplitude a inform with a**2 w**2; the cosine of pi never moves."""
    found = compare_encodings([Dft(d=d)], length=d)[0].values
    k = np.arange(1, (d + 1) // 2)
    assert_allclose(found["fisher_information_mean"] or 0.0, 2 / d * np.sum((2 * np.pi * k / d) ** 2), rtol=1e-14)


def test_the_information_of_a_ladder_is_the_sum_of_its_squares():
    w = 10000.0 ** (-2 * np.arange(32) / 64)
    found = compare_encodings([Sinusoidal(d=64)])[0].values
    assert_allclose(found["fisher_information_mean"], np.sum(w**2), rtol=1e-14)
    assert_allclose(found["fisher_information_min"], np.sum(w**2), rtol=1e-14)


def test_every_encoding_has_every_metric_or_a_reason():
    for cls in ENCODINGS:
        if cls.name == "learned":
            continue
        (one,) = compare_encodings([cls()])
        assert tuple(one.values) == tuple(COMPARED)
        for name, value in one.values.items():
            assert (value is None) == (name in one.notes), (cls.name, name)
            assert value is None or math.isfinite(value)


def test_a_grid_is_compared_whole_and_its_length_says_so():
    whole, part = compare("sincos2d:d=16"), compare("sincos2d:d=16", length=50)
    assert whole.length == part.length == choose_length(whole.encoding) == 196
    assert whole.values == part.values


def test_random_values_stand_behind_all_others():
    specs = ["learned:init=normal,d=64,length=128", "sinusoidal:d=64", "dft:d=64"]
    compared = compare_encodings([read_encoding(spec) for spec in specs])
    ordered = sort_comparisons(compared, "stable_rank")
    assert [one.encoding.name for one in ordered] == ["sinusoidal", "dft", "learned"]
    ordered = sort_comparisons(compared, "min_separation")
    assert ordered[-1].encoding.name == "learned"


def test_what_is_a_function_of_the_lag_by_its_formula_is_so_to_the_full():
    assert compare("alibi").values["toeplitz_share"] == 1.0
    assert_allclose(compare("sinusoidal:d=32").values["toeplitz_share"], 1.0, rtol=1e-12)


def test_a_slot_coarser_than_the_step_is_remarked():
    encoding = read_encoding("calendar:fields=minute+hour,minute_slot=15,step=5min")
    (one,) = compare_encodings([encoding], step_seconds=300)
    assert "3 positions in a row" in one.remarks[0]
    assert compare_encodings([encoding], step_seconds=900)[0].remarks == ()


def test_the_rounding_of_a_flat_kernel_has_no_sidelobe():
    flat = np.r_[1.0, 1e-17 * np.random.default_rng(0).standard_normal(30)]
    assert find_sidelobe(flat) is None
    assert find_sidelobe(np.array([1.0, 0.2, 0.5, 0.1])).lag == 2


# ----------------------------------------------------------------------------------- resizing


def test_resizing_takes_the_positions_that_were_asked_for():
    table = np.random.default_rng(1).standard_normal((100, 4))
    resized = resize_encoding(Learned(values=table), (25,), method="nearest", length=50)
    assert_array_equal(resized.encoding.table(25), table[0:50:2])
    assert resized.old == (50,)


@pytest.mark.parametrize(("aligned", "scale"), [(False, 40 / 60), (True, 39 / 59)])
def test_a_frequency_becomes_slower_by_the_scale(aligned, scale):
    positions = np.arange(40)
    table = np.stack([np.cos(0.3 * positions), np.sin(0.3 * positions)], axis=1)
    resized = resize_encoding(Learned(values=table), (60,), align_corners=aligned)
    assert resized.scales == (scale,)
    turned = np.unwrap(np.arctan2(*resized.encoding.table(60)[10:50, ::-1].T))
    assert_allclose(np.polyfit(np.arange(40), turned, 1)[0], 0.3 * scale, rtol=1e-3)


def test_a_size_of_the_wrong_kind_is_refused():
    with pytest.raises(InputError, match="--resize"):
        resize_encoding(read_encoding("sinusoidal:d=16"), (24, 24))
    assert resize_encoding(read_encoding("sincos2d:d=16"), (24,)).new == (24, 24)
    with pytest.raises(InputError, match="no table"):
        resize_encoding(read_encoding("alibi"), (24,))


def test_a_portrait_has_what_the_encoding_has():
    for cls in ENCODINGS:
        if cls.name == "learned":
            continue
        portrait = draw_portrait(cls())
        assert portrait.kernel is not None, cls.name
        assert len(portrait.spectra) == (1 if portrait.encoding.shape is None else 2)
        assert (portrait.plane is not None) == (portrait.encoding.shape is not None)
