"""Numbers in a row: gaps, medians around and peaks, against what NumPy and slow loops say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.inspection.series import bridge, find_medians, measure_spread, pick_peaks
from tests import planted


def draw(size, seed=0):
    return planted.make_generator(seed).standard_normal(size)


def test_gaps_are_bridged_as_numpy_interpolates():
    values, good = draw((50, 3)), draw(50, 1) > -0.3
    good[[0, 1, 49]] = False  # beyond the first and the last good one their values stay
    places = np.arange(50)
    for column in range(3):
        expected = np.interp(places, places[good], values[good, column])
        assert_allclose(bridge(values, good)[:, column], expected, rtol=1e-13)
        assert_allclose(bridge(values[:, column], good), expected, rtol=1e-13)
    assert_array_equal(bridge(values, good)[good], values[good])


def test_nothing_is_bridged_where_all_or_none_is_good():
    values = draw((5, 2))
    for good in (np.ones(5, dtype=bool), np.zeros(5, dtype=bool)):
        assert_array_equal(bridge(values, good), values)


@pytest.mark.parametrize(("reach", "gap"), [(3, -1), (3, 0), (5, 2), (40, -1)])
def test_medians_around(reach, gap):
    values = draw(20)
    reach = min(reach, 19)
    mirrored = np.concatenate([values[reach:0:-1], values, values[-2 : -reach - 2 : -1]])
    near = [p for p in range(-reach, reach + 1) if abs(p) > gap]
    expected = [np.median([mirrored[place + reach + p] for p in near]) for place in range(20)]
    assert_array_equal(find_medians(values, reach, gap), expected)


def test_the_spread_of_normal_numbers_is_their_deviation():
    assert_allclose(measure_spread(3 + 0.5 * draw(100_000), 3.0), 0.5, rtol=0.01)


def test_peaks_are_apart_and_the_first_of_equals_is_taken():
    scores = np.array([1.0, 5.0, 5.0, 4.0, 0.0, 3.0])
    assert pick_peaks(scores, scores > 0, 1) == [1, 3, 5]
    assert pick_peaks(scores, scores > 0, 2) == [1, 5]
    assert pick_peaks(scores, scores > 9, 2) == []
