"""Medians and distinct numbers against those of NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.ordering import find_median, list_distinct


@pytest.mark.parametrize("shape", [(1,), (2,), (5,), (6, 4), (3, 1, 8)])
def test_medians_are_those_of_numpy(shape):
    values = np.random.default_rng(len(shape)).normal(size=shape)
    assert find_median(values) == np.median(values)
    for axis in range(len(shape)):
        assert_array_equal(find_median(values, axis=axis), np.median(values, axis=axis))
    values.reshape(-1)[0] = np.nan
    assert np.isnan(find_median(values))


@pytest.mark.parametrize("shape", [(1,), (5,), (3, 1, 8)])
def test_distinct_numbers_are_those_of_numpy(shape):
    values = np.rint(4 * np.random.default_rng(len(shape)).normal(size=shape)) / 3
    assert_array_equal(list_distinct(values), np.unique(values))


@pytest.mark.parametrize("given", [[], [7], [2, 2]])
def test_distinct_numbers_of_few(given):
    assert list_distinct(given).tolist() == sorted(set(given))
