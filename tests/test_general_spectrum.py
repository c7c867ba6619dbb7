"""The spectrum of anything: Gram diagonals, offsets, lag windows, grids, real positions, stretches; by two roads."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import compute_spectrum, find_encoding
from pe_spectra.encodings.catalogue import ENCODINGS
from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.sources import build_encodings
from pe_spectra.spectrum import (
    compute_bare_kernel,
    compute_density_spectrum,
    compute_gram_kernel,
    compute_grid_kernel,
    compute_grid_spectrum,
    compute_irregular_spectrum,
    compute_lag_window_spectrum,
    compute_local_spectra,
    estimate_grid_kernel,
    estimate_kernel,
    list_axes,
    measure_toeplitz_share,
)
from pe_spectra.spectrum import gram as gram_module
from pe_spectra.spectrum.folding import measure_fold, settle_grid
from pe_spectra.spectrum.gram import count_grid_pairs, find_quick_length
from pe_spectra.spectrum.irregular import _smooth as smooth_power
from pe_spectra.spectrum.lag_window import _LAST_LAG
from tests import naive, planted

SHAPES = ((1, 1), (1, 6), (6, 1), (2, 2), (2, 3), (5, 4), (3, 8))


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def read(table, **keys):
    return Learned(values=table, **keys)


def make(spec):
    (encoding,) = build_encodings([spec], {})
    return encoding


# Gram diagonals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 1), (3, 2), (17, 5), (64, 3), (255, 2), (257, 2), (300, 7)])
def test_gram_diagonals_are_the_means_of_the_gram_matrix(rows, columns):
    table = draw(rows, columns, seed=rows)
    expected = naive.gram_diagonals(table)
    found = compute_gram_kernel(table)
    assert_allclose(found, expected, rtol=0, atol=1e-13 * expected[0])
    for count in {1, 2, rows // 3, rows - 1, rows} - {0}:
        if count <= rows:
            assert_allclose(compute_gram_kernel(table, count), expected[:count], rtol=0, atol=1e-13 * expected[0])


@pytest.mark.parametrize("count", [1, 2, 192, 700, 4999, 5000, 9999, 10000])
def test_segments_of_a_long_table_add_up_to_the_whole(count):
    table = draw(10000, 2) + 3.0
    whole = [float(np.sum(table[lag:] * table[: len(table) - lag])) / (len(table) - lag) for lag in range(count)]
    assert_allclose(compute_gram_kernel(table, count), whole, rtol=0, atol=1e-13 * whole[0])


@pytest.mark.parametrize(("count", "longest"), [(1, 4096), (100, 4096), (600, 4800), (5000, 10000)])
def test_few_lags_of_a_long_table_take_short_transforms(monkeypatch, count, longest):
    correlate, lengths = gram_module._correlate, []

    def record(first, second, lags):
        lengths.append(len(first) if second is None else len(second))
        return correlate(first, second, lags)

    monkeypatch.setattr(gram_module, "_correlate", record)
    table = draw(10000, 1)
    assert_allclose(compute_gram_kernel(table, count)[0], np.mean(table**2), rtol=1e-13)
    assert max(lengths) == longest


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_every_lag_is_right_to_1e_13_of_the_zeroth(shift):
    table = draw(3000, 4) + shift
    exact = [math.fsum((table[lag:] * table[: 3000 - lag]).ravel()) / (3000 - lag) for lag in range(0, 3000, 7)]
    assert_allclose(compute_gram_kernel(table)[::7], exact, rtol=0, atol=1e-13 * exact[0])


def test_few_columns_at_a_time_give_the_same(monkeypatch):
    table, plane = draw(60, 9), draw(30, 9)
    line, grid = compute_gram_kernel(table), compute_grid_kernel(plane, (5, 6))
    monkeypatch.setattr(gram_module, "_BLOCK", 1)
    monkeypatch.setattr(gram_module, "_COLUMNS", 2)
    monkeypatch.setattr(gram_module, "_LAST", 2)
    assert_allclose(compute_gram_kernel(table), line, rtol=0, atol=1e-13 * line[0])
    assert_allclose(compute_grid_kernel(plane, (5, 6)), grid, rtol=0, atol=1e-13 * line[0])


@pytest.mark.parametrize("count", [0, -1, 6])
def test_no_more_lags_than_rows(count):
    with pytest.raises(InputError, match="more lags than the table has"):
        compute_gram_kernel(draw(5, 2), count)


def test_quick_lengths_are_the_next_products_of_2_3_and_5():
    def is_quick(n):
        for prime in (2, 3, 5):
            while n % prime == 0:
                n //= prime
        return n == 1

    for least in range(1, 700):
        expected = next(n for n in range(least, 2 * least + 1) if is_quick(n))
        assert find_quick_length(least) == expected


# offsets on a grid, Toeplitz share ---------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_offsets_are_the_means_over_pairs_of_places(shape):
    table = draw(shape[0] * shape[1], 3, seed=shape[1])
    expected = naive.gram_offsets(table, shape)
    found = compute_grid_kernel(table, shape)
    assert_allclose(found, expected, rtol=0, atol=1e-13 * expected.max())
    assert_array_equal(found, found[::-1, ::-1])
    counted = [[(shape[0] - abs(y)) * (shape[1] - abs(x)) for x in range(1 - shape[1], shape[1])]
               for y in range(1 - shape[0], shape[0])]  # fmt: skip
    assert_array_equal(count_grid_pairs(shape), counted)


def test_rows_must_fill_the_grid():
    with pytest.raises(InputError, match="do not fill the grid"):
        compute_grid_kernel(draw(5, 2), (2, 3))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("columns", [1, 3, 40])
def test_toeplitz_share_is_the_energy_of_the_projection(shape, columns):
    table = draw(shape[0] * shape[1], columns, seed=columns)
    assert_allclose(measure_toeplitz_share(table), naive.toeplitz_share(table), rtol=1e-12)
    assert_allclose(measure_toeplitz_share(table, shape), naive.toeplitz_share(table, shape), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200])
def test_toeplitz_share_has_no_scale(scale):
    table = draw(12, 2) * 1e3
    assert_allclose(measure_toeplitz_share(table * scale), measure_toeplitz_share(table), rtol=1e-4)


def test_rounding_makes_no_toeplitz_share_above_1():
    shapes = [(height, width) for height in range(2, 7) for width in range(2, 7)]
    for shape in [(n, 1) for n in range(2, 40)] + shapes:
        angles = np.stack(np.divmod(np.arange(math.prod(shape)), shape[1]), axis=1) * (0.3, 0.7)
        table = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        for share in (measure_toeplitz_share(table, shape), measure_toeplitz_share(table) if shape[1] == 1 else 1.0):
            assert 1 - 1e-14 < share <= 1


def test_toeplitz_share_of_zeros_is_none_and_of_a_ladder_is_1():
    assert measure_toeplitz_share(np.zeros((4, 2))) is None
    assert_allclose(measure_toeplitz_share(naive.sinusoidal_table(8, 1e4, range(50))), 1.0, rtol=1e-13)


def test_the_share_of_a_grid_is_at_least_that_of_its_line():
    # one lag joins several offsets: averaging over offsets keeps more
    for seed in range(5):
        table = draw(24, 3, seed=seed)
        assert measure_toeplitz_share(table, (4, 6)) >= measure_toeplitz_share(table)


# the lag window ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "grid"), [(1, 2), (2, 2), (3, 5), (20, 20), (21, 21), (40, 12), (12, 40), (30, 7)])
@pytest.mark.parametrize("bandwidth", [0.5, 4.0, 50.0])
def test_a_table_has_the_lag_window_spectrum_of_its_gram_diagonals(rows, grid, bandwidth):
    table = draw(rows, 3, seed=rows) + 0.5
    found = compute_spectrum(read(table), grid=grid, bandwidth=bandwidth)
    expected = naive.lag_window(naive.gram_diagonals(table), grid, bandwidth)
    assert_allclose(found.weights, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    assert (found.estimator, found.kernel_source, found.length) == ("lag-window", "gram-diagonals", rows)
    assert_allclose(found.toeplitz_share, naive.toeplitz_share(table), rtol=1e-12)


@pytest.mark.parametrize("bandwidth", [1e-6, 1e-3, 1e6])
def test_bandwidths_at_their_bounds(bandwidth):
    table = draw(9, 2)
    found = compute_spectrum(read(table), bandwidth=bandwidth)
    expected = naive.lag_window(naive.gram_diagonals(table), 9, bandwidth)
    assert_allclose(found.weights, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(("grid", "bandwidth"), [(4, 0.25), (9, 0.3), (31, 0.7), (31, 1.0)])
def test_the_note_counts_the_lags_of_the_window(grid, bandwidth):
    found = compute_spectrum(read(np.ones((4, 1))), grid=grid, bandwidth=bandwidth)
    spanned = next(lag for lag in range(1, 1000) if 2 * math.pi * bandwidth / grid * lag >= _LAST_LAG)
    assert f"3 lags are fewer than the {spanned} that the window spans" in found.notes[-1]


def _list_ladders():
    made = [cls() for cls in ENCODINGS if cls is not Learned]
    return [one for one in made if one.shape is None and hasattr(one, "frequencies") and hasattr(one, "kernel")]


@pytest.mark.parametrize("encoding", _list_ladders(), ids=lambda e: e.name)
def test_a_list_of_frequencies_and_its_kernel_have_one_spectrum(encoding):
    found = encoding.frequencies()
    words = encoding.kernel(np.arange(6))[0]
    is_sum = [float(found.amplitude**2 * np.sum(found.masses * np.cos(found.values * lag))) for lag in range(6)]
    if not np.allclose(words, is_sum, rtol=1e-9):
        pytest.skip("its kernel has more than its frequencies in it")
    for grid in (32, 33):
        lag = compute_lag_window_spectrum(encoding, grid=grid)
        density = compute_density_spectrum(encoding, grid=grid, boundary="reflect")
        if density.estimator == "kde":
            assert_allclose(lag.weights, density.weights, rtol=0, atol=1e-13)


def test_a_long_enough_table_of_a_ladder_has_its_spectrum():
    n = 64
    length = math.ceil(8.9 * n / (2 * math.pi * 4.0)) + 1
    ladder = find_encoding("sinusoidal")(d=32)
    from_table = compute_spectrum(read(ladder.table(length)), grid=n)
    assert_allclose(from_table.weights, compute_spectrum(ladder, grid=n, boundary="reflect").weights, atol=1e-13)


def test_too_few_lags_leave_negative_weights_unclipped():
    found = compute_spectrum(read(np.cos(2.0 * np.arange(6.0))[:, None] + 0.001), grid=64, bandwidth=1.0)
    assert found.weights.min() < -1e-3
    assert np.isnan(found.log_weights[found.weights < 0]).all()
    assert "fewer than" in found.notes[-1]
    assert_allclose(found.summary.negative_mass, -found.weights[found.weights < 0].sum(), rtol=1e-12)


def test_biases_are_exponentiated():
    alibi = make("alibi:heads=4")
    kernel = estimate_kernel(alibi, count=5)
    assert kernel.source == "exp-bias"
    slopes = [0.25, 0.0625, 0.015625, 0.00390625]  # 2**(-8 h / 4)
    assert_allclose(kernel.values, [[math.exp(-m * lag) for lag in range(5)] for m in slopes], rtol=1e-14)
    found = compute_spectrum(alibi, grid=40)
    one = [naive.lag_window(np.exp(-m * np.arange(400.0)), 40, 4.0) for m in slopes]
    assert_allclose(found.head_weights, one, rtol=0, atol=1e-13)
    median = np.median(one, axis=0)
    assert_allclose(found.weights, median / median.sum(), rtol=0, atol=1e-13)


def test_a_bias_of_both_sides_is_made_even():
    t5 = make("t5:heads=2,seed=3")
    kernel = estimate_kernel(t5, count=6).values
    both = t5.bias(np.arange(-5, 6))
    raised = np.exp(both - both.max(axis=1, keepdims=True))
    expected = [[(raised[h, 5 + lag] + raised[h, 5 - lag]) / 2 for lag in range(6)] for h in range(2)]
    assert_allclose(kernel, expected, rtol=1e-14)


def test_more_lags_of_a_bias_than_memory_are_refused():
    with pytest.raises(InputError, match="too large to hold"):
        compute_spectrum(make("alibi:heads=40"), grid=1 << 20, bandwidth=0.1)


def test_rows_for_lags_and_maps_are_averaged():
    shaw = make("shaw:d=4,clip=3")
    rows = shaw.lag_table(np.arange(-9, 10))
    kernel = estimate_kernel(shaw, length=10, count=8)
    assert kernel.source == "lag-rows"
    assert_allclose(kernel.values[0], naive.gram_diagonals(rows)[:8], rtol=0, atol=1e-13)
    tupe = find_encoding("tupe")()
    maps = tupe.bias_map(7)
    raised = np.exp(maps - maps.max(axis=(1, 2), keepdims=True))
    kernel = estimate_kernel(tupe, length=7)
    assert kernel.source == "bias-map"
    for lag in range(7):
        pairs = [(raised[0, s, s + lag] + raised[0, s + lag, s]) / 2 for s in range(7 - lag)]
        if not tupe.causal:
            assert_allclose(kernel.values[0, lag], np.mean(pairs), rtol=1e-12)


@pytest.mark.parametrize("shift", [-900.0, -3.0])
def test_what_a_causal_map_holds_for_later_keys_does_not_count(shift, monkeypatch):
    fire = find_encoding("fire")(head_count=2, threshold=4.0)
    maps = fire.bias_map(9)
    plain = estimate_kernel(fire, length=9).values
    top = [max(maps[h, i, j] for i in range(9) for j in range(i + 1)) for h in range(2)]
    for lag in range(9):
        expected = [np.mean([math.exp(maps[h, i, i - lag] - top[h]) for i in range(lag, 9)]) for h in range(2)]
        assert_allclose(plain[:, lag], expected, rtol=1e-12)
    monkeypatch.setattr(type(fire), "bias_map", lambda *_: maps + shift * np.tri(9))
    assert_allclose(estimate_kernel(fire, length=9).values, plain, rtol=1e-10)


def test_the_quantities_name_the_span_of_the_lag_window():
    text = (Path(__file__).parents[1] / "docs" / "quantities.md").read_text(encoding="utf-8")
    assert f"S below {_LAST_LAG} N / (2 pi bandwidth)" in text


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200])
def test_a_scale_is_not_in_a_spectrum(scale):
    table = draw(20, 3) * 1e3
    plain, scaled = compute_spectrum(read(table)), compute_spectrum(read(table * scale))
    assert_allclose(scaled.weights, plain.weights, rtol=0, atol=1e-5)
    grids = [compute_grid_spectrum(read(t, grid="4x5")).weights for t in (table, table * scale)]
    assert_allclose(grids[1], grids[0], rtol=0, atol=1e-5)
    local = [compute_local_spectra(read(t)).weights for t in (table, table * scale)]
    assert_allclose(local[1], local[0], rtol=0, atol=1e-5)


def test_the_bare_kernel_is_over_all_rows_as_the_spectrum_is():
    table = np.cumsum(draw(60, 3), axis=0)
    expected = naive.gram_diagonals(table)
    assert_allclose(compute_bare_kernel(read(table), 20), expected[:20] / expected[0], rtol=1e-12)
    assert compute_bare_kernel(read(table), 61) is None
    assert compute_bare_kernel(read(0 * table), 20) is None
    assert compute_bare_kernel(read(table, grid="6x10"), 20) is None
    assert compute_bare_kernel(make("time2vec"), 100).shape == (100,)


def test_zeros_have_no_spectrum():
    for grid in (None, "2x3"):
        with pytest.raises(UndefinedError, match="all codes are zero"):
            compute_spectrum(read(np.zeros((6, 2)), grid=grid))
    with pytest.raises(UndefinedError, match="all codes are zero"):
        compute_grid_spectrum(read(np.zeros((6, 2)), grid="2x3"))


# grids -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 30.0])
def test_the_spectrum_of_a_grid_is_the_double_sum(shape, bandwidth):
    height, width = shape
    encoding = read(draw(height * width, 2, seed=width) + 0.2, grid=f"{height}x{width}")
    found = compute_grid_spectrum(encoding, bandwidth=bandwidth)
    n = max(2, height), max(2, width)
    plane = naive.grid_lag_window(naive.gram_offsets(encoding.table(height * width), shape), n, bandwidth)
    half = plane[: n[0] // 2 + 1]
    order = [(j - n[1] // 2) % n[1] for j in range(n[1])]
    atol = 1e-12 * np.abs(half).max() / abs(half.sum())
    assert_allclose(found.weights, half[:, order] / half.sum(), rtol=0, atol=atol)
    assert_allclose(found.omega_vertical, [2 * np.pi * i / n[0] for i in range(n[0] // 2 + 1)])
    assert_allclose(found.omega_horizontal, [2 * np.pi * (j - n[1] // 2) / n[1] for j in range(n[1])])
    # both marginals of the whole plane are the spectra along the axes
    for axis, marginal in (("vertical", plane.sum(axis=1)), ("horizontal", plane.sum(axis=0))):
        line = compute_spectrum(encoding, axis=axis, bandwidth=bandwidth)
        expected = marginal[: len(line.weights)]
        assert line.axis == axis
        atol = 1e-11 * np.abs(expected).max() / abs(expected.sum())
        assert_allclose(line.weights, expected / expected.sum(), rtol=0, atol=atol)


def test_the_marginals_of_what_is_returned():
    encoding = read(draw(42, 3), grid="6x7")
    weights = compute_grid_spectrum(encoding, bandwidth=1.0).weights
    vertical = compute_spectrum(encoding, axis="vertical", bandwidth=1.0).weights
    assert_allclose(weights.sum(axis=1), vertical, rtol=0, atol=1e-13)
    # H = 6: rows 1 and 2 have an opposite, rows 0 and 3 are their own
    below = weights[1:3, ::-1]  # W = 7 is odd, so opposite frequencies mirror
    horizontal = (weights.sum(axis=0) + below.sum(axis=0))[3:]
    expected = compute_spectrum(encoding, axis="horizontal", bandwidth=1.0).weights
    assert_allclose(horizontal / horizontal.sum(), expected, rtol=0, atol=1e-13)


def test_special_rows_before_a_grid_are_left_out():
    table = draw(21, 4)
    plain = compute_grid_spectrum(read(table[1:], grid="4x5")).weights
    assert_array_equal(compute_grid_spectrum(read(table, grid="4x5", prefix=1)).weights, plain)
    cls = find_encoding("sincos2d")
    names = [p.name for p in cls.accepts]
    if "cls" in names:
        with_row = cls(d=16, height=4, width=5, cls="yes")
        without = cls(d=16, height=4, width=5, cls="no")
        assert_array_equal(compute_grid_spectrum(with_row).weights, compute_grid_spectrum(without).weights)


def test_a_bias_on_a_grid_is_averaged_by_offset():
    swin = find_encoding("swin")()
    height, width = swin.shape
    maps = swin.bias_map(height * width)
    raised = np.exp(maps - maps.max(axis=(1, 2), keepdims=True))
    found = estimate_grid_kernel(swin)
    sums = np.zeros(found.values.shape[1:])
    for s in range(height * width):
        for t in range(height * width):
            dy, dx = t // width - s // width, t % width - s % width
            sums[height - 1 + dy, width - 1 + dx] += raised[0, s, t]
    means = sums / count_grid_pairs((height, width))
    assert_allclose(found.values[0], (means + means[::-1, ::-1]) / 2, rtol=1e-12)
    assert list_axes(swin) == ("vertical", "horizontal")


def test_axes_are_checked():
    grid, line = read(draw(6, 2), grid="2x3"), read(draw(6, 2))
    assert compute_spectrum(grid).axis == "horizontal"
    with pytest.raises(InputError, match="axis is not known"):
        compute_spectrum(grid, axis="diagonal")
    with pytest.raises(InputError, match="axis has no meaning"):
        compute_spectrum(line, axis="vertical")
    with pytest.raises(InputError, match="fills no grid"):
        compute_grid_spectrum(line)


# real positions ----------------------------------------------------------------------------------------


def smooth(power, n, bandwidth):
    """A Gaussian of `bandwidth` bins around each bin, on an axis unfolded until nothing is left of it."""
    reach = math.ceil(10 * bandwidth) + n
    out = [
        sum(power[min(j % n, -j % n)] * math.exp(-(((j - k) / bandwidth) ** 2) / 2) for j in range(-reach, reach + 1))
        for k in range(len(power))
    ]
    return np.array(out) / sum(out)


@pytest.mark.parametrize("width", [1.0, 4.0, 9.0, 50.0])
def test_one_line_is_smoothed_to_a_theta_function(width):
    # a Gaussian that goes around a circle, as its Fourier series
    n, tone = 20, 3
    damping = [math.exp(-2 * (math.pi * width * p / n) ** 2) for p in range(40)]

    def theta(x):
        return 1 + 2 * sum(damping[p] * math.cos(2 * math.pi * p * x / n) for p in range(1, 40))

    expected = np.array([theta(k - tone) + theta(k + tone) for k in range(11)])
    found = smooth_power(np.eye(11)[tone], n, width)
    assert_allclose(found / found.sum(), expected / expected.sum(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("bandwidth", [1e-3, 4.0, 30.0, 1e6])
def test_a_flat_periodogram_stays_flat(bandwidth):
    smoothed = smooth_power(np.ones(11), 20, bandwidth)
    assert_allclose(smoothed, smoothed[0], rtol=1e-14)
    assert (smooth_power(np.eye(11)[3], 20, bandwidth) >= 0).all()


@pytest.mark.parametrize("count", [2, 3, 8, 15, 20])
@pytest.mark.parametrize("bandwidth", [0.2, 1.5, 4.0, 100.0])
def test_real_positions_have_the_smoothed_periodogram(count, bandwidth):
    encoding = find_encoding("sinusoidal")(d=6, rho=20.0)
    times = np.sort(np.random.default_rng(count).uniform(-5, 40, count))
    found = compute_irregular_spectrum(encoding, np.concatenate([times[::-1], times[:1]]), bandwidth=bandwidth)
    delta = np.median([b - a for a, b in pairwise(times)])
    omega = 2 * np.pi * np.arange(count // 2 + 1) / (count * delta)
    expected = smooth(naive.periodogram(encoding.table_at(times), times, omega), count, bandwidth)
    assert_allclose(found.omega, omega, rtol=1e-12)
    assert_allclose(found.weights, expected, rtol=0, atol=1e-12)
    assert found.estimator == "nudft"
    assert found.length == count


def test_only_an_estimate_from_frequencies_says_where_the_axis_is_empty():
    encoding = find_encoding("sinusoidal")(d=16)
    assert_allclose(compute_density_spectrum(encoding).summary.empty_upper_band, 1 - 1 / math.pi, rtol=1e-15)
    # the axis of real positions ends elsewhere, and a lag window does not ask for the frequencies
    for found in (compute_irregular_spectrum(encoding, np.arange(8) / 2), compute_lag_window_spectrum(encoding)):
        assert found.summary.empty_upper_band is None


def test_a_tone_is_found_at_its_place():
    encoding = find_encoding("sinusoidal")(d=2)  # frequency 1
    times = np.arange(0, 100, 0.25) + 0.1 * np.sin(np.arange(400.0))
    found = compute_irregular_spectrum(encoding, times, bandwidth=1.0)
    assert_allclose(found.omega[int(found.weights.argmax())], 1.0, atol=0.05)


@pytest.mark.parametrize(
    ("times", "match"),
    [
        ([], "too few"),
        ([1.0, 1.0], "too few"),
        ([0.0, math.nan], "out of range"),
        ([0.0, 1e-14, 2e-14, 1.0], "too uneven"),
        ([0.0, 5e-324, 1e-323, 1.0], "too uneven"),
        ([[0.0, 1.0]], "axes"),
    ],
)
def test_positions_without_a_periodogram(times, match):
    with pytest.raises(InputError, match=match):
        compute_irregular_spectrum(find_encoding("sinusoidal")(d=2), times)


def test_integers_only_have_no_periodogram():
    with pytest.raises(InputError, match="takes no real positions"):
        compute_irregular_spectrum(find_encoding("one-hot")(d=4), [0.0, 0.5])


# stretches ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "window"), [(4, 4), (9, 5), (20, None), (40, 16), (33, 33)])
def test_stretches_have_their_own_periodograms(rows, window):
    encoding = read(draw(rows, 2, seed=rows))
    found = compute_local_spectra(encoding, window=window)
    starts = found.centres - (found.window - 1) / 2
    assert_array_equal(starts, np.floor(starts))
    for start, weights in zip(starts, found.weights, strict=True):
        assert_allclose(weights, naive.local_spectrum(encoding.codes, int(start), found.window), rtol=0, atol=1e-13)


@pytest.mark.parametrize(("rows", "window"), [(1000, None), (1000, 125), (21, 16), (5000, 9)])
def test_stretches_reach_from_the_first_row_to_the_last(rows, window):
    found = compute_local_spectra(read(draw(rows, 1)), window=window)
    first = found.centres - (found.window - 1) / 2
    assert (first[0], first[-1] + found.window) == (0, rows)
    steps = np.diff(first)
    assert (steps > 0).all()
    assert np.ptp(steps) <= 1


def test_a_change_in_the_middle_is_seen():
    s = np.arange(400)
    table = np.where(s < 200, np.cos(0.3 * s), np.cos(2.0 * s))[:, None]
    found = compute_local_spectra(read(table))
    peaks = found.omega[found.weights.argmax(axis=1)]
    assert np.abs(peaks[found.centres < 170] - 0.3).max() < 0.1
    assert np.abs(peaks[found.centres > 230] - 2.0).max() < 0.1


def test_stretches_of_zeros_and_too_few_positions():
    table = np.concatenate([np.zeros((20, 1)), np.ones((20, 1))])
    found = compute_local_spectra(read(table), window=8)
    assert not found.weights[0].any()
    assert_allclose(found.weights[-1].sum(), 1.0)
    with pytest.raises(InputError, match="too few for a window"):
        compute_local_spectra(read(table[:3]))
    for window in (3, 41, True, 5.5):
        with pytest.raises(InputError, match="window"):
            compute_local_spectra(read(table), window=window)
    assert len(compute_local_spectra(read(np.ones((5000, 1)))).weights) <= 130


# grids or lines ----------------------------------------------------------------------------------------


def make_smooth_field(side, columns, seed, noise):
    """Independent smooth random surfaces: white noise blurred over two or three places, and noise."""
    generator = np.random.default_rng(seed)
    taps = np.exp(-0.5 * (np.arange(-6, 7) / 2.0) ** 2)
    white = generator.normal(size=(columns, side + 12, side + 12))
    for axis in (1, 2):
        white = np.apply_along_axis(lambda line: np.convolve(line, taps, "valid"), axis, white)
    field = white / white.std()
    return (field + noise * generator.normal(size=field.shape)).reshape(columns, -1).T


def settle(table, **values):
    found, notes = settle_grid(table, values)
    return found.get("grid"), found.get("prefix"), notes


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("side", "columns"), [(7, 64), (14, 64), (16, 32), (24, 16)])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_smooth_fields_are_found(side, columns, noise, seed):
    table = make_smooth_field(side, columns, seed, noise)
    assert settle(table)[:2] == (f"{side}x{side}", None)
    row = 3 * np.random.default_rng(seed).normal(size=(1, columns))
    grid, prefix, notes = settle(np.concatenate([row, table]))
    assert (grid, prefix) == (f"{side}x{side}", 1)
    assert "prefix=1" in notes[0]


@pytest.mark.parametrize("side", [8, 14, 16, 24])
@pytest.mark.parametrize("d", [64, 192])
def test_sincos2d_is_found(side, d):
    table = find_encoding("sincos2d")(d=d, height=side, width=side).table(side * side)
    assert settle(table)[0] == f"{side}x{side}"
    assert settle(np.concatenate([np.zeros((1, d)), table]))[:2] == (f"{side}x{side}", 1)
    assert settle(table + 0.3 * draw(*table.shape))[0] == f"{side}x{side}"
    assert settle(planted.make_grid(side, side, d))[0] == f"{side}x{side}"


LINES = {
    "sinusoidal": lambda n, d, seed: naive.sinusoidal_table(d, 10.0 ** (2 + seed), range(n)),
    "walk": lambda n, d, seed: np.cumsum(draw(n, d, seed=seed), axis=0),
    "noise": lambda n, d, seed: draw(n, d, seed=seed),
    "trained": lambda n, d, seed: planted.make_trained(n, d, seed=seed),
    "periodic": lambda n, d, seed: planted.make_periodic(n, d, seed=seed),
    "root": lambda n, d, seed: planted.make_periodic(n, d, seed=seed, periods=(500.0, math.sqrt(n)), shares=(0.5, 0.4)),
    "only root": lambda n, d, seed: planted.make_periodic(n, d, seed=seed, periods=(math.sqrt(n),), shares=(0.9,)),
    "constant": lambda n, d, seed: np.full((n, d), 0.1 * (seed + 1)),
    "one-hot": lambda n, _, __: np.eye(n),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize(("side", "d"), [(14, 48), (16, 64), (32, 32)])
def test_lines_stay_lines(kind, side, d, seed):
    table = LINES[kind](side * side, d, seed)
    assert settle(table)[0] is None
    assert settle(table * 1e-200)[0] is None


def test_what_was_said_is_obeyed():
    table = make_smooth_field(14, 64, 0, 0.0)
    assert settle_grid(table, {"grid": "1x196"}) == ({"grid": "1x196"}, ())
    assert settle(table, first=1)[0] is None
    assert settle(np.concatenate([table, table]), last=196)[0] == "14x14"
    assert settle(np.concatenate([table[:2], table]), prefix=2)[:2] == ("14x14", 2)
    assert settle(draw(4, 3))[0] is None
    assert settle(draw(0, 3))[0] is None
    assert settle(table, first=500)[0] is None


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1e306])
def test_a_grid_has_no_scale(scale):
    table = make_smooth_field(14, 64, 0, 0.0)
    assert measure_fold(table * scale, 14).is_grid


def test_a_kernel_that_falls_steadily_has_no_peak_at_the_width_of_a_grid():
    phases = np.random.default_rng(2).uniform(0, 2 * np.pi, 256)
    codes = np.cos(0.15 * np.arange(64)[:, None] + phases)
    assert measure_fold(codes, 8).peak < 0
    assert settle_grid(codes, {"prefix": 0}) == ({"prefix": 0}, ())
