"""Positions that come back elsewhere: the shift of a reconstruction, by sums."""

import dataclasses
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Dft, compute_spectrum, read_encoding, reconstruct_positions


def spectrum_of_spec(spec, **keys):
    return compute_spectrum(read_encoding(spec), **keys)


# ----------------------------------------------------------------------------------- reconstruct


def naive_reconstruction(weights, grid, s):
    """Algorithm 1 by sums: the curve of position s, not yet of norm 1."""
    whole = [weights[min(k, grid - k)] for k in range(grid)]
    return [math.fsum(w * math.cos(2 * math.pi * k * (t - s) / grid) for k, w in enumerate(whole)) for t in range(grid)]


@pytest.mark.parametrize("s", [0, 40, 255])
def test_a_shift_is_that_of_the_sums(previous_heads, s):
    spectrum = spectrum_of_spec(previous_heads)
    (one,) = reconstruct_positions(spectrum, [s]).positions
    curve = naive_reconstruction(spectrum.weights.tolist(), 256, s)
    assert {t for t in range(256) if curve[t] > 0.999 * max(curve)} == {(s - 1) % 256, (s + 1) % 256}
    assert one.shift == 1


@pytest.mark.parametrize("s", [0, 3])
def test_of_equal_peaks_the_first_from_the_position_on_counts(s):
    spectrum = compute_spectrum(Dft(d=8))
    for bin_, places in ((0, range(8)), (4, range(0, 8, 2))):
        weights = np.where(np.arange(5) == bin_, 1.0, 0.0)
        (one,) = reconstruct_positions(dataclasses.replace(spectrum, weights=weights), [s]).positions
        assert_allclose(one.values[[(s + t) % 8 for t in places]], one.peak_value, rtol=1e-12)
        assert (one.peak, one.shift) == (s, 0)
