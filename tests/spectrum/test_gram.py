"""Gram diagonals and offsets, and the share of energy that a function of the lag explains; by two roads."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.errors import InputError
from pe_spectra.spectrum import compute_gram_kernel, compute_grid_kernel, measure_toeplitz_share
from pe_spectra.spectrum import gram as gram_module
from pe_spectra.spectrum.gram import _find_quick_length, count_grid_pairs
from tests import naive
from tests.making import draw_table

SHAPES = ((1, 1), (1, 6), (6, 1), (2, 2), (2, 3), (5, 4), (3, 8))


# ----------------------------------------------------------------------------------- Gram diagonals


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 1), (3, 2), (17, 5), (64, 3), (255, 2), (257, 2), (300, 7)])
def test_gram_diagonals_are_the_means_of_the_gram_matrix(rows, columns):
    table = draw_table(rows, columns, seed=rows)
    expected = naive.gram_diagonals(table)
    found = compute_gram_kernel(table)
    assert_allclose(found, expected, rtol=0, atol=1e-13 * expected[0])
    for count in {1, 2, rows // 3, rows - 1, rows} - {0}:
        if count <= rows:
            assert_allclose(compute_gram_kernel(table, count), expected[:count], rtol=0, atol=1e-13 * expected[0])


@pytest.mark.parametrize("count", [1, 2, 192, 700, 4999, 5000, 9999, 10000])
def test_segments_of_a_long_table_add_up_to_the_whole(count):
    table = draw_table(10000, 2) + 3.0
    whole = [float(np.sum(table[lag:] * table[: len(table) - lag])) / (len(table) - lag) for lag in range(count)]
    assert_allclose(compute_gram_kernel(table, count), whole, rtol=0, atol=1e-13 * whole[0])


@pytest.mark.parametrize(("count", "longest"), [(1, 4096), (100, 4096), (600, 4800), (5000, 10000)])
def test_few_lags_of_a_long_table_take_short_transforms(monkeypatch, count, longest):
    correlate, lengths = gram_module._correlate, []

    def record(first, second, lags):
        lengths.append(len(first) if second is None else len(second))
        return correlate(first, second, lags)

    monkeypatch.setattr(gram_module, "_correlate", record)
    table = draw_table(10000, 1)
    assert_allclose(compute_gram_kernel(table, count)[0], np.mean(table**2), rtol=1e-13)
    assert max(lengths) == longest


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_every_lag_is_right_to_1e_13_of_the_zeroth(shift):
    table = draw_table(3000, 4) + shift
    exact = [math.fsum((table[lag:] * table[: 3000 - lag]).ravel()) / (3000 - lag) for lag in range(0, 3000, 7)]
    assert_allclose(compute_gram_kernel(table)[::7], exact, rtol=0, atol=1e-13 * exact[0])


def test_few_columns_at_a_time_give_the_same(monkeypatch):
    table, plane = draw_table(60, 9), draw_table(30, 9)
    line, grid = compute_gram_kernel(table), compute_grid_kernel(plane, (5, 6))
    monkeypatch.setattr(gram_module, "_BLOCK", 1)
    monkeypatch.setattr(gram_module, "_COLUMNS", 2)
    monkeypatch.setattr(gram_module, "_LAST", 2)
    assert_allclose(compute_gram_kernel(table), line, rtol=0, atol=1e-13 * line[0])
    assert_allclose(compute_grid_kernel(plane, (5, 6)), grid, rtol=0, atol=1e-13 * line[0])


@pytest.mark.parametrize("count", [0, -1, 6])
def test_no_more_lags_than_rows(count):
    with pytest.raises(InputError, match="more lags than the table has"):
        compute_gram_kernel(draw_table(5, 2), count)


def test_quick_lengths_are_the_next_products_of_2_3_and_5():
    def is_quick(n):
        for prime in (2, 3, 5):
            while n % prime == 0:
                n //= prime
        return n == 1

    for least in range(1, 700):
        expected = next(n for n in range(least, 2 * least + 1) if is_quick(n))
        assert _find_quick_length(least) == expected


# ----------------------------------------------------------------------------------- offsets on a grid, Toeplitz share


@pytest.mark.parametrize("shape", SHAPES)
def test_offsets_are_the_means_over_pairs_of_places(shape):
    table = draw_table(shape[0] * shape[1], 3, seed=shape[1])
    expected = naive.gram_offsets(table, shape)
    found = compute_grid_kernel(table, shape)
    assert_allclose(found, expected, rtol=0, atol=1e-13 * expected.max())
    assert_array_equal(found, found[::-1, ::-1])
    counted = [[(shape[0] - abs(y)) * (shape[1] - abs(x)) for x in range(1 - shape[1], shape[1])]
               for y in range(1 - shape[0], shape[0])]  # fmt: skip
    assert_array_equal(count_grid_pairs(shape), counted)


def test_rows_must_fill_the_grid():
    with pytest.raises(InputError, match="do not fill the grid"):
        compute_grid_kernel(draw_table(5, 2), (2, 3))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("columns", [1, 3, 40])
def test_toeplitz_share_is_the_energy_of_the_projection(shape, columns):
    table = draw_table(shape[0] * shape[1], columns, seed=columns)
    assert_allclose(measure_toeplitz_share(table), naive.toeplitz_share(table), rtol=1e-12)
    assert_allclose(measure_toeplitz_share(table, shape), naive.toeplitz_share(table, shape), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200])
def test_toeplitz_share_has_no_scale(scale):
    table = draw_table(12, 2) * 1e3
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
        table = draw_table(24, 3, seed=seed)
        assert measure_toeplitz_share(table, (4, 6)) >= measure_toeplitz_share(table)


# ----------------------------------------------------------------------------------- few pairs of long tables


ROWS = 1 << 17


@pytest.mark.parametrize("count", [ROWS, ROWS - 100, ROWS - 300, ROWS - 513, ROWS - 9000])
def test_few_pairs_of_a_long_table_are_right_too(count):
    x = np.sin(np.arange(ROWS) * 1e-3)
    found = compute_gram_kernel(x[:, None], count)
    for n in (1, 200, 256, 257, 260, 400, 511, 512, 513, 700, 3000, 8191, 8192, 8193, 9001, 70000, ROWS):
        lag = ROWS - n
        if lag < count:
            exact = math.fsum(x[lag:] * x[:n]) / n
            assert abs(found[lag] - exact) <= 1e-14 * found[0]


def test_rows_of_several_columns_keep_their_last_lags():
    table = np.random.default_rng(0).normal(size=(1 << 14, 11))
    found, rows = compute_gram_kernel(table), len(table)
    for n in (257, 300, 1000, 1023, 1024, 1025):
        exact = math.fsum((table[rows - n :] * table[:n]).ravel()) / n
        assert abs(found[rows - n] - exact) <= 1e-14 * found[0]
