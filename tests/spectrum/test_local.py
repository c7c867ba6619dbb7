"""Stretches of a table, each with its own periodogram."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.errors import InputError
from pe_spectra.spectrum import compute_local_spectra
from tests import naive
from tests.making import draw_table
from tests.spectrum.tables import read


@pytest.mark.parametrize(("rows", "window"), [(4, 4), (9, 5), (20, None), (40, 16), (33, 33)])
def test_stretches_have_their_own_periodograms(rows, window):
    encoding = read(draw_table(rows, 2, seed=rows))
    found = compute_local_spectra(encoding, window=window)
    starts = found.centres - (found.window - 1) / 2
    assert_array_equal(starts, np.floor(starts))
    for start, weights in zip(starts, found.weights, strict=True):
        assert_allclose(weights, naive.local_spectrum(encoding.codes, int(start), found.window), rtol=0, atol=1e-13)


@pytest.mark.parametrize(("rows", "window"), [(1000, None), (1000, 125), (21, 16), (5000, 9)])
def test_stretches_reach_from_the_first_row_to_the_last(rows, window):
    found = compute_local_spectra(read(draw_table(rows, 1)), window=window)
    first = found.centres - (found.window - 1) / 2
    assert (first[0], first[-1] + found.window) == (0, rows)
    steps = np.diff(first)
    assert (steps > 0).all()
    assert np.ptp(steps) <= 1


def test_a_change_in_the_middle_is_seen():
    s = np.arange(400)
    table = np.where(s < 200, np.cos(0.3 * s), np.cos(2.0 * s))[:, None]
    found = compute_local_spectra(read(table))
    peaks = found.omega[found.weights.argmax(axis=1)]
    assert np.abs(peaks[found.centres < 170] - 0.3).max() < 0.1
    assert np.abs(peaks[found.centres > 230] - 2.0).max() < 0.1


def test_stretches_of_zeros_and_too_few_positions():
    table = np.concatenate([np.zeros((20, 1)), np.ones((20, 1))])
    found = compute_local_spectra(read(table), window=8)
    assert not found.weights[0].any()
    assert_allclose(found.weights[-1].sum(), 1.0)
    with pytest.raises(InputError, match="too few for a window"):
        compute_local_spectra(read(table[:3]))
    for window in (3, 41, True, 5.5):
        with pytest.raises(InputError, match="window"):
            compute_local_spectra(read(table), window=window)
    assert len(compute_local_spectra(read(np.ones((5000, 1)))).weights) <= 130
