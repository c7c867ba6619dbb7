"""Sinusoids of lags and DeBERTa's buckets against the published formulas, one number at a time."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.encodings import find_encoding
from pe_spectra.encodings.lag_vectors import compute_log_buckets
from pe_spectra.errors import InputError
from tests.laws.variants import give
from tests.naive import log_bucket_of, sinusoidal_table

XL, DEBERTA = find_encoding("transformer-xl"), find_encoding("deberta")
LAGS = np.arange(-40, 41)


@pytest.mark.parametrize("layout", ["concatenated", "interleaved"])
def test_a_lag_has_the_row_of_the_sinusoid(layout):
    ours = XL(d=10, rho=100.0, layout=layout).lag_table(LAGS)
    np.testing.assert_allclose(ours, sinusoidal_table(10, 100.0, LAGS, layout), rtol=0, atol=2e-14)


def test_negative_lags_have_the_opposite_sines():
    table = XL(d=6).lag_table(np.array([-7, 7]))
    assert_array_equal(table[0], table[1] * [-1, -1, -1, 1, 1, 1])


@pytest.mark.parametrize(("buckets", "max_distance"), [(256, 512), (32, 128), (8, 64), (64, 2048), (8, 8), (512, 1000)])
def test_buckets_by_the_published_formula(buckets, max_distance):
    lags = np.arange(-2100, 2101)
    expected = [log_bucket_of(int(lag), buckets, max_distance) for lag in lags]
    assert_array_equal(compute_log_buckets(lags, buckets=buckets, max_distance=max_distance), expected)


def test_rows_count_query_minus_key():
    table = give(np.arange(16.0)[:, None])
    rows = DEBERTA(values=table, max_distance=64).lag_table(np.array([-99, -8, -1, 0, 1, 4, 5, 99])).ravel()
    assert_array_equal(rows, [0, 3, 7, 8, 9, 12, 13, 15])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"values": give(np.ones((5, 2)))}, "wrong number of rows"),
        ({"buckets": 64, "max_distance": 32}, "max_distance is too small"),
        ({"values": give(np.ones((16, 2))), "buckets": 10}, "buckets contradicts"),
    ],
)
def test_what_does_not_go_together_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        DEBERTA(**given)
