"""Sums over pairs of point and source: several sets of sources at once as each by itself."""

import numpy as np
import pytest

from pe_spectra.spectrum import gaussian_pairs
from pe_spectra.spectrum.gaussian_pairs import LogSum, sum_stacked_gaussians
from pe_spectra.spectrum.gaussian_sums import sum_gaussians


@pytest.mark.parametrize("width", [1e-3, 0.5, 4.0, 1e4])
@pytest.mark.parametrize(("sets", "size", "count"), [(1, 1, 1), (3, 1, 9), (7, 40, 65), (300, 16, 33), (5, 90, 400)])
def test_stacked_sums_are_those_of_each(sets, size, count, width):
    rng = np.random.default_rng(size)
    u = rng.uniform(-5, count + 5, size=(sets, size)) * rng.choice([1.0, 1e-3], size=(sets, 1))
    low, masses = 1e-17 * u, rng.uniform(0, 2, size=(sets, size))
    found = sum_stacked_gaussians(u, low, masses, width, count)
    for index, stacked in enumerate(map(LogSum, *found)):
        one = sum_gaussians(u[index], low[index], masses[index], width, count)
        assert np.array_equal(one.exponent, stacked.exponent)
        assert np.array_equal(one.exponent_low, stacked.exponent_low)
        np.testing.assert_allclose(one.factor, stacked.factor, rtol=1e-14)


@pytest.mark.parametrize("pairs", [1, 1 << 12, 1 << 15])
def test_sets_whose_windows_lie_apart_see_their_own_sources(monkeypatch, pairs):
    monkeypatch.setattr(gaussian_pairs, "_PAIRS", pairs)  # each set by itself, both in many blocks, or in one
    u = np.array([[1.0, 2.0, 3.0], [500.0, 510.0, 511.0]])
    found = sum_stacked_gaussians(u, np.zeros((2, 3)), np.ones((2, 3)), 2.0, 520)
    exact = np.exp(-((np.arange(520.0)[:, None, None] - u) ** 2) / 8).sum(axis=2).T
    sums = np.exp(found.exponent) * found.factor
    np.testing.assert_allclose(sums[exact > 1e-200], exact[exact > 1e-200], rtol=1e-10)
