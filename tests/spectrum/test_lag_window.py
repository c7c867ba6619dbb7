"""The lag-window spectrum of tables, kernels, biases and maps; by two roads."""

import math
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import compute_spectrum, find_encoding
from pe_spectra.encodings import ENCODINGS
from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.faithfulness import pair_lags
from pe_spectra.faithfulness.pair_lags import PairWords
from pe_spectra.spectrum import (
    compute_bare_kernel,
    compute_density_spectrum,
    compute_grid_spectrum,
    compute_lag_window_spectrum,
    compute_local_spectra,
    estimate_kernel,
)
from pe_spectra.spectrum.kernels import describe_average
from pe_spectra.spectrum.lag_window import _LAST_LAG
from tests import naive
from tests.making import draw_table, make_encoding
from tests.places import ROOT
from tests.spectrum.tables import read

# ----------------------------------------------------------------------------------- the lag window


@pytest.mark.parametrize(("rows", "grid"), [(1, 2), (2, 2), (3, 5), (20, 20), (21, 21), (40, 12), (12, 40), (30, 7)])
@pytest.mark.parametrize("bandwidth", [0.5, 4.0, 50.0])
def test_a_table_has_the_lag_window_spectrum_of_its_gram_diagonals(rows, grid, bandwidth):
    table = draw_table(rows, 3, seed=rows) + 0.5
    found = compute_spectrum(read(table), grid=grid, bandwidth=bandwidth)
    expected = naive.lag_window(naive.gram_diagonals(table), grid, bandwidth)
    assert_allclose(found.weights, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    assert (found.estimator, found.kernel_source, found.length) == ("lag-window", "gram-diagonals", rows)
    assert_allclose(found.toeplitz_share, naive.toeplitz_share(table), rtol=1e-12)


@pytest.mark.parametrize("bandwidth", [1e-6, 1e-3, 1e6])
def test_bandwidths_at_their_bounds(bandwidth):
    table = draw_table(9, 2)
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
    alibi = make_encoding("alibi:heads=4")
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
    t5 = make_encoding("t5:heads=2,seed=3")
    kernel = estimate_kernel(t5, count=6).values
    both = t5.bias(np.arange(-5, 6))
    raised = np.exp(both - both.max(axis=1, keepdims=True))
    expected = [[(raised[h, 5 + lag] + raised[h, 5 - lag]) / 2 for lag in range(6)] for h in range(2)]
    assert_allclose(kernel, expected, rtol=1e-14)


def test_more_lags_of_a_bias_than_memory_are_refused():
    with pytest.raises(InputError, match="too large to hold"):
        compute_spectrum(make_encoding("alibi:heads=40"), grid=1 << 20, bandwidth=0.1)


def test_rows_for_lags_and_maps_are_averaged():
    shaw = make_encoding("shaw:d=4,clip=3")
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
    fire = find_encoding("fire")(heads=2, threshold=4.0)
    maps = fire.bias_map(9)
    plain = estimate_kernel(fire, length=9).values
    top = [max(maps[h, i, j] for i in range(9) for j in range(i + 1)) for h in range(2)]
    for lag in range(9):
        expected = [np.mean([math.exp(maps[h, i, i - lag] - top[h]) for i in range(lag, 9)]) for h in range(2)]
        assert_allclose(plain[:, lag], expected, rtol=1e-12)
    monkeypatch.setattr(type(fire), "bias_map", lambda *_: maps + shift * np.tri(9))
    assert_allclose(estimate_kernel(fire, length=9).values, plain, rtol=1e-10)


def test_the_quantities_name_the_span_of_the_lag_window():
    text = (ROOT / "docs" / "quantities.md").read_text(encoding="utf-8")
    assert f"S below {_LAST_LAG} N / (2 pi bandwidth)" in text


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200])
def test_a_scale_is_not_in_a_spectrum(scale):
    table = draw_table(20, 3) * 1e3
    plain, scaled = compute_spectrum(read(table)), compute_spectrum(read(table * scale))
    assert_allclose(scaled.weights, plain.weights, rtol=0, atol=1e-5)
    grids = [compute_grid_spectrum(read(t, grid="4x5")).weights for t in (table, table * scale)]
    assert_allclose(grids[1], grids[0], rtol=0, atol=1e-5)
    local = [compute_local_spectra(read(t)).weights for t in (table, table * scale)]
    assert_allclose(local[1], local[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("spec", "length", "said"),
    [
        ("calendar", None, "positions 0 .. 191 (192 positions)"),
        ("calendar", 50, "positions 0 .. 49 (50 positions)"),
        ("calendar", 1, "position 0 alone"),
        ("learned:init=normal,d=8,length=96", 40, "positions 0 .. 39 (40 of 96 positions)"),
        ("learned:init=normal,d=8,length=96", None, "positions 0 .. 95 (96 positions)"),
    ],
)
def test_an_average_names_its_positions(spec, length, said):
    encoding = make_encoding(spec)
    kernel = estimate_kernel(encoding, length=length)
    assert describe_average(encoding, kernel.source, kernel.length) == said
    found = re.search(r"0 \.\. (\d+)", said)
    table = encoding.table(np.arange(1 + int(found[1]) if found else 1))  # the positions that are named, and no others
    assert_allclose(kernel.values[0], naive.gram_diagonals(table), rtol=1e-12)
    text = compute_spectrum(encoding, length=length, grid=336).notes[0]
    assert text == f"{encoding.label}: mean dot product of the position vectors at each lag, over {said}"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("shaw", "lags -255 .. 255 (511 lags)"),
        ("fire", "positions 0 .. 255 (256 positions)"),
        ("sincos2d:d=16,height=4,width=6", "the 4 x 6 places of the grid"),
        ("swin:window=5", "the 5 x 5 places of the grid"),
        ("t5", ""),  # a bias of the lag alone: nothing is averaged
        ("alibi", ""),
        ("sinusoidal", ""),
    ],
)
def test_what_an_average_is_over_follows_from_the_encoding(spec, said):
    encoding = make_encoding(spec)
    spectrum = compute_spectrum(encoding)
    assert describe_average(encoding, spectrum.kernel_source or "exact", spectrum.length) == said
    assert any(note.endswith(f", over {said}") for note in spectrum.notes) == bool(said)


