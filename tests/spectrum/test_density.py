"""Eq. 15 and Eq. 22 and the lag window, against their slow definitions."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Sinusoidal, compute_dft_weights, compute_lag_window_spectrum, compute_spectrum
from pe_spectra.exact import PI
from pe_spectra.spectrum import density
from tests import naive

SIZES = [2, 3, 4, 5, 7, 8, 16, 31, 48, 97, 128]
BASES = [0.3, 1.0, 2.5, 1e4, 1e9]


@pytest.mark.parametrize("n", [3, 1 << 16, 100003])
def test_frequencies_in_bins_have_the_digits_of_pairs(n):
    rng = np.random.default_rng(n)
    values = np.concatenate([Sinusoidal(d=200).frequencies().values, np.exp(rng.uniform(-9, 40, 200))])[::-1]
    low = values * rng.uniform(-1, 1, values.size) * 2.0**-53
    found = density._scale(values, low, n)
    for value, value_low, high, high_low in zip(*map(np.ndarray.tolist, (values, low, *found)), strict=True):
        exact = (Fraction(value) + Fraction(value_low)) * n / (2 * Fraction(PI))
        assert abs(exact - Fraction(high) - Fraction(high_low)) <= 2.0**-104 * high


# ----------------------------------------------------------------------------------- Eq. 15, 16, 22


@pytest.mark.few(39)
@pytest.mark.parametrize("boundary", ["none", "reflect"])
@pytest.mark.parametrize("bandwidth", [0.5, 4.0])
@pytest.mark.parametrize("rho", BASES)
@pytest.mark.parametrize("d", [2, 3, 4, 5, 7, 8, 16, 31, 48])
def test_weights(d, rho, bandwidth, boundary):
    found = compute_spectrum(Sinusoidal(d=d, rho=rho), bandwidth=bandwidth, boundary=boundary)
    w, mass = naive.frequencies(d, rho), naive.masses(d)
    expected = naive.weights(w, mass, d, bandwidth, boundary)
    # the exponent of the slow one, up to some hundreds, is rounded
    assert_allclose(found.weights, expected, rtol=1e-11, atol=1e-300)
    assert_allclose(found.omega, 2 * np.pi * np.arange(d // 2 + 1) / d, rtol=4e-16)


@pytest.mark.parametrize(("d", "grid"), [(7, 30), (30, 7), (16, 2), (2, 17), (97, 64)])
def test_weights_on_another_lattice(d, grid):
    found = compute_spectrum(Sinusoidal(d=d), grid=grid)
    expected = naive.weights(naive.frequencies(d, 1e4), naive.masses(d), grid)
    assert_allclose(found.weights, expected, rtol=1e-11)
    assert found.grid == grid


@pytest.mark.few(13)
@pytest.mark.parametrize("bandwidth", [0.5, 4.0])
@pytest.mark.parametrize("rho", BASES)
@pytest.mark.parametrize("d", [2, 3, 7, 8, 31, 48])
def test_lag_window_weights(d, rho, bandwidth):
    found = compute_lag_window_spectrum(Sinusoidal(d=d, rho=rho), bandwidth=bandwidth)
    w, mass = naive.frequencies(d, rho), naive.masses(d)
    assert_allclose(found.weights, naive.lag_window_weights(w, mass, d, bandwidth), rtol=0, atol=1e-13)
    reflected = naive.weights(w, mass, d, bandwidth, "reflect")
    assert_allclose(found.weights, reflected, rtol=0, atol=4e-14)


@pytest.mark.parametrize("n", SIZES)
def test_dft_weights(n):
    assert_allclose(compute_dft_weights(n), naive.dft_weights(n), rtol=4e-16)
    assert_allclose(np.sum(naive.dft_weights(n)), 1.0, rtol=4e-15)
