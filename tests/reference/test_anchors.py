"""The published anchors, as literals: what any implementation of the paper must give.

Sinusoidal encoding, rho = 10000, bandwidth 4, N = d, unless said. The digits were computed with
60-digit arithmetic, so each tolerance is that of the computed quantity, or half of the last digit
printed where fewer are given.
"""

import dataclasses
import math
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import (
    DfsTrans,
    Dft,
    Sinusoidal,
    compute_dft_weights,
    compute_lag_window_spectrum,
    compute_spectrum,
    count_low_bin,
    measure_faithfulness,
    reconstruct,
    reconstruct_positions,
    reconstruction,
)
from pe_spectra.errors import InputError, UndefinedError

ULP = 2.0**-52
cached_spectrum = cache(compute_spectrum)


def one_hot(n, s):
    f = np.zeros(n)
    f[s] = 1.0
    return f


# ----------------------------------------------------------------------------------- Eq. 15


FIRST_WEIGHTS = [
    (64, 0.139185145920885096, 0.140617759209948446, 0.134528928683382964, 0.122186319267349328),
    (256, 0.106987100713653796, 0.108915806006287646, 0.10512105438015145, 0.0964742810824619642),
    (
        512,
        0.0921927319359031859,
        0.0943381101267717573,
        0.0915768153051150169,
        0.0845913377450013028,
    ),
]


@pytest.mark.parametrize(("d", "g0", "g1", "g2", "g3"), FIRST_WEIGHTS)
def test_the_first_weights_and_where_the_largest_is(d, g0, g1, g2, g3):
    spectrum = cached_spectrum(Sinusoidal(d=d))
    assert_allclose(spectrum.weights[:4], [g0, g1, g2, g3], rtol=8 * ULP)
    assert np.argmax(spectrum.weights) == 1
    assert spectrum.summary.peak_bin == 1


@pytest.mark.parametrize(
    ("d", "at_pi", "log10_at_pi", "log10_range", "first_ten"),
    [
        (64, 1.7489836e-9, -8.757214262849304, 7.90525443587896, 0.924666696402),
        (256, 5.2047468e-107, -106.2836003906547, 105.320691300375514, 0.742222498832),
        (512, 0.0, -416.595930916215, 415.570618088000299, 0.654609360043),
    ],
)
def test_the_tail_is_neither_flushed_nor_logged_carelessly(d, at_pi, log10_at_pi, log10_range, first_ten):
    spectrum = cached_spectrum(Sinusoidal(d=d))
    assert_allclose(spectrum.weights[-1], at_pi, rtol=5e-8)  # 2.5e-417 is below every double
    logs = spectrum.log_weights
    assert_allclose(logs[-1] / math.log(10), log10_at_pi, rtol=2e-15)
    assert_allclose((logs.max() - logs.min()) / math.log(10), log10_range, rtol=2e-15)
    assert_allclose(np.sum(spectrum.weights[:10]), first_ten, rtol=0, atol=5e-13)
    assert_allclose(spectrum.summary.low_bin_mass, first_ten, rtol=0, atol=5e-13)
    assert_allclose(math.fsum(spectrum.weights), 1.0, rtol=4 * ULP)


def test_base_one_puts_every_frequency_at_one_radian():
    weights = compute_spectrum(Sinusoidal(d=64, rho=1.0)).weights
    assert_allclose(weights[0], 0.00391161207798452646, rtol=8 * ULP)
    assert np.argmax(weights) == 10


def test_reflection_takes_the_dip_at_zero_away():
    assert compute_spectrum(Sinusoidal(d=256), boundary="reflect").summary.peak_bin == 0


def test_the_upper_two_thirds_of_the_axis_are_empty():
    summary = cached_spectrum(Sinusoidal(d=256)).summary
    assert_allclose(summary.empty_upper_band, 1 - 1 / math.pi, rtol=4 * ULP)
    assert summary.negative_mass == 0


@pytest.mark.parametrize(("d", "rho", "bandwidth"), [(64, 1e4, 4.0), (33, 50.0, 1.0), (256, 3.0, 8.0)])
def test_the_reflected_spectrum_is_the_lag_window_spectrum(d, rho, bandwidth):
    encoding = Sinusoidal(d=d, rho=rho)
    reflected = compute_spectrum(encoding, bandwidth=bandwidth, boundary="reflect")
    windowed = compute_lag_window_spectrum(encoding, bandwidth=bandwidth)
    assert_allclose(windowed.weights, reflected.weights, rtol=0, atol=4e-16)


# ----------------------------------------------------------------------------------- Algorithm 1


PEAKS = [
    (64, 0.540093187962895453, 0.469642616648810013, 0.95906914457416, 4.59611160428),
    (256, 0.340274929515680308, 0.324315958991005413, 1.148673208954, 11.9043527599),
    (512, 0.274277825354105425, 0.263370263659023351, 1.2047590420046, 18.7556015546),
]


