"""Eq. 16, how many frequencies lie in the lowest bin, against its slow definition, with ties decided exactly."""

from decimal import Decimal

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Dft, Sinusoidal, count_low_bin
from pe_spectra.spectrum import low_bin
from tests import naive

SIZES = [2, 3, 4, 5, 7, 8, 16, 31, 48, 97, 128]
BASES = [0.3, 1.0, 2.5, 1e4, 1e9]


# ----------------------------------------------------------------------------------- Eq. 15, 16, 22


@pytest.mark.parametrize("length", [None, 2, 6, 7, 100, 5000])
@pytest.mark.parametrize("rho", BASES)
def test_low_bin_count(rho, length):
    for d in SIZES:
        found = count_low_bin(Sinusoidal(d=d, rho=rho), length=length)
        assert (found.inside, found.total) == naive.count_low_bin(d, rho, length), d
        if rho != 1:
            assert_allclose(found.crossing, naive.crossing(d, rho, length), rtol=1e-14, err_msg=f"d = {d}")


# ----------------------------------------------------------------------------------- edges


@pytest.mark.parametrize(("d", "length"), [(8, 8), (7, 5), (97, 13), (360, 120), (15, 5), (30, 5), (78, 2)])
def test_a_frequency_at_the_edge_or_0_is_outside(d, length):
    """Frequencies 2 pi k/d against 2 pi/length, in integers: where they are equal, doubles would not decide."""
    found = count_low_bin(Dft(d=d), length=length)
    assert found.inside == sum(0 < k * length < d for k in range(d // 2 + 1))
    assert found.inside + found.outside == found.total == d // 2 + 1


@pytest.mark.parametrize("length", [7, 11, 32, 100, 4096])
def test_bases_next_to_a_tie_are_counted_as_60_digits_say(length):
    """rho**(-1/2) against 2 pi/length, where both round to one double: the low words decide, then decimals."""
    rho = (length / (2 * np.pi)) ** 2
    for _ in range(3):
        rho = np.nextafter(rho, 0)
    with mpmath.workdps(60):
        for _ in range(7):
            exact = mpmath.mpf(float(rho)) ** -0.5 < 2 * mpmath.pi / length
            assert count_low_bin(Sinusoidal(d=4, rho=float(rho)), length=length).inside == int(exact), rho
            rho = np.nextafter(rho, np.inf)
    assert low_bin._is_below(Decimal(f"0.124{'9' * 40}"), 8)
    assert not low_bin._is_below(Decimal(f"0.125{'0' * 40}1"), 8)