def test_the_bare_kernel_is_over_all_rows_as_the_spectrum_is():
    table = np.cumsum(draw_table(60, 3), axis=0)
    expected = naive.gram_diagonals(table)
    assert_allclose(compute_bare_kernel(read(table), 20).values[0], expected[:20] / expected[0], rtol=1e-12)
    assert compute_bare_kernel(read(table), 61) is None
    assert compute_bare_kernel(read(0 * table), 20) is None
    assert compute_bare_kernel(read(table, grid="6x10"), 20) is None
    assert compute_bare_kernel(make_encoding("time2vec"), 100).values.shape == (1, 100)


def test_zeros_have_no_spectrum():
    for grid in (None, "2x3"):
        with pytest.raises(UndefinedError, match="all vectors are zero"):
            compute_spectrum(read(np.zeros((6, 2)), grid=grid))
    with pytest.raises(UndefinedError, match="all vectors are zero"):
        compute_grid_spectrum(read(np.zeros((6, 2)), grid="2x3"))


# ----------------------------------------------------------------------------------- budgets


def test_many_near_lags_are_all_computed_with_the_same_answer(monkeypatch):
    words = find_encoding("sinusoidal")(d=256).words()
    pairs = PairWords(words=words, count=128, amplitude=1.0, phase=0.0)
    few = pair_lags.find_closest_lag(pairs, 4096)
    monkeypatch.setattr(pair_lags, "_LOW_TERMS", 0)
    assert pair_lags.find_closest_lag(pairs, 4096) == few