@pytest.mark.parametrize(("d", "peak", "beside", "error", "fwhm"), PEAKS)
def test_the_reconstruction_of_a_one_hot(d, peak, beside, error, fwhm):
    found = reconstruct_positions(cached_spectrum(Sinusoidal(d=d)), [5, 40, 75 % d])
    for position in found.positions:
        s = position.s
        assert position.peak == s
        values = [position.peak_value, position.values[s], position.values[(s + 1) % d]]
        assert_allclose(values, [peak, peak, beside], rtol=0, atol=4e-16 * math.log2(d))
        assert_allclose(position.cosine, peak, rtol=0, atol=4e-16 * math.log2(d))
        assert_allclose(position.relative_error, error, rtol=0, atol=1e-12)
        assert_allclose(position.fwhm, fwhm, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("bandwidth", "fwhm"), [(0.25, 47.74), (1, 27.32), (4, 11.90), (16, 4.746), (64, 1.458)])
def test_the_width_of_figure_2_follows_the_bandwidth(bandwidth, fwhm):
    spectrum = compute_spectrum(Sinusoidal(d=256), bandwidth=bandwidth)
    found = reconstruct_positions(spectrum, [40]).positions[0].fwhm
    assert_allclose(found, fwhm, rtol=0, atol=0.005 if fwhm > 10 else 0.0005)


def test_the_width_at_a_tenth_is_the_paper_s_thirty():
    found = reconstruct_positions(cached_spectrum(Sinusoidal(d=256)), [40]).positions[0]
    assert_allclose(found.width_10, 32.56, rtol=0, atol=0.005)


# ----------------------------------------------------------------------------------- Eq. 17-22


@pytest.mark.parametrize("n", [2, 3, 8, 33, 256, 513])
def test_the_dft_encoding_returns_the_one_hot(n):
    spectrum = compute_spectrum(Dft(d=n))
    assert_array_equal(spectrum.multipliers, spectrum.multipliers[0])
    for s in {0, 1, n // 2, n - 1}:
        found = reconstruct(one_hot(n, s), spectrum)
        assert np.linalg.norm(found - one_hot(n, s)) < 5e-15


def test_equation_22_shows_as_weights_and_is_not_exact_as_multipliers():
    spectrum = compute_spectrum(Dft(d=256))
    literal = compute_dft_weights(256)
    assert_array_equal(spectrum.weights, literal)
    assert_array_equal(literal, [1 / 256] + [2 / 256] * 127 + [1 / 256])
    as_printed = dataclasses.replace(spectrum, estimator="kde")  # no lattice: its weights are its multipliers
    found = reconstruct(one_hot(256, 40), as_printed)
    difference = found - one_hot(256, 40)
    assert_allclose(np.linalg.norm(difference), 0.04416150673355398, rtol=0, atol=4e-15)
    assert_allclose(found[40], 0.9990248806615112, rtol=0, atol=4e-15)
    # before the rescaling, where a constant 2/d would give the one-hot times 2/d
    raw = reconstruct(one_hot(256, 40), as_printed, rescale=False) / (2 / 256)
    assert_allclose(np.max(np.abs(raw - one_hot(256, 40))), 1 / 256, rtol=0, atol=4e-15)
    assert_allclose(np.max(np.abs(difference)), 0.0039177, rtol=0, atol=5e-8)


@pytest.mark.parametrize("d", [2, 3, 8, 33, 256])
def test_the_dft_table_is_orthonormal_and_repeats_after_d(d):
    table = Dft(d=d).table(3 * d)
    assert_allclose(table[:d] @ table[:d].T, np.eye(d), rtol=0, atol=4e-15)
    assert_array_equal(table[:d], table[d : 2 * d])
    assert_array_equal(table[:d], table[2 * d :])


def test_the_dft_encoding_is_faithful_up_to_d_and_no_further():
    within = measure_faithfulness(Dft(d=64), length=64)
    assert within.injective is True
    assert_allclose(within.min_separation, math.sqrt(2), rtol=4e-16)
    assert_allclose(within.condition_number, 1.0, rtol=1e-13)
    assert (within.rank, within.collisions.count) == (64, 0)
    beyond = measure_faithfulness(Dft(d=64), length=65)
    assert beyond.injective is False
    assert beyond.min_separation == 0
    assert beyond.collisions.count == 1
    assert [tuple(pair) for pair in beyond.collisions.examples] == [(0, 64)]


def test_the_published_code_has_one_column_that_is_zero():
    table = DfsTrans(d=64).table(64)
    assert np.count_nonzero(np.all(table == 0, axis=0)) == 1


# ----------------------------------------------------------------------------------- Eq. 16


@pytest.mark.parametrize(
    ("d", "rho", "length", "crossing", "inside", "total"),
    [
        (2, 1e4, None, -0.248574936347066927, 1, 1),
        (6, 1e4, None, -0.0300429269617071256, 3, 3),
        (8, 1e4, None, 0.209820237267657072, 3, 4),
        (256, 1e4, None, 103.043846205039009, 76, 128),
        (512, 1e4, None, 244.619531855067611, 133, 256),
        (256, 1e300, None, None, 127, 128),
        (128, 1e4, 4096, None, 18, 64),
        (128, 5e5, 8192, None, 29, 64),
    ],
)
def test_the_lowest_bin(d, rho, length, crossing, inside, total):
    count = count_low_bin(Sinusoidal(d=d, rho=rho), length=length)
    assert (count.inside, count.outside, count.total) == (inside, total - inside, total)
    assert_allclose(count.share_inside, inside / total, rtol=ULP)
    if crossing is not None:
        assert abs(count.crossing - crossing) <= np.spacing(abs(crossing))


def test_the_share_inside_is_not_almost_half():
    shares = [count_low_bin(Sinusoidal(d=d)).share_inside for d in (256, 512)]
    assert_allclose(shares, [0.594, 0.520], rtol=0, atol=5e-4)


# ----------------------------------------------------------------------------------- separation


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("d", "rho", "length", "separation", "lag"),
    [
        (256, 1e4, 4096, 2.67120160798005654, 1),
        (512, 1e4, 4096, 3.71427036512880388, 1),
        (256, 1.0, 1000, 0.000682088853599288564, 710),
        (64, 1.0, 711, 0.000341044426799644282, 710),
        (2, 1e4, 1000, 0.0000602887067189768984, 710),
        (8, 3.0, 800, 0.952831668226171226, 446),
        (8, 1e4, 6300, 0.185977005626813386, 6283),
    ],
)
def test_the_smallest_separation(d, rho, length, separation, lag):
    found = measure_faithfulness(Sinusoidal(d=d, rho=rho), length=length)
    assert_allclose(found.min_separation, separation, rtol=4e-16)
    s, t = found.closest_pair
    assert t - s == lag
    assert found.injective is True
    assert found.collisions.count == 0


