"""What storing rounds off, against arithmetic that is done here."""

import numpy as np
import pytest

from pe_spectra.inspection.rounding import find_nearest, find_rounding
from pe_spectra.precision.dtypes import STORED_TYPES, round_to


@pytest.mark.parametrize("levels", [8, 16, 255])
def test_few_numbers_are_the_levels_that_a_table_was_rounded_to(levels):
    generator = np.random.default_rng(levels)
    table = generator.uniform(-1, 1, (256, 96))
    step = 2 / (levels - 1)
    stored = (np.rint((table + 1) / step) * step - 1).astype(np.float32).astype(float)
    found = find_rounding(stored, "float32")
    assert found.levels.tolist() == np.unique(stored).tolist()
    np.testing.assert_allclose(found.cells, step, rtol=1e-4)
    left = np.square(stored - table).sum(axis=1)
    np.testing.assert_allclose(found.measure(stored).mean(), left.mean(), rtol=0.05)


def test_a_number_that_is_rare_says_nothing_of_the_interval_beside_it():
    table = np.rint(np.random.default_rng(0).normal(0, 2, (128, 64)))
    table[3, 5] = 40
    found = find_rounding(table)
    assert found.levels[-1] == 40
    assert found.cells.tolist() == [1.0] * len(found.levels)


def test_intervals_that_differ_are_told_apart():
    """Numbers of a narrow type times a factor."""
    wide = np.random.default_rng(1).normal(0, 2, (256, 64))
    stored = 0.3 * round_to(wide, STORED_TYPES["float4_e2m1fn"]).astype(float)
    found = find_rounding(stored)
    np.testing.assert_allclose(found.cells[[7, -2, -1]], [0.15, 0.45, 0.6])


@pytest.mark.parametrize("dtype", STORED_TYPES)
def test_the_numbers_of_a_type_are_no_levels(dtype):
    kind = STORED_TYPES[dtype]
    table = round_to(np.random.default_rng(2).normal(size=(512, 64)), kind).astype(float)
    assert find_rounding(table, dtype).levels.tolist() == []


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_level_is_that_of_a_search(seed):
    generator = np.random.default_rng(seed)
    levels, values = np.unique(generator.normal(size=9)), generator.normal(0, 2, (20, 3))
    naive = [[int(np.argmin(np.abs(levels - value))) for value in row] for row in values]
    assert find_nearest(levels, values).tolist() == naive


def test_numbers_are_compared_with_codes_as_they_are_rounded():
    generator = np.random.default_rng(4)
    codes = generator.normal(size=(64, 48))
    table = np.rint(codes * 5) / 5
    found = find_rounding(table)
    assert found.agree(table, codes, np.zeros_like(codes), by_levels=True).all()
    assert found.agree(table, codes, np.zeros_like(codes)).mean() < 0.01
    moved = codes + 0.2
    # beside a number that no code was rounded to, and beyond the last, the nearest level is farther
    inner = np.abs(table) < 2
    assert not found.agree(table, moved, np.zeros_like(codes), by_levels=True)[inner].any()
    assert found.agree(table, moved, np.full_like(codes, 0.2), by_levels=True).all()
