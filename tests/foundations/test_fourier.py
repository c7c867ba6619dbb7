"""The real DFT (Eq. 10-14) against its slow definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import fourier
from tests import naive
from tests.naive import functions_on, tolerance

SIZES = [2, 3, 4, 5, 7, 8, 16, 31, 48, 97, 128]


# ----------------------------------------------------------------------------------- Eq. 10-14


@pytest.mark.parametrize("n", SIZES)
def test_basis(n):
    assert_allclose(fourier.basis(n), naive.basis(n), rtol=0, atol=2e-15)
    assert_allclose(naive.basis(n) @ naive.basis(n).T, np.eye(n), rtol=0, atol=tolerance(n))


@pytest.mark.parametrize("n", SIZES)
def test_coefficients_and_their_inverse(n):
    for f in functions_on(n):
        size = np.linalg.norm(f)
        c = naive.transform(f)
        assert_allclose(fourier.transform(f), c, rtol=0, atol=tolerance(n) * size)
        assert_allclose(fourier.invert(c), naive.invert(c), rtol=0, atol=tolerance(n) * size)
        assert_allclose(fourier.invert(fourier.transform(f)), f, rtol=0, atol=tolerance(n) * size)