@pytest.mark.parametrize(("length", "d", "rank"), [(16, 32, 14), (32, 64, 21), (48, 64, 24), (64, 64, 26)])
def test_a_condition_number_that_float64_cannot_see_is_not_given(length, d, rank):
    found = measure_faithfulness(Sinusoidal(d=d), length=length)
    assert found.condition_number is None
    assert found.rank == rank


def test_nothing_of_the_axis_lies_above_the_fastest_frequency_of_the_dft_encoding():
    assert [compute_spectrum(Dft(d=d)).summary.empty_upper_band for d in (4, 8, 256)] == [0.0, 0.0, 0.0]
    assert_allclose(compute_spectrum(Dft(d=5)).summary.empty_upper_band, 0.2, rtol=1e-14)


@pytest.mark.parametrize("k", [3, 14, 15, 16])
def test_a_wave_comes_back_whole_through_a_weight_near_the_rounding_of_a_lag_window(k):
    """What other frequencies have of a wave is the rounding of its transform, and is not raised above it."""
    spectrum = compute_lag_window_spectrum(Sinusoidal(d=64), bandwidth=1.0)
    wave = np.cos(2 * math.pi * k * np.arange(64) / 64 + 0.3)
    assert 1e-10 < spectrum.weights[k] < 1
    assert_allclose(reconstruct(wave, spectrum), wave, rtol=0, atol=1e-13)


def test_nothing_is_made_of_what_the_weights_annihilate():
    spectrum = compute_spectrum(DfsTrans(d=16))
    assert spectrum.weights[8] == 0  # no column has the frequency pi
    alternating = (-1.0) ** np.arange(16)
    for function in (alternating, np.zeros(16), 1e-300 * alternating):
        with pytest.raises(UndefinedError, match="the weights annihilate this function"):
            reconstruct(function, spectrum)
        assert_array_equal(reconstruct(function, spectrum, rescale=False), np.zeros(16))
    with pytest.raises(UndefinedError, match="the weights annihilate this function"):
        reconstruct(alternating, dataclasses.replace(spectrum, estimator="lag-window"))
    with pytest.raises(UndefinedError, match="the weights annihilate every function"):
        reconstruct_positions(dataclasses.replace(spectrum, estimator="kde", weights=np.zeros(9)), [0])


def test_as_many_curves_as_can_be_held(monkeypatch):
    spectrum = cached_spectrum(Sinusoidal(d=16))
    monkeypatch.setattr(reconstruction, "MAX_HELD_ENTRIES", 3 * 16)
    assert len(reconstruct_positions(spectrum, [0, 1, 15]).positions) == 3
    with pytest.raises(InputError, match=r"too many curves to hold \(4 x 16\); at most 48 numbers"):
        reconstruct_positions(spectrum, [0, 1, 2, 15])
