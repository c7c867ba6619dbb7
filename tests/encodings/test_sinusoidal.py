"""The sinusoidal and the DFT encoding against their slow definitions (Eq. 2, 3, 17-21)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import Dft, Sinusoidal
from tests import naive

SIZES = [2, 3, 4, 5, 7, 8, 16, 31, 48, 97, 128]
BASES = [0.3, 1.0, 2.5, 1e4, 1e9]
POSITIONS = [0, 1, 2, 3, 10, 17, 40, 99]


# ----------------------------------------------------------------------------------- Eq. 2-3


@pytest.mark.parametrize("rho", BASES)
@pytest.mark.parametrize("d", SIZES)
def test_sinusoidal_table(d, rho):
    for layout in ("interleaved", "concatenated"):
        found = Sinusoidal(d=d, rho=rho, layout=layout).table(POSITIONS)
        expected = naive.sinusoidal_table(d, rho, POSITIONS, layout)
        # the slow angle w s is rounded: its error grows with the angle
        largest = max(POSITIONS) * max(naive.frequencies(d, rho))
        assert_allclose(found, expected, rtol=0, atol=4e-16 * largest)


@pytest.mark.parametrize("d", SIZES)
def test_a_count_of_positions_means_the_first_ones(d):
    assert_array_equal(Sinusoidal(d=d).table(6), Sinusoidal(d=d).table(range(6)))
    assert_array_equal(Dft(d=d).table(6), Dft(d=d).table(range(6)))


@pytest.mark.parametrize("rho", BASES)
@pytest.mark.parametrize("d", SIZES)
def test_frequencies_and_masses(d, rho):
    found = Sinusoidal(d=d, rho=rho).frequencies()
    # the rounding of the exponent l/d is multiplied by ln rho
    rtol = 4e-16 * (1 + abs(np.log(rho)))
    assert_allclose(found.values, naive.frequencies(d, rho), rtol=rtol)
    assert_array_equal(found.masses, naive.masses(d))


@pytest.mark.parametrize("d", SIZES)
def test_kernel(d):
    w, mass = naive.frequencies(d, 1e4), naive.masses(d)
    lags = [-5, 0, 1, 7, 99]
    expected = [[naive.kernel(w, mass, lag) for lag in lags]]
    assert_allclose(Sinusoidal(d=d).kernel(lags), expected, rtol=0, atol=1e-13 * d)


@pytest.mark.parametrize("d", [2, 8, 48, 128])
def test_kernel_is_the_product_of_rows(d):
    rows = naive.sinusoidal_table(d, 50.0, range(40))
    expected = [[np.dot(rows[0], rows[lag]) for lag in range(40)]]
    assert_allclose(Sinusoidal(d=d, rho=50.0).kernel(range(40)), expected, rtol=0, atol=1e-14 * d)


# ----------------------------------------------------------------------------------- Eq. 15, 16, 22


@pytest.mark.parametrize("d", SIZES)
def test_dft_table(d):
    positions = [0, 1, 2, d - 1, d, 5 * d + 1, 10**6]
    assert_allclose(Dft(d=d).table(positions), naive.dft_table(d, positions), rtol=0, atol=2e-15)
