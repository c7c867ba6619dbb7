"""The smallest separation and the collisions, against all pairs of the slow version."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Dft, Sinusoidal, measure_faithfulness
from tests import naive

SIZES = [2, 3, 4, 5, 7, 8, 16, 31, 48, 97, 128]
BASES = [0.3, 1.0, 2.5, 1e4, 1e9]


# ----------------------------------------------------------------------------------- faithfulness


@pytest.mark.few(26)
@pytest.mark.parametrize("rho", BASES)
@pytest.mark.parametrize("d", SIZES)
def test_smallest_separation(d, rho):
    found = measure_faithfulness(Sinusoidal(d=d, rho=rho), length=60)
    expected, (s, t) = naive.smallest_separation(naive.sinusoidal_table(d, rho, range(60)))
    assert_allclose(found.min_separation, expected, rtol=1e-11)
    a, b = found.closest_pair
    assert b - a == t - s
    assert found.collisions.count == 0


@pytest.mark.parametrize("rho", [2.5, 1e4])
@pytest.mark.parametrize("d", [2, 3, 4, 5, 7, 16, 31])
def test_smallest_separation_at_each_lag(d, rho):
    rows = naive.sinusoidal_table(d, rho, range(40))
    found = measure_faithfulness(Sinusoidal(d=d, rho=rho), length=40).separation_by_lag
    assert_allclose(found, naive.separation_by_lag(rows), rtol=1e-11)


def test_separations_of_one_frequency_keep_their_digits():
    lags = np.arange(1, 1000)
    found = measure_faithfulness(Sinusoidal(d=2), length=1000).separation_by_lag
    # the one frequency is 1 rad, so lag / 2 is exact and so is the sine, to half a unit
    assert_allclose(found, 2 * np.abs(np.sin(lags / 2)), rtol=4e-16)


@pytest.mark.parametrize("length", [2, 7, 8, 9, 40])
@pytest.mark.parametrize("d", [2, 3, 7, 8, 16])
def test_collisions_of_the_dft_table(d, length):
    found = measure_faithfulness(Dft(d=d), length=length, limit=1000).collisions
    pairs = naive.dft_collisions(d, length)
    assert found.count == len(pairs)
    # of the pairs, those of a position with the next one that has its code
    later = {s: min(t for first, t in pairs if first == s) for s, _ in pairs}
    assert [tuple(pair) for pair in found.examples] == sorted(later.items())


@pytest.mark.parametrize("limit", [1, 5])
def test_the_limit_bounds_the_examples_and_not_the_count(limit):
    found = measure_faithfulness(Dft(d=4), length=30, limit=limit).collisions
    assert found.count == len(naive.dft_collisions(4, 30))
    assert len(found.examples) == limit
